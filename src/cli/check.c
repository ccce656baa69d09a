/* koine check: diagnostics and the figures of the analysed model. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "experiment/experiment.h"
#include "driver/dump.h"
#include "driver/words.h"
#include "explain/figures.h"
#include "explain/report.h"
#include "explain/symbols.h"

typedef struct {
    Text symbols, classes; /* empty: not wanted, or the model could not be loaded */
    Text hints;
    bool has_blocks; /* all of them in the structure */
} Lists;

static void print_json(Compilation *c, const Lists *lists, bool is_good)
{
    Arena *const arena = c->arena;
    Text json = { .arena = arena };
    text_format(&json, "{\"koine\":\"%s\",\"file\":", KOINE_VERSION);
    text_json(&json, c->request.path);
    text_format(&json, ",\"good\":%s,\"model\":", is_good ? "true" : "false");
    if (is_good) {
        const CompileReport report = compile_report(c->schedule, c->program, c->arena);
        text_json(&json, report.model);
        text_add(&json, ",\"language\":");
        text_json(&json, report.language);
        text_add(&json, ",\"figures\":");
        figures_json(&report, &json);
        text_add(&json, ",\"structure\":");
        report_structure(c->schedule, (ReportStyle){ lists->has_blocks, true, (uint32_t)report.index }, &json);
    } else {
        text_add(&json, "null,\"language\":null,\"figures\":null,\"structure\":null");
    }
    if (lists->symbols.n)
        text_format(&json, ",\"symbols\":%s", lists->symbols.at);
    if (lists->classes.n)
        text_format(&json, ",\"classes\":%s", lists->classes.at);
    if (lists->hints.n)
        text_format(&json, ",\"hints\":%s", lists->hints.at);
    text_add(&json, ",\"diagnostics\":");
    text_add(&json, diag_json(c->diag, arena));
    puts(json.at);
    puts("}");
}

/* The text of the file with messages below the lines, then the lists; false: none of them is wanted. */
static bool print_lists(const Command *command, Compilation *c, const Lists *lists, bool has_schedule)
{
    const bool numbers = command_option(command, "line-numbers"), silent = command_option(command, "no-messages");
    Text text = { .arena = c->arena };
    const bool is_listing = command_option(command, "listing");
    if (is_listing)
        compilation_listing(c, c->request.path, numbers, silent, &text);
    text_bytes(&text, lists->symbols.at, lists->symbols.n);
    text_bytes(&text, lists->classes.at, lists->classes.n);
    if (has_schedule && (command_option(command, "structure") || lists->has_blocks)) {
        const CompileReport report = compile_report(c->schedule, c->program, c->arena);
        report_structure(c->schedule, (ReportStyle){ lists->has_blocks, false, (uint32_t)report.index }, &text);
    }
    fwrite(text.at, 1, text.n, stdout);
    return is_listing || command_option(command, "symbols") || command_option(command, "classes") ||
           command_option(command, "structure") || command_option(command, "blocks");
}

static Lists make_lists(const Command *command, Compilation *c)
{
    Lists lists = { .symbols = { .arena = c->arena },
                    .classes = { .arena = c->arena },
                    .hints = { .arena = c->arena },
                    .has_blocks = command_option(command, "blocks") != NULL };
    const bool is_json = command_option(command, "json");
    model_list(c->model, LIST_HINTS, is_json, &lists.hints);
    if (command_option(command, "symbols"))
        model_list(c->model, LIST_SYMBOLS, is_json, &lists.symbols);
    if (command_option(command, "classes"))
        model_list(c->model, LIST_CLASSES, is_json, &lists.classes);
    return lists;
}

static int check(const Command *command, Compilation *c, CompileRequest *request)
{
    request->profile = command_option(command, "profile");
    if (request->profile && !profile_find(compilation_profile, request->profile))
        return no_profile(command, request->profile);
    bool is_good = compilation_load(c, request);
    const Lists lists = is_good ? make_lists(command, c) : (Lists){ 0 }; /* before the passes work on the model */
    is_good = is_good && compilation_schedule(c);
    if (command_option(command, "json")) {
        print_json(c, &lists, is_good);
    } else {
        diag_print(c->diag, stderr, (DiagStyle){ .colour = command->colour_err });
        if (!print_lists(command, c, &lists, is_good) && is_good) {
            const CompileReport report = compile_report(c->schedule, c->program, c->arena);
            Text text = { .arena = c->arena };
            figures_text(&report, &text);
            text_bytes(&text, lists.hints.at, lists.hints.n);
            fwrite(text.at, 1, text.n, stdout);
        }
    }
    return is_good ? EXIT_GOOD : error_status(c->diag, EXIT_MODEL);
}

static int run_check(const Command *command)
{
    return target_act(command, check);
}

static const Option options[] = {
    { .name = "json", .help = "figures and diagnostics as JSON on the standard output" },
    { .name = "symbols", .help = "list all quantities: use, time course, value set, start value, unit, derivatives" },
    { .name = "classes", .help = "list the classes the model is made of" },
    { .name = "structure", .help = "index, states, systems of equations, and comparisons that may chatter" },
    { .name = "blocks", .help = "the same with every block that is computed" },
    { .name = "listing", .help = "print the text, with the messages as $ lines below the lines they are about" },
    { .name = "line-numbers", .help = "with --listing: number the lines" },
    { .name = "no-messages", .help = "with --listing: the text alone" },
    { .name = "profile", .value = "NAME", .listed = profile_word, .help = "the reading of the original" },
    TARGET_TASK,
    TARGET_ANALYSIS,
    TARGET_USE,
    TARGET_SYSTEMS,
    { 0 },
};

static const Example examples[] = {
    { "koine check Ball.mdl", "tells what is wrong with the model, or how large it is." },
    { "koine check Ball.mdl --symbols", "all quantities of the model." },
    { "koine check circuit.dym --structure", "index, states, systems of equations, comparisons." },
    { "koine check Ball.mdl --listing --line-numbers", "the text with its messages, for printing." },
    { "koine check Ball.mdl --json", "the same as data for other programs." },
    { 0 },
};

const Verb verb_check = {
    .name = "check",
    .arguments = "FILE[:CLASS]",
    .summary = "find mistakes in a model, without running it",
    .text = "Reads and analyses the model. Mistakes are printed with their place and with advice; a model without "
            "mistakes is described by its figures: variables, equations, states, aliases removed, blocks, root "
            "functions, time events. Hints tell what components of SIMPLEX-MDL have and nothing needs: constants and "
            "sensors that nothing reads, open sensors of parts, states that nothing changes.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_check,
};
