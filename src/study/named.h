/* The model that a command line, an experiment or a program names, and what an experiment asks of its compilation. */
#ifndef STUDY_NAMED_H
#define STUDY_NAMED_H

#include "driver/compile.h"
#include "experiment/experiment.h"

/* FILE or FILE:CLASS becomes path and class, which one that is there already beats. A file of the whole name has no
 * class. */
void named_split(CompileRequest *request, const char *text, Arena *arena);
/* A folder with a class, or the folder of a class, becomes the file of the version in use. False: reported. */
bool named_find_in_bank(CompileRequest *request, Arena *arena, Sources *sources, Diag *diag);
/* The file of the same folder whose name is most like it; NULL: none is near. */
const char *named_nearest_file(const char *path, Arena *arena);
/* "A=1, 2": the versions of CompileRequest. */
const char *const *named_versions(const char *list, Arena *arena);

/* The model that an experiment names, in the versions that it wants unless others were chosen. */
void named_take_model(CompileRequest *request, const Experiment *experiment, Arena *arena);

typedef enum {
    BESIDE_NONE,
    BESIDE_TAKEN,
    BESIDE_OTHER, /* it names another model, and is not used */
    BESIDE_WRONG  /* reported */
} Beside;

/* The experiment that stands beside the model: it may say the class, and the versions unless others were chosen. *model
 * is the file of the other model. */
Beside named_take_beside(CompileRequest *request, Sources *sources, Arena *arena, Diag *diag, Experiment *experiment,
                         const char **model);

/* How the model is read, and the values that are known when it is analysed. `sources` are those of the experiment;
 * `place` is where values stand that are not from a file. */
void named_take_experiment(CompileRequest *request, const Experiment *experiment, const Sources *sources,
                           const char *place, Arena *arena);

#endif
