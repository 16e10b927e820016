/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Availability K of a torus on paper: the share of time in which it serves jobs.
 *
 * Source: Simonov, Zhabin, "Method of ensuring fault tolerance of a communication
 * network with multidimensional torus topology" (Trudy MAI, 2020), figure 8: K over
 * the number of nodes, without the method (any fault stops the system until it is
 * mended) and with it (faults of links are bypassed; those of nodes are not). MTBF
 * 10^6 h of a node, 10^5 h of a link, MTTR 1 h.
 *
 * The paper draws the curve and leaves open how it was computed. Where it is loose:
 *   - It gives no formula and no number of dimensions. 0.887 at 4096 nodes is the
 *     series system MTBF / (MTBF + MTTR) in 3 dimensions, MTBF = 1 / (N / MTBF_node +
 *     3 N / MTBF_link): exact if nothing else fails while the system stands still.
 *     Elements that fail and are mended each on its own give a product, 0.881.
 *     avail_series() and avail_independent() are the two; they part when K is small.
 *   - A fault that is bypassed costs nothing there. Here each costs the time that the
 *     recovery takes.
 *   - Several faults at once are "negligible". On a ring they are not: any two cut
 *     it. Here what the links that are left cannot join is an outage, avail_cut().
 *   - "K > 0.99 even for large systems" ends at 10101 nodes, N MTTR / MTBF_node = 1 / 99,
 *     since faults of nodes are not masked. The third curve masks them as well: the
 *     fabric goes around dead nodes, and jobs restart on others.
 */
#ifndef AVAIL_FORMULA_H
#define AVAIL_FORMULA_H

#include <torus/topology.h>

/**
 * struct avail - a torus and how its parts fail
 * @mtbf_node, @mtbf_link, @mttr: hours
 * @outage_node, @outage_link: hours that a masked fault costs, instead of @mttr
 * @cut_links: share of time in which links' faults alone part nodes that live
 * @cut_nodes: the same if nodes fail as well
 */
struct avail {
	double nodes, links;
	double mtbf_node, mtbf_link, mttr;
	double outage_node, outage_link;
	double cut_links, cut_nodes;
};

/**
 * struct avail_k - availability
 * @without: any fault stops the system
 * @with: links' faults are masked
 * @masked: nodes' faults are as well
 */
struct avail_k {
	double without, with, masked;
};

/** avail_series() - nothing fails while the system stands still; as the paper has it */
struct avail_k avail_series(const struct avail *a);
/** avail_independent() - all fail and are mended on their own */
struct avail_k avail_independent(const struct avail *a);

/** avail_down() - share of time in which a part is down */
double avail_down(double mtbf, double mttr);

/**
 * avail_cut() - chance that nodes that live are not all joined, or that none lives
 * @shape: of more than one dimension, how many cables join two neighbours in each
 * @nodes: how many
 * @node_down, @link_down: chance of each, on its own
 *
 * Of one dimension exact; of more the leading term, one node that all its links and
 * neighbours leave alone: the next one needs 4 d - 2 faults instead of 2 d.
 */
double avail_cut(const struct torus_shape *shape, double nodes, double node_down,
		 double link_down);

/**
 * avail_alone() - chance that a node lives and no link joins it to another that does
 */
double avail_alone(const struct torus_shape *shape, double node_down, double link_down);

#endif /* AVAIL_FORMULA_H */
