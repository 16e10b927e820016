// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <float.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/address.h"
#include "daemon/config.h"
#include "daemon/history.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/service_network.h"
#include "lib/util/inifile.h"
#include "lib/util/units.h"

/** struct reading - state of parsing a configuration file */
struct reading {
	struct config *c;
	struct inifile file;
	/* the only error so far: this host has no address in service_network */
	bool no_address;
};

/**
 * struct key - a key of the file
 * @set: stores a value. Return: 0, or -EINVAL: @allowed describes the values allowed
 * @get: writes the value as text, in the form that @set takes
 * @at: offset of the value in struct config @lo, @hi: smallest and largest value allowed
 */
struct key {
	const char *section;
	const char *name;
	int (*set)(struct config *c, const struct key *key, const char *value);
	void (*get)(const struct config *c, const struct key *key, char *text);
	size_t at;
	uint64_t lo;
	uint64_t hi;
	const char *allowed;
};

static int set_own_name(struct config *c, const struct key *key, const char *value)
{
	size_t n = strlen(value);

	if (!n || n > key->hi)
		return -EINVAL;
	if (strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "0123456789._-") != n)
		return -EINVAL;
	memcpy((char *)c + key->at, value, n + 1);
	return 0;
}

static int set_path(struct config *c, const struct key *key, const char *value)
{
	size_t n = strlen(value);

	if (value[0] != '/' || n > key->hi)
		return -EINVAL;
	memcpy((char *)c + key->at, value, n + 1);
	return 0;
}

static int set_path_or_none(struct config *c, const struct key *key, const char *value)
{
	if (strcmp(value, "none"))
		return set_path(c, key, value);
	strcpy((char *)c + key->at, value);
	return 0;
}

static void get_text_key(const struct config *c, const struct key *key, char *text)
{
	snprintf(text, CONFIG_TEXT_MAX, "%s", (const char *)c + key->at);
}

static void get_state_dir(const struct config *c, const struct key *key, char *text)
{
	const char *dir = config_state_dir(c);

	(void)key;
	snprintf(text, CONFIG_TEXT_MAX, "%s", dir ? dir : "none");
}

static int set_arbiter(struct config *c, const struct key *key, const char *value)
{
	c->fm.arbiter = strcmp(value, "none");
	c->arbiter[0] = '\0';
	if (!c->fm.arbiter)
		return 0;
	return strpbrk(value, " \t") ? -EINVAL : set_path(c, key, value);
}

static void get_arbiter(const struct config *c, const struct key *key, char *text)
{
	(void)key;
	snprintf(text, CONFIG_TEXT_MAX, "%s", c->fm.arbiter ? c->arbiter : "none");
}

static int set_switch(struct config *c, const struct key *key, const char *value)
{
	bool on = !strcmp(value, "on");

	if (!on && strcmp(value, "off"))
		return -EINVAL;
	*(bool *)((char *)c + key->at) = on;
	return 0;
}

static void get_switch(const struct config *c, const struct key *key, char *text)
{
	strcpy(text, *(const bool *)((const char *)c + key->at) ? "on" : "off");
}

static int set_size(struct config *c, const struct key *key, const char *value)
{
	uint64_t v;

	if (size_parse(value, &v) || v < key->lo || v > key->hi)
		return -EINVAL;
	*(uint64_t *)((char *)c + key->at) = v;
	return 0;
}

static void get_size(const struct config *c, const struct key *key, char *text)
{
	uint64_t v = *(const uint64_t *)((const char *)c + key->at);
	unsigned int unit = 0;

	while (unit < 3 && v && !(v & 1023)) {
		v >>= 10;
		unit++;
	}
	snprintf(text, CONFIG_TEXT_MAX, "%" PRIu64 "%.1s", v, unit ? &"KMG"[unit - 1] : "");
}

static int set_shape(struct config *c, const struct key *key, const char *value)
{
	(void)key;
	memset(&c->fm.shape, 0, sizeof(c->fm.shape));
	if (!strcmp(value, "auto"))
		return 0;
	return torus_shape_parse(value, &c->fm.shape) ? -EINVAL : 0;
}

static void get_shape_key(const struct config *c, const struct key *key, char *text)
{
	(void)key;
	if (c->fm.shape.ndims)
		torus_shape_text(&c->fm.shape, text);
	else
		strcpy(text, "auto");
}

static int set_plan4(struct config *c, const struct key *key, const char *value)
{
	(void)key;
	c->fm.plan_given |= FM_PLAN4;
	return torus_plan_parse4(value, &c->fm.plan);
}

static void get_plan4(const struct config *c, const struct key *key, char *text)
{
	(void)key;
	torus_plan_text4(&c->fm.plan, text);
}

static int set_plan6(struct config *c, const struct key *key, const char *value)
{
	(void)key;
	c->fm.plan_given |= FM_PLAN6;
	return torus_plan_parse6(value, &c->fm.plan);
}

static void get_plan6(const struct config *c, const struct key *key, char *text)
{
	(void)key;
	torus_plan_text6(&c->fm.plan, text);
}

static int set_device(struct config *c, const struct key *key, const char *value)
{
	bool unix_ = !strncmp(value, "unix:/", 6) && value[6];
	bool genl = !strncmp(value, "genl:", 5) && value[5];

	if ((!unix_ && !genl && strcmp(value, "auto")) || strlen(value) > key->hi)
		return -EINVAL;
	memcpy(c->device, value, strlen(value) + 1);
	return 0;
}

/*
 * Return: true if @a is the address of one host (no wildcard and no multicast address), so that
 * other nodes can connect to it.
 */
static bool of_one_host(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr != INADDR_ANY && ntohl(a4->sin_addr.s_addr) >> 28 < 14;
	return !IN6_IS_ADDR_UNSPECIFIED(&a6->sin6_addr) && !IN6_IS_ADDR_MULTICAST(&a6->sin6_addr);
}

static int set_address_key(struct config *c, const struct key *key, const char *value)
{
	struct sockaddr_storage a;
	socklen_t len;

	(void)key;
	if (address_parse(value, &a, &len) || !of_one_host(&a))
		return -EINVAL;
	address_text(&a, c->fm.address);
	return 0;
}

static int set_network(struct config *c, const struct key *key, const char *value)
{
	struct prefix p;

	if (strlen(value) > key->hi || prefix_parse(value, &p))
		return -EINVAL;
	if (p.family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)p.bytes))
		return -EINVAL;
	memcpy(c->network, value, strlen(value) + 1);
	return 0;
}

static int set_group(struct config *c, const struct key *key, const char *value)
{
	bool jobs = !strcmp(key->name, "job_group");
	char *name = jobs ? c->job_group : c->control_group;
	struct group *g;

	if (!*value) {
		name[0] = '\0';
		return 0;
	}
	g = getgrnam(value);
	if (!g || strlen(value) > key->hi)
		return -EINVAL;
	*(jobs ? &c->job_gid : &c->control_gid) = g->gr_gid;
	memcpy(name, value, strlen(value) + 1);
	return 0;
}

static int set_level(struct config *c, const struct key *key, const char *value)
{
	(void)key;
	return log_level_parse(value, &c->level);
}

static void get_level(const struct config *c, const struct key *key, char *text)
{
	(void)key;
	strcpy(text, log_level_name(c->level));
}

static int set_count(struct config *c, const struct key *key, const char *value)
{
	uint64_t v;

	if (number_parse(value, key->lo, key->hi, &v))
		return -EINVAL;
	*(unsigned int *)((char *)c + key->at) = (unsigned int)v;
	return 0;
}

static void get_count(const struct config *c, const struct key *key, char *text)
{
	snprintf(text, CONFIG_TEXT_MAX, "%u", *(const unsigned int *)((const char *)c + key->at));
}

static int set_priority(struct config *c, const struct key *key, const char *value)
{
	if (strcmp(value, "auto"))
		return set_count(c, key, value);
	c->fm.priority = FM_PRIORITY_AUTO;
	return 0;
}

static void get_priority(const struct config *c, const struct key *key, char *text)
{
	if (c->fm.priority == FM_PRIORITY_AUTO)
		strcpy(text, "auto");
	else
		get_count(c, key, text);
}

static int set_duration(struct config *c, const struct key *key, const char *value)
{
	return time_parse(value, key->lo, key->hi, (uint64_t *)((char *)c + key->at));
}

static int set_time_or_none(struct config *c, const struct key *key, const char *value)
{
	if (strcmp(value, "none"))
		return set_duration(c, key, value);
	*(uint64_t *)((char *)c + key->at) = 0;
	return 0;
}

static void get_duration(const struct config *c, const struct key *key, char *text)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { SEC, "s" }, { MS, "ms" }, { US, "us" }, { 1, "ns" } };
	uint64_t v = *(const uint64_t *)((const char *)c + key->at);
	unsigned int i = 0;

	while (v % units[i].ns)
		i++;
	snprintf(text, CONFIG_TEXT_MAX, "%" PRIu64 "%s", v / units[i].ns, units[i].name);
}

static void get_time_or_none(const struct config *c, const struct key *key, char *text)
{
	if (*(const uint64_t *)((const char *)c + key->at))
		get_duration(c, key, text);
	else
		strcpy(text, "none");
}

/* Reads a bit error rate, or "none", which means 0. */
static int set_ber(struct config *c, const struct key *key, const char *value)
{
	uint64_t v = 0;

	if (strcmp(value, "none") && (rate_parse(value, &v) || v < key->lo || v > key->hi))
		return -EINVAL;
	*(double *)((char *)c + key->at) = (double)v / (double)TORUS_BER_ONE;
	return 0;
}

/* Writes the fewest digits that give the value exactly. */
static void get_ber(const struct config *c, const struct key *key, char *text)
{
	double v = *(const double *)((const char *)c + key->at), read;

	if (!(v > 0)) {
		strcpy(text, "none");
		return;
	}
	for (int digits = 6; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(text, CONFIG_TEXT_MAX, "%.*g", digits, v);
		if (sscanf(text, "%lf", &read) == 1 && !(read < v || read > v))
			break;
	}
}

#define AT(member) offsetof(struct config, member)
#define BER_MIN 1000ull		/* least bit error rate, in units of 1e-18 */
#define BER_MAX 10000000000000000ull
#define BER_RULE "1e-15 to 1e-2, or none"
#define NAME_RULE "1 to 63 letters, digits, '.', '_' or '-'"
#define TIME_KEY(key, min, max, text) \
	{ "timers", #key, set_duration, get_duration, AT(fm.key), min, max, \
	  text " (units ns, us, ms, s, min)" }

static const struct key keys[] = {
	{ "", "fabric", set_own_name, get_text_key, AT(fm.fabric), 1, TORUS_NAME_MAX, NAME_RULE },
	{ "", "name", set_own_name, get_text_key, AT(fm.name), 1, TORUS_NAME_MAX, NAME_RULE },
	{ "", "shape", set_shape, get_shape_key, 0, 0, 0,
	  "auto, or 1 to 6 sizes such as 4x4x2, each 1 to 4096" },
	{ "", "address4", set_plan4, get_plan4, 0, 0, 0,
	  "an IPv4 prefix such as 10.0.0.0/8 or 192.168.0.0/16, without bits after its length, and "
	  "with no address of 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16 or 224.0.0.0/3" },
	{ "", "address6", set_plan6, get_plan6, 0, 0, 0,
	  "an IPv6 prefix such as fd74:6f72::/32 or fd00:1:2:3::/64, without bits after its "
	  "length, and with no address of ::/8, fe80::/10 or ff00::/8" },
	{ "", "device", set_device, get_text_key, AT(device), 0, CONFIG_PATH_MAX,
	  "auto, unix:/PATH (at most 102 bytes) or genl:NAME" },
	{ "", "service_address", set_address_key, get_text_key, AT(fm.address), 0, 0,
	  "IP:PORT of one host, such as 172.16.0.3:7117 or [fd00::3]:7117" },
	{ "", "service_network", set_network, get_text_key, AT(network), 0, CONFIG_PATH_MAX - 1,
	  "a network such as 172.16.0.0/16 or fd00::/64, not of link-local addresses, without bits "
	  "after its length" },
	{ "", "service_port", set_count, get_count, AT(port), 1, 65535, "1 to 65535" },
	{ "", "service_loopback", set_switch, get_switch, AT(loopback), 0, 0, "on or off" },
	{ "", "key_file", set_path, get_text_key, AT(key_file), 0, CONFIG_PATH_MAX - 1,
	  "an absolute path of at most 107 bytes" },
	{ "", "control", set_path, get_text_key, AT(control), 0, CONFIG_PATH_MAX - 1,
	  "an absolute path of at most 107 bytes" },
	{ "", "state_dir", set_path_or_none, get_state_dir, AT(state_dir), 0, CONFIG_PATH_MAX - 1,
	  "an absolute path of at most 107 bytes, or none" },
	{ "", "history", set_switch, get_switch, AT(history), 0, 0, "on or off" },
	{ "", "history_bytes", set_size, get_size, AT(history_bytes), HISTORY_BYTES_MIN,
	  HISTORY_BYTES_MAX,
	  "1M to 1G: bytes, or with K, M or G" },
	{ "", "arbiter", set_arbiter, get_arbiter, AT(arbiter), 0, CONFIG_PATH_MAX - 1,
	  "none, or the absolute path of a program, at most 107 bytes, without arguments" },
	{ "", "control_group", set_group, get_text_key, AT(control_group), 0,
	  sizeof(((struct config *)0)->control_group) - 1,
	  "the name of a group of this system, or nothing" },
	{ "", "job_group", set_group, get_text_key, AT(job_group), 0,
	  sizeof(((struct config *)0)->job_group) - 1,
	  "the name of a group of this system, or nothing" },
	{ "", "log_level", set_level, get_level, 0, 0, 0, "error, warning, info or debug" },
	{ "", "fanout", set_count, get_count, AT(fm.fanout), 1, 64, "1 to 64" },
	{ "", "root_priority", set_priority, get_priority, AT(fm.priority), 0, FM_PRIORITY_MAX,
	  "0 (never root) to 255, or auto" },
	{ "", "flap_limit", set_count, get_count, AT(fm.flap_limit), 0, 1000, "0 (never) to 1000" },
	TIME_KEY(init_interval, 1 * MS, 60 * SEC, "1ms to 60s"),
	TIME_KEY(quiet, 1 * MS, 600 * SEC, "1ms to 10min"),
	TIME_KEY(resend, 1 * MS, 60 * SEC, "1ms to 60s"),
	TIME_KEY(drain_max, 1 * MS, 600 * SEC, "1ms to 10min"),
	TIME_KEY(resolve_max, 1 * MS, 600 * SEC, "1ms to 10min"),
	TIME_KEY(member_max, 10 * MS, 3600 * SEC, "10ms to 60min"),
	TIME_KEY(keepalive, 10 * MS, 600 * SEC, "10ms to 10min"),
	TIME_KEY(takeover, 10 * MS, 60 * SEC, "10ms to 60s"),
	{ "timers", "arbiter_max", set_duration, get_duration, AT(arbiter_max), 10 * MS, 60 * SEC,
	  "10ms to 60s (units ns, us, ms, s, min)" },
	TIME_KEY(flap_half_life, 10 * MS, 3600 * SEC, "10ms to 60min"),
	TIME_KEY(hold_max, 10 * MS, 3600 * SEC, "10ms to 60min"),
	{ "timers", "stall_max", set_time_or_none, get_time_or_none, AT(stall_max), 2 * SEC,
	  3600 * SEC,
	  "2s to 60min (units ns, us, ms, s, min), or none" },
	{ "links", "warn_ber", set_ber, get_ber, AT(quality.warn_ber), BER_MIN, BER_MAX, BER_RULE },
	{ "links", "fail_ber", set_ber, get_ber, AT(quality.fail_ber), BER_MIN, BER_MAX, BER_RULE },
	{ "links", "errors_min", set_count, get_count, AT(quality.errors_min), 5, 1000000,
	  "5 to 1000000" },
	{ "links", "clean_for", set_duration, get_duration, AT(quality.clean_for), 1 * SEC,
	  86400 * SEC,
	  "1s to 24h (units ns, us, ms, s, min, h)" },
	{ "links", "round_trip_max", set_time_or_none, get_time_or_none, AT(round_trip_max),
	  10 * US, 10 * SEC,
	  "10us to 10s (units ns, us, ms, s, min), or none" },
	{ "links", "out_of_service", set_count, get_count, AT(out_of_service), 0, 1000,
	  "0 (none) to 1000 links" },
};
#undef AT

_Static_assert(sizeof(keys) / sizeof(keys[0]) <= CONFIG_KEYS, "struct config has too few lines");
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static bool section_known(const char *section)
{
	for (unsigned int i = 0; i < NKEYS; i++)
		if (!strcmp(section, keys[i].section))
			return true;
	return false;
}

static void refuse_unknown(struct inifile *file, const char *section, const char *name)
{
	char allowed[384] = "";
	size_t n = 0;

	if (!section_known(section)) {
		inifile_refuse(file, file->line, "unknown section [%s]; known: [timers], [links], "
			       "and keys before any section", section);
		return;
	}
	for (unsigned int i = 0; i < NKEYS; i++)
		if (!strcmp(section, keys[i].section) && n < sizeof(allowed))
			n += (size_t)snprintf(allowed + n, sizeof(allowed) - n, "%s%s",
					      n ? ", " : "", keys[i].name);
	inifile_refuse(file, file->line, "unknown key '%s'%s%s%s; known: %s", name,
		       *section ? " in [" : "", section, *section ? "]" : "", allowed);
}

static void on_config_key(struct inifile *file, const char *section, const char *name,
			  const char *value)
{
	struct reading *r = (struct reading *)((char *)file - offsetof(struct reading, file));

	for (unsigned int i = 0; i < NKEYS; i++) {
		if (strcmp(section, keys[i].section) || strcmp(name, keys[i].name))
			continue;
		if (r->c->line[i])
			inifile_refuse(file, file->line, "'%s' is given twice, first in line %u",
				       name, r->c->line[i]);
		else if (keys[i].set(r->c, &keys[i], value))
			inifile_refuse(file, file->line, "%s is '%s', must be %s", name, value,
				       keys[i].allowed);
		r->c->line[i] = file->line;
		return;
	}
	refuse_unknown(file, section, name);
}

/* Return: the number of the line that sets the key; 0 if no line sets it. */
static unsigned int find_key_line(const struct config *c, const char *name)
{
	for (unsigned int i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].name, name))
			return c->line[i];
	return 0;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&a6->sin6_addr);
}

/* Return: true if the first @bits of two addresses are the same. */
static bool are_bits_same(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

/*
 * Return: true if @a is in a prefix of torus0. A service address must not be in it, because packets
 * to such an address need the routes that this manager has yet to make.
 */
static bool is_of_torus(const struct torus_plan *plan, const struct sockaddr_storage *a)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return are_bits_same((const uint8_t *)&a4->sin_addr, plan->net4, plan->len4);
	return are_bits_same(a6->sin6_addr.s6_addr, plan->net6, plan->len6);
}

/*
 * Finds the address of this host in service_network; refuses service_network if this host has no
 * address in it.
 */
static void find_address(struct reading *r, unsigned int line)
{
	struct config *c = r->c;
	struct ifaddrs *list = NULL;
	struct sockaddr_storage a;
	struct prefix p;
	char text[256];
	int err;

	if (prefix_parse(c->network, &p))
		return;		/* an error was reported already */
	err = getifaddrs(&list) ? -errno : service_network_find(&p, list, &a, text, sizeof(text));
	if (list)
		freeifaddrs(list);
	if (err == -EADDRNOTAVAIL) {
		r->no_address = !r->file.refused;
		inifile_refuse(&r->file, line,
			       "service_network is '%s', but this host has no address "
			       "in it (yet); its addresses are: %s", c->network, text);
	} else if (err == -ENOTUNIQ) {
		inifile_refuse(&r->file, line,
			       "service_network is '%s', and several addresses of this "
			       "host are in it: %s; must be a network that has one of them, such "
			       "as one address with its whole length, or service_address in its "
			       "place",
			       c->network, text);
	} else if (err) {
		inifile_refuse(&r->file, line,
			       "service_network: the addresses of this host cannot be "
			       "read: %s", strerror(-err));
	} else {
		if (a.ss_family == AF_INET)
			((struct sockaddr_in *)&a)->sin_port = htons((uint16_t)c->port);
		else
			((struct sockaddr_in6 *)&a)->sin6_port = htons((uint16_t)c->port);
		address_text(&a, c->fm.address);
	}
}

static unsigned int address_port(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET ? ((const struct sockaddr_in *)a)->sin_port :
					       ((const struct sockaddr_in6 *)a)->sin6_port);
}

/* Refuses an address by which no other node could reach this one. */
static void judge_address(struct reading *r, unsigned int line, const char *key,
			  const struct sockaddr_storage *a)
{
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	if (is_of_torus(&r->c->fm.plan, a))
		inifile_refuse(&r->file, line, "%s is '%s', but %s and "
			       "%s are the torus itself: must be an address of "
			       "another network, the service network", key, r->c->fm.address,
			       torus_plan_text4(&r->c->fm.plan, v4),
			       torus_plan_text6(&r->c->fm.plan, v6));
	else if (is_loopback(a) && !r->c->loopback)
		inifile_refuse(&r->file, line, "%s is '%s', and no other host can "
			       "reach that: must be an address of the service network, or, if "
			       "all nodes are on this host, 'service_loopback = on' beside it",
			       key, r->c->fm.address);
}

static void take_service_address(struct reading *r)
{
	unsigned int line = find_key_line(r->c, "service_address");
	unsigned int net = find_key_line(r->c, "service_network");
	unsigned int port = find_key_line(r->c, "service_port");
	struct sockaddr_storage a;
	socklen_t len;

	if (line && net) {
		inifile_refuse(&r->file, net > line ? net : line,
			       "service_address and service_network are "
			       "both given, in line %u and here: give one of them",
			       net > line ? line : net);
		return;
	}
	if (!line && !net) {
		inifile_refuse(&r->file, 0,
			       "service_address is missing: the IP:PORT to listen on; or "
			       "service_network, a network that has one address of this host");
		return;
	}
	if (net)
		find_address(r, net);
	if (!r->c->fm.address[0] || address_parse(r->c->fm.address, &a, &len))
		return;		/* an error was reported already */
	judge_address(r, line ? line : net, net ? "the address found by service_network" :
		      "service_address", &a);
	if (line && port && r->c->port != address_port(&a))
		inifile_refuse(&r->file, port,
			       "service_port is '%u', but service_address in line %u has "
			       "another port: it is for service_network", r->c->port, line);
	r->c->port = address_port(&a);
}

void config_default(struct config *c)
{
	memset(c, 0, sizeof(*c));
	fm_config_default(&c->fm);
	snprintf(c->fm.fabric, sizeof(c->fm.fabric), "torus");
	if (gethostname(c->fm.name, sizeof(c->fm.name) - 1) || !c->fm.name[0])
		snprintf(c->fm.name, sizeof(c->fm.name), "localhost");
	snprintf(c->device, sizeof(c->device), "auto");
	snprintf(c->key_file, sizeof(c->key_file), "/etc/fabricd.key");
	snprintf(c->control, sizeof(c->control), "/run/fabricd/control");
	torus_plan_default(&c->fm.plan);
	c->port = 7117;
	c->history = true;
	c->history_bytes = 64 << 20;
	c->stall_max = 10 * SEC;
	quality_rules_default(&c->quality);
	c->round_trip_max = 8 * MS;
	c->arbiter_max = 1 * SEC;
	c->level = FM_INFO;
}

/*
 * Checks that warn_ber is not above fail_ber: a link that is bad enough to be excluded must be
 * reported, too.
 */
static void judge_rates(struct reading *r)
{
	unsigned int warn = find_key_line(r->c, "warn_ber"), fail = find_key_line(r->c, "fail_ber");
	const struct quality_rules *q = &r->c->quality;

	if (q->warn_ber > 0 && q->fail_ber > 0 && q->warn_ber > q->fail_ber)
		inifile_refuse(&r->file, warn > fail ? warn : fail, "warn_ber is %g, and more than "
			       "fail_ber, %g", q->warn_ber, q->fail_ber);
}

/* Refuses a prefix for the nodes' addresses that does not have enough addresses for all nodes. */
static void judge_room(struct reading *r, const char *key, bool holds, const char *prefix,
		       unsigned int bits)
{
	char shape[TORUS_TEXT_MAX];

	if (!holds)
		inifile_refuse(&r->file, find_key_line(r->c, key),
			       "%s is '%s', too few addresses for "
			       "shape %s: must be a prefix of at most /%u", key, prefix,
			       torus_shape_text(&r->c->fm.shape, shape),
			       torus_plan_longest(&r->c->fm.shape, bits));
}

/*
 * Refuses a prefix for the nodes' addresses, set in the file, that includes addresses of the
 * service network.
 */
static void judge_overlap(struct reading *r, const char *key, const char *prefix,
			  const uint8_t *net, unsigned int len, int family)
{
	unsigned int line = find_key_line(r->c, key);
	struct prefix p;

	if (line && r->c->network[0] && !prefix_parse(r->c->network, &p) && p.family == family &&
	    are_bits_same(net, p.bytes, len < p.bits ? len : p.bits))
		inifile_refuse(&r->file, line,
			       "%s is '%s', and service_network, '%s', has some of its "
			       "addresses: must be a prefix that has none of that network", key,
			       prefix, r->c->network);
}

static void judge_plan(struct reading *r)
{
	const struct torus_plan *plan = &r->c->fm.plan;
	const struct torus_shape *shape = &r->c->fm.shape;
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	torus_plan_text4(plan, v4);
	torus_plan_text6(plan, v6);
	if (shape->ndims) {
		judge_room(r, "address4", torus_plan_holds4(plan, shape), v4, 32);
		judge_room(r, "address6", torus_plan_holds6(plan, shape), v6, 128);
	}
	judge_overlap(r, "address4", v4, plan->net4, plan->len4, AF_INET);
	judge_overlap(r, "address6", v6, plan->net6, plan->len6, AF_INET6);
}

/*
 * Checks the values against each other after the file was read. @err: the error of reading the
 * file, or 0. Return: as config_load()
 */
static int end_reading(struct reading *r, int err)
{
	if (!err) {
		judge_plan(r);
		take_service_address(r);
		judge_rates(r);
	}
	if (err || !r->file.refused)
		return err;
	return r->no_address ? -EADDRNOTAVAIL : -EINVAL;
}

#define READING(config, tell, tell_arg) { \
	.c = (config), \
	.file = { \
		.key = on_config_key, .complain = (tell), .arg = (tell_arg), \
		.forms = "'key = value', '[timers]', '[links]', '# comment'", \
	}, \
}

int config_parse(struct config *c, const char *text, size_t len,
		 config_complain *tell, void *arg)
{
	struct reading r = READING(c, tell, arg);

	inifile_parse(&r.file, text, len);
	return end_reading(&r, 0);
}

int config_load(struct config *c, const char *path, config_complain *tell, void *arg)
{
	struct reading r = READING(c, tell, arg);

	config_default(c);
	return end_reading(&r, inifile_load(&r.file, path, CONFIG_SIZE_MAX));
}

void config_reload(struct config *c, const struct config *now)
{
	c->level = now->level;
	c->fm.plan = now->fm.plan;
	c->fm.plan_given = now->fm.plan_given;
	for (unsigned int i = 0; i < NKEYS; i++)
		if (keys[i].set == set_level || keys[i].set == set_plan4 ||
		    keys[i].set == set_plan6)
			c->line[i] = now->line[i];
}

const char *config_state_dir(const struct config *c)
{
	const char *dir = c->state_dir[0] ? c->state_dir : getenv("STATE_DIRECTORY");

	return dir && *dir && strcmp(dir, "none") ? dir : NULL;
}

static enum config_source find_source(const struct config *c, const struct key *key,
				      unsigned int line)
{
	if (line)
		return CONFIG_FILE;
	if (key->get == get_state_dir && config_state_dir(c))
		return CONFIG_ENVIRONMENT;
	return key->set == set_address_key && c->network[0] ? CONFIG_NETWORK : CONFIG_DEFAULT;
}

bool config_value(const struct config *c, unsigned int i, struct config_value *v)
{
	const struct key *key = &keys[i];

	if (i >= NKEYS)
		return false;
	*v = (struct config_value) {
		.section = key->section,
		.name = key->name,
		.line = c->line[i],
	};
	v->source = find_source(c, key, v->line);
	key->get(c, key, v->text);
	return true;
}
