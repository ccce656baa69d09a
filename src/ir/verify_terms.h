/* Where terms stand in a Model, a walk over all of them, and what the checks share. Private to verify*.c. */
#ifndef IR_VERIFY_TERMS_H
#define IR_VERIFY_TERMS_H

#include "base/diag.h"
#include "base/map.h"
#include "ir/labels.h"

typedef enum {
    PLACE_BINDING,
    PLACE_START,
    PLACE_ATTRIBUTE, /* nominal, min, max */
    PLACE_DIM,
    PLACE_RANGE,     /* of an iterator */
    PLACE_EQUATION,  /* a side */
    PLACE_CONDITION, /* of a region or transition */
    PLACE_BODY,      /* of a transition: targets, guards, values, arguments, statements */
    PLACE_STATEMENT, /* of an algorithm */
    PLACE_FUNCTION,  /* statement of a function */
    PLACE_RELATION,  /* operands of relations and step functions */
    PLACE_TIMED,     /* clocks, delays */
    PLACE_ASSERTION
} TermPlaceKind;

typedef struct {
    uint8_t kind;     /* TermPlaceKind */
    uint32_t index;   /* of the variable, equation, transition, ... */
    uint32_t n_loops; /* loops around it */
    Span span;
} TermPlace;

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

typedef void (*VisitTerm)(Verifier *v, Term term, const TermPlace *place);
void verify_each_term(Verifier *v, VisitTerm visit);

/* Every quantity is defined as often as it should be; the branches of an acausal region have as many equations. */
void verify_definitions(Verifier *v);
void verify_balance(Verifier *v);

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
