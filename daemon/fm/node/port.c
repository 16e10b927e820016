// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports of this node: the state of each link, which the node's port row reports to the root,
 * and when the next Init is due on each port.
 *
 * A slow NIC. Inits wait in the queue of the NIC, and repetitions before their time would only make
 * the queue longer. The host keeps at most one Init of each port in it, and sends only the last of
 * those that follow meanwhile (fm_ops.mgmt_send): so an action waits for one Init of each port at
 * most, however often Inits are repeated. And an Init is repeated later by twice the time that
 * actions at this NIC take at present, because the Init waits in the queue of this NIC, and the
 * answer in that of the neighbour, which may be equally slow. Once repetitions that did not regard
 * this filled the queues of slow NICs, and a recovery waited so long that all nodes lost the root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/node/port.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

#define INIT_BACKOFF_MAX 20

/**
 * struct fm_port - a port of this node, and the exchange of Inits on it
 * @up: the link is up; the following flags are reset when a session of the link begins
 * @acked: the neighbour has acknowledged the present Init of this node
 * @received: the neighbour has sent an Init with a place
 * @owes: the neighbour has requested an answer since this node sent its last Init, or began anew
 * @stalled: the port was taken down because the neighbour returned no credits
 * @session: the present or last session of the link
 * @last: when the neighbour's last Init came; 0: none has
 * @next: when this node sends the next Init, if the link is up; NEVER: it does not
 * @sent: when this node sent its last Init
 * @counts: acknowledgements count if that Init was sent at this time or later
 * @interval: ns until that Init is repeated
 */
struct fm_port {
	bool up : 1, acked : 1, received : 1, owes : 1, stalled : 1;
	uint32_t session;
	uint64_t last;
	uint64_t next, sent, counts, interval;
};

bool fm_ports_new(struct fm *fm)
{
	fm->port = calloc(TORUS_MAX_PORTS, sizeof(*fm->port));
	return fm->port;
}

void fm_ports_free(struct fm *fm)
{
	free(fm->port);
}

bool fm_port_row_same(const struct fm_port_row *a, const struct fm_port_row *b)
{
	return a->state == b->state && a->problem == b->problem && a->closed == b->closed &&
	       a->stalled == b->stalled && a->session == b->session && a->seq == b->seq &&
	       a->peer_guid == b->peer_guid &&
	       a->peer_port == b->peer_port;
}

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	invariant(ndims <= TORUS_MAX_DIMS && port < 2 * ndims);
	return port < ndims ? port + ndims : port - ndims;
}

const char *fm_port_text(const struct fm *fm, unsigned int p, char *buf)
{
	if (p < 2 * fm->ndims)
		return torus_port_text(fm->ndims, p, buf);
	snprintf(buf, TORUS_TEXT_MAX, "%u", p);
	return buf;
}

unsigned int fm_ports_used(const struct fm *fm)
{
	unsigned int n = fm->ndims ? 2 * fm->ndims : fm->nports;

	return n < fm->nports ? n : fm->nports;
}

/* Return: how long to wait for the answer to an Init that is sent now, before it is repeated */
static uint64_t answer_wait(const struct fm *fm, const struct fm_port *port)
{
	uint64_t slow = earlier(2 * fm_nic_takes(fm), fm->cfg.member_max);

	return port->interval + slow + fm_lag_answer(fm);
}

static void schedule_init(struct fm *fm, unsigned int p)
{
	fm->port[p].interval = fm->cfg.init_interval;
	fm->port[p].next = fm->now;
}

void fm_ports_spread(struct fm *fm)
{
	for (unsigned int p = 0; p < fm_ports_used(fm); p++) {
		struct fm_port *port = &fm->port[p];

		port->acked = false;
		port->owes = false;
		port->counts = port->sent + fm->cfg.init_interval;
		schedule_init(fm, p);
	}
}

void fm_ports_ask(struct fm *fm)
{
	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		fm->port[p].received = false;
	fm_ports_spread(fm);
}

bool fm_port_up(const struct fm *fm, unsigned int p)
{
	return fm->port[p].up;
}

bool fm_port_has_init(const struct fm *fm, unsigned int p)
{
	return fm->port[p].received;
}

bool fm_port_acknowledges(const struct fm *fm, unsigned int p)
{
	const struct fm_port *port = &fm->port[p];

	return port->received && (port->acked || port->owes);
}

uint64_t fm_port_last(const struct fm *fm, unsigned int p)
{
	return fm->port[p].last;
}

void fm_port_init(struct fm *fm, unsigned int p, const struct fm_init *init, bool answers)
{
	struct fm_port *port = &fm->port[p];
	bool first = init->placed && !port->received;

	port->last = fm->now;
	port->owes |= !init->received;
	port->received |= init->placed;
	port->acked |= init->received && port->sent >= port->counts;
	if (first)
		port->next = fm->now;
	else if (answers)
		port->next = earlier(port->next, port->sent + fm->cfg.init_interval / 2);
	else if (port->acked && port->received)
		port->next = NEVER;
}

bool fm_port_due(const struct fm *fm, unsigned int p)
{
	return fm->port[p].up && fm->port[p].next <= fm->now;
}

void fm_port_sent(struct fm *fm, unsigned int p)
{
	struct fm_port *port = &fm->port[p];

	port->sent = fm->now;
	port->owes = false;
	port->next = port->acked && port->received ? NEVER : fm->now + answer_wait(fm, port);
	if (port->interval < INIT_BACKOFF_MAX * fm->cfg.init_interval)
		port->interval += port->interval / 2;
}

uint64_t fm_ports_expiry(const struct fm *fm)
{
	uint64_t at = NEVER;

	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		if (fm->port[p].up)
			at = earlier(at, fm->port[p].next);
	return at;
}

/* Return: the entry of a port in the port row, made from the present state of its link. */
static struct fm_port_row make_port_row(struct fm *fm, const struct torus_link *l)
{
	struct fm_port_row r = fm->row.port[l->port];

	if (l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING) {
		r.state = FM_PORT_UP;
		r.peer_guid = l->peer_guid;
		r.peer_port = l->peer_port;
		/*
		 * If the port is not closed, no packets of the former session are parked here, so
		 * the root need not know how that session ended: when the next session begins, the
		 * NICs themselves exchange how far they have received (handshake.c).
		 */
		if (!l->closed) {
			r.session = 0;
			r.seq = 0;
		}
	} else if (l->session) {
		r.state = FM_PORT_FAULTY;
		r.session = l->session;
		r.seq = l->seq;
	} else {
		r.state = FM_PORT_DOWN;
	}
	r.closed = l->closed;
	r.stalled = fm->port[l->port].stalled && r.state != FM_PORT_UP;
	if (r.state != FM_PORT_UP)
		r.problem = FM_PROBLEM_NONE;
	r.reason = r.state != FM_PORT_UP ? l->reason : TORUS_REASON_NONE;
	return r;
}

/*
 * Gives the port row the next serial number. Serials follow the clock, so that they also rise when
 * the manager starts again: a port row that its former process sent may still be under way.
 */
static void renumber_row(struct fm *fm)
{
	uint32_t clock = (uint32_t)(fm->now / MS), next = fm->row.serial + 1;

	fm->row.serial = (int32_t)(clock - next) > 0 ? clock : next;
}

static bool is_mismatch(const struct fm_port_row *r)
{
	return r->reason == TORUS_REASON_MISMATCH || r->reason == TORUS_REASON_BUBBLE;
}

/*
 * Sets a port of the port row. Return: true if the root must get the row. A changed reason alone is
 * not sent, because it is only for people and may change at each attempt to bring the link up. The
 * exception is the reason that the settings of both NICs differ, which is found only after the link
 * was reported as lost, and stays.
 */
static bool set_row(struct fm *fm, unsigned int p, const struct fm_port_row *r)
{
	struct fm_port_row *old = &fm->row.port[p];

	invariant(p < fm->nports);
	invariant(r->state != FM_PORT_FAULTY || r->session);
	invariant(r->state != FM_PORT_UP || !r->stalled);
	if (fm_port_row_same(old, r) && is_mismatch(old) == is_mismatch(r))
		return false;
	*old = *r;
	renumber_row(fm);
	return true;
}

/*
 * Return: true if the port has a cable, or had one. A port of a software NIC has a lower device; a
 * port of hardware has none, but its link leaves the state down when there is a cable.
 */
static bool has_cable(const struct torus_link *l)
{
	return l->lower[0] || l->carrier || l->state != TORUS_LINK_DOWN;
}

bool fm_port_link(struct fm *fm, const struct torus_link *l)
{
	struct fm_port *port = &fm->port[l->port];
	struct fm_port_row r = make_port_row(fm, l), *old = &fm->row.port[l->port];
	bool up = r.state == FM_PORT_UP;
	bool other = r.peer_guid != old->peer_guid || r.peer_port != old->peer_port, news;

	fm->cabled |= has_cable(l);
	if (up && (!port->up || port->session != l->session)) {
		port->stalled = false;
		port->counts = 0;
		port->acked = false;
		port->received = false;
		port->owes = false;
		schedule_init(fm, l->port);
		r.problem = FM_PROBLEM_NONE;
	}
	port->up = up;
	port->session = l->session;
	news = set_row(fm, l->port, &r);
	/*
	 * The cables of this node have changed, and Inits contain the other ends of all cables
	 * (square.c).
	 */
	if (other)
		fm_ports_spread(fm);
	return news;
}

bool fm_port_problem(struct fm *fm, unsigned int p, enum fm_port_problem problem)
{
	struct fm_port_row r = fm->row.port[p];

	r.problem = (uint8_t)problem;
	return set_row(fm, p, &r);
}

/* The port row reports the stall when the link is down, not before. */
bool fm_port_stalled(struct fm *fm, unsigned int p, bool is)
{
	struct fm_port_row r = fm->row.port[p];

	fm->port[p].stalled = is;
	r.stalled = is && r.state != FM_PORT_UP;
	return set_row(fm, p, &r);
}

/*
 * The serial stays the same: every node does this after a replay, so the root need not get the row
 * for it.
 */
void fm_ports_opened(struct fm *fm, uint16_t ports)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
		if (!(ports & 1u << p))
			continue;
		invariant(fm->row.port[p].state == FM_PORT_UP);
		fm->row.port[p].closed = false;
		fm->row.port[p].session = 0;
		fm->row.port[p].seq = 0;
	}
}

void fm_ports_begin(struct fm *fm, const struct torus_link *links)
{
	fm->row.nports = (uint8_t)fm->nports;
	fm->row.serial = (uint32_t)(fm->now / MS);
	for (unsigned int p = 0; p < fm->nports; p++)
		fm_port_link(fm, &links[p]);
	renumber_row(fm);
}
