#ifndef VOUCH_SIGNAL_H
#define VOUCH_SIGNAL_H
#include <stdint.h>
typedef __SIG_ATOMIC_TYPE__ sig_atomic_t;
#define SIGABRT 6
#define SIGINT 2
#define SIGTERM 15
#define SIGSEGV 11
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
void (*signal(int, void (*)(int)))(int);
int raise(int);
#endif
