// SPDX-License-Identifier: GPL-2.0-only
/* Rows, holds, colours, parking and replay, in a torus whose cables die. */
#include "tests/unit/fabric.h"

#define MS 1000000ull
#define US 1000ull

static struct fabric f;

static void tight(struct fabric *t)
{
	t->params.slots = 4 + rnd_below(&t->r, 12);
	t->params.retry_packets = 1 + rnd_below(&t->r, 64);
	t->max_flits = rnd_below(&t->r, 4) ? 4 : 64;
}

/* --- cables die and come back ---------------------------------------------------- */

static u64 parked_ever(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[TORUS_NC_PARKED];
	return sum;
}

static u64 counters(enum torus_node_counter which)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[which];
	return sum;
}

static void random_cable(u32 *node, unsigned int *port)
{
	*node = rnd_below(&f.r, f.n);
	do {
		*port = rnd_below(&f.r, f.nports);
	} while (!fabric_wired(&f, *port));
}

static const char *const shapes[] = { "4x4", "3x3x2", "2x2x2", "5x2", "2x1x4", "2x2x2x2" };

/* One cable is pulled under traffic, later put back: nobody notices. */
static void one_cut(uint64_t seed)
{
	unsigned int port;
	u32 node;

	fabric_start_tuned(&f, seed, shapes[seed % ARRAY_SIZE(shapes)], tight);
	f.load = 2 + rnd_below(&f.r, 3);
	f.busy_host = rnd_below(&f.r, 2) ? 4 : 0;
	fabric_run(&f, 2 * MS);
	random_cable(&node, &port);
	fabric_carrier(&f, node, port, false);
	fabric_run(&f, rnd_below(&f.r, MS));
	fabric_recover(&f, 3000 * MS);
	fabric_run(&f, 2 * MS);
	fabric_carrier(&f, node, port, true);
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 3000 * MS);
	fabric_run(&f, MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST) && !counters(TORUS_NC_DUPLICATES),
	       "lost %llu, duplicates %llu", (unsigned long long)counters(TORUS_NC_LOST),
	       (unsigned long long)counters(TORUS_NC_DUPLICATES));
	fabric_end(&f);
}

static void test_one_cut(void **state)
{
	(void)state;
	for_seeds(60, one_cut);
}

/* Cables die and return at any moment, recoveries overtake each other. */
static void many_cuts(uint64_t seed)
{
	u32 node[2];
	unsigned int port[2];
	bool down[2] = { false, false };
	u64 parked;

	fabric_start_tuned(&f, seed, seed % 2 ? "4x4" : "3x3x2", tight);
	f.load = 3;
	fabric_run(&f, MS);
	for (int round = 0; round < 4; round++) {
		unsigned int k = rnd_below(&f.r, 2);

		if (!down[k])
			random_cable(&node[k], &port[k]);
		down[k] = !down[k];
		fabric_carrier(&f, node[k], port[k], !down[k]);
		fabric_run(&f, rnd_below(&f.r, 3 * MS));
		/* Some recoveries are cut short and begun anew. */
		if (rnd_below(&f.r, 3))
			fabric_recover(&f, 4000 * MS);
	}
	for (int k = 0; k < 2; k++) {
		if (down[k])
			fabric_carrier(&f, node[k], port[k], true);
	}
	parked = parked_ever();
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 4000 * MS);
	expect(&f.r, parked_ever() >= parked, "monotone");
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST), "lost");
	fabric_end(&f);
}

static void test_many_cuts(void **state)
{
	(void)state;
	for_seeds(60, many_cuts);
}

static void soon_silent(struct fabric *t)
{
	tight(t);
	t->params.keepalive = 10 * MS;
	t->params.silence = 35 * MS;
	t->params.probe_interval = 10 * MS;
}

/* Silence, not carrier: RETRY buffers are full when the link is given up. */
static void silence_one(uint64_t seed)
{
	unsigned int port;
	u32 node;

	fabric_start_tuned(&f, seed, "4x2", soon_silent);
	f.load = 4;
	fabric_run(&f, 2 * MS);
	random_cable(&node, &port);
	fabric_silence(&f, node, port, true);
	fabric_run(&f, 50 * MS);
	expect(&f.r, f.node[node].nic->link[port].state == TORUS_LINK_FAULTY, "faulty");
	fabric_recover(&f, 3000 * MS);
	fabric_silence(&f, node, port, false);
	fabric_run(&f, 15 * MS);
	fabric_recover(&f, 3000 * MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST) && !counters(TORUS_NC_DUPLICATES),
	       "lost");
	fabric_end(&f);
}

static void test_silence(void **state)
{
	(void)state;
	for_seeds(6, silence_one);
}

/* --- parking ----------------------------------------------------------------------- */

static void small_park(struct fabric *t)
{
	tight(t);
	t->params.payload_max = TN_PAYLOAD_MIN;
	t->params.park_bytes = 40 * 6 * TN_FLIT;
	t->max_flits = 4;
}

/* The parking segment is full: senders wait, nothing is dropped. */
static void full_one(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "4", small_park);
	f.load = 2;
	fabric_run(&f, MS);
	fabric_carrier(&f, 0, 0, false);
	fabric_carrier(&f, 2, 0, false);
	fabric_run(&f, 40 * MS);
	for (u32 i = 0; i < f.n; i++) {
		const struct tn_park *p = &f.node[i].nic->park;

		/* RETRY buffers are taken whatever there is room for. */
		expect(&f.r, p->bytes <= p->bytes_max +
		       2ull * f.params.retry_packets * 6 * TN_FLIT, "%llu bytes parked",
		       (unsigned long long)p->bytes);
	}
	expect(&f.r, f.node[0].nic->park.full, "full");
	expect(&f.r, !tn_nic_room(f.node[0].nic, TORUS_VC_D0), "room behind a full segment");
	if (rnd_below(&f.r, 2)) {	/* round the other way, which is not cut */
		fabric_carrier(&f, 2, 0, true);
	} else {
		fabric_carrier(&f, 0, 0, true);
		fabric_carrier(&f, 2, 0, true);
	}
	f.load = 1000000000;
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 4000 * MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST), "lost");
	fabric_end(&f);
}

static void test_full(void **state)
{
	(void)state;
	for_seeds(10, full_one);
}

static void test_park_commands(void **state)
{
	struct tn_park_info info;
	struct tn_nic *nic;

	(void)state;
	fabric_start(&f, 1, "3");
	nic = f.node[0].nic;
	f.load = 3;
	fabric_run(&f, 2 * MS);
	f.load = 1000000000;
	fabric_carrier(&f, 0, 0, false);
	fabric_run(&f, 10 * MS);
	assert_true(nic->link[0].closed);
	assert_int_equal(tn_nic_park_replay(nic, f.version + 1, 1, f.now), -ESTALE);
	assert_int_equal(tn_nic_park_resolve(nic, f.nports, 1, 0, false), -EINVAL);
	tn_nic_park_info(nic, &info);
	assert_int_equal(info.bytes_max, f.params.park_bytes);
	if (info.unresolved)
		assert_int_equal(tn_nic_park_replay(nic, f.version, 1, f.now), -EBUSY);
	fabric_recover(&f, 1000 * MS);
	tn_nic_park_info(nic, &info);
	assert_int_equal(info.parked, 0);
	assert_int_equal(info.bytes, 0);
	fabric_settle(&f, 1000 * MS);
	fabric_end(&f);
}

/* --- unreachable -------------------------------------------------------------------- */

/*
 * One node is cut off: what is bound for it comes back, all else goes on. Only
 * what is inside the lone node on its way between others can neither go on nor
 * go back; it is counted there.
 */
static void cut_off(uint64_t seed)
{
	u32 lone;
	u64 back = 0, inside = 0;

	fabric_start_tuned(&f, seed, "3x3", tight);
	f.lossy = true;		/* returned packets leave gaps in their flows */
	f.load = 3;
	fabric_run(&f, 2 * MS);
	lone = rnd_below(&f.r, f.n);
	for (unsigned int p = 0; p < f.nports; p++)
		fabric_carrier(&f, lone, p, false);
	fabric_run(&f, MS);
	fabric_recover(&f, 4000 * MS);
	fabric_run(&f, 2 * MS);
	f.load = 0;
	fabric_run(&f, 50 * MS);
	for (u32 i = 0; i < f.n * f.n; i++) {
		u32 src = i / f.n, dst = i % f.n;
		const struct traffic *t = &f.traffic[i];

		if (src == lone || dst == lone) {
			back += t->back[0] + t->back[1] + t->back[2];
			continue;
		}
		for (int vc = 0; vc < TORUS_VCS; vc++)
			expect(&f.r, t->got[vc] <= t->sent[vc] && !t->back[vc],
			       "%u -> %u, VC %d: sent %u, got %u", src, dst, vc, t->sent[vc],
			       t->got[vc]);
		inside += t->sent[2] - t->got[2];
		for (int vc = 0; vc < 2; vc++)
			inside += t->sent[vc] - t->arrived[vc];
	}
	expect(&f.r, inside <= tn_nic_counters(f.node[lone].nic)[TORUS_NC_UNREACHABLE],
	       "%llu packets went amiss", (unsigned long long)inside);
	expect(&f.r, back && f.returned == back, "returned %llu", (unsigned long long)back);
	expect(&f.r, counters(TORUS_NC_RETURNED) <= f.returned, "counted");
	expect(&f.r, counters(TORUS_NC_UNREACHABLE) >= back, "counted");
	/* It is cabled again: flows to it start anew. */
	for (unsigned int p = 0; p < f.nports; p++)
		fabric_carrier(&f, lone, p, true);
	fabric_run(&f, 50 * MS);
	fabric_recover(&f, 4000 * MS);
	back = f.delivered;
	f.load = 3;
	fabric_run(&f, 2 * MS);
	expect(&f.r, f.delivered > back + 50, "traffic again");
	fabric_end(&f);
}

static void test_unreachable(void **state)
{
	(void)state;
	for_seeds(20, cut_off);
}

/* --- rows and holds ------------------------------------------------------------------ */

static void test_rows(void **state)
{
	const u64 good = TORUS_ROW_VALID | 1 | 15ull << TORUS_ROW_FIRST_SHIFT |
			 15ull << TORUS_ROW_LAST_SHIFT;
	const u64 bad[] = {
		good | 1ull << 60,			/* another format */
		good | TORUS_ROW_RELAY,			/* to itself */
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
	/* A begin drops a table that was not committed. */
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

/* A begin in parts: nothing is open before its end, and others may come between. */
static void test_rows_parts(void **state)
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
	/* Another one begins; the first finds out. */
	assert_int_equal(tn_nic_rows_open(nic, 6), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 6, 8), 1);
	assert_int_equal(tn_nic_rows_begin(nic, 7), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 6, 1), -ESTALE);
	assert_int_equal(tn_nic_rows_commit(nic, 7, f.now), 0);
	/* A release between the parts leaves no hold behind in the shadow. */
	assert_int_equal(tn_nic_rows_open(nic, 8), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 8, 8), 1);
	assert_int_equal(tn_nic_release(nic, 7, false, f.now), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 8, 1), 0);
	assert_int_equal(tn_nic_rows_commit(nic, 8, f.now), 0);
	assert_true(tn_nic_rows(nic, &n, &version));
	active = tn_nic_rows_get(nic, 0, n);
	for (u32 i = 0; i < n; i++)
		assert_false(active[i] & TORUS_ROW_HOLD);
	/* And so it does when the NIC moves. */
	mem = aligned_alloc(64, tn_nic_table_size(&other));
	assert_int_equal(tn_nic_rows_open(nic, 9), 0);
	assert_int_equal(tn_nic_set_shape(nic, &other, &at, mem), 0);
	assert_int_equal(tn_nic_rows_copy(nic, 9, 1), -ESTALE);
	fabric_end(&f);
	free(mem);
}

/* Held packets wait, in order, and only those; new ones carry the new colour. */
static void test_holds(void **state)
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
static void test_hold_limit(void **state)
{
	u32 all[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	fabric_start_tuned(&f, 1, "3x3", little_hold);
	assert_int_equal(tn_nic_hold(f.node[0].nic, all, 9), 0);
	f.load = 2;
	fabric_run(&f, 10 * MS);
	assert_int_equal(tn_nic_room(f.node[0].nic, 0), 0);
	assert_true(f.node[0].nic->held_bytes <= f.params.hold_bytes + tn_packet_max(&f.params));
	assert_int_equal(tn_nic_release(f.node[0].nic, f.version, false, f.now), 0);
	fabric_settle(&f, 100 * MS);
	fabric_end(&f);
}

/* --- a history, against a model that walks all rows ----------------------------------- */

#define MODEL_NODES	150	/* two blocks and a bit */

/**
 * struct model
 * @copied: rows of a begin in parts; more than there are: none is going on
 * @fresh: no packet since the row became valid
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

/* What goes is taken out of its queue at once. */
static void step_send(struct model *m, struct tn_nic *nic)
{
	u32 dst = 1 + rnd_below(&f.r, MODEL_NODES - 1), vc = rnd_below(&f.r, TN_FLOW_VCS);
	struct tn_pkt pkt = { 0 };
	int err = tn_nic_send(nic, &pkt, dst, vc, f.now);

	if (m->rows[dst] & TORUS_ROW_HOLD) {
		expect(&f.r, !err && tn_queue_pop(&nic->held) == &pkt, "%u is on hold", dst);
		nic->held_bytes = 0;
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
	expect(&f.r, table && !tn_nic_set_shape(nic, &shape, &at, table), "place");
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

static void test_history(void **state)
{
	(void)state;
	for_seeds(40, history);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_one_cut),
		cmocka_unit_test(test_many_cuts),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_park_commands),
		cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_parts),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_hold_limit),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests_name("table", all, NULL, NULL);
}
