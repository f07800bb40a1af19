// A handler that is not named: between where it makes an address and where it uses that there is an instruction that is
// not known.
#include "vouch.h"

static volatile uint8_t shared;
static uint8_t count;
__attribute__((used)) void handler(void) {
    volatile uint8_t *at = &shared;
    uint32_t cause;
#ifdef __riscv
    __asm volatile("csrr %0, mcause" : "=r"(cause), "+r"(at));
#else
    __asm volatile("mrs %0, ipsr" : "=r"(cause), "+r"(at));
#endif
    if (cause == 7) *at = 1;
}
void step(void) {
    count++;
    if (shared) vouch_fail();
}
