/* koine linearize: the matrices of a model near a point. The run to that point is one of an experiment without results.
 */
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "driver/words.h"
#include "experiment/complete.h"
#include "experiment/failure.h"
#include "experiment/linear.h"
#include "experiment/run.h"

typedef struct {
    const Command *command;
    Compilation *c;
    Arena *arena; /* of the compilation */
    RunSettings settings;
    const char *const *inputs, *const *outputs; /* NULL: the usual ones */
    int status;
} Linearize;

static void on_message(void *context, int level, const char *text)
{
    (void)context;
    print_message(level, text);
}

static int refuse(const Linearize *l, const KoineReason *why)
{
    diag_error(l->c->diag, DIAG_RUN_LINEAR, SPAN_NONE, "the model cannot be linearised here: %s", why->text);
    diag_help(l->c->diag, "choose another time (--at) or other values (--set)");
    print_diagnostics(l->command, l->c->diag);
    return EXIT_RUN;
}

static int show(const Linearize *l, KoineModel *model)
{
    const LinearWanted wanted = { l->inputs, l->outputs, command_option(l->command, "json") };
    Text text = { .arena = l->arena };
    KoineReason why = { "" };
    switch (linear_tell(model, &wanted, l->c->diag, &text, &why)) {
    case LINEAR_NAMES: print_diagnostics(l->command, l->c->diag); return EXIT_USAGE;
    case LINEAR_ABSENT: say("%s", why.text); return EXIT_ENVIRONMENT;
    case LINEAR_REFUSED: return refuse(l, &why);
    case LINEAR_TOLD: break;
    }
    if (why.text[0])
        say("%s", why.text);
    fwrite(text.at, 1, text.n, stdout);
    return EXIT_GOOD;
}

static void on_ended(void *context, const ExperimentRun *made, KoineModel *model)
{
    Linearize *l = context;
    const RunRecord *record = run_record(made);
    const KoineRunReport *report = &record->run;
    switch (report->end) {
    case KOINE_RUN_DONE: l->status = show(l, model); return;
    case KOINE_RUN_FAILED:
        failure_tell(l->c->diag, l->c->sources, model->kind->tables, report, record->file);
        print_diagnostics(l->command, l->c->diag);
        l->status = EXIT_RUN;
        return;
    case KOINE_RUN_TERMINATED:
        say("the run ended at time %g, before time %g", report->time, record->stop);
        l->status = EXIT_RUN;
        return;
    case KOINE_RUN_INTERRUPTED: l->status = EXIT_INTERRUPTED; return;
    case KOINE_RUN_SINK:
    case KOINE_RUN_OPTIONS: say("%s", report->text); l->status = EXIT_USAGE;
    }
}

static int make_run(Linearize *l)
{
    Compilation *c = l->c;
    RunRequest request = { .experiment = &l->settings.experiment, .start = &l->settings.start };
    l->settings.request.derivatives = (DerivativeRequest){ true, l->inputs, l->outputs };
    const int compiled = settings_compile(l->command, c, &l->settings, &request);
    if (compiled != EXIT_GOOD)
        return compiled;
    const RunCaller caller = { .context = l, .interrupt = interrupt_watch(), .ended = on_ended, .message = on_message };
    const RunMade made = experiment_run(&request, &caller, l->arena, c->diag);
    if (made == RUN_MADE)
        return l->status;
    print_diagnostics(l->command, c->diag);
    if (made == RUN_REFUSED)
        return error_status(c->diag, settings_error_status(&l->settings));
    say("there is not enough memory for an instance of the model");
    return EXIT_ENVIRONMENT;
}

static int run_linearize(const Command *command)
{
    Compilation *c = compilation_create(out_of_memory);
    Linearize l = { .command = command, .c = c, .arena = c->arena };
    const char *inputs = command_option(command, "inputs"), *outputs = command_option(command, "outputs");
    l.inputs = inputs ? linear_names(inputs, c->arena) : NULL;
    l.outputs = outputs ? linear_names(outputs, c->arena) : NULL;
    int status = command_option(command, "at") && command_option(command, "steady")
                     ? usage_error(command, "--at and --steady exclude each other")
                     : settings_read(command, c, &l.settings);
    if (status == EXIT_GOOD &&
        !experiment_lead(&l.settings.experiment, command_option(command, "at"), command_option(command, "steady"),
                         &l.settings.start, c->arena, c->diag)) {
        print_diagnostics(command, c->diag);
        status = error_status(c->diag, settings_error_status(&l.settings));
    }
    if (status == EXIT_GOOD)
        status = make_run(&l);
    series_done(l.settings.start.series);
    compilation_destroy(c);
    return status;
}

static const Option options[] = {
    { .name = "at", .value = "TIME", .help = "simulate up to this time; default the start" },
    { .name = "steady", .help = "the start is a steady state: the derivatives of all states are 0" },
    { .name = "inputs",
      .value = "NAME,...",
      .help = "by these inputs and parameters; default all Real inputs that are open" },
    { .name = "outputs", .value = "NAME,...", .help = "of these variables; default the outputs at the top" },
    { .name = "json",
      .help = "an object with the keys states, inputs, outputs, time, x0, u0, y0, A, B, C, D, eigenvalues" },
    { .name = "start", .value = "TIME", .help = "begin of the simulated time; default 0" },
    { .name = "set",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "a parameter, start value, input or guess; may be repeated" },
    { .name = "control", .value = "NAME=VALUE", .repeats = true, .help = "a control parameter; may be repeated" },
    { .name = "tolerance", .value = "NUMBER", .help = "relative error allowed on the way; default 1e-6" },
    { .name = "solver", .value = "NAME", .word = koine_solver_name, .help = "integration method on the way" },
    { .name = "step", .value = "TIME", .help = "step of fixed-step solvers" },
    { .name = "tier", .value = "NAME", .word = compilation_tier_word, .help = "how the model is executed: {tiers}" },
    { .name = "profile", .value = "NAME", .listed = profile_word, .help = "follow the rules of an original system" },
    { .name = "start-from", .value = "FILE", .help = "start values from the end of an earlier result, {endings}" },
    { .name = "start-from-time", .value = "TIME", .help = "take them from what that result holds at a time" },
    TARGET_TASK,
    TARGET_USE,
    TARGET_SYSTEMS,
    TARGET_EXTERNAL,
    { 0 },
};

static const Example examples[] = {
    { "koine linearize plant.dym", "the matrices at the start, as tables." },
    { "koine linearize plant.dym --at 10 --json", "after ten seconds, for other programs." },
    { "koine linearize plant.dym --steady --set u=2", "in the steady state for an input of 2." },
    { "koine linearize plant.dym --inputs u,k --outputs y,body.v", "by an input and a parameter, of two variables." },
    { 0 },
};

const Verb verb_linearize = {
    .name = "linearize",
    .arguments = "FILE[:CLASS]|NAME.exp.yaml",
    .summary = "matrices A, B, C, D of a model near a point, and eigenvalues",
    .text =
        "Gives dx' = A dx + B du and dy = C dx + D du for small changes around a point, with the eigenvalues of A. The "
        "derivatives are exact: no differences are taken, also through systems of equations and constraints between "
        "states. What events have set is held: comparisons keep their side, discrete variables their value. States "
        "stand under the names under which they are differentiated.\n\n"
        "Where a comparison is on its border the matrices on both sides are different ones, and the point is refused; "
        "so is one where equations are singular.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_linearize,
};
