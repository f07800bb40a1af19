// The precharge of precharge.vch, as firmware has it.
#include <stdbool.h>
#include <stdint.h>
#include "log.h"

enum command { IDLE, CLOSE, OPEN };
static const char *const commands[] = { "Idle", "Close", "Open" };
static enum command command;
static uint8_t link;
static bool interlock;

static const uint8_t timeout = 9, ready_level = 58;

enum { EMPTY = 12, SETTLE = 2 };

static enum { OFF, WELD_CHECK, PRECHARGE, RUN, FAULT } state;
static const char *const states[] = { "Off", "WeldCheck", "Precharge", "Run", "Fault" };
static bool relay, contactor;
static uint8_t timer, settled;

#define FIELDS(NUMBER, AS, TEXT) \
    TEXT(state, states[state]) NUMBER(relay) NUMBER(contactor) NUMBER(timer) NUMBER(settled) NUMBER(timeout) \
    NUMBER(ready_level) TEXT(command, commands[command]) NUMBER(link) NUMBER(interlock)

static void off(void)
{
    relay = contactor = false;
    timer = 0;
    state = OFF;
}

static void fault(void)
{
    relay = contactor = false;
    state = FAULT;
}

static void tick(void)
{
    switch (state) {
    case OFF:
        if (!interlock)
            fault();
        else if (command == CLOSE)
            state = WELD_CHECK;
        break;
    case WELD_CHECK:
        if (command == OPEN) {
            off();
        } else if (link < EMPTY) {
            relay = true;
            timer = settled = 0;
            state = PRECHARGE;
        } else if (timer >= timeout) {
            fault();
        } else {
            timer++;
        }
        break;
    case PRECHARGE:
        if (!interlock) {
            fault();
        } else if (command == OPEN) {
            off();
        } else if (settled == SETTLE) {
            contactor = true;
            relay = false;
            state = RUN;
        } else if (timer >= timeout) {
            fault();
        } else {
            timer++;
            settled = link >= ready_level ? settled + 1 : 0;
        }
        break;
    case RUN:
        if (!interlock)
            fault();
        else if (command == OPEN)
            off();
        break;
    case FAULT:
        break;
    }
}

static void next_step(void)
{
    command = dice(9) ? CLOSE : OPEN;
    link = (uint8_t)(state == WELD_CHECK ? dice(24) : 50 + dice(14));
    interlock = dice(50) != 0;
    tick();
}

DEVICE
