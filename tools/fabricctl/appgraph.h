/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads what the ranks of a program send: lines of rank, rank and bytes. */
#ifndef APPGRAPH_H
#define APPGRAPH_H

#include <torus/map.h>

/**
 * struct appgraph - the traffic of a program
 * @ranks: number of ranks
 * @traffic: each pair of ranks once, in ascending order
 * @n: number of @traffic
 */
struct appgraph {
	uint32_t ranks;
	struct torus_traffic *traffic;
	size_t n;
};

/**
 * appgraph_read() - read a file, "-": standard input
 * @ranks: number of ranks that the program has; 0: one more than the highest rank in the file
 * Prints what is wrong in the file. Return: OK or CANNOT.
 */
int appgraph_read(const char *file, uint32_t ranks, struct appgraph *out);
void appgraph_free(struct appgraph *g);

#endif /* APPGRAPH_H */
