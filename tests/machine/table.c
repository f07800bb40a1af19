// A table of constants that has no name where the compiler makes it of a `switch`. BROKEN allows less than is in it.
#include "vouch.h"

#ifdef BROKEN
#define MOST 900
#else
#define MOST 996
#endif
#define ONE(n) case n: out = (n) * (n) * 7u % 997u; break;
#define TEN(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)

volatile uint32_t shown;

void step(void) {
    uint32_t out;
    switch (vouch_input_u8()) {
        TEN(0) TEN(10) TEN(20) TEN(30) TEN(40) TEN(50)
        TEN(60) TEN(70) TEN(80) TEN(90) TEN(100) TEN(110)
        default: out = 0;
    }
    shown = out;
    if (out > MOST) vouch_fail();
}
