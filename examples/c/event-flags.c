/*
 * Interrupts tell the main loop by flags in one byte what there is to do. The emergency stop is more urgent than the tick and may
 * interrupt it, too: if setting and clearing a flag is not one access, a stop is lost with the byte that is written back.
 *
 * vouch check examples/c/event-flags.c --entry step --loop --interrupt SysTick_Handler:2 --interrupt EXTI0_IRQHandler:1
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

enum { TICK = 1 << 0, STOP = 1 << 1 };

static _Atomic uint8_t events;
static volatile bool stop_was_pressed;
static bool motor = true;
static uint8_t speed;

void SysTick_Handler(void)
{
    events |= TICK;
}

void EXTI0_IRQHandler(void)
{
    events |= STOP;
    stop_was_pressed = true;
}

void step(uint8_t wanted)
{
    if (events & STOP) {
        /* Until the next reset. */
        motor = false;
        speed = 0;
    }
    if (events & TICK) {
        events &= ~TICK;
        if (motor)
            speed = wanted;
    }

    VOUCH_ASSERT_NAMED("stop_is_kept", !stop_was_pressed || (events & STOP));
    VOUCH_ASSERT_NAMED("stopped_is_still", motor || speed == 0);
}
