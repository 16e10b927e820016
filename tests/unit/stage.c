// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"

/* --- beginning and end, time ---------------------------------------------------------- */

static void named(char *name, char *address, uint32_t node)
{
	sprintf(name, "n%u", node);
	sprintf(address, "30.0.0.%u:1", node);
}

void stage_init(struct stage *s, const char *shape, uint32_t node)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(torus_shape_parse(shape, &s->shape), 0);
	fm_config_default(&s->cfg);
	s->cfg.takeover = 0;	/* tests of candidates set it */
	strcpy(s->cfg.fabric, "fab");
	named(s->cfg.name, s->cfg.address, node);
	s->cfg.fanout = 64;
	s->next_conn = 1;
	s->stamped = ~0ULL;
	s->dev.guid = NIC + node;
	s->dev.epoch = 1;
	s->dev.bootstrap = !node;
	s->dev.nports = (uint8_t)(2 * s->shape.ndims);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		s->link[p].port = (uint8_t)p;
	if (!node)
		s->cfg.shape = s->shape;
}

static uint64_t now(const struct stage *s)
{
	return START + s->now;
}

bool stage_try(struct stage *s)
{
	s->fm = fm_new(&s->cfg, &stage_ops, s, &s->dev, s->link, &s->park, s->rows, now(s));
	return s->fm;
}

void stage_end_of(struct stage *s)
{
	uint32_t tag = s->under_way;

	s->under_way = 0;
	if (tag)
		fm_done(s->fm, tag, s->result, s->result ? NULL : &s->counts, now(s));
}

/* Actions at a NIC that is not slow end at once; each may be followed by another one. */
static void actions(struct stage *s)
{
	while (s->fm && s->under_way && !s->slow)
		stage_end_of(s);
}

/* Nodes that the root asks to obey it do so, and say HELLO again. */
static void promises(struct stage *s)
{
	if (!s->asked || s->stubborn)
		return;
	s->asked = false;
	for (int conn = 0; conn < STAGE_JOINERS; conn++) {
		struct stage_joiner *j = &s->joiner[conn];

		if (!j->known || !j->obeys)
			continue;
		j->hello.hello.root_epoch = j->obeys;
		j->hello.hello.root_guid = s->dev.guid;
		j->obeys = 0;
		fm_msg(s->fm, conn, &j->hello, now(s));
		actions(s);
	}
}

static void ends(struct stage *s)
{
	actions(s);
	if (s->fm)
		promises(s);
}

void stage_start(struct stage *s)
{
	assert_true(stage_try(s));
	assert_ptr_equal(fm_io(s->fm), s);
}

void stage_end(struct stage *s)
{
	fm_free(s->fm);
	s->fm = NULL;
	s->under_way = 0;
	memset(s->joiner, 0, sizeof(s->joiner));
}

/*
 * Lets time pass in steps, up to each moment at which something is due: it must not be done before,
 * and only once then.
 */
void stage_run_ns(struct stage *s, uint64_t ns)
{
	uint64_t due;
	unsigned int calls = 0;

	ends(s);
	while ((due = fm_expiry(s->fm)) <= START + ns) {
		if (due > now(s)) {
			size_t len = s->len;

			if (due - 1 > now(s)) {
				s->now = due - 1 - START;
				fm_timer(s->fm, now(s));
				assert_int_equal(s->len, len);
				assert_int_equal(fm_expiry(s->fm), due);
			}
			s->now = due - START;
			calls = 0;
		}
		assert_true(calls++ < 4);
		fm_timer(s->fm, now(s));
		ends(s);
	}
	s->now = ns;
}

void stage_run(struct stage *s, double ms)
{
	stage_run_ns(s, (uint64_t)(ms * 1000 + 0.5) * (MS / 1000));
}

void stage_forget(struct stage *s)
{
	s->len = 0;
	s->text[0] = '\0';
	s->stamped = s->now;
}

void stage_did(struct stage *s, const char *lines)
{
	ends(s);
	if (strcmp(s->text, lines))
		fprintf(stderr, "it did:\n%sand not:\n%s", s->text, lines);
	assert_true(!strcmp(s->text, lines));
	stage_forget(s);
}

void stage_did_nothing(struct stage *s)
{
	stage_did(s, "");
}

void stage_did_some(struct stage *s, const char *part)
{
	ends(s);
	if (!strstr(s->text, part))
		fprintf(stderr, "it did:\n%sand not: %s\n", s->text, part);
	assert_non_null(strstr(s->text, part));
	stage_forget(s);
}

void stage_did_no(struct stage *s, const char *part)
{
	ends(s);
	if (strstr(s->text, part))
		fprintf(stderr, "it did:\n%s", s->text);
	assert_null(strstr(s->text, part));
	stage_forget(s);
}

uint64_t stage_wait(struct stage *s, const char *part)
{
	uint64_t from = s->now, until = from + 20000 * MS;

	stage_forget(s);
	while (s->now < until && !strstr(s->text, part))
		stage_run_ns(s, fm_expiry(s->fm) - START);
	assert_non_null(strstr(s->text, part));
	stage_forget(s);
	return s->now - from;
}

unsigned int stage_count(const struct stage *s, const char *part)
{
	unsigned int n = 0;

	for (const char *at = s->text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

/* --- what happens to it ----------------------------------------------------------------- */

/* A test may give the NIC another GUID by bits from 20 on. */
static uint32_t own(const struct stage *s)
{
	return (uint32_t)(s->dev.guid - NIC) & 0xfffff;
}

void stage_report_link(struct stage *s, unsigned int port)
{
	if (s->fm)
		fm_link(s->fm, &s->link[port], now(s));
	ends(s);
}

void stage_link_up(struct stage *s, unsigned int port, uint32_t session)
{
	struct torus_link *l = &s->link[port];

	l->state = TORUS_LINK_UP;
	l->session = session;
	l->peer_guid = NIC + torus_neighbour(&s->shape, own(s), port);
	l->peer_port = (uint8_t)torus_dir_opposite(&s->shape, port);
	strcpy(l->lower, "eth");
	stage_report_link(s, port);
}

void stage_link_lost(struct stage *s, unsigned int port, uint16_t seq)
{
	s->link[port].state = TORUS_LINK_DOWN;
	s->link[port].closed = true;
	s->link[port].seq = seq;
	stage_report_link(s, port);
}

struct fm_init stage_neighbour(const struct stage *s, unsigned int port)
{
	uint32_t node = torus_neighbour(&s->shape, own(s), port);
	struct torus_coords at;
	struct fm_init i = {
		.placed = true,
		.port = (uint8_t)torus_dir_opposite(&s->shape, port),
		.ndims = s->shape.ndims,
		.guid = NIC + node,
		.root_guid = NIC,
		.epoch = s->fm ? fm_epoch(s->fm) : 0,
		.fabric = "fab",
	};

	torus_node_coords(&s->shape, node, &at);
	for (unsigned int d = 0; d < s->shape.ndims; d++) {
		i.size[d] = s->shape.size[d];
		i.position[d] = at.c[d];
	}
	named(i.name, i.root_address, node);
	strcpy(i.root_address, "30.0.0.0:1");
	return i;
}

void stage_receive(struct stage *s, unsigned int port, const struct fm_init *init)
{
	struct fm_port_row *r = port < TORUS_MAX_PORTS ? &s->fm->row.port[port] : NULL;

	/* As if the cable had led to the sender when the link came up, or the row was sent. */
	if (r && r->peer_guid) {
		r->peer_guid = init->guid;
		r->peer_port = init->port;
	}
	stage_receive_other(s, port, init);
}

void stage_receive_other(struct stage *s, unsigned int port, const struct fm_init *init)
{
	uint8_t buf[TORUS_MGMT_MAX];

	fm_mgmt(s->fm, port, buf, fm_init_put(buf, init), now(s));
	ends(s);
}

void stage_up(struct stage *s, int conn)
{
	if (conn < STAGE_JOINERS)
		s->joiner[conn].known = false;
	fm_conn_up(s->fm, conn, now(s));
	ends(s);
}

void stage_down(struct stage *s, int conn)
{
	fm_conn_down(s->fm, conn, now(s));
	ends(s);
}

void stage_msg(struct stage *s, int conn, const struct fm_msg *msg)
{
	if (msg->type == FM_MSG_HELLO && conn < STAGE_JOINERS)
		s->joiner[conn] = (struct stage_joiner) { .known = true, .hello = *msg };
	fm_msg(s->fm, conn, msg, now(s));
	ends(s);
}

void stage_welcome(struct stage *s, int conn, uint64_t term, const char *parent)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	m.welcome.term = term;
	m.welcome.root_guid = NIC;
	strcpy(m.welcome.parent, parent);
	stage_msg(s, conn, &m);
}

void stage_refuse(struct stage *s, int conn, const char *why)
{
	struct fm_msg m = { .type = FM_MSG_REFUSE };

	strcpy(m.refuse.text, why);
	stage_msg(s, conn, &m);
}

void stage_send(struct stage *s, int conn, enum fm_msg_type type)
{
	struct fm_msg m = { .type = (uint8_t)type };

	stage_msg(s, conn, &m);
}

/* --- the fabric played -------------------------------------------------------------------- */

struct fm_row stage_row(const struct stage *s, uint32_t node)
{
	struct fm_row r = { .serial = 1, .nports = (uint8_t)(2 * s->shape.ndims) };
	/* A node with a number above those of the shape reports the cables of another node. */
	uint32_t at = node % torus_nodes(&s->shape);

	for (unsigned int p = 0; p < r.nports; p++) {
		if (s->shape.size[p % s->shape.ndims] == 1)
			continue;
		r.port[p].state = FM_PORT_UP;
		r.port[p].peer_guid = NIC + torus_neighbour(&s->shape, at, p);
		r.port[p].peer_port = (uint8_t)torus_dir_opposite(&s->shape, p);
	}
	return r;
}

struct fm_msg stage_hello(const struct stage *s, uint32_t node)
{
	struct fm_msg m = { .type = FM_MSG_HELLO };

	m.hello.role = FM_ROLE_JOIN;
	strcpy(m.hello.fabric, "fab");
	named(m.hello.name, m.hello.address, node);
	m.hello.guid = NIC + node;
	m.hello.epoch = 1;
	m.hello.attach = 1;
	m.hello.jobs = true;
	m.hello.row = stage_row(s, node);
	return m;
}

struct fm_entry stage_entry(const struct stage *s, uint32_t node)
{
	struct fm_entry e = { .node = node, .state = FM_NODE_UP, .guid = NIC + node, .epoch = 1 };

	(void)s;
	named(e.name, e.address, node);
	return e;
}

struct fm_msg stage_table(const struct stage *s, uint64_t version, struct fm_entry *entries)
{
	struct fm_msg m = { .type = FM_MSG_TABLE };

	m.table.term = TERM;
	m.table.version = version;
	m.table.shape = s->shape;
	m.table.nentries = torus_nodes(&s->shape);
	m.table.entries = entries;
	for (uint32_t i = 0; i < m.table.nentries; i++)
		entries[i] = stage_entry(s, i);
	return m;
}

struct fm_msg stage_step(uint64_t version, uint32_t round, enum fm_step_kind kind)
{
	struct fm_msg m = { .type = FM_MSG_STEP };

	m.step.term = TERM;
	m.step.version = version;
	m.step.round = round;
	m.step.step = (uint8_t)kind;
	return m;
}

struct fm_msg stage_report(const struct stage *s, uint32_t node, uint64_t version,
			   uint32_t round)
{
	struct fm_msg m = { .type = FM_MSG_REPORT };

	m.report.term = s->fm->term;
	m.report.version = version;
	m.report.round = round;
	m.report.count = 1;
	m.report.set = fm_fingerprint(NIC + node, 1);
	return m;
}
