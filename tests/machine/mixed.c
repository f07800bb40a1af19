// A step that is called from elsewhere, calls others, keeps something in a static of its own, and has a table of functions.
#include "vouch.h"

struct filter {
    uint8_t count;
    int16_t last[3];
    uint32_t sum;
};
static struct filter filters[2];
static uint16_t limit = 300;
static const uint8_t weights[] = {1, 2, 1};
uint8_t alarms;

static void raise_alarm(void) {
    if (alarms < 9) alarms++;
}
static void clear_alarm(void) { alarms = 0; }
static void (*const reactions[])(void) = {clear_alarm, raise_alarm};

static uint32_t weighted(const struct filter *f) {
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++) sum += (uint32_t)weights[i] * (uint16_t)f->last[i];
    return sum;
}

KEEP void step(void) {
    static uint8_t turn;
    struct filter *f = &filters[turn];
    int16_t value = (int16_t)vouch_input_u16();
    if (value < 0 || value > 1000) value = 1000;
    f->last[f->count] = value;
    f->count = f->count == 2 ? 0 : f->count + 1;
    f->sum = weighted(f);
    reactions[f->sum / 4 > limit]();
    turn = !turn;
    if (alarms > 9 || f->count > 2) vouch_fail();
}

#ifdef RUN
void run(void) {
    for (;;) step();
}
#endif
