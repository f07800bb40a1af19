/*
 * A queue of messages between two tasks: an array of structs with a free list, as small schedulers keep
 * it. No slot may be lost or handed out twice.
 *
 * vouch check examples/c/message-queue.c --entry step --loop --checks bounds
 */
#include <stdint.h>
#include "vouch.h"

#define SLOTS 4
#define NONE 0xff

struct message {
    uint8_t kind;
    uint8_t next;
};

static struct message slot[SLOTS] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, NONE } };
static uint8_t free_list;
static uint8_t first = NONE, last = NONE;
static uint8_t queued;

static int post(uint8_t kind)
{
    struct message *m;
    uint8_t i = free_list;
    if (i == NONE)
        return 0;
    m = &slot[i];
    free_list = m->next;
    m->kind = kind;
    m->next = NONE;
    if (last == NONE)
        first = i;
    else
        slot[last].next = i;
    last = i;
    queued++;
    return 1;
}

static int fetch(void)
{
    uint8_t i = first;
    int kind;
    if (i == NONE)
        return -1;
    kind = slot[i].kind;
    first = slot[i].next;
    if (first == NONE)
        last = NONE;
    slot[i].next = free_list;
    free_list = i;
    queued--;
    return kind;
}

void step(uint8_t event)
{
    if (event & 0x80)
        fetch();
    else
        post(event);

    VOUCH_ASSERT_NAMED("count_bounded", queued <= SLOTS);
    VOUCH_ASSERT_NAMED("empty_means_none", (queued == 0) == (first == NONE));
    VOUCH_ASSERT_NAMED("full_means_no_slot", (queued == SLOTS) == (free_list == NONE));
}
