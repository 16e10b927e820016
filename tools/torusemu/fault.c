// SPDX-License-Identifier: GPL-2.0-only
/* Frames that are delayed; bit errors are kernel/core/fault.c. */
#include "fault.h"

#include <stdlib.h>

struct delayed {
	struct delayed *next;
	struct frame *frame;
	u32 bytes;
	u64 due;
};

void fault_init(struct fault *f)
{
	memset(f, 0, sizeof(*f));
	f->tail = &f->head;
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
