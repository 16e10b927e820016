/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders of the administrator. */
#ifndef FM_ADMIN_H
#define FM_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_kept_count;
struct fm_kept_msg;
struct fm_mate;
struct fm_order;
struct fm_root;

/* A root begins. Return: false: no memory. */
bool fm_admin_new(struct fm_root *r);
void fm_admin_free(struct fm_root *r);

/* As fm_exclude() and fm_root_move(), at the root. */
int fm_admin_exclude(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order);
/* As fm_exclude_first(), at the root. */
int fm_admin_mark(struct fm *fm, uint32_t node, int port, bool excluded,
		  const struct fm_order *order);
/* As fm_exclude_changes(), at the root. */
bool fm_admin_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
		      const struct fm_order *order);
/* The time of the order for these ports is over: they are included. Far ends have their own orders. */
void fm_admin_over(struct fm *fm, uint32_t node, uint16_t ports);
int fm_admin_move(struct fm *fm, uint32_t node);
/* That node is ready to be root: this root may be ending then. */
void fm_admin_ready(struct fm *fm, uint64_t guid);
/* A node tells what its disk has. */
void fm_admin_kept(struct fm *fm, const struct fm_kept_msg *k);
/* How much of the table at hand @m has on its disk. Return: enum fm_disk. */
uint8_t fm_admin_disk(const struct fm *fm, const struct fm_mate *m);
/* As fm_kept_count(), at the root. */
void fm_admin_kept_count(const struct fm *fm, struct fm_kept_count *out);
void fm_admin_due(struct fm *fm);
uint64_t fm_admin_expiry(const struct fm *fm);

#endif /* FM_ADMIN_H */
