/* A class becomes a Model: the steps in their order; see translation.h. */
#include "lang/dymola/connections.h"
#include "lang/dymola/equations.h"
#include "lang/dymola/translation.h"
#include "lang/dymola/values.h"

enum { DEEPEST = 200 }; /* objects in objects */

static void collect_chain(Translation *translation, const Class *class)
{
    for (; class; class = class->super)
        vec_push(translation->arena, &translation->chain, class);
    for (uint32_t k = 0; k < translation->chain.n / 2; k++) {
        const Class *last = translation->chain.at[translation->chain.n - 1 - k];
        translation->chain.at[translation->chain.n - 1 - k] = translation->chain.at[k];
        translation->chain.at[k] = last;
    }
}

Translation *dym_new_translation(Load *load, const Class *class)
{
    Translation *translation = NEW(load->arena, Translation);
    *translation = (Translation){ .load = load, .arena = load->arena, .diag = load->diag, .errors = load->errors };
    translation->cuts.main_at = translation->paths.main_at = SPAN_NONE;
    translation->model = model_create(load->pool, load->request->sources, class->name.name, "dymola", class->name.span);
    map_init(&translation->variables.names, load->arena, 16);
    map_init(&translation->cuts.names, load->arena, 16);
    map_init(&translation->paths.names, load->arena, 4);
    map_init(&translation->objects.names, load->arena, 16);
    map_init(&translation->types.of_variable, load->arena, 16);
    map_init(&translation->points.of_port, load->arena, 16);
    map_init(&translation->memories.known, load->arena, 4);
    dym_new_type(translation);
    dym_new_type(translation);
    collect_chain(translation, class);
    return translation;
}

static void declare(Translation *translation)
{
    for (uint32_t c = 0; c < translation->chain.n; c++) {
        for (uint32_t k = 0; k < translation->chain.at[c]->submodels.n; k++)
            dym_declare_object(translation, &translation->chain.at[c]->submodels.at[k]);
        for (uint32_t k = 0; k < translation->chain.at[c]->variables.n; k++)
            dym_declare(translation, &translation->chain.at[c]->variables.at[k]);
    }
}

static void lower_body(Translation *translation)
{
    declare(translation);
    if (*translation->errors)
        return;
    dym_declare_cuts(translation);
    dym_join_wires(translation);
    dym_fill_bare_cuts(translation);
    if (*translation->errors)
        return;
    dym_check_types(translation);
    dym_lower_values(translation);
    dym_lower_parameters(translation);
    dym_check_memories(translation);
    if (*translation->errors)
        return;
    dym_lower_memories(translation);
    dym_check_connections(translation);
    dym_lower_connections(translation);
    dym_lower_equations(translation);
}

Translation *dym_lower_class(Load *load, Class *class, Span wanted_at)
{
    if (class->translation || class->has_failed)
        return class->translation;
    if (load->depth > DEEPEST) {
        REPORT(load, DIAG_DYM_TOO_LARGE, wanted_at, "objects are nested more than %d deep", DEEPEST);
        diag_help(load->diag, "state more in one class");
        return NULL;
    }
    load->depth++;
    const uint32_t before = *load->errors;
    Translation *translation = dym_new_translation(load, class);
    lower_body(translation);
    load->depth--;
    class->has_failed = *load->errors > before;
    class->translation = class->has_failed ? NULL : translation;
    return class->translation;
}
