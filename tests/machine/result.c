// A result of which a part is written only if another part says so: else it is what the stack held before, perhaps a register. BROKEN
// looks at it whatever the first part says.
#include "vouch.h"

struct result {
    uint32_t some, more[6], value;
};

__attribute__((noinline)) static void feed(struct result *result, uint8_t x) {
    result->some = x > 200;
    if (x > 200) result->value = x - 200;
}

struct pair {
    uint32_t some, value;
};

__attribute__((noinline)) static void tell(struct pair *result, uint8_t x) {
    result->some = x > 100;
    if (x > 100) result->value = x - 100;
}

static volatile uint8_t level;

void step(void) {
    struct result result;
    feed(&result, vouch_input_u8());
    if (result.some) level = result.value;
#ifdef BROKEN
    if (result.value == 1000) vouch_fail();
#else
    struct pair pair;
    tell(&pair, vouch_input_u8());
    if (pair.some) level = pair.value;
    if (level == 3) vouch_fail();
#endif
}
