// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire format compared with a second implementation of its document: fields are put into flits
 * bit by bit from a table, CRCs are computed bit by bit.
 */
#include "tests/flits.h"
#include "tests/unit/seeds.h"
#include "kernel/core/wire.h"

/* Writes bits of a flit, counted from the lowest bit of byte 0. */
static void bits_put(u8 *flit, unsigned int at, unsigned int width, u64 v)
{
	for (unsigned int i = 0; i < width; i++) {
		u8 bit = (u8)(1u << (at + i) % 8);

		if (v >> i & 1)
			flit[(at + i) / 8] |= bit;
		else
			flit[(at + i) / 8] &= (u8)~bit;
	}
}

static u32 crc_bits(u32 crc, const u8 *p, size_t len)
{
	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

static void flip(u8 *p, unsigned int bit)
{
	p[bit / 8] ^= (u8)(1u << bit % 8);
}

static struct tn_hdr random_hdr(struct rnd *r)
{
	return (struct tn_hdr) {
		.type = (u8)rnd_below(r, 8), .vc = (u8)rnd_below(r, 4),
		.e = (u8)rnd_below(r, 2), .gen = (u8)rnd_below(r, 2),
		.gen_echo = (u8)rnd_below(r, 2), .len = (u16)rnd_below(r, 1024),
		.relayed = (u8)rnd_below(r, 2), .nic = (u8)rnd_below(r, 2),
		.tseq = (u16)rnd_below(r, 4096), .rseq = (u16)rnd_below(r, 4096),
		.crp_vc = (u8)rnd_below(r, 4), .crp = (u16)rnd_below(r, 4096),
		.colour = (u8)rnd_below(r, 4), .first = (u8)rnd_below(r, 16),
		.dst = rnd_below(r, 1 << 24), .src = rnd_below(r, 1 << 24),
		.dir = (u16)rnd_below(r, 4096), .last = (u8)rnd_below(r, 16),
	};
}

static void hdr_by_document(u8 *flit, const struct tn_hdr *h)
{
	memset(flit, 0, TN_FLIT);
	bits_put(flit, 0, 3, h->type);
	bits_put(flit, 3, 2, h->vc);
	bits_put(flit, 5, 1, h->e);
	bits_put(flit, 6, 1, h->gen);
	bits_put(flit, 7, 1, h->gen_echo);
	bits_put(flit, 8, 10, h->len);
	bits_put(flit, 18, 1, h->relayed);
	bits_put(flit, 19, 1, h->nic);
	bits_put(flit, 20, 12, h->tseq);
	bits_put(flit, 32, 12, h->rseq);
	bits_put(flit, 44, 2, h->crp_vc);
	bits_put(flit, 46, 12, h->crp);
	bits_put(flit, 58, 2, h->colour);
	bits_put(flit, 60, 4, h->first);
	bits_put(flit, 64, 24, h->dst);
	bits_put(flit, 64 + 24, 24, h->src);
	bits_put(flit, 64 + 48, 12, h->dir);
	bits_put(flit, 64 + 60, 4, h->last);
}

static void hdr_equal(struct rnd *r, const struct tn_hdr *a, const struct tn_hdr *b)
{
	expect(r, a->type == b->type && a->vc == b->vc && a->e == b->e &&
	       a->gen == b->gen && a->gen_echo == b->gen_echo, "first byte");
	expect(r, a->relayed == b->relayed && a->nic == b->nic, "RELAYED, NIC");
	expect(r, a->len == b->len && a->tseq == b->tseq && a->rseq == b->rseq,
	       "length, TSEQ, RSEQ");
	expect(r, a->crp_vc == b->crp_vc && a->crp == b->crp, "VCCR");
	expect(r, a->colour == b->colour && a->first == b->first && a->last == b->last,
	       "colour, steps");
	expect(r, a->dst == b->dst && a->src == b->src && a->dir == b->dir, "route");
}

static void hdr_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	for (int i = 0; i < 2000; i++) {
		struct tn_hdr h = random_hdr(&r), back;
		u8 flit[TN_FLIT], want[TN_FLIT];

		hdr_by_document(want, &h);
		tn_hdr_put(flit, &h);
		expect(&r, !memcmp(flit, want, TN_FLIT), "header %d", i);
		tn_hdr_get(flit, &back);
		hdr_equal(&r, &h, &back);
	}
}

static void random_header_is_read_as_written(void **state)
{
	(void)state;
	for_seeds(20, hdr_one);
}

/* Every bit of a header flit has a meaning: any 16 bytes are the same after reading and writing. */
static void each_bit_of_header_has_a_meaning(void **state)
{
	struct rnd r = rnd_new(7);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		u8 flit[TN_FLIT], back[TN_FLIT];
		struct tn_hdr h;

		rnd_fill(&r, flit, sizeof(flit));
		tn_hdr_get(flit, &h);
		tn_hdr_put(back, &h);
		assert_memory_equal(flit, back, TN_FLIT);
	}
}

static void random_relay_flit_is_read_as_written(void **state)
{
	struct rnd r = rnd_new(5);

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct tn_via v = {
			.dst = (u32)rnd64(&r), .payer = (u32)rnd64(&r), .gen = (u32)rnd64(&r),
			.legs = (u16)rnd64(&r),
		}, back;
		u8 flit[TN_FLIT], want[TN_FLIT] = { 0 };

		bits_put(want, 0, 32, v.dst);
		bits_put(want, 32, 32, v.payer);
		bits_put(want, 64, 32, v.gen);
		bits_put(want, 96, 16, v.legs);
		tn_via_put(flit, &v);
		assert_memory_equal(flit, want, TN_FLIT);
		tn_via_get(flit, &back);
		assert_true(back.dst == v.dst && back.payer == v.payer && back.gen == v.gen &&
			    back.legs == v.legs);
	}
}

/* The relay flit differs from the next packet's header, and damage to it is detected. */
static void damaged_relay_flit_is_detected(void **state)
{
	u8 flits[8 * TN_FLIT] = { 0 };
	struct tn_hdr h = { .type = TN_DATA, .len = 2, .relayed = 1, .dst = 3 };
	const struct tn_via v = { .dst = 7, .payer = 2, .gen = 9, .legs = 1 };

	(void)state;
	tn_hdr_put(flits, &h);
	tn_via_put(flits + 4 * TN_FLIT, &v);
	flits_seal(flits, h.len, 77);
	assert_int_equal(tn_hdr_flits(&h), 5);
	assert_true(flits_sealed(flits, h.len, 77));
	for (unsigned int bit = 0; bit < TN_FLIT * 8; bit++) {
		flip(flits + 4 * TN_FLIT, bit);
		assert_false(flits_sealed(flits, h.len, 77));
		flip(flits + 4 * TN_FLIT, bit);
	}
	flip(flits, 18);	/* RELAYED */
	assert_false(flits_sealed(flits, h.len, 77));
	flits[5 * TN_FLIT] = 1;
	flip(flits, 18);	/* RELAYED */
	assert_true(flits_sealed(flits, h.len, 77));
}

static void random_tail_is_read_as_written(void **state)
{
	struct rnd r = rnd_new(11);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct tn_tail t, back;
		u8 flit[TN_FLIT], want[TN_FLIT] = { 0 };

		t.ecrc = (u32)rnd64(&r);
		t.eseq = (u32)rnd64(&r);
		t.vb = (u8)rnd64(&r);
		t.flags = (u8)rnd64(&r);
		t.epoch = (u16)rnd64(&r);
		bits_put(want, 0, 32, t.ecrc);
		bits_put(want, 64, 32, t.eseq);
		bits_put(want, 96, 8, t.vb);
		bits_put(want, 104, 8, t.flags);
		bits_put(want, 112, 16, t.epoch);
		tn_tail_put(flit, &t);
		assert_memory_equal(flit, want, TN_FLIT);
		rnd_fill(&r, flit + 4, 4);	/* an LCRC changes nothing */
		tn_tail_get(flit, &back);
		assert_int_equal(back.ecrc, t.ecrc);
		assert_int_equal(back.eseq, t.eseq);
		assert_int_equal(back.vb, t.vb);
		assert_int_equal(back.flags, t.flags);
		assert_int_equal(back.epoch, t.epoch);
	}
}

static void le(u8 *p, unsigned int bytes, u64 v)
{
	while (bytes--) {
		*p++ = (u8)v;
		v >>= 8;
	}
}

static struct tn_init random_init(struct rnd *r)
{
	struct tn_init i = {
		.guid = rnd64(r), .lowest = (u32)rnd64(r), .epoch = (u32)rnd64(r),
		.attempt = (u32)rnd64(r), .nonce = (u32)rnd64(r), .nonce_received = (u32)rnd64(r),
		.last_session = (u32)rnd64(r), .last_rseq = (u16)rnd_below(r, 4096),
		.first_tseq = (u16)rnd_below(r, 4096), .slot_flits = (u16)rnd64(r),
		.port = (u8)rnd64(r), .resume = (u8)rnd_below(r, 2),
		.up = (u8)rnd_below(r, 2), .retry = (u8)rnd_below(r, 4),
		.highest = (u8)rnd64(r), .bubble = (u8)rnd64(r), .mbps = (u32)rnd64(r),
	};

	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		i.slots[vc] = (u16)rnd64(r);
		i.occupied[vc] = (u16)rnd64(r);
	}
	return i;
}

static void init_by_document(u8 *p, const struct tn_init *i)
{
	memset(p, 0, TN_INIT_FLITS * TN_FLIT);
	le(p, 4, i->lowest);
	le(p + 4, 1, i->port);
	le(p + 5, 1, i->resume | (u64)i->up << 1 | (u64)i->retry << 2);
	le(p + 6, 2, i->slot_flits);
	le(p + 8, 8, i->guid);
	le(p + 16, 4, i->epoch);
	le(p + 20, 4, i->nonce);
	le(p + 24, 4, i->nonce_received);
	le(p + 28, 4, i->last_session);
	le(p + 32, 2, i->last_rseq);
	le(p + 34, 2, i->first_tseq);
	le(p + 48, 4, i->attempt);
	le(p + 52, 1, i->highest);
	le(p + 53, 1, i->bubble);
	le(p + 54, 4, i->mbps);
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		le(p + 36 + 2 * vc, 2, i->slots[vc]);
		le(p + 42 + 2 * vc, 2, i->occupied[vc]);
	}
}

static void random_init_is_read_as_documented(void **state)
{
	struct rnd r = rnd_new(13);

	(void)state;
	for (int n = 0; n < 5000; n++) {
		u8 got[TN_INIT_FLITS * TN_FLIT], want[TN_INIT_FLITS * TN_FLIT];
		struct tn_init i = random_init(&r), back;

		init_by_document(want, &i);
		memset(got, 0xff, sizeof(got));
		tn_init_put(got, &i);
		assert_memory_equal(got, want, sizeof(got));
		memset(&back, 0xff, sizeof(back));
		tn_init_get(got, &back);
		init_by_document(want, &back);
		assert_memory_equal(got, want, sizeof(got));
	}
}

struct packet {
	u8 flits[TN_PACKET_MAX];
	struct tn_hdr hdr;
	struct tn_tail tail;
};

static void packet_make(struct rnd *r, struct packet *p, u16 len, u32 session)
{
	u8 *tail = flits_tail(p->flits, len);

	p->hdr = random_hdr(r);
	p->hdr.len = len;
	p->hdr.relayed = 0;
	p->tail = (struct tn_tail) {
		.eseq = (u32)rnd64(r), .epoch = (u16)rnd64(r), .flags = (u8)rnd64(r),
		.vb = (u8)rnd64(r),
	};
	tn_hdr_put(p->flits, &p->hdr);
	rnd_fill(r, p->flits + TN_FLIT, (size_t)len * TN_FLIT);
	p->tail.ecrc = tn_ecrc(p->flits + TN_FLIT, &p->hdr, &p->tail);
	tn_tail_put(tail, &p->tail);
	flits_seal(p->flits, len, session);
}

static bool packet_ok(const struct packet *p, u16 len, u32 session)
{
	struct tn_hdr h;
	struct tn_tail t;

	if (!flits_sealed(p->flits, len, session))
		return false;
	tn_hdr_get(p->flits, &h);
	if (h.len != len)
		return false;
	tn_tail_get(p->flits + TN_FLIT * (len + 1), &t);
	return tn_ecrc(p->flits + TN_FLIT, &h, &t) == t.ecrc;
}

static void crc_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	u16 len = (u16)rnd_below(&r, TN_PAYLOAD_FLITS_MAX + 1);
	u32 session = (u32)rnd64(&r), lcrc;
	static struct packet p;
	u8 end[TN_FLIT] = { 0 }, *tail = flits_tail(p.flits, len);

	packet_make(&r, &p, len, session);
	expect(&r, packet_ok(&p, len, session), "length %u", len);
	expect(&r, !flits_sealed(p.flits, len, session + 1), "another session");

	le(end, 4, p.hdr.dst);
	le(end + 4, 4, p.hdr.src);
	le(end + 8, 4, p.tail.eseq);
	end[12] = p.tail.flags & 0x7f;
	end[13] = p.tail.vb;
	le(end + 14, 2, p.tail.epoch);
	expect(&r, p.tail.ecrc == crc_bits(crc_bits(~0u, p.flits + TN_FLIT,
						    (size_t)len * TN_FLIT), end, TN_FLIT),
	       "ECRC by the document");
	lcrc = tn_get_le32(tail + 4);
	le(tail + 4, 4, 0);
	expect(&r, lcrc == crc_bits(crc_bits(session, p.flits, TN_FLIT), tail, TN_FLIT),
	       "LCRC by the document");
}

static void crcs_equal_those_of_document(void **state)
{
	(void)state;
	for_seeds(300, crc_one);
}

/* Fields that a hop may change are not in the ECRC; all others are. */
static void ecrc_covers_fields_that_no_hop_changes(void **state)
{
	struct rnd r = rnd_new(17);
	static struct packet p;
	struct tn_hdr h;
	struct tn_tail t;

	(void)state;
	packet_make(&r, &p, 3, 1);
	h = p.hdr;
	h.dir ^= 0xfff;
	h.tseq ^= 1;
	h.rseq ^= 1;
	h.crp ^= 1;
	h.colour ^= 1;
	h.first ^= 1;
	h.last ^= 1;
	h.vc ^= 1;
	t = p.tail;
	t.flags ^= TN_TAIL_REPLAYED;
	assert_int_equal(tn_ecrc(p.flits + TN_FLIT, &h, &t), p.tail.ecrc);
	h = p.hdr;
	t = p.tail;
	h.dst ^= 1;
	assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &h, &t), p.tail.ecrc);
	h = p.hdr;
	h.src ^= 0x800000;
	assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &h, &t), p.tail.ecrc);
	t.eseq ^= 1;
	assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &p.hdr, &t), p.tail.ecrc);
	t = p.tail;
	t.flags ^= TN_TAIL_LAST;
	assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &p.hdr, &t), p.tail.ecrc);
	t = p.tail;
	t.epoch ^= 1;
	assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &p.hdr, &t), p.tail.ecrc);
	for (unsigned int bit = 0; bit < 8; bit++) {	/* the byte of the service */
		t = p.tail;
		t.vb ^= (u8)(1u << bit);
		assert_int_not_equal(tn_ecrc(p.flits + TN_FLIT, &p.hdr, &t), p.tail.ecrc);
	}
}

/* The CRCs find one flipped bit, wherever it is, and every burst of up to 32 bits. */
static void crcs_find_each_flipped_bit_and_burst(void **state)
{
	struct rnd r = rnd_new(19);
	const u16 len = 9;
	const unsigned int bits = (len + 2u) * TN_FLIT * 8;
	static struct packet p, bad;

	(void)state;
	packet_make(&r, &p, len, 0xabcdef01);
	for (unsigned int bit = 0; bit < bits; bit++) {
		bad = p;
		flip(bad.flits, bit);
		if (packet_ok(&bad, len, 0xabcdef01))
			fail_msg("flip of bit %u passes", bit);
		for (unsigned int n = 2; n <= 32 && bit + n <= bits; n += 5) {
			bad = p;
			flip(bad.flits, bit);
			flip(bad.flits, bit + n - 1);
			for (unsigned int i = 1; i < n - 1; i++) {
				if (rnd_below(&r, 2))
					flip(bad.flits, bit + i);
			}
			if (packet_ok(&bad, len, 0xabcdef01))
				fail_msg("burst of %u bits at %u passes", n, bit);
		}
	}
}

/* Draws @n different bits below @bits. */
static void draw_bits(struct rnd *r, unsigned int *at, unsigned int n, unsigned int bits)
{
	for (unsigned int k = 0; k < n; k++) {
		unsigned int j = 0;

		at[k] = rnd_below(r, bits);
		while (j < k && at[j] != at[k])
			j++;
		if (j < k)
			k--;		/* this bit was drawn before: another one is drawn */
	}
}

/* Two to six flips anywhere are always detected, in 200000 attempts. */
static void flips_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	static struct packet p;
	u16 len = (u16)rnd_below(&r, 40);
	unsigned int bits = (len + 2u) * TN_FLIT * 8, at[6];

	packet_make(&r, &p, len, 5);
	for (int i = 0; i < 5000; i++) {
		unsigned int n = 2 + rnd_below(&r, 5);

		draw_bits(&r, at, n, bits);
		for (unsigned int k = 0; k < n; k++)
			flip(p.flits, at[k]);
		expect(&r, !packet_ok(&p, len, 5), "%u flips, try %d", n, i);
		for (unsigned int k = 0; k < n; k++)
			flip(p.flits, at[k]);
	}
	expect(&r, packet_ok(&p, len, 5), "flipped back");
}

static void crcs_find_random_flips(void **state)
{
	(void)state;
	for_seeds(40, flips_one);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_header_is_read_as_written),
		cmocka_unit_test(each_bit_of_header_has_a_meaning),
		cmocka_unit_test(random_relay_flit_is_read_as_written),
		cmocka_unit_test(damaged_relay_flit_is_detected),
		cmocka_unit_test(random_tail_is_read_as_written),
		cmocka_unit_test(random_init_is_read_as_documented),
		cmocka_unit_test(crcs_equal_those_of_document),
		cmocka_unit_test(ecrc_covers_fields_that_no_hop_changes),
		cmocka_unit_test(crcs_find_each_flipped_bit_and_burst),
		cmocka_unit_test(crcs_find_random_flips),
	};

	return cmocka_run_group_tests_name("wire", all, NULL, NULL);
}
