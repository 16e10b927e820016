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

/** struct fm_member - this node's part in the step at hand */
struct fm_member {
	uint64_t version;
	uint32_t round;
	struct fm_step step;	/* the last one of this version */
	bool sent;
	bool failed;		/* it has said that it cannot: it counts only those below it */
	unsigned int nawaited;	/* children */
	struct fm_report below;	/* sum of those that have reported */
	struct fm_base base;	/* as the root told last */
	uint8_t clean;		/* ... with the table and step at hand */
};

void fm_member_table(struct fm *fm, const struct fm_table_msg *t);
void fm_member_step(struct fm *fm, const struct fm_step *s);
void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
/* A child says that it cannot do what the table at hand asks: it is not waited for. */
void fm_member_excuse(struct fm *fm, const struct fm_failed *f);
void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version);
/* An action at the NIC has ended, as fm_done() says. */
void fm_member_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts);
void fm_member_check(struct fm *fm, bool again);
/* Says the step at hand again to the children that have not reported it. */
void fm_member_repeat(struct fm *fm);

#endif /* FM_MEMBER_H */
