// SPDX-License-Identifier: GPL-2.0-only
/* A NIC of a lab in a torusemu of its own, in the node's namespace. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/util/times.h"
#include "nic_args.h"
#include "nic_backend.h"
#include "node_proc.h"
#include "proc.h"

#define START_MS 10000

static int user_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	struct args a = { .n = 0 };
	int pid;

	args_push(&a, "%s", program);
	args_push(&a, "--foreground");
	args_push(&a, "--tun");
	args_push(&a, LAB_INTERFACE);
	args_push(&a, "--log-level");
	args_push(&a, "%s", lab->log_level);
	args_push_nic(&a, lab, node);
	pid = node_start(lab, node, netns, "torusemu", a.arg);
	args_free(&a);
	return pid < 0 ? nic_failed(lab, node, strerror(-pid)) : OK;
}

static int user_running(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];

	return proc_running(lab_path(lab, node, "torusemu.pid", path));
}

static int user_end(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];
	int fd = proc_hold(lab_path(lab, node, "torusemu.pid", path));

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	return proc_end(&fd, 1, 0);
}

/* Return: true if the NIC takes connections, which happens shortly after its socket appears. */
static bool user_answers(const struct lab *lab, uint32_t node)
{
	char where[LAB_TEXT_MAX];
	struct torus_dev *dev;

	if (torus_open(lab_device(lab, node, where), &dev))
		return false;
	torus_close(dev);
	return true;
}

static int user_wait(const struct lab *lab, uint32_t node)
{
	struct timespec pause = { .tv_nsec = MS };
	int left = START_MS;

	while (!user_answers(lab, node)) {
		if (!user_running(lab, node) || --left < 0) {
			nic_failed(lab, node, left < 0 ? "no socket yet" : "it ended at once");
			node_show_log(lab, node, "torusemu");
			return CANNOT;
		}
		nanosleep(&pause, NULL);
	}
	return OK;
}

const struct nic_backend nic_user = {
	.start = user_start,
	.wait = user_wait,
	.running = user_running,
	.end = user_end,
	.open = nic_open_socket,
	.wires = nic_wires_inside,
};
