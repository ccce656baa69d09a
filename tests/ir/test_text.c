/* The text form: what is printed is read back, for every file of the tree; mistakes are reported where they are. */
#include "text_test.h"
#include "ir/words.h"
#include <dirent.h>
#include <time.h>

static const PrintOptions plain = { 0 };

/* Hostile memory grows everything byte by byte: there large means less. */
static uint32_t size_of_test(uint32_t usual, uint32_t hostile)
{
    return arena_is_hostile(NULL) ? hostile : usual;
}

/* ---- files ---- */
static char *path_of(const World *w, const char *folder, const char *name)
{
    return arena_format(w->arena, "%s/%s", folder, name);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int order_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Calls `visit` for all files below the folder whose names end with .ir, sorted. */
static uint32_t each_file(const char *folder, void (*visit)(const char *path))
{
    World w = world_create();
    VEC(char *) names = { 0 };
    uint32_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            vec_push(w.arena, &names, arena_text(w.arena, entry->d_name, strlen(entry->d_name)));
    if (dir)
        closedir(dir);
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, order_names);
    for (uint32_t k = 0; k < names.n; k++) {
        const char *path = path_of(&w, folder, names.at[k]);
        if (ends_with(path, ".ir")) {
            visit(path);
            n++;
        } else if (strcmp(names.at[k], "errors") != 0) {
            n += each_file(path, visit);
        }
    }
    world_destroy(&w);
    return n;
}

static Model *read_path(World *w, const char *path)
{
    uint32_t source;
    assert_int_equal(sources_open(w->sources, path, &source), SOURCE_OK);
    return model_read(w->pool, w->sources, source, w->diag);
}

static void check_file(const char *path)
{
    World w = world_create();
    uint32_t source;
    assert_int_equal(sources_open(w.sources, path, &source), SOURCE_OK);
    const Source *text = sources_get(w.sources, source);
    if (is_text_form(text->text, text->size)) {
        const Model *model = model_read(w.pool, w.sources, source, w.diag);
        if (!model)
            diag_print(w.diag, stderr, (DiagStyle){ 0 });
        assert_non_null(model);
        assert_fixed_point(&w, model, plain, path);
        assert_fixed_point(&w, model, (PrintOptions){ .shapes = true }, path);
        assert_fixed_point(&w, model, (PrintOptions){ .no_places = true }, path);
    }
    world_destroy(&w);
}

static void every_file_is_a_fixed_point(void **state)
{
    (void)state;
    assert_true(each_file(KOINE_SOURCE_DIR "/tests", check_file) >= 3);
}

/* elements.ir is kept as it is printed, below its first line. */
static void every_element_is_printed_as_it_was(void **state)
{
    (void)state;
    World w = world_create();
    const Model *model = read_path(&w, KOINE_SOURCE_DIR "/tests/ir/elements.ir");
    assert_non_null(model);
    const Text text = print_text(&w, model, plain);
    const char *file = strchr(sources_get(w.sources, 0)->text, '\n') + 1;
    assert_string_equal(text.at, file);
    assert_true(model_verify(model, w.diag));
    world_destroy(&w);
}

static void classes_are_composed(void **state)
{
    (void)state;
    World w = world_create();
    Model *model = read_path(&w, KOINE_SOURCE_DIR "/tests/ir/rc.ir");
    assert_non_null(model);
    assert_int_equal(model->variables.n, 17);
    assert_int_equal(model->equations.n, 7);
    assert_int_equal(model->ports.n, 7);
    assert_int_equal(model->connections.n, 4);
    assert_int_equal(model->instances.n, 5);
    /* u = Va - Vb is one shape, however many instances have it. */
    assert_ptr_equal(model->equations.at[0].rhs.shape, model->equations.at[2].rhs.shape);
    assert_ptr_equal(model->equations.at[0].rhs.shape, model->equations.at[4].rhs.shape);
    assert_true(model_verify(model, w.diag));
    world_destroy(&w);
}

/* The blocks of the manual that are marked koine are whole texts. */
static void examples_of_the_manual_are_read(void **state)
{
    (void)state;
    World w = world_create();
    uint32_t source, n = 0;
    assert_int_equal(sources_open(w.sources, KOINE_SOURCE_DIR "/docs/ir.md", &source), SOURCE_OK);
    static const char open[] = "```koine\n";
    for (const char *at = sources_get(w.sources, source)->text; (at = strstr(at, open)); n++) {
        at += sizeof open - 1;
        const char *end = strstr(at, "```");
        World other = world_create();
        const Model *model = read_text(&other, "manual.ir", at, (size_t)(end - at));
        if (!model || !model_verify(model, other.diag))
            diag_print(other.diag, stderr, (DiagStyle){ 0 });
        assert_non_null(model);
        assert_int_equal(diag_errors(other.diag), 0);
        assert_fixed_point(&other, model, plain, "manual");
        world_destroy(&other);
        at = end;
    }
    assert_int_equal(n, 2);
    world_destroy(&w);
}

/* ---- mistakes ---- */
typedef struct {
    uint32_t line, code;
} Mistake;
typedef VEC(Mistake) Mistakes;

static void expected_mistakes(World *w, const char *text, Mistakes *found)
{
    uint32_t line = 1;
    static const char mark[] = "# error KN";
    for (const char *at = text; *at; at++) {
        line += *at == '\n';
        if (strncmp(at, mark, sizeof mark - 1) == 0) {
            const Mistake mistake = { line, (uint32_t)strtoul(at + sizeof mark - 1, NULL, 10) };
            vec_push(w->arena, found, mistake);
        }
    }
}

/* "code":"KN1010" ... "line":12 of each object; notes come after the line of their diagnostic and have no code. */
static void reported_mistakes(World *w, Mistakes *found)
{
    const char *json = diag_json(w->diag, w->arena);
    for (const char *at = json; (at = strstr(at, "\"code\":"));) {
        at += strlen("\"code\":");
        while (*at == ' ' || *at == '"' || *at == 'K' || *at == 'N')
            at++;
        Mistake mistake = { 0, (uint32_t)strtoul(at, NULL, 10) };
        const char *line = strstr(at, "\"line\":");
        assert_non_null(line);
        mistake.line = (uint32_t)strtoul(line + strlen("\"line\":"), NULL, 10);
        vec_push(w->arena, found, mistake);
    }
}

static int order_mistakes(const void *a, const void *b)
{
    const Mistake *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : x->code < y->code ? -1 : x->code > y->code;
}

static uint8_t seen_codes[10000];

static void check_mistakes(const char *path)
{
    World w = world_create();
    Mistakes expected = { 0 }, reported = { 0 };
    Model *model = read_path(&w, path);
    if (model)
        assert_false(model_verify(model, w.diag));
    expected_mistakes(&w, sources_get(w.sources, 0)->text, &expected);
    reported_mistakes(&w, &reported);
    qsort(expected.at, expected.n, sizeof *expected.at, order_mistakes);
    qsort(reported.at, reported.n, sizeof *reported.at, order_mistakes);
    bool same = expected.n == reported.n;
    for (uint32_t k = 0; same && k < expected.n; k++)
        same = order_mistakes(&expected.at[k], &reported.at[k]) == 0;
    if (!same) {
        for (uint32_t k = 0; k < expected.n || k < reported.n; k++)
            fprintf(stderr, "  expected %u: KN%u   reported %u: KN%u\n", k < expected.n ? expected.at[k].line : 0,
                    k < expected.n ? expected.at[k].code : 0, k < reported.n ? reported.at[k].line : 0,
                    k < reported.n ? reported.at[k].code : 0);
        diag_print(w.diag, stderr, (DiagStyle){ 0 });
        fail_msg("%s: other mistakes than expected", path);
    }
    for (uint32_t k = 0; k < reported.n; k++)
        seen_codes[reported.at[k].code] = 1;
    world_destroy(&w);
}

static bool has_page(uint32_t code)
{
    char path[600];
    snprintf(path, sizeof path, KOINE_SOURCE_DIR "/docs/diagnostics/KN%u.md", code);
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    return file != NULL;
}

/* The line that causes a message says so in a comment. Every code of the reader and of verify occurs and has a page. */
static void mistakes_are_reported_where_they_are(void **state)
{
    (void)state;
    assert_true(each_file(KOINE_SOURCE_DIR "/tests/ir/errors", check_mistakes) >= 30);
    for (uint32_t k = 0, code; (code = diag_code_at(k)); k++) {
        const bool is_mine = (code >= 1020 && code < 1050) || (code > 2000 && code < 2050);
        if (is_mine && !seen_codes[code])
            fail_msg("no test for KN%u", code);
        if ((is_mine || code == 2000) && !has_page(code))
            fail_msg("no page for KN%u", code);
    }
}

static void a_near_name_is_suggested(void **state)
{
    (void)state;
    World w = world_create();
    const char text[] = "koine-ir 1\nmodel M\nvar speed Real continuous\neq e1 speed = spede\nend M\n";
    assert_null(read_text(&w, "a.ir", text, sizeof text - 1));
    assert_non_null(strstr(diag_json(w.diag, w.arena), "did you mean speed?"));
    world_destroy(&w);
}

/* ---- hostile texts ---- */
static void assert_refused(const char *name, const char *text, size_t size, uint32_t code)
{
    World w = world_create();
    assert_null(read_text(&w, name, text, size));
    assert_true(diag_errors(w.diag) > 0);
    if (code) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "KN%u", code);
        if (!strstr(diag_json(w.diag, w.arena), wanted))
            fail_msg("%s: no %s", name, wanted);
    }
    world_destroy(&w);
}

/* head, n times unit, tail */
static void refuse_repeated(const char *name, const char *head, const char *unit, uint32_t n, uint32_t code)
{
    Arena *arena = arena_create(NULL);
    Text text = { .arena = arena };
    text_add(&text, "koine-ir 1\nmodel M\nvar x Real continuous\n");
    text_add(&text, head);
    for (uint32_t k = 0; k < n; k++)
        text_add(&text, unit);
    assert_refused(name, text.at, text.n, code);
    arena_destroy(arena);
}

static void refuse_regions(uint32_t many)
{
    Arena *arena = arena_create(NULL);
    Text text = { .arena = arena };
    text_add(&text, "koine-ir 1\nmodel M\nvar x Real continuous\n");
    for (uint32_t k = 0; k < many; k++)
        text_format(&text, "region r%u causal\ncase x > 0.0 :\n", k);
    assert_refused("regions", text.at, text.n, 1006);
    arena_destroy(arena);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    const uint32_t many = size_of_test(1000000, 10000);
    refuse_repeated("parentheses", "eq e1 x = ", "(", many, 1006);
    refuse_repeated("signs", "eq e1 x = ", "-", many, 1006);
    refuse_repeated("not", "eq e1 x = ", "not ", many, 1006);
    refuse_repeated("if", "eq e1 x = ", "if x > 0.0 then x else ", many / 10 + 9000, 1006);
    refuse_repeated("calls", "eq e1 x = ", "sin(", many / 10 + 9000, 1006);
    refuse_repeated("indices", "eq e1 x = ", "x[", many / 10 + 9000, 1006);
    refuse_repeated("sum", "eq e1 x = x", " + x", many, 1006);
    refuse_repeated("arrays", "eq e1 x = ", "{", many / 10 + 9000, 1006);
    refuse_repeated("noEvent", "eq e1 x = ", "noEvent(", many / 10 + 9000, 1006);
    refuse_repeated("reductions", "eq e1 x = ", "sum(for i in 1:2: ", many / 10 + 9000, 1006);
    refuse_regions(many / 10);
    refuse_repeated("statements", "algorithm a\n", "if x > 0.0 then\n", many / 10 + 9000, 1006);
    refuse_repeated("loops", "algorithm a\n", "for i in 1:3:\n", many / 10 + 9000, 1006);
}

static void deep_expressions_survive(void **state)
{
    (void)state;
    static const char *const units[][3] = { { "x - (", "x", ")" }, { "sin(", "x", ")" },
                                            { "x + ", "x", "" },   { "if x > 0.0 then x else ", "x", "" },
                                            { "-(-(", "x", "))" }, { "(x*(", "x", "))" } };
    enum { DEPTH = 550 }; /* the address sanitizer has room for so much */
    for (uint32_t k = 0; k < sizeof units / sizeof *units; k++) {
        World w = world_create();
        Text text = { .arena = w.arena };
        text_add(&text, "koine-ir 1\nmodel M\nvar x Real continuous\neq e1 x = ");
        for (uint32_t i = 0; i < DEPTH; i++)
            text_add(&text, units[k][0]);
        text_add(&text, units[k][1]);
        for (uint32_t i = 0; i < DEPTH; i++)
            text_add(&text, units[k][2]);
        text_add(&text, "\nend M\n");
        const Model *model = read_text(&w, "deep.ir", text.at, text.n);
        if (!model)
            diag_print(w.diag, stderr, (DiagStyle){ 0 });
        assert_non_null(model);
        assert_fixed_point(&w, model, plain, units[k][0]);
        assert_fixed_point(&w, model, (PrintOptions){ .shapes = true }, units[k][0]);
        world_destroy(&w);
    }
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Every beginning of a good text, the text with bytes changed, and rubbish: never a crash, and false is reported. */
static void rubbish_is_refused(void **state)
{
    (void)state;
    World w = world_create();
    uint32_t source;
    assert_int_equal(sources_open(w.sources, KOINE_SOURCE_DIR "/tests/ir/elements.ir", &source), SOURCE_OK);
    const Source *good = sources_get(w.sources, source);
    const uint32_t rounds = size_of_test(400, 20);
    for (uint32_t n = 0; n + 1 < good->size; n += n < rounds ? 1 : 37)
        assert_refused("truncated", good->text, n, 0);
    uint64_t seed = 88172645463325252u;
    char *copy = arena_alloc(w.arena, good->size + 1, 1);
    for (uint32_t round = 0; round < rounds; round++) {
        World other = world_create();
        memcpy(copy, good->text, good->size);
        for (uint32_t k = 0; k < 1 + round % 7; k++)
            copy[random_bits(&seed) % good->size] = "()[]{}:;=,.@#%'\"\n \\0a$<"[random_bits(&seed) % 23];
        const Model *model = read_text(&other, "changed", copy, good->size);
        assert_true(model || diag_errors(other.diag) > 0);
        if (model) {
            model_verify(model, other.diag);
            assert_fixed_point(&other, model, plain, "changed");
        }
        world_destroy(&other);
    }
    char noise[4096];
    for (uint32_t round = 0; round < 100; round++) {
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (char)random_bits(&seed);
        memcpy(noise, "koine-ir 1\n", 11);
        assert_refused("noise", noise, sizeof noise, 0);
    }
    world_destroy(&w);
}

/* ---- names and numbers ---- */
static void awkward_names_survive(void **state)
{
    (void)state;
    static const char *const names[] = { "",       "time",  "a b",  "a.b",     "'",      "\\",     "\"",      "x\ny",
                                         "\x01",   "\x80",  "ä",    "$e1",     "$t1",    "$i1",    "0x",      "end",
                                         "M",      "sin",   "-",    "#",       "a;b",    "@0:1:1", "%0",      "und\xff",
                                         "Real",   "begin", "inf",  "level",   "next",   "e1",     "noEvent", "\t",
                                         "a\\x41", "step",  "from", "Mode.on", "row s1", "::",     "f.x",     "s1" };
    World w = world_create();
    Names *interned = pool_names(w.pool);
    Model *model = model_create(w.pool, w.sources, names_text(interned, "M"), "test", SPAN_NONE);
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++) {
        const NameId name = names_text(interned, names[k]);
        const VarId var = model_add_variable(model, (InstanceId){ 0 }, name, REAL_TYPE, SPAN_NONE);
        model_var(model, var)->unit = name;
        const EqId e = model_add_equation(model, EQUATION_RESIDUAL, term_ref(model, ref_now(var)),
                                          term_ref(model, ref_der(var)), SPAN_NONE);
        model->equations.at[e.index].name = name;
        const Instance instance = { .name = name, .class_name = name, .parent = { 0 }, .span = SPAN_NONE };
        vec_push(model->arena, &model->instances, instance);
        const VarId inner =
            model_add_variable(model, (InstanceId){ model->instances.n - 1 }, name, REAL_TYPE, SPAN_NONE);
        model_add_equation(model, EQUATION_EXPLICIT, term_ref(model, ref_now(inner)), term_ref(model, ref_pre(var)),
                           SPAN_NONE);
        const Iterator loop = { .name = name, .lo = term_integer(model, 1), .hi = term_integer(model, 3) };
        const EqId f =
            model_add_equation(model, EQUATION_RESIDUAL, term_ref(model, ref_now(var)),
                               term_expr(model, expr_unary(w.pool, OP_REAL, expr_iterator(w.pool, 0))), SPAN_NONE);
        model->equations.at[f.index].domain = model_add_domain(model, 1, &loop);
    }
    assert_true(model_verify(model, w.diag));
    assert_fixed_point(&w, model, plain, "names");
    assert_fixed_point(&w, model, (PrintOptions){ .shapes = true }, "names");
    world_destroy(&w);
}

static void literals_are_exact(void **state)
{
    (void)state;
    static const double values[] = {
        0.0,  -0.0,    1.0,     -1.0,  0.1,   1e300, -1e-300, 5e-324, 1.7976931348623157e308,
        1e22, 123456., 1.0 / 3, 2.5e9, 1e-10, 100.0
    };
    World w = world_create();
    Model *model = model_create(w.pool, w.sources, names_text(pool_names(w.pool), "M"), NULL, SPAN_NONE);
    const VarId x =
        model_add_variable(model, (InstanceId){ 0 }, names_text(pool_names(w.pool), "x"), REAL_TYPE, SPAN_NONE);
    for (uint32_t k = 0; k < sizeof values / sizeof *values; k++) {
        /* v, -(v), (-(v))*v, -(v*x), v - (-v) */
        const Expr *v = expr_real(w.pool, values[k]), *leaf = expr_leaf(w.pool, 0, REAL_TYPE);
        const Expr *shapes[] = { v, expr_unary(w.pool, OP_NEG, v),
                                 expr_binary(w.pool, OP_MUL, expr_unary(w.pool, OP_NEG, v), v),
                                 expr_unary(w.pool, OP_NEG, expr_binary(w.pool, OP_MUL, v, leaf)),
                                 expr_binary(w.pool, OP_SUB, v, expr_real(w.pool, -values[k])) };
        for (uint32_t i = 0; i < 5; i++) {
            const Ref ref = ref_now(x);
            model_add_equation(model, EQUATION_RESIDUAL, term_ref(model, ref), term_make(model, shapes[i], &ref),
                               SPAN_NONE);
        }
    }
    const Text text = print_text(&w, model, plain);
    World other = world_create();
    const Model *again = read_text(&other, "again.ir", text.at, text.n);
    assert_non_null(again);
    for (uint32_t k = 0; k < sizeof values / sizeof *values; k++) {
        const Expr *const v = again->equations.at[5 * k].rhs.shape;
        assert_int_equal(v->kind, EXPR_REAL);
        assert_memory_equal(&v->u.real, &values[k], sizeof(double));
        assert_int_equal(again->equations.at[5 * k + 1].rhs.shape->op, OP_NEG);
        assert_ptr_equal(again->equations.at[5 * k + 1].rhs.shape->args[0], v);
        assert_int_equal(again->equations.at[5 * k + 2].rhs.shape->op, OP_MUL);
        assert_int_equal(again->equations.at[5 * k + 3].rhs.shape->op, OP_NEG);
        assert_int_equal(again->equations.at[5 * k + 4].rhs.shape->op, OP_SUB);
    }
    assert_fixed_point(&w, model, plain, "literals");
    world_destroy(&other);
    world_destroy(&w);
}

static void a_term_is_printed_alone(void **state)
{
    (void)state;
    World w = world_create();
    const Model *model = read_path(&w, KOINE_SOURCE_DIR "/tests/ir/ball.ir");
    assert_non_null(model);
    assert_string_equal(term_text(model, model->conditions.at[0], w.arena), "Abstand < Radius");
    assert_string_equal(term_text(model, TERM_NONE, w.arena), "");
    world_destroy(&w);
}

/* ---- size ---- */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* n variables and n equations; the bytes that reading them took. */
static size_t read_large(uint32_t n, double *time)
{
    World w = world_create();
    Text text = { .arena = arena_create(NULL) };
    text_add(&text, "koine-ir 1\nsource 0 \"large.mdl\" simplex\nmodel Large\n");
    for (uint32_t k = 0; k < n; k++)
        text_format(&text, "var x%u Real continuous der start %u.5 fixed @0:%u:3\n", k, k % 7, k + 1);
    for (uint32_t k = 0; k < n; k++)
        text_format(&text, "eq e%u der(x%u) := x%u*(x%u - x%u) + 0.25*x%u @0:%u:5\n", k, k, k * 7919 % n, k * 31 % n, k,
                    (k + 1) % n, n + k + 1);
    text_add(&text, "end Large\n");
    const uint32_t source = sources_add_text(w.sources, "large.ir", text.at, text.n);
    const size_t before = arena_bytes(w.arena);
    const double begin = seconds();
    const Model *model = model_read(w.pool, w.sources, source, w.diag);
    *time = seconds() - begin;
    const size_t bytes = arena_bytes(w.arena) - before;
    assert_non_null(model);
    assert_int_equal(model->equations.n, n);
    assert_true(model_verify(model, w.diag));
    Text printed = { .arena = text.arena };
    model_print(model, &printed, plain);
    assert_int_equal(printed.n, text.n);
    assert_memory_equal(printed.at, text.at, text.n);
    arena_destroy(text.arena);
    world_destroy(&w);
    return bytes;
}

/* 200,000 lines; the bounds are generous: a quadratic reader would need minutes. */
static void reading_is_linear(void **state)
{
    (void)state;
    double small_time, large_time;
    const size_t small = read_large(size_of_test(25000, 200), &small_time),
                 large = read_large(size_of_test(100000, 800), &large_time);
    assert_true(large < 6 * small);
    assert_true(large_time < 12 * small_time + 1.0);
    assert_true(large_time < 20.0);
}

static void letters_of_names(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char c = (char)byte;
        const bool starts =
            (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '$' || byte >= 0x80;
        assert_int_equal(is_name_start(c), starts);
        assert_int_equal(is_name_letter(c), starts || (byte >= '0' && byte <= '9'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_a_fixed_point),
        cmocka_unit_test(every_element_is_printed_as_it_was),
        cmocka_unit_test(classes_are_composed),
        cmocka_unit_test(examples_of_the_manual_are_read),
        cmocka_unit_test(mistakes_are_reported_where_they_are),
        cmocka_unit_test(a_near_name_is_suggested),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(deep_expressions_survive),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(awkward_names_survive),
        cmocka_unit_test(literals_are_exact),
        cmocka_unit_test(a_term_is_printed_alone),
        cmocka_unit_test(letters_of_names),
        cmocka_unit_test(reading_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
