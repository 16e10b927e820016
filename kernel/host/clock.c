// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

u64 torus_host_clock(struct torus_host_clock *c, u64 machine, u64 due)
{
	u64 last = due > c->woke ? due : c->woke, now = machine - c->stood;

	/* A delay begins at @due, or when the last turn began if that was later. */
	if (due != ~0ull && c->woke && now > last && now - last > TORUS_HOST_STALL_MAX)
		now = last + TORUS_HOST_STALL_MAX;
	if (now > c->latest)
		c->latest = now;
	return c->latest;
}

u64 torus_host_clock_woke(struct torus_host_clock *c, u64 machine, u64 due)
{
	u64 now = torus_host_clock(c, machine, due);

	c->stood = machine - now;
	c->woke = now;
	return now;
}
