// A result of two words, of which the second is written only if the first says so: else it is what the stack held before. BROKEN
// looks at it whatever the first says.
#include "vouch.h"

struct result {
    uint32_t some, value;
};

__attribute__((noinline)) static struct result feed(uint8_t x) {
    struct result result;
    result.some = x > 200;
    if (result.some) result.value = x - 200;
    return result;
}

static volatile uint8_t level;

void step(void) {
    struct result result = feed(vouch_input_u8());
    if (result.some) level = result.value;
#ifdef BROKEN
    if (result.value == 1000) vouch_fail();
#else
    if (level == 3) vouch_fail();
#endif
}
