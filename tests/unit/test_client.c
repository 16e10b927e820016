// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client against a NIC that answers as it pleases: rightly, late, in parts,
 * with errors, with lies, or not at all.
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

#include "fake_nic.h"
#include "random.h"

static struct fake nic;
static struct torus_dev *dev;
static char dir[] = "/tmp/test_client.XXXXXX";
static char where[80];

/* --- answers --------------------------------------------------------------- */

static void answer_ok(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, 0, NULL);
}

static void answer_nothing(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	(void)fd;
	(void)req;
}

static void put_counters(struct nl_msg *msg, int type, unsigned int n, uint64_t base)
{
	struct nlattr *nest = nla_nest_start(msg, type);
	unsigned int i;

	for (i = 0; i < n; i++)
		nla_put_u64(msg, (int)i + 1, base + i);
	nla_put_u64(msg, (int)n + 1, 99);	/* of a NIC newer than us */
	nla_nest_end(msg, nest);
}

static void put_device(struct nl_msg *msg)
{
	uint16_t shape[] = { 4, 4, 2 }, coords[] = { 3, 0, 1 };

	nla_put_string(msg, TORUS_A_NAME, "n3-0-1");
	nla_put_string(msg, TORUS_A_IFNAME, "torus0");
	nla_put_string(msg, TORUS_A_DRIVER, "fake");
	nla_put_u32(msg, TORUS_A_IFINDEX, 7);
	nla_put_u64(msg, TORUS_A_GUID, 0x0123456789abcdefull);
	nla_put_u32(msg, TORUS_A_EPOCH, 42);
	nla_put_u8(msg, TORUS_A_PORT_COUNT, 6);
	nla_put_u8(msg, TORUS_A_BOOTSTRAP, 1);
	nla_put(msg, TORUS_A_SHAPE, sizeof(shape), shape);
	nla_put(msg, TORUS_A_COORDS, sizeof(coords), coords);
	nla_put_u32(msg, TORUS_A_NODE, 3 + 16);
	nla_put_u64(msg, TORUS_A_VERSION, 9);
	nla_put_u32(msg, TORUS_A_ROW_COUNT, 32);
	put_counters(msg, TORUS_A_NODE_COUNTERS, TORUS_NC_COUNT, 100);
}

static void put_link(struct nl_msg *msg, unsigned int port)
{
	struct nlattr *nest;

	nla_put_u8(msg, TORUS_A_PORT, (uint8_t)port);
	nla_put_u8(msg, TORUS_A_STATE, TORUS_LINK_UP);
	nla_put_u8(msg, TORUS_A_OLD_STATE, TORUS_LINK_INIT);
	nla_put_u8(msg, TORUS_A_REASON, TORUS_REASON_RETRY);
	nla_put_u8(msg, TORUS_A_ADMIN, 1);
	nla_put_u8(msg, TORUS_A_CARRIER, 1);
	nla_put_u8(msg, TORUS_A_CLOSED, 1);
	nla_put_string(msg, TORUS_A_LOWER, "px");
	nla_put_u32(msg, TORUS_A_SESSION, 5);
	nla_put_u16(msg, TORUS_A_SEQ, 4000);
	nla_put_u64(msg, TORUS_A_PEER_GUID, 77);
	nla_put_u8(msg, TORUS_A_PEER_PORT, 3);
	nest = nla_nest_start(msg, TORUS_A_FAULT);
	nla_put_u64(msg, TORUS_FAULT_BER, 1000000);
	nla_put_u8(msg, TORUS_FAULT_SILENCE, 1);
	nla_put_u64(msg, TORUS_FAULT_LATENCY, 2000);
	nla_put_u64(msg, TORUS_FAULT_SEED, 3);
	nla_nest_end(msg, nest);
	put_counters(msg, TORUS_A_PORT_COUNTERS, TORUS_PC_COUNT, 1000 * port);
	put_counters(msg, TORUS_A_GAUGES, TORUS_PG_COUNT, 10);
}

static void put_park(struct nl_msg *msg)
{
	nla_put_u64(msg, TORUS_A_VERSION, 11);
	nla_put_u32(msg, TORUS_A_EPOCH, 12);
	nla_put_u64(msg, TORUS_A_PARKED, 1);
	nla_put_u64(msg, TORUS_A_UNRESOLVED, 2);
	nla_put_u64(msg, TORUS_A_PARK_BYTES, 3);
	nla_put_u64(msg, TORUS_A_PARK_BYTES_MAX, 4);
	nla_put_u64(msg, TORUS_A_HELD, 5);
	put_counters(msg, TORUS_A_FLOW, TORUS_FC_COUNT * TORUS_COLOURS, 0);
}

static void answer_gets(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd;
	struct nl_msg *msg = fake_reply(req, cmd, 0);

	(void)f;
	if (cmd == TORUS_CMD_DEVICE_GET)
		put_device(msg);
	else if (cmd == TORUS_CMD_LINK_GET)
		put_link(msg, 3);
	else
		put_park(msg);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

/* --- frame of every test --------------------------------------------------- */

static int open_nic(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/a.nic", dir);
	snprintf(where, sizeof(where), "unix:%s", path);
	fake_start(&nic, path);
	nic.fn = answer_ok;
	assert_int_equal(torus_open(where, &dev), 0);
	assert_int_equal(torus_timeout_set(dev, 2000), 0);
	return 0;
}

static int close_nic(void **state)
{
	(void)state;
	torus_close(dev);
	dev = NULL;
	fake_stop(&nic);
	return 0;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The connection still works: what went before left nothing behind. */
static void assert_usable(void)
{
	struct torus_device d;

	nic.fn = answer_gets;
	assert_int_equal(torus_device_get(dev, &d), 0);
	assert_string_equal(d.name, "n3-0-1");
}

/* --- do -------------------------------------------------------------------- */

static void test_sets(void **state)
{
	struct torus_shape shape = { 3, { 4, 4, 2, 1, 1, 1 } };
	struct torus_coords at = { { 3, 0, 1 } };
	struct torus_fault fault = { .ber = 5, .latency_ns = 6, .seed = 7, .silence = true };
	struct nlattr *tb[TORUS_FAULT_MAX + 1];
	uint16_t two[2] = { 4, 4 };

	(void)state;
	assert_int_equal(torus_admin_set(dev, 3, true), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_LINK_SET);
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_PORT)), 3);
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_ADMIN)), 1);
	assert_null(fake_attr(&nic, TORUS_A_IFINDEX));

	assert_int_equal(torus_place_set(dev, &shape, &at), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_DEVICE_SET);
	assert_int_equal(nla_len(fake_attr(&nic, TORUS_A_SHAPE)), 6);
	assert_memory_equal(nla_data(fake_attr(&nic, TORUS_A_SHAPE)), two, 4);
	assert_int_equal(nla_len(fake_attr(&nic, TORUS_A_COORDS)), 6);

	assert_int_equal(torus_fault_set(dev, 1, &fault), 0);
	assert_int_equal(nla_parse_nested(tb, TORUS_FAULT_MAX, fake_attr(&nic, TORUS_A_FAULT),
					  NULL), 0);
	assert_int_equal(nla_get_u64(tb[TORUS_FAULT_BER]), 5);
	assert_int_equal(nla_get_u8(tb[TORUS_FAULT_SILENCE]), 1);
	assert_int_equal(nla_get_u64(tb[TORUS_FAULT_LATENCY]), 6);
	assert_int_equal(nla_get_u64(tb[TORUS_FAULT_SEED]), 7);

	assert_int_equal(torus_retrain(dev, 2), 0);
	assert_non_null(fake_attr(&nic, TORUS_A_RETRAIN));
	assert_int_equal(torus_attach(dev, 2, ""), 0);
	assert_int_equal(nla_len(fake_attr(&nic, TORUS_A_LOWER)), 1);
	assert_int_equal(torus_bootstrap_set(dev, true), 0);
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_BOOTSTRAP)), 1);
	assert_int_equal(torus_name_set(dev, "node"), 0);
	assert_string_equal(nla_get_string(fake_attr(&nic, TORUS_A_NAME)), "node");

	assert_int_equal(torus_release(dev, 5, true), 0);
	assert_non_null(fake_attr(&nic, TORUS_A_GIVE_UP));
	assert_int_equal(torus_release(dev, 5, false), 0);
	assert_null(fake_attr(&nic, TORUS_A_GIVE_UP));
	assert_int_equal(torus_park_resolve(dev, 1, 9, 4095), 0);
	assert_int_equal(nla_get_u16(fake_attr(&nic, TORUS_A_SEQ)), 4095);
	assert_int_equal(nla_get_u32(fake_attr(&nic, TORUS_A_SESSION)), 9);
	assert_int_equal(torus_park_resolve(dev, 1, 9, -1), 0);
	assert_null(fake_attr(&nic, TORUS_A_SEQ));
	assert_int_equal(torus_park_replay(dev, 6, 0x41), 0);
	assert_int_equal(nla_get_u16(fake_attr(&nic, TORUS_A_PORTS)), 0x41);
	assert_int_equal(torus_mgmt_send(dev, 4, "hello", 5), 0);
	assert_int_equal(nla_len(fake_attr(&nic, TORUS_A_DATA)), 5);
}

/* What cannot be right is not even sent. */
static void test_bad_arguments(void **state)
{
	struct torus_shape shape = { 2, { 4, 4, 1, 1, 1, 1 } };
	struct torus_coords at = { { 4, 0 } };
	struct torus_link link;
	char longest[TORUS_MGMT_MAX + 1] = { 0 };

	(void)state;
	assert_int_equal(torus_admin_set(dev, 12, true), -EINVAL);
	assert_string_equal(torus_error(dev), "port 12: allowed 0 to 11");
	assert_int_equal(torus_retrain(dev, 256), -EINVAL);
	assert_int_equal(torus_link_get(dev, ~0u, &link), -EINVAL);
	assert_int_equal(torus_fault_set(dev, 99, &(struct torus_fault) { 0 }), -EINVAL);
	assert_int_equal(torus_attach(dev, 0, "a-name-of-16-byt"), -EINVAL);
	assert_int_equal(torus_attach(dev, 12, "a"), -EINVAL);
	assert_int_equal(torus_place_set(dev, &shape, &at), -EINVAL);
	assert_non_null(strstr(torus_error(dev), "4,0"));
	shape.size[1] = 0;
	assert_int_equal(torus_place_set(dev, &shape, &at), -EINVAL);
	assert_int_equal(torus_mgmt_send(dev, 0, longest, 0), -EINVAL);
	assert_int_equal(torus_mgmt_send(dev, 0, longest, sizeof(longest)), -EINVAL);
	assert_int_equal(torus_mgmt_send(dev, 12, longest, 1), -EINVAL);
	assert_int_equal(torus_park_resolve(dev, 12, 0, 0), -EINVAL);
	assert_int_equal(torus_park_resolve(dev, 0, 0, 65536), -EINVAL);
	assert_int_equal(torus_name_set(dev, ""), -EINVAL);
	memset(longest, 'n', TORUS_NAME_MAX + 1);
	assert_int_equal(torus_name_set(dev, longest), -EINVAL);
	assert_int_equal(torus_timeout_set(dev, 0), -EINVAL);
	assert_int_equal(torus_events_open(dev, 0), -EINVAL);
	assert_int_equal(torus_events_open(dev, 8), -EINVAL);
	assert_int_equal(torus_events_read(dev, NULL, NULL), -ENOTCONN);
	assert_int_equal(nic.requests, 0);
}

static void answer_refused(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -EBUSY, "port 3 is attached to 'px'");
}

static void answer_refused_mutely(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -EPERM, NULL);
}

/* As kernels do without NETLINK_CAP_ACK: the whole request before the text. */
static void answer_refused_uncapped(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	int err = -ERANGE;

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_ACK_TLVS);
	nlmsg_append(msg, &err, sizeof(err), 0);
	nlmsg_append(msg, req, req->nlmsg_len, NLMSG_ALIGNTO);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "too far");
	fake_send(fd, msg);
}

static void answer_positive(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, 17, NULL);
}

static void answer_short_ack(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 4, 0);
	fake_send(fd, msg);
}

/* Its text has no end. */
static void answer_endless_text(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr body = { .error = -EIO, .msg = *req };

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO);
	nla_put(msg, NLMSGERR_ATTR_MSG, 4, "abcd");
	fake_send(fd, msg);
}

static void test_errors(void **state)
{
	static const struct {
		fake_fn fn;
		int err;
		const char *text;
	} t[] = {
		{ answer_refused, -EBUSY,
		  "link set: port 3 is attached to 'px' (Device or resource busy)" },
		{ answer_refused_mutely, -EPERM, "link set: Operation not permitted" },
		{ answer_refused_uncapped, -ERANGE,
		  "link set: too far (Numerical result out of range)" },
		{ answer_positive, -EBADMSG, "link set: answered with error 17" },
		{ answer_short_ack, -EBADMSG,
		  "link set: its acknowledgement is cut short (Bad message)" },
		{ answer_endless_text, -EIO, "link set: Input/output error" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		nic.fn = t[i].fn;
		assert_int_equal(torus_admin_set(dev, 3, true), t[i].err);
		assert_string_equal(torus_error(dev), t[i].text);
	}
	assert_usable();
}

/* --- gets ------------------------------------------------------------------ */

static void test_device(void **state)
{
	struct torus_device d;
	unsigned int i;

	(void)state;
	nic.fn = answer_gets;
	assert_int_equal(torus_device_get(dev, &d), 0);
	assert_string_equal(d.name, "n3-0-1");
	assert_string_equal(d.ifname, "torus0");
	assert_string_equal(d.driver, "fake");
	assert_int_equal(d.ifindex, 7);
	assert_true(d.guid == 0x0123456789abcdefull);
	assert_int_equal(d.epoch, 42);
	assert_int_equal(d.nports, 6);
	assert_true(d.bootstrap && d.placed);
	assert_int_equal(d.shape.ndims, 3);
	assert_int_equal(d.shape.size[2], 2);
	assert_int_equal(d.shape.size[5], 1);
	assert_int_equal(d.coords.c[0], 3);
	assert_int_equal(d.node, 19);
	assert_int_equal(d.version, 9);
	for (i = 0; i < TORUS_NC_COUNT; i++)
		assert_int_equal(d.counter[i], 100 + i);
}

static void test_link(void **state)
{
	struct torus_link l;
	unsigned int i;

	(void)state;
	nic.fn = answer_gets;
	assert_int_equal(torus_link_get(dev, 3, &l), 0);
	assert_int_equal(l.port, 3);
	assert_int_equal(l.state, TORUS_LINK_UP);
	assert_int_equal(l.old_state, TORUS_LINK_INIT);
	assert_int_equal(l.reason, TORUS_REASON_RETRY);
	assert_true(l.admin && l.carrier && l.closed);
	assert_string_equal(l.lower, "px");
	assert_int_equal(l.session, 5);
	assert_int_equal(l.seq, 4000);
	assert_int_equal(l.peer_guid, 77);
	assert_int_equal(l.peer_port, 3);
	assert_true(l.fault.silence);
	assert_int_equal(l.fault.ber, 1000000);
	assert_int_equal(l.fault.latency_ns, 2000);
	assert_int_equal(l.fault.seed, 3);
	for (i = 0; i < TORUS_PC_COUNT; i++)
		assert_int_equal(l.counter[i], 3000 + i);
	for (i = 0; i < TORUS_PG_COUNT; i++)
		assert_int_equal(l.gauge[i], 10 + i);
}

static void test_park(void **state)
{
	struct torus_park p;
	struct torus_flow f;
	unsigned int i, k;

	(void)state;
	nic.fn = answer_gets;
	assert_int_equal(torus_park_get(dev, &p), 0);
	assert_int_equal(p.parked, 1);
	assert_int_equal(p.unresolved, 2);
	assert_int_equal(p.bytes, 3);
	assert_int_equal(p.bytes_max, 4);
	assert_int_equal(p.held, 5);
	assert_int_equal(torus_flow_get(dev, &f), 0);
	assert_int_equal(f.version, 11);
	assert_int_equal(f.epoch, 12);
	for (i = 0; i < TORUS_FC_COUNT; i++)
		for (k = 0; k < TORUS_COLOURS; k++) {
			assert_int_equal(f.counter[i][k], i * TORUS_COLOURS + k);
			assert_int_equal(p.flow.counter[i][k], i * TORUS_COLOURS + k);
		}
}

/* One attribute of a device or link replaced by another. */
static struct {
	int type;
	int len;
	const void *data;
	bool leave_out;
} odd;

static void answer_odd(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd;
	struct nl_msg *whole = fake_reply(req, cmd, 0), *msg = fake_reply(req, cmd, 0);
	struct nlattr *attr;
	int left;

	(void)f;
	if (cmd == TORUS_CMD_DEVICE_GET)
		put_device(whole);
	else
		put_link(whole, 3);
	nla_for_each_attr(attr, nlmsg_attrdata(nlmsg_hdr(whole), GENL_HDRLEN),
			  nlmsg_attrlen(nlmsg_hdr(whole), GENL_HDRLEN), left)
		if (nla_type(attr) != odd.type)
			nla_put(msg, nla_type(attr), nla_len(attr), nla_data(attr));
	if (!odd.leave_out)
		nla_put(msg, odd.type, odd.len, odd.data);
	nlmsg_free(whole);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void test_lies(void **state)
{
	static const uint16_t shape4[] = { 4, 4, 2, 2 }, zero[] = { 4, 0, 2 },
			      outside[] = { 3, 0, 2 }, huge[] = { 4, 4, 5000 };
	static const uint32_t node = 20, bad_nest[] = { 0x00010006, 0 };
	static const char name[70] = "name without an end";
	static const uint8_t byte[] = { 0, 1, 5, 6, 7, 12, 14, 255 };
	static const struct {
		bool link;
		int type, len;
		const void *data;
		bool leave_out;
		int err;
	} t[] = {
		{ false, TORUS_A_GUID, 0, NULL, true, -EBADMSG },
		{ false, TORUS_A_GUID, 4, "abcd", false, -EBADMSG },
		{ false, TORUS_A_GUID, 12, "abcdefghijkl", false, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 0, NULL, true, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 0, "", false, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 1, &byte[0], false, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 1, &byte[2], false, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 1, &byte[6], false, -EBADMSG },
		{ false, TORUS_A_PORT_COUNT, 1, &byte[5], false, 0 },
		{ false, TORUS_A_NAME, 4, "abcd", false, -EBADMSG },
		{ false, TORUS_A_NAME, 70, name, false, -EBADMSG },
		{ false, TORUS_A_NAME, 0, "", false, -EBADMSG },
		{ false, TORUS_A_NAME, 0, NULL, true, 0 },
		{ false, TORUS_A_SHAPE, 0, NULL, true, -EBADMSG },
		{ false, TORUS_A_COORDS, 0, NULL, true, -EBADMSG },
		{ false, TORUS_A_SHAPE, 5, shape4, false, -EBADMSG },
		{ false, TORUS_A_SHAPE, 8, shape4, false, -EBADMSG },
		{ false, TORUS_A_SHAPE, 6, zero, false, -EBADMSG },
		{ false, TORUS_A_SHAPE, 6, huge, false, -EBADMSG },
		{ false, TORUS_A_SHAPE, 14, name, false, -EBADMSG },
		{ false, TORUS_A_COORDS, 6, outside, false, -EBADMSG },
		{ false, TORUS_A_NODE, 4, &node, false, -EBADMSG },
		{ false, TORUS_A_NODE, 3, &node, false, -EBADMSG },
		{ false, TORUS_A_NODE_COUNTERS, 8, bad_nest, false, -EBADMSG },
		{ false, TORUS_A_MAX + 5, 3, "new", false, 0 },
		{ true, TORUS_A_PORT, 0, NULL, true, -EBADMSG },
		{ true, TORUS_A_STATE, 0, NULL, true, -EBADMSG },
		{ true, TORUS_A_PORT, 1, &byte[5], false, -EBADMSG },
		{ true, TORUS_A_STATE, 1, &byte[3], false, -EBADMSG },
		{ true, TORUS_A_OLD_STATE, 1, &byte[7], false, -EBADMSG },
		{ true, TORUS_A_REASON, 1, &byte[4], false, -EBADMSG },
		{ true, TORUS_A_LOWER, 17, "seventeen bytes.", false, -EBADMSG },
		{ true, TORUS_A_SEQ, 1, &byte[0], false, -EBADMSG },
		{ true, TORUS_A_FAULT, 8, bad_nest, false, -EBADMSG },
		{ true, TORUS_A_PORT_COUNTERS, 8, bad_nest, false, -EBADMSG },
		{ true, TORUS_A_GAUGES, 8, bad_nest, false, -EBADMSG },
	};
	struct torus_device d;
	struct torus_link l;
	unsigned int i;
	int err;

	(void)state;
	nic.fn = answer_odd;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		odd.type = t[i].type;
		odd.len = t[i].len;
		odd.data = t[i].data;
		odd.leave_out = t[i].leave_out;
		err = t[i].link ? torus_link_get(dev, 3, &l) : torus_device_get(dev, &d);
		if (err != t[i].err)
			fail_msg("line %u: %d, expected %d (%s)", i, err, t[i].err,
				 torus_error(dev));
		assert_true(!err == !*torus_error(dev));
	}
	assert_usable();
}

/* --- dumps ----------------------------------------------------------------- */

/* Two links in one datagram, one alone, and so on. */
static void dump_links(int fd, struct nlmsghdr *req, unsigned int n, int flags)
{
	static char both[TORUS_MSG_MAX];
	unsigned int port;
	size_t len = 0;

	for (port = 0; port < n; port++) {
		struct nl_msg *msg = fake_reply(req, TORUS_CMD_LINK_GET, NLM_F_MULTI | flags);

		put_link(msg, port);
		memcpy(both + len, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
		len += NLMSG_ALIGN(nlmsg_hdr(msg)->nlmsg_len);
		nlmsg_free(msg);
		if (port % 3 != 0) {
			send(fd, both, len, MSG_NOSIGNAL);
			len = 0;
		}
	}
	if (len)
		send(fd, both, len, MSG_NOSIGNAL);
}

static void answer_links(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int *n = f->arg;

	dump_links(fd, req, *n, 0);
	fake_done(fd, req, 0, NULL, 0);
}

static void test_dump(void **state)
{
	struct torus_link l[12];
	unsigned int n, i, all;

	(void)state;
	nic.arg = &all;
	nic.fn = answer_links;
	for (all = 0; all <= 12; all++) {
		n = 12;
		assert_int_equal(torus_links_get(dev, l, &n), 0);
		assert_int_equal(((struct nlmsghdr *)nic.last)->nlmsg_flags & NLM_F_DUMP,
				 NLM_F_DUMP);
		assert_int_equal(n, all);
		for (i = 0; i < n; i++) {
			assert_int_equal(l[i].port, i);
			assert_int_equal(l[i].counter[2], 1000 * i + 2);
		}
	}
	all = 6;
	n = 4;
	assert_int_equal(torus_links_get(dev, l, &n), -ENOBUFS);
	assert_usable();
}

static void answer_half(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	dump_links(fd, req, 3, 0);
	fake_done(fd, req, -EIO, "port 3 does not answer", 0);
}

static void answer_dump_refused(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -EBUSY, "another dump is in progress");
}

static void test_dump_ends_with_error(void **state)
{
	struct torus_link l[12];
	unsigned int n = 12;

	(void)state;
	nic.fn = answer_half;
	assert_int_equal(torus_links_get(dev, l, &n), -EIO);
	assert_string_equal(torus_error(dev),
			    "link get: port 3 does not answer (Input/output error)");
	nic.fn = answer_dump_refused;
	assert_int_equal(torus_links_get(dev, l, &n), -EBUSY);
	assert_usable();
}

/* Inconsistent so many times; once told by a part, once by the end. */
static void answer_changing(struct fake *f, int fd, struct nlmsghdr *req)
{
	int *left = f->arg, flag = *left > 0 ? NLM_F_DUMP_INTR : 0;

	dump_links(fd, req, *left > 0 ? 5 : 2, *left % 2 ? flag : 0);
	fake_done(fd, req, 0, NULL, *left % 2 ? 0 : flag);
	--*left;
}

static void test_dump_is_read_again(void **state)
{
	struct torus_link l[12];
	unsigned int n = 12;
	int left = 4;

	(void)state;
	nic.fn = answer_changing;
	nic.arg = &left;
	assert_int_equal(torus_links_get(dev, l, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(nic.requests, 5);
	/* But not for ever. */
	left = 1000000;
	n = 12;
	assert_int_equal(torus_links_get(dev, l, &n), -EAGAIN);
	assert_true(nic.requests < 50);
	assert_usable();
}

/* --- rows ------------------------------------------------------------------ */

#define ROWS 20000

/**
 * struct table - the rows that a fake holds
 * @trick: 1 a part out of order, 2 another version in between, once, 3 more rows
 *	than asked for, 4 rows of odd length, 5 no version
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

static void test_rows(void **state)
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
	/* Messages are filled, and none is larger than the ABI allows. */
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

/* Any set of ids, from none to all, in as few messages as can be. */
static void test_rows_list(void **state)
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

static void test_rows_tricks(void **state)
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

static void test_hold(void **state)
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

/* --- garbage, silence, death ----------------------------------------------- */

static void answer_trailing(struct fake *f, int fd, struct nlmsghdr *req)
{
	char buf[128] = { 0 };
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;

	(void)f;
	nlh->nlmsg_len = NLMSG_HDRLEN;
	nlh->nlmsg_type = NLMSG_NOOP;
	nlh->nlmsg_seq = req->nlmsg_seq;
	memset(buf + NLMSG_HDRLEN, 0xff, 7);
	send(fd, buf, NLMSG_HDRLEN + 7, MSG_NOSIGNAL);
	fake_ack(fd, req, 0, NULL);
}

static void answer_length(int fd, struct nlmsghdr *req, uint32_t len)
{
	struct nlmsghdr nlh = { .nlmsg_len = len, .nlmsg_seq = req->nlmsg_seq };

	send(fd, &nlh, sizeof(nlh), MSG_NOSIGNAL);
	fake_ack(fd, req, 0, NULL);
}

static void answer_too_short(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	answer_length(fd, req, NLMSG_HDRLEN - 1);
}

static void answer_too_long(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	answer_length(fd, req, 4000);
}

static void answer_wrong_type(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, 0x1234, 16, 0);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void answer_no_genl(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, TORUS_EMU_FAMILY, 0, 0);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

/* An ACK where a reply was due, and two replies where one was. */
static void answer_twice(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = fake_reply(req, TORUS_CMD_DEVICE_GET, 0);

	(void)f;
	put_device(msg);
	fake_send(fd, msg);
	answer_gets(f, fd, req);
}

static void test_garbage(void **state)
{
	static const fake_fn all[] = { answer_trailing, answer_too_short, answer_too_long,
				       answer_wrong_type, answer_no_genl, answer_ok,
				       answer_twice };
	struct torus_device d;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		nic.fn = all[i];
		if (torus_device_get(dev, &d) != -EBADMSG)
			fail_msg("garbage %u was taken: %s", i, torus_error(dev));
		assert_usable();
	}
}

static void test_timeout(void **state)
{
	struct torus_device d;
	long begin = now_ms();

	(void)state;
	nic.fn = answer_nothing;
	torus_timeout_set(dev, 50);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	assert_in_range(now_ms() - begin, 49, 1500);
	assert_string_equal(torus_error(dev), "device get: no answer in 50 ms");
	torus_timeout_set(dev, 2000);
	assert_usable();
}

/* The answers to what timed out come with the next: none may be mistaken. */
static void answer_late(struct fake *f, int fd, struct nlmsghdr *req)
{
	static struct nlmsghdr before;
	struct nl_msg *msg;

	if (f->requests == 1) {
		before = *req;
		return;
	}
	msg = fake_reply(&before, TORUS_CMD_DEVICE_GET, 0);
	put_device(msg);
	nla_put_u8(msg, TORUS_A_PORT_COUNT, 12);
	fake_send(fd, msg);
	fake_ack(fd, &before, -EIO, "stale");
	answer_gets(f, fd, req);
}

static void test_late_answer(void **state)
{
	struct torus_device d;

	(void)state;
	nic.fn = answer_late;
	torus_timeout_set(dev, 30);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	torus_timeout_set(dev, 2000);
	assert_int_equal(torus_device_get(dev, &d), 0);
	assert_int_equal(d.nports, 6);
}

/* Stale answers without end do not keep the caller waiting without end. */
static void answer_stale(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nlmsghdr other = *req;
	int i;

	(void)f;
	other.nlmsg_seq--;
	for (i = 0; i < 60; i++) {
		fake_ack(fd, &other, 0, NULL);
		usleep(5000);
	}
}

static void test_stale_flood(void **state)
{
	struct torus_device d;
	long begin = now_ms();

	(void)state;
	nic.fn = answer_stale;
	torus_timeout_set(dev, 50);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	assert_in_range(now_ms() - begin, 49, 250);
}

static void answer_slowly(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	usleep(30000);
	fake_ack(fd, req, 0, NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void test_signals(void **state)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	int i;

	(void)state;
	/* System calls are not restarted; the fake's thread takes no signals. */
	sigaction(SIGALRM, &sa, NULL);
	nic.fn = answer_slowly;
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(torus_admin_set(dev, 1, true), 0);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void answer_death(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	(void)req;
	shutdown(fd, SHUT_RDWR);
}

static void test_death(void **state)
{
	struct torus_device d;

	(void)state;
	nic.fn = answer_death;
	assert_int_equal(torus_device_get(dev, &d), -ENODEV);
	assert_string_equal(torus_error(dev), "device get: the NIC went away");
	assert_int_equal(torus_device_get(dev, &d), -ENODEV);
}

/* Right answers with some bytes changed: any result, but no harm and no hang. */
static uint64_t mutation;

static void answer_mutated(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd, i, n;
	struct nl_msg *msg = fake_reply(req, cmd, 0);
	uint8_t *bytes = (uint8_t *)nlmsg_hdr(msg);

	(void)f;
	if (cmd == TORUS_CMD_DEVICE_GET)
		put_device(msg);
	else if (cmd == TORUS_CMD_LINK_GET)
		put_link(msg, 3);
	else
		put_park(msg);
	n = random_below(&mutation, 6);
	for (i = 0; i < n; i++) {
		uint32_t at = random_below(&mutation, nlmsg_hdr(msg)->nlmsg_len);

		if (at >= NLMSG_HDRLEN)
			bytes[at] = (uint8_t)random_next(&mutation);
	}
	if (random_below(&mutation, 4) == 0)
		nlmsg_hdr(msg)->nlmsg_len -= random_below(&mutation,
							  nlmsg_hdr(msg)->nlmsg_len -
							  NLMSG_HDRLEN);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void test_mutated(void **state)
{
	unsigned int i, good = 0, bad = 0;
	struct torus_device d;
	struct torus_link l;
	struct torus_park p;

	(void)state;
	mutation = random_seed(1);
	nic.fn = answer_mutated;
	for (i = 0; i < 20000; i++) {
		int err = i % 3 == 0 ? torus_device_get(dev, &d) :
			  i % 3 == 1 ? torus_link_get(dev, 3, &l) : torus_park_get(dev, &p);

		if (err != 0 && err != -EBADMSG)
			fail_msg("SEED=%llu round %u: %d %s",
				 (unsigned long long)random_seed(1), i, err, torus_error(dev));
		good += !err;
		bad += !!err;
		if (!err && i % 3 == 0)
			assert_true(d.nports <= TORUS_MAX_PORTS && d.shape.ndims <= 6);
		if (!err && i % 3 == 1)
			assert_true(l.port < TORUS_MAX_PORTS && l.state < TORUS_LINK_STATES);
	}
	assert_true(good > 1000 && bad > 1000);
}

/* --- events ---------------------------------------------------------------- */

/**
 * struct heard - what the callback was told
 */
static struct heard {
	unsigned int n;
	struct torus_event ev[32];
	char data[TORUS_MGMT_MAX];
} heard;

static void hear(const struct torus_event *ev, void *arg)
{
	struct heard *h = arg;

	if (h->n < 32)
		h->ev[h->n] = *ev;
	h->n++;
	if (ev->data)
		memcpy(h->data, ev->data, ev->len);
}

static int events_conn;		/* the fake's end of it */

static void answer_subscribe(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	events_conn = fd;
	fake_ack(fd, req, 0, NULL);
}

static void subscribe(void)
{
	nic.fn = answer_subscribe;
	assert_int_equal(torus_events_open(dev, 7), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_SUBSCRIBE);
	assert_int_equal(nla_get_u32(fake_attr(&nic, TORUS_A_GROUPS)), 7);
	memset(&heard, 0, sizeof(heard));
}

static int read_events(void)
{
	struct pollfd p = { .fd = torus_events_fd(dev), .events = POLLIN };

	assert_int_equal(poll(&p, 1, 2000), 1);
	return torus_events_read(dev, hear, &heard);
}

static void send_mgmt(unsigned int port, const char *text)
{
	struct nl_msg *msg = fake_reply(NULL, TORUS_CMD_MGMT_NTF, 0);

	nla_put_u8(msg, TORUS_A_PORT, (uint8_t)port);
	nla_put(msg, TORUS_A_DATA, (int)strlen(text), text);
	fake_send(events_conn, msg);
}

static void test_events(void **state)
{
	struct nl_msg *msg;

	(void)state;
	subscribe();
	assert_int_equal(torus_events_read(dev, hear, &heard), 0);
	assert_int_equal(heard.n, 0);
	msg = fake_reply(NULL, TORUS_CMD_LINK_NTF, 0);
	put_link(msg, 5);
	fake_send(events_conn, msg);
	send_mgmt(2, "init");
	msg = fake_reply(NULL, TORUS_CMD_PARK_NTF, 0);
	put_park(msg);
	fake_send(events_conn, msg);
	fake_send(events_conn, fake_reply(NULL, 200, 0));	/* of a newer NIC */
	assert_int_equal(read_events(), 0);
	assert_int_equal(heard.n, 3);
	assert_int_equal(heard.ev[0].group, TORUS_GROUP_LINK);
	assert_int_equal(heard.ev[0].link.port, 5);
	assert_int_equal(heard.ev[0].link.old_state, TORUS_LINK_INIT);
	assert_int_equal(heard.ev[1].group, TORUS_GROUP_MGMT);
	assert_int_equal(heard.ev[1].port, 2);
	assert_int_equal(heard.ev[1].len, 4);
	assert_memory_equal(heard.data, "init", 4);
	assert_int_equal(heard.ev[2].group, TORUS_GROUP_PARK);
	assert_int_equal(heard.ev[2].park.flow.version, 11);
	/* Requests go on beside them. */
	assert_usable();
}

static void test_events_lost(void **state)
{
	struct nlmsghdr lost = { .nlmsg_len = sizeof(lost), .nlmsg_type = NLMSG_OVERRUN };

	(void)state;
	subscribe();
	send_mgmt(1, "a");
	send(events_conn, &lost, sizeof(lost), MSG_NOSIGNAL);
	send_mgmt(1, "b");
	assert_int_equal(read_events(), -ENOBUFS);
	assert_int_equal(heard.n, 1);
	assert_int_equal(read_events(), 0);
	assert_int_equal(heard.n, 2);
	assert_int_equal(heard.data[0], 'b');
}

static void test_events_garbage(void **state)
{
	struct nl_msg *msg;

	(void)state;
	subscribe();
	send(events_conn, "garbage", 7, MSG_NOSIGNAL);
	assert_int_equal(read_events(), -EBADMSG);
	send_mgmt(12, "no such port");
	assert_int_equal(read_events(), -EBADMSG);
	msg = fake_reply(NULL, TORUS_CMD_LINK_NTF, 0);
	nla_put_u8(msg, TORUS_A_PORT, 1);
	fake_send(events_conn, msg);
	assert_int_equal(read_events(), -EBADMSG);
	assert_int_equal(heard.n, 0);
	send_mgmt(1, "good");
	assert_int_equal(read_events(), 0);
	assert_int_equal(heard.n, 1);
}

static void test_events_death(void **state)
{
	(void)state;
	subscribe();
	shutdown(events_conn, SHUT_RDWR);
	assert_int_equal(read_events(), -ENODEV);
}

/* It cannot be handed on, but it must not be lost without a word. */
static void answer_subscribe_late(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	events_conn = fd;
	send_mgmt(1, "early");
	fake_ack(fd, req, 0, NULL);
}

static void test_event_before_ack(void **state)
{
	(void)state;
	memset(&heard, 0, sizeof(heard));
	nic.fn = answer_subscribe_late;
	assert_int_equal(torus_events_open(dev, 1), 0);
	assert_int_equal(torus_events_read(dev, hear, &heard), -ENOBUFS);
	assert_int_equal(torus_events_read(dev, hear, &heard), 0);
	assert_int_equal(heard.n, 0);
}

static void test_subscribe_refused(void **state)
{
	(void)state;
	nic.fn = answer_refused_mutely;
	assert_int_equal(torus_events_open(dev, 1), -EPERM);
	assert_int_equal(torus_events_fd(dev), -1);
	subscribe();
	subscribe();	/* again: the former connection goes */
	send_mgmt(0, "x");
	assert_int_equal(read_events(), 0);
	assert_int_equal(heard.n, 1);
}

/* --- finding --------------------------------------------------------------- */

static int note(const char *name, void *arg)
{
	char *all = arg;

	strcat(all, name);
	strcat(all, " ");
	return 0;
}

static int stop_at_once(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return 7;
}

static void test_finding(void **state)
{
	static struct fake second;
	char path[64], all[512] = "", want[256];
	struct torus_dev *d;

	(void)state;
	unsetenv("TORUS_DEVICE");
	setenv("TORUS_RUNDIR", dir, 1);
	snprintf(want, sizeof(want), "unix:%s/a.nic ", dir);
	assert_int_equal(torus_list(note, all), 0);
	assert_string_equal(all, want);
	assert_int_equal(torus_list(stop_at_once, NULL), 7);
	assert_int_equal(torus_open(NULL, &d), 0);
	torus_close(d);

	snprintf(path, sizeof(path), "%s/b.nic", dir);
	fake_start(&second, path);
	second.fn = answer_ok;
	assert_int_equal(torus_open(NULL, &d), -ENOTUNIQ);
	assert_non_null(strstr(torus_error(NULL), "a.nic"));
	setenv("TORUS_DEVICE", where, 1);
	assert_int_equal(torus_open(NULL, &d), 0);
	torus_close(d);
	unsetenv("TORUS_DEVICE");

	/* A socket left behind by a NIC that is gone is none. */
	assert_int_equal(rename(path, "/tmp/test_client.moved"), 0);
	fake_stop(&second);
	assert_int_equal(rename("/tmp/test_client.moved", path), 0);
	all[0] = '\0';
	assert_int_equal(torus_list(note, all), 0);
	assert_string_equal(all, want);
	unlink(path);

	setenv("TORUS_RUNDIR", "/nonexistent", 1);
	assert_int_equal(torus_open(NULL, &d), -ENODEV);
	unsetenv("TORUS_RUNDIR");
}

static void test_bad_places(void **state)
{
	static const struct {
		const char *where;
		int err;
	} t[] = {
		{ "unix:/nonexistent/x.nic", -ENOENT }, { "unix:", -ENAMETOOLONG },
		{ "unix:/tmp/0123456789012345678901234567890123456789012345678901234567890123"
		  "45678901234567890123456789012345678901234567890123", -ENAMETOOLONG },
		{ "/run/torus/x.nic", -EINVAL }, { "pci:0", -EINVAL }, { "unix", -EINVAL },
		{ "genl:", -EINVAL },
	};
	struct torus_dev *d;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(torus_open(t[i].where, &d), t[i].err);
		assert_true(*torus_error(NULL));
	}
	assert_string_equal(torus_link_state_name(TORUS_LINK_FAULTY), "faulty");
	assert_null(torus_link_state_name(TORUS_LINK_STATES));
	assert_string_equal(torus_link_reason_name(TORUS_REASON_PROTOCOL), "protocol");
	assert_null(torus_link_reason_name(TORUS_REASONS));
	assert_string_equal(torus_port_counters[TORUS_PC_CRC_ERRORS].name, "crc_errors");
	assert_string_equal(torus_flow_counters[TORUS_FC_COUNT - 1].name, "replay_parked");
}

#define TEST(t) cmocka_unit_test_setup_teardown(test_##t, open_nic, close_nic)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sets), TEST(bad_arguments), TEST(errors), TEST(device), TEST(link),
		TEST(park), TEST(lies), TEST(dump), TEST(dump_ends_with_error),
		TEST(dump_is_read_again), TEST(rows), TEST(rows_list), TEST(rows_tricks),
		TEST(hold),
		TEST(garbage), TEST(timeout), TEST(late_answer), TEST(stale_flood),
		TEST(signals), TEST(death), TEST(mutated), TEST(events), TEST(events_lost),
		TEST(events_garbage), TEST(events_death), TEST(event_before_ack),
		TEST(subscribe_refused), TEST(finding), TEST(bad_places),
	};
	int failed;

	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	failed = cmocka_run_group_tests_name("client", tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
