/* SPDX-License-Identifier: GPL-2.0-only */
/* Remote memory, as commands show it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <jansson.h>

#define ACCESS_TEXT_MAX 32

/** access_text() - write what others may do with memory, or "-". Return: @buf */
char *access_text(unsigned int access, char buf[ACCESS_TEXT_MAX]);
/** access_json() - Return: the same as an array of words */
json_t *access_json(unsigned int access);

#endif /* MEMORY_H */
