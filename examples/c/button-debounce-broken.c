/*
 * BROKEN on purpose.
 *
 * A debounced button, sampled by a timer tick: an integrating counter and a pressed flag, as in many
 * keypad drivers. The flag must agree with the counter's end stops.
 *
 * vouch check examples/c/button-debounce-broken.c --entry tick --loop
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

#define STABLE 5

static uint8_t integrator;
static bool pressed;
static uint16_t presses;

void tick(bool level)
{
    if (level) {
        if (integrator < STABLE)
            integrator++;
    } else if (integrator > 0) {
        integrator--;
    }

    if (integrator == 0) {
        pressed = false;
    } else if (integrator >= STABLE) {
        if (!pressed)
            presses++;
        pressed = true;
        integrator = STABLE + 1;
    }

    VOUCH_ASSERT_NAMED("in_range", integrator <= STABLE);
    VOUCH_ASSERT_NAMED("released_at_zero", integrator != 0 || !pressed);
    VOUCH_ASSERT_NAMED("pressed_at_top", integrator != STABLE || pressed);
}
