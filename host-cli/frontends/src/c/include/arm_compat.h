/* What armclang has of older compilers. */
#ifndef VOUCH_ARM_COMPAT_H
#define VOUCH_ARM_COMPAT_H
#define __ARM_COMPAT_H
void __enable_irq(void);
int __disable_irq(void);
void __nop(void);
void __wfi(void);
void __wfe(void);
void __sev(void);
void __schedule_barrier(void);
#endif
