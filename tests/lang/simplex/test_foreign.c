/* Subcomponents of other languages: only their Models count. */
#include "fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

static VarId add(Model *model, const char *name, Type type, Variability variability, Definition definition,
                 Causality causality)
{
    const VarId var =
        model_add_variable(model, (InstanceId){ 0 }, names_text(pool_names(model->pool), name), type, SPAN_NONE);
    Variable *variable = model_var(model, var);
    variable->variability = (uint8_t)variability;
    variable->definition = (uint8_t)definition;
    variable->causality = (uint8_t)causality;
    return var;
}

/* The class `Foreign`: inputs u (continuous) and n (Integer), output y, parameter p, state x, array v, hidden h. */
static const Model *find_foreign(Resolver *resolver, const char *class_name, Span wanted_at, Diag *diag)
{
    Fixture *fixture = resolver->context;
    if (strcmp(class_name, "Foreign") != 0)
        return fixture_find(resolver, class_name, wanted_at, diag);
    Model *model = model_create(fixture->pool, fixture->sources, names_text(pool_names(fixture->pool), class_name),
                                "toy", SPAN_NONE);
    add(model, "u", REAL_TYPE, VARIABILITY_CONTINUOUS, DEFINITION_NONE, CAUSALITY_INPUT);
    add(model, "n", INTEGER_TYPE, VARIABILITY_DISCRETE, DEFINITION_INPUT, CAUSALITY_INPUT);
    add(model, "y", REAL_TYPE, VARIABILITY_CONTINUOUS, DEFINITION_NONE, CAUSALITY_OUTPUT);
    const VarId p = add(model, "p", REAL_TYPE, VARIABILITY_PARAMETER, DEFINITION_BINDING, CAUSALITY_PARAMETER);
    model_var(model, p)->binding = term_real(model, 1);
    add(model, "x", REAL_TYPE, VARIABILITY_CONTINUOUS, DEFINITION_DER, CAUSALITY_LOCAL);
    const VarId v = add(model, "v", REAL_TYPE, VARIABILITY_CONTINUOUS, DEFINITION_NONE, CAUSALITY_OUTPUT);
    const Term three = term_integer(model, 3);
    model_set_dims(model, v, 1, &three);
    model_var(model, add(model, "h", REAL_TYPE, VARIABILITY_CONTINUOUS, DEFINITION_NOW, CAUSALITY_LOCAL))
        ->is_protected = true;
    return model;
}

static Model *load(Fixture *fixture, const char *body)
{
    fixture->resolver.find = find_foreign;
    const char *text =
        arena_format(fixture->arena, "HIGH LEVEL COMPONENT A SUBCOMPONENTS F OF CLASS Foreign, Snk %s END OF A", body);
    return fixture_load_text(fixture, text, strlen(text));
}

static void test_connects(void **state)
{
    (void)state;
    Fixture *fixture = fixture_create(".");
    Model *model =
        load(fixture, "INPUT CONNECTIONS w --> F.u; k --> (F.n, Snk.I); OUTPUT EQUIVALENCES o := F.y; q := F.p; "
                      "COMPONENT CONNECTIONS F.y --> Snk.X; q --> Snk.W; INITIALIZE q := 3; F.x := 2; w := 5;");
    if (!model)
        diag_print(fixture->diag, stderr, (DiagStyle){ 0 });
    assert_non_null(model);
    Names *names = pool_names(fixture->pool);
    const InstanceId f = { 1 };
    const Variable *p = model_var(model, model_find(model, f, names_text(names, "p")));
    assert_true(expr_is_real(p->binding.shape, 3));
    const Variable *x = model_var(model, model_find(model, f, names_text(names, "x")));
    assert_true(expr_is_real(x->start.shape, 2) && x->is_fixed);
    const Variable *w = model_var(model, model_find(model, (InstanceId){ 0 }, names_text(names, "w")));
    assert_true(w->variability == VARIABILITY_CONTINUOUS && expr_is_real(w->start.shape, 5));
    assert_int_equal(model->connections.n, 5);
    fixture_destroy(fixture);
}

static void check_reject(const char *body, const char *code)
{
    Fixture *fixture = fixture_create(".");
    assert_null(load(fixture, body));
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(fixture->diag, to, (DiagStyle){ 0 });
    fclose(to);
    if (!strstr(text, code))
        fail_msg("%s: no %s\n%s", body, code, text);
    free(text);
    fixture_destroy(fixture);
}

static void test_rejects(void **state)
{
    (void)state;
    check_reject("COMPONENT CONNECTIONS F.v --> Snk.X;", "KN1166");
    check_reject("COMPONENT CONNECTIONS F.y --> Snk.R;", "KN1167");
    check_reject("COMPONENT CONNECTIONS F.h --> Snk.X;", "KN1161");
    check_reject("COMPONENT CONNECTIONS Snk.S --> F.n;", "KN1166");
    check_reject("COMPONENT CONNECTIONS Snk.S --> F.y;", "KN1163");
    check_reject("OUTPUT EQUIVALENCES o := F.v;", "KN1166");
}

static const Model *find_nothing(Resolver *resolver, const char *class_name, Span wanted_at, Diag *diag)
{
    (void)resolver;
    diag_error(diag, DIAG_FILE_MISSING, wanted_at, "`%s` contains itself", class_name);
    return NULL;
}

/* SX-142: what the resolver refuses (a ring, for instance) is reported by it, once, and nothing else is. */
static void test_refused_class(void **state)
{
    (void)state;
    static const char text[] = "HIGH LEVEL COMPONENT A SUBCOMPONENTS B, C OF CLASS B OUTPUT EQUIVALENCE o := B.y; "
                               "COMPONENT CONNECTIONS o --> C.x; INITIALIZE C.z := 1; END OF A";
    Fixture *fixture = fixture_create(".");
    fixture->resolver.find = find_nothing;
    assert_null(fixture_load_text(fixture, text, sizeof text - 1));
    assert_int_equal(diag_errors(fixture->diag), 1);
    fixture_destroy(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_connects), cmocka_unit_test(test_rejects),
                                        cmocka_unit_test(test_refused_class) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
