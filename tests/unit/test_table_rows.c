// SPDX-License-Identifier: GPL-2.0-only
/* Rows and holds: refusals, tables in parts, and long histories compared with a model. */
#include "tests/unit/fabric.h"
#include "tests/unit/lone.h"
#include "lib/util/times.h"

static struct fabric f;

/* --- rows and holds ------------------------------------------------------------------ */

static void only_valid_rows_are_committed(void **state)
{
	const u64 good = TORUS_ROW_VALID | 1 | 15ull << TORUS_ROW_FIRST_SHIFT |
			 15ull << TORUS_ROW_LAST_SHIFT;
	const u64 bad[] = {
		good | 1ull << 60,			/* another format */
		good | TORUS_ROW_RELAY,			/* a relay to the node itself */
		good | TORUS_ROW_RELAY | 9ull << TORUS_ROW_RELAY_SHIFT,
		good | 1 << 4,				/* DIR bit of no direction */
		good | 1ull << (TORUS_ROW_ADAPT_SHIFT + 4),
		(good & ~(15ull << TORUS_ROW_FIRST_SHIFT)) | 4ull << TORUS_ROW_FIRST_SHIFT,
		(good & ~(15ull << TORUS_ROW_LAST_SHIFT)) | 14ull << TORUS_ROW_LAST_SHIFT,
	};
	struct tn_nic *nic;
	u64 rows[2] = { good, good }, version;
	const u64 *active;
	u32 n;

	(void)state;
	fabric_start(&f, 1, "3x3");
	nic = f.node[0].nic;
	assert_int_equal(tn_nic_rows_put(nic, 7, 0, rows, 2), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 7, f.now), -ESTALE);
	assert_int_equal(tn_nic_rows_begin(nic, 7), 0);
	assert_int_equal(tn_nic_rows_put(nic, 8, 0, rows, 2), -ESTALE);
	assert_int_equal(tn_nic_rows_put(nic, 7, 8, rows, 2), -EINVAL);
	assert_int_equal(tn_nic_rows_put(nic, 7, 9, rows, 1), -EINVAL);
	assert_int_equal(tn_nic_rows_put(nic, 7, 0xffffffff, rows, 2), -EINVAL);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tn_nic_rows_put(nic, 7, 1, &bad[i], 1), -EINVAL);
	assert_int_equal(tn_nic_rows_put(nic, 7, 9, rows, 0), 0);
	assert_int_equal(tn_nic_rows_put(nic, 7, 1, rows, 2), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	assert_true(n == 9 && version == 1 && active[2] != good);
	assert_int_equal(tn_nic_rows_commit(nic, 8, f.now), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 7, f.now), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	assert_true(version == 7 && active[1] == good && active[2] == good);
	/* A new begin drops a table that was not committed. */
	assert_int_equal(tn_nic_rows_begin(nic, 8), 0);
	rows[0] = 0;
	assert_int_equal(tn_nic_rows_put(nic, 8, 1, rows, 1), 0);
	assert_int_equal(tn_nic_rows_begin(nic, 9), 0);
	assert_int_equal(tn_nic_rows_commit(nic, 9, f.now), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	assert_true(version == 9 && active[1] == good);
	fabric_end(&f);
}

/* A table is begun in parts: it is not open before the last part; other calls may come between. */
static void table_begun_in_parts_opens_with_last_part(void **state)
{
	const struct torus_shape other = { .ndims = 2, .size = { 2, 2, 1, 1, 1, 1 } };
	const struct torus_coords at = { 0 };
	const u32 early = 2, late = 7;
	struct tn_nic *nic;
	u64 row, version;
	const u64 *active;
	void *mem;
	u32 n;

	(void)state;
	fabric_start(&f, 1, "3x3");
	nic = f.node[0].nic;
	row = *tn_nic_rows_get(nic, 4, 1);
	assert_int_equal(tn_nic_rows_copy(nic, 5, 9), -ESTALE);
	assert_int_equal(tn_nic_rows_open(nic, 5), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 6, 9), -ESTALE);
	assert_int_equal(tn_nic_rows_copy(nic, 5, 4), 1);
	assert_int_equal(tn_nic_rows_put(nic, 5, 4, &row, 1), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 5, f.now), -ESTALE);
	assert_int_equal(tn_nic_hold(nic, &early, 1), 0);
	assert_int_equal(tn_nic_hold(nic, &late, 1), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 5, 4), 1);
	assert_int_equal(tn_nic_rows_copy(nic, 5, ~0u), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 5, 1), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 5, f.now), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	assert_true(version == 5 && !(active[early] & TORUS_ROW_HOLD) &&
		    (active[late] & TORUS_ROW_HOLD) && active[4] == row);
	/* Another begin starts; the first one notices that. */
	assert_int_equal(tn_nic_rows_open(nic, 6), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 6, 8), 1);
	assert_int_equal(tn_nic_rows_begin(nic, 7), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 6, 1), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 7, f.now), 0);
	/* A release between the parts leaves no hold behind in the shadow table. */
	assert_int_equal(tn_nic_rows_open(nic, 8), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 8, 8), 1);
	assert_int_equal(tn_nic_release(nic, 7, false, f.now), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 8, 1), 0);
	assert_int_equal(tn_nic_rows_commit(nic, 8, f.now), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	for (u32 i = 0; i < n; i++)
		assert_false(active[i] & TORUS_ROW_HOLD);
	/* A new place of the NIC ends an open table, too. */
	mem = aligned_alloc(64, tn_nic_table_size(&other));
	assert_non_null(mem);
	memset(mem, 0, tn_nic_table_size(&other));
	assert_int_equal(tn_nic_rows_open(nic, 9), 0);
	assert_int_equal(tn_nic_set_shape(nic, &other, &at, mem), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 9, 1), -ESTALE);
	fabric_end(&f);
	free(mem);
}

/*
 * Packets to destinations on hold wait, in order; others do not wait. New packets have the new
 * colour.
 */
static void held_packets_wait_in_order(void **state)
{
	u32 held[] = { 1, 4 }, wrong[] = { 2, 99 };
	struct tn_nic *nic;
	struct tn_park_info info;
	u32 got[9];

	(void)state;
	fabric_start(&f, 1, "3x3");
	nic = f.node[0].nic;
	assert_int_equal(tn_nic_hold(nic, wrong, 2), -EINVAL);
	assert_int_equal(*tn_nic_rows_get(nic, 2, 1) & TORUS_ROW_HOLD, 0);
	assert_int_equal(tn_nic_hold(nic, held, 2), 0);
	f.load = 3;
	fabric_run(&f, 20 * MS);
	f.load = 1000000000;
	fabric_run(&f, 5 * MS);
	for (u32 i = 0; i < 9; i++)
		got[i] = f.traffic[i].got[0];
	assert_int_equal(got[1], 0);
	assert_int_equal(got[4], 0);
	assert_true(f.traffic[1].sent[0] > 2 && got[2] > 2 && got[2] == f.traffic[2].sent[0]);
	tn_nic_park_info(nic, &info);
	assert_true(info.held >= f.traffic[1].sent[0] + f.traffic[4].sent[0]);
	assert_int_equal(tn_nic_release(nic, f.version + 1, false, f.now), -ESTALE);
	assert_int_equal(tn_nic_release(nic, f.version, false, f.now), 0);
	fabric_settle(&f, 100 * MS);
	assert_true(f.traffic[1].got[0] > 2);
	tn_nic_park_info(nic, &info);
	assert_int_equal(info.held, 0);
	fabric_end(&f);
}

static void little_hold(struct fabric *t)
{
	t->params.hold_bytes = 20 * 6 * TN_FLIT;
}

/* The hold queue has a limit: then the host has to wait. */
static void full_hold_queue_makes_host_wait(void **state)
{
	u32 all[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	fabric_start_tuned(&f, 1, "3x3", little_hold);
	assert_int_equal(tn_nic_hold(f.node[0].nic, all, 9), 0);
	f.load = 2;
	fabric_run(&f, 10 * MS);
	assert_int_equal(tn_nic_room(f.node[0].nic, 1, 0), 0);
	assert_true(f.node[0].nic->held_bytes <= f.params.hold_bytes + tn_packet_max(&f.params));
	assert_int_equal(tn_nic_release(f.node[0].nic, f.version, false, f.now), 0);
	fabric_settle(&f, 100 * MS);
	fabric_end(&f);
}

/* --- a history, compared with a model that visits all rows ---------------------------- */

#define MODEL_NODES	150	/* two blocks and a bit */

/**
 * struct model
 * @copied: rows of a begin in parts; larger than their number: none is under way
 * @fresh: no packet was sent since the row became valid
 * @epoch, @next: of the numbering, for each VC
 */
struct model {
	u64 rows[MODEL_NODES], shadow[MODEL_NODES];
	u64 version, shadow_version;
	u32 copied;
	bool open;
	bool fresh[MODEL_NODES];
	u16 epoch[MODEL_NODES][TN_FLOW_VCS];
	u32 next[MODEL_NODES][TN_FLOW_VCS];
};

static void model_copy(struct model *m, u32 n)
{
	n = n < MODEL_NODES - m->copied ? n : MODEL_NODES - m->copied;
	memcpy(m->shadow + m->copied, m->rows + m->copied, n * sizeof(u64));
	m->copied += n;
	m->open = m->copied == MODEL_NODES;
}

static void step_begin(struct model *m, struct tn_nic *nic)
{
	bool more = m->copied < MODEL_NODES && rnd_below(&f.r, 4);
	u32 n = 1 + rnd_below(&f.r, 100);

	if (!more) {
		m->shadow_version = m->version + 1 + rnd_below(&f.r, 2);
		m->copied = 0;
		expect(&f.r, !tn_nic_rows_open(nic, m->shadow_version), "open");
	}
	model_copy(m, n);
	expect(&f.r, tn_nic_rows_copy(nic, m->shadow_version, n) == !m->open, "copy %u", n);
}

static void step_put(struct model *m, struct tn_nic *nic)
{
	u32 first = rnd_below(&f.r, MODEL_NODES), n = 1 + rnd_below(&f.r, 80), i;
	u64 row[80];

	n = n < MODEL_NODES - first ? n : MODEL_NODES - first;
	for (i = 0; i < n; i++)
		row[i] = (15ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT) + 1 +
			 (rnd_below(&f.r, 3) ? TORUS_ROW_VALID : 0) +
			 (rnd_below(&f.r, 3) ? 0 : TORUS_ROW_HOLD);
	i = (u32)tn_nic_rows_put(nic, m->shadow_version, first, row, n);
	expect(&f.r, (int)i == (m->open ? 0 : -ESTALE), "put at %u, %u rows", first, n);
	if (m->open)
		memcpy(m->shadow + first, row, n * sizeof(*row));
}

static void step_commit(struct model *m, struct tn_nic *nic)
{
	int err = tn_nic_rows_commit(nic, m->shadow_version, f.now);

	expect(&f.r, err == (m->open ? 0 : -ESTALE), "commit");
	if (err)
		return;
	for (u32 i = 0; i < MODEL_NODES; i++)
		if (m->shadow[i] & ~m->rows[i] & TORUS_ROW_VALID)
			m->fresh[i] = true;
	memcpy(m->rows, m->shadow, sizeof(m->rows));
	m->version = m->shadow_version;
	m->open = false;
	m->copied = ~0u;
}

static void step_hold(struct model *m, struct tn_nic *nic)
{
	u32 node[5];

	for (u32 i = 0; i < ARRAY_SIZE(node); i++) {
		node[i] = rnd_below(&f.r, MODEL_NODES);
		m->rows[node[i]] |= TORUS_ROW_HOLD;
	}
	expect(&f.r, !tn_nic_hold(nic, node, ARRAY_SIZE(node)), "hold");
}

static void step_release(struct model *m, struct tn_nic *nic)
{
	expect(&f.r, !tn_nic_release(nic, m->version, false, f.now), "release");
	for (u32 i = 0; i < MODEL_NODES; i++) {
		m->rows[i] &= ~TORUS_ROW_HOLD;
		m->shadow[i] &= ~TORUS_ROW_HOLD;
	}
}

/* Sends a packet, which leaves its queue at once. */
static void step_send(struct model *m, struct tn_nic *nic)
{
	u32 dst = 1 + rnd_below(&f.r, MODEL_NODES - 1), vc = rnd_below(&f.r, TN_FLOW_VCS);
	struct tn_pkt pkt = { 0 };
	int err = tn_nic_send(nic, &pkt, dst, vc, f.now);

	if (m->rows[dst] & TORUS_ROW_HOLD) {
		expect(&f.r, !err && tn_queue_pop(&nic->held) == &pkt, "%u is on hold", dst);
		nic->held_bytes = nic->share[dst % TN_HELD_SHARES] = 0;
		return;
	}
	if (!(m->rows[dst] & TORUS_ROW_VALID)) {
		expect(&f.r, err == -EHOSTUNREACH, "%u has no row", dst);
		return;
	}
	for (u32 i = 0; m->fresh[dst] && i < TN_FLOW_VCS; i++) {
		m->epoch[dst][i] = (u16)m->version;
		m->next[dst][i] = 0;
	}
	m->fresh[dst] = false;
	expect(&f.r, !err && tn_queue_pop(&nic->input[TN_INPUT_INJECT + vc]) == &pkt, "sent");
	expect(&f.r, pkt.tail.epoch == m->epoch[dst][vc] && pkt.tail.eseq == m->next[dst][vc],
	       "%u, VC %u: epoch %u, number %u, want %u, %u", dst, vc, pkt.tail.epoch,
	       pkt.tail.eseq, m->epoch[dst][vc], m->next[dst][vc]);
	m->next[dst][vc]++;
}

static void history(uint64_t seed)
{
	void (*const step[])(struct model *, struct tn_nic *) = {
		step_begin, step_put, step_put, step_commit, step_hold, step_release, step_send,
		step_send, step_send, step_send,
	};
	static struct model m;
	struct torus_coords at = { 0 };
	struct torus_shape shape = { .ndims = 3, .size = { 5, 5, 6, 1, 1, 1 } };
	struct tn_nic *nic;
	void *table;

	fabric_start(&f, seed, "2x2x2");
	nic = f.node[0].nic;
	table = aligned_alloc(64, tn_nic_table_size(&shape));
	assert_non_null(table);
	memset(table, 0, tn_nic_table_size(&shape));
	expect(&f.r, !tn_nic_set_shape(nic, &shape, &at, table), "place");
	memset(&m, 0, sizeof(m));
	m.copied = ~0u;
	for (int i = 0; i < 2000; i++) {
		step[rnd_below(&f.r, ARRAY_SIZE(step))](&m, nic);
		if (!rnd_below(&f.r, 8))
			expect(&f.r, !memcmp(tn_nic_rows_get(nic, 0, MODEL_NODES), m.rows,
					     sizeof(m.rows)), "rows, step %d", i);
	}
	fabric_end(&f);
	free(table);
}

static void random_histories_of_rows_equal_model(void **state)
{
	(void)state;
	for_seeds(40, history);
}

/* --- one NIC alone --------------------------------------------------------------------- */

static struct lone l;

static int put(u32 first, u64 row)
{
	return tn_nic_rows_put(l.nic, 7, first, &row, 1);
}

/* Each part of a row has a last valid value, and the next one is refused. */
static void each_part_of_row_has_last_valid_value(void **state)
{
	static const u64 none = 15ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT;
	static const u64 relay = TORUS_ROW_RELAY | TORUS_ROW_VALID;
	static const struct { u64 row; bool taken; } t[] = {
		{ TORUS_ROW_VALID | none | 15, true }, { TORUS_ROW_VALID | none | 16, false },
		{ TORUS_ROW_VALID | none | 15ull << TORUS_ROW_ADAPT_SHIFT, true },
		{ TORUS_ROW_VALID | none | 16ull << TORUS_ROW_ADAPT_SHIFT, false },
		{ TORUS_ROW_VALID | 3ull << 12 | 15ull << 16, true },
		{ TORUS_ROW_VALID | 4ull << 12 | 15ull << 16, false },
		{ TORUS_ROW_VALID | 14ull << 12 | 15ull << 16, false },
		{ TORUS_ROW_VALID | 15ull << 12 | 3ull << 16, true },
		{ TORUS_ROW_VALID | 15ull << 12 | 4ull << 16, false },
		{ TORUS_ROW_VALID | 15ull << 12 | 14ull << 16, false },
		{ relay | none | 8ull << TORUS_ROW_RELAY_SHIFT, true },
		{ relay | none | 9ull << TORUS_ROW_RELAY_SHIFT, false },
		{ relay | none | 4ull << TORUS_ROW_RELAY_SHIFT, false },	/* itself */
		{ relay | none, true },						/* node 0 */
		/* Without RELAY that field is not a relay; without VALID nothing is checked */
		{ TORUS_ROW_VALID | none | 9ull << TORUS_ROW_RELAY_SHIFT, true },
		{ (1ull << 60) - 1 - TORUS_ROW_VALID, true }, { 0, true },
		/* but the format. */
		{ 1ull << 60, false }, { 1ull << 63, false },
	};
	const u64 two[] = { t[0].row, t[1].row };

	(void)state;
	lone_start(&l, "3x3", 4, NULL);
	assert_int_equal(tn_nic_rows_begin(l.nic, 7), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++)
		assert_int_equal(put(2, t[i].row), t[i].taken ? 0 : -EINVAL);
	/* Either all rows are written or none. */
	assert_int_equal(tn_nic_rows_put(l.nic, 7, 5, two, 2), -EINVAL);
	assert_int_equal(put(8, t[0].row), 0);
	assert_int_equal(put(9, t[0].row), -EINVAL);
	assert_int_equal(tn_nic_rows_put(l.nic, 7, 9, two, 0), 0);
	assert_int_equal(tn_nic_rows_put(l.nic, 7, 10, two, 0), -EINVAL);
	assert_int_equal(tn_nic_rows_commit(l.nic, 7, l.now), 0);
	assert_int_equal(*tn_nic_rows_get(l.nic, 5, 1), 0);
	assert_int_equal(*tn_nic_rows_get(l.nic, 8, 1), t[0].row);
	assert_non_null(tn_nic_rows_get(l.nic, 0, 9));
	assert_non_null(tn_nic_rows_get(l.nic, 9, 0));
	assert_null(tn_nic_rows_get(l.nic, 0, 10));
	assert_null(tn_nic_rows_get(l.nic, 8, 2));
	assert_null(tn_nic_rows_get(l.nic, 10, 0));
	lone_end(&l);
}

/* A commit: later packets have the new colour; relays wait for the next release. */
static void packets_after_commit_have_new_colour(void **state)
{
	const u64 relay = lone_dirs(1) | TORUS_ROW_RELAY | 1ull << TORUS_ROW_RELAY_SHIFT;
	u64 row = lone_dirs(1);

	(void)state;
	lone_start(&l, "3x3", 0, NULL);
	lone_all_up(&l);
	for (u64 version = 1000; version < 1004; version++) {
		assert_int_equal(tn_nic_rows_begin(l.nic, version), 0);
		assert_int_equal(tn_nic_rows_put(l.nic, version, 1, &row, 1), 0);
		assert_int_equal(tn_nic_rows_put(l.nic, version, 8, &relay, 1), 0);
		assert_int_equal(tn_nic_rows_commit(l.nic, version, l.now), 0);
		assert_int_equal(tn_nic_rows_commit(l.nic, version, l.now), -ESTALE);
		assert_int_equal(lone_send(&l, 1, 0, 1), 0);
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
		tn_nic_work(l.nic, l.now);
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.sent[0].hdr.colour, version % 4);
		assert_int_equal(l.sent[0].tail.epoch, 1000);	/* epoch of the row's beginning */
		assert_int_equal(l.nic->held.count, 1);
		assert_int_equal(tn_nic_release(l.nic, version - 1, false, l.now), -ESTALE);
		assert_int_equal(l.nic->held.count, 1);
		assert_int_equal(tn_nic_release(l.nic, version, false, l.now), 0);
		tn_nic_work(l.nic, l.now);
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.sent[0].via.gen, version);
		assert_int_equal(lone_nc(&l, TORUS_NC_HELD), version - 999);
	}
	lone_end(&l);
}

/*
 * The next table ends a replay: packets parked later are not replayed too, and flows may not begin
 * with a gap any more.
 */
static void commit_ends_replay_and_license(void **state)
{
	(void)state;
	lone_start(&l, "3x3", 0, NULL);
	lone_row(&l, 1, lone_dirs(1));
	assert_int_equal(tn_nic_park_replay(l.nic, 1, 1, l.now), 0);
	assert_int_equal(tn_nic_release(l.nic, 1, true, l.now), 0);
	assert_true(l.nic->park.through && l.nic->flows.licensed);
	lone_row(&l, 1, lone_dirs(4));
	assert_false(l.nic->park.through || l.nic->flows.licensed);
	lone_end(&l);
}

/*
 * Versions that went on by 2^13 leave an epoch too old to be compared: whatever comes next in
 * its flow begins it anew. Otherwise the flow would ignore half of all epochs.
 */
static void commit_far_ahead_lets_old_flow_begin_anew(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .src = 1, .dir = 15, .first = 15, .last = 15 };
	const struct tn_tail old = { .epoch = 5 }, next = { .epoch = 0x9005 };

	(void)state;
	lone_start(&l, "3x3", 0, NULL);
	lone_all_up(&l);
	lone_rx_pkt(&l, 0, h, old);
	lone_rx_pkt(&l, 0, h, next);	/* the packet is late, as long as epochs can be compared */
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_clear(&l), 1);
	assert_int_equal(tn_nic_rows_begin(l.nic, 0x3000), 0);
	assert_int_equal(tn_nic_rows_commit(l.nic, 0x3000, l.now), 0);
	lone_rx_pkt(&l, 0, h, next);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_clear(&l), 1);
	lone_end(&l);
}

/*
 * 256 rows are four blocks, which fill the lines of memory that they lie in. Behind them are the flows:
 * what is done to all rows does not touch these.
 */
static void last_rows_end_with_their_block(void **state)
{
	struct lone t;

	(void)state;
	lone_start(&t, "16x16", 1, NULL);
	lone_all_up(&t);
	for (unsigned int n = 0; n < 3; n++) {
		lone_row(&t, 255, lone_dirs(4));
		lone_row(&t, 0, lone_dirs(4));
		assert_int_equal(tn_nic_release(t.nic, t.nic->version, false, t.now), 0);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(lone_send(&t, 0, 0, 1), 0);
		tn_nic_work(t.nic, t.now);
		assert_int_equal(lone_tx(&t, 2), 3);
		assert_int_equal(t.sent[0].tail.eseq, 3 * n);
		lone_ack(&t, 2);
	}
	lone_end(&t);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_valid_rows_are_committed),
		cmocka_unit_test(table_begun_in_parts_opens_with_last_part),
		cmocka_unit_test(held_packets_wait_in_order),
		cmocka_unit_test(full_hold_queue_makes_host_wait),
		cmocka_unit_test(random_histories_of_rows_equal_model),
		cmocka_unit_test(each_part_of_row_has_last_valid_value),
		cmocka_unit_test(packets_after_commit_have_new_colour),
		cmocka_unit_test(commit_ends_replay_and_license),
		cmocka_unit_test(commit_far_ahead_lets_old_flow_begin_anew),
		cmocka_unit_test(last_rows_end_with_their_block),
	};

	return cmocka_run_group_tests_name("table_rows", all, NULL, NULL);
}
