// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "output.h"
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
enum rma_step {
	STEP_TICKET, STEP_HALF, STEP_REST, STEP_BACK, STEP_MESSAGE, STEP_TOKEN, STEP_FREE, STEPS,
};

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

/* Return: the first bytes of a record that are sent as a message, too. */
static uint32_t message_bytes(const struct rma_end *end, uint32_t size)
{
	size_t max = torus_rma_message_max(end->rma);

	return size < max ? size : (uint32_t)max;
}

/* Messages lie after the slots. */
static char *message_place(const struct rma_end *end, uint64_t number, uint32_t size)
{
	return (char *)end->region->base + SLOTS + (RING + number % RING) * slot_bytes(size);
}

static int post_message(struct rma_end *end, uint64_t number, uint32_t size)
{
	return torus_rma_recv(end->rma, message_place(end, number, size),
			      message_bytes(end, size), STEP_MESSAGE);
}

/*
 * Posts memory for the messages of a whole ring. The addition comes after it in the ring of
 * requests, so when it has ended, all of the memory is posted.
 */
static int post_messages(struct rma_end *end, uint32_t size)
{
	int err = 0;

	for (uint64_t i = 0; i < RING && !err; i++)
		err = post_message(end, i, size);
	err = err ? err : torus_rma_amo(end->rma, &end->region->far, COUNT, TORUS_RMA_ADD,
					TORUS_RMA_U64, 0, 0, STEP_TICKET);
	return err ? err : torus_rma_quiet(end->rma, TRAFFIC_PATIENCE_S * 1000);
}

int traffic_rma_open(struct rma_end *end, const char *where, bool owns, uint32_t size)
{
	size_t bytes = owns ? SLOTS + 2 * RING * slot_bytes(size) : 2 * slot_bytes(size);
	int err = torus_rma_open(where, owns ? 2 * RING : 0, &end->rma);

	end->taken = 0;
	if (err)
		return err;
	err = torus_region_new(end->rma, bytes, owns ? ACCESS : 0,
			       owns ? TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY : 0, &end->region);
	return err || !owns ? err : post_messages(end, size);
}

struct rma_owner traffic_rma_name(const struct rma_end *end)
{
	return (struct rma_owner) { end->region->far, torus_rma_self(end->rma) };
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

/* Notes a message, which has its number as its tag. */
static void note_message(struct rma_end *end, struct flow *f, const struct torus_rma_end *done)
{
	if (done->value != end->taken)
		f->reordered++;
	end->taken++;
}

/*
 * Waits for the completion of a request, and notes messages that come before it. Return: 0 or a
 * negative errno, also if the other end has failed
 */
static int await_end(struct rma_end *end, struct flow *f, struct torus_rma_end *done)
{
	double until = traffic_now() + TRAFFIC_PATIENCE_S;
	bool message;
	char text[128];
	int got;

	do {
		got = torus_rma_wait(end->rma, done, 1, TURN_MS);
		message = got == 1 && done->op == TORUS_RMA_RECV && done->status == TORUS_RMA_DONE;
		if (message)
			note_message(end, f, done);
	} while (message || (got == -ETIMEDOUT && !f->err && traffic_now() < until));
	if (got < 0)
		return fail_flow(f, got, torus_rma_error(end->rma));
	if (done->status == TORUS_RMA_DONE)
		return 0;
	return fail_flow(f, errno_of_end(done), torus_rma_end_text(done, text, sizeof(text)));
}

/* --- initiator -------------------------------------------------------------------------- */

/* Submits the requests of a record. Return: 0 or a negative errno */
static int submit_record(struct rma_end *end, const struct rma_owner *owner, uint64_t number,
			 uint32_t size)
{
	const struct torus_far *far = &owner->far;
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
	err = err ? err : torus_rma_send(rma, &owner->peer, out, message_bytes(end, size), number,
					 STEP_MESSAGE);
	err = err ? err : torus_rma_fe(rma, far, word_offset(number), TORUS_RMA_WRITE,
				       TORUS_RMA_EMPTY, TORUS_RMA_FULL, number, STEP_TOKEN);
	return err ? err : torus_rma_fe(rma, far, word_offset(number + 1), TORUS_RMA_READ,
					TORUS_RMA_EMPTY, TORUS_RMA_EMPTY, 0, STEP_FREE);
}

static int send_record(struct rma_end *end, const struct rma_owner *owner, uint32_t size,
		       struct flow *f)
{
	const char *out = end->region->base;
	struct torus_rma_end done;
	int err = submit_record(end, owner, f->sent, size);

	if (err)
		return fail_flow(f, err, torus_rma_error(end->rma));
	for (int i = 0; i < STEPS; i++) {
		err = await_end(end, f, &done);
		if (err)
			return err;
		if (done.cookie == STEP_TICKET)
			f->duplicates += done.value != f->sent;
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
		f->duplicates += done.value - f->sent;
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

void traffic_rma_send(struct rma_end *end, const struct rma_owner *owner, const struct load *load,
		      struct flow *f)
{
	double start = traffic_now();

	while (!f->err && traffic_pace(load, start, f->sent))
		send_record(end, owner, load->size, f);
	f->seconds = traffic_now() - start;
	if (!f->err)
		check_count(end, &owner->far, TICKET, f);
	if (!f->err)
		check_count(end, &owner->far, COUNT, f);
	if (!f->err)
		send_last(end, &owner->far, f);
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

/* Judges a record and its message, which arrived before the token. */
static void judge_slot(const struct rma_end *end, uint64_t number, uint32_t size, struct flow *f)
{
	const char *slot = (const char *)end->region->base + slot_offset(size, number);
	struct record rec;

	memcpy(&rec, slot, sizeof(rec));
	if (!record_good(slot, size) || rec.number != number ||
	    memcmp(slot, message_place(end, number, size), message_bytes(end, size))) {
		f->corrupt++;
		return;
	}
	f->received++;
	f->bytes += size;
}

void traffic_rma_receive(struct rma_end *end, const struct load *load, struct flow *f)
{
	double last_at = 0, now;
	uint64_t value;

	for (uint64_t number = 0;; number++) {
		if (await_token(end, number, TORUS_RMA_FULL, f, &value) || value == RECORD_END)
			return;
		now = traffic_now();
		if (number && (now - last_at) * 1e3 > f->gap_max_ms)
			f->gap_max_ms = (now - last_at) * 1e3;
		last_at = now;
		if (value != number)
			f->reordered++;
		if (end->taken <= number) {
			fail_flow(f, -EBADMSG, "a message was not received");
			return;
		}
		judge_slot(end, number, load->size, f);
		if (post_message(end, number, load->size)) {
			fail_flow(f, -EBADMSG, torus_rma_error(end->rma));
			return;
		}
		if (await_token(end, number, TORUS_RMA_EMPTY, f, &value))
			return;
	}
}
