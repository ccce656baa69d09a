/* Each wall is put up in a process of its own, which tells by its exit status what it could not do. */
#define _GNU_SOURCE
#include "base/walls.h"
#include "assertions.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    char inside[80], outside[80]; /* folders, each with a file `old` */
} Folders;

static void in_folder(const char *folder, const char *name, char *path)
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static int set_up(void **state)
{
    Folders *const f = calloc(1, sizeof *f);
    char *const folders[] = { f->inside, f->outside };
    for (int k = 0; k < 2; k++) {
        char path[128];
        snprintf(folders[k], sizeof f->inside, "/tmp/koine-test-walls.XXXXXX");
        assert_non_null(mkdtemp(folders[k]));
        in_folder(folders[k], "old", path);
        const int file = open(path, O_WRONLY | O_CREAT, 0600);
        assert_true(file >= 0 && write(file, "old\n", 4) == 4);
        close(file);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Folders *const f = *state;
    const char *const folders[] = { f->inside, f->outside };
    for (int k = 0; k < 2; k++) {
        char path[128];
        static const char *const names[] = { "old", "new" };
        for (int j = 0; j < 2; j++) {
            in_folder(folders[k], names[j], path);
            unlink(path);
        }
        rmdir(folders[k]);
    }
    free(f);
    return 0;
}

/* 0: it can be opened; else errno. */
static int try_open(const char *folder, const char *name, int flags)
{
    char path[128];
    in_folder(folder, name, path);
    const int file = open(path, flags, 0600);
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

static int try_list(const char *path)
{
    DIR *const folder = opendir(path);
    if (!folder)
        return errno;
    closedir(folder);
    return 0;
}

static int try_start(const char *program)
{
    execl(program, program, (char *)NULL);
    return errno;
}

static bool can_wall_cuts(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 3;
}

/* The exit status of the other process: the number of the first thing that is not as it should be. */
static int in_child(int (*first_wrong)(const Folders *f), const Folders *f)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(first_wrong(f));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int behind_all(const Folders *f)
{
    char path[128];
    const int rules = walls_begin(WALL_WRITE | WALL_READ | WALL_START);
    walls_let(rules, f->inside, WALL_READ);
    walls_let(rules, "/nonexistent", WALL_READ);
    if (!walls_stand(rules))
        return 1;
    in_folder(f->outside, "old", path);
    return try_open(f->outside, "old", O_RDONLY) != EACCES             ? 2
           : try_open(f->outside, "old", O_WRONLY) != EACCES           ? 3
           : try_open(f->outside, "new", O_WRONLY | O_CREAT) != EACCES ? 4
           : try_list(f->outside) != EACCES                            ? 5
           : unlink(path) == 0 || errno != EACCES                      ? 6
           : can_wall_cuts() && truncate(path, 0) == 0                 ? 7
           : try_open(f->inside, "old", O_RDONLY) != 0                 ? 8
           : try_open(f->inside, "old", O_WRONLY) != EACCES            ? 9
           : try_open(f->inside, "new", O_WRONLY | O_CREAT) != EACCES  ? 10
           : try_list(f->inside) != 0                                  ? 11
           : try_start("/bin/true") != EACCES                          ? 12
                                                                       : 0;
}

static int behind_writes(const Folders *f)
{
    const int rules = walls_begin(WALL_WRITE);
    walls_let(rules, f->inside, WALL_WRITE);
    walls_let(rules, "/dev/null", WALL_WRITE);
    return !walls_stand(rules)                                           ? 1
           : try_open(f->outside, "old", O_RDONLY) != 0                  ? 2
           : try_open(f->outside, "old", O_WRONLY) != EACCES             ? 3
           : try_open(f->inside, "old", O_WRONLY | O_TRUNC) != 0         ? 4
           : try_open(f->inside, "new", O_WRONLY | O_CREAT) != 0         ? 5
           : try_open("/dev", "null", O_WRONLY | O_CREAT | O_TRUNC) != 0 ? 6
                                                                         : 0;
}

static int behind_files(const Folders *f)
{
    char path[128];
    const int rules = walls_begin(WALL_READ);
    in_folder(f->inside, "old", path);
    walls_let(rules, path, WALL_READ); /* one file */
    walls_let(rules, f->outside, WALL_LIST);
    return !walls_stand(rules)                               ? 1
           : try_open(f->inside, "old", O_RDONLY) != 0       ? 2
           : try_list(f->inside) != EACCES                   ? 3
           : try_list(f->outside) != 0                       ? 4
           : try_open(f->outside, "old", O_RDONLY) != EACCES ? 5
                                                             : 0;
}

static int without_network(const Folders *f)
{
    (void)f;
    return !walls_without_network()                                  ? 1
           : socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES ? 2
           : socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EACCES ? 3
                                                                     : 0;
}

static void what_is_not_allowed_is_refused(void **state)
{
    if (!walls_have_landlock())
        skip();
    assert_int_equal(in_child(behind_all, *state), 0);
    assert_int_equal(in_child(behind_writes, *state), 0);
    assert_int_equal(in_child(behind_files, *state), 0);
}

static void no_socket_can_be_made(void **state)
{
    if (!walls_have_seccomp())
        skip();
    assert_int_equal(in_child(without_network, *state), 0);
}

/* Where there is no Landlock the rules are -1. */
static void without_landlock_all_goes_on(void **state)
{
    const Folders *const f = *state;
    walls_let(-1, f->inside, WALL_READ);
    assert_false(walls_stand(-1));
    assert_int_equal(try_open(f->outside, "old", O_RDONLY), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_allowed_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_socket_can_be_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_landlock_all_goes_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
