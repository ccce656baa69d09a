/* Functions written as a sequence of statements, an extension of the language: docs/languages/simplex.md.
 *
 * A function is a small component of its own: its arguments and variables are discrete quantities, so that its
 * expressions are checked and lowered like those of an event. */
#ifndef LANG_SIMPLEX_PROCEDURE_H
#define LANG_SIMPLEX_PROCEDURE_H

#include "lang/simplex/lower.h"
#include "lang/simplex/parser.h"

typedef enum { STEP_ASSIGN, STEP_IF, STEP_WHILE, STEP_FOR, STEP_RETURN, STEP_BREAK } ProcedureStepKind;
typedef struct ProcedureStep ProcedureStep;
struct ProcedureStep {
    uint8_t kind; /* ProcedureStepKind */
    Span span;
    Ident target;      /* ASSIGN, FOR */
    Node *value, *end; /* ASSIGN, IF, WHILE, RETURN: value; FOR: from and to */
    ProcedureStep *inner, *otherwise, *next;
    uint32_t field; /* check */
};

struct Procedure {
    Ident name;
    Component own; /* quantities: arguments, the result, variables */
    uint32_t n_inputs;
    ProcedureStep *first;
    Ident class_name;   /* it has a file of its own; empty: it stands here */
    Checker checker;    /* check */
    const Model *from;  /* check: that file; NULL: not found, or none */
    Function *function; /* lower */
};

/* FUNCTION ... END, at the keyword. */
bool mdl_parse_procedure(Parser *parser, Component *component);
/* A file of one function, at the keyword, up to END OF. */
bool mdl_parse_function_file(Parser *parser, Component *component);
void mdl_declare_procedures(Checker *checker); /* their names and types */
void mdl_check_procedures(Checker *checker);   /* their statements */
void mdl_check_procedure_call(Checker *checker, Node *node, const Procedure *procedure);
void mdl_lower_procedures(Lower *lower);
const Expr *mdl_lower_procedure_call(Lower *lower, const Node *node, const Procedure *procedure);

#endif
