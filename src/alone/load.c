/* See load.h. */
#include "alone/load.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* With () behind it the symbol is of a function that gives the kind. */
static const KoineModelKind *find(void *library, const char *symbol)
{
    char name[256];
    const size_t n = strlen(symbol);
    const int is_function = n > 2 && strcmp(symbol + n - 2, "()") == 0;
    const KoineModelKind *(*function)(void);
    snprintf(name, sizeof name, "%.*s", (int)(is_function ? n - 2 : n), symbol);
    void *address = dlsym(library, name);
    if (!address || !is_function)
        return address;
    memcpy(&function, &address, sizeof function); /* C has no conversion of an object's address to a function's */
    return function();
}

static int fits(const KoineTables *there, const KoineForeignLinks *links, int is_set)
{
    for (uint32_t k = 0; k < links->n; k++) {
        const KoineForeignLink *link = &links->at[k];
        if (link->variable >= there->n_variables || link->element >= there->variables[link->variable].count)
            return 0;
        const KoineVariable *v = &there->variables[link->variable];
        const uint64_t at = is_set ? v->set : v->now;
        if (v->type != link->type || (at == KOINE_NO_OFFSET ? at : at + link->element * sizeof(KoineSlot)) != link->at)
            return 0;
    }
    return 1;
}

/* Every place that this model reads or writes there is where it was. */
static int is_the_same(const KoineForeign *f, const KoineModelKind *kind)
{
    const KoineTables *there = kind->version == KOINE_MODEL_VERSION ? kind->tables : NULL;
    return there && there->n_x == f->states.n && there->roots.n == f->n_roots &&
           (f->step == 0 || kind->foreign.advance) && fits(there, &f->inputs, 0) && fits(there, &f->outputs, 0) &&
           fits(there, &f->parameters, 1) && fits(there, &f->states, 1);
}

const char *koine_alone_load(const KoineAlone *alone)
{
    static char why[1024];
    const KoineForeigns *all = &alone->program->foreigns;
    for (uint32_t k = 0; k < all->n; k++) {
        const KoineForeign *f = &all->at[k];
        void *library = dlopen(f->file, RTLD_NOW | RTLD_LOCAL);
        const KoineModelKind *kind = library ? find(library, f->symbol) : NULL;
        if (kind && is_the_same(f, kind)) {
            alone->kinds[k] = kind;
            continue;
        }
        if (!library)
            snprintf(why, sizeof why, "the foreign component %s cannot be loaded: %s", f->name, dlerror());
        else
            snprintf(why, sizeof why, "the foreign component %s: %s in %s is %s", f->name, f->symbol, f->file,
                     kind ? "not what it was when this model was written" : "not there");
        return why;
    }
    return NULL;
}
