// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/cable.h"

struct frame *frame_new(size_t len)
{
	struct frame *f = malloc(sizeof(*f) + len);

	assert_non_null(f);
	*f = (struct frame) { .len = len, .refs = 1 };
	return f;
}

void frame_put(struct frame *f)
{
	assert_true(f->refs > 0);
	if (!--f->refs)
		free(f);
}

/*
 * Returns the bytes of the next part of a packet, or all that is left. @part: 0 header, 1 payload,
 * 2 the rest.
 */
static size_t part_bytes(const u8 *at, size_t left, unsigned int *part, struct tn_hdr *h)
{
	size_t n = left;

	if (*part == 0 && left >= TN_ACKNAK_BYTES && tn_type_of(at) == TN_ACKNAK)
		return TN_ACKNAK_BYTES;
	if (*part == 0 && left >= TN_FLIT) {
		tn_hdr_get(at, h);
		n = h->type == TN_PAD ? left : TN_FLIT;
	} else if (*part == 1) {
		n = h->len * (size_t)TN_FLIT;
	} else if (*part == 2) {
		n = (1u + h->relayed) * TN_FLIT;
	}
	*part = (*part + 1) % 3;
	return n < left ? n : left;
}

unsigned int frame_pieces(struct rnd *r, const struct frame *f, struct tn_seg *seg)
{
	unsigned int n = 0, part = 0;
	struct tn_hdr h = { 0 };
	size_t at = 0, bytes;

	while (at < f->len) {
		bytes = part_bytes(f->data + at, f->len - at, &part, &h);
		if (bytes && (!n || (n < FRAME_PIECES && rnd_one_in(r, 3))))
			seg[n++] = (struct tn_seg) { .base = f->data + at };
		if (bytes)
			seg[n - 1].len += (u32)bytes;
		at += bytes;
	}
	return n;
}

static struct tn_pkt *packet(struct memory *m)
{
	struct tn_pkt *pkt;

	if (m->r && rnd_one_in(m->r, m->refuse))
		return NULL;
	pkt = calloc(1, sizeof(*pkt));
	assert_non_null(pkt);
	m->live++;
	return pkt;
}

struct tn_pkt *memory_get(struct memory *m, struct frame *owner)
{
	struct tn_pkt *pkt = packet(m);

	if (!pkt)
		return NULL;
	owner->refs++;
	pkt->owner = owner;
	return pkt;
}

struct tn_pkt *memory_new(struct memory *m, unsigned int nflits)
{
	struct tn_pkt *pkt = packet(m);
	struct frame *f;

	if (!pkt)
		return NULL;
	f = frame_new((size_t)nflits * TN_FLIT);
	pkt->owner = f;
	pkt->payload = f->data;
	return pkt;
}

void memory_put(struct memory *m, struct tn_pkt *pkt)
{
	assert_true(m->live > 0);
	m->live--;
	frame_put(pkt->owner);
	free(pkt);
}

static void insert(struct lane *l, struct frame *f)
{
	struct frame **p = &l->head;

	while (*p && (*p)->arrives <= f->arrives)
		p = &(*p)->next;
	f->next = *p;
	*p = f;
}

static struct frame *gather(const struct tn_frame *f)
{
	struct frame *out = frame_new(f->bytes);
	size_t at = 0;

	for (u32 i = 0; i < f->nsegs; i++) {
		memcpy(out->data + at, f->seg[i].base, f->seg[i].len);
		at += f->seg[i].len;
	}
	assert_int_equal(at, f->bytes);
	return out;
}

static void damage(struct lane *l, struct frame *f)
{
	unsigned int n = 1 + rnd_below(l->r, 4);

	l->damaged++;
	while (n--) {
		u32 bit = rnd_below(l->r, (u32)f->len * 8);

		f->data[bit / 8] ^= (u8)(1u << bit % 8);
	}
	if (rnd_one_in(l->r, 8))	/* or cuts it short */
		f->len = rnd_below(l->r, (u32)f->len + 1);
}

void lane_put(struct lane *l, const struct tn_frame *f, u64 now)
{
	unsigned int copies = 1;

	if (l->cut)
		return;
	if (rnd_one_in(l->r, l->lose))
		copies = 0;
	else if (rnd_one_in(l->r, l->twice))
		copies = 2;
	l->frames++;
	l->lost += !copies;
	while (copies--) {
		struct frame *one = gather(f);

		if (l->filter && !l->filter(l->filter_arg, l->frames - 1, one)) {
			frame_put(one);
			l->lost++;
			continue;
		}
		one->arrives = now + l->latency;
		if (rnd_one_in(l->r, l->late))
			one->arrives += rnd_below(l->r, (u32)l->late_by);
		if (rnd_one_in(l->r, l->damage))
			damage(l, one);
		insert(l, one);
	}
}

void lane_forge(struct lane *l, const u8 *data, size_t len, u64 now)
{
	struct frame *f = frame_new(len);

	memcpy(f->data, data, len);
	f->arrives = now;
	insert(l, f);
}

struct frame *lane_get(struct lane *l, u64 now)
{
	struct frame *f = l->head;

	if (!f || f->arrives > now)
		return NULL;
	l->head = f->next;
	return f;
}

u64 lane_next(const struct lane *l)
{
	return l->head ? l->head->arrives : ~0ull;
}

void lane_clear(struct lane *l)
{
	struct frame *f;

	while ((f = lane_get(l, ~0ull)))
		frame_put(f);
}
