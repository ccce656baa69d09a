/* Rows and columns of expressions, and whether they fit. */
#include "base/bug.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/translation.h"

static bool mismatch(Translation *translation, Span where, Extent a, Extent b, const char *what)
{
    REPORT(translation, DIAG_DYM_SIZE, where, "%s and %s %s", dym_extent_text(translation, a),
           dym_extent_text(translation, b), what);
    return false;
}

/* ---- indices ---- */
static bool index_number(Translation *translation, const Node *node, uint32_t extent, uint32_t *number)
{
    if (node->kind == NODE_NUMBER && node->number >= 1 && node->number <= extent &&
        node->number == (uint32_t)node->number) {
        *number = (uint32_t)node->number;
        return true;
    }
    REPORT(translation, DIAG_DYM_INDEX, node->span, "this is no index from 1 to %u", extent);
    diag_help(translation->diag, "an index is a whole number, or a range of them: 2, 1:3 or :");
    return false;
}

bool dym_index_range(Translation *translation, const Node *index, uint32_t extent, uint32_t *first, uint32_t *last)
{
    if (index->kind != NODE_RANGE) {
        if (!index_number(translation, index, extent, first))
            return false;
        *last = *first;
        return true;
    }
    *first = 1;
    *last = extent;
    if (index->n_args == 0)
        return true;
    if (!index_number(translation, index->args[0], extent, first) ||
        !index_number(translation, index->args[1], extent, last))
        return false;
    if (*first <= *last)
        return true;
    REPORT(translation, DIAG_DYM_INDEX, index->span, "a range without elements");
    diag_help(translation->diag, "a range goes upward: 1:3");
    return false;
}

static bool variable_extent(Translation *translation, const Node *node, Extent *e)
{
    *e = (Extent){ 1, 1 };
    if (dym_is_time(translation, node))
        return true;
    const VarId var = dym_find_variable(translation, node->path, node->n_path);
    if (var_is_none(var))
        return false;
    const uint32_t rank = model_var(translation->model, var)->type.rank;
    const Extent whole = dym_variable_extent(translation, var);
    *e = whole;
    if (node->n_args == 0)
        return true;
    if (node->n_args != rank) {
        REPORT(translation, DIAG_DYM_INDEX, node->span, "`%s` is %s: it has %u ind%s, not %u",
               NAME(translation, node->path[node->n_path - 1]), dym_extent_text(translation, whole), rank,
               rank == 1 ? "ex" : "ices", node->n_args);
        return false;
    }
    const uint32_t sizes[] = { whole.rows, whole.columns };
    uint32_t *const own[] = { &e->rows, &e->columns };
    for (uint32_t k = 0; k < node->n_args; k++) {
        uint32_t first, last;
        if (!dym_index_range(translation, node->args[k], sizes[k], &first, &last))
            return false;
        *own[k] = last - first + 1;
    }
    return true;
}

/* ---- operations ---- */
static bool want_scalar(Translation *translation, const Node *node, const char *what)
{
    Extent e;
    if (!dym_extent(translation, node, &e))
        return false;
    if (extent_is_scalar(e))
        return true;
    REPORT(translation, DIAG_DYM_SIZE, node->span, "%s where a scalar is wanted: %s", dym_extent_text(translation, e),
           what);
    return false;
}

static bool operation_extent(Translation *translation, const Node *node, Extent *e)
{
    Extent a, b;
    if (node->op == OP_NEG)
        return dym_extent(translation, node->args[0], e);
    if (node->op != OP_ADD && node->op != OP_SUB && node->op != OP_MUL && node->op != OP_DIV) {
        *e = (Extent){ 1, 1 };
        for (uint32_t k = 0; k < node->n_args; k++)
            if (!want_scalar(translation, node->args[k], "powers, comparisons and logic are of scalars"))
                return false;
        return true;
    }
    if (!dym_extent(translation, node->args[0], &a))
        return false;
    if (node->op == OP_DIV) {
        *e = a;
        return want_scalar(translation, node->args[1], "what divides");
    }
    if (!dym_extent(translation, node->args[1], &b))
        return false;
    *e = extent_is_scalar(a) ? b : a;
    if (node->op == OP_MUL && (extent_is_scalar(a) || extent_is_scalar(b)))
        return true;
    if (node->op == OP_MUL) {
        *e = (Extent){ a.rows, b.columns };
        if (a.columns == b.rows)
            return true;
        mismatch(translation, node->span, a, b, "are multiplied");
        diag_help(translation->diag, "the first has as many columns as the second has rows; x' is the transpose of x");
        return false;
    }
    return extent_equal(a, b) ||
           mismatch(translation, node->span, a, b, node->op == OP_ADD ? "are added" : "are subtracted");
}

static bool number_of(Translation *translation, const Node *node, uint32_t *number)
{
    return index_number(translation, node, MOST_ROWS, number);
}

/* Of matrices whose elements are written one by one. */
static bool check_made(Translation *translation, const Node *node, Extent e)
{
    if ((uint64_t)e.rows * e.columns <= MOST_MADE)
        return true;
    REPORT(translation, DIAG_DYM_TOO_LARGE, node->span, "%s, whose elements are written out",
           dym_extent_text(translation, e));
    diag_help(translation->diag, "at most %d elements are possible; variables and their products can be larger",
              MOST_MADE);
    return false;
}

/* Of functions that make matrices. */
static bool maker_extent(Translation *translation, const Node *node, MatrixFunction function, Extent *e)
{
    Extent a = { 1, 1 }, b = { 1, 1 };
    const bool is_size = function == MATRIX_EYE || function == MATRIX_ZERO;
    const uint32_t most = function == MATRIX_CROSS || function == MATRIX_ZERO ? 2 : 1,
                   least = function == MATRIX_CROSS ? 2 : 1;
    if (node->n_args < least || node->n_args > most) {
        REPORT(translation, DIAG_DYM_FUNCTION, node->span, "`%s` has %s, not %u", NAME(translation, node->path[0]),
               least == most ? (most == 1 ? "1 argument" : "2 arguments") : "1 or 2 arguments", node->n_args);
        return false;
    }
    if (is_size) {
        e->columns = 1;
        if (!number_of(translation, node->args[0], &e->rows) ||
            (node->n_args == 2 && !number_of(translation, node->args[1], &e->columns)))
            return false;
        if (function == MATRIX_EYE)
            e->columns = e->rows;
        return function == MATRIX_ZERO || check_made(translation, node, *e);
    }
    if (!dym_extent(translation, node->args[0], &a) || (least == 2 && !dym_extent(translation, node->args[1], &b)))
        return false;
    const Extent three = { 3, 1 };
    const bool is_good = function == MATRIX_DIAG    ? a.columns == 1
                         : function == MATRIX_CROSS ? extent_equal(a, three) && extent_equal(b, three)
                                                    : extent_equal(a, three);
    if (!is_good) {
        REPORT(translation, DIAG_DYM_SIZE, node->span, "`%s` of %s", NAME(translation, node->path[0]),
               dym_extent_text(translation, least == 2 && extent_equal(a, three) ? b : a));
        diag_help(translation->diag, function == MATRIX_DIAG ? "diag takes a vector" : "it takes vectors of 3");
        return false;
    }
    *e = function == MATRIX_CROSS ? three : (Extent){ a.rows, a.rows };
    return check_made(translation, node, *e);
}

/* Rows stand below each other; what stands side by side has as many rows. */
static bool block_extent(Translation *translation, const Node *node, Extent *e)
{
    *e = (Extent){ 0, 0 };
    for (uint32_t k = 0; k < node->n_args; k++) {
        const Node *row = node->args[k];
        Extent whole = { 0, 0 };
        for (uint32_t j = 0; j < row->n_args; j++) {
            Extent part;
            if (!dym_extent(translation, row->args[j], &part))
                return false;
            if (j && part.rows != whole.rows)
                return mismatch(translation, row->span, whole, part, "stand side by side");
            whole.rows = part.rows;
            whole.columns += part.columns;
        }
        if (k && whole.columns != e->columns)
            return mismatch(translation, node->span, *e, whole, "stand below each other");
        e->rows += whole.rows;
        e->columns = whole.columns;
        if (!check_made(translation, node, *e))
            return false;
    }
    return true;
}

bool dym_extent(Translation *translation, const Node *node, Extent *e)
{
    Extent other;
    *e = (Extent){ 1, 1 };
    switch ((NodeKind)node->kind) {
    case NODE_NUMBER:
    case NODE_BOOLEAN:
    case NODE_RANGE:
    case NODE_ROW: return true;
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: return variable_extent(translation, node, e);
    case NODE_CALL: return operation_extent(translation, node, e);
    case NODE_MATRIX: return block_extent(translation, node, e);
    case NODE_FUNCTION:
        if (dym_matrix_function(translation, node))
            return maker_extent(translation, node, dym_matrix_function(translation, node), e);
        for (uint32_t k = 0; k < node->n_args; k++)
            if (!want_scalar(translation, node->args[k], "functions take scalars"))
                return false;
        return true;
    case NODE_TRANSPOSE:
        if (!dym_extent(translation, node->args[0], &other))
            return false;
        *e = (Extent){ other.columns, other.rows };
        return true;
    case NODE_IF:
        if (!want_scalar(translation, node->args[0], "a condition") || !dym_extent(translation, node->args[1], e) ||
            !dym_extent(translation, node->args[2], &other))
            return false;
        return extent_equal(*e, other) || mismatch(translation, node->span, *e, other, "are the branches of an `if`");
    }
    return false;
}

Extent dym_extent_of(Translation *translation, const Node *node)
{
    Extent e;
    REQUIRE(dym_extent(translation, node, &e));
    return e;
}

/* A number may stand for a vector or matrix of which all elements have this value. */
void dym_check_size(Translation *translation, const EquationText *text)
{
    Extent a, b;
    if (!dym_extent(translation, text->left, &a) || !dym_extent(translation, text->right, &b))
        return;
    if (extent_equal(a, b) || text->left->kind == NODE_NUMBER || text->right->kind == NODE_NUMBER)
        return;
    mismatch(translation, text->span, a, b, "are the two sides of an equation");
}
