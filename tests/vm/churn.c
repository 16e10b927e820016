// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn ROUNDS TORUS_KO: removes under full traffic, and makes again, ROUNDS times each: a NIC, a
 * cable, namespaces with their links up, and the module. In a guest, with the module loaded.
 *
 *	n0 e ==== w n1 e ==== w n2	n0 and n2 are 2 apart; every node floods the
 *				others with messages of all sizes
 *
 * After each loss everything is made again, and datagrams must cross both links. One process does
 * all of it: starting programs takes longest in a guest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <torus/topology.h>
#include <unistd.h>

#include "tools/fabricctl/device.h"
#include "tools/fabricctl/netns.h"

#define NODES 3
#define PATIENCE_S 300	/* limit for what must happen soon, even on a busy machine */
#define STALL_S 60	/* nothing at all moves for this long */
#define FLOOD_PORT 9
#define PROBE_PORT 10

const struct program this_program = { .name = "churn" };

/** struct node - a namespace with a NIC; port 0 has e, port 1 has w */
static struct node {
	char name[16];
	int ns;			/* -1: it does not exist */
	pid_t flood;		/* 0: none */
} nodes[NODES];

/* Few packets to replay, which is slow here */
static const char *const sets[] = { "park_bytes=1M", NULL };
static struct torus_shape shape;
static int home;
static const char *module;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("not ok - ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	for (int i = 0; i < NODES; i++)
		if (nodes[i].flood > 0)
			kill(nodes[i].flood, SIGKILL);
	exit(1);
}

static void must(int err, const char *what)
{
	if (err)
		die("%s: %s (%s)", what, strerror(-err), wire_error());
}

static void enter(int i)
{
	must(netns_enter(i < 0 ? home : nodes[i].ns), "namespace");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- NICs and cables ----------------------------------------------------------- */

static struct torus_dev *nic(int i)
{
	struct torus_dev *dev;

	enter(i);
	if (torus_open("genl:torus0", &dev))
		die("n%d: %s", i, torus_error(NULL));
	return dev;
}

static void checked(struct torus_dev *dev, int err, const char *what)
{
	if (err)
		die("%s: %s", what, torus_error(dev));
}

static uint64_t row_to(int from, int to)
{
	uint64_t none = TORUS_ROW_NO_STEP, dir = to > from ? 1 : to < from ? 2 : 0;

	return TORUS_ROW_VALID | dir | none << TORUS_ROW_FIRST_SHIFT | none << TORUS_ROW_LAST_SHIFT;
}

static void make_nic(int i)
{
	struct in_addr addr = { .s_addr = htonl(0x0a000000u | (uint32_t)i << 16) };
	struct torus_coords at = { .c = { (uint16_t)i } };
	struct device_spec spec = { .ifname = "torus0", .ports = 2, .sets = sets };
	struct torus_dev *dev;
	uint64_t row[NODES];
	struct nl_sock *sk;

	enter(i);
	sk = wire_open();
	if (!sk)
		die("rtnetlink: %m");
	must(device_make(sk, &spec), "torus0");
	must(wire_set_up(sk, "torus0", true), "torus0 up");
	must(wire_address(sk, "torus0", addr, 8), "address");
	wire_close(sk);
	for (int to = 0; to < NODES; to++)
		row[to] = row_to(i, to);
	dev = nic(i);
	checked(dev, torus_place_set(dev, &shape, &at), "place");
	checked(dev, torus_rows_begin(dev, 1) ?: torus_rows_put(dev, 1, 0, row, NODES) ?:
		     torus_rows_commit(dev, 1), "rows");
	torus_close(dev);
}

static void del_link(int i, const char *ifname)
{
	struct nl_sock *sk;

	enter(i);
	sk = wire_open();
	if (!sk)
		die("rtnetlink: %m");
	must(device_remove(sk, ifname), ifname);
	wire_close(sk);
}

/* Makes a cable from e of node @i to w of the next. */
static void make_cable(int i)
{
	struct wire_end a = { .netns = nodes[i].ns, .name = "e" };
	struct wire_end b = { .netns = nodes[i + 1].ns, .name = "w" };
	struct nl_sock *sk;

	enter(-1);
	sk = wire_open();
	if (!sk)
		die("rtnetlink: %m");
	must(wire_cable(sk, &a, &b), "cable");
	wire_close(sk);
	enter(i + 1);
	sk = wire_open();
	if (!sk)
		die("rtnetlink: %m");
	must(wire_set_up(sk, "w", true), "w up");
	wire_close(sk);
}

static void attach(int i)
{
	struct torus_dev *dev = nic(i);

	if (i < NODES - 1)
		checked(dev, torus_attach(dev, 0, "e"), "attach e");
	if (i > 0)
		checked(dev, torus_attach(dev, 1, "w"), "attach w");
	torus_close(dev);
}

static struct torus_link link_of(int i, unsigned int port)
{
	struct torus_dev *dev = nic(i);
	struct torus_link l;

	checked(dev, torus_link_get(dev, port, &l), "link");
	torus_close(dev);
	return l;
}

/** struct pulse - numbers that change: when a link fails or is made; when a packet arrives, is
 * forwarded, replayed or given up */
struct pulse {
	uint64_t links, packets;
};

static struct pulse pulse(void)
{
	struct pulse p = { 0 };

	for (int i = 0; i < NODES; i++) {
		struct torus_dev *dev = nic(i);
		struct torus_device d;

		checked(dev, torus_device_get(dev, &d), "NIC");
		torus_close(dev);
		p.packets += d.counter[TORUS_NC_FORWARDED] + d.counter[TORUS_NC_DELIVERED] +
			     d.counter[TORUS_NC_REPLAYED] + d.counter[TORUS_NC_LOST];
		for (unsigned int port = 0; port < 2; port++) {
			struct torus_link l = link_of(i, port);

			p.links += l.session + l.state;
		}
	}
	return p;
}

/* Prints what helps to understand a failure. */
static void show(void)
{
	for (int i = 0; i < NODES; i++) {
		struct torus_dev *dev = nic(i);
		struct torus_device d;
		struct torus_park p;

		checked(dev, torus_device_get(dev, &d) ?: torus_park_get(dev, &p), "NIC");
		torus_close(dev);
		printf("# n%d: forwarded %llu delivered %llu lost %llu replayed %llu, "
		       "parked %llu, %llu unresolved\n", i,
		       (unsigned long long)d.counter[TORUS_NC_FORWARDED],
		       (unsigned long long)d.counter[TORUS_NC_DELIVERED],
		       (unsigned long long)d.counter[TORUS_NC_LOST],
		       (unsigned long long)d.counter[TORUS_NC_REPLAYED],
		       (unsigned long long)p.parked, (unsigned long long)p.unresolved);
		for (unsigned int port = 0; port < 2; port++) {
			struct torus_link l = link_of(i, port);

			printf("# n%d port %u: state %u reason %u closed %d session %08x seq %u "
			       "queued %llu retry %llu credits %llu %llu %llu\n", i, port, l.state,
			       l.reason, l.closed, l.session, l.seq,
			       (unsigned long long)l.gauge[TORUS_PG_QUEUED_PACKETS],
			       (unsigned long long)l.gauge[TORUS_PG_RETRY_PACKETS],
			       (unsigned long long)l.gauge[TORUS_PG_CREDITS_VCD0],
			       (unsigned long long)l.gauge[TORUS_PG_CREDITS_VCD1],
			       (unsigned long long)l.gauge[TORUS_PG_CREDITS_VCA]);
		}
	}
}

static void wait_for(bool (*done)(int i), int i, const char *what)
{
	double end = seconds() + PATIENCE_S;

	while (!done(i)) {
		if (seconds() > end) {
			show();
			die("n%d: still not after %d s: %s", i, PATIENCE_S, what);
		}
		usleep(10000);
	}
}

/* Return: true if the cable from e of @i is up at both ends. */
static bool link_up(int i)
{
	return link_of(i, 0).state == TORUS_LINK_UP && link_of(i + 1, 1).state == TORUS_LINK_UP;
}

/* Does what a manager does when a link is up again: packets that had arrived are not sent again. */
static void mend(int i, unsigned int port, int peer, unsigned int peer_port)
{
	struct torus_link l = link_of(peer, peer_port);
	struct torus_dev *dev = nic(i);
	struct torus_device d;
	int err;

	err = torus_park_resolve(dev, port, l.session, (int)l.seq) ?:
	      torus_device_get(dev, &d) ?:
	      torus_park_replay(dev, d.version, (uint16_t)(1u << port));
	/* The link was lost once more since the question: whoever waits for packets joins it again. */
	checked(dev, err == -EBUSY ? 0 : err, "mend");
	torus_close(dev);
}

static void join(int i)
{
	wait_for(link_up, i, "link up");
	mend(i, 0, i + 1, 1);
	mend(i + 1, 1, i, 0);
}

static void join_all(void)
{
	for (int i = 0; i < NODES - 1; i++)
		join(i);
}

/* --- traffic --------------------------------------------------------------------- */

static struct sockaddr_in address(int i, uint16_t port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x0a000000u | (uint32_t)i << 16),
	};
}

/* Only while no other process runs: the code that removes things mostly sleeps. */
static void __attribute__((noreturn)) flood(void)
{
	static char message[60013];
	int s;

	close_range(3, ~0u, 0);	/* open descriptors would keep namespaces alive */
	s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	(void)!nice(19);
	for (size_t size = 1;; size = size * 3 % sizeof(message))
		for (int i = 0; i < NODES; i++) {
			struct sockaddr_in to = address(i, FLOOD_PORT);

			(void)!sendto(s, message, size, 0, (struct sockaddr *)&to, sizeof(to));
		}
}

static void start(int i)
{
	if (nodes[i].flood)
		return;
	enter(i);
	nodes[i].flood = fork();
	if (!nodes[i].flood)
		flood();
	if (nodes[i].flood < 0)
		die("fork: %m");
}

static void stop(int i)
{
	if (!nodes[i].flood)
		return;
	kill(nodes[i].flood, SIGKILL);
	waitpid(nodes[i].flood, NULL, 0);
	nodes[i].flood = 0;
}

/* Return: true if there was no change for too long. @since: of the links, and of anything at all */
static bool stuck(struct pulse *last, double since[2])
{
	struct pulse now = pulse();

	if (now.links != last->links)
		since[0] = since[1] = seconds();
	else if (now.packets != last->packets)
		since[1] = seconds();
	*last = now;
	return seconds() > since[0] + PATIENCE_S || seconds() > since[1] + STALL_S;
}

/*
 * Sends a datagram from one end to the other, through the node between. On a busy machine links
 * fail meanwhile, again and again, and wait for their manager, so there is no limit of time. But
 * it is an error if nothing moves, or if the datagram is lost while the links stay up.
 */
static void crosses(int from, int to)
{
	struct sockaddr_in addr = address(to, PROBE_PORT);
	double since[2] = { seconds(), seconds() };
	struct pollfd p = { .events = POLLIN };
	struct pulse last = pulse();
	int s;

	enter(to);
	p.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (p.fd < 0 || bind(p.fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("n%d: probe: %m", to);
	enter(from);
	s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	for (int tries = 1;; tries++) {
		(void)!sendto(s, "?", 1, 0, (struct sockaddr *)&addr, sizeof(addr));
		if (poll(&p, 1, 50) > 0)
			break;
		if (tries % 40)
			continue;
		if (stuck(&last, since)) {
			show();
			die("n%d -> n%d: nothing comes through", from, to);
		}
		join_all();
		enter(from);
	}
	close(s);
	close(p.fd);
}

static void works(void)
{
	join_all();
	crosses(0, NODES - 1);
	crosses(NODES - 1, 0);
}

/* --- what is removed ---------------------------------------------------------------- */

static void make_node(int i)
{
	nodes[i].ns = netns_create(nodes[i].name);
	if (nodes[i].ns < 0)
		die("namespace %s: %s", nodes[i].name, strerror(-nodes[i].ns));
	make_nic(i);
}

static void lose_nic(void)
{
	del_link(1, "torus0");
	make_nic(1);
	attach(1);
}

static void lose_cable(void)
{
	del_link(0, "e");
	make_cable(0);
	attach(0);
	attach(1);
}

static bool cable_gone(int i)
{
	enter(1);
	return !if_nametoindex(i ? "e" : "w");
}

/* The middle node continues to send to both. */
static void lose_namespaces(void)
{
	static const int ends[] = { 0, 2 };

	for (int k = 0; k < 2; k++) {
		struct node *n = &nodes[ends[k]];

		stop(ends[k]);
		enter(-1);
		close(n->ns);
		n->ns = -1;
		must(netns_delete(n->name), "namespace");
	}
	wait_for(cable_gone, 0, "its w goes with n0");
	wait_for(cable_gone, 1, "its e goes with n2");
	for (int k = 0; k < 2; k++)
		make_node(ends[k]);
	for (int i = 0; i < NODES - 1; i++)
		make_cable(i);
	for (int i = 0; i < NODES; i++)
		attach(i);
}

static void load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die("%s: %m", module);
	close(fd);
}

static void lose_module(void)
{
	enter(-1);
	if (syscall(SYS_delete_module, "torus", O_NONBLOCK))
		die("unload: %m");
	load();
	for (int i = 0; i < NODES; i++)
		make_nic(i);
	for (int i = 0; i < NODES; i++)
		attach(i);
}

static const struct {
	const char *name;
	void (*lose)(void);
} things[] = {
	{ "a NIC", lose_nic }, { "a cable", lose_cable },
	{ "namespaces with their links up", lose_namespaces }, { "the module", lose_module },
};

#define THINGS (sizeof(things) / sizeof(things[0]))

static void churn(int rounds)
{
	printf("1..%zu\n", THINGS);
	for (size_t k = 0; k < THINGS; k++) {
		for (int n = 0; n < rounds; n++) {
			for (int i = 0; i < NODES; i++)
				start(i);
			things[k].lose();
			works();
		}
		printf("ok - under traffic %s went and came %d times\n", things[k].name, rounds);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: churn ROUNDS TORUS_KO; see its source\n");
		return 2;
	}
	module = argv[2];
	home = netns_home();
	torus_shape_parse("3", &shape);
	for (int i = 0; i < NODES; i++) {
		snprintf(nodes[i].name, sizeof(nodes[i].name), "n%d", i);
		make_node(i);
	}
	for (int i = 0; i < NODES - 1; i++)
		make_cable(i);
	for (int i = 0; i < NODES; i++)
		attach(i);
	works();
	churn(rounds);
	for (int i = 0; i < NODES; i++)
		stop(i);
	return 0;
}
