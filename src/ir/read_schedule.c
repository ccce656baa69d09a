/* Reading a Schedule: names and labels of the Model are entered as if they had been read, then line by line. Functions
 * that parse return false after reporting. See read_schedule.h and read_reader.h. */
#include "ir/read_schedule.h"
#include "ir/print_model.h"
#include "ir/read_reader.h"
#include "ir/schedule_text.h"

enum { FACTS = 16 }; /* at least as many as there are */

typedef struct {
    Reader *r;
    Schedule *s;
    Arena *arena;
    uint32_t facts[FACTS]; /* as the text says */
    bool has_facts, has_states, has_part[PART_COUNT];
    VEC(uint32_t) start, index, colour; /* of the Jacobian */
} Parser;

/* ---- what several lines have ---- */
static bool parse_line_end(Reader *r)
{
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line");
}

static bool once(Reader *r, bool *has, const char *what)
{
    if (*has)
        return reader_report(r, DIAG_IR_DECLARED_TWICE, reader_token_span(r), "%s stand here a second time", what);
    return *has = true;
}

static bool parse_count(Reader *r, uint32_t *value)
{
    int64_t number;
    if (!reader_parse_integer(r, 0, UINT32_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool parse_variables(Parser *p, VarId **at, uint32_t *n)
{
    VEC(VarId) found = { 0 };
    while (!reader_is_element_end(p->r)) {
        VarId var;
        if (!reader_parse_variable_name(p->r, &var))
            return false;
        vec_push(p->arena, &found, var);
    }
    *at = found.at;
    *n = found.n;
    return true;
}

/* Whether the model says the same. */
static bool check_same(Reader *r, uint32_t begin, bool is_same, const char *what)
{
    if (is_same)
        return true;
    reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin), "the model has another %s", what);
    HELP(r, "a schedule belongs to the model it was made of: both must come from the same passes");
    return false;
}

static bool same_term(const Model *m, Term a, Term b)
{
    if (a.shape != b.shape)
        return false;
    for (uint32_t k = 0; a.shape && k < a.shape->n_leaves; k++)
        if (!ref_equal(term_refs(m, a)[k], term_refs(m, b)[k]))
            return false;
    return true;
}

static bool parse_from(Reader *r, EqId *equation)
{
    return reader_expect_word(r, WORD_FROM) && reader_parse_label(r, LABEL_EQUATION, &equation->index);
}

/* ---- blocks ---- */
/* v, v[i] or der(v): what a block can determine. */
static bool parse_unknown(Reader *r, Term *target, Type *type)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_target(r, target, type))
        return false;
    const Ref ref = term_refs(r->model, *target)[target->shape->u.leaf];
    return ref.kind == REF_NOW || ref.kind == REF_DER ||
           reader_report(r, DIAG_IR_TARGET, reader_span_from(r, begin), "a block determines v or der(v) only");
}

/* for i in 2:7: behind the keyword. */
static bool parse_range(Reader *r, DomainId *domain)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_domain(r, domain))
        return false;
    const Domain *d = &r->model->domains.at[domain->index];
    for (uint32_t k = 0; k < d->n; k++)
        if (r->model->iterators.at[d->first + k].count < 0) {
            reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin), "the range is not evaluated");
            HELP(r, "write first value, step and number of values behind it: 1:N {1, 1, 4}");
            return false;
        }
    return reader_expect(r, TOKEN_COLON, "':' after the range");
}

static bool parse_assignment(Reader *r, Block *b)
{
    Type type;
    if (reader_accept_word(r, WORD_FOR) && !parse_range(r, &b->u.assign.domain))
        return false;
    if (!parse_unknown(r, &b->u.assign.lhs, &type) || !reader_expect(r, TOKEN_ASSIGN, "':='") ||
        !reader_parse_term(r, type, &b->u.assign.rhs))
        return false;
    b->is_real = type.kind == TYPE_REAL;
    return true;
}

static bool parse_system_unknown(Reader *r, const Block *b, Ref *unknown)
{
    const uint32_t begin = r->token.begin;
    Term target;
    Type type;
    if (!parse_unknown(r, &target, &type))
        return false;
    *unknown = term_refs(r->model, target)[0];
    return ((type_equal(type, REAL_TYPE) || b->kind == BLOCK_ITERATE || b->kind == BLOCK_FOREIGN) &&
            target.shape->n_args == 0) ||
           reader_report(r, DIAG_IR_TYPE, reader_span_from(r, begin), "the unknown of a system is a scalar Real");
}

/* size 3 torn 1: the first two rows are explicit. */
static bool parse_system_size(Reader *r, Block *b, uint32_t *size)
{
    int64_t n, torn;
    if (!reader_expect_word(r, WORD_SIZE) || !reader_parse_integer(r, 1, UINT32_MAX, &n))
        return false;
    *size = (uint32_t)n;
    if (b->kind == BLOCK_ITERATE || !reader_accept_word(r, WORD_TORN))
        return true;
    if (!reader_parse_integer(r, 1, n - 1, &torn))
        return false;
    b->u.system.n_inner = (uint32_t)(n - torn);
    return true;
}

/* a := x - b from e4, or a + b = x from e4. */
static bool parse_system_row(Reader *r, SystemRow *row, bool is_inner)
{
    const uint32_t begin = r->token.begin;
    const Type type = ref_type(r->model, row->unknown);
    if (!reader_parse_term(r, type, &row->lhs))
        return false;
    const bool is_unknown = row->lhs.shape->kind == EXPR_LEAF && row->lhs.shape->n_args == 0 &&
                            ref_equal(term_refs(r->model, row->lhs)[0], row->unknown);
    if (is_inner && !is_unknown)
        return reader_report(r, DIAG_IR_TARGET, reader_span_from(r, begin),
                             "an explicit row of a torn system determines its own unknown");
    return (is_inner ? reader_expect(r, TOKEN_ASSIGN, "':='") : reader_expect(r, TOKEN_IS, "'='")) &&
           reader_parse_term(r, type, &row->rhs) && parse_from(r, &row->equation);
}

/* size 3 torn 1 (a, b, c) { a := 2*b from e3 ; b := x - c from e4 ; a - c = y from e5 } */
static bool parse_system(Parser *p, Block *b)
{
    Reader *r = p->r;
    uint32_t size;
    b->is_real = true;
    b->u.system.first_row = p->s->rows.n;
    if (!parse_system_size(r, b, &size) || !reader_expect(r, TOKEN_OPEN, "'(' before the unknowns"))
        return false;
    for (; b->u.system.n_rows < size; b->u.system.n_rows++) {
        SystemRow row = { .equation = EQ_NONE };
        if ((b->u.system.n_rows && !reader_expect(r, TOKEN_COMMA, "',' and a further unknown")) ||
            !parse_system_unknown(r, b, &row.unknown))
            return false;
        vec_push(p->arena, &p->s->rows, row);
    }
    if (!reader_expect(r, TOKEN_CLOSE, "')' after the unknowns") ||
        !reader_expect(r, TOKEN_OPEN_SET, "'{' before the equations"))
        return false;
    for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
        SystemRow *row = &p->s->rows.at[b->u.system.first_row + k];
        if ((k && !reader_expect(r, TOKEN_SEMICOLON, "';' and a further equation")) ||
            !parse_system_row(r, row, k < b->u.system.n_inner))
            return false;
        b->is_real &= ref_type(r->model, row->unknown).kind == TYPE_REAL;
    }
    b->equation = p->s->rows.at[b->u.system.first_row + b->u.system.n_inner].equation;
    return reader_expect(r, TOKEN_CLOSE_SET, "'}' after the equations");
}

static bool parse_relation(Reader *r, Block *b)
{
    const uint32_t begin = r->token.begin;
    Relation found = { .region = REGION_NONE };
    const Expr *shape;
    const uint32_t n_loops = r->term.loops.n;
    if (!reader_parse_numbered(r, 'k', r->model->relations.n, &b->u.object) ||
        (reader_accept_word(r, WORD_FOR) && !parse_range(r, &found.domain)) ||
        !reader_parse_variable_name(r, &found.bit) || !reader_expect(r, TOKEN_ASSIGN, "':='") ||
        !reader_parse_operand_term(r, BINDS_SUM, &shape))
        return false;
    found.left = reader_finish_term(r, shape);
    found.is_strict = r->token.kind == TOKEN_GT;
    if ((!reader_accept(r, TOKEN_GT) && !reader_expect(r, TOKEN_GE, "'>' or '>='")) ||
        !reader_parse_operand_term(r, BINDS_SUM, &shape))
        return false;
    found.right = reader_finish_term(r, shape);
    reader_leave_loops(r, n_loops);
    const Relation *known = &r->model->relations.at[b->u.object];
    return reader_choose(r, &relation_words, "the kind of the relation", &found.kind) &&
           check_same(r, begin,
                      found.bit.index == known->bit.index && found.kind == known->kind &&
                          found.is_strict == known->is_strict && same_term(r->model, found.left, known->left) &&
                          same_term(r->model, found.right, known->right),
                      "relation of this number");
}

static bool parse_step(Reader *r, Block *b)
{
    const uint32_t begin = r->token.begin;
    StepFunction found = { .region = REGION_NONE };
    if (!reader_parse_numbered(r, 's', r->model->steps.n, &b->u.object) ||
        !reader_parse_variable_name(r, &found.value) || !reader_expect(r, TOKEN_ASSIGN, "':='"))
        return false;
    const StepFunction *known = &r->model->steps.at[b->u.object];
    return reader_parse_step_head(r, &found) &&
           reader_choose(r, &relation_words, "the kind of the step function", &found.kind) &&
           check_same(r, begin,
                      found.value.index == known->value.index && found.op == known->op && found.kind == known->kind &&
                          found.table == known->table && same_term(r->model, found.argument, known->argument),
                      "step function of this number");
}

static bool parse_transition(Reader *r, Block *b)
{
    const uint32_t begin = r->token.begin;
    const uint32_t n_loops = r->term.loops.n;
    DomainId domain = { 0 };
    if (!reader_parse_label(r, LABEL_TRANSITION, &b->u.object) ||
        (reader_accept_word(r, WORD_FOR) && !parse_range(r, &domain)))
        return false;
    uint32_t n = 0;
    bool is_same =
        domain_count(r->model, domain) == domain_count(r->model, r->model->transitions.at[b->u.object].domain);
    if (reader_accept_word(r, WORD_WHEN))
        do {
            Term condition;
            if (!reader_parse_term(r, BOOLEAN_TYPE, &condition))
                return false;
            const Transition *t = &r->model->transitions.at[b->u.object];
            is_same = is_same && n < t->n_conditions &&
                      same_term(r->model, condition, r->model->conditions.at[t->first_condition + n]);
            n++;
        } while (reader_accept(r, TOKEN_COMMA));
    reader_leave_loops(r, n_loops);
    return check_same(r, begin, is_same && n == r->model->transitions.at[b->u.object].n_conditions,
                      "transition of this name");
}

static bool parse_block_body(Parser *p, Block *b)
{
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: return parse_assignment(p->r, b);
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN: return parse_system(p, b);
    case BLOCK_RELATION: return parse_relation(p->r, b);
    case BLOCK_STEP: return parse_step(p->r, b);
    case BLOCK_TRANSITION: return parse_transition(p->r, b);
    }
    return false;
}

/* Groups are numbered from 1 and their blocks stand together. */
static bool parse_mixed(Parser *p, Block *b)
{
    const uint32_t begin = p->r->token.begin, n = p->s->blocks.n;
    const uint32_t before = n ? p->s->blocks.at[n - 1].mixed : 0;
    if (!parse_count(p->r, &b->mixed))
        return false;
    if (b->mixed == 0 || (b->mixed != before && b->mixed != p->s->n_mixed + 1))
        return reader_report(p->r, DIAG_NUMBER_RANGE, reader_span_from(p->r, begin), "mixed %u is expected here",
                             p->s->n_mixed + 1);
    p->s->n_mixed = b->mixed;
    return true;
}

/* A parameter, which is looked at before a run. */
static bool parse_check(Reader *r, Block *b)
{
    const uint32_t begin = r->token.begin;
    VarId checked;
    if (!reader_parse_variable_name(r, &checked))
        return false;
    const Variable *v = model_var(r->model, checked);
    b->u.assign.check = checked.index + 1;
    return check_same(r, begin, v->definition == DEFINITION_BINDING && v->type.kind == TYPE_REAL && v->type.rank == 0,
                      "Real parameter of this name");
}

/* The system that the assignment and those behind it were made of. */
static bool parse_solved(Parser *p, Block *b)
{
    Block system = { .kind = BLOCK_LINEAR };
    if (!parse_system(p, &system))
        return false;
    b->u.assign.solved = system.u.system;
    return true;
}

/* block b3 assign x := y level 2 moving eager mixed 1 from e1: behind the keyword. */
static bool parse_block(Parser *p)
{
    Reader *r = p->r;
    const uint32_t begin = r->token.begin;
    Block b = { .equation = EQ_NONE };
    uint32_t number;
    if (!reader_parse_numbered(r, 'b', UINT32_MAX, &number))
        return false;
    if (number != p->s->blocks.n)
        return reader_report(r, DIAG_NUMBER_RANGE, reader_span_from(r, begin), "block b%u is expected here",
                             p->s->blocks.n + 1);
    const bool is_good = reader_choose(r, &block_words, "the kind of the block", &b.kind) && parse_block_body(p, &b) &&
                         reader_expect_word(r, WORD_LEVEL) && parse_count(r, &b.level);
    reader_leave_loops(r, 0);
    if (!is_good)
        return false;
    b.is_moving = reader_accept_word(r, WORD_MOVING);
    b.is_eager = reader_accept_word(r, WORD_EAGER);
    if (reader_accept_word(r, WORD_MIXED) && !parse_mixed(p, &b))
        return false;
    if (b.kind == BLOCK_ASSIGN && reader_accept_word(r, WORD_CHECKED) && !parse_check(r, &b))
        return false;
    if (b.kind == BLOCK_ASSIGN && !parse_from(r, &b.equation))
        return false;
    if (b.kind == BLOCK_ASSIGN && reader_accept_word(r, WORD_SOLVES) && !parse_solved(p, &b))
        return false;
    vec_push(p->arena, &p->s->blocks, b);
    return parse_line_end(r);
}

/* ---- facts, states, parts ---- */
static bool parse_facts(Parser *p)
{
    if (!once(p->r, &p->has_facts, "facts"))
        return false;
    for (uint32_t k = 0; k < schedule_fact_count(); k++) {
        if (!reader_expect_word(p->r, schedule_facts[k].word) || !parse_count(p->r, &p->facts[k]))
            return false;
        if (!schedule_facts[k].is_counted)
            memcpy((char *)p->s + schedule_facts[k].offset, &p->facts[k], sizeof p->facts[k]);
    }
    return parse_line_end(p->r);
}

static bool parse_index(Parser *p)
{
    Schedule *s = p->s;
    return parse_count(p->r, &s->figures.index) && reader_expect_word(p->r, WORD_DIFFERENTIATED) &&
           parse_count(p->r, &s->figures.n_differentiated) && parse_line_end(p->r);
}

static bool parse_states(Parser *p)
{
    Reader *r = p->r;
    const uint32_t begin = r->token.begin;
    if (!once(r, &p->has_states, "states") || !parse_variables(p, &p->s->states.at, &p->s->states.n))
        return false;
    p->s->states.capacity = p->s->states.n;
    for (uint32_t k = 0; k < p->s->states.n; k++)
        if (model_var(r->model, p->s->states.at[k])->definition != DEFINITION_DER)
            return reader_report(r, DIAG_IR_TARGET, reader_span_from(r, begin), "%s is no state of the model",
                                 variable_path(r->model, p->s->states.at[k], r->arena));
    return true;
}

/* part event b1 b3: behind the keyword. Numbers increase. */
static bool parse_part(Parser *p)
{
    Reader *r = p->r;
    Schedule *s = p->s;
    uint8_t part;
    if (!reader_choose(r, &part_words, "the part", &part) || !once(r, &p->has_part[part], "the blocks of this part"))
        return false;
    if (part == PART_PARAMETERS) {
        const bool is_good = parse_variables(p, &s->parameters.at, &s->parameters.n);
        s->parameters.capacity = s->parameters.n;
        return is_good;
    }
    if (part == PART_STARTS) {
        const bool is_good = parse_variables(p, &s->starts.at, &s->starts.n);
        s->starts.capacity = s->starts.n;
        return is_good;
    }
    while (!reader_is_element_end(r)) {
        const uint32_t begin = r->token.begin, n = s->parts[part].n;
        uint32_t block;
        if (!reader_parse_numbered(r, 'b', s->blocks.n, &block))
            return false;
        if (n && s->parts[part].at[n - 1] >= block)
            return reader_report(r, DIAG_NUMBER_RANGE, reader_span_from(r, begin), "the blocks of a part increase");
        vec_push(p->arena, &s->parts[part], block);
    }
    return true;
}

/* ---- the Jacobian ---- */
static bool parse_jacobian(Parser *p)
{
    int64_t colours;
    if (!once(p->r, &p->s->has_jacobian, "the colours of the Jacobian") || !reader_expect_word(p->r, WORD_COLOURS) ||
        !reader_parse_integer(p->r, 0, UINT32_MAX, &colours))
        return false;
    p->s->jacobian.n_colours = (uint32_t)colours;
    vec_push(p->arena, &p->start, 0);
    return parse_line_end(p->r);
}

/* row 2 colour 1 : 1 2 3: behind the keyword. */
static bool parse_row(Parser *p)
{
    Reader *r = p->r;
    StatePattern *j = &p->s->jacobian;
    if (!p->s->has_jacobian) {
        reader_report(r, DIAG_IR_MISPLACED, reader_token_span(r), "a row of the Jacobian before its colours");
        HELP(r, "put a line before it: jacobian colours N");
        return false;
    }
    int64_t number, colour;
    if (!reader_parse_integer(r, (int64_t)j->n + 1, (int64_t)j->n + 1, &number) ||
        !reader_expect_word(r, WORD_COLOUR) || !reader_parse_integer(r, 1, j->n_colours, &colour) ||
        !reader_expect(r, TOKEN_COLON, "':' before the states"))
        return false;
    const uint32_t begin = p->index.n;
    while (!reader_is_element_end(r)) {
        const int64_t least = p->index.n > begin ? (int64_t)p->index.at[p->index.n - 1] + 2 : 1;
        if (!reader_parse_integer(r, least, UINT32_MAX, &number))
            return false;
        vec_push(p->arena, &p->index, (uint32_t)(number - 1));
    }
    vec_push(p->arena, &p->colour, (uint32_t)(colour - 1));
    vec_push(p->arena, &p->start, p->index.n);
    j->n++;
    return true;
}

static bool finish_jacobian(Parser *p)
{
    Reader *r = p->r;
    StatePattern *j = &p->s->jacobian;
    if (!p->s->has_jacobian)
        return true;
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->s->states.n; k++)
        n += variable_count(r->model, p->s->states.at[k]);
    if (n != j->n)
        return reader_report(r, DIAG_NUMBER_RANGE, reader_token_span(r), "the Jacobian has %u rows for %llu states",
                             j->n, (unsigned long long)n);
    for (uint32_t k = 0; k < p->index.n; k++)
        if (p->index.at[k] >= j->n)
            return reader_report(r, DIAG_NUMBER_RANGE, reader_token_span(r),
                                 "the Jacobian has an entry for state %u of %u", p->index.at[k] + 1, j->n);
    j->start = p->start.at;
    j->index = p->index.at;
    j->colour = p->colour.at;
    return true;
}

/* ---- the whole ---- */
static bool parse_lines(Reader *r, Schedule *s, Arena *arena, bool is_initial);

static bool parse_initial(Parser *p)
{
    Reader *r = p->r;
    bool has_initial = p->s->initial != NULL;
    if (!once(r, &has_initial, "the initial blocks") || !parse_line_end(r))
        return false;
    Schedule *initial = NEW(p->arena, Schedule);
    initial->model = p->s->model;
    initial->arena = p->arena;
    if (!parse_lines(r, initial, p->arena, true) || !reader_expect_word(r, WORD_END) ||
        !reader_expect_word(r, WORD_INITIAL))
        return false;
    p->s->initial = initial;
    return parse_line_end(r);
}

static bool parse_one_line(Parser *p, bool is_initial)
{
    Reader *r = p->r;
    if (reader_accept_word(r, WORD_BLOCK))
        return parse_block(p);
    if (reader_accept_word(r, WORD_ROW))
        return parse_row(p);
    if (reader_accept_word(r, WORD_PART))
        return parse_part(p);
    if (reader_accept_word(r, WORD_STATES))
        return parse_states(p);
    if (reader_accept_word(r, WORD_FACTS))
        return parse_facts(p);
    if (reader_accept_word(r, WORD_INDEX))
        return parse_index(p);
    if (reader_accept_word(r, WORD_JACOBIAN))
        return parse_jacobian(p);
    if (!is_initial && reader_accept_word(r, WORD_INITIAL))
        return parse_initial(p);
    return reader_syntax_error(r, "facts, index, states, block, part, jacobian, row, initial or end");
}

static bool check_facts(Parser *p)
{
    Reader *r = p->r;
    if (!p->has_facts)
        return reader_report(r, DIAG_IR_MISPLACED, reader_token_span(r), "a schedule without a line of facts");
    for (uint32_t k = 0; k < schedule_fact_count(); k++) {
        uint32_t n;
        memcpy(&n, (const char *)p->s + schedule_facts[k].offset, sizeof n);
        if (n != p->facts[k])
            return reader_report(r, DIAG_NUMBER_RANGE, reader_token_span(r), "the facts say %s %u, but there are %u",
                                 word_text(schedule_facts[k].word), p->facts[k], n);
    }
    return true;
}

/* Up to before the end. */
static bool parse_lines(Reader *r, Schedule *s, Arena *arena, bool is_initial)
{
    Parser p = { .r = r, .s = s, .arena = arena };
    while (!reader_has_word(r, WORD_END)) {
        if (r->token.kind == TOKEN_END)
            return reader_report(r, DIAG_IR_BLOCK, reader_token_span(r), "the schedule is not closed");
        if (reader_accept(r, TOKEN_LINE) || reader_accept(r, TOKEN_SEMICOLON))
            continue;
        if (!parse_one_line(&p, is_initial))
            return false;
    }
    return finish_jacobian(&p) && check_facts(&p);
}

/* koine-schedule 1 of NAME */
static bool parse_head(Reader *r)
{
    static const char head[] = SCHEDULE_FORM;
    int64_t version;
    NameId name;
    reader_jump(r, 0);
    while (r->token.kind == TOKEN_LINE)
        reader_advance(r);
    const uint32_t begin = r->token.begin;
    if (r->lexer.end - begin < sizeof head - 1 || memcmp(r->lexer.text + begin, head, sizeof head - 1) != 0) {
        reader_report(r, DIAG_IR_HEADER, reader_token_span(r), "the text does not begin with %s 1", head);
        return false;
    }
    reader_jump(r, begin + (uint32_t)sizeof head - 1);
    if (!reader_parse_integer(r, 1, 1, &version)) {
        HELP(r, "this reader knows version 1 of the text form");
        return false;
    }
    return reader_expect_word(r, WORD_OF) && reader_parse_name(r, &name) && parse_line_end(r) &&
           check_same(r, begin, name_equal(name, r->model->name), "name");
}

static bool parse_end(Reader *r)
{
    const uint32_t begin = r->token.begin;
    NameId name;
    if (!reader_expect_word(r, WORD_END) || !reader_parse_name(r, &name) || !parse_line_end(r))
        return false;
    if (!name_equal(name, r->model->name))
        return reader_report(r, DIAG_IR_BLOCK, reader_span_from(r, begin), "the schedule is closed by another name");
    while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
        reader_advance(r);
    return r->token.kind == TOKEN_END || reader_syntax_error(r, "the end of the text");
}

void reader_enter_model(Reader *r)
{
    Text ignored = { .arena = r->arena };
    ModelPrinter mp = printer_create_model(r->model, &ignored, (PrintOptions){ .no_places = true });
    uint32_t first[LABEL_COUNT];
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        first[kind] = label_count(r->model, kind);
    reader_enter_rows(r, 1, 0, first);
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        for (uint32_t k = 0; k < first[kind]; k++) {
            const Label label = label_of(r->model, kind, k);
            const uint32_t number = mp.p.numbers[kind][k];
            const NameId name =
                number ? names_text(r->names, arena_format(r->arena, "$%c%u", label_letter(kind), number)) : label.name;
            map_put(&r->scope->labels[kind], key_of(label.owner.index, name), k);
        }
    for (uint32_t k = 0; k < pool_n_tables(r->pool); k++)
        map_put(&r->head.labels.tables,
                names_text(r->names, printer_table_label(&mp.p, pool_get_table(r->pool, k))).index, k);
    for (uint32_t k = 0; k < pool_n_enumerations(r->pool); k++) {
        const Enumeration *e = pool_get_enumeration(r->pool, k);
        map_put(&r->head.labels.enumerations, names_text(r->names, printer_enumeration_label(&mp.p, k)).index, k);
        for (uint32_t v = 0; v < e->n; v++)
            map_put(&r->head.labels.values, key_of(k, e->values[v]), v + 1);
    }
}

Schedule *schedule_read(Model *model, Sources *sources, uint32_t source, Arena *arena, Diag *diag)
{
    Reader *r = reader_create(model, sources, source, diag);
    const uint32_t errors = diag_errors(diag);
    Schedule *s = NEW(arena, Schedule);
    s->model = model;
    s->arena = arena;
    reader_enter_model(r);
    const bool is_good = parse_head(r) && parse_lines(r, s, arena, false) && parse_end(r);
    reader_end(r);
    return is_good && !r->mistakes.failed && diag_errors(diag) == errors ? s : NULL;
}
