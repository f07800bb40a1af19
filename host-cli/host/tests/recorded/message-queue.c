// The queue on a board, with messages that are sometimes too long.
#include "../../../../examples/c/message-queue.c"
#include "log.h"

static bool send;
static uint8_t kind, length;

#define FIELDS(NUMBER, AS, TEXT) \
    NUMBER(in) NUMBER(out) NUMBER(queued) NUMBER(slot[0].kind) NUMBER(slot[0].length) NUMBER(slot[3].kind) \
    AS(step::send, send) AS(step::kind, kind) AS(step::length, length)

static void next_step(void)
{
    send = dice(2);
    kind = (uint8_t)dice(256);
    length = (uint8_t)dice(12);
    step(send, kind, length);
}

DEVICE
