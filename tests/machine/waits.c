// A program that never returns, and a handler that comes whenever it likes: after the last access, too.
#include "vouch.h"

volatile uint8_t armed, count, mode;

void handler(void) {
    if (armed) vouch_fail();
}

void step(void) {
    armed = ARMED;
#if WAIT == 0
    for (;;) {
    }
#elif WAIT == 1
    for (;;) __asm volatile("wfi");
#elif WAIT == 2
    for (;;) count = (count + 1) & 3;
#else
    while (mode < 2) {
        count = count == 3 ? 0 : count + 1;
        if (count > 3) mode = 3;
    }
#endif
}
