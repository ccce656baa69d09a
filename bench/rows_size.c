/* D: large models: from text to a ready Schedule, start of large arrays, size of generated C. */
#include "bench.h"
#include "driver/dump.h"
#include "explain/figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    void (*generate)(const Bench *bench, uint32_t n, char *path);
    uint32_t n;
} Network;
static const Network components_100k = { "components 100k", generate_network, 20000 },
                     components_1m = { "components 1M", generate_network, 200000 },
                     classes_100k = { "classes 100k", generate_network_classes, 20000 },
                     text_100k = { "text 100k", generate_network_ir, 20000 },
                     text_1m = { "text 1M", generate_network_ir, 200000 },
                     ladder_1k = { "ladder 1k", generate_ladder, 1000 },
                     ladder_9k = { "ladder 9k", generate_ladder, 9000 },
                     ladder_100k = { "ladder 100k", generate_ladder, 100000 },
                     cells_10k = { "cells 10k", generate_cells, 10000 },
                     cells_100k = { "cells 100k", generate_cells, 100000 },
                     cells_1m = { "cells 1M", generate_cells, 1000000 },
                     counting_10k = { "counting cells 10k", generate_counting_cells, 10000 },
                     counting_100k = { "counting cells 100k", generate_counting_cells, 100000 },
                     counting_1m = { "counting cells 1M", generate_counting_cells, 1000000 },
                     starting_100 = { "starting cells 100", generate_starting_cells, 100 },
                     starting_10k = { "starting cells 10k", generate_starting_cells, 10000 },
                     starting_100k = { "starting cells 100k", generate_starting_cells, 100000 },
                     starting_1m = { "starting cells 1M", generate_starting_cells, 1000000 },
                     star_10k = { "star 10k", generate_star, 10000 },
                     star_100k = { "star 100k", generate_star, 100000 };

/* ---- what a child does ---- */
static double peak_megabytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = NAN;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes / 1024;
}

static int fail(const Compilation *c)
{
    diag_print(c->diag, stderr, (DiagStyle){ 0 });
    return 1;
}

/* seconds, MB, equations, seconds of the load alone */
static int child_load(const char *path)
{
    const double begun = cpu_seconds();
    Compilation *c = compilation_create(NULL);
    if (!compilation_load(c, &(CompileRequest){ .path = path }))
        return fail(c);
    const double loaded = cpu_seconds() - begun;
    if (!compilation_schedule(c))
        return fail(c);
    printf("%.6f %.3f %llu %.6f\n", cpu_seconds() - begun, peak_megabytes(),
           (unsigned long long)compile_report(c->schedule, c->program, c->arena).equations, loaded);
    return 0;
}

/* seconds, MB, states */
static int child_start(const char *path, const char *tier)
{
    const double begun = cpu_seconds();
    Subject subject;
    Figure figure = { 0 };
    if (!subject_open(&subject, path, tier, &figure)) {
        fprintf(stderr, "%s\n", figure.note);
        return 1;
    }
    KoineModel *model = subject_start(&subject);
    if (!model)
        return 1;
    printf("%.6f %.3f %u\n", cpu_seconds() - begun, peak_megabytes(), subject.kind->tables->n_x);
    return 0;
}

/* bytes of generated C */
static int child_text(const char *path)
{
    Compilation *c = compilation_create(NULL);
    Text text = { .arena = c->arena };
    if (!compilation_load(c, &(CompileRequest){ .path = path }) || !compilation_dump(c, NULL, DUMP_C, &text))
        return fail(c);
    printf("%zu\n", (size_t)text.n);
    return 0;
}

int child_main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "load") == 0)
        return child_load(argv[1]);
    if (argc == 3 && strcmp(argv[0], "start") == 0)
        return child_start(argv[1], argv[2]);
    if (argc == 2 && strcmp(argv[0], "text") == 0)
        return child_text(argv[1]);
    if (argc == 2 && strcmp(argv[0], "passes") == 0)
        return child_passes(argv[1]);
    return 2;
}

/* ---- rows ---- */
enum { LOAD_SECONDS, LOAD_MEGABYTES, LOAD_EQUATIONS, LOAD_READ, N_LOAD };

/* Best of several; kept, because seconds and memory are two rows. */
static const double *load_network(const Bench *bench, const Network *network)
{
    static struct {
        const Network *of;
        bool is_good;
        double numbers[N_LOAD];
    } kept[24];
    uint32_t k = 0;
    while (kept[k].of && kept[k].of != network)
        k++;
    if (!kept[k].of) {
        char path[PATH_SIZE];
        kept[k].of = network;
        network->generate(bench, network->n, path);
        const int rounds = network->n >= 100000 ? 1 : bench->is_quick ? 2 : 5;
        for (int round = 0; round < rounds; round++) {
            double numbers[N_LOAD];
            if (!child_numbers(bench, (const char *[]){ "load", path, NULL }, numbers, N_LOAD))
                return NULL;
            if (round == 0 || numbers[LOAD_SECONDS] < kept[k].numbers[LOAD_SECONDS])
                memcpy(kept[k].numbers, numbers, sizeof numbers);
        }
        kept[k].is_good = true;
    }
    return kept[k].is_good ? kept[k].numbers : NULL;
}

static void measure_load(const Bench *bench, const Row *row, Figure *figure)
{
    const Network *network = row->subject;
    if (bench->is_quick && network->n >= 100000) {
        no_figure(figure, "left out by --quick");
        return;
    }
    const double *numbers = load_network(bench, network);
    if (!numbers) {
        no_figure(figure, "%s cannot be compiled", network->name);
        return;
    }
    figure->value = numbers[strcmp(row->unit, "s") == 0 ? LOAD_SECONDS : LOAD_MEGABYTES];
    figure->is_known = true;
    note(figure, "%.0f equations; load %.3f s, passes and program %.3f s", numbers[LOAD_EQUATIONS], numbers[LOAD_READ],
         numbers[LOAD_SECONDS] - numbers[LOAD_READ]);
}

static void measure_start(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    double numbers[3] = { 0 };
    double best[2] = { INFINITY, INFINITY };
    model_path(bench, row->subject, path);
    for (int round = 0; round < (bench->is_quick ? 2 : 5); round++) {
        if (!child_numbers(bench, (const char *[]){ "start", path, row->tier, NULL }, numbers, 3)) {
            no_figure(figure, "%s does not start", (const char *)row->subject);
            return;
        }
        best[0] = fmin(best[0], numbers[0]);
        best[1] = fmin(best[1], numbers[1]);
    }
    figure->value = best[strcmp(row->unit, "MB") == 0];
    figure->is_known = true;
    note(figure, "%.0f states, %.3f s, %.0f MB", numbers[2], best[0], best[1]);
}

/* How time grows with the number of cells. */
static void measure_growth(const Bench *bench, const Row *row, Figure *figure)
{
    const Network *const *both = row->subject;
    double seconds[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        const double *numbers = load_network(bench, both[k]);
        if (!numbers) {
            no_figure(figure, "%s cannot be compiled", both[k]->name);
            return;
        }
        seconds[k] = numbers[LOAD_SECONDS];
    }
    figure->value = log(seconds[1] / seconds[0]) / log((double)both[1]->n / both[0]->n);
    figure->is_known = true;
    note(figure, "%u: %.3f s, %u: %.3f s", both[0]->n, seconds[0], both[1]->n, seconds[1]);
}

static void measure_text_of_cells(const Bench *bench, const Row *row, Figure *figure)
{
    void (*const generate)(const Bench *, uint32_t, char *) = ((const Network *)row->subject)->generate;
    double bytes[2];
    for (int k = 0; k < 2; k++) {
        char path[PATH_SIZE];
        generate(bench, k ? 100000 : 100, path);
        if (!child_numbers(bench, (const char *[]){ "text", path, NULL }, &bytes[k], 1)) {
            no_figure(figure, "no C is generated");
            return;
        }
    }
    figure->value = bytes[1] / bytes[0];
    figure->is_known = true;
    note(figure, "%.0f and %.0f bytes", bytes[0], bytes[1]);
}

static const Network *const cells_grow[] = { &cells_10k, &cells_100k }, *const counting_grow[] = { &counting_10k,
                                                                                                   &counting_100k };
static const Network *const starting_grow[] = { &starting_10k, &starting_1m }, *const starting_from_100[] = {
    &starting_100, &starting_1m
};

static void measure_text(const Bench *bench, const Row *row, Figure *figure)
{
    double few, many;
    char path[PATH_SIZE];
    (void)row;
    generate_network(bench, 10, path);
    bool is_good = child_numbers(bench, (const char *[]){ "text", path, NULL }, &few, 1);
    generate_network(bench, 10000, path);
    is_good = is_good && child_numbers(bench, (const char *[]){ "text", path, NULL }, &many, 1);
    if (!is_good) {
        no_figure(figure, "no C is generated");
        return;
    }
    figure->value = many / few;
    figure->is_known = true;
    note(figure, "%.0f and %.0f bytes", few, many);
}

static const Row rows[] = {
    { "size/components100k/time", AT_MOST, 0.6, "s", measure_load, &components_100k, NULL },
    { "size/components100k/memory", AT_MOST, 200, "MB", measure_load, &components_100k, NULL },
    { "size/classes100k/time", AT_MOST, 0.6, "s", measure_load, &classes_100k, NULL },
    { "size/classes100k/memory", AT_MOST, 200, "MB", measure_load, &classes_100k, NULL },
    { "size/text100k/time", AT_MOST, 0.6, "s", measure_load, &text_100k, NULL },
    { "size/text100k/memory", AT_MOST, 200, "MB", measure_load, &text_100k, NULL },
    { "size/components1m/time", AT_MOST, 10, "s", measure_load, &components_1m, NULL },
    { "size/components1m/memory", AT_MOST, 2000, "MB", measure_load, &components_1m, NULL },
    { "size/text1m/time", AT_MOST, 10, "s", measure_load, &text_1m, NULL },
    { "size/text1m/memory", AT_MOST, 2000, "MB", measure_load, &text_1m, NULL },
    { "size/ladder1k/time", AT_MOST, 0.15, "s", measure_load, &ladder_1k, NULL },
    { "size/ladder9k/time", AT_MOST, 1, "s", measure_load, &ladder_9k, NULL },
    { "size/ladder100k/time", AT_MOST, 12, "s", measure_load, &ladder_100k, NULL },
    { "size/ladder100k/memory", AT_MOST, 3000, "MB", measure_load, &ladder_100k, NULL },
    { "size/star10k/time", AT_MOST, 1, "s", measure_load, &star_10k, NULL },
    { "size/star100k/time", AT_MOST, 12, "s", measure_load, &star_100k, NULL },
    { "size/star100k/memory", AT_MOST, 3000, "MB", measure_load, &star_100k, NULL },
    { "size/array1m/time", AT_MOST, 0.2, "s", measure_start, "heat1000000.ir", "interp" },
    { "size/array1m/memory", AT_MOST, 100, "MB", measure_start, "heat1000000.ir", "interp" },
    { "size/cells100k/time", AT_MOST, 0.2, "s", measure_load, &cells_100k, NULL },
    { "size/cells100k/memory", AT_MOST, 100, "MB", measure_load, &cells_100k, NULL },
    { "size/cells1m/time", AT_MOST, 2, "s", measure_load, &cells_1m, NULL },
    { "size/cells1m/memory", AT_MOST, 700, "MB", measure_load, &cells_1m, NULL },
    { "size/cells/growth", AT_MOST, 1.3, "exponent", measure_growth, cells_grow, NULL },
    { "size/cells/c", AT_MOST, 1.1, "100k/100", measure_text_of_cells, &cells_100k, NULL },
    { "size/counting100k/time", AT_MOST, 2, "s", measure_load, &counting_100k, NULL },
    { "size/counting100k/memory", AT_MOST, 600, "MB", measure_load, &counting_100k, NULL },
    { "size/counting1m/time", AT_MOST, 4, "s", measure_load, &counting_1m, NULL },
    { "size/counting1m/memory", AT_MOST, 1000, "MB", measure_load, &counting_1m, NULL },
    { "size/counting/growth", AT_MOST, 1.3, "exponent", measure_growth, counting_grow, NULL },
    { "size/counting/c", AT_MOST, 1.1, "100k/100", measure_text_of_cells, &counting_100k, NULL },
    { "size/starting100k/time", AT_MOST, 1, "s", measure_load, &starting_100k, NULL },
    { "size/starting100k/memory", AT_MOST, 150, "MB", measure_load, &starting_100k, NULL },
    { "size/starting1m/time", AT_MOST, 6, "s", measure_load, &starting_1m, NULL },
    { "size/starting1m/memory", AT_MOST, 1100, "MB", measure_load, &starting_1m, NULL },
    { "size/starting/growth", AT_MOST, 1.2, "exponent", measure_growth, starting_grow, NULL },
    { "size/starting/growth-from-100", AT_MOST, 1, "exponent", measure_growth, starting_from_100, NULL },
    { "size/starting/c", AT_MOST, 1.1, "100k/100", measure_text_of_cells, &starting_100k, NULL },
    { "size/generated-c", AT_MOST, 1.05, "10k/10", measure_text, NULL, NULL },
};
const Group group_size = { "D. large models: text to a ready Schedule, start, generated C", rows,
                           sizeof rows / sizeof rows[0] };
