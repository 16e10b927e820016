// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/config_dump.h"

#define COLUMN 40 /* column of the output at which the sources begin */

static const char *source_name(enum config_source source)
{
	static const char *const names[] = {
		[CONFIG_DEFAULT] = "default",
		[CONFIG_FILE] = "file",
		[CONFIG_ENVIRONMENT] = "environment",
		[CONFIG_NETWORK] = "service_network",
	};

	return names[source];
}

/* Return: a text for users, in @buf, about the source of the value. */
static const char *source_text(const struct config_value *v, const char *path, char *buf,
			       size_t room)
{
	if (v->source == CONFIG_FILE)
		snprintf(buf, room, "%s:%u", path, v->line);
	else
		snprintf(buf, room, "%s",
			 v->source == CONFIG_ENVIRONMENT ? "$STATE_DIRECTORY" :
							   source_name(v->source));
	return buf;
}

static void print_value(FILE *to, const struct config *c, const struct config_value *v,
			const char *path)
{
	char line[CONFIG_TEXT_MAX + 64], source[CONFIG_TEXT_MAX * 4];
	bool is_network = !strcmp(v->name, "service_network");

	if (is_network && !c->network[0])
		return;
	/*
	 * A file may set either service_network or service_address. After service_network has found
	 * the address, service_address is the value that counts, so service_network is printed as a
	 * comment.
	 */
	snprintf(line, sizeof(line), "%s%s = %s", is_network ? "# " : "", v->name, v->text);
	fprintf(to, "%-*s ; %s\n", COLUMN, line, source_text(v, path, source, sizeof(source)));
}

void config_print(FILE *to, const struct config *c, const struct config_run *run)
{
	struct config_value v;
	const char *section = "";

	fprintf(to, "# fabricd %s\n", TORUS_VERSION);
	fprintf(to, "# --config %s ; %s\n", run->path, run->chosen ? "command line" : "default");
	if (run->record)
		fprintf(to, "# --record %s ; command line\n", run->record);
	for (unsigned int i = 0; config_value(c, i, &v); i++) {
		if (strcmp(v.section, section))
			fprintf(to, "\n[%s]\n", v.section);
		section = v.section;
		print_value(to, c, &v, run->path);
	}
}

/*
 * Return: the text; bytes that are not valid UTF-8 become \xNN, because JSON cannot contain them.
 */
static json_t *text_of_bytes(const char *text)
{
	size_t room = 4 * strlen(text) + 1, n = 0;
	json_t *j = json_string(text);
	char *copy;

	if (j)
		return j;
	copy = malloc(room);
	if (!copy)
		return json_null();
	for (; *text; text++)
		n += (size_t)snprintf(copy + n, room - n, *text & 0x80 ? "\\x%02x" : "%c",
				      (unsigned char)*text);
	j = json_string(copy);
	free(copy);
	return j;
}

static void add_option(json_t *list, const char *key, const char *value, bool given)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s, s:n}", "section", "options",
					      "key", key, "value",
					      value ? text_of_bytes(value) : json_null(), "source",
					      given ? "command line" : "default", "line"));
}

static json_t *value_json(const struct config_value *v)
{
	return v->text[0] ? text_of_bytes(v->text) : json_null();
}

json_t *config_json(const struct config *c, const struct config_run *run)
{
	json_t *list = json_array();
	struct config_value v;

	add_option(list, "config", run->path, run->chosen);
	add_option(list, "record", run->record, run->record);
	for (unsigned int i = 0; config_value(c, i, &v); i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:o, s:s, s:o}", "section", v.section, "key", v.name,
				  "value", value_json(&v), "source", source_name(v.source), "line",
				  v.source == CONFIG_FILE ? json_integer((json_int_t)v.line) :
							    json_null()));
	return list;
}

json_t *config_values_json(const struct config *c)
{
	char key[64];
	json_t *all = json_object();
	struct config_value v;

	for (unsigned int i = 0; config_value(c, i, &v); i++) {
		snprintf(key, sizeof(key), "%s%s%s", v.section, *v.section ? "." : "", v.name);
		json_object_set_new(all, key, value_json(&v));
	}
	return all;
}
