#ifndef VOUCH_SYS_CDEFS_H
#define VOUCH_SYS_CDEFS_H
#define __BEGIN_DECLS
#define __END_DECLS
#define __CONCAT(a, b) a ## b
#define __STRING(x) #x
#define __dead2 __attribute__((noreturn))
#define __pure2 __attribute__((const))
#define __unused __attribute__((unused))
#define __used __attribute__((used))
#define __packed __attribute__((packed))
#define __aligned(n) __attribute__((aligned(n)))
#define __section(name) __attribute__((section(name)))
#define __weak_symbol __attribute__((weak))
#define __always_inline __inline__ __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __predict_true(c) __builtin_expect((c), 1)
#define __predict_false(c) __builtin_expect((c), 0)
#endif
