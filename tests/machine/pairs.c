// Two statics that one instruction writes, as compilers do with neighbours. BROKEN writes something else.
#include "vouch.h"

__asm__(".bss\n.balign 8\n.type left, %object\n.size left, 4\nleft: .space 4\n"
        ".type right, %object\n.size right, 4\nright: .space 4\n.text\n");
extern volatile uint32_t left, right;

void step(void) {
    uint8_t one = vouch_input_u8(), other = one;
#ifdef BROKEN
    other = vouch_input_u8();
#endif
    register uint32_t first __asm__("r2") = one;
    register uint32_t second __asm__("r3") = other;
    volatile uint32_t *to = &left;
    __asm__ volatile("stmia %0!, {%1, %2}" : "+l"(to) : "l"(first), "l"(second) : "memory");
    if (left != right) vouch_fail();
}
