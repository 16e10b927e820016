/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: a program of the site that is run for each event. */
#ifndef HOOK_H
#define HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

/**
 * struct hook - a hook
 * @program: a file; it is run without arguments, with the event on its standard input
 * @seconds: longest time that it may run
 * @at_once: most hooks that run at the same time
 */
struct hook {
	const char *program;
	uint64_t seconds;
	uint64_t at_once;
};

/**
 * hook_start() - initialise, before any other call
 * Prints the error. Return: OK, or the kind of the error, if the program cannot be run.
 */
int hook_start(const struct hook *hook);
/** hook_run() - run the hook for @event, now or when others have ended; @event is borrowed */
void hook_run(const json_t *event);
/**
 * hook_look() - start waiting hooks in place of ended ones. Return: true if a hook runs or waits
 */
bool hook_look(void);

#endif /* HOOK_H */
