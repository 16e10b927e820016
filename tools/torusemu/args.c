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
#include "param.h"
#include "lib/util/times.h"

const char args_help[] =
	"usage: torusemu --name NAME --ports N --socket PATH [--port PORT=LOWER]...\n"
	"       torusemu --pack PATH\n"
	"\n"
	"Runs a torus NIC as a process: its ports are Ethernet devices, and the host uses it by a\n"
	"tun device. With --pack it runs many NICs in one process, made and removed by requests,\n"
	"with cables in memory.\n"
	"\n"
	"  --name NAME         name of the NIC\n"
	"  --ports N           number of ports, two for each dimension: 2 to 12, even\n"
	"  --socket PATH       socket on which managers and tools talk to the NIC\n"
	"  --rma PATH          socket on which processes get remote memory; default: none\n"
	"  --port PORT=LOWER   bind a port (+x ... -c) to an Ethernet device, or in a pack\n"
	"                      to the cable in memory called :NAME\n"
	"  --tun NAME          tun device to make (torus0)\n"
	"  --netns PATH        network namespace to make it in, such as /run/netns/NAME\n"
	"  --no-tun            no host side: the NIC only forwards packets\n"
	"  --guid HEX          identity of the NIC (made from the name)\n"
	"  --bootstrap         set the bootstrap flag: this node has coordinates 0, and is the\n"
	"                      first root of its fabric\n"
	"  --retry PROTOCOL    how links retransmit: angara, acknak, hippi or auto, which is\n"
	"                      what the other end asks for (auto)\n"
	"  --set PARAM=VALUE   set a parameter of the NIC, see torusemu(8); times like 350ms,\n"
	"                      sizes like 4M\n"
	"  --pack PATH         socket on which a pack takes requests, see torusemu(8)\n"
	"  --log-level LEVEL   error, warning, info, debug (info)\n"
	"  --foreground        stay in the foreground; by default return when the NIC is ready\n"
	"  --help, --version\n";

/** struct parse - the arguments, and room for the text of an error */
struct parse {
	struct args *args;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static int fail_args(const struct parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, p->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int set_param(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	const struct tn_param *p;
	char why[PARAM_WHY_MAX];
	uint64_t v;

	p = param_parse(text, &v, why, sizeof(why));
	if (!p)
		return fail_args(to, "%s", why);
	tn_param_set(&a->params, p, v);
	if (p == &tn_param_list[TN_PARAM_FRAME_MAX])
		a->frame_max_set = true;
	return 0;
}

static int set_nic_name(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	size_t n = strlen(text);

	if (!n || n > TORUS_NAME_MAX)
		return fail_args(to, "--name '%s': must have 1 to %d bytes", text, TORUS_NAME_MAX);
	memcpy(a->name, text, n + 1);
	return 0;
}

static int copy_ifname(const struct parse *to, char *name, const char *option,
		       const char *text)
{
	size_t n = strlen(text);

	if (!n || n >= IFNAMSIZ || strpbrk(text, "/ \t\n"))
		return fail_args(to, "%s '%s': a device name has 1 to %d bytes without blanks and "
				 "slashes",
				 option, text, IFNAMSIZ - 1);
	memcpy(name, text, n + 1);
	return 0;
}

static int set_port_count(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || v < 2 || v > TORUS_MAX_PORTS || v % 2)
		return fail_args(to, "--ports '%s': must be an even number, 2 to %d", text,
				 TORUS_MAX_PORTS);
	a->nports = (unsigned int)v;
	return 0;
}

static int set_nic_guid(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	char *end;

	errno = 0;
	a->guid = strtoull(text, &end, 16);
	if (!strchr("0123456789abcdefABCDEF", *text) || *end || errno || !a->guid)
		return fail_args(to, "--guid '%s': must be 1 to 16 hexadecimal digits, not 0",
				 text);
	a->guid_set = true;
	return 0;
}

static int set_retry(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	enum torus_retry protocol;

	if (torus_retry_parse(text, &protocol))
		return fail_args(to, "--retry '%s': must be angara, acknak, hippi or auto", text);
	a->params.retry = protocol;
	return 0;
}

/*
 * Parses --port. Called after all other options are parsed, because port names depend on --ports.
 */
static int bind_port(const struct parse *to, const char *text)
{
	struct args *a = to->args;
	const char *eq = strchr(text, '=');
	unsigned int ndims = a->nports / 2, port;
	char name[16], first[TORUS_TEXT_MAX], last[TORUS_TEXT_MAX];

	if (!eq || (size_t)(eq - text) >= sizeof(name))
		return fail_args(to, "--port '%s': must be PORT=IFNAME", text);
	memcpy(name, text, (size_t)(eq - text));
	name[eq - text] = 0;
	if (torus_port_parse(name, ndims, &port))
		return fail_args(to, "--port '%s': '%s' is not a port, must be %s to %s",
				 text, name, torus_port_text(ndims, 0, first),
				 torus_port_text(ndims, a->nports - 1, last));
	if (a->lower[port][0])
		return fail_args(to, "--port '%s': port %s has a device already: %s", text, name,
				 a->lower[port]);
	for (unsigned int i = 0; i < a->nports; i++)
		if (!strcmp(a->lower[i], eq + 1))
			return fail_args(to, "--port '%s': the device has a port already", text);
	return copy_ifname(to, a->lower[port], "--port", eq + 1);
}

enum { NAME = 1, PORTS, SOCKET, PORT, TUN, GUID, BOOTSTRAP, RETRY, SET, LOG_LEVEL, FOREGROUND, PACK,
	NETNS, RMA, NO_TUN, HELP, VERSION };

static int one_option(const struct parse *to, int option, char *text)
{
	struct args *a = to->args;

	switch (option) {
	case NAME:
		return set_nic_name(to, text);
	case PORTS:
		return set_port_count(to, text);
	case SOCKET:
		a->socket = text;
		return *text ? 0 : fail_args(to, "--socket: must be a path");
	case TUN:
		return copy_ifname(to, a->tun, "--tun", text);
	case GUID:
		return set_nic_guid(to, text);
	case BOOTSTRAP:
		a->bootstrap = true;
		return 0;
	case RETRY:
		return set_retry(to, text);
	case SET:
		return set_param(to, text);
	case LOG_LEVEL:
		a->log_level = log_level(text);
		return a->log_level >= 0 ? 0 :
		       fail_args(to, "--log-level '%s': must be error, warning, info or debug",
				 text);
	case FOREGROUND:
		a->foreground = true;
		return 0;
	case PACK:
		a->pack = text;
		return *text ? 0 : fail_args(to, "--pack: must be a path");
	case RMA:
		a->rma = text;
		return *text ? 0 : fail_args(to, "--rma: must be a path");
	case NETNS:
		a->netns = text;
		return *text ? 0 : fail_args(to, "--netns: must be a path");
	case NO_TUN:
		a->tun[0] = '\0';
		return 0;
	case HELP:
		return ARGS_HELP;
	case VERSION:
		return ARGS_VERSION;
	default:
		return fail_args(to, "bad options; try --help");
	}
}

static int check_args(const struct parse *to)
{
	const struct args *a = to->args;
	const struct tn_params *p = &a->params;
	struct tn_params_why why;
	char text[PARAM_WHY_MAX];

	if (a->pack)
		return a->name[0] || a->nports || a->socket ?
		       fail_args(to, "--pack: requests make the NICs of a pack, not options; try "
				 "--help") : 0;
	if (!a->name[0] || !a->nports || !a->socket)
		return fail_args(to, "--name, --ports and --socket are needed; try --help");
	if (!tn_params_check(p, &why))
		return 0;
	return fail_args(to, "--set %s", params_refused(p, &why, text, sizeof(text)));
}

static void args_defaults(struct args *a)
{
	memset(a, 0, sizeof(*a));
	tn_params_default(&a->params);
	/* To wake up only to send an acknowledgement costs more than a longer RETRY buffer. */
	a->params.ack_delay = 5 * MS;
	/* A peer may wait this long for a processor; its packets are not lost then. */
	a->params.replay_timeout = 50 * MS;
	a->log_level = LOG_INFO;
	strcpy(a->tun, "torus0");
}

int args_parse(struct args *a, int argc, char **argv, char *why, size_t size)
{
	static const struct option options[] = {
		{ "name", 1, NULL, NAME }, { "ports", 1, NULL, PORTS },
		{ "socket", 1, NULL, SOCKET }, { "rma", 1, NULL, RMA }, { "port", 1, NULL, PORT },
		{ "tun", 1, NULL, TUN }, { "no-tun", 0, NULL, NO_TUN },
		{ "netns", 1, NULL, NETNS },
		{ "guid", 1, NULL, GUID }, { "bootstrap", 0, NULL, BOOTSTRAP },
		{ "retry", 1, NULL, RETRY }, { "set", 1, NULL, SET },
		{ "pack", 1, NULL, PACK },
		{ "log-level", 1, NULL, LOG_LEVEL }, { "foreground", 0, NULL, FOREGROUND },
		{ "help", 0, NULL, HELP }, { "version", 0, NULL, VERSION }, { 0 },
	};
	const struct parse to = { a, why, size };
	const char *port[TORUS_MAX_PORTS];
	unsigned int nport = 0;
	int option, err = 0;

	args_defaults(a);
	optind = 0;
	while (!err && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != PORT)
			err = one_option(&to, option, optarg);
		else if (nport < TORUS_MAX_PORTS)
			port[nport++] = optarg;
		else
			err = fail_args(&to, "--port '%s': more than %d", optarg, TORUS_MAX_PORTS);
	}
	if (!err && optind < argc)
		err = fail_args(&to, "there is no argument '%s'; try --help", argv[optind]);
	if (!err)
		err = check_args(&to);
	for (unsigned int i = 0; !err && i < nport; i++)
		err = bind_port(&to, port[i]);
	return err;
}
