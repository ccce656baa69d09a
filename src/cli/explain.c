/* koine explain: the page of a diagnostic code. The pages are those of docs/diagnostics, put into the program when it
 * is built (pages.h), so that an installed koine has them. */
#include "base/diag.h"
#include "cli/pages.h"
#include "cli/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char *page_of(uint32_t code)
{
    for (uint32_t k = 0; k < n_pages; k++)
        if (pages[k].code == code)
            return pages[k].text;
    return NULL;
}

/* The page with headings and code set off by colour. */
static void print_coloured(const char *page)
{
    bool is_code = false;
    while (*page) {
        const size_t length = strcspn(page, "\n");
        if (strncmp(page, "```", 3) == 0) {
            is_code = !is_code;
        } else if (is_code) {
            printf("    \033[36m%.*s\033[0m\n", (int)length, page);
        } else if (page[0] == '#') {
            const size_t skip = strspn(page, "# ");
            printf("\033[1m%.*s\033[0m\n", (int)(length - skip), page + skip);
        } else {
            for (size_t k = 0; k < length; k++)
                if (!(page[k] == '*' && k + 1 < length && page[k + 1] == '*'))
                    putchar(page[k]);
                else
                    k++;
            putchar('\n');
        }
        page += length + (page[length] == '\n');
    }
}

static int list_codes(void)
{
    for (uint32_t k = 0; diag_code_at(k); k++)
        printf("KN%04u  %s\n", diag_code_at(k), diag_title(diag_code_at(k)));
    return EXIT_GOOD;
}

static int run_explain(const Command *command)
{
    if (command->n_arguments == 0)
        return list_codes();
    const char *given = command->arguments[0];
    const char *digits = strncasecmp(given, "KN", 2) == 0 ? given + 2 : given;
    char *end;
    const unsigned long code = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || code > 9999)
        return usage_error(command, "'%s' is not a code; codes look like KN1010", given);
    const char *title = diag_title((uint32_t)code), *page = page_of((uint32_t)code);
    if (!title)
        return usage_error(command, "there is no diagnostic KN%04lu; 'koine explain' lists them", code);
    if (!page)
        printf("KN%04lu: %s\n", code, title);
    else if (command->colour_out)
        print_coloured(page);
    else
        fputs(page, stdout);
    return EXIT_GOOD;
}

static const Example examples[] = {
    { "koine explain KN1010", "what this diagnostic means, with an example and the remedy." },
    { "koine explain", "lists all codes." },
    { 0 },
};

const Verb verb_explain = {
    .name = "explain",
    .arguments = "[CODE]",
    .summary = "explain a diagnostic by its code",
    .text = "Prints the page of a diagnostic: what it means, a text that causes it, and how to mend it. Without a "
            "code it lists all of them.",
    .most = 1,
    .examples = examples,
    .run = run_explain,
};
