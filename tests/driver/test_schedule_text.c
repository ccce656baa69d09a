/* The text form of Schedules: what is printed is read back, for every model of the tree that can be compiled, and the
 * same C comes out of it. Damaged texts are refused. */
#include "base/diag.h"
#include "driver/resolve.h"
#include "emit/c/print.h"
#include "emit/program.h"
#include "ir/print.h"
#include "ir/print_schedule.h"
#include "ir/read_schedule.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Compile compile;
} World;

static World world_create(void)
{
    World w = { .arena = arena_create(NULL) };
    w.sources = sources_create(w.arena);
    return w;
}

/* All passes; false: the model is refused, as some are to be. */
static bool make_schedule(World *w, const char *path)
{
    Diag *diag = diag_create(w->arena, w->sources);
    Pool *pool = pool_create(w->arena, names_create(w->arena));
    const ResolveRequest request = { .pool = pool, .sources = w->sources };
    w->compile = (Compile){ .model = resolve_file(&request, path, NULL, diag), .arena = w->arena, .diag = diag };
    return w->compile.model && diag_errors(diag) == 0 && model_verify(w->compile.model, diag) &&
           run_pipeline(&w->compile, NULL, NULL);
}

static Text print(World *w, const Schedule *s)
{
    Text text = { .arena = w->arena };
    schedule_print(s, &text);
    return text;
}

static Schedule *read(World *w, const char *text, size_t size, Diag *diag)
{
    const uint32_t source = sources_add_text(w->sources, "schedule", text, size);
    return schedule_read(w->compile.model, w->sources, source, w->arena, diag);
}

/* ---- what is printed is read back ---- */
static void assert_same_text(const char *path, Text a, Text b)
{
    if (a.n == b.n && memcmp(a.at, b.at, a.n) == 0)
        return;
    fprintf(stderr, "%s\n------\n%s\n", a.at, b.at);
    fail_msg("%s: another text comes back", path);
}

/* What follows from the blocks is not in the text. */
static void complete(World *w, Schedule *s)
{
    w->compile.schedule = s;
    w->compile.scratch = w->arena;
    assert_true(build_ports(&w->compile));
}

static Text print_code(World *w, Schedule *s)
{
    return print_c(program_code(program_create(s, w->arena)), w->arena);
}

static void assert_same_figures(const Schedule *a, const Schedule *b)
{
    assert_int_equal(a->figures.n_equations, b->figures.n_equations);
    assert_int_equal(a->figures.n_unknowns, b->figures.n_unknowns);
    assert_int_equal(a->figures.n_aliases, b->figures.n_aliases);
    assert_int_equal(a->figures.n_roots, b->figures.n_roots);
    assert_int_equal(a->figures.n_calendar, b->figures.n_calendar);
    assert_int_equal(a->figures.largest_block, b->figures.largest_block);
    assert_int_equal(a->has_jacobian, b->has_jacobian);
    assert_int_equal(a->initial != NULL, b->initial != NULL);
    assert_int_equal(a->blocks.n, b->blocks.n);
    assert_int_equal(a->rows.n, b->rows.n);
}

static void assert_same_blocks(const Schedule *a, const Schedule *b)
{
    for (uint32_t k = 0; k < a->blocks.n; k++) {
        const Block *x = &a->blocks.at[k], *y = &b->blocks.at[k];
        assert_int_equal(x->is_real, y->is_real);
        assert_int_equal(x->equation.index, y->equation.index);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(block_rows(x).n_rows, block_rows(y).n_rows);
        assert_int_equal(block_rows(x).n_inner, block_rows(y).n_inner);
        assert_int_equal(block_solved(x).n_rows, block_solved(y).n_rows);
        assert_int_equal(block_solved(x).n_inner, block_solved(y).n_inner);
        assert_int_equal(block_check(x), block_check(y));
        if (x->kind == BLOCK_ASSIGN) {
            assert_ptr_equal(x->u.assign.lhs.shape, y->u.assign.lhs.shape);
            assert_ptr_equal(x->u.assign.rhs.shape, y->u.assign.rhs.shape);
            assert_int_equal(domain_count(a->model, x->u.assign.domain), domain_count(b->model, y->u.assign.domain));
        } else if (!block_is_system(x)) {
            assert_int_equal(x->u.object, y->u.object);
        }
        for (uint32_t j = 0; j < block_rows(x).n_rows; j++)
            assert_int_equal(a->rows.at[block_rows(x).first_row + j].equation.index,
                             b->rows.at[block_rows(y).first_row + j].equation.index);
    }
}

static void assert_same(const Schedule *a, const Schedule *b)
{
    assert_same_figures(a, b);
    assert_same_blocks(a, b);
    if (a->has_jacobian)
        assert_memory_equal(a->jacobian.colour, b->jacobian.colour, a->jacobian.n * sizeof *a->jacobian.colour);
    if (a->initial)
        assert_same(a->initial, b->initial);
}

static uint32_t n_good, n_refused;

static void check_model(const char *path)
{
    World w = world_create();
    if (make_schedule(&w, path) && w.compile.model->foreigns.n == 0) { /* their calls have no name to be read by */
        Schedule *first = w.compile.schedule;
        Text model = { .arena = w.arena }, model_again = { .arena = w.arena };
        model_print(w.compile.model, &model, (PrintOptions){ 0 });
        const Text text = print(&w, first);
        Schedule *again = read(&w, text.at, text.n, w.compile.diag);
        if (!again)
            diag_print(w.compile.diag, stderr, (DiagStyle){ 0 });
        if (!again)
            fail_msg("%s: what was printed cannot be read\n%s", path, text.at);
        assert_same_text(path, text, print(&w, again));
        assert_same(first, again);
        model_print(w.compile.model, &model_again, (PrintOptions){ 0 });
        assert_same_text(path, model, model_again);
        complete(&w, again);
        assert_same_text(path, print_code(&w, first), print_code(&w, again));
        n_good++;
    } else {
        n_refused++;
    }
    arena_destroy(w.arena);
}

static void each_model(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        fail_msg("no file is called %s", pattern);
    for (size_t k = 0; k < found.gl_pathc; k++)
        check_model(found.gl_pathv[k]);
    globfree(&found);
}

static void test_every_schedule_is_a_fixed_point(void **state)
{
    (void)state;
    each_model(KOINE_SOURCE_DIR "/examples/*/*.mdl");
    each_model(KOINE_SOURCE_DIR "/examples/*/*/*.mdl");
    each_model(KOINE_SOURCE_DIR "/tests/sim/ir/*.ir");
    each_model(KOINE_SOURCE_DIR "/tests/sim/simplex/*.mdl");
    each_model(KOINE_SOURCE_DIR "/tests/passes/*/*.ir");
    each_model(KOINE_SOURCE_DIR "/tests/lang/simplex/accept/*.mdl");
    assert_true(n_good > 100);
    print_message("%u schedules, %u models are refused\n", n_good, n_refused);
}

/* ---- mistakes ---- */
static const char *const model_path = KOINE_SOURCE_DIR "/tests/driver/schedule.ir";

/* The good text with `from` replaced by `to` is refused, with this code and words. */
static void refuse(World *w, Text good, const char *from, const char *to, const char *code, const char *words)
{
    Text text = { .arena = w->arena };
    const char *at = strstr(good.at, from);
    if (!at)
        fail_msg("there is no '%s' in\n%s", from, good.at);
    text_bytes(&text, good.at, (size_t)(at - good.at));
    text_add(&text, to);
    text_add(&text, at + strlen(from));
    Diag *diag = diag_create(w->arena, w->sources);
    if (read(w, text.at, text.n, diag))
        fail_msg("'%s' instead of '%s' is not refused", to, from);
    const char *json = diag_json(diag, w->arena);
    if (diag_errors(diag) != 1 || !strstr(json, code) || !strstr(json, words))
        fail_msg("'%s' instead of '%s': %s", to, from, json);
}

static void test_mistakes_are_named(void **state)
{
    (void)state;
    World w = world_create();
    assert_true(make_schedule(&w, model_path));
    const Text good = print(&w, w.compile.schedule);
    static const char *const cases[][4] = {
        { "koine-schedule 1", "koine-ir 1", "KN1020", "koine-schedule 1" },
        { "koine-schedule 1", "koine-schedule 2", "KN1012", "from 1 to 1" },
        { " of schedule", " of other", "KN1032", "another name" },
        { "block b2", "block b4", "KN1012", "block b2 is expected" },
        { "block b2", "block x", "KN1022", "there is no block x" },
        { "part derivatives b", "part derivatives b99 b", "KN1022", "there is no block b99" },
        { "part derivatives b", "part derivatives b12 b", "KN1012", "increase" },
        { "part outputs", "part derivatives", "KN1023", "second time" },
        { "states u", "states w", "KN1033", "no state" },
        { "states u", "states uu", "KN1022", "there is no variable uu" },
        { "der(v) := ", "der(vx) := ", "KN1022", "vx" },
        { "der(v) := ", "pre(v) := ", "KN1033", "v or der(v)" },
        { "from e1", "from e99", "KN1022", "there is no equation e99" },
        { " moving from e1", " moving", "KN1010", "'from'" },
        { "relation k1", "relation k9", "KN1022", "there is no relation k9" },
        { "relation k1", "relation k2", "KN1032", "another relation" },
        { "stepfn s1", "stepfn s2", "KN1022", "there is no step function s2" },
        { "floor(", "ceil(", "KN1032", "another step function" },
        { "transition t1 when", "transition t1 when true, ", "KN1032", "another transition" },
        { "transition t1", "transition t7", "KN1022", "there is no transition t7" },
        { "linear size 2", "linear size 3", "KN1010", "a further unknown" },
        { "linear size 2 torn 1 (c, d)", "linear size 2 torn 1 (c, n)", "KN1024", "scalar Real" },
        { "linear size 2 torn 1", "linear size 2 torn 2", "KN1012", "from 1 to 1" },
        { "linear size 2 torn 1", "linear size 2 torn", "KN1010", "number" },
        { "linear size 2 torn 1 (c, d)", "linear size 2 torn 1 (d, c)", "KN1033", "its own unknown" },
        { "c := v + x*d", "c = v + x*d", "KN1010", "':='" },
        { "solves size 2", "solves size 3", "KN1010", "a further unknown" },
        { "solves size 2 torn 1", "solves size 2 torn 2", "KN1012", "from 1 to 1" },
        { "checked $regular1", "checked nobody", "KN1022", "there is no variable nobody" },
        { "checked $regular1", "checked x", "KN1032", "another Real parameter" },
        { "linear size", "quadratic size", "KN1010", "the kind of the block" },
        { "jacobian colours 2", "jacobian colours 1", "KN1012", "from 1 to 1" },
        { "row 2 colour", "row 3 colour", "KN1012", "from 2 to 2" },
        { "\nrow 5 colour 2 :", "", "KN1012", "4 rows for 5 states" },
        { "4 5\n", "4 6\n", "KN1012", "state 6 of 5" },
        { "blocks 1", "blocks 2", "KN1012", "the facts say blocks" },
        { "facts", "fact", "KN1010", "facts, index, states" },
        { "end initial", "end", "KN1010", "'initial'" },
        { "end schedule", "end other", "KN1027", "another name" },
        { "end schedule", "", "KN1027", "not closed" },
        { "end schedule", "end schedule\nblock", "KN1010", "the end of the text" },
        { "{1, 1, 3}", "", "KN1032", "not evaluated" },
    };
    for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++)
        refuse(&w, good, cases[k][0], cases[k][1], cases[k][2], cases[k][3]);
    arena_destroy(w.arena);
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Never a crash; what is taken all the same can be printed and read again. */
static void read_damaged(World *w, const char *text, size_t size, bool may_be_good)
{
    Diag *diag = diag_create(w->arena, w->sources);
    Schedule *s = read(w, text, size, diag);
    assert_true(s || diag_errors(diag) > 0);
    assert_true(!s || may_be_good);
    if (!s)
        return;
    const Text first = print(w, s);
    Schedule *again = read(w, first.at, first.n, diag);
    assert_non_null(again);
    assert_same_text("damaged", first, print(w, again));
}

static void test_damaged_texts_are_refused(void **state)
{
    (void)state;
    World w = world_create();
    assert_true(make_schedule(&w, model_path));
    const Text good = print(&w, w.compile.schedule);
    for (size_t n = 0; n + 1 < good.n; n += 1 + n / 200)
        read_damaged(&w, good.at, n, false);
    uint64_t seed = 88172645463325252u;
    char *copy = arena_alloc(w.arena, good.n + 1, 1);
    for (uint32_t round = 0; round < 1000; round++) {
        memcpy(copy, good.at, good.n);
        for (uint32_t k = 0; k < 1 + round % 4; k++)
            copy[random_bits(&seed) % good.n] = "()[]{}:;=,.@#%'\"\n \\019abx$<>+-"[random_bits(&seed) % 31];
        read_damaged(&w, copy, good.n, true);
    }
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_schedule_is_a_fixed_point),
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_damaged_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
