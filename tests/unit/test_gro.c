// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams merged for the host: any datagrams, merged and then split as the host's kernel does it,
 * come out unchanged and in order.
 */
#include <arpa/inet.h>
#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include "seeds.h"
#include "tools/torusemu/gro.h"

#define VNET	sizeof(struct virtio_net_hdr)
#define MESSAGE	2100

/* @data begins so that the IP header is aligned. */
struct message {
	_Alignas(4) u8 before[2];
	u8 data[MESSAGE];
	size_t bytes;
};

static u32 add16(u32 sum, const void *data, size_t len)
{
	const u8 *p = data;

	for (size_t i = 0; i < len; i += 2)
		sum += (u32)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Fills in the lengths and checksums of the headers that @m has, for @payload bytes. */
static void complete(u8 *ip, size_t payload)
{
	struct udphdr *udp;
	u32 len = (u32)(sizeof(*udp) + payload), sum = IPPROTO_UDP + len;

	if (ip[0] >> 4 == 4) {
		struct iphdr *h = (struct iphdr *)ip;

		udp = (struct udphdr *)(h + 1);
		h->tot_len = htons((u16)(sizeof(*h) + len));
		h->check = 0;
		h->check = htons((u16)~add16(0, h, sizeof(*h)));
		sum = add16(sum, &h->saddr, 8);
	} else {
		struct ip6_hdr *h = (struct ip6_hdr *)ip;

		udp = (struct udphdr *)(h + 1);
		h->ip6_plen = htons((u16)len);
		sum = add16(sum, &h->ip6_src, 32);
	}
	udp->len = htons((u16)len);
	udp->check = htons((u16)sum);
}

/* Makes a datagram of IPv4, or else of IPv6, of flow @flow, the @nth of its host. */
static void datagram(struct message *m, bool v4, u32 flow, u32 nth, bool df, size_t payload,
		     struct rnd *r)
{
	struct virtio_net_hdr vh = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM };
	size_t n = v4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr);
	struct udphdr udp = { .source = htons(1000), .dest = htons((u16)(2000 + flow)) };
	u8 *ip = m->data + VNET;

	memset(m->data, 0, VNET + n);
	tn_put_le16(&vh.csum_start, (u16)n);
	tn_put_le16(&vh.csum_offset, offsetof(struct udphdr, check));
	memcpy(m->data, &vh, VNET);
	if (v4) {
		struct iphdr h = {
			.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.id = htons((u16)(df ? 0 : nth)), .frag_off = htons(df ? IP_DF : 0),
			.saddr = htonl(0x0a000001), .daddr = htonl(0x0afffffe),
		};

		memcpy(ip, &h, sizeof(h));
	} else {
		struct ip6_hdr h = { .ip6_nxt = IPPROTO_UDP, .ip6_hlim = 64 };

		h.ip6_flow = htonl(6u << 28);
		memset(&h.ip6_src, 0xfd, 16);
		memset(&h.ip6_dst, 0xfe, 16);
		memcpy(ip, &h, sizeof(h));
	}
	memcpy(ip + n, &udp, sizeof(udp));
	rnd_fill(r, ip + n + sizeof(udp), payload);
	complete(ip, payload);
	m->bytes = VNET + n + sizeof(udp) + payload;
}

/* Cuts datagram @i out of a merged message, as the kernel does. */
static void cut(const u8 *whole, size_t bytes, u32 i, struct message *m)
{
	struct virtio_net_hdr vh;
	size_t n, size, at;

	memcpy(&vh, whole, VNET);
	n = VNET + tn_get_le16(&vh.hdr_len);
	size = tn_get_le16(&vh.gso_size);
	assert_int_equal(vh.gso_type, 5);	/* VIRTIO_NET_HDR_GSO_UDP_L4 */
	at = n + i * size;
	assert_true(at < bytes);
	if (size > bytes - at)
		size = bytes - at;
	memcpy(m->data, whole, n);
	memcpy(m->data + n, whole + at, size);
	vh.gso_type = VIRTIO_NET_HDR_GSO_NONE;
	vh.hdr_len = vh.gso_size = 0;
	memcpy(m->data, &vh, VNET);
	if (m->data[VNET] >> 4 == 4) {
		struct iphdr *h = (struct iphdr *)(m->data + VNET);

		if (!(h->frag_off & htons(IP_DF)))
			h->id = htons((u16)(ntohs(h->id) + i));
	}
	complete(m->data + VNET, size);
	m->bytes = n + size;
}

/*
 * Compares two messages, except for fields without meaning: hdr_len and gso_size; the
 * identification under DF.
 */
static void expect_same(struct rnd *r, const struct message *a, const struct message *b)
{
	struct iphdr x, y;

	expect(r, a->bytes == b->bytes, "%zu, %zu", a->bytes, b->bytes);
	expect(r, !memcmp(a->data, b->data, 2) && !memcmp(a->data + 6, b->data + 6, 4), "vnet");
	memcpy(&x, a->data + VNET, sizeof(x));
	memcpy(&y, b->data + VNET, sizeof(y));
	if (x.version == 4 && (x.frag_off & htons(IP_DF)) && x.id != y.id) {
		expect(r, add16(0, &x, sizeof(x)) == add16(0, &y, sizeof(y)), "header's sum");
		x.id = y.id;
		x.check = y.check;
	}
	expect(r, !memcmp(&x, &y, sizeof(x)), "IP header");
	expect(r, !memcmp(a->data + VNET + sizeof(x), b->data + VNET + sizeof(x),
			  a->bytes - VNET - sizeof(x)), "%zu bytes", a->bytes);
}

/* Checks that the merged message is valid, and that its datagrams are @m. */
static void check_whole(struct rnd *r, struct gro *g, const struct message *m)
{
	static u8 whole[GRO_HEAD + 65536];
	struct message one, again;
	size_t at;

	gro_finish(g);
	memcpy(whole, g->head, g->len);
	at = g->len;
	for (u32 i = 0; i < g->count; i++) {
		memcpy(whole + at, m[i].data + g->len, m[i].bytes - g->len);
		at += m[i].bytes - g->len;
	}
	expect(r, at == g->len + g->bytes, "%zu", at);
	expect(r, at - VNET <= 65535, "%zu", at);
	memcpy(again.data, g->head, g->len);
	complete(again.data + VNET, g->bytes);
	expect(r, !memcmp(again.data, g->head, g->len), "headers of the whole");
	for (u32 i = 0; i < g->count; i++) {
		cut(whole, at, i, &one);
		expect_same(r, &one, &m[i]);
	}
}

static u32 merged;

static void history(uint64_t seed)
{
	static struct message m[400];
	struct rnd r = rnd_new(seed);
	u32 first = 0, flow = 0, id = rnd_below(&r, 0x10000);
	size_t size = 1 + rnd_below(&r, 2000);
	bool v4 = rnd_below(&r, 2), df = rnd_below(&r, 2);
	struct gro g = { .count = 0 };

	for (u32 i = 0; i < ARRAY_SIZE(m); i++, id++) {
		if (rnd_one_in(&r, 20))
			size = rnd_below(&r, 2000);
		if (rnd_one_in(&r, 20))
			flow = rnd_below(&r, 2);
		if (rnd_one_in(&r, 30))
			v4 = rnd_below(&r, 2);
		if (rnd_one_in(&r, 30))
			df = rnd_below(&r, 2);
		if (rnd_one_in(&r, 30))
			id += 5;
		datagram(&m[i], v4, flow, id, df, rnd_one_in(&r, 30) ? size / 2 : size, &r);
		if (rnd_one_in(&r, 40))
			m[i].data[rnd_below(&r, (u32)(m[i].bytes < 48 ? m[i].bytes : 48))] ^= 1;
		if (g.count && gro_join(&g, m[i].data, m[i].bytes)) {
			expect(&r, g.count == i - first + 1, "%u", g.count);
			continue;
		}
		if (g.count > 1) {
			check_whole(&r, &g, &m[first]);
			merged += g.count;
		}
		g.count = 0;
		first = i;
		if (gro_begin(&g, m[i].data, m[i].bytes))
			expect(&r, g.count == 1, "%u", g.count);
	}
}

static void joined_datagrams_come_apart_as_sent(void **state)
{
	(void)state;
	for_seeds(300, history);
	assert_true(merged > 400);
}

/* A flipped bit in a header keeps a datagram from joining, or has no meaning. */
static void datagram_with_other_header_does_not_join(void **state)
{
	struct rnd r = rnd_new(1);
	struct message a, b, one;

	(void)state;
	for (int v4 = 0; v4 < 2; v4++) {
		size_t n = VNET + (v4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr)) +
			   sizeof(struct udphdr);

		for (size_t bit = 0; bit < 8 * n; bit++) {
			struct message m[2];
			struct gro g;

			datagram(&a, v4, 0, 7, false, 100, &r);
			datagram(&b, v4, 0, 8, false, 100, &r);
			assert_true(gro_begin(&g, a.data, a.bytes));
			assert_true(gro_join(&g, b.data, b.bytes));
			assert_true(gro_begin(&g, a.data, a.bytes));
			one = b;
			one.data[bit / 8] ^= (u8)(1 << bit % 8);
			if (!gro_join(&g, one.data, one.bytes))
				continue;
			m[0] = a;
			m[1] = one;
			check_whole(&r, &g, m);
		}
	}
}

static void datagrams_join_only_within_limits(void **state)
{
	struct rnd r = rnd_new(1);
	struct message m;
	struct gro g;

	(void)state;
	datagram(&m, true, 0, 0, true, 0, &r);
	assert_false(gro_begin(&g, m.data, m.bytes));	/* the message has no length to cut by */
	for (size_t bytes = 0; bytes < m.bytes; bytes++)
		assert_false(gro_begin(&g, m.data, bytes));
	for (size_t size = 1; size <= 2000; size++) {
		u32 n = 1;

		datagram(&m, true, 0, 0, true, size, &r);
		assert_true(gro_begin(&g, m.data, m.bytes));
		while (gro_join(&g, m.data, m.bytes))
			n++;
		assert_true(n == GRO_MAX || 28 + (n + 1) * size > 65535);
		assert_true(n <= GRO_MAX && 28 + n * size <= 65535);
	}
	datagram(&m, true, 0, 0, true, 100, &r);
	assert_true(gro_begin(&g, m.data, m.bytes));
	datagram(&m, true, 0, 0, true, 101, &r);
	/* the datagram is longer than the first one */
	assert_false(gro_join(&g, m.data, m.bytes));
	datagram(&m, true, 0, 0, true, 99, &r);
	assert_true(gro_join(&g, m.data, m.bytes));	/* a shorter one is the last */
	assert_false(gro_join(&g, m.data, m.bytes));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(joined_datagrams_come_apart_as_sent),
		cmocka_unit_test(datagram_with_other_header_does_not_join),
		cmocka_unit_test(datagrams_join_only_within_limits),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
