/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users and their roles: a file of names, roles, and hashes of passwords or tokens. */
#ifndef FABRICWEB_USERS_H
#define FABRICWEB_USERS_H

#include <stddef.h>

#define USERS_NAME_MAX	32

/** enum users_role - what a client may do; USERS_BUSY: too many wrong passwords, ask later */
enum users_role {
	USERS_NOBODY,
	USERS_READ,
	USERS_CHANGE,
	USERS_BUSY,
};

struct users;

/**
 * users_load() - read the file
 * @why: gets the text of an error, @size bytes
 * Return: the users; NULL after an error.
 */
struct users *users_load(const char *path, char *why, size_t size);
void users_free(struct users *u);

/**
 * users_check() - find out who a client is
 * @authorization: the header, or NULL
 * @name: gets the name, USERS_NAME_MAX + 1 bytes
 */
enum users_role users_check(struct users *u, const char *authorization, double now, char *name);

#endif /* FABRICWEB_USERS_H */
