// A decision by a bit of where the stack lies, which nobody knows.
#include "vouch.h"

static __attribute__((noinline)) void use(volatile uint32_t *at) { *at = 1; }

void step(void) {
    volatile uint32_t local;
    use(&local);
    if ((((uint32_t)&local >> BIT) & 1) == IS) vouch_fail();
}
