/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training of a link: taps, equaliser, rate and lanes for the cable that is there.
 *
 * As the Angara paper has it, transmitters have pre-emphasis and receivers an eye
 * monitor; instead of looking up a cable in a list, each power-up measures it, and
 * chooses settings of both sides. The order of the steps (its figure 2) is not in its
 * text, nor which settings a receiver has: both are inferred, and the search is ours.
 *
 *   for rates from the fastest down
 *	1. with a flat receiver, for all settings of the taps: measure every lane's eye
 *	2. with the best taps of each lane, for all settings of its receiver: likewise
 *	3. with the best receiver, for settings around the best taps: likewise
 *	a lane keeps the setting that errs less than the target and fits the mask best
 *	a lane without signal is dead; it is not asked again
 *	stop if no lower rate could carry more than the best so far
 *   take the rate that carries most: rate times lanes that reach the target
 *   switch off all other lanes; no lane is left: training has failed
 *
 * Margin is how far the mask could grow, in percent of its size, until it touches
 * the eye: 100 fits just so. A lane reaches the target if its margin is at least
 * margin_train and the bit error rate that its eye lets expect is at most
 * target_ber. An eye that cannot be wider ends the search. Lanes have an eye monitor
 * each and are searched at the same time.
 *
 * Order and cost. The transmitter comes first: taps open an eye before the cable adds
 * its noise, while a linear equaliser amplifies noise and crosstalk, so the receiver
 * has to do only what is left; and eyes that are still closed cannot be compared, so
 * the larger search must be the one that opens them. Step 3 is there because a receiver
 * that equalises makes strong taps unnecessary, which cost amplitude. All combinations
 * would be taps x receiver settings, with the model 2048 of 0.1 ms a rate; the steps
 * are taps + receiver settings + 25, with the model 169. The price: step 1 finds the best
 * taps whatever the surface looks like, and no step makes a lane worse, but the pair
 * need not be the best of all pairs (tests/unit/test_train_rx.c measures how far it
 * may be off with the model). A driver without set_rx has step 1 alone.
 *
 * An up link measures its eyes at intervals (tn_train_watch()). When a mask no longer fits, the
 * link retrains, while errors are still few enough for the retry. It first tries settings around
 * the present ones, of the taps and then of the receiver, which suffices after changes of
 * temperature and age, and otherwise begins anew. margin_retrain is less than margin_train, so that
 * a link does not retrain again at once.
 *
 * Each end trains what it receives; taps of the peer's transmitter are set through
 * the SerDes's back channel (as in IEEE 802.3 clause 72). So the directions of a
 * cable may differ in rate and width.
 *
 * One call makes one measurement of each lane at most: tens of register accesses.
 */
#ifndef TN_TRAIN_H
#define TN_TRAIN_H

#include "fault.h"

#define TN_RATES_MAX	4
#define TN_HALF_UI	500		/* half a bit's time, in 1/1000 UI */
#define TN_MARGIN_MAX	9999		/* percent */

/** struct tn_taps - pre-emphasis: steps of the taps before and after the cursor */
struct tn_taps {
	u8 pre, post;
};

/** struct tn_rx - receiver: steps of its linear equaliser, and of its decision feedback's tap */
struct tn_rx {
	u8 ctle, dfe;
};

/**
 * struct tn_eye - what an eye monitor says of a lane
 * @signal: there is any
 * @height: from its centre to the innermost trace, mV; 0: closed
 * @width: likewise, in 1/1000 UI, TN_HALF_UI at most
 * @noise: on the traces, rms, mV
 * @jitter: rms, in 1/1000 UI
 */
struct tn_eye {
	bool signal;
	u16 height, width;
	u16 noise, jitter;
};

/**
 * struct tn_serdes_ops - what hardware implements; called under the host's lock
 * @set_rate: of all lanes; index into tn_serdes.mbps
 * @set_taps: of the transmitter that feeds receiver lane @lane
 * @set_rx: of receiver lane @lane; NULL: there is nothing to set, or the receiver does it itself
 * @enable: switch a lane on or off
 * @measure: the eye of @lane at @now
 * @sample: bit error rate, in units of 1e-18, if bits were decided @phase (1/1000 UI,
 *	-TN_HALF_UI .. TN_HALF_UI) beside and @offset mV above the centre of the eye
 * @errors: of a model: do the next @bytes suffer? The errors, for tn_fault_corrupt(), or NULL,
 *	and they are passed. NULL: bits come with the errors that they have
 */
struct tn_serdes_ops {
	void (*set_rate)(void *ctx, unsigned int rate);
	void (*set_taps)(void *ctx, unsigned int lane, struct tn_taps taps);
	void (*set_rx)(void *ctx, unsigned int lane, struct tn_rx rx);
	void (*enable)(void *ctx, unsigned int lane, bool on);
	void (*measure)(void *ctx, unsigned int lane, struct tn_eye *eye, u64 now);
	u64 (*sample)(void *ctx, unsigned int lane, int phase, int offset, u64 now);
	struct tn_fault *(*errors)(void *ctx, u32 bytes, u64 now);
};

/**
 * struct tn_serdes - the receiver of one link
 * @lanes: 1 to TORUS_LANES_MAX
 * @rates: 1 to TN_RATES_MAX
 * @mbps: of one lane at each rate, fastest first
 * @pre_max, @post_max: tap settings are 0 to these
 * @ctle_max, @dfe_max: likewise of the receiver, if it can be set; 0 does not equalise
 * @swing: height of the widest eye, mV
 * @settle: ns from a setting to its measurement; 0: at once
 * @steady: eyes never change: no need to look at them again. May change; then
 *	tn_nic_cable() must be called
 */
struct tn_serdes {
	const struct tn_serdes_ops *ops;
	void *ctx;
	u8 lanes;
	u8 rates;
	u32 mbps[TN_RATES_MAX];
	u8 pre_max, post_max;
	u8 ctle_max, dfe_max;
	u16 swing;
	u64 settle;
	bool steady;
};

/** tn_serdes_sets_rx() - Return: true if the receiver has settings to be trained */
static inline bool tn_serdes_sets_rx(const struct tn_serdes *s)
{
	return s->ops->set_rx && (s->ctle_max || s->dfe_max);
}

/** tn_serdes_errors() - of the next @bytes of a link; NULL for none. Steady eyes have none */
static inline struct tn_fault *tn_serdes_errors(const struct tn_serdes *s, u32 bytes, u64 now)
{
	return s->steady || !s->ops->errors ? NULL : s->ops->errors(s->ctx, bytes, now);
}

/**
 * struct tn_train_params - thresholds
 * @target_ber: of a lane, in units of 1e-18
 * @mask_height, @mask_width: of the mask, from its centre, mV and 1/1000 UI
 * @margin_train, @margin_retrain: percent of the mask
 */
struct tn_train_params {
	u64 target_ber;
	u32 mask_height, mask_width;
	u32 margin_train, margin_retrain;
};

/** struct tn_lane - a lane in its best setting so far; state: enum torus_lane_state */
struct tn_lane {
	u8 state;
	struct tn_taps taps;
	struct tn_rx rx;
	struct tn_eye eye;
	u32 margin;
	u64 ber;
};

enum tn_train_state {
	TN_TRAIN_IDLE,		/* never trained, or failed */
	TN_TRAIN_BUSY,
	TN_TRAIN_DONE,
};

/**
 * enum tn_train_step - of the search at one rate
 * @TN_STEP_TAPS: all, or with @near around the present ones
 * @TN_STEP_RX: of the receiver, with the best taps of each lane
 * @TN_STEP_AGAIN: taps around the best ones, with the best receiver setting of each lane
 */
enum tn_train_step {
	TN_STEP_TAPS,
	TN_STEP_RX,
	TN_STEP_AGAIN,
};

/**
 * struct tn_train - training of one link
 * @lane: as they are used, or while busy as found best at @rate
 * @found: while busy: lanes at the rate that carries most so far, @found_mbps
 */
struct tn_train {
	const struct tn_serdes *serdes;
	struct tn_train_params params;
	u8 state;
	u8 rate;
	struct tn_lane lane[TORUS_LANES_MAX];
	/* private: */
	bool near;		/* only around the former settings */
	u8 step;		/* enum tn_train_step */
	u8 found_rate;
	u16 cursor;		/* which setting of the step is measured */
	u32 found_mbps;
	u64 at;			/* when */
	struct tn_taps base[TORUS_LANES_MAX];		/* what the step starts from */
	struct tn_rx base_rx[TORUS_LANES_MAX];
	struct tn_lane found[TORUS_LANES_MAX];
};

/** tn_train_init() - @serdes is kept; NULL: nothing to train, done at once */
void tn_train_init(struct tn_train *t, const struct tn_serdes *serdes,
		   const struct tn_train_params *params);
/**
 * tn_train_begin() - begin anew; @near: look around the present settings first
 * Ends by tn_train_poll(), after at most (taps + receiver settings + 25) x rates
 * measurements, taps being pre x post, receiver settings ctle x dfe; if @near, after 50
 * more. Without set_rx it is taps x rates, and 25 more.
 */
void tn_train_begin(struct tn_train *t, bool near, u64 now);
/** tn_train_poll() - at tn_train_expiry(); Return: enum tn_train_state */
u8 tn_train_poll(struct tn_train *t, u64 now);
u64 tn_train_expiry(const struct tn_train *t);
/**
 * tn_train_watch() - measure lanes in use
 * Return: true: some mask fits no more, or a lane errs too often: retrain.
 */
bool tn_train_watch(struct tn_train *t, u64 now);

/** tn_train_width() - lanes in use */
unsigned int tn_train_width(const struct tn_train *t);
/** tn_train_mbps() - Mb/s of all lanes in use together */
u32 tn_train_mbps(const struct tn_train *t);
/** tn_train_margin() - the smallest margin of the lanes in use; 0: no lane is in use */
u32 tn_train_margin(const struct tn_train *t);
/** tn_train_ber() - the expected bit error rate: bits are spread over all lanes in use */
u64 tn_train_ber(const struct tn_train *t);

/**
 * tn_train_eye_top() - what a map of a lane's eye should show: mV from its centre
 * A quarter more than eye and mask need.
 */
unsigned int tn_train_eye_top(const struct tn_train *t, unsigned int lane, u64 now);
/**
 * tn_train_eye() - a row of the map of a lane's eye, as its monitor sees it at @now
 * @top: mV from the centre to the first row
 * @row: below TORUS_EYE_ROWS
 * @out: TORUS_EYE_COLS bytes, each -log10 of the bit error rate there
 */
void tn_train_eye(const struct tn_train *t, unsigned int lane, unsigned int top, unsigned int row,
		  u8 *out, u64 now);

/** tn_eye_margin() - how far the mask can grow until it touches the eye, in percent of its size */
u32 tn_eye_margin(const struct tn_eye *eye, const struct tn_train_params *p);
/** tn_eye_ber() - bit error rate to be expected at the eye's centre, in 1e-18 */
u64 tn_eye_ber(const struct tn_eye *eye);
/**
 * tn_gauss_ber() - how often noise exceeds a distance: erfc(q / sqrt 2) / 2
 * @q16: distance in 1/16 of the noise's rms; below 0: as for 0
 * Return: in units of 1e-18.
 */
u64 tn_gauss_ber(s32 q16);

#endif /* TN_TRAIN_H */
