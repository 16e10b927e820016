/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a simulation: a list of points, each an object of numbers and words, all with the
 * same keys in the same order. The list is printed as JSON, CSV or a table.
 */
#ifndef POINTS_H
#define POINTS_H

#include <jansson.h>

#include "tools/fabricctl/command.h"

/**
 * points_show() - print @points in the format that the user has chosen, and drop the references to
 * @about and @points
 * @about: values that hold for all points; for JSON, {"points": ...} is added to it; CSV and tables
 *	do not show it
 * @columns: keys of the table's columns; ended by NULL
 * Return: OK, or CANNOT when out of memory.
 */
int points_show(const struct ctl *ctl, json_t *about, json_t *points, const char *const *columns);

/** points_check() - refuse the combination of --json and --csv. Return: OK or CANNOT */
int points_check(const struct ctl *ctl);

#endif /* POINTS_H */
