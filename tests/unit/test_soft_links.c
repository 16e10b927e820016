// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands to the ports of a software NIC. They must set exactly the faults and cables that were
 * ordered, for experiments measure these.
 */
#include "tests/unit/softnic.h"

static struct torus_link link_of(unsigned int port)
{
	struct torus_link link;

	assert_int_equal(softnic_did(OP.link_get(HW, port, &link), false), 0);
	return link;
}

static int set_link(unsigned int port, struct torus_link_order order)
{
	return softnic_did(OP.link_set(HW, port, &order), true);
}

/* LINK_SET of one attribute of FAULT, of @len bytes, and nothing else. */
static void set_fault(unsigned int port, unsigned int type, size_t len, u64 v)
{
	struct { struct nlattr a; u8 value[8]; } attr = {
		.a = { .nla_len = (u16)(sizeof(attr.a) + len), .nla_type = (u16)type },
	};
	const struct nlattr *tb[TORUS_FAULT_MAX + 1] = { NULL };

	tb[type] = &attr.a;
	memcpy(attr.value, &v, len);
	assert_int_equal(set_link(port, (struct torus_link_order) {
		.fault = tb, .retry = -1, .admin = -1,
	}), 0);
}

/* Each attribute sets its own member, of its own port; the others stay. */
static const struct {
	unsigned int type;
	u64 v;
	size_t at, len;
} link_faults[] = {
#define F(t, x, m) \
	{ TORUS_FAULT_##t, x, offsetof(struct torus_link, m), sizeof(((struct torus_link *)0)->m) }
	F(BER, 1000, fault.ber), F(SILENCE, 1, fault.silence), F(SILENCE, 2, fault.silence),
	F(SILENCE, 0, fault.silence),
	F(LATENCY, 1ull << 33, fault.latency_ns), F(SEED, 1ull << 63, fault.seed),
	F(CABLE, 500, line.length), F(LOSS, 3000, line.loss),
	F(CROSSTALK, 20, line.crosstalk), F(DRIFT, 30, line.drift),
	F(AGEING, 40, line.ageing), F(AGED, 0xf0f, line.aged), F(DEAD, 0x0f0, line.dead),
	F(TEMPERATURE, 250, line.temperature), F(TEMPERATURE, 350, line.temperature),
	F(LOSS, 0, line.loss), F(DEAD, 0, line.dead), F(BER, 0, fault.ber),
	F(VB, 2000, fault.vb),
#undef F
};

/* Compare what link_faults can change, member by member: padding may differ. */
static void assert_same_faults(const struct torus_link *got, const struct torus_link *want)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(link_faults); i++) {
		size_t at = link_faults[i].at;

		assert_memory_equal((const u8 *)got + at, (const u8 *)want + at,
				    link_faults[i].len);
	}
}

static void each_fault_of_link_is_set_alone(void **state)
{
	struct torus_link want, other, got;

	(void)state;
	softnic_begin();
	want = link_of(3);
	other = link_of(2);
	assert_int_equal(want.line.temperature, TORUS_CABLE_KELVIN);
	for (unsigned int i = 0; i < ARRAY_SIZE(link_faults); i++) {
		set_fault(3, link_faults[i].type, link_faults[i].len, link_faults[i].v);
		memcpy((u8 *)&want + link_faults[i].at, &link_faults[i].v, link_faults[i].len);
		got = link_of(3);
		assert_same_faults(&got, &want);
	}
	got = link_of(2);
	assert_same_faults(&got, &other);
	softnic_end();
}

/* Bit errors begin anew with a new rate or seed: the same seed hits the same bits. */
static void same_seed_repeats_bit_errors(void **state)
{
	struct tn_fault *f = &w.s.port[2].fault.bits, first;
	u8 data[4096] = { 0 };

	(void)state;
	softnic_begin();
	set_fault(2, TORUS_FAULT_SEED, 8, 99);
	set_fault(2, TORUS_FAULT_BER, 8, TORUS_BER_ONE / 1000);
	first = *f;
	tn_fault_corrupt(f, data, sizeof(data));
	set_fault(2, TORUS_FAULT_LATENCY, 8, 5);
	assert_memory_not_equal(f, &first, sizeof(first));
	set_fault(2, TORUS_FAULT_SEED, 8, 99);
	assert_memory_equal(f, &first, sizeof(first));
	tn_fault_corrupt(f, data, sizeof(data));
	set_fault(2, TORUS_FAULT_BER, 8, TORUS_BER_ONE / 1000);
	assert_memory_equal(f, &first, sizeof(first));
	softnic_end();
}

/* The same seed gives the same marks, and a request with a seed alone keeps the rate of marks. */
static void same_seed_repeats_marks(void **state)
{
	struct tn_fault *marks, first;

	(void)state;
	softnic_begin();
	marks = &lone_link(&w.l, 2)->marks;
	set_fault(2, TORUS_FAULT_SEED, 8, 99);
	set_fault(2, TORUS_FAULT_VB, 8, TORUS_BER_ONE / 1000);
	assert_true(link_of(2).fault.vb == TORUS_BER_ONE / 1000);
	first = *marks;
	assert_int_equal(first.seed, 99);
	tn_fault_next(marks);
	set_fault(2, TORUS_FAULT_LATENCY, 8, 5);
	set_fault(2, TORUS_FAULT_BER, 8, 5);
	assert_memory_not_equal(marks, &first, sizeof(first));
	set_fault(2, TORUS_FAULT_SEED, 8, 99);
	assert_memory_equal(marks, &first, sizeof(first));
	set_fault(2, TORUS_FAULT_VB, 8, 0);
	assert_int_equal(link_of(2).fault.vb, 0);
	softnic_end();
}

/*
 * The port measures its eyes soon after they may have changed. The seed is also the cable's; a
 * request with the same seed makes no new cable.
 */
static void changed_cable_is_measured_again(void **state)
{
	const u64 *look_at;
	u64 at;

	(void)state;
	softnic_begin();
	look_at = &lone_link(&w.l, 3)->look_at;
	set_fault(3, TORUS_FAULT_CABLE, 4, 700);
	at = w.l.now + w.s.params.eye_interval;
	assert_int_equal(*look_at, at);
	assert_int_equal(w.s.port[3].serdes.since, w.l.now);
	w.l.now += 1000;
	set_fault(3, TORUS_FAULT_CABLE, 4, 700);
	set_fault(3, TORUS_FAULT_LATENCY, 8, 5);
	assert_int_equal(*look_at, at);
	set_fault(3, TORUS_FAULT_SEED, 8, 3);
	assert_int_equal(w.s.port[3].serdes.cable.seed, 3);
	assert_int_equal(*look_at, at + 1000);
	softnic_end();
}

static void order_for_link_changes_only_what_it_names(void **state)
{
	struct torus_link link;

	(void)state;
	softnic_begin();
	lone_up(&w.l, 1);
	assert_int_equal(link_of(1).state, TORUS_LINK_UP);
	/* An order without anything. */
	assert_int_equal(set_link(1, (struct torus_link_order) { .retry = -1, .admin = -1 }), 0);
	link = link_of(1);
	assert_int_equal(link.state, TORUS_LINK_UP);
	assert_true(link.admin);
	assert_int_equal(link.retry_wanted, w.s.params.retry);
	set_link(1, (struct torus_link_order) { .retry = TORUS_RETRY_HIPPI, .admin = -1 });
	assert_int_equal(link_of(1).retry_wanted, TORUS_RETRY_HIPPI);
	set_link(1, (struct torus_link_order) { .retry = TORUS_RETRY_AUTO, .admin = -1 });
	assert_int_equal(link_of(1).retry_wanted, TORUS_RETRY_AUTO);
	set_link(1, (struct torus_link_order) { .retry = -1, .admin = 0 });
	assert_false(link_of(1).admin);
	assert_true(link_of(0).admin);
	set_link(1, (struct torus_link_order) { .retry = -1, .admin = 1 });
	assert_true(link_of(1).admin);
	softnic_end();
}

/*
 * All parts of an order take effect at once: the link that is taken up and trained anew has the new
 * protocol.
 */
static void all_parts_of_order_take_effect_at_once(void **state)
{
	(void)state;
	softnic_begin();
	lone_up(&w.l, 1);
	lone_events(&w.l, TN_EV_LINK);
	set_link(1, (struct torus_link_order) {
		.retry = TORUS_RETRY_HIPPI, .admin = 1, .retrain = true,
	});
	assert_int_not_equal(link_of(1).state, TORUS_LINK_UP);
	assert_int_equal(link_of(1).retry_wanted, TORUS_RETRY_HIPPI);
	assert_int_equal(lone_events(&w.l, TN_EV_LINK), 1);
	softnic_end();
}

static void lower_device_is_attached_or_refused(void **state)
{
	struct torus_refusal why = { 0 };
	static const char name[] = "eth3";

	(void)state;
	softnic_begin();
	assert_int_equal(OP.link_attach(HW, 2, name, &why), 0);
	assert_int_equal(w.attach_port, 2);
	assert_ptr_equal(w.attach_lower, name);
	w.attach_error = -EBUSY;
	assert_int_equal(OP.link_attach(HW, 3, "", &why), -EBUSY);
	assert_int_equal(w.attach_port, 3);
	assert_string_equal(why.text, "for a reason");
	softnic_end();
}

static void management_packet_needs_link_that_is_up(void **state)
{
	static const u8 data[] = "12345678";

	(void)state;
	softnic_begin();
	assert_int_equal(softnic_did(OP.mgmt_send(HW, 1, data, sizeof(data)), true), -ENETDOWN);
	lone_up(&w.l, 1);
	assert_int_equal(softnic_did(OP.mgmt_send(HW, 1, data, sizeof(data)), true), 0);
	assert_int_equal(lone_tx(&w.l, 1), 1);
	assert_int_equal(w.l.sent[0].hdr.type, TN_MGMT);
	assert_memory_equal(w.l.sent[0].payload, data, sizeof(data));
	softnic_end();
}

/* The map is made while packets go on: the lock is held once, for a copy of the receiver. */
static void map_is_made_while_packets_go_on(void **state)
{
	u8 row[TORUS_EYE_COLS];
	const struct tn_train *t;
	struct torus_eye eye;

	(void)state;
	softnic_begin();
	set_fault(3, TORUS_FAULT_CABLE, 4, 300);
	w.locks = 0;
	memset(&eye, 0, sizeof(eye));
	assert_int_equal(OP.eye_get(HW, 3, 2, &eye), 0);
	assert_int_equal(w.locks, 1);
	assert_int_equal(w.rests, TORUS_EYE_ROWS);
	softnic_did(0, false);
	t = tn_nic_train(w.l.nic, 3);
	assert_int_equal(eye.swing, tn_train_eye_top(t, 2, w.l.now));
	assert_int_equal(eye.mask_height, w.s.params.mask_height);
	assert_int_equal(eye.mask_width, w.s.params.mask_width);
	for (unsigned int i = 0; i < TORUS_EYE_ROWS; i++) {
		tn_train_eye(t, 2, eye.swing, i, row, w.l.now);
		assert_memory_equal(eye.map[i], row, sizeof(row));
	}
	softnic_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_of_link_is_set_alone),
		cmocka_unit_test(same_seed_repeats_bit_errors),
		cmocka_unit_test(same_seed_repeats_marks),
		cmocka_unit_test(changed_cable_is_measured_again),
		cmocka_unit_test(order_for_link_changes_only_what_it_names),
		cmocka_unit_test(all_parts_of_order_take_effect_at_once),
		cmocka_unit_test(lower_device_is_attached_or_refused),
		cmocka_unit_test(management_packet_needs_link_that_is_up),
		cmocka_unit_test(map_is_made_while_packets_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
