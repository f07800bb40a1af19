#ifndef VOUCH_WCHAR_H
#define VOUCH_WCHAR_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
typedef __WINT_TYPE__ wint_t;
#define WEOF ((wint_t)-1)
#endif
