// SPDX-License-Identifier: GPL-2.0-only
/* Flits to numbers and back; wire.h has the layout. */
#include "wire.h"

_Static_assert(TORUS_VCS <= 4 && TORUS_COLOURS <= 4, "a header has 2 bits for each");
_Static_assert(TORUS_MAX_PORTS <= 12, "a header has 12 DIR bits");
_Static_assert(TN_PAYLOAD_FLITS_MAX <= 0x3ff, "a header has 10 bits for the length");
_Static_assert(TORUS_MAX_NODES <= 1u << 24, "a header has 24 bits for a node id");
_Static_assert(TN_EDGE_FLITS * TN_FLIT == TN_AROUND_MAX, "header, tail and relay flit");
_Static_assert(offsetof(struct tn_hdr, tseq) == 22 && 22 == 4 + 4 + 3 * 2 + 8,
	       "tn_hdr_like() compares 22 bytes, without padding");
_Static_assert(TN_INIT_FLITS * TN_FLIT >= 58, "an INIT ends with the rate, 4 bytes at 54");

static inline u16 get_bits16(u64 w, unsigned int shift, u16 mask)
{
	return (u16)(w >> shift & mask);
}

static inline u8 get_bits8(u64 w, unsigned int shift, u8 mask)
{
	return (u8)(w >> shift & mask);
}

/*
 * Asserts that each field fits into its bits: a larger value would change the neighbouring field.
 */
static void check_fields(const struct tn_hdr *h)
{
	tn_assert(h->type < 8 && h->vc < 4 && h->crp_vc < 4 && h->colour < 4);
	tn_assert(h->e < 2 && h->gen < 2 && h->gen_echo < 2);
	tn_assert(h->relayed < 2 && h->nic < 2);
	tn_assert(h->len <= 0x3ff);
	tn_assert(h->tseq <= TN_SEQ_MASK);
	tn_assert(h->rseq <= TN_SEQ_MASK);
	tn_assert(h->crp <= TN_CRP_MAX);
	tn_assert(h->first < 16 && h->last < 16);
	tn_assert(h->dst < 1u << 24);
	tn_assert(h->src < 1u << 24);
	tn_assert(h->dir <= 0xfff);
}

void tn_hdr_put(u8 *flit, const struct tn_hdr *h)
{
	check_fields(h);
	tn_put_le64(flit, (u64)h->type | (u64)h->vc << 3 | (u64)h->e << 5 |
			  (u64)h->gen << 6 | (u64)h->gen_echo << 7 | (u64)h->len << 8 |
			  (u64)h->relayed << 18 | (u64)h->nic << 19 | (u64)h->tseq << 20 |
			  (u64)h->rseq << 32 | (u64)h->crp_vc << 44 | (u64)h->crp << 46 |
			  (u64)h->colour << 58 | (u64)h->first << 60);
	tn_put_le64(flit + 8, (u64)h->dst | (u64)h->src << 24 | (u64)h->dir << 48 |
			      (u64)h->last << 60);
}

void tn_hdr_get(const u8 *flit, struct tn_hdr *h)
{
	u64 w0 = tn_get_le64(flit), w1 = tn_get_le64(flit + 8);

	h->type = get_bits8(w0, 0, 7);
	h->vc = get_bits8(w0, 3, 3);
	h->e = get_bits8(w0, 5, 1);
	h->gen = get_bits8(w0, 6, 1);
	h->gen_echo = get_bits8(w0, 7, 1);
	h->len = get_bits16(w0, 8, 0x3ff);
	h->relayed = get_bits8(w0, 18, 1);
	h->nic = get_bits8(w0, 19, 1);
	h->tseq = get_bits16(w0, 20, TN_SEQ_MASK);
	h->rseq = get_bits16(w0, 32, TN_SEQ_MASK);
	h->crp_vc = get_bits8(w0, 44, 3);
	h->crp = get_bits16(w0, 46, TN_CRP_MAX);
	h->colour = get_bits8(w0, 58, 3);
	h->first = get_bits8(w0, 60, 15);
	h->dst = (u32)(w1 & 0xffffff);
	h->src = (u32)(w1 >> 24 & 0xffffff);
	h->dir = get_bits16(w1, 48, 0xfff);
	h->last = get_bits8(w1, 60, 15);
}

void tn_tail_put(u8 *flit, const struct tn_tail *t)
{
	tn_put_le64(flit, t->ecrc);
	tn_put_le64(flit + 8, t->eseq | (u64)t->vb << 32 | (u64)t->flags << 40 |
			      (u64)t->epoch << 48);
}

void tn_tail_get(const u8 *flit, struct tn_tail *t)
{
	u64 w = tn_get_le64(flit + 8);

	t->ecrc = tn_get_le32(flit);
	t->eseq = (u32)w;
	t->vb = get_bits8(w, 32, 0xff);
	t->flags = get_bits8(w, 40, 0xff);
	t->epoch = get_bits16(w, 48, 0xffff);
}

void tn_via_put(u8 *flit, const struct tn_via *v)
{
	tn_assert(v->legs <= 0xffff);
	tn_put_le32(flit, v->dst);
	tn_put_le32(flit + 4, v->payer);
	tn_put_le32(flit + 8, v->gen);
	tn_put_le32(flit + 12, v->legs);
}

void tn_via_get(const u8 *flit, struct tn_via *v)
{
	v->dst = tn_get_le32(flit);
	v->payer = tn_get_le32(flit + 4);
	v->gen = tn_get_le32(flit + 8);
	v->legs = tn_get_le16(flit + 12);
}

void tn_init_put(u8 *p, const struct tn_init *i)
{
	unsigned int vc;

	tn_assert(i->retry < 4);
	memset(p, 0, TN_INIT_FLITS * TN_FLIT);
	tn_put_le32(p, i->lowest);
	p[4] = i->port;
	p[5] = (u8)((i->resume & 1) | (i->up & 1) << 1 | (i->retry & 3) << 2);
	tn_put_le16(p + 6, i->slot_flits);
	tn_put_le64(p + 8, i->guid);
	tn_put_le32(p + 16, i->epoch);
	tn_put_le32(p + 20, i->nonce);
	tn_put_le32(p + 24, i->nonce_received);
	tn_put_le32(p + 28, i->last_session);
	tn_put_le16(p + 32, i->last_rseq);
	tn_put_le16(p + 34, i->first_tseq);
	tn_put_le32(p + 48, i->attempt);
	p[52] = i->highest;
	p[53] = i->bubble;
	tn_put_le32(p + 54, i->mbps);
	for (vc = 0; vc < TORUS_VCS; vc++) {
		tn_put_le16(p + 36 + 2 * vc, i->slots[vc]);
		tn_put_le16(p + 42 + 2 * vc, i->occupied[vc]);
	}
}

void tn_init_get(const u8 *p, struct tn_init *i)
{
	unsigned int vc;

	i->lowest = tn_get_le32(p);
	i->port = p[4];
	i->resume = p[5] & 1;
	i->up = p[5] >> 1 & 1;
	i->retry = p[5] >> 2 & 3;
	i->slot_flits = tn_get_le16(p + 6);
	i->guid = tn_get_le64(p + 8);
	i->epoch = tn_get_le32(p + 16);
	i->nonce = tn_get_le32(p + 20);
	i->nonce_received = tn_get_le32(p + 24);
	i->last_session = tn_get_le32(p + 28);
	i->last_rseq = tn_get_le16(p + 32) & TN_SEQ_MASK;
	i->first_tseq = tn_get_le16(p + 34) & TN_SEQ_MASK;
	i->attempt = tn_get_le32(p + 48);
	i->highest = p[52];
	i->bubble = p[53];
	i->mbps = tn_get_le32(p + 54);
	for (vc = 0; vc < TORUS_VCS; vc++) {
		i->slots[vc] = tn_get_le16(p + 36 + 2 * vc);
		i->occupied[vc] = tn_get_le16(p + 42 + 2 * vc);
	}
}

unsigned int tn_init_version(const struct tn_init *i, unsigned int highest)
{
	u32 theirs = i->highest ? i->highest : i->lowest;
	u32 common = theirs < highest ? theirs : highest;

	return common >= i->lowest && common >= TN_WIRE_OLDEST ? common : 0;
}

void tn_acknak_put(u8 *bytes, const struct tn_hdr *h, u32 seed)
{
	tn_assert(h->e < 2 && h->rseq <= TN_SEQ_MASK);
	tn_assert(seed);
	tn_put_le32(bytes, TN_ACKNAK | (u32)(h->e & 1) << 3 | (u32)(h->rseq & TN_SEQ_MASK) << 4);
	tn_put_le32(bytes + 4, tn_crc32c(seed, bytes, 4));
}

bool tn_acknak_get(const u8 *bytes, struct tn_hdr *h, u32 seed)
{
	u32 w = tn_get_le32(bytes);

	*h = (struct tn_hdr) {
		.type = TN_ACKNAK,
		.e = w >> 3 & 1,
		.rseq = (u16)(w >> 4 & TN_SEQ_MASK),
	};
	return tn_get_le32(bytes + 4) == tn_crc32c(seed, bytes, 4);
}

static unsigned int edge_bytes(const u8 *head)
{
	return (2u + tn_relayed_of(head)) * TN_FLIT;
}

static u64 crc_flit(u64 crc, const u8 *flit)
{
	return tn_crc32c_word(tn_crc32c_word(crc, tn_get_le64(flit)), tn_get_le64(flit + 8));
}

void tn_lcrc_set(u8 *edge, u32 seed)
{
	u64 crc;

	if (tn_crc32c_fast()) {
		crc = crc_flit(crc_flit(seed, edge), edge + TN_FLIT);
		if (tn_relayed_of(edge))
			crc = crc_flit(crc, edge + 2 * TN_FLIT);
	} else {
		crc = tn_crc32c(seed, edge, edge_bytes(edge));
	}
	tn_put_le32(edge + TN_FLIT + 4, (u32)crc);
}

/*
 * Copies a flit whose CRC is computed immediately afterwards. The copy is written in words of 8
 * bytes, as tn_crc32c() reads it: the processor delays a load that spans two stores until both are
 * done.
 */
static void copy_flit(u8 *to, const u8 *from)
{
	tn_put_le64(to, tn_get_le64(from));
	tn_put_le64(to + 8, tn_get_le64(from + 8));
}

/* Return: the LCRC of a received packet, of a copy in which it is zero. */
static noinline u32 lcrc_of_copy(const u8 *head, const u8 *end, u32 seed)
{
	unsigned int bytes = edge_bytes(head);
	u8 edge[TN_EDGE_FLITS * TN_FLIT];

	copy_flit(edge, head);
	tn_put_le64(edge + TN_FLIT, tn_get_le32(end));
	tn_put_le64(edge + TN_FLIT + 8, tn_get_le64(end + 8));
	if (bytes == sizeof(edge))
		copy_flit(edge + 2 * TN_FLIT, end + TN_FLIT);
	return tn_crc32c(seed, edge, bytes);
}

bool tn_lcrc_ok(const u8 *head, const u8 *end, u32 seed)
{
	u64 crc;

	if (tn_crc32c_fast()) {
		crc = tn_crc32c_word(crc_flit(seed, head), tn_get_le32(end));
		crc = tn_crc32c_word(crc, tn_get_le64(end + 8));
		if (tn_relayed_of(head))
			crc = crc_flit(crc, end + TN_FLIT);
	} else {
		crc = lcrc_of_copy(head, end, seed);
	}
	return tn_get_le32(end + 4) == (u32)crc;
}

u32 tn_ecrc(const u8 *payload, const struct tn_hdr *h, const struct tn_tail *t)
{
	u8 end[TN_FLIT];

	tn_put_le64(end, (u64)h->src << 32 | h->dst);
	tn_put_le64(end + 8, t->eseq | (u64)(t->flags & (0xffu ^ TN_TAIL_REPLAYED)) << 32 |
			     (u64)t->vb << 40 | (u64)t->epoch << 48);
	return tn_crc32c(tn_crc32c(~0u, payload, (size_t)h->len * TN_FLIT), end,
			 sizeof(end));
}
