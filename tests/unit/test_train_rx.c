// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training of both sides of a link: all small tables of eyes compared with the search in the words
 * of train.h, written down once more; then the modelled line, with all pairs of settings tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/core/serdes_model.h"
#include "tests/unit/random.h"

#define SIDE	4	/* settings of each of the four knobs at most */

static const struct tn_train_params params = {
	.target_ber = 1000000, .mask_height = 60, .mask_width = 100,
	.margin_train = 110, .margin_retrain = 100,
};

/* --- tables ---------------------------------------------------------------------------------- */

struct set {
	struct tn_taps taps;
	struct tn_rx rx;
};

/* A SerDes of one rate; @eye is what each setting results in. */
struct table {
	struct tn_serdes serdes;
	struct tn_eye eye[TORUS_LANES_MAX][SIDE][SIDE][SIDE][SIDE];
	struct set set[TORUS_LANES_MAX];
	unsigned int rx_calls;
};

static void set_rate(void *ctx, unsigned int rate)
{
	(void)ctx;
	assert_int_equal(rate, 0);
}

static void set_taps(void *ctx, unsigned int lane, struct tn_taps taps)
{
	struct table *t = ctx;

	assert_true(taps.pre <= t->serdes.pre_max && taps.post <= t->serdes.post_max);
	t->set[lane].taps = taps;
}

static void set_rx(void *ctx, unsigned int lane, struct tn_rx rx)
{
	struct table *t = ctx;

	assert_true(rx.ctle <= t->serdes.ctle_max && rx.dfe <= t->serdes.dfe_max);
	t->set[lane].rx = rx;
	t->rx_calls++;
}

static void enable(void *ctx, unsigned int lane, bool on)
{
	(void)ctx;
	(void)lane;
	(void)on;
}

static const struct tn_eye *eye_at(const struct table *t, unsigned int lane, struct set s)
{
	return &t->eye[lane][s.taps.pre][s.taps.post][s.rx.ctle][s.rx.dfe];
}

static void measure(void *ctx, unsigned int lane, struct tn_eye *eye, u64 now)
{
	const struct table *t = ctx;

	(void)now;
	*eye = *eye_at(t, lane, t->set[lane]);
}

static const struct tn_serdes_ops ops = {
	.set_rate = set_rate, .set_taps = set_taps, .set_rx = set_rx, .enable = enable,
	.measure = measure,
};

static const struct tn_serdes_ops taps_only = {
	.set_rate = set_rate, .set_taps = set_taps, .enable = enable, .measure = measure,
};

static void table_init(struct table *t, u8 lanes, u8 pre_max, u8 post_max, u8 ctle_max, u8 dfe_max)
{
	memset(t, 0, sizeof(*t));
	t->serdes = (struct tn_serdes) {
		.ops = &ops, .ctx = t, .lanes = lanes, .rates = 1, .mbps = { 6250 },
		.pre_max = pre_max, .post_max = post_max, .ctle_max = ctle_max,
		.dfe_max = dfe_max, .swing = 400,
	};
}

/*
 * Return: an eye into which @margin percent of the mask fits; a loud one errs more than the target.
 */
static struct tn_eye eye_of(unsigned int margin, bool loud)
{
	return (struct tn_eye) {
		.signal = true, .height = (u16)(margin * 60 / 100), .width = (u16)margin,
		.noise = loud ? 30 : 7, .jitter = loud ? 60 : 14,
	};
}

static unsigned int run(struct tn_train *t)
{
	unsigned int n = 0;

	for (; t->state == TN_TRAIN_BUSY; n++)
		tn_train_poll(t, 1);
	return n;
}

/* --- the search in the words of train.h ------------------------------------------------------ */

static bool is_better(const struct tn_eye *a, const struct tn_eye *b)
{
	bool fine = tn_eye_ber(a) <= params.target_ber, was = tn_eye_ber(b) <= params.target_ber;
	u32 m = tn_eye_margin(a, &params), n = tn_eye_margin(b, &params);

	if (fine != was)
		return fine;
	return m != n ? m > n : a->height * a->width > b->height * b->width;
}

static bool is_within(unsigned int at, unsigned int base, unsigned int distance)
{
	return at + distance >= base && at <= base + distance;
}

/*
 * Return: the best setting within a distance of @from, of the taps or of the receiver; @best if it
 * is as good.
 */
static struct set walk(const struct table *t, unsigned int lane, struct set from, bool rx,
		       unsigned int distance, const struct set *best)
{
	unsigned int first = rx ? t->serdes.ctle_max : t->serdes.pre_max;
	unsigned int second = rx ? t->serdes.dfe_max : t->serdes.post_max;
	unsigned int at = rx ? from.rx.ctle : from.taps.pre;
	unsigned int too = rx ? from.rx.dfe : from.taps.post;
	struct set found = { { 0, 0 }, { 0, 0 } };
	bool any = best;

	if (best)
		found = *best;
	for (unsigned int a = 0; a <= first; a++)
		for (unsigned int b = 0; b <= second; b++) {
			struct set s = from;

			if (rx)
				s.rx = (struct tn_rx) { (u8)a, (u8)b };
			else
				s.taps = (struct tn_taps) { (u8)a, (u8)b };
			if (!is_within(a, at, distance) || !is_within(b, too, distance))
				continue;
			if (!any || is_better(eye_at(t, lane, s), eye_at(t, lane, found)))
				found = s;
			any = true;
		}
	return found;
}

static struct set searched(const struct table *t, unsigned int lane, bool again)
{
	struct set s = walk(t, lane, (struct set) { { 0, 0 }, { 0, 0 } }, false, SIDE, NULL);

	s = walk(t, lane, s, true, SIDE, &s);
	return again ? walk(t, lane, s, false, 2, &s) : s;
}

/* Checks that each lane has the settings that the search finds, and that the SerDes is set so. */
static void check(const struct table *t, const struct tn_train *tr)
{
	bool again = false;
	unsigned int width = 0;

	for (unsigned int l = 0; l < t->serdes.lanes; l++) {
		struct set s = searched(t, l, false);

		again |= s.rx.ctle || s.rx.dfe;
	}
	for (unsigned int l = 0; l < t->serdes.lanes; l++) {
		struct set s = searched(t, l, again);
		const struct tn_lane *lane = &tr->lane[l];
		const struct tn_eye *e = eye_at(t, l, s);

		assert_int_equal(lane->margin, tn_eye_margin(e, &params));
		assert_int_equal(lane->state == TORUS_LANE_ON, lane->margin >= 110 &&
				 tn_eye_ber(e) <= params.target_ber);
		width += lane->state == TORUS_LANE_ON;
		if (lane->state != TORUS_LANE_ON)
			continue;
		assert_memory_equal(&lane->taps, &s.taps, sizeof(s.taps));
		assert_memory_equal(&lane->rx, &s.rx, sizeof(s.rx));
		assert_memory_equal(&t->set[l], &s, sizeof(s));
	}
	assert_int_equal(tn_train_width(tr), width);
}

static void train(struct table *t, struct tn_train *tr)
{
	tn_train_init(tr, &t->serdes, &params);
	tn_train_begin(tr, false, 1);
	assert_true(run(tr) <= (t->serdes.pre_max + 1u) * (t->serdes.post_max + 1u) +
		    (t->serdes.ctle_max + 1u) * (t->serdes.dfe_max + 1u) + 25);
}

/*
 * Trains with two taps and two settings of each of the receiver's knobs: 8 eyes of 3 sorts, all
 * tables.
 */
static void all_small_tables_of_receiver_train_as_in_model(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 6561; code++) {
		unsigned int c = code;
		struct tn_train tr;
		struct table t;

		table_init(&t, 1, 0, 1, 1, 1);
		for (unsigned int i = 0; i < 8; i++, c /= 3)
			t.eye[0][0][i & 1][i >> 1 & 1][i >> 2] =
				c % 3 == 0 ? eye_of(90, false) : c % 3 == 1 ? eye_of(120, false) :
				eye_of(150, true);
		train(&t, &tr);
		check(&t, &tr);
	}
}

/*
 * Trains two lanes that differ, with one tap and one knob: 3
 *
 * 8 tables; each lane gets settings of its own.
 */
static void each_of_two_lanes_gets_its_own_settings(void **state)
{
	static const unsigned int margin[] = { 90, 120, 150 };

	(void)state;
	for (unsigned int code = 0; code < 6561; code++) {
		unsigned int c = code;
		struct tn_train tr;
		struct table t;

		table_init(&t, 2, 1, 0, 0, 1);
		for (unsigned int i = 0; i < 8; i++, c /= 3)
			t.eye[i >> 2][i & 1][0][0][i >> 1 & 1] = eye_of(margin[c % 3], false);
		train(&t, &tr);
		check(&t, &tr);
	}
}

static void random_eyes(struct table *t, uint64_t *r)
{
	for (unsigned int l = 0; l < t->serdes.lanes; l++)
		for (unsigned int i = 0; i < SIDE * SIDE * SIDE * SIDE; i++)
			t->eye[l][i >> 6][i >> 4 & 3][i >> 2 & 3][i & 3] =
				eye_of(40 + (unsigned int)random_below(r, 120), !random_below(r, 3));
}

static void random_tables_of_receiver_train_as_in_model(void **state)
{
	uint64_t seed = random_seed(21), r = seed;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 500; i++) {
		static struct table t;
		struct tn_train tr;

		table_init(&t, (u8)(1 + random_below(&r, 4)), (u8)random_below(&r, SIDE),
			   (u8)random_below(&r, SIDE), (u8)random_below(&r, SIDE),
			   (u8)random_below(&r, SIDE));
		random_eyes(&t, &r);
		train(&t, &tr);
		check(&t, &tr);
	}
}

/* A search around the present settings tries taps first, then the receiver, in 50 measurements. */
static void near_search_tries_taps_then_receiver(void **state)
{
	uint64_t seed = random_seed(22), r = seed;
	unsigned int kept = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 300; i++) {
		static struct table t;
		struct set was, want;
		struct tn_train tr;

		table_init(&t, 1, SIDE - 1, SIDE - 1, SIDE - 1, SIDE - 1);
		random_eyes(&t, &r);
		t.eye[0][2][1][0][0] = eye_of(170, false);
		t.eye[0][2][1][3][2] = eye_of(180, false);
		train(&t, &tr);
		assert_int_equal(tr.state, TN_TRAIN_DONE);
		was = t.set[0];
		random_eyes(&t, &r);
		want = walk(&t, 0, was, false, 2, NULL);
		want = walk(&t, 0, (struct set) { want.taps, was.rx }, true, 2, &want);
		if (tn_eye_margin(eye_at(&t, 0, want), &params) < 110 ||
		    tn_eye_ber(eye_at(&t, 0, want)) > params.target_ber)
			continue;
		kept++;
		tn_train_begin(&tr, true, 1);
		assert_int_equal(run(&tr), 50);
		assert_memory_equal(&t.set[0], &want, sizeof(want));
		assert_memory_equal(&tr.lane[0].rx, &want.rx, sizeof(want.rx));
	}
	assert_true(kept > 100);
}

/* A driver that cannot set its receiver is trained as if there were taps alone. */
static void driver_without_receiver_settings_trains_taps_alone(void **state)
{
	uint64_t r = random_seed(23);
	struct tn_train tr, other;
	static struct table t, u;

	(void)state;
	table_init(&t, 2, SIDE - 1, SIDE - 1, SIDE - 1, SIDE - 1);
	random_eyes(&t, &r);
	t.eye[0][1][2][0][0] = eye_of(130, false);
	t.serdes.ops = &taps_only;
	assert_false(tn_serdes_sets_rx(&t.serdes));
	tn_train_init(&tr, &t.serdes, &params);
	tn_train_begin(&tr, false, 1);
	assert_int_equal(run(&tr), SIDE * SIDE);
	assert_int_equal(t.rx_calls, 0);
	/* As is one whose receiver has one setting. */
	u = t;
	u.serdes.ctx = &u;
	u.serdes.ops = &ops;
	u.serdes.ctle_max = u.serdes.dfe_max = 0;
	assert_false(tn_serdes_sets_rx(&u.serdes));
	tn_train_init(&other, &u.serdes, &params);
	tn_train_begin(&other, false, 1);
	assert_int_equal(run(&other), SIDE * SIDE);
	assert_int_equal(u.rx_calls, 0);
	for (unsigned int l = 0; l < 2; l++) {
		assert_int_equal(tr.lane[l].margin, other.lane[l].margin);
		assert_true(!tr.lane[l].rx.ctle && !tr.lane[l].rx.dfe);
	}
	tn_train_begin(&tr, true, 1);
	assert_true(run(&tr) >= 25 && !t.rx_calls);
}

/* --- the modelled line ----------------------------------------------------------------------- */

/*
 * Return: the rate that some settings would carry: all pairs, or those with a flat receiver alone.
 */
static u32 best_mbps(const struct tn_cable *cable, bool flat)
{
	struct tn_serdes_model m;
	u32 best = 0;

	tn_serdes_model_init(&m);
	tn_serdes_model_lay(&m, cable, 1);
	for (unsigned int rate = 0; rate < m.serdes.rates; rate++) {
		u32 lanes = 0;

		m.serdes.ops->set_rate(&m, rate);
		for (unsigned int l = 0; l < m.serdes.lanes; l++) {
			bool good = false;

			for (unsigned int i = 0; i < 2048 && !good; i++) {
				struct tn_eye e;

				if (flat && i >> 7)
					break;
				m.serdes.ops->set_taps(&m, l, (struct tn_taps) { i & 7, i >> 3 & 15 });
				m.serdes.ops->set_rx(&m, l, (struct tn_rx) { i >> 7 & 3, i >> 9 & 3 });
				m.serdes.ops->measure(&m, l, &e, 1);
				good = e.signal && tn_eye_margin(&e, &params) >= params.margin_train &&
				       tn_eye_ber(&e) <= params.target_ber;
			}
			lanes += good;
		}
		if (lanes * m.serdes.mbps[rate] > best)
			best = lanes * m.serdes.mbps[rate];
	}
	return best;
}

/*
 * The search of both sides is never worse than that of the taps, better for many cables, and of a
 * hundred cables less than a tenth carry less than the best pair of settings would.
 */
static void receiver_search_is_rarely_worse_than_taps_alone(void **state)
{
	uint64_t seed = random_seed(24), r = seed;
	unsigned int more = 0, less = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 100; i++) {
		struct tn_cable c = {
			.length = 100 + (u32)random_below(&r, 1400), .loss = 1000 + (u32)random_below(&r, 2000),
			.crosstalk = (u32)random_below(&r, 30), .seed = random_next(&r),
		};
		struct tn_serdes_model m;
		struct tn_train t;
		u64 now = 1;
		u32 best, taps;

		tn_serdes_model_init(&m);
		tn_serdes_model_lay(&m, &c, now);
		tn_train_init(&t, &m.serdes, &params);
		tn_train_begin(&t, false, now);
		while (t.state == TN_TRAIN_BUSY) {
			now = tn_train_expiry(&t);
			tn_train_poll(&t, now);
		}
		assert_true(now - 1 <= 4 * (128 + 16 + 25) * 100000ull);
		best = best_mbps(&c, false);
		taps = best_mbps(&c, true);
		assert_true(tn_train_mbps(&t) <= best && tn_train_mbps(&t) >= taps);
		more += tn_train_mbps(&t) > taps;
		less += tn_train_mbps(&t) < best;
	}
	print_message("%u of 100 carry more than with taps alone, %u less than they could\n",
		      more, less);
	assert_true(more >= 20 && less < 10);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(all_small_tables_of_receiver_train_as_in_model),
		cmocka_unit_test(each_of_two_lanes_gets_its_own_settings),
		cmocka_unit_test(random_tables_of_receiver_train_as_in_model),
		cmocka_unit_test(near_search_tries_taps_then_receiver),
		cmocka_unit_test(driver_without_receiver_settings_trains_taps_alone),
		cmocka_unit_test(receiver_search_is_rarely_worse_than_taps_alone),
	};

	return cmocka_run_group_tests_name("train_rx", all, NULL, NULL);
}
