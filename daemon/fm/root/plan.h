/* SPDX-License-Identifier: GPL-2.0-only */
/* The address plan of the fabric. */
#ifndef FM_ROOT_PLAN_H
#define FM_ROOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <torus/topology.h>

struct fm;
struct fm_hello;
struct fm_record;

/**
 * fm_plan_hello() - note whether the joining node @m supports address plans, and which one its NIC
 * has
 */
void fm_plan_hello(struct fm *fm, struct fm_record *m, const struct fm_hello *h);
/**
 * fm_plan_objection() - Return: true if the node cannot join, because its manager or its NIC does
 * not support the plan, or its service address is in the plan; writes the reason to @text
 */
bool fm_plan_objection(const struct fm *fm, const struct fm_hello *h, char *text, size_t room);
/**
 * fm_plan_settle() - decide on the plan before the first table, whose shape is @shape
 * Return: false if the plan has too few addresses for the shape, or contains the service address of
 * a node, or a node does not support it; the reason is reported as a problem.
 */
bool fm_plan_settle(struct fm *fm, const struct torus_shape *shape);
/**
 * fm_plan_configured() - make the address plan of the configuration, which was read again, that of
 * the fabric
 */
void fm_plan_configured(struct fm *fm);

#endif /* FM_ROOT_PLAN_H */
