/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users and their roles: a file of names, roles, and hashes of passwords or tokens. */
#ifndef FABRICWEB_USERS_H
#define FABRICWEB_USERS_H

#include <stdbool.h>
#include <stddef.h>

#define USERS_NAME_MAX		32
#define USERS_HASH_MAX		160
#define USERS_SECRET_MAX	512	/* room for the header Authorization, or for a password */

/** enum users_role - what a client may do */
enum users_role {
	USERS_NOBODY,
	USERS_READ,
	USERS_CHANGE,
	USERS_TRY,	/* its password has to be hashed first: users_compare() */
};

/**
 * struct users_try - a password that a client sent
 * @name: the user; "": no user has the name that the client sent, so the password is wrong
 * @hash: the hash with which that of the password is compared
 */
struct users_try {
	char name[USERS_NAME_MAX + 1], password[USERS_SECRET_MAX], hash[USERS_HASH_MAX];
};

struct crypt_data;
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
 * @authorization: the header Authorization, or NULL
 * @name: gets the name, USERS_NAME_MAX + 1 bytes
 * @try: set if this returns USERS_TRY: the password, which no earlier call of users_accept() has
 *	remembered as right, and the hash
 * Return: the role of the client; or USERS_TRY.
 */
enum users_role users_check(struct users *u, const char *authorization, char *name,
			    struct users_try *try);

/**
 * users_compare() - hash a password, which takes up to a second
 * @data: memory for the computation
 * Any thread may call this function, because it uses nothing but @try and @data.
 * Return: true if the password is right.
 */
bool users_compare(const struct users_try *try, struct crypt_data *data);

/**
 * users_accept() - remember that a password is right
 * @name: gets the name of the user
 * Return: the role; USERS_NOBODY if the user's password was changed since users_check().
 */
enum users_role users_accept(struct users *u, const struct users_try *try, char *name);

/** users_agree() - Return: true if the user is in both files, with the same role and secret */
bool users_agree(struct users *a, struct users *b, const char *name);

#endif /* FABRICWEB_USERS_H */
