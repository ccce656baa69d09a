/* Reading files in all encodings and states; lines and columns against counting. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/source.h"
#include "base/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    char folder[64];
    Arena *arena;
    Sources *sources;
} Place;

static int set_up(void **state)
{
    Place *place = calloc(1, sizeof *place);
    strcpy(place->folder, "/tmp/koine-test-XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    place->arena = arena_create(NULL);
    place->sources = sources_create(place->arena);
    *state = place;
    return 0;
}

/* Every test leaves the one file "f" at most. */
static int tear_down(void **state)
{
    Place *place = *state;
    char path[96];
    snprintf(path, sizeof path, "%s/f", place->folder);
    unlink(path);
    rmdir(place->folder);
    arena_destroy(place->arena);
    free(place);
    return 0;
}

static const char *path_of(Place *place, const char *name)
{
    return arena_format(place->arena, "%s/%s", place->folder, name);
}

static const char *write_file(Place *place, const char *content, size_t size)
{
    const char *path = path_of(place, "f");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void expect_text(Place *place, const char *content, size_t size, const char *text, size_t text_size, bool latin1)
{
    const char *path = write_file(place, content, size);
    Sources *sources = sources_create(place->arena);
    uint32_t id;
    assert_int_equal(sources_open(sources, path, &id), SOURCE_OK);
    const Source *opened = sources_get(sources, id);
    assert_string_equal(opened->path, path);
    const Source *added = sources_get(sources, sources_add_text(sources, "<text>", content, size));
    for (int k = 0; k < 2; k++) {
        const Source *source = k ? added : opened;
        assert_int_equal(source->size, text_size);
        assert_memory_equal(source->text, text, text_size);
        assert_int_equal(source->text[text_size], 0);
        assert_int_equal(source->was_latin1, latin1);
    }
}

#define EXPECT_TEXT(place, content, text, latin1)                                                                      \
    expect_text((place), (content), sizeof(content) - 1, (text), sizeof(text) - 1, (latin1))

static void encodings(void **state)
{
    Place *place = *state;
    EXPECT_TEXT(place, "", "", false);
    EXPECT_TEXT(place, "x := 1;\n", "x := 1;\n", false);
    EXPECT_TEXT(place, "\xEF\xBB\xBFx", "x", false);
    EXPECT_TEXT(place, "\xEF\xBB\xBF", "", false);
    EXPECT_TEXT(place, "\xEF\xBB", "\xC3\xAF\xC2\xBB", true);
    EXPECT_TEXT(place, "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F", false);
    EXPECT_TEXT(place, "gr\xFC\xDF", "gr\xC3\xBC\xC3\x9F", true);
    EXPECT_TEXT(place, "\xEF\xBB\xBFgr\xFC", "gr\xC3\xBC", true);
    EXPECT_TEXT(place, "a\0b\0", "a\0b\0", false);
    EXPECT_TEXT(place, "a\0\xE9", "a\0\xC3\xA9", true);
    EXPECT_TEXT(place, "\xED\xA0\x80", "\xC3\xAD\xC2\xA0\xC2\x80", true); /* a surrogate */
    EXPECT_TEXT(place, "\xC0\xAF", "\xC3\x80\xC2\xAF", true);             /* overlong */
}

static void the_same_path_is_one_source(void **state)
{
    Place *place = *state;
    const char *path = write_file(place, "one", 3);
    uint32_t first, again;
    assert_int_equal(sources_open(place->sources, path, &first), SOURCE_OK);
    const Source *source = sources_get(place->sources, first);
    write_file(place, "two", 3);
    assert_int_equal(sources_open(place->sources, path, &again), SOURCE_OK);
    assert_int_equal(first, again);
    assert_int_equal(sources_count(place->sources), 1);
    sources_set_language(place->sources, first, "simplex");
    for (int k = 0; k < 1000; k++)
        sources_add_text(place->sources, arena_format(place->arena, "text %d", k), "", 0);
    assert_ptr_equal(sources_get(place->sources, first), source);
    assert_string_equal(source->text, "one");
    assert_string_equal(source->language, "simplex");
    /* Text that was added stands for the file of its name; the last one counts. */
    sources_add_text(place->sources, path, "three", 5);
    assert_int_equal(sources_open(place->sources, path, &again), SOURCE_OK);
    assert_string_equal(sources_get(place->sources, again)->text, "three");
    assert_int_equal(sources_open(place->sources, "text 500", &again), SOURCE_OK);
    assert_int_equal(again, 501);
}

static void expect_status(Place *place, const char *path, SourceStatus status)
{
    uint32_t id = 7;
    const uint32_t n = sources_count(place->sources);
    const size_t bytes = arena_bytes(place->arena);
    assert_int_equal(sources_open(place->sources, path, &id), status);
    assert_int_equal(id, SOURCE_NONE);
    assert_int_equal(sources_count(place->sources), n);
    assert_int_equal(arena_bytes(place->arena), bytes);
}

static void what_cannot_be_read(void **state)
{
    Place *place = *state;
    expect_status(place, path_of(place, "absent"), SOURCE_MISSING);
    expect_status(place, "", SOURCE_MISSING);
    expect_status(place, place->folder, SOURCE_NO_FILE);
    const char *path = write_file(place, "x", 1);
    expect_status(place, arena_format(place->arena, "%s/below", path), SOURCE_MISSING);
    expect_status(place, arena_format(place->arena, "/%05000d", 0), SOURCE_UNREADABLE);
    if (geteuid() != 0) { /* the superuser may read everything */
        assert_int_equal(chmod(path, 0), 0);
        expect_status(place, path, SOURCE_UNREADABLE);
    }
    unlink(path);
    assert_int_equal(symlink(path, path), 0); /* a loop */
    expect_status(place, path, SOURCE_UNREADABLE);
}

static void files_beyond_the_limit_are_refused(void **state)
{
    Place *place = *state;
    const char *path = write_file(place, "", 0);
    assert_int_equal(truncate(path, (off_t)SOURCE_LARGEST + 1), 0); /* a hole: takes no room on the disk */
    expect_status(place, path, SOURCE_TOO_LARGE);
}

/* Nobody may ever write to it. */
static void a_pipe_that_lies_somewhere_is_not_waited_for(void **state)
{
    Place *place = *state;
    const char *path = path_of(place, "f");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_status(place, path, SOURCE_NO_FILE);
}

static void a_pipe_is_read_to_its_end(void **state)
{
    Place *place = *state;
    char path[32];
    int ends[2];
    enum { LINES = 30000 };
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]); /* as shells hand over the output of a command */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *file = fdopen(ends[1], "wb");
        for (int k = 0; file && k < LINES; k++)
            fprintf(file, "%08d\n", k);
        if (file)
            fclose(file);
        _exit(0);
    }
    uint32_t id;
    close(ends[1]);
    assert_int_equal(sources_open(place->sources, path, &id), SOURCE_OK);
    waitpid(child, NULL, 0);
    close(ends[0]);
    const Source *source = sources_get(place->sources, id);
    assert_int_equal(source->size, LINES * 9);
    assert_memory_equal(source->text + (LINES - 1) * 9, "00029999\n", 10);
    assert_int_equal(span_begin(place->sources, (Span){ id, source->size, source->size }).line, LINES + 1);
}

static void expect_place(Place *place, uint32_t id, uint32_t offset, uint32_t line, uint32_t column)
{
    const LineColumn at = span_begin(place->sources, (Span){ id, offset, offset });
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

static void lines_end_with_lf_crlf_or_cr(void **state)
{
    Place *place = *state;
    const uint32_t id = sources_add_text(place->sources, "t", "a\nb\r\nc\rd\n\r\n\re", 13);
    expect_place(place, id, 0, 1, 1);  /* a */
    expect_place(place, id, 1, 1, 2);  /* LF */
    expect_place(place, id, 2, 2, 1);  /* b */
    expect_place(place, id, 3, 2, 2);  /* CR */
    expect_place(place, id, 4, 2, 3);  /* LF */
    expect_place(place, id, 5, 3, 1);  /* c */
    expect_place(place, id, 7, 4, 1);  /* d */
    expect_place(place, id, 9, 5, 1);  /* CR LF alone */
    expect_place(place, id, 11, 6, 1); /* CR alone */
    expect_place(place, id, 12, 7, 1); /* e */
    expect_place(place, id, 99, 7, 2); /* behind the end */
}

static void columns_count_characters(void **state)
{
    Place *place = *state;
    const uint32_t id = sources_add_text(place->sources, "t", "\t\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80x", 11);
    expect_place(place, id, 1, 1, 2);
    expect_place(place, id, 2, 1, 2); /* inside a character: the place is that of the character */
    expect_place(place, id, 3, 1, 3);
    expect_place(place, id, 6, 1, 4);
    expect_place(place, id, 9, 1, 4);
    expect_place(place, id, 10, 1, 5);
    const LineColumn end = span_end(place->sources, (Span){ id, 1, 6 });
    assert_int_equal(end.column, 4);
    const LineColumn none = span_begin(place->sources, SPAN_NONE);
    assert_int_equal(none.line, 0);
    assert_int_equal(none.column, 0);
}

static void offsets_are_clamped(void **state)
{
    Place *place = *state;
    const Sources *sources = place->sources;
    const uint32_t id = sources_add_text(place->sources, "t", "ab\r\nc\n", 6);
    assert_int_equal(source_offset(sources, id, 0, 5), 0);
    assert_int_equal(source_offset(sources, id, 1, 0), 0);
    assert_int_equal(source_offset(sources, id, 1, 2), 1);
    assert_int_equal(source_offset(sources, id, 1, 3), 2);
    assert_int_equal(source_offset(sources, id, 1, 5), 2);
    assert_int_equal(source_offset(sources, id, 1, UINT32_MAX), 2);
    assert_int_equal(source_offset(sources, id, 2, 1), 4);
    assert_int_equal(source_offset(sources, id, 2, 9), 5);
    assert_int_equal(source_offset(sources, id, 2, UINT32_MAX), 5);
    assert_int_equal(source_offset(sources, id, 3, 1), 6);
    assert_int_equal(source_offset(sources, id, 3, 2), 6);
    assert_int_equal(source_offset(sources, id, 4, 1), 6);
    const uint32_t empty = sources_add_text(place->sources, "e", "", 0);
    assert_int_equal(source_offset(sources, empty, 1, 1), 0);
    assert_int_equal(source_offset(sources, empty, 1, 2), 0);
    assert_int_equal(source_offset(sources, empty, UINT32_MAX, UINT32_MAX), 0);
}

/* Random text, every offset counted from the beginning. */
static void places_agree_with_counting(void **state)
{
    Place *place = *state;
    static const char *const PIECES[] = { "a",  "b",    "\t", "\xC3\xA9", "\xE6\xBC\xA2", "\xF0\x9F\x98\x80",
                                          "\n", "\r\n", "\r", "" };
    uint32_t random = 5;
    for (int round = 0; round < 60; round++) {
        char text[4096];
        uint32_t size = 0;
        const uint32_t kinds = round % 3 ? 10 : 6; /* some without line ends: one long line */
        while (size < 60u * (uint32_t)round) {
            random = random * 1664525 + 1013904223;
            const char *piece = PIECES[(random >> 16) % kinds];
            const size_t length = *piece ? strlen(piece) : 1;
            memcpy(text + size, piece, length);
            size += (uint32_t)length;
        }
        const uint32_t id = sources_add_text(place->sources, "t", text, size);
        uint32_t line = 1, column = 1;
        for (uint32_t at = 0; at <= size; at++) {
            if (at < size && utf8_is_inside(text[at]))
                continue;
            expect_place(place, id, at, line, column);
            assert_int_equal(source_offset(place->sources, id, line, column), at);
            const bool ends =
                at < size && (text[at] == '\n' || (text[at] == '\r' && !(at + 1 < size && text[at + 1] == '\n')));
            line += ends;
            column = ends ? 1 : column + 1;
        }
        assert_int_equal(sources_get(place->sources, id)->n_lines, line);
    }
}

static void spans_join(void **state)
{
    (void)state;
    const Span a = { 1, 5, 9 }, b = { 1, 7, 12 }, other = { 2, 0, 1 };
    const Span both = span_join(b, a);
    assert_int_equal(both.source, 1);
    assert_int_equal(both.begin, 5);
    assert_int_equal(both.end, 12);
    assert_int_equal(span_join(SPAN_NONE, a).begin, 5);
    assert_int_equal(span_join(a, SPAN_NONE).end, 9);
    assert_int_equal(span_join(a, other).end, 9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(encodings),
        TEST(the_same_path_is_one_source),
        TEST(what_cannot_be_read),
        TEST(files_beyond_the_limit_are_refused),
        TEST(a_pipe_that_lies_somewhere_is_not_waited_for),
        TEST(a_pipe_is_read_to_its_end),
        TEST(lines_end_with_lf_crlf_or_cr),
        TEST(columns_count_characters),
        TEST(offsets_are_clamped),
        TEST(places_agree_with_counting),
        cmocka_unit_test(spans_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
