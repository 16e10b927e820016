// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the rows of all nodes of a job, and proves them with all cables that leave the job counted
 * as excluded: a row that leads out of the job is named.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <torus/route.h>

#include "job.h"
#include "json.h"
#include "next.h"
#include "output.h"
#include "rows.h"

#define CULPRITS_MAX 20		/* most culprits that are printed */

/**
 * struct proof - the proof about one job
 * @member: by node id: it belongs to the job, is up and in service; @closed: ports closed for it
 */
struct proof {
	struct ask ask;
	struct exclusions table;
	uint32_t nodes;
	bool *member, *inside;
	uint16_t *closed;
	struct rows *rows;
	const uint64_t **row;
	struct torus_verified found;
	json_t *culprits;
};

static void blame_member(struct proof *p, uint32_t from, uint32_t to, const char *text)
{
	const struct torus_shape *shape = &p->table.shape;

	json_array_append_new(p->culprits, json_pack("{so so ss}", "node", json_node(shape, from),
			      "to", to < p->nodes ? json_node(shape, to) : json_null(),
			      "text", text));
}

static void blame_way(void *arg, const struct torus_culprit *w)
{
	struct proof *p = arg;
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX], text[3 * TORUS_TEXT_MAX];

	snprintf(text, sizeof(text), "%s to %s: %s", json_id_text(&p->table.shape, w->from, a),
		 json_id_text(&p->table.shape, w->to, b), torus_wrong_text(w->what));
	blame_member(p, w->from, w->to, text);
}

/* Reports the members that no links of the job join with the first member. */
static void blame_parts(struct proof *p)
{
	char text[2 * TORUS_TEXT_MAX];
	uint32_t id = 0;

	if (!p->found.apart)
		return;
	while (!p->member[id])
		id++;
	snprintf(text, sizeof(text), "the job has fallen apart: %" PRIu64 " of %" PRIu64 " pairs "
		 "of its nodes have no way", p->found.apart, p->found.apart + p->found.pairs);
	blame_member(p, id, TORUS_NO_NODE, text);
}

/* Closes the ports that lead out of the job, and those that the table excludes. */
static void close_job(struct proof *p)
{
	const struct torus_shape *shape = &p->table.shape;
	uint16_t all = (uint16_t)((1u << 2 * shape->ndims) - 1);

	for (uint32_t i = 0; i < p->nodes; i++) {
		p->closed[i] = p->inside[i] ? p->table.port[i] : all;
		for (unsigned int d = 0; p->inside[i] && d < 2u * shape->ndims; d++)
			if (!p->inside[torus_neighbour(shape, i, d)])
				p->closed[i] |= (uint16_t)(1u << d);
	}
}

/*
 * Names a member that has failed, because its rows cannot be read, and it cannot be reached. One
 * that is excluded as a whole is not expected to work.
 */
static void blame_failed(struct proof *p, uint32_t id, const json_t *member)
{
	const char *state = json_text(member, "state");
	char at[TORUS_TEXT_MAX], text[2 * TORUS_TEXT_MAX];

	if (next_member_works(member) || p->table.out[id])
		return;
	snprintf(text, sizeof(text), "node %s is %s: its routes are not checked",
		 json_id_text(&p->table.shape, id, at), state ? state : "unknown");
	blame_member(p, id, TORUS_NO_NODE, text);
}

static bool take_members(struct proof *p, const json_t *members)
{
	uint32_t id;
	size_t i;
	json_t *v;

	p->nodes = torus_nodes(&p->table.shape);
	p->member = calloc(p->nodes, sizeof(*p->member));
	p->inside = calloc(p->nodes, sizeof(*p->inside));
	p->closed = calloc(p->nodes, sizeof(*p->closed));
	p->rows = calloc(p->nodes, sizeof(*p->rows));
	p->row = calloc(p->nodes, sizeof(uint64_t *));
	p->culprits = json_array();
	if (!p->member || !p->inside || !p->closed || !p->rows || !p->row || !p->culprits)
		return false;
	json_array_foreach(members, i, v) {
		if (json_node_read(json_object_get(v, "node"), &p->table.shape, &id))
			continue;
		p->inside[id] = true;
		p->member[id] = p->table.up[id] && !p->table.out[id];
		blame_failed(p, id, v);
	}
	close_job(p);
	return true;
}

static int read_members(struct proof *p)
{
	char at[TORUS_TEXT_MAX], text[2 * TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < p->nodes; id++) {
		int status;

		if (!p->member[id])
			continue;
		progress("reading rows of %s", json_id_text(&p->table.shape, id, at));
		status = rows_get(&p->ask, &p->table.shape, id, &p->rows[id]);
		if (status != OK)
			return status;
		p->row[id] = p->rows[id].row;
		if (p->rows[id].version == p->table.version)
			continue;
		snprintf(text, sizeof(text), "%s has rows of version %" PRIu64 ", the table is %"
			 PRIu64, json_id_text(&p->table.shape, id, at), p->rows[id].version,
			 p->table.version);
		blame_member(p, id, TORUS_NO_NODE, text);
	}
	progress("%s", "");
	return OK;
}

static void print_proof(const struct proof *p, const char *name)
{
	size_t i, n = json_array_size(p->culprits);
	json_t *v;

	json_array_foreach(p->culprits, i, v) {
		if (i == CULPRITS_MAX) {
			printf("... and %zu more; --json lists all\n", n - i);
			break;
		}
		printf("%s\n", json_text(v, "text"));
	}
	printf("job '%s', %" PRIu64 " pairs of nodes walked, table version %" PRIu64 ": ", name,
	       p->found.pairs, p->table.version);
	if (n)
		printf("%s%zu culprit%s%s\n", paint(BAD), n, n == 1 ? "" : "s", paint(PLAIN));
	else
		printf("%sall arrive, and none leaves the job%s\n", paint(GOOD), paint(PLAIN));
}

/* Another step is needed for a member that failed than for one whose rows are wrong. */
static void show_next(const struct ctl *ctl, const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "job show %.100s", name);
	next_command(ctl, command, "shows the state of its nodes, and what to do; if all are up, a "
		     "recovery may be under way: verify again when 'fabricctl status' shows it no "
		     "more");
}

static int prove_job(struct ctl *ctl, struct proof *p, const char *name)
{
	struct torus_tables tables = { .rows = p->row };
	struct torus_verify what = { .n = 1, .culprit = blame_way, .arg = p };
	int status = read_members(p);

	if (status != OK)
		return status;
	what.shape = &p->table.shape;
	what.excluded = p->closed;
	what.tables = &tables;
	what.up = p->member;
	if (torus_verify(&what, &p->found))
		return fail("out of memory");
	blame_parts(p);
	if (ctl->json)
		json_show(json_pack("{ss sb sI sI sO}", "name", name, "ok",
				    !json_array_size(p->culprits), "version",
				    (json_int_t)p->table.version, "pairs",
				    (json_int_t)p->found.pairs, "culprits", p->culprits));
	else
		print_proof(p, name);
	if (json_array_size(p->culprits) && !ctl->json)
		show_next(ctl, name);
	return json_array_size(p->culprits) ? PROBLEM : OK;
}

static void proof_free(struct proof *p)
{
	for (uint32_t id = 0; p->rows && id < p->nodes; id++)
		rows_free(&p->rows[id]);
	free(p->rows);
	free(p->row);
	free(p->member);
	free(p->inside);
	free(p->closed);
	json_decref(p->culprits);
	exclusions_free(&p->table);
	ask_close(&p->ask);
}

static int job_verify(struct ctl *ctl, int argc, char **argv)
{
	struct proof p = { .nodes = 0 };
	json_t *job, *members;
	int status = ask_open(ctl, &p.ask);

	(void)argc;
	if (status != OK)
		return status;
	status = job_get(&p.ask, argv[0], &job, &members);
	if (status == OK) {
		status = exclusions_get(&p.ask, &p.table);
		if (status == OK)
			status = take_members(&p, members) ? prove_job(ctl, &p, argv[0]) :
							     fail("out of memory");
		json_decref(job);
		json_decref(members);
	}
	proof_free(&p);
	return status;
}

COMMAND(job_verify) = {
	.family = "job",
	.name = "verify",
	.args = "NAME",
	.brief = "Check the routes of a job in its NICs: no packet leaves its nodes",
	.help = "Reads the routes from the NICs of all nodes of the job that are up, and checks\n"
		"that between all of them packets arrive, over no cable and no relay outside the\n"
		"job. If not, or if a node of the job is dead or silent, the exit status is 1,\n"
		"and each such node and each NIC with a wrong route is named.\n"
		"'fabricctl verify' checks all routes of the fabric, those of jobs included.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = job_verify,
};
