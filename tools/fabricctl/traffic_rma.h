/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow by remote memory. The owner has a region with a ring of slots, and for each slot a word
 * with a full/empty bit. For each record, the initiator submits at once: a ticket (fetch and add),
 * two puts of half the record each, of which the second one adds 1 to a counter, a get of the
 * record, the same bytes as a message, a write of its number into the word of the slot, which was
 * empty and becomes full, and a read of the next slot's word, which waits until it is empty. The
 * owner waits until the word is full, checks the record in its own memory and the message, posts
 * the memory of the message again, and makes the word empty.
 *
 * So an operation that is executed twice or never shows in tickets and the counter, one that is
 * executed before an earlier one in the owner's memory, a full/empty bit that does not hold in the
 * order of the numbers, and a message that is lost, duplicated or late in the numbers of messages.
 */
#ifndef TRAFFIC_RMA_H
#define TRAFFIC_RMA_H

#include <torus/rma.h>

#include "traffic.h"

/**
 * struct rma_end - one end of a flow
 * @rma: its context
 * @region: its memory: of the owner, counter, words, slots and messages; of the initiator, the
 *	record as it was written and as it was read
 * @taken: messages that the owner has received
 */
struct rma_end {
	struct torus_rma *rma;
	struct torus_region *region;
	uint64_t taken;
};

/** struct rma_owner - what the initiator must know of the owner: names of its region and context */
struct rma_owner {
	struct torus_far far;
	struct torus_peer peer;
};

/**
 * traffic_rma_open() - open one end
 * @where: argument of torus_rma_open()
 * @owns: the end that has the slots
 * @size: bytes of a record
 *
 * Return: 0 or a negative errno; torus_rma_error(NULL or @end->rma) has the text.
 */
int traffic_rma_open(struct rma_end *end, const char *where, bool owns, uint32_t size);

/** traffic_rma_name() - Return: the names of this end */
struct rma_owner traffic_rma_name(const struct rma_end *end);
/** traffic_rma_send() - run the initiator, in a process of its own */
void traffic_rma_send(struct rma_end *end, const struct rma_owner *owner, const struct load *load,
		      struct flow *f);
/** traffic_rma_receive() - run the owner, in a process of its own */
void traffic_rma_receive(struct rma_end *end, const struct load *load, struct flow *f);

#endif /* TRAFFIC_RMA_H */
