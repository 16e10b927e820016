// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames from a peer that may say anything, into a NIC whose links are up.
 *
 * Input: records of PORT (1 byte), MEND (1), LENGTH (2, little endian), bytes.
 * Each port speaks another retry protocol.
 * MEND says what the harness puts right in each packet of the frame, so that
 * the fuzzer gets past the checks that only noise fails:
 *   1 LCRC  2 ECRC  4 TSEQ counts from the expected one  8 RSEQ from the last
 *   16 session, nonce heard and attempt of an INIT  32 time passes  64 the host
 *   sends a packet  128 the manager acts
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "tests/flits.h"
#include "kernel/core/nic_impl.h"
#include "lib/util/times.h"

#define PORTS 4

static unsigned int live;
static struct tn_nic *nic;
static u32 randoms;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_wire: %s\n", what);
	abort();
}

struct frame {
	unsigned int refs;
	u8 data[];
};

static struct frame *frame_new(size_t len)
{
	struct frame *f = malloc(sizeof(*f) + len);

	must(f, "out of memory");
	f->refs = 1;
	return f;
}

static void frame_put(struct frame *f)
{
	if (!--f->refs)
		free(f);
}

static struct tn_pkt *pkt_get(void *host, void *owner, const u8 *payload)
{
	struct tn_pkt *pkt = calloc(1, sizeof(*pkt));

	(void)host;
	(void)payload;
	must(pkt, "out of memory");
	((struct frame *)owner)->refs++;
	pkt->owner = owner;
	live++;
	return pkt;
}

static struct tn_pkt *pkt_new(void *host, unsigned int nflits)
{
	struct frame *f = frame_new((size_t)nflits * TN_FLIT);
	struct tn_pkt *pkt = pkt_get(host, f, f->data);

	frame_put(f);
	pkt->payload = f->data;
	return pkt;
}

static void pkt_put(void *host, struct tn_pkt *pkt)
{
	(void)host;
	frame_put(pkt->owner);
	free(pkt);
	live--;
}

/* Lets sanitizers find a byte that must not be read. */
static void read_all(const u8 *p, size_t len)
{
	static volatile u8 sum;
	u8 x = sum;

	while (len--)
		x ^= *p++;
	sum = x;
}

static bool deliver(void *host, struct tn_pkt *pkt)
{
	must(tn_pkt_bytes(pkt) <= nic->params.payload_max, "delivered too long a packet");
	read_all(pkt->payload, tn_pkt_bytes(pkt));
	pkt_put(host, pkt);
	return true;
}

static bool mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	(void)host;
	must(port < PORTS && len && len <= TORUS_MGMT_MAX, "odd management packet");
	read_all(data, len);
	return len % 2;
}

static void event(void *host, const struct tn_event *ev)
{
	(void)host;
	must(ev->type <= TN_EV_PARK && ev->state < TORUS_LINK_STATES, "odd event");
}

static u32 randomly(void *host)
{
	(void)host;
	return randoms += 0x9e3779b9;
}

static const struct tn_ops ops = {
	.pkt_get = pkt_get, .pkt_new = pkt_new, .pkt_put = pkt_put, .deliver = deliver,
	.mgmt = mgmt, .event = event, .random = randomly,
};

/* --- the peer ----------------------------------------------------------------- */

static void feed(unsigned int port, const u8 *data, size_t len, u64 now)
{
	struct frame *f = frame_new(len);

	memcpy(f->data, data, len);
	tn_nic_rx(nic, port, f->data, len, f, now);
	frame_put(f);
}

/* Checks that false messages of a peer end its own link at most. */
static void feed_alone(unsigned int port, const u8 *data, size_t len, u64 now)
{
	u8 before[PORTS];

	for (unsigned int p = 0; p < PORTS; p++)
		before[p] = nic->link[p].state;
	feed(port, data, len, now);
	for (unsigned int p = 0; p < PORTS; p++)
		must(p == port || nic->link[p].state == before[p], "another link has changed");
}

static void drain(u64 now)
{
	struct tn_frame f;

	tn_nic_work(nic, now);
	for (unsigned int p = 0; p < PORTS; p++) {
		for (int n = 0; n < 64 && tn_nic_tx(nic, p, &f, now); n++) {
			u32 bytes = 0;

			must(f.nsegs && f.nsegs <= TN_FRAME_SEGS, "segments");
			for (u32 i = 0; i < f.nsegs; i++) {
				read_all(f.seg[i].base, f.seg[i].len);
				bytes += f.seg[i].len;
			}
			must(bytes == f.bytes && bytes <= nic->params.frame_max, "frame size");
		}
	}
}

static void mend_init(struct tn_link *l, u8 *flits)
{
	struct tn_init i;

	tn_init_get(flits + TN_FLIT, &i);
	i.lowest = TN_WIRE_OLDEST;
	i.bubble = 0;
	i.slot_flits = (u16)(tn_packet_max(&nic->params) / TN_FLIT);
	i.nonce_received = l->nonce;
	i.attempt = l->peer_attempt + (i.attempt & 1);
	if (i.resume)
		i.last_session = l->session;
	tn_init_put(flits + TN_FLIT, &i);
}

static void mend_packet(struct tn_link *l, u8 *flits, struct tn_hdr *h, u8 mend)
{
	u8 *tail = flits_tail(flits, h->len), *via = h->relayed ? tail + TN_FLIT : NULL;
	struct tn_hdr final;
	struct tn_tail t;

	if (mend & 4)
		h->tseq = (u16)((h->tseq % 4 + l->retry.rx.expected) & TN_SEQ_MASK);
	if (mend & 8)
		h->rseq = (u16)((l->retry.tx.high - h->rseq % 8) & TN_SEQ_MASK);
	tn_hdr_put(flits, h);
	if (h->type == TN_INIT && h->len == TN_INIT_FLITS && (mend & 16))
		mend_init(l, flits);
	tn_tail_get(tail, &t);
	if (mend & 2) {
		final = *h;
		if (via)
			final.dst = tn_get_le32(via);
		t.ecrc = tn_ecrc(flits + TN_FLIT, &final, &t);
		tn_tail_put(tail, &t);
	}
	if (mend & 1)
		flits_seal(flits, h->len, h->type == TN_INIT ? ~0u : l->seed);
}

static void mend_acknak(struct tn_link *l, u8 *bytes, u8 mend)
{
	struct tn_hdr h;

	tn_acknak_get(bytes, &h, l->seed);
	if (mend & 8)
		h.rseq = (u16)((l->retry.tx.high - h.rseq % 8) & TN_SEQ_MASK);
	if (mend & 1)
		tn_acknak_put(bytes, &h, l->seed);
}

static void mend_frame(struct tn_link *l, u8 *data, size_t len, u8 mend)
{
	size_t at = 0;
	struct tn_hdr h;

	while (len - at >= TN_ACKNAK_BYTES) {
		if (tn_type_of(data + at) == TN_ACKNAK) {
			mend_acknak(l, data + at, mend);
			at += TN_ACKNAK_BYTES;
			continue;
		}
		if (len - at < TN_FLIT)
			return;
		tn_hdr_get(data + at, &h);
		if (h.type == TN_PAD || tn_hdr_flits(&h) * TN_FLIT > len - at)
			return;
		mend_packet(l, data + at, &h, mend);
		at += tn_hdr_flits(&h) * TN_FLIT;
	}
}

static void up(unsigned int port, u64 now)
{
	struct tn_link *l = &nic->link[port];
	u8 flits[(2 + TN_INIT_FLITS) * TN_FLIT] = { 0 };
	struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
	struct tn_tail t = { 0 };
	struct tn_init i = {
		.guid = 7, .lowest = TN_WIRE_OLDEST, .highest = TN_WIRE_VERSION, .epoch = 1, .nonce = 99 + port,
		.nonce_received = l->nonce, .attempt = 1, .slot_flits = (u16)(tn_packet_max(&nic->params) / TN_FLIT),
		.slots = { 8, 8, 8 }, .port = 1, .retry = port % TORUS_RETRIES,
	};

	tn_hdr_put(flits, &h);
	tn_init_put(flits + TN_FLIT, &i);
	t.ecrc = tn_ecrc(flits + TN_FLIT, &h, &t);
	tn_tail_put(flits + (1 + TN_INIT_FLITS) * TN_FLIT, &t);
	flits_seal(flits, TN_INIT_FLITS, ~0u);
	feed(port, flits, sizeof(flits), now);
	must(l->state == TORUS_LINK_UP, "the peer's INIT is not understood");
}

/* --- host and manager ------------------------------------------------------------ */

static void send(u32 what, u64 now)
{
	unsigned int vc = what % TORUS_VCS;
	struct tn_pkt *pkt;

	if (!tn_nic_room(nic, what % nic->nodes, vc))
		return;
	pkt = pkt_new(NULL, what % 5);
	pkt->hdr.len = (u16)(what % 5);
	memset(pkt->payload, 0x55, what % 5 * TN_FLIT);
	if (tn_nic_send(nic, pkt, what % nic->nodes, vc, now))
		pkt_put(NULL, pkt);
}

static void manage(u8 what, u64 now)
{
	static u64 version = 1;
	unsigned int port = what % PORTS;

	switch (what >> 4 & 7) {
	case 0:
		tn_nic_carrier(nic, port, !nic->link[port].carrier, now);
		break;
	case 1:
		tn_nic_retrain(nic, port, now);
		break;
	case 2:
		tn_nic_park_resolve(nic, port, nic->link[port].session, 0, true);
		break;
	case 3:
		tn_nic_park_replay(nic, nic->version, 15, now);
		break;
	case 4:
		tn_nic_release(nic, nic->version, what & 1, now);
		break;
	case 5:
		version = nic->version + 1;
		tn_nic_rows_begin(nic, version);
		tn_nic_rows_put(nic, version, what & 7, &(u64){ 0 }, 1);
		tn_nic_rows_commit(nic, version, now);
		break;
	case 6:
		tn_nic_hold(nic, &(u32){ what & 7 }, 1);
		break;
	default:
		tn_nic_mgmt_send(nic, port, &what, 1, now);
	}
}

static void start(u64 now)
{
	static u64 mem[(sizeof(struct tn_nic) + 63) / 8], table[4096];
	struct tn_nic_config cfg = { .ops = &ops, .nports = PORTS, .guid = 3, .epoch = 4 };
	struct torus_shape shape = { 2, { 3, 3, 1, 1, 1, 1 } };
	struct torus_coords at = { { 1, 1 } };
	const u64 no_steps = 15ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT;

	randoms = 1;
	nic = (struct tn_nic *)mem;
	tn_params_default(&cfg.params);
	cfg.params.slots = 8;
	cfg.params.payload_max = 2048;
	cfg.params.park_bytes = 4096;
	must(!tn_nic_init(nic, &cfg, now), "init");
	must(tn_nic_table_size(&shape) <= sizeof(table), "table");
	memset(table, 0, sizeof(table));
	must(!tn_nic_set_shape(nic, &shape, &at, table), "shape");
	tn_nic_rows_begin(nic, 1);
	for (u32 i = 0; i < 9; i++) {
		u64 row = TORUS_ROW_VALID | TORUS_ROW_ADAPTIVE | no_steps | 15 |
			  15ull << TORUS_ROW_ADAPT_SHIFT;

		must(!tn_nic_rows_put(nic, 1, i, &row, 1), "row");
	}
	tn_nic_rows_commit(nic, 1, now);
	for (unsigned int p = 0; p < PORTS; p++) {
		tn_nic_carrier(nic, p, true, now);
		up(p, now);
	}
	drain(now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static u8 frame[65536];
	u64 now = 1000 * MS;

	start(now);
	while (size >= 4) {
		unsigned int port = data[0] % PORTS;
		u8 mend = data[1];
		size_t len = data[2] | (size_t)data[3] << 8;

		data += 4;
		size -= 4;
		len = len < size ? len : size;
		memcpy(frame, data, len);
		if (mend & 64)
			send(len ? data[0] : 0, now);
		if ((mend & 128) && len)
			manage(data[0], now);
		data += len;
		size -= len;
		mend_frame(&nic->link[port], frame, len, mend);
		feed_alone(port, frame, len, now);
		if (mend & 32)
			now += 7 * MS;
		if (tn_nic_expiry(nic) <= now)
			tn_nic_poll(nic, now);
		drain(now);
	}
	tn_nic_flush(nic);
	must(!live, "packets leaked");
	return 0;
}
