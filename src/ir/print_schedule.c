#include "ir/print_schedule.h"
#include "base/bug.h"
#include "ir/print.h"

static const char *const part_names[PART_COUNT] = {
    [PART_PARAMETERS] = "parameters", [PART_STARTS] = "starts",   [PART_DERIVATIVES] = "derivatives",
    [PART_ROOTS] = "roots",           [PART_OUTPUTS] = "outputs", [PART_EVENT] = "event"
};

const char *part_name(PartKind part)
{
    return part_names[part];
}

static void add_ref(const Model *m, Ref ref, Text *to)
{
    const char *path = variable_path(m, ref.var, to->arena);
    text_format(to, ref.kind == REF_DER ? "der(%s)" : "%s", path);
}

static void print_domain(const Model *m, DomainId domain, Text *to)
{
    const Domain *d = &m->domains.at[domain.index];
    for (uint32_t k = 0; k < d->n; k++) {
        const Iterator *it = &m->iterators.at[d->first + k];
        text_format(to, "%s %s in %lld:%lld:%lld", k ? "," : " for", names_of(pool_names(m->pool), it->name),
                    (long long)it->first, (long long)it->stride, (long long)(it->first + it->stride * (it->count - 1)));
    }
    if (d->n)
        text_char(to, ':');
}

static void print_rows(const Schedule *s, const Block *b, Text *to)
{
    text_format(to, " size %u (", b->n_rows);
    for (uint32_t k = 0; k < b->n_rows; k++) {
        if (k)
            text_add(to, ", ");
        add_ref(s->model, s->rows.at[b->first_row + k].unknown, to);
    }
    text_add(to, ") {");
    for (uint32_t k = 0; k < b->n_rows; k++) {
        const SystemRow *row = &s->rows.at[b->first_row + k];
        text_add(to, k ? " ; " : " ");
        term_print(s->model, row->lhs, (DomainId){ 0 }, to);
        text_add(to, " = ");
        term_print(s->model, row->rhs, (DomainId){ 0 }, to);
    }
    text_add(to, " }");
}

static void print_block(const Schedule *s, uint32_t index, Text *to)
{
    static const char *const kinds[] = {
        [BLOCK_ASSIGN] = "assign",     [BLOCK_LINEAR] = "linear", [BLOCK_NEWTON] = "newton",
        [BLOCK_RELATION] = "relation", [BLOCK_STEP] = "stepfn",   [BLOCK_TRANSITION] = "transition"
    };
    const Model *m = s->model;
    const Block *b = &s->blocks.at[index];
    text_format(to, "block b%u %s", index + 1, kinds[b->kind]);
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
        print_domain(m, b->domain, to);
        text_char(to, ' ');
        term_print(m, b->lhs, b->domain, to);
        text_add(to, " := ");
        term_print(m, b->rhs, b->domain, to);
        break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON: print_rows(s, b, to); break;
    case BLOCK_RELATION: {
        const Relation *r = &m->relations.at[b->object];
        text_char(to, ' ');
        add_ref(m, ref_now(r->bit), to);
        text_add(to, " := ");
        term_print(m, r->left, (DomainId){ 0 }, to);
        text_add(to, r->is_strict ? " > " : " >= ");
        term_print(m, r->right, (DomainId){ 0 }, to);
        text_add(to, r->kind == RELATION_TIME ? " time" : " state");
        break;
    }
    case BLOCK_STEP: {
        const StepFunction *f = &m->steps.at[b->object];
        text_char(to, ' ');
        add_ref(m, ref_now(f->value), to);
        text_add(to, " of ");
        term_print(m, f->argument, (DomainId){ 0 }, to);
        text_add(to, f->kind == RELATION_TIME ? " time" : " state");
        break;
    }
    case BLOCK_TRANSITION: {
        const Transition *t = &m->transitions.at[b->object];
        text_format(to, " t%u when", b->object + 1);
        for (uint32_t k = 0; k < t->n_conditions; k++) {
            text_add(to, k ? ", " : " ");
            term_print(m, m->conditions.at[t->first_condition + k], (DomainId){ 0 }, to);
        }
        break;
    }
    }
    text_format(to, " level %u%s%s\n", b->level, b->is_moving ? " moving" : "", b->is_eager ? " eager" : "");
}

static void print_part(const Schedule *s, PartKind part, Text *to)
{
    text_format(to, "part %s", part_names[part]);
    if (part == PART_PARAMETERS || part == PART_STARTS) {
        const VarId *variables = part == PART_PARAMETERS ? s->parameters.at : s->starts.at;
        const uint32_t n = part == PART_PARAMETERS ? s->parameters.n : s->starts.n;
        for (uint32_t k = 0; k < n; k++) {
            text_char(to, ' ');
            add_ref(s->model, ref_now(variables[k]), to);
        }
    }
    for (uint32_t k = 0; k < s->parts[part].n; k++)
        text_format(to, " b%u", s->parts[part].at[k] + 1);
    text_char(to, '\n');
}

void schedule_print(const Schedule *s, Text *to)
{
    const Model *m = s->model;
    const char *name = names_of(pool_names(m->pool), m->name);
    text_format(to, "koine-schedule 1 of %s\n", name);
    text_format(to, "facts equations %u aliases %u blocks %u largest %u states %u roots %u calendar %u\n",
                s->n_equations, s->n_aliases, s->blocks.n, s->largest_block, s->states.n, s->n_roots, s->n_calendar);
    text_add(to, "states");
    for (uint32_t k = 0; k < s->states.n; k++) {
        text_char(to, ' ');
        add_ref(m, ref_now(s->states.at[k]), to);
    }
    text_char(to, '\n');
    for (uint32_t k = 0; k < s->blocks.n; k++)
        print_block(s, k, to);
    for (PartKind part = 0; part < PART_COUNT; part++)
        print_part(s, part, to);
    if (s->has_jacobian) {
        text_format(to, "jacobian colours %u", s->jacobian.n_colours);
        for (uint32_t row = 0; row < s->jacobian.n; row++)
            for (uint32_t k = s->jacobian.start[row]; k < s->jacobian.start[row + 1]; k++)
                text_format(to, " (%u,%u)", row + 1, s->jacobian.index[k] + 1);
        text_char(to, '\n');
    }
    text_format(to, "end %s\n", name);
}
