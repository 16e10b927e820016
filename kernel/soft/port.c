// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that ports receive from and send to their lower Ethernet devices (lower.c).
 *
 * A port receives frames of TN_ETHERTYPE through the lower device's rx_handler, and leaves all
 * others to that device. The core keeps pointers to payloads in frames while their packets are in
 * the NIC, also in a RETRY buffer, but does not write to them, because the memory may be shared
 * (frame.c).
 *
 * Between two NICs of this kernel at the ends of one virtual cable ECRCs are left out
 * (core/link.h, Memory), as the stack leaves out checksums. A frame without them is marked by
 * values of the skb that nothing outside of this module sets. What may change a frame on its way
 * may leave the mark (netem does), so ECRCs are there if the sending end has a queueing discipline,
 * the receiving end an XDP program, or either a tc filter or a netfilter hook for that direction.
 * They are there on all cables but veth: others may run programs of their own (netkit does).
 *
 * A cable may turn out to be a network with more stations than its two ends. So a port learns the
 * address of the other end when the link comes up, sends to that, and drops frames of others until
 * the link fails: a frame of another station could end the link, or damage what it carries.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/sch_generic.h>

#include "core/pieces.h"
#include "nic.h"

/* torus_soft.rx_ports and torus_soft.delays have a bit for each port. */
static_assert(TORUS_MAX_PORTS <= 32);

/* most received frames in a queue: more than a RETRY buffer sent twice */
#define RX_QUEUE_MAX	1024
#define RX_BYTES_MAX	(8 << 20) /* most bytes of the memory of these frames */
#define CHECKED_MIN	1024	/* least bytes of a frame that is checked before NAPI */
#define TX_BATCH	16	/* most frames that a port sends before other ports are served */

/* --- receiving --------------------------------------------------------------------- */

/**
 * struct rx_cb - control block of a received frame
 * @port: number of the port that received it
 * @memory: a NIC of this kernel made the frame, and its packets have no ECRC
 * @checked: the frame has passed tn_pieces_sound()
 * @from: Ethernet address of the sender, as ether_addr_to_u64() makes it
 */
struct rx_cb {
	u8 port;
	bool memory;
	bool checked;
	u64 from;
};

static struct rx_cb *rx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rx_cb) > sizeof(skb->cb));
	return (struct rx_cb *)skb->cb;
}

/*
 * Return: an Ethernet address as a number: its bytes as they lie in memory, so that two loads are
 * enough. The zero address, which no station has, is 0.
 */
static u64 load_address(const u8 *from)
{
	u64 address = 0;

	memcpy(&address, from, ETH_ALEN);
	return address;
}

static void store_address(u8 *to, u64 address)
{
	memcpy(to, &address, ETH_ALEN);
}

/*
 * Return: true if an administrator has attached something to @dev that may change the frames that
 * it sends.
 */
static bool has_egress(const struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(dev->real_num_tx_queues); i++) {
		const struct Qdisc *q = rcu_dereference_check(netdev_get_tx_queue(dev, i)->qdisc,
							      rcu_read_lock_any_held());

		if (q && q->enqueue)
			return true;
	}
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(dev->nf_hooks_egress))
		return true;
#endif
#if defined(CONFIG_NET_XGRESS)		/* Linux 6.6 and later */
	return rcu_access_pointer(dev->tcx_egress);
#elif defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_egress);
#else
	return false;
#endif
}

/*
 * Return: true if @dev has an XDP program. This is asked for each frame: a loop over the modes, or
 * dev_xdp_prog_count(), would take three times as many instructions.
 */
static bool has_xdp(const struct net_device *dev)
{
	const struct bpf_xdp_entity *of = dev->xdp_state;

	BUILD_BUG_ON(ARRAY_SIZE(dev->xdp_state) != 3);
	return READ_ONCE(of[0].prog) || READ_ONCE(of[0].link) || READ_ONCE(of[1].prog) ||
	       READ_ONCE(of[1].link) || READ_ONCE(of[2].prog) || READ_ONCE(of[2].link);
}

/*
 * Return: true if an administrator has attached something to @dev that may change the frames that
 * it receives.
 */
static bool has_ingress(const struct net_device *dev)
{
	if (has_xdp(dev))
		return true;
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(dev->nf_hooks_ingress))
		return true;
#endif
#if defined(CONFIG_NET_XGRESS)
	return rcu_access_pointer(dev->tcx_ingress);
#elif defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_ingress);
#else
	return false;
#endif
}

/*
 * Return: true if frames that a NIC of this kernel sends through @from reach a NIC of this kernel
 * through @to unchanged. Bottom halves are off.
 */
static bool is_memory(const struct net_device *from, const struct net_device *to)
{
	return from && to && rcu_access_pointer(from->rx_handler) == torus_port_rx &&
	       rcu_access_pointer(to->rx_handler) == torus_port_rx && !has_egress(from) &&
	       !has_ingress(to);
}

static void mark_memory(struct sk_buff *skb)
{
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = SKB_MAX_CSUM_LEVEL;
}

static bool is_marked(const struct torus_port *port, const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_UNNECESSARY &&
	       skb->csum_level == SKB_MAX_CSUM_LEVEL &&
	       is_memory(port->pair, skb->dev);
}

/* Drops @skb if the link is up and the sender is not its other end. */
static bool drop_stranger(const struct torus_port *port, struct sk_buff *skb, u64 from)
{
	u64 peer = READ_ONCE(port->peer);

	if (!peer || from == peer)
		return false;
	dev_core_stats_rx_dropped_inc(skb->dev);
	kfree_skb(skb);
	return true;
}

/* If the link has come up, stores the address @from as that of the other end. */
static void learn_peer(struct torus_port *port, u64 from)
{
	lockdep_assert_held(&port->nic->lock);
	if (!port->peer && tn_nic_is_joined(port->nic->soft.nic, port->num))
		WRITE_ONCE(port->peer, from);
}

void torus_port_changed(struct torus_soft *s, unsigned int num, u8 state)
{
	if (state != TORUS_LINK_UP && state != TORUS_LINK_RETRAINING)
		WRITE_ONCE(s->port[num].peer, 0);
}

/*
 * Checks a frame that the core can read. Return: true if its ECRCs are right; false if the core
 * must check them.
 */
static bool is_checked(struct sk_buff *skb)
{
	struct tn_seg seg[TORUS_PIECES];

	return skb->len >= CHECKED_MIN &&
	       tn_pieces_sound(seg, torus_frame_pieces(skb, seg));
}

/* Counts the @bytes of memory of frames that were put into the queue. rx.lock */
static void note_queued(struct torus_port *port, unsigned int bytes)
{
	lockdep_assert_held(&port->rx.lock);
	WRITE_ONCE(port->rx_bytes, port->rx_bytes + bytes);
	if (!test_bit(port->num, &port->nic->rx_ports))
		set_bit(port->num, &port->nic->rx_ports);
}

/* Queues a frame of torus_frame_build(), which the core can read and need not check, for NAPI. */
static void queue_memory(struct torus_port *port, struct sk_buff *skb)
{
	skb_orphan(skb);
	rx_cb(skb)->checked = false;
	spin_lock(&port->rx.lock);
	__skb_queue_tail(&port->rx, skb);
	note_queued(port, skb->truesize);
	spin_unlock(&port->rx.lock);
	napi_schedule(&port->nic->napi);
}

/* Queues a frame, or copies that the core can read, for NAPI. */
static void queue_frames(struct torus_port *port, struct sk_buff *skb)
{
	struct sk_buff_head frames;
	unsigned int bytes = 0;

	__skb_queue_head_init(&frames);
	torus_frame_take(skb, &frames);
	if (skb_queue_empty(&frames))
		return;
	skb_queue_walk(&frames, skb) {
		rx_cb(skb)->checked = is_checked(skb);
		bytes += skb->truesize;
	}
	spin_lock(&port->rx.lock);
	skb_queue_splice_tail(&frames, &port->rx);
	note_queued(port, bytes);
	spin_unlock(&port->rx.lock);
	napi_schedule(&port->nic->napi);
}

/*
 * The rx_handler of lower devices: queues a frame for NAPI. RCU, bottom halves off. What can be
 * done with a frame alone is done here, on the processor of the lower device: NAPI and its lock,
 * which all ports share, are left with what needs the state of the NIC.
 */
rx_handler_result_t torus_port_rx(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct torus_port *port;
	u64 from;

	if (skb->protocol != htons(TN_ETHERTYPE) || skb_vlan_tag_present(skb) ||
	    skb->pkt_type == PACKET_LOOPBACK || skb->pkt_type == PACKET_OTHERHOST ||
	    !is_valid_ether_addr(eth_hdr(skb)->h_source))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return RX_HANDLER_CONSUMED;
	port = rcu_dereference(skb->dev->rx_handler_data);
	from = load_address(eth_hdr(skb)->h_source);
	if (drop_stranger(port, skb, from))
		return RX_HANDLER_CONSUMED;
	if (skb_queue_len_lockless(&port->rx) >= RX_QUEUE_MAX ||
	    READ_ONCE(port->rx_bytes) >= RX_BYTES_MAX) {
		atomic_long_inc(&port->rx_dropped);
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	rx_cb(skb)->from = from;
	rx_cb(skb)->port = port->num;
	rx_cb(skb)->memory = is_marked(port, skb);
	if (rx_cb(skb)->memory)
		queue_memory(port, skb);
	else
		queue_frames(port, skb);
	return RX_HANDLER_CONSUMED;
}

/* Takes at most @budget frames from the queue of @port. Return: the rest of @budget. */
static int take_port(struct torus_port *port, struct sk_buff_head *out, int budget)
{
	struct sk_buff *skb;

	spin_lock(&port->rx.lock);
	if (skb_queue_len(&port->rx) < budget) {
		clear_bit(port->num, &port->nic->rx_ports);
		budget -= (int)skb_queue_len(&port->rx);
		skb_queue_splice_tail_init(&port->rx, out);
		WRITE_ONCE(port->rx_bytes, 0);
	} else {
		for (; budget > 0 && (skb = __skb_dequeue(&port->rx)); budget--) {
			WRITE_ONCE(port->rx_bytes, port->rx_bytes - skb->truesize);
			__skb_queue_tail(out, skb);
		}
	}
	spin_unlock(&port->rx.lock);
	return budget;
}

bool torus_ports_take(struct torus_soft *s, struct sk_buff_head *out, int budget)
{
	unsigned long ports = READ_ONCE(s->rx_ports), first, left;

	if (!ports)
		return false;
	first = ~0ul << s->rx_turn++ % s->soft.hw.nports;
	for (left = ports & first; left && budget > 0; left &= left - 1)
		budget = take_port(&s->port[__ffs(left)], out, budget);
	for (left = ports & ~first; left && budget > 0; left &= left - 1)
		budget = take_port(&s->port[__ffs(left)], out, budget);
	return budget <= 0;
}

/*
 * Puts the injected errors into @skb, or into a copy if its memory is shared. Return: NULL if there
 * is no memory.
 */
static struct sk_buff *add_errors(struct sk_buff *skb, struct tn_fault *errors)
{
	struct sk_buff *mine = skb;

	if (skb_is_nonlinear(skb) || skb_cloned(skb)) {
		mine = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);
		kfree_skb(skb);
	}
	if (mine)
		tn_fault_corrupt(errors, mine->data, mine->len);
	return mine;
}

/* Passes a frame through the port's SerDes to the core, and frees it. */
static void receive_frame(struct torus_port *port, struct sk_buff *skb, u64 now)
{
	struct torus_soft *s = port->nic;
	struct tn_fault *errors = tn_serdes_errors(&port->soft->serdes.serdes, skb->len, now);
	unsigned int n;

	/*
	 * A packet with errors and without ECRC must be checked, so that the core refuses it; its
	 * retransmission has an ECRC.
	 */
	tn_nic_rx_memory(s->soft.nic, port->num, rx_cb(skb)->memory && !errors);
	tn_nic_rx_checked(s->soft.nic, port->num, rx_cb(skb)->checked && !errors);
	if (errors)
		skb = add_errors(skb, errors);
	if (!skb)
		return;		/* without memory the frame is lost, as on a bad cable */
	n = torus_frame_pieces(skb, s->piece);
	tn_nic_rx_pieces(s->soft.nic, port->num, s->piece, n, skb, now);
	napi_consume_skb(skb, 1);
}

void torus_ports_rx(struct torus_soft *s, struct sk_buff_head *rx, u64 now)
{
	struct sk_buff *skb;

	lockdep_assert_held(&s->lock);
	while ((skb = __skb_dequeue(rx))) {
		struct torus_port *port = &s->port[rx_cb(skb)->port];
		u64 from = rx_cb(skb)->from;

		if (torus_host_is_deaf(&port->soft->fault)) {
			kfree_skb(skb);
			continue;
		}
		/* the frame was queued before the link was up */
		if (drop_stranger(port, skb, from))
			continue;
		receive_frame(port, skb, now);
		learn_peer(port, from);
	}
}

/* --- sending ----------------------------------------------------------------------- */

static void put_header(struct sk_buff *skb, struct net_device *lower, u64 to)
{
	struct ethhdr *eth;

	skb->dev = lower;
	skb_reset_network_header(skb);
	eth = skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	if (to)
		store_address(eth->h_dest, to);
	else
		eth_broadcast_addr(eth->h_dest);
	ether_addr_copy(eth->h_source, lower->dev_addr);
	eth->h_proto = htons(TN_ETHERTYPE);
	skb->protocol = eth->h_proto;
}

/* Return: the control block of a frame that an injected fault delays. */
static struct torus_host_late *late_frame(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct torus_host_late) > sizeof(skb->cb));
	return (struct torus_host_late *)skb->cb;
}

static struct sk_buff *take_late(struct torus_port *port, u64 now)
{
	void *late = torus_host_due(&port->soft->fault, now);

	return late ? container_of(late, struct sk_buff, cb) : NULL;
}

/*
 * Queues a frame on s->down. If there is no memory, the frame counts as lost on the cable, and is
 * retransmitted.
 */
static void send_frame(struct torus_port *port, struct net_device *lower,
		       const struct tn_frame *f, bool memory, u64 now)
{
	struct torus_host_fault *fault = &port->soft->fault;
	struct sk_buff *skb;
	bool hit;

	if (fault->silence)
		return;
	hit = tn_fault_hits(&fault->bits, f->bytes);
	skb = torus_frame_build(f, LL_RESERVED_SPACE(lower), hit);
	if (!skb)
		return;
	if (memory)
		mark_memory(skb);
	if (hit)
		torus_frame_corrupt(skb, &fault->bits);
	if (torus_host_delays(fault)) {
		if (!torus_host_delay(fault, late_frame(skb), skb->truesize, now))
			kfree_skb(skb);
		port->nic->delays |= 1u << port->num;
		return;
	}
	put_header(skb, lower, port->peer);
	__skb_queue_tail(&port->nic->down, skb);
}

/* Queues the delayed frames whose time has come by @now on s->down. */
static void send_due(struct torus_port *port, struct net_device *lower, u64 now)
{
	struct sk_buff *skb;

	while ((skb = take_late(port, now))) {
		if (!lower || port->soft->fault.silence) {
			kfree_skb(skb);
			continue;
		}
		put_header(skb, lower, port->peer);
		__skb_queue_tail(&port->nic->down, skb);
	}
	if (!port->soft->fault.late)
		port->nic->delays &= ~(1u << port->num);
}

/* Sends at most TX_BATCH frames of @port. Return: true if there may be more. */
static bool send_port(struct torus_port *port, u64 now)
{
	struct net_device *lower = rcu_dereference_bh(port->lower);
	struct torus_soft *s = port->nic;
	bool memory = lower && !port->soft->fault.bits.ber && is_memory(lower, port->pair);
	unsigned int n;

	lockdep_assert_held(&s->lock);
	tn_nic_tx_memory(s->soft.nic, port->num, memory);
	for (n = 0; n < TX_BATCH; n++) {
		if (!tn_nic_tx(s->soft.nic, port->num, &s->frame, now))
			return false;
		if (lower)
			send_frame(port, lower, &s->frame, memory, now);
	}
	return true;
}

bool torus_ports_tx(struct torus_soft *s, u64 now)
{
	u32 ports = tn_nic_tx_ports(s->soft.nic) | s->delays, left;
	bool more = false;

	lockdep_assert_held(&s->lock);
	for (left = ports; left; left &= left - 1) {
		struct torus_port *port = &s->port[__ffs(left)];

		if (s->delays >> port->num & 1)
			send_due(port, rcu_dereference_bh(port->lower), now);
		more |= send_port(port, now);
	}
	return more;
}

void torus_port_drop_late(struct torus_port *port)
{
	struct sk_buff *skb;

	torus_soft_lock(port->nic);
	while ((skb = take_late(port, ~0ull)))
		kfree_skb(skb);
	port->nic->delays &= ~(1u << port->num);
	torus_soft_unlock_read(port->nic);
}
