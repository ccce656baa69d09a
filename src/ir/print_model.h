/* Printing a whole Model: what its files lend each other. Private to print*.c. */
#ifndef IR_PRINT_MODEL_H
#define IR_PRINT_MODEL_H

#include "ir/print_term.h"

/* An element inside a region. */
typedef struct {
    uint32_t region, branch, index;
} Placed;

typedef struct {
    Placed *at;
    uint32_t n;
    uint32_t *first; /* per region, and one more: where its elements begin */
} PlacedList;

/* Elements of one kind in the order in which they are printed. */
typedef struct {
    Map seen; /* names that are taken */
    VEC(uint32_t) order;
} Numbering;

typedef struct {
    Printer p;
    PlacedList equations, transitions, regions;
    Numbering numbering[LABEL_COUNT];
} ModelPrinter;

/* ---- the whole (print.c) ---- */
ModelPrinter printer_create_model(const Model *model, Text *to, PrintOptions options); /* names and labels are known */

/* ---- order (print_order.c) ---- */
bool printer_is_inside(const Model *model, RegionId region, uint32_t branch); /* a branch that exists */
void printer_find_order(ModelPrinter *mp); /* what lies in which region, and all labels */
/* Calls `visit` for the elements of a branch, in order. */
void printer_each_placed(ModelPrinter *mp, const PlacedList *list, uint32_t region, uint32_t branch,
                         void (*visit)(ModelPrinter *, uint32_t));
/* Equations outside regions, regions with what is in them, transitions outside regions. */
void printer_each_dynamic(ModelPrinter *mp, void (*equation)(ModelPrinter *, uint32_t),
                          void (*region)(ModelPrinter *, uint32_t), void (*transition)(ModelPrinter *, uint32_t));

/* ---- lines (print_lines.c) ---- */
void printer_begin_line(Printer *p, Word keyword);
void printer_begin_plain(Printer *p);
void printer_end_line(Printer *p, Span span);
void printer_put_space(Printer *p);
void printer_put_attribute(Printer *p, Word word, Term term);
void printer_put_text_attribute(Printer *p, Word word, NameId text);
void printer_put_external(Printer *p, const Function *f); /* the attributes of a function that is one of C */
void printer_put_declared(Printer *p, const Function *f); /* its derivatives and inverses */
void printer_put_mapping(Printer *p, const Function *f);  /* how that is called, if the model says it */
void printer_print_foreigns(Printer *p);                  /* print_foreign.c */
void printer_put_choice(Printer *p, const WordList *list, uint32_t value);
void printer_put_region_ref(Printer *p, RegionId region, uint32_t branch);
void printer_put_clock(Printer *p, uint32_t clock); /* 1 + its number; 0: none */
void printer_put_origin(Printer *p, const Origin *origin);
void printer_put_end(Printer *p, Word what);
void printer_put_end_label(Printer *p, LabelKind kind, uint32_t index);

/* ---- dynamics (print_dynamics.c) ---- */
void printer_put_body(Printer *p, uint32_t first); /* begin, the statements, end */
void printer_print_equation(ModelPrinter *mp, uint32_t index);
void printer_print_transition(ModelPrinter *mp, uint32_t index);
void printer_print_region(ModelPrinter *mp, uint32_t index);
void printer_print_relations(Printer *p);
void printer_put_step(Printer *p, const StepFunction *step); /* trunc(x) */
void printer_print_steps(Printer *p);
void printer_print_state_sets(Printer *p);

/* ---- ports (print_ports.c) ---- */
void printer_put_ports(Printer *p);
void printer_put_connections(Printer *p);

#endif
