/* See permission.h. */
#include "outside/permission.h"
#include <string.h>

Judge judge_of(const Outside *outside)
{
    Judge judge = { .outside = outside };
    if (outside->permission.counts_trust)
        trust_read(&judge.trusted, outside->arena, &judge.not_trusted);
    return judge;
}

bool judge_knows(const Judge *judge, const char *file)
{
    const char *const *named = judge->outside->permission.files;
    for (uint32_t k = 0; named && named[k]; k++)
        if (strcmp(named[k], file) == 0 || source_is_same(named[k], file))
            return true;
    return false;
}

bool judge_trusts(const Judge *judge, const char *file)
{
    return judge->outside->permission.counts_trust && trust_folder_of(&judge->trusted, file, judge->outside->arena);
}

bool judge_trusts_source(const Judge *judge, uint32_t source)
{
    return source != SOURCE_NONE && judge_trusts(judge, sources_get(judge->outside->sources, source)->path);
}

void judge_help(const Judge *judge, const char *options)
{
    Diag *diag = judge->outside->diag;
    if (judge->not_trusted)
        diag_help(diag, "%s", judge->not_trusted);
    else
        diag_help(diag,
                  "such code can do whatever you can; if you know it, allow it:%s, or --allow-external, or "
                  "koine trust FOLDER",
                  options);
}
