// SPDX-License-Identifier: GPL-2.0-only
/*
 * Problems of the configuration of candidates, by themselves: random nodes, and which problems
 * stand then. Stubs in this test stand for the functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/roster.h"

#define RECORDS 7
#define STAND_MAX 40

/** struct problem - a problem; @marked: it was not set again yet */
struct problem {
	char kind[16], text[250];
	uint64_t key;
	bool marked;
};

static struct fm_root root;
static struct fm fm = { .root = &root, .guid = 100, .cfg = { .name = "n0", .resend = SEC } };
static struct fm_record record[RECORDS];
static uint32_t records;
static unsigned int own_priority;
static struct problem problem[STAND_MAX];
static unsigned int problems;

unsigned int fm_candidate_stated(const struct fm *f)
{
	(void)f;
	return own_priority;
}

/* A node without a configured priority has one only at the first places. */
unsigned int fm_candidate_priority(unsigned int reported, uint32_t node)
{
	return reported == FM_PRIORITY_AUTO ? node < 2 : reported;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return records;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < records);
	return &record[i];
}

bool fm_record_joined(const struct fm_record *m)
{
	return m->name[0];
}

static struct problem *find(const char *kind, uint64_t key)
{
	for (unsigned int i = 0; i < problems; i++)
		if (problem[i].key == key && !strcmp(problem[i].kind, kind))
			return &problem[i];
	return NULL;
}

static void take_out(struct problem *p)
{
	*p = problem[--problems];
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	struct problem *p = find(kind, key);
	va_list args;

	(void)f;
	if (!p) {
		assert_true(problems < STAND_MAX);
		p = &problem[problems++];
	}
	snprintf(p->kind, sizeof(p->kind), "%s", kind);
	p->key = key;
	p->marked = false;
	va_start(args, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, args);
	va_end(args);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	struct problem *p = find(kind, key);

	(void)f;
	if (p)
		take_out(p);
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	for (unsigned int i = 0; i < problems; i++)
		problem[i].marked = !strcmp(problem[i].kind, kind);
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	(void)f;
	for (unsigned int i = problems; i--;)
		if (problem[i].marked && !strcmp(problem[i].kind, kind))
			take_out(&problem[i]);
}

/* --- random nodes ------------------------------------------------------------------------ */

static void change(struct rnd *r)
{
	static const uint8_t states[] = { FM_NODE_UP, FM_NODE_UP, FM_NODE_UP, FM_NODE_SILENT,
					  FM_NODE_DEAD };

	static const uint16_t priorities[] = { 0, 1, FM_PRIORITY_MAX, FM_PRIORITY_AUTO };
	uint32_t place[2 * RECORDS];

	records = 1 + rnd_below(r, RECORDS);
	own_priority = rnd_one_in(r, 3) ? 0 : 1 + rnd_below(r, 2);
	memset(record, 0, sizeof(record));
	for (uint32_t i = 0; i < 2 * RECORDS; i++) {
		uint32_t j = rnd_below(r, i + 1);

		place[i] = place[j];
		place[j] = i;
	}
	for (uint32_t i = 0; i < records; i++) {
		record[i].guid = 100 + i;
		record[i].state = i ? states[rnd_below(r, 5)] : FM_NODE_UP;
		record[i].node = rnd_one_in(r, 4) ? TORUS_NO_NODE : place[i];
		record[i].marked = rnd_one_in(r, 4);
		record[i].priority = priorities[rnd_below(r, 4)];
		if (!rnd_one_in(r, 5))
			sprintf(record[i].name, "n%u", i);
	}
}

/* Return: true if the node has that priority, and may ask to be root. */
static bool has(uint32_t i, unsigned int priority)
{
	return record[i].name[0] && record[i].state == FM_NODE_UP && record[i].priority == priority &&
	       record[i].node != TORUS_NO_NODE;
}

static void expect_problem(struct rnd *r, const char *kind, uint64_t key, const char *text,
			   unsigned int *n)
{
	const struct problem *p = find(kind, key);

	expect(r, p && strstr(p->text, text), "'%s', not '%s'", p ? p->text : "", text);
	++*n;
}

static void expect_equals(struct rnd *r, unsigned int *n)
{
	for (unsigned int k = 0; k < 2; k++) {
		unsigned int priority = k ? FM_PRIORITY_MAX : 1;
		uint32_t sorted[RECORDS], have = 0;
		char text[100], more[32] = "";

		for (uint32_t node = 0; node < 2 * RECORDS; node++)
			for (uint32_t i = 0; i < records; i++)
				if (has(i, priority) && record[i].node == node)
					sorted[have++] = i;
		if (have < 2)
			continue;
		if (have > 2)
			sprintf(more, " (and %u more)", have - 2);
		sprintf(text, "'n%u' and 'n%u'%s have the same root_priority %u:", sorted[0],
			sorted[1], more, priority);
		expect_problem(r, "candidate", priority, text, n);
	}
}

static unsigned int expect_candidates(struct rnd *r)
{
	unsigned int n = 0, others = 0, would = 0;

	expect_equals(r, &n);
	for (uint32_t i = 0; i < records; i++) {
		if (!record[i].name[0] || record[i].state != FM_NODE_UP)
			continue;
		if (record[i].node == TORUS_NO_NODE && record[i].priority != 0 &&
		    record[i].priority != FM_PRIORITY_AUTO)
			expect_problem(r, "candidate", record[i].guid,
				       i ? "and no place in the fabric: it cannot become root" :
					   "leads, and has no place in the fabric", &n);
		if (i) {
			others++;
			would += record[i].priority == FM_PRIORITY_AUTO ? record[i].node < 2 :
				 record[i].priority != 0;
		}
	}
	if (own_priority && others && !would)
		expect_problem(r, "candidate", 0, "no node would become root if 'n0'", &n);
	return n;
}

static unsigned int expect_marked(struct rnd *r)
{
	uint32_t of[RECORDS];
	unsigned int n = 0, found = 0;
	char text[60];

	for (uint32_t i = 0; i < records; i++)
		if (record[i].marked &&
		    !(record[i].state == FM_NODE_DEAD && record[i].node == TORUS_NO_NODE))
			of[n++] = i;
	if (n < 2)
		return 0;
	sprintf(text, "of '%s' and '%s': remove", record[of[0]].name, record[of[1]].name);
	expect_problem(r, "bootstrap", 2, text, &found);
	return found;
}

/* Nodes come, go and change; the problems are updated when that is due, and else stay. */
static void life(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct problem was[STAND_MAX];
	unsigned int had;

	problems = 0;
	root.ranks_at = NEVER;
	fm.now = SEC;
	for (unsigned int i = 0; i < 12; i++) {
		change(&r);
		root.settled = !rnd_one_in(&r, 6);
		root.stage = rnd_one_in(&r, 6) ? FM_STAGE_CLAIMS : FM_STAGE_LEADS;
		fm_ranks_look(&fm);
		assert_int_equal(fm_ranks_expiry(&fm), fm.now + SEC);
		fm.now += SEC / 2;
		fm_ranks_look(&fm);	/* only the first call has an effect */
		memcpy(was, problem, sizeof(was));
		had = problems;
		fm.now += SEC / 2 - 1;
		fm_ranks_due(&fm);
		assert_memory_equal(was, problem, sizeof(was));
		assert_int_equal(fm_ranks_expiry(&fm), ++fm.now);
		fm_ranks_due(&fm);
		assert_int_equal(fm_ranks_expiry(&fm), NEVER);
		if (root.settled && root.stage == FM_STAGE_LEADS)
			had = expect_candidates(&r) + expect_marked(&r);
		else
			assert_memory_equal(was, problem, sizeof(was));
		assert_int_equal(problems, had);
	}
}

static void problems_equal_those_of_naive_model(void **state)
{
	(void)state;
	for_seeds(400, life);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(problems_equal_those_of_naive_model),
	};

	return cmocka_run_group_tests_name("fm_equals", all, NULL, NULL);
}
