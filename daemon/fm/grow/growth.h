/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growth of a partition from one node, by messages between neighbours and without a root: the part
 * of one node, as a state machine without I/O, memory and clock of its own. Calls never nest: an op
 * must not call back. growth.c describes how it works, and why it ends with all nodes or with none.
 */
#ifndef FM_GROWTH_H
#define FM_GROWTH_H

#include "daemon/fm/grow/facts.h"

/**
 * fm_growth_init() - initialise a node, which belongs to no partition, and whose ports are down
 * @life: not 0, and not one that this node had before its manager started
 */
void fm_growth_init(struct fm_growth *g, const struct fm_growth_ops *ops, void *arg, uint64_t guid,
		    unsigned int ports, uint32_t life);

/**
 * fm_growth_begin() - begin a growth at this node
 * @serial: never used before at this node
 * @total: members, this node included
 * @limit: ns after which it is given up
 * Return: 0; -EINVAL @total is 0 or above TORUS_MAX_NODES; -EBUSY this node belongs to a partition,
 * or is closed; -ENOLINK it has fewer cables than @terms ask for.
 */
int fm_growth_begin(struct fm_growth *g, uint64_t serial, uint32_t total,
		    const struct fm_growth_terms *terms, uint64_t limit, uint64_t now);

/** fm_growth_same() - Return: true if both names are those of one growth */
bool fm_growth_same(const struct fm_growth_id *a, const struct fm_growth_id *b);

/** fm_growth_release() - end the partition of this node. Return: 0; -ENOENT it has none */
int fm_growth_release(struct fm_growth *g, uint64_t now);

/** fm_growth_close() - take no part in growths from now on, or take part again */
void fm_growth_close(struct fm_growth *g, bool closed);

/** fm_growth_port() - called when a port was lost, came up, or has another rate or margin */
void fm_growth_port(struct fm_growth *g, unsigned int p, const struct fm_growth_port *is,
		    uint64_t now);

/** fm_growth_receive() - process a message that came in by port @p */
void fm_growth_receive(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m,
		       uint64_t now);

/** fm_growth_subtree() - Return: members in the subtree of this one, itself included, so far */
uint32_t fm_growth_subtree(const struct fm_growth *g);

/** fm_growth_due() - do what is due by @now */
void fm_growth_due(struct fm_growth *g, uint64_t now);

/**
 * fm_growth_expiry() - Return: when fm_growth_due() has something to do; NEVER of clock.h: never
 */
uint64_t fm_growth_expiry(const struct fm_growth *g);

#endif /* FM_GROWTH_H */
