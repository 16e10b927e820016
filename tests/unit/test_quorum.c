// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quorums of a root, compared with sets that the test keeps itself: for random tables of one root,
 * the voters that each table has, and which nodes suffice to continue; and the needs of a claim.
 */
#include "tests/unit/seeds.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/root/recall.h"
#include "stage_quorum.h"

#define VERSIONS 24

/* --- claims ------------------------------------------------------------------------------ */

/*
 * Checks claims with all sets of nodes that may take part, of all tables and voters of four nodes.
 */
static void each_set_of_nodes_claims_as_in_model(void **state)
{
	unsigned int enough = 0;

	(void)state;
	begin();
	r->stage = FM_STAGE_ASKS;
	for (unsigned int c = 0; c < 1u << 12; c++) {
		/* The root itself, node 0, always takes part. */
		unsigned int set[2] = { c & 15, c >> 4 & 15 }, who = c >> 8 | 1;
		bool want;

		for (uint32_t maker = 0; maker < 3; maker++) {
			former(set, 2, NIC + maker);
			if (!(set[0] >> maker & 1) || !(set[1] >> (maker + 1) & 1))
				continue;	/* a root is in its own table */
			for (uint32_t k = 0; k < NODES; k++)
				fm_record_no(r, k)->stated.received = who >> k & 1 ? s.fm->now : 0;
			want = quorum(who, set[0], maker) && quorum(who, set[1], maker + 1);
			assert_int_equal(fm_quorum_claimed(s.fm), want);
			enough += want;
		}
	}
	assert_true(enough > 1000);
	stage_end(&s);
}

/* Reports of a node about another table, of the same version in another epoch, do not count. */
static void only_reports_of_latest_table_count(void **state)
{
	const unsigned int set[1] = { 7 };

	(void)state;
	begin();
	former(set, 1, CLAIMED);
	r->stage = FM_STAGE_ASKS;
	assert_true(fm_quorum_claimed(s.fm));
	/*
	 * A table with the same epoch and version, but made by the root of another part, does not
	 * count either.
	 */
	fm_record_no(r, 1)->stated.root = fm_record_no(r, 2)->stated.root = CLAIMED + 1;
	assert_false(fm_quorum_claimed(s.fm));
	fm_record_no(r, 1)->stated.root = fm_record_no(r, 2)->stated.root = CLAIMED;
	assert_true(fm_quorum_claimed(s.fm));
	fm_record_no(r, 1)->stated.term = fm_record_no(r, 2)->stated.term = 8;
	assert_false(fm_quorum_claimed(s.fm));
	/* The node that made the table was up in it, whichever table its manager has now. */
	r->former.root = NIC + 1;
	assert_true(fm_quorum_claimed(s.fm));
	/* That node was also up in each of the voters that it made. */
	former((const unsigned int[]) { 7, 7, 7 }, 3, NIC);
	fm_record_no(r, 1)->stated.term = 8;
	fm_record_no(r, 2)->stated.received = 0;
	assert_false(fm_quorum_claimed(s.fm));
	r->former.root = r->former.voters.set[0].maker = NIC + 1;
	assert_false(fm_quorum_claimed(s.fm));
	r->former.voters.set[1].maker = NIC + 1;
	assert_true(fm_quorum_claimed(s.fm));
	stage_end(&s);
}

/* A node takes part for five times resend after HELLO; once the root claims, if it obeys in that epoch. */
static void node_takes_part_for_5_resends_after_hello(void **state)
{
	struct fm_record *m;

	(void)state;
	begin();
	m = fm_record_no(r, 1);
	r->stage = FM_STAGE_ASKS;
	s.fm->now = m->stated.received + 5 * s.cfg.resend - 1;
	assert_true(fm_quorum_here(s.fm, m));
	s.fm->now++;
	assert_false(fm_quorum_here(s.fm, m));
	assert_true(fm_quorum_here(s.fm, fm_record_no(r, 0)));
	/* Soon after the host has started, one that has said nothing does not. */
	s.fm->now = s.cfg.resend;
	m->stated.received = 0;
	assert_false(fm_quorum_here(s.fm, m));
	r->stage = FM_STAGE_CLAIMS;
	m->via = NIC;
	m->stated.claimed = s.fm->term - 1;
	assert_false(fm_quorum_here(s.fm, m));
	m->stated.claimed++;
	assert_true(fm_quorum_here(s.fm, m));
	m->via = 0;
	assert_false(fm_quorum_here(s.fm, m));
	stage_end(&s);
}

/* With a table that a node knows to have come into force, a claim needs no quorum of its voters. */
static void voters_of_a_table_in_force_are_not_asked(void **state)
{
	uint32_t here, need;

	(void)state;
	begin();
	former((const unsigned int[]) { 7, ALL }, 2, CLAIMED);
	r->stage = FM_STAGE_ASKS;
	for (uint32_t k = 0; k < NODES; k++)
		fm_record_no(r, k)->stated.received = k < 2 ? s.fm->now : 0;
	assert_false(fm_quorum_claimed(s.fm));
	r->former.in_force = true;
	assert_true(fm_quorum_claimed(s.fm));
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 2);
	assert_int_equal(need, 2);
	fm_record_no(r, 1)->stated.received = 0;
	assert_false(fm_quorum_claimed(s.fm));
	stage_end(&s);
}

/* The command `root` shows the set of which most nodes are missing. */
static void root_command_shows_quorum_that_lacks_most_nodes(void **state)
{
	const unsigned int set[3] = { 1, ALL, 3 };
	uint32_t here, need;

	(void)state;
	begin();
	former(set, 3, NIC);
	r->stage = FM_STAGE_ASKS;
	for (uint32_t k = 2; k < NODES; k++)
		fm_record_no(r, k)->stated.received = 0;
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 2);
	assert_int_equal(need, 4);
	r->former.voters.n = 0;
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 1);
	assert_int_equal(need, 1);
	/* Five of six are there, and none of two. */
	former((const unsigned int[]) { ALL, 0x30 }, 2, NIC + 4);
	for (uint32_t k = 0; k < NODES; k++)
		fm_record_no(r, k)->stated.received = k < 4 ? s.fm->now : 0;
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 0);
	assert_int_equal(need, 2);
	/* If two lack as many, it is the first. */
	former((const unsigned int[]) { 3, ALL }, 2, NIC + 4);
	for (uint32_t k = 0; k < NODES; k++)
		fm_record_no(r, k)->stated.received = k != 1 && k < 4 ? s.fm->now : 0;
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 1);
	assert_int_equal(need, 2);
	stage_end(&s);
}

/* A node that knows nothing of voters passes on a table without them. */
static void voters_known_to_most_nodes_are_passed_on(void **state)
{
	struct fm_msg m;

	(void)state;
	begin();
	r->settled = false;
	for (unsigned int i = 0; i < 3; i++) {
		m = hello(i + 1);
		m.hello.placed = true;
		m.hello.shape = s.shape;
		m.hello.term = 9;
		m.hello.table = 4;
		m.hello.table_root = CLAIMED;
		m.hello.ups = 5;
		m.hello.voters.n = i == 1;
		m.hello.voters.set[0] = (struct fm_set) { 6, CLAIMED };
		fm_recall_hello(s.fm, &m.hello);
	}
	assert_int_equal(r->former.ups, 5);
	assert_int_equal(r->former.voters.n, 1);
	assert_int_equal(r->former.voters.set[0].ups, 6);
	/* A later table has its own. */
	m.hello.table = 5;
	m.hello.voters.n = 0;
	fm_recall_hello(s.fm, &m.hello);
	assert_int_equal(r->former.voters.n, 0);
	r->settled = true;
	stage_end(&s);
}

/* The latest table @version of epoch @term, with the nodes of @up and those of @voter as its voters. */
static struct fm_msg sent(struct fm_entry *e, unsigned int up, unsigned int voter)
{
	struct fm_msg m = stage_table(&s, 4, e);

	m.table.term = 9;
	m.table.former = true;
	m.table.voters.n = 1;
	m.table.voters.set[0] = (struct fm_set) { ones(voter), NIC + 7 };
	for (uint32_t k = 0; k < NODES; k++) {
		e[k].epoch = fm_record_no(r, k)->epoch;
		e[k].state = up >> k & 1 ? FM_NODE_UP : FM_NODE_SILENT;
		e[k].differs = (up ^ voter) >> k & 1;
		fm_record_no(r, k)->stated = (struct fm_statements) { .received = s.fm->now, .life = fm_record_no(r, k)->epoch,
						       .rows = 4, .rows_term = 9 };
	}
	return m;
}

/* All managers but one began anew: with the table of that one it is known which nodes vote. */
static void voters_are_known_from_one_surviving_table(void **state)
{
	struct fm_entry e[NODES];
	struct fm_msg m;

	(void)state;
	begin();
	s.fm->table.version = 0;
	r->settled = false;
	r->stage = FM_STAGE_ASKS;
	m = sent(e, 0x1f, 0x3f);
	former((const unsigned int[]) { 0x1f, 0x3f }, 2, CLAIMED);
	for (uint32_t k = 0; k < NODES; k++)
		if (k != 3)
			fm_record_no(r, k)->stated.table = fm_record_no(r, k)->stated.votes = 0;
	assert_false(fm_quorum_claimed(s.fm));
	/* A table other than the one announced belongs to no set. */
	m.table.version = 5;
	fm_recall_sent(s.fm, &m.table);
	m.table.version = 4;
	m.table.term = 8;
	fm_recall_sent(s.fm, &m.table);
	assert_false(fm_recall_has_latest(s.fm));
	m.table.term = 9;
	fm_recall_sent(s.fm, &m.table);
	assert_true(fm_recall_has_latest(s.fm));
	assert_true(fm_quorum_claimed(s.fm));
	/* Three of five, but three of six are not enough. */
	fm_record_no(r, 0)->stated.received = fm_record_no(r, 5)->stated.received = fm_record_no(r, 4)->stated.received = 0;
	fm_record_no(r, 0)->stated.life++;
	assert_false(fm_quorum_claimed(s.fm));
	fm_record_no(r, 5)->stated.received = s.fm->now;
	assert_true(fm_quorum_claimed(s.fm));
	stage_end(&s);
}

/*
 * The root leads before the table comes with which it claimed: then each node votes by that table,
 * the root, too.
 */
static void nodes_vote_by_table_of_claim_once_it_arrives(void **state)
{
	const unsigned int up = 0x1f, voter = 0x3d;
	struct fm_entry e[NODES];
	struct fm_msg m;

	(void)state;
	for (unsigned int later = 0; later < 2; later++) {
		begin();
		s.fm->table.version = 0;
		r->settled = false;
		m = sent(e, up, voter);
		former((const unsigned int[]) { up, voter }, 2, CLAIMED);
		for (uint32_t k = 0; k < NODES; k++)
			fm_record_no(r, k)->stated.table = fm_record_no(r, k)->stated.votes = 0;
		fm_quorum_begin(s.fm);
		assert_true(fm_recall_sent(s.fm, &m.table));
		/* The table is of no use if a node has reported a later one since. */
		r->former.table += later;
		fm_quorum_sent(s.fm);
		for (uint32_t k = 0; k < NODES; k++)
			assert_int_equal(fm_record_no(r, k)->stated.chose,
					 later ? 0 : (up >> k & 1) | (voter >> k & 1) << 1);
		stage_end(&s);
	}
}

/* A node that cannot know whether it has had a later table does not vote by an earlier one. */
static void node_that_may_know_later_table_does_not_vote(void **state)
{
	static const struct { uint64_t rows, term; uint32_t life; bool votes; } was[] = {
		{ 4, 9, 0, true }, { 3, 9, 0, true }, { 99, 8, 0, true }, { 0, 0, 0, true },
		{ 5, 9, 0, false },	/* took the next one of that root, */
		{ 1, 10, 0, false },	/* or one of the next root, */
		{ 3, 0, 0, false },	/* or rows of an unknown source, */
		{ 0, 0, 1, false },	/* or has lost its memory */
	};
	struct fm_entry e[NODES];
	struct fm_msg m;

	(void)state;
	begin();
	s.fm->table.version = 0;
	r->settled = false;
	r->stage = FM_STAGE_ASKS;
	m = sent(e, 7, 7);
	former((const unsigned int[]) { 7, 7 }, 2, CLAIMED);
	for (uint32_t k = 0; k < NODES; k++)
		if (k != 2)
			fm_record_no(r, k)->stated.table = fm_record_no(r, k)->stated.votes = 0;
	fm_recall_sent(s.fm, &m.table);
	fm_record_no(r, 0)->stated.received = 0;
	fm_record_no(r, 0)->stated.life++;
	for (size_t i = 0; i < sizeof(was) / sizeof(was[0]); i++) {
		struct fm_statements *v = &fm_record_no(r, 1)->stated;

		v->rows = was[i].rows;
		v->rows_term = was[i].term;
		v->life = fm_record_no(r, 1)->epoch + was[i].life;
		assert_int_equal(fm_quorum_claimed(s.fm), was[i].votes);
		/*
		 * The same holds for the root that made that table, if the table itself is not
		 * known.
		 */
		fm_recall_forget(r);
		r->former.root = r->former.voters.set[0].maker = fm_record_no(r, 1)->guid;
		assert_int_equal(fm_quorum_claimed(s.fm), was[i].votes && was[i].rows);
		r->former.root = r->former.voters.set[0].maker = CLAIMED;
		fm_recall_sent(s.fm, &m.table);
	}
	stage_end(&s);
}

/* No node has a table: the nodes of the kept table count. */
static void nodes_of_kept_table_vote_if_none_has_a_table(void **state)
{
	struct fm_entry e[NODES];
	struct fm_msg m;
	uint32_t here, need;

	(void)state;
	begin();
	m = stage_table(&s, 7, e);
	m.table.nentries = 5;
	assert_true(fm_keep_take(s.fm, &m.table));
	s.fm->table.version = 0;
	r->restored = true;
	r->shape = s.shape;
	r->stage = FM_STAGE_ASKS;
	for (uint32_t k = 3; k < NODES; k++)
		fm_record_no(r, k)->stated.received = 0;
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 3);
	assert_int_equal(need, 3);
	assert_true(fm_quorum_claimed(s.fm));
	fm_record_no(r, 2)->stated.received = 0;
	assert_false(fm_quorum_claimed(s.fm));
	/* A node that was not there then does not count. */
	fm_record_no(r, 5)->stated.received = s.fm->now;
	assert_false(fm_quorum_claimed(s.fm));
	/* In one that was kept later there is one node alone. */
	m.table.version = 8;
	m.table.nentries = 1;
	assert_true(fm_keep_take(s.fm, &m.table));
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 1);
	assert_int_equal(need, 1);
	assert_true(fm_quorum_claimed(s.fm));
	stage_end(&s);
}

/*
 * No node has a table, and none was kept: more than half of the places must be those of NICs that
 * have rows.
 */
static void majority_of_places_counts_without_any_table(void **state)
{
	uint32_t here, need;

	(void)state;
	begin();
	s.fm->table.version = 0;
	r->stage = FM_STAGE_ASKS;
	for (uint32_t k = 0; k < NODES; k++)
		fm_record_no(r, k)->version = k < 4 ? k + 1 : 0;
	/* This node does not know how many places there are. */
	assert_false(r->restored);
	assert_false(fm_quorum_claimed(s.fm));
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(need, 0);
	r->restored = true;
	r->shape = s.shape;
	assert_true(fm_quorum_claimed(s.fm));
	fm_quorum_count(s.fm, &here, &need);
	assert_int_equal(here, 4);
	assert_int_equal(need, 4);
	fm_record_no(r, 1)->stated.received = 0;
	assert_false(fm_quorum_claimed(s.fm));
	stage_end(&s);
}

/* --- the tables of a root ---------------------------------------------------------------- */

/**
 * struct history - what the root has made
 * @rnd: random numbers, which follow from the seed
 * @claimed: @nclaimed sets
 * @up: of each version; @changed: other nodes are up than before
 * @version, @taken: the last made, and the last taken; 0: none
 * @untaken: those made since in which other nodes are up
 */
struct history {
	struct rnd rnd;
	unsigned int nclaimed, claimed[FM_QUORUM_SETS];
	unsigned int up[VERSIONS + 1];
	bool changed[VERSIONS + 1];
	unsigned int version, taken, untaken;
};

/*
 * Return: true if the node is in the set; one that has been down since does not count in earlier
 * tables.
 */
static bool is_in(const struct history *h, unsigned int v, unsigned int k)
{
	bool down = false;

	for (unsigned int i = v + 1; i <= h->version; i++) {
		if (down && h->up[i] >> k & 1)
			return false;
		down |= !(h->up[i] >> k & 1);
	}
	return h->up[v] >> k & 1;
}

/*
 * Computes what the table @before must have: its sets, how many nodes are in each, and its maker.
 * Return: how many sets.
 */
static unsigned int voters_of(const struct history *h, unsigned int before, unsigned int *mask, struct fm_set *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->nclaimed && !h->taken; i++, n++) {
		mask[n] = h->claimed[i];
		set[n] = (struct fm_set) { ones(h->claimed[i]), CLAIMED + i };
	}
	for (unsigned int v = h->taken ? h->taken : 1; v < before; v++) {
		if (v != h->taken && !h->changed[v])
			continue;
		mask[n] = 0;
		for (unsigned int k = 0; k < NODES; k++)
			mask[n] |= (unsigned int)is_in(h, v, k) << k;
		set[n++] = (struct fm_set) { ones(h->up[v]), NIC };
	}
	return n;
}

/* Makes the next table, in which the nodes of @up are up. */
static void makes(struct history *h, unsigned int up)
{
	unsigned int mask[VERSIONS], n, v = h->version + 1;
	struct fm_set set[VERSIONS];
	struct fm_voters is;
	uint8_t differs[NODES];

	n = voters_of(h, v, mask, set);
	h->version = v;
	h->up[v] = up;
	h->changed[v] = up != h->up[v - 1];
	h->untaken += h->changed[v];
	for (unsigned int k = 0; k < NODES; k++) {
		differs[k] = fm_quorum_differs(s.fm, fm_record_no(r, k), up >> k & 1, v);
		fm_quorum_entry(s.fm, fm_record_no(r, k), up >> k & 1, v);
	}
	fm_quorum_voters(s.fm, v, &is);
	expect(&h->rnd, is.n == (n < FM_VOTERS_MAX ? n : FM_VOTERS_MAX), "%u of %u", is.n, n);
	for (unsigned int i = 0; i < is.n; i++) {
		bool stands_for_more = i == FM_VOTERS_MAX - 1 && n > FM_VOTERS_MAX;

		expect(&h->rnd, is.set[i].ups == (stands_for_more ? FM_VOTERS_ALL : set[i].ups),
		       "table %u, set %u: %u", v, i, is.set[i].ups);
		expect(&h->rnd, is.set[i].maker == set[i].maker, "table %u, set %u", v, i);
		for (unsigned int k = 0; k < NODES; k++)
			expect(&h->rnd, ((differs[k] >> i ^ up >> k) & 1) == (mask[i] >> k & 1),
			       "table %u, set %u, node %u", v, i, k);
	}
}

/* Checks whether the nodes with a connection count as a quorum of all sets that the root needs. */
static void looks(struct history *h, unsigned int who)
{
	unsigned int mask[VERSIONS], n;
	struct fm_set set[VERSIONS];
	bool want = true;

	n = voters_of(h, h->version + 1, mask, set);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t maker = set[i].maker == NIC && mask[i] & who & 1;

		want &= 2 * ones(mask[i] & who) + maker > set[i].ups;
	}
	/* No connection leads to the root itself. */
	for (unsigned int k = 0; k < NODES; k++)
		fm_record_no(r, k)->via = k && who >> k & 1 ? NIC : 0;
	expect(&h->rnd, fm_quorum_look(s.fm) == want, "version %u, nodes %x", h->version, who);
}

static void one_history(uint64_t seed)
{
	struct history h = { .rnd = rnd_new(seed) };
	struct rnd *rnd = &h.rnd;

	begin();
	h.nclaimed = (unsigned int)rnd_below(rnd, 4);
	for (unsigned int i = 0; i < h.nclaimed; i++)
		h.claimed[i] = 1 + (unsigned int)rnd_below(rnd, ALL);
	if (h.nclaimed) {
		former(h.claimed, h.nclaimed, CLAIMED);
		fm_quorum_begin(s.fm);
	}
	while (h.version < VERSIONS - 1) {
		unsigned int up = h.version ? h.up[h.version] : ALL;

		/* The root is up in all of its tables. */
		if (rnd_below(rnd, 3))
			up ^= 1u << (1 + rnd_below(rnd, NODES - 1));
		makes(&h, up);
		looks(&h, 1 | (unsigned int)rnd_below(rnd, ALL + 1));
		if (h.untaken > 10 || !rnd_below(rnd, 3)) {
			fm_quorum_taken(s.fm, h.version);
			h.taken = h.version;
			h.untaken = 0;
			looks(&h, 1 | (unsigned int)rnd_below(rnd, ALL + 1));
		}
	}
	stage_end(&s);
}

static void random_tables_have_quorum_as_in_model(void **state)
{
	(void)state;
	for_seeds(300, one_history);
}

/*
 * The entry of the former root's table for a node that has not joined has the votes of the node in
 * the tables of this root.
 */
static void former_entry_gives_votes_of_absent_node(void **state)
{
	const unsigned int set[2] = { 7, ALL };
	struct fm_entry e = { .state = FM_NODE_DEAD, .differs = 1 };
	struct fm_voters v = { .n = 1 };

	(void)state;
	begin();
	former(set, 2, CLAIMED);
	fm_quorum_begin(s.fm);
	fm_record_no(r, 4)->stated.chose = 0;
	/* The former table was another root's. */
	fm_quorum_former(s.fm, fm_record_no(r, 4), &v, &e);
	assert_int_equal(fm_record_no(r, 4)->stated.chose, 0);
	/* Now this node has the latest table, too. */
	r->former.epoch = s.fm->table.term;
	r->former.table = s.fm->table.version;
	r->former.root = s.fm->table.root_guid;
	fm_quorum_begin(s.fm);
	fm_record_no(r, 4)->stated.chose = 0;
	fm_quorum_former(s.fm, fm_record_no(r, 4), &v, &e);
	assert_int_equal(fm_record_no(r, 4)->stated.chose, 2);
	assert_int_equal(fm_quorum_differs(s.fm, fm_record_no(r, 4), false, 1), 2);
	e = (struct fm_entry) { .state = FM_NODE_UP };
	fm_quorum_former(s.fm, fm_record_no(r, 4), &v, &e);
	assert_int_equal(fm_record_no(r, 4)->stated.chose, 3);
	former(set, 2, CLAIMED);
	fm_quorum_begin(s.fm);
	/*
	 * A node that sends HELLO late counts, too; not any more once a table of this root is
	 * taken.
	 */
	fm_record_no(r, 5)->stated.chose = 0;
	fm_quorum_hello(s.fm, fm_record_no(r, 5));
	assert_int_equal(fm_record_no(r, 5)->stated.chose, 2);
	fm_record_no(r, 5)->stated.chose = 0;
	fm_quorum_taken(s.fm, 1);
	fm_quorum_hello(s.fm, fm_record_no(r, 5));
	assert_int_equal(fm_record_no(r, 5)->stated.chose, 0);
	stage_end(&s);
}

/* The node says HELLO on a new connection; @life changes when its NIC is restarted. */
static void comes_back(uint32_t node, uint32_t life)
{
	struct fm_msg m = hello(node);

	m.hello.epoch = life;
	m.hello.attach += 10;
	stage_up(&s, 200 + (int)node);
	stage_msg(&s, 200 + (int)node, &m);
	stage_run_ns(&s, s.now + MS);
	assert_true(fm_record(s.fm->root, NIC + node)->via);
}

/*
 * NICs of two of four nodes lose their memory, so quickly that no table is made without them. They
 * may have promised another root before that: with them alone this one does not go on without the
 * fourth.
 */
static void nics_that_lost_memory_do_not_count(void **state)
{
	(void)state;
	for (uint32_t life = 1; life < 3; life++) {
		root("4x1");
		for (uint32_t i = 1; i < 4; i++)
			join(i);
		settle(4);
		stage_down(&s, 103);
		comes_back(1, life);
		comes_back(2, life);
		assert_int_equal(fm_quorum_look(s.fm), life == 1);
		comes_back(3, 1);
		assert_true(fm_quorum_look(s.fm));
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_set_of_nodes_claims_as_in_model),
		cmocka_unit_test(only_reports_of_latest_table_count),
		cmocka_unit_test(node_takes_part_for_5_resends_after_hello),
		cmocka_unit_test(voters_of_a_table_in_force_are_not_asked),
		cmocka_unit_test(root_command_shows_quorum_that_lacks_most_nodes),
		cmocka_unit_test(voters_known_to_most_nodes_are_passed_on),
		cmocka_unit_test(voters_are_known_from_one_surviving_table),
		cmocka_unit_test(nodes_vote_by_table_of_claim_once_it_arrives),
		cmocka_unit_test(node_that_may_know_later_table_does_not_vote),
		cmocka_unit_test(nodes_of_kept_table_vote_if_none_has_a_table),
		cmocka_unit_test(majority_of_places_counts_without_any_table),
		cmocka_unit_test(random_tables_have_quorum_as_in_model),
		cmocka_unit_test(former_entry_gives_votes_of_absent_node),
		cmocka_unit_test(nics_that_lost_memory_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
