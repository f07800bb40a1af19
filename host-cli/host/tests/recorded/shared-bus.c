// The bus on a board, with a scheduler that calls the tasks in any order.
#include "../../../../examples/c/shared-bus.c"
#include "log.h"

#define FIELDS(NUMBER, AS, TEXT) \
    NUMBER(owner) NUMBER(held) NUMBER(drawing.left) NUMBER(writing.left) NUMBER(selected)

static void next_step(void)
{
    switch (dice(5)) {
    case 0: watch(); break;
    case 1:
    case 2: display((unsigned char)dice(8)); break;
    default: memory((unsigned char)dice(8)); break;
    }
}

DEVICE
