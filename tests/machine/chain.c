// Two pieces of a ring one after the other, as iterators go through them: the pointer into the first is null once that is
// done. BROKEN keeps larger values.
#include "vouch.h"

#ifdef BROKEN
#define MOST 8
#else
#define MOST 7
#endif

static uint8_t ring[4], at;

void step(void) {
    uint8_t value = vouch_input_u8();
    ring[at] = value > MOST ? MOST : value;
    at = (at + 1) & 3;
    const uint8_t *first = ring + at, *second = ring, *middle = ring + at;
    for (;;) {
        __asm volatile("" : "+r"(first), "+r"(second));
        const uint8_t *now;
        if (first && first != ring + 4) {
            now = first++;
        } else {
            first = 0;
            if (second == middle) break;
            now = second++;
        }
        if (*now > 7) vouch_fail();
    }
}
