/* Kernels as C statements. Private to emit/c.
 *
 * What is used more than once becomes a temporary in the block where it is needed; an IF becomes ?:
 * unless one of its sides needs temporaries of its own, then it becomes an if statement. */
#ifndef EMIT_C_EXPRESSION_H
#define EMIT_C_EXPRESSION_H

#include "base/text.h"
#include "emit/c/identifiers.h"
#include "emit/c/prelude.h"
#include "emit/placement.h"

typedef enum {
    SPELL_STRAIGHT, /* one element: m[Hasen] */
    SPELL_LOOP,     /* element i of an affine run: m[T_1 + i] */
    SPELL_ROW,      /* m[row[2]] */
    SPELL_AFFINE,   /* m[row[2] + i] */
    SPELL_ROUTINE   /* x: a field of the function */
} Spelling;

typedef struct { /* how the leaves and outputs of the kernel at work are spelled */
    Spelling spelling;
    const uint32_t *row;                  /* STRAIGHT, LOOP */
    uint32_t element;                     /* STRAIGHT */
    const int32_t *strides;               /* LOOP, AFFINE; a LOOP over a regular table has one more for the iterator */
    bool is_hoisted;                      /* LOOP: leaves that do not move are constants u0, u1, ... before the loop */
    const struct RoutinePrinter *routine; /* ROUTINE */
} Places;

typedef struct {                  /* which nodes of the kernel at work become temporaries */
    uint32_t n;                   /* declared so far */
    VEC(uint8_t) is_temporary;    /* per node */
    VEC(uint32_t) number;         /* per node: that of its temporary once declared, else 0 */
    VEC(uint32_t) nesting, size;  /* per node: of its text */
    VEC(uint8_t) may_fold;        /* per node */
    VEC(uint8_t) has_temporaries; /* per region: in it or below */
} Temporaries;

typedef struct {
    const Code *code;
    Arena *arena; /* lives as long as the printer */
    Arena *line;  /* text of a statement */
    Placement placement;
    Identifiers identifiers;
    PreludeNeeds needs;
    VEC(uint32_t) tables; /* in use: index*TABLE_ORDERS + order; koine_table_1 is the first */
    Text *out;
    uint32_t indent;
    /* the kernel at work */
    const Kernel *kernel;
    Kernel own_kernel; /* for an expression of a routine */
    Places places;
    Temporaries temporaries;
} Printer;

void printer_init(Printer *printer, const Code *code, Arena *arena, Arena *line);
/* A line of code, wrapped; comment may be NULL. */
void print_line(Printer *printer, const char *comment, const char *format, ...) __attribute__((format(printf, 3, 4)));
void begin_kernel(Printer *printer, uint32_t kernel); /* before the next three */
/* The expression is spelled in the routine at work; statements it needs are printed. */
const char *print_value(Printer *printer, const Expr *e);
bool is_statement_block(Printer *printer, const Expr *e); /* it needs some */
bool needs_block(const Printer *printer);                 /* more than one statement */
void print_invariants(Printer *printer);                  /* LOOP, hoisted: the constants before the loop */
void print_statements(Printer *printer, const char *comment);

/* An argument of a call. */
void print_argument(Printer *printer, Text *text, const Expr *e);

#endif
