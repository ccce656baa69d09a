#include "bench.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void model_path(const Bench *bench, const char *file, char *path)
{
    snprintf(path, PATH_SIZE, "%s/%s", bench->models, file);
}

/* Classes are looked for beside the file that uses them. */
static void link_class(const Bench *bench, const char *file)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    model_path(bench, file, from);
    snprintf(to, sizeof to, "%s/%s", bench->folder, file);
    if (access(to, F_OK) != 0 && symlink(from, to) != 0)
        perror(to);
}

/* The file to write, named by a format; its path in `path`. NULL: it is there already. */
static FILE *begin(const Bench *bench, char *path, const char *format, ...)
{
    char name[64];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    snprintf(path, PATH_SIZE, "%s/%s", bench->folder, name);
    if (access(path, F_OK) == 0)
        return NULL;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(4);
    }
    return file;
}

static void subcomponents(FILE *f, const char *prefix, uint32_t n, const char *class)
{
    for (uint32_t k = 1; k <= n; k++)
        fprintf(f, "    %s%u OF CLASS %s%s\n", prefix, k, class, k < n ? "," : "");
}

void generate_line(const Bench *bench, uint32_t cells, char *path)
{
    link_class(bench, "Cell.mdl");
    FILE *f = begin(bench, path, "Line%u.mdl", cells);
    if (!f)
        return;
    fprintf(f, "HIGH LEVEL COMPONENT Line%u\n  SUBCOMPONENTS\n", cells);
    subcomponents(f, "C", cells, "Cell");
    fprintf(f, "  COMPONENT CONNECTIONS\n");
    for (uint32_t k = 1; k < cells; k++)
        fprintf(f, "    C%u.U --> C%u.Left;\n    C%u.U --> C%u.Right;\n", k, k + 1, k + 1, k);
    fprintf(f, "  INITIALIZE\n    C1.Left := 1;\nEND OF Line%u\n", cells);
    fclose(f);
}

void generate_network(const Bench *bench, uint32_t stages, char *path)
{
    link_class(bench, "Stage.mdl");
    FILE *f = begin(bench, path, "Net%u.mdl", stages);
    if (!f)
        return;
    fprintf(f, "HIGH LEVEL COMPONENT Net%u\n  SUBCOMPONENTS\n", stages);
    subcomponents(f, "S", stages, "Stage");
    fprintf(f, "  COMPONENT CONNECTIONS\n");
    for (uint32_t k = 1; k <= stages; k++)
        fprintf(f, "    S%u.Out --> S%u.In;\n", k, k % stages + 1);
    fprintf(f, "END OF Net%u\n", stages);
    fclose(f);
}

void generate_network_ir(const Bench *bench, uint32_t stages, char *path)
{
    FILE *f = begin(bench, path, "net%u.ir", stages);
    if (!f)
        return;
    fprintf(f, "koine-ir 1\nmodel net%u\n", stages);
    for (uint32_t k = 1; k <= stages; k++)
        fprintf(f,
                "instance S%u Stage\n"
                "param S%u.C Real = 2.0\nparam S%u.L Real = 0.5\nparam S%u.R Real = 0.1\n"
                "var S%u.U Real continuous der start 0.0 fixed\nvar S%u.I Real continuous der start 0.0 fixed\n"
                "var S%u.Loss Real continuous now\nvar S%u.Flow Real continuous now\nvar S%u.Out Real continuous now\n",
                k, k, k, k, k, k, k, k, k);
    for (uint32_t k = 1; k <= stages; k++) {
        const uint32_t before = k == 1 ? stages : k - 1;
        fprintf(f,
                "eq S%u.e1 S%u.Loss := S%u.R*S%u.I*S%u.I\n"
                "eq S%u.e2 S%u.Flow := S%u.Out - S%u.I\n"
                "eq S%u.e3 S%u.Out := S%u.U - S%u.Loss\n"
                "eq S%u.e4 der(S%u.U) := (S%u.Flow - S%u.I)/S%u.C\n"
                "eq S%u.e5 der(S%u.I) := (S%u.U - S%u.R*S%u.I)/S%u.L\n",
                k, k, k, k, k, k, k, before, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k);
    }
    fprintf(f, "end net%u\n", stages);
    fclose(f);
}

void generate_network_classes(const Bench *bench, uint32_t stages, char *path)
{
    FILE *f = begin(bench, path, "classes%u.ir", stages);
    if (!f)
        return;
    fputs("koine-ir 1\nclass Stage\n"
          "param C Real = 2.0\nparam L Real = 0.5\nparam R Real = 0.1\n"
          "var U Real continuous der start 0.0 fixed\nvar I Real continuous der start 0.0 fixed\n"
          "var Loss Real continuous now\nvar Flow Real continuous now\nvar Out Real continuous now\n"
          "var In Real continuous input causality input start 1.0\n"
          "eq e1 Loss := R*I*I\neq e2 Flow := In - I\neq e3 Out := U - Loss\n"
          "eq e4 der(U) := (Flow - I)/C\neq e5 der(I) := (U - R*I)/L\nend Stage\n",
          f);
    fprintf(f, "model classes%u\n", stages);
    for (uint32_t k = 1; k <= stages; k++)
        fprintf(f, "instance S%u Stage\n", k);
    for (uint32_t k = 1; k <= stages; k++)
        fprintf(f, "connect S%u.Out S%u.In\n", k, k % stages + 1);
    fprintf(f, "end classes%u\n", stages);
    fclose(f);
}

void generate_cells(const Bench *bench, uint32_t cells, char *path)
{
    FILE *f = begin(bench, path, "cells%u.ir", cells);
    if (!f)
        return;
    fprintf(f,
            "koine-ir 1\nmodel cells%u\nparam n Integer structural = %u\n"
            "var x Real[n = %u] continuous der start 0.0 fixed\n"
            "eq e1 for i in 1:n: der(x[i]) := if x[i] > 1.0 + 0.000001*real(i) then -x[i] else 2.0 - x[i]\n"
            "end cells%u\n",
            cells, cells, cells, cells);
    fclose(f);
}

void generate_counting_cells(const Bench *bench, uint32_t cells, char *path)
{
    FILE *f = begin(bench, path, "counting%u.ir", cells);
    if (!f)
        return;
    fprintf(f,
            "koine-ir 1\nmodel counting%u\nparam n Integer structural = %u\n"
            "var x Real[n = %u] continuous der start 0.0 fixed\nvar c Integer[n = %u] discrete now start 0\n"
            "eq e1 for i in 1:n: der(x[i]) := 2.0 - x[i]\n"
            "trans t1 edge now set for i in 1:n when x[i] > 1.0 + 0.000001*real(i) :\n  c[i] := pre(c[i]) + 1\nend t1\n"
            "end counting%u\n",
            cells, cells, cells, cells, cells);
    fclose(f);
}

/* Counting cells whose states and counts begin with values of their own. */
void generate_starting_cells(const Bench *bench, uint32_t cells, char *path)
{
    FILE *f = begin(bench, path, "starting%u.ir", cells);
    if (!f)
        return;
    fprintf(f,
            "koine-ir 1\nmodel starting%u\nparam n Integer structural = %u\n"
            "var x Real[n = %u] continuous der start 0.0\nvar c Integer[n = %u] discrete next start 0\n"
            "eq e1 for i in 1:n: der(x[i]) := 2.0 - x[i]\n"
            "eq initial s1 for i in 1:n: x[i] = sin(real(i))\neq initial s2 for i in 1:n: c[i] = i\n"
            "trans t1 edge next set for i in 1:n when x[i] > 1.0 + 0.000001*real(i) :\n  next(c[i]) := c[i] + 1\n"
            "end t1\nend starting%u\n",
            cells, cells, cells, cells, cells);
    fclose(f);
}

/* One gate is unstable at the start: one edge runs round for ever. */
void generate_ring(const Bench *bench, uint32_t gates, char *path)
{
    link_class(bench, "Inv.mdl");
    FILE *f = begin(bench, path, "Ring%u.mdl", gates);
    if (!f)
        return;
    fprintf(f, "HIGH LEVEL COMPONENT Ring%u\n  SUBCOMPONENTS\n", gates);
    subcomponents(f, "G", gates, "Inv");
    fprintf(f, "  COMPONENT CONNECTIONS\n");
    for (uint32_t k = 1; k <= gates; k++)
        fprintf(f, "    G%u.Out --> G%u.In;\n", k, k % gates + 1);
    fprintf(f, "  INITIALIZE\n");
    for (uint32_t k = 2; k <= gates; k += 2)
        fprintf(f, "    G%u.Out := TRUE;\n    G%u.NxtOut := TRUE;\n", k, k);
    fprintf(f, "END OF Ring%u\n", gates);
    fclose(f);
}

void generate_ticks(const Bench *bench, uint32_t idle, char *path)
{
    link_class(bench, "Tick.mdl");
    FILE *f = begin(bench, path, "Ticks%u.mdl", idle);
    if (!f)
        return;
    fprintf(f, "HIGH LEVEL COMPONENT Ticks%u\n  SUBCOMPONENTS\n", idle);
    subcomponents(f, "K", idle + 1, "Tick");
    fprintf(f, "  INITIALIZE\n    K%u.Due := 1;\nEND OF Ticks%u\n", idle / 2 + 1, idle);
    fclose(f);
}

/* Intervals of 1, 1.01, 1.02 ... in turns; at each tick something is counted. */
void generate_clocks(const Bench *bench, uint32_t clocks, uint32_t rates, char *path)
{
    FILE *f = begin(bench, path, "clocks%u_%u.ir", clocks, rates);
    if (!f)
        return;
    fprintf(f, "koine-ir 1\nmodel clocks\n");
    for (uint32_t k = 0; k < clocks; k++)
        fprintf(f,
                "var n%u Integer discrete next start 0 fixed\nclock k%u periodic %u/100\n"
                "trans t%u tick k%u next set :\n  next(n%u) := n%u + 1\nend t%u\n",
                k, k, 100 + k % rates, k, k, k, k, k);
    fprintf(f, "end clocks\n");
    fclose(f);
}

/* Resistor and capacitor objects of el.lib: eight equations a cell before aliases are removed. */
void generate_ladder(const Bench *bench, uint32_t cells, char *path)
{
    FILE *f = begin(bench, path, "ladder%u.dym", cells);
    if (!f)
        return;
    fprintf(f, "@el.lib\nmodel ladder\n  submodel (Vsource) U0\n  submodel (Ground) g\n  node n0, m0\n");
    for (uint32_t k = 1; k <= cells; k++)
        fprintf(f, "  node m%u\n  submodel (Resistor) R%u (R=1)\n  submodel (Capacitor) C%u (C=1)\n", k, k, k);
    fprintf(f, "  connect g at n0, U0 at (m0, n0)\n");
    for (uint32_t k = 1; k <= cells; k++)
        fprintf(f, "  connect R%u at (m%u, m%u), C%u at (m%u, n0)\n", k, k - 1, k, k, k);
    fprintf(f, "  U0.V0 = 1\nend\n");
    fclose(f);
}

void generate_sines(const Bench *bench, uint32_t equations, char *path)
{
    const uint32_t states = equations / 10;
    uint32_t random = 1;
    FILE *f = begin(bench, path, "sines%u.ir", equations);
    if (!f)
        return;
    fprintf(f, "koine-ir 1\nmodel sines\n");
    for (uint32_t k = 0; k < states; k++)
        fprintf(f, "var x%u Real continuous der start 0.5 fixed\neq d%u der(x%u) := y%u - sin(x%u)\n", k, k, k, 10 * k,
                k);
    for (uint32_t k = 0; k < equations; k++) {
        uint32_t at[3];
        for (int j = 0; j < 3; j++)
            at[j] = (random = random * 1664525u + 1013904223u) / 64 % states;
        fprintf(f, "var y%u Real continuous\neq e%u y%u := 1.5*sin(x%u) + %u.5*sin(x%u)*cos(x%u)\n", k, k, k, at[0],
                k % 7, at[1], at[2]);
    }
    fprintf(f, "end sines\n");
    fclose(f);
}

static void begin_star(FILE *f)
{
    fprintf(f, "@el.lib\nmodel star\n  submodel (Vsource) U0\n  submodel (Ground) g\n  submodel (Resistor) R0 (R=1)\n"
               "  node n0, s, m\n");
}

void generate_star(const Bench *bench, uint32_t branches, char *path)
{
    FILE *f = begin(bench, path, "star%u.dym", branches);
    if (!f)
        return;
    begin_star(f);
    for (uint32_t k = 1; k <= branches; k++)
        fprintf(f, "  node m%u\n  submodel (Resistor) R%u (R=1)\n  submodel (Capacitor) C%u (C=%u)\n", k, k, k, k);
    fprintf(f, "  connect g at n0, U0 at (s, n0), R0 at (s, m)\n");
    for (uint32_t k = 1; k <= branches; k++)
        fprintf(f, "  connect R%u at (m, m%u), C%u at (m%u, n0)\n", k, k, k, k);
    fprintf(f, "  U0.V0 = 1\nend\n");
    fclose(f);
}

void generate_parallel(const Bench *bench, uint32_t resistors, char *path)
{
    FILE *f = begin(bench, path, "parallel%u.dym", resistors);
    if (!f)
        return;
    begin_star(f);
    fprintf(f, "  node q\n  submodel (Capacitor) C0 (C=1)\n");
    for (uint32_t k = 1; k <= resistors; k++)
        fprintf(f, "  submodel (Resistor) R%u (R=%u)\n", k, k);
    fprintf(f, "  connect g at n0, U0 at (s, n0), R0 at (s, m), C0 at (q, n0)\n");
    for (uint32_t k = 1; k <= resistors; k++)
        fprintf(f, "  connect R%u at (m, q)\n", k);
    fprintf(f, "  U0.V0 = 1\nend\n");
    fclose(f);
}
