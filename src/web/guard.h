/* Who may ask: requests to our own address, from our own page, by whoever knows the token.
 *
 * Host must be the address itself, so that a foreign name which resolves to this machine leads nowhere; Origin and
 * Sec-Fetch-Site, where a browser sends them, must be those of the page; the path begins with the token. */
#ifndef WEB_GUARD_H
#define WEB_GUARD_H

#include "web/http.h"

enum { GUARD_TOKEN_SIZE = 32 };

typedef struct {
    uint16_t port;
    char token[GUARD_TOKEN_SIZE + 1]; /* hexadecimal */
} Guard;

/* False: the system gives no random numbers. */
bool guard_create(Guard *guard);
/* 0: good, *rest is the path behind "/TOKEN/"; else the status to refuse the request with. */
int guard_check(const Guard *guard, const HttpRequest *request, const char **rest);

#endif
