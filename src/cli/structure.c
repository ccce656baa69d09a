/* koine structure: the components of a model and how they are connected. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "explain/structure.h"

enum { BOXES_MOST = 3000 };

static int write_picture(Compilation *c, uint32_t depth, const char *path)
{
    Text svg = { .arena = c->arena };
    uint32_t n;
    if (!structure_svg(c->model, depth, BOXES_MOST, c->arena, &n, &svg)) {
        say("the picture would have %u boxes, more than %d; a smaller --depth or a part of the model would do", n,
            BOXES_MOST);
        return EXIT_USAGE;
    }
    return write_text(path, &svg);
}

static int read_depth(const Command *command, long *depth)
{
    *depth = command_option(command, "svg") ? 1 : 1000;
    return command_whole(command, "depth", "is a number of levels from 0 to 1000", 0, 1000, depth);
}

static int show_structure(const Command *command, Compilation *c, CompileRequest *request)
{
    const char *svg = command_option(command, "svg");
    long depth;
    read_depth(command, &depth);
    const bool is_good = compilation_load(c, request);
    print_diagnostics(command, c->diag);
    if (!is_good)
        return EXIT_MODEL;
    if (svg)
        return write_picture(c, (uint32_t)depth, svg);
    Text text = { .arena = c->arena };
    structure_text(c->model, (uint32_t)depth, &text);
    fwrite(text.at, 1, text.n, stdout);
    return EXIT_GOOD;
}

static int run_structure(const Command *command)
{
    long depth;
    const int status = read_depth(command, &depth);
    return status == EXIT_GOOD ? target_act(command, show_structure) : status;
}

static const Option options[] = {
    { .name = "svg", .value = "FILE", .help = "draw a picture; - for the standard output" },
    { .name = "depth", .value = "N", .help = "levels below the model; default 1 in a picture, all in the text" },
    TARGET_USE,
    TARGET_EXTERNAL,
    { 0 },
};

static const Example examples[] = {
    { "koine structure Heizung.mdl", "a tree of components, with what their sensors read and where outputs go." },
    { "koine structure Heizung.mdl --svg heating.svg", "a picture for a browser or a document." },
    { "koine structure adder:Addi4Bit --svg - --depth 2 > adder.svg", "with the insides of the adders." },
    { 0 },
};

const Verb verb_structure = {
    .name = "structure",
    .arguments = "FILE[:CLASS]",
    .summary = "show the components of a model and their connections",
    .text = "Prints the tree of components, or draws it: boxes are components, with class and version where they have "
            "another name; hollow squares are sensors, filled ones outputs; arrows lead from outputs to the sensors "
            "that read them. Of a component's quantities those that are connected are shown, and all sensors.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_structure,
};
