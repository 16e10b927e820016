/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to both ends of a cable about the interfaces below them, which take some time. */
#ifndef BOTH_H
#define BOTH_H

#include <jansson.h>

#include "command.h"

/**
 * both_ask() - ask the end @link, and the other one if it is known
 * @cmd: of the manager; @begin: what is added to its first request, whose reference is taken over
 * @list: gets the last answer of each end, that of @link first
 * Return: OK, or the kind of the error, which is printed.
 */
int both_ask(const struct ctl *ctl, const char *link, const char *cmd, json_t *begin, json_t **list);

#endif /* BOTH_H */
