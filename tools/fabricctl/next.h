/* SPDX-License-Identifier: GPL-2.0-only */
/* The next step for each fault that a status has: a command, and what to do then. */
#ifndef NEXT_H
#define NEXT_H

#include <jansson.h>

/** next_steps() - Return: an array of {command, text}, each command once, the most urgent first */
json_t *next_steps(const json_t *status);
/** next_show() - print such an array */
void next_show(const json_t *list);

#endif /* NEXT_H */
