/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that nic.c and nic_call.c share. */
#ifndef NIC_IMPL_H
#define NIC_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/nic.h"
#include "daemon/nicq.h"

struct hotplug;
struct loop;
struct loop_fd;
struct loop_timer;

#define CALL_MAX_MS	1000

/** struct nic_note - a log line about a failure to set addresses; @text: "" if no address failed */
struct nic_note {
	bool warning;
	char text[256];
};

/**
 * struct calls - the connection to the NIC that only the thread of the queue uses
 * @dev: the connection; NULL: it broke
 * @guid, @epoch: identity of the NIC; after opening the connection again, another NIC is refused
 * @root_epoch, @root_guid: the root whose orders this manager follows; 0: no root
 */
struct calls {
	struct nicq_job closing;	/* must be the first member */
	struct torus_dev *dev;
	char where[128];
	uint64_t guid;
	uint32_t epoch;
	uint64_t root_epoch, root_guid;
};

/**
 * struct nic_mgmt - management packets to be sent on a port
 * @life: nic.life + 1 when the packet in the queue was added; 0: no packet is in the queue
 * @data, @len: the packet to be sent next; @len 0: there is none. A later packet replaces it
 */
struct nic_mgmt {
	uint32_t life;
	size_t len;
	uint8_t data[TORUS_MGMT_MAX];
};

struct nic {
	struct loop *loop;
	const struct nic_ops *ops;
	void *arg;
	char where[128];
	struct torus_dev *dev;		/* connection for events */
	struct calls *calls;
	struct nicq *queue;
	_Atomic uint32_t life;		/* counts the values of @calls; jobs with an earlier
					 * number do nothing */
	uint64_t patience;		/* ns; see nic_new() */
	unsigned int late;		/* number of calls in a row without an answer */
	uint64_t late_at;		/* when the first of these calls ended */
	bool looking;
	struct loop_fd *watch;
	struct loop_timer *timer;	/* starts a search, or reports the loss of the NIC */
	struct hotplug *hotplug;	/* NULL if @where can only be a socket */
	bool kernel;			/* the NIC is a kernel NIC, so this daemon sets up its
					 * interface */
	uint64_t retry;
	int lost;			/* why the NIC was lost, negative errno; to be reported */
	unsigned int asked;		/* questions whose end has not reached the loop yet */
	uint32_t no_memory;		/* tag of an action for which there was no memory */
	struct nic_mgmt mgmt[TORUS_MAX_PORTS];
	char why[256];
};

/** nic_answer() - count calls without an answer; @err: result of a call */
void nic_answer(struct nic *nic, int err);
/** nic_broken() - Return: true if @err means that the other end of a connection is gone */
bool nic_broken(int err);
/**
 * nic_calls_dev() - in the thread: get the connection, opened again if it broke
 * Return: 0 or a negative errno.
 */
int nic_calls_dev(struct calls *calls, struct torus_dev **dev);
/** nic_calls_end() - in the thread: after a call with result @err, close a broken connection */
void nic_calls_end(struct calls *calls, int err);
void nic_interface_place(const struct torus_device *before, const struct torus_shape *shape,
			 const struct torus_coords *at, const struct torus_plan *plan,
			 struct nic_note *note);
void nic_note_log(const struct nic_note *note);

#endif /* NIC_IMPL_H */
