// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "avail_formula.h"
#include "avail_sample.h"
#include "jobs.h"

#define FAULTS_MAX (4 * SAMPLE_STRATA)
#define WEIGHT_MIN 1e-15	/* a stratum with a smaller weight is not sampled */
#define Z95 1.959964
#define UNSEEN95 3.0	/* upper limit, at 95 % confidence, of the mean of a count that was 0:
			 * -log(0.05) */

/* Bits of state.down[node]: */
#define DEAD 0x80		/* the node is dead; bit d: its cable in direction +d is cut */
#define SEEN 0x40

/**
 * struct state - one state of the fabric, and the routing engine that judges it
 * @down: faults of each node and its cables, see above
 * @dead, @cable: the same faults as lists; number i of @cable is the cable along dim[i / nodes] of
 *	node i % nodes
 */
struct state {
	const struct sample_plan *p;
	uint64_t seed, drawn;
	struct torus_health *health;
	uint64_t *rows;
	uint8_t *down;
	uint32_t *dead, *cable;
	uint32_t ndead, ncables;
};

/* --- chance ------------------------------------------------------------------ */

static uint64_t draw_u64(struct state *s)
{
	return jobs_seed(s->seed, s->drawn++);
}

static uint32_t draw_below(struct state *s, uint32_t n)
{
	return (uint32_t)((draw_u64(s) >> 32) * n >> 32);
}

/* Draws a number above 0, at most 1. */
static double draw_fraction(struct state *s)
{
	return ((double)(draw_u64(s) >> 11) + 1) * 0x1p-53;
}

/*
 * Return: number of parts that are up before the next part that is down. Each part is down with
 * probability @p.
 */
static double draw_skip(struct state *s, double p)
{
	return p > 0 ? floor(log(draw_fraction(s)) / log1p(-p)) : INFINITY;
}

/* --- a state ----------------------------------------------------------------- */

static uint32_t cable_node(const struct state *s, uint32_t cable)
{
	return cable % s->p->nodes;
}

static unsigned int cable_dim(const struct state *s, uint32_t cable)
{
	return s->p->dim[cable / s->p->nodes];
}

/* Makes a node fail. Return: false if it has failed already, or there is no room. */
static bool node_fails(struct state *s, uint32_t node)
{
	if (s->down[node] & DEAD || s->ndead == FAULTS_MAX)
		return false;
	s->down[node] |= DEAD;
	s->dead[s->ndead++] = node;
	return true;
}

static bool cable_fails(struct state *s, uint32_t cable)
{
	uint8_t *down = &s->down[cable_node(s, cable)];
	unsigned int bit = 1u << cable_dim(s, cable);

	if (*down & bit || s->ncables == FAULTS_MAX)
		return false;
	*down = (uint8_t)(*down | bit);
	s->cable[s->ncables++] = cable;
	return true;
}

static uint16_t dead_ports(const struct state *s, uint32_t node)
{
	unsigned int all = (1u << 2 * s->p->c.shape.ndims) - 1;

	return (uint16_t)(s->down[node] & DEAD ? all : s->down[node] & 0x3f);
}

static int update_health(struct state *s)
{
	int ret = 0;

	for (uint32_t i = 0; ret >= 0 && i < s->ndead; i++)
		ret = torus_health_set(s->health, s->dead[i], dead_ports(s, s->dead[i]), NULL);
	for (uint32_t i = 0; ret >= 0 && i < s->ncables; i++) {
		uint32_t node = cable_node(s, s->cable[i]);

		ret = torus_health_set(s->health, node, dead_ports(s, node), NULL);
	}
	return ret < 0 ? ret : 0;
}

/* Repairs all faults. */
static int mend_all(struct state *s)
{
	for (uint32_t i = 0; i < s->ndead; i++)
		s->down[s->dead[i]] = 0;
	for (uint32_t i = 0; i < s->ncables; i++)
		s->down[cable_node(s, s->cable[i])] = 0;
	if (update_health(s))
		return -ENOMEM;
	invariant(!torus_health_faults(s->health, NULL));
	s->ndead = s->ncables = 0;
	return 0;
}

/* --- questions about the state ----------------------------------------------- */

static bool is_node_alone(const struct state *s, uint32_t node)
{
	const struct sample_plan *p = s->p;
	bool alone = !(s->down[node] & DEAD);

	for (unsigned int d = 0; alone && d < p->ndims; d++)
		alone = torus_health_cut(s->health, node, p->dim[d]) &&
			torus_health_cut(s->health, node, p->c.shape.ndims + p->dim[d]);
	return alone;
}

/*
 * Return: 1 if the node is isolated and was not counted yet, else 0. clear_seen() clears the mark.
 */
static uint32_t count_alone(struct state *s, uint32_t node)
{
	if (s->down[node] & SEEN || !is_node_alone(s, node))
		return 0;
	s->down[node] |= SEEN;
	return 1;
}

static uint32_t each_end(struct state *s, uint32_t (*what)(struct state *s, uint32_t node))
{
	const struct torus_shape *shape = &s->p->c.shape;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->ncables; i++) {
		uint32_t node = cable_node(s, s->cable[i]);

		n += what(s, node);
		n += what(s, torus_neighbour(shape, node, cable_dim(s, s->cable[i])));
	}
	for (uint32_t i = 0; i < s->ndead; i++)
		for (unsigned int dir = 0; dir < 2u * shape->ndims; dir++)
			n += what(s, torus_neighbour(shape, s->dead[i], dir));
	return n;
}

static uint32_t clear_seen(struct state *s, uint32_t node)
{
	s->down[node] &= (uint8_t)~SEEN;
	return 0;
}

/* Return: number of live nodes without a healthy link, which are all next to faults. */
static uint32_t nodes_alone(struct state *s)
{
	uint32_t n = each_end(s, count_alone);

	each_end(s, clear_seen);
	return n;
}

/* Return: 1 if a live node has no valid row to another live node, else 0; or -ENOMEM. */
static int rows_missing(struct state *s, uint32_t from)
{
	int invalid = torus_health_rows(s->health, from, s->p->c.relays ? TORUS_ROUTES_RELAY : 0,
					s->rows);

	return invalid < 0 ? invalid : (uint32_t)invalid != s->ndead;
}

/*
 * Return: 1 if the engine cannot serve all pairs of live nodes. With relays it serves all nodes
 * that healthy links connect, in both directions, so the rows of one node suffice.
 */
static int is_cut(struct state *s)
{
	uint32_t nodes = s->p->nodes, from = draw_below(s, nodes);
	int cut = 0;

	if (s->ndead == nodes)
		return 1;
	while (s->down[from] & DEAD)
		from = from + 1 < nodes ? from + 1 : 0;
	if (s->p->c.relays)
		return rows_missing(s, from);
	for (from = 0; !cut && from < nodes; from++)
		if (!(s->down[from] & DEAD))
			cut = rows_missing(s, from);
	return cut;
}

/* Return: 1 if the fabric is cut, but has no isolated node (part 2), else 0; or -ENOMEM. */
static int judge_faults(struct state *s)
{
	int cut = update_health(s), err;

	if (!cut && !nodes_alone(s))
		cut = is_cut(s);
	err = mend_all(s);
	return err ? err : cut;
}

/* --- part 2: strata by the number of faults ----------------------------------- */

/* Draws how many of @k faults are faults of nodes. */
static uint32_t nodes_of(struct state *s, size_t k)
{
	const struct sample_plan *p = s->p;
	double left = draw_fraction(s) * p->weight[k];
	uint32_t best = 0, i;

	for (i = 0; i <= k; i++) {
		double w = exp(p->node_log[i] + p->link_log[k - i]);

		if (w > 0)
			best = i;
		left -= w;
		if (left <= 0)
			break;
	}
	return best;
}

static int stratum_draw(struct state *s, size_t k)
{
	const struct sample_plan *p = s->p;
	uint32_t dead = nodes_of(s, k), cables = (uint32_t)k - dead;

	while (dead)
		dead -= node_fails(s, draw_below(s, p->nodes));
	while (cables)
		cables -= cable_fails(s, draw_below(s, p->links));
	invariant(s->ndead + s->ncables == k);
	return judge_faults(s);
}

static int strata_run(struct state *s, struct sample_run *run)
{
	for (size_t k = 2; k < s->p->n; k++)
		for (uint64_t i = 0; i < s->p->share[k]; i++) {
			int cut = stratum_draw(s, k);

			if (cut < 0)
				return cut;
			run->cut[k] += (uint64_t)cut;
			run->states++;
		}
	return 0;
}

/*
 * Computes exactly the states with no fault and with one: one cable in each dimension, or one node.
 */
static int measure_exact(struct state *s, struct sample_plan *p)
{
	double node = p->weight[1] > 0 ?
		      exp(p->node_log[1] + p->link_log[0]) / p->weight[1] : 0;
	int cut = judge_faults(s);

	p->exact[0] = cut;
	for (unsigned int d = 0; cut >= 0 && d < p->ndims; d++) {
		cable_fails(s, d * p->nodes);
		cut = judge_faults(s);
		p->exact[1] += cut * (1 - node) / p->ndims;
	}
	if (cut >= 0 && node > 0) {
		node_fails(s, 0);
		cut = judge_faults(s);
		p->exact[1] += cut * node;
	}
	return cut < 0 ? cut : 0;
}

/* --- part 1: a node is isolated ------------------------------------------------ */

/*
 * Makes the cables between the isolated node @c and its neighbour @to fail, or the neighbour
 * itself, if nodes can fail.
 */
static void fail_beside(struct state *s, const uint32_t *cable, unsigned int n, uint32_t to)
{
	double v = s->p->c.node_down, u = s->p->c.link_down;
	double lost = n == 2 ? u * u : u;
	bool dead = draw_fraction(s) * (v + (1 - v) * lost) <= v && v > 0;

	if (dead)
		node_fails(s, to);
	for (unsigned int i = 0; i < n; i++)
		if (!dead || draw_fraction(s) <= u)
			cable_fails(s, cable[i]);
}

static bool is_neighbour(const struct state *s, uint32_t node, uint32_t of)
{
	return torus_distance(&s->p->c.shape, node, of) <= 1;
}

/* Lets all parts but @c, its cables and neighbours fail, each with the probability of its kind. */
static void fail_others(struct state *s, uint32_t c)
{
	const struct sample_plan *p = s->p;

	for (double i = draw_skip(s, p->c.node_down); i < p->nodes;
	     i += 1 + draw_skip(s, p->c.node_down))
		if (!is_neighbour(s, (uint32_t)i, c))
			node_fails(s, (uint32_t)i);
	for (double i = draw_skip(s, p->c.link_down); i < p->links;
	     i += 1 + draw_skip(s, p->c.link_down)) {
		uint32_t cable = (uint32_t)i, node = cable_node(s, cable);

		if (node != c && torus_neighbour(&p->c.shape, node, cable_dim(s, cable)) != c)
			cable_fails(s, cable);
	}
}

static void alone_draw(struct state *s)
{
	const struct sample_plan *p = s->p;
	uint32_t c = draw_below(s, p->nodes);

	for (unsigned int d = 0; d < p->ndims; d++) {
		unsigned int dim = p->dim[d], minus = p->c.shape.ndims + dim;
		uint32_t up = torus_neighbour(&p->c.shape, c, dim);
		uint32_t down = torus_neighbour(&p->c.shape, c, minus);
		uint32_t cable[2] = { d * p->nodes + c, d * p->nodes + down };

		if (up == down) {
			fail_beside(s, cable, 2, up);
		} else {
			fail_beside(s, cable, 1, up);
			fail_beside(s, cable + 1, 1, down);
		}
	}
	fail_others(s, c);
}

static int alone_run(struct state *s, struct sample_run *run)
{
	if (!(s->p->alone > 0))
		return 0;
	for (uint64_t i = 0; i < s->p->c.states / 4 + 1; i++) {
		int cut, err;
		double x;

		alone_draw(s);
		err = update_health(s);
		cut = err ? err : is_cut(s);
		x = cut > 0 ? 1.0 / nodes_alone(s) : 0;
		err = mend_all(s);
		if (cut < 0 || err)
			return -ENOMEM;
		run->alone_sum += x;
		run->alone_squares += x * x;
		run->alone_states++;
		run->states++;
	}
	return 0;
}

/* --- the plan ---------------------------------------------------------------- */

static int state_new(const struct sample_plan *p, uint64_t seed, struct state *s)
{
	*s = (struct state) { .p = p, .seed = seed };
	s->rows = malloc(p->nodes * sizeof(*s->rows));
	s->down = calloc(p->nodes, sizeof(*s->down));
	s->dead = malloc(FAULTS_MAX * sizeof(*s->dead));
	s->cable = malloc(FAULTS_MAX * sizeof(*s->cable));
	if (!s->rows || !s->down || !s->dead || !s->cable)
		return -ENOMEM;
	return torus_health_new(&p->c.shape, NULL, &s->health);
}

static void state_free(struct state *s)
{
	torus_health_free(s->health);
	free(s->rows);
	free(s->down);
	free(s->dead);
	free(s->cable);
}

/* Computes logarithms of the probabilities that 0, 1, ... of @n parts are down. */
static void binomial_logs(double n, double p, double *out)
{
	out[0] = n * log1p(-p);
	for (size_t k = 1; k < SAMPLE_STRATA; k++)
		out[k] = p > 0 && (double)k <= n ?
			 out[k - 1] + log((n - (double)k + 1) / (double)k) + log(p) - log1p(-p) :
			 -INFINITY;
}

static void make_strata(struct sample_plan *p)
{
	double mean = p->nodes * p->c.node_down + p->links * p->c.link_down, roots = 0;

	binomial_logs(p->nodes, p->c.node_down, p->node_log);
	binomial_logs(p->links, p->c.link_down, p->link_log);
	for (p->n = 0; p->n < SAMPLE_STRATA; p->n++) {
		double *w = &p->weight[p->n];

		for (size_t i = 0; i <= p->n; i++)
			*w += exp(p->node_log[i] + p->link_log[p->n - i]);
		if (*w < WEIGHT_MIN && (double)p->n > mean && p->n > 1)
			break;
		roots += p->n > 1 && *w >= WEIGHT_MIN ? sqrt(*w) : 0;
	}
	for (size_t k = 2; k < p->n; k++)
		if (p->weight[k] >= WEIGHT_MIN)
			p->share[k] =
				2 + (uint64_t)((double)p->c.states * sqrt(p->weight[k]) / roots);
}

int sample_plan_new(const struct sample_case *c, struct sample_plan **out)
{
	struct sample_plan *p = calloc(1, sizeof(*p));
	struct state s;
	int err;

	*out = p;
	if (!p)
		return -ENOMEM;
	p->c = *c;
	p->nodes = torus_nodes(&c->shape);
	for (unsigned int d = 0; d < c->shape.ndims; d++)
		if (c->shape.size[d] > 1) {
			p->dim[p->ndims++] = (uint8_t)d;
			p->safe += c->relays ? c->shape.size[d] == 2 ? 1 : 2 : 0;
		}
	p->links = p->ndims * p->nodes;
	if (p->nodes < 2 ||
	    p->nodes * c->node_down + p->links * c->link_down > SAMPLE_MEAN_MAX)
		return -EDOM;
	p->alone = p->nodes * avail_alone(&c->shape, c->node_down, c->link_down);
	make_strata(p);
	err = state_new(p, 1, &s);
	if (!err)
		err = measure_exact(&s, p);
	state_free(&s);
	return err;
}

int sample_run(const struct sample_plan *p, uint64_t seed, struct sample_run *run)
{
	struct state s;
	int err = state_new(p, seed, &s);

	memset(run, 0, sizeof(*run));
	if (!err)
		err = alone_run(&s, run);
	if (!err)
		err = strata_run(&s, run);
	state_free(&s);
	return err;
}

/* --- the sum ----------------------------------------------------------------- */

struct sample_found sample_sum(const struct sample_plan *p, const struct sample_run *run,
			       size_t n)
{
	struct sample_found f = { .states = 0 };
	double sum = 0, squares = 0, count = 0, variance = 0;

	for (size_t i = 0; i < n; i++) {
		sum += run[i].alone_sum;
		squares += run[i].alone_squares;
		count += (double)run[i].alone_states;
		f.states += run[i].states;
	}
	if (count > 0) {
		f.alone = p->alone * sum / count;
		variance = p->alone * p->alone *
			   fmax(0, squares / count - sum / count * (sum / count)) / count;
	}
	for (size_t k = 0; k < 2; k++)
		f.impossible += k < p->safe && p->exact[k] > 0;
	f.cut = f.alone + p->weight[0] * p->exact[0] + p->weight[1] * p->exact[1];
	for (size_t k = 2; k < p->n; k++) {
		double states = (double)(p->share[k] * n), cut = 0, w = p->weight[k];

		if (!p->share[k])
			continue;
		for (size_t i = 0; i < n; i++)
			cut += (double)run[i].cut[k];
		f.impossible += k < p->safe ? (uint64_t)cut : 0;
		f.cut += w * cut / states;
		if (cut > 0)	/* Laplace's estimate, because hits alone give no certainty */
			variance += w * w * (cut + 1) * (states - cut + 1) /
				    ((states + 2) * (states + 2) * (states + 3));
		else if (k >= p->safe)
			f.unseen = fmax(f.unseen, UNSEEN95 * w / states);
	}
	f.error = Z95 * sqrt(variance);
	return f;
}
