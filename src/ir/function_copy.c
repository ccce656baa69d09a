/* See function_copy in model.h. */
#include "ir/fields.h"

static void copy_rows(Model *to, ModelList list, Arena *arena)
{
    Rows rows = model_rows(to, list);
    const size_t size = (size_t)rows.n * model_lists[list].row_size;
    const unsigned char *from = rows.at;
    rows.at = rows.n ? arena_alloc(arena, size, _Alignof(max_align_t)) : NULL;
    rows.capacity = rows.n;
    if (rows.n)
        memcpy(rows.at, from, size);
    memcpy((unsigned char *)to + model_lists[list].at, &rows, sizeof rows);
}

Function *function_copy(Model *model, const Function *of)
{
    Arena *arena = model->arena;
    Function *made = NEW(arena, Function);
    *made = *of;
    made->number = pool_count_function(model->pool);
    made->routine = NULL;
    made->derivative = made->difference = NULL;
    made->body = NEW(arena, Model);
    *made->body = *of->body;
    made->body->arena = arena;
    made->body->work = (TermWork){ 0 };
    for (ModelList list = 0; list < LIST_COUNT; list++)
        copy_rows(made->body, list, arena);
    made->body->refs.at = NEW_ARRAY(arena, Ref, of->body->refs.n + 1u);
    made->body->refs.capacity = of->body->refs.n;
    if (of->body->refs.n)
        memcpy(made->body->refs.at, of->body->refs.at, of->body->refs.n * sizeof(Ref));
    vec_push(model->arena, &model->functions, made);
    return made;
}
