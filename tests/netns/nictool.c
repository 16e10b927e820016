// SPDX-License-Identifier: GPL-2.0-only
/*
 * One NIC by hand, for tests without a manager:
 *
 *	nictool SOCKET place SHAPE COORDS	and rows along lines, without wrap-around
 *	nictool SOCKET invalid NODE		make the row to NODE invalid
 *	nictool SOCKET two			two write one version; prints what each is told
 *	nictool SOCKET via NODE RELAY		packets to NODE go by way of RELAY
 *	nictool SOCKET next			the rows as they are, as those of the next version
 *	nictool SOCKET state PORT		prints the link's state
 *	nictool SOCKET fault PORT [ber=E] [silence=0|1] [latency=NS] [seed=N]
 *	nictool SOCKET attach PORT IFNAME
 *	nictool SOCKET port PORT COUNTER	prints a counter or gauge of a port
 *	nictool SOCKET node COUNTER...		prints counters of the node, read at one time
 *	nictool SOCKET hold NODE | release
 *	nictool SOCKET received PORT		prints session and next sequence number
 *	nictool SOCKET resolve PORT SESSION SEQ	as the peer of that port answered
 *	nictool SOCKET replay PORT
 *	nictool SOCKET mgmt PORT TEXT...	sends management packets; 0x and hex digits: these bytes
 *	nictool SOCKET events N			prints N events
 *
 * SOCKET is torusemu's, or genl:NAME for a NIC of the kernel, genl:NAMESPACE/NAME for one in
 * another network namespace. PORT is a number. ber is in units of 1e-18.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>
#include <torus/torus.h>
#include <unistd.h>

#define VERSION 1

static struct torus_dev *dev;
static char where[256];

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "nictool: %s\n", torus_error(dev));
	exit(1);
}

static void __attribute__((noreturn)) usage(const char *why)
{
	fprintf(stderr, "nictool: %s; see its source\n", why);
	exit(2);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (*text < '0' || *text > '9' || *end)
		usage("a number is expected");
	return v;
}

static void print_result(const char *what, struct torus_dev *by, int err)
{
	printf("%s: %s\n", what, err ? torus_error(by) : "done");
}

/*
 * Two processes begin the same table, and the first one goes on; then the second one leaves its
 * table half written.
 */
static void two(char **arg)
{
	uint64_t row = 0, version = VERSION + 1;
	struct torus_dev *other;

	(void)arg;
	check(torus_open(where, &other));
	print_result("first begins", dev, torus_rows_begin(dev, version));
	print_result("second puts", other, torus_rows_put(other, version, 0, &row, 1));
	print_result("second begins", other, torus_rows_begin(other, version));
	print_result("first puts", dev, torus_rows_put(dev, version, 0, &row, 1));
	print_result("second puts", other, torus_rows_put(other, version, 0, &row, 1));
	torus_close(other);
	print_result("first commits", dev, torus_rows_commit(dev, version));
	print_result("first begins", dev, torus_rows_begin(dev, version));
	print_result("first commits", dev, torus_rows_commit(dev, version));
	print_result("first commits", dev, torus_rows_commit(dev, version));
}

static const struct torus_shape line = { .ndims = 1, .size = { 2, 1, 1, 1, 1, 1 } };

/* Gives the NIC all orders that a root may give, of version @v. */
static void orders(const char *who, struct torus_dev *by, uint64_t v)
{
	const struct torus_coords at = { { 0 } };
	char what[80];

	snprintf(what, sizeof(what), "%s begins", who);
	print_result(what, by, torus_rows_begin(by, v));
	snprintf(what, sizeof(what), "%s commits", who);
	print_result(what, by, torus_rows_commit(by, v));
	snprintf(what, sizeof(what), "%s replays", who);
	print_result(what, by, torus_park_replay(by, v, 0));
	snprintf(what, sizeof(what), "%s releases", who);
	print_result(what, by, torus_release(by, v, true));
	snprintf(what, sizeof(what), "%s places", who);
	print_result(what, by, torus_place_set(by, &line, &at));
}

/* Gives orders of a root, then of a root of a later epoch, and then orders by hand. */
static void roots(char **arg)
{
	const struct torus_coords at = { { 1 } };
	struct torus_dev *later, *nobody;
	struct torus_device d;

	(void)arg;
	check(torus_open(where, &later));
	check(torus_open(where, &nobody));
	check(torus_place_set(nobody, &line, &at));
	check(torus_rows_begin(nobody, VERSION));
	check(torus_rows_commit(nobody, VERSION));
	print_result("5 of 0xa", dev, torus_root_set(dev, 5, 0xa));
	print_result("5 of 0xb", later, torus_root_set(later, 5, 0xb));
	print_result("nobody begins", nobody, torus_rows_begin(nobody, VERSION + 1));
	print_result("first begins", dev, torus_rows_begin(dev, VERSION + 1));
	print_result("first commits", dev, torus_rows_commit(dev, VERSION + 1));
	check(torus_device_get(nobody, &d));
	printf("rows of %llu\n", (unsigned long long)d.rows_epoch);
	print_result("first begins", dev, torus_rows_begin(dev, VERSION));
	print_result("first begins", dev, torus_rows_begin(dev, VERSION + 2));
	print_result("6 of 0xb", later, torus_root_set(later, 6, 0xb));
	print_result("first commits", dev, torus_rows_commit(dev, VERSION + 2));
	orders("first", dev, VERSION + 3);
	/* The later root may begin below what the former one did. */
	orders("later", later, VERSION);
	print_result("nobody places", nobody, torus_place_set(nobody, &line, &at));
	check(torus_device_get(dev, &d));
	printf("obeys %llu\n", (unsigned long long)d.root_epoch);
	print_result("first again", dev, torus_root_set(dev, 5, 0xa));
	torus_close(later);
	torus_close(nobody);
}

/* Return: a row as in a torus that is cut open: by + from smaller coordinates to larger ones. */
static uint64_t line_row(const struct torus_shape *s, uint32_t from, uint32_t to)
{
	uint64_t dir = 0, none = TORUS_ROW_NO_STEP;
	struct torus_coords a, b;

	torus_node_coords(s, from, &a);
	torus_node_coords(s, to, &b);
	for (unsigned int d = 0; d < s->ndims; d++) {
		if (b.c[d] > a.c[d])
			dir |= 1u << d;
		else if (b.c[d] < a.c[d])
			dir |= 1u << (s->ndims + d);
	}
	return TORUS_ROW_VALID | TORUS_ROW_ADAPTIVE | dir | dir << TORUS_ROW_ADAPT_SHIFT |
	       none << TORUS_ROW_FIRST_SHIFT | none << TORUS_ROW_LAST_SHIFT;
}

static void place(char **arg)
{
	struct torus_shape shape;
	struct torus_coords at;
	struct torus_device d;
	uint64_t *row, version;
	uint32_t n;

	if (torus_shape_parse(arg[0], &shape) || torus_coords_parse(arg[1], &shape, &at))
		usage("bad shape or coordinates");
	check(torus_place_set(dev, &shape, &at));
	/* the version is greater if the NIC was at this place */
	check(torus_device_get(dev, &d));
	version = d.version > VERSION ? d.version : VERSION;
	n = torus_nodes(&shape);
	row = calloc(n, sizeof(*row));
	if (!row)
		exit(1);
	for (uint32_t i = 0; i < n; i++)
		row[i] = line_row(&shape, torus_node_id(&shape, &at), i);
	check(torus_rows_begin(dev, version));
	check(torus_rows_put(dev, version, 0, row, n));
	check(torus_rows_commit(dev, version));
	free(row);
}

static void invalid(char **arg)
{
	struct torus_device d;
	uint64_t row = 0;

	check(torus_device_get(dev, &d));
	check(torus_rows_begin(dev, d.version + 1));
	check(torus_rows_put(dev, d.version + 1, (uint32_t)number(arg[0]), &row, 1));
	check(torus_rows_commit(dev, d.version + 1));
}

static void next(char **arg)
{
	struct torus_device d;

	(void)arg;
	check(torus_device_get(dev, &d));
	check(torus_rows_begin(dev, d.version + 1));
	check(torus_rows_commit(dev, d.version + 1));
}

static void via(char **arg)
{
	uint32_t to = (uint32_t)number(arg[0]), relay = (uint32_t)number(arg[1]), n = 1;
	struct torus_device d;
	uint64_t row, version;

	check(torus_device_get(dev, &d));
	check(torus_rows_get(dev, relay, &row, &n, &version));
	row |= TORUS_ROW_RELAY | (uint64_t)relay << TORUS_ROW_RELAY_SHIFT;
	check(torus_rows_begin(dev, d.version + 1));
	check(torus_rows_put(dev, d.version + 1, to, &row, 1));
	check(torus_rows_commit(dev, d.version + 1));
}

static void state(char **arg)
{
	struct torus_link l;

	check(torus_link_get(dev, (unsigned int)number(arg[0]), &l));
	printf("%s %s\n", torus_link_state_name(l.state), torus_link_reason_name(l.reason));
}

static void fault(char **arg)
{
	unsigned int port = (unsigned int)number(arg[0]);
	struct torus_link l;
	struct torus_fault *f = &l.fault;

	check(torus_link_get(dev, port, &l));
	for (arg++; *arg; arg++) {
		char *eq = strchr(*arg, '=');

		if (!eq)
			usage("a fault is NAME=VALUE");
		*eq++ = 0;
		if (!strcmp(*arg, "ber"))
			f->ber = number(eq);
		else if (!strcmp(*arg, "silence"))
			f->silence = number(eq);
		else if (!strcmp(*arg, "latency"))
			f->latency_ns = number(eq);
		else if (!strcmp(*arg, "seed"))
			f->seed = number(eq);
		else
			usage("no such fault");
	}
	check(torus_fault_set(dev, port, f));
}

static void attach(char **arg)
{
	check(torus_attach(dev, (unsigned int)number(arg[0]), arg[1]));
}

static void port(char **arg)
{
	struct torus_link l;

	check(torus_link_get(dev, (unsigned int)number(arg[0]), &l));
	for (int i = 0; i < TORUS_PC_COUNT; i++)
		if (!strcmp(torus_port_counters[i].name, arg[1])) {
			printf("%" PRIu64 "\n", l.counter[i]);
			return;
		}
	for (int i = 0; i < TORUS_PG_COUNT; i++)
		if (!strcmp(torus_port_gauges[i].name, arg[1])) {
			printf("%" PRIu64 "\n", l.gauge[i]);
			return;
		}
	usage("no such counter of a port");
}

static uint64_t node_counter(const struct torus_device *d, const char *name)
{
	for (int i = 0; i < TORUS_NC_COUNT; i++)
		if (!strcmp(torus_node_counters[i].name, name))
			return d->counter[i];
	usage("no such counter of a node");
}

static void node(char **arg)
{
	struct torus_device d;

	check(torus_device_get(dev, &d));
	for (; *arg; arg++)
		printf("%" PRIu64 "%c", node_counter(&d, *arg), arg[1] ? ' ' : '\n');
}

static void hold(char **arg)
{
	uint32_t n = (uint32_t)number(arg[0]);

	check(torus_hold(dev, &n, 1));
}

static void release(char **arg)
{
	struct torus_device d;

	(void)arg;
	check(torus_device_get(dev, &d));
	check(torus_release(dev, d.version, false));
}

static void received(char **arg)
{
	struct torus_link l;

	check(torus_link_get(dev, (unsigned int)number(arg[0]), &l));
	printf("%u %u\n", l.session, l.seq);
}

static void resolve(char **arg)
{
	check(torus_park_resolve(dev, (unsigned int)number(arg[0]), (uint32_t)number(arg[1]),
				 (int)number(arg[2])));
}

/* Prints flows of parked packets: source, destination, virtual channel, packets. */
static void flows(char **arg)
{
	struct torus_park_flows p;

	(void)arg;
	check(torus_park_flows_get(dev, &p));
	for (unsigned int i = 0; i < p.nflows; i++)
		printf("%u %u %u %" PRIu64 "%s\n", p.flow[i].from, p.flow[i].to, p.flow[i].vc,
		       p.flow[i].packets, p.flow[i].age ? "" : " new");
	printf("more %" PRIu64 "\n", p.more);
}

static void replay(char **arg)
{
	struct torus_device d;

	check(torus_device_get(dev, &d));
	check(torus_park_replay(dev, d.version, (uint16_t)(1u << number(arg[0]))));
}

/* Makes the data that is sent for @text. Return: how many bytes. */
static size_t mgmt_data(const char *text, char *data, size_t room)
{
	size_t n = strlen(text);

	if (strncmp(text, "0x", 2)) {
		n = n < room ? n : room;
		memcpy(data, text, n);
		return n;
	}
	text += 2;
	for (n = 0; text[2 * n] && n < room; n++)
		if (sscanf(text + 2 * n, "%2hhx", (unsigned char *)data + n) != 1)
			usage("0x and pairs of hex digits are expected");
	return n;
}

static void mgmt(char **arg)
{
	unsigned int port = (unsigned int)number(*arg++);
	char data[TORUS_MGMT_MAX + 1];

	for (; *arg; arg++)
		check(torus_mgmt_send(dev, port, data, mgmt_data(*arg, data, sizeof(data))));
}

static void print_event(const struct torus_event *ev, void *arg)
{
	uint64_t *n = arg;

	if (ev->group == TORUS_GROUP_LINK)
		printf("link %u %s %s\n", ev->link.port, torus_link_state_name(ev->link.state),
		       torus_link_reason_name(ev->link.reason));
	else if (ev->group == TORUS_GROUP_MGMT)
		printf("mgmt %u %.*s\n", ev->port, (int)ev->len, (const char *)ev->data);
	else
		printf("park %" PRIu64 "\n", ev->park.parked);
	fflush(stdout);
	if (*n)
		--*n;
}

static void events(char **arg)
{
	uint64_t n = number(arg[0]);

	check(torus_events_open(dev, (1u << TORUS_GROUPS) - 1));
	printf("subscribed\n");
	fflush(stdout);
	while (n) {
		struct pollfd p = { .fd = torus_events_fd(dev), .events = POLLIN };

		if (poll(&p, 1, -1) > 0)
			check(torus_events_read(dev, print_event, &n));
	}
}

static const struct {
	const char *name;
	int args;
	void (*fn)(char **arg);
} commands[] = {
	{ "place", 2, place }, { "two", 0, two }, { "roots", 0, roots }, { "invalid", 1, invalid },
	{ "via", 2, via },
	{ "next", 0, next }, { "state", 1, state },
	{ "fault", 2, fault }, { "attach", 2, attach }, { "port", 2, port },
	{ "node", 1, node }, { "hold", 1, hold }, { "release", 0, release },
	{ "received", 1, received }, { "resolve", 3, resolve }, { "replay", 1, replay },
	{ "flows", 0, flows },
	{ "mgmt", 2, mgmt }, { "events", 1, events },
};

/*
 * Writes to @where what libtorus is to open. "ip netns exec" would start two programs and mount
 * file systems, which is slow in a guest.
 */
static void find(const char *socket)
{
	const char *slash = strchr(socket, '/');
	char path[128];
	int fd;

	if (strncmp(socket, "genl:", 5)) {
		snprintf(where, sizeof(where), "unix:%s", socket);
		return;
	}
	if (slash) {
		snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(slash - socket - 5),
			 socket + 5);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || setns(fd, CLONE_NEWNET)) {
			perror(path);
			exit(1);
		}
		close(fd);
	}
	snprintf(where, sizeof(where), "genl:%s", slash ? slash + 1 : socket + 5);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		usage("a socket and a command are needed");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[2], commands[i].name))
			continue;
		if (argc - 3 < commands[i].args)
			usage("too few arguments");
		find(argv[1]);
		check(torus_open(where, &dev));
		commands[i].fn(argv + 3);
		torus_close(dev);
		return 0;
	}
	usage("no such command");
}
