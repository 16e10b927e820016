/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the core of a NIC and the program around it, here called its host: torus.ko,
 * torusemu, fabricsim or a test.
 *
 * Pattern of use, all calls on one NIC serialised by the host:
 *
 *	for each frame received:  tn_nic_rx()
 *	for each message to send: tn_nic_send_message() while tn_nic_room()
 *	tn_nic_poll()             timers, if now >= tn_nic_expiry()
 *	tn_nic_work()             moves packets between ports, host, parking
 *	for each port in tn_nic_tx_ports(): tn_nic_tx() until it returns 0
 *	sleep until a file descriptor is ready or tn_nic_expiry()
 *
 * Callbacks come only from inside these calls and must not call back into the
 * NIC. Time is monotonic nanoseconds and never 0.
 */
#ifndef TN_NIC_H
#define TN_NIC_H

#include "pkt.h"
#include "topo.h"
#include "train.h"

struct tn_nic;

enum tn_event_type {
	TN_EV_LINK,		/* a link has changed: port, state, old_state, reason */
	TN_EV_PARK,		/* the parking segment got its first packet, is full, or is empty
				 * again; or packets were counted as lost or unreachable */
};

struct tn_event {
	u8 type;
	u8 port;
	u8 state;
	u8 old_state;
	u8 reason;
};

/**
 * struct tn_ops - callbacks of a NIC into its host
 * @pkt_get: allocate a descriptor for a packet whose @payload lies inside the frame @owner
 *	(the @owner given to tn_nic_rx()), and take a reference on that memory;
 *	NULL if out of memory (the packet is then not accepted, and sent again). All but payload
 *	and owner may have old contents
 * @pkt_new: allocate a descriptor with memory for a payload of @nflits flits; NULL if out of
 *	memory
 * @pkt_put: free the descriptor and its reference
 * @park: called before a packet is parked: the host may move it into memory that it reserves for
 *	parking. Return: false if no such memory is left; the packet waits where it is. NULL:
 *	packets stay in their memory
 * @keep: called before a packet stays for a long time outside the parking segment (on hold, or
 *	waiting for an earlier packet): the host may move it into memory of just its size. Return:
 *	the bytes of memory that the packet occupies, with its descriptor, which count in the
 *	limits. NULL: packets stay in their memory, and their flits are counted
 * @deliver: a data packet for the host. Return: true if the host owns it; false if the host is
 *	full, and the core offers the packet again at the next tn_nic_work(). Packets of one
 *	(hdr.src, flow VC) are delivered in order for VCD0 and VCD1. hdr.type is TN_DATA, or
 *	TN_UNREACH for a packet of this node that came back (hdr.src is then its intended
 *	destination)
 * @mgmt: a management packet was received from the neighbour on @port; false: there is no room for
 *	it, and it is lost
 * @event: an event for the host
 * @random: Return: 32 random bits (for nonces)
 */
struct tn_ops {
	struct tn_pkt *(*pkt_get)(void *host, void *owner, const u8 *payload);
	struct tn_pkt *(*pkt_new)(void *host, unsigned int nflits);
	void (*pkt_put)(void *host, struct tn_pkt *pkt);
	bool (*park)(void *host, struct tn_pkt *pkt);
	u32 (*keep)(void *host, struct tn_pkt *pkt);
	bool (*deliver)(void *host, struct tn_pkt *pkt);
	bool (*mgmt)(void *host, unsigned int port, const u8 *data, unsigned int len);
	void (*event)(void *host, const struct tn_event *ev);
	u32 (*random)(void *host);
};

/**
 * struct tn_params - parameters that an administrator may tune; times in ns
 * @keepalive: interval of IDLE packets on a link that has nothing else to send
 * @silence: a link that receives nothing for this time becomes faulty; until the peer has shown
 *	that it is up, the limit is 3 * @probe_interval if that is longer
 * @ack_delay: how long an acknowledgement or credit may wait for a packet that carries it
 * @replay_timeout: time without acknowledgement after which the sender replays
 * @retry_time: time without acknowledgement, with at least @retry_count replays, after which the
 *	link is faulty
 * @init_interval: between INIT packets while initialising
 * @probe_interval: between INIT packets while faulty
 * @retrain_time: a retraining that takes longer makes the link faulty
 * @gap_time: how long packets wait for a missing one of their flow, unless the
 *	manager says earlier that it is lost
 * @retry_count: see @retry_time
 * @retry_packets: RETRY buffer, 1 to 1024 packets
 * @slots: packet buffers of each VC of each input, 4 (CBS: 2, MBS: 1) to 1024
 * @payload_max: payload bytes of the largest packet, TN_PAYLOAD_MIN to TN_PAYLOAD_MAX, in whole
 *	flits; the same at all NICs of a fabric, as links between different values do not come up
 * @frame_max: bytes of an Ethernet frame's payload, at least tn_packet_max()
 * @eye_interval: between measurements of the eyes of an up link
 * @target_ber, @mask_height, @mask_width, @margin_train, @margin_retrain: thresholds of SerDes
 *	training, see struct tn_train_params
 * @retry: enum torus_retry, the protocol that each link asks for, unless tn_link_retry() sets
 *	another
 * @pace: a link sends at 1/@pace of the rate that its peer's receiver has announced, if it has
 *	announced one; 0: without limit
 * @bubble: enum torus_bubble: which packets may enter a ring; the same at all NICs of a fabric, as
 *	links between different policies do not come up (ring.h)
 * @relay_packets: number of packets that the node can hold as a relay; if this is less than the
 *	number of nodes, one for each node (relay.h)
 * @park_bytes: size of the parking segment; packets that wait for an earlier one of their flow may
 *	have as much memory again (tn_ops.keep)
 * @hold_bytes: bytes of memory (tn_ops.keep) that this node's packets may use while they wait for
 *	the end of a hold or for the relay window; packets to one destination may use at most eight
 *	times what is left of it
 * @dscp_vcd1: bit N: the host's messages with DSCP N are sent on VCD1 (host/send.c)
 * @dscp_vca: the same for VCA; VCD1 if both have the bit
 */
struct tn_params {
	u64 keepalive;
	u64 silence;
	u64 ack_delay;
	u64 replay_timeout;
	u64 retry_time;
	u64 init_interval;
	u64 probe_interval;
	u64 retrain_time;
	u64 gap_time;
	u64 eye_interval;
	u64 target_ber;
	u32 mask_height;
	u32 mask_width;
	u32 margin_train;
	u32 margin_retrain;
	u32 retry_count;
	u32 retry_packets;
	u32 retry;
	u32 pace;
	u32 bubble;
	u32 slots;
	u32 payload_max;
	u32 frame_max;
	u32 relay_packets;
	u64 park_bytes;
	u64 hold_bytes;
	u64 dscp_vcd1;
	u64 dscp_vca;
};

/** tn_packet_max() - bytes of the largest packet, and of a packet buffer (slot) */
static inline u32 tn_packet_max(const struct tn_params *p)
{
	return p->payload_max / TN_FLIT * TN_FLIT + TN_AROUND_MAX;
}

/** tn_params_default() - set the defaults, which are in params.c */
void tn_params_default(struct tn_params *p);

struct tn_nic_config {
	const struct tn_ops *ops;
	void *host;
	u8 nports;		/* number of ports: 2 .. TORUS_MAX_PORTS, even */
	u32 large_max;		/* most large payloads in a frame (struct tn_frame); 0: no limit */
	u32 small_max;		/* most bytes in a frame beside large payloads, at least
				 * TN_PAYLOAD_MIN; 0: no limit */
	u64 guid;
	u32 epoch;
	struct tn_params params;
};

/** tn_nic_size() - Return: bytes of memory that a NIC needs, without its tables */
size_t tn_nic_size(void);

/**
 * tn_nic_init() - make a NIC in @mem (tn_nic_size() bytes, 64-byte aligned)
 * All links start administratively up, without carrier.
 * Return: 0 or -EINVAL if @cfg breaks a limit.
 */
int tn_nic_init(void *mem, const struct tn_nic_config *cfg, u64 now);

/** tn_nic_flush() - give all packets back to the host, before the NIC is freed */
void tn_nic_flush(struct tn_nic *nic);

/** tn_nic_table_size() - Return: bytes of table memory that a shape needs */
size_t tn_nic_table_size(const struct torus_shape *shape);

/**
 * tn_nic_set_shape() - set the shape of the torus and the coordinates of this node
 * @mem: tn_nic_table_size() bytes, 64-byte aligned, all zero, owned by the caller; used until the
 *	next tn_nic_set_shape() returns or the NIC ends
 * All rows become invalid, the version becomes 0, and the numbering of flows restarts. With the
 * same shape and coordinates as before, the call does nothing, returns 0 and does not use @mem; the
 * caller can compare them with tn_nic_at().
 * Return: 0, -EINVAL (bad shape, coordinates, or more dimensions than ports / 2).
 */
int tn_nic_set_shape(struct tn_nic *nic, const struct torus_shape *shape,
		     const struct torus_coords *at, void *mem);

/**
 * tn_nic_at() - get the shape of the torus and the coordinates of this node. Return: false if none
 * are set
 */
bool tn_nic_at(const struct tn_nic *nic, struct torus_shape *shape, struct torus_coords *at);

/* --- data path ----------------------------------------------------------- */

/** struct tn_seg - a piece of memory */
struct tn_seg {
	const u8 *base;
	u32 len;
};

/**
 * tn_nic_rx() - receive a frame on @port
 * @frame: the Ethernet payload; the core reads it in place, and packets refer to it by
 *	pkt_get(@owner)
 */
void tn_nic_rx(struct tn_nic *nic, unsigned int port, const u8 *frame, size_t len,
	       void *owner, u64 now);

/**
 * tn_nic_rx_pieces() - the same for a frame that lies in @n pieces
 * The frame must pass tn_pieces_fit() (pieces.h), otherwise it is dropped as malformed.
 */
void tn_nic_rx_pieces(struct tn_nic *nic, unsigned int port, const struct tn_seg *seg,
		      unsigned int n, void *owner, u64 now);

/*
 * Says that from now on frames received (or sent) on @port pass through memory only, so that the
 * NIC need not check (or compute) an ECRC. The programs around both NICs must call these functions
 * ("Memory" in link.h). The initial state is off.
 */
void tn_nic_rx_memory(struct tn_nic *nic, unsigned int port, bool on);
void tn_nic_tx_memory(struct tn_nic *nic, unsigned int port, bool on);
/**
 * tn_nic_rx_checked() - from now on, frames received on @port have passed tn_pieces_sound()
 * The core need not check their ECRCs then. The initial state is off.
 */
void tn_nic_rx_checked(struct tn_nic *nic, unsigned int port, bool on);

#define TN_FRAME_SEGS 384
#define TN_FRAME_LARGE 512

/**
 * struct tn_frame - one Ethernet payload, in pieces: payloads, and the flits around them
 * @large: number of payloads of TN_FRAME_LARGE bytes or more, which a host may send without a
 *	copy
 * @small: number of all other bytes
 */
struct tn_frame {
	u32 large;
	u32 small;
	u32 nsegs;
	u32 bytes;
	struct tn_seg seg[TN_FRAME_SEGS];
};

/** tn_nic_tx_ports() - Return: mask of the ports that have a frame to send */
u32 tn_nic_tx_ports(const struct tn_nic *nic);

/**
 * tn_nic_tx() - build the next frame to send on @port
 * The bytes stay valid until the next call that is not tn_nic_tx() on another
 * port. A frame that the host cannot send may be dropped: the link will retransmit it.
 * Return: bytes of the frame, 0 for none.
 */
u32 tn_nic_tx(struct tn_nic *nic, unsigned int port, struct tn_frame *f, u64 now);

/** tn_nic_work() - move packets between ports, host and parking until none can move */
void tn_nic_work(struct tn_nic *nic, u64 now);

/** tn_nic_poll() - run the timers that have expired at @now */
void tn_nic_poll(struct tn_nic *nic, u64 now);

/**
 * tn_nic_due() - Return: true if tn_nic_work() is to be called again at once
 * It delivers a limited number of packets that waited for earlier ones, so that the host can do
 * other things in between. In this case tn_nic_expiry() has passed as well.
 */
bool tn_nic_due(const struct tn_nic *nic);

/** tn_nic_expiry() - Return: when tn_nic_poll() must be called next; ~0 for never */
u64 tn_nic_expiry(const struct tn_nic *nic);

/**
 * tn_nic_room() - how many packets the host may send to @dst on @vc before it has to wait
 * Return: their number. It is 0 while the injection queue of that VC and output port is full, or
 * while packets to @dst have to wait at this node (on hold, or for the relay window) and have used
 * up their share of hold_bytes. Other destinations may have room while one has none ("Fair" in
 * router.c).
 */
unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc);

/**
 * tn_nic_send() - inject a packet
 * @pkt: payload in place, hdr.len and tail.flags (pad, FIRST, LAST) set by the
 *	host, up to params.payload_max bytes; the NIC owns it if 0 is returned
 * @dst: node id; the NIC's own is delivered at once
 * @vc: the flow's VC
 *
 * Return: 0; -ENODEV no shape yet; -EINVAL bad @dst, @vc or length;
 * -EHOSTUNREACH no valid row (counted); -EAGAIN no room. A packet that continues a message (without
 * FIRST) is accepted even without room, up to TN_INJECT_MAX more, so that no message stops in the
 * middle.
 */
int tn_nic_send(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc, u64 now);
/**
 * tn_nic_send_message() - inject the packets of a message, each as tn_nic_send() does
 * @msg: the packets, of which the first has FIRST; the NIC owns those that it takes
 * Return: that of the last tn_nic_send(). If it is not 0, @msg has the packet that was refused and
 * those after it; else it is empty.
 */
int tn_nic_send_message(struct tn_nic *nic, struct tn_queue *msg, u32 dst, unsigned int vc,
			u64 now);

/* --- links ---------------------------------------------------------------- */

void tn_nic_carrier(struct tn_nic *nic, unsigned int port, bool up, u64 now);
void tn_nic_admin(struct tn_nic *nic, unsigned int port, bool up, u64 now);
/**
 * tn_nic_frame_max() - limit the frames sent on @port to @bytes, as its lower device requires
 * @bytes: at least tn_packet_max(); params.frame_max still applies
 */
void tn_nic_frame_max(struct tn_nic *nic, unsigned int port, u32 bytes);
void tn_nic_retrain(struct tn_nic *nic, unsigned int port, u64 now);
/* Sets the retry protocol that @port asks for, enum torus_retry; see tn_link_retry(). */
void tn_nic_retry(struct tn_nic *nic, unsigned int port, unsigned int protocol, u64 now);

/**
 * tn_nic_serdes() - set the SerDes of @port, after tn_nic_init() and before it has carrier
 * @serdes: must stay valid; without one, training ends at once
 */
void tn_nic_serdes(struct tn_nic *nic, unsigned int port, const struct tn_serdes *serdes);
/**
 * tn_nic_marks() - for tests: send copies marked bad (VB) before some packets of @port
 * @rate: share of DATA and UNREACH packets that get one, in units of 1e-18, at most TORUS_BER_ONE
 * @seed: seed of the random choice
 */
void tn_nic_marks(struct tn_nic *nic, unsigned int port, u64 rate, u64 seed);
/** tn_nic_marked() - Return: the rate set by tn_nic_marks() */
u64 tn_nic_marked(const struct tn_nic *nic, unsigned int port);
/** tn_nic_cable() - called when the eyes of @port may have changed: the link measures them soon */
void tn_nic_cable(struct tn_nic *nic, unsigned int port, u64 now);
/** tn_nic_is_joined() - Return: true if the link of @port is up or retraining */
bool tn_nic_is_joined(const struct tn_nic *nic, unsigned int port);
/** tn_nic_train() - Return: the result of the training of @port; its member serdes may be NULL */
const struct tn_train *tn_nic_train(const struct tn_nic *nic, unsigned int port);

/** struct tn_link_info - the state of a link without its counters */
struct tn_link_info {
	u8 state;
	u64 state_age;		/* how long the link has been in that state, ns */
	u8 reason;		/* why the link last ceased to be up */
	bool admin;
	bool carrier;
	bool closed;
	u32 session;		/* of the time since the link last came up; 0: it never was up */
	u16 seq;		/* CTRP: next TSEQ expected from the peer */
	u64 peer_guid;
	u8 peer_port;
	u8 retry;		/* enum torus_retry: the protocol in use, or last used; AUTO: the
				 * link never was up */
	u8 retry_wanted;
	u8 differs;		/* enum torus_differs: the setting in which both ends differ, if
				 * the reason is MISMATCH or BUBBLE */
	u32 differs_own;
	u32 differs_peer;
	u64 gauge[TORUS_PG_COUNT];
};

void tn_nic_link_info(struct tn_nic *nic, unsigned int port,
		      struct tn_link_info *info, u64 now);

/*
 * Brings the counters of time in each state up to @now. Return: array of TORUS_PC_COUNT counters.
 */
const u64 *tn_nic_port_counters(struct tn_nic *nic, unsigned int port, u64 now);
/*
 * Return: array of TORUS_NC_COUNT counters. The host updates those whose names begin with HOST_,
 * but for HOST_DROPS: the sum of HOST_TX_DROPS and HOST_RX_DROPS at the time of the call.
 */
u64 *tn_nic_counters(struct tn_nic *nic);
/**
 * tn_nic_counters_read() - copy these counters
 * Unlike all other calls it needs no lock of the host: each value is one that the counter had
 * during the call, if the processor reads 64 bits at once.
 */
void tn_nic_counters_read(const struct tn_nic *nic, u64 *to);
/* Return: for each colour, an array of TORUS_FC_COUNT counters. */
const u64 (*tn_nic_flow(const struct tn_nic *nic))[TORUS_COLOURS];

/**
 * tn_nic_mgmt_send() - send a management packet to the neighbour on @port
 * Return: 0; -EINVAL bad port or length; -ENETDOWN link not up; -EAGAIN queue
 * full or out of memory.
 */
int tn_nic_mgmt_send(struct tn_nic *nic, unsigned int port, const u8 *data,
		     unsigned int len, u64 now);

/* --- rows, holds, parking: semantics as in include/uapi/torus.h ------------ */

/*
 * Begins a table of @version: copies the active rows into the shadow. Return: 0, -ENODEV if no
 * shape is set.
 */
int tn_nic_rows_begin(struct tn_nic *nic, u64 version);
/*
 * tn_nic_rows_begin() in parts, for a host that must not hold its lock while millions of rows are
 * copied: open, then copy @n rows at a time until the call returns 0. From then on rows can be put
 * into the shadow. If holds change between two parts, rows that are not copied yet get the changed
 * state, and rows that were copied before do not.
 * Return: 0; 1: more rows are to be copied; -ENODEV; -ESTALE if another begin or a new shape came
 * in between.
 */
int tn_nic_rows_open(struct tn_nic *nic, u64 version);
int tn_nic_rows_copy(struct tn_nic *nic, u64 version, u32 n);
/*
 * Writes @n rows, for the nodes from @first on, into the shadow: all or none. @rows may be
 * unaligned.
 * Return: 0, -ENODEV, -EINVAL if bad range or row, -ESTALE if no begin of that version.
 */
int tn_nic_rows_put(struct tn_nic *nic, u64 version, u32 first, const void *rows, u32 n);
/*
 * Puts the shadow in force as the active rows. Return: 0, -ENODEV, -ESTALE if no begin of that
 * version.
 */
int tn_nic_rows_commit(struct tn_nic *nic, u64 version, u64 now);
/* Gets the number of rows and the version of the active table. Return: false without shape. */
bool tn_nic_rows(const struct tn_nic *nic, u32 *n, u64 *version);
/* Return: @n active rows from @first on, valid until they change; NULL if the range is bad. */
const u64 *tn_nic_rows_get(struct tn_nic *nic, u32 first, u32 n);

/*
 * Puts packets to these @n @nodes on hold. Return: 0, -ENODEV, -EINVAL if a node is out of range.
 */
int tn_nic_hold(struct tn_nic *nic, const u32 *nodes, u32 n);
/**
 * tn_nic_give_up() - do a part of the work of tn_nic_release() with @give_up: give up missing
 * packets, and deliver those that wait for them
 *
 * tn_nic_release() may take long. A host whose other traffic waits meanwhile calls this function
 * before it, as long as this function returns true.
 *
 * Return: true if there is more; false if nothing is left, the host is full or @version is not the
 * active one.
 */
bool tn_nic_give_up(struct tn_nic *nic, u64 version, u64 now);
/*
 * Ends all holds; with @give_up, also gives up all missing packets. Return: 0, -ENODEV, -ESTALE:
 * @version is not the active one.
 */
int tn_nic_release(struct tn_nic *nic, u64 version, bool give_up, u64 now);

struct tn_park_info {
	u64 parked;
	u64 unresolved;
	u64 bytes;
	u64 bytes_max;
	u64 held;
};

struct tn_park_flow;
void tn_nic_park_info(const struct tn_nic *nic, struct tn_park_info *info);
/** tn_nic_park_flows() - tn_park_flows() for the parking segment of @nic */
u32 tn_nic_park_flows(const struct tn_nic *nic, struct tn_park_flow *out, u32 max, u64 *more);

/**
 * tn_nic_park_resolve() - decide on the packets that were parked from the RETRY buffer of @port:
 * drop those that the peer has accepted
 * @dead: the peer no longer exists: @seq is ignored, and all packets are kept
 * Packets of other sessions do not change. The call may be repeated.
 * Return: 0, -EINVAL bad port.
 */
int tn_nic_park_resolve(struct tn_nic *nic, unsigned int port, u32 session,
			u16 seq, bool dead);

/**
 * tn_nic_park_replay() - re-inject the parked packets, then reopen @ports
 * Packets for these ports that arrive during the replay are parked and re-injected, too, so that no
 * packet overtakes another.
 * Return: 0, -ENODEV, -ESTALE not the active version, -EBUSY if some entries
 * are unresolved (nothing is done).
 */
int tn_nic_park_replay(struct tn_nic *nic, u64 version, u32 ports, u64 now);

#endif /* TN_NIC_H */
