// Pointers that are kept in statics and change: to the function that is the next state, through a buffer, to one of several objects, and
// from each of these to another. BROKEN leaves the lamp on in one of the states.
#include "vouch.h"

#define ROOM 12
static uint8_t buffer[ROOM], count;
static uint8_t *head = buffer, *tail = buffer;

struct node {
    struct node *next;
    uint8_t is_used;
};
static struct node nodes[3], *unused, *used;

struct channel {
    uint8_t level, most;
};
// Next to each other, as what a loop would step through.
static struct channel low = {0, 10}, high = {0, 20}, *channel = &low;

static void idle(uint8_t event), busy(uint8_t event), done(uint8_t event);
static void (*state)(uint8_t);
static uint8_t lamp, rounds;

static void idle(uint8_t event) {
    if (event != 1) return;
    lamp = 1;
    rounds = 0;
    state = busy;
}

static void busy(uint8_t event) {
    if (++rounds < 3 && event != 2) return;
#ifdef BROKEN
    lamp = rounds == 2;
#else
    lamp = 0;
#endif
    state = done;
}

static void done(uint8_t event) {
    if (lamp) vouch_fail();
    if (event == 3) state = idle;
}

static void fail(void) { vouch_fail(); }

void init(void) {
    state = idle;
    nodes[0].next = &nodes[1];
    nodes[1].next = &nodes[2];
    unused = &nodes[0];
}

void step(void) {
    uint8_t event = vouch_input_u8();
    state(event);
    if (event & 16) {
        if (count < ROOM) {
            *head++ = event;
            if (head == buffer + ROOM) head = buffer;
            count++;
        }
    } else if (count) {
        if (++tail == buffer + ROOM) tail = buffer;
        count--;
    }
    if (event & 32) {
        struct node *node = unused;
        if (node) {
            if (node->is_used) fail();
            unused = node->next;
            node->is_used = 1;
            node->next = used;
            used = node;
        }
    } else if (used) {
        struct node *node = used;
        used = node->next;
        node->is_used = 0;
        node->next = unused;
        unused = node;
    }
    if (event & 64) channel = channel == &low ? &high : &low;
    channel->level = channel->level < channel->most ? channel->level + 1 : 0;
    if (low.level > 10 || high.level > 20) fail();
}
