/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes that the administrator has taken out of service. */
#ifndef FM_SERVICE_H
#define FM_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_mate;

/** fm_service_is_out() - Return: true if all cables of the place @node are excluded */
bool fm_service_is_out(const struct fm *fm, uint32_t node);
/**
 * fm_service_gone() - called when @m was judged dead or silent: report a problem, unless @m is out
 * of service
 * @why: added to the text, or ""
 * Return: true if it is a problem.
 */
bool fm_service_gone(struct fm *fm, struct fm_mate *m, const char *why);
/**
 * fm_service_look() - called when the exclusions of @node may have changed: end the problem that it
 * is dead or silent if it is now out of service, report it if it is now in service again
 */
void fm_service_look(struct fm *fm, uint32_t node);
/**
 * fm_service_patience() - Return: ns for which the manager of @m may be missing until @m becomes
 * silent
 */
uint64_t fm_service_patience(const struct fm *fm, const struct fm_mate *m);

#endif /* FM_SERVICE_H */
