// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "number.h"
#include "output.h"
#include "root.h"

static bool state_is(const json_t *root, const char *state)
{
	const char *is = json_text(root, "state");

	return is && !strcmp(is, state);
}

bool root_leads(const json_t *root)
{
	return json_is_true(json_object_get(root, "reachable"));
}

bool root_is_known(const json_t *root)
{
	return !state_is(root, "unknown");
}

/* Return: how long ago @key was, as text; "" if it is not known. */
static const char *since_text(const json_t *root, const char *key, char *text)
{
	double at = json_number_value(json_object_get(root, key));

	text[0] = '\0';
	return at > 0 ? duration_text(age(at), text) : text;
}

static void show_leader(const json_t *root, const char *who)
{
	const char *why = json_text(root, "why");
	char ago[32];

	printf("%s, epoch %llu", who, (unsigned long long)json_count(root, "epoch"));
	if (*since_text(root, "since", ago))
		printf(", for %s", ago);
	if (why)
		printf(": %s", why);
}

bool root_show_calls(const json_t *root, const char *before)
{
	const json_t *calls = json_object_get(root, "calls");
	unsigned long long called = json_count(calls, "called"),
			   follow = json_count(calls, "follow");
	unsigned long long others = json_count(calls, "others"),
			   unknown = json_count(calls, "unknown");

	if (!called && !unknown)
		return false;
	printf("%s%llu over the service network", before, called);
	if (called)
		printf(": %llu follow%s", follow, follow == 1 ? "s" : "");
	if (others)
		printf(", %llu follow%s another", others, others == 1 ? "s" : "");
	if (called > follow + others)
		printf(", %llu without an answer", called - follow - others);
	if (unknown)
		printf(", %llu without an address", unknown);
	return true;
}

/*
 * Prints the node that is taking over as root. Only that node itself knows how many nodes obey it.
 */
static void show_claim(const json_t *root, const char *who)
{
	unsigned long long here = json_count(root, "here"), need = json_count(root, "need");
	const char *what = state_is(root, "claims") ? "obey it" : "answer";

	printf(": %s is taking over", who);
	/* only while the node waits for the arbiter, or asks it again */
	if (need && here > need)
		printf(" (%llu nodes %s, of which %llu are enough)", here, what, need);
	else if (need)
		printf(" (%llu of %llu nodes %s)", here, need, what);
	root_show_calls(root, "\ncalled   ");
}

/*
 * Prints name and place of the root, or its address if the manager that answers has got no table
 * from it.
 */
static const char *root_text(const json_t *root, char who[TORUS_TEXT_MAX + 80])
{
	const char *name = json_text(root, "name"), *address = json_text(root, "address");
	char at[TORUS_TEXT_MAX];

	if (!name && address) {
		snprintf(who, TORUS_TEXT_MAX + 80, "%s", address);
	} else {
		json_node_text(json_object_get(root, "node"), at);
		snprintf(who, TORUS_TEXT_MAX + 80, "%s (%s)", name ? name : "-", at);
	}
	return who;
}

void root_show(const json_t *root)
{
	char who[TORUS_TEXT_MAX + 80], ago[32];

	printf("%-9s", "root");
	root_text(root, who);
	if (root_leads(root)) {
		show_leader(root, who);
	} else if (!root_is_known(root)) {
		printf("%snone known yet%s", paint(BAD), paint(PLAIN));
	} else {
		printf("%snone%s%s%s", paint(BAD),
		       *since_text(root, "unreachable_since", ago) ? " for " : "", ago,
		       paint(PLAIN));
		if (state_is(root, "lost"))
			printf(": %s is lost", who);
		else
			show_claim(root, who);
	}
	putchar('\n');
}
