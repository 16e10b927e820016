// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: memory that processes give by descriptors, and that this process maps. A page of it must
 * not vanish, because an access would be a signal that ends this process with all its NICs. So the
 * memory is a memfd that cannot shrink, and not of huge pages, of which a hole may find none left.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "emu.h"
#include "rma.h"

#define ACCESS_ALL	(TORUS_RMA_ACCESS_READ | TORUS_RMA_ACCESS_WRITE | \
			 TORUS_RMA_ACCESS_AMO | TORUS_RMA_ACCESS_FE)
#define FLAGS_FE	(TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY)
#define FLAGS_ALL	(FLAGS_FE | TORUS_RMA_AT)
#define GENERATION	24		/* position of the generation in a key, bits */

_Static_assert((int)ACCESS_ALL == (int)TN_ACCESS_ALL &&
	       (int)TORUS_RMA_ACCESS_AMO == (int)TN_ACCESS_AMO, "access");

int rma_fail(struct torus_rma_call *call, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->why, sizeof(call->why), fmt, ap);
	va_end(ap);
	return err;
}

/* Return: most bytes of all regions of a NIC: half of the machine's memory. */
static u64 shared_max(void)
{
	return (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE) / 2;
}

static int check_memfd(int fd, struct torus_rma_call *call)
{
	struct statfs fs;
	struct stat st;
	int seals;

	if (fd == -EMFILE)
		return rma_fail(call, -EMFILE, "%s", RMA_NO_FDS);
	if (fd < 0)
		return rma_fail(call, -EBADF, "no file descriptor of memory came with the call");
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC || fstat(fd, &st))
		return rma_fail(call, -EINVAL, "the memory is not a memfd of small pages");
	if (!(seals & F_SEAL_SHRINK))
		return rma_fail(call, -EPERM, "the memfd may shrink: it needs F_SEAL_SHRINK");
	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return rma_fail(call, -EPERM, "the memfd is sealed against writing");
	if (!call->bytes || call->bytes > (u64)st.st_size)
		return rma_fail(call, -EINVAL,
				"a region of %llu bytes: must be 1 to %lld, the size of its memfd",
				(unsigned long long)call->bytes, (long long)st.st_size);
	return 0;
}

/** struct share_sum - number and bytes of the regions that some users have at a NIC */
struct share_sum {
	u64 bytes;
	u32 regions;
};

/* Sums up the regions of user @job, or of all users but root if that is 0. */
static struct share_sum sum_shares(const struct rma *rma, u16 job)
{
	struct share_sum sum = { 0 };

	for (int i = 0; i < RMA_REGIONS_MAX; i++) {
		const struct rma_region *r = &rma->owned[i];

		if (!r->ctx || !r->ctx->job || (job && r->ctx->job != job))
			continue;
		sum.bytes += r->bytes;
		sum.regions++;
	}
	return sum;
}

/* One user may have a quarter of the regions and half of the bytes; all leave some to root. */
static int check_user(const struct rma_context *ctx, struct torus_rma_call *call)
{
	const struct rma *rma = ctx->emu->rma;
	struct share_sum own = sum_shares(rma, ctx->job), all = sum_shares(rma, 0);
	u64 max = shared_max();

	if (!ctx->job)
		return 0;
	if (own.regions >= RMA_USER_REGIONS)
		return rma_fail(call, -ENOSPC, "user %u has %u regions, the limit is %u", ctx->job,
				own.regions, RMA_USER_REGIONS);
	if (all.regions >= RMA_REGIONS_MAX - RMA_ROOT_REGIONS)
		return rma_fail(call, -ENOSPC, "all users have %u regions, the limit is %u",
				all.regions, RMA_REGIONS_MAX - RMA_ROOT_REGIONS);
	if (call->bytes > max || own.bytes + call->bytes > max / 2 ||
	    all.bytes + call->bytes > max - max / 8)
		return rma_fail(call, -ENOMEM,
				"a region of %llu bytes: user %u has %llu, all users %llu; "
				"the limits are %llu and %llu", (unsigned long long)call->bytes,
				ctx->job, (unsigned long long)own.bytes,
				(unsigned long long)all.bytes, (unsigned long long)(max / 2),
				(unsigned long long)(max - max / 8));
	return 0;
}

static int check_share(const struct rma_context *ctx, struct torus_rma_call *call)
{
	u64 left = shared_max() - ctx->emu->rma->shared;

	if (call->access & ~ACCESS_ALL)
		return rma_fail(call, -EINVAL, "access 0x%x: must be within the mask 0x%x",
				call->access, ACCESS_ALL);
	if (call->flags & ~FLAGS_ALL)
		return rma_fail(call, -EINVAL, "flags 0x%x: must be within the mask 0x%x",
				call->flags, FLAGS_ALL);
	if (call->flags & TORUS_RMA_HAS_FE ? call->bytes % sizeof(u64) != 0 :
	    (call->access & TORUS_RMA_ACCESS_FE || call->flags & FLAGS_FE))
		return rma_fail(call, -EINVAL,
				"full/empty bits: the region must be made with them, "
				"and have whole words of 8 bytes");
	if (ctx->regions >= RMA_CONTEXT_REGIONS)
		return rma_fail(call, -ENOSPC, "the context has %u regions, the limit is %u",
				ctx->regions, RMA_CONTEXT_REGIONS);
	if (call->bytes > left)
		return rma_fail(call, -ENOMEM,
				"a region of %llu bytes: this NIC may have %llu more",
				(unsigned long long)call->bytes, (unsigned long long)left);
	return check_user(ctx, call);
}

/* Return: a free index; -ENOSPC: there is none. */
static int find_index(const struct rma *rma)
{
	for (int i = 0; i < RMA_REGIONS_MAX; i++)
		if (!rma->owned[i].ctx)
			return i;
	return -ENOSPC;
}

/* Return: a key of the next generation; 0: there are no random numbers. */
static u32 make_key(u32 old)
{
	u32 key = 0;

	while (!(key & ((1u << GENERATION) - 1)))
		if (getrandom(&key, sizeof(key), 0) != sizeof(key))
			return 0;
	return (key & ((1u << GENERATION) - 1)) | ((old >> GENERATION) + 1) << GENERATION;
}

static void free_owned(struct rma *rma, struct rma_region *r)
{
	munmap(r->mem, r->bytes);
	free(r->bits);
	rma->shared -= r->bytes;
	r->ctx->regions--;
	*r = (struct rma_region) { 0 };
}

/*
 * Makes the full/empty bits of @r, in memory that is zero and not touched before it is used: the
 * bits of a large region would keep all NICs waiting. Return: 0 or -ENOMEM
 */
static int make_bits(struct rma_region *r, bool empty)
{
	size_t words = (r->bytes / sizeof(u64) + 63) / 64;

	r->bits = calloc(2 * words, sizeof(u64));
	if (!r->bits)
		return -ENOMEM;
	r->fe = (struct tn_fe_bits) {
		.full = r->bits, .waits = r->bits + words, .n = r->bytes / sizeof(u64),
		.inverted = !empty,
	};
	return 0;
}

static int map_region(struct rma_context *ctx, struct rma_region *r, int fd,
		      const struct torus_rma_call *call)
{
	void *mem = mmap(NULL, call->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return -errno;
	*r = (struct rma_region) { .ctx = ctx, .mem = mem, .bytes = call->bytes };
	ctx->regions++;
	ctx->emu->rma->shared += call->bytes;
	if (call->flags & TORUS_RMA_HAS_FE &&
	    make_bits(r, call->flags & TORUS_RMA_STARTS_EMPTY)) {
		free_owned(ctx->emu->rma, r);
		return -ENOMEM;
	}
	return 0;
}

int rma_share(struct rma_context *ctx, int fd, struct torus_rma_call *call)
{
	struct rma *rma = ctx->emu->rma;
	int i = find_index(rma), err = check_memfd(fd, call);
	u32 key;

	if (!err)
		err = check_share(ctx, call);
	if (err)
		return err;
	if (i < 0)
		return rma_fail(call, i, "the NIC has %d regions, and may not have more",
				RMA_REGIONS_MAX);
	key = make_key(rma->region[i].key);
	err = key ? map_region(ctx, &rma->owned[i], fd, call) : -EIO;
	if (err)
		return rma_fail(call, err, "cannot map the memory: %s", strerror(-err));
	if (call->flags & TORUS_RMA_AT) {
		err = rma_space_put(rma, (u32)i, call);
		if (err) {
			free_owned(rma, &rma->owned[i]);
			return err;
		}
	}
	rma->region[i] = (struct tn_rma_region) {
		.bytes = call->bytes, .key = key, .job = ctx->job, .access = (u16)call->access,
		.fe = rma->owned[i].bits ? &rma->owned[i].fe : NULL,
	};
	call->region = (u32)i;
	call->key = key;
	return 0;
}

/* Continues to close a region. Return: true if it is closed. */
static bool close_region(struct rma *rma, struct emu *e, u32 i)
{
	struct rma_region *r = &rma->owned[i];
	struct tn_rma_owner *owner = tn_nic_rma_owner(e->soft.nic);

	rma_space_drop(rma, r);
	rma->ending += !r->ends;
	r->ends = true;
	if (owner && tn_rma_owner_close(owner, i) == -EAGAIN)
		return false;
	rma->ending--;
	rma->region[i].bytes = 0;
	rma->region[i].fe = NULL;
	free_owned(rma, r);
	return true;
}

int rma_unshare(struct rma_context *ctx, u32 region, struct torus_rma_call *call)
{
	struct rma *rma = ctx->emu->rma;

	if (region >= RMA_REGIONS_MAX || rma->owned[region].ctx != ctx || rma->owned[region].ends)
		return rma_fail(call, -ENOENT, "this context has no region %u", region);
	if (tn_rma_ring_uses(&ctx->ring, region))
		return rma_fail(call, -EBUSY, "open requests of this context use region %u",
				region);
	close_region(rma, ctx->emu, region);
	return 0;
}

bool rma_unshare_all(struct rma_context *ctx)
{
	struct rma *rma = ctx->emu->rma;

	for (u32 i = 0; ctx->regions && i < RMA_REGIONS_MAX; i++)
		if (rma->owned[i].ctx == ctx)
			close_region(rma, ctx->emu, i);
	return !ctx->regions;
}

void rma_settle_regions(struct emu *e)
{
	struct rma *rma = e->rma;

	/*
	 * All regions share the memory for replies: if there is none for one region, the others
	 * have to wait, too.
	 */
	for (u32 i = 0; rma->ending && i < RMA_REGIONS_MAX; i++)
		if (rma->owned[i].ends && !close_region(rma, e, i))
			return;
}
