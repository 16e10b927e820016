/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates how often faults separate nodes of a torus, by the Monte Carlo method: states are drawn
 * at random, and the routing engine decides if all live nodes can reach each other.
 *
 * Parts fail and are repaired independently, so at any moment each is down with probability
 * MTTR / (MTBF + MTTR), whatever the distributions. Drawing independent states gives the same
 * averages as following the system for a long time.
 *
 * Simple random sampling would never see a cut: of 4096 nodes in 3 dimensions, eight states of nine
 * have no fault, and one of 10^26 is cut. So the probability of a cut is the sum of two parts.
 *   1. Some live node is alone, that is, without a healthy link. A formula gives the probability
 *	that node c is alone; it is the same for all c. The probability of the union of these
 *	events is estimated by the method of Karp and Luby (FOCS 1983): a node is chosen, a state
 *	is drawn in which it is alone, and this state counts 1 / (nodes alone in it). This estimate
 *	is unbiased, and has a small variance even if the event is very rare.
 *   2. No node is alone, but the torus is cut. Stratified sampling by the number of faults k: the
 *	weights of the strata are exact, sums of products of two binomials; within a stratum, all
 *	k-subsets with the same number of nodes are equally likely. The number of states that are
 *	drawn in a stratum grows with the square root of its weight, so that rare strata are
 *	sampled, too. For k = 0 and 1 all states are examined: a torus looks the same from every
 *	node.
 * Fewer faults than the connectivity, 2 a dimension (1 if of size 2), never cut a torus
 * (Sabidussi 1957; faults of nodes and links together: Beineke and Harary 1967). If rows have
 * relays, their strata are sampled nevertheless, as a test of the engine.
 *
 * An event that occurs in no sample can still happen. Let stratum k, with weight w_k and n_k
 * states, show none, and let p_k be the event's probability in it. At 95 % confidence the sum of
 * n_k p_k is at most 3. Then the sum of w_k p_k is greatest if all of it is in one stratum:
 * 3 max(w_k / n_k). This bound is reported in addition to the confidence interval of the observed
 * cuts.
 */
#ifndef AVAIL_SAMPLE_H
#define AVAIL_SAMPLE_H

#include <stdbool.h>
#include <torus/route.h>

#define SAMPLE_STRATA 2048
#define SAMPLE_MEAN_MAX 1000.0	/* largest mean number of faults at the same time */

/** struct sample_case - the parameters of the states that are drawn */
struct sample_case {
	struct torus_shape shape;
	double node_down, link_down;	/* probability that a node or a link is down; 0: it never
					 * fails */
	bool relays;			/* rows may use relays; false: a header must reach every
					 * node */
	uint64_t states;		/* number of states in a run; part 1 draws a quarter more */
};

/**
 * struct sample_plan - values that are computed before states are drawn
 * @dim: dimensions that have cables, @ndims of them
 * @alone: sum over all nodes of the probability that the node is alone
 * @safe: fewer faults than this never cut the torus
 * @n: number of strata, with 0 to @n - 1 faults
 * @weight: probability of each stratum; @share: number of its states in a run; @exact: for the
 *	strata of 0 and 1 faults, how many of their states count as part 2
 */
struct sample_plan {
	struct sample_case c;
	uint32_t nodes, links;
	uint8_t dim[TORUS_MAX_DIMS];
	unsigned int ndims;
	double alone;
	size_t safe, n;
	double node_log[SAMPLE_STRATA], link_log[SAMPLE_STRATA];
	double weight[SAMPLE_STRATA];
	uint64_t share[SAMPLE_STRATA];
	double exact[2];
};

/** struct sample_run - the result of a run */
struct sample_run {
	uint64_t cut[SAMPLE_STRATA];
	double alone_sum, alone_squares;
	uint64_t alone_states, states;
};

/**
 * struct sample_found - the result of all runs
 * @cut: probability that not all live nodes are connected; @error: half of its 95 % interval
 * @unseen: how much the probability may be greater because of strata without an observed cut, at 95
 *	% confidence
 * @alone: the share of part 1 in @cut
 * @impossible: states that the engine did not serve, although they have too few faults to cut the
 *	torus
 */
struct sample_found {
	double cut, error, unseen, alone;
	uint64_t states, impossible;
};

/**
 * sample_plan_new() - Return: 0, -ENOMEM, or -EDOM if more than SAMPLE_MEAN_MAX faults at a time,
 * or fewer than two nodes. The caller frees *@out.
 */
int sample_plan_new(const struct sample_case *c, struct sample_plan **out);

/** sample_run() - run with states drawn from @seed. Return: 0 or -ENOMEM */
int sample_run(const struct sample_plan *p, uint64_t seed, struct sample_run *run);

/** sample_sum() - Return: the combined result of @n runs */
struct sample_found sample_sum(const struct sample_plan *p, const struct sample_run *run,
			       size_t n);

#endif /* AVAIL_SAMPLE_H */
