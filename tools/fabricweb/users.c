// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line of the file is NAME:ROLE:HASH, ROLE read or change, HASH of crypt(5) ("$6$...", for
 * passwords) or sha256:HEX (for tokens, which cannot be guessed). A token is sent as "Bearer
 * TOKEN", and either as "Basic" with the name.
 *
 * Hashing a password takes up to a second. So that is done elsewhere (hasher.c), and of each user
 * the password that was right is remembered, by a SHA-256 that is only of use in this process.
 *
 * Test: tests/unit/test_fabricweb_users.c.
 */
#include <crypt.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "users.h"

#define USERS_MAX	256

/**
 * struct user - a user
 * @digest: hash of the salt and the right password; valid if @known
 */
struct user {
	char name[USERS_NAME_MAX + 1];
	enum users_role role;
	char hash[USERS_HASH_MAX];
	bool known;
	unsigned char digest[SHA256_DIGEST_LENGTH];
};

/** struct users - the users of the file */
struct users {
	unsigned int n;
	unsigned char salt[32];
	struct user user[USERS_MAX];
};

/* --- the file ----------------------------------------------------------------------------- */

static bool is_hash(const char *text)
{
	if (*text == '$')
		return !text[strcspn(text, " \t\r")];
	return !strncmp(text, "sha256:", 7) && strlen(text) == 71 &&
	       strspn(text + 7, "0123456789abcdef") == 64;
}

/* Return: NULL, or what is wrong with the line. */
static const char *parse_user(char *line, struct user *user)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	const char *name = strsep(&line, ":"), *role = strsep(&line, ":");

	if (!line || !*name || strlen(name) > USERS_NAME_MAX || name[strspn(name, allowed)])
		return "write NAME:ROLE:HASH, NAME of letters, digits, '.', '_' and '-'";
	if (strcmp(role, "read") && strcmp(role, "change"))
		return "the role is read or change";
	if (strlen(line) >= sizeof(user->hash) || !is_hash(line))
		return "the hash is that of crypt(5), \"$...\", or sha256: with 64 digits, "
		       "0 to 9 and a to f";
	strcpy(user->name, name);
	strcpy(user->hash, line);
	user->role = strcmp(role, "change") ? USERS_READ : USERS_CHANGE;
	return NULL;
}

static struct user *find_by_name(struct users *u, const char *name)
{
	for (unsigned int i = 0; i < u->n; i++)
		if (!strcmp(u->user[i].name, name))
			return &u->user[i];
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
		wrong = !whole ? "the line is longer than 510 bytes" :
			u->n == USERS_MAX ? "there are more than 256 users" :
			parse_user(line, &u->user[u->n]);
		if (!wrong && find_by_name(u, u->user[u->n].name))
			wrong = "there is a user of that name already";
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
	bool fine = u && f && RAND_bytes(u->salt, sizeof(u->salt)) == 1;

	if (!fine)
		snprintf(why, size, "cannot read '%s': %s", path, strerror(f ? ENOMEM : errno));
	else
		fine = read_users(f, u, path, why, size);
	if (f)
		fclose(f);
	if (fine)
		return u;
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

static bool is_digest_of(const char *hash, const char *secret)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];

	SHA256((const unsigned char *)secret, strlen(secret), digest);
	for (unsigned int i = 0; i < sizeof(digest); i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	return !CRYPTO_memcmp(hex, hash + 7, sizeof(hex) - 1);
}

static enum users_role give_role(const struct user *user, char *name)
{
	strcpy(name, user ? user->name : "");
	return user ? user->role : USERS_NOBODY;
}

static enum users_role check_token(const struct users *u, const char *token, char *name)
{
	for (unsigned int i = 0; i < u->n; i++)
		if (*u->user[i].hash != '$' && is_digest_of(u->user[i].hash, token))
			return give_role(&u->user[i], name);
	return USERS_NOBODY;
}

/* Return: the value of a character of crypt(5) in the numbers of yescrypt. */
static unsigned int value_of_digit(char c)
{
	static const char digits[] = "./0123456789"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (unsigned int)(at - digits) : 0;
}

static double power_of_two(unsigned int n)
{
	return (double)(1ull << (n & 63));
}

/*
 * Return: roughly how long hashing takes, in rounds of SHA-512. A hash has the cost in its first
 * characters: $6$rounds=N$, $2b$NN$ for 2^NN rounds of bcrypt, and after $y$ or $gy$ a character
 * for the kind, one for the logarithm of the memory, and one for the size of its blocks.
 */
static double estimate_cost(const char *hash)
{
	const char *at = strchr(hash + 1, '$');
	unsigned long rounds;

	if (!at++)
		return 0;
	if (hash[1] == '2')
		return 100 * power_of_two((unsigned int)strtoul(at, NULL, 10));
	if (hash[1] == '7')
		return 4 * power_of_two(value_of_digit(*at));
	if (hash[1] == 'y' || hash[1] == 'g')
		return strlen(at) < 3 ? 0 :
		       power_of_two(value_of_digit(at[1])) * (value_of_digit(at[2]) + 1);
	if (hash[1] != '5' && hash[1] != '6')
		return 1000;
	rounds = strncmp(at, "rounds=", 7) ? 0 : strtoul(at + 7, NULL, 10);
	return rounds ? (double)rounds : 5000;
}

/*
 * Return: the hash that takes longest to compute; an unknown name is hashed like this one, so no
 * password takes longer. NULL if no user has a password.
 */
static const char *find_dearest_hash(const struct users *u)
{
	const char *dearest = NULL;

	for (unsigned int i = 0; i < u->n; i++) {
		const char *hash = u->user[i].hash;

		if (*hash == '$' && (!dearest || estimate_cost(hash) > estimate_cost(dearest)))
			dearest = hash;
	}
	return dearest;
}

static void digest_password(const struct users *u, const char *password, unsigned char *digest)
{
	char text[sizeof(u->salt) + USERS_SECRET_MAX];
	size_t len = strlen(password);

	memcpy(text, u->salt, sizeof(u->salt));
	memcpy(text + sizeof(u->salt), password, len);
	SHA256((const unsigned char *)text, sizeof(u->salt) + len, digest);
	OPENSSL_cleanse(text, sizeof(text));
}

/*
 * Checks a password. An unknown name, or one with a token, takes as long as a wrong password, so
 * that the time does not reveal which names exist, if all passwords are hashed alike.
 */
static enum users_role check_password(struct users *u, const char *given, const char *password,
				      struct users_try *try, char *name)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	struct user *user = find_by_name(u, given);
	const char *hash = user && *user->hash == '$' ? user->hash : find_dearest_hash(u);

	if (user && *user->hash != '$' && is_digest_of(user->hash, password))
		return give_role(user, name);
	digest_password(u, password, digest);
	if (user && user->known && !CRYPTO_memcmp(user->digest, digest, sizeof(digest)))
		return give_role(user, name);
	if (!hash)
		return USERS_NOBODY;
	strcpy(try->name, user && *user->hash == '$' ? user->name : "");
	strcpy(try->hash, hash);
	strcpy(try->password, password);
	return USERS_TRY;
}

/* Decodes NAME:PASSWORD. Return: the password, within @text; NULL if it is no such text. */
static char *decode_basic(const char *base64, char *text)
{
	size_t len = strlen(base64), pads = 0;
	char *colon;
	int n;

	if (!len || len % 4 || len > USERS_SECRET_MAX)
		return NULL;
	n = EVP_DecodeBlock((unsigned char *)text, (const unsigned char *)base64, (int)len);
	while (pads < 2 && base64[len - 1 - pads] == '=')
		pads++;
	if (n < 0 || memchr(text, '\0', (size_t)n - pads))
		return NULL;
	text[(size_t)n - pads] = '\0';
	colon = strchr(text, ':');
	if (colon)
		*colon++ = '\0';
	return colon;
}

enum users_role users_check(struct users *u, const char *authorization, char *name,
			    struct users_try *try)
{
	char text[USERS_SECRET_MAX], *password;
	enum users_role role = USERS_NOBODY;

	*name = '\0';
	if (!authorization || strlen(authorization) >= USERS_SECRET_MAX)
		return USERS_NOBODY;
	if (!strncasecmp(authorization, "Bearer ", 7))
		return check_token(u, authorization + 7, name);
	if (strncasecmp(authorization, "Basic ", 6))
		return USERS_NOBODY;
	password = decode_basic(authorization + 6, text);
	if (password)
		role = check_password(u, text, password, try, name);
	OPENSSL_cleanse(text, sizeof(text));
	return role;
}

bool users_compare(const struct users_try *try, struct crypt_data *data)
{
	const char *hash;
	bool same;

	data->initialized = 0;
	hash = crypt_r(try->password, try->hash, data);
	same = hash && strlen(hash) == strlen(try->hash) &&
	       !CRYPTO_memcmp(hash, try->hash, strlen(hash));
	OPENSSL_cleanse(data, sizeof(*data));
	return same && *try->name;
}

enum users_role users_accept(struct users *u, const struct users_try *try, char *name)
{
	struct user *user = find_by_name(u, try->name);

	*name = '\0';
	if (!user || strcmp(user->hash, try->hash))	/* the file was read again meanwhile */
		return USERS_NOBODY;
	digest_password(u, try->password, user->digest);
	user->known = true;
	return give_role(user, name);
}

bool users_agree(struct users *a, struct users *b, const char *name)
{
	const struct user *old = find_by_name(a, name), *new = find_by_name(b, name);

	return old && new && old->role == new->role && !strcmp(old->hash, new->hash);
}
