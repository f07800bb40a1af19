// What inputs and failures are on a board; here they are never executed.
#include "vouch.h"

#ifndef ALONE
#define PORT (*(volatile uint32_t *)0x40000000)
uint8_t vouch_input_u8(void) { return PORT; }
uint16_t vouch_input_u16(void) { return PORT; }
int8_t vouch_input_i8(void) { return PORT; }
uint32_t vouch_input_u32(void) { return PORT; }
void vouch_fail(void) {
    for (;;) PORT = 1;
}
#endif
