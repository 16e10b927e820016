/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event queue of a simulated world. Events leave it in the order of their times, and events
 * with the same time in the order in which they were added, so that a history depends on nothing
 * else.
 *
 * It is a binary heap, with a ring buffer beside it for events that are added in the order of their
 * times: frames, because the latency of all cables is the same. Nearly all events are frames, and
 * these need no search.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ev - an event
 * @at: time of the event, ns
 * @order: private to the queue
 * @kind: enum ev_kind
 * @port: port of @node, for frames and link events
 * @handled: a manager has begun to handle the message
 * @node: the node that receives the event; for EV_CARRIER, the cable
 * @life: nic_life or fm_life of the receiver when the event was added; if that has changed, the
 *	event is dropped
 * @conn: id of the connection's end
 * @data: frame, parcel or other memory, owned by the event
 * @len: bytes of @data
 */
struct ev {
	uint64_t at;
	uint64_t order;
	uint8_t kind;
	uint8_t port;
	bool handled;
	uint32_t node;
	uint32_t life;
	int conn;
	void *data;
	size_t len;
};

/** struct queue - the queue; all zero: it is empty */
struct queue {
	struct ev *heap;
	size_t nheap, heap_room;
	struct ev *ring;
	size_t ring_room, ring_head, nring;
	uint64_t order;
};

/**
 * queue_add() - add a copy of @ev; aborts without memory
 * @q: the queue
 * @ev: the event; its order is set
 * @in_order: true if nearly all events that are added with this flag have ascending times
 */
void queue_add(struct queue *q, struct ev *ev, bool in_order);
/** queue_take() - take the next event. Return: false if no event is due by @end. */
bool queue_take(struct queue *q, uint64_t end, struct ev *out);
/** queue_free() - free the queue, but not the data of its events */
void queue_free(struct queue *q);

#endif /* QUEUE_H */
