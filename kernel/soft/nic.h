/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software NIC of torus.ko: one NIC over Ethernet devices, its ports, and what the files say to
 * each other.
 *
 *	rtnl.c     rtnl link type         nic.c      the core's host: lock, NAPI, timer
 *	port.c     lower devices, frames  frame.c    packets in frames
 *	pkt.c      packets' memory        park.c     the parking segment
 *	tx.c       the host's queue       cut.c      its messages into packets
 *	msg.c      host messages          param.c    a NIC's parameters
 *
 * ../core/ is the NIC itself, ../host/ what every host does with one, ../torus.h what stands above.
 *
 * Locking.
 *
 * torus_soft.lock serialises the core and all that is marked (lock) below. It is
 * a spinlock taken with bottom halves off, never from hard interrupts. Under it
 * nothing sleeps, and nothing is handed to another device or to the network
 * stack, so it is never taken twice on one CPU, whatever is stacked on what. The
 * only callbacks made under it are those into genl_events.c.
 *
 * Each queue between contexts has its own lock (sk_buff_head.lock), held for
 * single list operations: torus_port.rx from the lower device's receive path to
 * NAPI, torus_soft.txq from ndo_start_xmit to NAPI. NICs that send each other
 * frames touch no more of each other than these. All frames and messages of a
 * NIC leave from its NAPI poll, which runs on one CPU at a time: order is kept.
 *
 * RTNL protects attaching and detaching ports, and torus_port.lower against
 * change; the data path reads torus_port.lower under RCU.
 *
 * Lifetime.
 *
 * The core lives as long as the net_device: from ndo_init to the destructor. Order of
 * ndo_uninit: detach ports (no more frames, RCU waited for), stop NAPI (no more sending,
 * arming of the timer, events), stop the timers, purge queues. The destructor then frees the
 * core's packets and memory. A device in a dying namespace is unregistered by the
 * rtnl core like any other; a lower device that goes detaches its port first.
 */
#ifndef TORUS_SOFT_NIC_H
#define TORUS_SOFT_NIC_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>

#include "../req/soft.h"
#include "../torus.h"

#define TORUS_TXQ_MAX		128	/* messages of the host that wait */
#define TORUS_TX_USECS		1000	/* how long they wait for company, at most, */
#define TORUS_TX_USECS_MAX	10000
#define TORUS_TX_FRAMES		32	/* and for how much */
/* Much at once: who cannot have it is told so, and nobody is killed to get it. */
#define TORUS_GFP_LARGE		(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)
#define TORUS_PIECES		(1 + MAX_SKB_FRAGS)	/* of a frame that comes */
#define TORUS_LARGE_MAX		(MAX_SKB_FRAGS / 2)	/* payloads in a frame where they lie */

struct torus_soft;

/**
 * struct torus_port - one port
 * @lower: the Ethernet device it is bound to, or NULL (RTNL; RCU to read)
 * @rx: frames on their way to NAPI
 * @rx_dropped: frames that did not fit there
 * @soft: its name when last seen, faults, receiver (lock)
 */
struct torus_port {
	struct torus_soft *nic;
	struct net_device __rcu *lower;
	netdevice_tracker lower_tracker;
	struct sk_buff_head rx;
	atomic_long_t rx_dropped;
	struct tn_soft_port *soft;
	u8 num;
};

/**
 * struct torus_tx - when NAPI is told of the host's messages (no lock: tx.c)
 * @timer: tells it
 * @usecs, @frames: messages wait so long, for so many, at most; @usecs 0: not at all
 * @streak: messages that the host sent without getting any
 * @bulk: large ones since one waited in vain
 * @patience: how many of these go at once before another waits
 * @wait: how long the next ones of a stream wait, ns
 * @trial_wait: the next large ones of a host that gets answers; 0: @gap
 * @given, @trial: how long those wait that do now, and whether they are such
 * @gap: from one large message to the next when they go at once, ns
 * @at_once: when the last of these went
 * @waited: messages that waited (transmit lock)
 * @last: when the last of these came
 */
struct torus_tx {
	struct hrtimer timer;
	u32 usecs;
	u32 frames;
	u32 streak;
	u32 bulk;
	u32 patience;
	u32 wait;
	u32 trial_wait;
	u32 given;
	u32 gap;
	bool trial;
	u64 at_once;
	u64 waited;
	u64 last;
};

/**
 * struct torus_parking - memory of the parking segment, a ring (lock)
 * @head, @tail: positions of the oldest block, and behind the newest
 */
struct torus_parking {
	u8 *mem;
	u32 size;
	u64 head;
	u64 tail;
};

/**
 * struct torus_soft - one software NIC; netdev_priv() of its net_device
 * @dev: what every NIC has, first
 * @soft: the NIC; all but hw and params (lock)
 * @armed: when @timer will fire; ~0: not armed (lock)
 * @delays: mask of ports that delay frames (lock)
 * @up: messages for the host, until the lock is released (lock)
 * @down: frames for lower devices, likewise (lock)
 * @rx_ports: mask of ports with frames on their way to NAPI (atomic)
 * @rx_turn: port that NAPI looks at first (NAPI)
 * @started: NAPI is enabled (RTNL)
 * @txq, @tx: messages of the host on their way to NAPI
 * @full_since: since when the host has to wait, ns; 0: it has not (lock)
 * @told: an event on its way (lock)
 */
struct torus_soft {
	struct torus_dev dev;
	spinlock_t lock;
	struct napi_struct napi;
	struct hrtimer timer;
	struct tn_soft soft;
	bool started;

	unsigned long rx_ports;
	unsigned int rx_turn;
	u64 armed;
	u32 delays;
	struct sk_buff_head txq;
	struct torus_tx tx;
	struct sk_buff_head up;
	struct sk_buff_head down;

	u64 full_since;
	struct torus_parking park;
	struct tn_frame frame;
	struct tn_seg piece[TORUS_PIECES];
	struct torus_port port[TORUS_MAX_PORTS];
	union {
		struct torus_link link;
		struct torus_park park;
	} told;
};

static inline struct torus_soft *torus_soft_of(struct torus_dev *d)
{
	return container_of(d, struct torus_soft, dev);
}

/* --- rtnl.c ------------------------------------------------------------------- */

extern struct rtnl_link_ops torus_link_ops;

/* --- param.c --------------------------------------------------------------------- */

/**
 * torus_params_take() - parameters of @data (NULL: none) into @all
 * Return: 0; -ERANGE, or -EINVAL if two contradict each other, with text and attribute in
 * @extack.
 */
int torus_params_take(struct tn_params *all, struct nlattr *data[],
		      struct netlink_ext_ack *extack);
/** torus_params_fill() - all of them as attributes. Return: false: no room. */
bool torus_params_fill(struct sk_buff *skb, const struct tn_params *all);
size_t torus_params_size(void);

/* --- nic.c --------------------------------------------------------------------- */

/** torus_now() - what the core calls time: monotonic ns, never 0 */
static inline u64 torus_now(void)
{
	return ktime_get_ns();
}

/**
 * torus_soft_lock() - the core is the caller's, bottom halves off
 */
void torus_soft_lock(struct torus_soft *s) __acquires(&s->lock);
/**
 * torus_soft_unlock() - release, after a change
 * Tells events and wakes NAPI, so that what the command made possible happens.
 */
void torus_soft_unlock(struct torus_soft *s) __releases(&s->lock);
/** torus_soft_unlock_read() - release, nothing was changed */
void torus_soft_unlock_read(struct torus_soft *s) __releases(&s->lock);

int torus_nic_init(struct torus_soft *s);
void torus_nic_start(struct torus_soft *s);
void torus_nic_stop(struct torus_soft *s);
void torus_nic_free(struct torus_soft *s);

/* --- pkt.c ----------------------------------------------------------------------- */

int torus_pkt_init(void);
void torus_pkt_exit(void);
/* The bytes beside @headroom that torus_mem_skb() can put into one run of pages. */
#define TORUS_MEM_MAX(headroom) (32768 - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)) - \
				 SKB_DATA_ALIGN(headroom) - 2 * SMP_CACHE_BYTES)
#define TORUS_HEADROOM	256	/* of a frame: who needs more makes it */
/* The most bytes of a frame, without large payloads, that are copied into one run. */
#define TORUS_SMALL_MAX		TORUS_MEM_MAX(TORUS_HEADROOM)
/** torus_mem_alloc() - @bytes, not cleared, for skb_free_frag(), or NULL (lock) */
void *torus_mem_alloc(unsigned int bytes);
/**
 * torus_mem_skb() - an skb with room for @bytes, or NULL (lock)
 * @more: unless NULL, gets @more_bytes more in the page of the skb's data, behind it
 */
struct sk_buff *torus_mem_skb(unsigned int bytes, u8 **more, unsigned int more_bytes);
/** torus_pkt_alloc() - a packet with memory for @nflits flits of payload, or NULL (lock) */
struct tn_pkt *torus_pkt_alloc(unsigned int nflits);
/** torus_pkt_at() - one with @payload, of whose page it takes a reference, or NULL (lock) */
struct tn_pkt *torus_pkt_at(const u8 *payload);
/** torus_pkt_of() - one with @payload, somewhere in @skb, which it keeps, or NULL (lock) */
struct tn_pkt *torus_pkt_of(struct sk_buff *skb, const u8 *payload);
/** torus_pkt_page() - the page that its payload may be kept by, or NULL (lock) */
struct page *torus_pkt_page(const struct tn_pkt *pkt);
/** torus_pkt_free() - descriptor and memory of a packet (lock) */
void torus_pkt_free(struct tn_pkt *pkt);
/** torus_pkt_leave() - its memory only: it gets other (lock) */
void torus_pkt_leave(struct tn_pkt *pkt);

/* --- frame.c --------------------------------------------------------------------- */

/**
 * torus_frame_build() - @f with @headroom bytes before it, or NULL (lock)
 * @headroom: TORUS_HEADROOM at most
 * @whole: a copy of everything, for torus_frame_corrupt()
 */
struct sk_buff *torus_frame_build(const struct tn_frame *f, unsigned int headroom, bool whole);
/** torus_frame_corrupt() - @bits have their errors in @skb, which nobody else has */
void torus_frame_corrupt(struct sk_buff *skb, struct tn_fault *bits);
/**
 * torus_frame_pieces() - where the bytes of @skb lie
 * @seg: TORUS_PIECES of them
 * Return: how many; 0: they cannot be used where they lie.
 */
unsigned int torus_frame_pieces(struct sk_buff *skb, struct tn_seg *seg);
/**
 * torus_frame_take() - @skb, or copies of what is in it, that have pieces, into @out
 * @ours: it is certain to be a NIC's here, of whose own memory it is
 */
void torus_frame_take(struct sk_buff *skb, bool ours, struct sk_buff_head *out);

/* --- park.c ---------------------------------------------------------------------- */

int torus_park_init(struct torus_soft *s);
void torus_park_exit(struct torus_soft *s);
/** torus_park_take() - tn_ops.park (lock). Return: false: the segment is full */
bool torus_park_take(struct torus_soft *s, struct tn_pkt *pkt);
/** torus_park_of() - the segment in whose memory @pkt lies, or NULL */
struct torus_parking *torus_park_of(const struct tn_pkt *pkt);
/** torus_park_give() - a packet of the segment needs its memory no more (lock) */
void torus_park_give(struct tn_pkt *pkt);

/* --- port.c --------------------------------------------------------------------- */

/**
 * torus_port_attach() - bind port @num to the lower device named @name in the
 * NIC's namespace; what it was bound to before is released first
 * RTNL. Return: 0; -EINVAL, -ENODEV, -EBUSY, -EEXIST with text in @why.
 */
int torus_port_attach(struct torus_soft *s, unsigned int num, const char *name,
		      struct torus_refusal *why);
/** torus_port_detach() - unbind, if bound; RTNL */
void torus_port_detach(struct torus_soft *s, unsigned int num);
void torus_port_init(struct torus_soft *s, unsigned int num);
/**
 * torus_ports_take() - frames that came, ready for the core (NAPI, without the lock)
 * Return: there may be more than @budget.
 */
bool torus_ports_take(struct torus_soft *s, struct sk_buff_head *out, int budget);
/** torus_ports_rx() - frames @rx to the core (lock) */
void torus_ports_rx(struct torus_soft *s, struct sk_buff_head *rx, u64 now);
/** torus_ports_tx() - frames of the core into s->down (lock). Return: there are more. */
bool torus_ports_tx(struct torus_soft *s, u64 now);
int torus_port_register(void);
void torus_port_unregister(void);

/* --- cut.c ---------------------------------------------------------------------------- */

/**
 * torus_cut() - @skb, which stays the caller's, as packets behind @q (lock)
 * @max: bytes of a packet, whole flits
 * Return: false: too long, or no memory; @q may have some of it.
 */
bool torus_cut(struct tn_queue *q, struct sk_buff *skb, unsigned int max);

/* --- msg.c ----------------------------------------------------------------- */

/** torus_msg_lost() - a torus_host_lost (lock) */
void torus_msg_lost(void *dev, const u8 *ip, u32 len);
/** torus_msg_xmit() - messages of the host into the core, while there is room (lock) */
void torus_msg_xmit(struct torus_soft *s, u64 now);
/** torus_msg_pending() - one waits, and there is room for it (lock) */
bool torus_msg_pending(const struct torus_soft *s);
/** torus_msg_expiry() - when messages that have waited too long are dropped (lock) */
u64 torus_msg_expiry(const struct torus_soft *s, u64 now);
/** torus_msg_deliver() - a packet for the host, now owned here (lock) */
void torus_msg_deliver(struct torus_soft *s, struct tn_pkt *pkt);

/* --- tx.c -------------------------------------------------------------------------- */

void torus_tx_init(struct torus_soft *s);
/** torus_tx_put() - a message of the host (its transmit lock) */
void torus_tx_put(struct torus_soft *s, struct sk_buff *skb);
/** torus_tx_answered() - the host is given some (NAPI) */
void torus_tx_answered(struct torus_soft *s);
/** torus_tx_stop() - forget what waits; nothing may come any more, NAPI is stopped */
void torus_tx_stop(struct torus_soft *s);


#endif /* TORUS_SOFT_NIC_H */
