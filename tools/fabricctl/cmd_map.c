// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places the ranks of a parallel program on nodes, and counts on the rows in the NICs what the
 * placement costs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appgraph.h"
#include "ask.h"
#include "job.h"
#include "json.h"
#include "output.h"
#include "rankfile.h"
#include "rows.h"
#include "slots.h"
#include "table.h"

static bool score_only, improve;
static const char *hosts, *format, *from, *job;
static uint64_t each = 1, ranks_given, seed = 1;

/**
 * struct mapping - the program, the fabric and the placement
 * @row: for each node its rows; NULL: they cannot be read
 * @place: for each rank, its slot
 * @given: costs of the placement without --improve; @found: with it
 */
struct mapping {
	struct ask ask;
	struct appgraph app;
	struct exclusions table;
	struct slots slots;
	struct rows *rows;
	const uint64_t **row;
	uint32_t *place;
	struct torus_map_score given, found;
};

/* --- output ------------------------------------------------------------------------ */

static json_t *score_json(const struct torus_shape *shape, const struct torus_map_score *s)
{
	char port[TORUS_TEXT_MAX];
	json_t *busiest = json_null();

	if (s->busiest.node != TORUS_NO_NODE)
		busiest = json_pack("{so ss}", "node", json_node(shape, s->busiest.node), "port",
				    torus_port_text(shape->ndims, s->busiest.port, port));
	return json_pack("{sI sI sI sI sI sI si sI so}", "bytes", (json_int_t)s->bytes,
			 "local_bytes", (json_int_t)s->local, "stranded_bytes",
			 (json_int_t)s->stranded, "hop_bytes", (json_int_t)s->hop_bytes, "pairs",
			 (json_int_t)s->pairs, "hops", (json_int_t)s->hops, "dilation", s->dilation,
			 "load", (json_int_t)s->load, "busiest", busiest);
}

static json_t *placement_json(const struct mapping *m)
{
	const struct slots *s = &m->slots;
	json_t *list = json_array();

	for (uint32_t r = 0; r < m->app.ranks; r++) {
		uint32_t slot = m->place[r], node = s->node[slot];

		json_array_append_new(list, json_pack("{si so so si}", "rank", r, "node",
			json_node(&s->shape, node), "name",
			s->name[node] ? json_string(s->name[node]) : json_null(), "slot",
			s->number[slot]));
	}
	return list;
}

static json_t *mapping_json(const struct mapping *m)
{
	const struct torus_shape *shape = &m->slots.shape;

	return json_pack("{si si sI sb so so so}", "ranks", m->app.ranks, "slots", m->slots.n,
			 "version", (json_int_t)m->table.version, "rootless", m->ask.rootless,
			 "given", score_json(shape, &m->given), "improved",
			 improve ? score_json(shape, &m->found) : json_null(), "placement",
			 placement_json(m));
}

static void line_of_numbers(struct table *t, const char *title, uint64_t given, uint64_t found)
{
	table_cell(t, PLAIN, "%s", title);
	table_cell(t, PLAIN, "%" PRIu64, given);
	if (improve)
		table_cell(t, PLAIN, "%" PRIu64, found);
}

static double average_of(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

static void line_of_averages(struct table *t, const char *title, double given, double found)
{
	table_cell(t, PLAIN, "%s", title);
	table_cell(t, PLAIN, "%.3f", given);
	if (improve)
		table_cell(t, PLAIN, "%.3f", found);
}

static void busiest_cell(struct table *t, const struct torus_shape *shape,
			 const struct torus_map_score *s)
{
	char at[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	if (s->busiest.node == TORUS_NO_NODE)
		table_cell(t, FAINT, "-");
	else
		table_cell(t, PLAIN, "%s:%s", json_id_text(shape, s->busiest.node, at),
			   torus_port_text(shape->ndims, s->busiest.port, port));
}

static void print_scores(const struct mapping *m)
{
	static const char *const both[] = { "COST", ">AS GIVEN", ">IMPROVED", NULL };
	static const char *const one[] = { "COST", ">AS GIVEN", NULL };
	const struct torus_map_score *g = &m->given, *f = &m->found;
	struct table *t = table_new(improve ? both : one);

	line_of_numbers(t, "bytes between nodes", g->bytes, f->bytes);
	line_of_numbers(t, "bytes within nodes", g->local, f->local);
	line_of_numbers(t, "bytes without a path", g->stranded, f->stranded);
	line_of_numbers(t, "hop-bytes", g->hop_bytes, f->hop_bytes);
	line_of_averages(t, "hops of a byte", average_of(g->hop_bytes, g->bytes),
			 average_of(f->hop_bytes, f->bytes));
	line_of_averages(t, "hops of a pair", average_of(g->hops, g->pairs),
			 average_of(f->hops, f->pairs));
	line_of_numbers(t, "hops of the longest path", g->dilation, f->dilation);
	line_of_numbers(t, "bytes over the busiest link", g->load, f->load);
	table_cell(t, PLAIN, "the busiest link");
	busiest_cell(t, &m->slots.shape, g);
	if (improve)
		busiest_cell(t, &m->slots.shape, f);
	table_print(t, "no costs");
}

static void print_placement(const struct mapping *m)
{
	static const char *const titles[] = { ">RANK", "NODE", "NAME", ">SLOT", NULL };
	const struct slots *s = &m->slots;
	struct table *t = table_new(titles);
	char at[TORUS_TEXT_MAX];

	for (uint32_t r = 0; r < m->app.ranks; r++) {
		uint32_t slot = m->place[r], node = s->node[slot];

		table_cell(t, PLAIN, "%u", r);
		table_cell(t, PLAIN, "%s", torus_node_text(&s->shape, node, at));
		table_cell(t, s->name[node] ? PLAIN : FAINT, "%s", table_or_dash(s->name[node]));
		table_cell(t, PLAIN, "%u", s->number[slot]);
	}
	table_print(t, "no ranks");
}

static int show_mapping(const struct ctl *ctl, const struct mapping *m)
{
	const struct torus_map_score *s = improve ? &m->found : &m->given;
	int status = OK;

	if (ctl->json) {
		json_show(mapping_json(m));
	} else if (format) {
		status = rankfile_write(stdout, format, &m->slots, m->place, m->app.ranks);
	} else {
		print_scores(m);
		if (!score_only)
			print_placement(m);
	}
	if (status == OK && s->stranded) {
		warn("%" PRIu64 " bytes are between nodes that no known path joins", s->stranded);
		return PROBLEM;
	}
	return status;
}

/* --- the command ------------------------------------------------------------------- */

/* Reads the rows of all nodes: a path may lead through any of them. */
static int read_node_rows(struct mapping *m)
{
	struct rows_reader reader = { .ask = &m->ask, .shape = &m->table.shape };
	uint32_t nodes = torus_nodes(&m->table.shape), n, known = 0;
	int status = OK;

	m->rows = calloc(nodes, sizeof(*m->rows));
	m->row = calloc(nodes, sizeof(*m->row));
	if (!m->rows || !m->row)
		return fail("out of memory");
	for (uint32_t first = 0; first < nodes; first += n) {
		progress("reading rows of node %u of %u", first, nodes);
		status = rows_get_some(&reader, first, m->rows + first, &n);
		for (uint32_t id = first; id < first + n; id++) {
			m->row[id] = m->rows[id].row;
			known += !!m->row[id];
		}
	}
	progress("%s", "");
	return known ? OK : status == OK ? fail("no NIC's rows could be read") : status;
}

/* Takes the slots of all nodes that are up, or of those of --hosts. */
static int read_node_slots(struct mapping *m)
{
	json_t *nodes = NULL;
	int status = ask_nodes(&m->ask, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0,
			       &nodes);

	if (status == OK)
		status = slots_new(&m->table, nodes, (uint32_t)each, hosts, &m->slots);
	json_decref(nodes);
	return status;
}

/* Takes the slots of the nodes of a job. */
static int read_job_slots(struct mapping *m)
{
	json_t *about, *members;
	uint32_t missing;
	int status = job_get(&m->ask, job, &about, &members);

	if (status != OK)
		return status;
	status = slots_of_job(&m->table, members, (uint32_t)each, &m->slots, &missing);
	json_decref(about);
	json_decref(members);
	return status;
}

static int read_slots(struct mapping *m)
{
	int status = exclusions_get(&m->ask, &m->table);

	if (status == OK)
		status = job ? read_job_slots(m) : read_node_slots(m);
	if (status == OK && m->app.ranks > m->slots.n)
		return fail("%u ranks are more than the %u slots of the nodes; --slots gives each "
			    "node more, --hosts HOST:SLOTS one of them", m->app.ranks, m->slots.n);
	return status == OK ? read_node_rows(m) : status;
}

/* Places the ranks on the slots in order, or by the list of --from. */
static int place_in_order(struct mapping *m)
{
	m->place = calloc(m->app.ranks, sizeof(*m->place));
	if (!m->place)
		return fail("out of memory");
	for (uint32_t r = 0; r < m->app.ranks; r++)
		m->place[r] = r;
	return from ? rankfile_read(from, &m->slots, m->place, m->app.ranks) : OK;
}

static int compute_costs(struct mapping *m)
{
	struct torus_map map = { .shape = &m->slots.shape, .rows = m->row,
		.excluded = m->table.port, .slot = m->slots.node, .slots = m->slots.n,
		.ranks = m->app.ranks, .traffic = m->app.traffic, .n = m->app.n };
	int err = torus_map_score(&map, m->place, &m->given);

	if (!err && improve)
		err = torus_map_improve(&map, seed, 0, m->place);
	if (!err && improve)
		err = torus_map_score(&map, m->place, &m->found);
	if (!err && m->given.hop_bytes > INT64_MAX)
		err = -EOVERFLOW;
	if (err == -EOVERFLOW)
		return fail("the hop-bytes are more than 63 bits can count: divide all bytes by "
			    "1000");
	return err ? fail("%s", strerror(-err)) : OK;
}

static int run_map(const struct ctl *ctl, const char *file)
{
	struct mapping m = { .place = NULL };
	int status = appgraph_read(file, (uint32_t)ranks_given, &m.app);

	if (status != OK)
		return status;
	status = ask_open(ctl, &m.ask);
	if (status == OK) {
		status = read_slots(&m);
		if (status == OK)
			status = place_in_order(&m);
		if (status == OK)
			status = compute_costs(&m);
		if (status == OK)
			ask_label(&m.ask, true);
		if (status == OK)
			status = show_mapping(ctl, &m);
		if (status == OK)
			status = ask_status(&m.ask);
		ask_close(&m.ask);
	}
	for (uint32_t id = 0; m.rows && id < torus_nodes(&m.table.shape); id++)
		rows_free(&m.rows[id]);
	free(m.rows);
	free(m.row);
	free(m.place);
	slots_free(&m.slots);
	exclusions_free(&m.table);
	appgraph_free(&m.app);
	return status;
}

static int cmd_map(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	if (format && !rankfile_known(format))
		return fail("--format '%s': must be " RANKFILE_FORMATS, format);
	if (format && (ctl->json || score_only))
		return fail("--format and %s exclude each other", ctl->json ? "--json" : "--score");
	if (job && hosts)
		return fail("--job and --hosts exclude each other");
	return run_map(ctl, argv[0]);
}

static const struct opt opts[] = {
	{ OPT_FLAG, "score", 's', NULL, &score_only, 0, 0, "print the costs, not the placement" },
	{ OPT_FLAG, "improve", 'i', NULL, &improve, 0, 0, "look for a placement that costs less" },
	{ OPT_TEXT, "format", 'f', "FORMAT", &format, 0, 0,
	  "print a file for openmpi, mpich, slurm or rubik" },
	{ OPT_TEXT, "hosts", 0, "HOSTS", &hosts, 0, 0,
	  "nodes in this order: HOST[:SLOTS],... or @FILE with a host in each line" },
	{ OPT_TEXT, "job", 0, "NAME", &job, 0, 0, "the nodes of this job, by number" },
	{ OPT_NUMBER, "slots", 0, "N", &each, 1, SLOTS_EACH_MAX, "ranks that a node may have (1)" },
	{ OPT_NUMBER, "ranks", 0, "N", &ranks_given, 1, 1 << 24,
	  "ranks of the program, if the highest sends and receives nothing" },
	{ OPT_TEXT, "from", 0, "FILE", &from, 0, 0,
	  "the placement as given, in the format rubik; else ranks in the order of the slots" },
	{ OPT_NUMBER, "seed", 0, "N", &seed, 0, UINT64_MAX, "seed of --improve (1)" },
	{ .kind = OPT_END },
};

COMMAND(cmd_map) = {
	.name = "map",
	.args = "FILE",
	.brief = "Place the ranks of an MPI program, and count what the placement costs",
	.help = "FILE has a line for each pair of ranks: rank that sends, rank that receives,\n"
		"bytes, with commas; '-' is standard input. The costs are counted on the rows\n"
		"that the NICs have now, faults included: hop-bytes are bytes by hops of their\n"
		"path. --improve folds a grid of ranks onto a box of nodes where that is\n"
		"possible, and else anneals; it never makes a placement worse. Exit status 1 if\n"
		"ranks exchange data between nodes that no path joins.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_map,
};
