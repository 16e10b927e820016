// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router: moves packets from inputs to links, host and parking segment.
 *
 * Deadlock. Lemmas, with their tests; tests/unit/test_router.c runs tori at saturation with the
 * least number of buffers (rings_deliver_each_packet_once() to
 * six_dimensions_deliver_each_packet_once()).
 *
 *  1. Rings do not wait for each other in a cycle. On VCD0 and VCD1 directions never decrease along
 *     a path (+x +y ... -x -y ...). A packet that returns into the ring of its own direction after
 *     a first step continues in it (tests/unit/test_verify_cycles.c finds cycles of any table).
 *  2. Every ring has a free buffer, so some packet of it can move (bubble.h, lemma 2; ring.h for
 *     CBS and MBS). A packet that enters (injected, or turning) must leave one packet buffer free
 *     behind it (CT + 1 < N_inp); one that continues need not (CT < N_inp)
 *     (entering_packet_leaves_bubble_and_waits() of tests/unit/test_nic_ways.c).
 *  3. A packet on VCA takes any allowed direction that has room. If none has, it enters VCD0's ring
 *     by the same rule and stays there: the escape. VCA itself has no bubble: its packets can fill
 *     the buffers of a circle and wait for each other; they leave it because each may enter the
 *     escape (planes_deliver_each_packet_once(); adaptive_packet_takes_port_with_most_credits() of
 *     test_nic_ways.c).
 *  4. So a packet waits on VCA only while the link of its escape is alive. If that link is dead and
 *     no allowed direction has room at this moment, the packet is parked, even if another allowed
 *     direction is alive: a wait for its credit could be a wait in such a cycle without end, since
 *     new tables do not change headers in input buffers
 *     (packets_with_dead_escape_do_not_wait_in_circle()). Parking frees the input buffer; the
 *     packet is replayed by new rows. It is parked again only if the new rows lead over a dead
 *     link, too. That ends the replay (tn_divert()), so the packet does not circulate. Only a
 *     full segment makes such a packet wait, like one of VCD, until the replay; packets of the
 *     replay itself always have room there (full_segment_is_reported_once_and_loses_nothing() and
 *     replayed_packets_find_room_in_full_segment() of test_divert.c).
 *  5. Hosts always take the packets that arrive.
 *
 * Order. One flow uses one path under one table, and queues are FIFO. Parked packets leave before
 * later ones (divert.c).
 *
 * Fair. If nothing can move to one destination, packets of the same source to other destinations
 * still move. The host's packets wait in a queue for each output port and VC: a port that gets no
 * credits of a VC, or whose link is dead while the parking segment is full, stops the queue of that
 * port and VC only (blocked_port_keeps_only_its_own_packets() of tests/unit/test_nic_send.c).
 * Packets on hold, or in front of the relay window, are counted by destination: those to one
 * destination may use eight times as many bytes as are left of hold_bytes. So a first destination
 * may use eight ninths of all, and a second one eight ninths of the rest: the first one cannot take
 * everything, and a single one gets nearly everything (each_held_destination_has_its_share()). The
 * host asks for room by destination (tn_nic_room()), and must not let a message without room stop
 * others (host/lane.c). These limits only decide when the host has to wait: a packet that was
 * accepted is never dropped because of them. A flow has one port under one table, hence one queue;
 * if its port changes with the table, packets of both queues could overtake each other, as packets
 * of two tables could anywhere: holds prevent it, and where there are none ESEQ restores the order.
 * Lemmas 1 and 2 are about heads of queues, so they hold for any number of queues.
 *
 * Series. If consecutive packets of a queue take the same path, only the first one is routed; the
 * others are moved with it, as far as there are credits and places in the RETRY buffer
 * (forward_series()). The result is the same as if each were moved by itself. The packets of a
 * queue are moved one after the other without anything in between, so neither rows nor links
 * change; the path depends only on the fields that goes_like() compares and on the NIC's place.
 * must_divert() has the same result for all, because the link is up and not closed; with BLOC the
 * number of buffers that each must leave free is the same, too. Packets that the rules treat one by
 * one form no series: adaptive and relayed packets, those of services, those of a running replay
 * through a closed port, and with CBS and MBS all packets, because each buffer may be a critical
 * bubble. Packets from NIC to NIC may be in a series, because only a closed link treats them
 * differently. A series counts in BURST, so inputs take turns as without series
 * (series_ends_as_single_packets_do() of tests/unit/test_series.c).
 *
 * Bounds. Packets in input buffers are bounded by credits, those of the host by twice
 * TN_INJECT_MAX for each port and VC, and those that are relayed by windows. A returned packet has
 * given its buffer back, so credits do not limit returned packets: a neighbour could cause any
 * number of them, and then report no credits of VCD1. So the NIC's own answers have a separate
 * queue without order: an answer whose link has no credit delays neither the other answers nor the
 * host's packets. The queue has at most TN_ANSWERS_MAX packets; a further one replaces the oldest.
 * A returned packet is a copy of at most TN_RETURN_FLITS, so that it does not keep the frame that
 * it came in. Together they use less than 100 KiB (returning_packets_wait_up_to_a_limit() and
 * blocked_returning_packets_block_no_other_port() of tests/unit/test_nic_relay.c).
 */
#include "bubble.h"
#include "router.h"

#define BURST 16	/* packets moved from one input before the next input is served */

enum moved { BLOCKED, MOVED };

/* --- delivery ------------------------------------------------------------- */

void tn_answer(struct tn_nic *nic, struct tn_pkt *pkt)
{
	struct tn_queue *q = &nic->input[TN_INPUT_ANSWER];

	tn_assert(pkt->hdr.vc == TORUS_VC_D1);
	tn_assert(pkt->in_port == TN_PORT_HOST);
	if (q->count >= TN_ANSWERS_MAX) {
		nic->counter[TORUS_NC_RELAY_DROPS]++;
		nic->ops->pkt_put(nic->host, tn_queue_pop(q));
	}
	tn_input_push(nic, TN_INPUT_ANSWER, pkt);
}

/*
 * Delivers @pkt, which was taken out of its queue, or relays it if this node is not its final
 * destination. Return: BLOCKED: the caller must put it back at the head.
 */
static enum moved deliver_here(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	struct tn_pkt came;

	if (pkt->hdr.relayed && pkt->via.dst != nic->node) {
		tn_via_relay(nic, pkt, now);
		return MOVED;
	}
	/* copy only what is read afterwards; the rest is four times as long */
	came.hdr = pkt->hdr;
	came.tail = pkt->tail;
	came.in_port = pkt->in_port;
	came.in_vc = pkt->in_vc;
	if (came.hdr.relayed)
		came.via = pkt->via;
	if (pkt->hdr.nic) {
		tn_via_receive(nic, pkt);
		tn_free_buffer_of(nic, &came, now);
		return MOVED;
	}
	tn_relay_unwrap(pkt);
	if (!tn_hand_over(nic, pkt, &came, now)) {
		pkt->hdr = came.hdr;
		return BLOCKED;
	}
	tn_free_buffer_of(nic, &came, now);
	if (came.hdr.relayed)
		tn_via_ended(nic, &came.via);
	return MOVED;
}

/* --- forwarding ------------------------------------------------------------ */

/*
 * Return: true if @pkt must be parked or routed elsewhere because port @out cannot be used. A
 * packet waits for a link that is retraining.
 */
static bool must_divert(const struct tn_nic *nic, const struct tn_pkt *pkt, unsigned int out)
{
	const struct tn_link *l = &nic->link[out];

	tn_assert(out < nic->nports);
	if (l->state != TORUS_LINK_UP && l->state != TORUS_LINK_RETRAINING)
		return true;
	if (!l->closed || pkt->hdr.nic)
		return false;
	/*
	 * A relayed packet of a replay passes a closed port: if it waited for another replay, which
	 * may wait for the packet's window, both would wait for each other.
	 */
	if (pkt->hdr.relayed && (pkt->tail.flags & TN_TAIL_REPLAYED))
		return false;
	return !(nic->reopening >> out & 1 && tn_from_park(pkt));
}

static enum moved stall_packet(struct tn_nic *nic, struct tn_link *l, struct tn_pkt *pkt, u64 now)
{
	tn_assert(pkt->hdr.vc < TORUS_VCS);
	if (!pkt->stalled) {
		l->counter[TORUS_PC_CREDIT_STALLS]++;
		l->counter[TORUS_PC_STALLS_VCD0 + pkt->hdr.vc]++;
	}
	pkt->stalled = 1;
	/* Not for VCA: a packet that then leaves by another port would not reset the time. */
	if (pkt->hdr.vc != TORUS_VC_A && !l->waiting[pkt->hdr.vc])
		l->waiting[pkt->hdr.vc] = now;
	if (nic->params.bubble == TORUS_BUBBLE_MBS)
		tn_ring_wait(nic, l, pkt->hdr.vc, now);
	return BLOCKED;
}

static void forward_packet(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int out, u8 last,
			   u64 now)
{
	struct tn_link *l = &nic->link[out];
	unsigned int port = pkt->in_port, vc = pkt->in_vc;
	bool took = nic->params.bubble && tn_ring_take(l, pkt->hdr.vc);

	tn_assert(out < 2u * nic->shape.ndims);
	tn_assert(nic->live >> out & 1);
	tn_assert(!pkt->unresolved);
	tn_assert(!pkt->hdr.relayed || pkt->via.dst < nic->nodes);
	tn_assert(!pkt->tail.vb || l->wire >= TN_WIRE_SERVICES);
	pkt->hdr.first = TN_NO_STEP;
	pkt->hdr.last = last;
	if (port < nic->nports)
		nic->counter[TORUS_NC_FORWARDED]++;
	pkt->in_port = TN_PORT_HOST;	/* no input buffer is occupied any more */
	pkt->stalled = 0;
	l->waiting[pkt->hdr.vc] = 0;
	tn_link_push(l, pkt, now);
	tn_free_buffer(nic, port, vc, took, now);
}

/* Return: how many packet buffers a packet from input @port, @in_vc must leave free behind @out. */
static inline unsigned int must_leave(const struct tn_nic *nic, unsigned int port,
				      unsigned int in_vc, unsigned int out, unsigned int vc)
{
	bool continues = port < nic->nports && in_vc == vc &&
			 out == tn_dir_opposite(&nic->shape, port);
	const struct tn_link *l = &nic->link[out];

	return tn_bubble_reserve(vc == TORUS_VC_A ? TN_BUBBLE_NONE : l->credit.policy, !continues,
				 l->credit.critical[vc]);
}

static bool can_go(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int out, unsigned int vc)
{
	return tn_link_may(&nic->link[out], vc,
			   must_leave(nic, pkt->in_port, pkt->in_vc, out, vc));
}

/**
 * struct course - where a packet came from and goes to; the packets behind it mostly take the same
 *	course
 * @path: its header, before the hop
 * @port: tn_pkt.in_port, before the hop
 * @vc: tn_pkt.in_vc and hdr.vc
 * @out: port by which it leaves
 * @last: the last step in its header after the hop
 */
struct course {
	struct tn_path path;
	u8 port;
	u8 vc;
	u8 out;
	u8 last;
};

static bool goes_like(const struct tn_pkt *pkt, const struct course *c)
{
	return pkt->hdr.dst == c->path.dst && pkt->hdr.dir == c->path.dir &&
	       pkt->hdr.last == c->path.last && pkt->hdr.vc == c->vc && pkt->in_vc == c->vc &&
	       pkt->in_port == c->port && !pkt->hdr.relayed && !pkt->tail.vb &&
	       (c->port != TN_PORT_HOST || pkt->hdr.first == c->path.first);
}

/* Return: how many packets may follow one that took the course @c at this moment; see "Series". */
static unsigned int room_behind(const struct tn_nic *nic, const struct course *c)
{
	const struct tn_link *l = &nic->link[c->out];
	unsigned int leave = must_leave(nic, c->port, c->vc, c->out, c->vc);
	unsigned int credits = tn_credit_free(&l->credit, c->vc);
	unsigned int places = l->retry_packets - l->retry.tx.sent.count;

	tn_assert(l->state == TORUS_LINK_UP && l->retry.tx.sent.count <= l->retry_packets);
	tn_assert(credits >= leave);	/* the packet before has left so many */
	if (l->closed || l->marks.ber)
		return 0;
	return credits - leave < places ? credits - leave : places;
}

/*
 * Forwards up to @most packets from the head of @q that take the course @c, which a packet before
 * them has just taken. Return: their number.
 */
static noinline unsigned int forward_series(struct tn_nic *nic, struct tn_queue *q,
					    const struct course *c, unsigned int most, u64 now)
{
	unsigned int room = room_behind(nic, c), n = 0;
	struct tn_pkt *pkt = q->head, *last = NULL;
	struct tn_queue series = { 0 };

	if (room < most)
		most = room;
	for (; pkt && n < most && goes_like(pkt, c); pkt = pkt->next, n++) {
		tn_assert(!pkt->unresolved);
		pkt->hdr.first = TN_NO_STEP;
		pkt->hdr.last = c->last;
		pkt->in_port = TN_PORT_HOST;
		pkt->stalled = 0;
		last = pkt;
	}
	if (!n)
		return 0;
	tn_queue_move(&series, q, last, n);
	tn_link_push_series(&nic->link[c->out], &series, c->vc, now);
	if (c->port < nic->nports) {
		nic->counter[TORUS_NC_FORWARDED] += n;
		tn_link_freed_some(&nic->link[c->port], c->vc, n, now);
	}
	return n;
}

/*
 * Return: true if link @l has a higher rate than link @than. The rate of a link is that which the
 * receiver of its peer has announced in INIT; a link without an announced rate counts as the
 * fastest.
 */
static bool is_faster(const struct tn_link *l, const struct tn_link *than)
{
	return than->peer_mbps && (!l->peer_mbps || l->peer_mbps > than->peer_mbps);
}

/*
 * Chooses the output of a packet on VCA: of the allowed directions that bring the packet nearer to
 * its destination and whose link is usable, the one with most credits; among equals, the fastest
 * one. If none has a credit, the packet enters the escape channel by port @det. If the link of @det
 * is dead, too, the packet must not wait for a credit of VCA: see the head of this file.
 * Return: a port; nports: wait for the escape or a better way; nports + 1: park the packet.
 */
static unsigned int choose_adaptive(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int det)
{
	unsigned int d, best = nic->nports, most = 0;
	struct torus_coords to;

	tn_assert(pkt->hdr.dst < nic->nodes);
	tn_assert(det < nic->nports);
	tn_node_coords(&nic->shape, pkt->hdr.dst, &to);
	for (d = 0; d < 2u * nic->shape.ndims; d++) {
		unsigned int dim = tn_dir_dim(&nic->shape, d), n;
		const struct tn_link *l = &nic->link[d];

		if (!(pkt->hdr.dir >> d & 1) || nic->at.c[dim] == to.c[dim] ||
		    must_divert(nic, pkt, d))
			continue;
		n = tn_credit_free(&l->credit, TORUS_VC_A);
		if (n && (n > most || (n == most && is_faster(l, &nic->link[best]))) &&
		    can_go(nic, pkt, d, TORUS_VC_A)) {
			most = n;
			best = d;
		}
	}
	if (best < nic->nports)
		return best;
	if (must_divert(nic, pkt, det))
		return nic->nports + 1u;
	if (can_go(nic, pkt, det, TORUS_VC_D0)) {
		pkt->hdr.vc = TORUS_VC_D0;
		nic->counter[TORUS_NC_ESCAPED]++;
		return det;
	}
	return nic->nports;
}

/*
 * Return: the directions in which @pkt may go on. If both ways round a ring are equally long, a row
 * may allow both on VCA, and the first hop decides which one is taken; so the direction back to
 * where the packet came from is cleared.
 */
static u16 dirs_left(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (pkt->hdr.vc == TORUS_VC_A && pkt->in_port < nic->nports)
		pkt->hdr.dir &= (u16)~(1u << pkt->in_port);
	return pkt->hdr.dir;
}

/*
 * Return: true if the packets behind @pkt, which leaves by a port, may be its series. Adaptive
 * packets choose a port each, and with CBS and MBS each of them asks for the mark of its buffer.
 */
static inline bool may_be_followed(const struct tn_nic *nic, const struct tn_pkt *pkt)
{
	return pkt->hdr.vc != TORUS_VC_A && pkt->in_vc == pkt->hdr.vc && !pkt->hdr.relayed &&
	       pkt->in_port != TN_PORT_RELAY && !nic->params.bubble;
}

/*
 * Moves @pkt, which was taken out of its queue, one step further, and up to @more packets of its
 * series from the head of @q. Return: the number of packets moved; BLOCKED, 0: the caller must put
 * @pkt back at the head.
 */
static unsigned int move_packet(struct tn_nic *nic, struct tn_pkt *pkt, struct tn_queue *q,
				unsigned int more, u64 now)
{
	struct tn_path path = {
		.dst = pkt->hdr.dst,
		.dir = dirs_left(nic, pkt),
		.first = pkt->in_port < nic->nports ? TN_NO_STEP : pkt->hdr.first,
		.last = pkt->hdr.last,
	};
	const struct tn_way *way = tn_way_of(nic, path);
	unsigned int out = way->out;
	u8 last = way->last, port;
	bool leads;

	tn_assert(pkt->hdr.vc < TORUS_VCS);
	tn_assert(!pkt->unresolved);
	tn_assert(pkt->in_port >= nic->nports || pkt->in_vc < TORUS_VCS);
	if (pkt->hdr.relayed && pkt->via.dst >= nic->nodes)
		out = TN_ROUTE_LOST;
	else if (out == TN_ROUTE_HERE)
		return deliver_here(nic, pkt, now);
	if (out >= nic->nports) {
		tn_free_buffer_of(nic, pkt, now);
		tn_send_back(nic, pkt, TN_WHY_PATH);
		return MOVED;
	}
	if (pkt->hdr.vc == TORUS_VC_A) {
		unsigned int det = out;

		out = choose_adaptive(nic, pkt, det);
		if (out == nic->nports)
			return stall_packet(nic, &nic->link[det], pkt, now);
		if (out > nic->nports)
			return tn_divert(nic, pkt, det, now);
		if (out != det)
			last = tn_last_after(nic, path, out);
	} else if (must_divert(nic, pkt, out)) {
		return tn_divert(nic, pkt, out, now);
	} else if (pkt->tail.vb && nic->link[out].wire < TN_WIRE_SERVICES) {
		tn_free_buffer_of(nic, pkt, now);
		tn_send_back(nic, pkt, TN_WHY_VERSION);
		return MOVED;
	} else if (!can_go(nic, pkt, out, pkt->hdr.vc)) {
		return stall_packet(nic, &nic->link[out], pkt, now);
	}
	leads = more && q->head && may_be_followed(nic, pkt);
	port = pkt->in_port;
	forward_packet(nic, pkt, out, last, now);
	if (!leads)
		return MOVED;
	return MOVED + forward_series(nic, q, &(struct course) {
		.path = path, .port = port, .vc = pkt->hdr.vc, .out = (u8)out, .last = last,
	}, more, now);
}

/* Moves up to BURST packets of one input. Return: the number of packets moved. */
static unsigned int serve_input(struct tn_nic *nic, unsigned int input, u64 now)
{
	struct tn_queue *q = &nic->input[input];
	unsigned int n = 0, moved;

	tn_assert(input < TN_INPUTS);
	tn_assert(q->head && (nic->active[input / 64] >> input % 64 & 1));
	for (; n < BURST; n += moved) {
		struct tn_pkt *pkt = tn_queue_pop(q);
		bool rider;

		if (!pkt)
			break;
		rider = pkt->in_port == TN_PORT_RELAY && tn_is_rider(pkt);
		moved = move_packet(nic, pkt, q, BURST - 1 - n, now);
		if (moved == BLOCKED) {
			tn_queue_push_front(q, pkt);
			return n;
		}
		tn_assert(nic->relay.riders >= rider);
		nic->relay.riders -= rider;
	}
	if (!q->head)
		nic->active[input / 64] &= ~(1ull << input % 64);
	return n;
}

/*
 * Moves all of the NIC's own answers that can move; a blocked one does not stop the others. Return:
 * the number of packets moved.
 */
static unsigned int serve_answers(struct tn_nic *nic, u64 now)
{
	struct tn_queue *q = &nic->input[TN_INPUT_ANSWER];
	unsigned int n = 0, left;

	for (left = q->count; left; left--) {
		struct tn_pkt *pkt = tn_queue_pop(q);

		if (move_packet(nic, pkt, q, 0, now) == BLOCKED)
			tn_queue_push(q, pkt);
		else
			n++;
	}
	if (!q->head)
		nic->active[TN_INPUT_ANSWER / 64] &= ~(1ull << TN_INPUT_ANSWER % 64);
	return n;
}

/* Return: the first input from @from on that has packets; @end if there is none before it. */
static unsigned int next_active(const struct tn_nic *nic, unsigned int from, unsigned int end)
{
	while (from < end) {
		u64 left = nic->active[from / 64] >> from % 64;

		if (left) {
			from += tn_lowest(left);
			return from < end ? from : end;
		}
		from += 64 - from % 64;
	}
	return end;
}

static bool is_any_active(const struct tn_nic *nic)
{
	u64 any = 0;
	unsigned int i;

	for (i = 0; i < TN_ACTIVE_WORDS; i++)
		any |= nic->active[i];
	return any;
}

/*
 * Serves once each input from @from to @end - 1 that has packets. Return: the number of packets
 * moved.
 */
static unsigned int serve_inputs(struct tn_nic *nic, unsigned int from, unsigned int end, u64 now)
{
	unsigned int moved = 0;

	for (from = next_active(nic, from, end); from < end; from = next_active(nic, from + 1, end))
		moved += from == TN_INPUT_ANSWER ? serve_answers(nic, now) :
						   serve_input(nic, from, now);
	return moved;
}

/* Moves packets until none can move. */
static inline void move_packets(struct tn_nic *nic, u64 now)
{
	unsigned int moved;

	do {
		moved = nic->park.replaying ? tn_replay_parked(nic) : 0;
		if (is_any_active(nic)) {
			moved += serve_inputs(nic, nic->turn, TN_INPUTS, now);
			moved += serve_inputs(nic, 0, nic->turn, now);
		}
		nic->turn = (u8)((nic->turn + 1) % TN_INPUTS);
		if (nic->reopening)
			moved += tn_reopen(nic);
		if (nic->relay.wait.head)
			moved += tn_launch_waiting(nic);
	} while (moved && (is_any_active(nic) || nic->park.replaying));
	if (nic->relay.out && nic->relay.ask_at == ~0ull)
		nic->relay.ask_at = now + nic->params.replay_timeout;
}

/*
 * Called after packets have moved: lets remote memory serve requests that waited for room, and
 * moves the resulting packets.
 */
static noinline void work_again(struct tn_nic *nic, u64 now)
{
	if (!is_any_active(nic))
		return;
	tn_rma_work(nic, now);
	move_packets(nic, now);
}

void tn_nic_work(struct tn_nic *nic, u64 now)
{
	if (!nic->placed)
		return;
	tn_assert(nic->turn < TN_INPUTS);
	tn_assert(!(nic->active[TN_INPUTS / 64] >> TN_INPUTS % 64));
	nic->due_left = TN_DUE_MAX;
	nic->due_more = false;
	if (unlikely(nic->rma))
		tn_rma_work(nic, now);
	move_packets(nic, now);
	if (nic->flows.waiting)
		tn_deliver_waiting(nic, now);
	if (unlikely(nic->rma))
		work_again(nic, now);
}
