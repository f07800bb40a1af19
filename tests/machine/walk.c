// A list that is walked: the loop is entered, and gone on with, only where there is a next one.
#include "vouch.h"

#ifdef BROKEN
#define MOST 2
#else
#define MOST 3
#endif

struct timer {
    struct timer *next;
};
static struct timer timers[3];
static struct timer *volatile first;

void step(void) {
    uint8_t event = vouch_input_u8();
    if (event == 1) first = &timers[0];
    if (event == 2) first = &timers[1];
    if (event == 3) first = 0;
    if (event == 4) timers[0].next = &timers[1];
    if (event == 5) timers[1].next = &timers[2];
    if (event == 6) timers[0].next = timers[1].next = 0;
    uint8_t count = 0;
    for (struct timer *at = first; at; at = at->next) count++;
    if (count > MOST) vouch_fail();
}
