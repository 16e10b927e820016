// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_graph.h"
#include "kernel/core/splitmix64.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

static int make_graph(struct address_graph *g, const char *name, uint32_t n, unsigned int degree)
{
	size_t ports = (size_t)n * degree;

	*g = (struct address_graph){ .name = name, .n = n, .degree = degree };
	g->to = malloc((ports + 1) * sizeof(*g->to));
	if (!g->to)
		return fail("out of memory");
	for (size_t i = 0; i < ports; i++)
		g->to[i] = TORUS_NO_NODE;
	return OK;
}

void address_graph_free(struct address_graph *g)
{
	free(g->to);
	g->to = NULL;
}

static uint32_t graph_next(void *arg, uint32_t v, unsigned int port)
{
	const struct address_graph *g = arg;

	return g->to[(size_t)v * g->degree + port];
}

static unsigned int graph_dim(void *arg, uint32_t v, unsigned int port)
{
	(void)v;
	return port % ((const struct address_graph *)arg)->ndims;
}

struct torus_graph address_graph_of(struct address_graph *g)
{
	return (struct torus_graph){ .n = g->n, .degree = g->degree, .next = graph_next,
		.dim = g->ndims ? graph_dim : NULL, .arg = g };
}

/* Uses the first free port of both vertices. Return: false if one has none. */
static bool join_vertices(struct address_graph *g, uint32_t a, uint32_t b)
{
	uint32_t *at_a = g->to + (size_t)a * g->degree, *at_b = g->to + (size_t)b * g->degree;
	unsigned int i = 0, j = 0;

	while (i < g->degree && at_a[i] != TORUS_NO_NODE)
		i++;
	while (j < g->degree && at_b[j] != TORUS_NO_NODE)
		j++;
	if (i == g->degree || j == g->degree)
		return false;
	at_a[i] = b;
	at_b[j] = a;
	return true;
}

/* --- tori ---------------------------------------------------------------------- */

/*
 * Takes @n nodes into @member: node 0, and then again and again a random neighbour of a random
 * member.
 * @list: room for @n nodes.
 */
static void grow_part(const struct torus_shape *s, uint32_t n, uint64_t seed, bool *member,
		      uint32_t *list)
{
	uint32_t have = 0;

	member[0] = true;
	list[have++] = 0;
	while (have < n) {
		uint32_t to;

		seed += SPLITMIX64_STEP;
		to = torus_neighbour(s, list[splitmix64_mix(seed) % have],
				     (unsigned int)(splitmix64_mix(~seed) % (2u * s->ndims)));
		if (!member[to])
			list[have++] = to;
		member[to] = true;
	}
}

/* Sets the ports of the members; @vertex: for each node its vertex, or TORUS_NO_NODE. */
static void join_torus(struct address_graph *g, const struct torus_shape *s, const uint32_t *vertex)
{
	for (uint32_t node = 0; node < torus_nodes(s); node++) {
		for (unsigned int p = 0; vertex[node] != TORUS_NO_NODE && p < g->degree; p++) {
			uint32_t to = torus_neighbour(s, node, p);

			if (to != node)
				g->to[(size_t)vertex[node] * g->degree + p] = vertex[to];
		}
	}
}

static int build_torus(const struct torus_shape *s, const char *text, uint32_t part, uint64_t seed,
		       struct address_graph *g)
{
	uint32_t nodes = torus_nodes(s), n = 0;
	bool *member = calloc(nodes, sizeof(*member));
	uint32_t *vertex = calloc(nodes, sizeof(*vertex));
	int status = OK;

	if (!member || !vertex)
		status = fail("out of memory");
	if (status == OK)
		status = make_graph(g, text, part ? part : nodes, 2u * s->ndims);
	if (status == OK) {
		if (part)
			grow_part(s, part, seed, member, vertex);
		for (uint32_t node = 0; node < nodes; node++)
			vertex[node] = !part || member[node] ? n++ : TORUS_NO_NODE;
		g->ndims = s->ndims;
		join_torus(g, s, vertex);
	}
	free(member);
	free(vertex);
	return status;
}

int address_graph_torus(const char *text, uint32_t part, uint64_t seed, struct address_graph *g)
{
	struct torus_shape s;
	uint32_t nodes;

	if (torus_shape_parse(text, &s))
		return fail("--shape '%s': must be like 4x4x4: 1 to 6 sizes of 1 to %d", text,
			    TORUS_MAX_SIZE);
	nodes = torus_nodes(&s);
	if (nodes > ADDRESS_NODES_MAX)
		return fail("--shape '%s': %u nodes, must have at most %d: all pairs are walked",
			    text, nodes, ADDRESS_NODES_MAX);
	if (part > nodes)
		return fail("--part %u: shape %s has %u nodes", part, text, nodes);
	return build_torus(&s, text, part, seed, g);
}

/* --- others -------------------------------------------------------------------- */

/* The figures are lost in the paper's text: these edges allow both of its runs. */
int address_graph_paper(struct address_graph *g)
{
	static const uint8_t edge[][2] = { { 0, 1 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, { 2, 3 },
		{ 1, 5 }, { 8, 9 }, { 4, 5 }, { 6, 7 } };

	if (make_graph(g, "paper", 10, 3))
		return CANNOT;
	for (size_t i = 0; i < sizeof(edge) / sizeof(edge[0]); i++)
		join_vertices(g, edge[i][0], edge[i][1]);
	return OK;
}

static int make_ring(const char *text, uint32_t n, struct address_graph *g)
{
	if (make_graph(g, text, n, 2))
		return CANNOT;
	for (uint32_t v = 0; n > 1 && v < n; v++) {
		g->to[2 * v] = (v + 1) % n;
		g->to[2 * v + 1] = (v + n - 1) % n;
	}
	return OK;
}

static int make_hypercube(const char *text, uint32_t dims, struct address_graph *g)
{
	if (make_graph(g, text, 1u << dims, dims))
		return CANNOT;
	for (uint32_t v = 0; v < g->n; v++)
		for (unsigned int d = 0; d < dims; d++)
			g->to[v * dims + d] = v ^ 1u << d;
	return OK;
}

/* Groups are complete graphs; router i of group a goes to the i-th other group. */
static int make_dragonfly(const char *text, uint32_t routers, struct address_graph *g)
{
	if (make_graph(g, text, routers * (routers + 1), routers))
		return CANNOT;
	for (uint32_t group = 0; group <= routers; group++) {
		for (uint32_t i = 0; i < routers; i++) {
			uint32_t other = i < group ? i : i + 1;

			for (uint32_t k = i + 1; k < routers; k++)
				join_vertices(g, group * routers + i, group * routers + k);
			if (other > group)
				join_vertices(g, group * routers + i, other * routers + group);
		}
	}
	return OK;
}

/**
 * struct edges - the edges of a file
 * @n: number of edges
 * @vertices: highest vertex plus 1
 */
struct edges {
	uint32_t (*edge)[2];
	size_t n, room;
	uint32_t vertices;
};

static int add_edge(struct edges *e, const char *path, unsigned int line, const char *text)
{
	uint32_t a, b;
	char more;

	if (sscanf(text, "%" SCNu32 "%*[ \t,]%" SCNu32 " %c", &a, &b, &more) != 2)
		return fail("%s:%u: must be two vertices, like 0 1", path, line);
	if (a == b || a >= ADDRESS_NODES_MAX || b >= ADDRESS_NODES_MAX)
		return fail("%s:%u: edge %u %u: must be two different vertices below %d", path,
			    line, a, b, ADDRESS_NODES_MAX);
	if (e->n == e->room) {
		size_t room = e->room ? 2 * e->room : 256;
		void *more_edges = realloc(e->edge, room * sizeof(*e->edge));

		if (!more_edges)
			return fail("out of memory");
		e->edge = more_edges;
		e->room = room;
	}
	e->edge[e->n][0] = a;
	e->edge[e->n++][1] = b;
	if ((a > b ? a : b) >= e->vertices)
		e->vertices = (a > b ? a : b) + 1;
	return OK;
}

static int join_edges(const char *text, const struct edges *e, struct address_graph *g)
{
	uint32_t *ports = calloc(e->vertices + 1u, sizeof(*ports)), degree = 0;
	int status = OK;

	if (!ports)
		return fail("out of memory");
	for (size_t i = 0; i < 2 * e->n; i++) {
		uint32_t v = e->edge[i / 2][i % 2];

		if (++ports[v] > degree)
			degree = ports[v];
	}
	free(ports);
	if (!e->n)
		return fail("--graph %s: the file has no edges", text);
	if (degree > TORUS_DM_DEGREE_MAX)
		return fail("--graph %s: a vertex has %u edges, must have at most %d", text, degree,
			    TORUS_DM_DEGREE_MAX);
	status = make_graph(g, text, e->vertices, degree);
	for (size_t i = 0; status == OK && i < e->n; i++)
		join_vertices(g, e->edge[i][0], e->edge[i][1]);
	return status;
}

static int make_from_file(const char *text, const char *path, struct address_graph *g)
{
	struct edges e = { 0 };
	unsigned int line = 0;
	int status = OK;
	char buf[256];
	FILE *f = fopen(path, "r");

	if (!f)
		return fail("--graph %s: %s", text, strerror(errno));
	while (status == OK && fgets(buf, sizeof(buf), f)) {
		line++;
		if (buf[strspn(buf, " \t\n")] && buf[0] != '#')
			status = add_edge(&e, path, line, buf);
	}
	fclose(f);
	if (status == OK)
		status = join_edges(text, &e, g);
	free(e.edge);
	return status;
}

int address_graph_named(const char *text, struct address_graph *g)
{
	static const struct {
		const char *name;
		uint32_t min, max;
		int (*make)(const char *text, uint32_t n, struct address_graph *g);
	} kinds[] = { { "ring", 1, ADDRESS_NODES_MAX, make_ring },
		{ "hypercube", 1, 14, make_hypercube }, { "dragonfly", 1, 127, make_dragonfly } };

	if (!strncmp(text, "file:", 5))
		return make_from_file(text, text + 5, g);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i].name);
		unsigned long n;
		char *end;

		if (strncmp(text, kinds[i].name, len) || text[len] != ':')
			continue;
		n = strtoul(text + len + 1, &end, 10);
		if (text[len + 1] < '0' || text[len + 1] > '9' || *end || n < kinds[i].min ||
		    n > kinds[i].max)
			return fail("--graph %s: must be %s:%u to %s:%u", text, kinds[i].name,
				    kinds[i].min, kinds[i].name, kinds[i].max);
		return kinds[i].make(text, (uint32_t)n, g);
	}
	return fail("--graph '%s': must be ring:N, hypercube:N, dragonfly:N or file:PATH", text);
}
