// Inputs and failures, as the front end knows them by name.
#include <stdint.h>

extern uint8_t vouch_input_u8(void);
extern uint16_t vouch_input_u16(void);
extern int8_t vouch_input_i8(void);
extern uint32_t vouch_input_u32(void);
extern void vouch_fail(void) __attribute__((noreturn));
