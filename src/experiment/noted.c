#include "experiment/noted.h"
#include "formats/result_file.h"
#include "formats/writing.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *noted_result_state(const CatalogueRun *run)
{
    if (!run->result[0])
        return "not kept";
    if (run->is_replaced)
        return "replaced by a later run";
    return access(run->result, F_OK) == 0 ? "" : "gone";
}

static void settle(Catalogue *catalogue, CatalogueRun *run, Arena *arena)
{
    if (strcmp(run->end.outcome, "running") != 0)
        return;
    switch (process_state(&run->process, arena)) {
    case PROCESS_ALIVE: return;
    case PROCESS_ELSEWHERE:
        run->end.message = arena_format(arena, "on the machine '%s', which is not this one", run->process.host);
        return;
    case PROCESS_GONE: break;
    }
    run->end.outcome = "crashed";
    run->end.message = "its process was killed, or the machine went down";
    run->end.time = run->start;
    const ResultFormat *format = noted_result_state(run)[0] ? NULL : result_format_named(run->result);
    if (format && format->measure) {
        Arena *scratch = arena_create_like(arena);
        format->measure(run->result, scratch, &run->end.points, &run->end.time);
        arena_destroy(scratch);
    }
    catalogue_close_run(catalogue, run);
}

CatalogueStatus noted_runs(Catalogue *catalogue, const CatalogueFilter *filter, Arena *arena, CatalogueRun **runs,
                           uint32_t *n)
{
    const CatalogueStatus status = catalogue_list(catalogue, filter, arena, runs, n);
    for (uint32_t k = 0; status == CATALOGUE_GOOD && k < *n; k++)
        settle(catalogue, &(*runs)[k], arena);
    return status;
}

static void add_text(Text *text, const char *key, const char *value)
{
    text_format(text, "%s\"%s\": ", text->at[text->n - 1] == '{' ? "" : ", ", key);
    text_json(text, value);
}

static void add_real(Text *text, const char *key, double value)
{
    text_format(text, ", \"%s\": ", key);
    if (value - value == 0)
        text_real(text, value);
    else
        text_add(text, "null");
}

void noted_json(const CatalogueRun *run, Text *text)
{
    text_format(text, "{\"id\": %lld", (long long)run->id);
    add_text(text, "created", run->created);
    add_text(text, "koine", run->koine);
    add_text(text, "model", run->model);
    add_text(text, "file", run->file);
    add_text(text, "experiment", run->experiment);
    add_text(text, "hash", run->hash);
    text_format(text, ", \"settings\": %s", run->settings);
    add_text(text, "result", run->result);
    text_format(text, ", \"replaced\": %s", run->is_replaced ? "true" : "false");
    add_text(text, "outcome", run->end.outcome);
    add_text(text, "message", run->end.message);
    add_real(text, "start", run->start);
    add_real(text, "stop", run->stop);
    add_real(text, "time", run->end.time);
    text_format(text, ", \"points\": %llu", (unsigned long long)run->end.points);
    add_real(text, "compile_seconds", run->end.compile_seconds);
    add_real(text, "run_seconds", run->end.run_seconds);
    add_text(text, "tags", run->tags);
    text_char(text, '}');
}

const char *noted_short_path(const char *path, Arena *arena)
{
    char *here = getcwd(NULL, 0);
    const size_t n = here ? strlen(here) : 0;
    const bool is_below = n && strncmp(path, here, n) == 0 && path[n] == '/';
    free(here);
    return is_below ? arena_text(arena, path + n + 1, strlen(path + n + 1)) : path;
}

static void noted_line(const CatalogueRun *run, Text *text)
{
    const char *state = noted_result_state(run);
    const bool is_crashed = strcmp(run->end.outcome, "crashed") == 0,
               is_going = strcmp(run->end.outcome, "running") == 0;
    text_format(text, "%5lld  %.16s  %-16s %-11s ", (long long)run->id, run->created, run->model, run->end.outcome);
    if (is_crashed || is_going)
        text_format(text, "%10s", ""); /* how long is not known */
    else
        text_format(text, "%8.3f s", run->end.run_seconds);
    text_format(text, "  %s%s%s%s", noted_short_path(run->result, text->arena), state[0] ? " (" : "", state,
                state[0] ? ")" : "");
    if (is_crashed && !state[0])
        text_format(text, " (%llu points up to time %.9g)", (unsigned long long)run->end.points, run->end.time);
    text_format(text, "%s%s\n", run->tags[0] ? "  #" : "", run->tags);
}

void noted_list(const CatalogueRun *runs, uint32_t n, Text *text)
{
    for (uint32_t k = 0; k < n; k++)
        noted_line(&runs[k], text);
}

void noted_list_json(const CatalogueRun *runs, uint32_t n, Text *text)
{
    text_char(text, '[');
    for (uint32_t k = 0; k < n; k++) {
        text_add(text, k ? ",\n" : "");
        noted_json(&runs[k], text);
    }
    text_add(text, "]\n");
}

void noted_text(const CatalogueRun *run, const char *changes, Text *text)
{
    const char *state = noted_result_state(run);
    text_format(text, "run         %lld\ncreated     %s by koine %s\nmodel       %s\nfile        %s\n",
                (long long)run->id, run->created, run->koine, run->model, run->file);
    if (run->experiment[0])
        text_format(text, "experiment  %s\n", run->experiment);
    text_format(text, "hash        %s\n", run->hash);
    if (changes)
        text_format(text, "            the model has changed since this run: %s\n", changes);
    text_format(text, "settings    %s\nresult      %s%s%s%s\n", run->settings, run->result, state[0] ? " (" : "", state,
                state[0] ? ")" : "");
    text_format(text,
                "outcome     %s%s%s\ntime        %.9g of %.9g to %.9g\npoints      %llu\nduration    compiled %.3f s, "
                "ran %.3f s\n",
                run->end.outcome, run->end.message[0] ? ": " : "", run->end.message, run->end.time, run->start,
                run->stop, (unsigned long long)run->end.points, run->end.compile_seconds, run->end.run_seconds);
    if (run->tags[0])
        text_format(text, "tags        %s\n", run->tags);
}

bool noted_newest(const char *path, CatalogueRun *run, Arena *arena)
{
    Catalogue *catalogue;
    CatalogueRun *runs = NULL;
    uint32_t n = 0;
    if (catalogue_open(path, false, arena, &catalogue) != CATALOGUE_GOOD)
        return false;
    if (catalogue_list(catalogue, &(CatalogueFilter){ 0 }, arena, &runs, &n) != CATALOGUE_GOOD)
        n = 0;
    catalogue_close(catalogue);
    for (uint32_t k = 0; k < n; k++) {
        *run = runs[k];
        if (!run->is_replaced && result_format_named(run->result) && access(run->result, R_OK) == 0)
            return true;
    }
    return false;
}

bool noted_is_deletable(const CatalogueRun *run, const char *catalogue, const char **why, Arena *arena)
{
    const char *project = arena_text(arena, catalogue, strlen(catalogue) - strlen("/.koine/runs.sqlite"));
    *why = noted_result_state(run)[0] ? "" : writing_deletion_refusal(run->result, project[0] ? project : "/");
    return !*why;
}
