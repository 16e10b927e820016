/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links whose packets wait for credits that the neighbour keeps (kernel/core/credit.h).
 *
 * The gauge "waited" of a port is the time since a packet of one of the virtual channels in
 * order began to wait for a buffer of the neighbour, as long as no packet of that channel went
 * over the link since. A neighbour that is slow and takes a packet now and then is thus never
 * seen here; one whose host takes none for stall_max is treated as one that is broken, for the
 * network cannot tell them apart and suffers the same.
 *
 * A node reads its links when its manager's timer, mostly for a keep-alive, wakes it anyhow, and
 * every 2 s at most. While it has sent nothing it reads them less often, down to every 8 s or half
 * of stall_max. A link whose packets wait for 1 s makes an event. The root hears it and takes it
 * as a hint, no more: it asks all nodes which of their links wait, walks to the sinks
 * (stall_walk.h) and repeats this every 2 s while any wait lasts. A port that two walks in a row
 * found to lead straight to a sink is named, as an event and as a problem of status. After
 * stall_max its own node is asked to take it down; that node looks once more and refuses if
 * packets went.
 *
 * Why the links are read and the NIC does not tell. A read costs 35 us of processor time here and
 * 30 us in the NIC (six ports of torusemu, mean of 20,000 reads, one core of an EPYC, 2026-11-25).
 * With the default of stall_max that is 13 us a second at rest, and no wake-up of its own, beside
 * the 2 ms a second that a manager with seven children takes for keep-alives. While packets are
 * sent it is 33 us a second. Nothing is later by it: a wait
 * is acted upon after stall_max only, and the interval is at most half of that. A notification by
 * the NIC would need a timer for each port and channel, in the driver and in torusemu, a message of
 * the interface that NICs of the release before do not have, so that links were read for these as
 * now, and a threshold below which the many short waits of a busy network are not told.
 *
 * The port is taken down in the NIC, like one that an administrator takes down, and not only
 * excluded: what waits in the NIC has its way stamped and would wait on for ever, but the NIC
 * parks what waits for a link that is down, and the recovery replays it over other ways
 * (recovery.c). Nothing is lost by it. The node's row says why (fm_stalled()), so the table, and
 * any root, knows it as long as that manager lives and the port is down: the cable is excluded as
 * "stall". The port stays down without limit: there is no traffic from which the root could see
 * that the neighbour is well again. An administrator takes it up.
 *
 * At most one port is taken down in a look, since what is parked changes the others' waits. A host
 * that takes no packets loses its ports one after the other, each after it has waited for
 * stall_max.
 */
#ifndef STALL_H
#define STALL_H

#include <jansson.h>
#include <torus/torus.h>

#include "daemon/stall_walk.h"

struct ask;
struct fabricd;
struct question_kind;

/**
 * struct stalls - this node's links that wait, and the root's looks at all
 * @read_at: when this node's links may be read next
 * @pause: between two readings; @sent: packets that its ports had sent by the last one
 * @told: when it told of its links last; 0: none waits
 * @ask: the look under way; @order: the order to take a port down
 * @left: nodes that should answer and have not
 * @node: of each of @nodes, for the walk
 * @wait: of this look; @before: of the one before
 * @problems: texts of the last look
 */
struct stalls {
	uint64_t read_at, told, pause, sent;
	struct loop_timer *timer;
	struct ask *ask, *order;
	uint32_t nodes, left;
	uint8_t *node;
	struct stall_wait *wait, *before;
	size_t n, room, nbefore;
	json_t *problems;
};

int stall_start(struct fabricd *d);
void stall_stop(struct fabricd *d);
/**
 * stall_due() - the manager's timer has fired: a time to read the links, if they were not lately
 */
void stall_due(struct fabricd *d);
/** stall_read() - what nic_links_get() has read */
void stall_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** stall_hint() - some node waits: the root looks */
void stall_hint(struct fabricd *d);
/** stall_problems() - a text for each problem that the root knows: new reference */
json_t *stall_problems(struct fabricd *d);

/* Questions of the root to nodes: for links that wait, and to take down one that still waits. */
extern const struct question_kind question_waits, question_stalled;

#endif /* STALL_H */
