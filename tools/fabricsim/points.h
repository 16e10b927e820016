/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a simulation: a list of points, each an object of numbers and words,
 * all with the same keys in the same order. Shown as JSON, CSV or a table.
 */
#ifndef POINTS_H
#define POINTS_H

#include <jansson.h>

#include "tools/fabricctl/command.h"

/**
 * points_show() - prints @points as the user asked and drops both
 * @about: what holds for all points; {"points": ...} is added to it for JSON,
 *	the others do not show it
 * @columns: keys of the table's columns; ended by NULL
 * Return: OK, or CANNOT when out of memory.
 */
int points_show(const struct ctl *ctl, json_t *about, json_t *points, const char *const *columns);

/** points_check() - refuses --json with --csv. Return: OK or CANNOT */
int points_check(const struct ctl *ctl);

#endif /* POINTS_H */
