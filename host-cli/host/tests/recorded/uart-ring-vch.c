// The receiver of uart-ring.vch, as firmware has it: what interrupts and what is interrupted take turns by chance.
#include <stdbool.h>
#include <stdint.h>
#include "log.h"

enum { SIZE = 4, MASK = SIZE - 1 };

static uint8_t ring[SIZE], head, tail;
static bool overrun;
static struct {
    enum { POLL, TAKE, FREE } state;
    uint8_t value, slot;
} reader;
static const char *const states[] = { "Poll", "Take", "Free" };

#define FIELDS(NUMBER, AS, TEXT) \
    TEXT(reader, states[reader.state]) NUMBER(head) NUMBER(tail) NUMBER(overrun) NUMBER(ring[0]) NUMBER(ring[1]) \
    NUMBER(ring[2]) NUMBER(ring[3]) NUMBER(reader.value) NUMBER(reader.slot)

static void receive(uint8_t byte)
{
    if (((head - tail) & 7) == SIZE) {
        overrun = true;
        return;
    }
    ring[head & MASK] = byte;
    head = (head + 1) & 7;
}

static void read(void)
{
    switch (reader.state) {
    case POLL:
        if (overrun)
            overrun = false;
        else if (head != tail && dice(2))
            reader.state = TAKE;
        break;
    case TAKE:
        reader.slot = tail & MASK;
        reader.value = ring[tail & MASK];
        reader.state = FREE;
        break;
    case FREE:
        tail = (tail + 1) & 7;
        reader.state = POLL;
        break;
    }
}

static void next_step(void)
{
    if (dice(3) == 0)
        receive((uint8_t)dice(16));
    else
        read();
}

DEVICE
