// Arguments on the stack: they have the values of their types, and stay what they are while a loop goes on.
#include "vouch.h"

#ifdef BROKEN
#define LARGEST 254
#else
#define LARGEST 255
#endif

static uint32_t level, door;
static int32_t change;

void step(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint8_t e, uint8_t f, uint8_t g, uint8_t h, _Bool is_open, int8_t by,
          uint8_t now) {
    if (level > LARGEST || door > 1 || change < -128 || change > 127) vouch_fail();
    door = is_open;
    change = by;
    level = now;
    while (vouch_input_u8()) {
        if (door != is_open || level != now) vouch_fail();
    }
}
