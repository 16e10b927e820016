/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders of the administrator. */
#ifndef FM_ADMIN_H
#define FM_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_kept_count;
struct fm_kept_msg;
struct fm_record;
struct fm_order;
struct fm_root;

/* Allocates the state of admin.c for a new root. Return: false if there is no memory. */
bool fm_admin_new(struct fm_root *r);
void fm_admin_free(struct fm_root *r);

/*
 * The following functions implement on the root the functions of fm.h and status.h with similar
 * names:
 */
/** fm_admin_exclude() - see fm_exclude() and fm_exclude_by() */
int fm_admin_exclude(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order);
/** fm_admin_mark() - see fm_exclude_first() */
int fm_admin_mark(struct fm *fm, uint32_t node, int port, bool excluded,
		  const struct fm_order *order);
/** fm_admin_changes() - see fm_exclude_changes() */
bool fm_admin_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
		      const struct fm_order *order);
/**
 * fm_admin_over() - include the ports of @order, whose term is over, and drop the order
 * The other ends of these cables stay as they are.
 */
void fm_admin_over(struct fm *fm, const struct fm_order *order);
/** fm_admin_move() - see fm_root_move() */
int fm_admin_move(struct fm *fm, uint32_t node);
/**
 * fm_admin_ready() - hand over to the node @guid, which has answered that it is ready
 * This root ends after the call.
 */
void fm_admin_ready(struct fm *fm, uint64_t guid);
/** fm_admin_kept() - store the report of a node about the table on its disk */
void fm_admin_kept(struct fm *fm, const struct fm_kept_msg *k);
/** fm_admin_disk() - Return: enum fm_disk, how much of the present table @m has on its disk */
uint8_t fm_admin_disk(const struct fm *fm, const struct fm_record *m);
/** fm_admin_kept_count() - see fm_kept_count() */
void fm_admin_kept_count(const struct fm *fm, struct fm_kept_count *out);
void fm_admin_due(struct fm *fm);
uint64_t fm_admin_expiry(const struct fm *fm);

#endif /* FM_ADMIN_H */
