/* Execution of vector programs; see vector.h. */
#include "emit/interp/vector.h"
#include "base/bug.h"

/* ---- loops ----
 * One function an operation, so that the compiler vectorises each and they are chosen by a table.
 * Wider vectors change no result: every operation is rounded on its own in either form. */
/* The choice between clones is made before the thread sanitizer is awake. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&                       \
    !defined(__SANITIZE_THREAD__)
#define LOOP static __attribute__((target_clones("default", "avx2"))) void
#else
#define LOOP static void
#endif
typedef void (*Loop)(KoineSlot *restrict to, const KoineSlot *from_a, const KoineSlot *from_b, const KoineSlot *from_c,
                     const KoineSlot *from_d, uint32_t n);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#define UNARY(name, member, value)                                                                                     \
    LOOP loop_##name(KoineSlot *restrict to, const KoineSlot *from_a, const KoineSlot *from_b,                         \
                     const KoineSlot *from_c, const KoineSlot *from_d, uint32_t n)                                     \
    {                                                                                                                  \
        (void)from_b, (void)from_c, (void)from_d;                                                                      \
        for (uint32_t k = 0; k < n; k++) {                                                                             \
            const KoineSlot *a = from_a + k;                                                                           \
            to[k].member = value;                                                                                      \
        }                                                                                                              \
    }
#define BINARY(name, member, value)                                                                                    \
    LOOP loop_##name(KoineSlot *restrict to, const KoineSlot *from_a, const KoineSlot *from_b,                         \
                     const KoineSlot *from_c, const KoineSlot *from_d, uint32_t n)                                     \
    {                                                                                                                  \
        (void)from_c, (void)from_d;                                                                                    \
        for (uint32_t k = 0; k < n; k++) {                                                                             \
            const KoineSlot *a = from_a + k, *b = from_b + k;                                                          \
            to[k].member = value;                                                                                      \
        }                                                                                                              \
    }
#define TERNARY(name, member, value)                                                                                   \
    LOOP loop_##name(KoineSlot *restrict to, const KoineSlot *from_a, const KoineSlot *from_b,                         \
                     const KoineSlot *from_c, const KoineSlot *from_d, uint32_t n)                                     \
    {                                                                                                                  \
        (void)from_d;                                                                                                  \
        for (uint32_t k = 0; k < n; k++) {                                                                             \
            const KoineSlot *a = from_a + k, *b = from_b + k, *c = from_c + k;                                         \
            to[k].member = value;                                                                                      \
        }                                                                                                              \
    }
#define QUATERNARY(name, member, value)                                                                                \
    LOOP loop_##name(KoineSlot *restrict to, const KoineSlot *from_a, const KoineSlot *from_b,                         \
                     const KoineSlot *from_c, const KoineSlot *from_d, uint32_t n)                                     \
    {                                                                                                                  \
        for (uint32_t k = 0; k < n; k++) {                                                                             \
            const KoineSlot *a = from_a + k, *b = from_b + k, *c = from_c + k, *d = from_d + k;                        \
            to[k].member = value;                                                                                      \
        }                                                                                                              \
    }
#include "emit/interp/opcode.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
#pragma GCC diagnostic pop

typedef struct {
    Loop loop;
    uint32_t n_sources;
} LoopRow;
static const LoopRow loops[OPCODE_SKIP] = {
#define UNARY(name, member, value)      [OPCODE_##name] = { loop_##name, 1 },
#define BINARY(name, member, value)     [OPCODE_##name] = { loop_##name, 2 },
#define TERNARY(name, member, value)    [OPCODE_##name] = { loop_##name, 3 },
#define QUATERNARY(name, member, value) [OPCODE_##name] = { loop_##name, 4 },
#include "emit/interp/opcode.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
};

/* ---- a chunk ---- */
typedef struct {
    const VectorProgram *program;
    KoineSlot *m, *vectors;
    const uint32_t *row;       /* of the run */
    const uint8_t *is_regular; /* per column, for this chunk; NULL: not known */
    uint32_t first, n;         /* elements */
} Chunk;

static uint32_t position(const Chunk *c, uint32_t column)
{
    const VectorProgram *p = c->program;
    return p->strides ? c->row[column] + c->first * (uint32_t)p->strides[column]
                      : c->row[(size_t)c->first * p->row_words + column];
}

static KoineSlot *operand(const Chunk *c, uint32_t word)
{
    return word & COLUMN_BIT ? c->m + position(c, word & ~COLUMN_BIT) : c->vectors + (size_t)word * c->program->chunk;
}

static void load(const Chunk *c, KoineSlot *to, uint32_t column)
{
    const VectorProgram *p = c->program;
    const KoineSlot *m = c->m;
    if (c->is_regular && c->is_regular[column])
        memcpy(to, m + position(c, column), c->n * sizeof *to);
    else if (p->kinds[column] == COLUMN_TABLE) {
        const uint32_t *at = c->row + (size_t)c->first * p->row_words + column;
        for (uint32_t k = 0; k < c->n; k++, at += p->row_words)
            to[k].i = m[*at].i;
    } else {
        const KoineSlot *from = m + position(c, column);
        const ptrdiff_t stride = p->strides[column];
        for (uint32_t k = 0; k < c->n; k++)
            to[k].i = from[k * stride].i;
    }
}

static void store(const Chunk *c, uint32_t column, const KoineSlot *from)
{
    const VectorProgram *p = c->program;
    KoineSlot *m = c->m;
    if (c->is_regular && c->is_regular[column])
        memcpy(m + position(c, column), from, c->n * sizeof *from);
    else if (p->kinds[column] == COLUMN_TABLE) {
        const uint32_t *at = c->row + (size_t)c->first * p->row_words + column;
        for (uint32_t k = 0; k < c->n; k++, at += p->row_words)
            m[*at].i = from[k].i;
    } else {
        KoineSlot *to = m + position(c, column);
        const ptrdiff_t stride = p->kinds[column] == COLUMN_UNIFORM ? 0 : p->strides[column];
        for (uint32_t k = 0; k < c->n; k++)
            to[k * stride].i = from[k].i;
    }
}

static void iterate(const Chunk *c, KoineSlot *to)
{
    const VectorProgram *p = c->program;
    for (uint32_t k = 0; k < c->n; k++)
        to[k].i = p->strides ? (int32_t)c->row[p->width] + (int64_t)(c->first + k) * p->iterator_stride
                             : (int32_t)c->row[(size_t)(c->first + k) * p->row_words + p->width];
}

/* Words: destination, argument, interval, constant. */
static void look_up(const Chunk *c, const uint32_t *words)
{
    const MachineCode *code = &c->program->code.body;
    const KoineSlot *address = &code->constants[code->n_constants - 1 - words[3]];
    KoineSlot *to = operand(c, words[0]);
    const KoineSlot *argument = operand(c, words[1]);
    const KoineSlot *interval = words[2] == SEARCHED_WORD ? NULL : operand(c, words[2]);
    for (uint32_t k = 0; k < c->n; k++)
        to[k].r = table_value(address, interval ? interval[k].i : -1, argument[k].r);
}

static bool all_are(const KoineSlot *condition, uint32_t n, bool wanted)
{
    int64_t differs = 0;
    for (uint32_t k = 0; k < n; k++)
        differs |= (condition[k].i != 0) != wanted;
    return !differs;
}

static void run_chunk(const Chunk *c)
{
    for (const uint32_t *at = c->program->code.body.words;;) {
        switch (at[0]) {
        case VECTOR_LOAD:
            load(c, operand(c, at[1]), at[2]);
            at += 3;
            break;
        case VECTOR_STORE:
            store(c, at[1], operand(c, at[2]));
            at += 3;
            break;
        case VECTOR_ITERATOR:
            iterate(c, operand(c, at[1]));
            at += 2;
            break;
        case VECTOR_TABLE:
            look_up(c, at + 1);
            at += 5;
            break;
        case VECTOR_SKIP_NONE:
        case VECTOR_SKIP_ALL: at += 3 + (all_are(operand(c, at[1]), c->n, at[0] == VECTOR_SKIP_ALL) ? at[2] : 0); break;
        case VECTOR_END: return;
        default: {
            const LoopRow *row = &loops[at[0]];
            const KoineSlot *from[4] = { NULL, NULL, NULL, NULL };
            for (uint32_t k = 0; k < row->n_sources; k++)
                from[k] = operand(c, at[2 + k]);
            row->loop(operand(c, at[1]), from[0], from[1], from[2], from[3], c->n);
            at += 2 + row->n_sources;
        }
        }
    }
}

void vector_run(const VectorProgram *p, KoineSlot *m, const uint32_t *row, uint32_t n, const uint8_t *regularity,
                KoineSlot *frame)
{
    const MachineCode *prologue = &p->code.prologue;
    KoineSlot *registers = frame + prologue->n_constants;
    for (uint32_t k = 0; k < prologue->n_constants; k++)
        frame[k] = prologue->constants[k];
    execute_by_row(prologue->words, m, row, registers);
    Chunk c = { .program = p, .m = m, .vectors = registers + prologue->n_registers, .row = row };
    const uint32_t most = n < p->chunk ? n : p->chunk;
    for (uint32_t k = 0; k < p->code.n_broadcasts; k++) {
        const Broadcast *b = &p->code.broadcasts[k];
        const int64_t value = b->from.is_register ? registers[b->from.index].i : m[row[b->from.index]].i;
        KoineSlot *to = operand(&c, b->to);
        for (uint32_t e = 0; e < most; e++)
            to[e].i = value;
    }
    for (; c.first < n; c.first += p->chunk) {
        c.n = n - c.first < p->chunk ? n - c.first : p->chunk;
        c.is_regular = regularity ? regularity + (size_t)(c.first / p->chunk) * p->width : NULL;
        run_chunk(&c);
    }
}

static bool is_regular_chunk(const uint32_t *at, uint32_t row_words, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (at[(size_t)i * row_words] != at[0] + i)
            return false;
    return true;
}

const uint8_t *vector_regularity(const VectorProgram *p, const uint32_t *row, uint32_t n, Arena *arena)
{
    const size_t n_chunks = ((size_t)n + p->chunk - 1) / p->chunk;
    if (p->strides)
        return NULL;
    uint8_t *result = NEW_ARRAY(arena, uint8_t, n_chunks * p->width);
    for (size_t c = 0; c < n_chunks; c++) {
        const uint32_t first = (uint32_t)c * p->chunk, n_here = n - first < p->chunk ? n - first : p->chunk;
        for (uint32_t k = 0; k < p->width; k++)
            result[c * p->width + k] = p->kinds[k] == COLUMN_TABLE &&
                                       is_regular_chunk(row + (size_t)first * p->row_words + k, p->row_words, n_here);
    }
    return result;
}

const VectorProgram *vector_program(Assembler *assembler, const Kernel *kernel, const uint8_t *kinds, Arena *arena)
{
    if (kernel->has_calls || assembler_has_elements(assembler))
        return NULL;
    VectorProgram *p = NEW(arena, VectorProgram);
    p->code = assemble_vector(assembler, kernel, kinds, arena);
    uint8_t *own_kinds = NEW_ARRAY(arena, uint8_t, kernel->width);
    memcpy(own_kinds, kinds, kernel->width);
    p->kinds = own_kinds;
    if (kernel->strides) {
        int32_t *strides = NEW_ARRAY(arena, int32_t, kernel->width);
        memcpy(strides, kernel->strides, kernel->width * sizeof *strides);
        p->strides = strides;
    }
    p->width = kernel->width;
    p->row_words = kernel->width + kernel->has_iterator;
    p->iterator_stride = kernel->iterator_stride;
    const uint32_t scalars = p->code.prologue.n_constants + p->code.prologue.n_registers;
    const uint32_t vectors = p->code.body.n_registers ? p->code.body.n_registers : 1;
    p->chunk = scalars < FRAME_SLOTS ? (FRAME_SLOTS - scalars) / vectors : 0;
    if (p->chunk > CHUNK)
        p->chunk = CHUNK;
    return p->chunk < CHUNK_LEAST ? NULL : p;
}
