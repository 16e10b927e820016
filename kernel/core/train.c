// SPDX-License-Identifier: GPL-2.0-only
/* Search for taps and receiver settings, choice of rate and lanes; see train.h. */
#include "train.h"

/* settings to each side of the present one, when only those around it are tried */
#define NEAR	2
#define NEAR_SIDE (2 * NEAR + 1)

void tn_train_init(struct tn_train *t, const struct tn_serdes *serdes,
		   const struct tn_train_params *params)
{
	tn_assert(!serdes || (serdes->lanes && serdes->lanes <= TORUS_LANES_MAX && serdes->rates));
	tn_assert(params->mask_height && params->mask_width);
	tn_assert(params->margin_train && params->margin_retrain);	/* without signal it is 0 */
	memset(t, 0, sizeof(*t));
	t->serdes = serdes;
	t->params = *params;
	if (!serdes)
		t->state = TN_TRAIN_DONE;
}

/* --- rating of eyes ----------------------------------------------------------- */

/* erfc(i / 8 / sqrt 2) / 2 in units of 1e-18, rounded up. */
static const u64 gauss[] = {
	500000000000000000, 450261775169887104, 401293674317076288, 353830233327276224,
	308537538725986880, 265985529048700544, 226627352376868192, 190786952852510624,
	158655253931457088, 130294517136808864, 105649773666855280, 84565722351335728,
	66807201268858088, 52081279415219552, 40059156863817096, 30396361765261392,
	22750131948179220, 16793306448448818, 12224472655044704, 8774475095738369,
	6209665325776139, 4332448363012560, 2979763235054558, 2020137489946003,
	1349898031630096, 889025299108434, 577025042390768, 369078454275068,
	232629079035526, 144480725881236, 88417285200805, 53312349751097, 31671241833120,
	18536737846202, 10688525774935, 6071623911331, 3397673124731, 1872992005557,
	1017083242569, 544042275575, 286651571880, 148768873188, 76049605165, 38291341062,
	18989562466, 9275398735, 4462172454, 2114216743, 986587646, 453418033, 205226343,
	91481476, 40160006, 17362409, 7392258, 3099493, 1279813, 520404, 208386, 82173, 31909,
	12202, 4595, 1704, 623, 224, 80, 28, 10, 4, 2, 1, 1, 0,
};

/* Interpolates linearly. The curve is convex, so the result is never too low. */
u64 tn_gauss_ber(s32 q16)
{
	u32 i;

	if (q16 < 0)
		q16 = 0;
	i = (u32)q16 / 2;
	if (i >= ARRAY_SIZE(gauss) - 1)
		return 0;
	return q16 & 1 ? gauss[i + 1] + (gauss[i] - gauss[i + 1] + 1) / 2 : gauss[i];
}

static u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

u32 tn_eye_margin(const struct tn_eye *eye, const struct tn_train_params *p)
{
	u32 height, width;

	if (!eye->signal)
		return 0;
	height = eye->height * 100u / p->mask_height;
	width = eye->width * 100u / p->mask_width;
	return min_u32(min_u32(height, width), TN_MARGIN_MAX);
}

/* Divides the opening by 1/16 of the noise; without noise, gives a value beyond the table. */
static u32 q_factor(u32 opening, u32 rms)
{
	return rms ? min_u32(opening * 16u / rms, 0xffff) : 0xffff;
}

u64 tn_eye_ber(const struct tn_eye *eye)
{
	if (!eye->signal || !eye->height || !eye->width)
		return TORUS_BER_ONE / 2;
	return tn_gauss_ber((s32)min_u32(q_factor(eye->height, eye->noise),
					 q_factor(eye->width, eye->jitter)));
}

/* --- lanes --------------------------------------------------------------------- */

static void measure_lane(struct tn_train *t, unsigned int lane, struct tn_lane *out, u64 now)
{
	const struct tn_serdes *s = t->serdes;

	tn_assert(lane < s->lanes);
	s->ops->measure(s->ctx, lane, &out->eye, now);
	out->margin = tn_eye_margin(&out->eye, &t->params);
	out->ber = tn_eye_ber(&out->eye);
}

static bool meets_target(const struct tn_train *t, const struct tn_lane *l)
{
	return l->margin >= t->params.margin_train && l->ber <= t->params.target_ber;
}

/*
 * Return: true if setting @a is better than @b. A setting below the target error rate is better
 * than one above it, because an equaliser may open the eye further but also amplify noise.
 * Otherwise the larger margin is better, and with the same margin the wider eye.
 */
static bool is_better_lane(const struct tn_train *t, const struct tn_lane *a,
			   const struct tn_lane *b)
{
	bool fine = a->ber <= t->params.target_ber;

	if (fine != (b->ber <= t->params.target_ber))
		return fine;
	if (a->margin != b->margin)
		return a->margin > b->margin;
	return a->eye.height * a->eye.width > b->eye.height * b->eye.width;
}

static bool is_fully_open(const struct tn_train *t, const struct tn_lane *l)
{
	return l->eye.height >= t->serdes->swing && l->eye.width >= TN_HALF_UI;
}

/* --- the search ------------------------------------------------------------------ */

/* Return: true if the present step tries only settings around its starting point. */
static bool is_around(const struct tn_train *t)
{
	return t->near || t->step == TN_STEP_AGAIN;
}

static unsigned int count_settings(const struct tn_train *t)
{
	const struct tn_serdes *s = t->serdes;

	if (is_around(t))
		return NEAR_SIDE * NEAR_SIDE;
	return t->step == TN_STEP_RX ? (s->ctle_max + 1u) * (s->dfe_max + 1u) :
				       (s->pre_max + 1u) * (s->post_max + 1u);
}

static u8 clip_setting(s32 v, u8 max)
{
	return v < 0 ? 0 : v > max ? max : (u8)v;
}

/*
 * Computes setting number @cursor of this step: of all settings up to @max, or of those around
 * @base.
 */
static void pick_setting(const struct tn_train *t, const u8 base[2], const u8 max[2], u8 out[2])
{
	u32 side = is_around(t) ? NEAR_SIDE : max[1] + 1u;
	s32 first = (s32)(t->cursor / side), second = (s32)(t->cursor % side);

	tn_assert(t->cursor < count_settings(t));
	if (is_around(t)) {
		first += base[0] - NEAR;
		second += base[1] - NEAR;
	}
	out[0] = clip_setting(first, max[0]);
	out[1] = clip_setting(second, max[1]);
	tn_assert(out[0] <= max[0] && out[1] <= max[1]);
}

static struct tn_taps taps_now(const struct tn_train *t, unsigned int lane)
{
	const struct tn_serdes *s = t->serdes;
	const struct tn_taps *b = &t->base[lane];
	u8 at[2];

	if (t->step == TN_STEP_RX)
		return *b;
	pick_setting(t, (u8 [2]) { b->pre, b->post }, (u8 [2]) { s->pre_max, s->post_max }, at);
	return (struct tn_taps) { at[0], at[1] };
}

static struct tn_rx rx_now(const struct tn_train *t, unsigned int lane)
{
	const struct tn_serdes *s = t->serdes;
	const struct tn_rx *b = &t->base_rx[lane];
	u8 at[2];

	if (t->step != TN_STEP_RX)
		return *b;
	pick_setting(t, (u8 [2]) { b->ctle, b->dfe }, (u8 [2]) { s->ctle_max, s->dfe_max }, at);
	return (struct tn_rx) { at[0], at[1] };
}

/* Return: true if settings are searched for this lane: it is not dead. */
static bool is_searched(const struct tn_train *t, unsigned int lane)
{
	return t->lane[lane].state == TORUS_LANE_ON;
}

static void set_all(struct tn_train *t, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int i;

	for (i = 0; i < s->lanes; i++) {
		if (!is_searched(t, i))
			continue;
		if (t->step == TN_STEP_RX)
			s->ops->set_rx(s->ctx, i, rx_now(t, i));
		else
			s->ops->set_taps(s->ctx, i, taps_now(t, i));
	}
	t->at = now + s->settle;
}

/* Begins a step. Settings that the step does not vary are applied once, here. */
static void begin_train_step(struct tn_train *t, u8 step, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int i;

	t->step = step;
	t->cursor = 0;
	for (i = 0; i < s->lanes; i++) {
		if (!is_searched(t, i))
			continue;
		if (step == TN_STEP_RX)
			s->ops->set_taps(s->ctx, i, taps_now(t, i));
		else if (tn_serdes_sets_rx(s))
			s->ops->set_rx(s->ctx, i, rx_now(t, i));
	}
	set_all(t, now);
}

static void begin_rate(struct tn_train *t, u8 rate, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int i;

	tn_assert(rate < s->rates);
	t->rate = rate;
	s->ops->set_rate(s->ctx, rate);
	for (i = 0; i < s->lanes; i++) {
		t->lane[i].margin = 0;
		t->lane[i].eye = (struct tn_eye) { 0 };
		t->lane[i].ber = TORUS_BER_ONE / 2;
		if (!t->near)
			t->base_rx[i] = (struct tn_rx) { 0 };
	}
	begin_train_step(t, TN_STEP_TAPS, now);
}

static void begin_search(struct tn_train *t, bool near, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int i;

	t->near = near;
	t->found_mbps = 0;
	for (i = 0; i < s->lanes; i++) {
		t->base[i] = t->lane[i].taps;
		t->base_rx[i] = t->lane[i].rx;
		if (near && t->lane[i].state != TORUS_LANE_ON)
			continue;
		t->lane[i].state = TORUS_LANE_ON;
		s->ops->enable(s->ctx, i, true);
	}
	begin_rate(t, near ? t->rate : 0, now);
}

void tn_train_begin(struct tn_train *t, bool near, u64 now)
{
	bool was_done = t->state == TN_TRAIN_DONE;

	if (!t->serdes)
		return;
	t->state = TN_TRAIN_BUSY;
	begin_search(t, near && was_done, now);
}

/*
 * Measures the present setting on all lanes, and keeps it where it is better. Return: true if on no
 * lane a better setting is possible.
 */
static bool measure_all(struct tn_train *t, u64 now)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < t->serdes->lanes; i++) {
		struct tn_lane *l = &t->lane[i], try = { .state = TORUS_LANE_ON };

		if (!is_searched(t, i))
			continue;
		measure_lane(t, i, &try, now);
		try.taps = taps_now(t, i);
		try.rx = rx_now(t, i);
		if (!try.eye.signal)
			l->state = TORUS_LANE_DEAD;
		else if (!l->eye.signal || is_better_lane(t, &try, l))
			*l = try;
		if (l->state == TORUS_LANE_ON && !is_fully_open(t, l))
			all = false;
	}
	return all;
}

static unsigned int count_lanes(const struct tn_train *t, bool reaching)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->serdes->lanes; i++) {
		if (is_searched(t, i) && (!reaching || meets_target(t, &t->lane[i])))
			n++;
	}
	return n;
}

/* Applies the best settings found to the SerDes. */
static void apply_settings(struct tn_train *t)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int i;

	if (t->found_mbps) {
		memcpy(t->lane, t->found, sizeof(t->lane));
		t->rate = t->found_rate;
		s->ops->set_rate(s->ctx, t->rate);
	}
	for (i = 0; i < s->lanes; i++) {
		struct tn_lane *l = &t->lane[i];

		if (l->state == TORUS_LANE_ON && !meets_target(t, l))
			l->state = TORUS_LANE_POOR;
		if (l->state == TORUS_LANE_ON) {
			s->ops->set_taps(s->ctx, i, l->taps);
			if (tn_serdes_sets_rx(s))
				s->ops->set_rx(s->ctx, i, l->rx);
		}
		s->ops->enable(s->ctx, i, l->state == TORUS_LANE_ON);
	}
	tn_assert(t->rate < s->rates);
	t->state = t->found_mbps ? TN_TRAIN_DONE : TN_TRAIN_IDLE;
}

/* Return: true if some lane gives a better eye with a receiver that equalises. */
static bool is_equalised(const struct tn_train *t)
{
	unsigned int i;

	for (i = 0; i < t->serdes->lanes; i++) {
		if (is_searched(t, i) && (t->lane[i].rx.ctle || t->lane[i].rx.dfe))
			return true;
	}
	return false;
}

/*
 * Begins the next step at this rate, starting from the best settings of each lane so far. If only
 * settings around the present ones are tried (@near), the receiver starts from its present setting.
 * Return: false if no step is left.
 */
static bool next_step(struct tn_train *t, u64 now)
{
	bool again = t->step == TN_STEP_RX;
	unsigned int i;

	if (!tn_serdes_sets_rx(t->serdes) || t->step == TN_STEP_AGAIN ||
	    (again && (t->near || !is_equalised(t))))
		return false;
	for (i = 0; i < t->serdes->lanes; i++) {
		t->base[i] = t->lane[i].taps;
		if (again)
			t->base_rx[i] = t->lane[i].rx;
	}
	begin_train_step(t, again ? TN_STEP_AGAIN : TN_STEP_RX, now);
	return true;
}

/*
 * Ends the search at one rate: if this rate carries more than the best one so far, it becomes the
 * best one.
 */
static void end_rate(struct tn_train *t, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	unsigned int live = count_lanes(t, false), reaching = count_lanes(t, true);
	u32 mbps = reaching * s->mbps[t->rate];

	tn_assert(t->state == TN_TRAIN_BUSY);
	tn_assert(reaching <= live);
	if (t->near && reaching < live) {
		begin_search(t, false, now);
		return;
	}
	if (mbps > t->found_mbps) {
		t->found_mbps = mbps;
		t->found_rate = t->rate;
		memcpy(t->found, t->lane, sizeof(t->found));
	}
	if (!t->near && t->rate + 1 < s->rates && live * s->mbps[t->rate + 1] > t->found_mbps)
		begin_rate(t, t->rate + 1, now);
	else
		apply_settings(t);
}

u8 tn_train_poll(struct tn_train *t, u64 now)
{
	if (t->state != TN_TRAIN_BUSY || now < t->at)
		return t->state;
	if (measure_all(t, now))
		end_rate(t, now);
	else if (++t->cursor < count_settings(t))
		set_all(t, now);
	else if (!next_step(t, now))
		end_rate(t, now);
	return t->state;
}

u64 tn_train_expiry(const struct tn_train *t)
{
	return t->state == TN_TRAIN_BUSY ? t->at : ~0ull;
}

/* --- results --------------------------------------------------------------------- */

static bool in_use(const struct tn_train *t, unsigned int lane)
{
	return t->state == TN_TRAIN_DONE && t->lane[lane].state == TORUS_LANE_ON;
}

bool tn_train_watch(struct tn_train *t, u64 now)
{
	bool bad = false;
	unsigned int i;

	for (i = 0; t->serdes && i < t->serdes->lanes; i++) {
		struct tn_lane *l = &t->lane[i];

		if (!in_use(t, i))
			continue;
		measure_lane(t, i, l, now);
		if (l->margin < t->params.margin_retrain || l->ber > t->params.target_ber)
			bad = true;
	}
	return bad;
}

unsigned int tn_train_width(const struct tn_train *t)
{
	unsigned int i, n = 0;

	for (i = 0; t->serdes && i < t->serdes->lanes; i++)
		n += in_use(t, i);
	return n;
}

u32 tn_train_mbps(const struct tn_train *t)
{
	return t->serdes ? tn_train_width(t) * t->serdes->mbps[t->rate] : 0;
}

u32 tn_train_margin(const struct tn_train *t)
{
	u32 margin = ~0u;
	unsigned int i;

	for (i = 0; t->serdes && i < t->serdes->lanes; i++) {
		if (in_use(t, i))
			margin = min_u32(margin, t->lane[i].margin);
	}
	return margin == ~0u ? 0 : margin;
}

u64 tn_train_ber(const struct tn_train *t)
{
	unsigned int width = tn_train_width(t), i;
	u64 sum = 0;

	for (i = 0; t->serdes && i < t->serdes->lanes; i++) {
		if (in_use(t, i))
			sum += t->lane[i].ber;
	}
	return width ? sum / width : 0;
}

/*
 * Return: -log10 of a bit error rate in units of 1e-18, rounded down: 12 for 1e-12 and for slightly
 * lower rates.
 */
static u8 minus_log10(u64 ber)
{
	u8 n = 18;

	for (; ber > 1; ber = (ber + 9) / 10)
		n--;
	return n;
}

unsigned int tn_train_eye_top(const struct tn_train *t, unsigned int lane, u64 now)
{
	struct tn_eye eye;
	unsigned int top;

	t->serdes->ops->measure(t->serdes->ctx, lane, &eye, now);
	top = eye.height > t->params.mask_height ? eye.height : t->params.mask_height;
	return top + top / 4 + 1;
}

void tn_train_eye(const struct tn_train *t, unsigned int lane, unsigned int top, unsigned int row,
		  u8 *out, u64 now)
{
	const struct tn_serdes *s = t->serdes;
	int half = TORUS_EYE_ROWS / 2, offset = (half - (int)row) * (int)top / half;
	int col;

	half = TORUS_EYE_COLS / 2;
	for (col = 0; col < TORUS_EYE_COLS; col++)
		out[col] =
			minus_log10(s->ops->sample(s->ctx, lane, (col - half) * TN_HALF_UI / half,
						   offset, now));
}
