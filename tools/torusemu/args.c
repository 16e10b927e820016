// SPDX-License-Identifier: GPL-2.0-only
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <torus/topology.h>
#include <torus/torus.h>

#include "log.h"

enum unit { TIME, SIZE, COUNT };

/**
 * struct param - one of struct tn_params
 * @min, @max: ns for times, bytes for sizes
 */
struct param {
	const char *name;
	enum unit unit;
	size_t offset;
	bool wide;		/* u64, not u32 */
	u64 min, max;
};

#define MS		1000000ull
#define PARAM64(f, unit, min, max) { #f, unit, offsetof(struct tn_params, f), true, min, max }
#define PARAM32(f, unit, min, max) { #f, unit, offsetof(struct tn_params, f), false, min, max }

static const struct param params[] = {
	PARAM64(keepalive, TIME, MS, 3600000 * MS),
	PARAM64(silence, TIME, MS, 3600000 * MS),
	PARAM64(ack_delay, TIME, 1000, 1000 * MS),
	PARAM64(replay_timeout, TIME, 10000, 60000 * MS),
	PARAM64(retry_time, TIME, MS, 3600000 * MS),
	PARAM64(init_interval, TIME, MS, 60000 * MS),
	PARAM64(probe_interval, TIME, MS, 3600000 * MS),
	PARAM64(retrain_time, TIME, MS, 60000 * MS),
	PARAM64(gap_time, TIME, MS, 3600000 * MS),
	PARAM32(retry_count, COUNT, 1, 1000000),
	PARAM32(retry_packets, COUNT, 1, 1024),
	PARAM32(slots, COUNT, 4, 1024),
	PARAM32(frame_max, SIZE, TN_PACKET_MAX, 65535),
	PARAM64(park_bytes, SIZE, TN_PACKET_MAX, 1ull << 40),
	PARAM64(hold_bytes, SIZE, TN_PACKET_MAX, 1ull << 40),
};

static const char help[] =
	"usage: torusemu --name NAME --ports N --socket PATH [--port PORT=IFNAME]...\n"
	"\n"
	"One torus NIC in user space: links on Ethernet devices, host side on a tun device.\n"
	"\n"
	"  --name NAME         of the NIC\n"
	"  --ports N           2 to 12, even: twice the dimensions\n"
	"  --socket PATH       where to listen for netlink messages\n"
	"  --port PORT=IFNAME  bind a port (+x ... -c) to an Ethernet device\n"
	"  --tun NAME          tun device to make (torus0)\n"
	"  --guid HEX          identity of the NIC (made from the name)\n"
	"  --bootstrap         set the BootStrap jumper\n"
	"  --retry PROTOCOL    angara, acknak, hippi or auto: what the peer asks for (auto)\n"
	"  --set PARAM=VALUE   tune; times like 350ms, sizes like 4M\n"
	"  --log-level LEVEL   error, warning, info, debug (info)\n"
	"  --foreground        stay there; else return when the NIC is ready\n"
	"  --help, --version\n";

__attribute__((format(printf, 1, 2)))
static int bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("torusemu: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return -EINVAL;
}

/* Digits, then one of the unit's suffixes. */
static bool parse_number(const char *text, enum unit unit, u64 *out)
{
	static const struct {
		enum unit unit;
		const char *suffix;
		u64 factor;
	} suffixes[] = {
		{ TIME, "ns", 1 }, { TIME, "us", 1000 }, { TIME, "ms", MS },
		{ TIME, "s", 1000 * MS }, { SIZE, "", 1 }, { SIZE, "k", 1 << 10 },
		{ SIZE, "K", 1 << 10 }, { SIZE, "M", 1 << 20 }, { SIZE, "G", 1 << 30 },
		{ COUNT, "", 1 },
	};
	char *end;
	u64 v;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (suffixes[i].unit == unit && !strcmp(end, suffixes[i].suffix))
			return !__builtin_mul_overflow(v, suffixes[i].factor, out);
	return false;
}

static const char *unit_text(enum unit unit)
{
	if (unit == TIME)
		return "a number with ns, us, ms or s";
	return unit == SIZE ? "a number, or one with K, M or G" : "a number";
}

static void store(struct args *a, const struct param *p, u64 v)
{
	char *at = (char *)&a->params + p->offset;
	u32 narrow = (u32)v;

	if (p->wide)
		memcpy(at, &v, sizeof(v));
	else
		memcpy(at, &narrow, sizeof(narrow));
	if (p->offset == offsetof(struct tn_params, frame_max))
		a->frame_max_set = true;
}

static int set_param(struct args *a, const char *text)
{
	const char *eq = strchr(text, '=');
	u64 v;

	for (size_t i = 0; eq && i < ARRAY_SIZE(params); i++) {
		const struct param *p = &params[i];

		if (strlen(p->name) != (size_t)(eq - text) || strncmp(text, p->name, (size_t)(eq - text)))
			continue;
		if (!parse_number(eq + 1, p->unit, &v))
			return bad("--set %s: '%s' is not %s", p->name, eq + 1, unit_text(p->unit));
		if (v < p->min || v > p->max)
			return bad("--set %s: '%s' is out of range, allowed %" PRIu64 " to %" PRIu64
				   "%s", p->name, eq + 1, (uint64_t)p->min, (uint64_t)p->max,
				   p->unit == TIME ? " ns" : "");
		store(a, p, v);
		return 0;
	}
	fprintf(stderr, "torusemu: --set '%s': allowed PARAM=VALUE with PARAM one of", text);
	for (size_t i = 0; i < ARRAY_SIZE(params); i++)
		fprintf(stderr, " %s", params[i].name);
	fputc('\n', stderr);
	return -EINVAL;
}

static int set_name(struct args *a, const char *text)
{
	size_t n = strlen(text);

	if (!n || n > TORUS_NAME_MAX)
		return bad("--name '%s': allowed 1 to %d bytes", text, TORUS_NAME_MAX);
	memcpy(a->name, text, n + 1);
	return 0;
}

static int copy_ifname(char *to, const char *option, const char *text)
{
	size_t n = strlen(text);

	if (!n || n >= IFNAMSIZ || strpbrk(text, "/ \t\n"))
		return bad("%s '%s': a device name has 1 to %d bytes without blanks and slashes",
			   option, text, IFNAMSIZ - 1);
	memcpy(to, text, n + 1);
	return 0;
}

static int set_ports(struct args *a, const char *text)
{
	u64 v;

	if (!parse_number(text, COUNT, &v) || v < 2 || v > TORUS_MAX_PORTS || v % 2)
		return bad("--ports '%s': allowed an even number, 2 to %d", text, TORUS_MAX_PORTS);
	a->nports = (unsigned int)v;
	return 0;
}

static int set_guid(struct args *a, const char *text)
{
	char *end;

	errno = 0;
	a->guid = strtoull(text, &end, 16);
	if (!strchr("0123456789abcdefABCDEF", *text) || *end || errno || !a->guid)
		return bad("--guid '%s': allowed 1 to 16 hexadecimal digits, not 0", text);
	a->guid_set = true;
	return 0;
}

static int set_retry(struct args *a, const char *text)
{
	enum torus_retry protocol;

	if (torus_retry_parse(text, &protocol))
		return bad("--retry '%s': allowed angara, acknak, hippi, auto", text);
	a->params.retry_protocol = protocol;
	return 0;
}

/* Port names depend on --ports, so these are looked at last. */
static int bind_port(struct args *a, const char *text)
{
	const char *eq = strchr(text, '=');
	unsigned int ndims = a->nports / 2, port;
	char name[16], first[TORUS_TEXT_MAX], last[TORUS_TEXT_MAX];

	if (!eq || (size_t)(eq - text) >= sizeof(name))
		return bad("--port '%s': allowed PORT=IFNAME", text);
	memcpy(name, text, (size_t)(eq - text));
	name[eq - text] = 0;
	if (torus_port_parse(name, ndims, &port))
		return bad("--port '%s': '%s' is no port, allowed %s to %s", text, name,
			   torus_port_text(ndims, 0, first),
			   torus_port_text(ndims, a->nports - 1, last));
	if (a->lower[port][0])
		return bad("--port '%s': port %s has a device already: %s", text, name,
			   a->lower[port]);
	for (unsigned int i = 0; i < a->nports; i++)
		if (!strcmp(a->lower[i], eq + 1))
			return bad("--port '%s': the device has a port already", text);
	return copy_ifname(a->lower[port], "--port", eq + 1);
}

enum { NAME = 1, PORTS, SOCKET, PORT, TUN, GUID, BOOTSTRAP, RETRY, SET, LOG_LEVEL, FOREGROUND, HELP,
	VERSION };

static int one_option(struct args *a, int option, char *text)
{
	switch (option) {
	case NAME:
		return set_name(a, text);
	case PORTS:
		return set_ports(a, text);
	case SOCKET:
		a->socket = text;
		return *text ? 0 : bad("--socket: allowed a path");
	case TUN:
		return copy_ifname(a->tun, "--tun", text);
	case GUID:
		return set_guid(a, text);
	case BOOTSTRAP:
		a->bootstrap = true;
		return 0;
	case RETRY:
		return set_retry(a, text);
	case SET:
		return set_param(a, text);
	case LOG_LEVEL:
		a->log_level = log_level(text);
		return a->log_level >= 0 ? 0 :
		       bad("--log-level '%s': allowed error, warning, info, debug", text);
	case FOREGROUND:
		a->foreground = true;
		return 0;
	case HELP:
		fputs(help, stdout);
		return 1;
	case VERSION:
		puts("torusemu " TORUS_VERSION);
		return 1;
	default:
		fputs("torusemu: try --help\n", stderr);
		return -EINVAL;
	}
}

static int check(struct args *a)
{
	const struct tn_params *p = &a->params;

	if (!a->name[0] || !a->nports || !a->socket)
		return bad("--name, --ports and --socket are needed; try --help");
	if (p->silence <= p->keepalive)
		return bad("--set silence: must be longer than keepalive (%" PRIu64 " ns)",
			   (uint64_t)p->keepalive);
	if (p->replay_timeout <= p->ack_delay)
		return bad("--set replay_timeout: must be longer than ack_delay (%" PRIu64 " ns)",
			   (uint64_t)p->ack_delay);
	return 0;
}

int args_parse(struct args *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", 1, NULL, NAME }, { "ports", 1, NULL, PORTS },
		{ "socket", 1, NULL, SOCKET }, { "port", 1, NULL, PORT },
		{ "tun", 1, NULL, TUN }, { "guid", 1, NULL, GUID },
		{ "bootstrap", 0, NULL, BOOTSTRAP },
		{ "retry", 1, NULL, RETRY }, { "set", 1, NULL, SET },
		{ "log-level", 1, NULL, LOG_LEVEL }, { "foreground", 0, NULL, FOREGROUND },
		{ "help", 0, NULL, HELP }, { "version", 0, NULL, VERSION }, { 0 },
	};
	const char *port[TORUS_MAX_PORTS];
	unsigned int nport = 0;
	int option, err = 0;

	memset(a, 0, sizeof(*a));
	tn_params_default(&a->params);
	/* Waking up only to acknowledge costs more than a longer RETRY buffer. */
	a->params.ack_delay = 5 * MS;
	/* A peer that waits for a processor is not a loss. */
	a->params.replay_timeout = 50 * MS;
	a->log_level = LOG_INFO;
	strcpy(a->tun, "torus0");
	while (!err && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != PORT)
			err = one_option(a, option, optarg);
		else if (nport < TORUS_MAX_PORTS)
			port[nport++] = optarg;
		else
			err = bad("--port '%s': more than %d", optarg, TORUS_MAX_PORTS);
	}
	if (!err && optind < argc)
		err = bad("'%s': no such argument; try --help", argv[optind]);
	if (!err)
		err = check(a);
	for (unsigned int i = 0; !err && i < nport; i++)
		err = bind_port(a, port[i]);
	return err;
}
