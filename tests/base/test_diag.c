/* Exact output of diagnostics: text, colour, JSON; limits and order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/diag.h"
#include <stdlib.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
} Case;

static int set_up(void **state)
{
    Case *c = calloc(1, sizeof *c);
    c->arena = arena_create(NULL);
    c->sources = sources_create(c->arena);
    c->diag = diag_create(c->arena, c->sources);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    Case *c = *state;
    arena_destroy(c->arena);
    free(c);
    return 0;
}

static const DiagStyle PLAIN = { false, false }, COLOUR = { false, true }, JSON = { true, false };

static char *printed(Case *c, DiagStyle style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(c->diag, to, style);
    fclose(to);
    char *copy = arena_text(c->arena, text, size);
    free(text);
    return copy;
}

static uint32_t add(Case *c, const char *path, const char *text)
{
    return sources_add_text(c->sources, path, text, strlen(text));
}

/* The span of the first occurrence of `part`. */
static Span find(const Case *c, uint32_t source, const char *part)
{
    const char *text = sources_get(c->sources, source)->text;
    const char *found = strstr(text, part);
    assert_non_null(found);
    const uint32_t begin = (uint32_t)(found - text);
    return (Span){ source, begin, begin + (uint32_t)strlen(part) };
}

static void line_caret_notes_and_help(void **state)
{
    Case *c = *state;
    const uint32_t s = add(c, "tank.mdl", "STATE\n  level (REAL)\nlevel' := inflow +;\n");
    diag_error(c->diag, DIAG_SYNTAX, find(c, s, ";"), "expected a factor after '%c'", '+');
    diag_note(c->diag, find(c, s, "level"), "%s is declared here", "level");
    diag_note(c->diag, SPAN_NONE, "a note without a place");
    diag_help(c->diag, "remove the '+'");
    diag_help(c->diag, "or write what is to be added");
    diag_warning(c->diag, DIAG_NUMBER_RANGE, find(c, s, "inflow"), "inflow is never set");
    diag_error(c->diag, DIAG_FILE_MISSING, SPAN_NONE, "no file");
    assert_string_equal(printed(c, PLAIN), "tank.mdl:3:11: warning KN1012: inflow is never set\n"
                                           "    level' := inflow +;\n"
                                           "              ^^^^^^\n"
                                           "tank.mdl:3:19: error KN1010: expected a factor after '+'\n"
                                           "    level' := inflow +;\n"
                                           "                      ^\n"
                                           "  note: tank.mdl:2:3: level is declared here\n"
                                           "      level (REAL)\n"
                                           "      ^^^^^\n"
                                           "  note: a note without a place\n"
                                           "  help: remove the '+'\n"
                                           "        or write what is to be added\n"
                                           "error KN1001: no file\n");
    assert_int_equal(diag_errors(c->diag), 2);
    assert_int_equal(diag_warnings(c->diag), 1);
    assert_string_equal(printed(c, PLAIN), ""); /* each is printed once */
    diag_error(c->diag, DIAG_FILE_UNREADABLE, SPAN_NONE, "later");
    assert_string_equal(printed(c, PLAIN), "error KN1002: later\n");
}

static void colour(void **state)
{
    Case *c = *state;
    const uint32_t s = add(c, "a", "x y");
    diag_error(c->diag, DIAG_SYNTAX, find(c, s, "y"), "wrong");
    diag_note(c->diag, SPAN_NONE, "n");
    diag_help(c->diag, "h");
    diag_warning(c->diag, DIAG_SYNTAX, SPAN_NONE, "w");
    assert_string_equal(printed(c, COLOUR), "\x1b[1ma:1:3:\x1b[0m \x1b[1;31merror KN1010:\x1b[0m wrong\n"
                                            "    x y\n"
                                            "      \x1b[1;32m^\x1b[0m\n"
                                            "  \x1b[1;36mnote:\x1b[0m n\n"
                                            "  \x1b[1;32mhelp:\x1b[0m h\n"
                                            "\x1b[1;35mwarning KN1010:\x1b[0m w\n");
}

/* One error over the bytes [begin, end) of a text; returns what follows the first line. */
static const char *excerpt(Case *c, const char *text, size_t size, uint32_t begin, uint32_t end)
{
    const uint32_t s = sources_add_text(c->sources, "f", text, size);
    diag_error(c->diag, DIAG_SYNTAX, (Span){ s, begin, end }, "m");
    return strchr(printed(c, PLAIN), '\n') + 1;
}

#define EXCERPT(c, text, begin, end) excerpt((c), (text), sizeof(text) - 1, (begin), (end))

static void carets_below_the_span(void **state)
{
    Case *c = *state;
    /* A tab stays a tab, so that the caret is right whatever the terminal's tab width is. */
    assert_string_equal(EXCERPT(c, "\tif\tx", 4, 5), "    \tif\tx\n    \t  \t^\n");
    assert_string_equal(EXCERPT(c, "a\tb c", 0, 5), "    a\tb c\n    ^\t^^^\n");
    /* An empty span, the end of a line, the end of the text. */
    assert_string_equal(EXCERPT(c, "ab", 1, 1), "    ab\n     ^\n");
    assert_string_equal(EXCERPT(c, "ab\ncd", 2, 3), "    ab\n      ^\n");
    assert_string_equal(EXCERPT(c, "ab\r\ncd", 3, 4), "    ab\n      ^\n");
    assert_string_equal(EXCERPT(c, "ab", 2, 2), "    ab\n      ^\n");
    assert_string_equal(EXCERPT(c, "ab", 90, 95), "    ab\n      ^\n");
    /* Of several lines the first is shown. */
    assert_string_equal(EXCERPT(c, "x\nif a\n b\n", 2, 9), "    if a\n    ^^^^\n");
    assert_string_equal(EXCERPT(c, "x\rif a  \r\n b\n", 2, 12), "    if a\n    ^^^^\n");
    /* Blanks at the end of the span carry no caret. */
    assert_string_equal(EXCERPT(c, "a b  c", 2, 5), "    a b  c\n      ^\n");
    assert_string_equal(EXCERPT(c, "a   b", 1, 3), "    a   b\n     ^\n");
    /* Blank lines show nothing. */
    assert_string_equal(EXCERPT(c, "", 0, 0), "");
    assert_string_equal(EXCERPT(c, "a\n  \nb", 3, 4), "");
}

static void wide_and_combining_characters(void **state)
{
    Case *c = *state;
    assert_string_equal(EXCERPT(c, "\xC3\xA9 = x", 5, 6), "    \xC3\xA9 = x\n        ^\n");
    assert_string_equal(EXCERPT(c, "\xE6\xBC\xA2\xE5\xAD\x97 = x", 0, 6),
                        "    \xE6\xBC\xA2\xE5\xAD\x97 = x\n    ^^^^\n");
    assert_string_equal(EXCERPT(c, "\xE6\xBC\xA2 x", 4, 5), "    \xE6\xBC\xA2 x\n       ^\n");
    assert_string_equal(EXCERPT(c, "e\xCC\x81 x", 4, 5), "    e\xCC\x81 x\n      ^\n");
    assert_string_equal(EXCERPT(c, "e\xCC\x81 x", 1, 3), "    e\xCC\x81 x\n     ^\n");
}

/* A source cannot steer the terminal: control characters and changes of direction are replaced. */
static void unsafe_characters_are_replaced(void **state)
{
    Case *c = *state;
    assert_string_equal(EXCERPT(c, "a\0\x1b[31m x", 8, 9), "    a\xEF\xBF\xBD\xEF\xBF\xBD[31m x\n            ^\n");
    assert_string_equal(EXCERPT(c, "\xE2\x80\xAE x", 4, 5), "    \xEF\xBF\xBD x\n      ^\n");
    const uint32_t s = add(c, "bad\x1b\xFFpath", "x");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ s, 0, 1 }, "two\nlines \x07 and %.1s", "\xC3\xA9");
    assert_string_equal(printed(c, PLAIN), "bad\xEF\xBF\xBD\xEF\xBF\xBDpath:1:1: error KN1010: two\n"
                                           "    lines \xEF\xBF\xBD and \xEF\xBF\xBD\n"
                                           "    x\n"
                                           "    ^\n");
}

static void long_lines_are_shown_in_part(void **state)
{
    Case *c = *state;
    char text[1001], expected[512];
    for (int k = 0; k < 1000; k++)
        text[k] = (char)('0' + k % 10);
    text[1000] = 0;
    const size_t n = 1000;
    /* At the begin, in the middle, at the end, over everything. */
    snprintf(expected, sizeof expected, "    %.100s...\n    ^^\n", text);
    assert_string_equal(excerpt(c, text, n, 0, 2), expected);
    snprintf(expected, sizeof expected, "    ...%.100s...\n    %36s^^^\n", text + 467, "");
    assert_string_equal(excerpt(c, text, n, 500, 503), expected);
    snprintf(expected, sizeof expected, "    ...%.100s\n    %102s^\n", text + 900, "");
    assert_string_equal(excerpt(c, text, n, 999, 1000), expected);
    char carets[101];
    memset(carets, '^', 100);
    carets[100] = 0;
    snprintf(expected, sizeof expected, "    %.100s...\n    %s\n", text, carets);
    assert_string_equal(excerpt(c, text, n, 0, 1000), expected);
    /* Exactly as wide as the window: nothing is cut. */
    snprintf(expected, sizeof expected, "    %.100s\n    %50s^\n", text, "");
    assert_string_equal(excerpt(c, text, 100, 50, 51), expected);
}

static void endless_line_is_no_burden(void **state)
{
    Case *c = *state;
    enum { SIZE = 20000000 };
    char *text = malloc(SIZE);
    memset(text, 'x', SIZE);
    const uint32_t s = sources_add_text(c->sources, "f", text, SIZE);
    free(text);
    diag_set_limit(c->diag, 10000);
    const uint32_t n = 10000;
    uint64_t columns = 0;
    for (uint32_t k = 0; k < n; k++) {
        const Span span = { s, SIZE - 1 - k, SIZE - k };
        columns += span_begin(c->sources, span).column;
    }
    assert_int_equal(columns, (uint64_t)n * SIZE - (uint64_t)n * (n - 1) / 2);
    diag_error(c->diag, DIAG_SYNTAX, (Span){ s, SIZE / 2, SIZE / 2 + 1 }, "m");
    assert_int_equal(strncmp(printed(c, PLAIN), "f:1:10000001: error", 19), 0);
}

static void sorted_by_place_and_code(void **state)
{
    Case *c = *state;
    const uint32_t a = add(c, "a", "xyz"), b = add(c, "b", "xyz");
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "8");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ b, 0, 1 }, "6");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 1, 2 }, "4");
    diag_warning(c->diag, DIAG_FILE_MISSING, (Span){ b, 1, 1 }, "7");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 1, 2 }, "5"); /* as the one before: in the order of reporting */
    diag_error(c->diag, DIAG_BAD_CHARACTER, (Span){ a, 1, 2 }, "3");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 0, 3 }, "2");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 0, 1 }, "1");
    char order[9] = { 0 };
    int n = 0;
    char *text = printed(c, PLAIN);
    for (const char *at = text; (at = strstr(at, ": ")) != NULL; at++)
        if (at[2] >= '1' && at[2] <= '8')
            order[n++] = at[2];
    assert_string_equal(order, "12345678");
}

static void repetitions_are_no_news(void **state)
{
    Case *c = *state;
    const uint32_t a = add(c, "a", "xyz");
    for (int k = 0; k < 100; k++) {
        diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 0, 1 }, "m");
        diag_note(c->diag, SPAN_NONE, "n%d", k);
        diag_warning(c->diag, DIAG_SYNTAX, (Span){ a, 0, 1 }, "m");
    }
    assert_int_equal(diag_errors(c->diag), 1);
    assert_int_equal(diag_warnings(c->diag), 1);
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 0, 2 }, "m");
    diag_error(c->diag, DIAG_SYNTAX, (Span){ a, 0, 2 }, "other");
    assert_int_equal(diag_errors(c->diag), 3);
    assert_string_equal(printed(c, PLAIN), "a:1:1: error KN1010: m\n    xyz\n    ^\n"
                                           "  note: n0\n"
                                           "a:1:1: warning KN1010: m\n    xyz\n    ^\n"
                                           "a:1:1: error KN1010: m\n    xyz\n    ^^\n"
                                           "a:1:1: error KN1010: other\n    xyz\n    ^^\n");
}

static uint32_t count_lines(const char *text)
{
    uint32_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void floods_are_counted_not_kept(void **state)
{
    Case *c = *state;
    for (uint32_t k = 0; k < 20000; k++) {
        diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "error %u", k);
        diag_help(c->diag, "belongs to error %u", k);
    }
    const size_t bytes = arena_bytes(c->arena);
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "%*d", 1000000, 1);
    assert_int_equal(arena_bytes(c->arena), bytes);
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "error 0"); /* a repetition of one that was kept */
    assert_int_equal(diag_errors(c->diag), 20001);
    const char *text = printed(c, PLAIN);
    assert_int_equal(count_lines(text), 2 * 50 + 1);
    assert_non_null(strstr(text, "  help: belongs to error 49\n19951 more errors are not shown\n"));
    assert_string_equal(printed(c, PLAIN), "");
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "one more");
    assert_string_equal(printed(c, PLAIN), "1 more error is not shown\n");
}

static void the_limit_holds_for_errors_and_for_warnings(void **state)
{
    Case *c = *state;
    diag_set_limit(c->diag, 1);
    for (uint32_t k = 0; k < 3; k++) {
        diag_warning(c->diag, DIAG_SYNTAX, SPAN_NONE, "warning %u", k);
        diag_note(c->diag, SPAN_NONE, "note %u", k);
    }
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "first");
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "second");
    assert_string_equal(printed(c, PLAIN), "warning KN1010: warning 0\n"
                                           "  note: note 0\n"
                                           "error KN1010: first\n"
                                           "1 more error and 2 more warnings are not shown\n");
    assert_int_equal(diag_errors(c->diag), 2);
    assert_int_equal(diag_warnings(c->diag), 3);
}

static void notes_are_limited_too(void **state)
{
    Case *c = *state;
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "cycle");
    for (uint32_t k = 0; k < 1000; k++)
        diag_note(c->diag, SPAN_NONE, "x%u", k);
    const char *text = printed(c, PLAIN);
    assert_int_equal(count_lines(text), 1 + 20 + 1);
    assert_non_null(strstr(text, "  note: x19\n  note: and 980 more\n"));
}

static void json(void **state)
{
    Case *c = *state;
    const uint32_t s = add(c, "gr\xC3\xBC\xC3\x9F \"1\".mdl", "a\nb := 1;\n");
    diag_error(c->diag, DIAG_SYNTAX, find(c, s, "b := 1;\n"), "say \"%s\"\n\ttwice", "b");
    diag_note(c->diag, find(c, s, "a"), "here");
    diag_note(c->diag, SPAN_NONE, "there");
    diag_help(c->diag, "do this");
    diag_help(c->diag, "or that");
    diag_warning(c->diag, DIAG_FILE_MISSING, SPAN_NONE, "gone");
    static const char EXPECTED[] =
        "[{\"code\": \"KN1010\", \"level\": \"error\", \"message\": \"say \\\"b\\\"\\n\\ttwice\", "
        "\"file\": \"gr\xC3\xBC\xC3\x9F \\\"1\\\".mdl\", \"line\": 2, \"column\": 1, \"end_line\": 3, "
        "\"end_column\": 1, \"notes\": [{\"message\": \"here\", \"file\": \"gr\xC3\xBC\xC3\x9F \\\"1\\\".mdl\", "
        "\"line\": 1, \"column\": 1, \"end_line\": 1, \"end_column\": 2}, {\"message\": \"there\", \"file\": null, "
        "\"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null}], "
        "\"help\": \"do this\\nor that\"},\n"
        " {\"code\": \"KN1001\", \"level\": \"warning\", \"message\": \"gone\", \"file\": null, \"line\": null, "
        "\"column\": null, \"end_line\": null, \"end_column\": null, \"notes\": [], \"help\": null}]";
    assert_string_equal(diag_json(c->diag, c->arena), EXPECTED);
    assert_string_equal(printed(c, JSON), arena_format(c->arena, "%s\n", EXPECTED));
    assert_string_equal(printed(c, JSON), "[]\n");
    assert_string_equal(diag_json(c->diag, c->arena), EXPECTED); /* all, whatever was printed */
}

/* Sets of equations and variables are for programs: bounded, and not printed for people. */
static void json_has_the_sets_a_message_is_about(void **state)
{
    Case *c = *state;
    const uint32_t s = add(c, "m.mdl", "a = b\n");
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "x");
    diag_equation(c->diag, find(c, s, "a = b"), "a = b");
    diag_variable(c->diag, find(c, s, "b"), "b\xff");
    for (int k = 0; k < 2000; k++)
        diag_variable(c->diag, SPAN_NONE, "more");
    const char *text = diag_json(c->diag, c->arena);
    assert_non_null(strstr(text,
                           "\"help\": null, \"equations\": [{\"text\": \"a = b\", \"file\": \"m.mdl\", \"line\": 1, "
                           "\"column\": 1, \"end_line\": 1, \"end_column\": 6}], \"variables\": [{\"name\": "
                           "\"b\xEF\xBF\xBD\", \"file\": \"m.mdl\", \"line\": 1, \"column\": 5,"));
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, "\"name\"")); at++)
        n++;
    assert_int_equal(n, 1000);
    assert_null(strstr(printed(c, (DiagStyle){ 0 }), "more"));
    diag_set_limit(c->diag, 1);
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "not kept");
    diag_equation(c->diag, SPAN_NONE, "lost");
    assert_null(strstr(diag_json(c->diag, c->arena), "lost"));
}

static void json_tells_what_was_left_out(void **state)
{
    Case *c = *state;
    assert_string_equal(diag_json(c->diag, c->arena), "[]");
    diag_set_limit(c->diag, 0);
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "x");
    assert_string_equal(diag_json(c->diag, c->arena),
                        "[{\"code\": null, \"level\": \"note\", \"message\": \"1 more error is not shown\", "
                        "\"file\": null, \"line\": null, \"column\": null, \"end_line\": null, "
                        "\"end_column\": null, \"notes\": [], \"help\": null}]");
    diag_set_limit(c->diag, 1);
    diag_error(c->diag, DIAG_SYNTAX, SPAN_NONE, "y");
    for (int k = 0; k < 21; k++)
        diag_note(c->diag, SPAN_NONE, "%d", k);
    assert_non_null(strstr(diag_json(c->diag, c->arena), ", {\"message\": \"and 1 more\", \"file\": null"));
}

static void every_code_has_a_title_and_is_unique(void **state)
{
    (void)state;
    assert_null(diag_title(0));
    assert_null(diag_title(9999));
    assert_string_equal(diag_title(DIAG_SYNTAX), "the text does not follow the grammar");
    uint32_t n = 0;
    for (; diag_code_at(n); n++) {
        assert_non_null(diag_title(diag_code_at(n)));
        assert_in_range(diag_code_at(n), 1000, 9999);
        for (uint32_t k = 0; k < n; k++)
            assert_int_not_equal(diag_code_at(k), diag_code_at(n));
    }
    assert_true(n > 5);
    assert_int_equal(diag_code_at(n + 5), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(line_caret_notes_and_help),
        TEST(colour),
        TEST(carets_below_the_span),
        TEST(wide_and_combining_characters),
        TEST(unsafe_characters_are_replaced),
        TEST(long_lines_are_shown_in_part),
        TEST(endless_line_is_no_burden),
        TEST(sorted_by_place_and_code),
        TEST(repetitions_are_no_news),
        TEST(floods_are_counted_not_kept),
        TEST(the_limit_holds_for_errors_and_for_warnings),
        TEST(notes_are_limited_too),
        TEST(json),
        TEST(json_has_the_sets_a_message_is_about),
        TEST(json_tells_what_was_left_out),
        cmocka_unit_test(every_code_has_a_title_and_is_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
