/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults put into what a port sends: bit errors, silence, latency. */
#ifndef TORUS_HOST_FAULT_H
#define TORUS_HOST_FAULT_H

#include "../core/fault.h"

#define TORUS_HOST_LATE_MAX	1024		/* frames of a port on their way */

/** struct torus_host_late - in a frame of the shell's, while it is delayed */
struct torus_host_late {
	struct torus_host_late *next;
	u64 due;
};

/**
 * struct torus_host_fault - faults of one port
 * @bits: bit errors: rate and seed
 * @latency: ns added to every frame
 * @silence: nothing is sent, nothing heard
 * @late, @last: frames on their way, in the order in which they were sent
 */
struct torus_host_fault {
	struct tn_fault bits;
	u64 latency;
	bool silence;
	/* private: */
	struct torus_host_late *late;
	struct torus_host_late *last;
	u32 count;
};

/** torus_host_delays() - must the next frame be delayed? It may not overtake others */
static inline bool torus_host_delays(const struct torus_host_fault *f)
{
	return f->latency || f->late;
}

/** torus_host_delay() - keep a frame until its time. Return: false: too many, it is lost */
bool torus_host_delay(struct torus_host_fault *f, struct torus_host_late *frame, u64 now);
/** torus_host_due() - the next frame whose time has come by @now, or NULL; ~0: the next */
struct torus_host_late *torus_host_due(struct torus_host_fault *f, u64 now);
/** torus_host_fault_expiry() - when the next delayed frame is due; ~0 for never */
u64 torus_host_fault_expiry(const struct torus_host_fault *f);

#endif /* TORUS_HOST_FAULT_H */
