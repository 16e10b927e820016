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
 * growth. A member stops when the table has put it into a job. It leaves the growth when the root
 * gives that up (GROW without nodes), or after HOLD, for instance because the root has died
 * meanwhile. So no node stays reserved for a job that never begins.
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

#define HOLD (30 * SEC)		/* how long a member waits for its job to begin */

/**
 * struct fm_grower - what this node does in growths
 * @growth: NULL until the first message of a growth, because most nodes never get one
 * @rate, @margin: of each port, as in struct fm_growth_port
 * @serial: number of the last growth that the root ordered this node to begin; 0: none
 * @report: the message that is sent to the root; @reports: it is repeated, next at @again
 * @until: when the report ends, and the membership with it; NEVER
 * @refusal: the answer to an order that this node cannot obey; @refuses: it is sent next
 */
struct fm_grower {
	struct fm_growth *growth;
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
	const struct fm_growth *g = fm->grower->growth;
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
	fm_growth_init(fm->grower->growth, &growth_ops, fm, fm->guid, fm->nports, life + !life);
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
		free(fm->grower->growth);
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
	const struct fm_entry *e = find_own_entry(fm);
	uint16_t closed = e ? fm->table.closed[e->node] : 0;

	if (e && e->job)
		stop_report(w);
	if (e && e->job && w->growth->stage == FM_GROWTH_RUNS)
		forget_growth(fm, w->growth->life + 1);
	fm_growth_close(w->growth, !e || e->job || e->state != FM_NODE_UP ||
			fm_is_out_of_service(&fm->table.shape, e->admin));
	for (unsigned int p = 0; p < fm->nports; p++) {
		struct fm_growth_port is = { .rate = w->rate[p], .margin = w->margin[p] };

		is.up = p < fm_ports_used(fm) && fm_port_up(fm, p) && !(closed >> p & 1) &&
			is_neighbour_up(fm, e, p);
		fm_growth_port(w->growth, p, &is, fm->now);
	}
}

void fm_grower_link(struct fm *fm, const struct torus_link *l)
{
	if (l->port >= fm->nports)
		return;
	note_quality(fm->grower, l);
	if (fm->grower->growth)
		update_growth(fm);
}

/*
 * Makes the growth of this node, unless there is one, in a life that this node has not had. Return:
 * false if there is no memory
 */
static bool make_growth(struct fm *fm)
{
	struct fm_grower *w = fm->grower;

	if (w->growth)
		return true;
	w->growth = malloc(sizeof(*w->growth));
	if (w->growth)
		forget_growth(fm, (uint32_t)fm_mix(fm->random));
	return w->growth;
}

bool fm_grower_packet(struct fm *fm, unsigned int port, const uint8_t *data, size_t len)
{
	struct fm_growth_msg m;

	if (!fm_growth_is_packet(data, len))
		return false;
	if (port >= fm->nports || fm_growth_get(data, len, &m) || !make_growth(fm))
		return true;
	update_growth(fm);
	fm_growth_receive(fm->grower->growth, port, &m, fm->now);
	return true;
}

/* Begins the growth of the order, unless it is a repeated one. */
static void begin_growth(struct fm *fm, const struct fm_grow_msg *m)
{
	struct fm_grower *w = fm->grower;
	const struct fm_growth_terms terms = {
		.links = m->links, .rate = m->rate, .margin = m->margin,
	};
	int err = -ENOMEM;

	if (m->serial == w->serial)
		return;
	if (make_growth(fm)) {
		update_growth(fm);
		err = fm_growth_begin(w->growth, m->serial, m->nodes, &terms, m->limit_ms * MS,
				      fm->now);
	}
	w->refuses = err;
	if (!err)
		w->serial = m->serial;
	else
		w->refusal = (struct fm_grown_msg) {
			.guid = fm->guid, .first = m->guid, .serial = m->serial, .ended = true,
			.err = (uint32_t)-err };
}

/* The root has given the growth up. */
static void leave_growth(struct fm *fm, const struct fm_grow_msg *m)
{
	struct fm_grower *w = fm->grower;

	if (w->reports && w->report.first == m->guid && w->report.serial == m->serial)
		stop_report(w);
	if (!w->growth || w->growth->id.guid != m->guid || w->growth->id.serial != m->serial)
		return;
	fm_growth_release(w->growth, fm->now);
	if (w->report.serial == m->serial)
		stop_report(w);
}

void fm_grower_order(struct fm *fm, const struct fm_grow_msg *m)
{
	const struct fm_msg msg = { .type = FM_MSG_GROW, .grow = *m };

	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_CHILD)
			fm_conn_send(fm, fm_conn_no(fm, i), &msg);
	if (!m->nodes)
		leave_growth(fm, m);
	else if (m->guid == fm->guid)
		begin_growth(fm, m);
}

/*
 * Called when the root has not taken the report: leaves the growth, unless it has ended. Another
 * one may be under way then.
 */
static void give_report_up(struct fm *fm)
{
	struct fm_grower *w = fm->grower;

	stop_report(w);
	if (w->report.ended)
		return;
	fm_growth_release(w->growth, fm->now);
	stop_report(w);
}

static void report_due(struct fm *fm)
{
	struct fm_grower *w = fm->grower;
	const struct fm_msg msg = { .type = FM_MSG_GROWN, .grown = w->report };

	if (w->until <= fm->now) {
		give_report_up(fm);
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

	if (w->growth && (w->growth->stage != FM_GROWTH_FREE || w->reports))
		update_growth(fm);
	if (w->growth && fm_growth_expiry(w->growth) <= fm->now)
		fm_growth_due(w->growth, fm->now);
	if (w->refuses)
		send_refusal(fm);
	if (w->reports)
		report_due(fm);
}

uint64_t fm_grower_expiry(const struct fm *fm)
{
	const struct fm_grower *w = fm->grower;
	uint64_t at = w->refuses ? fm->now : earlier(w->again, w->until);

	return w->growth ? earlier(fm_growth_expiry(w->growth), at) : at;
}
