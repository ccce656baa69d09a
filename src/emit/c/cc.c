/* The cc tier: the system's compiler makes a shared object, which the cache keeps.
 *
 * Where the cache cannot be used (no home, read-only, full, not private) the object is made in a
 * temporary folder of its own, which is gone once the object is loaded. */
#include "emit/c/cache.h"
#include "emit/c/compiler.h"
#include "emit/c/external.h"
#include "emit/c/native.h"
#include "emit/c/process.h"
#include "emit/c/sha256.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const Code *code;
    Arena *arena;
    Text text;
    Compiler compiler;
    char key[SHA256_TEXT];
    const char *why;
    volatile const int *interrupt;
} Job;

static void find_key(Job *job)
{
    Sha256 sha;
    sha256_begin(&sha);
    const char *identity = job->compiler.identity;
    sha256_add(&sha, identity, strlen(identity) + 1);
    for (uint32_t k = 1; k < job->compiler.n_words; k++)
        sha256_add(&sha, job->compiler.words[k], strlen(job->compiler.words[k]) + 1);
    for (uint32_t k = 0; compiler_flags[k]; k++)
        sha256_add(&sha, compiler_flags[k], strlen(compiler_flags[k]) + 1);
    sha256_add(&sha, job->text.at, job->text.n);
    sha256_end(&sha, job->key);
}

/* ---- loading ---- */
static void unload(Executable *executable)
{
    dlclose(executable->handle);
}

/* NULL: cannot be loaded or is not this code. */
static Executable *load_object(Job *job, const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *message = dlerror();
        job->why = arena_format(job->arena, "%s", message ? message : "cannot load the compiled model");
        return NULL;
    }
    Executable *executable = executable_create("cc");
    executable->handle = handle;
    executable->unload = unload;
    const NativeParts parts = { dlsym(handle, NATIVE_TABLE),
                                job->code->derivatives_section == KOINE_NONE ? NULL : dlsym(handle, NATIVE_DERIVATIVES),
                                dlsym(handle, NATIVE_EXTERNALS) };
    if (native_fill(executable, job->code, &parts))
        return executable;
    executable_destroy(executable);
    job->why = arena_format(job->arena, "%s is not the compiled model", file);
    return NULL;
}

/* ---- building ---- */
static bool write_text(Job *job, const char *file)
{
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        job->why = arena_format(job->arena, "cannot write %s: %s", file, strerror(errno));
        return false;
    }
    size_t done = 0;
    while (done < job->text.n) {
        const ssize_t n = write(fd, job->text.at + done, job->text.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    const int error = errno;
    if (close(fd) == 0 && done == job->text.n)
        return true;
    job->why = arena_format(job->arena, "cannot write %s: %s", file, strerror(error));
    unlink(file);
    return false;
}

/* A folder inside `folder` that nobody else works in; NULL: cannot be made. */
static const char *work_folder(Job *job, const char *folder)
{
    char *path = arena_format(job->arena, "%s/" CACHE_WORK "XXXXXX", folder);
    if (mkdtemp(path))
        return path;
    job->why = arena_format(job->arena, "cannot make a folder in %s: %s", folder, strerror(errno));
    return NULL;
}

/* Builds in a folder inside `folder`. The result goes to `target` and `target_source` by rename, or, if they are
 * NULL, is loaded from where it is and not kept. *try_elsewhere: not the text is to blame, but the folder. */
static Executable *build(Job *job, const char *folder, const char *target, const char *target_source,
                         bool *try_elsewhere)
{
    Executable *executable = NULL;
    sigset_t let;
    *try_elsewhere = true;
    process_hold_signals(&let);
    const char *work = work_folder(job, folder);
    if (!work) {
        process_let_signals(&let);
        return NULL;
    }
    const char *source = arena_format(job->arena, "%s/model.c", work);
    const char *object = arena_format(job->arena, "%s/model.so", work);
    if (write_text(job, source)) {
        const CompileResult result = compile_file(&job->compiler, work, job->interrupt, &let, job->arena, &job->why);
        *try_elsewhere = result != COMPILER_REJECTED;
        if (result == COMPILED && !target)
            executable = load_object(job, object);
        else if (result == COMPILED && !cache_seal(object))
            job->why = arena_format(job->arena, "cannot write %s", object);
        else if (result == COMPILED) {
            if (rename(object, target) == 0)
                executable = load_object(job, target);
            else
                job->why = arena_format(job->arena, "cannot write %s: %s", target, strerror(errno));
            rename(source, target_source); /* for readers only */
        }
    }
    process_remove_folder(work);
    process_let_signals(&let);
    return executable;
}

static Executable *load_from_cache(Job *job, bool *try_elsewhere)
{
    *try_elsewhere = true;
    const char *path = cache_path(job->arena, &job->why);
    if (!path)
        return NULL;
    const char *object = arena_format(job->arena, "%s/%s.so", path, job->key);
    const char *source = arena_format(job->arena, "%s/%s.c", path, job->key);
    Executable *executable = cache_is_sound(object) ? load_object(job, object) : NULL;
    if (executable) {
        cache_touch(object);
        cache_touch(source);
        return executable;
    }
    unlink(object); /* damaged, if it is there at all */
    executable = build(job, path, object, source, try_elsewhere);
    cache_trim(path, CACHE_LIMIT, job->key, job->arena);
    return executable;
}

Executable *cc_load(const Code *code, const char **why, Arena *why_arena)
{
    return cc_load_until(code, NULL, why, why_arena);
}

Executable *cc_load_until(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena)
{
    Job job = { .code = code, .arena = arena_create(NULL), .interrupt = interrupt };
    Executable *executable = NULL;
    bool try_elsewhere;
    if (find_compiler(&job.compiler, job.arena, &job.why) &&
        print_c_for_compiler(code, NULL, NULL, job.arena, &job.text, &job.why)) {
        find_key(&job);
        executable = load_from_cache(&job, &try_elsewhere);
        if (!executable && try_elsewhere) {
            const char *temporary = getenv("TMPDIR");
            executable = build(&job, temporary && *temporary == '/' ? temporary : "/tmp", NULL, NULL, &try_elsewhere);
        }
    }
    if (!executable)
        *why = arena_text(why_arena, job.why, strlen(job.why));
    arena_destroy(job.arena);
    return executable;
}
