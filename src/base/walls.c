/* Walls by system calls alone: Landlock for files, seccomp for sockets; see walls.h. */
#define _GNU_SOURCE
#include "base/walls.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What headers of older systems do not have: cutting files is walled since version 3 of Landlock, signals since 6. */
static const uint64_t CUT = UINT64_C(1) << 14, SIGNALS = UINT64_C(1) << 1;
enum { CUT_SINCE = 3, SIGNALS_SINCE = 6 };
typedef struct {
    uint64_t files, network, scoped;
} Handled;

static const uint64_t WRITES = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                               LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                               LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                               LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                               LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool walls_have_landlock(void)
{
    return landlock_version() >= 1;
}

bool walls_have_seccomp(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

static uint64_t rights_of(unsigned access)
{
    uint64_t rights = 0;
    if (access & WALL_WRITE)
        rights |= WRITES | (landlock_version() >= CUT_SINCE ? CUT : 0);
    if (access & WALL_READ)
        rights |= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    if (access & WALL_START)
        rights |= LANDLOCK_ACCESS_FS_EXECUTE;
    if (access & WALL_LIST)
        rights |= LANDLOCK_ACCESS_FS_READ_DIR;
    return rights;
}

int walls_begin(unsigned walled)
{
    const Handled handled = { .files = rights_of(walled), .scoped = landlock_version() >= SIGNALS_SINCE ? SIGNALS : 0 };
    return (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
}

void walls_let(int rules, const char *path, unsigned access)
{
    static const uint64_t OF_FILES =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE;
    const int place = rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    struct stat state;
    if (place < 0)
        return;
    uint64_t rights = rights_of(access);
    if (fstat(place, &state) == 0 && !S_ISDIR(state.st_mode))
        rights &= OF_FILES | CUT;
    const struct landlock_path_beneath_attr rule = { .allowed_access = rights, .parent_fd = place };
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(place);
}

bool walls_stand(int rules)
{
    if (rules < 0)
        return false;
    const bool stands =
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return stands;
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_NUMBERS    0x40000000u /* of the same calls with short addresses */
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_NUMBERS    0x80000000u
#endif

/* The leak sanitizer traces its own process in the end. */
#ifdef __SANITIZE_ADDRESS__
enum { NOBODY_TRACES = 0 };
#else
enum { NOBODY_TRACES = 1 };
#endif

bool walls_without_network(void)
{
#ifdef OWN_ARCHITECTURE
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, NOBODY_TRACES, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
#else
    return false;
#endif
}
