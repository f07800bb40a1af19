// Executes cases on a RISC-V in machine mode: each is entered by `mret` and left by an exception, since all that
// surrounds its code is zeros, which is not an instruction.
//
// Files are opened by semihosting; their names are put at NAMES before the start.
    .option norvc
    .set NAMES, 0x80100000
    .set OUT, 0x80180000
    .set IN, 0x80190000
    .set FILES, 0x801a0000
    .set WINDOW, 0x80700000
    // Words.
    .set WINDOW_SIZE, 64
    .set OUT_SIZE, 34 + WINDOW_SIZE
    .set IN_SIZE, 34 + 1 + 4 + 4 + WINDOW_SIZE

    .macro semihost number, block
    li a0, \number
    li a1, \block
    // All of it must lie in one page.
    .balign 16
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    .endm

    // Copies words from a0 to a1.
    .macro copy words
    li a2, \words
1:  lw a3, 0(a0)
    sw a3, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
    addi a2, a2, -1
    bnez a2, 1b
    .endm

    .section .text.start, "ax"
    .global _start
_start:
    la t0, fault
    csrw mtvec, t0
    li t0, OUT
    csrw mscratch, t0
    li s0, FILES
    li t0, NAMES
    sw t0, 0(s0)
    li t0, 1
    sw t0, 4(s0)
    li t0, 255
    sw t0, 8(s0)
    semihost 1, FILES
    mv s1, a0
    li t0, NAMES + 256
    sw t0, 0(s0)
    li t0, 5
    sw t0, 4(s0)
    semihost 1, FILES
    sw a0, 12(s0)
    sw s1, 0(s0)
    li t0, IN
    sw t0, 4(s0)
    li t0, IN_SIZE * 4
    sw t0, 8(s0)
    li t0, OUT
    sw t0, 16(s0)
    li t0, OUT_SIZE * 4
    sw t0, 20(s0)
    unimp

    .balign 4
fault:
    csrrw x31, mscratch, x31
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    sw x\n, 4*\n(x31)
    .endr
    csrr x1, mscratch
    sw x1, 4*31(x31)
    csrw mscratch, x31
    csrr x1, mepc
    sw x1, 4*32(x31)
    csrr x1, mstatus
    sw x1, 4*33(x31)
    li a0, WINDOW
    addi a1, x31, 4*34
    copy WINDOW_SIZE
    // What the code replaced. At first there is none.
    li s0, IN
    lw a1, 4*34(s0)
    beqz a1, 2f
    addi a0, s0, 4*39
    copy 4
2:  semihost 5, FILES + 12
    semihost 6, FILES
    beqz a0, 3f
    semihost 0x18, 0x20026
3:  lw a1, 4*34(s0)
    addi a0, s0, 4*35
    copy 4
    addi a0, s0, 4*43
    li a1, WINDOW
    copy WINDOW_SIZE
    lw t0, 4*32(s0)
    csrw mepc, t0
    // MPP is machine mode; MPIE becomes MIE.
    li t0, 0x80
    csrc mstatus, t0
    li t0, 0x1800
    csrs mstatus, t0
    lw t0, 4*33(s0)
    andi t0, t0, 8
    slli t0, t0, 4
    csrs mstatus, t0
    fence.i
    mv x31, s0
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    lw x\n, 4*\n(x31)
    .endr
    lw x31, 4*31(x31)
    mret
