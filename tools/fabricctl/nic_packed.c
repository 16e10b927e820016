// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NICs of a packed lab: they are all in one torusemu, with cables in memory. This process adds
 * and kills NICs, and cuts and mends cables, on request. It runs in the only namespace of the lab.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kind.h"
#include "nic_args.h"
#include "nic_backend.h"
#include "node_proc.h"
#include "proc.h"
#include "lib/util/times.h"
#include "output.h"

#define REQUEST_MAX 8192
#define ANSWER_MAX 1024
#define START_MS 10000

/* --- requests -------------------------------------------------------------- */

static char *socket_path(const struct lab *lab, char *buf)
{
	return lab_path(lab, TORUS_NO_NODE, "pack.sock", buf);
}

/* Keeps the connection open, because lab up makes a request for each NIC. */
static int connect_pack(const struct lab *lab)
{
	static int fd = -1;
	static char to[LAB_TEXT_MAX];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[LAB_TEXT_MAX];

	socket_path(lab, path);
	if (fd >= 0 && !strcmp(path, to))
		return fd;
	if (fd >= 0)
		close(fd);
	strcpy(to, path);
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		int err = errno;

		close(fd);
		fd = -1;
		errno = err;
	}
	return fd < 0 ? -errno : fd;
}

/*
 * Return: 0 if the pack answered "ok"; -EINVAL if it answered with an error, whose text is in
 * @answer; another negative errno.
 */
static int ask_pack(const struct lab *lab, char *const *word, char *answer)
{
	int fd = connect_pack(lab);
	char text[REQUEST_MAX];
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	for (; *word; word++) {
		size_t more = strlen(*word) + 1;

		if (more > sizeof(text) - len)
			return -E2BIG;
		memcpy(text + len, *word, more);
		len += more;
	}
	if (send(fd, text, len, MSG_NOSIGNAL) < 0)
		return -errno;
	n = recv(fd, answer, ANSWER_MAX - 1, 0);
	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	answer[n] = '\0';
	return strcmp(answer, "ok") ? -EINVAL : 0;
}

/* --- NICs ------------------------------------------------------------------ */

static int pack_running(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];

	if (access(lab_path(lab, node, "nic.sock", path), F_OK))
		return 0;
	return proc_running(lab_path(lab, TORUS_NO_NODE, "torusemu.pid", path));
}

static int pack_add(const struct lab *lab, uint32_t node, char *const *word)
{
	char answer[ANSWER_MAX];
	int err = ask_pack(lab, word, answer);

	if (!err)
		return OK;
	return nic_failed(lab, node, err == -EINVAL ? answer : strerror(-err));
}

static int pack_kill(const struct lab *lab, uint32_t node)
{
	char answer[ANSWER_MAX], host[TORUS_TEXT_MAX];
	char *const word[] = { (char *)"kill", lab_host(lab, node, host), NULL };

	return pack_running(lab, node) ? ask_pack(lab, word, answer) : 0;
}

/* --- cables ---------------------------------------------------------------- */

static char *pack_cable(const struct lab *lab, uint32_t node, unsigned int port, char *buf)
{
	if (port >= lab->shape.ndims)
		lab_peer(lab, node, port, &node, &port);
	snprintf(buf, IFNAMSIZ, ":%u%c", node % LAB_NODES_MAX, "xyzabc"[port]);
	return buf;
}

static bool is_pack_whole(const struct lab *lab, uint32_t node, unsigned int port)
{
	unsigned int peer_port;
	uint32_t peer;

	lab_peer(lab, node, port, &peer, &peer_port);
	return lab_end_up(lab, node, port) && lab_end_up(lab, peer, peer_port);
}

static int pack_wire(const struct lab *lab, uint32_t node, unsigned int port)
{
	char answer[ANSWER_MAX], cable[IFNAMSIZ];
	char *const word[] = {
		(char *)(is_pack_whole(lab, node, port) ? "mend" : "cut"),
		pack_cable(lab, node, port, cable), NULL,
	};
	int err = ask_pack(lab, word, answer);

	/* Without NICs there is nothing to cut; begin_pack() applies cuts when they start. */
	return err == -ENOENT || err == -ECONNREFUSED ? 0 : err;
}

/* --- the process ----------------------------------------------------------- */

static int wait_for_pack(const struct lab *lab)
{
	struct timespec pause = { .tv_nsec = MS };
	char path[LAB_TEXT_MAX];
	int left = START_MS;

	while (connect_pack(lab) < 0) {
		if (!proc_running(lab_path(lab, TORUS_NO_NODE, "torusemu.pid", path)) ||
		    --left < 0) {
			fail("cannot start the NICs: %s",
			     left < 0 ? "no socket yet" : "torusemu ended at once");
			node_show_log(lab, TORUS_NO_NODE, "torusemu");
			return CANNOT;
		}
		nanosleep(&pause, NULL);
	}
	return OK;
}

/* Removes the remains of a crashed pack, and applies the cuts made before. */
static int begin_pack(const struct lab *lab)
{
	char path[LAB_TEXT_MAX], text[LAB_TEXT_MAX];
	int err = 0;

	for (uint32_t id = 0; id < lab->nodes; id++) {
		unlink(lab_path(lab, id, "nic.sock", path));
		unlink(lab_path(lab, id, "rma.sock", path));
	}
	for (uint32_t id = 0; id < lab->nodes; id++)
		for (unsigned int port = 0; port < lab->shape.ndims; port++) {
			if (lab_cable(lab, port) && !is_pack_whole(lab, id, port))
				err = pack_wire(lab, id, port);
			if (err)
				return fail_as(kind_of_errno(err), "link %s: %s",
					       lab_link_text(lab, id, port, text), strerror(-err));
		}
	return OK;
}

static int pack_start(const struct lab *lab, int netns, const char *program)
{
	char path[LAB_TEXT_MAX], socket[LAB_TEXT_MAX];
	char *const argv[] = {
		(char *)program, (char *)"--foreground", (char *)"--pack",
		socket_path(lab, socket), (char *)"--log-level", (char *)lab->log_level, NULL,
	};
	int pid;

	if (proc_running(lab_path(lab, TORUS_NO_NODE, "torusemu.pid", path)))
		return OK;
	pid = node_start(lab, TORUS_NO_NODE, netns, "torusemu", argv);
	if (pid < 0)
		return fail("cannot start the NICs: %s", strerror(-pid));
	return wait_for_pack(lab) == OK ? begin_pack(lab) : CANNOT;
}

static int packed_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	struct args a = { .n = 0 };
	int status = pack_start(lab, netns, program);
	char name[LAB_TEXT_MAX];

	args_push(&a, "add");
	if (lab->tun) {
		args_push(&a, "--tun");
		args_push(&a, LAB_INTERFACE);
		args_push(&a, "--netns");
		args_push(&a, LAB_NETNS "/%s", lab_netns(lab, node, name));
	} else {
		args_push(&a, "--no-tun");
	}
	args_push_nic(&a, lab, node);
	if (status == OK)
		status = pack_add(lab, node, a.arg);
	args_free(&a);
	return status;
}

static int pack_wires(const struct lab *lab, uint32_t node, uint16_t ports)
{
	int err = 0;

	for (unsigned int port = 0; !err && port < 2u * lab->shape.ndims; port++)
		if (ports & 1 << port && lab_cable(lab, port))
			err = pack_wire(lab, node, port);
	return err;
}

const struct nic_backend nic_packed = {
	.start = packed_start,
	.running = pack_running,
	.end = pack_kill,
	.open = nic_open_socket,
	.wires = pack_wires,
	.cable = pack_cable,
};
