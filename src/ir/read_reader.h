/* The reader of the text form: its state, and the functions its files lend each other. Private to read*.c.
 *
 * A unit (the model, or a class) is read in two goes. scan_unit notes where each element begins and what it is called;
 * declare_unit makes instances, variables and functions and enters all labels; then the elements are parsed in the
 * order of the text, with every name known. Functions that parse return false, NULL or ID_NONE after reporting. */
#ifndef IR_READ_READER_H
#define IR_READ_READER_H

#include "base/map.h"
#include "ir/compose.h"
#include "ir/labels.h"
#include "ir/print.h"
#include "ir/read_lexer.h"

/* Frames are larger under the address sanitizer: there the stack would not hold what suffices for EXPR_DEPTH. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_LARGE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LARGE_FRAMES 1
#endif
#endif
#ifdef HAS_LARGE_FRAMES
#define PARSE_DEPTH (EXPR_DEPTH / 2)
#else
#define PARSE_DEPTH (2 * EXPR_DEPTH) /* an operation in parentheses counts twice */
#endif

enum {
    BLOCK_DEPTH = 500, /* regions in regions, statements in statements, classes in classes */
    LARGEST_LEAF = 1 << 20,
    LARGEST_RANK = 32,
    LARGEST_LIST = UINT16_MAX - 1 /* arguments, elements of an array */
};

typedef enum { RECORD_VARIABLE, RECORD_INSTANCE, RECORD_FIELD, RECORD_LABEL } RecordKind;
typedef struct {
    uint32_t at; /* first byte behind the keyword */
    uint8_t kind;
    uint8_t detail; /* RECORD_LABEL: LabelKind; RECORD_FIELD: 0 input, 1 output, 2 local */
} Record;

/* A variable of the top instance, by its name. */
typedef struct {
    uint32_t var; /* + 1; 0: none */
    Type type;
} TopVariable;

/* An array of instances of a class. */
typedef struct {
    ArrayShape shape;
    uint32_t first_var, n_vars;
    bool has_terms;      /* not only numbers: none of the extents is known yet */
    bool is_written_out; /* instance a[3] has rows of its own, and there is no instance a */
} InstanceArray;

typedef struct Scope Scope;
struct Scope {
    Model *model;
    Map instances, variables; /* owner << 32 | name; variables of the top instance of the model are in top */
    VEC(TopVariable) top;     /* by name: one look instead of three, for models with a million names */
    bool has_top;
    Map labels[LABEL_COUNT]; /* owner << 32 | name */
    VEC(Record) records;
    uint32_t next[LABEL_COUNT]; /* number that the next element of the kind gets */
    VEC(Scope *) functions;     /* of the fields of each */
    VEC(Equation) later;        /* those that are added behind all others */
    VEC(InstanceArray) arrays;
    Map array_names; /* owner << 32 | name: in arrays */
};

typedef enum { CLASS_UNREAD, CLASS_READING, CLASS_READ, CLASS_BAD } ClassState;
typedef struct {
    NameId name;
    uint32_t head, begin, end; /* of the text: name, first byte behind it, begin of the line with its end */
    uint8_t state;
    Model *model;
} Class;

typedef struct {
    uint8_t role;
    Type type;
    NameId name;
} ConnectorMember;
typedef struct {
    uint32_t first, n;
} Connector;

typedef struct {
    NameId name;
    uint32_t level;
} LoopName;

/* What was wrong so far. */
typedef struct {
    bool failed;         /* something was wrong */
    bool has_reported;   /* the reader has reported the last mistake: advice may follow */
    bool gave_up;        /* nested too deep: what follows would only repeat it */
    uint32_t to_compare; /* names that may still be compared for "did you mean" */
} Mistakes;

/* The files that places name, by their numbers in the text. */
typedef struct {
    VEC(uint32_t) ids; /* of the sources */
    VEC(NameId) paths, languages;
    Map numbers; /* path: number in the text */
} FileList;

typedef struct {
    VEC(Class) all;
    Map names;
} ClassList;

typedef struct {
    Map tables;               /* label: table */
    Map enumerations, values; /* label: enumeration; enumeration << 32 | name: number */
    Map places;               /* label: where an enumeration begins in the text */
} HeadLabels;

typedef struct {
    VEC(Connector) all;
    VEC(ConnectorMember) members;
    Map names;
    VEC(uint32_t) lines; /* where each begins in the text */
} ConnectorList;

typedef struct {
    VEC(const Expr *) all;
    Map names;
    VEC(uint32_t) lines; /* where each begins in the text */
} ShapeList;

/* What is declared at the head of the file. */
typedef struct {
    FileList files;
    ClassList classes;
    HeadLabels labels;
    ConnectorList connectors;
    ShapeList shapes;
    VEC(uint32_t) model_lines; /* where models begin; there is to be one */
} Head;

/* The name that is read, and names seen lately. */
typedef struct {
    VEC(NameId) path;
    Type found; /* the type of the variable found last */
    /* Names by their first and last letters and length: a text says the same ones over and over. */
    struct {
        uint32_t at, length; /* in the text; length 0: none */
        NameId name;
    } recent[256];
    struct { /* the last instance that a path led to */
        const Scope *scope;
        NameId name;
        uint32_t instance;
    } last_owner;
} NameState;

/* The term that is parsed. */
typedef struct {
    VEC(Ref) refs;
    Map ref_numbers; /* the places in `refs`, when there are many */
    VEC(LoopName) loops;
    uint32_t literal; /* the term stands inside so many noEvent() */
    bool in_shape;    /* leaves are %0, %1 */
} TermState;

typedef struct {
    Pool *pool;
    Names *names;
    Arena *arena;
    Arena *scratch; /* of what is only needed while the text is read; reader_end releases it */
    Sources *sources;
    Diag *diag;
    uint32_t source;
    Words *words;
    Lexer lexer;
    Token token;       /* the next one */
    uint32_t last_end; /* the end of the token before */
    uint32_t depth;    /* of recursion */
    Mistakes mistakes;
    Head head;
    Scope *scope; /* the unit that is read */
    Model *model; /* scope->model */
    Map groups;   /* of the unit: group in the text: group in the model */
    Scope *top;   /* of the whole model; functions are declared there */
    NameState name;
    TermState term;
} Reader;

/* ---- the whole (read.c) ---- */
/* Of a text that goes into the model, or is about it. */
Scope *reader_scope(Reader *r, Model *model);
Reader *reader_create(Model *model, Sources *sources, uint32_t source, Diag *diag);
void reader_end(Reader *r);         /* names and labels are no longer known to it */
void reader_enter_model(Reader *r); /* names, labels, tables and enumerations as the printer writes them */

/* ---- tokens and messages (read_names.c) ---- */
void reader_advance(Reader *r);
void reader_jump(Reader *r, uint32_t at); /* goes on with the token there */
Span reader_token_span(const Reader *r);
Span reader_span_from(const Reader *r, uint32_t begin); /* to the end of the last token */
bool reader_has_word(const Reader *r, Word word);
bool reader_accept_word(Reader *r, Word word);
bool reader_accept(Reader *r, TokenKind kind);
bool reader_expect(Reader *r, TokenKind kind, const char *what); /* what: "a ')' after the arguments" */
bool reader_expect_word(Reader *r, Word word);
bool reader_syntax_error(Reader *r, const char *wanted); /* false; "expected ..., found ..." */
bool reader_is_element_end(const Reader *r);
bool reader_choose(Reader *r, const WordList *list, const char *what, uint8_t *value); /* one of the words */
/* Advice and further places for what reader_report() reported last. */
#define HELP(r, ...) ((r)->mistakes.has_reported ? diag_help((r)->diag, __VA_ARGS__) : (void)0)
#define NOTE(r, ...) ((r)->mistakes.has_reported ? diag_note((r)->diag, __VA_ARGS__) : (void)0)
bool reader_report(Reader *r, DiagCode code, Span span, const char *format, ...) __attribute__((format(printf, 4, 5)));
void reader_give_up(Reader *r);               /* goes to the end of the text and reports nothing more */
bool reader_enter(Reader *r, uint32_t limit); /* one level deeper; false: too deep, reported. Undone by r->depth-- */
const char *reader_type_text(const Reader *r, Type type);

/* ---- names (read_names.c) ---- */
static inline uint64_t key_of(uint32_t owner, NameId name)
{
    return (uint64_t)owner << 32 | name.index;
}
bool reader_parse_name(Reader *r, NameId *name); /* one name; interned */
bool reader_parse_string(Reader *r, NameId *text);
bool reader_parse_plain_or_string(Reader *r, NameId *text);
bool reader_parse_path(Reader *r); /* into r->name.path; ID_NONE for a name that is nowhere in the pool */
/* The owner by all but the last name; reports an instance that is not declared. */
bool reader_path_owner(Reader *r, uint32_t begin, InstanceId *owner);
bool reader_parse_new_label(Reader *r, Label *label);                /* a label that is declared here */
bool reader_parse_label(Reader *r, LabelKind kind, uint32_t *index); /* a label that is used */
bool reader_parse_variable_name(Reader *r, VarId *var);
bool reader_find_variable(Reader *r, VarId *var); /* by r->name.path; its type in r->name.found */
bool reader_scope_variable(const Scope *scope, uint32_t owner, NameId name, uint32_t *var);
void reader_scope_add_variable(Reader *r, uint32_t owner, NameId name, uint32_t var);
bool reader_unknown_name(Reader *r, uint32_t begin, const char *what);
bool reader_parse_type(Reader *r, Type *type); /* without dimensions */
bool reader_parse_integer(Reader *r, int64_t least, int64_t largest, int64_t *value);
bool reader_parse_number(Reader *r, double *value); /* a Real or Integer literal with its sign */

/* ---- types of expressions (read_types.c); NULL: reported ---- */
const Expr *reader_type_error(Reader *r, Span span, const char *what, Type is, const char *wanted); /* NULL */
const Expr *reader_pair_error(Reader *r, Span span, const char *op, Type a, Type b);                /* NULL */
const Expr *reader_convert(Reader *r, const Expr *e, Type type); /* Integer literals to Real where wanted */
void reader_unify(Reader *r, const Expr **a, const Expr **b);    /* the same, of each to the type of the other */
/* The operation on n arguments, which it may change; the span is that of the operator. */
const Expr *reader_build(Reader *r, Op op, uint32_t n, const Expr **args, Span span);
const Expr *reader_build_text(Reader *r, TextOp op, uint32_t n, const Expr **args, Span span);
bool reader_suits(Type type, OpTakes wanted);
bool reader_is_too_deep(Reader *r, uint32_t n, const Expr *const *args, Span span); /* true: reported */

const Expr *reader_build_product(Reader *r, const Expr **args, Span span); /* of matrices and vectors */

/* ---- lists and arrays (read_array.c); NULL: reported ---- */
typedef struct {
    const Expr *few[8];
    const Expr **at;
    uint32_t n, capacity;
} ExprList;
/* Expressions and ranges with commas up to the closing sign, which is taken. */
bool reader_parse_list(Reader *r, ExprList *list, TokenKind close, const char *close_text);
const Expr *reader_parse_item(Reader *r, bool is_index); /* an expression, a range, or as an index `:` */
const Expr *reader_parse_array(Reader *r);
const Expr *reader_parse_reduction(Reader *r, Op op, WholeOp whole);   /* sum, prod, min ... of a loop or an array */
const Expr *reader_parse_whole(Reader *r, WholeOp op, uint32_t begin); /* its arguments */
const Expr *reader_parse_operation(Reader *r, Op op, Span span);       /* its arguments */

/* ---- several results (read_results.c) ---- */
typedef struct {
    VEC(Term) places, values; /* those that are taken, in the order of the results */
} Results;
bool reader_begins_results(const Reader *r); /* what follows is (a, b) = or (a, b) := */
bool reader_parse_results(Reader *r, bool are_targets, TokenKind *sign, Results *results); /* (a, ., b) := f(x) */

/* ---- terms (read_expr.c, read_operand.c, read_term.c) ---- */
const Expr *reader_parse_expr(Reader *r, uint32_t least);  /* least: Binds */
bool reader_parse_term(Reader *r, Type type, Term *term);  /* a term of this type, or reports */
bool reader_parse_value(Reader *r, Type type, Term *term); /* the same; scalar or array for an array */
bool reader_parse_operand_term(Reader *r, Binds least, const Expr **shape);
bool reader_parse_any_term(Reader *r, const Expr **shape); /* refs stay in r->term.refs until finish_term */
Term reader_finish_term(Reader *r, const Expr *shape);
const Expr *reader_parse_operand(Reader *r);
const Expr *reader_integer_literal(Reader *r, bool is_negative); /* the next token */
const Expr *reader_real_literal(Reader *r, double value);
bool reader_parse_loop_name(Reader *r, NameId *name, uint32_t *level); /* level ID_NONE: the next one */
uint32_t reader_next_level(const Reader *r);
bool reader_check_target(Reader *r, const Expr *shape, Span span);
bool reader_parse_target(Reader *r, Term *target, Type *type);
bool reader_parse_domain(Reader *r,
                         DomainId *domain);     /* after "for", up to before the colon; loops are in scope then */
void reader_leave_loops(Reader *r, uint32_t n); /* back to n loops in scope */
bool reader_parse_shape(Reader *r, const Expr **shape);

/* ---- places (read_places.c) ---- */
bool reader_parse_source(Reader *r);
void reader_open_sources(Reader *r); /* after all source lines are read */
bool reader_place_span(Reader *r, const Token *token, Span *span);

/* ---- units (read_declare.c) ---- */
void reader_scan_unit(Reader *r, uint32_t begin, uint32_t end, bool is_file);
void reader_declare_unit(Reader *r);
void reader_declare_instances(Reader *r);
/* c.x[2,i] where the array c is written out: the path becomes 'c[2]'.x, [i] is left to be read. */
bool reader_path_to_element(Reader *r);
void reader_enter_rows(Reader *r, uint32_t first_instance, uint32_t first_variable, const uint32_t *first);
void reader_enter_function(Reader *r, uint32_t index); /* its fields are the names until ... */
void reader_leave_function(Reader *r);
bool reader_find_class(const Reader *r, NameId name, uint32_t *index);
Model *reader_read_class(Reader *r, uint32_t index, Span wanted_at);
/* Says where it was declared before. */
bool reader_declared_twice(Reader *r, Span span, const char *what, const char *name, Span earlier);
bool reader_parse_enum(Reader *r);
bool reader_parse_object(Reader *r);
bool reader_parse_table(Reader *r);
bool reader_parse_table_name(Reader *r, const Table **table);
bool reader_parse_connector(Reader *r, bool is_new);

/* ---- elements (read_elements.c, read_structure.c, read_dynamics.c, read_body.c) ---- */
typedef struct {
    RegionId region;
    uint16_t branch;
} Where;
bool reader_parse_element_end(Reader *r, uint32_t begin,
                              Span *span);          /* the place, if any, and the end of the element */
void reader_add_later(Reader *r);                   /* equations that wait for the end of the unit */
void reader_recover(Reader *r);                     /* to the end of the line */
void reader_parse_elements(Reader *r, Where where); /* up to end, case, else or the end of the text */
/* `end LABEL`; label NULL: any. Reports when there is another one. */
bool reader_parse_block_end(Reader *r, const Label *label, Span opened);
bool reader_is_element_word(const Reader *r);
NameId reader_stored_name(const Reader *r, LabelKind kind, NameId name); /* empty for $e12 */
bool reader_parse_dynamic(Reader *r, Where where, uint32_t begin,
                          Word word); /* eq, algorithm, dropped, region, trans */
bool reader_parse_assert(Reader *r, Where where, uint32_t begin);
bool reader_parse_static(Reader *r, uint32_t begin, Word word); /* everything else */
bool reader_parse_attributes(Reader *r, const VarId *vars, uint32_t n);
bool reader_parse_message(Reader *r, NameId *literal, Term *message);
bool reader_parse_action(Reader *r, uint32_t begin, Term guard, Action *a); /* behind its guard */
bool reader_parse_statements(Reader *r, uint32_t *first);                   /* up to end, else, elseif */
bool reader_parse_region_ref(Reader *r, RegionId *region, uint16_t *branch);
bool reader_parse_origin_word(Reader *r, Origin *origin, bool *known); /* from and by; *known: it was one of them */

bool reader_parse_step_head(Reader *r, StepFunction *step); /* op, table, argument */
bool reader_parse_state_set(Reader *r, uint32_t begin);     /* read_sets.c */
bool reader_parse_foreign(Reader *r, uint32_t begin);       /* read_foreign.c */
bool reader_parse_spans(Reader *r, uint32_t begin);
bool reader_parse_numbered(Reader *r, char letter, uint32_t n, uint32_t *index); /* k1: index 0, less than n */
bool reader_parse_instance(Reader *r, uint32_t begin);
bool reader_parse_port(Reader *r, uint32_t begin);
bool reader_parse_delay(Reader *r, uint32_t begin);
bool reader_parse_connect(Reader *r, uint32_t begin);
bool reader_parse_anchor(Reader *r, uint32_t begin);
/* What is said of each element of an array: of fixed, it may be all; of select. */
bool reader_parse_fixed(Reader *r, Variable *row);
bool reader_may_be_free(Reader *r, uint32_t begin, VarId var); /* if it is: false, reported */
bool reader_parse_wishes(Reader *r, Variable *row, const WordList *words);
bool reader_parse_function(Reader *r, uint32_t begin);
bool reader_parse_derivative(Reader *r, Function *function, uint32_t begin); /* behind the first word */
bool reader_parse_inverse(Reader *r, Function *function, uint32_t begin);
bool reader_list_has(const WordList *list, uint32_t word);
bool reader_has_attribute(const Reader *r);
bool reader_parse_declared(Reader *r, VarId *var); /* a variable that this line declares */
bool reader_parse_variable_rest(Reader *r, uint32_t begin, const VarId *vars, uint32_t n); /* behind the names */
bool reader_wrong_end(Reader *r, const Label *label, Span span, Span opened);

#endif
