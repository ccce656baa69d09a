/* See routine.h. */
#include "emit/c/routine.h"
#include "base/ascii.h"
#include "base/bug.h"
#include "emit/c/external.h"
#include "emit/c/model_text.h"
#include "emit/routines.h"

const char *routine_slot_name(const RoutinePrinter *rp, uint32_t slot)
{
    for (uint32_t k = 0; k < rp->routine->n_fields; k++)
        if (rp->routine->fields[k].first == slot)
            return rp->names[k];
    BUG("a slot without field");
}

/* ---- names ---- */
static const char *function_spelling(Printer *p, const Function *f)
{
    const Code *code = p->code;
    const char *name = model_identifier(p->arena, names_of(pool_names(code->pool), f->name));
    return arena_format(p->arena, "f%u_%s", routine_number(code, f) + 1, name);
}

/* A field keeps its name if that is free in C and told apart from the names the printer makes. */
static const char *field_spelling(Printer *p, const Routine *r, uint32_t field, const char *const *before)
{
    const char *name = names_of(pool_names(p->code->pool), r->fields[field].name);
    const char *text = model_identifier(p->arena, name);
    bool is_free = strlen(text) > 1 || (is_letter(*text) && *text != 'm' && *text != 'n' && *text != 'i');
    is_free = is_free && is_letter(*text) && !is_prelude_name(text) && strcmp(text, "call") != 0 &&
              strcmp(text, "out") != 0 && strcmp(text, "done") != 0 && strcmp(text, name) == 0;
    if ((*text == 't' || *text == 'u' || *text == 'k' || *text == 'f') && is_digit(text[1]))
        is_free = false;
    for (uint32_t k = 0; k < field; k++)
        is_free = is_free && strcmp(before[k], text) != 0;
    return is_free ? text : arena_format(p->arena, "v%u_%s", field, text);
}

/* ---- calls ---- */
static const char *member_of(Type type)
{
    return type.kind == TYPE_REAL ? "r" : "i";
}

/* [i - 1], [3*i + j - 4] */
static void print_inside(Text *t, const RoutinePrinter *rp, uint32_t field, const Expr *const *index)
{
    const RoutinePlace place = routine_place(rp->routine, field, index);
    text_format(t, "%s[", rp->names[field]);
    for (uint32_t k = 0; k < place.n; k++) {
        text_add(t, k ? " + " : "");
        if (place.terms[k].factor != 1)
            text_format(t, "%d * ", (int)place.terms[k].factor);
        text_add(t, routine_slot_name(rp, place.terms[k].slot));
    }
    if (place.n == 0 || place.first)
        text_format(t, place.n ? " + %lld" : "%lld", (long long)place.first);
    text_format(t, "].%s", member_of(rp->routine->fields[field].type));
}

static void print_element(Printer *p, Text *t, uint32_t field, const Expr *const *index, const char *const *spelled)
{
    const RoutinePrinter *rp = p->places.routine;
    const RoutineField *f = &rp->routine->fields[field];
    text_format(t, "%s[", rp->names[field]);
    for (uint32_t k = 2; k < f->rank; k++)
        text_char(t, '(');
    for (uint32_t k = 0; k < f->rank; k++) {
        if (k)
            text_format(t, "%s * %u + ", k > 1 ? ")" : "", f->extents[k]);
        text_format(t, "koine_index(call, %u, ", rp->site);
        if (spelled)
            text_add(t, spelled[k]);
        else
            print_argument(p, t, index[k]);
        text_format(t, ", %u)", f->extents[k]);
    }
    text_format(t, "].%s", member_of(f->type));
}

void print_routine_call(Printer *p, Text *t, const Expr *e, const char *out)
{
    if (is_inside_element(e)) {
        print_inside(t, p->places.routine, e->result, e->args);
        return;
    }
    if (is_element(e)) {
        print_element(p, t, e->result, e->args, NULL);
        return;
    }
    text_format(t, "%s%s(", function_spelling(p, e->u.function), e->type.rank > 0 ? "" : "_1");
    if (p->places.spelling == SPELL_ROUTINE)
        text_add(t, "call");
    else
        text_format(t, "koine_outside(m + %u)", p->code->calls);
    if (e->type.rank > 0)
        text_format(t, ", %s", out);
    for (uint32_t k = 0; k < e->n_args; k++) {
        text_add(t, ", ");
        print_argument(p, t, e->args[k]);
    }
    text_char(t, ')');
}

/* ---- statements ---- */
static const char *c_type(Type type)
{
    return type.kind == TYPE_REAL ? "double" : "int64_t";
}

static void print_list(Printer *p, RoutinePrinter *rp, uint32_t first);

/* A fault in what was computed leaves the function. */
static void print_checks(Printer *p, const RoutinePrinter *rp, const char *target, Type type, bool may_fail,
                         bool is_good)
{
    if (may_fail)
        print_line(p, NULL, "if (call[0].i) goto done;");
    if (!target || is_good)
        return;
    const char *fails = type.kind == TYPE_REAL ? arena_format(p->line, "%s - %s != 0.0", target, target)
                                               : arena_format(p->line, "%s == (-9223372036854775807 - 1)", target);
    print_line(p, NULL, "if (%s) { koine_fail(call, %u); goto done; }", fails, rp->site | ROUTINE_NOT_FINITE);
}

/* All elements are looked at before the first one is written. */
static void print_whole(Printer *p, const RoutinePrinter *rp, const RoutineStep *step)
{
    const RoutineField *field = &rp->routine->fields[step->field];
    const char *target = rp->names[step->field];
    print_line(p, NULL, "{");
    p->indent++;
    const char *value = print_value(p, step->value);
    print_line(p, NULL, "const KoineSlot *const koine_value = %s;", value);
    print_checks(p, rp, NULL, field->type, routine_may_fail(step->value), true);
    const char *fails = field->type.kind == TYPE_REAL ? "koine_value[i].r - koine_value[i].r != 0.0"
                                                      : "koine_value[i].i == (-9223372036854775807 - 1)";
    if (!step->is_raw) {
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++)", field->count);
        print_line(p, NULL, "    if (%s) { koine_fail(call, %u); goto done; }", fails, rp->site | ROUTINE_NOT_FINITE);
    }
    print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) %s[i].i = koine_value[i].i;", field->count, target);
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_value_check(Printer *p, const RoutinePrinter *rp, const RoutineStep *step, const char *target)
{
    const Type type = rp->routine->fields[step->field].type;
    const Expr *e = step->value;
    print_checks(p, rp, target, type, routine_may_fail(e),
                 step->is_late || (expr_is_constant(e) && value_is_good(type, (Value){ .i = e->u.integer })));
}

static void print_element_assignment(Printer *p, RoutinePrinter *rp, const RoutineStep *step)
{
    const RoutineField *field = &rp->routine->fields[step->field];
    const char *spelled[ROUTINE_RANK];
    Text element = { .arena = p->line };
    print_line(p, NULL, "{");
    p->indent++;
    for (uint32_t k = 0; k < field->rank && !step->is_inside; k++) {
        spelled[k] = arena_format(p->line, "koine_at%u", k);
        p->temporaries.n = 100 * (k + 1);
        const char *index = print_value(p, step->index[k]);
        print_line(p, NULL, "const int64_t %s = %s;", spelled[k], index);
    }
    const char *value = print_value(p, step->value);
    print_line(p, NULL, "const %s koine_value = %s;", c_type(field->type), value);
    if (step->is_inside) {
        print_inside(&element, rp, step->field, step->index);
        print_line(p, NULL, "%s = koine_value;", element.at);
        print_value_check(p, rp, step, "koine_value");
    } else {
        print_checks(p, rp, NULL, field->type, true, true);
        print_element(p, &element, step->field, NULL, spelled);
        print_line(p, NULL, "%s = koine_value;", element.at);
        print_checks(p, rp, "koine_value", field->type, true, false);
    }
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_assignment(Printer *p, RoutinePrinter *rp, const RoutineStep *step)
{
    const RoutineField *field = &rp->routine->fields[step->field];
    const char *target = rp->names[step->field];
    if (is_whole_assignment(field, step)) {
        print_whole(p, rp, step);
        return;
    }
    if (field->rank > 0) {
        print_element_assignment(p, rp, step);
        return;
    }
    const bool is_block = is_statement_block(p, step->value);
    if (is_block) {
        print_line(p, NULL, "{");
        p->indent++;
    }
    const char *value = print_value(p, step->value);
    print_line(p, NULL, "%s = %s;", target, value);
    print_value_check(p, rp, step, target);
    if (is_block) {
        p->indent--;
        print_line(p, NULL, "}");
    }
}

static void print_counted(Printer *p, RoutinePrinter *rp, const RoutineStep *step)
{
    const RoutineLoop *loop = step->loop;
    const char *variable = rp->names[loop->variable], *limit = rp->names[loop->limit];
    print_line(p, NULL, "if (!koine_trips(call, %u, %s, %s, %d)) goto done;", rp->site, variable, limit, loop->by);
    print_line(p, NULL, "for (; %s %s %s; %s += %d) {", variable, loop->by > 0 ? "<=" : ">=", limit, variable,
               loop->by);
    p->indent++;
    print_list(p, rp, step->inner);
    p->indent--;
    print_line(p, NULL, "}");
    for (uint32_t k = 0; k < loop->n_late; k++) {
        const RoutineStep *late = &rp->routine->steps[loop->late[k]];
        rp->site = routine_site(rp->first_site, loop->late[k]);
        print_checks(p, rp, rp->names[late->field], REAL_TYPE, false, false);
    }
}

static void print_loop(Printer *p, RoutinePrinter *rp, const RoutineStep *step)
{
    print_line(p, NULL, "for (;;) {");
    p->indent++;
    const char *condition = print_value(p, step->value);
    print_line(p, NULL, "if (!(%s)) break;", condition);
    print_checks(p, rp, NULL, BOOLEAN_TYPE, routine_may_fail(step->value), true);
    print_line(p, NULL, "if (!koine_count(call, %u)) goto done;", rp->site);
    print_list(p, rp, step->inner);
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_if(Printer *p, RoutinePrinter *rp, const RoutineStep *step)
{
    print_line(p, NULL, "{");
    p->indent++;
    const char *condition = print_value(p, step->value);
    print_line(p, NULL, "const int64_t koine_holds = %s;", condition);
    print_checks(p, rp, NULL, BOOLEAN_TYPE, routine_may_fail(step->value), true);
    if (step->kind == STATEMENT_ASSERT) {
        print_line(p, NULL, "if (!koine_holds) {");
        p->indent++;
        if (step->message)
            print_line(p, NULL, "call[%d].i = %s;", CALL_MESSAGE, print_value(p, step->message));
        print_line(p, NULL, "koine_fail(call, %u);", rp->site | ROUTINE_CHECK);
        print_line(p, NULL, "goto done;");
        p->indent--;
        print_line(p, NULL, "}");
    } else {
        print_line(p, NULL, "if (koine_holds) {");
        p->indent++;
        print_list(p, rp, step->inner);
        p->indent--;
        if (step->otherwise) {
            print_line(p, NULL, "} else {");
            p->indent++;
            print_list(p, rp, step->otherwise);
            p->indent--;
        }
        print_line(p, NULL, "}");
    }
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_list(Printer *p, RoutinePrinter *rp, uint32_t first)
{
    for (uint32_t k = first; k; k = rp->routine->steps[k].next) {
        const RoutineStep *step = &rp->routine->steps[k];
        rp->site = routine_site(rp->first_site, k);
        switch ((StatementKind)step->kind) {
        case STATEMENT_ASSIGN:
            if (!step->is_advance)
                print_assignment(p, rp, step);
            break;
        case STATEMENT_WHILE:
            if (step->loop)
                print_counted(p, rp, step);
            else
                print_loop(p, rp, step);
            break;
        case STATEMENT_IF:
        case STATEMENT_ASSERT: print_if(p, rp, step); break;
        case STATEMENT_BREAK: print_line(p, NULL, "break;"); break;
        case STATEMENT_RETURN: print_line(p, NULL, "goto done;"); break;
        case STATEMENT_SEND:
        case STATEMENT_TOGETHER:
        case STATEMENT_FOR: BUG("not a step of a routine");
        }
    }
}

/* ---- functions ---- */
static const char *input_type(const RoutineField *field)
{
    return field->is_pointer ? "const KoineSlot *restrict " : field->type.kind == TYPE_REAL ? "double " : "int64_t ";
}

static void print_head(Printer *p, const RoutinePrinter *rp, const char *ending)
{
    const Function *f = rp->routine->function;
    Text head = { .arena = p->line };
    text_format(&head, "static %svoid %s(KoineSlot *call, KoineSlot *restrict out", f->external ? "inline " : "",
                function_spelling(p, f));
    for (uint32_t k = 0; k < f->n_inputs; k++)
        text_format(&head, ", %s%s", input_type(&rp->routine->fields[k]), rp->names[k]);
    p->indent = 0;
    print_line(p, NULL, "%s)%s", head.at, ending);
}

static const char *begin_bits(Printer *p, const RoutineField *field)
{
    if (field->begin.i == INTEGER_FAULT)
        return "(-9223372036854775807 - 1)";
    return arena_format(p->line, field->begin.i > -10 && field->begin.i < 1000 ? "%lld" : "0x%llx",
                        (long long)field->begin.i);
}

static const char *begin_text(Printer *p, const RoutineField *field)
{
    if (field->type.kind != TYPE_REAL)
        return begin_bits(p, field);
    if (field->begin.r - field->begin.r != 0)
        return arena_format(p->line, "((KoineSlot){ .i = %s }).r", begin_bits(p, field));
    Text number = { .arena = p->line };
    text_real_point(&number, field->begin.r);
    return number.at;
}

static void print_data(Printer *p, const RoutineField *field, const char *name)
{
    enum { PER_LINE = 8 };
    print_line(p, NULL, "static const KoineSlot %s[%u] = {", name, field->count);
    for (uint32_t k = 0; k < field->count; k += PER_LINE) {
        Text line = { .arena = p->line };
        for (uint32_t j = k; j < k + PER_LINE && j < field->count; j++) {
            text_format(&line, "{ .%s = ", member_of(field->type));
            if (field->type.kind == TYPE_REAL)
                text_real_point(&line, field->data[j].r);
            else
                text_integer(&line, field->data[j].i);
            text_add(&line, " }, ");
        }
        print_line(p, NULL, "    %s", line.at);
    }
    print_line(p, NULL, "};");
}

static void print_fields(Printer *p, const RoutinePrinter *rp)
{
    const Routine *r = rp->routine;
    for (uint32_t k = r->function->n_inputs; k < r->n_fields; k++) {
        const RoutineField *field = &r->fields[k];
        if (field->rank == 0) {
            print_line(p, NULL, "%s %s = %s;", c_type(field->type), rp->names[k], begin_text(p, field));
            continue;
        }
        if (field->data) {
            print_data(p, field, rp->names[k]);
            continue;
        }
        const bool is_output = k < r->function->n_inputs + r->function->n_outputs;
        if (is_output)
            print_line(p, NULL, "KoineSlot *const %s = out + %u;", rp->names[k],
                       routine_offset(r, k - r->function->n_inputs));
        else
            print_line(p, NULL, "KoineSlot %s[%u];", rp->names[k], field->count);
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) %s[i].i = %s;", field->count, rp->names[k],
                   begin_bits(p, field));
    }
    Text unused = { .arena = p->line };
    for (uint32_t k = 0; k < r->n_fields; k++)
        if (k < r->function->n_inputs || k >= r->function->n_inputs + r->function->n_outputs)
            text_format(&unused, "%s(void)%s", unused.n ? ", " : "", rp->names[k]);
    if (unused.n)
        print_line(p, NULL, "%s;", unused.at);
}

static void print_output(Printer *p, const RoutinePrinter *rp, uint32_t output)
{
    const uint32_t number = rp->routine->function->n_inputs + output, at = routine_offset(rp->routine, output);
    const RoutineField *field = &rp->routine->fields[number];
    const KoineSlot none = routine_no_value(field->type);
    const char *value = none.i == INTEGER_FAULT ? "(-9223372036854775807 - 1)"
                                                : arena_format(p->line, "0x%llx", (unsigned long long)none.i);
    if (field->rank > 0) {
        print_line(p, NULL, "for (int64_t i = 0; i < %u && call[0].i; i++) %s[i].i = %s;", field->count,
                   rp->names[number], value);
        return;
    }
    print_line(p, NULL, "out[%u].%s = %s;", at, member_of(field->type), rp->names[number]);
    print_line(p, NULL, "if (call[0].i) out[%u].i = %s;", at, value);
}

static void print_routine(Printer *p, RoutinePrinter *rp)
{
    const Function *f = rp->routine->function;
    text_char(p->out, '\n');
    print_head(p, rp, "");
    print_line(p, NULL, "{");
    p->indent = 1;
    print_fields(p, rp);
    rp->site = routine_site(rp->first_site, 0);
    if (f->external) {
        print_external_body(p, rp);
    } else {
        print_line(p, NULL, "if (!koine_enter(call, %u, %u)) goto done;", rp->site, routine_room(rp->routine, 0));
        print_list(p, rp, rp->routine->first);
    }
    p->indent = 0;
    print_line(p, NULL, "done:");
    p->indent = 1;
    if (!f->external)
        print_line(p, NULL, "call[1].i -= %u + call[9].i;", routine_room(rp->routine, 0));
    for (uint32_t k = 0; k < f->n_outputs; k++)
        print_output(p, rp, k);
    p->indent = 0;
    print_line(p, NULL, "}");
}

/* A function that returns the one number that is the result: what expressions call. */
static void print_result(Printer *p, const RoutinePrinter *rp, bool is_declaration)
{
    const Function *f = rp->routine->function;
    const Type type = rp->routine->fields[f->n_inputs].type;
    Text head = { .arena = p->line }, arguments = { .arena = p->line };
    if (rp->routine->width > 1)
        return;
    for (uint32_t j = 0; j < f->n_inputs; j++) {
        text_format(&head, ", %s%s", input_type(&rp->routine->fields[j]), rp->names[j]);
        text_format(&arguments, ", %s", rp->names[j]);
    }
    p->indent = 0;
    print_line(p, NULL, "static inline %s %s_1(KoineSlot *call%s)%s", c_type(type), function_spelling(p, f),
               head.at ? head.at : "", is_declaration ? ";" : "");
    if (is_declaration)
        return;
    print_line(p, NULL, "{");
    p->indent = 1;
    print_line(p, NULL, "KoineSlot out[1];");
    print_line(p, NULL, "%s(call, out%s);", function_spelling(p, f), arguments.at ? arguments.at : "");
    print_line(p, NULL, "return out[0].%s;", member_of(type));
    p->indent = 0;
    print_line(p, NULL, "}");
}

void print_routines(Printer *p)
{
    const Code *code = p->code;
    RoutinePrinter *printers = NEW_ARRAY(p->arena, RoutinePrinter, code->n_routines);
    if (code->n_routines == 0)
        return;
    p->needs.calls = true;
    p->places.spelling = SPELL_ROUTINE;
    text_char(p->out, '\n');
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const Routine *r = code->routines[k];
        const char **names = NEW_ARRAY(p->arena, const char *, r->n_fields);
        for (uint32_t j = 0; j < r->n_fields; j++)
            names[j] = field_spelling(p, r, j, names);
        printers[k] = (RoutinePrinter){ r, names, routine_first_site(code, k), 0 };
        print_head(p, &printers[k], ";");
        print_result(p, &printers[k], true);
    }
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const ArenaMark mark = arena_mark(p->line);
        p->places.routine = &printers[k];
        print_routine(p, &printers[k]);
        print_result(p, &printers[k], false);
        arena_reset(p->line, mark);
    }
    p->places.routine = NULL;
    p->kernel = NULL;
}
