/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls: Inits that come over the service network, because no link passes them on. */
#ifndef FM_CALLED_H
#define FM_CALLED_H

struct fm;
struct fm_claim;
struct fm_conn;

/**
 * fm_called() - process a call of a root, or of a node that asks to be root
 * Answers the call; if it contains no valid Init, closes @c instead.
 */
void fm_called(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);
/** fm_called_back() - process the answer of a node that this one has called, and close @c */
void fm_called_back(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);

#endif /* FM_CALLED_H */
