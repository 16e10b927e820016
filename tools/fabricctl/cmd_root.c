// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "json.h"
#include "number.h"
#include "root.h"
#include "output.h"
#include "show.h"
#include "table.h"
#include "lib/util/clock.h"

#define LOOK_MS 20

#define TIMEOUT_S 10		/* time until the new root must have taken over */

/* Prints the arbiter of the root, and its last answer. */
static void show_arbiter(const json_t *arbiter)
{
	const char *program = json_text(arbiter, "program"), *answer = json_text(arbiter, "answer");
	const char *why = json_text(arbiter, "why");
	char ago[32];

	printf("%-9s%s", "arbiter", program ? program : "none");
	if (answer)
		printf(", %s for epoch %llu %s ago", answer,
		       (unsigned long long)json_count(arbiter, "epoch"),
		       duration_text(age(json_number_value(json_object_get(arbiter, "time"))),
				     ago));
	else if (program)
		printf(", not asked yet");
	printf("%s%s\n", why ? ": " : "", why ? why : "");
}

static void show_root(const json_t *root)
{
	static const char *const titles[] = { "CANDIDATE", "NAME", ">PRIORITY",
					      "MANAGER",   "DISK", NULL };
	const json_t *candidates = json_object_get(root, "candidates");
	struct table *t = table_new(titles);
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	root_show(root);
	if (root_leads(root) && root_show_calls(root, "called   "))
		putchar('\n');
	show_arbiter(json_object_get(root, "arbiter"));
	json_array_foreach(candidates, i, v) {
		const char *disk = json_text(v, "disk");
		bool answers = json_is_true(json_object_get(v, "heard"));

		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "node"), at));
		table_cell(t, STRONG, "%s", json_text(v, "name") ? json_text(v, "name") : "-");
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "priority"));
		table_cell(t, answers ? GOOD : BAD, "%s", answers ? "answers" : "silent");
		table_cell(t, disk && !strcmp(disk, "fails") ? BAD : PLAIN, "%s",
			   disk ? disk : "-");
	}
	table_print(t, root_leads(root) ?
		    "no other node would become root: root_priority is 0 on all of them" :
		    "this node is not a candidate (its root_priority is 0), and only a root knows "
		    "the candidates: ask another node with --node");
}

/* Sets @yes to true if the asked manager has @node as its root. */
static int ask_leads(struct ask *a, const json_t *node, bool *yes)
{
	json_t *root;
	int status = ask(a, json_pack("{ss}", "cmd", "root"), &root);

	*yes = false;
	if (status != OK)
		return status;
	*yes = json_text(root, "state") && !strcmp(json_text(root, "state"), "leads") &&
	      json_is_true(json_object_get(root, "reachable")) &&
	      json_equal(json_object_get(root, "node"), node);
	json_decref(root);
	return OK;
}

static int await_root(const struct ctl *ctl, struct ask *a, const json_t *node)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	double start = seconds_now(), timeout = ctl->timeout > 0 ? ctl->timeout : TIMEOUT_S;
	char at[TORUS_TEXT_MAX];
	int status;
	bool yes;

	while ((status = ask_leads(a, node, &yes)) == OK && !yes) {
		progress("node %s takes over", json_node_text(node, at));
		if (seconds_now() - start > timeout) {
			progress("%s", "");
			return fail_as(TIMEOUT,
				       "after %g s node %s is not root; 'fabricctl root' shows "
				       "which one is, and 'fabricctl events' there says why",
				       timeout, json_node_text(node, at));
		}
		nanosleep(&pause, NULL);
	}
	progress("%s", "");
	return status;
}

static int move_root(const struct ctl *ctl, const char *what)
{
	char node[TORUS_TEXT_MAX];
	json_t *data = NULL;
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask_node(&a, what, node);
	if (status == OK)
		status = ask(&a, json_pack("{ss ss}", "cmd", "move", "node", node), &data);
	if (status == OK)
		status = await_root(ctl, &a, json_object_get(data, "node"));
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK)
		printf("node %s is root%s\n", node, json_is_true(json_object_get(data, "changed")) ?
		       " now" : " already");
	json_decref(data);
	ask_close(&a);
	return status;
}

static int cmd_root(struct ctl *ctl, int argc, char **argv)
{
	if (!argc)
		return show_answer(ctl, "root", NULL, show_root);
	if (strcmp(argv[0], "move"))
		return fail("'%s': must be 'move NODE', or nothing to show the root", argv[0]);
	if (argc < 2)
		return fail("root move: which node is to become root?");
	return move_root(ctl, argv[1]);
}

COMMAND(cmd_root) = {
	.name = "root",
	.args = "[move NODE]",
	.brief = "Which node leads the fabric (the root), which would be next; move it",
	.help = "The root is the node whose manager decides for all nodes. If it is lost, the\n"
		"nodes listed as candidates try to become root, in the order shown (root_priority\n"
		"in fabricd.conf). 'move' makes NODE the root at once, before maintenance of the\n"
		"present root: no packet waits. NODE then stays root until it is lost, or until\n"
		"the root is moved again. The command waits until it has become root, for 10 s or\n"
		"--timeout. Exit status 1 if that node cannot become root.",
	.max = 2,
	.asks = true,
	.json = true,
	.run = cmd_root,
};
