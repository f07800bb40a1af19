#ifndef VOUCH_STDDEF_H
#define VOUCH_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef struct {
    long long a __attribute__((aligned(__alignof__(long long))));
    long double b __attribute__((aligned(__alignof__(long double))));
#ifdef __i386__
    /* As wide as `__float128`. */
    char c[16] __attribute__((aligned(16)));
#endif
} max_align_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
