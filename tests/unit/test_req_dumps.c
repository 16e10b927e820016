// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of a NIC, its ports and its rows, part by part. If a part were missing or repeated, a
 * manager would compute routes from links and rows that are not those of the NIC.
 */
#include "tests/unit/recorder.h"

static struct recorder r;
static struct torus_parts parts;
static u32 buf[20000];

static int begin(unsigned int cmd, const struct value *with)
{
	recorder_request(&r, cmd, true, with);
	memset(&parts, 0xa5, sizeof(parts));
	return torus_req_dump(&r.hw, &r.req, &parts);
}

/* Gets the next part, in @room bytes, behind which nothing may be written. */
static int next(unsigned int cmd, size_t room)
{
	int n;

	assert_true(room + 64 <= sizeof(buf));
	memset(buf, 0x5a, sizeof(buf));
	n = torus_req_part(&r.hw, cmd, &parts, buf, room);
	assert_true(n <= (int)room);
	for (size_t i = room; i < room + 64; i++)
		assert_int_equal(((u8 *)buf)[i], 0x5a);
	return n;
}

static const struct value nothing[] = { { 0 } };

/* --- the NIC and its ports -------------------------------------------------------------- */

static struct torus_attrs seen;

/* Parses the part of @n bytes, as the manager does. */
static void parse(const struct torus_tree *tree, int n, void *to)
{
	struct torus_refusal why;

	assert_true(n > 0);
	memset(to, 0, tree->size);
	if (torus_tree_parse(tree, (struct torus_span) { buf, (size_t)n }, to, &seen, &why))
		fail_msg("%s", why.text);
}

static void dump_of_devices_has_one_device(void **state)
{
	struct torus_device d;

	(void)state;
	recorder_start(&r);
	assert_int_equal(begin(TORUS_CMD_DEVICE_GET, nothing), 0);
	parse(&torus_tree_device_get, next(TORUS_CMD_DEVICE_GET, 4096), &d);
	assert_string_equal(d.name, "n9");
	assert_int_equal(d.ifindex, 5);
	assert_int_equal(d.node, 9);
	assert_int_equal(next(TORUS_CMD_DEVICE_GET, 4096), 0);
}

static void dump_of_links_has_each_port(void **state)
{
	struct torus_link link;

	(void)state;
	recorder_start(&r);
	assert_int_equal(begin(TORUS_CMD_LINK_GET, nothing), 0);
	for (unsigned int port = 0; port < 4; port++) {
		parse(&torus_tree_link_get, next(TORUS_CMD_LINK_GET, 4096), &link);
		assert_int_equal(link.port, port);
		assert_int_equal(link.session, 40 + port);
		assert_int_equal(link.ifindex, 5);
	}
	assert_int_equal(next(TORUS_CMD_LINK_GET, 4096), 0);
	assert_string_equal(r.asked, "link_get 0;link_get 1;link_get 2;link_get 3;");
}

/* Faults and cable are those of a model. A NIC that is not of software must not seem to be one. */
static void hardware_nic_reports_no_modelled_line(void **state)
{
	struct torus_link link;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		recorder_start(&r);
		r.ops.injects = i;
		begin(TORUS_CMD_LINK_GET, nothing);
		parse(&torus_tree_link_get, next(TORUS_CMD_LINK_GET, 4096), &link);
		assert_int_equal(torus_attrs_has(&seen, TORUS_A_FAULT), i);
	}
}

/* An entry that does not fit is not lost: the next message begins with it. */
static void entry_that_does_not_fit_comes_next(void **state)
{
	static const struct { unsigned int cmd, times; } dumps[] = {
		{ TORUS_CMD_DEVICE_GET, 1 }, { TORUS_CMD_LINK_GET, 4 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(dumps); i++) {
		unsigned int cmd = dumps[i].cmd;

		recorder_start(&r);
		assert_int_equal(begin(cmd, nothing), 0);
		for (unsigned int n = 0; n < dumps[i].times; n++) {
			assert_int_equal(next(cmd, 0), -EMSGSIZE);
			assert_int_equal(next(cmd, 100), -EMSGSIZE);
			assert_true(next(cmd, 4096) > 100);
		}
		assert_int_equal(next(cmd, 0), 0);
	}
}

/*
 * A port that cannot be read does not end the dump as if it was complete: the reader gets the
 * error.
 */
static void port_that_fails_ends_dump_with_error(void **state)
{
	(void)state;
	recorder_start(&r);
	begin(TORUS_CMD_LINK_GET, nothing);
	assert_true(next(TORUS_CMD_LINK_GET, 4096) > 0);
	r.error = -EIO;
	assert_int_equal(next(TORUS_CMD_LINK_GET, 4096), -EIO);
	assert_int_equal(next(TORUS_CMD_LINK_GET, 4096), -EIO);
	assert_string_equal(r.asked, "link_get 0;link_get 1;link_get 1;");
}

/* --- rows ------------------------------------------------------------------------------------- */

#define AROUND	28	/* bytes of a part besides its rows */

static u64 row_at(unsigned int i)
{
	return torus_number_at((u8 *)buf + AROUND + i * sizeof(u64), sizeof(u64));
}

/* Checks a part of @n rows from @first on, of version @version, and no more than that. */
static void expect_rows(int bytes, u64 version, u32 first, u32 n)
{
	struct torus_span s = { buf, (size_t)bytes };
	const struct nlattr *a, *tb[TORUS_ROWS_MAX + 1];

	assert_int_equal(bytes, AROUND + n * sizeof(u64));
	a = torus_attr_next(&s);
	assert_non_null(a);
	assert_int_equal(torus_attr_type(a), TORUS_A_VERSION);
	assert_int_equal(torus_attr_number(a), version);
	a = torus_attr_next(&s);
	assert_non_null(a);
	assert_int_equal(s.left, 0);
	assert_int_equal(a->nla_type, TORUS_A_ROWS | NLA_F_NESTED);
	torus_parse_nest(a, tb, TORUS_ROWS_MAX);
	assert_non_null(tb[TORUS_ROWS_FIRST]);
	assert_non_null(tb[TORUS_ROWS_DATA]);
	assert_int_equal(torus_attr_number(tb[TORUS_ROWS_FIRST]), first);
	assert_int_equal(torus_attr_len(tb[TORUS_ROWS_DATA]), n * sizeof(u64));
	for (u32 i = 0; i < n; i++)
		assert_int_equal(row_at(i), 1000 + first + i);
}

/* Checks a dump of all rows from @first to @end, in messages with room for @fit of them. */
static void expect_dump(const struct value *with, u32 first, u32 end, u32 fit)
{
	u32 n;

	assert_int_equal(begin(TORUS_CMD_ROWS_GET, with), 0);
	for (; first < end; first += n) {
		n = end - first < fit ? end - first : fit;
		/* The last bytes are too few for another row. */
		expect_rows(next(TORUS_CMD_ROWS_GET, AROUND + fit * sizeof(u64) + 7), 6, first, n);
	}
	assert_int_equal(next(TORUS_CMD_ROWS_GET, 4096), 0);
}

static void dump_of_rows_has_asked_range(void **state)
{
	const struct {
		struct value with[3];
		u32 first, end;
	} dumps[] = {
		{ { { 0 } }, 0, 12 },
		{ { U32(FIRST, 5) }, 5, 12 },
		{ { U32(COUNT, 4) }, 0, 4 },
		{ { U32(FIRST, 5), U32(COUNT, 4) }, 5, 9 },
		{ { U32(FIRST, 11), U32(COUNT, 1) }, 11, 12 },
		{ { U32(FIRST, 5), U32(COUNT, 7) }, 5, 12 },
		{ { U32(FIRST, 5), U32(COUNT, TORUS_MAX_NODES) }, 5, 12 },
		{ { U32(FIRST, 5), U32(COUNT, 0) }, 5, 5 },
	};

	(void)state;
	recorder_start(&r);
	for (unsigned int i = 0; i < ARRAY_SIZE(dumps); i++)
		for (u32 fit = 1; fit <= 13; fit++)
			expect_dump(dumps[i].with, dumps[i].first, dumps[i].end, fit);
}

/* A part never has more rows than an attribute can, however much room there is. */
static void part_of_dump_has_limited_rows(void **state)
{
	(void)state;
	recorder_start(&r);
	r.rows = 10000;
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), 0);
	expect_rows(next(TORUS_CMD_ROWS_GET, 79000), 6, 0, 4096);
	expect_rows(next(TORUS_CMD_ROWS_GET, 79000), 6, 4096, 4096);
	expect_rows(next(TORUS_CMD_ROWS_GET, 79000), 6, 8192, 1808);
	assert_int_equal(next(TORUS_CMD_ROWS_GET, 79000), 0);
}

static void part_without_room_for_one_row_is_refused(void **state)
{
	(void)state;
	recorder_start(&r);
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), 0);
	assert_int_equal(next(TORUS_CMD_ROWS_GET, 0), -EMSGSIZE);
	assert_int_equal(next(TORUS_CMD_ROWS_GET, AROUND + 7), -EMSGSIZE);
	expect_rows(next(TORUS_CMD_ROWS_GET, AROUND + 8), 6, 0, 1);
}

static void impossible_dump_of_rows_is_refused(void **state)
{
	const struct value beyond[] = { U32(FIRST, 12), { 0 } };
	struct torus_hw before;

	(void)state;
	recorder_start(&r);
	before = r.hw;
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, beyond), -ERANGE);
	recorder_refused(&r, &before, "FIRST is 12, must be 0 to 11", TORUS_A_FIRST);
	r.hw.placed = before.placed = false;
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), -ENODEV);
	recorder_refused(&r, &before, "the NIC has no place yet: SHAPE and COORDS are not set", 0);
	recorder_start(&r);
	before = r.hw;
	r.ops.rows_get = NULL;
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), -EOPNOTSUPP);
	recorder_refused(&r, &before, "ROWS_GET: this NIC cannot do that", 0);
}

/* A row that could not be read is asked for again, not left out. */
static void row_that_could_not_be_read_is_asked_again(void **state)
{
	(void)state;
	recorder_start(&r);
	assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), 0);
	expect_rows(next(TORUS_CMD_ROWS_GET, AROUND + 5 * 8), 6, 0, 5);
	r.error = -EIO;
	assert_int_equal(next(TORUS_CMD_ROWS_GET, 4096), -EIO);
	r.error = 0;
	expect_rows(next(TORUS_CMD_ROWS_GET, 4096), 6, 5, 7);
}

/*
 * Between two parts others write rows, or give the NIC another place. Each part has the version of
 * its rows; rows that are no more are not read.
 */
static void each_part_has_version_of_its_rows(void **state)
{
	static const struct { bool placed; u32 rows; bool goes_on; } then[] = {
		{ true, 12, true }, { true, 100, true }, { true, 11, false }, { false, 0, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(then); i++) {
		recorder_start(&r);
		assert_int_equal(begin(TORUS_CMD_ROWS_GET, nothing), 0);
		expect_rows(next(TORUS_CMD_ROWS_GET, AROUND + 5 * 8), 6, 0, 5);
		r.hw.placed = then[i].placed;
		r.rows = then[i].rows;
		r.version = 9;
		if (then[i].goes_on)
			expect_rows(next(TORUS_CMD_ROWS_GET, 4096), 9, 5, 7);
		assert_int_equal(next(TORUS_CMD_ROWS_GET, 4096), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_of_devices_has_one_device),
		cmocka_unit_test(dump_of_links_has_each_port),
		cmocka_unit_test(hardware_nic_reports_no_modelled_line),
		cmocka_unit_test(entry_that_does_not_fit_comes_next),
		cmocka_unit_test(port_that_fails_ends_dump_with_error),
		cmocka_unit_test(dump_of_rows_has_asked_range),
		cmocka_unit_test(part_of_dump_has_limited_rows),
		cmocka_unit_test(part_without_room_for_one_row_is_refused),
		cmocka_unit_test(impossible_dump_of_rows_is_refused),
		cmocka_unit_test(row_that_could_not_be_read_is_asked_again),
		cmocka_unit_test(each_part_has_version_of_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
