// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests and completions of remote memory: the process's side of include/uapi/torus_rma.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rma.h"

static uint32_t load_word(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store_word(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static void full_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Rings the doorbell if the NIC sleeps with one of the reasons @when. A process that submits faster
 * than the NIC wakes up would ring for each request; once is enough. A NIC that does not count its
 * naps leaves their number 0.
 */
static void ring_bell(struct torus_rma *rma, uint32_t when)
{
	uint32_t naps;

	full_barrier();
	naps = load_word(&rma->head->naps);
	if (!(load_word(&rma->head->sleeps) & when) || (naps && naps == rma->rung))
		return;
	rma->rung = naps;
	eventfd_write(rma->bell, 1);
}

/* --- requests ---------------------------------------------------------------------- */

static int submit_ask(struct torus_rma *rma, const struct torus_far *far, struct torus_rma_ask *ask)
{
	uint32_t broken = load_word(&rma->head->broken);

	if (broken)
		return lt_rma_fail(rma, -EPROTO, "the rings were broken (%u)", broken);
	if (rma->tail - load_word(&rma->head->sq_head) >= rma->sq_entries)
		return lt_rma_fail(rma, -EAGAIN, "the ring is full");
	if (far)
		ask->node = far->node;
	if (far && far->region != TORUS_RMA_BY_ADDRESS) {
		ask->flags |= TORUS_RMA_KEYED;
		ask->region = far->region;
		ask->key = far->key;
	}
	if (rma->fence && ask->op != TORUS_RMA_CANCEL && ask->op != TORUS_RMA_RECV) {
		ask->flags |= TORUS_RMA_FENCE;
		rma->fence = false;
	}
	rma->sq[rma->tail & (rma->sq_entries - 1)] = *ask;
	store_word(&rma->head->sq_tail, ++rma->tail);
	rma->open++;
	ring_bell(rma, TORUS_RMA_ASLEEP);
	return 0;
}

/* Sets the region and offset of the data of @ask; the data must be in a region of the context. */
static int set_local(struct torus_rma *rma, struct torus_rma_ask *ask, const void *at, size_t bytes)
{
	const struct lt_region *r;

	if (bytes > UINT32_MAX)
		return lt_rma_fail(rma, -EMSGSIZE, "%zu bytes: must be at most %u", bytes,
				   UINT32_MAX);
	ask->bytes = (uint32_t)bytes;
	if (!bytes)
		return 0;
	for (r = rma->regions; r; r = r->next) {
		size_t offset = (size_t)((const char *)at - (const char *)r->pub.base);

		if (at < r->pub.base || offset >= r->pub.bytes || bytes > r->pub.bytes - offset)
			continue;
		ask->local = r->pub.far.region;
		ask->offset = offset;
		return 0;
	}
	return lt_rma_fail(rma, -EFAULT, "%zu bytes are not in a region of this context", bytes);
}

/* Submits a PUT or SEND of the @bytes bytes at @from. */
static int submit_data(struct torus_rma *rma, const struct torus_far *far, const void *from,
		       size_t bytes, struct torus_rma_ask *ask)
{
	int err = 0;

	if (bytes <= sizeof(ask->offset)) {
		ask->flags |= TORUS_RMA_INLINE;
		ask->bytes = (uint32_t)bytes;
		memcpy(&ask->offset, from, bytes);
	} else {
		err = set_local(rma, ask, from, bytes);
	}
	return err ? err : submit_ask(rma, far, ask);
}

int torus_rma_put(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      const void *from, size_t bytes, uint64_t cookie)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_PUT, .addr = offset, .cookie = cookie };

	return submit_data(rma, far, from, bytes, &ask);
}

int torus_rma_put_notify(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		     const void *from, size_t bytes, uint64_t word, uint64_t add, uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.op = TORUS_RMA_PUT, .flags = TORUS_RMA_NOTIFY, .addr = offset, .value = add,
		.compare = word, .cookie = cookie,
	};

	return submit_data(rma, far, from, bytes, &ask);
}

int torus_rma_get(struct torus_rma *rma, void *to, const struct torus_far *far, uint64_t offset,
	      size_t bytes, uint64_t cookie)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_GET, .addr = offset, .cookie = cookie };
	int err = set_local(rma, &ask, to, bytes);

	return err ? err : submit_ask(rma, far, &ask);
}

static int submit_amo(struct torus_rma *rma, const struct torus_far *far, enum torus_rma_amo amo,
		      enum torus_rma_type type, struct torus_rma_ask *ask)
{
	ask->op = TORUS_RMA_AMO;
	ask->word = (uint16_t)TORUS_RMA_WORD_AMO((unsigned int)amo & 7, (unsigned int)type & 3);
	if ((unsigned int)amo > TORUS_RMA_CAS || (unsigned int)type > TORUS_RMA_S64)
		return lt_rma_fail(rma, -EINVAL,
				   "atomic operation %u of type %u: must be 0 to %u of type 0 to "
				   "%u", amo, type, TORUS_RMA_CAS, TORUS_RMA_S64);
	return submit_ask(rma, far, ask);
}

int torus_rma_amo(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand, uint64_t compare,
	      uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.addr = offset, .value = operand, .compare = compare, .cookie = cookie,
	};

	return submit_amo(rma, far, amo, type, &ask);
}

int torus_rma_amo_post(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		   enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand,
		   uint64_t compare, uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.flags = TORUS_RMA_POSTED, .addr = offset, .value = operand, .compare = compare,
		.cookie = cookie,
	};

	return submit_amo(rma, far, amo, type, &ask);
}

int torus_rma_fe(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	     enum torus_rma_fe fe, enum torus_rma_state q, enum torus_rma_state r, uint64_t value,
	     uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.op = TORUS_RMA_FE, .addr = offset, .value = value, .cookie = cookie,
		.word = (uint16_t)(TORUS_RMA_WORD_FE((unsigned int)fe & 7, (unsigned int)q & 3,
						     (unsigned int)r & 3) |
				   TORUS_RMA_WORD_AMO(TORUS_RMA_ADD, TORUS_RMA_U64)),
	};

	if ((unsigned int)fe > TORUS_RMA_PURGE0 || (unsigned int)q > TORUS_RMA_ANY ||
	    (unsigned int)r > TORUS_RMA_ANY)
		return lt_rma_fail(rma, -EINVAL, "full/empty operation %u from %u to %u: "
				   "must be 0 to %u, from 0 to %u, to 0 to %u", fe, q, r,
				   TORUS_RMA_PURGE0, TORUS_RMA_ANY, TORUS_RMA_ANY);
	return submit_ask(rma, far, &ask);
}

int torus_rma_until(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	       enum torus_rma_cmp cmp, enum torus_rma_type type, uint64_t value, uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.op = TORUS_RMA_FE, .addr = offset, .value = value, .cookie = cookie,
		.word = (uint16_t)(TORUS_RMA_WORD_FE(TORUS_RMA_WAIT, TORUS_RMA_ANY,
						     TORUS_RMA_ANY) |
				   TORUS_RMA_WORD_CMP((unsigned int)cmp & 7) |
				   TORUS_RMA_WORD_AMO(0, (unsigned int)type & 3)),
	};

	if ((unsigned int)cmp > TORUS_RMA_GE || (unsigned int)type > TORUS_RMA_S64)
		return lt_rma_fail(rma, -EINVAL,
				   "comparison %u of type %u: must be 0 to %u of type 0 to %u", cmp,
				   type, TORUS_RMA_GE, TORUS_RMA_S64);
	return submit_ask(rma, far, &ask);
}

int torus_rma_send(struct torus_rma *rma, const struct torus_peer *to, const void *from,
		   size_t bytes, uint64_t tag, uint64_t cookie)
{
	struct torus_rma_ask ask = {
		.op = TORUS_RMA_SEND, .node = to->node, .value = tag, .cookie = cookie,
		.addr = (uint64_t)to->key << 16 | to->context,
	};

	if (to->context > UINT16_MAX)
		return lt_rma_fail(rma, -EINVAL, "context %u: must be 0 to %u", to->context,
				   UINT16_MAX);
	return submit_data(rma, NULL, from, bytes, &ask);
}

int torus_rma_recv(struct torus_rma *rma, void *to, size_t bytes, uint64_t cookie)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_RECV, .cookie = cookie };
	int err = set_local(rma, &ask, to, bytes);

	if (!err && rma->recvs + rma->kept_n >= rma->sq_entries)
		err = lt_rma_fail(rma, -EAGAIN,
				  "%u receives are posted or not taken: the limit is %u",
				  rma->recvs + rma->kept_n, rma->sq_entries);
	if (!err)
		err = submit_ask(rma, NULL, &ask);
	rma->recvs += !err;
	return err;
}

int torus_rma_cancel(struct torus_rma *rma, uint64_t of, uint64_t cookie)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_CANCEL, .value = of, .cookie = cookie };

	return submit_ask(rma, NULL, &ask);
}

void torus_rma_fence(struct torus_rma *rma)
{
	rma->fence = true;
}

/* --- completions --------------------------------------------------------------------- */

uint64_t torus_rma_open_requests(const struct torus_rma *rma)
{
	return rma->open + rma->kept_n;
}

/* Reads the descriptor until it is empty, so that it becomes readable only by the next wake-up. */
static void drain_wake(const struct torus_rma *rma)
{
	char woken[64];

	while (read(rma->wake, woken, sizeof(woken)) == sizeof(woken))
		;
}

/* Reads at most @n completions from the ring. Return: their number */
static unsigned int read_ends(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n)
{
	uint32_t ready = load_word(&rma->head->cq_tail) - rma->taken, i;

	if (rma->head->wants) {
		store_word(&rma->head->wants, 0);
		drain_wake(rma);
	}
	if (n > ready)
		n = ready;
	for (i = 0; i < n; i++) {
		ends[i] = rma->cq[rma->taken++ & (rma->cq_entries - 1)];
		rma->recvs -= ends[i].op == TORUS_RMA_RECV;
	}
	if (!n)
		return 0;
	rma->open -= n;
	store_word(&rma->head->cq_head, rma->taken);
	ring_bell(rma, TORUS_RMA_CQ_FULL);
	return n;
}

unsigned int torus_rma_poll(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && rma->kept_n; i++) {
		ends[i] = rma->kept[rma->kept_at++ & (rma->sq_entries - 1)];
		rma->kept_n--;
	}
	return i + read_ends(rma, ends + i, n - i);
}

/* Return: true if there is a completion in the ring; else the NIC wakes the process at the next. */
static bool arm_ring(struct torus_rma *rma)
{
	store_word(&rma->head->wants, 1);
	full_barrier();
	return load_word(&rma->head->cq_tail) != rma->taken;
}

bool torus_rma_arm(struct torus_rma *rma)
{
	return arm_ring(rma) || rma->kept_n;
}

int torus_rma_fd(const struct torus_rma *rma)
{
	return rma->wake;
}

static int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Waits until there is a completion in the ring, or until @until. Return: 0 or a negative errno */
static int sleep_until(struct torus_rma *rma, int64_t until)
{
	/* A socket is readable only at the end of the NIC; the device then hangs up. */
	struct pollfd p[] = {
		{ rma->wake, POLLIN, 0 }, { rma->sock, rma->device ? 0 : POLLIN, 0 },
	};
	int64_t left = until - clock_ms();

	if (arm_ring(rma))
		return 0;
	if (until >= 0 && left <= 0)
		return lt_rma_fail(rma, -ETIMEDOUT, "no request has ended in time");
	if (poll(p, 2, until < 0 ? -1 : (int)left) < 0 && errno != EINTR)
		return lt_rma_fail(rma, -errno, "poll: %s", strerror(errno));
	if (p[1].revents)
		return lt_rma_fail(rma, -ENODEV, "the NIC has ended, or has lost its place");
	return 0;
}

int torus_rma_wait(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n,
		   int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
	unsigned int got;
	int err;

	while (!(got = torus_rma_poll(rma, ends, n)) && n) {
		err = sleep_until(rma, until);
		if (err)
			return err;
	}
	return (int)got;
}

int torus_rma_quiet(struct torus_rma *rma, int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
	struct torus_rma_end end, bad = { .status = TORUS_RMA_DONE };
	char text[128];
	int err;

	while (rma->open > rma->recvs) {
		if (!read_ends(rma, &end, 1)) {
			err = sleep_until(rma, until);
			if (err)
				return err;
		} else if (end.op == TORUS_RMA_RECV) {
			rma->kept[(rma->kept_at + rma->kept_n++) & (rma->sq_entries - 1)] = end;
		} else if (end.status != TORUS_RMA_DONE && bad.status == TORUS_RMA_DONE) {
			bad = end;
		}
	}
	if (bad.status == TORUS_RMA_DONE)
		return 0;
	return lt_rma_fail(rma, -EIO, "request %llu to node %u: %s", (unsigned long long)bad.cookie,
			   bad.node, torus_rma_end_text(&bad, text, sizeof(text)));
}

/* --- text ------------------------------------------------------------------------------ */

static const char *const reasons[] = {
	[TORUS_RMA_MALFORMED] = "malformed",
	[TORUS_RMA_REGION] = "there is no such region",
	[TORUS_RMA_KEY] = "wrong key",
	[TORUS_RMA_GONE] = "the region was closed",
	[TORUS_RMA_JOB] = "the region belongs to another user",
	[TORUS_RMA_ACCESS] = "no right to do this: must be within the mask",
	[TORUS_RMA_BOUNDS] = "beyond the end of the region: bytes from there to its end:",
	[TORUS_RMA_ALIGN] = "misaligned: must be a multiple of",
	[TORUS_RMA_LENGTH] = "too long: bytes must be at most",
	[TORUS_RMA_NO_FE] = "the region has no full/empty bits",
	[TORUS_RMA_NO_ROOM] = "too many requests wait there: the limit is",
	[TORUS_RMA_BUSY] = "the word changed all the time",
	[TORUS_RMA_GAP] = "requests before it were lost",
	[TORUS_RMA_CANCELLED] = "cancelled",
};

static const char *const invalids[] = {
	[TORUS_RMA_BAD_OP] = "unknown operation",
	[TORUS_RMA_BAD_FLAGS] = "flags: must be within the mask",
	[TORUS_RMA_BAD_NODE] = "node: must be at most",
	[TORUS_RMA_BAD_ADDR] = "offset: its end must be at most",
	[TORUS_RMA_BAD_REGION] = "region: must be at most",
	[TORUS_RMA_BAD_WORD] = "kind of operation: must be within the mask",
	[TORUS_RMA_BAD_LOCAL] = "the data are not in a region of this context",
	[TORUS_RMA_BAD_INLINE] = "bytes in the request: must be at most",
	[TORUS_RMA_BAD_REST] = "a member that must be 0 is not",
	[TORUS_RMA_BAD_COOKIE] = "no full/empty operation or receive with this cookie is open",
	[TORUS_RMA_BAD_LENGTH] = "message: bytes must be at most",
	[TORUS_RMA_BAD_COUNT] = "receives are posted: they must be at most",
};

/* Reasons that mean something else if a message is refused. */
static const char *const send_reasons[] = {
	[TORUS_RMA_REGION] = "there is no such context",
	[TORUS_RMA_GONE] = "the context was closed",
	[TORUS_RMA_JOB] = "the context belongs to another user",
	[TORUS_RMA_LENGTH] = "longer than the posted memory: bytes must be at most",
	[TORUS_RMA_NO_ROOM] = "the receiver is not ready: it has posted no memory",
};

static const char *const unreachables[] = {
	"there is no path to the node", "the software at a link on the way is too old",
	"the node does not offer remote memory",
};

static const char *look_up_text(const char *const *names, size_t n, unsigned int i)
{
	return i < n && names[i] ? names[i] : "unknown reason";
}

#define LOOK_UP(names, i)	look_up_text(names, sizeof(names) / sizeof((names)[0]), i)

static const char *find_reason(const struct torus_rma_end *end)
{
	size_t n = sizeof(send_reasons) / sizeof(send_reasons[0]);

	if (end->status == TORUS_RMA_INVALID)
		return LOOK_UP(invalids, end->reason);
	if (end->op == TORUS_RMA_SEND && end->reason < n && send_reasons[end->reason])
		return send_reasons[end->reason];
	return LOOK_UP(reasons, end->reason);
}

const char *torus_rma_end_text(const struct torus_rma_end *end, char *text, size_t size)
{
	const char *why = find_reason(end);

	switch (end->status) {
	case TORUS_RMA_DONE:
		snprintf(text, size, "done");
		break;
	case TORUS_RMA_REFUSED:
	case TORUS_RMA_INVALID:
		if (end->value || why[strlen(why) - 1] == ':')
			snprintf(text, size, "refused: %s %llu", why,
				 (unsigned long long)end->value);
		else
			snprintf(text, size, "refused: %s", why);
		break;
	case TORUS_RMA_UNREACHABLE:
		snprintf(text, size, "not executed: %s", LOOK_UP(unreachables, end->reason));
		break;
	case TORUS_RMA_LOST:
		snprintf(text, size, "not executed: lost");
		break;
	default:
		snprintf(text, size, "perhaps executed: the node was lost");
	}
	return text;
}
