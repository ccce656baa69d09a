/* The files of accept/ and reject/, see tests/lang/files.h. The comment `{ profile dymola }` asks for that profile. */
#include "../files.h"
#include "lang/dymola/dymola.h"

static LoadedFile load_file(const Case *which)
{
    Arena *arena = arena_create(NULL);
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    uint32_t source;
    assert_int_equal(sources_open(sources, which->path, &source), SOURCE_OK);
    const char *text = sources_get(sources, source)->text;
    const LoadRequest request = { .pool = pool_create(arena, names_create(arena)),
                                  .sources = sources,
                                  .source = source,
                                  .profile = strstr(text, "{ profile dymola }") ? "dymola" : NULL };
    diag_set_limit(diag, 1000);
    return (LoadedFile){ arena, diag, text, dymola_language.load(&request, diag) };
}

static const LanguageFiles dymola_files = { ".dym", '{', '}', load_file };

int main(void)
{
    files = &dymola_files;
    if (add_folder("tests/lang/dymola/accept", test_accept) == 0 ||
        add_folder("tests/lang/dymola/reject", test_reject) == 0)
        return 1;
    return _cmocka_run_group_tests("dymola files", tests, n_cases, NULL, NULL);
}
