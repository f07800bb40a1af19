/*
 * BROKEN on purpose.
 *
 * An egg timer: an interrupt counts minutes and their quarters, the main loop shows them. It reads two variables, and the interrupt may
 * come in between; so it reads the first one again. Time never goes back.
 *
 * vouch check examples/c/egg-timer-broken.c --entry step --loop --interrupt SysTick_Handler --engine explicit
 */
#include <stdint.h>
#include "vouch.h"

static volatile uint8_t minutes, quarters;
static uint8_t shown;

/* It stops at 3:45. */
void SysTick_Handler(void)
{
    if (quarters < 3) {
        quarters++;
    } else if (minutes < 3) {
        quarters = 0;
        minutes++;
    }
}

static uint8_t now(void)
{
    uint8_t m, q;

    m = minutes;
    q = quarters;
    return (uint8_t)(m * 4u + q);
}

void step(void)
{
    uint8_t time = now();

    VOUCH_ASSERT_NAMED("never_back", time >= shown);
    shown = time;
}
