// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP destination unreachable to the host: for which packets, with which contents, and how often.
 * RFC 792, 1122, 1812, 4443: never for an error or a later fragment, and with the beginning of the
 * packet that could not arrive, as much as keeps the answer below 576 or 1280 bytes.
 */
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>

#include "tests/unit/host_shell.h"
#include "tests/unit/seeds.h"

#define LEN_MAX	1500
#define EACH	5000000ull	/* interval of answers in ns: 200 a second */

/* A packet that could not arrive, and the answer. */
static u8 sent[LEN_MAX] __attribute__((aligned(8)));
static u8 answer[TORUS_HOST_ANSWER_MAX + 1];

static void fill(unsigned int from)
{
	for (unsigned int i = from; i < LEN_MAX; i++)
		sent[i] = (u8)(i * 3 + (i >> 8));
}

static struct iphdr *packet4(u8 protocol)
{
	struct iphdr *ip = (struct iphdr *)sent;

	fill(sizeof(*ip));
	*ip = (struct iphdr) { .version = 4, .ihl = 5, .ttl = 9, .protocol = protocol,
			       .saddr = htonl(0x0a000000), .daddr = htonl(0x0a010203) };
	return ip;
}

static void packet6(u8 next)
{
	struct ip6_hdr *ip = (struct ip6_hdr *)sent;

	fill(sizeof(*ip));
	*ip = (struct ip6_hdr) { .ip6_hlim = 9, .ip6_nxt = next };
	ip->ip6_vfc = 0x60;
	ip->ip6_src.s6_addr[0] = ip->ip6_src.s6_addr[15] = 0xfd;
	ip->ip6_dst.s6_addr[15] = 2;
}

/* Return: bytes of the answer to the first @len bytes of the packet; 0: there is none. */
static u32 answered(u32 len)
{
	u8 *copy = malloc(len + !len);	/* no byte behind it is read */
	u32 bytes;

	assert_non_null(copy);
	host_start();
	memcpy(copy, sent, len);
	memset(answer, 0xff, sizeof(answer));
	bytes = torus_host_answer(&shell.host, copy, len, 1);
	if (bytes)
		torus_host_answer_write(copy, bytes, answer);
	assert_int_equal(answer[bytes], 0xff);
	free(copy);
	return bytes;
}

/* Return: the sum of 16-bit words, big endian, as in RFC 1071. */
static u32 words(const void *data, size_t n)
{
	const u8 *p = data;
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? p[i] : p[i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (u32)sum;
}

static u32 both(u32 a, u32 b)
{
	return (a + b) % 0xffff;	/* 0 and 0xffff are both zero */
}

static void expect_answer4(u32 len, u32 quote)
{
	const struct iphdr *was = (struct iphdr *)sent;
	struct icmphdr icmp;
	struct iphdr ip;

	assert_int_equal(answered(len), sizeof(ip) + sizeof(icmp) + quote);
	memcpy(&ip, answer, sizeof(ip));
	memcpy(&icmp, answer + sizeof(ip), sizeof(icmp));
	assert_int_equal(ip.version, 4);
	assert_int_equal(ip.ihl, 5);
	assert_int_equal(ip.tos, 0);
	assert_int_equal(ntohs(ip.tot_len), sizeof(ip) + sizeof(icmp) + quote);
	assert_int_equal(ip.frag_off, 0);
	assert_int_equal(ip.ttl, 64);
	assert_int_equal(ip.protocol, IPPROTO_ICMP);
	assert_int_equal(ip.saddr, was->daddr);
	assert_int_equal(ip.daddr, was->saddr);
	assert_int_equal(words(&ip, sizeof(ip)), 0xffff);
	assert_int_equal(icmp.type, ICMP_DEST_UNREACH);
	assert_int_equal(icmp.code, ICMP_HOST_UNREACH);
	assert_int_equal(icmp.un.gateway, 0);
	assert_int_equal(words(answer + sizeof(ip), sizeof(icmp) + quote), 0xffff);
	assert_memory_equal(answer + sizeof(ip) + sizeof(icmp), sent, quote);
}

static void unreachable_ipv4_packet_gets_icmp_answer(void **state)
{
	(void)state;
	packet4(IPPROTO_UDP);
	expect_answer4(28, 28);
	expect_answer4(101, 101);
	expect_answer4(548, 548);
	expect_answer4(549, 548);
	expect_answer4(LEN_MAX, 548);
	memset(sent + 20, 0xff, LEN_MAX - 20);
	expect_answer4(LEN_MAX, 548);
}

static void ipv4_errors_and_short_packets_get_no_answer(void **state)
{
	struct iphdr *ip = packet4(IPPROTO_UDP);

	(void)state;
	/* A header and eight bytes are the least by which a packet is recognised. */
	for (u32 len = 0; len < 28; len++)
		assert_int_equal(answered(len), 0);
	assert_true(answered(28));
	ip->ihl = 4;
	assert_false(answered(100));
	ip->ihl = 15;
	assert_false(answered(67));
	assert_true(answered(68));
	ip = packet4(IPPROTO_UDP);
	ip->version = 5;
	assert_false(answered(100));
	ip->version = 4;
	/* Only the first fragment is answered. */
	ip->frag_off = htons(IP_MF);
	assert_true(answered(100));
	ip->frag_off = htons(IP_DF);
	assert_true(answered(100));
	for (u16 at = 1; at < IP_MF; at = (u16)(at << 1)) {
		ip->frag_off = htons(at);
		assert_false(answered(100));
	}
	packet4(IPPROTO_ICMP);
	for (unsigned int type = 0; type < 256; type++) {
		sent[20] = (u8)type;
		assert_int_equal(answered(100) > 0, type == ICMP_ECHO);
	}
}

/* A source that is not one host gets none. */
static void source_that_is_no_host_gets_no_icmp_answer(void **state)
{
	struct iphdr *ip = packet4(IPPROTO_UDP);

	(void)state;
	for (u32 first = 0; first < 256; first++) {
		ip->saddr = htonl(first << 24 | 1);
		assert_int_equal(answered(100) > 0, first && first != 127 && first < 224);
	}
}

static void expect_answer6(u32 len, u32 quote)
{
	const struct ip6_hdr *was = (struct ip6_hdr *)sent;
	u32 n = (u32)sizeof(struct icmp6_hdr) + quote;
	struct icmp6_hdr icmp;
	struct ip6_hdr ip;

	assert_int_equal(answered(len), sizeof(ip) + n);
	memcpy(&ip, answer, sizeof(ip));
	memcpy(&icmp, answer + sizeof(ip), sizeof(icmp));
	assert_int_equal(ntohl(ip.ip6_flow), 0x60000000);
	assert_int_equal(ntohs(ip.ip6_plen), n);
	assert_int_equal(ip.ip6_hlim, 64);
	assert_int_equal(ip.ip6_nxt, IPPROTO_ICMPV6);
	assert_memory_equal(&ip.ip6_src, &was->ip6_dst, 16);
	assert_memory_equal(&ip.ip6_dst, &was->ip6_src, 16);
	assert_int_equal(icmp.icmp6_type, ICMP6_DST_UNREACH);
	assert_int_equal(icmp.icmp6_code, ICMP6_DST_UNREACH_ADDR);
	assert_int_equal(icmp.icmp6_data32[0], 0);
	assert_int_equal(both(words(answer + 8, 32) + n + IPPROTO_ICMPV6,
			      words(answer + sizeof(ip), n)), 0);
	assert_memory_equal(answer + sizeof(ip) + sizeof(icmp), sent, quote);
}

static void unreachable_ipv6_packet_gets_icmp_answer(void **state)
{
	(void)state;
	packet6(IPPROTO_UDP);
	expect_answer6(48, 48);
	expect_answer6(101, 101);
	expect_answer6(1232, 1232);
	expect_answer6(1233, 1232);
	expect_answer6(LEN_MAX, 1232);
	memset(sent + 9, 0xff, LEN_MAX - 9);
	expect_answer6(LEN_MAX, 1232);
}

static void ipv6_errors_and_short_packets_get_no_answer(void **state)
{
	(void)state;
	packet6(IPPROTO_UDP);
	for (u32 len = 0; len < 48; len++)
		assert_int_equal(answered(len), 0);
	packet6(IPPROTO_ICMPV6);
	/* Types below 128 are errors. */
	for (unsigned int type = 0; type < 256; type++) {
		sent[40] = (u8)type;
		assert_int_equal(answered(100) > 0, type >= ICMP6_ECHO_REQUEST);
	}
}

static void ipv6_packet_without_unicast_source_gets_no_answer(void **state)
{
	struct ip6_hdr *ip = (struct ip6_hdr *)sent;

	(void)state;
	packet6(IPPROTO_UDP);
	assert_true(answered(100));
	ip->ip6_src.s6_addr[0] = 0xff;
	assert_false(answered(100));
	for (u8 last = 0; last < 3; last++) {
		memset(&ip->ip6_src, 0, 16);
		ip->ip6_src.s6_addr[15] = last;
		assert_int_equal(answered(100) > 0, last == 2);
	}
}

/* Writes an extension header of @kind, of @words of 8 bytes, at @at, before one of kind @next. */
static unsigned int extension(unsigned int at, u8 kind, u8 words8, u8 next)
{
	memset(sent + at, 0, words8 * 8u);
	sent[at] = next;
	if (kind == IPPROTO_AH)
		sent[at + 1] = (u8)(words8 * 2 - 2);
	else if (kind != IPPROTO_FRAGMENT)
		sent[at + 1] = (u8)(words8 - 1);
	return at + words8 * 8u;
}

/* An error behind extension headers gets none; nor does what may be one. */
static void error_after_extension_headers_gets_no_answer(void **state)
{
	static const u8 kinds[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_AH, IPPROTO_DSTOPTS,
				    IPPROTO_FRAGMENT };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		u8 words8 = kinds[i] == IPPROTO_FRAGMENT ? 1 : 3;
		unsigned int at;

		packet6(IPPROTO_HOPOPTS);
		at = extension(40, IPPROTO_HOPOPTS, 2, kinds[i]);
		at = extension(at, kinds[i], words8, IPPROTO_ICMPV6);
		sent[at] = ICMP6_ECHO_REQUEST;
		assert_true(answered(at + 1));
		assert_false(answered(at));
		sent[at] = ICMP6_DST_UNREACH;
		assert_false(answered(at + 1));
		sent[at] = ICMP6_ECHO_REQUEST;
		extension(56, kinds[i], words8, IPPROTO_UDP);
		sent[at] = ICMP6_DST_UNREACH;
		assert_true(answered(at + 1));
		assert_false(answered(56 + 7));
	}
	/* Other fragments: a later one of ICMPv6 may be of an error. */
	sent[56 + 3] = 1;
	assert_true(answered(100));
	sent[56 + 3] = 8;
	assert_true(answered(100));
	sent[56] = IPPROTO_ICMPV6;
	sent[64] = ICMP6_ECHO_REQUEST;
	assert_false(answered(100));
	sent[56 + 3] = 0;
	assert_true(answered(100));
	sent[56 + 2] = 1;
	assert_false(answered(100));
}

/* Return: how many of @n answers are given at @now. */
static unsigned int burst(unsigned int n, u64 now)
{
	unsigned int given = 0;

	while (n--)
		given += torus_host_answer(&shell.host, sent, 100, now) > 0;
	return given;
}

/* ICMP errors are limited to 50 at once and 200 a second, whatever the host sends. */
static void icmp_answers_are_limited_in_rate(void **state)
{
	u64 now = 1000 * EACH;

	(void)state;
	packet4(IPPROTO_UDP);
	host_start();
	assert_int_equal(burst(200, now), 51);
	assert_int_equal(burst(200, now + EACH - 1), 0);
	assert_int_equal(burst(200, now + EACH), 1);
	assert_int_equal(burst(200, now + 9 * EACH), 8);
	/* Time without answers is saved for 50 at most. */
	assert_int_equal(burst(200, now + 59 * EACH), 50);
	assert_int_equal(burst(200, now + 500 * EACH), 51);
	/* Soon after the machine started, too. */
	host_start();
	assert_int_equal(burst(200, 10 * EACH), 11);
}

/* Only the first packet of a message gets an ICMP error. */
static void only_first_packet_gets_icmp_error(void **state)
{
	static const struct { u8 ends; u32 bytes, len; } t[] = {
		{ TN_TAIL_FIRST, 100, 90 }, { TN_TAIL_FIRST | TN_TAIL_LAST, 100, 90 },
		{ TN_TAIL_FIRST, 11, 1 }, { TN_TAIL_FIRST, 10, 0 }, { 0, 100, 0 },
		{ TN_TAIL_LAST, 100, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		struct tn_pkt *pkt = host_packet(t[i].bytes);
		struct tn_queue msg;

		host_start();
		shell.packets = 1;
		pkt->hdr.type = TN_UNREACH;
		pkt->tail.flags |= t[i].ends;
		assert_int_equal(torus_host_take(&shell.host, pkt, &msg), 0);
		assert_int_equal(msg.count, 0);
		assert_int_equal(shell.reported, t[i].len > 0);
		assert_int_equal(shell.reported_len, t[i].len);
		assert_int_equal(shell.counter[TORUS_NC_HOST_RX_DROPS], 0);
		host_end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(unreachable_ipv4_packet_gets_icmp_answer),
		cmocka_unit_test(ipv4_errors_and_short_packets_get_no_answer),
		cmocka_unit_test(source_that_is_no_host_gets_no_icmp_answer),
		cmocka_unit_test(unreachable_ipv6_packet_gets_icmp_answer),
		cmocka_unit_test(ipv6_errors_and_short_packets_get_no_answer),
		cmocka_unit_test(ipv6_packet_without_unicast_source_gets_no_answer),
		cmocka_unit_test(error_after_extension_headers_gets_no_answer),
		cmocka_unit_test(icmp_answers_are_limited_in_rate),
		cmocka_unit_test(only_first_packet_gets_icmp_error),
	};

	return cmocka_run_group_tests_name("host_unreach", all, NULL, NULL);
}
