// SPDX-License-Identifier: GPL-2.0-only
/* Users, passwords and tokens. */
#include <crypt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricweb/users.h"

/* The password is "secret", the token "token". */
#define HASH "$6$abcdefgh$" \
	"ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGS" \
	"tk8PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/O6IND4WQhG."
#define TOKEN "sha256:3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0"

static char why[256];

static struct users *load(const char *text)
{
	char path[] = "/tmp/test_fabricweb_users.XXXXXX";
	int fd = mkstemp(path);
	struct users *u;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	u = users_load(path, why, sizeof(why));
	unlink(path);
	return u;
}

static void refused(const char *text, const char *reason)
{
	assert_null(load(text));
	if (!strstr(why, reason))
		fail_msg("%s: %s", text, why);
}

static void malformed_file_of_users_is_refused_with_reason(void **state)
{
	char line[600], many[260 * 90] = "";

	(void)state;
	refused("me\n", "line 1: write NAME:ROLE:HASH");
	refused("# me\n\nme:read\n", "line 3: write NAME");
	refused(":read:" TOKEN, "write NAME");
	refused("a b:read:" TOKEN, "write NAME");
	refused("a:root:" TOKEN, "read or change");
	refused("a:read:plain", "hash");
	refused("a:read:sha256:12", "hash");
	refused("a:read:", "hash");
	snprintf(line, sizeof(line), "%033d:read:" TOKEN, 0);
	refused(line, "write NAME");
	snprintf(line, sizeof(line), "a:read:$%0200d", 0);
	refused(line, "hash");
	refused("a:read:sha256:3C469E9D6C5875D37A43F353D4F88E61FCF812C66EEE3457465A40B0DA4153E0", "0 to 9 and a to f");
	refused("a:read:" HASH "\r\n", "hash");
	refused("a:read:" HASH " \n", "hash");
	/* A comment is one as a whole, however long it is. */
	snprintf(line, sizeof(line), "#%0510da:change:" TOKEN "\n", 0);
	refused(line, "line 1: the line is longer");
	/* A user who is taken out must not stay as another line. */
	refused("a:read:" TOKEN "\nb:read:" TOKEN "\na:change:" HASH "\n", "line 3: there is a user of that name");
	for (int i = 0; i < 257; i++)
		sprintf(many + strlen(many), "u%d:read:" TOKEN "\n", i);
	refused(many, "line 257: there are more than 256");
	assert_null(users_load("/nonexistent", why, sizeof(why)));
	assert_non_null(strstr(why, "No such file"));
	assert_null(users_load("/tmp", why, sizeof(why)));
	assert_non_null(strstr(why, "Is a directory"));
	users_free(load(""));
}

static struct users_try last;

/* A password is hashed in place, by the test instead of the thread. */
static enum users_role check(struct users *u, const char *header, const char *want, bool hashed)
{
	static struct crypt_data data;
	char name[USERS_NAME_MAX + 1];
	enum users_role role = users_check(u, header, name, &last);

	assert_int_equal(role == USERS_TRY, hashed);
	if (role == USERS_TRY)
		role = users_compare(&last, &data) ? users_accept(u, &last, name) : USERS_NOBODY;
	assert_string_equal(name, want);
	return role;
}

#define ADMIN "Basic YWRtaW46c2VjcmV0"

static void authorization_header_gives_role_of_user(void **state)
{
	struct users *u = load("admin:change:" HASH "\nscraper:read:" TOKEN "\n");

	(void)state;
	assert_non_null(u);
	/* Twice: the second time it is remembered */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(check(u, ADMIN, "admin", !i), USERS_CHANGE);
		assert_int_equal(check(u, "Bearer token", "scraper", false), USERS_READ);
		assert_int_equal(check(u, "basic c2NyYXBlcjp0b2tlbg==", "scraper", false), USERS_READ);
	}
	assert_int_equal(check(u, NULL, "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV1", "", true), USERS_NOBODY);
	/* admin without a password */
	assert_int_equal(check(u, "Basic YWRtaW4=", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Basic !!!!", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Basic ", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Bearer secret", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Bearer ", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Digest token", "", false), USERS_NOBODY);
	/* "admin:secret" with a NUL byte behind it, and with another byte */
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV0AA==", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV0eA==", "", true), USERS_NOBODY);
	users_free(u);
}

/* The time does not tell which names there are: each wrong password is hashed. */
static void unknown_name_is_hashed_like_wrong_password(void **state)
{
	struct users *u = load("admin:change:" HASH "\nscraper:read:" TOKEN "\n");

	(void)state;
	/* scraper:secret, nobody:secret */
	assert_int_equal(check(u, "Basic c2NyYXBlcjpzZWNyZXQ=", "", true), USERS_NOBODY);
	assert_int_equal(check(u, "Basic bm9ib2R5OnNlY3JldA==", "", true), USERS_NOBODY);
	assert_string_equal(last.name, "");
	assert_string_equal(last.hash, HASH);
	/* An empty name with the password of a user is nobody's, either. */
	assert_int_equal(check(u, "Basic OnNlY3JldA==", "", true), USERS_NOBODY);
	users_free(u);
	/* Where no user has a password, none is hashed. */
	u = load("scraper:read:" TOKEN "\n");
	assert_int_equal(check(u, "Basic c2NyYXBlcjpzZWNyZXQ=", "", false), USERS_NOBODY);
	assert_int_equal(check(u, "Basic bm9ib2R5OnNlY3JldA==", "", false), USERS_NOBODY);
	users_free(u);
}

/* An unknown name costs as much as the user whose hash takes longest. */
static void unknown_name_takes_as_long_as_dearest_hash(void **state)
{
	static const char *const dearer[][2] = {
		{ "$1$abcdefgh$x", "$5$abcdefgh$x" },
		{ "$6$rounds=1000$abcdefgh$x", "$6$abcdefgh$x" },
		{ "$6$abcdefgh$x", "$6$rounds=656000$abcdefgh$x" },
		{ "$5$rounds=6000$abcdefgh$x", "$2b$12$abcdefgh" },
		{ "$2b$05$abcdefgh", "$2y$10$abcdefgh" },
		{ "$6$abcdefgh$x", "$y$j9T$abcdefgh$x" },
		{ "$y$j9T$abcdefgh$x", "$y$jAT$abcdefgh$x" },
		{ "$gy$j8T$abcdefgh$x", "$gy$j9T$abcdefgh$x" },
		{ "$7$8..../....abcdefgh$x", "$7$C6..../....abcdefgh$x" },
		{ "$y$", "$6$abcdefgh$x" },
		{ "$", "$1$abcdefgh$x" },
	};
	char text[512], name[USERS_NAME_MAX + 1];

	(void)state;
	for (unsigned int i = 0; i < 2 * sizeof(dearer) / sizeof(dearer[0]); i++) {
		const char *const *pair = dearer[i / 2];
		struct users *u;

		snprintf(text, sizeof(text), "a:read:%s\nb:read:%s\n", pair[i % 2], pair[!(i % 2)]);
		u = load(text);
		assert_non_null(u);
		assert_int_equal(users_check(u, "Basic bm9ib2R5OnNlY3JldA==", name, &last), USERS_TRY);
		assert_string_equal(last.hash, pair[1]);
		users_free(u);
	}
}

/* The file is read again while a password is being hashed, and while a user is looking. */
static void users_read_again_during_hashing_are_used(void **state)
{
	struct users *u = load("admin:change:" HASH "\nscraper:read:" TOKEN "\n");
	struct users *same = load("scraper:read:" TOKEN "\nadmin:change:" HASH "\n");
	struct users *other = load("admin:read:" HASH "\nscraper:read:" HASH "\n"), *none = load("");
	char name[USERS_NAME_MAX + 1];

	(void)state;
	assert_int_equal(users_check(u, ADMIN, name, &last), USERS_TRY);
	assert_int_equal(users_accept(none, &last, name), USERS_NOBODY);
	assert_string_equal(name, "");
	assert_int_equal(users_accept(other, &last, name), USERS_READ);
	strcpy(last.hash, "$6$other");
	assert_int_equal(users_accept(same, &last, name), USERS_NOBODY);
	assert_true(users_agree(u, same, "admin") && users_agree(u, same, "scraper"));
	assert_false(users_agree(u, other, "admin") || users_agree(u, other, "scraper"));
	assert_false(users_agree(u, none, "admin") || users_agree(u, same, "nobody"));
	users_free(u);
	users_free(same);
	users_free(other);
	users_free(none);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(malformed_file_of_users_is_refused_with_reason),
		cmocka_unit_test(authorization_header_gives_role_of_user),
		cmocka_unit_test(unknown_name_is_hashed_like_wrong_password),
		cmocka_unit_test(users_read_again_during_hashing_are_used),
		cmocka_unit_test(unknown_name_takes_as_long_as_dearest_hash),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
