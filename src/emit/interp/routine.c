/* See routine.h. */
#include "emit/interp/routine.h"
#include "base/bug.h"
#include "emit/routines.h"
#include "ir/external.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_FRAME = 5120 }; /* slots of a frame on the stack; larger ones are from the heap */

/* ---- execution ---- */
static const void *pointer_at(const uint32_t *words)
{
    const void *pointer;
    memcpy(&pointer, words, sizeof pointer);
    return pointer;
}

static KoineSlot *call_slots(const KoineSlot *frame)
{
    return (KoineSlot *)(intptr_t)frame[0].i;
}

static bool fail(KoineSlot *call, uint32_t site)
{
    if (!call[CALL_FAULT].i)
        call[CALL_FAULT].i = site;
    if (!call[CALL_NOTED].i)
        call[CALL_NOTED].i = site;
    return false;
}

void interp_fail(KoineSlot *frame, uint32_t site)
{
    fail(call_slots(frame), site);
}

static bool count(KoineSlot *call, uint32_t site)
{
    return ++call[CALL_STEPS].i <= ROUTINE_STEPS + call[CALL_MORE_STEPS].i || fail(call, site | ROUTINE_ENDLESS);
}

bool interp_count(KoineSlot *frame, uint32_t site)
{
    return count(call_slots(frame), site);
}

Trips interp_trips(KoineSlot *frame, const uint32_t *at)
{
    KoineSlot *call = call_slots(frame), *limit = &frame[at[2]];
    const int64_t from = frame[at[1]].i, to = limit->i, by = (int32_t)at[3];
    if (by > 0 ? from > to : from < to)
        return TRIPS_NONE;
    const uint64_t way = by > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    const uint64_t trips = way / (uint64_t)(by > 0 ? by : -by);
    if (trips >= (uint64_t)(ROUTINE_STEPS + call[CALL_MORE_STEPS].i - call[CALL_STEPS].i))
        return fail(call, at[4] | ROUTINE_ENDLESS), TRIPS_FAIL;
    call[CALL_STEPS].i += (int64_t)trips + 1;
    const int64_t last = from + (int64_t)trips * by;
    if (by > 0 ? last > INT64_MAX - by : last < -INT64_MAX - by)
        return fail(call, at[4] | ROUTINE_NOT_FINITE), TRIPS_FAIL;
    limit->i = (int64_t)trips;
    return TRIPS_SOME;
}

/* The results, or none where the function has failed. */
static void give_results(const Routine *routine, const KoineSlot *call, const KoineSlot *frame, KoineSlot *to)
{
    const uint32_t first = routine->function->n_inputs;
    if (!call[CALL_FAULT].i) {
        memcpy(to, frame + routine->fields[first].first, routine->width * sizeof *to);
        return;
    }
    for (uint32_t k = 0, n = 0; k < routine->function->n_outputs; k++)
        for (uint32_t j = 0; j < routine->fields[first + k].count; j++)
            to[n++] = routine_no_value(routine->fields[first + k].type);
}

static void begin_field(const RoutineField *field, KoineSlot *frame)
{
    if (field->data) {
        frame[field->first].i = (intptr_t)field->data;
        return;
    }
    for (uint32_t k = 0; k < field->count && field->begin.i; k++)
        frame[field->first + k].i = field->begin.i;
}

static void run_in(const LoadedRoutine *r, KoineSlot *call, const KoineSlot *args, KoineSlot *to, KoineSlot *frame)
{
    const Routine *routine = r->routine;
    const Function *f = routine->function;
    KoineSlot *registers = frame + r->n_frame + r->code.n_constants;
    memset(frame, 0, r->n_frame * sizeof *frame);
    memcpy(frame + r->n_frame, r->code.constants, r->code.n_constants * sizeof *frame);
    frame[0].i = (intptr_t)call;
    frame[r->n_frame - 1].i = (intptr_t)frame;
    for (uint32_t k = 0; k < f->n_inputs; k++)
        frame[routine->fields[k].first] = args[k];
    for (uint32_t k = f->n_inputs; k < routine->n_fields; k++)
        begin_field(&routine->fields[k], frame);
    execute_direct(r->code.words, frame, registers);
    give_results(routine, call, frame, to);
}

static void run_small(const LoadedRoutine *r, KoineSlot *call, const KoineSlot *args, KoineSlot *to)
{
    KoineSlot frame[128];
    run_in(r, call, args, to, frame);
}

static void run_large(const LoadedRoutine *r, KoineSlot *call, const KoineSlot *args, KoineSlot *to)
{
    KoineSlot frame[LARGE_FRAME];
    run_in(r, call, args, to, frame);
}

/* Large arrays, or a single statement with thousands of values alive at once. */
static void run_on_heap(const LoadedRoutine *r, KoineSlot *call, const KoineSlot *args, KoineSlot *to, size_t n)
{
    KoineSlot *frame = malloc(n * sizeof *frame);
    if (!frame)
        BUG("out of memory for the registers of a function");
    run_in(r, call, args, to, frame);
    free(frame);
}

static void run_external(const LoadedRoutine *r, KoineSlot *call, const KoineSlot *args, KoineSlot *to)
{
    ExternalCode *code = r->routine->function->external->code;
    const bool is_due = external_is_due(call[CALL_OUTSIDE].i++);
    const uint32_t kind =
        code->call(code, call, (const Value *)(const void *)args, (Value *)(void *)to, is_due || code->alarm);
    if (kind != ROUTINE_NO_FAULT)
        fail(call, r->site | kind);
}

bool interp_call(const uint32_t *at, KoineSlot *m, const KoineSlot *args, KoineSlot *to)
{
    const LoadedRoutine *r = pointer_at(at + 3);
    const bool is_inner = at[5] == 0;
    KoineSlot *call = is_inner ? call_slots(m) : &m[at[5]];
    if (!is_inner)
        call[CALL_FAULT].i = call[CALL_STEPS].i = call[CALL_ROOM].i = 0;
    const uint32_t room = routine_room(r->routine, call[CALL_MORE_BESIDE].i);
    if (r->routine->function->external) {
        run_external(r, call, args, to);
    } else if (call[CALL_ROOM].i + room > ROUTINE_ROOM) {
        fail(call, r->site | ROUTINE_TOO_DEEP);
    } else if (count(call, r->site)) {
        const size_t n = (size_t)r->n_frame + r->code.n_constants + r->code.n_registers;
        const bool is_deep = call[CALL_ROOM].i > ROUTINE_ROOM / 16;
        call[CALL_ROOM].i += room;
        if (n <= 128)
            run_small(r, call, args, to);
        else if (n <= LARGE_FRAME && !is_deep)
            run_large(r, call, args, to);
        else
            run_on_heap(r, call, args, to, n);
        call[CALL_ROOM].i -= room;
    }
    if (call[CALL_FAULT].i)
        give_results(r->routine, call, NULL, to);
    return !is_inner || !call[CALL_FAULT].i;
}

int64_t interp_text(const uint32_t *at, KoineSlot *m, const KoineSlot *args)
{
    KoineSlot *call = at[4] == 0 ? call_slots(m) : &m[at[4]];
    const int64_t text = koine_text_apply(call, at[3], args);
    if (at[5] && text == KOINE_INTEGER_FAULT)
        fail(call, at[5]);
    return text;
}

void interp_message(KoineSlot *frame, KoineSlot text)
{
    call_slots(frame)[CALL_MESSAGE] = text;
}

/* The element in the frame, or where the caller has the array. */
static KoineSlot *find_element(const RoutineField *field, KoineSlot *frame, const KoineSlot *index)
{
    uint64_t offset = 0;
    for (uint32_t k = 0; k < field->rank; k++) {
        if (index[k].i < 1 || index[k].i > (int64_t)field->extents[k])
            return NULL;
        offset = offset * field->extents[k] + (uint64_t)(index[k].i - 1);
    }
    return (field->is_pointer ? (KoineSlot *)(intptr_t)frame[field->first].i : frame + field->first) + offset;
}

bool interp_element(const uint32_t *at, KoineSlot *m, const KoineSlot *index, KoineSlot *to)
{
    const KoineSlot *element = find_element(pointer_at(at + 3), m, index);
    if (!element)
        return fail(call_slots(m), at[5] | ROUTINE_INDEX);
    *to = *element;
    return true;
}

static bool is_good(Type type, KoineSlot value)
{
    return type.kind == TYPE_REAL ? isfinite(value.r) : value.i != KOINE_INTEGER_FAULT;
}

bool interp_store(const uint32_t *at, KoineSlot *m)
{
    const RoutineField *field = pointer_at(at + 3);
    KoineSlot *element = find_element(field, m, m + at[2]);
    if (!element)
        return fail(call_slots(m), at[5] | ROUTINE_INDEX);
    *element = m[at[1]];
    return is_good(field->type, *element) || fail(call_slots(m), at[5] | ROUTINE_NOT_FINITE);
}

bool interp_store_whole(const uint32_t *at, KoineSlot *m)
{
    const RoutineField *field = pointer_at(at + 2);
    const KoineSlot *from = (const KoineSlot *)(intptr_t)m[at[1]].i;
    for (uint32_t k = 0; k < field->count && at[4]; k++)
        if (!is_good(field->type, from[k]))
            return fail(call_slots(m), at[4] | ROUTINE_NOT_FINITE);
    memmove(m + field->first, from, field->count * sizeof *from);
    return true;
}

/* ---- code ---- */
typedef struct {
    Assembler *assembler;
    Placement *placement;
    const Routine *routine;
    uint32_t *columns;
    uint32_t first_site, value_slot;
    VEC(uint32_t) breaks; /* words to fill in at the end of the innermost loop */
    Arena *scratch;
} Writer;

static uint32_t site_of(const Writer *w, const RoutineStep *step)
{
    return routine_site(w->first_site, (uint32_t)(step - w->routine->steps));
}

/* slot := e */
static void write_value(Writer *w, uint32_t slot, const Expr *e, uint32_t site)
{
    const uint32_t n = w->routine->n_slots;
    const Kernel kernel = { .n_outputs = 1, .n_leaves = n, .width = n + 1, .outputs = &e, .has_calls = true };
    w->columns[0] = slot;
    placement_of(w->placement, &kernel);
    assemble_site(w->assembler, w->routine, site);
    assemble_direct(w->assembler, &kernel, w->columns, 0);
}

/* Behind a frame, its slots for values and those for indices: the address of the frame. */
static uint32_t own_address(const Routine *routine)
{
    return routine->n_slots + 1 + ROUTINE_RANK;
}

typedef struct { /* operands of an instruction: Place or Place2 of opcode.h */
    uint32_t words[6], n;
} ElementWords;

/* False: it has more indices than instructions do. */
static bool find_place(const Routine *routine, uint32_t array, const Expr *const *index, bool is_long, ElementWords *to)
{
    const RoutineField *field = &routine->fields[array];
    const RoutinePlace place = routine_place(routine, array, index);
    const uint32_t address = field->is_pointer ? field->first : own_address(routine);
    const uint32_t first = (uint32_t)(int32_t)place.first + (field->is_pointer ? 0 : field->first);
    if (place.n == 1 && place.terms[0].factor == 1 && !is_long) {
        *to = (ElementWords){ { address, place.terms[0].slot, first }, 3 };
        return true;
    }
    *to = (ElementWords){ { address, 0, 0, 0, 0, first }, 6 };
    for (uint32_t k = 0; k < 2 && k < place.n; k++) {
        to->words[1 + 2 * k] = place.terms[k].slot;
        to->words[2 + 2 * k] = (uint32_t)place.terms[k].factor;
    }
    return place.n <= 2;
}

static bool place_of(const Routine *routine, const Expr *e, ElementWords *to)
{
    return is_inside_element(e) && find_place(routine, e->result, e->args, false, to);
}

Opcode element_load(const Routine *routine, const Expr *e, uint32_t to, uint32_t *operands, uint32_t *n)
{
    ElementWords place;
    if (!place_of(routine, e, &place))
        return OPCODE_COUNT;
    operands[0] = to;
    memcpy(operands + 1, place.words, sizeof place.words);
    *n = 1 + place.n;
    return place.n == 3 ? OPCODE_LOAD : OPCODE_LOAD_2;
}

static void write_instruction(Writer *w, Opcode opcode, uint32_t n, const uint32_t *operands)
{
    assemble_raw(w->assembler, opcode, n, operands);
}

static void write_check(Writer *w, const RoutineField *field, uint32_t site)
{
    const uint32_t operands[] = { field->first, site | ROUTINE_NOT_FINITE };
    write_instruction(w, field->type.kind == TYPE_REAL ? OPCODE_CHECK_REAL : OPCODE_CHECK_INTEGER, 2, operands);
}

static void write_element_assignment(Writer *w, const RoutineStep *step, const RoutineField *field, uint32_t site)
{
    ElementWords place;
    if (step->is_inside && find_place(w->routine, step->field, step->index, true, &place)) {
        const uint32_t *at = place.words;
        const uint32_t operands[] = {
            w->value_slot, at[0], at[1], at[2], at[3], at[4], at[5], site | ROUTINE_NOT_FINITE
        };
        write_value(w, w->value_slot, step->value, site);
        write_instruction(w, field->type.kind == TYPE_REAL ? OPCODE_PUT_REAL : OPCODE_PUT_INTEGER, 8, operands);
        return;
    }
    for (uint32_t k = 0; k < field->rank; k++)
        write_value(w, w->value_slot + 1 + k, step->index[k], site);
    write_value(w, w->value_slot, step->value, site);
    uint32_t operands[] = { w->value_slot, w->value_slot + 1, 0, 0, site };
    memcpy(operands + 2, &field, sizeof field);
    write_instruction(w, OPCODE_STORE, 5, operands);
}

/* s := s + x[i]*y[i] */
static bool write_dot(Writer *w, uint32_t slot, const Expr *a, const Expr *b)
{
    ElementWords first, second;
    if (!place_of(w->routine, a, &first) || !place_of(w->routine, b, &second) || second.n > 3)
        return false;
    uint32_t operands[10] = { slot };
    memcpy(operands + 1, first.words, sizeof first.words);
    memcpy(operands + 1 + first.n, second.words, 3 * sizeof *second.words);
    write_instruction(w, first.n == 3 ? OPCODE_DOT : OPCODE_DOT_2, 1 + first.n + second.n, operands);
    return true;
}

/* s := s + a*x[i] */
static bool write_multiple(Writer *w, uint32_t slot, const Expr *factor, const Expr *element)
{
    ElementWords place;
    const bool is_number = factor->kind == EXPR_REAL;
    if (!(is_number || factor->kind == EXPR_LEAF) || !place_of(w->routine, element, &place) || place.n > 3)
        return false;
    uint32_t operands[6] = { slot, place.words[0], place.words[1], place.words[2], factor->u.leaf };
    if (is_number)
        memcpy(operands + 4, &factor->u.real, sizeof factor->u.real);
    write_instruction(w, is_number ? OPCODE_ADD_MULTIPLE : OPCODE_ADD_SCALED, 5 + is_number, operands);
    return true;
}

/* A product with an element is added: in one instruction. */
static bool write_addition(Writer *w, uint32_t slot, const Expr *e)
{
    if (e->kind != EXPR_CALL || e->op != OP_ADD || e->type.kind != TYPE_REAL)
        return false;
    const bool is_second = e->args[1]->kind == EXPR_LEAF && e->args[1]->u.leaf == slot;
    const Expr *own = e->args[is_second], *product = e->args[!is_second];
    if (own->kind != EXPR_LEAF || own->u.leaf != slot || product->kind != EXPR_CALL || product->op != OP_MUL)
        return false;
    const Expr *a = product->args[0], *b = product->args[1];
    return write_dot(w, slot, a, b) || write_dot(w, slot, b, a) || write_multiple(w, slot, a, b) ||
           write_multiple(w, slot, b, a);
}

static void write_assignment(Writer *w, const RoutineStep *step)
{
    const RoutineField *field = &w->routine->fields[step->field];
    const uint32_t site = site_of(w, step);
    if (is_whole_assignment(field, step)) {
        uint32_t operands[] = { w->value_slot, 0, 0, step->is_raw ? 0 : site };
        write_value(w, w->value_slot, step->value, site);
        memcpy(operands + 1, &field, sizeof field);
        write_instruction(w, OPCODE_STORE_WHOLE, 4, operands);
        return;
    }
    if (field->rank > 0) {
        write_element_assignment(w, step, field, site);
        return;
    }
    if (!write_addition(w, field->first, step->value))
        write_value(w, field->first, step->value, site);
    if (!step->is_late)
        write_check(w, field, site);
}

/* Words behind a jump that is taken when the condition does not hold; its distance is filled in later. */
static uint32_t write_condition(Writer *w, const RoutineStep *step)
{
    const uint32_t operands[] = { w->value_slot, 0 };
    write_value(w, w->value_slot, step->value, site_of(w, step));
    write_instruction(w, OPCODE_SKIP_UNLESS, 2, operands);
    return assembled_words(w->assembler);
}

static uint32_t write_jump(Writer *w)
{
    write_instruction(w, OPCODE_SKIP, 1, (const uint32_t[]){ 0 });
    return assembled_words(w->assembler);
}

static void arrive(Writer *w, uint32_t from)
{
    assemble_patch(w->assembler, from - 1, assembled_words(w->assembler) - from);
}

static void write_list(Writer *w, uint32_t first);

static void write_loop(Writer *w, const RoutineStep *step)
{
    const uint32_t begin = assembled_words(w->assembler), outer_breaks = w->breaks.n;
    const uint32_t to_end = write_condition(w, step);
    write_instruction(w, OPCODE_COUNT_STEP, 1, (const uint32_t[]){ site_of(w, step) });
    write_list(w, step->inner);
    write_instruction(w, OPCODE_BACK, 1, (const uint32_t[]){ 0 });
    assemble_patch(w->assembler, assembled_words(w->assembler) - 1, assembled_words(w->assembler) - begin);
    arrive(w, to_end);
    while (w->breaks.n > outer_breaks)
        arrive(w, vec_pop(&w->breaks));
}

static void write_counted(Writer *w, const RoutineStep *step)
{
    const RoutineLoop *loop = step->loop;
    const RoutineField *fields = w->routine->fields;
    const uint32_t variable = fields[loop->variable].first, limit = fields[loop->limit].first;
    const uint32_t operands[] = { variable, limit, (uint32_t)loop->by, site_of(w, step), 0 };
    write_instruction(w, OPCODE_LOOP, 5, operands);
    const uint32_t begin = assembled_words(w->assembler);
    write_list(w, step->inner);
    const uint32_t again[] = { variable, limit, (uint32_t)loop->by, 0 };
    write_instruction(w, OPCODE_REPEAT, 4, again);
    assemble_patch(w->assembler, assembled_words(w->assembler) - 1, assembled_words(w->assembler) - begin);
    arrive(w, begin);
    for (uint32_t k = 0; k < loop->n_late; k++) {
        const RoutineStep *late = &w->routine->steps[loop->late[k]];
        write_check(w, &fields[late->field], site_of(w, late));
    }
}

static void write_if(Writer *w, const RoutineStep *step)
{
    const uint32_t to_otherwise = write_condition(w, step);
    write_list(w, step->inner);
    if (!step->otherwise) {
        arrive(w, to_otherwise);
        return;
    }
    const uint32_t to_end = write_jump(w);
    arrive(w, to_otherwise);
    write_list(w, step->otherwise);
    arrive(w, to_end);
}

static void write_assertion(Writer *w, const RoutineStep *step)
{
    const uint32_t to_fail = write_condition(w, step);
    const uint32_t to_end = write_jump(w);
    arrive(w, to_fail);
    if (step->message) {
        write_value(w, w->value_slot, step->message, site_of(w, step));
        write_instruction(w, OPCODE_MESSAGE, 1, (const uint32_t[]){ w->value_slot });
    }
    write_instruction(w, OPCODE_FAIL, 1, (const uint32_t[]){ site_of(w, step) | ROUTINE_CHECK });
    arrive(w, to_end);
}

static void write_list(Writer *w, uint32_t first)
{
    for (uint32_t k = first; k; k = w->routine->steps[k].next) {
        const RoutineStep *step = &w->routine->steps[k];
        switch ((StatementKind)step->kind) {
        case STATEMENT_ASSIGN:
            if (!step->is_advance)
                write_assignment(w, step);
            break;
        case STATEMENT_WHILE:
            if (step->loop)
                write_counted(w, step);
            else
                write_loop(w, step);
            break;
        case STATEMENT_IF: write_if(w, step); break;
        case STATEMENT_ASSERT: write_assertion(w, step); break;
        case STATEMENT_BREAK: vec_push(w->scratch, &w->breaks, write_jump(w)); break;
        case STATEMENT_RETURN: write_instruction(w, OPCODE_END, 0, NULL); break;
        case STATEMENT_SEND:
        case STATEMENT_TOGETHER:
        case STATEMENT_FOR: BUG("not a step of a routine");
        }
    }
}

void assemble_routines(Assembler *assembler, Placement *placement, const Code *code, LoadedRoutine *routines,
                       Arena *arena)
{
    for (uint32_t k = 0; k < code->n_routines; k++) {
        const Routine *r = code->routines[k];
        Arena *scratch = arena_create(NULL);
        Writer w = { assembler, placement,  r,     NEW_ARRAY(scratch, uint32_t, r->n_slots + 1u),
                     0,         r->n_slots, { 0 }, scratch };
        for (uint32_t slot = 0; slot < r->n_slots; slot++)
            w.columns[1 + slot] = slot;
        w.first_site = routine_first_site(code, k);
        assemble_begin(assembler);
        write_list(&w, r->first);
        routines[k].code = assemble_end(assembler, arena);
        routines[k].routine = r;
        routines[k].n_frame = own_address(r) + 1;
        routines[k].site = routine_site(w.first_site, 0);
        arena_destroy(scratch);
    }
    assemble_site(assembler, NULL, 0);
}
