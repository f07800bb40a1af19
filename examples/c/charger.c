/*
 * A battery charger: precharge, constant current, constant voltage, done, fault. A safety timer bounds
 * the time under charge; the limit is a calibration value of the device.
 *
 * vouch check examples/c/charger.c --entry step --loop
 */
#include <stdint.h>
#include "vouch.h"

enum state { IDLE, PRECHARGE, CURRENT, VOLTAGE, DONE, FAULT };

enum { TOO_COLD = 1 << 0, TOO_HOT = 1 << 1, FULL = 1 << 2, PLUGGED = 1 << 3, LOW = 1 << 4 };

VOUCH_PARAM(10, 200) const uint8_t time_limit = 12;

/* Reads the sensors. */
extern uint8_t read_flags(void);

static enum state state;
static uint8_t timer;
static uint8_t enable;

static void enter(enum state next)
{
    state = next;
    enable = next == PRECHARGE || next == CURRENT || next == VOLTAGE;
    if (!enable)
        timer = 0;
}

void step(void)
{
    uint8_t flags = read_flags();

    if (enable)
        timer++;

    if (!(flags & PLUGGED)) {
        enter(IDLE);
    } else if (flags & (TOO_COLD | TOO_HOT)) {
        enter(FAULT);
    } else {
        switch (state) {
        case IDLE:
            enter(flags & LOW ? PRECHARGE : CURRENT);
            break;
        case PRECHARGE:
            if (!(flags & LOW))
                enter(CURRENT);
            break;
        case CURRENT:
            if (flags & FULL)
                enter(VOLTAGE);
            break;
        case VOLTAGE:
            if (!(flags & FULL))
                enter(DONE);
            break;
        case DONE:
        case FAULT:
            break;
        }
        if (enable && timer >= time_limit)
            enter(FAULT);
    }

    VOUCH_ASSERT_NAMED("no_charge_in_fault", state != FAULT || !enable);
    VOUCH_ASSERT_NAMED("timer_bounded", timer < time_limit);
}
