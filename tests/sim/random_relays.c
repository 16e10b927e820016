// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories of small fabrics so broken that some pairs of nodes need relays. From the
 * beginning nodes are without power and cables are cut. Then relays die and come back, further
 * cables are cut and mended, ports are excluded, and managers restart, at random times during and
 * after recoveries. The root dies and restarts, too, and another node takes over. Now and then the
 * fabric is brought to rest, unless parts may have roots of their own: then the rows are verified,
 * and a new packet must get through between all joined nodes. At the end everything is mended as in
 * random_faults.c.
 *
 *	test_random_relays [FIRST [COUNT] | NAME]	see series.h; VERBOSE=1..4 prints the managers' log
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>

#include "series.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

#define NODES_MAX 20
#define CANDIDATES 8		/* nodes that become root if it ends */

/* Add new acts at the end and set origin.acts of the named histories: they stay as they were. */
enum act {
	CUT,
	MEND,
	FLAP,
	MUTE,			/* a cable loses all packets in one direction */
	SPEAK,
	KILL_RELAY,
	KILL,
	REVIVE,
	EXCLUDE,
	INCLUDE,
	MANAGER_RESTART,
	ROOT_RESTART,
	LOOK,			/* the fabric comes to rest and is checked: look() */
	ACTS,
};

/**
 * struct ruin - a history
 * @dead: nodes without power from the beginning; they get power only at the end
 * @excluded: the node of each port that was excluded
 * @ended: a root did, or a manager, and since then not all were found joined: a part of the
 *	fabric may have a root of its own
 */
struct ruin {
	struct trial s;
	uint64_t random;
	bool dead[NODES_MAX];
	uint32_t excluded[NODES_MAX];
	unsigned int nexcluded;
	bool ended;
};

static atomic_ullong rows_looked_at;	/* rows through relays that look() has checked */

/* Sets @closed to what the table must exclude, by the state of cables and power. */
static void closed_of(struct world *w, uint16_t *closed)
{
	memset(closed, 0, w->nodes * sizeof(*closed));
	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *c = &w->cable[i];

		for (unsigned int e = 0; e < 2; e++)
			if (!world_cable_whole(w, i))
				closed[c->node[e]] |= (uint16_t)(1u << c->port[e]);
	}
}

/* --- checks of a fabric at rest ------------------------------------------------------ */

struct look {
	struct ruin *r;
	struct torus_health *health;
	uint64_t before[NODES_MAX][NODES_MAX];
};

static bool due(const struct look *l, uint32_t a, uint32_t b)
{
	struct world *w = l->r->s.w;

	return a != b && w->node[a].managed && w->node[b].managed &&
	       torus_health_component(l->health, a) == torus_health_component(l->health, b);
}

/* Finds a pair of joined nodes that has got no packet through since look() began. */
static bool waits(const struct look *l, uint32_t *a, uint32_t *b)
{
	struct world *w = l->r->s.w;

	for (*a = 0; *a < w->nodes; ++*a)
		for (*b = 0; *b < w->nodes; ++*b)
			if (due(l, *a, *b) && check_flow_between(l->r->s.flow, *a, *b) ==
					      l->before[*a][*b])
				return true;
	return false;
}

/* A node that started where no Init reaches it cannot join: turns it off, so that the world can
 * settle. Return: whether all others are joined by cables. */
static bool turn_off_strays(struct world *w)
{
	uint32_t root = world_root(w);
	uint16_t closed[NODES_MAX];
	struct torus_health *h;
	bool joined = true;

	closed_of(w, closed);
	if (torus_health_new(&world_config(w)->shape, closed, &h))
		abort();
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!w->node[i].managed ||
		    torus_health_component(h, i) == torus_health_component(h, root))
			continue;
		if (fm_version(world_fm(w, i)))
			joined = false;
		else
			world_power(w, i, false);
	}
	torus_health_free(h);
	return joined;
}

/*
 * Return: true if one root must lead all nodes that run: a candidate is among them, and no part may
 * have a root of its own.
 */
static bool has_root(struct ruin *r)
{
	bool joined = turn_off_strays(r->s.w), candidate = false;

	for (uint32_t i = 0; i < CANDIDATES && i < r->s.w->nodes; i++)
		candidate |= world_managed(r->s.w, i);
	if (joined && candidate)
		r->ended = false;
	return candidate && !r->ended;
}

/*
 * Brings the fabric to rest, checks table and rows, and waits until a packet has come through
 * between all joined nodes. This may take long: some worlds have slow cables and more traffic than
 * the broken fabric carries, so many packets are queued.
 */
static void look(struct ruin *r)
{
	struct trial *s = &r->s;
	struct look l = { .r = r };
	uint32_t a, b, root, unused;
	struct fm_status st;
	uint64_t relayed;
	const char *wrong;
	char buf[200];

	if (!has_root(r))
		return;
	trial_rest(s, 30 * SEC);
	if (s->wrong[0])
		return;
	wrong = trial_excluded(s) ? NULL : check_table(s->w, buf, sizeof(buf));
	if (!wrong)
		wrong = check_rows(s->w, buf, sizeof(buf));
	if (wrong) {
		trial_fail(s, "at rest: %s", wrong);
		return;
	}
	root = world_root(s->w);
	if (torus_health_new(&world_config(s->w)->shape, fm_exclusions(world_fm(s->w, root)),
			     &l.health))
		abort();
	relayed = trial_relays(&world_config(s->w)->shape, fm_exclusions(world_fm(s->w, root)),
			    &(uint64_t){ 1 }, &unused);
	atomic_fetch_add(&rows_looked_at, relayed);
	fm_status(world_fm(s->w, root), &st);
	if (st.relayed != relayed)
		trial_fail(s, "the status says that %llu pairs need relays, but %llu do",
			   (unsigned long long)st.relayed, (unsigned long long)relayed);
	for (a = 0; a < s->w->nodes; a++)
		for (b = 0; b < s->w->nodes; b++)
			l.before[a][b] = check_flow_between(s->flow, a, b);
	world_traffic(s->w, 2 * MS);
	for (unsigned int i = 0; i < 3000 && waits(&l, &a, &b); i++)
		world_run(s->w, 20 * MS);
	world_traffic(s->w, s->interval);
	if (waits(&l, &a, &b))
		trial_fail(s, "no packet from %u arrives at %u any more", a, b);
	torus_health_free(l.health);
}

/* --- acts ----------------------------------------------------------------------------- */

static void kill(struct ruin *r, uint32_t node)
{
	r->ended |= node == world_root(r->s.w);
	world_power(r->s.w, node, false);
}

static void kill_relay(struct ruin *r)
{
	uint16_t closed[NODES_MAX];
	uint32_t relay = 0;

	closed_of(r->s.w, closed);
	if (trial_relays(&world_config(r->s.w)->shape, closed, &r->random, &relay))
		kill(r, relay);
}

static void exclude(struct ruin *r, uint32_t node)
{
	unsigned int port = random_below(&r->random, r->s.w->nports);

	if (r->nexcluded < NODES_MAX && !trial_exclude(&r->s, node, (int)port, true))
		r->excluded[r->nexcluded++] = node;
}

static void include_all(struct ruin *r)
{
	while (r->nexcluded && !trial_exclude(&r->s, r->excluded[r->nexcluded - 1], -1, false))
		r->nexcluded--;
}

static void restart(struct ruin *r, uint32_t node)
{
	if (!world_managed(r->s.w, node))
		return;
	r->ended = true;
	world_manager(r->s.w, node, false);
	trial_run(&r->s, trial_some_time(&r->random, US, 8));
	world_manager(r->s.w, node, true);
}

static void act(struct ruin *r)
{
	struct world *w = r->s.w;
	uint32_t cable = random_below(&r->random, w->ncables);
	uint32_t node = random_below(&r->random, w->nodes);

	switch (random_below(&r->random, ACTS)) {
	case CUT:
		world_cut(w, cable, true);
		break;
	case MEND:
		world_cut(w, cable, false);
		break;
	case FLAP:
		world_cut(w, cable, true);
		trial_run(&r->s, trial_some_time(&r->random, US, 8) / 16);
		world_cut(w, cable, false);
		break;
	case MUTE:
		world_mute(w, cable, random_below(&r->random, 2), true);
		break;
	case SPEAK:
		for (uint32_t i = 0; i < w->ncables; i++)
			world_silence(w, i, false);
		break;
	case KILL_RELAY:
		kill_relay(r);
		break;
	case KILL:
		kill(r, node);
		break;
	case REVIVE:
		for (uint32_t i = 0; i < w->nodes; i++)
			if (!r->dead[i])
				world_power(w, i, true);
		break;
	case EXCLUDE:
		exclude(r, node);
		break;
	case INCLUDE:
		include_all(r);
		break;
	case MANAGER_RESTART:
		restart(r, node);
		break;
	case ROOT_RESTART:
		restart(r, world_root(w));
		break;
	case LOOK:
		trial_run(&r->s, 400 * MS);	/* time for silence to be noticed */
		look(r);
		break;
	}
}

/* --- begin and end --------------------------------------------------------------------- */

/* Return: true if Inits reach all nodes that have power. */
static bool all_joined(const struct ruin *r, const struct torus_shape *shape,
		       const uint16_t *closed)
{
	struct torus_health *h;
	bool all = true;

	if (torus_health_new(shape, closed, &h))
		abort();
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		all &= r->dead[i] || !torus_health_component(h, i);
	torus_health_free(h);
	return all;
}

/*
 * Draws dead nodes and cut cables until some pair needs a relay.
 * @whole: set to whether Inits reach all nodes in spite of the cut cables
 * Return: false if no draw needed a relay.
 */
static bool draw(struct ruin *r, const struct torus_shape *shape, bool *cut, bool *whole)
{
	uint32_t nodes = torus_nodes(shape), relay;

	for (unsigned int tries = 0; tries < 30; tries++) {
		uint32_t kills = random_below(&r->random, 5), share = 5 + random_below(&r->random, 40);
		uint16_t closed[NODES_MAX] = { 0 }, dark[NODES_MAX] = { 0 };

		memset(r->dead, 0, sizeof(r->dead));
		for (uint32_t i = 0; i < kills && nodes > 8; i++)
			r->dead[1 + random_below(&r->random, nodes - 1)] = true;
		for (uint32_t c = 0; c < nodes * shape->ndims; c++) {
			uint32_t a = c / shape->ndims, d = c % shape->ndims;
			uint32_t b = torus_neighbour(shape, a, d);

			cut[c] = random_below(&r->random, 100) < share;
			if (r->dead[a] || r->dead[b])
				dark[a] |= (uint16_t)(1u << d);
			closed[a] |= (uint16_t)(dark[a] | cut[c] << d);
		}
		torus_exclusions_close(shape, closed);
		torus_exclusions_close(shape, dark);
		if (!all_joined(r, shape, dark))
			continue;
		*whole = all_joined(r, shape, closed);
		if (trial_relays(shape, closed, &r->random, &relay))
			return true;
	}
	return false;
}

static void begin(struct ruin *r, struct world_config *c)
{
	bool cut[NODES_MAX * TORUS_MAX_DIMS], whole, late;

	do {
		trial_shape(&r->random, NODES_MAX, &c->shape);
	} while (torus_nodes(&c->shape) < 6 || !draw(r, &c->shape, cut, &whole));
	c->fanout = 1 + random_below(&r->random, 8);
	c->member_max = 300 * MS;
	c->link_latency = (2 * US) << random_below(&r->random, 8);
	c->frame_loss = random_below(&r->random, 3) ? 0 : 500;
	/* Cut the cables after the bring-up? A node that no Init reaches would never join. */
	late = random_below(&r->random, 2) || !whole;
	trial_begin(&r->s, c);
	for (uint32_t i = 0; i < world_nodes(r->s.w); i++)
		if (!r->dead[i])
			world_power(r->s.w, i, true);
	for (uint32_t i = 0; !late && i < world_cables(r->s.w); i++)
		world_cut(r->s.w, i, cut[i]);
	world_run(r->s.w, 1 * SEC);
	trial_rest(&r->s, 20 * SEC);
	trial_traffic(&r->s, c->frame_loss ? 2 * MS :
			     100 * US << random_below(&r->random, 4));
	world_run(r->s.w, 5 * MS);
	for (uint32_t i = 0; late && i < world_cables(r->s.w); i++)
		world_cut(r->s.w, i, cut[i]);
}

/* Mends all, and includes what could not be included before, because there was no root. */
static void mend_all(struct ruin *r)
{
	struct world *w = r->s.w;

	for (uint32_t i = 0; i < world_cables(w); i++) {
		world_cut(w, i, false);
		world_silence(w, i, false);
	}
	for (uint32_t i = 0; i < w->nodes; i++)
		world_power(w, i, true);
	for (unsigned int tries = 0; tries < 100 && r->nexcluded; tries++) {
		trial_run(&r->s, 100 * MS);
		include_all(r);
	}
}

/* Includes all ports again. A root that ends takes with it orders that it has not acknowledged. */
static void mend(struct ruin *r)
{
	include_all(r);
	if (r->nexcluded)
		mend_all(r);
	for (unsigned int tries = 0; tries < 100 && trial_excluded(&r->s); tries++) {
		for (uint32_t i = 0; i < world_nodes(r->s.w); i++)
			trial_exclude(&r->s, i, -1, false);
		trial_run(&r->s, 50 * MS);
	}
}

static bool history(const struct origin *o, char *wrong, size_t room)
{
	struct ruin r = { .random = o->stream };
	struct world_config c;
	char text[TORUS_TEXT_MAX];
	bool good;

	world_config_default(&c);
	c.seed = o->seed;
	c.adaptive = !o->in_order;
	c.discover = false;
	c.vanish = o->seed % 2;
	begin(&r, &c);
	r.s.sparing = !o->crowded;
	if (random_below(&r.random, 2))
		look(&r);
	if (!random_below(&r.random, 3))
		trial_disturb(r.s.w, &r.random, 200, 1000, 8);
	for (unsigned int i = 3 + random_below(&r.random, 8); i && !r.s.wrong[0]; i--) {
		act(&r);
		trial_run(&r.s, trial_some_time(&r.random, US, 8));
	}
	world_disturb(r.s.w, 0, 0, 50 * US);
	trial_run(&r.s, 400 * MS);
	if (!r.s.wrong[0])
		look(&r);
	mend(&r);
	good = trial_end(&r.s);
	snprintf(wrong, room, "%s: %s", torus_shape_text(&c.shape, text), r.s.wrong);
	return good;
}

static const struct origin named[] = {
	{ "full_relays", 410, 0, 0, true, true,
	  "hosts kept their queues full and left no room for acknowledgements; the requests for "
	  "these filled the rest" },
	{ "gap_of_returned", 2170, 0, 0, false, false,
	  "a restarted destination got a parked packet and counted later ones as lost, which had "
	  "come back to their source; the checker did not know of these losses" },
	{ "kept_with_an_absent_node", 626, 0, 0, false, false,
	  "a kept table without some node was a malformed message to the root that asked for it" },
	{ "first_link_of_a_part", 534, 0, 0, false, false,
	  "a link between two parts was up for the first time, so it was not closed; the checker took "
	  "that for a link to a node that was judged dead, though no row led over it" },
	{ "asks_in_an_earlier_epoch", 1813, 0, 0, false, false,
	  "a node asked to be root, and told of an earlier epoch than its neighbours knew of: they "
	  "followed a later root, which was lost, for ever" },
	{ "given_up_after_the_drain", 90010, 0, 0, false, false,
	  "an error of check_drain: a link that loses all was given up between the end of the drain, which "
	  "had waited for its packets in vain, and the replay" },
	{ "included_at_a_root_that_ended", 80123, 0, 0, false, false,
	  "an error of the history: a root ended before it acknowledged that a port was included, and "
	  "nobody ordered it again" },
	{ "late_packets_in_the_base", 770000005, 0, 0, false, false,
	  "packets that were only late when a drain ended without proof were counted as missing for "
	  "good, and proved a later drain while others were on their way" },
};

int main(int argc, char **argv)
{
	int status = series_main(&(struct series) {
		.name = "random_relays",
		.count = 150,
		.history = history,
		.named = named,
		.nnamed = sizeof(named) / sizeof(named[0]),
	}, argc, argv);

	printf("# %llu rows through relays were checked\n", rows_looked_at);
	if (argc == 1 && !rows_looked_at) {
		printf("not ok - random_relays: no row went through a relay\n");
		return 1;
	}
	return status;
}
