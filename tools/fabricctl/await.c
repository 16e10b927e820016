// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "await.h"
#include "json.h"
#include "node.h"
#include "node_proc.h"
#include "root.h"
#include "output.h"
#include "lib/util/clock.h"

#define LOOK_MS 20

static bool is_complete(const struct lab *lab, const json_t *status)
{
	const char *state = json_text(status, "state");
	const json_t *nodes = json_object_get(status, "nodes");
	const json_t *links = json_object_get(status, "links");

	return state && !strcmp(state, "running") && json_count(nodes, "up") == lab->nodes &&
		json_count(nodes, "total") == lab->nodes &&
		json_count(links, "up") == json_count(links, "total");
}

static void show_progress(const struct lab *lab, const json_t *status)
{
	const char *state = json_text(status, "state");

	progress("fabric %s, %llu/%u nodes up", state ? state : "starting",
		 (unsigned long long)json_count(json_object_get(status, "nodes"), "up"),
		 lab->nodes);
}

/* Prints the end of the log of the first process that ended. Return: true if there is one. */
static bool somebody_died(const struct lab *lab)
{
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++) {
		unsigned int missing = node_missing(lab, id);
		const char *what = missing & LAB_NO_NIC ? "the NIC" : "fabricd";

		if (!missing)
			continue;
		fail("%s of node %s has ended", what, torus_node_text(&lab->shape, id, text));
		node_show_log(lab, id, missing & LAB_NO_NIC ? "torusemu" : "fabricd");
		return true;
	}
	return false;
}

static int too_late(const struct lab *lab, int seconds, const json_t *status)
{
	const json_t *nodes = json_object_get(status, "nodes");
	const json_t *problems = json_object_get(status, "problems");
	size_t i;
	json_t *v;

	if (!status) {
		fail("after %d s the root's manager does not answer", seconds);
	} else {
		fail("after %d s the fabric is '%s' with %llu of %u nodes and %llu of %llu "
		     "links up",
		     seconds, json_text(status, "state"),
		     (unsigned long long)json_count(nodes, "up"), lab->nodes,
		     (unsigned long long)json_count(json_object_get(status, "links"), "up"),
		     (unsigned long long)json_count(json_object_get(status, "links"), "total"));
		json_array_foreach(problems, i, v)
			fprintf(stderr, "  %s\n", json_text(v, "text"));
	}
	node_show_log(lab, 0, "fabricd");
	return TIMEOUT;
}

int await_running(const struct lab *lab, int seconds, const volatile sig_atomic_t *stop)
{
	struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	double start = seconds_now(), looked = start;
	char path[LAB_TEXT_MAX];
	json_t *status = NULL;
	int result = CANNOT;

	lab_path(lab, 0, "control", path);
	while (!*stop) {
		json_decref(status);
		status = NULL;
		if (ask_quietly(path, "{\"cmd\":\"status\"}", 1000, &status))
			status = NULL;
		if (status && is_complete(lab, status)) {
			result = OK;
			break;
		}
		show_progress(lab, status);
		if (seconds_now() - looked > 0.5) {
			looked = seconds_now();
			if (somebody_died(lab)) {
				result = PROBLEM;
				break;
			}
		}
		if (seconds_now() - start > seconds) {
			result = too_late(lab, seconds, status);
			break;
		}
		nanosleep(&pause, NULL);
	}
	json_decref(status);
	return result;
}

static bool is_node_up(const struct lab *lab, uint32_t node, const json_t *nodes)
{
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v) {
		const char *state = json_text(v, "state");
		uint32_t id;

		if (state && !strcmp(state, "up") &&
		    !json_node_read(json_object_get(v, "node"), &lab->shape, &id) && id == node)
			return true;
	}
	return false;
}

static bool is_lab_settled(const char *control)
{
	const char *state;
	json_t *status;
	bool settled;

	if (ask_quietly(control, "{\"cmd\":\"status\"}", 1000, &status))
		return false;
	state = json_text(status, "state");
	settled = state && (!strcmp(state, "running") || !strcmp(state, "degraded"));
	json_decref(status);
	return settled;
}

/* Return: true if the node has no root, without which no node joins. */
static bool is_rootless(const char *control)
{
	json_t *root;
	bool none;

	if (ask_quietly(control, "{\"cmd\":\"root\"}", 1000, &root))
		return false;
	none = !root_leads(root) || !strcmp(json_text(root, "state"), "unknown");
	json_decref(root);
	return none;
}

/* Return: true if no working cable connects the node to a node whose NIC runs. */
static bool is_unjoined(const struct lab *lab, uint32_t node)
{
	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++) {
		uint32_t peer;
		unsigned int peer_port;

		if (!lab_cable(lab, port) || !lab_end_up(lab, node, port))
			continue;
		lab_peer(lab, node, port, &peer, &peer_port);
		if (lab_end_up(lab, peer, peer_port) && !(node_missing(lab, peer) & LAB_NO_NIC))
			return false;
	}
	return true;
}

int await_node(const struct lab *lab, uint32_t node, int seconds,
	       const volatile sig_atomic_t *stop)
{
	struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	char path[LAB_TEXT_MAX], text[TORUS_TEXT_MAX];
	double start = seconds_now();
	json_t *nodes;
	bool up = false;

	lab_path(lab, node, "control", path);
	torus_node_text(&lab->shape, node, text);
	while (!*stop && seconds_now() - start < seconds) {
		progress("node %s comes back", text);
		if (!ask_quietly(path, "{\"cmd\":\"nodes\"}", 1000, &nodes)) {
			up = is_node_up(lab, node, nodes);
			json_decref(nodes);
		}
		up = up && is_lab_settled(path);
		if (up)
			break;
		nanosleep(&pause, NULL);
	}
	progress("%s", "");
	if (up)
		return OK;
	if (is_unjoined(lab, node))
		fail("after %.0f s node %s is not up: no cable joins it to a node that runs, so it "
		     "finds no root; next: fabricctl lab mend a cable of it, or fabricctl lab "
		     "revive a neighbour",
		     seconds_now() - start, text);
	else if (is_rootless(path))
		fail("after %.0f s node %s is not up: no node is root, and too few are left to "
		     "choose one; next: fabricctl lab revive the others",
		     seconds_now() - start, text);
	else
		fail("after %.0f s node %s is not up; its processes run",
		     seconds_now() - start, text);
	node_show_log(lab, node, "fabricd");
	return TIMEOUT;
}
