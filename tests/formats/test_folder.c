/* Folders that are written whole or not at all. */
#include "formats/folder.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    char root[64];
    FolderFiles files;
} Fixture;

static const char *inside(const Fixture *f, const char *name)
{
    return arena_format(f->arena, "%s/%s", f->root, name);
}

static void add(Fixture *f, const char *path, const char *text)
{
    FolderFile *file = vec_push_zero(f->arena, &f->files.files);
    *file = (FolderFile){ path, { .arena = f->arena } };
    text_add(&file->text, text);
}

static const char *content(const Fixture *f, const char *name)
{
    static char text[64];
    FILE *file = fopen(inside(f, name), "r");
    if (!file)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void put(const Fixture *f, const char *name, const char *text)
{
    FILE *file = fopen(inside(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    Arena *arena = arena_create(NULL);
    Fixture *f = NEW(arena, Fixture);
    f->arena = f->files.arena = arena;
    strcpy(f->root, "/tmp/koine-folder-XXXXXX");
    if (!mkdtemp(f->root))
        return -1;
    f->files.mark = (FolderMark){ "a.txt", "made ", " here\n" };
    add(f, "a.txt", "made of two files here\n");
    add(f, "deep/er/b.txt", "b");
    *state = f;
    return 0;
}

static int end(void **state)
{
    Fixture *f = *state;
    const int status = system(arena_format(f->arena, "rm -r %s", f->root));
    arena_destroy(f->arena);
    return status;
}

static void test_it_is_made_with_folders_in_it(void **state)
{
    const Fixture *f = *state;
    const char *why;
    assert_int_equal(folder_write(inside(f, "new//"), &f->files, &why), FOLDER_WRITTEN);
    assert_null(why);
    assert_string_equal(content(f, "new/deep/er/b.txt"), "b");
    assert_string_equal(content(f, "new/a.txt"), "made of two files here\n");
}

/* What else lies in a folder with the mark stays. */
static void test_one_with_the_mark_is_written_again(void **state)
{
    Fixture *f = *state;
    const char *why;
    assert_int_equal(folder_write(inside(f, "again"), &f->files, &why), FOLDER_WRITTEN);
    put(f, "again/mine", "mine");
    f->files.files.at[1].text.at[0] = 'c';
    assert_int_equal(folder_write(inside(f, "again"), &f->files, &why), FOLDER_WRITTEN);
    assert_string_equal(content(f, "again/deep/er/b.txt"), "c");
    assert_string_equal(content(f, "again/mine"), "mine");
}

static void test_another_one_is_left_alone(void **state)
{
    Fixture *f = *state;
    const char *why;
    assert_int_equal(mkdir(inside(f, "other"), 0777), 0);
    put(f, "other/a.txt", "made of two files elsewhere\n");
    assert_int_equal(folder_write(inside(f, "other"), &f->files, &why), FOLDER_OTHER);
    assert_string_equal(why, arena_format(f->arena, "'%s' has other files in it", inside(f, "other")));
    assert_string_equal(content(f, "other/a.txt"), "made of two files elsewhere\n");
    put(f, "other/a.txt", "made before here\n");
    f->files.mark.file = NULL;
    assert_int_equal(folder_write(inside(f, "other"), &f->files, &why), FOLDER_OTHER);
}

/* The second file would be a folder that is a file by then: nothing is left of the first one. */
static void test_nothing_is_left_of_a_failure(void **state)
{
    Fixture *f = *state;
    const char *why;
    f->files.files.at[1].path = "a.txt/b.txt";
    assert_int_equal(folder_write(inside(f, "half"), &f->files, &why), FOLDER_FAILED);
    assert_non_null(strstr(why, strerror(ENOTDIR)));
    assert_int_not_equal(access(inside(f, "half"), F_OK), 0);
    assert_int_equal(rmdir(f->root), 0); /* it is empty */
    assert_int_equal(mkdir(f->root, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_is_made_with_folders_in_it, begin, end),
        cmocka_unit_test_setup_teardown(test_one_with_the_mark_is_written_again, begin, end),
        cmocka_unit_test_setup_teardown(test_another_one_is_left_alone, begin, end),
        cmocka_unit_test_setup_teardown(test_nothing_is_left_of_a_failure, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
