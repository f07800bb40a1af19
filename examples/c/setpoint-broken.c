/*
 * BROKEN on purpose.
 *
 * What a control loop in an interrupt is to reach is kept twice, once inverted: if both do not fit, memory is damaged, and the output is
 * switched off for good. Only the masked section keeps the interrupt from finding the one new and the other old.
 *
 * vouch check examples/c/setpoint-broken.c --entry step --loop --interrupt TIM3_IRQHandler
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

void __disable_irq(void);
void __enable_irq(void);

static struct {
    volatile uint8_t value, inverse;
} setpoint = { 0, 0xff };

static volatile bool tripped;
static uint8_t output;

void TIM3_IRQHandler(void)
{
    uint8_t value = setpoint.value, inverse = setpoint.inverse;

    if ((value ^ inverse) != 0xff) {
        tripped = true;
        output = 0;
    } else if (!tripped) {
        output = value;
    }
}

void step(uint8_t wanted)
{
    setpoint.value = wanted;
    setpoint.inverse = (uint8_t)~wanted;

    VOUCH_ASSERT_NAMED("never_trips", !tripped);
}
