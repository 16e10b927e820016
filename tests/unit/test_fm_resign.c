// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root whose own NIC fails, by itself: when it hands over, and to which node. Stubs in this test
 * stand for the functions of the manager that the file calls.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/resign.h"
#include "daemon/fm/root/roster.h"

#define RECORDS 6
#define RESEND (10 * MS)

static struct fm_root root;
static struct fm fm;
static struct fm_record record[RECORDS];
static uint64_t fails_at;	/* half of that time while the root does not wait */
static int error;
static bool waits;
static struct fm_lead handed;
static unsigned int n_handed, reported, cleared;
static char logged[200];

bool fm_recovery_waits(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return waits;
}

uint64_t fm_task_fails_at(const struct fm *f, bool is_waiting)
{
	(void)f;
	return is_waiting || fails_at == NEVER ? fails_at : fails_at / 2;
}

int fm_task_error(const struct fm *f)
{
	(void)f;
	return error;
}

unsigned int fm_candidate_priority(unsigned int priority, uint32_t node)
{
	return priority == FM_PRIORITY_AUTO ? node < 3 ? 100 : 0 : priority;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return RECORDS;
}

void fm_handover(struct fm *f, const struct fm_lead *lead)
{
	(void)f;
	handed = *lead;
	n_handed++;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(level, FM_ERROR);
	assert_string_equal(kind, "root");
	va_start(args, fmt);
	vsnprintf(logged, sizeof(logged), fmt, args);
	va_end(args);
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_string_equal(kind, "nic");
	assert_int_equal(key, 100);
	reported++;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "nic");
	assert_int_equal(key, 100);
	cleared++;
}

/* --- the cases -------------------------------------------------------------------------------- */

/*
 * Begins with a root that leads, and whose NIC fails from 100 ms on. No other node is a candidate.
 */
static void begin(void)
{
	memset(&root, 0, sizeof(root));
	memset(&fm, 0, sizeof(fm));
	memset(record, 0, sizeof(record));
	fm.root = &root;
	fm.cfg.resend = RESEND;
	fm.term = 5;
	fm.table.version = 3;
	root.stage = FM_STAGE_LEADS;
	root.settled = true;
	fails_at = 100 * MS;
	waits = true;
	error = 0;
	n_handed = reported = cleared = 0;
	for (unsigned int i = 0; i < RECORDS; i++) {
		record[i] = (struct fm_record) { .guid = 100 + i, .node = i, .state = FM_NODE_UP,
					     .via = 1 };
		sprintf(record[i].name, "n%u", i);
		sprintf(record[i].address, "a%u", i);
	}
	record[0].priority = 255;		/* the root itself is not a candidate */
}

static void due(uint64_t now)
{
	fm.now = now;
	fm_resign_due(&fm);
}

static void root_with_failed_nic_hands_over_in_time(void **state)
{
	(void)state;
	begin();
	assert_int_equal(fm_resign_expiry(&fm), 100 * MS);
	due(100 * MS - 1);
	assert_int_equal(n_handed + reported + cleared, 0);
	waits = false;		/* the NIC fails in another way, and earlier */
	assert_int_equal(fm_resign_expiry(&fm), 50 * MS);
	waits = true;
	/* There is no candidate: that is a problem, and it looks again. */
	due(100 * MS);
	assert_int_equal(reported, 1);
	assert_int_equal(fm_resign_expiry(&fm), 100 * MS + RESEND);
	record[4].priority = 1;
	due(100 * MS + RESEND - 1);
	assert_int_equal(n_handed + cleared, 0);
	due(100 * MS + RESEND);
	assert_int_equal(n_handed, 1);
	assert_int_equal(reported, 1);

	begin();
	due(100 * MS);
	fails_at = NEVER;	/* the NIC works again: the problem is over */
	due(100 * MS + 1);
	assert_int_equal(cleared, 1);
	assert_true(fm_resign_expiry(&fm) == NEVER);
}

/* A root that does not lead yet, or has no table, does not hand over. */
static void root_that_does_not_lead_does_not_hand_over(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		begin();
		record[1].priority = 1;
		if (k == 1)
			root.stage = FM_STAGE_CLAIMS;
		if (k == 2)
			root.settled = false;
		if (k == 3)
			fm.table.version = 0;
		if (k == 4)
			root.stage = FM_STAGE_ASKS;
		due(200 * MS);
		assert_int_equal(n_handed, k == 0);
		assert_int_equal(cleared, k > 0);
		assert_true((fm_resign_expiry(&fm) == NEVER) == (k > 0));
	}
}

static void unfit_root_orders_candidate_to_lead(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		begin();
		record[2].priority = 7;
		error = k ? -EIO : 0;
		due(200 * MS);
		assert_int_equal(n_handed, 1);
		assert_int_equal(handed.term, 5);
		assert_int_equal(handed.guid, 102);
		assert_true(handed.now && handed.unfit);
		assert_string_equal(handed.address, "a2");
		assert_int_equal(root.ending, FM_ENDS_UNFIT);
		assert_memory_equal(&root.successor, &handed, sizeof(handed));
		assert_string_equal(logged, k ? "this node hands over to 'n2': its NIC says "
					      "Input/output error, and so no recovery ends" :
					      "this node hands over to 'n2': its NIC does not "
					      "answer, and so no recovery ends");
		assert_int_equal(reported, 0);
	}
}

/*
 * A root hands over to the candidate of the highest priority, and of these to the one with the
 * lowest id.
 */
static void choose(uint64_t seed)
{
	static const uint16_t priorities[] = { 0, 50, 100, 101, FM_PRIORITY_AUTO };
	struct rnd r = rnd_new(seed);
	unsigned int most = 0, best = 0;

	begin();
	for (unsigned int i = 1; i < RECORDS; i++) {
		struct fm_record *m = &record[i];
		unsigned int p;

		m->priority = priorities[rnd_below(&r, 5)];
		m->node = rnd_one_in(&r, 6) ? TORUS_NO_NODE : RECORDS - i + rnd_below(&r, 2) * RECORDS;
		m->state = (uint8_t)(rnd_one_in(&r, 4) ? FM_NODE_SILENT : FM_NODE_UP);
		m->via = rnd_one_in(&r, 4) ? 0 : 1;
		p = m->priority == FM_PRIORITY_AUTO ? m->node < 3 ? 100 : 0 : m->priority;
		if (!p || m->node == TORUS_NO_NODE || m->state != FM_NODE_UP || !m->via)
			continue;
		if (p > most || (p == most && m->node < record[best].node)) {
			most = p;
			best = i;
		}
	}
	due(200 * MS);
	expect(&r, n_handed == (best > 0) && reported == !best, "hands over");
	expect(&r, !best || handed.guid == 100 + best, "to %u", best);
}

static void best_candidate_is_chosen_as_in_model(void **state)
{
	(void)state;
	for_seeds(400, choose);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(root_with_failed_nic_hands_over_in_time),
		cmocka_unit_test(root_that_does_not_lead_does_not_hand_over),
		cmocka_unit_test(unfit_root_orders_candidate_to_lead),
		cmocka_unit_test(best_candidate_is_chosen_as_in_model),
	};

	return cmocka_run_group_tests_name("fm_resign", all, NULL, NULL);
}
