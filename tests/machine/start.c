// What runs before the first step: CASE 0 clears memory, 1 writes the first static as well, 2 has code without a name that does, 3 code after a
// label, 5 code in RAM; in 4 the static is in a section of its own. In 6
// the main loop, which is a part of it, writes the static, in 7 a function does that is called as start-up code often is.
#include "vouch.h"

#ifndef SECTION
#define SECTION ".bss"
#endif
__attribute__((section(SECTION))) volatile uint32_t shared
#if CASE == 4
    = 0
#endif
    ;
extern uint32_t start_of_bss[], end_of_bss[];

__attribute__((noinline)) void step(void) {
    if (shared) vouch_fail();
}

__attribute__((used, section(".text.step"))) void Reset_Handler(void) {
    for (uint32_t *at = start_of_bss; at < end_of_bss; at++) *at = 0;
#if CASE == 1
    shared = 3;
#endif
    for (;;) {
        step();
#if CASE == 6
        if (vouch_input_u8() & 1) shared = vouch_input_u8();
#endif
    }
}

#if CASE == 7
__attribute__((used, noinline)) void Reset(void) {
    for (volatile uint32_t *at = &shared; at < end_of_bss; at++) *at = vouch_input_u8();
}
#endif

#if CASE == 5
__attribute__((used, section(".data.code"))) void in_ram(void) { shared = 3; }
#endif
#if CASE == 2
#define NAME
#elif CASE == 3
#define NAME "label:\n"
#endif
#ifdef NAME
#ifdef __riscv
__asm(".section .text.step, \"ax\"\n" NAME "lui a0, %hi(shared)\nsw a0, %lo(shared)(a0)\nret\n.text\n");
#else
__asm(".section .text.step, \"ax\"\n.thumb\n" NAME
      "ldr r0, =shared\nstr r0, [r0]\nbx lr\n.ltorg\n.text\n");
#endif
#endif
