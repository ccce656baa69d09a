#include "emit/program/guid.h"
#include "base/map.h"
#include "base/text.h"

typedef struct {
    uint64_t hash;
    Map seen; /* id of an expression -> half of its hash */
    const Names *names;
} Guid;

static void add(Guid *g, uint64_t value)
{
    g->hash = (g->hash ^ value) * 0xff51afd7ed558ccdu;
    g->hash ^= g->hash >> 32;
}

/* The last word may overlap the one before it: names are many and short, and a copy of a few bytes is a call. */
static void add_bytes(Guid *g, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t word;
    uint32_t first, last;
    add(g, size);
    for (size_t k = 0; k + sizeof word < size; k += sizeof word) {
        memcpy(&word, at + k, sizeof word);
        add(g, word);
    }
    if (size >= sizeof word) {
        memcpy(&word, at + size - sizeof word, sizeof word);
        add(g, word);
    } else if (size >= sizeof first) {
        memcpy(&first, at, sizeof first);
        memcpy(&last, at + size - sizeof last, sizeof last);
        add(g, (uint64_t)first << 32 | last);
    } else if (size) {
        add(g, (uint64_t)at[0] << 16 | (uint64_t)at[size / 2] << 8 | at[size - 1]);
    }
}

static void add_text(Guid *g, const char *text)
{
    add_bytes(g, text ? text : "", text ? strlen(text) : 0);
}

/* Of names and tables the content, which does not move from one process to another. */
static uint64_t payload(const Guid *g, const Expr *e)
{
    uint64_t bits;
    memcpy(&bits, &e->u, sizeof bits);
    if (e->kind == EXPR_STRING) {
        const char *text = names_of(g->names, e->u.text);
        return hash_bytes(text, strlen(text), 1);
    }
    if (e->kind == EXPR_TABLE)
        return hash_bytes(e->u.table->x, e->u.table->n * sizeof(double),
                          hash_bytes(e->u.table->y, e->u.table->n * sizeof(double), e->u.table->method));
    return e->kind == EXPR_FUNCTION ? e->kind : bits; /* what functions do stands in the texts */
}

static uint32_t hash_expr(Guid *g, const Expr *e)
{
    uint32_t known;
    if (map_get(&g->seen, e->id + UINT64_C(1), &known))
        return known;
    uint64_t hash = hash_mix((uint64_t)e->kind << 24 | (uint64_t)e->op << 16 | (uint64_t)e->is_literal << 8 | e->n_args,
                             payload(g, e));
    hash = hash_mix(hash, (uint64_t)e->type.kind << 32 | e->type.enumeration);
    for (uint32_t k = 0; k < e->n_args; k++)
        hash = hash_mix(hash, hash_expr(g, e->args[k]));
    map_put(&g->seen, e->id + UINT64_C(1), (uint32_t)hash);
    return (uint32_t)hash;
}

static void add_code(Guid *g, const Code *code)
{
    for (uint32_t k = 0; k < code->n_kernels; k++)
        for (uint32_t j = 0; j < code->kernels[k].n_outputs; j++)
            add(g, hash_expr(g, code->kernels[k].outputs[j]));
    for (uint32_t k = 0; k < code->n_runs; k++)
        add(g, (uint64_t)code->runs[k].kernel << 40 ^ (uint64_t)code->runs[k].row << 16 ^ code->runs[k].n);
    add_bytes(g, code->rows, code->n_rows * sizeof *code->rows);
}

static void add_slots(Guid *g, const KoineProgram *data)
{
    const KoineTables *tables = data->tables;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        add_text(g, tables->variables[k].name);
        const uint64_t set = tables->variables[k].set;
        add(g, tables->variables[k].now ^ (set << 32 | set >> 32));
        add(g, (uint64_t)tables->variables[k].count << 8 | tables->variables[k].type);
    }
    for (uint32_t k = 0; k < data->slots.n_constants; k++) {
        add(g, data->slots.constants[k].slot);
        add(g, (uint64_t)data->slots.constants[k].value.i);
    }
    add(g, data->slots.n);
    add(g, tables->n_x);
    add(g, tables->roots.n);
    for (uint32_t k = 0; k < data->foreigns.n; k++) {
        const KoineTables *of = (*data->foreigns.at[k].kind)->tables;
        add_text(g, of->guid ? of->guid : "");
        add(g, data->foreigns.at[k].step > 0);
    }
}

static void add_sources(Guid *g, const Sources *sources)
{
    for (uint32_t k = 0; k < sources_count(sources); k++) {
        const Source *source = sources_get(sources, k);
        add_bytes(g, source->text, source->size);
    }
}

const char *guid_of(const KoineProgram *data, const Code *code, const Model *model, Arena *arena)
{
    Arena *scratch = arena_create_like(arena);
    Guid g = { .hash = 1, .names = pool_names(code->pool) };
    map_init(&g.seen, scratch, 256);
    add_text(&g, data->tables->name);
    add_slots(&g, data);
    add_code(&g, code);
    if (code->n_routines)
        add_sources(&g, model->sources);
    const uint64_t first = g.hash;
    add(&g, data->events.graph.n_nodes);
    arena_destroy(scratch);
    return arena_format(arena, "%016llx%016llx", (unsigned long long)first, (unsigned long long)g.hash);
}
