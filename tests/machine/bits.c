// A handler that is not part of the step writes one bit of what that uses, where ARMv7-M has RAM once more, each bit as a word.
#include "vouch.h"

#define BIT(x, bit) (*(volatile uint32_t *)(0x22000000 + 32 * ((uint32_t)&(x) - 0x20000000) + 4 * (bit)))

static uint32_t level;

void step(void) {
    if (level > 10) vouch_fail();
    if (level < 5 && vouch_input_u8() == 3) level++;
}

__attribute__((used)) void handler(void) { BIT(level, 7) = 1; }
