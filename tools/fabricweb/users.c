// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line of the file is NAME:ROLE:HASH, ROLE read or change, HASH of crypt(5) ("$6$...", for
 * passwords) or sha256:HEX (for tokens, which nobody can guess). A token is sent as "Bearer TOKEN",
 * and either as "Basic" with the name.
 *
 * Hashing a password takes milliseconds. So those that were right are remembered by the SHA-256 of
 * the header, and only some tries a second are made of others.
 *
 * Test: tests/unit/test_fabricweb_users.c.
 */
#include <crypt.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "users.h"

#define USERS_MAX	256
#define KNOWN_MAX	16	/* headers that were right */
#define TRIES_A_SECOND	5
#define TRIES_AT_ONCE	20
#define HEADER_MAX	512

struct user {
	char name[USERS_NAME_MAX + 1];
	enum users_role role;
	char hash[160];
};

/**
 * struct users - the users of the file
 * @known: the last headers whose password was right, and whose they are
 * @tries: how many passwords could be tried at time @at
 */
struct users {
	unsigned int n, n_known;
	struct {
		unsigned char digest[SHA256_DIGEST_LENGTH];
		const struct user *user;
	} known[KNOWN_MAX];
	double tries, at;
	struct user user[USERS_MAX];
};

/* --- the file ----------------------------------------------------------------------------- */

static bool is_hash(const char *text)
{
	if (*text == '$')
		return !text[strcspn(text, " \t\r")];
	return !strncmp(text, "sha256:", 7) && strlen(text) == 71 && strspn(text + 7, "0123456789abcdef") == 64;
}

/* Return: NULL, or what is wrong with the line. */
static const char *parse_user(char *line, struct user *user)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	const char *name = strsep(&line, ":"), *role = strsep(&line, ":");

	if (!line || !*name || strlen(name) > USERS_NAME_MAX || name[strspn(name, allowed)])
		return "write NAME:ROLE:HASH, NAME of letters, digits, '.', '_' and '-'";
	if (strcmp(role, "read") && strcmp(role, "change"))
		return "the role is read or change";
	if (strlen(line) >= sizeof(user->hash) || !is_hash(line))
		return "the hash is that of crypt(5), \"$...\", or sha256: with 64 digits, 0 to 9 and a to f";
	strcpy(user->name, name);
	strcpy(user->hash, line);
	user->role = strcmp(role, "change") ? USERS_READ : USERS_CHANGE;
	return NULL;
}

static bool read_users(FILE *f, struct users *u, const char *path, char *why, size_t size)
{
	char line[512];

	for (unsigned int n = 1; fgets(line, sizeof(line), f); n++) {
		const char *wrong;
		bool whole = strchr(line, '\n') || feof(f);

		line[strcspn(line, "\n")] = '\0';
		if (whole && (!*line || *line == '#'))
			continue;
		wrong = !whole ? "the line is longer than 510 bytes" : u->n == USERS_MAX ? "there are more than 256 users" :
			parse_user(line, &u->user[u->n]);
		if (wrong) {
			snprintf(why, size, "%s, line %u: %s", path, n, wrong);
			return false;
		}
		u->n++;
	}
	if (ferror(f))
		snprintf(why, size, "cannot read '%s': %s", path, strerror(errno));
	return !ferror(f);
}

struct users *users_load(const char *path, char *why, size_t size)
{
	struct users *u = calloc(1, sizeof(*u));
	FILE *f = fopen(path, "re");
	bool fine = u && f;

	if (!fine)
		snprintf(why, size, "cannot read '%s': %s", path, strerror(f ? ENOMEM : errno));
	else
		fine = read_users(f, u, path, why, size);
	if (f)
		fclose(f);
	if (fine) {
		u->tries = TRIES_AT_ONCE;
		return u;
	}
	users_free(u);
	return NULL;
}

void users_free(struct users *u)
{
	if (u)
		OPENSSL_cleanse(u, sizeof(*u));
	free(u);
}

/* --- headers ------------------------------------------------------------------------------ */

static bool is_secret_of(const struct user *user, const char *secret)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];
	struct crypt_data data = { 0 };
	const char *hash;
	bool same;

	if (*user->hash == '$') {
		hash = crypt_r(secret, user->hash, &data);
		same = hash && strlen(hash) == strlen(user->hash) &&
		       !CRYPTO_memcmp(hash, user->hash, strlen(hash));
		OPENSSL_cleanse(&data, sizeof(data));
		return same;
	}
	SHA256((const unsigned char *)secret, strlen(secret), digest);
	for (unsigned int i = 0; i < sizeof(digest); i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	return !CRYPTO_memcmp(hex, user->hash + 7, sizeof(hex) - 1);
}

/*
 * Return: the user with this password or token; @name NULL: that of a token alone; NULL if there is
 * no such user.
 */
static const struct user *find_by_secret(const struct users *u, const char *name,
					 const char *secret)
{
	for (unsigned int i = 0; i < u->n; i++) {
		const struct user *user = &u->user[i];

		if (name ? strcmp(user->name, name) : *user->hash == '$')
			continue;
		if (is_secret_of(user, secret))
			return user;
	}
	return NULL;
}

static const struct user *check_basic(const struct users *u, const char *base64)
{
	unsigned char text[HEADER_MAX];
	size_t len = strlen(base64);
	const struct user *user;
	char *colon;
	int n;

	if (!len || len % 4 || len > sizeof(text))
		return NULL;
	n = EVP_DecodeBlock(text, (const unsigned char *)base64, (int)len);
	if (n < 0)
		return NULL;
	text[n] = '\0';	/* the padding is decoded as NUL bytes */
	colon = strchr((char *)text, ':');
	if (!colon)
		return NULL;
	*colon = '\0';
	user = find_by_secret(u, (char *)text, colon + 1);
	OPENSSL_cleanse(text, sizeof(text));
	return user;
}

static const struct user *find_known(const struct users *u, const unsigned char *digest)
{
	for (unsigned int i = 0; i < KNOWN_MAX; i++)
		if (u->known[i].user && !CRYPTO_memcmp(u->known[i].digest, digest, SHA256_DIGEST_LENGTH))
			return u->known[i].user;
	return NULL;
}

static void remember_header(struct users *u, const unsigned char *digest, const struct user *user)
{
	unsigned int i = u->n_known++ % KNOWN_MAX;

	memcpy(u->known[i].digest, digest, SHA256_DIGEST_LENGTH);
	u->known[i].user = user;
}

/* Return: true if one more password may be tried now. */
static bool take_try(struct users *u, double now)
{
	if (now > u->at)
		u->tries += (now - u->at) * TRIES_A_SECOND;
	if (u->tries > TRIES_AT_ONCE)
		u->tries = TRIES_AT_ONCE;
	u->at = now;
	if (u->tries < 1)
		return false;
	u->tries--;
	return true;
}

enum users_role users_check(struct users *u, const char *authorization, double now, char *name)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	const struct user *user;

	*name = '\0';
	if (!authorization || strlen(authorization) >= HEADER_MAX)
		return USERS_NOBODY;
	SHA256((const unsigned char *)authorization, strlen(authorization), digest);
	user = find_known(u, digest);
	if (!user) {
		if (!take_try(u, now))
			return USERS_BUSY;
		if (!strncasecmp(authorization, "Bearer ", 7))
			user = find_by_secret(u, NULL, authorization + 7);
		else if (!strncasecmp(authorization, "Basic ", 6))
			user = check_basic(u, authorization + 6);
		if (!user)
			return USERS_NOBODY;
		remember_header(u, digest, user);
	}
	strcpy(name, user->name);
	return user->role;
}
