// SPDX-License-Identifier: GPL-2.0-only
/* The functions of status.h. They change nothing in a machine except counts that they cache. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/status.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/box.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/guard.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/wire/plan.h"

const char *fm_state_name(unsigned int state)
{
	static const char *const names[FM_STATES] = { "bootstrapping", "running", "recovering",
						      "degraded" };

	return state < FM_STATES ? names[state] : NULL;
}

const char *fm_stamp_name(unsigned int stamp)
{
	static const char *const names[FM_STAMPS] = { "detected", "table", "rebuilt", "drained",
						      "replayed", "resumed" };

	return stamp < FM_STAMPS ? names[stamp] : NULL;
}

const char *fm_root_state_name(unsigned int state)
{
	static const char *const names[FM_ROOT_STATES] = { "unknown", "leads", "lost", "asks",
							   "claims" };

	return state < FM_ROOT_STATES ? names[state] : NULL;
}

const char *fm_verdict_name(unsigned int verdict)
{
	static const char *const names[FM_VERDICTS] = { "unknown", "granted", "refused" };

	return verdict < FM_VERDICTS ? names[verdict] : NULL;
}

const char *fm_disk_name(unsigned int disk)
{
	static const char *const names[FM_DISKS] = {
		[FM_DISK_NONE] = "none", [FM_DISK_WAITS] = "behind", [FM_DISK_HAS] = "kept",
		[FM_DISK_FAILS] = "fails",
	};

	return disk < FM_DISKS ? names[disk] : NULL;
}

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	return fm->table.version && node < fm->table.nodes ? &fm->table.entry[node] : NULL;
}

uint32_t fm_node_by_name(const struct fm *fm, const char *name)
{
	for (uint32_t i = 0; i < fm->table.nodes; i++)
		if (fm->table.entry[i].state != FM_NODE_ABSENT &&
		    !strcmp(fm->table.entry[i].name, name))
			return i;
	return TORUS_NO_NODE;
}

uint32_t fm_node_by_guid(const struct fm *fm, uint64_t guid)
{
	return fm->table.version ? fm_table_find(fm, guid) : TORUS_NO_NODE;
}

uint32_t fm_node_parent(const struct fm *fm, uint32_t node)
{
	const struct fm_record *m, *up;

	if (!fm->root || !fm->table.version || node >= fm->table.nodes)
		return TORUS_NO_NODE;
	m = fm_record_at(fm->root, node);
	if (!m || m->guid == fm->guid)
		return TORUS_NO_NODE;
	up = fm_record(fm->root, m->via);
	return up ? up->node : TORUS_NO_NODE;
}

bool fm_joiner(const struct fm *fm, unsigned int i, struct fm_joiner *out)
{
	for (uint32_t k = 0; fm->root && k < fm_roster_size(fm->root); k++) {
		const struct fm_record *m = fm_record_no(fm->root, k);
		bool in_table = fm->table.version && m->node != TORUS_NO_NODE &&
				fm->table.entry[m->node].guid == m->guid;

		if (!fm_record_joined(m) || in_table || i--)
			continue;
		*out = (struct fm_joiner) { m->name, m->address, m->guid };
		return true;
	}
	return false;
}

bool fm_place(const struct fm *fm, struct fm_place *out)
{
	memset(out, 0, sizeof(*out));
	if (!fm->have_position || (!fm->placed && !fm->have_root))
		return false;
	out->confirmed = fm->placed;
	out->ndims = fm->ndims;
	memcpy(out->size, fm->size, sizeof(out->size));
	memcpy(out->position, fm->position, sizeof(out->position));
	return true;
}

bool fm_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out)
{
	return fm->have_root && fm_wave_neighbour(fm, port, out);
}

bool fm_cable(const struct fm *fm, unsigned int port, struct fm_cable *out)
{
	struct fm_place at;

	if (!fm_place(fm, &at) || port >= fm_ports_used(fm))
		return false;
	fm_wave_cable(fm, port, out);
	return true;
}

/* Return: true if this node has a way to the manager of @node, and that manager answers. */
static bool is_answering(const struct fm *fm, uint32_t node)
{
	const struct fm_record *m;

	if (fm->placed && node == fm->node)
		return true;
	if (!fm->root || fm->table.entry[node].state == FM_NODE_ABSENT)
		return false;
	m = fm_record(fm->root, fm->table.entry[node].guid);
	return m && (fm_is_root(fm) ? m->via : fm_quorum_here(fm, m));
}

/*
 * Return: when this node itself last received a message or an Init from the manager of @e; 0 for
 * never.
 */
static uint64_t find_last_contact(const struct fm *fm, const struct fm_entry *e)
{
	const struct fm_conn *c = fm_conn_of_child(fm, e->guid, NULL);
	uint64_t at = c ? c->received : 0;

	c = e->guid == fm->root_guid ? fm_conn_of_role(fm, FM_CONN_ROOT) :
	    fm_uplink_is_parent(fm, e->address) ? fm_conn_of_role(fm, FM_CONN_PARENT) : NULL;
	if (c && c->ready)
		at = later(at, c->received);
	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		if (fm_port_up(fm, p) && fm->row.port[p].peer_guid == e->guid)
			at = later(at, fm_port_last(fm, p));
	return at;
}

/*
 * Return: the last time at which the root, as its table shows, knew all nodes that are up; 0 if no
 * root did.
 */
static uint64_t known_by_root(const struct fm *fm)
{
	if (!fm->led.since || fm->led.guid == fm->guid)
		return 0;
	return fm->cut_off ? fm->cut_off : fm->now;
}

/*
 * Return: when this node, as a root or as a node that asks to be root, last knew that @m lives; 0
 * for never.
 */
static uint64_t find_last_proof(const struct fm *fm, const struct fm_record *m)
{
	if (m->via && (fm_is_root(fm) || fm_quorum_here(fm, m)))
		return fm->now;
	if (!fm_is_root(fm))
		return m->stated.received;
	return m->joined || m->stated.received ? later(m->missing, m->stated.received) : 0;
}

bool fm_last_alive(const struct fm *fm, uint32_t node, uint64_t *at)
{
	const struct fm_entry *e = fm_node(fm, node);
	const struct fm_record *m;
	bool lost;

	*at = 0;
	if (fm->placed && node == fm->node)
		*at = fm->now;
	if (*at || !e || e->state == FM_NODE_ABSENT)
		return *at;
	m = fm->root ? fm_record(fm->root, e->guid) : NULL;
	*at = m ? find_last_proof(fm, m) : 0;
	if (fm_is_root(fm))
		return m && fm->now < later(*at, m->missing) + fm->cfg.member_max;
	*at = later(*at, find_last_contact(fm, e));
	/* The table is no evidence that the lost root itself lives. */
	lost = e->guid == fm->led.guid && *at < fm->cut_off;
	*at = later(*at, known_by_root(fm));
	return !lost && *at && fm->now < *at + fm->cfg.member_max;
}

bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out)
{
	const struct fm_record *m;

	if (!fm_is_root(fm)) {
		*out = (struct fm_candidate_status) {
			fm_own(fm), fm_candidate_priority(fm_candidate_stated(fm), fm_own(fm)),
				true, FM_DISK_UNKNOWN, fm->cfg.name,
		};
		return !(*i)++ && out->priority;
	}
	while (*i < fm_roster_size(fm->root)) {
		m = fm_record_no(fm->root, (*i)++);
		*out = (struct fm_candidate_status) {
			m->node, fm_candidate_priority(m->priority, m->node), m->via,
			fm_admin_disk(fm, m), m->name,
		};
		if (fm_record_joined(m) && out->priority)
			return true;
	}
	return false;
}

/* Return: true if there was never a cable, because the ends of an open dimension are not cabled. */
static bool is_no_cable(const struct fm_table *t, uint32_t node, unsigned int d)
{
	const struct fm_entry *a = &t->entry[node];
	const struct fm_entry *b = &t->entry[torus_neighbour(&t->shape, node, d)];
	unsigned int q = torus_dir_opposite(&t->shape, d);

	return t->open & 1u << d && a->state == FM_NODE_UP && b->state == FM_NODE_UP &&
	       a->fault & 1u << d && b->fault & 1u << q && !(a->ended & 1u << d) &&
	       !(b->ended & 1u << q);
}

const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct fm_table *t = &fm->table;
	const struct fm_entry *a, *b;
	unsigned int q;

	if (node >= t->nodes || port >= 2u * t->shape.ndims ||
	    !(t->closed[node] & 1u << port))
		return NULL;
	a = &t->entry[node];
	b = &t->entry[torus_neighbour(&t->shape, node, port)];
	q = torus_dir_opposite(&t->shape, port);
	if (a->admin & 1u << port || b->admin & 1u << q)
		return "admin";
	if (a->wiring & 1u << port || b->wiring & 1u << q)
		return "wiring";
	if (a->held & 1u << port || b->held & 1u << q)
		return "held";
	if (a->stalled & 1u << port || b->stalled & 1u << q)
		return "stall";
	return "fault";
}

/* Return: until when the end @port of @node is excluded, by its orders; 0: without limit. */
static uint64_t find_until(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct fm_book *b = fm->table.book;
	const struct fm_order *o = b ? fm_orders_first(&b->orders, node) : NULL;

	for (; o; o = fm_orders_next(&b->orders, o))
		if (o->ports & 1u << port)
			return o->until;
	return 0;
}

uint64_t fm_excluded_until(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct fm_table *t = &fm->table;
	uint64_t here, there;
	unsigned int q;
	uint32_t far;

	if (!fm_excluded(fm, node, port))
		return 0;
	far = torus_neighbour(&t->shape, node, port);
	q = torus_dir_opposite(&t->shape, port);
	here = find_until(fm, node, port);
	there = t->entry[far].admin & 1u << q ? find_until(fm, far, q) : 0;
	if (!(t->entry[node].admin & 1u << port))
		return there;
	if (!(t->entry[far].admin & 1u << q))
		return here;
	return here && there ? later(here, there) : 0;
}

uint64_t fm_out_until(const struct fm *fm, uint32_t node)
{
	uint64_t at = 0;

	if (!fm_out_of_service(fm, node))
		return 0;
	for (unsigned int p = 0; p < 2u * fm->table.shape.ndims; p++) {
		uint64_t until = find_until(fm, node, p);

		if (until)
			at = at ? earlier(at, until) : until;
	}
	return at;
}

int fm_exclude_severs(const struct fm *fm, const struct fm_target *end, uint32_t n,
		      struct fm_severed *out)
{
	if (!fm_is_root(fm))
		return -EPERM;
	return fm->root->settled && fm->table.version ? fm_guard_look(fm, end, n, out) : -EAGAIN;
}

const struct fm_order *fm_order(const struct fm *fm, uint32_t i)
{
	const struct fm_book *b = fm->table.book;

	return b && i < b->orders.n ? &b->orders.of[i] : NULL;
}

const struct fm_order *fm_order_given(const struct fm *fm, uint32_t i)
{
	return fm_is_root(fm) && i < fm->root->orders.n ? &fm->root->orders.of[i] : NULL;
}

bool fm_exclusion_given(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct torus_shape *shape = &fm->table.shape;
	uint32_t far;

	if (!fm_is_root(fm) || node >= fm->table.nodes || port >= 2u * shape->ndims)
		return false;
	far = torus_neighbour(shape, node, port);
	return fm->root->admin[node] & 1u << port ||
	       fm->root->admin[far] & 1u << torus_dir_opposite(shape, port);
}

const struct fm_job *fm_job(const struct fm *fm, uint32_t i)
{
	const struct fm_book *b = fm->table.version ? fm->table.book : NULL;

	return b && i < b->jobs.n ? &b->jobs.of[i] : NULL;
}

const struct fm_job *fm_job_given(const struct fm *fm, const char *name)
{
	return fm_is_root(fm) ? fm_jobs_named(&fm->root->jobs, name) : NULL;
}

bool fm_job_counts(const struct fm *fm, struct fm_job_count *count)
{
	return fm->table.version && fm_jobs_count(&fm->table, count);
}

int fm_job_choose(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why)
{
	const char *name;

	if (!fm_is_root(fm))
		return -EPERM;
	if (!fm->root->settled || !fm->table.version)
		return -EAGAIN;
	name = fm_apart_stranger(fm);
	if (!name)
		return fm_box_choose(fm, want, node, why);
	snprintf(why, FM_TEXT_MAX, "the manager of '%s' does not know jobs: update fabricd there",
		 name);
	return -EOPNOTSUPP;
}

int fm_job_growth(const struct fm *fm, const char *name, char *why)
{
	return fm_is_root(fm) ? fm_grown_state(fm, name, why) : -EPERM;
}

bool fm_out_of_service(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = fm_node(fm, node);

	return e && fm_is_out_of_service(&fm->table.shape, e->admin);
}

const uint16_t *fm_exclusions(const struct fm *fm)
{
	return fm->table.version ? fm->table.closed : NULL;
}

enum cable { CABLE_NONE, CABLE_UP, CABLE_FAULTY, CABLE_EXCLUDED, CABLE_MISWIRED };

/* Return: the state of the cable of @node in dimension @d, by the table. */
static enum cable cable_state(const struct fm *fm, uint32_t node, unsigned int d)
{
	const char *why = fm_excluded(fm, node, d);

	if (fm->table.shape.size[d] == 1 || is_no_cable(&fm->table, node, d))
		return CABLE_NONE;
	if (!why)
		return CABLE_UP;
	return why[0] == 'a' ? CABLE_EXCLUDED : why[0] == 'w' ? CABLE_MISWIRED : CABLE_FAULTY;
}

/*
 * Return: true if a node or a cable does not work by the table, although no administrator has
 * excluded it.
 */
static bool find_lack(const struct fm *fm)
{
	const struct fm_table *t = &fm->table;

	for (uint32_t i = 0; i < t->nodes; i++) {
		if (t->entry[i].state != FM_NODE_UP && !fm_out_of_service(fm, i))
			return true;
		for (unsigned int d = 0; d < t->shape.ndims; d++) {
			enum cable is = cable_state(fm, i, d);

			if (is == CABLE_FAULTY || is == CABLE_MISWIRED)
				return true;
		}
	}
	return false;
}

/* Return: the result of find_lack(), which is computed once for each table. */
static bool is_lacking(const struct fm *fm)
{
	struct fm_lack *lack = &fm->table.book->lack;

	if (!lack->known)
		*lack = (struct fm_lack) { .known = true, .is = find_lack(fm) };
	return lack->is;
}

static bool is_alive_lately(const struct fm *fm, uint32_t node)
{
	uint64_t at;

	return fm_last_alive(fm, node, &at);
}

/*
 * Return: true if the cable in direction @d of @node ends at this node, and is down while there is
 * no root whose table could show this.
 */
static bool own_down(const struct fm *fm, uint32_t node, unsigned int d)
{
	const struct torus_shape *shape = &fm->table.shape;
	unsigned int q = torus_dir_opposite(shape, d);

	if (!fm->cut_off || !fm->placed)
		return false;
	return (node == fm->node && !fm_port_up(fm, d)) ||
	       (torus_neighbour(shape, node, d) == fm->node && !fm_port_up(fm, q));
}

/*
 * Return: true if @node is this node and there is no root: then it works, whatever its state in the
 * last table. The table may have it as silent, if a new root made that table before this node had
 * joined, and was lost since.
 */
static bool works_here(const struct fm *fm, uint32_t node)
{
	return fm->cut_off && fm->placed && node == fm->node;
}

/*
 * Counts the nodes. Return: true if a node does not work, as far as this machine knows, although no
 * administrator has excluded it.
 */
static bool count_nodes(const struct fm *fm, struct fm_status *s)
{
	const struct fm_table *t = &fm->table;
	bool lacks = false;

	for (uint32_t i = 0; i < t->nodes; i++) {
		bool here = is_answering(fm, i), alive = is_alive_lately(fm, i),
			out = fm_out_of_service(fm, i);
		bool up = alive && (t->entry[i].state == FM_NODE_UP || works_here(fm, i));

		s->nodes_answering += here;
		s->nodes_excluded += out;
		s->nodes_up += up;
		lacks |= !up && !out;
		for (unsigned int d = 0; d < t->shape.ndims; d++) {
			enum cable is = cable_state(fm, i, d);

			if (is == CABLE_NONE)
				continue;
			s->links++;
			s->links_answering += here ||
				is_answering(fm, torus_neighbour(&t->shape, i, d));
			if (is == CABLE_EXCLUDED)
				s->links_excluded++;
			else if (is == CABLE_MISWIRED)
				s->links_wrong++;
			else if (is == CABLE_FAULTY || own_down(fm, i, d))
				s->links_faulty++;
			else
				s->links_up += alive ||
					       is_alive_lately(fm,
							       torus_neighbour(&t->shape, i, d));
		}
	}
	return lacks;
}

/*
 * Describes why a cable is lost, as far as the root knows: a dead node is the cause for all of its
 * cables.
 */
static void explain_loss(const struct fm *fm, struct fm_faulty *f)
{
	const struct fm_entry *a = fm_node(fm, f->node), *b = fm_node(fm, f->peer);

	f->dead = a->state == FM_NODE_DEAD ? f->node : b->state == FM_NODE_DEAD ? f->peer :
		  TORUS_NO_NODE;
	if (fm_is_root(fm))
		f->reason = fm_cables_why(fm, f->node, f->port, &f->since);
}

/*
 * Changes @node and @port to that end of the cable which has a port with "+". Return: false if this
 * node is not root, or there is no such cable.
 */
static bool find_cable(const struct fm *fm, uint32_t *node, unsigned int *port)
{
	const struct torus_shape *shape = &fm->table.shape;

	if (!fm_is_root(fm) || *node >= fm->table.nodes || *port >= 2u * shape->ndims ||
	    shape->size[*port % shape->ndims] == 1)
		return false;
	if (*port >= shape->ndims) {
		*node = torus_neighbour(shape, *node, *port);
		*port = torus_dir_opposite(shape, *port);
	}
	return true;
}

bool fm_lost_since(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since)
{
	*since = 0;
	if (!find_cable(fm, &node, &port) || cable_state(fm, node, port) != CABLE_FAULTY)
		return false;
	fm_cables_why(fm, node, port, since);
	return *since > 0;
}

bool fm_downs(const struct fm *fm, uint32_t node, unsigned int port, uint32_t *n)
{
	*n = 0;
	if (!find_cable(fm, &node, &port))
		return false;
	*n = fm_cables_downs(fm, node, port);
	return true;
}

bool fm_faulty(const struct fm *fm, uint32_t *i, struct fm_faulty *out)
{
	const struct torus_shape *shape = &fm->table.shape;

	while (fm->table.version && *i < fm->table.nodes * shape->ndims) {
		uint32_t node = *i / shape->ndims;
		unsigned int d = (*i)++ % shape->ndims;
		enum cable is = cable_state(fm, node, d);

		if (is != CABLE_FAULTY && (is != CABLE_UP || !own_down(fm, node, d)))
			continue;
		*out = (struct fm_faulty) {
			.node = node, .port = d, .peer = torus_neighbour(shape, node, d),
			.peer_port = torus_dir_opposite(shape, d),
		};
		explain_loss(fm, out);
		return true;
	}
	return false;
}

uint32_t fm_nodes(const struct fm *fm, uint32_t *up)
{
	if (!fm->table.version)
		return *up = 0;
	*up = fm_book_ups(fm->table.book);
	return fm->table.nodes;
}

bool fm_is_root(const struct fm *fm)
{
	return fm->root && fm_claim_leads(fm);
}

uint64_t fm_epoch(const struct fm *fm)
{
	return fm->term;
}

bool fm_reachable(const struct fm *fm)
{
	return !fm->cut_off;
}

uint64_t fm_cut_off(const struct fm *fm)
{
	return fm->cut_off;
}

uint32_t fm_own(const struct fm *fm)
{
	return fm->placed ? fm->node : TORUS_NO_NODE;
}

const struct torus_shape *fm_shape(const struct fm *fm)
{
	return fm->placed || !fm->table.version ? &fm->shape : &fm->table.shape;
}

struct torus_plan fm_address_plan(const struct fm *fm)
{
	return fm_plan_full(fm->placed || !fm->table.version ? &fm->plan : &fm->table.plan);
}

uint64_t fm_version(const struct fm *fm)
{
	return fm->table.version;
}

uint64_t fm_version_epoch(const struct fm *fm)
{
	return fm->table.term;
}

uint64_t fm_applied(const struct fm *fm)
{
	return fm->applied;
}

static void own_root_status(const struct fm *fm, struct fm_root_status *r)
{
	static const uint8_t states[] = {
		[FM_STAGE_ASKS] = FM_ROOT_ASKS,
		[FM_STAGE_CLAIMS] = FM_ROOT_CLAIMS,
		[FM_STAGE_LEADS] = FM_ROOT_LEADS,
	};
	const struct fm_root *root = fm->root;

	fm_calls_count(fm, &r->calls);
	r->own = true;
	r->node = fm_own(fm);
	r->state = states[root->stage];
	r->epoch = fm->term;
	if (root->stage == FM_STAGE_LEADS) {
		r->why = fm_claim_why(root);
		r->since = root->since;
	} else {
		fm_quorum_count(fm, &r->here, &r->need);
	}
}

static void arbiter_status(const struct fm *fm, struct fm_root_status *r)
{
	const struct fm_answer *a = fm_verdict(fm);

	r->arbiter = fm->cfg.arbiter;
	r->verdict = a->verdict;
	r->asked_epoch = a->at ? a->epoch : 0;
	r->answered = a->at;
	r->refusal = a->why;
}

void fm_root_status(const struct fm *fm, struct fm_root_status *r)
{
	memset(r, 0, sizeof(*r));
	r->known = fm->have_root;
	r->reachable = fm_reachable(fm);
	r->lost = fm->cut_off;
	r->guid = fm->root_guid;
	r->node = fm->table.version ? fm_table_find(fm, fm->root_guid) : TORUS_NO_NODE;
	r->address = fm->root_address;
	r->epoch = fm->root_epoch;
	r->since = fm->led.since;
	arbiter_status(fm, r);
	if (fm->root) {
		own_root_status(fm, r);
	} else if (!fm->have_root) {
		r->state = FM_ROOT_UNKNOWN;
	} else if (fm->root_asks) {
		r->state = fm->asker.need && fm->asker.epoch ? FM_ROOT_CLAIMS :
			   FM_ROOT_ASKS;
		r->here = fm->asker.need ? fm->asker.here : 0;
		r->need = fm->asker.need;
	} else {
		r->state = r->reachable ? FM_ROOT_LEADS : FM_ROOT_LOST;
	}
}

const struct fm_recovery *fm_last(const struct fm *fm)
{
	return fm_is_root(fm) ? fm_recovery_last(fm->root) : NULL;
}

static bool under_way(const struct fm *fm)
{
	if (fm_is_root(fm))
		return fm_recovery_phase(fm->root) != FM_PHASE_REST || fm_demand_is(fm->root);
	return !fm_member_ended(fm);
}

bool fm_in_force(const struct fm *fm, uint64_t version)
{
	return version && fm->table.version == version && fm_rows_in_force(fm) && !under_way(fm);
}

bool fm_root_busy(const struct fm *fm)
{
	return fm_is_root(fm) && (!fm->root->settled || under_way(fm));
}

bool fm_kept_count(const struct fm *fm, struct fm_kept_count *out)
{
	if (!fm_is_root(fm))
		return false;
	fm_admin_kept_count(fm, out);
	return true;
}

void fm_outline(const struct fm *fm, struct fm_outline *out)
{
	memset(out, 0, sizeof(*out));
	out->term = fm->table.term;
	out->version = fm->table.version;
	out->own = fm_own(fm);
	out->problems = fm_problems_count(fm);
	out->under_way = under_way(fm);
	out->cut_off = !fm_reachable(fm);
}

enum fm_state fm_state(const struct fm *fm)
{
	if (!fm->table.version)
		return FM_BOOTSTRAPPING;
	if (under_way(fm))
		return FM_RECOVERING;
	if (is_lacking(fm) || fm_problems_count(fm) || !fm_reachable(fm))
		return FM_DEGRADED;
	return FM_RUNNING;
}

void fm_status(const struct fm *fm, struct fm_status *s)
{
	const struct fm_table *t = &fm->table;

	memset(s, 0, sizeof(*s));
	s->is_root = fm_is_root(fm);
	s->placed = fm->placed;
	s->shape = *fm_shape(fm);
	s->own = fm_own(fm);
	s->version = t->version;
	s->applied = fm->applied;
	s->problems = fm_problems_count(fm);
	s->parked = fm->park.parked;
	s->relayed = fm->relayed;
	fm_root_status(fm, &s->root);
	s->state = fm_state(fm);
	s->nodes = fm_nodes(fm, &s->nodes_up);
	if (!t->version)
		return;
	s->nodes_up = 0;
	if (count_nodes(fm, s) && s->state == FM_RUNNING)
		s->state = FM_DEGRADED;
	if (fm_is_root(fm)) {
		s->parked = fm_recovery_sums(fm->root)->parked;
		s->relayed = fm_recovery_sums(fm->root)->relayed;
		s->last = *fm_recovery_last(fm->root);
		if (fm_recovery_phase(fm->root) != FM_PHASE_REST)
			s->present = *fm_recovery_log(fm->root);
	}
}
