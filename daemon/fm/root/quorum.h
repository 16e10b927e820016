/* SPDX-License-Identifier: GPL-2.0-only */
/* The quorum: which nodes must take part so that no other root can lead. */
#ifndef FM_QUORUM_H
#define FM_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_mate;
struct fm_root;

#define FM_QUORUM_OPEN	16	/* most tables that not all nodes have taken; more than there are
				 * colours */
#define FM_QUORUM_SETS	(FM_VOTERS_MAX + 1)	/* the nodes of a table itself, and its voters */

/* Allocates the state of quorum.c for a new root. Return: false if there is no memory. */
bool fm_quorum_new(struct fm_root *r);
void fm_quorum_free(struct fm_root *r);

/** fm_quorum_note() - store the statements in the HELLO of @m that decide on its votes */
void fm_quorum_note(struct fm_mate *m, const struct fm_hello *h);
/** fm_quorum_here() - Return: true if @m takes part in the claim, in its present stage */
bool fm_quorum_here(const struct fm *fm, const struct fm_mate *m);
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
/** fm_quorum_begin() - called when the claim has won: store the sets of its table */
void fm_quorum_begin(struct fm *fm);
/**
 * fm_quorum_sent() - called if a node sends the latest table before this root's first one: store
 * which nodes are up in it
 */
void fm_quorum_sent(struct fm *fm);
/** fm_quorum_hello() - called when @m has sent HELLO: store in which sets of the claim it is */
void fm_quorum_hello(const struct fm *fm, struct fm_mate *m);
/**
 * fm_quorum_former() - as fm_quorum_hello(), for a node that has not joined, by its entry @e in the
 * former table
 */
void fm_quorum_former(const struct fm *fm, struct fm_mate *m, const struct fm_voters *v,
		      const struct fm_entry *e);
/**
 * fm_quorum_differs() - Return: the value of @differs in the entry of @m for table @version, in
 * which @m is @up or not
 */
uint8_t fm_quorum_differs(const struct fm *fm, const struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_voters() - list the voters of table @version, after its entries are made */
void fm_quorum_voters(const struct fm *fm, uint64_t version, struct fm_voters *v);
/** fm_quorum_entry() - note that @m is @up, or not, in the table @version */
void fm_quorum_entry(struct fm *fm, struct fm_mate *m, bool up, uint64_t version);
/**
 * fm_quorum_forgot() - called when the NIC of @m has lost its memory: @m counts for no earlier
 * table
 */
void fm_quorum_forgot(struct fm *fm, struct fm_mate *m);
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
/** fm_quorum_lacks() - Return: true if the quorum was missing when it was needed last */
bool fm_quorum_lacks(const struct fm_root *r);

#endif /* FM_QUORUM_H */
