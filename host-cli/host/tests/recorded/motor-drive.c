// The servo drive of motor-drive.vch, as firmware has it.
#include <stdbool.h>
#include <stdint.h>
#include "log.h"

enum { SWITCH_ON = 1, VOLTAGE = 2, NO_QUICK_STOP = 4, ENABLE = 8, RESET = 16 };
static uint8_t control;
static bool sto_a, sto_b, fault, stands;

static struct {
    uint8_t tolerance;
    bool active, broken;
    uint8_t disagree;
} sto = { .tolerance = 3, .active = true };

enum state { DISABLED, READY, SWITCHED_ON, ENABLED, QUICK_STOP, REACTION, FAULT };
static const char *const states[] = {
    "SwitchOnDisabled", "ReadyToSwitchOn", "SwitchedOn", "OperationEnabled", "QuickStop", "FaultReaction", "Fault",
};
static struct {
    enum state state;
    uint8_t ramp;
    bool gates, brake, reset_before;
    uint8_t timer;
} drive = { .ramp = 4, .brake = true, .reset_before = true };

#define FIELDS(NUMBER, AS, TEXT) \
    TEXT(drive, states[drive.state]) NUMBER(drive.gates) NUMBER(drive.brake) NUMBER(drive.timer) \
    NUMBER(drive.reset_before) NUMBER(sto.active) NUMBER(sto.broken) NUMBER(sto.disagree) NUMBER(sto.tolerance) \
    NUMBER(drive.ramp) NUMBER(control)

static void watch_lines(void)
{
    sto.active = !(sto_a && sto_b);
    if (sto_a == sto_b)
        sto.disagree = 0;
    else if (sto.disagree < sto.tolerance)
        sto.disagree++;
    else
        sto.broken = true;
}

static void torque(bool on)
{
    drive.gates = on;
    drive.brake = !on;
}

static void enter(enum state next)
{
    drive.state = next;
    if (next == DISABLED || next == SWITCHED_ON || next == FAULT || (next == REACTION && sto.broken))
        torque(false);
    if (next == ENABLED)
        torque(true);
    if (next == QUICK_STOP || next == REACTION)
        drive.timer = 0;
}

static void move(void)
{
    bool shutdown = (control & 7) == (VOLTAGE | NO_QUICK_STOP);
    bool switch_on = (control & 15) == (VOLTAGE | NO_QUICK_STOP | SWITCH_ON);
    bool enable = (control & 15) == (VOLTAGE | NO_QUICK_STOP | SWITCH_ON | ENABLE);
    bool quick_stop = (control & 6) == VOLTAGE;
    bool off = !(control & VOLTAGE);
    bool reset = control & RESET;
    bool bad = fault || sto.broken;

    switch (drive.state) {
    case DISABLED:
        if (bad)
            enter(REACTION);
        else if (shutdown && !sto.active)
            enter(READY);
        break;
    case READY:
        if (bad)
            enter(REACTION);
        else if (sto.active || off || quick_stop)
            enter(DISABLED);
        else if (switch_on || enable)
            enter(SWITCHED_ON);
        break;
    case SWITCHED_ON:
        if (bad)
            enter(REACTION);
        else if (sto.active || off || quick_stop)
            enter(DISABLED);
        else if (shutdown)
            enter(READY);
        else if (enable)
            enter(ENABLED);
        break;
    case ENABLED:
        if (sto.active) {
            enter(DISABLED);
        } else if (bad) {
            enter(REACTION);
        } else if (off) {
            enter(DISABLED);
        } else if (quick_stop) {
            enter(QUICK_STOP);
        } else if (shutdown) {
            torque(false);
            enter(READY);
        } else if (switch_on) {
            enter(SWITCHED_ON);
        }
        break;
    case QUICK_STOP:
        if (sto.active || off || stands)
            enter(DISABLED);
        else if (bad)
            enter(REACTION);
        else if (drive.timer + 1 < drive.ramp)
            drive.timer++;
        else
            enter(DISABLED);
        break;
    case REACTION:
        if (sto.active || sto.broken || stands)
            enter(FAULT);
        else if (drive.timer + 1 < drive.ramp)
            drive.timer++;
        else
            enter(FAULT);
        break;
    case FAULT:
        if (reset && !drive.reset_before && !bad)
            enter(DISABLED);
        break;
    }
    drive.reset_before = reset;
}

static void next_step(void)
{
    static const uint8_t words[] = { 6, 7, 15, 15, 15, 2, 16, 0 };
    control = words[dice(sizeof words)];
    sto_a = dice(20) != 0;
    sto_b = sto_a ? dice(20) != 0 : dice(2);
    fault = dice(20) == 0;
    stands = dice(6) == 0;
    watch_lines();
    move();
}

DEVICE
