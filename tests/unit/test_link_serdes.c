// SPDX-License-Identifier: GPL-2.0-only
/* A link whose SerDes is the test: when it trains, and what it sends and counts meanwhile. */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

#define NEVER	(~0ull)
#define UP	TORUS_LINK_UP
#define SETTLE	1000
#define LANES	3

static struct lone l;
static struct tn_link *link;
static struct tn_serdes serdes;
/* Percent of the mask that fits into each lane's eye; 0: no signal. */
static unsigned int margin[LANES];
static unsigned int measured;

static void set_rate(void *ctx, unsigned int rate)
{
	(void)ctx;
	assert_int_equal(rate, 0);
}

static void set_taps(void *ctx, unsigned int lane, struct tn_taps taps)
{
	(void)ctx;
	(void)lane;
	(void)taps;
}

static void enable(void *ctx, unsigned int lane, bool on)
{
	(void)ctx;
	(void)lane;
	(void)on;
}

static void measure(void *ctx, unsigned int lane, struct tn_eye *eye, u64 now)
{
	(void)ctx;
	(void)now;
	*eye = (struct tn_eye) { .signal = margin[lane], .height = (u16)margin[lane],
				 .width = (u16)margin[lane], .noise = 1, .jitter = 1 };
	measured++;
}

static const struct tn_serdes_ops ops = {
	.set_rate = set_rate, .set_taps = set_taps, .enable = enable, .measure = measure,
};

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

static void margins(unsigned int a, unsigned int b, unsigned int c)
{
	margin[0] = a;
	margin[1] = b;
	margin[2] = c;
}

static void begin(void)
{
	serdes = (struct tn_serdes) {
		.ops = &ops, .lanes = LANES, .rates = 1, .mbps = { 1000 }, .swing = 400,
		.settle = SETTLE,
	};
	margins(200, 200, 200);
	lone_start(&l, "4", 0, NULL);
	link = lone_link(&l, 0);
	tn_nic_serdes(l.nic, 0, &serdes);
}

/* Checks that the next action is due at @at and not before, and does it. */
static void due_at(u64 at)
{
	u8 state = link->state;

	assert_true(tn_nic_expiry(l.nic) == at);
	l.now = at - 1;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(link->state, state);
	assert_true(tn_nic_expiry(l.nic) == at);
	l.now = at;
	tn_nic_poll(l.nic, l.now);
}

static void begin_up(void)
{
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	due_at(l.now + SETTLE);
	lone_up(&l, 0);
	lone_events(&l, TN_EV_LINK);
	/* Nothing else shall be due but measurements of the eyes. */
	l.nic->params.silence = 1000000 * MS;
	link->keepalive_at = NEVER;
}

static void end(void)
{
	lone_end(&l);
}

/* Checks that there is exactly one event, on port 0. */
static void check_event(u8 old, u8 now)
{
	assert_int_equal(l.events, 1);
	assert_int_equal(l.event[0].old_state, old);
	assert_int_equal(l.event[0].state, now);
	l.events = 0;
}

static u64 gauge(enum torus_port_gauge g)
{
	struct tn_link_info info;

	tn_nic_link_info(l.nic, 0, &info, l.now);
	return info.gauge[g];
}

/* At power-up the link neither receives nor sends until it is trained; then it sends INITs. */
static void link_is_silent_at_power_up_until_trained(void **state)
{
	u64 from;

	(void)state;
	begin();
	assert_true(tn_nic_train(l.nic, 0)->serdes == &serdes);
	assert_true(tn_nic_train(l.nic, 1)->serdes == NULL);
	assert_true(tn_nic_expiry(l.nic) == NEVER);
	from = l.now;
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_TRAINING);
	assert_int_equal(lone_tx(&l, 0), 0);
	lone_rx(&l, 0, (const u8[16]) { TN_DATA }, 16);
	assert_int_equal(pc(TORUS_PC_RX_FRAMES), 1);	/* received, but not read */
	assert_int_equal(pc(TORUS_PC_MALFORMED), 0);
	assert_int_equal(gauge(TORUS_PG_WIDTH), 0);
	due_at(from + SETTLE);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_INIT);
	assert_int_equal(measured, LANES);
	assert_int_equal(gauge(TORUS_PG_LANES), LANES);
	assert_int_equal(gauge(TORUS_PG_WIDTH), LANES);
	assert_int_equal(gauge(TORUS_PG_RATE), 1000);
	assert_int_equal(gauge(TORUS_PG_RATE_MAX), 1000);
	assert_int_equal(l.peer[0].received.mbps, LANES * 1000);
	assert_int_equal(gauge(TORUS_PG_MARGIN), 200);
	assert_int_equal(gauge(TORUS_PG_MARGIN_TRAIN), 110);
	assert_int_equal(gauge(TORUS_PG_LINE_BER), tn_train_ber(&link->train));
	assert_int_equal(pc(TORUS_PC_NS_TRAINING), SETTLE);
	assert_int_equal(pc(TORUS_PC_LANES_SHED), 0);
	assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), 0);
	/* Without carrier, or taken down, a link neither trains nor measures. */
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_true(tn_nic_expiry(l.nic) == NEVER);
	measured = 0;
	l.now += 1000 * MS;
	tn_nic_poll(l.nic, l.now);
	tn_link_poll(link, l.now);
	assert_int_equal(measured, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_true(tn_nic_expiry(l.nic) == NEVER);
	l.now += 1000 * MS;
	tn_link_poll(link, l.now);
	assert_int_equal(measured, 0);
	end();
	/* A port without SerDes does not have these gauges. */
	lone_start(&l, "4", 0, NULL);
	for (unsigned int g = TORUS_PG_LANES; g <= TORUS_PG_MARGIN_TRAIN; g++)
		assert_int_equal(gauge(g), 0);
	end();
}

/* A link that is up measures its eyes every eye_interval, unless these never change. */
static void link_that_is_up_measures_its_eyes(void **state)
{
	(void)state;
	begin_up();
	l.now = link->look_at - 50 * MS;
	for (int n = 0; n < 3; n++) {
		measured = 0;
		due_at(l.now + 50 * MS);
		assert_int_equal(measured, LANES);
		assert_int_equal(l.events, 0);
	}
	serdes.steady = true;
	due_at(l.now + 50 * MS);
	assert_true(tn_link_expiry(link) > l.now + 1000 * MS);
	/* A hint that they may have changed leads to a measurement soon. */
	serdes.steady = false;
	l.now += 7;
	tn_nic_cable(l.nic, 0, l.now);
	due_at(l.now + 50 * MS);
	tn_nic_cable(l.nic, 1, l.now);
	assert_true(lone_link(&l, 1)->look_at == NEVER);
	end();
	begin();
	serdes.steady = true;
	tn_nic_carrier(l.nic, 0, true, l.now);
	due_at(l.now + SETTLE);
	assert_true(link->look_at == NEVER);
	end();
}

/* The margin falls below what training accepts, and rises again: each is reported once. */
static void falling_margin_is_reported_once(void **state)
{
	static const struct { unsigned int margin; bool reported; } step[] = {
		{ 111, false }, { 110, false }, { 109, true }, { 100, false }, { 105, false },
		{ 110, true }, { 200, false }, { 100, true }, { 120, true },
	};

	(void)state;
	begin_up();
	for (unsigned int i = 0; i < ARRAY_SIZE(step); i++) {
		margin[1] = step[i].margin;
		tn_nic_poll(l.nic, l.now = link->look_at);
		assert_int_equal(l.events, step[i].reported);
		if (step[i].reported)
			check_event(UP, UP);
		assert_int_equal(gauge(TORUS_PG_MARGIN), step[i].margin);
	}
	assert_int_equal(pc(TORUS_PC_STATE_CHANGES), 3);
	assert_int_equal(pc(TORUS_PC_EYE_RETRAINS), 0);
	/* A link that is not up reports no such event. */
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	tn_nic_poll(l.nic, l.now += 2 * SETTLE);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	lone_events(&l, TN_EV_LINK);
	margin[1] = 105;
	tn_nic_poll(l.nic, l.now = link->look_at);
	assert_int_equal(l.events, 0);
	end();
}

/*
 * The mask no longer fits the eye: the link informs the peer, trains without receiving, and loses a
 * lane.
 */
static void closing_eye_retrains_and_gives_up_lane(void **state)
{
	u64 from;
	struct tn_init i;

	(void)state;
	begin_up();
	margin[2] = 99;
	tn_nic_poll(l.nic, l.now = link->look_at);
	from = l.now;
	check_event(UP, TORUS_LINK_RETRAINING);
	assert_int_equal(pc(TORUS_PC_EYE_RETRAINS), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(l.peer[0].received.resume && !l.peer[0].received.nonce_received);
	assert_int_equal(l.peer[0].received.mbps, 0);
	/* An INIT of the peer is not received now. */
	i = lone_init_of(&l, 0);
	i.resume = 1;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	lone_init(&l, 0, &i);
	assert_int_equal(link->peer_nonce, 0);
	while (link->train.state == TN_TRAIN_BUSY) {
		assert_true(tn_nic_expiry(l.nic) <= l.now + SETTLE);
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
		assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	}
	/* First settings near the present ones, then all; this SerDes has only one. */
	assert_true(l.now == from + 26 * SETTLE);
	/* Trained: it sends an INIT at once, and has the whole time for the handshake. */
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(link->init_at == l.now + l.params.init_interval);
	assert_true(link->give_up_at == l.now + l.params.retrain_time);
	assert_int_equal(pc(TORUS_PC_LANES_SHED), 1);
	assert_int_equal(gauge(TORUS_PG_WIDTH), 2);
	assert_int_equal(gauge(TORUS_PG_PEER_RATE), 0);
	i.mbps = 2500;
	lone_init(&l, 0, &i);
	assert_int_equal(gauge(TORUS_PG_PEER_RATE), 2500);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce_received, i.nonce);
	assert_int_equal(l.peer[0].received.mbps, 2 * 1000);
	i.nonce_received = l.peer[0].received.nonce;
	lone_init(&l, 0, &i);
	check_event(TORUS_LINK_RETRAINING, UP);
	l.peer[0].seed = link->seed;
	lone_drain(&l, 0);
	/* A lane that returns does not count as shed; the next one does. */
	margin[2] = 200;
	tn_nic_retrain(l.nic, 0, l.now);
	tn_nic_poll(l.nic, l.now += SETTLE);
	assert_int_equal(gauge(TORUS_PG_WIDTH), 3);
	assert_int_equal(pc(TORUS_PC_LANES_SHED), 1);
	margin[0] = margin[1] = 50;
	tn_nic_retrain(l.nic, 0, l.now);
	assert_int_equal(pc(TORUS_PC_EYE_RETRAINS), 1);
	end();
}

/* If the peer trains, the NIC tries settings near its own, too; on request it tries all. */
static void training_of_peer_also_tries_near_settings(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	i = lone_init_of(&l, 0);
	i.nonce_received = 0;
	i.resume = 1;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	assert_true(link->train.state == TN_TRAIN_BUSY && link->train.near);
	end();
	begin_up();
	tn_nic_retrain(l.nic, 0, l.now);
	assert_true(link->train.state == TN_TRAIN_BUSY && !link->train.near);
	end();
}

/* While the link is not up, an eye that closes begins another training. */
static void closing_eye_of_link_in_init_trains_again(void **state)
{
	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	due_at(l.now + SETTLE);
	lone_drain(&l, 0);
	lone_events(&l, TN_EV_LINK);
	margin[0] = 50;
	tn_nic_poll(l.nic, l.now = link->look_at);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(link->train.state, TN_TRAIN_BUSY);
	assert_true(link->train.near);
	assert_int_equal(pc(TORUS_PC_EYE_RETRAINS), 1);
	assert_int_equal(l.events, 0);
	/* No INIT is sent while the receiver trains. */
	link->init_at = l.now + 10;
	tn_nic_poll(l.nic, l.now += 10);
	assert_int_equal(lone_tx(&l, 0), 0);
	end();
}

/* No lane works at power-up: the link keeps training and sends nothing, until it finds a lane. */
static void link_without_lanes_keeps_training(void **state)
{
	(void)state;
	begin();
	margins(0, 50, 109);
	tn_nic_carrier(l.nic, 0, true, l.now);
	for (u64 n = 1; n < 4; n++) {
		due_at(l.now + SETTLE);
		assert_int_equal(link->state, TORUS_LINK_TRAINING);
		assert_int_equal(link->reason, TORUS_REASON_TRAINING);
		assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), n);
		assert_int_equal(lone_tx(&l, 0), 0);
		due_at(l.now + l.params.probe_interval);
		assert_int_equal(link->train.state, TN_TRAIN_BUSY);
	}
	margin[2] = 110;
	due_at(l.now + SETTLE);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(gauge(TORUS_PG_WIDTH), 1);
	assert_int_equal(pc(TORUS_PC_LANES_SHED), 2);
	assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), 3);
	tn_nic_retrain(l.nic, 0, l.now);	/* lanes that are lost already count once */
	due_at(l.now + SETTLE);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(pc(TORUS_PC_LANES_SHED), 2);
	end();
	/* A SerDes that settles at once is not measured more often because of that. */
	begin();
	serdes.settle = 0;
	margins(0, 0, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	for (u64 n = 1; n < 4; n++) {
		assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), n);
		due_at(l.now + l.params.probe_interval);
	}
	end();
}

static void train_on(void)
{
	while (link->train.state == TN_TRAIN_BUSY)
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
}

/* The last lane dies under traffic: the link fails, and is faulty until a lane is found. */
static void loss_of_last_lane_fails_link(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	margins(50, 50, 50);
	tn_nic_poll(l.nic, l.now = link->look_at);
	lone_drain(&l, 0);
	train_on();
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_int_equal(link->reason, TORUS_REASON_TRAINING);
	assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), 1);
	assert_true(link->look_at == l.now + l.params.probe_interval);
	assert_int_equal(lone_tx(&l, 0), 0);
	/* An end without any lane sends nothing. */
	for (u64 until = link->look_at; l.now < until;)
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
	assert_int_equal(lone_tx(&l, 0), 0);
	train_on();
	assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), 2);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	/* The cable is plugged in again, but has no lane: the state is soon faulty again. */
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_TRAINING);
	train_on();
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_int_equal(pc(TORUS_PC_TRAIN_FAILURES), 3);
	/* The same with a SerDes that settles at once. */
	serdes.settle = 0;
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_false(tn_link_wants(link));
	serdes.settle = SETTLE;
	margins(200, 200, 200);
	while (link->train.state != TN_TRAIN_DONE)
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
	while (!lone_tx(&l, 0))
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
	assert_int_equal(l.sent[0].hdr.type, TN_INIT);
	i = lone_init_of(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	lone_up(&l, 0);
	end();
}

/* While a link trains, no other timer runs, and a change of the cable causes no measurement. */
static void training_is_not_disturbed(void **state)
{
	unsigned int before;

	(void)state;
	begin_up();
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	train_on();
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_true(link->give_up_at != NEVER);
	serdes.settle = 10 * link->params->eye_interval;
	tn_nic_retrain(l.nic, 0, l.now);
	assert_int_equal(link->state, TORUS_LINK_TRAINING);
	assert_true(link->give_up_at == NEVER && link->init_at == NEVER);
	before = measured;
	tn_nic_cable(l.nic, 0, l.now);
	l.now += 2 * link->params->eye_interval;
	tn_link_poll(link, l.now);
	assert_int_equal(measured, before);
	assert_int_equal(link->state, TORUS_LINK_TRAINING);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(link_is_silent_at_power_up_until_trained),
		cmocka_unit_test(link_that_is_up_measures_its_eyes),
		cmocka_unit_test(falling_margin_is_reported_once),
		cmocka_unit_test(closing_eye_retrains_and_gives_up_lane),
		cmocka_unit_test(training_of_peer_also_tries_near_settings),
		cmocka_unit_test(closing_eye_of_link_in_init_trains_again),
		cmocka_unit_test(link_without_lanes_keeps_training),
		cmocka_unit_test(loss_of_last_lane_fails_link),
		cmocka_unit_test(training_is_not_disturbed),
	};

	return cmocka_run_group_tests_name("link_serdes", all, NULL, NULL);
}
