#ifndef VOUCH_SETJMP_H
#define VOUCH_SETJMP_H
typedef long jmp_buf[32];
int setjmp(jmp_buf);
void longjmp(jmp_buf, int) __attribute__((noreturn));
#endif
