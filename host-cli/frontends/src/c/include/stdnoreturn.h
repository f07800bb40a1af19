#ifndef VOUCH_STDNORETURN_H
#define VOUCH_STDNORETURN_H
#define noreturn _Noreturn
#endif
