/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints orders: which user excluded which ports, and why. */
#ifndef ORDERS_H
#define ORDERS_H

#include <jansson.h>
#include <stddef.h>

#define ORDERS_USER_MAX 256

/**
 * orders_user_text() - the user as alice(1000)@n1-0, by the name that this machine has for it
 * Return: @buf; "" if a manager of an earlier release does not tell the user.
 */
char *orders_user_text(const json_t *order, char *buf);

/**
 * orders_show() - print a line for each of the orders of a table or a status
 * @title: printed before the first one
 * @max: how many are printed at most
 */
void orders_show(const json_t *orders, const char *title, size_t max);

#endif /* ORDERS_H */
