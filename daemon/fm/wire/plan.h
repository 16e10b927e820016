/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address plan as machines and their messages represent it: a plan of all 0 is the default
 * plan. So a message of a manager that does not support address plans, and therefore contains none,
 * means the default plan.
 */
#ifndef FM_WIRE_PLAN_H
#define FM_WIRE_PLAN_H

#include <stdbool.h>
#include <string.h>
#include <torus/topology.h>

/** fm_plan_short() - Return: @plan, or all 0 if it is the default one */
static inline struct torus_plan fm_plan_short(const struct torus_plan *plan)
{
	struct torus_plan usual;

	torus_plan_default(&usual);
	return memcmp(plan, &usual, sizeof(usual)) ? *plan : (struct torus_plan) { .len4 = 0 };
}

/** fm_plan_full() - Return: @plan, or the default one if it is all 0 */
static inline struct torus_plan fm_plan_full(const struct torus_plan *plan)
{
	struct torus_plan full = *plan;

	if (!full.len4)
		torus_plan_default(&full);
	return full;
}

static inline bool fm_plan_is_default(const struct torus_plan *plan)
{
	return !plan->len4;
}

static inline bool fm_plan_same(const struct torus_plan *a, const struct torus_plan *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/** fm_plan_holds() - Return: true if the plan has addresses for all nodes of @shape */
static inline bool fm_plan_holds(const struct torus_plan *plan, const struct torus_shape *shape)
{
	struct torus_plan full = fm_plan_full(plan);

	return torus_plan_holds4(&full, shape) && torus_plan_holds6(&full, shape);
}

/**
 * fm_plan_has() - Return: true if the service address, "IP:PORT" or "[IP]:PORT", is in a prefix of
 * @plan
 */
bool fm_plan_has(const struct torus_plan *plan, const char *address);

#endif /* FM_WIRE_PLAN_H */
