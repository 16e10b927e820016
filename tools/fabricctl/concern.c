// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a job's nodes to each other use only cables with both ends at nodes of the job, and
 * no relays outside of it (daemon/fm/node/job_rows.c). So these events concern a job:
 *
 * - of kind job, that name it;
 * - about a cable, if both ends are at nodes of the job;
 * - of kind node, if the node that joined, was lost or is dead belongs to the job;
 * - of kind recovery and step, if they are about a version of the table that began because of
 *   such an event;
 * - of the kinds in node_kinds, if they are about a node of the job: the state of its NIC and of
 *   its links. Such an event has that node as "node", also if the root has found it out.
 *
 * An event about a cable comes before those of the recovery, and has the version of the table.
 * Test: tests/unit/test_concern.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "concern.h"
#include "json.h"
#include "outages.h"

#define VERSIONS 16	/* most recoveries that go on at once, or follow one another closely */

static const char *const node_kinds[] = {
	"errors", "flap", "isolated", "line", "memory", "nic", "refused", "relay", "seal", "stall",
	NULL
};

/**
 * struct concern - a job
 * @name: as in the texts of events: "job 'NAME'"
 * @members: array of coordinates
 * @version: versions of the table that began because of an event of the job; 0: none
 */
struct concern {
	char *name;
	json_t *members;
	json_int_t version[VERSIONS];
	unsigned int next;
};

struct concern *concern_new(const json_t *job, const json_t *members)
{
	struct concern *c = calloc(1, sizeof(*c));
	const char *name = json_text(job, "name");
	size_t i, room = strlen(name ? name : "") + sizeof("job ''");
	json_t *v;

	if (!c)
		return NULL;
	c->members = json_array();
	c->name = malloc(room);
	if (!c->members || !c->name) {
		concern_free(c);
		return NULL;
	}
	snprintf(c->name, room, "job '%s'", name ? name : "");
	json_array_foreach(members, i, v)
		json_array_append(c->members, json_object_get(v, "node"));
	return c;
}

void concern_free(struct concern *c)
{
	if (c) {
		json_decref(c->members);
		free(c->name);
	}
	free(c);
}

static bool is_member(const struct concern *c, const json_t *node)
{
	size_t i;
	json_t *v;

	json_array_foreach(c->members, i, v)
		if (json_equal(v, node))
			return true;
	return false;
}

static bool is_cable_of_job(const struct concern *c, const json_t *link)
{
	return is_member(c, json_object_get(link, "node")) &&
	       is_member(c, json_object_get(json_object_get(link, "peer"), "node"));
}

/* Return: true if the event is about a node of the job that is dead, or is not dead any more */
static bool is_node_of_job(const struct concern *c, const json_t *event)
{
	bool over;
	json_t *node = outages_dead_node(event, &over);
	bool is = node ? is_member(c, node) : is_member(c, json_object_get(event, "node"));

	json_decref(node);
	return is;
}

static bool is_node_kind(const char *kind)
{
	for (unsigned int i = 0; node_kinds[i]; i++)
		if (!strcmp(node_kinds[i], kind))
			return true;
	return false;
}

static void note_version(struct concern *c, json_int_t version)
{
	c->version[c->next++ % VERSIONS] = version;
}

static bool is_recovery_of_job(const struct concern *c, const json_t *about)
{
	json_int_t version = json_integer_value(json_object_get(about, "version"));

	for (unsigned int i = 0; version && i < VERSIONS; i++)
		if (c->version[i] == version)
			return true;
	return false;
}

static bool concerns_job(struct concern *c, const json_t *event)
{
	const char *kind = json_text(event, "kind"), *text = json_text(event, "text");
	const json_t *link = json_object_get(event, "link");

	if (!kind || !text)
		return false;
	if (!strcmp(kind, "job"))
		return strstr(text, c->name);
	if (json_is_object(link)) {
		if (!is_cable_of_job(c, link))
			return false;
		note_version(c, json_integer_value(json_object_get(link, "version")));
		return true;
	}
	if (!strcmp(kind, "node"))
		return is_node_of_job(c, event);
	return is_recovery_of_job(c, json_object_get(event, "recovery")) ||
	       is_recovery_of_job(c, json_object_get(event, "step")) ||
	       (is_node_kind(kind) && is_member(c, json_object_get(event, "node")));
}

json_t *concern_of(struct concern *c, const json_t *events)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(events, i, v)
		if (concerns_job(c, v))
			json_array_append(list, v);
	return list;
}
