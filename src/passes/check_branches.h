/* Private to check-branches: what is looked at. */
#ifndef PASSES_CHECK_BRANCHES_H
#define PASSES_CHECK_BRANCHES_H

#include "base/map.h"
#include "graph/graph.h"
#include "passes/pipeline.h"

enum { MOST_CHOICES = 64 };
typedef enum { OPEN = -1 } ChoiceValue; /* not decided: all branches count */

typedef struct {
    Ref ref;          /* Boolean or selector; var is none: the comparison `node` */
    const Expr *node; /* literal comparison, numbered by its term */
    Term term;        /* the term that contains the comparison */
    uint32_t n;       /* values: 0 and 1, or branches 1 .. n */
    bool is_fixed;    /* does not change in a run */
    int32_t value;    /* in the present combination, or OPEN */
} Choice;

typedef struct {
    Compile *c;
    Model *model;
    const Block *block;
    const SystemRow *rows;
    Map columns, choices; /* unknown -> column; key -> choice */
    Choice choice[MOST_CHOICES];
    uint32_t n_choices;
    bool has_more;        /* choices than that: these stay open */
    VEC(uint32_t) varied; /* rows with branches */
    VEC(Edge) edges;      /* of the other rows, then those of the present combination */
    uint32_t n_fixed;     /* of the other rows */
    uint32_t *column_of_row, *row_of_column;
    Incidence g;
    ArenaMark mark;       /* what lies behind belongs to one combination */
    uint32_t *definition; /* per variable: 1 + equation that determines it; */
    bool decides_itself;  /* all choices depend on the unknowns */
    bool decides_some;    /* some of them do */
    bool has_numbers;     /* small and linear: looked at with numbers, too */
} Checker;

/* Of the present combination: whether a Schedule can be made for it alone, that one is asked for, and that one is to be
 * tried where the run comes to it. */
bool branches_have_modes(const Checker *k);
bool branches_ask(Checker *k); /* false: it cannot be had */
void branches_exclude(Checker *k);

#endif
