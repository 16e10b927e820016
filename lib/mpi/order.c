// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A communicator with the ranks in a better order. Rank 0 asks its manager for the exclusion table,
 * from which the rows of all nodes follow, places the ranks, and sends the places to the others.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <torus/fabric.h>
#include "torus_mpi.h"

#define TIMEOUT_MS	5000
/* in a torus with more nodes, only the nodes of ranks get rows, and these have no relays */
#define NODES_MAX	4096

/** struct row_store - rows of the nodes of a torus */
struct row_store {
	uint16_t *excluded;
	uint64_t *row;
	const uint64_t **rows;
};

bool lt_mpi_reorders(void)
{
	const char *env = getenv("TORUS_MPI_REORDER");

	return !env || strcmp(env, "0");
}

/* Sets the excluded ports of one entry of the table. */
static void take_entry(const struct torus_shape *shape, const json_t *v, uint16_t *excluded)
{
	const json_t *at = json_object_get(v, "node"), *c;
	const char *port = json_string_value(json_object_get(v, "port"));
	struct torus_coords coords = { .c = { 0 } };
	unsigned int p;
	size_t d;

	if (json_array_size(at) != shape->ndims)
		return;
	json_array_foreach(at, d, c) {
		if (json_integer_value(c) < 0 || json_integer_value(c) >= shape->size[d])
			return;
		coords.c[d] = (uint16_t)json_integer_value(c);
	}
	if (port && torus_port_parse(port, shape->ndims, &p))
		return;
	excluded[torus_node_id(shape, &coords)] |=
		(uint16_t)(port ? 1u << p : (1u << 2 * shape->ndims) - 1);
}

/*
 * Asks the manager for the exclusion table. If that fails, placement assumes that nothing is
 * excluded.
 */
static void ask_excluded(const struct torus_shape *shape, uint16_t *excluded)
{
	struct torus_fabric *f;
	json_t *reply, *list, *v;
	char *text;
	size_t i;

	if (torus_fabric_open(NULL, &f))
		return;
	if (!torus_fabric_call(f, "{\"cmd\":\"table\"}", &text, TIMEOUT_MS)) {
		reply = json_loads(text, 0, NULL);
		list = json_object_get(json_object_get(reply, "data"), "excluded");
		json_array_foreach(list, i, v)
			take_entry(shape, v, excluded);
		json_decref(reply);
		free(text);
	}
	torus_fabric_close(f);
	torus_exclusions_close(shape, excluded);
}

static bool make_row_store(const struct mpi_places *p, struct row_store *s)
{
	uint32_t nodes = torus_nodes(&p->shape);
	struct torus_health *h = NULL;
	bool all = nodes <= NODES_MAX, ok = true;
	uint32_t kept = 0, most = all ? nodes : (uint32_t)p->ranks;

	s->excluded = calloc(nodes, sizeof(*s->excluded));
	s->row = malloc((size_t)most * nodes * sizeof(*s->row));
	s->rows = calloc(nodes, sizeof(*s->rows));
	if (!s->excluded || !s->row || !s->rows)
		return false;
	ask_excluded(&p->shape, s->excluded);
	if (torus_health_new(&p->shape, s->excluded, &h))
		return false;
	for (uint32_t i = 0; ok && i < most; i++) {
		uint32_t id = all ? i : p->node[i];

		if (s->rows[id])
			continue;
		ok = torus_health_rows(h, id, all ? TORUS_ROUTES_RELAY : 0,
				       s->row + (size_t)kept * nodes) >= 0;
		s->rows[id] = s->row + (size_t)kept++ * nodes;
	}
	torus_health_free(h);
	return ok;
}

static void free_row_store(struct row_store *s)
{
	free(s->excluded);
	free(s->row);
	free(s->rows);
}

static void print_order_scores(const char *what, const struct torus_map *m, const uint32_t *before,
			       const uint32_t *after)
{
	struct torus_map_score a, b;

	if (!getenv("TORUS_MPI_VERBOSE") || torus_map_score(m, before, &a) ||
	    torus_map_score(m, after, &b))
		return;
	fprintf(stderr,
		"torus: %s: hop-bytes %llu in order, %llu reordered; busiest link %llu, %llu\n",
		what, (unsigned long long)a.hop_bytes, (unsigned long long)b.hop_bytes,
		(unsigned long long)a.load, (unsigned long long)b.load);
}

/*
 * Sets @place to the slot of each rank. If the traffic is invalid or memory is short, the ranks
 * keep their order.
 */
static void place_traffic(const char *what, const struct mpi_places *p, uint32_t ranks,
			  const struct torus_traffic *traffic, size_t n, uint32_t *place)
{
	struct row_store store = { .row = NULL };
	uint32_t *order = calloc(ranks, sizeof(*order));
	struct torus_map m = { .shape = &p->shape, .slot = p->node, .slots = (uint32_t)p->ranks,
		.ranks = ranks, .traffic = traffic, .n = n };

	if (order && make_row_store(p, &store)) {
		memcpy(order, place, ranks * sizeof(*order));
		m.rows = store.rows;
		m.excluded = store.excluded;
		torus_map_improve(&m, 1, 0, place);
		print_order_scores(what, &m, order, place);
	}
	free(order);
	free_row_store(&store);
}

/* Sets the new rank of each process: those that have no rank in @place come after the others. */
static void number_processes(const struct mpi_places *p, int ranks, const uint32_t *place,
			     int *new_rank)
{
	int next = ranks;

	for (int i = 0; i < p->ranks; i++)
		new_rank[i] = -1;
	for (int r = 0; r < ranks; r++)
		new_rank[place[r]] = r;
	for (int i = 0; i < p->ranks; i++)
		if (new_rank[i] < 0)
			new_rank[i] = next++;
}

int lt_mpi_order(const char *what, MPI_Comm comm, int ranks, const struct torus_traffic *traffic,
	      size_t n, int *new_rank, MPI_Comm *out)
{
	struct mpi_places p;
	uint32_t *place;
	int rank, *number;
	int err = lt_mpi_places_get(comm, &p);

	if (err)
		return err;
	PMPI_Comm_rank(comm, &rank);
	place = calloc((size_t)ranks, sizeof(*place));
	number = calloc((size_t)p.ranks, sizeof(*number));
	if (!place || !number)
		/* otherwise the other processes would wait for this one without end */
		abort();
	for (int r = 0; r < ranks; r++)
		place[r] = (uint32_t)r;
	if (rank == 0) {
		place_traffic(what, &p, (uint32_t)ranks, traffic, n, place);
		number_processes(&p, ranks, place, number);
	}
	err = PMPI_Bcast(number, p.ranks, MPI_INT, 0, comm);
	if (!err)
		err = PMPI_Comm_split(comm, 0, number[rank], out);
	if (!err && new_rank)
		memcpy(new_rank, number, (size_t)p.ranks * sizeof(*number));
	free(place);
	free(number);
	lt_mpi_places_free(&p);
	return err;
}
