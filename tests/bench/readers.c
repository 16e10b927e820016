// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a NIC as often as possible in many processes, with all calls that need no privilege: device,
 * links, flows, parking segment, rows, and the eye of each link.
 *
 *	readers WHERE COUNT	WHERE as for nictool; "none": the processes only spin
 *
 * The processes have the policy SCHED_IDLE: they get processor time only while nobody else needs it.
 * What they cost others is then what they keep others from: locks, and calls that cannot be
 * preempted. Ends at SIGTERM, and prints how many calls were made.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <torus/torus.h>
#include <unistd.h>

#define ROWS 1024

static _Atomic unsigned long *calls;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "readers: %s\n", what);
	exit(2);
}

static void spin(void)
{
	for (;;)
		atomic_fetch_add(calls, 1);
}

/* Makes each call once. Return: 0, or what the first one that failed returned. */
static int read_once(struct torus_dev *dev)
{
	static struct torus_link link[TORUS_MAX_PORTS];
	static uint64_t rows[ROWS];
	struct torus_park_flows flows;
	struct torus_device device;
	struct torus_park park;
	struct torus_flow flow;
	struct torus_eye eye;
	unsigned int n = TORUS_MAX_PORTS;
	uint32_t nrows = ROWS;
	uint64_t version;
	int err;

	err = torus_device_get(dev, &device) ?: torus_links_get(dev, link, &n) ?:
	      torus_flow_get(dev, &flow) ?: torus_park_get(dev, &park) ?:
	      torus_park_flows_get(dev, &flows) ?: torus_rows_get(dev, 0, rows, &nrows, &version);
	for (unsigned int port = 0; !err && port < n; port++)
		torus_eye_get(dev, port, 0, &eye);	/* a port without a cable has no eye */
	atomic_fetch_add(calls, 6 + n);
	return err;
}

static void read_always(const char *where)
{
	struct torus_dev *dev;

	if (torus_open(where, &dev))
		die("cannot open the NIC");
	while (!read_once(dev))
		;
	die(torus_error(dev));
}

static void start_reader(const char *where)
{
	const struct sched_param none = { 0 };

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("no SCHED_IDLE");
	signal(SIGTERM, SIG_DFL);
	if (!strcmp(where, "none"))
		spin();
	read_always(where);
}

int main(int argc, char **argv)
{
	sigset_t set;
	int sig;

	if (argc != 3)
		die("give a NIC and the number of processes; see the source");
	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED)
		die("no memory");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < atoi(argv[2]); i++)
		start_reader(argv[1]);
	sigwait(&set, &sig);
	printf("%lu\n", (unsigned long)*calls);
	return 0;
}
