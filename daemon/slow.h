/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slow cables: links whose shortest round trip is much longer than that of the node's other links.
 * As in quality.h, there is no I/O.
 *
 * A NIC measures from the first time that it sends a packet to the acknowledgement, and reports the
 * shortest of at least eight such round trips in at least a second (tn_trips in
 * kernel/core/retry.h). A cable needs microseconds. Everything else that delays an acknowledgement
 * varies: the peer waits up to ack_delay for a packet that carries it, a packet is lost and sent
 * again, a software NIC waits for a processor. So the shortest is what the cable needs at least.
 *
 *  1. A link is slow if SLOW_REPORTS reports in a row exceed the limit and also SLOW_TIMES what is
 *     usual: the longest that other links of the same node report at the same time. A busy machine
 *     delays the acknowledgements of some links by milliseconds, and of others, where packets carry
 *     them, not at all. On two processors with a load of 22 the shortest round trips of idle cables
 *     were 20 us to 4.2 ms, so the shortest of other links is no measure. If no other link reports
 *     anything, nothing is decided (busy_machine_makes_no_link_slow(), link_alone_is_not_judged()).
 *     If two cables of a node are slow, their other ends find them.
 *  2. A report within the limit ends this at once: it is not possible on a slow cable.
 *  3. A new session may mean a new cable, so the link is then judged from the beginning.
 *  4. Two windows rarely have the same round trip to the nanosecond. So the same value read again
 *     is the same window, and counts once.
 *
 * Limits. If the machine at the other end of one link is overloaded, so that its software NIC
 * answers no packet in time, and the others are not, that link looks slow. If both cables of two
 * neighbours (a dimension of two nodes) are slow, and their nodes have no other link with traffic,
 * neither end finds them.
 *
 * A link without traffic has no round trips: 'fabricctl link test' judges it, by the same limit.
 */
#ifndef SLOW_H
#define SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/util/times.h"

#define SLOW_TIMES	4	/* times what is usual */
#define SLOW_REPORTS	4	/* reports in a row */
#define SLOW_FRESH	(10 * SEC)	/* a report that is older says nothing about now */

/**
 * struct slow - round trips of a link; all zero: nothing is known yet
 * @session: session of the link
 * @trip, @at: last report, ns, and when it was new; 0: there was none in this session
 * @usual: what was usual when the last report was judged, ns
 * @over: number of reports in a row that were too long
 */
struct slow {
	uint32_t session;
	uint64_t trip, at, usual;
	unsigned int over;
	bool slow;
};

/**
 * slow_note() - note the report @trip of a link that is up; 0: the NIC has none. Called for all
 *	links of a node before slow_judge() is called for any. Return: true if it is a new report
 */
bool slow_note(struct slow *s, uint64_t now, uint32_t session, uint64_t trip);
/**
 * slow_judge() - judge the new report of link @port, one of the @n links @all; @limit: ns, 0: no
 *	link is slow. Return: true if the link has become slow, or is not slow any more
 */
bool slow_judge(struct slow *all, unsigned int n, unsigned int port, uint64_t now,
		uint64_t limit);
/** slow_suspects() - Return: true if the next report may make the link slow */
static inline bool slow_suspects(const struct slow *s)
{
	return s->over && !s->slow;
}

#endif /* SLOW_H */
