// Registers are restored and the function returns under one condition, in two IT blocks. BROKEN goes one further.
#include "vouch.h"

#ifdef BROKEN
#define MOST "4"
#else
#define MOST "3"
#endif

static uint8_t mode;

__attribute__((naked)) void step(void) {
    __asm volatile(
        "push {r4, lr}\n str r11, [sp, #-4]!\n mov r4, %0\n bl vouch_input_u8\n and r0, r0, #1\n"
        "ldrb r1, [r4]\n add r1, r1, r0\n cmp r1, #" MOST "\n it hi\n movhi r1, #0\n strb r1, [r4]\n cmp r1, #4\n"
        "itttt ne\n movne r0, r1\n movne r0, r1\n movne r0, r1\n ldrne r11, [sp], #4\n"
        "it ne\n popne {r4, pc}\n bl vouch_fail\n"
        :
        : "r"(&mode));
}
