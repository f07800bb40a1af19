// A word that is a pointer, a function or a number, as another word says.
#include "vouch.h"

typedef uint32_t (*rule)(uint32_t);

static struct {
    enum { FILL, COUNT, APPLY } state;
    union {
        uint32_t *tank;
        uint32_t left;
        rule rule;
    } u;
} job;

static uint32_t tanks[2];

static uint32_t empty(uint32_t level) { return level - level; }
static uint32_t half(uint32_t level) { return level / 2; }

#ifdef BROKEN
#define FULL 9
#else
#define FULL 8
#endif

void init(void) {
    job.state = FILL;
    job.u.tank = &tanks[0];
}

void step(void) {
    switch (job.state) {
    case FILL:
        *job.u.tank += 1;
        if (*job.u.tank >= FULL) {
            job.u.left = 3;
            job.state = COUNT;
        }
        break;
    case COUNT:
        job.u.left -= 1;
        if (job.u.left == 0) {
            job.u.rule = vouch_input_u8() & 1 ? empty : half;
            job.state = APPLY;
        }
        break;
    case APPLY:
        tanks[0] = job.u.rule(tanks[0]);
        tanks[1] = job.u.rule(tanks[1]);
        job.u.tank = &tanks[vouch_input_u8() & 1];
        job.state = FILL;
        break;
    }
    if (tanks[0] > 8 || tanks[1] > 8) vouch_fail();
}
