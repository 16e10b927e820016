/* SPDX-License-Identifier: GPL-2.0-only */
/* "lab up --config FILE": further lines for the configuration of every manager of a lab. */
#ifndef LABCONF_H
#define LABCONF_H

#include <stdbool.h>
#include <stddef.h>

/**
 * labconf_read() - of a file, checked
 * Keys that differ from node to node are the lab's to set: a file that sets one is refused. What it
 * says of others holds, also where the lab would set them (labconf_has()).
 * Return: @text of @room bytes, or NULL after saying what is wrong.
 */
const char *labconf_read(const char *path, char *text, size_t room);

/** labconf_has() - whether a line of @text sets @key */
bool labconf_has(const char *text, const char *key);

#endif /* LABCONF_H */
