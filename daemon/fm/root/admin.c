// SPDX-License-Identifier: GPL-2.0-only
/* Orders of the administrator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/admin.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/status.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"

#define READY_MAX 10	/* in units of fm_config.resend: how long the next root has time to
			 * answer whether it is ready */
#define MOVE_MAX 80	/* in units of fm_config.resend: how long the root waits for the end of a
			 * recovery before it asks the next root */

/*
 * Stores @order, which contains who excluded these ports and why, or removes it (NULL). If there is
 * no memory, only this record is lost: the ports stay excluded.
 */
static void take_order(struct fm *fm, uint32_t node, uint16_t mask, const struct fm_order *order)
{
	struct fm_order o;

	if (!order) {
		fm_orders_drop(&fm->root->orders, node, mask);
		return;
	}
	o = *order;
	o.node = node;
	o.ports = mask;
	if (o.until)
		o.ends = fm->now + (later(o.until, o.since) - o.since) * SEC;
	if (!fm_orders_put(&fm->root->orders, &o))
		fm_log(fm, FM_WARNING, "table",
		       "no memory to keep the user and the reason of an exclusion");
}

/* Return: mask of @port; -1: mask of all ports. */
static uint16_t port_mask(const struct fm *fm, int port)
{
	return (uint16_t)(port < 0 ? (1u << 2 * fm->ndims) - 1 : 1u << port);
}

/*
 * Return: true if an inclusion of @port of @node must also include the port at the other end of the
 * cable: that is so if it is excluded, but not because the whole node there is out of service.
 */
static bool is_far_excluded(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct torus_shape *shape = &fm->table.shape;
	uint32_t far = torus_neighbour(shape, node, port);

	return fm->root->admin[far] & 1u << torus_dir_opposite(shape, port) &&
	       !fm_service_is_out(fm, far);
}

static void include_far_end(struct fm *fm, uint32_t node, unsigned int port)
{
	const struct torus_shape *shape = &fm->table.shape;
	uint32_t far = torus_neighbour(shape, node, port);
	uint16_t bit = (uint16_t)(1u << torus_dir_opposite(shape, port));

	if (!is_far_excluded(fm, node, port))
		return;
	fm->root->admin[far] &= (uint16_t)~bit;
	take_order(fm, far, bit, NULL);
	fm_change_node(fm, far);
}

#define TARGET_MAX (2 * TORUS_TEXT_MAX + 6)

/*
 * Writes what an order concerns: "node 2,1", the ports "2,1:+x,-y", or one cable, by its end at a
 * port with "+", as all other events name it. Return: @buf
 */
static const char *name_ports(const struct fm *fm, uint32_t node, uint16_t ports, char *buf)
{
	const struct torus_shape *shape = &fm->table.shape;
	unsigned int first = (unsigned int)__builtin_ctz(ports);
	char name[TORUS_TEXT_MAX];
	size_t n;

	if (ports == 1u << first && first >= fm->ndims) {
		node = torus_neighbour(shape, node, first);
		ports = (uint16_t)(1u << torus_dir_opposite(shape, first));
	}
	torus_node_text(shape, node, name);
	if ((ports & port_mask(fm, -1)) == port_mask(fm, -1)) {
		snprintf(buf, TARGET_MAX, "node %s", name);
		return buf;
	}
	n = (size_t)snprintf(buf, TARGET_MAX, "%s:", name);
	for (unsigned int p = 0; p < 2u * fm->ndims; p++)
		if (ports >> p & 1)
			n += (size_t)snprintf(buf + n, TARGET_MAX - n,
					      buf[n - 1] == ':' ? "%s" : ",%s",
					      torus_port_text(fm->ndims, p, name));
	return buf;
}

/* Logs who excluded or included these ports, for how long, and why. */
static void log_order(struct fm *fm, uint32_t node, uint16_t ports, enum fm_ordered what,
		      const struct fm_order *by)
{
	struct fm_order o = *by;
	const struct fm_order_change change = { what, &o };
	char text[2 * FM_TEXT_MAX], name[TARGET_MAX], user[16] = "the manager", term[32] = "";
	const struct fm_log line = {
		.level = FM_INFO, .kind = "admin", .text = text, .order = &change,
	};

	o.node = node;
	o.ports = ports;
	if (o.uid != FM_NO_UID)
		snprintf(user, sizeof(user), "user %u", o.uid);
	if (o.until > o.since)
		snprintf(term, sizeof(term), ", for %llu s",
			 (unsigned long long)(o.until - o.since));
	name_ports(fm, node, ports, name);
	if (what == FM_ORDERED_OVER)
		snprintf(text, sizeof(text), "included %s, the time is over", name);
	else
		snprintf(text, sizeof(text), "%s %s by %s%s%s%s%s%s",
			 what == FM_ORDERED_OUT ? "excluded" : "included", name, user,
			 o.by[0] ? " at " : "", o.by, term, o.reason[0] ? ": " : "", o.reason);
	fm->ops.log(fm->io, &line);
}

int fm_admin_mark(struct fm *fm, uint32_t node, int port, bool excluded,
		  const struct fm_order *order)
{
	struct fm_root *r = fm->root;
	char name[TARGET_MAX];
	uint16_t mask;

	if (!r->settled)
		return -EAGAIN;
	if (node >= fm->table.nodes || port < -1 || port >= (int)(2 * fm->ndims))
		return -EINVAL;
	mask = port_mask(fm, port);
	if (excluded)
		r->admin[node] |= mask;
	else
		r->admin[node] &= (uint16_t)~mask;
	take_order(fm, node, mask, excluded ? order : NULL);
	if (order)
		log_order(fm, node, mask, excluded ? FM_ORDERED_OUT : FM_ORDERED_IN, order);
	fm_change_node(fm, node);
	if (!excluded && port >= 0)
		include_far_end(fm, node, (unsigned int)port);
	if (excluded)
		r->judge_at = fm->now;	/* a node that is out of service is declared silent
					 * sooner */
	else
		fm_damp_end(fm, node, mask);
	fm_demand(fm, 0, "%s %s", excluded ? "excluded" : "included",
		  name_ports(fm, node, mask, name));
	return 0;
}

int fm_admin_exclude(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order)
{
	int err = fm_admin_mark(fm, node, port, excluded, order);

	if (err)
		return err;
	fm_judge_due(fm);
	fm_publish_due(fm);
	return 0;
}

/*
 * Return: true if all ports of @mask are excluded by orders with the reason of @order and without
 * an end.
 */
static bool has_order(const struct fm *fm, uint32_t node, uint16_t mask,
		      const struct fm_order *order)
{
	const struct fm_orders *s = &fm->root->orders;

	for (const struct fm_order *o = fm_orders_first(s, node); o; o = fm_orders_next(s, o))
		if (!order->until && !o->until && !strcmp(o->reason, order->reason))
			mask &= (uint16_t)~o->ports;
	return !mask;
}

bool fm_admin_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
		      const struct fm_order *order)
{
	const struct fm_root *r = fm->root;
	uint16_t mask;

	if (!r->settled || node >= fm->table.nodes || port < -1 || port >= (int)(2 * fm->ndims))
		return true;
	mask = port_mask(fm, port);
	if (excluded)
		return (r->admin[node] & mask) != mask ||
		       (order && !has_order(fm, node, mask, order));
	return r->admin[node] & mask || fm_damp_holds(fm, node, mask) ||
	       (port >= 0 && is_far_excluded(fm, node, (unsigned int)port));
}

void fm_admin_over(struct fm *fm, const struct fm_order *order)
{
	uint32_t node = order->node;
	uint16_t ports = order->ports;
	char name[TARGET_MAX];

	log_order(fm, node, ports, FM_ORDERED_OVER, order);
	fm->root->admin[node] &= (uint16_t)~ports;
	take_order(fm, node, ports, NULL);
	fm_change_node(fm, node);
	fm_damp_end(fm, node, ports);
	name_ports(fm, node, ports, name);
	fm_demand(fm, 0, "included %s, the time is over", name);
}

void fm_admin_kept(struct fm *fm, const struct fm_kept_msg *k)
{
	struct fm_record *m = fm_record(fm->root, k->guid);

	if (!m)
		return;
	m->stated.disk.term = k->term;
	m->stated.disk.version = k->version;
	m->stated.disk.failed = k->failed;
}

uint8_t fm_admin_disk(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_disk_report *d = &m->stated.disk;

	if (!d->keeps)
		return FM_DISK_NONE;
	if (d->term != fm->table.term || d->version != fm->table.version)
		return FM_DISK_WAITS;
	return d->failed ? FM_DISK_FAILS : FM_DISK_HAS;
}

/**
 * struct fm_move - the order to hand over to another node
 * @guid: GUID of that node (its id may change meanwhile, grow.c)
 * @at: when the root asks that node, or stops waiting for its answer; NEVER: there is no order
 * @until: when the root stops waiting for the end of a recovery that has begun meanwhile
 * @asked: the node was asked whether it is ready
 */
struct fm_move {
	uint64_t guid, at, until;
	bool asked;
};

bool fm_admin_new(struct fm_root *r)
{
	r->move = calloc(1, sizeof(*r->move));
	if (!r->move)
		return false;
	r->move->at = NEVER;
	return true;
}

void fm_admin_free(struct fm_root *r)
{
	free(r->move);
}

/*
 * Return: true if @m may ask to be root. A node that has not joined this root is a candidate by the
 * default.
 */
static bool is_candidate(const struct fm_record *m)
{
	return m->node != TORUS_NO_NODE &&
	       fm_candidate_priority(fm_record_joined(m) ? m->priority : FM_PRIORITY_AUTO, m->node);
}

/*
 * Counts all candidates that have a place, including those that are away, unless these are out of
 * service. If all nodes lose their power and more than half of the candidates come back, then each
 * change that more than half had on disk before is on the disk of one of them.
 */
void fm_admin_kept_count(const struct fm *fm, struct fm_kept_count *out)
{
	const struct fm_root *r = fm->root;

	*out = (struct fm_kept_count) { .of = 0 };
	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);
		uint8_t disk = fm_admin_disk(fm, m);

		if (!is_candidate(m) || (!m->via && fm_service_is_out(fm, m->node)))
			continue;
		out->of++;
		out->keep += disk != FM_DISK_NONE;
		out->have += disk == FM_DISK_HAS;
		out->wait += disk == FM_DISK_WAITS && m->via && m->state == FM_NODE_UP;
	}
}

/*
 * Return: 0 if the root can hand over to @m now; else a negative errno as fm_root_move(). @m may be
 * NULL.
 */
static int may_move(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_root *r = fm->root;

	if (!r->settled)
		return -EAGAIN;
	if (!m || !m->via || m->state != FM_NODE_UP)
		return -EHOSTUNREACH;	/* that stays so when a recovery ends, so there is no
					 * need to wait */
	if (!m->priority)
		return -EACCES;
	return fm_recovery_phase(r) != FM_PHASE_REST || fm_demand_is(r) ? -EAGAIN : 0;
}

/*
 * The root hands over a little later, so that it can still send the answer to the administrator's
 * node.
 */
int fm_admin_move(struct fm *fm, uint32_t node)
{
	struct fm_move *move = fm->root->move;
	const struct fm_record *m;
	int err;

	if (fm->root->settled && node >= fm->table.nodes)
		return -EINVAL;
	m = fm->root->settled ? fm_record_at(fm->root, node) : NULL;
	err = may_move(fm, m);
	if (err)
		return err;
	*move = (struct fm_move) { .at = NEVER };	/* cancels a former order to hand over */
	if (node == fm->node)
		return 0;
	move->guid = m->guid;
	move->at = fm->now + fm->cfg.resend / 4;
	move->until = fm->now + MOVE_MAX * fm->cfg.resend;
	return 0;
}

/* Sends LEAD down the tree; with @now, this root ends. */
static void send_lead(struct fm *fm, bool now)
{
	struct fm_lead lead = { .term = fm->term, .now = now };
	const struct fm_record *m = fm_record(fm->root, fm->root->move->guid);

	lead.guid = m->guid;
	strcpy(lead.address, m->address);
	fm_handover(fm, &lead);
	if (!now)
		return;
	fm_log(fm, FM_INFO, "root", "this node hands over to '%s'", m->name);
	fm->root->ending = FM_ENDS_MOVED;
	fm->root->successor = lead;
}

/*
 * Asks the next root whether it is ready, or waits for the end of a recovery. Return: 0; negative
 * errno: the root cannot hand over.
 */
static int ask_node(struct fm *fm)
{
	struct fm_move *move = fm->root->move;
	int err = may_move(fm, fm_record(fm->root, move->guid));

	if (err == -EAGAIN && fm->now < move->until) {
		move->at = fm->now + fm->cfg.resend / 4;
		return 0;
	}
	if (err)
		return err;
	move->asked = true;
	move->at = fm->now + READY_MAX * fm->cfg.resend;
	send_lead(fm, false);
	return 0;
}

void fm_admin_due(struct fm *fm)
{
	struct fm_move *move = fm->root->move;
	const char *why = "it does not answer";
	const struct fm_record *m;
	int err;

	if (fm->now < move->at)
		return;
	move->at = NEVER;
	if (!move->asked) {
		err = ask_node(fm);
		if (!err)
			return;
		why = err == -EAGAIN ? "a recovery does not end" :
		      err == -EACCES ? "it is not a candidate any more" : "its manager is lost";
	}
	m = fm_record(fm->root, move->guid);
	fm_log(fm, FM_WARNING, "root",
	       "this node remains root and does not hand over to '%s': %s", m ? m->name : "?", why);
	move->asked = false;
}

void fm_admin_ready(struct fm *fm, uint64_t guid)
{
	struct fm_move *move = fm->root->move;
	const struct fm_record *m;

	if (!move->asked || guid != move->guid)
		return;
	m = fm_record(fm->root, guid);
	if (!may_move(fm, m)) {
		send_lead(fm, true);
	} else {
		move->asked = false;
		move->at = fm->now;
	}
}

uint64_t fm_admin_expiry(const struct fm *fm)
{
	return fm->root->move->at;
}
