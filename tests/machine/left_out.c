// A function that GCC makes another one of, which takes nothing but the value, in the first register.
#include "vouch.h"

static volatile uint32_t seen;

__attribute__((noinline)) static void part(uint8_t is_on, uint32_t value) {
    if (seen > 255) vouch_fail();
    if (is_on) seen = value;
}

void init(void) {
    part(1, 3);
    part(1, seen + 2);
}

void step(void) {}
