#include "formats/result_file.h"
#include "formats/csv.h"
#include "formats/mat.h"
#include "formats/store.h"
#include <sys/stat.h>

bool text_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

bool result_file_form(const char *path, ResultForm *form)
{
    struct stat state;
    *form = text_ends_with(path, ".mat") ? RESULT_MAT : text_ends_with(path, ".h5") ? RESULT_STORE : RESULT_CSV;
    return *form != RESULT_CSV || strcmp(path, "-") == 0 || text_ends_with(path, ".csv") ||
           (stat(path, &state) == 0 && (S_ISCHR(state.st_mode) || S_ISFIFO(state.st_mode)));
}

KoineSink *result_file_sink(const ResultOptions *o, Arena *arena)
{
    switch (o->form) {
    case RESULT_MAT: {
        const MatOptions options = {
            .path = o->path, .is_confined = o->is_confined, .globs = o->globs, .n_globs = o->n_globs
        };
        return mat_sink(&options, arena);
    }
    case RESULT_STORE: {
        const StoreOptions options = {
            .path = o->path,
            .is_confined = o->is_confined,
            .globs = o->globs,
            .n_globs = o->n_globs,
            .has_phases = o->has_phases,
            .begin = o->begin,
        };
        return store_sink(&options, arena);
    }
    case RESULT_CSV: break;
    }
    const CsvOptions options = {
        .path = o->path,
        .is_confined = o->is_confined,
        .globs = o->globs,
        .n_globs = o->n_globs,
        .has_parameters = o->has_parameters,
    };
    return csv_sink(&options, arena);
}

bool result_file_finish(ResultForm form, KoineSink *sink, const char *end)
{
    return form != RESULT_STORE || store_finish(sink, end);
}
