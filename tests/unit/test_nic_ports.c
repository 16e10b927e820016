// SPDX-License-Identifier: GPL-2.0-only
/* Ports of a NIC as its host sees them (struct tn_link_info, counters), and their settings. */
#include "tests/unit/one_lone.h"

/* --- links ---------------------------------------------------------------------------------------- */

/* Only a port that has something to send, and whose link is not down, is returned. */
static void only_port_with_packets_and_link_is_returned(void **state)
{
	(void)state;
	lone_begin(NULL);
	assert_int_equal(tn_nic_tx_ports(l.nic), 0);
	for (unsigned int p = 0; p < 4; p++) {
		assert_int_equal(tn_nic_mgmt_send(l.nic, p, (const u8 *)"x", 1, l.now), 0);
		assert_int_equal(tn_nic_tx_ports(l.nic), (2u << p) - 1);
	}
	lone_drain(&l, 1);
	assert_int_equal(tn_nic_tx_ports(l.nic), 13);
	tn_nic_admin(l.nic, 2, false, l.now);
	assert_int_equal(tn_nic_tx_ports(l.nic), 9);
	assert_int_equal(l.nic->live, 11);
	lone_events(&l, TN_EV_LINK);
	/* A frame for a port beyond the last is ignored. */
	lone_rx(&l, 4, (const u8 *)"0123456789abcdef", 16);
	assert_int_equal(lone_link(&l, 4)->counter[TORUS_PC_RX_FRAMES], 0);
	end();
}

/* --- what it shows -------------------------------------------------------------------------- */

/* Gives each field that is shown a value of its own. */
static void fill_link(struct tn_link *k, const struct tn_serdes *serdes)
{
	k->state = TORUS_LINK_FAULTY;
	k->reason = TORUS_REASON_MISMATCH;
	k->admin = true;
	k->carrier = false;
	k->closed = true;
	k->session = 11;
	k->retry.rx.expected = 12;
	k->retry_wanted = TORUS_RETRY_HIPPI;
	k->peer_guid = 13;
	k->peer_port = 14;
	k->differs = TORUS_DIFFERS_SLOTS;
	k->differs_own = 15;
	k->differs_peer = 16;
	k->retry.tx.sent.count = 17;
	k->retry.tx.flits = 18;
	k->retry.tx.tseq = 19;
	k->wire = 20;
	k->peer_mbps = 21;
	k->retry.tx.trips.known = 22;
	k->train.serdes = serdes;
	k->train.rate = 1;
	k->train.params.margin_train = 23;
	k->state_at = l.now - 24;
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		k->credit.ct[vc] = (u16)(30 + vc);
		k->credit.n_inp[vc] = (u16)(130 + 3 * vc);
		k->credit.critical[vc] = (u8)(40 + vc);
		l.nic->input[1 * TORUS_VCS + vc].count = 50 + 10 * vc;
	}
}

static void check_shown(const struct tn_link_info *info)
{
	const u64 *g = info->gauge;

	assert_true(info->state == TORUS_LINK_FAULTY && info->reason == TORUS_REASON_MISMATCH);
	assert_true(info->admin && !info->carrier && info->closed);
	assert_true(info->session == 11 && info->seq == 12 && info->state_age == 24);
	assert_true(info->retry == TORUS_RETRY_ANGARA && info->retry_wanted == TORUS_RETRY_HIPPI);
	assert_true(info->peer_guid == 13 && info->peer_port == 14);
	assert_true(info->differs == TORUS_DIFFERS_SLOTS && info->differs_own == 15 &&
		    info->differs_peer == 16);
	assert_true(g[TORUS_PG_RETRY_PACKETS] == 17 && g[TORUS_PG_RETRY_FLITS] == 18);
	assert_true(g[TORUS_PG_CTTR] == 19 && g[TORUS_PG_CTRP] == 12 && g[TORUS_PG_WIRE] == 20);
	assert_true(g[TORUS_PG_PEER_RATE] == 21 && g[TORUS_PG_ROUND_TRIP] == 22);
	assert_true(g[TORUS_PG_CREDITS_VCD0] == 100 && g[TORUS_PG_CREDITS_VCD1] == 102 &&
		    g[TORUS_PG_CREDITS_VCA] == 104);
	assert_true(g[TORUS_PG_CRITICAL_VCD0] == 40 && g[TORUS_PG_CRITICAL_VCD1] == 41);
	assert_int_equal(g[TORUS_PG_QUEUED_PACKETS], 50 + 60 + 70);
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		assert_int_equal(g[TORUS_PG_CT_VCD0 + vc], 30 + vc);
		assert_int_equal(g[TORUS_PG_N_INP_VCD0 + vc], 130 + 3 * vc);
	}
	assert_true(g[TORUS_PG_LANES] == 3 && g[TORUS_PG_WIDTH] == 2);
	assert_true(g[TORUS_PG_RATE] == 500 && g[TORUS_PG_RATE_MAX] == 1000);
	assert_true(g[TORUS_PG_MARGIN] == 200 && g[TORUS_PG_LINE_BER] == 11 &&
		    g[TORUS_PG_MARGIN_TRAIN] == 23);
}

static void each_field_of_link_is_shown(void **state)
{
	const struct tn_serdes serdes = { .lanes = 3, .rates = 2, .mbps = { 1000, 500 } };
	void *saved = malloc(tn_nic_size());
	struct tn_link_info info;
	struct tn_link *k;

	(void)state;
	lone_begin(NULL);
	assert_non_null(saved);
	memcpy(saved, l.nic, tn_nic_size());
	k = lone_link(&l, 1);
	fill_link(k, &serdes);
	for (u32 i = 0; i < 3; i++)
		k->train.lane[i] = (struct tn_lane) {
			.state = i == 1 ? TORUS_LANE_DEAD : TORUS_LANE_ON,
			.margin = 200 + i, .ber = 10 + i,
		};
	tn_nic_link_info(l.nic, 1, &info, l.now);
	check_shown(&info);
	k->session = 0;		/* without a session there is no protocol */
	tn_nic_link_info(l.nic, 1, &info, l.now - 100);
	assert_true(info.retry == TORUS_RETRY_AUTO && info.state_age == 0);
	memcpy(l.nic, saved, tn_nic_size());
	free(saved);
	end();
}

/* A reader gets all counters at once; two of them are sums of others. */
static void all_counters_are_read(void **state)
{
	u64 to[TORUS_NC_COUNT];

	(void)state;
	lone_begin(NULL);
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		l.nic->counter[i] = 1000 + 7 * i;
	l.nic->flows.lost = 5;
	tn_nic_counters_read(l.nic, to);
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++) {
		u64 want = 1000 + 7 * i;

		if (i == TORUS_NC_LOST)
			want = 5;
		if (i == TORUS_NC_HOST_DROPS)
			want = 2000 + 7 * (TORUS_NC_HOST_TX_DROPS + TORUS_NC_HOST_RX_DROPS);
		assert_int_equal(to[i], want);
	}
	assert_memory_equal(tn_nic_counters(l.nic), to, sizeof(to));
	l.now += 3;	/* the time in the present state is counted when it is read */
	assert_true(tn_nic_port_counters(l.nic, 0, l.now)[TORUS_PC_NS_UP] == 3);
	end();
}

static void each_port_has_its_settings(void **state)
{
	const struct tn_serdes serdes = { .lanes = 1, .rates = 1 };

	(void)state;
	lone_begin(NULL);
	for (unsigned int p = 0; p < 4; p++) {
		struct tn_link *k = lone_link(&l, p);

		tn_nic_marks(l.nic, p, TORUS_BER_ONE, p + 1);
		assert_true(tn_nic_marked(l.nic, p) == TORUS_BER_ONE && k->marks.seed == p + 1);
		assert_true(tn_fault_next(&k->marks));
		assert_ptr_equal(tn_nic_train(l.nic, p), &k->train);
		for (unsigned int on = 0; on < 2; on++) {
			tn_nic_rx_memory(l.nic, p, on);
			tn_nic_rx_checked(l.nic, p, !on);
			tn_nic_tx_memory(l.nic, p, on);
			assert_true(k->rx_memory == on && k->rx_checked != on && k->tx_memory == on);
		}
		for (u8 s = 0; s < TORUS_LINK_STATES; s++) {
			k->state = s;
			assert_int_equal(tn_nic_is_joined(l.nic, p),
					 s == TORUS_LINK_UP || s == TORUS_LINK_RETRAINING);
		}
		k->state = TORUS_LINK_UP;
		tn_nic_serdes(l.nic, p, &serdes);
		assert_ptr_equal(k->train.serdes, &serdes);
		tn_nic_cable(l.nic, p, l.now);
		assert_true(k->look_at == l.now + l.params.eye_interval);
		tn_nic_serdes(l.nic, p, NULL);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_port_with_packets_and_link_is_returned),
		cmocka_unit_test(each_field_of_link_is_shown),
		cmocka_unit_test(all_counters_are_read),
		cmocka_unit_test(each_port_has_its_settings),
	};

	return cmocka_run_group_tests_name("nic_ports", all, NULL, NULL);
}
