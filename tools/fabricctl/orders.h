/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints orders: which user excluded which ports, and why. */
#ifndef ORDERS_H
#define ORDERS_H

#include <jansson.h>
#include <stddef.h>

#define ORDERS_USER_MAX 256

/**
 * orders_user_text() - write a user as alice(1000)@n1-0, with the name that this machine has for
 * the user id
 * Return: @buf; "" if a manager of an earlier release does not report the user.
 */
char *orders_user_text(const json_t *order, char *buf);

/**
 * orders_show() - print a line for each of the orders of a table or a status
 * @title: text that is printed before the first order
 * @max: most orders that are printed
 */
void orders_show(const json_t *orders, const char *title, size_t max);

/*
 * The functions below are for events of kind "admin", in which an administrator excludes or
 * includes something.
 */
/** orders_event_what() - Return: "excluded" or "included" */
const char *orders_event_what(const json_t *event);
/**
 * orders_event_by() - write the user, as orders_user_text() does. Return: @buf; "": the order ended
 * by itself, because its time was over
 */
char *orders_event_by(const json_t *event, char *buf);
/**
 * orders_show_event() - print the line of an event: the action, the ports, the user, the time and
 * the reason
 */
void orders_show_event(const json_t *event);

#endif /* ORDERS_H */
