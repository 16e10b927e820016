// SPDX-License-Identifier: GPL-2.0-only
/*
 * The meaning of each command, with a NIC that only records its orders. If a command ordered
 * something else, or passed on a bad request, each driver behind struct torus_hw_ops would do what
 * its manager did not order; and a manager that gets no reason for a refusal repeats itself.
 */
#include "tests/unit/recorder.h"

static struct recorder r;

/* --- good requests --------------------------------------------------------------------- */

/**
 * struct good - a request that is obeyed
 * @op: the operation that does it
 * @asked: what the NIC is asked
 * @tree: of the answer
 * @gen: by how much it changes rows_gen
 */
static const struct good {
	unsigned int cmd;
	size_t op;
	struct value with[6];
	const char *asked;
	const struct torus_tree *tree;
	unsigned int gen;
} good[] = {
#define OP(x) offsetof(struct torus_hw_ops, x)
	{ TORUS_CMD_DEVICE_GET, OP(device_get), { { 0 } }, "device_get", &torus_tree_device_get, 0 },
	{ TORUS_CMD_DEVICE_SET, OP(place), { U16S(SHAPE, 4, 3), U16S(COORDS, 2, 2) },
	  "place 2: 4x3x1 at 2 2 0", NULL, 1 },
	{ TORUS_CMD_DEVICE_SET, OP(place), { U16S(SHAPE, 5), U16S(COORDS, 4) },
	  "place 1: 5x1x1 at 4 0 0", NULL, 1 },
	{ TORUS_CMD_LINK_GET, OP(link_get), { U8(PORT, 3) }, "link_get 3;", &torus_tree_link_get, 0 },
	{ TORUS_CMD_LINK_SET, OP(link_set), { U8(PORT, 0) },
	  "link_set 0: retry -1 admin -1 retrain 0", NULL, 0 },
	{ TORUS_CMD_LINK_SET, OP(link_set), { U8(PORT, 3), U8(ADMIN, 0), U8(RETRY_WANTED, 0) },
	  "link_set 3: retry 0 admin 0 retrain 0", NULL, 0 },
	{ TORUS_CMD_LINK_SET, OP(link_set),
	  { U8(PORT, 1), FLAG(RETRAIN), U8(ADMIN, 1), U8(RETRY_WANTED, 2),
	    U32S(FAULT, HEAD(TORUS_FAULT_CABLE, 4), 150, HEAD(TORUS_FAULT_BER, 8), 7, 0) },
	  "link_set 1: retry 2 admin 1 retrain 1 fault[1] 7 fault[5] 150", NULL, 0 },
	{ TORUS_CMD_LINK_ATTACH, OP(link_attach), { U8(PORT, 2), TEXT(LOWER, "eth1") },
	  "link_attach 2 'eth1'", NULL, 0 },
	{ TORUS_CMD_LINK_ATTACH, OP(link_attach), { U8(PORT, 2), TEXT(LOWER, "") },
	  "link_attach 2 ''", NULL, 0 },
	{ TORUS_CMD_EYE_GET, OP(eye_get), { U8(PORT, 1), U8(LANE, 11) },
	  "eye_get 1 lane 11", &torus_tree_eye_get, 0 },
	{ TORUS_CMD_MGMT_SEND, OP(mgmt_send), { U8(PORT, 3), LETTERS(DATA, "hello") },
	  "mgmt_send 3 'hello'", NULL, 0 },
	{ TORUS_CMD_ROWS_BEGIN, OP(rows_begin), { U64(VERSION, 1ull << 40) },
	  "rows_begin 1099511627776", NULL, 0 },
	{ TORUS_CMD_ROWS_PUT, OP(rows_put), { U64(VERSION, 7), ROW(0, 5, 0) },
	  "rows_put 7 from 0: 5;", NULL, 0 },
	{ TORUS_CMD_ROWS_PUT, OP(rows_put),
	  { ROW(10, 8, 0, 9, 0), U64(VERSION, 7), ROW(RECORDER_ROWS - 1, 6, 0) },
	  "rows_put 7 from 10: 8 9;rows_put 7 from 11: 6;", NULL, 0 },
	{ TORUS_CMD_ROWS_COMMIT, OP(rows_commit), { U64(VERSION, 7) }, "rows_commit 7", NULL, 1 },
	{ TORUS_CMD_HOLD, OP(hold), { U32S(NODES, 0, RECORDER_ROWS - 1, 3) }, "hold 0 11 3", NULL, 1 },
	{ TORUS_CMD_RELEASE, OP(release), { U64(VERSION, 6) }, "release 6 0", NULL, 1 },
	{ TORUS_CMD_RELEASE, OP(release), { U64(VERSION, 6), FLAG(GIVE_UP) }, "release 6 1", NULL, 1 },
	{ TORUS_CMD_FLOW_GET, OP(flow_get), { { 0 } }, "flow_get", &torus_tree_flow_get, 0 },
	{ TORUS_CMD_PARK_FLOWS_GET, OP(park_flows_get), { { 0 } }, "park_flows_get",
	  &torus_tree_park_flows_get, 0 },
	{ TORUS_CMD_PARK_GET, OP(park_get), { { 0 } }, "park_get", &torus_tree_park_get, 0 },
	{ TORUS_CMD_PARK_RESOLVE, OP(park_resolve),
	  { U8(PORT, 2), U32(SESSION, 70000), U16(SEQ, 4095) },
	  "park_resolve 2 session 70000 seq 4095 dead 0", NULL, 0 },
	{ TORUS_CMD_PARK_RESOLVE, OP(park_resolve), { U8(PORT, 2), U32(SESSION, 70000) },
	  "park_resolve 2 session 70000 seq 0 dead 1", NULL, 0 },
	{ TORUS_CMD_PARK_REPLAY, OP(park_replay), { U64(VERSION, 6), U16(PORTS, 0xf) },
	  "park_replay 6 0xf", NULL, 0 },
#undef OP
};

#define for_each_good(g) for (const struct good *g = good; g < good + ARRAY_SIZE(good); g++)

static void each_valid_command_reaches_nic(void **state)
{
	(void)state;
	for_each_good(g) {
		recorder_start(&r);
		assert_int_equal(recorder_run(&r, g->cmd, g->with), 0);
		assert_string_equal(r.asked, g->asked);
		assert_ptr_equal(r.req.tree, g->tree);
		assert_null(r.req.why.attr);
		assert_string_equal(r.req.why.text, "");
		assert_null(r.req.without);
		assert_int_equal(r.hw.rows_gen, 1 + g->gen);
	}
}

/* Each command of the ABI but SUBSCRIBE, ROWS_GET (a dump) and notifications is in the table. */
static void each_command_of_abi_is_tested(void **state)
{
	(void)state;
	for (unsigned int cmd = 1; cmd <= TORUS_CMD_MAX; cmd++) {
		bool known = false;

		for_each_good(g)
			known |= g->cmd == cmd;
		assert_true(known || cmd == TORUS_CMD_SUBSCRIBE || cmd == TORUS_CMD_ROWS_GET ||
			    !torus_attrs_has(&torus_scopes[cmd].allowed, TORUS_A_IFINDEX));
	}
}

static void expect_failure(const struct good *g, int err, const char *text)
{
	struct torus_hw before;

	recorder_start(&r);
	before = r.hw;
	r.error = err;
	assert_int_equal(recorder_run(&r, g->cmd, g->with), err);
	assert_memory_equal(&r.hw, &before, offsetof(struct torus_hw, reply));
	/* DEVICE_SET and LINK_ATTACH have texts of their own, below. */
	if (g->cmd == TORUS_CMD_DEVICE_SET || g->cmd == TORUS_CMD_LINK_ATTACH)
		return;
	assert_true(!strncmp(r.req.why.text, torus_cmd_name(g->cmd), strlen(torus_cmd_name(g->cmd))));
	assert_string_equal(r.req.why.text + strlen(torus_cmd_name(g->cmd)), text);
}

/* The NIC's error is the command's, with a reason, and nothing has changed. */
static void failed_command_changes_nothing(void **state)
{
	(void)state;
	for_each_good(g) {
		if (g->cmd == TORUS_CMD_DEVICE_GET)	/* this command cannot fail */
			continue;
		expect_failure(g, -EIO, " was refused");
		expect_failure(g, -ENOMEM, ": out of memory");
		/* The device has its place, and is gone all the same. */
		expect_failure(g, -ENODEV, " was refused");
		/* this command reports what is busy, below */
		if (g->cmd != TORUS_CMD_PARK_REPLAY)
			expect_failure(g, -EBUSY, " was refused");
	}
}

/* A NIC leaves out values that it does not have, and refuses requests for them. */
static void command_that_nic_lacks_is_refused(void **state)
{
	struct torus_hw before;
	char text[64];

	(void)state;
	for_each_good(g) {
		if (g->cmd == TORUS_CMD_DEVICE_GET || g->cmd == TORUS_CMD_LINK_GET ||
		    g->cmd == TORUS_CMD_LINK_SET)
			continue;
		recorder_start(&r);
		memset((u8 *)&r.ops + g->op, 0, sizeof(r.ops.place));
		before = r.hw;
		assert_int_equal(recorder_run(&r, g->cmd, g->with), -EOPNOTSUPP);
		assert_string_equal(r.asked, "");
		snprintf(text, sizeof(text), "%s: this NIC cannot do that", torus_cmd_name(g->cmd));
		if (g->cmd == TORUS_CMD_LINK_ATTACH)
			recorder_refused(&r, &before, "LOWER: the ports of this NIC have no "
					 "lower devices", TORUS_A_LOWER);
		else
			recorder_refused(&r, &before, text, 0);
	}
}

/* --- refusals ------------------------------------------------------------------------------- */

/**
 * struct refused - a request that is good by its rules, and refused all the same
 * @bare: the NIC has no place
 * @fails: with this error, if not 0, at the operation that @asked names
 */
static const struct refused {
	unsigned int cmd;
	bool bare;
	int fails;
	struct value with[4];
	int err;
	const char *text;
	unsigned int attr;
	const char *asked;
} refusals[] = {
#define NO_PLACE "the NIC has no place yet: SHAPE and COORDS are not set"
#define NO_PORT "PORT is 4, must be 0 to 3"
	{ TORUS_CMD_LINK_GET, 0, 0, { U8(PORT, 4) }, -EINVAL, NO_PORT, TORUS_A_PORT, "" },
	{ TORUS_CMD_LINK_SET, 0, 0, { U8(PORT, 4) }, -EINVAL, NO_PORT, TORUS_A_PORT, "" },
	{ TORUS_CMD_LINK_ATTACH, 0, 0, { U8(PORT, 4), TEXT(LOWER, "eth1") }, -EINVAL, NO_PORT,
	  TORUS_A_PORT, "" },
	{ TORUS_CMD_EYE_GET, 0, 0, { U8(PORT, 4), U8(LANE, 0) }, -EINVAL, NO_PORT, TORUS_A_PORT, "" },
	{ TORUS_CMD_MGMT_SEND, 0, 0, { U8(PORT, 4), LETTERS(DATA, "x") }, -EINVAL, NO_PORT,
	  TORUS_A_PORT, "" },
	{ TORUS_CMD_PARK_RESOLVE, 0, 0, { U8(PORT, 4), U32(SESSION, 1) }, -EINVAL, NO_PORT,
	  TORUS_A_PORT, "" },
	{ TORUS_CMD_PARK_REPLAY, 0, 0, { U64(VERSION, 6), U16(PORTS, 0x12) }, -ERANGE,
	  "PORTS is 0x12, must be within the mask 0xf", TORUS_A_PORTS, "" },

	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 3) }, -EINVAL,
	  "SHAPE and COORDS must be given together", TORUS_A_SHAPE, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(COORDS, 1, 1) }, -EINVAL,
	  "SHAPE and COORDS must be given together", TORUS_A_COORDS, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 3), U16S(COORDS, 1) }, -EINVAL,
	  "COORDS has 1 entries, SHAPE 2", TORUS_A_COORDS, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 3, 2), U16S(COORDS, 0, 0, 0) }, -EINVAL,
	  "SHAPE has 3 dimensions, 4 ports allow 1 to 2", TORUS_A_SHAPE, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 0), U16S(COORDS, 0, 0) }, -EINVAL,
	  "SHAPE: sizes must be 1 to 4096, 16777216 nodes at most", TORUS_A_SHAPE, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 3), U16S(COORDS, 1, 3) }, -ERANGE,
	  "COORDS[1] is 3, must be 0 to 2", TORUS_A_COORDS, "" },
	{ TORUS_CMD_DEVICE_SET, 0, 0, { U16S(SHAPE, 4, 3), U16S(COORDS, 4, 0) }, -ERANGE,
	  "COORDS[0] is 4, must be 0 to 3", TORUS_A_COORDS, "" },
	{ TORUS_CMD_DEVICE_SET, 0, -ENOMEM, { U16S(SHAPE, 3), U16S(COORDS, 1) }, -ENOMEM,
	  "no memory for tables of this shape", 0, "place 1: 3x1x1 at 1 0 0" },
	{ TORUS_CMD_DEVICE_SET, 0, -EINVAL, { U16S(SHAPE, 3), U16S(COORDS, 1) }, -EINVAL,
	  "the NIC refused its place", 0, "place 1: 3x1x1 at 1 0 0" },

	{ TORUS_CMD_LINK_ATTACH, 0, -EBUSY, { U8(PORT, 1), TEXT(LOWER, "eth1") }, -EBUSY,
	  "LOWER 'eth1': it carries another port", TORUS_A_LOWER, "link_attach 1 'eth1'" },
	{ TORUS_CMD_LINK_ATTACH, 0, -EIO, { U8(PORT, 1), TEXT(LOWER, "eth1") }, -EIO,
	  "LOWER 'eth1': it was refused", TORUS_A_LOWER, "link_attach 1 'eth1'" },
	{ TORUS_CMD_MGMT_SEND, 0, -ENETDOWN, { U8(PORT, 3), LETTERS(DATA, "x") }, -ENETDOWN,
	  "the link of port 3 is not up", 0, "mgmt_send 3 'x'" },
	{ TORUS_CMD_MGMT_SEND, 0, -EAGAIN, { U8(PORT, 3), LETTERS(DATA, "x") }, -EAGAIN,
	  "port 3 has too many management packets waiting", 0, "mgmt_send 3 'x'" },

	{ TORUS_CMD_ROWS_BEGIN, 1, -ENODEV, { U64(VERSION, 1) }, -ENODEV, NO_PLACE, 0,
	  "rows_begin 1" },
	{ TORUS_CMD_ROWS_PUT, 1, 0, { U64(VERSION, 1), ROW(0, 1, 0) }, -ENODEV, NO_PLACE, 0, "" },
	{ TORUS_CMD_ROWS_PUT, 0, 0, { U64(VERSION, 1), ROW(RECORDER_ROWS, 1, 0) }, -ERANGE,
	  "ROWS are 12 to 12, must be 0 to 11", TORUS_A_ROWS, "" },
	{ TORUS_CMD_ROWS_PUT, 0, 0, { U64(VERSION, 1), ROW(RECORDER_ROWS - 1, 1, 0, 2, 0) }, -ERANGE,
	  "ROWS are 11 to 12, must be 0 to 11", TORUS_A_ROWS, "" },
	{ TORUS_CMD_ROWS_PUT, 0, 0, { ROW(2, 9, 0), U64(VERSION, 1), ROW(RECORDER_ROWS, 1, 0) }, -ERANGE,
	  "ROWS are 12 to 12, must be 0 to 11", TORUS_A_ROWS, "rows_put 1 from 2: 9;" },
	{ TORUS_CMD_ROWS_PUT, 0, -EINVAL, { U64(VERSION, 1), ROW(2, 9, 0), ROW(3, 1, 0) }, -EINVAL,
	  "ROWS from 2 on: a row has an unknown format or a value out of range", TORUS_ROWS_DATA,
	  "rows_put 1 from 2: 9;" },
	{ TORUS_CMD_ROWS_PUT, 0, -ESTALE, { U64(VERSION, 1), ROW(2, 9, 0), ROW(3, 1, 0) }, -ESTALE,
	  "VERSION is 1; active is 6", TORUS_A_VERSION, "rows_put 1 from 2: 9;" },
	{ TORUS_CMD_ROWS_COMMIT, 0, -ESTALE, { U64(VERSION, 8) }, -ESTALE,
	  "VERSION is 8; active is 6", TORUS_A_VERSION, "rows_commit 8" },

	{ TORUS_CMD_HOLD, 1, 0, { U32S(NODES, 0) }, -ENODEV, NO_PLACE, 0, "" },
	{ TORUS_CMD_HOLD, 0, 0, { U32S(NODES, 1, RECORDER_ROWS, 2) }, -ERANGE,
	  "NODES[1] is 12, must be 0 to 11", TORUS_A_NODES, "" },
	{ TORUS_CMD_RELEASE, 0, -ESTALE, { U64(VERSION, 5) }, -ESTALE,
	  "VERSION is 5; active is 6", TORUS_A_VERSION, "release 5 0" },
	{ TORUS_CMD_RELEASE, 1, -ENODEV, { U64(VERSION, 5) }, -ENODEV, NO_PLACE, 0, "release 5 0" },
	{ TORUS_CMD_PARK_REPLAY, 0, -ESTALE, { U64(VERSION, 5), U16(PORTS, 0) }, -ESTALE,
	  "VERSION is 5; active is 6", TORUS_A_VERSION, "park_replay 5 0" },
	{ TORUS_CMD_PARK_REPLAY, 0, -EBUSY, { U64(VERSION, 6), U16(PORTS, 1) }, -EBUSY,
	  "some parked packets are not resolved yet", 0, "park_replay 6 0x1" },
};

static void invalid_request_is_refused_with_its_attribute(void **state)
{
	struct torus_hw before;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refused *x = &refusals[i];

		recorder_start(&r);
		r.hw.placed = !x->bare;
		r.error = x->fails;
		before = r.hw;
		assert_int_equal(recorder_run(&r, x->cmd, x->with), x->err);
		assert_string_equal(r.asked, x->asked);
		recorder_refused(&r, &before, x->text, x->attr);
	}
}

/* Only NICs of software have faults to order. */
static void nic_without_fault_injection_refuses_faults(void **state)
{
	const struct value with[] = {
		U8(PORT, 1), U32S(FAULT, HEAD(TORUS_FAULT_CABLE, 4), 150), { 0 },
	};
	const struct value without[] = { U8(PORT, 1), U8(ADMIN, 1), { 0 } };
	struct torus_hw before;

	(void)state;
	recorder_start(&r);
	r.ops.injects = false;
	before = r.hw;
	assert_int_equal(recorder_run(&r, TORUS_CMD_LINK_SET, with), -EOPNOTSUPP);
	assert_string_equal(r.asked, "");
	recorder_refused(&r, &before, "FAULT: only software NICs can inject faults",
			 TORUS_A_FAULT);
	assert_int_equal(recorder_run(&r, TORUS_CMD_LINK_SET, without), 0);
	assert_string_equal(r.asked, "link_set 1: retry -1 admin 1 retrain 0");
}

/*
 * A device without fault injection reports no faults of a port: they would be taken for those of a
 * model.
 */
static void nic_without_fault_injection_reports_none(void **state)
{
	const struct value port[] = { U8(PORT, 1), { 0 } };

	(void)state;
	recorder_start(&r);
	r.ops.injects = false;
	assert_int_equal(recorder_run(&r, TORUS_CMD_LINK_GET, port), 0);
	assert_non_null(r.req.without);
	for (unsigned int a = 1; a <= TORUS_A_MAX; a++)
		assert_int_equal(torus_attrs_has(r.req.without, a), a == TORUS_A_FAULT);
}

/*
 * Some commands have no meaning for a NIC, and are refused: notifications, a dump as a do, numbers
 * of newer ABIs.
 */
static void command_without_meaning_for_nic_is_refused(void **state)
{
	static const unsigned int none[] = {
		0, TORUS_CMD_ROWS_GET, TORUS_CMD_SUBSCRIBE, TORUS_CMD_LINK_NTF, TORUS_CMD_MGMT_NTF,
		TORUS_CMD_PARK_NTF, TORUS_CMD_MAX + 1, ~0u,
	};
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(none); i++) {
		recorder_start(&r);
		r.asked[0] = 0;
		r.req = (struct torus_req) { .cmd = none[i], .tb = r.tb, .from = 1 };
		assert_int_equal(torus_req_run(&r.hw, &r.req), -EOPNOTSUPP);
		snprintf(text, sizeof(text), "command %u is a notification or unknown, not a request", none[i]);
		assert_string_equal(r.req.why.text, text);
		assert_string_equal(r.asked, "");
	}
}

/* --- places ---------------------------------------------------------------------------------- */

/* --- address plans --------------------------------------------------------------------------- */

#define NET4(b, c) LETTERS(NET4, "\x0a" b c "\0"), U8(NET4_LEN, 24)
#define NET6(b) LETTERS(NET6, "\xfd\x01" b "\0\0\0\0\0\0\0\0\0\0\0\0\0")
#define GIVEN "plan 10.1.2.0/24 fd01:0300/64"

/* A plan is told to the NIC if it is another one; rows and place stay as they are. */
static void changed_plan_keeps_rows_and_place(void **state)
{
	const struct value plan[] = { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 64), { 0 } };
	const struct value moves[] = { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 64),
				       U16S(SHAPE, 5), U16S(COORDS, 4), { 0 } };
	const struct value stays[] = { U16S(SHAPE, 5), U16S(COORDS, 4), { 0 } };
	const struct value larger[] = { U16S(SHAPE, 257), U16S(COORDS, 4), { 0 } };
	const struct value none[] = { { 0 } };

	(void)state;
	recorder_start(&r);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, plan), 0);
	assert_string_equal(r.asked, GIVEN);
	assert_int_equal(r.hw.rows_gen, 1);
	assert_int_equal(r.hw.node, 9);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, plan), 0);
	assert_string_equal(r.asked, "");
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, none), 0);
	assert_memory_equal(&r.hw.reply.device.plan, &r.hw.plan, sizeof(r.hw.plan));
	assert_int_equal(r.hw.plan.len4, 24);
	assert_int_equal(r.hw.plan.net6[2], 3);

	recorder_start(&r);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, moves), 0);
	assert_string_equal(r.asked, "place 1: 5x1x1 at 4 0 0" GIVEN);
	assert_int_equal(r.hw.rows_gen, 2);

	/* The manager of an earlier release names no plan. */
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, stays), 0);
	assert_string_equal(r.asked, "");
	assert_int_equal(r.hw.plan.len4, 24);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, larger), 0);
	assert_string_equal(r.asked, "place 1: 257x1x1 at 4 0 0plan 10.0.0.0/8 fd74:6f72/32");
	assert_memory_equal(&r.hw.plan, &tn_plan_default, sizeof(tn_plan_default));

	/* A NIC without a place takes a plan, too. */
	recorder_start(&r);
	r.hw.placed = false;
	r.hw.shape.ndims = 0;
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, plan), 0);
	assert_string_equal(r.asked, GIVEN);
}

static void impossible_address_plan_is_refused(void **state)
{
	const struct {
		struct value with[7];
		int err;
		const char *text;
		unsigned int attr;
	} t[] = {
		{ { NET4("\x01", "\x02") }, -EINVAL,
		  "NET4, NET4_LEN, NET6 and NET6_LEN must be given together", TORUS_A_NET4 },
		{ { NET4("\x01", "\x02"), U8(NET6_LEN, 64) }, -EINVAL,
		  "NET4, NET4_LEN, NET6 and NET6_LEN must be given together", TORUS_A_NET4 },
		{ { LETTERS(NET4, "\x0a\x01\x02\x01"), U8(NET4_LEN, 24), NET6("\x03"),
		    U8(NET6_LEN, 64) }, -EINVAL,
		  "NET4: must be a prefix of unicast addresses, without bits after NET4_LEN", TORUS_A_NET4 },
		{ { LETTERS(NET4, "\x7f\0\0\0"), U8(NET4_LEN, 24), NET6("\x03"), U8(NET6_LEN, 64) },
		  -EINVAL, "NET4: must be a prefix of unicast addresses, without bits after NET4_LEN",
		  TORUS_A_NET4 },
		{ { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 23) }, -EINVAL,
		  "NET6: must be a prefix of unicast addresses, without bits after NET6_LEN", TORUS_A_NET6 },
		{ { LETTERS(NET4, "\x0a\x01\x02\x10"), U8(NET4_LEN, 29), NET6("\x03"),
		    U8(NET6_LEN, 64) }, -EINVAL,
		  "NET4_LEN is 29: too long a prefix for 12 nodes", TORUS_A_NET4_LEN },
		{ { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 125) }, -EINVAL,
		  "NET6_LEN is 125: too long a prefix for 12 nodes", TORUS_A_NET6_LEN },
		/* The plan would hold the present shape, but not the new one. */
		{ { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 64), U16S(SHAPE, 257),
		    U16S(COORDS, 4) }, -EINVAL,
		  "NET4_LEN is 24: too long a prefix for 257 nodes", TORUS_A_NET4_LEN },
	};
	struct torus_hw before;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		recorder_start(&r);
		before = r.hw;
		assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, t[i].with), t[i].err);
		assert_string_equal(r.asked, "");
		recorder_refused(&r, &before, t[i].text, t[i].attr);
	}
}

/* A NIC that knows only the default plan shows that by reporting none. */
static void nic_without_plans_refuses_and_reports_none(void **state)
{
	const struct value plan[] = { NET4("\x01", "\x02"), NET6("\x03"), U8(NET6_LEN, 64), { 0 } };
	const struct value none[] = { { 0 } };

	(void)state;
	recorder_start(&r);
	r.ops.plan = NULL;
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, plan), -EOPNOTSUPP);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, none), 0);
	assert_non_null(r.req.without);
	for (unsigned int a = 1; a <= TORUS_A_MAX; a++)
		assert_int_equal(torus_attrs_has(r.req.without, a),
				 a == TORUS_A_NET4 || a == TORUS_A_NET4_LEN || a == TORUS_A_NET6 ||
				 a == TORUS_A_NET6_LEN);
}

/* A place is asked of the NIC only if it is another: a manager that starts again loses no rows. */
static void only_another_place_is_asked_of_nic(void **state)
{
	const struct value other[] = { U16S(SHAPE, 4, 3), U16S(COORDS, 3, 1), { 0 } };
	const struct value flat[] = { U16S(SHAPE, 4), U16S(COORDS, 3), { 0 } };
	const struct value tall[] = { U16S(SHAPE, 4, 1), U16S(COORDS, 3, 0), { 0 } };
	const struct value larger[] = { U16S(SHAPE, 4, 2), U16S(COORDS, 3, 0), { 0 } };
	const struct { const struct value *with; u32 node; } places[] = {
		{ other, 7 }, { flat, 3 }, { tall, 3 }, { larger, 3 },
	};

	(void)state;
	recorder_start(&r);
	r.hw.placed = false;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		u32 gen = r.hw.rows_gen;

		assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, places[i].with), 0);
		assert_true(r.asked[0]);
		assert_true(r.hw.placed);
		assert_int_equal(r.hw.node, places[i].node);
		assert_int_equal(r.hw.rows_gen, gen + 1);
		assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, places[i].with), 0);
		assert_string_equal(r.asked, "");
		assert_int_equal(r.hw.rows_gen, gen + 1);
	}
	assert_int_equal(r.hw.shape.ndims, 2);
	assert_int_equal(r.hw.shape.size[1], 2);
	assert_int_equal(r.hw.at.c[0], 3);
}

/* The name and the bootstrap flag are set by themselves, without asking the NIC. */
static void label_is_set_without_asking_nic(void **state)
{
	const struct value set[] = { TEXT(NAME, "a-longer-name"), U8(BOOTSTRAP, 0), { 0 } };
	const struct value name[] = { TEXT(NAME, "n"), { 0 } };
	const struct value flag[] = { U8(BOOTSTRAP, 1), { 0 } };
	char longest[TORUS_NAME_MAX + 1];
	struct value full[] = { { TORUS_A_NAME, sizeof(longest), 0, longest }, { 0 } };
	static const char zeros[sizeof(r.hw.name) - 1];

	(void)state;
	recorder_start(&r);
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_SET, set), 0);
	assert_string_equal(r.asked, "");
	assert_string_equal(r.hw.name, "n9");
	torus_req_label(&r.hw, &r.req);
	assert_string_equal(r.hw.name, "a-longer-name");
	assert_false(r.hw.bootstrap);
	recorder_run(&r, TORUS_CMD_DEVICE_SET, flag);
	torus_req_label(&r.hw, &r.req);
	assert_string_equal(r.hw.name, "a-longer-name");
	assert_true(r.hw.bootstrap);
	recorder_run(&r, TORUS_CMD_DEVICE_SET, name);
	torus_req_label(&r.hw, &r.req);
	assert_int_equal(r.hw.name[0], 'n');
	assert_memory_equal(r.hw.name + 1, zeros, sizeof(zeros));
	memset(longest, 'x', TORUS_NAME_MAX);
	longest[TORUS_NAME_MAX] = 0;
	recorder_run(&r, TORUS_CMD_DEVICE_SET, full);
	torus_req_label(&r.hw, &r.req);
	assert_string_equal(r.hw.name, longest);
}

/* --- writers of rows --------------------------------------------------------------------------- */

static int run_from(u64 from, unsigned int cmd, const struct value *with)
{
	recorder_request(&r, cmd, false, with);
	r.req.from = from;
	return torus_req_run(&r.hw, &r.req);
}

/*
 * The writer that began last of two may go on; the other gets an error, and its rows are
 * refused.
 */
static void writer_that_began_first_is_refused(void **state)
{
	const struct value v[] = { U64(VERSION, 7), { 0 } };
	const struct value puts[] = { U64(VERSION, 7), ROW(0, 5, 0), { 0 } };
	static const char text[] = "another socket began to write rows meanwhile";
	struct torus_hw before;

	(void)state;
	recorder_start(&r);
	assert_int_equal(run_from(1, TORUS_CMD_ROWS_BEGIN, v), 0);
	assert_int_equal(run_from(2, TORUS_CMD_ROWS_BEGIN, v), 0);
	before = r.hw;
	assert_int_equal(run_from(1, TORUS_CMD_ROWS_PUT, puts), -ESTALE);
	recorder_refused(&r, &before, text, 0);
	assert_int_equal(run_from(1, TORUS_CMD_ROWS_COMMIT, v), -ESTALE);
	recorder_refused(&r, &before, text, 0);
	assert_string_equal(r.asked, "");
	/* A begin that fails takes nothing from who writes. */
	r.error = -EIO;
	assert_int_equal(run_from(1, TORUS_CMD_ROWS_BEGIN, v), -EIO);
	r.error = 0;
	assert_int_equal(run_from(2, TORUS_CMD_ROWS_PUT, puts), 0);
	assert_int_equal(run_from(2, TORUS_CMD_ROWS_COMMIT, v), 0);
	/* The rows are committed: the NIC knows what is left of a begin. */
	assert_int_equal(run_from(1, TORUS_CMD_ROWS_PUT, puts), 0);
	assert_string_equal(r.asked, "rows_put 7 from 0: 5;");
}

/* --- answers ------------------------------------------------------------------------------------- */

static const struct value nothing[] = { { 0 } };

static void answer_of_device_has_all_fields(void **state)
{
	const struct torus_device *d = &r.hw.reply.device;

	(void)state;
	recorder_start(&r);
	memset(&r.hw.reply, 0x5a, sizeof(r.hw.reply));
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, nothing), 0);
	assert_string_equal(d->name, "n9");
	assert_string_equal(d->ifname, "torus5");
	/* A long name is truncated to the room that there is. */
	assert_string_equal(d->driver, "recorder-of-req");
	assert_int_equal(d->ifindex, 5);
	assert_int_equal(d->guid, 0x1122334455667788);
	assert_int_equal(d->epoch, 21);
	assert_int_equal(d->nports, 4);
	assert_true(d->bootstrap && d->placed);
	assert_memory_equal(&d->shape, &r.hw.shape, sizeof(r.hw.shape));
	assert_memory_equal(&d->coords, &r.hw.at, sizeof(r.hw.at));
	assert_int_equal(d->node, 9);
	assert_int_equal(d->version, 6);
	assert_int_equal(d->row_count, RECORDER_ROWS);
	assert_int_equal(d->relay_packets, 31);
	assert_int_equal(d->counter[TORUS_NC_COUNT - 1], 100 + TORUS_NC_COUNT - 1);
	assert_null(r.req.without);
}

/* Attributes of a place are left out before there is one: a node 0 would look like a place. */
static void device_without_place_leaves_out_its_attributes(void **state)
{
	(void)state;
	recorder_start(&r);
	r.hw.placed = false;
	memset(&r.hw.reply, 0x5a, sizeof(r.hw.reply));
	assert_int_equal(recorder_run(&r, TORUS_CMD_DEVICE_GET, nothing), 0);
	assert_false(r.hw.reply.device.placed);
	assert_int_equal(r.hw.reply.device.shape.ndims, 0);
	assert_int_equal(r.hw.reply.device.row_count, 0);
	assert_int_equal(r.hw.reply.device.version, 0);
	assert_non_null(r.req.without);
	for (unsigned int a = 1; a <= TORUS_A_MAX; a++)
		assert_int_equal(torus_attrs_has(r.req.without, a),
				 a == TORUS_A_NODE || a == TORUS_A_VERSION || a == TORUS_A_ROW_COUNT ||
				 a == TORUS_A_ROWS_EPOCH);
}

/* Replies name the NIC that answers. */
static void replies_name_nic_that_answers(void **state)
{
	const struct value port[] = { U8(PORT, 3), { 0 } };
	const struct value lane[] = { U8(PORT, 3), U8(LANE, 2), { 0 } };

	(void)state;
	recorder_start(&r);
	memset(&r.hw.reply, 0x5a, sizeof(r.hw.reply));
	recorder_run(&r, TORUS_CMD_LINK_GET, port);
	assert_int_equal(r.hw.reply.link.ifindex, 5);
	assert_int_equal(r.hw.reply.link.session, 43);
	recorder_run(&r, TORUS_CMD_FLOW_GET, nothing);
	assert_int_equal(r.hw.reply.flow.ifindex, 5);
	assert_int_equal(r.hw.reply.flow.version, 50);
	recorder_run(&r, TORUS_CMD_PARK_GET, nothing);
	assert_int_equal(r.hw.reply.park.flow.ifindex, 5);
	assert_int_equal(r.hw.reply.park.parked, 60);
	memset(&r.hw.reply, 0x5a, sizeof(r.hw.reply));
	recorder_run(&r, TORUS_CMD_EYE_GET, lane);
	assert_int_equal(r.hw.reply.eye.ifindex, 5);
	assert_int_equal(r.hw.reply.eye.port, 3);
	assert_int_equal(r.hw.reply.eye.lane, 2);
	assert_int_equal(r.hw.reply.eye.swing, 300);
	assert_int_equal(r.hw.reply.eye.mask_width, 0);
	assert_int_equal(r.hw.reply.eye.map[0][0], 0);
	assert_int_equal(r.hw.reply.eye.map[3][4], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_valid_command_reaches_nic),
		cmocka_unit_test(each_command_of_abi_is_tested),
		cmocka_unit_test(failed_command_changes_nothing),
		cmocka_unit_test(command_that_nic_lacks_is_refused),
		cmocka_unit_test(invalid_request_is_refused_with_its_attribute),
		cmocka_unit_test(nic_without_fault_injection_refuses_faults),
		cmocka_unit_test(nic_without_fault_injection_reports_none),
		cmocka_unit_test(command_without_meaning_for_nic_is_refused),
		cmocka_unit_test(changed_plan_keeps_rows_and_place),
		cmocka_unit_test(impossible_address_plan_is_refused),
		cmocka_unit_test(nic_without_plans_refuses_and_reports_none),
		cmocka_unit_test(only_another_place_is_asked_of_nic),
		cmocka_unit_test(label_is_set_without_asking_nic),
		cmocka_unit_test(writer_that_began_first_is_refused),
		cmocka_unit_test(answer_of_device_has_all_fields),
		cmocka_unit_test(device_without_place_leaves_out_its_attributes),
		cmocka_unit_test(replies_name_nic_that_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
