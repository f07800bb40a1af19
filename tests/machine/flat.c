// A program that keeps nothing: it has no section in RAM.
#include "vouch.h"

void step(void) {
    uint8_t x = vouch_input_u8(), y = vouch_input_u8();
    if (x == 77 && y > x) vouch_fail();
}
