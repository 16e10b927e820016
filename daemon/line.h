/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Degraded lines: links that are up with fewer lanes, a lower rate or less margin than their
 * receivers could have, because training reduced them on a bad line; and links whose receivers
 * count too many errors (errors.h).
 *
 * The root keeps a list of all degraded lines, so that a question about the fabric need not go to
 * every node. A node reports its lines to the root when something changes. Such a message may get
 * lost with the node that forwards it, so the node repeats it: every LINES_EVERY while a line is
 * degraded; LINES_TIMES times after the last degraded line has recovered; and LINES_TIMES times
 * after its manager starts, because the root may still list what the manager reported before it was
 * restarted. The root deletes reports that are not repeated, and those of a NIC that has been
 * restarted. So a healthy node sends nothing.
 */
#ifndef LINE_H
#define LINE_H

#include <jansson.h>
#include <torus/torus.h>

struct fabricd;

/**
 * struct line - the last event about the line of a port @width, @rate: as in that event; @width 0:
 * there was no event
 * @degraded: the line was reduced when its state was last seen
 * @lost: the link has been down since the event
 */
struct line {
	uint64_t width, rate;
	bool degraded, lost;
};

/**
 * struct lines - this node's reports to the root, and the root's list
 * @again: number of reports that are still to be sent
 * @asked: true while the links are being read for a report
 * @reported_at: when the last report was sent; 0: never
 * @of: the root's list; maps node ids as text to {links, at, guid, epoch}
 */
struct lines {
	struct loop_timer *timer;
	unsigned int again;
	bool asked;
	uint64_t reported_at;
	json_t *of;
};

/**
 * line_degraded() - Return: true if the link is up with fewer lanes, a lower rate, or less margin
 *	than training would accept, or its receiver counts too many errors (errors.h)
 */
bool line_degraded(const struct fabricd *d, const struct torus_link *l);
/**
 * line_note() - called with the state of a new or changed link: add an event if its line changed
 */
void line_note(struct fabricd *d, const struct torus_link *l);

/** lines_begin() - start to report the lines of a NIC that was found */
void lines_begin(struct fabricd *d);
int lines_start(struct fabricd *d);
void lines_stop(struct fabricd *d);
/** lines_again() - report a degraded line again soon; called when the root may have changed */
void lines_again(struct fabricd *d);
/** lines_changed() - report to the root soon, because the list of degraded lines has changed */
void lines_changed(struct fabricd *d);
/** lines_read() - called with the links read by nic_links_get(): send a report if it is due */
void lines_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** lines_take() - on the root: store the degraded links that @node has reported */
void lines_take(struct fabricd *d, uint32_t node, json_t *links);
/**
 * lines_json() - Return: the list of degraded lines of all nodes that are up, ids ascending; a new
 * reference
 */
json_t *lines_json(struct fabricd *d);

#endif /* LINE_H */
