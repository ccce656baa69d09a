/* The loop of the server; see http.h. */
#include "base/vec.h"
#include "web/http.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100, READ_SIZE = 16 << 10 };

typedef enum { CONNECTION_READING, CONNECTION_WRITING, CONNECTION_CLOSED } ConnectionState;

typedef struct {
    int socket;
    ConnectionState state;
    Arena *arena;     /* of the request under way */
    ArenaMark begin;  /* before its first allocation */
    Text in;          /* bytes that have arrived */
    size_t head_size; /* with the empty line; 0: not whole yet */
    Text head;        /* of the answer, then of parts */
    const char *body; /* what is left of it */
    size_t body_left, head_sent;
    HttpRequest request;
    HttpResponse response;
    bool is_streaming, is_waiting, is_last;
    int64_t since; /* milliseconds: when something last went on, or the request began */
} Connection;

struct HttpServer {
    Arena *arena;
    HttpHandler handler;
    int listener;
    uint16_t port;
    Connection *connections[HTTP_CONNECTIONS_MOST];
    uint32_t n;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- listening ---- */
static int listen_at(uint16_t port, int *error)
{
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int yes = 1;
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    *error = 0;
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1024) == 0)
        return listener;
    *error = errno;
    if (listener >= 0)
        close(listener);
    return -1;
}

HttpServer *http_listen(uint16_t port, bool may_move, const HttpHandler *handler, Arena *arena, int *error)
{
    enum { NEXT_PORTS = 20 };
    int listener = listen_at(port, error);
    for (uint32_t k = 1; listener < 0 && *error == EADDRINUSE && may_move && k <= NEXT_PORTS && port + k <= UINT16_MAX;
         k++)
        listener = listen_at((uint16_t)(port + k), error);
    if (listener < 0)
        return NULL;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        *error = errno;
        close(listener);
        return NULL;
    }
    HttpServer *server = NEW(arena, HttpServer);
    *server =
        (HttpServer){ .arena = arena, .handler = *handler, .listener = listener, .port = ntohs(address.sin_port) };
    return server;
}

uint16_t http_port(const HttpServer *server)
{
    return server->port;
}

uint32_t http_connections(const HttpServer *server)
{
    return server->n;
}

/* ---- connections ---- */
static void forget_request(Connection *c)
{
    if (c->response.closed)
        c->response.closed(c->response.context);
    c->response = (HttpResponse){ 0 };
    c->is_streaming = c->is_waiting = c->is_last = false;
}

static void drop(HttpServer *server, uint32_t k)
{
    Connection *c = server->connections[k];
    forget_request(c);
    close(c->socket);
    arena_destroy(c->arena);
    server->connections[k] = server->connections[--server->n];
}

/* Makes room: of the connections without a request under way the one that has waited longest. False: all are busy. */
static bool drive_one_out(HttpServer *server)
{
    uint32_t oldest = server->n;
    for (uint32_t k = 0; k < server->n; k++)
        if (server->connections[k]->state == CONNECTION_READING &&
            (oldest == server->n || server->connections[k]->since < server->connections[oldest]->since))
            oldest = k;
    if (oldest == server->n)
        return false;
    drop(server, oldest);
    return true;
}

static void accept_all(HttpServer *server)
{
    enum { AT_ONCE = HTTP_CONNECTIONS_MOST / 2 }; /* then those that are there have their turn */
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        const int socket = accept(server->listener, NULL, NULL);
        if (socket < 0)
            return;
        fcntl(socket, F_SETFL, O_NONBLOCK);
        fcntl(socket, F_SETFD, FD_CLOEXEC);
        if (server->n == HTTP_CONNECTIONS_MOST && !drive_one_out(server)) {
            close(socket);
            continue;
        }
        const int yes = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        Arena *arena = arena_create_like(server->arena);
        Connection *c = NEW(arena, Connection);
        *c = (Connection){ .socket = socket, .arena = arena, .since = now_ms() };
        c->begin = arena_mark(arena);
        c->in.arena = c->head.arena = arena;
        server->connections[server->n++] = c;
    }
}

static const char *status_text(int status)
{
    switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
    }
}

/* Nothing may be kept, guessed, framed or told to others. */
static const char SAFE_HEADERS[] = "Cache-Control: no-store\r\n"
                                   "X-Content-Type-Options: nosniff\r\n"
                                   "X-Frame-Options: DENY\r\n"
                                   "Referrer-Policy: no-referrer\r\n"
                                   "Cross-Origin-Resource-Policy: same-origin\r\n"
                                   "Cross-Origin-Opener-Policy: same-origin\r\n";

static uint32_t count_streams(const HttpServer *server)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < server->n; k++)
        n += server->connections[k]->is_streaming;
    return n;
}

static void refuse(HttpResponse *response, int status)
{
    *response = (HttpResponse){ .status = status, .type = "text/plain; charset=utf-8", .body = status_text(status) };
    response->size = strlen(response->body);
}

static void begin_answer(HttpServer *server, Connection *c)
{
    HttpResponse *r = &c->response;
    if (r->stream && count_streams(server) >= HTTP_STREAMS_MOST) {
        forget_request(c);
        refuse(r, 503);
    }
    c->is_streaming = r->stream != NULL;
    c->state = CONNECTION_WRITING;
    c->since = now_ms();
    c->head = (Text){ .arena = c->arena };
    c->head_sent = 0;
    text_format(&c->head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s", r->status, status_text(r->status), r->type,
                SAFE_HEADERS, r->headers ? r->headers : "");
    if (c->is_streaming)
        text_add(&c->head, "Transfer-Encoding: chunked\r\n");
    else
        text_format(&c->head, "Content-Length: %zu\r\n", r->size);
    text_format(&c->head, "Connection: %s\r\n\r\n", c->request.is_kept ? "keep-alive" : "close");
    c->body = r->body;
    c->body_left = c->is_streaming ? 0 : r->size;
}

static void refuse_request(HttpServer *server, Connection *c, int status)
{
    refuse(&c->response, status);
    c->request.is_kept = false; /* where the next one begins is not known */
    begin_answer(server, c);
}

/* The next part of a stream, as a chunk. */
static void next_part(Connection *c)
{
    if (c->is_last) {
        c->is_streaming = false;
        return;
    }
    static const char EMPTY[] =
        "00000000\r\n"; /* the size, filled in afterwards: the buffer is the same for all parts */
    enum { SIZE_LINE = sizeof EMPTY - 1 };
    c->head.n = c->head_sent = 0;
    text_bytes(&c->head, EMPTY, SIZE_LINE);
    const HttpStream more = c->response.stream(c->response.context, &c->head);
    const size_t size = c->head.n - SIZE_LINE;
    c->is_waiting = more == HTTP_STREAM_WAIT && size == 0;
    for (uint32_t k = 0; k < 8; k++)
        c->head.at[k] = "0123456789abcdef"[(size >> (28 - 4 * k)) & 15];
    if (size)
        text_add(&c->head, "\r\n");
    else
        c->head.n = 0;
    if (more == HTTP_STREAM_END) {
        text_add(&c->head, "0\r\n\r\n");
        c->is_last = true;
    }
    c->since = now_ms();
}

static size_t head_end(const Text *in, size_t from)
{
    for (size_t k = from > 3 ? from - 3 : 0; k + 3 < in->n; k++)
        if (memcmp(in->at + k, "\r\n\r\n", 4) == 0)
            return k + 4;
    return 0;
}

/* Looks whether a request is whole, and answers it. */
static void take_request(HttpServer *server, Connection *c, size_t looked)
{
    if (!c->head_size) {
        c->head_size = head_end(&c->in, looked);
        if (!c->head_size) {
            if (c->in.n > HTTP_HEAD_MOST)
                refuse_request(server, c, 431);
            return;
        }
        const int status =
            c->head_size > HTTP_HEAD_MOST ? 431 : http_parse_head(c->in.at, c->head_size, c->arena, &c->request);
        if (status) {
            refuse_request(server, c, status);
            return;
        }
    }
    if (c->in.n < c->head_size + c->request.body_size)
        return;
    if (c->request.body_size) {
        const int status = http_parse_fields(c->in.at + c->head_size, c->request.body_size, &c->request);
        if (status) {
            refuse_request(server, c, status);
            return;
        }
    }
    refuse(&c->response, 404);
    server->handler.answer(server->handler.context, &c->request, &c->response);
    begin_answer(server, c);
}

/* The answer is sent: the bytes behind the request are the begin of the next one. */
static void next_request(HttpServer *server, Connection *c)
{
    const size_t used = c->head_size + c->request.body_size;
    const bool is_kept = c->request.is_kept && c->in.n >= used;
    forget_request(c);
    if (!is_kept) {
        c->state = CONNECTION_CLOSED;
        return;
    }
    char rest[HTTP_HEAD_MOST];
    size_t n_rest = c->in.n - used;
    if (n_rest > sizeof rest) {
        c->state = CONNECTION_CLOSED;
        return;
    }
    if (n_rest)
        memcpy(rest, c->in.at + used, n_rest);
    arena_reset(c->arena, c->begin);
    c->in = c->head = (Text){ .arena = c->arena };
    c->head_size = 0;
    c->state = CONNECTION_READING;
    c->since = now_ms();
    if (n_rest) {
        text_bytes(&c->in, rest, n_rest);
        take_request(server, c, 0);
    }
}

static void read_some(HttpServer *server, Connection *c)
{
    char bytes[READ_SIZE];
    const ssize_t n = recv(c->socket, bytes, sizeof bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        c->state = CONNECTION_CLOSED;
    if (n <= 0)
        return;
    if (c->in.n == 0)
        c->since = now_ms();
    const size_t before = c->in.n;
    text_bytes(&c->in, bytes, (size_t)n);
    take_request(server, c, before);
}

/* False: the client takes no more now, or the connection is broken. */
static bool send_some(Connection *c, const char *bytes, size_t size, size_t *sent)
{
    const ssize_t n = send(c->socket, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        c->state = CONNECTION_CLOSED;
    if (n <= 0)
        return false;
    c->since = now_ms();
    *sent = (size_t)n;
    return true;
}

static void write_some(HttpServer *server, Connection *c)
{
    for (int turns = 0; turns < 16 && c->state == CONNECTION_WRITING; turns++) {
        size_t sent = 0;
        if (c->head_sent < c->head.n) {
            if (!send_some(c, c->head.at + c->head_sent, c->head.n - c->head_sent, &sent))
                return;
            c->head_sent += sent;
        } else if (c->body_left) {
            if (!send_some(c, c->body, c->body_left, &sent))
                return;
            c->body += sent;
            c->body_left -= sent;
        } else if (c->is_streaming) {
            next_part(c);
            if (c->is_waiting)
                return;
        } else {
            next_request(server, c);
        }
    }
}

/* A stream that waits notices in this way that nobody listens any more. */
static void watch_closed(Connection *c)
{
    char byte;
    const ssize_t n = recv(c->socket, &byte, 1, MSG_PEEK);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        c->state = CONNECTION_CLOSED;
}

static void tick(HttpServer *server)
{
    const int64_t now = now_ms();
    for (uint32_t k = server->n; k-- > 0;) {
        Connection *c = server->connections[k];
        if (c->state == CONNECTION_READING && c->in.n > 0 && now - c->since > HTTP_ARRIVE_MS)
            refuse_request(server, c, 408);
        else if (!c->is_waiting && now - c->since > HTTP_IDLE_MS)
            c->state = CONNECTION_CLOSED;
        if (c->is_waiting) {
            watch_closed(c);
            c->is_waiting = false;
            write_some(server, c);
        }
        if (c->state == CONNECTION_CLOSED)
            drop(server, k);
    }
    if (server->handler.idle)
        server->handler.idle(server->handler.context);
}

void http_serve(HttpServer *server, volatile const int *stop)
{
    int64_t ticked = now_ms();
    while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        struct pollfd polled[HTTP_CONNECTIONS_MOST + 1];
        const uint32_t n = server->n;
        for (uint32_t k = 0; k < n; k++) {
            const Connection *c = server->connections[k];
            polled[k] = (struct pollfd){ .fd = c->is_waiting ? -1 : c->socket,
                                         .events = c->state == CONNECTION_READING ? POLLIN : POLLOUT };
        }
        polled[n] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
        poll(polled, n + 1, TICK_MS);
        for (uint32_t k = n; k-- > 0;) { /* backwards: dropping one moves the last one to its place */
            Connection *c = server->connections[k];
            if (polled[k].revents && c->state == CONNECTION_READING)
                read_some(server, c);
            if (polled[k].revents && c->state == CONNECTION_WRITING)
                write_some(server, c);
            if (c->state == CONNECTION_CLOSED)
                drop(server, k);
        }
        if (polled[n].revents & POLLIN)
            accept_all(server);
        if (now_ms() - ticked >= TICK_MS) {
            ticked = now_ms();
            tick(server);
        }
    }
}

void http_close(HttpServer *server)
{
    while (server->n) {
        const Connection *c = server->connections[server->n - 1];
        if (c->is_streaming && c->head_sent == c->head.n) /* an end in order, where it can be had */
            (void)!send(c->socket, "0\r\n\r\n", 5, MSG_NOSIGNAL);
        drop(server, server->n - 1);
    }
    close(server->listener);
}
