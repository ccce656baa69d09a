/* The interpreter tier.
 *
 * At load, sections become steps: stretches of scalar code for single elements, and vector runs.
 * Registers of a call live on its stack, so an Executable is immutable and may be used by many
 * threads. Only code that needs more than FRAME_SLOTS registers (a single equation with thousands
 * of values alive at once) takes its frame from the heap during the call. */
#include "base/bug.h"
#include "emit/executable.h"
#include "emit/interp/routine.h"
#include "emit/interp/vector.h"
#include "emit/runs.h"
#include <stdlib.h>

enum {
    DIRECT_ELEMENTS = 3,     /* a run this short is unrolled */
    SHORT_SLOTS = 64,        /* registers of a section that needs no large frame */
    STRETCH_CONSTANTS = 1000 /* scalar code is cut when it has collected so many: they are copied at each call */
};

typedef struct {
    MachineCode code;
    bool has_iterator;
    uint32_t width, row_words;
    const int32_t *strides;
    int32_t iterator_stride;
    const VectorProgram *vector; /* NULL: too large */
} LoadedKernel;

typedef struct {
    MachineCode code;            /* scalar, or */
    const VectorProgram *vector; /* vector over `row`, or */
    const LoadedKernel *kernel;  /* element by element over `row` */
    const uint32_t *row;
    const uint8_t *regularity; /* vector; see vector.h */
    uint32_t n;
} Step;

typedef struct {
    uint32_t first, n;
} StepRange;

typedef struct {
    const LoadedKernel *kernels; /* code.words NULL: not shared */
    const Step *steps;
    const StepRange *sections;
} Interpreter;

/* ---- execution ---- */
static KoineSlot *heap_frame(size_t n_slots)
{
    KoineSlot *frame = malloc(n_slots * sizeof *frame);
    if (!frame)
        BUG("out of memory for the registers of one equation");
    return frame;
}

/* Registers of `code` in `frame`; without temporaries nothing is written, so the constants serve themselves. */
static KoineSlot *registers_in(KoineSlot *frame, const MachineCode *code)
{
    if (code->n_registers == 0)
        return (KoineSlot *)code->constants + code->n_constants; /* not written: see above */
    for (uint32_t k = 0; k < code->n_constants; k++)
        frame[k] = code->constants[k];
    return frame + code->n_constants;
}

static void run_scalar_on_heap(const MachineCode *code, KoineSlot *m)
{
    KoineSlot *frame = heap_frame((size_t)code->n_constants + code->n_registers);
    execute_direct(code->words, m, registers_in(frame, code));
    free(frame);
}

static bool is_large(const MachineCode *code)
{
    return code->n_constants + code->n_registers > FRAME_SLOTS;
}

static void run_elements(const LoadedKernel *kernel, KoineSlot *m, const uint32_t *row, uint32_t n,
                         KoineSlot *registers)
{
    for (uint32_t i = 0; i < n; i++, row += kernel->row_words) {
        if (kernel->has_iterator)
            registers[0].i = (int32_t)row[kernel->width];
        execute_by_row(kernel->code.words, m, row, registers);
    }
}

/* An affine run of a kernel that has no vector program: the rows are made one by one. */
static void run_affine_elements(const LoadedKernel *kernel, KoineSlot *m, const uint32_t *row, uint32_t n,
                                KoineSlot *registers)
{
    uint32_t *own = malloc(kernel->row_words * sizeof *own);
    if (!own)
        BUG("out of memory for a row");
    memcpy(own, row, kernel->row_words * sizeof *own);
    for (uint32_t i = 0; i < n; i++) {
        run_elements(kernel, m, own, 1, registers);
        for (uint32_t k = 0; k < kernel->width; k++)
            own[k] += (uint32_t)kernel->strides[k];
        if (kernel->has_iterator)
            own[kernel->width] += (uint32_t)kernel->iterator_stride;
    }
    free(own);
}

static void run_kernel_in(const LoadedKernel *kernel, KoineSlot *m, const uint32_t *row, uint32_t n, KoineSlot *frame)
{
    KoineSlot *registers = registers_in(frame, &kernel->code);
    if (n == 1 || !kernel->strides)
        run_elements(kernel, m, row, n, registers);
    else
        run_affine_elements(kernel, m, row, n, registers);
}

static void run_elementwise(const LoadedKernel *kernel, KoineSlot *m, const uint32_t *row, uint32_t n, KoineSlot *frame)
{
    if (is_large(&kernel->code)) {
        KoineSlot *larger = heap_frame((size_t)kernel->code.n_constants + kernel->code.n_registers);
        run_kernel_in(kernel, m, row, n, larger);
        free(larger);
    } else
        run_kernel_in(kernel, m, row, n, frame);
}

static void run_kernel(void *context, uint32_t number, KoineSlot *m, const uint32_t *row, uint32_t n)
{
    _Alignas(64) KoineSlot frame[FRAME_SLOTS];
    const Interpreter *interpreter = context;
    const LoadedKernel *kernel = &interpreter->kernels[number];
    if (n > DIRECT_ELEMENTS && kernel->vector)
        vector_run(kernel->vector, m, row, n, NULL, frame);
    else
        run_elementwise(kernel, m, row, n, frame);
}

static void run_steps(const Step *step, const Step *end, KoineSlot *m)
{
    _Alignas(64) KoineSlot frame[FRAME_SLOTS];
    for (; step < end; step++) {
        if (step->code.words) {
            if (is_large(&step->code))
                run_scalar_on_heap(&step->code, m);
            else
                execute_direct(step->code.words, m, registers_in(frame, &step->code));
        } else if (step->vector)
            vector_run(step->vector, m, step->row, step->n, step->regularity, frame);
        else
            run_elementwise(step->kernel, m, step->row, step->n, frame);
    }
}

/* Most sections of small models are one stretch with few registers, and then the call counts as much as the work. */
static void run_section(void *context, uint32_t section, KoineSlot *m)
{
    KoineSlot frame[SHORT_SLOTS];
    const Interpreter *interpreter = context;
    const StepRange range = interpreter->sections[section];
    const Step *step = interpreter->steps + range.first;
    if (range.n == 1 && step->code.words && step->code.n_constants + step->code.n_registers <= SHORT_SLOTS)
        execute_direct(step->code.words, m, registers_in(frame, &step->code));
    else
        run_steps(step, step + range.n, m);
}

/* ---- loading ---- */
typedef struct {
    const Code *code;
    Arena *arena, *scratch;
    Placement placement;
    Assembler *assembler;
    LoadedKernel *kernels;
    VEC(Step) steps;
    VEC(uint8_t) kinds;
    VEC(uint32_t) columns;
    VEC(const VectorProgram *) * programs; /* per kernel: those made for table columns that turned out regular */
    RunCheck check;
    bool is_open;    /* scalar code is being assembled */
    uint32_t placed; /* kernel in placement, or KOINE_NONE */
} Loader;

static void place(Loader *loader, uint32_t kernel)
{
    if (loader->placed != kernel)
        placement_of(&loader->placement, &loader->code->kernels[kernel]);
    loader->placed = kernel;
}

static uint8_t affine_kind(int32_t stride)
{
    return stride == 0 ? COLUMN_UNIFORM : stride == 1 ? COLUMN_UNIT : COLUMN_STRIDED;
}

/* What a column of a table does over the rows at hand: tables are often more regular than their kernel. */
static uint8_t table_kind(const uint32_t *row, uint32_t row_words, uint32_t n)
{
    const uint32_t stride = n > 1 ? row[row_words] - row[0] : 2;
    if (stride > 1)
        return COLUMN_TABLE;
    for (uint32_t i = 1; i < n; i++)
        if (row[(size_t)i * row_words] != row[0] + i * stride)
            return COLUMN_TABLE;
    return stride ? COLUMN_UNIT : COLUMN_UNIFORM;
}

static void find_kinds(Loader *loader, const Kernel *kernel, const uint32_t *row, uint32_t n)
{
    vec_reserve(loader->scratch, &loader->kinds, kernel->width);
    for (uint32_t k = 0; k < kernel->width; k++)
        loader->kinds.at[k] = kernel->strides ? affine_kind(kernel->strides[k])
                              : row           ? table_kind(row + k, kernel_row_words(kernel), n)
                                              : COLUMN_TABLE;
}

static void load_kernel(Loader *loader, uint32_t number)
{
    const Kernel *kernel = &loader->code->kernels[number];
    LoadedKernel *loaded = &loader->kernels[number];
    if (loaded->code.words)
        return;
    place(loader, number);
    loaded->code = assemble_by_row(loader->assembler, kernel, loader->arena);
    loaded->has_iterator = kernel->has_iterator;
    loaded->width = kernel->width;
    loaded->row_words = kernel_row_words(kernel);
    loaded->iterator_stride = kernel->iterator_stride;
    find_kinds(loader, kernel, NULL, 0);
    loaded->vector = vector_program(loader->assembler, kernel, loader->kinds.at, loader->arena);
    if (kernel->strides) {
        int32_t *strides = NEW_ARRAY(loader->arena, int32_t, kernel->width);
        memcpy(strides, kernel->strides, kernel->width * sizeof *strides);
        loaded->strides = strides;
    }
}

static void close_stretch(Loader *loader)
{
    if (loader->is_open)
        vec_push(loader->scratch, &loader->steps, ((Step){ .code = assemble_end(loader->assembler, loader->arena) }));
    loader->is_open = false;
}

static void add_direct(Loader *loader, const Run *run)
{
    const Kernel *kernel = &loader->code->kernels[run->kernel];
    const uint32_t *row = loader->code->rows + run->row;
    place(loader, run->kernel);
    vec_reserve(loader->scratch, &loader->columns, kernel->width);
    for (uint32_t i = 0; i < run->n; i++) {
        if (loader->is_open && assembled_constants(loader->assembler) > STRETCH_CONSTANTS)
            close_stretch(loader);
        if (!loader->is_open)
            assemble_begin(loader->assembler);
        loader->is_open = true;
        for (uint32_t k = 0; k < kernel->width; k++)
            loader->columns.at[k] = run_position(kernel, row, i, k);
        assemble_direct(loader->assembler, kernel, loader->columns.at,
                        kernel->has_iterator ? run_iterator(kernel, row, i) : 0);
    }
}

/* The program for this run's columns: the kernel's own, or one that knows which columns of the table are regular. */
static const VectorProgram *program_for(Loader *loader, const Run *run)
{
    const Kernel *kernel = &loader->code->kernels[run->kernel];
    load_kernel(loader, run->kernel);
    if (kernel->strides)
        return loader->kernels[run->kernel].vector;
    find_kinds(loader, kernel, loader->code->rows + run->row, run->n);
    for (uint32_t k = 0; k < kernel->n_outputs; k++)
        if (loader->kinds.at[k] == COLUMN_UNIFORM)
            loader->kinds.at[k] = COLUMN_TABLE;
    for (uint32_t k = 0; k < loader->programs[run->kernel].n; k++)
        if (memcmp(loader->programs[run->kernel].at[k]->kinds, loader->kinds.at, kernel->width) == 0)
            return loader->programs[run->kernel].at[k];
    place(loader, run->kernel);
    const VectorProgram *program = vector_program(loader->assembler, kernel, loader->kinds.at, loader->arena);
    if (program)
        vec_push(loader->scratch, &loader->programs[run->kernel], program);
    return program;
}

/* Rows of a run, kept; an affine run that is done element by element gets its rows written out. */
static const uint32_t *keep_rows(Loader *loader, const Run *run, bool expand)
{
    const Kernel *kernel = &loader->code->kernels[run->kernel];
    const uint32_t row_words = kernel_row_words(kernel);
    const uint32_t *row = loader->code->rows + run->row;
    const size_t n = (kernel->strides && !expand ? 1 : (size_t)run->n) * row_words;
    uint32_t *rows = NEW_ARRAY(loader->arena, uint32_t, n);
    if (!kernel->strides || !expand) {
        memcpy(rows, row, n * sizeof *rows);
        return rows;
    }
    for (uint32_t i = 0; i < run->n; i++) {
        for (uint32_t k = 0; k < kernel->width; k++)
            rows[(size_t)i * row_words + k] = run_position(kernel, row, i, k);
        if (kernel->has_iterator)
            rows[(size_t)i * row_words + kernel->width] = row[kernel->width] + i * (uint32_t)kernel->iterator_stride;
    }
    return rows;
}

static void add_run(Loader *loader, uint32_t number)
{
    const Run *run = &loader->code->runs[number];
    if (run->n <= DIRECT_ELEMENTS) {
        add_direct(loader, run);
        return;
    }
    close_stretch(loader);
    const VectorProgram *program = run_is_independent(&loader->check, number) ? program_for(loader, run) : NULL;
    Step step = { .vector = program, .n = run->n, .row = keep_rows(loader, run, !program) };
    if (program)
        step.regularity = vector_regularity(program, step.row, run->n, loader->arena);
    else {
        load_kernel(loader, run->kernel);
        LoadedKernel *by_rows = NEW(loader->arena, LoadedKernel);
        *by_rows = loader->kernels[run->kernel];
        by_rows->strides = NULL;
        step.kernel = by_rows;
    }
    vec_push(loader->scratch, &loader->steps, step);
}

Executable *interp_load(const Code *code, const char **why, Arena *why_arena)
{
    (void)why, (void)why_arena; /* the interpreter takes everything */
    Executable *executable = executable_create("interp");
    Loader loader = { .code = code, .arena = executable->arena, .scratch = arena_create(NULL), .placed = KOINE_NONE };
    placement_init(&loader.placement, code->pool, loader.scratch);
    LoadedRoutine *routines = NEW_ARRAY(loader.arena, LoadedRoutine, code->n_routines);
    loader.assembler = assembler_create(loader.scratch, &loader.placement, loader.arena, code, routines);
    assemble_routines(loader.assembler, &loader.placement, code, routines, loader.arena);
    loader.kernels = NEW_ARRAY(loader.arena, LoadedKernel, code->n_kernels);
    loader.programs = arena_alloc(loader.scratch, code->n_kernels * sizeof *loader.programs, _Alignof(void *));
    loader.check = run_check_create(code, loader.scratch);
    StepRange *sections = NEW_ARRAY(loader.arena, StepRange, code->n_sections);
    for (uint32_t s = 0; s < code->n_sections; s++) {
        sections[s].first = loader.steps.n;
        for (uint32_t k = 0; k < code->sections[s].n_runs; k++)
            add_run(&loader, code->sections[s].first_run + k);
        close_stretch(&loader);
        sections[s].n = loader.steps.n - sections[s].first;
    }
    for (uint32_t k = 0; k < code->n_kernels; k++)
        if (code->kernels[k].is_shared)
            load_kernel(&loader, k);
    Step *steps = NEW_ARRAY(loader.arena, Step, loader.steps.n);
    if (loader.steps.n)
        memcpy(steps, loader.steps.at, loader.steps.n * sizeof *steps);
    Interpreter *interpreter = NEW(loader.arena, Interpreter);
    *interpreter = (Interpreter){ loader.kernels, steps, sections };
    executable->code.context = interpreter;
    executable->code.run_section = run_section;
    executable->code.run_kernel = run_kernel;
    arena_destroy(loader.scratch);
    return executable;
}
