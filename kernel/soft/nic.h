/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software NIC of torus.ko: one NIC over Ethernet devices, its ports, and the interfaces
 * between its files.
 *
 *	rtnl.c     rtnl link type         nic.c      the core's host: lock, NAPI, timer
 *	port.c     frames of ports        lower.c    lower devices of ports
 *	frame.c    packets in frames      pkt.c      packets' memory
 *	park.c     the parking segment    tx.c       the host's queue
 *	cut.c      its messages into packets
 *	msg.c      host messages          param.c    a NIC's parameters
 *	rma.c      remote memory
 *
 * ../core/ is the NIC itself, ../host/ the host side of a NIC, ../torus.h the layer above.
 *
 * Locking.
 *
 *  1. torus_soft.lock serialises the core and all that is marked (lock) below; functions marked so
 *     assert it (lockdep_assert_held()). It is a spinlock taken with bottom halves off, never from
 *     hard interrupts. Its holder does not sleep and passes nothing to another device or to the
 *     network stack, so it is never taken twice on one CPU, however devices are stacked.
 *     Notifications are made with the lock held (genl_events.c), and sent later by a work.
 *     Statistics are read without it (torus_soft.sync), so readers do not delay packets.
 *  2. Functions marked (bh) use per-CPU memory that all NICs share: their callers have bottom
 *     halves off (lockdep_assert_in_softirq()), and need no lock.
 *  3. Each queue between contexts has its own lock (sk_buff_head.lock), held for single list
 *     operations, or to move a whole list: torus_port.rx from the lower device's receive path to
 *     NAPI, torus_soft.txq (all of them torus_tx.lock) from ndo_start_xmit to NAPI. NICs that send
 *     each other frames share nothing but these queues.
 *  4. All frames and messages of a NIC leave from its NAPI poll, which runs on one CPU at a time,
 *     so their order is kept.
 *  5. RTNL protects attaching and detaching ports, and torus_port.lower against change; the data
 *     path reads torus_port.lower under RCU.
 *
 * Many processors. What is done without the lock, and on which processor:
 *
 *	of the lower device		frames are copied if the core cannot read them, and ECRCs
 *					are checked (port.c)
 *	of the sender			messages are queued by VC (tx.c)
 *	any				statistics are read
 *	of NAPI, before its locked part	queues are emptied
 *	of NAPI, after it		frames are sent, messages are given to the host, in lists;
 *					receive packet steering (rps_cpus of the netdev) passes
 *					these on to other processors, each flow to one
 *
 * Order is kept since all frames of a port go through one queue at a time: of its lower device,
 * whose hash of frames that are not IP is the same for all; torus_port.rx; then by NAPI alone the
 * core's queues, and torus_soft.down or up. A device that mixed them would cause replays, but the
 * links would restore the order.
 *
 * The next limit is the lock, under which packets are found, acknowledged, routed and put into
 * frames: some 800 instructions to receive one of 64 bytes and 300 to send it, in the link alone
 * (callgrind on bench_link 64 0). With 500 for the router, which is an estimate, a processor that
 * executes 3e9 instructions in a second moves 1.9 million packets: 245 Gbit/s in packets of 16
 * KiB, 60 in those of 4 KiB. Eight ports of 100 Gbit/s are 6.1 million packets of 16 KiB. So the
 * order of further steps is: frames built after the lock is released (the packets in RETRY buffers
 * need a reference then, as a command may fail the link meanwhile); ECRCs of the host's messages
 * computed by their sender; a lock and a NAPI for each link, since a struct tn_link has all its
 * state, with a lock of the router around its queues alone: 500 instructions, 6 million packets.
 *
 * Guests whose kernel has lockdep check 1, 2 and 5 in all their tests (tests/vm/debug.config);
 * tests/vm/test_lifetime.sh has NICs, cables and namespaces that are removed while in use.
 *
 * Lifetime.
 *
 * The core lives as long as the net_device: from ndo_init to the destructor. ndo_uninit detaches
 * the ports (no frame arrives after a grace period), stops NAPI (which sends, arms the timer and
 * reports events), stops the timers and purges the queues. The destructor then frees the core's
 * packets and memory. The rtnl core unregisters a device in a dying namespace like any other; a
 * lower device that is unregistered detaches its port first.
 */
#ifndef TORUS_SOFT_NIC_H
#define TORUS_SOFT_NIC_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>

#include "../host/clock.h"
#include "../req/soft.h"
#include "../torus.h"

#define TORUS_TXQ_MAX		128	/* most messages in a queue of the host */
#define TORUS_TX_USECS		1000	/* longest time a message waits in a batch (tx-usecs), */
#define TORUS_TX_USECS_MAX	10000
#define TORUS_TX_FRAMES		32	/* and most messages of a batch (tx-frames), by default */
/* Large allocations of commands: they fail rather than invoke the OOM killer. */
#define TORUS_GFP_LARGE		(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)
#define TORUS_PIECES		(1 + MAX_SKB_FRAGS)	/* most pieces of a received frame */
#define TORUS_LARGE_MAX		(MAX_SKB_FRAGS / 2)	/* most payloads that a frame refers to */

struct tn_soft_rma;
struct torus_soft;

/**
 * struct torus_port - one port
 * @nic: the NIC that it belongs to; constant
 * @lower: the Ethernet device that the port is bound to, or NULL (RTNL to write, RCU to read)
 * @lower_tracker: tracker of the reference to @lower
 * @rx: received frames that the core can read, on their way to NAPI: RX_QUEUE_MAX and the pieces of
 *	one frame at most (its own lock)
 * @rx_bytes: bytes of memory of these frames, less than RX_BYTES_MAX plus one frame (lock of @rx)
 * @rx_dropped: frames dropped because @rx was full
 * @peer: Ethernet address of the other end, its bytes as they lie in memory, while the link is up;
 *	0: not known (written under the lock)
 * @soft: last known name of @lower, injected faults, SerDes of the receiver (lock)
 * @pair: the other end of @lower if that is an end of a veth pair, else NULL (RTNL to write, before
 *	@lower is used). Both ends keep each other until they are removed at once, which unbinds the
 *	port, so no reference is needed.
 * @num: number of the port, from 0; constant
 */
struct torus_port {
	struct torus_soft *nic;
	struct net_device __rcu *lower;
	netdevice_tracker lower_tracker;
	struct sk_buff_head rx;
	unsigned int rx_bytes;
	atomic_long_t rx_dropped;
	u64 peer;
	struct tn_soft_port *soft;
	const struct net_device *pair;
	u8 num;
};

/**
 * struct torus_tx - batching of the host's messages (transmit interrupt moderation, tx.c). Several
 *	contexts read and write it without a lock (READ_ONCE()), except @batch: wrong values cost at
 *	most @usecs.
 * @lock: protects torus_soft.txq and @batch
 * @batch: number of messages since NAPI last examined the queues
 * @timer: schedules NAPI when the time of a batch is over
 * @usecs: longest time that a message waits in a batch, us; 0: messages are not batched
 * @frames: number of messages with which a batch is complete, 1 to TORUS_TXQ_MAX
 * @score: number of messages sent, less STREAM for each delivery to the host; with a score of
 *	STREAM or more the host counts as streaming
 * @large_sent: large messages sent since the last trial that failed, at most BACKOFF_MAX
 * @backoff: large messages to send at once before the next trial, at most BACKOFF_MAX
 * @wait: length of the next batch of a streaming host, ns
 * @trial_wait: length of the next trial, ns; 0: @gap
 * @batch_wait: length of the present batch, ns
 * @trial: the present batch is a trial: large messages of a host that does not stream
 * @gap: average time between large messages that are sent at once, ns
 * @large_at: when the last such message was sent, ns
 * @waited: number of messages that waited in batches since the device was made (@lock)
 * @last: when the last message was added to a batch, ns
 * @taken: messages were taken since torus_tx_wake() last looked at the stack's queues
 */
struct torus_tx {
	spinlock_t lock;
	u32 batch;
	struct hrtimer timer;
	u32 usecs;
	u32 frames;
	u32 score;
	u32 large_sent;
	u32 backoff;
	u32 wait;
	u32 trial_wait;
	u32 batch_wait;
	u32 gap;
	bool trial;
	u64 large_at;
	u64 waited;
	u64 last;
	bool taken;
};

/**
 * struct torus_parking - memory of the parking segment, a ring of blocks (lock)
 * @mem: memory of the ring, owned by this struct
 * @size: bytes of @mem, a multiple of the page size
 * @head: position of the oldest block, bytes since the beginning; at most @tail
 * @tail: position after the newest block; at most @head + @size
 */
struct torus_parking {
	u8 *mem;
	u32 size;
	u64 head;
	u64 tail;
};

/**
 * struct torus_soft - one software NIC; netdev_priv() of its net_device
 * @dev: the part that every NIC has; must be the first member
 * @lock: see Locking
 * @sync: the holder of @lock may be changing counters (lock to write); empty on 64 bits
 * @napi: runs the NIC
 * @timer: schedules @napi when something in the NIC is due
 * @soft: core, host side and parameters (lock; hw: torus_dev.ctl; params: constant)
 * @started: NAPI is enabled (RTNL)
 * @rx_ports: mask of ports with frames on their way to NAPI (atomic)
 * @rx_turn: port that NAPI takes frames from first (NAPI)
 * @clock: the clock of the core, which stops while NAPI is late (lock)
 * @armed: when @timer will fire, ns of @clock; ~0: not armed (lock)
 * @delays: mask of ports with delayed frames (lock)
 * @txq: messages of the host on their way to NAPI, by VC (tx.lock)
 * @tx: when NAPI is scheduled for @txq
 * @up: messages that are given to the host when the lock is released (lock)
 * @down: frames that are sent by lower devices when the lock is released (lock)
 * @rma: remote memory, from the first context on; else NULL (lock)
 * @rma_left: memory of @rma to free when the lock has been released: maybe many blocks (lock)
 * @park: memory of the parking segment (lock)
 * @frame: the frame that is being sent (lock)
 * @piece: pieces of the frame that is being received (lock)
 * @port: the ports; those from soft.hw.nports on are not used
 * @event: the event that is being reported (lock)
 */
struct torus_soft {
	struct torus_dev dev;
	spinlock_t lock;
	struct u64_stats_sync sync;
	struct napi_struct napi;
	struct hrtimer timer;
	struct tn_soft soft;
	bool started;

	unsigned long rx_ports;
	unsigned int rx_turn;
	struct torus_host_clock clock;
	u64 armed;
	u32 delays;
	struct sk_buff_head txq[TORUS_VCS];
	struct torus_tx tx;
	struct sk_buff_head up;
	struct sk_buff_head down;

	struct tn_soft_rma *rma;
	struct tn_soft_block *rma_left;
	struct torus_parking park;
	struct tn_frame frame;
	struct tn_seg piece[TORUS_PIECES];
	struct torus_port port[TORUS_MAX_PORTS];
	union {
		struct torus_link link;
		struct torus_park park;
	} event;
};

static inline struct torus_soft *torus_soft_of(struct torus_dev *d)
{
	return container_of(d, struct torus_soft, dev);
}

/* --- rtnl.c ------------------------------------------------------------------- */

extern struct rtnl_link_ops torus_link_ops;

/* --- param.c --------------------------------------------------------------------- */

/**
 * torus_params_take() - change the parameters in @all that @data has, and check all of them
 * @all: parameters of a NIC
 * @data: attributes by IFLA_TORUS_*, or NULL
 * @extack: gets text and attribute of an error
 * Return: 0; -ERANGE if one is out of range; -EINVAL if two contradict each other.
 */
int torus_params_take(struct tn_params *all, struct nlattr *data[],
		      struct netlink_ext_ack *extack);
/** torus_params_fill() - add all parameters to @skb. Return: false if there is no room. */
bool torus_params_fill(struct sk_buff *skb, const struct tn_params *all);
/** torus_params_size() - Return: bytes that torus_params_fill() needs at most */
size_t torus_params_size(void);

/* --- nic.c --------------------------------------------------------------------- */

/** torus_now() - Return: the time for the core: monotonic, ns, never 0 (lock) */
static inline u64 torus_now(struct torus_soft *s)
{
	lockdep_assert_held(&s->lock);
	return torus_host_clock(&s->clock, ktime_get_ns(), s->armed);
}

/** torus_soft_lock() - take the NIC's lock, which turns bottom halves off */
void torus_soft_lock(struct torus_soft *s) __acquires(&s->lock);
/**
 * torus_soft_unlock() - release the lock after a change
 * Reports events, and schedules NAPI, which does what the change made possible.
 */
void torus_soft_unlock(struct torus_soft *s) __releases(&s->lock);
/** torus_soft_unlock_read() - release the lock when nothing was changed */
void torus_soft_unlock_read(struct torus_soft *s) __releases(&s->lock);

/** torus_nic_counters() - copy the TORUS_NC_COUNT counters of the node; not from hard interrupts */
void torus_nic_counters(struct torus_soft *s, u64 *to);
/**
 * torus_nic_init() - make the core and its memory (ndo_init)
 * RTNL. Return: 0 or -ENOMEM; then nothing is left to free.
 */
int torus_nic_init(struct torus_soft *s);
/** torus_nic_start() - let NAPI run, once the device is registered; RTNL */
void torus_nic_start(struct torus_soft *s);
/** torus_nic_stop() - stop NAPI and the timers, purge the host's queue; RTNL, ports detached */
void torus_nic_stop(struct torus_soft *s);
/** torus_nic_free() - free packets, core and memory (destructor, after torus_nic_stop()) */
void torus_nic_free(struct torus_soft *s);

/* --- pkt.c ----------------------------------------------------------------------- */

/** torus_pkt_init() - set up the packet memory of all processors. Return: 0 or -ENOMEM */
int torus_pkt_init(void);
/** torus_pkt_exit() - free the memory of all processors; no NIC is left */
void torus_pkt_exit(void);
/* The bytes beside @headroom that torus_mem_skb() can put into one run of pages. */
#define TORUS_MEM_MAX(headroom) (32768 - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)) - \
				 SKB_DATA_ALIGN(headroom) - 2 * SMP_CACHE_BYTES)
#define TORUS_HEADROOM	256	/* largest headroom that a frame is given, bytes */
/* The most bytes of a frame, without large payloads, that are copied into one run. */
#define TORUS_SMALL_MAX		TORUS_MEM_MAX(TORUS_HEADROOM)
/**
 * torus_mem_alloc() - allocate @bytes of memory within a page; it is not cleared (bh)
 * Return: the memory, to be freed by skb_free_frag() or put_page(), or NULL.
 */
void *torus_mem_alloc(unsigned int bytes);
/**
 * torus_mem_skb() - allocate an skb with room for @bytes (bh)
 * @bytes: headroom and data
 * @more: unless NULL, set to @more_bytes of memory after the skb's data, in the same page
 * @more_bytes: size of that memory
 * Return: the skb, or NULL.
 */
struct sk_buff *torus_mem_skb(unsigned int bytes, u8 **more, unsigned int more_bytes);
/** torus_pkt_alloc() - allocate a packet with @nflits flits of payload (bh). Return: it, or NULL */
struct tn_pkt *torus_pkt_alloc(unsigned int nflits);
/** torus_pkt_at() - make a packet that refers to the page of @payload (bh). Return: it, or NULL */
struct tn_pkt *torus_pkt_at(const u8 *payload);
/**
 * torus_pkt_of() - make a packet of @payload (bh)
 * @skb: has @payload; the packet takes a reference to it, or to the page of @payload
 * @payload: in the data or in a page of @skb
 * Return: the packet, or NULL.
 */
struct tn_pkt *torus_pkt_of(struct sk_buff *skb, const u8 *payload);
/**
 * torus_pkt_page() - Return: the page to refer to in order to keep the payload; NULL if there is
 * none
 */
struct page *torus_pkt_page(const struct tn_pkt *pkt);
/* least number of bytes that a packet counts while it waits for long */
#define TORUS_KEEP_LEAST	1024
/**
 * torus_pkt_keep() - called when @pkt, whose header is set, will stay for a long time
 * (tn_ops.keep): may move it into memory of its own size (bh; if parked: lock)
 * Return: the bytes of memory that it holds, TORUS_KEEP_LEAST at least.
 */
u32 torus_pkt_keep(struct tn_pkt *pkt);
/** torus_pkt_free() - free the descriptor and the memory of a packet (bh; if it is parked: lock) */
void torus_pkt_free(struct tn_pkt *pkt);
/**
 * torus_pkt_leave() - free the memory of a packet's payload, which is moved elsewhere (bh; if it is
 * parked: lock)
 */
void torus_pkt_leave(struct tn_pkt *pkt);

/* --- frame.c --------------------------------------------------------------------- */

/**
 * torus_frame_build() - make an skb of a frame (bh)
 * @f: the frame
 * @headroom: bytes to reserve before the frame, limited to TORUS_HEADROOM
 * @whole: copy large payloads, too, so that torus_frame_corrupt() may change them
 * Return: the skb, or NULL.
 */
struct sk_buff *torus_frame_build(const struct tn_frame *f, unsigned int headroom, bool whole);
/**
 * torus_frame_corrupt() - put the bit errors of @bits into @skb; nothing else may refer to its
 * pages
 */
void torus_frame_corrupt(struct sk_buff *skb, struct tn_fault *bits);
/**
 * torus_frame_pieces() - list the pieces of memory that a frame consists of
 * @skb: a frame of torus_frame_take() or torus_frame_build(): its pages are not examined
 * @seg: filled with at most TORUS_PIECES pieces
 * Return: the number of pieces; 0 if they are not all in pages of the frame itself.
 */
unsigned int torus_frame_pieces(struct sk_buff *skb, struct tn_seg *seg);
/**
 * torus_frame_take() - append a received frame, or copies that the core can read, to @out (bh)
 * @skb: the frame, which is consumed
 * @out: a queue whose lock is not taken
 */
void torus_frame_take(struct sk_buff *skb, struct sk_buff_head *out);

/* --- park.c ---------------------------------------------------------------------- */

/** torus_park_init() - allocate the segment, of the size in params. Return: 0 or -ENOMEM */
int torus_park_init(struct torus_soft *s);
/** torus_park_exit() - free the segment, which must have no packets */
void torus_park_exit(struct torus_soft *s);
/**
 * torus_park_take() - move the payload of @pkt into the segment; tn_ops.park (lock)
 * Return: false if the segment is full; @pkt is unchanged.
 */
bool torus_park_take(struct torus_soft *s, struct tn_pkt *pkt);
/** torus_park_of() - Return: the segment that has the payload of @pkt, or NULL */
struct torus_parking *torus_park_of(const struct tn_pkt *pkt);
/** torus_park_give() - free the block of @pkt, which lies in a segment (lock of its NIC) */
void torus_park_give(struct tn_pkt *pkt);

/* --- port.c --------------------------------------------------------------------- */

/** torus_port_rx() - the rx_handler of lower devices: takes frames of TN_ETHERTYPE */
rx_handler_result_t torus_port_rx(struct sk_buff **pskb);
/** torus_port_drop_late() - drop the delayed frames of a port, whose cable is removed */
void torus_port_drop_late(struct torus_port *port);
/**
 * torus_ports_take() - take received frames, which the core can read (NAPI, without the lock)
 * @s: the NIC
 * @out: the frames are appended
 * @budget: most frames to take
 * Return: true if there may be more.
 */
bool torus_ports_take(struct torus_soft *s, struct sk_buff_head *out, int budget);
/** torus_port_changed() - forget the other end's address if the link is not joined (lock) */
void torus_port_changed(struct torus_soft *s, unsigned int num, u8 state);
/** torus_ports_rx() - give the frames @rx to the core, and free them (lock) */
void torus_ports_rx(struct torus_soft *s, struct sk_buff_head *rx, u64 now);
/** torus_ports_tx() - queue frames of the core on s->down (lock). Return: true if there are more */
bool torus_ports_tx(struct torus_soft *s, u64 now);

/* --- lower.c -------------------------------------------------------------------- */

/**
 * torus_port_attach() - bind a port to a lower device of the NIC's namespace
 * @s: the NIC
 * @num: the port; if it is bound to another device, that one is unbound first
 * @name: name of the device
 * @why: gets the text of an error
 * RTNL. Return: 0; -EINVAL, -ENODEV, -EBUSY, -EEXIST.
 */
int torus_port_attach(struct torus_soft *s, unsigned int num, const char *name,
		      struct torus_refusal *why);
/**
 * torus_port_enslave() - bind @lower, as torus_port_attach() does, to the first port without a
 * device; RTNL
 */
int torus_port_enslave(struct torus_soft *s, struct net_device *lower, struct torus_refusal *why);
/** torus_port_of() - Return: the port that is bound to @lower, or -ENODEV; RTNL */
int torus_port_of(const struct torus_soft *s, const struct net_device *lower);
/** torus_port_release() - unbind the port of @lower, if it has one; RTNL */
void torus_port_release(struct torus_soft *s, const struct net_device *lower);
/** torus_port_detach() - unbind port @num if it is bound; RTNL, waits for a grace period */
void torus_port_detach(struct torus_soft *s, unsigned int num);
/** torus_port_init() - initialise port @num, after the core was made */
void torus_port_init(struct torus_soft *s, unsigned int num);
/** torus_port_register() - begin to watch lower devices. Return: 0 or -errno */
int torus_port_register(void);
/** torus_port_unregister() - stop watching lower devices; no port is bound any more */
void torus_port_unregister(void);

/* --- cut.c ---------------------------------------------------------------------------- */

/**
 * torus_cut() - cut a message into packets (bh)
 * @q: the packets are appended to it
 * @skb: the message, which stays the caller's
 * @max: most bytes of a packet, whole flits
 * Return: false if the message is too long or memory is short; @q may then have a part of it.
 */
bool torus_cut(struct tn_queue *q, struct sk_buff *skb, unsigned int max);

/* --- msg.c ----------------------------------------------------------------- */

/** torus_msg_lost() - queue an ICMP error for the host on s->up; a torus_host_lost (lock) */
void torus_msg_lost(void *dev, const u8 *ip, u32 len);
/** torus_msg_forget() - free a message that waited; a torus_host_free */
void torus_msg_forget(void *dev, struct torus_host_msg *msg);
/**
 * torus_msg_xmit() - give messages of the host to the core, while it has room for them (lock)
 * Return: false if there was none. A message that comes after that schedules NAPI by itself.
 */
bool torus_msg_xmit(struct torus_soft *s, u64 now);
/** torus_msg_pending() - Return: true if torus_msg_xmit() would take or send a message (lock) */
bool torus_msg_pending(struct torus_soft *s);
/**
 * torus_msg_expiry() - Return: when messages that wait will next be moved or dropped; ~0 for never
 * (lock)
 */
u64 torus_msg_expiry(struct torus_soft *s);
/** torus_msg_deliver() - take a packet for the host; a complete message goes to s->up (lock) */
void torus_msg_deliver(struct torus_soft *s, struct tn_pkt *pkt);

/* --- rma.c ------------------------------------------------------------------------- */

extern const struct torus_rma_ops torus_soft_rma_ops;

/** torus_rma_step() - run rings with work (lock). Return: true if packets may have to move */
bool torus_rma_step(struct torus_soft *s, u64 now);
/** torus_rma_expiry() - Return: when to call torus_rma_step() again, ns; ~0 for never (lock) */
u64 torus_rma_expiry(const struct torus_soft *s);
/** torus_rma_leave() - end all contexts: the NIC leaves its place; fills @rma_left (lock) */
void torus_rma_leave(struct torus_soft *s);
/** torus_rma_free_left() - free the memory that was taken from @rma_left (without the lock) */
void torus_rma_free_left(struct tn_soft_block *left);

/* --- tx.c -------------------------------------------------------------------------- */

/** torus_tx_init() - initialise queue and batching, before the first message */
void torus_tx_init(struct torus_soft *s);
/** torus_tx_put() - queue a message of the host for NAPI, which then owns @skb (bh) */
void torus_tx_put(struct torus_soft *s, struct sk_buff *skb);
/**
 * torus_tx_look() - called before NAPI takes messages: the next message that is queued begins a
 * batch (bh)
 */
void torus_tx_look(struct torus_soft *s);
/** torus_tx_take() - Return: the first message of queue @q, or NULL (bh) */
struct sk_buff *torus_tx_take(struct torus_soft *s, unsigned int q);
/** torus_tx_wake() - wake the stack's queues that have room again (NAPI, without the lock) */
void torus_tx_wake(struct torus_soft *s);
/** torus_tx_purge() - drop the messages in the queues. Return: their number */
unsigned int torus_tx_purge(struct torus_soft *s);
/** torus_tx_answered() - note that messages were delivered to the host (NAPI) */
void torus_tx_answered(struct torus_soft *s);
/** torus_tx_stop() - drop the messages that wait; NAPI is stopped, and the host sends no more */
void torus_tx_stop(struct torus_soft *s);

#endif /* TORUS_SOFT_NIC_H */
