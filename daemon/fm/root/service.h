/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes that the administrator has taken out of service. */
#ifndef FM_SERVICE_H
#define FM_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_record;

/** fm_service_is_out() - Return: true if all cables of the place @node are excluded */
bool fm_service_is_out(const struct fm *fm, uint32_t node);
/**
 * fm_service_gone() - report the problem that @m is dead or silent, unless @m is out of service
 * @why: added to the text, or ""
 * Return: true if the problem was reported.
 */
bool fm_service_gone(struct fm *fm, struct fm_record *m, const char *why);
/**
 * fm_service_look() - end or report the problem that @node is dead or silent
 * It is ended if the node is now out of service, and reported if it is in service again. Called
 * when the exclusions of @node may have changed.
 */
void fm_service_look(struct fm *fm, uint32_t node);
/**
 * fm_service_grace() - Return: how long the manager of @m may be missing until @m counts as
 * silent, ns
 */
uint64_t fm_service_grace(const struct fm *fm, const struct fm_record *m);

#endif /* FM_SERVICE_H */
