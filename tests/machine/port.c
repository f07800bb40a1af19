// A valve behind ports: what a run reads there is given, what it writes there is lost. Interrupts are masked meanwhile,
// and a step ends by waiting for one.
#include "vouch.h"

#define IN (*(volatile uint32_t *)0x40020010)
#define OUT (*(volatile uint32_t *)0x40020014)
static uint8_t count;

void step(uint32_t request) {
    uint32_t masked;
    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(masked)::"memory");
    uint32_t level = IN;
    if (request == 7 && (level & 0xff) > 200) {
        if (IN == level + 1) count++;
    } else if (level == 3) {
        count = 0;
    }
    OUT = count;
    __asm volatile("msr primask, %0" ::"r"(masked) : "memory");
    __asm volatile("wfi");
    if (count == 3) vouch_fail();
}
