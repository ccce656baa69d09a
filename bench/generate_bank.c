#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDER KOINE_SOURCE_DIR "/examples/adder"

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.mdl", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(4);
    }
    return f;
}

/* The classes of the example, with the gates in one version, as plain files of a folder. */
static void link_adder(const char *folder, const char *version)
{
    static const char *const classes[] = { "And", "Or", "XOr", "HalfAddi", "Addi" };
    for (uint32_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        char from[PATH_SIZE], to[PATH_SIZE];
        if (k < 3)
            snprintf(from, sizeof from, ADDER "/%s/%s.mdl", classes[k], version);
        else
            snprintf(from, sizeof from, ADDER "/%s.mdl", classes[k]);
        snprintf(to, sizeof to, "%s/%s.mdl", folder, classes[k]);
        if (symlink(from, to) != 0)
            perror(to);
    }
}

/* The same as Addi4Bit of the example, for any number of bits. */
static void write_adder(const char *folder, uint32_t bits)
{
    char name[32];
    snprintf(name, sizeof name, "Adder%u", bits);
    FILE *f = open_file(folder, name);
    fprintf(f, "HIGH LEVEL COMPONENT %s\n  SUBCOMPONENTS\n", name);
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    Addi%u OF CLASS Addi%s\n", k, k + 1 < bits ? "," : "");
    fprintf(f, "  INPUT CONNECTIONS\n    cl --> Addi0.cl;\n");
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    a%u --> Addi%u.a;\n    b%u --> Addi%u.b;\n", k, k, k, k);
    fprintf(f, "  OUTPUT EQUIVALENCES\n    c := Addi%u.c;\n", bits - 1);
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    s%u := Addi%u.s;\n", k, k);
    fprintf(f, "  COMPONENT CONNECTIONS\n");
    for (uint32_t k = 0; k + 1 < bits; k++)
        fprintf(f, "    Addi%u.c --> Addi%u.cl;\n", k, k + 1);
    fprintf(f, "END OF %s\n", name);
    fclose(f);
}

/* Switches after every period, which is time enough for the carry: a bit takes two gates of 10 ns. */
static void write_drive(const char *folder, uint32_t bits, bool is_logic)
{
    FILE *f = open_file(folder, "Drive");
    fprintf(f, "BASIC COMPONENT Drive\n");
    if (!is_logic)
        fprintf(f, "LOCAL DEFINITION\n  VALUE SET State: (high, low, undef)\n");
    fprintf(f,
            "DECLARATION OF ELEMENTS\n  CONSTANT Period (REAL) := %u\n  STATE VARIABLES Out (%s) := %s, "
            "Due (REAL) := %u\nDYNAMIC BEHAVIOUR\n  WHENEVER T >= Due DO\n    Due^ := Due + Period;\n",
            100 + 25 * bits, is_logic ? "LOGICAL" : "State", is_logic ? "FALSE" : "low", 100 + 25 * bits);
    if (is_logic)
        fprintf(f, "    Out^ := NOT Out;\n");
    else
        fprintf(f, "    IF Out = low DO Out^ := high; END ELSE DO Out^ := low; END\n");
    fprintf(f, "  END\nEND OF Drive\n");
    fclose(f);
}

void generate_adder(const Bench *bench, uint32_t bits, const char *version, char *path)
{
    const bool is_logic = strcmp(version, "Logic") == 0;
    char folder[PATH_SIZE / 2], name[32];
    snprintf(folder, sizeof folder, "%s/adder%u%s", bench->folder, bits, version);
    snprintf(path, PATH_SIZE, "%s/Ripple.mdl", folder);
    if (mkdir(folder, 0700) != 0)
        return; /* it is there already */
    link_adder(folder, version);
    write_adder(folder, bits);
    write_drive(folder, bits, is_logic);
    snprintf(name, sizeof name, "Adder%u", bits);
    FILE *f = open_file(folder, "Ripple");
    fprintf(f, "HIGH LEVEL COMPONENT Ripple\n  SUBCOMPONENTS Drive, Adder OF CLASS %s\n", name);
    fprintf(f, "  OUTPUT EQUIVALENCES\n    Carry := Adder.c;\n    Sum := Adder.s%u;\n", bits - 1);
    fprintf(f, "  COMPONENT CONNECTIONS\n    Drive.Out --> Adder.cl;\n  INITIALIZE\n");
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    Adder.a%u := %s;\n    Adder.b%u := %s;\n", k, is_logic ? "TRUE" : "high", k,
                is_logic ? "FALSE" : "low");
    fprintf(f, "END OF Ripple\n");
    fclose(f);
}

static void write_leaf(const char *folder, uint32_t k)
{
    char name[32];
    snprintf(name, sizeof name, "Leaf%u", k);
    FILE *f = open_file(folder, name);
    fprintf(f,
            "BASIC COMPONENT %s\nDECLARATION OF ELEMENTS\n  CONSTANT Gain (REAL) := %u\n"
            "  STATE VARIABLE CONTINUOUS Y (REAL) := 0\n  DEPENDENT VARIABLE CONTINUOUS Out (REAL)\n"
            "  SENSOR VARIABLE CONTINUOUS In (REAL) := 1\nDYNAMIC BEHAVIOUR\n  Out := Gain * Y;\n"
            "  DIFFERENTIAL EQUATIONS\n    Y' := In - Y;\n  END\n"
            "  WHENEVER Y > 100 DO\n    Y^ := 0;\n  END\nEND OF %s\n",
            name, k % 7, name);
    fclose(f);
}

void generate_bank(const Bench *bench, char *path)
{
    snprintf(path, PATH_SIZE, "%s/bank", bench->folder);
    if (mkdir(path, 0700) != 0)
        return;
    for (uint32_t k = 0; k < 9000; k++)
        write_leaf(path, k);
    for (uint32_t k = 0; k < 1000; k++) {
        char name[32];
        snprintf(name, sizeof name, "Group%u", k);
        FILE *f = open_file(path, name);
        fprintf(f, "HIGH LEVEL COMPONENT %s\n  SUBCOMPONENTS Leaf%u", name, 9 * k);
        for (uint32_t j = 1; j < 9; j++)
            fprintf(f, ", Leaf%u", 9 * k + j);
        fprintf(f, "\n  COMPONENT CONNECTIONS\n");
        for (uint32_t j = 0; j < 8; j++)
            fprintf(f, "    Leaf%u.Out --> Leaf%u.In;\n", 9 * k + j, 9 * k + j + 1);
        fprintf(f, "END OF %s\n", name);
        fclose(f);
    }
}
