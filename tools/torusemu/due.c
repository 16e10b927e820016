// SPDX-License-Identifier: GPL-2.0-only
#include "due.h"

#include <stdlib.h>

static void put_entry(struct due_heap *h, u32 place, struct due *d)
{
	h->entry[place] = d;
	d->place = place;
}

static void move_up(struct due_heap *h, struct due *d)
{
	u32 i = d->place;

	for (; i && h->entry[(i - 1) / 2]->at > d->at; i = (i - 1) / 2)
		put_entry(h, i, h->entry[(i - 1) / 2]);
	put_entry(h, i, d);
}

static void move_down(struct due_heap *h, struct due *d)
{
	u32 i = d->place;

	for (u32 child = 2 * i + 1; child < h->n; i = child, child = 2 * i + 1) {
		if (child + 1 < h->n && h->entry[child + 1]->at < h->entry[child]->at)
			child++;
		if (h->entry[child]->at >= d->at)
			break;
		put_entry(h, i, h->entry[child]);
	}
	put_entry(h, i, d);
}

int due_add(struct due_heap *h, struct due *d)
{
	if (h->n == h->room) {
		u32 room = h->room ? 2 * h->room : 16;
		struct due **more = realloc(h->entry, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		h->entry = more;
		h->room = room;
	}
	d->at = DUE_NEVER;
	put_entry(h, h->n++, d);
	return 0;
}

void due_set(struct due_heap *h, struct due *d, u64 at)
{
	u64 old = d->at;

	d->at = at;
	if (at < old)
		move_up(h, d);
	else if (at > old)
		move_down(h, d);
}

void due_del(struct due_heap *h, struct due *d)
{
	struct due *last = h->entry[--h->n];

	if (last == d)
		return;
	put_entry(h, d->place, last);
	move_up(h, last);
	move_down(h, last);
}

struct due *due_first(const struct due_heap *h)
{
	return h->n ? h->entry[0] : NULL;
}

void due_fini(struct due_heap *h)
{
	free(h->entry);
	*h = (struct due_heap) { 0 };
}
