// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that no NIC would send, to a port of a NIC. A NIC of the core brings the link up, so that
 * forged packets can have the right LCRC and sequence number, and every field behind these checks
 * is reached. When the other end has noticed a lie and the link has failed, it is brought up again.
 * At the end an honest peer returns: the link must come up and take its packets.
 *
 * Forged DATA names sources that do not exist or do not send, unless --impostor is given: a fabric
 * trusts its NICs about who they are, so flows of others would suffer.
 *
 * The same seed draws the same frames; the other end has its own timing. Exit status: 0 fine, 1 the
 * link does not come back, 2 usage.
 */
#include <getopt.h>
#include <inttypes.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/flits.h"
#include "tests/unit/random.h"
#include "tests/vm/framefuzz.h"

#define NODES 6			/* nodes of the shape 3x2; nodes 0 to 2 send */
#define SPEAKING 3
#define USUAL 4096		/* bytes of the largest packet by default */
#define BODY_MAX ((size_t)TN_PACKET_MAX)
#define RETURN_MS 60000
#define RETURNS 3		/* attempts of an honest peer, each within that time */

/**
 * struct fuzz - a run
 * @out, @len: the frame that is being made
 * @body: payload of the packet that is being made
 * @ups, @restarts: times that the link came up; that the peer was switched off and on
 */
static struct fuzz {
	uint64_t seed, rng;
	uint64_t count, sent;
	const char *only, *way;
	bool impostor, verbose;
	u8 out[PEER_FRAME_MAX + BODY_MAX];
	size_t len;
	u8 body[BODY_MAX];
	u8 kept[PEER_FRAME_MAX];
	size_t kept_len;
	unsigned int ups, restarts;
} f;

static uint32_t below(uint32_t n)
{
	return random_below(&f.rng, n);
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

static void fill(u8 *to, size_t n)
{
	while (n--)
		*to++ = (u8)below(256);
}

/* Draws a value: one at the limits of a range, or any. */
static u32 edge(u32 max)
{
	switch (below(4)) {
	case 0:
		return 0;
	case 1:
		return max;
	case 2:
		return max ? below(max < 8 ? max : 8) : 0;
	default:
		return max == ~0u ? (u32)random_next(&f.rng) : below(max + 1);
	}
}

/* --- packets -------------------------------------------------------------------------- */

static struct tn_hdr header(u8 type, u16 flits)
{
	struct tn_link *l = peer_link();
	struct tn_hdr h = { .first = TN_NO_STEP, .last = TN_NO_STEP, .len = flits };

	h.tseq = *peer_expected();
	h.type = type;
	l->retry.ops->stamp(&l->retry, &h);
	h.tseq = *peer_expected();
	return h;
}

static u32 final_dst(const struct tn_hdr *h, const struct tn_via *via)
{
	return h->relayed ? via->dst : h->dst;
}

/* Appends a packet with right CRCs; its payload is f.body. */
static void put(const struct tn_hdr *h, struct tn_tail *t, const struct tn_via *via)
{
	size_t n = (size_t)tn_hdr_flits(h) * TN_FLIT;
	u8 *at = f.out + f.len, *tail = flits_tail(at, h->len);
	struct tn_hdr final = *h;

	if (f.len + n > PEER_FRAME_MAX)
		return;
	tn_hdr_put(at, h);
	memcpy(at + TN_FLIT, f.body, (size_t)h->len * TN_FLIT);
	final.dst = final_dst(h, via);
	t->ecrc = tn_ecrc(at + TN_FLIT, &final, t);
	tn_tail_put(tail, t);
	if (h->relayed)
		tn_via_put(tail + TN_FLIT, via);
	flits_seal(at, h->len, h->type == TN_INIT ? ~0u : peer_link()->seed);
	f.len += n;
}

/* Notes that the packet will be accepted: the next one has the next number. */
static void accepted(void)
{
	*peer_expected() = (*peer_expected() + 1) & TN_SEQ_MASK;
}

static void cut(size_t len)
{
	if (len < f.len)
		f.len = len;
}

/* --- messages for a host ------------------------------------------------------------------ */

static u16 sum16(const u8 *p, size_t n)
{
	u32 sum = 0;

	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (u32)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}

static void ip_header(u8 *at, u16 len)
{
	static const u8 protocols[] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_GRE, 0 };

	memset(at, 0, 20);
	at[0] = one_in(8) ? (u8)below(256) : 0x45;
	at[2] = (u8)(len >> 8);
	at[3] = (u8)len;
	if (one_in(8))
		fill(at + 2, 6);
	at[8] = 64;
	at[9] = one_in(8) ? (u8)below(256) : protocols[below(sizeof(protocols))];
	at[12] = 10;
	at[13] = (u8)below(3);
	at[14] = (u8)below(2);
	at[16] = 10;
	at[17] = one_in(8) ? (u8)below(256) : 1;
	if (!one_in(8)) {
		u16 sum = sum16(at, 20);

		at[10] = (u8)(sum >> 8);
		at[11] = (u8)sum;
	}
}

/* Makes a virtio_net_hdr and an IP packet that do not match. Return: how many bytes. */
static u32 message(void)
{
	static const u8 gso[] = { 0, 1, 3, 4, 5, 0x80, 0x81, 0x84 };
	struct virtio_net_hdr v = {
		.flags = one_in(4) ? (u8)below(256) : (u8)below(3),
		.gso_type = one_in(8) ? (u8)below(256) : gso[below(sizeof(gso))],
		.hdr_len = (u16)edge(0xffff), .gso_size = (u16)edge(0xffff),
		.csum_start = one_in(2) ? 20 : (u16)edge(0xffff),
		.csum_offset = one_in(2) ? 6 : (u16)edge(0xffff),
	};
	u32 len = 20 + edge(USUAL - 20 - sizeof(v));

	fill(f.body, 128);
	memcpy(f.body, &v, sizeof(v));
	if (!one_in(8))
		ip_header(f.body + sizeof(v), one_in(8) ? (u16)edge(0xffff) : (u16)len);
	return (u32)sizeof(v) + len;
}

/* --- kinds ---------------------------------------------------------------------------------- */

static u32 someone(void)
{
	return one_in(6) ? edge(0xffffff) : below(NODES);
}

static u32 forged_source(void)
{
	if (f.impostor && one_in(2))
		return below(SPEAKING);
	return one_in(6) ? NODES + edge(0xffffff - NODES) : SPEAKING + below(NODES - SPEAKING);
}

static struct tn_hdr data_header(u8 type, u32 bytes, struct tn_tail *t)
{
	u32 flits = (bytes + TN_FLIT - 1) / TN_FLIT;
	struct tn_hdr h = header(type, (u16)flits);

	h.src = forged_source();
	h.dst = one_in(3) ? someone() : 1;
	h.vc = (u8)below(3);
	h.dir = one_in(2) ? (u16)below(16) : (u16)edge(0xfff);
	h.first = one_in(4) ? (u8)below(16) : TN_NO_STEP;
	h.last = one_in(4) ? (u8)below(16) : TN_NO_STEP;
	h.colour = (u8)below(4);
	*t = (struct tn_tail) {
		.eseq = one_in(3) ? edge(~0u) : below(4),
		.epoch = one_in(3) ? (u16)edge(0xffff) : 1,
		.vb = one_in(12) ? TN_VB_BAD : one_in(12) ? (u8)below(256) : 0,
	};
	t->flags = one_in(4) ? (u8)below(256) :
		   (u8)(TN_TAIL_FIRST | TN_TAIL_LAST | (flits * TN_FLIT - bytes));
	return h;
}

static void kind_data(void)
{
	unsigned int n = one_in(4) ? 1 + below(8) : 1;

	while (n--) {
		struct tn_tail t;
		u32 len = one_in(6) ? edge(one_in(6) ? TN_PAYLOAD_MAX : USUAL) : message();
		struct tn_hdr h = data_header(TN_DATA, len, &t);

		put(&h, &t, NULL);
		accepted();
	}
}

/* Large packets that are forwarded to another node, over a slow link. */
static void kind_transit(void)
{
	struct tn_tail t;
	struct tn_hdr h = data_header(TN_DATA, 512 + edge(USUAL - 512), &t);

	h.dst = 2;
	h.dir = 1;	/* +x */
	h.first = TN_NO_STEP;
	h.last = TN_NO_STEP;
	put(&h, &t, NULL);
	accepted();
}

static void kind_unreach(void)
{
	struct tn_tail t;
	struct tn_hdr h = data_header(TN_UNREACH, message(), &t);

	put(&h, &t, NULL);
	accepted();
}

static void kind_relay(void)
{
	struct tn_tail t;
	struct tn_hdr h = data_header(one_in(8) ? TN_UNREACH : TN_DATA, message(), &t);
	struct tn_via via = {
		.dst = one_in(8) ? edge(~0u) : below(NODES),
		.payer = one_in(4) ? ~0u : one_in(6) ? edge(~0u) : forged_source(),
		.gen = edge(~0u), .legs = (u16)edge(0xffff),
	};

	h.relayed = 1;
	if (one_in(8))
		h.type = (u8)below(8);
	put(&h, &t, &via);
	accepted();
}

/* Messages between NICs about relayed packets. */
static void kind_nic(void)
{
	struct tn_tail t;
	struct tn_hdr h = data_header(TN_DATA, TN_FLIT, &t);

	tn_put_le32(f.body, one_in(6) ? edge(~0u) : 1 + below(2));
	tn_put_le32(f.body + 4, edge(~0u));
	tn_put_le32(f.body + 8, edge(~0u));
	tn_put_le32(f.body + 12, edge(~0u));
	h.nic = 1;
	if (one_in(6))
		h.len = (u16)below(4);
	put(&h, &t, NULL);
	accepted();
}

static void kind_mgmt(void)
{
	struct tn_hdr h = header(TN_MGMT, (u16)(one_in(8) ? edge(1023) : 1 + below(60)));
	struct tn_tail t = { .flags = (u8)below(256), .vb = one_in(4) ? TN_VB_BAD : 0 };

	fill(f.body, 64);
	put(&h, &t, NULL);
	accepted();
}

static void kind_credit(void)
{
	struct tn_hdr h = header(TN_CREDIT, one_in(12) ? (u16)below(3) : 0);
	struct tn_tail t = { 0 };

	h.crp_vc = (u8)below(4);
	h.crp = (u16)edge(TN_CRP_MAX);
	put(&h, &t, NULL);
	accepted();
}

/* Numbers that jump: of packets and answers, generations, reports of errors that did not happen. */
static void kind_sequence(void)
{
	for (unsigned int n = 1 + below(20); n--;) {
		struct tn_hdr h = header(one_in(3) ? TN_IDLE : one_in(2) ? TN_CREDIT : TN_DATA, 0);
		struct tn_tail t = { 0 };

		h.src = forged_source();
		h.dst = 1;
		h.tseq = (u16)((h.tseq + (one_in(2) ? below(8) : edge(TN_SEQ_MASK))) & TN_SEQ_MASK);
		h.rseq = (u16)((h.rseq - (one_in(4) ? edge(TN_SEQ_MASK) : 0)) & TN_SEQ_MASK);
		h.e = (u8)below(2);
		h.gen = (u8)below(2);
		h.gen_echo = (u8)below(2);
		put(&h, &t, NULL);
	}
}

static void kind_acknak(void)
{
	for (unsigned int n = 1 + below(6); n--;) {
		struct tn_hdr h = header(TN_ACKNAK, 0);

		h.e = (u8)below(2);
		h.rseq = (u16)((h.rseq + (one_in(2) ? 0 : edge(TN_SEQ_MASK))) & TN_SEQ_MASK);
		tn_acknak_put(f.out + f.len, &h, one_in(6) ? 1 : peer_link()->seed);
		f.len += TN_ACKNAK_BYTES;
	}
}

static void kind_init(void)
{
	const struct tn_link *l = peer_link();
	struct tn_hdr h = { .type = TN_INIT, .len = (u16)(one_in(20) ? below(8) : TN_INIT_FLITS) };
	struct tn_tail t = { 0 };
	struct tn_init i = {
		.guid = one_in(3) ? random_next(&f.rng) : l->guid,
		.lowest = one_in(20) ? edge(~0u) : TN_WIRE_OLDEST,
		.highest = one_in(4) ? (u8)edge(255) : TN_WIRE_VERSION,
		.bubble = one_in(20) ? (u8)edge(255) : 0,
		.mbps = one_in(3) ? edge(~0u) : 0,
		.epoch = one_in(3) ? l->epoch + below(3) - 1 : one_in(8) ? edge(~0u) : l->epoch,
		.nonce = one_in(10) ? l->peer_nonce : one_in(10) ? 0 : one_in(2) ? l->nonce :
			 (u32)random_next(&f.rng),
		.nonce_received = one_in(4) ? edge(~0u) : l->peer_nonce,
		.attempt = l->attempt + (one_in(8) ? edge(~0u) : below(3)),
		.last_session = one_in(3) ? edge(~0u) : l->session,
		.last_rseq = one_in(2) ? (u16)edge(TN_SEQ_MASK) : l->retry.rx.expected,
		.first_tseq = (u16)edge(TN_SEQ_MASK),
		.slot_flits = one_in(20) ? (u16)edge(0xffff) : USUAL / TN_FLIT + 3,
		.port = (u8)edge(255), .resume = (u8)below(2), .up = (u8)below(2),
		.retry = (u8)below(4),
	};

	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		i.slots[vc] = one_in(6) ? (u16)edge(0xffff) : 256;
		i.occupied[vc] = one_in(4) ? (u16)edge(0xffff) : 0;
	}
	tn_init_put(f.body, &i);
	if (one_in(20))
		f.body[below(64)] ^= (u8)(1 + below(255));
	put(&h, &t, NULL);
}

/* All fields of a header at random, with right CRCs. */
static void kind_header(void)
{
	u8 flit[TN_FLIT];
	struct tn_tail t;
	struct tn_hdr h;
	struct tn_via via = { .dst = someone(), .payer = someone() };

	fill(flit, sizeof(flit));
	tn_hdr_get(flit, &h);
	if (!one_in(4))
		h.len &= 15;
	if (!one_in(4))
		h.tseq = *peer_expected();
	if (!one_in(4))
		h.rseq = header(TN_IDLE, 0).rseq;
	if (!one_in(4))
		h.crp = 0;
	if (!f.impostor || one_in(2))
		h.src = forged_source();
	fill(flit, sizeof(flit));
	tn_tail_get(flit, &t);
	put(&h, &t, &via);
}

static void honest_frame(void)
{
	struct tn_hdr h;
	struct tn_tail t;

	switch (below(3)) {
	case 0:
		kind_init();
		return;
	case 1:
		kind_acknak();
		return;
	default:
		h = data_header(TN_DATA, message(), &t);
		put(&h, &t, NULL);
	}
}

/* Frames cut to each possible length, in turn. */
static void kind_short(void)
{
	static size_t at;

	honest_frame();
	cut(at++ % (f.len + 1));
}

/* Lengths in headers larger than the frame, and frames longer than their packets. */
static void kind_long(void)
{
	struct tn_hdr h = header(TN_DATA, (u16)edge(1023));
	struct tn_tail t = { 0 };

	h.src = forged_source();
	if (one_in(2)) {
		put(&h, &t, NULL);
		fill(f.out + f.len, 32);
		f.len += one_in(2) ? below(64) : PEER_FRAME_MAX - f.len;
		return;
	}
	put(&h, &t, NULL);
	cut(below((uint32_t)f.len + 1));
}

/* Flipped bits. */
static void kind_damage(void)
{
	honest_frame();
	for (unsigned int n = 1 + below(4); n-- && f.len;)
		f.out[below((uint32_t)f.len)] ^= (u8)(1 << below(8));
}

static void kind_noise(void)
{
	f.len = one_in(4) ? edge(PEER_FRAME_MAX) : below(600);
	memset(f.out, 0, f.len);
	fill(f.out, f.len < 256 ? f.len : 256);
}

/* A frame of the other end, or an older one of ours. */
static void kind_echo(void)
{
	const u8 *frame;

	if (one_in(2)) {
		f.len = peer_received(&frame);
		memcpy(f.out, frame, f.len);
	} else {
		f.len = f.kept_len;
		memcpy(f.out, f.kept, f.len);
	}
}

/* Frames full of the smallest packets; as many as there are buffers, and more. */
static void kind_flood(void)
{
	u32 eseq = below(2) ? below(1000) : 1u << 20, src = forged_source();
	u8 vc = (u8)below(3);

	for (unsigned int n = one_in(8) ? 2000 : below(300); n--;) {
		struct tn_hdr h = header(TN_DATA, 0);
		struct tn_tail t = { .eseq = eseq++, .epoch = 1, .flags = TN_TAIL_FIRST };

		h.src = src;
		h.dst = 1;
		h.vc = vc;
		put(&h, &t, NULL);
		accepted();
	}
}

/* Packets that must wait for earlier ones of their flow, which do not come: each for one more. */
static void kind_hoard(void)
{
	static u32 eseq;

	for (unsigned int n = 1 + below(16); n--;) {
		struct tn_hdr h = header(TN_DATA, (u16)(1 + below(32)));
		struct tn_tail t = { .eseq = eseq += 2, .epoch = 1,
				     .flags = TN_TAIL_FIRST | TN_TAIL_LAST };

		h.src = SPEAKING + below(NODES - SPEAKING);
		h.dst = 1;
		put(&h, &t, NULL);
		accepted();
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} kinds[] = {
	{ "data", kind_data }, { "transit", kind_transit }, { "unreach", kind_unreach },
	{ "relay", kind_relay }, { "nic", kind_nic }, { "mgmt", kind_mgmt },
	{ "credit", kind_credit }, { "sequence", kind_sequence }, { "acknak", kind_acknak },
	{ "init", kind_init }, { "header", kind_header }, { "short", kind_short },
	{ "long", kind_long }, { "damage", kind_damage }, { "noise", kind_noise },
	{ "echo", kind_echo }, { "flood", kind_flood }, { "hoard", kind_hoard },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- the run ----------------------------------------------------------------------------------- */

static void fault(const char *what)
{
	printf("not ok - %s; after %" PRIu64 " frames; replay: SEED=%" PRIu64
	       " framefuzz --count %" PRIu64 " --way %s%s%s\n", what, f.sent, f.seed, f.count,
	       f.way,
	       f.only ? " --only " : "", f.only ? f.only : "");
	exit(1);
}

/* Brings the link up anew. A lie about the attempt or epoch may have made the true one look old. */
static void bring_up(void)
{
	if (peer_link()->state == TORUS_LINK_UP)
		return;
	while (!peer_up(1000)) {
		if (++f.restarts > 100 + f.count)
			fault("the link does not come up");
		peer_begin(below(TORUS_RETRIES), false);
	}
	f.ups++;
}

/*
 * Makes the peer honest for good. The last lie may have used its present epoch and a later attempt
 * than it will make: so it is switched on again, with another epoch.
 */
static bool honest_peer_up(void)
{
	for (unsigned int i = 0; i < RETURNS; i++) {
		peer_begin(TORUS_RETRY_AUTO, true);
		if (peer_up(RETURN_MS / RETURNS))
			return true;
	}
	return false;
}

static void one_frame(void)
{
	unsigned int kind = below(KINDS);

	f.len = 0;
	while (f.only && strcmp(f.only, kinds[kind].name))
		kind = (kind + 1) % KINDS;
	kinds[kind].make();
	if (f.verbose)
		fprintf(stderr, "%" PRIu64 " %s %zu\n", f.sent, kinds[kind].name, f.len);
	peer_send(f.out, f.len);
	f.sent++;
	if (one_in(16)) {
		memcpy(f.kept, f.out, f.len);
		f.kept_len = f.len;
	}
}

static void usage(FILE *to)
{
	fputs("usage: [SEED=N] framefuzz [--count N] [--only KIND] [--way WAY] [--impostor]\n"
	      "                          [--verbose] IFNAME\n\n"
	      "Sends N (2000) hostile frames by the Ethernet device IFNAME to the port of a NIC at "
	      "its\n"
	      "other end, the +y port of node 1,0 of a torus 3x2. WAY: packet (default), ring, "
	      "tap.\n"
	      "KIND is one of:", to);
	for (size_t i = 0; i < KINDS; i++)
		fprintf(to, " %s", kinds[i].name);
	fputs("\n", to);
}

static void only(const char *name)
{
	f.only = name;
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return;
	fprintf(stderr, "framefuzz: --only '%s' is no kind\n", name);
	usage(stderr);
	exit(2);
}

static void options(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "only", required_argument, NULL, 'o' },
		{ "way", required_argument, NULL, 'w' },
		{ "impostor", no_argument, NULL, 'i' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	f.count = 2000;
	f.way = "packet";
	while ((c = getopt_long(argc, argv, "hv", opts, NULL)) != -1) {
		if (c == 'c')
			f.count = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			only(optarg);
		else if (c == 'w')
			f.way = optarg;
		else if (c == 'i')
			f.impostor = true;
		else if (c == 'v')
			f.verbose = true;
		else
			usage(c == 'h' ? stdout : stderr), exit(c == 'h' ? 0 : 2);
	}
	if (optind + 1 == argc)
		return;
	usage(stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	options(argc, argv);
	f.seed = random_seed(1);
	f.rng = f.seed;
	if (!peer_open(f.way, argv[optind])) {
		fprintf(stderr, "framefuzz: --way '%s' is none\n", f.way);
		usage(stderr);
		return 2;
	}
	peer_begin(TORUS_RETRY_AUTO, false);
	while (f.sent < f.count) {
		if (one_in(250))
			peer_begin(below(TORUS_RETRIES), false);
		bring_up();
		one_frame();
		if (!one_in(4))
			peer_run(0);
	}
	if (!honest_peer_up())
		fault("the link does not come back for an honest peer");
	if (!peer_exchange(50, RETURN_MS))
		fault("an honest peer's packets are not taken");
	printf("ok - %" PRIu64 " frames, SEED=%"
	       PRIu64 ": the link came up %u times, the peer anew %u "
	       "times; an honest peer is taken\n", f.sent, f.seed, f.ups, f.restarts);
	return 0;
}
