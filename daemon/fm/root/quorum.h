/* SPDX-License-Identifier: GPL-2.0-only */
/* How many nodes a root needs. */
#ifndef FM_QUORUM_H
#define FM_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_mate;
struct fm_root;

#define FM_QUORUM_OPEN	16	/* tables that none has taken; more than colours */
#define FM_QUORUM_SETS	(FM_VOTERS_MAX + 1)	/* a table's own, and its voters */

/* A root begins. Return: false: no memory. */
bool fm_quorum_new(struct fm_root *r);
void fm_quorum_free(struct fm_root *r);

/** fm_quorum_note() - @m says HELLO: what its votes depend on */
void fm_quorum_note(struct fm_mate *m, const struct fm_hello *h);
/** fm_quorum_here() - Return: true if @m takes part in the claim, as far as it has come */
bool fm_quorum_here(const struct fm *fm, const struct fm_mate *m);
/** fm_quorum_claimed() - Return: true if those that take part in the claim are enough to lead */
bool fm_quorum_claimed(const struct fm *fm);
/**
 * fm_quorum_count() - @here of the @need that are enough take part, where most are missing; @need
 *	0: not known
 */
void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need);
/** fm_quorum_begin() - the claim has won */
void fm_quorum_begin(struct fm *fm);
/**
 * fm_quorum_sent() - this root, which leads and has no table yet, was sent the latest one: who was
 *	in it
 */
void fm_quorum_sent(struct fm *fm);
/** fm_quorum_hello() - @m has said HELLO: it counts, if it was up in the table of the claim */
void fm_quorum_hello(const struct fm *fm, struct fm_mate *m);
/**
 * fm_quorum_former() - @m, which has not joined, has that entry in the table from before this root
 */
void fm_quorum_former(const struct fm *fm, struct fm_mate *m, const struct fm_voters *v,
		      const struct fm_entry *e);
/** fm_quorum_differs() - for the entry of @m in the table @version, where it is up, or is not */
uint8_t fm_quorum_differs(const struct fm *fm, const struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_voters() - of the table @version, after its entries are made */
void fm_quorum_voters(const struct fm *fm, uint64_t version, struct fm_voters *v);
/** fm_quorum_entry() - @m is up in the table @version, or is not */
void fm_quorum_entry(struct fm *fm, struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_forgot() - the NIC of @m has lost its memory: it counts for no table from before */
void fm_quorum_forgot(struct fm *fm, struct fm_mate *m);
/**
 * fm_quorum_took() - Return: true if those who take the table at hand are enough for it to go on
 */
bool fm_quorum_took(struct fm *fm);
/** fm_quorum_taken() - all nodes that are up in @version have taken it */
void fm_quorum_taken(struct fm *fm, uint64_t version);
/** fm_quorum_look() - Return: true if the root may go on without nodes whose NICs work on */
bool fm_quorum_look(struct fm *fm);
/** fm_quorum_lacks() - Return: true if the last that was asked for did not stand */
bool fm_quorum_lacks(const struct fm_root *r);

#endif /* FM_QUORUM_H */
