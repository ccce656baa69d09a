/* See alone.h. The C files stay where they are: they belong to the user, and so do their headers. */
#include "emit/external/alone.h"
#include "emit/c/external.h"
#include "emit/external/wrapper.h"
#include <limits.h>
#include <stdlib.h>

static ExternalSet find_set(const Code *code, Arena *arena)
{
    const Function **functions = NEW_ARRAY(arena, const Function *, code->n_routines + 1u);
    ExternalFiles *files = NEW_ARRAY(arena, ExternalFiles, code->n_routines + 1u);
    ExternalSet set = { .functions = functions, .files = files, .arena = arena };
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const Function *f = code->routines[k]->function;
        if (!f->external)
            continue;
        set.sources = f->body->sources;
        files[set.n] = external_files(f, set.sources, arena);
        functions[set.n++] = f;
    }
    return set;
}

const char *alone_externals_missing(const Code *code, Arena *arena)
{
    const ExternalSet set = find_set(code, arena);
    for (uint32_t k = 0; k < set.n; k++)
        for (uint32_t j = 0; j < set.files[k].n; j++)
            if (set.files[k].at[j].kind == EXTERNAL_FILE_MISSING)
                return set.files[k].at[j].path;
    return NULL;
}

Text alone_externals(const Code *code, Arena *arena)
{
    const ExternalSet set = find_set(code, arena);
    Text text = external_text(&set);
    text_add(&text, "\n#line 1 \"externals.c\"\n"
                    "#include \"koine/objects.h\"\n"
                    "#include \"koine/support.h\"\n"
                    "#include \"koine/texts.h\"\n"
                    "extern void *const " NATIVE_EXTERNALS "[];\n"
                    "static const uint32_t no_alarm;\n"
                    "static void put(unsigned place, const volatile void *address)\n"
                    "{\n"
                    "    memcpy(" NATIVE_EXTERNALS "[place], &address, sizeof address);\n"
                    "}\n"
                    "static const void *text_of(const KoineSlot *calls, int64_t number)\n"
                    "{\n"
                    "    uint32_t n;\n"
                    "    return koine_text_at(calls, number, &n);\n"
                    "}\n"
                    "static void done(const void *code)\n"
                    "{\n"
                    "    KoineExternalState *state = koine_external_state();\n"
                    "    (void)code;\n"
                    "    while (state->texts) {\n"
                    "        void *text = state->texts;\n"
                    "        memcpy(&state->texts, text, sizeof state->texts);\n"
                    "        free(text);\n"
                    "    }\n"
                    "}\n"
                    "/* RoutineFaultKind: what is wrong behind a call. */\n"
                    "static uint32_t after(const void *code)\n"
                    "{\n"
                    "    KoineExternalState *state = koine_external_state();\n"
                    "    const uint32_t mode = koine_arithmetic_mode(), before = koine_arithmetic_nearest();\n"
                    "    (void)code;\n"
                    "    if (mode != before)\n"
                    "        koine_arithmetic_restore(before);\n"
                    "    if (!state->has_failed)\n");
    text_format(
        &text,
        "        return mode != before ? %d : 0;\n    state->has_failed = 0;\n    done(code);\n    return %d;\n}\n",
        ROUTINE_ROUNDED, ROUTINE_REFUSED);
    text_add(&text,
             "static void end_object(const void *code, void *object)\n"
             "{\n"
             "    void (*end)(void *);\n"
             "    memcpy(&end, code, sizeof end);\n"
             "    end(object);\n"
             "    after(code);\n"
             "}\n"
             "static uint32_t object_made(const KoineSlot *calls, int64_t number, void *object, const void *code)\n"
             "{\n"
             "    const KoineObjectEnd end = { end_object, code };\n"
             "    return koine_object_made(calls, number, object, end);\n"
             "}\n");
    for (uint32_t k = 0; k < set.n; k++)
        if (function_is_constructor(set.functions[k]))
            text_format(&text, "static void (*const ends_%u)(void *) = " EXTERNAL_END "%u;\n", k, k);
    text_add(&text, "void koine_alone_externals(void);\nvoid koine_alone_externals(void)\n{\n");
    text_format(&text, "    put(%d, (const void *)after);\n    put(%d, (const void *)text_of);\n", EXTERNAL_PLACE_AFTER,
                EXTERNAL_PLACE_TEXT);
    text_format(&text, "    put(%d, (const void *)koine_object_of);\n    put(%d, (const void *)object_made);\n",
                EXTERNAL_PLACE_OBJECT, EXTERNAL_PLACE_MADE);
    text_format(&text, "    put(%d, (const void *)koine_text_take);\n    put(%d, (const void *)done);\n",
                EXTERNAL_PLACE_TAKE, EXTERNAL_PLACE_DONE);
    for (uint32_t k = 0; k < set.n; k++) {
        const uint32_t place = EXTERNAL_PLACES + k * EXTERNAL_EACH;
        text_format(&text, "    put(%u, (const void *)" EXTERNAL_ENTRY "%u);\n    put(%u, &no_alarm);\n", place, k,
                    place + 2);
        text_format(&text, "    put(%u, &koine_external_failures);\n", place + 3);
        if (function_is_constructor(set.functions[k]))
            text_format(&text, "    put(%u, &ends_%u);\n", place + 1, k);
    }
    text_add(&text, "}\n");
    return text;
}

static void put_word(Text *text, const char *word)
{
    text_format(text, "  [====[%s]====]\n", word);
}

Text alone_externals_cmake(const Code *code, Arena *arena)
{
    const ExternalSet set = find_set(code, arena);
    ExternalFiles sources = { 0 };
    char real[PATH_MAX];
    Text text = { .arena = arena };
    text_add(&text, "# Where the functions of C of this model are.\nset(external_sources\n");
    external_sources(&set, &sources);
    for (uint32_t k = 0; k < sources.n; k++)
        put_word(&text, sources.at[k].path);
    text_add(&text, ")\nset(external_folders\n");
    for (uint32_t k = 0; k < set.n; k++) {
        const char **folders;
        const uint32_t n = external_folders(set.functions[k], set.sources, arena, &folders);
        for (uint32_t j = 0; j < n; j++)
            put_word(&text, realpath(folders[j], real) ? real : folders[j]);
    }
    text_add(&text, ")\nset(external_libraries\n");
    for (uint32_t k = 0; k < set.n; k++)
        for (uint32_t j = 0; j < set.files[k].n; j++) {
            const ExternalFile *file = &set.files[k].at[j];
            if (file->kind == EXTERNAL_FILE_SYSTEM || file->kind == EXTERNAL_FILE_OBJECT ||
                file->kind == EXTERNAL_FILE_ARCHIVE)
                put_word(&text, file->path);
        }
    text_add(&text, ")\n");
    return text;
}
