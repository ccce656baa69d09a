/* Any path that a model or an experiment may name for writing, between links, pipes, hidden and foreign files, with any
 * bytes as the table of what Koine wrote: refused, or opened below the current folder and nowhere else. */
#include "choices.h"
#include "formats/writing.h"
#include "formats/written.h"
#include "generate.h"
#include "place.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char FOREIGN[] = "not written by Koine";

static void check(bool is_right, const char *what, const char *path)
{
    if (!is_right) {
        fprintf(stderr, "%s: '%s'\n", what, path);
        abort();
    }
}

/* outside/canary.csv; work/ with what can lie in wait there. */
static const char *make_folders(void)
{
    static char work[128];
    if (work[0])
        return work;
    static const char *const folders[] = { "outside", "work", "work/sub", "work/.hidden", "state", "state/koine" };
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        mkdir(place_path(folders[k]), 0700);
    place_write(place_path("outside/canary.csv"), FOREIGN, sizeof FOREIGN);
    place_write(place_path("work/foreign.csv"), FOREIGN, sizeof FOREIGN);
    snprintf(work, sizeof work, "%s/work", place_folder());
    setenv("XDG_STATE_HOME", place_path("state"), 1);
    if (chdir(work) != 0 || symlink("../outside/canary.csv", "link.csv") != 0 || symlink("../outside", "away") != 0 ||
        link("../outside/canary.csv", "second.csv") != 0 || mkfifo("pipe.csv", 0600) != 0 || symlink("x.csv", "x.csv"))
        abort();
    return work;
}

static void choose_path(Choices *c, Text *path)
{
    static const char *const parts[] = { "link.csv", "away/",      "second.csv", "pipe.csv",    "x.csv",
                                         "sub/",     "../",        "/",          "./",          ".hidden/",
                                         "own.csv",  "canary.csv", "outside/",   "foreign.csv", "a.mat",
                                         "a.h5",     "a.txt",      ".csv",       "/dev/full",   "//",
                                         "work/",    "..",         "a.protocol", "~/",          "\n.csv" };
    text_add(path, "");
    if (choose(c, 8) == 0)
        text_add(path, place_path("outside/canary.csv"));
    for (uint32_t n = choose(c, 5); n > 0; n--)
        if (choose(c, 4))
            text_add(path, parts[choose(c, sizeof parts / sizeof *parts)]);
        else
            generate_name(c, path);
}

/* Any bytes stand in the table, and a fuzzer that sees comparisons finds those that name this file. */
static bool is_claimed(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_ours = file >= 0 && written_is_ours(path, file);
    if (file >= 0)
        close(file);
    return is_ours;
}

/* Where an open file lies is told by the system. */
static void check_place(int file, const char *path, const char *work, bool is_foreign_claimed)
{
    char link[64], real[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, real, sizeof real - 1);
    check(n > 0, "no place", path);
    real[n] = 0;
    check(strncmp(real, work, strlen(work)) == 0 && real[strlen(work)] == '/' && !strstr(real, "/."), "outside", path);
    struct stat state;
    check(fstat(file, &state) == 0 && S_ISREG(state.st_mode) && state.st_nlink == 1, "no plain file", path);
    check(strcmp(real + strlen(work), "/foreign.csv") != 0 || is_foreign_claimed, "a foreign file", path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the fuzzer's own paths may be relative */
    const char *const work = make_folders();
    check(here >= 0 && chdir(work) == 0, "no folder", work);
    Choices c = { data, data + size };
    Arena *const arena = arena_create(NULL);
    Text path = { .arena = arena };
    choose_path(&c, &path);
    place_write(place_path("state/koine/written-1"), c.at, (size_t)(c.end - c.at));
    const bool is_foreign_claimed = is_claimed("foreign.csv");
    const char *refusal = writing_refusal(path.at), *again = NULL;
    writing_deletion_refusal(arena_format(arena, "%s/%s", work, path.at), work);
    const int file = writing_open(path.at, WRITING_CONFINED, &again);
    check(!(refusal && file >= 0), "refused and opened", path.at);
    if (file >= 0) {
        check_place(file, path.at, work, is_foreign_claimed);
        check(write(file, "ours", 4) == 4, "cannot be written", path.at);
        written_note(path.at, written_head("ours", 4), 4);
        check(written_is_ours(path.at, file), "not known any more", path.at);
        check(pwrite(file, "O", 1, 0) == 1 && !written_is_ours(path.at, file), "changed and yet ours", path.at);
        close(file);
        unlink(path.at);
        if (is_foreign_claimed)
            place_write(place_path("work/foreign.csv"), FOREIGN, sizeof FOREIGN);
    }
    struct stat state;
    check(stat(place_path("outside/canary.csv"), &state) == 0 && state.st_size == sizeof FOREIGN, "the canary",
          path.at);
    check(fchdir(here) == 0 && close(here) == 0, "no way back", work);
    arena_destroy(arena);
    return 0;
}
