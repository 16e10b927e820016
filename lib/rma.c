// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts of remote memory, and their regions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rma.h"

/* --- contexts --------------------------------------------------------------------- */

/* Return: 0 if the head, which the NIC has written, describes rings that are in the memory. */
static int check_head(struct torus_rma *rma)
{
	const struct torus_rma_head *h = rma->head;

	if (h->magic != TORUS_RMA_MAGIC)
		return lt_rma_fail(rma, -EPROTO, "the memory has no rings: it begins with 0x%x",
				   h->magic);
	if (h->version != TORUS_RMA_VERSION)
		return lt_rma_fail(rma, -EPROTO, "the rings have version %u: must be %u",
				   h->version, TORUS_RMA_VERSION);
	if (h->sq_offset + (uint64_t)h->sq_entries * sizeof(*rma->sq) > rma->bytes ||
	    h->cq_offset + (uint64_t)h->cq_entries * sizeof(*rma->cq) > rma->bytes)
		return lt_rma_fail(rma, -EPROTO, "the rings pass the end of their %zu bytes",
				   rma->bytes);
	return 0;
}

/* Maps the rings. @bytes: their size; 0: that of the file @fd */
static int map_rings(struct torus_rma *rma, int fd, size_t bytes)
{
	struct stat st;
	void *mem;
	int err;

	if (!bytes && fstat(fd, &st))
		return lt_rma_fail(rma, -errno, "the rings: %s", strerror(errno));
	rma->bytes = bytes ? bytes : (size_t)st.st_size;
	if (rma->bytes < sizeof(*rma->head))
		return lt_rma_fail(rma, -EPROTO, "the rings are too small");
	mem = mmap(NULL, rma->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return lt_rma_fail(rma, -errno, "the rings: %s", strerror(errno));
	rma->head = mem;
	err = check_head(rma);
	if (err)
		return err;
	rma->sq = (void *)((char *)mem + rma->head->sq_offset);
	rma->cq = (void *)((char *)mem + rma->head->cq_offset);
	rma->sq_entries = rma->head->sq_entries;
	rma->cq_entries = rma->head->cq_entries;
	rma->kept = calloc(rma->sq_entries, sizeof(*rma->kept));
	return rma->kept ? 0 : lt_rma_fail(rma, -ENOMEM, "out of memory");
}

static int open_rma(struct torus_rma *rma, unsigned int entries)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_OPEN, .version = TORUS_RMA_VERSION,
		.entries = entries ? entries : TORUS_RMA_ENTRIES,
	};
	int fds[TORUS_RMA_FDS] = { -1, -1, -1 };
	int err = lt_rma_call(rma, &call, -1, fds);

	rma->bell = fds[TORUS_RMA_FD_BELL];
	rma->wake = fds[TORUS_RMA_FD_WAKE];
	if (!err && fds[TORUS_RMA_FD_RINGS] < 0)
		err = lt_rma_fail(rma, -EPROTO, "the NIC sent no rings");
	if (!err)
		err = map_rings(rma, fds[TORUS_RMA_FD_RINGS], rma->device ? call.bytes : 0);
	if (fds[TORUS_RMA_FD_RINGS] >= 0)
		close(fds[TORUS_RMA_FD_RINGS]);
	return err;
}

int torus_rma_open(const char *where, unsigned int entries, struct torus_rma **rmap)
{
	int err = lt_rma_connect(where, rmap);

	if (err)
		return err;
	err = open_rma(*rmap, entries);
	if (err) {
		lt_rma_fail_open(err, "%s", (*rmap)->error);
		torus_rma_close(*rmap);
		*rmap = NULL;
	}
	return err;
}

static void free_lt_region(struct lt_region *r)
{
	munmap(r->pub.base, r->pub.bytes);
	free(r);
}

void torus_rma_close(struct torus_rma *rma)
{
	struct lt_region *r;

	if (!rma)
		return;
	if (rma->sock >= 0)
		close(rma->sock);
	if (rma->bell >= 0)
		close(rma->bell);
	if (rma->wake >= 0)
		close(rma->wake);
	if (rma->head)
		munmap(rma->head, rma->bytes);
	while ((r = rma->regions)) {
		rma->regions = r->next;
		free_lt_region(r);
	}
	free(rma->kept);
	free(rma);
}

uint32_t torus_rma_node(const struct torus_rma *rma)
{
	return rma->head->node;
}

uint32_t torus_rma_nodes(const struct torus_rma *rma)
{
	return rma->head->nodes;
}

struct torus_peer torus_rma_self(const struct torus_rma *rma)
{
	return (struct torus_peer) {
		.node = rma->head->node, .context = (uint16_t)rma->head->name,
		.key = (uint32_t)(rma->head->name >> 16),
	};
}

size_t torus_rma_message_max(const struct torus_rma *rma)
{
	return rma->head->message_max;
}

/* --- regions ----------------------------------------------------------------------- */

static int map_region(struct lt_region *r, size_t bytes, int flags, int fd)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (mem == MAP_FAILED)
		return -errno;
	r->pub.base = mem;
	r->pub.bytes = bytes;
	return 0;
}

/* Makes memory that can be shared with torusemu. Return: its descriptor, or a negative errno */
static int make_memfd(struct lt_region *r, size_t bytes)
{
	int fd = memfd_create("torus-region", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = ftruncate(fd, (off_t)bytes) ||
	      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ? -errno :
	      map_region(r, bytes, MAP_SHARED, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Makes the memory of a region. @fdp: set to its descriptor, or -1. Return: 0 or negative errno */
static int make_memory(const struct torus_rma *rma, struct lt_region *r, size_t bytes, int *fdp)
{
	*fdp = -1;
	if (rma->device)	/* shared, so that a child of fork() gets no copy of pinned pages */
		return map_region(r, bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
	*fdp = make_memfd(r, bytes);
	return *fdp < 0 ? *fdp : 0;
}

static int share_memory(struct torus_rma *rma, uint64_t addr, size_t bytes, unsigned int access,
			unsigned int flags, struct torus_region **regionp)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_SHARE, .bytes = bytes, .access = access, .flags = flags,
		.addr = addr,
	};
	struct lt_region *r = calloc(1, sizeof(*r));
	int none[TORUS_RMA_FDS], fd, err;

	*regionp = NULL;
	if (!bytes) {
		free(r);
		return lt_rma_fail(rma, -EINVAL, "a region of 0 bytes: must be 1 or more");
	}
	err = r ? make_memory(rma, r, bytes, &fd) : -ENOMEM;
	if (err) {
		free(r);
		return lt_rma_fail(rma, err, "a region of %zu bytes: %s", bytes, strerror(-err));
	}
	if (rma->device)
		call.memory = (uintptr_t)r->pub.base;
	err = lt_rma_call(rma, &call, fd, none);
	if (fd >= 0)
		close(fd);
	if (err) {
		free_lt_region(r);
		return err;
	}
	r->pub.far = (struct torus_far) {
		.node = torus_rma_node(rma), .region = call.region, .key = call.key,
	};
	r->next = rma->regions;
	rma->regions = r;
	*regionp = &r->pub;
	return 0;
}

int torus_region_new(struct torus_rma *rma, size_t bytes, unsigned int access, unsigned int flags,
		     struct torus_region **regionp)
{
	return share_memory(rma, 0, bytes, access, flags, regionp);
}

int torus_region_at(struct torus_rma *rma, uint64_t addr, size_t bytes, unsigned int access,
		    unsigned int flags, struct torus_region **regionp)
{
	return share_memory(rma, addr, bytes, access, flags | TORUS_RMA_AT, regionp);
}

int torus_region_free(struct torus_rma *rma, struct torus_region *region)
{
	struct torus_rma_call call = { .call = TORUS_RMA_UNSHARE, .region = region->far.region };
	struct lt_region **at = &rma->regions;
	int none[TORUS_RMA_FDS], err;

	while (*at && &(*at)->pub != region)
		at = &(*at)->next;
	if (!*at)
		return lt_rma_fail(rma, -EINVAL, "it is not a region of this context");
	err = lt_rma_call(rma, &call, -1, none);
	if (err)
		return err;
	*at = (*at)->next;
	free_lt_region((struct lt_region *)region);
	return 0;
}

/* --- lists ------------------------------------------------------------------------- */

/*
 * Closes the connection after a list. @err: result of the last call, -ENOENT at the end of the
 * list.
 */
static int end_list(struct torus_rma *rma, int err)
{
	if (err == -ENOENT)
		err = 0;
	if (err < 0)
		lt_rma_fail_open(err, "%s", rma->error);
	torus_rma_close(rma);
	return err;
}

int torus_rma_regions(const char *where,
		      int (*each)(void *ctx, const struct torus_rma_region_info *info), void *ctx)
{
	struct torus_rma_call call = { .call = TORUS_RMA_REGION_GET };
	int none[TORUS_RMA_FDS], stop = 0;
	struct torus_rma *rma;
	int err = lt_rma_connect(where, &rma);

	if (err)
		return err;
	while (!stop && !(err = lt_rma_call(rma, &call, -1, none))) {
		stop = each(ctx, &call.region_info);
		call = (struct torus_rma_call) {
			.call = TORUS_RMA_REGION_GET, .region = call.region_info.region + 1,
		};
	}
	err = end_list(rma, err);
	return stop ? stop : err;
}

int torus_rma_waits(const char *where,
		    int (*each)(void *ctx, const struct torus_rma_wait_info *info), void *ctx)
{
	struct torus_rma_call call = { .call = TORUS_RMA_WAIT_GET };
	int none[TORUS_RMA_FDS], stop = 0;
	struct torus_rma *rma;
	int err = lt_rma_connect(where, &rma);

	if (err)
		return err;
	while (!stop && !(err = lt_rma_call(rma, &call, -1, none))) {
		stop = each(ctx, &call.wait_info);
		call = (struct torus_rma_call) {
			.call = TORUS_RMA_WAIT_GET, .bytes = call.wait_info.number + 1,
		};
	}
	err = end_list(rma, err);
	return stop ? stop : err;
}
