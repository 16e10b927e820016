// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a new root learns of the former one
 *
 * Exclusions by the administrator outlive the root. Each HELLO contains which of the node's cables
 * its table excludes, at either end, so both ends of a cable know the exclusions of both. If two
 * nodes contradict each other, the one with the later table is right, so a port that was included
 * since is not excluded again. For a node that is away, or whose manager started again, the HELLOs
 * of its neighbours count.
 *
 * A HELLO also contains the colours of which the former root knew that no packet is left, and the
 * dimensions whose ends are not cabled together.
 *
 * A node that asks to be root, and lacks the latest table that any HELLO has named, fetches it from
 * the first two nodes that have it. It needs to know which nodes were up in that table, and nodes
 * whose managers started again cannot report it (quorum.c). Nodes that do not answer may be dead:
 * then another node with that table is asked, when it sends HELLO again; or, when this root leads
 * and no more HELLOs come, a node that is connected. So until the table has come, the root keeps as
 * many nodes that have it as it may ask, and gives them no other parent: a node that is connected
 * only to another parent cannot be asked. The first table waits for at most ASKED_MAX of these
 * nodes.
 *
 * If all managers and NICs have lost their memory, the tables that candidates have kept contain the
 * same (node/keep.c).
 *
 * Only the first table of a root uses this. A node that joins later may not know the decisions made
 * since. The exclusions of another part stay (parts.c).
 *
 * Tests: tests/unit/test_fm_recall.c, tests/unit/test_fm_recalling.c.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/recall.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/former.h"
#include "lib/deps/invariant.h"

/**
 * struct report - the exclusions at a node, as the table @id has them; @admin and @across as in
 * fm_hello
 */
struct report {
	struct fm_past id;
	uint16_t admin;
	uint16_t across;
};

#define AT_ONCE 2	/* most nodes that are asked for a table before the first of them has had
			 * time to answer */
#define ASKED_MAX 4	/* most nodes that are asked for one table; if ever later tables are found,
			 * the first table of this root waits for as many answers in all */

/**
 * struct fm_recall - the former root's decisions, until the first table
 * @report: exclusions by node id; NULL: none are known
 * @book: the latest table, as a node has sent it; NULL: no node has
 * @id, @voters: as in the table of @book
 * @wanted, @asked: the table for which a node was asked last, and when
 * @of, @n: GUIDs of the last nodes that were asked for that table, and how many were asked
 * @since: when a node was first asked since this root leads
 * @kept: the restored shape is that of the kept table
 */
struct fm_recall {
	struct report *report;
	struct fm_book *book;
	struct fm_past id;
	struct fm_voters voters;
	struct fm_past wanted;
	uint64_t of[ASKED_MAX], asked, since;
	unsigned int n;
	bool kept;
};

bool fm_recall_new(struct fm_root *r)
{
	r->recall = calloc(1, sizeof(*r->recall));
	return r->recall;
}

static void free_exclusions(struct fm_root *r)
{
	free(r->recall->report);
	r->recall->report = NULL;
}

void fm_recall_forget(struct fm_root *r)
{
	free_exclusions(r);
	fm_book_put(r->recall->book);
	r->recall->book = NULL;
}

void fm_recall_free(struct fm_root *r)
{
	if (r->recall)
		fm_recall_forget(r);
	free(r->recall);
}

/*
 * Compares the age of two tables. Two roots of the same epoch led parts that no link joined, so
 * neither table is really later. The one of the root with the greater GUID counts as later,
 * wherever tables are compared; the other one is a table of another part (parts.c). Managers of
 * earlier releases of the software, and old kept tables, do not name the root.
 * Return: < 0 if @a is earlier, 0 if they are the same, > 0 if @a is later.
 */
static int compare_tables(const struct fm_past *a, const struct fm_past *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	if (a->root != b->root && a->root && b->root)
		return a->root < b->root ? -1 : 1;
	return (a->version > b->version) - (a->version < b->version);
}

bool fm_past_same(const struct fm_past *a, const struct fm_past *b)
{
	return !compare_tables(a, b);
}

/* Return: true if @a is of the same table as @b or of a later one. */
static bool is_as_late(const struct report *a, const struct report *b)
{
	return compare_tables(&a->id, &b->id) >= 0;
}

static struct fm_past hello_id(const struct fm_hello *h)
{
	return (struct fm_past) { .epoch = h->term, .version = h->table, .root = h->table_root };
}

static bool states_table(const struct fm_statements *v, const struct fm_past *id)
{
	const struct fm_past its = { .epoch = v->term, .version = v->table, .root = v->root };

	return v->table && fm_past_same(&its, id);
}

static struct fm_past own_id(const struct fm_table *t)
{
	return (struct fm_past) { .epoch = t->term, .version = t->version, .root = t->root_guid };
}

/*
 * Stores what a HELLO reports of the sender's table, if that is the latest. During a version more
 * and more colours become clean; each node knows those named in the last message that the root sent
 * it.
 */
static void store_former(struct fm_former *t, const struct fm_hello *h)
{
	const struct fm_past id = hello_id(h), had = fm_former_id(t);
	int order = compare_tables(&id, &had);

	if (order > 0)
		*t = (struct fm_former) { .epoch = h->term, .table = h->table, .open = h->open,
					.root = h->table_root, .ups = h->ups, .plan = h->plan };
	if (order < 0)
		return;
	t->clean |= h->clean;
	t->in_force |= h->in_force;
	/* Managers of earlier releases do not send voters and line. */
	if (h->voters.n > t->voters.n)
		t->voters = h->voters;
	if (h->line.n > t->line.n)
		t->line = h->line;
}

/* Return: the shape that the fabric will have; NULL: not known before it settles. */
static const struct torus_shape *coming_shape(const struct fm *fm)
{
	if (fm->root->restored)
		return &fm->root->shape;
	return fm->cfg.shape.ndims ? &fm->cfg.shape : NULL;
}

/* Allocates memory for the exclusions at all nodes, once. Return: false if there is no memory. */
static bool alloc_exclusions(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_recall *l = fm->root->recall;

	if (!l->report)
		l->report = calloc(torus_nodes(shape), sizeof(*l->report));
	if (!l->report)
		fm_log(fm, FM_ERROR, "table",
		       "no memory for the exclusions that nodes report: they may be lost");
	return l->report;
}

/*
 * Uses the shape in a HELLO as that of the fabric, if the NIC has the latest version so far. So all
 * nodes keep their places even if the NIC of the root has lost its memory, or was away for long.
 * Return: true if the shape is used.
 */
static bool take_shape_of(struct fm *fm, const struct fm_hello *h)
{
	const struct torus_shape *cfg = &fm->cfg.shape;
	struct fm_root *r = fm->root;

	if (h->version <= r->version_seen || torus_nodes(&h->shape) < 2 ||
	    (cfg->ndims && memcmp(cfg, &h->shape, sizeof(*cfg))) ||
	    !memcmp(&r->shape, &h->shape, sizeof(h->shape)))
		return false;
	free_exclusions(r);
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->node != TORUS_NO_NODE)
			fm_record_move(fm, fm_record_no(r, i), TORUS_NO_NODE);
	fm_record_no(r, 0)->fixed = false;
	r->restored = true;
	r->recall->kept = false;
	r->open = 0;
	r->shape = h->shape;
	return true;
}

/* Stores the exclusions that one table has at all nodes. */
static void store_exclusions(struct fm *fm, const struct fm_entry *entry, const struct report *as)
{
	const struct torus_shape *shape = &fm->root->shape;
	struct fm_root *r = fm->root;

	if (!alloc_exclusions(fm, shape))
		return;
	for (uint32_t i = 0; i < torus_nodes(shape); i++) {
		struct report *s = &r->recall->report[i];

		if (!is_as_late(as, s))
			continue;
		*s = *as;
		s->admin = entry[i].admin;
	}
}

/*
 * Uses the kept table: its open dimensions and exclusions in any case, because NICs do not know
 * them; its shape and places if no NIC has a place. If the table does not contain the root's NIC,
 * it gives the root no place.
 */
static void recall_kept(struct fm *fm)
{
	const struct torus_shape *cfg = &fm->cfg.shape;
	const struct fm_kept *k = &fm->kept;
	struct fm_root *r = fm->root;

	if (!k->book || r->settled || fm->table.version)
		return;
	if (!r->restored || (r->recall->kept && !r->version_seen)) {
		if (cfg->ndims && memcmp(cfg, &k->book->shape, sizeof(*cfg)))
			return;
		free_exclusions(r);
		r->restored = r->recall->kept = true;
		r->shape = k->book->shape;
		for (uint32_t i = 0; i < fm_roster_size(r); i++)
			fm_record_move(fm, fm_record_no(r, i),
				       fm_kept_place(fm, fm_record_no(r, i)->guid));
		fm_record_no(r, 0)->fixed = fm_record_no(r, 0)->node != TORUS_NO_NODE;
	}
	if (memcmp(&r->shape, &k->book->shape, sizeof(r->shape)))
		return;
	r->open = k->open;
	store_exclusions(fm, k->book->entry,
			 &(struct report) { .id = { .epoch = k->term, .version = k->version } });
}

static bool kept_fits(const struct fm *fm)
{
	const struct fm_book *b = fm->kept.book;

	return b && !fm->table.version && fm->root->restored &&
	       !memcmp(&fm->root->shape, &b->shape, sizeof(b->shape));
}

uint32_t fm_recall_nodes(const struct fm *fm)
{
	const struct fm_book *b = fm->kept.book;
	uint32_t n = 0;

	for (uint32_t i = 0; kept_fits(fm) && i < b->nodes; i++)
		n += b->entry[i].state != FM_NODE_ABSENT;
	return n;
}

struct fm_book *fm_recall_table(const struct fm *fm, const struct fm_past *id,
				const struct fm_voters **voters)
{
	const struct fm_recall *s = fm->root->recall;
	const struct fm_past own = own_id(&fm->table);

	if (id->version && fm_past_same(&own, id)) {
		*voters = &fm->table.voters;
		return fm->table.book;
	}
	*voters = &s->voters;
	return s->book && fm_past_same(&s->id, id) ? s->book : NULL;
}

/*
 * Return: the latest table of all nodes that have sent HELLO; NULL if this node does not have it.
 */
static struct fm_book *latest_table(const struct fm *fm, const struct fm_voters **voters)
{
	const struct fm_past id = fm_former_id(&fm->root->former);

	return fm_recall_table(fm, &id, voters);
}

bool fm_recall_has_latest(const struct fm *fm)
{
	const struct fm_voters *v;

	return latest_table(fm, &v);
}

uint32_t fm_recall_place(const struct fm *fm, uint64_t guid)
{
	const struct fm_table *t = &fm->table;
	const struct fm_voters *v;
	struct fm_book *b = latest_table(fm, &v);

	if (b && !memcmp(&b->shape, &fm->root->shape, sizeof(b->shape)))
		return fm_book_find(b, guid);
	if (kept_fits(fm))
		return fm_kept_place(fm, guid);
	return t->version && !memcmp(&t->shape, &fm->root->shape, sizeof(t->shape)) ?
	       fm_table_find(fm, guid) : TORUS_NO_NODE;
}

struct fm_book *fm_recall_book(const struct fm *fm, const struct torus_shape *shape,
			       struct fm_voters *voters)
{
	const struct fm_table *t = &fm->table;
	const struct fm_voters *v;
	struct fm_book *b = latest_table(fm, &v);

	*voters = b ? *v : t->voters;
	if (b && !memcmp(&b->shape, shape, sizeof(*shape)))
		return fm_book_get(b);
	if (kept_fits(fm))
		return fm_book_get(fm->kept.book);
	return t->version && !memcmp(&t->shape, shape, sizeof(*shape)) ? fm_book_get(t->book) :
									 NULL;
}

void fm_recall_own(struct fm *fm)
{
	const struct fm_table *t = &fm->table;
	struct fm_root *r = fm->root;

	recall_kept(fm);
	if (t->version && r->restored && !memcmp(&t->shape, &r->shape, sizeof(t->shape)))
		store_exclusions(fm, t->entry, &(struct report) { .id = own_id(t) });
}

void fm_recall_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h)
{
	struct fm_msg msg = { .type = FM_MSG_FETCH };
	const struct fm_kept *k = &fm->kept;

	if (fm->root->settled || fm->table.version || !h->kept ||
	    (k->book &&
	     (h->kept_term < k->term || (h->kept_term == k->term && h->kept <= k->version))))
		return;
	fm_conn_send(fm, c, &msg);
	fm_news_wait(fm, fm->now + fm->cfg.resend);
}

static bool was_asked(const struct fm_recall *s, uint64_t guid)
{
	for (unsigned int i = 0; i < s->n && i < ASKED_MAX; i++)
		if (s->of[i] == guid)
			return true;
	return false;
}

/* Asks the node @guid on connection @c for table @id. */
static void fetch_table_from(struct fm *fm, const struct fm_conn *c, uint64_t guid,
			     const struct fm_past *id)
{
	struct fm_msg msg = { .type = FM_MSG_FETCH, .fetch = { .former = true } };
	struct fm_recall *s = fm->root->recall;

	if (!s->since && fm->root->stage == FM_STAGE_LEADS)
		s->since = fm->now;
	if (compare_tables(id, &s->wanted))
		s->n = 0;
	s->wanted = *id;
	s->asked = fm->now;
	s->of[s->n++ % ASKED_MAX] = guid;
	fm_conn_send(fm, c, &msg);
}

void fm_recall_fetch(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h)
{
	const struct fm_past latest = fm_former_id(&fm->root->former), id = hello_id(h);
	struct fm_recall *s = fm->root->recall;

	if (fm->root->settled || !h->table || compare_tables(&id, &latest) ||
	    fm_recall_has_latest(fm))
		return;
	if (!compare_tables(&id, &s->wanted) && fm->now < s->asked + fm->cfg.resend &&
	    (s->n >= AT_ONCE || was_asked(s, h->guid)))
		return;
	fetch_table_from(fm, c, h->guid, &id);
}

/*
 * Return: true if the table that a node was last asked for is the latest one, and has not come yet.
 */
static bool is_awaited(const struct fm *fm)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);

	return latest.version && !compare_tables(&latest, &fm->root->recall->wanted) &&
	       !fm_recall_has_latest(fm);
}

/* Return: a connection to a node that has the wanted table, and was not asked for it; or NULL. */
static const struct fm_conn *find_other(const struct fm *fm)
{
	const struct fm_recall *s = fm->root->recall;

	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		const struct fm_conn *c = fm_conn_no(fm, i);
		const struct fm_record *m =
			c->role == FM_CONN_CHILD ? fm_record(fm->root, c->guid) : NULL;

		if (m && states_table(&m->stated, &s->wanted) && !was_asked(s, c->guid))
			return c;
	}
	return NULL;
}

/* Return: true if the child at @c has the table @id, and stays connected to this node. */
static bool is_holder(const struct fm *fm, const struct fm_conn *c, const struct fm_past *id)
{
	const struct fm_record *m =
		c->role == FM_CONN_CHILD && !c->guest ? fm_record(fm->root, c->guid) : NULL;

	return m && states_table(&m->stated, id);
}

bool fm_recall_keeps(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);
	unsigned int n = 0;

	if (fm->root->settled || !latest.version || fm_recall_has_latest(fm) ||
	    !states_table(&m->stated, &latest))
		return false;
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		const struct fm_conn *c = fm_conn_no(fm, i);

		n += c->guid != m->guid && is_holder(fm, c, &latest);
	}
	return n < ASKED_MAX;
}

/* Return: ns to wait for the answer of a node that was asked for a table. */
static uint64_t answer_wait(const struct fm *fm)
{
	return fm->cfg.resend + fm_lag_answer(fm);
}

uint64_t fm_recall_expiry(const struct fm *fm)
{
	const struct fm_recall *s = fm->root->recall;

	if (fm->root->settled || fm->root->stage != FM_STAGE_LEADS || s->n >= ASKED_MAX ||
	    !is_awaited(fm))
		return NEVER;
	return s->asked + answer_wait(fm);
}

void fm_recall_due(struct fm *fm)
{
	struct fm_recall *s = fm->root->recall;
	const struct fm_conn *c;

	if (fm->now < fm_recall_expiry(fm))
		return;
	c = find_other(fm);
	if (c)
		fetch_table_from(fm, c, c->guid, &s->wanted);
	else
		s->n = ASKED_MAX;
}

uint64_t fm_recall_awaits(const struct fm *fm)
{
	const struct fm_recall *s = fm->root->recall;

	if (!is_awaited(fm))
		return 0;
	return earlier(s->asked + answer_wait(fm),
		       later(s->since, fm->root->since) + ASKED_MAX * answer_wait(fm));
}

/* Moves the nodes that sent HELLO before this table came to their places in it. */
static void move_all(struct fm *fm, struct fm_book *b)
{
	struct fm_root *r = fm->root;

	for (uint32_t i = 1; i < fm_roster_size(r); i++) {
		struct fm_record *m = fm_record_no(r, i);
		uint32_t node = fm_book_find(b, m->guid);

		if (fm_record_joined(m) && node != TORUS_NO_NODE)
			fm_record_move(fm, m, node);
	}
}

bool fm_recall_sent(struct fm *fm, const struct fm_table_msg *m)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);
	const struct fm_past id = { .epoch = m->term, .version = m->version, .root = m->maker };
	struct fm_root *r = fm->root;
	struct fm_recall *s = r->recall;
	struct fm_book *b;

	if (r->settled || m->base || compare_tables(&id, &latest) || fm_recall_has_latest(fm))
		return false;
	b = fm_book_new(&m->shape);
	if (!b)
		return false;
	fm_book_change(b, m->entries, m->nentries);
	fm_book_orders(b, m);
	fm_book_jobs(b, m);
	fm_book_put(s->book);
	s->book = b;
	s->id = id;
	s->voters = m->voters;
	if (!memcmp(&r->shape, &m->shape, sizeof(r->shape))) {
		store_exclusions(fm, b->entry, &(struct report) { .id = id });
		move_all(fm, b);
	}
	return true;
}

void fm_recall_kept(struct fm *fm, const struct fm_table_msg *m)
{
	char text[TORUS_TEXT_MAX];

	/* The table may have another epoch than the node's HELLO named. */
	if (m->term > fm_epoch_credible(fm) || !fm_keep_take(fm, m))
		return;
	fm_log(fm, FM_INFO, "table",
	       "version %llu of epoch %llu was kept, shape %s: places, names and exclusions are "
	       "taken from it",
	       (unsigned long long)m->version, (unsigned long long)m->term,
	       torus_shape_text(&m->shape, text));
	recall_kept(fm);
}

void fm_recall_hello(struct fm *fm, const struct fm_hello *h)
{
	const struct torus_shape *shape = coming_shape(fm);
	const struct report now = { hello_id(h), h->admin, h->across };
	struct fm_root *r = fm->root;
	struct report *s;

	if (r->settled || !h->placed)
		return;
	if (h->table)
		store_former(&r->former, h);
	if (take_shape_of(fm, h))
		shape = coming_shape(fm);
	if (!h->table || !shape || memcmp(shape, &h->shape, sizeof(*shape)) ||
	    !alloc_exclusions(fm, shape))
		return;
	s = &r->recall->report[torus_node_id(shape, &h->coords)];
	if (is_as_late(&now, s))
		*s = now;
}

/*
 * Return: the ports of @node that are excluded in the latest table that the node, or for each port
 * the neighbour, has had.
 */
static uint16_t excluded_ports(const struct report *report, const struct torus_shape *shape,
			       uint32_t node)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
		const struct report *own = &report[node];
		const struct report *far = &report[torus_neighbour(shape, node, p)];
		unsigned int q = torus_dir_opposite(shape, p);
		bool is = is_as_late(own, far) ? own->admin & 1u << p : far->across & 1u << q;

		if (is)
			mask |= (uint16_t)(1u << p);
	}
	return mask;
}

/* Takes over the orders in the book for ports that stay excluded. */
static void take_orders(struct fm *fm, const struct fm_book *b, const struct torus_shape *shape)
{
	if (!b || memcmp(&b->shape, shape, sizeof(*shape)))
		return;
	for (uint32_t i = 0; i < b->orders.n; i++) {
		struct fm_order o = b->orders.of[i];

		o.ports &= fm->root->admin[o.node];
		fm_orders_merge(&fm->root->orders, &o);
	}
}

/* Takes over the jobs of the former root's table @b. */
static void take_jobs(struct fm *fm, const struct fm_book *b)
{
	if (!b || !b->jobs.n)
		return;
	fm_jobs_set(&fm->root->jobs, b->jobs.of, b->jobs.n);
	for (uint32_t i = 0; i < b->nodes; i++) {
		if (!fm_jobs_find(&fm->root->jobs, b->entry[i].job))
			continue;
		fm->root->seat[i] = (struct fm_seat) { b->entry[i].job, b->entry[i].number };
		fm_change_node(fm, i);
	}
	fm_log(fm, FM_INFO, "job", "%u job%s run%s on as before", b->jobs.n,
	       b->jobs.n == 1 ? "" : "s", b->jobs.n == 1 ? "s" : "");
}

/*
 * Return: the book with the latest jobs: @former or, if no node that remembers its table has had
 * such a late one, that on disk.
 */
static const struct fm_book *latest_jobs(const struct fm *fm, const struct torus_shape *shape,
					 const struct fm_book *former)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);
	const struct fm_kept *k = &fm->kept;
	const struct fm_past kept = { .epoch = k->term, .version = k->version, .root = k->root };

	if (k->book && !memcmp(&k->book->shape, shape, sizeof(*shape)) &&
	    compare_tables(&kept, &latest) > 0)
		return k->book;
	return former;
}

void fm_recall_end(struct fm *fm, const struct torus_shape *shape, const struct fm_book *former)
{
	struct fm_root *r = fm->root;
	uint32_t ports = 0;

	invariant(!r->settled && r->admin);
	for (uint32_t i = 0; r->recall->report && i < torus_nodes(shape); i++) {
		r->admin[i] = excluded_ports(r->recall->report, shape, i);
		if (r->admin[i])
			fm_change_node(fm, i);
		ports += (uint32_t)__builtin_popcount(r->admin[i]);
	}
	if (ports)
		fm_log(fm, FM_INFO, "table", "%u port%s stay%s excluded as before", ports,
		       ports == 1 ? "" : "s", ports == 1 ? "s" : "");
	take_orders(fm, r->recall->book, shape);
	take_orders(fm, former, shape);
	take_orders(fm, fm->kept.book, shape);
	take_jobs(fm, latest_jobs(fm, shape, former));
	fm_recall_forget(r);
}
