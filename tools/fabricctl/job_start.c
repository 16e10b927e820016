// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "json.h"
#include "number.h"
#include "output.h"

static uint64_t nodes, links, rate, margin;
static const char *at, *how, *list;

#define LIST_MAX (16u << 20)	/* most nodes of a list */

/* Adds the names in a line of the file @path. Return: OK, or the kind of the error */
static int take_names(const char *path, char *line, json_t *names)
{
	char *save, *name = strtok_r(line, " \t\r\n", &save);

	for (; name && *name != '#'; name = strtok_r(NULL, " \t\r\n", &save))
		if (json_array_append_new(names, json_string(name)))
			return fail("%s: a name is not UTF-8: must be names or coordinates "
				    "of nodes", path);
	return OK;
}

/* Reads the names in a file, of any number a line. Return: OK, or the kind of the error */
static int read_names(const char *path, json_t *names)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int status = OK;

	if (!f)
		return fail("%s: %s", path, strerror(errno));
	while (status == OK && (n = getline(&line, &room, f)) > 0)
		status = strlen(line) == (size_t)n ? take_names(path, line, names) :
			 fail("%s: a line has a NUL byte: must be names or coordinates of nodes",
			      path);
	if (status == OK && ferror(f))
		status = fail("%s: %s", path, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
	if (status == OK && !json_array_size(names))
		status = fail("%s: names no nodes", path);
	return status;
}

/* Makes the request from the options. Return: NULL after an error, which is printed */
static json_t *make_request(const char *name)
{
	json_t *request = json_pack("{ss ss}", "cmd", "job-start", "name", name), *names;

	json_object_set_new(request, "how", json_string(list ? "list" : how ? how : "box"));
	if (list) {
		names = json_array();
		json_object_set_new(request, "nodes", names);
		if (read_names(list, names) != OK) {
			json_decref(request);
			return NULL;
		}
		return request;
	}
	json_object_set_new(request, "count", json_integer((json_int_t)nodes));
	if (links)
		json_object_set_new(request, "min_links", json_integer((json_int_t)links));
	if (rate)
		json_object_set_new(request, "min_rate", json_integer((json_int_t)rate));
	if (margin)
		json_object_set_new(request, "min_margin", json_integer((json_int_t)margin));
	if (at)
		json_object_set_new(request, "node", json_string(at));
	return request;
}

/* Return: OK if the options go together, else CANNOT after printing why not */
static int check_options(void)
{
	if (list && (nodes || at || (how && strcmp(how, "list"))))
		return fail("--list names all nodes: leave --nodes, --at and --how out");
	if (how && !strcmp(how, "list") && !list)
		return fail("--how list: give the nodes by --list FILE");
	if (how && strcmp(how, "box") && strcmp(how, "list") && strcmp(how, "grow"))
		return fail("--how '%s': must be box, list or grow", how);
	if ((links || rate || margin) && (!how || strcmp(how, "grow")))
		return fail("--links, --rate and --margin: only with --how grow");
	if (!list && !nodes)
		return fail("say how many nodes: --nodes N, or which: --list FILE");
	return OK;
}

static int job_start(struct ctl *ctl, int argc, char **argv)
{
	json_t *request, *data, *job;
	struct ask a;
	int status = check_options();

	(void)argc;
	request = status == OK ? make_request(argv[0]) : NULL;
	if (!request)
		return CANNOT;
	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(request);
		return status;
	}
	status = ask(&a, request, &data);
	if (status == OK) {
		job = json_array_get(json_object_get(data, "jobs"), 0);
		if (!ctl->json && job)
			printf("job '%s' has %llu node%s: 'fabricctl job hosts %s' names %s\n",
			       argv[0], (unsigned long long)json_count(job, "nodes"),
			       json_count(job, "nodes") == 1 ? "" : "s", argv[0],
			       json_count(job, "nodes") == 1 ? "it" : "them");
		status = job_changed(ctl, data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "nodes", 'n', "N", &nodes, 1, LIST_MAX, "number of nodes" },
	{ OPT_TEXT, "at", 0, "NODE", &at, 0, 0,
	  "the box begins, or the job grows, at this node" },
	{ OPT_TEXT, "how", 0, "HOW", &how, 0, 0,
	  "nodes of a free box (box, default), found by neighbours (grow), or of --list (list)" },
	{ OPT_TEXT, "list", 0, "FILE", &list, 0, 0,
	  "these nodes: names or coordinates in FILE; -: standard input" },
	{ OPT_NUMBER, "links", 0, "N", &links, 1, TORUS_MAX_PORTS,
	  "with --how grow: nodes with at least so many links" },
	{ OPT_NUMBER, "rate", 0, "RATE", &rate, 1, INT32_MAX,
	  "with --how grow: only links with at least this rate, in Mb/s, of all lanes" },
	{ OPT_NUMBER, "margin", 0, "PERCENT", &margin, 1, UINT16_MAX,
	  "with --how grow: only links with at least this margin" },
	{ .kind = OPT_END },
};

COMMAND(job_start) = {
	.family = "job",
	.name = "start",
	.args = "NAME",
	.brief = "Give a job nodes of its own, and cables of its own between them",
	.help = "From then on packets between the nodes of the job use only cables between them,\n"
		"and no packets of another job do. Packets to other nodes are not concerned.\n"
		"A box may cross the ends of a dimension; of all free boxes of N nodes the one\n"
		"with the fewest cables to other nodes is taken. The nodes of a list must be\n"
		"joined by cables of their own. With --how grow the nodes are found from\n"
		"neighbour to neighbour, beginning at NODE or at this node, in any free form.\n"
		"A node belongs to one job at most. The nodes get\n"
		"numbers such that near numbers are near nodes; they never change.\n"
		"If cables fail, the job uses its other ones; if none are left between some of\n"
		"its nodes, it has fallen apart, and these cannot reach each other.\n"
		"Root, members of control_group and of job_group may start jobs.\n"
		"Exit status 1: no such nodes are free, or the job is not in force after 2 s.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = job_start,
};
