// SPDX-License-Identifier: GPL-2.0-only
/* Records the actions and messages of a manager as lines of text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/wire/plan.h"

/* --- what it does, as text ---------------------------------------------------------- */

static bool deaf(const struct stage *s, const char *fmt)
{
	char word[32];

	if (!s->deaf || sscanf(fmt, "%20s", word) != 1)
		return false;
	strcat(word, " ");
	return strstr(s->deaf, word);
}

__attribute__((format(printf, 2, 3)))
static void add(struct stage *s, const char *fmt, ...)
{
	size_t room = sizeof(s->text) - s->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->text + s->len, room, fmt, ap);
	va_end(ap);
	assert_true(n >= 0 && (size_t)n < room);
	s->len += (size_t)n;
}

/* Begins a new line, after a line with the time if time has passed. */
#define line(s, fmt, ...) do {							\
	if (!deaf(s, fmt)) {							\
		stamp(s);							\
		add(s, fmt "\n", ##__VA_ARGS__);				\
	}									\
} while (0)

static void stamp(struct stage *s)
{
	char ms[32];
	size_t n;

	if (s->stamped == s->now)
		return;
	s->stamped = s->now;
	n = (size_t)snprintf(ms, sizeof(ms), "%llu.%06llu", (unsigned long long)(s->now / MS),
			     (unsigned long long)(s->now % MS));
	while (ms[n - 1] == '0')
		ms[--n] = '\0';
	if (ms[n - 1] == '.')
		ms[--n] = '\0';
	add(s, "at %s ms\n", ms);
}

static void flag(struct stage *s, bool is, const char *name)
{
	if (is)
		add(s, " %s", name);
}

static void number(struct stage *s, const char *name, uint64_t n)
{
	if (n)
		add(s, " %s %llu", name, (unsigned long long)n);
}

static void term(struct stage *s, uint64_t t)
{
	if (s->fm && s->fm->root && t == s->fm->term)
		add(s, " own term");
	else
		number(s, "term", t);
}

static void row(struct stage *s, const struct fm_row *r)
{
	add(s, " row %u:", r->serial);
	for (unsigned int p = 0; p < r->nports; p++) {
		const struct fm_port_row *x = &r->port[p];

		add(s, " %c", "duf"[x->state]);
		if (x->peer_guid)
			add(s, "%llx.%u", (unsigned long long)x->peer_guid, x->peer_port);
		if (x->session || x->seq)
			add(s, ",s%u/%u", x->session, x->seq);
		if (x->closed)
			add(s, ",closed");
		if (x->problem)
			add(s, ",problem%u", x->problem);
	}
}

static void sums(struct stage *s, const struct fm_sums *u)
{
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			if (u->flow[f][c])
				add(s, " flow%u.%u %llu", f, c,
				    (unsigned long long)u->flow[f][c]);
	number(s, "parked", u->parked);
	number(s, "unresolved", u->unresolved);
	number(s, "held", u->held);
	number(s, "lost", u->lost);
	number(s, "reopen", u->reopen);
	number(s, "relayed", u->relayed);
}

static void base(struct stage *s, const struct fm_base *b)
{
	if (!b->version)
		return;
	add(s, " base %llu", (unsigned long long)b->version);
	number(s, "known", b->known);
	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		number(s, "missing", (uint64_t)b->missing[c]);
	number(s, "replay_missing", (uint64_t)b->replay_missing);
}

static void shape_at(struct stage *s, const struct torus_shape *shape,
		     const struct torus_coords *at)
{
	for (unsigned int d = 0; d < shape->ndims; d++)
		add(s, "%s%u", d ? "x" : " ", shape->size[d]);
	for (unsigned int d = 0; at && d < shape->ndims; d++)
		add(s, "%s%u", d ? "," : " at ", at->c[d]);
}

static void hello(struct stage *s, const struct fm_hello *h)
{
	add(s, "%s '%s' %s %llx/%u", h->role == FM_ROLE_JOIN ? " join" : " child", h->name,
	    h->address, (unsigned long long)h->guid, h->epoch);
	if (strcmp(h->fabric, "fab"))
		add(s, " fabric '%s'", h->fabric);
	flag(s, h->stray, "stray");
	if (h->placed)
		shape_at(s, &h->shape, &h->coords);
	add(s, " position");
	for (unsigned int d = 0; d < s->shape.ndims; d++)
		add(s, "%s%d", d ? "," : " ", h->position[d]);
	number(s, "version", h->version);
	term(s, h->term);
	/* The attach number follows the clock; the line has the difference to it. */
	add(s, " attach %+lld", (long long)(h->attach - START - s->now));
	if (s->roots)
		add(s, " obeys %llx of %llu", (unsigned long long)h->root_guid,
		    (unsigned long long)h->root_epoch);
	if (h->maybe_epoch)
		add(s, " or %llx of %llu", (unsigned long long)h->maybe_guid,
		    (unsigned long long)h->maybe_epoch);
	number(s, "relay", h->relay_packets);
	number(s, "table", h->table);
	number(s, "admin", h->admin);
	number(s, "across", h->across);
	row(s, &h->row);
	sums(s, &h->sums);
	base(s, &h->base);
}

static void entry(struct stage *s, const struct fm_entry *e)
{
	add(s, " [%u", e->node);
	if (e->state == FM_NODE_ABSENT) {
		add(s, " absent]");
		return;
	}
	add(s, " '%s' %llx/%u", e->name, (unsigned long long)e->guid, e->epoch);
	flag(s, e->state != FM_NODE_UP, fm_node_state_name(e->state));
	number(s, "fault", e->fault);
	number(s, "wiring", e->wiring);
	number(s, "admin", e->admin);
	number(s, "held", e->held);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		if (e->ended & 1u << p)
			add(s, " %u ended s%u/%u", p, e->session[p], e->seq[p]);
	add(s, "]");
}

static void step(struct stage *s, const struct fm_step *t)
{
	static const char *const name[] = { "apply", "count", "replay", "resume" };

	add(s, " %llu.%u %s", (unsigned long long)t->version, t->round, name[t->step]);
	term(s, t->term);
	flag(s, t->orphans, "orphans");
	for (uint32_t i = 0; i < t->nended; i++)
		add(s, " ended %u.%u s%u/%u", t->ended[i].node, t->ended[i].port,
		    t->ended[i].session, t->ended[i].seq);
	base(s, &t->base);
}

static void left(struct stage *s, const struct fm_left *l)
{
	add(s, " %llx/%u parent %llx attach %llu", (unsigned long long)l->guid, l->epoch,
	    (unsigned long long)l->parent, (unsigned long long)l->attach);
}

static void body(struct stage *s, const struct fm_msg *m)
{
	switch (m->type) {
	case FM_MSG_HELLO:
		hello(s, &m->hello);
		break;
	case FM_MSG_WELCOME:
		term(s, m->welcome.term);
		add(s, " root %llx parent '%s'", (unsigned long long)m->welcome.root_guid,
		    m->welcome.parent);
		break;
	case FM_MSG_REFUSE:
		add(s, " %s", m->refuse.text);
		if (m->refuse.wait_ms)
			add(s, " (wait %u ms)", m->refuse.wait_ms);
		break;
	case FM_MSG_ROW:
		add(s, " %llx/%u", (unsigned long long)m->row.guid, m->row.epoch);
		row(s, &m->row.row);
		break;
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:
		left(s, &m->left);
		break;
	case FM_MSG_TABLE:
		add(s, " %llu", (unsigned long long)m->table.version);
		number(s, "after", m->table.base);
		term(s, m->table.term);
		shape_at(s, &m->table.shape, NULL);
		number(s, "open", m->table.open);
		flag(s, m->table.pause, "pause");
		flag(s, m->table.former, "former");
		for (uint32_t i = 0; i < m->table.nentries; i++)
			entry(s, &m->table.entries[i]);
		break;
	case FM_MSG_FETCH:
		number(s, "has", m->fetch.version);
		flag(s, m->fetch.former, "former");
		break;
	case FM_MSG_STEP:
		step(s, &m->step);
		break;
	case FM_MSG_REPORT:
		add(s, " %llu.%u of %u", (unsigned long long)m->report.version, m->report.round,
		    m->report.count);
		term(s, m->report.term);
		sums(s, &m->report.sums);
		s->set = m->report.set;
		break;
	case FM_MSG_GROW:
		add(s, " %u from %llx number %llu", m->grow.nodes, (unsigned long long)m->grow.guid,
		    (unsigned long long)m->grow.serial);
		break;
	case FM_MSG_GROWN:
		add(s, " %llx is %u%s", (unsigned long long)m->grown.guid, m->grown.number,
		    m->grown.ended ? ", ended" : "");
		break;
	case FM_MSG_DROP:
		add(s, " %llx at %s", (unsigned long long)m->drop.guid, m->drop.address);
		break;
	case FM_MSG_FAILED:
		add(s, " %llx/%u", (unsigned long long)m->failed.guid, m->failed.epoch);
		number(s, "version", m->failed.version);
		number(s, "error", m->failed.err);
		if (m->failed.by)
			add(s, " round %u by %llx", m->failed.round,
			    (unsigned long long)m->failed.by);
		break;
	case FM_MSG_CLAIM:
		number(s, "epoch", m->claim.epoch);
		break;
	case FM_MSG_KEPT:
		add(s, " %llx", (unsigned long long)m->kept.guid);
		number(s, "version", m->kept.version);
		term(s, m->kept.term);
		flag(s, m->kept.failed, "failed");
		break;
	case FM_MSG_PONG:
		flag(s, m->pong.adrift, "adrift");
		flag(s, m->pong.waits, "waits");
		break;
	}
}

/*
 * Records the message as its receiver unpacks it, which accepts only messages whose parts are all
 * valid.
 */
static void by_wire(struct stage *s, const struct fm_msg *m)
{
	struct fm_msg got;
	uint8_t *data;
	size_t len;

	assert_int_equal(fm_msg_pack(m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &got), 0);
	free(data);
	body(s, &got);
	fm_msg_clear(&got);
}

/* --- what it asks for ---------------------------------------------------------------- */

static void do_mgmt(void *io, unsigned int port, const void *data, size_t len)
{
	struct stage *s = io;
	struct fm_init i;

	assert_int_equal(fm_init_get(data, len, &i), 0);
	if (deaf(s, "init "))
		return;
	stamp(s);
	assert_int_equal(i.port, port);
	assert_string_equal(i.name, s->cfg.name);
	assert_string_equal(i.fabric, s->cfg.fabric);
	assert_int_equal(i.guid, s->dev.guid);
	add(s, "init %u:", port);
	flag(s, !i.placed, "asks");
	flag(s, i.settled, "settled");
	flag(s, i.received, "heard");
	for (unsigned int d = 0; d < i.ndims; d++)
		add(s, " %d/%u", i.position[d], i.size[d]);
	if (i.root_guid || i.root_address[0])
		add(s, " root %llx %s", (unsigned long long)i.root_guid, i.root_address);
	add(s, "\n");
}

/* The action ends when the call of the machine that began it has ended (stage_ends()). */
static void end(struct stage *s, uint32_t tag, int err)
{
	assert_int_equal(s->under_way, 0);
	assert_int_not_equal(tag, 0);
	s->under_way = tag;
	s->result = err;
}

/* Records an order to obey a root, which precedes all other actions, only for tests of it. */
static void do_root(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	struct stage *s = io;

	if (s->roots)
		line(s, "root %llx of %llu", (unsigned long long)guid, (unsigned long long)epoch);
	end(s, tag, s->err.root);
}

static void do_place(void *io, uint32_t tag, const struct torus_shape *shape,
		     const struct torus_coords *at, const struct torus_plan *plan)
{
	struct stage *s = io;

	if (!deaf(s, "place ")) {
		stamp(s);
		add(s, "place");
		shape_at(s, shape, at);
		if (!fm_plan_is_default(plan))
			add(s, " plan /%u /%u", plan->len4, plan->len6);
		add(s, "\n");
	}
	end(s, tag, s->err.place);
}

static void do_rows(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		    const uint64_t *rows, uint32_t n)
{
	struct stage *s = io;

	(void)node;
	(void)rows;
	line(s, "rows %llu: %u", (unsigned long long)version, n);
	end(s, tag, s->err.rows);
}

static void do_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	struct stage *s = io;

	line(s, "release %llu%s", (unsigned long long)version, give_up ? "" : " waits");
	end(s, tag, s->err.release);
}

static void do_count(void *io, uint32_t tag, bool lost)
{
	struct stage *s = io;

	if (lost)
		line(s, "lost");
	s->counts = (struct fm_counts) { .park = s->park, .lost = lost ? s->lost : 0 };
	end(s, tag, s->err.count);
}

static void do_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	struct stage *s = io;

	line(s, "resolve %u: s%u/%d", port, session, seq);
}

static void do_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	struct stage *s = io;

	line(s, "replay %llu: %x", (unsigned long long)version, ports);
	end(s, tag, s->err.replay);
}

static int do_connect(void *io, const char *addr)
{
	struct stage *s = io;

	if (s->refuse_connect) {
		line(s, "connect %s: fails", addr);
		return s->refuse_connect;
	}
	line(s, "connect %s: %d", addr, s->next_conn);
	return s->next_conn++;
}

static void do_send(void *io, int conn, const struct fm_msg *msg)
{
	struct stage *s = io;

	if (s->sees)
		s->sees(conn, msg);
	if (msg->type == FM_MSG_CLAIM && conn < STAGE_JOINERS) {
		s->joiner[conn].obeys = msg->claim.epoch;
		s->asked = true;
	}
	if (msg->type == FM_MSG_CLAIM && !s->roots)
		return;
	if (deaf(s, fm_msg_name(msg->type)) || deaf(s, "send "))
		return;
	stamp(s);
	add(s, "%d < %s", conn, fm_msg_name(msg->type));
	if (s->in_one)
		body(s, msg);
	else
		by_wire(s, msg);
	add(s, "\n");
}

static void do_close(void *io, int conn)
{
	struct stage *s = io;

	if (s->closes)
		s->closes(conn);
	line(s, "close %d", conn);
}

static void do_keep(void *io, const struct fm_msg *table)
{
	line(io, "keep version %llu of epoch %llu", (unsigned long long)table->table.version,
	     (unsigned long long)table->table.term);
}

static void do_log(void *io, const struct fm_log *log)
{
	static const char *const level[] = { "error", "warning", "info", "debug" };
	struct stage *s = io;

	line(s, "log %s %s: %s", level[log->level], log->kind, log->text);
}

const struct fm_ops stage_ops = {
	.mgmt_send = do_mgmt,
	.root_set = do_root,
	.place_set = do_place,
	.rows_write = do_rows,
	.release = do_release,
	.count = do_count,
	.park_resolve = do_resolve,
	.park_replay = do_replay,
	.connect = do_connect,
	.send = do_send,
	.close = do_close,
	.keep = do_keep,
	.log = do_log,
};
