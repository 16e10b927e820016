// SPDX-License-Identifier: GPL-2.0-only
/* Windows compared with a scan of all their rows, in 128-bit arithmetic, at each boundary. */
#include "tests/unit/seeds.h"
#include "kernel/core/window.h"

#define ROWS 70

typedef unsigned __int128 wide;

/* The model: its rows are in no order. */
struct naive {
	unsigned int mode, bits, shift, room, n;
	u64 base;
	struct tn_window_row row[ROWS];
};

static u64 from_memory[ROWS];
static struct tn_window_row row_memory[ROWS];

static wide begin_of(const struct naive *m, const struct tn_window_row *row)
{
	return m->mode == TN_WINDOW_INDEX ? (wide)row->from << m->shift : row->from;
}

static wide size_of(const struct naive *m)
{
	return (wide)1 << m->bits;
}

/* Looks for the row of @addr; for ARITH each target is a row of its own. */
static int naive_look(const struct naive *m, u64 addr, u64 bytes, u16 need, struct tn_far *far)
{
	*far = (struct tn_far) { .row = TN_WINDOW_NONE };
	if (addr < m->base || (wide)addr >= m->base + size_of(m))
		return -ENXIO;
	for (unsigned int i = 0; i < m->n; i++) {
		unsigned int copies = m->mode == TN_WINDOW_ARITH ? m->room : 1;

		for (unsigned int k = 0; k < copies; k++) {
			const struct tn_window_row *row = &m->row[i];
			wide first = (wide)m->base + begin_of(m, row) + ((wide)k << m->shift);

			if (addr < first || addr >= first + row->bytes)
				continue;
			far->to = (u64)(row->to + (addr - first));
			far->room = (u64)(first + row->bytes - addr);
			far->target = row->target + k;
			far->key = row->key;
			far->ep = row->ep;
			far->access = row->access;
			far->row = i;
			return !row->access ? -ESTALE : need & ~row->access ? -EACCES :
			       bytes > far->room ? -ERANGE : 0;
		}
	}
	return -ENXIO;
}

/* Compares one look-up; the number of the row is checked by what is in it. */
static void compare_look(struct rnd *r, struct tn_window *w, const struct naive *m, u64 addr,
			 u64 bytes, u16 need)
{
	struct tn_far a, b;
	int want = naive_look(m, addr, bytes, need, &b), got = tn_window_look(w, addr, bytes, need, &a);

	expect(r, got == want, "mode %u, addr %" PRIx64 ": %d instead of %d", m->mode,
	       (uint64_t)addr, got, want);
	expect(r, (a.row == TN_WINDOW_NONE) == (b.row == TN_WINDOW_NONE), "row %u", a.row);
	if (a.row != TN_WINDOW_NONE)
		expect(r, !memcmp(&w->row[a.row], &m->row[b.row], sizeof(*w->row)), "row %u", a.row);
	a.row = b.row;
	expect(r, a.to == b.to && a.room == b.room && a.target == b.target && a.key == b.key &&
	       a.ep == b.ep && a.access == b.access, "addr %" PRIx64, (uint64_t)addr);
}

/* Looks at all bytes around @addr, with lengths around those that fit. */
static void look_around(struct rnd *r, struct tn_window *w, const struct naive *m, u64 addr)
{
	for (int d = -2; d <= 2; d++) {
		u64 at = addr + (u64)(s64)d;
		struct tn_far far;

		naive_look(m, at, 0, 0, &far);
		compare_look(r, w, m, at, 0, 0);
		compare_look(r, w, m, at, far.room, TN_ACCESS_READ);
		compare_look(r, w, m, at, far.room + 1, (u16)rnd_below(r, 16));
		compare_look(r, w, m, at, ~0ull, (u16)rnd_below(r, 16));
		compare_look(r, w, m, at, rnd64(r), TN_ACCESS_WRITE);
	}
}

static void look_everywhere(struct rnd *r, struct tn_window *w, const struct naive *m)
{
	look_around(r, w, m, 0);
	look_around(r, w, m, m->base);
	look_around(r, w, m, (u64)(m->base + size_of(m)));
	for (unsigned int i = 0; i < m->n; i++) {
		u64 first = (u64)(m->base + begin_of(m, &m->row[i]));

		look_around(r, w, m, first);
		look_around(r, w, m, first + m->row[i].bytes);
		look_around(r, w, m, first + ((u64)m->room << m->shift));
		look_around(r, w, m, first + rnd64(r) % m->row[i].bytes);
	}
	for (int i = 0; i < 20; i++)
		compare_look(r, w, m, rnd64(r), rnd_below(r, 100), TN_ACCESS_READ);
}

/* Return: the error that tn_window_put() must give. */
static int naive_put(const struct naive *m, const struct tn_window_row *row)
{
	wide begin = begin_of(m, row);

	if (m->mode == TN_WINDOW_INDEX ? row->from >= m->room :
	    m->mode == TN_WINDOW_HIGH ? begin >= size_of(m) : row->from > 0)
		return -EINVAL;
	if (!row->bytes || row->access > TN_ACCESS_ALL)
		return -EINVAL;
	if (m->mode == TN_WINDOW_INDEX || m->mode == TN_WINDOW_ARITH) {
		if (row->bytes > (wide)1 << m->shift)
			return -EINVAL;
	} else if (begin + row->bytes > size_of(m)) {
		return -ERANGE;
	}
	if ((wide)row->to + row->bytes > (wide)1 << 64)
		return -ERANGE;
	if (m->mode == TN_WINDOW_ARITH && (wide)row->target + m->room > (wide)1 << 32)
		return -ERANGE;
	for (unsigned int i = 0; i < m->n; i++) {
		wide other = begin_of(m, &m->row[i]);

		if (m->mode != TN_WINDOW_HIGH && row->from == m->row[i].from)
			return -EEXIST;
		if (m->mode == TN_WINDOW_HIGH && begin < other + m->row[i].bytes &&
		    other < begin + row->bytes)
			return -EEXIST;
	}
	return m->mode == TN_WINDOW_HIGH && m->n == m->room ? -ENOSPC : 0;
}

/* Return: a length, often one that ends at a boundary. */
static u64 draw_bytes(struct rnd *r, const struct naive *m, u64 from)
{
	/* bytes up to the end; if the size is 2^64: 2^64 - from */
	u64 end = (u64)size_of(m) - from;

	switch (rnd_below(r, 6)) {
	case 0:
		return end;
	case 1:
		return end + 1;
	case 2:
		return 1ull << m->shift;
	case 3:
		return rnd_below(r, 3);
	case 4:
		if (m->n)	/* up to another row */
			return m->row[rnd_below(r, m->n)].from - from + rnd_below(r, 2);
		return 1;
	default:
		return 1 + (rnd64(r) & (u64)(size_of(m) - 1)) / ROWS;
	}
}

static struct tn_window_row draw_row(struct rnd *r, const struct naive *m)
{
	struct tn_window_row row = { .ep = (u16)rnd64(r), .key = (u32)rnd64(r) };

	if (m->mode == TN_WINDOW_HIGH)
		row.from = rnd64(r) & (u64)(size_of(m) - 1);
	else if (m->mode == TN_WINDOW_INDEX)
		row.from = rnd_below(r, m->room + 1);
	else
		row.from = rnd_one_in(r, 10);
	if (m->mode == TN_WINDOW_HIGH && m->n && rnd_below(r, 2)) {	/* right behind another row */
		const struct tn_window_row *other = &m->row[rnd_below(r, m->n)];

		row.from = other->from + other->bytes - rnd_one_in(r, 4);
	}
	row.bytes = draw_bytes(r, m, row.from);
	row.to = rnd_one_in(r, 3) ? 0 - row.bytes + rnd_below(r, 2) : rnd64(r) >> 8;
	row.target = rnd_one_in(r, 4) ? 0 - m->room + rnd_below(r, 2) : rnd_below(r, 1000);
	row.access = (u16)rnd_below(r, TN_ACCESS_ALL + 1 + rnd_one_in(r, 8));
	return row;
}

static void change_window(struct rnd *r, struct tn_window *w, struct naive *m)
{
	struct tn_window_why why;
	struct tn_window_row row = draw_row(r, m);
	unsigned int i;

	if (rnd_below(r, 4)) {
		int want = naive_put(m, &row), got = tn_window_put(w, &row, &why);

		expect(r, got == want, "mode %u, from %" PRIx64 ", %" PRIx64 " bytes: %d instead of %d",
		       m->mode, (uint64_t)row.from, (uint64_t)row.bytes, got, want);
		expect(r, !got == (why.what == TN_WINDOW_FINE), "%u is wrong", why.what);
		if (!got)
			m->row[m->n++] = row;
		return;
	}
	for (i = 0; i < m->n && m->row[i].from != row.from; i++)
		;
	if (m->n && rnd_below(r, 2))
		row = m->row[i = rnd_below(r, m->n)];
	expect(r, tn_window_drop(w, row.from) == (i < m->n ? 0 : -ENXIO), "from %" PRIx64,
	       (uint64_t)row.from);
	if (i < m->n)
		m->row[i] = m->row[--m->n];
}

static void run_window(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct naive m = { .mode = rnd_below(&r, TN_WINDOW_MODES), .bits = 1 + rnd_below(&r, 64) };
	struct tn_window w;
	struct tn_window_why why;

	if (rnd_one_in(&r, 4))
		m.bits = 64;
	if (m.mode == TN_WINDOW_INDEX || m.mode == TN_WINDOW_ARITH)
		m.shift = rnd_below(&r, m.bits < 63 ? m.bits + 1 : 64);
	m.room = m.mode == TN_WINDOW_DIRECT ? 1 : 1 + rnd_below(&r, ROWS - 1);
	m.base = (u64)(((wide)(rnd_one_in(&r, 3) ? ~0ull : rnd64(&r)) >> m.bits) << m.bits);
	memset(row_memory, 0xa5, sizeof(row_memory));
	assert_int_equal(tn_window_init(&w, m.mode, m.base, m.bits, m.shift, from_memory, row_memory,
					m.room, &why), 0);
	look_everywhere(&r, &w, &m);
	for (int i = 0; i < 150; i++) {
		change_window(&r, &w, &m);
		if (i % 10 == 9)
			look_everywhere(&r, &w, &m);
	}
}

static void random_windows_equal_naive_search(void **state)
{
	(void)state;
	for_seeds(400, run_window);
}

/* Tables 1 and 2 of the paper, rows of 64 KiB: both name the same four targets. */
static const struct tn_window_row paper[] = {
	{ .from = 0x01000000, .bytes = 0x10000, .to = 0x11000000, .access = TN_ACCESS_ALL },
	{ .from = 0x02000000, .bytes = 0x10000, .to = 0x16000000, .access = TN_ACCESS_ALL },
	{ .from = 0x04000000, .bytes = 0x10000, .to = 0x1d000000, .access = TN_ACCESS_ALL },
	{ .from = 0x05000000, .bytes = 0x10000, .to = 0xb100c000 },
};

static u64 address_of(struct tn_window *w, u64 addr)
{
	struct tn_far far;

	assert_int_equal(tn_window_look(w, addr, 1, TN_ACCESS_READ, &far), 0);
	return far.to;
}

static void windows_of_paper_give_its_addresses(void **state)
{
	struct tn_window high, index;
	struct tn_window_row by_high[4], by_index[4], row;
	struct tn_window_why why;
	struct tn_far far;
	u64 from[4];

	(void)state;
	assert_int_equal(tn_window_init(&high, TN_WINDOW_HIGH, 0, 32, 0, from, by_high, 4, &why), 0);
	assert_int_equal(tn_window_init(&index, TN_WINDOW_INDEX, 0, 18, 16, NULL, by_index, 4, &why), 0);
	for (unsigned int i = 0; i < 4; i++) {
		row = paper[i];
		assert_int_equal(tn_window_put(&high, &row, &why), 0);
		row.from = i;
		assert_int_equal(tn_window_put(&index, &row, &why), 0);
	}
	assert_int_equal(address_of(&high, 0x01001234), 0x11001234);
	assert_int_equal(address_of(&high, 0x02000000), 0x16000000);
	assert_int_equal(address_of(&high, 0x0400ffff), 0x1d00ffff);
	assert_int_equal(tn_window_look(&high, 0x05001234, 1, 0, &far), -ESTALE);
	assert_int_equal(tn_window_look(&high, 0x03001234, 1, 0, &far), -ENXIO);
	assert_int_equal(address_of(&index, 0x00001234), 0x11001234);
	assert_int_equal(address_of(&index, 0x00010000), 0x16000000);
	assert_int_equal(address_of(&index, 0x0002ffff), 0x1d00ffff);
	assert_int_equal(tn_window_look(&index, 0x00031234, 1, 0, &far), -ESTALE);
	assert_int_equal(tn_window_look(&index, 0x00040000, 1, 0, &far), -ENXIO);
	/* Row 3 is not aligned to its length: the offset carries into the high bits. */
	assert_int_equal(tn_window_drop(&high, 0x05000000), 0);
	row = paper[3];
	row.access = TN_ACCESS_READ;
	assert_int_equal(tn_window_put(&high, &row, &why), 0);
	assert_int_equal(address_of(&high, 0x05005000), 0xb1011000);
}

/* INDEX and HIGH are one thing for rows of equal length, each at a multiple of it. */
static void equal_modes(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_window_row rows[2][ROWS];
	unsigned int shift = rnd_below(&r, 50);
	struct tn_window high, index;
	struct tn_window_why why;
	struct tn_far a, b;

	assert_int_equal(tn_window_init(&high, TN_WINDOW_HIGH, 0, 64, 0, from_memory, rows[0], ROWS, &why), 0);
	assert_int_equal(tn_window_init(&index, TN_WINDOW_INDEX, 0, 64, shift, NULL, rows[1], ROWS, &why), 0);
	for (int i = 0; i < ROWS; i++) {
		struct tn_window_row row = {
			.from = rnd_below(&r, ROWS), .bytes = 1ull << shift, .to = rnd64(&r) >> 1,
			.target = (u32)i, .access = TN_ACCESS_READ,
		};
		int err = tn_window_put(&index, &row, &why);

		row.from <<= shift;
		expect(&r, tn_window_put(&high, &row, &why) == err, "row %d", i);
	}
	for (int i = 0; i < 300; i++) {
		u64 addr = rnd64(&r) % ((ROWS + 2ull) << shift), bytes = rnd_below(&r, 3);
		int err = tn_window_look(&high, addr, bytes, TN_ACCESS_READ, &a);

		expect(&r, tn_window_look(&index, addr, bytes, TN_ACCESS_READ, &b) == err, "%d", err);
		expect(&r, a.to == b.to && a.room == b.room && a.target == b.target, "look %d", i);
	}
}

static void equal_windows_of_two_modes_agree(void **state)
{
	(void)state;
	for_seeds(40, equal_modes);
}

/* An index of a field of its own may be larger than those that addresses have. */
static void index_of_own_field_may_be_larger(void **state)
{
	struct tn_window_row memory[5], row = { .from = 4, .bytes = 1ull << 48, .to = 7, .access = 1 };
	struct tn_window_why why;
	struct tn_window w;
	struct tn_far far;

	(void)state;
	assert_int_equal(tn_window_init(&w, TN_WINDOW_INDEX, 0, 50, 48, NULL, memory, 5, &why), 0);
	assert_int_equal(tn_window_put(&w, &row, &why), 0);
	assert_int_equal(tn_window_look_index(&w, 4, (1ull << 48) - 1, 1, 1, &far), 0);
	assert_int_equal(far.to, (1ull << 48) + 6);
	assert_int_equal(far.room, 1);
	assert_int_equal(tn_window_look_index(&w, 4, 1ull << 48, 0, 1, &far), -ENXIO);
	assert_int_equal(tn_window_look_index(&w, 5, 0, 0, 0, &far), -ENXIO);
	assert_int_equal(tn_window_look_index(&w, 1ull << 32 | 4, 0, 0, 0, &far), -ENXIO);
	assert_int_equal(tn_window_look(&w, 1ull << 50, 0, 0, &far), -ENXIO);
	row.from = 5;
	assert_int_equal(tn_window_put(&w, &row, &why), -EINVAL);
	assert_true(why.what == TN_WINDOW_FROM && why.value == 5 && why.max == 4);
}

/* Inits @w with these values, and expects the error and its reason. */
static void refuse_init(unsigned int mode, u64 base, unsigned int bits, unsigned int shift, u32 room,
			struct tn_window_why want)
{
	struct tn_window_why why;
	struct tn_window w;

	assert_int_equal(tn_window_init(&w, mode, base, bits, shift, from_memory, row_memory, room,
					&why), -EINVAL);
	assert_int_equal(why.what, want.what);
	assert_int_equal(why.value, want.value);
	assert_int_equal(why.min, want.min);
	assert_int_equal(why.max, want.max);
}

#define WHY(what_, value_, min_, max_) ((struct tn_window_why) {		\
	.what = TN_WINDOW_##what_, .value = value_, .min = min_, .max = max_ })

static void impossible_window_is_refused(void **state)
{
	(void)state;
	refuse_init(4, 0, 32, 0, 1, WHY(MODE, 4, 0, 3));
	refuse_init(TN_WINDOW_HIGH, 0, 0, 0, 1, WHY(BITS, 0, 1, 64));
	refuse_init(TN_WINDOW_HIGH, 0, 65, 0, 1, WHY(BITS, 65, 1, 64));
	refuse_init(TN_WINDOW_HIGH, 0, 32, 1, 1, WHY(SHIFT, 1, 0, 0));
	refuse_init(TN_WINDOW_DIRECT, 0, 32, 1, 1, WHY(SHIFT, 1, 0, 0));
	refuse_init(TN_WINDOW_INDEX, 0, 32, 33, 1, WHY(SHIFT, 33, 0, 32));
	refuse_init(TN_WINDOW_ARITH, 0, 64, 64, 1, WHY(SHIFT, 64, 0, 63));
	refuse_init(TN_WINDOW_HIGH, 0x18000, 16, 0, 1, WHY(BASE, 0x18000, 0x10000, 0xffffffffffff0000));
	refuse_init(TN_WINDOW_HIGH, 1, 64, 0, 1, WHY(BASE, 1, 0, 0));
	refuse_init(TN_WINDOW_HIGH, 0, 64, 0, 0, WHY(ROOM, 0, 1, 1u << 24));
	refuse_init(TN_WINDOW_HIGH, 0, 64, 0, (1u << 24) + 1, WHY(ROOM, (1u << 24) + 1, 1, 1u << 24));
	refuse_init(TN_WINDOW_DIRECT, 0, 64, 0, 2, WHY(ROOM, 2, 1, 1));
}

/* The reason of a refused row names the value, what is allowed, and the row that is in the way. */
static void refused_row_names_value_limit_and_other_row(void **state)
{
	struct tn_window_row memory[2], row = { .from = 16, .bytes = 16, .access = TN_ACCESS_ALL };
	struct tn_window_why why;
	struct tn_window w;
	u64 from[2];

	(void)state;
	assert_int_equal(tn_window_init(&w, TN_WINDOW_HIGH, 256, 8, 0, from, memory, 2, &why), 0);
	assert_int_equal(tn_window_put(&w, &row, &why), 0);
	row.from = 1;
	assert_int_equal(tn_window_put(&w, &row, &why), -EEXIST);
	assert_true(why.what == TN_WINDOW_OVERLAP && why.row == 0 && why.value == 1);
	assert_true(why.min == 16 && why.max == 31);
	row.from = 240;
	row.bytes = 17;
	assert_int_equal(tn_window_put(&w, &row, &why), -ERANGE);
	assert_true(why.what == TN_WINDOW_BYTES && why.value == 17 && why.min == 1 && why.max == 16);
	row.bytes = 16;
	row.to = ~0ull - 14;
	assert_int_equal(tn_window_put(&w, &row, &why), -ERANGE);
	assert_true(why.what == TN_WINDOW_TO && why.value == row.to && why.max == ~0ull - 15);
	row.to--;
	assert_int_equal(tn_window_put(&w, &row, &why), 0);
	row.from = 0;
	assert_int_equal(tn_window_put(&w, &row, &why), -ENOSPC);
	assert_true(why.what == TN_WINDOW_FULL && why.value == 3 && why.max == 2);
	row.access = 16;
	assert_int_equal(tn_window_put(&w, &row, &why), -EINVAL);
	assert_true(why.what == TN_WINDOW_RIGHTS && why.value == 16 && why.max == 15);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_windows_equal_naive_search),
		cmocka_unit_test(windows_of_paper_give_its_addresses),
		cmocka_unit_test(equal_windows_of_two_modes_agree),
		cmocka_unit_test(index_of_own_field_may_be_larger),
		cmocka_unit_test(impossible_window_is_refused),
		cmocka_unit_test(refused_row_names_value_limit_and_other_row),
	};

	return cmocka_run_group_tests_name("window", all, NULL, NULL);
}
