// SPDX-License-Identifier: GPL-2.0-only
/*
 * The codec of the service protocol: random messages of every type come out as they went in, and no
 * message that was cut or altered passes unchecked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "daemon/fm/wire/msg.h"
#include "tests/unit/memory.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void rnd_text(char *to, size_t room)
{
	size_t len = rnd() % room;

	for (size_t i = 0; i < len; i++)
		to[i] = (char)('!' + rnd() % 90);
	to[len] = '\0';
}

static void rnd_row(struct fm_row *r)
{
	r->serial = (uint32_t)rnd();
	r->nports = (uint8_t)(2 * (rnd() % (TORUS_MAX_DIMS + 1)));
	for (unsigned int p = 0; p < r->nports; p++) {
		r->port[p].state = (uint8_t)(rnd() % (FM_PORT_FAULTY + 1));
		r->port[p].problem = (uint8_t)(rnd() % (FM_PROBLEM_VERSION + 1));
		r->port[p].closed = rnd() & 1;
		r->port[p].stalled = rnd() & 1;
		r->port[p].session = (uint32_t)rnd();
		r->port[p].seq = (uint16_t)rnd();
		r->port[p].peer_guid = rnd();
		r->port[p].peer_port = (uint8_t)rnd();
		r->port[p].reason = (uint8_t)(rnd() % TORUS_REASONS);
	}
}

static void rnd_sums(struct fm_sums *s)
{
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			s->flow[f][c] = rnd();
	s->parked = rnd();
	s->unresolved = rnd();
	s->held = rnd();
	s->lost = rnd();
	s->reopen = (uint32_t)rnd();
	s->relayed = rnd();
}

static void rnd_base(struct fm_base *b)
{
	b->version = rnd() >> 2;
	b->set = rnd();
	b->known = rnd() & 0x1f;
	b->replay_missing = (int64_t)rnd();
	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		b->missing[c] = (int64_t)rnd();
}

static void rnd_shape(struct torus_shape *s)
{
	s->ndims = (uint8_t)(1 + rnd() % TORUS_MAX_DIMS);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		s->size[d] = (uint16_t)(d < s->ndims ? 1 + rnd() % 15 : 1);
}

static void rnd_line(struct fm_line *l)
{
	l->n = (uint8_t)(rnd() % (FM_LINE_MAX + 1));
	for (unsigned int i = 0; i < l->n; i++)
		l->past[i] = (struct fm_past) { rnd() >> 2, rnd() >> 2, rnd() };
}

static void rnd_voters(struct fm_voters *v)
{
	v->n = (uint8_t)(rnd() % (FM_VOTERS_MAX + 1));
	for (unsigned int i = 0; i < v->n; i++) {
		v->set[i].ups = rnd() & 1 ? FM_VOTERS_ALL : (uint32_t)(rnd() % (TORUS_MAX_NODES + 1));
		v->set[i].maker = rnd();
	}
}

static void rnd_hello(struct fm_hello *h)
{
	h->role = rnd() & 1;
	h->placed = rnd() & 1;
	h->stray = rnd() & 1;
	rnd_text(h->fabric, sizeof(h->fabric));
	rnd_text(h->name, sizeof(h->name));
	rnd_text(h->address, sizeof(h->address));
	h->guid = rnd();
	h->epoch = (uint32_t)rnd();
	h->version = rnd() >> 2;
	h->term = rnd() >> 2;
	h->attach = rnd();
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		h->position[d] = (int32_t)(rnd() % (2 * TORUS_MAX_NODES + 1)) - TORUS_MAX_NODES;
	if (h->placed) {
		rnd_shape(&h->shape);
		for (unsigned int d = 0; d < h->shape.ndims; d++)
			h->coords.c[d] = (uint16_t)(rnd() % h->shape.size[d]);
	}
	h->relay_packets = (uint32_t)rnd();
	h->root_epoch = rnd() >> 2;
	h->root_guid = rnd();
	h->maybe_epoch = rnd() >> 2;
	h->maybe_guid = rnd();
	h->rows_term = rnd() >> 2;
	h->clean = rnd() & 0xf;
	h->open = rnd() & 0x3f;
	h->table = rnd() >> 2;
	h->admin = rnd() & 0xfff;
	h->across = rnd() & 0xfff;
	h->ups = (uint32_t)rnd() % (TORUS_MAX_NODES + 1);
	h->counted = rnd() & 1;
	rnd_voters(&h->voters);
	rnd_line(&h->line);
	h->votes = (uint8_t)(rnd() & ((1u << h->voters.n) - 1));
	h->in_force = rnd() & 1;
	h->jobs = rnd() & 1;
	h->marked = rnd() & 1;
	h->kept_term = rnd() >> 2;
	h->kept_root = rnd();
	h->kept = rnd() >> 2;
	h->keeps = rnd() & 1;
	h->priority = (uint16_t)(rnd() % (FM_PRIORITY_AUTO + 1));
	h->table_root = rnd();
	rnd_row(&h->row);
	rnd_sums(&h->sums);
	rnd_base(&h->base);
}

/* Draws orders for some nodes: one port each, or two orders with the ports between them. */
static void rnd_orders(struct fm_table_msg *t)
{
	t->orders = calloc(2 * t->nentries, sizeof(*t->orders));
	assert_non_null(t->orders);
	for (uint32_t i = 0; i < 2 * t->nentries; i++) {
		struct fm_order *o = &t->orders[t->norders];

		if (rnd() & 1)
			continue;
		o->node = t->entries[i / 2].node;
		o->ports = i % 2 ? 0x802 : 0x405;
		o->uid = (uint32_t)rnd();
		o->since = rnd() % (FM_TIME_MAX + 1);
		o->until = rnd() % 2 ? 0 : rnd() % (FM_TIME_MAX + 1);
		rnd_text(o->by, sizeof(o->by));
		rnd_text(o->reason, sizeof(o->reason));
		t->norders++;
	}
}

static void rnd_jobs(struct fm_table_msg *t)
{
	t->anew = rnd() & 1;
	t->jobs = calloc(8, sizeof(*t->jobs));
	assert_non_null(t->jobs);
	for (uint32_t i = 0; t->anew && i < rnd() % 8; i++) {
		struct fm_job *j = &t->jobs[t->njobs++];

		j->id = (uint16_t)(1 + 128 * i + rnd() % 128);
		j->how = rnd() % FM_JOB_HOWS;
		j->nodes = 1 + (uint32_t)rnd() % TORUS_MAX_NODES;
		j->uid = (uint32_t)rnd();
		j->since = rnd() % (FM_TIME_MAX + 1);
		rnd_text(j->by, sizeof(j->by));
		rnd_text(j->name, sizeof(j->name));
		j->name[0] = 'j';
	}
}

static void rnd_table(struct fm_table_msg *t)
{
	uint32_t nodes = 1;

	rnd_shape(&t->shape);
	for (unsigned int d = 0; d < t->shape.ndims; d++)
		nodes *= t->shape.size[d];
	t->term = rnd() >> 2;
	t->version = 1 + (rnd() >> 2);
	t->base = rnd() % t->version;
	t->open = rnd() & 0x3f;
	t->clean = rnd() & 0xf;
	t->pause = rnd() & 1;
	t->former = rnd() & 1;
	t->maker = rnd();
	rnd_voters(&t->voters);
	rnd_line(&t->line);
	t->nentries = nodes < 40 ? nodes : 40;
	t->entries = calloc(t->nentries, sizeof(*t->entries));
	assert_non_null(t->entries);
	for (uint32_t i = 0; i < t->nentries; i++) {
		struct fm_entry *e = &t->entries[i];

		e->node = nodes - t->nentries + i;
		e->state = (uint8_t)(rnd() % FM_NODE_STATES);
		e->differs = (uint8_t)(rnd() & ((1u << t->voters.n) - 1));
		e->fault = rnd() & 0xfff;
		e->wiring = rnd() & 0xfff;
		e->admin = rnd() & 0xfff;
		e->held = rnd() & 0xfff;
		e->stalled = rnd() & 0xfff;
		e->ended = rnd() & 0xfff;
		e->guid = rnd();
		e->epoch = (uint32_t)rnd();
		e->serial = (uint32_t)rnd();
		e->job = (uint16_t)(rnd() % 4 ? 0 : rnd() % (FM_JOBS_MAX + 1));
		e->number = (uint32_t)(rnd() % TORUS_MAX_NODES);
		rnd_text(e->name, sizeof(e->name));
		rnd_text(e->address, sizeof(e->address));
		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
			if (!(e->ended & 1u << p))
				continue;
			e->session[p] = (uint32_t)rnd();
			e->seq[p] = (uint16_t)rnd();
		}
	}
	rnd_orders(t);
	rnd_jobs(t);
}

/* Draws a type of message, but none of fabricd's own. */
static unsigned int a_type(unsigned int i)
{
	static const unsigned int more[] = { FM_MSG_ADOPTED, FM_MSG_DROP, FM_MSG_FAILED,
					     FM_MSG_CLAIM, FM_MSG_LEAD, FM_MSG_KEPT,
					     FM_MSG_GROW, FM_MSG_GROWN };

	i %= FM_MSG_PONG + 8;
	return i < FM_MSG_PONG ? FM_MSG_HELLO + i : more[i - FM_MSG_PONG];
}

static void rnd_claim(struct fm_claim *claim)
{
	claim->epoch = rnd() >> 2;
	claim->guid = rnd();
	claim->ninit = (uint16_t)(rnd() % (FM_INIT_MAX + 1));
	for (unsigned int i = 0; i < claim->ninit; i++)
		claim->init[i] = (uint8_t)rnd();
	claim->here = (uint32_t)rnd();
	claim->need = (uint32_t)rnd();
}

static void rnd_growth(struct fm_msg *m)
{
	if (m->type == FM_MSG_GROW) {
		m->grow.term = rnd() >> 2;
		m->grow.guid = rnd();
		m->grow.serial = rnd();
		m->grow.nodes = (uint32_t)(rnd() % (TORUS_MAX_NODES + 1));
		m->grow.links = (uint8_t)(rnd() % (TORUS_MAX_PORTS + 1));
		m->grow.rate = (uint32_t)rnd();
		m->grow.margin = (uint16_t)rnd();
		m->grow.limit_ms = (uint32_t)rnd();
		return;
	}
	m->grown.guid = rnd();
	m->grown.first = rnd();
	m->grown.serial = rnd();
	m->grown.number = (uint32_t)rnd();
	m->grown.err = (uint32_t)(rnd() % (FM_ERRNO_MAX + 1));
	m->grown.ended = rnd() & 1;
	m->grown.why = (uint8_t)rnd();
	m->grown.at = rnd();
	m->grown.port = (uint8_t)rnd();
	m->grown.found = (uint32_t)rnd();
	m->grown.met = (uint8_t)rnd();
}

static void rnd_step(struct fm_step *step)
{
	step->term = rnd() >> 2;
	step->version = rnd() >> 2;
	step->round = 1 + (uint32_t)(rnd() % 1000);
	step->step = (uint8_t)(FM_STEP_COUNT + rnd() % (FM_STEPS - FM_STEP_COUNT));
	step->orphans = rnd() & 1;
	step->clean = rnd() & 0xf;
	step->nended = (uint32_t)(rnd() % (FM_ENDED_MAX + 1));
	for (uint32_t i = 0; i < step->nended; i++) {
		step->ended[i].node = (uint32_t)rnd();
		step->ended[i].port = (uint8_t)(rnd() % TORUS_MAX_PORTS);
		step->ended[i].session = (uint32_t)rnd();
		step->ended[i].seq = (uint16_t)rnd();
	}
	if (step->step == FM_STEP_RESUME)
		rnd_base(&step->base);
}

static void rnd_message(struct fm_msg *m, unsigned int type)
{
	memset(m, 0, sizeof(*m));
	m->type = (uint8_t)type;
	switch (type) {
	case FM_MSG_HELLO:
		rnd_hello(&m->hello);
		break;
	case FM_MSG_WELCOME:
		m->welcome.term = rnd() >> 2;
		m->welcome.root_guid = rnd();
		m->welcome.adrift = rnd() & 1;
		m->welcome.here = (uint32_t)rnd();
		m->welcome.need = (uint32_t)rnd();
		rnd_text(m->welcome.parent, FM_ADDR_MAX);
		break;
	case FM_MSG_CLAIM:
		rnd_claim(&m->claim);
		break;
	case FM_MSG_LEAD:
		m->lead.term = rnd() >> 2;
		m->lead.guid = rnd();
		m->lead.now = rnd() & 1;
		m->lead.unfit = rnd() & 1;
		rnd_text(m->lead.address, FM_ADDR_MAX);
		break;
	case FM_MSG_KEPT:
		m->kept.term = rnd() >> 2;
		m->kept.version = rnd() >> 2;
		m->kept.guid = rnd();
		m->kept.failed = rnd() & 1;
		break;
	case FM_MSG_GROW:
	case FM_MSG_GROWN:
		rnd_growth(m);
		break;
	case FM_MSG_REFUSE:
		m->refuse.wait_ms = (uint32_t)rnd();
		rnd_text(m->refuse.text, FM_TEXT_MAX);
		break;
	case FM_MSG_ROW:
		m->row.guid = rnd();
		m->row.epoch = (uint32_t)rnd();
		rnd_row(&m->row.row);
		break;
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:
		m->left.parent = rnd();
		m->left.attach = rnd();
		m->left.guid = rnd();
		m->left.epoch = (uint32_t)rnd();
		break;
	case FM_MSG_TABLE:
		rnd_table(&m->table);
		break;
	case FM_MSG_FETCH:
		m->fetch.version = rnd() >> 2;
		m->fetch.former = rnd() & 1;
		break;
	case FM_MSG_STEP:
		rnd_step(&m->step);
		break;
	case FM_MSG_REPORT:
		m->report.term = rnd() >> 2;
		m->report.version = rnd() >> 2;
		m->report.round = (uint32_t)rnd();
		m->report.count = (uint32_t)rnd() >> 8;
		m->report.set = rnd();
		rnd_sums(&m->report.sums);
		break;
	case FM_MSG_DROP:
		m->drop.term = rnd() >> 2;
		m->drop.guid = rnd();
		rnd_text(m->drop.address, FM_ADDR_MAX);
		break;
	case FM_MSG_FAILED:
		m->failed.guid = rnd();
		m->failed.epoch = (uint32_t)rnd();
		m->failed.version = rnd() >> 2;
		m->failed.err = (uint32_t)(rnd() % (FM_ERRNO_MAX + 1));
		m->failed.by = rnd();
		m->failed.round = (uint32_t)rnd();
		break;
	case FM_MSG_PONG:
		m->pong.adrift = rnd() & 1;
		m->pong.waits = rnd() & 1;
		break;
	}
}

static void assert_same(const struct fm_msg *a, const struct fm_msg *b)
{
	struct fm_msg x = *a, y = *b;

	if (a->type == FM_MSG_TABLE) {
		assert_int_equal(a->table.nentries, b->table.nentries);
		assert_memory_equal(a->table.entries, b->table.entries,
				    a->table.nentries * sizeof(*a->table.entries));
		assert_int_equal(a->table.norders, b->table.norders);
		if (a->table.norders)
			assert_memory_equal(a->table.orders, b->table.orders,
					    a->table.norders * sizeof(*a->table.orders));
		x.table.entries = y.table.entries = NULL;
		assert_int_equal(a->table.njobs, b->table.njobs);
		if (a->table.njobs)
			assert_memory_equal(a->table.jobs, b->table.jobs,
					    a->table.njobs * sizeof(*a->table.jobs));
		x.table.orders = y.table.orders = NULL;
		x.table.jobs = y.table.jobs = NULL;
	}
	assert_memory_equal(&x, &y, sizeof(x));
}

static unsigned int messages(void)
{
	return getenv("EVERY") ? 3000 : 15000;
}

static void unpacked_message_equals_packed_one(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < messages(); i++) {
		struct fm_msg m, n;
		uint8_t *data;
		size_t len;

		rnd_message(&m, a_type(i));
		assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
		assert_int_equal(fm_msg_unpack(data, len, &n), 0);
		assert_same(&m, &n);
		free(data);
		fm_msg_clear(&m);
		fm_msg_clear(&n);
	}
}

/* An altered message is refused, or unpacks to values within limits: it can be packed again. */
static void altered_message_is_refused_or_within_limits(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int i = 0; i < messages(); i++) {
		struct fm_msg m, n;
		uint8_t *data, *again;
		size_t len, len2;

		rnd_message(&m, a_type(i));
		assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
		fm_msg_clear(&m);
		for (unsigned int k = 0; k < 1 + i % 3; k++)
			data[rnd() % len] ^= (uint8_t)(1u << rnd() % 8);
		if (i % 2)
			len = rnd() % len;
		if (fm_msg_unpack(data, len, &n)) {
			refused++;
		} else {
			assert_int_equal(fm_msg_pack(&n, &again, &len2), 0);
			free(again);
			fm_msg_clear(&n);
		}
		free(data);
	}
	assert_true(refused > messages() / 15 * 7);
}

static void message_beyond_limits_is_refused(void **state)
{
	struct fm_msg m, n;
	uint8_t *data;
	size_t len;

	(void)state;
	memset(&m, 0, sizeof(m));
	assert_int_equal(fm_msg_pack(&m, &data, &len), -EINVAL);
	assert_int_equal(fm_msg_unpack(NULL, 0, &n), -EBADMSG);

	rnd_message(&m, FM_MSG_TABLE);
	m.table.entries[0].state = FM_NODE_STATES;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), -EBADMSG);
	free(data);
	m.table.entries[0].state = FM_NODE_UP;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), 0);
	fm_msg_clear(&n);
	free(data);
	m.table.entries[m.table.nentries - 1].node++;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), -EBADMSG);
	free(data);
	fm_msg_clear(&m);

	rnd_message(&m, FM_MSG_STEP);
	m.step.step = FM_STEP_APPLY;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), -EBADMSG);
	free(data);
}

/* In a usual fabric an entry needs little more than GUID and epoch. */
static void entry_of_whole_table_takes_few_bytes(void **state)
{
	const struct torus_shape shape = { .ndims = 3, .size = { 16, 16, 16, 1, 1, 1 } };
	struct fm_msg m = { .type = FM_MSG_TABLE }, n;
	uint8_t *data;
	size_t len;

	(void)state;
	m.table.shape = shape;
	m.table.version = 1;
	m.table.nentries = 4096;
	m.table.entries = calloc(m.table.nentries, sizeof(*m.table.entries));
	assert_non_null(m.table.entries);
	for (uint32_t i = 0; i < m.table.nentries; i++) {
		struct fm_entry *e = &m.table.entries[i];

		e->node = i;
		e->state = FM_NODE_UP;
		e->guid = rnd();
		e->epoch = (uint32_t)rnd();
		e->serial = 1;
		e->fault = rnd() % 100 ? 0 : 1;
		snprintf(e->name, sizeof(e->name), "n%u-%u-%u", i % 16, i / 16 % 16, i / 256);
		snprintf(e->address, sizeof(e->address), "10.1.%u.%u:4711", i / 256, i % 256);
	}
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	/* An entry takes less than 14 bytes, so that FRAME_MAX holds those of a million nodes. */
	assert_true(len < 14 * m.table.nentries);
	assert_int_equal(fm_msg_unpack(data, len, &n), 0);
	assert_same(&m, &n);
	free(data);
	fm_msg_clear(&m);
	fm_msg_clear(&n);
}

/* Packs tables whose entries differ in one member only, which is random. */
static void one_member(unsigned int which)
{
	struct fm_entry e[3] = { { .node = 0 }, { .node = 1 }, { .node = 2 } };
	struct fm_msg m = { .type = FM_MSG_TABLE }, n;
	uint8_t *data;
	size_t len;

	switch (which) {
	case 0:
		e[1].state = FM_NODE_STATES - 1;
		break;
	case 1:
		e[1].fault = 5;
		break;
	case 2:
		e[1].wiring = 5;
		break;
	case 3:
		e[1].admin = 5;
		break;
	case 4:
		e[1].held = 5;
		break;
	case 5:
		e[1].serial = 5;
		break;
	case 6:
		e[1].ended = 1 << 3;
		e[1].session[3] = 6;
		e[1].seq[3] = 7;
		break;
	default:
		e[1].guid = 5;
	}
	m.table.shape = (struct torus_shape){ .ndims = 1, .size = { 3, 1, 1, 1, 1, 1 } };
	m.table.version = 1;
	m.table.nentries = 3;
	m.table.entries = e;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), 0);
	assert_same(&m, &n);
	free(data);
	fm_msg_clear(&n);
}

static void each_member_alone_is_packed_and_unpacked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		one_member(i);
}

/* Packs tables whose values do not repeat, neither from node to node nor within a column. */
static void table_without_runs_is_packed_and_unpacked(void **state)
{
	struct fm_entry e[20] = { { .node = 0 } };
	struct fm_msg m = { .type = FM_MSG_TABLE }, n;
	size_t blocks = memory_blocks();
	uint8_t *data;
	size_t len;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		e[i].node = 2 * i + 1;
		e[i].state = (uint8_t)(i % 2);
		e[i].fault = e[i].wiring = e[i].admin = e[i].held = (uint16_t)(i + 1);
		e[i].serial = i;
		e[i].ended = 0xfff;
		rnd_text(e[i].name, sizeof(e[i].name));
		rnd_text(e[i].address, sizeof(e[i].address));
	}
	m.table.shape = (struct torus_shape){ .ndims = 2, .size = { 8, 5, 1, 1, 1, 1 } };
	m.table.version = 1;
	m.table.nentries = 20;
	m.table.entries = e;
	assert_int_equal(fm_msg_pack(&m, &data, &len), 0);
	assert_int_equal(fm_msg_unpack(data, len, &n), 0);
	assert_same(&m, &n);
	free(data);
	fm_msg_clear(&n);
	assert_int_equal(memory_blocks(), blocks);
}

/* Packing and unpacking succeed, or fail for lack of memory and leave nothing behind. */
static void no_memory_for(unsigned int type)
{
	size_t blocks = memory_blocks();
	struct fm_msg m, n;
	unsigned int at = 0;
	uint8_t *data;
	size_t len;
	int err;

	rnd_message(&m, type);
	do {
		size_t before = memory_blocks();

		memory_fails_at(++at);
		err = fm_msg_pack(&m, &data, &len);
		assert_int_equal(err, memory_failed() ? -ENOMEM : 0);
		if (err)
			assert_int_equal(memory_blocks(), before);
	} while (err);
	assert_true(at > 1);
	at = 0;
	do {
		size_t before = memory_blocks();

		memory_fails_at(++at);
		err = fm_msg_unpack(data, len, &n);
		assert_int_equal(err, memory_failed() ? -ENOMEM : 0);
		if (err)
			assert_int_equal(memory_blocks(), before);
	} while (err);
	assert_same(&m, &n);
	free(data);
	fm_msg_clear(&m);
	fm_msg_clear(&n);
	fm_msg_clear(&n);		/* @n has no content any more */
	assert_int_equal(memory_blocks(), blocks);
}

static void failed_allocation_of_each_message_is_reported(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 20; round++)
		for (unsigned int i = 0; i < FM_MSG_PONG + 6; i++)
			no_memory_for(a_type(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed_allocation_of_each_message_is_reported),
		cmocka_unit_test(each_member_alone_is_packed_and_unpacked),
		cmocka_unit_test(table_without_runs_is_packed_and_unpacked),
		cmocka_unit_test(unpacked_message_equals_packed_one),
		cmocka_unit_test(altered_message_is_refused_or_within_limits),
		cmocka_unit_test(message_beyond_limits_is_refused),
		cmocka_unit_test(entry_of_whole_table_takes_few_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
