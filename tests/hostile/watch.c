/* watch LOG FOLDER PROGRAM ARGUMENT...: runs a program and writes down every program that it or its children start,
 * whatever the way: the kernel asks before each (a seccomp listener). One line each in LOG: the path and the arguments,
 * separated by tabs, control characters as dots. A file of C among the arguments is copied to FOLDER/N.c, where N is
 * the number of the line: it is what a compiler gets to see. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 4096, MOST_ARGUMENTS = 64 };

/* In the child: from now on the kernel asks whoever holds the descriptor before a program is started. */
static int listen_to_starts(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* A text of another process; "" where it cannot be read. */
static void read_text(int memory, uint64_t at, char *to)
{
    const ssize_t n = pread(memory, to, TEXT - 1, (off_t)at);
    to[n > 0 ? n : 0] = 0;
}

static void add_word(FILE *log, const char *word)
{
    fputc('\t', log);
    for (; *word; word++)
        fputc(*word < ' ' || *word > '~' ? '.' : *word, log);
}

/* Relative to the folder of the process that asks. */
static void copy_source(unsigned pid, const char *path, const char *folder, unsigned number)
{
    char from[TEXT + 64], to[TEXT], bytes[TEXT];
    snprintf(from, sizeof from, "/proc/%u/cwd/%s", pid, path);
    snprintf(to, sizeof to, "%s/%u.c", folder, number);
    const int in = open(*path == '/' ? path : from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (ssize_t n; in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, (size_t)n) != n)
            break;
    close(in);
    close(out);
}

static void write_down(const struct seccomp_notif *asked, FILE *log, const char *folder, unsigned number)
{
    char path[TEXT], word[TEXT];
    const int shift = asked->data.nr == SYS_execveat;
    snprintf(path, sizeof path, "/proc/%u/mem", asked->pid);
    const int memory = open(path, O_RDONLY | O_CLOEXEC);
    read_text(memory, asked->data.args[shift], path);
    fprintf(log, "%u", number);
    add_word(log, path);
    for (uint64_t k = 0; k < MOST_ARGUMENTS; k++) {
        uint64_t at = 0;
        if (pread(memory, &at, sizeof at, (off_t)(asked->data.args[shift + 1] + 8 * k)) != sizeof at || !at)
            break;
        read_text(memory, at, word);
        add_word(log, word);
        const size_t n = strlen(word);
        if (n > 2 && strcmp(word + n - 2, ".c") == 0)
            copy_source(asked->pid, word, folder, number);
    }
    fputc('\n', log);
    fflush(log);
    close(memory);
}

static void serve(int listener, FILE *log, const char *folder)
{
    struct pollfd waiting = { .fd = listener, .events = POLLIN };
    for (unsigned number = 1; poll(&waiting, 1, -1) > 0 && !(waiting.revents & POLLHUP);) {
        struct seccomp_notif asked = { 0 };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            continue; /* who asked is gone */
        write_down(&asked, log, folder, number++);
        const struct seccomp_notif_resp answer = { .id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

int main(int argc, char **argv)
{
    int pipes[2], there = -1;
    FILE *const log = argc > 3 ? fopen(argv[1], "a") : NULL;
    if (!log || pipe(pipes) != 0) {
        fprintf(stderr, "watch LOG FOLDER PROGRAM ARGUMENT...\n");
        return 2;
    }
    const pid_t child = fork();
    if (child == 0) {
        there = listen_to_starts();
        const int error = errno;
        if (write(pipes[1], &there, sizeof there) != sizeof there)
            _exit(127);
        if (there < 0) {
            fprintf(stderr, "watch: programs that are started cannot be seen here: %s\n", strerror(error));
            _exit(126);
        }
        char go;
        if (read(pipes[0], &go, 0) == 0) /* the descriptor stays open for as long as the parent needs to fetch it */
            execvp(argv[3], argv + 3);
        _exit(127);
    }
    close(pipes[1]);
    int status = 0;
    if (read(pipes[0], &there, sizeof there) == sizeof there && there >= 0) {
        const int process = (int)syscall(SYS_pidfd_open, child, 0);
        const int listener = (int)syscall(SYS_pidfd_getfd, process, there, 0);
        if (listener >= 0)
            serve(listener, log, argv[2]);
    }
    waitpid(child, &status, 0);
    fclose(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
