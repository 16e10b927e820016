// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "cable.h"
#include "kind.h"
#include "node.h"
#include "say.h"

static void mark_cut(struct lab *lab, uint32_t node, unsigned int port, bool cut)
{
	if (cut)
		lab->cut[node] |= (uint16_t)(1 << port);
	else
		lab->cut[node] &= (uint16_t)~(1 << port);
}

/* Cuts or mends a cable. Saves the lab first, so that a revived node keeps cut cables cut. */
static int plug_cable(struct lab *lab, uint32_t node, unsigned int port, bool cut)
{
	unsigned int peer_port;
	uint32_t peer;
	int err;

	lab_peer(lab, node, port, &peer, &peer_port);
	mark_cut(lab, node, port, cut);
	mark_cut(lab, peer, peer_port, cut);
	err = lab_save(lab);
	err = err ? err : node_wire(lab, node, port);
	return err ? err : node_wire(lab, peer, peer_port);
}

int cable_set(const char *lab_name, const char *link, bool cut)
{
	struct lab lab;
	unsigned int port;
	uint32_t node;
	int err, status;

	if (geteuid())
		return fail_as(DENIED,
			       "cables can be cut and mended by root only: run it with sudo");
	status = lab_open(&lab, lab_name, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_link_parse(&lab, link, &node, &port);
	if (status == OK) {
		err = plug_cable(&lab, node, port, cut);
		if (err)
			status = fail_as(kind_of_errno(err), "link '%s': %s", link, strerror(-err));
	}
	lab_free(&lab);
	return status;
}

int cable_fault(const char *lab_name, const char *link, const struct fault_wish *wish)
{
	struct lab lab;
	unsigned int port;
	uint32_t node;
	int status;

	if (geteuid())
		return fail_as(DENIED, "faults can be made by root only: run it with sudo");
	status = lab_open(&lab, lab_name, LAB_SHARED);
	if (status != OK)
		return status;
	status = lab_link_parse(&lab, link, &node, &port);
	if (status == OK)
		status = fault_put(&lab, node, port, wish);
	lab_free(&lab);
	return status;
}
