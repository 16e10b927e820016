// SPDX-License-Identifier: GPL-2.0-only
/* Packets that a node sends: limits, fields, queues, room, and packets that wait. */
#include "tests/unit/one_lone.h"

/* --- sending ------------------------------------------------------------------------------------ */

static struct tn_pkt *own(u16 len, u8 flags)
{
	struct tn_pkt *pkt = memory_new(&l.mem, len);

	memset(&pkt->hdr, 0xff, sizeof(pkt->hdr));
	memset(&pkt->tail, 0xff, sizeof(pkt->tail));
	pkt->hdr.len = len;
	pkt->tail.flags = flags;
	pkt->unresolved = pkt->stalled = 1;
	return pkt;
}

/* The fields of a sent packet are right on each VC; nothing is left of its former contents. */
static void fields_of_sent_packet_are_right(void **state)
{
	/* Steps only apply to deterministic paths: +y first, +x last. */
	const u64 row = TORUS_ROW_VALID | 3 | 1ull << TORUS_ROW_FIRST_SHIFT |
			0ull << TORUS_ROW_LAST_SHIFT | TORUS_ROW_ADAPTIVE |
			3ull << TORUS_ROW_ADAPT_SHIFT;

	(void)state;
	lone_begin(NULL);
	lone_row(&l, 4, row);
	lone_row(&l, 1, lone_dirs(1));
	release();
	for (unsigned int vc = 0; vc < 2 * TORUS_VCS; vc++) {
		struct tn_pkt *pkt = own(2, 0xf5);
		bool adaptive = vc % 3 == TORUS_VC_A;
		u32 dst = vc < TORUS_VCS ? 4 : 1, port;

		assert_int_equal(tn_nic_send(l.nic, pkt, dst, vc % 3, l.now), 0);
		assert_int_equal(lone_fc(&l, TORUS_FC_INJECTED), vc + !adaptive - vc / 3);
		assert_true(pkt->hdr.src == 0 && pkt->hdr.dst == dst && pkt->hdr.len == 2);
		assert_true(pkt->hdr.type == TN_DATA && !pkt->hdr.nic && !pkt->hdr.relayed);
		assert_int_equal(pkt->hdr.vc, !adaptive || vc < 3 ? vc % 3 : TORUS_VC_D0);
		assert_int_equal(pkt->hdr.dir, dst == 4 ? 3 : 1);
		assert_int_equal(pkt->hdr.first, adaptive || dst == 1 ? TN_NO_STEP : 1);
		assert_int_equal(pkt->hdr.last, adaptive || dst == 1 ? TN_NO_STEP : 0);
		assert_int_equal(pkt->hdr.colour, l.nic->version % TORUS_COLOURS);
		assert_int_equal(pkt->tail.flags, 0x35 | (adaptive ? TN_TAIL_ADAPTIVE : 0));
		assert_int_equal(pkt->tail.eseq, 0);
		assert_int_equal(pkt->tail.epoch, adaptive ? 0 : l.nic->version);
		assert_int_equal(pkt->in_port, TN_PORT_HOST);
		assert_true(!pkt->unresolved && !pkt->stalled && pkt->unsummed == TN_UNSUMMED);
		/* Waits for the port of its first hop, and counts for the VC of its flow. */
		port = dst == 4 && !adaptive;
		assert_int_equal(l.nic->input[TN_INPUT_INJECT + port * TORUS_VCS + vc % 3].count,
				 1 + (vc / 3 && adaptive));
	}
	assert_int_equal(nc(TORUS_NC_INJECTED), 6);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 0);
	end();
}

/* A packet to the node itself is delivered at once, or refused. */
static void packet_to_own_node_is_delivered_at_once(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	lone_begin(NULL);
	l.busy = true;
	assert_int_equal(lone_send(&l, 0, 0, 1), -EAGAIN);
	assert_int_equal(nc(TORUS_NC_INJECTED) + nc(TORUS_NC_DELIVERED), 0);
	l.busy = false;
	assert_int_equal(lone_send(&l, 0, 1, 1), 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 1);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 1);
	assert_int_equal(lone_fc(&l, TORUS_FC_INJECTED) + lone_fc(&l, TORUS_FC_DELIVERED), 0);
	pkt = lone_got(&l);
	assert_true(pkt->hdr.src == 0 && pkt->hdr.dst == 0 && pkt->hdr.vc == 1);
	lone_free(&l, pkt);
	end();
}

/* Invalid arguments are refused, and the last valid value of each is accepted. */
static void invalid_argument_is_refused_and_last_valid_accepted(void **state)
{
	(void)state;
	lone_begin(NULL);
	lone_row(&l, 8, lone_dirs(3));
	release();
	assert_int_equal(lone_send(&l, 9, 0, 1), -EINVAL);
	assert_int_equal(lone_send(&l, 8, TORUS_VCS, 1), -EINVAL);
	assert_int_equal(lone_send(&l, 8, 0, 257), -EINVAL);
	assert_int_equal(lone_send(&l, 7, 0, 1), -EHOSTUNREACH);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	assert_int_equal(lone_fc(&l, TORUS_FC_UNREACHABLE), 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 0);
	assert_int_equal(lone_send(&l, 8, TORUS_VC_A, 256), 0);
	end();
}

/* An injection queue holds TN_INJECT_MAX packets, as many more of messages; each VC has one. */
static void injection_queue_of_each_vc_has_its_limit(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	lone_begin(NULL);
	lone_row(&l, 1, lone_dirs(1));
	release();
	for (u32 n = 0; n < TN_INJECT_MAX; n++) {
		assert_int_equal(tn_nic_room(l.nic, 1, 1), TN_INJECT_MAX - n);
		assert_int_equal(lone_send(&l, 1, 1, 0), 0);
	}
	assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	assert_int_equal(lone_send(&l, 1, 1, 0), -EAGAIN);
	assert_int_equal(tn_nic_room(l.nic, 1, 0), TN_INJECT_MAX);
	assert_int_equal(tn_nic_room(l.nic, 1, 2), TN_INJECT_MAX);
	/* A message that has begun ends. The room is then 0, not negative. */
	for (u32 n = 0; n < TN_INJECT_MAX; n++) {
		assert_int_equal(tn_nic_send(l.nic, own(1, TN_TAIL_LAST), 1, 1, l.now), 0);
		assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	}
	pkt = own(1, TN_TAIL_LAST);
	assert_int_equal(tn_nic_send(l.nic, pkt, 1, 1, l.now), -EAGAIN);
	memory_put(&l.mem, pkt);
	end();
}

/* A full injection queue refuses no packet that does not go into it. */
static void full_injection_queue_refuses_no_packet_of_others(void **state)
{
	u32 held = 1;

	(void)state;
	for (unsigned int vc = 0; vc < 2; vc++) {
		lone_begin(NULL);
		for (u32 dst = 1; dst < 9; dst++)
			if (dst != 7)
				lone_row(&l, dst, lone_dirs(1u << dst % 4));
		release();
		for (u32 dst = 1; dst < 5; dst++)
			while (!lone_send(&l, dst, vc, 1))
				;
		/* To the node itself, and to a node that has no row. */
		assert_int_equal(lone_send(&l, 0, vc, 1), 0);
		lone_free(&l, lone_got(&l));
		assert_int_equal(lone_send(&l, 7, vc, 1), -EHOSTUNREACH);
		/* Packets on hold are in a queue of their own. */
		assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
		assert_int_equal(lone_send(&l, 1, vc, 1), 0);
		assert_int_equal(nc(TORUS_NC_HELD), 1);
		end();
	}
}

/* --- fair ------------------------------------------------------------------------------------------ */

/* As many to @dst as there is room for. */
static void fill_up(u32 dst, unsigned int vc)
{
	while (tn_nic_room(l.nic, dst, vc)) {
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
		tn_nic_work(l.nic, l.now);
	}
	assert_int_equal(lone_send(&l, dst, vc, 1), -EAGAIN);
}

/* How many of three packets to @dst are in the next frame of @port. */
static u32 three(u32 dst, unsigned int vc, unsigned int port)
{
	assert_int_equal(tn_nic_room(l.nic, dst, vc), TN_INJECT_MAX);
	for (u32 n = 0; n < 3; n++)
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
	tn_nic_work(l.nic, l.now);
	return lone_tx(&l, port);
}

/* Port 0 has no credits any more. */
static void drain_credits(unsigned int vc)
{
	struct tn_credit *c = &lone_link(&l, 0)->credit;

	c->ct[vc] = c->n_inp[vc];
}

/*
 * A port that has no credits of a VC, or whose link is dead while nothing more can be parked, keeps
 * only what leaves by it, and only on that VC.
 */
static void blocked_port_keeps_only_its_own_packets(void **state)
{
	(void)state;
	for (unsigned int vc = 0; vc < 2; vc++) {
		for (int dead = 0; dead < 2; dead++) {
			lone_begin(NULL);
			lone_row(&l, 1, lone_dirs(1));
			lone_row(&l, 3, lone_dirs(2));
			lone_row(&l, 4, lone_dirs(3));
			release();
			l.no_park = true;
			if (dead)
				tn_nic_admin(l.nic, 0, false, l.now);
			else
				drain_credits(vc);
			fill_up(1, vc);
			/* packets to node 4 leave by the same port */
			assert_int_equal(tn_nic_room(l.nic, 4, vc), 0);
			assert_int_equal(three(3, vc, 1), 3);
			assert_int_equal(three(3, !vc, 1), 3);
			if (!dead)
				assert_int_equal(three(1, !vc, 0), 3);
			assert_int_equal(tn_nic_room(l.nic, 1, vc), 0);
			end();
		}
	}
}

/* --- holds ---------------------------------------------------------------------------------------- */

#define HELD	14	/* packets of 5 flits that may wait for one destination */

static void hold_some(struct lone *t)
{
	t->params.hold_bytes = HELD * 5 * TN_FLIT * 9 / 8;
}

/*
 * Two destinations have the same row, but one is in another column, so packets leave by different ports:
 * each has the room of its own port, also if the NIC remembers the queue of the other.
 */
static void destinations_of_same_row_have_their_own_queues(void **state)
{
	(void)state;
	lone_start(&l, "6x6", 0, NULL);
	lone_all_up(&l);
	lone_row(&l, 6, lone_dirs(3));		/* 0,1: by +y */
	lone_row(&l, 22, lone_dirs(3));		/* 4,3: by +x first */
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	for (unsigned int n = 0; n < TN_INJECT_MAX; n++)
		assert_int_equal(lone_send(&l, 6, 0, 1), 0);
	assert_int_equal(tn_nic_room(l.nic, 6, 0), 0);
	assert_int_equal(tn_nic_room(l.nic, 22, 0), TN_INJECT_MAX);
	assert_int_equal(tn_nic_room(l.nic, 6, 0), 0);
	end();
}

/* The memory that packets on hold occupy counts, however small they are. */
static void memory_of_held_packets_counts(void **state)
{
	u32 held = 1;

	(void)state;
	lone_begin(hold_some);
	l.each = 500;
	lone_row(&l, 1, lone_dirs(1));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	for (u32 n = 0; n < 3; n++)
		assert_int_equal(lone_send(&l, 1, 0, 1), 0);
	assert_int_equal(l.nic->held_bytes, 1500);
	assert_int_equal(lone_send(&l, 1, 0, 1), -EAGAIN);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), 3);
	end();
}

/* Packets on hold wait in order, up to 8/9 of hold_bytes; then the host waits for that node. */
static void held_packets_wait_up_to_hold_bytes(void **state)
{
	struct tn_park_info info;
	u32 held = 1;

	(void)state;
	lone_begin(hold_some);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	for (u32 n = 0; n < HELD; n++) {
		assert_true(tn_nic_room(l.nic, 1, 0) > 0);
		assert_int_equal(lone_send(&l, 1, 0, 3), 0);
		assert_int_equal(l.nic->held_bytes, (n + 1) * 80);
	}
	assert_int_equal(tn_nic_room(l.nic, 1, 0), 0);
	assert_int_equal(tn_nic_room(l.nic, 1, 1), 0);
	assert_int_equal(lone_send(&l, 1, 0, 3), -EAGAIN);
	assert_int_equal(three(3, 0, 1), 3);
	assert_int_equal(nc(TORUS_NC_HELD), HELD);
	assert_int_equal(nc(TORUS_NC_INJECTED), 3);
	tn_nic_park_info(l.nic, &info);
	assert_int_equal(info.held, HELD);
	assert_int_equal(tn_nic_release(l.nic, l.nic->version + 1, false, l.now), -ESTALE);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	assert_int_equal(nc(TORUS_NC_INJECTED), HELD + 3);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), HELD);
	for (u32 n = 0; n < HELD; n++)
		assert_int_equal(l.sent[n].tail.eseq, n);
	assert_int_equal(nc(TORUS_NC_HELD), HELD);
	end();
}

static void hold_many(struct lone *t)
{
	t->params.hold_bytes = 81 * 80 * 9;
}

/* Each destination on hold has its share, whatever the others have used, and all are back at 0. */
static void each_held_destination_has_its_share(void **state)
{
	static const u32 nodes[] = { 1, 2, 5 }, most[] = { 648, 72, 8 };

	(void)state;
	lone_begin(hold_many);
	for (u32 i = 0; i < 3; i++)
		lone_row(&l, nodes[i], lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	release();
	assert_int_equal(tn_nic_hold(l.nic, nodes, 3), 0);
	for (u32 i = 0; i < 3; i++) {
		u64 before = nc(TORUS_NC_HELD);

		while (tn_nic_room(l.nic, nodes[i], 0))
			assert_int_equal(lone_send(&l, nodes[i], 0, 3), 0);
		assert_int_equal(nc(TORUS_NC_HELD) - before, most[i]);
	}
	assert_int_equal(l.nic->held_bytes, 728 * 80);
	assert_int_equal(three(3, 0, 1), 3);
	release();
	assert_int_equal(l.nic->held_bytes, 0);
	for (u32 i = 0; i < TN_HELD_SHARES; i++)
		assert_int_equal(l.nic->share[i], 0);
	end();
}

/* The row was lost meanwhile: the packets come back as unreachable; none counts as injected. */
static void held_packets_of_lost_row_come_back(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	for (int busy = 0; busy < 2; busy++) {
		u32 held[] = { 1, 4 };

		lone_begin(NULL);
		lone_row(&l, 1, lone_dirs(1));
		lone_row(&l, 4, lone_dirs(3));
		release();
		assert_int_equal(tn_nic_hold(l.nic, held, 2), 0);
		assert_int_equal(lone_send(&l, 4, 0, 1), 0);
		assert_int_equal(lone_send(&l, 1, 1, 3), 0);
		lone_row(&l, 4, 0);	/* the row is lost, but not its hold */
		assert_int_equal(l.nic->held_bytes, 5 * TN_FLIT);
		l.busy = busy;
		l.events = 0;
		lone_row(&l, 1, 0);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		assert_int_equal(l.nic->held_bytes, 0);
		assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
		assert_int_equal(nc(TORUS_NC_INJECTED) + nc(TORUS_NC_DELIVERED), 0);
		assert_int_equal(lone_fc(&l, TORUS_FC_UNREACHABLE), 0);
		pkt = lone_got(&l);
		assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 4 && !pkt->hdr.dst);
		lone_free(&l, pkt);
		pkt = lone_got(&l);
		assert_int_equal(!pkt, busy);	/* a full host loses it */
		if (pkt) {
			assert_true(pkt->hdr.src == 1 && pkt->hdr.vc == 1 && pkt->hdr.len == 3);
			lone_free(&l, pkt);
		}
		assert_int_equal(l.mem.live, 0);
		end();
	}
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

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(fields_of_sent_packet_are_right),
		cmocka_unit_test(packet_to_own_node_is_delivered_at_once),
		cmocka_unit_test(invalid_argument_is_refused_and_last_valid_accepted),
		cmocka_unit_test(injection_queue_of_each_vc_has_its_limit),
		cmocka_unit_test(full_injection_queue_refuses_no_packet_of_others),
		cmocka_unit_test(blocked_port_keeps_only_its_own_packets),
		cmocka_unit_test(held_packets_wait_up_to_hold_bytes),
		cmocka_unit_test(each_held_destination_has_its_share),
		cmocka_unit_test(destinations_of_same_row_have_their_own_queues),
		cmocka_unit_test(memory_of_held_packets_counts),
		cmocka_unit_test(held_packets_of_lost_row_come_back),
		cmocka_unit_test(room_is_what_queue_has_left),
		cmocka_unit_test(only_first_packets_wait_for_memory),
		cmocka_unit_test(row_to_own_node_does_not_matter),
		cmocka_unit_test(replies_have_their_own_queue),
	};

	return cmocka_run_group_tests_name("nic_send", all, NULL, NULL);
}
