/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event queue of a simulated world: events leave it by their time, and those of one
 * time in the order in which they came, so that a history depends on nothing else.
 *
 * It is a binary heap, with a ring buffer beside it for events that come in the order of
 * their times: frames, because the latency of all cables is the same. These are nearly all
 * events there are, and cost no search.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ev - an event
 * @at: its time, in ns
 * @order: the queue's own
 * @handled: a manager has begun to handle the message
 * @life: nic_life or fm_life of the receiver: else the event is stale
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

/** struct queue - all zero is an empty one */
struct queue {
	struct ev *heap;
	size_t nheap, heap_room;
	struct ev *ring;
	size_t ring_room, ring_head, nring;
	uint64_t order;
};

/**
 * queue_add() - add a copy of @ev; aborts if out of memory
 * @in_order: most such events are no earlier than the one added so before
 */
void queue_add(struct queue *q, struct ev *ev, bool in_order);
/** queue_take() - take the next event. Return: false: none is due until @end. */
bool queue_take(struct queue *q, uint64_t end, struct ev *out);
/** queue_free() - the events in it are not looked at */
void queue_free(struct queue *q);

#endif /* QUEUE_H */
