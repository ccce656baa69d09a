/* The layout of a program in words: tests/emit/program/NAME.ir gives NAME.txt. KOINE_BLESS=1 writes it; after that
 * somebody reads it. */
#include "base/diag.h"
#include "emit/program.h"
#include "ir/read.h"
#include "passes/pipeline.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER KOINE_SOURCE_DIR "/tests/emit/program/"

static char *read_file(const char *path, Arena *arena)
{
    FILE *file = fopen(path, "rb");
    Text text = { .arena = arena };
    char buffer[4096];
    assert_non_null(file);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        text_bytes(&text, buffer, n);
    fclose(file);
    return text.at;
}

static Text print(const char *name, Arena *arena)
{
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    const char *text = read_file(arena_format(arena, FOLDER "%s.ir", name), arena);
    const uint32_t source = sources_add_text(sources, arena_format(arena, "%s.ir", name), text, strlen(text));
    Pool *pool = pool_create(arena, names_create(arena));
    Compile compile = { .model = model_read(pool, sources, source, diag), .arena = arena, .diag = diag };
    const bool is_good = compile.model && run_pipeline(&compile, NULL, NULL);
    if (!is_good)
        diag_print(diag, stderr, (DiagStyle){ 0 });
    assert_true(is_good);
    Text out = { .arena = arena };
    program_print(program_create(compile.schedule, arena), compile.model, &out);
    return out;
}

static void check(const char *name)
{
    Arena *arena = arena_create(NULL);
    const char *path = arena_format(arena, FOLDER "%s.txt", name);
    const Text text = print(name, arena);
    if (getenv("KOINE_BLESS")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(text.at, 1, text.n, file);
        fclose(file);
    }
    assert_string_equal(text.at, read_file(path, arena));
    arena_destroy(arena);
}

static void all_stages(void **unused)
{
    (void)unused;
    check("everything");
    check("procedure");
    check("calls");
    check("event_calls");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_stages) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
