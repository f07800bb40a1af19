// A product that stores a signed model and starts by it. Its flash is RAM here, so that it runs in an emulator.
#include "board.h"
#include "vouch_device.h"

#define PAGES 9
extern const uint8_t model[], model_end[], key[];
static uint8_t cells[PAGES * 4096] __attribute__((aligned(8)));
static uint32_t memory[2000];

static int32_t erase(void *context, uint32_t offset, uint32_t length) {
    (void)context;
    if (offset % 4096 || length % 4096 || offset + length > sizeof cells) return 1;
    for (uint32_t i = 0; i < length; i++) cells[offset + i] = 0xff;
    return 0;
}

static int32_t write(void *context, uint32_t offset, const uint8_t *data, uint32_t length) {
    (void)context;
    if (offset % 8 || length % 8 || offset + length > sizeof cells) return 1;
    // As flash does it: bits only become 0.
    for (uint32_t i = 0; i < length; i++) cells[offset + i] &= data[i];
    return 0;
}

static void application(void *argument) { say((const char *)argument); }

int main(void) {
    const vouch_flash flash = {.base = cells, .size = sizeof cells, .erase = erase, .write = write};
    static vouch_store store;
    erase(0, 0, sizeof cells);
    say_number("open", (uint32_t)vouch_store_open(&store, &flash));
    say_number("provision", (uint32_t)vouch_store_provision(&store, key));
    size_t length = (size_t)(model_end - model);
    say_number("begin", (uint32_t)vouch_store_begin(&store, model, HEADER));
    int32_t written = 0;
    for (size_t at = HEADER; at < length && !written; at += 256) {
        size_t some = length - at < 256 ? length - at : 256;
        written = vouch_store_write(&store, (uint32_t)at, model + at, some);
    }
    say_number("write", (uint32_t)written);
    say_number("finish", (uint32_t)vouch_store_finish(&store));
    vouch_check check = {.slice = 1000};
    vouch_outcome outcome;
    say_number("boot", (uint32_t)vouch_store_boot(&store, &check, memory, sizeof memory / sizeof *memory, application,
                                                  "application started\n", &outcome));
    say(outcome.decision == VOUCH_START ? "start\n" : "refuse\n");
    return 0;
}
