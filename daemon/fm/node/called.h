/* SPDX-License-Identifier: GPL-2.0-only */
/* An Init that came over the service network. */
#ifndef FM_CALLED_H
#define FM_CALLED_H

struct fm;
struct fm_claim;
struct fm_conn;

/** fm_called() - a root, or a node that asks to be root, calls this node: answers, or ends @c */
void fm_called(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);
/** fm_called_back() - a node that this one called answers; ends @c */
void fm_called_back(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);

#endif /* FM_CALLED_H */
