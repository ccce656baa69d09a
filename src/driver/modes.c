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
    uint64_t number; /* KoineMode.number */
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

/* The mode with these choices; *asked: more have to be fixed. NULL: that, or its diagnostics say why. */
static Compilation *compile_mode(const Compilation *owner, const FixedChoice *choices, uint32_t n, Compilation **failed,
                                 const VarId **asked, uint32_t *n_asked)
{
    Compilation *c = compilation_create_like(owner);
    copy_sources(owner->sources, c->sources);
    *failed = c;
    *n_asked = 0;
    if (!compilation_load(c, &owner->request))
        return NULL;
    Compile passes = compilation_passes(c);
    passes.modes.fixed = choices;
    passes.modes.n_fixed = n;
    passes.modes.may_ask = true;
    const bool is_good = run_pipeline(&passes, NULL, NULL) && diag_errors(c->diag) == 0;
    c->schedule = passes.schedule;
    *asked = passes.modes.asked.at;
    *n_asked = passes.modes.asked.n;
    if (!is_good)
        return NULL;
    ProgramChoice *named = NEW_ARRAY(c->arena, ProgramChoice, n + 1);
    for (uint32_t k = 0; k < n; k++)
        named[k] = (ProgramChoice){ choices[k].var, choices[k].value, choice_name(c, choices[k].var) };
    c->program = program_create(c->schedule, c->arena);
    program_is_mode(c->program, named, n, passes.modes.n_variables, c->arena);
    KoinePort *states = NEW_ARRAY(c->arena, KoinePort, passes.modes.states.n + 1);
    uint32_t n_states = 0;
    for (uint32_t k = 0; k < passes.modes.states.n; k++) {
        const VarId var = passes.modes.states.at[k];
        const KoinePort port = program_port(c->program, var);
        const uint32_t count = (uint32_t)variable_count(c->model, var);
        states = arena_grow(c->arena, states, n_states * sizeof *states, (n_states + count) * sizeof *states,
                            sizeof *states);
        for (uint32_t j = 0; j < count; j++)
            states[n_states++] = (KoinePort){ port.variable, port.element + j };
    }
    c->mode_states = states;
    c->n_mode_states = n_states;
    return c;
}

typedef int64_t (*ChoiceValue)(const void *context, VarId var, bool *is_known);

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
        if (n_new == 0)
            break;
        const VarId *asked;
        Compilation *failed = NULL, *c = compile_mode(owner, choices, n_choices, &failed, &asked, &n);
        if (c) {
            const CompiledMode mode = {
                .c = c, .choices = choices, .n = n_choices, .number = program_data(c->program)->mode.number
            };
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
        memcpy(kept, asked, n * sizeof *kept);
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

static bool fits(const CompiledMode *mode, const Standing *at)
{
    bool is_known, is_same = true;
    for (uint32_t k = 0; k < mode->n && is_same; k++)
        is_same = value_now(at, mode->choices[k].var, &is_known) == mode->choices[k].value && is_known;
    return is_same;
}

static const KoineModelKind *kind_in(const ModesOfTier *of, CompiledMode *mode, const char **why)
{
    const VarId *asked;
    uint32_t n_asked;
    Compilation *made = mode->c;
    if (!mode->c)
        mode->c = compile_mode(of->set->owner, mode->choices, mode->n, &made, &asked, &n_asked);
    REQUIRE(mode->c); /* it was compiled before */
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
    CompiledMode *mode = NULL;
    for (uint32_t k = 0; k < of->set->all.n && !mode; k++)
        if (fits(&of->set->all.at[k], &at))
            mode = &of->set->all.at[k];
    if (!mode) {
        const CompiledMode from = *at.mode;
        at.mode = &from;
        VarId *vars = NEW_ARRAY(of->set->arena, VarId, from.n + 1);
        for (uint32_t k = 0; k < from.n; k++)
            vars[k] = from.choices[k].var;
        mode = add_mode(of->set, vars, from.n, value_now, &at, &reason);
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
    if (!first) {
        diag_error(c->diag, DIAG_RUN_MODE, c->model->span,
                   "the mode that the model is tried to begin in has no Schedule: %s", why);
        arena_destroy(set->arena);
        return false;
    }
    const char *refusal = koine_modes_refusal(program_data(first->c->program));
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
