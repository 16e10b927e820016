// SPDX-License-Identifier: GPL-2.0-only
#include "chassis.h"

#include <stdlib.h>
#include <time.h>
#include <torus_uapi.h>

#include "emu.h"
#include "lib/util/times.h"
#include "log.h"

#define FRAMES_MAX	8192	/* most buffers of 64 KiB: half a gigabyte */
#define IDLE_TIME	(500 * MS)	/* time without traffic after which the process may sleep
					 * briefly */
#define NAP		(3 * MS)
#define TURNS_MAX	16	/* most rounds of turns before sockets are polled again */

int chassis_init(struct chassis *c)
{
	int err;

	memset(c, 0, sizeof(*c));
	c->ready_tail = &c->ready;
	c->lower.watch.fd = -1;
	pool_init(&c->pool, FRAMES_MAX);
	ether_rx_init(&c->rx);
	carriers_init(&c->carriers);
	err = loop_init(&c->loop);
	if (err)
		return err;
	c->msg = aligned_alloc(64, TORUS_MSG_MAX);
	if (c->msg)
		return 0;
	loop_fini(&c->loop);
	return -ENOMEM;
}

void chassis_fini(struct chassis *c)
{
	lower_fini(c);
	carriers_fini(&c->carriers, &c->loop);
	cables_free(c);
	ether_rx_fini(&c->rx, &c->pool);
	due_fini(&c->due);
	loop_fini(&c->loop);
	free(c->msg);
	c->msg = NULL;
}

int chassis_add(struct chassis *c, struct emu *e)
{
	int err = due_add(&c->due, &e->due);

	if (err)
		return err;
	e->next = c->nics;
	c->nics = e;
	return 0;
}

static void not_ready(struct chassis *c, struct emu *e)
{
	struct emu **at = &c->ready;

	while (*at != e)
		at = &(*at)->next_ready;
	*at = e->next_ready;
	if (!*at)
		c->ready_tail = at;
}

void chassis_del(struct chassis *c, struct emu *e)
{
	struct emu **at = &c->nics;

	if (e->ready)
		not_ready(c, e);
	due_del(&c->due, &e->due);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

void chassis_wake(struct chassis *c, struct emu *e)
{
	if (e->ready)
		return;
	e->ready = true;
	e->next_ready = NULL;
	*c->ready_tail = e;
	c->ready_tail = &e->next_ready;
}

static void step_nic(struct chassis *c, u64 now)
{
	struct emu *e = c->ready;
	u64 at;

	c->ready = e->next_ready;
	if (!c->ready)
		c->ready_tail = &c->ready;
	e->ready = false;
	emu_step(e, now);
	at = emu_expiry(e);
	if (at <= now)
		chassis_wake(c, e);
	else
		due_set(&c->due, &e->due, at);
}

/*
 * Gives one turn to each NIC that is ready. NICs that become ready in this round get a turn in the
 * next round.
 */
static void step_nics(struct chassis *c, u64 now)
{
	struct emu **end = c->ready_tail;
	struct due *d;

	while ((d = due_first(&c->due)) && d->at <= now) {
		due_set(&c->due, d, DUE_NEVER);
		chassis_wake(c, container_of(d, struct emu, due));
		end = c->ready_tail;
	}
	for (bool last = !c->ready; !last;) {
		last = &c->ready->next_ready == end;
		step_nic(c, now);
	}
}

static u64 next_due(const struct chassis *c)
{
	const struct due *d = due_first(&c->due);

	return d ? d->at : DUE_NEVER;
}

/*
 * All idle NICs of a machine send keep-alives at the same moment. This process sleeps until all
 * NICs have done so, and then receives all their frames at once instead of waking up for each
 * frame.
 */
static void sleep_briefly(const struct chassis *c, u64 now)
{
	const struct timespec ts = { .tv_nsec = NAP };

	if (now - c->busy_at > IDLE_TIME)
		nanosleep(&ts, NULL);
}

void chassis_run(struct chassis *c)
{
	int err = carriers_start(&c->carriers, &c->loop);

	if (err)
		log_warn("carrier", "cannot start the thread that looks for carriers: %s",
			 strerror(-err));
	while (!c->stop) {
		/* If a NIC is still ready, the sockets are polled without waiting. */
		u64 until = c->ready ? loop_busy() : next_due(c), now;

		loop_wait(&c->loop, until);
		now = loop_now();
		c->passed = true;
		for (int i = 0; i < TURNS_MAX && c->passed; i++) {
			c->passed = false;
			step_nics(c, now);
		}
		if (now >= until && !c->ready)
			sleep_briefly(c, now);
	}
}
