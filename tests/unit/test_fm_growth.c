// SPDX-License-Identifier: GPL-2.0-only
/*
 * Growth of partitions: each fault at each step of a growth, random histories of several growths
 * with losses, deaths, hangs, restarts and releases, and messages that cannot be true. All members
 * of a partition get numbers, or all become free. Its messages and times are those of the rules
 * alone: test_fabricsim_grow.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/clock.h"
#include "tests/unit/grow_net.h"
#include "tests/unit/random.h"

static const struct fm_growth_terms any;
static struct grow_net net;

static void run_to_end(void)
{
	grow_net_run(&net, NEVER - 1, UINT64_MAX);
}

/* @a, @b, @c: which test it is */
static void expect_right(uint64_t a, uint64_t b, uint64_t c)
{
	const char *wrong = grow_net_judge(&net);

	if (wrong)
		fail_msg("%s (%llu, %llu, %llu)", wrong, (unsigned long long)a,
			 (unsigned long long)b, (unsigned long long)c);
}

/* --- one fault, at each step --------------------------------------------------------- */

enum fault {
	FAULT_NONE, FAULT_KILL, FAULT_RESTART, FAULT_HANG, FAULT_LONG_HANG, FAULT_RELEASE, FAULT_CUT
};

static void make_fault(enum fault fault, uint32_t node, unsigned int port)
{
	switch (fault) {
	case FAULT_KILL:
		grow_net_kill(&net, node);
		break;
	case FAULT_RESTART:
		grow_net_restart(&net, node);
		break;
	case FAULT_HANG:
		grow_net_hang(&net, node, 300 * MS);
		break;
	case FAULT_LONG_HANG:
		grow_net_hang(&net, node, 8000 * MS);
		break;
	case FAULT_RELEASE:
		fm_growth_release(&net.node[node].growth, net.now);
		break;
	case FAULT_CUT:
		grow_net_cut(&net, node, port);
		break;
	default:
		break;
	}
}

/* Return: true if the growth was over before message @step. */
static bool try_fault(const char *shape, uint32_t total, uint64_t step, enum fault fault,
		      uint32_t node, unsigned int port)
{
	bool over;

	grow_net_init(&net, shape, 1);
	assert_int_equal(grow_net_begin(&net, 0, 1, total, &any), 0);
	grow_net_run(&net, NEVER - 1, step);
	over = net.seen < step;
	make_fault(fault, node, port);
	run_to_end();
	expect_right(fault, step, node * 16 + port);
	return over;
}

static void try_all_steps(const char *shape, uint32_t total, enum fault fault, uint32_t node,
			  unsigned int port)
{
	for (uint64_t step = 0; !try_fault(shape, total, step, fault, node, port); step++)
		;
}

static void fault_at_each_step_ends_growth_whole_or_free(void **state)
{
	static const struct {
		const char *shape;
		uint32_t total;
	} cases[] = {
		{ "3x3", 6 }, { "3x3", 9 }, { "3x3", 10 }, { "2x2x2", 7 }, { "5", 4 }, { "2", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *shape = cases[i].shape;
		uint32_t nodes;

		try_fault(shape, cases[i].total, 0, FAULT_NONE, 0, 0);
		nodes = net.nodes;
		assert_int_equal(grow_net_running(&net, 0, 1),
				 cases[i].total > nodes ? 0 : cases[i].total);
		for (uint32_t node = 0; node < nodes; node++) {
			for (enum fault f = FAULT_KILL; f < FAULT_CUT; f++)
				try_all_steps(shape, cases[i].total, f, node, 0);
			for (unsigned int p = 0; p < net.shape.ndims; p++)
				try_all_steps(shape, cases[i].total, FAULT_CUT, node, p);
		}
	}
}

/* A fault before all have numbers ends it everywhere; after the start it ends nothing. */
static void fault_before_start_ends_growth_everywhere(void **state)
{
	(void)state;
	try_fault("3x3", 9, 6, FAULT_KILL, 1, 0);
	assert_int_equal(grow_net_running(&net, 0, 1), 0);
	assert_true(net.ended[1] >> FM_GROWTH_LOST & 1);
	assert_int_equal(net.node[0].growth.end.port, 0);
	assert_true(try_fault("3x3", 9, 100000, FAULT_KILL, 1, 0));
	assert_int_equal(grow_net_running(&net, 0, 1), 8);
	assert_true(try_fault("3x3", 9, 100000, FAULT_RELEASE, 5, 0));
	assert_int_equal(grow_net_running(&net, 0, 1), 0);
	for (uint32_t id = 0; id < 9; id++) {
		assert_int_equal(net.node[id].growth.stage, FM_GROWTH_FREE);
		assert_int_equal(net.node[id].growth.end.why, FM_GROWTH_STOPPED);
		assert_int_equal(net.node[id].growth.end.guid, 6);
	}
	assert_int_equal(fm_growth_release(&net.node[5].growth, net.now), -ENOENT);
	/* The nodes may be used again. */
	assert_int_equal(grow_net_begin(&net, 5, 2, 9, &any), 0);
	run_to_end();
	assert_int_equal(grow_net_running(&net, 5, 2), 9);
}

/* --- histories ------------------------------------------------------------------------ */

static bool deadly;

static void make_random_fault(uint64_t *seed, uint32_t *serial)
{
	uint32_t node = random_below(seed, net.nodes);

	switch (random_below(seed, deadly ? 8 : 3)) {
	case 0:
		fm_growth_release(&net.node[node].growth, net.now);
		break;
	case 1:
	case 2:
		if (*serial == GROW_NET_SERIALS || net.node[node].dead)
			break;
		grow_net_begin(&net, node, (*serial)++, 1 + random_below(seed, net.nodes + 1),
			       &any);
		break;
	case 3:
		grow_net_kill(&net, node);
		break;
	case 4:
		grow_net_restart(&net, node);
		break;
	case 5:
		grow_net_hang(&net, node, random_below(seed, 600) * MS);
		break;
	case 6:
		grow_net_hang(&net, node, random_below(seed, 9000) * MS);
		break;
	default:
		grow_net_cut(&net, node, random_below(seed, 2u * net.shape.ndims));
	}
}

static void play_history(uint64_t seed)
{
	static const char *const shapes[] = {
		"3x3", "4x4", "2x2x2", "3x2x3", "7", "2", "1", "4x4x4",
	};
	uint64_t draw = seed;
	uint32_t serial = 1, faults;

	grow_net_init(&net, shapes[random_below(&draw, 8)], random_next(&draw));
	net.jitter = random_below(&draw, 300);
	net.loss = random_below(&draw, 3) ? 0 : random_below(&draw, 250);
	faults = random_below(&draw, 10);
	for (uint32_t k = 1 + random_below(&draw, 5); k; k--)
		grow_net_begin(&net, random_below(&draw, net.nodes), serial++,
			       1 + random_below(&draw, net.nodes), &any);
	while (faults--) {
		uint64_t until = net.now + random_below(&draw, net.loss ? 200 : 4) * MS;

		grow_net_run(&net, until, UINT64_MAX);
		net.now = later(net.now, until);
		make_random_fault(&draw, &serial);
	}
	run_to_end();
	expect_right(seed, 0, 0);
}

static void random_growths_end_whole_or_free(void **state)
{
	uint64_t seed = random_seed(77);

	(void)state;
	deadly = false;
	for (int i = 0; i < 3000; i++)
		play_history(random_next(&seed));
}

static void random_growths_with_deaths_end_whole_or_free(void **state)
{
	uint64_t seed = random_seed(78);

	(void)state;
	deadly = true;
	for (int i = 0; i < 6000; i++)
		play_history(random_next(&seed));
}

/* One growth whose messages are lost finds all that can be found. */
static void growth_with_lost_messages_finds_all_it_can(void **state)
{
	uint64_t seed = random_seed(79);

	(void)state;
	for (int i = 0; i < 300; i++) {
		uint32_t total = 1 + random_below(&seed, 17);

		grow_net_init(&net, "4x4", random_next(&seed));
		net.loss = 300;
		net.jitter = random_below(&seed, 500);
		assert_int_equal(grow_net_begin(&net, 3, 1, total, &any), 0);
		run_to_end();
		expect_right((uint64_t)i, 0, 0);
		assert_int_equal(grow_net_running(&net, 3, 1), total > 16 ? 0 : total);
		assert_int_equal(net.node[3].growth.found, total > 16 ? 16 : total);
	}
}

/* --- terms ------------------------------------------------------------------------------ */

static void only_nodes_that_meet_terms_join(void **state)
{
	const struct fm_growth_terms fast = { .links = 4, .rate = 100, .margin = 10 };
	const struct fm_growth_port slow = { .up = true, .rate = 99, .margin = 10 };
	const struct fm_growth_port weak = { .up = true, .rate = 100, .margin = 9 };

	(void)state;
	/* The nodes at a slow and at a weak cable have three good ones. */
	grow_net_init(&net, "4x4", 1);
	grow_net_set(&net, 5, 0, &slow);
	grow_net_set(&net, 15, 1, &weak);
	assert_int_equal(grow_net_begin(&net, 5, 1, 4, &fast), -ENOLINK);
	assert_int_equal(grow_net_begin(&net, 0, 1, 13, &fast), 0);
	run_to_end();
	assert_int_equal(net.node[0].growth.found, 12);
	assert_int_equal(net.node[0].growth.met, FM_GROWTH_MET_TERMS);
	assert_int_equal(grow_net_begin(&net, 0, 2, 12, &fast), 0);
	run_to_end();
	assert_int_equal(grow_net_running(&net, 0, 2), 12);
	expect_right(0, 0, 0);
	for (uint32_t id = 0; id < 16; id++)
		assert_int_equal(net.node[id].growth.stage == FM_GROWTH_RUNS,
				 id != 5 && id != torus_neighbour(&net.shape, 5, 0) && id != 15 &&
				 id != torus_neighbour(&net.shape, 15, 1));
}

static void growth_begins_only_at_free_node(void **state)
{
	struct fm_growth *g = &net.node[2].growth;

	(void)state;
	grow_net_init(&net, "5", 1);
	assert_int_equal(grow_net_begin(&net, 2, 1, 0, &any), -EINVAL);
	assert_int_equal(grow_net_begin(&net, 2, 1, TORUS_MAX_NODES + 1u, &any), -EINVAL);
	fm_growth_close(g, true);
	assert_int_equal(grow_net_begin(&net, 2, 1, 1, &any), -EBUSY);
	/* A ring without node 2 has four. */
	assert_int_equal(grow_net_begin(&net, 0, 1, 5, &any), 0);
	run_to_end();
	assert_int_equal(net.node[0].growth.found, 4);
	assert_int_equal(net.node[0].growth.end.why, FM_GROWTH_TOO_FEW);
	assert_int_equal(net.node[0].growth.met, FM_GROWTH_MET_BUSY);
	fm_growth_close(g, false);
	assert_int_equal(grow_net_begin(&net, 2, 2, 1, &any), 0);
	assert_int_equal(g->stage, FM_GROWTH_RUNS);
	assert_int_equal(grow_net_begin(&net, 2, 3, 1, &any), -EBUSY);
	run_to_end();
	expect_right(0, 0, 0);
}

/* --- messages that cannot be true --------------------------------------------------------- */

/* Lets a ring of 5 grow until message @step; the next one to node 0 is changed by @forge. */
static void forge_message(uint64_t step, uint64_t until, void (*forge)(struct fm_growth_msg *m),
			  bool accepted)
{
	struct fm_growth_msg m = { .kind = FM_GROWTH_ACK, .life = net.node[1].growth.life };

	grow_net_init(&net, "5", 1);
	assert_int_equal(grow_net_begin(&net, 0, 1, 5, &any), 0);
	grow_net_run(&net, until, step);
	m.id = net.node[0].growth.id;
	m.life = net.node[1].growth.life;
	m.to = net.node[0].growth.life;
	forge(&m);
	fm_growth_receive(&net.node[0].growth, 0, &m, net.now);
	assert_int_equal(net.ended[1] >> FM_GROWTH_FORGED & 1, !accepted);
	if (!accepted) {
		assert_int_equal(net.node[0].growth.end.port, 0);
		assert_int_equal(net.node[0].growth.end.guid, 1);
	}
}

static void forge_nothing(struct fm_growth_msg *m) { (void)m; }
static void forge_done(struct fm_growth_msg *m) { m->sent.done = 3; }
static void forge_back(struct fm_growth_msg *m) { m->sent.back = 3; }
static void forge_both(struct fm_growth_msg *m) { m->sent.done = 1; m->sent.back = UINT32_MAX; }
static void forge_got(struct fm_growth_msg *m) { m->received.asked = 3; }
static void forge_got_step(struct fm_growth_msg *m) { m->received.step = 1; }
static void forge_ready(struct fm_growth_msg *m) { m->sent.step = 1; }
static void forge_asked(struct fm_growth_msg *m) { m->sent.asked = TORUS_MAX_NODES + 1u; }
static void forge_question(struct fm_growth_msg *m) { m->sent.asked = 1; }

typedef void forge_fn(struct fm_growth_msg *m);

static void impossible_message_ends_growth_as_forged(void **state)
{
	static forge_fn *const bad[] = {
		forge_done, forge_back, forge_both, forge_got, forge_got_step, forge_ready,
		forge_asked };

	(void)state;
	/* Node 0 has asked for two nodes at port 0. */
	forge_message(0, NEVER - 1, forge_nothing, true);
	forge_message(0, NEVER - 1, forge_question, true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		forge_message(0, NEVER - 1, bad[i], false);
	/* A partition that runs is asked for nothing. */
	forge_message(100000, NEVER - 1, forge_question, false);
	forge_message(100000, NEVER - 1, forge_nothing, true);
}

/* A node that is not a member says so, but joins only by PROPAGATE. */
static void node_that_is_no_member_reports_it_and_stays_free(void **state)
{
	struct fm_growth_msg m = { .id = { .guid = 77, .serial = 1 }, .life = 5 };

	(void)state;
	for (int kind = 0; kind < FM_GROWTH_KINDS; kind++) {
		grow_net_init(&net, "5", 1);
		m.kind = (enum fm_growth_kind)kind;
		m.sent.asked = 0;
		fm_growth_receive(&net.node[0].growth, 0, &m, net.now);
		m.sent.asked = 1;
		m.to = 3;
		fm_growth_receive(&net.node[0].growth, 0, &m, net.now);
		m.to = 0;
		fm_growth_receive(&net.node[0].growth, TORUS_MAX_PORTS, &m, net.now);
		assert_int_equal(net.node[0].growth.stage, FM_GROWTH_FREE);
		assert_int_equal(net.mails,
				 kind == FM_GROWTH_ACK || kind == FM_GROWTH_RELEASED ? 0 : 2);
		for (uint32_t i = 0; i < net.mails; i++)
			assert_int_equal(net.mail[i].msg.kind, kind == FM_GROWTH_RELEASE ?
					 FM_GROWTH_RELEASED : FM_GROWTH_RELEASE);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(growth_begins_only_at_free_node),
		cmocka_unit_test(only_nodes_that_meet_terms_join),
		cmocka_unit_test(impossible_message_ends_growth_as_forged),
		cmocka_unit_test(node_that_is_no_member_reports_it_and_stays_free),
		cmocka_unit_test(fault_before_start_ends_growth_everywhere),
		cmocka_unit_test(growth_with_lost_messages_finds_all_it_can),
		cmocka_unit_test(random_growths_end_whole_or_free),
		cmocka_unit_test(random_growths_with_deaths_end_whole_or_free),
		cmocka_unit_test(fault_at_each_step_ends_growth_whole_or_free),
	};

	return cmocka_run_group_tests_name("fm_growth", all, NULL, NULL);
}
