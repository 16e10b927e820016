/* SPDX-License-Identifier: GPL-2.0-only */
/* The quorum: which nodes must take part so that no other root can lead. */
#ifndef FM_QUORUM_H
#define FM_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_record;
struct fm_root;

#define FM_QUORUM_OPEN	16	/* most tables that not all nodes have taken; more than there are
				 * colours */
#define FM_QUORUM_SETS	(FM_VOTERS_MAX + 1)	/* the nodes of a table itself, and its voters */

/* Allocates the state of quorum.c for a new root. Return: false if there is no memory. */
bool fm_quorum_new(struct fm_root *r);
void fm_quorum_free(struct fm_root *r);

/** fm_quorum_note() - store the tables that the HELLO of @m names, on which its votes depend */
void fm_quorum_note(struct fm_record *m, const struct fm_hello *h);
/** fm_quorum_here() - Return: true if @m takes part in the claim, in its present stage */
bool fm_quorum_here(const struct fm *fm, const struct fm_record *m);
/**
 * fm_quorum_claimed() - Return: true if the nodes that take part in the claim are a quorum in each
 * set
 */
bool fm_quorum_claimed(const struct fm *fm);
/**
 * fm_quorum_count() - count the nodes of the set of which most are missing
 * @here: how many of them take part in the claim
 * @need: how many are needed; 0: not known
 */
void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need);
/** fm_quorum_begin() - store the sets in which the claim had quorums, because it has won */
void fm_quorum_begin(struct fm *fm);
/**
 * fm_quorum_sent() - store which nodes are up in the latest table, which a node has sent
 * Called before this root has made its first table.
 */
void fm_quorum_sent(struct fm *fm);
/** fm_quorum_hello() - store which sets of the claim contain @m, which has sent HELLO */
void fm_quorum_hello(const struct fm *fm, struct fm_record *m);
/**
 * fm_quorum_former() - as fm_quorum_hello(), for a node that has not joined, by its entry @e in the
 * former table
 */
void fm_quorum_former(const struct fm *fm, struct fm_record *m, const struct fm_voters *v,
		      const struct fm_entry *e);
/**
 * fm_quorum_differs() - compute @differs (fm_entry) of @m for table @version
 * @up: @m is up in this table
 */
uint8_t fm_quorum_differs(const struct fm *fm, const struct fm_record *m, bool up,
			  uint64_t version);
/** fm_quorum_voters() - list the voters of table @version, after its entries are made */
void fm_quorum_voters(const struct fm *fm, uint64_t version, struct fm_voters *v);
/** fm_quorum_entry() - note that @m is @up, or not, in the table @version */
void fm_quorum_entry(struct fm *fm, struct fm_record *m, bool up, uint64_t version);
/**
 * fm_quorum_forgot() - remove @m, whose NIC has lost its memory, from the sets of all earlier
 * tables
 */
void fm_quorum_forgot(struct fm *fm, struct fm_record *m);
/**
 * fm_quorum_took() - Return: true if the nodes that take the present table are enough by rule (T)
 */
bool fm_quorum_took(struct fm *fm);
/** fm_quorum_taken() - called when all nodes that are up in @version have taken it */
void fm_quorum_taken(struct fm *fm, uint64_t version);
/** fm_quorum_look() - Return: true if the root may now declare nodes silent by rule (S) */
bool fm_quorum_look(struct fm *fm);
/**
 * fm_quorum_connected() - Return: true if the nodes connected to the root are a quorum in each set
 */
bool fm_quorum_connected(const struct fm *fm);
/** fm_quorum_lacks() - Return: true if there was no quorum when one was last needed */
bool fm_quorum_lacks(const struct fm_root *r);

#endif /* FM_QUORUM_H */
