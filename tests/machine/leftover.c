// A byte that means nothing keeps a part of an address, as in the payload of another variant. BROKEN looks at it.
#include "vouch.h"

static volatile uint8_t tag, payload;

void step(void) {
    uint32_t local[2];
    uint32_t x;
    if (vouch_input_u8() > 9) {
        tag = 1;
        x = vouch_input_u8() & 3;
    } else {
        tag = 0;
        x = (uint32_t)local;
        __asm__ volatile("" : "+r"(x));
    }
    payload = x;
#ifdef BROKEN
    if (payload > 3) vouch_fail();
#else
    if (tag && payload > 3) vouch_fail();
#endif
}
