// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows and holds: bulk over many messages, against a table that the NIC keeps.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "client_nic.h"
#include "random.h"

/* --- rows ------------------------------------------------------------------ */

#define ROWS 20000

/**
 * struct table - the rows that a fake NIC has
 * @trick: 1 a part out of order, 2 another version in between, once, 3 more rows than were asked
 * 	for, 4 rows of odd length, 5 no version
 */
static struct table {
	uint64_t row[ROWS];
	uint32_t n;
	uint64_t version;
	int trick;
	unsigned int puts;
} table;

static void table_put(struct nlmsghdr *req)
{
	struct nlattr *tb[TORUS_ROWS_MAX + 1], *attr;
	uint32_t first, n;
	int left;

	nla_for_each_attr(attr, nlmsg_attrdata(req, GENL_HDRLEN),
			  nlmsg_attrlen(req, GENL_HDRLEN), left) {
		if (nla_type(attr) != TORUS_A_ROWS)
			continue;
		nla_parse_nested(tb, TORUS_ROWS_MAX, attr, NULL);
		first = nla_get_u32(tb[TORUS_ROWS_FIRST]);
		n = (uint32_t)nla_len(tb[TORUS_ROWS_DATA]) / 8;
		if (first + n <= ROWS)
			memcpy(table.row + first, nla_data(tb[TORUS_ROWS_DATA]), 8 * n);
		table.puts++;
	}
}

static void table_part(int fd, struct nlmsghdr *req, uint32_t first, uint32_t n,
		       uint64_t version, uint32_t odd_bytes)
{
	struct nl_msg *msg = fake_reply(req, TORUS_CMD_ROWS_GET, NLM_F_MULTI);
	struct nlattr *nest;

	if (table.trick != 5)
		nla_put_u64(msg, TORUS_A_VERSION, version);
	nest = nla_nest_start(msg, TORUS_A_ROWS);
	nla_put_u32(msg, TORUS_ROWS_FIRST, first);
	nla_put(msg, TORUS_ROWS_DATA, (int)(8 * n + odd_bytes), table.row + first);
	nla_nest_end(msg, nest);
	fake_send(fd, msg);
}

static void table_get(int fd, struct nlmsghdr *req)
{
	uint32_t at = nla_get_u32(nlmsg_find_attr(req, GENL_HDRLEN, TORUS_A_FIRST));
	uint32_t end = at + nla_get_u32(nlmsg_find_attr(req, GENL_HDRLEN, TORUS_A_COUNT));
	uint32_t step = 777;
	int part = 0;

	if (end > table.n)
		end = table.n;
	if (table.trick == 3)
		end++;
	for (; at < end; at += step, part++) {
		uint32_t n = end - at < step ? end - at : step;

		if (table.trick == 2 && part == 1) {
			table.trick = 0;
			table.version++;
		}
		table_part(fd, req, table.trick == 1 && part == 2 ? at + 1 : at, n,
			   table.version, table.trick == 4 ? 4 : 0);
	}
	fake_done(fd, req, 0, NULL, 0);
}

static void answer_table(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd;

	(void)f;
	if (cmd == TORUS_CMD_ROWS_GET) {
		table_get(fd, req);
		return;
	}
	if (cmd == TORUS_CMD_ROWS_PUT)
		table_put(req);
	fake_ack(fd, req, 0, NULL);
}

static void test_rows_are_put_and_read_in_largest_messages(void **state)
{
	static uint64_t rows[ROWS], back[ROWS];
	uint64_t seed = random_seed(1), version;
	uint32_t n, i;

	(void)state;
	for (i = 0; i < ROWS; i++)
		rows[i] = random_next(&seed);
	memset(&table, 0, sizeof(table));
	table.n = ROWS;
	table.version = 5;
	nic.fn = answer_table;
	assert_int_equal(torus_rows_begin(dev, 6), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_ROWS_BEGIN);
	assert_int_equal(torus_rows_put(dev, 6, 0, rows, ROWS), 0);
	assert_memory_equal(table.row, rows, sizeof(rows));
	/* Messages are as full as possible, but none is larger than the ABI allows. */
	assert_int_equal(table.puts, 3);
	assert_in_range(nic.largest, TORUS_MSG_MAX - 64, TORUS_MSG_MAX);
	assert_int_equal(torus_rows_put(dev, 6, 17, rows, 1), 0);
	assert_true(table.row[17] == rows[0]);
	assert_int_equal(torus_rows_put(dev, 6, 17, rows, 0), 0);
	assert_int_equal(torus_rows_commit(dev, 6), 0);
	assert_int_equal(nla_get_u64(fake_attr(&nic, TORUS_A_VERSION)), 6);

	table.row[17] = rows[17];
	n = ROWS;
	assert_int_equal(torus_rows_get(dev, 0, back, &n, &version), 0);
	assert_int_equal(n, ROWS);
	assert_int_equal(version, 5);
	assert_memory_equal(back, rows, sizeof(rows));
	n = 10;
	assert_int_equal(torus_rows_get(dev, 100, back, &n, NULL), 0);
	assert_int_equal(n, 10);
	assert_memory_equal(back, rows + 100, 80);
	n = 100;
	assert_int_equal(torus_rows_get(dev, ROWS - 3, back, &n, NULL), 0);
	assert_int_equal(n, 3);
}

/* The rows of any set of ids, from none to all, are put in as few messages as possible. */
static void test_rows_of_any_ids_need_few_messages(void **state)
{
	static uint32_t node[ROWS];
	static uint64_t rows[ROWS], shadow[ROWS];
	static const unsigned int share[] = { 0, 1, 10, 50, 90, 99, 100 };
	uint64_t seed = random_seed(1);
	unsigned int i, requests;
	uint32_t at, n;

	(void)state;
	nic.fn = answer_table;
	for (i = 0; i < sizeof(share) / sizeof(share[0]); i++) {
		memset(&table, 0, sizeof(table));
		memset(shadow, 0, sizeof(shadow));
		for (at = n = 0; at < ROWS; at++) {
			if (random_below(&seed, 100) >= share[i])
				continue;
			node[n] = at;
			shadow[at] = rows[n++] = random_next(&seed);
		}
		requests = nic.requests;
		assert_int_equal(torus_rows_put_list(dev, 6, node, rows, n), 0);
		assert_memory_equal(table.row, shadow, sizeof(shadow));
		assert_true(nic.requests - requests <= (24 * n + 60000) / 60000 + 1);
		assert_true(n || nic.requests == requests);
		assert_true(nic.largest <= TORUS_MSG_MAX);
	}
}

static void test_inconsistent_rows_are_refused_or_read_again(void **state)
{
	static uint64_t back[ROWS];
	uint64_t version;
	uint32_t n;

	(void)state;
	memset(&table, 0, sizeof(table));
	table.n = ROWS - 1;
	nic.fn = answer_table;
	for (table.trick = 1; table.trick <= 5; table.trick++) {
		int trick = table.trick;

		n = 4000;
		if (trick == 2) {
			table.version = 8;
			assert_int_equal(torus_rows_get(dev, 0, back, &n, &version), 0);
			assert_int_equal(n, 4000);
			assert_int_equal(version, 9);
		} else {
			assert_int_equal(torus_rows_get(dev, 0, back, &n, &version), -EBADMSG);
		}
		table.trick = trick;
	}
	table.trick = 0;
	assert_usable();
}

static unsigned int held;

static void answer_hold(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	held += (unsigned int)nla_len(nlmsg_find_attr(req, GENL_HDRLEN, TORUS_A_NODES)) / 4;
	fake_ack(fd, req, 0, NULL);
}

static void test_hold_of_40000_nodes_needs_3_messages(void **state)
{
	static uint32_t nodes[40000];

	(void)state;
	nic.fn = answer_hold;
	held = 0;
	assert_int_equal(torus_hold(dev, nodes, 40000), 0);
	assert_int_equal(held, 40000);
	assert_int_equal(nic.requests, 3);
	assert_true(nic.largest <= TORUS_MSG_MAX);
	assert_int_equal(torus_hold(dev, nodes, 0), 0);
	assert_int_equal(nic.requests, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_are_put_and_read_in_largest_messages),
		TEST(rows_of_any_ids_need_few_messages),
		TEST(inconsistent_rows_are_refused_or_read_again),
		TEST(hold_of_40000_nodes_needs_3_messages),
	};

	return CLIENT_TESTS("client rows", tests);
}
