/* Experiment files: every setting, every mistake with its place, and the order of precedence. */
#include "assertions.h"
#include "experiment/experiment.h"
#include "base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    int n_files;
} Fixture;

static int set_up(void **state)
{
    Fixture *const fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create(NULL);
    fixture->sources = sources_create(fixture->arena);
    fixture->diag = diag_create(fixture->arena, fixture->sources);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *const fixture = *state;
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static const Profile *profile_at(uint32_t k)
{
    static const Profile profiles[] = { { .name = "dymola" }, { .name = "simplex" } };
    return k < 2 ? &profiles[k] : NULL;
}

static const char *tier_at(uint32_t k)
{
    static const char *const tiers[] = { "auto", "interp", "tcc", "cc", NULL };
    return tiers[k];
}

static const Vocabulary words = { profile_at, tier_at };

static bool read_text(Fixture *fixture, const char *text, Experiment *experiment)
{
    experiment->words = &words;
    char path[32];
    snprintf(path, sizeof path, "lab/e%d.exp.yaml", fixture->n_files++);
    const uint32_t source = sources_add_text(fixture->sources, path, text, strlen(text));
    return experiment_read(source, fixture->sources, fixture->arena, fixture->diag, experiment);
}

static const char *messages(Fixture *fixture)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);
    diag_print(fixture->diag, memory, (DiagStyle){ 0 });
    fclose(memory);
    char *const copy = arena_text(fixture->arena, text, size);
    free(text);
    return copy;
}

static void every_setting_is_read(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    assert_true(read_text(fixture,
                          "# a comment\n"
                          "model: ball.mo:Ball\n"
                          "start: -1\n"
                          "stop: 1e1\n"
                          "interval: 0.5\n"
                          "tolerance: 1e-8\n"
                          "absolute-tolerance: 1e-12\n"
                          "nominal: { x: 1e-9 }\n"
                          "solver: cvode\n"
                          "tier: interp\n"
                          "step: 1e-3\n"
                          "max-step: 0.25\n"
                          "output: \"out.mat\"\n"
                          "profile: simplex\n"
                          "use: And=Delay, Or=Logic\n"
                          "task: unknown f, known der(v) = 2\n"
                          "seed: 18446744073709551615\n"
                          "set:\n"
                          "  mass: 2.5\n"
                          "  'body.r[1]': -3\n"
                          "  closed: true\n"
                          "variables: [x, 'Integ.*', 'A[1,2]']\n"
                          "plot:\n"
                          "  - title: Position\n"
                          "    variables: [x, y]\n"
                          "  - [v]\n"
                          "control: { TScal: 1e-3, MaxTkt: 7 }\n"
                          "start-from: old.csv\n"
                          "start-from-time: 2\n"
                          "inputs: drive.csv\n"
                          "protocol: what.txt\n"
                          "event-rows: off\n"
                          "stop-when: x > 2 and time > 1\n"
                          "observers:\n"
                          "  - { name: o, kind: sampled, every: 2, from: 1, to: 3, variables: [x, v], output: o.txt }\n"
                          "  - { variables: x, width: 5 }\n"
                          "phases:\n"
                          "  - until: 3\n"
                          "    set: { mass: 4 }\n"
                          "  - { solver: cvode, control: { MaxTkt: 9 } }\n",
                          &e));
    for (int k = 0; k < EXPERIMENT_KEYS; k++)
        assert_true(e.has[k]);
    assert_string_equal(e.model, "lab/ball.mo:Ball");
    assert_string_equal(e.how.stop_when, "x > 2 and time > 1");
    assert_true(e.begin.start == -1 && e.part.stop == 10 && e.results.interval == 0.5 && e.part.tolerance == 1e-8);
    assert_true(e.part.step == 1e-3 && e.part.max_step == 0.25 && e.begin.seed == UINT64_MAX);
    assert_true(e.errors.absolute_tolerance == 1e-12 && e.errors.nominals.n == 1);
    assert_string_equal(e.errors.nominals.at[0].value, "1e-9");
    assert_string_equal(e.part.solver, "cvode");
    assert_string_equal(e.how.tier, "interp");
    assert_string_equal(e.results.output, "out.mat");
    assert_string_equal(e.how.profile, "simplex");
    assert_string_equal(e.how.task, "unknown f, known der(v) = 2");
    assert_string_equal(e.how.use, "And=Delay, Or=Logic");
    assert_int_equal(e.part.settings.n, 3);
    assert_string_equal(e.part.settings.at[1].name, "body.r[1]");
    assert_string_equal(e.part.settings.at[1].value, "-3");
    assert_string_equal(e.part.settings.at[2].value, "true");
    assert_int_equal(span_begin(fixture->sources, e.part.settings.at[0].span).line, 19);
    assert_int_equal(span_begin(fixture->sources, e.part.settings.at[0].span).column, 3);
    assert_int_equal(e.results.variables.n, 3);
    assert_string_equal(e.results.variables.at[2].glob, "A[1,2]");
    assert_int_equal(e.results.n_panes, 2);
    assert_string_equal(e.results.panes[0].title, "Position");
    assert_int_equal(e.results.panes[0].variables.n, 2);
    assert_string_equal(e.results.panes[1].title, "");
    assert_string_equal(e.results.panes[1].variables.at[0].glob, "v");
    assert_int_equal(e.part.controls.n, 2);
    assert_string_equal(e.part.controls.at[1].name, "MaxTkt");
    assert_string_equal(e.begin.inputs, "lab/drive.csv");
    assert_string_equal(e.begin.start_from, "old.csv");
    assert_true(e.begin.start_from_time == 2);
    assert_int_equal(e.results.n_observers, 2);
    assert_int_equal(e.results.observers[0].kind, OBSERVER_SAMPLED);
    assert_true(e.results.observers[0].every == 2 && e.results.observers[0].from == 1 &&
                e.results.observers[0].to == 3);
    assert_string_equal(e.results.observers[0].output, "o.txt");
    assert_string_equal(e.results.observers[1].name, "observer2");
    assert_int_equal(e.results.observers[1].kind, OBSERVER_COMPRESSED_DISCRETE);
    assert_int_equal(e.n_phases, 2);
    assert_true(e.phases[0].part.stop == 3);
    assert_string_equal(e.phases[0].part.settings.at[0].value, "4");
    assert_string_equal(e.phases[1].part.controls.at[0].value, "9");
    assert_int_equal(diag_errors(fixture->diag), 0);
}

static void what_is_not_given_is_not_invented(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    static const char *const empty[] = { "", "# only a comment\n", "---\n", "stop: 1\n" };
    for (int i = 0; i < 4; i++) {
        assert_true(read_text(fixture, empty[i], &e));
        for (int k = 0; k < EXPERIMENT_KEYS; k++)
            assert_int_equal(e.has[k], i == 3 && k == EXPERIMENT_STOP);
    }
}

static void names_to_plot_and_record_may_be_a_single_text(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    assert_true(read_text(fixture, "variables: x,y*\nplot: v\n", &e));
    assert_int_equal(e.results.variables.n, 2);
    assert_string_equal(e.results.variables.at[1].glob, "y*");
    assert_int_equal(e.results.n_panes, 1);
    assert_true(read_text(fixture, "plot: [x, v]\n", &e));
    assert_int_equal(e.results.n_panes, 1);
    assert_int_equal(e.results.panes[0].variables.n, 2);
}

static void arrays_are_set_element_by_element(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    assert_true(read_text(fixture, "set: { x: [1, 2], A: [[1, 2], [3, 4]] }\n", &e));
    assert_int_equal(e.part.settings.n, 6);
    assert_string_equal(e.part.settings.at[1].name, "x[2]");
    assert_string_equal(e.part.settings.at[1].value, "2");
    assert_string_equal(e.part.settings.at[4].name, "A[2,1]");
    assert_string_equal(e.part.settings.at[4].value, "3");
}

typedef struct {
    const char *text, *place, *message; /* what the printed diagnostics contain */
} Mistake;

static void check_mistakes(Fixture *fixture, const Mistake *mistakes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Experiment e;
        fixture->diag = diag_create(fixture->arena, fixture->sources);
        fail_if(read_text(fixture, mistakes[i].text, &e), "accepted: %s", mistakes[i].text);
        const char *const said = messages(fixture);
        fail_if(!strstr(said, mistakes[i].place) || !strstr(said, mistakes[i].message), "'%s' '%s' is not in:\n%s",
                mistakes[i].place, mistakes[i].message, said);
    }
}

static void mistakes_are_told_with_place_and_advice(void **state)
{
    static const Mistake mistakes[] = {
        { "stop: 1\nstopp: 2\n", "yaml:2:1:", "there is no setting 'stopp'" },
        { "tolerence: 1\n", "yaml:1:1:", "did you mean 'tolerance'?" },
        { "stop: 1\nstart: 0\nstop: 2\n", "yaml:3:1:", "'stop' is given twice" },
        { "stop: soon\n", "yaml:1:7:", "'stop' must be a number, not 'soon'" },
        { "stop: '1'\n", "yaml:1:7:", "'stop' must be a number" },
        { "stop:\n", "yaml:1:", "'stop' must be a number" },
        { "stop: [1]\n", "yaml:1:7:", "'stop' must be a number" },
        { "stop: 1,5\n", "yaml:1:7:", "'stop' must be a number, not '1,5'" },
        { "stop: inf\n", "yaml:1:7:", "'stop' must be finite" },
        { "interval: 0\n", "yaml:1:11:", "'interval' must be above 0, not '0'" },
        { "tolerance: 2\n", "yaml:1:12:", "'tolerance' must be below 1" },
        { "profile: modelica\n", "yaml:1:10:", "'profile' must be the name of a profile: dymola or simplex" },
        { "seed: -1\n", "yaml:1:7:", "'seed' must be a whole number from 0 on" },
        { "seed: 18446744073709551616\n", "yaml:1:7:", "'seed' must be below 2^64" },
        { "tier: fast\n", "yaml:1:7:", "'tier' must be auto, interp, tcc or cc, not 'fast'" },
        { "model: [a]\n", "yaml:1:8:", "'model' must be a text" },
        { "output: ''\n", "yaml:1:9:", "'output' must be a text that is not empty" },
        { "set: 5\n", "yaml:1:6:", "'set' must be pairs of name and value" },
        { "set: { a: 1, b: 2, a: 3 }\n", "yaml:1:20:", "'a' is set twice" },
        { "set: { a: { b: 1 } }\n", "yaml:1:11:", "'a' must have a value or a list of values" },
        { "set: { a: [1, { b: 1 }] }\n", "yaml:1:15:", "an element of 'a' must be a value" },
        { "set:\n  a:\n", "yaml:2:", "'a' must have a value" },
        { "variables: { a: 1 }\n", "yaml:1:12:", "'variables' must be a list of names" },
        { "variables: []\n", "yaml:1:12:", "'variables' has no names" },
        { "plot: [x, [y]]\n", "yaml:1:7:", "'plot' mixes names and panes" },
        { "plot: [{ titel: a }]\n", "yaml:1:10:", "a pane has no setting 'titel'" },
        { "plot: [{ title: a }]\n", "yaml:1:8:", "a pane of 'plot' has no variables" },
        { "plot: [{ title: [a], variables: x }]\n", "yaml:1:17:", "'title' must be a text" },
        { "plot: [{ title: a, title: b, variables: x }]\n", "yaml:1:20:", "'title' is given twice in one pane" },
        { "plot: []\n", "yaml:1:7:", "'plot' has no names" },
        { "- a\n", "yaml:1:1:", "an experiment is pairs of setting and value" },
        { "just text\n", "yaml:1:1:", "an experiment is pairs of setting and value" },
        { "[a]: 1\n", "yaml:1:1:", "the name of a setting must be a word" },
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void broken_yaml_is_told_where_it_breaks(void **state)
{
    static const Mistake mistakes[] = {
        { "stop: [1\n", "yaml:2:1:", "not valid YAML" },
        { "stop: 1\n\tstart: 0\n", "yaml:2:1:", "not valid YAML" },
        { "stop: 1\n start: 0\n", "yaml:2:7:", "not valid YAML" },
        { "title: \"no end\n", "yaml:", "not valid YAML" },
        { "set: {a: 1}}\n", "yaml:1:12:", "not valid YAML" },
        { "stop: 1\x01\n", "yaml:1:8:", "not valid YAML" },
        /* columns count characters, not bytes */
        { "set: { größe: 1, größe: 2 }\n", "yaml:1:18:", "'größe' is set twice" },
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void yaml_beyond_settings_is_refused(void **state)
{
    static const Mistake mistakes[] = {
        { "variables: &a [x]\nplot: *a\n", "yaml:2:7:", "aliases ('*name') are not part of experiment files" },
        { "set: { a: [[[[[[[[1]]]]]]]] }\n", "yaml:1:", "nested too deeply" },
        { "stop: 1\n---\nstop: 2\n", "yaml:1:1:", "an experiment file has one document" },
        { "set: { \"a\\0b\": 1 }\n", "yaml:1:8:", "a text contains a zero character" },
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

/* "Billion laughs": a few hundred bytes that would expand to gigabytes. */
static void an_alias_bomb_costs_nothing(void **state)
{
    Fixture *const fixture = *state;
    Text text = { .arena = fixture->arena };
    text_add(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 30; i++)
        text_format(&text, "a%d: &a%d [*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1, i - 1);
    text_add(&text, "variables: *a29\n");
    Experiment e;
    const size_t before = arena_bytes(fixture->arena);
    assert_false(read_text(fixture, text.at, &e));
    assert_true(arena_bytes(fixture->arena) - before < (size_t)8 << 20);
    Text deep = { .arena = fixture->arena };
    for (int i = 0; i < 500000; i++)
        text_char(&deep, '[');
    assert_false(read_text(fixture, deep.at, &e));
}

static void several_mistakes_are_told_at_once(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    assert_false(read_text(fixture, "stop: soon\ninterval: -1\nfoo: { a: [1, 2] }\nstart: 2\n", &e));
    assert_int_equal(diag_errors(fixture->diag), 3);
    assert_true(e.has[EXPERIMENT_START] && e.begin.start == 2);
    assert_false(e.has[EXPERIMENT_STOP]);
}

static void later_settings_win_one_by_one(void **state)
{
    Fixture *const fixture = *state;
    Experiment annotation = experiment_none(&words), file, line = experiment_none(&words);
    Arena *const arena = fixture->arena;
    assert_true(experiment_give(&annotation, "stop", "1", arena, fixture->diag));
    assert_true(experiment_give(&annotation, "tolerance", "1e-4", arena, fixture->diag));
    assert_true(read_text(fixture, "stop: 2\nset: { a: 1, b: 2 }\nvariables: [x, y]\n", &file));
    assert_true(experiment_give(&line, "stop", "3", arena, fixture->diag));
    assert_true(experiment_give(&line, "set", "b=20", arena, fixture->diag));
    assert_true(experiment_give(&line, "set", "c = 30", arena, fixture->diag));
    assert_true(experiment_give(&line, "set", "c=31", arena, fixture->diag));
    assert_true(experiment_give(&line, "variables", "z,A[1,2]", arena, fixture->diag));
    assert_true(experiment_give(&line, "plot", "z", arena, fixture->diag));
    Experiment merged = experiment_merge(&annotation, &file, arena);
    assert_true(merged.part.stop == 2 && merged.part.tolerance == 1e-4);
    merged = experiment_merge(&merged, &line, arena);
    assert_true(merged.part.stop == 3 && merged.part.tolerance == 1e-4);
    assert_false(merged.has[EXPERIMENT_START]);
    assert_int_equal(merged.part.settings.n, 3);
    assert_string_equal(merged.part.settings.at[0].value, "1");
    assert_string_equal(merged.part.settings.at[1].value, "20");
    assert_string_equal(merged.part.settings.at[2].name, "c");
    assert_string_equal(merged.part.settings.at[2].value, "31");
    assert_int_equal(merged.results.variables.n, 2);
    assert_string_equal(merged.results.variables.at[1].glob, "A[1,2]");
    assert_int_equal(merged.results.n_panes, 1);
    assert_int_equal(file.part.settings.n, 2); /* the parts are unchanged */
}

static void the_command_line_has_the_same_checks(void **state)
{
    Fixture *const fixture = *state;
    static const char *const wrong[][3] = {
        { "stop", "soon", "'stop' must be a number, not 'soon'" },
        { "tolerence", "1", "did you mean 'tolerance'?" },
        { "set", "mass", "'set' must be NAME=VALUE, not 'mass'" },
        { "set", "=1", "'set' must be NAME=VALUE" },
        { "set", "a=", "'set' must be NAME=VALUE" },
        { "variables", ",", "'variables' has no names" },
        { "tier", "gcc", "'tier' must be auto, interp, tcc or cc" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Experiment e = experiment_none(&words);
        fixture->diag = diag_create(fixture->arena, fixture->sources);
        assert_false(experiment_give(&e, wrong[i][0], wrong[i][1], fixture->arena, fixture->diag));
        const char *const said = messages(fixture);
        fail_if(!strstr(said, wrong[i][2]), "'%s' is not in:\n%s", wrong[i][2], said);
    }
}

static void a_stop_before_the_start_is_told_with_both_places(void **state)
{
    Fixture *const fixture = *state;
    Experiment e;
    assert_true(read_text(fixture, "start: 2.5\nstop: 1\n", &e));
    assert_false(experiment_check(&e, fixture->diag));
    const char *const said = messages(fixture);
    assert_non_null(strstr(said, "the stop time 1 lies before the start time 2.5"));
    assert_non_null(strstr(said, "yaml:2:7"));
    assert_non_null(strstr(said, "yaml:1:8"));
    e.part.stop = 2.5;
    assert_true(experiment_check(&e, fixture->diag));
}

static void files_are_opened_or_reported(void **state)
{
    Fixture *const fixture = *state;
    Experiment e = experiment_none(&words);
    assert_false(experiment_open("/no/such.exp.yaml", fixture->sources, fixture->arena, fixture->diag, &e));
    assert_non_null(strstr(messages(fixture), "does not exist"));
    assert_false(experiment_open("/tmp", fixture->sources, fixture->arena, fixture->diag, &e));
    assert_int_equal(diag_errors(fixture->diag), 2);
}

/* The example of the manual, between the marks ```yaml and ```. */
static void the_example_of_the_manual_is_valid(void **state)
{
    Fixture *const fixture = *state;
    FILE *const file = fopen(KOINE_SOURCE_DIR "/docs/experiments.md", "r");
    assert_non_null(file);
    Text text = { .arena = fixture->arena };
    text_add(&text, "");
    char line[512];
    bool is_inside = false, is_done = false;
    while (!is_done && fgets(line, sizeof line, file)) {
        is_done = is_inside && strncmp(line, "```", 3) == 0;
        if (is_inside && !is_done)
            text_add(&text, line);
        is_inside |= strcmp(line, "```yaml\n") == 0;
    }
    fclose(file);
    Experiment e;
    const bool is_good = read_text(fixture, text.at, &e);
    fail_if(!is_good, "%s", messages(fixture));
    for (int k = 0; k < EXPERIMENT_KEYS; k++)
        fail_if(!e.has[k], "the example lacks '%s'", experiment_key_name((ExperimentKey)k));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_setting_is_read),
        TEST(what_is_not_given_is_not_invented),
        TEST(names_to_plot_and_record_may_be_a_single_text),
        TEST(arrays_are_set_element_by_element),
        TEST(mistakes_are_told_with_place_and_advice),
        TEST(broken_yaml_is_told_where_it_breaks),
        TEST(yaml_beyond_settings_is_refused),
        TEST(an_alias_bomb_costs_nothing),
        TEST(several_mistakes_are_told_at_once),
        TEST(later_settings_win_one_by_one),
        TEST(the_command_line_has_the_same_checks),
        TEST(a_stop_before_the_start_is_told_with_both_places),
        TEST(files_are_opened_or_reported),
        TEST(the_example_of_the_manual_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
