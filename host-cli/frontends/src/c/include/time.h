#ifndef VOUCH_TIME_H
#define VOUCH_TIME_H
#include <stddef.h>
typedef long time_t;
typedef unsigned long clock_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
#define CLOCKS_PER_SEC ((clock_t)1000000)
clock_t clock(void);
time_t time(time_t *);
double difftime(time_t, time_t);
struct tm *localtime(const time_t *);
struct tm *gmtime(const time_t *);
time_t mktime(struct tm *);
#endif
