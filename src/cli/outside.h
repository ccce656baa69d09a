/* While functions of C are executed the process may end because of them: that is said, and is never a success. */
#ifndef CLI_OUTSIDE_H
#define CLI_OUTSIDE_H

/* `symbols`: of the functions; NULL: there are none. Once a process. */
void outside_begin(const char *symbols);
void outside_end(void);

#endif
