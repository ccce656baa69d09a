#include "experiment/catalogue.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 2, PATIENCE = 2000 /* ms for another process */ };
enum { TEXT_MOST = 16 << 20 }; /* bytes of a row */

struct Catalogue {
    sqlite3 *base;
    Arena *arena;
};

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* A folder of this user and no link: others could lead the catalogue anywhere. */
static bool is_own_folder(const char *path)
{
    struct stat state;
    return lstat(path, &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == geteuid();
}

/* A file of this user that has no second name elsewhere, or none at all. */
static bool is_own_file(const char *path)
{
    struct stat state;
    return lstat(path, &state) != 0 ? errno == ENOENT
                                    : S_ISREG(state.st_mode) && state.st_uid == geteuid() && state.st_nlink == 1;
}

/* The catalogue, and the files that SQLite finds beside it by their names. */
static bool has_own_files(const char *path, Arena *arena)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (!is_own_file(arena_format(arena, "%s%s", path, ends[k])))
            return false;
    return true;
}

/* A journal that ends with this mark names a second file, of a transaction over several databases: SQLite would roll
 * back and delete that file, whatever it is. We have no such transactions. */
static bool has_journal_of_several(const char *path, Arena *arena)
{
    static const unsigned char mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    unsigned char last[sizeof mark];
    const int file = open(arena_format(arena, "%s-journal", path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    const off_t size = lseek(file, 0, SEEK_END);
    const bool is_marked = size >= (off_t)sizeof last &&
                           pread(file, last, sizeof last, size - (off_t)sizeof last) == (ssize_t)sizeof last &&
                           memcmp(last, mark, sizeof mark) == 0;
    close(file);
    return is_marked;
}

const char *catalogue_path(Arena *arena)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return ".koine/runs.sqlite";
    const char *home = getenv("HOME");
    char *at = arena_text(arena, here, strlen(here));
    for (bool is_first = true; at[0] == '/' && at[1]; is_first = false) {
        if ((is_first || !home || strcmp(at, home) != 0) && is_own_folder(arena_format(arena, "%s/.koine", at)))
            return arena_format(arena, "%s/.koine/runs.sqlite", at);
        char *slash = strrchr(at, '/');
        *(slash == at ? slash + 1 : slash) = 0;
    }
    return arena_format(arena, "%s/.koine/runs.sqlite", strcmp(here, "/") == 0 ? "" : here);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static CatalogueStatus status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return CATALOGUE_GOOD;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return CATALOGUE_BUSY;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_FULL:
    case SQLITE_IOERR: return CATALOGUE_REFUSED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: return CATALOGUE_DAMAGED; /* no such table or column: not our file */
    default: return CATALOGUE_FAILED;
    }
}

static const char SCHEMA_1[] =
    "CREATE TABLE IF NOT EXISTS runs(id INTEGER PRIMARY KEY AUTOINCREMENT, created TEXT NOT NULL, koine TEXT NOT NULL,"
    " model TEXT NOT NULL, file TEXT NOT NULL, experiment TEXT NOT NULL, hash TEXT NOT NULL, settings TEXT NOT NULL,"
    " result TEXT NOT NULL, is_replaced INTEGER NOT NULL DEFAULT 0, outcome TEXT NOT NULL, message TEXT NOT NULL,"
    " start REAL, stop REAL, time REAL, points INTEGER NOT NULL, compile_seconds REAL, run_seconds REAL,"
    " tags TEXT NOT NULL DEFAULT ',');"
    "CREATE INDEX IF NOT EXISTS runs_result ON runs(result);";
static const char SCHEMA_2[] = /* runs are noted when they begin */
    "ALTER TABLE runs ADD COLUMN origins TEXT NOT NULL DEFAULT '{}';"
    "ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN process INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN process_begun INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version=2;";

static int read_version(sqlite3 *base, int *version)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(base, "PRAGMA user_version", -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    *version = code == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    const int end = sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : end;
}

/* Brings an empty or older catalogue to the tables of now; another process may be about to do the same. */
static int bring_up(sqlite3 *base)
{
    int version = 0;
    int code = sqlite3_exec(base, "PRAGMA journal_mode=WAL; BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return code;
    code = read_version(base, &version);
    if (code == SQLITE_OK && version < 1)
        code = sqlite3_exec(base, SCHEMA_1, NULL, NULL, NULL);
    if (code == SQLITE_OK && version < 2)
        code = sqlite3_exec(base, SCHEMA_2, NULL, NULL, NULL);
    const int end = sqlite3_exec(base, code == SQLITE_OK ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    return code == SQLITE_OK ? end : code;
}

/* Written ahead without waiting for the disk: a power cut may cost the last entries, a crash of the program none. */
static CatalogueStatus prepare_base(sqlite3 *base, bool is_made)
{
    int version = 0;
    sqlite3_busy_timeout(base, PATIENCE);
    sqlite3_limit(base, SQLITE_LIMIT_LENGTH, TEXT_MOST); /* an index of somebody else may compute a gigabyte */
    sqlite3_db_config(base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(base, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL); /* ours has none */
    sqlite3_db_config(base, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(base, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int code = read_version(base, &version);
    if (code == SQLITE_OK && version > VERSION)
        return CATALOGUE_NEWER;
    if (code == SQLITE_OK && version < VERSION) {
        if (!is_made && version < 1)
            return CATALOGUE_DAMAGED;
        code = bring_up(base);
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(base, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    return status_of(code);
}

static bool make_folder(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return true;
    const char *folder = arena_text(arena, path, (size_t)(slash - path));
    return mkdir(folder, 0777) == 0 || (errno == EEXIST && is_own_folder(folder));
}

CatalogueStatus catalogue_open(const char *path, bool is_made, Arena *arena, Catalogue **catalogue)
{
    *catalogue = NULL;
    if (is_made ? !make_folder(path, arena) : access(path, F_OK) != 0)
        return is_made ? CATALOGUE_REFUSED : CATALOGUE_ABSENT;
    if (!has_own_files(path, arena))
        return CATALOGUE_REFUSED;
    if (has_journal_of_several(path, arena))
        return CATALOGUE_DAMAGED;
    Catalogue *c = NEW(arena, Catalogue);
    c->arena = arena;
    const int code = sqlite3_open_v2(path, &c->base, SQLITE_OPEN_READWRITE | (is_made ? SQLITE_OPEN_CREATE : 0), NULL);
    const CatalogueStatus status = code == SQLITE_OK ? prepare_base(c->base, is_made) : status_of(code);
    if (status == CATALOGUE_GOOD)
        *catalogue = c;
    else
        sqlite3_close(c->base);
    return status;
}

void catalogue_close(Catalogue *catalogue)
{
    if (catalogue)
        sqlite3_close(catalogue->base);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_STATIC);
}

/* Executes a statement that gives no rows. */
static int finish(sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    const int end = sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : end;
}

/* A run that writes this result at the moment, or 0: the new one will be refused by its lock. */
static int find_writer(Catalogue *c, const char *result, int64_t *id)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(c->base,
                                  "SELECT id,host,process,process_begun FROM runs WHERE result=?1 AND is_replaced=0 "
                                  "AND outcome='running'",
                                  -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    bind_text(statement, 1, result);
    *id = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const ProcessMark mark = { (const char *)sqlite3_column_text(statement, 1), sqlite3_column_int64(statement, 2),
                                   sqlite3_column_int64(statement, 3) };
        if (process_state(&mark, c->arena) == PROCESS_ALIVE)
            *id = sqlite3_column_int64(statement, 0);
    }
    const int end = sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : end;
}

static int mark_replaced(Catalogue *c, const char *result)
{
    sqlite3_stmt *statement;
    int64_t writer;
    if (!result[0])
        return SQLITE_OK;
    int code = find_writer(c, result, &writer);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(c->base, "UPDATE runs SET is_replaced=1 WHERE result=?1 AND is_replaced=0 AND id<>?2",
                                  -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    bind_text(statement, 1, result);
    sqlite3_bind_int64(statement, 2, writer);
    return finish(statement);
}

static int insert(Catalogue *c, const CatalogueRun *run)
{
    static const char TEXT[] =
        "INSERT INTO runs(created,koine,model,file,experiment,hash,settings,result,outcome,message,start,stop,time,"
        "points,compile_seconds,run_seconds,tags,origins,host,process,process_begun) "
        "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)";
    sqlite3_stmt *statement;
    const int code = sqlite3_prepare_v2(c->base, TEXT, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    const char *const texts[] = { run->created, run->koine,    run->model,  run->file,        run->experiment,
                                  run->hash,    run->settings, run->result, run->end.outcome, run->end.message };
    for (int k = 0; k < 10; k++)
        bind_text(statement, k + 1, texts[k]);
    sqlite3_bind_double(statement, 11, run->start);
    sqlite3_bind_double(statement, 12, run->stop);
    sqlite3_bind_double(statement, 13, run->end.time);
    sqlite3_bind_int64(statement, 14, (int64_t)run->end.points);
    sqlite3_bind_double(statement, 15, run->end.compile_seconds);
    sqlite3_bind_double(statement, 16, run->end.run_seconds);
    bind_text(statement, 17, arena_format(c->arena, ",%s%s", run->tags, run->tags[0] ? "," : ""));
    bind_text(statement, 18, run->origins ? run->origins : "{}");
    bind_text(statement, 19, run->process.host);
    sqlite3_bind_int64(statement, 20, run->process.number);
    sqlite3_bind_int64(statement, 21, run->process.begun);
    return finish(statement);
}

CatalogueStatus catalogue_add(Catalogue *c, CatalogueRun *run)
{
    int code = sqlite3_exec(c->base, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return status_of(code);
    code = mark_replaced(c, run->result);
    if (code == SQLITE_OK)
        code = insert(c, run);
    run->id = sqlite3_last_insert_rowid(c->base);
    const int end = sqlite3_exec(c->base, code == SQLITE_OK ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    return status_of(code == SQLITE_OK ? end : code);
}

CatalogueStatus catalogue_close_run(Catalogue *c, const CatalogueRun *run)
{
    sqlite3_stmt *statement;
    const int code = sqlite3_prepare_v2(c->base,
                                        "UPDATE runs SET outcome=?2,message=?3,time=?4,points=?5,compile_seconds=?6,"
                                        "run_seconds=?7,result=?8 WHERE id=?1",
                                        -1, &statement, NULL);
    if (code != SQLITE_OK)
        return status_of(code);
    sqlite3_bind_int64(statement, 1, run->id);
    bind_text(statement, 2, run->end.outcome);
    bind_text(statement, 3, run->end.message);
    sqlite3_bind_double(statement, 4, run->end.time);
    sqlite3_bind_int64(statement, 5, (int64_t)run->end.points);
    sqlite3_bind_double(statement, 6, run->end.compile_seconds);
    sqlite3_bind_double(statement, 7, run->end.run_seconds);
    bind_text(statement, 8, run->result);
    return status_of(finish(statement));
}

static const char *text_at(sqlite3_stmt *statement, int column, Arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? arena_text(arena, text, strlen(text)) : "";
}

/* ",a,b," as "a,b". */
static const char *tags_at(sqlite3_stmt *statement, int column, Arena *arena)
{
    const char *text = text_at(statement, column, arena);
    const size_t n = strlen(text);
    return n < 2 ? "" : arena_text(arena, text + 1, n - 2);
}

static CatalogueRun run_at(sqlite3_stmt *s, Arena *arena)
{
    return (
        CatalogueRun){ .id = sqlite3_column_int64(s, 0),
                       .created = text_at(s, 1, arena),
                       .koine = text_at(s, 2, arena),
                       .model = text_at(s, 3, arena),
                       .file = text_at(s, 4, arena),
                       .experiment = text_at(s, 5, arena),
                       .hash = text_at(s, 6, arena),
                       .settings = text_at(s, 7, arena),
                       .result = text_at(s, 8, arena),
                       .is_replaced = sqlite3_column_int(s, 9) != 0,
                       .end.outcome = text_at(s, 10, arena),
                       .end.message = text_at(s, 11, arena),
                       .start = sqlite3_column_double(s, 12),
                       .stop = sqlite3_column_double(s, 13),
                       .end.time = sqlite3_column_double(s, 14),
                       .end.points = (uint64_t)sqlite3_column_int64(s, 15),
                       .end.compile_seconds = sqlite3_column_double(s, 16),
                       .end.run_seconds = sqlite3_column_double(s, 17),
                       .tags = tags_at(s, 18, arena),
                       .origins = text_at(s, 19, arena),
                       .process = { text_at(s, 20, arena), sqlite3_column_int64(s, 21), sqlite3_column_int64(s, 22) } };
}

CatalogueStatus catalogue_list(Catalogue *c, const CatalogueFilter *filter, Arena *arena, CatalogueRun **runs,
                               uint32_t *n)
{
    static const char TEXT[] =
        "SELECT "
        "id,created,koine,model,file,experiment,hash,settings,result,is_replaced,outcome,message,start,stop,time,"
        "points,compile_seconds,run_seconds,tags,origins,host,process,process_begun FROM runs WHERE (?1=0 OR id=?1) "
        "AND (?2='' OR model GLOB ?2) AND "
        "(?3='' OR instr(tags, ?3)) ORDER BY id DESC LIMIT ?4";
    VEC(CatalogueRun) found = { 0 };
    sqlite3_stmt *statement;
    *n = 0;
    int code = sqlite3_prepare_v2(c->base, TEXT, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return status_of(code);
    sqlite3_bind_int64(statement, 1, filter->id);
    bind_text(statement, 2, filter->model);
    bind_text(statement, 3, filter->tag ? arena_format(arena, ",%s,", filter->tag) : "");
    sqlite3_bind_int64(statement, 4, filter->most ? (int64_t)filter->most : -1);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        vec_push(arena, &found, run_at(statement, arena));
    sqlite3_finalize(statement);
    *runs = found.at;
    *n = found.n;
    return status_of(code);
}

CatalogueStatus catalogue_forget(Catalogue *c, int64_t id)
{
    sqlite3_stmt *statement;
    const int code = sqlite3_prepare_v2(c->base, "DELETE FROM runs WHERE id=?1", -1, &statement, NULL);
    if (code != SQLITE_OK)
        return status_of(code);
    sqlite3_bind_int64(statement, 1, id);
    return status_of(finish(statement));
}

CatalogueStatus catalogue_tag(Catalogue *c, int64_t id, const char *tag)
{
    sqlite3_stmt *statement;
    const int code = sqlite3_prepare_v2(
        c->base, "UPDATE runs SET tags = tags || ?2 || ',' WHERE id=?1 AND NOT instr(tags, ',' || ?2 || ',')", -1,
        &statement, NULL);
    if (code != SQLITE_OK)
        return status_of(code);
    sqlite3_bind_int64(statement, 1, id);
    bind_text(statement, 2, tag);
    return status_of(finish(statement));
}

bool catalogue_is_tag(const char *tag)
{
    if (!*tag)
        return false;
    for (; *tag; tag++)
        if (*tag == ',' || (unsigned char)*tag <= ' ')
            return false;
    return true;
}
