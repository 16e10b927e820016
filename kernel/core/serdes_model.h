/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of a cable and of the SerDes behind it, for software NICs: it implements tn_serdes_ops,
 * and computes the bit errors that follow from cable and settings. All numbers are fixed point; the
 * same configuration and times give the same results.
 *
 *	x amplitude that the cable leaves at the present rate; 1: no loss h(i) pulse of one bit
 *	after the cable, i bits after its centre; h(-1) to h(2) p(i) the same with the taps of the
 *	transmitter; p(-2) to p(4) q(i) the same after the receiver's linear equaliser c, k step of
 *	that equaliser (CTLE), and its gain k = c / 32 d step of the decision feedback (DFE)
 *
 *  1. Cable. Slow signals pass, so the sum of h is 1. The fastest signal, 1010..., is weaker by the
 *     loss, so the alternating sum is x. Hence h(-1) + h(1) = (1 - x) / 2 and h(0) + h(2) =
 *     (1 + x) / 2. A quarter of the former sum is h(-1); h(2) is an eighth of it. The loss in dB
 *     grows with the length and with the root of the rate (skin effect).
 *  2. Eye. The innermost trace is that of the worst neighbouring bits (peak distortion, Lucky
 *     1965): height = |p(0)| - |p(-2)| - |p(-1)| - |p(1)| ..., less the crosstalk of neighbouring
 *     lanes that are on. An eye that is half as high as its pulse is half as wide. Noise and jitter
 *     are Gaussian.
 *  3. Linear equaliser: q(i) = (1 + k) p(i) - k p(i-1). The fastest signal and the crosstalk grow
 *     by 1 + 2k, the noise, which is white, by the root of (1 + k)^2 + k^2 (rounded up to whole
 *     mV).
 *  4. Decision feedback subtracts d / 40 of the swing from q(1), the next bit, and amplifies
 *     nothing. Setting 0, 0 is a receiver without equaliser.
 *  5. Temperature. Copper's resistance grows by 0.39 % per kelvin, and the loss by its root: 0.2 %.
 *  6. Time. The loss swings by @drift per mille around its mean, once in TN_CABLE_PERIOD, as a room
 *     warms and cools; aged lanes lose @ageing more each second. The seed decides how lanes differ,
 *     by up to 5 % of the loss.
 *  7. Swing, noise and jitter are assumed; no hardware was measured. The Angara paper measured
 *     error rates of about 1e-12. Here the rate follows from the cable that is configured.
 *
 * With length 0 there is no model of a cable: eyes are fully open at once, and only dead lanes have
 * an effect.
 *
 * Tests. tests/unit/test_serdes_model.c compares each lane of any cable with these equations
 * (eye_follows_equations(), small_loss_changes_eye_a_little()) and has temperature and age
 * (drifting_cable_is_retrained_before_errors(), warm_copper_loses_more());
 * tests/unit/test_serdes_eye.c computes them in floating point.
 */
#ifndef TN_SERDES_MODEL_H
#define TN_SERDES_MODEL_H

#include "fault.h"
#include "train.h"

#define TN_CABLE_PERIOD	60000000000ull	/* period of the swing of the loss, ns */

/**
 * struct tn_cable - configuration of a simulated cable, at its receiver
 * @length: cm, at most TORUS_CABLE_LENGTH_MAX; 0: no cable is modelled
 * @loss: 1/1000 dB per metre, for the fastest bits at the highest rate
 * @crosstalk: per mille of the swing, from each neighbouring lane
 * @drift: how far the loss swings around its mean, per mille of the loss
 * @ageing: growth of the loss of @aged lanes, 1/1000 dB per second
 * @warmer: K above TORUS_CABLE_KELVIN, the temperature for which @loss holds
 * @dead, @aged: masks of lanes
 */
struct tn_cable {
	u32 length;
	u32 loss;
	u32 crosstalk;
	u32 drift;
	u32 ageing;
	s32 warmer;
	u16 dead, aged;
	u64 seed;
};

static inline bool tn_cable_same(const struct tn_cable *a, const struct tn_cable *b)
{
	return a->length == b->length && a->loss == b->loss && a->crosstalk == b->crosstalk &&
	       a->drift == b->drift && a->ageing == b->ageing && a->warmer == b->warmer &&
	       a->dead == b->dead && a->aged == b->aged && a->seed == b->seed;
}

/** struct tn_serdes_model - model of the cable and the SerDes behind the receiver of one port */
struct tn_serdes_model {
	struct tn_serdes serdes;	/* to be passed to tn_nic_serdes() */
	struct tn_cable cable;
	/* private: */
	u64 since;			/* when the cable was laid, or began to age */
	u16 on;
	u8 rate;
	struct tn_taps taps[TORUS_LANES_MAX];
	struct tn_rx rx[TORUS_LANES_MAX];
	struct tn_fault errors;
	u64 errors_at;			/* when the rate of @errors was computed */
};

/** tn_serdes_model_init() - initialise the model, without a cable */
void tn_serdes_model_init(struct tn_serdes_model *m);
/**
 * tn_serdes_model_lay() - replace the cable; the caller must then call tn_nic_cable()
 * If the new cable differs only in crosstalk, temperature or dead lanes, it keeps the age of the
 * old one.
 */
void tn_serdes_model_lay(struct tn_serdes_model *m, const struct tn_cable *cable, u64 now);
/**
 * tn_serdes_model_ber() - Return: bit error rate of the link with its present settings, in 1e-18
 */
u64 tn_serdes_model_ber(const struct tn_serdes_model *m, u64 now);
#endif /* TN_SERDES_MODEL_H */
