/* Vectors and matrices. An equation between them is one equation of the Model over the range of their elements;
 * products are sums over a range. Where an operand has no common formula for its elements (a matrix in brackets, skew),
 * the equation is written out, one for each element.
 *
 * Sizes are checked before (check_sizes.c, check_equations.c). */
#include "base/bug.h"
#include "lang/dymola/equations.h"
#include "lang/dymola/extent.h"
#include "lang/dymola/matrix.h"
#include "lang/dymola/translation.h"

enum {
    SHORT_SUM = 8, /* products of a sum that are written out */
};

typedef struct { /* of an element: Integer expressions */
    const Expr *row, *column;
    uint32_t level; /* of the next loop variable */
} Place;

static Place fixed_place(Translation *translation, uint32_t row, uint32_t column)
{
    Pool *pool = translation->load->pool;
    return (Place){ expr_integer(pool, row), expr_integer(pool, column), 0 };
}

/* ---- variables ---- */
static const Expr *shifted(Pool *pool, const Expr *index, uint32_t by)
{
    if (by == 0)
        return index;
    if (index->kind == EXPR_INTEGER)
        return expr_integer(pool, index->u.integer + by);
    return expr_binary(pool, OP_ADD, index, expr_integer(pool, by));
}

static const Expr *variable_at(Translation *translation, TermBuilder *builder, const Node *node, const Place *place)
{
    const VarId var = dym_find_variable(translation, node->path, node->n_path);
    const Ref ref = dym_reference(translation, node, var);
    const Extent whole = dym_variable_extent(translation, var);
    const uint32_t rank = model_var(translation->model, var)->type.rank, sizes[] = { whole.rows, whole.columns };
    const Expr *const from[] = { place->row, place->column };
    const Expr *index[DIMS_MOST];
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t first = 1, last;
        if (node->n_args)
            REQUIRE(dym_index_range(translation, node->args[k], sizes[k], &first, &last));
        index[k] = shifted(translation->load->pool, from[k], first - 1);
    }
    return rank ? term_element(builder, ref, rank, index) : term_leaf(builder, ref);
}

/* ---- elements that have a common formula ---- */
bool dym_is_regular(const Translation *translation, const Node *node)
{
    if (node->kind == NODE_MATRIX)
        return false;
    if (node->kind == NODE_FUNCTION)
        return dym_matrix_function(translation, node) == MATRIX_NONE ||
               dym_matrix_function(translation, node) == MATRIX_ZERO;
    for (uint32_t k = 0; k < node->n_args && (node->kind >= NODE_CALL); k++)
        if (!dym_is_regular(translation, node->args[k]))
            return false;
    return true;
}

static const Expr *element(Translation *translation, TermBuilder *builder, const Node *node, const Place *place);

/* Row times column. */
static const Expr *product_at(Translation *translation, TermBuilder *builder, const Node *node, uint32_t inner,
                              const Place *place)
{
    Pool *pool = translation->load->pool;
    const Expr *sum = NULL;
    Place left = *place, right = *place;
    const uint32_t level = place->level;
    const bool is_short = inner <= SHORT_SUM;
    left.level = right.level = level + !is_short;
    for (uint32_t k = 1; k <= (is_short ? inner : 1); k++) {
        left.column = right.row = is_short ? expr_integer(pool, k) : expr_iterator(pool, level);
        const Expr *a = element(translation, builder, node->args[0], &left);
        const Expr *term = expr_binary(pool, OP_MUL, a, element(translation, builder, node->args[1], &right));
        sum = sum ? expr_binary(pool, OP_ADD, sum, term) : term;
    }
    const Expr *one = expr_integer(pool, 1);
    return is_short ? sum : expr_reduce(pool, OP_ADD, level, sum, one, one, expr_integer(pool, inner));
}

static const Expr *operation_at(Translation *translation, TermBuilder *builder, const Node *node, const Place *place)
{
    const Expr *args[2];
    if (node->op == OP_MUL) {
        const Extent a = dym_extent_of(translation, node->args[0]), b = dym_extent_of(translation, node->args[1]);
        if (!extent_is_scalar(a) && !extent_is_scalar(b))
            return product_at(translation, builder, node, a.columns, place);
    }
    for (uint32_t k = 0; k < node->n_args; k++)
        args[k] = element(translation, builder, node->args[k], place);
    return expr_call(translation->load->pool, node->op, node->n_args, args);
}

static const Expr *element(Translation *translation, TermBuilder *builder, const Node *node, const Place *place)
{
    const Place swapped = { place->column, place->row, place->level };
    if (extent_is_scalar(dym_extent_of(translation, node)))
        return dym_lower_scalar(translation, builder, node);
    switch ((NodeKind)node->kind) {
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT: return variable_at(translation, builder, node, place);
    case NODE_TRANSPOSE: return element(translation, builder, node->args[0], &swapped);
    case NODE_CALL: return operation_at(translation, builder, node, place);
    case NODE_FUNCTION: return expr_real(translation->load->pool, 0); /* zero */
    case NODE_IF: {
        const Expr *condition = dym_lower_scalar(translation, builder, node->args[0]);
        const Expr *then = element(translation, builder, node->args[1], place);
        return expr_if(translation->load->pool, condition, then, element(translation, builder, node->args[2], place));
    }
    default: break;
    }
    BUG("a node without common formula");
}

/* ---- all elements, by rows ---- */
typedef const Expr **Elements;

static const Expr *plus(Pool *pool, const Expr *a, const Expr *b)
{
    return !a || expr_is_real(a, 0) ? b : expr_is_real(b, 0) ? a : expr_binary(pool, OP_ADD, a, b);
}

static const Expr *times(Pool *pool, const Expr *a, const Expr *b)
{
    if (expr_is_real(a, 0) || expr_is_real(b, 1))
        return a;
    return expr_is_real(b, 0) || expr_is_real(a, 1) ? b : expr_binary(pool, OP_MUL, a, b);
}

static const Expr *negated(Pool *pool, const Expr *a)
{
    return expr_is_real(a, 0) ? a : expr_unary(pool, OP_NEG, a);
}

static Elements matrix(Translation *translation, TermBuilder *builder, const Node *node);

static Elements multiply(Translation *translation, const Node *node, Elements a, Elements b)
{
    Pool *pool = translation->load->pool;
    const Extent x = dym_extent_of(translation, node->args[0]), y = dym_extent_of(translation, node->args[1]);
    const uint32_t inner = extent_is_scalar(x) || extent_is_scalar(y) ? 0 : x.columns;
    const uint32_t n = inner ? x.rows * y.columns : x.rows * x.columns * y.rows * y.columns;
    Elements all = NEW_ARRAY(translation->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++) {
        if (!inner)
            all[k] = times(pool, a[extent_is_scalar(x) ? 0 : k], b[extent_is_scalar(y) ? 0 : k]);
        for (uint32_t j = 0; j < inner; j++)
            all[k] = plus(pool, all[k], times(pool, a[k / y.columns * inner + j], b[j * y.columns + k % y.columns]));
    }
    return all;
}

static Elements operation(Translation *translation, TermBuilder *builder, const Node *node)
{
    Pool *pool = translation->load->pool;
    const Elements a = matrix(translation, builder, node->args[0]);
    const Elements b = node->n_args > 1 ? matrix(translation, builder, node->args[1]) : NULL;
    const Extent x = dym_extent_of(translation, node->args[0]);
    if (node->op == OP_MUL)
        return multiply(translation, node, a, b);
    const uint32_t n = x.rows * x.columns;
    Elements all = NEW_ARRAY(translation->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++) {
        if (node->op == OP_NEG)
            all[k] = negated(pool, a[k]);
        else if (node->op == OP_ADD)
            all[k] = plus(pool, a[k], b[k]);
        else if (node->op == OP_SUB)
            all[k] = expr_is_real(b[k], 0)   ? a[k]
                     : expr_is_real(a[k], 0) ? negated(pool, b[k])
                                             : expr_binary(pool, OP_SUB, a[k], b[k]);
        else
            all[k] = expr_is_real(a[k], 0) ? a[k] : expr_binary(pool, OP_DIV, a[k], b[0]);
    }
    return all;
}

static Elements made(Translation *translation, TermBuilder *builder, const Node *node, MatrixFunction function)
{
    Pool *pool = translation->load->pool;
    const Extent e = dym_extent_of(translation, node);
    const uint32_t n = e.rows * e.columns;
    const bool takes_vector = function != MATRIX_EYE && function != MATRIX_ZERO;
    const Elements a = takes_vector ? matrix(translation, builder, node->args[0]) : NULL;
    Elements all = NEW_ARRAY(translation->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++) {
        const bool is_diagonal = k / e.columns == k % e.columns;
        all[k] = expr_real(pool, is_diagonal && function == MATRIX_EYE ? 1 : 0);
        if (is_diagonal && function == MATRIX_DIAG)
            all[k] = a[k / e.columns];
    }
    if (function == MATRIX_CROSS) {
        const Elements b = matrix(translation, builder, node->args[1]);
        for (uint32_t k = 0; k < 3; k++)
            all[k] = plus(pool, times(pool, a[(k + 1) % 3], b[(k + 2) % 3]),
                          negated(pool, times(pool, a[(k + 2) % 3], b[(k + 1) % 3])));
    }
    for (uint32_t k = 0; k < 3 && function == MATRIX_SKEW; k++) { /* skew(a)*b is cross(a, b) */
        all[k * 3 + (k + 2) % 3] = a[(k + 1) % 3];
        all[k * 3 + (k + 1) % 3] = negated(pool, a[(k + 2) % 3]);
    }
    return all;
}

static Elements blocks(Translation *translation, TermBuilder *builder, const Node *node)
{
    const Extent e = dym_extent_of(translation, node);
    Elements all = NEW_ARRAY(translation->arena, const Expr *, (size_t)e.rows *e.columns);
    uint32_t row = 0;
    for (uint32_t k = 0; k < node->n_args; k++) {
        uint32_t column = 0, height = 0;
        for (uint32_t j = 0; j < node->args[k]->n_args; j++) {
            const Node *part = node->args[k]->args[j];
            const Extent size = dym_extent_of(translation, part);
            const Elements own = matrix(translation, builder, part);
            for (uint32_t i = 0; i < size.rows * size.columns; i++)
                all[(row + i / size.columns) * e.columns + column + i % size.columns] = own[i];
            column += size.columns;
            height = size.rows;
        }
        row += height;
    }
    return all;
}

static Elements matrix(Translation *translation, TermBuilder *builder, const Node *node)
{
    const Extent e = dym_extent_of(translation, node);
    const uint32_t n = e.rows * e.columns;
    const MatrixFunction function = dym_matrix_function(translation, node);
    if (node->kind == NODE_MATRIX)
        return blocks(translation, builder, node);
    if (function)
        return made(translation, builder, node, function);
    Elements all = NEW_ARRAY(translation->arena, const Expr *, n);
    if (n == 1) {
        all[0] = dym_lower_scalar(translation, builder, node);
        return all;
    }
    if (node->kind == NODE_CALL)
        return operation(translation, builder, node);
    const bool is_if = node->kind == NODE_IF, is_transposed = node->kind == NODE_TRANSPOSE;
    const Expr *condition = is_if ? dym_lower_scalar(translation, builder, node->args[0]) : NULL;
    const Elements a = is_if || is_transposed ? matrix(translation, builder, node->args[is_if]) : NULL;
    const Elements b = is_if ? matrix(translation, builder, node->args[2]) : NULL;
    for (uint32_t k = 0; k < n; k++) {
        const Place place = fixed_place(translation, k / e.columns + 1, k % e.columns + 1);
        all[k] = is_if           ? expr_if(translation->load->pool, condition, a[k], b[k])
                 : is_transposed ? a[k % e.columns * e.rows + k / e.columns]
                                 : variable_at(translation, builder, node, &place);
    }
    return all;
}

/* ---- scalars that are made of vectors ---- */
const Expr *dym_lower_from_matrix(Translation *translation, TermBuilder *builder, const Node *node)
{
    const Place place = fixed_place(translation, 1, 1);
    if (node->kind == NODE_TRANSPOSE)
        return dym_lower_scalar(translation, builder, node->args[0]);
    if (node->kind != NODE_CALL && node->kind != NODE_MATRIX && node->kind != NODE_FUNCTION)
        return variable_at(translation, builder, node, &place);
    if (node->kind == NODE_CALL && dym_is_regular(translation, node))
        return operation_at(translation, builder, node, &place);
    return (node->kind == NODE_CALL ? operation : matrix)(translation, builder, node)[0];
}

bool dym_is_from_matrix(Translation *translation, const Node *node)
{
    if (!translation->has_arrays)
        return false;
    switch ((NodeKind)node->kind) {
    case NODE_MATRIX:
    case NODE_TRANSPOSE: return true;
    case NODE_FUNCTION: return dym_matrix_function(translation, node) != MATRIX_NONE;
    case NODE_VARIABLE:
    case NODE_DER:
    case NODE_NEW:
    case NODE_INIT:
        return node->n_args > 0 || !extent_is_scalar(dym_extent_of(translation, node)) ||
               (!dym_is_time(translation, node) &&
                model_var(translation->model, dym_find_variable(translation, node->path, node->n_path))->type.rank);
    case NODE_CALL: return node->op == OP_MUL && !extent_is_scalar(dym_extent_of(translation, node->args[0]));
    default: return false;
    }
}

/* ---- equations ---- */
static bool is_whole_variable(Translation *translation, const Node *node)
{
    return node->kind == NODE_VARIABLE && node->n_args == 0 && !extent_is_scalar(dym_extent_of(translation, node)) &&
           dym_reference(translation, node, dym_find_variable(translation, node->path, node->n_path)).kind == REF_NOW;
}

static void add_equation(Translation *translation, const EquationText *text, Term left, Term right, DomainId domain)
{
    const bool is_boolean = left.shape->type.kind == TYPE_BOOLEAN;
    const bool is_backward = is_boolean && left.shape->kind != EXPR_LEAF;
    dym_add_equation(translation, text, is_boolean, is_backward ? right : left, is_backward ? left : right, domain);
}

static void add_over_range(Translation *translation, const EquationText *text, Extent e)
{
    static const char *const names[] = { "i", "j" };
    Model *m = translation->model;
    Place place = fixed_place(translation, 1, 1);
    const uint32_t sizes[] = { e.rows, e.columns };
    Iterator iterators[DIMS_MOST];
    for (uint32_t k = 0; k < DIMS_MOST; k++) {
        if (sizes[k] == 1)
            continue;
        iterators[place.level] = (Iterator){ .name = names_text(translation->load->names, names[k]),
                                             .lo = term_integer(m, 1),
                                             .hi = term_integer(m, sizes[k]) };
        *(k ? &place.column : &place.row) = expr_iterator(translation->load->pool, place.level++);
    }
    const DomainId domain = model_add_domain(m, place.level, iterators);
    TermBuilder builder = term_builder(m);
    const Expr *left = element(translation, &builder, text->left, &place);
    const Term lhs = term_finish(&builder, left);
    const Expr *right = element(translation, &builder, text->right, &place);
    add_equation(translation, text, lhs, term_finish(&builder, right), domain);
}

static void add_written_out(Translation *translation, const EquationText *text, Extent e)
{
    Model *m = translation->model;
    const uint32_t n = e.rows * e.columns;
    TermBuilder builder = term_builder(m);
    const Elements a = matrix(translation, &builder, text->left), b = matrix(translation, &builder, text->right);
    const bool repeats_left = extent_is_scalar(dym_extent_of(translation, text->left)),
               repeats_right = extent_is_scalar(dym_extent_of(translation, text->right));
    for (uint32_t k = 0; k < n; k++) {
        const Term left = term_make(m, a[repeats_left ? 0 : k], builder.refs.at);
        const Term right = term_make(m, b[repeats_right ? 0 : k], builder.refs.at);
        add_equation(translation, text, left, right, (DomainId){ 0 });
    }
}

void dym_lower_matrix_equation(Translation *translation, const EquationText *text)
{
    const Extent a = dym_extent_of(translation, text->left), b = dym_extent_of(translation, text->right),
                 e = extent_is_scalar(a) ? b : a;
    if (is_whole_variable(translation, text->left) && is_whole_variable(translation, text->right)) {
        const Node *const sides[] = { text->left, text->right };
        Term terms[2];
        for (uint32_t k = 0; k < 2; k++)
            terms[k] =
                term_ref(translation->model, ref_now(dym_find_variable(translation, sides[k]->path, sides[k]->n_path)));
        if (type_equal(terms[0].shape->type, terms[1].shape->type)) {
            add_equation(translation, text, terms[0], terms[1], (DomainId){ 0 });
            return;
        }
    }
    if (dym_is_regular(translation, text->left) && dym_is_regular(translation, text->right))
        add_over_range(translation, text, e);
    else
        add_written_out(translation, text, e);
}
