/* Vectors and matrices of Dymola: what a text becomes, and the messages of wrong ones. */
#include "load.h"

static void test_declarations_with_sizes(void **state)
{
    (void)state;
    Loaded l = load("model class A cut c (r(3) / f(6)) parameter k(2) local T(3,3) T = 0 r = 0 f = 0 end\n"
                    "model m parameter p(2) = [1, -2], P(2,2) = [1, 2; 3, 4], s(4) = 5\n"
                    "submodel (A) a (k=p), b (k=[7; 8]) local x(2) y x = p y = 1 end");
    assert_string_equal(lines_of(&l, "param"), "a.k Real[2] causality parameter = {p[1], p[2]}\n"
                                               "b.k Real[2] causality parameter = {7.0, 8.0}\n"
                                               "p Real[2] causality parameter = {1.0, -2.0}\n"
                                               "P Real[2, 2] causality parameter = {{1.0, 2.0}, {3.0, 4.0}}\n"
                                               "s Real[4] causality parameter = 5.0\n");
    release(&l);
}

/* Without a comma before it, a name with a parenthesis is declared unless it is known. */
static void test_lists_without_commas(void **state)
{
    (void)state;
    expect_equations("model m local x(2) y(2)\ny(1) = 3\ny(2) = 4\nsin(x(1)) = 0\nx(2) = 1 end",
                     "sin(x[1]) = 0.0\nx[2] = 1.0\ny[1] = 3.0\ny[2] = 4.0\n");
}

/* One equation over a range; sums of many products are reductions. */
static void test_equations_over_ranges(void **state)
{
    (void)state;
    expect_equations("model m parameter A(2,3), k local x(3) y(2) z(2,3) s w(9)\n"
                     "y = k*A*x - y/2 z' = 2*z' x(2:3) = y x(1) = s s = y'*A*x w = 0 end",
                     "for i in 1:2: x[i + 1] = y[i]\n"
                     "for i in 1:2: y[i] = k*A[i, 1]*x[1] + k*A[i, 2]*x[2] + k*A[i, 3]*x[3] - y[i]/2.0\n"
                     "for i in 1:3, j in 1:2: z[j, i] = 2.0*z[j, i]\n"
                     "for i in 1:9: w[i] = 0.0\n"
                     "s = (y[1]*A[1, 1] + y[2]*A[2, 1])*x[1] + (y[1]*A[1, 2] + y[2]*A[2, 2])*x[2] + "
                     "(y[1]*A[1, 3] + y[2]*A[2, 3])*x[3]\n"
                     "x[1] = s\n");
    expect_equations("model m local x(20) s der(x) = -x s = x'*x end",
                     "for i in 1:20: der(x[i]) = -x[i]\ns = sum(for $i1 in 1:20: x[$i1]*x[$i1])\n");
}

/* Brackets, skew, cross, diag and eye are written out; factors 0 and 1 vanish. */
static void test_equations_written_out(void **state)
{
    (void)state;
    expect_equations("model m local a(3) b(3) c(3) d(2,2) e(2) a = skew(b)*c b = [1; 2; 3] c = cross(a, b)\n"
                     "d = [e, eye(2)*e] e = if Time > 1 then diag(e)*e else [1; 2] end",
                     "a[1] = (-b[3])*c[2] + b[2]*c[3]\n"
                     "a[2] = b[3]*c[1] + (-b[1])*c[3]\n"
                     "a[3] = (-b[2])*c[1] + b[1]*c[2]\n"
                     "b[1] = 1.0\nb[2] = 2.0\nb[3] = 3.0\n"
                     "c[1] = a[2]*b[3] + (-a[3]*b[2])\n"
                     "c[2] = a[3]*b[1] + (-a[1]*b[3])\n"
                     "c[3] = a[1]*b[2] + (-a[2]*b[1])\n"
                     "d[1, 1] = e[1]\nd[1, 2] = e[1]\nd[2, 1] = e[2]\nd[2, 2] = e[2]\n"
                     "e[1] = if time > 1.0 then e[1]*e[1] else 1.0\n"
                     "e[2] = if time > 1.0 then e[2]*e[2] else 2.0\n");
}

static void test_whole_arrays_are_equal(void **state)
{
    (void)state;
    expect_equations("model class A main cut c (r(2) / f(2)) f = r end\n"
                     "model m submodel (A) x y z node n local q(2) connect x at n, y at n q = x.r end",
                     "for i1 in 1:2: x.f[i1] = -y.f[i1]\nfor i1 in 1:2: z.f[i1] = 0.0\nq = x.r\nx.f = x.r\nx.r = y.r\n"
                     "y.f = y.r\nz.f = z.r\n");
    /* a cut without variables takes the sizes over; elements of what it shows */
    expect_equations(
        "model class A main cut c (r(2) / f(2)) end model class S cut s submodel (A) x connect s at x end\n"
        "model m submodel (S) o local w w = o::s.r(2) end",
        "for i1 in 1:2: o.s.f[i1] = 0.0\no.s.f = o.x.f\no.s.r = o.x.r\nw = o.s.r[2]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_declarations_with_sizes),
                                        cmocka_unit_test(test_lists_without_commas),
                                        cmocka_unit_test(test_equations_over_ranges),
                                        cmocka_unit_test(test_equations_written_out),
                                        cmocka_unit_test(test_whole_arrays_are_equal) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
