// SPDX-License-Identifier: GPL-2.0-only
/* client_nic.h: right answers, and the checks that each test of the client shares. */
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

struct fake nic;
struct torus_dev *dev;
char client_dir[] = "/tmp/test_client.XXXXXX";
char where[80];

/* --- answers --------------------------------------------------------------- */

void answer_ok(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, 0, NULL);
}

void answer_nothing(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	(void)fd;
	(void)req;
}

void put_counters(struct nl_msg *msg, int type, unsigned int n, uint64_t base)
{
	struct nlattr *nest = nla_nest_start(msg, type);
	unsigned int i;

	for (i = 0; i < n; i++)
		nla_put_u64(msg, (int)i + 1, base + i);
	nla_put_u64(msg, (int)n + 1, 99);	/* an attribute of a newer NIC */
	nla_nest_end(msg, nest);
}

void put_device(struct nl_msg *msg)
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

void put_link(struct nl_msg *msg, unsigned int port)
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
	nla_put_u64(msg, TORUS_A_STATE_AGE, 12345678901);
	nla_put_u8(msg, TORUS_A_PEER_PORT, 3);
	nest = nla_nest_start(msg, TORUS_A_FAULT);
	nla_put_u64(msg, TORUS_FAULT_BER, 1000000);
	nla_put_u8(msg, TORUS_FAULT_SILENCE, 1);
	nla_put_u64(msg, TORUS_FAULT_LATENCY, 2000);
	nla_put_u64(msg, TORUS_FAULT_SEED, 3);
	nla_put_u64(msg, TORUS_FAULT_VB, 4);
	nla_nest_end(msg, nest);
	put_counters(msg, TORUS_A_PORT_COUNTERS, TORUS_PC_COUNT, 1000 * port);
	put_counters(msg, TORUS_A_GAUGES, TORUS_PG_COUNT, 10);
}

void put_park(struct nl_msg *msg)
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

void answer_gets(struct fake *f, int fd, struct nlmsghdr *req)
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

void answer_refused_mutely(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -EPERM, NULL);
}

/* --- set-up of every test -------------------------------------------------- */

int open_nic(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/a.nic", client_dir);
	snprintf(where, sizeof(where), "unix:%s", path);
	fake_start(&nic, path, answer_ok);
	assert_int_equal(torus_open(where, &dev), 0);
	assert_int_equal(torus_timeout_set(dev, 2000), 0);
	return 0;
}

int close_nic(void **state)
{
	(void)state;
	torus_close(dev);
	dev = NULL;
	fake_stop(&nic);
	return 0;
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Checks that the connection still works after the steps before. */
void assert_usable(void)
{
	struct torus_device d;

	nic.fn = answer_gets;
	assert_int_equal(torus_device_get(dev, &d), 0);
	assert_string_equal(d.name, "n3-0-1");
}
