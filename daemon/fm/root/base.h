/* SPDX-License-Identifier: GPL-2.0-only */
/* How many packets are missing for good. */
#ifndef FM_BASE_H
#define FM_BASE_H

struct fm;
struct fm_hello;
struct fm_mate;
struct fm_root;

/* Other NICs are counted than before. */
void fm_base_forget(struct fm_root *r);
/* A NIC begins to be counted. */
void fm_base_count(struct fm *fm, const struct fm_mate *m, const struct fm_hello *h);
/* A root that restarted goes on from what the nodes remember. */
void fm_base_restore(struct fm *fm);

#endif /* FM_BASE_H */
