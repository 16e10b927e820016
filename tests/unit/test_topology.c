// SPDX-License-Identifier: GPL-2.0-only
/* Texts and addresses, in both directions; and all ways in which they can be wrong. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct torus_shape shape_of(const char *text)
{
	struct torus_shape s;

	assert_int_equal(torus_shape_parse(text, &s), 0);
	return s;
}

static void shape_is_read_as_written_or_refused(void **state)
{
	static const char *const good[] = { "1", "4", "4x4", "4x4x2", "1x1x1x1x1x1",
		"4096x4096", "2x3x4x5x6x7", "16x16x16x16x16x16", "128x128x64" };
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{ "", -EINVAL }, { "x", -EINVAL }, { "4x", -EINVAL }, { "x4", -EINVAL },
		{ "4xx4", -EINVAL }, { "4x4 ", -EINVAL }, { " 4x4", -EINVAL },
		{ "4 x4", -EINVAL }, { "+4", -EINVAL }, { "-4", -EINVAL }, { "4X4", -EINVAL },
		{ "4,4", -EINVAL }, { "4x4\n", -EINVAL }, { "0x4", -ERANGE },
		{ "0x10", -ERANGE }, { "04", -EINVAL }, { "4x4.0", -EINVAL }, { "a", -EINVAL },
		{ "0", -ERANGE }, { "4x0", -ERANGE }, { "4097", -ERANGE },
		{ "65540", -ERANGE }, { "4294967300", -ERANGE },
		{ "99999999999999999999999999", -ERANGE }, { "1x1x1x1x1x1x1", -ERANGE },
		{ "4096x4096x2", -ERANGE }, { "16x16x16x16x16x17", -ERANGE },
		{ "auto", -EINVAL },
	};
	struct torus_shape s, was;
	char buf[TORUS_TEXT_MAX];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		s = shape_of(good[i]);
		assert_string_equal(torus_shape_text(&s, buf), good[i]);
		assert_int_not_equal(torus_nodes(&s), 0);
	}
	memset(&s, 0x5a, sizeof(s));
	was = s;
	for (i = 0; i < COUNT(bad); i++) {
		if (torus_shape_parse(bad[i].text, &s) != bad[i].err)
			fail_msg("'%s' should give %d", bad[i].text, bad[i].err);
		/* The former content has not changed. */
		assert_memory_equal(&s, &was, sizeof(s));
	}
}

static void coordinates_are_read_as_written_or_refused(void **state)
{
	static const struct {
		const char *shape;
		const char *text;
		int err;
	} t[] = {
		{ "4x4x2", "0,0,0", 0 }, { "4x4x2", "3,3,1", 0 }, { "4x4x2", "1,0,1", 0 },
		{ "5", "4", 0 }, { "4096x4096", "4095,4095", 0 }, { "2x2x2x2x2x2", "0,1,0,1,0,1", 0 },
		{ "4x4x2", "", -EINVAL }, { "4x4x2", "1", -EINVAL }, { "4x4x2", "1,1", -EINVAL },
		{ "4x4x2", "1,1,", -EINVAL }, { "4x4x2", "1,1,1,", -EINVAL },
		{ "4x4x2", "1,1,1,1", -EINVAL }, { "4x4x2", ",1,1", -EINVAL },
		{ "4x4x2", "1,,1", -EINVAL }, { "4x4x2", "1, 1,1", -EINVAL },
		{ "4x4x2", "1,1,1 ", -EINVAL }, { "4x4x2", "-1,1,1", -EINVAL },
		{ "4x4x2", "+1,1,1", -EINVAL }, { "4x4x2", "01,1,1", -EINVAL },
		{ "4x4x2", "1x1x1", -EINVAL }, { "4x4x2", "1,1,1:+x", -EINVAL },
		{ "4x4x2", "4,1,1", -ERANGE }, { "4x4x2", "1,1,2", -ERANGE },
		{ "4x4x2", "65536,0,0", -ERANGE }, { "4x4x2", "4294967296,0,0", -ERANGE },
		{ "1", "0", 0 }, { "1", "1", -ERANGE },
	};
	struct torus_coords at;
	char buf[TORUS_TEXT_MAX];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(t); i++) {
		struct torus_shape s = shape_of(t[i].shape);

		if (torus_coords_parse(t[i].text, &s, &at) != t[i].err)
			fail_msg("'%s' in %s should give %d", t[i].text, t[i].shape, t[i].err);
		if (t[i].err)
			continue;
		assert_string_equal(torus_coords_text(&s, &at, buf), t[i].text);
		assert_string_equal(torus_node_text(&s, torus_node_id(&s, &at), buf),
				    t[i].text);
	}
}

static void port_is_read_as_written_or_refused(void **state)
{
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{ "", -EINVAL }, { "+", -EINVAL }, { "x", -EINVAL }, { "+x ", -EINVAL },
		{ "+xy", -EINVAL }, { "*x", -EINVAL }, { "+X", -EINVAL }, { "+d", -EINVAL },
		{ "++", -EINVAL }, { " +x", -EINVAL }, { "+0", -EINVAL }, { "+z", -ERANGE },
		{ "-c", -ERANGE },
	};
	static const char *const all[] = { "+x", "+y", "+z", "+a", "+b", "+c",
					   "-x", "-y", "-z", "-a", "-b", "-c" };
	char buf[TORUS_TEXT_MAX];
	unsigned int n, i, port;

	(void)state;
	for (i = 0; i < COUNT(bad); i++)
		if (torus_port_parse(bad[i].text, 2, &port) != bad[i].err)
			fail_msg("'%s' should give %d", bad[i].text, bad[i].err);
	for (n = 1; n <= TORUS_MAX_DIMS; n++)
		for (i = 0; i < 2 * n; i++) {
			const char *text = all[i < n ? i : i - n + 6];

			assert_string_equal(torus_port_text(n, i, buf), text);
			assert_int_equal(torus_port_parse(text, n, &port), 0);
			assert_int_equal(port, i);
		}
	/* Even impossible values have a text that can be printed. */
	assert_string_equal(torus_port_text(2, 4, buf), "?4");
}

static void link_is_read_as_written_or_refused(void **state)
{
	struct torus_shape s = shape_of("4x4x2");
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{ "", -EINVAL }, { "1,0,1", -EINVAL }, { "1,0,1:", -EINVAL },
		{ "1,0,1:x", -EINVAL }, { "1,0,1:+x:", -EINVAL }, { "1,0,1+x", -EINVAL },
		{ "1,0:+x", -EINVAL }, { ":+x", -EINVAL }, { "1,0,1: +x", -EINVAL },
		{ "1,0,1:+a", -ERANGE }, { "1,0,2:+x", -ERANGE }, { "4,0,1:+x", -ERANGE },
	};
	unsigned int i, port;
	uint32_t node;

	(void)state;
	assert_int_equal(torus_link_parse("1,0,1:-y", &s, &node, &port), 0);
	assert_int_equal(node, 17);
	assert_int_equal(port, 4);
	for (i = 0; i < COUNT(bad); i++)
		if (torus_link_parse(bad[i].text, &s, &node, &port) != bad[i].err)
			fail_msg("'%s' should give %d", bad[i].text, bad[i].err);
	assert_int_equal(node, 17);
	assert_int_equal(port, 4);
}

/* Random bytes are only accepted if they are the text that would be written. */
static void random_text_is_read_only_as_it_would_be_written(void **state)
{
	static const char some[] = "0123456789x,:+-yzabc ";
	struct torus_shape s4 = shape_of("4x11x2"), s;
	uint64_t seed = random_seed(1);
	unsigned int round, i, port, taken = 0;
	char text[12], buf[TORUS_TEXT_MAX], buf2[TORUS_TEXT_MAX];
	struct torus_coords at;
	uint32_t node;

	(void)state;
	for (round = 0; round < 1000000; round++) {
		unsigned int len = random_below(&seed, sizeof(text) - 1);

		for (i = 0; i < len; i++)
			text[i] = some[random_below(&seed, sizeof(some) - 1)];
		text[len] = '\0';
		if (!torus_shape_parse(text, &s)) {
			assert_string_equal(torus_shape_text(&s, buf), text);
			taken++;
		}
		if (!torus_coords_parse(text, &s4, &at)) {
			assert_string_equal(torus_coords_text(&s4, &at, buf), text);
			taken++;
		}
		if (!torus_link_parse(text, &s4, &node, &port)) {
			torus_node_text(&s4, node, buf);
			strcat(buf, ":");
			strcat(buf, torus_port_text(3, port, buf2));
			assert_string_equal(buf, text);
			taken++;
		}
	}
	assert_true(taken > 1000);
}

static void addresses_equal_examples(void **state)
{
	static const struct {
		const char *shape;
		uint32_t id;
		const char *v4;
		const char *v6;
	} t[] = {
		{ "4x4x4", 0, "10.0.0.0", "fd74:6f72::" },
		{ "4x4x4", 63, "10.3.3.3", "fd74:6f72:3:3:3::" },
		{ "4x4", 5, "10.1.1.0", "fd74:6f72:1:1::" },
		{ "8", 7, "10.7.0.0", "fd74:6f72:7::" },
		{ "255x255x255", 255 * 255 * 255 - 1, "10.254.254.254", "fd74:6f72:fe:fe:fe::" },
		{ "256x2", 511, "10.0.1.255", "fd74:6f72:ff:1::" },
		{ "2x256", 511, "10.0.1.255", "fd74:6f72:1:ff::" },
		{ "2x2x256", 1023, "10.0.3.255", "fd74:6f72:1:1:ff::" },
		{ "4096x4096", (1 << 24) - 1, "10.255.255.255", "fd74:6f72:fff:fff::" },
		{ "2x2x2x2x2x2", 63, "10.0.0.63", "fd74:6f72:1:1:1:1:1:1" },
		{ "2x2x2x2", 15, "10.0.0.15", "fd74:6f72:1:1:1:1::" },
	};
	char buf[INET6_ADDRSTRLEN];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(t); i++) {
		struct torus_shape s = shape_of(t[i].shape);
		struct in_addr a4 = torus_addr4(&s, t[i].id);
		struct in6_addr a6 = torus_addr6(&s, t[i].id);

		assert_string_equal(inet_ntop(AF_INET, &a4, buf, sizeof(buf)), t[i].v4);
		assert_string_equal(inet_ntop(AF_INET6, &a6, buf, sizeof(buf)), t[i].v6);
		assert_int_equal(torus_node_of_addr4(&s, a4), t[i].id);
		assert_int_equal(torus_node_of_addr6(&s, &a6), t[i].id);
	}
}

static void each_address_leads_back_to_its_node(void **state)
{
	static const char *const shapes[] = { "4x4x4", "2x2x3", "1x1", "300x3", "3x1x4x2x2x5",
					      "4096x4096" };
	uint64_t seed = random_seed(2);
	unsigned int i, k;

	(void)state;
	for (i = 0; i < COUNT(shapes); i++) {
		struct torus_shape s = shape_of(shapes[i]);
		uint32_t nodes = torus_nodes(&s);

		for (k = 0; k < 3000; k++) {
			uint32_t id = nodes <= 3000 ? k % nodes : random_below(&seed, nodes);
			struct in6_addr a6 = torus_addr6(&s, id);

			assert_int_equal(torus_node_of_addr4(&s, torus_addr4(&s, id)), id);
			assert_int_equal(torus_node_of_addr6(&s, &a6), id);
		}
	}
}

static void address_outside_plan_belongs_to_no_node(void **state)
{
	static const char *const v4[] = { "10.4.0.0", "10.0.4.0", "10.0.0.1", "11.0.0.0",
					  "9.255.255.255", "127.0.0.1", "10.255.255.255" };
	static const char *const v6[] = { "fd74:6f72:4::", "fd74:6f72:0:4::",
					  "fd74:6f72:0:0:1::", "fd74:6f72::1", "fd74:6f73::",
					  "fd75:6f72::", "::", "fd74:6f72:ffff:ffff::" };
	struct torus_shape s = shape_of("4x4"), flat = shape_of("300x3");
	struct in_addr a4;
	struct in6_addr a6;
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(v4); i++) {
		assert_int_equal(inet_pton(AF_INET, v4[i], &a4), 1);
		assert_int_equal(torus_node_of_addr4(&s, a4), TORUS_NO_NODE);
	}
	for (i = 0; i < COUNT(v6); i++) {
		assert_int_equal(inet_pton(AF_INET6, v6[i], &a6), 1);
		assert_int_equal(torus_node_of_addr6(&s, &a6), TORUS_NO_NODE);
	}
	assert_int_equal(inet_pton(AF_INET, "10.0.3.132", &a4), 1);	/* 900 */
	assert_int_equal(torus_node_of_addr4(&flat, a4), TORUS_NO_NODE);
}

/* Distances equal the hops that a breadth-first search finds. */
static void distances_equal_breadth_first_search(void **state)
{
	static const char *const shapes[] = { "4x4x4", "5x3", "2x2x3", "7", "3x1x4", "1",
					      "2x2x2x2x2x2" };
	unsigned int i, dir;

	(void)state;
	for (i = 0; i < COUNT(shapes); i++) {
		struct torus_shape s = shape_of(shapes[i]);
		uint32_t nodes = torus_nodes(&s), queue[64], far[64], from, at, head, tail;

		for (from = 0; from < nodes; from++) {
			memset(far, 0xff, sizeof(far));
			far[from] = 0;
			queue[0] = from;
			for (head = 0, tail = 1; head < tail; head++)
				for (dir = 0; dir < 2u * s.ndims; dir++) {
					at = torus_neighbour(&s, queue[head], dir);
					assert_int_equal(torus_neighbour(&s, at,
							 torus_dir_opposite(&s, dir)),
							 queue[head]);
					if (far[at] != ~0u)
						continue;
					far[at] = far[queue[head]] + 1;
					queue[tail++] = at;
				}
			assert_int_equal(tail, nodes);
			for (at = 0; at < nodes; at++)
				assert_int_equal(torus_distance(&s, from, at), far[at]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape_is_read_as_written_or_refused),
		cmocka_unit_test(coordinates_are_read_as_written_or_refused),
		cmocka_unit_test(port_is_read_as_written_or_refused),
		cmocka_unit_test(link_is_read_as_written_or_refused),
		cmocka_unit_test(random_text_is_read_only_as_it_would_be_written),
		cmocka_unit_test(addresses_equal_examples),
		cmocka_unit_test(each_address_leads_back_to_its_node),
		cmocka_unit_test(address_outside_plan_belongs_to_no_node),
		cmocka_unit_test(distances_equal_breadth_first_search),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
