// SPDX-License-Identifier: GPL-2.0-only
/* Users, passwords and tokens. */
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

static void files(void **state)
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
	for (int i = 0; i < 257; i++)
		strcat(many, "a:read:" TOKEN "\n");
	refused(many, "line 257: there are more than 256");
	assert_null(users_load("/nonexistent", why, sizeof(why)));
	assert_non_null(strstr(why, "No such file"));
	assert_null(users_load("/tmp", why, sizeof(why)));
	assert_non_null(strstr(why, "Is a directory"));
	users_free(load(""));
}

static enum users_role check(struct users *u, const char *header, double now, const char *want)
{
	char name[USERS_NAME_MAX + 1];
	enum users_role role = users_check(u, header, now, name);

	assert_string_equal(name, want);
	return role;
}

static void headers(void **state)
{
	struct users *u = load("admin:change:" HASH "\nscraper:read:" TOKEN "\n");
	double now = 0;

	(void)state;
	assert_non_null(u);
	/* Twice: the second time it is remembered */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV0", now, "admin"), USERS_CHANGE);
		assert_int_equal(check(u, "Bearer token", now, "scraper"), USERS_READ);
		assert_int_equal(check(u, "basic c2NyYXBlcjp0b2tlbg==", now, "scraper"), USERS_READ);
	}
	assert_int_equal(check(u, NULL, now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV1", now, ""), USERS_NOBODY);
	/* scraper:secret, and admin without a password */
	assert_int_equal(check(u, "Basic c2NyYXBlcjpzZWNyZXQ=", now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Basic YWRtaW4=", now, ""), USERS_NOBODY);
	now++;
	assert_int_equal(check(u, "Basic !!!!", now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Basic ", now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Bearer secret", now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Bearer ", now, ""), USERS_NOBODY);
	assert_int_equal(check(u, "Digest token", now, ""), USERS_NOBODY);
	users_free(u);
}

/* Guessing is slowed down; those who are known get in meanwhile. */
static void guesses(void **state)
{
	struct users *u = load("admin:change:" HASH "\nscraper:read:" TOKEN "\n");
	char header[32];
	int tried = 0;

	(void)state;
	assert_int_equal(check(u, "Bearer token", 100, "scraper"), USERS_READ);
	for (int i = 0; i < 100; i++) {
		snprintf(header, sizeof(header), "Bearer token%d", i);
		tried += check(u, header, 100, "") == USERS_NOBODY;
	}
	assert_int_equal(tried, 19);
	assert_int_equal(check(u, "Bearer token", 100, "scraper"), USERS_READ);
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV0", 100.1, ""), USERS_BUSY);
	assert_int_equal(check(u, "Basic YWRtaW46c2VjcmV0", 100.3, "admin"), USERS_CHANGE);
	users_free(u);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(headers),
		cmocka_unit_test(guesses),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
