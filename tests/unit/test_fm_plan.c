// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address plan of the fabric at the root, by itself: which plan the first table takes, and what
 * changes it, compared with a model in random fabrics whose nodes are old, absent, or in the way.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/wire/plan.h"

#define NODES 5

static struct fm_root root;
static struct fm fm;
static struct fm_record record[NODES];
static struct torus_shape shape;
static char problem[FM_TEXT_MAX + 100], demand[200];
static unsigned int demands, dropped, looked, forgotten;
static struct rnd *rnd;

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return NODES;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < NODES);
	return &record[i];
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "plan");
	assert_int_equal(key, 0);
	va_start(args, fmt);
	vsnprintf(problem, sizeof(problem), fmt, args);
	va_end(args);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "plan");
	assert_int_equal(key, 0);
	problem[0] = '\0';
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(delay, 0);
	va_start(args, fmt);
	vsnprintf(demand, sizeof(demand), fmt, args);
	va_end(args);
	demands++;
}

void fm_ranks_look(struct fm *f)
{
	(void)f;
	looked++;
}

void fm_base_forget(struct fm_root *r)
{
	(void)r;
	forgotten++;
}

void fm_vanish_drop(struct fm *f, struct fm_record *m)
{
	(void)f;
	assert_int_equal(m->state, FM_NODE_DEAD);
	dropped |= 1u << (m - record);
}

/* --- plans -------------------------------------------------------------------------------- */

/* The last one has too few addresses for 16 nodes. */
static const char *const plan4[] = { "", "10.7.0.0/16", "172.20.0.0/14", "10.9.9.8/29" };
static const char *const plan6[] = { "", "fd12::/64", "fd34:5::/60", "fd56::/64" };

static struct torus_plan plan_no(unsigned int v4, unsigned int v6)
{
	struct torus_plan plan, other;

	torus_plan_default(&plan);
	if (v4) {
		torus_plan_default(&other);
		assert_int_equal(torus_plan_parse4(plan4[v4], &other), 0);
		memcpy(plan.net4, other.net4, sizeof(plan.net4));
		plan.len4 = other.len4;
	}
	if (v6) {
		torus_plan_default(&other);
		assert_int_equal(torus_plan_parse6(plan6[v6], &other), 0);
		memcpy(plan.net6, other.net6, sizeof(plan.net6));
		plan.len6 = other.len6;
	}
	return v4 || v6 ? plan : (struct torus_plan) { .len4 = 0 };
}

static struct torus_plan random_plan(void)
{
	return rnd_one_in(rnd, 3) ? plan_no(0, 0) : plan_no(rnd_below(rnd, 4), rnd_below(rnd, 4));
}

static void text_of(const struct torus_plan *plan, char *v4, char *v6)
{
	struct torus_plan full = fm_plan_full(plan);

	torus_plan_text4(&full, v4);
	torus_plan_text6(&full, v6);
}

/* Return: the plan @from with those prefixes that the configuration names. */
static struct torus_plan configured(const struct torus_plan *from)
{
	struct torus_plan plan = fm_plan_full(from), own = fm_plan_full(&fm.cfg.plan);
	const struct torus_plan *four = fm.cfg.plan_given & FM_PLAN4 ? &own : &plan;
	const struct torus_plan *six = fm.cfg.plan_given & FM_PLAN6 ? &own : &plan;
	struct torus_plan both = { .len4 = four->len4, .len6 = six->len6 };

	memcpy(both.net4, four->net4, sizeof(both.net4));
	memcpy(both.net6, six->net6, sizeof(both.net6));
	return fm_plan_short(&both);
}

static const char *const addresses[] = { "10.7.3.1:5", "172.21.0.9:1", "192.168.0.1:9", "10.9.9.9:1",
					 "[fd12::8]:7", "[fd34:5:0:3::1]:2", "[fe80::1]:3" };

static void make_fabric(void)
{
	static const uint8_t states[] = { FM_NODE_UP, FM_NODE_UP, FM_NODE_SILENT, FM_NODE_DEAD };
	unsigned int odd = rnd_below(rnd, 4);

	fm = (struct fm) { .root = &root, .now = 1000 + rnd_below(rnd, 9), .cfg.quiet = 50 };
	root = (struct fm_root) { .settled = rnd_one_in(rnd, 2), .plan = random_plan() };
	strcpy(fm.cfg.name, "head");
	fm.cfg.plan = random_plan();
	fm.cfg.plan_given = rnd_below(rnd, 4);
	torus_shape_parse(rnd_one_in(rnd, 2) ? "4x4" : "2x2", &shape);
	fm.table.shape = shape;
	for (unsigned int i = 0; i < NODES; i++) {
		record[i] = (struct fm_record) { .state = states[rnd_below(rnd, 4)],
						 .node = rnd_one_in(rnd, 2) ? i : TORUS_NO_NODE,
						 .plans = odd < 2 || rnd_one_in(rnd, 2) };
		snprintf(record[i].name, sizeof(record[i].name), "n%u", i);
		strcpy(record[i].address, addresses[odd % 2 ? rnd_below(rnd, 7) : 2]);
	}
	problem[0] = '\0';
	strcpy(problem, rnd_one_in(rnd, 2) ? "" : "before");
	demands = dropped = looked = forgotten = 0;
}

/* Finds why the plan cannot be used. Return: false if it can. @any: nodes may be in the way */
static bool find_why(const struct torus_plan *plan, bool any, char *why)
{
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX], text[TORUS_TEXT_MAX];
	int n;

	text_of(plan, v4, v6);
	n = sprintf(why, "address plan %s, %s is not used: ", v4, v6);
	for (unsigned int i = 0; i < NODES && any; i++) {
		const struct fm_record *m = &record[i];

		if ((m->state == FM_NODE_UP || m->node != TORUS_NO_NODE) &&
		    fm_plan_has(plan, m->address)) {
			sprintf(why + n, "it has the service address %s of '%s'", m->address, m->name);
			return true;
		}
	}
	if (!fm_plan_holds(plan, &shape)) {
		sprintf(why + n, "too few addresses for shape %s: must be prefixes of at most /%u and /%u",
			torus_shape_text(&shape, text), torus_plan_longest(&shape, 32),
			torus_plan_longest(&shape, 128));
		return true;
	}
	for (unsigned int i = 0; i < NODES && plan->len4; i++)
		if (record[i].state == FM_NODE_UP && !record[i].plans) {
			sprintf(why + n, "'%s' knows only the default one: update fabricd and the driver "
				"of its NIC", record[i].name);
			return true;
		}
	return false;
}

/* The problem says whether the configuration names another plan than the fabric has. */
static void check_problem(void)
{
	struct torus_plan own = configured(&root.plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX], text[400] = "";

	text_of(&root.plan, v4, v6);
	if (!fm_plan_same(&own, &root.plan))
		sprintf(text, "the fabric has addresses of %s and %s, and the configuration of its root "
			"'head' names others: 'systemctl reload fabricd' there changes them", v4, v6);
	assert_string_equal(problem, text);
}

/* --- tests -------------------------------------------------------------------------------- */

static void settle(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	const struct torus_plan none = { .len4 = 0 }, *has = NULL;
	struct torus_plan was, want;
	struct fm_record former[NODES];
	unsigned int drops = 0;
	char why[500];
	bool fails, takes;

	rnd = &r;
	make_fabric();
	root.former.table = (uint64_t)rnd_one_in(rnd, 3);
	root.former.plan = random_plan();
	root.restored = rnd_one_in(rnd, 2);
	root.nics_plan = rnd_one_in(rnd, 2);
	fm.kept.plan = random_plan();
	fm.kept.book = rnd_one_in(rnd, 2) ? (struct fm_book *)record : NULL;
	was = root.plan;
	if (root.former.table)
		has = &root.former.plan;
	else if (root.restored && root.nics_plan)
		has = &was;
	else if (root.restored && fm.kept.book)
		has = &fm.kept.plan;
	takes = has && fm_plan_holds(has, &shape);
	want = takes ? *has : configured(has ? has : &none);
	memcpy(former, record, sizeof(former));
	for (unsigned int i = 1; i < NODES; i++)
		if (takes && has->len4 && former[i].state == FM_NODE_UP && !former[i].plans)
			drops |= 1u << i;
	fails = !fm_plan_settle(&fm, &shape);
	expect(rnd, dropped == drops, "%x, not %x", dropped, drops);
	assert_int_equal(looked, __builtin_popcount(drops));
	assert_int_equal(forgotten, looked);
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(record[i].state, drops >> i & 1 ? FM_NODE_DEAD : former[i].state);
	assert_int_equal(fails, find_why(&want, !takes, why));
	assert_int_equal(root.plan_again, fails ? fm.now + 50 : 0);
	if (fails) {
		assert_string_equal(problem, why);
		assert_true(fm_plan_same(&root.plan, &was));
	} else {
		assert_true(fm_plan_same(&root.plan, &want));
		check_problem();
	}
}

static void first_table_takes_plan_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, settle);
}

static void configure(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX], why[500], text[200], had[500];
	struct torus_plan was, want;

	rnd = &r;
	make_fabric();
	was = root.plan;
	want = configured(&was);
	root.plan_again = 5;
	strcpy(had, problem);
	fm_plan_configured(&fm);
	assert_int_equal(root.plan_again, 0);
	if (!root.settled) {
		assert_true(!demands && fm_plan_same(&root.plan, &was));
		assert_string_equal(problem, had);
	} else if (fm_plan_same(&want, &was)) {
		assert_int_equal(demands, 0);
		check_problem();
	} else if (find_why(&want, true, why)) {
		assert_true(!demands && fm_plan_same(&root.plan, &was));
		assert_string_equal(problem, why);
	} else {
		text_of(&want, v4, v6);
		sprintf(text, "addresses of %s and %s", v4, v6);
		assert_int_equal(demands, 1);
		assert_string_equal(demand, text);
		assert_true(fm_plan_same(&root.plan, &want));
		check_problem();
	}
}

static void changed_configuration_changes_plan_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, configure);
}

/* Until the root has settled, the plan is that of the NIC with the latest rows. */
static void hear(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	uint64_t latest = 0;
	struct torus_plan want;
	bool some = false;

	rnd = &r;
	make_fabric();
	want = root.plan;
	for (unsigned int i = 0; i < 8; i++) {
		struct fm_hello h = { .plans = rnd_one_in(rnd, 2), .placed = rnd_below(rnd, 3),
				      .version = rnd_below(rnd, 4), .plan = random_plan() };

		root.settled = rnd_one_in(rnd, 4);
		if (!root.settled && h.placed && (!some || h.version > latest)) {
			some = true;
			latest = h.version;
			want = h.plan;
		}
		fm_plan_hello(&fm, &record[0], &h);
		assert_int_equal(record[0].plans, h.plans);
		assert_int_equal(root.nics_plan, some);
		assert_int_equal(root.nics_version, latest);
		assert_true(fm_plan_same(&root.plan, &want));
	}
}

static void plan_of_latest_rows_is_that_of_fabric(void **state)
{
	(void)state;
	for_seeds(200, hear);
}

static void object(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_hello h = { .name = "new" };
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX], text[400] = "", want[400] = "";
	bool is;

	rnd = &r;
	make_fabric();
	h.plans = rnd_one_in(rnd, 2);
	strcpy(h.address, addresses[rnd_below(rnd, 7)]);
	text_of(&root.plan, v4, v6);
	if (root.settled && fm_plan_has(&root.plan, h.address))
		sprintf(want, "'new' has the service address %s, but %s and %s are the torus itself: give "
			"it an address of another network", h.address, v4, v6);
	else if (root.settled && root.plan.len4 && !h.plans)
		sprintf(want, "'new' knows only the default address plan, and the fabric has another one: "
			"update fabricd and the driver of its NIC");
	is = fm_plan_objection(&fm, &h, text, sizeof(text));
	assert_int_equal(is, want[0] != '\0');
	assert_string_equal(text, want);
}

static void nodes_that_the_plan_excludes_are_refused(void **state)
{
	(void)state;
	for_seeds(500, object);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_table_takes_plan_as_in_model),
		cmocka_unit_test(changed_configuration_changes_plan_as_in_model),
		cmocka_unit_test(plan_of_latest_rows_is_that_of_fabric),
		cmocka_unit_test(nodes_that_the_plan_excludes_are_refused),
	};

	return cmocka_run_group_tests_name("fm_plan", all, NULL, NULL);
}
