/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which user excluded what, and why. */
#ifndef ORDERS_H
#define ORDERS_H

#include <jansson.h>
#include <stddef.h>

/**
 * orders_show() - a line for each of the orders of a table or a status
 * @title: precedes the first one; "": none does
 * @max: how many are shown at most
 */
void orders_show(const json_t *orders, const char *title, size_t max);

#endif /* ORDERS_H */
