// A jump into a row of jumps, as some compilers have for `switch`; the last leads to what is next to it. BROKEN goes one too far.
#include "vouch.h"

static uint8_t mode;

void step(void) {
    uint32_t out;
    __asm__ volatile("adr %0, 1f\n add %0, %0, %1, lsl #2\n mov pc, %0\n"
                     ".balign 4\n1: b.w 2f\n b.w 3f\n b.w 4f\n b.w 5f\n"
                     "5: movs %0, #4\n b 6f\n2: movs %0, #1\n b 6f\n3: movs %0, #2\n b 6f\n"
                     "4: movs %0, #0\n6:\n"
                     : "=&r"(out) : "r"((uint32_t)mode) : "cc");
    mode = out;
#ifdef BROKEN
    if (vouch_input_u8() == 7) mode++;
#endif
    if (out == 4) vouch_fail();
}
