/* Expressions of the text form; see print_term.h. */
#include "base/bug.h"
#include "ir/print_term.h"
#include "ir/routine.h"

typedef struct {
    Binds binds, left, right;
    const char *text;
} Infix;

static const Infix *infix_of(Op op)
{
    static const Infix rows[OP_COUNT] = {
        [OP_OR] = { BINDS_OR, BINDS_OR, BINDS_AND, " or " },
        [OP_AND] = { BINDS_AND, BINDS_AND, BINDS_NOT, " and " },
        [OP_LT] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " < " },
        [OP_LE] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " <= " },
        [OP_GT] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " > " },
        [OP_GE] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " >= " },
        [OP_EQ] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " == " },
        [OP_NE] = { BINDS_RELATION, BINDS_SUM, BINDS_SUM, " <> " },
        [OP_ADD] = { BINDS_SUM, BINDS_SUM, BINDS_PRODUCT, " + " },
        [OP_SUB] = { BINDS_SUM, BINDS_SUM, BINDS_PRODUCT, " - " },
        [OP_MUL] = { BINDS_PRODUCT, BINDS_PRODUCT, BINDS_OPERAND, "*" },
        [OP_DIV] = { BINDS_PRODUCT, BINDS_PRODUCT, BINDS_OPERAND, "/" },
    };
    return rows[op].text ? &rows[op] : NULL;
}

/* With a dot: element by element where an operation without it would be another one, or none. */
static const Infix *infix_at(const Expr *e)
{
    static const Infix dotted[] = { { BINDS_SUM, BINDS_SUM, BINDS_PRODUCT, " .+ " },
                                    { BINDS_SUM, BINDS_SUM, BINDS_PRODUCT, " .- " },
                                    { BINDS_PRODUCT, BINDS_PRODUCT, BINDS_OPERAND, ".*" },
                                    { BINDS_PRODUCT, BINDS_PRODUCT, BINDS_OPERAND, "./" } };
    if (e->kind == EXPR_WHOLE)
        return e->op == WHOLE_PRODUCT ? infix_of(OP_MUL) : NULL;
    if (e->type.rank == 0 || e->n_args < 2)
        return infix_of((Op)e->op);
    const uint8_t a = e->args[0]->type.rank, b = e->args[1]->type.rank;
    switch ((Op)e->op) {
    case OP_ADD: return a == b ? infix_of(OP_ADD) : &dotted[0];
    case OP_SUB: return a == b ? infix_of(OP_SUB) : &dotted[1];
    case OP_MUL: return !a || !b ? infix_of(OP_MUL) : &dotted[2];
    case OP_DIV: return !b ? infix_of(OP_DIV) : &dotted[3];
    default: return infix_of((Op)e->op);
    }
}

static bool is_negative(const Expr *e)
{
    if (e->kind == EXPR_INTEGER)
        return e->u.integer < 0;
    uint64_t bits;
    memcpy(&bits, &e->u.real, sizeof bits);
    return e->kind == EXPR_REAL && bits >> 63 && e->u.real == e->u.real;
}

static Binds binds(const Expr *e)
{
    if (e->kind == EXPR_IF)
        return BINDS_IF;
    if (is_negative(e) || (e->kind == EXPR_TEXT && e->op == TEXT_CONCAT))
        return BINDS_SUM;
    if ((e->kind != EXPR_CALL && e->kind != EXPR_WHOLE) || e->is_literal)
        return BINDS_OPERAND;
    if (e->kind == EXPR_CALL && e->op == OP_NEG)
        return BINDS_SUM;
    if (e->kind == EXPR_CALL && e->op == OP_NOT)
        return BINDS_NOT;
    const Infix *infix = infix_at(e);
    return infix ? infix->binds : BINDS_OPERAND;
}

/* A minus and a number are read as one literal: an operation on the number needs parentheses. */
static bool starts_with_number(const Expr *e)
{
    while ((e->kind == EXPR_CALL || e->kind == EXPR_WHOLE) && !e->is_literal && binds(e) == BINDS_PRODUCT) {
        e = e->args[0];
        if (binds(e) < BINDS_PRODUCT)
            return false;
    }
    return e->kind == EXPR_REAL || e->kind == EXPR_INTEGER;
}

static bool has_frozen_relation(const Expr *e)
{
    if (e->kind == EXPR_CALL && op_is_relation((Op)e->op) && !e->is_literal)
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_frozen_relation(e->args[k]))
            return true;
    return false;
}

static void put_range(Printer *p, const Expr *lo, const Expr *step, const Expr *hi, const Ref *refs)
{
    printer_put_expr(p, lo, refs, BINDS_OR);
    text_char(p->to, ':');
    printer_put_expr(p, hi, refs, BINDS_OR);
    if (!(step->kind == EXPR_INTEGER && step->u.integer == 1)) {
        printer_put(p, " step ");
        printer_put_expr(p, step, refs, BINDS_OR);
    }
}

static void put_args(Printer *p, const Expr *e, const Ref *refs, const char *brackets)
{
    text_char(p->to, brackets[0]);
    for (uint32_t k = 0; k < e->n_args; k++) {
        const Expr *arg = e->args[k];
        if (k)
            printer_put(p, ", ");
        if (arg->kind == EXPR_RANGE && arg->n_args == 0)
            text_char(p->to, ':');
        else if (arg->kind == EXPR_RANGE && e->kind == EXPR_LEAF)
            put_range(p, arg->args[0], arg->args[1], arg->args[2], refs);
        else
            printer_put_expr(p, arg, refs, BINDS_IF);
    }
    text_char(p->to, brackets[1]);
}

static void put_indexed(Printer *p, VarId var, const Expr *e, const Ref *refs)
{
    printer_put_variable(p, var);
    if (e->n_args)
        put_args(p, e, refs, "[]");
}

static void put_wrapped(Printer *p, const char *before, VarId var, const Expr *e, const Ref *refs, const char *after)
{
    printer_put(p, before);
    put_indexed(p, var, e, refs);
    printer_put(p, after);
}

static void put_labelled(Printer *p, const char *before, LabelKind kind, uint32_t index)
{
    printer_put(p, before);
    printer_put_label(p, kind, index);
    printer_put(p, ")");
}

static void put_ref(Printer *p, const Expr *e, const Ref *refs)
{
    const Ref ref = refs[e->u.leaf];
    switch ((RefKind)ref.kind) {
    case REF_NOW: put_indexed(p, ref.var, e, refs); return;
    case REF_PRE: put_wrapped(p, "pre(", ref.var, e, refs, ")"); return;
    case REF_DER: put_wrapped(p, "der(", ref.var, e, refs, ")"); return;
    case REF_LAST: put_wrapped(p, "last(", ref.var, e, refs, ")"); return;
    case REF_START: put_wrapped(p, "start(", ref.var, e, refs, ")"); return;
    case REF_SEED: put_wrapped(p, "seed(", ref.var, e, refs, ")"); return;
    case REF_SEED_DER: put_wrapped(p, "seed(der(", ref.var, e, refs, "))"); return;
    case REF_INFLOW: put_wrapped(p, "inStream(", ref.var, e, refs, ")"); return;
    case REF_PASSING: put_wrapped(p, "actualStream(", ref.var, e, refs, ")"); return;
    case REF_TIME: printer_put(p, "time"); return;
    case REF_INITIAL: printer_put(p, "initial"); return;
    case REF_TERMINAL: printer_put(p, "terminal"); return;
    case REF_FIRED: put_labelled(p, "fired(", LABEL_TRANSITION, ref.var.index); return;
    case REF_TICK: put_labelled(p, "tick(", LABEL_CLOCK, ref.var.index); return;
    case REF_INTERVAL: put_labelled(p, "interval(", LABEL_CLOCK, ref.var.index); return;
    case REF_IS_ROOT: put_labelled(p, "isRoot(", LABEL_PORT, ref.var.index); return;
    case REF_ROOTED: put_labelled(p, "rooted(", LABEL_PORT, ref.var.index); return;
    }
    BUG("unknown RefKind");
}

/* In a shape: %0 is a Real, others say their type: %1:Integer, %2:Real^1 (a vector). */
static void put_leaf_number(Printer *p, const Expr *e)
{
    const bool is_plain = e->type.kind == TYPE_REAL && (e->n_args || e->type.rank == 0);
    text_char(p->to, '%');
    printer_put_number(p, e->u.leaf);
    if (!is_plain) {
        text_char(p->to, ':');
        printer_put_type(p, e->type);
        if (e->type.rank && !e->n_args) {
            text_char(p->to, '^');
            printer_put_number(p, e->type.rank);
        }
    }
    if (e->n_args)
        put_args(p, e, NULL, "[]");
}

void printer_put_iterator_name(Printer *p, uint32_t level)
{
    if (level < p->iterators.n && !name_is_empty(p->iterators.at[level]))
        printer_put_name(p, p->iterators.at[level]);
    else
        text_format(p->to, "$i%u", level + 1);
}

static const char *reduce_text(Op op)
{
    switch (op) {
    case OP_ADD: return "sum";
    case OP_MUL: return "prod";
    case OP_MIN: return "min";
    case OP_MAX: return "max";
    case OP_AND: return "all";
    case OP_OR: return "any";
    default: BUG("no operation to reduce with"); /* the others are no reductions */
    }
}

static void put_loop(Printer *p, const Expr *e, const Ref *refs, const char *brackets)
{
    text_format(p->to, "%cfor $i%u in ", brackets[0], e->u.iterator + 1);
    put_range(p, e->args[1], e->args[2], e->args[3], refs);
    printer_put(p, ": ");
    printer_put_expr(p, e->args[0], refs, BINDS_IF);
    text_char(p->to, brackets[1]);
}

static void put_reduce(Printer *p, const Expr *e, const Ref *refs)
{
    printer_put(p, reduce_text((Op)e->op));
    put_loop(p, e, refs, "()");
}

static void put_relation(Printer *p, const Expr *e, const Ref *refs)
{
    const Infix *infix = infix_at(e);
    printer_put_expr(p, e->args[0], refs, infix->left);
    printer_put(p, infix->text);
    printer_put_expr(p, e->args[1], refs, infix->right);
}

static void put_call(Printer *p, const Expr *e, const Ref *refs)
{
    const Infix *infix = infix_of((Op)e->op);
    if (e->is_literal) {
        const bool mixed = has_frozen_relation(e->args[0]) || has_frozen_relation(e->args[1]);
        printer_put(p, mixed ? "literal(" : "noEvent(");
        put_relation(p, e, refs);
        text_char(p->to, ')');
    } else if (infix) {
        put_relation(p, e, refs);
    } else if (e->op == OP_NOT) {
        printer_put(p, "not ");
        printer_put_expr(p, e->args[0], refs, BINDS_NOT);
    } else if (e->op == OP_NEG) {
        text_char(p->to, '-');
        printer_put_expr(p, e->args[0], refs, starts_with_number(e->args[0]) ? BINDS_OPERAND + 1 : BINDS_PRODUCT);
    } else {
        printer_put(p, op_text((Op)e->op));
        put_args(p, e, refs, "()");
    }
}

static void put_if(Printer *p, const Expr *e, const Ref *refs)
{
    printer_put(p, "if ");
    printer_put_expr(p, e->args[0], refs, BINDS_OR);
    printer_put(p, " then ");
    printer_put_expr(p, e->args[1], refs, BINDS_OR);
    printer_put(p, " else ");
    printer_put_expr(p, e->args[2], refs, BINDS_IF);
}

/* It gives an element of an array that is a result. */
static bool is_numbered(const Expr *e)
{
    const Function *f = e->u.function;
    return e->result != RESULT_ALL && e->type.rank == 0 && f->body->variables.at[f->n_inputs + e->result].type.rank > 0;
}

static void put_function(Printer *p, const Expr *e, const Ref *refs)
{
    uint32_t index = 0;
    if (is_part(e)) { /* of all numbers that a call gives; not in the text form */
        printer_put_expr(p, e->args[0], refs, BINDS_IF);
        text_format(p->to, "[%u]", e->element + 1u);
        return;
    }
    while (index < p->labelled->functions.n && p->labelled->functions.at[index] != e->u.function)
        index++;
    WholeOp ignored;
    const NameId name = e->u.function->name;
    if (whole_by_text(names_of(p->names, name), names_length(p->names, name), &ignored))
        printer_put_quoted(p, names_of(p->names, name), names_length(p->names, name), '\'');
    else if (index < p->labelled->functions.n)
        printer_put_label(p, LABEL_FUNCTION, index);
    else
        printer_put_name(p, e->u.function->name);
    put_args(p, e, refs, "()");
    if (e->result == RESULT_ALL)
        printer_put(p, ".0");
    else if (e->result || is_numbered(e))
        text_format(p->to, ".%u", e->result + 1u);
    if (is_numbered(e))
        text_format(p->to, "[%u]", e->element + 1u);
}

static void put_table(Printer *p, const Expr *e, const Ref *refs)
{
    printer_put(p, "table(");
    printer_put_table(p, e->u.table);
    for (uint32_t k = 0; k < e->n_args; k++) {
        printer_put(p, ", ");
        printer_put_expr(p, e->args[k], refs, BINDS_IF);
    }
    text_char(p->to, ')');
    if (e->op)
        text_format(p->to, ".%u", e->op);
}

static void put_text_op(Printer *p, const Expr *e, const Ref *refs)
{
    if (e->op == TEXT_CONCAT) {
        printer_put_expr(p, e->args[0], refs, BINDS_SUM);
        printer_put(p, " + ");
        printer_put_expr(p, e->args[1], refs, BINDS_PRODUCT);
        return;
    }
    printer_put(p, "String");
    if (e->op != TEXT_FORMAT)
        text_format(p->to, ".%s", text_op_name((TextOp)e->op));
    put_args(p, e, refs, "()");
}

static void put_bare(Printer *p, const Expr *e, const Ref *refs)
{
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: text_real_point(p->to, e->u.real); return;
    case EXPR_INTEGER: text_integer(p->to, e->u.integer); return;
    case EXPR_BOOLEAN: printer_put(p, e->u.integer ? "true" : "false"); return;
    case EXPR_ENUM: printer_put_enum_literal(p, e); return;
    case EXPR_STRING: printer_put_string(p, e->u.text); return;
    case EXPR_LEAF:
        if (refs)
            put_ref(p, e, refs);
        else
            put_leaf_number(p, e);
        return;
    case EXPR_ITERATOR: printer_put_iterator_name(p, e->u.iterator); return;
    case EXPR_CALL: put_call(p, e, refs); return;
    case EXPR_TABLE: put_table(p, e, refs); return;
    case EXPR_IF: put_if(p, e, refs); return;
    case EXPR_REDUCE: put_reduce(p, e, refs); return;
    case EXPR_ARRAY: put_args(p, e, refs, "{}"); return;
    case EXPR_FUNCTION: put_function(p, e, refs); return;
    case EXPR_TEXT: put_text_op(p, e, refs); return;
    case EXPR_RANGE:
        text_char(p->to, '(');
        put_range(p, e->args[0], e->args[1], e->args[2], refs);
        text_char(p->to, ')');
        return;
    case EXPR_EACH: put_loop(p, e, refs, "{}"); return;
    case EXPR_WHOLE:
        if (e->op == WHOLE_PRODUCT)
            put_relation(p, e, refs);
        else {
            printer_put(p, whole_text((WholeOp)e->op));
            put_args(p, e, refs, "()");
        }
        return;
    }
    BUG("unknown ExprKind");
}

void printer_put_expr(Printer *p, const Expr *e, const Ref *refs, Binds least)
{
    if (binds(e) >= least) {
        put_bare(p, e, refs);
        return;
    }
    text_char(p->to, '(');
    put_bare(p, e, refs);
    text_char(p->to, ')');
}

static void put_row(Printer *p, Term term)
{
    const Ref *refs = term_refs(p->model, term);
    text_format(p->to, "row s%u (", printer_use(p, &p->used.shapes, term.shape->id) + 1);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Expr leaf = { .kind = EXPR_LEAF };
        if (k)
            printer_put(p, ", ");
        put_ref(p, &leaf, refs + k);
    }
    text_char(p->to, ')');
}

void printer_put_term(Printer *p, Term term, Binds least)
{
    if (p->options.shapes && term.shape->kind >= EXPR_CALL)
        put_row(p, term);
    else
        printer_put_expr(p, term.shape, term_refs(p->model, term), least);
}
