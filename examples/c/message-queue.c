/*
 * A queue of messages between two tasks, as small schedulers keep it: structs are copied in and out of
 * an array. What comes out is what may go in.
 *
 * vouch check examples/c/message-queue.c --entry step --loop --checks bounds
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

#define SLOTS 4
#define LONGEST 8

struct message {
    uint8_t kind;
    uint8_t length;
};

static struct message slot[SLOTS];
static uint8_t in, out, queued;

static bool post(const struct message *m)
{
    if (queued == SLOTS || m->length > LONGEST)
        return false;
    slot[in] = *m;
    in = (uint8_t)((in + 1) % SLOTS);
    queued++;
    return true;
}

static bool fetch(struct message *m)
{
    if (queued == 0)
        return false;
    *m = slot[out];
    if (++out == SLOTS)
        out = 0;
    queued--;
    return true;
}

void step(bool send, uint8_t kind, uint8_t length)
{
    struct message m = { kind, length };

    if (send)
        post(&m);
    else if (fetch(&m))
        VOUCH_ASSERT_NAMED("not_too_long", m.length <= LONGEST);

    VOUCH_ASSERT_NAMED("count_bounded", queued <= SLOTS);
    VOUCH_ASSERT_NAMED("count_agrees", (uint8_t)(in - out + SLOTS) % SLOTS == queued % SLOTS);
}
