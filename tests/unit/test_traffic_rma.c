// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flow of "lab traffic --rma" on remote memory that is a part of this test, and does one thing
 * wrong: each fault shows in the counts, and without a fault the flow is clean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/traffic_judge.h"
#include "tools/fabricctl/traffic_rma.h"

#define SIZE 100
#define QUEUE 256
#define RING 64
#define RECORDS 200
#define WRONG 70			/* number of the record at which the fault happens */

enum fault {
	NO_FAULT, TICKET_TWICE, PUT_LOST, PUT_AFTER_TOKEN, ADD_TWICE, ADD_LOST, OTHER_TOKEN, REFUSED,
	MESSAGE_LOST, MESSAGE_TWICE, OTHER_MESSAGE,
};

struct torus_rma {
	struct torus_rma_end end[QUEUE];
	unsigned int first, n;
	struct torus_region region;
	void *posted[RING];
	unsigned int first_posted, nposted;
};

static enum fault fault;
static uint64_t tickets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char *memory;			/* memory of the owner */
static struct torus_rma *owner_rma;	/* context of the owner */
static bool full[64];
static bool over;			/* the initiator has ended: nothing comes any more */
static char late[2][SIZE];		/* halves of a record that is not in memory yet */
static uint64_t late_at[2];
static size_t late_bytes[2];
static unsigned int nlate;

/* Ends the flow after a number of records, and not by the clock. */
bool __wrap_traffic_pace(const struct load *load, double start, uint64_t sent);
bool __wrap_traffic_pace(const struct load *load, double start, uint64_t sent)
{
	(void)load, (void)start;
	return sent < RECORDS;
}

__attribute__((format(printf, 1, 2)))
void warn(const char *fmt, ...);	/* output.h and cmocka.h have a "fail" each */
void warn(const char *fmt, ...)
{
	(void)fmt;
}

static bool happens(enum fault f)
{
	return fault == f && tickets == WRONG + 1;
}

static void push(struct torus_rma *rma, uint64_t cookie, uint64_t value, uint8_t status)
{
	rma->end[(rma->first + rma->n++) % QUEUE] = (struct torus_rma_end) {
		.cookie = cookie, .value = value, .status = status, .reason = TORUS_RMA_KEY,
	};
	assert_true(rma->n <= QUEUE);
}

int torus_rma_open(const char *where, unsigned int entries, struct torus_rma **rma)
{
	(void)where, (void)entries;
	*rma = calloc(1, sizeof(**rma));
	assert_non_null(*rma);
	return 0;
}

int torus_region_new(struct torus_rma *rma, size_t bytes, unsigned int access, unsigned int flags,
		     struct torus_region **region)
{
	assert_int_equal(!access, !flags);
	rma->region = (struct torus_region) { .base = calloc(1, bytes), .bytes = bytes };
	assert_non_null(rma->region.base);
	if (access) {
		memory = rma->region.base;
		owner_rma = rma;
	}
	*region = &rma->region;
	return 0;
}

int torus_rma_amo(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		  enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand,
		  uint64_t compare, uint64_t cookie)
{
	uint64_t *word = (uint64_t *)(memory + offset), old = *word;

	(void)far, (void)compare;
	assert_true(amo == TORUS_RMA_ADD && type == TORUS_RMA_U64);
	tickets += operand;
	*word += operand + (operand && happens(TICKET_TWICE));
	push(rma, cookie, old, TORUS_RMA_DONE);
	return 0;
}

/* Called when the owner has looked at the record. */
static void write_late(void)
{
	while (nlate) {
		nlate--;
		memcpy(memory + late_at[nlate], late[nlate], late_bytes[nlate]);
	}
}

int torus_rma_put(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		  const void *from, size_t bytes, uint64_t cookie)
{
	(void)far;
	pthread_mutex_lock(&lock);
	if (happens(PUT_AFTER_TOKEN)) {
		memcpy(late[nlate], from, bytes);
		late_at[nlate] = offset;
		late_bytes[nlate++] = bytes;
	} else if (!happens(PUT_LOST)) {
		memcpy(memory + offset, from, bytes);
	}
	pthread_mutex_unlock(&lock);
	push(rma, cookie, 0, happens(REFUSED) ? TORUS_RMA_REFUSED : TORUS_RMA_DONE);
	return 0;
}

int torus_rma_put_notify(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
			 const void *from, size_t bytes, uint64_t word, uint64_t add,
			 uint64_t cookie)
{
	uint64_t times = happens(ADD_TWICE) ? 2 : !happens(ADD_LOST);

	*(uint64_t *)(memory + word) += times * add;
	return torus_rma_put(rma, far, offset, from, bytes, cookie);
}

int torus_rma_get(struct torus_rma *rma, void *to, const struct torus_far *far, uint64_t offset,
		  size_t bytes, uint64_t cookie)
{
	(void)far;
	memcpy(to, memory + offset, bytes);
	if (happens(PUT_AFTER_TOKEN)) {
		memcpy(to, late[0], late_bytes[0]);
		memcpy((char *)to + late_bytes[0], late[1], late_bytes[1]);
	}
	push(rma, cookie, 0, TORUS_RMA_DONE);
	return 0;
}

int torus_rma_fe(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		 enum torus_rma_fe fe, enum torus_rma_state q, enum torus_rma_state r,
		 uint64_t value, uint64_t cookie)
{
	uint64_t *word = (uint64_t *)(memory + offset);
	bool *bit = &full[(offset - 64) / 8];

	(void)far;
	pthread_mutex_lock(&lock);
	while (*bit != (q == TORUS_RMA_FULL) && !over)
		pthread_cond_wait(&changed, &lock);
	if (*bit == (q == TORUS_RMA_FULL)) {
		if (fe == TORUS_RMA_WRITE)
			*word = value + (happens(OTHER_TOKEN) && value != RECORD_END);
		if (fe == TORUS_RMA_READ && r == TORUS_RMA_EMPTY && offset == 64 + WRONG % 64 * 8)
			write_late();
		*bit = r == TORUS_RMA_FULL;
		push(rma, cookie, *word, TORUS_RMA_DONE);
	} else {
		push(rma, cookie, 0, TORUS_RMA_LOST);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return 0;
}

size_t torus_rma_message_max(const struct torus_rma *rma)
{
	(void)rma;
	return SIZE - 1;
}

struct torus_peer torus_rma_self(const struct torus_rma *rma)
{
	(void)rma;
	return (struct torus_peer) { .context = 5 };
}

int torus_rma_recv(struct torus_rma *rma, void *to, size_t bytes, uint64_t cookie)
{
	(void)cookie;
	pthread_mutex_lock(&lock);
	assert_true(rma == owner_rma && bytes == SIZE - 1 && rma->nposted < RING);
	rma->posted[(rma->first_posted + rma->nposted++) % RING] = to;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Receives a message at the owner. */
static void take_message(const void *from, size_t bytes, uint64_t tag)
{
	struct torus_rma *o = owner_rma;

	pthread_mutex_lock(&lock);
	if (o->nposted) {
		memcpy(o->posted[o->first_posted++ % RING], from, bytes);
		o->nposted--;
		push(o, 0, tag, TORUS_RMA_DONE);
		o->end[(o->first + o->n - 1) % QUEUE].op = TORUS_RMA_RECV;
	}
	pthread_mutex_unlock(&lock);
}

/* Waits until the owner has memory for a message: it may be a whole ring of records behind. */
static void await_posted(void)
{
	pthread_mutex_lock(&lock);
	while (!owner_rma->nposted)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

int torus_rma_send(struct torus_rma *rma, const struct torus_peer *to, const void *from,
		   size_t bytes, uint64_t tag, uint64_t cookie)
{
	char other[SIZE];

	assert_true(to->context == 5 && bytes == SIZE - 1);
	memcpy(other, from, bytes);
	other[bytes / 2] = (char)(other[bytes / 2] + happens(OTHER_MESSAGE));
	if (!happens(MESSAGE_LOST))
		take_message(other, bytes, tag);
	if (happens(MESSAGE_TWICE)) {
		await_posted();
		take_message(other, bytes, tag);
	}
	push(rma, cookie, 0, TORUS_RMA_DONE);
	return 0;
}

int torus_rma_quiet(struct torus_rma *rma, int timeout_ms)
{
	(void)timeout_ms;
	rma->n = 0;
	return 0;
}

int torus_rma_wait(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n,
		   int timeout_ms)
{
	(void)n, (void)timeout_ms;
	pthread_mutex_lock(&lock);
	assert_true(rma->n);
	ends[0] = rma->end[rma->first++ % QUEUE];
	rma->n--;
	pthread_mutex_unlock(&lock);
	return 1;
}

const char *torus_rma_error(const struct torus_rma *rma)
{
	(void)rma;
	return "an error";
}

const char *torus_rma_end_text(const struct torus_rma_end *end, char *text, size_t size)
{
	(void)end;
	snprintf(text, size, "an end");
	return text;
}

static struct rma_end ends[2];
static struct flow flow;
static const struct load load = { .seconds = 1, .size = SIZE };

static void *own(void *arg)
{
	(void)arg;
	traffic_rma_receive(&ends[1], &load, &flow);
	return NULL;
}

/* Runs a flow with a fault. */
static void run(enum fault f)
{
	struct rma_owner name;
	pthread_t owner;

	fault = f;
	tickets = 0;
	nlate = 0;
	over = false;
	memset(full, 0, sizeof(full));
	flow = (struct flow) { .protocol = "rma" };
	for (int i = 0; i < 2; i++)
		assert_int_equal(traffic_rma_open(&ends[i], NULL, i == 1, SIZE), 0);
	name = traffic_rma_name(&ends[1]);
	assert_int_equal(pthread_create(&owner, NULL, own, NULL), 0);
	traffic_rma_send(&ends[0], &name, &load, &flow);
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(owner, NULL);
	for (int i = 0; i < 2; i++) {
		free(ends[i].region->base);
		free(ends[i].rma);
	}
}

static void flow_without_fault_is_clean(void **state)
{
	(void)state;
	run(NO_FAULT);
	assert_int_equal(flow.err, 0);
	assert_true(flow_is_clean(&flow));
	assert_int_equal(flow.sent, RECORDS);
	assert_int_equal(flow.bytes, RECORDS * SIZE);
}

static void operation_that_is_executed_twice_is_counted(void **state)
{
	(void)state;
	run(TICKET_TWICE);
	/* later tickets, and the sum */
	assert_int_equal(flow.duplicates, RECORDS - WRONG - 1 + 1);
	run(ADD_TWICE);
	assert_int_equal(flow.duplicates, 1);
	assert_int_equal(flow.err, 0);
	assert_false(flow_is_clean(&flow));
}

static void operation_that_is_not_executed_ends_flow(void **state)
{
	(void)state;
	run(ADD_LOST);
	assert_int_equal(flow.err, -EBADMSG);
	assert_int_equal(flow.sent, RECORDS);
	run(PUT_LOST);
	assert_int_equal(flow.err, -EBADMSG);
	assert_int_equal(flow.sent, WRONG);
}

static void token_before_its_record_makes_record_corrupt(void **state)
{
	(void)state;
	run(PUT_AFTER_TOKEN);
	assert_int_equal(flow.corrupt, 1);
	assert_int_equal(flow.received, RECORDS - 1);
	assert_false(flow_is_clean(&flow));
}

static void other_token_is_out_of_order(void **state)
{
	(void)state;
	run(OTHER_TOKEN);
	assert_int_equal(flow.reordered, 1);
	assert_false(flow_is_clean(&flow));
}

static void wrong_message_is_counted_and_missing_one_ends_flow(void **state)
{
	(void)state;
	run(OTHER_MESSAGE);
	assert_int_equal(flow.corrupt, 1);
	assert_int_equal(flow.received, RECORDS - 1);
	run(MESSAGE_TWICE);
	assert_true(flow.reordered);
	assert_false(flow_is_clean(&flow));
	run(MESSAGE_LOST);
	assert_int_equal(flow.err, -EBADMSG);
	assert_int_equal(flow.received, WRONG);
}

static void request_that_fails_ends_flow_with_its_error(void **state)
{
	(void)state;
	run(REFUSED);
	assert_int_equal(flow.err, -EINVAL);
	assert_int_equal(flow.sent, WRONG);
	assert_false(flow_is_clean(&flow));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow_without_fault_is_clean),
		cmocka_unit_test(operation_that_is_executed_twice_is_counted),
		cmocka_unit_test(operation_that_is_not_executed_ends_flow),
		cmocka_unit_test(token_before_its_record_makes_record_corrupt),
		cmocka_unit_test(other_token_is_out_of_order),
		cmocka_unit_test(wrong_message_is_counted_and_missing_one_ends_flow),
		cmocka_unit_test(request_that_fails_ends_flow_with_its_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
