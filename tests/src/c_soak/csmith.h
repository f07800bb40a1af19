/* What programs of csmith take from its own header, without a C library and without its checksum, which
   would take more time than the program. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#define INT_MAX INT32_MAX
#define UINT_MAX UINT32_MAX
#define CHAR_BIT 8
#define STATIC static
#define UNDEFINED(value) (value)
#define LOG_INDEX
#define LOG_EXEC
#define FUNC_NAME(x) (safe_##x)
/* Floating point. */
#define UNSAFE_FLOAT
#include "safe_math.h"
int printf(const char *, ...);
static void platform_main_begin(void) {}
static void platform_main_end(uint32_t sum, int flag) {}
static void crc32_gentab(void) {}
