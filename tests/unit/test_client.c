// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client against a NIC that answers rightly, or with lies.
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
#include <torus/topology.h>

#include "client_nic.h"
#include "random.h"

/* --- do -------------------------------------------------------------------- */

static void test_each_change_sends_its_command_and_attributes(void **state)
{
	struct torus_shape shape = { 3, { 4, 4, 2, 1, 1, 1 } };
	struct torus_coords at = { { 3, 0, 1 } };
	struct torus_fault fault = { .ber = 5, .latency_ns = 6, .seed = 7, .silence = true,
				      .vb = 8 };
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
	assert_int_equal(nla_get_u64(tb[TORUS_FAULT_VB]), 8);

	assert_int_equal(torus_retry_set(dev, 2, TORUS_RETRY_HIPPI), 0);
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_RETRY_WANTED)), TORUS_RETRY_HIPPI);
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

static bool by_root(uint64_t epoch, uint64_t guid)
{
	struct nlattr *e = fake_attr(&nic, TORUS_A_ROOT_EPOCH), *g = fake_attr(&nic, TORUS_A_ROOT_GUID);

	return e && g && nla_get_u64(e) == epoch && nla_get_u64(g) == guid;
}

/* Each order names the root that gives it, from the moment on that the NIC obeys that root. */
static void test_orders_name_root_once_nic_obeys_it(void **state)
{
	struct torus_shape shape = { 1, { 4, 1, 1, 1, 1, 1 } };
	struct torus_coords at = { { 3 } };

	(void)state;
	assert_int_equal(torus_release(dev, 5, true), 0);
	assert_null(fake_attr(&nic, TORUS_A_ROOT_EPOCH));
	assert_int_equal(torus_root_set(dev, 0, 9), -EINVAL);
	nic.fn = answer_refused_mutely;
	assert_int_equal(torus_root_set(dev, 7, 8), -EPERM);
	nic.fn = answer_ok;
	assert_int_equal(torus_release(dev, 5, true), 0);
	assert_null(fake_attr(&nic, TORUS_A_ROOT_GUID));
	assert_int_equal(torus_root_set(dev, 1ULL << 40, 9), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_DEVICE_SET);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_place_set(dev, &shape, &at), 0);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_rows_begin(dev, 5), 0);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_rows_commit(dev, 5), 0);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_release(dev, 5, false), 0);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_park_replay(dev, 5, 1), 0);
	assert_true(by_root(1ULL << 40, 9));
	assert_int_equal(torus_name_set(dev, "n"), 0);
	assert_null(fake_attr(&nic, TORUS_A_ROOT_EPOCH));
}

/* Arguments that cannot be right are refused before anything is sent. */
static void test_bad_arguments_are_refused_before_sending(void **state)
{
	struct torus_shape shape = { 2, { 4, 4, 1, 1, 1, 1 } };
	struct torus_coords at = { { 4, 0 } };
	struct torus_link link;
	char longest[TORUS_MGMT_MAX + 1] = { 0 };

	(void)state;
	assert_int_equal(torus_admin_set(dev, 12, true), -EINVAL);
	assert_string_equal(torus_error(dev), "port 12: must be 0 to 11");
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

/* --- gets ------------------------------------------------------------------ */

static void test_all_fields_of_device_are_read(void **state)
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

static void test_all_fields_of_link_are_read(void **state)
{
	struct torus_link l;
	unsigned int i;

	(void)state;
	nic.fn = answer_gets;
	assert_int_equal(torus_link_get(dev, 3, &l), 0);
	assert_int_equal(l.port, 3);
	assert_int_equal(l.state, TORUS_LINK_UP);
	assert_int_equal(l.old_state, 0);	/* a member of events alone */
	assert_int_equal(l.reason, TORUS_REASON_RETRY);
	assert_true(l.admin && l.carrier && l.closed);
	assert_string_equal(l.lower, "px");
	assert_int_equal(l.session, 5);
	assert_int_equal(l.seq, 4000);
	assert_int_equal(l.peer_guid, 77);
	assert_int_equal(l.state_age, 12345678901);
	assert_int_equal(l.peer_port, 3);
	assert_true(l.fault.silence);
	assert_int_equal(l.fault.ber, 1000000);
	assert_int_equal(l.fault.latency_ns, 2000);
	assert_int_equal(l.fault.seed, 3);
	assert_int_equal(l.fault.vb, 4);
	for (i = 0; i < TORUS_PC_COUNT; i++)
		assert_int_equal(l.counter[i], 3000 + i);
	for (i = 0; i < TORUS_PG_COUNT; i++)
		assert_int_equal(l.gauge[i], 10 + i);
}

static void test_all_fields_of_park_are_read(void **state)
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

/* An attribute of a device or link that the fake kernel replaces by another, or leaves out. */
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

static void test_malformed_attribute_makes_answer_bad_message(void **state)
{
	static const uint16_t shape4[] = { 4, 4, 2, 2 }, zero[] = { 4, 0, 2 },
			      outside[] = { 3, 0, 2 }, huge[] = { 4, 4, 5000 };
	static const uint32_t node = 20, bad_nest[] = { 0x00010006, 0 };
	static const char name[70] = "name without an end";
	static const uint8_t byte[] = { 0, 1, 5, 6, 7, 12, 14, 255 }, reasons = TORUS_REASONS;
	static const uint8_t differences = TORUS_DIFFERENCES;
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
		{ true, TORUS_A_OLD_STATE, 1, &byte[7], false, 0 },
		{ true, TORUS_A_REASON, 1, &reasons, false, -EBADMSG },
		{ true, TORUS_A_DIFFERS, 1, &differences, false, 0 },
		{ true, TORUS_A_RETRY, 1, &byte[4], false, -EBADMSG },
		{ true, TORUS_A_RETRY_WANTED, 1, &byte[4], false, -EBADMSG },
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

/*
 * A later driver may report a difference that this release does not know; the caller gets the link
 * all the same.
 */
static void test_unknown_difference_does_not_hide_link(void **state)
{
	static const uint8_t later = 200;
	char text[TORUS_TEXT_MAX];
	struct torus_link l;

	(void)state;
	nic.fn = answer_odd;
	odd.type = TORUS_A_DIFFERS;
	odd.len = 1;
	odd.data = &later;
	odd.leave_out = false;
	assert_int_equal(torus_link_get(dev, 3, &l), 0);
	assert_int_equal(l.differs, later);
	assert_int_equal(l.peer_guid, 77);
	assert_null(torus_differs_name(l.differs));
	assert_string_equal(torus_differs_text(l.differs, 5, text), "5");
}

/* --- dumps ----------------------------------------------------------------- */

/* Answers a dump with two links in one datagram, one in the next, and so on. */
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

static void test_dump_of_0_to_12_links_is_read_whole(void **state)
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

static void test_dump_that_ends_with_error_returns_it(void **state)
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

/* Answers with inconsistent dumps, this many times; once a part has the flag, once the end. */
static void answer_changing(struct fake *f, int fd, struct nlmsghdr *req)
{
	int *left = f->arg, flag = *left > 0 ? NLM_F_DUMP_INTR : 0;

	dump_links(fd, req, *left > 0 ? 5 : 2, *left % 2 ? flag : 0);
	fake_done(fd, req, 0, NULL, *left % 2 ? 0 : flag);
	--*left;
}

static void test_dump_that_changed_is_read_again(void **state)
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
	/* A dump that always changes meanwhile is not read again without limit. */
	left = 1000000;
	n = 12;
	assert_int_equal(torus_links_get(dev, l, &n), -EAGAIN);
	assert_true(nic.requests < 50);
	assert_usable();
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

static void test_only_living_nic_is_found_without_name(void **state)
{
	static struct fake second;
	char path[64], all[512] = "", want[256];
	struct torus_dev *d;

	(void)state;
	unsetenv("TORUS_DEVICE");
	setenv("TORUS_RUNDIR", client_dir, 1);
	snprintf(want, sizeof(want), "unix:%s/a.nic ", client_dir);
	assert_int_equal(torus_list(note, all), 0);
	assert_string_equal(all, want);
	assert_int_equal(torus_list(stop_at_once, NULL), 7);
	assert_int_equal(torus_open(NULL, &d), 0);
	torus_close(d);

	snprintf(path, sizeof(path), "%s/b.nic", client_dir);
	fake_start(&second, path, answer_ok);
	assert_int_equal(torus_open(NULL, &d), -ENOTUNIQ);
	assert_non_null(strstr(torus_error(NULL), "a.nic"));
	setenv("TORUS_DEVICE", where, 1);
	assert_int_equal(torus_open(NULL, &d), 0);
	torus_close(d);
	unsetenv("TORUS_DEVICE");

	/* A socket that a dead NIC has left behind is not listed. */
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

static void test_place_that_is_no_nic_is_refused(void **state)
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
	assert_string_equal(torus_flow_counters[TORUS_FC_COUNT - 1].name, "link_tx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_change_sends_its_command_and_attributes),
		TEST(orders_name_root_once_nic_obeys_it),
		TEST(bad_arguments_are_refused_before_sending),
		TEST(all_fields_of_device_are_read),
		TEST(all_fields_of_link_are_read),
		TEST(all_fields_of_park_are_read),
		TEST(malformed_attribute_makes_answer_bad_message),
		TEST(unknown_difference_does_not_hide_link),
		TEST(dump_of_0_to_12_links_is_read_whole),
		TEST(dump_that_ends_with_error_returns_it),
		TEST(dump_that_changed_is_read_again),
		TEST(only_living_nic_is_found_without_name),
		TEST(place_that_is_no_nic_is_refused),
	};

	return CLIENT_TESTS("client", tests);
}
