/* State sets, as reduce-index makes them; see read_reader.h.
 *
 *     stateset z1 column weight 1.0 (vx, x) column weight 1.0 (vy, y) row 2 (1 2.0*x, 2 2.0*y)
 *         level ($x1 $c1) level ($x2 $c2)
 *
 * A state without a choice is a candidate that shall be a state always. */
#include "ir/read_reader.h"

enum { MOST = 1 << 20 };

typedef struct {
    VEC(double) weight;
    VEC(uint32_t) height;
    VEC(VarId) candidate; /* column by column */
    VEC(uint32_t) depth;
    VEC(uint32_t) row, column;
    VEC(Term) entry;
    VEC(uint32_t) n_states;
    VEC(VarId) state, choice;
} Found;

static bool parse_variable(Reader *r, TypeKind kind, VarId *var)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_variable_name(r, var))
        return false;
    const Type type = model_var(r->model, *var)->type;
    return (type.kind == kind && type.rank == 0) ||
           reader_report(r, DIAG_IR_TYPE, reader_span_from(r, begin), "a %s scalar is wanted here",
                         kind == TYPE_REAL ? "Real" : "Integer");
}

static bool parse_number(Reader *r, int64_t most, uint32_t *number)
{
    int64_t value;
    if (!reader_parse_integer(r, 1, most, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* weight 1.0 (vx, x) */
static bool parse_column(Reader *r, Found *f)
{
    double weight;
    uint32_t height = 0;
    if (!reader_expect_word(r, WORD_WEIGHT) || !reader_parse_number(r, &weight) ||
        !reader_expect(r, TOKEN_OPEN, "a '(' before the candidates"))
        return false;
    do {
        VarId var;
        if (!parse_variable(r, TYPE_REAL, &var))
            return false;
        vec_push(r->arena, &f->candidate, var);
        height++;
    } while (reader_accept(r, TOKEN_COMMA));
    vec_push(r->arena, &f->weight, weight);
    vec_push(r->arena, &f->height, height);
    return reader_expect(r, TOKEN_CLOSE, "a ')' after the candidates");
}

/* 2 (1 2.0*x, 2 2.0*y) */
static bool parse_row(Reader *r, Found *f)
{
    uint32_t depth, column;
    if (!parse_number(r, MOST, &depth) || !reader_expect(r, TOKEN_OPEN, "a '(' before the entries"))
        return false;
    do {
        Term term;
        if (!parse_number(r, f->height.n, &column) || !reader_parse_term(r, REAL_TYPE, &term))
            return false;
        vec_push(r->arena, &f->row, f->depth.n);
        vec_push(r->arena, &f->column, column - 1);
        vec_push(r->arena, &f->entry, term);
    } while (reader_accept(r, TOKEN_COMMA));
    vec_push(r->arena, &f->depth, depth);
    return reader_expect(r, TOKEN_CLOSE, "a ')' after the entries");
}

/* ($x1 $c1, $x2 $c2, v) */
static bool parse_level(Reader *r, Found *f)
{
    uint32_t n = 0;
    if (!reader_expect(r, TOKEN_OPEN, "a '(' before the states"))
        return false;
    do {
        VarId state, choice = VAR_NONE;
        if (!parse_variable(r, TYPE_REAL, &state))
            return false;
        const bool is_alone = r->token.kind == TOKEN_COMMA || r->token.kind == TOKEN_CLOSE;
        if (!is_alone && !parse_variable(r, TYPE_INTEGER, &choice))
            return false;
        vec_push(r->arena, &f->state, state);
        vec_push(r->arena, &f->choice, choice);
        n++;
    } while (reader_accept(r, TOKEN_COMMA));
    vec_push(r->arena, &f->n_states, n);
    return reader_expect(r, TOKEN_CLOSE, "a ')' after the states");
}

/* Candidates level by level. */
static VarId *by_level(Reader *r, const Found *f)
{
    VarId *all = NEW_ARRAY(r->arena, VarId, (size_t)f->height.n * f->n_states.n + 1);
    for (uint32_t k = 0; k < f->height.n * f->n_states.n; k++)
        all[k] = VAR_NONE;
    for (uint32_t column = 0, at = 0; column < f->height.n; column++)
        for (uint32_t level = 0; level < f->height.at[column]; level++, at++)
            if (level < f->n_states.n)
                all[level * f->height.n + column] = f->candidate.at[at];
    return all;
}

bool reader_parse_state_set(Reader *r, uint32_t begin)
{
    NameId ignored;
    Found f = { 0 };
    StateSet set = { 0 };
    if (!reader_parse_name(r, &ignored))
        return false;
    while (reader_accept_word(r, WORD_COLUMN))
        if (!parse_column(r, &f))
            return false;
    while (reader_accept_word(r, WORD_ROW))
        if (!parse_row(r, &f))
            return false;
    while (reader_accept_word(r, WORD_LEVEL))
        if (!parse_level(r, &f))
            return false;
    if (!reader_parse_element_end(r, begin, &set.span))
        return false;
    set.n_rows = f.depth.n;
    set.n_columns = f.height.n;
    set.n_entries = f.entry.n;
    set.n_levels = f.n_states.n;
    set.depth = f.depth.at;
    set.height = f.height.at;
    set.weight = f.weight.at;
    set.row = f.row.at;
    set.column = f.column.at;
    set.entry = f.entry.at;
    set.candidate = by_level(r, &f);
    set.n_states = f.n_states.at;
    set.state = f.state.at;
    set.choice = f.choice.at;
    vec_push(r->arena, &r->model->state_sets, set);
    return true;
}
