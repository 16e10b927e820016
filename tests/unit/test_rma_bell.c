// SPDX-License-Identifier: GPL-2.0-only
/* How a process submits requests (lib/rma_ring.c), and when it rings; the test is the NIC. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/rma.h"

static struct torus_rma_head head;
static struct torus_rma_ask sq[64];
static struct torus_rma rma;

static void begin(void)
{
	head = (struct torus_rma_head) { .sleeps = TORUS_RMA_ASLEEP };
	rma = (struct torus_rma) {
		.head = &head, .sq = sq, .sq_entries = 64, .bell = eventfd(0, EFD_NONBLOCK),
	};
	assert_true(rma.bell >= 0);
}

/* Return: true if the process rings when it submits a request. */
static bool rings(void)
{
	struct torus_far far = { .node = 1 };
	eventfd_t n;

	assert_int_equal(torus_rma_put(&rma, &far, 0, "1234567", 8, 0), 0);
	return !eventfd_read(rma.bell, &n);
}

static void doorbell_rings_once_a_nap(void **state)
{
	(void)state;
	begin();
	for (head.naps = 1; head.naps < 4; head.naps++) {
		assert_true(rings());
		assert_false(rings());
	}
	head.sleeps = 0;
	assert_false(rings());
	close(rma.bell);
}

/* A NIC of before @naps leaves the word 0; one whose count has wrapped rings once more than needed. */
static void nic_that_counts_no_naps_is_rung_for_each_request(void **state)
{
	(void)state;
	begin();
	for (unsigned int i = 0; i < 3; i++)
		assert_true(rings());
	close(rma.bell);
}

/* The name of a context has 16 bits for its number; a higher one must not become another context. */
static void message_to_a_context_above_16_bits_is_refused(void **state)
{
	struct torus_peer to = { .node = 1, .context = 0x10002, .key = 5 };

	(void)state;
	begin();
	assert_int_equal(torus_rma_send(&rma, &to, "1234567", 8, 0, 0), -EINVAL);
	assert_string_equal(torus_rma_error(&rma), "context 65538: must be 0 to 65535");
	assert_int_equal(head.sq_tail, 0);
	to.context = 0xffff;
	assert_int_equal(torus_rma_send(&rma, &to, "1234567", 8, 0, 0), 0);
	assert_int_equal(sq[0].addr, 5 << 16 | 0xffff);
	close(rma.bell);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(doorbell_rings_once_a_nap),
		cmocka_unit_test(nic_that_counts_no_naps_is_rung_for_each_request),
		cmocka_unit_test(message_to_a_context_above_16_bits_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
