// SPDX-License-Identifier: GPL-2.0-only
/* The memory of rings, and the callbacks of contexts; see rma.h. */
#include "rma.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "emu.h"

static struct rma_context *context_of(struct tn_soft_context *ctx)
{
	return container_of(ctx, struct rma_context, soft);
}

/* --- callbacks of contexts ------------------------------------------------------- */

/* If the pipe is full, the process will be woken by what is in it. */
static void wake_process(struct tn_soft_context *ctx)
{
	ssize_t n = write(context_of(ctx)->wake, "", 1);

	(void)n;
}

static void leave_context(struct tn_soft_context *ctx)
{
	rma_end(context_of(ctx));
}

static void free_context(struct tn_soft_context *ctx)
{
	free(context_of(ctx)->op);
	free(context_of(ctx));
}

static void *make_block(size_t bytes)
{
	return calloc(1, bytes);
}

static const struct tn_soft_rma_ops soft_calls = {
	.wake = wake_process, .unmap = rma_unmap, .alloc = make_block, .free = free,
	.left = leave_context, .ended = free_context,
};

void rma_init(struct rma *rma, struct emu *emu)
{
	rma->emu = emu;
	rma->soft.soft = &emu->soft;
	rma->soft.ops = &soft_calls;
	rma->soft.bytes_max = rma_shared_max();
}

/* --- the service ------------------------------------------------------------------- */

int rma_begin(struct emu *e, struct torus_rma_call *call)
{
	struct tn_soft_rma *rma = &e->rma->soft;
	void *memory = NULL;
	u64 seed = 0;
	int err;

	if (!rma->memory && e->soft.hw.placed) {
		if (getrandom(&seed, sizeof(seed), 0) < 0)
			return tn_soft_rma_fail(call, -errno, "%s", strerror(errno));
		memory = calloc(1, tn_soft_rma_size(rma));
	}
	err = tn_soft_rma_begin(rma, &memory, seed, loop_now(), call);
	free(memory);
	return err;
}

bool rma_step(struct emu *e, u64 now)
{
	return e->rma && tn_soft_rma_step(&e->rma->soft, now);
}

u64 rma_expiry(const struct emu *e)
{
	return e->rma ? tn_soft_rma_expiry(&e->rma->soft) : ~0ull;
}

void rma_leave(struct emu *e)
{
	struct tn_soft_block *memory = e->rma ? tn_soft_rma_leave(&e->rma->soft) : NULL, *next;

	for (; memory; memory = next) {
		next = memory->next;
		free(memory);
	}
}

/* --- rings ------------------------------------------------------------------------- */

/* Return: descriptor of @bytes of memory that keep their size; or a negative errno. */
static int make_shared(size_t bytes)
{
	int fd = memfd_create("torus-rma", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int rma_ring_new(struct rma_context *ctx, u32 entries, int *fd)
{
	size_t bytes = tn_soft_rma_ring_size(entries);
	void *shared;
	u32 key;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	*fd = make_shared(bytes);
	if (*fd < 0)
		return *fd;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	ctx->op = calloc(1, tn_soft_rma_ops_size(entries));
	if (shared == MAP_FAILED || !ctx->op) {
		if (shared != MAP_FAILED)
			munmap(shared, bytes);
		free(ctx->op);
		ctx->op = NULL;
		close(*fd);
		return -ENOMEM;
	}
	ctx->shared = shared;
	ctx->bytes = bytes;
	tn_soft_rma_open(&ctx->soft, shared, ctx->op, entries, key);
	return 0;
}

void rma_end(struct rma_context *ctx)
{
	void *shared = ctx->shared;
	size_t bytes = ctx->bytes;
	struct emu *e = ctx->emu;

	loop_del(e->loop, &ctx->watch);
	if (ctx->bell.fd >= 0)
		loop_del(e->loop, &ctx->bell);
	if (ctx->wake >= 0)
		close(ctx->wake);
	tn_soft_rma_end(&ctx->soft, loop_now());
	if (!shared)
		return;
	munmap(shared, bytes);
	chassis_wake(e->chassis, e);
}
