// Optimisation of the whole program calls a copy of this function, for arguments that are always the same.
#include "vouch.h"

#define PORT (*(volatile uint32_t *)0x40000000)
__attribute__((noinline, noreturn)) void __assert_func(const char *file, int line) {
    for (;;) PORT = line + file[0];
}

static uint8_t count;
void step(void) {
    count++;
    if (count == 3) {
        if (vouch_input_u8()) __assert_func("a", 3);
        count = 0;
    }
}
