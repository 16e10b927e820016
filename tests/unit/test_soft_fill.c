// SPDX-License-Identifier: GPL-2.0-only
/*
 * A NIC's replies contain the state of its core: otherwise a manager would compute routes from,
 * and an administrator read, something else.
 */
#include "tests/unit/lone.h"

#include "kernel/req/soft.h"

static struct lone l;
static struct tn_soft s;
static struct torus_link link;

static void begin(void)
{
	static const struct tn_cable cable = {
		.length = 150, .loss = 2000, .crosstalk = 3, .drift = 4, .ageing = 5, .aged = 6,
		.dead = 1 << 2, .warmer = -3, .seed = 6,
	};

	lone_start(&l, "4", 0, NULL);
	memset(&s, 0, sizeof(s));
	s.nic = l.nic;
	s.params = l.params;
	s.hw.epoch = 12;
	for (unsigned int i = 0; i < 2; i++) {
		strcpy(s.port[i].lower, "eth7");
		s.port[i].fault = (struct torus_host_fault) {
			.bits = { .ber = 5, .seed = 6 }, .latency = 7, .silence = true,
		};
		tn_serdes_model_init(&s.port[i].serdes);
	}
	tn_serdes_model_lay(&s.port[0].serdes, &cable, l.now);
	tn_nic_serdes(l.nic, 0, &s.port[0].serdes.serdes);
	tn_nic_carrier(l.nic, 0, true, l.now);
	tn_nic_marks(l.nic, 0, 8, 6);
	memset(&link, 0x5a, sizeof(link));
}

static void same_state(const struct tn_link_info *li)
{
	assert_int_equal(link.admin, li->admin);
	assert_int_equal(link.carrier, li->carrier);
	assert_int_equal(link.closed, li->closed);
	assert_int_equal(link.session, li->session);
	assert_int_equal(link.seq, li->seq);
	assert_int_equal(link.peer_guid, li->peer_guid);
	assert_int_equal(link.peer_port, li->peer_port);
	assert_int_equal(link.retry, li->retry);
	assert_int_equal(link.retry_wanted, li->retry_wanted);
	assert_memory_equal(link.gauge, li->gauge, sizeof(link.gauge));
}

static void link_has_state_of_nic(void **state)
{
	struct tn_link_info li;

	(void)state;
	begin();
	tn_nic_retry(l.nic, 1, TORUS_RETRY_HIPPI, l.now);
	lone_up(&l, 1);
	l.now += 77;
	tn_nic_link_info(l.nic, 1, &li, l.now);
	tn_soft_link(&s, 1, &link, l.now);
	same_state(&li);
	assert_int_equal(link.port, 1);
	assert_int_equal(link.ifindex, 0);
	assert_int_equal(link.state, TORUS_LINK_UP);
	assert_int_equal(link.state_age, li.state_age);
	assert_true(link.session && link.peer_guid && link.state_age);
	assert_int_equal(link.reason, li.reason);
	assert_string_equal(link.lower, "eth7");
	assert_memory_equal(link.counter, tn_nic_port_counters(l.nic, 1, l.now), sizeof(link.counter));
	assert_int_equal(link.nlanes, 0);
	lone_end(&l);
}

static void link_has_lanes_and_eyes_of_receiver(void **state)
{
	const struct tn_train *t;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 4000; i++) {
		l.now += 100000;
		tn_nic_work(l.nic, l.now);
		tn_link_poll(lone_link(&l, 0), l.now);
	}
	tn_soft_link(&s, 0, &link, l.now);
	t = tn_nic_train(l.nic, 0);
	assert_int_equal(link.fault.ber, 5);
	assert_int_equal(link.fault.seed, 6);
	assert_int_equal(link.fault.latency_ns, 7);
	assert_true(link.fault.silence);
	assert_int_equal(link.fault.vb, 8);
	assert_int_equal(link.line.length, 150);
	assert_int_equal(link.line.loss, 2000);
	assert_int_equal(link.line.crosstalk, 3);
	assert_int_equal(link.line.drift, 4);
	assert_int_equal(link.line.ageing, 5);
	assert_int_equal(link.line.aged, 6);
	assert_int_equal(link.line.dead, 4);
	assert_int_equal(link.line.temperature, TORUS_CABLE_KELVIN - 3);
	assert_int_equal(link.nlanes, s.port[0].serdes.serdes.lanes);
	assert_int_equal(link.lane[2].state, TORUS_LANE_DEAD);
	assert_int_equal(link.lane[3].state, TORUS_LANE_ON);
	for (unsigned int i = 0; i < link.nlanes; i++) {
		assert_int_equal(link.lane[i].state, t->lane[i].state);
		assert_int_equal(link.lane[i].pre, t->lane[i].taps.pre);
		assert_int_equal(link.lane[i].post, t->lane[i].taps.post);
		assert_int_equal(link.lane[i].ctle, t->lane[i].rx.ctle + 1);
		assert_int_equal(link.lane[i].dfe, t->lane[i].rx.dfe + 1);
		assert_int_equal(link.lane[i].height, t->lane[i].eye.height);
		assert_int_equal(link.lane[i].width, t->lane[i].eye.width);
		assert_int_equal(link.lane[i].margin, t->lane[i].margin);
		assert_int_equal(link.lane[i].ber, t->lane[i].ber);
	}
	lone_end(&l);
}

/* In an event the states are those of the event, and all else is what the link is like now. */
static void event_has_states_of_its_time(void **state)
{
	static const struct tn_event ev = {
		.type = TN_EV_LINK, .port = 1, .old_state = TORUS_LINK_UP,
		.state = TORUS_LINK_FAULTY, .reason = TORUS_REASON_SILENCE,
	};
	struct tn_link_info li;

	(void)state;
	begin();
	lone_up(&l, 1);
	tn_nic_link_info(l.nic, 1, &li, l.now);
	tn_soft_link_event(&s, &ev, &link, l.now);
	same_state(&li);
	assert_int_equal(link.port, 1);
	assert_int_equal(link.old_state, TORUS_LINK_UP);
	assert_int_equal(link.state, TORUS_LINK_FAULTY);
	assert_int_equal(link.reason, TORUS_REASON_SILENCE);
	assert_string_equal(link.lower, "eth7");
	lone_end(&l);
}

static void park_has_counts_of_nic(void **state)
{
	struct torus_park park;
	struct tn_park_info pi;

	(void)state;
	begin();
	memset(&park, 0x5a, sizeof(park));
	tn_nic_park_info(l.nic, &pi);
	tn_soft_park(&s, &park);
	assert_int_equal(park.parked, pi.parked);
	assert_int_equal(park.unresolved, pi.unresolved);
	assert_int_equal(park.bytes, pi.bytes);
	assert_int_equal(park.bytes_max, pi.bytes_max);
	assert_true(park.bytes_max);
	assert_int_equal(park.held, pi.held);
	assert_int_equal(park.flow.ifindex, 0);
	assert_int_equal(park.flow.epoch, 12);
	assert_int_equal(park.flow.version, l.nic->version);
	assert_memory_equal(park.flow.counter, tn_nic_flow(l.nic), sizeof(park.flow.counter));
	lone_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_has_state_of_nic),
		cmocka_unit_test(link_has_lanes_and_eyes_of_receiver),
		cmocka_unit_test(event_has_states_of_its_time),
		cmocka_unit_test(park_has_counts_of_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
