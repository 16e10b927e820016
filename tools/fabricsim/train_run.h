/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One receiver on one cable in virtual time: the NIC's own training (kernel/core/train.h)
 * on the modelled line that software NICs have (kernel/core/serdes_model.h).
 */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "kernel/core/serdes_model.h"

/**
 * struct train_plan - parameters of a run
 * @life: time to simulate after training, ns; the eyes are measured every @look ns
 */
struct train_plan {
	struct tn_cable cable;
	struct tn_train_params params;
	u64 life, look;
};

/** struct train_state - state of a receiver at some time; @mbps: rate of one lane */
struct train_state {
	unsigned int width;
	u32 mbps, margin;
	u64 ber;
	struct tn_lane lane[TORUS_LANES_MAX];
};

/**
 * struct train_result - results of a run
 * @untrained: bit error rate before any training: no taps, flat receiver, highest rate, all lanes
 * @took: ns of the first training
 * @settings: number of settings that the training measured
 * @trained, @ended: after the first training, and at the end of life
 * @retrains: number of later trainings; @shed: lanes that they switched off
 * @retraining: ns spent in these trainings
 * @lived: ns until no lane was left; @life if some lanes are left
 * @worst: highest bit error rate of the whole link in any measurement
 */
struct train_result {
	u64 untrained;
	u64 took;
	unsigned int settings;
	struct train_state trained, ended;
	unsigned int retrains, shed;
	u64 retraining, lived, worst;
};

/** struct train_receiver - a receiver, its line, and the time */
struct train_receiver {
	struct tn_serdes_model model;
	struct tn_train train;
	unsigned int settings;
	u64 now;
};

/** train_receiver_init() - make a receiver and its line; @r must not move in memory from then on */
void train_receiver_init(struct train_receiver *r, const struct train_plan *plan);
/** train_receiver_train() - train the receiver. Return: the duration, ns */
u64 train_receiver_train(struct train_receiver *r, bool near);

void train_run(const struct train_plan *plan, struct train_result *out);

/** train_ber() - Return: a bit error rate of the core as a number from 0 to 1 */
static inline double train_ber(u64 ber)
{
	return (double)ber / (double)TORUS_BER_ONE;
}

#endif /* TRAIN_RUN_H */
