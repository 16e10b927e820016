// SPDX-License-Identifier: GPL-2.0-only
/*
 * One link of the NIC core in memory: two ends, no cable, one thread. Prints packets per second
 * of processor time for some payload sizes, and beside them the rate if only CRC-32C were
 * computed, once at each end: no link can be faster. Then the same on a wire with bit errors.
 *
 *	bench_link [BYTES [BER [PACKETS]]]	only packets of BYTES, on a wire with BER; PACKETS or a few
 *						more, instead of as many as in a second
 *
 * Programs that count instructions need PACKETS: in a second of a slower processor fewer packets
 * arrive. The difference of runs with 20000 and 40000 contains no start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kernel/core/fault.h"
#include "kernel/core/link.h"
#include "tests/bench/sample.h"

#define POOL 4096
#define BURST 64

/*
 * The pool is last in, first out, as in real hosts, so that the next packet is still in the cache.
 */
struct end {
	struct tn_link link;
	struct tn_pkt pkt[POOL];
	struct tn_queue idle;
	struct tn_fault wire;
	u8 *memory;
	u64 accepted;
};

static struct tn_params params;
static u64 clock_ns = 1000;
static u64 packets;

/* Processor time of this process: other load of the machine does not count. */
static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static struct tn_pkt *get(void *host, void *owner, const u8 *payload)
{
	(void)owner;
	(void)payload;
	return tn_queue_pop(&((struct end *)host)->idle);
}

static struct tn_pkt *new(void *host, unsigned int nflits)
{
	struct end *e = host;
	struct tn_pkt *pkt = tn_queue_pop(&e->idle);

	(void)nflits;
	if (pkt)
		pkt->payload = e->memory + (size_t)(pkt - e->pkt) * TN_PACKET_MAX;
	return pkt;
}

static void put(void *host, struct tn_pkt *pkt)
{
	tn_queue_push_front(&((struct end *)host)->idle, pkt);
}

static u32 randomly(void *host)
{
	(void)host;
	return (u32)rand();
}

static bool mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	(void)host;
	(void)port;
	(void)data;
	(void)len;
	return true;
}

static const struct tn_ops host_ops = {
	.pkt_get = get, .pkt_new = new, .pkt_put = put, .mgmt = mgmt, .random = randomly,
};

static void on_accept(void *ctx, struct tn_link *l, struct tn_queue *got)
{
	struct end *e = ctx;
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(got))) {
		e->accepted++;
		tn_link_freed(l, pkt->in_vc, false, clock_ns);
		put(e, pkt);
	}
}

static void on_acked(void *ctx, struct tn_queue *done)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(done)))
		put(ctx, pkt);
}

static void on_failed(void *ctx, struct tn_link *l, struct tn_queue *retry, u64 now)
{
	(void)now;
	(void)ctx;
	(void)retry;
	fprintf(stderr, "bench_link: the link failed, reason %u\n", l->reason);
	exit(1);
}

static void on_changed(void *ctx, struct tn_link *l, u8 old_state)
{
	(void)ctx;
	(void)l;
	(void)old_state;
}

static void on_peer_seq(void *ctx, struct tn_link *l, bool none, u16 seq)
{
	(void)ctx;
	(void)l;
	(void)none;
	(void)seq;
}

static const struct tn_link_ops link_ops = {
	.accept = on_accept, .acked = on_acked, .failed = on_failed, .changed = on_changed, .peer_seq = on_peer_seq,
};

static struct end *end_new(u64 guid)
{
	struct end *e = calloc(1, sizeof(*e));

	if (!e || !(e->memory = malloc((size_t)POOL * TN_PACKET_MAX))) {
		fprintf(stderr, "bench_link: out of memory\n");
		exit(2);
	}
	memset(e->memory, 0x5a, (size_t)POOL * TN_PACKET_MAX);
	for (int i = 0; i < POOL; i++)
		put(e, &e->pkt[i]);
	e->link.ops = &link_ops;
	e->link.ctx = e;
	e->link.host_ops = &host_ops;
	e->link.host = e;
	e->link.params = &params;
	e->link.guid = guid;
	tn_link_init(&e->link, clock_ns);
	tn_link_carrier(&e->link, true, clock_ns);
	return e;
}

static void end_free(struct end *e)
{
	free(e->memory);
	free(e);
}

/* Copies the segments of a frame together, as writev() would, for the receiver to read. */
static void carry(struct end *from, struct end *to)
{
	static u8 wire[65536];
	struct tn_frame f;

	while (tn_link_tx(&from->link, &f, clock_ns)) {
		size_t at = 0;

		for (u32 i = 0; i < f.nsegs; i++) {
			memcpy(wire + at, f.seg[i].base, f.seg[i].len);
			at += f.seg[i].len;
		}
		if (tn_fault_hits(&from->wire, f.bytes))
			tn_fault_corrupt(&from->wire, wire, f.bytes);
		tn_link_rx(&to->link, &(struct tn_seg) { wire, (u32)at }, 1, NULL, clock_ns);
	}
}

static void offer(struct end *e, unsigned int flits)
{
	for (int i = 0; i < BURST && tn_link_may(&e->link, TORUS_VC_D0, 0); i++) {
		struct tn_pkt *pkt = new(e, flits);

		if (!pkt)
			return;
		pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .len = (u16)flits };
		pkt->tail = (struct tn_tail) { 0 };
		pkt->tail.ecrc = tn_ecrc(pkt->payload, &pkt->hdr, &pkt->tail);
		tn_link_push(&e->link, pkt, clock_ns);
	}
}

static double link_rate(unsigned int flits, double ber)
{
	struct end *a = end_new(1), *b = end_new(2);
	u64 began, took, before;

	while (a->link.state != TORUS_LINK_UP || b->link.state != TORUS_LINK_UP) {
		carry(a, b);
		carry(b, a);
		clock_ns += 1000;
	}
	a->wire.ber = b->wire.ber = (u64)(ber * TORUS_BER_ONE);
	tn_fault_arm(&a->wire);
	tn_fault_arm(&b->wire);
	began = cpu_ns();
	before = b->accepted;
	do {
		for (int i = 0; i < 200; i++) {
			offer(a, flits);
			carry(a, b);
			carry(b, a);
			clock_ns += 10000;
			tn_link_poll(&a->link, clock_ns);
			tn_link_poll(&b->link, clock_ns);
		}
		took = cpu_ns() - began;
	} while (packets ? b->accepted - before < packets : took < 1000000000ull);
	before = b->accepted - before;
	end_free(a);
	end_free(b);
	return (double)before * 1e9 / (double)took;
}

static double crc_rate(unsigned int flits)
{
	static u8 bytes[TN_PACKET_MAX];
	size_t len = (flits + 2) * TN_FLIT;
	u64 began = cpu_ns(), took, n = 0;
	u32 crc = 0;

	do {
		for (int i = 0; i < 1000; i++)
			crc = tn_crc32c(tn_crc32c(crc, bytes, len), bytes, len);
		n += 1000;
		took = cpu_ns() - began;
	} while (!packets && took < 500000000ull);
	bytes[0] = (u8)crc;
	return (double)n * 1e9 / (double)took;
}

static void row(unsigned int bytes, double ber)
{
	unsigned int flits = (bytes + TN_FLIT - 1) / TN_FLIT;
	double crc = crc_rate(flits), link = link_rate(flits, ber);
	char what[64];
	int n = snprintf(what, sizeof(what), "packets of %u bytes", flits * TN_FLIT);

	if (ber > 0)
		snprintf(what + n, sizeof(what) - (size_t)n, ", bit errors %.0e", ber);
	printf("%-40s %14.0f %14.0f %10.2f\n", what, crc, link, link * flits * TN_FLIT * 8 / 1e9);
	sample(what, "1/s", link);
}

int main(int argc, char **argv)
{
	static const unsigned int sizes[] = { 0, 64, 256, 1024, 4096 };

	tn_params_default(&params);
	printf("%-40s %14s %14s %10s\n", "one link of the core in memory", "CRC alone, 1/s",
	       "link, 1/s", "Gbit/s");
	packets = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (argc > 1) {
		row((unsigned int)atoi(argv[1]), argc > 2 ? atof(argv[2]) : 0);
		return 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		row(sizes[i], 0);
	row(4096, 1e-8);
	row(4096, 1e-7);
	row(4096, 1e-6);
	return 0;
}
