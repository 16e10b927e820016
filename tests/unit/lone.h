/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One NIC alone: the test plays its host and all of its neighbours, packet by packet and
 * nanosecond by nanosecond. Nothing happens but what the test does.
 */
#ifndef TESTS_LONE_H
#define TESTS_LONE_H

#include "tests/flits.h"
#include "tests/unit/cable.h"
#include "kernel/core/nic_impl.h"

#define LONE_EVENTS	32
#define LONE_SENT	256	/* packets of a frame */
#define LONE_GUID	1000	/* of the NIC; of the neighbour on port p: 2000 + p */

/**
 * struct neighbour - what the test says and has heard on one port
 * @nonce, @attempt, @slots: of its INITs
 * @heard: the NIC's last INIT
 * @seed: of LCRCs, once up
 * @tseq: of its next packet; @rseq: expected from the NIC
 */
struct neighbour {
	u32 nonce;
	u32 attempt;
	u16 slots;
	struct tn_init heard;
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
 * @table: rows and flows; @spare: another memory of the size
 * @no_memory, @no_park, @busy: the host has no packets, no parking memory, takes nothing
 * @got: packets that were delivered
 * @parks: packets that were moved to parking memory
 * @mgmt, @mgmt_port, @mgmt_len: the last management packet; @mgmts: how many
 * @event: what was told; @events: how often
 * @random: the next random number
 * @sent: what is in the last frame, @nsent packets, @frame bytes
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
	u8 mgmt[TORUS_MGMT_MAX];
	u32 mgmts, mgmt_port, mgmt_len;
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

/* Node @node of "3x3"; @tune may change cfg and params. No carrier yet. */
void lone_start(struct lone *l, const char *shape, u32 node, void (*tune)(struct lone *l));
/* All packets are given back: else the test fails. */
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

/* A VCD flow counter, of all colours. */
u64 lone_fc(struct lone *l, enum torus_flow_counter c);

/* What an INIT of the neighbour says, to be changed. A new attempt: @nonce is new. */
struct tn_init lone_init_of(struct lone *l, unsigned int port);
void lone_init(struct lone *l, unsigned int port, const struct tn_init *i);
/* Carrier and handshake; afterwards the NIC has nothing more to say. */
void lone_up(struct lone *l, unsigned int port);
void lone_all_up(struct lone *l);

/**
 * lone_make() - a packet of the neighbour, sealed
 * @h: TSEQ (but for IDLE) and RSEQ are added to what the neighbour is at
 * @t: ECRC is added to what it should be: 0 is a right one
 * @payload: h->len flits, or NULL: some
 * Return: bytes of it in @flits.
 */
u32 lone_make(struct lone *l, unsigned int port, u8 *flits, struct tn_hdr h, struct tn_tail t,
	      const struct tn_via *via, const u8 *payload);
void lone_rx(struct lone *l, unsigned int port, const u8 *bytes, u32 len);
/* Made and received; the neighbour goes on to its next TSEQ. */
void lone_say(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t);
void lone_say_via(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t,
		  struct tn_via via);
/* The neighbour has everything that it was sent. */
void lone_ack(struct lone *l, unsigned int port);

/** lone_tx() - the next frame of @port into sent[]. Return: packets in it. */
u32 lone_tx(struct lone *l, unsigned int port);
/* All frames of @port. Return: DATA and UNREACH packets in them; the last is sent[0]. */
u32 lone_drain(struct lone *l, unsigned int port);

/** lone_rows() - one row, in a table of the next version */
void lone_row(struct lone *l, u32 dst, u64 row);
/* A row by DIR bits, without steps. */
static inline u64 lone_dirs(u64 dirs)
{
	return TORUS_ROW_VALID | dirs | 15ull << TORUS_ROW_FIRST_SHIFT |
	       15ull << TORUS_ROW_LAST_SHIFT;
}

/* The host's packet of @len flits. Return: of tn_nic_send(); not taken: it is freed. */
int lone_send(struct lone *l, u32 dst, unsigned int vc, u16 len);
/* Takes the first that was delivered. NULL: none. The test frees it by lone_free(). */
struct tn_pkt *lone_got(struct lone *l);
void lone_free(struct lone *l, struct tn_pkt *pkt);
/* Frees all that were delivered. Return: how many. */
u32 lone_clear(struct lone *l);
/* Events of @type since the last call of lone_told(), which forgets them all. */
u32 lone_told(struct lone *l, u8 type);

#endif /* TESTS_LONE_H */
