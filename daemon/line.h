/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Degraded lines: links that are up with fewer lanes, a lower rate or less margin than their
 * receivers could have, because training gave these up on a bad line.
 *
 * The root keeps a list of all degraded lines, so that a question about the fabric need not go to
 * every node. A node reports its lines to the root when something changes. Such a message may get
 * lost with the node that passes it on, so the node repeats it: now and then while a line is
 * degraded; a few times when none is any more; and a few times when its manager begins, because the
 * root may list what a former life of it reported. The root forgets reports that are not repeated,
 * and those of a NIC that has started again. So a healthy node sends nothing.
 */
#ifndef LINE_H
#define LINE_H

#include <jansson.h>
#include <torus/torus.h>

struct fabricd;

/** struct line - the last event of a port's line; width 0: none yet */
struct line {
	uint64_t width, rate;
	bool degraded;
};

/**
 * struct lines - this node's reports to the root, and the root's list
 * @again: how many reports are still to be sent
 * @asked: the links are being read for a report
 * @told: when the last report was sent; 0: never
 * @of: the root's list: node id as text to {links, at, guid, epoch}
 */
struct lines {
	struct loop_timer *timer;
	unsigned int again;
	bool asked;
	uint64_t told;
	json_t *of;
};

/**
 * line_degraded() - Return: true if the link is up with fewer lanes, a lower rate, or less margin
 *	than training would accept
 */
bool line_degraded(const struct torus_link *l);
/** line_note() - a link has changed, or is seen for the first time: make an event if it is news */
void line_note(struct fabricd *d, const struct torus_link *l);

/** lines_begin() - a NIC was found: its lines will be reported */
void lines_begin(struct fabricd *d);
int lines_start(struct fabricd *d);
void lines_stop(struct fabricd *d);
/** lines_again() - the root may be another one: report again soon, if a line is degraded */
void lines_again(struct fabricd *d);
/** lines_read() - nic_links_get() has read the links: report them, if that was why */
void lines_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** lines_take() - on the root: @node has reported its degraded links */
void lines_take(struct fabricd *d, uint32_t node, json_t *links);
/** lines_json() - Return: the list, of all nodes that are up, ids ascending; a new reference */
json_t *lines_json(struct fabricd *d);

#endif /* LINE_H */
