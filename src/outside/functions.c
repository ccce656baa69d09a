/* Functions of C: whether they may be executed, and their loading. */
#include "emit/external/external.h"
#include "emit/program.h"
#include "ir/routine.h"
#include "outside/permission.h"

/* What the system finds by a name comes with the system. */
static bool is_of_system(const ExternalFile *file)
{
    return file->kind == EXTERNAL_FILE_SYSTEM || file->kind == EXTERNAL_FILE_SYSTEM_HEADER;
}

static bool are_all_named(const Judge *j, const ExternalFiles *files)
{
    for (uint32_t k = 0; k < files->n; k++)
        if (files->at[k].kind != EXTERNAL_FILE_SYSTEM_HEADER && !judge_knows(j, files->at[k].path))
            return false;
    return true;
}

/* The model that declares the function, and all its files, lie in folders that are trusted. */
static bool are_all_trusted(const Judge *j, const Function *f, const ExternalFiles *files)
{
    bool are = judge_trusts_source(j, f->external->source);
    for (uint32_t k = 0; k < files->n && are; k++)
        are = is_of_system(&files->at[k]) || judge_trusts(j, files->at[k].path);
    return are;
}

static void report_forbidden(const Judge *j, const Function *f, const ExternalFiles *files)
{
    const Outside *o = j->outside;
    Text list = { .arena = o->arena }, named = { .arena = o->arena };
    text_add(&named, "");
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
    diag_error(o->diag, DIAG_EXTERNAL_FORBIDDEN, f->span,
               "function %s would execute %s of C from %s, and nobody has said that it may",
               names_of(o->names, f->name), names_of(o->names, f->external->symbol), list.at);
    judge_help(j, named.at);
}

static bool may_be_executed(const Judge *j, const Function *f)
{
    const ExternalFiles files = external_files(f, j->outside->sources, j->outside->arena);
    if (j->outside->permission.allows_all || are_all_named(j, &files) || are_all_trusted(j, f, &files))
        return true;
    report_forbidden(j, f, &files);
    return false;
}

/* ---- loading ---- */
static void report_problem(const Outside *o, const ExternalProblem *problem)
{
    const Function *f = problem->function;
    if (f)
        diag_error(o->diag, DIAG_EXTERNAL_MISSING, f->span, "function %s cannot be had from C: %s",
                   names_of(o->names, f->name), problem->what);
    else
        diag_error(o->diag, DIAG_EXTERNAL_MISSING, SPAN_NONE, "the functions of C cannot be had: %s", problem->what);
    if (problem->help)
        diag_help(o->diag, "%s", problem->help);
}

bool outside_functions(const Outside *outside, const struct Program *program, volatile const int *interrupt,
                       struct Externals **loaded)
{
    const Code *code = program_code(program);
    const Function **functions = NEW_ARRAY(outside->arena, const Function *, code->n_routines + 1u);
    uint32_t n = 0;
    for (uint32_t k = 0; k < code->n_routines; k++)
        if (code->routines[k]->function->external)
            functions[n++] = code->routines[k]->function;
    *loaded = NULL;
    if (n == 0)
        return true;
    const Judge judge = judge_of(outside);
    bool is_good = true;
    for (uint32_t k = 0; k < n; k++)
        is_good &= may_be_executed(&judge, functions[k]);
    if (!is_good)
        return false;
    ExternalProblem problem;
    *loaded = externals_load(functions, n, outside->sources, interrupt, outside->arena, &problem);
    if (!*loaded)
        report_problem(outside, &problem);
    return *loaded != NULL;
}

const char *outside_symbols(const struct Program *program, const Names *names, Arena *arena)
{
    const Code *code = program_code(program);
    Text text = { .arena = arena };
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const Function *f = code->routines[k]->function;
        bool is_new = f->external; /* copies for other sizes have the same symbol */
        for (uint32_t j = 0; j < k && is_new; j++) {
            const External *other = code->routines[j]->function->external;
            is_new = !other || other->symbol.index != f->external->symbol.index;
        }
        if (is_new)
            text_format(&text, "%s%s", text.n ? ", " : "", names_of(names, f->external->symbol));
    }
    return text.at;
}
