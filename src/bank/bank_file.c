/* Reading and changing the bank file, line by line; see bank_file.h. */
#include "bank/bank_file.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool bank_is_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

/* ---- reading ---- */
enum { WORDS_MOST = 7 }; /* one more than any line has */

typedef struct {
    const char *text;
    Span span;
} Word;

typedef struct {
    Bank *bank;
    const Source *source;
    Arena *arena;
    Diag *diag;
    Word words[WORDS_MOST];
    uint32_t n;
} Reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The words of the line that begins at `at`; gives the begin of the next one. */
static uint32_t read_line(Reader *r, uint32_t at)
{
    const char *text = r->source->text;
    const uint32_t size = r->source->size;
    r->n = 0;
    while (at < size && text[at] != '\n') {
        if (is_blank(text[at])) {
            at++;
            continue;
        }
        if (text[at] == '#') {
            while (at < size && text[at] != '\n')
                at++;
            break;
        }
        const bool is_quoted = text[at] == '"';
        const uint32_t begin = at += is_quoted;
        while (at < size && text[at] != '\n' && (is_quoted ? text[at] != '"' : !is_blank(text[at]) && text[at] != '#'))
            at++;
        const Span span = { r->bank->source, begin, at };
        if (r->n < WORDS_MOST)
            r->words[r->n++] = (Word){ arena_text(r->arena, text + begin, at - begin), span };
        at += is_quoted && at < size && text[at] == '"';
    }
    return at + 1;
}

static void report_line(Reader *r, const char *message)
{
    diag_error(r->diag, DIAG_BANK_SYNTAX, span_join(r->words[0].span, r->words[r->n - 1].span), "%s", message);
    diag_help(r->diag, "a line is 'use CLASS VERSION', 'import FOLDER' or 'import CLASS from FOLDER as NAME'");
}

static bool is_word(const Reader *r, uint32_t k, const char *word)
{
    return k < r->n && strcmp(r->words[k].text, word) == 0;
}

static bool check_name(Reader *r, uint32_t k)
{
    if (bank_is_name(r->words[k].text))
        return true;
    diag_error(r->diag, DIAG_BANK_SYNTAX, r->words[k].span, "'%s' cannot be the name of a class or version",
               r->words[k].text);
    diag_help(r->diag, "names have no slash and do not begin with a dot");
    return false;
}

static void read_use(Reader *r)
{
    if (r->n != 3) {
        report_line(r, "use wants a class and one of its versions");
        return;
    }
    if (!check_name(r, 1) || !check_name(r, 2))
        return;
    const BankUse use = { r->words[1].text, r->words[2].text, r->words[2].span,
                          span_join(r->words[0].span, r->words[2].span) };
    const uint64_t key = hash_bytes(use.class, strlen(use.class), 0);
    uint32_t earlier;
    if (map_get(&r->bank->use_by_class, key, &earlier)) {
        diag_error(r->diag, DIAG_BANK_TWICE, use.span, "the version of '%s' is chosen twice", use.class);
        diag_note(r->diag, r->bank->uses.at[earlier].span, "here before");
        diag_help(r->diag, "remove one of the lines");
        return;
    }
    map_put(&r->bank->use_by_class, key, r->bank->uses.n);
    vec_push(r->arena, &r->bank->uses, use);
}

static void read_import(Reader *r)
{
    BankImport import = { .span = span_join(r->words[0].span, r->words[r->n - 1].span) };
    const bool is_single = is_word(r, 2, "from");
    if (!(r->n == 2 || (is_single && r->n == 4) || (is_single && r->n == 6 && is_word(r, 4, "as")))) {
        report_line(r, "import wants a folder, or a class, from and a folder");
        return;
    }
    import.folder = r->words[r->n == 2 ? 1 : 3].text;
    if (is_single) {
        import.class = r->words[1].text;
        import.as = r->words[r->n == 6 ? 5 : 1].text;
        if (!check_name(r, 1) || !check_name(r, r->n == 6 ? 5 : 1))
            return;
        for (uint32_t k = 0; k < r->bank->imports.n; k++)
            if (r->bank->imports.at[k].class && strcmp(r->bank->imports.at[k].as, import.as) == 0) {
                diag_error(r->diag, DIAG_BANK_TWICE, import.span, "the class '%s' is imported twice", import.as);
                diag_note(r->diag, r->bank->imports.at[k].span, "here before");
                diag_help(r->diag, "give one of them another name: import %s from FOLDER as NAME", import.class);
                return;
            }
    }
    vec_push(r->arena, &r->bank->imports, import);
}

void bank_file_read(Bank *bank, const Sources *sources, Arena *arena, Diag *diag)
{
    Reader r = { .bank = bank, .source = sources_get(sources, bank->source), .arena = arena, .diag = diag };
    for (uint32_t at = 0; at < r.source->size;) {
        at = read_line(&r, at);
        if (r.n == 0)
            continue;
        if (is_word(&r, 0, "use"))
            read_use(&r);
        else if (is_word(&r, 0, "import"))
            read_import(&r);
        else
            report_line(&r, "this line is not understood");
    }
}

/* ---- changing ---- */
static void add_word(Text *text, const char *word)
{
    const bool is_plain = !strpbrk(word, " \t\"#");
    text_format(text, is_plain ? "%s" : "\"%s\"", word);
}

/* A new line stands where its class belongs among the sorted ones, so that changes of others merge. */
static uint32_t place_of_new(const Bank *bank, const Source *source, const char *class_name)
{
    for (uint32_t k = 0; k < bank->uses.n; k++)
        if (strcmp(bank->uses.at[k].class, class_name) > 0) {
            uint32_t at = bank->uses.at[k].span.begin;
            while (at > 0 && source->text[at - 1] != '\n')
                at--;
            return at;
        }
    return source->size;
}

static bool write_file(const char *path, const Text *text, Arena *arena, const char **why)
{
    const char *fresh = arena_format(arena, "%s.new", path);
    unlink(fresh); /* of a run that was killed, or a link that somebody laid there */
    const int descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    bool is_good = file && fwrite(text->at, 1, text->n, file) == text->n;
    is_good = file && fclose(file) == 0 && is_good;
    if (is_good && rename(fresh, path) == 0)
        return true;
    *why = arena_format(arena, "cannot write %s: %s", path, strerror(errno));
    unlink(fresh);
    return false;
}

typedef struct { /* of the old text */
    uint32_t begin, end, row;
    bool is_new;
} Edit;

static Edit edit_of(const Bank *bank, const Source *source, const char *class_name, uint32_t row)
{
    uint32_t known;
    if (!map_get(&bank->use_by_class, hash_bytes(class_name, strlen(class_name), 0), &known)) {
        const uint32_t at = place_of_new(bank, source, class_name);
        return (Edit){ at, at, row, true };
    }
    const Span old = bank->uses.at[known].version_at;
    const bool is_quoted = old.begin > 0 && source->text[old.begin - 1] == '"';
    const bool is_closed = is_quoted && source->text[old.end] == '"';
    return (Edit){ old.begin - is_quoted, old.end + is_closed, row, false };
}

static int by_place(const void *a, const void *b)
{
    const Edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->is_new != y->is_new)
        return x->is_new ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static const Source no_source = { .text = "" };

bool bank_use(const Bank *bank, const Sources *sources, const BankChoice *choice, Arena *arena, const char **why)
{
    const uint32_t n = choice->n;
    const Source *source = bank->has_file ? sources_get(sources, bank->source) : &no_source;
    Text text = { .arena = arena };
    Edit *edits = NEW_ARRAY(arena, Edit, n);
    for (uint32_t k = 0; k < n; k++)
        edits[k] = edit_of(bank, source, choice->class_names[k], k);
    qsort(edits, n, sizeof *edits, by_place);
    if (!bank->has_file)
        text_add(&text, "# Which version of a class is in use; docs/banks.md\n");
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        text_bytes(&text, source->text + at, edits[k].begin - at);
        if (edits[k].is_new) {
            if (text.n > 0 && text.at[text.n - 1] != '\n')
                text_char(&text, '\n');
            text_add(&text, "use ");
            add_word(&text, choice->class_names[edits[k].row]);
            text_char(&text, ' ');
        }
        add_word(&text, choice->version);
        if (edits[k].is_new)
            text_char(&text, '\n');
        at = edits[k].end;
    }
    text_bytes(&text, source->text + at, source->size - at);
    return write_file(arena_format(arena, "%s" BANK_FILE, bank->folder), &text, arena, why);
}
