#include "experiment/control.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vec.h"
#include <math.h>
#include <strings.h>

typedef struct {
    const char *name, *variant; /* variant: as other chapters of the document spell it, or NULL */
    double least, most;
    bool is_whole;
} Row;

static const Row rows[CONTROL_PARAMETERS] = {
    [CONTROL_TSCAL] = { "TScal", NULL, 0, INFINITY, false },
    [CONTROL_TMAX] = { "TMax", NULL, 0, INFINITY, false },
    [CONTROL_MAXTKT] = { "MaxTkt", "MaxTakt", 1, 1e9, true },
    [CONTROL_MAXCRO] = { "MaxCro", "CroMax", 1, 1e9, true },
    [CONTROL_MAXCYC] = { "MaxCyc", NULL, 1, 1e9, true },
    [CONTROL_EPS] = { "Eps", NULL, 0, 1, false },
    [CONTROL_INTMETH] = { "IntMeth", NULL, 1, 6, true },
    [CONTROL_INTSTEP] = { "IntStep", "StepSize", 0, INFINITY, false },
    [CONTROL_ERREVAL] = { "ErrEval", NULL, 0, 2, true },
    [CONTROL_HIGHRERR] = { "HighRErr", NULL, 0, 1, false },
    [CONTROL_LOWRERR] = { "LowRErr", NULL, 0, 1, false },
    [CONTROL_STEPMAX] = { "StepMax", NULL, 0, INFINITY, false },
    [CONTROL_PRTDEPTH] = { "PrtDepth", NULL, 0, 9, true },
    [CONTROL_TPRTBEG] = { "TPrtBeg", NULL, -INFINITY, INFINITY, false },
    [CONTROL_TPRTEND] = { "TPrtEnd", NULL, -INFINITY, INFINITY, false },
    [CONTROL_MAXITER] = { "MaxIter", NULL, 1, 4e9, true },
    [CONTROL_MAXCALL] = { "MaxCall", NULL, 1, 1000, true },
};

static const char *const METHODS[] = { "simplex-euler",          "simplex-rk4",
                                       "simplex-fehlberg",       "simplex-gauss",
                                       "simplex-bulirsch-stoer", "simplex-rosenbrock" };

const char *control_name(ControlParameter parameter)
{
    return rows[parameter].name;
}

bool control_find(const char *name, ControlParameter *found)
{
    for (int k = 0; k < CONTROL_PARAMETERS; k++)
        if (strcasecmp(rows[k].name, name) == 0 || (rows[k].variant && strcasecmp(rows[k].variant, name) == 0)) {
            *found = (ControlParameter)k;
            return true;
        }
    return false;
}

const char *control_nearest(const char *name)
{
    uint32_t best = 4;
    const char *nearest = NULL;
    for (int k = 0; k < CONTROL_PARAMETERS; k++) {
        const uint32_t distance = edit_distance(name, rows[k].name, best);
        if (distance < best && distance < strlen(rows[k].name)) {
            best = distance;
            nearest = rows[k].name;
        }
    }
    return nearest;
}

/* ---- One value -------------------------------------------------------------------------------------------------- */

/* What the first profile that says something of it begins with. */
static void help_by_profile(ProfileAt *profiles, const Row *row, Diag *diag)
{
    for (uint32_t k = 0; profiles && profiles(k); k++) {
        const ProfileSetting *setting = profile_setting(profiles(k), row->name);
        if (!setting)
            continue;
        diag_help(diag, "the default of the profile %s is %g", profiles(k)->name, setting->value);
        return;
    }
}

static bool report_value(ProfileAt *profiles, const Setting *setting, const Row *row, Diag *diag)
{
    const char *kind = row->is_whole ? "a whole number" : "a number";
    if (isinf(row->most) && isinf(row->least))
        diag_error(diag, DIAG_CONTROL_VALUE, setting->span, "the control parameter %s must be %s, not '%.60s'",
                   row->name, kind, setting->value);
    else if (isinf(row->most))
        diag_error(diag, DIAG_CONTROL_VALUE, setting->span, "the control parameter %s must be %s above %g, not '%.60s'",
                   row->name, kind, row->least, setting->value);
    else
        diag_error(diag, DIAG_CONTROL_VALUE, setting->span,
                   "the control parameter %s must be %s %s %g %s %g, not '%.60s'", row->name, kind,
                   row->is_whole ? "from" : "between", row->least, row->is_whole ? "to" : "and", row->most,
                   setting->value);
    help_by_profile(profiles, row, diag);
    return false;
}

/* Bounds of whole numbers are allowed values, those of other numbers are not. */
static bool read_value(ProfileAt *profiles, const Setting *setting, const Row *row, double *value, Diag *diag)
{
    const char *end = setting->value + strlen(setting->value);
    if (setting->value == end || text_to_real(setting->value, end, value) != end || !isfinite(*value))
        return report_value(profiles, setting, row, diag);
    const bool is_inside = row->is_whole ? *value >= row->least && *value <= row->most && *value == floor(*value)
                                         : *value > row->least && *value < row->most;
    return is_inside || report_value(profiles, setting, row, diag);
}

static bool is_from_command_line(const Control *control)
{
    return control->span.source == SOURCE_NONE;
}

/* The command line wins over a file; two values from one side are a contradiction. */
static bool take(ProfileAt *profiles, Controls *controls, const Setting *setting, ControlParameter parameter,
                 Diag *diag)
{
    Control now = { .is_given = true, .span = setting->span };
    if (!read_value(profiles, setting, &rows[parameter], &now.value, diag))
        return false;
    Control *known = &controls->at[parameter];
    const bool is_second = known->is_given && !known->is_profile && known->value != now.value;
    if (is_second && is_from_command_line(known) == is_from_command_line(&now)) {
        diag_error(diag, DIAG_CONTROL_CONTRADICTION, setting->span,
                   "the control parameter %s is given twice, as %.9g and as %.9g", rows[parameter].name, known->value,
                   now.value);
        if (!is_from_command_line(known))
            diag_note(diag, known->span, "it is given here first");
        return false;
    }
    if (!is_second || is_from_command_line(&now))
        *known = now;
    return true;
}

/* ---- All of an experiment --------------------------------------------------------------------------------------- */

static bool has_variable(const KoineTables *tables, const char *name)
{
    for (uint32_t k = 0; k < tables->n_variables; k++)
        if (strcasecmp(tables->variables[k].name, name) == 0)
            return true;
    return false;
}

static bool take_from_set(Experiment *experiment, const KoineTables *tables, Arena *arena, Diag *diag,
                          Controls *controls)
{
    VEC(Setting) rest = { 0 };
    bool is_good = true;
    for (uint32_t k = 0; k < experiment->part.settings.n; k++) {
        const Setting *setting = &experiment->part.settings.at[k];
        ControlParameter parameter;
        if (control_find(setting->name, &parameter) && !has_variable(tables, setting->name))
            is_good &= take(experiment_profiles(experiment), controls, setting, parameter, diag);
        else
            vec_push(arena, &rest, *setting);
    }
    experiment->part.settings = (SettingList){ rest.at, rest.n };
    return is_good;
}

bool control_gather(Experiment *experiment, const KoineTables *tables, Arena *arena, Diag *diag, Controls *controls)
{
    bool is_good = true;
    *controls = (Controls){ 0 };
    const Profile *const profile =
        experiment->how.profile ? profile_find(experiment_profiles(experiment), experiment->how.profile) : NULL;
    for (int k = 0; profile && k < CONTROL_PARAMETERS; k++) {
        const ProfileSetting *setting = profile_setting(profile, rows[k].name);
        if (setting)
            controls->at[k] = (Control){ true, true, setting->value, SPAN_NONE };
    }
    for (uint32_t k = 0; k < experiment->part.controls.n; k++) {
        const Setting *setting = &experiment->part.controls.at[k];
        ControlParameter parameter;
        if (control_find(setting->name, &parameter)) {
            is_good &= take(experiment_profiles(experiment), controls, setting, parameter, diag);
            continue;
        }
        diag_error(diag, DIAG_CONTROL_UNKNOWN, setting->span, "there is no control parameter '%.60s'", setting->name);
        if (control_nearest(setting->name))
            diag_help(diag, "did you mean '%s'?", control_nearest(setting->name));
        is_good = false;
    }
    return take_from_set(experiment, tables, arena, diag, controls) && is_good;
}

/* ---- Into the options of the runtime ---------------------------------------------------------------------------- */

typedef struct {
    const Experiment *experiment;
    const Controls *controls;
    Diag *diag;
    bool is_good;
} Applier;

static const Control *given(const Applier *a, ControlParameter parameter)
{
    const Control *control = &a->controls->at[parameter];
    return control->is_given ? control : NULL;
}

static void contradict(Applier *a, ExperimentKey key, const char *setting, ControlParameter parameter,
                       const char *other)
{
    const Span spans[] = { a->experiment->spans[key], a->controls->at[parameter].span };
    const bool is_second = spans[0].source == SOURCE_NONE;
    diag_error(a->diag, DIAG_CONTROL_CONTRADICTION, spans[is_second],
               "the setting %s is %s, but the control parameter %s is %s", experiment_key_name(key), setting,
               control_name(parameter), other);
    if (!is_second && spans[1].source != SOURCE_NONE)
        diag_note(a->diag, spans[1], "the control parameter is given here");
    diag_help(a->diag, "give one of them only");
    a->is_good = false;
}

/* The value of a setting that has a counterpart among the control parameters; 0: neither is given. */
static double either(Applier *a, ExperimentKey key, double setting, ControlParameter parameter)
{
    const Control *control = given(a, parameter);
    if (!a->experiment->has[key])
        return control ? control->value : 0;
    if (control && !control->is_profile && control->value != setting) {
        char texts[2][REAL_TEXT_SIZE + 1] = { "", "" };
        texts[0][real_to_text(setting, texts[0])] = 0;
        texts[1][real_to_text(control->value, texts[1])] = 0;
        contradict(a, key, texts[0], parameter, texts[1]);
    }
    return setting;
}

static const char *solver(Applier *a)
{
    const Experiment *e = a->experiment;
    const Control *control = given(a, CONTROL_INTMETH);
    const char *method = control ? METHODS[(int)control->value - 1] : NULL;
    if (!e->part.solver)
        return method;
    if (method && !control->is_profile && strcmp(method, e->part.solver) != 0) {
        char text[64];
        snprintf(text, sizeof text, "%d (%s)", (int)control->value, method);
        contradict(a, EXPERIMENT_SOLVER, e->part.solver, CONTROL_INTMETH, text);
    }
    return e->part.solver;
}

static void apply_errors(Applier *a, KoineRunOptions *options)
{
    const Experiment *e = a->experiment;
    const Control *low = given(a, CONTROL_LOWRERR), *mode = given(a, CONTROL_ERREVAL);
    options->control.high_error = either(a, EXPERIMENT_TOLERANCE, e->part.tolerance, CONTROL_HIGHRERR);
    options->tolerance = options->control.high_error;
    options->control.low_error =
        low && !(low->is_profile && e->has[EXPERIMENT_TOLERANCE]) ? low->value : 0.1 * options->control.high_error;
    if (options->control.high_error > 0 && options->control.low_error > options->control.high_error) {
        diag_error(a->diag, DIAG_CONTROL_CONTRADICTION, low->span, "LowRErr is %.9g, above HighRErr, which is %.9g",
                   options->control.low_error, options->control.high_error);
        a->is_good = false;
    }
    if (mode)
        options->control.error_mode = mode->value == 0   ? KOINE_ERROR_NONE
                                      : mode->value == 1 ? KOINE_ERROR_ESTIMATE
                                                         : KOINE_ERROR_ADAPT;
}

static const double LARGEST_GRID = 9007199254740992; /* 2^53: beyond it multiples of TScal are not exact */

static void check_times(Applier *a, const KoineRunOptions *options)
{
    const Control *last = given(a, CONTROL_TMAX), *grid = given(a, CONTROL_TSCAL);
    const double furthest = fmax(fabs(options->start), fabs(options->stop));
    const Span stop = a->experiment->spans[EXPERIMENT_STOP];
    if (last && !last->is_profile && options->stop > last->value) {
        diag_error(a->diag, DIAG_CONTROL_CONTRADICTION, stop,
                   "the stop time is %.9g, but the control parameter TMax "
                   "is %.9g",
                   options->stop, last->value);
        diag_help(a->diag, "stop earlier, or give a larger TMax");
        a->is_good = false;
    }
    if (grid && furthest / grid->value > LARGEST_GRID) {
        diag_error(a->diag, DIAG_CONTROL_VALUE, grid->span,
                   "TScal is %.9g: the time %.9g cannot be told from its neighbours on so fine a grid", grid->value,
                   furthest);
        diag_help(a->diag, "the run may reach 2^53 times TScal");
        a->is_good = false;
    }
}

bool control_apply(const Experiment *experiment, const Controls *controls, KoineHost *host, KoineRunOptions *options,
                   Diag *diag)
{
    Applier a = { experiment, controls, diag, true };
    options->start = experiment->has[EXPERIMENT_START] ? experiment->begin.start : 0;
    options->stop = experiment->part.stop;
    options->interval = experiment->results.interval;
    options->solver = solver(&a);
    options->step = either(&a, EXPERIMENT_STEP, experiment->part.step, CONTROL_INTSTEP);
    options->control.first_step = options->step;
    options->max_step = either(&a, EXPERIMENT_MAX_STEP, experiment->part.max_step, CONTROL_STEPMAX);
    apply_errors(&a, options);
    options->absolute_tolerance = experiment->errors.absolute_tolerance;
    host->tolerance = options->tolerance > 0 ? options->tolerance : KOINE_USUAL_TOLERANCE;
    if (given(&a, CONTROL_TSCAL))
        host->resolution = options->control.resolution = given(&a, CONTROL_TSCAL)->value;
    if (given(&a, CONTROL_MAXTKT))
        host->max_steps = options->max_steps = (uint32_t)given(&a, CONTROL_MAXTKT)->value;
    if (given(&a, CONTROL_MAXCRO))
        options->control.max_crossing = (uint32_t)given(&a, CONTROL_MAXCRO)->value;
    if (given(&a, CONTROL_MAXCYC))
        host->max_cycles = (uint32_t)given(&a, CONTROL_MAXCYC)->value;
    if (given(&a, CONTROL_MAXITER))
        host->max_iterations = (uint32_t)given(&a, CONTROL_MAXITER)->value;
    if (given(&a, CONTROL_MAXCALL))
        host->max_calls = (uint32_t)given(&a, CONTROL_MAXCALL)->value;
    if (given(&a, CONTROL_EPS))
        host->iteration_tolerance = given(&a, CONTROL_EPS)->value;
    check_times(&a, options);
    return a.is_good;
}
