/* The text of generated C: expected files, names, size, warnings; the prelude agrees with koine/ops.h. */
#include "emit/c/prelude.h"
#include "emit/c/print.h"
#include "emit/c/sha256.h"
#include "fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static char *read_file(const char *path, Arena *arena)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    Text text = { .arena = arena };
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        text_bytes(&text, buffer, n);
    fclose(file);
    return text.n ? text.at : arena_text(arena, "", 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* With KOINE_BLESS set the file is written instead of compared. */
static void check_text(Fixture *f, const char *text, const char *name)
{
    const char *path = arena_format(f->arena, KOINE_SOURCE_DIR "/tests/emit/c/%s.c", name);
    if (getenv("KOINE_BLESS"))
        write_file(path, text);
    const char *expected = read_file(path, f->arena);
    assert_non_null(expected);
    assert_string_equal(text, expected);
    static const char *const compilers[] = { "gcc", "clang" };
    for (int k = 0; k < 2; k++) {
        if (system(arena_format(f->arena, "command -v %s > /dev/null", compilers[k])) != 0)
            continue;
        assert_int_equal(0, system(arena_format(f->arena,
                                                "%s -std=c17 -Wall -Wextra -Wshadow -pedantic -Werror -O2 -fPIC "
                                                "-shared -o /dev/null %s",
                                                compilers[k], path)));
    }
}

static const Expr *integer_leaf(Fixture *f, uint32_t k)
{
    return expr_leaf(f->pool, k, INTEGER_TYPE);
}
static const Expr *boolean_leaf(Fixture *f, uint32_t k)
{
    return expr_leaf(f->pool, k, BOOLEAN_TYPE);
}

/* ---- expected texts ---- */
static void lotka_volterra(void **unused)
{
    (void)unused;
    Fixture *f = fixture_create(8);
    static const char *const names[] = { "a", "b", "c", "d", "Hasen", "Luchse", "der(Hasen)", "der(Luchse)" };
    memcpy(f->slot_names, names, sizeof names);
    const Expr *l0 = leaf(f, 0), *l1 = leaf(f, 1), *l2 = leaf(f, 2), *l3 = leaf(f, 3);
    begin_section(f, "derivatives");
    const Expr *growth = op2(f, OP_SUB, op2(f, OP_MUL, l0, l1), op2(f, OP_MUL, op2(f, OP_MUL, l2, l1), l3));
    add_equation(f, 6, growth, 4, (uint32_t[]){ 0, 4, 1, 5 }, "Raeuber.mdl:12");
    const Expr *decay = op2(f, OP_SUB, op2(f, OP_MUL, op2(f, OP_MUL, l0, l1), l2), op2(f, OP_MUL, l3, l2));
    add_equation(f, 7, decay, 4, (uint32_t[]){ 2, 4, 5, 3 }, "Raeuber.mdl:13");
    for (uint32_t k = 0; k < f->kernels.n; k++)
        f->kernels.at[k].is_shared = false;
    Code code = *fixture_code(f, "Raeuber");
    code.derivatives_section = 0;
    check_text(f, print_c(&code, f->arena).at, "lotka_volterra");
    fixture_destroy(f);
}

/* Everything that can be printed: IF as expression and as statement, sharing, loops, tables, iterators, all types. */
static void forms(void **unused)
{
    (void)unused;
    Fixture *f = fixture_create(400);
    static const char *const names[] = { "x", "y", "z", "n", "on", "Phase.next", "u[1]", "u[2]" };
    memcpy(f->slot_names, names, sizeof names);
    f->slot_names[100] = "T[1]";
    f->slot_names[200] = "der(T[1])";
    const Expr *l0 = leaf(f, 0), *l1 = leaf(f, 1), *l2 = leaf(f, 2);
    begin_section(f, "outputs");
    add_equation(f, 6, op2(f, OP_SUB, l0, op2(f, OP_SUB, l1, op1(f, OP_NEG, l2))), 3, (uint32_t[]){ 0, 1, 2 },
                 "Forms.mdl:1");
    add_equation(f, 7,
                 expr_if(f->pool, boolean_leaf(f, 1), op2(f, OP_DIV, real(f, 1.0), l0),
                         expr_if(f->pool, op2(f, OP_LT, l0, real(f, -0.5)), l2, op1(f, OP_SQRT, l0))),
                 3, (uint32_t[]){ 0, 4, 2 }, "Forms.mdl:2");
    const Expr *shared = op1(f, OP_SIN, op2(f, OP_ADD, l0, l1));
    const Expr *inside = op2(f, OP_MUL, l2, real(f, 0.1));
    add_equation(f, 7,
                 expr_if(f->pool, op2(f, OP_GT, shared, real(f, 0.0)),
                         op2(f, OP_ADD, op2(f, OP_MUL, inside, inside), shared), op2(f, OP_MIN, shared, l0)),
                 3, (uint32_t[]){ 0, 1, 2 }, "Forms.mdl:3");
    const Expr *count = integer_leaf(f, 0);
    const Expr *integers =
        op2(f, OP_ADD, op2(f, OP_IDIV, count, expr_integer(f->pool, -3)), op1(f, OP_IFLOOR, op1(f, OP_REAL, count)));
    add_equation(f, 3, integers, 1, (uint32_t[]){ 5 }, "Forms.mdl:4");
    const Expr *logic = op2(f, OP_OR, op2(f, OP_AND, boolean_leaf(f, 0), op1(f, OP_NOT, boolean_leaf(f, 1))),
                            op2(f, OP_EQ, op2(f, OP_LE, leaf(f, 2), leaf(f, 3)), boolean_leaf(f, 0)));
    add_equation(f, 4, logic, 4, (uint32_t[]){ 5, 4, 0, 1 }, "Forms.mdl:5");
    const Expr *const two[] = { op2(f, OP_MUL, shared, l0), op2(f, OP_SUB, shared, l1) };
    const uint32_t pair = add_kernel(f, 2, two, 2);
    add_run(f, pair, (uint32_t[]){ 6, 7, 0, 1 }, 4, 1, "Forms.mdl:6");
    for (uint32_t k = 0; k < f->kernels.n; k++)
        f->kernels.at[k].is_shared = false;

    begin_section(f, "derivatives");
    const Expr *heat =
        op2(f, OP_MUL, leaf(f, 0),
            op2(f, OP_ADD, op2(f, OP_SUB, leaf(f, 1), op2(f, OP_MUL, real(f, 2.0), leaf(f, 2))), leaf(f, 3)));
    const uint32_t line = add_kernel(f, 1, &heat, 4);
    make_affine(f, line, (int32_t[]){ 1, 0, 1, 1, 1 });
    add_run(f, line, (uint32_t[]){ 200, 0, 100, 101, 102 }, 5, 50, "Forms.mdl:7");
    const Expr *by_table = op2(f, OP_MUL, leaf(f, 0), op1(f, OP_REAL, expr_iterator(f->pool, 0)));
    const uint32_t table = add_kernel(f, 1, &by_table, 1);
    f->kernels.at[table].has_iterator = true;
    add_run(f, table, (uint32_t[]){ 300, 0, 1, 305, 1, 3, 302, 0, 8, 307, 1, 9 }, 12, 4, "Forms.mdl:8");
    add_run(f, table, (uint32_t[]){ 310, 0, 1, 311, 1, 2, 312, 2, 3, 313, 3, 4 }, 12, 4, "Forms.mdl:9");
    begin_section(f, "roots");
    Code code = *fixture_code(f, "Forms");
    code.derivatives_section = 1;
    check_text(f, print_c(&code, f->arena).at, "forms");
    fixture_destroy(f);
}

/* SX-177: identifiers of the model that mean something in C. */
static void keywords(void **unused)
{
    (void)unused;
    static const char *const names[] = { "int",          "for",  "double",      "main",  "sin",       "m",
                                         "rows",         "t1",   "k2",          "roots", "roots_1",   "a.b",
                                         "a_b",          "a(b)", "H\xc3\xb6he", "2x",    "KoineSlot", "der(int)",
                                         "\xe2\x82\xac", "i",    "uint32_t" };
    enum { N = sizeof names / sizeof *names };
    Fixture *f = fixture_create(N);
    memcpy(f->slot_names, names, sizeof names);
    begin_section(f, "roots");
    for (uint32_t k = 1; k < N; k++)
        add_equation(f, k, op1(f, OP_SIN, leaf(f, 0)), 1, (uint32_t[]){ k - 1 }, "SX-177.mdl:1");
    for (uint32_t k = 0; k < f->kernels.n; k++)
        f->kernels.at[k].is_shared = false;
    check_text(f, print_c(fixture_code(f, "Schl\xc3\xbcsselwort"), f->arena).at, "keywords");
    fixture_destroy(f);
}

/* ---- size ---- */
static size_t size_for(uint32_t n)
{
    Fixture *f = fixture_create(3 * n);
    const Expr *e = op2(f, OP_MUL, leaf(f, 0), leaf(f, 1));
    const uint32_t kernel = add_kernel(f, 1, &e, 2);
    begin_section(f, "derivatives");
    const uint32_t first = f->rows.n;
    for (uint32_t i = 0; i < n; i++)
        add_rows(f, (uint32_t[]){ 2 * n + i, i * 7 % n, n + i }, 3);
    add_run_at(f, kernel, first, n, "Size.mdl:1");
    const size_t size = print_c(fixture_code(f, "size"), f->arena).n;
    fixture_destroy(f);
    return size;
}

static void size_does_not_follow_rows(void **unused)
{
    (void)unused;
    assert_int_equal(size_for(10) + strlen("10000") - strlen("10"), size_for(10000));
}

/* ---- prelude ---- */
static void prelude_is_ops(void **unused)
{
    (void)unused;
    Arena *arena = arena_create(NULL);
    const char *ops = read_file(KOINE_SOURCE_DIR "/include/koine/ops.h", arena);
    assert_non_null(ops);
    uint32_t n = 0, n_ops = 0;
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (function_text((Helper)f)) {
            assert_non_null(strstr(ops, function_text((Helper)f)));
            n++;
        }
    for (const char *at = strstr(ops, "static inline"); at; at = strstr(at + 1, "static inline"))
        n_ops++;
    assert_int_equal(n, n_ops);
    arena_destroy(arena);
}

static void hash_is_sha256(void **unused)
{
    (void)unused;
    char text[SHA256_TEXT];
    Sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, "abc", 3);
    sha256_end(&sha, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_begin(&sha);
    sha256_end(&sha, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lotka_volterra), cmocka_unit_test(forms),
                                        cmocka_unit_test(keywords),       cmocka_unit_test(size_does_not_follow_rows),
                                        cmocka_unit_test(prelude_is_ops), cmocka_unit_test(hash_is_sha256) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
