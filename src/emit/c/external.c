/* See external.h. */
#include "emit/c/external.h"
#include "base/bug.h"
#include "emit/routines.h"
#include "ir/external.h"

enum { LARGE = 2000 }; /* numbers that are copied: such a call goes through the host where there is one */

bool has_externals(const Code *code)
{
    for (uint32_t k = 0; k < code->n_routines; k++)
        if (code->routines[k]->function->external)
            return true;
    return false;
}

uint32_t external_number(const Code *code, const Function *f)
{
    uint32_t number = 1;
    for (uint32_t k = 0; k < code->n_routines && code->routines[k]->function != f; k++)
        number += code->routines[k]->function->external != NULL;
    return number;
}

/* ---- declarations ---- */
static const char *type_of(ExternalParameter p)
{
    if (p.is_text)
        return p.is_address ? "const void **" : "const void *";
    return p.is_size ? "uint64_t" : external_spelling(p);
}

static const char *returned_type(const Function *f)
{
    const char *type = external_returns(f);
    return strchr(type, '*') ? "void *" : type; /* of a text, or an object */
}

static void print_pointer(Text *t, const Function *f, uint32_t number)
{
    const External *e = f->external;
    text_format(t, "static %s (*koine_x%u)(", returned_type(f), number);
    for (uint32_t k = 0; k < e->arguments.n; k++)
        text_format(t, k ? ", %s" : "%s", type_of(external_parameter(f, k)));
    text_add(t, e->arguments.n ? ");\n" : "void);\n");
    text_format(t,
                "static const void *koine_code%u;\nstatic const uint32_t *koine_alarm%u;\n"
                "static const int *koine_failures%u;\n",
                number, number, number);
}

void print_externals(Text *t, const Code *code, Arena *arena)
{
    Text list = { .arena = arena };
    if (!has_externals(code))
        return;
    text_char(t, '\n');
    for (uint32_t k = 0, n = 0; k < code->n_routines; k++) {
        const Function *f = code->routines[k]->function;
        if (!f->external)
            continue;
        print_pointer(t, f, ++n);
        text_format(&list, ", &koine_x%u, &koine_code%u, &koine_alarm%u, &koine_failures%u", n, n, n, n);
    }
    text_format(t,
                "void *const " NATIVE_EXTERNALS
                "[] = { &koine_watched, &koine_after, &koine_text_bytes, &koine_object_of,\n"
                "        &koine_object_made, &koine_text_take, &koine_texts_done%s };\n",
                list.at);
}

/* ---- calls ---- */
static bool is_scalar(const RoutineField *field)
{
    return field->rank == 0;
}

static const char *member_of(const RoutineField *field)
{
    return field->type.kind == TYPE_REAL ? "r" : "i";
}

/* Texts that are handed over, or room for those that it gives. */
static void print_text_array(Printer *p, const RoutinePrinter *rp, uint32_t argument)
{
    const Function *f = rp->routine->function;
    const ExternalArgument *a = &f->external->arguments.at[argument];
    const uint32_t n = rp->routine->fields[a->field].count;
    print_line(p, NULL, "const void *koine_a%u[%u];", argument, n);
    if (a->field >= f->n_inputs) {
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) koine_a%u[i] = 0;", n, argument);
        return;
    }
    print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) {", n);
    print_line(p, NULL, "    if (%s[i].i == (-9223372036854775807 - 1)) { koine_fail(call, %u); goto done; }",
               rp->names[a->field], rp->site | ROUTINE_NO_INT);
    print_line(p, NULL, "    koine_a%u[i] = koine_text_bytes(call, %s[i].i);", argument, rp->names[a->field]);
    print_line(p, NULL, "}");
}

/* All texts that it gives are copied before anything else is looked at. */
static void print_taken(Printer *p, const RoutinePrinter *rp, uint32_t number)
{
    const Function *f = rp->routine->function;
    const External *e = f->external;
    const uint32_t site = rp->site + ROUTINE_NO_TEXT - 1;
    bool any = false;
    for (uint32_t k = 0; k < f->n_outputs && !any; k++)
        any = rp->routine->fields[f->n_inputs + k].type.kind == TYPE_STRING;
    if (!any)
        return;
    print_line(p, NULL, "uint32_t koine_bad = 0;");
    for (uint32_t k = 0; k < e->arguments.n; k++) {
        const ExternalArgument *a = &e->arguments.at[k];
        if (a->kind != EXTERNAL_FIELD || a->field < f->n_inputs || !external_parameter(f, k).is_text)
            continue;
        const RoutineField *field = &rp->routine->fields[a->field];
        if (is_scalar(field))
            print_line(p, NULL, "koine_bad |= koine_takes(call, %u, koine_a%u[0], &%s);", site, k, rp->names[a->field]);
        else
            print_line(p, NULL,
                       "for (int64_t i = 0; i < %u; i++) koine_bad |= koine_takes(call, %u, koine_a%u[i], &%s[i].i);",
                       field->count, site, k, rp->names[a->field]);
    }
    if (e->result != ID_NONE && rp->routine->fields[e->result].type.kind == TYPE_STRING)
        print_line(p, NULL, "koine_bad |= koine_takes(call, %u, koine_result, &%s);", site, rp->names[e->result]);
    print_line(p, NULL, "koine_texts_done(koine_code%u);", number);
    print_line(p, NULL, "if (koine_bad) goto done;");
}

/* Copies for what is handed over by address, and checks of what has to be an int. */
static void print_before(Printer *p, const RoutinePrinter *rp, uint32_t argument)
{
    const Function *f = rp->routine->function;
    const ExternalArgument *a = &f->external->arguments.at[argument];
    if (a->kind != EXTERNAL_FIELD)
        return;
    const RoutineField *field = &rp->routine->fields[a->field];
    const ExternalParameter x = external_parameter(f, argument);
    const char *type = x.is_real ? "double" : "int", *name = rp->names[a->field];
    const bool is_input = a->field < f->n_inputs;
    if (x.is_text && x.is_address) {
        print_text_array(p, rp, argument);
        return;
    }
    if (x.is_text) {
        print_line(p, NULL, "if (%s == (-9223372036854775807 - 1)) { koine_fail(call, %u); goto done; }", name,
                   rp->site | ROUTINE_NO_INT);
        return;
    }
    if (x.is_object) {
        print_line(p, NULL, "void *const koine_a%u = koine_object_of(call, %s);", argument, name);
        print_line(p, NULL, "if (!koine_a%u) { koine_fail(call, %u); goto done; }", argument,
                   rp->site | ROUTINE_NO_OBJECT);
        return;
    }
    if (!x.is_address) {
        if (!x.is_real)
            print_line(p, NULL, "if (%s != (int)%s) { koine_fail(call, %u); goto done; }", name, name,
                       rp->site | ROUTINE_NO_INT);
        return;
    }
    print_line(p, NULL, "%s koine_a%u[%u];", type, argument, field->count);
    if (is_scalar(field)) {
        print_line(p, NULL, "koine_a%u[0] = %s;", argument, field->type.kind == TYPE_ENUM ? "1" : "0");
        return;
    }
    if (is_input)
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) koine_a%u[i] = %s[i].%s;", field->count, argument, name,
                   member_of(field));
    else
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) koine_a%u[i] = %s;", field->count, argument,
                   field->type.kind == TYPE_ENUM ? "1" : "0");
    if (is_input && !x.is_real) {
        print_line(p, NULL, "for (int64_t i = 0; i < %u; i++)", field->count);
        print_line(p, NULL, "    if (%s[i].i != koine_a%u[i]) { koine_fail(call, %u); goto done; }", name, argument,
                   rp->site | ROUTINE_NO_INT);
    }
}

static void print_arguments(Text *t, const RoutinePrinter *rp)
{
    const Function *f = rp->routine->function;
    for (uint32_t k = 0; k < f->external->arguments.n; k++) {
        const ExternalArgument *a = &f->external->arguments.at[k];
        text_add(t, k ? ", " : "");
        switch ((ExternalArgumentKind)a->kind) {
        case EXTERNAL_INTEGER: text_integer(t, a->number.i); break;
        case EXTERNAL_REAL: text_real_point(t, a->number.r); break;
        case EXTERNAL_SIZE: text_format(t, "%u", rp->routine->fields[a->field].extents[a->dimension - 1]); break;
        case EXTERNAL_FIELD:
            if (external_parameter(f, k).is_text && !external_parameter(f, k).is_address)
                text_format(t, "koine_text_bytes(call, %s)", rp->names[a->field]);
            else if (external_parameter(f, k).is_address || external_parameter(f, k).is_object)
                text_format(t, "koine_a%u", k);
            else
                text_format(t, external_parameter(f, k).is_real ? "%s" : "(int)%s", rp->names[a->field]);
            break;
        }
    }
}

/* A result as a number of the model; one that is none fails. */
static void print_result_value(Printer *p, const RoutinePrinter *rp, const char *to, const RoutineField *field,
                               const char *from)
{
    const Type type = field->type;
    const External *e = rp->routine->function->external;
    if (e->object) {
        print_line(p, NULL, "%s = %u;", to, e->object);
        print_line(p, NULL, "if (!koine_object_made(call, %u, %s, koine_code%u)) { koine_fail(call, %u); goto done; }",
                   e->object, from, external_number(p->code, rp->routine->function), rp->site | ROUTINE_NO_OBJECT);
        return;
    }
    print_line(p, NULL, type.kind == TYPE_BOOLEAN ? "%s = %s != 0;" : "%s = %s;", to, from);
    if (type.kind == TYPE_REAL)
        print_line(p, NULL, "if (%s - %s != 0.0) { koine_fail(call, %u); goto done; }", to, to,
                   rp->site | ROUTINE_NOT_FINITE);
    else if (type.kind == TYPE_ENUM)
        print_line(p, NULL, "if (%s < 1 || %s > %u) { koine_fail(call, %u); goto done; }", to, to,
                   (uint32_t)external_last_value(rp->routine->function, type), rp->site | ROUTINE_NO_INT);
}

static void print_after(Printer *p, const RoutinePrinter *rp, uint32_t argument)
{
    const Function *f = rp->routine->function;
    const ExternalArgument *a = &f->external->arguments.at[argument];
    if (a->kind != EXTERNAL_FIELD || a->field < f->n_inputs)
        return;
    const RoutineField *field = &rp->routine->fields[a->field];
    if (field->type.kind == TYPE_STRING) /* taken before */
        return;
    if (is_scalar(field)) {
        print_result_value(p, rp, rp->names[a->field], field, arena_format(p->line, "koine_a%u[0]", argument));
        return;
    }
    print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) {", field->count);
    p->indent++;
    print_result_value(p, rp, arena_format(p->line, "%s[i].%s", rp->names[a->field], member_of(field)), field,
                       arena_format(p->line, "koine_a%u[i]", argument));
    p->indent--;
    print_line(p, NULL, "}");
}

static void print_direct(Printer *p, const RoutinePrinter *rp, uint32_t number)
{
    const External *e = rp->routine->function->external;
    Text arguments = { .arena = p->line };
    for (uint32_t k = 0; k < e->arguments.n; k++)
        print_before(p, rp, k);
    print_arguments(&arguments, rp);
    if (e->result == ID_NONE)
        print_line(p, NULL, "koine_x%u(%s);", number, arguments.n ? arguments.at : "");
    else
        print_line(p, NULL, "%s const koine_result = koine_x%u(%s);", returned_type(rp->routine->function), number,
                   arguments.n ? arguments.at : "");
    print_line(p, NULL,
               "if ((koine_rounds() || *koine_failures%u) && koine_has_failed(call, %u, koine_code%u)) goto done;",
               number, rp->site, number);
    print_taken(p, rp, number);
    for (uint32_t k = 0; k < e->arguments.n; k++)
        print_after(p, rp, k);
    if (e->result != ID_NONE && rp->routine->fields[e->result].type.kind != TYPE_STRING)
        print_result_value(p, rp, rp->names[e->result], &rp->routine->fields[e->result], "koine_result");
}

static bool has_array_output(const Routine *r)
{
    for (uint32_t k = 0; k < r->function->n_outputs; k++)
        if (!is_scalar(&r->fields[r->function->n_inputs + k]))
            return true;
    return false;
}

/* Through the host, which takes and gives all values as slots. */
static void print_watched(Printer *p, const RoutinePrinter *rp, uint32_t number)
{
    const Routine *r = rp->routine;
    const Function *f = r->function;
    print_line(p, NULL, "KoineSlot koine_in[%u];", f->n_inputs + 1u);
    for (uint32_t k = 0; k < f->n_inputs; k++) {
        const RoutineField *field = &r->fields[k];
        if (is_scalar(field))
            print_line(p, NULL, "koine_in[%u].%s = %s;", k, member_of(field), rp->names[k]);
        else
            print_line(p, NULL, "koine_in[%u].i = (int64_t)%s;", k, rp->names[k]);
    }
    const bool has_array = has_array_output(r);
    if (!has_array) /* what others see the address of is no register */
        print_line(p, NULL, "KoineSlot koine_out[%u];", r->width);
    print_line(p, NULL, "koine_watch(call, %u, koine_code%u, koine_in, %s);", rp->site, number,
               has_array ? "out" : "koine_out");
    print_line(p, NULL, "if (call[0].i) goto done;");
    for (uint32_t k = 0; k < f->n_outputs; k++) {
        const RoutineField *field = &r->fields[f->n_inputs + k];
        if (is_scalar(field))
            print_line(p, NULL, "%s = %s[%u].%s;", rp->names[f->n_inputs + k], has_array ? "out" : "koine_out",
                       routine_offset(r, k), member_of(field));
    }
}

static bool is_large(const Routine *r)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_fields; k++)
        n += r->fields[k].count;
    return n > LARGE;
}

void print_external_body(Printer *p, const RoutinePrinter *rp)
{
    const Routine *r = rp->routine;
    const Function *f = r->function;
    const uint32_t number = external_number(p->code, f);
    p->needs.externals = true;
    if (!f->is_pure) /* an argument has failed */
        print_line(p, NULL, "if (call[0].i) goto done;");
    if (f->external->object) { /* the start is tried once more */
        print_line(p, NULL, "if (koine_object_of(call, %u)) { out[0].i = %u; return; }", f->external->object,
                   f->external->object);
    }
    print_line(p, NULL, "if (koine_is_due(call, koine_alarm%u)%s) {", number, is_large(r) ? " || koine_watched" : "");
    p->indent++;
    print_watched(p, rp, number);
    p->indent--;
    print_line(p, NULL, "} else {");
    p->indent++;
    print_direct(p, rp, number);
    p->indent--;
    print_line(p, NULL, "}");
    for (uint32_t k = 0; k < f->n_outputs; k++) {
        const RoutineField *field = &r->fields[f->n_inputs + k];
        if (is_scalar(field))
            print_line(p, NULL, "out[%u].%s = %s;", routine_offset(r, k), member_of(field), rp->names[f->n_inputs + k]);
    }
    print_line(p, NULL, "return;");
}
