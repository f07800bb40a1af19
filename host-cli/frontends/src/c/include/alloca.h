#ifndef VOUCH_ALLOCA_H
#define VOUCH_ALLOCA_H
#include <stddef.h>
void *alloca(size_t);
#endif
