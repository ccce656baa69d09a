/* koine-bench: see README.md beside this file. */
#include "bench.h"
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Group *const groups[] = { &group_cvode,  &group_slopes,  &group_precision,   &group_size,
                                       &group_events, &group_process, &group_bank,        &group_growth,
                                       &group_engine, &group_tearing, &group_derivatives, &group_components };
enum { N_GROUPS = sizeof groups / sizeof groups[0] };
static const Group *const viewer_groups[] = { &group_results, &group_page }; /* of --viewer */
enum { N_VIEWER_GROUPS = sizeof viewer_groups / sizeof viewer_groups[0] };

typedef struct {
    bool is_quick, is_list, is_viewer;
    const char *rows, *json, *against;
} Options;

static int usage(FILE *to, int code)
{
    fputs("usage: koine-bench [--viewer] [--quick] [--row GLOB] [--json FILE] [--list] [--against FOLDER]\n"
          "  --viewer     the rows of results and the viewer instead: minutes, 3 GB of disk, headless Chromium\n"
          "  --quick      fewer repetitions; no models of a million equations\n"
          "  --row GLOB   only rows whose names match, e.g. 'cvode/*/cc'\n"
          "  --json FILE  the figures, for machines\n"
          "  --list       names of the rows\n"
          "  --against FOLDER  each row of this build and of the build in FOLDER in turns: their ratio\n",
          to);
    return code;
}

static bool read_options(int argc, char **argv, Options *o)
{
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0)
            o->is_quick = true;
        else if (strcmp(argv[k], "--viewer") == 0)
            o->is_viewer = true;
        else if (strcmp(argv[k], "--list") == 0)
            o->is_list = true;
        else if (strcmp(argv[k], "--row") == 0 && k + 1 < argc)
            o->rows = argv[++k];
        else if (strcmp(argv[k], "--json") == 0 && k + 1 < argc)
            o->json = argv[++k];
        else if (strcmp(argv[k], "--against") == 0 && k + 1 < argc)
            o->against = argv[++k];
        else
            return false;
    }
    return !(o->against && o->json); /* figures of both builds are their own files */
}

static bool is_passed(const Row *row, const Figure *figure)
{
    return figure->is_known &&
           (row->direction == AT_MOST ? figure->value <= row->target : figure->value >= row->target);
}

static void print_row(const Row *row, const Figure *figure)
{
    char value[32] = "-";
    if (figure->is_known)
        snprintf(value, sizeof value, "%.3g", figure->value);
    printf("%-28s %8s %-8s %s %-6g %-5s %s\n", row->name, value, row->unit,
           row->direction == AT_MOST ? "<=" : ">=", row->target,
           !figure->is_known        ? "none"
           : is_passed(row, figure) ? "ok"
                                    : "MISS",
           figure->note);
    fflush(stdout);
}

static void json_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', f);
        if ((unsigned char)*text >= ' ')
            fputc(*text, f);
    }
    fputc('"', f);
}

static void json_row(FILE *f, const Row *row, const Figure *figure, bool is_first)
{
    fprintf(f, "%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"target\": %g, \"direction\": \"%s\", \"value\": ",
            is_first ? "" : ",", row->name, row->unit, row->target, row->direction == AT_MOST ? "at most" : "at least");
    if (figure->is_known)
        fprintf(f, "%.6g", figure->value);
    else
        fputs("null", f);
    fprintf(f, ", \"passed\": %s, \"note\": ", is_passed(row, figure) ? "true" : "false");
    json_text(f, figure->note);
    fputc('}', f);
}

/* Above 1: this build is slower, or larger. */
static void print_against(const Bench *bench, const char *other, const Row *row)
{
    double values[2];
    if (!measure_against(bench, other, row, values)) {
        printf("%-28s %8s of before  one of the builds has no figure\n", row->name, "none");
        return;
    }
    const double ratio = row->direction == AT_MOST ? values[0] / values[1] : values[1] / values[0];
    printf("%-28s %8.3f of before  %.4g, before %.4g %s\n", row->name, ratio, values[0], values[1], row->unit);
    fflush(stdout);
}

/* Number of rows that miss their target or have no figure. */
static uint32_t run_rows(const Bench *bench, const Options *o, const char *other, FILE *json)
{
    uint32_t n = 0, misses = 0;
    const Group *const *const chosen = o->is_viewer ? viewer_groups : groups;
    const uint32_t n_chosen = o->is_viewer ? N_VIEWER_GROUPS : N_GROUPS;
    for (uint32_t g = 0; g < n_chosen; g++) {
        bool has_title = false;
        for (uint32_t k = 0; k < chosen[g]->n; k++) {
            const Row *row = &chosen[g]->rows[k];
            Figure figure = { 0 };
            if (o->rows && fnmatch(o->rows, row->name, 0) != 0)
                continue;
            if (!has_title)
                printf("\n%s\n", chosen[g]->title);
            has_title = true;
            if (o->against && !o->is_list) {
                print_against(bench, other, row);
                n++;
                continue;
            }
            if (!o->is_list)
                row->measure(bench, row, &figure);
            print_row(row, &figure);
            if (json)
                json_row(json, row, &figure, n == 0);
            n++;
            misses += !is_passed(row, &figure);
        }
    }
    if (o->against)
        printf("\n%u rows\n", n);
    else
        printf("\n%u rows, %u within their targets\n", n, n - misses);
    return misses;
}

static void remove_folder(const char *folder)
{
    char command[PATH_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "koine-bench: %s stays\n", folder);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--child") == 0)
        return child_main(argc - 2, argv + 2);
    Options o = { 0 };
    if (!read_options(argc, argv, &o))
        return usage(stderr, 2);
    char other[PATH_SIZE] = "";
    if (o.against && !find_other_bench(o.against, other, sizeof other)) {
        fprintf(stderr,
                "koine-bench: there is no koine-bench in '%s': name a build folder, or a checkout in which "
                "'./koine bench --list' was run\n",
                o.against);
        return 2;
    }
    char folder[] = "/tmp/koine-bench.XXXXXX", self[PATH_SIZE] = { 0 };
    if (!mkdtemp(folder) || readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        perror("koine-bench");
        return 4;
    }
    FILE *json = o.json ? fopen(o.json, "w") : NULL;
    if (o.json && !json) {
        perror(o.json);
        return 4;
    }
    const Bench bench = { o.is_quick, KOINE_SOURCE_DIR "/bench/models", folder, self };
    if (json)
        fputs("[", json);
    const uint32_t misses = run_rows(&bench, &o, other, json);
    if (json) {
        fputs("\n]\n", json);
        fclose(json);
    }
    remove_folder(folder);
    return misses ? 1 : 0;
}
