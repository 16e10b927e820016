/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NIC of this node, through libtorus: these functions find the NIC, read its events, do actions
 * at it, and find it again if it was lost.
 */
#ifndef NIC_H
#define NIC_H

#include <stdbool.h>
#include <torus/torus.h>
#include "daemon/nicq.h"

struct calls;
struct loop;
struct nic;

/**
 * struct nic_ops - callbacks to the owner
 * @found: a NIC was found; the arguments are its state; @rows is NULL if the NIC has no coordinates
 * @gone: the NIC was lost; @why: the reason as text
 * @absent: no NIC was found yet; @why: the reason as text; called when the reason changes
 * @done: the action @tag has ended; @park, @lost: the result of a count action that had no error,
 *	else NULL and 0
 * @links: the links that nic_links_get() has read
 */
struct nic_ops {
	void (*found)(void *arg, const struct torus_device *dev,
		      const struct torus_link *links, const struct torus_park *park,
		      const uint64_t *rows);
	void (*gone)(void *arg, const char *why);
	void (*absent)(void *arg, const char *why);
	void (*link)(void *arg, const struct torus_link *link);
	void (*mgmt)(void *arg, unsigned int port, const void *data, size_t len);
	void (*park)(void *arg, const struct torus_park *park);
	void (*done)(void *arg, uint32_t tag, int err, const struct torus_park *park,
		     uint64_t lost);
	void (*links)(void *arg, const struct torus_link *links, unsigned int n);
};

/**
 * nic_new() - start to search for a NIC
 * @where: "auto", "unix:PATH" or "genl:NAME"
 * @patience: after three calls in a row without an answer, the NIC counts as lost if it does not
 *	answer for this time, ns
 */
struct nic *nic_new(struct loop *loop, const char *where, uint64_t patience,
		    const struct nic_ops *ops, void *arg);
void nic_free(struct nic *nic);
/** nic_times() - Return: how long calls of the NIC took, those of a question together */
const struct histogram *nic_times(const struct nic *nic);

/*
 * Actions at the NIC. These functions do not wait; the actions are done in the order of the calls.
 * At the end of an action with a tag, @done is called, unless the NIC is lost before.
 * nic_place_set() also sets the addresses of the NIC's interface; the others are as in struct
 * fm_ops.
 */
void nic_mgmt_send(struct nic *nic, unsigned int port, const void *data, size_t len);
void nic_root_set(struct nic *nic, uint32_t tag, uint64_t epoch, uint64_t guid);
void nic_place_set(struct nic *nic, uint32_t tag, const struct torus_shape *shape,
		   const struct torus_coords *at, const struct torus_plan *plan);
void nic_rows_write(struct nic *nic, uint32_t tag, uint64_t version, const uint32_t *node,
		    const uint64_t *row, uint32_t n);
void nic_release(struct nic *nic, uint32_t tag, uint64_t version, bool give_up);
void nic_count(struct nic *nic, uint32_t tag, bool lost);
void nic_park_resolve(struct nic *nic, unsigned int port, uint32_t session, int seq);
void nic_park_replay(struct nic *nic, uint32_t tag, uint64_t version, uint16_t ports);
/** nic_links_get() - read all links, and call @links; does nothing if another call is under way */
void nic_links_get(struct nic *nic);

/**
 * struct nic_question - a question or an order of a user to the NIC
 * @run: asks the NIC, in the thread of the queue (nicq.c), on the connection that actions use. @run
 *	must not touch what the loop uses. A @run that needs many calls returns NICQ_MORE after
 *	each, so that actions need not wait for all of them. Return: 0, negative errno, or NICQ_MORE
 * @done: called in the loop, once; frees the question. @err: what @run returned; -ENODEV: the NIC
 *	was lost before the end; -ECANCELED: @run was not called, because the question was dropped
 *	or the daemon ends
 * @dropped: see nic_drop()
 */
struct nic_question {
	struct nicq_job job;	/* must be the first member */
	struct nic *nic;
	struct calls *calls;
	uint32_t life;
	_Atomic bool dropped;
	int (*run)(struct nic_question *q, struct torus_dev *dev);
	void (*done)(struct nic_question *q, int err);
};

/**
 * nic_ask() - queue a question, which is asked when no action waits, or after two actions Questions
 * are asked one after the other.
 * Return: 0, and @q->done is called later; -ENODEV if there is no NIC; -EBUSY if too many questions
 * wait.
 */
int nic_ask(struct nic *nic, struct nic_question *q);
/**
 * nic_drop() - drop a question: if @run has not begun, it is not called; @done is called in any
 * case
 */
void nic_drop(struct nic_question *q);

/**
 * nic_give_up() - treat the NIC as lost, because the owner cannot use it; search for a NIC again
 */
void nic_give_up(struct nic *nic);

#endif /* NIC_H */
