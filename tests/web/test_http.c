/* Requests from bytes: what is taken, and what is refused with which status. */
#include "assertions.h"
#include "web/http.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static int parse(Arena *arena, const char *text, HttpRequest *request)
{
    return http_parse_head(text, strlen(text), arena, request);
}

static void a_request_has_method_path_headers_and_fields(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    HttpRequest r;
    assert_int_equal(
        parse(arena, "GET /a/b%2e?x=1&name=T%20%C3%A4+b&empty HTTP/1.1\r\nHost: h\r\nX-Y:  z \r\n\r\n", &r), 0);
    assert_string_equal(r.method, "GET");
    assert_string_equal(r.path, "/a/b%2e"); /* not decoded: there is one way to write a path */
    assert_string_equal(http_field(&r, "x"), "1");
    assert_string_equal(http_field(&r, "name"), "T \xc3\xa4 b");
    assert_string_equal(http_field(&r, "empty"), "");
    assert_null(http_field(&r, "y"));
    assert_string_equal(http_header(&r, "x-y"), "z");
    assert_true(r.is_kept);
    arena_destroy(arena);
}

static void what_is_not_plainly_right_is_refused(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *text;
    } cases[] = {
        { 400, "\r\n\r\n" },
        { 400, "GET\r\n\r\n" },
        { 400, "GET /\r\nHost: h\r\n\r\n" },
        { 505, "GET / HTTP/2.0\r\nHost: h\r\n\r\n" },
        { 505, "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 405, "PUT / HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 405, "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 400, "GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 400, "GET / HTTP/1.1\r\n\r\n" },
        { 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" },
        { 400, "GET / HTTP/1.1\nHost: h\n\n" },
        { 400, "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n" },
        { 400, "GET / HTTP/1.1\r\nHost : h\r\n\r\n" },
        { 400, "GET / HTTP/1.1\r\nHost: h\x01\r\n\r\n" },
        { 400, "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 400, "GET /?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 400, "GET /?a=%0 HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 400, "GET /?a=%00 HTTP/1.1\r\nHost: h\r\n\r\n" },
        { 411, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" },
        { 400, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n" },
        { 400, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n" },
        { 400, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n" },
        { 413, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Arena *const arena = arena_create(NULL);
        HttpRequest r;
        const int status = parse(arena, cases[k].text, &r);
        fail_if(status != cases[k].status, "%d instead of %d for:\n%s", status, cases[k].status, cases[k].text);
        arena_destroy(arena);
    }
}

static void there_are_limits_for_fields_and_headers(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    Text text = { .arena = arena };
    text_add(&text, "GET /?a=1");
    for (int k = 0; k < HTTP_FIELDS_MOST; k++)
        text_add(&text, "&a=1");
    text_add(&text, " HTTP/1.1\r\nHost: h\r\n\r\n");
    HttpRequest r;
    assert_int_equal(http_parse_head(text.at, text.n, arena, &r), 413);
    text.n = 0;
    text_add(&text, "GET / HTTP/1.1\r\n");
    for (int k = 0; k <= HTTP_FIELDS_MOST; k++)
        text_add(&text, "A: b\r\n");
    text_add(&text, "\r\n");
    assert_int_equal(http_parse_head(text.at, text.n, arena, &r), 431);
    arena_destroy(arena);
}

/* Good requests with bytes changed, left out and put in: whatever comes of it, nothing is read that is not there (the
 * sanitizers watch), and what is taken has a method and a path. */
static void changed_requests_do_no_harm(void **state)
{
    (void)state;
    static const char good[] = "POST /0123/api/run?set=a%3D1&x=%20&y HTTP/1.1\r\nHost: 127.0.0.1:8310\r\nOrigin: "
                               "http://127.0.0.1:8310\r\nContent-Length: 12\r\nConnection: close\r\n\r\n";
    uint64_t random = 1;
    Arena *const arena = arena_create(NULL);
    const ArenaMark mark = arena_mark(arena);
    for (int k = 0; k < 20000; k++) {
        char text[sizeof good + 8];
        size_t n = sizeof good - 1;
        memcpy(text, good, n);
        for (int change = 0; change <= k % 4; change++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const size_t at = (size_t)(random >> 33) % n;
            const char c = (char)(random >> 20);
            if (change % 3 == 0)
                text[at] = c;
            else if (change % 3 == 1)
                memmove(text + at, text + at + 1, --n - at);
            else
                memmove(text + at + 1, text + at, n++ - at);
        }
        char *const exact = malloc(n); /* so that a byte too far is seen */
        memcpy(exact, text, n);
        HttpRequest r;
        if (http_parse_head(exact, n, arena, &r) == 0) {
            assert_true(r.path[0] == '/');
            assert_true(strcmp(r.method, "POST") == 0 || strcmp(r.method, "GET") == 0);
            assert_true(r.body_size <= HTTP_BODY_MOST);
        }
        free(exact);
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_method_path_headers_and_fields),
        cmocka_unit_test(what_is_not_plainly_right_is_refused),
        cmocka_unit_test(there_are_limits_for_fields_and_headers),
        cmocka_unit_test(changed_requests_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
