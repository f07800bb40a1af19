// The certificate checker and nothing else: what it takes of flash.
#include "board.h"
#include "vouch_device.h"

extern const uint8_t model[], model_end[];
static uint32_t memory[6000];

int main(void) {
    vouch_check check = {.slice = 1000};
    uint32_t why = vouch_certificate_check(model, (size_t)(model_end - model), &check, memory, sizeof memory / sizeof *memory);
    say_number("certificate", why);
    return 0;
}
