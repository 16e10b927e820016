// SPDX-License-Identifier: GPL-2.0-only
#include "lib/deps/invariant.h"
#include "queue.h"

#include <stdlib.h>

static bool is_event_earlier(const struct ev *a, const struct ev *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void add_to_heap(struct queue *q, const struct ev *ev)
{
	size_t i;

	if (q->nheap == q->heap_room) {
		q->heap_room = q->heap_room ? 2 * q->heap_room : 1024;
		q->heap = realloc(q->heap, q->heap_room * sizeof(*q->heap));
		if (!q->heap)
			abort();
	}
	for (i = q->nheap++; i && is_event_earlier(ev, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = *ev;
}

static struct ev take_from_heap(struct queue *q)
{
	struct ev top = q->heap[0], last = q->heap[--q->nheap];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < q->nheap) {
		if (child + 1 < q->nheap && is_event_earlier(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!is_event_earlier(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	invariant(!q->nheap || is_event_earlier(&top, &q->heap[0]));
	return top;
}

static struct ev *event_at(struct queue *q, size_t i)
{
	/* The room is a power of two. */
	return &q->ring[(q->ring_head + i) & (q->ring_room - 1)];
}

static void add_to_ring(struct queue *q, const struct ev *ev)
{
	size_t room = q->ring_room ? 2 * q->ring_room : 256;

	if (q->nring == q->ring_room) {
		struct ev *more = malloc(room * sizeof(*more));

		if (!more)
			abort();
		for (size_t i = 0; i < q->nring; i++)
			more[i] = *event_at(q, i);
		free(q->ring);
		q->ring = more;
		q->ring_room = room;
		q->ring_head = 0;
	}
	*event_at(q, q->nring++) = *ev;
}

static struct ev take_from_ring(struct queue *q)
{
	struct ev first = *event_at(q, 0);

	invariant(q->nring);
	q->ring_head = (q->ring_head + 1) & (q->ring_room - 1);
	q->nring--;
	invariant(!q->nring || is_event_earlier(&first, event_at(q, 0)));
	return first;
}

void queue_add(struct queue *q, struct ev *ev, bool in_order)
{
	ev->order = q->order++;
	if (in_order && !(q->nring && ev->at < event_at(q, q->nring - 1)->at))
		add_to_ring(q, ev);
	else
		add_to_heap(q, ev);
}

bool queue_take(struct queue *q, uint64_t end, struct ev *out)
{
	bool ring = q->nring && !(q->nheap && is_event_earlier(&q->heap[0], event_at(q, 0)));

	if (!(ring || q->nheap) || (ring ? event_at(q, 0) : &q->heap[0])->at > end)
		return false;
	*out = ring ? take_from_ring(q) : take_from_heap(q);
	return true;
}

void queue_free(struct queue *q)
{
	free(q->heap);
	free(q->ring);
	*q = (struct queue) { 0 };
}
