// Addresses as compilers and libraries compute them: an index that does not begin at zero is folded into the address
// of the table, and `memset` counts the bytes up to the next word with a negated address.
#include "vouch.h"

static uint8_t before[40] = {1};
static uint8_t pressed[4];
static const uint8_t most[4] = {3, 1, 4, 2};

static void fill(uint8_t *at, uint8_t value, uint32_t count) {
    uint32_t skip = -(uint32_t)at & 3;
    for (uint32_t i = 0; i < skip; i++) at[i] = value;
    uint32_t words = (count - skip) / 4;
    for (uint32_t i = 0; i < words; i++) ((uint32_t *)(at + skip))[i] = value * 0x01010101u;
    for (uint32_t i = skip + 4 * words; i < count; i++) at[i] = value;
}

void step(void) {
    uint8_t room[24];
    uint8_t key = vouch_input_u8();
    before[key % 40] = key;
    if (key < 24 || key > 27) return;
    uint8_t *start = room + 1;
    __asm__("" : "+r"(start));
    fill(start, key, 22);
    if (start[0] != key || start[10] != key || start[21] != key) vouch_fail();
#ifdef BROKEN
    if (pressed[key - 24] <= most[key - 24])
#else
    if (pressed[key - 24] < most[key - 24])
#endif
        pressed[key - 24]++;
    if (pressed[key - 24] > most[key - 24] || pressed[2] > 4) vouch_fail();
}
