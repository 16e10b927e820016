// SPDX-License-Identifier: GPL-2.0-only
/* A NIC of the core at the end of a wire; see framefuzz.h. */
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "tests/flits.h"
#include "tests/vm/framefuzz.h"
#include "lib/util/times.h"

#define PATIENCE_MS 60000
#define TURN_MAX 256	/* frames received before other work has its turn */

/* The place of the NIC: in the second row, beside the middle node of three. */
static const struct torus_shape shape = { 2, { 3, 2, 1, 1, 1, 1 } };
static const struct torus_coords place = { { 1, 1 } };

static struct {
	struct tn_nic *nic;
	u32 epoch;
	u16 expected;
	size_t received;
	u8 frame[PEER_FRAME_MAX];
} peer;

/* --- host of the core ---------------------------------------------------------------- */

/** struct memory - of a frame or packet, freed with its last reference */
struct memory {
	unsigned int refs;
	u8 data[];
};

static struct memory *memory_new(size_t len)
{
	struct memory *m = malloc(sizeof(*m) + len);

	if (!m)
		abort();
	m->refs = 1;
	return m;
}

static void memory_put(struct memory *m)
{
	if (!--m->refs)
		free(m);
}

static struct tn_pkt *pkt_get(void *host, void *owner, const u8 *payload)
{
	struct tn_pkt *pkt = calloc(1, sizeof(*pkt));

	(void)host;
	(void)payload;
	if (!pkt)
		abort();
	((struct memory *)owner)->refs++;
	pkt->owner = owner;
	return pkt;
}

static struct tn_pkt *pkt_new(void *host, unsigned int nflits)
{
	struct memory *m = memory_new((size_t)nflits * TN_FLIT);
	struct tn_pkt *pkt = pkt_get(host, m, m->data);

	memory_put(m);
	pkt->payload = m->data;
	return pkt;
}

static void pkt_put(void *host, struct tn_pkt *pkt)
{
	(void)host;
	memory_put(pkt->owner);
	free(pkt);
}

static bool deliver(void *host, struct tn_pkt *pkt)
{
	pkt_put(host, pkt);
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
	u32 n = 1;

	(void)host;
	(void)!getrandom(&n, sizeof(n), 0);
	return n;
}

static const struct tn_ops ops = {
	.pkt_get = pkt_get, .pkt_new = pkt_new, .pkt_put = pkt_put, .deliver = deliver,
	.mgmt = mgmt, .event = event, .random = randomly,
};

/* --- the wire --------------------------------------------------------------------------- */

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 * MS + (u64)ts.tv_nsec;
}

bool peer_open(const char *way, const char *ifname)
{
	peer.epoch = randomly(NULL);
	return wire_open(way, ifname);
}

void peer_send(const u8 *bytes, size_t len)
{
	wire_send(bytes, len);
}

static void send_frames(u64 now)
{
	static u8 flat[PEER_FRAME_MAX];
	struct tn_frame f;

	while (tn_nic_tx(peer.nic, 0, &f, now)) {
		size_t len = 0;

		for (u32 i = 0; i < f.nsegs; len += f.seg[i++].len)
			memcpy(flat + len, f.seg[i].base, f.seg[i].len);
		peer_send(flat, len);
	}
}

/* Notes the acknowledgements of the other end, if it uses Angara's protocol. */
static void note_acks(const u8 *frame, size_t len)
{
	struct tn_link *l = peer_link();
	struct tn_hdr h;

	if (len < 2 * TN_FLIT || l->state != TORUS_LINK_UP)
		return;
	tn_hdr_get(frame, &h);
	if (h.type == TN_PAD || h.type == TN_INIT || h.type == TN_ACKNAK ||
	    tn_hdr_flits(&h) * TN_FLIT > len || !flits_sealed(frame, h.len, l->seed))
		return;
	peer.expected = h.rseq;
}

/* Return: false if there was none. */
static bool take_frame(u64 now)
{
	size_t n = wire_recv(peer.frame, sizeof(peer.frame));
	struct memory *m;

	if (!n)
		return false;
	peer.received = n;
	note_acks(peer.frame, peer.received);
	m = memory_new(peer.received);
	memcpy(m->data, peer.frame, peer.received);
	tn_nic_rx(peer.nic, 0, m->data, peer.received, m, now);
	memory_put(m);
	return true;
}

static void turn(void)
{
	u64 now = now_ns();

	for (int i = 0; i < TURN_MAX && take_frame(now); i++)
		;
	if (now >= tn_nic_expiry(peer.nic))
		tn_nic_poll(peer.nic, now);
	tn_nic_work(peer.nic, now);
	send_frames(now);
}

static void wait_until(u64 end)
{
	u64 now = now_ns(), at = tn_nic_expiry(peer.nic);

	at = at < end ? at : end;
	wire_wait(at > now ? (int)((at - now) / MS) + 1 : 0);
}

static bool acknowledged(void)
{
	return !peer_link()->retry.tx.sent.count;
}

static bool is_up(void)
{
	return peer_link()->state == TORUS_LINK_UP;
}

static bool never(void)
{
	return false;
}

static bool run_until(bool (*done)(void), int ms)
{
	u64 end = now_ns() + (u64)ms * MS;

	turn();
	while (!done()) {
		if (now_ns() >= end)
			return false;
		wait_until(end);
		turn();
	}
	return true;
}

/* --- the NIC ------------------------------------------------------------------------------ */

void peer_begin(unsigned int retry, bool patient)
{
	static u64 table[1024] __attribute__((aligned(64)));
	struct tn_nic_config cfg = {
		.ops = &ops, .nports = 4, .guid = 0xf022, .epoch = ++peer.epoch,
	};

	if (peer.nic)
		tn_nic_flush(peer.nic);
	else if (posix_memalign((void **)&peer.nic, 64, tn_nic_size()))
		abort();
	tn_params_default(&cfg.params);
	cfg.params.retry = retry;
	if (patient)
		cfg.params.silence = cfg.params.retry_time = PATIENCE_MS * MS;
	if (tn_nic_init(peer.nic, &cfg, now_ns()) || sizeof(table) < tn_nic_table_size(&shape) ||
	    tn_nic_set_shape(peer.nic, &shape, &place, table))
		abort();
	tn_nic_carrier(peer.nic, 0, true, now_ns());
}

void peer_run(int ms)
{
	run_until(never, ms);
}

bool peer_up(int ms)
{
	return run_until(is_up, ms);
}

bool peer_exchange(unsigned int n, int ms)
{
	static const u8 text[] = "an honest word";

	while (n--) {
		if (tn_nic_mgmt_send(peer.nic, 0, text, sizeof(text), now_ns()))
			return false;
		turn();
	}
	return run_until(acknowledged, ms) && is_up();
}

struct tn_link *peer_link(void)
{
	return &peer.nic->link[0];
}

u16 *peer_expected(void)
{
	return &peer.expected;
}

size_t peer_received(const u8 **frame)
{
	*frame = peer.frame;
	return peer.received;
}
