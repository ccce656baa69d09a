/* Makes one call of the C library fail, for tools/check-faults; loaded by LD_PRELOAD.
 *
 * KOINE_FAULT="write 3 28": the third call of write fails with error 28. Only calls of the program and of libraries
 * other than the C library itself are seen. When it happened, the file named by KOINE_FAULT_SEEN is made. Programs that
 * are started get neither. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    char call[32];
    char seen[4096];
    long number;
    int error;
    bool is_ready;
} fault;
static atomic_long counted;

static void forget(const char *name)
{
    extern char **environ;
    const size_t n = strlen(name);
    char **to = environ;
    for (char **at = environ; at && *at; at++)
        if (strncmp(*at, name, n) != 0 || (*at)[n] != '=')
            *to++ = *at;
    if (to)
        *to = NULL;
}

__attribute__((constructor)) static void read_fault(void)
{
    const char *const text = getenv("KOINE_FAULT"), *const seen = getenv("KOINE_FAULT_SEEN");
    if (text && sscanf(text, "%31s %ld %d", fault.call, &fault.number, &fault.error) == 3) {
        if (seen && strlen(seen) < sizeof fault.seen)
            strcpy(fault.seen, seen);
        fault.is_ready = true;
    }
    forget("LD_PRELOAD");
    forget("KOINE_FAULT");
    forget("KOINE_FAULT_SEEN");
}

/* Whether this call is the one. */
static bool is_due(const char *call)
{
    if (!fault.is_ready || strcmp(call, fault.call) != 0 || atomic_fetch_add(&counted, 1) + 1 != fault.number)
        return false;
    const long file = syscall(SYS_openat, AT_FDCWD, fault.seen, O_WRONLY | O_CREAT, 0600);
    if (file >= 0)
        syscall(SYS_close, file);
    errno = fault.error;
    return true;
}

#define REAL(name)                                                                                                     \
    static __typeof__(&name) real;                                                                                     \
    if (!real)                                                                                                         \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t n)
{
    REAL(write);
    return is_due("write") ? -1 : real(file, bytes, n);
}

ssize_t pwrite(int file, const void *bytes, size_t n, off_t at)
{
    REAL(pwrite);
    return is_due("pwrite") ? -1 : real(file, bytes, n, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t n, off64_t at)
{
    REAL(pwrite64);
    return is_due("pwrite") ? -1 : real(file, bytes, n, at);
}

int fsync(int file)
{
    REAL(fsync);
    return is_due("fsync") ? -1 : real(file);
}

int fdatasync(int file)
{
    REAL(fdatasync);
    return is_due("fsync") ? -1 : real(file);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return is_due("rename") ? -1 : real(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    REAL(renameat);
    return is_due("rename") ? -1 : real(a, from, b, to);
}

int ftruncate(int file, off_t size)
{
    REAL(ftruncate);
    return is_due("ftruncate") ? -1 : real(file, size);
}

int ftruncate64(int file, off64_t size)
{
    REAL(ftruncate64);
    return is_due("ftruncate") ? -1 : real(file, size);
}

pid_t fork(void)
{
    REAL(fork);
    return is_due("fork") ? -1 : real();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    REAL(pthread_create);
    return is_due("thread") ? fault.error : real(thread, attributes, run, context);
}

#define OPEN(name, ...)                                                                                                \
    REAL(name);                                                                                                        \
    mode_t mode = 0;                                                                                                   \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                                               \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }                                                                                                                  \
    return is_due("open") ? -1 : real(__VA_ARGS__, flags, mode)

int open(const char *path, int flags, ...)
{
    OPEN(open, path);
}

int open64(const char *path, int flags, ...)
{
    OPEN(open64, path);
}

int openat(int folder, const char *path, int flags, ...)
{
    OPEN(openat, folder, path);
}

int openat64(int folder, const char *path, int flags, ...)
{
    OPEN(openat64, folder, path);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen);
    return is_due("open") ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    REAL(fopen64);
    return is_due("open") ? NULL : real(path, mode);
}

/* What is written to a stream reaches the disk here at the latest. */
int fclose(FILE *stream)
{
    REAL(fclose);
    const bool is_lost = is_due("fclose");
    const int status = real(stream);
    if (is_lost)
        errno = fault.error;
    return is_lost ? EOF : status;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t at)
{
    REAL(mmap);
    return is_due("mmap") ? MAP_FAILED : real(address, size, protection, flags, file, at);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t at)
{
    REAL(mmap64);
    return is_due("mmap") ? MAP_FAILED : real(address, size, protection, flags, file, at);
}

/* The C library's own names: dlsym needs memory itself. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return is_due("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return is_due("malloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return is_due("malloc") ? NULL : __libc_realloc(old, size);
}
