/* Statements of algorithms, procedures and functions; see read_reader.h. */
#include "ir/read_reader.h"

static uint32_t add_statement(Reader *r, StatementKind kind)
{
    Statement *s = vec_push_zero(r->arena, &r->model->statements);
    s->kind = (uint8_t)kind;
    s->span = SPAN_NONE;
    return r->model->statements.n - 1;
}

static Statement *statement_at(Reader *r, uint32_t index)
{
    return &r->model->statements.at[index];
}

/* The place of the line, which ends here. */
static bool end_of_line(Reader *r, uint32_t begin, uint32_t statement)
{
    Span span;
    if (!reader_parse_element_end(r, begin, &span))
        return false;
    statement_at(r, statement)->span = span;
    return true;
}

static bool parse_inner(Reader *r, uint32_t *first)
{
    if (!reader_enter(r, BLOCK_DEPTH)) {
        reader_give_up(r);
        return false;
    }
    const bool is_good = reader_parse_statements(r, first);
    r->depth--;
    return is_good;
}

/* What is after "if" or "elseif". The statement is made by the caller. */
static bool parse_branches(Reader *r, uint32_t begin, uint32_t statement)
{
    for (;;) {
        Term condition;
        uint32_t first;
        if (!reader_parse_term(r, BOOLEAN_TYPE, &condition) || !reader_expect_word(r, WORD_THEN))
            return false;
        statement_at(r, statement)->value = condition;
        if (!end_of_line(r, begin, statement) || !parse_inner(r, &first))
            return false;
        statement_at(r, statement)->inner = first;
        begin = r->token.begin;
        if (reader_accept_word(r, WORD_ELSE)) {
            if (!parse_inner(r, &first))
                return false;
            statement_at(r, statement)->otherwise = first;
            return true;
        }
        if (!reader_accept_word(r, WORD_ELSEIF))
            return true;
        const uint32_t next = add_statement(r, STATEMENT_IF);
        statement_at(r, statement)->otherwise = next;
        statement = next;
    }
}

static bool parse_end_of(Reader *r, Word word, uint32_t begin)
{
    if (r->token.kind == TOKEN_END) {
        reader_report(r, DIAG_IR_BLOCK, (Span){ r->source, begin, begin + 1 }, "'%s' is not closed", word_text(word));
        HELP(r, "add a line: end %s", word_text(word));
        r->mistakes.gave_up = true;
        return false;
    }
    return reader_expect_word(r, WORD_END) && reader_expect_word(r, word);
}

static bool parse_for(Reader *r, uint32_t begin, uint32_t statement)
{
    const uint32_t n_loops = r->term.loops.n;
    DomainId domain;
    uint32_t first;
    if (!reader_parse_domain(r, &domain))
        return false;
    statement_at(r, statement)->domain = domain;
    const bool is_good = reader_expect(r, TOKEN_COLON, "':' after the ranges") && end_of_line(r, begin, statement) &&
                         parse_inner(r, &first);
    reader_leave_loops(r, n_loops);
    if (!is_good)
        return false;
    statement_at(r, statement)->inner = first;
    return parse_end_of(r, WORD_FOR, begin);
}

static bool parse_while(Reader *r, uint32_t begin, uint32_t statement)
{
    Term condition;
    uint32_t first;
    if (!reader_parse_term(r, BOOLEAN_TYPE, &condition) || !reader_expect_word(r, WORD_DO))
        return false;
    statement_at(r, statement)->value = condition;
    if (!end_of_line(r, begin, statement) || !parse_inner(r, &first))
        return false;
    statement_at(r, statement)->inner = first;
    return parse_end_of(r, WORD_WHILE, begin);
}

/* A literal, or an expression that makes the text. */
bool reader_parse_message(Reader *r, NameId *literal, Term *message)
{
    Term term;
    if (!reader_parse_term(r, STRING_TYPE, &term))
        return false;
    if (term.shape->kind == EXPR_STRING)
        *literal = term.shape->u.text;
    else
        *message = term;
    return true;
}

static bool parse_check(Reader *r, uint32_t begin, uint32_t statement)
{
    Term condition, message = TERM_NONE;
    NameId text = { 0 };
    if (!reader_parse_term(r, BOOLEAN_TYPE, &condition))
        return false;
    reader_accept(r, TOKEN_COMMA);
    if (!reader_parse_message(r, &text, &message))
        return false;
    statement_at(r, statement)->value = condition;
    statement_at(r, statement)->text = text;
    statement_at(r, statement)->message = message;
    return end_of_line(r, begin, statement);
}

/* (a, b) := f(x) */
static bool parse_together(Reader *r, uint32_t begin, uint32_t statement)
{
    Results results = { 0 };
    TokenKind sign;
    if (!reader_parse_results(r, true, &sign, &results) || !end_of_line(r, begin, statement))
        return false;
    const Span span = statement_at(r, statement)->span;
    uint32_t last = 0;
    if (results.places.n == 1) {
        statement_at(r, statement)->target = results.places.at[0];
        statement_at(r, statement)->value = results.values.at[0];
        return true;
    }
    statement_at(r, statement)->kind = STATEMENT_TOGETHER;
    for (uint32_t k = 0; k < results.places.n; k++) {
        const uint32_t one = add_statement(r, STATEMENT_ASSIGN);
        statement_at(r, one)->target = results.places.at[k];
        statement_at(r, one)->value = results.values.at[k];
        statement_at(r, one)->span = span;
        *(last ? &statement_at(r, last)->next : &statement_at(r, statement)->inner) = one;
        last = one;
    }
    return true;
}

static bool parse_assign(Reader *r, uint32_t begin, uint32_t statement)
{
    Term target, value;
    Type type;
    if (reader_begins_results(r))
        return parse_together(r, begin, statement);
    if (!reader_parse_target(r, &target, &type) || !reader_expect(r, TOKEN_ASSIGN, "':='") ||
        !reader_parse_term(r, type, &value))
        return false;
    statement_at(r, statement)->target = target;
    statement_at(r, statement)->value = value;
    return end_of_line(r, begin, statement);
}

static bool parse_send(Reader *r, uint32_t begin, uint32_t statement)
{
    Action a;
    if (!reader_parse_action(r, begin, TERM_NONE, &a) || !end_of_line(r, begin, statement))
        return false;
    a.span = statement_at(r, statement)->span;
    vec_push(r->arena, &r->model->actions, a);
    statement_at(r, statement)->action = r->model->actions.n;
    return true;
}

static bool parse_statement(Reader *r, uint32_t *statement)
{
    const uint32_t begin = r->token.begin;
    const uint32_t word = r->token.kind == TOKEN_NAME ? r->token.word : WORD_NO;
    switch (word) {
    case WORD_IF:
        reader_advance(r);
        *statement = add_statement(r, STATEMENT_IF);
        return parse_branches(r, begin, *statement) && parse_end_of(r, WORD_IF, begin);
    case WORD_FOR: reader_advance(r); return parse_for(r, begin, *statement = add_statement(r, STATEMENT_FOR));
    case WORD_WHILE: reader_advance(r); return parse_while(r, begin, *statement = add_statement(r, STATEMENT_WHILE));
    case WORD_BREAK: reader_advance(r); return end_of_line(r, begin, *statement = add_statement(r, STATEMENT_BREAK));
    case WORD_RETURN: reader_advance(r); return end_of_line(r, begin, *statement = add_statement(r, STATEMENT_RETURN));
    case WORD_CHECK: reader_advance(r); return parse_check(r, begin, *statement = add_statement(r, STATEMENT_ASSERT));
    case WORD_SEND: return parse_send(r, begin, *statement = add_statement(r, STATEMENT_SEND));
    default: return parse_assign(r, begin, *statement = add_statement(r, STATEMENT_ASSIGN));
    }
}

bool reader_parse_statements(Reader *r, uint32_t *first)
{
    uint32_t last = 0;
    *first = 0;
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (r->token.kind == TOKEN_END || reader_has_word(r, WORD_END) || reader_has_word(r, WORD_ELSE) ||
            reader_has_word(r, WORD_ELSEIF))
            return true;
        uint32_t statement;
        if (reader_is_element_word(r) && !reader_has_word(r, WORD_INPUT))
            return reader_syntax_error(r, "a statement or 'end'");
        if (!parse_statement(r, &statement)) {
            reader_recover(r);
            continue;
        }
        if (last)
            r->model->statements.at[last].next = statement;
        else
            *first = statement;
        last = statement;
    }
}
