/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wear of a line: a margin that shrinks slowly, so that the cable can be replaced before the
 * receiver loses lanes. As in quality.h, there is no I/O, and fabricsim judges by the same code.
 *
 * Long before a line that ages has bit errors, the NIC trains the line again and switches lanes
 * off. Its margin shows that earlier. But margins differ from cable to cable, and swing with the
 * room temperature, so no fixed limit fits. The room, which is the margin less 100 percent of the
 * mask, is compared with the line's own best: the largest mean over about a day. A line is worn
 * when the room is less than WEAR_LOW of this best for a time that exceeds the time with more room
 * by WEAR_HOLD, and if the margin has shrunk by at least WEAR_LEAST percent of the mask. A room of
 * 20 +- 10 degrees makes the loss of copper swing by 2 percent, and so a margin by some 8 percent
 * of the mask.
 *
 * The line counts as good again when it has had WEAR_FINE of its best room for clean_for. A new
 * session alone does not mean a new cable: the NIC may have trained again, or one end was
 * restarted. So the best room stays. The caller clears the struct if the port has another peer.
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
 * struct wear - wear of the line into one receiver; all zero: nothing is known yet
 * @at: when the margin was read last; 0: never
 * @session: session of the link at that time
 * @mean: mean of the margin over about a day, percent; @usual: the largest mean
 * @low: ns with too little room, minus ns with enough room; @fine: ns with enough room in a row
 */
struct wear {
	uint64_t at;
	uint32_t session;
	double mean, usual;
	uint64_t low, fine;
	bool worn;
};

/**
 * wear_read() - add a reading of the margin of a link that is up
 * @clean_for: how long the margin must be as usual until the line is not worn any more, ns
 * Return: true if the line has become worn, or is not worn any more.
 */
bool wear_read(struct wear *w, uint64_t at, uint32_t session, uint32_t margin,
	       uint64_t clean_for);

#endif /* WEAR_H */
