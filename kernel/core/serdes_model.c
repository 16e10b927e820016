// SPDX-License-Identifier: GPL-2.0-only
/* Amplitudes are in 1/65536 of the swing; serdes_model.h has the equations. */
#include "serdes_model.h"
#include "splitmix64.h"
#include "times.h"

#define ONE		65536
#define SWING		400		/* mV from the centre to a full level */
#define NOISE		7		/* rms, mV */
#define JITTER		14		/* rms, 1/1000 UI */
#define WIDTH		460		/* width of an eye without any distortion, 1/1000 UI */
/* one step of a transmitter's tap, and of the decision feedback */
#define TAP		(ONE / 40)
#define CTLE		(ONE / 32)
#define CTLE_MAX	3
/*
 * time before a new setting can be measured; IEEE 802.3 clause 72 requires training to end in 500
 * ms
 */
#define SETTLE		(100 * US)
/* how long a computed bit error rate is used before it is computed again */
#define ERRORS_FOR	(10 * MS)
/* number of bits over which a pulse spreads; its centre p(0) is the third */
#define PULSE		7
#define PER_KELVIN	2		/* growth of the loss per kelvin, per mille */

/*
 * Rates of a lane, and the loss in dB at each, in 1/1000 of that at the first rate. The loss is
 * proportional to the root of the rate.
 */
static const u32 mbps[TN_RATES_MAX] = { 6250, 5000, 3125, 2500 };
static const u32 root[TN_RATES_MAX] = { 1000, 894, 707, 632 };

/* 2^(-i/16) */
static const u32 half[] = {
	65536, 62757, 60097, 57549, 55109, 52773, 50535, 48393, 46341, 44376, 42495, 40693,
	38968, 37316, 35734, 34219, 32768,
};

/* Noise gain of the linear equaliser: the root of (1 + k)^2 + k^2, in 1/1000. */
static const u32 louder[CTLE_MAX + 1] = { 1000, 1032, 1064, 1098 };

/*
 * Return: the amplitude that is left after a loss of @mdb (in 1/1000 dB): 10^(-mdb / 20000), in
 * 1/65536. A loss of 6.0206 dB halves a signal.
 */
static s32 attenuation_of(u32 mdb)
{
	u32 whole = mdb * 10 / 60206, rest = mdb * 10 % 60206 * 16;
	u32 i = rest / 60206, part = rest % 60206;
	u32 v = half[i] - (u32)((u64)(half[i] - half[i + 1]) * part / 60206);

	return whole < 16 ? (s32)(v >> whole) : 0;
}

static u32 hash_lane(u64 seed, u32 lane)
{
	return (u32)(splitmix64_mix((seed + lane + 1) * SPLITMIX64_STEP) >> 33);
}

/* Return: a triangle wave from -1000 to 1000, of period TN_CABLE_PERIOD, that begins with 0. */
static s32 swing_at(u64 age)
{
	u32 phase = (u32)(age % TN_CABLE_PERIOD / (TN_CABLE_PERIOD / 4000));

	if (phase < 1000)
		return (s32)phase;
	return phase < 3000 ? 2000 - (s32)phase : (s32)phase - 4000;
}

/* Return: the loss of a lane at the present rate, in 1/1000 dB. */
static u32 loss_of(const struct tn_serdes_model *m, unsigned int lane, u64 now)
{
	const struct tn_cable *c = &m->cable;
	u64 age = now > m->since ? now - m->since : 0;
	u64 mdb = (u64)c->length * c->loss / 100;

	mdb += mdb * (hash_lane(c->seed, lane) % 101) / 1000 - mdb / 20;
	mdb = (u64)((s64)mdb + (s64)mdb * (s64)c->drift * swing_at(age) / 1000000);
	mdb = (u64)((s64)mdb + (s64)mdb * c->warmer * PER_KELVIN / 1000);
	if (c->aged >> lane & 1)
		mdb += age / MS * c->ageing / 1000;
	mdb = mdb * root[m->rate] / 1000;
	return mdb < 200000 ? (u32)mdb : 200000;
}

static s32 magnitude_of(s32 v)
{
	return v < 0 ? -v : v;
}

/*
 * Computes the pulse of a lane, p(-2) .. p(4), with the taps of its transmitter and the equaliser
 * of its receiver.
 */
static void compute_pulse(const struct tn_serdes_model *m, unsigned int lane, u64 now, s32 p[PULSE])
{
	s32 x = attenuation_of(loss_of(m, lane, now)), odd = (ONE - x) / 2;
	s32 pre = m->taps[lane].pre * TAP, post = m->taps[lane].post * TAP;
	s32 tap[3] = { -pre, ONE - pre - post, -post };
	s32 h[4] = { odd / 4, (ONE + x) / 2 - odd / 8, odd - odd / 4, odd / 8 };
	s32 k = m->rx[lane].ctle * CTLE;
	unsigned int i, j;

	memset(p, 0, PULSE * sizeof(*p));
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 4; j++)
			p[i + j] += (s32)((s64)tap[i] * h[j] / ONE);
	}
	for (i = PULSE - 1; i > 0; i--)
		p[i] += (s32)((s64)k * (p[i] - p[i - 1]) / ONE);
	p[0] += (s32)((s64)k * p[0] / ONE);
	p[3] -= m->rx[lane].dfe * TAP;
}

static unsigned int count_neighbours(const struct tn_serdes_model *m, unsigned int lane)
{
	u32 on = (u32)m->on << 1;

	return (on >> lane & 1) + (on >> (lane + 2) & 1);
}

static void measure_eye(void *ctx, unsigned int lane, struct tn_eye *eye, u64 now)
{
	const struct tn_serdes_model *m = ctx;
	s32 p[PULSE], open, crosstalk;
	unsigned int i;

	*eye = (struct tn_eye) {
		.noise = (u16)((NOISE * louder[m->rx[lane].ctle] + 999) / 1000),
		.jitter = JITTER,
	};
	eye->signal = !(m->cable.dead >> lane & 1);
	if (!eye->signal)
		return;
	if (!m->cable.length) {
		eye->height = SWING;
		eye->width = TN_HALF_UI;
		return;
	}
	compute_pulse(m, lane, now, p);
	open = 2 * p[2];
	for (i = 0; i < PULSE; i++)
		open -= i == 2 ? p[2] : magnitude_of(p[i]);
	crosstalk = (s32)(count_neighbours(m, lane) * m->cable.crosstalk * ONE / 1000);
	open -= crosstalk + 2 * m->rx[lane].ctle * crosstalk / (ONE / CTLE);
	if (open <= 0)
		return;
	eye->height = (u16)(open * SWING / ONE);
	eye->width = (u16)((s64)WIDTH * open / p[2]);
}

/*
 * Return: the bit error rate at a point of the eye, which has the shape of a rhombus: the larger of
 * the rates that noise and jitter cause.
 */
static u64 sample_ber(void *ctx, unsigned int lane, int phase, int offset, u64 now)
{
	s32 height, width, q, qt;
	struct tn_eye eye;

	measure_eye(ctx, lane, &eye, now);
	if (!eye.height || !eye.width)
		return TORUS_BER_ONE / 2;
	phase = magnitude_of(phase);
	offset = magnitude_of(offset);
	height = eye.height - (s32)eye.height * phase / eye.width - offset;
	width = eye.width - (s32)eye.width * offset / eye.height - phase;
	q = height * 16 / eye.noise;
	qt = width * 16 / eye.jitter;
	return tn_gauss_ber(q < qt ? q : qt);
}

static void set_rate(void *ctx, unsigned int rate)
{
	struct tn_serdes_model *m = ctx;

	m->rate = (u8)rate;
	m->errors_at = 0;
}

static void set_taps(void *ctx, unsigned int lane, struct tn_taps taps)
{
	struct tn_serdes_model *m = ctx;

	m->taps[lane] = taps;
	m->errors_at = 0;
}

static void set_rx(void *ctx, unsigned int lane, struct tn_rx rx)
{
	struct tn_serdes_model *m = ctx;

	m->rx[lane] = rx;
	m->errors_at = 0;
}

static void enable_lane(void *ctx, unsigned int lane, bool on)
{
	struct tn_serdes_model *m = ctx;

	m->on = (u16)(on ? m->on | 1u << lane : m->on & ~(1u << lane));
	m->errors_at = 0;
}

/* Averages the bit error rate over the lanes that are on; a dead lane has a rate of 1/2. */
u64 tn_serdes_model_ber(const struct tn_serdes_model *m, u64 now)
{
	unsigned int i, n = 0;
	struct tn_eye eye;
	u64 sum = 0;

	for (i = 0; i < m->serdes.lanes; i++) {
		if (!(m->on >> i & 1))
			continue;
		measure_eye((void *)m, i, &eye, now);
		sum += tn_eye_ber(&eye);
		n++;
	}
	return n ? sum / n : TORUS_BER_ONE / 2;
}

static struct tn_fault *bit_errors(void *ctx, u32 bytes, u64 now)
{
	struct tn_serdes_model *m = ctx;

	if (!m->errors_at || now - m->errors_at >= ERRORS_FOR) {
		tn_fault_rate(&m->errors, tn_serdes_model_ber(m, now));
		m->errors_at = now;
	}
	return tn_fault_hits(&m->errors, bytes) ? &m->errors : NULL;
}

static const struct tn_serdes_ops ops = {
	.set_rate = set_rate,
	.set_taps = set_taps,
	.set_rx = set_rx,
	.enable = enable_lane,
	.measure = measure_eye,
	.sample = sample_ber,
	.errors = bit_errors,
};

void tn_serdes_model_init(struct tn_serdes_model *m)
{
	memset(m, 0, sizeof(*m));
	m->serdes = (struct tn_serdes) {
		.ops = &ops,
		.ctx = m,
		.lanes = TORUS_LANES_MAX,
		.rates = TN_RATES_MAX,
		.pre_max = 7,
		.post_max = 15,
		.ctle_max = CTLE_MAX,
		.dfe_max = 3,
		.swing = SWING,
		.steady = true,
	};
	memcpy(m->serdes.mbps, mbps, sizeof(mbps));
	m->on = (1u << TORUS_LANES_MAX) - 1;
	tn_fault_arm(&m->errors);
}

void tn_serdes_model_lay(struct tn_serdes_model *m, const struct tn_cable *cable, u64 now)
{
	const struct tn_cable *c = &m->cable;

	if (cable->length != c->length || cable->loss != c->loss || cable->drift != c->drift ||
	    cable->ageing != c->ageing || cable->aged != c->aged)
		m->since = now;
	m->cable = *cable;
	m->serdes.settle = cable->length ? SETTLE : 0;
	m->serdes.steady = !cable->length && !cable->dead;
	m->errors = (struct tn_fault) { .seed = cable->seed };
	tn_fault_arm(&m->errors);
	m->errors_at = 0;
}
