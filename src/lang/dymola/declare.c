/* Declarations of variables and objects. */
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

enum { MOST_OBJECTS = 1000000 };

/* ---- variables ---- */
void dym_declare(Translation *translation, const VarDecl *declared)
{
    uint32_t k;
    if (strcmp(NAME(translation, declared->name), "Time") == 0) {
        REPORT(translation, DIAG_DYM_TIME_DECLARED, declared->name.span, "`Time` must not be declared");
        diag_help(translation->diag, "it is known everywhere");
        return;
    }
    if (map_get(&translation->variables.names, declared->name.name.index, &k)) {
        REPORT(translation, DIAG_DYM_TWICE, declared->name.span, "there are two variables `%s`",
               NAME(translation, declared->name));
        diag_note(translation->diag, translation->variables.all.at[k].name.span, "the first is here");
        return;
    }
    ClassVariable var = { .name = declared->name,
                          .kind = declared->kind,
                          .value = declared->value,
                          .nominal = declared->nominal,
                          .type = dym_new_type(translation) };
    var.var = model_add_variable(translation->model, (InstanceId){ 0 }, var.name.name, REAL_TYPE, var.name.span);
    dym_set_size(translation, var.var, &declared->size);
    map_put(&translation->variables.names, var.name.name.index, translation->variables.all.n);
    map_put(&translation->types.of_variable, var.var.index, var.type);
    vec_push(translation->arena, &translation->variables.all, var);
}

/* A variable that only a cut names is a terminal. */
VarId dym_declare_in_cut(Translation *translation, const CutItem *item)
{
    const Ident name = item->name;
    uint32_t k;
    if (map_get(&translation->variables.names, name.name.index, &k)) {
        const VarId var = translation->variables.all.at[k].var;
        const Extent e = dym_variable_extent(translation, var);
        if (item->size.n && (item->size.n != model_var(translation->model, var)->type.rank ||
                             item->size.at[0] != e.rows || (item->size.n == 2 && item->size.at[1] != e.columns))) {
            REPORT(translation, DIAG_DYM_DIMENSION, item->size.span, "`%s` has another size", NAME(translation, name));
            diag_note(translation->diag, translation->variables.all.at[k].name.span, "it is %s here",
                      dym_extent_text(translation, e));
        }
        return var;
    }
    ClassVariable var = { .name = name, .kind = KIND_TERMINAL, .is_implicit = true, .type = dym_new_type(translation) };
    var.var = model_add_variable(translation->model, (InstanceId){ 0 }, name.name, REAL_TYPE, name.span);
    dym_set_size(translation, var.var, &item->size);
    map_put(&translation->variables.names, name.name.index, translation->variables.all.n);
    map_put(&translation->types.of_variable, var.var.index, var.type);
    vec_push(translation->arena, &translation->variables.all, var);
    return var.var;
}

/* ---- objects ---- */
void dym_declare_object(Translation *translation, const Submodel *submodel)
{
    uint32_t k;
    if (map_get(&translation->objects.names, submodel->name.name.index, &k)) {
        REPORT(translation, DIAG_DYM_TWICE, submodel->name.span, "there are two objects `%s`",
               NAME(translation, submodel->name));
        diag_note(translation->diag, translation->objects.all.at[k].name.span, "the first is here");
        return;
    }
    Translation *part = dym_lower_class(translation->load, submodel->class, submodel->name.span);
    if (!part)
        return;
    if (translation->model->instances.n + part->model->instances.n > MOST_OBJECTS) {
        REPORT(translation, DIAG_DYM_TOO_LARGE, submodel->name.span, "the model has more than %d objects",
               MOST_OBJECTS);
        diag_help(translation->diag, "objects of objects multiply; check how many each class needs");
        return;
    }
    ClassObject object = {
        .name = submodel->name, .text = submodel, .translation = part, .first_port = translation->model->ports.n
    };
    object.instance = model_compose(translation->model, (InstanceId){ 0 }, submodel->name.name, part->model,
                                    submodel->name.span, &object.first_var);
    for (uint32_t j = 0; j < part->variables.all.n; j++) /* directions are those of the whole model */
        if (part->variables.all.at[j].kind == KIND_INPUT || part->variables.all.at[j].kind == KIND_OUTPUT)
            translation->model->variables.at[object.first_var + part->variables.all.at[j].var.index].causality =
                CAUSALITY_LOCAL;
    map_put(&translation->objects.names, submodel->name.name.index, translation->objects.all.n);
    vec_push(translation->arena, &translation->objects.all, object);
    dym_take_memories(translation, &object);
    dym_take_inits(translation, &object);
}
