// SPDX-License-Identifier: GPL-2.0-only
/*
 * A claim to be root: who takes part, how long it is waited for, and to which other root this one
 * gives way, for all that an Init can say.
 */
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/root.h"
#include "stage_root.h"

#define RESEND (100 * MS)

/* A node says HELLO; the first time its connection comes up. */
static void says(uint32_t i, const struct fm_msg *m)
{
	if (!s.joiner[100 + i].known)
		stage_up(&s, 100 + (int)i);
	stage_msg(&s, 100 + (int)i, m);
}

static void says_hello(uint32_t i)
{
	struct fm_msg m = hello(i);

	says(i, &m);
}

static enum fm_root_state state_of(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.state;
}

/* The HELLO of a node with rows of root @maker, of epoch 41, and its table 9, in which all are up. */
static struct fm_msg with_table(uint32_t i, uint64_t maker)
{
	struct fm_msg m = hello(i);

	m.hello.placed = true;
	m.hello.version = m.hello.table = 9;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)i;
	m.hello.term = 41;
	m.hello.table_root = maker;
	m.hello.ups = 4;
	m.hello.counted = true;
	return m;
}

/* The root of 4x1 begins anew, and has found that there was one before: it asks who would obey it. */
static void asks_anew(void)
{
	struct fm_msg m;

	root("4x1");
	m = with_table(1, 0xabc);
	says(1, &m);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(state_of(), FM_ROOT_ASKS);
	memset(s.joiner, 0, sizeof(s.joiner));
	stage_forget(&s);
}

static void all_say_hello(void)
{
	for (uint32_t i = 1; i < 4; i++)
		says_hello(i);
}

/* --- how long ----------------------------------------------------------------------------- */

/* Promises do not come: after ten times resend it asks anew, and counts who answers then. */
static void no_promise(void **state)
{
	uint64_t from;

	(void)state;
	asks_anew();
	s.stubborn = true;
	all_say_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	from = s.now;
	for (unsigned int i = 1; i < 10; i++) {
		stage_run_ns(&s, from + i * RESEND - 2 * MS);
		all_say_hello();
		assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	}
	stage_run_ns(&s, from + 11 * RESEND);
	assert_int_equal(stage_count(&s, "claims epoch 2\n"), 1);
	/* Those who still say HELLO are asked again, in the next epoch. */
	all_say_hello();
	stage_run_ns(&s, s.now + 2 * RESEND);
	assert_int_equal(stage_count(&s, "claims epoch 3\n"), 1);
	s.stubborn = false;
	all_say_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	stage_end(&s);
}

/*
 * A HELLO counts for five times resend. One node has a link to each of the others: all that can be reached
 * take part only if each has said HELLO lately.
 */
static void hello_is_late(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		asks_anew();
		says_hello(1);
		says_hello(2);
		stage_run_ns(&s, s.now + (late ? 5 * RESEND : 5 * RESEND - 3 * MS));
		says_hello(2);
		says_hello(3);
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(state_of(), late ? FM_ROOT_ASKS : FM_ROOT_LEADS);
		stage_end(&s);
	}
}

/*
 * A neighbour that has lost another root knows of a later epoch: that does not break off a claim.
 */
static void not_broken_off(void **state)
{
	struct fm_init i;

	(void)state;
	asks_anew();
	s.stubborn = true;
	all_say_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	i = stage_neighbour(&s, 0);
	i.guid = 0xdead;
	i.root_guid = 0xabc;
	i.epoch = 20;
	i.lost = true;
	stage_hear(&s, 0, &i);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	s.stubborn = false;
	all_say_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	stage_end(&s);
}

/*
 * A node that asks says the latest epoch that it has heard of, by HELLO or from a neighbour that has lost
 * a later root: nodes that know of that epoch follow none that asks in an earlier one.
 */
static void says_the_latest_epoch(void **state)
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
	says(1, &m);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->root_epoch, 17);
	stage_did_some(&s, "init 0:");
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xabd;
	i.epoch = 19;
	i.lost = true;
	stage_hear(&s, 0, &i);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->root_epoch, 19);
	stage_did_some(&s, "init 0:");
	assert_int_equal(state_of(), FM_ROOT_ASKS);
	/* What it claims is later than both. */
	all_say_hello();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->term, 20);
	stage_end(&s);
}

/* --- with which table it begins ------------------------------------------------------------- */

/*
 * It fetches the latest table that is told of; one of the same number, but a former epoch, is
 * another.
 */
static void fetches_the_latest(void **state)
{
	struct fm_entry entry[4];
	struct fm_msg m;

	(void)state;
	asks_anew();
	s.stubborn = true;
	m = with_table(1, 0xabc);
	says(1, &m);
	stage_did_some(&s, "101 < fetch former\n");
	m = stage_table(&s, 9, entry);
	m.table.term = 41;
	m.table.former = true;
	stage_msg(&s, 101, &m);
	stage_run_ns(&s, s.now + RESEND);
	m = with_table(1, 0xabc);
	says(1, &m);
	stage_did_no(&s, "fetch");
	m = with_table(2, 0xabd);
	m.hello.term = 42;
	says(2, &m);
	stage_did_some(&s, "102 < fetch former\n");
	stage_end(&s);
}

/* Node 1 sends the latest table, which 0xabc made: +x of node 3 is excluded. */
static void sends_the_latest(void)
{
	static struct fm_entry entry[4];
	struct fm_msg m = stage_table(&s, 9, entry);

	entry[3].admin = 1;
	m.table.term = 41;
	m.table.maker = 0xabc;
	m.table.former = true;
	stage_msg(&s, 101, &m);
}

static void has_first_table(void)
{
	stage_run_ns(&s, s.now + 3 * s.cfg.member_max);
	assert_true(fm_version(s.fm) > 0);
	assert_non_null(fm_node(s.fm, 3));
}

/* Node 2 works at another place than that table says, and says HELLO before the table comes. */
static void place_of_the_latest(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		struct fm_msg m, old;

		asks_anew();
		old = hello(2);
		old.hello.placed = true;
		old.hello.version = 8;
		old.hello.shape = s.shape;
		old.hello.coords.c[0] = 3;
		/* The table does not have node 9: it stays where it says that it works. */
		m = hello(9);
		m.hello.placed = true;
		m.hello.version = 8;
		m.hello.shape = s.shape;
		m.hello.coords.c[0] = 1;
		says(9, &m);
		if (!late)
			says(2, &old);
		m = with_table(1, 0xabc);
		says(1, &m);
		sends_the_latest();
		assert_int_equal(fm_mate(s.fm->root, NIC + 9)->node, 1);
		if (late)
			says(2, &old);
		assert_int_equal(fm_mate(s.fm->root, NIC + 2)->node, 2);
		stage_down(&s, 109);
		says_hello(3);
		has_first_table();
		assert_int_equal(fm_node(s.fm, 2)->guid, NIC + 2);
		assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
		stage_end(&s);
	}
}

/* What that table excludes holds, whatever is said by an older one of that root. */
static void older_words(void **state)
{
	static struct fm_entry entry[8];
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		asks_anew();
		m = with_table(1, 0xabc);
		says(1, &m);
		m = stage_table(&s, 9, entry);
		entry[0].admin = 2;
		entry[3].admin = 1;
		m.table.term = 41;
		m.table.maker = 0xabc;
		m.table.former = true;
		/* It is not the whole table, or one of another shape. */
		m.table.base = k == 1 ? 8 : 0;
		if (k == 2)
			assert_int_equal(torus_shape_parse("2x2", &m.table.shape), 0);
		stage_msg(&s, 101, &m);
		assert_int_equal(fm_recall_has_latest(s.fm), k != 1);
		/* The same once more, with other words, is not taken. */
		entry[3].admin = 8;
		m.table.base = 0;
		if (k != 1)
			stage_msg(&s, 101, &m);
		m = with_table(3, 0xabc);
		m.hello.table = 8;
		says(3, &m);
		says_hello(2);
		has_first_table();
		assert_int_equal(fm_node(s.fm, 0)->admin, k ? 0 : 2);
		assert_int_equal(fm_node(s.fm, 3)->admin, k ? 0 : 1);
		stage_end(&s);
	}
}

/*
 * That table comes when the node leads already: it takes names, votes and exclusions of a node that is
 * away, as it does when the table comes before.
 */
static void table_comes_late(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		asks_anew();
		for (uint32_t i = 1; i < 3; i++) {
			struct fm_msg m = with_table(i, 0xabc);

			says(i, &m);
		}
		s.fm->root->told.ups = 3;	/* so these two are enough */
		if (!late)
			sends_the_latest();
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(state_of(), FM_ROOT_LEADS);
		assert_int_equal(fm_version(s.fm), 0);
		if (late)
			sends_the_latest();
		has_first_table();
		assert_string_equal(fm_node(s.fm, 3)->name, "n3");
		assert_int_equal(fm_node(s.fm, 3)->admin, 1);
		assert_int_equal(fm_node(s.fm, 3)->differs, 1);
		/* After that it does not take the table any more. */
		sends_the_latest();
		assert_false(fm_recall_has_latest(s.fm));
		stage_end(&s);
	}
}

/* A node says HELLO to the new root, and has not obeyed when the first table comes: it keeps its place there. */
static void place_of_one_that_waits(void **state)
{
	struct fm_msg m;

	(void)state;
	asks_anew();
	stage_link_lost(&s, 2, 0);
	for (uint32_t i = 1; i < 3; i++) {
		m = with_table(i, 0xabc);
		/* The manager of a stranger is waited for. No cable leads to node 3. */
		m.hello.row.port[0].state = i < 2 ? FM_PORT_UP : FM_PORT_DOWN;
		m.hello.row.port[1].state = i < 2 ? FM_PORT_DOWN : FM_PORT_UP;
		m.hello.row.port[1].peer_guid = 0xdead;
		says(i, &m);
	}
	sends_the_latest();
	stage_run_ns(&s, s.now + 2 * MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	assert_int_equal(fm_version(s.fm), 0);
	s.stubborn = true;
	m = with_table(3, 0xabc);
	m.hello.row.port[0].state = m.hello.row.port[2].state = FM_PORT_DOWN;
	says(3, &m);
	assert_int_equal(fm_version(s.fm), 0);
	has_first_table();
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
	assert_string_equal(fm_node(s.fm, 3)->name, "n3");
	stage_end(&s);
}

/* --- whose place it takes ------------------------------------------------------------------ */

/* All nodes have the latest table, made by that root. */
static void told_by(uint64_t maker)
{
	struct fm_status st;

	asks_anew();
	stage_run(&s, 50);
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = with_table(i, maker);

		says(i, &m);
	}
	stage_run_ns(&s, s.now + 2 * MS);
	fm_status(s.fm, &st);
	assert_int_equal(st.root.state, FM_ROOT_LEADS);
	assert_in_range(st.root.since, START + s.now - 2 * MS, START + s.now);
}

/* The maker of a table that this node does not have is named by its GUID. */
static void why(void **state)
{
	(void)state;
	told_by(0xabc);
	stage_did_some(&s, "log warning root: this node is root now, in epoch 2: root '0000000000000abc' lost; ");
	stage_end(&s);
	told_by(NIC);
	stage_did_some(&s, "log info root: this node is root now, in epoch 2: root asked all nodes anew; ");
	stage_end(&s);
}

/* --- to whom it gives way -------------------------------------------------------------------- */

enum { ASKS, LEADS, SETTLED, SETTLED_ALONE, ASKS_LONG, STAGES };

static void take_stage(unsigned int stage)
{
	struct fm_root *r = s.fm->root;

	r->stage = stage == ASKS || stage == ASKS_LONG ? FM_STAGE_ASKS : FM_STAGE_LEADS;
	r->since = s.fm->now - (stage == ASKS_LONG ? 20 : 19) * RESEND;
	r->settled = stage == SETTLED || stage == SETTLED_ALONE;
	r->joiners = stage == SETTLED_ALONE ? 1 : 4;
}

/* The same rules, put another way: what a root at that stage makes of an Init that is not of itself. */
static bool gives_way(unsigned int stage, const struct fm_init *init)
{
	const struct fm *fm = s.fm;
	int64_t epochs = (int64_t)init->epoch - (int64_t)fm->root_epoch;
	bool before = epochs < 0 || (!epochs && init->root_guid < fm->guid);
	bool kin = init->guid < NIC + 4;

	if (init->lost)
		return false;
	switch (stage) {
	case ASKS:
	case ASKS_LONG:
		if (init->asks)
			return !before;
		return (epochs >= 0 || stage == ASKS_LONG) && (init->root_guid != fm->led.guid || init->epoch > fm->led.epoch);
	case LEADS:
		return !init->asks && (!before || init->settled);
	case SETTLED:
		return !init->asks && !before && kin;
	default:
		if (init->asks)
			return false;
		return epochs > 0 || (!before && kin) ||
		       (!epochs && init->settled && (!before || init->guid != init->root_guid));
	}
}

static void to_whom(void **state)
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
			fail_msg("stage %u, init of root %llx, epoch %llu, flags %u, from %llx: gives way: %d, wanted %d",
				 stage, (unsigned long long)init.root_guid, (unsigned long long)init.epoch, flags,
				 (unsigned long long)init.guid, !want, want);
		ways += want;
		all++;
	}
	assert_true(ways > 100 && all - ways > 100);
	stage_end(&s);
}

/* A later node that asks, and that it could not reach lately: it goes on asking, unless that one leads. */
static void not_reached(void **state)
{
	struct fm_init init;

	(void)state;
	asks_anew();
	init = stage_neighbour(&s, 0);
	init.root_guid = 0xabc;
	init.epoch = 9;
	for (unsigned int asks = 0; asks < 2; asks++) {
		init.asks = asks;
		s.fm->candidate.unreached = 0xabc;
		s.fm->candidate.shuns = s.fm->now;
		assert_true(fm_claim_yields(s.fm, &init));
		s.fm->candidate.shuns = s.fm->now + 1;
		assert_int_equal(fm_claim_yields(s.fm, &init), !asks);
		s.fm->candidate.unreached = 0xabd;
		assert_true(fm_claim_yields(s.fm, &init));
	}
	stage_end(&s);
}

/* --- all that can be reached ------------------------------------------------------------------- */

/*
 * The node has learned fewer dimensions from one that it followed, whose shape is configured wrong.
 * A link of the other dimension leads to a NIC that does not take part: without a majority it does
 * not lead.
 */
static void link_of_another_dimension(void **state)
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
			says(i, &m);
		}
		stage_run_ns(&s, s.now + 2 * RESEND);
		assert_int_equal(state_of(), FM_ROOT_ASKS);
		m = hello(3);
		says(3, &m);
		stage_run_ns(&s, s.now + RESEND);
		assert_int_equal(state_of(), FM_ROOT_LEADS);
		stage_end(&s);
	}
}

/* --- whose words count ----------------------------------------------------------------------- */

/* Node 1 or 2 has table 10 of root 0xabc, in which three nodes are up. Node 3 is away. */
static struct fm_msg of_three(uint32_t i)
{
	struct fm_msg m = with_table(i, 0xabc);

	m.hello.version = m.hello.table = 10;
	m.hello.ups = 3;
	return m;
}

/* Nodes 1 and 2 say that to a node that asks. Return: true if it claims: these two are enough. */
static bool enough(struct fm_msg *one, struct fm_msg *two)
{
	bool is;

	asks_anew();
	says(1, one);
	says(2, two);
	stage_run_ns(&s, s.now + MS);
	is = state_of() != FM_ROOT_ASKS;
	stage_end(&s);
	return is;
}

/* Those count that are up in the same table, and in each of its voters. */
static void of_the_same_table(void **state)
{
	struct fm_msg one = of_three(1), two = of_three(2);

	(void)state;
	assert_true(enough(&one, &two));
	two.hello.counted = false;
	assert_false(enough(&one, &two));
	two = of_three(2);
	two.hello.table_root = 0xabb;	/* of another part */
	assert_false(enough(&one, &two));
	two = of_three(2);
	two.hello.term = 40;
	assert_false(enough(&one, &two));
	for (unsigned int votes = 0; votes < 4; votes++) {
		two = of_three(2);
		one.hello.voters.n = two.hello.voters.n = 1;
		one.hello.voters.set[0] = two.hello.voters.set[0] = (struct fm_set) { 3, 0xabb };
		one.hello.votes = votes & 1;
		two.hello.votes = votes >> 1;
		assert_int_equal(enough(&one, &two), votes == 3);
	}
}

/*
 * The manager of node 2 began anew. By the table that node 1 sends it was up, unless its NIC has rows of a
 * later table, or may have, or is in another life.
 */
static void of_one_that_began_anew(void **state)
{
	static const struct {
		uint64_t rows, term;
		uint32_t node, life;
		bool maker, counts;
	} is[] = {
		{ 10, 41, 2, 1, false, true },
		{ 9, 41, 2, 1, false, true },
		{ 11, 41, 2, 1, false, false },
		{ 1, 42, 2, 1, false, false },
		{ 10, 0, 2, 1, false, false },
		{ 10, 41, 2, 2, false, false },
		{ 10, 41, 9, 1, false, false },	/* the table does not have it */
		/* That it made the table counts only as long as nobody has that. */
		{ 10, 41, 2, 1, true, true },
		{ 10, 41, 2, 2, true, false },
	};
	struct fm_entry entry[4];

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		uint64_t maker = is[i].maker ? NIC + 2 : 0xabc;
		struct fm_msg one = of_three(1), two = hello(is[i].node), table;

		asks_anew();
		one.hello.table_root = maker;
		one.hello.ups = 4;	/* this node, which is new, was there, too */
		says(1, &one);
		table = stage_table(&s, 10, entry);
		table.table.term = 41;
		table.table.former = true;
		table.table.maker = maker;
		stage_msg(&s, 101, &table);
		two.hello.placed = true;
		two.hello.shape = s.shape;
		two.hello.coords.c[0] = 2;
		two.hello.row = stage_row(&s, 2);
		two.hello.version = is[i].rows;
		two.hello.rows_term = is[i].term;
		two.hello.epoch = is[i].life;
		says(is[i].node, &two);
		stage_run_ns(&s, s.now + MS);
		if ((state_of() != FM_ROOT_ASKS) != is[i].counts)
			fail_msg("case %zu: not %d", i, is[i].counts);
		stage_end(&s);
	}
}

/* --- promises of a former claim --------------------------------------------------------------- */

/* A node says that its NIC obeys that root, by order of this claim or of another. */
static void obeys(uint32_t i, uint64_t epoch, uint64_t root)
{
	struct fm_msg m = hello(i);

	m.hello.root_epoch = epoch;
	m.hello.root_guid = root;
	says(i, &m);
	stage_run_ns(&s, s.now + MS);
}

/*
 * Two nodes have promised to obey it when a third is found that obeys a later epoch. The claim
 * that follows is in an epoch which those two have not promised: they do not count.
 */
static void promised_before(void **state)
{
	(void)state;
	asks_anew();
	s.stubborn = true;
	all_say_hello();
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
		cmocka_unit_test(no_promise),
		cmocka_unit_test(hello_is_late),
		cmocka_unit_test(not_broken_off),
		cmocka_unit_test(promised_before),
		cmocka_unit_test(says_the_latest_epoch),
		cmocka_unit_test(fetches_the_latest),
		cmocka_unit_test(place_of_the_latest),
		cmocka_unit_test(older_words),
		cmocka_unit_test(table_comes_late),
		cmocka_unit_test(place_of_one_that_waits),
		cmocka_unit_test(why),
		cmocka_unit_test(to_whom),
		cmocka_unit_test(not_reached),
		cmocka_unit_test(link_of_another_dimension),
		cmocka_unit_test(of_the_same_table),
		cmocka_unit_test(of_one_that_began_anew),
	};

	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
