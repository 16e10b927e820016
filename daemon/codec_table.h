/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of a table, and the columns of svc.proto that they are on the wire. */
#ifndef CODEC_TABLE_H
#define CODEC_TABLE_H

#include "daemon/fm/wire/msg.h"
#include "daemon/svc.pb-c.h"

struct codec_columns;

/**
 * codec_columns_new() - the columns of a table
 * @out: may be packed until codec_columns_free()
 * Return: NULL if out of memory.
 */
struct codec_columns *codec_columns_new(const struct fm_table_msg *t, Svc__Entries **out);
void codec_columns_free(struct codec_columns *c);

/**
 * codec_entries() - fills entries from columns
 * @nodes: ids are below
 * Return: 0, -EBADMSG, -ENOMEM. After success the caller frees @t->entries.
 */
int codec_entries(struct fm_table_msg *t, const Svc__Entries *from, uint32_t nodes);

/** struct codec_orders - room for the orders of a table; codec_orders_free() after packing */
struct codec_orders {
	Svc__Order *of, **list;
};

/** codec_orders_put() - Return: false if out of memory */
bool codec_orders_put(struct codec_orders *o, const struct fm_table_msg *t, Svc__Table *out);
void codec_orders_free(struct codec_orders *o);
/**
 * codec_orders_get() - @entries are there: each order is of one of these nodes
 * Return: 0, -EBADMSG, -ENOMEM. After success the caller frees @t->orders.
 */
int codec_orders_get(struct fm_table_msg *t, const Svc__Table *from);

#endif /* CODEC_TABLE_H */
