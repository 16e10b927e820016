/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host's memory and a cable, for tests that join links or NICs in one process with one virtual
 * clock. Frames are allocated and counted one by one, so that sanitizers find each wrong use and
 * each leak.
 */
#ifndef TESTS_CABLE_H
#define TESTS_CABLE_H

#include "tests/unit/seeds.h"
#include "kernel/core/nic.h"

/** struct frame - the memory of a frame, shared by the packets in it */
struct frame {
	struct frame *next;
	u64 arrives;
	size_t len;
	unsigned int refs;
	u8 data[];
};

struct frame *frame_new(size_t len);
void frame_put(struct frame *f);

#define FRAME_PIECES 64

/**
 * frame_pieces() - where the parts of the packets in @f begin, and some other places, at random
 * @seg: room for FRAME_PIECES pieces; none is empty
 * Return: how many.
 */
unsigned int frame_pieces(struct rnd *r, const struct frame *f, struct tn_seg *seg);

/**
 * struct memory - the packets of one host
 * @live: packets that are allocated
 * @refuse: one allocation in this many fails; 0: none
 */
struct memory {
	struct rnd *r;
	unsigned int live;
	unsigned int refuse;
};

struct tn_pkt *memory_get(struct memory *m, struct frame *owner);
struct tn_pkt *memory_new(struct memory *m, unsigned int nflits);
void memory_put(struct memory *m, struct tn_pkt *pkt);

/**
 * struct lane - one direction of a cable
 * @lose, @damage, @twice, @late: this happens to one frame in this many; 0: to none
 * @latency: of every frame; a late one takes up to @late_by more
 * @cut: no frame enters or leaves the cable
 * @filter: if set, says whether frame number @frames may pass
 */
struct lane {
	struct rnd *r;
	struct frame *head;
	u64 latency, late_by;
	unsigned int lose, damage, twice, late;
	bool cut;
	u64 frames, lost, damaged;
	bool (*filter)(void *arg, u64 number, const struct frame *f);
	void *filter_arg;
};

void lane_put(struct lane *l, const struct tn_frame *f, u64 now);
/* Puts raw bytes onto the cable, without any fault. */
void lane_forge(struct lane *l, const u8 *data, size_t len, u64 now);
/* The next frame that has arrived by @now, or NULL. The caller gives it to frame_put(). */
struct frame *lane_get(struct lane *l, u64 now);
/* When the next frame arrives; ~0: there is none. */
u64 lane_next(const struct lane *l);
/* Drops all frames that are under way. */
void lane_clear(struct lane *l);

#endif /* TESTS_CABLE_H */
