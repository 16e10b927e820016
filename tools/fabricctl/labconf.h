/* SPDX-License-Identifier: GPL-2.0-only */
/* "lab up --config FILE": further lines for the configuration of every manager of a lab. */
#ifndef LABCONF_H
#define LABCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <torus/topology.h>

/**
 * labconf_read() - read and check a file
 * A file that sets a key that differs from node to node is refused, because the lab sets these. Its
 * other keys replace those of the lab (labconf_has()).
 * Return: @text, of @room bytes; or NULL after printing the error.
 */
const char *labconf_read(const char *path, char *text, size_t room);

/** labconf_plan() - get the address plan of @text; a manager refuses bad prefixes */
void labconf_plan(const char *text, struct torus_plan *plan);
/** labconf_has() - Return: true if a line of @text sets @key */
bool labconf_has(const char *text, const char *key);

#endif /* LABCONF_H */
