/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the fabric that had a root each, and meet. */
#ifndef FM_PARTS_H
#define FM_PARTS_H

struct fm;
struct fm_mate;

/** fm_parts_hello() - @m has said HELLO to a root that has a table, or will soon: what it excludes stays so */
void fm_parts_hello(struct fm *fm, const struct fm_mate *m);
/** fm_parts_end() - the first table begins: its line is known, and what all excluded who came from others */
void fm_parts_end(struct fm *fm);

#endif /* FM_PARTS_H */
