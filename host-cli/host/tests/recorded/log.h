// A device that logs what it does: CSV on its port, a line for the state at the start and one after each step.
//
// What it logs stands in `FIELDS(NUMBER, AS, TEXT)`, under the names that the model has for it; `next_step` draws inputs
// and makes a step.
#include "board.h"

#define LINES 60

static uint32_t seed = 0x2545f491;

// Inputs by chance, the same in each run.
static uint32_t dice(uint32_t sides)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return (uint32_t)((uint64_t)seed * sides >> 32);
}

static void number(uint32_t value)
{
    char digits[11];
    int at = 10;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    say(digits + at);
}

static void next_step(void);

#define NUMBER_NAME(field) say("," #field);
#define AS_NAME(field, value) say("," #field);
#define TEXT_NAME(field, text) say("," #field);
#define NUMBER_VALUE(field) say(","), number(field);
#define AS_VALUE(field, value) say(","), number(value);
#define TEXT_VALUE(field, text) say(","), say(text);
#define DEVICE \
    int main(void) \
    { \
        say("line"); \
        FIELDS(NUMBER_NAME, AS_NAME, TEXT_NAME) \
        say("\n"); \
        for (uint32_t line = 0; line < LINES; line++) { \
            if (line) \
                next_step(); \
            number(line); \
            FIELDS(NUMBER_VALUE, AS_VALUE, TEXT_VALUE) \
            say("\n"); \
        } \
        return 0; \
    }
