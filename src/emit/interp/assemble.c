/* Expressions to instructions, with temporaries in registers that are free again after the last use.
 * See assemble.h. */
#include "emit/interp/assembler.h"
#include "base/bug.h"
#include "emit/interp/routine.h"
#include "emit/routines.h"
#include "emit/texts.h"

double table_value(const KoineSlot *address, int64_t interval, double argument)
{
    return koine_lookup((const double *)(intptr_t)address->i, interval, argument);
}

Assembler *assembler_create(Arena *scratch, const Placement *placement, Arena *keep, const Code *code,
                            const LoadedRoutine *routines)
{
    Assembler *as = NEW(scratch, Assembler);
    as->arena = scratch;
    as->keep = keep;
    map_init(&as->tables.numbers, scratch, 0);
    as->placement = placement;
    as->code = code;
    as->routines = routines;
    return as;
}

static void begin(Assembler *as, CodeForm form)
{
    enum { SMALL_MAP = 16 }; /* what map_init gives at least: cleared, not made anew */
    as->form = form;
    as->distances = form == FORM_DIRECT   ? execute_direct(NULL, NULL, NULL)
                    : form == FORM_BY_ROW ? execute_by_row(NULL, NULL, NULL, NULL)
                                          : NULL;
    as->words.n = as->constants.values.n = as->registers.free.n = as->broadcasts.n = 0;
    as->registers.n = 0;
    if (as->constants.numbers.capacity != SMALL_MAP)
        map_init(&as->constants.numbers, as->arena, 0);
    else {
        memset(as->constants.numbers.entries, 0, SMALL_MAP * sizeof(MapEntry));
        as->constants.numbers.n = 0;
    }
}

static void begin_kernel(Assembler *as, const Kernel *kernel)
{
    const uint32_t n = as->placement->nodes.n;
    as->kernel = kernel;
    vec_reserve(as->arena, &as->nodes.place, n);
    vec_reserve(as->arena, &as->nodes.is_done, n);
    vec_reserve(as->arena, &as->nodes.is_uniform, n);
    vec_reserve(as->arena, &as->nodes.is_frontier, n);
    vec_reserve(as->arena, &as->nodes.remaining, n);
    memset(as->nodes.is_done.at, 0, n);
    for (uint32_t i = 0; i < n; i++)
        as->nodes.remaining.at[i] = as->placement->nodes.at[i].uses;
}

/* ---- words ---- */
static uint32_t word_of(const Assembler *as, Operand operand)
{
    return (uint32_t)operand.index | (as->form == FORM_VECTOR && !operand.is_register ? COLUMN_BIT : 0);
}

static void instruction(Assembler *as, uint32_t opcode, uint32_t n, const Operand *operands)
{
    uint32_t variant = 0;
    for (uint32_t k = 0; k < n; k++)
        variant |= (uint32_t)operands[k].is_register << k;
    vec_push(as->arena, &as->words, as->form == FORM_VECTOR ? opcode : (uint32_t)as->distances[opcode + variant]);
    for (uint32_t k = 0; k < n; k++)
        vec_push(as->arena, &as->words, word_of(as, operands[k]));
}

static void move(Assembler *as, Operand to, Operand from)
{
    const Operand operands[] = { to, from };
    instruction(as, OPCODE_MOVE, 2, operands);
}

static Operand constant_slot(Assembler *as, KoineSlot value)
{
    uint32_t number;
    if (!map_get(&as->constants.numbers, (uint64_t)value.i, &number)) {
        number = as->constants.values.n;
        vec_push(as->arena, &as->constants.values, value);
        map_put(&as->constants.numbers, (uint64_t)value.i, number);
    }
    return (Operand){ true, -1 - (int32_t)number };
}

static Operand constant(Assembler *as, const Expr *e)
{
    KoineSlot value = { .i = e->u.integer };
    if (e->kind == EXPR_REAL)
        value.r = e->u.real;
    else if (e->kind == EXPR_STRING)
        value.i = literal_number(as->code->literals, e->u.text);
    return constant_slot(as, value);
}

/* The address of a table's numbers, in memory that lives as long as the code. */
static Operand table_constant(Assembler *as, const Expr *e)
{
    const uint32_t key = e->u.table->index * TABLE_ORDERS + e->op;
    uint32_t index;
    if (!map_get(&as->tables.numbers, key, &index)) {
        const uint32_t n = table_data_size(e->u.table);
        double *copy = NEW_ARRAY(as->keep, double, n);
        memcpy(copy, e->u.table->data[e->op], n * sizeof *copy);
        index = as->tables.copies.n;
        vec_push(as->arena, &as->tables.copies, copy);
        map_put(&as->tables.numbers, key, index);
    }
    return constant_slot(as, (KoineSlot){ .i = (int64_t)(intptr_t)as->tables.copies.at[index] });
}

static Operand new_register(Assembler *as)
{
    const uint32_t number = as->registers.free.n ? vec_pop(&as->registers.free) : as->registers.n++;
    return (Operand){ true, (int32_t)number };
}

static void release(Assembler *as, uint32_t number)
{
    const Operand place = as->nodes.place.at[number];
    if (--as->nodes.remaining.at[number] == 0 && as->nodes.is_done.at[number] && place.is_register && place.index >= 0)
        vec_push(as->arena, &as->registers.free, (uint32_t)place.index);
}

/* ---- operations ---- */
static bool is_real_sum_or_product(const Expr *e)
{
    return e->kind == EXPR_CALL && e->type.kind == TYPE_REAL && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL);
}

/* Whether a node is a sum or product with no other use, so that it may be part of its user's instruction. */
static bool is_fusible(const Assembler *as, const Expr *e)
{
    const uint32_t number = placement_number(as->placement, e);
    const PlacedNode *node = &as->placement->nodes.at[number];
    return is_real_sum_or_product(node->expr) && node->uses == 1 && !as->nodes.is_done.at[number];
}

/* Several nodes as one instruction. */
typedef struct {
    Opcode opcode;
    uint32_t n; /* 0: none fits */
    const Expr *args[4];
} Fusion;

/* (a op b)*c + d, (a op b)*c - d and a*b + c*d, a*b - c*d; e is the sum or difference. */
static Fusion fuse_three(const Assembler *as, const Expr *e)
{
    static const Opcode chains[2][3] = { { OPCODE_ADD_MUL_ADD, OPCODE_SUB_MUL_ADD, OPCODE_MUL_MUL_ADD },
                                         { OPCODE_ADD_MUL_SUB, OPCODE_SUB_MUL_SUB, OPCODE_MUL_MUL_SUB } };
    const Expr *product[2] = { NULL, NULL };
    for (int k = 0; k < 2; k++)
        if (is_fusible(as, e->args[k]) && placement_value(as->placement, e->args[k])->op == OP_MUL)
            product[k] = placement_value(as->placement, e->args[k]);
    if (product[0] && product[1])
        return (Fusion){ e->op == OP_ADD ? OPCODE_MUL_PLUS_MUL : OPCODE_MUL_MINUS_MUL,
                         4,
                         { product[0]->args[0], product[0]->args[1], product[1]->args[0], product[1]->args[1] } };
    const int side = product[0] ? 0 : 1;
    if (!product[side] || (side == 1 && e->op == OP_SUB))
        return (Fusion){ .n = 0 };
    for (int k = 0; k < 2; k++)
        if (is_fusible(as, product[side]->args[k])) {
            const Expr *inner = placement_value(as->placement, product[side]->args[k]);
            return (Fusion){ chains[e->op - OP_ADD][inner->op - OP_ADD],
                             4,
                             { inner->args[0], inner->args[1], product[side]->args[1 - k], e->args[1 - side] } };
        }
    return (Fusion){ .n = 0 };
}

/* (a op b) op c, c - (a op b). A product is taken in preference: a sum of n products is then n instructions. */
static Fusion fuse_two(const Assembler *as, const Expr *e)
{
    static const Opcode from_left[3][3] = { { OPCODE_ADD_ADD, OPCODE_SUB_ADD, OPCODE_MUL_ADD },
                                            { OPCODE_ADD_SUB, OPCODE_SUB_SUB, OPCODE_MUL_SUB },
                                            { OPCODE_ADD_MUL, OPCODE_SUB_MUL, OPCODE_MUL_MUL } };
    static const Opcode from_right[3] = { OPCODE_FROM_ADD, OPCODE_FROM_SUB, OPCODE_FROM_MUL };
    int side = -1;
    for (int k = 0; k < 2; k++)
        if (is_fusible(as, e->args[k]) && (side < 0 || placement_value(as->placement, e->args[k])->op == OP_MUL))
            side = k;
    if (side < 0)
        return (Fusion){ .n = 0 };
    const Expr *inner = placement_value(as->placement, e->args[side]);
    const int which = inner->op - OP_ADD;
    return (Fusion){ e->op == OP_SUB && side == 1 ? from_right[which] : from_left[e->op - OP_ADD][which],
                     3,
                     { inner->args[0], inner->args[1], e->args[1 - side] } };
}

static Fusion fuse(const Assembler *as, const Expr *e)
{
    Fusion fusion = { .n = 0 };
    if (is_real_sum_or_product(e) && e->op != OP_MUL)
        fusion = fuse_three(as, e);
    if (is_real_sum_or_product(e) && fusion.n == 0)
        fusion = fuse_two(as, e);
    return fusion;
}

/* ---- nodes ---- */
static Operand value_of(Assembler *as, uint32_t number);

/* Values of the sources, deepest first (it needs the most registers), then the instruction. */
static Operand operation(Assembler *as, Opcode opcode, uint32_t n, const Expr *const *args, const Operand *wanted)
{
    Operand operands[5] = { { 0 } };
    uint32_t numbers[4], order[4] = { 0, 1, 2, 3 };
    for (uint32_t k = 0; k < n; k++)
        numbers[k] = placement_number(as->placement, args[k]);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && args[order[j]]->depth > args[order[j - 1]]->depth; j--) {
            const uint32_t other = order[j];
            order[j] = order[j - 1];
            order[j - 1] = other;
        }
    for (uint32_t k = 0; k < n; k++)
        operands[1 + order[k]] = value_of(as, numbers[order[k]]);
    /* a vector instruction must not overwrite its sources, a scalar one may */
    if (as->form == FORM_VECTOR)
        operands[0] = wanted ? *wanted : new_register(as);
    for (uint32_t k = 0; k < n; k++)
        release(as, numbers[k]);
    if (as->form != FORM_VECTOR)
        operands[0] = wanted ? *wanted : new_register(as);
    instruction(as, opcode, n + 1, operands);
    return operands[0];
}

static Operand compute_call(Assembler *as, const Expr *e, const Operand *wanted)
{
    const Fusion fusion = fuse(as, e);
    if (fusion.n)
        return operation(as, fusion.opcode, fusion.n, fusion.args, wanted);
    if (e->op == OP_GT || e->op == OP_GE) {
        const Expr *const args[] = { e->args[1], e->args[0] };
        return operation(as, opcode_of(e), 2, args, wanted);
    }
    return operation(as, opcode_of(e), e->n_args, e->args, wanted);
}

static Operand compute_table(Assembler *as, const Expr *e, const Operand *wanted)
{
    const bool is_vector = as->form == FORM_VECTOR;
    Operand operands[4] = { { 0 } };
    for (uint32_t k = 0; k < e->n_args; k++)
        operands[1 + k] = value_of(as, placement_number(as->placement, e->args[k]));
    if (e->n_args == 1)
        operands[2] = is_vector ? (Operand){ 0 } : constant_slot(as, (KoineSlot){ .i = -1 });
    operands[3] = table_constant(as, e);
    if (is_vector) /* as in operation() */
        operands[0] = wanted ? *wanted : new_register(as);
    for (uint32_t k = 0; k < e->n_args; k++)
        release(as, placement_number(as->placement, e->args[k]));
    if (!is_vector) {
        operands[0] = wanted ? *wanted : new_register(as);
        instruction(as, OPCODE_TABLE, 4, operands);
        return operands[0];
    }
    const uint32_t words[] = { VECTOR_TABLE, word_of(as, operands[0]), word_of(as, operands[1]),
                               e->n_args == 1 ? SEARCHED_WORD : word_of(as, operands[2]),
                               (uint32_t)(-1 - operands[3].index) };
    for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
        vec_push(as->arena, &as->words, words[k]);
    return operands[0];
}

static Operand compute_into_new(Assembler *as, uint32_t opcode, Operand source)
{
    const Operand operands[] = { new_register(as), source };
    instruction(as, opcode, 2, operands);
    return operands[0];
}

/* Registers side by side that stay taken, because an address leads to them. */
static uint32_t take_registers(Assembler *as, uint32_t n)
{
    const uint32_t first = as->registers.n;
    as->registers.n += n;
    return first;
}

/* Values of the arguments in registers side by side. */
static void compute_args(Assembler *as, const Expr *e, uint32_t first)
{
    for (uint32_t k = 0; k < e->n_args; k++) {
        const uint32_t number = placement_number(as->placement, e->args[k]);
        move(as, (Operand){ true, (int32_t)(first + k) }, value_of(as, number));
        release(as, number);
    }
}

static Operand to_wanted(Assembler *as, Operand result, const Operand *wanted)
{
    if (!wanted)
        return result;
    move(as, *wanted, result);
    vec_push(as->arena, &as->registers.free, (uint32_t)result.index);
    return *wanted;
}

/* The value of an array is its address. */
static Operand compute_braces(Assembler *as, const Expr *e, const Operand *wanted)
{
    const uint32_t first = take_registers(as, e->n_args);
    compute_args(as, e, first);
    return to_wanted(as, compute_into_new(as, OPCODE_ADDRESS, (Operand){ true, (int32_t)first }), wanted);
}

/* A result of a call whose results are all known, or an array among them. */
static Operand compute_part(Assembler *as, const Expr *e, const Operand *wanted)
{
    const uint32_t number = placement_number(as->placement, e->args[0]);
    Operand operands[] = { { 0 }, value_of(as, number), constant_slot(as, (KoineSlot){ .i = e->element }) };
    release(as, number);
    operands[0] = wanted ? *wanted : new_register(as);
    instruction(as, e->type.rank > 0 ? OPCODE_AT_ADDRESS : OPCODE_AT, 3, operands);
    return operands[0];
}

static Operand compute_element(Assembler *as, const Expr *e, const Operand *wanted)
{
    uint32_t operands[LOAD_OPERANDS], n = 5;
    const uint32_t to = take_registers(as, 1);
    Opcode opcode = element_load(as->site.routine, e, to, operands, &n);
    if (opcode == OPCODE_COUNT) {
        const RoutineField *field = &as->site.routine->fields[e->result];
        const uint32_t first = take_registers(as, e->n_args), head[] = { to, first, 0, 0, as->site.number };
        compute_args(as, e, first);
        memcpy(operands, head, sizeof head);
        memcpy(operands + 2, &field, sizeof field);
        opcode = OPCODE_FIELD;
        for (uint32_t k = 0; k < e->n_args; k++)
            vec_push(as->arena, &as->registers.free, first + k);
        n = 5;
    }
    assemble_raw(as, opcode, n, operands);
    return to_wanted(as, (Operand){ true, (int32_t)to }, wanted);
}

/* A call gives all results of the function; if that is more than one number its value is their address. */
static Operand compute_function(Assembler *as, const Expr *e, const Operand *wanted)
{
    if (is_part(e))
        return compute_part(as, e, wanted);
    if (is_element(e))
        return compute_element(as, e, wanted);
    const LoadedRoutine *routine = &as->routines[routine_number(as->code, e->u.function)];
    const uint32_t first = take_registers(as, e->n_args), to = take_registers(as, function_width(e->u.function));
    const Operand result = { true, (int32_t)to };
    uint32_t operands[] = { to, first, 0, 0, as->site.routine ? 0 : as->code->calls };
    compute_args(as, e, first);
    memcpy(operands + 2, &routine, sizeof routine);
    assemble_raw(as, OPCODE_CALL, 5, operands);
    for (uint32_t k = 0; k < e->n_args; k++)
        vec_push(as->arena, &as->registers.free, first + k);
    return to_wanted(as, e->type.rank > 0 ? compute_into_new(as, OPCODE_ADDRESS, result) : result, wanted);
}

static Operand compute_text(Assembler *as, const Expr *e, const Operand *wanted)
{
    const bool is_inner = as->site.routine != NULL;
    const uint32_t first = take_registers(as, e->n_args + 1u), to = first + e->n_args;
    const uint32_t operands[] = { to, first, text_operation(e), is_inner ? 0 : as->code->calls,
                                  is_inner ? as->site.number | ROUTINE_NOT_FINITE : 0 };
    compute_args(as, e, first);
    assemble_raw(as, OPCODE_TEXT, 5, operands);
    for (uint32_t k = 0; k < e->n_args; k++)
        vec_push(as->arena, &as->registers.free, first + k);
    return to_wanted(as, (Operand){ true, (int32_t)to }, wanted);
}

static bool is_at_hand(const Assembler *as, const Expr *e)
{
    return placement_value(as->placement, e)->kind <= EXPR_ITERATOR ||
           as->nodes.is_done.at[placement_number(as->placement, e)];
}

static Operand compute(Assembler *as, uint32_t number, const Operand *wanted);

static void compute_into(Assembler *as, uint32_t number, Operand to)
{
    const Expr *e = as->placement->nodes.at[number].expr;
    if (as->placement->nodes.at[number].uses == 1 && !is_at_hand(as, e)) {
        compute(as, number, &to);
        as->nodes.remaining.at[number] = 0;
        return;
    }
    move(as, to, value_of(as, number));
    release(as, number);
}

/* Emits a jump whose distance is filled in by `arrive`. */
static uint32_t skip(Assembler *as, uint32_t opcode, uint32_t n, const Operand *condition)
{
    instruction(as, opcode, n, condition);
    vec_push(as->arena, &as->words, 0);
    return as->words.n;
}

static void arrive(Assembler *as, uint32_t from)
{
    as->words.at[from - 1] = as->words.n - from;
}

static void prepare_if(Assembler *as, uint32_t number)
{
    const PlacedNode *node = &as->placement->nodes.at[number];
    for (uint32_t k = 0; k < node->n_prelude; k++) {
        const uint32_t before = as->placement->prelude.at[node->first + k];
        if (as->form != FORM_VECTOR || !as->nodes.is_uniform.at[before])
            value_of(as, before);
    }
}

static Operand compute_if(Assembler *as, uint32_t number, const Operand *wanted)
{
    const Expr *e = as->placement->nodes.at[number].expr;
    const uint32_t condition = placement_number(as->placement, e->args[0]);
    prepare_if(as, number);
    if (is_at_hand(as, e->args[1]) && is_at_hand(as, e->args[2]))
        return operation(as, OPCODE_SELECT, 3, e->args, wanted);
    const Operand decides = value_of(as, condition);
    const uint32_t to_otherwise = skip(as, OPCODE_SKIP_UNLESS, 1, &decides);
    release(as, condition);
    const Operand to = wanted ? *wanted : new_register(as);
    compute_into(as, placement_number(as->placement, e->args[1]), to);
    const uint32_t to_end = skip(as, OPCODE_SKIP, 0, NULL);
    arrive(as, to_otherwise);
    compute_into(as, placement_number(as->placement, e->args[2]), to);
    arrive(as, to_end);
    return to;
}

/* Both sides are computed unless all elements agree, then the elements choose. */
static Operand compute_vector_if(Assembler *as, uint32_t number, const Operand *wanted)
{
    const Expr *e = as->placement->nodes.at[number].expr;
    prepare_if(as, number);
    for (int k = 0; k < 3; k++) {
        const uint32_t argument = placement_number(as->placement, e->args[k]);
        if (k == 0 || is_at_hand(as, e->args[k])) {
            value_of(as, argument);
            continue;
        }
        const Operand decides = value_of(as, placement_number(as->placement, e->args[0]));
        const uint32_t to_end = skip(as, k == 1 ? VECTOR_SKIP_NONE : VECTOR_SKIP_ALL, 1, &decides);
        value_of(as, argument);
        arrive(as, to_end);
    }
    return operation(as, OPCODE_SELECT, 3, e->args, wanted);
}

static Operand compute(Assembler *as, uint32_t number, const Operand *wanted)
{
    const Expr *e = as->placement->nodes.at[number].expr;
    if (e->kind == EXPR_CALL)
        return compute_call(as, e, wanted);
    if (e->kind == EXPR_TABLE)
        return compute_table(as, e, wanted);
    if (e->kind == EXPR_FUNCTION)
        return compute_function(as, e, wanted);
    if (e->kind == EXPR_TEXT)
        return compute_text(as, e, wanted);
    if (e->kind == EXPR_ARRAY)
        return compute_braces(as, e, wanted);
    REQUIRE(e->kind == EXPR_IF);
    return as->form == FORM_VECTOR ? compute_vector_if(as, number, wanted) : compute_if(as, number, wanted);
}

static Operand column(const Assembler *as, uint32_t k)
{
    return (Operand){ false, (int32_t)(as->columns ? as->columns[k] : k) };
}

/* The address of an array in the block or the frame; some slots of a frame hold it. */
static Operand array_address(Assembler *as, const Expr *e)
{
    const Operand first = column(as, as->kernel->n_outputs + e->u.leaf);
    const bool is_pointer = as->site.routine && routine_is_pointer(as->site.routine, e->u.leaf);
    return is_pointer ? first : compute_into_new(as, OPCODE_ADDRESS, first);
}

/* A leaf that has to be loaded, or the iterator. */
static Operand load(Assembler *as, const Expr *e)
{
    const Operand to = new_register(as);
    instruction(as, e->kind == EXPR_LEAF ? VECTOR_LOAD : VECTOR_ITERATOR, 1, &to);
    if (e->kind == EXPR_LEAF)
        vec_push(as->arena, &as->words, as->kernel->n_outputs + e->u.leaf);
    return to;
}

static Operand value_of(Assembler *as, uint32_t number)
{
    const Expr *e = as->placement->nodes.at[number].expr;
    if (as->nodes.is_done.at[number])
        return as->nodes.place.at[number];
    if (as->form != FORM_VECTOR) {
        if (expr_is_constant(e))
            return constant(as, e);
        if (e->kind == EXPR_ITERATOR)
            return as->iterator;
    }
    if (e->kind == EXPR_LEAF && e->type.rank > 0) {
        as->nodes.place.at[number] = array_address(as, e);
        as->nodes.is_done.at[number] = 1;
        return as->nodes.place.at[number];
    }
    if (e->kind == EXPR_LEAF &&
        (as->form != FORM_VECTOR || as->column_kinds[as->kernel->n_outputs + e->u.leaf] == COLUMN_UNIT))
        return column(as, as->kernel->n_outputs + e->u.leaf);
    as->nodes.place.at[number] =
        e->kind == EXPR_LEAF || e->kind == EXPR_ITERATOR ? load(as, e) : compute(as, number, NULL);
    as->nodes.is_done.at[number] = 1;
    return as->nodes.place.at[number];
}

/* ---- kernels ---- */
/* All elements of an array that a call gives. */
static void copy_out(Assembler *as, const Expr *e, Operand to)
{
    const uint32_t number = placement_number(as->placement, e);
    const Operand from = value_of(as, number), target = compute_into_new(as, OPCODE_ADDRESS, to);
    const uint32_t operands[] = { (uint32_t)target.index, (uint32_t)from.index, expr_extent(e) };
    assemble_raw(as, OPCODE_COPY, 3, operands);
    vec_push(as->arena, &as->registers.free, (uint32_t)target.index);
    release(as, number);
}

static void outputs(Assembler *as)
{
    for (uint32_t k = 0; k < as->kernel->n_outputs; k++) {
        const uint32_t number = placement_number(as->placement, as->kernel->outputs[k]);
        const Operand to = column(as, k);
        if (as->kernel->outputs[k]->type.rank > 0 && !as->site.routine)
            copy_out(as, as->kernel->outputs[k], to);
        else if (as->form == FORM_VECTOR && as->column_kinds[k] != COLUMN_UNIT) {
            const Operand from = value_of(as, number);
            vec_push(as->arena, &as->words, VECTOR_STORE);
            vec_push(as->arena, &as->words, k);
            vec_push(as->arena, &as->words, word_of(as, from));
            release(as, number);
        } else if (is_at_hand(as, as->kernel->outputs[k])) {
            move(as, to, value_of(as, number));
            release(as, number);
        } else {
            compute(as, number, &to);
            as->nodes.place.at[number] = to;
            as->nodes.is_done.at[number] = 1;
            release(as, number);
        }
    }
}

static MachineCode finish(Assembler *as, Arena *arena)
{
    vec_push(as->arena, &as->words, as->form == FORM_VECTOR ? VECTOR_END : (uint32_t)as->distances[OPCODE_END]);
    uint32_t *words = NEW_ARRAY(arena, uint32_t, as->words.n);
    memcpy(words, as->words.at, as->words.n * sizeof *words);
    KoineSlot *constants = NEW_ARRAY(arena, KoineSlot, as->constants.values.n);
    for (uint32_t k = 0; k < as->constants.values.n; k++)
        constants[as->constants.values.n - 1 - k] = as->constants.values.at[k];
    return (MachineCode){ words, constants, as->constants.values.n, as->registers.n };
}

bool assembler_has_elements(const Assembler *as)
{
    for (uint32_t k = 0; k < as->placement->nodes.n; k++) {
        const Expr *e = as->placement->nodes.at[k].expr;
        if (e->kind == EXPR_CALL && e->op == OP_ELEMENT)
            return true;
    }
    return false;
}

void assemble_begin(Assembler *as)
{
    begin(as, FORM_DIRECT);
}

void assemble_direct(Assembler *as, const Kernel *kernel, const uint32_t *columns, int64_t iterator)
{
    begin_kernel(as, kernel);
    as->columns = columns;
    if (kernel->has_iterator)
        as->iterator = constant(as, &(Expr){ .kind = EXPR_INTEGER, .type = INTEGER_TYPE, .u.integer = iterator });
    outputs(as);
}

void assemble_raw(Assembler *as, Opcode opcode, uint32_t n, const uint32_t *operands)
{
    vec_push(as->arena, &as->words, (uint32_t)as->distances[opcode]);
    for (uint32_t k = 0; k < n; k++)
        vec_push(as->arena, &as->words, operands[k]);
}

uint32_t assembled_words(const Assembler *as)
{
    return as->words.n;
}

void assemble_patch(Assembler *as, uint32_t word, uint32_t value)
{
    as->words.at[word] = value;
}

void assemble_site(Assembler *as, const Routine *routine, uint32_t site)
{
    as->site.routine = routine;
    as->site.number = site;
}

uint32_t assembled_constants(const Assembler *as)
{
    return as->constants.values.n;
}

MachineCode assemble_end(Assembler *as, Arena *arena)
{
    return finish(as, arena);
}

MachineCode assemble_by_row(Assembler *as, const Kernel *kernel, Arena *arena)
{
    begin(as, FORM_BY_ROW);
    begin_kernel(as, kernel);
    as->columns = NULL;
    if (kernel->has_iterator)
        as->iterator = new_register(as);
    outputs(as);
    return finish(as, arena);
}

static void find_uniform(Assembler *as, const uint8_t *column_kinds)
{
    const Placement *p = as->placement;
    memset(as->nodes.is_frontier.at, 0, p->nodes.n);
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const Expr *e = p->nodes.at[i].expr;
        bool is_uniform = e->kind != EXPR_ITERATOR;
        if (e->kind == EXPR_LEAF)
            is_uniform = column_kinds[as->kernel->n_outputs + e->u.leaf] == COLUMN_UNIFORM;
        for (uint32_t k = 0; k < e->n_args; k++)
            is_uniform &= as->nodes.is_uniform.at[placement_number(p, e->args[k])];
        as->nodes.is_uniform.at[i] = is_uniform;
        for (uint32_t k = 0; k < e->n_args && !is_uniform && p->nodes.at[i].uses; k++) {
            const uint32_t argument = placement_number(p, e->args[k]);
            as->nodes.is_frontier.at[argument] = as->nodes.is_uniform.at[argument];
        }
    }
    for (uint32_t k = 0; k < as->kernel->n_outputs; k++) {
        const uint32_t number = placement_number(p, as->kernel->outputs[k]);
        as->nodes.is_frontier.at[number] = as->nodes.is_uniform.at[number];
    }
}

/* Uniform nodes are computed before the run, arguments first. Those that only one side of a uniform IF needs are left
 * to that IF; an IF that is not uniform has no sides here, so what its sides need is computed in any case. */
static bool is_in_prologue(const Assembler *as, uint32_t number)
{
    const PlacedNode *node = &as->placement->nodes.at[number];
    if (!as->nodes.is_uniform.at[number] || node->uses == 0 ||
        (node->expr->kind < EXPR_CALL && !as->nodes.is_frontier.at[number]))
        return false;
    const uint32_t owner = as->placement->regions.at[node->region].owner;
    return owner == ID_NONE || !as->nodes.is_uniform.at[owner];
}

VectorCode assemble_vector(Assembler *as, const Kernel *kernel, const uint8_t *column_kinds, Arena *arena)
{
    const uint32_t n = as->placement->nodes.n;
    VectorCode result = { 0 };
    begin(as, FORM_BY_ROW);
    begin_kernel(as, kernel);
    as->columns = NULL;
    find_uniform(as, column_kinds);
    for (uint32_t i = 0; i < n; i++)
        if (is_in_prologue(as, i)) {
            const Operand from = value_of(as, i); /* keeps its register: uses by vector code are not released here */
            if (as->nodes.is_frontier.at[i])
                vec_push(as->arena, &as->broadcasts, ((Broadcast){ from, 0 }));
        }
    result.n_broadcasts = as->broadcasts.n;
    result.broadcasts = NEW_ARRAY(arena, Broadcast, as->broadcasts.n);
    if (as->broadcasts.n)
        memcpy(result.broadcasts, as->broadcasts.at, as->broadcasts.n * sizeof *result.broadcasts);
    result.prologue = finish(as, arena);

    begin(as, FORM_VECTOR);
    begin_kernel(as, kernel);
    as->column_kinds = column_kinds;
    for (uint32_t i = 0, k = 0; i < n; i++)
        if (as->nodes.is_frontier.at[i]) {
            as->nodes.place.at[i] = (Operand){ true, (int32_t)as->registers.n };
            as->nodes.is_done.at[i] = 1;
            as->nodes.remaining.at[i] = UINT32_MAX; /* filled once before the run: never free */
            result.broadcasts[k++].to = as->registers.n++;
        }
    outputs(as);
    result.body = finish(as, arena);
    return result;
}
