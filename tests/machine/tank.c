// A tank that is filled up to a limit, which each device has its own, and emptied by a handler; with markers.
#include <stdint.h>
#include <vouch.h>

#ifdef BROKEN
#define MORE 1
#else
#define MORE 0
#endif
#define LOWEST 2

#ifndef PLAIN
#define MARKED(marker) marker
#else
#define MARKED(marker) struct nothing
#endif

const volatile uint8_t limit = 4;
MARKED(VOUCH_PARAM_OF(limit, LOWEST, 10));
volatile uint16_t pressure;
MARKED(VOUCH_ANY(pressure));
static volatile uint8_t level = 9;

__attribute__((noinline)) static int8_t flow(void) { return *(volatile int8_t *)0x40000000; }
MARKED(VOUCH_RESULT(flow, I8));

__attribute__((noinline)) static void setup(void) { level = 0; }
MARKED(VOUCH_INIT(setup));

__attribute__((noinline)) static void fill(void) {
    if (pressure > 1000) return;
    int8_t by = flow();
    if (by < 0 || by > 3) by = 0;
    __asm__ volatile("cpsid i" ::: "memory");
    uint8_t to = level + by;
    if (to <= limit + MORE) level = to;
    __asm__ volatile("cpsie i" ::: "memory");
}
MARKED(VOUCH_STEP(fill));

__attribute__((noinline)) static void drain(void) {
    if (level > 0) level = level - 1;
}
MARKED(VOUCH_INTERRUPT(drain, 0x40));

static inline int is_below_limit(void) { return level <= limit; }
MARKED(VOUCH_ALWAYS(is_below_limit));

void step(void) {
    setup();
    *(void (*volatile *)(void))0x40000004 = drain;
    *(volatile uint16_t *volatile *)0x40000008 = &pressure;
    for (;;) fill();
}
