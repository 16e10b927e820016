// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes out of service: the administrator has excluded all their cables, for repair or for good.
 *
 * The exclusion belongs to the place, not to the node: the table has it also while the node is
 * dead, and where no node has ever been. So each later root knows the exclusion, and a node that
 * comes, or comes back, gets no traffic until the administrator includes it.
 *
 * No packet depends on such a node. So it is not reported as a problem if such a node is dead or
 * silent, and if its manager is missing, recoveries wait only as long as it may need to find
 * another parent.
 *
 * Tests: tests/unit/test_fm_service.c, tests/sim/test_service.c.
 */
#include <torus/topology.h>

#include "daemon/fm/root/service.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define ON_THE_WAY 4	/* in units of fm_config.resend: how long a node may need to find another
			 * parent */

bool fm_service_is_out(const struct fm *fm, uint32_t node)
{
	return fm->root->admin && node < torus_nodes(&fm->table.shape) &&
	       fm_is_out_of_service(&fm->table.shape, fm->root->admin[node]);
}

bool fm_service_gone(struct fm *fm, struct fm_record *m, const char *why)
{
	char node[TORUS_TEXT_MAX] = "?";

	m->out = fm_service_is_out(fm, m->node);
	if (m->out)
		return false;
	if (m->node < fm->table.nodes)
		torus_node_text(&fm->table.shape, m->node, node);
	fm_problem_of(fm, m->node, "node", m->guid, "node %s ('%s') is %s%s", node, m->name,
		      fm_node_state_name(m->state), why);
	return true;
}

void fm_service_look(struct fm *fm, uint32_t node)
{
	struct fm_record *m = fm_record_at(fm->root, node);
	bool was = m && m->out;

	if (!m)
		return;
	m->out = fm_service_is_out(fm, node);
	if (m->out && !was)
		fm_problem_clear(fm, "node", m->guid);
	else if (was && !m->out && m->state != FM_NODE_UP)
		fm_service_gone(fm, m, ": it already was when it was included again");
}

uint64_t fm_service_grace(const struct fm *fm, const struct fm_record *m)
{
	return fm_lag_answer(fm) +
	       (fm_service_is_out(fm, m->node) ? ON_THE_WAY * fm->cfg.resend : fm->cfg.member_max);
}
