/* SPDX-License-Identifier: GPL-2.0-only */
/* The quorum: how many nodes a root needs. */
#ifndef FM_QUORUM_H
#define FM_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_mate;
struct fm_root;

#define FM_QUORUM_OPEN	16	/* tables that not all nodes have taken; more than colours */
#define FM_QUORUM_SETS	(FM_VOTERS_MAX + 1)	/* a table's own, and its voters */

/* A root begins. Return: false: no memory. */
bool fm_quorum_new(struct fm_root *r);
void fm_quorum_free(struct fm_root *r);

/** fm_quorum_note() - @m says HELLO: store the statements on which its votes depend */
void fm_quorum_note(struct fm_mate *m, const struct fm_hello *h);
/** fm_quorum_here() - Return: true if @m takes part in the claim, as far as it has come */
bool fm_quorum_here(const struct fm *fm, const struct fm_mate *m);
/** fm_quorum_claimed() - Return: true if the nodes that take part in the claim are quorums */
bool fm_quorum_claimed(const struct fm *fm);
/**
 * fm_quorum_count() - count the nodes of the set of which most are missing
 * @here: how many of them take part in the claim
 * @need: how many are needed; 0: not known
 */
void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need);
/** fm_quorum_begin() - the claim has won: note the sets of its table */
void fm_quorum_begin(struct fm *fm);
/** fm_quorum_sent() - before its first table, the root was sent the latest one: note its nodes */
void fm_quorum_sent(struct fm *fm);
/** fm_quorum_hello() - @m says HELLO: note the sets of the claim in which it is */
void fm_quorum_hello(const struct fm *fm, struct fm_mate *m);
/** fm_quorum_former() - the same for @m that has not joined, by its entry in the former table */
void fm_quorum_former(const struct fm *fm, struct fm_mate *m, const struct fm_voters *v,
		      const struct fm_entry *e);
/** fm_quorum_differs() - Return: @differs for the entry of @m, which is @up in table @version */
uint8_t fm_quorum_differs(const struct fm *fm, const struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_voters() - list the voters of table @version, after its entries are made */
void fm_quorum_voters(const struct fm *fm, uint64_t version, struct fm_voters *v);
/** fm_quorum_entry() - @m is up in the table @version, or is not */
void fm_quorum_entry(struct fm *fm, struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_forgot() - the NIC of @m has lost its memory: it counts for no table from before */
void fm_quorum_forgot(struct fm *fm, struct fm_mate *m);
/** fm_quorum_took() - Return: true if the nodes that take the present table are enough; rule (T) */
bool fm_quorum_took(struct fm *fm);
/** fm_quorum_taken() - all nodes that are up in @version have taken it */
void fm_quorum_taken(struct fm *fm, uint64_t version);
/** fm_quorum_look() - Return: true if the root may call nodes silent now; rule (S) */
bool fm_quorum_look(struct fm *fm);
/** fm_quorum_connected() - Return: true if the nodes that are connected to the root are quorums */
bool fm_quorum_connected(const struct fm *fm);
/** fm_quorum_lacks() - Return: true if the quorum was missing when it was needed last */
bool fm_quorum_lacks(const struct fm_root *r);

#endif /* FM_QUORUM_H */
