/* Which quantities are defined where: spec 2.6 to 2.9.
 *
 * A sequence of statements gives a list of definitions, one for each quantity; that of an IF is the
 * union over its branches. Inner sequences first, then the sequence itself, so that one mark for each
 * quantity is enough to find what is defined twice. */
#include "base/bug.h"
#include "lang/simplex/check.h"

typedef struct {
    uint32_t quantity;
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
    Mark *marks; /* by quantity */
    uint32_t stamp;
} Walk;

static void report_twice(Walk *walk, StmtKind kind, uint32_t quantity, Span first, Span second)
{
    Checker *checker = walk->checker;
    const char *name = names_of(checker->scope.names, checker->component->quantities.at[quantity].name.name);
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
    Mark *mark = &walk->marks[defined.quantity];
    if (mark->stamp == walk->stamp) {
        report_twice(walk, kind, defined.quantity, list->at[mark->position].span, defined.span);
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
    const Quantity *quantity = &checker->component->quantities.at[defined->quantity];
    const char *name = names_of(checker->scope.names, quantity->name.name);
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
            Mark *mark = &walk->marks[defined->quantity];
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
        const Mark *mark = &walk->marks[all.at[j].quantity];
        if (of_interest == STMT_ALGEBRAIC && !(has_else && mark->branches == n))
            report_partial(walk, statement, &all.at[j], mark);
    }
    return all;
}

/* Definitions of one kind; those of an IF take part as if they stood in the sequence itself. */
static Definitions walk_sequence(Walk *walk, const Stmt *first, StmtKind of_interest)
{
    Arena *arena = walk->checker->arena;
    Definitions list = { 0 };
    VEC(Definitions) inner = { 0 };
    for (const Stmt *statement = first; statement; statement = statement->next)
        if (statement->kind == STMT_IF) {
            const Definitions found = walk_if(walk, statement, of_interest);
            vec_push(arena, &inner, found);
        }
    walk->stamp++;
    uint32_t next = 0;
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == of_interest && statement->u.define.symbol != ID_NONE) {
            const Symbol *symbol = &walk->checker->scope.list.at[statement->u.define.symbol];
            add_definition(walk, &list, of_interest, (Defined){ symbol->object, statement->span });
        } else if (statement->kind == STMT_IF) {
            const Definitions *found = &inner.at[next++];
            for (uint32_t k = 0; k < found->n; k++)
                add_definition(walk, &list, of_interest, found->at[k]);
        }
    }
    return list;
}

static void walk_events(Walk *walk, const Stmt *first)
{
    for (const Stmt *statement = first; statement; statement = statement->next) {
        if (statement->kind == STMT_WHENEVER)
            walk_sequence(walk, statement->u.event.body, STMT_NEXT);
        else if (statement->kind == STMT_IF)
            for (uint32_t k = 0; k < statement->u.choice.n; k++)
                walk_events(walk, statement->u.choice.branches[k].body);
    }
}

static void report_undefined(Checker *checker, const Quantity *quantity)
{
    const char *name = names_of(checker->scope.names, quantity->name.name);
    REPORT(checker, DIAG_MDL_NOT_DEFINED, quantity->name.span, "the dependent variable `%s` is never defined", name);
    diag_help(checker->diag, "add %s := …; under DYNAMIC BEHAVIOUR, or declare it as something else", name);
}

void mdl_check_definitions(Checker *checker)
{
    const Component *component = checker->component;
    Walk walk = { .checker = checker, .marks = NEW_ARRAY(checker->arena, Mark, component->quantities.n) };
    const Definitions dependents = walk_sequence(&walk, component->statements, STMT_ALGEBRAIC);
    bool *is_defined = NEW_ARRAY(checker->arena, bool, component->quantities.n);
    for (uint32_t k = 0; k < dependents.n; k++)
        is_defined[dependents.at[k].quantity] = true;
    for (uint32_t k = 0; k < component->quantities.n; k++)
        if (component->quantities.at[k].use == USE_DEPENDENT && !is_defined[k] && !checker->has_bad_target)
            report_undefined(checker, &component->quantities.at[k]);
    walk_sequence(&walk, component->statements, STMT_DERIVATIVE);
    walk_events(&walk, component->statements);
}
