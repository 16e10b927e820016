// SPDX-License-Identifier: GPL-2.0-only
/* Injected latency: the queue of delayed frames. ../core/fault.c injects bit errors. */
#include "fault.h"

bool torus_host_delay(struct torus_host_fault *f, struct torus_host_late *frame, u32 held, u64 now)
{
	if (f->count == TORUS_HOST_LATE_MAX || held > TORUS_HOST_LATE_BYTES - f->held)
		return false;
	frame->held = held;
	frame->due = now + f->latency;
	frame->next = NULL;
	if (f->late)
		f->last->next = frame;
	else
		f->late = frame;
	f->last = frame;
	f->count++;
	f->held += held;
	return true;
}

struct torus_host_late *torus_host_due(struct torus_host_fault *f, u64 now)
{
	struct torus_host_late *frame = f->late;

	if (!frame || frame->due > now)
		return NULL;
	f->late = frame->next;
	f->count--;
	f->held -= frame->held;
	return frame;
}

u64 torus_host_fault_expiry(const struct torus_host_fault *f)
{
	return f->late ? f->late->due : ~0ull;
}
