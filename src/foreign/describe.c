/* See describe.h. */
#include "foreign/describe.h"
#include <string.h>

enum { MOST = 1 << 24 }; /* of anything, as in mistake.c */

/* ---- to words ---- */
typedef struct {
    Words *words;
    Arena *arena;
} Writer;

static void put(const Writer *w, uint64_t word)
{
    vec_push(w->arena, w->words, word);
}

static void put_number(const Writer *w, double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    put(w, word);
}

static void put_text(const Writer *w, const char *text)
{
    const size_t n = text ? strlen(text) + 1 : 0; /* 0: there is none */
    put(w, n);
    for (size_t k = 0; k < n; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + k, n - k < sizeof word ? n - k : sizeof word);
        put(w, word);
    }
}

static void put_list(const Writer *w, const uint32_t *list, uint32_t n)
{
    put(w, list ? n : 0);
    for (uint32_t k = 0; list && k < n; k++)
        put(w, list[k]);
}

static void put_ports(const Writer *w, const KoinePort *ports, uint32_t n)
{
    put(w, ports ? n : 0);
    for (uint32_t k = 0; ports && k < n; k++) {
        put(w, ports[k].variable);
        put(w, ports[k].element);
    }
}

static void put_variable(const Writer *w, const KoineVariable *v)
{
    const uint64_t words[] = { v->now,  v->pre,         v->set,       v->count, v->first_dim,      v->n_dims,
                               v->type, v->variability, v->causality, v->flags, (uint32_t)v->state };
    const double numbers[] = { v->start, v->nominal, v->min, v->max };
    put_text(w, v->name);
    put_text(w, v->unit);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        put(w, words[k]);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        put_number(w, numbers[k]);
}

void describe_text(Words *words, const char *text, Arena *arena)
{
    put_text(&(Writer){ words, arena }, text);
}

void describe_tables(Words *words, const KoineTables *t, Arena *arena)
{
    const Writer w = { words, arena };
    const KoinePattern *paths = &t->patterns.feedthrough;
    const uint64_t head[] = { t->block_size, t->x, t->dx, t->time, t->capabilities, t->n_variables, t->roots.n };
    put_text(&w, t->name);
    put_text(&w, t->guid);
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        put(&w, head[k]);
    for (uint32_t k = 0; k < t->n_variables; k++)
        put_variable(&w, &t->variables[k]);
    for (uint32_t k = 0; k < t->roots.n; k++)
        put_text(&w, t->roots.at ? t->roots.at[k].text : NULL);
    put_list(&w, t->state_variable, t->n_x);
    put_list(&w, t->types.dims, t->types.n_dims);
    put_ports(&w, t->ports.inputs, t->ports.n_inputs);
    put_ports(&w, t->ports.outputs, t->ports.n_outputs);
    put(&w, paths->columns);
    put_list(&w, paths->start, paths->rows ? paths->rows + 1 : 0);
    put_list(&w, paths->index, paths->rows ? paths->start[paths->rows] : 0);
}

uint64_t fingerprint_of_words(const uint64_t *words, uint64_t n)
{
    uint64_t hash = 1469598103934665603u;
    for (uint64_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < 64; j += 8)
            hash = (hash ^ (words[k] >> j & 255)) * 1099511628211u;
    return hash;
}

/* ---- from words: whoever wrote them may have had its memory spoiled ---- */
typedef struct {
    const uint64_t *at, *end;
    Arena *arena;
    bool is_bad;
} Reader;

static uint64_t get(Reader *r)
{
    if (r->at < r->end)
        return *r->at++;
    r->is_bad = true;
    return 0;
}

static double get_number(Reader *r)
{
    const uint64_t word = get(r);
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static uint32_t get_count(Reader *r)
{
    const uint64_t n = get(r);
    if (n > MOST || n > (uint64_t)(r->end - r->at)) /* each has a word at least */
        r->is_bad = true;
    return r->is_bad ? 0 : (uint32_t)n;
}

static const char *get_text(Reader *r)
{
    const uint64_t n = get(r), n_words = n / sizeof(uint64_t) + (n % sizeof(uint64_t) != 0);
    if (n == 0 || r->is_bad)
        return NULL;
    if (n_words > (uint64_t)(r->end - r->at)) {
        r->is_bad = true;
        return NULL;
    }
    const char *text = arena_text(r->arena, (const char *)(const void *)r->at, n - 1);
    r->at += n_words;
    return text;
}

static const uint32_t *get_list(Reader *r, uint32_t *n)
{
    *n = get_count(r);
    uint32_t *list = NEW_ARRAY(r->arena, uint32_t, *n + (size_t)1);
    for (uint32_t k = 0; k < *n; k++)
        list[k] = (uint32_t)get(r);
    return list;
}

static const KoinePort *get_ports(Reader *r, uint32_t *n)
{
    *n = get_count(r);
    KoinePort *ports = NEW_ARRAY(r->arena, KoinePort, *n + (size_t)1);
    for (uint32_t k = 0; k < *n; k++) {
        ports[k].variable = (uint32_t)get(r);
        ports[k].element = (uint32_t)get(r);
    }
    return ports;
}

static KoineVariable get_variable(Reader *r)
{
    KoineVariable v = { .name = get_text(r) };
    v.unit = get_text(r);
    v.now = get(r);
    v.pre = get(r);
    v.set = get(r);
    v.count = (uint32_t)get(r);
    v.first_dim = (uint32_t)get(r);
    v.n_dims = (uint32_t)get(r);
    v.type = (uint8_t)get(r);
    v.variability = (uint8_t)get(r);
    v.causality = (uint8_t)get(r);
    v.flags = (uint8_t)get(r);
    v.state = (int32_t)(uint32_t)get(r);
    v.start = get_number(r);
    v.nominal = get_number(r);
    v.min = get_number(r);
    v.max = get_number(r);
    return v;
}

static KoinePattern get_paths(Reader *r)
{
    KoinePattern p = { .columns = (uint32_t)get(r) };
    uint32_t n_starts, n;
    p.start = get_list(r, &n_starts);
    p.index = get_list(r, &n);
    p.rows = n_starts ? n_starts - 1 : 0;
    for (uint32_t k = 0; k < p.rows; k++)
        r->is_bad |= p.start[k] > p.start[k + 1] || p.start[k + 1] > n;
    return p;
}

const KoineTables *tables_of_words(const uint64_t *words, uint64_t n, Arena *arena)
{
    Reader reader = { words, words + n, arena, false }, *r = &reader;
    KoineTables *t = NEW(arena, KoineTables);
    t->name = get_text(r);
    t->guid = get_text(r);
    t->block_size = get(r);
    t->x = get(r);
    t->dx = get(r);
    t->time = get(r);
    t->capabilities = (uint32_t)get(r);
    t->n_variables = get_count(r);
    t->roots.n = get_count(r);
    KoineVariable *variables = NEW_ARRAY(arena, KoineVariable, t->n_variables + (size_t)1);
    KoineOrigin *roots = NEW_ARRAY(arena, KoineOrigin, t->roots.n + (size_t)1);
    for (uint32_t k = 0; k < t->n_variables; k++)
        variables[k] = get_variable(r);
    for (uint32_t k = 0; k < t->roots.n; k++)
        roots[k] = (KoineOrigin){ .text = get_text(r), .path = "" };
    t->variables = variables;
    t->roots.at = roots;
    t->state_variable = get_list(r, &t->n_x);
    t->types.dims = get_list(r, &t->types.n_dims);
    t->ports.inputs = get_ports(r, &t->ports.n_inputs);
    t->ports.outputs = get_ports(r, &t->ports.n_outputs);
    t->patterns.feedthrough = get_paths(r);
    return r->is_bad || r->at != r->end ? NULL : t;
}
