/* SPDX-License-Identifier: GPL-2.0-only */
/* How many nodes a root needs. */
#ifndef FM_QUORUM_H
#define FM_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_mate;

#define FM_QUORUM_OPEN 16	/* more than colours */

/**
 * struct fm_quorum - of the tables of this root
 * @claimed: nodes up in the table that it was claimed with; 0: there was none
 * @maker: GUID of the root that made that table
 * @taken: the latest version that all nodes have taken that are up in it; 0: none
 * @lacks: the last that was asked for did not stand
 * @open: @n versions after it in which other nodes are up than in the one before
 */
struct fm_quorum {
	uint32_t claimed;
	unsigned int n;
	bool lacks;
	uint64_t maker, taken, open[FM_QUORUM_OPEN];
};

/** fm_quorum_here() - does @m take part in the claim, as far as it has come? */
bool fm_quorum_here(const struct fm *fm, const struct fm_mate *m);
/** fm_quorum_claimed() - are those that take part in the claim enough to lead? */
bool fm_quorum_claimed(const struct fm *fm);
/** fm_quorum_count() - @here of the @need that are enough take part in the claim; @need 0: not known */
void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need);
/** fm_quorum_begin() - the claim has won */
void fm_quorum_begin(struct fm *fm);
/** fm_quorum_hello() - @m has said HELLO: it counts, if it was up in the table of the claim */
void fm_quorum_hello(const struct fm *fm, struct fm_mate *m);
/** fm_quorum_entry() - the state of @m is, or was, another in @version */
void fm_quorum_entry(struct fm *fm, struct fm_mate *m, bool up, uint64_t version);
/** fm_quorum_took() - Return: whether those who take the table at hand are enough for it to go on */
bool fm_quorum_took(struct fm *fm);
/** fm_quorum_taken() - all who are up in @version have taken it */
void fm_quorum_taken(struct fm *fm, uint64_t version);
/** fm_quorum_look() - Return: whether the root may go on without nodes whose NICs work on */
bool fm_quorum_look(struct fm *fm);

#endif /* FM_QUORUM_H */
