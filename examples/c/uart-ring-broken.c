/*
 * BROKEN on purpose.
 *
 * The receive ring of a UART: the interrupt puts bytes in, the main loop takes them out. Head and tail
 * run freely and are masked on access, as Linux' kfifo does it.
 *
 * vouch check examples/c/uart-ring-broken.c --entry step --loop
 */
#include <stdint.h>
#include "vouch.h"

#define SIZE 8u
#define MASK (SIZE - 1u)

static struct {
    uint8_t data[SIZE];
    uint8_t head, tail;
    uint8_t lost;
} ring;

static uint8_t used(void)
{
    return (uint8_t)(ring.head - ring.tail);
}

static void put(uint8_t byte)
{
    if (used() > SIZE) {
        if (ring.lost < 255)
            ring.lost++;
        return;
    }
    ring.data[ring.head++ & MASK] = byte;
}

static int take(void)
{
    if (ring.head == ring.tail)
        return -1;
    return ring.data[ring.tail++ & MASK];
}

void step(uint8_t event, uint8_t byte)
{
    if (event & 1)
        put(byte);
    if (event & 2) {
        int got = take();
        (void)got;
        VOUCH_ASSERT_NAMED("byte_or_empty", got >= -1 && got <= 255);
    }
    VOUCH_ASSERT_NAMED("never_overfull", used() <= SIZE);
}
