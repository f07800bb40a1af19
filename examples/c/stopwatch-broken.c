/*
 * BROKEN on purpose.
 *
 * A stopwatch: an interrupt counts seconds and their tenths, the main loop shows them. It reads two variables, and the interrupt may
 * come in between; so it reads the first one again. Time never goes back.
 *
 * vouch check examples/c/stopwatch-broken.c --entry step --loop --interrupt SysTick_Handler
 */
#include <stdint.h>
#include "vouch.h"

static volatile uint8_t seconds, tenths;
static uint8_t shown;

/* It stops at 9.9 s. */
void SysTick_Handler(void)
{
    if (tenths < 9) {
        tenths++;
    } else if (seconds < 9) {
        tenths = 0;
        seconds++;
    }
}

static uint8_t now(void)
{
    uint8_t s, t;

    s = seconds;
    t = tenths;
    return (uint8_t)(s * 10u + t);
}

void step(void)
{
    uint8_t time = now();

    VOUCH_ASSERT_NAMED("never_back", time >= shown);
    shown = time;
}
