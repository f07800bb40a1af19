/* Interrupts, which come between two accesses of the program to memory. Every moment is tried in a process of its own, until the
   program fails in one of them. The compiler calls what it would call to find data races; none of it is linked. */
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
struct vouch_interrupt {
    unsigned handler, priority;
    unsigned depth; /* how many are at work, with it */
    unsigned call;  /* how often the program was called before */
};
/* TABLES */
enum { COUNT = sizeof vouch_interrupts / sizeof *vouch_interrupts, SECONDS = 2 };
void vouch_handle(unsigned handler);
unsigned vouch_call, vouch_held;
unsigned long long vouch_masked, vouch_level;
static unsigned next, depth;

static int may_come(void)
{
    const struct vouch_interrupt *i = &vouch_interrupts[next];
    return next < COUNT && i->depth == depth + 1 && i->call == vouch_call && !vouch_masked
        && (!(vouch_level >> (8 - BITS)) || i->priority < vouch_level);
}
void vouch_moment(void)
{
    while (may_come()) {
        alarm(0);
        pid_t child = fork();
        if (child > 0) {
            int status = 0;
            waitpid(child, &status, 0);
            if (WIFSIGNALED(status)) {
                signal(WTERMSIG(status), SIG_DFL);
                raise(WTERMSIG(status));
            }
            if (WIFEXITED(status) && WEXITSTATUS(status))
                _exit(WEXITSTATUS(status));
            alarm(SECONDS);
            return;
        }
        alarm(SECONDS);
        depth++;
        vouch_held = 0;
        vouch_handle(vouch_interrupts[next++].handler);
        vouch_held = 0;
        depth--;
    }
}
/* In a loop that never ends an interrupt comes as well; what comes in no moment that was tried is not shown. */
static void vouch_late(int signal_number)
{
    vouch_moment();
    _exit(0);
}
__attribute__((constructor)) static void vouch_first(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = vouch_late;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGALRM, &action, 0);
    alarm(SECONDS);
}
__attribute__((destructor)) static void vouch_last(void)
{
    vouch_moment();
}
#define ACCESS(name) \
    void __tsan_##name(void *at) \
    { \
        vouch_moment(); \
    }
#define SIZES(name) ACCESS(name##1) ACCESS(name##2) ACCESS(name##4) ACCESS(name##8) ACCESS(name##16)
SIZES(read)
SIZES(write)
SIZES(unaligned_read)
SIZES(unaligned_write)
SIZES(volatile_read)
SIZES(volatile_write)
ACCESS(func_entry)
void __tsan_read_range(void *at, unsigned long bytes)
{
    vouch_moment();
}
void __tsan_write_range(void *at, unsigned long bytes)
{
    vouch_moment();
}
void __tsan_func_exit(void)
{
}
void __tsan_init(void)
{
}
#define CHANGE(bits, type, name) \
    type __tsan_atomic##bits##_##name(type *at, type value, int order) \
    { \
        vouch_moment(); \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST); \
    }
#define COMPARE(bits, type, kind) \
    int __tsan_atomic##bits##_compare_exchange_##kind(type *at, type *old, type value, int order, int otherwise) \
    { \
        vouch_moment(); \
        return __atomic_compare_exchange_n(at, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define ATOMIC(bits, type) \
    type __tsan_atomic##bits##_load(type *at, int order) \
    { \
        vouch_moment(); \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(type *at, type value, int order) \
    { \
        vouch_moment(); \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST); \
    } \
    type __tsan_atomic##bits##_exchange(type *at, type value, int order) \
    { \
        vouch_moment(); \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); \
    } \
    CHANGE(bits, type, fetch_add) CHANGE(bits, type, fetch_sub) CHANGE(bits, type, fetch_and) \
    CHANGE(bits, type, fetch_or) CHANGE(bits, type, fetch_xor) CHANGE(bits, type, fetch_nand) \
    COMPARE(bits, type, strong) COMPARE(bits, type, weak)
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned)
void __tsan_atomic_thread_fence(int order)
{
}
void __tsan_atomic_signal_fence(int order)
{
}
