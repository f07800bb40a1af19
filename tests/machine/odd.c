// Things that a step must not do, one for each ODD.
#include "vouch.h"

static volatile uint8_t shared, count;
static uint8_t *kept;
static const uint8_t table[4] = {1, 2, 3, 4};

#if ODD == 1
// An interrupt's handler writes what the step reads.
__attribute__((used)) void handler(void) { shared = 1; }
void step(void) {
    if (shared) vouch_fail();
}
#elif ODD == 2
static __attribute__((noinline)) uint32_t sum(uint32_t n) { return n == 0 ? 0 : n + sum(n - 1) * count; }
void step(void) { count = sum(vouch_input_u8()); }
#elif ODD == 3
static __attribute__((noinline)) void keep(uint8_t *at) { kept = at; }
void step(void) {
    uint8_t local[4];
    keep(local);
    local[0] = vouch_input_u8();
    __asm volatile("" ::"r"(local) : "memory");
    if (*kept > 3) vouch_fail();
}
#elif ODD == 4
void step(void) { *(volatile uint8_t *)&table[1] = 3; }
#elif ODD == 5
void step(void) { __asm volatile("svc 1"); }
#elif ODD == 6
void step(void) { count = *(volatile uint8_t *)0x30000000; }
#elif ODD == 7
void step(void) { *(volatile uint8_t *)vouch_input_u32() = 1; }
#elif ODD == 8
// A handler calls a function of the step that writes its static.
static __attribute__((noinline)) void put(uint8_t value) { count = value; }
__attribute__((used)) void handler(void) { put(9); }
void step(void) {
    put(vouch_input_u8() & 7);
    if (count > 7) vouch_fail();
}
#elif ODD == 9
// A handler counts from the address of another static, and paths meet in between.
__attribute__((used)) void handler(void) {
    if (*(volatile uint32_t *)0x40000004) count = 2;
    shared = 1;
}
void step(void) {
    if (shared) vouch_fail();
}
#endif

__attribute__((used)) static void *const used[] = {(void *)table};
