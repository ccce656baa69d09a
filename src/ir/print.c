/* Printing a Model, element by element; see print.h.
 *
 * The body is printed first: only then is known which sources, enumerations, tables and shapes it uses. Their
 * declarations are put before it at the end. They are numbered in the order of first use, so that
 * nothing in the text depends on numbers in the pool or among the sources. */
#include "ir/print.h"
#include "base/bug.h"
#include "ir/print_model.h"

/* ---- variables ---- */
static void put_dims(Printer *p, const Variable *v)
{
    if (v->type.rank == 0)
        return;
    text_char(p->to, '[');
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Dim *dim = &p->model->dims.at[v->first_dim + k];
        if (k)
            printer_put(p, ", ");
        if (dim->term.shape->kind == EXPR_RANGE) /* open, of an input of a function */
            text_char(p->to, ':');
        else
            printer_put_term(p, dim->term, BINDS_OR);
        if (dim->extent >= 0 && dim->term.shape->kind != EXPR_INTEGER)
            text_format(p->to, " = %lld", (long long)dim->extent);
    }
    text_char(p->to, ']');
}

static bool is_parameter(const Variable *v)
{
    return v->variability <= VARIABILITY_PARAMETER;
}

static uint8_t usual_variability(Type type)
{
    return type.kind == TYPE_REAL ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE;
}

/* From the type to the end of the line. */
/* {always, {never, ...}}: the words have blanks in front of them. */
static void put_wishes(Printer *p, const Expr *e)
{
    if (e->kind != EXPR_ARRAY) {
        printer_put(p, word_text(select_words.words[e->u.integer]));
        return;
    }
    printer_put(p, "{");
    for (uint32_t k = 0; k < e->n_args; k++) {
        printer_put(p, k ? ", " : "");
        put_wishes(p, e->args[k]);
    }
    printer_put(p, "}");
}

static void put_variable_row(Printer *p, const Variable *v, bool is_field)
{
    printer_put_space(p);
    printer_put_type(p, v->type);
    put_dims(p, v);
    if (v->variability == VARIABILITY_STRUCTURAL)
        printer_put_word(p, WORD_STRUCTURAL);
    if (is_field ? v->variability != usual_variability(v->type) : !is_parameter(v))
        printer_put_choice(p, &variability_words, v->variability);
    if (v->definition != (is_parameter(v) && !is_field ? DEFINITION_BINDING : DEFINITION_NONE))
        printer_put_choice(p, &definition_words, v->definition);
    printer_put_clock(p, v->clock);
    if (v->causality != CAUSALITY_LOCAL) {
        printer_put_word(p, WORD_CAUSALITY);
        printer_put_choice(p, &causality_words, v->causality);
    }
    if (!term_is_absent(v->binding)) {
        printer_put(p, " = ");
        printer_put_term(p, v->binding, BINDS_OR);
    }
    if (v->is_free)
        printer_put_word(p, WORD_FREE);
    printer_put_attribute(p, WORD_START, v->start);
    if (v->is_fixed || v->fixed.shape)
        printer_put_word(p, WORD_FIXED);
    if (v->fixed.shape) {
        printer_put_space(p);
        printer_put_term(p, v->fixed, BINDS_OR);
    }
    printer_put_attribute(p, WORD_NOMINAL, v->nominal);
    printer_put_attribute(p, WORD_MIN, v->min);
    printer_put_attribute(p, WORD_MAX, v->max);
    if (v->select != SELECT_DEFAULT || v->wishes.shape)
        printer_put_word(p, WORD_SELECT);
    if (v->wishes.shape) {
        printer_put_space(p);
        put_wishes(p, v->wishes.shape);
    } else if (v->select != SELECT_DEFAULT) {
        printer_put_choice(p, &select_words, v->select);
    }
    if (v->is_torn)
        printer_put_word(p, WORD_TEAR);
    if (!var_is_none(v->residual)) {
        printer_put_word(p, WORD_RESIDUAL);
        printer_put_space(p);
        printer_put_variable(p, v->residual);
    }
    printer_put_text_attribute(p, WORD_UNIT, v->unit);
    printer_put_text_attribute(p, WORD_DISPLAYUNIT, v->display_unit);
    printer_put_text_attribute(p, WORD_QUANTITY, v->quantity);
    printer_put_text_attribute(p, WORD_COMMENT, v->comment);
    if (v->is_protected)
        printer_put_word(p, WORD_PROTECTED);
    if (v->is_kept)
        printer_put_word(p, WORD_KEEP);
    if (v->is_generated)
        printer_put_word(p, WORD_GENERATED);
    if (!var_is_none(v->origin)) {
        printer_put_word(p, WORD_ORIGIN);
        printer_put_space(p);
        printer_put_variable(p, v->origin);
    }
    printer_end_line(p, v->span);
}

static void print_variables(Printer *p)
{
    for (uint32_t k = 0; k < p->model->variables.n; k++) {
        const Variable *v = &p->model->variables.at[k];
        printer_begin_line(p, v->variability == VARIABILITY_CONSTANT ? WORD_CONST
                              : is_parameter(v)                      ? WORD_PARAM
                                                                     : WORD_VAR);
        printer_put_space(p);
        printer_put_path(p, v->owner, v->name);
        put_variable_row(p, v, false);
    }
}

static void print_aliases(Printer *p)
{
    for (uint32_t k = 0; k < p->model->variables.n; k++) {
        const Variable *v = &p->model->variables.at[k];
        if (var_is_none(v->alias))
            continue;
        printer_begin_line(p, WORD_ALIAS);
        printer_put_space(p);
        printer_put_variable(p, (VarId){ k });
        printer_put(p, " = ");
        if (v->is_negated)
            printer_put(p, v->type.kind == TYPE_BOOLEAN ? "not " : "-");
        printer_put_variable(p, v->alias);
        printer_end_line(p, SPAN_NONE);
    }
}

/* ---- time-driven elements ---- */
static void begin_labelled(Printer *p, Word keyword, LabelKind kind, uint32_t index)
{
    printer_begin_line(p, keyword);
    printer_put_space(p);
    printer_put_label(p, kind, index);
}

static void print_channels(Printer *p)
{
    for (uint32_t k = 0; k < p->model->channels.n; k++) {
        const Channel *c = &p->model->channels.at[k];
        begin_labelled(p, WORD_CHANNEL, LABEL_CHANNEL, k);
        printer_put_word(p, WORD_CAPACITY);
        printer_put_space(p);
        printer_put_number(p, c->capacity);
        if (c->by_priority)
            printer_put_word(p, WORD_PRIORITY);
        if (c->keep)
            printer_put_word(p, WORD_KEEP);
        if (c->n_fields)
            printer_put(p, " (");
        for (uint32_t f = 0; f < c->n_fields; f++) {
            if (f)
                printer_put(p, ", ");
            printer_put_variable(p, p->model->fields.at[c->first_field + f]);
        }
        if (c->n_fields)
            text_char(p->to, ')');
        if (!var_is_none(c->head)) {
            printer_put_word(p, WORD_HEAD);
            printer_put_space(p);
            printer_put_variable(p, c->head);
        }
        printer_end_line(p, c->span);
    }
}

static void put_ratio(Printer *p, int64_t numerator, int64_t denominator)
{
    printer_put_space(p);
    text_integer(p->to, numerator);
    if (denominator == 1)
        return;
    text_char(p->to, '/');
    text_integer(p->to, denominator);
}

static void print_clocks(Printer *p)
{
    for (uint32_t k = 0; k < p->model->clocks.n; k++) {
        const Clock *c = &p->model->clocks.at[k];
        begin_labelled(p, WORD_CLOCK, LABEL_CLOCK, k);
        printer_put_choice(p, &clock_words, c->kind);
        if (c->kind >= CLOCK_SUB) {
            printer_put_space(p);
            printer_put_label(p, LABEL_CLOCK, c->base);
        }
        if (c->kind == CLOCK_PERIODIC || c->kind >= CLOCK_SUB)
            put_ratio(p, c->numerator, c->denominator);
        printer_put_attribute(p, WORD_WHEN, c->condition);
        printer_put_attribute(p, WORD_START, c->start);
        printer_put_attribute(p, WORD_INTERVAL, c->interval);
        if (c->method) {
            printer_put_word(p, WORD_METHOD);
            printer_put_choice(p, &method_words, c->method);
        }
        printer_end_line(p, c->span);
    }
}

static void put_profile(Printer *p, const Delay *d)
{
    if (var_is_none(d->points))
        return;
    printer_put_word(p, WORD_FROM);
    printer_put_space(p);
    printer_put_variable(p, d->points);
    printer_put_space(p);
    printer_put_variable(p, d->values);
}

static void print_delays(Printer *p)
{
    for (uint32_t k = 0; k < p->model->delays.n; k++) {
        const Delay *d = &p->model->delays.at[k];
        begin_labelled(p, WORD_DELAY, LABEL_DELAY, k);
        printer_put_space(p);
        printer_put_variable(p, d->output);
        printer_put_attribute(p, WORD_OF, d->input);
        printer_put_attribute(p, WORD_BY, d->amount);
        printer_put_attribute(p, WORD_MAX, d->max);
        printer_put_attribute(p, WORD_ALONG, d->position);
        printer_put_attribute(p, WORD_BACK, d->back);
        printer_put_attribute(p, WORD_WHEN, d->forward);
        put_profile(p, d);
        printer_end_line(p, d->span);
    }
}

static void put_stream_variable(Printer *p, Word word, VarId var)
{
    if (var_is_none(var))
        return;
    printer_put_word(p, word);
    printer_put_space(p);
    printer_put_variable(p, var);
}

static void print_streams(Printer *p)
{
    for (uint32_t k = 0; k < p->model->streams.n; k++) {
        begin_labelled(p, WORD_STREAM, LABEL_STREAM, k);
        put_stream_variable(p, WORD_KEY, p->model->streams.at[k].key);
        put_stream_variable(p, WORD_COUNT, p->model->streams.at[k].count);
        printer_end_line(p, p->model->streams.at[k].span);
    }
}

static void print_assertions(Printer *p)
{
    for (uint32_t k = 0; k < p->model->assertions.n; k++) {
        const Assertion *a = &p->model->assertions.at[k];
        begin_labelled(p, WORD_ASSERT, LABEL_ASSERTION, k);
        printer_put_space(p);
        printer_put_domain(p, a->domain);
        printer_put_term(p, a->condition, BINDS_OR);
        printer_put(p, a->message.shape->kind == EXPR_STRING ? " " : ", ");
        printer_put_term(p, a->message, BINDS_IF);
        if (a->level == ASSERT_WARNING || !term_is_absent(a->warns))
            printer_put_word(p, WORD_WARNING);
        if (!term_is_absent(a->warns)) {
            printer_put(p, " if ");
            printer_put_term(p, a->warns, BINDS_OR);
        }
        if (a->region.index != ID_NONE)
            printer_put_region_ref(p, a->region, a->branch);
        printer_leave_domain(p, a->domain);
        printer_end_line(p, a->span);
    }
}

static void print_tasks(Printer *p)
{
    static const Word words[] = { [TASK_UNKNOWN] = WORD_UNKNOWN, [TASK_KNOWN] = WORD_KNOWN, [TASK_REST] = WORD_REST };
    for (uint32_t k = 0; k < p->model->tasks.n; k++) {
        const Task *task = &p->model->tasks.at[k];
        const bool is_derivative = task->ref.kind == REF_DER;
        printer_begin_line(p, WORD_TASK);
        printer_put_word(p, words[task->kind]);
        printer_put(p, is_derivative ? " der(" : " ");
        printer_put_variable(p, task->ref.var);
        printer_put(p, is_derivative ? ")" : "");
        if (!term_is_absent(task->value)) {
            printer_put(p, " = ");
            printer_put_term(p, task->value, BINDS_SUM);
        }
        printer_end_line(p, task->span);
    }
}

/* ---- functions ---- */
static void print_function(Printer *p, uint32_t index)
{
    const Function *f = p->model->functions.at[index];
    begin_labelled(p, WORD_FUNCTION, LABEL_FUNCTION, index);
    if (!f->is_pure)
        printer_put_word(p, WORD_IMPURE);
    printer_put_external(p, f);
    printer_end_line(p, f->span);
    p->indent++;
    p->model = f->body;
    for (uint32_t k = 0; k < function_fields(f); k++) {
        printer_begin_line(p, k < f->n_inputs ? WORD_INPUT : k < f->n_inputs + f->n_outputs ? WORD_OUTPUT : WORD_LOCAL);
        printer_put_space(p);
        printer_put_name(p, f->body->variables.at[k].name);
        put_variable_row(p, &f->body->variables.at[k], true);
    }
    printer_put_mapping(p, f);
    printer_put_declared(p, f);
    if (f->first)
        printer_put_body(p, f->first);
    p->model = p->labelled;
    p->indent--;
    printer_put_end_label(p, LABEL_FUNCTION, index);
}

/* ---- structure ---- */
static const char *source_language(const Printer *p, Span span)
{
    if (span.source == SOURCE_NONE || p->options.no_places || !p->model->sources)
        return TEXT_FORM;
    const char *language = sources_get(p->model->sources, span.source)->language;
    return language ? language : TEXT_FORM;
}

static void put_language(Printer *p, const char *language, const char *usual)
{
    if (!language || strcmp(language, usual) == 0)
        return;
    printer_put_word(p, WORD_LANGUAGE);
    printer_put_space(p);
    printer_put_plain_or_string(p, language);
}

static const char *language_of(const Printer *p, InstanceId instance)
{
    while (instance.index != ID_NONE) {
        const Instance *node = &p->model->instances.at[instance.index];
        if (node->language && instance.index != 0)
            return node->language;
        instance = node->parent;
    }
    return p->model->language ? p->model->language : source_language(p, p->model->span);
}

static void print_instances(Printer *p)
{
    for (uint32_t k = 1; k < p->model->instances.n; k++) {
        const Instance *instance = &p->model->instances.at[k];
        printer_begin_line(p, WORD_INSTANCE);
        printer_put_space(p);
        printer_put_path(p, instance->parent, instance->name);
        for (uint32_t d = 0; d < instance->rank; d++)
            printer_put(p, d ? ", :" : "[:");
        printer_put(p, instance->rank ? "] " : " ");
        printer_put_name(p, instance->class_name);
        put_language(p, instance->language, language_of(p, instance->parent));
        printer_end_line(p, instance->span);
    }
}

/* ---- occurrence trees ---- */
/* Number of the argument of `above` that is `node`, or n_args. */
static uint32_t argument_number(const Expr *above, const Expr *node)
{
    uint32_t k = 0;
    while (k < above->n_args && above->args[k] != node)
        k++;
    return k;
}

/* The node is written as seen from the occurrence above it (. itself, .2 its second argument), as a side of the
 * equation (lhs, rhs), or in full. */
static void put_node(Printer *p, const Expr *node, const Expr *above, const Expr *lhs, const Expr *rhs)
{
    if (!node)
        text_char(p->to, '-');
    else if (above && node == above)
        text_char(p->to, '.');
    else if (above && argument_number(above, node) < above->n_args)
        text_format(p->to, ".%u", argument_number(above, node) + 1);
    else if (node == lhs)
        printer_put(p, "lhs");
    else if (node == rhs)
        printer_put(p, "rhs");
    else
        printer_put_expr(p, node, NULL, BINDS_OR);
}

typedef struct {
    uint32_t end;
    const Expr *node;
} Above;

static void put_spans(Printer *p, Word keyword, const Origin *origin, const char *label, const Expr *lhs,
                      const Expr *rhs)
{
    VEC(Above) above = { 0 };
    printer_begin_line(p, WORD_OF);
    printer_put_word(p, keyword);
    text_format(p->to, " %s\n", label);
    for (uint32_t k = 0; k < origin->n_occurrences; k++) {
        const Occurrence *o = &p->model->occurrences.at[origin->first_occurrence + k];
        while (above.n && above.at[above.n - 1].end <= k)
            above.n--;
        printer_begin_line(p, WORD_SPAN);
        text_format(p->to, " %u ", o->n_below);
        put_node(p, o->node, above.n ? above.at[above.n - 1].node : NULL, lhs, rhs);
        printer_end_line(p, o->span);
        const Above next = { k + 1 + o->n_below, o->node };
        vec_push(p->arena, &above, next);
    }
}

static const char *label_text(Printer *p, LabelKind kind, uint32_t index)
{
    Text text = { .arena = p->arena };
    Text *to = p->to;
    p->to = &text;
    printer_put_label(p, kind, index);
    p->to = to;
    return text.at;
}

static void print_spans(ModelPrinter *mp)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    if (p->options.no_places || model->occurrences.n == 0)
        return;
    const size_t before = p->to->n;
    printer_begin_line(p, WORD_SPANS);
    text_char(p->to, '\n');
    const size_t empty = p->to->n;
    p->indent++;
    for (uint32_t k = 0; k < mp->numbering[LABEL_EQUATION].order.n; k++) {
        const uint32_t index = mp->numbering[LABEL_EQUATION].order.at[k];
        const Equation *e = &model->equations.at[index];
        if (e->origin.n_occurrences)
            put_spans(p, WORD_EQ, &e->origin, label_text(p, LABEL_EQUATION, index), e->lhs.shape, e->rhs.shape);
    }
    for (uint32_t k = 0; k < mp->numbering[LABEL_TRANSITION].order.n; k++) {
        const uint32_t index = mp->numbering[LABEL_TRANSITION].order.at[k];
        const Transition *t = &model->transitions.at[index];
        if (t->origin.n_occurrences)
            put_spans(p, WORD_TRANS, &t->origin, label_text(p, LABEL_TRANSITION, index), NULL, NULL);
    }
    for (uint32_t k = 0; k < model->relations.n; k++)
        if (model->relations.at[k].origin.n_occurrences)
            put_spans(p, WORD_RELATION, &model->relations.at[k].origin, arena_format(p->arena, "k%u", k + 1),
                      model->relations.at[k].left.shape, model->relations.at[k].right.shape);
    for (uint32_t k = 0; k < model->steps.n; k++)
        if (model->steps.at[k].origin.n_occurrences)
            put_spans(p, WORD_STEPFN, &model->steps.at[k].origin, arena_format(p->arena, "s%u", k + 1),
                      model->steps.at[k].argument.shape, NULL);
    p->indent--;
    if (p->to->n == empty)
        p->to->at[p->to->n = before] = 0;
    else
        printer_put_end(p, WORD_SPANS);
}

/* ---- the whole ---- */
static void fill_paths(Printer *p)
{
    const Model *model = p->model;
    const char **paths = NEW_ARRAY(p->arena, const char *, model->instances.n);
    map_init(&p->top_instances, p->arena, 16);
    for (uint32_t k = 0; k < model->instances.n; k++) {
        const Instance *instance = &model->instances.at[k];
        if (instance->parent.index == ID_NONE) {
            paths[k] = "";
            continue;
        }
        REQUIRE(instance->parent.index < k);
        Text path = { .arena = p->arena };
        Text *to = p->to;
        p->to = &path;
        printer_put(p, paths[instance->parent.index]);
        printer_put_name(p, instance->name);
        text_char(p->to, '.');
        p->to = to;
        paths[k] = path.at;
        if (instance->parent.index == 0)
            map_put(&p->top_instances, instance->name.index, k);
    }
    p->paths = paths;
}

static void print_model(ModelPrinter *mp)
{
    Printer *p = &mp->p;
    const Model *model = p->model;
    printer_put(p, "model ");
    printer_put_name(p, model->name);
    put_language(p, model->language, source_language(p, model->span));
    printer_end_line(p, model->span);
    if (model->facts)
        text_format(p->to, "facts %u\n", model->facts);
    print_instances(p);
    print_variables(p);
    printer_put_ports(p);
    print_channels(p);
    print_clocks(p);
    print_streams(p);
    for (uint32_t k = 0; k < model->functions.n; k++)
        print_function(p, k);
    printer_each_dynamic(mp, printer_print_equation, printer_print_region, printer_print_transition);
    print_delays(p);
    printer_print_foreigns(p);
    printer_print_relations(p);
    printer_print_steps(p);
    printer_print_state_sets(p);
    print_assertions(p);
    print_tasks(p);
    printer_put_connections(p);
    print_aliases(p);
    print_spans(mp);
    printer_put(p, "end ");
    printer_put_name(p, model->name);
    text_char(p->to, '\n');
}

static void print_sources(Printer *p)
{
    for (uint32_t k = 0; k < p->used.sources.items.n; k++) {
        const Source *source = sources_get(p->model->sources, p->used.sources.items.at[k]);
        text_format(p->to, "source %u ", k);
        printer_put_quoted(p, source->path, strlen(source->path), '"');
        if (source->language) {
            printer_put_space(p);
            printer_put_plain_or_string(p, source->language);
        }
        text_char(p->to, '\n');
    }
}

static void print_enumerations(Printer *p)
{
    for (uint32_t k = 0; k < p->used.enumerations.items.n; k++) {
        const Enumeration *e = pool_get_enumeration(p->model->pool, p->used.enumerations.items.at[k]);
        const char *label = printer_enumeration_label(p, p->used.enumerations.items.at[k]);
        printer_put(p, e->is_object ? "object " : "enum ");
        if (label == names_of(p->names, e->name)) {
            printer_put_name(p, e->name);
        } else {
            printer_put(p, label);
            printer_put_word(p, WORD_NAMED);
            printer_put_space(p);
            printer_put_name(p, e->name);
        }
        if (e->is_object) {
            text_char(p->to, '\n');
            continue;
        }
        printer_put(p, e->is_ordered ? " ordered (" : " (");
        for (uint32_t v = 0; v < e->n; v++) {
            if (v)
                printer_put(p, ", ");
            printer_put_name(p, e->values[v]);
        }
        printer_put(p, ")\n");
    }
}

static void print_tables(Printer *p)
{
    for (uint32_t k = 0; k < p->used.tables.items.n; k++) {
        const Table *t = pool_get_table(p->model->pool, p->used.tables.items.at[k]);
        const char *label = printer_table_label(p, t);
        printer_put(p, "table ");
        printer_put_table(p, t);
        if (label != names_of(p->names, t->name)) {
            printer_put_word(p, WORD_NAMED);
            printer_put_space(p);
            printer_put_name(p, t->name);
        }
        printer_put_choice(p, &table_words, t->method);
        printer_put_choice(p, &outside_words, t->outside);
        for (uint32_t i = 0; i < t->n; i++) {
            printer_put(p, " (");
            text_real_point(p->to, t->x[i]);
            printer_put(p, ", ");
            text_real_point(p->to, t->y[i]);
            text_char(p->to, ')');
        }
        text_char(p->to, '\n');
    }
}

static void print_shapes(Printer *p)
{
    for (uint32_t k = 0; k < p->used.shapes.items.n; k++) {
        text_format(p->to, "shape s%u = ", k + 1);
        printer_put_expr(p, pool_node(p->model->pool, p->used.shapes.items.at[k]), NULL, BINDS_IF);
        text_char(p->to, '\n');
    }
}

/* Moves what was added to the text since `middle` in front of what was added since `begin`. */
static void move_to_front(Printer *p, size_t begin, size_t middle)
{
    Text *to = p->to;
    const size_t size = to->n - middle;
    char *copy = arena_text(p->arena, to->at + middle, size);
    memmove(to->at + begin + size, to->at + begin, middle - begin);
    memcpy(to->at + begin, copy, size);
}

ModelPrinter printer_create_model(const Model *model, Text *to, PrintOptions options)
{
    ModelPrinter mp = { .p = printer_create(model, to, options) };
    Printer *p = &mp.p;
    p->words = words_create(p->arena);
    p->spelling = NEW_ARRAY(p->arena, uint8_t, names_count(p->names));
    fill_paths(p);
    printer_find_order(&mp);
    return mp;
}

void model_print(const Model *model, Text *to, PrintOptions options)
{
    ModelPrinter mp = printer_create_model(model, to, options);
    Printer *p = &mp.p;
    const size_t begin = to->n;
    print_model(&mp);
    /* Shapes may use enumerations and tables that nothing else does: so they come first, then move behind them. */
    const size_t body_end = to->n;
    print_shapes(p);
    const size_t shapes_end = to->n;
    printer_put(p, TEXT_FORM " 1\n");
    print_sources(p);
    print_enumerations(p);
    print_tables(p);
    move_to_front(p, body_end, shapes_end);
    move_to_front(p, begin, body_end);
}
