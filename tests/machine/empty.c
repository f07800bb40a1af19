// Functions without a body that is worth a call: GCC leaves out calls of them, although they are not inlined.
#include <stdint.h>

#define PORT (*(volatile uint32_t *)0x40000000)

#if CASE == 1
__attribute__((noinline)) void vouch_fail(void) {}
#else
__attribute__((noinline)) void vouch_fail(void) {
    for (;;) PORT = 1;
}
#endif

#if CASE == 2
__attribute__((noinline)) uint8_t vouch_input_u8(void) { return 0; }
#else
__attribute__((noinline)) uint8_t vouch_input_u8(void) { return PORT; }
#endif

static volatile uint32_t level;

void step(void) {
    if (level > 3) vouch_fail();
    if (vouch_input_u8() == 200) level++;
}
