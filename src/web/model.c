/* The model behind the results, compiled beside the loop. */
#include "explain/structure.h"
#include "web/session.h"

/* The passes turn connections into equations: pictures are drawn before. */
static void draw_diagrams(ModelView *model)
{
    enum { BOXES_MOST = 1000 };
    for (uint32_t depth = 0; depth < DIAGRAM_DEPTHS; depth++) {
        uint32_t n;
        Text svg = { 0 };
        if (!structure_svg(model->compilation->model, depth, BOXES_MOST, model->compilation->arena, &n, &svg))
            return;
        model->diagrams[depth] = svg;
    }
}

static void *compile(void *context)
{
    ModelView *model = context;
    Compilation *c = compilation_create(model->out_of_memory);
    model->compilation = c;
    const char *why;
    const KoineModelKind *kind = NULL;
    if (compilation_load(c, &model->request)) {
        draw_diagrams(model);
        if (compilation_schedule(c))
            kind = compilation_kind(c, "interp", &why);
    }
    model->kind = kind;
    if (kind && kind->create(kind, &model->host, &model->instance) < 0)
        model->instance = NULL;
    atomic_store_explicit(&model->state, kind ? MODEL_GOOD : MODEL_FAILED, memory_order_release);
    return NULL;
}

void model_begin(ModelView *model, const CompileRequest *request, OutOfMemory out_of_memory)
{
    model->request = *request;
    model->out_of_memory = out_of_memory;
    atomic_store(&model->state, MODEL_WORKING);
    model->is_started = pthread_create(&model->thread, NULL, compile, model) == 0;
    if (!model->is_started)
        compile(model);
}

void model_end(ModelView *model)
{
    if (model->is_started)
        pthread_join(model->thread, NULL);
    if (model->instance)
        model->kind->destroy(model->instance);
    compilation_destroy(model->compilation);
    *model = (ModelView){ 0 };
}
