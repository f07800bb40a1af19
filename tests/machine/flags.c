// A step and a handler each change a bit of the same word, and neither is to lose what the other has done. PLAIN does not take care of that;
// LATE reads before it begins to.
#include "vouch.h"

uint32_t flags;
volatile uint8_t came;

void handler(void) {
    __atomic_fetch_or(&flags, 2, __ATOMIC_RELAXED);
    came = 1;
}

void step(void) {
#ifdef PLAIN
    *(volatile uint32_t *)&flags &= ~1u;
#elif defined(LATE)
    uint32_t before = *(volatile uint32_t *)&flags, failed;
    do {
        uint32_t now;
        __asm volatile("ldrex %0, [%1]" : "=r"(now) : "r"(&flags) : "memory");
        __asm volatile("strex %0, %2, [%1]" : "=&r"(failed) : "r"(&flags), "r"(before & ~1u) : "memory");
    } while (failed);
#else
    __atomic_fetch_and(&flags, ~1u, __ATOMIC_RELAXED);
#endif
    if (came && !(__atomic_load_n(&flags, __ATOMIC_RELAXED) & 2)) vouch_fail();
}
