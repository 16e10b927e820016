/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of software NICs.
 *
 * While software NICs get no processor time, their clock stops. If it did not, a NIC that runs
 * again would find all its links silent, because its neighbours on the same machine had no
 * processor time to send keep-alives either, and all links would be lost although every NIC works.
 * Neighbours on other machines were not stopped, and notice by their own clocks that this NIC was
 * silent.
 *
 * A turn is one run of the NICs (of the NAPI poll, or of torusemu's loop). The clock is also read
 * while a turn is late, by commands on other processors. No reading is earlier than a former one,
 * because each reading has the same limit as that of the next turn will have, and the latest one is
 * stored:
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
 * The part of a delay that the clock counts, ns: far less than the silence after which a link
 * counts as lost.
 */
#define TORUS_HOST_STALL_MAX	20000000ull

/**
 * struct torus_host_clock - a clock; all zero at first
 * @stood: ns of the machine's clock that this clock has not counted
 * @woke: when the NICs last ran; 0: not yet
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
