// A word that is a number at times, and at others a pointer that moves through a buffer.
#include "vouch.h"

static uint8_t buffer[8];
static union {
    uint8_t *at;
    uint32_t count;
} word;
static _Bool is_pointer;

#ifdef BROKEN
#define END (buffer + 8)
#else
#define END (buffer + 7)
#endif

void step(void) {
    uint8_t input = vouch_input_u8();
    switch (input & 3) {
    case 0:
        word.at = buffer;
        is_pointer = 1;
        break;
    case 1:
        if (is_pointer && word.at < END) word.at++;
        break;
    case 2:
        word.count = input;
        is_pointer = 0;
        break;
    default:
        if (is_pointer) {
            if (word.at > buffer + 7) vouch_fail();
            *word.at = 1;
        }
    }
}
