// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of service 1 (remote memory) at a NIC that does not have it, between links of different
 * wire versions: a link of version 6 carries them; all others are sent back with the reason.
 */
#include "tests/unit/one_lone.h"

static void mixed(struct lone *t)
{
	t->peer[1].highest = 5;
	t->peer[3].highest = 0;		/* the peer at port 3 speaks version 4 */
}

/*
 * Begins with node 0 of 3x3. Node 2, at port 2, speaks version 6, as node 1 at port 0 does; node 3,
 * at port 1, speaks 5, and node 6, at port 3, speaks 4.
 */
static void begin(void)
{
	lone_begin(mixed);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 2, lone_dirs(4));
	release();
	assert_int_equal(lone_link(&l, 0)->wire, 6);
	assert_int_equal(lone_link(&l, 1)->wire, 5);
	assert_int_equal(lone_link(&l, 2)->wire, 6);
	assert_int_equal(lone_link(&l, 3)->wire, 4);
}

/* Receives a packet of @src from node 2, which leaves by the DIR bits @dir or is for this node. */
static void serve(u8 type, u32 src, u32 dst, u16 dir, u8 service)
{
	const struct tn_hdr h = {
		.type = type, .len = 2, .src = src, .dst = dst, .dir = dir,
		.vc = type == TN_UNREACH,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};

	lone_rx_pkt(&l, 2, h, (struct tn_tail) { .vb = service, .epoch = 3, .flags = 5 });
	work();
	assert_int_equal(lone_link(&l, 2)->credit.used[h.vc], 0);
}

/* Checks that the packet to @dst has come back to node 2, with the reason. */
static void came_back(u32 dst, enum tn_why why)
{
	const struct sent *s = &l.sent[0];

	assert_int_equal(lone_drain(&l, 2), 1);
	assert_true(s->hdr.type == TN_UNREACH && s->hdr.vc == TORUS_VC_D1);
	assert_true(s->hdr.src == dst && s->hdr.dst == 2 && s->hdr.len == 2);
	assert_int_equal(s->tail.vb, TN_SERVICE_RMA);
	assert_int_equal(s->tail.epoch, why);
	assert_int_equal(s->tail.flags, 5);
	assert_int_equal(s->tail.ecrc, tn_ecrc(s->payload, &s->hdr, &s->tail));
	for (u32 i = 0; i < 2 * TN_FLIT; i++)
		assert_int_equal(s->payload[i], (u8)(i * 7 + 3));
}

/* A link of version 6 carries the packet as it is. */
static void version_6_packet_is_forwarded_unchanged(void **state)
{
	const struct sent *s = &l.sent[0];

	(void)state;
	begin();
	for (u8 type = TN_DATA; type <= TN_UNREACH; type += TN_UNREACH - TN_DATA) {
		serve(type, 2, 1, 1, TN_SERVICE_RMA);
		assert_int_equal(lone_drain(&l, 0), 1);
		assert_true(s->hdr.type == type && s->hdr.src == 2 && s->hdr.dst == 1);
		assert_true(s->tail.vb == TN_SERVICE_RMA && s->tail.epoch == 3);
		assert_int_equal(s->tail.ecrc, tn_ecrc(s->payload, &s->hdr, &s->tail));
	}
	assert_int_equal(nc(TORUS_NC_FORWARDED), 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 0);
	end();
}

/* No earlier version carries it, though it carries packets of hosts; and no link fails. */
static void link_of_older_version_carries_no_service_packet(void **state)
{
	static const struct { u32 dst; u16 dir, port; } p[] = { { 3, 2, 1 }, { 6, 8, 3 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++) {
		begin();
		serve(TN_DATA, 2, p[i].dst, p[i].dir, TN_SERVICE_RMA);
		assert_int_equal(lone_drain(&l, p[i].port), 0);
		came_back(p[i].dst, TN_WHY_VERSION);
		assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
		assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
		serve(TN_UNREACH, 2, p[i].dst, p[i].dir, TN_SERVICE_RMA);
		assert_int_equal(lone_drain(&l, p[i].port), 0);
		assert_int_equal(lone_drain(&l, 2), 0);
		assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
		assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
		serve(TN_DATA, 2, p[i].dst, p[i].dir, TN_SERVICE_HOST);
		assert_int_equal(lone_drain(&l, p[i].port), 1);
		assert_int_equal(nc(TORUS_NC_FORWARDED), 1);
		for (unsigned int port = 0; port < 4; port++)
			assert_int_equal(lone_link(&l, port)->state, TORUS_LINK_UP);
		end();
	}
}

/* The packet was parked; when its link comes back, it speaks an earlier version. */
static void parked_service_packet_returns_from_older_link(void **state)
{
	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, false, l.now);
	serve(TN_DATA, 2, 1, 1, TN_SERVICE_RMA);
	assert_int_equal(nc(TORUS_NC_PARKED), 1);
	l.peer[0].highest = 5;
	lone_up(&l, 0);
	assert_int_equal(lone_link(&l, 0)->wire, 5);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(lone_drain(&l, 0), 0);
	came_back(1, TN_WHY_VERSION);
	assert_int_equal(fc(TORUS_FC_REPLAY_TX), 1);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 1);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
	end();
}

/* Without a row the reason is another one. */
static void service_packet_without_row_has_another_reason(void **state)
{
	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, false, l.now);
	serve(TN_DATA, 2, 1, 1, TN_SERVICE_RMA);
	lone_row(&l, 1, 0);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	came_back(1, TN_WHY_PATH);
	end();
}

/* A packet for this node is not a message of its host, and its number is of another flow. */
static void service_packet_is_no_message_of_host(void **state)
{
	(void)state;
	begin();
	serve(TN_DATA, 2, 0, 0, TN_SERVICE_RMA);
	came_back(0, TN_WHY_SERVICE);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE) + fc(TORUS_FC_DELIVERED), 1);
	assert_int_equal(lone_clear(&l), 0);
	serve(TN_DATA, 2, 0, 0, TN_SERVICE_HOST);
	assert_int_equal(lone_clear(&l), 1);
	assert_int_equal(nc(TORUS_NC_DUPLICATES), 0);
	serve(TN_UNREACH, 1, 0, 0, TN_SERVICE_RMA);
	assert_int_equal(nc(TORUS_NC_RETURNED), 1);
	assert_int_equal(lone_clear(&l), 0);
	/* A forged source: this node itself. */
	serve(TN_DATA, 0, 3, 2, TN_SERVICE_RMA);
	assert_int_equal(nc(TORUS_NC_RETURNED), 2);
	assert_int_equal(lone_clear(&l), 0);
	for (unsigned int port = 0; port < 4; port++)
		assert_int_equal(lone_drain(&l, port), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_6_packet_is_forwarded_unchanged),
		cmocka_unit_test(link_of_older_version_carries_no_service_packet),
		cmocka_unit_test(parked_service_packet_returns_from_older_link),
		cmocka_unit_test(service_packet_without_row_has_another_reason),
		cmocka_unit_test(service_packet_is_no_message_of_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
