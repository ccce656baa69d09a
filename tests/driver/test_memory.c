/* Out of memory, anywhere: the handler is called, nothing crashes. Failures are injected with hostile memory only. */
#include "driver/compile.h"
#include "koine/simulate.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { OUT_OF_MEMORY = 4, BROKEN = 9 };

static void out_of_memory(size_t wanted)
{
    (void)wanted;
    _exit(OUT_OF_MEMORY);
}

static void compile_and_run(uint64_t allowed)
{
    Compilation *c = compilation_create(out_of_memory);
    arena_fail_after(c->arena, allowed);
    const CompileRequest request = { .path = KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.mdl" };
    const char *why;
    if (!compilation_load(c, &request) || !compilation_schedule(c))
        _exit(BROKEN);
    const KoineModelKind *kind = compilation_kind(c, "interp", &why);
    const KoineHost host = { 0 };
    KoineModel *model;
    if (!kind || kind->create(kind, &host, &model) != KOINE_OK)
        _exit(BROKEN);
    const KoineRunOptions options = { .stop = 1 };
    KoineRunReport report;
    const KoineRunEnd end = koine_simulate(model, &options, &report);
    kind->destroy(model);
    compilation_destroy(c);
    _exit(end == KOINE_RUN_DONE ? 0 : BROKEN);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    if (!arena_is_hostile(NULL))
        skip();
    uint32_t failed = 0;
    for (uint64_t allowed = 0;; allowed += 1 + allowed / 16) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            compile_and_run(allowed);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 0)
            break;
        assert_int_equal(WEXITSTATUS(status), OUT_OF_MEMORY);
        failed++;
    }
    assert_true(failed > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
