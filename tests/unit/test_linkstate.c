// SPDX-License-Identifier: GPL-2.0-only
/* States, handshake and timers of two joined links. */
#include "tests/flits.h"
#include "tests/unit/linkpair.h"
#include "lib/util/times.h"

#define UP TORUS_LINK_UP
#define FAULTY TORUS_LINK_FAULTY

static struct pair p;

/* --- failing and probing ------------------------------------------------------- */

static void cut_link_fails_at_both_ends_after_silence(void **state)
{
	(void)state;
	for (int both = 0; both < 2; both++) {
		u64 from;

		pair_start(&p, 1);
		p.end[0].load = p.end[1].load = 0;
		pair_carrier(&p, true);
		pair_up(&p, 100 * MS);
		pair_run(&p, 1000 * MS);
		p.end[0].out.cut = true;
		p.end[1].out.cut = both;
		from = p.now;
		while (p.end[1].link.state == UP)
			pair_run(&p, PAIR_TICK);
		assert_int_equal(p.end[1].reason, TORUS_REASON_SILENCE);
		/* Counted from the last frame received, up to a keep-alive ago. */
		assert_true(p.now - from <= p.end[1].params.silence + MS);
		assert_true(p.now - from >= p.end[1].params.silence -
			    p.end[1].params.keepalive - MS);
		while (p.end[0].link.state == UP)
			pair_run(&p, PAIR_TICK);
		assert_int_equal(p.end[0].reason,
				 both ? TORUS_REASON_SILENCE : TORUS_REASON_PEER);
		assert_true(p.now - from <= p.end[1].params.silence + MS);
		pair_end(&p);
	}
}

/* Idle links stay up, with one frame each way per keep-alive interval. */
static void idle_link_stays_up_with_one_frame_per_interval(void **state)
{
	(void)state;
	pair_start(&p, 1);
	p.end[0].load = p.end[1].load = 0;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 500 * MS);
	for (int i = 0; i < 2; i++)
		p.end[i].out.frames = 0;
	pair_run(&p, 60000 * MS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p.end[i].link.state, UP);
		assert_int_equal(p.end[i].fails, 0);
		assert_in_range(p.end[i].out.frames, 595, 605);
	}
	pair_end(&p);
}

static bool no_data(void *arg, u64 number, const struct frame *f)
{
	struct tn_hdr h;

	(void)arg;
	(void)number;
	tn_hdr_get(f->data, &h);
	return h.type == TN_IDLE || h.type == TN_INIT;
}

/* Keep-alives arrive and packets do not: the link fails by its retry limit. */
static void link_without_progress_fails_by_retry_limit(void **state)
{
	u64 from;

	(void)state;
	pair_start(&p, 1);
	p.limit = 100;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 20 * MS);
	p.limit = 200;
	p.end[0].out.filter = no_data;
	from = p.now;
	while (p.end[0].link.state == UP)
		pair_run(&p, PAIR_TICK);
	assert_int_equal(p.end[0].reason, TORUS_REASON_RETRY);
	assert_true(p.end[0].link.counter[TORUS_PC_RETRIES] >= p.end[0].params.retry_count);
	assert_in_range(p.now - from, p.end[0].params.retry_time,
			2 * p.end[0].params.retry_time);
	pair_run(&p, 5 * MS);
	assert_int_not_equal(p.end[1].link.session, 0);
	assert_true(p.end[1].fails == 1 && p.end[1].reason == TORUS_REASON_PEER);
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

/* A faulty link with carrier probes, and is up soon after the cable is repaired. */
/*
 * Silence ends an idle link much sooner than the interval of INITs and the delay of the line. The
 * handshake waits for its answer all the same, and the link stays up.
 */
static void idle_link_on_long_line_stays_up(void **state)
{
	static const u64 latency[] = { 5 * MS, 60 * MS };

	(void)state;
	for (unsigned int k = 0; k < ARRAY_SIZE(latency); k++) {
		pair_start(&p, 1);
		for (int i = 0; i < 2; i++) {
			p.end[i].params.keepalive = MS;
			p.end[i].params.silence = 3 * MS;
			p.end[i].params.probe_interval = 100 * MS;
			p.end[i].out.latency = latency[k];
			p.end[i].load = 0;
		}
		pair_carrier(&p, true);
		pair_up(&p, 1000 * MS);
		pair_run(&p, 400 * MS);
		assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
		pair_end(&p);
	}
}

static void faulty_link_probes_at_interval_and_comes_up_again(void **state)
{
	u64 probes, took;

	(void)state;
	pair_start(&p, 1);
	p.limit = 500;
	pair_carrier(&p, true);
	pair_run(&p, 20 * MS);
	p.end[0].out.cut = p.end[1].out.cut = true;
	pair_run(&p, 1000 * MS);
	assert_true(pair_both(&p, FAULTY));
	probes = p.end[0].link.counter[TORUS_PC_TX_FRAMES];
	pair_run(&p, 10 * p.end[0].params.probe_interval);
	probes = p.end[0].link.counter[TORUS_PC_TX_FRAMES] - probes;
	assert_in_range(probes, 9, 11);
	p.end[0].out.cut = p.end[1].out.cut = false;
	took = pair_up(&p, 2 * p.end[0].params.probe_interval);
	assert_true(took <= p.end[0].params.probe_interval + p.end[0].params.init_interval);
	assert_int_equal(p.end[0].fails, 1);
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
}

/* --- handshake ---------------------------------------------------------------- */

struct mask {
	u32 bits;	/* bit n: INIT n is lost */
};

/* Loses the INITs of the mask, which counts INITs only. */
static bool inits_by_mask(void *arg, u64 number, const struct frame *f)
{
	struct mask *m = arg;
	struct tn_hdr h;
	bool lost = m->bits & 1;

	(void)number;
	tn_hdr_get(f->data, &h);
	if (h.type != TN_INIT)
		return true;
	m->bits >>= 1;
	return !lost;
}

/* Whichever of the first INITs are lost, both ends are up soon after. */
static void lost_inits_only_delay_link(void **state)
{
	struct mask m[2];
	u64 worst = 0;

	(void)state;
	for (u32 bits = 0; bits < 1 << 8; bits++) {
		u64 took;

		pair_start(&p, 1 + bits);
		for (int i = 0; i < 2; i++) {
			m[i].bits = bits >> 4 * i & 15;
			p.end[i].load = 0;
			p.end[i].out.filter = inits_by_mask;
			p.end[i].out.filter_arg = &m[i];
		}
		pair_carrier(&p, true);
		took = pair_up(&p, 2000 * MS);
		worst = took > worst ? took : worst;
		expect(&p.r, !p.end[0].fails && !p.end[1].fails, "mask %x: %s", bits,
		       pair_text(&p));
		pair_run(&p, 300 * MS);
		expect(&p.r, pair_both(&p, UP) && !p.end[0].fails && !p.end[1].fails,
		       "mask %x: %s", bits, pair_text(&p));
		pair_end(&p);
	}
	print_message("# worst %.1f ms\n", (double)worst / 1e6);
}

static void retrain_one(uint64_t seed)
{
	pair_start(&p, seed);
	p.limit = 4000;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	for (int i = 0; i < 2; i++) {
		p.end[i].params.retrain_time = 2000 * MS;
		p.end[i].out.lose = 10;
		p.end[i].out.damage = 10;
	}
	for (int n = 0; n < 20; n++) {
		pair_run(&p, 1 + rnd_below(&p.r, 5 * MS));
		pair_up(&p, 2000 * MS);
		tn_link_retrain(&p.end[rnd_below(&p.r, 2)].link, p.now);
		if (!rnd_below(&p.r, 3))
			tn_link_retrain(&p.end[rnd_below(&p.r, 2)].link, p.now);
	}
	pair_settle(&p, 3000 * MS);
	expect(&p.r, !p.end[0].fails && !p.end[1].fails, "%s", pair_text(&p));
	expect(&p.r, p.end[0].link.counter[TORUS_PC_RETRAINS] > 1, "retrained");
	pair_end(&p);
}

static void retraining_under_load_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(60, retrain_one);
}

/* Retrainings in quick succession may fail the link, but no packet is lost. */
static void retrain_hasty_one(uint64_t seed)
{
	pair_start(&p, seed);
	end_vary(&p.end[0]);
	end_vary(&p.end[1]);
	p.limit = 2000;
	pair_carrier(&p, true);
	for (int n = 0; n < 30; n++) {
		pair_run(&p, 1 + rnd_below(&p.r, 10 * MS));
		tn_link_retrain(&p.end[rnd_below(&p.r, 2)].link, p.now);
	}
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

static void hasty_retrainings_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(60, retrain_hasty_one);
}

static void retraining_on_cut_cable_gives_up(void **state)
{
	u64 from;

	(void)state;
	pair_start(&p, 1);
	p.limit = 200;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 5 * MS);
	p.end[0].out.cut = p.end[1].out.cut = true;
	tn_link_retrain(&p.end[0].link, p.now);
	assert_int_equal(p.end[0].link.state, TORUS_LINK_RETRAINING);
	from = p.now;
	while (p.end[0].link.state == TORUS_LINK_RETRAINING)
		pair_run(&p, PAIR_TICK);
	assert_int_equal(p.end[0].link.state, FAULTY);
	assert_in_range(p.now - from, p.end[0].params.retrain_time,
			p.end[0].params.retrain_time + MS);
	p.end[0].out.cut = p.end[1].out.cut = false;
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
}

/* The peer's NIC is restarted and has forgotten everything. */
static void restart_one(uint64_t seed)
{
	struct end *a = &p.end[0], *b = &p.end[1];

	pair_start(&p, seed);
	p.limit = 2000;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 1 + rnd_below(&p.r, 20 * MS));
	end_restart(b);
	/* A fabric manager would call the old peer dead; so no packet is replayed. */
	while (a->link.state == UP)
		pair_step(&p);
	expect(&p.r, a->reason == TORUS_REASON_PEER, "reason %u", a->reason);
	a->fails = 1;
	while (a->backlog.head)
		memory_put(&a->mem, tn_queue_pop(&a->backlog));
	a->unresolved = 0;
	memset(a->got, 0, sizeof(a->got));
	memset(a->sent, 0, sizeof(a->sent));
	a->mgmt_sent = a->mgmt_got = 0;
	pair_up(&p, 1000 * MS);
	pair_run(&p, 20 * MS);
	pair_settle(&p, 1000 * MS);
	expect(&p.r, a->sent[0] > 0 && b->sent[0] > 0, "traffic after the restart");
	pair_end(&p);
}

static void link_comes_up_again_after_restart_of_peer(void **state)
{
	(void)state;
	for_seeds(30, restart_one);
}

/* A link whose cable leads to itself never comes up; its reason says so. */
static void looped_cable_never_comes_up(void **state)
{
	struct end *e = &p.end[0];
	struct tn_frame f;

	(void)state;
	pair_start(&p, 1);
	tn_link_carrier(&e->link, true, p.now);
	for (int i = 0; i < 20000; i++) {
		struct frame *in;

		if (tn_link_expiry(&e->link) <= p.now)
			tn_link_poll(&e->link, p.now);
		while (tn_link_tx(&e->link, &f, p.now))
			lane_put(&e->out, &f, p.now);
		while ((in = lane_get(&e->out, p.now))) {
			tn_link_rx(&e->link, &(struct tn_seg) { in->data, (u32)in->len }, 1, in,
				   p.now);
			frame_put(in);
		}
		assert_int_not_equal(e->link.state, UP);
		p.now += PAIR_TICK;
	}
	assert_true(e->link.counter[TORUS_PC_TX_FRAMES] < 20);
	pair_end(&p);
}

/*
 * Found by tests/spin: an IDLE is damaged on a link with nothing to send. Its receiver could not
 * know that nothing is missing, and reported the error for ever.
 */
static void report_of_damaged_idle_packet_ends(void **state)
{
	struct tn_link *l = &p.end[1].link;
	u64 reported;

	(void)state;
	pair_start(&p, 1);
	p.limit = 20;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 50 * MS);
	p.end[0].out.damage = 1;
	while (!l->retry.rx.ignoring)
		pair_run(&p, PAIR_TICK);
	p.end[0].out.damage = 0;
	pair_run(&p, 200 * MS);
	assert_false(l->retry.rx.ignoring);
	reported = l->counter[TORUS_PC_E_SENT];
	pair_run(&p, 1000 * MS);
	assert_int_equal(l->counter[TORUS_PC_E_SENT], reported);
	pair_end(&p);
}

/*
 * An error report that causes no retransmission is repeated in the other generation: perhaps it was
 * received and the retransmission was lost.
 */
static void lost_error_report_is_repeated(void **state)
{
	struct tn_link *a = &p.end[0].link, *b = &p.end[1].link;

	(void)state;
	pair_start(&p, 1);
	p.end[0].load = 20;
	p.end[1].load = 0;		/* no other packet carries the report */
	p.limit = 5000;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 5 * MS);
	p.end[0].out.damage = p.end[1].out.lose = 1;
	while (!b->retry.rx.ignoring)
		pair_run(&p, PAIR_TICK);
	p.end[0].out.damage = 0;
	p.end[0].load = 0;
	pair_run(&p, 4 * MS);		/* and no acknowledgement */
	p.end[1].out.lose = 0;
	assert_true(b->retry.rx.ignoring);
	assert_int_equal(b->counter[TORUS_PC_E_SENT], 1);
	assert_int_equal(a->counter[TORUS_PC_E_RECEIVED], 0);
	pair_run(&p, p.end[1].params.replay_timeout / 2);
	assert_int_equal(b->counter[TORUS_PC_E_SENT], 2);
	assert_int_equal(b->retry.rx.e_gen, 1);
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
}

/* An INIT in the name of end 0, of an attempt that this end will not make for a long time. */
static void forge_init(u32 ahead)
{
	struct tn_link *a = &p.end[0].link, *b = &p.end[1].link;
	u8 flits[(2 + TN_INIT_FLITS) * TN_FLIT] = { 0 };
	struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
	struct tn_tail t = { 0 };
	struct tn_init i = {
		.guid = a->guid, .lowest = TN_WIRE_VERSION, .epoch = a->epoch,
		.nonce = a->nonce + 1, .attempt = b->peer_attempt + ahead,
		.slot_flits = (u16)(tn_packet_max(&p.end[0].params) / TN_FLIT),
		.slots = { 8, 8, 8 }, .port = a->port,
	};

	tn_hdr_put(flits, &h);
	tn_init_put(flits + TN_FLIT, &i);
	t.ecrc = tn_ecrc(flits + TN_FLIT, &h, &t);
	tn_tail_put(flits_tail(flits, h.len), &t);
	flits_seal(flits, h.len, ~0u);
	lane_forge(&p.end[0].out, flits, sizeof(flits), p.now);
}

/* A forged INIT in the peer's name may end a session, but must not keep the link down for good. */
static void forged_init_keeps_link_down_only_for_a_while(void **state)
{
	static const u32 ahead[] = { 1, 1000, 1u << 30 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(ahead); i++) {
		pair_start(&p, 1);
		p.limit = 4;
		pair_carrier(&p, true);
		pair_up(&p, 100 * MS);
		pair_run(&p, 10 * MS);
		p.forged = true;
		forge_init(ahead[i]);
		pair_run(&p, PAIR_TICK);
		assert_int_not_equal(p.end[1].link.state, TORUS_LINK_UP);
		pair_up(&p, 1000 * MS);
		pair_run(&p, 20 * MS);
		assert_true(pair_both(&p, TORUS_LINK_UP));
		pair_end(&p);
	}
}

/* Ends with different packet sizes report this and stay apart until they agree. */
static void ends_with_different_packet_sizes_stay_apart(void **state)
{
	struct tn_link *la = &p.end[0].link, *lb = &p.end[1].link;

	(void)state;
	for (u32 off = TN_FLIT; off <= 1024; off *= 4) {
		u32 size;

		pair_start(&p, 1);
		size = p.end[0].params.payload_max;
		p.end[0].params.payload_max = 2048;
		p.end[1].params.payload_max = 2048 + off;
		p.limit = 500;
		pair_carrier(&p, true);
		pair_run(&p, 300 * MS);
		assert_true(pair_both(&p, TORUS_LINK_INIT));
		assert_int_equal(la->reason, TORUS_REASON_MISMATCH);
		assert_int_equal(lb->reason, TORUS_REASON_MISMATCH);
		assert_int_equal(la->peer_guid, lb->guid);
		p.end[0].params.payload_max = size;
		/* a size with as many flits */
		p.end[1].params.payload_max = size + TN_FLIT - 1;
		pair_up(&p, 300 * MS);
		pair_settle(&p, 1000 * MS);
		pair_end(&p);
	}
}

/* Plays one pair of protocols that the ends ask for, and checks the one that is used. */
static void protocol_one(unsigned int a, unsigned int b)
{
	struct tn_link *la = &p.end[0].link, *lb = &p.end[1].link;
	unsigned int speaks = a ? a : b ? b : TORUS_RETRY_ANGARA;

	pair_start(&p, 1);
	tn_link_retry(la, a, p.now);
	tn_link_retry(lb, b, p.now);
	p.limit = 500;
	pair_carrier(&p, true);
	if (a && b && a != b) {
		pair_run(&p, 300 * MS);
		assert_true(pair_both(&p, TORUS_LINK_INIT));
		assert_int_equal(la->reason, TORUS_REASON_MISMATCH);
		assert_int_equal(lb->reason, TORUS_REASON_MISMATCH);
		assert_int_equal(la->peer_guid, lb->guid);
		tn_link_retry(lb, a, p.now);	/* the administrator makes b ask for a */
	}
	pair_up(&p, 300 * MS);
	assert_int_equal(la->retry.ops->protocol, speaks);
	assert_int_equal(lb->retry.ops->protocol, speaks);
	/* Asking for another protocol disturbs neither a link that is up nor its retraining. */
	tn_link_retry(la, TORUS_RETRY_HIPPI, p.now);
	tn_link_retry(lb, TORUS_RETRY_HIPPI, p.now);
	tn_link_retrain(la, p.now);
	pair_up(&p, 300 * MS);
	assert_int_equal(la->retry.ops->protocol, speaks);
	pair_settle(&p, 1000 * MS);
	assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
	/* The next session uses it. */
	pair_carrier(&p, false);
	pair_run(&p, MS);
	pair_carrier(&p, true);
	pair_up(&p, 300 * MS);
	assert_int_equal(la->retry.ops->protocol, TORUS_RETRY_HIPPI);
	pair_end(&p);
}

static void each_pair_of_retry_protocols_agrees_or_reports(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < TORUS_RETRIES; a++)
		for (unsigned int b = 0; b < TORUS_RETRIES; b++)
			protocol_one(a, b);
}

/* --- versions ---------------------------------------------------------------- */

/* Return: true if an INIT is legal for an end that knows version 4 only; other packets are. */
static bool legal_in_4(void *arg, u64 number, const struct frame *f)
{
	const bool *speaks_4 = arg;
	const u8 *init = f->data + TN_FLIT;

	(void)number;
	if (tn_type_of(f->data) != TN_INIT)
		return true;
	assert_int_equal(tn_get_le32(init), 4);
	for (u32 i = *speaks_4 ? 52 : 54; i < TN_INIT_FLITS * TN_FLIT; i++)
		assert_int_equal(init[i], 0);
	return true;
}

/*
 * Plays two ends that speak up to version @a and @b, on a bad cable; retrained, cut, and retrained.
 */
static void versions_one(u8 a, u8 b)
{
	const u8 of[] = { a, b };
	bool four[2];

	pair_start(&p, 1 + a * 8u + b);
	p.limit = 3000;
	for (int i = 0; i < 2; i++) {
		struct end *e = &p.end[i];

		four[i] = of[i] == 4;
		e->link.wire_highest = of[i];
		e->out.filter = legal_in_4;
		e->out.filter_arg = &four[i];
		e->out.lose = e->out.damage = 50;
		e->load = 2;
		e->mgmt = 20;
	}
	pair_carrier(&p, true);
	for (int i = 0; i < 6; i++) {
		pair_up(&p, 300 * MS);
		for (int j = 0; j < 2; j++)
			assert_int_equal(p.end[j].link.wire, a < b ? a : b);
		pair_run(&p, 5 * MS);
		if (i == 2) {
			pair_carrier(&p, false);
			pair_run(&p, MS);
			pair_carrier(&p, true);
		} else {
			tn_link_retrain(&p.end[i % 2].link, p.now);
		}
	}
	pair_settle(&p, 1000 * MS);
	assert_true(p.delivered > 500);
	pair_end(&p);
}

static void each_pair_of_versions_comes_up(void **state)
{
	(void)state;
	for (u8 a = TN_WIRE_OLDEST; a <= TN_WIRE_VERSION; a++)
		for (u8 b = TN_WIRE_OLDEST; b <= TN_WIRE_VERSION; b++)
			versions_one(a, b);
}

/*
 * An end is replaced by one that speaks an earlier version, and then by one that speaks a later
 * one.
 */
static void replaced_end_of_other_version_comes_up(void **state)
{
	static const u8 speaks[] = { 5, 4, 6, 5, 6 };

	(void)state;
	pair_start(&p, 1);
	p.end[0].load = p.end[1].load = 0;
	pair_carrier(&p, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(speaks); i++) {
		if (i)
			end_restart(&p.end[0]);
		p.end[0].link.wire_highest = speaks[i];
		pair_up(&p, 1000 * MS);
		assert_int_equal(p.end[0].link.wire, speaks[i]);
		assert_int_equal(p.end[1].link.wire, speaks[i]);
		pair_run(&p, 5 * MS);
	}
	assert_true(pair_both(&p, TORUS_LINK_UP));
	pair_end(&p);
}

/*
 * With ACK/NAK four retransmissions without progress cause a retraining, as in PCI Express; no
 * packet is lost.
 */
static void four_fruitless_replays_of_acknak_cause_retraining(void **state)
{
	struct tn_link *l = &p.end[0].link;

	(void)state;
	pair_start(&p, 1);
	tn_link_retry(l, TORUS_RETRY_ACKNAK, p.now);
	p.limit = 2000;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 5 * MS);
	p.end[1].out.lose = 1;		/* all answers are lost */
	while (l->state == TORUS_LINK_UP)
		pair_run(&p, PAIR_TICK);
	assert_int_equal(l->state, TORUS_LINK_RETRAINING);
	assert_int_equal(l->retry.tx.tries, 4);
	p.end[1].out.lose = 0;
	pair_up(&p, 300 * MS);
	pair_settle(&p, 1000 * MS);
	assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(cut_link_fails_at_both_ends_after_silence),
		cmocka_unit_test(idle_link_stays_up_with_one_frame_per_interval),
		cmocka_unit_test(link_without_progress_fails_by_retry_limit),
		cmocka_unit_test(idle_link_on_long_line_stays_up),
		cmocka_unit_test(faulty_link_probes_at_interval_and_comes_up_again),
		cmocka_unit_test(lost_inits_only_delay_link),
		cmocka_unit_test(retraining_under_load_loses_no_packet),
		cmocka_unit_test(hasty_retrainings_lose_no_packet),
		cmocka_unit_test(retraining_on_cut_cable_gives_up),
		cmocka_unit_test(link_comes_up_again_after_restart_of_peer),
		cmocka_unit_test(looped_cable_never_comes_up),
		cmocka_unit_test(report_of_damaged_idle_packet_ends),
		cmocka_unit_test(lost_error_report_is_repeated),
		cmocka_unit_test(forged_init_keeps_link_down_only_for_a_while),
		cmocka_unit_test(ends_with_different_packet_sizes_stay_apart),
		cmocka_unit_test(each_pair_of_retry_protocols_agrees_or_reports),
		cmocka_unit_test(each_pair_of_versions_comes_up),
		cmocka_unit_test(replaced_end_of_other_version_comes_up),
		cmocka_unit_test(four_fruitless_replays_of_acknak_cause_retraining),
	};

	return cmocka_run_group_tests_name("linkstate", all, NULL, NULL);
}
