// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as packets of remote memory, to an owner and to an initiator with open operations. The
 * owner replies to a request at most once, and to as many as wait, all replies are right by
 * rma_wire.h, and no byte beside the regions changes; an operation ends at most once.
 *
 * Input: records of HOW (1 byte; bit 0: to the initiator, bit 1: returned to it, bit 2: the number
 * is the expected one, bit 3: issue an operation first, bit 4: time passes), LENGTH (1), and as
 * many bytes.
 */
#include <stdint.h>
#include <stdlib.h>

#include "kernel/core/rma_initiator.h"
#include "kernel/core/rma_owner.h"

#define WORDS	8
#define WAITS	4
#define SLOTS	6
#define DATA	64
#define KEY	0x01020304

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct world {
	struct tn_rma_owner owner;
	struct tn_rma_source source[TN_RMA_PIECE], *sources[1];
	struct tn_rma_region region[2];
	struct tn_fe_pool pool;
	struct tn_fe_wait wait[WAITS];
	struct tn_fe_wait *bucket[2];
	struct tn_fe_bits bits;
	struct tn_fe_quota quota;
	u64 full, waits;
	u64 before, word[2 * WORDS], behind;
	struct tn_rma_initiator initiator;
	struct tn_rma_peer peer[TN_RMA_PIECE], *peers[1];
	/* allocated by itself, so that a sanitizer finds accesses beyond it */
	struct tn_rma_open *slot;
	bool open[256];
	u8 issued;
	u8 out[2][TN_RMA_HEAD_MAX + DATA];
	u32 replies;
	u64 now;
};

static void must(bool yes)
{
	if (!yes)
		abort();
}

static u8 *fuzz_room(void *host, enum tn_rma_way way, u32 dst)
{
	struct world *w = host;

	must(!dst);
	return w->out[way];
}

static void fuzz_send(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	struct world *w = host;
	struct tn_rma_reply reply;
	struct tn_rma_ask ask;

	must(!dst && bytes <= sizeof(w->out[0]));
	w->replies += way == TN_RMA_REPLIES;
	if (way == TN_RMA_REPLIES)
		must(tn_rma_reply_get(w->out[way], bytes, &reply));
	else
		must(tn_rma_ask_get(w->out[way], bytes, &ask));
}

static u8 *fuzz_mem(void *host, u32 region, u64 offset, u64 *run)
{
	struct world *w = host;

	must(region < 2 && offset < WORDS * 8);
	*run = 16 - offset % 16;
	return (u8 *)(w->word + region * WORDS) + offset;
}

static const struct tn_window *fuzz_space(void *host, u32 job)
{
	(void)host, (void)job;
	return NULL;
}

static u8 fuzz_recv(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		    u64 *allowed)
{
	(void)host, (void)src, (void)data;
	*allowed = 0;
	return ask->value & 1 || !bytes ? TN_RMA_RNR : 0;
}

static void fuzz_done(void *host, u64 cookie, const struct tn_rma_end *end)
{
	struct world *w = host;

	must(cookie < 256 && w->open[cookie] && end->status <= TN_RMA_UNKNOWN);
	w->open[cookie] = false;
}

static bool fuzz_holds(void *host, u32 dst)
{
	(void)host, (void)dst;
	return false;
}

static const struct tn_rma_owner_ops owner_ops = {
	.net = { .room = fuzz_room, .send = fuzz_send }, .mem = fuzz_mem, .space = fuzz_space, .recv = fuzz_recv,
};

static const struct tn_rma_initiator_ops initiator_ops = {
	.net = { .room = fuzz_room, .send = fuzz_send }, .done = fuzz_done, .holds = fuzz_holds,
};

static void begin(struct world *w)
{
	*w = (struct world) { .before = 1, .behind = 2, .source = { { .known = 1 } } };
	w->sources[0] = w->source;
	w->bits = (struct tn_fe_bits) { .full = &w->full, .waits = &w->waits, .n = WORDS,
				      .quota = &w->quota };
	w->quota.max = WAITS - 1;
	tn_fe_pool_init(&w->pool, w->wait, WAITS, w->bucket, 2, 3);
	for (int i = 0; i < 2; i++)
		w->region[i] = (struct tn_rma_region) {
			.bytes = WORDS * 8, .key = KEY, .access = i ? 3 : TN_ACCESS_ALL,
			.fe = i ? NULL : &w->bits,
		};
	w->owner = (struct tn_rma_owner) {
		.ops = &owner_ops, .host = w, .piece = w->sources, .region = w->region,
		.pool = &w->pool, .nodes = 1, .regions = 2, .epoch = 9, .data_max = DATA,
	};
	w->slot = calloc(SLOTS, sizeof(w->slot[0]));
	must(w->slot);
	tn_rma_initiator_init(&w->initiator, &initiator_ops, w, w->peers, 1, w->slot, SLOTS, 100, 7);
	tn_rma_initiator_extend(&w->initiator, 0, w->peer);
}

static void issue_any(struct world *w, u8 what)
{
	struct tn_rma_ask ask = { .op = (u8)(TN_RMA_PUT + what % 5), .bytes = 8 };

	if (!w->open[w->issued] &&
	    tn_rma_issue(&w->initiator, 0, &ask, NULL, 0, w->issued, w->now) >= 0)
		w->open[w->issued++] = true;
}

static void take_packet(struct world *w, u8 how, u8 *payload, u32 len)
{
	u32 waited = w->pool.waiting, replies = w->replies, open = 0;

	if (how & 8)
		issue_any(w, how >> 5);
	if (how & 16)
		w->now += 40;
	if (how & 1) {
		if (how & 4 && len >= 8)	/* near the numbers in use */
			tn_put_le32(payload + 4, w->peer[0].base + payload[4] % 8);
		if (how & 2)
			tn_rma_returned(&w->initiator, 0, payload, len, how >> 6, w->now);
		else
			tn_rma_initiator_take(&w->initiator, 0, payload, len, w->now);
		tn_rma_initiator_poll(&w->initiator, w->now);
	} else {
		if (how & 4 && len >= 8)
			tn_put_le32(payload + 4, w->source[0].next);
		must(!tn_rma_owner_take(&w->owner, 0, payload, len, w->now));
		must(w->replies - replies <= 1 + waited);
		must(w->source[0].waits == w->pool.waiting && w->pool.waiting <= WAITS - 1 &&
		     w->quota.waiting == w->pool.waiting);
	}
	must(w->before == 1 && w->behind == 2);
	for (int i = 0; i < 256; i++)
		open += w->open[i];
	must(open == w->peer[0].open && open <= SLOTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct world w;
	u8 payload[255];

	begin(&w);
	while (len >= 2 && len - 2 >= data[1]) {
		u8 n = data[1];

		memcpy(payload, data + 2, n);
		take_packet(&w, data[0], payload, n);
		data += 2 + n;
		len -= 2 + n;
	}
	free(w.slot);
	return 0;
}
