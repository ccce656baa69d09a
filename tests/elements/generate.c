/* See generate.h. */
#include "generate.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SIGNALS = 64, LONGEST_NAME = 64, MOST_PICKED = 9, LONGEST_TEXT = 1 << 16 };

/* ---- reading ---- */
static char *whole_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, room = 0, got = 1;
    while (file && got) {
        if (size + 4096 > room)
            text = realloc(text, room = 2 * size + 8192);
        got = fread(text + size, 1, 4096, file);
        size += got;
    }
    if (text)
        text[size] = 0;
    if (file)
        fclose(file);
    return text;
}

bool elements_read(Elements *elements, const char *path)
{
    *elements = (Elements){ .file = whole_file(path) };
    if (!elements->file)
        return false;
    for (char *at = strstr(elements->file, "\nelement "); at; at = strstr(at, "\nelement ")) {
        elements->at = realloc(elements->at, (elements->n + 1) * sizeof *elements->at);
        Element *const e = &elements->at[elements->n++];
        memset(e, 0, sizeof *e);
        *at = 0; /* ends the one before */
        at += strlen("\nelement ");
        const size_t n = strcspn(at, "\n");
        snprintf(e->name, sizeof e->name, "%.*s", (int)n, at);
        e->text = at + n + (at[n] != 0);
        at += n;
    }
    return elements->n > 0;
}

void elements_free(Elements *elements)
{
    free(elements->at);
    free(elements->file);
}

/* ---- writing ---- */
typedef struct {
    uint64_t state;
    char reals[MOST_SIGNALS][LONGEST_NAME], states[MOST_SIGNALS][LONGEST_NAME], integers[MOST_SIGNALS][LONGEST_NAME];
    uint32_t n_reals, n_states, n_integers;
    FILE *head, *body; /* what stands before the model, and in it */
} Writer;

static uint32_t below(Writer *w, uint32_t n)
{
    w->state += 0x9e3779b97f4a7c15u;
    uint64_t z = w->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 11) % n;
}

static void put_signal(Writer *w, uint32_t depth, FILE *to)
{
    const uint32_t pick = below(w, depth ? 8 : 5);
    if (pick < 3 && w->n_reals) {
        fprintf(to, below(w, 2) ? "sin(%s)" : "tanh(%s)", w->reals[below(w, w->n_reals)]);
    } else if (pick < 4) {
        fprintf(to, "sin(%u.%u*time)", 1 + below(w, 4), below(w, 10));
    } else if (pick < 5) {
        fprintf(to, "0.%u", 1 + below(w, 9));
    } else {
        fprintf(to, pick == 5 ? "0.5*(" : "(");
        put_signal(w, depth - 1, to);
        fprintf(to, pick == 5 ? " + " : "*");
        put_signal(w, depth - 1, to);
        fputc(')', to);
    }
}

static void put_condition(Writer *w, FILE *to)
{
    static const char *const signs[] = { ">", ">=", "<", "<=" };
    if (below(w, 6) == 0) {
        fprintf(to, "time %s %u.%u", signs[below(w, 4)], below(w, 2), below(w, 10));
        return;
    }
    if (below(w, 6) == 0 && w->n_integers) {
        fprintf(to, "imod(%s, 3) %s 1", w->integers[below(w, w->n_integers)], signs[below(w, 4)]);
        return;
    }
    put_signal(w, 1, to);
    fprintf(to, " %s ", signs[below(w, 4)]);
    if (below(w, 3))
        fprintf(to, "%s0.%u", below(w, 2) ? "-" : "", below(w, 90) + 5);
    else
        put_signal(w, 0, to);
}

static void put_macro(Writer *w, char what, uint32_t number, FILE *to)
{
    switch (what) {
    case 'n': fprintf(to, "%u", number); break;
    case 's': put_signal(w, 2, to); break;
    case 'c': put_condition(w, to); break;
    case 'r': fprintf(to, "%s%u.%02u", below(w, 2) ? "-" : "", below(w, 2), below(w, 100)); break;
    case 'p': fprintf(to, "%u.%u", below(w, 2), 1 + below(w, 9)); break;
    case 'k': fprintf(to, "%u", 1 + below(w, 4)); break;
    case 't': fprintf(to, "%u.%02u", below(w, 2), below(w, 100)); break;
    case 'x': fputs(w->n_states ? w->states[below(w, w->n_states)] : "x0", to); break;
    case 'i':
        if (w->n_integers && below(w, 3))
            fprintf(to, "imod(%s, 9)", w->integers[below(w, w->n_integers)]);
        else
            fprintf(to, "%u", below(w, 6));
        break;
    default: fprintf(to, "$%c", what); break;
    }
}

/* How long the alternative is that begins here: up to the next | or the closing parenthesis. */
static size_t alternative(const char *at, size_t n)
{
    uint32_t depth = 0;
    size_t k = 0;
    for (; k < n && (depth || (at[k] != '|' && at[k] != ')')); k++)
        depth += (at[k] == '(') - (at[k] == ')');
    return k;
}

static void put_text(Writer *w, const char *text, size_t n, uint32_t number, FILE *to);

/* One of the alternatives behind $( ; gives how long they are, with the parenthesis. */
static size_t put_choice(Writer *w, const char *at, size_t n, uint32_t number, FILE *to)
{
    uint32_t count = 0;
    size_t all = 0, from = 0;
    for (bool goes_on = true; goes_on && all < n; count++) {
        all += alternative(at + all, n - all);
        goes_on = all < n && at[all] == '|';
        all++;
    }
    for (uint32_t left = below(w, count); left > 0; left--)
        from += alternative(at + from, n - from) + 1;
    put_text(w, at + from, alternative(at + from, n - from), number, to);
    return all;
}

static void put_text(Writer *w, const char *text, size_t n, uint32_t number, FILE *to)
{
    for (size_t k = 0; k < n; k++)
        if (text[k] == '$' && k + 1 < n && text[k + 1] == '(')
            k += 1 + put_choice(w, text + k + 2, n - k - 2, number, to);
        else if (text[k] == '$' && k + 1 < n)
            put_macro(w, text[++k], number, to);
        else
            fputc(text[k], to);
}

static void put_line(Writer *w, const char *line, size_t n, uint32_t number, FILE *to)
{
    put_text(w, line, n, number, to);
    fputc('\n', to);
}

/* The name behind `gives`, with the number of the occurrence. */
static void note(char to[MOST_SIGNALS][LONGEST_NAME], uint32_t *n, const char *line, size_t length, uint32_t number)
{
    char *at = to[*n];
    size_t used = 0;
    if (*n == MOST_SIGNALS)
        return;
    for (size_t k = 0; k < length && used < LONGEST_NAME - 12; k++)
        if (line[k] == '$' && k + 1 < length && line[k + 1] == 'n') {
            used += (size_t)snprintf(at + used, LONGEST_NAME - used, "%u", number);
            k++;
        } else {
            at[used++] = line[k];
        }
    at[used] = 0;
    (*n)++;
}

/* What it gives is for later ones: nothing depends on itself. */
static void put_element(Writer *w, const Element *e, uint32_t number)
{
    for (int pass = 0; pass < 2; pass++)
        for (const char *line = e->text; *line;) {
            const size_t n = strcspn(line, "\n");
            const bool is_real = strncmp(line, "gives ", 6) == 0, is_integer = strncmp(line, "gives int ", 10) == 0;
            if (pass == 0 && *line == '^')
                put_line(w, line + 1, n - 1, number, w->head);
            else if (pass == 0 && n && !is_real && *line != '#')
                put_line(w, line, n, number, w->body);
            else if (pass == 1 && is_integer)
                note(w->integers, &w->n_integers, line + 10, n - 10, number);
            else if (pass == 1 && is_real)
                note(w->reals, &w->n_reals, line + 6, n - 6, number);
            line += n + (line[n] != 0);
        }
}

void elements_write(const Elements *elements, uint64_t seed, const char *only, bool *used, FILE *file)
{
    Writer w = { .state = seed * 0x2545f4914f6cdd1du + 1 };
    char *head = NULL, *body = NULL;
    size_t n_head = 0, n_body = 0;
    w.head = open_memstream(&head, &n_head);
    w.body = open_memstream(&body, &n_body);
    memset(used, 0, elements->n * sizeof *used);
    const uint32_t n = 2 + below(&w, MOST_PICKED - 2), place = below(&w, n);
    fputs("var x0 Real continuous der start 0.2 fixed\neq ex0 der(x0) := cos(3.0*time)\n", w.body);
    snprintf(w.reals[w.n_reals++], LONGEST_NAME, "x0");
    snprintf(w.states[w.n_states++], LONGEST_NAME, "x0");
    for (uint32_t k = 0; k < n; k++) {
        uint32_t which = below(&w, elements->n);
        for (uint32_t j = 0; only && k == place && j < elements->n; j++)
            if (strcmp(elements->at[j].name, only) == 0)
                which = j;
        put_element(&w, &elements->at[which], k + 1);
        used[which] = true;
    }
    fclose(w.head);
    fclose(w.body);
    fprintf(file, "koine-ir 1\n%smodel whole\n%send whole\n", head, body);
    free(head);
    free(body);
}
