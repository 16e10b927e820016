// SPDX-License-Identifier: GPL-2.0-only
/*
 * A claim to be root: which nodes take part, how long it waits for them, and to which other root
 * this one gives way, for every Init.
 */
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/follow.h"
#include "stage_claim.h"

/* --- how long ----------------------------------------------------------------------------- */

/*
 * Promises do not come: after ten times resend the node asks anew, and counts the nodes that answer
 * then.
 */
static void claim_without_promises_asks_anew(void **state)
{
	uint64_t from;

	(void)state;
	asks_anew();
	s.stubborn = true;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	from = s.now;
	for (unsigned int i = 1; i < 10; i++) {
		stage_run_ns(&s, from + i * RESEND - 2 * MS);
		all_send_hello();
		assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	}
	stage_run_ns(&s, from + 11 * RESEND);
	assert_int_equal(stage_count(&s, "claims epoch 2\n"), 1);
	/* Nodes that still send HELLO are asked again, in the next epoch. */
	all_send_hello();
	stage_run_ns(&s, s.now + 2 * RESEND);
	assert_int_equal(stage_count(&s, "claims epoch 3\n"), 1);
	s.stubborn = false;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	stage_end(&s);
}

/*
 * A HELLO counts for five times resend. One node has a link to each of the others, so all that can
 * be reached take part only if each has said HELLO lately.
 */
static void hello_counts_for_five_times_resend(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		asks_anew();
		sends_hello(1);
		sends_hello(2);
		stage_run_ns(&s, s.now + (late ? 5 * RESEND : 5 * RESEND - 3 * MS));
		sends_hello(2);
		sends_hello(3);
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(state_of(), late ? FM_ROOT_ASKS : FM_ROOT_LEADS);
		stage_end(&s);
	}
}

/*
 * Too few nodes say HELLO. If one of them is a candidate, this node lets it ask, after 2.8 to 3.6
 * s. If none is, it goes on, because no other node would ask.
 */
static void asking_node_without_majority_lets_candidate_ask(void **state)
{
	(void)state;
	for (unsigned int candidate = 0; candidate < 2; candidate++) {
		uint64_t from;

		asks_anew();
		from = s.now;
		for (unsigned int i = 0; i < 50; i++) {
			struct fm_msg m = hello(1);

			m.hello.priority = candidate ? 100 : 0;
			if (!fm_is_root(s.fm) && state_of() != FM_ROOT_ASKS)
				break;
			sends_up(1, &m);
			m = hello(2);
			m.hello.priority = 0;
			sends_up(2, &m);
			stage_run_ns(&s, from + (i + 1) * RESEND);
		}
		assert_int_equal(state_of() == FM_ROOT_ASKS, !candidate);
		assert_true(!candidate ||
			    (s.now >= from + 28 * RESEND && s.now <= from + 37 * RESEND));
		if (!candidate) {
			all_send_hello();
			stage_run_ns(&s, s.now + 2 * MS);
			assert_int_equal(state_of(), FM_ROOT_LEADS);
		}
		stage_end(&s);
	}
}

/* The time of a claim that does not win is part of the time until the other candidate asks. */
static void failed_claim_counts_towards_time_to_give_way(void **state)
{
	uint64_t from;

	(void)state;
	asks_anew();
	from = s.now;
	s.stubborn = true;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	s.joiner[102].obeys = s.joiner[103].obeys = 0;
	s.stubborn = false;
	sends_hello(1);		/* this is the only promise */
	s.stubborn = true;
	while (state_of() == FM_ROOT_CLAIMS)
		stage_run_ns(&s, s.now + RESEND);
	assert_true(s.now >= from + 10 * RESEND);
	memset(s.joiner, 0, sizeof(s.joiner));
	for (unsigned int i = 0; i < 40 && state_of() == FM_ROOT_ASKS; i++) {
		struct fm_msg m = hello(1);

		m.hello.priority = 100;
		sends_up(1, &m);
		stage_run_ns(&s, s.now + RESEND);
	}
	assert_true(state_of() != FM_ROOT_ASKS);
	assert_true(s.now >= from + 28 * RESEND && s.now <= from + 38 * RESEND);
	stage_end(&s);
}

/* A neighbour that has lost another root reports a later epoch: that does not break off a claim. */
static void later_epoch_of_lost_root_breaks_off_no_claim(void **state)
{
	struct fm_init i;

	(void)state;
	asks_anew();
	s.stubborn = true;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	i = stage_neighbour(&s, 0);
	i.guid = 0xdead;
	i.root_guid = 0xabc;
	i.epoch = 20;
	i.lost = true;
	stage_receive(&s, 0, &i);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	s.stubborn = false;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	stage_end(&s);
}

/*
 * The Inits of a node that asks name the latest epoch that it has learned of, by HELLO or from a
 * neighbour that has lost a later root: nodes that know of that epoch follow no root that asks in
 * an earlier one.
 */
static void inits_of_asking_node_name_latest_epoch(void **state)
{
	struct fm_msg m;
	struct fm_init i;

	(void)state;
	asks_anew();
	s.deaf = "ping log ";
	stage_run_ns(&s, s.now + RESEND);
	stage_forget(&s);
	m = hello(1);
	m.hello.root_epoch = 17;
	m.hello.root_guid = 0xabc;
	sends_up(1, &m);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->root_epoch, 17);
	stage_did_some(&s, "init 0:");
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xabd;
	i.epoch = 19;
	i.lost = true;
	stage_receive(&s, 0, &i);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->root_epoch, 19);
	stage_did_some(&s, "init 0:");
	assert_int_equal(state_of(), FM_ROOT_ASKS);
	/* The candidate claims an epoch later than both. */
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->term, 20);
	stage_end(&s);
}

/* --- whose place it takes ------------------------------------------------------------------ */

/* Lets all nodes say HELLO with the latest table, made by root @guid. */
static void all_know_table_of(uint64_t maker)
{
	struct fm_status st;

	asks_anew();
	stage_run(&s, 50);
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = with_table(i, maker);

		sends_up(i, &m);
	}
	stage_run_ns(&s, s.now + 2 * MS);
	fm_status(s.fm, &st);
	assert_int_equal(st.root.state, FM_ROOT_LEADS);
	assert_in_range(st.root.since, START + s.now - 2 * MS, START + s.now);
}

/*
 * If this node lacks the latest table, the reason why it leads names the maker of that table by its
 * GUID.
 */
static void reason_names_maker_of_latest_table(void **state)
{
	(void)state;
	all_know_table_of(0xabc);
	stage_did_some(&s,
		       "log warning root: this node is root now, in epoch 2: root "
		       "'0000000000000abc' lost; "
		       "4 nodes obey, all that links lead to\n");
	stage_end(&s);
	all_know_table_of(NIC);
	stage_did_some(&s,
		       "log info root: this node is root now, in epoch 2: root asked all nodes "
		       "anew; ");
	stage_end(&s);
}

/* All links of the candidate are lost: it is the only node that obeys. */
static void candidate_without_links_obeys_itself(void **state)
{
	(void)state;
	asks_anew();
	for (unsigned int p = 0; p < 4; p++)
		stage_link_lost(&s, p, 0);
	stage_run_ns(&s, s.now + 10 * RESEND);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	stage_did_some(&s, "; 1 node obeys, all that links lead to\n");
	stage_end(&s);
}

/*
 * A node that is cut off leads after a while in which nothing changed. The time that it waits for other
 * nodes before its first table begins then.
 */
static void new_root_waits_for_nodes_from_its_lead_on(void **state)
{
	uint64_t until;

	(void)state;
	asks_anew();
	for (unsigned int p = 0; p < 4; p++)
		stage_link_lost(&s, p, 0);
	until = s.now + 10 * RESEND;
	while (state_of() != FM_ROOT_LEADS && s.now < until)
		stage_run_ns(&s, s.now + MS);
	until = s.now + s.cfg.quiet;
	stage_run_ns(&s, until - 2 * MS);
	assert_int_equal(fm_version(s.fm), 0);
	stage_run_ns(&s, until + 2 * MS);
	assert_int_not_equal(fm_version(s.fm), 0);
	stage_end(&s);
}

/* --- to whom it gives way -------------------------------------------------------------------- */

enum { ASKS, LEADS, SETTLED, SETTLED_ALONE, ASKS_LONG, CLAIMS, STAGES };

static void take_stage(unsigned int stage)
{
	struct fm_root *r = s.fm->root;

	r->stage = stage == ASKS || stage == ASKS_LONG ? FM_STAGE_ASKS :
		   stage == CLAIMS ? FM_STAGE_CLAIMS : FM_STAGE_LEADS;
	r->begun = s.fm->now - (stage == ASKS_LONG ? 20 : 19) * RESEND;
	r->settled = stage == SETTLED || stage == SETTLED_ALONE;
	r->joiners = stage == SETTLED_ALONE ? 1 : 4;
}

/*
 * Return: true if a root of that stage has to give way to that Init of another node; a second
 * implementation of the rules.
 */
static bool gives_way(unsigned int stage, const struct fm_init *init)
{
	const struct fm *fm = s.fm;
	int64_t epochs = (int64_t)init->epoch - (int64_t)fm->root_epoch;
	bool before = epochs < 0 || (!epochs && init->root_guid < fm->guid);
	bool kin = init->guid < NIC + 4;
	bool own = kin || (init->root_guid >= NIC && init->root_guid < NIC + 4);

	if (init->lost)
		return false;
	switch (stage) {
	case ASKS:
	case ASKS_LONG:
		if (init->asks)
			return !before;
		return ((epochs >= 0 && own) || stage == ASKS_LONG) &&
		       (init->root_guid != fm->led.guid || init->epoch > fm->led.epoch);
	case CLAIMS:
		return !before && (init->asks || (own && (init->root_guid != fm->led.guid ||
							  init->epoch > fm->led.epoch)));
	case LEADS:
		return !init->asks && (!before || init->settled) && own;
	case SETTLED:
		return !init->asks && !before && kin;
	default:
		if (init->asks)
			return false;
		return epochs > 0 || (!before && kin) ||
		       (!epochs && init->settled &&
			(!before || (!kin && init->guid != init->root_guid)));
	}
}

static void node_yields_exactly_to_later_roots(void **state)
{
	static const uint64_t guids[] = { NIC - 1, NIC, NIC + 1, 0xabc };
	unsigned int ways = 0, all = 0;

	(void)state;
	root("4x1");
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	s.fm->root_epoch = 7;
	s.fm->led.epoch = 8;
	s.fm->led.guid = NIC + 1;
	for (unsigned int i = 0; i < STAGES * 4 * 8 * 5 * 2; i++) {
		unsigned int stage = i % STAGES, k = i / STAGES, flags = k / 4 % 8;
		struct fm_init init = stage_neighbour(&s, 0);
		bool want;

		init.root_guid = guids[k % 4];
		init.lost = flags & 1;
		init.asks = flags & 2;
		init.settled = flags & 4;
		init.epoch = 5 + k / 32 % 5;
		/* From a node of this fabric, or from the root itself, which is none. */
		init.guid = k / 160 ? NIC + 2 : init.root_guid > NIC + 3 ? init.root_guid : 0xdef;
		take_stage(stage);
		want = init.root_guid != NIC && gives_way(stage, &init);
		if (fm_claim_yields(s.fm, &init) != want)
			fail_msg("stage %u, init of root %llx, epoch %llu, flags %u, from %llx: "
				 "gives way: %d, wanted %d",
				 stage, (unsigned long long)init.root_guid,
				 (unsigned long long)init.epoch, flags,
				 (unsigned long long)init.guid, !want, want);
		ways += want;
		all++;
	}
	assert_true(ways > 100 && all - ways > 100);
	stage_end(&s);
}

/*
 * Lets the node shun root @guid, which asks, as if it had been refused so long ago that @left ns are
 * left.
 */
static void shun(uint64_t guid, uint64_t left)
{
	uint64_t followed = s.fm->root_guid, now = s.fm->now;

	s.fm->now = now + left - 2 * fm_candidate_wait(s.fm) - 10 * s.fm->cfg.resend;
	s.fm->root_guid = guid;
	fm_follow_shun(s.fm);
	s.fm->root_guid = followed;
	s.fm->now = now;
}

/* A node does not yield to a later asking node that refused it, but it does to a root. */
static void node_does_not_yield_to_asking_node_that_refused_it(void **state)
{
	struct fm_init init;

	(void)state;
	asks_anew();
	init = stage_neighbour(&s, 0);
	init.root_guid = 0xabc;
	init.epoch = 9;
	for (unsigned int asks = 0; asks < 2; asks++) {
		init.asks = asks;
		shun(0xabd, 1);
		shun(0xabc, 0);
		assert_true(fm_claim_yields(s.fm, &init));
		shun(0xabc, 1);
		assert_int_equal(fm_claim_yields(s.fm, &init), !asks);
	}
	stage_end(&s);
}

/*
 * A node that asks hears of a later one that asks, too, and that it did not reach twice: it gives way
 * when it reaches that one, and not before.
 */
static void node_yields_to_unreached_asking_node_when_it_reaches_it(void **state)
{
	struct fm_init init;
	int conn;

	(void)state;
	asks_anew();
	init = stage_neighbour(&s, 0);
	init.root_guid = 0xabc;
	init.epoch = 9;
	init.asks = true;
	s.fm->root_guid = 0xabc;
	fm_follow_unreached(s.fm);
	fm_follow_unreached(s.fm);
	s.fm->root_guid = NIC;
	conn = s.next_conn;
	stage_receive(&s, 0, &init);
	assert_true(s.fm->is_root);
	assert_int_equal(s.next_conn, conn + 1);
	stage_up(&s, conn);
	assert_false(s.fm->is_root);
	assert_int_equal(s.fm->root_guid, 0xabc);
	stage_end(&s);
}

/* Once a root has won a claim, it gives way to a later root only, also before it has settled. */
static void root_that_won_gives_way_only_to_later_one(void **state)
{
	struct fm_init init;

	(void)state;
	asks_anew();
	sends_hello(1);
	sends_hello(2);
	sends_hello(3);
	stage_run_ns(&s, s.now + 2 * MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	s.fm->root->settled = false;
	init = stage_neighbour(&s, 0);
	init.root_guid = 0xabc;
	init.settled = true;
	for (unsigned int later = 0; later < 2; later++) {
		init.epoch = fm_epoch(s.fm) - 1 + 2 * later;
		assert_int_equal(fm_claim_yields(s.fm, &init), later);
	}
	stage_end(&s);
}

/* --- all that can be reached ------------------------------------------------------------------- */

/*
 * A node has learned fewer dimensions from a root that it followed, whose shape is configured
 * wrong. A link of a further dimension leads to a NIC that does not take part: without a majority
 * the node does not lead.
 */
static void link_of_unknown_dimension_counts_as_link(void **state)
{
	(void)state;
	for (unsigned int ndims = 1; ndims <= 2; ndims++) {
		struct fm_msg m;

		asks_anew();
		s.fm->ndims = ndims;
		for (uint32_t i = 1; i < 4; i++) {
			m = hello(i);
			m.hello.row.port[3].state = FM_PORT_UP;
			m.hello.row.port[3].peer_guid = i < 3 ? NIC + i : 0xdead;
			sends_up(i, &m);
		}
		stage_run_ns(&s, s.now + 2 * RESEND);
		assert_int_equal(state_of(), FM_ROOT_ASKS);
		m = hello(3);
		sends_up(3, &m);
		stage_run_ns(&s, s.now + RESEND);
		assert_int_equal(state_of(), FM_ROOT_LEADS);
		stage_end(&s);
	}
}

/* All say HELLO, and none has a table. Return: true if the node claims: no link leads to another NIC. */
static bool reaches_all(unsigned int port, enum fm_port_state is, uint64_t peer)
{
	bool claims;

	asks_anew();
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = hello(i);

		if (i == 2) {
			m.hello.row.port[port].state = (uint8_t)is;
			m.hello.row.port[port].peer_guid = peer;
		}
		sends_up(i, &m);
	}
	stage_run_ns(&s, s.now + 2 * MS);
	claims = state_of() != FM_ROOT_ASKS;
	stage_end(&s);
	return claims;
}

/*
 * A link to a NIC that is not known leads out of the part. One that is down does not, nor one whose
 * row does not name the NIC.
 */
static void only_link_that_is_up_to_stranger_leaves_part(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < 4; p++) {
		assert_false(reaches_all(p, FM_PORT_UP, 0xdead));
		assert_true(reaches_all(p, FM_PORT_FAULTY, 0xdead));
		assert_true(reaches_all(p, FM_PORT_DOWN, 0xdead));
		assert_true(reaches_all(p, FM_PORT_UP, 0));
	}
}

/*
 * A node does not take part any more, and no link leads to it: its own links, to whatever NICs, do
 * not count.
 */
static void links_of_node_that_left_do_not_count(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		asks_anew();
		stage_link_lost(&s, 2, 0);
		m = hello(3);
		m.hello.row.port[0].state = FM_PORT_DOWN;
		m.hello.row.port[2].peer_guid = 0xdead;
		sends_up(3, &m);
		stage_run_ns(&s, s.now + (late ? 5 : 4) * RESEND);
		sends_hello(1);
		m = hello(2);
		m.hello.row.port[0].state = FM_PORT_DOWN;
		sends_up(2, &m);
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(state_of() != FM_ROOT_ASKS, late);
		stage_end(&s);
	}
}

/*
 * Nodes 0 and 1 are cut off from the others of the latest table. After @steady times resend, a port of
 * node 1 that is down becomes faulty. Return: the time until they claim.
 */
static uint64_t claims_alone(unsigned int steady)
{
	uint64_t from, took;

	asks_anew();
	stage_link_lost(&s, 2, 0);
	from = s.now;
	for (unsigned int i = 0; state_of() == FM_ROOT_ASKS; i++) {
		struct fm_msg m = with_table(1, 0xabc);

		assert_true(i < 200);
		m.hello.row.port[0].state = i < steady ? FM_PORT_DOWN : FM_PORT_FAULTY;
		m.hello.row.serial += i >= steady;
		sends_up(1, &m);
		stage_run_ns(&s, s.now + RESEND);
	}
	took = s.now - from;
	stage_end(&s);
	return took;
}

/* A part that is cut off waits anew when a port changes, although that leads to no other node. */
static void part_claims_member_max_after_last_port_change(void **state)
{
	struct fm_config cfg;

	(void)state;
	fm_config_default(&cfg);
	for (unsigned int steady = 0; steady < 30; steady += 13) {
		uint64_t due = steady * RESEND + cfg.member_max;

		assert_in_range(claims_alone(steady), due, due + 3 * RESEND);
	}
}

/* --- who is told ------------------------------------------------------------------------------- */

static unsigned int reported[4], reported_others;

static void sees_claim(int conn, const struct fm_msg *msg)
{
	if (msg->type != FM_MSG_CLAIM || !msg->claim.epoch)
		return;
	assert_int_equal(msg->claim.epoch, s.fm->term);
	assert_int_equal(msg->claim.guid, NIC);
	if (conn > 100 && conn < 104)
		reported[conn - 100]++;
	else
		reported_others++;
}

/*
 * Each node that has sent HELLO is asked for its promise once; a connection without HELLO is not
 * asked.
 */
static void each_node_is_asked_for_promise_once(void **state)
{
	(void)state;
	asks_anew();
	s.stubborn = true;
	s.sees = sees_claim;
	stage_up(&s, 150);
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	stage_run_ns(&s, s.now + 4 * RESEND);
	assert_int_equal(reported_others, 0);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(reported[i], 1);
	stage_end(&s);
}

/*
 * The first root asks before it leads only if rows at a place show that there was a root before it.
 */
static void first_root_leads_at_once_without_former_rows(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct fm_msg m = { .type = 0 };

		root("4x1");
		m = hello(1);
		m.hello.placed = k & 1;
		m.hello.shape = s.shape;
		m.hello.coords.c[0] = 1;
		m.hello.version = k & 2 ? 5 : 0;
		sends_up(1, &m);
		assert_int_equal(stage_count(&s, "has rows of a former root"), k == 3);
		stage_run_ns(&s, s.now + 1);
		assert_int_equal(state_of(), k == 3 ? FM_ROOT_ASKS : FM_ROOT_LEADS);
		stage_end(&s);
	}
}

/* --- promises of a former claim --------------------------------------------------------------- */

/* A node says in HELLO that its NIC obeys that root, by order of this claim or of another. */
static void obeys(uint32_t i, uint64_t epoch, uint64_t root)
{
	struct fm_msg m = hello(i);

	m.hello.root_epoch = epoch;
	m.hello.root_guid = root;
	sends_up(i, &m);
	stage_run_ns(&s, s.now + MS);
}

/*
 * Two nodes have promised when a third one is found that obeys a later epoch. The claim that
 * follows is in an epoch that those two have not promised: they do not count.
 */
static void later_promise_raises_epoch_of_next_claim(void **state)
{
	(void)state;
	asks_anew();
	s.stubborn = true;
	all_send_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(stage_count(&s, "claims epoch 2\n"), 1);
	obeys(1, 2, NIC);
	obeys(2, 2, NIC);
	obeys(3, 5, 0xabc);
	stage_run_ns(&s, s.now + RESEND);
	obeys(3, 6, NIC);
	stage_run_ns(&s, s.now + 2 * RESEND);
	assert_int_not_equal(state_of(), FM_ROOT_LEADS);
	/* All are asked once more, and promise the next epoch. */
	memset(s.joiner, 0, sizeof(s.joiner));
	s.stubborn = false;
	for (uint32_t i = 1; i < 4; i++)
		obeys(i, 6, 0xabc);
	stage_run_ns(&s, s.now + 2 * RESEND);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	assert_true(fm_epoch(s.fm) > 6);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claim_without_promises_asks_anew),
		cmocka_unit_test(hello_counts_for_five_times_resend),
		cmocka_unit_test(asking_node_without_majority_lets_candidate_ask),
		cmocka_unit_test(failed_claim_counts_towards_time_to_give_way),
		cmocka_unit_test(later_epoch_of_lost_root_breaks_off_no_claim),
		cmocka_unit_test(later_promise_raises_epoch_of_next_claim),
		cmocka_unit_test(inits_of_asking_node_name_latest_epoch),
		cmocka_unit_test(reason_names_maker_of_latest_table),
		cmocka_unit_test(node_yields_exactly_to_later_roots),
		cmocka_unit_test(node_does_not_yield_to_asking_node_that_refused_it),
		cmocka_unit_test(node_yields_to_unreached_asking_node_when_it_reaches_it),
		cmocka_unit_test(link_of_unknown_dimension_counts_as_link),
		cmocka_unit_test(only_link_that_is_up_to_stranger_leaves_part),
		cmocka_unit_test(links_of_node_that_left_do_not_count),
		cmocka_unit_test(part_claims_member_max_after_last_port_change),
		cmocka_unit_test(candidate_without_links_obeys_itself),
		cmocka_unit_test(new_root_waits_for_nodes_from_its_lead_on),
		cmocka_unit_test(each_node_is_asked_for_promise_once),
		cmocka_unit_test(first_root_leads_at_once_without_former_rows),
		cmocka_unit_test(root_that_won_gives_way_only_to_later_one),
	};

	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
