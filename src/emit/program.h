/* Program: a Schedule laid out in memory. Slots for every variable, kernels by shape, rows of positions, the event
 * graph as tables: what the machine (koine/support.h) and the tiers (emit/code.h) need. */
#ifndef EMIT_PROGRAM_H
#define EMIT_PROGRAM_H

#include "base/text.h"
#include "emit/code.h"
#include "ir/schedule.h"

typedef struct Program Program;

/* Lives in `arena`, refers to the Schedule and its Model. */
Program *program_create(const Schedule *schedule, Arena *arena);
typedef struct { /* a choice that the Schedule was made for */
    VarId var;
    int64_t value;
    const char *name;
} ProgramChoice;
/* The program is the mode of the model in which these choices have these values. The first `n_variables` of the Model
 * are those of all modes. program_exclude: in this combination of others another mode is tried. */
void program_is_mode(Program *program, const ProgramChoice *choices, uint32_t n, uint32_t n_variables, Arena *arena);
void program_exclude(Program *program, const ProgramChoice *choices, uint32_t n, Arena *arena);
/* Row in the tables and element of a variable; .variable KOINE_NONE: it has none. */
KoinePort program_port(const Program *program, VarId var);
const KoineProgram *program_data(const Program *program);
const Code *program_code(const Program *program);
uint32_t program_slot(const Program *program, Ref ref); /* where its value lies; KOINE_NONE: nowhere */
/* What the origins stand for that nodes, systems and transitions name; *n: how many. */
const KoineOrigin *program_origins(const Program *program, Arena *arena, uint32_t *n);
/* All of it in words, for people: slots, kernels, sections, parts, systems, nodes, relations, transitions. */
void program_print(const Program *program, const Model *model, Text *to);

#endif
