/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of software NICs.
 *
 * This clock stops while software NICs get no processor time. If it went on, a NIC that runs again
 * would find all its links silent: its neighbours on the same machine had no processor time for
 * keep-alives either. So it would count all of them as lost, although every NIC works. Neighbours
 * on other machines were not stopped; by their own clocks they notice that this NIC was silent.
 *
 * A turn is one run of the NICs: of the NAPI poll, or of torusemu's loop. The host knows the time
 * @due at which the next turn should begin. If the turn is later than that, the clock counts only
 * TORUS_HOST_STALL_MAX of the delay. This is the limit of all readings until the turn begins.
 *
 * The clock is also read between turns, by commands on other processors. It never goes back:
 *
 * - Between two turns @due and @woke are constant, and so is the limit. Readings grow with the
 *   machine's clock until they reach the limit.
 * - A turn begins with such a reading, and adds the time that it leaves out to @stood. So later
 *   readings continue from there, and their limit is later than @woke.
 * - At the end of a turn @due may become earlier, and the limit with it. Then readings stay at the
 *   latest one, @latest, until the limit or the machine's clock is later than that.
 */
#ifndef TORUS_HOST_CLOCK_H
#define TORUS_HOST_CLOCK_H

#include "tn_deps.h"

/*
 * The part of a delay that the clock counts, ns: far less than the silence after which a link
 * counts as lost.
 */
#define TORUS_HOST_STALL_MAX	20000000ull

/**
 * struct torus_host_clock - a clock; all zero at first
 * @stood: ns of the machine's clock that this clock has not counted
 * @woke: when the NICs last ran; 0: not yet
 * @latest: the latest reading
 */
struct torus_host_clock {
	u64 stood;
	u64 woke;
	u64 latest;
};

/**
 * torus_host_clock() - read the clock
 * @c: the clock; the caller serialises all calls for it
 * @machine: time of the machine's clock, ns; never earlier than in a call before
 * @due: when the NICs should run at the latest, by their own clock; ~0: at any time
 * Return: the time of the NICs, ns. It never goes back.
 */
u64 torus_host_clock(struct torus_host_clock *c, u64 machine, u64 due);

/**
 * torus_host_clock_woke() - called when the NICs run: read the clock, not counting the time by
 * which they are late
 * Arguments and result are those of torus_host_clock(). After this call @due may change.
 */
u64 torus_host_clock_woke(struct torus_host_clock *c, u64 machine, u64 due);

#endif /* TORUS_HOST_CLOCK_H */
