// A mailbox that handlers of interrupts fill and the step empties. GUARD disables interrupts meanwhile: by
// the instructions, or with what was before saved and restored, all or those from a priority on. HANDLER says what
// the compiler must know of a handler, OPENS makes one enable interrupts.
#include "vouch.h"

#if GUARD == 1
#define ENTER() __asm volatile("cpsid i" : : : "memory")
#define LEAVE() __asm volatile("cpsie i" : : : "memory")
#elif GUARD == 2
#define ENTER()                                              \
    uint32_t before;                                         \
    __asm volatile("mrs %0, primask" : "=r"(before));        \
    __asm volatile("cpsid i" : : : "memory")
#define LEAVE() __asm volatile("msr primask, %0" : : "r"(before) : "memory")
#elif GUARD == 3 || GUARD == 4
#if GUARD == 3
#define MASK "basepri"
#else
#define MASK "basepri_max"
#endif
#define ENTER()                                                              \
    uint32_t before, level;                                                  \
    __asm volatile("mrs %0, basepri\n\tmov %1, %2\n\tmsr " MASK ", %1\n\tisb" \
                   "\n\tdsb"                                                 \
                   : "=&r"(before), "=&r"(level)                             \
                   : "i"(0x20)                                               \
                   : "memory")
#define LEAVE() __asm volatile("msr basepri, %[was]" : : [was] "r"(before) : "memory")
#elif GUARD == 5
#define ENTER() __asm volatile("csrci mstatus, 8" : : : "memory")
#define LEAVE() __asm volatile("csrsi mstatus, 8" : : : "memory")
#else
#define ENTER()
#define LEAVE()
#endif
#ifndef HANDLER
#define HANDLER
#endif

volatile uint8_t there, came, taken, box[2];

static void put(uint8_t what) {
    if (there < 2) {
        box[there] = what;
        there++;
        came = (came + 1) & 3;
    }
}

HANDLER void handler(void) {
    put(1);
#ifdef OPENS
    __asm volatile("csrsi mstatus, 8\n\tcsrci mstatus, 8" : : : "memory");
#endif
}
HANDLER void urgent(void) { put(1); }

void step(void) {
    ENTER();
    if (there) {
        there--;
        taken = (taken + 1) & 3;
    }
    if (((came - taken) & 3) != there) vouch_fail();
    LEAVE();
}
