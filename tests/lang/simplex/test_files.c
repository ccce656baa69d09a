/* Every .mdl file of accept/ loads without a word and prints as the .ir file beside it; every .mdl file of reject/
 * gives exactly the messages that its comments `# error KN1105: part of the text` announce, each on its line.
 * The models of examples/ and tests/sim/simplex load. `# profile simplex` in the first line asks for that profile,
 * `# places` for places in the .ir file. KOINE_BLESS=1 rewrites the .ir files. */
#include "assertions.h"
#include "fixture.h"
#include "ir/print.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>

enum { MOST_FILES = 600, MOST_MESSAGES = 64, LONGEST_PATH = 512 };
static const char here[] = KOINE_SOURCE_DIR "/tests/lang/simplex";

typedef struct {
    char folder[LONGEST_PATH], path[LONGEST_PATH + 256], name[LONGEST_PATH + 256];
} Case;

static uint32_t open_case(Fixture *fixture, const Case *which)
{
    uint32_t source;
    assert_int_equal(sources_open(fixture->sources, which->path, &source), SOURCE_OK);
    if (strstr(sources_get(fixture->sources, source)->text, "# profile simplex"))
        fixture->profile = "simplex";
    diag_set_limit(fixture->diag, 1000);
    return source;
}

static char *printed(Fixture *fixture, bool is_json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(fixture->diag, to, (DiagStyle){ .json = is_json });
    fclose(to);
    char *copy = arena_text(fixture->arena, text, size);
    free(text);
    return copy;
}

static void expect_silence(Fixture *fixture, const Model *model)
{
    fail_if(diag_errors(fixture->diag) + diag_warnings(fixture->diag) > 0 || !model, "%s", printed(fixture, false));
}

/* ---- accept ---- */
static char *file_text(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    Text text = { .arena = arena };
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        text_bytes(&text, block, n);
    fclose(file);
    return text.n ? text.at : arena_text(arena, "", 0);
}

static void bless(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_accept(void **state)
{
    const Case *which = *state;
    Fixture *fixture = fixture_create(which->folder);
    const uint32_t source = open_case(fixture, which);
    const Model *model = fixture_load(fixture, source, NULL);
    expect_silence(fixture, model);
    const bool has_places = strstr(sources_get(fixture->sources, source)->text, "# places") != NULL;
    Text text = { .arena = fixture->arena };
    model_print(model, &text, (PrintOptions){ .no_places = !has_places });
    char *path = arena_format(fixture->arena, "%.*sir", (int)strlen(which->path) - 3, which->path);
    if (getenv("KOINE_BLESS"))
        bless(path, text.at);
    const char *expected = file_text(fixture->arena, path);
    assert_non_null(expected);
    assert_string_equal(text.at, expected);
    fixture_destroy(fixture);
}

static void test_loads(void **state)
{
    const Case *which = *state;
    Fixture *fixture = fixture_create(which->folder);
    expect_silence(fixture, fixture_load(fixture, open_case(fixture, which), NULL));
    fixture_destroy(fixture);
}

/* ---- reject ---- */
typedef struct {
    unsigned line, code;
    char level[16], text[200];
    bool is_seen;
} Message;

/* Comments `# error KN1105: text` and `# warning KN1108: text`; a line can have several. */
static uint32_t read_expected(const char *text, Message *messages)
{
    uint32_t n = 0, line = 1;
    for (const char *at = text; *at; at++) {
        Message *message = &messages[n];
        *message = (Message){ .line = line };
        line += *at == '\n';
        int length = 0;
        if (*at != '#' || sscanf(at, "# %15[a-z] KN%u: %n", message->level, &message->code, &length) < 2 || length == 0)
            continue;
        at += length;
        for (size_t k = 0; *at && *at != '\n' && *at != '\r' && *at != '#' && k + 1 < sizeof message->text; k++)
            message->text[k] = *at++;
        for (size_t k = strlen(message->text); k > 0 && strchr(" \t", message->text[k - 1]); k--)
            message->text[k - 1] = '\0';
        at--;
        assert_true(++n < MOST_MESSAGES);
    }
    return n;
}

/* Lines `path:line:column: error KN1105: text`. */
static bool read_message(const char *line, const char *path, Message *message)
{
    const size_t length = strlen(path);
    unsigned column;
    int at = 0;
    *message = (Message){ 0 };
    if (strncmp(line, path, length) != 0 || line[length] != ':')
        return false;
    if (sscanf(line + length, ":%u:%u: %15[a-z] KN%u: %n", &message->line, &column, message->level, &message->code,
               &at) < 4 ||
        at == 0)
        return false;
    snprintf(message->text, sizeof message->text, "%s", line + length + at);
    return true;
}

static void test_reject(void **state)
{
    const Case *which = *state;
    Fixture *fixture = fixture_create(which->folder);
    Message expected[MOST_MESSAGES];
    const uint32_t source = open_case(fixture, which);
    const uint32_t n = read_expected(sources_get(fixture->sources, source)->text, expected);
    assert_true(n > 0); /* a text to be refused says what it is refused with */
    const Model *model = fixture_load(fixture, source, NULL);
    assert_true((model == NULL) == (diag_errors(fixture->diag) > 0));
    char *all = printed(fixture, false);
    char *rest = arena_text(fixture->arena, all, strlen(all));
    for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        Message found;
        if (!read_message(line, which->path, &found))
            continue;
        uint32_t k = 0;
        while (k < n && (expected[k].is_seen || expected[k].line != found.line || expected[k].code != found.code ||
                         strcmp(expected[k].level, found.level) != 0 || !strstr(found.text, expected[k].text)))
            k++;
        fail_if(k == n, "not expected: %s\n%s", line, all);
        expected[k].is_seen = true;
    }
    for (uint32_t k = 0; k < n; k++)
        fail_if(!expected[k].is_seen, "line %u: no KN%u: %s\n%s", expected[k].line, expected[k].code, expected[k].text,
                all);
    fixture_destroy(fixture);
}

/* A text that is wrong is wrong the second time too. */
static void test_twice(void **state)
{
    (void)state;
    static const char text[] = "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANT a (REAL) := x END OF A";
    Fixture *fixture = fixture_create(".");
    const uint32_t source = sources_add_text(fixture->sources, "A.mdl", text, sizeof text - 1);
    assert_null(fixture_load(fixture, source, NULL));
    assert_null(fixture_load(fixture, source, NULL));
    assert_int_equal(diag_errors(fixture->diag), 1);
    fixture_destroy(fixture);
}

static void test_class_name(void **state)
{
    (void)state;
    static const char text[] = "BASIC COMPONENT Aa DECLARATION OF ELEMENTS CONSTANT a (REAL) := 1 END OF Aa";
    Fixture *fixture = fixture_create(".");
    const uint32_t source = sources_add_text(fixture->sources, "A.mdl", text, sizeof text - 1);
    assert_non_null(fixture_load(fixture, source, "Aa"));
    assert_non_null(fixture_load(fixture, source, "aA"));
    assert_null(fixture_load(fixture, source, "A"));
    assert_non_null(strstr(printed(fixture, false), "KN1103"));
    fixture_destroy(fixture);
}

/* ---- collecting ---- */
static Case cases[MOST_FILES];
static struct CMUnitTest tests[MOST_FILES];
static uint32_t n_cases;

static void add_case(const char *name, CMUnitTestFunction function, Case *which)
{
    assert_true(n_cases < MOST_FILES);
    tests[n_cases++] = (struct CMUnitTest){ name, function, NULL, NULL, which };
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".mdl") == 0;
}

static uint32_t add_folder(const char *folder, CMUnitTestFunction function)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_model, alphasort);
    for (int k = 0; k < n; k++) {
        Case *which = &cases[n_cases];
        snprintf(which->folder, sizeof which->folder, "%s", folder);
        snprintf(which->path, sizeof which->path, "%s/%s", folder, entries[k]->d_name);
        snprintf(which->name, sizeof which->name, "%s/%s", strrchr(folder, '/') + 1, entries[k]->d_name);
        add_case(which->name, function, which);
        free(entries[k]);
    }
    if (n >= 0)
        free(entries);
    return n > 0 ? (uint32_t)n : 0;
}

int main(void)
{
    static const char *const loading[] = {
        "examples/bouncing-ball", "examples/triangle",         "examples/sincos",         "examples/predator-prey",
        "examples/heating",       "examples/adder/And",        "examples/adder/Or",       "examples/adder/XOr",
        "examples/rc-circuit",    "examples/oscillator",       "examples/lotka-volterra", "examples/case-studies",
        "tests/sim/simplex",      "tests/lang/simplex/classes"
    };
    char folder[LONGEST_PATH];
    bool is_complete = true;
    snprintf(folder, sizeof folder, "%s/accept", here);
    is_complete &= add_folder(folder, test_accept) > 0;
    snprintf(folder, sizeof folder, "%s/reject", here);
    is_complete &= add_folder(folder, test_reject) > 0;
    for (size_t k = 0; k < sizeof loading / sizeof *loading; k++) {
        snprintf(folder, sizeof folder, "%s/%s", KOINE_SOURCE_DIR, loading[k]);
        is_complete &= add_folder(folder, test_loads) > 0;
    }
    add_case("a text that is wrong is wrong twice", test_twice, NULL);
    add_case("class name", test_class_name, NULL);
    if (!is_complete)
        return 1;
    return _cmocka_run_group_tests("simplex files", tests, n_cases, NULL, NULL);
}
