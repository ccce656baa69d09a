/* The reader of the text form: components that Koine does not compute. */
#include "ir/read_reader.h"
#include <math.h>

typedef VEC(ForeignPort) Ports;

/* (u, v = "velocity") */
static bool parse_ports(Reader *r, ForeignRole role, Ports *ports)
{
    if (!reader_expect(r, TOKEN_OPEN, "a '(' before the ports"))
        return false;
    do {
        ForeignPort port = { .role = (uint8_t)role, .name = names_text(r->names, "") };
        if (!reader_parse_variable_name(r, &port.var) ||
            (reader_accept(r, TOKEN_IS) && !reader_parse_string(r, &port.name)))
            return false;
        vec_push(r->arena, ports, port);
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, TOKEN_CLOSE, "',' or ')' after a port");
}

static bool parse_path_end(Reader *r, const Ports *ports, ForeignRole role, uint32_t *place)
{
    VarId var;
    const uint32_t begin = r->token.begin;
    if (!reader_parse_variable_name(r, &var))
        return false;
    for (*place = 0; *place < ports->n; ++*place)
        if (ports->at[*place].role == role && ports->at[*place].var.index == var.index)
            return true;
    return reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin), "this is no %s of the component",
                         role == FOREIGN_OUT ? "output" : "input");
}

/* through ((y, u), (y, v)) */
static bool parse_paths(Reader *r, const Ports *ports, Foreign *f)
{
    f->has_paths = true;
    if (!reader_expect(r, TOKEN_OPEN, "a '(' after through"))
        return false;
    if (reader_accept(r, TOKEN_CLOSE))
        return true;
    do {
        ForeignPath path;
        if (!reader_expect(r, TOKEN_OPEN, "a '(' before an output") ||
            !parse_path_end(r, ports, FOREIGN_OUT, &path.output) ||
            !reader_expect(r, TOKEN_COMMA, "a ',' after the output") ||
            !parse_path_end(r, ports, FOREIGN_IN, &path.input) ||
            !reader_expect(r, TOKEN_CLOSE, "a ')' after the input"))
            return false;
        vec_push(r->arena, &r->model->foreign_paths, path);
        f->n_paths++;
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, TOKEN_CLOSE, "',' or ')' after a pair");
}

static bool parse_step(Reader *r, Foreign *f)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_number(r, &f->step))
        return false;
    return (f->step > 0 && isfinite(f->step)) || reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin),
                                                               "the step of a component is no positive number");
}

static bool parse_attributes(Reader *r, Ports *ports, Foreign *f)
{
    int64_t n_roots;
    for (;;) {
        if (reader_accept_word(r, WORD_ROOTS)) {
            if (!reader_parse_integer(r, 0, LARGEST_LEAF, &n_roots))
                return false;
            f->n_roots = (uint32_t)n_roots;
        } else if (reader_accept_word(r, WORD_LIMIT)) {
            if (!reader_parse_number(r, &f->limit))
                return false;
        } else if (reader_accept_word(r, WORD_STEP)) {
            if (!parse_step(r, f))
                return false;
        } else if (reader_accept_word(r, WORD_THROUGH)) {
            if (!parse_paths(r, ports, f))
                return false;
        } else if (reader_accept_word(r, WORD_APART)) {
            f->is_apart = true;
        } else if (reader_accept_word(r, WORD_LOWERED)) {
            f->is_lowered = true;
        } else {
            return true;
        }
    }
}

/* foreign pump "pump.so" "pump_kind" in (u) out (y) set (k) states (x) roots 1 through ((y, u)) apart limit 2.0 step
 * 0.1 */
bool reader_parse_foreign(Reader *r, uint32_t begin)
{
    static const struct {
        Word word;
        ForeignRole role;
    } lists[] = {
        { WORD_IN, FOREIGN_IN }, { WORD_OUT, FOREIGN_OUT }, { WORD_SET, FOREIGN_SET }, { WORD_STATES, FOREIGN_STATE }
    };
    Foreign f = { .steps = VAR_NONE, .first_path = r->model->foreign_paths.n };
    Ports ports = { 0 };
    Label label;
    if (!reader_parse_new_label(r, &label) || !reader_parse_string(r, &f.file) || !reader_parse_string(r, &f.symbol))
        return false;
    for (uint32_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        if (reader_accept_word(r, lists[k].word) && !parse_ports(r, lists[k].role, &ports))
            return false;
    if (!parse_attributes(r, &ports, &f) || !reader_parse_element_end(r, begin, &f.span))
        return false;
    f.owner = label.owner;
    f.name = reader_stored_name(r, LABEL_FOREIGN, label.name);
    f.first_port = r->model->foreign_ports.n;
    f.n_ports = ports.n;
    for (uint32_t k = 0; k < ports.n; k++)
        vec_push(r->arena, &r->model->foreign_ports, ports.at[k]);
    vec_push(r->arena, &r->model->foreigns, f);
    return true;
}
