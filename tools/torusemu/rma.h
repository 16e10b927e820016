/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory of a NIC, as processes reach it: a process connects to a socket (--rma) and opens a
 * context. Then it sends descriptors of memory, which becomes its regions. The NIC's part, which it
 * shares with torus.ko, is kernel/req/soft_rma.h.
 *
 * rma_sock.c has the socket and the calls, rma_mem.c the memory of regions, rma.c that of rings.
 * The NIC offers the service from the first context on, until it loses its place.
 *
 * When a process ends, its connection is closed. From then on this program does not access its
 * rings.
 */
#ifndef EMU_RMA_H
#define EMU_RMA_H

#include "kernel/req/soft_rma.h"
#include "loop.h"

struct emu;

#define RMA_NO_FDS	"all file descriptors of the NIC's process are in use"

/**
 * struct rma_context - a context, or a connection that has not opened one yet
 * @watch: the connection
 * @bell: the doorbell
 * @wake: end of a pipe by which the process is woken; the process has the other end
 * @shared: memory of the head and the rings, @bytes bytes, shared with the process
 * @op: memory of its operations
 */
struct rma_context {
	struct watch watch;
	struct watch bell;
	int wake;
	struct emu *emu;
	struct tn_soft_context soft;
	struct tn_rma_ring_op *op;
	void *shared;
	size_t bytes;
};

/**
 * struct rma - remote memory of a NIC
 * @emu: the NIC
 * @listener: the socket, at @path
 * @soft: contexts and regions
 * @refused_at: when a message about a refused connection was printed; 0: never
 * @unlogged: number of connections that were refused since, without a message
 */
struct rma {
	struct emu *emu;
	struct watch listener;
	char path[108];
	struct tn_soft_rma soft;
	u64 refused_at;
	u64 unlogged;
};

/** rma_open() - listen at @path for processes. Return: 0 or negative errno */
int rma_open(struct emu *emu, const char *path);
/** rma_close() - end remote memory; does nothing if the NIC has none */
void rma_close(struct emu *emu);
/** rma_leave() - end all contexts, because the NIC gets another place */
void rma_leave(struct emu *emu);

/** rma_step() - run the rings that have work. Return: true if packets may have to move now */
bool rma_step(struct emu *emu, u64 now);
/** rma_expiry() - Return: when to call rma_step() again, ns; ~0 for never */
u64 rma_expiry(const struct emu *emu);

/* rma.c, for rma_sock.c */

/** rma_init() - initialise the part of @rma that is not the socket */
void rma_init(struct rma *rma, struct emu *emu);
/** rma_begin() - offer the service, if it is not offered yet. Return: 0 or negative errno */
int rma_begin(struct emu *emu, struct torus_rma_call *call);
/**
 * rma_ring_new() - make the rings of @ctx, with @entries requests
 * @fd: gets the descriptor of their memory, which the caller closes
 * Return: 0 or negative errno.
 */
int rma_ring_new(struct rma_context *ctx, u32 entries, int *fd);
/** rma_end() - free @ctx, whose process is gone, as soon as it can be freed */
void rma_end(struct rma_context *ctx);

/* rma_mem.c */

/** rma_shared_max() - Return: most bytes of all regions of a NIC */
u64 rma_shared_max(void);
/**
 * rma_share() - make a region of a memfd
 * @fd: descriptor of the memfd; -1: the process has sent none; -EMFILE: it could not be received
 * @call: the call; gets region and key, or the reason of an error
 * Return: 0 or negative errno.
 */
int rma_share(struct rma_context *ctx, int fd, struct torus_rma_call *call);
/** rma_unmap() - free the memory of a region */
void rma_unmap(struct tn_soft_rma *rma, struct tn_soft_region *r);

#endif /* EMU_RMA_H */
