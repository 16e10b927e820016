// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root, and packets whose places the test knows: through many versions, with packets of all
 * colours in NICs, parked, replayed and returned, the recovery continues when the last of the
 * older packets has ended, and not before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/one_fm.h"
#include "tests/unit/seeds.h"

#define SIZE 4
#define VERSIONS 14

/**
 * struct packets - where packets are; [1]: replayed ones
 * @in: in each NIC, of each colour
 */
struct packets {
	uint64_t in[SIZE][TORUS_COLOURS][2];
};

static struct one_fm o;
static struct packets in;
static struct rnd r;
static uint32_t turn;
static uint64_t replayed;

static void count(uint32_t node, enum torus_flow_counter what, unsigned int colour)
{
	o.node[node].sums.flow[what][colour]++;
}

static void inject(uint32_t node, unsigned int colour)
{
	count(node, TORUS_FC_INJECTED, colour);
	in.in[node][colour][0]++;
}

static void replay(uint32_t node, unsigned int colour)
{
	replayed++;
	count(node, TORUS_FC_REPLAY_TX, colour);
	o.node[node].sums.parked--;
	in.in[node][colour][1]++;
}

/* Moves a packet in the NIC of @node on: it parks, arrives or comes back. */
static void go_on(uint32_t node, unsigned int colour, unsigned int again)
{
	uint32_t to = (node + 1) % SIZE;

	in.in[node][colour][again]--;
	switch (rnd_below(&r, 5)) {
	case 0:
		count(node, TORUS_FC_PARKED, colour);
		o.node[node].sums.parked++;
		if (again)
			count(node, TORUS_FC_REPLAY_PARKED, colour);
		break;
	case 1:
		count(node, TORUS_FC_UNREACHABLE, colour);
		if (again)
			count(node, TORUS_FC_REPLAY_PARKED, colour);
		break;
	case 2:
		count(node, TORUS_FC_DELIVERED, colour);
		if (again)
			count(node, TORUS_FC_REPLAY_RX, colour);
		break;
	default:
		count(node, TORUS_FC_LINK_TX, colour);
		count(to, TORUS_FC_LINK_RX, colour);
		in.in[to][colour][again]++;
	}
}

/*
 * Moves all packets of one NIC, a different NIC each time, and one in @one_in packets of the
 * others.
 */
static void some_go_on(unsigned int one_in)
{
	uint32_t all = turn++ % SIZE;
	struct packets was = in;

	for (uint32_t i = 0; i < SIZE; i++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			for (unsigned int again = 0; again < 2; again++)
				while (was.in[i][c][again]--)
					if (i == all || rnd_one_in(&r, one_in))
						go_on(i, c, again);
}

static uint64_t alive(unsigned int but_colour)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			if (c != but_colour)
				n += in.in[i][c][0] + in.in[i][c][1];
	return n;
}

static uint64_t replayed_alive(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			n += in.in[i][c][1];
	return n;
}

static uint64_t parked(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		n += o.node[i].sums.parked;
	return n;
}

static void replay_all(unsigned int colour)
{
	for (uint32_t i = 0; i < SIZE; i++)
		while (o.node[i].sums.parked)
			replay(i, colour);
}

static unsigned int asked(void)
{
	unsigned int step = one_asked(&o, ONE_SOON);

	expect(&r, step != ONE_NOTHING, "nothing is asked");
	return step;
}

/* Drains the network; the recovery goes on at the next count or at the one after it. */
static void drain(unsigned int colour, bool known)
{
	unsigned int empty = 0;

	for (;;) {
		empty = alive(colour) ? 0 : empty + 1;
		one_answer(&o);
		some_go_on(4);
		if (rnd_one_in(&r, 2))
			inject(rnd_below(&r, SIZE), colour);
		if (asked() != FM_STEP_COUNT)
			break;
		expect(&r, empty < (known ? 1 : 2), "%u counts are empty", empty);
	}
	expect(&r, empty == (known ? 1 : 2), "%u counts are empty", empty);
}

static void replay_until_done(unsigned int colour)
{
	while (asked() == FM_STEP_REPLAY) {
		bool left;

		if (o.node[1].times == 1)
			replay_all(colour);
		left = replayed_alive() || parked();
		one_answer(&o);
		if (!left)
			break;
		some_go_on(2);
		expect(&r, asked() == FM_STEP_REPLAY, "the replay is over too early");
	}
	expect(&r, asked() == FM_STEP_RESUME, "the replay is not over");
}

/* @known: the number of earlier losses is known, so that one count is proof */
static void recover(uint64_t version, bool known)
{
	unsigned int colour = version % TORUS_COLOURS;

	replayed = 0;
	expect(&r, asked() == FM_STEP_APPLY, "no table");
	drain(colour, known);
	if (asked() == FM_STEP_REPLAY)
		replay_until_done(colour);
	expect(&r, asked() == FM_STEP_RESUME, "no resume");
	/* Packets that parked since then have this colour, and would begin another recovery. */
	while (parked())
		for (uint32_t i = 0; i < SIZE; i++)
			if (o.node[i].sums.parked) {
				o.node[i].sums.parked--;
				o.node[i].sums.flow[TORUS_FC_PARKED][colour]--;
				o.node[i].sums.flow[TORUS_FC_DELIVERED][colour]++;
			}
	one_answer(&o);
	expect(&r, fm_last(o.fm)->version == version && !fm_last(o.fm)->bounded &&
	       !fm_last(o.fm)->lost, "lost %llu", (unsigned long long)fm_last(o.fm)->lost);
	expect(&r, fm_last(o.fm)->replayed == replayed, "replayed");
}

/* The NIC of node 2 has lost its memory; the packets in it have ended. */
static void begin_anew(void)
{
	one_gone(&o, 2);
	o.node[2].epoch++;
	memset(&o.node[2].sums, 0, sizeof(o.node[2].sums));
	memset(in.in[2], 0, sizeof(in.in[2]));
	one_join(&o, 2);
	one_answer(&o);
}

static void versions(uint64_t seed)
{
	uint64_t known_from = 0;

	r = rnd_new(seed);
	memset(&in, 0, sizeof(in));
	one_root(&o, SIZE, 8);
	for (uint64_t version = 2; version < VERSIONS; version++) {
		for (unsigned int i = rnd_below(&r, 12); i; i--)
			inject(rnd_below(&r, SIZE), (version - 1) % TORUS_COLOURS);
		if (rnd_one_in(&r, 4)) {
			begin_anew();
			known_from = version + 2;	/* when all colours have been old */
		} else {
			assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
		}
		recover(version, version >= known_from);
	}
	one_end(&o);
}

static void random_versions_have_right_sums(void **state)
{
	(void)state;
	for_seeds(60, versions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_versions_have_right_sums),
	};

	return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
