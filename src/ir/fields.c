/* The table of fields; see fields.h. */
#include "ir/fields.h"
#include <stddef.h>

#define TERM(Row, field, role)                                                                                         \
    {                                                                                                                  \
        FIELD_TERM, role, offsetof(Row, field), 0, 0                                                                   \
    }
#define ID(Row, field, list)                                                                                           \
    {                                                                                                                  \
        FIELD_ID, list, offsetof(Row, field), 0, 0                                                                     \
    }
#define ID_OR_0(Row, field, list)                                                                                      \
    {                                                                                                                  \
        FIELD_ID_OR_0, list, offsetof(Row, field), 0, 0                                                                \
    }
#define ID_FROM_1(Row, field, list)                                                                                    \
    {                                                                                                                  \
        FIELD_ID_FROM_1, list, offsetof(Row, field), 0, 0                                                              \
    }
#define RANGE(Row, field, count, list)                                                                                 \
    {                                                                                                                  \
        FIELD_RANGE, list, offsetof(Row, field), offsetof(Row, count), sizeof((Row *)NULL)->count                      \
    }

static const Field variables[] = {
    TERM(Variable, binding, TERM_BINDING),   TERM(Variable, start, TERM_START),
    TERM(Variable, nominal, TERM_NOMINAL),   TERM(Variable, min, TERM_MIN),
    TERM(Variable, max, TERM_MAX),           TERM(Variable, fixed, TERM_NOMINAL),
    TERM(Variable, wishes, TERM_NOMINAL),    RANGE(Variable, first_dim, type.rank, LIST_DIMS),
    ID(Variable, owner, LIST_INSTANCES),     ID(Variable, residual, LIST_VARIABLES),
    ID(Variable, origin, LIST_VARIABLES),    ID(Variable, alias, LIST_VARIABLES),
    ID_FROM_1(Variable, clock, LIST_CLOCKS),
};
static const Field dims[] = { TERM(Dim, term, TERM_EXTENT) };
static const Field iterators[] = { TERM(Iterator, lo, TERM_RANGE), TERM(Iterator, step, TERM_RANGE),
                                   TERM(Iterator, hi, TERM_RANGE) };
static const Field domains[] = { RANGE(Domain, first, n, LIST_ITERATORS) };
static const Field equations[] = {
    ID_OR_0(Equation, domain, LIST_DOMAINS),
    TERM(Equation, lhs, TERM_LEFT),
    TERM(Equation, rhs, TERM_RIGHT),
    ID_OR_0(Equation, body, LIST_STATEMENTS),
    ID(Equation, region, LIST_REGIONS),
    ID_FROM_1(Equation, when, LIST_TRANSITIONS),
    ID_FROM_1(Equation, clock, LIST_CLOCKS),
    ID(Equation, owner, LIST_INSTANCES),
    ID(Equation, origin.parent, LIST_EQUATIONS),
    RANGE(Equation, origin.first_occurrence, origin.n_occurrences, LIST_OCCURRENCES),
};
static const Field regions[] = {
    RANGE(Region, first_condition, n_conditions, LIST_CONDITIONS),
    ID(Region, parent, LIST_REGIONS),
    ID(Region, selector, LIST_VARIABLES),
    ID(Region, owner, LIST_INSTANCES),
};
static const Field conditions[] = { { FIELD_TERM, TERM_CONDITION, 0, 0, 0 } };
/* object is an id as the trigger says: see walk.c and compose.c. */
static const Field transitions[] = {
    ID_OR_0(Transition, domain, LIST_DOMAINS),
    RANGE(Transition, first_condition, n_conditions, LIST_CONDITIONS),
    RANGE(Transition, first_assignment, n_assignments, LIST_ASSIGNMENTS),
    RANGE(Transition, first_action, n_actions, LIST_ACTIONS),
    ID_OR_0(Transition, body, LIST_STATEMENTS),
    ID(Transition, region, LIST_REGIONS),
    ID(Transition, owner, LIST_INSTANCES),
    ID(Transition, origin.parent, LIST_EQUATIONS),
    RANGE(Transition, origin.first_occurrence, origin.n_occurrences, LIST_OCCURRENCES),
};
static const Field assignments[] = {
    TERM(Assignment, target, TERM_TARGET),
    TERM(Assignment, guard, TERM_GUARD),
    TERM(Assignment, value, TERM_VALUE),
};
static const Field actions[] = {
    TERM(Action, guard, TERM_GUARD),
    TERM(Action, message, TERM_VALUE),
    RANGE(Action, first_arg, n_args, LIST_CONDITIONS),
    ID(Action, channel, LIST_CHANNELS),
};
static const Field relations[] = {
    TERM(Relation, left, TERM_LEFT),
    TERM(Relation, right, TERM_RIGHT),
    TERM(Relation, slope, TERM_COURSE),
    TERM(Relation, flip, TERM_COURSE),
    ID(Relation, region, LIST_REGIONS),
    ID_OR_0(Relation, domain, LIST_DOMAINS),
    ID(Relation, bit, LIST_VARIABLES),
    ID(Relation, owner, LIST_INSTANCES),
    ID(Relation, origin.parent, LIST_EQUATIONS),
    RANGE(Relation, origin.first_occurrence, origin.n_occurrences, LIST_OCCURRENCES),
};
static const Field steps[] = {
    TERM(StepFunction, argument, TERM_ARGUMENT),
    TERM(StepFunction, slope, TERM_COURSE),
    TERM(StepFunction, offset, TERM_COURSE),
    ID(StepFunction, region, LIST_REGIONS),
    ID(StepFunction, value, LIST_VARIABLES),
    ID(StepFunction, owner, LIST_INSTANCES),
    ID(StepFunction, origin.parent, LIST_EQUATIONS),
    RANGE(StepFunction, origin.first_occurrence, origin.n_occurrences, LIST_OCCURRENCES),
};
static const Field jumps[] = {
    TERM(Jump, lhs, TERM_LEFT),
    TERM(Jump, rhs, TERM_RIGHT),
    ID(Jump, rate, LIST_VARIABLES),
    ID(Jump, origin.parent, LIST_EQUATIONS),
    RANGE(Jump, origin.first_occurrence, origin.n_occurrences, LIST_OCCURRENCES),
};
static const Field channels[] = {
    RANGE(Channel, first_field, n_fields, LIST_FIELDS),
    ID(Channel, head, LIST_VARIABLES),
    ID(Channel, owner, LIST_INSTANCES),
};
static const Field occasions[] = { ID(Occasion, count, LIST_VARIABLES), ID(Occasion, owner, LIST_INSTANCES) };
static const Field clocks[] = {
    TERM(Clock, condition, TERM_CONDITION), TERM(Clock, start, TERM_PERIOD),  TERM(Clock, interval, TERM_PERIOD),
    ID(Clock, base, LIST_CLOCKS),           ID(Clock, owner, LIST_INSTANCES),
};
static const Field delays[] = {
    TERM(Delay, input, TERM_INPUT),    TERM(Delay, amount, TERM_PERIOD),  TERM(Delay, max, TERM_PERIOD),
    TERM(Delay, position, TERM_INPUT), TERM(Delay, back, TERM_INPUT),     TERM(Delay, forward, TERM_CONDITION),
    ID(Delay, output, LIST_VARIABLES), ID(Delay, since, LIST_VARIABLES),  ID(Delay, until, LIST_VARIABLES),
    ID(Delay, points, LIST_VARIABLES), ID(Delay, values, LIST_VARIABLES), ID(Delay, owner, LIST_INSTANCES),
};
static const Field foreigns[] = {
    RANGE(Foreign, first_port, n_ports, LIST_FOREIGN_PORTS),
    RANGE(Foreign, first_path, n_paths, LIST_FOREIGN_PATHS),
    ID(Foreign, steps, LIST_VARIABLES),
    ID(Foreign, owner, LIST_INSTANCES),
};
static const Field foreign_ports[] = { ID(ForeignPort, var, LIST_VARIABLES) };
static const Field streams[] = {
    ID(Stream, key, LIST_VARIABLES),
    ID(Stream, count, LIST_VARIABLES),
    ID(Stream, owner, LIST_INSTANCES),
};
static const Field fields[] = { { FIELD_ID, LIST_VARIABLES, 0, 0, 0 } };
static const Field statements[] = {
    TERM(Statement, target, TERM_TARGET),       TERM(Statement, value, TERM_VALUE),
    TERM(Statement, message, TERM_VALUE),       ID_OR_0(Statement, domain, LIST_DOMAINS),
    ID_OR_0(Statement, inner, LIST_STATEMENTS), ID_OR_0(Statement, otherwise, LIST_STATEMENTS),
    ID_OR_0(Statement, next, LIST_STATEMENTS),  ID_FROM_1(Statement, action, LIST_ACTIONS),
};
static const Field assertions[] = {
    ID_OR_0(Assertion, domain, LIST_DOMAINS), TERM(Assertion, condition, TERM_CONDITION),
    TERM(Assertion, message, TERM_VALUE),     TERM(Assertion, warns, TERM_GUARD),
    ID(Assertion, region, LIST_REGIONS),      ID(Assertion, owner, LIST_INSTANCES),
};
static const Field tasks[] = {
    TERM(Task, value, TERM_VALUE),
    ID(Task, ref.var, LIST_VARIABLES),
};
static const Field instances[] = { ID(Instance, parent, LIST_INSTANCES) };
static const Field ports[] = {
    RANGE(Port, first_member, n_members, LIST_MEMBERS),
    ID(Port, owner, LIST_INSTANCES),
};
static const Field members[] = { ID(PortMember, var, LIST_VARIABLES), ID_FROM_1(PortMember, port, LIST_PORTS) };
static const Field connections[] = {
    ID_OR_0(Connection, domain, LIST_DOMAINS),
    RANGE(Connection, index_a.first, index_a.n, LIST_CONDITIONS),
    RANGE(Connection, index_b.first, index_b.n, LIST_CONDITIONS),
    ID(Connection, from, LIST_VARIABLES),
    ID(Connection, to, LIST_VARIABLES),
    ID(Connection, port_a, LIST_PORTS),
    ID(Connection, port_b, LIST_PORTS),
};
static const Field anchors[] = { ID(Anchor, port_a, LIST_PORTS), ID(Anchor, port_b, LIST_PORTS) };

#define AT(list)         .at = offsetof(Model, list), .row_size = sizeof *((Model *)NULL)->list.at
#define FIELDS(list)     .n_fields = sizeof(list) / sizeof(list)[0], .fields = (list)
#define SPAN(Row, field) .span_at = offsetof(Row, field)

const ListFields model_lists[LIST_COUNT] = {
    [LIST_VARIABLES] = { AT(variables), FIELDS(variables), SPAN(Variable, span) },
    [LIST_DIMS] = { AT(dims), FIELDS(dims), .span_at = NO_SPAN, .is_part = true },
    [LIST_ITERATORS] = { AT(iterators), FIELDS(iterators), .span_at = NO_SPAN, .is_part = true },
    [LIST_DOMAINS] = { AT(domains), FIELDS(domains), .span_at = NO_SPAN, .is_part = true, .n_shared = 1 },
    [LIST_EQUATIONS] = { AT(equations), FIELDS(equations), SPAN(Equation, origin.span) },
    [LIST_REGIONS] = { AT(regions), FIELDS(regions), SPAN(Region, span) },
    [LIST_CONDITIONS] = { AT(conditions), FIELDS(conditions), .span_at = NO_SPAN, .is_part = true },
    [LIST_TRANSITIONS] = { AT(transitions), FIELDS(transitions), SPAN(Transition, origin.span) },
    [LIST_ASSIGNMENTS] = { AT(assignments), FIELDS(assignments), SPAN(Assignment, span), .is_part = true },
    [LIST_ACTIONS] = { AT(actions), FIELDS(actions), SPAN(Action, span), .is_part = true },
    [LIST_RELATIONS] = { AT(relations), FIELDS(relations), SPAN(Relation, origin.span) },
    [LIST_STEPS] = { AT(steps), FIELDS(steps), SPAN(StepFunction, origin.span) },
    [LIST_STATE_SETS] = { AT(state_sets), SPAN(StateSet, span) }, /* arrays of their own: see walk.c */
    [LIST_JUMPS] = { AT(jumps), FIELDS(jumps), SPAN(Jump, origin.span) },
    [LIST_CHANNELS] = { AT(channels), FIELDS(channels), SPAN(Channel, span) },
    [LIST_OCCASIONS] = { AT(occasions), FIELDS(occasions), SPAN(Occasion, span) },
    [LIST_CLOCKS] = { AT(clocks), FIELDS(clocks), SPAN(Clock, span) },
    [LIST_DELAYS] = { AT(delays), FIELDS(delays), SPAN(Delay, span) },
    [LIST_FOREIGNS] = { AT(foreigns), FIELDS(foreigns), SPAN(Foreign, span) },
    [LIST_FOREIGN_PORTS] = { AT(foreign_ports), FIELDS(foreign_ports), .span_at = NO_SPAN, .is_part = true },
    [LIST_FOREIGN_PATHS] = { AT(foreign_paths), .span_at = NO_SPAN, .is_part = true },
    [LIST_STREAMS] = { AT(streams), FIELDS(streams), SPAN(Stream, span) },
    [LIST_FIELDS] = { AT(fields), FIELDS(fields), .span_at = NO_SPAN, .is_part = true },
    [LIST_STATEMENTS] = { AT(statements), FIELDS(statements), SPAN(Statement, span), .is_part = true, .n_shared = 1 },
    [LIST_ASSERTIONS] = { AT(assertions), FIELDS(assertions), SPAN(Assertion, span) },
    [LIST_TASKS] = { AT(tasks), FIELDS(tasks), SPAN(Task, span) },
    [LIST_INSTANCES] = { AT(instances), FIELDS(instances), SPAN(Instance, span) },
    [LIST_PORTS] = { AT(ports), FIELDS(ports), SPAN(Port, span) },
    [LIST_MEMBERS] = { AT(members), FIELDS(members), .span_at = NO_SPAN, .is_part = true },
    [LIST_CONNECTIONS] = { AT(connections), FIELDS(connections), SPAN(Connection, span) },
    [LIST_ANCHORS] = { AT(anchors), FIELDS(anchors), SPAN(Anchor, span) },
    [LIST_OCCURRENCES] = { AT(occurrences), .span_at = NO_SPAN, .is_part = true },
};
