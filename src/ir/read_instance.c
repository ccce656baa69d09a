/* Instances: in the first go they are composed, in the second their dimensions and modifications are read; see
 * read_reader.h. */
#include "ir/read_reader.h"

enum { MOST_ROWS = 20000000 }; /* of instances that are written out */

/* ---- declaring ---- */
void reader_enter_rows(Reader *r, uint32_t first_instance, uint32_t first_variable, const uint32_t *first)
{
    const Model *model = r->model;
    for (uint32_t k = first_instance; k < model->instances.n; k++)
        map_put(&r->scope->instances, key_of(model->instances.at[k].parent.index, model->instances.at[k].name), k);
    for (uint32_t k = first_variable; k < model->variables.n; k++)
        reader_scope_add_variable(r, model->variables.at[k].owner.index, model->variables.at[k].name, k);
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        for (uint32_t k = first[kind]; k < label_count(model, kind); k++) {
            const Label label = label_of(model, kind, k);
            if (!name_is_empty(label.name))
                map_put(&r->scope->labels[kind], key_of(label.owner.index, label.name), k);
        }
}

/* The rows that so many instances make, before there is memory for them. */
static bool is_too_large(Reader *r, const Model *part, uint64_t count, Span span)
{
    const uint64_t rows = (uint64_t)part->variables.n + part->equations.n + part->refs.n + part->instances.n;
    uint64_t more;
    if (!__builtin_mul_overflow(rows, count, &more) && more < MOST_ROWS &&
        more + r->model->variables.n + r->model->refs.n < UINT32_MAX / 4)
        return false;
    reader_report(r, DIAG_NUMBER_RANGE, span, "the model becomes too large");
    HELP(r, "%llu instances of %llu rows each", (unsigned long long)count, (unsigned long long)rows);
    return true;
}

/* What keeps the instances of an array from having the same rows. */
static bool has_numbers(Reader *r, const ArrayShape *shape, const char *obstacle, NameId class_name, Span span)
{
    for (uint32_t k = 0; k < shape->n; k++)
        if (shape->extent[k] < 0) {
            reader_report(r, DIAG_IR_INSTANCES, span, "an array of %s is written out, for there is %s in it",
                          names_of(r->names, class_name), obstacle);
            HELP(r, "its dimensions must be numbers, as in [3]");
            return false;
        }
    return true;
}

typedef struct {
    InstanceId parent;
    NameId name;
    uint32_t class;
    Span span;
} NewInstance;

static bool compose_new(Reader *r, const NewInstance *new, const Model *part, InstanceArray *array)
{
    const ArrayShape *shape = &array->shape;
    const ArrayName name = { new->parent, new->name, new->span };
    const char *obstacle = shape->n ? model_array_obstacle(part, shape) : NULL;
    array->is_written_out = obstacle != NULL;
    if ((obstacle && !has_numbers(r, shape, obstacle, r->head.classes.all.at[new->class].name, new->span)) ||
        is_too_large(r, part, obstacle ? shape_count(shape) : 1, new->span))
        return false;
    if (obstacle)
        model_compose_elements(r->model, &name, shape, part, &array->first_var);
    else if (shape->n)
        model_compose_array(r->model, &name, shape, part, &array->first_var);
    else
        model_compose(r->model, new->parent, new->name, part, new->span, &array->first_var);
    return true;
}

static bool add_composed(Reader *r, const NewInstance *new, InstanceArray *array)
{
    uint32_t first[LABEL_COUNT];
    const Model *part = reader_read_class(r, new->class, new->span);
    if (!part)
        return false;
    const uint32_t first_instance = r->model->instances.n, first_variable = r->model->variables.n;
    for (LabelKind kind = 0; kind < LABEL_COUNT; kind++)
        first[kind] = label_count(r->model, kind);
    if (!compose_new(r, new, part, array))
        return false;
    array->n_vars = r->model->variables.n - first_variable;
    reader_enter_rows(r, first_instance, first_variable, first);
    return true;
}

/* [3, N] behind a name: numbers are taken, terms are read later; [:] of an instance without class. */
static bool scan_shape(Reader *r, InstanceArray *array, bool *is_open)
{
    const Span span = reader_token_span(r);
    ArrayShape *shape = &array->shape;
    *is_open = false;
    for (uint32_t depth = 0;; reader_advance(r)) {
        const uint32_t kind = r->token.kind;
        if (kind == TOKEN_LINE || kind == TOKEN_END)
            return reader_syntax_error(r, "']' after the dimensions");
        depth += kind == TOKEN_OPEN_INDEX || kind == TOKEN_OPEN || kind == TOKEN_OPEN_SET;
        depth -= kind == TOKEN_CLOSE_INDEX || kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_SET;
        if (depth == 0)
            break;
        const bool begins = depth == 1 && (kind == TOKEN_OPEN_INDEX || kind == TOKEN_COMMA);
        if (begins && shape->n == ARRAY_RANK)
            return reader_report(r, DIAG_IR_RANK, span, "an array of instances has at most %d dimensions", ARRAY_RANK);
        if (begins)
            shape->extent[shape->n++] = -1;
        else if (kind == TOKEN_INTEGER && r->token.u.integer <= INT32_MAX)
            shape->extent[shape->n - 1] = (int64_t)r->token.u.integer;
        if (!begins && kind != TOKEN_INTEGER)
            array->has_terms = true;
        *is_open |= kind == TOKEN_COLON;
    }
    reader_advance(r);
    if (array->has_terms)
        for (uint32_t k = 0; k < shape->n; k++)
            shape->extent[k] = -1;
    return true;
}

/* Whether the dimensions suit an instance of a class, or of none. */
static bool is_shape_right(Reader *r, const NewInstance *new, const InstanceArray *array, bool is_open, bool has_class)
{
    if (!array->shape.n)
        return true;
    if (has_class && is_open) {
        reader_report(r, DIAG_IR_INSTANCES, new->span, "the dimensions of this array of instances are missing");
        HELP(r, "write numbers or parameters, as in [3, N]");
        return false;
    }
    if (!has_class && !is_open) {
        reader_report(r, DIAG_IR_INSTANCES, new->span,
                      "this instance has no class, and its variables have their sizes");
        HELP(r, "write [:], with a colon for each dimension");
        return false;
    }
    return true;
}

static void add_instance(Reader *r, NewInstance *new)
{
    InstanceArray array = { .n_vars = 0 };
    bool is_open = false;
    NameId class_name;
    if ((r->token.kind == TOKEN_OPEN_INDEX && !scan_shape(r, &array, &is_open)) || !reader_parse_name(r, &class_name))
        return;
    const bool has_class = reader_find_class(r, class_name, &new->class);
    bool is_good = is_shape_right(r, new, &array, is_open, has_class);
    if (is_good && has_class && instance_rank(r->model, new->parent)) {
        is_good = reader_report(r, DIAG_IR_INSTANCES, new->span, "an instance of a class within an array of instances");
        HELP(r, "put it into the class of the array");
    }
    if (!is_good || (has_class && !add_composed(r, new, &array))) {
        r->mistakes.failed = true;
        return;
    }
    const uint64_t key = key_of(new->parent.index, new->name);
    if (has_class && array.shape.n) {
        map_put(&r->scope->array_names, key, r->scope->arrays.n);
        vec_push(r->scratch, &r->scope->arrays, array);
    }
    if (has_class)
        return;
    const Instance instance = {
        .name = new->name, .class_name = class_name, .parent = new->parent, .rank = array.shape.n, .span = new->span
    };
    map_put(&r->scope->instances, key, r->model->instances.n);
    vec_push(r->arena, &r->model->instances, instance);
}

/* instance a.b Class: behind the keyword. Returns false when the parent is not declared yet and nothing is done. */
static bool declare_instance(Reader *r, bool is_last_try)
{
    const uint32_t begin = r->token.begin;
    NewInstance new = { .parent = { 0 } };
    uint32_t earlier;
    for (;;) {
        if (!reader_parse_name(r, &new.name))
            return true;
        if (r->token.kind != TOKEN_DOT)
            break;
        if (!map_get(&r->scope->instances, key_of(new.parent.index, new.name), &new.parent.index)) {
            if (is_last_try)
                reader_unknown_name(r, begin, "instance");
            return false;
        }
        reader_advance(r);
    }
    new.span = reader_span_from(r, begin);
    const uint64_t key = key_of(new.parent.index, new.name);
    if (map_get(&r->scope->instances, key, &earlier))
        reader_declared_twice(r, new.span, "instance", names_of(r->names, new.name),
                              r->model->instances.at[earlier].span);
    else if (map_get(&r->scope->array_names, key, &earlier))
        reader_declared_twice(r, new.span, "instance", names_of(r->names, new.name), SPAN_NONE);
    else
        add_instance(r, &new);
    return true;
}

/* Parents before their children, whatever the order of the text. An instance whose parent comes later waits; waiting
 * ones are tried again, last first, as long as that helps. */
void reader_declare_instances(Reader *r)
{
    VEC(uint32_t) waiting = { 0 };
    for (uint32_t k = 0; k < r->scope->records.n; k++) {
        if (r->scope->records.at[k].kind != RECORD_INSTANCE)
            continue;
        reader_jump(r, r->scope->records.at[k].at);
        if (!declare_instance(r, false))
            vec_push(r->arena, &waiting, r->scope->records.at[k].at);
    }
    bool helps = true;
    for (uint32_t round = 0; helps && round < BLOCK_DEPTH; round++) {
        uint32_t left = 0;
        const uint32_t n = waiting.n;
        for (uint32_t k = n; k-- > 0;) {
            reader_jump(r, waiting.at[k]);
            if (declare_instance(r, false))
                waiting.at[k] = ID_NONE;
        }
        for (uint32_t k = 0; k < n; k++)
            if (waiting.at[k] != ID_NONE)
                waiting.at[left++] = waiting.at[k];
        helps = left < n;
        waiting.n = left;
    }
    for (uint32_t k = 0; k < waiting.n; k++) {
        reader_jump(r, waiting.at[k]);
        declare_instance(r, true);
    }
}

/* ---- reading ---- */
/* The variables that a path in an instance means: of each element of an array that is written out. */
static bool find_modified(Reader *r, const NameId *path, uint32_t n, const InstanceArray *array, VarId **vars,
                          uint32_t *n_vars)
{
    const bool is_written_out = array && array->is_written_out;
    const uint32_t own = r->name.path.n;
    *n_vars = is_written_out ? (uint32_t)shape_count(&array->shape) : 1;
    *vars = NEW_ARRAY(r->arena, VarId, *n_vars);
    for (uint32_t k = 0; k < n; k++)
        vec_push(r->arena, &r->name.path, path[k]);
    memmove(r->name.path.at + n, r->name.path.at, own * sizeof *path);
    memcpy(r->name.path.at, path, n * sizeof *path);
    if (is_written_out)
        r->name.path.at[n - 1] = instance_element_name(r->model, path[n - 1], &array->shape, 0);
    if (!reader_find_variable(r, *vars))
        return false;
    for (uint32_t k = 1; k < *n_vars; k++)
        (*vars)[k].index = (*vars)[0].index + k * (array->n_vars / *n_vars);
    return true;
}

/* The value of one element among those in braces; TERM_NONE: reported. */
static Term value_of_element(Reader *r, const ArrayShape *shape, uint64_t number, Term values, Span span)
{
    uint64_t below = shape_count(shape);
    const Expr *e = values.shape;
    for (uint32_t d = 0; d < shape->n; d++) {
        below /= (uint64_t)shape->extent[d];
        if (e->kind != EXPR_ARRAY || e->n_args != shape->extent[d]) {
            reader_report(r, DIAG_IR_INSTANCES, span,
                          "an array that is written out takes one value, or as many as it "
                          "has instances");
            HELP(r, "write them in braces, as in {1.0, 2.0}");
            return TERM_NONE;
        }
        e = e->args[number / below];
        number %= below;
    }
    return term_make(r->model, e, term_refs(r->model, values));
}

/* What was said of each instance, of a variable without dimensions. */
static void settle_flags(Variable *v)
{
    if (!term_is_absent(v->fixed) && v->fixed.shape->type.rank == 0) {
        v->is_fixed = v->fixed.shape->u.integer;
        v->fixed = TERM_NONE;
    }
    if (!term_is_absent(v->wishes) && v->wishes.shape->type.rank == 0) {
        v->select = (uint8_t)v->wishes.shape->u.integer;
        v->wishes = TERM_NONE;
    }
}

/* Attributes of a variable of all instances of an array that is written out: one for all, or one for each in braces. */
static bool parse_for_elements(Reader *r, const ArrayShape *shape, const VarId *vars, uint32_t n_vars)
{
    const uint32_t begin = r->token.begin;
    const uint8_t rank = model_var(r->model, vars[0])->type.rank;
    model_var(r->model, vars[0])->type.rank = (uint8_t)(rank + shape->n);
    const bool is_good = reader_parse_attributes(r, vars, n_vars);
    model_var(r->model, vars[0])->type.rank = rank;
    for (uint32_t k = 0; is_good && k < n_vars; k++)
        for (int of = 0; of < 7; of++) {
            Variable *v = model_var(r->model, vars[k]);
            Term *const terms[] = { &v->binding, &v->start, &v->nominal, &v->min, &v->max, &v->fixed, &v->wishes };
            if (term_is_absent(*terms[of]) || terms[of]->shape->type.rank <= rank)
                continue;
            *terms[of] = value_of_element(r, shape, k, *terms[of], reader_span_from(r, begin));
            if (term_is_absent(*terms[of]))
                return false;
            if (rank == 0 && of >= 5)
                settle_flags(v);
        }
    return is_good;
}

/* (C = 0.001, u start 0.0 fixed): the paths begin at the instance. */
static bool parse_modifications(Reader *r, const NameId *path, uint32_t n, const InstanceArray *array)
{
    if (array && array->is_written_out && shape_count(&array->shape) == 0)
        return reader_report(r, DIAG_IR_INSTANCES, reader_token_span(r), "there is no instance to modify");
    do {
        const uint32_t begin = r->token.begin;
        VarId *vars;
        uint32_t n_vars;
        if (!reader_parse_path(r))
            return false;
        if (!find_modified(r, path, n, array, &vars, &n_vars))
            return reader_unknown_name(r, begin, "variable of the instance");
        if (!reader_has_attribute(r))
            return reader_syntax_error(r, "'=' or an attribute");
        const bool is_one = !array || !array->is_written_out;
        if (!(is_one ? reader_parse_attributes(r, vars, 1) : parse_for_elements(r, &array->shape, vars, n_vars)))
            return false;
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, TOKEN_CLOSE, "',' or ')' after a modification");
}

/* [N, 2] once more: the extents that were not known yet. */
static bool parse_extents(Reader *r, const InstanceArray *array)
{
    Term extents[ARRAY_RANK];
    uint32_t n = 0;
    if (!reader_expect(r, TOKEN_OPEN_INDEX, "'['"))
        return false;
    do {
        if (!reader_parse_term(r, INTEGER_TYPE, &extents[n++]))
            return false;
    } while (n < array->shape.n && reader_accept(r, TOKEN_COMMA));
    if (!reader_expect(r, TOKEN_CLOSE_INDEX, "',' or ']' after a dimension"))
        return false;
    if (array->has_terms)
        model_set_extents(r->model, array->first_var, array->n_vars, n, extents);
    return true;
}

/* The name of an instance: its path goes to `path`; of an array of a class, `array` is told. */
static bool parse_instance_name(Reader *r, NameId **path, uint32_t *n, uint32_t *instance, const InstanceArray **array)
{
    uint32_t number;
    if (!reader_parse_path(r))
        return false;
    *n = r->name.path.n;
    *path = NEW_ARRAY(r->arena, NameId, *n);
    memcpy(*path, r->name.path.at, *n * sizeof **path);
    *instance = 0;
    *array = NULL;
    for (uint32_t k = 0; k < *n; k++) {
        const NameId name = (*path)[k];
        const uint64_t key = key_of(*instance, name);
        if (k + 1 == *n && name.index != ID_NONE && map_get(&r->scope->array_names, key, &number))
            *array = &r->scope->arrays.at[number];
        if (*array && (*array)->is_written_out)
            return true;
        if (name.index == ID_NONE || !map_get(&r->scope->instances, key, instance))
            return !(r->mistakes.failed = true); /* reported when it was declared */
    }
    return true;
}

/* What is behind the name of an instance that has no class, or is no array: [:, :] was read before. */
static bool skip_dims(Reader *r)
{
    while (r->token.kind == TOKEN_OPEN_INDEX || r->token.kind == TOKEN_COLON || r->token.kind == TOKEN_COMMA ||
           r->token.kind == TOKEN_CLOSE_INDEX)
        reader_advance(r);
    return true;
}

bool reader_parse_instance(Reader *r, uint32_t begin)
{
    NameId class_name, language = { 0 }, *path;
    uint32_t n, instance, class;
    const InstanceArray *array;
    if (!parse_instance_name(r, &path, &n, &instance, &array) ||
        !(array && r->token.kind == TOKEN_OPEN_INDEX ? parse_extents(r, array) : skip_dims(r)) ||
        !reader_parse_name(r, &class_name) ||
        (reader_accept_word(r, WORD_LANGUAGE) && !reader_parse_plain_or_string(r, &language)))
        return false;
    const Span open = reader_token_span(r);
    if (reader_accept(r, TOKEN_OPEN)) {
        if (!reader_find_class(r, class_name, &class)) {
            reader_report(r, DIAG_IR_UNKNOWN_NAME, open, "there is no class %s to modify",
                          names_of(r->names, class_name));
            HELP(r, "declare it in this file: class %s ... end %s", names_of(r->names, class_name),
                 names_of(r->names, class_name));
            return false;
        }
        if (!parse_modifications(r, path, n, array))
            return false;
    }
    Span span;
    if (!reader_parse_element_end(r, begin, &span))
        return false;
    if (array && array->is_written_out)
        return true;
    Instance *row = &r->model->instances.at[instance];
    row->span = span;
    if (!name_is_empty(language))
        row->language = names_of(r->names, language);
    else if (!row->language)
        row->language = r->model->instances.at[row->parent.index].language;
    return true;
}

/* ---- elements of arrays that are written out ---- */
/* [2, 3 of the element; its own indices may follow. */
static bool parse_element(Reader *r, const ArrayShape *shape, uint64_t *number)
{
    *number = 0;
    if (!reader_expect(r, TOKEN_OPEN_INDEX, "the indices of an instance, for this array is written out"))
        return false;
    for (uint32_t k = 0; k < shape->n; k++) {
        int64_t index;
        if (k && !reader_expect(r, TOKEN_COMMA, "',' and the index of the next dimension"))
            return false;
        if (!reader_parse_integer(r, 1, shape->extent[k], &index)) {
            HELP(r, "this array of instances is written out: its indices are numbers");
            return false;
        }
        *number = *number * (uint64_t)shape->extent[k] + (uint64_t)index - 1;
    }
    if (r->token.kind != TOKEN_COMMA)
        return reader_expect(r, TOKEN_CLOSE_INDEX, "']' after the indices of an instance");
    r->token.kind = TOKEN_OPEN_INDEX; /* what follows are indices of the variable */
    return true;
}

bool reader_path_to_element(Reader *r)
{
    uint32_t instance = 0, number;
    for (uint32_t k = 0; r->scope->arrays.n && k + 1 < r->name.path.n; k++) {
        const NameId name = r->name.path.at[k];
        const uint64_t key = key_of(instance, name);
        if (name.index == ID_NONE)
            break;
        if (map_get(&r->scope->array_names, key, &number) && r->scope->arrays.at[number].is_written_out) {
            const ArrayShape shape = r->scope->arrays.at[number].shape;
            uint64_t element;
            if (!parse_element(r, &shape, &element))
                return false;
            r->name.path.at[k] = instance_element_name(r->model, name, &shape, element);
            return true;
        }
        if (!map_get(&r->scope->instances, key, &instance))
            break;
    }
    return true;
}
