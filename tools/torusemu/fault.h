/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults put into what a port sends: bit errors, silence, latency. */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "kernel/core/fault.h"
#include "pool.h"

#define FAULT_DELAYED_MAX 1024			/* frames on their way */

/**
 * struct fault - faults of one port
 * @bits: bit errors
 * @latency: ns
 * @silence: nothing is sent, nothing heard
 */
struct fault {
	struct tn_fault bits;
	u64 latency;
	bool silence;
	/* private: */
	struct delayed *head;
	struct delayed **tail;
	u32 ndelayed;
};

void fault_init(struct fault *f);
/** fault_delay() - keep a frame until its time; takes over the reference */
void fault_delay(struct fault *f, struct pool *pool, struct frame *frame, u32 bytes, u64 now);
/** fault_due() - the next delayed frame whose time has come, or NULL */
struct frame *fault_due(struct fault *f, u32 *bytes, u64 now);
/** fault_expiry() - when the next delayed frame is due; ~0 for never */
u64 fault_expiry(const struct fault *f);
void fault_flush(struct fault *f, struct pool *pool);

#endif /* EMU_FAULT_H */
