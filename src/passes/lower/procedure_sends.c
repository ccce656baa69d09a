/* What statements send becomes outputs of the function: whether each message is sent, and its values. */
#include "passes/lower/procedure.h"

enum { MANY = 1 << 24 }; /* executions of a statement: nobody knows how many */

static bool is_same(const Model *m, uint32_t a, uint32_t b)
{
    return m->actions.at[a].channel == m->actions.at[b].channel &&
           m->actions.at[a].priority == m->actions.at[b].priority;
}

/* How often the statements in the loop are executed at most. */
static uint64_t executions(const Model *m, DomainId domain)
{
    uint64_t n = 1;
    for (uint32_t k = 0; k < m->domains.at[domain.index].n; k++) {
        const int64_t count = m->iterators.at[m->domains.at[domain.index].first + k].count;
        n = count < 0 || count > MANY || n * (uint64_t)count > MANY ? MANY : n * (uint64_t)count;
    }
    return n;
}

typedef VEC(Sent) Sends;
typedef struct {
    uint64_t n; /* executions at most */
    bool is_loop;
} Times;

static void find_list(Procedure *p, Sends *found, uint32_t first, Times times)
{
    const Model *m = p->model;
    for (uint32_t k = first; k; k = m->statements.at[k].next) {
        const Statement *s = &m->statements.at[k];
        Times inside = times;
        if (s->kind == STATEMENT_FOR || s->kind == STATEMENT_WHILE) {
            inside.n *= s->kind == STATEMENT_FOR ? executions(m, s->domain) : MANY;
            inside.n = inside.n < MANY ? inside.n : MANY;
            inside.is_loop = true;
        }
        const Sent sent = { .action = s->action - 1, .is_queue = times.is_loop, .n = (uint32_t)times.n };
        if (s->kind == STATEMENT_SEND)
            vec_push(p->c->scratch, found, sent);
        find_list(p, found, s->inner, inside);
        find_list(p, found, s->otherwise, inside);
    }
}

/* Messages of one channel and priority wait in the order in which they were sent; others in that of priorities. */
void procedure_find_sends(Procedure *p, uint32_t body)
{
    const Model *m = p->model;
    Sends found = { 0 };
    find_list(p, &found, body, (Times){ .n = 1 });
    for (uint32_t k = 0; k < found.n; k++) {
        Sent sent = found.at[k];
        uint64_t n = 0;
        bool is_first = true;
        for (uint32_t j = 0; j < found.n; j++) {
            if (!is_same(m, found.at[j].action, sent.action))
                continue;
            is_first &= j >= k;
            sent.is_queue |= found.at[j].is_queue;
            n += found.at[j].n;
        }
        const uint64_t most = m->channels.at[m->actions.at[sent.action].channel].capacity + (uint64_t)1;
        if (sent.is_queue)
            sent.n = (uint32_t)(n == 0 ? 1 : n < most ? n : most);
        if (!sent.is_queue || is_first)
            vec_push(p->c->scratch, &p->sent, sent);
    }
}

/* ---- fields ---- */
static uint32_t n_values(const Procedure *p, const Sent *sent)
{
    return p->model->actions.at[sent->action].n_args;
}

static Type type_of(const Procedure *p, const Sent *sent, uint32_t value)
{
    const Channel *c = &p->model->channels.at[p->model->actions.at[sent->action].channel];
    return model_var(p->model, p->model->fields.at[c->first_field + value])->type;
}

void procedure_add_sent(Procedure *p)
{
    for (uint32_t k = 0; k < p->sent.n; k++) {
        Sent *sent = &p->sent.at[k];
        sent->flags = p->made->body->variables.n;
        for (uint32_t j = 0; j < sent->n; j++)
            procedure_field(p, arena_format(p->c->scratch, "$sent %u %u", k + 1, j + 1), BOOLEAN_TYPE);
        sent->values = p->made->body->variables.n;
        for (uint32_t j = 0; j < sent->n; j++)
            for (uint32_t i = 0; i < n_values(p, sent); i++)
                procedure_field(p, arena_format(p->c->scratch, "$value %u %u %u", k + 1, j + 1, i + 1),
                                type_of(p, sent, i));
    }
}

void procedure_add_rooms(Procedure *p)
{
    for (uint32_t k = 0; k < p->sent.n; k++) {
        Sent *sent = &p->sent.at[k];
        if (!sent->is_queue)
            continue;
        sent->count = procedure_field(p, arena_format(p->c->scratch, "$sent %u", k + 1), INTEGER_TYPE);
        sent->rooms = p->made->body->variables.n;
        const Term extent = term_integer(p->made->body, sent->n);
        for (uint32_t i = 0; i < n_values(p, sent); i++) {
            Type type = type_of(p, sent, i);
            type.rank = 1;
            const char *name = arena_format(p->c->scratch, "$value %u %u", k + 1, i + 1);
            model_set_dims(p->made->body, (VarId){ procedure_field(p, name, type) }, 1, &extent);
        }
    }
}

/* ---- statements ---- */
static const Expr *count_leaf(const Sent *sent, TermBuilder *builder)
{
    return term_leaf(builder, ref_now((VarId){ sent->count }));
}

/* The place of the last message that was sent. */
static Term place_in(Procedure *p, const Sent *sent, uint32_t value)
{
    TermBuilder builder = term_builder(p->made->body);
    const Expr *index = count_leaf(sent, &builder);
    return term_finish(&builder, term_element(&builder, ref_now((VarId){ sent->rooms + value }), 1, &index));
}

/* count `op` number: Integer or Boolean. */
static Term count_with(Procedure *p, const Sent *sent, Op op, int64_t number)
{
    Pool *pool = p->model->pool;
    TermBuilder builder = term_builder(p->made->body);
    const Expr *count = count_leaf(sent, &builder), *other = expr_integer(pool, number);
    return term_finish(&builder, op == OP_ADD ? expr_binary(pool, op, count, other)
                                              : expr_literal_relation(pool, op, count, other));
}

/* if count < n then count := count + 1; each value goes to its place; end if */
static void send_behind(Procedure *p, const Sent *sent, const Statement *s, uint32_t *first, uint32_t *last)
{
    const Action a = p->model->actions.at[s->action - 1];
    uint32_t inner = 0, end = 0;
    procedure_assign(p, sent->count, count_with(p, sent, OP_ADD, 1), s->span, &inner, &end);
    for (uint32_t k = 0; k < a.n_args; k++) {
        const Statement put = { .kind = STATEMENT_ASSIGN,
                                .target = place_in(p, sent, k),
                                .value = procedure_term(p, p->model->conditions.at[a.first_arg + k], true),
                                .span = s->span };
        procedure_add_statement(p, &put, &inner, &end);
    }
    const Statement fits = {
        .kind = STATEMENT_IF, .value = count_with(p, sent, OP_LT, sent->n), .inner = inner, .span = s->span
    };
    procedure_add_statement(p, &fits, first, last);
}

void procedure_send(Procedure *p, const Statement *s, uint32_t *first, uint32_t *last)
{
    const uint32_t action = s->action - 1;
    const Action a = p->model->actions.at[action];
    for (uint32_t k = 0; k < p->sent.n; k++) {
        const Sent *sent = &p->sent.at[k];
        if (sent->is_queue && is_same(p->model, sent->action, action))
            send_behind(p, sent, s, first, last);
        if (sent->is_queue || sent->action != action)
            continue;
        procedure_assign(p, sent->flags, term_boolean(p->made->body, true), s->span, first, last);
        for (uint32_t j = 0; j < a.n_args; j++)
            procedure_assign(p, sent->values + j, procedure_term(p, p->model->conditions.at[a.first_arg + j], true),
                             s->span, first, last);
    }
}

/* if count >= k then the message is sent, with the values of its place; end if. Places without a message have none. */
static void empty_place(Procedure *p, const Sent *sent, uint32_t k, uint32_t *first, uint32_t *last)
{
    const Span span = p->model->actions.at[sent->action].span;
    const uint32_t n = n_values(p, sent);
    uint32_t inner = 0, end = 0;
    procedure_assign(p, sent->flags + k, term_boolean(p->made->body, true), span, &inner, &end);
    for (uint32_t j = 0; j < n; j++)
        procedure_assign(p, sent->values + k * n + j, procedure_element(p, sent->rooms + j, k), span, &inner, &end);
    const Statement is_sent = {
        .kind = STATEMENT_IF, .value = count_with(p, sent, OP_GE, k + 1), .inner = inner, .span = span
    };
    procedure_add_statement(p, &is_sent, first, last);
}

void procedure_empty_rooms(Procedure *p, uint32_t *first, uint32_t *last)
{
    for (uint32_t k = 0; k < p->sent.n; k++)
        for (uint32_t j = 0; p->sent.at[k].is_queue && j < p->sent.at[k].n; j++)
            empty_place(p, &p->sent.at[k], j, first, last);
}
