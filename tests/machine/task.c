// A task that never returns: where it goes on is computed, and known the first time. BROKEN counts too far.
#include "vouch.h"

static volatile uint8_t count;

// A branch for each, so that every path knows where it goes.
#define GO(to) next = to; __asm__ volatile("nop @ " #to); continue

void step(void) {
    static const void *const parts[] = {&&closed, &&open, &&closing};
    uint32_t next = 0;
    for (;;) {
        goto *parts[next];
    closed:
        if (vouch_input_u8() > 100) { GO(1); }
        GO(0);
    open:
        count++;
#ifdef BROKEN
        if (vouch_input_u8() > 10) { GO(1); }
#endif
        GO(2);
    closing:
        if (count > 1) vouch_fail();
        count = 0;
        GO(0);
    }
}
