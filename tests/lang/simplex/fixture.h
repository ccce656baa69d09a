/* Loads SIMPLEX texts for the tests: a class is sought beside the file that asks for it, then in classes/. */
#ifndef TESTS_LANG_SIMPLEX_FIXTURE_H
#define TESTS_LANG_SIMPLEX_FIXTURE_H

#include "base/map.h"
#include "lang/simplex/simplex.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Pool *pool;
    Diag *diag;
    Resolver resolver;
    const char *folder, *profile;
    VEC(const char *) names; /* classes asked for; model NULL while they are being loaded */
    VEC(const Model *) models;
    VEC(bool) is_loading;
} Fixture;

static const Model *fixture_find(Resolver *resolver, const char *class_name, Span wanted_at, Diag *diag)
{
    Fixture *fixture = resolver->context;
    for (uint32_t k = 0; k < fixture->names.n; k++)
        if (strcmp(fixture->names.at[k], class_name) == 0) {
            if (fixture->is_loading.at[k])
                diag_error(diag, DIAG_UNKNOWN_LANGUAGE, wanted_at, "`%s` contains itself", class_name);
            return fixture->models.at[k];
        }
    const char *const folders[] = { fixture->folder, KOINE_SOURCE_DIR "/tests/lang/simplex/classes" };
    uint32_t source = SOURCE_NONE;
    for (uint32_t k = 0; k < 2 && source == SOURCE_NONE; k++) {
        const char *path = arena_format(fixture->arena, "%s/%s.mdl", folders[k], class_name);
        if (sources_open(fixture->sources, path, &source) != SOURCE_OK)
            source = SOURCE_NONE;
    }
    if (source == SOURCE_NONE) {
        diag_error(diag, DIAG_FILE_MISSING, wanted_at, "there is no class `%s`", class_name);
        return NULL;
    }
    const uint32_t at = fixture->names.n;
    vec_push(fixture->arena, &fixture->names, arena_text(fixture->arena, class_name, strlen(class_name)));
    vec_push(fixture->arena, &fixture->models, NULL);
    vec_push(fixture->arena, &fixture->is_loading, true);
    const LoadRequest request = { fixture->pool, fixture->sources, source, class_name, resolver, fixture->profile };
    const Model *model = simplex_language.load(&request, diag);
    fixture->models.at[at] = model;
    fixture->is_loading.at[at] = false;
    return model;
}

static Fixture *fixture_create(const char *folder)
{
    Arena *arena = arena_create(NULL);
    Fixture *fixture = NEW(arena, Fixture);
    fixture->arena = arena;
    fixture->folder = folder;
    fixture->sources = sources_create(arena);
    fixture->pool = pool_create(arena, names_create(arena));
    fixture->diag = diag_create(arena, fixture->sources);
    fixture->resolver = (Resolver){ fixture, fixture_find };
    return fixture;
}

static Model *fixture_load(Fixture *fixture, uint32_t source, const char *class_name)
{
    const LoadRequest request = { fixture->pool, fixture->sources,   source,
                                  class_name,    &fixture->resolver, fixture->profile };
    return simplex_language.load(&request, fixture->diag);
}

static inline Model *fixture_load_text(Fixture *fixture, const char *text, size_t size)
{
    return fixture_load(fixture, sources_add_text(fixture->sources, "text.mdl", text, size), NULL);
}

static void fixture_destroy(Fixture *fixture)
{
    arena_destroy(fixture->arena);
}

#endif
