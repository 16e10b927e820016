// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "train_wear.h"
#include "daemon/quality.h"
#include "daemon/wear.h"
#include "kernel/core/splitmix64.h"
#include "lib/util/times.h"

#define READ_EVERY	(60 * SEC)	/* interval of readings; fabricd reads more often, so it
					 * warns earlier */
#define PHASES		1440		/* readings in a period of the model, which is a day */
#define MONTH		(30 * 86400 * SEC)
#define STEPS_MAX	200000

/** struct watch - the judgement of fabricd about the receiver of one link */
struct watch {
	struct quality_rules rules;
	struct quality quality;
	struct quality_sample sample;
	struct wear wear;
	u64 random;
	double bits_left;	/* until the next error */
	double second;		/* when the last second with errors began, ns */
};

static double draw_fraction(u64 *state)
{
	return ((double)(splitmix64_mix(*state += SPLITMIX64_STEP) >> 11) + 1) * 0x1p-53;
}

static void begin_watch(struct watch *w, u64 seed)
{
	*w = (struct watch) { .sample = { .at = 1, .up = true }, .random = seed };
	quality_rules_default(&w->rules);
	w->bits_left = -log(draw_fraction(&w->random));
}

/* Counts an error as the NIC does: kernel/core/link_rx.c. */
static void count_line_error(struct watch *w, double at)
{
	w->sample.errors++;
	if (w->sample.seconds && at - w->second < (double)SEC)
		return;
	w->second = at;
	w->sample.seconds++;
}

/* Counts the errors of @bits; @bits_left is in units of the mean distance between two errors. */
static void count_line_errors(struct watch *w, double bits, double ber)
{
	w->bits_left -= bits * ber;
	while (w->bits_left <= 0) {
		count_line_error(w, (double)w->sample.at +
				 w->bits_left / (bits * ber) * (double)READ_EVERY);
		w->bits_left -= log(draw_fraction(&w->random));
	}
	w->sample.bits += (u64)bits;
}

/*
 * Reads the counters after READ_EVERY of full load. A line has at least the errors that training
 * allows. Return: true if the link has become bad.
 */
static bool read_counters(struct watch *w, u32 mbps, u32 margin, double ber, double target)
{
	bool was = w->quality.level != QUALITY_GOOD || w->wear.worn, bad;

	w->sample.at += READ_EVERY;
	count_line_errors(w, (double)mbps * 1e6 * (double)(READ_EVERY / SEC),
			  ber > target ? ber : target);
	quality_read(&w->quality, &w->rules, &w->sample);
	wear_read(&w->wear, w->sample.at, w->sample.session, margin, w->rules.clean_for);
	bad = w->quality.level != QUALITY_GOOD || w->wear.worn;
	return bad && !was;
}

static bool lay_line(struct train_receiver *r, const struct train_plan *plan)
{
	train_receiver_init(r, plan);
	train_receiver_train(r, false);
	return tn_train_width(&r->train);
}

u64 wear_age(const struct train_plan *plan, u64 scale)
{
	double target = train_ber(plan->params.target_ber);
	struct train_receiver r;
	struct watch w;
	u64 warned = 0;
	u32 first;

	if (!lay_line(&r, plan))
		return ~0ull;
	begin_watch(&w, plan->cable.seed);
	first = tn_train_mbps(&r.train);
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		r.now += READ_EVERY / scale;
		if (tn_train_watch(&r.train, r.now))
			train_receiver_train(&r, true);
		if (r.train.state != TN_TRAIN_DONE || tn_train_mbps(&r.train) < first)
			return warned ? w.sample.at + READ_EVERY - warned : 0;
		if (read_counters(&w, first, tn_train_margin(&r.train),
				  train_ber(tn_serdes_model_ber(&r.model, r.now)), target))
			warned = w.sample.at;
		if (w.quality.level == QUALITY_GOOD && !w.wear.worn)
			warned = 0;
	}
	return ~0ull;
}

u64 wear_month(const struct train_plan *plan)
{
	double target = train_ber(plan->params.target_ber), ber[PHASES];
	struct train_receiver r;
	u32 margin[PHASES], mbps;
	struct watch w;
	u64 alarms = 0;

	if (!lay_line(&r, plan))
		return 0;
	for (unsigned int i = 0; i < PHASES; i++) {
		r.now += TN_CABLE_PERIOD / PHASES;
		if (tn_train_watch(&r.train, r.now))
			train_receiver_train(&r, true);
		margin[i] = tn_train_margin(&r.train);
		ber[i] = train_ber(tn_serdes_model_ber(&r.model, r.now));
	}
	mbps = tn_train_mbps(&r.train);
	begin_watch(&w, plan->cable.seed);
	for (u64 i = 0; i < MONTH / READ_EVERY; i++)
		alarms += read_counters(&w, mbps, margin[i % PHASES], ber[i % PHASES], target);
	return alarms;
}
