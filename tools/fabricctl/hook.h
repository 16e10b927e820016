/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: a program of the site that is run for each event. */
#ifndef HOOK_H
#define HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

/**
 * struct hook
 * @program: a file; it is run without arguments, with the event on its standard input
 * @seconds: that it may take
 * @at_once: how many may run at the same time
 */
struct hook {
	const char *program;
	uint64_t seconds;
	uint64_t at_once;
};

/**
 * hook_start() - before any other call
 * Return: OK, or why not, which is said: its program is none
 */
int hook_start(const struct hook *hook);
/** hook_run() - for @event, now or as soon as others have ended; borrowed */
void hook_run(const json_t *event);
/** hook_look() - hooks that have ended make room for others. Return: true if any runs or waits */
bool hook_look(void);

#endif /* HOOK_H */
