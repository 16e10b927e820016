/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One NIC by itself: the test plays its host and all of its neighbours, packet by packet and
 * nanosecond by nanosecond. Nothing happens except what the test does.
 */
#ifndef TESTS_LONE_H
#define TESTS_LONE_H

#include "tests/flits.h"
#include "tests/unit/cable.h"
#include "kernel/core/nic_impl.h"

#define LONE_EVENTS	32
#define LONE_SENT	256	/* most packets in a frame */
#define LONE_GUID	1000	/* GUID of the NIC; that of the neighbour on port p is 2000 + p */

/**
 * struct neighbour - what the test has sent and received on one port
 * @nonce, @attempt, @slots, @highest: of its INITs
 * @received: the NIC's last INIT
 * @seed: of LCRCs, once the link is up
 * @tseq: of its next packet; @rseq: expected from the NIC
 */
struct neighbour {
	u32 nonce;
	u32 attempt;
	u16 slots;
	u8 highest;
	struct tn_init received;
	u32 seed;
	u16 tseq, rseq;
};

/** struct sent - a packet in the NIC's last frame; @flits: where it begins */
struct sent {
	struct tn_hdr hdr;
	struct tn_tail tail;
	struct tn_via via;
	const u8 *flits;
	const u8 *payload;
};

/**
 * struct lone
 * @table: memory of rows and flows; @spare: another block of that size
 * @no_memory, @no_park, @busy: the host has no packets, has no parking memory, takes nothing
 * @got: packets that were delivered
 * @parks: how many packets were moved to parking memory
 * @kept: how often a packet was to be kept; @each: bytes that it then holds, 0: its flits
 * @mgmt, @mgmt_port, @mgmt_len: the last management packet; @mgmts: how many
 * @mgmt_full: the host has no room for another
 * @event: events that the NIC reported; @events: how many
 * @random: the next random number
 * @sent: packets of the last frame, @nsent of them, in @frame bytes
 */
struct lone {
	u64 now;
	struct torus_shape shape;
	struct tn_params params;
	struct tn_nic_config cfg;
	struct tn_ops ops;
	struct tn_nic *nic;
	void *table, *spare;
	struct memory mem;
	bool no_memory, no_park, busy;
	struct tn_queue got;
	u32 parks;
	u32 kept, each;
	u8 mgmt[TORUS_MGMT_MAX];
	u32 mgmts, mgmt_port, mgmt_len;
	bool mgmt_full;
	struct tn_event event[LONE_EVENTS];
	u32 events;
	u32 random;
	struct neighbour peer[TORUS_MAX_PORTS];
	u8 frame[65536];
	u32 bytes;
	struct tn_frame tn;
	struct sent sent[LONE_SENT];
	u32 nsent;
};

/*
 * Makes node @node of a torus such as "3x3"; @tune may change cfg and params. No port has a carrier
 * yet.
 */
void lone_start(struct lone *l, const char *shape, u32 node, void (*tune)(struct lone *l));
/* Frees the NIC; the test fails unless all packets have been given back. */
void lone_end(struct lone *l);

/** lone_link() - the link of @port */
static inline struct tn_link *lone_link(struct lone *l, unsigned int port)
{
	return &l->nic->link[port];
}

static inline u64 lone_pc(struct lone *l, unsigned int port, enum torus_port_counter c)
{
	return tn_nic_port_counters(l->nic, port, l->now)[c];
}

static inline u64 lone_nc(struct lone *l, enum torus_node_counter c)
{
	return tn_nic_counters(l->nic)[c];
}

/* The sum over all colours of a flow counter of VCD packets. */
u64 lone_fc(struct lone *l, enum torus_flow_counter c);

/*
 * The next INIT of the neighbour, for the test to change. If @nonce changes, it is a new attempt.
 */
struct tn_init lone_init_of(struct lone *l, unsigned int port);
void lone_init(struct lone *l, unsigned int port, const struct tn_init *i);
/* Gives @port its carrier and makes the handshake; afterwards the NIC has nothing more to send. */
void lone_up(struct lone *l, unsigned int port);
void lone_all_up(struct lone *l);

/**
 * lone_make() - makes a packet of the neighbour, with its checksums
 * @h: its TSEQ (except of IDLE) and RSEQ are added to the neighbour's present ones
 * @t: its ECRC is added to the right one: 0 makes a right one
 * @payload: h->len flits, or NULL: any
 * Return: how many bytes of @flits it takes.
 */
u32 lone_make(struct lone *l, unsigned int port, u8 *flits, struct tn_hdr h, struct tn_tail t,
	      const struct tn_via *via, const u8 *payload);
void lone_rx(struct lone *l, unsigned int port, const u8 *bytes, u32 len);
/* Makes a packet and receives it; the neighbour goes on to its next TSEQ. */
void lone_rx_pkt(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t);
void lone_rx_pkt_via(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t,
		     struct tn_via via);
/* The neighbour acknowledges all that it was sent. */
void lone_ack(struct lone *l, unsigned int port);

/** lone_tx() - takes the next frame of @port into sent[]. Return: how many packets are in it. */
u32 lone_tx(struct lone *l, unsigned int port);
/*
 * Takes all frames of @port. Return: how many DATA and UNREACH packets they have; the last one is
 * sent[0].
 */
u32 lone_drain(struct lone *l, unsigned int port);

/** lone_row() - writes one row, in a table of the next version */
void lone_row(struct lone *l, u32 dst, u64 row);
/* A row with these DIR bits, without steps. */
static inline u64 lone_dirs(u64 dirs)
{
	return TORUS_ROW_VALID | dirs | 15ull << TORUS_ROW_FIRST_SHIFT |
	       15ull << TORUS_ROW_LAST_SHIFT;
}

/*
 * Sends a packet of @len flits from the host. Return: that of tn_nic_send(); a refused packet is
 * freed.
 */
int lone_send(struct lone *l, u32 dst, unsigned int vc, u16 len);
/** lone_idle() - Return: true if no input of the NIC is marked as one that has packets */
bool lone_idle(const struct lone *l);
/* Takes the first packet that was delivered, or NULL. The test frees it with lone_free(). */
struct tn_pkt *lone_got(struct lone *l);
void lone_free(struct lone *l, struct tn_pkt *pkt);
/* Frees all packets that were delivered. Return: how many. */
u32 lone_clear(struct lone *l);
/* How many events of @type came since the last call of lone_events(), which forgets all events. */
u32 lone_events(struct lone *l, u8 type);

#endif /* TESTS_LONE_H */
