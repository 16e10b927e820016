/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory of a NIC. A process connects to a socket (--rma) and opens a context. Then it sends
 * descriptors of memory, which becomes its regions.
 *
 * rma_sock.c has the socket and the calls, rma_mem.c the regions, rma_list.c the calls that describe
 * them, rma.c the rings and the callbacks of the core. The NIC offers the service from the first
 * context on, until it loses its place.
 *
 * A region belongs to the user of its process: the job of a context is the user id. So a user must
 * have the same id on all nodes of a fabric, as with NFS.
 *
 * When a process ends, its connection is closed. From then on this program does not access its
 * rings. A region is freed when all requests that wait in it have been refused, and the context is
 * freed when all its requests have ended.
 */
#ifndef EMU_RMA_H
#define EMU_RMA_H

#include "kernel/core/rma_nic.h"
#include "kernel/core/rma_ring.h"
#include "loop.h"

struct emu;

#define RMA_CONTEXTS_MAX	64	/* most contexts of a NIC */
#define RMA_USER_MAX		16	/* most contexts of one user who is not root */
#define RMA_ENTRIES_MAX		256	/* most entries of a SQ; the CQ has twice as many */
#define RMA_REGIONS_MAX		1024	/* most regions of a NIC */
#define RMA_CONTEXT_REGIONS	64	/* most regions of a context */
#define RMA_USER_REGIONS	256	/* most regions of one user who is not root */
#define RMA_ROOT_REGIONS	64	/* regions that are left for root */
#define RMA_WAITS		4096	/* most requests that wait at a NIC for full/empty bits */
#define RMA_NODE_WAITS		1024	/* most such requests from one node */
/* most replies that wait for a port; if there are more, requests wait */
#define RMA_REPLIES		64

#define RMA_NO_FDS	"all file descriptors of the NIC's process are in use"

/**
 * struct rma_space - the addresses of a job at this node: @window translates them to regions
 * @next: space of another job
 * @regions: number of regions in it
 */
struct rma_space {
	struct rma_space *next;
	struct tn_window window;
	u64 from[RMA_REGIONS_MAX];
	struct tn_window_row row[RMA_REGIONS_MAX];
	u32 regions;
	u16 job;
};

/**
 * struct rma_region - the memory of a region
 * @ctx: context of the region; NULL: there is no such region
 * @mem: the memory that the process has sent, @bytes bytes
 * @fe: full/empty bits of the region
 * @bits: memory of @fe
 * @space: addresses of its job, in which it is at @addr; NULL: it has no address
 * @ends: the region is being closed
 */
struct rma_region {
	struct rma_context *ctx;
	struct rma_space *space;
	u8 *mem;
	u64 bytes;
	u64 addr;
	struct tn_fe_bits fe;
	u64 *bits;
	bool ends;
};

/**
 * struct rma_context - a context, or a connection that has not opened one yet
 * @watch: the connection
 * @bell: the doorbell
 * @wake: end of a pipe by which the process is woken; the process has the other end
 * @shared: memory of the head and the rings, @bytes bytes, shared with the process
 * @job: user id of the process
 * @regions: number of its regions
 * @open: the process has sent OPEN
 * @ready: the ring has work
 * @blocked: the ring has work, but no packet can be sent; it is tried again when packets have moved
 * @dead: the process is gone, or will be disconnected
 * @again_at: with @dead: when to cancel the waiting requests once more
 */
struct rma_context {
	struct watch watch;
	struct watch bell;
	int wake;
	struct emu *emu;
	struct tn_rma_ring ring;
	struct tn_rma_ring_op *op;
	void *shared;
	size_t bytes;
	u16 id;
	u16 job;
	u16 regions;
	bool open;
	bool ready;
	bool blocked;
	bool dead;
	u64 again_at;
};

/**
 * struct rma - remote memory of a NIC
 * @emu: the NIC
 * @listener: the socket, at @path
 * @memory: memory of the core's service; NULL: the service is not started
 * @context: contexts by number; @contexts of them exist
 * @region: regions by index, as the core sees them
 * @owned: memory of these regions
 * @space: list of the spaces of jobs that have regions with addresses
 * @shared: bytes of all regions
 * @ending: number of regions that are being closed
 * @refused_at: when a message about a refused connection was printed; 0: never
 * @unsaid: number of connections that were refused since, without a message
 */
struct rma {
	struct emu *emu;
	struct watch listener;
	char path[108];
	void *memory;
	struct rma_context *context[RMA_CONTEXTS_MAX];
	unsigned int contexts;
	struct tn_rma_region region[RMA_REGIONS_MAX];
	struct rma_region owned[RMA_REGIONS_MAX];
	struct rma_space *space;
	u64 shared;
	u32 ending;
	u64 refused_at;
	u64 unsaid;
	struct tn_fe_pool pool;
	struct tn_fe_wait wait[RMA_WAITS];
	struct tn_fe_wait *bucket[RMA_WAITS];
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

/** rma_begin() - offer the service, if it is not offered yet. Return: 0 or negative errno */
int rma_begin(struct emu *emu, const char **why);
/**
 * rma_ring_new() - make the rings of @ctx, with @entries requests
 * @fd: gets the descriptor of their memory, which the caller closes
 * Return: 0 or negative errno.
 */
int rma_ring_new(struct rma_context *ctx, u32 entries, int *fd);
/** rma_end() - free @ctx, whose process is gone, as soon as it can be freed */
void rma_end(struct rma_context *ctx);

/* rma_mem.c */

/**
 * rma_share() - make a region of a memfd
 * @fd: descriptor of the memfd; -1: the process has sent none; -EMFILE: it could not be received
 * @call: the call; gets region and key, or the reason of an error
 * Return: 0 or negative errno.
 */
int rma_share(struct rma_context *ctx, int fd, struct torus_rma_call *call);
/** rma_unshare() - end a region of @ctx. Return: 0 or negative errno */
int rma_unshare(struct rma_context *ctx, u32 region, struct torus_rma_call *call);
/** rma_unshare_all() - end all regions of @ctx. Return: true if none is left */
bool rma_unshare_all(struct rma_context *ctx);
/** rma_settle_regions() - go on with regions that are being closed */
void rma_settle_regions(struct emu *emu);

/* rma_space.c */

/** rma_space_find() - Return: the addresses of @job; NULL: none of its regions has one */
struct rma_space *rma_space_find(const struct rma *rma, u16 job);
/**
 * rma_space_put() - give region @i, which is mapped, the address of the call
 * Return: 0 or negative errno, with the reason in @call.
 */
int rma_space_put(struct rma *rma, u32 i, struct torus_rma_call *call);
/** rma_space_drop() - take the address of a region away, if it has one */
void rma_space_drop(struct rma *rma, struct rma_region *r);

/* rma_list.c */

/** rma_region_get() - answer REGION_GET of @ctx. Return: 0 or -ENOENT */
int rma_region_get(struct rma_context *ctx, struct torus_rma_call *call);
/** rma_wait_get() - answer WAIT_GET of @ctx. Return: 0 or -ENOENT */
int rma_wait_get(struct rma_context *ctx, struct torus_rma_call *call);

/** rma_fail() - describe the error of a call. Return: @err */
__attribute__((format(printf, 3, 4)))
int rma_fail(struct torus_rma_call *call, int err, const char *fmt, ...);

#endif /* EMU_RMA_H */
