/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The next step for each fault that a status has: a command, and a text about what to do with its
 * result.
 */
#ifndef NEXT_H
#define NEXT_H

#include <jansson.h>

#include "command.h"

/**
 * next_steps() - find the next step for each fault
 * @ctl: options that select the manager; the commands get the same options
 * Return: an array of {command, text}, each command once, the most urgent first.
 */
json_t *next_steps(const struct ctl *ctl, const json_t *status);
/** next_show() - print such an array */
void next_show(const json_t *list);

#endif /* NEXT_H */
