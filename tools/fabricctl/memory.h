/* SPDX-License-Identifier: GPL-2.0-only */
/* Remote memory, as commands show it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <jansson.h>

#define ACCESS_TEXT_MAX 32

/** access_text() - write what others may do with memory, or "-". Return: @buf */
char *access_text(unsigned int access, char buf[ACCESS_TEXT_MAX]);
/**
 * memory_fail() - report that the NIC @where could not be asked; NULL: the only one of this node
 * Return: the exit status.
 */
int memory_fail(const char *where, int err);
/** access_json() - Return: the same as an array of words */
json_t *access_json(unsigned int access);

#endif /* MEMORY_H */
