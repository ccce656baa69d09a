/* Making the token, and checking Host, Origin and path of a request; see guard.h. */
#include "web/guard.h"
#include <sys/random.h>

bool guard_create(Guard *guard)
{
    unsigned char bytes[GUARD_TOKEN_SIZE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (uint32_t k = 0; k < sizeof bytes; k++)
        snprintf(guard->token + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

static bool is_own_host(const Guard *guard, const char *host)
{
    char own[64];
    snprintf(own, sizeof own, "127.0.0.1:%u", guard->port);
    if (strcmp(host, own) == 0)
        return true;
    snprintf(own, sizeof own, "localhost:%u", guard->port);
    return strcmp(host, own) == 0;
}

static bool is_own_origin(const Guard *guard, const char *origin)
{
    return strncmp(origin, "http://", 7) == 0 && is_own_host(guard, origin + 7);
}

/* In the same time wherever the first difference is. */
static bool is_token(const Guard *guard, const char *text)
{
    unsigned difference = 0;
    for (uint32_t k = 0; k < GUARD_TOKEN_SIZE; k++) {
        if (!text[k])
            return false;
        difference |= (unsigned char)text[k] ^ (unsigned char)guard->token[k];
    }
    return difference == 0;
}

/* Somebody who knows the address goes to the page itself: the file that `koine view` hands to the browser does. */
static bool is_opening(const HttpRequest *request)
{
    const char *mode = http_header(request, "sec-fetch-mode"), *to = http_header(request, "sec-fetch-dest");
    return strcmp(request->method, "GET") == 0 && mode && strcmp(mode, "navigate") == 0 && to &&
           strcmp(to, "document") == 0 && strlen(request->path) == 2 + GUARD_TOKEN_SIZE;
}

int guard_check(const Guard *guard, const HttpRequest *request, const char **rest)
{
    const char *host = http_header(request, "host"), *origin = http_header(request, "origin"),
               *site = http_header(request, "sec-fetch-site");
    if (!host || !is_own_host(guard, host))
        return 421;
    if (origin && !is_own_origin(guard, origin))
        return 403;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !is_opening(request))
        return 403;
    if (!is_token(guard, request->path + 1) || request->path[1 + GUARD_TOKEN_SIZE] != '/')
        return 403;
    *rest = request->path + 2 + GUARD_TOKEN_SIZE;
    return 0;
}
