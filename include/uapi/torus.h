/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Generic netlink family "torus": the ABI between a torus NIC and the programs that manage it. Two
 * transports carry the same messages:
 *
 *   - the kernel's generic netlink, served by torus.ko;
 *   - a SOCK_SEQPACKET Unix socket, served by torusemu. One datagram holds
 *     whole netlink messages (nlmsghdr, genlmsghdr, attributes), nlmsg_type is
 *     TORUS_EMU_FAMILY, at most TORUS_MSG_MAX bytes a datagram.
 *
 * Every request is answered: a do by its reply (if it has one) and, with NLM_F_ACK or on error, by
 * NLMSG_ERROR (extended ack text in NLMSGERR_ATTR_MSG); a dump by NLM_F_MULTI messages and
 * NLMSG_DONE. A subscriber that is too slow loses notifications, and gets an error: ENOBUFS on a
 * netlink socket, a message NLMSG_OVERRUN on the Unix socket. Any process that can reach the
 * transport may use gets; all other commands need CAP_NET_ADMIN (on the Unix socket: root).
 * Integers are in host order. Unknown attributes are refused. torus_abi.h has the commands and
 * attributes; it is generated from torus.yaml, a specification in the format of the kernel's.
 */
#ifndef _UAPI_LINUX_TORUS_H
#define _UAPI_LINUX_TORUS_H

#include <linux/types.h>

#include "torus_abi.h"

#define TORUS_GENL_NAME		"torus"
#define TORUS_GENL_VERSION	1
#define TORUS_EMU_FAMILY	0x7001	/* nlmsg_type on the Unix socket */
#define TORUS_NO_NODE		0xffffffff

/*
 * RTM_NEWLINK of kind "torus" makes a kernel NIC and its interface; RTM_DELLINK, or the end of
 * their network namespace, deletes them. Attributes of IFLA_INFO_DATA, all of them optional:
 */
enum torus_ifla {
	IFLA_TORUS_UNSPEC,
	IFLA_TORUS_PAD,
	IFLA_TORUS_PORTS,	/* u8: 2 .. TORUS_MAX_PORTS, even; default: 6 */
	IFLA_TORUS_NAME,	/* string: 1 to TORUS_NAME_MAX bytes; default: name of the netdev */
	IFLA_TORUS_GUID,	/* u64: not 0; default: random */
	IFLA_TORUS_BOOTSTRAP,	/* u8: 0, 1 */
	IFLA_TORUS_EPOCH,	/* u32, read only: new at every start of the NIC */
	/* Parameters; types and ranges are in TORUS_PARAM_LIST, times are in ns. */
	IFLA_TORUS_KEEPALIVE,	/* longest time between packets of an idle link */
	IFLA_TORUS_SILENCE,	/* a link that receives nothing for this long is faulty */
	IFLA_TORUS_ACK_DELAY,	/* longest time that an acknowledgement or credit is delayed */
	IFLA_TORUS_REPLAY_TIMEOUT,	/* retransmit after this time without an acknowledgement */
	IFLA_TORUS_RETRY_TIME,	/* a link is faulty after this time, with RETRY_COUNT tries */
	IFLA_TORUS_RETRY_COUNT,
	IFLA_TORUS_INIT_INTERVAL,	/* between attempts to bring a link up */
	IFLA_TORUS_PROBE_INTERVAL,	/* between attempts to bring a faulty link up */
	IFLA_TORUS_RETRAIN_TIME,	/* longest time of a retraining */
	IFLA_TORUS_GAP_TIME,	/* longest time that packets wait for a missing earlier one */
	IFLA_TORUS_RETRY_PACKETS,	/* size of a RETRY buffer */
	IFLA_TORUS_SLOTS,	/* packet buffers of each VC of each input */
	IFLA_TORUS_FRAME_MAX,	/* most bytes of a frame, if the MTU allows */
	IFLA_TORUS_PARK_BYTES,	/* size of the parking segment */
	IFLA_TORUS_HOLD_BYTES,	/* most bytes of packets that a hold keeps at the source */
	IFLA_TORUS_EYE_INTERVAL,	/* between measurements of the eyes of a receiver */
	IFLA_TORUS_TARGET_BER,	/* target bit error rate of a lane, in units of 1e-18 */
	IFLA_TORUS_MASK_HEIGHT,	/* of the mask in the eye, from its centre, mV */
	IFLA_TORUS_MASK_WIDTH,	/* of the mask in the eye, from its centre, 1/1000 UI */
	IFLA_TORUS_MARGIN_TRAIN,	/* percent of the mask that a lane must reach in training */
	IFLA_TORUS_MARGIN_RETRAIN,	/* percent of the mask below which the link trains again */
	IFLA_TORUS_RELAY_PACKETS, /* most packets held for other nodes as a relay */
	IFLA_TORUS_PAYLOAD_MAX,	/* most bytes of payload of a packet; the same in a fabric */
	IFLA_TORUS_RETRY,	/* enum torus_retry: what ports ask for at first */
	IFLA_TORUS_PACE,	/* send at 1/PACE of the peer's receiver rate; 0: all */
	IFLA_TORUS_BUBBLE,	/* enum torus_bubble: how packets enter a ring; same in a fabric */
	IFLA_TORUS_DSCP_VCD1,	/* bit N: the host's messages with DSCP N are sent on VCD1 */
	IFLA_TORUS_DSCP_VCA,	/* the same for VCA; VCD1 if both have the bit */
	__IFLA_TORUS_MAX,
};
#define IFLA_TORUS_MAX (__IFLA_TORUS_MAX - 1)

/*
 * The NIC is the master of the Ethernet devices of its ports. Attributes of their
 * IFLA_INFO_SLAVE_DATA:
 */
enum torus_ifla_slave {
	IFLA_TORUS_SLAVE_UNSPEC,
	IFLA_TORUS_SLAVE_PORT,	/* u8, read only: port of the NIC that has the device */
	__IFLA_TORUS_SLAVE_MAX,
};
#define IFLA_TORUS_SLAVE_MAX (__IFLA_TORUS_SLAVE_MAX - 1)

/*
 * Ports and directions have the same numbers: with n dimensions, port d is +d and port n + d is -d.
 * This is also the direction order of routing: +x +y +z ... -x -y -z ...
 */

/**
 * struct torus_shape - nodes along each dimension
 * @ndims: 1 to TORUS_MAX_DIMS
 * @size: 1 to TORUS_MAX_SIZE each, product at most TORUS_MAX_NODES; entries
 *	from @ndims on are 1
 */
struct torus_shape {
	__u8 ndims;
	__u16 size[TORUS_MAX_DIMS];
};

/**
 * struct torus_plan - address plan: the prefixes of the IP addresses of all nodes
 * @net4: IPv4 prefix, as in a packet; bits after its length are 0
 * @len4: length of @net4: 1 to 32, such that each node has an address
 * @net6: IPv6 prefix, as in a packet; bits after its length are 0
 * @len6: length of @net6: 1 to 128
 */
struct torus_plan {
	__u8 net4[4];
	__u8 len4;
	__u8 net6[16];
	__u8 len6;
};

/** struct torus_coords - coordinates of a node; entries past ndims are 0 */
struct torus_coords {
	__u16 c[TORUS_MAX_DIMS];
};

/*
 * Routing row: one __u64 for each destination node id.
 *
 *   bits  0-11  DIR: one per direction; a transit router moves in the first
 *               set direction whose coordinate is not yet reached
 *        12-15  first step: a direction, or 15 for none; taken at the source
 *        16-19  last step: a direction, or 15 for none; taken when all
 *               coordinates of (destination minus last step) are reached
 *        20-31  adaptive DIR bits, for VCA; if both of a dimension are set, the first
 *               hop along it decides
 *        32-55  relay node id (meaningful if RELAY is set)
 *        56     VALID   57 HOLD   58 ADAPTIVE allowed   59 RELAY
 *        60-63  row format, 0
 */
#define TORUS_ROW_DIR_SHIFT	0
#define TORUS_ROW_FIRST_SHIFT	12
#define TORUS_ROW_LAST_SHIFT	16
#define TORUS_ROW_ADAPT_SHIFT	20
#define TORUS_ROW_RELAY_SHIFT	32
#define TORUS_ROW_DIR_MASK	0xfffULL
#define TORUS_ROW_STEP_MASK	0xfULL
#define TORUS_ROW_NODE_MASK	0xffffffULL
#define TORUS_ROW_NO_STEP	15
#define TORUS_ROW_VALID		(1ULL << 56)
#define TORUS_ROW_HOLD		(1ULL << 57)
#define TORUS_ROW_ADAPTIVE	(1ULL << 58)
#define TORUS_ROW_RELAY		(1ULL << 59)

#endif /* _UAPI_LINUX_TORUS_H */
