/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NIC of this node, through libtorus: found, followed, found again after it
 * went away.
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
 * @found: a NIC was found, with its state; @rows is NULL unless it is placed
 * @gone: it went away; @why: the reason as text
 * @absent: no NIC was found yet; @why: the reason as text; called when that changes
 * @done: the action @tag has ended; @park: NULL, but for a count without error, then also @lost
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

/** nic_new() - @where: "auto", "unix:PATH" or "genl:NAME" */
struct nic *nic_new(struct loop *loop, const char *where, const struct nic_ops *ops, void *arg);
void nic_free(struct nic *nic);

/*
 * Actions: done in the order in which they were begun, while the caller goes on. Those with a tag
 * end with @done, unless the NIC is lost before. nic_place_set() sets the addresses of its
 * interface as well; the others are as in struct fm_ops.
 */
void nic_mgmt_send(struct nic *nic, unsigned int port, const void *data, size_t len);
void nic_root_set(struct nic *nic, uint32_t tag, uint64_t epoch, uint64_t guid);
void nic_place_set(struct nic *nic, uint32_t tag, const struct torus_shape *shape,
		   const struct torus_coords *at);
void nic_rows_write(struct nic *nic, uint32_t tag, uint64_t version, const uint32_t *node,
		    const uint64_t *row, uint32_t n);
void nic_release(struct nic *nic, uint32_t tag, uint64_t version, bool give_up);
void nic_count(struct nic *nic, uint32_t tag, bool lost);
void nic_park_resolve(struct nic *nic, unsigned int port, uint32_t session, int seq);
void nic_park_replay(struct nic *nic, uint32_t tag, uint64_t version, uint16_t ports);
/** nic_links_get() - read all links for @links, if no other call is under way */
void nic_links_get(struct nic *nic);

/**
 * struct nic_question - a question of a user to the NIC, or an order
 * @run: does it, in the thread of the queue (nicq.c), on the connection of the actions. It must
 *	not touch what the loop uses. If it needs many calls, it returns NICQ_MORE after each:
 *	actions go first. Return: 0, negative errno, or NICQ_MORE
 * @done: called in the loop, once, and frees it; @err: what @run returned; -ENODEV: the NIC was
 *	lost meanwhile; -ECANCELED: @run was not called, for the question was dropped, or the
 *	daemon ends
 * @dropped: see nic_drop()
 */
struct nic_question {
	struct nicq_job job;	/* first */
	struct nic *nic;
	struct calls *calls;
	uint32_t life;
	_Atomic bool dropped;
	int (*run)(struct nic_question *q, struct torus_dev *dev);
	void (*done)(struct nic_question *q, int err);
};

/**
 * nic_ask() - asks when no action waits, or when two have gone before; one question after the
 * other
 * Return: 0, and @q->done follows later; -ENODEV: there is no NIC; -EBUSY: too many questions
 * wait.
 */
int nic_ask(struct nic *nic, struct nic_question *q);
/** nic_drop() - the answer is not wanted any more; @done follows nevertheless */
void nic_drop(struct nic_question *q);

/** nic_give_up() - the owner cannot use the NIC: it counts as gone, and is searched again */
void nic_give_up(struct nic *nic);

#endif /* NIC_H */
