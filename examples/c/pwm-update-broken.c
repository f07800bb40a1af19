/*
 * BROKEN on purpose.
 *
 * A new period and a new duty cycle, handed over by the main loop to the interrupt at the end of a period, which loads both. The flag
 * that says that there is something new is set last.
 *
 * vouch check examples/c/pwm-update-broken.c --entry step --loop --interrupt TIM1_UP_IRQHandler
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

static struct {
    volatile uint8_t period, duty;
    volatile bool is_new;
} next;

/* What the timer counts to, and when it switches off. */
static uint8_t period = 100, duty = 50;

void TIM1_UP_IRQHandler(void)
{
    if (next.is_new) {
        period = next.period;
        duty = next.duty;
        next.is_new = false;
    }
    VOUCH_ASSERT_NAMED("switches_off", duty <= period);
}

/* What the user has chosen. */
extern uint8_t read_period(void), read_duty(void);

void step(void)
{
    uint8_t new_period, new_duty;

    if (next.is_new)
        return;
    new_period = read_period();
    new_duty = read_duty();
    if (new_duty > new_period)
        return;
    next.is_new = true;
    next.period = new_period;
    next.duty = new_duty;
}
