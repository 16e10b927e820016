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

/* Events of kind "admin" with an order: what an administrator excluded or included. */
/** orders_event_what() - Return: "excluded" or "included" */
const char *orders_event_what(const json_t *event);
/** orders_event_by() - as orders_user_text(). Return: @buf; "": none, because the time was over */
char *orders_event_by(const json_t *event, char *buf);
/** orders_show_event() - print the line of an event: what, which ports, who, when and why */
void orders_show_event(const json_t *event);

#endif /* ORDERS_H */
