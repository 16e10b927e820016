/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of software NICs.
 *
 * While such NICs get no processor time they stand still, and so does their clock. If it went on, a
 * NIC that has a turn again would find all its links silent, because its neighbours on the same
 * machine have not had a turn to send keep-alives either, and all links would be lost though every
 * NIC lives. Neighbours elsewhere that went on notice by their own clocks that this NIC was silent.
 */
#ifndef TORUS_HOST_CLOCK_H
#define TORUS_HOST_CLOCK_H

#include "tn_deps.h"

/*
 * The part of a delay that the clock counts, ns: far less than a silence that is taken for a loss.
 */
#define TORUS_HOST_STALL_MAX	20000000ull

/**
 * struct torus_host_clock - a clock; all zero at first
 * @stood: ns of the machine's clock that it does not count
 * @woke: when the NICs last had a turn; 0: not yet
 */
struct torus_host_clock {
	u64 stood;
	u64 woke;
};

/** torus_host_clock() - Return: the time of the NICs at time @machine of the machine, ns */
static inline u64 torus_host_clock(const struct torus_host_clock *c, u64 machine)
{
	return machine - c->stood;
}

/**
 * torus_host_clock_woke() - the NICs have a turn: stop their clock for the time that they were late
 * @c: the clock
 * @machine: time of the machine's clock, ns
 * @due: when the NICs should have had a turn at the latest, by their own clock; ~0: at any time
 * Return: the time of the NICs. It never goes back.
 */
u64 torus_host_clock_woke(struct torus_host_clock *c, u64 machine, u64 due);

#endif /* TORUS_HOST_CLOCK_H */
