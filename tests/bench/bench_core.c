// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC core without a host: a chain of four NICs in memory, one thread. Nothing copies payloads
 * or computes check sums of them, so what remains is the core's work for each packet.
 *
 *	bench_core [trains|trips [COUNT]]
 *
 * trains: messages of 16 packets of 4096 bytes from the first NIC to the last one, 64 packets at a
 * time. trips: questions of 64 bytes, each sent after the answer to the one before.
 *
 * Prints processor time. For instructions, which do not depend on the load of the machine:
 *
 *	valgrind --tool=callgrind --collect-atstart=no \
 *		--toggle-collect=measure build/tests/bench/bench_core trains 10000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernel/core/nic.h"
#include "kernel/core/pkt.h"
#include "tests/bench/sample.h"

#define NODES	4
#define POOL	8192
#define TRAIN	16
#define AT_ONCE	4		/* messages */
#define LARGE	(4096 / TN_FLIT)
#define SMALL	(64 / TN_FLIT)

struct node {
	struct tn_nic *nic;
	void *table;
	u64 delivered;
};

static struct node node[NODES];
static struct tn_pkt pool[POOL];
static struct tn_queue idle;
static u8 payload[LARGE * TN_FLIT];
static u64 clock_ns = 1000;

static struct tn_pkt *get(void *host, void *owner, const u8 *bytes)
{
	(void)host;
	(void)owner;
	(void)bytes;
	return tn_queue_pop(&idle);
}

static struct tn_pkt *new(void *host, unsigned int nflits)
{
	struct tn_pkt *pkt = tn_queue_pop(&idle);

	(void)host;
	(void)nflits;
	if (pkt)
		pkt->payload = payload;
	return pkt;
}

static void put(void *host, struct tn_pkt *pkt)
{
	(void)host;
	tn_queue_push_front(&idle, pkt);
}

static bool deliver(void *host, struct tn_pkt *pkt)
{
	struct node *n = host;

	n->delivered++;
	put(NULL, pkt);
	return true;
}

static bool mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	(void)host;
	(void)port;
	(void)data;
	(void)len;
	return true;
}

static void event(void *host, const struct tn_event *ev)
{
	(void)host;
	(void)ev;
}

static u32 randomly(void *host)
{
	(void)host;
	return (u32)rand();
}

static const struct tn_ops ops = {
	.pkt_get = get, .pkt_new = new, .pkt_put = put, .deliver = deliver, .mgmt = mgmt, .event = event,
	.random = randomly,
};

static void *zeroed(size_t bytes)
{
	void *mem = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	if (!mem) {
		fprintf(stderr, "bench_core: out of memory\n");
		exit(2);
	}
	return memset(mem, 0, bytes);
}

/* A row by which packets take direction 0 (+x) to nodes after @self, and 1 (-x) to those before. */
static u64 row_to(u32 self, u32 dst)
{
	u64 dir = dst > self ? 1 : 2;

	return TORUS_ROW_VALID | dir | (u64)TORUS_ROW_NO_STEP << TORUS_ROW_FIRST_SHIFT |
	       (u64)TORUS_ROW_NO_STEP << TORUS_ROW_LAST_SHIFT;
}

static void start(u32 i)
{
	const struct torus_shape shape = { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
	struct tn_nic_config cfg = { .ops = &ops, .host = &node[i], .nports = 2, .guid = i + 1 };
	struct torus_coords at = { .c = { (u8)i } };
	u64 row[NODES];

	for (u32 d = 0; d < NODES; d++)
		row[d] = row_to(i, d);
	tn_params_default(&cfg.params);
	node[i].nic = zeroed(tn_nic_size());
	node[i].table = zeroed(tn_nic_table_size(&shape));
	if (tn_nic_init(node[i].nic, &cfg, clock_ns) ||
	    tn_nic_set_shape(node[i].nic, &shape, &at, node[i].table) || tn_nic_rows_begin(node[i].nic, 1) ||
	    tn_nic_rows_put(node[i].nic, 1, 0, row, NODES) || tn_nic_rows_commit(node[i].nic, 1, clock_ns)) {
		fprintf(stderr, "bench_core: cannot set up NIC %u\n", i);
		exit(2);
	}
	for (unsigned int port = 0; port < 2; port++) {
		if (port ? i > 0 : i < NODES - 1)
			tn_nic_carrier(node[i].nic, port, true, clock_ns);
		tn_nic_rx_memory(node[i].nic, port, true);
		tn_nic_tx_memory(node[i].nic, port, true);
	}
	tn_nic_release(node[i].nic, 1, false, clock_ns);
}

/* Carries all frames of node @i to its neighbours. Return: true if there was any. */
static bool carry(u32 i)
{
	static struct tn_frame f;
	bool any = false;

	for (unsigned int port = 0; port < 2; port++) {
		while (tn_nic_tx(node[i].nic, port, &f, clock_ns)) {
			any = true;
			tn_nic_rx_pieces(node[port ? i - 1 : i + 1].nic, !port, f.seg, f.nsegs, NULL, clock_ns);
		}
	}
	return any;
}

/* Lets all NICs work until none has anything to send. */
static void run(void)
{
	bool any;

	do {
		any = false;
		for (u32 i = 0; i < NODES; i++) {
			tn_nic_work(node[i].nic, clock_ns);
			any |= carry(i);
		}
	} while (any);
	clock_ns += 10000;
}

static void poll_timers(void)
{
	for (u32 i = 0; i < NODES; i++)
		tn_nic_poll(node[i].nic, clock_ns);
	clock_ns += 100000;
}

/* Sends a message of @packets packets. */
static void send(u32 from, u32 to, unsigned int packets, unsigned int flits)
{
	struct tn_queue msg = { 0 };

	for (unsigned int i = 0; i < packets; i++) {
		struct tn_pkt *pkt = new(NULL, flits);

		pkt->hdr.len = (u16)flits;
		pkt->tail.flags = (u8)((i ? 0 : TN_TAIL_FIRST) | (i == packets - 1 ? TN_TAIL_LAST : 0));
		tn_queue_push(&msg, pkt);
	}
	if (tn_nic_send_message(node[from].nic, &msg, to, TORUS_VC_D0, clock_ns)) {
		fprintf(stderr, "bench_core: a packet was refused\n");
		exit(1);
	}
}

static void send_trains(void)
{
	for (unsigned int i = 0; i < AT_ONCE; i++)
		send(0, NODES - 1, TRAIN, LARGE);
	run();
}

static void send_trip(void)
{
	send(0, NODES - 1, 1, SMALL);
	run();
	send(NODES - 1, 0, 1, SMALL);
	run();
}

/* Calls @step @count times. Not inlined, so that callgrind can count from here on. */
static noinline u64 measure(void (*step)(void), unsigned int count)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (unsigned int i = 0; i < count; i++) {
		step();
		if (i % 16 == 15)
			poll_timers();
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return (u64)(b.tv_sec - a.tv_sec) * 1000000000ull + (u64)b.tv_nsec - (u64)a.tv_nsec;
}

static void row(const char *what, void (*step)(void), unsigned int count, unsigned int expected)
{
	u64 before = node[0].delivered + node[NODES - 1].delivered, took = measure(step, count);

	if (node[0].delivered + node[NODES - 1].delivered - before != (u64)count * expected) {
		fprintf(stderr, "bench_core: packets are missing\n");
		exit(1);
	}
	printf("%-40s %12.0f\n", what, (double)took / count / expected);
	sample(what, "ns", (double)took / count / expected);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	unsigned int count = argc > 2 ? (unsigned int)atoi(argv[2]) : 20000;

	for (int i = 0; i < POOL; i++)
		put(NULL, &pool[i]);
	for (u32 i = 0; i < NODES; i++)
		start(i);
	for (int i = 0; i < 1000; i++) {
		run();
		poll_timers();
	}
	printf("%-40s %12s\n", "four NICs of the core in memory", "ns a packet");
	if (strcmp(only, "trips"))
		row("packets of 4096 bytes, 64 at a time", send_trains, count, TRAIN * AT_ONCE);
	if (strcmp(only, "trains"))
		row("questions and answers of 64 bytes", send_trip, count, 2);
	for (u32 i = 0; i < NODES; i++) {
		tn_nic_flush(node[i].nic);
		free(node[i].nic);
		free(node[i].table);
	}
	return 0;
}
