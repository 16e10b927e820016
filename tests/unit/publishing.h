/* SPDX-License-Identifier: GPL-2.0-only */
/* The manager around publish.c: stubs for the functions that the file calls, and what they saw. */
#ifndef TESTS_PUBLISHING_H
#define TESTS_PUBLISHING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/root/wiring.h"

#define NODES	6
#define PORTS	6
#define RECORDS	(NODES + 1)	/* the last one has no place */
#define RESEND	(100 * MS)
#define MEMBER_MAX (1000 * MS)

enum call { FORGETS = 1, SPARES = 2, LOOKS = 4, TELLS = 8, ISOLATES = 16, BEGINS = 32, LOGS = 64,
	    PLACES = 128, WIRES = 256, VOTES = 512, ALL_CALLS = 1023 };

static const struct torus_shape shape = { .ndims = 3, .size = { 3, 2, 1 } };
static struct fm_root root;
static struct fm fm = { .root = &root, .term = 3, .ndims = 3, .cfg = {
	.resend = RESEND, .member_max = MEMBER_MAX } };
static struct fm_record record[RECORDS];
static uint32_t roster;
static struct fm_entry entry[NODES];
static struct fm_book book = { .entry = entry, .nodes = NODES };
static struct fm_order orders[NODES], orders_had[NODES];
static struct fm_job job = { .id = 1, .name = "j" };
static unsigned int order_is[NODES], order_was[NODES], order_before[NODES];
static uint16_t wiring[NODES], held[NODES];
static uint8_t differs[NODES];
static bool odd[NODES], looked[NODES];
static uint32_t at[NODES];
static uint16_t admin[NODES];
static struct fm_seat seat[NODES];
static bool accepts, pause_rows, places, doubts;
static const char *why;
static uint64_t parts_until, vanish_until, making;
static uint32_t cables;
static const char *marked;
static unsigned int calls, votes_reported;
static char problem[200], line[200];
static int vote[RECORDS];	/* -1: its vote is as before */

/* The table that was sent. */
static struct fm_table_msg sent;
static struct fm_entry sent_entry[NODES];
static struct fm_order sent_order[NODES];

static struct fm_record *at_place(uint32_t node)
{
	return root.at[node] ? &record[root.at[node] - 1] : NULL;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return roster;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < roster);
	return &record[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	for (uint32_t i = 0; i < roster; i++)
		if (record[i].guid == guid)
			return &record[i];
	return NULL;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < NODES);
	return at_place(node);
}

bool fm_past_same(const struct fm_past *a, const struct fm_past *b)
{
	return a->epoch == b->epoch && a->version == b->version && a->root == b->root;
}

bool fm_table_counts(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP;
}

bool fm_table_blank(const struct fm_entry *e)
{
	return e->state == FM_NODE_ABSENT && !e->admin && !e->job;
}

uint8_t fm_quorum_differs(const struct fm *f, const struct fm_record *m, bool up, uint64_t version)
{
	(void)f;
	assert_int_equal(up, m->state == FM_NODE_UP);
	assert_true(!making || version == making);
	return differs[m->node];
}

void fm_quorum_entry(struct fm *f, struct fm_record *m, bool up, uint64_t version)
{
	(void)f;
	assert_int_equal(version, making);
	vote[m - record] = up;
	votes_reported++;
}

void fm_quorum_voters(const struct fm *f, uint64_t version, struct fm_voters *v)
{
	(void)f;
	assert_int_equal(version, making);
	calls |= VOTES;
	v->n = 4;
}

uint16_t fm_wiring_check(struct fm *f, const struct fm_record *m)
{
	(void)f;
	return wiring[m->node];
}

bool fm_wiring_odd(const struct fm *f, const struct fm_record *m)
{
	(void)f;
	return odd[m->node];
}

uint16_t fm_damp_mask(const struct fm *f, const struct fm_record *m)
{
	(void)f;
	return held[m->node];
}

void fm_damp_spare(struct fm *f, struct fm_record *m)
{
	(void)f;
	assert_null(m);
	calls |= SPARES;
}

bool fm_grow_table(struct fm *f, uint64_t version)
{
	assert_true(version > f->table.version);
	making = version;
	return pause_rows;
}

const char *fm_grow_why(struct fm *f)
{
	(void)f;
	return why;
}

void fm_grow_look(struct fm *f)
{
	(void)f;
	calls |= LOOKS;
}

bool fm_discover_place(struct fm *f, const struct torus_shape *s)
{
	assert_ptr_equal(s, &f->table.shape);
	return places;
}

void fm_roster_forget(struct fm *f)
{
	(void)f;
	calls |= FORGETS;
}

void fm_service_look(struct fm *f, uint32_t node)
{
	(void)f;
	looked[node] = true;
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	marked = kind;
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(marked, kind);
	marked = "";
	calls |= !strcmp(kind, "place") ? PLACES : WIRES;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "place");
	assert_int_equal(key, record[RECORDS - 1].guid);
	va_start(args, fmt);
	vsnprintf(problem, sizeof(problem), fmt, args);
	va_end(args);
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	(void)level;
	assert_string_equal(kind, "table");
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
}

void fm_recovery_begin(struct fm *f)
{
	(void)f;
	assert_int_equal(root.version, making);
	assert_false(root.clean >> making % TORUS_COLOURS & 1);
	calls |= BEGINS;
}

uint32_t fm_cables_look(struct fm *f, const struct fm_table_msg *t)
{
	assert_true(f->table.version < t->version);
	return cables;
}

void fm_cables_log(struct fm *f)
{
	(void)f;
	calls |= LOGS;
}

void fm_member_table(struct fm *f, const struct fm_table_msg *t)
{
	assert_int_equal(calls & (BEGINS | LOGS), BEGINS | LOGS);
	sent = *t;
	memcpy(sent_entry, t->entries, t->nentries * sizeof(*t->entries));
	memcpy(sent_order, t->orders, t->norders * sizeof(*t->orders));
	if (!accepts)
		return;
	f->table.version = t->version;
	for (uint32_t i = 0; i < t->nentries; i++)
		entry[t->entries[i].node] = t->entries[i];
	memcpy(orders_had, orders, sizeof(orders));
	memcpy(order_was, order_is, sizeof(order_is));
	book.orders.n = root.orders.n;
}

void fm_apart_tell(struct fm *f)
{
	assert_true(!accepts || f->table.version == making);
	calls |= TELLS;
}

uint32_t fm_vanish_doubts(const struct fm_root *r)
{
	(void)r;
	return doubts;
}

void fm_isolated_report(struct fm *f, const struct fm_table_msg *t, bool in_doubt)
{
	(void)f;
	assert_int_equal(t->version, making);
	assert_int_equal(in_doubt, doubts);
	calls |= ISOLATES;
}

uint64_t fm_vanish_awaits(const struct fm *f, uint64_t due)
{
	assert_int_equal(due, fm_demand_expiry(f->root));
	return vanish_until;
}

uint64_t fm_parts_awaits(const struct fm *f)
{
	(void)f;
	return parts_until;
}

/* --- events -------------------------------------------------------------------------- */

static inline void forget_marks(struct fm_marks *m)
{
	memset(m->is, 0, NODES * sizeof(*m->is));
	m->n = 0;
}

/* Forgets what the last table has shown, and demands another one. */
static inline void before_table(void)
{
	memset(&sent, 0, sizeof(sent));
	memset(vote, 0xff, sizeof(vote));
	memset(looked, 0, sizeof(looked));
	memcpy(order_before, order_was, sizeof(order_was));
	calls = votes_reported = 0;
	marked = "";
	problem[0] = '\0';
	root.joined = true;
	root.clean = 15;
	fm_demand(&fm, 0, "it is time");
}

/* A root with a table of six nodes, which are up. */
static void start(void)
{
	if (root.demand) {
		fm_changes_free(&root);
		fm_demand_free(&root);
	}
	memset(&root, 0, sizeof(root));
	memset(entry, 0, sizeof(entry));
	memset(record, 0, sizeof(record));
	memset(admin, 0, sizeof(admin));
	memset(seat, 0, sizeof(seat));
	memset(differs, 0, sizeof(differs));
	memset(order_is, 0, sizeof(order_is));
	memset(order_was, 0, sizeof(order_was));
	memset(&sent, 0, sizeof(sent));
	book.orders = (struct fm_orders) { .of = orders_had };
	root.orders.of = orders;
	root.at = at;
	root.admin = admin;
	root.seat = seat;
	root.settled = true;
	root.version = 8;
	root.clean = 15;
	assert_true(fm_changes_new(&root, NODES) && fm_demand_new(&root));
	roster = RECORDS;
	accepts = places = true;
	pause_rows = false;
	parts_until = vanish_until = making = 0;
	why = NULL;
	marked = "";
	fm.now = 5000 * MS;
	fm.table = (struct fm_table) { .version = 8, .shape = shape, .nodes = NODES,
				       .book = &book, .entry = entry };
	for (uint32_t i = 0; i < RECORDS; i++) {
		record[i] = (struct fm_record) {
			.guid = 100 + i, .epoch = 7 + i, .node = i < NODES ? i : TORUS_NO_NODE,
			.state = FM_NODE_UP, .name = "nn", .address = "an", .row.nports = PORTS };
		for (unsigned int p = 0; p < PORTS; p++)
			record[i].row.port[p].state = FM_PORT_UP;
		if (i < NODES) {
			at[i] = i + 1;
			entry[i].node = i;
			entry[i].state = i == 1 ? FM_NODE_UP : FM_NODE_ABSENT;
			entry[i].guid = 900;	/* a node that is forgotten */
		}
	}
}

static inline void change_orders(struct rnd *r)
{
	root.orders.n = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		order_is[i] = rnd_one_in(r, 8) ? !order_is[i] : order_is[i];
		if (order_is[i])
			orders[root.orders.n++] = (struct fm_order) { .node = i, .ports = 1 };
	}
}

#endif /* TESTS_PUBLISHING_H */
