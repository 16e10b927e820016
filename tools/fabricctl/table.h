/* SPDX-License-Identifier: GPL-2.0-only */
/* Aligned columns for people. */
#ifndef TABLE_H
#define TABLE_H

#include "say.h"

struct table;

/**
 * table_new() - @titles, kept until table_print(), end with NULL
 * A column whose title begins with '>' is aligned right. One with '?', before or after that, is
 * left out if all its cells are FAINT, so have nothing to say, and the table is too wide otherwise.
 */
struct table *table_new(const char *const *titles);
/** table_cell() - the next cell, row after row */
void table_cell(struct table *t, enum colour c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** table_print() - prints and frees it; says @empty if there is no row */
void table_print(struct table *t, const char *empty);
/** table_or_dash() - Return: @text; "-" if it is NULL or empty */
const char *table_or_dash(const char *text);

#endif /* TABLE_H */
