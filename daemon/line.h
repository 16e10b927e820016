/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the receivers of this NIC had to give up for their lines: lanes and rate, which
 * training takes away from a line that has become worse, and margin.
 */
#ifndef LINE_H
#define LINE_H

#include <torus/torus.h>

struct fabricd;

/** struct line - what was last told of a port's line; width 0: nothing yet */
struct line {
	uint64_t width, rate;
};

/**
 * line_degraded() - is it up with less than the receiver could do?
 * Fewer lanes, a lower rate, or a margin that training would not take.
 */
bool line_degraded(const struct torus_link *l);
/** line_note() - a link has changed, or is seen for the first time: an event, if it is news */
void line_note(struct fabricd *d, const struct torus_link *l);

#endif /* LINE_H */
