/* Models that only a mistake of Koine could make: verify names the mistake and does not follow the broken id.
 * Mistakes that users can make are in errors/v*.ir, see test_text.c. */
#include "text_test.h"

static const char good[] = "koine-ir 1\n"
                           "model M\n"
                           "instance a A\n"
                           "param p Real = 1.0\n"
                           "var x Real continuous der start p\n"
                           "var y Real[2] continuous\n"
                           "var b Boolean discrete\n"
                           "var s Real discrete next\n"
                           "var s2 Real discrete pulse\n"
                           "var y2 Real continuous\n"
                           "var n Integer discrete foreign start 1\n"
                           "port q Q (x / s)\n"
                           "channel c capacity 3 (s2)\n"
                           "clock k1 sub k1 2\n"
                           "stream g key n\n"
                           "function f\n"
                           "  input u Real\n"
                           "  output v Real\n"
                           "  begin\n"
                           "    v := u\n"
                           "  end\n"
                           "end f\n"
                           "eq e1 der(x) := f(x) + 1.0\n"
                           "eq e2 for i in 1:2: y[i] = x\n"
                           "algorithm al\n"
                           "  b := x > 1.0\n"
                           "end al\n"
                           "region r1 structural\n"
                           "case p > 0.0 :\n"
                           "  region r2 structural\n"
                           "  case p > 1.0 :\n"
                           "  end r2\n"
                           "else :\n"
                           "end r1\n"
                           "trans t1 level next set when b :\n"
                           "  if b then next(s) := x\n"
                           "  send c (x)\n"
                           "end t1\n"
                           "trans t2 tick k1 next set :\n"
                           "end t2\n"
                           "delay d y2 of x by p\n"
                           "relation k1 x > p time slope 1.0 flip 1.0\n"
                           "stepfn s1 floor(x) time slope 1.0 offset 0.0\n"
                           "stateset z1 column weight 1.0 (x) column weight 1.0 (y2) row 1 (1 x, 2 1.0) level (x n)\n"
                           "assert a1 b \"text\"\n"
                           "connect x s\n"
                           "connect q q\n"
                           "end M\n";

typedef void (*Break)(Model *model);

static void set_owner(Model *m)
{
    m->variables.at[0].owner.index = 99;
}
static void set_parent(Model *m)
{
    m->instances.at[1].parent.index = 1;
}
static void set_top(Model *m)
{
    m->instances.at[0].parent.index = 1;
}
static void set_variability(Model *m)
{
    m->variables.at[0].variability = 77;
}
static void set_definition(Model *m)
{
    m->variables.at[0].definition = 77;
}
static void set_type(Model *m)
{
    m->variables.at[0].type.kind = 9;
}
static void set_enumeration(Model *m)
{
    m->variables.at[0].type = enum_type(3);
}
static void set_origin(Model *m)
{
    m->variables.at[0].origin.index = 1000;
}
static void set_alias(Model *m)
{
    m->variables.at[1].alias.index = 1000;
}
static void set_ring(Model *m)
{
    m->variables.at[1].alias.index = 2;
    m->variables.at[2].alias.index = 1;
}
static void set_dim(Model *m)
{
    uint32_t k = 0;
    while (m->variables.at[k].type.rank == 0)
        k++;
    m->variables.at[k].first_dim = 7;
}
static void set_rank(Model *m)
{
    m->variables.at[m->refs.at[0].var.index].type.rank = 1;
}
static void set_start(Model *m)
{
    m->variables.at[1].start = term_boolean(m, true);
}
static void set_span(Model *m)
{
    m->variables.at[1].span = (Span){ 55, 0, 1 };
}
static void set_span_end(Model *m)
{
    m->variables.at[1].span = (Span){ 0, 0, 100000 };
}
static void set_ref(Model *m)
{
    m->refs.at[0].var.index = 1000;
}
static void set_ref_kind(Model *m)
{
    m->refs.at[0].kind = 200;
}
static void set_first_ref(Model *m)
{
    m->equations.at[0].rhs.first_ref = m->refs.n;
}
static void set_side(Model *m)
{
    m->equations.at[1].rhs = term_boolean(m, true);
}
static void set_no_side(Model *m)
{
    m->equations.at[1].rhs = TERM_NONE;
}
static void set_target(Model *m)
{
    m->equations.at[0].lhs = term_real(m, 1.0);
}
static void set_domain(Model *m)
{
    m->equations.at[1].domain.index = 50;
}
static void set_loop(Model *m)
{
    m->equations.at[1].domain.index = 0;
}
static void set_region(Model *m)
{
    m->equations.at[1].region.index = 50;
}
static void set_branch(Model *m)
{
    m->equations.at[1].region.index = 0;
    m->equations.at[1].branch = 3;
}
static void set_body(Model *m)
{
    m->equations.at[2].body = 500;
}
static void set_kind(Model *m)
{
    m->equations.at[2].kind = 50;
}
static void set_statement(Model *m)
{
    m->statements.at[1].next = 500;
}
static void set_statement_kind(Model *m)
{
    m->statements.at[1].kind = 50;
}
static void set_statement_target(Model *m)
{
    m->statements.at[1].target = TERM_NONE;
}
static void set_parent_equation(Model *m)
{
    m->equations.at[0].origin.parent.index = 50;
}
static void set_occurrences(Model *m)
{
    m->equations.at[0].origin.n_occurrences = 50;
}
static void set_region_ring(Model *m)
{
    m->regions.at[0].parent.index = 1;
    m->regions.at[0].parent_branch = 1;
}
static void set_condition(Model *m)
{
    m->conditions.at[m->regions.at[0].first_condition] = term_real(m, 1.0);
}
static void set_no_condition(Model *m)
{
    m->transitions.at[0].n_conditions = 0;
}
static void set_conditions(Model *m)
{
    m->transitions.at[0].first_condition = 500;
}
static void set_guard(Model *m)
{
    m->assignments.at[0].guard = term_real(m, 1.0);
}
static void set_value(Model *m)
{
    m->assignments.at[0].value = term_boolean(m, true);
}
static void set_assignments(Model *m)
{
    m->transitions.at[0].n_assignments = 50;
}
static void set_actions(Model *m)
{
    m->transitions.at[0].n_actions = 50;
}
static void set_channel(Model *m)
{
    m->actions.at[0].channel = 50;
}
static void set_action(Model *m)
{
    m->actions.at[0].kind = 50;
}
static void set_trigger(Model *m)
{
    m->transitions.at[0].trigger = 50;
}
static void set_clock(Model *m)
{
    m->transitions.at[1].object = 50;
}
static void set_group(Model *m)
{
    m->transitions.at[1].group = 50;
}
static void set_base(Model *m)
{
    m->clocks.at[0].base = 50;
}
static void set_ratio(Model *m)
{
    m->clocks.at[0].denominator = 0;
}
static void set_clock_of_variable(Model *m)
{
    m->variables.at[0].clock = 50;
}
static void set_clock_of_equation(Model *m)
{
    m->equations.at[0].clock = 50;
}
static void set_method(Model *m)
{
    m->clocks.at[0].method = 50;
}
static void set_condition_of_clock(Model *m)
{
    m->clocks.at[0].condition = term_real(m, 1);
}
static void set_output(Model *m)
{
    m->delays.at[0].output.index = 50;
}
static void set_amount(Model *m)
{
    m->delays.at[0].amount = TERM_NONE;
}
static void set_flip(Model *m)
{
    m->relations.at[0].flip = TERM_NONE;
}
static void set_bit(Model *m)
{
    m->relations.at[0].bit.index = 50;
}
static void set_relation(Model *m)
{
    m->relations.at[0].right = term_boolean(m, true);
}
static void set_step(Model *m)
{
    m->steps.at[0].argument = TERM_NONE;
}
static void set_assertion(Model *m)
{
    m->assertions.at[0].condition = term_real(m, 1.0);
}
static void set_field(Model *m)
{
    m->fields.at[0].index = 500;
}
static void set_fields(Model *m)
{
    m->functions.at[0]->n_inputs = 500;
}
static void set_call(Model *m)
{
    m->functions.at[0]->n_inputs = 0;
    m->functions.at[0]->n_outputs = 2;
}
static void set_member(Model *m)
{
    m->members.at[0].var.index = 500;
}
static void set_role(Model *m)
{
    m->members.at[0].role = 50;
}
static void set_members(Model *m)
{
    m->ports.at[0].n_members = 50;
}
static void set_from(Model *m)
{
    m->connections.at[0].from.index = 500;
}
static void set_port(Model *m)
{
    m->connections.at[1].port_b = 500;
}
static void set_range(Model *m)
{
    m->iterators.at[0].hi = TERM_NONE;
}
static void set_range_type(Model *m)
{
    m->iterators.at[0].hi = term_real(m, 1.0);
}

static void set_candidate(Model *m)
{
    ((VarId *)m->state_sets.at[0].candidate)[0].index = 500;
}
static void set_states(Model *m)
{
    ((uint32_t *)m->state_sets.at[0].n_states)[0] = 0;
}
static void set_choice(Model *m)
{
    const Term start = term_integer(m, 7);
    model_var(m, m->state_sets.at[0].choice[0])->start = start;
}
static void set_depth(Model *m)
{
    ((uint32_t *)m->state_sets.at[0].depth)[0] = 9;
}

static void broken_models_are_named(void **state)
{
    (void)state;
    static const Break breaks[] = {
        set_owner,
        set_parent,
        set_top,
        set_variability,
        set_definition,
        set_type,
        set_enumeration,
        set_origin,
        set_alias,
        set_ring,
        set_dim,
        set_rank,
        set_start,
        set_span,
        set_span_end,
        set_ref,
        set_ref_kind,
        set_first_ref,
        set_side,
        set_no_side,
        set_target,
        set_domain,
        set_loop,
        set_region,
        set_branch,
        set_body,
        set_kind,
        set_statement,
        set_statement_kind,
        set_statement_target,
        set_parent_equation,
        set_occurrences,
        set_region_ring,
        set_condition,
        set_no_condition,
        set_conditions,
        set_guard,
        set_value,
        set_assignments,
        set_actions,
        set_channel,
        set_action,
        set_trigger,
        set_clock,
        set_group,
        set_base,
        set_ratio,
        set_clock_of_variable,
        set_clock_of_equation,
        set_method,
        set_condition_of_clock,
        set_output,
        set_amount,
        set_flip,
        set_bit,
        set_relation,
        set_step,
        set_assertion,
        set_field,
        set_fields,
        set_call,
        set_member,
        set_role,
        set_members,
        set_from,
        set_port,
        set_range,
        set_range_type,
        set_candidate,
        set_states,
        set_choice,
        set_depth,
    };
    for (uint32_t k = 0; k < sizeof breaks / sizeof *breaks; k++) {
        World w = world_create();
        Model *model = read_text(&w, "good.ir", good, sizeof good - 1);
        if (!model)
            diag_print(w.diag, stderr, (DiagStyle){ 0 });
        assert_non_null(model);
        if (!model_verify(model, w.diag))
            diag_print(w.diag, stderr, (DiagStyle){ 0 });
        assert_int_equal(diag_errors(w.diag), 0);
        breaks[k](model);
        if (model_verify(model, w.diag) || !strstr(diag_json(w.diag, w.arena), "KN2000"))
            fail_msg("mistake %u is not named", k);
        world_destroy(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(broken_models_are_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
