// A pump that must not run dry, nor faster than its state allows. BROKEN forgets to stop it.
#include "vouch.h"

enum state { IDLE, PRIME, RUN, DRAIN, FAULT };
static struct {
    enum state state;
    uint16_t left, rate;
    uint8_t bubbles, motor, log[8], at;
} pump;
static const uint8_t most[] = {0, 20, 100, 30, 0};

void step(void) {
    uint8_t event = vouch_input_u8();
    switch (pump.state) {
    case IDLE:
        if (event == 1) {
            pump.left = 50;
            pump.rate = 10;
            pump.motor = 1;
            pump.state = PRIME;
        }
        break;
    case PRIME:
        if (--pump.left == 0) {
            uint16_t rate = vouch_input_u16();
            pump.rate = rate > 100 ? 100 : rate;
            pump.state = RUN;
        }
        break;
    case RUN:
        if (event & 0x80) {
            if (++pump.bubbles > 3) {
                pump.state = FAULT;
                pump.motor = 0;
#ifndef BROKEN
                pump.rate = 0;
#endif
            }
        } else {
            pump.bubbles = 0;
            if (event == 2) {
                pump.rate = 30;
                pump.state = DRAIN;
            }
        }
        break;
    case DRAIN:
        if (event == 3) {
            pump.rate = pump.motor = pump.bubbles = 0;
            pump.state = IDLE;
        }
        break;
    case FAULT:
        if (event == 9) {
            pump.bubbles = 0;
            pump.state = IDLE;
        }
        break;
    }
    pump.log[pump.at] = event;
    pump.at = (pump.at + 1) & 7;
    if (pump.rate > most[pump.state]) vouch_fail();
    if (pump.motor && (pump.state == FAULT || pump.state == IDLE)) vouch_fail();
}
