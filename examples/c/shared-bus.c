/*
 * A bus that two drivers share, without a lock of the operating system: each task holds the bus over several of its calls,
 * and gives it back. A third task watches, and takes the bus from a driver that has held it for too long.
 *
 * vouch check examples/c/shared-bus.c --init setup --task display --task memory --task watch --checks all
 */
#include "vouch.h"

enum owner { NOBODY, DISPLAY, MEMORY };
enum { PATIENCE = 5 };

struct transfer {
    unsigned char left;
};

static enum owner owner;
static unsigned char held;
static struct transfer drawing, writing;
static unsigned char selected; /* chip selects: 1 display, 2 memory */

void setup(void)
{
    owner = NOBODY;
    selected = 0;
}

static int take(enum owner who)
{
    if (owner != NOBODY && owner != who)
        return 0;
    if (owner == NOBODY)
        held = 0;
    owner = who;
    return 1;
}

static void give(void)
{
    selected = 0;
    owner = NOBODY;
}

static void work(struct transfer *transfer, enum owner who, unsigned char wanted)
{
    if (transfer->left == 0) {
        transfer->left = wanted & 7;
        return;
    }
    if (!take(who))
        return;
    selected |= who;
    VOUCH_ASSERT_NAMED("one chip", selected == who);
    if (--transfer->left == 0)
        give();
}

void display(unsigned char wanted)
{
    work(&drawing, DISPLAY, wanted);
}

void memory(unsigned char wanted)
{
    work(&writing, MEMORY, wanted);
}

void watch(void)
{
    if (owner == NOBODY)
        return;
    if (++held >= PATIENCE) {
        if (owner == DISPLAY)
            drawing.left = 0;
        else
            writing.left = 0;
        give();
    }
    VOUCH_ASSERT_NAMED("patience", held <= PATIENCE);
}
