// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "avail_formula.h"

double avail_down(double mtbf, double mttr)
{
	return mttr / (mtbf + mttr);
}

static double odds_of(double p)
{
	return p < 1 ? p / (1 - p) : INFINITY;
}

/* Computes the hours of outage per hour of service. */
struct avail_k avail_series(const struct avail *a)
{
	double node_rate = a->nodes / a->mtbf_node, link_rate = a->links / a->mtbf_link;
	double links = link_rate * a->outage_link;

	return (struct avail_k) {
		.without = 1 / (1 + (node_rate + link_rate) * a->mttr),
		.with = 1 / (1 + node_rate * a->mttr + links + odds_of(a->cut_links)),
		.masked = 1 / (1 + node_rate * a->outage_node + links + odds_of(a->cut_nodes)),
	};
}

/*
 * Each part fails at a rate of 1 / (MTBF + MTTR), where the time includes its down time. Outages of
 * masked faults begin like a Poisson process, so the chance that none is under way is exp(-rate x
 * length).
 */
struct avail_k avail_independent(const struct avail *a)
{
	double node_rate = a->nodes / (a->mtbf_node + a->mttr);
	double link_rate = a->links / (a->mtbf_link + a->mttr);
	double nodes_up = a->nodes * log1p(-avail_down(a->mtbf_node, a->mttr));
	double links_up = a->links * log1p(-avail_down(a->mtbf_link, a->mttr));
	double links = link_rate * a->outage_link;

	return (struct avail_k) {
		.without = exp(nodes_up + links_up),
		.with = (1 - a->cut_links) * exp(nodes_up - links),
		.masked = (1 - a->cut_nodes) * exp(-node_rate * a->outage_node - links),
	};
}

double avail_alone(const struct torus_shape *shape, double node_down, double link_down)
{
	double v = node_down, u = link_down, alone = 1 - v;

	for (unsigned int d = 0; d < shape->ndims; d++) {
		if (shape->size[d] == 2)
			alone *= v + (1 - v) * u * u;
		else if (shape->size[d] > 2)
			alone *= pow(v + (1 - v) * u, 2);
	}
	return alone;
}

/*
 * A ring serves if its living nodes are one arc whose inner links are up: all nodes
 * with at most one link down, or for each m < n the n arcs of m nodes.
 */
static double ring_cut(double n, double v, double u)
{
	double up = log1p(-v), fit = log1p(-u), serves;

	serves = exp(n * up) * (exp(n * fit) + n * u * exp((n - 1) * fit));
	for (double m = n - 1; v > 0 && m >= 1; m--) {
		double arc = exp(log(n) + m * up + (m - 1) * fit + (n - m) * log(v));

		serves += arc;
		if (arc < serves * 1e-18)
			break;
	}
	return fmax(0, 1 - serves);
}

double avail_cut(const struct torus_shape *shape, double nodes, double node_down,
		 double link_down)
{
	if (shape->ndims == 1)
		return ring_cut(nodes, node_down, link_down);
	return fmin(1, nodes * avail_alone(shape, node_down, link_down));
}
