/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory of a software NIC: contexts of processes, their regions, and the callbacks of the
 * core. torus.ko and torusemu share this code. The shell (either of them) takes calls of processes,
 * makes memory, and serialises all functions here with those of the core; none of them sleeps.
 *
 *	soft_rma.c     contexts, their rings, the callbacks     soft_region.c  regions
 *	soft_space.c   addresses of regions                     soft_list.c    descriptions
 *
 * A region belongs to the user of its process: the job of a context is the user id. So a user must
 * have the same id on all nodes of a fabric, as with NFS.
 *
 * When a process ends, the shell calls tn_soft_rma_end(). From then on the NIC does not access the
 * rings of its context, whose memory the shell may free. A region is unmapped when all requests
 * that wait in it have been refused, and the context ends (ops->ended) when all its requests have.
 * A NIC that gets another place ends all contexts at once (tn_soft_rma_leave()).
 */
#ifndef TN_SOFT_RMA_H
#define TN_SOFT_RMA_H

#include "../core/rma_nic.h"
#include "../core/rma_ring.h"
#include "soft.h"

#define TN_SOFT_CONTEXTS_MAX	64	/* most contexts of a NIC */
#define TN_SOFT_USER_CONTEXTS	16	/* most contexts of one user who is not root */
#define TN_SOFT_ROOT_CONTEXTS	4	/* contexts that are left for root */
#define TN_SOFT_ENTRIES_MAX	256	/* most entries of a SQ; the CQ has twice as many */
#define TN_SOFT_REGIONS_MAX	1024	/* most regions of a NIC */
#define TN_SOFT_CONTEXT_REGIONS	64	/* most regions of a context */
#define TN_SOFT_USER_REGIONS	256	/* most regions of one user who is not root */
#define TN_SOFT_ROOT_REGIONS	64	/* regions that are left for root */
#define TN_SOFT_WAITS		8192	/* most requests that wait at a NIC for a word */
#define TN_SOFT_USER_WAITS	2048	/* most of them in regions of one other user than root */
#define TN_SOFT_ROOT_WAITS	512	/* waits that are left for root */

struct tn_soft_block;
struct tn_soft_context;
struct tn_soft_region;
struct tn_soft_rma;

/**
 * struct tn_soft_rma_ops - callbacks into the shell
 * @wake: the process of this context sleeps, and a completion is there for it
 * @unmap: region @r is closed: give back r->mem, r->bits and r->pin; they are forgotten afterwards
 * @alloc: Return: memory for a struct tn_soft_block, which is 0; NULL: there is none
 * @free: frees the memory of a struct tn_soft_space
 * @left: the NIC leaves its place: must call tn_soft_rma_end() for this context
 * @ended: nothing of a context is open any more; the shell frees it
 */
struct tn_soft_rma_ops {
	void (*wake)(struct tn_soft_context *ctx);
	void (*unmap)(struct tn_soft_rma *rma, struct tn_soft_region *r);
	void *(*alloc)(size_t bytes);
	void (*free)(void *memory);
	void (*left)(struct tn_soft_context *ctx);
	void (*ended)(struct tn_soft_context *ctx);
};

/**
 * struct tn_soft_block - the head of a piece of memory of the service
 * @next: next piece
 */
struct tn_soft_block {
	struct tn_soft_block *next;
};

/**
 * struct tn_soft_space - the addresses of a job at this node: @window translates them to regions
 * @next: space of another job
 * @regions: number of regions in it
 */
struct tn_soft_space {
	struct tn_soft_space *next;
	struct tn_window window;
	u64 from[TN_SOFT_REGIONS_MAX];
	struct tn_window_row row[TN_SOFT_REGIONS_MAX];
	u32 regions;
	u32 job;
};

/**
 * struct tn_soft_region - the memory of a region, or a region that is reserved
 * @ctx: context of the region; NULL: there is no such region
 * @space: addresses of its job, in which it is at @addr; NULL: it has no address
 * @mem: the memory, @bytes bytes; NULL: the region is only reserved
 * @fe: full/empty bits of the region
 * @bits: memory of @fe, from the shell; NULL: the region has none
 * @pin: what the shell needs to give @mem back
 * @ends: the region is being closed
 */
struct tn_soft_region {
	struct tn_soft_context *ctx;
	struct tn_soft_space *space;
	u8 *mem;
	u64 bytes;
	u64 addr;
	struct tn_fe_bits fe;
	u64 *bits;
	void *pin;
	bool ends;
};

/**
 * struct tn_soft_user - a user who has contexts
 * @waits: how many requests may wait in the user's regions; root has no limit
 * @contexts: number of the user's contexts; 0: this entry is free
 */
struct tn_soft_user {
	struct tn_fe_quota waits;
	u32 contexts;
	u32 job;
};

/**
 * struct tn_soft_context - a context; part of the shell's own struct for it
 * @rma: remote memory of its NIC
 * @ring: its rings, if it is @open
 * @id: its number
 * @job: user id of the process
 * @user: the user
 * @regions: number of its regions
 * @open: the process has called OPEN
 * @ready: the ring has work
 * @blocked: the ring has work, but no packet can be sent; it is tried again when packets have moved
 * @dead: the process is gone, or the NIC has left its place
 * @again_at: with @dead: when to cancel the waiting requests once more
 */
struct tn_soft_context {
	struct tn_soft_rma *rma;
	struct tn_rma_ring ring;
	struct tn_soft_user *user;
	u16 id;
	u32 job;
	u16 regions;
	bool open;
	bool ready;
	bool blocked;
	bool dead;
	u64 again_at;
};

/**
 * struct tn_soft_rma - remote memory of a NIC; all zero but for the first three members at first
 * @soft: the NIC
 * @ops: callbacks into the shell
 * @bytes_max: most bytes of all regions
 * @memory: all memory of the service; NULL: the service is not started
 * @context: contexts by number; @contexts of them exist
 * @turn: context that is the first to get its turn
 * @opened: a bit for each context that has called OPEN, by its number
 * @user: users who have contexts
 * @others: waits of all users but root
 * @region: regions by index, as the core sees them
 * @owned: memory of these regions
 * @space: list of the spaces of jobs that have regions with addresses
 * @shared: bytes of all regions
 * @ending: number of regions that are being closed
 * @pool: requests that wait, in @memory
 */
struct tn_soft_rma {
	struct tn_soft *soft;
	const struct tn_soft_rma_ops *ops;
	u64 bytes_max;
	struct tn_soft_block *memory;
	struct tn_soft_context *context[TN_SOFT_CONTEXTS_MAX];
	unsigned int contexts;
	unsigned int turn;
	u64 opened;
	struct tn_soft_user user[TN_SOFT_CONTEXTS_MAX];
	struct tn_fe_quota others;
	struct tn_rma_region region[TN_SOFT_REGIONS_MAX];
	struct tn_soft_region owned[TN_SOFT_REGIONS_MAX];
	struct tn_soft_space *space;
	u64 shared;
	u32 ending;
	struct tn_fe_pool pool;
};

/* --- contexts (soft_rma.c) --------------------------------------------------------- */

/**
 * tn_soft_rma_add() - add a context, which is all zero, for a process of @user
 * Return: 0; -EUSERS if the user has too many contexts, -ENOSPC if the NIC has, or if only those
 * for root are left.
 */
int tn_soft_rma_add(struct tn_soft_rma *rma, struct tn_soft_context *ctx, u32 user);
/** tn_soft_rma_check() - Return: 0 if OPEN of this context is allowed; else negative errno */
int tn_soft_rma_check(const struct tn_soft_context *ctx, struct torus_rma_call *call);
/** tn_soft_rma_size() - Return: bytes of memory for tn_soft_rma_begin() */
size_t tn_soft_rma_size(const struct tn_soft_rma *rma);
/**
 * tn_soft_rma_begin() - start the service, if that has not been done
 * @memory: pointer to tn_soft_rma_size() bytes, which are 0; set to NULL if they are used
 * @seed: random number
 * Return: 0 or negative errno, with the text in @call.
 */
int tn_soft_rma_begin(struct tn_soft_rma *rma, void **memory, u64 seed, u64 now,
		      struct torus_rma_call *call);
/** tn_soft_rma_ring_size() - Return: bytes of head and rings with @entries requests */
size_t tn_soft_rma_ring_size(u32 entries);
/** tn_soft_rma_ops_size() - Return: bytes for the operations of such a ring */
size_t tn_soft_rma_ops_size(u32 entries);
/**
 * tn_soft_rma_open() - open a context, after tn_soft_rma_begin()
 * @shared: head and rings, which are 0; used until tn_soft_rma_end()
 * @op: memory for operations, which is 0; used until ops->ended()
 * @key: random number, by which a message for an earlier context of this number is known
 */
void tn_soft_rma_open(struct tn_soft_context *ctx, void *shared, struct tn_rma_ring_op *op,
		      u32 entries, u32 key);
/** tn_soft_rma_end() - end a context, whose process is gone; may call ops->ended */
void tn_soft_rma_end(struct tn_soft_context *ctx, u64 now);
/** tn_soft_rma_step() - run the rings that have work. Return: true if packets may have to move */
bool tn_soft_rma_step(struct tn_soft_rma *rma, u64 now);
/** tn_soft_rma_expiry() - Return: when to call tn_soft_rma_step() again, ns; ~0 for never */
u64 tn_soft_rma_expiry(const struct tn_soft_rma *rma);
/**
 * tn_soft_rma_leave() - end all contexts and the service, because the NIC gets another place
 * Return: the memory of the service, each piece of which the caller frees, or NULL.
 */
struct tn_soft_block *tn_soft_rma_leave(struct tn_soft_rma *rma);

/* --- regions (soft_region.c) ------------------------------------------------------- */

/**
 * struct tn_soft_share - memory that the shell brings for a region
 * @mem: the region, call->bytes bytes
 * @bits: tn_soft_rma_bits() bytes, which are 0; NULL without TORUS_RMA_HAS_FE
 * @pin: what the shell needs to give @mem back
 * @space: with TORUS_RMA_AT: memory for the addresses of a job; set to NULL if it is used
 * @key: random number
 */
struct tn_soft_share {
	u8 *mem;
	u64 *bits;
	void *pin;
	struct tn_soft_space *space;
	u32 key;
};

/** tn_soft_rma_bits() - Return: bytes of memory for the full/empty bits of a region */
size_t tn_soft_rma_bits(u64 bytes);
/**
 * tn_soft_rma_reserve() - check the call SHARE, and reserve its region, before the memory is made
 * Return: 0 and call->region, or negative errno, with the text in @call.
 */
int tn_soft_rma_reserve(struct tn_soft_context *ctx, struct torus_rma_call *call);
/** tn_soft_rma_unreserve() - end region @i if @ctx has reserved it and not made it */
void tn_soft_rma_unreserve(struct tn_soft_context *ctx, u32 i);
/**
 * tn_soft_rma_share() - make the region that the call has reserved
 * Return: 0, and the NIC has the memory until ops->unmap(); or negative errno, and the text in
 * @call.
 */
int tn_soft_rma_share(struct tn_soft_context *ctx, struct tn_soft_share *share,
		      struct torus_rma_call *call);
/** tn_soft_rma_unshare() - end a region. Return: 0 or negative errno, with the text in @call */
int tn_soft_rma_unshare(struct tn_soft_context *ctx, struct torus_rma_call *call);
/** tn_soft_rma_unshare_all() - end all regions of @ctx. Return: true if none is left */
bool tn_soft_rma_unshare_all(struct tn_soft_context *ctx);
/** tn_soft_rma_settle() - go on with regions that are being closed */
void tn_soft_rma_settle(struct tn_soft_rma *rma);

/* --- addresses (soft_space.c) ------------------------------------------------------ */

/** tn_soft_space_find() - Return: the addresses of @job; NULL: none of its regions has one */
struct tn_soft_space *tn_soft_space_find(const struct tn_soft_rma *rma, u32 job);
/**
 * tn_soft_space_put() - give region @i, which is mapped, the address of the call
 * @spare: memory for a further space; set to NULL if it is used
 * Return: 0 or negative errno, with the text in @call.
 */
int tn_soft_space_put(struct tn_soft_rma *rma, u32 i, struct tn_soft_space **spare,
		      struct torus_rma_call *call);
/** tn_soft_space_drop() - take the address of a region away, if it has one */
void tn_soft_space_drop(struct tn_soft_rma *rma, struct tn_soft_region *r);

/* --- descriptions (soft_list.c) ---------------------------------------------------- */

/** tn_soft_region_get() - answer REGION_GET of @ctx. Return: 0 or -ENOENT */
int tn_soft_region_get(struct tn_soft_context *ctx, struct torus_rma_call *call);
/**
 * struct tn_soft_search - how far WAIT_GET is; all zero at first
 * @at: next entry of the pool
 * @order: the lowest number that was found, if @found; it is that of entry @best
 */
struct tn_soft_search {
	u64 order;
	u32 at;
	u32 best;
	bool found;
};

/**
 * tn_soft_wait_get() - answer WAIT_GET of @ctx
 * A call examines TN_SOFT_SEARCH waiting requests at most, so that the NIC does not stand still.
 * Return: 0 or -ENOENT; -EAGAIN: call again, with the same @search.
 */
int tn_soft_wait_get(struct tn_soft_context *ctx, struct torus_rma_call *call,
		     struct tn_soft_search *search, u64 now);
#define TN_SOFT_SEARCH	256

/** tn_soft_rma_fail() - write the text of an error into @call. Return: @err */
__attribute__((format(printf, 3, 4)))
int tn_soft_rma_fail(struct torus_rma_call *call, int err, const char *fmt, ...);

#endif /* TN_SOFT_RMA_H */
