/* Instructions of the processors that firmware is written for, as macros of the assembler: a macro goes before an instruction of the
   same name. Those that only wait or keep an order do nothing. */
#ifdef __x86_64__
#define VOUCH_CELL(name) #name "(%rip)"
/* Below the stack pointer there may be something. */
#define VOUCH_CALL(name) "lea -128(%rsp), %rsp\ncall " #name "\nlea 128(%rsp), %rsp\n"
#else
#define VOUCH_CELL(name) #name
#define VOUCH_CALL(name) "call " #name "\n"
#endif
#define VOUCH_SET(cell, from) "movl $0, " VOUCH_CELL(cell) "\nor " from ", " VOUCH_CELL(cell) "\n"
#define VOUCH_GET(to, cell) "xor " to ", " to "\nor " VOUCH_CELL(cell) ", " to "\n"
#define VOUCH_DISABLE "movl $1, " VOUCH_CELL(vouch_masked) "\n"
#define VOUCH_ENABLE "movl $0, " VOUCH_CELL(vouch_masked) "\n" VOUCH_CALL(vouch_from_assembly)
#define VOUCH_IF(word, upper, then) ".ifc \\name," #word "\n" then ".endif\n.ifc \\name," #upper "\n" then ".endif\n"
__asm__(".irp name, wfi, wfe, sev, yield, dmb, dsb, isb, sleep, fence, fence.i, .syntax\n"
        ".macro \\name any:vararg\n.endm\n"
        ".endr\n"
        ".macro cpsid any\n" VOUCH_DISABLE ".endm\n"
        ".macro cli\n" VOUCH_DISABLE ".endm\n"
        ".macro csrci any:vararg\n" VOUCH_DISABLE ".endm\n"
        ".macro cpsie any\n" VOUCH_ENABLE ".endm\n"
        ".macro sei\n" VOUCH_ENABLE ".endm\n"
        ".macro csrsi any:vararg\n" VOUCH_ENABLE ".endm\n"
        ".irp name, mov, movs\n"
        ".macro \\name to, from\n{load} mov \\from, \\to\n.endm\n"
        ".endr\n"
        ".macro msr name, from\n"
        VOUCH_IF(primask, PRIMASK, VOUCH_SET(vouch_masked, "\\from") "andl $1, " VOUCH_CELL(vouch_masked) "\n")
        VOUCH_IF(basepri, BASEPRI, VOUCH_SET(vouch_level, "\\from") "andl $255, " VOUCH_CELL(vouch_level) "\n")
        VOUCH_IF(basepri_max, BASEPRI_MAX, VOUCH_SET(vouch_raised, "\\from") VOUCH_CALL(vouch_raise_from_assembly))
        VOUCH_CALL(vouch_from_assembly) ".endm\n"
        /* What the others hold is any value. */
        ".macro mrs to, name\n"
        "xor \\to, \\to\n"
        VOUCH_IF(primask, PRIMASK, VOUCH_GET("\\to", vouch_masked))
        VOUCH_IF(basepri, BASEPRI, VOUCH_GET("\\to", vouch_level)) ".endm\n"
        ".irp name, rbit, rev, rev16, revsh, clz, ssat, usat, qadd, qsub\n"
        ".macro \\name to, any:vararg\nxor \\to, \\to\n.endm\n"
        ".endr\n");
