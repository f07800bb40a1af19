// The ring on a board, with a line that is busier than the main loop.
#include "../../../../examples/c/uart-ring.c"
#include "log.h"

static uint8_t event, byte;

#define FIELDS(NUMBER, AS, TEXT) \
    NUMBER(ring.head) NUMBER(ring.tail) NUMBER(ring.lost) NUMBER(ring.data[0]) NUMBER(ring.data[5]) \
    AS(step::event, event) AS(step::byte, byte)

static void next_step(void)
{
    event = (uint8_t)((dice(4) ? 1 : 0) | (dice(2) ? 2 : 0));
    byte = (uint8_t)dice(256);
    step(event, byte);
}

DEVICE
