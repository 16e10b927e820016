// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the address plan of the fabric
 *
 * The plan is part of each table, and the first table of a fabric takes it from the root's
 * configuration. A later root takes the plan that the fabric has: that of the latest table that
 * HELLOs describe, else of the NICs that are placed, else of the kept table. So neither a restart
 * nor a takeover changes it, whatever the new root's configuration is; if that names another plan,
 * this is reported as a problem. The plan changes only when the root reads its configuration again.
 *
 * A change is a recovery like any other, in which no row changes: no row goes on hold, and flows
 * between addresses that stay the same lose nothing. Each node gives its NIC the plan, and the
 * interface its addresses, before it reports the table. Packets carry node ids, not addresses,
 * through the fabric, so those that are in it arrive at the same node; its host drops them once the
 * address is gone. A packet that a host sends to a former address after the change goes by the new
 * plan: if the prefixes overlap, that address may now belong to another node.
 *
 * A manager or a NIC of an earlier release knows only the default plan. While such a node is in the
 * fabric no other plan comes into force, and while another plan is in force such a node is refused.
 * A root that takes over the fabric's plan drops such nodes before its first table, because they
 * joined before the plan was known. If the configuration has changed the shape, and the fabric's
 * plan has too few addresses for it, the prefixes of the configuration replace those of the fabric.
 *
 * Each node routes the prefixes of the plan through its torus interface. So no node may have its
 * service address in one of them: the service network would lose it. A plan that has the address of
 * a known node does not come into force, and while a plan is in force a node whose address it has
 * is refused. A plan that the fabric has when a root begins is kept in any case. A node whose own
 * address is in it may have joined already; it refuses the table (node/task.c), becomes silent, and
 * is refused when it joins again. If that node is the root itself, it hands over (resign.c).
 *
 * Tests: tests/sim/test_address_plan.c, tests/netns/test_address_plan.sh.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/fm/root/plan.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/wire/plan.h"

void fm_plan_hello(struct fm *fm, struct fm_record *m, const struct fm_hello *h)
{
	struct fm_root *r = fm->root;

	m->plans = h->plans;
	if (r->settled || !h->placed || (r->nics_plan && h->version <= r->nics_version))
		return;
	r->nics_plan = true;
	r->nics_version = h->version;
	r->plan = h->plan;
}

bool fm_plan_objection(const struct fm *fm, const struct fm_hello *h, char *text, size_t room)
{
	const struct fm_root *r = fm->root;
	struct torus_plan full = fm_plan_full(&r->plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	if (r->settled && fm_plan_has(&r->plan, h->address)) {
		snprintf(text, room,
			 "'%s' has the service address %s, but %s and %s are the torus itself: "
			 "give it an address of another network",
			 h->name, h->address, torus_plan_text4(&full, v4),
			 torus_plan_text6(&full, v6));
		return true;
	}
	if (h->plans || !r->settled || fm_plan_is_default(&r->plan))
		return false;
	snprintf(text, room,
		 "'%s' knows only the default address plan, and the fabric has another one: update "
		 "fabricd and the driver of its NIC",
		 h->name);
	return true;
}

/* Reports the problem that @plan cannot be used. */
static void refuse_plan(struct fm *fm, const struct torus_plan *plan, const char *why)
{
	struct torus_plan full = fm_plan_full(plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	fm_problem_set(fm, "plan", 0, "address plan %s, %s is not used: %s",
		       torus_plan_text4(&full, v4), torus_plan_text6(&full, v6), why);
}

/*
 * Return: true if no known node has its service address in @plan; if one has, this is reported as a
 * problem.
 */
static bool is_plan_apart(struct fm *fm, const struct torus_plan *plan)
{
	char why[FM_TEXT_MAX / 2];

	for (uint32_t i = 0; i < fm_roster_size(fm->root); i++) {
		const struct fm_record *m = fm_record_no(fm->root, i);

		if (m->state != FM_NODE_UP && m->node == TORUS_NO_NODE)
			continue;
		if (!fm_plan_has(plan, m->address))
			continue;
		snprintf(why, sizeof(why), "it has the service address %s of '%s'", m->address,
			 m->name);
		refuse_plan(fm, plan, why);
		return false;
	}
	return true;
}

/* Return: true if the fabric can use @plan; if not, the reason is reported as a problem. */
static bool is_plan_usable(struct fm *fm, const struct torus_plan *plan,
			   const struct torus_shape *shape)
{
	char why[FM_TEXT_MAX / 2], text[TORUS_TEXT_MAX];

	if (!fm_plan_holds(plan, shape)) {
		snprintf(why, sizeof(why),
			 "too few addresses for shape %s: must be prefixes of at most /%u and /%u",
			 torus_shape_text(shape, text), torus_plan_longest(shape, 32),
			 torus_plan_longest(shape, 128));
		refuse_plan(fm, plan, why);
		return false;
	}
	for (uint32_t i = 0; !fm_plan_is_default(plan) && i < fm_roster_size(fm->root); i++) {
		const struct fm_record *m = fm_record_no(fm->root, i);

		if (m->plans || m->state != FM_NODE_UP)
			continue;
		snprintf(why, sizeof(why),
			 "'%s' knows only the default one: update fabricd and the driver of its "
			 "NIC",
			 m->name);
		refuse_plan(fm, plan, why);
		return false;
	}
	return true;
}

/* Return: the plan @from, in which the prefixes that the configuration names are replaced. */
static struct torus_plan configured_plan(const struct fm *fm, const struct torus_plan *from)
{
	struct torus_plan plan = fm_plan_full(from), cfg = fm_plan_full(&fm->cfg.plan);

	if (fm->cfg.plan_given & FM_PLAN4) {
		memcpy(plan.net4, cfg.net4, sizeof(plan.net4));
		plan.len4 = cfg.len4;
	}
	if (fm->cfg.plan_given & FM_PLAN6) {
		memcpy(plan.net6, cfg.net6, sizeof(plan.net6));
		plan.len6 = cfg.len6;
	}
	return fm_plan_short(&plan);
}

/* Compares the plan of the fabric with that of the configuration, and reports a difference. */
static void check_config(struct fm *fm)
{
	const struct torus_plan *plan = &fm->root->plan;
	struct torus_plan full = fm_plan_full(plan), cfg = configured_plan(fm, plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	if (fm_plan_same(plan, &cfg))
		fm_problem_clear(fm, "plan", 0);
	else
		fm_problem_set(fm, "plan", 0,
			       "the fabric has addresses of %s and %s, and the configuration of "
			       "its root '%s' names others: 'systemctl reload fabricd' there "
			       "changes them",
			       torus_plan_text4(&full, v4), torus_plan_text6(&full, v6),
			       fm->cfg.name);
}

/* Return: the plan that the fabric has already; NULL if it has none yet. */
static const struct torus_plan *present_plan(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	if (r->former.table)
		return &r->former.plan;
	if (r->restored && r->nics_plan)
		return &r->plan;
	return r->restored && fm->kept.book ? &fm->kept.plan : NULL;
}

/* Drops the nodes that support only the default plan. They join again, and are then refused. */
static void drop_old(struct fm *fm)
{
	for (uint32_t i = 1; i < fm_roster_size(fm->root); i++) {
		struct fm_record *m = fm_record_no(fm->root, i);

		if (m->plans || m->state != FM_NODE_UP)
			continue;
		m->state = FM_NODE_DEAD;
		fm_ranks_look(fm);
		fm_base_forget(fm->root);
		fm_vanish_drop(fm, m);
	}
}

bool fm_plan_settle(struct fm *fm, const struct torus_shape *shape)
{
	const struct torus_plan *present = present_plan(fm);
	struct torus_plan plan = present ? *present : (struct torus_plan) { .len4 = 0 };
	struct fm_root *r = fm->root;
	bool configured = !present || !fm_plan_holds(present, shape);

	if (configured)
		plan = configured_plan(fm, &plan);
	else if (!fm_plan_is_default(present))
		drop_old(fm);
	if ((configured && !is_plan_apart(fm, &plan)) || !is_plan_usable(fm, &plan, shape)) {
		r->plan_again = fm->now + fm->cfg.quiet;
		return false;
	}
	r->plan = plan;
	check_config(fm);
	return true;
}

void fm_plan_configured(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct torus_plan plan = configured_plan(fm, &r->plan), full = fm_plan_full(&plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	r->plan_again = 0;
	if (!r->settled)
		return;
	if (!fm_plan_same(&plan, &r->plan)) {
		if (!is_plan_apart(fm, &plan) || !is_plan_usable(fm, &plan, &fm->table.shape))
			return;
		r->plan = plan;
		fm_demand(fm, 0, "addresses of %s and %s", torus_plan_text4(&full, v4),
			  torus_plan_text6(&full, v6));
	}
	check_config(fm);
}
