/* The seam between a language and everything else: a language is one function, load.
 *
 * load reads one class and gives its Model. Classes it is made of come from the resolver, which
 * finds them in whatever language they are written in; so no language folder knows another. */
#ifndef IR_LANGUAGE_H
#define IR_LANGUAGE_H

#include "base/diag.h"
#include "base/profile.h"
#include "ir/model.h"

/* Given by the driver. `find` gives the Model of a class, loaded once however often it is asked for;
 * NULL means already reported, at `wanted_at` (no such class, it contains itself, it has errors).
 * The Model belongs to the same pool as the request's and may be composed any number of times. */
typedef struct Resolver Resolver;
struct Resolver {
    void *context;
    const Model *(*find)(Resolver *self, const char *class_name, Span wanted_at, Diag *diag);
};

typedef struct {
    Pool *pool;             /* of the compilation: the Model lives as long as it does */
    Sources *sources;       /* in which `source` is open */
    uint32_t source;        /* the text to read */
    const char *class_name; /* NULL: the one in the file */
    Resolver *resolver;
    const char *profile; /* NULL: as liberal as the language allows; else the name of a stricter reading */
} LoadRequest;

typedef struct {
    const char *name;              /* as in `source N "path" NAME` of the text form */
    const char *title;             /* as people call it */
    const char *const *extensions; /* of file names, without the dot, ended by NULL */
    const Profile *profile;        /* the reading of the original; NULL: there is none */
    /* Languages may share an ending: whether the text looks like one of this language. NULL: the ending says it all. */
    bool (*recognises)(const char *text, size_t size);
    /* The Model, with its instance 0 being the class; NULL means already reported. */
    Model *(*load)(const LoadRequest *request, Diag *diag);
    bool has_message_lines; /* lines that begin with $ are messages of an earlier check, no part of the text */
} Language;

#endif
