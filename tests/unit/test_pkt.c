// SPDX-License-Identifier: GPL-2.0-only
/* Packet queues compared with an array. */
#include "tests/unit/seeds.h"
#include "kernel/core/pkt.h"

#define PACKETS 64

static void queue_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_pkt pkt[PACKETS], *shadow[PACKETS], *p;
	unsigned int n = 0, next = 0;
	bool in[PACKETS] = { false };
	struct tn_queue q = { 0 };

	for (int i = 0; i < 5000; i++) {
		if (rnd_below(&r, 2) && n < PACKETS) {
			while (in[next])
				next = (next + 1) % PACKETS;
			pkt[next].next = &pkt[0];	/* left over from a former queue */
			tn_queue_push(&q, &pkt[next]);
			in[next] = true;
			shadow[n++] = &pkt[next];
		} else {
			p = tn_queue_pop(&q);
			expect(&r, p == (n ? shadow[0] : NULL), "step %d", i);
			if (!p)
				continue;
			expect(&r, !p->next, "a popped packet is in no queue");
			in[p - pkt] = false;
			memmove(shadow, shadow + 1, --n * sizeof(*shadow));
		}
		expect(&r, q.count == n, "count %u, shadow %u", q.count, n);
		p = q.head;
		for (unsigned int k = 0; k < n; k++, p = p->next)
			expect(&r, p == shadow[k], "place %u", k);
		expect(&r, !p && (!n || q.tail == shadow[n - 1]), "the end");
	}
}

static void random_queue_equals_model(void **state)
{
	(void)state;
	for_seeds(10, queue_one);
}

static void flits_and_bytes_follow_from_header(void **state)
{
	struct tn_pkt p = { 0 };

	(void)state;
	for (unsigned int len = 0; len <= TN_PAYLOAD_FLITS_MAX; len++) {
		for (unsigned int pad = 0; pad < TN_FLIT; pad++) {
			p.hdr.len = (u16)len;
			p.tail.flags = (u8)(0xf0 | pad);
			assert_int_equal(tn_pkt_flits(&p), len + 2);
			assert_int_equal(tn_pkt_bytes(&p), len ? len * 16 - pad : 0);
		}
	}
	assert_int_equal(TN_PACKET_MAX, 16 + 1023 * 16 + 16 + 16);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_queue_equals_model),
		cmocka_unit_test(flits_and_bytes_follow_from_header),
	};

	return cmocka_run_group_tests_name("pkt", all, NULL, NULL);
}
