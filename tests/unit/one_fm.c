// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/wire/init.h"
#include "daemon/fm/node/table.h"
#include "tests/unit/one_fm.h"

static const char fabric[] = "ring";

/* --- the NIC --------------------------------------------------------------------- */

static void mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	(void)io;
	(void)data;
	assert_true(port < ONE_PORTS + ONE_SPARE && len <= TORUS_MGMT_MAX);
}

/*
 * Ends the action @tag with @err, after the call of the machine. Return: @err, or 0 if the action
 * is done nevertheless.
 */
static int will_end(struct one_fm *o, uint32_t tag, int err)
{
	assert_int_equal(o->under_way, 0);
	assert_int_not_equal(tag, 0);
	o->under_way = tag;
	o->result = err;
	return o->answers_lost ? 0 : err;
}

static void root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	(void)epoch;
	(void)guid;
	will_end(io, tag, 0);
}

static void place_set(void *io, uint32_t tag, const struct torus_shape *shape,
		      const struct torus_coords *at, const struct torus_plan *plan)
{
	struct one_fm *o = io;

	if (will_end(o, tag, o->place_err))
		return;
	assert_int_equal(torus_nodes(shape), o->nodes);
	o->plan = *plan;
	o->place = torus_node_id(shape, at);
	o->placed++;
}

static void rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		       const uint64_t *row, uint32_t n)
{
	struct one_fm *o = io;

	if (will_end(o, tag, o->write_err))
		return;
	for (uint32_t i = 0; i < n; i++) {
		assert_true(node[i] < o->nodes && (!i || node[i - 1] < node[i]));
		o->row[node[i]] = row[i];
	}
	o->writes++;
	o->written = version;
}

static void release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	struct one_fm *o = io;

	if (will_end(o, tag, o->release_err))
		return;
	assert_int_equal(version, o->written);
	o->releases++;
	o->gave_up = give_up;
	for (uint32_t i = 0; i < o->nodes; i++)
		o->row[i] &= ~TORUS_ROW_HOLD;
}

static void count(void *io, uint32_t tag, bool lost)
{
	struct one_fm *o = io;
	const struct fm_sums *s = &o->node[o->self].sums;
	struct torus_park *out = &o->counts.park;

	if (will_end(o, tag, o->count_err))
		return;
	*out = (struct torus_park) { .parked = s->parked, .unresolved = s->unresolved,
				     .held = s->held };
	memcpy(out->flow.counter, s->flow, sizeof(s->flow));
	o->counts.lost = lost ? s->lost : 0;
}

static void park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	struct one_fm *o = io;

	assert_true(o->resolves < ONE_RESOLVES);
	o->resolve[o->resolves++] = (struct one_resolve) { port, session, seq };
}

static void park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	struct one_fm *o = io;

	if (will_end(o, tag, o->replay_err))
		return;
	assert_int_equal(version, o->written);
	o->replays++;
	o->opened = ports;
}

/* --- the service network ----------------------------------------------------------- */

static int service_connect(void *io, const char *addr)
{
	struct one_fm *o = io;

	if (o->self == 0) {
		struct one_reach *r = &o->reach[o->reaches];

		assert_in_range(o->reaches++, 0, ONE_NODES - 1);
		snprintf(r->address, sizeof(r->address), "%s", addr);
		return r->conn = ++o->next_conn;
	}
	assert_string_equal(addr, "root:1");
	assert_int_equal(o->up, 0);
	return o->up = ++o->next_conn;
}

/* Notes the step that a node is asked for. A table is the first step of its version. */
static void asked(struct one_node *n, const struct fm_step *s)
{
	bool again = n->asked.version == s->version && n->asked.round == s->round &&
		     n->asked.term == s->term;

	n->times = again ? n->times + 1 : 1;
	n->answered &= again;
	if (!again)
		n->asked = *s;
}

static void see_table(struct one_fm *o, const struct fm_table_msg *t)
{
	memset(o->in_table, 0, sizeof(o->in_table));
	for (uint32_t i = 0; i < t->nentries; i++) {
		assert_true(t->entries[i].node < o->nodes);
		assert_true(!i || t->entries[i - 1].node < t->entries[i].node);
		o->entry[t->entries[i].node] = t->entries[i];
		o->in_table[t->entries[i].node] = true;
	}
}

static void count_down(struct one_fm *o, struct one_node *n, const struct fm_msg *msg)
{
	struct fm_step s = { .step = FM_STEP_APPLY };

	if (msg->type == FM_MSG_CLAIM)
		n->claim = msg->claim.epoch;
	if (msg->type == FM_MSG_WELCOME)
		memcpy(n->parent, msg->welcome.parent, sizeof(n->parent));
	if (msg->type == FM_MSG_STEP)
		asked(n, &msg->step);
	if (msg->type == FM_MSG_DROP)
		n->drop = msg->drop.guid;
	if (msg->type != FM_MSG_TABLE)
		return;
	see_table(o, &msg->table);
	s.term = msg->table.term;
	s.version = msg->table.version;
	asked(n, &s);
}

static void service_send(void *io, int conn, const struct fm_msg *msg)
{
	struct one_fm *o = io;

	if (conn == o->up) {
		o->sent[msg->type] = *msg;
		o->nsent[msg->type]++;
		return;
	}
	for (unsigned int i = 0; i < o->reaches; i++)
		if (o->reach[i].conn == conn)
			o->reach[i].drop = msg->drop.guid;
	for (uint32_t i = 0; i < o->nodes + o->more; i++)
		if (o->node[i].conn == conn)
			count_down(o, &o->node[i], msg);
}

static void service_close(void *io, int conn)
{
	struct one_fm *o = io;

	if (conn == o->up)
		o->up = 0;
	for (uint32_t i = 0; i < o->nodes + o->more; i++)
		if (o->node[i].conn == conn)
			o->node[i].conn = 0;
}

static void keep(void *io, const struct fm_msg *table)
{
	(void)io;
	(void)table;
}

static void count_log(void *io, const struct fm_log *log)
{
	struct one_fm *o = io;
	size_t n = strlen(o->steps);

	if (log->recovery)
		snprintf(o->steps + n, sizeof(o->steps) - n, "%llu %s ",
			 (unsigned long long)log->recovery->version,
			 log->step ? fm_stamp_name(log->step) : "end");
	if (getenv("VERBOSE"))
		print_message("%s: %s\n", log->kind, log->text);
}

static const struct fm_ops ops = {
	.mgmt_send = mgmt_send,
	.root_set = root_set,
	.place_set = place_set,
	.rows_write = rows_write,
	.release = release,
	.count = count,
	.park_resolve = park_resolve,
	.park_replay = park_replay,
	.connect = service_connect,
	.send = service_send,
	.close = service_close,
	.keep = keep,
	.log = count_log,
};

/* --- beginning and end --------------------------------------------------------------- */

/* Sets the rows of a ring in which all links are up. */
static void wire(struct one_fm *o)
{
	for (uint32_t i = 0; i < o->nodes; i++) {
		struct one_node *n = &o->node[i];

		n->guid = 100 + i;
		n->epoch = 1000 + i;
		n->row.nports = ONE_PORTS + ONE_SPARE;
		for (unsigned int p = 0; p < ONE_PORTS; p++) {
			uint32_t to = (i + (p ? o->nodes - 1 : 1)) % o->nodes;

			n->row.port[p] = (struct fm_port_row) {
				.state = FM_PORT_UP, .peer_guid = 100 + to,
				.peer_port = (uint8_t)!p };
		}
		for (unsigned int p = ONE_PORTS; p < n->row.nports; p++)
			n->row.port[p] = (struct fm_port_row) {
				.state = FM_PORT_FAULTY, .closed = true, .session = 70 + p };
	}
}

/* @version: of the node's rows; 0: it has none, and no place. */
static void begin(struct one_fm *o, uint32_t nodes, uint32_t self, unsigned int fanout,
		  uint64_t version)
{
	struct torus_device dev = { .guid = 100 + self, .epoch = 1000 + self,
				    .nports = ONE_PORTS + ONE_SPARE, .bootstrap = self == 0 };
	struct torus_link links[ONE_PORTS + ONE_SPARE] = { { 0 } };
	struct fm_config cfg;

	assert_true(nodes >= 3 && nodes <= ONE_NODES);
	*o = (struct one_fm) { .nodes = nodes, .self = self, .now = 1000 * MS };
	wire(o);
	fm_config_default(&cfg);
	cfg.takeover = 0;
	strcpy(cfg.fabric, fabric);
	snprintf(cfg.name, sizeof(cfg.name), "n%u", self);
	snprintf(cfg.address, sizeof(cfg.address), "%s", self ? "member:1" : "root:1");
	cfg.shape = (struct torus_shape) { .ndims = 1, .size = { (uint16_t)nodes, 1, 1, 1, 1, 1 } };
	if (version) {
		dev.placed = true;
		dev.shape = cfg.shape;
		dev.version = version;
	}
	cfg.fanout = fanout;
	cfg.resend = ONE_RESEND;
	cfg.drain_max = ONE_DRAIN_MAX;
	cfg.resolve_max = ONE_RESOLVE_MAX;
	cfg.member_max = ONE_MEMBER_MAX;
	cfg.keepalive = 10000 * MS;
	for (unsigned int p = 0; p < ONE_PORTS + ONE_SPARE; p++)
		links[p] = (struct torus_link) {
			.port = (uint8_t)p, .session = 1 + p, .closed = p >= ONE_PORTS,
			.state = p < ONE_PORTS ? TORUS_LINK_UP : TORUS_LINK_FAULTY,
			.lower = "veth", .peer_guid = o->node[self].row.port[p].peer_guid,
			.peer_port = o->node[self].row.port[p].peer_port };
	o->fm = fm_new(&cfg, &ops, o, &dev, links, NULL, NULL, o->now);
	assert_non_null(o->fm);
}

/* Says HELLO. Actions at the NIC end at once; each may be followed by another one. */
static void send_hello(struct one_fm *o, uint32_t node, uint64_t obeys);

/* Nodes that are asked to obey the root do so, and say HELLO again. */
static void promises(struct one_fm *o)
{
	for (uint32_t i = 1; i < o->nodes + o->more; i++) {
		uint64_t epoch = o->node[i].claim;

		o->node[i].claim = 0;
		if (epoch && o->node[i].conn)
			send_hello(o, i, epoch);
	}
}

static void actions(struct one_fm *o)
{
	while (o->under_way) {
		uint32_t tag = o->under_way;

		o->under_way = 0;
		fm_done(o->fm, tag, o->result, o->result ? NULL : &o->counts, o->now);
	}
}

void one_ends(struct one_fm *o)
{
	actions(o);
	promises(o);
}

void one_root(struct one_fm *o, uint32_t nodes, unsigned int fanout)
{
	begin(o, nodes, 0, fanout, 0);
	for (uint32_t i = 1; i < nodes; i++)
		one_join(o, i);
	one_finish(o);
	assert_int_equal(fm_last(o->fm)->version, 1);
}

void one_root_without(struct one_fm *o, uint32_t nodes, uint32_t absent)
{
	begin(o, nodes, 0, nodes, 0);
	for (uint32_t i = 1; i < nodes; i++) {
		for (unsigned int p = 0; p < ONE_PORTS; p++)
			if (o->node[i].row.port[p].peer_guid == 100 + absent)
				o->node[i].row.port[p] = (struct fm_port_row) { 0 };
		if (i != absent)
			one_join(o, i);
	}
	assert_int_equal(one_asked(o, 1000 * MS), FM_STEP_APPLY);
	one_finish(o);
	assert_int_equal(fm_last(o->fm)->version, 1);
}

void one_root_anew(struct one_fm *o, uint32_t nodes, const uint64_t *version)
{
	begin(o, nodes, 0, nodes, version[0]);
	o->written = version[0];
	for (uint32_t i = 1; i < nodes; i++) {
		o->node[i].rows = version[i];
		one_join(o, i);
	}
	assert_int_equal(one_asked(o, ONE_SOON), FM_STEP_APPLY);
}

uint32_t one_root_beside(struct one_fm *o, uint32_t nodes, uint64_t version, uint32_t place,
			 uint64_t its)
{
	begin(o, nodes, 0, nodes, version);
	o->written = version;
	for (uint32_t i = 1; i < nodes; i++) {
		o->node[i].rows = version;
		one_join(o, i);
	}
	o->more = 1;
	o->node[nodes] = (struct one_node) { .guid = 100 + nodes, .epoch = 1000 + nodes,
					     .place = place, .rows = its, .mute = true,
					     .row.nports = o->node[1].row.nports };
	one_join(o, nodes);
	one_until(o, FM_STEP_APPLY);
	return nodes;
}

void one_member(struct one_fm *o, uint32_t nodes, uint32_t self)
{
	struct fm_init init = { .placed = true, .port = 0, .ndims = 1, .guid = 100,
				.root_guid = 100, .fabric = "ring", .name = "n0",
				.root_address = "root:1" };
	struct fm_msg welcome = { .type = FM_MSG_WELCOME };
	uint8_t buf[TORUS_MGMT_MAX];

	begin(o, nodes, self, 8, 0);
	init.size[0] = (uint16_t)nodes;
	init.position[0] = (int32_t)self - 1;
	fm_mgmt(o->fm, 1, buf, fm_init_put(buf, &init), o->now);
	one_ends(o);
	assert_int_not_equal(o->up, 0);
	fm_conn_up(o->fm, o->up, o->now);
	one_ends(o);
	assert_int_equal(o->nsent[FM_MSG_HELLO], 1);
	o->term = 77;
	welcome.welcome.term = o->term;
	welcome.welcome.root_guid = 100;
	one_root_sends(o, &welcome);
}

void one_end(struct one_fm *o)
{
	fm_free(o->fm);
	o->fm = NULL;
}

/* --- time ------------------------------------------------------------------------------ */

/* The connections that were opened to nodes are up, before time goes on. */
static void reach_nodes(struct one_fm *o)
{
	while (!o->unreachable && o->reached < o->reaches)
		fm_conn_up(o->fm, o->reach[o->reached++].conn, o->now);
}

static void step(struct one_fm *o, uint64_t end)
{
	uint64_t due;

	reach_nodes(o);
	due = fm_expiry(o->fm);
	o->now = due < end ? (due > o->now ? due : o->now) : end;
	fm_timer(o->fm, o->now);
	one_ends(o);
	/* Due timers have run; otherwise fm_expiry() would return a past time again and again. */
	assert_true(fm_expiry(o->fm) > o->now);
	reach_nodes(o);
}

void one_run(struct one_fm *o, uint64_t ns)
{
	uint64_t end = o->now + ns;

	one_ends(o);
	while (o->now < end)
		step(o, end);
}

/* Return: the step for which all nodes were asked that can be asked and have not answered. */
static unsigned int step_at_hand(const struct one_fm *o)
{
	unsigned int found = ONE_NOTHING;

	for (uint32_t i = 0; i < o->nodes + o->more; i++) {
		const struct one_node *n = &o->node[i];

		if (n->conn && !n->mute && n->asked.version && !n->answered)
			found = n->asked.step;
	}
	return found;
}

unsigned int one_asked(struct one_fm *o, uint64_t within)
{
	uint64_t end = o->now + within;

	one_ends(o);
	while (step_at_hand(o) == ONE_NOTHING && o->now < end)
		step(o, end);
	return step_at_hand(o);
}

void one_report(struct one_fm *o, uint32_t node)
{
	struct one_node *n = &o->node[node];
	struct fm_msg msg = { .type = FM_MSG_REPORT };
	struct fm_report *r = &msg.report;

	*r = n->below;
	r->term = n->asked.term;
	r->version = n->asked.version;
	r->round = n->asked.round;
	r->count += 1;
	r->set += one_fingerprint(o, node);
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			r->sums.flow[f][c] += n->sums.flow[f][c];
	r->sums.parked += n->sums.parked;
	r->sums.unresolved += n->sums.unresolved;
	r->sums.held += n->sums.held;
	r->sums.lost += n->sums.lost;
	r->sums.reopen += n->sums.reopen;
	n->answered = true;
	fm_msg(o->fm, n->conn, &msg, o->now);
	one_ends(o);
}

void one_answer(struct one_fm *o)
{
	for (uint32_t i = 0; i < o->nodes + o->more; i++) {
		const struct one_node *n = &o->node[i];

		if (n->conn && !n->mute && n->asked.version && !n->answered)
			one_report(o, i);
	}
}

uint64_t one_until(struct one_fm *o, unsigned int step)
{
	uint64_t began = o->now;

	while (one_asked(o, ONE_SOON) != step) {
		assert_true(o->now < began + 60000 * MS);
		one_answer(o);
	}
	return o->now - began;
}

void one_version(struct one_fm *o, uint64_t version)
{
	assert_int_equal(fm_exclude(o->fm, 0, -1, false, o->now), 0);
	one_ends(o);
	assert_int_equal(fm_version(o->fm), version);
	assert_int_equal(one_asked(o, 0), FM_STEP_APPLY);
	one_answer(o);
}

void one_finish(struct one_fm *o)
{
	while (one_asked(o, 5 * ONE_SOON) != ONE_NOTHING)
		one_answer(o);
}

/* --- others ------------------------------------------------------------------------------ */

uint64_t one_fingerprint(const struct one_fm *o, uint32_t node)
{
	return fm_fingerprint(o->node[node].guid, o->node[node].epoch);
}

static void send_hello(struct one_fm *o, uint32_t node, uint64_t obeys)
{
	struct one_node *n = &o->node[node];
	struct fm_msg msg = { .type = FM_MSG_HELLO };
	struct fm_hello *h = &msg.hello;

	if (obeys) {
		h->root_epoch = obeys;
		h->root_guid = o->node[o->self].guid;
	}
	strcpy(h->fabric, fabric);
	snprintf(h->name, sizeof(h->name), "n%u", node);
	snprintf(h->address, sizeof(h->address), "%u:1", node);
	h->guid = n->guid;
	h->epoch = n->epoch;
	h->attach = n->attach;
	h->version = n->asked.version ? n->asked.version : n->rows;
	h->rows_term = n->asked.version ? fm_epoch(o->fm) : 0;
	h->table = n->table;
	h->term = n->table ? fm_epoch(o->fm) : 0;
	h->clean = n->clean;
	if (h->version) {
		h->placed = true;
		h->shape = (struct torus_shape) { .ndims = 1,
						  .size = { (uint16_t)o->nodes, 1, 1, 1, 1, 1 } };
		h->coords.c[0] = (uint16_t)(n->place ? n->place : node);
	}
	h->row = n->row;
	h->sums = n->sums;
	fm_msg(o->fm, n->conn, &msg, o->now);
	one_ends(o);
}

void one_join(struct one_fm *o, uint32_t node)
{
	struct one_node *n = &o->node[node];

	n->conn = ++o->next_conn;
	n->attach++;
	n->row.serial++;
	fm_conn_up(o->fm, n->conn, o->now);
	one_ends(o);
	send_hello(o, node, 0);
}

void one_gone(struct one_fm *o, uint32_t node)
{
	int conn = o->node[node].conn;

	o->node[node].conn = 0;
	fm_conn_down(o->fm, conn, o->now);
	one_ends(o);
}

void one_adopt(struct one_fm *o, uint32_t node, uint32_t parent)
{
	struct fm_msg msg = { .type = FM_MSG_ADOPTED };

	msg.left.guid = o->node[node].guid;
	msg.left.epoch = o->node[node].epoch;
	msg.left.parent = o->node[parent].guid;
	msg.left.attach = ++o->node[node].attach;
	fm_msg(o->fm, o->node[parent].conn, &msg, o->now);
	one_ends(o);
}

void one_row(struct one_fm *o, uint32_t node)
{
	struct one_node *n = &o->node[node];
	struct fm_msg msg = { .type = FM_MSG_ROW };

	n->row.serial++;
	msg.row.guid = n->guid;
	msg.row.epoch = n->epoch;
	msg.row.row = n->row;
	fm_msg(o->fm, n->conn, &msg, o->now);
	one_ends(o);
}

void one_cable(struct one_fm *o, uint32_t at, uint32_t node)
{
	for (unsigned int p = 0; p < ONE_PORTS; p++) {
		uint32_t to = (at + (p ? o->nodes - 1 : 1)) % o->nodes;

		o->node[node].row.port[p] = (struct fm_port_row) {
			.state = FM_PORT_UP, .peer_guid = o->node[to].guid,
			.peer_port = (uint8_t)!p };
		o->node[to].row.port[!p] = (struct fm_port_row) {
			.state = FM_PORT_UP, .peer_guid = o->node[node].guid,
			.peer_port = (uint8_t)p };
		one_row(o, to);
	}
}

uint32_t one_replace(struct one_fm *o, uint32_t node)
{
	uint32_t i = o->nodes + o->more++;

	assert_true(i < ONE_NODES);
	o->node[i] = (struct one_node) { .guid = 100 + i, .epoch = 1000 + i,
					 .row.nports = o->node[node].row.nports };
	one_cable(o, node, i);
	one_join(o, i);
	return i;
}

void one_lose(struct one_fm *o, uint32_t node, unsigned int port, uint32_t session, uint16_t seq)
{
	struct fm_port_row *p = &o->node[node].row.port[port];

	if (node == o->self) {
		one_link(o, port, TORUS_LINK_FAULTY, true, session, seq);
		return;
	}
	p->state = FM_PORT_FAULTY;
	p->closed = true;
	p->session = session;
	p->seq = seq;
	one_row(o, node);
}

void one_mend(struct one_fm *o, uint32_t node, unsigned int port, uint32_t session)
{
	struct fm_port_row *p = &o->node[node].row.port[port];

	if (node == o->self) {
		one_link(o, port, TORUS_LINK_UP, true, session, 0);
		return;
	}
	p->state = FM_PORT_UP;
	one_row(o, node);
}

void one_link(struct one_fm *o, unsigned int port, unsigned int state, bool closed,
	      uint32_t session, uint16_t seq)
{
	const struct fm_port_row *p = &o->node[o->self].row.port[port];
	struct torus_link link = {
		.port = (uint8_t)port, .state = (uint8_t)state, .closed = closed,
		.session = session, .seq = seq, .peer_guid = p->peer_guid,
		.peer_port = p->peer_port,
	};

	strcpy(link.lower, "veth");
	fm_link(o->fm, &link, o->now);
	one_ends(o);
}

void one_root_sends(struct one_fm *o, const struct fm_msg *msg)
{
	fm_msg(o->fm, o->up, msg, o->now);
	one_ends(o);
}

bool one_problem(const struct one_fm *o, const char *kind, const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(o->fm, i)); i++)
		if (!strcmp(p->kind, kind) && strstr(p->text, part))
			return true;
	return false;
}

/* --- packets ------------------------------------------------------------------------------ */

static void add(struct one_fm *o, uint32_t node, unsigned int what, unsigned int colour,
		uint64_t n)
{
	o->node[node].sums.flow[what][colour] += n;
}

void one_sends(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n)
{
	add(o, node, TORUS_FC_INJECTED, colour, n);
}

void one_moves(struct one_fm *o, uint32_t from, uint32_t to, unsigned int colour, uint64_t n)
{
	add(o, from, TORUS_FC_LINK_TX, colour, n);
	add(o, to, TORUS_FC_LINK_RX, colour, n);
}

void one_gets(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n)
{
	add(o, node, TORUS_FC_DELIVERED, colour, n);
}

void one_parks(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n)
{
	add(o, node, TORUS_FC_PARKED, colour, n);
	o->node[node].sums.parked += n;
}

void one_replays(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n)
{
	add(o, node, TORUS_FC_REPLAY_TX, colour, n);
	o->node[node].sums.parked -= n;
}

void one_gets_again(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n)
{
	add(o, node, TORUS_FC_REPLAY_RX, colour, n);
	one_gets(o, node, colour, n);
}
