/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cable and the SerDes behind it, for software NICs: what tn_serdes_ops asks
 * of hardware, computed; and the bit errors that follow.
 *
 * Cable. A pulse of one bit arrives spread over its neighbours, h(-1) .. h(2). Two
 * things are known of it at each rate: slow signals pass (the sum is 1), and
 * the fastest, 1010..., is weaker by the cable's loss x (the alternating sum is x).
 * Hence h(-1) + h(1) = (1 - x) / 2 and h(0) + h(2) = (1 + x) / 2; a quarter of
 * the former comes early, an eighth as much as it comes two bits late. Loss in
 * dB grows with length and with the root of the rate (skin effect).
 *
 * Eye. The transmitter's taps make of h the pulse p; the innermost trace lies where
 * all other bits conspire: height = |p(0)| - |p(-2)| - |p(-1)| - |p(1)| ... (peak
 * distortion, Lucky 1965), less the crosstalk of the lanes beside it that are on.
 * An eye half as high as its pulse is half as wide. Noise and jitter are Gaussian.
 *
 * Receiver. Its linear equaliser (CTLE) lifts what is fast: of step c it makes q(i) =
 * (1 + k) p(i) - k p(i-1), with k = c / 32; the fastest signal and the crosstalk grow by
 * 1 + 2k, the noise, which is white, by the root of (1 + k)^2 + k^2 (rounded up to
 * whole mV). Then decision feedback (DFE) takes d / 40 of the swing off q(1), the bit
 * after, and amplifies nothing. Setting 0, 0 is a receiver without equaliser.
 *
 * Temperature. Copper's resistance grows by 0.39 % a degree, and its loss in the skin
 * with the root of it: 0.2 %.
 *
 * Time. A room that warms and cools makes the loss swing by @drift per mille around what
 * it is said to be, once in TN_CABLE_PERIOD; aged lanes lose @ageing more each second.
 * The seed decides how lanes differ, by up to 5 % of the loss. All is fixed point,
 * and the same for the same configuration and times.
 *
 * A cable of length 0 is no cable: eyes are as wide as can be, at once, and only
 * dead lanes matter.
 */
#ifndef TN_SERDES_MODEL_H
#define TN_SERDES_MODEL_H

#include "fault.h"
#include "train.h"

#define TN_CABLE_PERIOD	60000000000ull	/* ns */

/**
 * struct tn_cable - what a software NIC is told of the cable it receives from
 * @length: cm, at most TORUS_CABLE_LENGTH_MAX; 0: none
 * @loss: mdB per metre, for the fastest bits at the highest rate
 * @crosstalk: per mille of the swing, from each neighbouring lane
 * @drift: per mille of the loss
 * @ageing: mdB per second, of @aged lanes
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

/** struct tn_serdes_model - the receiver of one port */
struct tn_serdes_model {
	struct tn_serdes serdes;	/* for tn_nic_serdes() */
	struct tn_cable cable;
	/* private: */
	u64 since;			/* when the cable was laid, or began to age */
	u16 on;
	u8 rate;
	struct tn_taps taps[TORUS_LANES_MAX];
	struct tn_rx rx[TORUS_LANES_MAX];
	struct tn_fault errors;
	u64 errors_at;			/* when their rate was computed */
};

/** tn_serdes_model_init() - without a cable */
void tn_serdes_model_init(struct tn_serdes_model *m);
/**
 * tn_serdes_model_lay() - another cable; then call tn_nic_cable()
 * One that differs in crosstalk, temperature or dead lanes alone is as old as it was.
 */
void tn_serdes_model_lay(struct tn_serdes_model *m, const struct tn_cable *cable, u64 now);
/** tn_serdes_model_ber() - of the whole link as it is set now, in units of 1e-18 */
u64 tn_serdes_model_ber(const struct tn_serdes_model *m, u64 now);
#endif /* TN_SERDES_MODEL_H */
