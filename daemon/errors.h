/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bad cables: links whose receivers count more errors than the limits allow for the bits received.
 *
 * Each node judges its own receivers (quality.h, wear.h) and the round trips of its links (slow.h)
 * whenever its links are read anyhow, every
 * 2 to 8 s (stall.h); after a reading with new errors they are read again a second later, until it
 * is clear whether the link is bad. So a healthy node neither wakes up nor sends messages for this
 * purpose. A link that is worse than a limit is in the node's report of degraded links (line.h),
 * with the measured rate. So the root's list of degraded links contains the link until the node
 * reports that it is good again.
 *
 * If out_of_service is configured, the root excludes a link that is worse than fail_ber, as an
 * administrator would, unless that would cut a node off, or out_of_service links are excluded
 * already. It stays excluded until an administrator includes it, because without traffic nothing
 * can be measured. Then its receivers are judged from the beginning.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include <jansson.h>
#include <torus/torus.h>

#include "daemon/quality.h"
#include "daemon/slow.h"
#include "daemon/wear.h"

struct fabricd;

/** struct errors_peer - the port at the far end of a cable; all zero: not known yet */
struct errors_peer {
	uint64_t guid;
	uint32_t port;
};

/**
 * struct errors - state of judging the receivers of this node
 * @port, @wear, @slow: quality, wear and round trips of the line at each port
 * @out: mask of the ports that an administrator had excluded
 * @version, @epoch: the table by which @out was set
 * @peer: the far end of each port's cable when the link was up last
 * @timer: fires when the links are to be read soon
 * @kept: on the root: maps a node id, as text, to the mask of bad ports that the root could not
 *	exclude
 */
struct errors {
	struct quality port[TORUS_MAX_PORTS];
	struct wear wear[TORUS_MAX_PORTS];
	struct slow slow[TORUS_MAX_PORTS];
	struct errors_peer peer[TORUS_MAX_PORTS];
	uint32_t out;
	uint64_t version, epoch;
	struct loop_timer *timer;
	json_t *kept;
};

int errors_start(struct fabricd *d);
void errors_stop(struct fabricd *d);
/**
 * errors_gone() - end the reports of all links, because the NIC is gone; called while the fabric
 * manager still exists
 */
void errors_gone(struct fabricd *d);
/** errors_begin() - forget all measurements, because a NIC was found */
void errors_begin(struct fabricd *d);
/**
 * errors_table() - restart the judgement of links that a new table includes again. Return: true if
 * the judgement of a link changed
 */
bool errors_table(struct fabricd *d);
/**
 * errors_read() - judge the links that nic_links_get() has read. Return: true if the judgement of a
 * link changed
 */
bool errors_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** errors_bad() - Return: true if the receiver of that link is worse than a limit */
bool errors_bad(const struct fabricd *d, const struct torus_link *l);
/** errors_json() - Return: the measurements at that port, in the form of fabricd-control(7) */
json_t *errors_json(const struct fabricd *d, unsigned int port);
/** errors_take() - on the root: handle the report of @node about its degraded links */
void errors_take(struct fabricd *d, uint32_t node, const json_t *links);

#endif /* ERRORS_H */
