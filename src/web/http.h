/* A small HTTP server for one user on one machine: one thread, one loop, nothing that waits for a client.
 *
 * It listens on the loopback interface only. Every limit is fixed here, so that a client can make the server slow for
 * itself but not for others: the head and the body of a request, the time it may take to arrive, the number of
 * connections (a new one drives out the one that has been waiting longest without a request under way). Requests with
 * anything unusual (chunked bodies, folded lines, two lengths) are refused. Why there is no library: decision 0017. */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H

#include "base/text.h"
#include <signal.h>

enum {
    HTTP_HEAD_MOST = 16 << 10,  /* bytes of request line and header lines */
    HTTP_BODY_MOST = 256 << 10, /* bytes */
    HTTP_FIELDS_MOST = 256,     /* header lines, and fields of a query */
    HTTP_CONNECTIONS_MOST = 128,
    HTTP_STREAMS_MOST = 32, /* connections that are being answered for as long as they like */
    HTTP_ARRIVE_MS = 5000,  /* a request must be whole after that time */
    HTTP_IDLE_MS = 30000    /* between requests, and for a client that takes nothing */
};

typedef struct {
    const char *name, *value; /* header names in lower case */
} HttpField;

typedef struct {
    const char *method; /* "GET" or "POST" */
    const char *path;   /* as it was sent: nothing is decoded, so that there is one way to write it */
    HttpField headers[HTTP_FIELDS_MOST], fields[HTTP_FIELDS_MOST];
    uint32_t n_headers, n_fields; /* fields: of the query, and of the body of a POST; decoded */
    size_t body_size;             /* as announced */
    bool is_kept;                 /* the connection stays open */
    Arena *arena;
} HttpRequest;

typedef enum { HTTP_STREAM_MORE, HTTP_STREAM_WAIT, HTTP_STREAM_END } HttpStream;

typedef struct {
    int status;
    const char *type;    /* of the content */
    const char *headers; /* further lines, each ended by \r\n; NULL: none */
    const void *body;    /* must stay until the answer was sent: constant, or in the arena of the request */
    size_t size;
    /* A body in parts: adds the next one to `part`. WAIT: there is none now, ask again in a moment. NULL: `body`.
     * `context` lives in the arena of the request; `closed` is called once when the connection ends. */
    HttpStream (*stream)(void *context, Text *part);
    void (*closed)(void *context);
    void *context;
} HttpResponse;

typedef struct {
    void *context;
    void (*answer)(void *context, HttpRequest *request, HttpResponse *response);
    void (*idle)(void *context); /* about ten times a second; may be NULL */
} HttpHandler;

/* Parses the head of a request: `size` bytes that end with an empty line. 0: good; else the status to refuse it
 * with. */
int http_parse_head(const char *text, size_t size, Arena *arena, HttpRequest *request);
/* Adds the fields of "a=1&b=%20"; 0 or a status. */
int http_parse_fields(const char *text, size_t size, HttpRequest *request);
const char *http_header(const HttpRequest *request, const char *name); /* NULL: none */
const char *http_field(const HttpRequest *request, const char *name);  /* NULL: none */

typedef struct HttpServer HttpServer;
/* Listens on 127.0.0.1. `port` 0: any free one; else that one or, if `may_move`, one of the next 20. NULL: *error is an
 * errno. */
HttpServer *http_listen(uint16_t port, bool may_move, const HttpHandler *handler, Arena *arena, int *error);
uint16_t http_port(const HttpServer *server);
uint32_t http_connections(const HttpServer *server);
/* Serves until *stop is not zero (a signal interrupts the waiting). */
void http_serve(HttpServer *server, volatile const int *stop);
void http_close(HttpServer *server);

#endif
