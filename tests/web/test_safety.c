/* The viewer and those who should not reach it: tokens, foreign hosts and origins, paths, sizes, thousands of
 * connections. The server runs in a thread of the test. */
#include "client.h"
#include "web/http.h"
#include "web/view.h"
#include <setjmp.h>
#include <stddef.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

enum { ANSWER = 1 << 16 };

typedef struct {
    Arena *arena;
    View *view;
    uint16_t port;
    char token[64];
    volatile int stop;
    pthread_t thread;
    size_t bytes; /* of the arena, before the first request */
    char folder[64], result[128], secret[128];
} Viewer;

static void *serve(void *context)
{
    Viewer *const v = context;
    view_serve(v->view, &v->stop);
    return NULL;
}

static void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up_with(void **state, const char *target)
{
    Viewer *const v = calloc(1, sizeof *v);
    snprintf(v->folder, sizeof v->folder, "/tmp/koine-test-view.XXXXXX");
    assert_non_null(mkdtemp(v->folder));
    snprintf(v->result, sizeof v->result, "%s/a.csv", v->folder);
    snprintf(v->secret, sizeof v->secret, "%s/secret.txt", v->folder);
    write_file(v->result, "time,\"a,b\"\n0,1\n1,2\n2,4\n");
    write_file(v->secret, "SECRET\n");
    v->arena = arena_create(NULL);
    const char *const results[] = { v->result };
    const ViewOptions options = { .version = "0",
                                  .program = "/bin/false",
                                  .target = target,
                                  .model = { .path = target },
                                  .results = results,
                                  .n_results = 1 };
    const char *error = "";
    v->view = view_create(&options, v->arena, &error);
    if (!v->view)
        fail_msg("%s", error);
    view_begin(v->view, NULL);
    v->bytes = arena_bytes(v->arena);
    unsigned port;
    assert_int_equal(sscanf(view_address(v->view), "http://127.0.0.1:%u/%32[0-9a-f]/", &port, v->token), 2);
    v->port = (uint16_t)port;
    assert_int_equal(pthread_create(&v->thread, NULL, serve, v), 0);
    *state = v;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, NULL);
}

static void end_server(Viewer *v)
{
    __atomic_store_n(&v->stop, 1, __ATOMIC_RELAXED); /* the other thread reads it */
    pthread_join(v->thread, NULL);
}

static int tear_down(void **state)
{
    Viewer *const v = *state;
    end_server(v);
    view_destroy(v->view);
    arena_destroy(v->arena);
    unlink(v->result);
    unlink(v->secret);
    rmdir(v->folder);
    free(v);
    return 0;
}

/* GET of a path behind the token, with further header lines; a Host of NULL is the right one. */
static int get(const Viewer *v, const char *path, const char *host, const char *more, char *answer)
{
    char request[1024], own[64];
    snprintf(own, sizeof own, "127.0.0.1:%u", v->port);
    const int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n", path,
                           host ? host : own, more);
    return client_ask(v->port, request, (size_t)n, answer, ANSWER);
}

static const char *with_token(const Viewer *v, const char *path, char *to)
{
    snprintf(to, 512, "/%s/%s", v->token, path);
    return to;
}

static void whoever_knows_the_token_is_answered(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512];
    assert_int_equal(get(v, with_token(v, "api/state", path), NULL, "", answer), 200);
    assert_non_null(strstr(answer, "\"rows\": 3"));
    assert_non_null(strstr(answer, "Cache-Control: no-store"));
    assert_non_null(strstr(answer, "Referrer-Policy: no-referrer"));
    assert_null(strstr(answer, "Access-Control-Allow"));
    assert_int_equal(get(v, with_token(v, "api/variables?run=0", path), NULL, "", answer), 200);
    assert_non_null(strstr(answer, "\"a,b\""));
    assert_int_equal(get(v, with_token(v, "api/values?run=0&vars=1&time=1.5", path), NULL, "", answer), 200);
    assert_non_null(strstr(answer, "[3]"));
    assert_int_equal(get(v, with_token(v, "api/export.csv?run=0&vars=1", path), NULL, "", answer), 200);
    assert_non_null(strstr(answer, "time,\"a,b\"\n0,1\n1,2\n2,4\n"));
    assert_int_equal(get(v, with_token(v, "", path), NULL, "", answer), 200);
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
}

/* A file that leads to the address is another site: it may open the page, and nothing but the page. */
static void another_site_may_open_the_page_only(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512];
    static const char opens[] =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
                      frames[] = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    assert_int_equal(get(v, with_token(v, "", path), NULL, opens, answer), 200);
    assert_int_equal(get(v, with_token(v, "", path), NULL, frames, answer), 403);
    assert_int_equal(get(v, with_token(v, "api/state", path), NULL, opens, answer), 403);
    assert_int_equal(get(v, "/", NULL, opens, answer), 403);
}

static void without_the_token_nothing_is_told(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512], wrong[64];
    static const char *const paths[] = { "/",  "/api/state",  "/favicon.ico",
                                         "//", "/index.html", "/00000000000000000000000000000000/api/state" };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        assert_int_equal(get(v, paths[k], NULL, "", answer), 403);
    snprintf(wrong, sizeof wrong, "%s", v->token);
    wrong[31] = wrong[31] == '0' ? '1' : '0';
    snprintf(path, sizeof path, "/%s/api/state", wrong);
    assert_int_equal(get(v, path, NULL, "", answer), 403);
    snprintf(path, sizeof path, "/%.31s/api/state", v->token);
    assert_int_equal(get(v, path, NULL, "", answer), 403);
    snprintf(path, sizeof path, "/%sx/api/state", v->token);
    assert_int_equal(get(v, path, NULL, "", answer), 403);
    assert_null(strstr(answer, v->token));
}

static void foreign_hosts_and_origins_are_refused(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512], text[128];
    with_token(v, "api/state", path);
    static const char *const hosts[] = { "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "" };
    for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++)
        assert_int_equal(get(v, path, hosts[k], "", answer), 421);
    snprintf(text, sizeof text, "localhost:%u", v->port);
    assert_int_equal(get(v, path, text, "", answer), 200);
    snprintf(text, sizeof text, "Origin: http://127.0.0.1:%u\r\n", v->port);
    assert_int_equal(get(v, path, NULL, text, answer), 200);
    static const char *const foreign[] = { "Origin: http://evil.example\r\n", "Origin: null\r\n",
                                           "Origin: https://127.0.0.1\r\n", "Sec-Fetch-Site: cross-site\r\n",
                                           "Sec-Fetch-Site: same-site\r\n" };
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
        assert_int_equal(get(v, path, NULL, foreign[k], answer), 403);
}

/* Requests name no files at all; whatever looks like one is an address where there is nothing. */
static void no_path_leads_to_a_file(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512], own[256];
    snprintf(own, sizeof own, "..%s", v->secret);
    const char *const tricks[] = { "../../../../etc/passwd",
                                   "..%2f..%2fetc%2fpasswd",
                                   "%2e%2e/%2e%2e/etc/passwd",
                                   "page.js/../../etc/passwd",
                                   "./api/state",
                                   "api/../api/state",
                                   "/etc/passwd",
                                   "api/source?id=../../etc/passwd",
                                   "api/source?id=0",
                                   "api/export.csv/../x",
                                   own,
                                   "secret.txt",
                                   "api/state/",
                                   "api%2fstate",
                                   "index.html%00.css",
                                   "api/statistics?run=0" };
    for (size_t k = 0; k < sizeof tricks / sizeof *tricks; k++) {
        const int status = get(v, with_token(v, tricks[k], path), NULL, "", answer);
        if (status != 404 && status != 400)
            fail_msg("%d for %s", status, tricks[k]);
        assert_null(strstr(answer, "root:"));
        assert_null(strstr(answer, "SECRET"));
    }
}

static void numbers_that_are_none_are_refused(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER], path[512];
    static const char *const bad[] = { "api/data",
                                       "api/data?run=1",
                                       "api/data?run=-1&vars=1",
                                       "api/data?run=0&vars=2",
                                       "api/data?run=0&vars=1;2",
                                       "api/data?run=0&vars=99999999999999999999",
                                       "api/data?run=0&vars=-1",
                                       "api/events?run=x" };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(get(v, with_token(v, bad[k], path), NULL, "", answer), 404);
    static const char *const odd[] = { "api/data?run=0&vars=&width=0", "api/data?run=0&vars=1&from=nan&to=inf",
                                       "api/data?run=0&vars=1&from=9&to=1&width=4294967295",
                                       "api/values?run=0&vars=1&time=x", "api/export.csv?run=0&from=5&to=-5" };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        assert_int_equal(get(v, with_token(v, odd[k], path), NULL, "", answer), 200);
}

static int post(const Viewer *v, const char *path, size_t announced, const char *body, char *answer)
{
    char request[2048];
    const int n =
        snprintf(request, sizeof request,
                 "POST /%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                 v->token, path, v->port, announced, body);
    return client_ask(v->port, request, (size_t)n, answer, ANSWER);
}

/* As large as a request may be nearly; the status of its refusal. */
static int post_large(const Viewer *v, const char *field, char *answer)
{
    enum { LARGE = 250000 };
    char *const request = malloc(LARGE + 512);
    const int head = snprintf(request, 512,
                              "POST /%s/api/run HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %d\r\nConnection: "
                              "close\r\n\r\n",
                              v->token, v->port, LARGE);
    memset(request + head, 'x', LARGE);
    memcpy(request + head, field, strlen(field));
    const int status = client_ask(v->port, request, (size_t)head + LARGE, answer, ANSWER);
    free(request);
    return status;
}

/* Runs that cannot be started leave nothing in the memory of the server: each of these would be more than 1,500
 * bytes. */
static void refused_runs_cost_no_memory(void **state)
{
    enum { TIMES = 2000, LARGE_TIMES = 100, SETTING = 1500, ALLOWED = 256 << 10 };
    (void)state;
    void *own;
    char answer[ANSWER], body[SETTING + 1], *const before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", "/nonexistent/folder", 1);
    assert_int_equal(set_up_with(&own, "Nothing.mdl"), 0);
    Viewer *const v = own;
    memset(body, 'x', SETTING);
    memcpy(body, "set=", 4);
    body[SETTING] = 0;
    int n_refused = 0;
    for (int k = 0; k < TIMES; k++)
        n_refused += post(v, "api/run", SETTING, body, answer) == 503;
    assert_int_equal(n_refused, TIMES);
    for (int k = 0; k < LARGE_TIMES; k++) {
        n_refused += post_large(v, "other=", answer) == 400;
        n_refused += post_large(v, "set=", answer) == 503;
    }
    assert_int_equal(n_refused, TIMES + 2 * LARGE_TIMES);
    assert_non_null(strstr(answer, "/nonexistent/folder"));
    end_server(v);
    const size_t bytes = arena_bytes(v->arena);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    v->stop = 0; /* tear_down ends a server */
    assert_int_equal(pthread_create(&v->thread, NULL, serve, v), 0);
    const size_t begun = v->bytes;
    tear_down(&own);
    assert_in_range(bytes, 0, begun + ALLOWED);
}

static void oversized_requests_are_refused(void **state)
{
    const Viewer *const v = *state;
    char answer[ANSWER];
    assert_int_equal(post(v, "api/run", (size_t)HTTP_BODY_MOST + 1, "", answer), 413);
    assert_int_equal(post(v, "api/run", 3, "a=b", answer), 404); /* no model was opened */
    assert_int_equal(post(v, "api/state", 3, "a=b", answer), 405);
    char *const head = malloc(HTTP_HEAD_MOST + 100);
    memset(head, 'a', HTTP_HEAD_MOST + 100);
    memcpy(head, "GET /", 5);
    assert_int_equal(client_ask(v->port, head, HTTP_HEAD_MOST + 100, answer, ANSWER), 431);
    free(head);
}

/* One connection, several requests, in pieces and in one. */
static void a_connection_serves_several_requests(void **state)
{
    const Viewer *const v = *state;
    char request[1024], answer[ANSWER];
    const int n = snprintf(request, sizeof request,
                           "GET /%s/api/state HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n"
                           "GET /%s/api/nothing HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
                           v->token, v->port, v->token, v->port);
    assert_int_equal(client_ask(v->port, request, (size_t)n, answer, ANSWER), 200);
    assert_non_null(strstr(answer, "HTTP/1.1 404 "));
    const int s = client_connect(v->port);
    for (int k = 0; k < n; k += 50) {
        const size_t size = n - k < 50 ? (size_t)(n - k) : 50;
        assert_int_equal(send(s, request + k, size, MSG_NOSIGNAL), (ssize_t)size);
        poll(NULL, 0, 1);
    }
    client_read(s, answer, sizeof answer, 5000);
    close(s);
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    assert_non_null(strstr(answer, "HTTP/1.1 404 "));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Ten thousand clients that say nothing, or half of something: the page is answered as if they were not there. */
static void ten_thousand_connections_disturb_nobody(void **state)
{
    const Viewer *const v = *state;
    enum { CLIENTS = 10000 };
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    /* half of the descriptors may be the server's: it is the same process here */
    const uint64_t room = limit.rlim_cur > 600 ? limit.rlim_cur - 300 : 300;
    const int n = room < CLIENTS ? (int)room : CLIENTS;
    int *const clients = calloc((size_t)n, sizeof *clients);
    char answer[ANSWER], path[512];
    with_token(v, "api/state", path);
    double slowest = 0;
    for (int k = 0; k < n; k++) {
        clients[k] = client_connect(v->port);
        if (clients[k] >= 0 && k % 3 == 0)
            (void)!send(clients[k], "GET / HT", 8, MSG_NOSIGNAL);
        if (k % 2000 == 1999) {
            const double begun = seconds();
            assert_int_equal(get(v, path, NULL, "", answer), 200);
            slowest = seconds() - begun > slowest ? seconds() - begun : slowest;
        }
    }
    if (slowest > 2)
        fail_msg("an answer took %g s", slowest);
    for (int k = 0; k < n; k++)
        if (clients[k] >= 0)
            close(clients[k]);
    free(clients);
    assert_int_equal(get(v, path, NULL, "", answer), 200);
}

static void a_port_in_use_is_left_alone(void **state)
{
    const Viewer *const v = *state;
    Arena *const arena = arena_create(NULL);
    ViewOptions options = { .version = "0", .program = "/bin/false", .port = v->port };
    const char *error = "";
    char text[64];
    assert_null(view_create(&options, arena, &error));
    snprintf(text, sizeof text, "port %u is in use; --port takes another, --port 0 any", v->port);
    assert_string_equal(error, text);
    options.may_move = true;
    View *const other = view_create(&options, arena, &error);
    assert_non_null(other);
    view_destroy(other);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_knows_the_token_is_answered),
        cmocka_unit_test(another_site_may_open_the_page_only),
        cmocka_unit_test(without_the_token_nothing_is_told),
        cmocka_unit_test(foreign_hosts_and_origins_are_refused),
        cmocka_unit_test(no_path_leads_to_a_file),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(oversized_requests_are_refused),
        cmocka_unit_test(refused_runs_cost_no_memory),
        cmocka_unit_test(a_connection_serves_several_requests),
        cmocka_unit_test(ten_thousand_connections_disturb_nobody),
        cmocka_unit_test(a_port_in_use_is_left_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
