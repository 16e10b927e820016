/* SPDX-License-Identifier: GPL-2.0-only */
/* An Init that came over the service network. */
#ifndef FM_CALLED_H
#define FM_CALLED_H

struct fm;
struct fm_claim;
struct fm_conn;

/** fm_called() - a root, or an asking node, calls this node: answer; close @c if it is no Init */
void fm_called(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);
/** fm_called_back() - a called node has answered: note it, and close @c */
void fm_called_back(struct fm *fm, struct fm_conn *c, const struct fm_claim *m);

#endif /* FM_CALLED_H */
