/*
 * BROKEN on purpose.
 *
 * A bootloader that counts boots without a sign of life: after three it starts the fallback image. The
 * counter lives in a backup register with its complement; a mismatch counts as the worst.
 *
 * vouch check examples/c/watchdog-boot-broken.c --entry boot --loop
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

#define LIMIT 3

static union {
    uint16_t word;
    struct {
        uint8_t count;
        uint8_t check;
    } part;
} backup = { .part = { 0, 0xff } };

static bool fallback;
static uint8_t unhealthy;

static uint8_t load(void)
{
    if ((uint8_t)~backup.part.count != backup.part.check)
        return LIMIT;
    return backup.part.count;
}

static void save(uint8_t count)
{
    backup.word = (uint16_t)(count | ((uint8_t)~count << 8));
}

void boot(void)
{
    bool healthy = false, disturbed = false;
    uint16_t noise = 0;
    uint8_t count = load();

    fallback = count > LIMIT;
    if (!fallback)
        save((uint8_t)(count + 1));

    VOUCH_INPUT(healthy);
    if (healthy) {
        save(0);
        unhealthy = 0;
    } else if (!fallback && unhealthy < 255) {
        unhealthy++;
    }

    VOUCH_ASSERT_NAMED("falls_back_in_time", unhealthy <= LIMIT);
    VOUCH_ASSERT_NAMED("counter_in_range", load() <= LIMIT);

    VOUCH_INPUT(disturbed);
    if (disturbed && !healthy) {
        VOUCH_INPUT(noise);
        VOUCH_ASSUME((uint8_t)~noise != (uint8_t)(noise >> 8));
        backup.word = noise;
    }
}
