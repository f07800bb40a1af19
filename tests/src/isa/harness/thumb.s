// Executes cases on a Cortex-M: each is entered by a return from HardFault, which loads what the case starts
// with, and left by the next HardFault, since all that surrounds its code is undefined instructions.
//
// Files are opened by semihosting; their names are put at NAMES before the start.
    .syntax unified
    .thumb
    .set LANDING, 0x20000000
    .set WINDOW, 0x20001800
    .set OUT, 0x20002000
    .set IN, 0x20002800
    .set FILES, 0x20003000
    .set STACK, 0x20004000
    .set NAMES, 0x8000
    // Words.
    .set LANDING_SIZE, 1024
    .set WINDOW_SIZE, 64
    .set OUT_SIZE, 8 + 8 + 3 + WINDOW_SIZE
    .set IN_SIZE, 8 + 8 + 3 + 1 + 4 + 4 + WINDOW_SIZE

    .section .vectors, "a"
    .word STACK
    .word _start
    .rept 14
    .word fault
    .endr

    .text
    .global _start
    .thumb_func
_start:
    // CCR.STKALIGN, which is optional in ARMv7-M.
    ldr r0, =0xe000ed14
    ldr r1, [r0]
    movs r2, #2
    lsls r2, r2, #8
    orrs r1, r2
    str r1, [r0]
    .if V7M
    // This board has zeros where nothing is: with an MPU that allows RAM and flash jumps to there fault.
    ldr r0, =0xe000ed94
    ldr r1, =0x20000010
    str r1, [r0, #8]
    ldr r1, =0x0300001f
    str r1, [r0, #12]
    movs r1, #0x11
    str r1, [r0, #8]
    ldr r1, =0x03000023
    str r1, [r0, #12]
    movs r1, #1
    str r1, [r0]
    .endif
    ldr r7, =FILES
    movs r0, #1
    ldr r1, =open_in
    bkpt #0xab
    str r0, [r7]
    movs r0, #1
    ldr r1, =open_out
    bkpt #0xab
    str r0, [r7, #12]
    ldr r0, =IN
    str r0, [r7, #4]
    ldr r0, =IN_SIZE * 4
    str r0, [r7, #8]
    ldr r0, =OUT
    str r0, [r7, #16]
    ldr r0, =OUT_SIZE * 4
    str r0, [r7, #20]
    // UDF with the number of the halfword.
    ldr r0, =LANDING
    ldr r1, =LANDING_SIZE
    ldr r2, =0xde01de00
    ldr r3, =0x00020002
    ldr r5, =0xdeffdeff
1:  stmia r0!, {r2}
    adds r2, r2, r3
    ands r2, r5
    ldr r4, =0xde00de00
    orrs r2, r4
    subs r1, #1
    bne 1b
    udf #0

    .thumb_func
fault:
    ldr r0, =OUT
    stmia r0!, {r4-r7}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    stmia r0!, {r4-r7}
    mrs r1, psp
    mov r6, r1
    ldmia r1!, {r2-r5}
    stmia r0!, {r2-r5}
    ldmia r1!, {r2-r5}
    stmia r0!, {r2-r5}
    stmia r0!, {r6}
    mrs r1, primask
    .if V7M
    mrs r2, basepri
    .else
    movs r2, #0
    .endif
    stmia r0!, {r1, r2}
    ldr r1, =WINDOW
    movs r2, #WINDOW_SIZE
1:  ldmia r1!, {r3}
    stmia r0!, {r3}
    subs r2, #1
    bne 1b
    // What the code replaced. At first there is none.
    ldr r0, =IN + 4 * 19
    ldmia r0!, {r1}
    cmp r1, #0
    beq 2f
    adds r0, #16
    ldmia r0!, {r2-r5}
    stmia r1!, {r2-r5}
2:  movs r0, #5
    ldr r1, =FILES + 12
    bkpt #0xab
    movs r0, #6
    ldr r1, =FILES
    bkpt #0xab
    cmp r0, #0
    beq 3f
    movs r0, #0x18
    ldr r1, =0x20026
    bkpt #0xab
3:  ldr r0, =IN + 4 * (8 + 8 + 3)
    ldmia r0!, {r1}
    ldmia r0!, {r2-r5}
    stmia r1!, {r2-r5}
    adds r0, #16
    ldr r1, =WINDOW
    movs r2, #WINDOW_SIZE
1:  ldmia r0!, {r3}
    stmia r1!, {r3}
    subs r2, #1
    bne 1b
    ldr r0, =IN + 4 * 16
    ldmia r0!, {r1-r3}
    msr primask, r2
    .if V7M
    msr basepri, r3
    .endif
    msr psp, r1
    ldr r0, =IN + 4 * 8
    ldmia r0!, {r2-r5}
    stmia r1!, {r2-r5}
    ldmia r0!, {r2-r5}
    stmia r1!, {r2-r5}
    ldr r0, =IN + 4 * 4
    ldmia r0!, {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    ldr r0, =IN
    ldmia r0!, {r4-r7}
    isb
    ldr r0, =0xfffffffd
    bx r0
    .ltorg
    .align 2
open_in:
    .word NAMES, 1, 255
open_out:
    .word NAMES + 256, 5, 255
