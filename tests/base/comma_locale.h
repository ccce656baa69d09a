/* Puts a locale with a decimal comma in force: an installed one, else one compiled with localedef into a
 * temporary folder. Returns false when neither is possible; the test then skips and says so. */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool comma_is_in_force(void)
{
    char text[16];
    snprintf(text, sizeof text, "%.1f", 1.5);
    return strcmp(text, "1,5") == 0;
}

static bool set_comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) && comma_is_in_force())
            return true;
    char folder[] = "/tmp/koine-locale-XXXXXX", command[256], source[64];
    if (!mkdtemp(folder))
        return false;
    snprintf(source, sizeof source, "%s/source", folder);
    FILE *const file = fopen(source, "w");
    if (!file)
        return false;
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", file);
    fclose(file);
    snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 --no-archive %s/comma >/dev/null 2>&1",
             source, folder);
    const int compiled = system(command); /* warns about the missing categories: the status says nothing */
    (void)compiled;
    setenv("LOCPATH", folder, 1);
    const bool is_set = setlocale(LC_NUMERIC, "comma") && comma_is_in_force();
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    const int removed = system(command);
    (void)removed;
    return is_set;
}

#endif
