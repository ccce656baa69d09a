/* The translation of a class to a Model.
 *
 * A class is translated once, with what it inherits copied into it; its objects are composed of its Model. What the
 * class declares is collected first, part by part; then types and sizes are found and checked; then its connections
 * and equations become those of the Model. */
#ifndef LANG_DYMOLA_TRANSLATION_H
#define LANG_DYMOLA_TRANSLATION_H

#include "ir/language.h"
#include "lang/dymola/cuts.h"
#include "lang/dymola/events.h"
#include "lang/dymola/memory.h"
#include "lang/dymola/objects.h"
#include "lang/dymola/points.h"
#include "lang/dymola/report.h"
#include "lang/dymola/types.h"
#include "lang/dymola/variables.h"

/* One load of a text. */
typedef struct {
    const LoadRequest *request;
    Pool *pool;
    Arena *arena;
    Names *names;
    Diag *diag;
    uint32_t *errors;
    bool is_strict;             /* the profile is `dymola`: the text means what it meant to Dymola */
    bool has_no_events;         /* ifs are literal: nobody is told where they change */
    bool has_warned;            /* the warning that events are off was given */
    uint32_t depth;             /* classes that wait for those of their objects */
    const Class *all;           /* the text */
    uint32_t n_functions_ready; /* a function may call those before it */
} Load;

struct Translation {
    Load *load;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Model *model;
    VEC(const Class *) chain; /* the class with those it inherits from, the first ancestor first */
    ClassVariables variables;
    ClassCuts cuts;
    ClassPaths paths;
    ClassObjects objects;
    Points points;
    TypeNodes types;
    Memories memories;
    InitUses inits;  /* the uses of init, those of objects too */
    WhenUse *when;   /* the when that is being lowered, or NULL */
    bool has_arrays; /* some variable, also of objects, or some expression is no scalar */
};

#define NAME(translation, ident) names_of((translation)->load->names, (ident).name)

/* NULL: already reported. */
Translation *dym_new_translation(Load *load, const Class *class);
Translation *dym_lower_class(Load *load, Class *class, Span wanted_at);
/* Through variables that nothing is connected to are left alone if an equation of another object names them, or sets
 * the potential of their cut: `object.V = ...`. */
void dym_leave_addressed(Model *model, Arena *arena);

#endif
