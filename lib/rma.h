/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A context of remote memory, as rma.c (context, regions), rma_call.c (calls to the NIC) and
 * rma_ring.c (requests) see it.
 */
#ifndef LIB_RMA_H
#define LIB_RMA_H

#include <torus/rma.h>

/** struct lt_region - a region in the list of its context; @pub comes first */
struct lt_region {
	struct torus_region pub;
	struct lt_region *next;
};

/**
 * struct torus_rma - a context
 * @sock: the connection to the NIC: a socket, or with @device the device of the driver
 * @bell: the NIC's doorbell: 8 bytes are written to it, as to an eventfd; @wake: wakes the process,
 *	is read until it is empty
 * @head: memory shared with the NIC, @bytes of it
 * @tail: position after the last request; @taken: after the last completion
 * @open: requests whose completion was not taken, and those of @recvs
 * @recvs: posted receives whose completion was not read from the ring
 * @kept: completions of @kept_n messages, from @kept_at on, which torus_rma_quiet() has read; room
 *	for @sq_entries of them
 * @rung: the NIC's @naps when its doorbell was last rung
 * @fence: the next request has TORUS_RMA_FENCE
 */
struct torus_rma {
	int sock;
	int bell;
	int wake;
	bool device;
	struct torus_rma_head *head;
	size_t bytes;
	struct torus_rma_ask *sq;
	const struct torus_rma_end *cq;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t tail;
	uint32_t taken;
	uint32_t rung;
	uint64_t open;
	uint32_t recvs;
	uint32_t kept_at;
	uint32_t kept_n;
	struct torus_rma_end *kept;
	bool fence;
	struct lt_region *regions;
	char error[256];
};

/** lt_rma_fail() - keep the text of an error. Return: @err */
__attribute__((format(printf, 3, 4)))
int lt_rma_fail(struct torus_rma *rma, int err, const char *fmt, ...);
/** lt_rma_fail_open() - keep the text of an error for torus_rma_error(NULL). Return: @err */
__attribute__((format(printf, 2, 3)))
int lt_rma_fail_open(int err, const char *fmt, ...);

/**
 * lt_rma_connect() - connect to a NIC
 * Return: 0 or a negative errno, with its text for torus_rma_error(NULL).
 */
int lt_rma_connect(const char *where, struct torus_rma **rmap);
/**
 * lt_rma_call() - send a call to the NIC, and receive the answer
 * @fd: descriptor that goes with the call; -1: none
 * @fds: set to the TORUS_RMA_FDS descriptors of the answer, if it has any
 */
int lt_rma_call(struct torus_rma *rma, struct torus_rma_call *call, int fd, int *fds);

#endif /* LIB_RMA_H */
