/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire format.
 *
 * A packet is a header flit, 0 to 1023 payload flits, a tail flit and, if RELAYED, a relay flit; a
 * flit is 16 bytes; numbers are little endian. The limit of the payload is the same in the whole
 * fabric (payload_max, nic.h). An Ethernet frame of type 0x88b5 holds packets back to back; a
 * header of type PAD (all zero) or the end of the frame ends them. An end of a cable keeps one
 * source address while the link is up, and takes frames to that address as well as to all stations:
 * the other end may send to the address that the link came up with, and drop frames of others.
 *
 * Header, two 64-bit words, bits from the least significant:
 *
 *   w0   0-2  type      3-4  VC       5   E         6  G       7  GE
 *        8-17 length, payload flits  18 RELAYED   19 NIC
 *       20-31 TSEQ    32-43 RSEQ
 *       44-45 VCCR.VC#  46-57 VCCR.CRP 58-59 colour 60-63 first step
 *   w1   0-23 destination  24-47 source  48-59 DIR bits  60-63 last step
 *
 * DIR bits may hold both directions of a dimension, on VCA only: the first hop along it decides. A
 * router clears the direction by which such a packet would go back to where it came from.
 *
 * Tail:
 *   0-3  ECRC: CRC-32C over the payload flits, then over 16 bytes: destination
 *        (4; of a RELAYED packet the final one), source (4), ESEQ (4), flags
 *        without REPLAYED (1), service (1), epoch (2). Set by the source and never
 *        changed on the way.
 *   4-7  LCRC: CRC-32C over the header flit, the tail flit with LCRC zero and the
 *        relay flit, if there is one, started from the seed of the link's up time (link.h) instead
 *        of ~0 (INIT packets: ~0).
 *        Computed again at every transmission.
 *   8-11 ESEQ: number of the packet in its flow (source, destination, service, VC)
 *   12   VB: 0xea: this copy is bad, another one follows (see Cut-through); else
 *        service: 0 messages of hosts, 1 remote memory (rma_wire.h; see Versions)
 *   13   bits 0-3 unused bytes at the end of the last payload flit,
 *        4 FIRST, 5 LAST packet of a message, 6 ADAPTIVE: the flow's VC is
 *        VCA, whatever VC carries it now, 7 REPLAYED from a parking segment
 *   14-15 epoch: version of the table by which the flow's numbering began, low
 *        16 bits (flow.h); of an UNREACH of a service other than 0: why the packet came
 *        back, enum tn_why
 *
 * Relay flit (relay.h); the header's destination is then that of the present leg:
 *   0-3  final destination   4-7  node in whose window it is; ~0: in none
 *   8-11 generation of that window   12-13 relays passed   14-15 zero
 *
 * NIC: a DATA packet between NICs, not for a host, 1 payload flit:
 *   0-3  meaning: 1 ASK, 2 ACK (relay.h)   4-7 generation   8-11 packets   12-15 zero
 *
 * Types. Sequenced packets take a TSEQ, wait in the RETRY buffer and are
 * accepted exactly once: DATA, CREDIT (no payload; carries VCCR when there is
 * no data to carry it), MGMT, UNREACH (DATA on its way back to its source,
 * which is now its destination). Unsequenced: IDLE (carries RSEQ and E), INIT,
 * ACKNAK.
 *
 * The TSEQ of an IDLE is that of the packet that goes next.
 *
 * Bubble policies (INIT byte 53; ring.h). With 1, CBS, and 2, MBS, VCCR.CRP is buffers freed, at
 * most 255 (bits 46-53), and how many of them are critical bubbles, VCD only (54-57). With MBS an
 * IDLE with NIC asks its receiver for a false packet on VC, VCD only. A false packet is a CREDIT
 * with NIC: it takes a packet buffer of VC, which is freed at once; destination: 1: it carries a
 * critical bubble of its sender's, else 0. With 0, BLOC, NIC in both is malformed.
 *
 * TSEQ, RSEQ, E, G and GE are those of the Angara protocol; retry_acknak.c and retry_hippi.c
 * describe their contents for the other protocols. ACKNAK is 8 bytes between packets:
 *   0-2 type   3 NAK   4-15 last good TSEQ   16-31 zero
 *   32-63 CRC-32C of the first 4 bytes, started from the seed of the LCRC
 *
 * Cut-through. This NIC stores a whole packet, and checks LCRC and ECRC, before it forwards any of
 * it. So all that it forwards is good, VB is 0, and a damaged packet is retransmitted on the link
 * that damaged it. A peer with cut-through has forwarded the header when it finds that the ECRC is
 * wrong. It then asks for the packet again, ends the forwarded copy with VB = 0xea and a right
 * LCRC, and forwards the good packet when that has arrived, with the next TSEQ. The receiver
 * accepts a packet with VB = 0xea as the next in sequence without checking its ECRC, sends no E,
 * drops it, counts it (vb_drops), and returns its packet buffer. The sums of a recovery do not
 * count it (link.h).
 *
 * E with RSEQ and GE: the receiver misses packet RSEQ; GE is the generation G of the last good
 * packet that it received. The sender inverts G with each replay, and obeys E only if GE is its
 * present G: one error causes one replay.
 *
 * INIT payload, 4 flits:
 *   0 lowest version spoken (4 bytes)   4 port (1)   5 flags (1: bit 0
 *   RESUME, bit 1 UP: the sender is up, no answer is needed, bits 2-3 retry
 *   protocol asked for: 0 any, 1 Angara, 2 ACK/NAK, 3 HIPPI)
 *   6 slot size, flits (2)  8 GUID (8)  16 epoch (4)
 *   20 own nonce (4)  24 nonce heard from the peer, 0 for none (4)
 *   28 last session (4)  32 RSEQ of the last session (2)
 *   34 first TSEQ of the new session (2)
 *   36 packet buffers of each VC (3 x 2)  42 of these occupied (3 x 2); CBS, MBS: not all of
 *   VCD0 or VCD1, else the receiver waits for an attempt that says so
 *   48 attempt (4): rises by one with each nonce of an epoch
 *   52 highest version spoken (1; 0: the lowest one is the only one)
 *   53 bubble policy (1): 0 BLOC, 1 CBS, 2 MBS; others are reserved
 *   54 Mb/s that the sender's receiver takes, all lanes together (4; 0: not announced)
 *   58 zero, not read (6)
 *
 * Versions. A link uses the highest version that both ends know. Their INITs contain the lowest and
 * the highest one; if they have none in common, the link stays down (reason mismatch), as it does
 * if a peer has fewer packet buffers than the bubble policy needs. Both ends compute the same
 * version from these four numbers, and a session keeps it through every retraining. An end that
 * knows only version 4 compares the first word with 4 and reads nothing after the attempt, so it
 * takes an INIT of an end that knows 4 to 5 for one of 4.
 *   4	The service byte and the last two bytes of a relay flit are written as zero and not read;
 *	the service byte is not forwarded.
 *   5	Both are reserved, and zero: a packet with another value is malformed, and its link
 *	fails. The ECRC covers the service byte, so no node on the path can set it. Ends whose
 *	bubble policies differ do not come up (reason bubble), so the header bits that a policy
 *	redefines need no version of their own.
 *   6	The service byte may be 1, in DATA without NIC and in UNREACH, on VCD0 and VCD1 and without
 *	ADAPTIVE. A NIC sends no such packet to a peer that speaks an earlier version: it sends
 *	the packet back as UNREACH and counts it as unreachable, as does a NIC that does not have
 *	the service with a packet to it; an UNREACH is dropped. The rest is as in version 5.
 * An INIT that gives a running link new sequence numbers (the RESYNC of other protocols) is in
 * no version; link.h says why a retraining does that better.
 *
 * Sources: Angara paper, "контроль целостности данных" and
 * fig. 3, 4 for TSEQ/RSEQ/E/VB/VCCR. G, GE, LCRC apart from ECRC, and ESEQ are
 * ours; link.h and flow.h say why.
 *
 * Tests. tests/unit/test_wire.c is a second implementation of this layout, bit by bit from a table.
 */
#ifndef TN_WIRE_H
#define TN_WIRE_H

#include "tn_deps.h"
#include <torus_uapi.h>

#define TN_ETHERTYPE	0x88b5
#define TN_WIRE_VERSION	6	/* newest wire version */
#define TN_WIRE_OLDEST	4	/* oldest wire version that this NIC still supports */
#define TN_WIRE_SERVICES 6	/* oldest wire version with services other than 0 */
#define TN_FLIT		16
#define TN_PAYLOAD_FLITS_MAX 1023
/* largest payload that the header can describe, bytes */
#define TN_PAYLOAD_MAX	(TN_PAYLOAD_FLITS_MAX * TN_FLIT)
/* the lower limit of payload_max: a management packet must fit */
#define TN_PAYLOAD_MIN	1024
#define TN_AROUND_MAX	(3 * TN_FLIT)	/* largest sum of header, tail and relay flit, bytes */
#define TN_PACKET_MAX	(TN_PAYLOAD_MAX + TN_AROUND_MAX)
#define TN_INIT_FLITS	4
#define TN_SEQ_MASK	0xfff
#define TN_CRP_MAX	0xfff
#define TN_ACKNAK_BYTES	8
#define TN_VB_BAD	0xea
#define TN_NO_STEP	15

enum tn_type {
	TN_PAD,
	TN_DATA,
	TN_IDLE,
	TN_CREDIT,
	TN_INIT,
	TN_MGMT,
	TN_UNREACH,
	TN_ACKNAK,		/* ACK or NAK of the ACK/NAK protocol: 8 bytes, no flits */
};

/**
 * struct tn_hdr - the fields of a header flit; see the layout above
 * @dst: destination, node id; of a packet through relays, that of the present leg
 * @src: source, node id
 * @len: payload flits, 0 to 1023
 * @dir: DIR bits, one for each direction
 * @crp: credits that are returned for @crp_vc, 0 to TN_CRP_MAX
 * @type: enum tn_type
 * @vc: enum torus_vc, by which the packet travels
 * @crp_vc: enum torus_vc
 * @colour: version of the rows, modulo TORUS_COLOURS
 * @first: direction of the first step, or TN_NO_STEP
 * @last: direction of the last step, or TN_NO_STEP
 * @relayed: 1: a relay flit follows the tail
 * @nic: 1: a DATA packet between NICs, or (bubble policies) a request or a false packet
 * @tseq: number of the packet on its link, 0 to TN_SEQ_MASK
 * @rseq: number that the sender expects next, 0 to TN_SEQ_MASK
 * @e: 1: the sender asks for a retransmission from @rseq on
 * @gen: generation bit G of the sender
 * @gen_echo: generation bit of the last good packet that the sender received
 */
struct tn_hdr {
	u32 dst;
	u32 src;
	u16 len;
	u16 dir;
	u16 crp;
	u8 type;
	u8 vc;
	u8 crp_vc;
	u8 colour;
	u8 first;
	u8 last;
	u8 relayed;
	u8 nic;
	u16 tseq;
	u16 rseq;
	u8 e;
	u8 gen;
	u8 gen_echo;
};

/**
 * tn_hdr_like() - Return: true if @a and @b have the same fields, except number and answer (tseq,
 * rseq, e, gen, gen_echo)
 */
static inline bool tn_hdr_like(const struct tn_hdr *a, const struct tn_hdr *b)
{
	const u8 *p = (const u8 *)a, *q = (const u8 *)b;

	/* 22 bytes, without padding (wire.c); memcmp() of so many would be a call */
	return !((tn_get_le64(p) ^ tn_get_le64(q)) | (tn_get_le64(p + 8) ^ tn_get_le64(q + 8)) |
		 (tn_get_le64(p + 14) ^ tn_get_le64(q + 14)));
}

/**
 * struct tn_via - the fields of a relay flit
 * @dst: final destination, node id
 * @payer: node in whose window the packet is; TORUS_NO_NODE: in none
 * @gen: generation of that window
 * @legs: relays passed so far
 */
struct tn_via {
	u32 dst;
	u32 payer;
	u32 gen;
	u16 legs;
};

enum tn_service { TN_SERVICE_HOST, TN_SERVICE_RMA };

/**
 * enum tn_why - why a packet of a service came back
 * @TN_WHY_PATH: a node on its path has no valid row for it
 * @TN_WHY_VERSION: a link on its path speaks a wire version before TN_WIRE_SERVICES
 * @TN_WHY_SERVICE: its destination does not have the service
 */
enum tn_why { TN_WHY_PATH, TN_WHY_VERSION, TN_WHY_SERVICE };

enum tn_nic_word { TN_NIC_ASK = 1, TN_NIC_ACK };

#define TN_TAIL_PAD	0x0f
#define TN_TAIL_FIRST	0x10
#define TN_TAIL_LAST	0x20
#define TN_TAIL_ADAPTIVE 0x40
#define TN_TAIL_REPLAYED 0x80

/**
 * struct tn_tail - the fields of a tail flit, without the LCRC
 * @ecrc: CRC-32C of the packet from end to end
 * @eseq: number of the packet in its flow
 * @epoch: version by which the flow is numbered, low 16 bits
 * @vb: TN_VB_BAD, or enum tn_service
 * @flags: TN_TAIL_*, and in bits 0-3 the unused bytes of the last payload flit
 */
struct tn_tail {
	u32 ecrc;
	u32 eseq;
	u16 epoch;
	u8 vb;
	u8 flags;
};

/**
 * struct tn_init - payload of an INIT packet
 * @guid: GUID of the sender's NIC
 * @lowest: lowest wire version that the sender speaks
 * @epoch: epoch of the sender's NIC, which differs after each restart of the NIC
 * @nonce: the sender's nonce
 * @nonce_received: the peer's nonce, as the sender received it; 0: none
 * @attempt: how many nonces the sender has drawn in @epoch
 * @last_session: the last session of the link
 * @last_rseq: number that the sender expected next in that session
 * @first_tseq: number of its first packet in the new session
 * @slot_flits: size of a packet buffer, flits
 * @slots: packet buffers of each VC
 * @occupied: how many of these are occupied
 * @mbps: rate of the sender's receiver, all lanes, Mb/s; 0: not reported
 * @port: number of the sender's port
 * @resume: 1: RESUME, a retraining that keeps the session
 * @up: 1: the sender is up, and needs no answer
 * @retry: protocol that the sender asks for, enum torus_retry
 * @highest: highest wire version that the sender speaks; 0: @lowest
 * @bubble: the sender's policy, enum torus_bubble
 */
struct tn_init {
	u64 guid;
	u32 lowest;
	u32 epoch;
	u32 nonce;
	u32 nonce_received;
	u32 attempt;
	u32 last_session;
	u16 last_rseq;
	u16 first_tseq;
	u16 slot_flits;
	u16 slots[TORUS_VCS];
	u16 occupied[TORUS_VCS];
	u32 mbps;
	u8 port;
	u8 resume;
	u8 up;
	u8 retry;
	u8 highest;
	u8 bubble;
};

/** tn_payload_bytes() - Return: bytes of the payload without the padding of its last flit */
static inline u32 tn_payload_bytes(const struct tn_hdr *h, const struct tn_tail *t)
{
	u32 flits = h->len, pad = t->flags & TN_TAIL_PAD;

	return flits ? flits * TN_FLIT - pad : 0;
}

/** tn_hdr_flits() - Return: number of flits of the whole packet */
static inline u32 tn_hdr_flits(const struct tn_hdr *h)
{
	return h->len + 2u + h->relayed;
}

void tn_hdr_put(u8 *flit, const struct tn_hdr *h);
void tn_hdr_get(const u8 *flit, struct tn_hdr *h);
/** tn_type_of() - Return: enum tn_type of the packet at @bytes */
static inline unsigned int tn_type_of(const u8 *bytes)
{
	return bytes[0] & 7;
}

/** tn_len_of() - Return: number of payload flits of the packet with header flit @head */
static inline unsigned int tn_len_of(const u8 *head)
{
	return tn_get_le16(head + 1) & 0x3ffu;
}

/** tn_relayed_of() - Return: 1 if the packet has a relay flit, else 0 */
static inline unsigned int tn_relayed_of(const u8 *head)
{
	return head[2] >> 2 & 1u;
}

/** tn_acknak_put() - write the fields rseq and e of @h as an ACK or NAK of TN_ACKNAK_BYTES */
void tn_acknak_put(u8 *bytes, const struct tn_hdr *h, u32 seed);
/** tn_acknak_get() - read an ACK or NAK into @h. Return: false if it is damaged */
bool tn_acknak_get(const u8 *bytes, struct tn_hdr *h, u32 seed);
void tn_tail_put(u8 *flit, const struct tn_tail *t);
void tn_tail_get(const u8 *flit, struct tn_tail *t);
void tn_via_put(u8 *flit, const struct tn_via *v);
void tn_via_get(const u8 *flit, struct tn_via *v);
void tn_init_put(u8 *payload, const struct tn_init *i);
void tn_init_get(const u8 *payload, struct tn_init *i);
/**
 * tn_init_version() - Return: the wire version for a link with the sender of @i; 0 if both ends
 * have none in common
 * @highest: the highest version of this end
 */
unsigned int tn_init_version(const struct tn_init *i, unsigned int highest);

#define TN_EDGE_FLITS	3

/**
 * tn_lcrc_set() - write the LCRC of a packet into its edge
 * @edge: the flits around the payload, one after the other: header flit, tail flit with LCRC zero
 *	and, if RELAYED, relay flit
 */
void tn_lcrc_set(u8 *edge, u32 seed);
/**
 * tn_lcrc_ok() - Return: true if the LCRC of a received packet is right
 * @head: header flit
 * @end: the flits after the payload: tail flit and, if RELAYED, relay flit
 */
bool tn_lcrc_ok(const u8 *head, const u8 *end, u32 seed);

/**
 * tn_ecrc() - Return: the ECRC that a packet with @payload must have; @h->dst: its final
 * destination
 */
u32 tn_ecrc(const u8 *payload, const struct tn_hdr *h, const struct tn_tail *t);

#endif /* TN_WIRE_H */
