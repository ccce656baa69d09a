/* A client for tests of the viewer: sends bytes to its port, reads what comes back. */
#ifndef TESTS_WEB_CLIENT_H
#define TESTS_WEB_CLIENT_H

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int client_connect(uint16_t port)
{
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (s >= 0 && connect(s, (const struct sockaddr *)&address, sizeof address) == 0)
        return s;
    if (s >= 0)
        close(s);
    return -1;
}

/* Reads until the other side closes or `ms` have passed without anything; terminated by 0. */
static inline size_t client_read(int s, char *to, size_t size, int ms)
{
    size_t n = 0;
    struct pollfd polled = { .fd = s, .events = POLLIN };
    while (n + 1 < size && poll(&polled, 1, ms) > 0) {
        const ssize_t got = recv(s, to + n, size - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    to[n] = 0;
    return n;
}

/* Sends a request (with "Connection: close" in it) and gives the status; the answer in `to`. 0: no answer. */
static inline int client_ask(uint16_t port, const char *bytes, size_t n, char *to, size_t size)
{
    const int s = client_connect(port);
    if (s < 0)
        return 0;
    while (n > 0) {
        const ssize_t sent = send(s, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        bytes += sent;
        n -= (size_t)sent;
    }
    client_read(s, to, size, 5000);
    close(s);
    return strncmp(to, "HTTP/1.1 ", 9) == 0 ? atoi(to + 9) : 0;
}

#endif
