/* The shared object with the functions of a model.
 *
 * Every text goes through the preprocessor first. What comes out is hashed, and it is that what is compiled: so the
 * cache knows when a header has changed, and nothing can change in between. */
#include "emit/external/object.h"
#include "emit/alone/files.h"
#include "emit/c/cache.h"
#include "emit/c/compiler.h"
#include "emit/c/process.h"
#include "emit/c/sha256.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const ExternalSet *set;
    Arena *arena;
    Compiler compiler;
    const char *folder; /* the work folder */
    volatile const int *interrupt;
    sigset_t let;
    ExternalFiles sources; /* that are compiled beside the text */
    const char *why;
    bool is_folder_bad; /* another folder may help */
} Job;
typedef VEC(const char *) Words;

/* The bits are those that compiled C has everywhere: nothing is contracted. */
static const char *const flags[] = { "-std=gnu17", "-O2", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", NULL };

/* ---- files ---- */
static bool write_file(Job *job, const char *name, const char *bytes, size_t n)
{
    const char *path = arena_format(job->arena, "%s/%s", job->folder, name);
    FILE *file = fopen(path, "wbx");
    const bool is_good = file && fwrite(bytes, 1, n, file) == n;
    if (file && fclose(file) == 0 && is_good)
        return true;
    job->why = arena_format(job->arena, "cannot write %s: %s", path, strerror(errno));
    return false;
}

static bool write_header(Job *job)
{
    static const char name[] = "koine_external.h";
    for (const AloneFile *file = alone_files; file->path; file++)
        if (text_ends_with(file->path, name))
            return write_file(job, name, file->bytes, file->n);
    job->why = "koine_external.h is not part of this program";
    return false;
}

/* ---- compiling ---- */
static Words begin_words(Job *job)
{
    Words words = { 0 };
    for (uint32_t k = 0; k < job->compiler.n_words; k++)
        vec_push(job->arena, &words, job->compiler.words[k]);
    for (uint32_t k = 0; flags[k]; k++)
        vec_push(job->arena, &words, flags[k]);
    return words;
}

static bool run(Job *job, Words *words, const char *made)
{
    const CompilerWork work = { &job->compiler, job->folder, job->interrupt, &job->let, job->arena };
    vec_push(job->arena, words, NULL);
    const CompileResult result = compiler_run(&work, words->at, made, &job->why);
    job->is_folder_bad = result == COMPILER_ENVIRONMENT;
    return result == COMPILED;
}

/* The text has number 0, sources follow. */
static const char *preprocessed(const Job *job, uint32_t number)
{
    return arena_format(job->arena, "%s/%u.i", job->folder, number);
}

static bool preprocess(Job *job, uint32_t number)
{
    Words words = begin_words(job);
    vec_push(job->arena, &words, "-E");
    vec_push(job->arena, &words, "-I");
    vec_push(job->arena, &words, job->folder);
    for (uint32_t k = 0; k < job->set->n; k++) {
        const char **folders;
        const uint32_t n = external_folders(job->set->functions[k], job->set->sources, job->arena, &folders);
        for (uint32_t j = 0; j < n; j++) {
            vec_push(job->arena, &words, "-I");
            vec_push(job->arena, &words, folders[j]);
        }
    }
    vec_push(job->arena, &words, "-o");
    vec_push(job->arena, &words, preprocessed(job, number));
    vec_push(job->arena, &words,
             number ? job->sources.at[number - 1].path : arena_format(job->arena, "%s/model.c", job->folder));
    return run(job, &words, preprocessed(job, number));
}

/* Libraries as arguments of the linker. */
static void add_libraries(const Job *job, Words *words)
{
    for (uint32_t k = 0; k < job->set->n; k++)
        for (uint32_t j = 0; j < job->set->files[k].n; j++) {
            const ExternalFile *file = &job->set->files[k].at[j];
            if (file->kind == EXTERNAL_FILE_SYSTEM)
                vec_push(job->arena, words, arena_format(job->arena, "-l%s", file->path));
            if (file->kind == EXTERNAL_FILE_OBJECT || file->kind == EXTERNAL_FILE_ARCHIVE)
                vec_push(job->arena, words, file->path);
            if (file->kind != EXTERNAL_FILE_OBJECT)
                continue;
            vec_push(job->arena, words, "-Xlinker");
            vec_push(job->arena, words, "-rpath");
            vec_push(job->arena, words, "-Xlinker");
            vec_push(job->arena, words,
                     arena_text(job->arena, file->path, (size_t)(strrchr(file->path, '/') - file->path)));
        }
    vec_push(job->arena, words, "-lm");
}

static bool link_object(Job *job, const char *object)
{
    Words words = begin_words(job);
    vec_push(job->arena, &words, "-shared");
    vec_push(job->arena, &words, "-Wl,-z,defs"); /* what is missing is missed now */
    vec_push(job->arena, &words, "-o");
    vec_push(job->arena, &words, object);
    for (uint32_t k = 0; k <= job->sources.n; k++)
        vec_push(job->arena, &words, preprocessed(job, k));
    add_libraries(job, &words);
    return run(job, &words, object);
}

/* ---- the key ---- */
static void hash_text(Sha256 *sha, const char *text)
{
    sha256_add(sha, text, strlen(text) + 1);
}

/* Names of the work folder stand in what the preprocessor gives, and are another one each time. */
static bool hash_preprocessed(Job *job, Sha256 *sha, uint32_t number)
{
    const char *path = preprocessed(job, number);
    FILE *file = fopen(path, "rb");
    struct stat s;
    if (!file || fstat(fileno(file), &s) != 0) {
        job->why = arena_format(job->arena, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    char *bytes = NEW_ARRAY(job->arena, char, (size_t)s.st_size + 1);
    const size_t n = fread(bytes, 1, (size_t)s.st_size, file), n_folder = strlen(job->folder);
    fclose(file);
    for (char *at = bytes, *end; *at; at = end) {
        end = strstr(at, job->folder);
        end = end ? end : at + strlen(at);
        sha256_add(sha, at, (size_t)(end - at));
        end += *end ? n_folder : 0;
    }
    return n == (size_t)s.st_size;
}

static bool find_key(Job *job, char key[SHA256_TEXT])
{
    Sha256 sha;
    Words libraries = { 0 };
    sha256_begin(&sha);
    hash_text(&sha, job->compiler.identity);
    for (uint32_t k = 1; k < job->compiler.n_words; k++)
        hash_text(&sha, job->compiler.words[k]);
    for (uint32_t k = 0; flags[k]; k++)
        hash_text(&sha, flags[k]);
    for (uint32_t k = 0; k <= job->sources.n; k++)
        if (!preprocess(job, k) || !hash_preprocessed(job, &sha, k))
            return false;
    add_libraries(job, &libraries);
    for (uint32_t k = 0; k < libraries.n; k++) {
        struct stat s = { 0 };
        hash_text(&sha, libraries.at[k]);
        if (*libraries.at[k] == '/' && stat(libraries.at[k], &s) == 0)
            hash_text(&sha, arena_format(job->arena, "%lld %lld.%09ld", (long long)s.st_size,
                                         (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec));
    }
    sha256_end(&sha, key);
    return true;
}

/* ---- loading ---- */
static void *load(Job *job, const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *message = dlerror();
        job->why = arena_format(job->arena, "%s", message ? message : "the compiled functions cannot be loaded");
    }
    return handle;
}

/* In the work folder; `cache` is where the object stays, NULL: nowhere. */
static void *build_in_folder(Job *job, const char *cache)
{
    char key[SHA256_TEXT];
    const Text text = external_text(job->set);
    const char *object = arena_format(job->arena, "%s/model.so", job->folder);
    job->is_folder_bad = true;
    if (!write_header(job) || !write_file(job, "model.c", text.at, text.n))
        return NULL;
    if (!find_key(job, key))
        return NULL;
    const char *kept = cache ? arena_format(job->arena, "%s/%s.so", cache, key) : NULL;
    if (kept && cache_is_sound(kept)) {
        cache_touch(kept);
        return load(job, kept);
    }
    if (!link_object(job, object))
        return NULL;
    if (!kept)
        return load(job, object);
    unlink(kept); /* damaged, if it is there at all */
    if (!cache_seal(object) || rename(object, kept) != 0) {
        job->why = arena_format(job->arena, "cannot write %s: %s", kept, strerror(errno));
        return NULL;
    }
    cache_trim(cache, CACHE_LIMIT, key, job->arena);
    return load(job, kept);
}

static void *build(Job *job, const char *folder, const char *cache)
{
    void *handle = NULL;
    char *work = arena_format(job->arena, "%s/" CACHE_WORK "XXXXXX", folder);
    process_hold_signals(&job->let);
    if (mkdtemp(work)) {
        job->folder = work;
        handle = build_in_folder(job, cache);
        process_remove_folder(work);
    } else {
        job->why = arena_format(job->arena, "cannot make a folder in %s: %s", folder, strerror(errno));
        job->is_folder_bad = true;
    }
    process_let_signals(&job->let);
    return handle;
}

void *external_object(const ExternalSet *set, volatile const int *interrupt, const char **why)
{
    Job job = { .set = set, .arena = set->arena, .interrupt = interrupt, .is_folder_bad = true };
    void *handle = NULL;
    external_sources(set, &job.sources);
    if (find_compiler(&job.compiler, job.arena, &job.why)) {
        const char *cache = cache_path(job.arena, &job.why), *temporary = getenv("TMPDIR");
        if (cache)
            handle = build(&job, cache, cache);
        if (!handle && job.is_folder_bad)
            handle = build(&job, temporary && *temporary == '/' ? temporary : "/tmp", NULL);
    }
    *why = job.why;
    return handle;
}
