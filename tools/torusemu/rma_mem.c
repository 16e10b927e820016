// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: memory that processes give by descriptors, and that this process maps. A page of it must
 * not vanish, because an access would be a signal that ends this process with all its NICs. So the
 * memory is a memfd that cannot shrink, and not of huge pages, of which a hole may find none left.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "emu.h"
#include "rma.h"

/* Return: most bytes of all regions of a NIC: half of the machine's memory. */
u64 rma_shared_max(void)
{
	return (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE) / 2;
}

static int check_memfd(int fd, struct torus_rma_call *call)
{
	struct statfs fs;
	struct stat st;
	int seals;

	if (fd == -EMFILE)
		return tn_soft_rma_fail(call, -EMFILE, "%s", RMA_NO_FDS);
	if (fd < 0)
		return tn_soft_rma_fail(call, -EBADF,
					"no file descriptor of memory came with the call");
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC || fstat(fd, &st))
		return tn_soft_rma_fail(call, -EINVAL, "the memory is not a memfd of small pages");
	if (!(seals & F_SEAL_SHRINK))
		return tn_soft_rma_fail(call, -EPERM,
					"the memfd may shrink: it needs F_SEAL_SHRINK");
	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return tn_soft_rma_fail(call, -EPERM, "the memfd is sealed against writing");
	if (!call->bytes || call->bytes > (u64)st.st_size)
		return tn_soft_rma_fail(call, -EINVAL,
				"a region of %llu bytes: must be 1 to %lld, the size of its memfd",
				(unsigned long long)call->bytes, (long long)st.st_size);
	return 0;
}

/* Return: zeroed memory for the full/empty bits; it is not touched before it is used. */
static u64 *make_bits(u64 bytes)
{
	return calloc(1, tn_soft_rma_bits(bytes));
}

static void free_share(struct tn_soft_share *share, u64 bytes)
{
	if (share->mem)
		munmap(share->mem, bytes);
	free(share->bits);
	free(share->space);
}

/* Makes the memory of a region. Return: 0 or a negative errno; then some of it may be there. */
static int make_share(struct tn_soft_share *share, int fd, const struct torus_rma_call *call)
{
	void *mem;

	if (getrandom(&share->key, sizeof(share->key), 0) != sizeof(share->key))
		return -EIO;
	mem = mmap(NULL, call->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	share->mem = mem;
	if (call->flags & TORUS_RMA_HAS_FE)
		share->bits = make_bits(call->bytes);
	if (call->flags & TORUS_RMA_AT)
		share->space = calloc(1, sizeof(*share->space));
	return (call->flags & TORUS_RMA_HAS_FE && !share->bits) ||
	       (call->flags & TORUS_RMA_AT && !share->space) ? -ENOMEM : 0;
}

int rma_share(struct rma_context *ctx, int fd, struct torus_rma_call *call)
{
	struct tn_soft_share share = { 0 };
	int err = check_memfd(fd, call);

	if (!err)
		err = tn_soft_rma_reserve(&ctx->soft, call);
	if (err)
		return err;
	err = make_share(&share, fd, call);
	if (err)
		tn_soft_rma_fail(call, err, "cannot map the memory: %s", strerror(-err));
	else
		err = tn_soft_rma_share(&ctx->soft, &share, call);
	if (err) {
		tn_soft_rma_unreserve(&ctx->soft, call->region);
		free_share(&share, call->bytes);
	}
	else
		free(share.space);
	return err;
}

void rma_unmap(struct tn_soft_rma *rma, struct tn_soft_region *r)
{
	(void)rma;
	munmap(r->mem, r->bytes);
	free(r->bits);
}
