// What is left disabled, and levels that an interrupt controller may not have. CASE 0: `init` disables interrupts. 1: a step does.
// 2: both reads of what a handler changes are below a LEVEL.
#include "vouch.h"

#ifdef __riscv
#define DISABLE() __asm volatile("csrci mstatus, 8" : : : "memory")
#else
#define DISABLE() __asm volatile("cpsid i" : : : "memory")
#endif
#ifndef HANDLER
#define HANDLER
#endif

volatile uint8_t armed, came;

void init(void) {
#if CASE == 0
    DISABLE();
#endif
}

HANDLER void handler(void) {
    if (armed) came = (came + 1) & 3;
}

void step(void) {
#if CASE == 0
    armed = 1;
    if (came) vouch_fail();
#elif CASE == 1
    if (armed) {
        if (came) vouch_fail();
    } else {
        DISABLE();
        armed = 1;
    }
#else
    armed = 1;
    __asm volatile("msr basepri, %0" : : "r"(LEVEL) : "memory");
    uint8_t first = came, second = came;
    __asm volatile("msr basepri, %0" : : "r"(0) : "memory");
    if (first != second) vouch_fail();
#endif
}
