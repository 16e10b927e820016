/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long before its failure fabricd warns of a line that ages, and how often it warns of one that
 * does not: the judgement of fabricd (daemon/quality.h, daemon/wear.h) on the modelled line that
 * software NICs have (kernel/core/serdes_model.h), in virtual time.
 *
 * The model ages by 1 mdB a second or more, so it ends within hours; real lines take months. So a
 * second of the model is @scale seconds, 1 to 1440 of them: with 1440 the swing of the temperature,
 * a minute in the model, is a day. A line fails when training leaves it fewer lanes or a lower rate
 * than at first.
 */
#ifndef TRAIN_WEAR_H
#define TRAIN_WEAR_H

#include "train_run.h"

#define WEAR_SCALE_MAX	1440

/**
 * struct wear_result - results of lines of one kind
 * @failed: number of lines that aged until they failed; @warned: number of these lines for which
 *	fabricd warned before
 * @early: number of these lines for which fabricd warned at least WEAR_EARLY before
 * @before: ns from the warning to the failure of each, at most @failed; ascending
 * @months: simulated months of lines that do not age; @alarms: number of warnings for these lines
 */
struct wear_result {
	unsigned int failed, warned, early;
	u64 *before;
	u64 months, alarms;
};

#define WEAR_EARLY	(600ull * 1000000000ull)

/**
 * wear_age() - let a line age until it fails
 * Return: ns from the warning to the failure; 0 if there was no warning; ~0 if it does not fail, or
 * could not be trained
 */
u64 wear_age(const struct train_plan *plan, u64 scale);
/** wear_month() - simulate a line that does not age, for 30 days. Return: number of warnings */
u64 wear_month(const struct train_plan *plan);

#endif /* TRAIN_WEAR_H */
