/* SPDX-License-Identifier: GPL-2.0-only */
/* What a NIC of core/ says of itself, in the structs of <torus/reply.h>. */
#ifndef TORUS_REQ_FILL_H
#define TORUS_REQ_FILL_H

#include "../core/nic.h"
#include "../core/serdes_model.h"
#include "tree.h"

/**
 * struct torus_port_host - what the core does not know of a port of a software NIC
 * @lower: name of the lower device, "" for none
 * @bits, @latency, @silence: faults put into what it sends
 * @cable: that it receives from
 */
struct torus_port_host {
	const char *lower;
	const struct tn_fault *bits;
	u64 latency;
	bool silence;
	const struct tn_cable *cable;
};

/* Each fills all of @out but its ifindex; torus_fill_device() only what the core knows. */
void torus_fill_device(struct torus_device *out, struct tn_nic *nic,
		       const struct tn_params *params);
void torus_fill_link(struct torus_link *out, struct tn_nic *nic, unsigned int port,
		     const struct torus_port_host *host, u64 now);
/** torus_fill_link_event() - what torus_tree_link_ntf has, with the states of @ev */
void torus_fill_link_event(struct torus_link *out, struct tn_nic *nic, const char *lower,
			   const struct tn_event *ev, u64 now);
void torus_fill_flow(struct torus_flow *out, struct tn_nic *nic, u32 epoch);
void torus_fill_park(struct torus_park *out, struct tn_nic *nic, u32 epoch);

/** torus_without_place() - attributes that a device does not have yet, for torus_tree_put() */
const struct torus_attrs *torus_without_place(const struct torus_device *device);

#endif /* TORUS_REQ_FILL_H */
