/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Availability K of a torus by formulas: the share of time in which it serves jobs.
 *
 * Source: Simonov, Zhabin, "Method of ensuring fault tolerance of a communication network with
 * multidimensional torus topology" (Trudy MAI, 2020), figure 8: K over the number of nodes, without
 * the method (any fault stops the system until it is repaired) and with it (faults of links are
 * bypassed; those of nodes are not). MTBF 10^6 h of a node, 10^5 h of a link, MTTR 1 h.
 *
 * The paper's text gives those three times, and of the two curves that K is above 0.99 with the
 * method "even for large systems" and "unacceptably low" without it "for a few dozen nodes": no
 * formula, no number of dimensions, no value. All values are ours.
 *
 *  1. avail_series() is the series system MTBF / (MTBF + MTTR), which is exact if nothing else
 *     fails while the system is stopped; avail_independent() is the product for elements that fail
 *     and are repaired independently. They differ when K is small: 0.887 and 0.881 at 4096 nodes in
 *     3 dimensions.
 *  2. By either, K without the method is 0.998 at 64 nodes, and below 0.99 from a few hundred on.
 *  3. "K > 0.99 even for large systems" ends at 10101 nodes, N MTTR / MTBF_node = 1 / 99, because
 *     faults of nodes are not masked. The third curve masks them as well: the fabric goes around
 *     dead nodes, and jobs restart on others.
 *  4. In the paper a bypassed fault costs nothing. Here each costs the time of its recovery.
 *  5. In the paper several faults at once are "negligible". On a ring they are not: any two cut it.
 *     Here an outage is counted if the remaining links do not connect all nodes (avail_cut()).
 *
 * Tests. tests/unit/test_fabricsim_availability.c has a small torus by hand (1, 4:
 * availability_equals_value_computed_by_hand()), the values of README.md (1 to 3:
 * availability_equals_tables_of_readme()) and rings (5: drawn_rings_agree_with_exact_value()).
 */
#ifndef AVAIL_FORMULA_H
#define AVAIL_FORMULA_H

#include <torus/topology.h>

/**
 * struct avail - a torus and how its parts fail
 * @mtbf_node, @mtbf_link, @mttr: hours
 * @outage_node, @outage_link: hours that a masked fault costs, instead of @mttr
 * @cut_links: share of time in which faults of links alone separate nodes that are alive
 * @cut_nodes: share of time in which faults of links and nodes separate nodes that are alive
 */
struct avail {
	double nodes, links;
	double mtbf_node, mtbf_link, mttr;
	double outage_node, outage_link;
	double cut_links, cut_nodes;
};

/**
 * struct avail_k - availability
 * @without: availability if any fault stops the system
 * @with: availability if faults of links are masked
 * @masked: availability if faults of links and nodes are masked
 */
struct avail_k {
	double without, with, masked;
};

/** avail_series() - availability if nothing fails while the system is stopped */
struct avail_k avail_series(const struct avail *a);
/** avail_independent() - availability if all parts fail and are repaired independently */
struct avail_k avail_independent(const struct avail *a);

/** avail_down() - Return: share of time in which a part is down */
double avail_down(double mtbf, double mttr);

/**
 * avail_cut() - Return: probability that not all live nodes are connected, or that none lives
 * @shape: shape of the torus; for more than one dimension, it gives the number of cables between
 *	two neighbours
 * @nodes: number of nodes
 * @node_down, @link_down: probability that a node or a link is down, independent of all others
 *
 * Exact for one dimension. For more it is the leading term, one node that loses all its links or
 * neighbours: the next term needs 4 d - 2 faults instead of 2 d.
 */
double avail_cut(const struct torus_shape *shape, double nodes, double node_down,
		 double link_down);

/**
 * avail_alone() - Return: probability that a node is alive, but not connected to any other live
 * node
 */
double avail_alone(const struct torus_shape *shape, double node_down, double link_down);

#endif /* AVAIL_FORMULA_H */
