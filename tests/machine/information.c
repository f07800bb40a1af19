// A value of calibration that the vendor has put where nothing of the program is.
#include "vouch.h"

#define CALIBRATION ((volatile uint16_t *)0x1ffff7b8)

#ifdef BROKEN
#define MOST 6
#else
#define MOST 7
#endif

static uint16_t value, at;

void step(void) {
    if (value > MOST) vouch_fail();
    value = (CALIBRATION[0] + CALIBRATION[at]) & 7;
    at = vouch_input_u8() & 3;
#ifdef WRITES
    CALIBRATION[0] = value;
#endif
}
