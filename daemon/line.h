/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines that became worse: the lanes and rate that receivers of this NIC had to give up, for
 * training takes them away from such a line, and margin.
 *
 * The root keeps a list of all such lines, so that who asks for the state of the fabric
 * need not ask every node. A node tells the root when something changes, as it tells events: by
 * messages that may get lost with the node that passes them on. So it tells the root again now and
 * then as long as there is something to tell, and a few times that there is nothing
 * any more, and as often when its manager begins, for the root may list what another life
 * of it told; what the root was not told for a while it forgets, and what it was told of a
 * NIC that began anew. Else a healthy node says nothing.
 */
#ifndef LINE_H
#define LINE_H

#include <jansson.h>
#include <torus/torus.h>

struct fabricd;

/** struct line - what was last told of a port's line; width 0: nothing yet */
struct line {
	uint64_t width, rate;
	bool degraded;
};

/**
 * struct lines - this node's share in the root's list, and the list
 * @again: how often the root is still to be told
 * @asked: for its sake the links are being read
 * @told: when it was told last; 0: never
 * @of: node id as text to {links, at, guid, epoch}, of those who told this node
 */
struct lines {
	struct loop_timer *timer;
	unsigned int again;
	bool asked;
	uint64_t told;
	json_t *of;
};

/**
 * line_degraded() - is it up with less than the receiver could do?
 * Fewer lanes, a lower rate, or a margin that training would not take.
 */
bool line_degraded(const struct torus_link *l);
/** line_note() - a link has changed, or is seen for the first time: an event, if it is news */
void line_note(struct fabricd *d, const struct torus_link *l);

/** lines_begin() - a NIC was found: how it is will be told */
void lines_begin(struct fabricd *d);
int lines_start(struct fabricd *d);
void lines_stop(struct fabricd *d);
/** lines_again() - the root may be another, or have forgotten: tell it soon, if there is
 * something to tell */
void lines_again(struct fabricd *d);
/** lines_read() - what nic_links_get() has read, for the root */
void lines_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** lines_take() - a node has told its links that are degraded, and this is the root */
void lines_take(struct fabricd *d, uint32_t node, json_t *links);
/** lines_json() - those of all nodes that are up, ids ascending */
json_t *lines_json(struct fabricd *d);

#endif /* LINE_H */
