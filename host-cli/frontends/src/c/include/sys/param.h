#ifndef VOUCH_SYS_PARAM_H
#define VOUCH_SYS_PARAM_H
#include <limits.h>
#include <machine/endian.h>
#include <sys/types.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define howmany(x, y) (((x) + ((y) - 1)) / (y))
#endif
