// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "tests/sim/flow_naive.h"

#define QUEUE_MAX 64

/* A packet in an input queue: @come of its phits have arrived, @gone have left. */
struct part {
	struct naive_end p;
	unsigned int come, gone;
	uint32_t first_at;	/* time since which it is the first of its queue */
	int way;		/* output: dir * vcs + vc, or HERE, the sink; ASKS: none yet */
};

enum { ASKS = -1, HERE = 1000 };

struct in {
	struct part part[QUEUE_MAX];
	unsigned int n;
	bool critical;		/* the first packet leaves a critical bubble behind */
};

struct out {
	unsigned int c, b;
	uint32_t stuck_at;	/* 0: it is not stuck */
	unsigned int last;
};

/* An event of a later cycle. */
struct later {
	struct later *next;
	uint32_t when;
	enum { PHIT, CREDIT, CRITICAL, ASK, FALSE_TAIL, HEAD_GONE, LINE_FREE } what;
	unsigned int node, dir, vc;
	bool head;
	struct naive_end p;
};

struct at {
	struct in *in;		/* [dir * vcs + vc], then the source */
	struct out *out;	/* [dir * vcs + vc], then the sink */
	bool *busy;		/* [dir], then the sink */
	unsigned int turn;
	struct naive_end *line;	/* packets born and not yet in the source queue */
	size_t lined, taken;
};

struct naive {
	struct flow_params p;
	unsigned int dirs, vcs, source, nodes;
	uint32_t now;
	struct at *at;
	struct later *later;
	uint64_t traced, requests, responses;
	struct naive_end *end;
	size_t ends;
};

static bool bubbly(const struct naive *s)
{
	return s->p.policy == &flow_cbs || s->p.policy == &flow_mbs;
}

static unsigned int dim_of(const struct naive *s, unsigned int dir)
{
	return dir % s->p.shape.ndims;
}

static unsigned int opposite(const struct naive *s, unsigned int dir)
{
	return (dir + s->p.shape.ndims) % s->dirs;
}

static unsigned int peer(const struct naive *s, unsigned int node, unsigned int dir)
{
	struct torus_coords c;
	unsigned int d = dim_of(s, dir), k = s->p.shape.size[d];

	torus_node_coords(&s->p.shape, node, &c);
	c.c[d] = (uint16_t)((c.c[d] + (dir < s->p.shape.ndims ? 1 : k - 1)) % k);
	return torus_node_id(&s->p.shape, &c);
}

/* Return: the direction from @node to @dst in dimension @d; -1 if none is needed. */
static int way_in(const struct naive *s, unsigned int node, unsigned int dst, unsigned int d)
{
	unsigned int k = s->p.shape.size[d], plus;
	struct torus_coords a, b;

	torus_node_coords(&s->p.shape, node, &a);
	torus_node_coords(&s->p.shape, dst, &b);
	plus = (b.c[d] + k - a.c[d]) % k;
	if (!plus)
		return -1;
	return (int)(plus <= k - plus ? d : d + s->p.shape.ndims);
}

static int first_way(const struct naive *s, unsigned int node, unsigned int dst)
{
	for (unsigned int d = 0; d < s->p.shape.ndims; d++)
		if (way_in(s, node, dst, d) >= 0)
			return way_in(s, node, dst, d);
	return HERE;
}

/* Return: true if the link of @node in @dir leads from the last node of its ring to the first. */
static bool closes(const struct naive *s, unsigned int node, unsigned int dir)
{
	struct torus_coords c;
	unsigned int d = dim_of(s, dir);

	torus_node_coords(&s->p.shape, node, &c);
	return c.c[d] == (dir < s->p.shape.ndims ? s->p.shape.size[d] - 1 : 0);
}

static struct later *plan(struct naive *s, uint32_t delay, int what, unsigned int node,
			  unsigned int dir, unsigned int vc)
{
	struct later *l = calloc(1, sizeof(*l)), **p = &s->later;

	l->when = s->now + delay;
	l->what = what;
	l->node = node;
	l->dir = dir;
	l->vc = vc;
	while (*p)
		p = &(*p)->next;
	*p = l;
	return l;
}

/* --- buffers --------------------------------------------------------------- */

static void changed(struct naive *s, struct out *o)
{
	bool stuck = s->p.policy == &flow_mbs && o->b && o->b == o->c;

	if (!stuck)
		o->stuck_at = 0;
	else if (!o->stuck_at)
		o->stuck_at = s->now;
}

static void freed(struct naive *s, unsigned int node, unsigned int input, bool critical)
{
	struct out *o = &s->at[node].out[input];
	unsigned int dir = input / s->vcs;

	if (!critical && s->p.policy == &flow_mbs && o->b && o->b == o->c) {
		o->b--;
		critical = true;
		changed(s, o);
	}
	plan(s, s->p.credit_delay, critical ? CRITICAL : CREDIT, peer(s, node, opposite(s, dir)), dir,
	     input % s->vcs);
}

static unsigned int here_free(const struct naive *s, const struct in *in)
{
	unsigned int n = s->p.queue - in->n;

	return n + (s->p.freed == FLOW_HEAD && in->n && in->part[0].gone);
}

/*
 * Return: true if the first packet of @input may go out by @way, by credits and the bubble rules.
 */
static bool may(const struct naive *s, unsigned int node, unsigned int input, unsigned int way)
{
	const struct out *o = &s->at[node].out[way];
	bool down = o->c >= 2, local = here_free(s, &s->at[node].in[way]) >= 2;

	if (!o->c)
		return false;
	if (input == way)
		return true;
	if (s->p.policy == &flow_bloc)
		return s->p.test == FLOW_DOWNSTREAM ? down :
		       s->p.test == FLOW_LOCAL ? local : down || local;
	if (s->p.policy == &flow_cbs || s->p.policy == &flow_mbs)
		return o->c > o->b;
	return s->p.policy != &flow_adaptive || way % 2 || down;
}

static void grant(struct naive *s, unsigned int node, unsigned int input, unsigned int way)
{
	struct at *at = &s->at[node];
	struct in *in = &at->in[input];
	struct out *o = &at->out[way == HERE ? s->source : way];

	in->part[0].way = (int)way;
	if (way == HERE) {
		if (s->p.sink == FLOW_SINGLE)
			at->busy[s->dirs] = true;
	} else {
		at->busy[way / s->vcs] = true;
		if (bubbly(s) && o->b == o->c) {
			o->b--;
			in->critical = true;
		}
		o->c--;
		changed(s, o);
	}
	if (s->p.freed == FLOW_HEAD && input != s->source)
		plan(s, 1, HEAD_GONE, node, input / s->vcs, input % s->vcs);
}

/* --- arbitration ----------------------------------------------------------- */

/* Return: the arbiter's choice among the inputs with want[]; -1 if there is none. */
static int choose(const struct naive *s, unsigned int node, const bool *want, const bool *transit,
		  unsigned int last)
{
	int best = -1;

	for (unsigned int k = 1; k <= s->source + 1; k++) {
		unsigned int i = (last + k) % (s->source + 1);

		if (want[i] && s->p.arbiter == FLOW_TRANSIT && transit[i])
			return (int)i;
	}
	for (unsigned int k = 1; k <= s->source + 1; k++) {
		unsigned int i = (last + k) % (s->source + 1);

		if (!want[i])
			continue;
		if (s->p.arbiter != FLOW_OLDEST)
			return (int)i;
	}
	for (unsigned int i = 0; i <= s->source; i++)
		if (want[i] && (best < 0 || s->at[node].in[i].part[0].first_at <
				s->at[node].in[best].part[0].first_at))
			best = (int)i;
	return best;
}

/* Return: the output that the first packet of @input asks for (not adaptive); ASKS if none. */
static int asks_for(const struct naive *s, unsigned int node, unsigned int input)
{
	const struct in *in = &s->at[node].in[input];
	int way;
	bool beyond;

	if (!in->n || in->part[0].way != ASKS)
		return ASKS;
	way = first_way(s, node, in->part[0].p.dst);
	if (way == HERE || s->vcs == 1)
		return way;
	beyond = input != s->source && (int)(input / 2) == way && input % 2;
	return 2 * way + (beyond || closes(s, node, (unsigned int)way));
}

static void sinks(struct naive *s, unsigned int node)
{
	struct at *at = &s->at[node];
	bool want[64] = { false }, transit[64];
	int i;

	for (unsigned int k = 0; k <= s->source; k++) {
		transit[k] = k != s->source;
		want[k] = at->in[k].n && at->in[k].part[0].way == ASKS &&
			  first_way(s, node, at->in[k].part[0].p.dst) == HERE;
		if (want[k] && s->p.sink == FLOW_MULTIPLE)
			grant(s, node, k, HERE);
	}
	if (s->p.sink == FLOW_MULTIPLE || at->busy[s->dirs])
		return;
	i = choose(s, node, want, transit, at->out[s->source].last);
	if (i < 0)
		return;
	at->out[s->source].last = (unsigned int)i;
	grant(s, node, (unsigned int)i, HERE);
}

static void ordered(struct naive *s, unsigned int node, unsigned int dir)
{
	struct at *at = &s->at[node];
	bool want[64] = { false }, transit[64] = { false };
	int way[64], i;

	for (unsigned int k = 0; k <= s->source; k++) {
		way[k] = asks_for(s, node, k);
		transit[k] = k != s->source && k / s->vcs == dir;
		want[k] = way[k] != ASKS && way[k] != HERE && (unsigned int)way[k] / s->vcs == dir &&
			  may(s, node, k, (unsigned int)way[k]);
	}
	i = choose(s, node, want, transit, at->out[dir * s->vcs].last);
	if (i < 0)
		return;
	at->out[dir * s->vcs].last = (unsigned int)i;
	grant(s, node, (unsigned int)i, (unsigned int)way[i]);
}

/*
 * Return: the output that the first packet of @input can take now by adaptive routing; ASKS if
 * none.
 */
static int adaptive_way(const struct naive *s, unsigned int node, unsigned int input)
{
	const struct at *at = &s->at[node];
	unsigned int dst = at->in[input].part[0].p.dst;
	int best = ASKS, way;
	bool room = false;

	for (unsigned int d = 0; d < s->p.shape.ndims; d++) {
		way = way_in(s, node, dst, d);
		if (way < 0 || (input != s->source && input % 2 == 0))
			continue;
		room |= at->out[2 * way + 1].c > 0;
		if (!at->busy[way] && at->out[2 * way + 1].c &&
		    (best == ASKS || at->out[2 * way + 1].c > at->out[best].c))
			best = 2 * way + 1;
	}
	if (room)
		return best;
	way = first_way(s, node, dst);
	return !at->busy[way] && may(s, node, input, 2 * (unsigned int)way) ? 2 * way : ASKS;
}

static void adaptive(struct naive *s, unsigned int node)
{
	struct at *at = &s->at[node];
	bool want[64] = { false }, transit[64];
	unsigned int last = at->turn;
	int i, way;

	for (unsigned int k = 0; k <= s->source; k++) {
		transit[k] = k != s->source;
		want[k] = at->in[k].n && at->in[k].part[0].way == ASKS &&
			  first_way(s, node, at->in[k].part[0].p.dst) != HERE;
	}
	while ((i = choose(s, node, want, transit, last)) >= 0) {
		want[i] = false;
		last = (unsigned int)i;
		way = adaptive_way(s, node, (unsigned int)i);
		if (way == ASKS)
			continue;
		at->turn = (unsigned int)i;
		grant(s, node, (unsigned int)i, (unsigned int)way);
	}
}

/* --- a cycle --------------------------------------------------------------- */

static void enqueue(struct naive *s, struct in *in, const struct naive_end *p, unsigned int come)
{
	if (in->n == QUEUE_MAX)
		abort();
	in->part[in->n] = (struct part){
		.p = *p, .come = come, .way = ASKS, .first_at = s->now,
	};
	in->n++;
}

static void left(struct naive *s, unsigned int node, unsigned int input)
{
	struct in *in = &s->at[node].in[input];
	int way = in->part[0].way;

	if (way != HERE) {
		s->at[node].busy[(unsigned int)way / s->vcs] = false;
	} else {
		s->at[node].busy[s->dirs] = false;
		s->end = realloc(s->end, (s->ends + 1) * sizeof(*s->end));
		s->end[s->ends] = in->part[0].p;
		s->end[s->ends++].now = s->now;
	}
	memmove(in->part, in->part + 1, --in->n * sizeof(*in->part));
	in->part[0].first_at = s->now;
	if (input == s->source && s->at[node].taken < s->at[node].lined)
		enqueue(s, in, &s->at[node].line[s->at[node].taken++], s->p.packet);
	if (input != s->source && s->p.freed == FLOW_TAIL) {
		freed(s, node, input, in->critical);
		in->critical = false;
	}
}

static void tails(struct naive *s)
{
	for (unsigned int node = 0; node < s->nodes; node++)
		for (unsigned int i = 0; i <= s->source; i++) {
			struct in *in = &s->at[node].in[i];

			if (in->n && in->part[0].way != ASKS && in->part[0].gone == s->p.packet)
				left(s, node, i);
		}
}

static void phit_came(struct naive *s, const struct later *l)
{
	struct in *in = &s->at[l->node].in[l->dir * s->vcs + l->vc];

	if (l->head)
		enqueue(s, in, &l->p, 1);
	else
		in->part[in->n - 1].come++;
}

static void respond(struct naive *s, const struct later *l)
{
	struct at *at = &s->at[l->node];
	struct out *o = &at->out[l->dir];

	if (at->busy[l->dir] || o->c <= o->b)
		return;
	for (unsigned int i = 0; i <= s->source; i++)
		if (asks_for(s, l->node, i) == (int)l->dir)
			return;
	o->c--;
	changed(s, o);
	at->busy[l->dir] = true;
	s->responses++;
	plan(s, s->p.response, LINE_FREE, l->node, l->dir, 0);
	plan(s, s->p.hop + s->p.response, FALSE_TAIL, peer(s, l->node, l->dir), l->dir, 0);
}

static void happen(struct naive *s, const struct later *l)
{
	struct out *o = &s->at[l->node].out[l->dir * s->vcs + l->vc];
	struct in *first;

	switch (l->what) {
	case PHIT:
		phit_came(s, l);
		break;
	case CREDIT:
	case CRITICAL:
		o->c++;
		o->b += l->what == CRITICAL;
		changed(s, o);
		break;
	case FALSE_TAIL:
		freed(s, l->node, l->dir, false);
		break;
	case HEAD_GONE:
		first = &s->at[l->node].in[l->dir * s->vcs + l->vc];
		freed(s, l->node, l->dir * s->vcs + l->vc, first->critical);
		first->critical = false;
		break;
	case LINE_FREE:
		s->at[l->node].busy[l->dir] = false;
		break;
	case ASK:
		respond(s, l);
		break;
	}
}

/* Handles all due events of kinds @first to @last, also those that they add for this cycle. */
static void due(struct naive *s, int first, int last)
{
	for (struct later **p = &s->later; *p; ) {
		struct later *l = *p;

		if (l->when != s->now || (int)l->what < first || (int)l->what > last) {
			p = &l->next;
			continue;
		}
		*p = l->next;
		happen(s, l);
		free(l);
	}
}

static void timers(struct naive *s)
{
	for (unsigned int node = 0; node < s->nodes; node++)
		for (unsigned int dir = 0; dir < s->dirs && s->vcs == 1; dir++) {
			struct out *o = &s->at[node].out[dir];

			if (!o->stuck_at || s->now - o->stuck_at < s->p.timer)
				continue;
			o->stuck_at = s->now;
			s->requests++;
			plan(s, s->p.hop, ASK, peer(s, node, opposite(s, dir)), dir, 0);
		}
}

static void births(struct naive *s)
{
	const struct flow_trace *t = s->p.trace;

	for (; s->traced < t->n && t->entry[s->traced].time + 2 <= s->now; s->traced++) {
		const struct flow_entry *e = &t->entry[s->traced];
		struct at *at = &s->at[e->src];

		at->line = realloc(at->line, (at->lined + 1) * sizeof(*at->line));
		at->line[at->lined++] = (struct naive_end){
			.src = e->src, .dst = e->dst, .born = s->now,
		};
	}
	for (unsigned int n = 0; n < s->nodes; n++) {
		struct at *at = &s->at[n];

		while (at->taken < at->lined && at->in[s->source].n < s->p.source_queue)
			enqueue(s, &at->in[s->source], &at->line[at->taken++], s->p.packet);
	}
}

/* Moves one phit of each packet that has been granted an output. */
static void phits(struct naive *s)
{
	for (unsigned int node = 0; node < s->nodes; node++)
		for (unsigned int i = 0; i <= s->source; i++) {
			struct in *in = &s->at[node].in[i];
			struct part *part = &in->part[0];
			struct later *l;

			if (!in->n || part->way == ASKS)
				continue;
			if (part->gone >= part->come)
				abort();	/* the link would pause in the middle of a packet */
			if (part->way != HERE) {
				unsigned int dir = (unsigned int)part->way / s->vcs;

				l = plan(s, s->p.hop, PHIT, peer(s, node, dir), dir,
					 (unsigned int)part->way % s->vcs);
				l->head = !part->gone;
				l->p = part->p;
			}
			part->gone++;
		}
}

void naive_step(struct naive *s)
{
	s->now++;
	tails(s);
	due(s, FALSE_TAIL, HEAD_GONE);
	due(s, PHIT, PHIT);
	due(s, CREDIT, CRITICAL);
	due(s, LINE_FREE, LINE_FREE);
	timers(s);
	due(s, ASK, ASK);
	births(s);
	for (unsigned int node = 0; node < s->nodes; node++) {
		sinks(s, node);
		if (s->p.policy == &flow_adaptive)
			adaptive(s, node);
		for (unsigned int dir = 0; dir < s->dirs && s->p.policy != &flow_adaptive; dir++)
			if (!s->at[node].busy[dir])
				ordered(s, node, dir);
	}
	phits(s);
}

/* --- set-up ---------------------------------------------------------------- */

/* Spreads a ring's critical bubbles over its buffers as evenly as whole numbers allow. */
static void lay_bubbles(struct naive *s, unsigned int node, unsigned int dir)
{
	unsigned int k = s->p.shape.size[dim_of(s, dir)], buffers = k * s->p.queue;

	unsigned int bubbles = flow_ring_bubbles(&s->p, dim_of(s, dir));

	for (unsigned int i = 0; i < buffers; i++) {
		if (i && i % s->p.queue == 0)
			node = peer(s, node, dir);
		if ((i + 1) * bubbles / buffers != i * bubbles / buffers)
			s->at[node].out[dir].b++;
	}
}

struct naive *naive_new(const struct flow_params *p)
{
	struct naive *s = calloc(1, sizeof(*s));

	s->p = *p;
	s->now = 1;
	s->vcs = p->policy == &flow_dateline || p->policy == &flow_adaptive ? 2 : 1;
	s->dirs = 2u * p->shape.ndims;
	s->source = s->dirs * s->vcs;
	s->nodes = torus_nodes(&p->shape);
	s->at = calloc(s->nodes, sizeof(*s->at));
	for (unsigned int n = 0; n < s->nodes; n++) {
		struct at *at = &s->at[n];

		at->in = calloc(s->source + 1, sizeof(*at->in));
		at->out = calloc(s->source + 1, sizeof(*at->out));
		at->busy = calloc(s->dirs + 1, sizeof(*at->busy));
		for (unsigned int i = 0; i < s->source; i++)
			at->out[i].c = p->queue;
	}
	for (unsigned int n = 0; bubbly(s) && n < s->nodes; n++)
		for (unsigned int dir = 0; dir < s->dirs; dir++) {
			struct torus_coords c;

			torus_node_coords(&p->shape, n, &c);
			if (!c.c[dim_of(s, dir)] && p->shape.size[dim_of(s, dir)] > 1)
				lay_bubbles(s, n, dir);
		}
	for (unsigned int n = 0; n < s->nodes; n++)
		for (unsigned int dir = 0; dir < s->dirs; dir++)
			changed(s, &s->at[n].out[dir]);
	return s;
}

void naive_free(struct naive *s)
{
	while (s->later) {
		struct later *l = s->later;

		s->later = l->next;
		free(l);
	}
	for (unsigned int n = 0; n < s->nodes; n++) {
		free(s->at[n].in);
		free(s->at[n].out);
		free(s->at[n].busy);
		free(s->at[n].line);
	}
	free(s->at);
	free(s->end);
	free(s);
}

size_t naive_ends(const struct naive *s, const struct naive_end **ends)
{
	*ends = s->end;
	return s->ends;
}

void naive_false_packets(const struct naive *s, uint64_t *requests, uint64_t *responses)
{
	*requests = s->requests;
	*responses = s->responses;
}
