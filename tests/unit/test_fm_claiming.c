// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a node becomes root, by itself: random checks of a claim at chosen times, beside a model of
 * its stages; and all combinations of what decides about a HELLO, an Init of a neighbour, and
 * whether a root gives way. Stubs in this test stand for the functions of the manager that the file
 * calls.
 */
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "tests/unit/claiming.h"

static void start(void)
{
	if (root.asking)
		fm_claim_free(&root);
	memset(&root, 0, sizeof(root));
	memset(&seen, 0, sizeof(seen));
	memset(record, 0, sizeof(record));
	memset(conn, 0, sizeof(conn));
	memset(here, 0, sizeof(here));
	memset(&fm.led, 0, sizeof(fm.led));
	memset(&fm.kept, 0, sizeof(fm.kept));
	assert_true(fm_claim_new(&root));
	enough = above = arbiter_waits = arbiter_ends = false;
	own = knows = obeys_later = shuns = retries = handed = relieves = named = false;
	obeys = arbiter_lets = true;
	conns = CONNS;
	lag = count_here = count_need = 0;
	latest = 3;
	credible = 1000;
	answer.high = 0;
	fm.now = 5000 * MS;
	fm.term = fm.root_epoch = 2;
	fm.ndims = 1;
	root.shape = (struct torus_shape) { .ndims = 1, .size = { RECORDS, 1, 1, 1, 1, 1 } };
	for (uint32_t i = 0; i < RECORDS; i++) {
		record[i] = (struct fm_record) { .guid = SELF + i, .node = i, .row.nports = 3 };
		for (unsigned int p = 0; p < 2; p++) {
			record[i].row.port[p].state = FM_PORT_UP;
			record[i].row.port[p].peer_guid = SELF + (i + (p ? 3 : 1)) % RECORDS;
		}
	}
}

/* --- checks of a claim ---------------------------------------------------------------- */

static void compare(struct rnd *r)
{
	uint32_t n, need;

	fm_claim_count(&root, &n, &need);
	expect(r, root.stage == w.stage && root.ending == w.ending, "stage %u", root.stage);
	expect(r, fm_claim_expiry(&fm) == w.at, "stage %u", w.stage);
	expect(r, fm_claim_leads(&fm) == (w.stage == FM_STAGE_LEADS), "stage %u", w.stage);
	expect(r, root.since == w.since && root.begun == w.begun && root.high == w.high,
	       "stage %u", w.stage);
	expect(r, fm.term == w.term && fm.root_epoch == w.epoch && root.anew == w.anew,
	       "stage %u", w.stage);
	expect(r, n == w.here && need == w.need, "stage %u", w.stage);
	expect(r, seen.spread == w.spread && seen.asked == w.asked && seen.few == w.few,
	       "stage %u", w.stage);
	expect(r, seen.unfit == w.unfit && seen.sent == w.sent && seen.raised == w.raised,
	       "stage %u", w.stage);
	expect(r, seen.led == w.led && seen.begun == w.led && seen.news == w.led &&
	       seen.adrift == w.led && seen.missing == w.missing, "stage %u", w.stage);
}

static void change(struct rnd *r)
{
	uint32_t i = rnd_below(r, RECORDS);
	struct fm_record *m = &record[i];

	switch (rnd_below(r, 8)) {
	case 0:
		here[i] = !rnd_one_in(r, 3);
		break;
	case 1:
		m->row.port[rnd_below(r, 2)].state = (uint8_t)rnd_below(r, 2);
		m->row.serial++;
		break;
	case 2:
		m->row.port[2].state = rnd_one_in(r, 3) ? FM_PORT_UP : FM_PORT_DOWN;
		m->row.port[2].peer_guid = rnd_one_in(r, 2) ? 0 : SELF + 9;
		m->row.serial++;
		break;
	case 3:
		enough = rnd_one_in(r, 5);
		arbiter_waits = rnd_one_in(r, 4);
		arbiter_lets = rnd_one_in(r, 2);
		arbiter_ends = rnd_one_in(r, 2);
		break;
	case 4:
		count_here = rnd_below(r, 4);
		count_need = rnd_below(r, 3);
		m->priority = (uint16_t)rnd_below(r, 2);
		break;
	case 5:
		obeys = !rnd_one_in(r, 4);
		lag = rnd_one_in(r, 2) ? 0 : MS;
		answer.high = rnd_below(r, 30);
		credible = 20;
		break;
	case 6:
		m->via = rnd_one_in(r, 2) ? 0 : SELF;
		m->missing = rnd_below(r, 2);
		conn[rnd_below(r, CONNS)] = (struct fm_conn) {
			.role = rnd_one_in(r, 2) ? FM_CONN_STRANGER : FM_CONN_CHILD,
			.waits = rnd_below(r, 2) };
		break;
	case 7:
		root.high = w.high = later(w.high, rnd_below(r, 12));
		fm.ndims = rnd_below(r, 2);
		break;
	}
}

static void advance(struct rnd *r)
{
	const uint64_t at[] = {
		w.at, w.at, w.at, w.apart + MEMBER_MAX + lag, w.begun + ASK_MAX + lag,
		w.grew + ASK_MAX / 2 + lag, later(w.since, w.grew) + 10 * RESEND + lag,
		w.around, w.begun + ASK_MAX + 13 * RESEND,
	};
	uint64_t to = at[rnd_below(r, sizeof(at) / sizeof(at[0]))] - rnd_one_in(r, 4);

	if (to > fm.now && to < fm.now + 100 * SEC)
		fm.now = to;
}

static void claim(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	start();
	here[0] = true;
	fm.led.guid = rnd_one_in(&r, 2) ? 0 : SELF + rnd_below(&r, 2);
	fm_claim_begin(&fm, false);
	w = (struct model) { .at = fm.now, .apart = NEVER, .begun = fm.now, .since = fm.now,
			     .high = 3, .term = 2, .epoch = 2 };
	for (unsigned int k = 0; k < 100 && w.stage != FM_STAGE_LEADS && !w.ending; k++) {
		for (uint32_t n = rnd_below(&r, 3); n--;)
			change(&r);
		advance(&r);
		if (rnd_one_in(&r, 6)) {
			fm_claim_look(&fm);
			w.at = earlier(w.at, fm.now + MS / 2);
		}
		absent = 0;
		for (uint32_t i = 1; i < RECORDS; i++)
			absent += !record[i].via && !record[i].missing;
		fm_claim_due(&fm);
		check();
		compare(&r);
	}
}

static void random_checks_lead_to_stages_of_model(void **state)
{
	(void)state;
	for_seeds(300, claim);
}

/* Makes this node ask, and check once whether it may claim. */
static void asks_for_once(void)
{
	start();
	here[0] = true;
	fm_claim_begin(&fm, false);
	fm_claim_due(&fm);
	assert_int_equal(root.stage, FM_STAGE_ASKS);
}

/* Two nodes, of whose four places two are empty, with a cable between them and no other. */
static void cut_off(void)
{
	start();
	for (uint32_t i = 0; i < 2; i++) {
		here[i] = true;
		record[i].row.port[i ? 0 : 1].state = FM_PORT_DOWN;
		record[i].row.port[2].state = FM_PORT_UP;	/* of a cable to no manager */
	}
	lag = MS;
	count_need = 3;
	fm_claim_begin(&fm, false);
	fm_claim_due(&fm);
}

static bool claims_at(uint64_t at)
{
	fm.now = at;
	fm_claim_look(&fm);
	fm.now += MS;
	fm_claim_due(&fm);
	return root.stage != FM_STAGE_ASKS;
}

static void part_that_is_cut_off_claims_after_member_max_without_change(void **state)
{
	uint64_t end = 5000 * MS + MEMBER_MAX + MS;

	(void)state;
	cut_off();
	assert_int_equal(root.stage, FM_STAGE_ASKS);
	assert_false(claims_at(end - MS - 1));
	assert_true(claims_at(end - MS));
	for (uint32_t i = 0; i < RECORDS; i++) {	/* a port of any node changes */
		cut_off();
		record[i].row.serial++;
		assert_false(claims_at(end - 500 * MS - MS));
		assert_false(claims_at(end));
		assert_false(claims_at(end + 500 * MS - MS - 1));
		assert_true(claims_at(end + 500 * MS));
	}
	cut_off();
	here[2] = true;		/* all places but one are taken; then all */
	record[2].row.port[0].state = record[2].row.port[1].state = FM_PORT_DOWN;
	record[1].row.port[0].state = FM_PORT_DOWN;
	assert_false(claims_at(5010 * MS));
	here[3] = true;
	record[3].row.port[0].state = record[3].row.port[1].state = FM_PORT_DOWN;
	assert_true(claims_at(5020 * MS));
	cut_off();
	count_need = 0;		/* there is nothing to lose */
	assert_true(claims_at(5010 * MS));
}

/* All ports that the fabric uses are up, so no node is missing. */
static void part_with_all_its_ports_up_does_not_wait(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		cut_off();
		for (uint32_t i = 0; i < 2; i++) {
			record[i].row.nports = k == 3 ? 1 : 3;
			record[i].row.port[0].state = record[i].row.port[1].state = FM_PORT_UP;
			record[i].row.port[0].peer_guid = SELF + !i;
			record[i].row.port[1].peer_guid = SELF + !i;
			record[i].row.port[2].state = FM_PORT_DOWN;
		}
		if (k == 1)
			record[1].row.port[1].state = FM_PORT_DOWN;
		fm.ndims = k == 2 ? 0 : 1;	/* the number of ports is not known */
		assert_int_equal(claims_at(5010 * MS), k == 0 || k == 3);
	}
}

static void node_gives_way_to_other_candidate_after_its_turn(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		asks_for_once();
		here[1] = k != 1;
		record[1].priority = k != 2;
		assert_false(claims_at(5000 * MS + ASK_MAX));
		assert_int_equal(seen.asked, 1);
		assert_int_equal(root.ending, FM_ENDS_NOT);
		claims_at(5000 * MS + ASK_MAX + 13 * RESEND - MS - 1);
		assert_int_equal(root.ending, FM_ENDS_NOT);
		claims_at(5000 * MS + ASK_MAX + 13 * RESEND - MS);
		assert_int_equal(root.ending, k ? FM_ENDS_NOT : FM_ENDS_ALONE);
	}
}

/* --- HELLO ------------------------------------------------------------------------------ */

/* Makes this node a root that leads: the first one, or after a claim. */
static void leads(bool first)
{
	start();
	here[0] = enough = true;
	fm_claim_begin(&fm, first);
	while (root.stage != FM_STAGE_LEADS) {
		fm.now = fm_claim_expiry(&fm);
		fm_claim_due(&fm);
	}
	memset(&seen, 0, sizeof(seen));
}

/* Bits of @k: the first root, above, rows, kept, obeys, promised, and whether it only asks. */
static void hello(unsigned int k)
{
	bool asks = k & 64, first = k & 1, history = k & 4, kept = k & 8, joins;
	struct fm_hello h = { .placed = history, .version = history, .kept_term = kept,
			      .epoch = 5, .root_epoch = 6 };
	struct fm_conn *c = &conn[0];
	bool is, welcome;

	leads(first);
	root.stage = asks ? FM_STAGE_ASKS : root.stage;
	conns = 150;
	above = k & 2;
	obeys = k & 16;
	if (k & 32)
		h.root_epoch = fm.term;
	record[1].epoch = k & 128 ? 4 : 5;
	record[2].via = SELF;
	record[1].stated.claimed = 0;
	is = !asks && above && !(first && history);
	joins = !asks && !is && first && !history && !kept;
	welcome = is && obeys && (k & 32);
	assert_int_equal(fm_claim_hello(&fm, c, &record[1], &h), welcome);
	assert_int_equal(record[1].stated.received, fm.now);
	assert_int_equal(seen.noted, 1);
	assert_int_equal(seen.joined, 1);
	assert_int_equal(seen.forgot, k & 128 ? 11 : 0);
	assert_int_equal(seen.hellos, !asks);
	assert_int_equal(root.high, later(later(3, h.root_epoch), kept));
	assert_int_equal(root.anew, !asks && !is && !joins);
	assert_int_equal(seen.raised, joins);
	assert_int_equal(seen.dropped, joins);
	assert_int_equal(seen.missing, joins);
	assert_int_equal(root.knows, joins);
	assert_int_equal(c->waits, asks || (is && obeys && !(k & 32)));
	assert_int_equal(seen.sent, c->waits);
	assert_int_equal(record[1].stated.claimed, c->waits && is ? fm.term : 0);
	assert_int_equal(record[1].stated.again, c->waits ? 150 * MS : 0);
	if (!c->waits)
		return;
	assert_int_equal(seen.claim.guid, SELF);
	assert_int_equal(seen.claim.epoch, asks ? 0 : fm.term);
	assert_int_equal(seen.claim.again_ms, asks ? 150 : 0);
}

static void hello_is_welcomed_claimed_or_makes_root_ask_anew(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 256; k++)
		hello(k);
}

/* Bits of @k: a place, rows, a kept table, and whether this root has made a table. */
static void first_root_asks_anew_only_if_there_is_something_to_lose(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 16; k++) {
		struct fm_hello h = { .placed = k & 1, .version = !!(k & 2), .kept = !!(k & 4),
				      .epoch = 5, .root_epoch = 6 };
		bool anew = (k & 3) == 3 || k & 12;

		leads(true);
		root.settled = k & 8;
		assert_false(fm_claim_hello(&fm, &conn[0], &record[1], &h));
		assert_int_equal(root.anew, anew);
		assert_int_equal(seen.raised, !anew);
		assert_int_equal(seen.forgot, 0);	/* the node was not known before */
	}
}

static void claim_tells_numbers_and_reaches_all_nodes(void **state)
{
	struct fm_hello h = { .guid = SELF + 1 };

	(void)state;
	asks_for_once();
	count_here = 2;
	count_need = 5;
	fm.now += RESEND;
	fm_claim_due(&fm);
	fm_claim_hello(&fm, &conn[0], &record[1], &h);
	assert_int_equal(seen.claim.here, 2);
	assert_int_equal(seen.claim.need, 5);
	assert_int_equal(fm_claim_expiry(&fm), fm.now + MS / 2);
	enough = true;
	arbiter_lets = false;
	for (unsigned int i = 0; i < 2; i++, fm_claim_due(&fm))
		fm.now += RESEND;
	assert_int_equal(root.stage, FM_STAGE_CLAIMS);
	for (uint32_t i = 0; i < RECORDS; i++)
		assert_int_equal(record[i].stated.claimed, i ? fm.term : 0);
}

static void hello_is_wanted_between_resend_and_keepalive(void **state)
{
	struct fm_hello h = { .guid = SELF + 1 };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		start();
		fm_claim_begin(&fm, false);
		here[1] = true;
		conns = k == 0 ? 3 : k == 1 ? 200 : 1000;
		assert_false(fm_claim_hello(&fm, &conn[0], &record[1], &h));
		assert_int_equal(seen.joined, 0);
		assert_int_equal(seen.claim.again_ms, k == 0 ? 100 : k == 1 ? 200 : 300);
	}
}

/* --- Inits of neighbours ---------------------------------------------------------------- */

static void later_root_in_init_is_noted_or_makes_root_ask_anew(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 64 * 3; k++) {
		uint64_t epoch = 8 + k / 64 - 1;
		bool self = k & 1, lost = k & 2, asks = k & 4, first = k & 8, led = k & 16;
		struct fm_init init = { .guid = SELF + 1, .root_guid = self ? SELF : SELF + 2,
					.lost = lost, .asks = asks, .epoch = epoch };
		bool news, anew;

		if (led || first) {
			leads(first);
		} else {
			asks_for_once();
		}
		fm.term = fm.root_epoch = 8;
		root.high = 8;
		knows = k & 32;
		fm_claim_history(&fm, &init);
		news = self ? epoch > 8 : lost || asks;
		anew = news && (first ? epoch >= 8 : led && epoch > 8 && !knows);
		assert_int_equal(root.anew, anew);
		assert_int_equal(root.high, anew || (news && !led && !first && lost && epoch > 8) ?
				 epoch : 8);
		assert_int_equal(fm_claim_expiry(&fm),
				 led || first ? NEVER :
				 news && lost && epoch > 8 ? fm.now + MS / 2 : fm.now + RESEND);
	}
	leads(false);
	fm_claim_history(&fm, &(struct fm_init) { .guid = SELF + 1, .lost = true,
			 .epoch = fm.term + FM_EPOCH_STEP + 1 });
	assert_false(root.anew);
	fm_claim_history(&fm, &(struct fm_init) { .guid = SELF + 1, .lost = true,
			 .epoch = fm.term + FM_EPOCH_STEP });
	assert_true(root.anew);
}

/* The root of a part of the fabric leads a neighbour, but cannot be reached. */
static void claim_is_above_root_beside_this_part(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 16; k++) {
		bool counts = k == 8;

		start();
		fm_claim_begin(&fm, false);
		own = k & 8;
		fm_claim_history(&fm, &(struct fm_init) { .epoch = 40, .lost = k & 1, .asks = k & 2,
				 .root_guid = k & 4 ? SELF : SELF + 2 });
		fm_claim_history(&fm, &(struct fm_init) { .epoch = 30, .root_guid = SELF + 2 });
		enough = true;
		root.high = 3;
		fm_claim_due(&fm);
		assert_int_equal(fm.term, counts ? 41 : own ? 31 : 4);
	}
}

/* --- what begins and ends --------------------------------------------------------------- */

static void root_that_leads_gives_way_as_rules_say(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 256 * 3; k++) {
		uint64_t epoch = 8 + k / 256 - 1;
		bool won = k & 1, settled = k & 2, single = k & 4, here_leads = k & 8;
		struct fm_init init = { .guid = SELF + 1, .root_guid = SELF - 1 + 2 * !!(k & 16),
					.settled = k & 32, .lost = !here_leads && k & 64,
					.asks = !here_leads && !(k & 64), .epoch = epoch };
		bool is_later = epoch > 8 || (epoch == 8 && (k & 16)), yields;

		leads(!won);
		fm.root_epoch = 8;
		own = knows = k & 128;
		root.settled = settled;
		root.joiners = single ? 1 : 2;
		if (!settled)
			yields = own && (is_later || (init.settled && !won));
		else
			yields = (is_later && knows) ||
				 (single && (epoch > 8 || (epoch == 8 && init.settled)) &&
				  (is_later || (!knows && init.guid != init.root_guid)));
		assert_int_equal(fm_claim_yields(&fm, &init), here_leads && yields);
		init.root_guid = SELF;
		assert_false(fm_claim_yields(&fm, &init));
	}
}

static void node_that_asks_gives_way_as_rules_say(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 1024 * 3; k++) {
		uint64_t epoch = 8 + k / 1024 - 1;
		bool leading = k & 1, lost = k & 2, fails = k & 4, before = k & 8;
		struct fm_init init = { .guid = SELF + 1, .root_guid = SELF - 1 + 2 * !!(k & 16),
					.lost = !leading && lost, .asks = !leading,
					.epoch = epoch };
		bool is_later = epoch > 8 || (epoch == 8 && (k & 16)), claims = k & 256, yields;

		asks_for_once();
		if (claims)
			root.stage = FM_STAGE_CLAIMS;
		fm.root_epoch = 8;
		own = k & 32;
		obeys_later = k & 512;
		shuns = k & 64;
		retries = k & 128;
		fm.now += ASK_MAX - !fails;
		fm.led.guid = before ? init.root_guid : SELF + 3;
		fm.led.epoch = 8;
		if (leading)	/* but not to the root that was lost, in the same epoch */
			yields = !(before && epoch <= 8) &&
				 (claims ? is_later && own :
				  fails || (epoch >= 8 && own && !obeys_later));
		else
			yields = !lost && is_later && (!shuns || retries);
		assert_int_equal(fm_claim_yields(&fm, &init), yields);
	}
}

static void reason_names_former_root_and_how_it_ended(void **state)
{
	static const char *const texts[] = {
		"root restarted", "root asked all nodes anew", "root 'old' lost",
		"root moved from 'old'", "root 'old' handed over: its NIC fails",
		"root '0000000000000067' lost", "first root",
	};

	(void)state;
	for (unsigned int k = 0; k < 7; k++) {
		start();
		here[0] = enough = true;
		handed = k == 3 || k == 4;
		relieves = k == 4;
		named = k != 5;
		root.former.root = k < 2 ? SELF : SELF + 3;
		root.former.table = 5;
		fm_claim_begin(&fm, k == 6);
		if (k == 1)
			fm_claim_again(&fm, 9, 77);
		for (unsigned int i = 0; i < 3 && root.stage != FM_STAGE_LEADS; i++) {
			fm.now += RESEND;
			fm_claim_due(&fm);
		}
		assert_string_equal(fm_claim_why(&root), texts[k]);
	}
}

static void asking_anew_keeps_epoch_and_time(void **state)
{
	(void)state;
	start();
	fm_claim_begin(&fm, false);
	fm_claim_again(&fm, 9, 77);
	assert_true(root.high == 9 && root.begun == 77 && fm.root_epoch == 9);
	fm_claim_again(&fm, 5, 78);
	assert_true(root.high == 9 && root.begun == 78 && fm.root_epoch == 9);
	fm.now += 7;
	fm_claim_anew(&fm, 12);		/* while it asks it goes on */
	assert_true(root.high == 12 && root.begun == fm.now && root.since == fm.now);
	assert_true(fm_claim_expiry(&fm) == fm.now && !root.anew);
	record[3].via = SELF;
	fm_claim_anew(&fm, 4);
	assert_true(root.high == 12 && root.anew && root.stage == FM_STAGE_ASKS);
	leads(false);
	fm_claim_anew(&fm, 50);
	assert_true(root.high == 50 && root.anew && root.stage == FM_STAGE_LEADS);
}

/* A root that leads at once does not wait; one that asks begins above its NIC and its disk. */
static void beginning_announces_first_root_or_request(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		bool first = k & 1;

		start();
		fm.kept.term = k & 2 ? 7 : 1;
		fm.root_lost = true;
		fm.root_asks = first;
		fm.root_epoch = 1;
		fm_claim_begin(&fm, first);
		assert_int_equal(root.high, k & 2 ? 7 : 3);
		assert_int_equal(fm.root_asks, !first);
		assert_false(fm.root_lost);
		assert_int_equal(fm.root_epoch, 2);
		assert_int_equal(seen.calls, first ? 10 : 1);
		assert_int_equal(seen.adrift, first);
		assert_true(root.since == fm.now && root.begun == fm.now);
		fm_claim_look(&fm);
		assert_int_equal(fm_claim_expiry(&fm), first ? NEVER : fm.now);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_checks_lead_to_stages_of_model),
		cmocka_unit_test(part_that_is_cut_off_claims_after_member_max_without_change),
		cmocka_unit_test(part_with_all_its_ports_up_does_not_wait),
		cmocka_unit_test(node_gives_way_to_other_candidate_after_its_turn),
		cmocka_unit_test(hello_is_welcomed_claimed_or_makes_root_ask_anew),
		cmocka_unit_test(first_root_asks_anew_only_if_there_is_something_to_lose),
		cmocka_unit_test(claim_tells_numbers_and_reaches_all_nodes),
		cmocka_unit_test(hello_is_wanted_between_resend_and_keepalive),
		cmocka_unit_test(later_root_in_init_is_noted_or_makes_root_ask_anew),
		cmocka_unit_test(claim_is_above_root_beside_this_part),
		cmocka_unit_test(root_that_leads_gives_way_as_rules_say),
		cmocka_unit_test(node_that_asks_gives_way_as_rules_say),
		cmocka_unit_test(reason_names_former_root_and_how_it_ended),
		cmocka_unit_test(asking_anew_keeps_epoch_and_time),
		cmocka_unit_test(beginning_announces_first_root_or_request),
	};

	return cmocka_run_group_tests_name("fm_claiming", all, NULL, NULL);
}
