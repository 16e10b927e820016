// SPDX-License-Identifier: GPL-2.0-only
/* A NIC as a whole: set-up, its place, and what a failed link and another place leave behind. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/one_lone.h"

static const struct tn_tail good;

/* --- set-up ----------------------------------------------------------------------------- */

/* A configuration that the NIC cannot work with is refused; test_params.c tries all parameters. */
static void unusable_configuration_is_refused(void **state)
{
	struct tn_nic_config cfg = { .ops = &l.ops };
	u8 *mem = aligned_alloc(64, (tn_nic_size() + 63) & ~63ul);

	(void)state;
	tn_params_default(&cfg.params);
	for (unsigned int n = 0; n < 256; n++) {
		cfg.nports = (u8)n;
		assert_int_equal(tn_nic_init(mem, &cfg, 1),
				 n >= 2 && n <= TORUS_MAX_PORTS && n % 2 == 0 ? 0 : -EINVAL);
	}
	cfg.nports = 4;
	cfg.small_max = TN_PAYLOAD_MIN - 1;
	assert_int_equal(tn_nic_init(mem, &cfg, 1), -EINVAL);
	cfg.small_max = TN_PAYLOAD_MIN;
	assert_int_equal(tn_nic_init(mem, &cfg, 1), 0);
	cfg.params.retry = TORUS_RETRIES;
	assert_int_equal(tn_nic_init(mem, &cfg, 1), -EINVAL);
	cfg.params.retry = TORUS_RETRIES - 1;
	assert_int_equal(tn_nic_init(mem, &cfg, 1), 0);
	cfg.params.slots = 3;
	assert_int_equal(tn_nic_init(mem, &cfg, 1), -EINVAL);
	free(mem);
}

/* A NIC and its tables take no more memory than their size functions return. */
static void nic_takes_no_more_memory_than_its_size(void **state)
{
	struct tn_nic_config cfg = { .ops = &l.ops, .host = &l, .nports = TORUS_MAX_PORTS };
	const struct torus_shape shapes[] = {
		{ 1, { 63, 1, 1, 1, 1, 1 } }, { 1, { 64, 1, 1, 1, 1, 1 } },
		{ 1, { 65, 1, 1, 1, 1, 1 } }, { 2, { 5, 13, 1, 1, 1, 1 } },
		{ 1, { 256, 1, 1, 1, 1, 1 } }, { 1, { 320, 1, 1, 1, 1, 1 } },
	};
	u8 *mem = malloc(tn_nic_size() + 64);

	(void)state;
	tn_params_default(&cfg.params);
	memset(mem, 0xa5, tn_nic_size() + 64);
	assert_int_equal(tn_nic_init(mem, &cfg, 1), 0);
	for (int i = 0; i < 64; i++)
		assert_int_equal(mem[tn_nic_size() + (size_t)i], 0xa5);
	for (unsigned int i = 0; i < ARRAY_SIZE(shapes); i++) {
		size_t size = tn_nic_table_size(&shapes[i]), n = tn_shape_nodes(&shapes[i]);
		struct torus_coords at = { { 0 } };
		u8 *table = aligned_alloc(64, size + 64);
		const struct tn_nic *nic = (void *)mem;

		assert_int_equal(size % 64, 0);
		memset(table, 0, size);
		memset(table + size, 0xa5, 64);
		assert_int_equal(tn_nic_set_shape((void *)mem, &shapes[i], &at, table), 0);
		for (int k = 0; k < 64; k++)
			assert_int_equal(table[size + (size_t)k], 0xa5);
		/* All parts begin on cache lines of their own, in this order, and are zero. */
		assert_true((u8 *)nic->rows == table);
		assert_true((u8 *)nic->shadow >= (u8 *)(nic->rows + n));
		assert_true((u8 *)nic->block >= (u8 *)(nic->shadow + n));
		assert_true((u8 *)nic->shadow_block >= (u8 *)(nic->block + (n + 63) / 64));
		assert_true((u8 *)nic->shadow_block < (u8 *)(nic->block + (n + 63) / 64) + 64);
		assert_true((u8 *)nic->flows.tx >= (u8 *)(nic->shadow_block + (n + 63) / 64));
		assert_true((u8 *)nic->flows.rx >= (u8 *)(nic->flows.tx + n * TN_FLOWS));
		assert_true((u8 *)nic->relay.peer >= (u8 *)(nic->flows.rx + n * TN_FLOWS));
		assert_true((u8 *)(nic->relay.peer + n) <= table + size);
		assert_true((u8 *)(nic->relay.peer + n) > table + size - 64);
		for (size_t k = 0; k < n; k++)
			assert_true(!nic->rows[k] && !nic->flows.tx[TN_FLOWS * k + 1].next &&
				    !nic->flows.rx[TN_FLOWS * k + 1].flags && !nic->relay.peer[k].sent);
		for (size_t k = 0; k < (n + 63) / 64; k++)
			assert_true(!nic->block[k].begins && !nic->shadow_block[k].releases);
		tn_nic_flush((void *)mem);
		free(table);
	}
	free(mem);
}

/* Return: how many pages of @mem have been used. */
static unsigned int pages_used(void *mem, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page;
	unsigned char *in = malloc(n);
	unsigned int used = 0;

	assert_non_null(in);
	assert_int_equal(mincore(mem, bytes, in), 0);
	for (size_t i = 0; i < n; i++)
		used += in[i] & 1;
	free(in);
	return used;
}

/*
 * A host has its lock in these calls: none of them goes through the table of a large torus in one
 * step, but for the one that says how far it goes.
 */
static void calls_do_not_touch_whole_table(void **state)
{
	const struct torus_shape shape = { 3, { 64, 64, 64, 1, 1, 1 } };
	struct tn_nic_config cfg = { .ops = &l.ops, .host = &l, .nports = 6 };
	size_t size = tn_nic_table_size(&shape);
	struct torus_coords at = { { 0 } };
	u8 *mem = malloc(tn_nic_size());
	struct tn_nic *nic = (void *)mem;
	unsigned int used;
	u8 *table;

	(void)state;
	table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(mem && table != MAP_FAILED);
	madvise(table, size, MADV_NOHUGEPAGE);
	tn_params_default(&cfg.params);
	assert_int_equal(tn_nic_init(mem, &cfg, 1), 0);
	assert_int_equal(tn_nic_set_shape(nic, &shape, &at, table), 0);
	assert_in_range(pages_used(table, size), 0, 8);
	assert_int_equal(tn_nic_rows_open(nic, 5000), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 5000, 64), 1);
	assert_in_range(pages_used(table, size), 0, 16);
	assert_int_equal(tn_nic_rows_copy(nic, 5000, ~0u), 0);
	used = pages_used(table, size);
	assert_int_equal(tn_nic_rows_commit(nic, 5000, 1), 0);
	assert_in_range(pages_used(table, size), used, used + 1);
	nic->relay.used = true;
	assert_int_equal(tn_nic_release(nic, 5000, false, 1), 0);
	assert_in_range(pages_used(table, size), used, used + 1);
	tn_nic_flush(nic);
	munmap(table, size);
	free(mem);
}

/* --- its place -------------------------------------------------------------------------------- */

/* A place that differs in any respect is another place: the new memory is used. */
static void another_place_uses_new_memory(void **state)
{
	static const struct { u16 size[3], at[3]; u8 ndims; } places[] = {
		{ { 3, 3, 1 }, { 0, 0, 0 }, 2 }, { { 3, 2, 1 }, { 0, 0, 0 }, 2 },
		{ { 3, 2, 1 }, { 0, 1, 0 }, 2 }, { { 3, 2, 1 }, { 2, 1, 0 }, 2 },
		{ { 3, 1, 1 }, { 2, 0, 0 }, 2 }, { { 3, 1, 1 }, { 2, 0, 0 }, 1 },
	};
	struct torus_shape shape, now;
	struct torus_coords at, is;

	(void)state;
	lone_begin(NULL);
	for (unsigned int i = 1; i < ARRAY_SIZE(places); i++) {
		shape = (struct torus_shape) { places[i].ndims, { 1, 1, 1, 1, 1, 1 } };
		at = (struct torus_coords) { { 0 } };
		memcpy(shape.size, places[i].size, sizeof(places[i].size));
		memcpy(at.c, places[i].at, sizeof(places[i].at));
		memset(i % 2 ? l.spare : l.table, 0, tn_nic_table_size(&shape));
		assert_int_equal(tn_nic_set_shape(l.nic, &shape, &at, i % 2 ? l.spare : l.table),
				 0);
		assert_true((void *)l.nic->rows == (i % 2 ? l.spare : l.table));
		assert_int_equal(tn_nic_set_shape(l.nic, &shape, &at, NULL), 0);
		assert_true(tn_nic_at(l.nic, &now, &is));
		assert_memory_equal(&now, &shape, sizeof(shape));
		assert_memory_equal(&is, &at, sizeof(at));
		assert_int_equal(l.nic->node, tn_node_id(&shape, &at));
	}
	/* Four ports allow only two dimensions; the next values of each are refused. */
	shape = (struct torus_shape) { 3, { 3, 3, 3, 1, 1, 1 } };
	assert_int_equal(tn_nic_set_shape(l.nic, &shape, &at, l.spare), -EINVAL);
	shape = (struct torus_shape) { 2, { 3, 3, 1, 1, 1, 1 } };
	at = (struct torus_coords) { { 0, 3 } };
	assert_int_equal(tn_nic_set_shape(l.nic, &shape, &at, l.spare), -EINVAL);
	at = (struct torus_coords) { { 0, 0, 0, 0, 0, 1 } };
	assert_int_equal(tn_nic_set_shape(l.nic, &shape, &at, l.spare), -EINVAL);
	end();
}

/*
 * A new place empties the NIC: waiting packets are given back, those that counted as injected end
 * as unreachable, and buffers are free again; RETRY buffers keep their packets.
 */
static void new_place_empties_nic(void **state)
{
	const struct torus_coords at = { { 1, 1 } };
	struct tn_park_info park;
	u32 held = 4, live;

	(void)state;
	lone_begin(NULL);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 2, lone_dirs(1));
	lone_row(&l, 4, lone_dirs(3));
	lone_row(&l, 3, lone_dirs(2));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	assert_int_equal(lone_send(&l, 3, 0, 1), 0);
	tn_nic_work(l.nic, l.now);		/* a packet is in a RETRY buffer */
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(lone_send(&l, 1, 0, 1), 0);
	tn_nic_work(l.nic, l.now);		/* a packet is parked */
	assert_int_equal(lone_send(&l, 4, 0, 1), 0);	/* a packet is on hold */
	assert_int_equal(lone_send(&l, 3, 1, 1), 0);	/* a packet is in an injection queue */
	lone_rx_pkt(&l, 1, (struct tn_hdr) { .type = TN_DATA, .src = 3, .vc = 1, .len = 1, .dir = 1,
					  .dst = 1, .first = 15, .last = 15 }, good);
	assert_int_equal(lone_link(&l, 1)->credit.used[1], 1);
	assert_int_equal(tn_nic_rows_begin(l.nic, 77), 0);
	live = l.mem.live;
	assert_int_equal(live, 5);
	assert_int_equal(tn_nic_set_shape(l.nic, &l.shape, &at, l.spare), 0);
	assert_int_equal(l.mem.live, 1);
	assert_int_equal(lone_link(&l, 1)->credit.used[1], 0);
	assert_int_equal(lone_link(&l, 1)->credit.owed[1], 1);
	assert_int_equal(lone_fc(&l, TORUS_FC_UNREACHABLE), 2);
	assert_int_equal(lone_fc(&l, TORUS_FC_PARKED), 1);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 0);
	tn_nic_park_info(l.nic, &park);
	assert_true(!park.parked && !park.bytes && !park.held && !park.unresolved);
	assert_int_equal(park.bytes_max, l.params.park_bytes);
	assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
	assert_int_equal(l.nic->held_bytes, 0);
	assert_true(lone_idle(&l));
	assert_int_equal(l.nic->version, 0);
	assert_int_equal(l.nic->colour, 0);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(tn_nic_rows_commit(l.nic, 77, l.now), -ESTALE);
	assert_int_equal(tn_nic_rows_copy(l.nic, 77, 1), -ESTALE);
	assert_int_equal(lone_send(&l, 3, 0, 1), -EHOSTUNREACH);
	end();
}

/* --- what is left ------------------------------------------------------------------------------ */

static void push(unsigned int port, struct tn_hdr h, u8 vb)
{
	struct tn_pkt *pkt = make_packet(1);

	h.len = 1;
	pkt->hdr = h;
	pkt->tail = (struct tn_tail) { .vb = vb };
	pkt->in_port = TN_PORT_HOST;
	pkt->unresolved = pkt->unsummed = 0;
	tn_link_push(lone_link(&l, port), pkt, l.now);
}

/* A failed link parks the packets of flows, which its peer resolves; others have no other way. */
static void failed_link_parks_packets_of_flows(void **state)
{
	(void)state;
	for (unsigned int port = 0; port < 2; port++) {
		struct tn_init i;

		lone_begin(NULL);
		l.nic->reopening = 3;
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 1 }, 0);
		push(port, (struct tn_hdr) { .type = TN_UNREACH, .dst = 2 }, 0);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 3, .nic = 1 }, 0);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 4 }, TN_VB_BAD);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 5 }, 0);
		assert_int_equal(tn_nic_mgmt_send(l.nic, port, (const u8 *)"x", 1, l.now), 0);
		lone_drain(&l, port);
		tn_nic_carrier(l.nic, port, false, l.now);
		assert_int_equal(l.nic->reopening, port ? 1 : 2);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		assert_int_equal(l.nic->park.q.count, 3);
		assert_int_equal(l.nic->park.q.head->hdr.dst, 1);
		assert_int_equal(l.nic->park.q.head->next->hdr.dst, 2);
		assert_int_equal(l.nic->park.q.tail->hdr.dst, 5);
		assert_int_equal(l.nic->park.unresolved, 3);
		assert_int_equal(l.mem.live, 3);
		push(2, (struct tn_hdr) { .type = TN_DATA, .dst = 6 }, 0);
		tn_nic_carrier(l.nic, 2, false, l.now);
		assert_int_equal(l.nic->park.q.count, 4);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 0);	/* it was not empty before */
		tn_nic_carrier(l.nic, port, true, l.now);
		lone_drain(&l, port);
		i = lone_init_of(&l, port);
		i.last_session = lone_link(&l, port)->session;
		i.last_rseq = (u16)((l.peer[port].rseq - 5) & TN_SEQ_MASK);
		lone_init(&l, port, &i);
		assert_int_equal(l.nic->park.unresolved, 1);
		assert_int_equal(l.nic->park.q.count, 3);	/* the peer had accepted the first */
		l.nic->reopening = 0;
		end();
	}
}

/* A NIC at another place has nothing of the former one; a received packet frees its buffer. */
static void another_place_leaves_nothing(void **state)
{
	struct torus_coords at;
	struct tn_nic *nic;

	(void)state;
	lone_begin(NULL);
	nic = l.nic;
	lone_row(&l, 1, lone_dirs(1) | TORUS_ROW_HOLD);
	assert_int_equal(lone_send(&l, 1, 0, 2), 0);
	assert_true(nic->held_bytes && nic->share[1]);
	lone_link(&l, 2)->closed = true;
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .dst = 2, .src = 1, .dir = 4, .vc = 1,
					     .first = TN_NO_STEP, .last = TN_NO_STEP }, good);
	assert_int_equal(nic->input[1].count, 1);
	nic->reopening = 5;
	nic->cut_short = nic->copying = nic->shadow_open = true;
	nic->relay.riders = 3;
	nic->colour = 2;
	nic->way[3].known = true;
	nic->entry[3].row = 9;
	tn_node_coords(&l.shape, 4, &at);
	assert_int_equal(tn_nic_set_shape(nic, &l.shape, &at, l.spare), 0);
	assert_true(!nic->held_bytes && !nic->share[1] && !nic->held.count && !nic->relay.riders);
	assert_true(!nic->reopening && !nic->cut_short && !nic->copying && !nic->shadow_open);
	assert_true(!nic->colour && !nic->version && nic->node == 4 && lone_idle(&l));
	for (u32 i = 0; i < TN_WAYS; i++)
		assert_true(!nic->way[i].known && !nic->entry[i].row);
	for (u32 i = 0; i < TN_HELD_SHARES; i++)
		assert_int_equal(nic->share[i], 0);
	assert_int_equal(l.mem.live, 0);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
	assert_int_equal(lone_link(&l, 0)->credit.owed[1], 1);
	assert_int_equal(lone_link(&l, 0)->credit.owed_critical[1], 0);
	end();
}

static void set_mbs(struct lone *one)
{
	one->params.bubble = TORUS_BUBBLE_MBS;
}

/* MBS: a request is answered by a false packet, and the buffer of one that came is freed. */
static void link_asks_and_answers_of_rings_reach_the_ring(void **state)
{
	(void)state;
	for (u8 vc = 0; vc < TORUS_VC_A; vc++) {
		struct tn_link *k;

		lone_begin(set_mbs);
		k = lone_link(&l, 0);
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_IDLE, .nic = 1, .vc = vc }, good);
		assert_true(k->retry.tx.sent.count == 1 || l.nic->ring_at != ~0ull);
		lone_drain(&l, 0);
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_CREDIT, .nic = 1, .vc = vc }, good);
		assert_true(!k->credit.used[vc] && k->credit.owed[vc] == 1);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(calls_do_not_touch_whole_table),
		cmocka_unit_test(unusable_configuration_is_refused),
		cmocka_unit_test(nic_takes_no_more_memory_than_its_size),
		cmocka_unit_test(another_place_uses_new_memory),
		cmocka_unit_test(new_place_empties_nic),
		cmocka_unit_test(failed_link_parks_packets_of_flows),
		cmocka_unit_test(another_place_leaves_nothing),
		cmocka_unit_test(link_asks_and_answers_of_rings_reach_the_ring),
	};

	return cmocka_run_group_tests_name("nic_state", all, NULL, NULL);
}
