// The charger on a board, with sensors that mostly find all well.
#include "../../../../examples/c/charger.c"
#include "log.h"

#define FIELDS(NUMBER, AS, TEXT) NUMBER(state) NUMBER(timer) NUMBER(enable) NUMBER(time_limit)

uint8_t read_flags(void)
{
    uint8_t flags = (uint8_t)(dice(2) ? FULL : 0) | (dice(2) ? LOW : 0);
    if (dice(12))
        flags |= PLUGGED;
    if (dice(25) == 0)
        flags |= TOO_HOT;
    return flags;
}

static void next_step(void)
{
    step();
}

DEVICE
