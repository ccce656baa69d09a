/* koine cache: the folder of compiled models. */
#include "cli/verbs.h"
#include "driver/cache.h"
#include <stdio.h>
#include <string.h>

static int fail(const char *why)
{
    fprintf(stderr, "koine: the cache cannot be used: %s\n", why);
    return EXIT_ENVIRONMENT;
}

static int run_cache(const Command *command)
{
    const char *what = command->n_arguments ? command->arguments[0] : "show", *why = NULL;
    CompiledCache cache;
    if (strcmp(what, "show") != 0 && strcmp(what, "clear") != 0 && strcmp(what, "path") != 0) {
        fprintf(stderr, "koine: cache has no '%s': show, path or clear\n", what);
        return EXIT_USAGE;
    }
    if (!compiled_cache(&cache, command->arena, &why))
        return fail(why);
    if (strcmp(what, "path") == 0) {
        puts(cache.path);
        return EXIT_GOOD;
    }
    if (strcmp(what, "clear") == 0) {
        if (!compiled_cache_clear(command->arena, &why))
            return fail(why);
        printf("removed %u compiled models and what is known of %u banks\n", cache.entries, cache.banks);
        return EXIT_GOOD;
    }
    printf("%s\n%u compiled models, %.1f of at most %.0f MiB\n%u checked banks, %.1f MiB\n", cache.path, cache.entries,
           (double)cache.bytes / 1048576, (double)cache.limit / 1048576, cache.banks,
           (double)cache.bank_bytes / 1048576);
    return EXIT_GOOD;
}

static const Example examples[] = {
    { "koine cache", "where compiled models are kept, how many, and how much they take." },
    { "koine cache clear", "removes them all; they are compiled again when needed." },
    { 0 },
};

const Verb verb_cache = {
    .name = "cache",
    .arguments = "[show|path|clear]",
    .summary = "show or clear the cache of compiled models",
    .text =
        "The tier cc keeps what the C compiler made, by content: the same model is never compiled twice. `koine bank "
        "check` keeps what it found out about classes. The folder is "
        "$XDG_CACHE_HOME/koine or ~/.cache/koine, readable for its owner only; the least recently used entries are "
        "removed when it grows too large.",
    .most = 1,
    .examples = examples,
    .run = run_cache,
};
