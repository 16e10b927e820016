/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Training of a link: finds taps, equaliser, rate and lanes for the connected cable.
 *
 * As in the Angara paper, transmitters have pre-emphasis and receivers an eye monitor; each
 * power-up measures the cable, instead of taking settings from a list, and chooses settings of both
 * sides. The paper's text has neither the order of the steps (its figure 2) nor the settings of a
 * receiver: both are inferred, and the search is this project's.
 *
 *   for rates from the fastest down
 *	1. with a flat receiver, for all settings of the taps: measure every lane's eye
 *	2. with the best taps of each lane, for all settings of its receiver: likewise
 *	3. with the best receiver, for settings around the best taps: likewise
 *	of the settings below the target error rate, a lane keeps the one with the largest margin
 *	a lane without signal is dead, and is left out
 *	stop if no lower rate could carry more than the best so far
 *   take the rate that carries most: rate times lanes that reach the target
 *   switch off all other lanes; if no lane is left, training has failed
 *
 * Margin is how far the mask could grow, in percent of its size, until it touches the eye: at 100
 * it just fits. A lane reaches the target if its margin is at least margin_train and the bit error
 * rate that its eye predicts is at most target_ber. An eye that cannot be wider ends the search.
 * Each lane has an eye monitor, so all lanes are searched at the same time.
 *
 * Order and cost. The transmitter comes first: taps open an eye before the cable adds its noise,
 * while a linear equaliser amplifies noise and crosstalk, so the receiver has to correct only what
 * is left. Closed eyes cannot be compared, so the larger search must be the one that opens them.
 * Step 3 follows because strong taps cost amplitude, and a receiver that equalises makes them
 * unnecessary. All combinations would be taps x receiver settings, with the model 2048 of 0.1 ms a
 * rate; the steps are taps + receiver settings + 25, with the model 169. The price is that the pair
 * of taps and receiver setting need not be the best of all pairs, although step 1 finds the best
 * taps and no step makes a lane worse (receiver_search_is_rarely_worse_than_taps_alone() of
 * tests/unit/test_train_rx.c measures the difference). A driver without set_rx has step 1 alone
 * (driver_without_receiver_settings_trains_taps_alone()).
 *
 * An up link measures its eyes at intervals (tn_train_watch()). When a mask no longer fits, the
 * link retrains, while errors are still few enough for the retry. It first tries settings around
 * the present ones, of the taps and then of the receiver, which suffices after changes of
 * temperature and age, and otherwise starts a full search. margin_retrain is less than
 * margin_train, so that a link that has just been trained does not retrain again at once.
 *
 * Each end trains what it receives; taps of the peer's transmitter are set through the SerDes's
 * back channel (as in IEEE 802.3 clause 72). So the directions of a cable may differ in rate and
 * width.
 *
 * One call makes at most one measurement of each lane: tens of register accesses.
 *
 * Tests. tests/unit/test_train.c and test_train_rx.c try all eyes of small SerDes
 * (all_small_tables_train_as_in_model(), all_small_tables_of_receiver_train_as_in_model()), and
 * searches around present settings (near_search_finds_moved_setting(),
 * near_search_tries_taps_then_receiver()); test_train_eye.c has margins and error rates,
 * test_link_train.c links that train.
 */
#ifndef TN_TRAIN_H
#define TN_TRAIN_H

#include "fault.h"

#define TN_RATES_MAX	4
/* half the time of one bit (unit interval, UI), in 1/1000 UI */
#define TN_HALF_UI	500
#define TN_MARGIN_MAX	9999		/* the largest margin that is reported, percent */

/** struct tn_taps - pre-emphasis of a transmitter: steps of the taps before and after the cursor */
struct tn_taps {
	u8 pre, post;
};

/**
 * struct tn_rx - settings of a receiver: steps of its linear equaliser and of its decision feedback
 */
struct tn_rx {
	u8 ctle, dfe;
};

/**
 * struct tn_eye - a lane's eye, as its monitor measures it
 * @signal: a signal is received
 * @height: from the centre to the innermost trace, mV; 0: closed
 * @width: from the centre to the innermost trace, 1/1000 UI, at most TN_HALF_UI
 * @noise: noise on the traces, rms, mV
 * @jitter: jitter of the traces, rms, 1/1000 UI
 */
struct tn_eye {
	bool signal;
	u16 height, width;
	u16 noise, jitter;
};

/**
 * struct tn_serdes_ops - operations of the hardware; called under the host's lock
 * @set_rate: set the rate of all lanes; @rate is an index into tn_serdes.mbps
 * @set_taps: set the taps of the transmitter at the other end of receiver lane @lane
 * @set_rx: set the equalisers of receiver lane @lane; NULL: the receiver has no settings, or adapts
 *	by itself
 * @enable: switch a lane on or off
 * @measure: measure the eye of @lane at @now
 * @sample: Return: the bit error rate, in units of 1e-18, that bits would have if the receiver
 *	sampled them @phase (1/1000 UI, -TN_HALF_UI .. TN_HALF_UI) beside and @offset mV above the
 *	centre of the eye
 * @errors: Return: the errors to inject into the next @bytes by tn_fault_corrupt(); NULL if there
 *	is none. Only a model has this operation; it is NULL if received bits have their errors
 *	already
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
 * @mbps: Mb/s of one lane at each rate, fastest first
 * @pre_max, @post_max: greatest settings of the transmitter's taps; the least are 0
 * @ctle_max, @dfe_max: greatest settings of the receiver's equalisers; 0: they cannot be set.
 *	A setting of 0 does not equalise
 * @swing: height of the widest eye, mV
 * @settle: ns from a setting to its measurement; 0: at once
 * @steady: eyes never change, so the link does not measure them again. A caller that changes this
 *	flag must call tn_nic_cable()
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

/**
 * tn_serdes_errors() - Return: the errors to inject into the next @bytes; NULL if there is none, as
 * with steady eyes
 */
static inline struct tn_fault *tn_serdes_errors(const struct tn_serdes *s, u32 bytes, u64 now)
{
	return s->steady || !s->ops->errors ? NULL : s->ops->errors(s->ctx, bytes, now);
}

/**
 * struct tn_train_params - thresholds of training
 * @target_ber: highest acceptable bit error rate of a lane, in units of 1e-18
 * @mask_height, @mask_width: size of the eye mask from its centre, mV and 1/1000 UI
 * @margin_train, @margin_retrain: least margin after a training; margin below which the link
 *	retrains; percent of the mask
 */
struct tn_train_params {
	u64 target_ber;
	u32 mask_height, mask_width;
	u32 margin_train, margin_retrain;
};

/** struct tn_lane - a lane with its best setting so far; @state: enum torus_lane_state */
struct tn_lane {
	u8 state;
	struct tn_taps taps;
	struct tn_rx rx;
	struct tn_eye eye;
	u32 margin;
	u64 ber;
};

enum tn_train_state {
	TN_TRAIN_IDLE,		/* training was never done, or has failed */
	TN_TRAIN_BUSY,
	TN_TRAIN_DONE,
};

/**
 * enum tn_train_step - steps of the search at one rate
 * @TN_STEP_TAPS: all taps, or with @near those around the present ones
 * @TN_STEP_RX: settings of the receiver, with the best taps of each lane
 * @TN_STEP_AGAIN: taps around the best ones, with the best receiver setting of each lane
 */
enum tn_train_step {
	TN_STEP_TAPS,
	TN_STEP_RX,
	TN_STEP_AGAIN,
};

/**
 * struct tn_train - training of one link
 * @lane: the lanes with their present settings; during a search, with the best settings at @rate so
 *	far
 * @found: during a search: the lanes at the rate that carries most so far, @found_mbps
 */
struct tn_train {
	const struct tn_serdes *serdes;
	struct tn_train_params params;
	u8 state;
	u8 rate;
	struct tn_lane lane[TORUS_LANES_MAX];
	/* private: */
	bool near;		/* search only around the present settings */
	u8 step;		/* enum tn_train_step */
	u8 found_rate;
	u16 cursor;		/* number of the setting that is measured in this step */
	u32 found_mbps;
	u64 at;			/* when that setting is to be measured */
	struct tn_taps base[TORUS_LANES_MAX];		/* settings from which the step starts */
	struct tn_rx base_rx[TORUS_LANES_MAX];
	struct tn_lane found[TORUS_LANES_MAX];
};

/**
 * tn_train_init() - prepare the training of a link; @serdes must stay valid; NULL: there is nothing
 * to train, and training counts as done
 */
void tn_train_init(struct tn_train *t, const struct tn_serdes *serdes,
		   const struct tn_train_params *params);
/**
 * tn_train_begin() - begin a search; @near: try settings around the present ones first
 * tn_train_poll() ends it, after at most (taps + receiver settings + 25) x rates measurements, taps
 * being pre x post, receiver settings ctle x dfe; if @near, 50 more. Without set_rx it is taps x
 * rates, and 25 more.
 */
void tn_train_begin(struct tn_train *t, bool near, u64 now);
/** tn_train_poll() - measure the next setting, at tn_train_expiry(). Return: enum tn_train_state */
u8 tn_train_poll(struct tn_train *t, u64 now);
u64 tn_train_expiry(const struct tn_train *t);
/**
 * tn_train_watch() - measure the lanes in use
 * Return: true if the link must retrain: the mask no longer fits into an eye, or a lane has too
 * many errors.
 */
bool tn_train_watch(struct tn_train *t, u64 now);

/** tn_train_width() - Return: number of lanes in use */
unsigned int tn_train_width(const struct tn_train *t);
/** tn_train_mbps() - Return: rate of all lanes in use together, Mb/s */
u32 tn_train_mbps(const struct tn_train *t);
/** tn_train_margin() - Return: the smallest margin of the lanes in use; 0 if no lane is in use */
u32 tn_train_margin(const struct tn_train *t);
/**
 * tn_train_ber() - Return: the expected bit error rate of the link, whose bits are spread over all
 * lanes in use
 */
u64 tn_train_ber(const struct tn_train *t);

/**
 * tn_train_eye_top() - Return: height of the map of a lane's eye, mV from its centre: a quarter
 * more than the eye and the mask need
 */
unsigned int tn_train_eye_top(const struct tn_train *t, unsigned int lane, u64 now);
/**
 * tn_train_eye() - compute a row of the map of a lane's eye, as its monitor measures it at @now
 * @top: mV from the centre to the first row
 * @row: below TORUS_EYE_ROWS
 * @out: TORUS_EYE_COLS bytes, each -log10 of the bit error rate there
 */
void tn_train_eye(const struct tn_train *t, unsigned int lane, unsigned int top, unsigned int row,
		  u8 *out, u64 now);

/**
 * tn_eye_margin() - Return: how far the mask can grow until it touches the eye, in percent of its
 * size
 */
u32 tn_eye_margin(const struct tn_eye *eye, const struct tn_train_params *p);
/** tn_eye_ber() - Return: the bit error rate to be expected at the eye's centre, in 1e-18 */
u64 tn_eye_ber(const struct tn_eye *eye);
/**
 * tn_gauss_ber() - compute the probability that noise exceeds a distance q: erfc(q / sqrt 2) / 2
 * @q16: q in 1/16 of the noise's rms; a value below 0 counts as 0
 * Return: the probability in units of 1e-18.
 */
u64 tn_gauss_ber(s32 q16);

#endif /* TN_TRAIN_H */
