// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink datagrams to torusemu's socket, with a NIC behind it. The input is a sequence of
 * datagrams, each after its length in two bytes (little endian). All are sent to one NIC, so that
 * an input can give it a place first. The NIC's answers must be whole netlink messages.
 */
#include <netlink/msg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/torusemu/emu.h"
#include "tools/torusemu/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A table of 16 million nodes gets no memory, as on a small machine. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

static int no_attach(struct port *port, const char *name, const char **why, u64 now)
{
	*why = "not here";
	if (*name == 'x')
		return -ENODEV;
	snprintf(port->soft->lower, sizeof(port->soft->lower), "%s", name);
	tn_nic_carrier(port->emu->soft.nic, port->num, *name, now);
	return 0;
}

static void drain(int fd)
{
	static char buf[TORUS_MSG_MAX];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
		int left = (int)n;

		while (nlmsg_ok(nlh, left))
			nlh = nlmsg_next(nlh, &left);
		if (left > 0)
			abort();
	}
}

static struct client *alive(struct emu *e)
{
	return e->server.clients;
}

static void one_datagram(struct emu *e, int fd, const uint8_t *data, size_t len, u64 now)
{
	void *copy = aligned_alloc(64, (len + 64) / 64 * 64);

	memcpy(copy, data, len);
	client_request(alive(e), copy, len);
	free(copy);
	emu_step(e, now);
	for (int i = 0; i < 64 && alive(e) && (alive(e)->out || alive(e)->dump.cmd); i++) {
		drain(fd);
		loop_wait(e->loop, now);
	}
	drain(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct chassis chassis;
	static struct emu e;
	u64 now = 1000000000;
	int fd[2];

	log_init(LOG_ERR);
	memset(&e, 0, sizeof(e));
	e.soft.hw.nports = 4;
	e.attach = no_attach;
	strcpy(e.soft.hw.name, "n");
	tn_params_default(&e.soft.params);
	if (chassis_init(&chassis) || emu_init(&e, &chassis, now) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd))
		abort();
	if (!client_new(&e, fd[0]))
		abort();
	while (size > 2 && alive(&e)) {
		size_t len = data[0] | (size_t)data[1] << 8;

		if (len > size - 2)
			len = size - 2;
		one_datagram(&e, fd[1], data + 2, len, now += 1000000);
		data += 2 + len;
		size -= 2 + len;
	}
	drain(fd[1]);
	close(fd[1]);
	server_close(&e);
	emu_fini(&e);
	chassis_fini(&chassis);
	return 0;
}
