// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of the former root, by itself: random HELLOs, tables that nodes send, and a kept one,
 * at a root that has no table yet, and which places and exclusions it takes from them. Stubs in
 * this test stand for the functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/roster.h"

#define NODES 12
#define RECORDS 5
#define GUID 100
#define RESEND 1000

/** struct statement - the last exclusions at a node, and by which table */
struct statement {
	struct fm_past id;
	uint16_t admin, across;
};

/** struct model - the expected state */
struct model {
	struct statement reported[NODES];
	bool has_offered, kept, has_book;
	struct fm_past id, wanted;
	uint64_t asked, since, of[4];
	unsigned int n;		/* number of nodes that were asked for @wanted; @of has the first */
};

static struct fm_root root;
static struct fm fm = { .root = &root, .cfg = { .resend = RESEND } };
static struct fm_record record[RECORDS];
static struct torus_shape shapes[3];	/* 4x3, 3x4, 1x1 */
static struct fm_book *kept_next;	/* book that a node sends; NULL: none is taken */
static uint64_t believed, waits_until;
static struct fm_conn conns[RECORDS];	/* connection of each record */
static uint64_t fetched_of;
static unsigned int fetches, marked[NODES];
static bool fetched_former;
static char log_text[200];
static struct fm_order merged[40];
static unsigned int n_merged;

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return RECORDS;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= GUID && guid < GUID + RECORDS ? &record[guid - GUID] : NULL;
}

unsigned int fm_conns_count(const struct fm *f)
{
	(void)f;
	return RECORDS;
}

struct fm_conn *fm_conn_no(const struct fm *f, unsigned int i)
{
	(void)f;
	assert_true(i < RECORDS);
	return &conns[i];
}

bool fm_record_joined(const struct fm_record *m)
{
	return m->name[0];
}

void fm_record_move(struct fm *f, struct fm_record *m, uint32_t node)
{
	(void)f;
	m->node = node;
	m->given++;	/* how often it was moved */
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	(void)level;
	(void)kind;
	va_start(args, fmt);
	vsnprintf(log_text, sizeof(log_text), fmt, args);
	va_end(args);
}

void fm_news_wait(struct fm *f, uint64_t at)
{
	(void)f;
	waits_until = at;
}

void fm_conn_send(struct fm *f, const struct fm_conn *c, const struct fm_msg *msg)
{
	(void)f;
	assert_int_equal(c->attach, 77);
	assert_int_equal(msg->type, FM_MSG_FETCH);
	fetched_former = msg->fetch.former;
	fetched_of = c->guid;
	fetches++;
}

uint64_t fm_epoch_credible(const struct fm *f)
{
	(void)f;
	return believed;
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	marked[node]++;
}

bool fm_orders_merge(struct fm_orders *s, const struct fm_order *o)
{
	assert_ptr_equal(s, &root.orders);
	assert_true(n_merged < 40);
	merged[n_merged++] = *o;
	return true;
}

struct fm_book *fm_book_new(const struct torus_shape *shape)
{
	struct fm_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->shape = *shape;
	b->nodes = torus_nodes(shape);
	b->entry = calloc(b->nodes, sizeof(*b->entry));
	b->refs = 1;
	return b;
}

struct fm_book *fm_book_get(struct fm_book *b)
{
	b->refs++;
	return b;
}

void fm_book_put(struct fm_book *b)
{
	if (!b || --b->refs)
		return;
	free(b->orders.of);
	fm_jobs_free(&b->jobs);
	free(b->entry);
	free(b);
}

void fm_book_change(struct fm_book *b, const struct fm_entry *entry, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		b->entry[entry[i].node] = entry[i];
}

void fm_book_orders(struct fm_book *b, const struct fm_table_msg *m)
{
	b->orders.of = calloc(m->norders + 1, sizeof(*b->orders.of));
	if (m->norders)
		memcpy(b->orders.of, m->orders, m->norders * sizeof(*m->orders));
	b->orders.n = m->norders;
}

void fm_book_jobs(struct fm_book *b, const struct fm_table_msg *m)
{
	fm_jobs_set(&b->jobs, m->jobs, m->njobs);
}

/* Parts of jobs are not counted here, so nothing asks whether one of their nodes is excluded. */
bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin)
{
	(void)shape;
	(void)admin;
	fail_msg("the table of a former root asks whether a node is out of service");
	return false;
}

static uint32_t find(const struct fm_entry *entry, uint64_t guid)
{
	for (uint32_t i = 0; i < NODES; i++)
		if (entry[i].guid == guid)
			return i;
	return TORUS_NO_NODE;
}

uint32_t fm_book_find(struct fm_book *b, uint64_t guid)
{
	return find(b->entry, guid);
}

uint32_t fm_kept_place(const struct fm *f, uint64_t guid)
{
	return find(f->kept.book->entry, guid);
}

uint32_t fm_table_find(const struct fm *f, uint64_t guid)
{
	return find(f->table.entry, guid);
}

/* --- random tables ----------------------------------------------------------------------- */

static struct fm_past random_id(struct rnd *r)
{
	return (struct fm_past) { .epoch = 1 + rnd_below(r, 3), .version = 1 + rnd_below(r, 3),
				  .root = rnd_below(r, 3) };
}

static struct fm_book *random_book(struct rnd *r)
{
	struct fm_book *b = fm_book_new(&shapes[rnd_one_in(r, 5)]);

	b->orders.n = rnd_below(r, 4);
	b->orders.of = calloc(4, sizeof(*b->orders.of));
	for (uint32_t i = 0; i < b->orders.n; i++)
		b->orders.of[i] = (struct fm_order) { .node = rnd_below(r, NODES),
						      .ports = (uint16_t)rnd_below(r, 16),
						      .uid = rnd_below(r, 1000) };
	for (uint32_t i = 0; i < NODES; i++)
		b->entry[i] = (struct fm_entry) { .node = i,
						  .state = (uint8_t)rnd_below(r, FM_NODE_STATES),
						  .admin = (uint16_t)(rnd_below(r, 16) &
								      rnd_below(r, 16)),
						  .guid = GUID + rnd_below(r, 20) };
	return b;
}

bool fm_keep_take(struct fm *f, const struct fm_table_msg *m)
{
	if (!kept_next)
		return false;
	fm_book_put(f->kept.book);
	f->kept.book = kept_next;
	f->kept.term = m->term;
	f->kept.version = m->version;
	kept_next = NULL;
	return true;
}

static void begin(struct rnd *r)
{
	memset(&root, 0, sizeof(root));
	memset(&fm.table, 0, sizeof(fm.table));
	memset(&fm.kept, 0, sizeof(fm.kept));
	memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
	memset(record, 0, sizeof(record));
	memset(marked, 0, sizeof(marked));
	torus_shape_parse("4x3", &shapes[0]);
	torus_shape_parse("3x4", &shapes[1]);
	torus_shape_parse("1x1", &shapes[2]);
	fm.now = 50000;
	assert_true(fm_recall_new(&root));
	if (rnd_one_in(r, 3))
		fm.cfg.shape = shapes[rnd_one_in(r, 5)];
	if (rnd_one_in(r, 2)) {
		fm.kept.book = random_book(r);
		fm.kept.term = 1 + rnd_below(r, 3);
		fm.kept.version = 1 + rnd_below(r, 3);
		fm.kept.open = 2;
	}
	if (rnd_one_in(r, 2)) {
		struct fm_past id = random_id(r);

		fm.table.book = random_book(r);
		fm.table.entry = fm.table.book->entry;
		fm.table.shape = fm.table.book->shape;
		fm.table.term = id.epoch;
		fm.table.version = id.version;
		fm.table.root_guid = id.root;
		fm.table.voters.n = 6;
	}
	if (rnd_one_in(r, 3)) {
		root.restored = true;
		root.shape = shapes[rnd_one_in(r, 5)];
		root.version_seen = rnd_below(r, 3);
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		record[i].guid = GUID + i;
		record[i].node = rnd_one_in(r, 2) ? TORUS_NO_NODE : i;
		record[i].fixed = true;
		if (!i || !rnd_one_in(r, 4))
			record[i].name[0] = 'n';
	}
}

static void end(void)
{
	fm_recall_free(&root);
	fm_book_put(fm.table.book);
	fm_book_put(fm.kept.book);
	fm.table.book = fm.kept.book = NULL;
	free(root.admin);
	assert_int_equal(memory_blocks(), 0);
}

/* --- the same, in another way ------------------------------------------------------------ */

/*
 * Compares tables: the later one is of the later epoch; then of the greater root, if known; then
 * newer.
 */
static int compare(struct fm_past a, struct fm_past b)
{
	if (a.epoch != b.epoch)
		return a.epoch > b.epoch ? 1 : -1;
	if (a.root && b.root && a.root != b.root)
		return a.root > b.root ? 1 : -1;
	return a.version == b.version ? 0 : a.version > b.version ? 1 : -1;
}

static bool same(const struct torus_shape *a, const struct torus_shape *b)
{
	return a->ndims == b->ndims && a->size[0] == b->size[0] && a->size[1] == b->size[1];
}

static struct fm_past own(void)
{
	return (struct fm_past) { fm.table.term, fm.table.version, fm.table.root_guid };
}

static struct fm_past latest(void)
{
	return (struct fm_past) { root.former.epoch, root.former.table, root.former.root };
}

/* Return: the book that has the latest table: 0: none; 1: this node's; 2: the one that was sent. */
static int holder(const struct model *m)
{
	if (latest().version && !compare(own(), latest()))
		return fm.table.book ? 1 : 0;
	return m->has_book && !compare(m->id, latest()) ? 2 : 0;
}

static bool kept_fits(void)
{
	return fm.kept.book && !fm.table.version && root.restored &&
	       same(&fm.kept.book->shape, &root.shape);
}

static void forget(struct model *m)
{
	memset(m->reported, 0, sizeof(m->reported));
	m->has_offered = false;
}

static void offer_all(struct model *m, const struct fm_entry *entry, struct fm_past id)
{
	m->has_offered = true;
	for (uint32_t i = 0; i < NODES; i++)
		if (compare(id, m->reported[i].id) >= 0)
			m->reported[i] = (struct statement) { .id = id, .admin = entry[i].admin };
}

static void use_kept(struct rnd *r, struct model *m)
{
	const struct fm_book *b = fm.kept.book;

	if (!b || root.settled || fm.table.version)
		return;
	if (m->kept || !root.restored)	/* the caller has made sure that it is used anew */
		m->kept = true;
	expect(r, root.restored, "nothing was restored");
	if (!same(&root.shape, &b->shape))
		return;
	assert_int_equal(root.open, fm.kept.open);
	offer_all(m, b->entry, (struct fm_past) { fm.kept.term, fm.kept.version, 0 });
}

/* Checks that the root begins with the kept table, or takes only its exclusions. */
static void check_kept(struct rnd *r, struct model *m, const struct fm_root *was,
		       const struct fm_record *had)
{
	const struct fm_book *b = fm.kept.book;
	bool can = b && !root.settled && !fm.table.version;
	bool anew = can && (!was->restored || (m->kept && !was->version_seen)) &&
		    (!fm.cfg.shape.ndims || same(&fm.cfg.shape, &b->shape));
	bool refused = can && !anew && (!was->restored || (m->kept && !was->version_seen));

	for (uint32_t i = 0; i < RECORDS; i++)
		expect(r, record[i].node == (anew ? find(b->entry, GUID + i) : had[i].node),
		       "record %u", i);
	expect(r, record[0].fixed == (anew ? record[0].node != TORUS_NO_NODE : had[0].fixed),
	       "own");
	expect(r, same(&root.shape, anew ? &b->shape : &was->shape), "shape");
	expect(r, root.restored == (anew || was->restored), "restored");
	if (anew) {
		forget(m);
		m->kept = true;
	}
	if (can && !refused)
		use_kept(r, m);
	else
		assert_int_equal(root.open, was->open);
}

static void take_own(struct rnd *r, struct model *m)
{
	const struct fm_root was = root;
	struct fm_record had[RECORDS];

	if (root.settled)
		return;
	memcpy(had, record, sizeof(had));
	fm_recall_own(&fm);
	check_kept(r, m, &was, had);
	if (fm.table.version && root.restored && same(&fm.table.shape, &root.shape))
		offer_all(m, fm.table.entry, own());
}

static void take_kept(struct rnd *r, struct model *m)
{
	const struct fm_root was = root;
	struct fm_table_msg msg = { .term = 1 + rnd_below(r, 4), .version = 1 + rnd_below(r, 3),
				    .shape = shapes[0] };
	struct fm_record had[RECORDS];
	bool taken;

	memcpy(had, record, sizeof(had));
	believed = 3;
	kept_next = rnd_one_in(r, 3) ? NULL : random_book(r);
	taken = kept_next && msg.term <= believed;
	fm_recall_kept(&fm, &msg);
	assert_int_equal(taken, taken && !kept_next);
	if (taken)
		check_kept(r, m, &was, had);
	else
		assert_memory_equal(had, record, sizeof(had));
	fm_book_put(kept_next);
}

/* --- a HELLO ----------------------------------------------------------------------------- */

static struct fm_hello random_hello(struct rnd *r)
{
	struct fm_past id = random_id(r);
	struct fm_hello h = { .placed = !rnd_one_in(r, 6), .term = id.epoch, .table = id.version,
			      .table_root = id.root, .version = rnd_below(r, 4),
			      .shape = shapes[rnd_one_in(r, 4) + rnd_one_in(r, 12)],
			      .admin = (uint16_t)rnd_below(r, 256),
			      .across = (uint16_t)rnd_below(r, 256), .ups = rnd_below(r, 9),
			      .clean = (uint8_t)rnd_below(r, 16), .open = (uint8_t)rnd_below(r, 4),
			      .kept_term = 1 + rnd_below(r, 3), .kept = rnd_below(r, 4) };

	if (rnd_one_in(r, 5))
		h.table = 0;
	h.in_force = rnd_one_in(r, 3);
	h.coords.c[0] = (uint16_t)rnd_below(r, h.shape.size[0]);
	h.coords.c[1] = (uint16_t)rnd_below(r, h.shape.size[1]);
	h.voters.n = (uint8_t)rnd_below(r, 4);
	h.voters.set[0].ups = rnd_below(r, 100);
	h.line.n = (uint8_t)rnd_below(r, 4);
	h.line.past[0].version = rnd_below(r, 100);
	return h;
}

static void check_former(struct rnd *r, const struct fm_former *was, const struct fm_hello *h)
{
	const struct fm_past id = { h->term, h->table, h->table_root };
	struct fm_former t = *was;
	int order = compare(id, latest());

	order = compare(id, (struct fm_past) { was->epoch, was->table, was->root });
	if (h->table && order > 0) {
		memset(&t, 0, sizeof(t));
		t.epoch = h->term;
		t.table = h->table;
		t.root = h->table_root;
		t.ups = h->ups;
		t.open = h->open;
	}
	if (h->table && order >= 0) {
		t.clean |= h->clean;
		t.in_force |= h->in_force;
		if (h->voters.n > t.voters.n)
			t.voters = h->voters;
		if (h->line.n > t.line.n)
			t.line = h->line;
	}
	expect(r, root.former.epoch == t.epoch && root.former.table == t.table &&
	       root.former.root == t.root && root.former.ups == t.ups && root.former.open == t.open &&
	       root.former.clean == t.clean && root.former.in_force == t.in_force, "told");
	expect(r, root.former.voters.n == t.voters.n &&
	       root.former.voters.set[0].ups == t.voters.set[0].ups, "voters");
	expect(r, root.former.line.n == t.line.n &&
	       root.former.line.past[0].version == t.line.past[0].version, "line");
}

static void hello(struct rnd *r, struct model *m)
{
	struct fm_hello h = random_hello(r);
	const struct fm_root was = root;
	struct fm_record had[RECORDS];
	bool other = h.placed && h.version > root.version_seen &&
		     h.shape.size[0] * h.shape.size[1] > 1 && !same(&h.shape, &root.shape) &&
		     (!fm.cfg.shape.ndims || same(&fm.cfg.shape, &h.shape));
	const struct torus_shape *coming;

	memcpy(had, record, sizeof(had));
	fm_recall_hello(&fm, &h);
	if (!h.placed) {
		assert_memory_equal(&was, &root, sizeof(was));
		return;
	}
	check_former(r, &was.former, &h);
	for (uint32_t i = 0; i < RECORDS; i++)
		expect(r, record[i].node == (other ? TORUS_NO_NODE : had[i].node) &&
		       record[i].given - had[i].given == (other && had[i].node != TORUS_NO_NODE),
		       "record %u", i);
	expect(r, record[0].fixed == (!other && had[0].fixed), "own place");
	if (other) {
		forget(m);
		m->kept = false;
	}
	expect(r, root.restored == (other || was.restored) &&
	       same(&root.shape, other ? &h.shape : &was.shape) &&
	       root.open == (other ? 0 : was.open), "shape");
	coming = root.restored ? &root.shape : &fm.cfg.shape;
	if (h.table && same(coming, &h.shape)) {
		struct statement *s = &m->reported[h.coords.c[0] + h.coords.c[1] * h.shape.size[0]];
		struct statement now = { { h.term, h.table, h.table_root }, h.admin, h.across };

		m->has_offered = true;
		if (compare(now.id, s->id) >= 0)
			*s = now;
	}
	if (rnd_one_in(r, 2) && h.version > root.version_seen)
		root.version_seen = h.version;
}

/* --- tables are asked for, and come ------------------------------------------------------ */

static void note_asked(struct model *m, struct fm_past id, uint64_t guid)
{
	if (!m->since && root.stage == FM_STAGE_LEADS)
		m->since = fm.now;
	if (compare(id, m->wanted))
		m->n = 0;
	if (m->n < 4)
		m->of[m->n] = guid;
	m->n++;
	m->wanted = id;
	m->asked = fm.now;
}

static void ask(struct rnd *r, struct model *m)
{
	const struct fm_conn c = { .attach = 77 };
	struct fm_hello h = random_hello(r);
	struct fm_past id = { h.term, h.table, h.table_root };
	bool wants = !fm.table.version && h.kept &&
		     (!fm.kept.book || h.kept_term > fm.kept.term ||
		      (h.kept_term == fm.kept.term && h.kept > fm.kept.version));

	fetches = 0;
	waits_until = 0;
	fm_recall_ask(&fm, &c, &h);
	assert_int_equal(fetches, wants);
	assert_true(!wants || !fetched_former);
	assert_int_equal(waits_until, wants ? fm.now + RESEND : 0);

	h.guid = GUID + rnd_below(r, RECORDS);
	if (rnd_one_in(r, 2)) {
		id = latest();
		h.term = id.epoch;
		h.table = id.version;
		h.table_root = id.root;
	}
	wants = h.table && !compare(id, latest()) && !holder(m) &&
		(compare(id, m->wanted) || fm.now >= m->asked + RESEND ||
		 (m->n < 2 && (!m->n || m->of[0] != h.guid)));
	fetches = 0;
	fm_recall_fetch(&fm, &c, &h);
	assert_int_equal(fetches, wants);
	if (!wants)
		return;
	assert_true(fetched_former);
	note_asked(m, id, h.guid);
}

/* Return: true if the node has that table, is connected below this one, and was not asked for it. */
static bool can_send(const struct model *m, uint32_t i)
{
	const struct fm_statements *v = &record[i].stated;
	struct fm_past its = { v->term, v->table, v->root };

	for (unsigned int k = 0; k < m->n && k < 4; k++)
		if (m->of[k] == record[i].guid)
			return false;
	return conns[i].role == FM_CONN_CHILD && v->table && !compare(its, m->wanted);
}

/*
 * Up to four nodes with the latest table stay directly below the root until the root has this
 * table.
 */
static void check_keeps(struct rnd *r, const struct model *m)
{
	unsigned int has[RECORDS], n = 0;

	for (uint32_t i = 0; i < RECORDS; i++) {
		const struct fm_statements *v = &record[i].stated;

		has[i] = v->table && latest().version &&
			 !compare((struct fm_past) { v->term, v->table, v->root }, latest());
		n += has[i] && conns[i].role == FM_CONN_CHILD && !conns[i].guest;
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		bool stays = has[i] && conns[i].role == FM_CONN_CHILD && !conns[i].guest;

		expect(r, fm_recall_keeps(&fm, &record[i]) ==
		       (has[i] && !root.settled && !holder(m) && n - stays < 4), "keeps %u", i);
	}
}

/*
 * The node that was asked does not answer, while this root leads: another is asked, up to the
 * fourth.
 */
static void ask_another(struct rnd *r, struct model *m)
{
	bool due = root.stage == FM_STAGE_LEADS && m->n < 4 && latest().version &&
		   !compare(latest(), m->wanted) && !holder(m);
	uint32_t other = 0;

	for (uint32_t i = 0; i < RECORDS; i++) {
		struct fm_past id = rnd_one_in(r, 2) ? latest() : random_id(r);

		record[i].stated.term = id.epoch;
		record[i].stated.table = rnd_one_in(r, 5) ? 0 : id.version;
		record[i].stated.root = id.root;
		conns[i] = (struct fm_conn) { .attach = 77, .guid = record[i].guid,
						.role = rnd_one_in(r, 4) ? FM_CONN_STRANGER :
									 FM_CONN_CHILD,
						.guest = rnd_one_in(r, 4) };
	}
	check_keeps(r, m);
	assert_true(fm_recall_expiry(&fm) == (due ? m->asked + RESEND : NEVER));
	due &= fm.now >= m->asked + RESEND;
	while (other < RECORDS && !can_send(m, other))
		other++;
	fetches = 0;
	fm_recall_due(&fm);
	expect(r, fetches == (due && other < RECORDS), "another");
	if (fetches) {
		assert_true(fetched_former);
		assert_int_equal(fetched_of, record[other].guid);
		note_asked(m, m->wanted, fetched_of);
	} else if (due) {
		m->n = 4;
	}
}

static void table_comes(struct rnd *r, struct model *m)
{
	struct fm_book *b = random_book(r);
	struct fm_past id = rnd_one_in(r, 2) ? latest() : random_id(r);
	struct fm_table_msg msg = { .term = id.epoch, .version = id.version, .maker = id.root,
				    .shape = b->shape, .base = rnd_one_in(r, 6),
				    .nentries = NODES, .entries = b->entry,
				    .norders = b->orders.n, .orders = b->orders.of,
				    .voters = { .n = 5 } };
	bool wanted = !msg.base && !compare(id, latest()) && !holder(m);
	struct fm_record had[RECORDS];

	memcpy(had, record, sizeof(had));
	expect(r, fm_recall_sent(&fm, &msg) == wanted, "sent");
	if (wanted) {
		m->has_book = true;
		m->id = id;
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		uint32_t node = find(b->entry, GUID + i);
		bool moves = wanted && same(&root.shape, &b->shape) && i && record[i].name[0] &&
			     node != TORUS_NO_NODE;

		expect(r, record[i].node == (moves ? node : had[i].node), "record %u", i);
	}
	if (wanted && same(&root.shape, &b->shape))
		offer_all(m, b->entry, id);
	fm_book_put(b);
}

/* --- questions --------------------------------------------------------------------------- */

static void check_book(struct rnd *r, const struct model *m)
{
	struct fm_voters voters;
	struct fm_book *b = fm_recall_book(&fm, &shapes[0], &voters);
	int h = holder(m);

	if (h == 2)
		expect(r, voters.n == 5, "voters");
	else
		expect(r, voters.n == fm.table.voters.n, "voters");
	if (h == 1 && same(&fm.table.shape, &shapes[0]))
		assert_ptr_equal(b, fm.table.book);
	else if (h == 2 && b && b != fm.kept.book && b != fm.table.book)
		assert_true(same(&b->shape, &shapes[0]));
	else if (kept_fits())
		assert_ptr_equal(b, fm.kept.book);
	else if (fm.table.version && same(&fm.table.shape, &shapes[0]))
		assert_ptr_equal(b, fm.table.book);
	else
		assert_null(b);
	fm_book_put(b);
}

static void check_place(struct rnd *r, const struct model *m)
{
	uint64_t guid = GUID + rnd_below(r, 20);
	uint32_t place = fm_recall_place(&fm, guid), nodes = 0;
	const struct fm_voters *voters = NULL;
	const struct fm_past id = latest();
	struct fm_book *b = fm_recall_table(&fm, &id, &voters);
	int h = holder(m);

	expect(r, fm_recall_has_latest(&fm) == (h > 0) && (b != NULL) == (h > 0), "latest");
	expect(r, !b || voters->n == (h == 1 ? 6 : 5), "voters");
	if (b && same(&b->shape, &root.shape))
		assert_int_equal(place, find(b->entry, guid));
	else if (kept_fits())
		assert_int_equal(place, find(fm.kept.book->entry, guid));
	else if (fm.table.version && same(&fm.table.shape, &root.shape))
		assert_int_equal(place, find(fm.table.entry, guid));
	else
		assert_int_equal(place, TORUS_NO_NODE);
	for (uint32_t i = 0; kept_fits() && i < NODES; i++)
		nodes += fm.kept.book->entry[i].state != FM_NODE_ABSENT;
	assert_int_equal(fm_recall_nodes(&fm), nodes);
}

static void check_wait(struct rnd *r, const struct model *m)
{
	uint64_t from = m->since > root.since ? m->since : root.since;
	uint64_t one = m->asked + RESEND, all = from + 4 * RESEND;
	bool waits = latest().version && !compare(latest(), m->wanted) && !holder(m);

	expect(r, fm_recall_awaits(&fm) == (!waits ? 0 : one < all ? one : all), "waits");
}

/* --- the end ----------------------------------------------------------------------------- */

/* Return: whether a cable is excluded, by the end with the later table. */
static uint16_t excluded(const struct model *m, const struct torus_shape *shape, uint32_t node)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; m->has_offered && p < 4; p++) {
		const struct statement *near = &m->reported[node];
		const struct statement *far = &m->reported[torus_neighbour(shape, node, p)];
		unsigned int q = (p + 2) % 4;

		if (compare(near->id, far->id) >= 0 ? near->admin >> p & 1 : far->across >> q & 1)
			mask |= (uint16_t)(1u << p);
	}
	return mask;
}

static void check_orders(struct rnd *r, const struct fm_book *b, const struct torus_shape *shape,
			 unsigned int *next)
{
	if (!b || !same(&b->shape, shape))
		return;
	for (uint32_t i = 0; i < b->orders.n; i++, ++*next) {
		const struct fm_order *o = &b->orders.of[i];

		expect(r, *next < n_merged && merged[*next].node == o->node &&
		       merged[*next].uid == o->uid &&
		       merged[*next].ports == (o->ports & root.admin[o->node]), "order %u", i);
	}
}

static void settle(struct rnd *r, struct model *m)
{
	const struct torus_shape *shape = root.restored ? &root.shape : &shapes[0];
	const struct fm_voters *voters;
	struct fm_book *sent = holder(m) == 2 ? fm_recall_table(&fm, &m->id, &voters) : NULL;
	unsigned int next = 0, ports = 0;
	char text[60];

	if (m->has_book && !sent)
		sent = fm_recall_table(&fm, &m->id, &voters);
	if (sent == fm.table.book)
		sent = NULL;	/* another one was sent, and is not seen from here */
	if (sent)
		fm_book_get(sent);
	root.admin = calloc(NODES, sizeof(*root.admin));
	log_text[0] = '\0';
	n_merged = 0;
	fm_recall_end(&fm, shape, fm.table.book);
	for (uint32_t i = 0; i < NODES; i++) {
		uint16_t is = excluded(m, shape, i);

		expect(r, root.admin[i] == is && marked[i] == (is ? 1 : 0), "node %u", i);
		ports += (unsigned int)__builtin_popcount(is);
	}
	sprintf(text, ports == 1 ? "%u port stays excluded" : "%u ports stay excluded", ports);
	expect(r, ports ? !strncmp(log_text, text, strlen(text)) : !log_text[0], "%s", log_text);
	if (!m->has_book || sent) {
		check_orders(r, sent, shape, &next);
		check_orders(r, fm.table.book, shape, &next);
		check_orders(r, fm.kept.book, shape, &next);
		assert_int_equal(next, n_merged);
	}
	assert_true(!sent || sent->refs == 1);	/* the root has forgotten the book */
	assert_true(!sent || fm_recall_table(&fm, &m->id, &voters) != sent);
	fm_book_put(sent);
}

/* Checks that a root that has settled takes nothing more. */
static void check_settled(struct rnd *r)
{
	const struct fm_conn c = { .attach = 77 };
	struct fm_root was;

	fm_recall_forget(&root);
	root.settled = true;
	was = root;
	fetches = 0;
	for (unsigned int i = 0; i < 5; i++) {
		struct fm_hello h = random_hello(r);
		struct fm_table_msg msg = { .term = root.former.epoch, .version = root.former.table,
					    .maker = root.former.root, .shape = shapes[0] };

		fm_recall_hello(&fm, &h);
		fm_recall_own(&fm);
		fm_recall_ask(&fm, &c, &h);
		h.term = msg.term;
		h.table = msg.version;
		h.table_root = msg.maker;
		fm_recall_fetch(&fm, &c, &h);
		assert_true(fm_recall_expiry(&fm) == NEVER);
		fm_recall_due(&fm);
		assert_false(fm_recall_sent(&fm, &msg));
	}
	assert_int_equal(fetches, 0);
	assert_memory_equal(&was, &root, sizeof(was));
}

static void life(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct model m = { .asked = 0 };

	begin(&r);
	for (unsigned int i = 0; i < 25; i++) {
		struct fm_past a = random_id(&r), b = random_id(&r);

		fm.now += rnd_below(&r, RESEND);
		if (rnd_one_in(&r, 4) && fm.now < m.asked + RESEND)
			fm.now = m.asked + RESEND - rnd_below(&r, 2);
		root.stage = rnd_one_in(&r, 3) ? FM_STAGE_ASKS : FM_STAGE_LEADS;
		if (rnd_one_in(&r, 10))
			root.since = fm.now;
		assert_int_equal(fm_past_same(&a, &b), !compare(a, b));
		ask_another(&r, &m);
		switch (rnd_below(&r, 8)) {
		case 0:
			take_own(&r, &m);
			break;
		case 1:
			take_kept(&r, &m);
			break;
		case 2:
			table_comes(&r, &m);
			break;
		case 3:
		case 4:
			ask(&r, &m);
			break;
		default:
			hello(&r, &m);
		}
		check_book(&r, &m);
		check_place(&r, &m);
		check_wait(&r, &m);
	}
	if (!rnd_one_in(&r, 3))
		settle(&r, &m);
	check_settled(&r);
	end();
}

static void random_recall_equals_model(void **state)
{
	(void)state;
	for_seeds(1500, life);
}

/* A NIC can have worked in the smallest shape, and in one of three dimensions. */
static void smallest_and_three_dimensional_shapes_are_recalled(void **state)
{
	static const char *const text[] = { "1", "2", "3x2x3" };
	struct rnd r = rnd_new(1);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct fm_hello h = { .placed = true, .term = 1, .table = 1, .version = 1,
				      .admin = i ? 1 << 5 : 0 };

		begin(&r);
		memset(&root.shape, 0, sizeof(root.shape));
		memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
		root.restored = false;
		root.version_seen = 0;
		torus_shape_parse(text[i], &h.shape);
		fm_recall_hello(&fm, &h);
		assert_int_equal(root.restored, i > 0);
		root.admin = calloc(20, sizeof(*root.admin));
		fm_recall_end(&fm, &h.shape, fm.table.book);
		assert_int_equal(root.admin[0], i == 2 ? 1 << 5 : 0);
		end();
	}
}

/* A book of 4x3 whose only job, of node 2, has this id. */
static struct fm_book *book_with_job(struct rnd *r, uint16_t id)
{
	struct fm_book *b = random_book(r);
	const struct fm_job job = { .id = id, .nodes = 1 };

	b->shape = shapes[0];
	fm_jobs_set(&b->jobs, &job, 1);
	b->entry[2].job = id;
	return b;
}

/* The jobs are those of the former table; of the table on disk, if that is later and of this shape. */
static void jobs_are_those_of_latest_table(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		bool later = k & 1, fits = k & 2, has = k & 4;
		uint16_t want = later && fits && has ? 7 : 6;

		begin(&r);
		fm_book_put(fm.table.book);
		fm_book_put(fm.kept.book);
		fm.table.book = book_with_job(&r, 6);
		fm.kept.book = has ? book_with_job(&r, 7) : NULL;
		if (has && !fits)
			fm.kept.book->shape = shapes[1];
		fm.kept.term = 3;
		fm.kept.version = later ? 5 : 3;
		root.former = (struct fm_former) { .epoch = 3, .table = 4 };
		root.admin = calloc(NODES, sizeof(*root.admin));
		root.seat = calloc(NODES, sizeof(*root.seat));
		fm_recall_end(&fm, &shapes[0], fm.table.book);
		assert_int_equal(root.jobs.n, 1);
		assert_int_equal(root.jobs.of[0].id, want);
		assert_int_equal(root.seat[2].job, want);
		fm_jobs_free(&root.jobs);
		free(root.seat);
		end();
	}
}

static void recall_without_memory_fails(void **state)
{
	struct fm_hello h = { .placed = true, .term = 1, .table = 1, .version = 1 };
	struct rnd r = rnd_new(1);

	(void)state;
	memory_fails_at(1);
	assert_false(fm_recall_new(&root));
	assert_true(memory_failed());
	fm_recall_free(&root);
	begin(&r);
	fm_book_put(fm.table.book);
	memset(&fm.table, 0, sizeof(fm.table));
	fm_book_put(fm.kept.book);
	memset(&fm.kept, 0, sizeof(fm.kept));
	root.restored = false;
	fm.cfg.shape = shapes[0];
	h.shape = shapes[0];
	h.admin = 1;
	memory_fails_at(1);
	fm_recall_hello(&fm, &h);
	assert_true(memory_failed());
	/* Without a table of its own, it takes one that is sent, if there is memory. */
	memory_fails_at(1);
	assert_false(fm_recall_sent(&fm, &(struct fm_table_msg) { .term = 1, .version = 1,
								  .shape = shapes[0] }));
	assert_true(memory_failed());
	assert_false(fm_recall_has_latest(&fm));
	/* Statements of nodes are lost, the book is not. */
	memory_fails_at(4);
	assert_true(fm_recall_sent(&fm, &(struct fm_table_msg) { .term = 1, .version = 1,
								 .shape = shapes[0] }));
	assert_true(memory_failed());
	assert_true(fm_recall_has_latest(&fm));
	root.admin = calloc(NODES, sizeof(*root.admin));
	fm_recall_end(&fm, &shapes[0], fm.table.book);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_recall_equals_model),
		cmocka_unit_test(smallest_and_three_dimensional_shapes_are_recalled),
		cmocka_unit_test(jobs_are_those_of_latest_table),
		cmocka_unit_test(recall_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_recalling", all, NULL, NULL);
}
