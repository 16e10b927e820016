// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of remote memory whose process writes anything at any time: each word that the NIC reads
 * from shared memory is another one each time, and comes from the input. The NIC stays within its
 * regions, issues only requests that are right by rma_wire.h, and a closed ring ends.
 *
 * Input: actions of 1 byte (bits 0-2: work, end a part, the same with an error, the network is full
 * or not, no row or one, close, look whether a region is used, receive a message), and in between the words that are
 * read: 1 byte below 192: a word that would be right; else its own bytes follow.
 */
#include <stdint.h>
#include <stdlib.h>

#include "tn_deps.h"

static u32 fuzz_load32(const u32 *p);
static u64 fuzz_load64(const u64 *p);

#define tn_load32 fuzz_load32
#define tn_load64 fuzz_load64
#include "kernel/core/rma_ring.c"
#undef tn_load32
#undef tn_load64

#define SQ	4
#define CQ	2
#define OPS	5
#define PARTS	6
#define DATA	24
#define BYTES	96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t *input;
static size_t left;

static struct {
	struct torus_rma_head *head;
	struct torus_rma_ask *sq;
	struct torus_rma_end *cq;
	struct tn_rma_ring_op *op;
	u8 gather[DATA];
	struct tn_rma_ring ring;
	u8 *memory[2];
	u64 part[PARTS];
	struct tn_rma_ask ask[PARTS];
	unsigned int parts;
	bool full, cut_off;
} w;

static void must(bool yes)
{
	if (!yes)
		abort();
}

static u8 next_byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static u64 next_bytes(unsigned int n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | next_byte();
	return v;
}

static u32 fuzz_load32(const u32 *p)
{
	u8 how = next_byte();

	must(p == &w.head->sq_tail || p == &w.head->cq_head || p == &w.head->wants);
	if (how >= 192)
		return (u32)next_bytes(4);
	return p == &w.head->sq_tail ? w.ring.sq_head + how % (SQ + 1) :
	       p == &w.head->cq_head ? w.ring.cq_tail - how % (CQ + 1) : how & 1u;
}

static u64 fuzz_load64(const u64 *p)
{
	u64 i = (u64)(p - (const u64 *)w.sq), near[8] = { 0 };
	u8 how = next_byte();

	must(i < SQ * 8);
	if (how >= 192)
		return next_bytes(8);
	near[0] = (how % 8 == 5 ? TORUS_RMA_RECV : how % 8 == 6 ? TORUS_RMA_CANCEL : 1u + how % 5) +
		  (how & 16 ? TORUS_RMA_KEYED << 8 : 0) + (how & 32 ? TORUS_RMA_FENCE << 8 : 0);
	near[3] = how % 2 ? how % BYTES : 0;	/* bytes and local */
	near[4] = how % 4 == 3 ? how % 32 : 0;	/* offset */
	near[5] = how % 8 == 6 ? how / 8 % 4 : 0;	/* a cookie */
	near[7] = how % 4;
	return near[i % 8];
}

static int fuzz_issue(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		      u64 cookie, u64 now)
{
	u8 flits[TN_RMA_HEAD_MAX + DATA];
	struct tn_rma_ask got;
	u32 n;

	(void)host, (void)now;
	must(dst < 3 && bytes <= DATA && ask->bytes <= DATA && !w.ring.closed);
	if (w.full)
		return -EAGAIN;
	if (w.cut_off)
		return -EHOSTUNREACH;
	must(w.parts < PARTS);
	n = tn_rma_ask_put(flits, ask);
	if (bytes)
		memcpy(flits + n, data, bytes);
	must(tn_rma_ask_get(flits, n + bytes, &got) == n);
	w.ask[w.parts] = *ask;
	w.part[w.parts++] = cookie;
	return 7;
}

static int fuzz_cancel(void *host, u16 slot, const struct tn_rma_ask *ask)
{
	(void)host;
	must(slot == 7 && ask->op == TN_RMA_FE);
	return w.full ? -EAGAIN : 0;
}

static u64 fuzz_ring_room(void *host, u32 id, u32 region, u64 offset)
{
	(void)host, (void)id;
	return region < 2 && offset < BYTES ? BYTES - offset : 0;
}

static u8 *fuzz_ring_mem(void *host, u32 region, u64 offset, u64 *run)
{
	(void)host;
	must(region < 2 && offset < BYTES && !w.ring.closed);
	*run = 32 - offset % 32;
	return w.memory[region] + offset;
}

static void fuzz_wake(void *host, u32 id)
{
	(void)host;
	must(id == 9);
}

static const struct tn_rma_ring_ops fuzz_ring_ops = {
	.issue = fuzz_issue, .cancel = fuzz_cancel, .room = fuzz_ring_room, .mem = fuzz_ring_mem,
	.wake = fuzz_wake,
};

static void *take_memory(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	must(p);
	memset(p, 0, bytes);
	return p;
}

static void begin(void)
{
	memset(&w, 0, sizeof(w));
	w.head = take_memory(sizeof(*w.head));
	w.sq = take_memory(SQ * sizeof(*w.sq));
	w.cq = take_memory(CQ * sizeof(*w.cq));
	w.op = malloc(OPS * sizeof(*w.op));
	w.memory[0] = malloc(BYTES);
	w.memory[1] = malloc(BYTES);
	must(w.op && w.memory[0] && w.memory[1]);
	memset(w.memory[0], 1, BYTES);
	memset(w.memory[1], 2, BYTES);
	tn_rma_ring_open(&w.ring, &(struct tn_rma_ring_config) {
		.ops = &fuzz_ring_ops, .head = w.head, .sq = w.sq, .cq = w.cq, .op = w.op,
		.sq_entries = SQ, .cq_entries = CQ, .ops_max = OPS, .parts_max = PARTS,
		.nodes = 3, .data_max = DATA, .id = 9, .job = 1, .gather = w.gather,
	});
}

static void end_some(u8 which, u8 status)
{
	u8 data[DATA] = { 0 };
	struct tn_rma_end end = { .status = status, .reason = which };
	unsigned int i;
	u64 cookie;

	if (!w.parts)
		return;
	i = which % w.parts;
	cookie = w.part[i];
	if (w.ask[i].op == TN_RMA_GET && !status) {
		end.data = data;
		end.bytes = w.ask[i].bytes;
	}
	w.parts--;
	w.part[i] = w.part[w.parts];
	w.ask[i] = w.ask[w.parts];
	tn_rma_ring_done(&w.ring, cookie, &end);
}

static void receive(u8 which)
{
	const struct tn_rma_ask ask = { .op = TN_RMA_SEND, .job = which & 1 };
	u8 data[DATA] = { which };
	u32 before = w.ring.recvs;
	u64 allowed;
	u8 reason = tn_rma_ring_recv(&w.ring, 2, &ask, data, which % (DATA + 1), &allowed);

	must(reason < TN_RMA_REASONS && w.ring.recvs == before - !reason);
}

static void act(u8 action)
{
	switch (action % 8) {
	case 1:
		end_some(action >> 3, TN_RMA_DONE);
		break;
	case 2:
		end_some(action >> 3, (u8)(1 + (action >> 3) % TN_RMA_UNKNOWN));
		break;
	case 3:
		w.full = action & 8;
		break;
	case 4:
		w.cut_off = action & 8;
		break;
	case 5:
		if (action >= 248)
			tn_rma_ring_close(&w.ring);
		break;
	case 6:
		tn_rma_ring_uses(&w.ring, action >> 3 & 1);
		break;
	case 7:
		receive(action >> 3);
		break;
	default:
		tn_rma_ring_work(&w.ring, 0);
	}
	must(w.ring.parts == w.parts && w.ring.open <= w.ring.busy && w.ring.busy <= OPS);
	must(w.ring.recvs <= OPS / 2 && w.ring.recvs <= w.ring.open);
}

static void finish(void)
{
	w.full = false;
	tn_rma_ring_close(&w.ring);
	tn_rma_ring_work(&w.ring, 0);
	while (w.parts)
		end_some(0, TN_RMA_UNKNOWN);
	tn_rma_ring_work(&w.ring, 0);
	must(tn_rma_ring_gone(&w.ring) && !w.ring.busy);
	free(w.head);
	free(w.sq);
	free(w.cq);
	free(w.op);
	free(w.memory[0]);
	free(w.memory[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	input = data;
	left = len;
	begin();
	while (left)
		act(next_byte());
	finish();
	return 0;
}
