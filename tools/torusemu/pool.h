/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of packets. A frame is a reference-counted buffer of one of a few sizes; the largest holds
 * an Ethernet frame, or a message. Packet descriptors point into frames and hold a reference.
 */
#ifndef EMU_POOL_H
#define EMU_POOL_H

#include "kernel/core/pkt.h"
#include "kernel/host/fault.h"

#define POOL_HEADROOM	16		/* bytes before the data, for the Ethernet header */
#define POOL_FRAME_MAX	(64 << 10 | 64)	/* bytes of the longest message, or of the longest
					 * Ethernet frame */
#define POOL_CLASSES 7

/**
 * struct frame - a reference-counted buffer
 * @next: next frame in the pool's free list
 * @refs: number of references
 * @bytes: length of a delayed frame
 * @class: size class
 * @data: 64-byte aligned; POOL_HEADROOM bytes before it may be used, too
 * @late: link in the queue of delayed frames of the port that sends it
 */
struct frame {
	struct frame *next;
	u32 refs;
	u32 bytes : 24;
	u32 class : 8;
	u8 *data;
	struct torus_host_late late;
};

/**
 * struct pool - free lists of frames and descriptors
 * @frames_max: most frames of the largest class that may exist
 */
struct pool {
	struct frame *frame[POOL_CLASSES];
	struct tn_pkt *pkt;
	u32 frames;
	u32 frames_max;
};

void pool_init(struct pool *pool, u32 frames_max);

/** frame_new() - Return: a frame of at least @bytes with one reference, or NULL */
struct frame *frame_new(struct pool *pool, size_t bytes);
void frame_free(struct pool *pool, struct frame *f);
/** frame_held() - Return: bytes of memory that the frame occupies */
u32 frame_held(const struct frame *f);

static inline void frame_put(struct pool *pool, struct frame *f)
{
	if (!--f->refs)
		frame_free(pool, f);
}

/** pkt_new() - Return: a descriptor, which takes over one reference to @f, or NULL */
struct tn_pkt *pkt_new(struct pool *pool, struct frame *f, u8 *payload);
void pkt_free(struct pool *pool, struct tn_pkt *p);
/**
 * pkt_keep() - move the packet into another frame if its own frame is much larger
 * Called if @p will stay in memory for long.
 * Return: bytes of memory that the packet occupies.
 */
u32 pkt_keep(struct pool *pool, struct tn_pkt *p);

#endif /* EMU_POOL_H */
