// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free lists are last in, first out, because the memory that was used last is still in the cache.
 * Memory is not returned to the system; large frames come from 2 MiB chunks, which the kernel can
 * back with huge pages. Under AddressSanitizer there are no free lists, so that it detects every
 * use after free.
 */
#include "pool.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGN		64
#define CHUNK		(2u << 20)
#define LARGE		(POOL_CLASSES - 1)
#define STRIDE		((size_t)(ALIGN * 2 + POOL_FRAME_MAX + ALIGN - 1) / ALIGN * ALIGN)
#define PKT_SLAB	128

static const u32 class_bytes[POOL_CLASSES] = {
	256, 512, 1024, 2048 + TN_FLIT * 4, 4096 + TN_FLIT * 4, TN_PACKET_MAX, POOL_FRAME_MAX
};

#if defined(__SANITIZE_ADDRESS__)
#define KEEP 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEP 0
#endif
#endif
#ifndef KEEP
#define KEEP 1
#endif

void pool_init(struct pool *pool, u32 frames_max)
{
	memset(pool, 0, sizeof(*pool));
	pool->frames_max = frames_max;
}

/* Lays out a frame in @mem: the struct, headroom, and data on the next cache line. */
static struct frame *frame_at(void *mem, u8 class)
{
	struct frame *f = mem;

	static_assert(sizeof(*f) + POOL_HEADROOM <= ALIGN, "no headroom");
	f->class = class;
	f->data = (u8 *)mem + ALIGN;
	return f;
}

static void push_frame(struct pool *pool, struct frame *f)
{
	f->next = pool->frame[f->class];
	pool->frame[f->class] = f;
}

static void refill_large(struct pool *pool)
{
	u8 *mem = aligned_alloc(CHUNK, CHUNK);

	if (!mem)
		return;
	madvise(mem, CHUNK, MADV_HUGEPAGE);
	for (size_t at = 0; at + STRIDE <= CHUNK; at += STRIDE) {
		push_frame(pool, frame_at(mem + at, LARGE));
		pool->frames++;
	}
}

static void refill_class(struct pool *pool, u8 class)
{
	size_t bytes = (ALIGN + class_bytes[class] + ALIGN - 1) / ALIGN * ALIGN;
	void *mem;

	if (class == LARGE && pool->frames >= pool->frames_max)
		return;
	if (KEEP && class == LARGE) {
		refill_large(pool);
		return;
	}
	mem = aligned_alloc(ALIGN, bytes);
	if (!mem)
		return;
	pool->frames += class == LARGE;
	push_frame(pool, frame_at(mem, class));
}

struct frame *frame_new(struct pool *pool, size_t bytes)
{
	struct frame *f;
	u8 class = 0;

	while (class < LARGE && class_bytes[class] < bytes)
		class++;
	if (!pool->frame[class])
		refill_class(pool, class);
	f = pool->frame[class];
	if (!f)
		return NULL;
	pool->frame[class] = f->next;
	f->refs = 1;
	return f;
}

void frame_free(struct pool *pool, struct frame *f)
{
	if (!KEEP) {
		pool->frames -= f->class == LARGE;
		free(f);
		return;
	}
	push_frame(pool, f);
}

u32 frame_held(const struct frame *f)
{
	return class_bytes[f->class] + ALIGN;
}

static struct tn_pkt *pkt_alloc(struct pool *pool)
{
	struct tn_pkt *slab;

	if (!KEEP)
		return malloc(sizeof(*slab));
	slab = calloc(PKT_SLAB, sizeof(*slab));
	if (!slab)
		return NULL;
	for (int i = 1; i < PKT_SLAB; i++) {
		slab[i].next = pool->pkt;
		pool->pkt = &slab[i];
	}
	return slab;
}

struct tn_pkt *pkt_new(struct pool *pool, struct frame *f, u8 *payload)
{
	struct tn_pkt *p = pool->pkt;

	if (p)
		pool->pkt = p->next;
	else
		p = pkt_alloc(pool);
	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->owner = f;
	p->payload = payload;
	return p;
}

void pkt_free(struct pool *pool, struct tn_pkt *p)
{
	frame_put(pool, p->owner);
	if (!KEEP) {
		free(p);
		return;
	}
	p->next = pool->pkt;
	pool->pkt = p;
}

u32 pkt_keep(struct pool *pool, struct tn_pkt *p)
{
	size_t bytes = (size_t)p->hdr.len * TN_FLIT;
	struct frame *f = p->owner;

	if (class_bytes[f->class] > 2 * bytes + class_bytes[0]) {
		f = frame_new(pool, bytes);
		if (f) {
			memcpy(f->data, p->payload, bytes);
			frame_put(pool, p->owner);
			p->owner = f;
			p->payload = f->data;
		}
		f = p->owner;
	}
	return frame_held(f) + (u32)sizeof(*p);
}
