// A queue of commands: loops over what is in it, a pointer that is kept in a static, a table of functions, a
// local array, division, and signed inputs. BROKEN accepts one command more than there is room for,
// and so leaves its array.
#include "vouch.h"

#define ROOM 5
static struct {
    uint8_t items[ROOM];
    uint8_t count;
    int16_t level;
    uint32_t total;
} queue;
static uint8_t *items;

static void raise(uint8_t by) { queue.level += by; }
static void lower(uint8_t by) { queue.level -= by; }
static void hold(uint8_t by) { (void)by; }
static void (*const actions[])(uint8_t) = {raise, lower, hold};

void init(void) {
    items = queue.items;
    queue.level = 20;
}

void step(void) {
    uint8_t command = vouch_input_u8();
#ifdef BROKEN
    if (queue.count <= ROOM && command != 0) items[queue.count++] = command;
#else
    if (queue.count < ROOM && command != 0) items[queue.count++] = command;
#endif
    // What was large enough comes first: as many rounds as there are items.
    uint8_t kept[ROOM], n = 0;
    for (uint8_t i = 0; i < queue.count; i++) {
        if (items[i] > 100) queue.total += items[i] / 10;
        else if (n < ROOM) kept[n++] = items[i];
    }
    if (vouch_input_i8() < 0 && n > 0) {
        uint8_t first = kept[0];
        actions[first % 3](first & 3);
        for (uint8_t i = 1; i < n; i++) kept[i - 1] = kept[i];
        n--;
    }
    for (uint8_t i = 0; i < n; i++) items[i] = kept[i];
    queue.count = n;
    if (queue.level > 40) queue.level = 40;
    if (queue.level < 0) queue.level = 0;
    if (queue.count > ROOM || queue.level > 40) vouch_fail();
}
