/* SPDX-License-Identifier: GPL-2.0-only */
/* This node's part in a recovery. */
#ifndef FM_MEMBER_H
#define FM_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_counts;

/* A machine begins. Return: false: no memory. */
bool fm_member_new(struct fm *fm);
void fm_member_free(struct fm *fm);

void fm_member_table(struct fm *fm, const struct fm_table_msg *t);
void fm_member_step(struct fm *fm, const struct fm_step *s);
void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
/* A child says that it cannot do what the table at hand asks: it is not waited for. */
void fm_member_excuse(struct fm *fm, const struct fm_failed *f);
void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version);
/* An action at the NIC has ended, as fm_done() says. */
void fm_member_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts);
void fm_member_check(struct fm *fm, bool again);
/* A child is gone that may have been in the sum: that is sent anew. */
void fm_member_left(struct fm *fm);
/* Says the step at hand again to the children that have not reported it. */
void fm_member_repeat(struct fm *fm);

/* The round of the step at hand; 0: the table itself. */
uint32_t fm_member_round(const struct fm *fm);
/* Return: true if the version at hand has been done here, to its last step. */
bool fm_member_ended(const struct fm *fm);

#endif /* FM_MEMBER_H */
