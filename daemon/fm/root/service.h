/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes that the administrator has taken out of service. */
#ifndef FM_SERVICE_H
#define FM_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_mate;

/*
 * Return: true if all cables of @node are excluded by order; also if no node was ever seen there.
 */
bool fm_service_is_out(const struct fm *fm, uint32_t node);
/*
 * @m is dead or silent: a problem, unless it is out of service. @why: added to the text, or "".
 * Return: true if it is a problem.
 */
bool fm_service_gone(struct fm *fm, struct fm_mate *m, const char *why);
/* The entry of @node is made anew: it may have been taken out of service, or included. */
void fm_service_look(struct fm *fm, uint32_t node);
/* How long the manager of @m may be away until the node is silent. */
uint64_t fm_service_patience(const struct fm *fm, const struct fm_mate *m);

#endif /* FM_SERVICE_H */
