// A product whose model is part of its firmware: it starts only if the certificate holds for its own parameters, and asks the guard about
// its state while it runs.
#include "board.h"
#include "vouch_device.h"

extern const uint8_t model[], model_end[];
static uint32_t memory[6000];

// Of the example model; a product's tool writes them down.
#ifndef LOCATION
#define LOCATION 0
#define GOOD 0
#define BAD 0
#endif
#ifndef NAME
#define PARAMETERS 0
#else
static const vouch_parameter parameters[] = {{NAME, VALUE}};
#define PARAMETERS 1
#endif

static void application(void *argument) {
    size_t length = (size_t)(model_end - model);
    static const uint8_t good[] = {GOOD}, bad[] = {BAD};
    vouch_at at = {LOCATION, good, sizeof good};
    say((const char *)argument);
    say_number("guard", (uint32_t)vouch_guard_holds(model, length, &at));
    at.bits = bad;
    at.bytes = sizeof bad;
    say_number("guard", (uint32_t)vouch_guard_holds(model, length, &at));
#ifdef EDGE
    // A step of the model, and what is none: to another state, along no edge, without memory to evaluate it in.
    static const uint8_t inputs[] = {INPUTS}, after[] = {AFTER}, other[] = {OTHER};
    static uint8_t scratch[SCRATCH];
    vouch_at before = {LOCATION, good, sizeof good}, to = {TO, after, sizeof after}, wrong = {TO, other, sizeof other};
    size_t count = sizeof inputs;
    say_number("step", (uint32_t)vouch_guard_step(model, length, EDGE, &before, inputs, count, &to, scratch, SCRATCH));
    say_number("step", (uint32_t)vouch_guard_step(model, length, EDGE, &before, inputs, count, &wrong, scratch, SCRATCH));
    say_number("step", (uint32_t)vouch_guard_step(model, length, 9999, &before, inputs, count, &to, scratch, SCRATCH));
    say_number("step", (uint32_t)vouch_guard_step(model, length, EDGE, &before, inputs, count, &to, scratch, 1));
#endif
}

static void feed(void *fed) { ++*(uint32_t *)fed; }

int main(void) {
    uint32_t fed = 0;
    vouch_check check = {
#if PARAMETERS
        .parameters = parameters,
#endif
        .parameter_count = PARAMETERS,
        .slice = 1000,
        .idle = feed,
        .context = &fed,
#ifdef CODE
        .code = 0,
        .code_length = CODE,
        .must_be_bound = 1,
#endif
    };
    vouch_outcome outcome;
    vouch_boot_check(model, (size_t)(model_end - model), &check, memory, sizeof memory / sizeof *memory, application,
                     "application started\n", &outcome);
    say(outcome.decision == VOUCH_START ? "start\n" : "refuse\n");
    say_number("verdict", outcome.verdict);
    say_number("reason", outcome.reason);
    say_number("fed", fed > 0);
    return 0;
}
