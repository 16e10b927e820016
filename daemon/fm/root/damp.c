// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: damping of links that flap
 *
 * Each loss of a link that was up costs the fabric a recovery, and its return another. So does an
 * Init that shows a fault of the port (its problem, bootstrap.c), and a change of the neighbour at
 * a link that stayed up. A neighbour can cause as many of these as it likes by its Inits. So they
 * count as losses, too.
 *
 * The penalty of a port is computed as in RFC 2439: each loss adds one flap, and the penalty halves
 * every flap_half_life. At flap_limit (less one half, because the first losses have faded a little)
 * the port is held down, until the penalty is half of flap_limit. Losses while it is held count,
 * too, so a port that flaps for longer is held for longer, but never more than hold_max after the
 * last loss. fabricctl include ends a hold at once.
 *
 * Only the return of a link to the table is delayed; a loss acts at once. The table excludes a held
 * port in the same way as the port of a link that is down, and a recovery does not distinguish
 * them. So its proof (recovery.c) holds. If the table excludes the port already, no new table is
 * made for changes at it while it is held: no packet was sent over it since it was excluded, so the
 * root need not learn how a later session ended. Meanwhile its node repeats its port row, less and
 * less often, until a table contains it.
 *
 * No hold cuts a node off. If a held link is up at both ends, and no path of other links joins the
 * two ends, the hold ends at once: a link that is lost now and then is better than none. Packets
 * over it have to wait each time, whereas packets to a node that is cut off come back as
 * unreachable.
 *
 * A root that has just stood still (node/lag.c) counts no loss for a while. NICs may have stood
 * still on the same machine, and all their links are lost then, though no cable is bad.
 *
 * Memory: a few bytes for each port of a node that has lost a link. A root that starts again has
 * forgotten all losses; a node that restarts costs each of its links one flap.
 *
 * Tests: tests/unit/test_fm_damp.c, tests/sim/test_damp.c.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/damp.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"

#define UNIT 1024U		/* penalty that one flap adds */
#define PENALTY_MAX (UINT32_MAX - UNIT)

/**
 * struct fm_flap - damping of a port: its @penalty at the time @at; @held: the port is held down
 */
struct fm_flap {
	uint64_t at;
	uint32_t penalty;
	bool held;
};

/**
 * struct fm_damp - the ports that are held down
 * @held: roster indices of the @n nodes that have such ports
 * @at: when the next hold ends; NEVER: there is none
 */
struct fm_damp {
	uint32_t *held;
	uint32_t n, room;
	uint64_t at;
};

bool fm_damp_new(struct fm_root *r)
{
	r->damp = calloc(1, sizeof(*r->damp));
	if (r->damp)
		r->damp->at = NEVER;
	return r->damp;
}

/*
 * Return: the penalty that is left after @ns; it halves every @half ns. Within a half-life it falls
 * linearly, which differs from the exponential by 6 % at most.
 */
static uint32_t fade_penalty(uint32_t penalty, uint64_t ns, uint64_t half)
{
	uint64_t halvings = ns / half, rest = ns % half / 1024;

	if (halvings >= 32)
		return 0;
	penalty >>= halvings;
	return penalty - (uint32_t)(penalty * rest / (half / 1024) / 2);
}

/* Return: the penalty from which on a port is held down. */
static uint32_t hold_at(const struct fm *fm)
{
	return fm->cfg.flap_limit * UNIT - UNIT / 2;
}

/* Return: the penalty at which a hold ends. */
static uint32_t reuse_at(const struct fm *fm)
{
	return fm->cfg.flap_limit * UNIT / 2;
}

/* Return: when the hold of a port ends, unless it flaps meanwhile. */
static uint64_t reuse_time(const struct fm *fm, const struct fm_flap *f)
{
	uint64_t half = fm->cfg.flap_half_life, at = f->at;
	uint32_t left = f->penalty, reuse = reuse_at(fm);

	for (; left / 2 >= reuse; left /= 2)
		at += half;
	if (left > reuse)
		at += half / 1024 * 2 * (left - reuse) / left * 1024;
	return earlier(at, f->at + fm->cfg.hold_max);
}

/*
 * Return: the node at the other end of the cable at port @p, if its row confirms this cable, and
 * its port in @q; NULL if it is not known.
 */
static const struct fm_record *other_end(const struct fm *fm, const struct fm_record *m,
					 unsigned int p, unsigned int *q)
{
	const struct fm_port_row *mine = &m->row.port[p];
	const struct fm_record *o = mine->peer_guid ? fm_record(fm->root, mine->peer_guid) : NULL;

	*q = mine->peer_port;
	if (!o || o == m || *q >= o->row.nports || o->row.port[*q].peer_guid != m->guid ||
	    o->row.port[*q].peer_port != p)
		return NULL;
	return o;
}

static bool is_held(const struct fm_record *m, unsigned int p)
{
	return m->flap && m->flap[p].held;
}

/*
 * Return: when the hold of a cable ends, unless it flaps meanwhile. The holds of both ends end at
 * the same time; otherwise the return of the link would need two tables.
 */
static uint64_t cable_time(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	uint64_t at = reuse_time(fm, &m->flap[p]);
	unsigned int q;
	const struct fm_record *o = other_end(fm, m, p, &q);

	return o && is_held(o, q) ? later(at, reuse_time(fm, &o->flap[q])) : at;
}

uint16_t fm_damp_mask(const struct fm *fm, const struct fm_record *m)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2 * fm->ndims; p++)
		if (is_held(m, p))
			mask |= (uint16_t)(1u << p);
	return mask;
}

/*
 * Return: true if the hold is reported for this end of the cable; if both ends are held, it is
 * reported for only one.
 */
static bool reports_hold(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	unsigned int q;
	const struct fm_record *o = other_end(fm, m, p, &q);

	return is_held(m, p) && !(o && is_held(o, q) && o->guid < m->guid);
}

bool fm_held(const struct fm *fm, unsigned int i, uint64_t now, struct fm_hold *out)
{
	const struct fm_damp *d = fm->root ? fm->root->damp : NULL;

	for (uint32_t k = 0; d && k < d->n; k++) {
		const struct fm_record *m = fm_record_no(fm->root, d->held[k]), *o;

		for (unsigned int p = 0; m->node != TORUS_NO_NODE && p < 2 * fm->ndims; p++) {
			uint64_t at;

			if (!reports_hold(fm, m, p) || i--)
				continue;
			*out = (struct fm_hold) { .node = m->node, .port = p };
			o = other_end(fm, m, p, &out->peer_port);
			out->peer = o ? o->node : TORUS_NO_NODE;
			at = cable_time(fm, m, p);
			out->left = at - earlier(at, now);
			return true;
		}
	}
	return false;
}

/* --- problems ---------------------------------------------------------------------- */

/*
 * Sets the problem of a held port. If both ends are held, it is called for both, and sets the same
 * problem twice.
 */
static void set_hold_problem(struct fm *fm, const struct fm_record *m, unsigned int p)
{
	char here[160], there[160] = "a node that is not known";
	unsigned int q;
	const struct fm_record *o = other_end(fm, m, p, &q);

	if (o && o->guid < m->guid) {
		set_hold_problem(fm, o, q);
		return;
	}
	if (o)
		fm_end_text(fm, o, q, there, sizeof(there));
	fm_problem_of(fm, m->node, "flap", fm_mix(m->guid) ^ p,
		      "the link from %s to %s fails again and again: it is held down until it has "
		      "been quiet for a while",
		      fm_end_text(fm, m, p, here, sizeof(here)), there);
}

/* Reports all holds as problems, and finds when the next one ends. */
static void update_holds(struct fm *fm)
{
	struct fm_damp *d = fm->root->damp;
	uint32_t left = 0;

	d->at = NEVER;
	fm_problems_mark(fm, "flap");
	for (uint32_t i = 0; i < d->n; i++) {
		const struct fm_record *m = fm_record_no(fm->root, d->held[i]);
		bool some = false;

		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
			if (!is_held(m, p))
				continue;
			some = true;
			d->at = earlier(d->at, cable_time(fm, m, p));
			set_hold_problem(fm, m, p);
		}
		if (some)
			d->held[left++] = d->held[i];
	}
	d->n = left;
	fm_problems_sweep(fm, "flap");
}

/* --- losses and the ends of holds ---------------------------------------------------- */

/*
 * Adds @m to the list of nodes that have held ports, unless it is there. Return: false if there is
 * no memory.
 */
static bool list_held(struct fm_root *r, const struct fm_record *m)
{
	struct fm_damp *d = r->damp;
	uint32_t self = fm_record_number(r, m), room = d->room ? 2 * d->room : 16;
	uint32_t *more;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->held[i] == self)
			return true;
	if (d->n == d->room) {
		more = realloc(d->held, room * sizeof(*more));
		if (!more)
			return false;
		d->held = more;
		d->room = room;
	}
	d->held[d->n++] = self;
	return true;
}

/* Counts the loss of a link that was up. If there is no memory, the loss is not counted. */
static void count_loss(struct fm *fm, struct fm_record *m, unsigned int p)
{
	struct fm_flap *f;

	if (!m->flap)
		m->flap = calloc(TORUS_MAX_PORTS, sizeof(*m->flap));
	if (!m->flap)
		return;
	f = &m->flap[p];
	invariant(f->at <= fm->now);
	f->penalty = fade_penalty(f->penalty, fm->now - f->at, fm->cfg.flap_half_life);
	if (f->penalty < PENALTY_MAX)
		f->penalty += UNIT;
	f->at = fm->now;
	if (f->penalty >= hold_at(fm))
		f->held = list_held(fm->root, m);
}

/*
 * Return: true if @row differs from the former port row only at ports that the table excludes as
 * held.
 */
static bool is_row_excluded(const struct fm *fm, const struct fm_record *m,
			    const struct fm_row *row)
{
	const struct fm_table *t = &fm->table;
	const struct fm_entry *e = m->node < t->nodes ? &t->entry[m->node] : NULL;

	if (!e || e->guid != m->guid || e->epoch != m->epoch || m->row.nports != row->nports)
		return false;
	for (unsigned int p = 0; p < row->nports; p++)
		if (!fm_port_row_same(&m->row.port[p], &row->port[p]) &&
		    (!is_held(m, p) || !(e->held & 1u << p)))
			return false;
	return true;
}

/* Return: true if a port that was up is down, has a problem, or has another neighbour. */
static bool is_loss(const struct fm_port_row *was, const struct fm_port_row *is)
{
	if (was->state != FM_PORT_UP)
		return false;
	return is->state != FM_PORT_UP || (is->problem && is->problem != was->problem) ||
	       (was->peer_guid &&
		(is->peer_guid != was->peer_guid || is->peer_port != was->peer_port));
}

bool fm_damp_row(struct fm *fm, struct fm_record *m, const struct fm_row *row)
{
	bool any = false;

	for (unsigned int p = 0; fm->cfg.flap_limit && p < row->nports; p++) {
		if (!is_loss(&m->row.port[p], &row->port[p]) || fm->now < fm_lag_doubts(fm))
			continue;
		count_loss(fm, m, p);
		any |= is_held(m, p);
	}
	if (any)
		update_holds(fm);
	return is_row_excluded(fm, m, row);
}

/*
 * Ends the hold of a port, if it is held. @m may be NULL. @why: text added to the cause of the next
 * table.
 */
static void end_hold(struct fm *fm, struct fm_record *m, unsigned int p, const char *why)
{
	char text[160];

	if (!m || !is_held(m, p))
		return;
	m->flap[p].held = false;
	if (m->flap[p].penalty > reuse_at(fm))
		m->flap[p].penalty = reuse_at(fm);
	m->flap[p].at = fm->now;
	fm_change_node(fm, m->node);
	fm_demand(fm, 0, "%s is no longer held down%s",
		  fm_end_text(fm, m, p, text, sizeof(text)), why);
}

/* --- holds that would cut a node off --------------------------------------------------- */

/*
 * Return: the node at the other end of the cable at @p, if the next table could use this cable were
 * it not held; else NULL.
 */
static const struct fm_record *linked_to(const struct fm *fm, const struct fm_record *m,
					 unsigned int p, unsigned int *q)
{
	const struct fm_record *o = other_end(fm, m, p, q);
	const uint16_t *admin = fm->root->admin;

	if (!o || m->node == TORUS_NO_NODE || o->node == TORUS_NO_NODE ||
	    m->state == FM_NODE_DEAD || o->state == FM_NODE_DEAD ||
	    m->row.port[p].state != FM_PORT_UP || o->row.port[*q].state != FM_PORT_UP ||
	    m->row.port[p].problem || o->row.port[*q].problem ||
	    admin[m->node] & 1u << p || admin[o->node] & 1u << *q)
		return NULL;
	return o;
}

/* Return: true if a path of links that are up, and not held down, joins the two nodes. */
static bool has_other_path(struct fm *fm, const struct fm_record *from, const struct fm_record *to)
{
	struct fm_root *r = fm->root;
	uint32_t *queue = fm_roster_scratch(r), n = 1, mark = ++r->search;

	queue[0] = fm_record_number(r, from);
	fm_record_no(r, queue[0])->search = mark;
	for (uint32_t head = 0; head < n; head++) {
		const struct fm_record *m = fm_record_no(r, queue[head]);

		for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
			unsigned int q;
			const struct fm_record *o = linked_to(fm, m, p, &q);

			if (!o || o->search == mark || is_held(m, p) || is_held(o, q))
				continue;
			if (o == to)
				return true;
			queue[n] = fm_record_number(r, o);
			fm_record_no(r, queue[n++])->search = mark;
		}
	}
	return false;
}

/* Ends the holds of those cables of @m whose ends no other path joins. */
static void spare_cables(struct fm *fm, struct fm_record *m)
{
	static const char why[] = ": no other path leads there";

	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		unsigned int q;
		const struct fm_record *o = linked_to(fm, m, p, &q);

		if (!o || (!is_held(m, p) && !is_held(o, q)) || has_other_path(fm, m, o))
			continue;
		end_hold(fm, m, p, why);
		end_hold(fm, fm_record_no(fm->root, fm_record_number(fm->root, o)), q, why);
	}
}

void fm_damp_spare(struct fm *fm, struct fm_record *m)
{
	struct fm_damp *d = fm->root->damp;

	if (!d->n || !fm->root->settled)
		return;
	if (m)
		spare_cables(fm, m);
	for (uint32_t i = 0; !m && i < d->n; i++)
		spare_cables(fm, fm_record_no(fm->root, d->held[i]));
	update_holds(fm);
}

bool fm_damp_holds(const struct fm *fm, uint32_t node, uint16_t ports)
{
	const struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		const struct fm_record *here = fm_record_at(fm->root, node);
		uint32_t peer = torus_neighbour(shape, node, p);
		const struct fm_record *there = fm_record_at(fm->root, peer);

		if (ports & 1u << p &&
		    ((here && is_held(here, p)) ||
		     (there && is_held(there, torus_dir_opposite(shape, p)))))
			return true;
	}
	return false;
}

void fm_damp_end(struct fm *fm, uint32_t node, uint16_t ports)
{
	const struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		if (!(ports & 1u << p))
			continue;
		end_hold(fm, fm_record_at(fm->root, node), p, "");
		end_hold(fm, fm_record_at(fm->root, torus_neighbour(shape, node, p)),
			 torus_dir_opposite(shape, p), "");
	}
	update_holds(fm);
}

void fm_damp_due(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (fm->now < r->damp->at)
		return;
	for (uint32_t i = 0; i < r->damp->n; i++) {
		struct fm_record *m = fm_record_no(r, r->damp->held[i]);

		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
			if (fm->now >= cable_time(fm, m, p))
				end_hold(fm, m, p, "");
	}
	update_holds(fm);
}

uint64_t fm_damp_expiry(const struct fm *fm)
{
	return fm->root->damp->at;
}

void fm_damp_free(struct fm_root *r)
{
	if (!r->damp)
		return;
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		free(fm_record_no(r, i)->flap);
	free(r->damp->held);
	free(r->damp);
}
