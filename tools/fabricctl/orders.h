/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints orders: which user excluded which ports, and why. */
#ifndef ORDERS_H
#define ORDERS_H

#include <jansson.h>
#include <stddef.h>

/**
 * orders_show() - print a line for each of the orders of a table or a status
 * @title: printed before the first one
 * @max: how many are printed at most
 */
void orders_show(const json_t *orders, const char *title, size_t max);

#endif /* ORDERS_H */
