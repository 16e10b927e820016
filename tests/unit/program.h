/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a program of this build as users run it. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <limits.h>
#include <jansson.h>

extern char program[PATH_MAX];
/* The output of the program's last run. */
extern char out[1 << 21], err[1 << 16];

/** program_is() - selects the program: @name of the build that the test @self belongs to */
void program_is(const char *self, const char *name);

/** run() - runs it with words split at blanks. Return: its exit status */
int run(const char *args);
/** expect() - runs it; the test fails unless it exits with @status */
void expect(const char *args, int status);
/** has() - the test fails unless @what is in @text */
void has(const char *text, const char *what);
/** printed() - what it printed, as JSON; the caller frees it with json_decref() */
json_t *printed(void);

#endif /* TESTS_PROGRAM_H */
