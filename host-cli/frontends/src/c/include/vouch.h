/*
 * vouch.h: what firmware tells vouch. On the target all of it costs nothing.
 *
 *   VOUCH_ASSERT(condition);                must hold whenever a run gets here
 *   VOUCH_ASSERT_NAMED("name", condition);  the same, as a property of this name; "name [REQ-1, REQ-2]" says which
 *                                           requirements it covers
 *   VOUCH_ASSUME(condition);                runs in which it does not hold are not looked at
 *   VOUCH_INPUT(variable);                  the environment gives it any value now
 *   VOUCH_PARAM(min, max) const int limit;  fixed on the device, within these bounds; vouch proves
 *                                           for all values, or for that given by --bind
 *
 * Outside of functions, markers for `vouch check firmware.elf` and for whoever reads the source:
 *
 *   VOUCH_STEP(function);                   one call of it is a step
 *   VOUCH_INIT(function);                   it is called once, before the first step
 *   VOUCH_ALWAYS(function);                 it takes nothing and returns other than 0 between any two steps
 *   VOUCH_ANY(variable);                    its value can be anything whenever it is read
 *   VOUCH_RESULT(function, U8);             so can its result: BOOL, U8, I8, U16, I16, U32 or I32
 *   VOUCH_INTERRUPT(function, priority);    it handles an interrupt; smaller numbers are more urgent
 *   VOUCH_PARAM_OF(variable, min, max);     set before the first step, within these bounds, and never after; it
 *                                           must be volatile, and not static
 *
 * They stand behind the definition, with numbers that the assembler understands. None of them takes flash.
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
extern float __vouch_input_float(const char *name);
extern double __vouch_input_double(const char *name);

#define VOUCH_ASSERT(condition) vouch_assert(!!(condition))
#define VOUCH_ASSERT_NAMED(name, condition) vouch_assert_named(name, !!(condition))
#define VOUCH_ASSUME(condition) vouch_assume(!!(condition))
#define VOUCH_INPUT_(variable) \
    _Generic((variable), float: __vouch_input_float, double: __vouch_input_double, default: vouch_input)
#define VOUCH_INPUT(variable) ((void)((variable) = (__typeof__(variable))VOUCH_INPUT_(variable)(#variable)))
#define VOUCH_PARAM(min, max) __attribute__((vouch_param(min, max)))

#define VOUCH_STEP(function) struct vouch_marker
#define VOUCH_INIT(function) struct vouch_marker
#define VOUCH_IGNORED_(marker) struct __attribute__((vouch_ignored(marker))) vouch_marker
#define VOUCH_ALWAYS(function) VOUCH_IGNORED_("VOUCH_ALWAYS")
#define VOUCH_ANY(variable) VOUCH_IGNORED_("VOUCH_ANY")
#define VOUCH_RESULT(function, type) VOUCH_IGNORED_("VOUCH_RESULT")
#define VOUCH_INTERRUPT(function, priority) struct vouch_marker
#define VOUCH_PARAM_OF(variable, min, max) extern __typeof__(variable) variable VOUCH_PARAM(min, max)

#else

#define VOUCH_ASSERT(condition) ((void)0)
#define VOUCH_ASSERT_NAMED(name, condition) ((void)0)
#define VOUCH_ASSUME(condition) ((void)0)
#define VOUCH_INPUT(variable) ((void)0)
#define VOUCH_PARAM(min, max)

#if defined(__ELF__) && (defined(__arm__) || (defined(__riscv) && __riscv_xlen == 32))

/* A record (docs/formats/marker.md). Linkers keep what looks like debug information, do not load it, and keep nothing
   else for its sake. */
#define VOUCH_RECORD_(kind, priority, width, symbol, min, max, name) \
    __asm__(".pushsection .debug_vouch,\"\",%progbits\n" \
            "\t.ascii \"vouch\"\n\t.byte 1\n\t.2byte 771f - 770f\n" \
            "770:\t.byte " #kind ", " #priority ", " #width ", 0\n\t.4byte " symbol "\n" \
            "\t.8byte " #min "\n\t.8byte " #max "\n\t.ascii \"" name "\"\n771:\t.popsection\n")
#if defined(__clang__)
#define VOUCH_WHOLE_ __attribute__((used, noinline))
#else
#define VOUCH_WHOLE_ __attribute__((used, noinline, noclone))
#endif
#define VOUCH_FUNCTION_(function, kind, priority) \
    VOUCH_WHOLE_ __typeof__(function) function; \
    VOUCH_RECORD_(kind, priority, 0, #function, 0, 0, #function)

#define VOUCH_STEP(function) VOUCH_FUNCTION_(function, 1, 0)
#define VOUCH_INIT(function) VOUCH_FUNCTION_(function, 2, 0)
/* A copy, which is not flashed: what the firmware itself calls stays where it is. */
#define VOUCH_ALWAYS(function) \
    VOUCH_WHOLE_ __attribute__((section(".vouch.always." #function))) \
    static int __vouch_always_##function(void) { return (function)() != 0; } \
    VOUCH_RECORD_(3, 0, 0, "__vouch_always_" #function, 0, 0, #function)
#define VOUCH_ANY(variable) VOUCH_RECORD_(4, 0, 0, #variable, 0, 0, #variable)
#define VOUCH_RESULT(function, type) VOUCH_RESULT_##type(function)
#define VOUCH_RESULT_BOOL(function) VOUCH_RESULT_(function, 1)
#define VOUCH_RESULT_U8(function) VOUCH_RESULT_(function, 8)
#define VOUCH_RESULT_U16(function) VOUCH_RESULT_(function, 16)
#define VOUCH_RESULT_U32(function) VOUCH_RESULT_(function, 32)
#define VOUCH_RESULT_I8(function) VOUCH_RESULT_(function, 128 + 8)
#define VOUCH_RESULT_I16(function) VOUCH_RESULT_(function, 128 + 16)
#define VOUCH_RESULT_I32(function) VOUCH_RESULT_(function, 128 + 32)
#define VOUCH_RESULT_(function, width) \
    VOUCH_WHOLE_ __typeof__(function) function; \
    VOUCH_RECORD_(4, 0, width, #function, 0, 0, #function)
#define VOUCH_PARAM_OF(variable, min, max) VOUCH_RECORD_(5, 0, 0, #variable, min, max, #variable)
#define VOUCH_INTERRUPT(function, priority) VOUCH_FUNCTION_(function, 6, priority)

#else

#define VOUCH_STEP(function) struct vouch_marker
#define VOUCH_INIT(function) struct vouch_marker
#define VOUCH_ALWAYS(function) struct vouch_marker
#define VOUCH_ANY(variable) struct vouch_marker
#define VOUCH_RESULT(function, type) struct vouch_marker
#define VOUCH_INTERRUPT(function, priority) struct vouch_marker
#define VOUCH_PARAM_OF(variable, min, max) struct vouch_marker

#endif
#endif
#endif
