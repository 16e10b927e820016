// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host for which the NIC has no room: which wait where and how long, and that no
 * destination stops the messages to another one for long. Random histories are compared with a
 * model.
 */
#include "tests/unit/host_shell.h"
#include "tests/unit/seeds.h"

#define MS		1000000ull
#define GRACE		(5 * MS)
#define PATIENCE	(500 * MS)
#define AGE_MAX		TORUS_HOST_AGE_MAX
#define MANY		2000

static struct torus_host_msg pool[MANY];
static unsigned int used;
static u64 now;

static void start(void)
{
	host_start();
	used = 0;
	now = 1000;
}

static u64 nc(enum torus_node_counter c)
{
	return shell.counter[c];
}

/* Offers a message. Return: it was sent at once. */
static bool offer(u32 dst, u8 vc, u8 from, u32 bytes)
{
	struct torus_host_msg *msg = &pool[used++];

	assert_true(used <= MANY);
	*msg = (struct torus_host_msg) { .dst = dst, .vc = vc, .from = from, .bytes = bytes };
	if (torus_host_clear(&shell.host, msg))
		return true;
	torus_host_wait(&shell.host, msg, now);
	return false;
}

/* Time passes; messages for which the NIC has no room stay. */
static void pass(u64 ns)
{
	now += ns;
	assert_null(torus_host_next(&shell.host, now));
}

/* The number of the message that is sent next; -1: none. */
static int next(void)
{
	struct torus_host_msg *msg = torus_host_next(&shell.host, now);

	return msg ? (int)(msg - pool) : -1;
}

/* Without room a message stops its own queue for a short time, and then waits aside. */
static void message_without_room_stops_queue_then_waits_aside(void **state)
{
	(void)state;
	start();
	shell.full[1][0] = true;
	assert_true(offer(2, 0, 0, 100));
	assert_false(offer(1, 0, 0, 100));
	assert_false(torus_host_open(&shell.host, 0));
	assert_true(torus_host_open(&shell.host, 1) && torus_host_open(&shell.host, 2));
	assert_int_equal(torus_host_expiry(&shell.host), now + GRACE);
	pass(GRACE - 1);
	assert_false(torus_host_open(&shell.host, 0));
	assert_int_equal(nc(TORUS_NC_HOST_WAITED), 0);
	pass(1);
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(nc(TORUS_NC_HOST_WAITED), 1);
	assert_int_equal(torus_host_expiry(&shell.host), now + AGE_MAX);
	assert_int_equal(torus_host_oldest(&shell.host), now);
	/* Others go on; of the same destination only another VC. */
	assert_true(offer(2, 0, 0, 100));
	assert_true(offer(1, 1, 0, 100));
	assert_false(offer(1, 0, 0, 100));
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(nc(TORUS_NC_HOST_WAITED), 2);
	assert_false(torus_host_ready(&shell.host));
	shell.full[1][0] = false;
	assert_true(torus_host_ready(&shell.host));
	assert_false(offer(1, 0, 0, 100));	/* a message does not go before those that wait */
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 4);
	assert_int_equal(next(), 5);
	assert_int_equal(next(), -1);
	assert_true(offer(1, 0, 0, 100));
	assert_true(torus_host_oldest(&shell.host) == ~0ull);
	assert_int_equal(shell.forgot + nc(TORUS_NC_HOST_TX_DROPS), 0);
	host_end();
}

/* A destination that moves, however slowly, only stops its queue: nothing waits aside. */
static void slow_destination_only_stops_its_queue(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < 10; i++) {
		shell.full[1][0] = true;
		assert_false(offer(1, 0, 2, 100));
		pass(GRACE - 1);
		assert_false(torus_host_open(&shell.host, 2));
		shell.full[1][0] = false;
		assert_true(torus_host_ready(&shell.host));
		assert_int_equal(next(), i);
		assert_true(torus_host_open(&shell.host, 2));
	}
	assert_int_equal(nc(TORUS_NC_HOST_WAITED), 0);
	host_end();
}

/*
 * A host sends to a destination that moves slowly, and now and then to another one: how long the
 * other one has to wait in all, of ten seconds. Each message to the slow one is of @bytes.
 */
static u64 stopped_by_slow(u32 bytes, u64 every)
{
	static struct torus_host_msg all[20000];
	struct torus_host_msg *msg = all, *sent;
	u64 stopped = 0, room = 0, other = 0;

	start();
	for (u64 ms = 0; ms < 10000; ms++, now += MS) {
		room = room < 1 && ms % every == 0 ? room + 1 : room;
		shell.full[1][0] = !room;
		while ((sent = torus_host_next(&shell.host, now))) {
			assert_int_equal(sent->dst, 1);
			shell.full[1][0] = !--room;
		}
		stopped += !torus_host_open(&shell.host, 0);
		if (ms >= other && torus_host_open(&shell.host, 0)) {
			assert_true(offer(2, 0, 0, 100));
			other = ms + 100;
		}
		for (int i = 0; i < 2 && torus_host_open(&shell.host, 0); i++, msg++) {
			*msg = (struct torus_host_msg) { .dst = 1, .bytes = bytes };
			if (torus_host_clear(&shell.host, msg))
				room = 0;
			else
				torus_host_wait(&shell.host, msg, now);
			shell.full[1][0] = !room;
		}
	}
	return stopped;
}

/* A destination that moves slowly stops a queue that others use for an eighth of the time. */
static void slow_destination_stops_shared_queue_an_eighth(void **state)
{
	const u64 most = 10000 / 8 + (GRACE + PATIENCE) / MS;

	(void)state;
	assert_in_range(stopped_by_slow(100, 4), 1, most);
	assert_int_equal(nc(TORUS_NC_HOST_STUCK), 0);	/* its lane is not full */
	host_end();
	assert_in_range(stopped_by_slow(65536, 4), most / 3, most);
	assert_true(nc(TORUS_NC_HOST_STUCK) > 5000);
	host_end();
	assert_in_range(stopped_by_slow(65536, 400), 1, most);
	host_end();
}

#define MIB	(1u << 20)

/* Fills the lane of @dst by messages of 1 MiB. Return: how many it holds; then a queue stops. */
static u32 fill_lane(u32 dst)
{
	u64 before = nc(TORUS_NC_HOST_WAITED);

	shell.full[dst][0] = true;
	assert_false(offer(dst, 0, 0, MIB));
	pass(GRACE);
	while (torus_host_open(&shell.host, 0))
		assert_false(offer(dst, 0, 0, MIB));
	return (u32)(nc(TORUS_NC_HOST_WAITED) - before);
}

/* The queue gets back all of the time for which messages may stop it. */
static void rest(void)
{
	pass(7 * (GRACE + PATIENCE));
}

/* A full lane stops a queue for a while, then drops what comes; all lanes share the memory. */
static void full_lane_stops_queue_then_drops(void **state)
{
	unsigned int n;

	(void)state;
	start();
	assert_int_equal(fill_lane(1), 8);
	assert_int_equal(torus_host_expiry(&shell.host), now + PATIENCE);
	pass(PATIENCE - 1);
	assert_false(torus_host_open(&shell.host, 0));
	assert_int_equal(shell.forgot, 0);
	pass(1);
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(shell.forgot, 1);
	assert_ptr_equal(shell.last_forgot, &pool[used - 1]);
	for (n = 1; n < 20; n++) {		/* no queue stops from now on */
		assert_false(offer(1, 0, 0, MIB));
		assert_true(torus_host_open(&shell.host, 0));
	}
	assert_int_equal(nc(TORUS_NC_HOST_STUCK), 20);
	assert_int_equal(nc(TORUS_NC_HOST_TX_DROPS), 20);
	/* A second one has half of the rest, and so on; a first message always has its place. */
	assert_int_equal(fill_lane(2), 4);
	pass(PATIENCE);
	rest();
	assert_int_equal(fill_lane(3), 2);
	pass(PATIENCE);
	rest();
	for (u32 dst = 4; dst < 10; dst++) {
		assert_int_equal(fill_lane(dst), 1);
		pass(PATIENCE);
		rest();
	}
	/* When one of them moves, its queue has the host's patience again. */
	shell.full[1][0] = false;
	for (n = 0; n < 8; n++)
		assert_int_equal(next(), (int)n);
	assert_int_equal(next(), -1);
	n = shell.forgot;
	assert_int_equal(fill_lane(1), 2);
	pass(PATIENCE - 1);
	assert_int_equal(shell.forgot, n);
	host_end();
}

/* A shell that ends its round when another lane has moved is told that a queue may go on. */
static void freed_memory_lets_queue_go_on(void **state)
{
	(void)state;
	start();
	assert_int_equal(fill_lane(2), 8);
	pass(PATIENCE);
	assert_int_equal(fill_lane(1), 4);
	assert_false(torus_host_open(&shell.host, 0));
	assert_false(torus_host_ready(&shell.host));
	shell.full[2][0] = false;
	assert_int_equal(next(), 0);
	assert_int_equal(next(), 1);
	shell.full[2][0] = true;
	assert_true(torus_host_ready(&shell.host));
	assert_int_equal(next(), -1);
	assert_true(torus_host_open(&shell.host, 0));
	assert_false(torus_host_ready(&shell.host));
	host_end();
}

/* The shell drops what has not moved for its own time; each destination for itself. */
static void messages_that_do_not_move_are_given_up(void **state)
{
	(void)state;
	start();
	shell.full[1][0] = shell.full[2][0] = true;
	assert_false(offer(1, 0, 0, 1));
	pass(GRACE);
	assert_false(offer(1, 0, 0, 1));
	pass(10);
	assert_false(offer(2, 0, 1, 1));
	pass(GRACE);
	torus_host_give_up(&shell.host, GRACE + 11, now);
	assert_int_equal(shell.forgot, 0);
	assert_int_equal(torus_host_oldest(&shell.host), now - GRACE - 10);
	torus_host_give_up(&shell.host, GRACE + 10, now);
	assert_int_equal(shell.forgot, 2);
	assert_int_equal(nc(TORUS_NC_HOST_STUCK), 2);
	assert_int_equal(torus_host_oldest(&shell.host), now);
	/*
	 * Setting another place, or ending the NIC, drops the other messages, including the one
	 * that stops a queue.
	 */
	assert_false(offer(1, 0, 0, 1));
	torus_host_flush(&shell.host);
	assert_int_equal(shell.forgot, 4);
	assert_int_equal(nc(TORUS_NC_HOST_TX_DROPS), 4);
	assert_int_equal(nc(TORUS_NC_HOST_STUCK), 2);
	assert_true(torus_host_open(&shell.host, 0));
	host_end();
}

/* A message does not wait for ever behind others that leave one by one; what came later stays. */
static void message_is_given_up_at_age_limit_behind_moving_ones(void **state)
{
	u64 began;
	int left = 0;

	(void)state;
	start();
	shell.full[1][0] = true;
	assert_false(offer(1, 0, 0, 1));
	pass(GRACE);
	began = now;
	while (used < 100)
		assert_false(offer(1, 0, 0, 1));
	pass(MS);
	assert_false(offer(1, 0, 0, 1));
	while (now - began < AGE_MAX - 9000 * MS) {
		pass(9000 * MS);
		shell.full[1][0] = false;
		assert_int_equal(next(), left++);
		shell.full[1][0] = true;
		torus_host_give_up(&shell.host, 10000 * MS, now);
	}
	assert_int_equal(torus_host_expiry(&shell.host), began + AGE_MAX);
	pass(began + AGE_MAX - 1 - now);
	assert_int_equal(shell.forgot, 0);
	pass(1);
	assert_int_equal(shell.forgot, 64);
	assert_int_equal(torus_host_expiry(&shell.host), began + AGE_MAX);
	pass(0);
	assert_int_equal(left + (int)shell.forgot, 100);
	assert_int_equal(nc(TORUS_NC_HOST_STUCK), shell.forgot);
	assert_int_equal(torus_host_expiry(&shell.host), began + AGE_MAX + MS);
	pass(MS);
	assert_int_equal(left + (int)shell.forgot, 101);
	assert_true(torus_host_expiry(&shell.host) == ~0ull);
	host_end();
}

/*
 * A lane has eight places to be in: with more destinations that share them, one stops a queue, once
 * until one of them moves.
 */
static void ninth_waiting_destination_stops_queue(void **state)
{
	u32 dst;

	(void)state;
	start();
	for (dst = 0; dst < 9 * 32; dst += 32) {
		rest();
		shell.full[dst][0] = true;
		assert_false(offer(dst, 0, 0, 1));
		pass(GRACE);
		assert_int_equal(torus_host_open(&shell.host, 0), dst < 8 * 32);
	}
	assert_int_equal(torus_host_expiry(&shell.host), now - GRACE + PATIENCE);
	pass(PATIENCE - GRACE - 1);
	assert_false(torus_host_open(&shell.host, 0));
	pass(1);
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(shell.forgot, 1);
	assert_false(offer(dst - 32, 0, 0, 1));
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(shell.forgot, 2);
	/* A place that becomes free is taken. */
	shell.full[0][0] = false;
	assert_int_equal(next(), 0);
	assert_false(offer(dst - 32, 0, 0, 1));
	pass(GRACE);
	assert_true(torus_host_open(&shell.host, 0));
	assert_int_equal(shell.forgot, 2);
	host_end();
}

/*
 * A host that sends to a stuck destination as fast as it can, and to another one in between: how
 * long the other one has to wait in all, of ten seconds, and how many messages of it are lost.
 */
static void flood_to_stuck_destination_stops_other_briefly(void **state)
{
	static struct torus_host_msg all[4 * 10000];
	struct torus_host_msg *msg = all;
	u64 stopped = 0, lost = 0;

	(void)state;
	start();
	shell.full[1][0] = true;
	for (u64 ms = 0; ms < 10000; ms++) {
		if (torus_host_open(&shell.host, 0)) {
			used = 0;
			for (int i = 0; i < 4 && torus_host_open(&shell.host, 0); i++, msg++) {
				*msg = (struct torus_host_msg) { .dst = 1, .bytes = 65536 };
				torus_host_wait(&shell.host, msg, now);
			}
			if (torus_host_open(&shell.host, 0))
				lost += !offer(2, 0, 0, 65536);
		} else {
			stopped++;
		}
		pass(MS);
	}
	assert_int_equal(lost, 0);
	assert_true(stopped <= (GRACE + PATIENCE) / MS + 2);
	assert_int_equal(nc(TORUS_NC_HOST_WAITED), 128);
	assert_true(nc(TORUS_NC_HOST_STUCK) > 30000);
	host_end();
}

/* --- random histories -------------------------------------------------------------------- */

#define FLOWS	40		/* dst * VCS + vc; the messages of each flow are numbered */

/** struct model - a flow: messages made, the least number that may leave next, messages lost */
static struct model {
	u32 made, left, lost;
} model[FLOWS];

static void leaves(struct rnd *r, const struct torus_host_msg *msg, u32 number)
{
	struct model *m = &model[msg->dst * TORUS_VCS + msg->vc];

	expect(r, number >= m->left, "flow %u: %u after %u", msg->dst, number, m->left);
	m->lost += number - m->left;
	m->left = number + 1;
}

/* Messages of a flow leave in order, none twice; those that do not leave are counted as drops. */
static void order_one(uint64_t seed)
{
	static u32 number[MANY];
	struct rnd r = rnd_new(seed);
	struct torus_host_msg *msg;
	u32 missing = 0, places = rnd_below(&r, 2) ? 1 : TORUS_VCS;

	start();
	memset(model, 0, sizeof(model));
	for (int step = 0; step < 4000; step++) {
		u32 flow = rnd_below(&r, FLOWS), dst = flow / TORUS_VCS, vc = flow % TORUS_VCS;
		u8 from = (u8)(places == 1 ? 0 : vc);

		if (!rnd_below(&r, 8))
			shell.full[dst][vc] = !shell.full[dst][vc];
		if (!rnd_below(&r, 8))
			now += rnd_below(&r, 2) ? rnd_below(&r, 4) * MS : rnd_below(&r, 600) * MS;
		if (torus_host_open(&shell.host, from) && used < MANY) {
			number[used] = model[flow].made++;
			if (offer(dst, (u8)vc, from, 1 + rnd_below(&r, 2 * MIB)))
				leaves(&r, &pool[used - 1], number[used - 1]);
		}
		if (!rnd_below(&r, 3) && (msg = torus_host_next(&shell.host, now))) {
			expect(&r, !shell.full[msg->dst][msg->vc], "room");
			leaves(&r, msg, number[msg - pool]);
		}
	}
	memset(shell.full, 0, sizeof(shell.full));
	while ((msg = torus_host_next(&shell.host, now)))
		leaves(&r, msg, number[msg - pool]);
	for (u32 i = 0; i < FLOWS; i++)
		missing += model[i].lost + model[i].made - model[i].left;
	expect(&r, missing == shell.forgot && missing == nc(TORUS_NC_HOST_STUCK),
	       "%u missing, %u dropped", missing, shell.forgot);
	expect(&r, !torus_host_ready(&shell.host), "idle");
	host_end();
}

static void random_messages_keep_their_order(void **state)
{
	(void)state;
	for_seeds(300, order_one);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(message_without_room_stops_queue_then_waits_aside),
		cmocka_unit_test(slow_destination_only_stops_its_queue),
		cmocka_unit_test(slow_destination_stops_shared_queue_an_eighth),
		cmocka_unit_test(full_lane_stops_queue_then_drops),
		cmocka_unit_test(freed_memory_lets_queue_go_on),
		cmocka_unit_test(messages_that_do_not_move_are_given_up),
		cmocka_unit_test(message_is_given_up_at_age_limit_behind_moving_ones),
		cmocka_unit_test(ninth_waiting_destination_stops_queue),
		cmocka_unit_test(flood_to_stuck_destination_stops_other_briefly),
		cmocka_unit_test(random_messages_keep_their_order),
	};

	return cmocka_run_group_tests_name("host_lane", all, NULL, NULL);
}
