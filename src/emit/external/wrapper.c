/* The C text that connects the functions of a model with what they name.
 *
 * It consists of what the functions include, of the C files of functions that include nothing, and of an entry for
 * each function, which calls it with the types that Koine uses. Where something declares the function, the compiler
 * checks that: a wrong number of arguments, a double for an int, an address for a number are errors. C files of
 * functions that include something are compiled beside it. */
#include "emit/external/wrapper.h"

static bool is_text(const ExternalFile *file)
{
    return file->kind == EXTERNAL_FILE_HEADER || file->kind == EXTERNAL_FILE_SYSTEM_HEADER ||
           file->kind == EXTERNAL_FILE_TEXT;
}

static bool has_include(const ExternalFiles *files)
{
    return files->n && is_text(&files->at[0]);
}

bool external_has_text(const ExternalSet *set)
{
    for (uint32_t k = 0; k < set->n; k++)
        for (uint32_t j = 0; j < set->files[k].n; j++) {
            const ExternalFile *file = &set->files[k].at[j];
            if (is_text(file) || file->kind == EXTERNAL_FILE_C || file->kind == EXTERNAL_FILE_ARCHIVE)
                return true;
        }
    return false;
}

/* A function that names this file includes something. */
static bool is_beside(const ExternalSet *set, const char *path)
{
    for (uint32_t k = 0; k < set->n; k++)
        for (uint32_t j = 0; j < set->files[k].n && has_include(&set->files[k]); j++)
            if (strcmp(set->files[k].at[j].path, path) == 0)
                return true;
    return false;
}

static bool is_known(const ExternalFiles *files, const ExternalFile *file)
{
    for (uint32_t k = 0; k < files->n; k++)
        if (files->at[k].kind == file->kind && strcmp(files->at[k].path, file->path) == 0)
            return true;
    return false;
}

/* C files, each once: those that are compiled by themselves, or those that are not. */
static void collect_sources(const ExternalSet *set, bool beside, ExternalFiles *to)
{
    for (uint32_t k = 0; k < set->n; k++)
        for (uint32_t j = 0; j < set->files[k].n; j++) {
            const ExternalFile *file = &set->files[k].at[j];
            if (file->kind == EXTERNAL_FILE_C && is_beside(set, file->path) == beside && !is_known(to, file))
                vec_push(set->arena, to, *file);
        }
}

void external_sources(const ExternalSet *set, ExternalFiles *to)
{
    collect_sources(set, true, to);
}

static const char *text_of(const Function *f, NameId name)
{
    return names_of(pool_names(f->body->pool), name);
}

static void put_includes(const ExternalSet *set, Text *text)
{
    ExternalFiles seen = { 0 };
    NameId *texts = NEW_ARRAY(set->arena, NameId, set->n + 1u);
    uint32_t n_texts = 0;
    for (uint32_t k = 0; k < set->n; k++) {
        const ExternalFile *file = set->files[k].at;
        bool is_new = has_include(&set->files[k]) && (file->kind == EXTERNAL_FILE_TEXT || !is_known(&seen, file));
        const NameId include = set->functions[k]->external->include;
        for (uint32_t j = 0; j < n_texts && is_new; j++)
            is_new = texts[j].index != include.index;
        if (!is_new)
            continue;
        texts[n_texts++] = include;
        vec_push(set->arena, &seen, *file);
        if (file->kind == EXTERNAL_FILE_TEXT)
            text_format(text, "#line 1 \"what is included for %s\"\n%s\n",
                        text_of(set->functions[k], set->functions[k]->external->symbol),
                        text_of(set->functions[k], include));
        else
            text_format(text, file->kind == EXTERNAL_FILE_HEADER ? "#include \"%s\"\n" : "#include <%s>\n", file->path);
    }
}

static void put_parameters(const Function *f, bool is_named, Text *text)
{
    const uint32_t n = f->external->arguments.n;
    for (uint32_t k = 0; k < n; k++) {
        const char *spelling = external_spelling(external_parameter(f, k));
        text_format(text, k ? ", %s" : "%s", spelling);
        if (is_named)
            text_format(text, text_ends_with(spelling, "*") ? "a%u" : " a%u", k);
    }
    if (n == 0)
        text_add(text, "void");
}

/* Nobody else declares it. */
static bool needs_declaration(const ExternalFiles *files)
{
    for (uint32_t k = 0; k < files->n; k++)
        if (files->at[k].kind == EXTERNAL_FILE_C)
            return false;
    return !has_include(files);
}

static void put_destructor(const ExternalSet *set, uint32_t number, Text *text)
{
    const Function *f = set->functions[number];
    if (!function_is_constructor(f))
        return;
    const char *symbol = text_of(f, f->external->destructor);
    text_format(text, "#line 1 \"the call of %s\"\n", symbol);
    if (needs_declaration(&set->files[number]))
        text_format(text, "void %s(void *); ", symbol);
    text_format(text,
                "__attribute__((visibility(\"default\"))) void " EXTERNAL_END "%u(void *a0); "
                "void " EXTERNAL_END "%u(void *a0) { %s(a0); }\n",
                number, number, symbol);
}

static void put_entry(const ExternalSet *set, uint32_t number, Text *text)
{
    const Function *f = set->functions[number];
    const char *symbol = text_of(f, f->external->symbol), *returns = external_returns(f);
    text_format(text, "#line 1 \"the call of %s\"\n", symbol);
    if (needs_declaration(&set->files[number])) {
        text_format(text, "%s %s(", returns, symbol);
        put_parameters(f, false, text);
        text_add(text, "); ");
    }
    text_format(text, "__attribute__((visibility(\"default\"))) %s " EXTERNAL_ENTRY "%u(", returns, number);
    put_parameters(f, true, text);
    text_format(text, ") { %s%s(", strcmp(returns, "void") == 0 ? "" : "return ", symbol);
    for (uint32_t k = 0; k < f->external->arguments.n; k++)
        text_format(text, k ? ", a%u" : "a%u", k);
    text_add(text, "); }\n");
    put_destructor(set, number, text);
}

Text external_text(const ExternalSet *set)
{
    Text text = { .arena = set->arena };
    ExternalFiles inside = { 0 };
    text_add(&text, "#include \"koine_external.h\"\n");
    put_includes(set, &text);
    collect_sources(set, false, &inside);
    for (uint32_t k = 0; k < inside.n; k++)
        text_format(&text, "#include \"%s\"\n", inside.at[k].path);
    text_add(&text, "#include <stddef.h>\n"
                    "#pragma GCC diagnostic error \"-Wfloat-conversion\"\n"
                    "#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n"
                    "#pragma GCC diagnostic error \"-Wint-conversion\"\n"
                    "#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n"
                    "#ifndef __clang__\n"
                    "#pragma GCC diagnostic error \"-Wbuiltin-declaration-mismatch\"\n"
                    "#endif\n");
    for (uint32_t k = 0; k < set->n; k++)
        put_entry(set, k, &text);
    return text;
}

/* ---- functions that everybody knows ---- */
/* d: double, i: int; the result stands before the brackets. Those of libm that are not named give a double for one. */
static const struct {
    const char *types, *names;
} known[] = {
    { "d(d)", " acos asin atan cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 log log10 log1p log2 logb "
              "fabs cbrt sqrt erf erfc lgamma tgamma ceil floor nearbyint rint round trunc j0 j1 y0 y1 " },
    { "d(d, d)", " atan2 pow hypot fmod remainder copysign nextafter fdim fmax fmin " },
    { "d(d, d, d)", " fma " },
    { "d(d, i)", " ldexp scalbn " },
    { "d(i, d)", " jn yn " },
    { "i(i)", " abs " },
};

static char letter_of(ExternalParameter p)
{
    return p.is_address || p.is_object ? 'p' : p.is_real ? 'd' : 'i';
}

const char *external_known_mistake(const Function *f, Arena *arena)
{
    const char *name = arena_format(arena, " %s ", text_of(f, f->external->symbol));
    Text said = { .arena = arena };
    text_char(&said, *external_returns(f));
    for (uint32_t k = 0; k < f->external->arguments.n; k++)
        text_format(&said, k ? ", %c" : "(%c", letter_of(external_parameter(f, k)));
    text_add(&said, f->external->arguments.n ? ")" : "()");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strstr(known[k].names, name))
            return strcmp(known[k].types, said.at) == 0 ? NULL : known[k].types;
    return NULL;
}
