// Ways in which a handler that is not part of the step gets at what the step uses; with WAY 0 it does not. From 10 on the step or a
// table has what leads there.
#include "vouch.h"

static volatile uint8_t first, shared, other, box[4];
static uint8_t *volatile kept;
static volatile uint8_t ticks, shown[2]; // What is shown is for others.
#define PORT (*(volatile uint32_t *)0x40000004)

#if WAY == 11
static volatile uint8_t *const table[] = {&other, &shared};
#elif WAY == 12
static volatile uint8_t *volatile given = &shared;
#elif WAY == 13
static __attribute__((noinline)) void set(void) { shared = PORT; }
static __attribute__((noinline)) void reset(void) { other = 0; }
static void (*const calls[])(void) = {set, reset};
#elif WAY == 15 || WAY == 16
// Addresses that are not aligned.
static const struct __attribute__((packed)) { uint8_t id; volatile uint8_t *at; } packed[] = {{1, &other}, {2, &shared}};
#elif WAY == 14
__attribute__((section(".text.data"), used)) static volatile uint8_t *const box_in_code[] = {&other, &shared};
#endif

void step(void) {
#if WAY == 10
    kept = (uint8_t *)&shared;
#elif WAY == 11
    if (*table[ticks & 1]) vouch_fail();
#elif WAY == 12
    kept = (uint8_t *)given;
#elif WAY == 13
    if (ticks == 200) set();
#elif WAY == 16
    if (*packed[ticks & 1].at) vouch_fail();
#endif
    if (shared || box[1] || box[3]) vouch_fail();
    shown[++ticks & 1] = ticks;
}

static __attribute__((noinline)) void put(volatile uint8_t *at) { *at = 1; }
#if WAY == 3
static __attribute__((noinline)) volatile uint8_t *where(uint32_t i) { return i > 3 ? &other : &shared; }
#endif

__attribute__((used)) void handler(void) {
    first = 1;
#if WAY == 0
    if (PORT) other = 2;
    put(&other);
    other = first + shown[PORT & 1];
    put(&shown[0]);
#elif WAY == 1
    shared = 1;
#elif WAY == 2
    put(&shared);
#elif WAY == 3
    *where(PORT) = 1;
#elif WAY == 4
    if (PORT) other = 2;
    if (PORT & 2) shared = 1;
#elif WAY == 5
    box[PORT & 3] = 1;
#elif WAY == 6
    for (volatile uint8_t *at = box; at != box + 4; at++) *at = PORT;
#elif WAY == 7
    switch (PORT) {
    case 0: first = 4; break;
    case 1: other = PORT; // falls through
    case 2: first = other; // falls through
    case 3: shared = PORT; break;
    case 4: other = 9; break;
    case 5: put(&first); break;
    case 6: first = PORT; break;
    case 7: other = first; break;
    }
#elif WAY == 8
    kept = (uint8_t *)&shared;
#elif WAY == 9
    volatile uint8_t *at = PORT ? &first : PORT ? &shared : &other;
    at[0] = 1;
#elif WAY == 10 || WAY == 12
    *kept = 1;
#elif WAY == 11
    *table[PORT & 1] = 1;
#elif WAY == 13
    calls[PORT & 1]();
#elif WAY == 14
    *box_in_code[PORT & 1] = 1;
#elif WAY == 15 || WAY == 16
    for (uint32_t i = 0; i < 2; i++)
        if (packed[i].id == PORT) *packed[i].at = 1;
#endif
}
