/* A file that forwards a browser to the viewer, and the start of the browser; see browser.h. */
#include "web/browser.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *browser_forwarder(const char *address, Arena *arena)
{
    const char *own = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    const char *folder = own && *own == '/' ? own : temporary && *temporary == '/' ? temporary : "/tmp";
    char *path = arena_format(arena, "%s/koine-view-XXXXXX.html", folder);
    const int fd = mkstemps(path, 5); /* mode 0600 */
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return NULL;
    fprintf(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">Koine</a>\n",
            address, address);
    if (fclose(file) == 0)
        return path;
    unlink(path);
    return NULL;
}

/* Twice forked, so that nobody has to wait for the browser. */
void browser_open(const char *page)
{
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            const int nothing = open("/dev/null", O_RDWR);
            setsid();
            if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(nothing, 1) >= 0 && dup2(nothing, 2) >= 0)
                execlp("xdg-open", "xdg-open", page, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

bool browser_has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}
