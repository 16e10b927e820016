// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests what a NIC shows of itself (struct tn_link_info, counters, room), which packets of its host
 * it takes, and what a failed link and another place leave behind.
 */
#include "tests/unit/one_lone.h"

static const struct tn_tail good;

static struct tn_pkt *make_packet(u16 len)
{
	struct tn_pkt *pkt = memory_new(&l.mem, len);

	memset(pkt->payload, 0x5a, (size_t)len * TN_FLIT);
	pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .len = len };
	pkt->tail = (struct tn_tail) { .flags = TN_TAIL_FIRST | TN_TAIL_LAST };
	pkt->in_vc = 0xa5;
	return pkt;
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

/* --- room and what is taken ------------------------------------------------------------------- */

/* Node 0 with rows to all nodes, also one that no packet uses: to itself. */
static void begin_rows(void)
{
	lone_begin(NULL);
	for (u32 dst = 1; dst < 9; dst++)
		lone_row(&l, dst, lone_dirs(1));
	release();
	l.nic->rows[0] = l.nic->rows[9] = lone_dirs(1);		/* 9 is beyond the table */
}

/* Room is what the queue has left; calls that will fail anyway need none. */
static void room_is_what_queue_has_left(void **state)
{
	struct tn_pkt other;

	(void)state;
	begin_rows();
	for (u32 n = 0; n <= 2 * TN_INJECT_MAX; n++) {
		u32 left = n < TN_INJECT_MAX ? TN_INJECT_MAX - n : 0;

		for (u32 i = TN_INPUT_INJECT; i < TN_INPUTS; i++)
			l.nic->input[i].count = n;
		for (u32 vc = 0; vc < TORUS_VCS; vc++) {
			assert_int_equal(tn_nic_room(l.nic, 1, vc), left);
			assert_int_equal(tn_nic_room(l.nic, 0, vc), TN_INJECT_MAX);
			assert_int_equal(tn_nic_room(l.nic, 9, vc), TN_INJECT_MAX);
		}
		assert_int_equal(tn_nic_room(l.nic, 1, TORUS_VCS), TN_INJECT_MAX);
		l.nic->placed = false;
		assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
		l.nic->placed = true;
		l.nic->rows[1] &= ~TORUS_ROW_VALID;
		assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
		l.nic->rows[1] |= TORUS_ROW_VALID;
	}
	/* Behind others that wait for the relay window there is room in memory, not in the queue. */
	l.nic->rows[1] |= TORUS_ROW_RELAY;
	l.nic->relay.wait.head = &other;
	assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
	l.nic->relay.wait.head = NULL;
	for (u32 i = TN_INPUT_INJECT; i < TN_INPUTS; i++)
		l.nic->input[i].count = 0;
	end();
}

/* Packets that wait need memory, not room in the queue; those of a message that has begun go on. */
static void only_first_packets_wait_for_memory(void **state)
{
	(void)state;
	begin_rows();
	lone_row(&l, 2, lone_dirs(1) | TORUS_ROW_HOLD);
	for (u32 full = 0; full < 2; full++) {
		for (u32 dst = 0; dst < 3; dst++) {
			for (u32 first = 0; first < 2; first++) {
				struct tn_pkt *pkt = make_packet(1);
				u64 before = l.nic->held_bytes;
				int err;

				l.nic->held_bytes = full ? l.params.hold_bytes : 0;
				pkt->tail.flags = first ? TN_TAIL_FIRST : 0;
				err = tn_nic_send(l.nic, pkt, dst, 0, l.now);
				assert_int_equal(err, full && first && dst == 2 ? -EAGAIN : 0);
				if (dst == 2)
					assert_int_equal(tn_nic_room(l.nic, dst, 0),
							 full ? 0 : TN_INJECT_MAX);
				l.nic->held_bytes = before;
				if (err)
					lone_free(&l, pkt);
				else if (dst == 2)
					l.nic->held_bytes += pkt->held;
				else if (dst == 1)
					assert_true(pkt->in_vc == 0 && pkt->in_port == TN_PORT_HOST);
			}
		}
	}
	assert_int_equal(lone_clear(&l), 4);
	end();
}

/* A packet to this node is delivered whatever its row says. */
static void row_to_own_node_does_not_matter(void **state)
{
	static const u64 row[] = {
		0, TORUS_ROW_VALID, TORUS_ROW_VALID | TORUS_ROW_HOLD,
		TORUS_ROW_VALID | TORUS_ROW_RELAY | 1ull << TORUS_ROW_RELAY_SHIFT,
	};

	(void)state;
	begin_rows();
	for (u32 i = TN_INPUT_INJECT; i < TN_INPUTS; i++)
		l.nic->input[i].count = 2 * TN_INJECT_MAX;
	for (u32 n = 0; n < ARRAY_SIZE(row); n++) {
		l.nic->rows[0] = row[n];
		l.nic->block[0].releases = l.nic->releases;	/* a hold is in force */
		l.nic->held_bytes = l.params.hold_bytes;
		assert_int_equal(lone_send(&l, 0, 0, 1), 0);
		assert_int_equal(lone_clear(&l), 1);
	}
	l.nic->held_bytes = 0;
	for (u32 i = TN_INPUT_INJECT; i < TN_INPUTS; i++)
		l.nic->input[i].count = 0;
	end();
}

/* Replies of services have a queue of their own at once and after a hold; requests do not. */
static void replies_have_their_own_queue(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 2 * 3; code++) {
		u32 held = code & 1, service = code >> 1 & 1, vc = code >> 2;
		struct tn_pkt *pkt;
		u32 queue;

		lone_begin(NULL);
		lone_row(&l, 1, lone_dirs(4));		/* port 2 */
		if (!held)
			release();
		pkt = make_packet(1);
		pkt->tail.vb = service ? TN_SERVICE_RMA : 0;
		if (held)
			assert_int_equal(tn_nic_hold(l.nic, (const u32[]) { 1 }, 1), 0);
		queue = service && vc == TORUS_VC_D1 ? TN_INPUT_REPLY + 2 :
			TN_INPUT_INJECT + 2 * TORUS_VCS + vc;
		if (service)
			assert_int_equal(tn_send_service(l.nic, pkt, 1, vc), 0);
		else
			assert_int_equal(tn_nic_send(l.nic, pkt, 1, vc, l.now), 0);
		if (held) {
			assert_int_equal(l.nic->held.count, 1);
			release();
		}
		assert_int_equal(l.nic->input[queue].count, 1);
		end();
	}
	lone_begin(NULL);	/* a service's request waits for room as those of the host do */
	lone_row(&l, 1, lone_dirs(1));
	release();
	for (u32 vc = 0; vc < TORUS_VCS; vc++) {
		struct tn_pkt *pkt = make_packet(1);
		int err;

		l.nic->input[TN_INPUT_INJECT + vc].count = TN_INJECT_MAX;
		pkt->tail.vb = TN_SERVICE_RMA;
		err = tn_send_service(l.nic, pkt, 1, vc);
		assert_int_equal(err, vc == TORUS_VC_D1 ? 0 : -EAGAIN);
		if (err)
			lone_free(&l, pkt);
		l.nic->input[TN_INPUT_INJECT + vc].count = 0;
	}
	end();
}

/* --- what is left ------------------------------------------------------------------------------ */

static void push(unsigned int port, struct tn_hdr h, u8 vb)
{
	struct tn_pkt *pkt = make_packet(1);

	h.len = 1;
	pkt->hdr = h;
	pkt->tail = (struct tn_tail) { .vb = vb };
	pkt->in_port = TN_PORT_HOST;
	pkt->unresolved = pkt->unsummed = 0;
	tn_link_push(lone_link(&l, port), pkt, l.now);
}

/* A failed link parks the packets of flows, which its peer resolves; others have no other way. */
static void failed_link_parks_packets_of_flows(void **state)
{
	(void)state;
	for (unsigned int port = 0; port < 2; port++) {
		struct tn_init i;

		lone_begin(NULL);
		l.nic->reopening = 3;
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 1 }, 0);
		push(port, (struct tn_hdr) { .type = TN_UNREACH, .dst = 2 }, 0);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 3, .nic = 1 }, 0);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 4 }, TN_VB_BAD);
		push(port, (struct tn_hdr) { .type = TN_DATA, .dst = 5 }, 0);
		assert_int_equal(tn_nic_mgmt_send(l.nic, port, (const u8 *)"x", 1, l.now), 0);
		lone_drain(&l, port);
		tn_nic_carrier(l.nic, port, false, l.now);
		assert_int_equal(l.nic->reopening, port ? 1 : 2);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		assert_int_equal(l.nic->park.q.count, 3);
		assert_int_equal(l.nic->park.q.head->hdr.dst, 1);
		assert_int_equal(l.nic->park.q.head->next->hdr.dst, 2);
		assert_int_equal(l.nic->park.q.tail->hdr.dst, 5);
		assert_int_equal(l.nic->park.unresolved, 3);
		assert_int_equal(l.mem.live, 3);
		push(2, (struct tn_hdr) { .type = TN_DATA, .dst = 6 }, 0);
		tn_nic_carrier(l.nic, 2, false, l.now);
		assert_int_equal(l.nic->park.q.count, 4);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 0);	/* it was not empty before */
		tn_nic_carrier(l.nic, port, true, l.now);
		lone_drain(&l, port);
		i = lone_init_of(&l, port);
		i.last_session = lone_link(&l, port)->session;
		i.last_rseq = (u16)((l.peer[port].rseq - 5) & TN_SEQ_MASK);
		lone_init(&l, port, &i);
		assert_int_equal(l.nic->park.unresolved, 1);
		assert_int_equal(l.nic->park.q.count, 3);	/* the peer had accepted the first */
		l.nic->reopening = 0;
		end();
	}
}

/* A NIC at another place has nothing of the former one; a received packet frees its buffer. */
static void another_place_leaves_nothing(void **state)
{
	struct torus_coords at;
	struct tn_nic *nic;

	(void)state;
	lone_begin(NULL);
	nic = l.nic;
	lone_row(&l, 1, lone_dirs(1) | TORUS_ROW_HOLD);
	assert_int_equal(lone_send(&l, 1, 0, 2), 0);
	assert_true(nic->held_bytes && nic->share[1]);
	lone_link(&l, 2)->closed = true;
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .dst = 2, .src = 1, .dir = 4, .vc = 1,
					     .first = TN_NO_STEP, .last = TN_NO_STEP }, good);
	assert_int_equal(nic->input[1].count, 1);
	nic->reopening = 5;
	nic->cut_short = nic->copying = nic->shadow_open = true;
	nic->relay.riders = 3;
	nic->colour = 2;
	nic->way[3].known = true;
	nic->entry[3].row = 9;
	tn_node_coords(&l.shape, 4, &at);
	assert_int_equal(tn_nic_set_shape(nic, &l.shape, &at, l.spare), 0);
	assert_true(!nic->held_bytes && !nic->share[1] && !nic->held.count && !nic->relay.riders);
	assert_true(!nic->reopening && !nic->cut_short && !nic->copying && !nic->shadow_open);
	assert_true(!nic->colour && !nic->version && nic->node == 4 && lone_idle(&l));
	for (u32 i = 0; i < TN_WAYS; i++)
		assert_true(!nic->way[i].known && !nic->entry[i].row);
	for (u32 i = 0; i < TN_HELD_SHARES; i++)
		assert_int_equal(nic->share[i], 0);
	assert_int_equal(l.mem.live, 0);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
	assert_int_equal(lone_link(&l, 0)->credit.owed[1], 1);
	assert_int_equal(lone_link(&l, 0)->credit.owed_critical[1], 0);
	end();
}

static void set_mbs(struct lone *one)
{
	one->params.bubble = TORUS_BUBBLE_MBS;
}

/* MBS: a request is answered by a false packet, and the buffer of one that came is freed. */
static void link_asks_and_answers_of_rings_reach_the_ring(void **state)
{
	(void)state;
	for (u8 vc = 0; vc < TORUS_VC_A; vc++) {
		struct tn_link *k;

		lone_begin(set_mbs);
		k = lone_link(&l, 0);
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_IDLE, .nic = 1, .vc = vc }, good);
		assert_true(k->retry.tx.sent.count == 1 || l.nic->ring_at != ~0ull);
		lone_drain(&l, 0);
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_CREDIT, .nic = 1, .vc = vc }, good);
		assert_true(!k->credit.used[vc] && k->credit.owed[vc] == 1);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_field_of_link_is_shown),
		cmocka_unit_test(all_counters_are_read),
		cmocka_unit_test(each_port_has_its_settings),
		cmocka_unit_test(room_is_what_queue_has_left),
		cmocka_unit_test(only_first_packets_wait_for_memory),
		cmocka_unit_test(row_to_own_node_does_not_matter),
		cmocka_unit_test(replies_have_their_own_queue),
		cmocka_unit_test(failed_link_parks_packets_of_flows),
		cmocka_unit_test(another_place_leaves_nothing),
		cmocka_unit_test(link_asks_and_answers_of_rings_reach_the_ring),
	};

	return cmocka_run_group_tests_name("nic_state", all, NULL, NULL);
}
