// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kind.h"
#include "lab.h"
#include "number.h"
#include "output.h"
#include "power.h"

static void on_pause_signal(int sig)
{
	(void)sig;
}

/* Sleeps for this many seconds, or until SIGINT, SIGTERM or SIGHUP. */
static void sleep_for(double seconds)
{
	const struct sigaction wake = { .sa_handler = on_pause_signal };
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	sigaction(SIGINT, &wake, NULL);
	sigaction(SIGTERM, &wake, NULL);
	sigaction(SIGHUP, &wake, NULL);
	nanosleep(&t, NULL);
}

/* Stops a node and continues it. @seconds 0: the node stays stopped */
static int pause_node(struct lab *lab, uint32_t node, const char *text, double seconds)
{
	int n;

	if (lab->packed)
		return fail("lab '%s' is packed: its nodes share processes, so none can be stopped "
			    "alone", lab->name);
	if (lab->kernel[node])
		return fail("node '%s' has a NIC of the kernel, which goes on while processes are "
			    "stopped", text);
	n = power_signal(lab, node, SIGSTOP);
	if (!n)
		return fail_as(UNREACHABLE, "no process of node '%s' runs; 'fabricctl lab revive' "
			       "starts them", text);
	if (n > 0 && seconds > 0) {
		/* Other commands may change the lab meanwhile, and "lab down" may end it. */
		close(lab->lock);
		lab->lock = -1;
		sleep_for(seconds);
		n = power_signal(lab, node, SIGCONT);
		n = n == -ENOENT ? 0 : n;
	}
	return n < 0 ? fail_as(kind_of_errno(n), "node '%s': %s", text, strerror(-n)) : OK;
}

static int lab_pause(struct ctl *ctl, int argc, char **argv)
{
	double seconds = 0;
	struct lab lab;
	uint32_t node;
	int status;

	if (argc > 1 && seconds_parse(argv[1], &seconds))
		return fail("'%s': must be 0.01 to 86400 seconds", argv[1]);
	if (geteuid())
		return fail_as(DENIED, "lab pause needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK)
		status = pause_node(&lab, node, argv[0], seconds);
	lab_free(&lab);
	return status;
}

COMMAND(lab_pause) = {
	.family = "lab",
	.name = "pause",
	.args = "NODE [SECONDS]",
	.brief = "Fault: stop all processes of a node, as if its machine hangs",
	.help = "They stand still (SIGSTOP); the node's cables keep their carrier, and its\n"
		"connections stay open. With SECONDS they go on (SIGCONT) after this time, for\n"
		"which the command waits; without, they go on with 'fabricctl lab revive'.",
	.min = 1,
	.max = 2,
	.in_lab = true,
	.run = lab_pause,
};
