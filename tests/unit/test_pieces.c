// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames in pieces: which fit, that those which do not are not read past their end, and whether
 * their checksums are right.
 */
#include "tests/flits.h"
#include "tests/unit/cable.h"
#include "kernel/core/pieces.h"

/* Fills a frame with packets of all kinds, and answers between them, up to the length of @f. */
static void fill(struct rnd *r, struct frame *f)
{
	size_t at = 0;

	memset(f->data, 0, f->len);
	while (f->len - at >= TN_FLIT) {
		struct tn_hdr h = {
			.type = (u8)(TN_DATA + rnd_below(r, TN_ACKNAK - TN_DATA)),
			.len = (u16)rnd_below(r, 4), .relayed = (u8)rnd_below(r, 2),
		};
		size_t n = tn_hdr_flits(&h) * TN_FLIT;

		if (rnd_one_in(r, 4)) {
			tn_acknak_put(f->data + at, &h, 1);
			at += TN_ACKNAK_BYTES;
		} else if (n > f->len - at) {
			break;		/* padding */
		} else {
			rnd_fill(r, f->data + at, n);
			tn_hdr_put(f->data + at, &h);
			at += n;
		}
	}
	if (f->len - at < TN_ACKNAK_BYTES)
		f->len = at;		/* too short for padding */
}

static bool is_cut(const struct tn_seg *seg, unsigned int n, const u8 *at)
{
	for (unsigned int i = 0; i < n; i++) {
		if (seg[i].base == at)
			return true;
	}
	return false;
}

/* Makes one more cut, at a byte without one. Return: true if that was possible. */
static bool cut_at(struct tn_seg *seg, unsigned int *n, const u8 *at)
{
	unsigned int i = *n;

	if (*n == FRAME_PIECES || is_cut(seg, *n, at))
		return false;
	while (seg[i - 1].base > at)
		i--;
	memmove(seg + i + 1, seg + i, (*n - i) * sizeof(*seg));
	seg[i] = (struct tn_seg) { at, (u32)(seg[i - 1].base + seg[i - 1].len - at) };
	seg[i - 1].len -= seg[i].len;
	++*n;
	return true;
}

/* Return: true if a frame may be cut before byte @at, by the document of the wire format. */
static bool between_parts(const struct frame *f, size_t at)
{
	size_t here = 0;

	while (here < at) {
		struct tn_hdr h;

		if (tn_type_of(f->data + here) == TN_ACKNAK) {
			here += TN_ACKNAK_BYTES;
			continue;
		}
		if (f->len - here < TN_FLIT || tn_type_of(f->data + here) == TN_PAD)
			return at >= here + (f->len - here < TN_FLIT ? TN_ACKNAK_BYTES : TN_FLIT);
		tn_hdr_get(f->data + here, &h);
		if (at == here + TN_FLIT || at == here + (1u + h.len) * TN_FLIT)
			return true;
		here += tn_hdr_flits(&h) * TN_FLIT;
	}
	return here == at;
}

static void fit_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct frame *f = frame_new(1 + rnd_below(&r, 40 * TN_FLIT));
	struct tn_seg seg[FRAME_PIECES];
	unsigned int n;

	fill(&r, f);
	n = frame_pieces(&r, f, seg);
	expect(&r, tn_pieces_fit(seg, n), "cut between parts, %u pieces", n);
	for (int i = 0; i < 20; i++) {
		size_t at = 1 + rnd_below(&r, (u32)f->len);
		struct tn_seg more[FRAME_PIECES];
		unsigned int m = n;

		memcpy(more, seg, sizeof(seg));
		if (at >= f->len || !cut_at(more, &m, f->data + at))
			continue;
		if (between_parts(f, at))
			continue;
		expect(&r, !tn_pieces_fit(more, m), "cut at byte %zu of %zu", at, f->len);
	}
	frame_put(f);
}

static void random_pieces_are_taken_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, fit_one);
}

static void empty_pieces_give_nothing(void **state)
{
	const u8 byte = 1;
	const struct tn_seg seg[2] = { { &byte, 0 }, { &byte, 1 } };
	struct tn_pieces p = { .seg = seg, .n = 2 };

	(void)state;
	assert_null(tn_pieces_take(&p, 2));
	assert_ptr_equal(tn_pieces_take(&p, 1), &byte);
	assert_null(tn_pieces_take(&p, 1));
	assert_true(tn_pieces_fit(seg, 0));
	assert_true(tn_pieces_fit(seg, 1));
}

/* --- checksums of a frame ---------------------------------------------------------------- */

/* Gives the packet at @p the right ECRC, and a mark, a service byte or neither. */
static void sum_packet(struct rnd *r, uint8_t *p)
{
	static const uint8_t marks[] = { 0, 0, TN_VB_BAD, TN_SERVICE_RMA };
	struct tn_hdr h;
	struct tn_tail t;
	uint8_t *end;

	tn_hdr_get(p, &h);
	h.src = rnd_below(r, 100);
	h.dst = rnd_below(r, 100);
	tn_hdr_put(p, &h);
	end = p + (1u + h.len) * TN_FLIT;
	if (h.relayed)
		h.dst = tn_get_le32(end + TN_FLIT);
	tn_tail_get(end, &t);
	end[12] = marks[rnd_below(r, ARRAY_SIZE(marks))];
	t.vb = end[12] == TN_VB_BAD ? 0 : end[12];
	tn_put_le32(end, tn_ecrc(p + TN_FLIT, &h, &t));
}

/* Gives all packets of @f right ECRCs. Return: a random one whose ECRC counts; NULL: none does. */
static uint8_t *sum_frame(struct rnd *r, struct frame *f)
{
	uint8_t *found = NULL;
	unsigned int n = 0;
	struct tn_hdr h;

	for (size_t at = 0; f->len - at >= TN_FLIT; at += tn_hdr_flits(&h) * TN_FLIT) {
		while (f->len - at >= TN_ACKNAK_BYTES && tn_type_of(f->data + at) == TN_ACKNAK)
			at += TN_ACKNAK_BYTES;
		if (f->len - at < TN_FLIT || tn_type_of(f->data + at) == TN_PAD)
			break;
		sum_packet(r, f->data + at);
		tn_hdr_get(f->data + at, &h);
		if (h.type != TN_CREDIT && h.type != TN_IDLE &&
		    (h.type == TN_MGMT ||
		     f->data[at + (1u + h.len) * TN_FLIT + 12] != TN_VB_BAD) &&
		    rnd_one_in(r, ++n))
			found = f->data + at;
	}
	return found;
}

/* A frame is sound until a bit that an ECRC covers is wrong, unless the packet is marked bad. */
static void check_frame_sums(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct frame *f = frame_new(1 + rnd_below(&r, 40 * TN_FLIT));
	struct tn_seg seg[FRAME_PIECES];
	uint8_t *packet;
	unsigned int n;

	fill(&r, f);
	packet = sum_frame(&r, f);
	n = frame_pieces(&r, f, seg);
	expect(&r, tn_pieces_sound(seg, n), "all ECRCs are right");
	if (packet) {
		struct tn_hdr h;
		size_t at;

		tn_hdr_get(packet, &h);
		at = TN_FLIT + rnd_below(&r, h.len * TN_FLIT + 4);
		packet[at] ^= (uint8_t)(1u << rnd_below(&r, 8));
		expect(&r, !tn_pieces_sound(seg, n), "a packet at byte %zu is damaged",
		       (size_t)(packet - f->data));
	}
	frame_put(f);
}

static void sums_over_pieces_equal_sums_over_whole(void **state)
{
	(void)state;
	for_seeds(2000, check_frame_sums);
}

/* Makes a packet whose ECRC is right only if @sum is 0. Return: its bytes. */
static u32 make_packet(u8 *p, u8 type, u8 vb, u32 sum)
{
	struct tn_hdr h = { .type = type, .len = type != TN_IDLE && type != TN_CREDIT };
	struct tn_tail t = { 0 };

	memset(p, 0x5a, (h.len + 2u) * TN_FLIT);
	tn_hdr_put(p, &h);
	t.ecrc = tn_ecrc(p + TN_FLIT, &h, &t) + sum;
	t.vb = vb;
	tn_tail_put(flits_tail(p, h.len), &t);
	return (h.len + 2u) * TN_FLIT;
}

/* Only packets with an ECRC need a right one; a marked copy has none, unless it is a message. */
static void each_kind_of_packet_has_its_checksum(void **state)
{
	static const u8 types[] = { TN_DATA, TN_UNREACH, TN_MGMT, TN_CREDIT, TN_IDLE };
	u8 bytes[5 * TN_FLIT];

	(void)state;
	for (u32 code = 0; code < 2 * 2 * ARRAY_SIZE(types); code++) {
		u8 type = types[code / 4], vb = code & 1 ? TN_VB_BAD : 0;
		bool none = type == TN_CREDIT || type == TN_IDLE || (vb && type != TN_MGMT);
		u32 len = make_packet(bytes, type, vb, code >> 1 & 1), half = len + TN_FLIT / 2;
		const struct tn_seg whole[] = { { bytes, len } };
		const struct tn_seg head[] = { { bytes, TN_FLIT } };
		/* a second packet of which half the header lies in another piece */
		const struct tn_seg cut[] = { { bytes, half - 4 }, { bytes + half - 4, 12 } };

		memset(bytes + len, 0, TN_FLIT);
		assert_int_equal(tn_pieces_sound(whole, 1), none || !(code & 2));
		assert_true(tn_pieces_fit(whole, 1));
		assert_false(tn_pieces_sound(cut, 2) || tn_pieces_fit(cut, 2));
		assert_false(tn_pieces_sound(head, 1) || tn_pieces_fit(head, 1));
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_pieces_are_taken_as_in_model),
		cmocka_unit_test(empty_pieces_give_nothing),
		cmocka_unit_test(sums_over_pieces_equal_sums_over_whole),
		cmocka_unit_test(each_kind_of_packet_has_its_checksum),
	};

	return cmocka_run_group_tests_name("pieces", all, NULL, NULL);
}
