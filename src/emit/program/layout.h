/* Private to emit/program: the layout under construction. */
#ifndef EMIT_PROGRAM_LAYOUT_H
#define EMIT_PROGRAM_LAYOUT_H

#include "base/map.h"
#include "emit/code.h"
#include "ir/element.h"
#include "ir/schedule.h"
#include <math.h>

typedef struct { /* derivative of a shape along the seeds of some of its leaves: the same for all its instances */
    const Expr *shape, *derivative; /* leaves of the derivative: those of the shape, then the seeds */
    uint64_t seeded;                /* leaves that have a seed */
    uint32_t n_seeds;
    uint8_t leaf_of[64];   /* per seed: the leaf it belongs to */
    const Expr *canonical; /* the derivative as a term has it whose references are all different; NULL: none yet */
    uint32_t n_used;
    uint8_t used[24]; /* ... and which of the leaves these are */
    uint32_t next;    /* of equal hash, or KOINE_NONE */
} Tangent;

typedef struct { /* how a block, or one outer iteration of it, is executed */
    uint32_t kernel, row, n;
} Piece;

typedef struct { /* of a list that is executed in order */
    Piece piece;
    uint32_t system; /* not KOINE_NONE: it is solved, there is no piece */
    bool is_tangent; /* ... its tangent */
    bool is_shared;  /* computes what several others need: added to what the block says */
    uint32_t within; /* not KOINE_NONE: in the section of this system's tangent, which follows */
    uint32_t block;  /* or KOINE_NONE */
    Span span;
} Entry;

typedef struct {
    Entry *at;
    uint32_t n, capacity;
    Arena *arena; /* NULL: the program's */
} Entries;

enum { AFFINE_FROM = 4 }; /* rows of one kernel that become a loop; shorter runs are written out */

typedef struct {
    const Schedule *schedule;
    Model *model; /* the schedule's, with the terms that the layout makes */
    Arena *arena;
    Arena *scratch; /* while it is laid out */
    uint32_t n_slots;
    uint32_t *now, *der, *pre, *seed, *seed_der; /* per variable: first slot, or KOINE_NONE */
    uint32_t *row_of;                            /* per variable: row in the tables */
    uint32_t *guess;                             /* per variable: slot where a search begins, or KOINE_NONE */
    uint32_t *given; /* per variable: slot of a start value that is given instead of the computed one, or 0 */
    VEC(KoineComputedStart) computed_starts;
    bool *is_candidate;           /* per variable: of a state set; its start value is used */
    KoineVariable *variable_rows; /* of the tables */
    uint32_t n_variables_with_place;
    uint32_t no_real, no_integer; /* slots that hold no value, 0: not needed yet */
    VEC(uint32_t) dims;
    VEC(KoineConstant) constants;
    VEC(uint32_t) rows;
    VEC(Kernel) kernels;
    VEC(Run) runs;
    VEC(Section) sections;
    Map kernel_index; /* hash -> first kernel of a chain */
    VEC(uint32_t) kernel_next;
    VEC(Piece) pieces;
    uint32_t *first_piece;    /* per block, n_blocks + 1 */
    uint32_t *system_of;      /* per block */
    bool *moves;              /* per variable: it changes between events */
    uint32_t first_origin;    /* of the schedule being laid out: see explain.c */
    const char **paths;       /* per instance: its path; NULL: nothing that can happen in a run belongs to it */
    const char **comparisons; /* per relation: its text; NULL: it is not laid out */
    VEC(Tangent) tangents;
    Map tangent_index; /* hash -> first tangent of a chain */
    VEC(KoineSystem) systems;
    VEC(Entries) system_tangents;      /* per system, until its section is laid out */
    struct Share *share;               /* see share.h; only while the program is made */
    VEC(uint32_t) shared_slots;        /* common subexpressions, in order */
    uint32_t parameters, n_parameters; /* slots */
    Entries fixed;                     /* what the parts need of parameters alone */
    Entries executed[PART_COUNT];      /* of the parts derivatives, roots and outputs */
    uint32_t calls;                    /* slot, or KOINE_NONE */
    Code code;
    KoineProgram data;
    KoineTables tables;
} Layout;

/* Rows of a block in the places of its KoineSystem: residuals first, explicit rows behind them. */
static inline uint32_t system_place(const Block *b, uint32_t row)
{
    return row < b->n_inner ? b->n_rows - b->n_inner + row : row - b->n_inner;
}

uint32_t take_slots(Layout *l, uint64_t n);
uint32_t slot_of(const Layout *l, Ref ref);
bool literal_value(const Expr *e, KoineSlot *value); /* false: not a literal, nothing is written */

/* sets.c */
void lay_state_sets(Layout *l);
void lay_jumps(Layout *l); /* jumps.c */
bool *find_candidates(const Model *model, Arena *arena);

/* kernels.c: kernels and rows */
uint32_t kernel_for(Layout *l, uint32_t n_outputs, const Expr *const *outputs, uint32_t n_leaves,
                    const int32_t *strides, bool has_iterator, int32_t iterator_stride);
/* Kernel and row computing `terms` into `slots`; scalar. */
Piece lay_terms(Layout *l, uint32_t n, const Term *terms, const uint32_t *slots);
/* Pieces of lhs := rhs over a domain, appended to l->pieces. */
void lay_assignment(Layout *l, Term lhs, Term rhs, DomainId domain);
void lay_blocks(Layout *l);
void lay_tangent(Layout *l, uint32_t index);
/* choices.c: exact_section and choices of a system that has branches */
void lay_choices(Layout *l, const Block *b, KoineSystem *system);
/* parts.c: sections and parts */
void push_entry(Layout *l, Entries *list, Entry entry);
void add_entry(Layout *l, Entries *list, Piece piece, uint32_t block, Span span);
uint32_t lay_section(Layout *l, const char *name, const Entries *list);
void lay_parts(Layout *l);
void lay_whole(Layout *l);                          /* whole.c */
void lay_roots(Layout *l, const Entries *operands); /* the root part: what the operands need, then these */
void lay_initial(Layout *l);
void lay_fixed(Layout *l);
/* explain.c: KoineProgram.explain; origins are blocks, assignments of transitions, blocks of the initial system */
void explain_fault(void *context, KoineModel *model, uint32_t origin);
bool fault_matters(void *context, const KoineModel *model, uint32_t origin);
void locate_origin(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where);
void describe_row(void *context, const KoineModel *model, uint32_t origin, uint32_t row, char *to, size_t size);
void blame_system(void *context, const KoineModel *model, uint32_t origin, char *to, size_t size);
KoineOrigin origin_at(const Model *m, const char *path, Span span);
/* work.c: KoineProgram.attribute */
void attribute_work(void *context, const KoineCounts *counts, void (*visit)(void *context, const KoineWork *work),
                    void *visit_context);
/* time.c: interval code of functions of the time */
typedef struct TimeCodes TimeCodes;
TimeCodes *time_codes_create(Layout *l, const bool *moves); /* per variable: it changes between events */
/* A function of the time for both operands, the right one may be absent; what it reads beside the time. KOINE_NONE: they
 * depend on more than the time, on nothing that moves, or on what has no interval form. */
uint32_t lay_time_function(TimeCodes *codes, Term left, Term right, uint32_t *n_inputs, const Term **inputs);
void lay_sources(TimeCodes *codes); /* of the derivatives part */
void time_codes_finish(const TimeCodes *codes);
/* events.c */
void lay_events(Layout *l);

#endif
