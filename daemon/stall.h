/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links whose packets wait because the neighbour returns no credits (kernel/core/credit.h, lemma
 * 3).
 *
 * The gauge "waited" of a port is the time since a packet on VCD0 or VCD1 began to wait for a
 * buffer of the neighbour, as long as no packet of that channel went over the link since. So a slow
 * neighbour that takes a packet now and then never counts as stalled. A neighbour whose host takes
 * no packet for stall_max is treated as broken: the network cannot distinguish the two, and both
 * have the same effect on it.
 *
 *  1. A node reads its links when its manager's timer fires anyway, mostly for a keep-alive, at
 *     most every 2 s; if its NIC has sent no packets, less often: every 8 s, or every half of
 *     stall_max if that is shorter. A link whose packets wait for 1 s makes an event.
 *  2. The event is only a hint to the root. The root asks all nodes which of their links wait,
 *     walks to the sinks (stall_walk.h), and repeats this every 2 s while any wait lasts. A port
 *     that leads straight to a sink in two walks in a row is reported, by an event and by a problem
 *     of status.
 *  3. After stall_max the root asks the port's own node to take it down; that node checks once more
 *     and refuses if packets were sent.
 *  4. The port is taken down in the NIC, as by an administrator, and not only excluded: the packets
 *     that wait in the NIC have the path in their headers and would wait without end. When the link
 *     is down the NIC parks them, and the recovery replays them over other paths (recovery.c). No
 *     packet is lost.
 *  5. The node's row contains the reason (fm_stalled()), so it is in the table of each root as long
 *     as that manager runs and the port is down: the cable is excluded as "stall". The port stays
 *     down without limit, because there is no traffic by which the root could find that the
 *     neighbour works again. An administrator takes it up.
 *  6. At most one port is taken down after a walk, because parked packets change the waits of
 *     others. A host that takes no packets loses its ports one after the other, each after it has
 *     waited for stall_max.
 *
 * The links are read, because an event of the NIC would cost more. A read costs 35 us of processor
 * time here and 30 us in the NIC (six ports of torusemu, mean of 20,000 reads, one core of an EPYC,
 * 2026-11-25). With the default of stall_max that is 13 us a second at rest, without a wake-up of
 * its own, beside the 2 ms a second that a manager with seven children takes for keep-alives; while
 * packets are sent it is 33 us a second. It causes no delay: a wait has consequences only after
 * stall_max, and the interval is at most half of that. An event of the NIC would need a timer for
 * each port and channel, in the driver and in torusemu; a message that NICs of the former release
 * do not have, so that their links would have to be read nevertheless; and a threshold below which
 * the many short waits of a busy network make no event.
 *
 * Tests. Walks (2): tests/unit/test_stall_walk.c; what the root makes of them (2, 3, 6):
 * tests/unit/test_stall.c. Ports that are taken down and up (4, 5), with real managers and NIC
 * cores: tests/sim/test_stall.c. All of it with processes: tests/netns/test_stall.sh.
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
 * struct stalls - this node's links whose packets wait, and the root's walks
 * @read_at: earliest time at which the links may be read again
 * @pause: ns between two reads
 * @sent: number of packets that all ports had sent at the last read
 * @reported_at: time at which this node last reported a waiting link; 0: no link waits
 * @ask: the question to all nodes that is under way; @order: the order to take a port down
 * @left: number of nodes that have not answered yet
 * @node: for each of @nodes, the flags of stall_walk()
 * @wait: the waiting links of this walk; @before: the waiting links of the walk before
 * @problems: texts of the last walk
 */
struct stalls {
	uint64_t read_at, reported_at, pause, sent;
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
/** stall_due() - read the links if that is due; called when the manager's timer fires */
void stall_due(struct fabricd *d);
/** stall_read() - report the waiting links among the links that nic_links_get() has read */
void stall_read(struct fabricd *d, const struct torus_link *links, unsigned int n);
/** stall_hint() - on the root: begin to walk, because a node has reported a waiting link */
void stall_hint(struct fabricd *d);
/** stall_problems() - Return: a text for each stall that the root knows; a new reference */
json_t *stall_problems(struct fabricd *d);

/*
 * Questions of the root to a node: which of its links wait; and the order to take a port down if
 * its packets still wait.
 */
extern const struct question_kind question_waits, question_stalled;

#endif /* STALL_H */
