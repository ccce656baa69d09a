/* Reading an experiment file node by node. Private to experiment_read*.c. */
#ifndef EXPERIMENT_READER_H
#define EXPERIMENT_READER_H

#include "experiment/setting.h"
#include <yaml.h>

typedef enum { NODE_SCALAR, NODE_LIST, NODE_LIST_END, NODE_MAP, NODE_MAP_END, NODE_END, NODE_BAD } NodeKind;

typedef struct {
    NodeKind kind;
    const char *text; /* NODE_SCALAR */
    bool is_plain;    /* NODE_SCALAR: without quotes */
    Span span;
} Node;

typedef struct {
    yaml_parser_t parser;
    const Source *source;
    uint32_t source_id;
    SettingContext context; /* arena, diag, experiment */
    size_t mark_index;      /* characters and bytes of the place last computed */
    uint32_t mark_byte;
    int depth;
    bool has_failed; /* nothing more to read */
    bool has_errors; /* something was reported */
} Reader;

/* The next node; after a failure, and at the end, always the same. */
Node setting_next(Reader *reader);
/* Passes over the rest of a value that has begun with `node`. */
void setting_skip(Reader *reader, Node node);
void setting_report(Reader *reader, DiagCode code, Span span, const char *what, const char *name);
/* "'stop' must be a number", with an example; passes over the value. */
void setting_report_kind(Reader *reader, ExperimentKey key, Node node, const char *wanted);
/* A key without value ("stop:") is an empty plain scalar. */
bool node_is_empty(Node node);
/* The items of a list that has begun, or a single scalar. */
ExperimentGlobs setting_globs(Reader *reader, ExperimentKey key, Node node);
/* The value of a setting, whose name has been read at `span`, into context.experiment. */
void setting_value(Reader *reader, ExperimentKey key, Span span);

/* experiment_read_lists.c */
void setting_observers(Reader *reader, Node node);
void setting_phases(Reader *reader, Node node);

#endif
