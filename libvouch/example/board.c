// Start-up, text on the UART, and the end of an emulated run, for an LM3S6965 without any library.
#include "board.h"

extern uint32_t _data_load, _data_start, _data_end, _bss_start, _bss_end, _stack_top;
int main(void);

void reset(void) {
    for (uint32_t *from = &_data_load, *to = &_data_start; to < &_data_end;) *to++ = *from++;
    for (uint32_t *to = &_bss_start; to < &_bss_end;) *to++ = 0;
    finish(main());
}

static void fault(void) {
    say("fault\n");
    finish(1);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &_stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};

void say(const char *text) {
    while (*text) *(volatile uint32_t *)0x4000c000 = (uint8_t)*text++;
}

void say_number(const char *name, uint32_t value) {
    char digits[11];
    int at = 10;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    say(name);
    say(" ");
    say(digits + at);
    say("\n");
}

// Ends the emulator by semihosting; on a board without a debugger this is a fault.
void finish(int code) {
    register uint32_t what __asm__("r0") = 0x18;
    register uint32_t why __asm__("r1") = code ? 0x20023 : 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(what), "r"(why) : "memory");
    for (;;) {
    }
}
