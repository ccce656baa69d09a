/* MAT as a format of results; see result_file.h and mat.h. */
#include "formats/mat.h"
#include "formats/mat_layout.h"
#include "formats/result_file.h"

static KoineSink *create_sink(const ResultOptions *o, Arena *arena)
{
    return mat_sink(
        &(MatOptions){ .path = o->path, .is_confined = o->is_confined, .globs = o->globs, .n_globs = o->n_globs },
        arena);
}

/* The matrix that our files begin with. */
static bool is_ours(const char *bytes, size_t size)
{
    static const char name[] = "Aclass";
    MatHead first;
    if (size < sizeof first + sizeof name)
        return false;
    memcpy(&first, bytes, sizeof first);
    return first.rows == ACLASS_ROWS && first.columns == ACLASS_COLUMNS && first.name_size == (int32_t)sizeof name &&
           memcmp(bytes + sizeof first, name, sizeof name) == 0;
}

static Series *read_matrices(const char *path, const char *bytes, size_t size, Arena *arena, Diag *diag)
{
    return mat_read(path, bytes, size, arena, diag);
}

const ResultFormat mat_format = {
    .begins_as = "MAT",
    .holds = RESULT_HOLDS_PARAMETERS,
    .sink = create_sink,
    .is_file = mat_is_file,
    .is_ours = is_ours,
    .read = read_matrices,
};
