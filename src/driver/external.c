/* See external.h. */
#include "driver/external.h"
#include "emit/external/external.h"
#include "emit/program.h"
#include "ir/routine.h"
#include "trust/trust.h"

typedef struct {
    Compilation *c;
    TrustedFolders trusted;
    const char *not_trusted; /* why the list does not count; NULL: it does */
} Judge;

/* ---- the user's word ---- */
static bool is_named(const Judge *j, const char *file)
{
    const char *const *named = j->c->request.external.files;
    for (uint32_t k = 0; named && named[k]; k++)
        if (strcmp(named[k], file) == 0 || source_is_same(named[k], file))
            return true;
    return false;
}

/* What the system finds by a name comes with the system. */
static bool is_of_system(const ExternalFile *file)
{
    return file->kind == EXTERNAL_FILE_SYSTEM || file->kind == EXTERNAL_FILE_SYSTEM_HEADER;
}

static bool are_all_named(const Judge *j, const ExternalFiles *files)
{
    for (uint32_t k = 0; k < files->n; k++)
        if (files->at[k].kind != EXTERNAL_FILE_SYSTEM_HEADER && !is_named(j, files->at[k].path))
            return false;
    return true;
}

/* The model that declares the function, and all its files, lie in folders that are trusted. */
static bool are_all_trusted(const Judge *j, const Function *f, const ExternalFiles *files)
{
    Arena *arena = j->c->arena;
    const uint32_t source = f->external->source;
    if (source == SOURCE_NONE || !trust_folder_of(&j->trusted, sources_get(j->c->sources, source)->path, arena))
        return false;
    for (uint32_t k = 0; k < files->n; k++)
        if (!is_of_system(&files->at[k]) && !trust_folder_of(&j->trusted, files->at[k].path, arena))
            return false;
    return true;
}

static void report_forbidden(const Judge *j, const Function *f, const ExternalFiles *files)
{
    Compilation *c = j->c;
    Text list = { .arena = c->arena }, named = { .arena = c->arena };
    for (uint32_t k = 0; k < files->n; k++) {
        if (files->at[k].kind == EXTERNAL_FILE_SYSTEM_HEADER)
            continue;
        text_format(&list, "%s%s%s", list.n ? ", " : "",
                    files->at[k].kind == EXTERNAL_FILE_SYSTEM ? "the library "
                    : files->at[k].kind == EXTERNAL_FILE_TEXT ? "the C text in "
                                                              : "",
                    files->at[k].path);
        text_format(&named, " --external %s", files->at[k].path);
    }
    diag_error(c->diag, DIAG_EXTERNAL_FORBIDDEN, f->span,
               "function %s would execute %s of C from %s, and nobody has said that it may",
               names_of(c->names, f->name), names_of(c->names, f->external->symbol), list.at);
    if (j->not_trusted)
        diag_help(c->diag, "%s", j->not_trusted);
    else
        diag_help(c->diag,
                  "such code can do whatever you can; if you know it, allow it:%s, or --allow-external, or "
                  "koine trust FOLDER",
                  named.at);
}

static bool judge(const Judge *j, const Function *f)
{
    const ExternalFiles files = external_files(f, j->c->sources, j->c->arena);
    const ExternalPermission *permission = &j->c->request.external;
    if (permission->allows_all || are_all_named(j, &files) ||
        (permission->counts_trust && are_all_trusted(j, f, &files)))
        return true;
    report_forbidden(j, f, &files);
    return false;
}

/* ---- loading ---- */
static void report_problem(Compilation *c, const ExternalProblem *problem)
{
    const Function *f = problem->function;
    if (f)
        diag_error(c->diag, DIAG_EXTERNAL_MISSING, f->span, "function %s cannot be had from C: %s",
                   names_of(c->names, f->name), problem->what);
    else
        diag_error(c->diag, DIAG_EXTERNAL_MISSING, SPAN_NONE, "the functions of C cannot be had: %s", problem->what);
    if (problem->help)
        diag_help(c->diag, "%s", problem->help);
}

bool compilation_load_externals(Compilation *c)
{
    const Code *code = program_code(c->program);
    const Function **functions = NEW_ARRAY(c->arena, const Function *, code->n_routines + 1u);
    uint32_t n = 0;
    for (uint32_t k = 0; k < code->n_routines; k++)
        if (code->routines[k]->function->external)
            functions[n++] = code->routines[k]->function;
    if (n == 0 || c->externals)
        return true;
    Judge j = { .c = c };
    bool is_good = true;
    if (c->request.external.counts_trust)
        trust_read(&j.trusted, c->arena, &j.not_trusted);
    for (uint32_t k = 0; k < n; k++)
        is_good &= judge(&j, functions[k]);
    if (!is_good)
        return false;
    ExternalProblem problem;
    c->externals = externals_load(functions, n, c->sources, c->interrupt, c->arena, &problem);
    if (!c->externals)
        report_problem(c, &problem);
    return c->externals != NULL;
}

const char *compilation_external_symbols(const Compilation *c)
{
    const Code *code = program_code(c->program);
    Text text = { .arena = c->arena };
    for (uint32_t k = 0; k < code->n_routines && c->externals; k++) {
        const Function *f = code->routines[k]->function;
        if (f->external)
            text_format(&text, "%s%s", text.n ? ", " : "", names_of(c->names, f->external->symbol));
    }
    return text.at;
}
