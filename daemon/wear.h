/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wear of a line: a margin that shrinks slowly, so that the cable can be replaced before the
 * receiver loses lanes. As in quality.h, there is no I/O, and fabricsim judges by the same code.
 *
 * Long before a line that ages has bit errors, the NIC trains it anew and gives up lanes. Its margin
 * shows that earlier. But margins differ from cable to cable, and swing with the room temperature,
 * so no fixed limit fits. The room, which is the margin less 100 percent of the mask, is compared
 * with the line's own best: the largest mean over about a day. A line is worn when the room is less
 * than WEAR_LOW of that for WEAR_HOLD more than it is not, and the margin is at least WEAR_LEAST
 * percent of the mask less. A room of 20 +- 10 degrees makes the loss of copper swing by 2 percent,
 * and so a margin by some 8 percent of the mask.
 *
 * It is over when the line has had WEAR_FINE of that room for a while. A new session alone is no new
 * cable: the NIC trained anew, or either end restarted. So the line is judged on by the same
 * room. The caller clears it if the line leads elsewhere.
 */
#ifndef WEAR_H
#define WEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/util/times.h"

#define WEAR_LOW	0.6
#define WEAR_FINE	0.8
#define WEAR_LEAST	10
#define WEAR_HOLD	(120 * SEC)
#define WEAR_DAY	(86400 * SEC)

/**
 * struct wear - of one receiver; all zero: nothing is known yet
 * @at: when the margin was read last; 0: never
 * @session: of the link, then
 * @mean: of the margin over about a day, percent; @usual: the largest one
 * @low: ns with too little of it, less those with enough; @fine: ns with enough in a row
 */
struct wear {
	uint64_t at;
	uint32_t session;
	double mean, usual;
	uint64_t low, fine;
	bool worn;
};

/**
 * wear_read() - takes a reading of the margin of a link that is up
 * @clean_for: how long the margin must be as usual until the line is not worn any more, ns
 * Return: true if it is worn now and was not, or the other way round.
 */
bool wear_read(struct wear *w, uint64_t at, uint32_t session, uint32_t margin,
	       uint64_t clean_for);

#endif /* WEAR_H */
