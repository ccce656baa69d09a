/* Exact partial derivatives of a model: of derivatives and outputs, by states and inputs; as matrices, along directions
 * and back from weights. Columns that share no row are computed in one go: they have one colour. */
#include "machine.h"
#include <math.h>
#include <stdlib.h>

/* ---- tangents ---- */
KoineStatus koine_run_tangents(Machine *m)
{
    const KoinePart *part = &m->program->parts.tangents;
    for (uint32_t j = 0; j < part->n; j++) {
        if (part->steps[j].system == KOINE_NONE) {
            run_section(m, part->steps[j].section);
        } else {
            const KoineStatus status = koine_solve_tangent(m, part->steps[j].system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return KOINE_OK;
}

/* Of a part of KoinePorts: the tangents of the rows of systems stand in sections of their own. */
static KoineStatus run_port_tangents(Machine *m, const KoinePart *part)
{
    for (uint32_t j = 0; j < part->n; j++) {
        if (part->steps[j].system == KOINE_NONE) {
            run_section(m, part->steps[j].section);
        } else {
            const KoineStatus status = koine_solve_rows(m, part->steps[j].system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return KOINE_OK;
}

/* ---- matrices ---- */
typedef struct { /* one of the matrices that are computed by tangents */
    const Colours *colours;
    const KoinePattern *pattern;
    bool by_inputs, of_outputs;
    bool is_outer; /* by tangents along inputs, too */
} Matrix;

/* False: the model has no such matrix. */
static bool find_matrix(const MachineKind *kind, int by, Matrix *matrix)
{
    const KoinePatterns *patterns = &kind->tables.patterns;
    switch (by) {
    case KOINE_BY_X: *matrix = (Matrix){ &kind->by_x, &patterns->jacobian, false, false, false }; break;
    case KOINE_BY_INPUT: *matrix = (Matrix){ &kind->by_input, &patterns->input_jacobian, true, false, true }; break;
    case KOINE_OUTPUTS_BY_X:
        *matrix = (Matrix){ &kind->out_by_x, &patterns->output_jacobian, false, true, true };
        break;
    case KOINE_OUTPUTS_BY_INPUT:
        *matrix = (Matrix){ &kind->out_by_input, &patterns->through_jacobian, true, true, true };
        break;
    default: return false;
    }
    return matrix->colours->start != NULL;
}

/* All that the tangents read, but the seeds. */
static KoineStatus begin_point(Machine *m, const KoineEvaluation *at, const Matrix *matrix)
{
    const KoineParts *parts = &m->program->parts;
    koine_set_point(m, at->time, at->x);
    KoineStatus status = koine_run_part(m, &parts->derivatives);
    if (status == KOINE_OK && matrix->of_outputs)
        status = koine_run_part(m, &parts->outputs);
    if (status == KOINE_OK)
        status = koine_run_part(m, matrix->is_outer ? &parts->ports.slopes : &parts->slopes);
    if (status == KOINE_OK && matrix->of_outputs)
        status = koine_run_part(m, &parts->ports.output_slopes);
    return status;
}

static KoineStatus run_direction(Machine *m, const Matrix *matrix)
{
    const KoinePorts *ports = &m->program->parts.ports;
    if (!matrix->is_outer)
        return koine_run_tangents(m);
    KoineStatus status = run_port_tangents(m, &ports->tangents);
    if (status == KOINE_OK && matrix->of_outputs)
        status = run_port_tangents(m, &ports->output_tangents);
    return status;
}

static void put_seed(Machine *m, const Matrix *matrix, uint32_t column, double value)
{
    const KoineProgram *p = m->program;
    const KoinePortSlot *input = matrix->by_inputs ? &p->parts.ports.inputs[column] : NULL;
    const uint32_t slot = input ? input->slot : p->slots.seed_x + column;
    if (slot != KOINE_NONE)
        m->slots[slot].r = input && input->is_negated ? -value : value;
}

static double tangent_of_row(const Machine *m, const Matrix *matrix, uint32_t row)
{
    const KoineProgram *p = m->program;
    if (!matrix->of_outputs)
        return m->slots[p->slots.seed_dx + row].r;
    const KoinePortSlot *output = &p->parts.ports.outputs[row];
    const double value = output->slot == KOINE_NONE ? 0 : m->slots[output->slot].r;
    return output->is_negated ? -value : value;
}

/* Directions in the states alone are not to find tangents of inputs: some derivatives only these move. */
static void forget_tangents(Machine *m, const Matrix *matrix)
{
    const KoineSlots *slots = &m->program->slots;
    if (matrix->by_inputs)
        memset(&m->slots[slots->seed_dx], 0, slots->n_x * sizeof(KoineSlot));
}

static bool all_finite(const double *values, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        if (!isfinite(values[k]))
            return false;
    return true;
}

static KoineStatus fill_matrix(Machine *m, const KoineEvaluation *at, const Matrix *matrix, double *values)
{
    const Colours *colours = matrix->colours;
    const KoinePattern *pattern = matrix->pattern;
    KoineStatus status = begin_point(m, at, matrix);
    for (uint32_t c = 0; c < colours->n && status == KOINE_OK; c++) {
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++)
            put_seed(m, matrix, colours->column[j], 1);
        status = run_direction(m, matrix);
        for (uint32_t j = colours->start[c]; j < colours->start[c + 1]; j++)
            values[colours->entry[j]] = tangent_of_row(m, matrix, colours->row[j]);
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++)
            put_seed(m, matrix, colours->column[j], 0);
    }
    forget_tangents(m, matrix);
    if (status == KOINE_OK && !all_finite(values, pattern->start[pattern->rows]))
        status = koine_fault(m, KOINE_RETRY, KOINE_NONE, NULL);
    return status;
}

static KoineStatus whole_jacobian(Machine *m, double *values)
{
    const KoineProgram *p = m->program;
    const uint32_t n = p->tables->patterns.whole_jacobian.start[p->tables->patterns.whole_jacobian.rows];
    const KoineStatus status = koine_run_part(m, &p->parts.derivatives);
    if (status != KOINE_OK)
        return status;
    run_section(m, p->parts.whole.section);
    for (uint32_t j = 0; j < n; j++)
        values[j] = p->parts.whole.entries[j] == KOINE_NONE ? p->parts.whole.constants[j]
                                                            : m->slots[p->parts.whole.entries[j]].r;
    return KOINE_OK;
}

static KoineStatus machine_jacobian(KoineModel *model, const KoineEvaluation *at, int by, double cj, double *values)
{
    Machine *m = koine_machine_of(model);
    Matrix matrix;
    (void)cj;
    if (find_matrix(m->kind, by, &matrix))
        return fill_matrix(m, at, &matrix, values);
    const bool is_dae = by == KOINE_BY_DAE && m->kind->by_dae.start,
               is_whole = by == KOINE_BY_WHOLE && m->program->parts.whole.section != KOINE_NONE;
    if (!is_dae && !is_whole)
        return KOINE_ABSENT;
    koine_set_point(m, at->time, at->x);
    return is_dae ? koine_residual_jacobian(m, at, values) : whole_jacobian(m, values);
}

/* ---- directions ---- */
/* Along the states there may be tangents where a matrix would be too full. */
static bool find_direction(const MachineKind *kind, int by, Matrix *matrix)
{
    const KoinePatterns *patterns = &kind->tables.patterns;
    const bool has_tangents = patterns->jacobian.start || patterns->whole_jacobian.start;
    if (by != KOINE_BY_X)
        return find_matrix(kind, by, matrix);
    *matrix = (Matrix){ &kind->by_x, &patterns->jacobian, false, false, !has_tangents };
    return has_tangents || patterns->input_jacobian.start;
}

static KoineStatus machine_directional(KoineModel *model, const KoineEvaluation *at, int by, const double *seed,
                                       double *result)
{
    Machine *m = koine_machine_of(model);
    Matrix matrix;
    if (!find_direction(m->kind, by, &matrix))
        return KOINE_ABSENT;
    const uint32_t n_x = m->program->slots.n_x, n_columns = matrix.by_inputs ? m->program->parts.ports.n_inputs : n_x,
                   n_rows = matrix.of_outputs ? m->program->parts.ports.n_outputs : n_x;
    KoineStatus status = begin_point(m, at, &matrix);
    for (uint32_t j = 0; j < n_columns; j++)
        put_seed(m, &matrix, j, seed[j]);
    if (status == KOINE_OK)
        status = run_direction(m, &matrix);
    for (uint32_t j = 0; j < n_rows; j++)
        result[j] = tangent_of_row(m, &matrix, j);
    for (uint32_t j = 0; j < n_columns; j++)
        put_seed(m, &matrix, j, 0);
    forget_tangents(m, &matrix);
    return status;
}

/* The entries of the matrix are few beside the work for them: so backwards costs what the matrix costs. */
static KoineStatus machine_adjoint(KoineModel *model, const KoineEvaluation *at, int by, const double *weights,
                                   double *result)
{
    Machine *m = koine_machine_of(model);
    Matrix matrix;
    if (!find_matrix(m->kind, by, &matrix))
        return KOINE_ABSENT;
    const KoinePattern *pattern = matrix.pattern;
    double *values = m->spaces.partials;
    const KoineStatus status = fill_matrix(m, at, &matrix, values);
    memset(result, 0, pattern->columns * sizeof *result);
    for (uint32_t row = 0; row < pattern->rows && status == KOINE_OK; row++)
        for (uint32_t j = pattern->start[row]; weights[row] != 0 && j < pattern->start[row + 1]; j++)
            result[pattern->index[j]] += values[j] * weights[row];
    return status;
}

/* ---- the kind ---- */
/* Entries and columns by the colour of the column. False: no memory. */
static bool sort_by_colour(const KoinePattern *j, Colours *out)
{
    const uint32_t entries = j->start ? j->start[j->rows] : 0, colours = j->n_colours;
    if (!j->start)
        return true;
    uint32_t *all = calloc((size_t)2 * (colours + 2) + 2 * (size_t)entries + j->columns + 1, sizeof *all);
    if (!all)
        return false;
    out->n = colours;
    out->start = all;
    out->column_start = out->start + colours + 2;
    out->entry = out->column_start + colours + 2;
    out->row = out->entry + entries;
    out->column = out->row + entries;
    for (uint32_t k = 0; k < entries; k++)
        out->start[j->colour[j->index[k]] + 2]++;
    for (uint32_t k = 0; k < j->columns; k++)
        out->column_start[j->colour[k] + 2]++;
    for (uint32_t k = 1; k <= colours; k++) {
        out->start[k + 1] += out->start[k];
        out->column_start[k + 1] += out->column_start[k];
    }
    for (uint32_t row = 0; row < j->rows; row++)
        for (uint32_t k = j->start[row]; k < j->start[row + 1]; k++) {
            const uint32_t place = out->start[j->colour[j->index[k]] + 1]++;
            out->entry[place] = k;
            out->row[place] = row;
        }
    for (uint32_t k = 0; k < j->columns; k++)
        out->column[out->column_start[j->colour[k] + 1]++] = k;
    return true;
}

uint64_t koine_partial_space(const MachineKind *kind)
{
    const KoinePatterns *patterns = &kind->tables.patterns;
    const KoinePattern *const all[] = { &patterns->jacobian, &patterns->input_jacobian, &patterns->output_jacobian,
                                        &patterns->through_jacobian };
    uint64_t most = 1;
    for (uint32_t k = 0; patterns->input_jacobian.start && k < sizeof all / sizeof all[0]; k++)
        if (all[k]->start && all[k]->start[all[k]->rows] > most)
            most = all[k]->start[all[k]->rows];
    return most;
}

bool koine_partial_begin(MachineKind *kind)
{
    const KoinePatterns *patterns = &kind->tables.patterns;
    const bool has_ports = patterns->input_jacobian.start != NULL;
    if (kind->program->slots.seed_x == KOINE_NONE)
        return true;
    kind->kind.partial = (KoinePartialCalls){ machine_jacobian, machine_directional, has_ports ? machine_adjoint : NULL,
                                              kind->program->systems.n_sets ? koine_machine_state : NULL };
    return sort_by_colour(&patterns->jacobian, &kind->by_x) && sort_by_colour(&patterns->dae_jacobian, &kind->by_dae) &&
           sort_by_colour(&patterns->input_jacobian, &kind->by_input) &&
           sort_by_colour(&patterns->output_jacobian, &kind->out_by_x) &&
           sort_by_colour(&patterns->through_jacobian, &kind->out_by_input);
}

void koine_partial_end(MachineKind *kind)
{
    free(kind->by_x.start);
    free(kind->by_dae.start);
    free(kind->by_input.start);
    free(kind->out_by_x.start);
    free(kind->out_by_input.start);
}
