// The button's driver on a board, with a finger that presses for a while.
#include "../../../../examples/c/button-debounce.c"
#include "log.h"

#define FIELDS(NUMBER, AS, TEXT) NUMBER(integrator) NUMBER(pressed) NUMBER(presses)

static void next_step(void)
{
    static bool finger;
    if (dice(9) == 0)
        finger = !finger;
    tick(dice(8) ? finger : !finger);
}

DEVICE
