/* The language as the rest of the program sees it; see dymola.h. */
#include "lang/dymola/dymola.h"
#include "lang/dymola/parser.h"
#include "lang/dymola/functions.h"
#include "lang/dymola/translation.h"

/* The class that is asked for; else the last model, which is no class. */
static Class *choose(const Class *all, const LoadRequest *request, const Names *names)
{
    Class *model = NULL;
    for (uint32_t k = 0; k < all->classes.n; k++) {
        Class *class = all->classes.at[k];
        if (request->class_name ? strcmp(names_of(names, class->name.name), request->class_name) == 0
                                : !class->is_class)
            model = class;
    }
    return model;
}

static void keep_parameters(Translation *translation, const Class *class)
{
    for (uint32_t k = 0; k < class->directives.kept.n; k++) {
        const Node *name = class->directives.kept.at[k];
        const VarId var = dym_find_variable(translation, name->path, name->n_path);
        if (var_is_none(var))
            continue;
        Variable *v = model_var(translation->model, var);
        if (v->variability == VARIABILITY_PARAMETER && name->n_args == 0) {
            v->is_kept = true;
            continue;
        }
        REPORT(translation, DIAG_DYM_KEPT, name->span, "`%s` is no parameter",
               NAME(translation, name->path[name->n_path - 1]));
        diag_help(translation->diag, "`variable not evaluate` names parameters, whole ones if they are vectors");
    }
}

static void wish_for_state(Translation *translation, const Node *name)
{
    const VarId var = dym_find_variable(translation, name->path, name->n_path);
    if (var_is_none(var))
        return;
    Variable *v = model_var(translation->model, var);
    if (v->variability == VARIABILITY_CONTINUOUS) {
        v->select = SELECT_ALWAYS;
        return;
    }
    REPORT(translation, DIAG_DYM_STATE, name->span, "`variable state` of something that does not change with time");
    diag_help(translation->diag, "a state is a variable under der, or one that could stand there");
}

static void tear_variables(Translation *translation, const Class *class)
{
    for (uint32_t k = 0; k < class->directives.tears.n; k++) {
        const Tear *tear = &class->directives.tears.at[k];
        const VarId var = dym_find_variable(translation, tear->name->path, tear->name->n_path);
        const VarId residual =
            tear->residual ? dym_find_variable(translation, tear->residual->path, tear->residual->n_path) : VAR_NONE;
        if (var_is_none(var))
            continue;
        Variable *v = model_var(translation->model, var);
        v->is_torn = true;
        v->residual = residual;
    }
}

static Model *load_class(Load *load, Class *all)
{
    const Span whole = { load->request->source, 0, 0 };
    Class *class = choose(all, load->request, load->names);
    if (!class) {
        if (load->request->class_name)
            REPORT(load, DIAG_DYM_NO_MODEL, whole, "there is no model `%s` in this text", load->request->class_name);
        else
            REPORT(load, DIAG_DYM_NO_MODEL, whole, "there is no model in this text, only classes");
        diag_help(load->diag, "a model begins with `model` and its name, a class with `model class`");
        return NULL;
    }
    load->all = all;
    dym_lower_functions(load);
    Translation *translation = *load->errors ? NULL : dym_lower_class(load, class, class->name.span);
    if (!translation)
        return NULL;
    keep_parameters(translation, class);
    dym_leave_addressed(translation->model, load->arena);
    dym_check_inits(translation);
    dym_lower_inits(translation);
    for (uint32_t k = 0; k < class->directives.unknowns.n; k++) {
        const Node *name = class->directives.unknowns.at[k];
        const VarId var = dym_find_variable(translation, name->path, name->n_path);
        const Task task = { TASK_UNKNOWN, ref_now(var), TERM_NONE, name->span };
        if (!var_is_none(var))
            vec_push(translation->model->arena, &translation->model->tasks, task);
    }
    for (uint32_t k = 0; k < class->directives.states.n; k++)
        wish_for_state(translation, class->directives.states.at[k]);
    tear_variables(translation, class);
    return translation->model;
}

static Model *load(const LoadRequest *request, Diag *diag)
{
    uint32_t errors = 0;
    Load one = { .request = request,
                 .pool = request->pool,
                 .arena = pool_arena(request->pool),
                 .names = pool_names(request->pool),
                 .diag = diag,
                 .errors = &errors,
                 .is_strict = request->profile && strcmp(request->profile, "dymola") == 0 };
    const Lexer lexer = {
        .arena = one.arena, .names = one.names, .sources = request->sources, .diag = diag, .errors = &errors
    };
    sources_set_language(request->sources, request->source, "dymola");
    Class *all = dym_parse(lexer, request->source);
    one.has_no_events = all && (all->events == EVENTS_OFF || (all->events == EVENTS_UNSAID && one.is_strict));
    Model *model = all ? load_class(&one, all) : NULL;
    return errors == 0 ? model : NULL;
}

static const char *const extensions[] = { "dym", NULL };
static const Profile profile = { .name = "dymola" };
const Language dymola_language = {
    .name = "dymola", .title = "Dymola", .extensions = extensions, .profile = &profile, .load = load
};
