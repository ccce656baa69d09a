/* The cc tier and its cache: hits, keys, damage, hostile folders, several processes, bounds, compilers that fail. */
#include "emit/c/cache.h"
#include "fixture.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* A home of its own for every test, and a compiler that counts how often it is called. */
typedef struct {
    Arena *arena;
    char *home, *cache, *calls;
} World;

static int set_up(void **at)
{
    Arena *arena = arena_create(NULL);
    World *world = NEW(arena, World);
    world->arena = arena;
    world->home = arena_text(arena, "/tmp/koine-test-XXXXXX", 22);
    if (!mkdtemp(world->home))
        return -1;
    world->cache = arena_format(arena, "%s/cache/koine", world->home);
    world->calls = arena_format(arena, "%s/calls", world->home);
    const char *script = arena_format(arena, "%s/counting-cc", world->home);
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\necho call >> %s\nexec cc \"$@\"\n", world->calls);
    fclose(file);
    chmod(script, 0700);
    setenv("XDG_CACHE_HOME", arena_format(arena, "%s/cache", world->home), 1);
    setenv("TMPDIR", world->home, 1);
    setenv("CC", script, 1);
    *at = world;
    return 0;
}

static int tear_down(void **at)
{
    World *world = *at;
    const int result = system(arena_format(world->arena, "rm -rf %s", world->home));
    arena_destroy(world->arena);
    return result;
}

static uint32_t calls(const World *world)
{
    uint32_t n = 0;
    FILE *file = fopen(world->calls, "r");
    for (int c = file ? fgetc(file) : EOF; c != EOF; c = fgetc(file))
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

static uint32_t files_in(const char *path, const char *suffix)
{
    uint32_t n = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *d = folder ? readdir(folder) : NULL; d; d = readdir(folder)) {
        const size_t length = strlen(d->d_name), k = strlen(suffix);
        n += d->d_name[0] != '.' && length >= k && strcmp(d->d_name + length - k, suffix) == 0;
    }
    if (folder)
        closedir(folder);
    return n;
}

static char *only_object(const World *world)
{
    DIR *folder = opendir(world->cache);
    char *found = NULL;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder))
        if (strstr(d->d_name, ".so")) {
            assert_null(found);
            found = arena_format(world->arena, "%s/%s", world->cache, d->d_name);
        }
    closedir(folder);
    assert_non_null(found);
    return found;
}

/* y = x + add, compiled and run. NULL: as wished; else why not. */
static const char *try_model(Arena *arena, double add)
{
    const char *why = NULL;
    Fixture *f = fixture_create(2);
    begin_section(f, "outputs");
    add_equation(f, 1, op2(f, OP_ADD, leaf(f, 0), real(f, add)), 1, (uint32_t[]){ 0 }, "Add.mdl:1");
    const Code *code = fixture_code(f, "Add");
    Executable *executable = cc_load(code, &why, arena);
    if (executable) {
        KoineSlot m[2] = { { .r = 1.0 }, { .r = 0.0 } };
        run_section(executable_code(executable), 0, m, code->rows);
        assert_true(m[1].r == 1.0 + add);
        executable_destroy(executable);
        why = NULL;
    } else
        assert_non_null(why);
    fixture_destroy(f);
    return why;
}

static void second_load_is_a_hit(void **at)
{
    World *world = *at;
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 1);
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 1);
    assert_int_equal(files_in(world->cache, ".so"), 1);
    assert_int_equal(files_in(world->cache, ""), 2); /* object and text, nothing left over */
    struct stat s;
    assert_int_equal(stat(world->cache, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
}

static void key_follows_text_and_compiler(void **at)
{
    World *world = *at;
    assert_null(try_model(world->arena, 2.0));
    assert_null(try_model(world->arena, 3.0));
    assert_int_equal(calls(world), 2);
    setenv("CC", arena_format(world->arena, "  %s/counting-cc \t -DTHIS ", world->home), 1);
    assert_null(try_model(world->arena, 3.0));
    assert_int_equal(calls(world), 3);
    assert_null(try_model(world->arena, 3.0));
    assert_int_equal(calls(world), 3);
    assert_int_equal(files_in(world->cache, ".so"), 3);
}

static void damage_is_found(void **at)
{
    World *world = *at;
    assert_null(try_model(world->arena, 2.0));
    const char *object = only_object(world);
    struct stat s;
    assert_int_equal(stat(object, &s), 0);
    assert_int_equal(truncate(object, s.st_size / 2), 0); /* cut off */
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 2);
    const int fd = open(object, O_WRONLY);
    assert_int_equal(pwrite(fd, "damage", 6, 5000), 6); /* same size, other bytes */
    close(fd);
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 3);
    assert_int_equal(truncate(object, 0), 0);
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 4);
    /* whole and sealed, but of another model */
    assert_int_equal(system(arena_format(world->arena, "echo 'int x;' > %s/x.c && cc -shared -fPIC -o %s %s/x.c",
                                         world->home, object, world->home)),
                     0);
    assert_true(cache_seal(object));
    assert_true(cache_is_sound(object));
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 5);
    assert_true(cache_is_sound(object));
}

static void hostile_folders_are_not_used(void **at)
{
    World *world = *at;
    const char *why = NULL;
    assert_non_null(cache_path(world->arena, &why));
    assert_int_equal(chmod(world->cache, 0770), 0);
    assert_null(cache_path(world->arena, &why));
    assert_non_null(strstr(why, "written by others"));
    assert_null(try_model(world->arena, 2.0)); /* works, without the cache */
    assert_int_equal(files_in(world->cache, ""), 0);
    assert_int_equal(rmdir(world->cache), 0);
    assert_int_equal(symlink(world->home, world->cache), 0);
    assert_null(cache_path(world->arena, &why));
    assert_null(try_model(world->arena, 2.0));
    if (geteuid() == 0) {
        assert_int_equal(unlink(world->cache), 0);
        assert_int_equal(mkdir(world->cache, 0700), 0);
        assert_int_equal(chown(world->cache, 12345, 12345), 0);
        assert_null(cache_path(world->arena, &why));
        assert_non_null(strstr(why, "somebody else"));
        assert_null(try_model(world->arena, 2.0));
    }
    assert_int_equal(files_in(world->home, ".so"), 0); /* temporary folders are gone */
}

static void without_home(void **at)
{
    World *world = *at;
    const char *home = getenv("HOME") ? arena_format(world->arena, "%s", getenv("HOME")) : NULL;
    const char *why = NULL;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(cache_path(world->arena, &why));
    assert_null(try_model(world->arena, 2.0));
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(calls(world), 2);
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1); /* nothing can be made there */
    assert_null(try_model(world->arena, 2.0));
    setenv("TMPDIR", "/proc/nowhere", 1);
    why = try_model(world->arena, 2.0);
    assert_non_null(why);
    assert_non_null(strstr(why, "/proc/nowhere"));
    if (home)
        setenv("HOME", home, 1);
}

static void failing_compilers(void **at)
{
    World *world = *at;
    setenv("CC", "/nowhere/cc", 1);
    const char *why = try_model(world->arena, 2.0);
    assert_non_null(why);
    assert_non_null(strstr(why, "no C compiler"));
    setenv("CC", "koine-no-such-compiler", 1);
    assert_non_null(strstr(try_model(world->arena, 2.0), "koine-no-such-compiler"));
    const char *script = arena_format(world->arena, "%s/bad-cc", world->home);
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\necho warming up >&2\necho 'model.c:1: error: I do not like it' >&2\nexit 1\n");
    fclose(file);
    chmod(script, 0700);
    setenv("CC", script, 1);
    why = try_model(world->arena, 2.0);
    assert_non_null(strstr(why, "I do not like it"));
    assert_null(strchr(why, '\n'));
    file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\nkill -9 $$\n");
    fclose(file);
    assert_non_null(strstr(try_model(world->arena, 2.0), "signal 9"));
    assert_int_equal(files_in(world->cache, ""), 0);
}

static void full_cache_falls_back(void **at)
{
    World *world = *at; /* a compiler that finds no space in the cache, but does elsewhere */
    const char *script = arena_format(world->arena, "%s/full-cc", world->home);
    FILE *file = fopen(script, "w");
    fprintf(file,
            "#!/bin/sh\ncase \"$*\" in */cache/koine/*) echo 'error: No space left on device' >&2; exit 1;; esac\n"
            "exec cc \"$@\"\n");
    fclose(file);
    chmod(script, 0700);
    setenv("CC", script, 1);
    assert_null(try_model(world->arena, 2.0));
    assert_int_equal(files_in(world->cache, ""), 0);
}

static volatile int interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void a_compiler_at_work_can_be_interrupted(void **at)
{
    World *world = *at;
    const char *script = arena_format(world->arena, "%s/slow-cc", world->home), *why = NULL;
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\ntrap '' TERM\nsleep 27 &\nwait\n");
    fclose(file);
    chmod(script, 0700);
    setenv("CC", script, 1);
    Fixture *f = fixture_create(2);
    begin_section(f, "outputs");
    add_equation(f, 1, op2(f, OP_ADD, leaf(f, 0), real(f, 3.0)), 1, (uint32_t[]){ 0 }, "Add.mdl:1");
    signal(SIGALRM, interrupt);
    const time_t begun = time(NULL);
    alarm(1);
    assert_null(cc_load_until(fixture_code(f, "Add"), &interrupted, &why, world->arena));
    assert_string_equal(why, "interrupted");
    assert_true(time(NULL) - begun < 20);
    assert_int_equal(files_in(world->cache, ""), 0);
    fixture_destroy(f);
}

static void many_processes(void **at)
{
    World *world = *at;
    enum { N = 4 };
    pid_t pids[N];
    for (int k = 0; k < N; k++) {
        pids[k] = fork();
        if (pids[k] == 0)
            _exit(try_model(world->arena, 2.0) ? 1 : 0);
    }
    for (int k = 0; k < N; k++) {
        int status = -1;
        assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(files_in(world->cache, ".so"), 1);
    assert_int_equal(files_in(world->cache, ""), 2);
    assert_true(cache_is_sound(only_object(world)));
}

static void add_entry(const World *world, const char *key, size_t size, time_t used)
{
    const char *path = arena_format(world->arena, "%s/%s.so", world->cache, key);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t k = 0; k < size; k++)
        fputc('x', file);
    fclose(file);
    const struct timespec times[2] = { { used, 0 }, { used, 0 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void bound_is_kept(void **at)
{
    World *world = *at;
    const char *why;
    assert_non_null(cache_path(world->arena, &why));
    add_entry(world, "aa", 1000, 1000003);
    add_entry(world, "bb", 1000, 1000001);
    add_entry(world, "cc", 1000, 1000002);
    add_entry(world, "dd", 1000, 1000000);
    assert_int_equal(mkdir(arena_format(world->arena, "%s/koine-abcdef", world->cache), 0700), 0);
    CacheSummary summary;
    assert_true(cache_summary(&summary, world->arena, &why));
    assert_int_equal(summary.n_entries, 4);
    assert_int_equal(summary.bytes, 4000);
    assert_string_equal(summary.path, world->cache);
    cache_trim(world->cache, 2500, "dd", world->arena); /* the oldest is in use */
    assert_true(cache_summary(&summary, world->arena, &why));
    assert_int_equal(summary.n_entries, 2);
    assert_int_equal(access(arena_format(world->arena, "%s/aa.so", world->cache), F_OK), 0);
    assert_int_equal(access(arena_format(world->arena, "%s/dd.so", world->cache), F_OK), 0);
    /* a folder of a build under way stays, one that was left behind goes */
    assert_int_equal(access(arena_format(world->arena, "%s/koine-abcdef", world->cache), F_OK), 0);
    const struct timespec old[2] = { { 1000000, 0 }, { 1000000, 0 } };
    utimensat(AT_FDCWD, arena_format(world->arena, "%s/koine-abcdef", world->cache), old, 0);
    assert_true(cache_clear(world->arena, &why));
    assert_int_equal(files_in(world->cache, ""), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(second_load_is_a_hit),
                                        TEST(key_follows_text_and_compiler),
                                        TEST(damage_is_found),
                                        TEST(hostile_folders_are_not_used),
                                        TEST(without_home),
                                        TEST(failing_compilers),
                                        TEST(full_cache_falls_back),
                                        TEST(many_processes),
                                        TEST(a_compiler_at_work_can_be_interrupted),
                                        TEST(bound_is_kept) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
