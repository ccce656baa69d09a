/* The text of a model of the corpus in SIMPLEX-MDL or Dymola.
 *
 * Comparison k: its value zK, its bit cK, the time in which it is true qK, and the number of its changes nK (in Dymola
 * nK and mK, up and down). */
#include "corpus.h"

/* ---- SIMPLEX-MDL ---- */
static void write_list(const double *x, uint32_t n, FILE *file)
{
    for (uint32_t k = 0; k < n; k++) {
        fprintf(file, k ? ", " : "(");
        literal_write(x[k], file);
    }
    fprintf(file, ")");
}

static void write_simplex_function(const Plan *p, FILE *file)
{
    fprintf(file, "  FUNCTION Fun (REAL: u --> REAL)\n  DECLARE\n    w (REAL), k (INTEGER)\n  BEGIN\n");
    if (p->function.kind == FUNCTION_BRANCH) {
        fprintf(file, "    w := u;\n    IF u < ");
        node_write(p, p->function.first->b, file);
        fprintf(file, " DO w := ");
        node_write(p, p->function.first->b, file);
        fprintf(file, "; END\n");
    } else if (p->function.kind == FUNCTION_LOOP) {
        fprintf(file, "    w := 1;\n    FOR k FROM 1 TO 3 DO w := w*u; END\n");
    } else {
        fprintf(file, "    w := ");
        node_write(p, p->function.first, file);
        fprintf(file, ";\n");
    }
    fprintf(file, "    RETURN ");
    node_write(p, p->function.second, file);
    fprintf(file, ";\n  END\n");
}

static void write_simplex_definitions(const Plan *p, FILE *file)
{
    if (p->table.n || p->function.kind)
        fprintf(file, "LOCAL DEFINITIONS\n");
    if (p->table.n) {
        fprintf(file, "  TABULAR FUNCTION Tab (REAL --> REAL)\n    CONTINUOUS BY LINEAR INTERPOLATION\n    ON ");
        write_list(p->table.x, p->table.n, file);
        fprintf(file, " --> ");
        write_list(p->table.y, p->table.n, file);
        fprintf(file, "\n");
    }
    if (p->function.kind)
        write_simplex_function(p, file);
}

static void write_simplex_elements(const Plan *p, FILE *file)
{
    fprintf(file, "DECLARATION OF ELEMENTS\n");
    if (p->array.is_used) {
        fprintf(file, "  CONSTANTS ARRAY [%d] K (REAL) := ", N_ELEMENTS);
        write_list(p->array.slope, N_ELEMENTS, file);
        fprintf(file, ", ARRAY [%d] P (REAL) := ", N_ELEMENTS);
        write_list(p->array.shift, N_ELEMENTS, file);
        fprintf(file, "\n");
    }
    fprintf(file, "  STATE VARIABLES\n    Dummy (INTEGER) := 0");
    for (uint32_t k = 0; k < p->n_comparisons; k++)
        fprintf(file, ", n%u (INTEGER) := 0, Was%u (LOGICAL) := %s", (unsigned)k, (unsigned)k,
                p->comparisons[k].at_start ? "TRUE" : "FALSE");
    for (uint32_t k = 0; k < p->n_motions; k++)
        if (p->motions[k].kind == MOTION_RELAX)
            fprintf(file, ", Up%u (LOGICAL) := TRUE", (unsigned)k);
    fprintf(file, "\n    CONTINUOUS q0 (REAL) := 0");
    for (uint32_t k = 1; k < p->n_comparisons; k++)
        fprintf(file, ", q%u (REAL) := 0", (unsigned)k);
    for (uint32_t k = 0; k < p->n_motions; k++)
        motion_declare(p, &p->motions[k], k, file);
    fprintf(file, "\n  DEPENDENT VARIABLES\n    c0 (LOGICAL)");
    for (uint32_t k = 1; k < p->n_comparisons; k++)
        fprintf(file, ", c%u (LOGICAL)", (unsigned)k);
    for (uint32_t k = 0; k < p->n_motions; k++)
        if (p->motions[k].kind == MOTION_RELAX || p->motions[k].drive == DRIVE_SWITCH)
            fprintf(file, ", Level%u (REAL)", (unsigned)k);
    fprintf(file, "\n    CONTINUOUS z0 (REAL)");
    for (uint32_t k = 1; k < p->n_comparisons; k++)
        fprintf(file, ", z%u (REAL)", (unsigned)k);
    if (p->array.is_used)
        fprintf(file, ", ARRAY [%d] a (REAL)", N_ELEMENTS);
    fprintf(file, "\n");
}

static void write_simplex_jumps(const Plan *p, FILE *file)
{
    for (uint32_t k = 0; k < p->n_motions; k++) {
        const Motion *m = &p->motions[k];
        if (m->drive != DRIVE_JUMP)
            continue;
        fprintf(file, " x%u^ := ", (unsigned)m->first_state);
        number_write(m->factor, file);
        fprintf(file, "*x%u + ", (unsigned)m->first_state);
        number_write(m->offset, file);
        fprintf(file, ";");
    }
}

static void write_simplex(const Plan *p, FILE *file)
{
    fprintf(file, "BASIC COMPONENT M%llu\n", (unsigned long long)p->seed);
    write_simplex_definitions(p, file);
    write_simplex_elements(p, file);
    fprintf(file, "DYNAMIC BEHAVIOUR\n");
    if (p->array.is_used)
        fprintf(file, "  FOR i FROM 1 TO %d DO a{i} := %s(K{i}*T + P{i}); END\n", N_ELEMENTS,
                p->array.is_sine ? "SIN" : "");
    if (p->n_motions) {
        fprintf(file, "  DIFFERENTIAL EQUATIONS\n");
        for (uint32_t k = 0; k < p->n_motions; k++)
            motion_write(p, &p->motions[k], k, file);
        fprintf(file, "  END\n");
    }
    for (uint32_t k = 0; k < p->n_motions; k++)
        motion_write_events(p, &p->motions[k], k, file);
    for (unsigned k = 0; k < p->n_comparisons; k++) {
        fprintf(file, "  z%u := ", k);
        node_write(p, p->comparisons[k].value, file);
        fprintf(file, ";\n  c%u := z%u > ", k, k);
        number_write(p->comparisons[k].limit, file);
        fprintf(file, ";\n  IF c%u DO DIFFERENTIAL EQUATION q%u' := 1; END END\n", k, k);
        fprintf(file, "  WHENEVER c%u AND NOT Was%u DO Was%u^ := TRUE; n%u^ := n%u + 1;", k, k, k, k, k);
        if (k == 0)
            write_simplex_jumps(p, file);
        fprintf(file, " END\n  WHENEVER NOT c%u AND Was%u DO Was%u^ := FALSE; n%u^ := n%u + 1; END\n", k, k, k, k, k);
    }
    fprintf(file, "END OF M%llu\n", (unsigned long long)p->seed);
}

/* ---- Dymola ---- */
static void write_dymola_function(const Plan *p, FILE *file)
{
    fprintf(file, "function fun(u)\n  local w\n  w = ");
    if (p->function.kind == FUNCTION_BRANCH) {
        fprintf(file, "if u < ");
        node_write(p, p->function.first->b, file);
        fprintf(file, " then ");
        node_write(p, p->function.first->b, file);
        fprintf(file, " else u");
    } else {
        node_write(p, p->function.first, file);
    }
    fprintf(file, "\n  fun = ");
    node_write(p, p->function.second, file);
    fprintf(file, "\nend\n");
}

static void write_vector(const char *name, const double *x, FILE *file)
{
    fprintf(file, "  parameter %s(%d) = [", name, N_ELEMENTS);
    for (int k = 0; k < N_ELEMENTS; k++) {
        fprintf(file, k ? ", " : "");
        number_write(x[k], file);
    }
    fprintf(file, "]\n");
}

static void write_dymola_declarations(const Plan *p, FILE *file)
{
    if (p->array.is_used) {
        write_vector("K", p->array.slope, file);
        write_vector("P", p->array.shift, file);
    }
    fprintf(file, "  local dummy");
    if (p->array.is_used)
        fprintf(file, ", a(%d)", N_ELEMENTS);
    for (unsigned k = 0; k < p->n_comparisons; k++) /* whens act at the start, too */
        fprintf(file, ", z%u, c%u, q%u = 0, n%u = %d, m%u = %d", k, k, k, k, p->comparisons[k].at_start ? -1 : 0, k,
                p->comparisons[k].at_start ? 0 : -1);
    for (uint32_t k = 0; k < p->n_motions; k++)
        motion_declare(p, &p->motions[k], k, file);
    fprintf(file, "\n  dummy = 0\n");
}

static void write_dymola(const Plan *p, FILE *file)
{
    if (p->function.kind)
        write_dymola_function(p, file);
    fprintf(file, "model M%llu\n", (unsigned long long)p->seed);
    write_dymola_declarations(p, file);
    if (p->array.is_used)
        fprintf(file, "  a = Time*K + P\n");
    for (uint32_t k = 0; k < p->n_motions; k++) {
        motion_write(p, &p->motions[k], k, file);
        motion_write_events(p, &p->motions[k], k, file);
        if (p->motions[k].drive == DRIVE_JUMP) {
            const unsigned x = p->motions[k].first_state;
            fprintf(file, "  when c0 then init(x%u) = ", x);
            number_write(p->motions[k].factor, file);
            fprintf(file, "*x%u + ", x);
            number_write(p->motions[k].offset, file);
            fprintf(file, " endwhen\n");
        }
    }
    for (unsigned k = 0; k < p->n_comparisons; k++) {
        fprintf(file, "  z%u = ", k);
        node_write(p, p->comparisons[k].value, file);
        fprintf(file, "\n  c%u = z%u > ", k, k);
        number_write(p->comparisons[k].limit, file);
        fprintf(file, "\n  der(q%u) = if c%u then 1 else 0\n", k, k);
        fprintf(file, "  when c%u then new(n%u) = n%u + 1 endwhen\n", k, k, k);
        fprintf(file, "  when not c%u then new(m%u) = m%u + 1 endwhen\n", k, k, k);
    }
    fprintf(file, "end\n");
}

void plan_write(const Plan *plan, FILE *file)
{
    if (plan->is_dymola)
        write_dymola(plan, file);
    else
        write_simplex(plan, file);
}
