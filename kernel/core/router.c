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
 *     link, too. That ends the replay (park_packet()), so the packet does not circulate. Only a
 *     full segment makes such a packet wait, like one of VCD, until the replay; packets of the
 *     replay itself always have room there (full_segment_is_reported_once_and_loses_nothing() and
 *     replayed_packets_find_room_in_full_segment() of test_nic_ways.c).
 *  5. Hosts always take the packets that arrive.
 *
 * The Angara paper says that each of its three subnets handles a dead link in its own way, and
 * describes that of VCD0 and VCD1: parking. For VCA the rule is our interpretation: another allowed
 * direction if it has room, else the escape, else parking. Packets in the RETRY buffer of the dead
 * link are parked as well (park.h says when).
 *
 * Order. One flow uses one path under one table, and queues are FIFO. Parked packets leave before
 * later ones: a port that once diverted a packet stays closed until the manager reopens it, and
 * then until all parked packets have left. Packets that arrive meanwhile are parked behind them
 * (parked_packets_are_replayed_in_order(), port_opens_when_last_replayed_packet_has_left()).
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
#include "nic_impl.h"
#include "ring.h"

#define BURST 16	/* packets moved from one input before the next input is served */

enum moved { BLOCKED, MOVED };

/*
 * Return: the header fields that a valid @row gives to a packet to @dst. If the row has a relay,
 * they lead to the relay; if @adaptive and the row allows it, they have all allowed directions.
 */
static struct tn_path path_of_row(u32 dst, u64 row, bool adaptive)
{
	struct tn_path path = tn_path_of_row(dst, row);

	if (row & TORUS_ROW_RELAY)
		path.dst = (u32)(row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK);
	if (adaptive && (row & TORUS_ROW_ADAPTIVE)) {
		path.dir = (u16)(row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK);
		path.first = TN_NO_STEP;
		path.last = TN_NO_STEP;
	}
	return path;
}

void tn_stamp(struct tn_nic *nic, struct tn_pkt *pkt, u64 row)
{
	struct tn_hdr *h = &pkt->hdr;
	bool adaptive = pkt->tail.flags & TN_TAIL_ADAPTIVE;
	struct tn_path path;

	tn_assert(row & TORUS_ROW_VALID);
	tn_assert(nic->colour < TORUS_COLOURS);
	if ((row & TORUS_ROW_RELAY) && !h->relayed)
		tn_relay_wrap(pkt);
	path = path_of_row(h->relayed ? pkt->via.dst : h->dst, row, adaptive);
	h->dst = path.dst;
	h->dir = path.dir;
	h->first = path.first;
	h->last = path.last;
	h->colour = nic->colour;
	/*
	 * if the row does not allow adaptive paths, the packet is on the escape channel from the
	 * start
	 */
	if (adaptive)
		h->vc = row & TORUS_ROW_ADAPTIVE ? TORUS_VC_A : TORUS_VC_D0;
}

/*
 * Frees the buffer of input @port that a packet occupied, after the packet was taken out of the
 * queue. @took: the packet took a critical bubble of its ring.
 */
static void free_buffer(struct tn_nic *nic, unsigned int port, unsigned int vc, bool took, u64 now)
{
	if (port >= nic->nports)
		return;
	if (nic->params.bubble)
		took = tn_ring_leave(nic, port, vc, took);
	tn_link_freed(&nic->link[port], vc, took, now);
}

static void free_buffer_of(struct tn_nic *nic, const struct tn_pkt *pkt, u64 now)
{
	tn_assert(pkt->in_port < nic->nports || pkt->in_port == TN_PORT_HOST ||
		  pkt->in_port == TN_PORT_RELAY);
	free_buffer(nic, pkt->in_port, pkt->in_vc, false, now);
}

/* --- delivery, parking -------------------------------------------------------- */

void tn_parked(struct tn_nic *nic, struct tn_pkt *pkt)
{
	tn_assert(!pkt->unresolved);
	tn_assert(!pkt->hdr.nic);
	tn_assert(pkt->tail.vb != TN_VB_BAD);
	nic->counter[TORUS_NC_PARKED]++;
	tn_flow_count(nic, pkt, TORUS_FC_PARKED);
	if (pkt->tail.flags & TN_TAIL_REPLAYED)
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_PARKED);
	pkt->tail.flags &= (u8)(0xff ^ TN_TAIL_REPLAYED);
}

/* Return: the last step that remains in the header after a hop by @out. */
static u8 last_after(const struct tn_nic *nic, struct tn_path path, unsigned int out)
{
	tn_route_leave(&nic->shape, &nic->at, &path, out);
	return path.last;
}

static bool same_path(struct tn_path a, struct tn_path b)
{
	return a.dst == b.dst && a.dir == b.dir && a.first == b.first && a.last == b.last;
}

static noinline void find_way(struct tn_nic *nic, struct tn_path path, struct tn_way *w)
{
	*w = (struct tn_way) {
		.known = true,
		.path = path,
		.out = tn_route_next(&nic->shape, &nic->at, &path),
	};
	if (w->out < nic->nports)
		w->last = last_after(nic, path, w->out);
}

static inline const struct tn_way *way_of(struct tn_nic *nic, struct tn_path path)
{
	struct tn_way *w = &nic->way[path.dst % TN_WAYS];

	if (unlikely(!w->known || !same_path(w->path, path)))
		find_way(nic, path, w);
	return w;
}

/*
 * Return: the injection queue for a header @path: that of the port by which it leaves. A packet
 * whose path leads nowhere goes through the queue of port 0, and is sent back from there.
 */
static unsigned int inject_input(struct tn_nic *nic, struct tn_path path, unsigned int vc)
{
	unsigned int out = way_of(nic, path)->out;

	tn_assert(vc < TORUS_VCS);
	return TN_INPUT_INJECT + (out < nic->nports ? out : 0) * TORUS_VCS + vc;
}

unsigned int tn_inject_input(struct tn_nic *nic, u32 dst, u64 row, unsigned int vc)
{
	struct tn_entry *e = &nic->entry[dst % TN_WAYS];
	struct tn_path path;

	tn_assert(row & TORUS_ROW_VALID);
	if (e->row == row && e->dst == dst && e->vc == vc)
		return e->input;
	path = path_of_row(dst, row, vc == TORUS_VC_A);
	*e = (struct tn_entry) {
		.row = row,
		.dst = dst,
		.vc = (u8)vc,
		.input = (u8)inject_input(nic, path, vc),
	};
	return e->input;
}

/* Puts @pkt, whose header is complete, into its injection queue. */
static void inject_anew(struct tn_nic *nic, struct tn_pkt *pkt)
{
	unsigned int vc = pkt->tail.flags & TN_TAIL_ADAPTIVE ? TORUS_VC_A : pkt->hdr.vc;
	struct tn_path path = {
		.dst = pkt->hdr.dst,
		.dir = pkt->hdr.dir,
		.first = pkt->hdr.first,
		.last = pkt->hdr.last,
	};

	tn_assert(pkt->in_port == TN_PORT_HOST);
	tn_input_push(nic, inject_input(nic, path, vc), pkt);
}

/*
 * Routes @pkt again. It waits in the injection queue like a packet of this host and occupies no
 * input buffer, so nothing in the network waits for it. It does not belong to a replay any more: it
 * can be parked only if the segment has room, and a replay that is running then includes it. The
 * counts by which the manager detects a drain do not include it (tn_counts()).
 */
void tn_reroute(struct tn_nic *nic, struct tn_pkt *pkt)
{
	tn_assert(tn_may_reroute(pkt));
	pkt->tail.flags &= (u8)(0xff ^ TN_TAIL_REPLAYED);
	nic->counter[TORUS_NC_REROUTED]++;
	inject_anew(nic, pkt);
}

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
 * Delivers @pkt, which was taken out of its queue. Return: BLOCKED: the caller must put it back at
 * the head.
 */
static enum moved deliver_here(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	struct tn_pkt came;

	/* copy only what is read afterwards; the rest is four times as long */
	came.hdr = pkt->hdr;
	came.tail = pkt->tail;
	came.in_port = pkt->in_port;
	came.in_vc = pkt->in_vc;
	if (came.hdr.relayed)
		came.via = pkt->via;
	if (pkt->hdr.nic) {
		tn_via_receive(nic, pkt);
		free_buffer_of(nic, &came, now);
		return MOVED;
	}
	tn_relay_unwrap(pkt);
	if (!tn_hand_over(nic, pkt, &came, now)) {
		pkt->hdr = came.hdr;
		return BLOCKED;
	}
	free_buffer_of(nic, &came, now);
	if (came.hdr.relayed)
		tn_via_ended(nic, &came.via);
	return MOVED;
}

/* Return: true if @pkt was replayed from this node's parking segment. */
static bool from_park(const struct tn_pkt *pkt)
{
	return pkt->in_port == TN_PORT_HOST && (pkt->tail.flags & TN_TAIL_REPLAYED);
}

static void drop_rider(struct tn_nic *nic, struct tn_pkt *pkt)
{
	nic->counter[TORUS_NC_RELAY_DROPS]++;
	tn_flow_count(nic, pkt, TORUS_FC_UNREACHABLE);	/* counts only a forged one */
	nic->ops->pkt_put(nic->host, pkt);
}

/*
 * Return: true if @pkt can be parked. Even a full segment accepts packets from relay memory, except
 * riders, because otherwise input buffers would have to wait for relay memory. Such packets stay in
 * the memory where they are. Their number is limited to the relay's capacity, which is reached only
 * if NICs exceed their windows.
 */
static bool has_room(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (tn_park_room(&nic->park, pkt) && tn_settle(nic, pkt))
		return true;
	return pkt->in_port == TN_PORT_RELAY && !tn_is_rider(pkt) &&
	       nic->park.relayed < nic->relay.capacity;
}

/*
 * Parks @pkt; called after has_room() has returned true. @push: tn_park_push() or
 * tn_park_push_later().
 */
static void park_it(struct tn_nic *nic, struct tn_pkt *pkt, u64 now,
		    void (*push)(struct tn_park *p, struct tn_pkt *pkt, u64 now))
{
	bool first = !nic->park.q.head;

	tn_assert(pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH);
	if (pkt->in_port != TN_PORT_RELAY)
		pkt->in_port = TN_PORT_HOST;
	tn_parked(nic, pkt);
	push(&nic->park, pkt, now);
	if (first)
		tn_report(nic, TN_EV_PARK);
}

static void note_full(struct tn_nic *nic)
{
	if (nic->park.full)
		return;
	nic->park.full = true;
	tn_report(nic, TN_EV_PARK);
}

/*
 * Parks @pkt, which was taken out of its queue and cannot leave by @out. A parked packet no longer
 * counts as one in relay memory.
 */
static enum moved park_packet(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int out, u64 now)
{
	struct tn_park *p = &nic->park;

	tn_assert(out < nic->nports);
	if (pkt->hdr.nic) {
		free_buffer_of(nic, pkt, now);
		nic->ops->pkt_put(nic->host, pkt);
		return MOVED;
	}
	nic->link[out].closed = true;
	if (!from_park(pkt) && !has_room(nic, pkt)) {
		note_full(nic);
		if (pkt->in_port != TN_PORT_RELAY)
			return BLOCKED;
		if (tn_is_rider(pkt))
			drop_rider(nic, pkt);
		else
			tn_send_back(nic, pkt, TN_WHY_PATH);
		return MOVED;
	}
	/*
	 * If a packet that was replayed by the present rows is parked again, these rows lead over a
	 * dead link, so the replay ends. If its colour is another one, it is an adaptive packet of
	 * an earlier replay (no drain counts those), which the present rows have not been tried
	 * for.
	 */
	if (from_park(pkt) && pkt->hdr.colour == nic->colour)
		p->through = false;
	free_buffer_of(nic, pkt, now);
	park_it(nic, pkt, now, tn_park_push);
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
	return !(nic->reopening >> out & 1 && from_park(pkt));
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
	free_buffer(nic, port, vc, took, now);
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
 * Return: true if the generation of the window of @pkt is a later version than that of this node's
 * rows, which means that this node's manager has missed that version (relay.h).
 */
static bool of_later_table(const struct tn_nic *nic, const struct tn_pkt *pkt)
{
	return (s32)(pkt->via.gen - (u32)nic->version) > 0;
}

/* Parks @pkt, which was received as a relay (tn_via_take()), until this node has another table. */
static void park_relayed(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	if (has_room(nic, pkt)) {
		park_it(nic, pkt, now,
			of_later_table(nic, pkt) ? tn_park_push_later : tn_park_push);
	} else {
		note_full(nic);
		tn_send_back(nic, pkt, TN_WHY_PATH);
	}
}

/*
 * Relays @pkt, which was taken out of its queue: starts it on its next leg. If the packet has
 * another colour than this node's rows, and the row of its next leg is on hold, that row may differ
 * from the row in the packet's table; then the packet is parked.
 */
static enum moved relay_packet(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	u64 row = nic->rows[pkt->via.dst];

	tn_assert(pkt->hdr.relayed);
	tn_assert(pkt->hdr.dst == nic->node && pkt->via.dst != nic->node);
	free_buffer_of(nic, pkt, now);
	if (tn_is_rider(pkt) && !(tn_via_take(nic, pkt) && (row & TORUS_ROW_VALID))) {
		drop_rider(nic, pkt);
	} else if (tn_is_rider(pkt)) {
		tn_via_onward(nic, pkt, row);
	} else if (!(row & TORUS_ROW_VALID) || !tn_via_take(nic, pkt)) {
		tn_send_back(nic, pkt, TN_WHY_PATH);
	} else if (of_later_table(nic, pkt) ||
		   (tn_on_hold(nic, pkt->via.dst) && pkt->hdr.colour != nic->colour)) {
		park_relayed(nic, pkt, now);
	} else {
		tn_via_onward(nic, pkt, row);
	}
	return MOVED;
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
	const struct tn_way *way = way_of(nic, path);
	unsigned int out = way->out;
	u8 last = way->last, port;
	bool leads;

	tn_assert(pkt->hdr.vc < TORUS_VCS);
	tn_assert(!pkt->unresolved);
	tn_assert(pkt->in_port >= nic->nports || pkt->in_vc < TORUS_VCS);
	if (pkt->hdr.relayed && pkt->via.dst >= nic->nodes)
		out = TN_ROUTE_LOST;
	else if (out == TN_ROUTE_HERE)
		return pkt->hdr.relayed && pkt->via.dst != nic->node ?
		       relay_packet(nic, pkt, now) : deliver_here(nic, pkt, now);
	if (out >= nic->nports) {
		free_buffer_of(nic, pkt, now);
		tn_send_back(nic, pkt, TN_WHY_PATH);
		return MOVED;
	}
	if (pkt->hdr.vc == TORUS_VC_A) {
		unsigned int det = out;

		out = choose_adaptive(nic, pkt, det);
		if (out == nic->nports)
			return stall_packet(nic, &nic->link[det], pkt, now);
		if (out > nic->nports)
			return park_packet(nic, pkt, det, now);
		if (out != det)
			last = last_after(nic, path, out);
	} else if (must_divert(nic, pkt, out)) {
		return park_packet(nic, pkt, out, now);
	} else if (pkt->tail.vb && nic->link[out].wire < TN_WIRE_SERVICES) {
		free_buffer_of(nic, pkt, now);
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

/* Injects the parked packets that are to be replayed. Return: the number of packets moved. */
static unsigned int replay_parked(struct tn_nic *nic)
{
	unsigned int n = 0;

	while (nic->park.replaying) {
		struct tn_pkt *pkt = nic->park.q.head;
		unsigned int vc = pkt->tail.flags & TN_TAIL_ADAPTIVE ? TORUS_VC_A : pkt->hdr.vc;
		bool paid = pkt->hdr.relayed && !tn_is_rider(pkt) &&
			    pkt->via.gen == nic->relay.gen;
		u64 row = nic->rows[pkt->hdr.relayed ? pkt->via.dst : pkt->hdr.dst];

		tn_assert(!pkt->unresolved);
		tn_assert(vc < TORUS_VCS);
		tn_assert(pkt->in_port == TN_PORT_HOST || pkt->in_port == TN_PORT_RELAY);
		if (nic->input[TN_INPUT_REPLAY + vc].count >= TN_INJECT_MAX ||
		    ((row & TORUS_ROW_RELAY) && !paid && !tn_relay_may(&nic->relay)))
			break;
		tn_park_pop(&nic->park);
		if (!paid)
			tn_relay_unwrap(pkt);
		n++;
		nic->counter[TORUS_NC_REPLAYED]++;
		pkt->hdr.colour = nic->colour;
		pkt->tail.flags |= TN_TAIL_REPLAYED;
		if (!(row & TORUS_ROW_VALID)) {
			tn_flow_count(nic, pkt, TORUS_FC_REPLAY_TX);
			tn_send_back(nic, pkt, TN_WHY_PATH);
			continue;
		}
		tn_stamp(nic, pkt, row);
		if (!paid)
			tn_via_charge(nic, pkt);
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_TX);
		tn_input_push(nic, TN_INPUT_REPLAY + vc, pkt);
	}
	if (!nic->park.q.head)
		tn_report(nic, TN_EV_PARK);
	return n;
}

bool tn_reopen(struct tn_nic *nic)
{
	unsigned int i;

	if (!nic->reopening || nic->park.replaying || (nic->cut_short && nic->park.q.head))
		return false;
	for (i = TN_INPUT_REPLAY; i < TN_INPUT_RELAY; i++) {
		if (nic->input[i].head)
			return false;
	}
	for (i = 0; i < nic->nports; i++) {
		if (nic->reopening >> i & 1)
			nic->link[i].closed = false;
	}
	nic->reopening = 0;
	return true;
}

/* Moves packets until none can move. */
static inline void move_packets(struct tn_nic *nic, u64 now)
{
	unsigned int moved;

	do {
		moved = nic->park.replaying ? replay_parked(nic) : 0;
		if (is_any_active(nic)) {
			moved += serve_inputs(nic, nic->turn, TN_INPUTS, now);
			moved += serve_inputs(nic, 0, nic->turn, now);
		}
		nic->turn = (u8)((nic->turn + 1) % TN_INPUTS);
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
