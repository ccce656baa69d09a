/* What the files of the composer share. */
#ifndef LANG_SIMPLEX_COMPOSE_PARTS_H
#define LANG_SIMPLEX_COMPOSE_PARTS_H

#include "lang/simplex/check.h"
#include "lang/simplex/compose.h"

/* A class and the quantities other components see of it: name -> variable of its Model. */
typedef struct {
    const Model *part; /* NULL: reported */
    Map quantities;
} Class;

typedef struct {
    uint32_t class;
    uint32_t first_var;
} Sub;

typedef struct {
    VarId var;
    uint64_t count;
    uint32_t *rows; /* per element: 1 + row of its link */
} Filled;

typedef struct {
    Component *component;
    Model *model;
    Pool *pool;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Resolver *resolver;
    Scope scope;
    Map class_by_name;
    VEC(Class) classes;
    Sub *subs;          /* parallel to component->subs */
    VarId *input_vars;  /* parallel to component->inputs: the input of the row, or none */
    VarId *output_vars; /* parallel to component->equivalences: what they stand for, or none */
    /* By variable of a subcomponent: 1 + row of the link, equivalence or initial value that has it. */
    uint32_t *connected, *published, *initialised;
    uint32_t n_sub_vars; /* variables of subcomponents come first */
    VEC(Filled) filled;  /* arrays that are connected element by element */
    Map sources;         /* output -> what it stands for, for all outputs below; built on first need */
    bool has_sources;
} Composer;

/* ---- compose_path.c: quantities of subcomponents; none: reported ---- */
VarId mdl_find_in_sub(Composer *composer, const Path *path);
VarId mdl_find_sensor(Composer *composer, const Path *path);
VarId mdl_find_output(Composer *composer, const Path *path); /* a constant, state or dependent variable */
bool mdl_is_input(const Model *model, VarId var);
const char *mdl_path_text(Composer *composer, const Path *path);

/* ---- compose_connection.c: rows of a component ---- */
void mdl_compose_input(Composer *composer, uint32_t row);
void mdl_compose_output(Composer *composer, uint32_t row);
void mdl_compose_connections(Composer *composer);
const Link *mdl_link_of(const Composer *composer, uint32_t row); /* input connections, then component connections */

/* ---- compose_initial.c ---- */
void mdl_compose_initial(Composer *composer, uint32_t row);

/* ---- compose_element.c: elements of arrays ---- */
int64_t mdl_extent(const Model *model, const Variable *variable, uint32_t k);
bool mdl_check_element(Composer *composer, const Path *path, VarId var);
Type mdl_path_type(const Composer *composer, const Path *path, VarId var);
uint64_t mdl_element_number(const Composer *composer, const Path *path, VarId var);
const Expr *mdl_element_expr(Composer *composer, TermBuilder *builder, VarId var, uint64_t number);
Filled *mdl_filled_array(Composer *composer, VarId var);
void mdl_define(Composer *composer, VarId var, Term left, Term right, Span span);
void mdl_fill_elements(Composer *composer);
const Expr *mdl_replace_element(Composer *composer, const Path *path, VarId var, const Expr *value);

#endif
