/* Assembly enables interrupts: nothing that it does not name may be another value afterwards. */
extern unsigned long long vouch_masked, vouch_level;
unsigned long long vouch_raised;
VOUCH_WHOLE void vouch_raise(void)
{
    unsigned level = vouch_raised & 255;
    if (level && (!vouch_level || level < vouch_level))
        vouch_level = level;
}
#ifdef __x86_64__
#define VOUCH_SAVED(name, function) \
    __asm__(".text\n.globl " name "\n" name ":\n" \
            "pushq %rbp\nmovq %rsp, %rbp\n" \
            "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %r10\npushq %r11\n" \
            "subq $512, %rsp\nandq $-16, %rsp\nfxsave (%rsp)\ncall " function "\nfxrstor (%rsp)\nleaq -72(%rbp), %rsp\n" \
            "popq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n" \
            "popq %rbp\nret\n")
#else
#define VOUCH_SAVED(name, function) \
    __asm__(".text\n.globl " name "\n" name ":\n" \
            "pushl %ebp\nmovl %esp, %ebp\npushal\n" \
            "subl $512, %esp\nandl $-16, %esp\nfxsave (%esp)\ncall " function "\nfxrstor (%esp)\nleal -32(%ebp), %esp\n" \
            "popal\npopl %ebp\nret\n")
#endif
VOUCH_SAVED("vouch_from_assembly", "vouch_moment");
VOUCH_SAVED("vouch_raise_from_assembly", "vouch_raise");
