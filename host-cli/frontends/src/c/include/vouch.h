/*
 * vouch.h: what firmware tells vouch. On the target all of it costs nothing.
 *
 *   VOUCH_ASSERT(condition);                must hold whenever a run gets here
 *   VOUCH_ASSERT_NAMED("name", condition);  the same, as a property of this name
 *   VOUCH_ASSUME(condition);                runs in which it does not hold are not looked at
 *   VOUCH_INPUT(variable);                  the environment gives it any value now
 *   VOUCH_PARAM(min, max) const int limit;  fixed on the device, within these bounds; vouch proves
 *                                           for all values, or for that given by --bind
 *
 * vouch defines __VOUCH__ when it compiles; other compilers do not.
 */
#ifndef VOUCH_H
#define VOUCH_H

#ifdef __VOUCH__

extern void vouch_assert(int condition);
extern void vouch_assert_named(const char *name, int condition);
extern void vouch_assume(int condition);
extern unsigned long long vouch_input(const char *name);

#define VOUCH_ASSERT(condition) vouch_assert(!!(condition))
#define VOUCH_ASSERT_NAMED(name, condition) vouch_assert_named(name, !!(condition))
#define VOUCH_ASSUME(condition) vouch_assume(!!(condition))
#define VOUCH_INPUT(variable) ((void)((variable) = (__typeof__(variable))vouch_input(#variable)))
#define VOUCH_PARAM(min, max) __attribute__((vouch_param(min, max)))

#else

#define VOUCH_ASSERT(condition) ((void)0)
#define VOUCH_ASSERT_NAMED(name, condition) ((void)0)
#define VOUCH_ASSUME(condition) ((void)0)
#define VOUCH_INPUT(variable) ((void)0)
#define VOUCH_PARAM(min, max)

#endif
#endif
