/* States with closed forms, in pieces from event to event; and their equations as text. */
#include "corpus.h"
#include <math.h>

/* ---- one piece ---- */
static Wide stiff_course(const Motion *m, Wide t)
{
    const Wide p = m->p[0];
    return (p * p * cosl(t) + p * sinl(t)) / (1 + p * p);
}

static void wheel(const Motion *m, Wide level, Wide dt, const Wide *from, Wide *x)
{
    const Wide factor = expl(m->p[0] * dt), c = cosl(level * dt), s = sinl(level * dt);
    x[0] = factor * (from[0] * c + from[1] * s);
    x[1] = factor * (from[1] * c - from[0] * s);
}

static void in_piece(const Motion *m, const MotionPiece *piece, Wide t, Wide *x)
{
    const Wide from = piece->from, dt = t - from, *const x0 = piece->x, level = m->level[piece->is_on], p = m->p[0];
    switch (m->kind) {
    case MOTION_RELAX:
    case MOTION_DECAY: x[0] = level + (x0[0] - level) * expl(-p * dt); break;
    case MOTION_WHEEL: wheel(m, level, dt, x0, x); break;
    case MOTION_BALL:
        x[0] = x0[0] + (x0[1] - 0.5L * p * dt) * dt;
        x[1] = x0[1] - p * dt;
        break;
    case MOTION_FALL:
        x[0] = x0[0] + (x0[1] + 0.5L * level * dt) * dt;
        x[1] = x0[1] + level * dt;
        break;
    case MOTION_PHASE: x[0] = x0[0] + level * dt; break;
    case MOTION_SWEEP: x[0] = x0[0] + (level + 0.5L * p * (t + from)) * dt; break;
    case MOTION_LOGISTIC: x[0] = 1 / (1 + (1 / x0[0] - 1) * expl(-level * dt)); break;
    case MOTION_DRIVEN: x[0] = x0[0] + level / p * (sinl(p * t + m->p[1]) - sinl(p * from + m->p[1])); break;
    case MOTION_STIFF: x[0] = stiff_course(m, t) + (x0[0] - stiff_course(m, from)) * expl(-p * dt); break;
    case N_MOTION_KINDS: break;
    }
}

void motion_at(const Motion *m, Wide t, Wide *x)
{
    uint32_t low = 0, high = m->n_pieces;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (m->pieces[middle].from <= t)
            low = middle;
        else
            high = middle;
    }
    in_piece(m, &m->pieces[low], t, x);
}

/* ---- from event to event ---- */
/* When the piece ends by itself. */
static Wide own_end(const Motion *m, const MotionPiece *piece)
{
    const Wide *x = piece->x, p = m->p[0];
    if (m->kind == MOTION_RELAX) {
        const Wide level = m->level[piece->is_on], border = m->p[piece->is_on ? 1 : 2];
        return piece->from + logl((x[0] - level) / (border - level)) / p;
    }
    if (m->kind == MOTION_BALL)
        return piece->from + (x[1] + sqrtl(x[1] * x[1] + 2 * p * x[0])) / p;
    return INFINITY;
}

static void end_by_itself(const Motion *m, MotionPiece *piece, Wide t)
{
    in_piece(m, &m->pieces[m->n_pieces - 1], t, piece->x);
    if (m->kind == MOTION_RELAX) {
        piece->is_on = !piece->is_on;
    } else {
        piece->x[0] = 0;
        piece->x[1] *= -(Wide)m->p[1];
    }
}

static void end_by_event(const Motion *m, MotionPiece *piece, const Change *event)
{
    in_piece(m, &m->pieces[m->n_pieces - 1], event->time, piece->x);
    if (m->drive == DRIVE_SWITCH)
        piece->is_on = event->to;
    else if (event->to)
        piece->x[0] = m->factor * piece->x[0] + m->offset;
}

bool motion_make(Plan *plan, Motion *m)
{
    const Comparison *driver = &plan->comparisons[0];
    const bool by_itself = m->kind == MOTION_RELAX || m->kind == MOTION_BALL;
    const bool is_on = m->kind == MOTION_RELAX || (m->drive == DRIVE_SWITCH && driver->at_start);
    uint32_t next = 0;
    m->pieces[0] = (MotionPiece){ 0, { m->start[0], m->start[1] }, is_on };
    for (m->n_pieces = 1; m->n_pieces < MOST_PIECES; m->n_pieces++) {
        MotionPiece *piece = &m->pieces[m->n_pieces];
        *piece = piece[-1];
        if (by_itself) {
            const Wide t = own_end(m, piece);
            if (!(t < plan->stop))
                return true;
            end_by_itself(m, piece, t);
            piece->from = t;
            continue;
        }
        if (m->drive == DRIVE_NONE || next == driver->n_events)
            return true;
        end_by_event(m, piece, &driver->events[next]);
        piece->from = driver->events[next++].time;
    }
    return false;
}

/* ---- texts ---- */
void motion_declare(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    for (uint32_t k = 0; k < m->n_states; k++) {
        fprintf(file, plan->is_dymola ? ", x%u = " : ", x%u (REAL) := ", (unsigned)(m->first_state + k));
        literal_write(m->start[k], file);
    }
    if (m->kind == MOTION_RELAX && plan->is_dymola)
        fprintf(file, ", up%u = true", (unsigned)number);
}

static void write_level(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    if (m->drive != DRIVE_SWITCH && m->kind != MOTION_RELAX) {
        number_write(m->level[0], file);
        return;
    }
    if (!plan->is_dymola) {
        fprintf(file, "Level%u", (unsigned)number);
        return;
    }
    fprintf(file, m->kind == MOTION_RELAX ? "(if up%u then " : "(if c0 then ", (unsigned)number);
    number_write(m->level[1], file);
    fprintf(file, " else ");
    number_write(m->level[0], file);
    fprintf(file, ")");
}

static void begin_derivative(const Plan *plan, uint32_t state, FILE *file)
{
    fprintf(file, plan->is_dymola ? "  der(x%u) = " : "    x%u' := ", (unsigned)state);
}

static void end_derivative(const Plan *plan, FILE *file)
{
    fprintf(file, plan->is_dymola ? "\n" : ";\n");
}

static void write_first(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    const unsigned x = m->first_state, y = x + 1;
    const char *now = plan->is_dymola ? "Time" : "T", *cosine = plan->is_dymola ? "cos" : "COS";
    if (m->kind != MOTION_FALL && m->kind != MOTION_BALL && m->kind != MOTION_STIFF && m->kind != MOTION_WHEEL &&
        m->kind != MOTION_DECAY && m->kind != MOTION_RELAX)
        write_level(plan, m, number, file);
    switch (m->kind) {
    case MOTION_RELAX:
    case MOTION_DECAY:
        number_write(m->p[0], file);
        fprintf(file, "*(");
        write_level(plan, m, number, file);
        fprintf(file, " - x%u)", x);
        break;
    case MOTION_WHEEL:
        number_write(m->p[0], file);
        fprintf(file, "*x%u + ", x);
        write_level(plan, m, number, file);
        fprintf(file, "*x%u", y);
        break;
    case MOTION_FALL:
    case MOTION_BALL: fprintf(file, "x%u", y); break;
    case MOTION_SWEEP:
        fprintf(file, " + %s*", now);
        number_write(m->p[0], file);
        break;
    case MOTION_LOGISTIC: fprintf(file, "*x%u*(1 - x%u)", x, x); break;
    case MOTION_DRIVEN:
        fprintf(file, "*%s(", cosine);
        number_write(m->p[0], file);
        fprintf(file, "*%s + ", now);
        number_write(m->p[1], file);
        fprintf(file, ")");
        break;
    case MOTION_STIFF:
        number_write(m->p[0], file);
        fprintf(file, "*(%s(%s) - x%u)", cosine, now, x);
        break;
    case MOTION_PHASE:
    case N_MOTION_KINDS: break;
    }
}

static void write_second(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    const unsigned x = m->first_state, y = x + 1;
    if (m->kind == MOTION_WHEEL) {
        number_write(m->p[0], file);
        fprintf(file, "*x%u - ", y);
        write_level(plan, m, number, file);
        fprintf(file, "*x%u", x);
    } else if (m->kind == MOTION_BALL) {
        number_write(-m->p[0], file);
    } else {
        write_level(plan, m, number, file);
    }
}

void motion_write(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    begin_derivative(plan, m->first_state, file);
    write_first(plan, m, number, file);
    end_derivative(plan, file);
    if (m->n_states == 1)
        return;
    begin_derivative(plan, m->first_state + 1, file);
    write_second(plan, m, number, file);
    end_derivative(plan, file);
}

static void write_relay(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    const unsigned n = number, x = m->first_state;
    if (plan->is_dymola) {
        fprintf(file, "  new(up%u) = up%u and x%u < ", n, n, x);
        number_write(m->p[1], file);
        fprintf(file, " or not up%u and x%u <= ", n, x);
        number_write(m->p[2], file);
        fprintf(file, "\n");
        return;
    }
    for (int k = 0; k < 2; k++) {
        fprintf(file, k ? "  WHENEVER Up%u AND (x%u >= " : "  WHENEVER NOT Up%u AND (x%u <= ", n, x);
        number_write(m->p[k ? 1 : 2], file);
        fprintf(file, ") DO Up%u^ := %s; END\n", n, k ? "FALSE" : "TRUE");
    }
}

static void write_bounce(const Plan *plan, const Motion *m, FILE *file)
{
    const unsigned x = m->first_state, y = x + 1;
    fprintf(file,
            plan->is_dymola ? "  when x%u <= 0 then init(x%u) = -" : "  WHENEVER (x%u <= 0) AND (x%u < 0) DO x%u^ := -",
            x, y, y);
    number_write(m->p[1], file);
    fprintf(file, plan->is_dymola ? "*x%u endwhen\n" : "*x%u; END\n", y);
}

static void write_choice(const Motion *m, uint32_t number, const char *condition, FILE *file)
{
    fprintf(file, "  IF %s DO Level%u := ", condition, (unsigned)number);
    number_write(m->level[1], file);
    fprintf(file, "; END ELSE DO Level%u := ", (unsigned)number);
    number_write(m->level[0], file);
    fprintf(file, "; END\n");
}

void motion_write_events(const Plan *plan, const Motion *m, uint32_t number, FILE *file)
{
    char up[20];
    snprintf(up, sizeof up, "Up%u", (unsigned)number);
    if (!plan->is_dymola && (m->kind == MOTION_RELAX || m->drive == DRIVE_SWITCH))
        write_choice(m, number, m->kind == MOTION_RELAX ? up : "c0", file);
    if (m->kind == MOTION_RELAX)
        write_relay(plan, m, number, file);
    if (m->kind == MOTION_BALL)
        write_bounce(plan, m, file);
}
