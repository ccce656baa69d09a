/* Result files by the ending of their name: the form and the sink that writes it. */
#ifndef FORMATS_RESULT_FILE_H
#define FORMATS_RESULT_FILE_H

#include "base/text.h"
#include "koine/simulate.h"

typedef enum { RESULT_CSV, RESULT_MAT, RESULT_STORE } ResultForm;

typedef struct {
    ResultForm form;
    const char *path;
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* see formats/select.h */
    uint32_t n_globs;
    bool has_parameters; /* CSV: columns for them too; the other forms always have them */
    bool has_phases;     /* parameters may change in the run */
    const char *begin;   /* native: a JSON object about the run */
} ResultOptions;

bool text_ends_with(const char *text, const char *end);
/* False: the name tells no form. Pipes and devices take CSV. */
bool result_file_form(const char *path, ResultForm *form);
KoineSink *result_file_sink(const ResultOptions *options, Arena *arena);
/* After the sink's end, always: native files get `end`, a JSON object or NULL. False: sink->error says why. */
bool result_file_finish(ResultForm form, KoineSink *sink, const char *end);

#endif
