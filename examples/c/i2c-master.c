/*
 * An I2C register read: start, address, register, repeated start, data, stop, with retries and a bus
 * timeout. The bus must be released whenever the driver is idle.
 *
 * vouch check examples/c/i2c-master.c --entry poll --loop
 */
#include <stdbool.h>
#include <stdint.h>
#include "vouch.h"

enum i2c_state { I2C_IDLE, I2C_START, I2C_ADDRESS, I2C_REGISTER, I2C_RESTART, I2C_DATA, I2C_STOP };

#define RETRIES 3
#define TIMEOUT 20

static struct {
    enum i2c_state state;
    unsigned retries : 2;
    unsigned busy : 1;
    unsigned error : 1;
    uint8_t ticks;
} bus;

static void give_up(void)
{
    if (bus.retries < RETRIES) {
        bus.retries++;
        bus.state = I2C_START;
    } else {
        bus.error = 1;
        bus.state = I2C_STOP;
    }
    bus.ticks = 0;
}

static void next(enum i2c_state state, bool acknowledged)
{
    if (acknowledged) {
        bus.state = state;
        bus.ticks = 0;
    } else {
        give_up();
    }
}

void poll(bool request, bool ready, bool ack)
{
    if (bus.state != I2C_IDLE && !ready) {
        if (++bus.ticks >= TIMEOUT)
            give_up();
    } else {
        switch (bus.state) {
        case I2C_IDLE:
            if (request) {
                bus.retries = 0;
                bus.error = 0;
                bus.busy = 1;
                bus.ticks = 0;
                bus.state = I2C_START;
            }
            break;
        case I2C_START:    next(I2C_ADDRESS, true); break;
        case I2C_ADDRESS:  next(I2C_REGISTER, ack); break;
        case I2C_REGISTER: next(I2C_RESTART, ack);  break;
        case I2C_RESTART:  next(I2C_DATA, true);    break;
        case I2C_DATA:     next(I2C_STOP, true);    break;
        case I2C_STOP:
            bus.busy = 0;
            bus.state = I2C_IDLE;
            break;
        }
    }

    VOUCH_ASSERT_NAMED("idle_means_released", bus.state != I2C_IDLE || !bus.busy);
    VOUCH_ASSERT_NAMED("ticks_bounded", bus.ticks < TIMEOUT);
    VOUCH_ASSERT_NAMED("known_state", bus.state <= I2C_STOP);
}
