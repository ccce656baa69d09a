/* Printing a Schedule: a line for each block and part. The Model gives names and labels; see print_model.h. */
#include "ir/print_schedule.h"
#include "base/bug.h"
#include "ir/print_model.h"
#include "ir/schedule_text.h"
#include <stddef.h>

const ScheduleFact schedule_facts[] = {
    { WORD_EQUATIONS, offsetof(Schedule, figures.n_equations), false },
    { WORD_UNKNOWNS, offsetof(Schedule, figures.n_unknowns), false },
    { WORD_ALIASES, offsetof(Schedule, figures.n_aliases), false },
    { WORD_BLOCKS, offsetof(Schedule, blocks.n), true },
    { WORD_LARGEST, offsetof(Schedule, figures.largest_block), false },
    { WORD_STATES, offsetof(Schedule, states.n), true },
    { WORD_ROOTS, offsetof(Schedule, figures.n_roots), false },
    { WORD_CALENDAR, offsetof(Schedule, figures.n_calendar), false },
};

uint32_t schedule_fact_count(void)
{
    return sizeof schedule_facts / sizeof *schedule_facts;
}

const char *part_name(PartKind part)
{
    return word_text(part_words.words[part]);
}

/* ---- blocks ---- */
static void put_ref(Printer *p, Ref ref)
{
    printer_put(p, ref.kind == REF_DER ? "der(" : "");
    printer_put_variable(p, ref.var);
    printer_put(p, ref.kind == REF_DER ? ")" : "");
}

static void put_variables(Printer *p, const VarId *variables, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        printer_put_space(p);
        printer_put_variable(p, variables[k]);
    }
}

static void put_from(Printer *p, EqId equation)
{
    if (equation.index == ID_NONE)
        return;
    printer_put_word(p, WORD_FROM);
    printer_put_space(p);
    printer_put_label(p, LABEL_EQUATION, equation.index);
}

static void put_assignment(Printer *p, const Block *b)
{
    printer_put_space(p);
    printer_put_domain(p, b->u.assign.domain);
    printer_put_term(p, b->u.assign.lhs, BINDS_IF);
    printer_put(p, " := ");
    printer_put_term(p, b->u.assign.rhs, BINDS_IF);
    printer_leave_domain(p, b->u.assign.domain);
}

static void put_rows(Printer *p, const SystemRow *rows, uint32_t n, uint32_t n_inner)
{
    printer_put_word(p, WORD_SIZE);
    printer_put_space(p);
    printer_put_number(p, n);
    if (n_inner) {
        printer_put_word(p, WORD_TORN);
        printer_put_space(p);
        printer_put_number(p, n - n_inner);
    }
    printer_put(p, " (");
    for (uint32_t k = 0; k < n; k++) {
        printer_put(p, k ? ", " : "");
        put_ref(p, rows[k].unknown);
    }
    printer_put(p, ") {");
    for (uint32_t k = 0; k < n; k++) {
        printer_put(p, k ? " ; " : " ");
        printer_put_term(p, rows[k].lhs, BINDS_OR);
        printer_put(p, k < n_inner ? " := " : " = ");
        printer_put_term(p, rows[k].rhs, BINDS_IF);
        put_from(p, rows[k].equation);
    }
    printer_put(p, " }");
}

static void put_relation(Printer *p, uint32_t index)
{
    const Relation *r = &p->model->relations.at[index];
    text_format(p->to, " k%u ", index + 1);
    printer_put_domain(p, r->domain);
    printer_put_variable(p, r->bit);
    printer_put(p, " := ");
    printer_put_term(p, r->left, BINDS_SUM);
    printer_put(p, r->is_strict ? " > " : " >= ");
    printer_put_term(p, r->right, BINDS_SUM);
    printer_leave_domain(p, r->domain);
    printer_put_choice(p, &relation_words, r->kind);
}

static void put_step(Printer *p, uint32_t index)
{
    const StepFunction *f = &p->model->steps.at[index];
    text_format(p->to, " s%u ", index + 1);
    printer_put_variable(p, f->value);
    printer_put(p, " := ");
    printer_put_step(p, f);
    printer_put_choice(p, &relation_words, f->kind);
}

static void put_transition(Printer *p, uint32_t index)
{
    const Transition *t = &p->model->transitions.at[index];
    printer_put_space(p);
    printer_put_label(p, LABEL_TRANSITION, index);
    if (t->n_conditions || t->domain.index)
        printer_put_space(p);
    printer_put_domain(p, t->domain);
    for (uint32_t k = 0; k < t->n_conditions; k++) {
        printer_put(p, k ? ", " : "when ");
        printer_put_term(p, p->model->conditions.at[t->first_condition + k], BINDS_OR);
    }
    printer_leave_domain(p, t->domain);
}

static void print_block(Printer *p, const Schedule *s, uint32_t index)
{
    const Block *b = &s->blocks.at[index];
    printer_begin_line(p, WORD_BLOCK);
    text_format(p->to, " b%u", index + 1);
    printer_put_choice(p, &block_words, b->kind);
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: put_assignment(p, b); break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN:
        put_rows(p, s->rows.at + block_rows(b).first_row, block_rows(b).n_rows, block_rows(b).n_inner);
        break;
    case BLOCK_RELATION: put_relation(p, b->u.object); break;
    case BLOCK_STEP: put_step(p, b->u.object); break;
    case BLOCK_TRANSITION: put_transition(p, b->u.object); break;
    }
    printer_put_word(p, WORD_LEVEL);
    printer_put_space(p);
    printer_put_number(p, b->level);
    if (b->is_moving)
        printer_put_word(p, WORD_MOVING);
    if (b->is_eager)
        printer_put_word(p, WORD_EAGER);
    if (b->mixed) {
        printer_put_word(p, WORD_MIXED);
        printer_put_space(p);
        printer_put_number(p, b->mixed);
    }
    if (block_check(b)) {
        printer_put_word(p, WORD_CHECKED);
        printer_put_space(p);
        printer_put_variable(p, (VarId){ block_check(b) - 1 });
    }
    if (b->kind == BLOCK_ASSIGN)
        put_from(p, b->equation);
    if (block_solved(b).n_rows) {
        printer_put_word(p, WORD_SOLVES);
        put_rows(p, s->rows.at + block_solved(b).first_row, block_solved(b).n_rows, block_solved(b).n_inner);
    }
    text_char(p->to, '\n');
}

/* ---- the other lines ---- */
static void print_facts(Printer *p, const Schedule *s)
{
    printer_begin_line(p, WORD_FACTS);
    for (uint32_t k = 0; k < schedule_fact_count(); k++) {
        uint32_t value;
        memcpy(&value, (const char *)s + schedule_facts[k].offset, sizeof value);
        printer_put_word(p, schedule_facts[k].word);
        printer_put_space(p);
        printer_put_number(p, value);
    }
    text_char(p->to, '\n');
}

static void print_index(Printer *p, const Schedule *s)
{
    printer_begin_line(p, WORD_INDEX);
    text_format(p->to, " %u", s->figures.index);
    printer_put_word(p, WORD_DIFFERENTIATED);
    text_format(p->to, " %u\n", s->figures.n_differentiated);
}

static void print_part(Printer *p, const Schedule *s, PartKind part)
{
    printer_begin_line(p, WORD_PART);
    printer_put_choice(p, &part_words, part);
    if (part == PART_PARAMETERS)
        put_variables(p, s->parameters.at, s->parameters.n);
    if (part == PART_STARTS)
        put_variables(p, s->starts.at, s->starts.n);
    for (uint32_t k = 0; k < s->parts[part].n; k++)
        text_format(p->to, " b%u", s->parts[part].at[k] + 1);
    text_char(p->to, '\n');
}

static void print_jacobian(Printer *p, const StatePattern *j)
{
    printer_begin_line(p, WORD_JACOBIAN);
    printer_put_word(p, WORD_COLOURS);
    text_format(p->to, " %u\n", j->n_colours);
    for (uint32_t row = 0; row < j->n; row++) {
        printer_begin_line(p, WORD_ROW);
        text_format(p->to, " %u colour %u :", row + 1, j->colour[row] + 1);
        for (uint32_t k = j->start[row]; k < j->start[row + 1]; k++)
            text_format(p->to, " %u", j->index[k] + 1);
        text_char(p->to, '\n');
    }
}

/* The initial system has blocks only: what it does not have is left out. */
static void print_lines(Printer *p, const Schedule *s, bool is_initial)
{
    print_facts(p, s);
    if (s->figures.index)
        print_index(p, s);
    if (!is_initial || s->states.n) {
        printer_begin_line(p, WORD_STATES);
        put_variables(p, s->states.at, s->states.n);
        text_char(p->to, '\n');
    }
    for (uint32_t k = 0; k < s->blocks.n; k++)
        print_block(p, s, k);
    for (PartKind part = 0; part < PART_COUNT; part++)
        if (!is_initial || s->parts[part].n)
            print_part(p, s, part);
    if (s->has_jacobian)
        print_jacobian(p, &s->jacobian);
    if (!s->initial)
        return;
    printer_begin_line(p, WORD_INITIAL);
    text_char(p->to, '\n');
    p->indent++;
    print_lines(p, s->initial, true);
    p->indent--;
    printer_put_end(p, WORD_INITIAL);
}

void schedule_print(const Schedule *s, Text *to)
{
    ModelPrinter mp = printer_create_model(s->model, to, (PrintOptions){ .no_places = true });
    Printer *p = &mp.p;
    for (uint32_t k = 0; k < pool_n_enumerations(s->model->pool); k++) /* numbers as the reader gives them */
        (void)printer_enumeration_label(p, k);
    for (uint32_t k = 0; k < pool_n_tables(s->model->pool); k++)
        (void)printer_table_label(p, pool_get_table(s->model->pool, k));
    printer_put(p, SCHEDULE_FORM " 1 of ");
    printer_put_name(p, s->model->name);
    text_char(to, '\n');
    print_lines(p, s, false);
    printer_put(p, "end ");
    printer_put_name(p, s->model->name);
    text_char(to, '\n');
}
