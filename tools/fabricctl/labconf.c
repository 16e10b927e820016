// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "labconf.h"
#include "output.h"

/* Keys whose values differ from node to node; node.c writes them. */
static const char *const own_keys[] = { "fabric", "name", "shape", "device", "service_address",
					"service_network", "service_port", "control" };

/*
 * Return: true if the line at @p sets @key; it parses the line as inih does, which the manager
 * uses.
 */
static bool sets_key(const char *p, const char *key)
{
	size_t n = strlen(key);

	p += strspn(p, " \t");
	if (strncmp(p, key, n))
		return false;
	p += n;
	p += strspn(p, " \t");
	return *p == '=' || *p == ':';
}

/* Return: the number of the first line that sets @key, or 0. */
static unsigned int find_own_key(const char *text, const char *key)
{
	unsigned int line = 1;

	for (const char *p = text; p; line++) {
		if (sets_key(p, key))
			return line;
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return 0;
}

/* Copies the value of @key. Return: false if no line sets the key, or the value is too long. */
static bool copy_value(const char *text, const char *key, char *value, size_t room)
{
	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		size_t n;

		if (!sets_key(p, key))
			continue;
		p += strcspn(p, "=:") + 1;
		p += strspn(p, " \t");
		n = strcspn(p, " \t\r\n;");
		if (n >= room)
			return false;
		memcpy(value, p, n);
		value[n] = '\0';
		return true;
	}
	return false;
}

void labconf_plan(const char *text, struct torus_plan *plan)
{
	char value[TORUS_TEXT_MAX];

	torus_plan_default(plan);
	if (copy_value(text, "address4", value, sizeof(value)))
		torus_plan_parse4(value, plan);
	if (copy_value(text, "address6", value, sizeof(value)))
		torus_plan_parse6(value, plan);
}

bool labconf_has(const char *text, const char *key)
{
	return find_own_key(text, key);
}

static bool check_keys(const char *path, const char *text)
{
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++) {
		unsigned int line = find_own_key(text, own_keys[i]);

		if (!line)
			continue;
		fail("--config %s:%u: '%s' is not allowed: lab up sets it for each node, as it "
		     "does fabric, name, shape, device, service_address and control",
		     path, line, own_keys[i]);
		return false;
	}
	return true;
}

const char *labconf_read(const char *path, char *text, size_t room)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f) {
		fail("--config %s: %m", path);
		return NULL;
	}
	n = fread(text, 1, room, f);
	if (ferror(f)) {
		fail("--config %s: %m", path);
		fclose(f);
		return NULL;
	}
	fclose(f);
	if (n == room) {
		fail("--config %s: the file is too long, must have at most %zu bytes",
		     path, room - 1);
		return NULL;
	}
	text[n] = '\0';
	return check_keys(path, text) ? text : NULL;
}
