#ifndef VOUCH_MATH_H
#define VOUCH_MATH_H
double sin(double);
float sinf(float);
double cos(double);
float cosf(float);
double tan(double);
float tanf(float);
double asin(double);
float asinf(float);
double acos(double);
float acosf(float);
double atan(double);
float atanf(float);
double sinh(double);
float sinhf(float);
double cosh(double);
float coshf(float);
double tanh(double);
float tanhf(float);
double exp(double);
float expf(float);
double exp2(double);
float exp2f(float);
double log(double);
float logf(float);
double log2(double);
float log2f(float);
double log10(double);
float log10f(float);
double sqrt(double);
float sqrtf(float);
double cbrt(double);
float cbrtf(float);
double fabs(double);
float fabsf(float);
double floor(double);
float floorf(float);
double ceil(double);
float ceilf(float);
double round(double);
float roundf(float);
double trunc(double);
float truncf(float);
double rint(double);
float rintf(float);
double pow(double, double);
float powf(float, float);
double atan2(double, double);
float atan2f(float, float);
double fmod(double, double);
float fmodf(float, float);
double hypot(double, double);
float hypotf(float, float);
double fmin(double, double);
float fminf(float, float);
double fmax(double, double);
float fmaxf(float, float);
double copysign(double, double);
float copysignf(float, float);
long lround(double);
long lroundf(float);
double asinh(double);
float asinhf(float);
double acosh(double);
float acoshf(float);
double atanh(double);
float atanhf(float);
double expm1(double);
float expm1f(float);
double log1p(double);
float log1pf(float);
double logb(double);
float logbf(float);
double nearbyint(double);
float nearbyintf(float);
double tgamma(double);
float tgammaf(float);
double lgamma(double);
float lgammaf(float);
double erf(double);
float erff(float);
double erfc(double);
float erfcf(float);
double remainder(double, double);
float remainderf(float, float);
double nextafter(double, double);
float nextafterf(float, float);
double fdim(double, double);
float fdimf(float, float);
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
double frexp(double, int *);
float frexpf(float, int *);
double modf(double, double *);
float modff(float, float *);
int ilogb(double);
int ilogbf(float);
long long llround(double);
long long llroundf(float);
long long llrint(double);
long long llrintf(float);
long lrint(double);
long lrintf(float);
typedef float float_t;
typedef double double_t;
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define MAXFLOAT 3.40282346638528859812e+38f
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define isnan(x) __extension__({ __typeof__(x) __of = (x); __of != __of; })
#define isinf(x) \
    __extension__({ __typeof__(x) __of = (x); __of == INFINITY || __of == -INFINITY; })
#define isfinite(x) \
    __extension__({ __typeof__(x) __of = (x); __of > -INFINITY && __of < INFINITY; })
#define signbit(x) \
    __extension__({ union { double of; unsigned long long bits; } __u; __u.of = (x); (int)(__u.bits >> 63); })
#define __vouch_smallest(x) (sizeof(x) == sizeof(float) ? 1.17549435082228750797e-38f : 2.22507385850720138309e-308)
#define fpclassify(x) \
    __extension__({ __typeof__(x) __of = (x); \
        __of != __of ? FP_NAN : __of == INFINITY || __of == -INFINITY ? FP_INFINITE : __of == 0 ? FP_ZERO : \
        __of < __vouch_smallest(__of) && __of > -__vouch_smallest(__of) ? FP_SUBNORMAL : FP_NORMAL; })
#define isnormal(x) (fpclassify(x) == FP_NORMAL)
#define isgreater(x, y) ((x) > (y))
#define isgreaterequal(x, y) ((x) >= (y))
#define isless(x, y) ((x) < (y))
#define islessequal(x, y) ((x) <= (y))
#define isunordered(x, y) \
    __extension__({ __typeof__(x) __x = (x); __typeof__(y) __y = (y); __x != __x || __y != __y; })
#endif
