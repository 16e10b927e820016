// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "say.h"
#include "traffic_rma.h"

#define RING 64			/* number of slots of the owner */
#define TICKET 0		/* offsets of the words in the owner's region */
#define COUNT 8
#define WORDS 64
#define SLOTS 4096
/* time after which an end checks whether the other one has failed */
#define TURN_MS 100
#define ACCESS (TORUS_RMA_ACCESS_READ | TORUS_RMA_ACCESS_WRITE | TORUS_RMA_ACCESS_AMO | \
		TORUS_RMA_ACCESS_FE)

/* The requests of a record, in order; the cookie of a request is its value here. */
enum rma_step { STEP_TICKET, STEP_HALF, STEP_REST, STEP_BACK, STEP_TOKEN, STEP_FREE, STEPS };

static size_t slot_bytes(uint32_t size)
{
	return (size + 63) & ~63UL;
}

static uint64_t slot_offset(uint32_t size, uint64_t number)
{
	return SLOTS + number % RING * slot_bytes(size);
}

static uint64_t word_offset(uint64_t number)
{
	return WORDS + number % RING * sizeof(uint64_t);
}

int traffic_rma_open(struct rma_end *end, const char *where, bool owns, uint32_t size)
{
	size_t bytes = owns ? slot_offset(size, 0) + RING * slot_bytes(size) : 2 * slot_bytes(size);
	int err = torus_rma_open(where, 0, &end->rma);

	if (err)
		return err;
	return torus_region_new(end->rma, bytes, owns ? ACCESS : 0,
				owns ? TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY : 0, &end->region);
}

/* Prints the error, and stores it for the other end. Return: @err */
static int fail_flow(struct flow *f, int err, const char *text)
{
	if (!f->err)
		warn("%s: %s", f->protocol, text);
	if (!f->err)
		f->err = err;
	return err;
}

static int errno_of_end(const struct torus_rma_end *end)
{
	switch (end->status) {
	case TORUS_RMA_REFUSED:
	case TORUS_RMA_INVALID:
		return -EINVAL;
	case TORUS_RMA_UNREACHABLE:
		return -EHOSTUNREACH;
	default:
		return -ECONNRESET;
	}
}

/* Waits for a completion. Return: 0 or a negative errno, also if the other end has failed */
static int await_end(struct rma_end *end, struct flow *f, struct torus_rma_end *done)
{
	double until = traffic_now() + TRAFFIC_PATIENCE_S;
	char text[128];
	int got;

	do {
		got = torus_rma_wait(end->rma, done, 1, TURN_MS);
	} while (got == -ETIMEDOUT && !f->err && traffic_now() < until);
	if (got < 0)
		return fail_flow(f, got, torus_rma_error(end->rma));
	if (done->status == TORUS_RMA_DONE)
		return 0;
	return fail_flow(f, errno_of_end(done), torus_rma_end_text(done, text, sizeof(text)));
}

/* --- initiator -------------------------------------------------------------------------- */

/* Submits the requests of a record. Return: 0 or a negative errno */
static int submit_record(struct rma_end *end, const struct torus_far *far, uint64_t number,
			 uint32_t size)
{
	char *out = end->region->base, *back = out + slot_bytes(size);
	uint64_t slot = slot_offset(size, number);
	uint32_t half = size / 2;
	struct torus_rma *rma = end->rma;
	int err;

	record_fill(out, size, number, 0);
	err = torus_rma_amo(rma, far, TICKET, TORUS_RMA_ADD, TORUS_RMA_U64, 1, 0, STEP_TICKET);
	err = err ? err : torus_rma_put(rma, far, slot, out, half, STEP_HALF);
	err = err ? err : torus_rma_put_notify(rma, far, slot + half, out + half, size - half,
					       COUNT, 1, STEP_REST);
	err = err ? err : torus_rma_get(rma, back, far, slot, size, STEP_BACK);
	err = err ? err : torus_rma_fe(rma, far, word_offset(number), TORUS_RMA_WRITE,
				       TORUS_RMA_EMPTY, TORUS_RMA_FULL, number, STEP_TOKEN);
	return err ? err : torus_rma_fe(rma, far, word_offset(number + 1), TORUS_RMA_READ,
					TORUS_RMA_EMPTY, TORUS_RMA_EMPTY, 0, STEP_FREE);
}

static int send_record(struct rma_end *end, const struct torus_far *far, uint32_t size,
		       struct flow *f)
{
	const char *out = end->region->base;
	struct torus_rma_end done;
	int err = submit_record(end, far, f->sent, size);

	if (err)
		return fail_flow(f, err, torus_rma_error(end->rma));
	for (int i = 0; i < STEPS; i++) {
		err = await_end(end, f, &done);
		if (err)
			return err;
		if (done.cookie == STEP_TICKET)
			f->doubled += done.value != f->sent;
		if (done.cookie == STEP_BACK && memcmp(out, out + slot_bytes(size), size))
			return fail_flow(f, -EBADMSG, "other bytes were read than written");
	}
	f->sent++;
	return 0;
}

/* Checks whether the counter of the owner is equal to the number of records. */
static void check_count(struct rma_end *end, const struct torus_far *far, uint64_t word,
			struct flow *f)
{
	struct torus_rma_end done;
	int err = torus_rma_amo(end->rma, far, word, TORUS_RMA_ADD, TORUS_RMA_U64, 0, 0, 0);

	if (err) {
		fail_flow(f, err, torus_rma_error(end->rma));
		return;
	}
	if (await_end(end, f, &done))
		return;
	if (done.value > f->sent)
		f->doubled += done.value - f->sent;
	else if (done.value < f->sent)
		fail_flow(f, -EBADMSG, "an addition was not executed");
}

static void send_last(struct rma_end *end, const struct torus_far *far, struct flow *f)
{
	struct torus_rma_end done;
	int err = torus_rma_fe(end->rma, far, word_offset(f->sent), TORUS_RMA_WRITE,
			       TORUS_RMA_EMPTY, TORUS_RMA_FULL, RECORD_END, STEP_TOKEN);

	if (err)
		fail_flow(f, err, torus_rma_error(end->rma));
	else
		await_end(end, f, &done);
}

void traffic_rma_send(struct rma_end *end, const struct torus_far *far, const struct load *load,
		      struct flow *f)
{
	double start = traffic_now();

	while (!f->err && traffic_pace(load, start, f->sent))
		send_record(end, far, load->size, f);
	f->seconds = traffic_now() - start;
	if (!f->err)
		check_count(end, far, TICKET, f);
	if (!f->err)
		check_count(end, far, COUNT, f);
	if (!f->err)
		send_last(end, far, f);
}

/* --- owner ------------------------------------------------------------------------------ */

/* Waits until the full/empty bit of a record's word is full, and sets it to @leave. */
static int await_token(struct rma_end *end, uint64_t number, enum torus_rma_state leave,
		       struct flow *f, uint64_t *value)
{
	struct torus_rma_end done;
	int err = torus_rma_fe(end->rma, &end->region->far, word_offset(number), TORUS_RMA_READ,
			       TORUS_RMA_FULL, leave, 0, STEP_TOKEN);

	if (err)
		return fail_flow(f, err, torus_rma_error(end->rma));
	err = await_end(end, f, &done);
	*value = done.value;
	return err;
}

static void judge_slot(const struct rma_end *end, uint64_t number, uint32_t size, struct flow *f)
{
	const char *slot = (const char *)end->region->base + slot_offset(size, number);
	struct record rec;

	memcpy(&rec, slot, sizeof(rec));
	if (!record_good(slot, size) || rec.number != number) {
		f->corrupt++;
		return;
	}
	f->received++;
	f->bytes += size;
}

void traffic_rma_receive(struct rma_end *end, const struct load *load, struct flow *f)
{
	double heard = 0, now;
	uint64_t value;

	for (uint64_t number = 0;; number++) {
		if (await_token(end, number, TORUS_RMA_FULL, f, &value) || value == RECORD_END)
			return;
		now = traffic_now();
		if (number && (now - heard) * 1e3 > f->gap_max_ms)
			f->gap_max_ms = (now - heard) * 1e3;
		heard = now;
		if (value != number)
			f->reordered++;
		judge_slot(end, number, load->size, f);
		if (await_token(end, number, TORUS_RMA_EMPTY, f, &value))
			return;
	}
}
