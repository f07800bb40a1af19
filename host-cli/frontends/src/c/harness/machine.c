/* What only the processor sees: accesses to devices, one by one, and faults. A device's memory cannot be accessed; whoever tries gets
   the next value of the run, for one instruction. */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
enum { FLAGS = 17, FAULT = 19 };
#elif defined(__i386__)
enum { FLAGS = 16, FAULT = 13 };
#else
#error "accesses to devices can be followed on x86 only"
#endif
#include <ucontext.h>
enum { PAGE = 4096, STEP = 0x100, WRITES = 2 };
void vouch_failed(void);
struct vouch_register {
    uintptr_t address; /* 0: those that have no other */
    unsigned bytes, keeps, clears;
    unsigned long long first; /* if it keeps it */
    const unsigned long long *values;
    unsigned count, next;
};
struct vouch_parameter {
    void *at;
    unsigned bytes;
    unsigned long long value;
};
extern const struct vouch_parameter vouch_parameters[];
/* TABLES */
static struct vouch_register *vouch_cleared;
static uintptr_t vouch_open[2];

static void vouch_store(const struct vouch_register *r, uintptr_t at, unsigned long long value)
{
    memcpy((void *)at, &value, r->bytes);
}
static struct vouch_register *vouch_find(uintptr_t at)
{
    struct vouch_register *any = 0;
    for (struct vouch_register *r = vouch_registers; r->bytes; r++) {
        if (r->address == at || (r->keeps && r->address <= at && at < r->address + r->bytes))
            return r;
        if (!r->address)
            any = r;
    }
    return any;
}
static int vouch_is_device(uintptr_t at)
{
    for (const uintptr_t *d = vouch_devices; d[1]; d += 2)
        if (d[0] <= at && at - d[0] < d[1])
            return 1;
    return 0;
}
static void vouch_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, page = at / PAGE * PAGE;
    ucontext_t *u = context;
    if (signal_number == SIGTRAP) {
        if (vouch_cleared)
            vouch_store(vouch_cleared, vouch_cleared->address, 0);
        vouch_cleared = 0;
        for (int i = 0; i < 2; i++) {
            if (vouch_open[i])
                mprotect((void *)vouch_open[i], PAGE, PROT_NONE);
            vouch_open[i] = 0;
        }
        u->uc_mcontext.gregs[FLAGS] &= ~STEP;
        return;
    }
    if (signal_number == SIGSEGV && vouch_is_device(at)) {
        struct vouch_register *r = vouch_find(at);
        mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE);
        vouch_open[vouch_open[0] != 0] = page;
        if (!(u->uc_mcontext.gregs[FAULT] & WRITES) && r) {
            if (!r->keeps)
                vouch_store(r, at, r->values[r->next < r->count - 1 ? r->next++ : r->next]);
            else if (r->clears)
                vouch_cleared = r;
        }
        u->uc_mcontext.gregs[FLAGS] |= STEP;
        return;
    }
    if (VOUCH_FAULTS)
        vouch_failed();
    signal(signal_number, SIG_DFL);
}
__attribute__((constructor)) static void vouch_begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = vouch_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    sigaction(SIGTRAP, &action, 0);
    sigaction(SIGFPE, &action, 0);
    for (const uintptr_t *d = vouch_devices; d[1]; d += 2) {
        /* Not over what is there already. */
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | 0x100000;
        if (mmap((void *)d[0], d[1], PROT_READ | PROT_WRITE, flags, -1, 0) != (void *)d[0])
            continue;
        for (struct vouch_register *r = vouch_registers; r->bytes; r++)
            if (r->keeps && r->address >= d[0] && r->address - d[0] < d[1])
                vouch_store(r, r->address, r->first);
        mprotect((void *)d[0], d[1], PROT_NONE);
    }
    for (const struct vouch_parameter *p = vouch_parameters; p->bytes; p++) {
        /* It may be a constant. */
        uintptr_t page = (uintptr_t)p->at / PAGE * PAGE;
        mprotect((void *)page, (uintptr_t)p->at - page + p->bytes, PROT_READ | PROT_WRITE);
        memcpy(p->at, &p->value, p->bytes);
    }
}
