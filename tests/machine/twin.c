// Two names of one function: compilers make one of two that are alike.
#include "vouch.h"

#define PORT (*(volatile uint32_t *)0x40000000)
__attribute__((noinline)) void rest(void) {
    for (;;) PORT = 2;
}
#ifdef BROKEN
__attribute__((alias("rest"), noreturn)) void abort(void);
#else
__attribute__((noinline, noreturn)) void abort(void) {
    for (;;) PORT = 3;
}
#endif

static uint8_t count;
void step(void) {
    count++;
    if (count == 3) {
        if (vouch_input_u8()) abort();
        count = 0;
    }
}
