/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults put into what a port sends: bit errors, silence, latency. */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include <uapi/torus_policy.h>

#include "pool.h"

#define FAULT_DELAYED_MAX 1024			/* frames on their way */

/**
 * struct fault - faults of one port
 * @ber: errors per bit, in units of 1e-18
 * @latency: ns
 * @seed: of the error positions
 * @silence: nothing is sent, nothing heard
 */
struct fault {
	u64 ber;
	u64 latency;
	u64 seed;
	bool silence;
	/* private: */
	u64 rng;
	u64 skip;		/* good bits before the next bad one */
	struct delayed *head;
	struct delayed **tail;
	u32 ndelayed;
};

void fault_init(struct fault *f);
/** fault_arm() - after ber or seed were set */
void fault_arm(struct fault *f);

/** fault_hits() - will an error fall into the next @bytes? If not, they are passed */
bool fault_hits(struct fault *f, u32 bytes);
/** fault_corrupt() - flip the bits whose turn it is */
void fault_corrupt(struct fault *f, u8 *data, u32 bytes);

/** fault_delay() - keep a frame until its time; takes over the reference */
void fault_delay(struct fault *f, struct pool *pool, struct frame *frame, u32 bytes, u64 now);
/** fault_due() - the next delayed frame whose time has come, or NULL */
struct frame *fault_due(struct fault *f, u32 *bytes, u64 now);
/** fault_expiry() - when the next delayed frame is due; ~0 for never */
u64 fault_expiry(const struct fault *f);
void fault_flush(struct fault *f, struct pool *pool);

#endif /* EMU_FAULT_H */
