/* Modes; see modes.h. Each is a Compilation of its own, of the text that the first one has read, with its choices
 * fixed. */
#include "driver/modes.h"
#include "base/bug.h"
#include "emit/program.h"
#include "koine/modes.h"
#include "passes/roles.h"
#include <stdio.h>

enum { MOST_ROUNDS = 64, MOST_KEPT = 64 };

typedef struct {
    Compilation *c; /* NULL: forgotten, it is compiled again if it is wanted */
    const FixedChoice *choices;
    uint32_t n;
    uint64_t number;             /* KoineMode.number */
    const FixedChoice *excluded; /* combinations in which another mode is tried, and where each ends */
    const uint32_t *excluded_end;
    uint32_t n_excluded;
    uint32_t holders;
    uint64_t used; /* when it was asked for last */
} CompiledMode;

typedef struct ModesOfTier {
    struct ModesOfTier *next;
    struct ModeSet *set;
    const char *tier;
    KoineModes modes;
    KoineModelKind *kind;
} ModesOfTier;

struct ModeSet {
    Compilation *owner;
    Arena *arena;          /* of what is added while a run goes on: whoever ends it meanwhile uses the other */
    VEC(CompiledMode) all; /* the first stays */
    ModesOfTier *tiers;
    uint64_t clock;
};

/* ---- compiling ---- */
static bool is_chosen(const FixedChoice *choices, uint32_t n, VarId var)
{
    for (uint32_t k = 0; k < n; k++)
        if (choices[k].var.index == var.index)
            return true;
    return false;
}

/* Those that were read; a text may name others, and be one of them. */
static void copy_sources(const Sources *from, Sources *to)
{
    for (uint32_t k = 0; k < sources_count(from); k++) {
        const Source *source = sources_get(from, k);
        bool is_known = source->size == 0;
        for (uint32_t j = 0; j < k && !is_known; j++)
            is_known = strcmp(sources_get(from, j)->path, source->path) == 0;
        if (is_known)
            continue;
        sources_add_text(to, source->path, source->text, source->size);
    }
}

static const char *choice_name(const Compilation *c, VarId var)
{
    const Model *m = c->model;
    const Region *region = region_of(m, var);
    const Relation *relation = relation_of(m, var);
    if (region)
        return arena_format(c->arena, "the branch of line %u", span_begin(m->sources, region->span).line);
    if (relation)
        return arena_format(c->arena, "`%s`", relation_text(m, relation, c->arena));
    return variable_path(m, var, c->arena);
}

static const ProgramChoice *named_choices(const Compilation *c, const FixedChoice *choices, uint32_t n)
{
    ProgramChoice *named = NEW_ARRAY(c->arena, ProgramChoice, n + 1);
    for (uint32_t k = 0; k < n; k++)
        named[k] = (ProgramChoice){ choices[k].var, choices[k].value, choice_name(c, choices[k].var) };
    return named;
}

static void list_states(Compilation *c, const ModeChoices *modes)
{
    KoinePort *states = NEW_ARRAY(c->arena, KoinePort, modes->states.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < modes->states.n; k++) {
        const KoinePort port = program_port(c->program, modes->states.at[k]);
        const uint32_t count = (uint32_t)variable_count(c->model, modes->states.at[k]);
        states = arena_grow(c->arena, states, n * sizeof *states, (n + count) * sizeof *states, sizeof *states);
        for (uint32_t j = 0; j < count; j++)
            states[n++] = (KoinePort){ port.variable, port.element + j };
    }
    c->mode_states = states;
    c->n_mode_states = n;
}

typedef struct {
    Compilation *c;
    bool is_good;
    ModeChoices choices; /* `asked`: more have to be fixed */
} Compiled;

/* The mode with these choices; where it is not good, its diagnostics say why, unless it has asked. */
static Compiled compile_mode(const Compilation *owner, const FixedChoice *choices, uint32_t n)
{
    Compilation *c = compilation_create_like(owner);
    copy_sources(owner->sources, c->sources);
    if (!compilation_load(c, &owner->request))
        return (Compiled){ .c = c };
    Compile passes = compilation_passes(c);
    passes.modes.fixed = choices;
    passes.modes.n_fixed = n;
    passes.modes.is_mode = passes.modes.may_ask = true;
    const bool is_good = run_pipeline(&passes, NULL, NULL) && diag_errors(c->diag) == 0;
    const ModeChoices *modes = &passes.modes;
    c->schedule = passes.schedule;
    if (is_good) {
        c->program = program_create(c->schedule, c->arena);
        program_is_mode(c->program, named_choices(c, choices, n), n, modes->n_variables, c->arena);
        for (uint32_t k = 0, first = 0; k < modes->excluded_end.n; first = modes->excluded_end.at[k++])
            program_exclude(c->program, named_choices(c, modes->excluded.at + first, modes->excluded_end.at[k] - first),
                            modes->excluded_end.at[k] - first, c->arena);
        list_states(c, modes);
    }
    return (Compiled){ c, is_good, passes.modes };
}

typedef int64_t (*ChoiceValue)(const void *context, VarId var, bool *is_known);

static void *copied(Arena *arena, const void *from, size_t size)
{
    void *to = arena_alloc(arena, size + 1, sizeof(uint64_t));
    if (size)
        memcpy(to, from, size);
    return to;
}

static CompiledMode *add_mode(struct ModeSet *set, const VarId *vars, uint32_t n, ChoiceValue value_of,
                              const void *context, const char **why)
{
    Compilation *owner = set->owner;
    FixedChoice *choices = NEW_ARRAY(set->arena, FixedChoice, n + 1);
    uint32_t n_choices = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        choices = arena_grow(set->arena, choices, n_choices * sizeof *choices, (n_choices + n) * sizeof *choices,
                             sizeof *choices);
        uint32_t n_new = 0;
        for (uint32_t k = 0; k < n; k++) {
            bool is_known = true;
            const FixedChoice choice = { vars[k], value_of(context, vars[k], &is_known) };
            if (is_chosen(choices, n_choices, vars[k]))
                continue;
            if (!is_known)
                break;
            choices[n_choices++] = choice;
            n_new++;
        }
        if (n_new == 0 && (round || n))
            break;
        const Compiled made = compile_mode(owner, choices, n_choices);
        Compilation *failed = made.c;
        n = made.choices.asked.n;
        if (made.is_good) {
            const CompiledMode mode = { .c = made.c,
                                        .choices = choices,
                                        .n = n_choices,
                                        .number = program_data(made.c->program)->mode.number,
                                        .excluded = copied(set->arena, made.choices.excluded.at,
                                                           made.choices.excluded.n * sizeof(FixedChoice)),
                                        .excluded_end = copied(set->arena, made.choices.excluded_end.at,
                                                               made.choices.excluded_end.n * sizeof(uint32_t)),
                                        .n_excluded = made.choices.excluded_end.n };
            vec_push(set->arena, &set->all, mode);
            return &set->all.at[set->all.n - 1];
        }
        if (n == 0) {
            DiagItem item;
            *why = "it cannot be compiled";
            for (uint32_t k = 0; diag_item(failed->diag, k, &item); k++)
                if (item.level == DIAG_ERROR) {
                    *why = arena_format(set->arena, "in this mode %s (line %u)", item.at.message,
                                        span_begin(failed->sources, item.at.span).line);
                    break;
                }
            compilation_destroy(failed);
            return NULL;
        }
        VarId *kept = NEW_ARRAY(set->arena, VarId, n + 1);
        memcpy(kept, made.choices.asked.at, n * sizeof *kept);
        vars = kept;
        compilation_destroy(failed);
    }
    *why = "what has to be chosen in it is not known before";
    return NULL;
}

/* ---- the mode of an instance ---- */
typedef struct {
    const CompiledMode *mode;
    const KoineModel *model;
} Standing;

static int64_t value_now(const void *context, VarId var, bool *is_known)
{
    const Standing *at = context;
    const uint32_t slot = program_slot(at->mode->c->program, ref_now(var));
    KoineSlot value = { .i = 0 };
    *is_known = slot != KOINE_NONE;
    if (*is_known)
        memcpy(&value, at->model->block + slot * sizeof value, sizeof value);
    return value.i;
}

static bool are_now(const Standing *at, const FixedChoice *choices, uint32_t n)
{
    bool is_known, is_same = true;
    for (uint32_t k = 0; k < n && is_same; k++)
        is_same = value_now(at, choices[k].var, &is_known) == choices[k].value && is_known;
    return is_same;
}

/* The combination that keeps it from holding now, and that it does not fix; *n 0: there is none. */
static const FixedChoice *excluded_now(const CompiledMode *mode, const Standing *at, uint32_t *n)
{
    *n = 0;
    for (uint32_t k = 0, first = 0; k < mode->n_excluded; first = mode->excluded_end[k++]) {
        *n = mode->excluded_end[k] - first;
        if (are_now(at, mode->excluded + first, *n))
            return mode->excluded + first;
        *n = 0;
    }
    return NULL;
}

static const KoineModelKind *kind_in(const ModesOfTier *of, CompiledMode *mode, const char **why)
{
    if (!mode->c)
        mode->c = compile_mode(of->set->owner, mode->choices, mode->n).c;
    REQUIRE(mode->c->program); /* it was compiled before */
    const KoineModelKind *kind = compilation_kind(mode->c, of->tier, why);
    mode->used = ++of->set->clock;
    mode->holders += kind != NULL;
    return kind;
}

static CompiledMode *mode_of(const ModesOfTier *of, const KoineTables *tables)
{
    const char *why;
    for (uint32_t k = 0; k < of->set->all.n; k++) {
        Compilation *c = of->set->all.at[k].c;
        const KoineModelKind *kind = c ? compilation_kind(c, of->tier, &why) : NULL;
        if (kind && kind->tables == tables)
            return &of->set->all.at[k];
    }
    return NULL;
}

/* Those that nobody holds and that were used longest ago go first. */
static void forget_some(struct ModeSet *set)
{
    for (;;) {
        uint32_t oldest = 0, n = 0;
        for (uint32_t k = 1; k < set->all.n; k++) {
            const CompiledMode *mode = &set->all.at[k];
            n += mode->c != NULL;
            if (mode->c && !mode->holders && (!oldest || mode->used < set->all.at[oldest].used))
                oldest = k;
        }
        if (n < MOST_KEPT || !oldest)
            return;
        compilation_destroy(set->all.at[oldest].c);
        set->all.at[oldest].c = NULL;
    }
}

static const KoineModelKind *find_mode(void *context, const KoineModel *model, char *why, size_t size)
{
    ModesOfTier *of = context;
    const char *reason = "";
    Standing at = { mode_of(of, model->kind->tables), model };
    REQUIRE(at.mode);
    CompiledMode *mode = NULL, near = *at.mode; /* near: its fixed choices are right, but the combination is excluded */
    const FixedChoice *others = NULL;
    uint32_t n_others = 0;
    for (uint32_t k = 0; k < of->set->all.n && !mode; k++) {
        if (!are_now(&at, of->set->all.at[k].choices, of->set->all.at[k].n))
            continue;
        others = excluded_now(&of->set->all.at[k], &at, &n_others);
        near = of->set->all.at[k];
        mode = others ? NULL : &of->set->all.at[k];
    }
    if (!mode) {
        const CompiledMode from = *at.mode;
        at.mode = &from;
        VarId *vars = NEW_ARRAY(of->set->arena, VarId, near.n + n_others + 1);
        for (uint32_t k = 0; k < near.n; k++)
            vars[k] = near.choices[k].var;
        for (uint32_t k = 0; k < n_others; k++)
            vars[near.n + k] = others[k].var;
        mode = add_mode(of->set, vars, near.n + n_others, value_now, &at, &reason);
    }
    const KoineModelKind *kind = mode ? kind_in(of, mode, &reason) : NULL;
    if (!kind)
        snprintf(why, size, "%s", reason);
    return kind;
}

static const KoineModelKind *mode_again(void *context, uint64_t number)
{
    const ModesOfTier *of = context;
    const char *why;
    for (uint32_t k = 0; k < of->set->all.n; k++)
        if (number == 0 || of->set->all.at[k].number == number)
            return kind_in(of, &of->set->all.at[k], &why);
    return NULL;
}

static void release_mode(void *context, const KoineModelKind *kind)
{
    const ModesOfTier *of = context;
    CompiledMode *mode = mode_of(of, kind->tables);
    if (mode && mode->holders)
        mode->holders--;
    forget_some(of->set);
}

/* ---- the first one ---- */
/* Nothing is true yet. */
static int64_t value_before(const void *context, VarId var, bool *is_known)
{
    const Model *m = context;
    *is_known = true;
    const Region *region = region_of(m, var);
    return region && region->has_else ? region->n_conditions + 1 : 0;
}

bool compilation_begin_modes(Compilation *c, const VarId *asked, uint32_t n)
{
    struct ModeSet *set = NEW(c->arena, struct ModeSet);
    const char *why = NULL;
    set->owner = c;
    set->arena = arena_create_like(c->arena);
    const CompiledMode *first = add_mode(set, asked, n, value_before, c->model, &why);
    const char *refusal = first ? koine_modes_refusal(program_data(first->c->program)) : NULL;
    if (n == 0 && (!first || refusal)) { /* it does without */
        compilation_destroy(first ? first->c : NULL);
        arena_destroy(set->arena);
        return true;
    }
    if (!first) {
        diag_error(c->diag, DIAG_RUN_MODE, c->model->span,
                   "the mode that the model is tried to begin in has no Schedule: %s", why);
        arena_destroy(set->arena);
        return false;
    }
    if (refusal) {
        diag_error(c->diag, DIAG_RUN_MODE, c->model->span, "the structure of the model changes at events, but %s",
                   refusal);
        compilation_destroy(first->c);
        arena_destroy(set->arena);
        return false;
    }
    c->modes = set;
    c->schedule = first->c->schedule;
    c->program = first->c->program;
    return true;
}

const KoineModelKind *compilation_modes_kind(Compilation *c, const char *tier, const char **why)
{
    struct ModeSet *set = c->modes;
    for (ModesOfTier *known = set->tiers; known; known = known->next)
        if (strcmp(known->tier, tier) == 0)
            return known->kind;
    const CompiledMode *first = &set->all.at[0];
    ModesOfTier *of = NEW(c->arena, ModesOfTier);
    *of = (ModesOfTier){ .set = set, .tier = arena_text(c->arena, tier, strlen(tier)) };
    const KoineModelKind *kind = compilation_kind(first->c, tier, why);
    if (!kind)
        return NULL;
    of->modes = (KoineModes){ .context = of,
                              .find = find_mode,
                              .again = mode_again,
                              .release = release_mode,
                              .first = kind,
                              .n_rows = program_data(first->c->program)->mode.n_rows,
                              .n_x = first->c->n_mode_states,
                              .states = first->c->mode_states };
    of->kind = koine_modes_kind(&of->modes);
    if (!of->kind) {
        *why = "out of memory";
        return NULL;
    }
    of->next = set->tiers;
    set->tiers = of;
    return of->kind;
}

void compilation_interrupt_modes(Compilation *c)
{
    for (uint32_t k = 0; c->modes && k < c->modes->all.n; k++)
        if (c->modes->all.at[k].c)
            compilation_interrupt(c->modes->all.at[k].c, c->interrupt);
}

const char *compilation_modes_note(const Compilation *c)
{
    return compilation_tier_note(c->modes->all.at[0].c);
}

void compilation_release_modes(Compilation *c)
{
    if (!c->modes)
        return;
    for (ModesOfTier *of = c->modes->tiers; of; of = of->next)
        koine_modes_free(of->kind);
    for (uint32_t k = 0; k < c->modes->all.n; k++)
        compilation_destroy(c->modes->all.at[k].c);
    arena_destroy(c->modes->arena);
}
