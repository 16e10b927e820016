// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies marked bad (VB) that go before packets: how the sender handles them, and a torus whose
 * links all send them while cables fail. test_link_rx.c has the receiver.
 */
#include "tests/unit/fabric.h"
#include "tests/unit/lone.h"
#include "lib/util/times.h"

static struct lone l;

/* Begins with node 0 of a ring of four: its neighbours are up, and 1 is reached by port 0. */
static struct tn_link *begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "4", 0, tune);
	lone_all_up(&l);
	lone_row(&l, 1, lone_dirs(1));
	assert_int_equal(tn_nic_release(l.nic, 1, false, l.now), 0);
	return lone_link(&l, 0);
}

static void all_marked(void)
{
	tn_nic_marks(l.nic, 0, TORUS_BER_ONE, 1);
	assert_true(tn_nic_marked(l.nic, 0) == TORUS_BER_ONE);
}

static void ready(unsigned int n, u16 len)
{
	while (n--)
		assert_int_equal(lone_send(&l, 1, 0, len), 0);
	tn_nic_work(l.nic, l.now);
}

/* --- the sender ------------------------------------------------------------------------ */

/*
 * A marked copy is a packet of its own, the first of the two, with TSEQ and packet buffer. It
 * counts for no colour.
 */
static void marked_copy_is_packet_of_its_own(void **state)
{
	struct tn_link *link = begin(NULL);
	u16 first = link->retry.tx.tseq;

	(void)state;
	all_marked();
	ready(1, 3);
	assert_int_equal(link->credit.ct[0], 2);
	assert_int_equal(lone_tx(&l, 0), 2);
	for (u16 i = 0; i < 2; i++) {
		assert_int_equal(l.sent[i].hdr.type, TN_DATA);
		assert_int_equal(l.sent[i].hdr.len, 3);
		assert_int_equal(l.sent[i].hdr.dst, 1);
		assert_int_equal(l.sent[i].hdr.tseq, (first + i) & TN_SEQ_MASK);
		assert_int_equal(l.sent[i].tail.eseq, 0);
	}
	assert_int_equal(l.sent[0].tail.vb, TN_VB_BAD);
	assert_int_equal(l.sent[1].tail.vb, 0);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_TX_PACKETS), 2);
	lone_ack(&l, 0);
	assert_int_equal(lone_fc(&l, TORUS_FC_LINK_TX), 1);
	assert_int_equal(link->retry.tx.sent.count, 0);
	/*
	 * A packet without payload gets a marked copy; after the rate is set to 0 no packet does.
	 */
	ready(1, 0);
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.sent[0].tail.vb, TN_VB_BAD);
	tn_nic_marks(l.nic, 0, 0, 1);
	ready(1, 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].tail.vb, 0);
	lone_end(&l);
}

static void few_buffers(struct lone *t)
{
	t->params.slots = 6;
}

/*
 * No copy is sent if the packet would then find no buffer, or leave no bubble: with 5 buffers two
 * packets have copies.
 */
static void no_copy_is_sent_without_buffer_for_packet(void **state)
{
	struct tn_link *link = begin(few_buffers);

	(void)state;
	all_marked();
	link->credit.n_inp[0] = 5;
	ready(1, 1);
	assert_int_equal(link->credit.ct[0], 2);
	ready(1, 1);
	assert_int_equal(link->credit.ct[0], 4);
	ready(1, 1);
	assert_int_equal(link->credit.ct[0], 4);	/* CT + 1 < N_inp is false: it waits */
	link->credit.ct[0] = 3;
	tn_nic_work(l.nic, l.now);
	assert_int_equal(link->credit.ct[0], 4);	/* the packet is sent, and no copy */
	lone_end(&l);
}

static void small_retry(struct lone *t)
{
	t->params.retry_packets = 3;
}

/* A packet is not marked if the RETRY buffer has room for it only, and not for its copy. */
static void packet_without_retry_room_for_copy_is_not_marked(void **state)
{
	struct tn_link *link = begin(small_retry);

	(void)state;
	all_marked();
	ready(2, 1);
	assert_int_equal(link->retry.tx.sent.count, 3);
	assert_int_equal(link->retry.tx.sent.head->tail.vb, TN_VB_BAD);
	assert_int_equal(link->retry.tx.sent.tail->tail.vb, 0);
	assert_int_equal(link->retry.tx.sent.head->next->tail.vb, 0);
	lone_end(&l);
}

/* Without memory for a copy the packet goes alone. */
static void packet_without_memory_for_copy_goes_alone(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	all_marked();
	assert_int_equal(lone_send(&l, 1, 0, 1), 0);
	l.no_memory = true;
	tn_nic_work(l.nic, l.now);
	assert_int_equal(link->retry.tx.sent.count, 1);
	assert_int_equal(link->credit.ct[0], 1);
	l.no_memory = false;
	lone_end(&l);
}

/* The link fails: the packets are parked, their copies are dropped. */
static void failed_link_parks_packets_and_drops_copies(void **state)
{
	begin(NULL);
	(void)state;
	all_marked();
	ready(3, 2);
	lone_drain(&l, 0);
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_int_equal(l.nic->park.q.count, 3);
	for (const struct tn_pkt *pkt = l.nic->park.q.head; pkt; pkt = pkt->next)
		assert_int_equal(pkt->tail.vb, 0);
	lone_end(&l);
}

/* --- a torus --------------------------------------------------------------------------- */

static struct fabric f;

static void few(struct fabric *t)
{
	t->params.slots = (u16)(5 + rnd_below(&t->r, 12));
	t->params.retry_packets = 2 + rnd_below(&t->r, 32);
	fabric_vary_packets(t);
	t->max_flits = 4;
}

static u64 dropped(u32 node)
{
	u64 sum = 0;

	for (unsigned int p = 0; p < f.nports; p++)
		sum += tn_nic_port_counters(f.node[node].nic, p, f.now)[TORUS_PC_VB_DROPS];
	return sum;
}

/* Nothing is lost, duplicated or reordered, sums agree, credits and bubbles are kept (fabric.h). */
static void marked_torus(uint64_t seed)
{
	static const char *const shapes[] = { "4x4", "3x3x2", "5x2", "8" };
	u64 before = 0, after = 0;
	unsigned int port;
	u32 node;

	fabric_start_tuned(&f, seed, shapes[seed % ARRAY_SIZE(shapes)], few);
	for (u32 i = 0; i < f.n; i++)
		for (port = 0; port < f.nports; port++)
			tn_nic_marks(f.node[i].nic, port, TORUS_BER_ONE / 3, seed + i);
	f.load = 2 + rnd_below(&f.r, 3);
	fabric_run(&f, 2 * MS);
	node = rnd_below(&f.r, f.n);
	do {
		port = rnd_below(&f.r, f.nports);
	} while (!fabric_wired(&f, port));
	fabric_carrier(&f, node, port, false);
	fabric_run(&f, rnd_below(&f.r, MS));
	fabric_recover(&f, 3000 * MS);
	for (u32 i = 0; i < f.n; i++)
		before += dropped(i);
	fabric_run(&f, 2 * MS);
	fabric_carrier(&f, node, port, true);
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 3000 * MS);
	fabric_settle(&f, 5000 * MS);
	for (u32 i = 0; i < f.n; i++)
		after += dropped(i);
	expect(&f.r, before > 0 && after > before, "copies dropped: %llu, %llu",
	       (unsigned long long)before, (unsigned long long)after);
	for (u32 i = 0; i < f.n; i++) {
		const u64 *c = tn_nic_counters(f.node[i].nic);

		expect(&f.r, !c[TORUS_NC_LOST] && !c[TORUS_NC_DUPLICATES], "node %u", i);
	}
	fabric_end(&f);
}

static void marks_in_random_torus_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(24, marked_torus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marked_copy_is_packet_of_its_own),
		cmocka_unit_test(no_copy_is_sent_without_buffer_for_packet),
		cmocka_unit_test(packet_without_retry_room_for_copy_is_not_marked),
		cmocka_unit_test(packet_without_memory_for_copy_goes_alone),
		cmocka_unit_test(failed_link_parks_packets_and_drops_copies),
		cmocka_unit_test(marks_in_random_torus_lose_no_packet),
	};

	return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}
