/* SPDX-License-Identifier: GPL-2.0-only */
/* The table that outlives managers and NICs: the host keeps it on disk. */
#ifndef FM_KEEP_H
#define FM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_book;

/* A machine begins. Return: false: no memory. */
bool fm_keep_new(struct fm *fm);

/** fm_keep_take() - that table was kept. Return: false if what is known is as late, or no memory */
bool fm_keep_take(struct fm *fm, const struct fm_table_msg *m);
/**
 * fm_keep_whole() - as a message, to be given to fm_keep_whole_end(). Return: false: there is none
 */
bool fm_keep_whole(const struct fm *fm, struct fm_msg *out);
/** fm_keep_tell() - says in HELLO which one it is */
void fm_keep_tell(const struct fm *fm, struct fm_hello *h);
/** fm_kept_place() - of that NIC when it was kept, or TORUS_NO_NODE */
uint32_t fm_kept_place(const struct fm *fm, uint64_t guid);
/** fm_keep_news() - the table is another than the one that fm_keep() looked at last */
bool fm_keep_news(const struct fm *fm);
/** fm_keep() - the table is in force: it is kept if what must survive is another */
void fm_keep(struct fm *fm);
/** fm_keep_ended() - the table given to the host is on its disk (@ok), or the disk fails */
void fm_keep_ended(struct fm *fm, uint64_t epoch, uint64_t version, bool ok);
/** fm_keep_say() - tells the root what is on the disk, if there is something to tell */
void fm_keep_say(struct fm *fm);
void fm_keep_due(struct fm *fm);
uint64_t fm_keep_expiry(const struct fm *fm);
void fm_keep_free(struct fm *fm);

#endif /* FM_KEEP_H */
