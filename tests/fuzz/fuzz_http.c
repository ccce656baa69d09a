/* Any bytes as a request to the viewer: refused or taken apart, and what was taken passes the guard only with its
 * token. The body is read as a form where it is one; the texts of JSON objects are read as reports read them. */
#include "web/guard.h"
#include "web/http.h"
#include "web/json_rows.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char TOKEN[] = "0123456789abcdef0123456789abcdef";

/* The end of the head, as the server looks for it; 0: there is none. */
static size_t head_size(const char *text, size_t size)
{
    for (size_t k = 4; k <= size; k++)
        if (memcmp(text + k - 4, "\r\n\r\n", 4) == 0)
            return k;
    return 0;
}

static void check(bool is_right)
{
    if (!is_right)
        __builtin_trap();
}

static void use(const HttpRequest *request)
{
    Guard guard = { .port = 8310 };
    memcpy(guard.token, TOKEN, sizeof TOKEN);
    check(request->path[0] == '/' && !strpbrk(request->path, " ?\r\n"));
    check(strcmp(request->method, "GET") == 0 || strcmp(request->method, "POST") == 0);
    check(request->body_size <= HTTP_BODY_MOST && request->n_fields <= HTTP_FIELDS_MOST);
    for (uint32_t k = 0; k < request->n_headers; k++)
        check(!strpbrk(request->headers[k].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ: \r\n") &&
              !strpbrk(request->headers[k].value, "\r\n"));
    const char *rest = NULL;
    if (guard_check(&guard, request, &rest) == 0)
        check(strncmp(request->path + 1, TOKEN, sizeof TOKEN - 1) == 0 && rest[-1] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = (const char *)data;
    const size_t head = head_size(text, size < HTTP_HEAD_MOST ? size : HTTP_HEAD_MOST);
    char *const exact = malloc(size + 1); /* so that a byte too far is seen */
    Arena *const arena = arena_create(NULL);
    if (exact && size)
        memcpy(exact, text, size);
    HttpRequest *const request = malloc(sizeof *request);
    if (exact && request && head > 0) {
        char *const alone = malloc(head);
        memcpy(alone, text, head);
        if (http_parse_head(alone, head, arena, request) == 0) {
            use(request);
            char *const body = malloc(size - head + 1);
            memcpy(body, text + head, size - head);
            http_parse_fields(body, size - head, request);
            check(request->n_fields <= HTTP_FIELDS_MOST);
            free(body);
        }
        free(alone);
    }
    if (exact) {
        exact[size] = 0;
        JsonRows rows = { 0 };
        json_rows(exact + head, arena, &rows);
        for (uint32_t k = 0; k < rows.n; k++)
            json_row(&rows, rows.at[k].key);
    }
    free(request);
    free(exact);
    arena_destroy(arena);
    return 0;
}
