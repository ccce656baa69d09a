/* The server of the viewer behind its walls, in a process of its own: what it cannot do there, that the model is read
 * and runs are started all the same, and that nothing stays when it ends or is killed. A script takes the place of
 * `koine run`: sh is started with the arguments of a run, the first of which is the file `run`. */
#define _GNU_SOURCE
#include "assertions.h"
#include "base/walls.h"
#include "client.h"
#include "web/starter.h"
#include "web/view.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { ANSWER = 1 << 16, WAIT_TRIES = 1000, WAIT_MS = 10 };

static const char TOP[] = "HIGH LEVEL COMPONENT Top\n  SUBCOMPONENTS P OF CLASS Gate\n  OUTPUT EQUIVALENCES\n"
                          "    y := P.Out;\nEND OF Top\n",
                  GATE[] = "BASIC COMPONENT Gate\nDECLARATION OF ELEMENTS\n  DEPENDENT VARIABLE Out (REAL)\n"
                           "  SENSOR VARIABLE In (REAL) := 1\nDYNAMIC BEHAVIOUR\n  Out := In + 1;\nEND OF Gate\n",
                  RUN[] = "trap 'echo ended > ../ended; exit 130' TERM\n"
                          "for k; do echo \"$k\"; done > ../new; mv ../new ../arguments\n"
                          "case \"$*\" in *stop=1*) echo said; exit 3;; esac\n"
                          "while :; do sleep 0.05; done\n";

/* What the server tries once its walls stand. */
typedef struct {
    char address[128];
    int reads_outside, reads_beside_bank, lists_outside, writes_outside, writes_project, writes_result, removes,
        makes_socket, starts; /* 0: it could; else errno */
} Told;

typedef struct {
    char root[64];
    pid_t server;
    unsigned port;
    char token[64];
    Told told;
} Scene;

static char *in_root(const Scene *s, const char *name)
{
    static char path[4][256];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", s->root, name);
    return path[k];
}

static void write_file(const Scene *s, const char *name, const char *text)
{
    FILE *const file = fopen(in_root(s, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* ---- the server ---- */
static volatile int stop;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

static int error_of(int result)
{
    if (result < 0)
        return errno;
    close(result);
    return 0;
}

static int error_of_list(const char *path)
{
    DIR *const folder = opendir(path);
    if (folder)
        closedir(folder);
    return folder ? 0 : errno;
}

static int error_of_start(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(errno);
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void try_all(Told *told)
{
    told->reads_outside = error_of(open("../elsewhere/secret", O_RDONLY));
    told->reads_beside_bank = error_of(open("../pub/secret", O_RDONLY));
    told->lists_outside = error_of_list("../elsewhere");
    told->writes_outside = error_of(open("../elsewhere/new", O_WRONLY | O_CREAT, 0600));
    told->writes_project = error_of(open("new", O_WRONLY | O_CREAT, 0600));
    told->writes_result = error_of(open("a.csv", O_WRONLY));
    told->removes = unlink("old") == 0 ? 0 : errno;
    told->makes_socket = error_of(socket(AF_UNIX, SOCK_STREAM, 0));
    told->starts = error_of_start();
}

static _Noreturn void be_server(const Scene *s, int tell)
{
    static const char *const results[] = { "a.csv" };
    const ViewOptions options = { .version = "0",
                                  .program = "/bin/sh",
                                  .target = "Top.mdl",
                                  .model = { .path = "Top.mdl" },
                                  .results = results,
                                  .n_results = 1,
                                  .is_walled = true };
    Arena *const arena = arena_create(NULL);
    const char *error;
    setenv("TMPDIR", in_root(s, "tmp"), 1);
    signal(SIGTERM, on_signal);
    if (chdir(in_root(s, "project")) != 0)
        _exit(2);
    View *const view = view_create(&options, arena, &error);
    if (!view)
        _exit(3);
    view_begin(view, in_root(s, "forwarder"));
    Told told = { 0 };
    snprintf(told.address, sizeof told.address, "%s", view_address(view));
    try_all(&told);
    if (write(tell, &told, sizeof told) != sizeof told)
        _exit(4);
    close(tell);
    view_serve(view, &stop);
    view_destroy(view);
    arena_destroy(arena);
    _exit(0);
}

static int set_up(void **state)
{
    Scene *const s = calloc(1, sizeof *s);
    static const char *const folders[] = { "project", "pub", "elsewhere", "tmp" };
    snprintf(s->root, sizeof s->root, "/tmp/koine-test-walls.XXXXXX");
    assert_non_null(mkdtemp(s->root));
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        assert_int_equal(mkdir(in_root(s, folders[k]), 0700), 0);
    write_file(s, "project/a.csv", "time,x\n0,1\n1,2\n");
    write_file(s, "project/old", "\n");
    write_file(s, "project/Top.mdl", TOP);
    write_file(s, "project/koine.bank", "import ../pub\n");
    write_file(s, "project/run", RUN);
    write_file(s, "pub/Gate.mdl", GATE);
    write_file(s, "pub/secret", "SECRET\n");
    write_file(s, "elsewhere/secret", "SECRET\n");
    write_file(s, "forwarder", "leads to the address\n");
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s->server = fork();
    if (s->server == 0)
        be_server(s, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &s->told, sizeof s->told), sizeof s->told);
    close(ends[0]);
    assert_int_equal(sscanf(s->told.address, "http://127.0.0.1:%u/%32[0-9a-f]/", &s->port, s->token), 2);
    *state = s;
    return 0;
}

static void end_server(Scene *s, int signal)
{
    int status;
    if (!s->server)
        return;
    kill(s->server, signal);
    assert_int_equal(waitpid(s->server, &status, 0), s->server);
    assert_true(signal == SIGKILL || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    s->server = 0;
}

static int tear_down(void **state)
{
    Scene *const s = *state;
    char command[128];
    end_server(s, SIGTERM);
    snprintf(command, sizeof command, "rm -r '%s'", s->root);
    assert_int_equal(system(command), 0);
    free(s);
    return 0;
}

/* ---- the page ---- */
static int ask(const Scene *s, const char *method, const char *path, const char *body, char *answer)
{
    char request[1024];
    const int n =
        snprintf(request, sizeof request,
                 "%s /%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                 method, s->token, path, s->port, strlen(body), body);
    return client_ask((uint16_t)s->port, request, (size_t)n, answer, ANSWER);
}

static void await_file(const Scene *s, const char *name, bool is_there)
{
    for (int k = 0; k < WAIT_TRIES && (access(in_root(s, name), F_OK) == 0) != is_there; k++)
        poll(NULL, 0, WAIT_MS);
    assert_int_equal(access(in_root(s, name), F_OK) == 0, is_there);
}

static void await_state(const Scene *s, const char *text)
{
    char answer[ANSWER] = "";
    for (int k = 0; k < WAIT_TRIES && !strstr(answer, text); k++) {
        ask(s, "GET", "api/state", "", answer);
        poll(NULL, 0, WAIT_MS);
    }
    fail_if(!strstr(answer, text), "no %s in %s", text, answer);
}

static void has_line(const Scene *s, const char *name, const char *line, bool is_there)
{
    char text[4096];
    FILE *const file = fopen(in_root(s, name), "r");
    assert_non_null(file);
    bool is_found = false;
    while (fgets(text, sizeof text, file))
        is_found |= strncmp(text, line, strlen(line)) == 0;
    fclose(file);
    fail_if(is_found != is_there, "%s: %s", name, line);
}

static uint32_t files_in(const Scene *s, const char *name)
{
    uint32_t n = 0;
    DIR *const folder = opendir(in_root(s, name));
    assert_non_null(folder);
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder))
        n += d->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* ---- tests ---- */
static void the_server_reads_what_it_was_given_and_writes_nothing(void **state)
{
    Scene *const s = *state;
    char answer[ANSWER];
    assert_int_equal(ask(s, "GET", "api/export.csv?run=0&vars=1", "", answer), 200); /* its own result */
    assert_non_null(strstr(answer, "1,2\n"));
    await_state(s, "\"model\": { \"state\": \"good\""); /* Gate was found in the bank that is imported */
    if (!walls_have_landlock())
        skip();
    const Told *const told = &s->told;
    assert_int_equal(told->reads_outside, EACCES);
    assert_int_equal(told->reads_beside_bank, EACCES); /* only classes of another bank */
    assert_int_equal(told->lists_outside, EACCES);
    assert_int_equal(told->writes_outside, EACCES);
    assert_int_equal(told->writes_project, EACCES);
    assert_int_equal(told->writes_result, EACCES);
    assert_int_equal(told->removes, EACCES);
    assert_int_equal(told->starts, EACCES);
    if (walls_have_seccomp())
        assert_int_equal(told->makes_socket, EACCES);
}

static void a_run_is_started_and_stopped_from_within(void **state)
{
    Scene *const s = *state;
    char answer[ANSWER];
    assert_int_equal(ask(s, "POST", "api/run", "stop=1&set=a%3D%2E%2E", answer), 200);
    await_state(s, "\"state\": \"failed\""); /* its exit status is heard */
    await_state(s, "said");                  /* and its words are read */
    has_line(s, "arguments", "Top.mdl\n", true);
    has_line(s, "arguments", "--output=Top-1.h5\n", true);
    has_line(s, "arguments", "--set=a=..\n", true);
    assert_int_equal(unlink(in_root(s, "arguments")), 0);
    assert_int_equal(ask(s, "POST", "api/run", "profile=1", answer), 200);
    await_file(s, "arguments", true);
    has_line(s, "arguments", "--hot=", true);
    assert_int_equal(ask(s, "POST", "api/run", "", answer), 409);
    assert_int_equal(ask(s, "POST", "api/stop", "run=2", answer), 200);
    await_state(s, "\"state\": \"stopped\"");
    assert_int_equal(access(in_root(s, "ended"), F_OK), 0);
    assert_int_equal(files_in(s, "tmp"), 1);
    end_server(s, SIGTERM);
    assert_int_equal(files_in(s, "tmp"), 0);
    assert_int_equal(access(in_root(s, "forwarder"), F_OK), -1);
}

static void a_run_ends_with_a_server_that_is_killed(void **state)
{
    Scene *const s = *state;
    char answer[ANSWER];
    assert_int_equal(ask(s, "POST", "api/run", "", answer), 200);
    await_file(s, "arguments", true);
    end_server(s, SIGKILL);
    await_file(s, "ended", true);
    await_file(s, "forwarder", false);
    assert_int_equal(files_in(s, "tmp"), 0);
}

/* As a server would ask that somebody else has taken over. */
static void the_starter_takes_settings_only(void **state)
{
    Scene *const s = *state;
    static const char *const bad[] = { "output=/tmp/x",       "live=../x",   "hot=x", "protocol=x", "write-anywhere",
                                       "write-anywhere=1",    "observers=x", "set",   "-set=1",     "",
                                       "stop=1 --output=x=2", "tier=cc",     "se=1",  "sets=1" };
    Arena *const arena = arena_create(NULL);
    assert_int_equal(mkdir(in_root(s, "own"), 0700), 0);
    assert_int_equal(chdir(in_root(s, "project")), 0);
    Starter *const starter = starter_create(
        &(StarterOptions){ .program = "/bin/sh", .target = "Top.mdl", .folder = in_root(s, "own") }, arena);
    assert_non_null(starter);
    StartedRun run;
    const char *error;
    int n_refused = 0;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const bool is_one = strncmp(bad[k], "stop=1 ", 7) == 0; /* one argument, which `run` finds wrong */
        const char *const settings[] = { "set=a=1", bad[k] };
        const bool is_started = starter_start(starter, &(StartRequest){ settings, 2, false }, &run, arena, &error);
        fail_if(is_started != is_one, "%s", bad[k]);
        n_refused += !is_started;
        if (!is_started)
            assert_non_null(strstr(error, "not permitted"));
        int status = 0;
        for (int j = 0; is_started && j < WAIT_TRIES && !starter_has_ended(starter, run.number, &status); j++)
            poll(NULL, 0, WAIT_MS);
        if (is_started)
            has_line(s, "arguments", "--stop=1 --output=x=2\n", true);
    }
    assert_int_equal(n_refused, sizeof bad / sizeof *bad - 1);
    starter_end(starter);
    assert_int_equal(access(in_root(s, "own"), F_OK), -1);
    arena_destroy(arena);
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_server_reads_what_it_was_given_and_writes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_is_started_and_stopped_from_within, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_ends_with_a_server_that_is_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_starter_takes_settings_only, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
