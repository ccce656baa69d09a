#include "toy.h"
#include <stdio.h>
#include <stdlib.h>

static VarId add(Model *m, const char *name, Definition definition, Causality causality, double start, Span span)
{
    const VarId v = model_add_variable(m, (InstanceId){ 0 }, names_text(pool_names(m->pool), name), REAL_TYPE, span);
    model_var(m, v)->definition = (uint8_t)definition;
    model_var(m, v)->causality = (uint8_t)causality;
    model_var(m, v)->start = term_real(m, start);
    return v;
}

static Model *load(const LoadRequest *request, Diag *diag)
{
    const Source *source = sources_get(request->sources, request->source);
    const char *slash = strrchr(source->path, '/'), *base = slash ? slash + 1 : source->path;
    Names *names = pool_names(request->pool);
    const Span span = { request->source, 0, source->size };
    Model *m = model_create(request->pool, request->sources, names_add(names, base, strcspn(base, ".")), "toy", span);
    char a[32], b[32];
    double value;
    for (const char *line = source->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (sscanf(line, " input %31[a-z] = %lf", a, &value) == 2) {
            add(m, a, DEFINITION_INPUT, CAUSALITY_INPUT, value, span);
        } else if (sscanf(line, " gain %31[a-z] = %lf * %31[a-z]", a, &value, b) == 3) {
            const VarId u = model_find(m, (InstanceId){ 0 }, names_text(names, b));
            if (var_is_none(u)) {
                diag_error(diag, DIAG_SYNTAX, span, "no input '%s'", b);
                return NULL;
            }
            const VarId y = add(m, a, DEFINITION_NOW, CAUSALITY_OUTPUT, 0, span);
            TermBuilder builder = term_builder(m);
            const Expr *product =
                expr_binary(m->pool, OP_MUL, expr_real(m->pool, value), term_leaf(&builder, ref_now(u)));
            const Term rhs = term_finish(&builder, product);
            model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(y)), rhs, span);
        }
    }
    return m;
}

/* The first line that is no comment declares an input. */
static bool recognises(const char *text, size_t size)
{
    const char *const end = text + size;
    while (text < end && *text == '#') {
        const char *const line_end = memchr(text, '\n', (size_t)(end - text));
        text = line_end ? line_end + 1 : end;
    }
    return (size_t)(end - text) > 6 && memcmp(text, "input ", 6) == 0;
}

static const char *const extensions[] = { "toy", "mdl", NULL };
static const ProfileSetting settings[] = { { "TScal", 0.25 }, { 0 } };
static const Profile profile = { "toy", settings };
const Language toy_language = { .name = "toy",
                                .title = "the toy language",
                                .extensions = extensions,
                                .profile = &profile,
                                .recognises = recognises,
                                .load = load };
