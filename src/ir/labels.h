/* Labels of the text form: how elements other than variables and instances are called in it.
 *
 * A label is the path of the owner and the name of the element. An element without a name, or with
 * one that another element of its kind and owner has already, is called by a letter and its place
 * in the text: $e12 is the 12th equation. Such a label is no name: it is not kept when it is read. */
#ifndef IR_LABELS_H
#define IR_LABELS_H

#include "ir/model.h"

typedef enum {
    LABEL_EQUATION,
    LABEL_REGION,
    LABEL_TRANSITION,
    LABEL_CHANNEL,
    LABEL_CLOCK,
    LABEL_DELAY,
    LABEL_STREAM,
    LABEL_FUNCTION,
    LABEL_ASSERTION,
    LABEL_PORT,
    LABEL_FOREIGN,
    LABEL_COUNT
} LabelKind;

typedef struct {
    InstanceId owner;
    NameId name; /* may be empty */
} Label;

char label_letter(LabelKind kind);
const char *label_noun(LabelKind kind); /* "equation", for messages */
uint32_t label_count(const Model *model, LabelKind kind);
Label label_of(const Model *model, LabelKind kind, uint32_t index);
Span label_span(const Model *model, LabelKind kind, uint32_t index);

#endif
