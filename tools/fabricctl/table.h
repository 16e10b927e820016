/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables as text, with aligned columns. */
#ifndef TABLE_H
#define TABLE_H

#include "output.h"

struct table;

/**
 * table_new() - make a table; @titles end with NULL, and must stay valid until table_print()
 * A column whose title begins with '>' is aligned right. A title may also begin with '?', before or
 * after the '>': such a column is left out if the table is too wide and all cells of the column are
 * FAINT, which means that they have no value.
 */
struct table *table_new(const char *const *titles);
/** table_cell() - add a cell; the cells of a row are added one after the other */
void table_cell(struct table *t, enum colour c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** table_print() - print the table, or @empty if it has no row, and free it */
void table_print(struct table *t, const char *empty);
/** table_free() - free a table that is not printed; NULL is allowed */
void table_free(struct table *t);
/** table_or_dash() - Return: @text; "-" if it is NULL or empty */
const char *table_or_dash(const char *text);

#endif /* TABLE_H */
