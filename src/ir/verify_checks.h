/* What the checks of a Model share. Private to verify*.c. */
#ifndef IR_VERIFY_CHECKS_H
#define IR_VERIFY_CHECKS_H

#include "base/diag.h"
#include "base/map.h"
#include "ir/labels.h"
#include "ir/walk.h"

typedef struct {
    const Model *model;
    const Function *function; /* whose body the model is, or NULL */
    Diag *diag;
    Arena *arena;
    bool is_good;
} Verifier;

/* All ids in range, all terms as their places want them. False: reported; the rules must not be tried then. */
bool verify_ids(Verifier *v);

/* The rule about the body of a function, whose ids are good. */
bool verify_function(Verifier *v);

/* Every quantity is defined as often as it should be; the branches of an acausal region have as many equations. */
void verify_definitions(Verifier *v);
void verify_balance(Verifier *v);

/* What is sent fits the fields of the channel, and nothing else defines these. */
void verify_channels(Verifier *v);

/* A mistake of the user. */
#define REPORT(v, code, span, ...) (diag_error((v)->diag, code, span, __VA_ARGS__), verify_failed(v))

static inline void verify_failed(Verifier *v)
{
    v->is_good = false;
}

/* A mistake of Koine. */
void verify_broken(Verifier *v, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *verify_variable_text(const Verifier *v, VarId var);
void verify_note_declaration(Verifier *v, VarId var);

#endif
