// SPDX-License-Identifier: GPL-2.0-only
/* The manager's actions at the NIC, and questions of users, as jobs of the NIC's queue. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/nic_impl.h"
#include "daemon/nicq.h"
#include "lib/netdev.h"

#define QUESTIONS_MAX	128	/* most questions that wait; a client of the control socket has
				 * at most one */
#define CALLS_WAITING	16	/* if this many calls wait, no management packet is queued */

/**
 * struct call - an action that the manager wants its NIC to do
 * @fn: does the action
 * @life: nic.life when the call was made
 * @epoch, @guid: arguments of root_set
 * @node, @row, @n: arguments of rows_write, in memory after this struct
 * @link, @n: result of links_get, also after this struct
 * @data, @len: arguments of mgmt_send
 * @flag: argument give_up of release; argument lost of count
 * @park, @lost: result of count
 */
struct call {
	struct nicq_job job;
	struct nic *nic;
	struct calls *calls;
	uint32_t life;
	uint32_t tag;
	int (*fn)(struct call *c, struct torus_dev *dev);
	struct torus_shape shape;
	struct torus_coords at;
	struct torus_plan plan;
	uint64_t epoch, guid;
	uint64_t version;
	uint32_t *node, n;
	uint64_t *row;
	struct torus_link *link;
	unsigned int port;
	uint32_t session;
	int seq;
	uint16_t ports;
	bool flag, kernel;
	uint8_t data[TORUS_MGMT_MAX];
	size_t len;
	struct torus_park park;
	uint64_t lost;
	struct nic_note note;
};

/* Opens the connection again. Fails if another NIC answers, or if the NIC was restarted. */
static int reopen_nic(struct calls *calls)
{
	struct torus_device now;
	int err = torus_open(calls->where, &calls->dev);

	if (err)
		return err;
	torus_timeout_set(calls->dev, CALL_MAX_MS);
	err = torus_device_get(calls->dev, &now);
	if (!err && (now.guid != calls->guid || now.epoch != calls->epoch))
		err = -ENODEV;
	if (!err && calls->root_epoch)
		err = torus_root_set(calls->dev, calls->root_epoch, calls->root_guid);
	if (err) {
		torus_close(calls->dev);
		calls->dev = NULL;
	}
	return err;
}

int nic_calls_dev(struct calls *calls, struct torus_dev **dev)
{
	int err = calls->dev ? 0 : reopen_nic(calls);

	*dev = calls->dev;
	return err;
}

void nic_calls_end(struct calls *calls, int err)
{
	if (!nic_broken(err))
		return;
	torus_close(calls->dev);
	calls->dev = NULL;
}

static int do_count(struct call *c, struct torus_dev *dev);
static int do_mgmt(struct call *c, struct torus_dev *dev);

/* Called when a management packet of @port was sent: sends the next one. */
static void mgmt_done(struct nic *nic, unsigned int port)
{
	struct nic_mgmt *m = &nic->mgmt[port % TORUS_MAX_PORTS];

	m->life = 0;
	if (m->len)
		nic_mgmt_send(nic, port, m->data, m->len);
}

static int run_call(struct nicq_job *job)
{
	struct call *c = (struct call *)job;
	struct torus_dev *dev;
	int err;

	if (c->life != c->nic->life)
		return -ENODEV;
	err = nic_calls_dev(c->calls, &dev);
	if (!err)
		err = c->fn(c, dev);
	nic_calls_end(c->calls, err);
	return err;
}

static void call_done(struct nicq_job *job)
{
	struct call *c = (struct call *)job;
	struct nic *nic = c->nic;
	int err = job->err;

	if (c->life == nic->life) {
		nic_answer(nic, err);
		nic_note_log(&c->note);
		if (c->tag)
			nic->ops->done(nic->arg, c->tag, err,
				       c->fn == do_count && !err ? &c->park : NULL, c->lost);
		if (c->link && !err)
			nic->ops->links(nic->arg, c->link, c->n);
		if (c->fn == do_mgmt && err != -ECANCELED)
			mgmt_done(nic, c->port);
	}
	free(c);
}

/*
 * Return: a call, which the caller has to fill and to queue; NULL if out of memory, and the action
 * counts as failed.
 */
static struct call *call_new(struct nic *nic, uint32_t tag, size_t room,
			     int (*fn)(struct call *c, struct torus_dev *dev))
{
	struct call *c = calloc(1, sizeof(*c) + room);

	if (!c && tag) {
		nic->no_memory = tag;
		loop_timer_set(nic->timer, 0);
	}
	if (!c)
		return NULL;
	c->job.run = run_call;
	c->job.done = call_done;
	c->nic = nic;
	c->calls = nic->calls;
	c->life = nic->life;
	c->tag = tag;
	c->fn = fn;
	return c;
}

static void call_add(struct call *c)
{
	nicq_add(c->nic->queue, &c->job);
}

static int do_mgmt(struct call *c, struct torus_dev *dev)
{
	return torus_mgmt_send(dev, c->port, c->data, c->len);
}

/*
 * Sends a management packet. So that a slow NIC has time for other calls, only one packet of each
 * port is in the queue. If the manager sends further packets on the port meanwhile, only the last
 * of them is sent; the management protocol repeats packets that were not answered.
 */
void nic_mgmt_send(struct nic *nic, unsigned int port, const void *data, size_t len)
{
	struct nic_mgmt *m = &nic->mgmt[port % TORUS_MAX_PORTS];
	struct call *c;

	if (len > TORUS_MGMT_MAX)
		return;
	if (m->life == nic->life + 1) {
		memmove(m->data, data, len);
		m->len = len;
		return;
	}
	c = nicq_waiting(nic->queue) < CALLS_WAITING ? call_new(nic, 0, 0, do_mgmt) : NULL;
	if (!c)
		return;
	m->life = nic->life + 1;
	m->len = 0;
	c->port = port;
	c->len = len;
	memcpy(c->data, data, len);
	call_add(c);
}

void nic_interface_place(const struct torus_device *before, const struct torus_shape *shape,
			 const struct torus_coords *at, const struct torus_plan *plan,
			 struct nic_note *note)
{
	struct torus_plan old = before->plan;
	struct lt_netdev dev = {
		.ifindex = before->ifindex,
		.old = before->placed ? &before->shape : NULL, .old_plan = &old,
		.old_node = before->node,
		.shape = shape, .plan = plan, .node = torus_node_id(shape, at),
	};
	char why[128];
	int err;

	if (!old.len4)
		torus_plan_default(&old);
	err = lt_netdev_place(&dev, why, sizeof(why));
	note->warning = err == -EAFNOSUPPORT;
	if (note->warning)
		snprintf(note->text, sizeof(note->text), "%s has no IPv6 address: %s",
			 before->ifname, why);
	else if (err)
		snprintf(note->text, sizeof(note->text), "%s: cannot set addresses: %s",
			 before->ifname, why);
}

void nic_note_log(const struct nic_note *note)
{
	if (note->text[0])
		log_line(note->warning ? FM_WARNING : FM_ERROR, "nic", note->text);
}

static int do_root(struct call *c, struct torus_dev *dev)
{
	int err = torus_root_set(dev, c->epoch, c->guid);

	if (!err) {
		c->calls->root_epoch = c->epoch;
		c->calls->root_guid = c->guid;
	}
	return err;
}

void nic_root_set(struct nic *nic, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	struct call *c = call_new(nic, tag, 0, do_root);

	if (!c)
		return;
	c->epoch = epoch;
	c->guid = guid;
	call_add(c);
}

/*
 * Sends the default address plan only to a NIC that reports a plan. A NIC of an earlier release
 * knows only the default plan, and refuses the attribute.
 */
static int do_place(struct call *c, struct torus_dev *dev)
{
	struct torus_device before;
	struct torus_plan usual;
	bool names;
	int err = torus_device_get(dev, &before);

	if (err)
		return err;
	torus_plan_default(&usual);
	names = before.plan.len4 || memcmp(&usual, &c->plan, sizeof(usual));
	err = torus_place_plan_set(dev, &c->shape, &c->at, names ? &c->plan : NULL);
	if (!err && c->kernel)
		nic_interface_place(&before, &c->shape, &c->at, &c->plan, &c->note);
	return err;
}

void nic_place_set(struct nic *nic, uint32_t tag, const struct torus_shape *shape,
		   const struct torus_coords *at, const struct torus_plan *plan)
{
	struct call *c = call_new(nic, tag, 0, do_place);

	if (!c)
		return;
	c->shape = *shape;
	c->at = *at;
	c->plan = *plan;
	c->kernel = nic->kernel;
	call_add(c);
}

static int do_rows(struct call *c, struct torus_dev *dev)
{
	int err = torus_rows_begin(dev, c->version);

	if (!err && c->n)
		err = torus_rows_put_list(dev, c->version, c->node, c->row, c->n);
	return err ? err : torus_rows_commit(dev, c->version);
}

void nic_rows_write(struct nic *nic, uint32_t tag, uint64_t version, const uint32_t *node,
		    const uint64_t *row, uint32_t n)
{
	struct call *c = call_new(nic, tag, n * (sizeof(*row) + sizeof(*node)), do_rows);

	if (!c)
		return;
	c->version = version;
	c->n = n;
	c->row = (uint64_t *)(c + 1);
	c->node = (uint32_t *)(c->row + n);
	if (n) {
		memcpy(c->row, row, n * sizeof(*row));
		memcpy(c->node, node, n * sizeof(*node));
	}
	call_add(c);
}

static int do_release(struct call *c, struct torus_dev *dev)
{
	return torus_release(dev, c->version, c->flag);
}

void nic_release(struct nic *nic, uint32_t tag, uint64_t version, bool give_up)
{
	struct call *c = call_new(nic, tag, 0, do_release);

	if (!c)
		return;
	c->version = version;
	c->flag = give_up;
	call_add(c);
}

static int do_count(struct call *c, struct torus_dev *dev)
{
	struct torus_device info;
	int err = torus_park_get(dev, &c->park);

	if (!err && c->flag)
		err = torus_device_get(dev, &info);
	if (!err && c->flag)
		c->lost = info.counter[TORUS_NC_LOST];
	return err;
}

void nic_count(struct nic *nic, uint32_t tag, bool lost)
{
	struct call *c = call_new(nic, tag, 0, do_count);

	if (!c)
		return;
	c->flag = lost;
	call_add(c);
}

static int do_resolve(struct call *c, struct torus_dev *dev)
{
	return torus_park_resolve(dev, c->port, c->session, c->seq);
}

void nic_park_resolve(struct nic *nic, unsigned int port, uint32_t session, int seq)
{
	struct call *c = call_new(nic, 0, 0, do_resolve);

	if (!c)
		return;
	c->port = port;
	c->session = session;
	c->seq = seq;
	call_add(c);
}

static int do_replay(struct call *c, struct torus_dev *dev)
{
	return torus_park_replay(dev, c->version, c->ports);
}

void nic_park_replay(struct nic *nic, uint32_t tag, uint64_t version, uint16_t ports)
{
	struct call *c = call_new(nic, tag, 0, do_replay);

	if (!c)
		return;
	c->version = version;
	c->ports = ports;
	call_add(c);
}

static int do_links(struct call *c, struct torus_dev *dev)
{
	return torus_links_get(dev, c->link, &c->n);
}

/* Does nothing if other calls wait: at a slow NIC, reading the links would delay a recovery. */
void nic_links_get(struct nic *nic)
{
	struct call *c = nicq_waiting(nic->queue) ? NULL :
			 call_new(nic, 0, TORUS_MAX_PORTS * sizeof(*c->link), do_links);

	if (!c)
		return;
	c->link = (struct torus_link *)(c + 1);
	c->n = TORUS_MAX_PORTS;
	call_add(c);
}

/* --- questions of users ------------------------------------------------------ */

static int run_question(struct nicq_job *job)
{
	struct nic_question *q = (struct nic_question *)job;
	struct torus_dev *dev;
	int err;

	if (q->dropped)
		return -ECANCELED;
	if (q->life != q->nic->life)
		return -ENODEV;
	err = nic_calls_dev(q->calls, &dev);
	if (!err)
		err = q->run(q, dev);
	nic_calls_end(q->calls, err);
	return err;
}

static void question_done(struct nicq_job *job)
{
	struct nic_question *q = (struct nic_question *)job;
	struct nic *nic = q->nic;
	int err = job->err;

	nic->asked--;
	if (err != -ECANCELED && q->life != nic->life)
		err = -ENODEV;
	else if (err != -ECANCELED)
		nic_answer(nic, err);
	q->done(q, err);
}

int nic_ask(struct nic *nic, struct nic_question *q)
{
	if (!nic->dev || nic->lost)
		return -ENODEV;
	if (nic->asked >= QUESTIONS_MAX)
		return -EBUSY;
	nic->asked++;
	q->job.run = run_question;
	q->job.done = question_done;
	q->nic = nic;
	q->calls = nic->calls;
	q->life = nic->life;
	nicq_add_later(nic->queue, &q->job);
	return 0;
}

void nic_drop(struct nic_question *q)
{
	q->dropped = true;
}
