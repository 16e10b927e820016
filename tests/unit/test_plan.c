// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address plans. Each address of small shapes is compared with one that is made of text, as a
 * reader of torus(4) would make it; and all addresses of small prefixes are looked up.
 */
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

static struct torus_plan plan_of(const char *v4, const char *v6)
{
	struct torus_plan p;

	torus_plan_default(&p);
	assert_int_equal(torus_plan_parse4(v4, &p), 0);
	assert_int_equal(torus_plan_parse6(v6, &p), 0);
	return p;
}

/* --- the rule, by text -------------------------------------------------------------- */

/* Writes the whole bytes of the prefix, then a number for each coordinate, then zeros. */
static bool write_fields4(const struct torus_plan *p, const struct torus_shape *s,
			  const struct torus_coords *at, char *text)
{
	unsigned int byte[8] = { 0 }, n = 0, i;

	for (i = 0; i * 8 < p->len4; i++)
		byte[n++] = p->net4[i];
	for (i = 0; i < s->ndims; i++) {
		if (s->size[i] > 255 || n == 4)
			return false;
		byte[n++] = at->c[i];
	}
	sprintf(text, "%u.%u.%u.%u", byte[0], byte[1], byte[2], byte[3]);
	return true;
}

static bool write_fields6(const struct torus_plan *p, const struct torus_shape *s,
			  const struct torus_coords *at, char *text)
{
	unsigned int group[16] = { 0 }, n = 0, i;

	for (i = 0; i * 16 < p->len6; i++)
		group[n++] = (unsigned int)p->net6[2 * i] << 8 | p->net6[2 * i + 1];
	for (i = 0; i < s->ndims; i++) {
		if (n == 8)
			return false;
		group[n++] = at->c[i];
	}
	sprintf(text, "%x:%x:%x:%x:%x:%x:%x:%x", group[0], group[1], group[2], group[3], group[4],
		group[5], group[6], group[7]);
	return true;
}

static struct in_addr naive4(const struct torus_plan *p, const struct torus_shape *s, uint32_t id)
{
	struct torus_coords at;
	struct in_addr a;
	char text[64];

	torus_node_coords(s, id, &at);
	if (write_fields4(p, s, &at, text)) {
		assert_int_equal(inet_pton(AF_INET, text, &a), 1);
		return a;
	}
	memcpy(&a, p->net4, 4);
	a.s_addr = htonl(ntohl(a.s_addr) + id);
	return a;
}

static struct in6_addr naive6(const struct torus_plan *p, const struct torus_shape *s, uint32_t id)
{
	struct torus_coords at;
	struct in6_addr a;
	char text[64];
	uint32_t last;

	torus_node_coords(s, id, &at);
	if (write_fields6(p, s, &at, text)) {
		assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
		return a;
	}
	memcpy(&a, p->net6, 16);
	memcpy(&last, &a.s6_addr[12], 4);
	last = htonl(ntohl(last) + id);
	memcpy(&a.s6_addr[12], &last, 4);
	return a;
}

static const char *const prefixes4[] = {
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "10.20.0.0/15", "10.64.0.0/10",
	"192.168.4.0/22", "192.168.7.0/24", "192.168.7.128/25", "32.0.0.0/3", "10.9.8.128/26",
};

static const char *const prefixes6[] = {
	"fd74:6f72::/32", "fd00:1:2:3::/64", "fd00:1:2:3:4::/80", "fd00:1:2:3:4:5::/96",
	"fd00:1:2:3:4:5:6:0/112", "fd00:1:2:300::/56", "2001:db8::/33", "fd00::/8",
	"fd00:1:2:3:4:5:6:ff00/120", "fd00:1:2:3:4:5:6:40/122",
};

static const char *const shapes[] = {
	"1", "7", "4x4", "2x1x3", "3x3x3", "4x4x4", "2x2x2x2x2x2", "1x1x1x1x1x8", "3x2x2x2", "256",
	"300x2", "2x300", "1x255", "2x1x1x1x1x4",
};

/* Every node has the address by the rule, and by that address it is found. */
static void each_address_leads_back_to_its_node(void **state)
{
	unsigned int tried = 0;

	(void)state;
	for (unsigned int i = 0; i < COUNT(shapes) * COUNT(prefixes4); i++) {
		struct torus_shape s = shape_of(shapes[i % COUNT(shapes)]);
		struct torus_plan p = plan_of(prefixes4[i / COUNT(shapes)],
					      prefixes6[i / COUNT(shapes)]);

		for (uint32_t id = 0; id < torus_nodes(&s); id++) {
			struct in_addr a4 = naive4(&p, &s, id);
			struct in6_addr a6 = naive6(&p, &s, id);

			if (torus_plan_holds4(&p, &s)) {
				assert_int_equal(torus_plan_addr4(&p, &s, id).s_addr, a4.s_addr);
				assert_int_equal(torus_plan_node4(&p, &s, a4), id);
				tried++;
			}
			if (torus_plan_holds6(&p, &s)) {
				struct in6_addr got = torus_plan_addr6(&p, &s, id);

				assert_memory_equal(&got, &a6, sizeof(a6));
				assert_int_equal(torus_plan_node6(&p, &s, &a6), id);
				tried++;
			}
		}
	}
	assert_true(tried > 10000);
}

/*
 * The addresses of a prefix belong to nodes, each node has one, and addresses around the prefix
 * belong to none.
 */
static void each_address_of_prefix_belongs_to_one_node(void **state)
{
	static const char *const small[] = { "192.168.4.0/22", "192.168.7.0/24", "10.9.8.128/26" };
	static const char *const small6[] = { "fd00::4400/118", "fd00::700/120", "fd00::40/122" };

	(void)state;
	for (unsigned int i = 0; i < COUNT(small) * COUNT(shapes); i++) {
		struct torus_shape s = shape_of(shapes[i % COUNT(shapes)]);
		struct torus_plan p = plan_of(small[i / COUNT(shapes)], small6[i / COUNT(shapes)]);
		uint32_t nodes = torus_nodes(&s), found4 = 0, found6 = 0;
		bool seen4[1024] = { false }, seen6[1024] = { false };
		struct in6_addr net6;
		uint32_t net4;

		memcpy(&net4, p.net4, 4);
		memcpy(&net6, p.net6, 16);
		for (int64_t k = -2000; k < 4000; k++) {
			struct in_addr a4 = { htonl((uint32_t)(ntohl(net4) + k)) };
			struct in6_addr a6 = net6;
			uint32_t low = htonl((uint32_t)((net6.s6_addr[14] << 8) +
							net6.s6_addr[15] + k)), id;

			memcpy(&a6.s6_addr[12], &low, 4);
			id = torus_plan_holds4(&p, &s) ? torus_plan_node4(&p, &s, a4) :
							 TORUS_NO_NODE;
			if (id != TORUS_NO_NODE) {
				assert_true(id < nodes && !seen4[id]);
				assert_true(k >= 0 && k < 1ll << (32 - p.len4));
				seen4[id] = true;
				found4++;
			}
			id = torus_plan_holds6(&p, &s) ? torus_plan_node6(&p, &s, &a6) :
							 TORUS_NO_NODE;
			if (id != TORUS_NO_NODE) {
				assert_true(id < nodes && !seen6[id]);
				assert_true(k >= 0 && k < 1ll << (128 - p.len6));
				seen6[id] = true;
				found6++;
			}
		}
		assert_int_equal(found4, torus_plan_holds4(&p, &s) ? nodes : 0);
		assert_int_equal(found6, torus_plan_holds6(&p, &s) ? nodes : 0);
	}
}

/* A node's address with one bit changed is the address of another node, or of none. */
static void changed_address_belongs_to_other_node_or_none(void **state)
{
	uint64_t seed = random_seed(3);

	(void)state;
	for (unsigned int k = 0; k < 20000; k++) {
		struct torus_shape s = shape_of(shapes[random_below(&seed, COUNT(shapes))]);
		struct torus_plan p = plan_of(prefixes4[random_below(&seed, COUNT(prefixes4))],
					      prefixes6[random_below(&seed, COUNT(prefixes6))]);
		uint32_t id = random_below(&seed, torus_nodes(&s)), got;

		if (torus_plan_holds4(&p, &s)) {
			struct in_addr a = torus_plan_addr4(&p, &s, id);

			a.s_addr ^= 1u << random_below(&seed, 32);
			got = torus_plan_node4(&p, &s, a);
			assert_true(got != id);
			assert_true(got == TORUS_NO_NODE ||
				    torus_plan_addr4(&p, &s, got).s_addr == a.s_addr);
		}
		if (torus_plan_holds6(&p, &s)) {
			struct in6_addr a = torus_plan_addr6(&p, &s, id), b;

			a.s6_addr[random_below(&seed, 16)] ^= (uint8_t)(1u << random_below(&seed, 8));
			got = torus_plan_node6(&p, &s, &a);
			assert_true(got != id);
			b = got == TORUS_NO_NODE ? a : torus_plan_addr6(&p, &s, got);
			assert_memory_equal(&a, &b, sizeof(a));
		}
	}
}

/* --- examples of torus(4) ------------------------------------------------------------ */

static void addresses_equal_examples(void **state)
{
	static const struct {
		const char *shape, *at, *net4, *v4, *net6, *v6;
	} t[] = {
		{ "4x4x4", "1,2,3", "10.0.0.0/8", "10.1.2.3", "fd74:6f72::/32", "fd74:6f72:1:2:3::" },
		{ "4x4", "1,2", "10.0.0.0/8", "10.1.2.0", "fd74:6f72::/32", "fd74:6f72:1:2::" },
		{ "4x4", "1,2", "192.168.0.0/16", "192.168.1.2", "fd00:1:2:3::/64", "fd00:1:2:3:1:2::" },
		{ "4x4x4", "1,2,3", "172.16.0.0/12", "172.16.0.57", "fd00:1:2:3:4:5::/96",
		  "fd00:1:2:3:4:5:0:39" },
		{ "4x4x4", "1,2,3", "172.16.0.0/15", "172.16.0.57", "fd00:1:2:3::/64",
		  "fd00:1:2:3:1:2:3:0" },
		{ "4x4x4", "1,2,3", "172.16.0.0/16", "172.16.0.57", "fd00::/112", "fd00::39" },
		{ "8", "5", "192.168.7.0/24", "192.168.7.5", "fd00:1:2:3::/64", "fd00:1:2:3:5::" },
		{ "300x2", "299,1", "10.0.0.0/8", "10.0.2.87", "fd74:6f72::/32", "fd74:6f72:12b:1::" },
		{ "4x2", "3,1", "192.168.7.8/29", "192.168.7.15", "fd00::8/125", "fd00::f" },
		{ "1", "0", "192.168.7.9/32", "192.168.7.9", "fd00::9/128", "fd00::9" },
	};
	char buf[INET6_ADDRSTRLEN];

	(void)state;
	for (unsigned int i = 0; i < COUNT(t); i++) {
		struct torus_shape s = shape_of(t[i].shape);
		struct torus_plan p = plan_of(t[i].net4, t[i].net6);
		struct torus_coords at;
		struct in_addr a4;
		struct in6_addr a6;

		assert_int_equal(torus_coords_parse(t[i].at, &s, &at), 0);
		a4 = torus_plan_addr4(&p, &s, torus_node_id(&s, &at));
		a6 = torus_plan_addr6(&p, &s, torus_node_id(&s, &at));
		assert_string_equal(inet_ntop(AF_INET, &a4, buf, sizeof(buf)), t[i].v4);
		assert_string_equal(inet_ntop(AF_INET6, &a6, buf, sizeof(buf)), t[i].v6);
	}
}

/* --- text and limits ----------------------------------------------------------------- */

static void malformed_or_reserved_prefix_is_refused(void **state)
{
	static const char *const bad4[] = {
		"", "/", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/0", "10.0.0.0/-8",
		"10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0/8x", "10.0.0.1/8", "10.0.0.0/7x", "10/8",
		"11.0.0.0/7",
		"10.0.0/8", "256.0.0.0/8", "fd00::/8", "0.0.0.0/8", "0.0.0.0/1", "127.0.0.0/8",
		"127.1.2.0/24", "126.0.0.0/7", "64.0.0.0/2", "128.0.0.0/1", "169.254.0.0/16",
		"169.254.3.0/24", "169.0.0.0/8", "224.0.0.0/4", "239.1.0.0/16", "240.0.0.0/8",
		"255.255.255.255/32", "192.0.0.0/2", "10.0.0.0/99999999999", "10.0.0.0/08/8",
	};
	static const char *const bad6[] = {
		"", "fd00::", "fd00::/", "fd00::/0", "fd00::/129", "fd00::1/64", "fd00:0:0:1::/63",
		"fd00::/7",
		"::/8", "::1/128", "::/1", "fe80::/10", "fe80::/64", "fe00::/7", "ff02::/16", "ff00::/8",
		"8000::/1", "10.0.0.0/8", "64:ff9b::/96", "fd00::/64 ", "fd00:::/64",
	};
	static const char *const good4[] = { "10.0.0.0/8", "172.16.0.0/12", "192.168.7.9/32",
					     "100.64.0.0/10", "126.0.0.0/8", "1.0.0.0/8",
					     "169.253.0.0/16", "169.255.0.0/16" };
	static const char *const good6[] = { "fd74:6f72::/32", "2001:db8::/33", "fc00::/7",
					     "2000::/3", "fd00::9/128", "fe40::/10", "fec0::/10" };
	struct torus_plan p, was;
	char buf[TORUS_TEXT_MAX];

	(void)state;
	torus_plan_default(&p);
	assert_true(torus_plan_valid(&p));
	was = p;
	for (unsigned int i = 0; i < COUNT(bad4); i++)
		assert_int_equal(torus_plan_parse4(bad4[i], &p), -EINVAL);
	for (unsigned int i = 0; i < COUNT(bad6); i++)
		assert_int_equal(torus_plan_parse6(bad6[i], &p), -EINVAL);
	assert_memory_equal(&p, &was, sizeof(p));
	for (unsigned int i = 0; i < COUNT(good4); i++) {
		assert_int_equal(torus_plan_parse4(good4[i], &p), 0);
		assert_string_equal(torus_plan_text4(&p, buf), good4[i]);
		assert_true(torus_plan_valid(&p));
	}
	for (unsigned int i = 0; i < COUNT(good6); i++) {
		assert_int_equal(torus_plan_parse6(good6[i], &p), 0);
		assert_string_equal(torus_plan_text6(&p, buf), good6[i]);
		assert_true(torus_plan_valid(&p));
	}
}

/* The longest prefix that holds a shape does, as all shorter ones; one that is longer does not. */
static void longest_prefix_that_holds_shape_is_exact(void **state)
{
	static const struct {
		const char *shape;
		unsigned int bits;
	} t[] = { { "1", 0 }, { "2", 1 }, { "3", 2 }, { "4x4", 4 }, { "17", 5 }, { "255x255", 16 },
		  { "4096x4096", 24 }, { "4096x2049", 24 } };
	struct torus_plan p;

	(void)state;
	torus_plan_default(&p);
	for (unsigned int i = 0; i < COUNT(t); i++) {
		struct torus_shape s = shape_of(t[i].shape);

		assert_int_equal(torus_plan_longest(&s, 32), 32 - t[i].bits);
		assert_int_equal(torus_plan_longest(&s, 128), 128 - t[i].bits);
		p.len4 = (uint8_t)(32 - t[i].bits);
		p.len6 = (uint8_t)(128 - t[i].bits);
		for (; p.len4 > 0; p.len4--)
			assert_true(torus_plan_holds4(&p, &s));
		for (; p.len6 > 0; p.len6--)
			assert_true(torus_plan_holds6(&p, &s));
		p.len4 = (uint8_t)(33 - t[i].bits);
		p.len6 = (uint8_t)(129 - t[i].bits);
		if (t[i].bits) {
			assert_false(torus_plan_holds4(&p, &s));
			assert_false(torus_plan_holds6(&p, &s));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_address_leads_back_to_its_node),
		cmocka_unit_test(each_address_of_prefix_belongs_to_one_node),
		cmocka_unit_test(changed_address_belongs_to_other_node_or_none),
		cmocka_unit_test(addresses_equal_examples),
		cmocka_unit_test(malformed_or_reserved_prefix_is_refused),
		cmocka_unit_test(longest_prefix_that_holds_shape_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
