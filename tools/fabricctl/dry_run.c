// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the rows of all nodes under the table in force with the rows under the table after the
 * exclusion. Nodes compute their rows from the table alone, so they would compute the same rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dry_run.h"
#include "job.h"
#include "json.h"
#include "output.h"
#include "path.h"
#include "rows.h"

/* The bits of a row that determine the path of packets on VCD0 and VCD1. */
#define WAY (~(TORUS_ROW_ADAPTIVE | TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT))

/**
 * struct dry_run - tables and rows before [0] and after [1] the exclusion
 * @gone: for each node, true if it is out of service now, or will be after the exclusion
 * @left: nodes that are up and stay in service; @went: nodes that are up and go out of service
 * @relay, @relay_rows: the last relay, and its rows
 * @path: room for paths
 * @port: for each node, the ports that are excluded before
 * @divided: the first job that would be divided into more parts, and into how many; "": none
 */
struct dry_run {
	struct ask ask;
	struct exclusions table;
	uint32_t nodes;
	bool *gone;
	struct torus_health *health[2];
	uint64_t *rows[2];
	uint32_t relay[2];
	uint64_t *relay_rows[2];
	struct path path;
	uint64_t pairs, moved, longer, lost;
	uint32_t left, went;
	json_t *cut_off;
	uint16_t *port;
	char divided[128];
};

static int prepare_run(struct dry_run *r)
{
	const struct torus_shape *s = &r->table.shape;

	r->nodes = torus_nodes(s);
	r->gone = calloc(r->nodes, sizeof(*r->gone));
	if (r->gone)
		memcpy(r->gone, r->table.out, r->nodes * sizeof(*r->gone));
	for (int i = 0; i < 2; i++) {
		r->rows[i] = calloc(r->nodes, sizeof(uint64_t));
		r->relay_rows[i] = calloc(r->nodes, sizeof(uint64_t));
		r->relay[i] = TORUS_NO_NODE;
		if (!r->rows[i] || !r->relay_rows[i] ||
		    torus_health_new(s, r->table.port, &r->health[i]))
			return fail("out of memory");
	}
	r->port = calloc(r->nodes, sizeof(*r->port));
	if (r->port)
		memcpy(r->port, r->table.port, r->nodes * sizeof(*r->port));
	r->cut_off = json_array();
	return r->gone && r->port && r->cut_off && !path_init(&r->path, s) ?
		       OK : fail("out of memory");
}

/* Excludes a node or a link in @r->table. Return: OK, or the kind of the error. */
static int exclude_part(struct dry_run *r, const char *what)
{
	char node_text[TORUS_TEXT_MAX], port_text[TORUS_TEXT_MAX] = "";
	const struct torus_shape *s = &r->table.shape;
	struct torus_coords at;
	unsigned int port;
	uint32_t node;
	int status = ask_is_link(what) ? ask_link(&r->ask, what, node_text, port_text)
				       : ask_node(&r->ask, what, node_text);

	if (status != OK)
		return status;
	if (torus_coords_parse(node_text, s, &at))
		return fail("%s is not a node of the fabric", node_text);
	node = torus_node_id(s, &at);
	if (!*port_text) {
		r->went += r->table.up[node] && !r->gone[node];
		r->gone[node] = true;
		r->table.port[node] = (uint16_t)((1u << 2 * s->ndims) - 1);
	} else if (torus_port_parse(port_text, s->ndims, &port)) {
		return fail("%s is not a port", port_text);
	} else {
		r->table.port[node] |= (uint16_t)(1u << port);
	}
	return torus_health_set(r->health[1], node, r->table.port[node], NULL) < 0 ?
		       fail("out of memory") : OK;
}

struct when {
	struct dry_run *r;
	int i;
};

static bool dry_row(void *arg, uint32_t at, uint32_t to, uint64_t *row)
{
	const struct when *when = arg;
	struct dry_run *r = when->r;
	int i = when->i;

	if (r->relay[i] != at &&
	    torus_health_rows(r->health[i], at, TORUS_ROUTES_RELAY, r->relay_rows[i]) < 0)
		return false;
	r->relay[i] = at;
	*row = r->relay_rows[i][to];
	return true;
}

/* Counts the hops of the whole path, through all relays. Return: false if out of memory. */
static bool measure_path(struct dry_run *r, int i, uint32_t from, uint32_t to, uint32_t *n)
{
	struct when when = { r, i };

	if (path_walk(&r->path, &r->table.shape, NULL, from, to, r->rows[i][to], dry_row, &when))
		return false;
	*n = r->path.n;
	return true;
}

/* Compares the rows of node @from before and after. Return: false if out of memory. */
static bool compare_rows_of(struct dry_run *r, uint32_t from)
{
	uint32_t n[2];

	for (uint32_t to = 0; to < r->nodes; to++) {
		uint64_t was = r->rows[0][to], is = r->rows[1][to];

		if (to == from || r->gone[to] || !r->table.up[to] || !(was & TORUS_ROW_VALID))
			continue;
		r->pairs++;
		if (!(is & TORUS_ROW_VALID)) {
			r->lost++;
		} else if ((was ^ is) & WAY) {
			r->moved++;
			if (!measure_path(r, 0, from, to, &n[0]) ||
			    !measure_path(r, 1, from, to, &n[1]))
				return false;
			r->longer += n[1] > n[0];
		}
	}
	return true;
}

/*
 * Finds the nodes that would be cut off: the nodes that links connect now would fall into parts;
 * all nodes outside of the largest part would be cut off.
 */
static bool find_cut_off(struct dry_run *r)
{
	uint32_t *size = calloc(r->nodes, sizeof(*size)), *best = calloc(r->nodes, sizeof(*best));
	bool fine = size && best;

	for (uint32_t i = 0; fine && i < r->nodes; i++)
		if (r->table.up[i] && !r->gone[i])
			size[torus_health_component(r->health[1], i)]++;
	for (uint32_t i = 0; fine && i < r->nodes; i++) {
		uint32_t *b = &best[torus_health_component(r->health[0], i)];
		uint32_t is = torus_health_component(r->health[1], i);

		*b = size[is] > size[*b] ? is : *b;
	}
	for (uint32_t i = 0; fine && i < r->nodes; i++)
		if (r->table.up[i] && !r->gone[i] &&
		    torus_health_component(r->health[1], i) !=
			    best[torus_health_component(r->health[0], i)])
			json_array_append_new(r->cut_off, json_node(&r->table.shape, i));
	for (uint32_t i = 0; i < r->nodes; i++)
		r->left += r->table.up[i] && !r->gone[i];
	free(best);
	free(size);
	return fine;
}

/* Sets @job, for each node, to the number of its job in the list @jobs, from 1 on. */
static int ask_members(struct dry_run *r, const json_t *jobs, size_t *job)
{
	int status = OK;
	uint32_t node;
	size_t i, k;
	json_t *v, *m;

	json_array_foreach(jobs, i, v) {
		json_t *is, *members;

		status = job_get(&r->ask, json_text(v, "name"), &is, &members);
		if (status != OK)
			break;
		json_array_foreach(members, k, m)
			if (!json_node_read(json_object_get(m, "node"), &r->table.shape, &node))
				job[node] = i + 1;
		json_decref(members);
		json_decref(is);
	}
	return status;
}

/* Return: mask of the ports of @node that lead to nodes outside of its job. */
static uint16_t border_of_job(const struct torus_shape *s, uint32_t node, const size_t *job)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2u * s->ndims; p++)
		if (job[torus_neighbour(s, node, p)] != job[node])
			mask |= (uint16_t)(1u << p);
	return mask;
}

/*
 * Counts in @parts, by number of the job, into how many parts each job is divided if the ports
 * @port are excluded. Return: OK, or CANNOT if out of memory.
 */
static int count_job_parts(const struct dry_run *r, const uint16_t *port, const size_t *job,
			   uint32_t *parts)
{
	uint16_t *closed = calloc(r->nodes, sizeof(*closed));
	bool *met = calloc(r->nodes, sizeof(*met));
	struct torus_health *h = NULL;
	bool fine = closed && met;

	for (uint32_t i = 0; fine && i < r->nodes; i++)
		closed[i] = port[i] | border_of_job(&r->table.shape, i, job);
	fine = fine && !torus_health_new(&r->table.shape, closed, &h);
	for (uint32_t i = 0; fine && i < r->nodes; i++) {
		uint32_t part = torus_health_component(h, i);

		if (part == TORUS_NO_NODE)
			fine = false;
		else if (job[i] && r->table.up[i] && !r->gone[i] && !met[part])
			parts[job[i]] += met[part] = true;
	}
	torus_health_free(h);
	free(met);
	free(closed);
	return fine ? OK : fail("out of memory");
}

static int compare_jobs(struct dry_run *r, const json_t *jobs)
{
	size_t n = json_array_size(jobs), *job = calloc(r->nodes, sizeof(*job));
	uint32_t *was = calloc(n + 1, sizeof(*was)), *is = calloc(n + 1, sizeof(*is));
	int status = job && was && is ? ask_members(r, jobs, job) : fail("out of memory");

	if (status == OK)
		status = count_job_parts(r, r->port, job, was);
	if (status == OK)
		status = count_job_parts(r, r->table.port, job, is);
	for (size_t k = 1; status == OK && k <= n && !*r->divided; k++)
		if (is[k] > 1 && is[k] > was[k])
			snprintf(r->divided, sizeof(r->divided), "job '%s' would be divided into %"
				 PRIu32 " parts", json_text(json_array_get(jobs, k - 1), "name"),
				 is[k]);
	free(is);
	free(was);
	free(job);
	return status;
}

/*
 * Finds a job that would be divided. Its nodes use no cables to other nodes, so this may happen
 * although no node is cut off. A manager of an earlier release knows no jobs.
 */
static int find_divided_job(struct dry_run *r)
{
	bool unknown = false;
	json_t *data;
	int status = ask_try(&r->ask, json_pack("{ss}", "cmd", "jobs"), &data, &unknown);

	if (unknown)
		return OK;
	if (status != OK)
		return status;
	if (json_array_size(json_object_get(data, "jobs")))
		status = compare_jobs(r, json_object_get(data, "jobs"));
	json_decref(data);
	return status;
}

/*
 * Return: the reason why the root would refuse the exclusion without --force (answer_exclude.c);
 * NULL if it would not refuse.
 */
static const char *find_refusal(const struct dry_run *r)
{
	if (r->left < 2 && r->went > r->left)
		return r->left ? "only one node would be left in service" :
				 "no node would be left in service";
	if (json_array_size(r->cut_off))
		return "nodes would be cut off";
	return *r->divided ? r->divided : NULL;
}

/* Prints the result. Without a root the table may be out of date, so the exit status is PROBLEM. */
static int report_run(const struct ctl *ctl, const struct dry_run *r, char **what, int n)
{
	const char *refusal = find_refusal(r);
	int status = r->lost || refusal ? PROBLEM : ask_status(&r->ask);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (ctl->json) {
		json_show(json_pack("{sb sI sI sI sI sI sO sb sI ss?}", "ok", status == OK,
				    "version", (json_int_t)r->table.version,
				    "pairs", (json_int_t)r->pairs, "moved", (json_int_t)r->moved,
				    "longer", (json_int_t)r->longer, "lost", (json_int_t)r->lost,
				    "cut_off", r->cut_off, "rootless", r->ask.rootless,
				    "left", (json_int_t)r->left, "refused", refusal));
		return status;
	}
	printf("without %s", what[0]);
	for (int k = 1; k < n; k++)
		printf(", %s", what[k]);
	printf(", of %" PRIu64 " pairs of other nodes: %" PRIu64 " take another path, %"
	       PRIu64 " of them a longer one; %s%" PRIu64 " have none%s\n", r->pairs,
	       r->moved, r->longer, paint(r->lost ? BAD : GOOD), r->lost, paint(PLAIN));
	json_array_foreach(r->cut_off, i, v)
		printf("%scut off%s %s\n", paint(BAD), paint(PLAIN), json_node_text(v, text));
	if (refusal)
		printf("%swould be refused%s without --force: %s\n", paint(BAD), paint(PLAIN),
		       refusal);
	return status;
}

static int dry_run(const struct ctl *ctl, struct dry_run *r, char **what, int n)
{
	int status = exclusions_get(&r->ask, &r->table);

	if (status == OK)
		status = prepare_run(r);
	for (int i = 0; status == OK && i < n; i++)
		status = exclude_part(r, what[i]);
	if (status != OK)
		return status;
	for (uint32_t from = 0; from < r->nodes; from++) {
		if (!r->table.up[from] || r->gone[from])
			continue;
		progress("computing rows of node %u of %u", from + 1, r->nodes);
		for (int i = 0; i < 2; i++)
			if (torus_health_rows(r->health[i], from, TORUS_ROUTES_RELAY, r->rows[i]) <
			    0)
				return fail("out of memory");
		if (!compare_rows_of(r, from))
			return fail("out of memory");
	}
	progress("%s", "");
	if (!find_cut_off(r))
		return fail("out of memory");
	status = find_divided_job(r);
	return status == OK ? report_run(ctl, r, what, n) : status;
}

int dry_run_exclude(const struct ctl *ctl, char **what, int n)
{
	struct dry_run r = { .nodes = 0 };
	int status;

	status = ask_open(ctl, &r.ask);
	if (status != OK)
		return status;
	status = dry_run(ctl, &r, what, n);
	for (int i = 0; i < 2; i++) {
		torus_health_free(r.health[i]);
		free(r.rows[i]);
		free(r.relay_rows[i]);
	}
	free(r.gone);
	free(r.port);
	path_free(&r.path);
	json_decref(r.cut_off);
	exclusions_free(&r.table);
	ask_close(&r.ask);
	return status;
}
