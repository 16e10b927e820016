// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests what a link makes of the packets of one frame: which of them it accepts together ("Series"
 * in kernel/core/link.h), and what it does about one that it does not accept; and which packets are
 * well-formed. test_series.c compares series with single packets in random histories.
 */
#include "kernel/core/linkstate.h"
#include "tests/unit/one_lone.h"

#define MOST 8

static struct tn_link *link;
static struct tn_link_ops ops;
static const struct tn_link_ops *real;
static u8 flits[MOST * 160];
static u32 at;

/* Sizes of the series that were accepted, and what else the link told its NIC. */
static struct {
	u32 size[MOST];
	u32 n;
	u32 asked, false_came;
	u32 vc;
	bool handed;
} reported;

static void on_accept(void *ctx, struct tn_link *k, struct tn_queue *got)
{
	const struct tn_pkt *pkt;

	for (pkt = got->head; pkt; pkt = pkt->next) {
		if (pkt->next)
			assert_int_equal(pkt->next->hdr.tseq, (pkt->hdr.tseq + 1) & TN_SEQ_MASK);
		else
			assert_int_equal(k->retry.rx.expected, (pkt->hdr.tseq + 1) & TN_SEQ_MASK);
		assert_true(pkt->in_port == 0 && pkt->in_vc == pkt->hdr.vc && !pkt->unresolved);
		assert_int_equal(pkt->unsummed, k->rx_memory ? TN_UNSUMMED : 0);
		for (u32 i = 0; i < pkt->hdr.len * TN_FLIT; i++)
			assert_int_equal(pkt->payload[i], (u8)(i * 7 + 3));
	}
	reported.size[reported.n++] = got->count;
	real->accept(ctx, k, got);
}

static void on_asked(void *ctx, struct tn_link *k, unsigned int vc, u64 now)
{
	(void)ctx;
	(void)k;
	(void)now;
	reported.asked++;
	reported.vc = vc;
}

static void on_false_came(void *ctx, struct tn_link *k, unsigned int vc, bool handed, u64 now)
{
	(void)ctx;
	(void)k;
	(void)now;
	reported.false_came++;
	reported.vc = vc;
	reported.handed = handed;
}

static void begin(void (*tune)(struct lone *l))
{
	lone_begin(tune);
	lone_row(&l, 1, lone_dirs(1));
	release();
	link = lone_link(&l, 0);
	real = link->ops;
	ops = *real;
	ops.accept = on_accept;
	ops.asked = on_asked;
	ops.false_came = on_false_came;
	link->ops = &ops;
	memset(&reported, 0, sizeof(reported));
	at = 0;
}

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

/* Appends a packet of the neighbour to the frame. Return: its bytes. */
static u8 *add(struct tn_hdr h, struct tn_tail t, const struct tn_via *via)
{
	u8 *here = flits + at;

	at += lone_make(&l, 0, here, h, t, via, NULL);
	l.peer[0].tseq = (u16)((l.peer[0].tseq + 1) & TN_SEQ_MASK);
	assert_true(at <= sizeof(flits));
	return here;
}

static void receive(void)
{
	lone_rx(&l, 0, flits, at);
}

static struct tn_hdr data(void)
{
	return (struct tn_hdr) {
		.type = TN_DATA, .src = 1, .dst = 2, .dir = 1, .len = 2,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};
}

/* The series that were accepted have these sizes; 0 ends them. */
static void accepted(const u32 *size)
{
	u32 n = 0, all = 0;

	for (; size[n]; n++) {
		assert_int_equal(reported.size[n], size[n]);
		all += size[n];
	}
	assert_int_equal(reported.n, n);
	assert_int_equal(pc(TORUS_PC_RX_PACKETS), all);
	assert_int_equal(link->unacked, all);
}

/* --- which packets are taken together ---------------------------------------------------------- */

enum change {
	NONE, DST, SRC, VC, LEN, COLOUR, DIR, LAST, TYPE, NIC, RELAYED, CREDITS, CHANGES
};

static struct tn_hdr changed(enum change c)
{
	struct tn_hdr h = data();

	switch (c) {
	case DST: h.dst = 3; break;
	case SRC: h.src = 4; break;
	case VC: h.vc = 1; break;
	case LEN: h.len = 0; break;
	case COLOUR: h.colour = 1; break;
	case DIR: h.dir = 2; break;
	case LAST: h.last = 1; break;
	case TYPE: h.type = TN_UNREACH; break;
	case NIC: h.nic = h.len = 1; break;
	case CREDITS: h.crp = 1; break;
	default: break;
	}
	return h;
}

/* Two packets and three with one other field: the fifth is one of a series if that may have any. */
static void equal_headers_make_a_series(void **state)
{
	const struct tn_via via = { .dst = 5, .payer = 1 };

	(void)state;
	for (enum change c = NONE; c < CHANGES; c++) {
		bool alone = c == TYPE || c == NIC || c == RELAYED || c == CREDITS;
		u32 flits_of = 0, n;

		begin(NULL);
		link->credit.ct[0] = 9;		/* credits that can be returned */
		link->eager = 4;
		for (n = 0; n < 5; n++) {
			struct tn_hdr h = changed(n < 2 ? NONE : c);

			flits_of += h.len + 2u + (c == RELAYED && n >= 2);
			add(h, (struct tn_tail) { .eseq = n }, c == RELAYED && n >= 2 ? &via : NULL);
		}
		receive();
		if (c == NONE)
			accepted((const u32[]) { 1, 4, 0 });
		else if (alone)
			accepted((const u32[]) { 1, 1, 1, 1, 1, 0 });
		else
			accepted((const u32[]) { 1, 1, 1, 2, 0 });
		assert_int_equal(pc(TORUS_PC_RX_FLITS), flits_of);
		assert_int_equal(pc(TORUS_PC_RX_BYTES), pc(TORUS_PC_RX_FLITS) * TN_FLIT -
				 (5 * 2 + (c == RELAYED ? 3 : 0)) * TN_FLIT);
		assert_int_equal(link->credit.used[0] + link->credit.used[1], 5);
		assert_int_equal(link->credit.used[1], c == VC ? 3 : 0);
		assert_int_equal(link->credit.ct[0], c == CREDITS ? 6 : 9);
		assert_int_equal(link->eager, 0);
		assert_int_equal(link->retry.rx.expected, l.peer[0].tseq);
		end();
	}
}

/* An answer with E, a protocol that counts answers, and a link that ignores packets have none. */
static void packets_that_change_the_link_lead_no_series(void **state)
{
	(void)state;
	for (u32 code = 0; code < 4; code++) {
		struct tn_hdr h = data();

		begin(NULL);
		if (code == 1) {
			tn_nic_carrier(l.nic, 0, false, l.now);
			tn_nic_retry(l.nic, 0, TORUS_RETRY_HIPPI, l.now);
			l.peer[0].highest = TN_WIRE_VERSION;
			lone_up(&l, 0);
			l.peer[0].tseq = 0;
			l.peer[0].rseq = 255;
			link->retry.rx.expected = 0;	/* as if both numbers were the same */
		}
		h.e = code == 2;
		link->eager = 100;
		for (u32 n = 0; n < 3; n++)
			add(h, (struct tn_tail) { .eseq = n }, NULL);
		receive();
		if (code == 1 || code == 2)
			accepted((const u32[]) { 1, 1, 1, 0 });
		else
			accepted((const u32[]) { 1, 2, 0 });
		assert_int_equal(link->eager, 97);
		end();
	}
}

static u32 policy;

static void set_policy(struct lone *one)
{
	one->params.bubble = policy;
}

static void few_slots(struct lone *one)
{
	one->params.slots = 8;
}

static void old_peer(struct lone *one)
{
	one->peer[0].highest = 0;	/* it speaks version 4 */
}

/* --- packets that are not accepted ------------------------------------------------------------- */

enum harm { LCRC, ECRC, CUT, MARKED, TSEQ, HARMS };
enum trust { CHECKS, FROM_MEMORY, CHECKED, TRUSTS };

/* The third of five packets is harmed. @trust: who has checked the ECRC. */
static void add_harmed(enum harm harm)
{
	for (u32 n = 0; n < 5; n++) {
		struct tn_tail t = { .eseq = n };
		struct tn_hdr h = data();
		u8 *p;

		if (n == 2 && harm == ECRC)
			t.ecrc = 1;
		if (n == 2 && harm == MARKED)
			t.vb = TN_VB_BAD;
		if (n == 2 && harm == TSEQ)
			h.tseq = 1;
		p = add(h, t, NULL);
		if (n == 2 && harm == LCRC)
			p[TN_FLIT * 3 + 4] ^= 1;
		if (n == 2 && harm == CUT) {
			at -= 8;
			break;
		}
	}
}

static void harmed_packet_ends_series(void **state)
{
	(void)state;
	for (u32 code = 0; code < HARMS * TRUSTS; code++) {
		enum harm harm = code % HARMS;
		enum trust trust = code / HARMS;
		bool fine = harm == ECRC && trust != CHECKS;

		begin(NULL);
		tn_nic_rx_memory(l.nic, 0, trust == FROM_MEMORY);
		tn_nic_rx_checked(l.nic, 0, trust == CHECKED);
		add_harmed(harm);
		receive();
		assert_int_equal(reported.size[0], 1);
		assert_int_equal(reported.size[1], fine ? 4 : 1);
		/* a marked copy is no error: the link goes on behind it */
		assert_int_equal(reported.n, harm == MARKED ? 3 : 2);
		assert_int_equal(pc(TORUS_PC_VB_DROPS), harm == MARKED);
		assert_int_equal(link->retry.rx.ignoring, !fine && harm != MARKED);
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), harm == LCRC || (harm == ECRC && !fine));
		assert_int_equal(pc(TORUS_PC_MALFORMED), harm == CUT);
		assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), harm == TSEQ);
		assert_int_equal(link->credit.used[0], harm == MARKED ? 4 : fine ? 5 : 2);
		assert_int_equal(link->state, TORUS_LINK_UP);
		end();
	}
}

static u32 refused;	/* the packet for which the host has no memory, from 1 on */
static struct tn_pkt *(*get)(void *host, void *owner, const u8 *payload);

static struct tn_pkt *on_get(void *host, void *owner, const u8 *payload)
{
	return --refused ? get(host, owner, payload) : NULL;
}

/* A copy that is marked bad returns its buffer, but never as a critical bubble. */
static void buffer_of_marked_copy_is_returned(void **state)
{
	(void)state;
	policy = TORUS_BUBBLE_CBS;
	begin(set_policy);
	add(data(), (struct tn_tail) { .vb = TN_VB_BAD }, NULL);
	receive();
	assert_true(!link->credit.used[0] && link->credit.owed[0] == 1);
	assert_int_equal(link->credit.owed_critical[0], 0);
	end();
}

/* A host that has checked a frame did so without knowing that version 4 has no service byte. */
static void checksums_of_checked_frame_count_in_version_4(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 2 * 2; code++) {
		bool old = code & 1, service = code & 2, wrong = code & 4;

		begin(old ? old_peer : NULL);
		tn_nic_rx_checked(l.nic, 0, true);
		add(data(), (struct tn_tail) { .vb = service ? TN_SERVICE_RMA : 0, .ecrc = wrong },
		    NULL);
		receive();
		assert_int_equal(reported.n, !(old && service && wrong));
		end();
	}
}

/* Nothing behind a packet that ends the link is read, and nothing but INITs before it is up. */
static void rest_of_frame_is_dropped_with_the_link(void **state)
{
	(void)state;
	for (u32 code = 0; code < 5; code++) {
		struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
		struct tn_tail t = { 0 };
		struct tn_init i;

		begin(few_slots);
		if (code >= 3)		/* the link has failed before */
			tn_link_fail(link, TORUS_REASON_PEER, l.now);
		if (code == 0)
			link->credit.used[0] = 8;
		if (code == 1 || code == 4) {
			h.rseq = l.peer[0].rseq - 1u;
			tn_acknak_put(flits, &h, l.peer[0].seed);
			h.rseq = 0;
			at = TN_ACKNAK_BYTES;
		} else {	/* it has a service byte, or there is no buffer */
			add(data(), (struct tn_tail) { .vb = code == 2 ? 7 : 0 }, NULL);
		}
		i = lone_init_of(&l, 0);
		i.nonce_received = 0;
		tn_hdr_put(flits + at, &h);
		tn_init_put(flits + at + TN_FLIT, &i);
		t.ecrc = tn_ecrc(flits + at + TN_FLIT, &h, &t);
		tn_tail_put(flits_tail(flits + at, h.len), &t);
		flits_seal(flits + at, h.len, ~0u);
		at += (2 + TN_INIT_FLITS) * TN_FLIT;
		receive();
		assert_int_equal(link->state, TORUS_LINK_FAULTY);
		link->credit.used[0] = 0;
		end();
	}
}

static void acknak(struct lone *one)
{
	one->params.retry = TORUS_RETRY_ACKNAK;
}

/* An ACK is read with what follows it; a report of an error is answered if nothing can be replayed. */
static void answers_do_not_end_frame(void **state)
{
	struct tn_hdr h = { .type = TN_ACKNAK };

	(void)state;
	begin(acknak);
	h.rseq = (u16)((l.peer[0].rseq - 1) & TN_SEQ_MASK);
	tn_acknak_put(flits, &h, l.peer[0].seed);
	at = TN_ACKNAK_BYTES;
	add((struct tn_hdr) { .type = TN_MGMT, .len = 1 }, (struct tn_tail) { 0 }, NULL);
	receive();
	assert_int_equal(l.mgmts, 1);
	end();
	begin(NULL);
	add((struct tn_hdr) { .type = TN_MGMT, .len = 1, .e = 1 }, (struct tn_tail) { 0 }, NULL);
	receive();
	assert_int_equal(l.mgmts, 1);
	assert_true(link->ack_now);
	end();
}

/* A series behind a packet that was accepted before tells of its generation. */
static void series_behind_duplicate_has_its_generation(void **state)
{
	struct tn_hdr h = data();

	(void)state;
	begin(NULL);
	h.gen = 1;
	h.tseq = (u16)-1;
	add(h, (struct tn_tail) { 0 }, NULL);
	l.peer[0].tseq--;
	h.tseq = 0;
	add(h, (struct tn_tail) { 0 }, NULL);
	add(h, (struct tn_tail) { .eseq = 1 }, NULL);
	receive();
	accepted((const u32[]) { 2, 0 });
	assert_int_equal(link->retry.rx.gen_seen, 1);
	end();
}

/* A packet out of sequence leads no series: the next one must end what the link ignores. */
static void packet_ahead_leads_no_series(void **state)
{
	struct tn_hdr h = data();

	(void)state;
	begin(NULL);
	h.tseq = 7;
	add(h, (struct tn_tail) { 0 }, NULL);
	l.peer[0].tseq--;
	for (u32 n = 0; n < 3; n++)
		add(data(), (struct tn_tail) { .eseq = n }, NULL);
	receive();
	accepted((const u32[]) { 1, 2, 0 });
	assert_false(link->retry.rx.ignoring);
	end();
}

/* Without memory a packet counts as lost: the peer sends it again, and those behind it. */
static void packet_without_memory_is_lost(void **state)
{
	(void)state;
	for (u32 n = 1; n <= 5; n++) {
		begin(NULL);
		get = l.ops.pkt_get;
		l.ops.pkt_get = on_get;
		for (u32 i = 0; i < 5; i++)
			add(data(), (struct tn_tail) { .eseq = i }, NULL);
		/* a series asks once more, as a single packet, for the memory that it did not get */
		for (u32 again = 0; again < 2; again++) {
			refused = n;
			receive();
			refused = 0;
		}
		assert_int_equal(link->state, TORUS_LINK_UP);
		assert_int_equal(link->credit.used[0], link->unacked);
		assert_int_equal(link->retry.rx.expected,
				 (l.peer[0].tseq - 5 + link->unacked) & TN_SEQ_MASK);
		assert_true(link->unacked >= n - 1);
		l.ops.pkt_get = get;
		end();
	}
}

/* A peer may use the buffers whose credit it has, and no more: the next packet ends the link. */
static void packets_beyond_buffers_end_link(void **state)
{
	(void)state;
	for (u32 code = 0; code < 9 * 9; code++) {
		u32 used = code % 9, owed = code / 9, room = 8 - used - owed;

		if (used + owed > 8)
			continue;
		begin(few_slots);
		link->credit.used[0] = (u16)used;
		link->credit.owed[0] = (u16)owed;
		for (u32 i = 0; i < 5; i++)
			add(data(), (struct tn_tail) { .eseq = i }, NULL);
		receive();
		assert_int_equal(link->state == TORUS_LINK_UP, room >= 5);
		assert_int_equal(pc(TORUS_PC_RX_PACKETS), room < 5 ? room : 5);
		assert_int_equal(reported.n, (room > 0) + (room > 1));
		/* an answer or a credit needs no buffer */
		if (room >= 5)
			assert_int_equal(link->unacked, 5);
		link->credit.used[0] = (u16)(room < 5 ? room : 5);
		link->credit.owed[0] = 0;
		end();
	}
}

/* Packets that take no buffer, or were accepted before, do not end a frame. */
static void rest_of_frame_is_read_behind_others(void **state)
{
	(void)state;
	for (u32 code = 0; code < 3; code++) {
		begin(few_slots);
		link->credit.used[0] = 8;		/* no buffer is left on this VC */
		if (code == 0)
			add((struct tn_hdr) { .type = TN_CREDIT }, (struct tn_tail) { .ecrc = 5 }, NULL);
		if (code == 1) {
			add((struct tn_hdr) { .type = TN_MGMT, .len = 1, .tseq = (u16)-1 },
			    (struct tn_tail) { 0 }, NULL);
			l.peer[0].tseq--;
		}
		if (code == 2) {
			add((struct tn_hdr) { .type = TN_MGMT, .len = 1, .tseq = 5 },
			    (struct tn_tail) { 0 }, NULL);
			l.peer[0].tseq--;
		}
		add((struct tn_hdr) { .type = TN_MGMT, .len = 1 }, (struct tn_tail) { 0 }, NULL);
		receive();
		assert_int_equal(link->state, TORUS_LINK_UP);
		assert_int_equal(l.mgmts, 1);
		assert_int_equal(pc(TORUS_PC_DUPLICATES), code == 1);
		assert_int_equal(link->ack_now, code != 0);
		assert_int_equal(link->retry.rx.expected, l.peer[0].tseq);
		link->credit.used[0] = 0;
		end();
	}
}

/* --- well-formed packets ----------------------------------------------------------------------- */

/* The rules of kernel/core/wire.h. */
static bool is_well_formed(const struct tn_hdr *h)
{
	bool data = h->type == TN_DATA || h->type == TN_UNREACH;

	if (h->crp_vc >= TORUS_VCS || (h->relayed && !data))
		return false;
	if (h->type == TN_MGMT)
		return !h->nic && h->len;
	if (h->type == TN_DATA && h->nic)
		return h->vc < TORUS_VCS && h->len == 1;
	if (data)
		return h->vc < TORUS_VCS && !h->nic;
	if (h->type == TN_CREDIT || h->type == TN_IDLE)
		return !h->len && (!h->nic || (policy == TORUS_BUBBLE_MBS && h->vc < TORUS_VC_A));
	return false;
}

static void each_header_is_well_formed_or_ends_link(void **state)
{
	const struct tn_via via = { .dst = 5, .payer = 1 };
	void *saved = malloc(tn_nic_size());

	(void)state;
	assert_non_null(saved);
	for (policy = TORUS_BUBBLE_BLOC; policy <= TORUS_BUBBLE_MBS; policy++) {
		begin(set_policy);
		memcpy(saved, l.nic, tn_nic_size());
		for (u32 code = 0; code < 8 * 2 * 2 * 4 * 4 * 3; code++) {
			struct tn_hdr h = {
				.type = code % 8, .nic = code / 8 % 2, .vc = code / 32 % 4,
				.crp_vc = code / 128 % 4, .len = (u16)(code / 512), .src = 1, .dst = 1,
				.first = TN_NO_STEP, .last = TN_NO_STEP,
			};
			bool relayed = code / 16 % 2;
			u16 tseq = l.peer[0].tseq;

			if (h.type == TN_PAD || h.type == TN_INIT || h.type == TN_ACKNAK)
				continue;
			at = 0;
			memset(&reported, 0, sizeof(reported));
			add(h, (struct tn_tail) { 0 }, relayed ? &via : NULL);
			receive();
			h.relayed = relayed;
			assert_int_equal(link->state == TORUS_LINK_UP, is_well_formed(&h));
			if (link->state == TORUS_LINK_UP && h.nic && h.type != TN_DATA) {
				assert_int_equal(reported.asked, h.type == TN_IDLE);
				assert_int_equal(reported.false_came, h.type == TN_CREDIT);
				assert_int_equal(reported.vc, h.vc);
				assert_int_equal(link->credit.used[h.vc], h.type == TN_CREDIT);
				if (reported.false_came)
					assert_int_equal(reported.handed, 1);	/* as DST says */
			} else {
				assert_true(!reported.asked && !reported.false_came);
			}
			for (u32 i = 0; i < TN_INPUTS; i++) {
				struct tn_pkt *pkt;

				while ((pkt = tn_queue_pop(&l.nic->input[i])))
					lone_free(&l, pkt);
			}
			memcpy(l.nic, saved, tn_nic_size());
			l.peer[0].tseq = tseq;
		}
		end();
	}
	free(saved);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(equal_headers_make_a_series),
		cmocka_unit_test(packets_that_change_the_link_lead_no_series),
		cmocka_unit_test(harmed_packet_ends_series),
		cmocka_unit_test(buffer_of_marked_copy_is_returned),
		cmocka_unit_test(checksums_of_checked_frame_count_in_version_4),
		cmocka_unit_test(rest_of_frame_is_dropped_with_the_link),
		cmocka_unit_test(answers_do_not_end_frame),
		cmocka_unit_test(series_behind_duplicate_has_its_generation),
		cmocka_unit_test(packet_ahead_leads_no_series),
		cmocka_unit_test(packet_without_memory_is_lost),
		cmocka_unit_test(packets_beyond_buffers_end_link),
		cmocka_unit_test(rest_of_frame_is_read_behind_others),
		cmocka_unit_test(each_header_is_well_formed_or_ends_link),
	};

	return cmocka_run_group_tests_name("link_series", all, NULL, NULL);
}
