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

#endif /* CODEC_TABLE_H */
