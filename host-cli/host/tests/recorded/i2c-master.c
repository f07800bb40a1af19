// The driver of an I2C bus on a board, with a slow and unreliable chip.
#include "../../../../examples/c/i2c-master.c"
#include "log.h"

#define FIELDS(NUMBER, AS, TEXT) \
    NUMBER(bus.state) NUMBER(bus.retries) NUMBER(bus.busy) NUMBER(bus.error) NUMBER(bus.ticks)

static void next_step(void)
{
    poll(dice(2), dice(3) != 0, dice(4) != 0);
}

DEVICE
