/* Which quantities are defined where: spec 2.6 to 2.9.
 *
 * A sequence of statements gives a list of definitions, one for each quantity; that of an IF is the
 * union over its branches. Inner sequences first, then the sequence itself, so that one mark for each
 * quantity is enough to find what is defined twice. */
#include "base/bug.h"
#include "lang/simplex/check.h"

typedef struct {
    uint32_t slot; /* of a quantity or an element of an array */
    Span span;
} Defined;
typedef VEC(Defined) Definitions;

typedef struct {
    uint32_t stamp;    /* of the sequence or IF that touched it last */
    uint32_t position; /* in the list of that */
    uint32_t branches; /* IF: number of branches that define it */
    uint32_t missing;  /* IF: the first branch that does not */
} Mark;

typedef struct {
    Checker *checker;
    Mark *marks;           /* by slot */
    uint32_t *quantity_of; /* by slot */
    uint32_t stamp;
    Loops loops;
} Walk;

static const char *slot_text(const Walk *walk, uint32_t slot)
{
    const Checker *checker = walk->checker;
    const Quantity *quantity = &checker->component->quantities.at[walk->quantity_of[slot]];
    return mdl_element_text(checker->arena, names_of(checker->scope.names, quantity->name.name), &quantity->sizes,
                            slot - quantity->first_slot);
}

static void report_twice(Walk *walk, StmtKind kind, uint32_t slot, Span first, Span second)
{
    Checker *checker = walk->checker;
    const char *name = slot_text(walk, slot);
    switch (kind) {
    case STMT_DERIVATIVE:
        REPORT(checker, DIAG_MDL_DERIVATIVE_TWICE, second, "the derivative of `%s` has two equations here", name);
        break;
    case STMT_NEXT:
        REPORT(checker, DIAG_MDL_ASSIGNED_TWICE, second, "`%s` gets two next values in one event", name);
        break;
    default: REPORT(checker, DIAG_MDL_DEFINED_TWICE, second, "`%s` is defined twice in the same region", name); break;
    }
    diag_note(checker->diag, first, "the other one");
    diag_help(checker->diag, "in each region exactly one may hold: put them into different branches of one IF");
}

static void add_definition(Walk *walk, Definitions *list, StmtKind kind, Defined defined)
{
    Mark *mark = &walk->marks[defined.slot];
    if (mark->stamp == walk->stamp) {
        report_twice(walk, kind, defined.slot, list->at[mark->position].span, defined.span);
        return;
    }
    mark->stamp = walk->stamp;
    mark->position = list->n;
    vec_push(walk->checker->arena, list, defined);
}

static Definitions walk_sequence(Walk *walk, const Stmt *first, StmtKind of_interest);

/* A dependent defined in some branch must be so in all of them. */
static void report_partial(Walk *walk, const Stmt *statement, const Defined *defined, const Mark *mark)
{
    Checker *checker = walk->checker;
    const char *name = slot_text(walk, defined->slot);
    const bool misses_else = mark->missing == statement->u.choice.n;
    const Span place = misses_else ? statement->span : statement->u.choice.branches[mark->missing].span;
    REPORT(checker, DIAG_MDL_DEFINED_PARTLY, (Span){ place.source, place.begin, place.begin + 2 },
           misses_else ? "`%s` is not defined where no condition holds" : "`%s` is not defined in this branch", name);
    diag_note(checker->diag, defined->span, "it is defined here");
    diag_help(checker->diag, misses_else ? "add ELSE DO %s := …; END" : "add %s := …; to this branch", name);
}

/* The union over the branches, each at the place where it is defined first. */
static Definitions walk_if(Walk *walk, const Stmt *statement, StmtKind of_interest)
{
    const uint32_t n = statement->u.choice.n;
    Definitions all = { 0 };
    Definitions *each = NEW_ARRAY(walk->checker->arena, Definitions, n);
    for (uint32_t k = 0; k < n; k++)
        each[k] = walk_sequence(walk, statement->u.choice.branches[k].body, of_interest);
    walk->stamp++;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < each[k].n; j++) {
            const Defined *defined = &each[k].at[j];
            Mark *mark = &walk->marks[defined->slot];
            if (mark->stamp != walk->stamp) {
                *mark = (Mark){ walk->stamp, all.n, 0, 0 };
                vec_push(walk->checker->arena, &all, *defined);
            }
            if (mark->missing == k)
                mark->missing = k + 1;
            mark->branches++;
        }
    const bool has_else = !statement->u.choice.branches[n - 1].condition;
    for (uint32_t j = 0; j < all.n; j++) {
        const Mark *mark = &walk->marks[all.at[j].slot];
        if (of_interest == STMT_ALGEBRAIC && !(has_else && mark->branches == n))
            report_partial(walk, statement, &all.at[j], mark);
    }
    return all;
}

/* The slot on the left side at this point of the loops; false: none, or known only in the run. */
static bool find_slot(Walk *walk, const Stmt *statement, uint32_t *slot)
{
    Checker *checker = walk->checker;
    if (statement->u.define.symbol == ID_NONE)
        return false;
    const Quantity *quantity =
        &checker->component->quantities.at[checker->scope.list.at[statement->u.define.symbol].object];
    uint64_t number = 0;
    for (uint32_t k = 0; k < statement->u.define.n; k++) {
        int64_t index;
        const Node *node = statement->u.define.index[k];
        if (!mdl_static_value(&checker->scope, checker->component, &walk->loops, node, &index)) {
            if (statement->kind != STMT_NEXT) {
                REPORT(checker, DIAG_MDL_TARGET_INDEX, node->span,
                       "an equation defines an element that is known before the run");
                diag_help(checker->diag,
                          "use numbers, DIMENSIONs and loop variables here; only events choose elements");
                ((Stmt *)statement)->u.define.symbol = ID_NONE; /* said once */
            }
            return false;
        }
        if (index < 1 || index > quantity->sizes.extent[k])
            return false; /* reported with the index, or found by the model */
        number = number * (uint64_t)quantity->sizes.extent[k] + (uint64_t)index - 1;
    }
    *slot = (uint32_t)(quantity->first_slot + number);
    return true;
}

/* All points of the range one after the other; what they define twice is found by the sequence around it. */
static Definitions walk_for(Walk *walk, const Stmt *statement, StmtKind of_interest)
{
    Checker *checker = walk->checker;
    Loop *loop = statement->u.repeat.loop;
    Definitions all = { 0 };
    if (loop->is_bad)
        return all;
    bool more = mdl_loop_begin(&checker->scope, checker->component, &walk->loops, loop);
    vec_push(checker->arena, &walk->loops, loop);
    for (; more && *checker->errors == 0 && mdl_count_point(checker, loop); more = mdl_loop_next(loop)) {
        const Definitions found = walk_sequence(walk, statement->u.repeat.body, of_interest);
        for (uint32_t k = 0; k < found.n; k++)
            vec_push(checker->arena, &all, found.at[k]);
    }
    loop->is_known = false;
    walk->loops.n--;
    return all;
}

/* Definitions of one kind; those of an IF and of a loop take part as if they stood in the sequence itself. */
static Definitions walk_sequence(Walk *walk, const Stmt *first, StmtKind of_interest)
{
    Arena *arena = walk->checker->arena;
    Definitions list = { 0 };
    VEC(Definitions) inner = { 0 };
    for (const Stmt *statement = first; statement; statement = statement->next)
        if (statement->kind == STMT_IF || statement->kind == STMT_FOR) {
            const Definitions found = statement->kind == STMT_IF ? walk_if(walk, statement, of_interest)
                                                                 : walk_for(walk, statement, of_interest);
            vec_push(arena, &inner, found);
        }
    walk->stamp++;
    uint32_t next = 0, slot;
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == of_interest && find_slot(walk, statement, &slot)) {
            add_definition(walk, &list, of_interest, (Defined){ slot, statement->span });
        } else if (statement->kind == STMT_IF || statement->kind == STMT_FOR) {
            const Definitions *found = &inner.at[next++];
            for (uint32_t k = 0; k < found->n; k++)
                add_definition(walk, &list, of_interest, found->at[k]);
        }
    }
    return list;
}

static void walk_events(Walk *walk, const Stmt *first);

/* Events of a loop differ in their elements only: one of them is enough. */
static void walk_event_loop(Walk *walk, const Stmt *statement)
{
    Checker *checker = walk->checker;
    Loop *loop = statement->u.repeat.loop;
    if (loop->is_bad || !mdl_loop_begin(&checker->scope, checker->component, &walk->loops, loop))
        return;
    vec_push(checker->arena, &walk->loops, loop);
    walk_events(walk, statement->u.repeat.body);
    loop->is_known = false;
    walk->loops.n--;
}

static void walk_events(Walk *walk, const Stmt *first)
{
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == STMT_WHENEVER)
            walk_sequence(walk, statement->u.event.body, STMT_NEXT);
        else if (statement->kind == STMT_FOR)
            walk_event_loop(walk, statement);
        else if (statement->kind == STMT_IF)
            for (uint32_t k = 0; k < statement->u.choice.n; k++)
                walk_events(walk, statement->u.choice.branches[k].body);
    }
}

static void report_undefined(Walk *walk, uint32_t slot)
{
    Checker *checker = walk->checker;
    const char *name = slot_text(walk, slot);
    const Quantity *quantity = &checker->component->quantities.at[walk->quantity_of[slot]];
    REPORT(checker, DIAG_MDL_NOT_DEFINED, quantity->name.span, "the dependent variable `%s` is never defined", name);
    diag_help(checker->diag, "add %s := …; under DYNAMIC BEHAVIOUR, or declare it as something else", name);
}

/* Gives each element of each quantity a slot. */
static bool number_slots(Walk *walk)
{
    static const uint64_t MOST_SLOTS = 20000000;
    Checker *checker = walk->checker;
    Component *component = checker->component;
    uint64_t n = 0;
    for (uint32_t k = 0; k < component->quantities.n; k++) {
        component->quantities.at[k].first_slot = n;
        n += component->quantities.at[k].sizes.count;
    }
    if (n > MOST_SLOTS) {
        REPORT(checker, DIAG_MDL_TOO_MANY, component->name.span, "`%s` would have %llu quantities",
               names_of(checker->scope.names, component->name.name), (unsigned long long)n);
        diag_help(checker->diag, "at most %llu are possible", (unsigned long long)MOST_SLOTS);
        return false;
    }
    walk->marks = NEW_ARRAY(checker->arena, Mark, n + 1);
    walk->quantity_of = NEW_ARRAY(checker->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < component->quantities.n; k++)
        for (uint64_t j = 0; j < component->quantities.at[k].sizes.count; j++)
            walk->quantity_of[component->quantities.at[k].first_slot + j] = k;
    return true;
}

void mdl_check_definitions(Checker *checker)
{
    Component *component = checker->component;
    Walk walk = { .checker = checker };
    if (!number_slots(&walk))
        return;
    const uint32_t errors = *checker->errors; /* a loop with a mistake is not walked to its end */
    const Definitions dependents = walk_sequence(&walk, component->statements, STMT_ALGEBRAIC);
    const Quantity *last = component->quantities.n ? &component->quantities.at[component->quantities.n - 1] : NULL;
    bool *is_defined = NEW_ARRAY(checker->arena, bool, last ? last->first_slot + last->sizes.count : 1);
    for (uint32_t k = 0; k < dependents.n; k++)
        is_defined[dependents.at[k].slot] = true;
    for (uint32_t k = 0; k < component->quantities.n; k++) {
        const Quantity *quantity = &component->quantities.at[k];
        if (quantity->use != USE_DEPENDENT || checker->has_bad_target ||
            (quantity->sizes.n && *checker->errors > errors))
            continue;
        uint64_t slot = quantity->first_slot;
        while (slot < quantity->first_slot + quantity->sizes.count && is_defined[slot])
            slot++;
        if (slot < quantity->first_slot + quantity->sizes.count)
            report_undefined(&walk, (uint32_t)slot);
    }
    const Definitions derivatives = walk_sequence(&walk, component->statements, STMT_DERIVATIVE);
    for (uint32_t k = 0; k < derivatives.n; k++)
        is_defined[derivatives.at[k].slot] = true;
    for (uint32_t k = 0; k < component->quantities.n; k++)
        component->quantities.at[k].has_equation = is_defined + component->quantities.at[k].first_slot;
    walk_events(&walk, component->statements);
}
