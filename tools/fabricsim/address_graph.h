/* SPDX-License-Identifier: GPL-2.0-only */
/* Graphs whose vertices fabricsim gives addresses: tori, parts of them, and others. */
#ifndef ADDRESS_GRAPH_H
#define ADDRESS_GRAPH_H

#include <torus/route.h>
#include <torus/topology.h>

#define ADDRESS_NODES_MAX 16384	/* most vertices, because the paths of all pairs are followed */

/**
 * struct address_graph - a graph
 * @name: text of the option that it was made from
 * @n: vertices
 * @degree: ports of a vertex
 * @ndims: dimensions of a torus, whose ports are numbered as torus(4) says; 0: no torus
 * @to: for each vertex and port the vertex there, or TORUS_NO_NODE
 */
struct address_graph {
	const char *name;
	uint32_t n;
	unsigned int degree, ndims;
	uint32_t *to;
};

/**
 * address_graph_torus() - make a torus
 * @part: if not 0, only that many nodes, which grow from node 0 at random places of its edge
 * Return: OK, or CANNOT after it has printed the error.
 */
int address_graph_torus(const char *text, uint32_t part, uint64_t seed, struct address_graph *g);

/**
 * address_graph_named() - make ring:N, hypercube:N, dragonfly:A (groups of A routers, one link from
 * each to another group, so A + 1 groups) or file:PATH (a line for each edge: two vertices)
 * Return: OK, or CANNOT after it has printed the error.
 */
int address_graph_named(const char *text, struct address_graph *g);

/** address_graph_paper() - make the graph of the paper's figures 7 and 8. Return: OK or CANNOT */
int address_graph_paper(struct address_graph *g);

void address_graph_free(struct address_graph *g);

/** address_graph_of() - Return: @g in the form that torus_dm_new() takes */
struct torus_graph address_graph_of(struct address_graph *g);

#endif /* ADDRESS_GRAPH_H */
