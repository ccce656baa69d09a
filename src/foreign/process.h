/* Processes of components: started, looked at, ended. */
#ifndef FOREIGN_PROCESS_H
#define FOREIGN_PROCESS_H

#include "base/arena.h"
#include <sys/types.h>

typedef struct {
    pid_t pid;    /* 0: there is none */
    int life;     /* as long as it is open here the process lives: kept by nobody else */
    bool is_over; /* and `how` it ended is what waitpid says; -1: nobody knows */
    int how;
} ComponentProcess;

/* The program that has a component as its guest; false: *why. */
bool component_program(char *path, size_t size, const char **why);
/* `given` is its descriptor EXCHANGE_MEMORY. NULL, or why not. */
const char *component_start(ComponentProcess *process, const char *program, const char *const *arguments, int given);
bool component_is_over(ComponentProcess *process);
void component_end(ComponentProcess *process);
/* "was ended by the signal SIGSEGV" of one that is over. */
void component_tell_end(const ComponentProcess *process, char *text, size_t size);

#endif
