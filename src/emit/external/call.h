/* How a C function is called whose types are known only now: by libffi. */
#ifndef EMIT_EXTERNAL_CALL_H
#define EMIT_EXTERNAL_CALL_H

#define KOINE_EXTERNAL_TYPES_ONLY
#include "ir/external.h"
#include "koine/koine_external.h"

/* What the shared object that contains the function knows of failures; NULL: it does not have koine_external.h. */
typedef struct {
    KoineExternalState *(*state)(void);
    const volatile int *failures;
} ExternalFailures;

typedef struct {
    void (*function)(void);
    void (*destructor)(void); /* of the objects that it makes; else NULL */
} ExternalAddresses;

/* NULL: libffi does not know such a function. Lives in the arena. */
ExternalCode *external_code_create(const Function *function, ExternalAddresses at, ExternalFailures failures,
                                   Arena *arena);

#endif
