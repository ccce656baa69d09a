/* Rows and columns of variables and expressions. A scalar is 1 x 1, a vector of n elements n x 1. */
#ifndef LANG_DYMOLA_EXTENT_H
#define LANG_DYMOLA_EXTENT_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

typedef struct {
    uint32_t rows, columns;
} Extent;
static inline bool extent_is_scalar(Extent e)
{
    return e.rows == 1 && e.columns == 1;
}
static inline bool extent_equal(Extent a, Extent b)
{
    return a.rows == b.rows && a.columns == b.columns;
}
enum {
    MOST_ROWS = 1000000, /* of a size in a text */
    MOST_MADE = 10000    /* elements that are written one by one */
};
typedef enum { MATRIX_NONE, MATRIX_CROSS, MATRIX_DIAG, MATRIX_EYE, MATRIX_SKEW, MATRIX_ZERO } MatrixFunction;

MatrixFunction dym_matrix_function(const Translation *translation, const Node *node);
bool dym_extent(Translation *translation, const Node *node, Extent *extent); /* false: already reported */
Extent dym_extent_of(Translation *translation, const Node *node);            /* of a node that was checked */
const char *dym_extent_text(Translation *translation, Extent extent);
Extent dym_variable_extent(const Translation *translation, VarId var);
bool dym_index_range(Translation *translation, const Node *index, uint32_t extent, uint32_t *first, uint32_t *last);
void dym_check_size(Translation *translation, const EquationText *text);
void dym_set_size(Translation *translation, VarId var, const Size *size);
void dym_copy_size(Translation *translation, VarId from, VarId to);

#endif
