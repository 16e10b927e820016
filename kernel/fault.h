/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults put into what a port sends: bit errors, silence, latency. */
#ifndef TORUS_FAULT_H
#define TORUS_FAULT_H

#include <linux/skbuff.h>

#include "core/fault.h"

#define TORUS_FAULT_DELAYED_MAX	1024			/* frames on their way */

/**
 * struct torus_fault - faults of one port (lock)
 * @bits: bit errors: rate and seed
 * @latency: ns added to every frame
 * @silence: nothing is sent, nothing heard
 * @delayed: frames on their way, in order of time
 */
struct torus_fault {
	struct tn_fault bits;
	u64 latency;
	bool silence;
	/* private: */
	struct sk_buff_head delayed;
};

void torus_fault_init(struct torus_fault *f);
/** torus_fault_delay() - keep a frame until its time; drops what is too much */
void torus_fault_delay(struct torus_fault *f, struct sk_buff *skb, u64 now);
/** torus_fault_due() - the next frame whose time has come, or NULL */
struct sk_buff *torus_fault_due(struct torus_fault *f, u64 now);
/** torus_fault_expiry() - when the next delayed frame is due; ~0 for never */
u64 torus_fault_expiry(const struct torus_fault *f);

#endif /* TORUS_FAULT_H */
