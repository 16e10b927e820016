// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: this node's part in jobs that grow
 *
 * The root orders a growth by GROW, which goes down the tree. The node that it names begins, and
 * finds the other members from neighbour to neighbour (../grow/growth.c); the root has no part in
 * that. When all members have numbers, each of them sends GROWN to the root, and when the root has
 * all of them, it begins the job (root/grown.c). If the growth ends instead, the first member
 * reports why.
 *
 * GROWN is repeated, since it is lost with a connection. Only the answer that a growth cannot begin
 * is not: the root repeats GROW until it has an answer, and the node may still report another
 * growth. A member stops when the table has put it into a job.
 *
 * GROW reaches all nodes, and each node keeps it as a permit, until HOLD has passed, the root gives
 * the growth up (GROW without nodes), or the node joins another root. A node takes part only in
 * growths for which it has a permit, and leaves them when that ends. So:
 *
 *  1. No node stays reserved for a job that never begins: not after a takeover, and not for more
 *     than HOLD after an order of the root, whatever its neighbours send
 *     (members_leave_when_they_join_another_root(), members_leave_by_themselves_without_a_root()).
 *  2. A neighbour cannot reserve a node by a growth that no root has ordered
 *     (growth_that_no_root_has_ordered_gets_no_node()). It can take nodes into a growth that the
 *     root has ordered, and make that fail: until the root gives it up, HOLD at most.
 *
 * An invitation may be faster than GROW, which goes down the tree. It is kept until GROW comes, and
 * if that takes longer than EARLY, it is refused. Only the last message of a port is kept, because
 * a message makes up for earlier ones.
 *
 * A growth only proposes nodes. A member of a growth may come into another job, because the root
 * gives out nodes by its table alone; then it cannot begin this job, and gives the growth up. So a
 * node is in one job at most, whatever managers send.
 *
 * A member that is in a job forgets the growth, without a RELEASE. A neighbour that still repeats
 * START gets RELEASE for it and leaves the growth, too. That is harmless: the root begins a job
 * only when all members have started, so the neighbour is in the job already, or in the table that
 * is on its way.
 *
 * A node joins no growth unless the table has it as up, in service and free. It uses the cables
 * that are up, that the table does not exclude, and that do not lead to a silent manager. Rate and
 * margin of a cable are those of its last event: when the link came up, or has changed its lanes.
 *
 * Tests: tests/unit/test_fm_grower.c, tests/sim/test_job_grow.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/node/grower.h"
#include "daemon/fm/grow/growth.h"
#include "daemon/fm/grow/packet.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"

#define HOLD (3 * SEC)		/* a node takes part in a growth for this long after the order;
				 * longer than the limit in root/grown.c */
#define EARLY (250 * MS)	/* how long an invitation waits for the order */
#define PERMITS_MAX 32		/* the root has at most 16 growths at a time, and ended ones are
				 * not forgotten before HOLD */

/**
 * struct permit - the root of epoch @term has ordered the growth @id; its members leave it at
 * @until
 */
struct permit {
	struct fm_growth_id id;
	uint64_t term, until;
};

/**
 * struct early - an invitation to a growth that has not been ordered yet; @since: when the first
 * one came; 0: there is none
 */
struct early {
	uint64_t since;
	struct fm_growth_msg msg;
};

/** struct growing - the growths of this node; @early: of each port */
struct growing {
	struct fm_growth growth;
	struct permit permit[PERMITS_MAX];
	struct early early[TORUS_MAX_PORTS];
};

/**
 * struct fm_grower - what this node does in growths
 * @growing: NULL until the first order or message of a growth, because most nodes never get one
 * @rate, @margin: of each port, as in struct fm_growth_port
 * @serial: number of the last growth that the root ordered this node to begin; 0: none
 * @report: the message that is sent to the root; @reports: it is repeated, next at @again
 * @until: when the report ends; NEVER
 * @refusal: the answer to an order that this node cannot obey; @refuses: it is sent next
 */
struct fm_grower {
	struct growing *growing;
	bool reports;
	uint32_t rate[TORUS_MAX_PORTS];
	uint16_t margin[TORUS_MAX_PORTS];
	uint64_t serial;
	struct fm_grown_msg report;
	uint64_t again, until;
	struct fm_grown_msg refusal;
	bool refuses;
};

static void report_to_root(struct fm *fm, const struct fm_grown_msg *m)
{
	struct fm_grower *w = fm->grower;

	w->report = *m;
	w->report.guid = fm->guid;
	w->reports = true;
	w->again = fm->now;
	w->until = fm->now + HOLD;
}

static void stop_report(struct fm_grower *w)
{
	w->reports = false;
	w->again = NEVER;
	w->until = NEVER;
}

static void send_growth_packet(void *arg, unsigned int port, const struct fm_growth_msg *m)
{
	struct fm *fm = arg;
	uint8_t buf[FM_GROWTH_BYTES];

	fm_growth_put(buf, m);
	fm->ops.mgmt_send(fm->io, port, buf, sizeof(buf));
}

/*
 * Called when the stage of this node changes. Other members than the first one report an end only
 * if they have reported a number, because the root may be waiting for the others.
 */
static void report_stage(void *arg, enum fm_growth_stage stage)
{
	struct fm *fm = arg;
	const struct fm_growth *g = &fm->grower->growing->growth;
	struct fm_grown_msg m = { .first = g->id.guid, .serial = g->id.serial };

	if (stage == FM_GROWTH_RUNS) {
		m.number = g->number;
		report_to_root(fm, &m);
	} else if (stage == FM_GROWTH_RELEASES &&
		   (g->up == FM_GROWTH_NO_PORT || fm->grower->reports)) {
		m.ended = true;
		m.why = g->end.why;
		m.at = g->end.guid;
		m.port = g->end.port;
		m.found = g->found;
		m.met = g->met;
		report_to_root(fm, &m);
	}
}

static const struct fm_growth_ops growth_ops = {
	.send = send_growth_packet,
	.changed = report_stage,
};

/* Forgets all growths, in a new life: neighbours notice that this node is no longer a member. */
static void forget_growth(struct fm *fm, uint32_t life)
{
	fm_growth_init(&fm->grower->growing->growth, &growth_ops, fm, fm->guid, fm->nports,
		       life + !life);
}

bool fm_grower_new(struct fm *fm)
{
	fm->grower = calloc(1, sizeof(*fm->grower));
	if (!fm->grower)
		return false;
	stop_report(fm->grower);
	return true;
}

void fm_grower_free(struct fm *fm)
{
	if (fm->grower)
		free(fm->grower->growing);
	free(fm->grower);
}

static void note_quality(struct fm_grower *w, const struct torus_link *l)
{
	uint64_t rate = l->gauge[TORUS_PG_RATE] * l->gauge[TORUS_PG_WIDTH];

	if (l->port >= TORUS_MAX_PORTS)
		return;
	w->rate[l->port] = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
	w->margin[l->port] = l->gauge[TORUS_PG_MARGIN] < UINT16_MAX ?
		(uint16_t)l->gauge[TORUS_PG_MARGIN] : UINT16_MAX;
}

void fm_grower_begin(struct fm *fm, const struct torus_link *links)
{
	for (unsigned int p = 0; p < fm->nports; p++)
		note_quality(fm->grower, &links[p]);
}

/* Return: the entry of this node in the table; NULL: it has none. */
static const struct fm_entry *find_own_entry(const struct fm *fm)
{
	uint32_t self = fm->table.version ? fm_table_self(fm) : TORUS_NO_NODE;

	return self == TORUS_NO_NODE ? NULL : &fm->table.entry[self];
}

/*
 * Return: false if the table has the manager behind port @p as silent: it would not answer; or if
 * the shape of the table does not have the port: this node may know another shape already. @e:
 * entry of this node, or NULL
 */
static bool is_neighbour_up(const struct fm *fm, const struct fm_entry *e, unsigned int p)
{
	const struct fm_table *t = &fm->table;

	if (!e)
		return true;
	return p < 2u * t->shape.ndims &&
	       t->entry[torus_neighbour(&t->shape, e->node, p)].state == FM_NODE_UP;
}

/* Takes over the job and the ports of this node from the table and from the links. */
static void update_growth(struct fm *fm)
{
	struct fm_grower *w = fm->grower;
	struct fm_growth *g = &w->growing->growth;
	const struct fm_entry *e = find_own_entry(fm);
	uint16_t closed = e ? fm->table.closed[e->node] : 0;

	if (e && e->job)
		stop_report(w);
	if (e && e->job && g->stage == FM_GROWTH_RUNS)
		forget_growth(fm, g->life + 1);
	fm_growth_close(g, !e || e->job || e->state != FM_NODE_UP ||
			fm_is_out_of_service(&fm->table.shape, e->admin));
	for (unsigned int p = 0; p < fm->nports; p++) {
		struct fm_growth_port is = { .rate = w->rate[p], .margin = w->margin[p] };

		is.up = p < fm_ports_used(fm) && fm_port_up(fm, p) && !(closed >> p & 1) &&
			is_neighbour_up(fm, e, p);
		if (!is.up)
			w->growing->early[p].since = 0;
		fm_growth_port(g, p, &is, fm->now);
	}
}

void fm_grower_link(struct fm *fm, const struct torus_link *l)
{
	if (l->port >= fm->nports)
		return;
	note_quality(fm->grower, l);
	if (fm->grower->growing)
		update_growth(fm);
}

/*
 * Makes the growths of this node, unless there are some, in a life that this node has not had.
 * Return: false if there is no memory
 */
static bool make_growing(struct fm *fm)
{
	struct fm_grower *w = fm->grower;

	if (w->growing)
		return true;
	w->growing = calloc(1, sizeof(*w->growing));
	if (w->growing)
		forget_growth(fm, (uint32_t)fm_mix(fm->random));
	return w->growing;
}

/* --- permits --------------------------------------------------------------------------- */

static bool is_member(const struct fm_grower *w)
{
	return w->growing && w->growing->growth.stage != FM_GROWTH_FREE &&
	       w->growing->growth.stage != FM_GROWTH_RELEASES;
}

/* Return: the permit for @id of the present root; NULL: there is none */
static struct permit *find_permit(const struct fm *fm, const struct fm_growth_id *id)
{
	struct permit *p = fm->grower->growing->permit;

	for (unsigned int i = 0; i < PERMITS_MAX; i++)
		if (p[i].until > fm->now && p[i].term == fm->term && fm_growth_same(&p[i].id, id))
			return &p[i];
	return NULL;
}

/*
 * Keeps an order in place of the oldest one, but not of that for the growth of this node. One that
 * is repeated counts from the first time.
 */
static void add_permit(struct fm *fm, const struct fm_growth_id *id)
{
	struct growing *g = fm->grower->growing;
	struct permit *old = NULL;

	if (find_permit(fm, id))
		return;
	for (unsigned int i = 0; i < PERMITS_MAX; i++) {
		struct permit *p = &g->permit[i];

		if (is_member(fm->grower) && fm_growth_same(&p->id, &g->growth.id))
			continue;
		if (!old || p->until < old->until)
			old = p;
	}
	*old = (struct permit) { .id = *id, .term = fm->term, .until = fm->now + HOLD };
}

/* Return: when this node leaves its growth; NEVER: it is not a member */
static uint64_t find_leave_time(const struct fm *fm)
{
	const struct permit *p;

	if (!is_member(fm->grower))
		return NEVER;
	p = find_permit(fm, &fm->grower->growing->growth.id);
	return p ? p->until : fm->now;
}

/* Leaves the growth without a report, because no root waits for this node. */
static void leave_growth(struct fm *fm)
{
	stop_report(fm->grower);
	fm_growth_release(&fm->grower->growing->growth, fm->now);
	stop_report(fm->grower);
}

/*
 * Keeps an invitation to a growth that has not been ordered yet, or closes this node to it, if the
 * order has not come in time. Return: true if it is kept
 */
static bool keep_early(struct fm *fm, unsigned int port, const struct fm_growth_msg *m)
{
	struct early *e = &fm->grower->growing->early[port];
	uint64_t since = e->since && fm_growth_same(&e->msg.id, &m->id) ? e->since : fm->now;

	e->since = 0;
	if (m->kind != FM_GROWTH_PROPAGATE || find_permit(fm, &m->id) || is_member(fm->grower) ||
	    fm->grower->growing->growth.closed)
		return false;
	if (fm->now >= since + EARLY) {
		fm_growth_close(&fm->grower->growing->growth, true);
		return false;
	}
	*e = (struct early) { .since = since, .msg = *m };
	return true;
}

/* Accepts the invitations that came before the order. */
static void receive_early(struct fm *fm, const struct fm_growth_id *id)
{
	struct growing *g = fm->grower->growing;

	for (unsigned int p = 0; p < fm->nports; p++) {
		struct early *e = &g->early[p];

		if (!e->since || !fm_growth_same(&e->msg.id, id))
			continue;
		e->since = 0;
		fm_growth_receive(&g->growth, p, &e->msg, fm->now);
	}
}

bool fm_grower_packet(struct fm *fm, unsigned int port, const uint8_t *data, size_t len)
{
	struct fm_growth_msg m;

	if (!fm_growth_is_packet(data, len))
		return false;
	if (port >= fm->nports || fm_growth_get(data, len, &m) || !make_growing(fm))
		return true;
	update_growth(fm);
	if (!keep_early(fm, port, &m))
		fm_growth_receive(&fm->grower->growing->growth, port, &m, fm->now);
	return true;
}

/* --- orders ---------------------------------------------------------------------------- */

/* Begins the growth of the order, unless it is a repeated one. @err: 0, or why it cannot begin */
static void begin_growth(struct fm *fm, const struct fm_grow_msg *m, int err)
{
	struct fm_grower *w = fm->grower;
	const struct fm_growth_terms terms = {
		.links = m->links, .rate = m->rate, .margin = m->margin,
	};

	if (m->serial == w->serial)
		return;
	if (!err)
		err = fm_growth_begin(&w->growing->growth, m->serial, m->nodes, &terms,
				      m->limit_ms * MS, fm->now);
	w->refuses = err;
	if (!err)
		w->serial = m->serial;
	else
		w->refusal = (struct fm_grown_msg) {
			.guid = fm->guid, .first = m->guid, .serial = m->serial, .ended = true,
			.err = (uint32_t)-err };
}

/* The root has given the growth @id up. */
static void cancel_growth(struct fm *fm, const struct fm_growth_id *id)
{
	struct fm_grower *w = fm->grower;
	struct permit *p = w->growing ? find_permit(fm, id) : NULL;

	if (p)
		p->until = 0;
	if (w->reports && w->report.first == id->guid && w->report.serial == id->serial)
		stop_report(w);
	if (is_member(w) && fm_growth_same(&w->growing->growth.id, id))
		leave_growth(fm);
}

/* The root has ordered a growth, which may begin here. */
static void permit_growth(struct fm *fm, const struct fm_grow_msg *m, const struct fm_growth_id *id)
{
	int err = make_growing(fm) ? 0 : -ENOMEM;

	if (!err) {
		update_growth(fm);
		add_permit(fm, id);
		receive_early(fm, id);
	}
	if (m->guid == fm->guid)
		begin_growth(fm, m, err);
}

void fm_grower_order(struct fm *fm, const struct fm_grow_msg *m)
{
	const struct fm_msg msg = { .type = FM_MSG_GROW, .grow = *m };
	const struct fm_growth_id id = { .guid = m->guid, .serial = m->serial };

	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_CHILD)
			fm_conn_send(fm, fm_conn_no(fm, i), &msg);
	if (m->nodes)
		permit_growth(fm, m, &id);
	else
		cancel_growth(fm, &id);
}

static void report_due(struct fm *fm)
{
	struct fm_grower *w = fm->grower;
	const struct fm_msg msg = { .type = FM_MSG_GROWN, .grown = w->report };

	if (w->until <= fm->now) {
		stop_report(w);
	} else if (w->again <= fm->now) {
		w->again = fm->now + fm->cfg.resend;
		fm->up->send(fm, &msg);
	}
}

static void send_refusal(struct fm *fm)
{
	const struct fm_msg msg = { .type = FM_MSG_GROWN, .grown = fm->grower->refusal };

	fm->grower->refuses = false;
	fm->up->send(fm, &msg);
}

void fm_grower_due(struct fm *fm)
{
	struct fm_grower *w = fm->grower;
	struct growing *g = w->growing;

	if (g && (g->growth.stage != FM_GROWTH_FREE || w->reports))
		update_growth(fm);
	if (find_leave_time(fm) <= fm->now)
		leave_growth(fm);
	if (g && fm_growth_expiry(&g->growth) <= fm->now)
		fm_growth_due(&g->growth, fm->now);
	if (w->refuses)
		send_refusal(fm);
	if (w->reports)
		report_due(fm);
}

uint64_t fm_grower_expiry(const struct fm *fm)
{
	const struct fm_grower *w = fm->grower;
	uint64_t at = w->refuses ? fm->now : earlier(w->again, w->until);

	at = earlier(at, find_leave_time(fm));
	return w->growing ? earlier(fm_growth_expiry(&w->growing->growth), at) : at;
}
