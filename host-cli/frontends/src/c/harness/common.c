#ifndef VOUCH_HARNESS
#define VOUCH_HARNESS
/* What vouch.h would define, in every file of the program. */
#define __VOUCH__ 1
#define VOUCH_H
#define VOUCH_ASSERT(c) ((c) ? (void)0 : vouch_broken(vouch_place(__FILE__, __LINE__)))
#define VOUCH_ASSERT_NAMED(n, c) ((c) ? (void)0 : vouch_broken(n))
#define VOUCH_ASSUME(c) ((c) ? (void)0 : vouch_exit(0))
#define VOUCH_INPUT(v) \
    ((void)((v) = (__typeof__(v))_Generic((v), float: vouch_float, double: vouch_double, default: vouch_same)(vouch_input(#v))))
#define VOUCH_PARAM(min, max)
void vouch_broken(const char *name);
const char *vouch_place(const char *file, int line);
unsigned long long vouch_input(const char *name);
float vouch_float(unsigned long long bits);
double vouch_double(unsigned long long bits);
unsigned long long vouch_same(unsigned long long bits);
void vouch_exit(int code) __asm__("exit");
#endif
