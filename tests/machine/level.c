// A tank whose most and least levels are in .data, and its table of rates in flash. BROKEN forgets the upper end.
#include "vouch.h"

static struct {
    uint8_t most, least, level;
} tank = {200, 10, 100};
static const uint8_t rates[] = {1, 2, 5, 10};

void step(void) {
    uint8_t event = vouch_input_u8();
    uint8_t rate = rates[event & 3];
    if (event & 4) {
#ifndef BROKEN
        if (tank.level <= tank.most - rate)
#endif
            tank.level += rate;
    } else if (tank.level >= tank.least + rate) {
        tank.level -= rate;
    }
    if (tank.level > 200 || tank.level < 10) vouch_fail();
}
