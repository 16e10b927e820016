// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host on their way into the NIC: their node and VC, and their fate if the NIC
 * refuses them. How they wait: test_host_lane.c.
 */
#include <errno.h>

#include "tests/unit/host_shell.h"
#include "tests/unit/seeds.h"

#define CS1	(8 << 2)	/* dsfield: may arrive in any order */
#define CS4	(32 << 2)	/* replies */
#define MOST	HOST_PAYLOAD_MAX
#define NOWHERE	TORUS_NO_NODE

/* A ring of three nodes, x = 0 to 2. */
static const struct torus_shape ring = { .ndims = 1, .size = { 3, 1, 1, 1, 1, 1 } };

static void start(void)
{
	host_start();
	shell.host.shape = &ring;
}

static u8 *header4(u8 *ip, u32 addr, u8 dsfield)
{
	memset(ip, 0, 64);
	ip[0] = 0x45;
	ip[1] = dsfield;
	ip[16] = (u8)(addr >> 24);
	ip[17] = (u8)(addr >> 16);
	ip[18] = (u8)(addr >> 8);
	ip[19] = (u8)addr;
	return ip;
}

/* Writes an IPv6 header to @net:6f72:NODE::. */
static u8 *header6(u8 *ip, u16 net, u8 node, u8 dsfield)
{
	memset(ip, 0, 64);
	ip[0] = (u8)(0x60 | dsfield >> 4);
	ip[1] = (u8)(dsfield << 4 | 0xf);	/* the header has a flow label */
	ip[24] = (u8)(net >> 8);
	ip[25] = (u8)net;
	ip[26] = 0x6f;
	ip[27] = 0x72;
	ip[29] = node;
	return ip;
}

/* Destination and VC of the last message. */
static struct torus_host_msg to;

/*
 * Return: the node to which a message of @len bytes goes, whose IP packet has @n; a drop must be
 * counted.
 */
static u32 goes(const u8 *ip, size_t n, u32 len)
{
	const u64 *c = shell.counter;
	u64 drops = c[TORUS_NC_HOST_TX_DROPS];
	bool yes = torus_host_begin(&shell.host, &to, ip, n, len);

	assert_int_equal(to.len, len > TORUS_HOST_HDR ? len - TORUS_HOST_HDR : 0);
	/* a message counts only when it is sent */
	assert_int_equal(c[TORUS_NC_HOST_MESSAGES_TX], 0);
	assert_int_equal(c[TORUS_NC_HOST_TX_DROPS] - drops, !yes);
	assert_int_equal(c[TORUS_NC_HOST_RX_DROPS], 0);
	return yes ? to.dst : NOWHERE;
}

static void address_gives_destination_node(void **state)
{
	static const struct { u32 addr, node; } to4[] = {
		{ 0x0a000000, 0 }, { 0x0a010000, 1 }, { 0x0a020000, 2 },
		{ 0x0a030000, NOWHERE }, { 0x0a000100, NOWHERE }, { 0x0b010000, NOWHERE },
		{ 0x0a000001, NOWHERE }, { 0xe0000001, NOWHERE },
	};
	static const struct { u16 net; u8 node; u32 goes; } to6[] = {
		{ 0xfd74, 0, 0 }, { 0xfd74, 2, 2 }, { 0xfd74, 3, NOWHERE }, { 0xff02, 1, NOWHERE },
	};
	u8 ip[64];

	(void)state;
	start();
	for (unsigned int i = 0; i < ARRAY_SIZE(to4); i++)
		assert_int_equal(goes(header4(ip, to4[i].addr, 0), 64, 74), to4[i].node);
	for (unsigned int i = 0; i < ARRAY_SIZE(to6); i++)
		assert_int_equal(goes(header6(ip, to6[i].net, to6[i].node, 0), 64, 74),
				 to6[i].goes);
	/* Headers that are cut off, and other protocols. */
	header4(ip, 0x0a010000, 0);
	assert_int_equal(goes(ip, 20, 30), 1);
	assert_int_equal(goes(ip, 19, 29), NOWHERE);
	assert_int_equal(goes(ip, 0, 10), NOWHERE);
	assert_int_equal(goes(ip, 0, 9), NOWHERE);
	ip[0] = 0x55;
	assert_int_equal(goes(ip, 64, 74), NOWHERE);
	header6(ip, 0xfd74, 1, 0);
	assert_int_equal(goes(ip, 40, 50), 1);
	assert_int_equal(goes(ip, 39, 49), NOWHERE);
	/* Without a place it goes nowhere. */
	shell.host.shape = NULL;
	assert_int_equal(goes(ip, 40, 50), NOWHERE);
	assert_int_equal(torus_host_vc(&shell.host, ip, 39), TORUS_VC_D0);
	host_end();
}

static void dsfield_and_size_give_vc(void **state)
{
	static const struct { u8 dsfield; u32 len; u8 vc; } t[] = {
		{ 0, 100, TORUS_VC_D0 }, { 0, 3 * MOST, TORUS_VC_D0 },
		{ CS4, 100, TORUS_VC_D1 }, { CS4, 3 * MOST, TORUS_VC_D1 },
		{ CS4 | 3, 100, TORUS_VC_D1 }, { CS1 | 1, 100, TORUS_VC_A },
		{ CS4 - 1, 100, TORUS_VC_D0 }, { CS1 + 4, 100, TORUS_VC_D0 },
		/* Only messages of one packet may use the VC without order. */
		{ CS1, 100, TORUS_VC_A }, { CS1, MOST, TORUS_VC_A },
		{ CS1, MOST + 1, TORUS_VC_D0 }, { CS1, 3 * MOST, TORUS_VC_D0 },
	};
	u8 ip[64];

	(void)state;
	start();
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		assert_int_equal(goes(header4(ip, 0x0a010000, t[i].dsfield), 64, t[i].len), 1);
		assert_int_equal(to.vc, t[i].vc);
		assert_int_equal(goes(header6(ip, 0xfd74, 1, t[i].dsfield), 64, t[i].len), 1);
		assert_int_equal(to.vc, t[i].vc);
	}
	host_end();
}

/* Each DSCP selects the VC that two parameters name; VCD1 if both name it, VCD0 if neither does. */
static void parameters_say_which_dscp_gives_which_vc(void **state)
{
	static const struct { u64 vcd1, vca; } t[] = {
		{ 0, 0 }, { ~0ull, 0 }, { 0, ~0ull }, { ~0ull, ~0ull }, { 1ull << 63, 1 },
		{ 0x0123456789abcdefull, 0xff00ff00ff00ff00ull },
	};
	u8 ip[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		start();
		shell.host.dscp_vcd1 = t[i].vcd1;
		shell.host.dscp_vca = t[i].vca;
		for (unsigned int dscp = 0; dscp < 64; dscp++) {
			u8 vc = t[i].vcd1 >> dscp & 1 ? TORUS_VC_D1 :
				t[i].vca >> dscp & 1 ? TORUS_VC_A : TORUS_VC_D0;

			assert_int_equal(goes(header4(ip, 0x0a010000, (u8)(dscp << 2 | 3)), 64, 74), 1);
			assert_int_equal(to.vc, vc);
			assert_int_equal(goes(header6(ip, 0xfd74, 1, (u8)(dscp << 2)), 64, 74), 1);
			assert_int_equal(to.vc, vc);
			assert_int_equal(torus_host_vc(&shell.host, ip, 64), vc);
		}
		host_end();
	}
}

/* Sends a message of @len bytes, which is cut into packets of at most @each. */
static void cut(u32 len, u32 each)
{
	u8 ip[64];

	assert_int_equal(goes(header4(ip, 0x0a010000, CS4), 64, len), 1);
	for (u32 at = 0; at < len; at += each) {
		u32 bytes = len - at < each ? len - at : each;
		struct tn_pkt *pkt = host_packet(bytes);

		memset(pkt->payload, 0xff, (bytes + TN_FLIT - 1) / TN_FLIT * TN_FLIT);
		pkt->hdr.len = 0;
		torus_host_packet(&shell.host.out, pkt, at, bytes, len);
	}
}

/* Packets have the bytes of the message, in order, and the first and the last one are marked. */
static void packets_have_bytes_of_message_in_order(void **state)
{
	struct tn_pkt *pkt;
	u32 at;

	(void)state;
	for (u32 len = 64; len <= 200; len++)
		for (u32 each = 16; each <= 208; each += TN_FLIT) {
			start();
			cut(len, each);
			torus_host_send(&shell.host, &to, 1);
			at = 0;
			for (pkt = shell.sent.head; pkt; pkt = pkt->next) {
				assert_int_equal(!at, !!(pkt->tail.flags & TN_TAIL_FIRST));
				at += tn_pkt_bytes(pkt);
				assert_int_equal(at == len, !!(pkt->tail.flags & TN_TAIL_LAST));
				for (u32 i = 0; i < pkt->hdr.len * TN_FLIT; i++)
					assert_int_equal(pkt->payload[i],
							 i < tn_pkt_bytes(pkt) ? 0xff : 0);
			}
			assert_int_equal(at, len);
			assert_int_equal(shell.counter[TORUS_NC_HOST_MESSAGES_TX], 1);
			assert_int_equal(shell.counter[TORUS_NC_HOST_BYTES_TX], len - TORUS_HOST_HDR);
			host_end();
		}
}

/* A refused message is dropped as a whole; the host gets an error if nothing of it was sent. */
static void refused_message_is_dropped_as_a_whole(void **state)
{
	static const struct { int err; unsigned int takes, reported; } t[] = {
		{ -EHOSTUNREACH, 0, 1 }, { -EHOSTUNREACH, 1, 0 }, { -EINVAL, 0, 0 },
		{ -EINVAL, 2, 0 }, { -EAGAIN, 3, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		start();
		cut(1000, 256);
		shell.takes = t[i].takes;
		shell.refusal = t[i].err;
		torus_host_send(&shell.host, &to, 1);
		assert_int_equal(shell.sent.count, t[i].takes);
		assert_null(shell.host.out.head);
		assert_int_equal(shell.reported, t[i].reported);
		assert_int_equal(shell.reported_len, t[i].reported ? 256 - TORUS_HOST_HDR : 0);
		assert_int_equal(shell.counter[TORUS_NC_HOST_RX_DROPS], 0);
		assert_int_equal(shell.counter[TORUS_NC_HOST_TX_DROPS], 1);
		assert_int_equal(shell.counter[TORUS_NC_HOST_MESSAGES_TX], 0);
		assert_int_equal(shell.counter[TORUS_NC_HOST_BYTES_TX], 0);
		host_end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(address_gives_destination_node),
		cmocka_unit_test(dsfield_and_size_give_vc),
		cmocka_unit_test(parameters_say_which_dscp_gives_which_vc),
		cmocka_unit_test(packets_have_bytes_of_message_in_order),
		cmocka_unit_test(refused_message_is_dropped_as_a_whole),
	};

	return cmocka_run_group_tests_name("host_send", all, NULL, NULL);
}
