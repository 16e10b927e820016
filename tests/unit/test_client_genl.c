// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client over generic netlink, with a simulated kernel: the linker puts the functions below
 * (--wrap) between the transport and netlink. A request is answered while it is sent, as by the
 * kernel.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netlink/errno.h>
#include <cmocka.h>

#include "client_nic.h"

#define SOCKS		8
#define FIRST_GROUP	100

/**
 * struct ksock - a netlink socket of the client
 * @fd: the client's end of a pair, @kernel: ours
 * @rtnl: it asks rtnetlink, not the family
 * @groups: mask of what it joined
 */
struct ksock {
	struct nl_sock *sk;
	int fd, kernel;
	bool rtnl;
	unsigned int groups;
};

static struct ksock socks[SOCKS];
static fake_fn answer;
static struct fake asked;	/* holds only the copy of the last request */
static unsigned int interface;	/* index of the interface that the host has */
static bool no_module;
static unsigned int foreign;	/* how many messages come from another process */
static int overrun = -1;	/* events were lost on this descriptor */

/* --- the simulated kernel ---------------------------------------------------- */

static struct ksock *of_sock(const struct nl_sock *sk)
{
	for (int i = 0; i < SOCKS; i++)
		if (socks[i].sk == sk)
			return &socks[i];
	return NULL;
}

static struct ksock *of_fd(int fd)
{
	for (int i = 0; i < SOCKS; i++)
		if (socks[i].sk && socks[i].fd == fd)
			return &socks[i];
	return NULL;
}

static int connect_sock(struct nl_sock *sk, bool rtnl)
{
	struct ksock *k = of_sock(NULL);
	int pair[2];

	assert_non_null(k);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	*k = (struct ksock){ .sk = sk, .fd = pair[0], .kernel = pair[1], .rtnl = rtnl };
	return 0;
}

/* The wrapped functions are visible, because libnl's own libraries call some of them. */
#pragma GCC visibility push(default)
int __wrap_genl_connect(struct nl_sock *sk);
int __wrap_nl_connect(struct nl_sock *sk, int protocol);
int __wrap_nl_socket_get_fd(const struct nl_sock *sk);
void __real_nl_socket_free(struct nl_sock *sk);
void __wrap_nl_socket_free(struct nl_sock *sk);
int __wrap_genl_ctrl_resolve(struct nl_sock *sk, const char *name);
int __wrap_genl_ctrl_resolve_grp(struct nl_sock *sk, const char *family, const char *group);
int __wrap_nl_socket_add_membership(struct nl_sock *sk, int group);
int __wrap_nl_socket_add_memberships(struct nl_sock *sk, int group, ...);
unsigned int __wrap_if_nametoindex(const char *name);
ssize_t __real_sendto(int fd, const void *buf, size_t len, int flags,
		      const struct sockaddr *to, socklen_t tolen);
ssize_t __wrap_sendto(int fd, const void *buf, size_t len, int flags,
		      const struct sockaddr *to, socklen_t tolen);
ssize_t __real_recvmsg(int fd, struct msghdr *mh, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *mh, int flags);
#pragma GCC visibility pop

int __wrap_genl_connect(struct nl_sock *sk)
{
	return connect_sock(sk, false);
}

int __wrap_nl_connect(struct nl_sock *sk, int protocol)
{
	assert_int_equal(protocol, NETLINK_ROUTE);
	return connect_sock(sk, true);
}

int __wrap_nl_socket_get_fd(const struct nl_sock *sk)
{
	return of_sock(sk)->fd;
}

void __wrap_nl_socket_free(struct nl_sock *sk)
{
	struct ksock *k = sk ? of_sock(sk) : NULL;

	if (k) {
		close(k->fd);
		close(k->kernel);
		k->sk = NULL;
	}
	__real_nl_socket_free(sk);
}

int __wrap_genl_ctrl_resolve(struct nl_sock *sk, const char *name)
{
	(void)sk;
	assert_string_equal(name, TORUS_GENL_NAME);
	return no_module ? -NLE_OBJ_NOTFOUND : TORUS_EMU_FAMILY;
}

int __wrap_genl_ctrl_resolve_grp(struct nl_sock *sk, const char *family, const char *group)
{
	static const char *const names[] = { "link", "mgmt", "park" };

	(void)sk;
	assert_string_equal(family, TORUS_GENL_NAME);
	for (int i = 0; i < 3; i++)
		if (!strcmp(group, names[i]))
			return FIRST_GROUP + i;
	return -NLE_OBJ_NOTFOUND;
}

int __wrap_nl_socket_add_membership(struct nl_sock *sk, int group)
{
	of_sock(sk)->groups |= 1u << (group - FIRST_GROUP);
	return 0;
}

int __wrap_nl_socket_add_memberships(struct nl_sock *sk, int group, ...)
{
	assert_int_equal(group, RTNLGRP_LINK);
	assert_true(of_sock(sk)->rtnl);
	return 0;
}

unsigned int __wrap_if_nametoindex(const char *name)
{
	return strcmp(name, "torus0") ? 0 : interface;
}

ssize_t __wrap_sendto(int fd, const void *buf, size_t len, int flags,
		      const struct sockaddr *to, socklen_t tolen)
{
	struct ksock *k = of_fd(fd);

	if (!k)
		return __real_sendto(fd, buf, len, flags, to, tolen);
	assert_true(len <= sizeof(asked.last));
	memcpy(asked.last, buf, len);
	asked.requests++;
	answer(&asked, k->kernel, (struct nlmsghdr *)asked.last);
	return (ssize_t)len;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *mh, int flags)
{
	struct sockaddr_nl *from = mh->msg_name;
	ssize_t n;

	if (!of_fd(fd))
		return __real_recvmsg(fd, mh, flags);
	if (fd == overrun) {
		overrun = -1;
		errno = ENOBUFS;
		return -1;
	}
	mh->msg_name = NULL;
	n = __real_recvmsg(fd, mh, flags);
	*from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	if (n > 0 && foreign) {
		foreign--;
		from->nl_pid = 4711;
	}
	return n;
}

/* --- its answers ------------------------------------------------------------- */

static void answer_device(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = fake_reply(req, TORUS_CMD_DEVICE_GET, 0);

	(void)f;
	put_device(msg);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void answer_none(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -ENODEV, "no such device");
}

/* The device only answers requests that select it by @type. */
static void answer_by(int type, struct fake *f, int fd, struct nlmsghdr *req)
{
	if (fake_attr(f, type))
		answer_device(f, fd, req);
	else
		answer_none(f, fd, req);
}

static void answer_by_name(struct fake *f, int fd, struct nlmsghdr *req)
{
	answer_by(TORUS_A_NAME, f, fd, req);
}

static void answer_by_index(struct fake *f, int fd, struct nlmsghdr *req)
{
	answer_by(TORUS_A_IFINDEX, f, fd, req);
}

static int begin(void **state)
{
	(void)state;
	answer = answer_device;
	interface = 7;
	no_module = false;
	foreign = 0;
	overrun = -1;
	asked.requests = 0;
	dev = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	torus_close(dev);
	for (int i = 0; i < SOCKS; i++)
		if (socks[i].sk)
			return -1;	/* a socket was left open */
	return 0;
}

/* --- which NIC ---------------------------------------------------------------- */

static void assert_asks_7(void)
{
	struct torus_device info;

	assert_int_equal(torus_device_get(dev, &info), 0);
	assert_int_equal(nla_get_u32(fake_attr(&asked, TORUS_A_IFINDEX)), 7);
	assert_null(fake_attr(&asked, TORUS_A_NAME));
}

static void test_interface_name_opens_its_nic(void **state)
{
	(void)state;
	answer = answer_by_index;
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	assert_int_equal(asked.requests, 1);
	assert_asks_7();
}

static void test_nic_name_opens_its_nic(void **state)
{
	(void)state;
	answer = answer_by_name;
	assert_int_equal(torus_open("genl:n3-0-1", &dev), 0);
	assert_string_equal(nla_get_string(fake_attr(&asked, TORUS_A_NAME)), "n3-0-1");
	answer = answer_by_index;
	assert_asks_7();
}

/* An interface of that name that is not a NIC does not hide a NIC of that name. */
static void test_interface_without_nic_hides_no_nic_name(void **state)
{
	(void)state;
	interface = 3;
	answer = answer_by_name;
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	answer = answer_by_index;
	assert_asks_7();
}

static void test_interface_index_opens_its_nic(void **state)
{
	(void)state;
	answer = answer_by_index;
	assert_int_equal(torus_open("genl:7", &dev), 0);
	assert_asks_7();
}

static void test_missing_nic_or_module_is_reported(void **state)
{
	(void)state;
	answer = answer_none;
	assert_int_equal(torus_open("genl:07", &dev), -ENODEV);
	assert_non_null(strstr(torus_error(NULL), "genl:07: no kernel NIC"));
	assert_int_equal(torus_open("genl:", &dev), -EINVAL);
	no_module = true;
	assert_int_equal(torus_open("genl:torus0", &dev), -ENODEV);
	assert_non_null(strstr(torus_error(NULL), "modprobe torus"));
	dev = NULL;
}

/* --- answers ------------------------------------------------------------------- */

/* A message from another process to our port is no answer. */
static void answer_forged(struct fake *f, int fd, struct nlmsghdr *req)
{
	foreign = 1;
	fake_ack(fd, req, -EPERM, "forged");
	answer_device(f, fd, req);
}

static void test_forged_answer_is_ignored(void **state)
{
	(void)state;
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	answer = answer_forged;
	assert_asks_7();
}

static void answer_error(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -ERANGE, "PORT is 9, must be 0 to 5");
}

static void test_error_text_of_kernel_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	answer = answer_error;
	assert_int_equal(torus_retrain(dev, 9), -ERANGE);
	assert_non_null(strstr(torus_error(dev), "PORT is 9, must be 0 to 5"));
}

/* Answers a dump with two NICs, which changes under the first reading. */
static void answer_list(struct fake *f, int fd, struct nlmsghdr *req)
{
	static const char *const names[] = { "torus0", "torus1" };

	for (int i = 0; i < 2; i++) {
		struct nl_msg *msg = fake_reply(req, TORUS_CMD_DEVICE_GET,
						NLM_F_MULTI | (f->requests < 2 && i ?
							       NLM_F_DUMP_INTR : 0));

		nla_put_string(msg, TORUS_A_NAME, "same");
		nla_put_string(msg, TORUS_A_IFNAME, names[i]);
		nla_put_u64(msg, TORUS_A_GUID, 5);
		nla_put_u8(msg, TORUS_A_PORT_COUNT, 4);
		fake_send(fd, msg);
	}
	fake_done(fd, req, 0, NULL, 0);
}

static int note(const char *found, void *arg)
{
	if (!strncmp(found, "genl:", 5))
		snprintf((char *)arg + strlen(arg), 64 - strlen(arg), "%s ", found);
	return 0;
}

static void test_list_has_all_kernel_nics(void **state)
{
	char all[64] = "";

	(void)state;
	setenv("TORUS_RUNDIR", "/nonexistent", 1);
	answer = answer_list;
	assert_int_equal(torus_list(note, all), 0);
	assert_string_equal(all, "genl:torus0 genl:torus1 ");
	assert_int_equal(asked.requests, 2);
	no_module = true;
	*all = '\0';
	assert_int_equal(torus_list(note, all), 0);
	assert_string_equal(all, "");
}

/* --- events ---------------------------------------------------------------------- */

static unsigned int received;

static void on_event(const struct torus_event *ev, void *arg)
{
	(void)arg;
	assert_int_equal(ev->group, TORUS_GROUP_LINK);
	received++;
}

static struct ksock *joined_group(unsigned int group)
{
	for (int i = 0; i < SOCKS; i++)
		if (socks[i].sk && socks[i].groups & 1u << group)
			return &socks[i];
	return NULL;
}

static struct ksock *joined(bool rtnl)
{
	for (int i = 0; i < SOCKS; i++)
		if (socks[i].sk && (rtnl ? socks[i].rtnl : socks[i].groups))
			return &socks[i];
	return NULL;
}

static void subscribe(unsigned int groups)
{
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	assert_int_equal(torus_events_open(dev, groups), 0);
	assert_int_equal(joined(false)->groups, groups);
	received = 0;
}

static bool readable(void)
{
	struct pollfd p = { .fd = torus_events_fd(dev), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void link_event(uint32_t ifindex)
{
	struct nl_msg *msg = fake_reply(NULL, TORUS_CMD_LINK_NTF, 0);

	nla_put_u32(msg, TORUS_A_IFINDEX, ifindex);
	put_link(msg, 1);
	fake_send(joined_group(TORUS_GROUP_LINK)->kernel, msg);
}

static void interface_event(int type, int family, int ifindex)
{
	struct ifinfomsg ifi = { .ifi_family = (unsigned char)family, .ifi_index = ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

	assert_int_equal(nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	nlmsg_hdr(msg)->nlmsg_len = nlmsg_total_size(sizeof(ifi));
	fake_send(joined(true)->kernel, msg);
}

static void test_only_events_of_own_nic_are_handled(void **state)
{
	(void)state;
	subscribe(1u << TORUS_GROUP_LINK | 1u << TORUS_GROUP_PARK);
	assert_false(readable());
	assert_int_equal(torus_events_read(dev, on_event, NULL), 0);
	link_event(7);
	link_event(8);		/* an event of another NIC */
	link_event(7);
	assert_true(readable());
	assert_int_equal(torus_events_read(dev, on_event, NULL), 0);
	assert_int_equal(received, 2);
	assert_false(readable());
}

static void test_lost_events_are_reported_once(void **state)
{
	(void)state;
	subscribe(1u << TORUS_GROUP_LINK);
	link_event(7);
	overrun = joined(false)->fd;
	assert_int_equal(torus_events_read(dev, on_event, NULL), -ENOBUFS);
	assert_int_equal(torus_events_read(dev, on_event, NULL), 0);
	assert_int_equal(received, 1);
	/* A client that waits for the NIC's end may have missed that event too. */
	overrun = joined(true)->fd;
	assert_int_equal(torus_events_read(dev, on_event, NULL), -ENOBUFS);
	assert_int_equal(torus_events_read(dev, on_event, NULL), 0);
}

static void mgmt_event(void)
{
	struct nl_msg *msg = fake_reply(NULL, TORUS_CMD_MGMT_NTF, 0);

	nla_put_u32(msg, TORUS_A_IFINDEX, 7);
	nla_put_u8(msg, TORUS_A_PORT, 1);
	nla_put(msg, TORUS_A_DATA, 3, "hey");
	fake_send(joined_group(TORUS_GROUP_MGMT)->kernel, msg);
}

static void note_group(const struct torus_event *ev, void *arg)
{
	char *seen = arg;

	seen[strlen(seen)] = "LMP"[ev->group];
}

/*
 * Management packets that were lost are no reason to read the state again. Events of links are
 * handled before those that came earlier than they.
 */
static void test_lost_mgmt_packets_are_no_lost_events(void **state)
{
	char seen[8] = "";

	(void)state;
	assert_int_equal(torus_open("genl:torus0", &dev), 0);
	assert_int_equal(torus_events_open(dev, 7), 0);
	assert_false(readable());
	mgmt_event();
	assert_true(readable());
	link_event(7);
	overrun = joined_group(TORUS_GROUP_MGMT)->fd;
	assert_int_equal(torus_events_read(dev, note_group, seen), 0);
	assert_string_equal(seen, "LM");
	assert_false(readable());
	overrun = joined_group(TORUS_GROUP_LINK)->fd;
	assert_int_equal(torus_events_read(dev, note_group, seen), -ENOBUFS);
	assert_int_equal(torus_events_read(dev, note_group, seen), 0);
}

static void test_only_end_of_own_interface_ends_device(void **state)
{
	(void)state;
	subscribe(1u << TORUS_GROUP_LINK);
	interface_event(RTM_NEWLINK, AF_UNSPEC, 7);
	interface_event(RTM_DELLINK, AF_UNSPEC, 8);
	interface_event(RTM_DELLINK, AF_BRIDGE, 7);	/* the interface left a bridge */
	assert_true(readable());
	assert_int_equal(torus_events_read(dev, on_event, NULL), 0);
	assert_false(readable());
	link_event(7);
	interface_event(RTM_DELLINK, AF_UNSPEC, 7);
	assert_true(readable());
	assert_int_equal(torus_events_read(dev, on_event, NULL), -ENODEV);
	assert_int_equal(received, 1);
}

/* A second subscription replaces the first one, whose sockets are closed. */
static void test_second_subscription_replaces_first(void **state)
{
	(void)state;
	subscribe(1u << TORUS_GROUP_LINK);
	assert_int_equal(torus_events_open(dev, 1u << TORUS_GROUP_MGMT), 0);
	assert_int_equal(joined(false)->groups, 1u << TORUS_GROUP_MGMT);
}

#define GENL(t) cmocka_unit_test_setup_teardown(test_##t, begin, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		GENL(interface_name_opens_its_nic),
		GENL(nic_name_opens_its_nic),
		GENL(interface_without_nic_hides_no_nic_name),
		GENL(interface_index_opens_its_nic),
		GENL(missing_nic_or_module_is_reported),
		GENL(forged_answer_is_ignored),
		GENL(error_text_of_kernel_is_passed_on),
		GENL(list_has_all_kernel_nics),
		GENL(only_events_of_own_nic_are_handled),
		GENL(lost_events_are_reported_once),
		GENL(lost_mgmt_packets_are_no_lost_events),
		GENL(only_end_of_own_interface_ends_device),
		GENL(second_subscription_replaces_first),
	};

	return cmocka_run_group_tests_name("client, generic netlink", tests, NULL, NULL);
}
