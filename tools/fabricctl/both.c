// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <time.h>

#include "ask.h"
#include "both.h"
#include "json.h"
#include "output.h"

#define LOOK_MS		100
#define LOOKS_MAX	100	/* most checks for the result: 10 s */

/** struct end - an end of a cable, as arguments of a request */
struct end {
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
};

static json_t *end_request(const char *cmd, const struct end *at, const json_t *more)
{
	json_t *j = json_pack("{ss ss ss}", "cmd", cmd, "node", at->node, "port", at->port);

	json_object_update(j, (json_t *)more);
	return j;
}

static bool is_busy(const json_t *data)
{
	const char *state = json_text(data, "state");

	return state && !strcmp(state, "begins");
}

/* Sends the request to one end, and repeats it until the interface there has answered. */
static int ask_end(struct ask *a, const char *cmd, const struct end *at, const json_t *begin,
		   json_t **data)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000 };
	bool unknown = false;
	int status = ask_try(a, end_request(cmd, at, begin), data, &unknown);

	if (unknown)
		return fail_as(PROBLEM, "the root's fabricd is of a release that does not know "
			       "'%s': update it", cmd);
	for (unsigned int i = 0; status == OK && is_busy(*data) && i < LOOKS_MAX; i++) {
		nanosleep(&look, NULL);
		json_decref(*data);
		status = ask(a, end_request(cmd, at, NULL), data);
	}
	return status;
}

/*
 * Finds the other end of the cable. Return: false if the other end is not known, or cannot be asked
 * now.
 */
static bool find_other(struct ask *a, const struct end *at, struct end *other)
{
	const json_t *peer;
	bool found = false;
	json_t *links = NULL, *v;
	size_t i;

	if (ask(a, json_pack("{ss ss}", "cmd", "links", "node", at->node), &links) != OK)
		return false;
	json_array_foreach(links, i, v) {
		peer = json_object_get(v, "peer");
		if (!json_text(v, "port") || strcmp(json_text(v, "port"), at->port) ||
		    !json_is_array(json_object_get(peer, "node")) || !json_text(peer, "port"))
			continue;
		json_coords_text(json_object_get(peer, "node"), other->node);
		snprintf(other->port, sizeof(other->port), "%s", json_text(peer, "port"));
		found = true;
	}
	json_decref(links);
	return found;
}

int both_ask(const struct ctl *ctl, const char *link, const char *cmd, json_t *begin, json_t **list)
{
	struct end at, other;
	json_t *data = NULL;
	struct ask a;
	int status = ask_open(ctl, &a);

	*list = json_array();
	if (status == OK)
		status = ask_link(&a, link, at.node, at.port);
	else
		a.fabric = NULL;
	if (status == OK)
		status = ask_end(&a, cmd, &at, begin, &data);
	if (status == OK)
		json_array_append_new(*list, data);
	if (status == OK && find_other(&a, &at, &other)) {
		status = ask_end(&a, cmd, &other, begin, &data);
		if (status == OK)
			json_array_append_new(*list, data);
	}
	if (a.fabric)
		ask_close(&a);
	json_decref(begin);
	return status;
}
