// SPDX-License-Identifier: GPL-2.0-only
/* What the administrator orders. */
#include <errno.h>
#include <torus/topology.h>

#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/root.h"

int fm_admin_exclude(struct fm *fm, uint32_t node, int port, bool excluded)
{
	struct fm_root *r = fm->root;
	char text[TORUS_TEXT_MAX], name[TORUS_TEXT_MAX] = "all ports";
	uint16_t mask;

	if (!fm->table.version)
		return -EAGAIN;
	if (node >= fm->table.nodes || port < -1 || port >= (int)(2 * fm->ndims))
		return -EINVAL;
	mask = (uint16_t)(port < 0 ? (1u << 2 * fm->ndims) - 1 : 1u << port);
	if (excluded)
		r->admin[node] |= mask;
	else
		r->admin[node] &= (uint16_t)~mask;
	fm_change_node(fm, node);
	if (!excluded)
		fm_damp_end(fm, node, mask);
	if (port >= 0)
		torus_port_text(fm->ndims, (unsigned int)port, name);
	fm_demand(fm, 0, "%s %s:%s", excluded ? "excluded" : "included",
			 torus_node_text(&fm->table.shape, node, text), name);
	fm_judge_due(fm);
	fm_publish_due(fm);
	return 0;
}
