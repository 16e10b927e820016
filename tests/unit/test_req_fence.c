// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the root that a NIC obeys. If it took an order of a former root, a manager that had hung
 * could change the table of a fabric that another root leads by now, and packets would go in
 * circles.
 */
#include "tests/unit/recorder.h"

#define EPOCH	5u
#define ROOT	0xaaULL
#define OTHER	0xbbULL

static struct recorder r;

#define BY(e, g)	U64(ROOT_EPOCH, e), U64(ROOT_GUID, g)

/* Each command that a root gives, with room for the attributes that name the root. */
struct order {
	unsigned int cmd;
	struct value with[6];
	unsigned int n;
	const char *asked;
};

static const struct order orders[] = {
	{ TORUS_CMD_DEVICE_SET, { U16S(SHAPE, 4, 3), U16S(COORDS, 2, 2) }, 2,
	  "place 2: 4x3x1 at 2 2 0" },
	{ TORUS_CMD_DEVICE_SET, { { 0 } }, 0, "" },
	{ TORUS_CMD_ROWS_BEGIN, { U64(VERSION, 7) }, 1, "rows_begin 7" },
	{ TORUS_CMD_ROWS_COMMIT, { U64(VERSION, 7) }, 1, "rows_commit 7" },
	{ TORUS_CMD_RELEASE, { U64(VERSION, 6), FLAG(GIVE_UP) }, 2, "release 6 1" },
	{ TORUS_CMD_PARK_REPLAY, { U64(VERSION, 6), U16(PORTS, 3) }, 2, "park_replay 6 0x3" },
};

#define for_each_order(o) for (const struct order *o = orders; o < orders + ARRAY_SIZE(orders); o++)

static void start(uint64_t epoch, uint64_t guid)
{
	recorder_start(&r);
	r.hw.root_epoch = epoch;
	r.hw.root_guid = guid;
}

static int run(const struct order *o, uint64_t epoch, uint64_t guid)
{
	struct order by = *o;

	if (epoch) {
		by.with[o->n] = (struct value)U64(ROOT_EPOCH, epoch);
		by.with[o->n + 1] = (struct value)U64(ROOT_GUID, guid);
	}
	return recorder_run(&r, by.cmd, by.with);
}

static void obeys(uint64_t epoch, uint64_t guid)
{
	assert_int_equal(r.hw.root_epoch, epoch);
	assert_int_equal(r.hw.root_guid, guid);
}

static void done(const struct order *o, uint64_t epoch, uint64_t guid)
{
	assert_int_equal(run(o, epoch, guid), 0);
	assert_string_equal(r.asked, o->asked);
}

static void refused(const struct order *o, uint64_t epoch, uint64_t guid, const char *text)
{
	struct torus_hw before = r.hw;

	assert_int_equal(run(o, epoch, guid), -ESTALE);
	recorder_refused(&r, &before, text, epoch ? TORUS_A_ROOT_EPOCH : 0);
}

static void nic_without_root_obeys_any_root(void **state)
{
	(void)state;
	for_each_order(o) {
		start(0, 0);
		done(o, 0, 0);
		obeys(0, 0);
		start(0, 0);
		done(o, EPOCH, ROOT);
		obeys(EPOCH, ROOT);
	}
}

static void nic_obeys_its_root(void **state)
{
	(void)state;
	for_each_order(o) {
		start(EPOCH, ROOT);
		done(o, EPOCH, ROOT);
		obeys(EPOCH, ROOT);
	}
}

static void nic_obeys_later_root(void **state)
{
	(void)state;
	for_each_order(o) {
		start(EPOCH, ROOT);
		done(o, EPOCH + 1, OTHER);
		obeys(EPOCH + 1, OTHER);
		start(EPOCH, ROOT);
		done(o, ~0ULL, 0);
		obeys(~0ULL, 0);
	}
}

static void nic_refuses_former_root(void **state)
{
	(void)state;
	for_each_order(o) {
		start(EPOCH, ROOT);
		refused(o, EPOCH - 1, ROOT,
			"root 00000000000000aa of epoch 4: the NIC obeys 00000000000000aa of 5");
		refused(o, EPOCH, OTHER,
			"root 00000000000000bb of epoch 5: the NIC obeys 00000000000000aa of 5");
		refused(o, EPOCH, ROOT - 1,
			"root 00000000000000a9 of epoch 5: the NIC obeys 00000000000000aa of 5");
		if (o->cmd != TORUS_CMD_DEVICE_SET)
			refused(o, 0, 0, "the NIC obeys root 00000000000000aa of epoch 5; "
					 "this names none");
	}
}

/* A NIC that does not do the action of an order does not obey the root for that. */
static void failed_order_does_not_change_root(void **state)
{
	(void)state;
	for_each_order(o) {
		if (!*o->asked)
			continue;
		start(EPOCH, ROOT);
		r.error = -ENOMEM;
		assert_int_equal(run(o, EPOCH + 1, OTHER), -ENOMEM);
		obeys(EPOCH, ROOT);
		assert_int_equal(run(o, EPOCH, ROOT), -ENOMEM);
		obeys(EPOCH, ROOT);
	}
}

static void order_with_half_a_root_is_refused(void **state)
{
	static const struct value epoch[] = { U64(VERSION, 7), U64(ROOT_EPOCH, 6), { 0 } };
	static const struct value guid[] = { U64(VERSION, 7), U64(ROOT_GUID, OTHER), { 0 } };
	static const struct value zero[] = { U64(VERSION, 7), BY(0, 0), { 0 } };
	struct torus_hw before;

	(void)state;
	start(0, 0);
	before = r.hw;
	assert_int_equal(recorder_run(&r, TORUS_CMD_ROWS_BEGIN, epoch), -EINVAL);
	recorder_refused(&r, &before, "ROOT_EPOCH and ROOT_GUID must be given together", TORUS_A_ROOT_EPOCH);
	assert_int_equal(recorder_run(&r, TORUS_CMD_ROWS_BEGIN, guid), -EINVAL);
	recorder_refused(&r, &before, "ROOT_EPOCH and ROOT_GUID must be given together", TORUS_A_ROOT_GUID);
	assert_int_equal(recorder_run(&r, TORUS_CMD_ROWS_BEGIN, zero), -EINVAL);
	recorder_refused(&r, &before, "ROOT_EPOCH is 0, must be 1 or more", TORUS_A_ROOT_EPOCH);
}

/* After a placement by hand, also at the same place, the NIC obeys no root. */
static void nic_placed_by_hand_obeys_no_root(void **state)
{
	const struct value there[] = { U16S(SHAPE, 4, 3), U16S(COORDS, 1, 2), { 0 } };
	const struct value label[] = { TEXT(NAME, "n1"), U8(BOOTSTRAP, 1), { 0 } };

	(void)state;
	start(EPOCH, ROOT);
	r.error = -ENOMEM;
	assert_int_equal(run(&orders[0], 0, 0), -ENOMEM);
	obeys(EPOCH, ROOT);
	r.error = 0;
	done(&orders[0], 0, 0);
	obeys(0, 0);
	start(EPOCH, ROOT);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, there), 0);
	assert_string_equal(r.asked, "");
	obeys(0, 0);
	start(EPOCH, ROOT);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, label), 0);
	obeys(EPOCH, ROOT);
}

/*
 * A late version of the same root is old, and so is one of no root; a later root may know less, and
 * begins with any version.
 */
static void late_version_of_same_root_is_refused(void **state)
{
	const struct order late = { TORUS_CMD_ROWS_BEGIN, { U64(VERSION, 5) }, 1, "rows_begin 5" };
	const struct order again = { TORUS_CMD_ROWS_BEGIN, { U64(VERSION, 6) }, 1, "rows_begin 6" };
	struct torus_hw before;

	(void)state;
	start(EPOCH, ROOT);
	r.hw.rows_epoch = EPOCH - 1;
	done(&late, EPOCH, ROOT);
	done(&orders[3], EPOCH, ROOT);
	assert_int_equal(r.hw.rows_epoch, EPOCH);
	before = r.hw;
	assert_int_equal(run(&late, EPOCH, ROOT), -ESTALE);
	recorder_refused(&r, &before, "VERSION is 5; active is 6", TORUS_A_VERSION);
	done(&again, EPOCH, ROOT);
	done(&late, EPOCH + 1, OTHER);
	start(0, 0);
	assert_int_equal(run(&late, 0, 0), -ESTALE);
	done(&again, 0, 0);
	r.hw.rows_epoch = EPOCH;	/* rows of a root that the NIC no longer obeys */
	assert_int_equal(run(&late, 0, 0), -ESTALE);
	done(&again, 0, 0);
}

/* Commands that give the NIC facts, or read from it, need no root. */
static void commands_that_only_read_need_no_root(void **state)
{
	const struct order free[] = {
		{ TORUS_CMD_ROWS_PUT, { U64(VERSION, 7), ROW(0, 5, 0) }, 2, "rows_put 7 from 0: 5;" },
		{ TORUS_CMD_HOLD, { U32S(NODES, 3) }, 1, "hold 3" },
		{ TORUS_CMD_PARK_RESOLVE, { U8(PORT, 2), U32(SESSION, 7), U16(SEQ, 9) }, 3,
		  "park_resolve 2 session 7 seq 9 dead 0" },
		{ TORUS_CMD_MGMT_SEND, { U8(PORT, 3), LETTERS(DATA, "hello") }, 2, "mgmt_send 3 'hello'" },
		{ TORUS_CMD_FLOW_GET, { { 0 } }, 0, "flow_get" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(free); i++) {
		start(EPOCH, ROOT);
		done(&free[i], 0, 0);
		obeys(EPOCH, ROOT);
	}
}

static void device_answer_has_root_that_nic_obeys(void **state)
{
	static const struct value nothing[] = { { 0 } };

	(void)state;
	start(EPOCH, ROOT);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, nothing), 0);
	assert_int_equal(r.hw.reply.device.root_epoch, EPOCH);
	assert_int_equal(r.hw.reply.device.root_guid, ROOT);
	r.hw.rows_epoch = EPOCH - 1;
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, nothing), 0);
	assert_int_equal(r.hw.reply.device.rows_epoch, EPOCH - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic_without_root_obeys_any_root),
		cmocka_unit_test(nic_obeys_its_root),
		cmocka_unit_test(nic_obeys_later_root),
		cmocka_unit_test(nic_refuses_former_root),
		cmocka_unit_test(failed_order_does_not_change_root),
		cmocka_unit_test(order_with_half_a_root_is_refused),
		cmocka_unit_test(nic_placed_by_hand_obeys_no_root),
		cmocka_unit_test(late_version_of_same_root_is_refused),
		cmocka_unit_test(commands_that_only_read_need_no_root),
		cmocka_unit_test(device_answer_has_root_that_nic_obeys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
