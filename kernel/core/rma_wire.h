/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Messages of remote memory: the payload of a packet of service 1. A request travels on VCD0 to the
 * owner of the memory, a reply on VCD1 to the initiator; rma.h says what they mean. A message is
 * one packet. Numbers are little endian, reserved bits and bytes are zero.
 *
 * Request:
 *   flit 0   0 operation   1 flags   2-3 endpoint of the initiator   4-7 number of the operation
 *            8-13 address; with KEYED: offset in the region   14-15 job
 *   flit 1   of all that have KEYED or WIDE, and of GET, AMO, FE and CANCEL:
 *            0-3 key   4-6 region   7 zero   (without KEYED: all zero)
 *            8-9 slot for the reply; 0xffff: it is posted, and acknowledged with others
 *            10-11 of AMO and FE: bits 0-2 operation of FE   3-4 q   5-6 r   7-9 comparison
 *            10-12 atomic operation   13-14 type   15 zero
 *            12-15 of GET: bytes
 *            with WIDE: 14-15 high half of the job, and the bytes of GET are in 12-13
 *   flit 2   of AMO, FE and SEND, and of a PUT with NOTIFY:
 *            0-7 operand or value; SEND: tag   8-15 value to compare with; PUT: where the operand
 *            is added, address or offset; SEND: data for the completion
 *   data     of PUT and SEND
 *
 * The job is a user, and most users have numbers below 65536. WIDE is for the others, such as those
 * of a directory service or of a container: the half of the job that flit 0 has no room for is in
 * flit 1, and is not 0. A NIC of before WIDE refuses such a request as malformed.
 *
 * QUERY and RESET are flit 0, with number and nothing else. PUT and SEND are posted; GET, FE and
 * CANCEL have a slot; AMO may be either. SEND has no KEYED: its address is the name of the
 * endpoint, the number in the low 16 bits and a key of the owner's choice above.
 *
 * Reply:
 *   0 operation   1 NAK: reason; STATUS: the operation that it answers   2-3 slot   4-7 number
 *   8-15 OLD: value before; NAK: what is allowed; GAP and STATUS: number that is expected next in
 *   the low half, epoch of the owner's NIC in the high half; else zero
 *   DATA: then the bytes
 *   ACK: the number is the first one that is not acknowledged, and value, in the low half, how many
 *   posted operations were refused since the RESET
 *   STATUS: the slot is the number of this initiator's requests that wait, 0xffff: it wants a
 *   RESET; then a flit: 0-3 posted operations that were refused since the RESET, 4-15 zero
 *
 * A put of 8 bytes is 64 bytes on the wire by address, and 80 by region and key.
 * tests/unit/test_rma_wire.c is a second implementation, from a table of the fields.
 */
#ifndef TN_RMA_WIRE_H
#define TN_RMA_WIRE_H

#include "fe.h"

#define TN_RMA_FLIT	16
#define TN_RMA_HEAD_MAX	(3 * TN_RMA_FLIT)
/* slot of an operation that has no reply of its own */
#define TN_RMA_POSTED	0xffff
#define TN_RMA_ADDR_MAX	((1ull << 48) - 1)
#define TN_RMA_REGION_MAX ((1u << 24) - 1)

enum tn_rma_op {
	TN_RMA_PUT = 1,
	TN_RMA_GET,
	TN_RMA_AMO,
	TN_RMA_FE,
	TN_RMA_SEND,
	TN_RMA_QUERY,
	TN_RMA_RESET,
	TN_RMA_CANCEL,
	TN_RMA_DATA = 17,
	TN_RMA_OLD,
	TN_RMA_ACK,
	TN_RMA_NAK,
	TN_RMA_STATUS,
};

#define TN_RMA_KEYED	1	/* the memory is named by region and key, not by address */
#define TN_RMA_ASK	2	/* the owner must acknowledge at once */
/* PUT: afterwards, the owner adds the operand to a word of 8 bytes */
#define TN_RMA_NOTIFY	4
#define TN_RMA_WIDE	8	/* the job is above 65535; tn_rma_ask_put() sets it */

enum tn_rma_reason {
	TN_RMA_BAD = 1,		/* the request is malformed, or has no operation */
	TN_RMA_REGION,		/* no such region, or no region at this address */
	TN_RMA_KEY,
	TN_RMA_GONE,		/* the region was closed */
	TN_RMA_JOB,
	TN_RMA_ACCESS,		/* the rights are missing; allowed: enum tn_window_access */
	/* passes the end of the region; allowed: bytes from there to the end */
	TN_RMA_BOUNDS,
	TN_RMA_ALIGN,		/* misaligned; allowed: a multiple of this */
	TN_RMA_LENGTH,		/* too long; allowed: bytes of a GET, or of this SEND */
	TN_RMA_NO_FE,		/* the region has no full/empty bits */
	/* too many requests wait there (allowed: how many); SEND: no memory is posted */
	TN_RMA_RNR,
	TN_RMA_BUSY,		/* a processor of the owner kept changing the word */
	TN_RMA_GAP,		/* not executed, because operations before it were lost */
	TN_RMA_CANCELLED,
	TN_RMA_REASONS,
};

/**
 * struct tn_rma_ask - the fields of a request, see the layout above
 * @ep: endpoint of the initiator
 * @slot: number of the initiator's slot for the reply; TN_RMA_POSTED: there is none
 * @number: number of the operation
 * @region, @key: name the memory if @flags has TN_RMA_KEYED
 * @bytes: number of bytes that a GET reads
 * @addr: address, below 2^48; with TN_RMA_KEYED the offset in the region
 * @value: operand; in a SEND its tag
 * @compare: second word of flit 2, whose meaning depends on @op
 * @fe_op, @q, @r, @cmp, @amo, @type: in FE and AMO, as in struct tn_fe_ask
 */
struct tn_rma_ask {
	u8 op;
	u8 flags;
	u16 ep;
	u16 slot;
	u32 job;
	u32 number;
	u32 region;
	u32 key;
	u32 bytes;
	u64 addr;
	u64 value;
	u64 compare;
	u8 fe_op, q, r, cmp, amo, type;
};

/**
 * struct tn_rma_reply - a reply
 * @why: the byte after the operation
 * @refused: ACK, STATUS: posted operations that were refused since the RESET
 */
struct tn_rma_reply {
	u8 op;
	u8 why;
	u16 slot;
	u32 number;
	u32 refused;
	u64 value;
};

/**
 * tn_rma_ask_put() - write the flits before the data
 * @flits: TN_RMA_HEAD_MAX bytes
 * @ask: fields that its operation does not have are not written
 * Return: bytes written.
 */
u32 tn_rma_ask_put(u8 *flits, const struct tn_rma_ask *ask);

/**
 * tn_rma_ask_get() - read a request of @len bytes
 * @ask: op, flags, ep, number, addr and job are right even if it is malformed, if @len is 16 or
 *	more; slot is TN_RMA_POSTED if it has none or is too short
 * Return: bytes before the data; 0 if it is malformed.
 */
u32 tn_rma_ask_get(const u8 *payload, u32 len, struct tn_rma_ask *ask);

/** tn_rma_kind_get() - set the members of FE and AMO from bytes 10-11 of flit 1 */
void tn_rma_kind_get(struct tn_rma_ask *ask, u16 kind);

/** tn_rma_reply_put() - write a reply without data. Return: bytes written, 32 at most */
u32 tn_rma_reply_put(u8 *flits, const struct tn_rma_reply *reply);
/** tn_rma_reply_get() - read a reply of @len bytes. Return: false if it is malformed */
bool tn_rma_reply_get(const u8 *payload, u32 len, struct tn_rma_reply *reply);

#endif /* TN_RMA_WIRE_H */
