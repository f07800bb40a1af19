// Inputs in the same file: GCC knows which registers they leave alone, and keeps values there.
#include "vouch.h"

#define PORT (*(volatile uint32_t *)0x40000000)
__attribute__((noinline)) uint8_t vouch_input_u8(void) { return PORT; }
__attribute__((noinline)) void vouch_fail(void) {
    for (;;) PORT = 1;
}

#ifdef BROKEN
#define MOST 5
#else
#define MOST 6
#endif

static uint8_t log[8];
static uint32_t at;

void step(void) {
    uint32_t now = at;
    uint8_t *to = log;
    if (now > 7) vouch_fail();
    to[now] = vouch_input_u8() & 3;
    to[(now + 1) & 7] = vouch_input_u8() & 3;
    if (to[now] + to[(now + 1) & 7] > MOST) vouch_fail();
    at = (now + vouch_input_u8()) & 7;
}
