// SPDX-License-Identifier: GPL-2.0-only
#include "train_run.h"

u64 train_receiver_train(struct train_receiver *r, bool near)
{
	u64 from = r->now;

	tn_train_begin(&r->train, near, r->now);
	while (r->train.state == TN_TRAIN_BUSY) {
		r->now = tn_train_expiry(&r->train);
		tn_train_poll(&r->train, r->now);
		r->settings++;
	}
	return r->now - from;
}

static void read_state(const struct train_receiver *r, struct train_state *out)
{
	*out = (struct train_state) {
		.width = tn_train_width(&r->train),
		.margin = tn_train_margin(&r->train),
		.ber = tn_train_ber(&r->train),
	};
	if (out->width)
		out->mbps = r->model.serdes.mbps[r->train.rate];
	memcpy(out->lane, r->train.lane, sizeof(out->lane));
}

static void run_lifetime(struct train_receiver *r, const struct train_plan *plan,
			 struct train_result *out)
{
	u64 end = r->now + plan->life, begin = r->now;

	while (r->train.state == TN_TRAIN_DONE && r->now + plan->look <= end) {
		unsigned int width = tn_train_width(&r->train);
		u64 ber;

		r->now += plan->look;
		ber = tn_serdes_model_ber(&r->model, r->now);
		if (ber > out->worst)
			out->worst = ber;
		if (!tn_train_watch(&r->train, r->now))
			continue;
		out->retrains++;
		out->retraining += train_receiver_train(r, true);
		if (tn_train_width(&r->train) < width)
			out->shed += width - tn_train_width(&r->train);
	}
	out->lived = r->train.state == TN_TRAIN_DONE ? plan->life : r->now - begin;
}

void train_receiver_init(struct train_receiver *r, const struct train_plan *plan)
{
	memset(r, 0, sizeof(*r));
	r->now = 1;
	tn_serdes_model_init(&r->model);
	tn_serdes_model_lay(&r->model, &plan->cable, r->now);
	tn_train_init(&r->train, &r->model.serdes, &plan->params);
}

void train_run(const struct train_plan *plan, struct train_result *out)
{
	struct train_receiver r;

	memset(out, 0, sizeof(*out));
	train_receiver_init(&r, plan);
	out->untrained = tn_serdes_model_ber(&r.model, r.now);
	out->took = train_receiver_train(&r, false);
	out->settings = r.settings;
	read_state(&r, &out->trained);
	run_lifetime(&r, plan, out);
	read_state(&r, &out->ended);
}
