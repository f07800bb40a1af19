#ifndef VOUCH_UNISTD_H
#define VOUCH_UNISTD_H
#include <sys/types.h>
unsigned sleep(unsigned);
int usleep(unsigned);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int close(int);
void _exit(int);
#endif
