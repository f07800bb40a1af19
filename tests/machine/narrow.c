// Arguments that are narrower than a register: their callers extend them, and nobody else looks at the other bits.
#include "vouch.h"

typedef enum { STOP, GO } event_t;
typedef enum { BACK = -1, STAY, FORTH } way_t;

#ifdef BROKEN
#define LARGEST 254
#else
#define LARGEST 255
#endif

#ifndef OTHERS
static uint32_t level;
static int32_t change;
static uint32_t door;
static uint32_t event;

void step(uint8_t now, int8_t by, _Bool is_open, event_t what) {
    if (level > LARGEST || change < -128 || change > 127 || door > 1 || event > 255) vouch_fail();
    level = now;
    change = by;
    door = is_open;
    event = what;
}
#else
static int32_t way;
static uint32_t speed;

void step(way_t to, uint16_t fast) {
    if (way < -128 || way > 127 || speed > 65280 + LARGEST) vouch_fail();
    way = to;
    speed = fast;
}
#endif
