/* check_elements COUNT SEED FOLDER [OPTION...]: models made of all elements of the text form give the same bits in all
 * tiers, and in pieces.
 *
 * Each runs in the interpreter and in tcc, and in the interpreter in seven pieces, and in seven of which the last ones
 * are made by another instance, from saved bytes; every `--cc N`th also in cc. Prints how often each element occurred,
 * and each difference with the command that repeats it; the text of a model that differs stays in FOLDER. `--only
 * NAME`: each model has this element. `--print` writes the text of the first model. */
#include "generate.h"
#include "run.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t count, seed, cc;
    const char *folder, *only;
    bool prints;
} Wanted;

typedef struct {
    uint64_t refused, failed, differing, compared, anew, rare;
} Counts;

static char text_path[4096];

static bool is_same_row(const RunResult *a, const RunResult *b, uint32_t k)
{
    return memcmp(&a->rows[k].time, &b->rows[k].time, sizeof(double)) == 0 &&
           memcmp(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double)) == 0;
}

/* NULL: they are the same. */
static const char *difference(const RunResult *a, const RunResult *b)
{
    static char why[512];
    if (a->is_compiled != b->is_compiled || a->n_columns != b->n_columns)
        return "one was refused";
    if (a->report.end != b->report.end || strcmp(a->report.text, b->report.text) != 0) {
        snprintf(why, sizeof why, "they end otherwise: \"%.200s\", \"%.200s\"", a->report.text, b->report.text);
        return why;
    }
    for (uint32_t k = 0; k < a->n_rows && k < b->n_rows; k++)
        if (!is_same_row(a, b, k)) {
            uint32_t column = 0;
            while (column + 1 < a->n_columns &&
                   memcmp(&a->rows[k].values[column], &b->rows[k].values[column], sizeof(double)) == 0)
                column++;
            snprintf(why, sizeof why, "row %u differs: time %.17g, %.17g, %.100s %.17g, %.17g", k, a->rows[k].time,
                     b->rows[k].time, a->names[column], a->rows[k].values[column], b->rows[k].values[column]);
            return why;
        }
    if (a->n_rows != b->n_rows) {
        snprintf(why, sizeof why, "%u and %u rows", a->n_rows, b->n_rows);
        return why;
    }
    return strcmp(a->output ? a->output : "", b->output ? b->output : "") ? "they print otherwise" : NULL;
}

static bool write_text(const Wanted *w, const Elements *elements, uint64_t seed, bool *used)
{
    FILE *const file = fopen(text_path, "w");
    if (!file)
        return false;
    elements_write(elements, seed, w->only, used, file);
    return fclose(file) == 0;
}

static void keep_text(const Wanted *w, const Elements *elements, uint64_t seed, bool *used)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/elements-%llu.ir", w->folder, (unsigned long long)seed);
    FILE *const file = fopen(path, "w");
    if (file) {
        elements_write(elements, seed, w->only, used, file);
        fclose(file);
    }
}

static void compare(const Wanted *w, const RunResult *first, RunRequest request, const char *what, uint64_t seed,
                    Counts *counts)
{
    RunResult *const other = run_model(&request);
    const char *const why = other->is_anew ? NULL : difference(first, other);
    counts->anew += other->is_anew;
    counts->compared++;
    if (why) {
        counts->differing++;
        printf("seed %llu, %s: %s\n", (unsigned long long)seed, what, why);
        printf("  koine run %s/elements-%llu.ir --stop 2 --interval 0.05 --tolerance 1e-7\n", w->folder,
               (unsigned long long)seed);
    }
    run_free(other);
}

/* Its text is in the file. */
static void check(const Wanted *w, const Elements *elements, uint64_t seed, bool *used, Counts *counts)
{
    const uint64_t before = counts->differing;
    RunRequest request = { .path = text_path,
                           .tier = "interp",
                           .stop = 2,
                           .interval = 0.05,
                           .tolerance = 1e-7,
                           .max_steps = 200,
                           .external.allows_all = true };
    RunResult *const first = run_model(&request);
    if (!first->is_compiled) {
        counts->refused++;
        printf("seed %llu is refused:\n%s\n", (unsigned long long)seed, first->messages);
        keep_text(w, elements, seed, used);
    } else {
        counts->failed += first->report.end != KOINE_RUN_DONE;
        if (first->report.end != KOINE_RUN_DONE && getenv("KOINE_SHOW_FAILED"))
            printf("seed %llu ends: %s\n", (unsigned long long)seed, first->report.text);
        request.tier = "tcc";
        compare(w, first, request, "tcc", seed, counts);
        request.tier = "interp";
        request.n_pieces = 7;
        compare(w, first, request, "in pieces", seed, counts);
        request.changes_hands = true;
        compare(w, first, request, "saved and restored", seed, counts);
        request.changes_hands = false;
        request.n_pieces = 0;
        request.tier = "cc";
        if (w->cc && seed % w->cc == 0)
            compare(w, first, request, "cc", seed, counts);
        if (counts->differing > before)
            keep_text(w, elements, seed, used);
    }
    run_free(first);
}

static bool read_words(int n, char **words, Wanted *w)
{
    if (n < 4)
        return false;
    *w = (Wanted){ .count = strtoull(words[1], NULL, 10), .seed = strtoull(words[2], NULL, 10), .folder = words[3] };
    for (int k = 4; k < n; k++)
        if (strcmp(words[k], "--cc") == 0 && k + 1 < n)
            w->cc = strtoull(words[++k], NULL, 10);
        else if (strcmp(words[k], "--only") == 0 && k + 1 < n)
            w->only = words[++k];
        else if (strcmp(words[k], "--print") == 0)
            w->prints = true;
        else
            return false;
    return true;
}

int main(int n_words, char **words)
{
    Wanted w;
    Elements elements;
    Counts counts = { 0 };
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_words(n_words, words, &w) || !elements_read(&elements, KOINE_SOURCE_DIR "/tests/elements/elements.txt")) {
        fprintf(stderr, "check_elements COUNT SEED FOLDER [--cc N] [--only ELEMENT] [--print]\n");
        return 2;
    }
    bool *const used = calloc(elements.n, sizeof *used);
    snprintf(text_path, sizeof text_path, "%s/elements.ir", w.folder);
    if (w.prints) {
        elements_write(&elements, w.seed, w.only, used, stdout);
        free(used);
        elements_free(&elements);
        return 0;
    }
    for (uint64_t k = 0; k < w.count; k++) {
        if (!write_text(&w, &elements, w.seed + k, used))
            return 4;
        words_count(text_path);
        check(&w, &elements, w.seed + k, used, &counts);
        for (uint32_t j = 0; j < elements.n; j++)
            elements.at[j].n += used[j];
    }
    for (uint32_t j = 0; j < elements.n; j++)
        printf("%8llu %s\n", (unsigned long long)elements.at[j].n, elements.at[j].name);
    printf(
        "%llu models, %llu refused, %llu end with a fault, %llu comparisons (%llu not of bits: the solver began anew), "
        "%llu differ\n",
        (unsigned long long)w.count, (unsigned long long)counts.refused, (unsigned long long)counts.failed,
        (unsigned long long)counts.compared, (unsigned long long)counts.anew, (unsigned long long)counts.differing);
    const bool has_all = words_print(w.count), are_many = w.count >= 10000;
    for (uint32_t j = 0; j < elements.n && are_many; j++)
        counts.rare += elements.at[j].n < 100;
    free(used);
    elements_free(&elements);
    return counts.refused || counts.differing || counts.rare || (are_many && !has_all);
}
