/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults injected into the frames of a port: bit errors, silence, latency. */
#ifndef TORUS_HOST_FAULT_H
#define TORUS_HOST_FAULT_H

#include "../core/fault.h"

#define TORUS_HOST_LATE_MAX	1024		/* most delayed frames of a port */
#define TORUS_HOST_LATE_BYTES	(16u << 20)	/* most bytes of memory of these frames */

/**
 * struct torus_host_late - a delayed frame; this struct is a part of the shell's own struct for a
 * frame
 * @next: the frame that was sent after it, or NULL
 * @due: when it is to be sent on, ns
 * @held: bytes of its memory
 */
struct torus_host_late {
	struct torus_host_late *next;
	u64 due;
	u32 held;
};

/**
 * struct torus_host_fault - injected faults of one port
 * @bits: bit errors: rate and seed
 * @latency: ns added to every frame that is sent
 * @silence: 1: frames are neither sent nor received, 2: they are not sent (TORUS_FAULT_SILENCE)
 * @late: first delayed frame, in the order in which they were sent, or NULL
 * @last: last delayed frame; valid if @late is not NULL
 * @count: number of delayed frames, at most TORUS_HOST_LATE_MAX
 * @held: bytes of their memory, at most TORUS_HOST_LATE_BYTES
 */
struct torus_host_fault {
	struct tn_fault bits;
	u64 latency;
	u8 silence;
	/* private: */
	struct torus_host_late *late;
	struct torus_host_late *last;
	u32 count;
	u32 held;
};

/** torus_host_is_deaf() - Return: true if received frames must be dropped */
static inline bool torus_host_is_deaf(const struct torus_host_fault *f)
{
	return f->silence == 1;
}

/**
 * torus_host_delays() - Return: true if the next frame must be delayed, possibly only so that it
 * does not overtake others
 */
static inline bool torus_host_delays(const struct torus_host_fault *f)
{
	return f->latency || f->late;
}

/**
 * torus_host_delay() - delay a frame, which occupies @held bytes of memory
 * Return: false if too many are delayed already; then the shell drops the frame.
 */
bool torus_host_delay(struct torus_host_fault *f, struct torus_host_late *frame, u32 held, u64 now);
/**
 * torus_host_due() - remove the first delayed frame if it is due by @now (~0: in any case). Return:
 * the frame, or NULL
 */
struct torus_host_late *torus_host_due(struct torus_host_fault *f, u64 now);
/** torus_host_fault_expiry() - Return: when the next delayed frame is due, ns; ~0 for never */
u64 torus_host_fault_expiry(const struct torus_host_fault *f);

#endif /* TORUS_HOST_FAULT_H */
