/* Checking a whole bank: classes from the bottom up, each translated only if its record is not valid any more; see
 * bank_check.h. */
#include "bank/bank_check.h"
#include "base/ids.h"
#include "base/names.h"
#include "lang/languages.h"
#include "bank/store.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

typedef enum { FILE_NEW, FILE_OPEN, FILE_DONE } FileState;

enum {
    NESTING_MOST = 500,    /* of translations */
    CHAIN_MOST = 5000,     /* of classes known from before */
    INTERFACE_CYCLE = 2,   /* in place of an interface: the class is the one that asks, or contains it */
    INTERFACE_TOO_DEEP = 3 /* not looked at; never found again */
};

static uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text), 3);
}

/* ---- what is known from before ---- */
struct KnownRecords {
    uint64_t seconds, nanoseconds; /* begin of the check that wrote it */
    uint32_t n;
    ClassRecord *records;
    Map by_path;
};
typedef struct KnownRecords Known;

static uint64_t store_key(const BankCheck *check)
{
    char *real = realpath(check->bank->folder[0] ? check->bank->folder : ".", NULL);
    const uint64_t h = hash_text(real ? real : check->bank->folder);
    free(real);
    return hash_bytes(check->request.profile ? check->request.profile : "",
                      check->request.profile ? strlen(check->request.profile) : 0, h);
}

static Known *read_known(const BankCheck *check)
{
    Known *known = NEW(check->arena, Known);
    size_t size;
    const char *data = check->request.without_store ? NULL : store_read(store_key(check), &size, check->arena);
    map_init(&known->by_path, check->arena, 64);
    if (!data)
        return known;
    Codec codec = { .at = data, .end = data + size, .arena = check->arena };
    codec_long(&codec, &known->seconds);
    codec_long(&codec, &known->nanoseconds);
    uint32_t n;
    codec_number(&codec, &n);
    if (n > size / sizeof(FileStamp))
        return known;
    known->records = NEW_ARRAY(check->arena, ClassRecord, n);
    map_init(&known->by_path, check->arena, n);
    for (known->n = 0; known->n < n; known->n++) {
        ClassRecord *record = &known->records[known->n];
        record_transfer(&codec, record);
        if (codec.is_broken)
            return known;
        map_put(&known->by_path, hash_text(record->path), known->n);
    }
    return known;
}

/* A file that was written while or after the store was: the clock may not tell the difference. */
static bool is_recent(const FileStamp *stamp, const Known *known)
{
    const uint64_t slack = 20000000; /* ns: more than a tick of the clock of files */
    const uint64_t written = stamp->seconds * 1000000000u + stamp->nanoseconds;
    return written + slack >= known->seconds * 1000000000u + known->nanoseconds;
}

static uint64_t hash_source(const Source *source)
{
    return hash_bytes(source->text, source->size, 5);
}

static bool has_content(const BankCheck *check, const CheckedFile *file, uint64_t content)
{
    Arena *scratch = arena_create_like(check->arena);
    Sources *sources = sources_create(scratch);
    uint32_t source;
    const bool is_same =
        sources_open(sources, file->path, &source) == SOURCE_OK && hash_source(sources_get(sources, source)) == content;
    arena_destroy(scratch);
    return is_same;
}

/* Whether the stored record is of this text. Touched but equal files are as good as untouched ones. */
static void recall(BankCheck *check, CheckedFile *file)
{
    const Known *known = check->known;
    uint32_t at;
    if (!file->is_present || !map_get(&known->by_path, hash_text(file->record.path), &at))
        return;
    const ClassRecord *record = &known->records[at];
    const bool is_untouched =
        memcmp(&record->stamp, &file->stamp, sizeof file->stamp) == 0 && !is_recent(&file->stamp, known);
    if (!is_untouched && !has_content(check, file, record->content))
        return;
    check->is_changed |= !is_untouched;
    file->is_known = true;
    file->record = *record;
    file->record.stamp = file->stamp;
}

/* ---- files ---- */
static void stamp_file(CheckedFile *file)
{
    struct stat s;
    file->is_present = stat(file->path, &s) == 0;
    if (file->is_present)
        file->stamp = (FileStamp){ (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec, (uint64_t)s.st_size,
                                   (uint64_t)s.st_ino };
}

static uint32_t add_file(BankCheck *check, const char *path, const char *class_name)
{
    uint32_t at;
    if (map_get(&check->file_by_path, hash_text(path), &at))
        return at;
    CheckedFile *file = NEW(check->arena, CheckedFile);
    file->path = path;
    file->class_name = class_name;
    file->record.path = path_below(path, check->bank->folder, check->arena);
    stamp_file(file);
    recall(check, file);
    at = check->files.n;
    map_put(&check->file_by_path, hash_text(path), at);
    vec_push(check->arena, &check->files, file);
    return at;
}

static void add_classes(BankCheck *check)
{
    check->first_file = NEW_ARRAY(check->arena, uint32_t, check->classes.n);
    map_init(&check->class_by_name, check->arena, check->classes.n);
    for (uint32_t k = 0; k < check->classes.n; k++) {
        const BankClass *class = &check->classes.at[k];
        map_put(&check->class_by_name, hash_text(class->name), k);
        check->first_file[k] = check->files.n;
        for (uint32_t j = 0; j < class->versions.n; j++) {
            const uint32_t at = add_file(check, class->versions.at[j].path, class->name);
            check->files.at[at]->is_own = true;
        }
    }
    check->n_own = check->files.n;
}

static void write_known(const BankCheck *check, struct timespec begun)
{
    Codec codec = { .arena = check->arena, .is_writing = true };
    uint64_t seconds = (uint64_t)begun.tv_sec, nanoseconds = (uint64_t)begun.tv_nsec;
    uint32_t n = 0;
    for (uint32_t k = 0; k < check->files.n; k++)
        n += check->files.at[k]->state == FILE_DONE;
    codec_long(&codec, &seconds);
    codec_long(&codec, &nanoseconds);
    codec_number(&codec, &n);
    for (uint32_t k = 0; k < check->files.n; k++)
        if (check->files.at[k]->state == FILE_DONE)
            record_transfer(&codec, &check->files.at[k]->record);
    store_write(store_key(check), codec.written.at, codec.written.n, check->arena);
}

/* ---- classes by name ---- */
/* What is wrong in the bank file is said there; what is wrong in the class, in the class. */
static void forward(BankCheck *check, const Diag *probe, Span wanted_at, Diag *own)
{
    DiagItem item;
    for (uint32_t k = 0; diag_item(probe, k, &item); k++) {
        const bool is_own = item.at.span.source == SOURCE_NONE;
        Diag *to = is_own ? own : check->diag;
        if (!to)
            continue;
        diag_error(to, item.code, is_own ? wanted_at : item.at.span, "%s", item.at.message);
        for (uint32_t j = 0; !is_own && j < item.n_notes; j++)
            diag_note(to, item.notes[j].span, "%s", item.notes[j].message);
        if (item.help)
            diag_help(to, "%s", item.help);
    }
}

/* The file of a class as seen from another; ID_NONE: there is none, reported (`own` may be NULL: not wanted). */
static uint32_t find_file(BankCheck *check, const CheckedFile *asking, const char *name, Span wanted_at, Diag *own)
{
    uint32_t class;
    if (asking->is_own && map_get(&check->class_by_name, hash_text(name), &class) &&
        check->classes.at[class].active != ID_NONE)
        return check->first_file[class] + check->classes.at[class].active;
    Diag *probe = diag_create(check->arena, check->sources);
    Bank *bank = asking->is_own ? check->bank : bank_of_file(check->banks, asking->path, probe);
    BankHit hit;
    const bool is_found = bank_find(check->banks, bank, name, SPAN_NONE, &hit, probe);
    forward(check, probe, wanted_at, own);
    return is_found ? add_file(check, hit.path, hit.class_name) : ID_NONE;
}

/* ---- translating ---- */
static void ensure(BankCheck *check, CheckedFile *file);

typedef struct {
    Resolver base; /* first member */
    BankCheck *check;
    CheckedFile *file;
    Pool *pool;
    Sources *sources;
    VEC(RecordUse) uses;
} Translation;

static LoadRequest load_request(Translation *t, const char *class_name)
{
    return (LoadRequest){ .pool = t->pool,
                          .sources = t->sources,
                          .class_name = class_name,
                          .resolver = &t->base,
                          .profile = t->check->request.profile };
}

static const Model *model_of(Translation *t, const CheckedFile *used, Span wanted_at, Diag *diag)
{
    const Language *language = language_of(t->check->request.languages, used->path);
    if (!used->record.is_good)
        return NULL; /* its errors are reported there */
    if (used->record.is_whole && language)
        return record_model(&used->record, used->path, language->name, t->pool, t->sources);
    return language_load(t->check->request.languages, used->path, wanted_at, load_request(t, used->class_name), diag);
}

static const Model *find_class(Resolver *self, const char *name, Span wanted_at, Diag *diag)
{
    Translation *t = (Translation *)(void *)self;
    BankCheck *check = t->check;
    const uint32_t at = find_file(check, t->file, name, wanted_at, diag);
    RecordUse use = { arena_text(check->arena, name, strlen(name)), "", 0, 0 };
    const Model *model = NULL;
    if (at != ID_NONE) {
        CheckedFile *used = check->files.at[at];
        use.path = used->record.path;
        if (used->state == FILE_OPEN) {
            use.interface = INTERFACE_CYCLE;
            diag_error(diag, DIAG_CYCLIC_CONTAINMENT, wanted_at, "'%s' contains itself", used->path);
            diag_help(diag, "a component cannot be a part of itself, not even through others");
        } else if (used->state == FILE_NEW && check->depth >= NESTING_MOST) {
            use.interface = INTERFACE_TOO_DEEP;
            diag_error(diag, DIAG_NESTED_TOO_DEEP, wanted_at, "components are nested more than %d deep", NESTING_MOST);
            diag_help(diag, "'%s' is not read", used->path);
        } else {
            ensure(check, used);
            use.interface = used->record.interface;
            use.content = used->record.content;
            model = model_of(t, used, wanted_at, diag);
        }
    }
    vec_push(check->arena, &t->uses, use);
    return model;
}

static void translate(BankCheck *check, CheckedFile *file)
{
    Arena *scratch = arena_create_like(check->arena); /* the Model is not needed afterwards */
    Names *names = names_create(scratch);
    Translation t = { .base = { .find = find_class },
                      .check = check,
                      .file = file,
                      .pool = pool_create(scratch, names),
                      .sources = sources_create(scratch) };
    Diag *diag = diag_create(scratch, t.sources);
    check->n_translated++;
    const Model *model =
        language_load(check->request.languages, file->path, SPAN_NONE, load_request(&t, file->class_name), diag);
    ClassRecord *record = &file->record;
    *record = (ClassRecord){ .path = record->path, .stamp = file->stamp, .class_name = "" };
    if (sources_count(t.sources) > 0)
        record->content = hash_source(sources_get(t.sources, 0));
    record->is_good = model && diag_errors(diag) == 0;
    if (record->is_good)
        record_interface(record, model, check->arena);
    record_messages(record, diag, t.sources, check->bank->folder, check->arena);
    record->uses = t.uses.at;
    record->n_uses = t.uses.n;
    arena_destroy(scratch);
}

/* Whether the classes it uses look as they did. */
static bool is_up_to_date(BankCheck *check, const CheckedFile *file)
{
    for (uint32_t k = 0; k < file->record.n_uses; k++) {
        const RecordUse *use = &file->record.uses[k];
        const uint32_t at = find_file(check, file, use->name, SPAN_NONE, NULL);
        if (at == ID_NONE) {
            if (use->path[0])
                return false;
            continue;
        }
        CheckedFile *used = check->files.at[at];
        if (strcmp(used->record.path, use->path) != 0)
            return false;
        if (used->state == FILE_OPEN) {
            if (use->interface != INTERFACE_CYCLE)
                return false;
            continue;
        }
        ensure(check, used);
        if (used->record.interface != use->interface ||
            (file->record.n_messages > 0 && used->record.content != use->content))
            return false;
    }
    return true;
}

static void ensure(BankCheck *check, CheckedFile *file)
{
    if (file->state != FILE_NEW)
        return;
    file->state = FILE_OPEN;
    check->depth++;
    if (!file->is_known || check->depth > CHAIN_MOST || !is_up_to_date(check, file))
        translate(check, file);
    check->depth--;
    file->state = FILE_DONE;
}

/* ---- versions of a class are interchangeable ---- */
static bool has_sensor(const ClassRecord *record, const char *name)
{
    for (uint32_t k = 0; k < record->n_quantities; k++)
        if (strcmp(record->quantities[k].name, name) == 0)
            return record->quantities[k].definition == DEFINITION_INPUT;
    return false;
}

static void compare_sensors(BankCheck *check, const BankClass *class, const CheckedFile *a, const CheckedFile *b,
                            const char *lacking)
{
    for (uint32_t k = 0; k < a->record.n_quantities; k++) {
        const RecordQuantity *q = &a->record.quantities[k];
        uint32_t source;
        if (q->definition != DEFINITION_INPUT || has_sensor(&b->record, q->name) ||
            sources_open(check->sources, a->path, &source) != SOURCE_OK)
            continue;
        diag_warning(check->diag, DIAG_BANK_INTERFACE, (Span){ source, q->begin, q->end },
                     "the version '%s' of '%s' has no sensor '%s'", lacking, class->name, q->name);
        diag_help(check->diag, "versions can be exchanged for each other when they have the same sensors");
    }
}

static void compare_versions(BankCheck *check, uint32_t k)
{
    const BankClass *class = &check->classes.at[k];
    const CheckedFile *active = bank_check_active(check, k);
    for (uint32_t j = 0; active && active->record.is_good && j < class->versions.n; j++) {
        const CheckedFile *other = bank_check_file(check, k, j);
        if (other == active || !other->record.is_good)
            continue;
        compare_sensors(check, class, active, other, class->versions.at[j].name);
        compare_sensors(check, class, other, active, class->versions.at[class->active].name);
    }
}

const CheckedFile *bank_check_file(const BankCheck *check, uint32_t class, uint32_t version)
{
    return check->files.at[check->first_file[class] + version];
}

const CheckedFile *bank_check_active(const BankCheck *check, uint32_t class)
{
    const uint32_t active = check->classes.at[class].active;
    return active == ID_NONE ? NULL : bank_check_file(check, class, active);
}

bool bank_check(BankCheck *check, const BankCheckRequest *request, Sources *sources, Diag *diag, Arena *arena)
{
    struct timespec begun;
    clock_gettime(CLOCK_REALTIME, &begun);
    *check = (BankCheck){ .request = *request, .arena = arena, .diag = diag, .sources = sources };
    map_init(&check->file_by_path, arena, 64);
    check->banks = banks_create(&(BanksRequest){ .sources = sources, .languages = request->languages }, arena);
    check->bank = bank_open(check->banks, request->folder, diag);
    if (!bank_list(check->banks, check->bank, &check->classes, diag))
        return false;
    check->known = read_known(check);
    add_classes(check);
    for (uint32_t k = 0; k < check->n_own; k++)
        ensure(check, check->files.at[k]);
    for (uint32_t k = 0; k < check->files.n; k++)
        record_replay(&check->files.at[k]->record, check->bank->folder, sources, diag, arena);
    for (uint32_t k = 0; k < check->n_own; k++)
        check->n_wrong += !check->files.at[k]->record.is_good;
    for (uint32_t k = 0; k < check->classes.n; k++)
        compare_versions(check, k);
    if (!request->without_store && (check->is_changed || check->n_translated > 0 || check->known->n != check->files.n))
        write_known(check, begun);
    return true;
}
