/* SPDX-License-Identifier: GPL-2.0-only */
/* NICs that consist only of links: what nic_plain.c and nic_plain_rows.c share. */
#ifndef NIC_PLAIN_H
#define NIC_PLAIN_H

#include <errno.h>
#include <torus/topology.h>

#include "world_impl.h"

struct plain_port {
	uint8_t state;		/* enum torus_link_state */
	bool closed;
	uint32_t session;
};

/** struct plain - one such NIC; @version: version of its rows; 0: it has no rows */
struct plain {
	bool placed;
	uint32_t node;
	uint64_t version;
	struct plain_port port[TORUS_MAX_PORTS];
};

#endif /* NIC_PLAIN_H */
