/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NICs of one process, one or hundreds, and what they share: descriptors, the clock, buffers,
 * cables in memory. NICs exchange frames only, through a medium (medium.h).
 *
 * A NIC gets a turn, which is a call of emu_step(), when something has arrived for it, when its
 * timer is due, and when it did not complete its work in its last turn.
 */
#ifndef EMU_CHASSIS_H
#define EMU_CHASSIS_H

#include "cable.h"
#include "carrier.h"
#include "due.h"
#include "ether.h"
#include "kernel/core/nic.h"
#include "loop.h"
#include "lower.h"
#include "pool.h"

struct emu;

/**
 * struct chassis - the NICs of one process, and what they share
 * @nics: list of all NICs
 * @ready: list of NICs that get a turn, in the order in which they became ready
 * @ready_tail: end of the list @ready
 * @due: timers of the other NICs
 * @cables: list of cables in memory
 * @msg: buffer for one request, TORUS_MSG_MAX bytes
 * @tx: the frame that is being sent
 * @busy_at: when something other than a keep-alive last passed, ns
 * @passed: set when a frame has passed through a cable in memory, so that its receiver is ready
 * The other members are the loop, the pool, and the state of each kind of medium.
 */
struct chassis {
	struct loop loop;
	struct pool pool;
	struct lower lower;
	struct carriers carriers;
	struct emu *nics;
	struct emu *ready, **ready_tail;
	struct due_heap due;
	struct cable *cables;
	struct ether_rx rx;
	struct tn_frame tx;
	u8 *msg;
	u64 busy_at;
	bool passed;
	bool stop;
};

/** chassis_init() - initialise an empty chassis. Return: 0 or negative errno */
int chassis_init(struct chassis *c);
/** chassis_fini() - free a chassis that has no NIC any more */
void chassis_fini(struct chassis *c);

/** chassis_add() - add @emu, which gets turns from now on. Return: 0 or -ENOMEM */
int chassis_add(struct chassis *c, struct emu *emu);
void chassis_del(struct chassis *c, struct emu *emu);
/** chassis_wake() - make @emu ready */
void chassis_wake(struct chassis *c, struct emu *emu);
/** chassis_run() - run the NICs until the loop is stopped */
void chassis_run(struct chassis *c);

#endif /* EMU_CHASSIS_H */
