/* Which fields of the elements of a Model are terms, which are ids and what these name: one table of all lists, from
 * which come the walks (walk.h) and composing. A new kind of element is a list here. Private to ir. */
#ifndef IR_FIELDS_H
#define IR_FIELDS_H

#include "ir/walk.h"
#include <stddef.h>

typedef enum {
    FIELD_TERM,
    FIELD_RANGE,     /* the first of several rows, whose number stands in another field */
    FIELD_ID,        /* ID_NONE is none */
    FIELD_ID_OR_0,   /* row 0, which every model has, is none */
    FIELD_ID_FROM_1, /* 0 is none, else it is 1 more than the id */
} FieldKind;

typedef struct {
    uint8_t kind;       /* FieldKind */
    uint8_t is;         /* TERM: TermRole; else ModelList: of what it is an id */
    uint8_t at;         /* where it stands in the row */
    uint8_t count_at;   /* RANGE: where the number of rows stands */
    uint8_t count_size; /* ... and in how many bytes */
} Field;

typedef struct {
    uint16_t at; /* where the list stands in the Model */
    uint8_t row_size;
    uint8_t span_at;  /* where the span of a row stands, or NO_SPAN */
    uint8_t n_shared; /* rows that every model begins with: the scalar domain, statement 0 */
    bool is_part;     /* its rows belong to elements of other lists */
    uint8_t n_fields;
    const Field *fields; /* in the order in which they are visited */
} ListFields;

enum { NO_SPAN = UINT8_MAX };

extern const ListFields model_lists[LIST_COUNT];

typedef VEC(unsigned char) Rows; /* a list, whatever the type of its rows */

static inline Rows model_rows(const Model *model, ModelList list)
{
    Rows rows;
    memcpy(&rows, (const unsigned char *)model + model_lists[list].at, sizeof rows);
    return rows;
}

static inline uint32_t model_n_rows(const Model *model, ModelList list)
{
    uint32_t n;
    memcpy(&n, (const unsigned char *)model + model_lists[list].at + offsetof(Rows, n), sizeof n);
    return n;
}

#endif
