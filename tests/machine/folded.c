// One function under two names, as a linker makes it of two that do the same: callers of the one pass 8 bits, those of the other 16.
#include "vouch.h"

static volatile uint32_t last;

void set_percent(uint8_t percent) {
    if (last > 255) vouch_fail();
    last = percent;
}

void step(uint16_t level) __attribute__((alias("set_percent")));
