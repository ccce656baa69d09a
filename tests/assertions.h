/* Assertions are counted while a test runs (assertions.c). cmocka's own are counted without a word; what fails by
 * fail_msg alone says with these that it has looked. */
#ifndef TESTS_ASSERTIONS_H
#define TESTS_ASSERTIONS_H

/* One assertion more that the running test has made. */
void assertion_made(void);

/* Fails with these words if the condition holds; that was looked at is counted. */
#define fail_if(condition, ...)                                                                                        \
    do {                                                                                                               \
        assertion_made();                                                                                              \
        if (condition)                                                                                                 \
            fail_msg(__VA_ARGS__);                                                                                     \
    } while (0)

#endif
