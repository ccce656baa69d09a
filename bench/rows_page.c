/* The viewer with a result of 2 GB, in headless Chromium (web/test/bench.mjs measures, all rows at once). */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_result(const Bench *bench, char *path, Figure *figure)
{
    char model[PATH_SIZE];
    struct stat state;
    snprintf(path, PATH_SIZE, "%s/heat.h5", bench->folder);
    if (stat(path, &state) == 0)
        return true;
    model_path(bench, "heat10000.ir", model);
    char *const arguments[] = { (char *)(uintptr_t)koine_binary(),    "run",      model, "--stop", "10", "--interval",
                                bench->is_quick ? "0.003" : "0.0003", "--output", path,  NULL };
    double wall, cpu;
    if (run_program(koine_binary(), arguments, &wall, &cpu))
        return true;
    no_figure(figure, "%s run %s fails", koine_binary(), model);
    return false;
}

/* The answer of the script, asked for once: it stays in the temporary folder. */
static bool read_figures(const Bench *bench, char *text, size_t size, Figure *figure)
{
    char result[PATH_SIZE], answer[PATH_SIZE], command[5 * PATH_SIZE];
    if (!make_result(bench, result, figure))
        return false;
    snprintf(answer, sizeof answer, "%s/viewer.json", bench->folder);
    snprintf(command, sizeof command, "cd '%s/web/test' && ./install && node bench.mjs '%s' '%s' >'%s' 2>'%s.log'",
             KOINE_SOURCE_DIR, koine_binary(), result, answer, answer);
    if (access(answer, R_OK) != 0 && system(command) != 0) {
        unlink(answer);
        no_figure(figure, "there is no browser or no npm; web/test/run tells which");
        return false;
    }
    FILE *const file = fopen(answer, "r");
    const size_t n = file ? fread(text, 1, size - 1, file) : 0;
    text[n] = 0;
    if (file)
        fclose(file);
    return n > 0;
}

static bool number_of(const char *text, const char *key, double *value)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *const at = strstr(text, quoted);
    if (at)
        *value = atof(at + strlen(quoted));
    return at != NULL;
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    char text[1024];
    double rows, variables;
    if (!read_figures(bench, text, sizeof text, figure))
        return;
    figure->is_known = number_of(text, row->subject, &figure->value);
    if (number_of(text, "rows", &rows) && number_of(text, "variables", &variables))
        note(figure, "%.0f variables x %.0f points, %.2g GB of numbers", variables, rows, 8e-9 * rows * variables);
}

static const Row rows[] = {
    { "viewer/open", AT_MOST, 1, "s", measure, "open_seconds", NULL },
    { "viewer/memory", AT_MOST, 200, "MB", measure, "server_megabytes", NULL },
    { "viewer/first-curve", AT_MOST, 0.5, "s", measure, "first_curve_seconds", NULL },
    { "viewer/pan", AT_LEAST, 30, "frames/s", measure, "pan_frames", NULL },
};
const Group group_page = { "H. the viewer in headless Chromium", rows, sizeof rows / sizeof rows[0] };
