/* See task_text.h. Names are paths as in the results; where no name is like it they count without regard to case. */
#include "ir/task_text.h"
#include "base/names.h"
#include "base/text.h"
#include <strings.h>

typedef struct {
    Model *model;
    Arena *arena;
    Diag *diag;
    Span span;
    const char *item;              /* in messages */
    uint32_t first_rest, end_rest; /* tasks that `steady` made of all states */
} TaskReader;

static bool wrong(const TaskReader *r, const char *what)
{
    diag_error(r->diag, DIAG_TASK_TEXT, r->span, "'%s' in the task: %s", r->item, what);
    diag_help(r->diag,
              "a task is `steady`, `start steady`, or a list of `unknown NAME`, `known NAME`, `known NAME = VALUE`, "
              "`steady NAME`, `start steady NAME`; NAME may be `der(NAME)` after `known`");
    return false;
}

/* The word at the beginning, followed by a space or the end. */
static bool accept(const char **at, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] && (*at)[n] != ' '))
        return false;
    *at += n;
    *at += strspn(*at, " ");
    return true;
}

static bool no_such_name(const TaskReader *r, const char *name)
{
    uint32_t best = 4;
    const char *nearest = NULL;
    for (uint32_t k = 0; k < r->model->variables.n; k++) {
        const char *path = variable_path(r->model, (VarId){ k }, r->arena);
        const uint32_t distance = edit_distance(name, path, best);
        if (distance < best && distance < strlen(path)) {
            best = distance;
            nearest = path;
        }
    }
    diag_error(r->diag, DIAG_TASK_NAME, r->span, "the task names '%s', which the model does not have", name);
    if (nearest)
        diag_help(r->diag, "did you mean '%s'?", nearest);
    else
        diag_help(r->diag, "names are paths as in the results: 'object.variable'; `koine check --symbols` lists them");
    return false;
}

static bool find(const TaskReader *r, const char *name, VarId *var)
{
    uint32_t similar = ID_NONE, n_similar = 0;
    for (uint32_t k = 0; k < r->model->variables.n; k++) {
        const char *path = variable_path(r->model, (VarId){ k }, r->arena);
        if (strcmp(path, name) == 0) {
            *var = (VarId){ k };
            return true;
        }
        if (strcasecmp(path, name) == 0) {
            similar = k;
            n_similar++;
        }
    }
    *var = (VarId){ similar };
    return n_similar == 1 || no_such_name(r, name);
}

/* NAME or der(NAME). */
static bool read_ref(const TaskReader *r, const char *text, Ref *ref)
{
    const size_t n = strlen(text);
    const bool is_derivative = strncmp(text, "der(", 4) == 0 && text[n - 1] == ')';
    if (n == 0)
        return wrong(r, "a name is missing");
    ref->kind = is_derivative ? REF_DER : REF_NOW;
    return find(r, is_derivative ? arena_text(r->arena, text + 4, n - 5) : text, &ref->var);
}

static void add(const TaskReader *r, TaskKind kind, Ref ref, Term value)
{
    const Task task = { (uint8_t)kind, ref, value, r->span };
    vec_push(r->model->arena, &r->model->tasks, task);
}

static void add_rest(const TaskReader *r, VarId var, bool at_start)
{
    add(r, at_start ? TASK_REST : TASK_UNKNOWN, ref_now(var), TERM_NONE);
    if (!at_start)
        add(r, TASK_KNOWN, ref_der(var), term_real(r->model, 0));
}

/* What the tasks from `first` to `end` say about it, or NULL. */
static Task *find_task(const TaskReader *r, uint32_t first, uint32_t end, Ref ref)
{
    for (uint32_t k = first; k < end; k++) {
        Task *task = &r->model->tasks.at[k];
        if (task->ref.var.index == ref.var.index && task->ref.kind == ref.kind)
            return task;
    }
    return NULL;
}

/* All states, or the one that is named. With all of them, a state that is known is at rest where it is known to be. */
static bool read_steady(TaskReader *r, const char *name, bool at_start)
{
    Ref ref;
    if (*name) {
        if (!read_ref(r, name, &ref))
            return false;
        if (ref.kind == REF_DER)
            return wrong(r, "a state is steady, not its derivative");
        add_rest(r, ref.var, at_start);
        return true;
    }
    bool *is_state = NEW_ARRAY(r->arena, bool, r->model->variables.n + 1), any = false;
    for (uint32_t k = 0; k < r->model->refs.n; k++)
        if (r->model->refs.at[k].kind == REF_DER)
            any = is_state[r->model->refs.at[k].var.index] = true;
    const uint32_t n = r->model->tasks.n;
    for (uint32_t k = 0; k < r->model->variables.n; k++)
        if (is_state[k] && (at_start || !find_task(r, 0, n, ref_now((VarId){ k }))))
            add_rest(r, (VarId){ k }, at_start);
        else if (is_state[k] && !find_task(r, 0, n, ref_der((VarId){ k })))
            add(r, TASK_KNOWN, ref_der((VarId){ k }), term_real(r->model, 0));
    r->first_rest = n;
    r->end_rest = at_start ? n : r->model->tasks.n;
    return any || wrong(r, "the model has no states");
}

static bool read_known(const TaskReader *r, char *text)
{
    Ref ref;
    Term value = TERM_NONE;
    char *sign = strchr(text, '=');
    if (sign) {
        const char *at = sign + 1 + strspn(sign + 1, " "), *end = at + strlen(at);
        double number;
        if (at == end || text_to_real(at, end, &number) != end || !(number - number == 0))
            return wrong(r, "what stands behind '=' is not a number");
        value = term_real(r->model, number);
        while (sign > text && sign[-1] == ' ')
            sign--;
        *sign = 0;
    }
    if (!read_ref(r, text, &ref))
        return false;
    Task *earlier = find_task(r, r->first_rest, r->end_rest, ref);
    if (earlier)
        *earlier = (Task){ TASK_KNOWN, ref, value, r->span };
    else
        add(r, TASK_KNOWN, ref, value);
    return true;
}

static bool read_item(TaskReader *r, char *text)
{
    const char *at = text;
    Ref ref;
    r->item = arena_text(r->arena, text, strlen(text));
    if (accept(&at, "steady"))
        return read_steady(r, at, false);
    if (accept(&at, "start")) {
        if (!accept(&at, "steady"))
            return wrong(r, "`start` is followed by `steady`");
        return read_steady(r, at, true);
    }
    if (accept(&at, "known"))
        return read_known(r, text + (at - text));
    if (!accept(&at, "unknown"))
        return wrong(r, "it begins with none of the words");
    if (!read_ref(r, at, &ref))
        return false;
    if (ref.kind == REF_DER)
        return wrong(r, "derivatives are unknown unless they are known");
    add(r, TASK_UNKNOWN, ref, TERM_NONE);
    return true;
}

/* The end of an item: a comma outside of brackets. */
static char *end_of_item(char *at)
{
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += *at == '[' || *at == '(' ? 1 : *at == ']' || *at == ')' ? -1 : 0;
    return at;
}

bool task_read(Model *model, const char *text, Span span, Diag *diag)
{
    Arena *arena = arena_create_like(model->arena);
    TaskReader r = { .model = model, .arena = arena, .diag = diag, .span = span, .item = text };
    bool is_good = true;
    for (char *at = arena_text(arena, text, strlen(text)), *end, *next; at && is_good; at = next) {
        at += strspn(at, " ");
        end = end_of_item(at);
        next = *end ? end + 1 : NULL;
        while (end > at && end[-1] == ' ')
            end--;
        *end = 0;
        is_good = read_item(&r, at);
    }
    arena_destroy(arena);
    return is_good;
}
