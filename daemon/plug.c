// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <torus/uapi.h>

#include "daemon/loop.h"
#include "daemon/lower.h"
#include "daemon/nicq.h"
#include "daemon/plug.h"

#define SURE	(150 * MS)	/* a driver that cannot blink returns its error sooner than this */
#define FRESH	(10 * SEC)	/* age up to which a result is not read again: reading a plug
				 * takes RTNL, and any user may ask for it */

/**
 * struct blink - a LED that blinks
 * @began: when the driver was asked first; 0: not yet
 * @until: when the blinking ends; 0: at once
 */
struct blink {
	struct nicq_job job;	/* must be the first member */
	struct plugs *plugs;
	unsigned int port;
	char lower[IFNAMSIZ];
	_Atomic uint64_t began, until;
};

/** struct look - a job that reads a plug */
struct look {
	struct nicq_job job;	/* must be the first member */
	struct plugs *plugs;
	unsigned int port;
	char lower[IFNAMSIZ];
	struct module module;
};

/**
 * struct plugs - state of all ports
 * @blink: the LED that was last ordered to blink
 * @read_at: when each plug was read
 */
struct plugs {
	struct nicq *queue;
	struct blink *blink;
	struct plug_locate locate[TORUS_MAX_PORTS];
	struct plug_module module[TORUS_MAX_PORTS];
	uint64_t read_at[TORUS_MAX_PORTS];
};

struct plugs *plugs_new(struct loop *loop)
{
	struct plugs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->queue = nicq_new(loop);
	if (p->queue)
		return p;
	free(p);
	return NULL;
}

void plugs_free(struct plugs *p)
{
	if (!p)
		return;
	if (p->blink)
		p->blink->until = 0;
	nicq_free(p->queue);
	free(p);
}

/* --- LEDs: functions of the thread and of the loop ---------------------------------- */

/*
 * Blinks for one second in each call, so that the thread can read plugs and obey an order to stop
 * in between.
 */
static int run_blink(struct nicq_job *job)
{
	struct blink *b = (struct blink *)job;
	int err;

	if (loop_now() >= b->until)
		return 0;
	if (!b->began)
		b->began = loop_now();
	err = lower_blink(b->lower);
	return err ? err : loop_now() < b->until ? NICQ_MORE : 0;
}

static void blink_done(struct nicq_job *job)
{
	struct blink *b = (struct blink *)job;
	struct plugs *p = b->plugs;

	if (p->blink == b)
		p->blink = NULL;
	if (job->err != -ECANCELED && (!p->blink || p->blink->port != b->port))
		p->locate[b->port] = (struct plug_locate) {
			.state = job->err ? PLUG_FAILED : PLUG_DONE, .err = job->err,
		};
	free(b);
}

int plug_locate(struct plugs *p, unsigned int port, const char *lower, uint64_t ns)
{
	struct blink *b;

	if (p->blink && (ns || p->blink->port == port)) {
		p->blink->until = 0;
		p->blink = NULL;
	}
	if (!ns)
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->job.run = run_blink;
	b->job.done = blink_done;
	b->plugs = p;
	b->port = port;
	snprintf(b->lower, sizeof(b->lower), "%s", lower);
	b->until = loop_now() + ns;
	p->blink = b;
	p->locate[port] = (struct plug_locate) { .state = PLUG_BEGINS };
	nicq_add_later(p->queue, &b->job);
	return 0;
}

void plug_located(const struct plugs *p, unsigned int port, struct plug_locate *out)
{
	const struct blink *b = p->blink;
	uint64_t now = loop_now();

	*out = p->locate[port];
	if (!b || b->port != port)
		return;
	out->left = b->until > now ? b->until - now : 0;
	if (b->began && now >= b->began + SURE)
		out->state = PLUG_GOES_ON;
}

/* --- plugs: functions of the thread and of the loop ----------------------------------- */

static int run_look(struct nicq_job *job)
{
	struct look *l = (struct look *)job;

	return lower_module(l->lower, &l->module);
}

static void look_done(struct nicq_job *job)
{
	struct look *l = (struct look *)job;

	l->plugs->module[l->port] = (struct plug_module) {
		.state = job->err ? PLUG_FAILED : PLUG_DONE, .err = job->err, .module = l->module,
	};
	l->plugs->read_at[l->port] = loop_now();
	free(l);
}

int plug_look(struct plugs *p, unsigned int port, const char *lower)
{
	struct plug_module *m = &p->module[port];
	struct look *l;

	if (m->state == PLUG_BEGINS || (m->state && loop_now() < p->read_at[port] + FRESH))
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->job.run = run_look;
	l->job.done = look_done;
	l->plugs = p;
	l->port = port;
	snprintf(l->lower, sizeof(l->lower), "%s", lower);
	m->state = PLUG_BEGINS;
	nicq_add(p->queue, &l->job);
	return 0;
}

void plug_looked(const struct plugs *p, unsigned int port, struct plug_module *out)
{
	*out = p->module[port];
}
