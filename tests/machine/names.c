// Statics of many types, for their names.
#include "vouch.h"
#include <stdbool.h>

enum mode { OFF = 0, LOW = 5, HIGH = 9, ERROR = -1 };
struct sensor {
    int16_t value;
    bool valid;
};
static struct {
    enum mode mode;
    struct sensor sensors[2];
    union {
        uint32_t word;
        uint8_t bytes[4];
    } raw;
    unsigned ready : 1, busy : 1;
} unit;
static volatile int32_t offset;

void step(uint8_t event, int delta) {
    static uint16_t calls;
    calls++;
    offset += delta;
    switch (unit.mode) {
    case OFF:
        if (event == 1) unit.mode = LOW;
        break;
    case LOW:
        unit.sensors[event & 1].value = vouch_input_i8();
        unit.sensors[event & 1].valid = true;
        if (event == 2) unit.mode = HIGH;
        if (event == 3) unit.mode = ERROR;
        break;
    case HIGH:
        unit.raw.word = unit.raw.word * 3 + vouch_input_u32();
        unit.busy = event & 1;
        if (event == 4) unit.mode = OFF;
        break;
    default:
        break;
    }
    if (unit.mode != OFF && unit.mode != LOW && unit.mode != HIGH && unit.mode != ERROR) vouch_fail();
}
