/* Command lines as data, at a program with two verbs. */
#include "assertions.h"
#include "command/command.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *colour(uint32_t k)
{
    static const char *const words[] = { "red", "green", NULL };
    return words[k];
}

static const char *topic(uint32_t k)
{
    return k == 0 ? "paints" : NULL;
}

static const char *list(const char *name, size_t length, Arena *arena)
{
    return arena_format(arena, "<%.*s>", (int)length, name);
}

static const Option options_of_paint[] = {
    { .name = "colour", .value = "NAME", .word = colour, .help = "of {walls}" },
    { .name = "output", .value = "FILE", .help = "where to" },
    { .name = "coat", .value = "N", .repeats = true, .help = "one more" },
    { .name = "wet", .help = "x={1, 3}" },
    { 0 },
};
static const Option common[] = { { .name = "help", .help = "tell" }, { 0 } };
static const Example examples[] = { { "house paint a.txt", "paints it." }, { 0 } };
static const Verb paint = { .name = "paint",
                            .arguments = "FILE",
                            .summary = "paint a wall",
                            .text = "Paints.\n\n.Dots begin no order - of man\\.",
                            .most = 1,
                            .options = options_of_paint,
                            .examples = examples };
static const Verb tell = { .name = "tell", .arguments = "", .summary = "tell more", .text = "Tells.", .topics = topic };
static const Verb *const verbs[] = { &paint, &tell, NULL };
static const CommandSet set = { .name = "house",
                                .version = "1.2",
                                .title = "walls",
                                .summary = "Paints walls.",
                                .exit_status = "0 good.",
                                .environment = ".TP\nHOME\na house.",
                                .verbs = verbs,
                                .options = common,
                                .list = list };

static Command none(void)
{
    return (Command){ .set = &set, .verb = &paint, .arena = arena_create(NULL) };
}

#define PARSE(command, why, ...)                                                                                       \
    command_parse(command, (int)(sizeof((char *const[]){ __VA_ARGS__ }) / sizeof(char *)),                             \
                  (char *const[]){ __VA_ARGS__ }, why)

static void test_options_and_arguments(void **state)
{
    (void)state;
    Command c = none();
    const char *why;
    assert_true(
        PARSE(&c, &why, "a", "--colour", "green", "--coat=1", "-o", "f", "-", "--wet", "--coat", "2=3", "--", "--wet"));
    assert_null(why);
    assert_int_equal(c.n_arguments, 3);
    assert_string_equal(c.arguments[0], "a");
    assert_string_equal(c.arguments[1], "-");
    assert_string_equal(c.arguments[2], "--wet");
    assert_string_equal(command_option(&c, "colour"), "green");
    assert_string_equal(command_option(&c, "output"), "f");
    assert_string_equal(command_option(&c, "wet"), "");
    assert_string_equal(command_option(&c, "coat"), "2=3"); /* the last one */
    assert_null(command_option(&c, "help"));
    const char *const *coats = command_options(&c, "coat");
    assert_string_equal(coats[0], "1");
    assert_string_equal(coats[1], "2=3");
    assert_null(coats[2]);
    assert_null(command_options(&c, "help"));
    arena_destroy(c.arena);
}

static void refuses(const char *first, const char *second, const char *expected)
{
    Command c = none();
    const char *why;
    assert_false(second ? PARSE(&c, &why, (char *)first, (char *)second) : PARSE(&c, &why, (char *)first));
    assert_string_equal(why, expected);
    arena_destroy(c.arena);
}

static void test_what_is_wrong_is_told_with_a_name_like_it(void **state)
{
    (void)state;
    refuses("--color", "red", "there is no option --color; did you mean --colour?");
    refuses("--window", NULL, "there is no option --window");
    refuses("-w", NULL, "there is no option -w; options have two dashes and a whole word");
    refuses("--wet=1", NULL, "--wet takes no value");
    refuses("a", "--coat", "--coat wants a value: --coat N");
    refuses("--colour", "rad", "--colour cannot be 'rad'; did you mean 'red'? (one of: red, green)");
    refuses("--colour=yellow", NULL, "--colour cannot be 'yellow'; one of: red, green");
}

static void test_numbers_have_a_range(void **state)
{
    (void)state;
    long n = 0;
    assert_true(command_number("-7", -7, 8, &n));
    assert_int_equal(n, -7);
    assert_false(command_number("9", -7, 8, &n));
    assert_false(command_number("", -7, 8, &n));
    assert_false(command_number("3x", -7, 8, &n));
}

static void test_help_names_lists_and_words(void **state)
{
    (void)state;
    Text text = { .arena = arena_create(NULL) };
    help_verb(&set, &paint, false, &text);
    assert_string_equal(text.at, "house paint: paint a wall\n\nusage: house paint FILE [OPTIONS]\n\n"
                                 "Paints.\n\n.Dots begin no order - of man\\.\n"
                                 "\nOptions\n"
                                 "  --colour NAME         of <walls>\n"
                                 "                        red, green\n"
                                 "  --output FILE         where to\n"
                                 "  --coat N              one more\n"
                                 "  --wet                 x={1, 3}\n"
                                 "  --help                tell\n"
                                 "\nExamples\n"
                                 "  house paint a.txt\n      paints it.\n");
    arena_destroy(text.arena);
}

static void test_the_manual_page(void **state)
{
    (void)state;
    Text text = { .arena = arena_create(NULL) };
    manual_page(&set, &text);
    assert_non_null(strstr(text.at, ".TH HOUSE 1 \"\" \"house 1.2\" \"User commands\"\n.SH NAME\nhouse \\- walls\n"));
    assert_non_null(strstr(text.at, "Paints.\n.PP\n\\&.Dots begin no order \\- of man\\e.\n"));
    assert_non_null(strstr(text.at, ".TP\n\\fB\\-\\-colour\\fR \\fINAME\\fR\nof <walls>\nOne of: red, green.\n"));
    assert_non_null(strstr(text.at, ".SH EXIT STATUS\n0 good.\n.SH ENVIRONMENT\n.TP\nHOME\na house.\n"));
    arena_destroy(text.arena);
}

static void test_completion(void **state)
{
    (void)state;
    Text text = { .arena = arena_create(NULL) };
    completion_script(&set, &text);
    assert_non_null(strstr(text.at, "compgen -W 'paint tell --help --version'"));
    assert_non_null(strstr(text.at, "'paint --colour') COMPREPLY=($(compgen -W 'red green' -- \"$word\")); return ;;"));
    assert_non_null(strstr(text.at, "'paint --output') COMPREPLY=($(compgen -f -- \"$word\")); return ;;"));
    assert_non_null(strstr(text.at, "'paint --coat') return ;;"));
    assert_non_null(strstr(text.at, "[ \"$verb\" = tell ]; then COMPREPLY=($(compgen -W 'paint tell paints' -- "));
    assert_non_null(strstr(text.at, "paint) COMPREPLY=($(compgen -W ' --colour --output --coat --wet --help' -- "));
    assert_non_null(strstr(text.at, "complete -o filenames -F _house house ./house\n"));
    arena_destroy(text.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_and_arguments), cmocka_unit_test(test_what_is_wrong_is_told_with_a_name_like_it),
        cmocka_unit_test(test_numbers_have_a_range),  cmocka_unit_test(test_help_names_lists_and_words),
        cmocka_unit_test(test_the_manual_page),       cmocka_unit_test(test_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
