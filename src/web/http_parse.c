/* Requests from bytes; see http.h. Whatever is not plainly right is refused. */
#include "web/http.h"
#include <stdlib.h>

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-_!#$%&'*+.^`|~", c));
}

const char *http_header(const HttpRequest *request, const char *name)
{
    for (uint32_t k = 0; k < request->n_headers; k++)
        if (strcmp(request->headers[k].name, name) == 0)
            return request->headers[k].value;
    return NULL;
}

const char *http_field(const HttpRequest *request, const char *name)
{
    for (uint32_t k = 0; k < request->n_fields; k++)
        if (strcmp(request->fields[k].name, name) == 0)
            return request->fields[k].value;
    return NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* NULL: a bad escape, or a zero byte. */
static const char *decode(const char *text, size_t size, Arena *arena)
{
    char *to = arena_text(arena, text, size);
    size_t n = 0;
    for (size_t k = 0; k < size; k++) {
        char c = text[k] == '+' ? ' ' : text[k];
        if (c == '%') {
            const int high = k + 2 < size ? hex_digit(text[k + 1]) : -1,
                      low = k + 2 < size ? hex_digit(text[k + 2]) : -1;
            if (high < 0 || low < 0)
                return NULL;
            c = (char)(16 * high + low);
            k += 2;
        }
        if (c == 0)
            return NULL;
        to[n++] = c;
    }
    to[n] = 0;
    return to;
}

int http_parse_fields(const char *text, size_t size, HttpRequest *request)
{
    const char *end = text + size;
    while (text < end) {
        const char *stop = memchr(text, '&', (size_t)(end - text));
        if (!stop)
            stop = end;
        const char *equals = memchr(text, '=', (size_t)(stop - text));
        if (!equals)
            equals = stop;
        if (request->n_fields == HTTP_FIELDS_MOST)
            return 413;
        const char *name = decode(text, (size_t)(equals - text), request->arena);
        const char *value = equals < stop ? decode(equals + 1, (size_t)(stop - equals - 1), request->arena) : "";
        if (!name || !value)
            return 400;
        request->fields[request->n_fields++] = (HttpField){ name, value };
        text = stop + (stop < end);
    }
    return 0;
}

/* "GET /path?query HTTP/1.1" */
static int parse_request_line(const char *line, size_t size, HttpRequest *request)
{
    const char *end = line + size;
    const char *first = memchr(line, ' ', size);
    const char *second = first ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;
    if (!second || first == line)
        return 400;
    for (const char *c = line; c < end; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
            return 400;
    const size_t version = (size_t)(end - second - 1);
    if (version != 8 || strncmp(second + 1, "HTTP/1.", 7) != 0 || (second[8] != '1' && second[8] != '0'))
        return 505;
    request->is_kept = second[8] == '1';
    request->method = arena_text(request->arena, line, (size_t)(first - line));
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "POST") != 0)
        return 405;
    const char *target = first + 1;
    const char *question = memchr(target, '?', (size_t)(second - target));
    if (!question)
        question = second;
    if (*target != '/')
        return 400;
    request->path = arena_text(request->arena, target, (size_t)(question - target));
    return question < second ? http_parse_fields(question + 1, (size_t)(second - question - 1), request) : 0;
}

static int parse_header_line(const char *line, size_t size, HttpRequest *request)
{
    const char *end = line + size;
    const char *colon = line;
    while (colon < end && is_token_char(*colon))
        colon++;
    if (colon == line || colon == end || *colon != ':')
        return 400;
    if (request->n_headers == HTTP_FIELDS_MOST)
        return 431;
    char *name = arena_text(request->arena, line, (size_t)(colon - line));
    for (char *c = name; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    const char *from = colon + 1, *to = end;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    for (const char *c = from; c < to; c++)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
            return 400;
    request->headers[request->n_headers++] = (HttpField){ name, arena_text(request->arena, from, (size_t)(to - from)) };
    return 0;
}

/* How long the body is, and what may stand at most once. */
static int parse_framing(HttpRequest *request)
{
    uint32_t n_lengths = 0, n_hosts = 0;
    for (uint32_t k = 0; k < request->n_headers; k++) {
        n_lengths += strcmp(request->headers[k].name, "content-length") == 0;
        n_hosts += strcmp(request->headers[k].name, "host") == 0;
    }
    if (n_hosts != 1 || n_lengths > 1)
        return 400;
    if (http_header(request, "transfer-encoding") || http_header(request, "expect"))
        return 411;
    const char *length = http_header(request, "content-length");
    if (length) {
        if (!*length || strlen(length) > 12 || strspn(length, "0123456789") != strlen(length))
            return 400;
        request->body_size = (size_t)strtoull(length, NULL, 10);
        if (request->body_size > HTTP_BODY_MOST)
            return 413;
    }
    const char *connection = http_header(request, "connection");
    if (connection && strstr(connection, "close"))
        request->is_kept = false;
    return 0;
}

int http_parse_head(const char *text, size_t size, Arena *arena, HttpRequest *request)
{
    *request = (HttpRequest){ .arena = arena };
    const char *end = text + size;
    bool is_first = true;
    while (text < end) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        if (!feed || feed == text || feed[-1] != '\r')
            return 400;
        const size_t length = (size_t)(feed - 1 - text);
        if (length == 0)
            return is_first ? 400 : parse_framing(request);
        const int status =
            is_first ? parse_request_line(text, length, request) : parse_header_line(text, length, request);
        if (status)
            return status;
        is_first = false;
        text = feed + 1;
    }
    return 400;
}
