#include "formats/result_file.h"
#include <sys/stat.h>

static const struct {
    const ResultFormat *format;
    const char *ending;
} rows[] = {
#define RESULT_FORMAT(name, ending) { &name##_format, ending },
#include "formats/result_formats.def"
#undef RESULT_FORMAT
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const ResultFormat *result_format_at(uint32_t k)
{
    return k < N_ROWS ? rows[k].format : NULL;
}

const char *result_ending(uint32_t k)
{
    return k < N_ROWS ? rows[k].ending : NULL;
}

const ResultFormat *result_format_named(const char *path)
{
    for (uint32_t k = 0; k < N_ROWS; k++)
        if (text_ends_with(path, rows[k].ending))
            return rows[k].format;
    return NULL;
}

const ResultFormat *result_format_to_write(const char *path)
{
    struct stat state;
    const ResultFormat *named = result_format_named(path);
    if (!named &&
        (strcmp(path, "-") == 0 || (stat(path, &state) == 0 && (S_ISCHR(state.st_mode) || S_ISFIFO(state.st_mode)))))
        return rows[0].format;
    return named;
}

const char *result_formats_described(Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; k < N_ROWS; k++) {
        text_format(&text, "%sFILE%s", k ? ", " : "", rows[k].ending);
        if (rows[k].format->remark)
            text_format(&text, " (%s)", rows[k].format->remark);
    }
    return text.at;
}
