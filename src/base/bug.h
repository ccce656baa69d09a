/* BUG marks a broken assumption of our own, never a user's mistake. It stays on in release builds. */
#ifndef BASE_BUG_H
#define BASE_BUG_H

_Noreturn void bug_at(const char *file, int line, const char *what);
/* There is no memory, and nobody who was told what to do then: a message, and the status of a failing environment. */
_Noreturn void bug_no_memory(unsigned long wanted);
#define BUG(what)          bug_at(__FILE__, __LINE__, (what))
#define REQUIRE(condition) ((condition) ? (void)0 : bug_at(__FILE__, __LINE__, #condition))

#endif
