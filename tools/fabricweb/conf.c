// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <event2/util.h>
#include <getopt.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "lib/util/inifile.h"

#define CONFIG		"/etc/fabricweb.conf"
#define CONFIG_MAX	65536
#define LISTEN		"127.0.0.1:7180"
#define CONTROL		"/run/fabricd/control"

static const char conf_help[] =
	"usage: fabricweb [--config FILE] [--listen ADDRESS:PORT] [--control PATH] [OPTION...]\n"
	"\n"
	"Serves what the fabric manager of this node knows by HTTP: metrics for Prometheus, the\n"
	"answers of fabricctl as JSON, events as they happen, and a page for browsers.\n"
	"\n"
	"  --config FILE       options, see fabricweb.conf(5) (" CONFIG ")\n"
	"  --listen ADDRESS:PORT\n"
	"                      where to listen (" LISTEN ")\n"
	"  --control PATH      control socket of the manager (" CONTROL ")\n"
	"  --tls-cert FILE     certificate with its chain, PEM: serve HTTPS\n"
	"  --tls-key FILE      its key, PEM\n"
	"  --users FILE        who may look and who may change; without it all may look\n"
	"  --hosts NAMES       names that clients may call this server by, in one argument\n"
	"  --allow-changes     let users of the role 'change' exclude, include, and take links\n"
	"                      up and down\n"
	"  --check             check the options and the files that they name, then end\n"
	"  --help, --version\n";

/**
 * struct key - an option
 * @at: memory for its text, of @size bytes; NULL: the option is a flag
 */
struct key {
	const char *name, *option;
	char *at;
	size_t size;
	bool *flag;
};

struct parsed {
	struct conf *conf;
	const char *path;
	struct key key[7];
	char hosts[CONF_PATH_MAX];
};

#define KEYS(p) (sizeof((p)->key) / sizeof((p)->key[0]))

/* Return: 2, the exit status of wrong options. */
__attribute__((format(printf, 1, 2)))
static int fail_conf(const char *fmt, ...)
{
	va_list ap;

	fputs("fabricweb: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

static void list_keys(struct parsed *p, struct conf *c)
{
	p->conf = c;
	p->key[0] = (struct key){ "listen", "listen", c->listen, sizeof(c->listen), NULL };
	p->key[1] = (struct key){ "control", "control", c->control, sizeof(c->control), NULL };
	p->key[2] = (struct key){ "tls_cert", "tls-cert", c->tls_cert, sizeof(c->tls_cert), NULL };
	p->key[3] = (struct key){ "tls_key", "tls-key", c->tls_key, sizeof(c->tls_key), NULL };
	p->key[4] = (struct key){ "users", "users", c->users, sizeof(c->users), NULL };
	p->key[5] = (struct key){ "hosts", "hosts", p->hosts, sizeof(p->hosts), NULL };
	p->key[6] = (struct key){ "allow_changes", "allow-changes", NULL, 0, &c->allow_changes };
}

/* --- the file ----------------------------------------------------------------------------- */

static void complain_of_line(void *arg, unsigned int line, const char *text)
{
	const struct parsed *p = arg;

	if (line)
		fail_conf("%s:%u: %s", p->path, line, text);
	else
		fail_conf("%s: %s", p->path, text);
}

static void take_key(struct inifile *file, const char *section, const char *name, const char *value)
{
	struct parsed *p = file->arg;

	for (unsigned int i = 0; !*section && i < KEYS(p); i++) {
		struct key *k = &p->key[i];

		if (strcmp(k->name, name))
			continue;
		if (k->flag && strcmp(value, "yes") && strcmp(value, "no"))
			inifile_refuse(file, file->line, "%s must be yes or no", name);
		else if (k->flag)
			*k->flag = !strcmp(value, "yes");
		else if (strlen(value) >= k->size)
			inifile_refuse(file, file->line, "%s is longer than %zu bytes", name,
				       k->size - 1);
		else
			strcpy(k->at, value);
		return;
	}
	inifile_refuse(file, file->line, "there is no key '%s'", name);
}

static bool read_conf(struct parsed *p, const char *path)
{
	struct inifile file = {
		.key = take_key, .complain = complain_of_line, .arg = p, .forms = "KEY = VALUE",
	};

	p->path = path ? path : CONFIG;
	if (!path && access(CONFIG, F_OK))
		return true;
	return !inifile_load(&file, p->path, CONFIG_MAX) && !file.refused;
}

/* --- the command line --------------------------------------------------------------------- */

static const struct option conf_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "listen", required_argument, NULL, 0 },
	{ "control", required_argument, NULL, 1 },
	{ "tls-cert", required_argument, NULL, 2 },
	{ "tls-key", required_argument, NULL, 3 },
	{ "users", required_argument, NULL, 4 },
	{ "hosts", required_argument, NULL, 5 },
	{ "allow-changes", no_argument, NULL, 6 },
	{ "check", no_argument, NULL, 'k' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* Takes an option of the command line. Return: -1, or the status to exit with. */
static int take_web_option(struct parsed *p, int option)
{
	struct key *k;

	switch (option) {
	case 'c':
		return -1;
	case 'k':
		p->conf->check = true;
		return -1;
	case '?':
		return fail_conf("'fabricweb --help' lists the options");
	}
	k = &p->key[option];
	if (k->flag)
		*k->flag = true;
	else if (strlen(optarg) < k->size)
		strcpy(k->at, optarg);
	else
		return fail_conf("--%s is longer than %zu bytes", k->option, k->size - 1);
	return -1;
}

/* Prints what needs no configuration. Return: -1, or the status to exit with. */
static int answer_option(int option)
{
	if (option == 'h')
		fputs(conf_help, stdout);
	else if (option == 'v')
		puts("fabricweb " TORUS_VERSION);
	else
		return -1;
	return 0;
}

/*
 * Finds the option --config, and ends at options that need no configuration.
 *
 * @path: gets the file that the command line names, or NULL
 * Return: -1, or the status to exit with.
 */
static int find_config(int argc, char **argv, const char **path)
{
	int option, status = -1;

	opterr = 0;
	*path = NULL;
	while (status < 0 && (option = getopt_long(argc, argv, "", conf_options, NULL)) != -1) {
		if (option == 'c')
			*path = optarg;
		if (option == '?')
			break;
		status = answer_option(option);
	}
	optind = opterr = 1;
	return status;
}

/* Adds the names of this host that need not be configured. */
static void complete_hosts(struct conf *c, const char *given)
{
	char own[HOST_NAME_MAX + 1] = "";

	gethostname(own, sizeof(own) - 1);
	snprintf(c->hosts, sizeof(c->hosts), "localhost %s %s", own, given);
}

/* Checks the options against each other. Return: -1, or the status to exit with. */
static int check_conf(struct conf *c)
{
	const char *port = strrchr(c->listen, ':');

	c->address_len = sizeof(c->address);
	if (!port || port[1 + strspn(port + 1, "0123456789")] ||
	    evutil_parse_sockaddr_port(c->listen, (struct sockaddr *)&c->address,
				       &c->address_len) ||
	    !((struct sockaddr_in *)&c->address)->sin_port)
		return fail_conf("listen '%s': write an address and a port, "
				 "as " LISTEN " or [::1]:7180", c->listen);
	if (!*c->tls_cert != !*c->tls_key)
		return fail_conf("tls_cert and tls_key go together");
	if (c->allow_changes && !*c->users)
		return fail_conf("allow_changes needs users, so that each change has a name");
	return -1;
}

int conf_take(struct conf *conf, int argc, char **argv)
{
	const char *path;
	struct parsed p;
	int option, status = find_config(argc, argv, &path);

	if (status >= 0)
		return status;
	memset(conf, 0, sizeof(*conf));
	memset(&p, 0, sizeof(p));
	strcpy(conf->listen, LISTEN);
	strcpy(conf->control, CONTROL);
	list_keys(&p, conf);
	if (!read_conf(&p, path))
		return 2;
	while (status < 0 && (option = getopt_long(argc, argv, "", conf_options, NULL)) != -1)
		status = take_web_option(&p, option);
	if (status >= 0)
		return status;
	if (optind < argc)
		return fail_conf("'%s': there is no such argument", argv[optind]);
	complete_hosts(conf, p.hosts);
	return check_conf(conf);
}

bool conf_is_open(const struct conf *conf)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&conf->address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&conf->address;

	if (in->sin_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 != 127;
	return !IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}
