/* koine runs: the catalogue of runs. */
#include "base/text.h"
#include "experiment/note.h"
#include "experiment/noted.h"
#include "cli/verbs.h"
#include "web/origin.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    const Command *command;
    Arena *arena;
    const char *path;
    Catalogue *catalogue;
} Runs;

static int failed(const Runs *r, CatalogueStatus status)
{
    Sources *sources = sources_create(r->arena);
    Diag *diag = diag_create(r->arena, sources);
    switch (status) {
    case CATALOGUE_GOOD: return EXIT_GOOD;
    case CATALOGUE_ABSENT: say("there is no catalogue yet: 'koine run' makes '%s'", r->path); return EXIT_MODEL;
    case CATALOGUE_REFUSED: say("'%s' cannot be read and written", r->path); return EXIT_ENVIRONMENT;
    case CATALOGUE_BUSY: say("'%s' is in use by another process; try again", r->path); return EXIT_ENVIRONMENT;
    case CATALOGUE_DAMAGED:
    case CATALOGUE_NEWER:
        note_problem(status, r->path, true, diag);
        print_diagnostics(r->command, diag);
        return EXIT_MODEL;
    case CATALOGUE_FAILED: break;
    }
    say("'%s' cannot be used", r->path);
    return EXIT_ENVIRONMENT;
}

static int find_run(const Runs *r, const char *text, CatalogueRun *run)
{
    char *end;
    errno = 0;
    const long long id = strtoll(text, &end, 10);
    if (*end || end == text || id <= 0 || errno)
        return usage_error(r->command, "'%s' is not the number of a run; 'koine runs list' shows them", text);
    CatalogueRun *found;
    uint32_t n;
    const CatalogueStatus status = noted_runs(r->catalogue, &(CatalogueFilter){ .id = id }, r->arena, &found, &n);
    if (status != CATALOGUE_GOOD)
        return failed(r, status);
    if (n == 0) {
        say("there is no run %lld in '%s'", id, r->path);
        return EXIT_MODEL;
    }
    *run = found[0];
    return EXIT_GOOD;
}

/* ---- list -------------------------------------------------------------------------------------------------------- */

static int list_runs(const Runs *r)
{
    long most = 20;
    const int checked =
        command_whole(r->command, "most", "must be a whole number from 0 (all) to 1000000", 0, 1000000, &most);
    if (checked != EXIT_GOOD)
        return checked;
    const CatalogueFilter filter = { .model = command_option(r->command, "model"),
                                     .tag = command_option(r->command, "tag"),
                                     .most = (uint32_t)most };
    CatalogueRun *runs;
    uint32_t n;
    const CatalogueStatus status = noted_runs(r->catalogue, &filter, r->arena, &runs, &n);
    if (status != CATALOGUE_GOOD)
        return failed(r, status);
    Text text = { .arena = r->arena };
    (command_option(r->command, "json") ? noted_list_json : noted_list)(runs, n, &text);
    if (text.n)
        fputs(text.at, stdout);
    else
        say("no run fits");
    return EXIT_GOOD;
}

/* ---- show, compare, forget, tag ---------------------------------------------------------------------------------- */

static int show_run(const Runs *r)
{
    CatalogueRun run;
    const int status = find_run(r, r->command->arguments[1], &run);
    if (status != EXIT_GOOD)
        return status;
    Text text = { .arena = r->arena };
    if (command_option(r->command, "json")) {
        noted_json(&run, &text);
        text_char(&text, '\n');
    } else {
        RunOrigin *origin = origin_create(arena_format(r->arena, "{\"origins\": %s}", run.origins), r->arena);
        noted_text(&run, origin && origin_look(origin) ? origin_changes(origin) : NULL, &text);
    }
    fputs(text.at, stdout);
    return EXIT_GOOD;
}

static int compare_runs(const Runs *r)
{
    const char **const results = NEW_ARRAY(r->arena, const char *, 2);
    for (uint32_t k = 0; k < 2; k++) {
        CatalogueRun run;
        const int status = find_run(r, r->command->arguments[k + 1], &run);
        if (status != EXIT_GOOD)
            return status;
        const char *state = noted_result_state(&run);
        if (state[0]) {
            say("the result of run %s was %s", r->command->arguments[k + 1], state);
            return EXIT_MODEL;
        }
        results[k] = noted_short_path(run.result, r->arena);
    }
    Command compare = *r->command;
    compare.verb = &verb_compare;
    compare.arguments = results;
    compare.n_arguments = 2;
    return verb_compare.run(&compare);
}

/* The runs that are meant. */
static int choose_runs(const Runs *r, CatalogueRun **runs, uint32_t *n)
{
    if (command_option(r->command, "all")) {
        const CatalogueFilter filter = { .tag = command_option(r->command, "tag"),
                                         .model = command_option(r->command, "model") };
        return failed(r, catalogue_list(r->catalogue, &filter, r->arena, runs, n));
    }
    if (r->command->n_arguments < 2)
        return usage_error(r->command, "give the numbers of the runs to forget, or --all");
    *n = r->command->n_arguments - 1;
    *runs = NEW_ARRAY(r->arena, CatalogueRun, *n);
    int status = EXIT_GOOD;
    for (uint32_t k = 0; k < *n && status == EXIT_GOOD; k++)
        status = find_run(r, r->command->arguments[k + 1], &(*runs)[k]);
    return status;
}

/* Shows what would be deleted; false: the user does not want it, or cannot be asked. */
static bool confirm_deletions(const Runs *r, const CatalogueRun *runs, uint32_t n)
{
    uint32_t n_files = 0;
    for (uint32_t k = 0; k < n; k++) {
        const char *why;
        if (noted_is_deletable(&runs[k], r->path, &why, r->arena)) {
            fprintf(stderr, "delete %s\n", text_shown(runs[k].result, r->arena));
            n_files++;
        } else if (why[0])
            fprintf(stderr, "keep %s: %s\n", text_shown(runs[k].result, r->arena), why);
    }
    if (n_files == 0 || command_option(r->command, "yes"))
        return true;
    if (!isatty(STDIN_FILENO)) {
        say("nothing was deleted; say --yes if you want that");
        return false;
    }
    fprintf(stderr, "Delete %u file%s? [y/N] ", n_files, n_files == 1 ? "" : "s");
    const int answer = getchar();
    return answer == 'y' || answer == 'Y';
}

static int forget_run(const Runs *r, const CatalogueRun *run)
{
    const char *why;
    const bool deletes = command_option(r->command, "results") && noted_is_deletable(run, r->path, &why, r->arena);
    const CatalogueStatus status = catalogue_forget(r->catalogue, run->id);
    if (status != CATALOGUE_GOOD)
        return failed(r, status);
    if (deletes && unlink(run->result) != 0) {
        say("cannot delete '%s': %s", text_shown(run->result, r->arena), strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    return EXIT_GOOD;
}

static int forget_runs(const Runs *r)
{
    CatalogueRun *runs = NULL;
    uint32_t n = 0;
    int status = choose_runs(r, &runs, &n);
    if (status == EXIT_GOOD && command_option(r->command, "results") && !confirm_deletions(r, runs, n))
        return EXIT_USAGE;
    for (uint32_t k = 0; k < n && status == EXIT_GOOD; k++)
        status = forget_run(r, &runs[k]);
    return status;
}

static int tag_run(const Runs *r)
{
    CatalogueRun run;
    const int status = find_run(r, r->command->arguments[1], &run);
    if (status != EXIT_GOOD)
        return status;
    for (uint32_t k = 2; k < r->command->n_arguments; k++) {
        if (!catalogue_is_tag(r->command->arguments[k]))
            return usage_error(r->command, "a tag has neither blanks nor commas, and is not empty: '%s'",
                               r->command->arguments[k]);
        const CatalogueStatus tagged = catalogue_tag(r->catalogue, run.id, r->command->arguments[k]);
        if (tagged != CATALOGUE_GOOD)
            return failed(r, tagged);
    }
    return EXIT_GOOD;
}

typedef struct {
    const char *name, *arguments;
    uint32_t least, most; /* arguments after the name */
    int (*run)(const Runs *r);
} RunsAction;

static const RunsAction ACTIONS[] = {
    { "list", "", 0, 0, list_runs },
    { "show", "ID", 1, 1, show_run },
    { "compare", "ID ID", 2, 2, compare_runs },
    { "forget", "ID... or --all", 0, UINT32_MAX, forget_runs },
    { "tag", "ID WORD...", 2, UINT32_MAX, tag_run },
};

static int run_runs(const Command *command)
{
    const char *name = command->n_arguments ? command->arguments[0] : "list";
    const RunsAction *action = NULL;
    for (size_t k = 0; k < sizeof ACTIONS / sizeof ACTIONS[0]; k++)
        if (strcmp(ACTIONS[k].name, name) == 0)
            action = &ACTIONS[k];
    if (!action)
        return usage_error(command, "there is no 'koine runs %s'; one of list, show, compare, forget, tag", name);
    const uint32_t n = command->n_arguments ? command->n_arguments - 1 : 0;
    if (n < action->least || n > action->most)
        return usage_error(command, "koine runs %s %s", name, action->arguments);
    Runs r = { .command = command, .arena = command->arena, .path = catalogue_path(command->arena) };
    const CatalogueStatus status = catalogue_open(r.path, false, r.arena, &r.catalogue);
    if (status != CATALOGUE_GOOD)
        return failed(&r, status);
    const int result = action->run(&r);
    catalogue_close(r.catalogue);
    return result;
}

static const Option options_of_runs[] = {
    { .name = "model", .value = "GLOB", .help = "list, forget --all: only runs of these models" },
    { .name = "tag", .value = "WORD", .help = "list, forget --all: only runs with this tag" },
    { .name = "most", .value = "N", .help = "list: the newest so many; default 20, 0 for all" },
    { .name = "json", .help = "list, show: as JSON" },
    { .name = "all", .help = "forget: all that fit --model and --tag" },
    { .name = "results",
      .help = "forget: delete the result files too, unless a later run wrote them; those in the "
              "project that Koine wrote, after they were shown" },
    { .name = "yes", .help = "forget --results: do not ask" },
    { .name = "tube", .value = "NUMBER", .help = "compare: see 'koine help compare'" },
    { .name = "absolute", .value = "NUMBER", .help = "compare: see 'koine help compare'" },
    { .name = "variables", .value = "GLOB,...", .help = "compare: what is compared; default everything" },
    { .name = "svg", .value = "FILE", .help = "compare: draw the signals that differ most" },
    { 0 },
};

static const Example examples[] = {
    { "koine runs list --tag final", "the newest runs with a tag." },
    { "koine runs show 12", "model, settings, result, duration and outcome of a run." },
    { "koine runs compare 11 12 --svg difference.svg", "the results of two runs, signal by signal." },
    { "koine runs forget 3 4 --results --yes", "drops two runs and their result files." },
    { 0 },
};

const Verb verb_runs = {
    .name = "runs",
    .arguments = "[list|show|compare|forget|tag] [ID...]",
    .summary = "list, compare and forget earlier runs",
    .text = "'koine run' notes every run in .koine/runs.sqlite of the project: the nearest folder "
            "above that has a folder .koine, else the current one. 'koine run --tag WORD' and 'koine runs tag ID WORD' "
            "mark runs, 'koine run --no-catalogue' notes nothing. The catalogue may be deleted at any time.",
    .least = 0,
    .most = UINT32_MAX,
    .options = options_of_runs,
    .examples = examples,
    .run = run_runs,
};
