/* Experiment files: the part of YAML that settings need, read event by event from libyaml.
 *
 * A mistake in one setting is reported and its value skipped; a mistake in the YAML ends the reading.
 * Aliases and deep nesting are refused when they appear, so a small file cannot grow in memory. */
#include "base/bug.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"
#include "experiment/reader.h"
#include "formats/select.h"
#include <string.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 1 << 20, DEEPEST = 8 };

/* libyaml counts characters, a Span counts bytes. Places mostly come in rising order. */
static uint32_t byte_of(Reader *reader, size_t index)
{
    if (index < reader->mark_index) {
        reader->mark_index = 0;
        reader->mark_byte = 0;
    }
    const char *text = reader->source->text;
    while (reader->mark_index < index && reader->mark_byte < reader->source->size) {
        reader->mark_byte++;
        while (reader->mark_byte < reader->source->size && ((unsigned char)text[reader->mark_byte] & 0xc0) == 0x80)
            reader->mark_byte++;
        reader->mark_index++;
    }
    return reader->mark_byte;
}

static Span span_of(Reader *reader, yaml_mark_t begin, yaml_mark_t end)
{
    const uint32_t from = byte_of(reader, begin.index);
    return (Span){ reader->source_id, from, byte_of(reader, end.index) };
}

static Node give_up(Reader *reader)
{
    reader->has_failed = true;
    reader->has_errors = true;
    return (Node){ .kind = NODE_BAD };
}

static Node syntax_error(Reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const yaml_mark_t at = parser->problem_mark;
    if (parser->error == YAML_MEMORY_ERROR) {
        diag_error(reader->context.diag, DIAG_FILE_UNREADABLE, SPAN_NONE, "'%s' cannot be read: out of memory",
                   reader->source->path);
        return give_up(reader);
    }
    Span span = span_of(reader, at, at);
    /* Before the scanner works, while bytes are decoded, there is no mark. */
    if (parser->error == YAML_READER_ERROR)
        span.begin = span.end = parser->problem_offset < reader->source->size ? (uint32_t)parser->problem_offset : 0;
    if (span.end < reader->source->size && span.end == span.begin)
        span.end++;
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    diag_error(reader->context.diag, DIAG_EXPERIMENT_SYNTAX, span, "this is not valid YAML: %s%s%s", problem,
               parser->context ? " " : "", parser->context ? parser->context : "");
    return give_up(reader);
}

static Node refuse(Reader *reader, Span span, const char *what)
{
    diag_error(reader->context.diag, DIAG_EXPERIMENT_LIMIT, span, "%s", what);
    return give_up(reader);
}

static Node scalar_node(Reader *reader, const yaml_event_t *event, Span span)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    if (memchr(text, 0, length))
        return refuse(reader, span, "a text contains a zero character");
    return (Node){ NODE_SCALAR, arena_text(reader->context.arena, text, length),
                   event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE, span };
}

static Node node_of(Reader *reader, const yaml_event_t *event)
{
    const Span span = span_of(reader, event->start_mark, event->end_mark);
    switch (event->type) {
    case YAML_SCALAR_EVENT: return scalar_node(reader, event, span);
    case YAML_ALIAS_EVENT: return refuse(reader, span, "aliases ('*name') are not part of experiment files");
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (++reader->depth > DEEPEST)
            return refuse(reader, span, "the file is nested too deeply");
        return (Node){ .kind = event->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST, .span = span };
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return (Node){ .kind = event->type == YAML_MAPPING_END_EVENT ? NODE_MAP_END : NODE_LIST_END, .span = span };
    default: return (Node){ .kind = NODE_END, .span = span };
    }
}

/* The next node; after a failure, and at the end, always the same. */
Node setting_next(Reader *reader)
{
    if (reader->has_failed)
        return (Node){ .kind = NODE_BAD };
    yaml_event_t event;
    if (!yaml_parser_parse(&reader->parser, &event))
        return syntax_error(reader);
    const Node node = node_of(reader, &event);
    yaml_event_delete(&event);
    return node;
}

/* Passes over the rest of a value that has begun with `node`. */
void setting_skip(Reader *reader, Node node)
{
    if (node.kind != NODE_LIST && node.kind != NODE_MAP)
        return;
    const int outside = reader->depth - 1;
    while (reader->depth > outside && !reader->has_failed)
        node = setting_next(reader);
}

void setting_report(Reader *reader, DiagCode code, Span span, const char *what, const char *name)
{
    diag_error(reader->context.diag, code, span, what, name);
    reader->has_errors = true;
}

void setting_report_kind(Reader *reader, ExperimentKey key, Node node, const char *wanted)
{
    diag_error(reader->context.diag, DIAG_EXPERIMENT_TYPE, node.span, "'%s' must be %s", experiment_key_name(key),
               wanted);
    diag_help(reader->context.diag, "write for example: %s", setting_example(key));
    reader->has_errors = true;
    setting_skip(reader, node);
}

/* A key without value ("stop:") is an empty plain scalar. */
bool node_is_empty(Node node)
{
    return node.kind == NODE_SCALAR && node.is_plain && node.text[0] == 0;
}

/* ---- lists of names ---- */

typedef VEC(ExperimentGlob) Globs;

static void add_globs(Reader *reader, Node node, Globs *globs)
{
    const char *const *parts;
    const uint32_t n = globs_split(node.text, reader->context.arena, &parts);
    for (uint32_t i = 0; i < n; i++) {
        const ExperimentGlob glob = { parts[i], node.span };
        vec_push(reader->context.arena, globs, glob);
    }
}

/* The items of a list that has begun, or a single scalar. */
ExperimentGlobs setting_globs(Reader *reader, ExperimentKey key, Node node)
{
    Globs globs = { 0 };
    const Span span = node.span;
    if (node.kind == NODE_SCALAR) {
        add_globs(reader, node, &globs);
    } else if (node.kind == NODE_LIST) {
        for (node = setting_next(reader); node.kind != NODE_LIST_END && node.kind != NODE_BAD;
             node = setting_next(reader)) {
            if (node.kind == NODE_SCALAR)
                add_globs(reader, node, &globs);
            else
                setting_report_kind(reader, key, node, "a list of names");
        }
    } else {
        setting_report_kind(reader, key, node, "a list of names");
        return (ExperimentGlobs){ 0 };
    }
    if (globs.n == 0 && !reader->has_errors) {
        diag_error(reader->context.diag, DIAG_EXPERIMENT_VALUE, span, "'%s' has no names", experiment_key_name(key));
        diag_help(reader->context.diag, "write for example: %s", setting_example(key));
        reader->has_errors = true;
    }
    return (ExperimentGlobs){ globs.at, globs.n };
}

/* ---- plot ---- */

static void read_pane_map(Reader *reader, ExperimentPane *pane)
{
    bool has_title = false, has_variables = false;
    for (Node key = setting_next(reader); key.kind != NODE_MAP_END && key.kind != NODE_BAD;
         key = setting_next(reader)) {
        if (key.kind != NODE_SCALAR) {
            setting_report_kind(reader, EXPERIMENT_PLOT, key, "names, or panes of 'title' and 'variables'");
            setting_skip(reader, setting_next(reader));
            continue;
        }
        const Node value = setting_next(reader);
        const bool is_title = strcmp(key.text, "title") == 0, is_variables = strcmp(key.text, "variables") == 0;
        if ((is_title && has_title) || (is_variables && has_variables)) {
            setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, key.span, "'%s' is given twice in one pane", key.text);
            setting_skip(reader, value);
        } else if (is_title && value.kind == NODE_SCALAR) {
            pane->title = value.text;
            has_title = true;
        } else if (is_title) {
            setting_report(reader, DIAG_EXPERIMENT_TYPE, value.span, "'%s' must be a text", key.text);
            setting_skip(reader, value);
        } else if (is_variables) {
            pane->variables = setting_globs(reader, EXPERIMENT_VARIABLES, value);
            has_variables = true;
        } else {
            setting_report(reader, DIAG_EXPERIMENT_KEY, key.span, "a pane has no setting '%s'", key.text);
            diag_help(reader->context.diag, "a pane has 'title' and 'variables'");
            setting_skip(reader, value);
        }
    }
}

typedef VEC(ExperimentPane) Panes;

static void read_pane(Reader *reader, Node node, Panes *panes)
{
    ExperimentPane pane = { .title = "" };
    if (node.kind == NODE_MAP) {
        read_pane_map(reader, &pane);
        if (pane.variables.n == 0 && !reader->has_errors)
            setting_report(reader, DIAG_EXPERIMENT_VALUE, node.span, "a pane of '%s' has no variables", "plot");
    } else {
        pane.variables = setting_globs(reader, EXPERIMENT_PLOT, node);
    }
    vec_push(reader->context.arena, panes, pane);
}

/* A name, a list of names (one pane), or a list of panes. */
static void read_plot(Reader *reader, Node node)
{
    Panes panes = { 0 };
    Globs names = { 0 };
    if (node.kind == NODE_SCALAR || node.kind == NODE_MAP) {
        read_pane(reader, node, &panes);
    } else {
        const Span span = node.span;
        for (node = setting_next(reader); node.kind != NODE_LIST_END && node.kind != NODE_BAD;
             node = setting_next(reader)) {
            if (node.kind == NODE_SCALAR)
                add_globs(reader, node, &names);
            else
                read_pane(reader, node, &panes);
        }
        if (names.n > 0 && panes.n > 0)
            setting_report(reader, DIAG_EXPERIMENT_TYPE, span, "'%s' mixes names and panes", "plot");
        if (names.n == 0 && panes.n == 0 && !reader->has_errors)
            setting_report(reader, DIAG_EXPERIMENT_VALUE, span, "'%s' has no names", "plot");
    }
    if (names.n > 0) {
        const ExperimentPane pane = { "", { names.at, names.n } };
        vec_push(reader->context.arena, &panes, pane);
    }
    reader->context.experiment->results.panes = panes.at;
    reader->context.experiment->results.n_panes = panes.n;
}

/* ---- set ---- */

typedef struct {
    Reader *reader;
    VEC(Setting) settings;
    Names *names;
    VEC(Span) seen; /* by name */
} Settings;

static void add_setting(Settings *settings, const char *name, Node value, Span span)
{
    Arena *arena = settings->reader->context.arena;
    const Setting setting = { name, value.text, span };
    vec_push(arena, &settings->settings, setting);
}

/* The elements of an array: "x: [1, 2]" sets x[1] and x[2], lists in lists further dimensions. */
static void read_elements(Settings *settings, const char *name, const char *index, Span span)
{
    Reader *reader = settings->reader;
    Arena *arena = reader->context.arena;
    uint32_t k = 0;
    for (Node node = setting_next(reader); node.kind != NODE_LIST_END && node.kind != NODE_BAD;
         node = setting_next(reader)) {
        const char *place = arena_format(arena, "%s%s%u", index, index[0] ? "," : "", (unsigned)++k);
        if (node.kind == NODE_LIST) {
            read_elements(settings, name, place, span);
        } else if (node.kind == NODE_SCALAR && !node_is_empty(node)) {
            add_setting(settings, arena_format(arena, "%s[%s]", name, place), node, span);
        } else {
            setting_report(reader, DIAG_EXPERIMENT_TYPE, node.span, "an element of '%s' must be a value", name);
            setting_skip(reader, node);
        }
    }
}

/* False: the name was there before, reported. */
static bool is_first(Settings *settings, Node name)
{
    Reader *reader = settings->reader;
    const uint32_t known = names_count(settings->names);
    const NameId id = names_text(settings->names, name.text);
    if (id.index < known && id.index > 0) {
        setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, name.span, "'%s' is set twice", name.text);
        diag_note(reader->context.diag, settings->seen.at[id.index - 1], "it is set here first");
        return false;
    }
    if (id.index > 0)
        vec_push(reader->context.arena, &settings->seen, name.span);
    return true;
}

/* `set` and `control`. */
static void read_settings(Reader *reader, ExperimentKey key, Node node)
{
    if (node.kind != NODE_MAP) {
        setting_report_kind(reader, key, node, "pairs of name and value");
        return;
    }
    Settings settings = { .reader = reader, .names = names_create(reader->context.arena) };
    for (Node name = setting_next(reader); name.kind != NODE_MAP_END && name.kind != NODE_BAD;
         name = setting_next(reader)) {
        if (name.kind != NODE_SCALAR || name.text[0] == 0) {
            setting_report_kind(reader, key, name, "pairs of name and value");
            setting_skip(reader, setting_next(reader));
            continue;
        }
        const Node value = setting_next(reader);
        if (!is_first(&settings, name)) {
            setting_skip(reader, value);
        } else if (value.kind == NODE_LIST) {
            read_elements(&settings, name.text, "", name.span);
        } else if (value.kind == NODE_SCALAR && !node_is_empty(value)) {
            add_setting(&settings, name.text, value, name.span);
        } else if (value.kind != NODE_BAD) {
            setting_report(reader, DIAG_EXPERIMENT_TYPE, value.span, "'%s' must have a value or a list of values",
                           name.text);
            setting_skip(reader, value);
        }
    }
    Experiment *experiment = reader->context.experiment;
    if (key == EXPERIMENT_CONTROL) {
        experiment->part.controls = (SettingList){ settings.settings.at, settings.settings.n };
    } else if (key == EXPERIMENT_NOMINAL) {
        experiment->errors.nominals = (SettingList){ settings.settings.at, settings.settings.n };
    } else {
        experiment->part.settings = (SettingList){ settings.settings.at, settings.settings.n };
    }
}

/* ---- the whole file ---- */

/* What a run reads stands relative to the file that names it. */
static const char *beside_file(Arena *arena, const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    if (file[0] == '/' || !slash)
        return file;
    return arena_format(arena, "%.*s/%s", (int)(slash - path), path, file);
}

static void read_scalar_setting(Reader *reader, ExperimentKey key, Node value)
{
    Experiment *experiment = reader->context.experiment;
    const SettingKind kind = setting_kind(key);
    const bool is_number = kind == SETTING_REAL || kind == SETTING_POSITIVE || kind == SETTING_SEED;
    if (value.kind != NODE_SCALAR || node_is_empty(value) || (is_number && !value.is_plain)) {
        setting_report_kind(reader, key, value, is_number ? "a number" : "a text");
        return;
    }
    if (!setting_take(&reader->context, key, value.text, value.span))
        reader->has_errors = true;
    else if (key == EXPERIMENT_MODEL)
        experiment->model = beside_file(reader->context.arena, reader->source->path, experiment->model);
    else if (key == EXPERIMENT_INPUTS)
        experiment->begin.inputs = beside_file(reader->context.arena, reader->source->path, experiment->begin.inputs);
}

void setting_value(Reader *reader, ExperimentKey key, Span span)
{
    Experiment *experiment = reader->context.experiment;
    const Node value = setting_next(reader);
    if (value.kind == NODE_BAD)
        return;
    if (setting_kind(key) != SETTING_LIST) {
        read_scalar_setting(reader, key, value);
        return;
    }
    experiment->has[key] = true;
    experiment->spans[key] = span;
    switch (key) {
    case EXPERIMENT_SET:
    case EXPERIMENT_NOMINAL:
    case EXPERIMENT_CONTROL: read_settings(reader, key, value); break;
    case EXPERIMENT_PLOT: read_plot(reader, value); break;
    case EXPERIMENT_OBSERVERS: setting_observers(reader, value); break;
    case EXPERIMENT_PHASES: setting_phases(reader, value); break;
    default: experiment->results.variables = setting_globs(reader, key, value);
    }
}

static void read_root(Reader *reader, Node root)
{
    Span seen[EXPERIMENT_KEYS];
    for (int k = 0; k < EXPERIMENT_KEYS; k++)
        seen[k] = SPAN_NONE;
    if (root.kind == NODE_END || node_is_empty(root))
        return; /* an empty file has no settings */
    if (root.kind != NODE_MAP) {
        if (root.kind != NODE_BAD)
            setting_report(reader, DIAG_EXPERIMENT_TYPE, root.span,
                           "an experiment is pairs of setting and value, as in '%s'", setting_example(EXPERIMENT_STOP));
        setting_skip(reader, root);
        return;
    }
    for (Node node = setting_next(reader); node.kind != NODE_MAP_END && node.kind != NODE_BAD;
         node = setting_next(reader)) {
        ExperimentKey key;
        if (node.kind != NODE_SCALAR) {
            setting_report(reader, DIAG_EXPERIMENT_KEY, node.span, "the name of a setting must be a word, as in '%s'",
                           setting_example(EXPERIMENT_STOP));
            setting_skip(reader, node);
            setting_skip(reader, setting_next(reader));
        } else if (!setting_find(node.text, &key)) {
            setting_report(reader, DIAG_EXPERIMENT_KEY, node.span, "there is no setting '%.60s'", node.text);
            const char *nearest = setting_nearest_key(node.text);
            if (nearest)
                diag_help(reader->context.diag, "did you mean '%s'?", nearest);
            setting_skip(reader, setting_next(reader));
        } else if (seen[key].source != SOURCE_NONE) {
            setting_report(reader, DIAG_EXPERIMENT_DUPLICATE, node.span, "'%s' is given twice", node.text);
            diag_note(reader->context.diag, seen[key], "it is given here first");
            setting_skip(reader, setting_next(reader));
        } else {
            seen[key] = node.span;
            setting_value(reader, key, node.span);
        }
    }
}

static bool is_event(Reader *reader, yaml_event_type_t wanted)
{
    yaml_event_t event;
    if (!yaml_parser_parse(&reader->parser, &event)) {
        syntax_error(reader);
        return false;
    }
    const bool is_wanted = event.type == wanted;
    yaml_event_delete(&event);
    return is_wanted;
}

bool experiment_read(uint32_t source, const Sources *sources, Arena *arena, Diag *diag, Experiment *experiment)
{
    *experiment = experiment_none(experiment->words);
    Reader reader = { .source = sources_get(sources, source), .source_id = source };
    reader.context = (SettingContext){ arena, diag, experiment };
    if (reader.source->size > LARGEST_FILE) {
        diag_error(diag, DIAG_EXPERIMENT_LIMIT, (Span){ source, 0, 0 }, "an experiment file has at most %d bytes",
                   LARGEST_FILE);
        return false;
    }
    if (!yaml_parser_initialize(&reader.parser)) {
        diag_error(diag, DIAG_FILE_UNREADABLE, SPAN_NONE, "there is not enough memory to read the experiment file");
        return false;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.source->text, reader.source->size);
    if (is_event(&reader, YAML_STREAM_START_EVENT) && is_event(&reader, YAML_DOCUMENT_START_EVENT)) {
        read_root(&reader, setting_next(&reader));
        if (!reader.has_failed && is_event(&reader, YAML_DOCUMENT_END_EVENT) &&
            !is_event(&reader, YAML_STREAM_END_EVENT) && !reader.has_failed)
            refuse(&reader, (Span){ source, 0, 0 }, "an experiment file has one document, without a second '---'");
    }
    yaml_parser_delete(&reader.parser);
    return !reader.has_errors;
}

bool experiment_open(const char *path, Sources *sources, Arena *arena, Diag *diag, Experiment *experiment)
{
    uint32_t source;
    struct stat state;
    *experiment = experiment_none(experiment->words);
    const bool is_large = stat(path, &state) == 0 && S_ISREG(state.st_mode) && state.st_size > LARGEST_FILE;
    switch (is_large ? SOURCE_TOO_LARGE : sources_open(sources, path, &source)) {
    case SOURCE_OK: return experiment_read(source, sources, arena, diag, experiment);
    case SOURCE_MISSING:
        diag_error(diag, DIAG_FILE_MISSING, SPAN_NONE, "the experiment file '%s' does not exist", path);
        return false;
    case SOURCE_TOO_LARGE:
        diag_error(diag, DIAG_FILE_TOO_LARGE, SPAN_NONE, "the experiment file '%s' has more than 1 MB", path);
        return false;
    case SOURCE_NO_FILE:
        diag_error(diag, DIAG_FILE_MISSING, SPAN_NONE,
                   "the experiment file '%s' is no file, but a folder, a pipe or a device", path);
        return false;
    case SOURCE_UNREADABLE:
        diag_error(diag, DIAG_FILE_UNREADABLE, SPAN_NONE, "the experiment file '%s' cannot be read", path);
        return false;
    }
    BUG("unknown SourceStatus");
}

bool experiment_is_named(const char *path)
{
    const size_t length = strlen(path), end = strlen(EXPERIMENT_END);
    return length > end && strcmp(path + length - end, EXPERIMENT_END) == 0;
}

const char *experiment_beside(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    const char *beside = arena_format(arena, "%.*s%s", (int)stem, path, EXPERIMENT_END);
    return access(beside, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR) ? beside : NULL;
}
