// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands to a software NIC: its place, its rows, its replies. If one kept the lock too long,
 * packets would wait; if a place that is refused replaced the old table, they would be lost.
 */
#include "tests/unit/softnic.h"

/* --- place ------------------------------------------------------------------------------- */

static int place(u16 x, u16 y, u16 z)
{
	struct torus_shape shape = {
		.ndims = z > 1 ? 3 : 2, .size = { x, y, z, 1, 1, 1 },
	};
	struct torus_coords at = { { 1, 1 } };

	return OP.place(HW, &shape, &at);
}

static void expect_rows(u32 want, u64 want_version)
{
	u64 version = ~0ull;
	u32 n = ~0u;

	assert_true(OP.rows(HW, &n, &version));
	softnic_did(0, false);
	assert_int_equal(n, want);
	assert_int_equal(version, want_version);
}

/* A new place exchanges the table, frees the old one, and gives the host side the new shape. */
static void new_place_exchanges_table(void **state)
{
	u64 row = ~0ull, version;
	void *first;
	u32 n;

	(void)state;
	softnic_begin();
	assert_false(OP.rows(HW, &n, &version));
	assert_int_equal(softnic_did(place(4, 3, 1), true), 0);
	assert_int_equal(w.tables, 1);
	assert_int_equal(w.s.shape.size[1], 3);
	assert_ptr_equal(w.s.host.shape, &w.s.shape);
	expect_rows(12, 0);
	assert_int_equal(OP.rows_get(HW, 11, 1, &row), 0);
	assert_false(row & TORUS_ROW_VALID);
	first = w.s.table;
	assert_int_equal(softnic_did(place(8, 8, 1), true), 0);
	assert_ptr_not_equal(w.s.table, first);
	assert_int_equal(w.tables, 1);
	assert_int_equal(w.s.shape.size[1], 8);
	expect_rows(64, 0);
	softnic_end();
}

static void commit(u64 version)
{
	assert_int_equal(OP.rows_begin(HW, version), 0);
	assert_int_equal(OP.rows_commit(HW, version), 0);
}

/* A message of the host that the NIC had no room for yet. */
static void waiting_message(void)
{
	static struct torus_host_msg msg;

	msg = (struct torus_host_msg) { .bytes = 64, .dst = 1 };
	torus_host_wait(&w.s.host, &msg, w.l.now);
}

/*
 * A place that is refused, or for whose tables there is no memory, leaves all as it was. With
 * another place nodes have other numbers: a message to one of the old ones is dropped.
 */
static void failed_place_leaves_all_as_it_was(void **state)
{
	void *table;

	(void)state;
	softnic_begin();
	assert_int_equal(place(4, 3, 1), 0);
	commit(7);
	waiting_message();
	table = w.s.table;
	w.is_out = true;
	w.locks = 0;
	assert_int_equal(place(8, 8, 1), -ENOMEM);
	assert_int_equal(w.locks, 0);
	w.is_out = false;
	assert_int_equal(place(2, 2, 2), -EINVAL);
	assert_ptr_equal(w.s.table, table);
	assert_int_equal(w.tables, 1);
	assert_int_equal(w.s.shape.size[0], 4);
	assert_int_equal(w.s.shape.ndims, 2);
	expect_rows(12, 7);
	assert_int_equal(w.forgot, 0);
	assert_int_equal(place(4, 4, 1), 0);
	assert_int_equal(w.forgot, 1);
	softnic_end();
}

/* --- rows ----------------------------------------------------------------------------------- */

static u64 row_of(u32 i)
{
	return lone_dirs(1 << i % SOFTNIC_PORTS);
}

static void write_rows(u64 version, u32 n)
{
	static u8 bytes[40000 * sizeof(u64) + 1];

	for (u32 i = 0; i < n; i++)
		memcpy(bytes + 1 + i * sizeof(u64), &(u64) { row_of(i) }, sizeof(u64));
	assert_int_equal(OP.rows_begin(HW, version), 0);
	assert_int_equal(softnic_did(OP.rows_put(HW, version, 0, bytes + 1, n), false), 0);
	assert_int_equal(softnic_did(OP.rows_commit(HW, version), true), 0);
}

static void expect_copy(u32 n)
{
	u8 bytes[3 * sizeof(u64) + 2];
	u64 row;

	bytes[sizeof(bytes) - 1] = 0x5a;
	assert_int_equal(OP.rows_get(HW, n - 3, 3, bytes + 1), 0);
	assert_int_equal(bytes[sizeof(bytes) - 1], 0x5a);
	memcpy(&row, bytes + 1 + 2 * sizeof(row), sizeof(row));
	assert_int_equal(row, row_of(n - 1));
	for (u32 i = 0; i < n; i++) {
		assert_int_equal(softnic_did(OP.rows_get(HW, i, 1, bytes + 1), false), 0);
		memcpy(&row, bytes + 1, sizeof(row));
		assert_int_equal(row, row_of(i));
	}
}

/* A table is begun in slices, between which others have the NIC; it is whole all the same. */
static void table_is_begun_in_slices_and_is_whole(void **state)
{
	static const struct { u16 x, y; unsigned int rests; } shapes[] = {
		{ 4, 4, 0 }, { 1024, 8, 0 }, { 2731, 3, 1 }, { 4096, 8, 3 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(shapes); i++) {
		u32 n = (u32)shapes[i].x * shapes[i].y;

		softnic_begin();
		assert_int_equal(place(shapes[i].x, shapes[i].y, 1), 0);
		write_rows(1, n);
		w.locks = w.rests = 0;
		assert_int_equal(OP.rows_begin(HW, 2), 0);
		assert_int_equal(w.rests, shapes[i].rests);
		assert_int_equal(w.locks, shapes[i].rests + 1);
		assert_int_equal(softnic_did(0, false), 0);
		assert_int_equal(OP.rows_commit(HW, 2), 0);
		expect_copy(n);
		softnic_end();
	}
}

static void begin_another(void)
{
	assert_int_equal(tn_nic_rows_open(w.l.nic, 77), 0);
}

/* If the NIC gets another version between two slices, it does not take both for one. */
static void begin_overtaken_by_other_version_is_refused(void **state)
{
	(void)state;
	softnic_begin();
	assert_int_equal(place(4096, 8, 1), 0);
	w.on_rest = begin_another;
	assert_int_equal(softnic_did(OP.rows_begin(HW, 2), false), -ESTALE);
	assert_int_equal(w.rests, 1);
	softnic_end();
}

static void impossible_writing_of_rows_is_refused(void **state)
{
	static const u32 node[] = { 0 };
	u64 row = lone_dirs(1) | 1ull << 60;

	(void)state;
	softnic_begin();
	assert_int_equal(softnic_did(OP.rows_begin(HW, 1), false), -ENODEV);
	assert_int_equal(softnic_did(OP.hold(HW, node, 1), true), -ENODEV);
	assert_int_equal(softnic_did(OP.rows_get(HW, 0, 1, &row), false), -ERANGE);
	assert_int_equal(place(4, 4, 1), 0);
	assert_int_equal(softnic_did(OP.rows_put(HW, 1, 0, &row, 1), false), -ESTALE);
	assert_int_equal(OP.rows_begin(HW, 1), 0);
	assert_int_equal(softnic_did(OP.rows_put(HW, 1, 0, &row, 1), false), -EINVAL);
	assert_int_equal(softnic_did(OP.rows_get(HW, 16, 1, &row), false), -ERANGE);
	assert_int_equal(softnic_did(OP.rows_commit(HW, 2), true), -ESTALE);
	assert_int_equal(softnic_did(OP.release(HW, 5, false), true), -ESTALE);
	assert_int_equal(softnic_did(OP.park_replay(HW, 5, 1), true), -ESTALE);
	softnic_end();
}

/* --- what it tells ------------------------------------------------------------------------------ */

static void counters_and_holds_of_nic_are_reported(void **state)
{
	static const u32 node[] = { 1, 2 };
	struct torus_device device = { 0 };
	struct torus_flow flow;
	struct torus_park park;

	(void)state;
	softnic_begin();
	place(4, 4, 1);
	commit(5);
	assert_int_equal(softnic_did(OP.hold(HW, node, 2), true), 0);
	tn_nic_counters(w.l.nic)[TORUS_NC_HOST_RX_DROPS] = 11;
	OP.device_get(HW, &device);
	softnic_did(0, false);
	assert_int_equal(device.relay_packets, w.s.params.relay_packets);
	assert_int_equal(device.payload_max, w.s.params.payload_max);
	assert_int_equal(device.counter[TORUS_NC_HOST_DROPS], 11);
	assert_int_equal(softnic_did(OP.flow_get(HW, &flow), false), 0);
	assert_int_equal(flow.version, 5);
	assert_int_equal(softnic_did(OP.park_get(HW, &park), false), 0);
	assert_int_equal(park.flow.version, 5);
	assert_int_equal(softnic_did(OP.park_resolve(HW, 1, 4, 0, true), true), 0);
	assert_int_equal(softnic_did(OP.park_replay(HW, 5, 1), true), 0);
	assert_int_equal(softnic_did(OP.release(HW, 5, false), true), 0);
	softnic_end();
}

/*
 * Only TN_SOFT_EVENTS events are kept. When there were more, this is known, and those kept are
 * right.
 */
static void events_beyond_limit_are_known_as_lost(void **state)
{
	static const struct tn_event park = { .type = TN_EV_PARK };
	struct tn_event ev = { .type = TN_EV_LINK };

	(void)state;
	softnic_begin();
	tn_soft_note(&w.s, &park);
	tn_soft_note(&w.s, &park);
	assert_true(w.s.park_event);
	assert_int_equal(w.s.nevents, 0);
	for (unsigned int i = 0; i < TN_SOFT_EVENTS; i++) {
		ev.port = (u8)i;
		tn_soft_note(&w.s, &ev);
	}
	assert_false(w.s.events_lost);
	tn_soft_note(&w.s, &park);
	assert_false(w.s.events_lost);
	tn_soft_note(&w.s, &ev);
	assert_true(w.s.events_lost);
	assert_int_equal(w.s.nevents, TN_SOFT_EVENTS);
	for (unsigned int i = 0; i < TN_SOFT_EVENTS; i++)
		assert_int_equal(w.s.event[i].port, (u8)i);
	softnic_end();
}

/* Before its memory is freed a NIC gives back all packets, those of the core and of the host. */
static void freed_nic_gives_back_all_packets(void **state)
{
	(void)state;
	softnic_begin();
	assert_int_equal(place(4, 4, 1), 0);
	waiting_message();
	lone_row(&w.l, 3, lone_dirs(1));
	assert_int_equal(lone_send(&w.l, 3, 0, 8), 0);
	assert_int_equal(w.l.mem.live, 1);
	softnic_end();
}

static void new_nic_has_its_defaults(void **state)
{
	void *mem = aligned_alloc(64, (tn_nic_size() + 63) & ~63ul);
	struct tn_soft *s = &w.s;

	(void)state;
	assert_non_null(mem);
	softnic_begin();
	assert_int_equal(s->hw.rows_gen, 1);
	assert_int_equal(w.l.cfg.guid, LONE_GUID);
	assert_int_equal(w.l.cfg.epoch, 7);
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		assert_ptr_equal(s->port[i].serdes.serdes.ops, s->port[3].serdes.serdes.ops);
	for (unsigned int i = 2; i < SOFTNIC_PORTS; i++)
		assert_ptr_equal(tn_nic_train(w.l.nic, i)->serdes, &s->port[i].serdes.serdes);
	s->hw.nports = 3;
	s->hw.rows_gen = 5;
	assert_int_equal(tn_soft_init(s, mem, &w.l.cfg, NULL, NULL, w.l.now), -EINVAL);
	assert_int_equal(s->hw.rows_gen, 5);
	s->hw.nports = SOFTNIC_PORTS;
	free(mem);
	softnic_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_place_exchanges_table),
		cmocka_unit_test(failed_place_leaves_all_as_it_was),
		cmocka_unit_test(table_is_begun_in_slices_and_is_whole),
		cmocka_unit_test(begin_overtaken_by_other_version_is_refused),
		cmocka_unit_test(impossible_writing_of_rows_is_refused),
		cmocka_unit_test(counters_and_holds_of_nic_are_reported),
		cmocka_unit_test(events_beyond_limit_are_known_as_lost),
		cmocka_unit_test(freed_nic_gives_back_all_packets),
		cmocka_unit_test(new_nic_has_its_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
