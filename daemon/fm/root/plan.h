/* SPDX-License-Identifier: GPL-2.0-only */
/* The address plan of the fabric. */
#ifndef FM_ROOT_PLAN_H
#define FM_ROOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <torus/topology.h>

struct fm;
struct fm_hello;
struct fm_mate;

/** fm_plan_hello() - a node joins: note if it knows address plans, and which one its NIC has */
void fm_plan_hello(struct fm *fm, struct fm_mate *m, const struct fm_hello *h);
/**
 * fm_plan_objection() - Return: true if the node cannot join, because its release or its NIC does
 *	not know the plan, or its service address is in the plan; writes the reason to @text
 */
bool fm_plan_objection(const struct fm *fm, const struct fm_hello *h, char *text, size_t room);
/**
 * fm_plan_settle() - decide on the plan before the first table, whose shape is @shape
 * Return: false: it does not hold the shape, or has the service address of a node, or a node does
 * not know it; a problem has why.
 */
bool fm_plan_settle(struct fm *fm, const struct torus_shape *shape);
/** fm_plan_configured() - the configuration was read again: its plan becomes that of the fabric */
void fm_plan_configured(struct fm *fm);

#endif /* FM_ROOT_PLAN_H */
