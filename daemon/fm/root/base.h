/* SPDX-License-Identifier: GPL-2.0-only */
/* The base: the number of packets that are missing for good. */
#ifndef FM_BASE_H
#define FM_BASE_H

struct fm;
struct fm_hello;
struct fm_record;
struct fm_root;

/** fm_base_forget() - note that the base is unknown, because other NICs are counted from now on */
void fm_base_forget(struct fm_root *r);
/** fm_base_count() - count the NIC of @m from now on; @h: its HELLO with its counters */
void fm_base_count(struct fm *fm, const struct fm_record *m, const struct fm_hello *h);
/** fm_base_restore() - use the base that nodes have stored, because this root has started again */
void fm_base_restore(struct fm *fm);

#endif /* FM_BASE_H */
