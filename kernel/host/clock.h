/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of software NICs.
 *
 * While such NICs get no processor time they stand still, and so does their clock. If it went on, a
 * NIC that has a turn again would find all its links silent, because its neighbours on the same
 * machine have not had a turn to send keep-alives either, and all links would be lost though every
 * NIC lives. Neighbours elsewhere that went on notice by their own clocks that this NIC was silent.
 *
 * The clock is also read while a turn is late, by commands on other processors. No reading is
 * earlier than one before it, because each is limited as that of the next turn will be, and the
 * latest one is kept:
 *
 * - Between two turns @due and @woke are constant, so the limit is, and readings grow with the
 *   machine's clock up to it.
 * - A turn begins with such a reading, and takes from the machine's clock what that one leaves out.
 *   So the next reading begins there, and its limit is later than @woke.
 * - At the end of a turn @due may become earlier, and the limit with it. @told keeps the clock at
 *   the reading before that, until the limit or the machine has caught up.
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
 * @told: the latest reading
 */
struct torus_host_clock {
	u64 stood;
	u64 woke;
	u64 told;
};

/**
 * torus_host_clock() - read the clock
 * @c: the clock; the caller serialises all calls for it
 * @machine: time of the machine's clock, ns; never earlier than in a call before
 * @due: when the NICs should have a turn at the latest, by their own clock; ~0: at any time
 * Return: the time of the NICs, ns. It never goes back.
 */
u64 torus_host_clock(struct torus_host_clock *c, u64 machine, u64 due);

/**
 * torus_host_clock_woke() - the NICs have a turn: stop their clock for the time that they were late
 * All as for torus_host_clock(). From here on @due may be another.
 */
u64 torus_host_clock_woke(struct torus_host_clock *c, u64 machine, u64 due);

#endif /* TORUS_HOST_CLOCK_H */
