// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts of remote memory and their regions: calls to the NIC (include/uapi/torus_rma.h). */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rma.h"

#define CALL_TIME_MS	5000

static _Thread_local char open_error[256];

const char *torus_rma_error(const struct torus_rma *rma)
{
	return rma ? rma->error : open_error;
}

__attribute__((format(printf, 2, 3)))
static int fail_open(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(open_error, sizeof(open_error), fmt, ap);
	va_end(ap);
	return err;
}

int lt_rma_fail(struct torus_rma *rma, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rma->error, sizeof(rma->error), fmt, ap);
	va_end(ap);
	return err;
}

/* --- calls ----------------------------------------------------------------------- */

static int send_call(const struct torus_rma *rma, struct torus_rma_call *call, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		mh.msg_control = control.room;
		mh.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	do {
		n = sendmsg(rma->sock, &mh, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 0;
	return errno == EPIPE || errno == ECONNRESET ? -ENODEV : -errno;
}

static void keep_fds(struct msghdr *mh, int *fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(mh);

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(TORUS_RMA_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), TORUS_RMA_FDS * sizeof(int));
}

/* Receives an answer. @fds: set to the TORUS_RMA_FDS descriptors, if the answer has any. */
static int take_rma_answer(const struct torus_rma *rma, struct torus_rma_call *call, int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TORUS_RMA_FDS * sizeof(int))];
	} control;
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.room, .msg_controllen = sizeof(control.room),
	};
	struct pollfd p = { rma->sock, POLLIN, 0 };
	unsigned int reset = 0;
	ssize_t n;

	do {
		n = poll(&p, 1, CALL_TIME_MS);
		if (n == 1)
			n = recvmsg(rma->sock, &mh, MSG_CMSG_CLOEXEC);
		else if (!n)
			return -ETIMEDOUT;
		/* reported once, before an answer that came earlier */
		reset += n < 0 && errno == ECONNRESET;
	} while (n < 0 && (errno == EINTR || (errno == ECONNRESET && reset == 1)));
	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : -ENODEV;
	keep_fds(&mh, fds);
	return n == sizeof(*call) ? 0 : -EBADMSG;
}

/* Sends a call to the NIC, with descriptor @fd unless that is -1, and receives the answer. */
static int call_nic(struct torus_rma *rma, struct torus_rma_call *call, int fd, int *fds)
{
	int err = send_call(rma, call, fd);

	/* a NIC that refuses a connection sends the reason before it closes the connection */
	if (!err || err == -ENODEV)
		err = take_rma_answer(rma, call, fds);
	if (err)
		return lt_rma_fail(rma, err, "no answer of the NIC: %s", strerror(-err));
	if (!call->error)
		return 0;
	call->why[sizeof(call->why) - 1] = '\0';
	return lt_rma_fail(rma, call->error < 0 ? call->error : -EBADMSG, "%s", call->why);
}

/* --- contexts --------------------------------------------------------------------- */

/* Finds the socket of the NIC, if there is only one. Return: 0 or a negative errno */
static int find_only(char *where, size_t size)
{
	const char *dir = secure_getenv("TORUS_RUNDIR");
	char pattern[256];
	int err = -ENODEV;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/*.rma", dir && *dir ? dir : "/run/torus");
	if (glob(pattern, 0, NULL, &g))
		return fail_open(-ENODEV, "%s: no NIC offers remote memory; "
				 "unix:PATH, also in TORUS_RMA, names its socket", pattern);
	if (g.gl_pathc > 1)
		err = fail_open(-ENOTUNIQ, "more than one NIC offers remote memory (%.100s, ...); "
				"set TORUS_RMA to one of them", g.gl_pathv[0]);
	else if (snprintf(where, size, "unix:%s", g.gl_pathv[0]) < (int)size)
		err = 0;
	globfree(&g);
	return err;
}

static int connect_socket(struct torus_rma *rma, const char *where)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *path = where + strlen("unix:");
	int err;

	if (strncmp(where, "unix:", strlen("unix:")))
		return lt_rma_fail(rma, -EINVAL, "'%s': must be unix:PATH", where);
	if (!*path || strlen(path) >= sizeof(sa.sun_path))
		return lt_rma_fail(rma, -ENAMETOOLONG, "'%s': a path has 1 to %zu bytes", where,
				   sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	rma->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	do {
		err = rma->sock >= 0 && !connect(rma->sock, (struct sockaddr *)&sa, sizeof(sa)) ?
		      0 : -errno;
	} while (err == -EINTR);
	return err ? lt_rma_fail(rma, err, "%s: %s", where, strerror(-err)) : 0;
}

/* Return: true if the head, which the NIC has written, describes rings that are in the memory. */
static bool is_head_right(const struct torus_rma *rma)
{
	const struct torus_rma_head *h = rma->head;

	return h->magic == TORUS_RMA_MAGIC && h->version == TORUS_RMA_VERSION &&
	       h->sq_offset + (uint64_t)h->sq_entries * sizeof(*rma->sq) <= rma->bytes &&
	       h->cq_offset + (uint64_t)h->cq_entries * sizeof(*rma->cq) <= rma->bytes;
}

static int map_rings(struct torus_rma *rma, int fd)
{
	struct stat st;
	void *mem;

	if (fstat(fd, &st))
		return lt_rma_fail(rma, -errno, "the rings: %s", strerror(errno));
	rma->bytes = (size_t)st.st_size;
	if (rma->bytes < sizeof(*rma->head))
		return lt_rma_fail(rma, -EPROTO, "the rings are too small");
	mem = mmap(NULL, rma->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return lt_rma_fail(rma, -errno, "the rings: %s", strerror(errno));
	rma->head = mem;
	if (!is_head_right(rma))
		return lt_rma_fail(rma, -EPROTO, "the rings are not of version %d",
				   TORUS_RMA_VERSION);
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
	int err = call_nic(rma, &call, -1, fds);

	rma->bell = fds[TORUS_RMA_FD_BELL];
	rma->wake = fds[TORUS_RMA_FD_WAKE];
	if (!err && fds[TORUS_RMA_FD_RINGS] < 0)
		err = lt_rma_fail(rma, -EPROTO, "the NIC sent no rings");
	if (!err)
		err = map_rings(rma, fds[TORUS_RMA_FD_RINGS]);
	if (fds[TORUS_RMA_FD_RINGS] >= 0)
		close(fds[TORUS_RMA_FD_RINGS]);
	return err;
}

/* Connects to a NIC. Return: 0 or a negative errno, with its text for torus_rma_error(NULL) */
static int connect_nic(const char *where, struct torus_rma **rmap)
{
	char only[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	struct torus_rma *rma;
	int err;

	*rmap = NULL;
	if (!where)
		where = secure_getenv("TORUS_RMA");
	if (!where || !*where) {
		err = find_only(only, sizeof(only));
		if (err)
			return err;
		where = only;
	}
	rma = calloc(1, sizeof(*rma));
	if (!rma)
		return fail_open(-ENOMEM, "out of memory");
	rma->sock = rma->bell = rma->wake = -1;
	err = connect_socket(rma, where);
	if (err) {
		fail_open(err, "%s", rma->error);
		torus_rma_close(rma);
		return err;
	}
	*rmap = rma;
	return 0;
}

int torus_rma_open(const char *where, unsigned int entries, struct torus_rma **rmap)
{
	int err = connect_nic(where, rmap);

	if (err)
		return err;
	err = open_rma(*rmap, entries);
	if (err) {
		fail_open(err, "%s", (*rmap)->error);
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

/* Makes memory that can be shared with the NIC. Return: its descriptor, or a negative errno */
static int make_memory(struct lt_region *r, size_t bytes)
{
	int fd = memfd_create("torus-region", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	void *mem;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (mem != MAP_FAILED) {
			r->pub.base = mem;
			r->pub.bytes = bytes;
			return fd;
		}
	}
	err = -errno;
	close(fd);
	return err;
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
	fd = r ? make_memory(r, bytes) : -ENOMEM;
	if (fd < 0) {
		free(r);
		return lt_rma_fail(rma, fd, "a region of %zu bytes: %s", bytes, strerror(-fd));
	}
	err = call_nic(rma, &call, fd, none);
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
	err = call_nic(rma, &call, -1, none);
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
		fail_open(err, "%s", rma->error);
	torus_rma_close(rma);
	return err;
}

int torus_rma_regions(const char *where,
		      int (*each)(void *ctx, const struct torus_rma_region_info *info), void *ctx)
{
	struct torus_rma_call call = { .call = TORUS_RMA_REGION_GET };
	int none[TORUS_RMA_FDS], stop = 0;
	struct torus_rma *rma;
	int err = connect_nic(where, &rma);

	if (err)
		return err;
	while (!stop && !(err = call_nic(rma, &call, -1, none))) {
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
	int err = connect_nic(where, &rma);

	if (err)
		return err;
	while (!stop && !(err = call_nic(rma, &call, -1, none))) {
		stop = each(ctx, &call.wait_info);
		call = (struct torus_rma_call) {
			.call = TORUS_RMA_WAIT_GET, .bytes = call.wait_info.number + 1,
		};
	}
	err = end_list(rma, err);
	return stop ? stop : err;
}
