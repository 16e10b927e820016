// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bit errors are independent, so the distance between two is geometric: one
 * random number for each error instead of one for each bit.
 */
#include "fault.h"

#include <math.h>
#include <stdlib.h>

struct delayed {
	struct delayed *next;
	struct frame *frame;
	u32 bytes;
	u64 due;
};

static u64 rnd(struct fault *f)
{
	u64 z = f->rng += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static u64 distance(struct fault *f)
{
	double p = (double)f->ber / (double)TORUS_BER_ONE;
	double u = ((double)(rnd(f) >> 11) + 1.0) / 9007199254740993.0;
	double bits;

	if (f->ber >= TORUS_BER_ONE)
		return 0;
	bits = log(u) / log1p(-p);
	return bits < 9e18 ? (u64)bits : (u64)9e18;
}

void fault_init(struct fault *f)
{
	memset(f, 0, sizeof(*f));
	f->tail = &f->head;
}

void fault_arm(struct fault *f)
{
	f->rng = f->seed;
	if (f->ber)
		f->skip = distance(f);
}

bool fault_hits(struct fault *f, u32 bytes)
{
	u64 bits = 8ull * bytes;

	if (!f->ber)
		return false;
	if (f->skip < bits)
		return true;
	f->skip -= bits;
	return false;
}

void fault_corrupt(struct fault *f, u8 *data, u32 bytes)
{
	u64 bits = 8ull * bytes;

	while (f->skip < bits) {
		data[f->skip / 8] ^= (u8)(1u << f->skip % 8);
		f->skip += 1 + distance(f);
	}
	f->skip -= bits;
}

void fault_delay(struct fault *f, struct pool *pool, struct frame *frame, u32 bytes, u64 now)
{
	struct delayed *d = f->ndelayed < FAULT_DELAYED_MAX ? malloc(sizeof(*d)) : NULL;

	if (!d) {
		frame_put(pool, frame);	/* as lost on the wire */
		return;
	}
	*d = (struct delayed) { .frame = frame, .bytes = bytes, .due = now + f->latency };
	*f->tail = d;
	f->tail = &d->next;
	f->ndelayed++;
}

static struct frame *take(struct fault *f, u32 *bytes)
{
	struct delayed *d = f->head;
	struct frame *frame = d->frame;

	*bytes = d->bytes;
	f->head = d->next;
	if (!f->head)
		f->tail = &f->head;
	f->ndelayed--;
	free(d);
	return frame;
}

struct frame *fault_due(struct fault *f, u32 *bytes, u64 now)
{
	return f->head && f->head->due <= now ? take(f, bytes) : NULL;
}

u64 fault_expiry(const struct fault *f)
{
	return f->head ? f->head->due : ~0ull;
}

void fault_flush(struct fault *f, struct pool *pool)
{
	u32 bytes;

	while (f->head)
		frame_put(pool, take(f, &bytes));
}
