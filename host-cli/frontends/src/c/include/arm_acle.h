/* What Arm says that compilers have functions for. */
#ifndef VOUCH_ARM_ACLE_H
#define VOUCH_ARM_ACLE_H
#include <stdint.h>
#define __VOUCH_INLINE static __inline__ __attribute__((always_inline, unused))
__VOUCH_INLINE unsigned int __clz(uint32_t x) { return __CLZ(x); }
__VOUCH_INLINE unsigned int __clzl(unsigned long x) { return x ? __builtin_clzl(x) : sizeof x * 8; }
__VOUCH_INLINE unsigned int __clzll(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
__VOUCH_INLINE unsigned int __cls(uint32_t x) { return __builtin_clrsb((int)x); }
__VOUCH_INLINE unsigned int __clsll(uint64_t x) { return __builtin_clrsbll((long long)x); }
__VOUCH_INLINE uint32_t __rev(uint32_t x) { return __builtin_bswap32(x); }
__VOUCH_INLINE uint64_t __revll(uint64_t x) { return __builtin_bswap64(x); }
__VOUCH_INLINE uint32_t __rev16(uint32_t x) { return __REV16(x); }
__VOUCH_INLINE int16_t __revsh(int16_t x) { return __REVSH(x); }
__VOUCH_INLINE uint32_t __rbit(uint32_t x) { return __RBIT(x); }
__VOUCH_INLINE uint64_t __rbitll(uint64_t x) { return __builtin_bitreverse64(x); }
__VOUCH_INLINE uint32_t __ror(uint32_t x, uint32_t n) { return __ROR(x, n); }
__VOUCH_INLINE uint64_t __rorll(uint64_t x, uint32_t n) { return __builtin_rotateright64(x, n); }
__VOUCH_INLINE int32_t __ssat(int32_t x, unsigned int bits) { return __SSAT(x, bits); }
__VOUCH_INLINE uint32_t __usat(int32_t x, unsigned int bits) { return __USAT(x, bits); }
__VOUCH_INLINE int32_t __qadd(int32_t a, int32_t b) { return __QADD(a, b); }
__VOUCH_INLINE int32_t __qsub(int32_t a, int32_t b) { return __QSUB(a, b); }
__VOUCH_INLINE int32_t __qdbl(int32_t a) { return __QADD(a, a); }
void __nop(void);
void __wfi(void);
void __wfe(void);
void __sev(void);
void __isb(unsigned int);
void __dsb(unsigned int);
void __dmb(unsigned int);
#define __sevl() __SEVL()
#define __yield() __YIELD()
#define __dbg(x) ((void)(x))
#endif
