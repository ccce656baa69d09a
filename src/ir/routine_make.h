/* A routine under construction. Private to routine.c, routine_defined.c and routine_loops.c. */
#ifndef IR_ROUTINE_MAKE_H
#define IR_ROUTINE_MAKE_H

#include "ir/routine.h"

typedef struct {
    const Function *function;
    Model *body;
    Pool *pool;
    VEC(RoutineField) fields;
    VEC(RoutineStep) steps;
    VEC(uint32_t) loops; /* per level: field of the loop variable */
    uint32_t n_slots;
    uint32_t statement; /* at work */
    Span span;
} Maker;

uint32_t maker_add_field(Maker *m, NameId name, Type type);
uint32_t maker_add_step(Maker *m, StatementKind kind, const Expr *value);
/* All of the field, as a leaf. */
const Expr *maker_leaf(Maker *m, uint32_t field);
/* Adds steps that look whether a field has a value where it may have none yet; the first step of all. */
uint32_t routine_look_at_fields(Maker *m, uint32_t first);

/* The element is in its array wherever the loops around it have led. */
bool maker_is_inside(const Maker *m, uint32_t field, const Expr *const *index);
/* What is known of the variable of a loop from `lo` to `hi` or the other way. */
void maker_bound(Maker *m, uint32_t variable, const Expr *lo, const Expr *hi, const Expr *step);
/* Makes one call of those whose results are assigned one after the other in the list; its first step. */
uint32_t routine_share_calls(Maker *m, uint32_t first);
/* Finds what may be looked at behind loops. */
void routine_look_late(Maker *m, uint32_t first);

#endif
