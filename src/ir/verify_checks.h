/* What the checks of a Model share. Private to verify*.c. */
#ifndef IR_VERIFY_CHECKS_H
#define IR_VERIFY_CHECKS_H

#include "base/diag.h"
#include "base/map.h"
#include "ir/labels.h"
#include "ir/walk.h"

/* What all terms of one shape have in common: it is found once. A shape is plain if it consists of literals, operations
 * and references to variables as a whole, and compares no Reals for equality: then the types of its leaves are all
 * that there is to check. */
typedef struct {
    bool is_known, is_plain;
    const Type *types; /* of each leaf, of a plain one */
} ShapeFacts;

typedef struct {
    const Model *model;
    const Function *function; /* whose body the model is, or NULL */
    Diag *diag;
    Arena *arena;
    bool is_good;
    ShapeFacts *facts; /* by the id of the shape */
    uint32_t n_facts;
} Verifier;

/* All ids in range, all terms as their places want them. False: reported; the rules must not be tried then. */
bool verify_ids(Verifier *v);

const ShapeFacts *verify_shape(Verifier *v, const Expr *shape);
/* It is plain, and its leaves have the types of what they refer to. */
bool verify_is_plain(Verifier *v, const Expr *shape, const Ref *refs);

/* The rule about the body of a function, whose ids are good. */
bool verify_function(Verifier *v);

/* What becomes of an external object. */
void verify_object(Verifier *v, const Variable *var);

/* Functions that are not pure are called where that is allowed. */
void verify_calls(Verifier *v, Term term, const TermPlace *place);
void verify_results(Verifier *v);

/* Every quantity is defined as often as it should be; the branches of an acausal region have as many equations. */
void verify_definitions(Verifier *v);
void verify_balance(Verifier *v);

/* What is sent fits the fields of the channel, and nothing else defines these. */
void verify_channels(Verifier *v);

/* Elements have the parts that they need, and at most eight ranges. */
void verify_elements(Verifier *v);
void verify_along(Verifier *v, const Delay *d); /* a delay: what belongs to a position */

/* What is connected agrees (V12); ports, roots and branches make sense. */
void verify_connections(Verifier *v);
void verify_ports(Verifier *v);

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

/* ---- ids, values and places ---- */
static inline bool in_range(Verifier *v, uint32_t index, uint32_t n, const char *what, Span span)
{
    if (index < n)
        return true;
    verify_broken(v, span, "%s %u of %u", what, index, n);
    return false;
}

static inline bool slice_in_range(Verifier *v, uint32_t first, uint32_t count, uint32_t n, const char *what, Span span)
{
    if (count == 0 || (first <= n && count <= n - first))
        return true;
    verify_broken(v, span, "%s %u to %llu of %u", what, first, (unsigned long long)first + count, n);
    return false;
}

static inline void check_value(Verifier *v, uint32_t value, uint32_t n, const char *what, Span span)
{
    if (value >= n)
        verify_broken(v, span, "%s is %u, there are %u", what, value, n);
}

static inline void check_span(Verifier *v, Span span, const char *what)
{
    if (span.source == SOURCE_NONE || !v->model->sources)
        return;
    if (span.source >= sources_count(v->model->sources))
        verify_broken(v, SPAN_NONE, "%s lies in source %u of %u", what, span.source, sources_count(v->model->sources));
    else if (span.begin > span.end || span.end > sources_get(v->model->sources, span.source)->size)
        verify_broken(v, SPAN_NONE, "%s lies outside its source (%u to %u)", what, span.begin, span.end);
}
void verify_foreigns(Verifier *v); /* verify_foreign.c */

#endif
