// SPDX-License-Identifier: GPL-2.0-only
/* All lanes of a host at once: each is found, served in turn, and given up; limits to the byte. */
#include "tests/unit/host_shell.h"
#include "tests/unit/seeds.h"

#define MS		1000000ull
#define GRACE		(5 * MS)
#define PATIENCE	(500 * MS)
#define LANES		TORUS_HOST_LANES
#define SETS		32
#define STOPS		1024	/* for so many stops a queue counts as shared */

static struct torus_host_msg pool[8 * LANES];
static u64 since[LANES];	/* when the message of a lane was put there; 0: it is gone */
static unsigned int used;
static u64 now;

/* Destinations and VCs have numbers; those with the same rest modulo SETS share eight lanes. */
static struct torus_host_msg *message(u32 k, u8 from, u32 bytes)
{
	struct torus_host_msg *msg = &pool[used++];

	assert_true(used <= ARRAY_SIZE(pool));
	*msg = (struct torus_host_msg) {
		.dst = k / TORUS_VCS, .vc = (u8)(k % TORUS_VCS), .from = from, .bytes = bytes,
		.next = pool,
	};
	return msg;
}

static void set_full(u32 k, bool is_full)
{
	shell.full[k / TORUS_VCS][k % TORUS_VCS] = is_full;
}

static void offer(u32 k, u8 from, u32 bytes)
{
	struct torus_host_msg *msg = message(k, from, bytes);

	assert_false(torus_host_clear(&shell.host, msg));
	torus_host_wait(&shell.host, msg, now);
}

static void pass(u64 ns)
{
	now += ns;
	assert_null(torus_host_next(&shell.host, now));
}

static void start(void)
{
	host_start();
	memset(since, 0, sizeof(since));
	used = 0;
	now = 1000;
	for (u32 k = 0; k < LANES + SETS; k++)
		set_full(k, true);
}

/* Puts a message in each lane of a set, or of all if @set is SETS. */
static void fill(u32 set)
{
	for (u32 k = 0; k < LANES; k++) {
		if (set < SETS && k % SETS != set)
			continue;
		now += 10;
		offer(k, 0, 1 + k);
		if (!torus_host_open(&shell.host, 0))
			pass(GRACE);
		assert_true(torus_host_open(&shell.host, 0));
		since[k] = now;
	}
	assert_int_equal(shell.forgot, 0);
}

static u64 first_since(void)
{
	u64 at = ~0ull;

	for (u32 k = 0; k < LANES; k++)
		at = since[k] && since[k] < at ? since[k] : at;
	return at;
}

static void check_times(void)
{
	u64 at = first_since();

	assert_true(torus_host_oldest(&shell.host) == at);
	assert_true(torus_host_expiry(&shell.host) == (at == ~0ull ? at : at + TORUS_HOST_AGE_MAX));
}

/* The NIC has room for one message of a lane, which is its only one. */
static void serve_lane(u32 k)
{
	struct torus_host_msg *msg;

	check_times();
	assert_false(torus_host_ready(&shell.host));
	set_full(k, false);
	assert_true(torus_host_ready(&shell.host));
	msg = torus_host_next(&shell.host, now);
	assert_non_null(msg);
	assert_int_equal(msg->dst * TORUS_VCS + msg->vc, k);
	assert_int_equal(msg->bytes, 1 + k);
	set_full(k, true);
	since[k] = 0;
}

static void each_lane_is_served_alone(void **state)
{
	(void)state;
	start();
	fill(SETS);
	for (u32 i = 0; i < LANES; i++)
		serve_lane(i * 77 % LANES);
	check_times();
	assert_int_equal(shell.host.lane_bytes, 0);
	host_end();
}

/* At last one lane is in use, wherever it is. */
static void last_lane_of_each_set_is_served(void **state)
{
	(void)state;
	for (u32 last = 0; last < LANES; last++) {
		start();
		fill(last % SETS);
		for (u32 way = 1; way <= LANES / SETS; way++)
			serve_lane((last + way * SETS) % LANES);
		host_end();
	}
}

/* The second message of each lane is sent after the first ones of all, in the same order. */
static void lanes_are_served_in_turn(void **state)
{
	u32 order[2 * LANES];

	(void)state;
	start();
	fill(SETS);
	fill(SETS);
	for (u32 k = 0; k < LANES; k++)
		set_full(k, false);
	for (u32 i = 0; i < 2 * LANES; i++) {
		struct torus_host_msg *msg = torus_host_next(&shell.host, now);

		assert_non_null(msg);
		order[i] = msg->dst * TORUS_VCS + msg->vc;
		for (u32 j = i < LANES ? 0 : LANES; j < i; j++)
			assert_int_not_equal(order[i], order[j]);
		if (i >= LANES)
			assert_int_equal(order[i], order[i - LANES]);
	}
	assert_null(torus_host_next(&shell.host, now));
	host_end();
}

static void lanes_that_stand_still_are_given_up(void **state)
{
	(void)state;
	for (u32 last = 0; last < LANES; last += 15) {
		u32 gone = 0;

		start();
		fill(SETS);
		torus_host_give_up(&shell.host, now - since[last], now);
		for (u32 k = 0; k < LANES; k++) {
			gone += since[k] <= since[last];
			since[k] = since[k] <= since[last] ? 0 : since[k];
		}
		assert_int_equal(shell.forgot, gone);
		check_times();
		torus_host_forget(&shell.host);
		assert_int_equal(shell.forgot, LANES);
		assert_true(torus_host_oldest(&shell.host) == ~0ull);
		host_end();
	}
}

/* Messages for which queues are stopped are forgotten, too. */
static void nothing_is_left_of_a_host_that_is_forgotten(void **state)
{
	(void)state;
	start();
	fill(SETS);
	for (u8 q = 0; q < TORUS_VCS; q++) {
		offer(LANES + q, q, 1);
		if (torus_host_open(&shell.host, q))
			shell.forgot--;
	}
	assert_false(torus_host_open(&shell.host, 1) || torus_host_open(&shell.host, 2));
	shell.forgot = 0;
	torus_host_forget(&shell.host);
	assert_in_range(shell.forgot, LANES + 2, LANES + 3);
	for (u8 q = 0; q < TORUS_VCS; q++)
		assert_true(torus_host_open(&shell.host, q));
	assert_int_equal(shell.host.lane_bytes, 0);
	assert_true(torus_host_expiry(&shell.host) == ~0ull);
	host_end();
}

/* --- sets without a free lane ------------------------------------------------------- */

/* The ninth destination of a set stops its queue until PATIENCE ends, and is dropped. */
static void let_ninth_wait(u32 set, u8 queue)
{
	unsigned int forgot = shell.forgot;

	offer(LANES + set, queue, 1);
	assert_false(torus_host_open(&shell.host, queue));
	pass(PATIENCE - 1);
	assert_false(torus_host_open(&shell.host, queue));
	assert_int_equal(shell.forgot, forgot);
	pass(1);
	assert_true(torus_host_open(&shell.host, queue));
	assert_int_equal(shell.forgot, forgot + 1);
}

static void set_is_stuck_until_a_lane_of_it_moves(void **state)
{
	(void)state;
	for (u32 set = 0; set < SETS; set++) {
		u32 other = (set + 5) % SETS;
		unsigned int forgot;

		start();
		fill(SETS);
		fill(set);
		let_ninth_wait(set, 1);
		forgot = shell.forgot;
		offer(LANES + set, 1, 1);
		assert_int_equal(shell.forgot, forgot + 1);
		let_ninth_wait(other, 2);
		set_full(set, false);
		assert_non_null(torus_host_next(&shell.host, now));
		set_full(set, true);
		forgot = shell.forgot;
		offer(LANES + other, 2, 1);
		assert_int_equal(shell.forgot, forgot + 1);
		let_ninth_wait(set, 1);
		torus_host_forget(&shell.host);
		host_end();
	}
}

/* A set of which all lanes were given up is not stuck when they are in use again. */
static void set_is_not_stuck_after_its_lanes_were_given_up(void **state)
{
	(void)state;
	for (u32 set = 0; set < SETS; set++) {
		start();
		fill(set);
		let_ninth_wait(set, 1);
		torus_host_give_up(&shell.host, 0, now);
		shell.forgot = 0;
		fill(set);
		let_ninth_wait(set, 1);
		torus_host_forget(&shell.host);
		host_end();
	}
}

/* A message that has no lane leaves as soon as the NIC has room for it. */
static void ninth_is_sent_when_there_is_room(void **state)
{
	(void)state;
	for (u32 ways = 0; ways <= 8; ways += 8) {
		start();
		if (ways)
			fill(3);
		offer(LANES + 3, 1, 1);
		assert_false(torus_host_ready(&shell.host));
		set_full(LANES + 3, false);
		assert_true(torus_host_ready(&shell.host));
		assert_ptr_equal(torus_host_next(&shell.host, now), &pool[ways]);
		torus_host_forget(&shell.host);
		host_end();
	}
}

/* --- memory --------------------------------------------------------------------------- */

/* A lane may use what the others leave: here, one lane with @have bytes, and @bytes more. */
static bool fits(u32 have, u32 bytes)
{
	bool is_open;

	start();
	offer(1, 0, 100);
	pass(GRACE);
	offer(1, 0, have);
	set_full(1, false);
	assert_ptr_equal(torus_host_next(&shell.host, now), &pool[0]);
	set_full(1, true);
	assert_int_equal(shell.host.lane_bytes, have);
	offer(1, 0, bytes);
	is_open = torus_host_open(&shell.host, 0);
	torus_host_forget(&shell.host);
	host_end();
	return is_open;
}

static void limit_of_memory_is_exact(void **state)
{
	const u32 max = TORUS_HOST_LANES_MAX;

	(void)state;
	for (u32 have = 1; have < max / 2; have = have * 3 + 1) {
		assert_true(fits(have, max - 2 * have));
		assert_false(fits(have, max - 2 * have + 1));
	}
}

/* --- shared queues -------------------------------------------------------------------- */

/* A queue is shared if its messages are of several flows. */
static void queue_of_several_flows_is_shared(void **state)
{
	(void)state;
	for (u32 a = 0; a < 12; a++)
		for (u32 b = 0; b < 12; b++) {
			start();
			set_full(a, false);
			set_full(b, false);
			assert_true(torus_host_clear(&shell.host, message(a, 1, 1)));
			assert_true(torus_host_clear(&shell.host, message(b, 1, 1)));
			assert_int_equal(shell.host.stop_shared[1], a == b ? 0 : STOPS);
			assert_int_equal(shell.host.stop_shared[0], 0);
			host_end();
		}
}

/* The stops of a queue are counted, if they take any time, until it is not shared any more. */
static void queue_of_one_flow_is_not_shared_for_ever(void **state)
{
	(void)state;
	start();
	set_full(0, false);
	assert_true(torus_host_clear(&shell.host, message(0, 1, 1)));
	for (u32 i = 0; i < STOPS + 9; i++) {
		u32 left = i < STOPS ? STOPS - i : 0;

		for (u32 ns = 0; ns < 2; ns++) {
			offer(2, 1, 1);
			assert_int_equal(shell.host.stop_shared[1], left);
			now += ns;
			set_full(2, false);
			assert_ptr_equal(torus_host_next(&shell.host, now), &pool[--used]);
			set_full(2, true);
		}
	}
	assert_int_equal(shell.host.stop_shared[1], 0);
	host_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_lane_is_served_alone),
		cmocka_unit_test(last_lane_of_each_set_is_served),
		cmocka_unit_test(lanes_are_served_in_turn),
		cmocka_unit_test(lanes_that_stand_still_are_given_up),
		cmocka_unit_test(nothing_is_left_of_a_host_that_is_forgotten),
		cmocka_unit_test(set_is_stuck_until_a_lane_of_it_moves),
		cmocka_unit_test(set_is_not_stuck_after_its_lanes_were_given_up),
		cmocka_unit_test(ninth_is_sent_when_there_is_room),
		cmocka_unit_test(limit_of_memory_is_exact),
		cmocka_unit_test(queue_of_several_flows_is_shared),
		cmocka_unit_test(queue_of_one_flow_is_not_shared_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
