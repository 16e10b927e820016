/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests about the interfaces below both ends of a cable. The answers take some time. */
#ifndef BOTH_H
#define BOTH_H

#include <jansson.h>

#include "command.h"

/**
 * both_ask() - send a request to the end @link and, if it is known, to the other end of the cable
 * @cmd: command of the manager; @begin: members that are added to the first request; its reference
 *	is taken over
 * @list: set to the last answers of both ends, with the answer of @link first
 * Return: OK, or the kind of the error, which is printed.
 */
int both_ask(const struct ctl *ctl, const char *link, const char *cmd, json_t *begin,
	     json_t **list);

#endif /* BOTH_H */
