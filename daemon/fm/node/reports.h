/* SPDX-License-Identifier: GPL-2.0-only */
/* The reports of the nodes below for the step at hand. */
#ifndef FM_REPORTS_H
#define FM_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;

/* A machine begins, without reports. Return: false: no memory. */
bool fm_reports_new(struct fm *fm);
void fm_reports_free(struct fm *fm);
/* The step at hand is new: none has been reported. */
void fm_reports_step(struct fm *fm);
/* The sum of those that have come for the step at hand. */
const struct fm_report *fm_reports_sum(const struct fm *fm);
/* Return: true if one is missing. */
bool fm_reports_missing(const struct fm *fm);

/* The counters of this node, as they were read last. */
void fm_reports_own(struct fm *fm, struct fm_sums *out);
/* @sign: 1, or -1 to take it away again. */
void fm_report_add(struct fm_report *to, const struct fm_report *r, int sign);

void fm_reports_take(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
/* The report of child @c is awaited, or not any more: counts it anew. */
void fm_reports_await(struct fm *fm, struct fm_conn *c);
/* The connection ends: its report is not counted any more. */
void fm_reports_forget(struct fm *fm, const struct fm_conn *c);
/* GUID of a child whose report of the step at hand is missing, or 0. */
uint64_t fm_reports_awaited(const struct fm *fm);
void fm_reports_lookup(struct fm *fm);

#endif /* FM_REPORTS_H */
