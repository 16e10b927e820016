/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#ifndef _UAPI_LINUX_TORUS_ABI_H
#define _UAPI_LINUX_TORUS_ABI_H

#define TORUS_MAX_DIMS	6
#define TORUS_MAX_PORTS	12	/* two for each dimension */
#define TORUS_MAX_SIZE	4096	/* nodes along one dimension */
#define TORUS_MAX_NODES	16777216
#define TORUS_NAME_MAX	63	/* bytes of a device or node name */
#define TORUS_MGMT_MAX	1024	/* bytes of one management packet */
#define TORUS_MSG_MAX	65536	/* bytes of one datagram */
#define TORUS_COLOURS	4	/* colour of a packet: table version mod 4 */
#define TORUS_LANES_MAX	12	/* lanes of a link's receiver (kernel/core/train.h) */
#define TORUS_EYE_COLS	65	/* of a map: from -1/2 to +1/2 UI */
#define TORUS_EYE_ROWS	33	/* from +SWING to -SWING mV */
#define TORUS_EYE_BYTES	2145	/* EYE_ROWS rows of EYE_COLS bytes */
#define TORUS_BER_ONE	1000000000000000000ULL	/* a bit error rate of 1 */
#define TORUS_LATENCY_MAX	10000000000ULL	/* ns: 10 s */
#define TORUS_CABLE_LENGTH_MAX	10000	/* cm */
#define TORUS_CABLE_LOSS_MAX	50000	/* mdB per metre, or per second */
#define TORUS_CABLE_PART_MAX	500	/* per mille */
#define TORUS_CABLE_KELVIN	293	/* temperature to which losses refer */
#define TORUS_CABLE_KELVIN_MIN	200
#define TORUS_CABLE_KELVIN_MAX	400
#define TORUS_LANES_MASK	4095	/* of LANES_MAX lanes */
#define TORUS_PARK_FLOWS_MAX	32	/* flows in one reply */

/* Virtual channels. */
enum torus_vc {
	TORUS_VC_D0,	/* deterministic, in order: requests */
	TORUS_VC_D1,	/* deterministic, in order: replies */
	TORUS_VC_A,	/* adaptive, any order */
	TORUS_VCS,
};

/* State of a link. */
enum torus_link_state {
	TORUS_LINK_DOWN,	/* administratively down or no cable attached */
	TORUS_LINK_TRAINING,	/* SerDes training */
	TORUS_LINK_INIT,	/* exchanging init flits */
	TORUS_LINK_UP,
	TORUS_LINK_RETRAINING,
	TORUS_LINK_FAULTY,	/* probing for recovery */
	TORUS_LINK_STATES,
};

/* Why a link left the up state. */
enum torus_link_reason {
	TORUS_REASON_NONE,
	TORUS_REASON_ADMIN,
	TORUS_REASON_CARRIER,	/* lower device lost its carrier */
	TORUS_REASON_SILENCE,	/* nothing received for the silence time */
	TORUS_REASON_RETRY,	/* retry exhausted */
	TORUS_REASON_PEER,	/* the peer restarted or began a new session */
	TORUS_REASON_PROTOCOL,	/* the peer violated the protocol in sequence numbers or credits */
	/*
	 * The ends differ in wire version, retry protocol or payload_max, or the peer
	 * has too few slots.
	 */
	TORUS_REASON_MISMATCH,
	TORUS_REASON_TRAINING,	/* no lane reached the target error rate */
	TORUS_REASON_BUBBLE,	/* the ends differ in bubble policy */
	TORUS_REASONS,
};

/* Link retry protocol (kernel/core/retry.h). */
enum torus_retry {
	TORUS_RETRY_AUTO,	/* that of the peer, if it asks for one, else Angara's */
	TORUS_RETRY_ANGARA,
	TORUS_RETRY_ACKNAK,
	TORUS_RETRY_HIPPI,	/* BlueGene/L */
	TORUS_RETRIES,
};

/* Rule by which packets enter a ring (kernel/core/bubble.h). */
enum torus_bubble {
	TORUS_BUBBLE_BLOC,	/* a packet that leaves a buffer free where it enters */
	TORUS_BUBBLE_CBS,	/* a packet that takes no critical bubble */
	TORUS_BUBBLE_MBS,	/* as CBS, and bubbles that block an entrance are moved */
	TORUS_BUBBLES,
};

/* Difference that keeps the ends of a link from beginning a session. */
enum torus_differs {
	TORUS_DIFFERS_NOTHING,
	TORUS_DIFFERS_WIRE,	/* versions of the wire format; the two nearest ones are reported */
	TORUS_DIFFERS_BUBBLE,	/* enum bubble */
	TORUS_DIFFERS_PAYLOAD_MAX,	/* bytes */
	/* Enum retry: both ends ask for a protocol, and for different ones. */
	TORUS_DIFFERS_RETRY,
	/* Packet buffers: what the bubble policy needs at least, and what the peer has. */
	TORUS_DIFFERS_SLOTS,
	TORUS_DIFFERENCES,
};

/* State of a lane of a link's receiver. */
enum torus_lane_state {
	TORUS_LANE_OFF,	/* not trained yet */
	TORUS_LANE_ON,	/* in use, or being searched */
	TORUS_LANE_DEAD,	/* no signal: switched off */
	TORUS_LANE_POOR,	/* no setting reaches the target error rate: switched off */
	TORUS_LANE_STATES,
};

/* Groups of notifications. */
enum torus_group {
	TORUS_GROUP_LINK,
	TORUS_GROUP_MGMT,
	TORUS_GROUP_PARK,
	TORUS_GROUPS,
};

#define TORUS_GROUP_LINK_NAME	"link"
#define TORUS_GROUP_MGMT_NAME	"mgmt"
#define TORUS_GROUP_PARK_NAME	"park"

/*
 * Commands: what each does, may carry (with '?' if it need not be there) and is
 * answered with. Every request may carry IFINDEX or NAME to name the device.
 * DEVICE_GET: the NIC; SHAPE, COORDS, NODE, VERSION and ROW_COUNT only once it has coordinates.
 *	NET4 and NET6 are the address plan; a NIC that knows only the default one leaves them out;
 *	do; dump; reply: NAME, IFINDEX, IFNAME, DRIVER, GUID, EPOCH, PORT_COUNT, BOOTSTRAP,
 *	RELAY_PACKETS, PAYLOAD_MAX, UPTIME, ROOT_EPOCH, ROOT_GUID, SHAPE, COORDS, NODE, VERSION,
 *	ROWS_EPOCH, ROW_COUNT, NODE_COUNTERS, NET4, NET4_LEN, NET6, NET6_LEN
 * DEVICE_SET: SHAPE and COORDS go together and start the router, with all rows invalid; NAME is
 *	the new name. A command with ROOT_EPOCH and ROOT_GUID is an order of that root. It gets
 *	ESTALE if its epoch is below that of the NIC, or if it is the same and the GUID differs; a
 *	later epoch becomes that of the NIC. If the NIC obeys a root, ROWS_BEGIN, ROWS_COMMIT,
 *	RELEASE and PARK_REPLAY without a root also get ESTALE. SHAPE without ROOT_EPOCH is a
 *	placement by hand, and the NIC obeys no root after it. NET4, NET6 and their lengths go
 *	together: they are the address plan, by which the NIC finds the node of an IP packet; rows
 *	stay as they are. Other coordinates without a plan set the default one; do: IFINDEX?, NAME?,
 *	SHAPE?, COORDS?, BOOTSTRAP?, ROOT_EPOCH?, ROOT_GUID?, NET4?, NET4_LEN?, NET6?, NET6_LEN?
 * LINK_GET: a link with its counters; LANES only with a SerDes; do: PORT; dump; reply: IFINDEX,
 *	PORT, LOWER, STATE, REASON, ADMIN, CLOSED, CARRIER, SESSION, SEQ, PEER_GUID, PEER_PORT,
 *	RETRY, RETRY_WANTED, GAUGES, FAULT, PORT_COUNTERS, LANES, STATE_AGE, DIFFERS, DIFFERS_OWN,
 *	DIFFERS_PEER
 * LINK_SET: RETRY_WANTED takes effect when the link begins its next session; FAULT is for
 *	software NICs; do: PORT, ADMIN?, RETRAIN?, RETRY_WANTED?, FAULT?
 * LINK_ATTACH: bind the port to a lower device by name; an empty name detaches; do: PORT, LOWER
 * ROWS_BEGIN: opens a shadow table that starts as a copy of the active one, holds included. It
 *	replaces a shadow table that was not committed. The table belongs to the socket that began
 *	it: PUT and COMMIT of other sockets, also of one that began earlier, get ESTALE. Versions
 *	must not decrease: ESTALE if VERSION is below the active one, unless ROOT_EPOCH is above that
 *	of the active rows; do: VERSION, ROOT_EPOCH?, ROOT_GUID?
 * ROWS_PUT: rows of the shadow table; do: VERSION, ROWS
 * ROWS_COMMIT: the shadow becomes the active table in one step; new packets carry colour
 *	VERSION mod 4; all destinations with a relay go on hold; do: VERSION, ROOT_EPOCH?, ROOT_GUID?
 * ROWS_GET: active rows; FIRST and COUNT may select a range; dump: FIRST, COUNT; reply:
 *	VERSION, ROWS
 * HOLD: sets the hold flag of the active rows of these nodes; do: NODES
 * RELEASE: releases all holds if VERSION is the active version; with GIVE_UP the NIC stops
 *	waiting for packets missing in a flow, counts them as lost, and delivers the packets after
 *	them; do: VERSION, GIVE_UP?, ROOT_EPOCH?, ROOT_GUID?
 * FLOW_GET: the counters that a recovery adds up, in one small message; do; reply: IFINDEX,
 *	VERSION, EPOCH, FLOW
 * PARK_GET: the parking segment; do; reply: PARKED, UNRESOLVED, PARK_BYTES, PARK_BYTES_MAX,
 *	HELD, IFINDEX, VERSION, EPOCH, FLOW
 * PARK_RESOLVE: the peer of a dead link has accepted all packets before SEQ: drop those of them
 *	that were parked from the RETRY buffer; without SEQ: the peer is dead, keep all; do: PORT,
 *	SESSION, SEQ?
 * PARK_REPLAY: reopens these ports to traffic and replays the parked packets, in order, by the
 *	active rows; do: VERSION, PORTS, ROOT_EPOCH?, ROOT_GUID?
 * MGMT_SEND: a management packet to the neighbour; do: PORT, DATA
 * SUBSCRIBE: Unix socket only; a subscriber that reads too slowly gets NLMSG_OVERRUN where
 *	notifications are missing (generic netlink: ENOBUFS); do: GROUPS
 * LINK_NTF: the state of a link changed; or its margin fell below what training would accept,
 *	or rose above it again, without a change of state; event: IFINDEX, PORT, LOWER, OLD_STATE,
 *	STATE, REASON, ADMIN, CLOSED, CARRIER, SESSION, SEQ, PEER_GUID, PEER_PORT, RETRY,
 *	RETRY_WANTED, GAUGES, DIFFERS, DIFFERS_OWN, DIFFERS_PEER
 * MGMT_NTF: a management packet arrived; event: IFINDEX, PORT, DATA
 * PARK_NTF: parking began, or the segment is full or empty again, or packets were lost or
 *	unreachable; event: PARKED, UNRESOLVED, PARK_BYTES, PARK_BYTES_MAX, HELD, IFINDEX, VERSION,
 *	EPOCH, FLOW
 * EYE_GET: the eye of a lane as its monitor measures it now; do: PORT, LANE; reply: IFINDEX,
 *	PORT, LANE, EYE, SWING, MASK_HEIGHT, MASK_WIDTH
 * PARK_FLOWS_GET: flows of parked packets: the first PARK_FLOWS_MAX flows among the first 16384
 *	packets; do; reply: IFINDEX, PARK_FLOWS, PARK_MORE
 */
enum torus_cmd {
	TORUS_CMD_UNSPEC,
	TORUS_CMD_DEVICE_GET,
	TORUS_CMD_DEVICE_SET,
	TORUS_CMD_LINK_GET,
	TORUS_CMD_LINK_SET,
	TORUS_CMD_LINK_ATTACH,
	TORUS_CMD_ROWS_BEGIN,
	TORUS_CMD_ROWS_PUT,
	TORUS_CMD_ROWS_COMMIT,
	TORUS_CMD_ROWS_GET,
	TORUS_CMD_HOLD,
	TORUS_CMD_RELEASE,
	TORUS_CMD_FLOW_GET,
	TORUS_CMD_PARK_GET,
	TORUS_CMD_PARK_RESOLVE,
	TORUS_CMD_PARK_REPLAY,
	TORUS_CMD_MGMT_SEND,
	TORUS_CMD_SUBSCRIBE,
	TORUS_CMD_LINK_NTF,
	TORUS_CMD_MGMT_NTF,
	TORUS_CMD_PARK_NTF,
	TORUS_CMD_EYE_GET,
	TORUS_CMD_PARK_FLOWS_GET,
	__TORUS_CMD_MAX,
};
#define TORUS_CMD_MAX (__TORUS_CMD_MAX - 1)

enum torus_attr {
	TORUS_A_UNSPEC,
	TORUS_A_PAD,
	TORUS_A_IFINDEX,	/* u32: netdev of the device */
	TORUS_A_NAME,	/* string: device (or node) name */
	TORUS_A_IFNAME,	/* string: its netdev */
	TORUS_A_DRIVER,	/* string: "torusemu", "torus" */
	TORUS_A_GUID,	/* u64: identifies the NIC and never changes */
	TORUS_A_EPOCH,	/* u32: new at every start of the NIC */
	TORUS_A_PORT_COUNT,	/* u8: 2 .. TORUS_MAX_PORTS, even */
	TORUS_A_BOOTSTRAP,	/* u8: 0, 1: the bootstrap flag */
	TORUS_A_SHAPE,	/* array of u16: nodes along each dimension */
	TORUS_A_COORDS,	/* array of u16: one for each dimension of SHAPE */
	TORUS_A_NODE,	/* u32: node id, x + X * (y + Y * (z + ...)) */
	TORUS_A_VERSION,	/* u64: table version */
	TORUS_A_ROW_COUNT,	/* u32 */
	/* Nest, enum torus_node_counter: their numbers are those of the enum, plus 1. */
	TORUS_A_NODE_COUNTERS,
	TORUS_A_PORT,	/* u8 */
	TORUS_A_LOWER,	/* string: lower device, "" for none */
	TORUS_A_STATE,	/* u8, enum torus_link_state */
	TORUS_A_OLD_STATE,	/* u8, enum torus_link_state */
	TORUS_A_REASON,	/* u8, enum torus_link_reason */
	TORUS_A_ADMIN,	/* u8: 0 down, 1 up */
	TORUS_A_RETRAIN,	/* flag */
	TORUS_A_CLOSED,	/* u8: 1: diverts to parking until reopened */
	TORUS_A_CARRIER,	/* u8: 0, 1 */
	TORUS_A_SESSION,	/* u32: of the link's current or last up time */
	TORUS_A_SEQ,	/* u16: next sequence number expected from the peer */
	TORUS_A_PEER_GUID,	/* u64: 0 while unknown */
	TORUS_A_PEER_PORT,	/* u8 */
	TORUS_A_FAULT,	/* nest, enum torus_fault_attr */
	/* Nest, enum torus_port_counter: their numbers are those of the enum, plus 1. */
	TORUS_A_PORT_COUNTERS,
	/* Nest, enum torus_port_gauge: their numbers are those of the enum, plus 1. */
	TORUS_A_GAUGES,
	TORUS_A_ROWS,	/* nest, enum torus_rows_attr, may repeat */
	TORUS_A_FIRST,	/* u32: node id */
	TORUS_A_COUNT,	/* u32 */
	TORUS_A_NODES,	/* array of u32: node ids */
	TORUS_A_GIVE_UP,	/* flag */
	TORUS_A_FLOW,	/* nest of u64: enum torus_flow_counter * COLOURS + colour + 1 */
	TORUS_A_PARKED,	/* u64: packets parked now */
	TORUS_A_UNRESOLVED,	/* u64: of these, perhaps accepted by the peer */
	TORUS_A_PARK_BYTES,	/* u64 */
	TORUS_A_PARK_BYTES_MAX,	/* u64 */
	TORUS_A_HELD,	/* u64: packets waiting at the source on a hold */
	TORUS_A_PORTS,	/* u16: mask of ports */
	TORUS_A_DATA,	/* binary */
	TORUS_A_GROUPS,	/* u32: mask of groups */
	/*
	 * U8, enum torus_retry: protocol that the link uses or last used; AUTO: it was
	 * never up.
	 */
	TORUS_A_RETRY,
	TORUS_A_RETRY_WANTED,	/* u8, enum torus_retry: protocol that the port asks for */
	TORUS_A_LANES,	/* nest of nest, enum torus_lane_attr: lane + 1 */
	TORUS_A_LANE,	/* u8 */
	/*
	 * Binary: EYE_ROWS rows of EYE_COLS bytes, each -log10 of the bit error rate
	 * there, 0 to 18.
	 */
	TORUS_A_EYE,
	TORUS_A_SWING,	/* u16: mV from the centre of an eye map to its edge */
	TORUS_A_MASK_HEIGHT,	/* u16: mV from the centre of the mask */
	TORUS_A_MASK_WIDTH,	/* u16: 1/1000 UI from the centre of the mask */
	TORUS_A_RELAY_PACKETS,	/* u32: most packets that the NIC holds for others as a relay */
	TORUS_A_PAYLOAD_MAX,	/* u32: payload of its largest packet */
	TORUS_A_STATE_AGE,	/* u64: ns that the link has been in its state */
	TORUS_A_UPTIME,	/* u64: ns since the NIC started */
	/* U64: epoch of the root that the NIC obeys, or that gives the command; 0: none. */
	TORUS_A_ROOT_EPOCH,
	TORUS_A_ROOT_GUID,	/* u64: its GUID; goes with ROOT_EPOCH */
	/* U64: ROOT_EPOCH of the commit of the active rows; 0: it had none, or no commit. */
	TORUS_A_ROWS_EPOCH,
	/* Nest of nest, enum torus_park_flow_attr: flow + 1, as they were parked. */
	TORUS_A_PARK_FLOWS,
	TORUS_A_PARK_MORE,	/* u64: parked packets that PARK_FLOWS does not count */
	/*
	 * U8, enum torus_differs: with reason MISMATCH or BUBBLE; a later driver may
	 * report others.
	 */
	TORUS_A_DIFFERS,
	TORUS_A_DIFFERS_OWN,	/* u32: value of this end */
	TORUS_A_DIFFERS_PEER,	/* u32: value of the peer, as it reports it */
	/*
	 * Binary: prefix of the nodes' IPv4 addresses, as in a packet; bits after
	 * NET4_LEN are 0.
	 */
	TORUS_A_NET4,
	TORUS_A_NET4_LEN,	/* u8: length of NET4 */
	TORUS_A_NET6,	/* binary: likewise, IPv6 */
	TORUS_A_NET6_LEN,	/* u8: length of NET6 */
	__TORUS_A_MAX,
};
#define TORUS_A_MAX (__TORUS_A_MAX - 1)

/* Consecutive rows of the routing table. */
enum torus_rows_attr {
	TORUS_ROWS_UNSPEC,
	TORUS_ROWS_FIRST,	/* u32: node id of the first row in DATA */
	TORUS_ROWS_DATA,	/* array of u64: rows */
	__TORUS_ROWS_MAX,
};
#define TORUS_ROWS_MAX (__TORUS_ROWS_MAX - 1)

/*
 * A lane of a link's receiver: result of training, and its eye when last measured.
 */
enum torus_lane_attr {
	TORUS_LANE_A_UNSPEC,
	TORUS_LANE_A_STATE,	/* u8, enum torus_lane_state */
	TORUS_LANE_A_PRE,	/* u8: setting of the pre-cursor tap */
	TORUS_LANE_A_POST,	/* u8: setting of the post-cursor tap */
	TORUS_LANE_A_HEIGHT,	/* u16: of the eye from its centre, mV */
	TORUS_LANE_A_WIDTH,	/* u16: of the eye from its centre, 1/1000 UI */
	TORUS_LANE_A_MARGIN,	/* u16: size of the largest mask that fits, percent */
	TORUS_LANE_A_BER,	/* u64: expected bit error rate, units of 1e-18 */
	/* U8: setting of the receiver's linear equaliser + 1; 0: the driver sets none. */
	TORUS_LANE_A_CTLE,
	/*
	 * U8: setting of the first tap of its decision feedback + 1; 0: the driver sets
	 * none.
	 */
	TORUS_LANE_A_DFE,
	__TORUS_LANE_A_MAX,
};
#define TORUS_LANE_A_MAX (__TORUS_LANE_A_MAX - 1)

/* Parked packets of one flow. */
enum torus_park_flow_attr {
	TORUS_PARK_FLOW_A_UNSPEC,
	TORUS_PARK_FLOW_A_FROM,	/* u32: node id of its source */
	TORUS_PARK_FLOW_A_TO,	/* u32: node id of its destination */
	TORUS_PARK_FLOW_A_VC,	/* u8, enum torus_vc */
	TORUS_PARK_FLOW_A_PACKETS,	/* u64 */
	TORUS_PARK_FLOW_A_BYTES,	/* u64: that they take in the segment */
	TORUS_PARK_FLOW_A_AGE,	/* u64: ns since the oldest was parked */
	__TORUS_PARK_FLOW_A_MAX,
};
#define TORUS_PARK_FLOW_A_MAX (__TORUS_PARK_FLOW_A_MAX - 1)

/*
 * Faults that a software NIC injects into what it sends; and the cable that it receives
 * from (kernel/core/serdes_model.h).
 */
enum torus_fault_attr {
	TORUS_FAULT_UNSPEC,
	TORUS_FAULT_BER,	/* u64: bit error rate in units of 1e-18 */
	TORUS_FAULT_SILENCE,	/* u8: 1: neither send nor receive, 2: send nothing */
	TORUS_FAULT_LATENCY,	/* u64: ns added to every frame */
	TORUS_FAULT_SEED,	/* u64: of bit errors, of VB, and of differences between lanes */
	TORUS_FAULT_CABLE,	/* u32: length, cm; 0: no cable is modelled */
	TORUS_FAULT_LOSS,	/* u32: mdB per metre at the highest rate */
	TORUS_FAULT_CROSSTALK,	/* u32: from each neighbouring lane, per mille */
	TORUS_FAULT_DRIFT,	/* u32: how far the loss swings around its mean, per mille */
	TORUS_FAULT_AGEING,	/* u32: mdB per second that aged lanes lose */
	TORUS_FAULT_AGED,	/* u16: mask of lanes */
	TORUS_FAULT_DEAD,	/* u16: mask of lanes */
	/* U32: temperature of the cable, K; LOSS is the loss at 293. */
	TORUS_FAULT_TEMPERATURE,
	/*
	 * U64: share of packets before which a copy marked bad (VB) is sent, in units
	 * of 1e-18.
	 */
	TORUS_FAULT_VB,
	__TORUS_FAULT_MAX,
};
#define TORUS_FAULT_MAX (__TORUS_FAULT_MAX - 1)

/* Counters: of a port; their form is that of node-counters. */
#define TORUS_PORT_COUNTER_LIST(X) \
	X(TX_PACKETS, tx_packets, packets, "sequenced packets sent, first time") \
	X(TX_FLITS, tx_flits, flits, "flits of tx_packets") \
	X(TX_BYTES, tx_bytes, bytes, "payload bytes of tx_packets") \
	X(TX_FRAMES, tx_frames, frames, "frames sent") \
	X(RX_PACKETS, rx_packets, packets, "sequenced packets accepted") \
	X(RX_FLITS, rx_flits, flits, "flits of rx_packets") \
	X(RX_BYTES, rx_bytes, bytes, "payload bytes of rx_packets") \
	X(RX_FRAMES, rx_frames, frames, "frames received") \
	X(RETRIES, retries, events, "times the sender went back in its RETRY buffer") \
	X(REPLAYED_PACKETS, replayed_packets, packets, "packets sent again from the RETRY buffer") \
	X(CRC_ERRORS, crc_errors, packets, "packets whose LCRC or ECRC was wrong") \
	X(SEQ_ERRORS, seq_errors, packets, "packets ahead of the expected TSEQ") \
	X(DUPLICATES, duplicates, packets, "packets that had been received before") \
	X(MALFORMED, malformed, packets, "frames or packets of no valid form") \
	X(E_SENT, e_sent, events, "reception errors reported to the peer") \
	X(E_RECEIVED, e_received, events, "reception errors reported by the peer") \
	X(VB_DROPS, vb_drops, packets, "packets marked bad upstream (VB) and dropped") \
	X(CREDIT_STALLS, credit_stalls, events, "times a packet waited for a credit or bubble") \
	X(MGMT_TX, mgmt_tx, packets, "management packets sent") \
	X(MGMT_RX, mgmt_rx, packets, "management packets received") \
	X(MGMT_DROPS, mgmt_drops, packets, "management packets refused: queue full") \
	X(RETRAINS, retrains, events, "trainings begun") \
	X(STATE_CHANGES, state_changes, events, "changes of link state") \
	X(NS_DOWN, ns_down, ns, "time down") \
	X(NS_TRAINING, ns_training, ns, "time training, initialising, retraining") \
	X(NS_UP, ns_up, ns, "time up") \
	X(NS_FAULTY, ns_faulty, ns, "time faulty") \
	X(EYE_RETRAINS, eye_retrains, events, "retrainings because the eye of a lane became too small for the mask") \
	X(LANES_SHED, lanes_shed, lanes, "lanes that a training switched off") \
	X(TRAIN_FAILURES, train_failures, events, "trainings that left no lane") \
	X(TX_VCD0, tx_vcd0, packets, "data packets sent on VCD0, first time") \
	X(TX_VCD1, tx_vcd1, packets, "likewise, VCD1") \
	X(TX_VCA, tx_vca, packets, "likewise, VCA") \
	X(STALLS_VCD0, stalls_vcd0, events, "of credit_stalls, for VCD0") \
	X(STALLS_VCD1, stalls_vcd1, events, "likewise, VCD1") \
	X(STALLS_VCA, stalls_vca, events, "likewise, VCA") \
	X(ACKS_SENT, acks_sent, packets, "ACK packets sent (protocol acknak)") \
	X(ACKS_RECEIVED, acks_received, packets, "ACK packets received") \
	X(NAKS_SENT, naks_sent, packets, "NAK packets sent (protocol acknak)") \
	X(NAKS_RECEIVED, naks_received, packets, "NAK packets received") \
	X(REPLAY_TIMEOUTS, replay_timeouts, events, "of retries, those after replay_timeout without an acknowledgement") \
	X(BUBBLE_REQUESTS, bubble_requests, events, "false packets requested because only bubbles were free (MBS)") \
	X(BUBBLE_RESPONSES, bubble_responses, packets, "false packets sent (MBS)") \
	X(ERROR_SECONDS, error_seconds, events, "seconds with damaged packets; each begins with such a packet")

enum torus_port_counter {
#define TORUS_X_(id, name, unit, help) TORUS_PC_##id,
	TORUS_PORT_COUNTER_LIST(TORUS_X_)
#undef TORUS_X_
	TORUS_PC_COUNT,
};

/*
 * Counters: gauges of a port, which rise and fall; their form is that of node-counters.
 */
#define TORUS_PORT_GAUGE_LIST(X) \
	X(RETRY_PACKETS, retry_packets, packets, "packets in the RETRY buffer") \
	X(RETRY_FLITS, retry_flits, flits, "flits in the RETRY buffer") \
	X(CREDITS_VCD0, credits_vcd0, slots, "free packet buffers at the peer, VCD0") \
	X(CREDITS_VCD1, credits_vcd1, slots, "free packet buffers at the peer, VCD1") \
	X(CREDITS_VCA, credits_vca, slots, "free packet buffers at the peer, VCA") \
	X(QUEUED_PACKETS, queued_packets, packets, "packets in the input buffers") \
	X(LANES, lanes, lanes, "lanes the receiver has; 0: no SerDes") \
	X(WIDTH, width, lanes, "lanes it uses") \
	X(RATE, rate, Mb/s, "rate of each") \
	X(RATE_MAX, rate_max, Mb/s, "highest rate of each") \
	X(MARGIN, margin, percent, "largest mask that fits the worst lane's eye, relative to the configured one") \
	X(LINE_BER, line_ber, 1e-18, "bit error rate expected from the eyes") \
	X(MARGIN_TRAIN, margin_train, percent, "margin that a lane must reach in training") \
	X(WAITED, waited, ns, "time for which packets on VCD0 or VCD1 have waited without one being sent") \
	X(CTTR, cttr, number, "TSEQ of the next packet to enter the RETRY buffer") \
	X(CTRP, ctrp, number, "TSEQ expected next from the peer") \
	X(CT_VCD0, ct_vcd0, slots, "packet buffers taken at the peer, VCD0") \
	X(CT_VCD1, ct_vcd1, slots, "likewise, VCD1") \
	X(CT_VCA, ct_vca, slots, "likewise, VCA") \
	X(N_INP_VCD0, n_inp_vcd0, slots, "packet buffers that the peer has, VCD0") \
	X(N_INP_VCD1, n_inp_vcd1, slots, "likewise, VCD1") \
	X(N_INP_VCA, n_inp_vca, slots, "likewise, VCA") \
	X(WIRE, wire, number, "wire version that the link speaks; 0: none yet") \
	X(PEER_RATE, peer_rate, Mb/s, "rate of all lanes that the peer's receiver uses; 0: not reported") \
	X(CRITICAL_VCD0, critical_vcd0, slots, "of credits_vcd0, those that are critical bubbles (CBS, MBS)") \
	X(CRITICAL_VCD1, critical_vcd1, slots, "likewise, of credits_vcd1") \
	X(ROUND_TRIP, round_trip, ns, "shortest time to an acknowledgement in the last second with traffic; 0: unknown")

enum torus_port_gauge {
#define TORUS_X_(id, name, unit, help) TORUS_PG_##id,
	TORUS_PORT_GAUGE_LIST(TORUS_X_)
#undef TORUS_X_
	TORUS_PG_COUNT,
};

/*
 * Counters: 64 bit, monotone; the name of a counter is its key in JSON, and its doc
 * begins with its unit.
 */
#define TORUS_NODE_COUNTER_LIST(X) \
	X(INJECTED, injected, packets, "packets the host injected") \
	X(DELIVERED, delivered, packets, "packets delivered to the host") \
	X(FORWARDED, forwarded, packets, "packets passed from port to port") \
	X(PARKED, parked, packets, "packets parked in memory; one that the peer may have is counted once that is known") \
	X(REPLAYED, replayed, packets, "parked packets that were sent on") \
	X(UNREACHABLE, unreachable, packets, "packets without a valid row") \
	X(RETURNED, returned, packets, "own packets that came back as unreachable") \
	X(DUPLICATES, duplicates, packets, "packets delivered before and discarded") \
	X(REORDERED, reordered, packets, "packets that waited for an earlier one of their flow") \
	X(LOST, lost, packets, "packets missing in a flow and given up") \
	X(HELD, held, packets, "packets that waited at the source on a hold") \
	X(HOST_MESSAGES_TX, host_messages_tx, messages, "messages of the host that were sent") \
	X(HOST_MESSAGES_RX, host_messages_rx, messages, "messages given to the host") \
	X(HOST_BYTES_TX, host_bytes_tx, bytes, "bytes of host_messages_tx") \
	X(HOST_BYTES_RX, host_bytes_rx, bytes, "bytes of host_messages_rx") \
	X(HOST_DROPS, host_drops, messages, "messages of the host, or for it, that were refused or had no room") \
	X(RELAYED_TX, relayed_tx, packets, "packets sent by way of a relay") \
	X(RELAYED_RX, relayed_rx, packets, "packets that came here by way of a relay") \
	X(RELAY_FORWARDED, relay_forwarded, packets, "packets taken in and sent on as a relay") \
	X(RELAY_WAITED, relay_waited, packets, "packets that waited at the source for the relay window") \
	X(RELAY_DROPS, relay_drops, packets, "acknowledgements and returns that were dropped for lack of room") \
	X(HOST_MERGED, host_merged, messages, "datagrams given to the host together with others of their flow") \
	X(ESCAPED, escaped, packets, "adaptive packets that had to change to VCD0, the escape channel") \
	X(REROUTED, rerouted, packets, "adaptive packets of a failed link's RETRY buffer sent another way") \
	X(UNSURE, unsure, packets, "adaptive packets that a lost neighbour may have had: they may arrive twice") \
	X(HOST_WAITED, host_waited, messages, "messages of the host set aside, because packets to their destination were stuck") \
	X(HOST_STUCK, host_stuck, messages, "of host_drops, messages to a destination to which packets were stuck for too long") \
	X(HOST_TX_DROPS, host_tx_drops, messages, "of host_drops, messages of the host; the others were for it") \
	X(HOST_RX_DROPS, host_rx_drops, messages, "of host_drops, messages for the host") \
	X(RMA_ISSUED, rma_issued, requests, "requests of remote memory that this node sent") \
	X(RMA_REFUSED, rma_refused, requests, "of rma_issued, requests that their owner refused") \
	X(RMA_UNREACHABLE, rma_unreachable, requests, "of rma_issued, requests that came back for lack of a path or of remote memory") \
	X(RMA_LOST, rma_lost, requests, "of rma_issued, requests that were not executed, because hardware died with them") \
	X(RMA_UNKNOWN, rma_unknown, requests, "of rma_issued, requests that were perhaps executed, by a node that died or restarted") \
	X(RMA_LATE, rma_late, replies, "replies to requests that had ended") \
	X(RMA_FORGED, rma_forged, replies, "replies that cannot be right") \
	X(RMA_EXECUTED, rma_executed, requests, "requests that this node executed in its memory") \
	X(RMA_WAITED, rma_waited, requests, "requests that waited here for a full/empty bit or a comparison") \
	X(RMA_NAKS, rma_naks, requests, "requests that this node refused") \
	X(RMA_BYTES_TX, rma_bytes_tx, bytes, "bytes that others have read from this node's memory") \
	X(RMA_BYTES_RX, rma_bytes_rx, bytes, "bytes that others have written to it") \
	X(RMA_REPLY_DROPS, rma_reply_drops, replies, "replies that had no row, or no room while their node was on hold")

enum torus_node_counter {
#define TORUS_X_(id, name, unit, help) TORUS_NC_##id,
	TORUS_NODE_COUNTER_LIST(TORUS_X_)
#undef TORUS_X_
	TORUS_NC_COUNT,
};

/*
 * Counters: counters that a recovery adds up over all nodes; a NIC has one of each for
 * every colour.
 */
#define TORUS_FLOW_COUNTER_LIST(X) \
	X(INJECTED, injected, packets, "VCD packets stamped and put into the network") \
	X(DELIVERED, delivered, packets, "VCD packets that ended at their destination") \
	X(PARKED, parked, packets, "VCD packets that ended in a parking segment") \
	X(UNREACHABLE, unreachable, packets, "VCD packets that ended as unreachable") \
	X(REPLAY_TX, replay_tx, packets, "parked packets re-injected, by new colour") \
	X(REPLAY_RX, replay_rx, packets, "replayed packets that ended at their destination") \
	X(REPLAY_PARKED, replay_parked, packets, "replayed packets that ended parked or unreachable") \
	X(LINK_RX, link_rx, packets, "VCD packets accepted from neighbours") \
	X(LINK_TX, link_tx, packets, "VCD packets that neighbours said they have")

enum torus_flow_counter {
#define TORUS_X_(id, name, unit, help) TORUS_FC_##id,
	TORUS_FLOW_COUNTER_LIST(TORUS_X_)
#undef TORUS_X_
	TORUS_FC_COUNT,
};

#endif /* _UAPI_LINUX_TORUS_ABI_H */
