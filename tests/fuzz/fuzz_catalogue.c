/* Any bytes as a run catalogue, as the files that SQLite keeps beside it, or as rows and tables of hostile making:
 * refused or listed, written, forgotten. A file beside them stays as it is. */
#include "choices.h"
#include "experiment/catalogue.h"
#include "generate.h"
#include "place.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CANARY[] = "mine";
static const char *const ENDS[] = { "", "-wal", "-shm", "-journal" };

static const char *path_of(const char *end)
{
    char name[64];
    snprintf(name, sizeof name, ".koine/runs.sqlite%s", end);
    return place_path(name);
}

static void clear(void)
{
    mkdir(place_path(".koine"), 0700);
    for (size_t k = 0; k < sizeof ENDS / sizeof *ENDS; k++)
        place_remove(path_of(ENDS[k]));
    place_write(place_path("canary"), CANARY, sizeof CANARY);
}

/* A catalogue of ours with one run. */
static void make_own(Arena *arena)
{
    Catalogue *c;
    CatalogueRun run = { .created = "2026-01-31T12:00:00Z",
                         .koine = "0",
                         .model = "A",
                         .file = "",
                         .experiment = "",
                         .hash = "",
                         .settings = "{}",
                         .result = "/tmp/none.csv",
                         .end.outcome = "done",
                         .end.message = "",
                         .tags = "a" };
    if (catalogue_open(path_of(""), true, arena, &c) != CATALOGUE_GOOD || catalogue_add(c, &run) != CATALOGUE_GOOD)
        abort();
    catalogue_close(c);
}

/* ---- hostile tables and rows ---- */
static const char *const STATEMENTS[] = {
    "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
    "CREATE TRIGGER t2 BEFORE UPDATE ON runs BEGIN UPDATE runs SET result='/etc/passwd'; END",
    "CREATE TABLE more(a)",
    "ALTER TABLE runs RENAME TO other; CREATE VIEW runs AS SELECT * FROM other",
    "ALTER TABLE runs RENAME TO other; CREATE TABLE runs(id, created AS (zeroblob(2000000000)))",
    "ALTER TABLE runs RENAME TO other; CREATE TABLE runs(id INTEGER PRIMARY KEY, model CHECK(model <> randomblob(9)))",
    "CREATE INDEX i ON runs(abs(id))",
    "CREATE INDEX i2 ON runs(printf('%999999999d', id))",
    "ALTER TABLE runs ADD COLUMN extra AS (load_extension('/tmp/x'))",
    "ALTER TABLE runs DROP COLUMN tags",
    "PRAGMA user_version=1",
    "PRAGMA user_version=0",
    "PRAGMA user_version=3",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA encoding='UTF-16'",
    "UPDATE runs SET id=-9223372036854775808",
    "UPDATE runs SET model=NULL, created=x'00ff', settings=1e308, tags=7",
    "UPDATE runs SET model=zeroblob(100000)",
    "UPDATE runs SET outcome='running', process=1, process_begun=9223372036854775807, host='localhost'",
    "INSERT INTO runs SELECT NULL,created,koine,model,file,experiment,hash,settings,result,is_replaced,outcome,message,"
    "start,stop,time,points,compile_seconds,run_seconds,tags,origins,host,process,process_begun FROM runs",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE VIRTUAL TABLE runs USING fts5(id)' WHERE "
    "name='runs'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=1 WHERE name='runs'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql, 'TEXT', 'REAL')",
};

static void change_rows(Choices *c, Arena *arena)
{
    static const char *const columns[] = { "created", "koine",   "model",   "file", "experiment", "hash", "settings",
                                           "result",  "outcome", "message", "tags", "origins",    "host" };
    sqlite3 *base;
    sqlite3_stmt *statement;
    if (sqlite3_open_v2(path_of(""), &base, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        abort();
    sqlite3_limit(base, SQLITE_LIMIT_LENGTH, 1 << 20); /* what is tried here is the reader's limit, not ours */
    for (uint32_t n = choose(c, 6); n > 0; n--) {
        if (choose(c, 2)) {
            sqlite3_exec(base, STATEMENTS[choose(c, sizeof STATEMENTS / sizeof *STATEMENTS)], NULL, NULL, NULL);
            continue;
        }
        Text value = { .arena = arena };
        generate_name(c, &value);
        const char *const update =
            arena_format(arena, "UPDATE runs SET %s=?1", columns[choose(c, sizeof columns / sizeof *columns)]);
        if (sqlite3_prepare_v2(base, update, -1, &statement, NULL) == SQLITE_OK) {
            sqlite3_bind_text(statement, 1, value.at, (int)value.n, SQLITE_STATIC);
            sqlite3_step(statement);
            sqlite3_finalize(statement);
        }
    }
    sqlite3_close(base);
}

/* ---- a journal that names another file ---- */
static void put(uint8_t *to, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        to[k] = (uint8_t)(value >> (24 - 8 * k));
}

static void write_journal(Choices *c)
{
    static const uint8_t mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    uint8_t bytes[2048] = { 0 };
    const char *const other = place_path("canary");
    const uint32_t n = (uint32_t)strlen(other);
    size_t size = 512;
    uint32_t sum = 0;
    memcpy(bytes, mark, sizeof mark);
    put(bytes + 8, choose(c, 3));
    put(bytes + 16, choose(c, 8));
    put(bytes + 20, 512);
    put(bytes + 24, 4096);
    put(bytes + size, 0x40000000 / 4096 + 1);
    memcpy(bytes + size + 4, other, n);
    for (uint32_t k = 0; k < n; k++)
        sum += (uint32_t)(signed char)other[k];
    put(bytes + size + 4 + n, n);
    put(bytes + size + 8 + n, sum);
    memcpy(bytes + size + 12 + n, mark, sizeof mark);
    size += 20 + n;
    for (uint32_t changes = choose(c, 4); changes > 0; changes--)
        bytes[choose(c, (uint32_t)size)] ^= (uint8_t)choose_byte(c);
    place_remove(path_of("-wal")); /* as an archive would have it */
    place_write(path_of("-journal"), bytes, size);
}

/* ---- using it ---- */
static void use(bool is_made, Arena *arena)
{
    Catalogue *c;
    if (catalogue_open(path_of(""), is_made, arena, &c) != CATALOGUE_GOOD)
        return;
    CatalogueRun *runs, run = { .created = "",
                                .koine = "",
                                .model = "B",
                                .file = "",
                                .experiment = "",
                                .hash = "",
                                .settings = "{}",
                                .result = "/tmp/none.csv",
                                .end.outcome = "running",
                                .end.message = "",
                                .tags = "" };
    uint32_t n;
    if (catalogue_list(c, &(CatalogueFilter){ .most = 50 }, arena, &runs, &n) == CATALOGUE_GOOD)
        for (uint32_t k = 0; k < n; k++) {
            Text json = { .arena = arena };
            text_json(&json, runs[k].model);
            text_json(&json, runs[k].settings);
            text_shown(runs[k].result, arena);
            process_state(&runs[k].process, arena);
        }
    catalogue_list(c, &(CatalogueFilter){ .model = "A*", .tag = "a", .most = 5 }, arena, &runs, &n);
    if (catalogue_add(c, &run) == CATALOGUE_GOOD) {
        catalogue_close_run(c, &run);
        catalogue_tag(c, run.id, "b");
        catalogue_forget(c, run.id);
    }
    catalogue_close(c);
}

static void check_canary(void)
{
    char bytes[sizeof CANARY + 1];
    FILE *const file = fopen(place_path("canary"), "rb");
    if (!file || fread(bytes, 1, sizeof bytes, file) != sizeof CANARY || memcmp(bytes, CANARY, sizeof CANARY) != 0) {
        fprintf(stderr, "a file beside the catalogue has changed\n");
        abort();
    }
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "SQLite format 3";
    Choices c = { data, data + size };
    Arena *const arena = arena_create(NULL);
    clear();
    if (size >= sizeof head && memcmp(data, head, sizeof head) == 0) {
        place_write(path_of(""), data, size);
    } else {
        const uint32_t way = choose(&c, 4);
        make_own(arena);
        if (way >= 2)
            change_rows(&c, arena);
        if (way == 1)
            write_journal(&c);
        if (way == 0) /* behind the first byte: which file, and its bytes */
            place_write(path_of(ENDS[1 + choose(&c, 3)]), c.at, (size_t)(c.end - c.at));
    }
    use(false, arena);
    use(true, arena);
    check_canary();
    arena_destroy(arena);
    return 0;
}
