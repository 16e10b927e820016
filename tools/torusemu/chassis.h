/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NICs of one process, one or hundreds, and what they share: descriptors, the
 * clock, buffers, cables in memory. NICs know nothing of each other; frames alone
 * pass between them, through a medium (medium.h).
 *
 * A NIC has a turn when something came for it, when its timer is due, and when it
 * did not get all done in its last turn. A turn is emu_step().
 */
#ifndef EMU_CHASSIS_H
#define EMU_CHASSIS_H

#include "cable.h"
#include "due.h"
#include "ether.h"
#include "kernel/core/nic.h"
#include "loop.h"
#include "lower.h"
#include "pool.h"

struct emu;

/**
 * struct chassis - what NICs of one process share
 * @nics: all of them
 * @ready, @ready_tail: those that are to have a turn, first come first served
 * @due: the others' timers
 * @cables: in memory
 * @msg: TORUS_MSG_MAX bytes, for one request
 * @tx: the frame being sent
 * @busy_at: when something other than keep-alives last passed
 * @passed: a frame passed in memory, so that its receiver has something to do
 */
struct chassis {
	struct loop loop;
	struct pool pool;
	struct lower lower;
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

/** chassis_init() - Return: 0 or negative errno */
int chassis_init(struct chassis *c);
/** chassis_fini() - after its NICs */
void chassis_fini(struct chassis *c);

/** chassis_add() - @emu has turns from now on; Return: 0 or -ENOMEM */
int chassis_add(struct chassis *c, struct emu *emu);
void chassis_del(struct chassis *c, struct emu *emu);
/** chassis_wake() - @emu has something to do */
void chassis_wake(struct chassis *c, struct emu *emu);
/** chassis_run() - until told to stop */
void chassis_run(struct chassis *c);

#endif /* EMU_CHASSIS_H */
