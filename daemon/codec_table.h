/* SPDX-License-Identifier: GPL-2.0-only */
/* Conversion of the entries of a table to the columns of svc.proto and back. */
#ifndef CODEC_TABLE_H
#define CODEC_TABLE_H

#include "daemon/fm/wire/msg.h"
#include "daemon/svc.pb-c.h"

struct codec_columns;

/**
 * codec_columns_new() - make the columns of a table
 * @out: set to the columns, valid until codec_columns_free()
 * Return: NULL if out of memory.
 */
struct codec_columns *codec_columns_new(const struct fm_table_msg *t, Svc__Entries **out);
void codec_columns_free(struct codec_columns *c);

/**
 * codec_entries() - make entries from columns
 * @nodes: number of nodes; greater ids are refused
 * Return: 0, -EBADMSG, -ENOMEM. After success the caller frees @t->entries.
 */
int codec_entries(struct fm_table_msg *t, const Svc__Entries *from, uint32_t nodes);

/** struct codec_orders - memory of the packed orders of a table, until codec_orders_free() */
struct codec_orders {
	Svc__Order *of, **list;
};

/** codec_orders_put() - add the orders of @t to @out. Return: false if out of memory */
bool codec_orders_put(struct codec_orders *o, const struct fm_table_msg *t, Svc__Table *out);
void codec_orders_free(struct codec_orders *o);
/**
 * codec_orders_get() - read the orders of a table; checks them against @t->entries, which the
 * caller has read before
 * Return: 0, -EBADMSG, -ENOMEM. After success the caller frees @t->orders.
 */
int codec_orders_get(struct fm_table_msg *t, const Svc__Table *from);

/** struct codec_jobs - memory of the packed jobs of a table, until codec_jobs_free() */
struct codec_jobs {
	Svc__Job *of, **list;
};

/** codec_jobs_put() - add the jobs of @t to @out. Return: false if out of memory */
bool codec_jobs_put(struct codec_jobs *j, const struct fm_table_msg *t, Svc__Table *out);
void codec_jobs_free(struct codec_jobs *j);
/**
 * codec_jobs_get() - read the jobs of a table
 * Return: 0, -EBADMSG, -ENOMEM. After success the caller frees @t->jobs.
 */
int codec_jobs_get(struct fm_table_msg *t, const Svc__Table *from);

#endif /* CODEC_TABLE_H */
