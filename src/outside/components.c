/* Foreign components of a model: whether they may be executed, what they are, and whether they fit. */
#include "emit/foreign.h"
#include "foreign/foreign.h"
#include "outside/permission.h"

typedef struct {
    const Outside *outside;
    const Judge *judge;
    ForeignLibraries *libraries;
    volatile const int *const *interrupt;
    Model *model;
    uint32_t number;
    const KoineTables *tables;
} Filler;

static Foreign *foreign_of(const Filler *f)
{
    return &f->model->foreigns.at[f->number];
}

static const char *name_of(const Filler *f)
{
    return names_of(f->outside->names, foreign_of(f)->name);
}

/* ---- the user's word ---- */
static bool may_be_executed(const Filler *f, const char *path)
{
    if (f->outside->permission.allows_all || judge_knows(f->judge, path) ||
        (judge_trusts_source(f->judge, foreign_of(f)->span.source) && judge_trusts(f->judge, path)))
        return true;
    diag_error(f->outside->diag, DIAG_FOREIGN_FORBIDDEN, foreign_of(f)->span,
               "the foreign component %s would execute %s, and nobody has said that it may", name_of(f), path);
    judge_help(f->judge, arena_format(f->outside->arena, " --external %s", path));
    return false;
}

/* ---- ports ---- */
static bool misfit(const Filler *f, const ForeignPort *port, const char *what)
{
    diag_error(f->outside->diag, DIAG_FOREIGN_PORT, foreign_of(f)->span, "'%s' of the foreign component %s %s",
               foreign_port_name(f->model, port), name_of(f), what);
    return false;
}

static bool same_types(const Variable *v, const KoineVariable *there)
{
    static const uint8_t types[] = {
        [KOINE_REAL] = TYPE_REAL, [KOINE_INTEGER] = TYPE_INTEGER, [KOINE_BOOLEAN] = TYPE_BOOLEAN
    };
    return there->type <= KOINE_BOOLEAN && types[there->type] == v->type.kind;
}

static bool check_port(const Filler *f, const ForeignPort *port)
{
    const ForeignPlace place = foreign_place(f->tables, foreign_port_name(f->model, port));
    const Variable *v = model_var(f->model, port->var);
    if (place.row == KOINE_NO_ROW)
        return misfit(f, port, "is not there: it has no variable of this name");
    const KoineVariable *there = &f->tables->variables[place.row];
    if (v->type.rank)
        return misfit(f, port, "is an array here: ports are scalars, an element each");
    if (!same_types(v, there))
        return misfit(f, port, "has another type than the variable here");
    if (port->role == FOREIGN_IN && there->causality != KOINE_CAUSALITY_INPUT)
        return misfit(f, port, "is no input");
    if (port->role == FOREIGN_SET && (there->set == KOINE_NO_OFFSET || !(there->flags & KOINE_VARIABLE_SETTABLE)))
        return misfit(f, port, "cannot be set");
    if (port->role != FOREIGN_SET && there->now == KOINE_NO_OFFSET)
        return misfit(f, port, "has no value");
    if (port->role == FOREIGN_SET && v->variability > VARIABILITY_PARAMETER)
        return misfit(f, port, "is a parameter, the variable here is none");
    if (port->role == FOREIGN_OUT && v->definition != DEFINITION_NONE && v->definition != DEFINITION_NOW &&
        v->definition != DEFINITION_FOREIGN)
        return misfit(f, port, "is an output, the variable here gets its value in another way");
    if (port->role == FOREIGN_OUT && there->variability == KOINE_VARIABILITY_CONTINUOUS &&
        v->variability != VARIABILITY_CONTINUOUS)
        return misfit(f, port, "is continuous, the variable here is not");
    return true;
}

static bool check_ports(const Filler *f)
{
    const Foreign *foreign = foreign_of(f);
    bool is_good = true;
    for (uint32_t k = 0; k < foreign->n_ports; k++) {
        const ForeignPort *port = &f->model->foreign_ports.at[foreign->first_port + k];
        is_good &= check_port(f, port);
        for (uint32_t j = 0; j < k && is_good; j++) {
            const ForeignPort *other = &f->model->foreign_ports.at[foreign->first_port + j];
            if (other->var.index == port->var.index ||
                (other->role == port->role &&
                 strcmp(foreign_port_name(f->model, other), foreign_port_name(f->model, port)) == 0))
                is_good = misfit(f, port, "is named twice");
        }
    }
    return is_good;
}

/* ---- states ---- */
static VarId add_state(const Filler *f, InstanceId instance, uint32_t state)
{
    Model *m = f->model;
    const ForeignPlace place = foreign_state(f->tables, state);
    const KoineVariable *there = &f->tables->variables[place.row];
    const NameId name = names_text(f->outside->names, foreign_name(f->tables, place, f->outside->arena));
    const VarId var = model_add_variable(m, instance, name, REAL_TYPE, foreign_of(f)->span);
    Variable *v = model_var(m, var);
    v->variability = VARIABILITY_CONTINUOUS;
    v->definition = DEFINITION_DER;
    v->select = SELECT_ALWAYS;
    v->is_fixed = true;
    v->start = term_real(m, there->start);
    if (there->nominal > 0)
        v->nominal = term_real(m, there->nominal);
    if (there->unit)
        v->unit = names_text(f->outside->names, there->unit);
    return var;
}

static InstanceId add_instance(const Filler *f)
{
    Model *m = f->model;
    const Foreign *foreign = foreign_of(f);
    const Instance instance = { .name = foreign->name,
                                .class_name = foreign->symbol,
                                .parent = foreign->owner,
                                .language = m->language,
                                .span = foreign->span };
    vec_push(m->arena, &m->instances, instance);
    return (InstanceId){ m->instances.n - 1 };
}

/* Behind the other ports, in the order of x. */
static void add_states(const Filler *f)
{
    Model *m = f->model;
    const uint32_t first = m->foreign_ports.n;
    for (uint32_t k = 0; k < foreign_of(f)->n_ports; k++) {
        const ForeignPort port = m->foreign_ports.at[foreign_of(f)->first_port + k];
        vec_push(m->arena, &m->foreign_ports, port);
    }
    const InstanceId instance = add_instance(f);
    for (uint32_t k = 0; k < f->tables->n_x; k++) {
        const ForeignPort port = { .var = add_state(f, instance, k),
                                   .name = names_text(f->outside->names, ""),
                                   .role = FOREIGN_STATE };
        vec_push(m->arena, &m->foreign_ports, port);
    }
    foreign_of(f)->first_port = first;
    foreign_of(f)->n_ports = m->foreign_ports.n - first;
}

static bool has_name(const Filler *f)
{
    bool is_taken = name_is_empty(foreign_of(f)->name);
    for (uint32_t k = 1; k < f->model->instances.n && !is_taken; k++)
        is_taken = f->model->instances.at[k].parent.index == foreign_of(f)->owner.index &&
                   name_equal(f->model->instances.at[k].name, foreign_of(f)->name);
    if (!is_taken)
        return true;
    diag_error(f->outside->diag, DIAG_FOREIGN_PORT, foreign_of(f)->span,
               "the foreign component %s has states and needs a name of its own", name_of(f));
    return false;
}

/* Those that stand in the text are in the order of x. */
static bool check_states(const Filler *f)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < foreign_of(f)->n_ports; k++) {
        const ForeignPort *port = &f->model->foreign_ports.at[foreign_of(f)->first_port + k];
        if (port->role != FOREIGN_STATE)
            continue;
        const ForeignPlace place = foreign_place(f->tables, foreign_port_name(f->model, port)),
                           state = foreign_state(f->tables, n++);
        if (place.row != state.row || place.element != state.element)
            return misfit(f, port, "is not its state here");
    }
    return true;
}

static bool fill_states(const Filler *f)
{
    Foreign *foreign = foreign_of(f);
    uint32_t n = 0;
    for (uint32_t k = 0; k < foreign->n_ports; k++)
        n += f->model->foreign_ports.at[foreign->first_port + k].role == FOREIGN_STATE;
    foreign->n_roots = f->tables->roots.n;
    if (n == f->tables->n_x)
        return check_states(f);
    if (n) {
        diag_error(f->outside->diag, DIAG_FOREIGN_PORT, foreign->span,
                   "the foreign component %s has %u states, and not %u as it stands here", name_of(f), f->tables->n_x,
                   n);
        return false;
    }
    if (!has_name(f))
        return false;
    add_states(f);
    return true;
}

/* ---- steps of its own ---- */
static bool check_steps(const Filler *f)
{
    const Foreign *foreign = foreign_of(f);
    const char *why = foreign->step == 0 ? NULL
                      : !foreign_can_step(foreign->kind)
                          ? "makes no steps of its own: its kind has no function 'advance'"
                      : f->tables->n_x || f->tables->roots.n
                          ? "cannot make steps of its own: it has states or root functions, which Koine looks after"
                      : foreign->n_paths ? "makes steps of its own: none of its outputs depends on an input at once"
                                         : NULL;
    if (!why)
        return true;
    diag_error(f->outside->diag, DIAG_FOREIGN_LIBRARY, foreign->span, "the foreign component %s %s", name_of(f), why);
    return false;
}

/* ---- which output depends on which input ---- */
/* The number of the port among the rows or columns of the pattern. */
static uint32_t number_of(const Filler *f, const ForeignPort *port, uint32_t n, const KoinePort *among)
{
    const ForeignPlace place = foreign_place(f->tables, foreign_port_name(f->model, port));
    for (uint32_t k = 0; k < n; k++)
        if (among[k].variable == place.row && among[k].element == place.element)
            return k;
    return UINT32_MAX;
}

static bool depends(const KoinePattern *p, uint32_t output, uint32_t input)
{
    bool found = output >= p->rows || input >= p->columns; /* nobody knows */
    for (uint32_t k = output < p->rows ? p->start[output] : 0; output < p->rows && k < p->start[output + 1]; k++)
        found |= p->index[k] == input;
    return found;
}

static void fill_paths(const Filler *f)
{
    Model *m = f->model;
    Foreign *foreign = foreign_of(f);
    const KoinePattern *known = &f->tables->patterns.feedthrough;
    const KoinePortTable *numbered = &f->tables->ports;
    if (foreign->has_paths || (known->rows == 0 && foreign->step == 0))
        return;
    foreign->has_paths = true;
    foreign->first_path = m->foreign_paths.n;
    if (foreign->step > 0) /* outputs are those of its last step */
        return;
    for (uint32_t k = 0; k < foreign->n_ports; k++)
        for (uint32_t j = 0; j < foreign->n_ports; j++) {
            const ForeignPort *out = &m->foreign_ports.at[foreign->first_port + k],
                              *in = &m->foreign_ports.at[foreign->first_port + j];
            const ForeignPath path = { k, j };
            if (out->role == FOREIGN_OUT && in->role == FOREIGN_IN &&
                depends(known, number_of(f, out, numbered->n_outputs, numbered->outputs),
                        number_of(f, in, numbered->n_inputs, numbered->inputs)))
                vec_push(m->arena, &m->foreign_paths, path);
        }
    foreign->n_paths = m->foreign_paths.n - foreign->first_path;
}

/* ---- the whole ---- */
static bool load(Filler *f)
{
    Foreign *foreign = foreign_of(f);
    const char *path = foreign_path(f->model, foreign_of(f), f->outside->arena), *why;
    if (!may_be_executed(f, path))
        return false;
    const ForeignRequest request = { path, names_of(f->outside->names, foreign->symbol), foreign->is_apart,
                                     foreign->limit, f->interrupt };
    foreign->kind = foreign_load(f->libraries, &request, &why);
    if (foreign->kind) {
        f->tables = foreign->kind->tables;
        return true;
    }
    diag_error(f->outside->diag, DIAG_FOREIGN_LIBRARY, foreign->span, "the foreign component %s %s", name_of(f), why);
    return false;
}

/* What the whole reads and writes there, see link_of() of emit/program/foreigns.c. */
static void use_ports(const Filler *f)
{
    static const ForeignUse uses[] = { [FOREIGN_IN] = FOREIGN_USE_INPUT,
                                       [FOREIGN_OUT] = FOREIGN_USE_OUTPUT,
                                       [FOREIGN_SET] = FOREIGN_USE_SET,
                                       [FOREIGN_STATE] = FOREIGN_USE_SET };
    const Foreign *foreign = foreign_of(f);
    uint32_t n_states = 0;
    for (uint32_t k = 0; k < foreign->n_ports; k++) {
        const ForeignPort *port = &f->model->foreign_ports.at[foreign->first_port + k];
        const ForeignPlace place = port->role == FOREIGN_STATE
                                       ? foreign_state(f->tables, n_states++)
                                       : foreign_place(f->tables, foreign_port_name(f->model, port));
        const KoineVariable *there = &f->tables->variables[place.row];
        const uint64_t at = uses[port->role] == FOREIGN_USE_SET ? there->set : there->now;
        if (at != KOINE_NO_OFFSET)
            foreign_use(foreign->kind, uses[port->role], at + place.element * sizeof(KoineSlot));
    }
}

bool outside_components(const Outside *outside, Model *model, ForeignLibraries *libraries,
                        volatile const int *const *interrupt)
{
    const Judge judge = judge_of(outside);
    bool is_good = true;
    for (uint32_t k = 0; k < model->foreigns.n; k++) {
        Filler f = { outside, &judge, libraries, interrupt, model, k, NULL };
        if (load(&f) && check_ports(&f) && fill_states(&f) && check_steps(&f)) {
            fill_paths(&f);
            use_ports(&f);
        } else {
            is_good = false;
        }
    }
    return is_good;
}
