// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine as a whole, by itself: each event sets the time and reaches its part, the timer runs all
 * parts, and a machine that cannot be made frees what it has. The parts only note that they are called.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "tests/unit/idle_ops.h"
#include "tests/unit/memory.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/home.h"
#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/tree.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/job.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/status.h"

#define PARTS 20

static struct fm_root root;
static char calls[800];		/* names of the functions that were called */
static uint64_t time_at;	/* time of the machine when its lag was noted */
static unsigned int made, freed, fails_at;
static uint64_t numbers[4];	/* arguments of the last call */
static const void *pointer;
static bool says;		/* result of those that return bool */
static uint64_t due;		/* of the part that @due_part names */
static const char *due_part;

static void call(const char *name)
{
	strcat(calls, name);
	strcat(calls, " ");
}

static void begin_event(void)
{
	calls[0] = '\0';
	memset(numbers, 0, sizeof(numbers));
	pointer = NULL;
	time_at = 0;
}

static bool make_part(void)
{
	return ++made != fails_at;
}

#define PART(name)						\
	bool fm_##name##_new(struct fm *f)			\
	{							\
		(void)f;					\
		return make_part();				\
	}							\
	void fm_##name##_free(struct fm *f)			\
	{							\
		(void)f;					\
		freed++;					\
	}
PART(conns)
PART(problems)
PART(ports)
PART(keep)
PART(squares)
PART(wave)
PART(job_rows)
PART(reports)
PART(uplink)
PART(candidate)
PART(verdict)
PART(follow)
PART(try)
PART(home)
PART(task)
PART(grower)
PART(member)

bool fm_nic_new(struct fm *f, uint64_t epoch, uint64_t guid)
{
	(void)f;
	assert_true(epoch == 31 && guid == 32);
	return make_part();
}

void fm_nic_free(struct fm *f)
{
	(void)f;
	freed++;
}

static uint64_t rows_epoch;

bool fm_rows_new(struct fm *f, uint64_t epoch)
{
	(void)f;
	rows_epoch = epoch;
	return make_part();
}

void fm_rows_free(struct fm *f)
{
	free(f->rows);
	freed++;
}

void fm_root_free(struct fm *f)
{
	(void)f;
	freed++;
}

void fm_table_free(struct fm_table *t)
{
	(void)t;
	freed++;
}

/* Functions that only note their call. */
#define NOTED(name)						\
	void fm_##name(struct fm *f)				\
	{							\
		(void)f;					\
		call(#name);					\
	}
NOTED(tree_due)
NOTED(task_due)
NOTED(grower_due)
NOTED(root_due)
NOTED(bootstrap_due)
NOTED(keep_due)
NOTED(keep)
NOTED(problems_due)
NOTED(candidate_memory)
NOTED(conns_look)
NOTED(home_begin)
NOTED(uplink_begin)
NOTED(uplink_row)
NOTED(claim_look)
NOTED(arbiter_answered)
NOTED(plan_configured)
NOTED(rows_taken)
NOTED(member_gone)

#define EXPIRY(name)						\
	uint64_t fm_##name##_expiry(const struct fm *f)		\
	{							\
		(void)f;					\
		return due_part && !strcmp(due_part, #name) ? due : NEVER;	\
	}
EXPIRY(bootstrap)
EXPIRY(tree)
EXPIRY(task)
EXPIRY(grower)
EXPIRY(problems)
EXPIRY(candidate)
EXPIRY(keep)
EXPIRY(root)

void fm_lag_event(struct fm *f)
{
	time_at = f->now;
	assert_string_equal(calls, "");
}

static bool lag_fell, asks, fails_to_ask, news, in_force, is_root, is_growth, begun;

bool fm_lag_note(struct fm *f)
{
	(void)f;
	return lag_fell;
}

bool fm_candidate_due(struct fm *f)
{
	(void)f;
	call("candidate_due");
	return asks;
}

int fm_root_ask(struct fm *f)
{
	(void)f;
	call("root_ask");
	return fails_to_ask ? -ENOMEM : 0;
}

int fm_root_begin(struct fm *f)
{
	(void)f;
	call("root_begin");
	return fails_to_ask ? -ENOMEM : 0;
}

bool fm_keep_news(const struct fm *f)
{
	(void)f;
	return news;
}

bool fm_in_force(const struct fm *f, uint64_t version)
{
	assert_int_equal(version, f->table.version);
	return in_force;
}

bool fm_is_root(const struct fm *f)
{
	(void)f;
	return is_root;
}

bool fm_keep_take(struct fm *f, const struct fm_table_msg *m)
{
	(void)f;
	call("keep_take");
	pointer = m;
	return true;
}

static void note(const char *name, uint64_t a, uint64_t b, uint64_t c, const void *p)
{
	call(name);
	numbers[0] = a;
	numbers[1] = b;
	numbers[2] = c;
	pointer = p;
}

void fm_bootstrap_begin(struct fm *f, const struct torus_device *dev, const struct torus_link *links)
{
	(void)f;
	(void)dev;
	note("bootstrap_begin", 0, 0, 0, links);
}

void fm_grower_begin(struct fm *f, const struct torus_link *links)
{
	(void)f;
	call("grower_begin");
	assert_ptr_equal(links, NULL);
}

void fm_grower_link(struct fm *f, const struct torus_link *link)
{
	(void)f;
	note("grower_link", 0, 0, 0, link);
}

bool fm_grower_packet(struct fm *f, unsigned int port, const uint8_t *data, size_t len)
{
	(void)f;
	note("grower_packet", port, len, 0, data);
	return is_growth;
}

int fm_grown_begin(struct fm *f, const struct fm_job *job, const struct fm_job_want *want)
{
	(void)f;
	note("grown_begin", 0, 0, 0, want);
	assert_ptr_equal(job, want);
	return 7;
}

void fm_bootstrap_link(struct fm *f, const struct torus_link *link)
{
	(void)f;
	note("bootstrap_link", 0, 0, 0, link);
}

void fm_bootstrap_init(struct fm *f, unsigned int port, const uint8_t *data, size_t len)
{
	(void)f;
	note("bootstrap_init", port, len, 0, data);
}

bool fm_port_stalled(struct fm *f, unsigned int p, bool is)
{
	(void)f;
	note("port_stalled", p, is, 0, NULL);
	return says;
}

void fm_member_done(struct fm *f, uint32_t tag, int err, const struct fm_counts *counts)
{
	(void)f;
	note("member_done", tag, (uint64_t)err, 0, counts);
}

void fm_tree_up(struct fm *f, int id)
{
	(void)f;
	note("tree_up", (uint64_t)id, 0, 0, NULL);
}

void fm_tree_down(struct fm *f, int id)
{
	(void)f;
	note("tree_down", (uint64_t)id, 0, 0, NULL);
}

void fm_tree_msg(struct fm *f, int id, const struct fm_msg *msg)
{
	(void)f;
	note("tree_msg", (uint64_t)id, 0, 0, msg);
}

bool fm_verdict_take(struct fm *f, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		     const char *text)
{
	(void)f;
	note("verdict_take", epoch, verdict, high, text);
	return says;
}

void fm_keep_ended(struct fm *f, uint64_t epoch, uint64_t version, bool ok)
{
	(void)f;
	note("keep_ended", epoch, version, ok, NULL);
}

int fm_admin_exclude(struct fm *f, uint32_t node, int port, bool excluded, const struct fm_order *o)
{
	(void)f;
	note("admin_exclude", node, (uint64_t)port, excluded, o);
	return 7;
}

int fm_admin_mark(struct fm *f, uint32_t node, int port, bool excluded, const struct fm_order *o)
{
	(void)f;
	note("admin_mark", node, (uint64_t)port, excluded, o);
	return 7;
}

bool fm_admin_changes(const struct fm *f, uint32_t node, int port, bool excluded,
		      const struct fm_order *o)
{
	(void)f;
	note("admin_changes", node, (uint64_t)port, excluded, o);
	return says;
}

int fm_admin_move(struct fm *f, uint32_t node)
{
	(void)f;
	note("admin_move", node, 0, 0, NULL);
	return 7;
}

int fm_job_begin(struct fm *f, const struct fm_job *job, const uint32_t *node)
{
	(void)f;
	(void)job;
	note("job_begin", 0, 0, 0, node);
	return begun ? 0 : 7;
}

void fm_grown_look(struct fm *f)
{
	(void)f;
	note("grown_look", 0, 0, 0, NULL);
}

int fm_job_end(struct fm *f, const char *name, uint32_t uid)
{
	(void)f;
	note("job_end", uid, 0, 0, name);
	return 7;
}

const struct fm_up fm_up_parent;

/* --- making a machine ------------------------------------------------------------------------- */

static struct fm_config cfg;
static struct fm_ops ops;
static struct torus_device dev;
static struct torus_park park = { .parked = 12 };
static uint64_t rows[16];

static void defaults(void)
{
	ops = idle_ops();
	fm_config_default(&cfg);
	cfg.seed = 3;
	dev = (struct torus_device) { .guid = 8, .epoch = 9, .relay_packets = 10, .nports = 4,
				      .root_epoch = 31, .root_guid = 32, .rows_epoch = 33,
				      .shape = { .ndims = 2, .size = { 4, 4, 1, 1, 1, 1 } },
				      .coords = { .c = { 1, 2 } }, .node = 6, .version = 44 };
	for (unsigned int i = 0; i < 16; i++)
		rows[i] = 100 + i;
	made = freed = fails_at = 0;
	lag_fell = asks = fails_to_ask = news = in_force = is_root = is_growth = says = false;
	due_part = NULL;
	begin_event();
}

static struct fm *make(void)
{
	return fm_new(&cfg, &ops, rows, &dev, NULL, &park, rows, 500);
}

static void new_machine_has_facts_of_nic(void **state)
{
	uint64_t random = 0;

	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		struct fm_table_msg kept;
		struct fm *fm;

		defaults();
		dev.placed = k & 1;
		dev.bootstrap = k & 2;
		cfg.kept = k & 4 ? &kept : NULL;
		cfg.fanout = k & 4 ? 0 : 5;
		cfg.seed = 3 + k / 4;
		torus_plan_default(&cfg.plan);
		if (k & 1)
			torus_plan_parse4("10.7.0.0/16", &dev.plan);
		if (k & 4)
			dev.nports = TORUS_MAX_PORTS + 1;
		fm = make();
		assert_non_null(fm);
		assert_int_equal(made, PARTS - 1);
		assert_ptr_equal(fm_io(fm), rows);
		assert_memory_equal(&fm->ops, &ops, sizeof(ops));
		assert_true(fm->guid == 8 && fm->epoch == 9 && fm->relay_packets == 10);
		assert_true(fm->now == 500 && fm->rootless == 500 && fm->alarm == NEVER);
		assert_int_equal(fm->nports, k & 4 ? TORUS_MAX_PORTS : 4);
		assert_int_equal(fm->cfg.fanout, k & 4 ? 1 : 5);
		assert_int_equal(fm->park.parked, 12);
		assert_true(!fm->cfg.plan.len4 && !fm->cfg.kept && fm->up == &fm_up_parent);
		assert_int_equal(fm->bootstrap, dev.bootstrap);
		assert_int_equal(fm->placed, dev.placed);
		assert_int_equal(rows_epoch, k & 1 ? 33 : 0);
		assert_true(fm->random != random);	/* another seed, or another GUID below */
		assert_int_equal(fm->plans, k & 1);
		if (k & 1) {
			assert_true(fm->node == 6 && fm->applied == 44 && fm->nrows == 16);
			assert_memory_equal(&fm->coords, &dev.coords, sizeof(dev.coords));
			assert_memory_equal(&fm->shape, &dev.shape, sizeof(dev.shape));
			assert_memory_equal(fm->rows, rows, sizeof(rows));
			assert_memory_equal(fm->plan.net4, dev.plan.net4, 4);
		} else {
			assert_true(!fm->rows && !fm->nrows && !fm->plan.len4);
		}
		assert_non_null(strstr(calls, "home_begin "));
		assert_non_null(strstr(calls, "bootstrap_begin grower_begin "));
		assert_non_null(strstr(calls, "uplink_begin "));
		assert_int_equal(strstr(calls, "root_begin ") != NULL, dev.bootstrap);
		assert_int_equal(strstr(calls, "keep_take ") != NULL, k / 4);
		assert_int_equal(strstr(calls, "rows_taken ") != NULL, k & 1);
		if (k == 3)
			random = fm->random;
		fm_free(fm);
		assert_int_equal(freed, PARTS + 1);
	}
	fm_free(NULL);
}

/* Equal seeds do not give equal random numbers on two nodes, nor twice on one. */
static void random_numbers_differ_by_seed_node_and_time(void **state)
{
	uint64_t random[4];

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct fm *fm;

		defaults();
		cfg.seed += k == 1;
		dev.guid += k == 2;
		fm = fm_new(&cfg, &ops, NULL, &dev, NULL, NULL, NULL, k == 3 ? 499 : 500);
		random[k] = fm->random;
		assert_int_equal(fm->park.parked, 0);
		for (unsigned int i = 0; i < k; i++)
			assert_true(random[i] != random[k]);
		fm_free(fm);
	}
}

static void machine_without_an_op_is_not_made(void **state)
{
	struct fm *fm;

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(void *); i++)
		for (unsigned int k = 0; k < 4; k++) {
			void *none = NULL;
			bool fine;

			defaults();
			dev.placed = true;
			cfg.arbiter = k & 1;
			memcpy(&ops.arbitrate, &ops.log, sizeof(none));	/* any function */
			memcpy(&ops.rows_apply, &ops.log, sizeof(none));
			if (k & 2)
				ops.rows_apply = NULL;
			memcpy((char *)&ops + i * sizeof(none), &none, sizeof(none));
			fine = ops.rows_write || ops.rows_apply;
			if (i != offsetof(struct fm_ops, rows_write) / sizeof(none) &&
			    i != offsetof(struct fm_ops, rows_apply) / sizeof(none))
				fine = i == offsetof(struct fm_ops, arbitrate) / sizeof(none) &&
				       !cfg.arbiter;
			fm = make();
			assert_int_equal(fm != NULL, fine);
			fm_free(fm);
		}
}

static void machine_that_cannot_be_made_frees_its_parts(void **state)
{
	size_t blocks = memory_blocks();

	(void)state;
	for (unsigned int k = 1; k < PARTS + 5; k++) {
		struct fm *fm;

		defaults();
		dev.placed = dev.bootstrap = true;
		if (k < PARTS)
			fails_at = k;
		else if (k == PARTS + 2)
			fails_to_ask = true;	/* to begin as root */
		else if (k == PARTS + 3)
			dev.shape.size[1] = 0;
		else
			memory_fails_at(k - PARTS + 1);
		fm = make();
		assert_int_equal(fm != NULL, k == PARTS + 4);
		memory_failed();
		if (!fm && k)
			assert_int_equal(freed, k < PARTS || made ? PARTS + 1 : 0);
		fm_free(fm);
		assert_int_equal(memory_blocks(), blocks);
	}
}

/* --- events ------------------------------------------------------------------------------- */

/* The event reached these functions, and before them the time was set. */
static void did(const struct fm *fm, uint64_t now, const char *functions)
{
	assert_string_equal(calls, functions);
	assert_int_equal(time_at, now);
	assert_int_equal(fm->now, now);
	begin_event();
}

static void had(uint64_t a, uint64_t b, uint64_t c, const void *p)
{
	assert_true(numbers[0] == a && numbers[1] == b && numbers[2] == c && pointer == p);
}

static void events_of_node_reach_their_part(void **state)
{
	struct torus_park more = { .parked = 5 };
	struct fm *fm;
	int some;

	(void)state;
	defaults();
	fm = make();
	begin_event();
	fm_link(fm, (void *)&some, 601);
	had(0, 0, 0, &some);
	did(fm, 601, "bootstrap_link grower_link ");
	fm_mgmt(fm, 2, &some, 9, 602);
	had(2, 9, 0, &some);
	did(fm, 602, "grower_packet bootstrap_init ");
	is_growth = true;
	fm_mgmt(fm, 2, &some, 9, 602);
	had(2, 9, 0, &some);
	did(fm, 602, "grower_packet ");
	fm_stalled(fm, 4, true, 603);		/* it has no such port */
	did(fm, 603, "");
	fm_stalled(fm, 3, true, 604);
	had(3, 1, 0, NULL);
	did(fm, 604, "port_stalled ");
	says = true;
	fm_stalled(fm, 3, false, 605);
	did(fm, 605, "port_stalled uplink_row ");
	fm_park(fm, &more, 606);
	did(fm, 606, "");
	assert_int_equal(fm->park.parked, 5);
	fm_done(fm, 11, -5, (void *)&some, 607);
	had(11, (uint64_t)-5, 0, &some);
	did(fm, 607, "member_done ");
	fm_conn_up(fm, 4, 608);
	had(4, 0, 0, NULL);
	did(fm, 608, "tree_up ");
	fm_conn_down(fm, 4, 609);
	did(fm, 609, "tree_down ");
	fm_msg(fm, 4, (void *)&some, 610);
	had(4, 0, 0, &some);
	did(fm, 610, "tree_msg ");
	fm_nic_gone(fm, 600);
	did(fm, 600, "member_gone ");
	fm_kept(fm, 1, 2, true, 611);
	had(1, 2, 1, NULL);
	did(fm, 611, "keep_ended ");
	fm_clock(fm, 777, 612);
	did(fm, 612, "");
	assert_true(fm->wall == 777 && fm->wall_at == 612);
	for (unsigned int k = 0; k < 4; k++) {
		says = k & 1;
		fm->root = k & 2 ? &root : NULL;
		fm_arbiter(fm, 5, FM_GRANTED, 6, "why", 620 + k);
		did(fm, 620 + k, k == 3 ? "verdict_take claim_look arbiter_answered " : "verdict_take ");
	}
	fm_done(fm, 1, 0, NULL, 630);
	did(fm, 630, "member_done claim_look ");
	fm->root = NULL;
	fm_free(fm);
}

static void orders_reach_only_a_root(void **state)
{
	struct torus_plan plan;
	struct fm *fm;
	char some[8];

	(void)state;
	defaults();
	fm = make();
	for (unsigned int k = 0; k < 2; k++) {
		int want = k ? 7 : -EPERM;

		is_root = k;
		says = false;
		begin_event();
		assert_int_equal(fm_exclude_changes(fm, 3, 1, true, (void *)some), !k);
		assert_string_equal(calls, k ? "admin_changes " : "");
		begin_event();
		assert_int_equal(fm_exclude(fm, 3, -1, true, 700), want);
		had(k ? 3 : 0, k ? (uint64_t)-1 : 0, k, NULL);
		did(fm, 700, k ? "admin_exclude " : "");
		assert_int_equal(fm_exclude_by(fm, 3, 1, (void *)some, 701), want);
		had(k ? 3 : 0, k, k, k ? some : NULL);
		did(fm, 701, k ? "admin_exclude " : "");
		assert_int_equal(fm_include_by(fm, 3, 1, (void *)some, 702), want);
		had(k ? 3 : 0, k, 0, k ? some : NULL);
		did(fm, 702, k ? "admin_exclude " : "");
		assert_int_equal(fm_exclude_first(fm, 3, 1, true, (void *)some, 703), want);
		had(k ? 3 : 0, k, k, k ? some : NULL);
		did(fm, 703, k ? "admin_mark " : "");
		torus_plan_default(&plan);
		fm_plan(fm, &plan, FM_PLAN6, 704);
		assert_true(!fm->cfg.plan.len4 && fm->cfg.plan_given == FM_PLAN6);
		did(fm, 704, k ? "plan_configured " : "");
		assert_int_equal(fm_job_start(fm, (void *)some, (void *)some, 705), want);
		did(fm, 705, k ? "job_begin " : "");
		begun = true;
		assert_int_equal(fm_job_start(fm, (void *)some, (void *)some, 705), k ? 0 : want);
		did(fm, 705, k ? "job_begin grown_look " : "");
		begun = false;
		assert_int_equal(fm_job_grow(fm, (void *)some, (void *)some, 705), want);
		did(fm, 705, k ? "grown_begin " : "");
		assert_int_equal(fm_job_stop(fm, some, 12, 706), want);
		had(k ? 12 : 0, 0, 0, k ? some : NULL);
		did(fm, 706, k ? "job_end " : "");
		assert_int_equal(fm_root_move(fm, 2, 707), want);
		did(fm, 707, k ? "admin_move " : "");
		torus_plan_parse4("10.7.0.0/16", &plan);
		fm_plan(fm, &plan, FM_PLAN4, 710);
		assert_int_equal(fm->cfg.plan.len4, 16);
	}
	fm_free(fm);
}

/* --- time --------------------------------------------------------------------------------- */

static void timer_runs_all_parts(void **state)
{
	struct fm *fm;

	(void)state;
	defaults();
	fm = make();
	for (unsigned int k = 0; k < 64; k++) {
		char want[400];

		begin_event();
		lag_fell = k & 1;
		asks = k & 2;
		fails_to_ask = k & 4;
		fm->root = k & 8 ? &root : NULL;
		news = k & 16;
		in_force = k & 32;
		sprintf(want, "%stree_due task_due grower_due candidate_due %s%s%sbootstrap_due keep_due %sproblems_due ",
			lag_fell ? "conns_look " : "", asks ? "root_ask " : "",
			asks && fails_to_ask ? "candidate_memory " : "", fm->root ? "root_due " : "",
			news && in_force ? "keep " : "");
		fm_timer(fm, 800 + k);
		did(fm, 800 + k, want);
	}
	fm->root = NULL;
	fm_free(fm);
}

static void timer_is_due_with_the_first_part(void **state)
{
	static const char *const parts[] = { "bootstrap", "tree", "task", "problems", "candidate", "keep",
					     "grower", "root" };
	struct fm *fm;

	(void)state;
	defaults();
	fm = make();
	assert_true(fm_expiry(fm) == NEVER);
	for (unsigned int k = 0; k < 8; k++) {
		due_part = parts[k];
		due = 900 + k;
		fm->root = NULL;
		assert_true(fm_expiry(fm) == (k < 7 ? due : NEVER));
		fm->root = &root;
		assert_int_equal(fm_expiry(fm), due);
	}
	news = true;
	assert_int_equal(fm_expiry(fm), due);
	in_force = true;
	assert_int_equal(fm_expiry(fm), fm->now);	/* the table in force is to be kept at once */
	news = in_force = false;
	fm->root = NULL;
	/* Work that is due later is expected then; work that was due before the last event, since. */
	due_part = "tree";
	due = 950;
	begin_event();
	fm_park(fm, &park, 940);
	assert_int_equal(fm->alarm, 950);
	begin_event();
	fm_park(fm, &park, 960);
	assert_int_equal(fm->alarm, 950);
	begin_event();
	fm_park(fm, &park, 970);
	assert_int_equal(fm->alarm, 950);
	fm->alarm = NEVER;
	begin_event();
	fm_park(fm, &park, 980);
	assert_int_equal(fm->alarm, 970);
	due = 980;
	fm->alarm = 3;
	begin_event();
	fm_park(fm, &park, 990);
	assert_int_equal(fm->alarm, 3);
	fm_free(fm);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(new_machine_has_facts_of_nic),
		cmocka_unit_test(random_numbers_differ_by_seed_node_and_time),
		cmocka_unit_test(machine_without_an_op_is_not_made),
		cmocka_unit_test(machine_that_cannot_be_made_frees_its_parts),
		cmocka_unit_test(events_of_node_reach_their_part),
		cmocka_unit_test(orders_reach_only_a_root),
		cmocka_unit_test(timer_runs_all_parts),
		cmocka_unit_test(timer_is_due_with_the_first_part),
	};

	return cmocka_run_group_tests_name("fm_dispatch", all, NULL, NULL);
}
