/*
 * vouch_device.h: the self-check at boot, the guard, and models in flash, for products in C. Link with libvouch.a.
 *
 * Pointers must point to as many elements as is said with them, aligned as their types are, and nothing else may change these
 * during a call. A null pointer, or one that is not aligned, is taken for nothing being there. Names are UTF-8 and end with a zero byte.
 * No function allocates memory, and none may be called while another is running. Names that begin with `vouch_` are the library's.
 */
#ifndef VOUCH_DEVICE_H
#define VOUCH_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter of the model that this device has. */
typedef struct {
    const char *name;
    uint64_t value; /* as raw bits */
} vouch_parameter;

/* What is checked. */
typedef struct {
    const vouch_parameter *parameters; /* the proof holds for all values of those that are not named; at most 16 */
    size_t parameter_count;
    const char *const *required; /* properties that the model must have; at most 16 */
    size_t required_count;
    uint64_t budget;             /* work after which it gives up; 0: no limit */
    uint32_t slice;              /* work between two calls of `idle` */
    void (*idle)(void *context); /* feeds the watchdog; may be null */
    void *context;
    uintptr_t code;         /* the address of the flash that this firmware is in */
    size_t code_length;     /* 0: nobody can look at it, and only models that are not bound to a program pass */
    uint32_t must_be_bound; /* 1: only models that are bound to this firmware pass */
} vouch_check;

/* Decisions. They are for reports: what starts the application is `vouch_boot_check` itself. */
#define VOUCH_START 0x2e5a93c5u
#define VOUCH_REFUSE 0x97c16a74u

/* Verdicts. */
#define VOUCH_SAFE 1u
#define VOUCH_UNSAFE 2u  /* `detail` is the number of the property */
#define VOUCH_UNKNOWN 3u /* `reason` says why */

/* Why nothing is known. */
#define VOUCH_BUDGET 1u
#define VOUCH_MEMORY 2u            /* `detail`: bytes with which it could begin */
#define VOUCH_NO_SUCH_PARAMETER 3u /* `detail`: which of those given */
#define VOUCH_OUT_OF_RANGE 4u      /* `detail`: which of those given */
#define VOUCH_NO_CERTIFICATE 5u    /* there is none that holds for these parameters */
#define VOUCH_NO_PROPERTIES 7u
#define VOUCH_MISSING 8u /* `detail`: which of the required properties */
#define VOUCH_FAULT 9u
#define VOUCH_CODE_DIFFERS 10u /* the model is bound to other code than that of this firmware */
#define VOUCH_UNBOUND 11u
#define VOUCH_NO_IMAGE 100u /* it is damaged, not aligned to 4 bytes, or of another version */
#define VOUCH_TOO_MANY 101u

/* What came of it. */
typedef struct {
    uint32_t decision;
    uint32_t verdict;
    uint32_t reason;
    uint32_t detail;
    uint64_t work;
    uint32_t peak_bytes; /* of `memory` */
    uint32_t is_proof;   /* 1 if a proof was found here, 0 if a certificate was checked */
} vouch_outcome;

/*
 * Checks the model in `image` (aligned to 4 bytes) for the parameters of this device. If all properties hold, `application` is called
 * with `argument`, and `outcome` is written when it returns; else `outcome` is written at once. `memory` is needed for the check, and free
 * again when the application starts. One skipped instruction does not start an application that must not.
 */
void vouch_boot_check(const void *image, size_t length, const vouch_check *check, uint32_t *memory, size_t words,
                      void (*application)(void *argument), void *argument, vouch_outcome *outcome);

/*
 * The certificate checker alone, in less flash: 0 if all properties hold for the parameters of this device, otherwise one of the numbers above that say why
 * nothing is known. It does not look at code: a model that is bound to a program does not pass. What follows is up to you, and so is what a skipped instruction does to that: `vouch_boot_check` is made for it.
 */
uint32_t vouch_certificate_check(const void *image, size_t length, const vouch_check *check, uint32_t *memory, size_t words);

/* A place in the model, with a state: bits by their numbers in the image, packed, the lowest first. */
typedef struct {
    uint32_t location;
    const uint8_t *bits;
    size_t bytes;
} vouch_at;

/* Alarms. */
#define VOUCH_HOLDS 0
#define VOUCH_NOWHERE 1       /* no such location, or too few bits */
#define VOUCH_NEVER_REACHED 2 /* the proof says that no run comes there */
#define VOUCH_INVARIANT 3     /* the state is none that a run has there */
#define VOUCH_NO_SUCH_EDGE 4
#define VOUCH_NOT_ENABLED 5
#define VOUCH_WRONG_BIT 6
#define VOUCH_SCRATCH 7 /* `scratch` is too small: a bit for each variable of an edge */

/* Whether a state fulfils what was proved of it. The image must have passed `vouch_boot_check`, and carry a certificate. */
int vouch_guard_holds(const void *image, size_t length, const vouch_at *at);

/* Whether an edge of the model leads from one state to another with these inputs, and the latter fulfils what was proved of it. */
int vouch_guard_step(const void *image, size_t length, uint32_t edge, const vouch_at *before, const uint8_t *inputs,
                     size_t input_bytes, const vouch_at *after, uint8_t *scratch, size_t scratch_bytes);

/*
 * Flash for models, which the processor reads like memory. Offsets count from `base`, which is aligned to 4 bytes. Ranges that are erased are multiples
 * of 4096 bytes, and so must `size` be, at least 3 of them; what is written has multiples of 8 bytes. Both functions return 0 if all
 * went well, and only when it is done.
 */
typedef struct {
    const void *base;
    uint32_t size;
    int32_t (*erase)(void *context, uint32_t offset, uint32_t length);
    int32_t (*write)(void *context, uint32_t offset, const uint8_t *data, uint32_t length);
    void (*idle)(void *context); /* feeds the watchdog; may be null */
    void *context;
} vouch_flash;

/* The store: the library's own. */
typedef struct {
    uint64_t own[32];
} vouch_store;

/* What functions of the store return. */
#define VOUCH_STORE_OK 0
#define VOUCH_STORE_NONE 1
#define VOUCH_STORE_EMPTY 2
#define VOUCH_STORE_FLASH 3
#define VOUCH_STORE_TOO_LARGE 4
#define VOUCH_STORE_NO_UPDATE 5
#define VOUCH_STORE_BAD_OFFSET 6
#define VOUCH_STORE_NOT_A_PACKAGE 7
#define VOUCH_STORE_VERSION 8
#define VOUCH_STORE_LENGTH 9
#define VOUCH_STORE_HASH 10
#define VOUCH_STORE_UNSIGNED 11
#define VOUCH_STORE_NO_KEY 12
#define VOUCH_STORE_OTHER_KEY 13
#define VOUCH_STORE_SIGNATURE 14
#define VOUCH_STORE_ROLLBACK 15
#define VOUCH_STORE_COUNTER_FULL 16
#define VOUCH_STORE_OTHER 17

/* Opens the store in a flash, as it was left. `store` stays where it is as long as it is used. */
int32_t vouch_store_open(vouch_store *store, const vouch_flash *flash);

/* Sets the first key that signatures are checked with (32 bytes). */
int32_t vouch_store_provision(vouch_store *store, const uint8_t key[32]);

/* An update: first the header of the package, then all of its bytes in order, then the end. It is tried at the next start. */
int32_t vouch_store_begin(vouch_store *store, const uint8_t *head, size_t length);
int32_t vouch_store_write(vouch_store *store, uint32_t offset, const uint8_t *data, size_t length);
int32_t vouch_store_finish(vouch_store *store);

/* A package about a key. */
int32_t vouch_store_change_keys(vouch_store *store, const uint8_t *package, size_t length);

/*
 * `vouch_boot_check` with the model that is stored: signature, hash, counter; an update is tried first, and one that does not pass gives way to the
 * model before it. Checking a signature takes about 9 KiB of stack.
 */
int32_t vouch_store_boot(vouch_store *store, const vouch_check *check, uint32_t *memory, size_t words,
                         void (*application)(void *argument), void *argument, vouch_outcome *outcome);

/* Called where nothing can go on. Unless you define it, it executes an undefined instruction. It must not return. */
void vouch_panic(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
