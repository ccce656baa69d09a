/* Sections and kernels as C functions; see print.h. */
#include "emit/c/print.h"
#include "emit/c/external.h"
#include "emit/c/expression.h"
#include "emit/c/model_text.h"
#include "emit/c/routine.h"
#include "emit/c/vet.h"
#include "emit/runs.h"

enum {
    STRAIGHT_ELEMENTS = 3, /* longer runs are loops */
    PART_EQUATIONS = 50 /* a function: small enough for the compiler's quadratic passes, large enough to be worth one */
};

/* ---- kernels ---- */
static void print_kernel(Printer *p, uint32_t number)
{
    const Kernel *kernel = &p->code->kernels[number];
    p->places.spelling = kernel->strides ? SPELL_AFFINE : SPELL_ROW;
    p->places.strides = kernel->strides;
    begin_kernel(p, number);
    text_char(p->out, '\n');
    if (kernel->comment) {
        model_comment(p->out, kernel->comment);
        text_char(p->out, '\n');
    }
    text_format(p->out, "static void k%u(KoineSlot *m, const uint32_t *row, uint32_t n)\n{\n", number);
    p->indent = 1;
    if (kernel->strides)
        print_line(p, NULL, "for (int64_t i = 0; i < n; i++) {");
    else
        print_line(p, NULL, "for (; n > 0; n--, row += %u) {", kernel_row_words(kernel));
    p->indent++;
    print_statements(p, NULL);
    p->indent--;
    print_line(p, NULL, "}");
    text_add(p->out, "}\n");
}

/* ---- sections ---- */
typedef struct {
    Printer *printer;
    RunCheck check;
    Text body; /* of the function at work */
    uint32_t n_equations, n_parts;
    bool uses_rows;
    VEC(int32_t) strides;
    Arena *arena;
} SectionPrinter;

static void print_straight(Printer *p, const Run *run)
{
    p->places.spelling = SPELL_STRAIGHT;
    p->places.row = p->code->rows + run->row;
    for (p->places.element = 0; p->places.element < run->n; p->places.element++) {
        begin_kernel(p, run->kernel);
        if (needs_block(p)) {
            print_line(p, run->comment, "{");
            p->indent++;
            print_statements(p, NULL);
            p->indent--;
            print_line(p, NULL, "}");
        } else
            print_statements(p, run->comment);
    }
}

static void print_loop(Printer *p, const Run *run, const int32_t *strides, bool is_independent)
{
    p->places.spelling = SPELL_LOOP;
    p->places.strides = strides;
    p->places.row = p->code->rows + run->row;
    begin_kernel(p, run->kernel);
    print_line(p, run->comment, "{");
    p->indent++;
    p->places.is_hoisted = is_independent; /* else the run may change them */
    if (is_independent) {
        print_invariants(p);
        p->needs.loops = true;
        print_line(p, NULL, "KOINE_INDEPENDENT");
    }
    print_line(p, NULL, "for (int64_t i = 0; i < %u; i++) {", run->n);
    p->indent++;
    print_statements(p, NULL);
    p->indent--;
    print_line(p, NULL, "}");
    p->indent--;
    print_line(p, NULL, "}");
}

/* A table may be more regular than its kernel: then a loop needs no table. */
static bool find_strides(SectionPrinter *s, const Run *run)
{
    const Kernel *kernel = &s->printer->code->kernels[run->kernel];
    const uint32_t *row = s->printer->code->rows + run->row;
    const uint32_t row_words = kernel_row_words(kernel);
    vec_reserve(s->arena, &s->strides, row_words);
    for (uint32_t k = 0; k < row_words; k++) {
        const uint32_t stride = row[row_words + k] - row[k];
        for (uint32_t i = 1; i < run->n; i++)
            if (row[(size_t)i * row_words + k] != row[k] + i * stride)
                return false;
        s->strides.at[k] = (int32_t)stride;
    }
    return true;
}

static void print_run(SectionPrinter *s, uint32_t number)
{
    Printer *p = s->printer;
    const Run *run = &p->code->runs[number];
    s->n_equations += run->n <= STRAIGHT_ELEMENTS ? run->n : 1;
    if (run->n <= STRAIGHT_ELEMENTS)
        print_straight(p, run);
    else if (p->code->kernels[run->kernel].strides)
        print_loop(p, run, p->code->kernels[run->kernel].strides, run_is_independent(&s->check, number));
    else if (find_strides(s, run))
        print_loop(p, run, s->strides.at, run_is_independent(&s->check, number));
    else {
        s->uses_rows = true;
        print_line(p, run->comment, "k%u(m, rows + %u, %u);", run->kernel, run->row, run->n);
    }
}

static void open_body(SectionPrinter *s)
{
    s->body = (Text){ .arena = s->arena };
    s->printer->out = &s->body;
    s->printer->indent = 1;
    s->n_equations = 0;
    s->uses_rows = false;
}

static void close_body(SectionPrinter *s, Text *out, const char *name, uint32_t part)
{
    if (part)
        text_format(out, "\nKOINE_PART void %s_part_%u(KoineSlot *m, const uint32_t *rows)\n{\n", name, part);
    else
        text_format(out, "\nstatic inline void %s(KoineSlot *m, const uint32_t *rows)\n{\n", name);
    if (!s->body.n)
        text_add(out, "    (void)m;\n");
    if (!s->uses_rows)
        text_add(out, "    (void)rows;\n");
    if (s->body.n)
        text_bytes(out, s->body.at, s->body.n);
    text_add(out, "}\n");
}

static void print_section(SectionPrinter *s, const Section *section, Text *out)
{
    s->n_parts = 0;
    open_body(s);
    for (uint32_t k = 0; k < section->n_runs; k++) {
        if (s->n_equations >= PART_EQUATIONS) {
            close_body(s, out, section->name, ++s->n_parts);
            open_body(s);
        }
        print_run(s, section->first_run + k);
    }
    if (s->n_parts == 0) {
        close_body(s, out, section->name, 0);
        return;
    }
    close_body(s, out, section->name, ++s->n_parts);
    s->printer->needs.parts = true;
    open_body(s);
    for (uint32_t k = 1; k <= s->n_parts; k++)
        print_line(s->printer, NULL, "%s_part_%u(m, rows);", section->name, k);
    s->uses_rows = true;
    close_body(s, out, section->name, 0);
}

/* ---- the whole ---- */
static void print_slots(Text *text, const Identifiers *ids)
{
    uint32_t left = ids->n_used;
    if (left)
        text_add(text, "\nenum { /* slots of the block */\n");
    for (uint32_t slot = 0; slot < ids->code->n_slots && left; slot++) {
        if (!ids->of_slot[slot])
            continue;
        const char *name = ids->code->slot_names[slot];
        text_format(text, "    %s = %u%s", ids->of_slot[slot], slot, --left ? "," : "");
        if (strcmp(ids->of_slot[slot], name) != 0) {
            text_char(text, ' ');
            model_comment(text, name);
        }
        text_add(text, left ? "\n" : "\n};\n");
    }
}

static void print_tables(Text *text, const Printer *p)
{
    for (uint32_t k = 0; k < p->tables.n; k++) {
        const uint32_t order = p->tables.at[k] % TABLE_ORDERS;
        const Table *table = pool_get_table(p->code->pool, p->tables.at[k] / TABLE_ORDERS);
        const uint32_t n = table_data_size(table);
        text_format(text, "\nstatic const double koine_table_%u[%u] = {", k + 1, n);
        for (uint32_t i = 0; i < n; i++) {
            text_add(text, i % 5 == 2 % 5 || i == 0 ? "\n    " : " ");
            text_real_point(text, table->data[order][i]);
            text_add(text, i + 1 < n ? "," : "\n};\n");
        }
    }
}

static void print_table(Text *text, const Code *code, bool has_texts)
{
    text_format(text, "\nstatic void (*const koine_sections[%u])(KoineSlot *m, const uint32_t *rows) = {\n",
                code->n_sections + 1); /* one more: an array must not be empty */
    for (uint32_t k = 0; k < code->n_sections; k++)
        text_format(text, "    [%u] = %s,\n", k, code->sections[k].name);
    text_format(text,
                "    [%u] = 0\n};\n"
                "static void (*const koine_kernels[%u])(KoineSlot *m, const uint32_t *row, uint32_t n) = {\n",
                code->n_sections, code->n_kernels + 1);
    for (uint32_t k = 0; k < code->n_kernels; k++)
        if (code->kernels[k].is_shared)
            text_format(text, "    [%u] = k%u,\n", k, k);
    text_format(text,
                "    [%u] = 0\n};\n"
                "const struct {\n"
                "    uint64_t n_sections, n_kernels;\n"
                "    void (*const *sections)(KoineSlot *m, const uint32_t *rows);\n"
                "    void (*const *kernels)(KoineSlot *m, const uint32_t *row, uint32_t n);\n"
                "    void *text;\n"
                "} " NATIVE_TABLE " = { %u, %u, koine_sections, koine_kernels, %s };\n",
                code->n_kernels, code->n_sections, code->n_kernels, has_texts ? "&koine_text_function" : "0");
    if (code->derivatives_section != KOINE_NONE)
        text_format(text,
                    "\nint " NATIVE_DERIVATIVES "(KoineModel *model);\n"
                    "int " NATIVE_DERIVATIVES "(KoineModel *model)\n"
                    "{\n"
                    "    %s(model->block, *model->handles);\n"
                    "    return 0;\n"
                    "}\n",
                    code->sections[code->derivatives_section].name);
}

/* A kernel has a function of its own when someone outside asks for it or a run goes by table. */
static bool *find_functions(const Code *code, Arena *arena)
{
    bool *has_function = NEW_ARRAY(arena, bool, code->n_kernels);
    for (uint32_t k = 0; k < code->n_kernels; k++)
        has_function[k] = code->kernels[k].is_shared;
    for (uint32_t k = 0; k < code->n_runs; k++)
        if (code->runs[k].n > STRAIGHT_ELEMENTS && !code->kernels[code->runs[k].kernel].strides)
            has_function[code->runs[k].kernel] = true;
    return has_function;
}

/* A section that somebody else executes. */
static void print_foreign(Text *out, const Code *code, uint32_t number, const void *context)
{
    text_format(out,
                "\nstatic inline void %s(KoineSlot *m, const uint32_t *rows)\n{\n    (void)rows;\n"
                "    " NATIVE_FOREIGN "((void *)%lluul, %u, m);\n}\n",
                code->sections[number].name, (unsigned long long)(uintptr_t)context, number);
}

static Text print_whole(const Code *code, const bool *is_foreign, const void *context, Arena *arena,
                        PreludeSpan *prelude)
{
    Arena *scratch = arena_create(NULL), *line = arena_create(NULL), *bodies = arena_create(NULL);
    Printer printer;
    printer_init(&printer, code, scratch, line);
    Text functions = { .arena = bodies };
    printer.out = &functions;
    const bool *has_function = find_functions(code, scratch);
    print_routines(&printer);
    for (uint32_t k = 0; k < code->n_kernels; k++)
        if (has_function[k])
            print_kernel(&printer, k);
    SectionPrinter sections = { .printer = &printer, .check = run_check_create(code, scratch), .arena = scratch };
    for (uint32_t k = 0; k < code->n_sections; k++)
        if (is_foreign && is_foreign[k])
            print_foreign(&functions, code, k, context);
        else
            print_section(&sections, &code->sections[k], &functions);

    Text text = { .arena = arena };
    model_comment(&text, arena_format(scratch, "Model %s: its arithmetic, generated by Koine.", code->model_name));
    text_add(&text, "\n\n");
    printer.needs.derivatives = code->derivatives_section != KOINE_NONE;
    prelude->begin = text.n;
    print_prelude(&text, &printer.needs);
    prelude->end = text.n;
    if (is_foreign)
        text_add(&text, "\nvoid " NATIVE_FOREIGN "(void *context, uint32_t section, KoineSlot *m);\n");
    print_externals(&text, code, scratch);
    print_slots(&text, &printer.identifiers);
    print_tables(&text, &printer);
    if (functions.n)
        text_bytes(&text, functions.at, functions.n);
    print_table(&text, code, printer.needs.texts);
    arena_destroy(bodies);
    arena_destroy(line);
    arena_destroy(scratch);
    return text;
}

Text print_c(const Code *code, Arena *arena)
{
    PreludeSpan prelude;
    return print_whole(code, NULL, NULL, arena, &prelude);
}

bool print_c_for_compiler(const Code *code, const bool *is_foreign, const void *context, Arena *arena, Text *text,
                          const char **why)
{
    PreludeSpan prelude;
    *text = print_whole(code, is_foreign, context, arena, &prelude);
    return vet_text(code, text, prelude, arena, why);
}
