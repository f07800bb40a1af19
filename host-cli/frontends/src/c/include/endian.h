#ifndef VOUCH_ENDIAN_H
#define VOUCH_ENDIAN_H
#include <machine/endian.h>
#define __BYTE_ORDER BYTE_ORDER
#define __LITTLE_ENDIAN LITTLE_ENDIAN
#define __BIG_ENDIAN BIG_ENDIAN
#define htobe16(x) __builtin_bswap16(x)
#define htobe32(x) __builtin_bswap32(x)
#define htobe64(x) __builtin_bswap64(x)
#define be16toh(x) __builtin_bswap16(x)
#define be32toh(x) __builtin_bswap32(x)
#define be64toh(x) __builtin_bswap64(x)
#define htole16(x) ((__UINT16_TYPE__)(x))
#define htole32(x) ((__UINT32_TYPE__)(x))
#define htole64(x) ((__UINT64_TYPE__)(x))
#define le16toh(x) ((__UINT16_TYPE__)(x))
#define le32toh(x) ((__UINT32_TYPE__)(x))
#define le64toh(x) ((__UINT64_TYPE__)(x))
#endif
