/* SPDX-License-Identifier: GPL-2.0-only */
/* The reports of the nodes below this one in the tree, for the present step. */
#ifndef FM_REPORTS_H
#define FM_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;

/** fm_reports_new() - make an empty sum; called by fm_new(). Return: false if there is no memory */
bool fm_reports_new(struct fm *fm);
void fm_reports_free(struct fm *fm);
/**
 * fm_reports_step() - forget all reports, and clear @reported of all children
 * Called when a new step has come, for which no child has reported yet.
 */
void fm_reports_step(struct fm *fm);
/** fm_reports_sum() - Return: the sum of the reports received for this step */
const struct fm_report *fm_reports_sum(const struct fm *fm);
/** fm_reports_missing() - Return: true if a child still has to report */
bool fm_reports_missing(const struct fm *fm);

/** fm_reports_own() - get the counters of this node, as they were last read */
void fm_reports_own(struct fm *fm, struct fm_sums *out);
/** fm_report_add() - add a report to a sum; @sign: 1, or -1 to subtract it again */
void fm_report_add(struct fm_report *to, const struct fm_report *r, int sign);

/** fm_reports_take() - add the report of the child @c, in place of its former one for this step */
void fm_reports_take(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
/** fm_reports_await() - update @c->awaited after a change of @c or of the table */
void fm_reports_await(struct fm *fm, struct fm_conn *c);
/** fm_reports_forget() - subtract the report of the child @c, whose connection ends */
void fm_reports_forget(struct fm *fm, const struct fm_conn *c);
/** fm_reports_awaited() - Return: GUID of a child that still has to report, or 0 */
uint64_t fm_reports_awaited(const struct fm *fm);
/**
 * fm_reports_lookup() - find the node ids of all children again
 * Called when this node has a new table, in which their ids may differ.
 */
void fm_reports_lookup(struct fm *fm);

#endif /* FM_REPORTS_H */
