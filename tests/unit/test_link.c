// SPDX-License-Identifier: GPL-2.0-only
/* Two links and a bad cable; linkpair.c checks every step. */
#include "tests/flits.h"
#include "tests/unit/linkpair.h"
#include "lib/util/times.h"

#define UP TORUS_LINK_UP
#define FAULTY TORUS_LINK_FAULTY

static struct pair p;
static u64 delivered;

/* --- exactly once, in order -------------------------------------------------- */

static void random_one(uint64_t seed)
{
	pair_start(&p, seed);
	end_vary(&p.end[0]);
	end_vary(&p.end[1]);
	p.limit = 50000;
	pair_carrier(&p, true);
	pair_run(&p, 150 * MS);
	pair_settle(&p, 5000 * MS);
	for (int i = 0; i < 2; i++) {
		const struct end *e = &p.end[i];

		/* Management packets in the RETRY buffer are lost with a link. */
		if (!p.end[0].fails && !p.end[1].fails)
			expect(&p.r, e->mgmt_sent == e->peer->mgmt_got, "%u of %u",
			       e->peer->mgmt_got, e->mgmt_sent);
	}
	delivered += p.delivered;
	pair_end(&p);
}

static void random_faults_deliver_each_packet_once(void **state)
{
	(void)state;
	delivered = 0;
	for_seeds(180, random_one);
	print_message("# %" PRIu64 " packets delivered exactly once\n", (uint64_t)delivered);
	if (!getenv("SEED"))
		assert_true(delivered > (getenv("EVERY") ? 375000 : 1500000));
}

/* On a good cable no packet is sent twice, and no state changes. */
static void good_cable_sends_no_packet_twice(void **state)
{
	(void)state;
	pair_start(&p, 1);
	p.limit = 20000;
	p.end[0].load = p.end[1].load = 1;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 500 * MS);
	pair_settle(&p, 100 * MS);
	for (int i = 0; i < 2; i++) {
		const u64 *c = p.end[i].link.counter;

		assert_int_equal(p.end[i].sent[0], 20000);
		assert_int_equal(c[TORUS_PC_REPLAYED_PACKETS], 0);
		assert_int_equal(c[TORUS_PC_RETRIES], 0);
		assert_int_equal(c[TORUS_PC_CRC_ERRORS], 0);
		assert_int_equal(c[TORUS_PC_E_SENT], 0);
		assert_int_equal(c[TORUS_PC_DUPLICATES], 0);
		assert_int_equal(c[TORUS_PC_MALFORMED], 0);
		assert_int_equal(p.end[i].fails, 0);
		assert_true(c[TORUS_PC_TX_PACKETS] >= 60000);
		assert_int_equal(c[TORUS_PC_TX_PACKETS], p.end[!i].link.counter[TORUS_PC_RX_PACKETS]);
		assert_int_equal(c[TORUS_PC_TX_FLITS], p.end[!i].link.counter[TORUS_PC_RX_FLITS]);
		assert_int_equal(c[TORUS_PC_TX_BYTES], p.end[!i].link.counter[TORUS_PC_RX_BYTES]);
	}
	pair_end(&p);
}

/* Every twentieth frame is damaged on average: there are retransmits, but the link never ends. */
static void mild_one(uint64_t seed)
{
	pair_start(&p, seed);
	p.limit = 3000;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	for (int i = 0; i < 2; i++)
		p.end[i].out.damage = 20;
	pair_run(&p, 100 * MS);
	expect(&p.r, !p.end[0].fails && !p.end[1].fails, "%s", pair_text(&p));
	expect(&p.r, p.end[0].link.counter[TORUS_PC_REPLAYED_PACKETS] > 0, "replays");
	expect(&p.r, p.end[0].link.counter[TORUS_PC_CRC_ERRORS] +
	       p.end[0].link.counter[TORUS_PC_MALFORMED] > 0, "errors seen");
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
}

/* Packets through memory have no ECRC; a receiver that checks it gets them by retransmission. */
static void memory_one(uint64_t seed)
{
	for (int checked = 0; checked < 2; checked++) {
		u64 errors = 0;

		pair_start(&p, seed);
		for (int i = 0; i < 2; i++) {
			p.end[i].link.tx_memory = true;
			p.end[i].link.rx_memory = !checked;
		}
		p.limit = 300;
		pair_carrier(&p, true);
		pair_up(&p, 1000000000);
		pair_run(&p, 20000000);
		pair_settle(&p, 2000000000);
		for (int i = 0; i < 2; i++)
			errors += p.end[i].link.counter[TORUS_PC_CRC_ERRORS];
		expect(&p.r, p.delivered > 100 && !errors == !checked, "%llu delivered, %llu errors",
		       (unsigned long long)p.delivered, (unsigned long long)errors);
		pair_end(&p);
	}
}

static void lack_of_memory_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(20, memory_one);
}

static void mild_damage_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(20, mild_one);
}

/* --- failing and coming back -------------------------------------------------- */

static void cut_one(uint64_t seed)
{
	pair_start(&p, seed);
	end_vary(&p.end[0]);
	end_vary(&p.end[1]);
	p.limit = 3000;
	pair_carrier(&p, true);
	for (int n = 0; n < 6; n++) {
		int what = (int)rnd_below(&p.r, 4), who = (int)rnd_below(&p.r, 2);
		struct end *e = &p.end[who];

		pair_run(&p, 1 + rnd_below(&p.r, 60 * MS));
		switch (what) {
		case 0:		/* the cable is pulled */
			pair_carrier(&p, false);
			pair_run(&p, 1 + rnd_below(&p.r, 20 * MS));
			pair_carrier(&p, true);
			break;
		case 1:		/* one side alone sees no carrier */
			tn_link_carrier(&e->link, false, p.now);
			pair_run(&p, 1 + rnd_below(&p.r, 20 * MS));
			tn_link_carrier(&e->link, true, p.now);
			break;
		case 2:		/* the cable is silent */
			e->out.cut = true;
			pair_run(&p, 1 + rnd_below(&p.r, 600 * MS));
			e->out.cut = false;
			break;
		case 3:		/* the administrator takes the port down */
			tn_link_admin(&e->link, false, p.now);
			pair_run(&p, 1 + rnd_below(&p.r, 20 * MS));
			tn_link_admin(&e->link, true, p.now);
			break;
		}
	}
	pair_settle(&p, 5000 * MS);
	delivered += p.delivered;
	pair_end(&p);
}

static void cuts_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(60, cut_one);
}

/* --- a replayed credit report is not counted twice ----------------------------- */

struct mask {
	u32 bits;	/* bit n: frame n is lost */
	unsigned int n;
};

static bool by_mask(void *arg, u64 number, const struct frame *f)
{
	const struct mask *m = arg;

	(void)f;
	return number >= m->n || !(m->bits >> number & 1);
}

/*
 * A short conversation in which every packet has a frame of its own is played with every mask of
 * losses of the first frames of both directions. linkpair checks the credits after every step; in
 * the end all of them have returned to their senders. With EVERY only each fifth mask is used.
 */
static void each_mask_of_losses_conserves_credits(void **state)
{
	const unsigned int n = 7;
	struct mask m[2] = { { .n = n }, { .n = n } };

	(void)state;
	for (u32 bits = 0; bits < 1u << 2 * n; bits += getenv("EVERY") ? 5 : 1) {
		pair_start(&p, 1 + bits % 7);
		for (int i = 0; i < 2; i++) {
			p.end[i].params.slots = 4;
			p.end[i].params.frame_max = tn_packet_max(&p.end[i].params);
			p.end[i].params.retry_packets = 8;
			p.end[i].drain = 3;
			p.end[i].load = 0;
		}
		p.limit = 4;
		pair_carrier(&p, true);
		pair_up(&p, 100 * MS);
		pair_run(&p, MS);
		for (int i = 0; i < 2; i++) {
			m[i].bits = bits >> n * (unsigned int)i & ((1u << n) - 1);
			p.end[i].out.frames = 0;
			p.end[i].out.filter = by_mask;
			p.end[i].out.filter_arg = &m[i];
			p.end[i].load = 3;
		}
		pair_run(&p, 4 * MS);
		for (int i = 0; i < 2; i++) {
			p.end[i].load = 0;
			p.end[i].drain = 1;
		}
		pair_run(&p, 800 * MS);
		expect(&p.r, pair_both(&p, UP) && !p.end[0].fails, "mask %x: %s", bits,
		       pair_text(&p));
		pair_settle(&p, 500 * MS);
		pair_end(&p);
	}
}

/* --- lies ---------------------------------------------------------------------- */

/* Begins with a link that has carried some packets; from now on the test sends forged ones. */
static void forge_begin(unsigned int protocol)
{
	pair_start(&p, 1);
	p.end[0].params.payload_max = p.end[1].params.payload_max = 4096;
	tn_link_retry(&p.end[0].link, protocol, p.now);
	p.limit = 50;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 20 * MS);
	p.forged = true;
}

/* Checks that the victim's link fails for @reason, or stays up if that is 0. */
static void forge_end(const u8 *bytes, size_t len, u8 reason)
{
	struct end *a = &p.end[0], *b = &p.end[1];

	lane_forge(&a->out, bytes, len, p.now);
	pair_run(&p, PAIR_TICK);
	if (reason) {
		assert_int_equal(b->fails, 1);
		assert_int_equal(b->reason, reason);
	} else {
		assert_int_equal(b->fails, 0);
	}
	pair_end(&p);
}

/* Sends a well-formed packet of a peer that knows the session but lies. */
static void forge(struct tn_hdr h, struct tn_tail t, u8 reason)
{
	u8 flits[TN_PACKET_MAX] = { 0 };
	struct end *b = &p.end[1];
	struct tn_pkt pkt = { .hdr = h, .tail = t };

	forge_begin(TORUS_RETRY_ANGARA);
	pkt.hdr.tseq = (u16)((pkt.hdr.tseq + b->link.retry.rx.expected) & TN_SEQ_MASK);
	pkt.hdr.rseq = (u16)((pkt.hdr.rseq + b->link.retry.tx.tseq) & TN_SEQ_MASK);
	pkt.tail.ecrc = tn_ecrc(flits + TN_FLIT, &pkt.hdr, &pkt.tail);
	tn_hdr_put(flits, &pkt.hdr);
	tn_tail_put(flits_tail(flits, pkt.hdr.len), &pkt.tail);
	flits_seal(flits, pkt.hdr.len, b->link.seed);
	forge_end(flits, (pkt.hdr.len + 2u) * TN_FLIT, reason);
}

/* Sends an ACK or NAK whose number is wrong by @off. */
static void forge_acknak(unsigned int protocol, u16 off, u8 nak, u8 reason)
{
	u8 bytes[TN_ACKNAK_BYTES];
	struct tn_hdr h = { .e = nak };

	forge_begin(protocol);
	h.rseq = (u16)((p.end[1].link.retry.tx.tseq - 1 + off) & TN_SEQ_MASK);
	tn_acknak_put(bytes, &h, p.end[1].link.seed);
	forge_end(bytes, sizeof(bytes), reason);
}

static void impossible_packet_fails_link(void **state)
{
	const struct tn_tail none = { 0 };
	const u8 protocol = TORUS_REASON_PROTOCOL;

	(void)state;
	/* An acknowledgement of packets that were never sent. */
	forge((struct tn_hdr) { .type = TN_IDLE, .rseq = 5 }, none, protocol);
	/* Credits for buffers that were never taken. */
	forge((struct tn_hdr) { .type = TN_CREDIT, .crp = 300, .crp_vc = 1 }, none, protocol);
	/* Types, VCs and lengths that do not exist. */
	forge((struct tn_hdr) { .type = TN_PAD + 7 }, none, 0);	/* read as a damaged ACKNAK */
	forge((struct tn_hdr) { .type = TN_DATA, .vc = 3 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_DATA, .crp_vc = 3 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_DATA, .len = 257 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_CREDIT, .len = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_MGMT, .len = 0 }, none, protocol);
	/* A message from NIC to NIC must be a DATA packet of one flit. */
	forge((struct tn_hdr) { .type = TN_CREDIT, .nic = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_IDLE, .nic = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_MGMT, .nic = 1, .len = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_UNREACH, .nic = 1, .len = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_DATA, .nic = 1 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_DATA, .nic = 1, .len = 2 }, none, protocol);
	/* A credit report for a VC that does not exist, in any type of packet. */
	forge((struct tn_hdr) { .type = TN_CREDIT, .crp_vc = 3 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_IDLE, .crp_vc = 3 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_MGMT, .len = 1, .crp_vc = 3 }, none, protocol);
	forge((struct tn_hdr) { .type = TN_MGMT, .len = TORUS_MGMT_MAX / TN_FLIT + 1 }, none,
	      protocol);
	/* Behind, or ahead: a bad cable causes this as well; the link stays up. */
	forge((struct tn_hdr) { .type = TN_DATA, .tseq = 4095 }, none, 0);
	forge((struct tn_hdr) { .type = TN_DATA, .tseq = 9 }, none, 0);
	forge((struct tn_hdr) { .type = TN_IDLE }, none, 0);
	/* ACK and NAK: of packets never sent; of sent ones; with another protocol in use. */
	forge_acknak(TORUS_RETRY_ACKNAK, 1, 0, protocol);
	forge_acknak(TORUS_RETRY_ACKNAK, 1, 1, protocol);
	forge_acknak(TORUS_RETRY_ACKNAK, 0, 0, 0);
	forge_acknak(TORUS_RETRY_ACKNAK, 0, 1, 0);
	forge_acknak(TORUS_RETRY_ANGARA, 0, 0, protocol);
	forge_acknak(TORUS_RETRY_HIPPI, 0, 0, protocol);
}

/* More packets than there are buffers are refused before any memory is touched. */
static void packet_beyond_buffers_is_refused(void **state)
{
	struct end *a = &p.end[0], *b = &p.end[1];

	(void)state;
	pair_start(&p, 1);
	b->params.slots = 8;
	p.limit = 100;
	b->drain = 0;
	b->load = 0;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	pair_run(&p, 20 * MS);
	assert_int_equal(b->got[0], 8);
	a->link.credit.n_inp[0] = 1000;		/* corrupts the credit counter of the liar itself */
	p.forged = true;
	while (b->link.state == UP && b->got[0] <= 8)
		pair_run(&p, PAIR_TICK);
	assert_int_equal(b->got[0], 8);
	assert_int_equal(b->reason, TORUS_REASON_PROTOCOL);
	pair_end(&p);
}

/* Noise of every length, and truncated frames: counted, and otherwise ignored. */
static void noise_one(uint64_t seed)
{
	static u8 noise[70000];

	pair_start(&p, seed);
	p.limit = 500;
	pair_carrier(&p, true);
	pair_up(&p, 100 * MS);
	for (int i = 0; i < 200; i++) {
		size_t len = rnd_below(&p.r, rnd_below(&p.r, 2) ? 100 : sizeof(noise));

		rnd_fill(&p.r, noise, len);
		if (len && rnd_below(&p.r, 2))
			noise[0] = (u8)((noise[0] & ~7) | rnd_below(&p.r, 7));
		lane_forge(&p.end[0].out, noise, len, p.now);
		pair_run(&p, rnd_below(&p.r, 5 * PAIR_TICK) + 1);
	}
	expect(&p.r, !p.end[0].fails && !p.end[1].fails, "%s", pair_text(&p));
	expect(&p.r, p.end[1].link.counter[TORUS_PC_MALFORMED] +
	       p.end[1].link.counter[TORUS_PC_CRC_ERRORS] > 100, "noise is counted");
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
}

static void noise_is_counted_and_ignored(void **state)
{
	(void)state;
	for_seeds(10, noise_one);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_faults_deliver_each_packet_once),
		cmocka_unit_test(good_cable_sends_no_packet_twice),
		cmocka_unit_test(lack_of_memory_loses_no_packet),
		cmocka_unit_test(mild_damage_loses_no_packet),
		cmocka_unit_test(cuts_lose_no_packet),
		cmocka_unit_test(each_mask_of_losses_conserves_credits),
		cmocka_unit_test(impossible_packet_fails_link),
		cmocka_unit_test(packet_beyond_buffers_is_refused),
		cmocka_unit_test(noise_is_counted_and_ignored),
	};

	return cmocka_run_group_tests_name("link", all, NULL, NULL);
}
