/* A model's texts in generated C: whatever bytes its names have, the code is that of the plain model. */
#include "c_tokens.h"
#include "emit/c/model_text.h"
#include "emit/c/print.h"
#include "emit/c/vet.h"
#include "fixture.h"
#include "assertions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SLOTS = 5 };

/* ---- the code of a small model under other names ---- */
static Text print_named(Fixture *f, const char *model, const char *const *names, const char *comment)
{
    memcpy(f->slot_names, names, SLOTS * sizeof *names);
    begin_section(f, "derivatives");
    add_equation(f, 3, op2(f, OP_MUL, leaf(f, 0), op1(f, OP_SIN, leaf(f, 1))), 2, (uint32_t[]){ 0, 1 }, comment);
    add_equation(f, 4, op2(f, OP_ADD, leaf(f, 0), leaf(f, 1)), 2, (uint32_t[]){ 2, 3 }, comment);
    const Expr *loop = op1(f, OP_COS, leaf(f, 0));
    const uint32_t kernel = add_kernel(f, 1, &loop, 1);
    f->kernels.at[kernel].comment = comment;
    add_run(f, kernel, (uint32_t[]){ 0, 1, 1, 0, 2, 3, 4, 2 }, 8, 4, comment);
    Code code = *fixture_code(f, model);
    code.derivatives_section = 0;
    const char *why = NULL;
    Text text;
    if (!print_c_for_compiler(&code, NULL, NULL, f->arena, &text, &why))
        fail_msg("%s:\n%s", why, text.at);
    return text;
}

static void assert_same_code(const char *a, const char *b)
{
    CToken x, y;
    if (!c_is_same_code(a, b, &x, &y))
        fail_msg("%.*s instead of %.*s", (int)y.n, y.at, (int)x.n, x.at);
}

static void assert_text_is_plain(const Text *text)
{
    for (size_t k = 0; k < text->n; k++)
        assert_true(text->at[k] == '\n' || (text->at[k] >= ' ' && text->at[k] <= '~'));
}

static const char *const PLAIN[SLOTS] = { "a", "b", "c", "d", "e" };

static void check_name(const char *hostile)
{
    Fixture *f = fixture_create(SLOTS), *g = fixture_create(SLOTS);
    const char *names[SLOTS];
    for (uint32_t k = 0; k < SLOTS; k++)
        names[k] = arena_format(g->arena, "%s%s", k % 2 ? PLAIN[k] : "", hostile);
    const Text plain = print_named(f, "Plain", PLAIN, "Plain.mdl:1");
    const Text other = print_named(g, hostile, names, hostile);
    assert_text_is_plain(&other);
    assert_same_code(plain.at, other.at);
    fixture_destroy(f);
    fixture_destroy(g);
}

static void any_byte_in_any_name_leaves_the_code_as_it_is(void **unused)
{
    (void)unused;
    for (int byte = 1; byte < 256; byte++) {
        const char one[] = { (char)byte, 0 }, in[] = { 'x', (char)byte, 'y', 0 };
        const char behind[] = { '*', (char)byte, '/', 'q', '(', ')', ';', '/', '*', 0 };
        const char joined[] = { '*', '\\', (char)byte, '/', '*', '?', '?', '/', (char)byte, '/', '#', 'e', 0 };
        check_name(one);
        check_name(in);
        check_name(behind);
        check_name(joined);
    }
}

static void no_two_bytes_end_a_comment(void **unused)
{
    (void)unused;
    Arena *arena = arena_create(NULL);
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            const char pair[] = { (char)a, (char)b, 0 };
            Text text = { .arena = arena };
            model_comment(&text, pair);
            assert_ptr_equal(strstr(text.at, "*/"), text.at + text.n - 2);
            assert_null(strpbrk(text.at, "\\?#\n\r"));
            assert_null(strstr(text.at + 1, "/*"));
            assert_text_is_plain(&text);
        }
    arena_destroy(arena);
}

static void names_that_were_tried(void **unused)
{
    (void)unused;
    static const char *const tried[] = {
        "x */ extern int system(const char *); __attribute__((constructor)) static void p(void){ system(\"id\"); } /*",
        "p*\\\n/ }; extern int system(const char *); enum { zz, /*",
        "p*\?\?/\n/ }; int system(); enum { zz, /*",
        "x */\n#ifdef __TINYC__\n#error no\n#endif\n/*",
        "asm",
        "__asm__",
        "_Pragma",
        "system",
        "goto",
        "typeof",
        "done",
        "call",
        "out",
        "f1_x",
        "derivatives_part_1",
        "k1",
        "t1",
        "u1",
        "koine_fail",
        "KOINE_PART",
        "inf",
        "nan",
        "",
        "%:include",
        "<:",
        "\xff\xfe",
        "\xe2\x80\xa8",
    };
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++)
        check_name(tried[k]);
}

/* ---- the check before the compiler ---- */
static bool is_refused(const char *injected)
{
    Fixture *f = fixture_create(SLOTS);
    begin_section(f, "derivatives");
    const Code *code = fixture_code(f, "Vet");
    Text text = { .arena = f->arena };
    text_add(&text, "/* Vet */\n#define PRELUDE\n");
    const PreludeSpan prelude = { strlen("/* Vet */\n"), text.n };
    text_format(&text, "static inline void derivatives(KoineSlot *m)\n{\n    %s\n}\n", injected);
    const char *why = NULL;
    const bool is_good = vet_text(code, &text, prelude, f->arena, &why);
    assert_true(is_good || strstr(why, "line 5"));
    fixture_destroy(f);
    return !is_good;
}

static void what_the_printer_writes_passes(void **unused)
{
    (void)unused;
    static const char *const good[] = { "m[a].r = sin(m[b].r) ? 1.0 : -2e+30; /* Ball.mdl:12 */",
                                        "for (int64_t i = 0; i < 4; i++) { if (!(m[i].i && 1)) break; }",
                                        "k1(m, rows + 3, 4); f2_Name_1(call, 2);", "derivatives_part_2(m, rows);",
                                        "m[system].r = ((KoineSlot){ .i = 0x7ff }).r;" };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        assert_false(is_refused(good[k]));
}

static void what_it_does_not_write_is_refused(void **unused)
{
    (void)unused;
    static const char *const bad[] = { "system(1);",
                                       "system /* */ (1);",
                                       "(system)(1);",
                                       "m[a].r = b(2);",
                                       "asm (1);",
                                       "__builtin_trap;",
                                       "extern int x;",
                                       "typedef int x;",
                                       "union x;",
                                       "#include",
                                       "x = \"text\";",
                                       "x = 'c';",
                                       "a \\\n b",
                                       "?\?=",
                                       "%:define",
                                       "<:",
                                       "x = a % 2;",
                                       "x = ~a;",
                                       "/* \\ */",
                                       "/* ? */",
                                       "/* # */",
                                       "/* /* */",
                                       "/* \x7f */",
                                       "/* \xc3\xa4 */",
                                       "x\r",
                                       "x\t",
                                       "while (1);",
                                       "sizeof (x);",
                                       "register int a;",
                                       "@",
                                       "$a",
                                       "`",
                                       "/* no end" };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        if (!is_refused(bad[k]))
            fail_msg("%s", bad[k]);
}

/* ---- texts and data of a model that stands alone ---- */
/* What a compiler reads of a literal as model_string writes it. */
static char *read_literal(const char *text, Arena *arena)
{
    Text read = { .arena = arena };
    assert_int_equal(*text, '"');
    for (text++; *text != '"'; text++) {
        assert_true(*text >= ' ' && *text <= '~' && *text != '?');
        if (*text == '\\') {
            char *end;
            const char digits[] = { text[1], text[2], text[3], 0 };
            text_char(&read, (char)strtol(digits, &end, 8));
            assert_ptr_equal(end, digits + 3);
            text += 3;
        } else
            text_char(&read, *text);
    }
    assert_int_equal(text[1], 0);
    return read.at;
}

static bool is_known(const char *word, size_t n)
{
    return n == 4 && memcmp(word, "name", n) == 0;
}

static bool is_data(const char *text, Arena *arena)
{
    const char *why = NULL;
    Text data = { .arena = arena };
    text_add(&data, text);
    const bool is_good = vet_data(&data, is_known, arena, &why);
    assert_true(is_good == !why);
    return is_good;
}

static void literals_hold_any_bytes_and_nothing_else(void **unused)
{
    (void)unused;
    Arena *arena = arena_create(NULL);
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            const ArenaMark mark = arena_mark(arena);
            const char pair[] = { 'x', (char)a, (char)b, '1', 0 };
            Text text = { .arena = arena };
            model_string(&text, pair);
            assert_string_equal(read_literal(text.at, arena), pair);
            assert_true(is_data(text.at, arena));
            arena_reset(arena, mark);
        }
    arena_destroy(arena);
}

static void data_is_numbers_literals_and_known_words(void **unused)
{
    (void)unused;
    static const char *const good[] = { "{ .name = \"x\", 1e-30, -2 }", "a12 = { 0 };", "18446744073709551615u",
                                        "\"\\012(*)system();\"" };
    static const char *const bad[] = { "system(1)", "name(1)",  ".name = x", "\"a\nb\"", "\"a", "\"a\\\"", "\"\\1\"",
                                       "\"?\?=\"",  "#",        "/* */",     "'c'",      "\t",  "a12b",    "<:",
                                       "name & 1",  "\"\xc3\"", "\"#\"",     "\\",       "asm", "_Pragma" };
    Arena *arena = arena_create(NULL);
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        fail_if(!is_data(good[k], arena), "%s", good[k]);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        fail_if(is_data(bad[k], arena), "%s", bad[k]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte_in_any_name_leaves_the_code_as_it_is),
        cmocka_unit_test(no_two_bytes_end_a_comment),
        cmocka_unit_test(names_that_were_tried),
        cmocka_unit_test(what_the_printer_writes_passes),
        cmocka_unit_test(what_it_does_not_write_is_refused),
        cmocka_unit_test(literals_hold_any_bytes_and_nothing_else),
        cmocka_unit_test(data_is_numbers_literals_and_known_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
