// The boot loader on a board, with applications that hang and a backup register that is disturbed.
#define VOUCH_H
#define VOUCH_ASSERT_NAMED(name, condition) ((void)0)
#define VOUCH_ASSUME(condition) ((void)0)
#define VOUCH_INPUT(variable) ((variable) = drawn_##variable)

#include <stdbool.h>
#include <stdint.h>

static bool drawn_healthy, drawn_disturbed;
static uint16_t drawn_noise;

#include "../../../../examples/c/watchdog-boot.c"
#include "log.h"

#define FIELDS(NUMBER, AS, TEXT) \
    NUMBER(backup.part.count) NUMBER(backup.part.check) NUMBER(fallback) NUMBER(unhealthy) \
    AS(healthy, drawn_healthy) AS(disturbed, drawn_disturbed) AS(noise, drawn_noise)

static void next_step(void)
{
    drawn_healthy = dice(3) == 0;
    drawn_disturbed = dice(6) == 0;
    // Not a counter with its complement.
    drawn_noise = (uint16_t)dice(0x80);
    boot();
}

DEVICE
