// What the examples have of their board, an LM3S6965: a port for text, and an end.
#include <stdint.h>

void say(const char *text);
void say_number(const char *name, uint32_t value);
void finish(int code) __attribute__((noreturn));
