/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between a host and its NIC.
 *
 * A message is a virtio_net_hdr, little endian, followed by an IP packet, so that segmentation and
 * checksums can be left to the receiver. It crosses the fabric cut into packets, FIRST to LAST of
 * one flow. The shell (torus.ko or torusemu) cuts messages and delivers them, so that it can avoid
 * copies.
 *
 *	for each message of a queue of the host, while torus_host_open():
 *		torus_host_begin(); torus_host_clear() or else torus_host_wait()
 *	to send, after torus_host_clear() and while torus_host_next() has a message:
 *		torus_host_packet() for each packet, torus_host_send()
 *	for each packet that the NIC delivers: torus_host_take()
 */
#ifndef TORUS_HOST_H
#define TORUS_HOST_H

#include "../core/nic.h"

#define TORUS_HOST_HDR		10u	/* bytes of the virtio_net_hdr */
#define TORUS_HOST_MSG_MAX	(TORUS_HOST_HDR + 65535)
/* bytes of an IP packet within which its destination lies */
#define TORUS_HOST_IP		40u
/*
 * Most packets of a message: twice as many as the longest one needs with the smallest payload_max.
 */
#define TORUS_HOST_PACKETS_MAX	(2 * ((TORUS_HOST_MSG_MAX + TN_PAYLOAD_MIN - 1) / TN_PAYLOAD_MIN))
#define TORUS_HOST_WAITING_MAX	8192	/* most packets of all unfinished messages */
#define TORUS_HOST_HELD_MAX	(16u << 20)	/* most bytes of memory of these packets */
/* how many of these packets may stay in the memory that they came in */
#define TORUS_HOST_REFER_MAX	512
#define TORUS_HOST_BUCKETS	1024
#define TORUS_HOST_ANSWER_MAX	1280u	/* most bytes of an ICMP error */
/* most destinations whose messages wait in front of the NIC at the same time */
#define TORUS_HOST_LANES	256
#define TORUS_HOST_LANES_MAX	(16u << 20)	/* most bytes of memory of these messages */
#define TORUS_HOST_AGE_MAX	60000000000ull	/* how long such a message waits at most, ns */

struct torus_host_chain;

/**
 * struct torus_host_msg - a message of the host; this struct is a part of the shell's own struct
 * for a message
 * @next: private
 * @since: private: when it began to wait in a lane, ns
 * @bytes: bytes of memory that it occupies while it waits, not 0; set by the shell
 * @dst: destination of the message, node id; set by torus_host_begin(), as are @len and @vc
 * @len: bytes of the message without the virtio_net_hdr
 * @from: queue of the host that it comes from, less than TORUS_VCS; set by the shell
 */
struct torus_host_msg {
	struct torus_host_msg *next;
	u64 since;
	u32 bytes;
	u32 dst;
	u32 len;
	u8 vc;
	u8 from;
};

/**
 * struct torus_host_lane - messages to one destination on one VC that wait for room (lane.c)
 * @since: when the lane came into use, or the last message left it, ns
 * @bytes: bytes of memory of these messages
 */
struct torus_host_lane {
	struct torus_host_msg *head, *tail;
	u64 since;
	u32 bytes;
};

/**
 * typedef torus_host_free - callback: a message that waited was dropped, and counted; the shell
 * frees it
 */
typedef void (*torus_host_free)(void *shell, struct torus_host_msg *msg);

/**
 * typedef torus_host_lost - callback: an IP packet of the host cannot arrive
 * @shell: tn_nic_config.host
 * @ip: the first @len bytes of that packet
 * @len: number of these bytes
 * The shell sends the host an ICMP error if torus_host_answer() returns one.
 */
typedef void (*torus_host_lost)(void *shell, const u8 *ip, u32 len);

/**
 * struct torus_host - host side of one NIC; the shell serialises all calls
 * @ops: operations of the NIC, which allocate and free packets
 * @shell: argument of @ops and @lost
 * @nic: the NIC
 * @lost: called for an IP packet of the host that cannot arrive
 * @shape: shape of the fabric, set by the shell; NULL while the NIC has no coordinates
 * @plan: address plan, set by the shell; the default one at first
 * @payload_max: most bytes of a packet, whole flits
 * @dscp_vcd1: bit N: messages with DSCP N are sent on VCD1; constant
 * @dscp_vca: the same for VCA, if they fit into one packet, and VCD1 has not the bit; constant
 * @forget: called for a message that waited and is dropped
 * @out: packets of the message that is being sent; empty otherwise
 * @stopped: by queue of the host: the message for which the queue is stopped, or NULL
 * @stopped_since: time since which it is stopped, ns
 * @stop_spent: by queue of the host: how much of its budget of stopped time (lane.c) is used up, ns
 * @open_since: time since which the queue is not stopped, ns
 * @last_flow: the flow of the last message of the queue; 0: there was none
 * @stop_shared: how many more stops of the queue use up its budget, because it had messages of
 *	several flows
 * @bucket: unfinished messages from the fabric, by flow
 * @seed: random seed of the hash by which they are found
 * @oldest: the unfinished message that has received no packet for the longest time, or NULL
 * @newest: the unfinished message that received the last packet, or NULL
 * @waiting: packets of unfinished messages, at most TORUS_HOST_WAITING_MAX between calls
 * @held: bytes of memory of these packets, at most TORUS_HOST_HELD_MAX between calls
 * @answer_at: time up to which ICMP errors are accounted for (rate limit), ns
 */
struct torus_host {
	const struct tn_ops *ops;
	void *shell;
	struct tn_nic *nic;
	torus_host_lost lost;
	const struct torus_shape *shape;
	const struct torus_plan *plan;
	u32 payload_max;
	u64 dscp_vcd1;
	u64 dscp_vca;
	torus_host_free forget;
	struct tn_queue out;
	struct torus_host_msg *stopped[TORUS_VCS];
	u64 stopped_since[TORUS_VCS];
	/* private: */
	u64 stop_spent[TORUS_VCS];
	u64 open_since[TORUS_VCS];
	u64 last_flow[TORUS_VCS];
	u32 stop_shared[TORUS_VCS];
	struct torus_host_lane lane[TORUS_HOST_LANES];
	u64 lanes_used[TORUS_HOST_LANES / 64];
	u32 lane_bytes;
	u32 lane_turn;
	u32 sets_stuck;
	struct torus_host_chain *bucket[TORUS_HOST_BUCKETS];
	u64 seed;
	struct torus_host_chain *oldest, *newest;
	u32 waiting;
	u32 held;
	u64 answer_at;
};

/**
 * torus_host_init() - initialise, before the NIC delivers its first packet
 * @h: the host side
 * @nic: the NIC
 * @cfg: the configuration of @nic
 * @lost: called for an IP packet of the host that cannot arrive
 * @forget: called for a message that waited and is dropped
 */
void torus_host_init(struct torus_host *h, struct tn_nic *nic, const struct tn_nic_config *cfg,
		     torus_host_lost lost, torus_host_free forget);

/* --- from the host --- */

/**
 * torus_host_vc() - Return: the virtual channel that the DSCP of an IP packet selects; see
 * torus_host_begin(). It reads only constant members of @h, so it needs no lock.
 */
u8 torus_host_vc(const struct torus_host *h, const u8 *ip, size_t n);
/**
 * torus_host_open() - Return: true if queue @from of the host is not stopped, so that its next
 * message may be taken
 */
static inline bool torus_host_open(const struct torus_host *h, unsigned int from)
{
	return !h->stopped[from];
}

/** torus_host_waits() - Return: true if a message waits, in a lane or at a stopped queue */
static inline bool torus_host_waits(const struct torus_host *h)
{
	_Static_assert(TORUS_VCS == 3, "queues of the host");
	return h->lane_bytes || h->stopped[0] || h->stopped[1] || h->stopped[2];
}

/**
 * torus_host_begin() - begin a message of the host
 * @h: the host side
 * @msg: the message; its destination and VC are set
 * @ip: the first bytes of its IP packet
 * @n: number of these: TORUS_HOST_IP, or all of a shorter packet
 * @len: bytes of the message, with its virtio_net_hdr
 * Return: false if it has no destination in the fabric; it is then counted as dropped.
 */
bool torus_host_begin(struct torus_host *h, struct torus_host_msg *msg, const u8 *ip, size_t n,
		      u32 len);
/**
 * torus_host_clear() - Return: true if @msg can be sent at once: the NIC has room for it, and no
 * earlier message to the same destination waits
 */
bool torus_host_clear(struct torus_host *h, const struct torus_host_msg *msg);
/**
 * torus_host_wait() - keep a message for which torus_host_clear() is false
 * The queue of the message must not be stopped. The host side owns the message until
 * torus_host_next() or h->forget() gives it back; this call may already do so.
 */
void torus_host_wait(struct torus_host *h, struct torus_host_msg *msg, u64 now);
/**
 * torus_host_next() - Return: a message that has waited and can be sent now; NULL if there is none
 */
struct torus_host_msg *torus_host_next(struct torus_host *h, u64 now);
/**
 * torus_host_ready() - Return: true if torus_host_next() would return a message or restart a
 * stopped queue
 */
bool torus_host_ready(struct torus_host *h);
/** torus_host_expiry() - Return: when torus_host_next() must be called again, ns; ~0 for never */
u64 torus_host_expiry(struct torus_host *h);
/**
 * torus_host_give_up() - drop the messages to destinations to which none could be sent for @age ns
 */
void torus_host_give_up(struct torus_host *h, u64 age, u64 now);
/**
 * torus_host_oldest() - Return: time since which no message could be sent to the destination that
 * has waited longest; ~0 if none waits
 */
u64 torus_host_oldest(const struct torus_host *h);
/** torus_host_forget() - drop all messages that wait */
void torus_host_forget(struct torus_host *h);

/**
 * torus_host_packet() - append a packet of a message to @q
 * @q: packets of the message
 * @pkt: the packet; its payload has room for whole flits, and is padded with zeros
 * @at: position of its first byte in the message
 * @bytes: number of bytes of the message in it
 * @len: bytes of the message
 */
static inline void torus_host_packet(struct tn_queue *q, struct tn_pkt *pkt, u32 at, u32 bytes,
				     u32 len)
{
	u32 pad = -bytes % TN_FLIT;

	if (pad)
		memset(pkt->payload + bytes, 0, pad);
	pkt->hdr.len = (u16)((bytes + pad) / TN_FLIT);
	pkt->tail.flags = (u8)(pad | (at ? 0 : TN_TAIL_FIRST) |
			       (at + bytes == len ? TN_TAIL_LAST : 0));
	tn_queue_push(q, pkt);
}

/**
 * torus_host_send() - give the packets in h->out, which are those of @msg, to the NIC
 * Counts the message if the NIC takes all of them, or else one drop.
 */
void torus_host_send(struct torus_host *h, const struct torus_host_msg *msg, u64 now);
/** torus_host_drop() - free the packets of a message that will not arrive, and count one drop */
void torus_host_drop(struct torus_host *h, struct tn_queue *q);

/* --- from the fabric --- */

/**
 * torus_host_take() - take a packet from the fabric, and ownership of it
 * @h: the host side
 * @pkt: the packet
 * @msg: set to the packets of the message that @pkt completes, which the caller then owns; else to
 *	an empty queue
 * Return: bytes of this message, more than TORUS_HOST_HDR of which are in its first packet; 0 if no
 * message is complete.
 */
u32 torus_host_take(struct torus_host *h, struct tn_pkt *pkt, struct tn_queue *msg);
/** torus_host_flush() - drop all messages that wait or are unfinished, in both directions */
void torus_host_flush(struct torus_host *h);

/* --- unreachable --- */

/**
 * torus_host_unreachable() - process that @pkt cannot arrive: call h->lost if it is the first
 * packet of a message
 */
void torus_host_unreachable(struct torus_host *h, const struct tn_pkt *pkt);
/**
 * torus_host_answer() - decide whether the host gets an ICMP error, and count it in the rate limit
 * @h: the host side
 * @ip: the first bytes of the IP packet that cannot arrive
 * @len: their number
 * @now: ns
 * Return: bytes of the error, at most TORUS_HOST_ANSWER_MAX; 0 if the host gets none.
 */
u32 torus_host_answer(struct torus_host *h, const u8 *ip, u32 len, u64 now);
/** torus_host_answer_write() - write to @out the ICMP error of @bytes about the packet @ip */
void torus_host_answer_write(const u8 *ip, u32 bytes, u8 *out);

#endif /* TORUS_HOST_H */
