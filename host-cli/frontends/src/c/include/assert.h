/* What a failed assertion means to vouch. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
extern void assert(int condition);
#define assert(condition) assert(!!(condition))
#endif
#ifndef static_assert
#define static_assert _Static_assert
#endif
