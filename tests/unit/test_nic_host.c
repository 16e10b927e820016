// SPDX-License-Identifier: GPL-2.0-only
/* The NIC and its host, call by call: limits, fields, queues, counters and events. */
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

/* --- sending ------------------------------------------------------------------------------------ */

static struct tn_pkt *own(u16 len, u8 flags)
{
	struct tn_pkt *pkt = memory_new(&l.mem, len);

	memset(&pkt->hdr, 0xff, sizeof(pkt->hdr));
	memset(&pkt->tail, 0xff, sizeof(pkt->tail));
	pkt->hdr.len = len;
	pkt->tail.flags = flags;
	pkt->unresolved = pkt->stalled = 1;
	return pkt;
}

/* The fields of a sent packet are right on each VC; nothing is left of its former contents. */
static void fields_of_sent_packet_are_right(void **state)
{
	/* Steps only apply to deterministic paths: +y first, +x last. */
	const u64 row = TORUS_ROW_VALID | 3 | 1ull << TORUS_ROW_FIRST_SHIFT |
			0ull << TORUS_ROW_LAST_SHIFT | TORUS_ROW_ADAPTIVE |
			3ull << TORUS_ROW_ADAPT_SHIFT;

	(void)state;
	lone_begin(NULL);
	lone_row(&l, 4, row);
	lone_row(&l, 1, lone_dirs(1));
	release();
	for (unsigned int vc = 0; vc < 2 * TORUS_VCS; vc++) {
		struct tn_pkt *pkt = own(2, 0xf5);
		bool adaptive = vc % 3 == TORUS_VC_A;
		u32 dst = vc < TORUS_VCS ? 4 : 1, port;

		assert_int_equal(tn_nic_send(l.nic, pkt, dst, vc % 3, l.now), 0);
		assert_int_equal(lone_fc(&l, TORUS_FC_INJECTED), vc + !adaptive - vc / 3);
		assert_true(pkt->hdr.src == 0 && pkt->hdr.dst == dst && pkt->hdr.len == 2);
		assert_true(pkt->hdr.type == TN_DATA && !pkt->hdr.nic && !pkt->hdr.relayed);
		assert_int_equal(pkt->hdr.vc, !adaptive || vc < 3 ? vc % 3 : TORUS_VC_D0);
		assert_int_equal(pkt->hdr.dir, dst == 4 ? 3 : 1);
		assert_int_equal(pkt->hdr.first, adaptive || dst == 1 ? TN_NO_STEP : 1);
		assert_int_equal(pkt->hdr.last, adaptive || dst == 1 ? TN_NO_STEP : 0);
		assert_int_equal(pkt->hdr.colour, l.nic->version % TORUS_COLOURS);
		assert_int_equal(pkt->tail.flags, 0x35 | (adaptive ? TN_TAIL_ADAPTIVE : 0));
		assert_int_equal(pkt->tail.eseq, 0);
		assert_int_equal(pkt->tail.epoch, adaptive ? 0 : l.nic->version);
		assert_int_equal(pkt->in_port, TN_PORT_HOST);
		assert_true(!pkt->unresolved && !pkt->stalled && pkt->unsummed == TN_UNSUMMED);
		/* Waits for the port of its first hop, and counts for the VC of its flow. */
		port = dst == 4 && !adaptive;
		assert_int_equal(l.nic->input[TN_INPUT_INJECT + port * TORUS_VCS + vc % 3].count,
				 1 + (vc / 3 && adaptive));
	}
	assert_int_equal(nc(TORUS_NC_INJECTED), 6);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 0);
	end();
}

/* A packet to the node itself is delivered at once, or refused. */
static void packet_to_own_node_is_delivered_at_once(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	lone_begin(NULL);
	l.busy = true;
	assert_int_equal(lone_send(&l, 0, 0, 1), -EAGAIN);
	assert_int_equal(nc(TORUS_NC_INJECTED) + nc(TORUS_NC_DELIVERED), 0);
	l.busy = false;
	assert_int_equal(lone_send(&l, 0, 1, 1), 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 1);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 1);
	assert_int_equal(lone_fc(&l, TORUS_FC_INJECTED) + lone_fc(&l, TORUS_FC_DELIVERED), 0);
	pkt = lone_got(&l);
	assert_true(pkt->hdr.src == 0 && pkt->hdr.dst == 0 && pkt->hdr.vc == 1);
	lone_free(&l, pkt);
	end();
}

/* Invalid arguments are refused, and the last valid value of each is accepted. */
static void invalid_argument_is_refused_and_last_valid_accepted(void **state)
{
	(void)state;
	lone_begin(NULL);
	lone_row(&l, 8, lone_dirs(3));
	release();
	assert_int_equal(lone_send(&l, 9, 0, 1), -EINVAL);
	assert_int_equal(lone_send(&l, 8, TORUS_VCS, 1), -EINVAL);
	assert_int_equal(lone_send(&l, 8, 0, 257), -EINVAL);
	assert_int_equal(lone_send(&l, 7, 0, 1), -EHOSTUNREACH);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	assert_int_equal(lone_fc(&l, TORUS_FC_UNREACHABLE), 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 0);
	assert_int_equal(lone_send(&l, 8, TORUS_VC_A, 256), 0);
	end();
}

/* An injection queue holds TN_INJECT_MAX packets, as many more of messages; each VC has one. */
static void injection_queue_of_each_vc_has_its_limit(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	lone_begin(NULL);
	lone_row(&l, 1, lone_dirs(1));
	release();
	for (u32 n = 0; n < TN_INJECT_MAX; n++) {
		assert_int_equal(tn_nic_room(l.nic, 1, 1), TN_INJECT_MAX - n);
		assert_int_equal(lone_send(&l, 1, 1, 0), 0);
	}
	assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	assert_int_equal(lone_send(&l, 1, 1, 0), -EAGAIN);
	assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
	assert_int_equal(tn_nic_room(l.nic, 1, 2), TN_INJECT_MAX);
	/* A message that has begun ends. The room is then 0, not negative. */
	for (u32 n = 0; n < TN_INJECT_MAX; n++) {
		assert_int_equal(tn_nic_send(l.nic, own(1, TN_TAIL_LAST), 1, 1, l.now), 0);
		assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	}
	pkt = own(1, TN_TAIL_LAST);
	assert_int_equal(tn_nic_send(l.nic, pkt, 1, 1, l.now), -EAGAIN);
	memory_put(&l.mem, pkt);
	end();
}

/* A full injection queue refuses no packet that does not go into it. */
static void full_injection_queue_refuses_no_packet_of_others(void **state)
{
	u32 held = 1;

	(void)state;
	for (unsigned int vc = 0; vc < 2; vc++) {
		lone_begin(NULL);
		for (u32 dst = 1; dst < 9; dst++)
			if (dst != 7)
				lone_row(&l, dst, lone_dirs(1u << dst % 4));
		release();
		for (u32 dst = 1; dst < 5; dst++)
			while (!lone_send(&l, dst, vc, 1))
				;
		/* To the node itself, and to a node that has no row. */
		assert_int_equal(lone_send(&l, 0, vc, 1), 0);
		lone_free(&l, lone_got(&l));
		assert_int_equal(lone_send(&l, 7, vc, 1), -EHOSTUNREACH);
		/* Packets on hold are in a queue of their own. */
		assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
		assert_int_equal(lone_send(&l, 1, vc, 1), 0);
		assert_int_equal(nc(TORUS_NC_HELD), 1);
		end();
	}
}

/* --- fair ------------------------------------------------------------------------------------------ */

/* As many to @dst as there is room for. */
static void fill_up(u32 dst, unsigned int vc)
{
	while (tn_nic_room(l.nic, dst, vc)) {
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
		tn_nic_work(l.nic, l.now);
	}
	assert_int_equal(lone_send(&l, dst, vc, 1), -EAGAIN);
}

/* How many of three packets to @dst are in the next frame of @port. */
static u32 three(u32 dst, unsigned int vc, unsigned int port)
{
	assert_int_equal(tn_nic_room(l.nic, dst, vc), TN_INJECT_MAX);
	for (u32 n = 0; n < 3; n++)
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
	tn_nic_work(l.nic, l.now);
	return lone_tx(&l, port);
}

/* Port 0 has no credits any more. */
static void drain_credits(unsigned int vc)
{
	struct tn_credit *c = &lone_link(&l, 0)->credit;

	c->ct[vc] = c->n_inp[vc];
}

/*
 * A port that has no credits of a VC, or whose link is dead while nothing more can be parked, keeps
 * only what leaves by it, and only on that VC.
 */
static void blocked_port_keeps_only_its_own_packets(void **state)
{
	(void)state;
	for (unsigned int vc = 0; vc < 2; vc++) {
		for (int dead = 0; dead < 2; dead++) {
			lone_begin(NULL);
			lone_row(&l, 1, lone_dirs(1));
			lone_row(&l, 3, lone_dirs(2));
			lone_row(&l, 4, lone_dirs(3));
			release();
			l.no_park = true;
			if (dead)
				tn_nic_admin(l.nic, 0, false, l.now);
			else
				drain_credits(vc);
			fill_up(1, vc);
			/* packets to node 4 leave by the same port */
			assert_int_equal(tn_nic_room(l.nic, 4, vc), 0);
			assert_int_equal(three(3, vc, 1), 3);
			assert_int_equal(three(3, !vc, 1), 3);
			if (!dead)
				assert_int_equal(three(1, !vc, 0), 3);
			assert_int_equal(tn_nic_room(l.nic, 1, vc), 0);
			end();
		}
	}
}

/* --- holds ---------------------------------------------------------------------------------------- */

#define HELD	14	/* packets of 5 flits that may wait for one destination */

static void hold_some(struct lone *t)
{
	t->params.hold_bytes = HELD * 5 * TN_FLIT * 9 / 8;
}

/*
 * Two destinations have the same row, but one is in another column, so packets leave by different ports:
 * each has the room of its own port, also if the NIC remembers the queue of the other.
 */
static void destinations_of_same_row_have_their_own_queues(void **state)
{
	(void)state;
	lone_start(&l, "6x6", 0, NULL);
	lone_all_up(&l);
	lone_row(&l, 6, lone_dirs(3));		/* 0,1: by +y */
	lone_row(&l, 22, lone_dirs(3));		/* 4,3: by +x first */
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	for (unsigned int n = 0; n < TN_INJECT_MAX; n++)
		assert_int_equal(lone_send(&l, 6, 0, 1), 0);
	assert_int_equal(tn_nic_room(l.nic, 6, 0), 0);
	assert_int_equal(tn_nic_room(l.nic, 22, 0), TN_INJECT_MAX);
	assert_int_equal(tn_nic_room(l.nic, 6, 0), 0);
	end();
}

/* The memory that packets on hold occupy counts, however small they are. */
static void memory_of_held_packets_counts(void **state)
{
	u32 held = 1;

	(void)state;
	lone_begin(hold_some);
	l.each = 500;
	lone_row(&l, 1, lone_dirs(1));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	for (u32 n = 0; n < 3; n++)
		assert_int_equal(lone_send(&l, 1, 0, 1), 0);
	assert_int_equal(l.nic->held_bytes, 1500);
	assert_int_equal(lone_send(&l, 1, 0, 1), -EAGAIN);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 3);
	end();
}

/* Packets on hold wait in order, up to 8/9 of hold_bytes; then the host waits for that node. */
static void held_packets_wait_up_to_hold_bytes(void **state)
{
	struct tn_park_info info;
	u32 held = 1;

	(void)state;
	lone_begin(hold_some);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	for (u32 n = 0; n < HELD; n++) {
		assert_true(tn_nic_room(l.nic, 1, 0) > 0);
		assert_int_equal(lone_send(&l, 1, 0, 3), 0);
		assert_int_equal(l.nic->held_bytes, (n + 1) * 80);
	}
	assert_int_equal(tn_nic_room(l.nic, 1, 0), 0);
	assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	assert_int_equal(lone_send(&l, 1, 0, 3), -EAGAIN);
	assert_int_equal(three(3, 0, 1), 3);
	assert_int_equal(nc(TORUS_NC_HELD), HELD);
	assert_int_equal(nc(TORUS_NC_INJECTED), 3);
	tn_nic_park_info(l.nic, &info);
	assert_int_equal(info.held, HELD);
	assert_int_equal(tn_nic_release(l.nic, l.nic->version + 1, false, l.now), -ESTALE);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), HELD + 3);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), HELD);
	for (u32 n = 0; n < HELD; n++)
		assert_int_equal(l.sent[n].tail.eseq, n);
	assert_int_equal(nc(TORUS_NC_HELD), HELD);
	end();
}

static void hold_many(struct lone *t)
{
	t->params.hold_bytes = 81 * 80 * 9;
}

/* Each destination on hold has its share, whatever the others have used, and all are back at 0. */
static void each_held_destination_has_its_share(void **state)
{
	static const u32 nodes[] = { 1, 2, 5 }, most[] = { 648, 72, 8 };

	(void)state;
	lone_begin(hold_many);
	for (u32 i = 0; i < 3; i++)
		lone_row(&l, nodes[i], lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	release();
	assert_int_equal(tn_nic_hold(l.nic, nodes, 3), 0);
	for (u32 i = 0; i < 3; i++) {
		u64 before = nc(TORUS_NC_HELD);

		while (tn_nic_room(l.nic, nodes[i], 0))
			assert_int_equal(lone_send(&l, nodes[i], 0, 3), 0);
		assert_int_equal(nc(TORUS_NC_HELD) - before, most[i]);
	}
	assert_int_equal(l.nic->held_bytes, 728 * 80);
	assert_int_equal(three(3, 0, 1), 3);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	for (u32 i = 0; i < TN_HELD_SHARES; i++)
		assert_int_equal(l.nic->share[i], 0);
	end();
}

/* The row was lost meanwhile: the packets come back as unreachable; none counts as injected. */
static void held_packets_of_lost_row_come_back(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	for (int busy = 0; busy < 2; busy++) {
		u32 held[] = { 1, 4 };

		lone_begin(NULL);
		lone_row(&l, 1, lone_dirs(1));
		lone_row(&l, 4, lone_dirs(3));
		release();
		assert_int_equal(tn_nic_hold(l.nic, held, 2), 0);
		assert_int_equal(lone_send(&l, 4, 0, 1), 0);
		assert_int_equal(lone_send(&l, 1, 1, 3), 0);
		lone_row(&l, 4, 0);	/* the row is lost, but not its hold */
		assert_int_equal(l.nic->held_bytes, 5 * TN_FLIT);
		l.busy = busy;
		l.events = 0;
		lone_row(&l, 1, 0);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		assert_int_equal(l.nic->held_bytes, 0);
		assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
		assert_int_equal(nc(TORUS_NC_INJECTED) + nc(TORUS_NC_DELIVERED), 0);
		assert_int_equal(lone_fc(&l, TORUS_FC_UNREACHABLE), 0);
		pkt = lone_got(&l);
		assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 4 && !pkt->hdr.dst);
		lone_free(&l, pkt);
		pkt = lone_got(&l);
		assert_int_equal(!pkt, busy);	/* a full host loses it */
		if (pkt) {
			assert_true(pkt->hdr.src == 1 && pkt->hdr.vc == 1 && pkt->hdr.len == 3);
			lone_free(&l, pkt);
		}
		assert_int_equal(l.mem.live, 0);
		end();
	}
}

/* --- links ---------------------------------------------------------------------------------------- */

/* Only a port that has something to send, and whose link is not down, is returned. */
static void only_port_with_packets_and_link_is_returned(void **state)
{
	(void)state;
	lone_begin(NULL);
	assert_int_equal(tn_nic_tx_ports(l.nic), 0);
	for (unsigned int p = 0; p < 4; p++) {
		assert_int_equal(tn_nic_mgmt_send(l.nic, p, (const u8 *)"x", 1, l.now), 0);
		assert_int_equal(tn_nic_tx_ports(l.nic), (2u << p) - 1);
	}
	lone_drain(&l, 1);
	assert_int_equal(tn_nic_tx_ports(l.nic), 13);
	tn_nic_admin(l.nic, 2, false, l.now);
	assert_int_equal(tn_nic_tx_ports(l.nic), 9);
	assert_int_equal(l.nic->live, 11);
	lone_events(&l, TN_EV_LINK);
	/* A frame for a port beyond the last is ignored. */
	lone_rx(&l, 4, (const u8 *)"0123456789abcdef", 16);
	assert_int_equal(lone_link(&l, 4)->counter[TORUS_PC_RX_FRAMES], 0);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(calls_do_not_touch_whole_table),
		cmocka_unit_test(unusable_configuration_is_refused),
		cmocka_unit_test(nic_takes_no_more_memory_than_its_size),
		cmocka_unit_test(another_place_uses_new_memory),
		cmocka_unit_test(new_place_empties_nic),
		cmocka_unit_test(fields_of_sent_packet_are_right),
		cmocka_unit_test(packet_to_own_node_is_delivered_at_once),
		cmocka_unit_test(invalid_argument_is_refused_and_last_valid_accepted),
		cmocka_unit_test(injection_queue_of_each_vc_has_its_limit),
		cmocka_unit_test(full_injection_queue_refuses_no_packet_of_others),
		cmocka_unit_test(blocked_port_keeps_only_its_own_packets),
		cmocka_unit_test(held_packets_wait_up_to_hold_bytes),
		cmocka_unit_test(each_held_destination_has_its_share),
		cmocka_unit_test(destinations_of_same_row_have_their_own_queues),
		cmocka_unit_test(memory_of_held_packets_counts),
		cmocka_unit_test(held_packets_of_lost_row_come_back),
		cmocka_unit_test(only_port_with_packets_and_link_is_returned),
	};

	return cmocka_run_group_tests_name("nic_host", all, NULL, NULL);
}
