/* SPDX-License-Identifier: GPL-2.0-only */
/* The base: the number of packets that are missing for good. */
#ifndef FM_BASE_H
#define FM_BASE_H

struct fm;
struct fm_hello;
struct fm_mate;
struct fm_root;

/** fm_base_forget() - called when other NICs are counted from now on: the base is unknown */
void fm_base_forget(struct fm_root *r);
/** fm_base_count() - from now on, count the NIC of @m, with the counters in its HELLO */
void fm_base_count(struct fm *fm, const struct fm_mate *m, const struct fm_hello *h);
/** fm_base_restore() - called when a root has started again: use the base that nodes remember */
void fm_base_restore(struct fm *fm);

#endif /* FM_BASE_H */
