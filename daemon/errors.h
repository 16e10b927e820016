/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bad cables: links whose receivers count too many errors for the bits that they get.
 *
 * Each node judges its own receivers (quality.h, wear.h) whenever its links are read anyhow, every 2 to
 * 8 s (stall.h); after a reading with new errors they are read again a second later, until it is
 * clear what they mean. So a healthy node has neither wake-ups nor messages for it. A link that
 * is worse than a limit is in the node's report of degraded links (line.h), with what was
 * measured, so the root's list of these has it, and loses it when the node reports that it is
 * good again.
 *
 * If out_of_service is configured, the root excludes a link that is worse than fail_ber, as an
 * administrator would, unless that would cut a node off or as many links are out already. It
 * stays excluded until an administrator includes it, because without traffic nothing can be
 * measured. Then its receivers are judged anew.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include <jansson.h>
#include <torus/torus.h>

#include "daemon/quality.h"
#include "daemon/wear.h"

struct fabricd;

/** struct errors_peer - the far end of a cable; all zero: none yet */
struct errors_peer {
	uint64_t guid;
	uint32_t port;
};

/**
 * struct errors - what this node measures at its ports
 * @port, @wear: the receivers; @out: mask of those that an administrator had excluded
 * @version, @epoch: the table by which @out was set
 * @peer: to whom each port led when it was up last
 * @timer: the next reading is to come soon
 * @kept: on the root: node id as text to the mask of ports that it had to leave in service
 */
struct errors {
	struct quality port[TORUS_MAX_PORTS];
	struct wear wear[TORUS_MAX_PORTS];
	struct errors_peer peer[TORUS_MAX_PORTS];
	uint32_t out;
	uint64_t version, epoch;
	struct loop_timer *timer;
	json_t *kept;
};

int errors_start(struct fabricd *d);
void errors_stop(struct fabricd *d);
/** errors_begin() - a NIC was found: nothing is known of its links */
void errors_begin(struct fabricd *d);
/** errors_table() - judge links anew that a new table includes. Return: true if some changed */
bool errors_table(struct fabricd *d);
/** errors_read() - nic_links_get() has read the links: judge them. Return: true if some changed */
bool errors_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** errors_bad() - Return: true if the receiver of that link is worse than a limit */
bool errors_bad(const struct fabricd *d, const struct torus_link *l);
/** errors_json() - what was measured at that port, as fabricd-control(7) says */
json_t *errors_json(const struct fabricd *d, unsigned int port);
/** errors_take() - on the root: @node has reported its degraded links */
void errors_take(struct fabricd *d, uint32_t node, const json_t *links);

#endif /* ERRORS_H */
