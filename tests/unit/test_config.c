// SPDX-License-Identifier: GPL-2.0-only
/* The configuration: valid files are read, and errors are reported with their line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/config.h"
#include "daemon/config_dump.h"
#include "daemon/service_network.h"
#include "daemon/loop.h"

#define NEEDED "service_address = 172.16.0.3:7117\n"

/** struct received - the errors reported about one file */
struct received {
	unsigned int n;
	unsigned int line;	/* line of the first error */
	char text[512];
};

static void collect_error(void *arg, unsigned int line, const char *text)
{
	struct received *h = arg;

	if (h->n++)
		return;
	h->line = line;
	snprintf(h->text, sizeof(h->text), "%s", text);
}

static int parse(struct config *c, const char *text, struct received *h)
{
	memset(h, 0, sizeof(*h));
	config_default(c);
	return config_parse(c, text, strlen(text), collect_error, h);
}

static void right_file_sets_each_value(void **state)
{
	struct config c;
	struct received h;

	(void)state;
	assert_int_equal(parse(&c, "# a comment\n"
			       "fabric = green\n"
			       "name=node-1.a_b\n"
			       "  shape = 4x3x2  \n"
			       "device = unix:/run/torus/x.nic ; why\n"
			       "service_address = [fd00::0003]:7117\n"
			       "key_file = /k\ncontrol = /c\nstate_dir = /s\ncontrol_group = "
			       "daemon\n"
			       "arbiter = /lib/arbiter\n"
			       "log_level = debug\nfanout = 64\nflap_limit = 0\nroot_priority = 7\n"
			       "[timers]\ninit_interval = 1ms\nquiet = 2 s\nresend = 1500us\n"
			       "drain_max = 1min\nflap_half_life = 2s\nhold_max = 5min\ntakeover = "
			       "1s\narbiter_max = 30ms\n"
			       "[links]\nwarn_ber = none\nfail_ber = 1e-2\nerrors_min = 5\n"
			       "clean_for = 24h\nround_trip_max = 250us\nout_of_service = 1000", &h), 0);
	assert_int_equal(h.n, 0);
	assert_string_equal(c.fm.fabric, "green");
	assert_string_equal(c.fm.name, "node-1.a_b");
	assert_int_equal(c.fm.shape.ndims, 3);
	assert_int_equal(c.fm.shape.size[1], 3);
	assert_string_equal(c.device, "unix:/run/torus/x.nic");
	assert_string_equal(c.fm.address, "[fd00::3]:7117");
	assert_string_equal(c.key_file, "/k");
	assert_string_equal(c.state_dir, "/s");
	assert_string_equal(c.control, "/c");
	assert_string_equal(c.control_group, "daemon");
	assert_int_equal(c.control_gid, 1);
	assert_int_equal(c.level, FM_DEBUG);
	assert_int_equal(c.fm.fanout, 64);
	assert_int_equal(c.fm.init_interval, MS);
	assert_int_equal(c.fm.quiet, 2 * SEC);
	assert_int_equal(c.fm.resend, 1500 * US);
	assert_int_equal(c.fm.drain_max, 60 * SEC);
	assert_int_equal(c.fm.flap_limit, 0);
	assert_int_equal(c.fm.priority, 7);
	assert_int_equal(c.fm.takeover, SEC);
	assert_int_equal(c.fm.flap_half_life, 2 * SEC);
	assert_int_equal(c.fm.hold_max, 300 * SEC);
	assert_string_equal(c.arbiter, "/lib/arbiter");
	assert_true(c.fm.arbiter);
	assert_int_equal(c.arbiter_max, 30 * MS);
	assert_true(c.quality.warn_ber == 0 && fabs(c.quality.fail_ber - 1e-2) < 1e-12);
	assert_int_equal(c.quality.errors_min, 5);
	assert_int_equal(c.quality.clean_for, 86400 * SEC);
	assert_int_equal(c.round_trip_max, 250 * US);
	assert_int_equal(c.out_of_service, 1000);
	assert_int_equal(parse(&c, NEEDED "arbiter = none\n", &h), 0);
	assert_false(c.fm.arbiter || c.arbiter[0]);
	assert_int_equal(c.arbiter_max, SEC);
	assert_int_equal(parse(&c, NEEDED "control_group =\n", &h), 0);
	assert_string_equal(c.control_group, "");
	assert_int_equal(parse(&c, NEEDED "job_group = daemon\n", &h), 0);
	assert_string_equal(c.job_group, "daemon");
	assert_string_equal(c.control_group, "");
	assert_int_not_equal(c.job_gid, c.control_gid);
	assert_int_equal(parse(&c, NEEDED "job_group =\n", &h), 0);
	assert_string_equal(c.job_group, "");
}

/* Parses @n letters after @before. */
static int parse_long(const char *before, size_t n, struct received *h)
{
	char text[512];
	struct config c;
	size_t at = (size_t)snprintf(text, sizeof(text), NEEDED "%s", before);

	assert_true(at + n < sizeof(text));
	memset(text + at, 'a', n);
	text[at + n] = '\0';
	return parse(&c, text, h);
}

/* Each limit allows its last valid value, and not the next one. */
static void each_limit_is_accepted_and_the_next_value_refused(void **state)
{
	static const struct {
		const char *key, *least, *most, *less, *more;
	} t[] = {
		{ "fanout", "1", "64", "0", "65" },
		{ "flap_limit", "0", "1000", "-1", "1001" },
		{ "root_priority", "0", "255", "-1", "256" },
		{ "root_priority", "auto", "0", "Auto", "" },
		{ "history_bytes", "1M", "1G", "1048575", "1025M" },
		{ "history", "on", "off", "yes", "" },
		{ "[timers]\ninit_interval", "1000us", "1min", "999us", "60000001us" },
		{ "[timers]\narbiter_max", "10ms", "60s", "9999us", "60001ms" },
		{ "[timers]\nquiet", "1ms", "10min", "999us", "600001ms" },
		{ "[timers]\nresend", "1ms", "60s", "999us", "60001ms" },
		{ "[timers]\ndrain_max", "1ms", "600s", "999us", "11min" },
		{ "[timers]\nresolve_max", "1ms", "600s", "999us", "11min" },
		{ "[timers]\nmember_max", "10ms", "60min", "9999us", "3601s" },
		{ "[timers]\nkeepalive", "10ms", "10min", "9ms", "601s" },
		{ "[timers]\nflap_half_life", "10ms", "60min", "9ms", "61min" },
		{ "[timers]\nhold_max", "10ms", "3600s", "9ms", "3601s" },
		{ "[timers]\nstall_max", "2s", "3600s", "1999ms", "3601s" },
		{ "[timers]\nstall_max", "none", "2s", "0", "never" },
		{ "[timers]\ntakeover", "10ms", "60s", "9ms", "61s" },
	};
	static const struct {
		const char *before;
		size_t most;
	} texts[] = {
		{ "fabric = ", 63 }, { "name = ", 63 }, { "key_file = /", 106 },
		{ "control = /", 106 },
		{ "arbiter = /", 106 },
		{ "device = unix:/", 102 }, { "device = genl:", 103 },
	};
	struct config c;
	struct received h;

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *const value[4] = { t[i].least, t[i].most, t[i].less, t[i].more };
		char text[128];

		for (unsigned int k = 0; k < 4; k++) {
			snprintf(text, sizeof(text), NEEDED "%s = %s\n", t[i].key, value[k]);
			if (parse(&c, text, &h) != (k < 2 ? 0 : -EINVAL))
				fail_msg("%s: %s", text, h.text);
		}
	}
	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (parse_long(texts[i].before, texts[i].most, &h))
			fail_msg("%s", h.text);
		assert_int_equal(parse_long(texts[i].before, texts[i].most + 1, &h), -EINVAL);
	}
}

static void missing_keys_have_defaults(void **state)
{
	struct config c;
	struct received h;

	(void)state;
	assert_int_equal(parse(&c, NEEDED, &h), 0);
	assert_string_equal(c.fm.fabric, "torus");
	assert_true(c.fm.name[0]);
	assert_int_equal(c.fm.shape.ndims, 0);
	assert_string_equal(c.device, "auto");
	assert_string_equal(c.control_group, "");
	assert_string_equal(c.job_group, "");
	assert_int_equal(c.level, FM_INFO);
}

/*
 * Reads the defaults that a document states, as lines of a configuration. "needed" and "none" are
 * no values, and the name is that of the host.
 */
static void stated(const char *path, const char *format, const char *timers, const char *links,
		   char *text, size_t size)
{
	char line[256], key[32], value[64];
	FILE *f = fopen(path, "r");
	size_t n = (size_t)snprintf(text, size, NEEDED);

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && n < size)
		if (!strncmp(line, timers, strlen(timers)))
			n += (size_t)snprintf(text + n, size - n, "[timers]\n");
		else if (!strncmp(line, links, strlen(links)))
			n += (size_t)snprintf(text + n, size - n, "[links]\n");
		else if (sscanf(line, format, key, value) == 2 && *value != 'n' &&
			 strcmp(key, "name") && strcmp(key, "control_group") &&
			 strcmp(key, "job_group"))
			n += (size_t)snprintf(text + n, size - n, "%s = %s\n", key, value);
	fclose(f);
	assert_true(n < size);
}

/* A key that is left out has the value of the man page and the example; both have all keys. */
static void defaults_equal_manual_and_example(void **state)
{
	static const struct {
		const char *path, *format, *timers, *links;
	} t[] = {
		{ "daemon/fabricd.conf.5", ".BR %31[a-z_0-9] \" (%63[^)])", ".SH TIMERS",
		  ".SH BAD CABLES" },
		{ "daemon/fabricd.conf", "#%31[a-z_0-9] = %63s", "[timers]", "[links]" },
	};
	unsigned int lines;
	char text[2048];
	struct config c, d;
	struct received h;

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		stated(t[i].path, t[i].format, t[i].timers, t[i].links, text, sizeof(text));
		assert_int_equal(parse(&c, NEEDED, &h), 0);
		if (parse(&d, text, &h))
			fail_msg("%s: %s", t[i].path, h.text);
		lines = 0;
		for (const char *p = text; (p = strchr(p, '\n')); p++)
			lines++;
		assert_int_equal(lines, 3 + 33);	/* NEEDED, [timers], [links], and the keys */
#define SAME(key) if (c.key != d.key) fail_msg("%s: another default of " #key, t[i].path)
		SAME(fm.shape.ndims);
		assert_memory_equal(&c.fm.plan, &d.fm.plan, sizeof(c.fm.plan));
		SAME(fm.fanout);
		SAME(fm.flap_limit);
		SAME(fm.takeover);
		SAME(fm.priority);
		SAME(port);
		SAME(arbiter_max);
		SAME(fm.init_interval);
		SAME(fm.quiet);
		SAME(fm.resend);
		SAME(fm.drain_max);
		SAME(fm.resolve_max);
		SAME(fm.member_max);
		SAME(fm.keepalive);
		SAME(fm.flap_half_life);
		SAME(fm.hold_max);
		SAME(stall_max);
		SAME(quality.errors_min);
		SAME(quality.clean_for);
		SAME(round_trip_max);
		SAME(out_of_service);
		SAME(loopback);
		SAME(history);
		SAME(history_bytes);
		SAME(level);
#undef SAME
		assert_true(fabs(c.quality.warn_ber / d.quality.warn_ber - 1) < 1e-9);
		assert_true(fabs(c.quality.fail_ber / d.quality.fail_ber - 1) < 1e-9);
		assert_string_equal(c.fm.fabric, d.fm.fabric);
		assert_string_equal(c.device, d.device);
		assert_string_equal(c.key_file, d.key_file);
		assert_string_equal(c.control, d.control);
		assert_string_equal(c.state_dir, d.state_dir);
		assert_string_equal(c.arbiter, d.arbiter);
		assert_int_equal(c.arbiter_max, d.arbiter_max);
	}
}

static void each_wrong_line_is_refused_with_its_number(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *says;	/* must be in the error */
	} t[] = {
		{ NEEDED "fabrik = x\n", 2, "'fabrik'; known: fabric, name" },
		{ NEEDED "fabric = a b\n", 2, "'a b', must be 1 to 63 letters" },
		{ NEEDED "fabric =\n", 2, "fabric is ''" },
		{ NEEDED "\n\nfanout = 0\n", 4, "'0', must be 1 to 64" },
		{ NEEDED "fanout = 65\n", 2, "'65', must be 1 to 64" },
		{ NEEDED "fanout = 8x\n", 2, "'8x'" },
		{ NEEDED "fanout = -1\n", 2, "'-1'" },
		{ NEEDED "fanout = 99999999999999999999\n", 2, "99999999999999999999" },
		{ NEEDED "shape = 4x0\n", 2, "'4x0', must be auto" },
		{ NEEDED "shape = 4x4x4x4x4x4x4\n", 2, "1 to 6 sizes" },
		{ NEEDED "shape = 4097\n", 2, "1 to 4096" },
		{ NEEDED "device = eth0\n", 2, "'eth0', must be auto, unix:" },
		{ NEEDED "device = unix:x\n", 2, "'unix:x'" },
		{ NEEDED "key_file = k\n", 2, "an absolute path" },
		{ NEEDED "arbiter = etcd\n", 2, "none, or the absolute path of a program" },
		{ NEEDED "arbiter = /lib/arbiter --fast\n", 2, "without arguments" },
		{ NEEDED "state_dir = nowhere\n", 2,
		  "an absolute path of at most 107 bytes, or none" },
		{ NEEDED "control_group = no-such-group-here\n", 2, "no-such-group-here" },
		{ NEEDED "log_level = loud\n", 2, "error, warning, info or debug" },
		{ NEEDED "fabric = a\nfabric = a\n", 3, "given twice, first in line 2" },
		{ NEEDED "flap_limit = 1001\n", 2, "'1001', must be 0 (never) to 1000" },
		{ NEEDED "[timers]\nhold_max = 0s\n", 3, "'0s', must be 10ms to 60min" },
		{ NEEDED "[timers]\nresend = 5\n", 3, "'5', must be 1ms to 60s" },
		{ NEEDED "[timers]\nresend = 5h\n", 3, "units ns, us, ms, s, min" },
		{ NEEDED "[timers]\nresend = 61s\n", 3, "1ms to 60s" },
		{ NEEDED "[timers]\nresend = 18446744073709551615min\n", 3, "1ms to 60s" },
		{ NEEDED "[timers]\nfabric = a\n", 3,
		  "'fabric' in [timers]; known: init_interval" },
		{ NEEDED "[links]\nwarn_ber = 0\n", 3, "'0', must be 1e-15 to 1e-2, or none" },
		{ NEEDED "[links]\nwarn_ber = 1e-16\n", 3, "'1e-16', must be 1e-15" },
		{ NEEDED "[links]\nfail_ber = 0.5\n", 3, "'0.5', must be 1e-15 to 1e-2" },
		{ NEEDED "[links]\nwarn_ber = 1e-6\n", 3,
		  "warn_ber is 1e-06, and more than fail_ber, 1e-07" },
		{ NEEDED "[links]\nfail_ber = 1e-9\nwarn_ber = 1e-8\n", 4,
		  "warn_ber is 1e-08, and more than fail_ber, 1e-09" },
		{ NEEDED "[links]\nwarn_ber = 1e-8\nfail_ber = 1e-9\n", 4,
		  "warn_ber is 1e-08, and more than fail_ber, 1e-09" },
		{ NEEDED "[links]\nerrors_min = 4\n", 3, "'4', must be 5 to 1000000" },
		{ NEEDED "[links]\nclean_for = 500ms\n", 3, "'500ms', must be 1s to 24h" },
		{ NEEDED "[links]\nout_of_service = yes\n", 3, "'yes', must be 0 (none) to 1000" },
		{ NEEDED "[links]\nwarn_rate = 1e-9\n", 3,
		  "'warn_rate' in [links]; known: warn_ber" },
		{ NEEDED "address4 = 10.0.0.0\n", 2,
		  "address4 is '10.0.0.0', must be an IPv4 prefix" },
		{ NEEDED "address4 = 10.0.0.1/8\n", 2, "'10.0.0.1/8', must be an IPv4 prefix" },
		{ NEEDED "address4 = 10.0.0.0/33\n", 2, "without bits after its length" },
		{ NEEDED "address4 = 127.3.0.0/16\n", 2,
		  "with no address of 0.0.0.0/8, 127.0.0.0/8" },
		{ NEEDED "address4 = 224.0.0.0/8\n", 2, "or 224.0.0.0/3" },
		{ NEEDED "address4 = fd00::/64\n", 2, "'fd00::/64', must be an IPv4 prefix" },
		{ NEEDED "address6 = 10.0.0.0/8\n", 2, "'10.0.0.0/8', must be an IPv6 prefix" },
		{ NEEDED "address6 = fd00::1/64\n", 2, "without bits after its length" },
		{ NEEDED "address6 = ff00::/16\n", 2, "no address of ::/8, fe80::/10 or ff00::/8" },
		{ NEEDED "address6 = ::/16\n", 2, "'::/16'" },
		{ NEEDED "shape = 4x4\naddress4 = 192.168.7.0/29\n", 3,
		  "address4 is '192.168.7.0/29', too few addresses for shape 4x4: must be a prefix "
		  "of at most /28" },
		{ NEEDED "address6 = fd00::/126\nshape = 5\n", 2,
		  "address6 is 'fd00::/126', too few addresses for shape 5: must be a prefix of at "
		  "most /125" },
		{ "address4 = 172.16.0.0/12\nservice_address = 172.16.0.3:7117\n", 2,
		  "'172.16.0.3:7117', but 172.16.0.0/12 and fd74:6f72::/32 are the torus itself" },
		{ "address6 = fd00::/60\nservice_address = [fd00:0:0:f::3]:7117\n", 2,
		  "but 10.0.0.0/8 and fd00::/60 are the torus itself" },
		{ "service_network = 172.16.0.0/16\naddress4 = 172.16.4.0/24\n", 2,
		  "address4 is '172.16.4.0/24', and service_network, '172.16.0.0/16', has some of "
		  "its "
		  "addresses: must be a prefix that has none" },
		{ "address4 = 172.0.0.0/8\nservice_network = 172.16.0.0/16\n", 1,
		  "has some of its" },
		{ "address6 = fd00:1::/32\nservice_network = fd00:1:2::/64\n", 1,
		  "has some of its" },
		{ NEEDED "[timer]\nresend = 1s\n", 3, "section [timer]; known: [timers], [links]" },
		{ NEEDED "nonsense\n", 2, "not understood" },
		{ NEEDED "[timers\n", 2, "not understood" },
		{ "fabric = a\n", 0, "service_address is missing" },
		{ "service_address = 172.16.0.3\n", 1, "IP:PORT" },
		{ "service_address = 172.16.0.3:0\n", 1, "IP:PORT" },
		{ "service_address = 172.16.0.3:65536\n", 1, "IP:PORT" },
		{ "service_address = host:7117\n", 1, "'host:7117'" },
		{ "service_address = 0.0.0.0:7117\n", 1, "'0.0.0.0:7117'" },
		{ "service_address = 224.0.0.1:7117\n", 1, "IP:PORT" },
		{ "service_address = 10.0.0.1:7117\n", 1, "are the torus itself" },
		{ "\nservice_address = 10.255.255.254:1\n", 2,
		  "'10.255.255.254:1', but 10.0.0.0/8" },
		{ "service_address = [fd74:6f72::1]:7117\n", 1, "are the torus itself" },
		{ "service_loopback = on\nservice_address = 10.0.0.1:7117\n", 2,
		  "are the torus itself" },
		{ "service_address = 127.0.0.1:7117\n", 1, "'service_loopback = on' beside it" },
		{ "service_address = 127.255.0.1:7117\nservice_loopback = off\n", 1,
		  "no other host" },
		{ "service_address = [::1]:7117\n", 1, "no other host can reach that" },
		{ "service_address = [::]:7117\n", 1, "'[::]:7117'" },
		{ "fabric = a\n", 0, "or service_network, a network that has one address" },
		{ "service_network = 172.16.0.0\n", 1, "'172.16.0.0', must be a network such as" },
		{ "service_network = 172.16.0.3/16\n", 1, "without bits after its length" },
		{ "service_network = 172.16.0.0/33\n", 1, "'172.16.0.0/33'" },
		{ "service_network = 172.16.0/16\n", 1, "'172.16.0/16'" },
		{ "service_network = fe80::/64\n", 1, "not of link-local addresses" },
		{ "service_network = fd00::/129\n", 1, "'fd00::/129'" },
		{ NEEDED "\nservice_network = 127.0.0.0/8\n", 3,
		  "service_address and service_network are both given, in line 1 and here" },
		{ "service_network = 127.0.0.0/8\n" NEEDED, 2, "both given, in line 1 and here" },
		{ "service_network = 127.0.0.0/8\n", 1,
		  "the address found by service_network is '127.0.0.1:7117', and no other host can "
		  "reach" },
		{ NEEDED "service_port = 0\n", 2, "'0', must be 1 to 65535" },
		{ NEEDED "service_port = 65536\n", 2, "must be 1 to 65535" },
		{ NEEDED "\nservice_port = 7118\n", 3,
		  "service_port is '7118', but service_address in line 1 "
		  "has another port" },
		{ "service_address = [ff02::1]:7117\n", 1, "'[ff02::1]:7117'" },
	};
	struct config c;
	struct received h;

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		if (parse(&c, t[i].text, &h) != -EINVAL || h.line != t[i].line ||
		    !strstr(h.text, t[i].says))
			fail_msg("case %u: line %u: %s", i, h.line, h.text);
	}
}

static void all_errors_are_reported(void **state)
{
	struct config c;
	struct received h;

	(void)state;
	assert_int_equal(parse(&c, NEEDED "fanout = 0\nx = 1\nlog_level = y\n", &h), -EINVAL);
	assert_int_equal(h.n, 3);
}

static void long_lines_and_nul_bytes_are_refused(void **state)
{
	char text[1024] = NEEDED "fabric = ";
	struct config c;
	struct received h;
	size_t n = strlen(text);

	(void)state;
	memset(text + n, 'a', 400);
	assert_int_equal(parse(&c, text, &h), -EINVAL);
	assert_non_null(strstr(h.text, "bytes, must have"));
	assert_int_equal(sscanf(h.text, "the line has %*u bytes, must have at most %zu", &n), 1);
	assert_int_equal(parse_long("#", n - 1, &h), 0);
	assert_int_equal(parse_long("#", n, &h), -EINVAL);
	config_default(&c);
	memset(&h, 0, sizeof(h));
	assert_int_equal(config_parse(&c, "fabric = a\0b\n", 13, collect_error, &h), -EINVAL);
	assert_int_equal(h.line, 1);
	assert_non_null(strstr(h.text, "NUL"));
}

static void file_that_is_missing_or_too_big_is_refused(void **state)
{
	char path[] = "/tmp/test_config.XXXXXX";
	struct received h = { 0 };
	struct config c;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, NEEDED, strlen(NEEDED)), strlen(NEEDED));
	assert_int_equal(config_load(&c, path, collect_error, &h), 0);
	while (lseek(fd, 0, SEEK_END) < CONFIG_SIZE_MAX)
		assert_int_equal(write(fd, "\n", 1), 1);
	assert_int_equal(config_load(&c, path, collect_error, &h), 0);
	assert_int_equal(ftruncate(fd, CONFIG_SIZE_MAX + 1), 0);
	assert_int_equal(config_load(&c, path, collect_error, &h), -EFBIG);
	close(fd);
	unlink(path);
	assert_int_equal(config_load(&c, path, collect_error, &h), -ENOENT);
	assert_int_equal(h.n, 2);
	assert_int_equal(config_load(&c, "/", collect_error, &h), -EISDIR);
	/* The one that is installed lacks what no default is right for. */
	assert_int_equal(config_load(&c, "daemon/fabricd.conf", collect_error, &h), -EINVAL);
	assert_int_equal(h.n, 4);
}

/* Addresses beside refused networks are accepted, and loopback addresses only if configured. */
static void service_address_in_reserved_network_is_refused(void **state)
{
	static const char *const good[] = {
		"service_address = 9.255.255.255:7117\n", "service_address = 11.0.0.1:7117\n",
		"service_address = 126.0.0.1:7117\n", "service_address = 128.0.0.1:7117\n",
		"service_address = [fd74:6f73::1]:7117\n",
		"service_address = [fd74:6f71::1]:7117\n",
		"service_address = 10.0.0.1:7117\naddress4 = 192.168.0.0/16\n",
		"service_address = [fd74:6f72::1]:7117\naddress6 = fd00:1:2:3::/64\n",
		"service_address = 10.0.0.1:7117\naddress4 = 10.0.0.2/31\nshape = 2\n",
		"service_address = [::2]:7117\n",
		"service_loopback = on\nservice_address = 127.0.0.1:7117\n",
		"service_address = [::1]:7117\nservice_loopback = on\n",
	};

	struct received h = { .n = 0 };
	struct config c;

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		config_default(&c);
		assert_int_equal(config_parse(&c, good[i], strlen(good[i]), collect_error, &h), 0);
	}
}

/* Interfaces of a host, for service_network_find(). */
struct host {
	struct ifaddrs at[8];
	struct sockaddr_storage a[8];
	unsigned int n;
};

static void has(struct host *h, const char *interface, const char *address, unsigned int flags)
{
	struct ifaddrs *i = &h->at[h->n];
	socklen_t len;

	*i = (struct ifaddrs) { .ifa_name = (char *)interface, .ifa_flags = flags };
	if (*address) {
		assert_int_equal(address_parse(address, &h->a[h->n], &len), 0);
		i->ifa_addr = (struct sockaddr *)&h->a[h->n];
	}
	if (h->n)
		h->at[h->n - 1].ifa_next = i;
	h->n++;
}

static void finds(const struct host *h, const char *network, int wanted, const char *reported)
{
	char text[256], found[FM_ADDR_MAX];
	struct sockaddr_storage a;
	struct prefix p;
	int err;

	assert_int_equal(prefix_parse(network, &p), 0);
	err = service_network_find(&p, h->at, &a, text, sizeof(text));
	if (err != wanted || strcmp(reported, err ? text : address_text(&a, found)))
		fail_msg("%s: %d, %s", network, err, err ? text : found);
}

/*
 * All hosts have the same configuration: each takes its own address in the service network, unless
 * it has none or several.
 */
static void host_finds_its_one_address_in_service_network(void **state)
{
	struct host h = { .n = 0 };

	(void)state;
	has(&h, "lo", "127.0.0.1:1", IFF_LOOPBACK);
	has(&h, "tun0", "", 0);
	has(&h, "eth0", "172.16.0.3:1", 0);
	has(&h, "eth1", "172.17.255.255:1", 0);
	has(&h, "br0", "172.16.0.3:1", 0);
	has(&h, "eth0", "[fd00:0:0:80::3]:1", 0);
	has(&h, "lo", "[::1]:1", IFF_LOOPBACK);
	finds(&h, "172.16.0.0/16", 0, "172.16.0.3:1");
	finds(&h, "172.16.0.3/32", 0, "172.16.0.3:1");
	finds(&h, "172.16.0.0/15", -ENOTUNIQ, "172.16.0.3 (eth0), 172.17.255.255 (eth1)");
	finds(&h, "0.0.0.0/0", -ENOTUNIQ,
	      "127.0.0.1 (lo), 172.16.0.3 (eth0), 172.17.255.255 (eth1), 172.16.0.3 (br0)");
	finds(&h, "172.16.0.4/30", -EADDRNOTAVAIL,
	      "172.16.0.3 (eth0), 172.17.255.255 (eth1), 172.16.0.3 (br0)");
	finds(&h, "127.0.0.0/8", 0, "127.0.0.1:1");
	finds(&h, "fd00:0:0:80::/57", 0, "[fd00:0:0:80::3]:1");
	finds(&h, "fd00:0:0:80::/58", 0, "[fd00:0:0:80::3]:1");
	finds(&h, "fd00::/56", 0, "[fd00:0:0:80::3]:1");
	finds(&h, "fd00::/57", -EADDRNOTAVAIL, "fd00:0:0:80::3 (eth0)");
	h.n = 1;
	h.at[0].ifa_next = NULL;
	finds(&h, "172.16.0.0/16", -EADDRNOTAVAIL, "none");
}

/* Uses the addresses of this host: it has a loopback, and none in a network that is reserved. */
static void missing_address_in_service_network_is_reported(void **state)
{
	struct config c;
	struct received h;

	(void)state;
	assert_int_equal(parse(&c,
			       "service_network = 127.0.0.1/32\nservice_loopback = on\n"
			       "service_port = 9\n",
			       &h), 0);
	assert_string_equal(c.fm.address, "127.0.0.1:9");
	assert_int_equal(parse(&c, "service_network = 240.0.0.0/4\n", &h), -EADDRNOTAVAIL);
	assert_int_equal(h.line, 1);
	assert_non_null(strstr(h.text,
			       "this host has no address in it (yet); its addresses are: "));
	/* Another error is worse than the missing address: it would not end by itself. */
	assert_int_equal(parse(&c, "service_network = 240.0.0.0/4\nfanout = 0\n", &h), -EINVAL);
	assert_int_equal(parse(&c, NEEDED "service_port = 7117\n", &h), 0);
	assert_int_equal(c.port, 7117);
	assert_int_equal(parse(&c, "service_address = 172.16.0.3:9\n", &h), 0);
	assert_int_equal(c.port, 9);
}

/* Return: what config_print() writes. */
static char *dumped(const struct config *c, bool chosen)
{
	const struct config_run run = { .path = "/f.conf", .chosen = chosen, .record = chosen ?
					"/r" : NULL };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	config_print(f, c, &run);
	fclose(f);
	return text;
}

static void has_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at > text && at[-1] != '\n'))
		fail_msg("there is no '%s' in\n%s", line, text);
}

/* Checks that all values of a dump are read back as they were. */
static void assert_same(const struct config *c, const struct config *d)
{
	struct config_value v, w;

	for (unsigned int i = 0; config_value(c, i, &v); i++) {
		assert_true(config_value(d, i, &w));
		if (strcmp(v.text, w.text))
			fail_msg("%s: '%s' and '%s'", v.name, v.text, w.text);
	}
}

/* The dump has each value with its source, and is a configuration that says the same. */
static void dump_can_be_read_as_configuration(void **state)
{
	static const char text[] =
		"fabric = green\nshape = 4x3x2\ndevice = unix:/x.nic\nstate_dir = /s\nhistory = "
		"off\n"
		"service_address = [fd00::0003]:7118\narbiter = /a\ncontrol_group = daemon\n"
		"root_priority = 7\n"
		"history_bytes = 1536K\nlog_level = debug\n[timers]\nquiet = 1500us\nstall_max = "
		"none\n"
		"resend = 1.0000001s\n";
	static const char *const lines[] = {
		"# --config /f.conf ; command line\n# --record /r ; command line\n",
		"fabric = green                           ; /f.conf:1\n",
		"shape = 4x3x2                            ; /f.conf:2\n",
		"service_address = [fd00::3]:7118         ; /f.conf:6\n",
		"service_port = 7118                      ; default\n",
		"history_bytes = 1536K                    ; /f.conf:10\n",
		"root_priority = 7                        ; /f.conf:9\n",
		"history = off                            ; /f.conf:5\n",
		"fanout = 8                               ; default\n",
		"\n[timers]\ninit_interval = 50ms                     ; default\n",
		"quiet = 1500us                           ; /f.conf:13\n",
		"resend = 1000000100ns                    ; /f.conf:15\n",
		"stall_max = none                         ; /f.conf:14\n",
	};
	struct config c, d;
	struct received h;
	char *dumps;

	(void)state;
	assert_int_equal(parse(&c, text, &h), 0);
	dumps = dumped(&c, true);
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		has_line(dumps, lines[i]);
	if (parse(&d, dumps, &h))
		fail_msg("line %u: %s", h.line, h.text);
	assert_same(&c, &d);
	free(dumps);
}

/* A rate has as many digits as it needs. */
static void dumped_rate_reads_back_exactly(void **state)
{
	struct config c, d;
	struct received h;
	char *text;

	(void)state;
	assert_int_equal(parse(&c, NEEDED "[links]\nwarn_ber = 1.2345678e-9\nfail_ber = 1e-5\n",
			       &h), 0);
	text = dumped(&c, false);
	has_line(text, "warn_ber = 1.2345678e-09 ");
	has_line(text, "fail_ber = 1e-05 ");
	assert_int_equal(parse(&d, text, &h), 0);
	assert_true(!(d.quality.warn_ber < c.quality.warn_ber ||
		      d.quality.warn_ber > c.quality.warn_ber));
	free(text);
}

/* Names of files are bytes. In JSON, those that are no UTF-8 have \xNN, and no key is left out. */
static void dump_in_json_escapes_bytes_that_are_no_utf8(void **state)
{
	const struct config_run run = { .path = "/\xff.conf", .record = "/r" };
	struct config c;
	struct received h;
	json_t *list, *v;
	unsigned int n = 0;
	size_t i;

	(void)state;
	assert_int_equal(parse(&c, NEEDED "state_dir = /s\xe4\xc3\xa4\n", &h), 0);
	list = config_json(&c, &run);
	json_array_foreach(list, i, v) {
		const char *key = json_string_value(json_object_get(v, "key"));
		const char *value = json_string_value(json_object_get(v, "value"));

		assert_non_null(key);
		if (!strcmp(key, "config"))
			assert_string_equal(value, "/\\xff.conf");
		if (!strcmp(key, "state_dir"))
			assert_string_equal(value, "/s\\xe4\\xc3\\xa4");
		n += !strcmp(key, "config") + !strcmp(key, "state_dir");
	}
	assert_int_equal(n, 2);
	json_decref(list);
	v = config_values_json(&c);
	assert_string_equal(json_string_value(json_object_get(v, "state_dir")),
			    "/s\\xe4\\xc3\\xa4");
	json_decref(v);
}

static void dump_names_source_of_each_value(void **state)
{
	struct config c, d, now;
	struct received h;
	char *text;

	(void)state;
	assert_int_equal(setenv("STATE_DIRECTORY", "/var/lib/x", 1), 0);
	assert_int_equal(parse(&c, "service_network = 127.0.0.1/32\nservice_loopback = on\n", &h),
			 0);
	text = dumped(&c, false);
	has_line(text, "# --config /f.conf ; default\nfabric");
	has_line(text, "service_address = 127.0.0.1:7117         ; service_network\n");
	has_line(text, "# service_network = 127.0.0.1/32         ; /f.conf:1\n");
	has_line(text, "state_dir = /var/lib/x                   ; $STATE_DIRECTORY\n");
	has_line(text, "root_priority = auto                     ; default\n");
	if (parse(&d, text, &h))
		fail_msg("line %u: %s", h.line, h.text);
	/* Only level and address plan are taken over from a file that is read again. */
	assert_int_equal(parse(&now, NEEDED "fanout = 3\nlog_level = error\n"
			       "address4 = 192.168.0.0/16\n", &h), 0);
	config_reload(&c, &now);
	free(text);
	text = dumped(&c, false);
	has_line(text, "log_level = error                        ; /f.conf:3\n");
	has_line(text, "fanout = 8                               ; default\n");
	has_line(text, "address4 = 192.168.0.0/16                ; /f.conf:4\n");
	has_line(text, "address6 = fd74:6f72::/32                ; default\n");
	assert_int_equal(c.fm.plan_given, FM_PLAN4);
	free(text);
	unsetenv("STATE_DIRECTORY");
	assert_null(config_state_dir(&c));
	assert_int_equal(parse(&c, NEEDED "state_dir = none\n", &h), 0);
	assert_null(config_state_dir(&c));
}

static void address_is_read_and_written_or_refused(void **state)
{
	static const char *const good[] = { "1.2.3.4:1", "255.255.255.255:65535", "[::1]:80" };
	static const char *const bad[] = { "", ":", "1.2.3.4", "1.2.3.4:", "1.2.3:5", "::1:80",
		"[::1]", "[]:1", "1.2.3.4:+5", "1.2.3.4:5 ", "[::1]x:5",
		"1.2.3.4:00000000000000000000000000000000000000000000000000000000000000000001" };
	struct sockaddr_storage a;
	char text[FM_ADDR_MAX];
	socklen_t len;

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(address_parse(good[i], &a, &len), 0);
		assert_string_equal(address_text(&a, text), good[i]);
	}
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(address_parse(bad[i], &a, &len), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(right_file_sets_each_value),
		cmocka_unit_test(each_limit_is_accepted_and_the_next_value_refused),
		cmocka_unit_test(missing_keys_have_defaults),
		cmocka_unit_test(defaults_equal_manual_and_example),
		cmocka_unit_test(each_wrong_line_is_refused_with_its_number),
		cmocka_unit_test(all_errors_are_reported),
		cmocka_unit_test(long_lines_and_nul_bytes_are_refused),
		cmocka_unit_test(file_that_is_missing_or_too_big_is_refused),
		cmocka_unit_test(service_address_in_reserved_network_is_refused),
		cmocka_unit_test(host_finds_its_one_address_in_service_network),
		cmocka_unit_test(missing_address_in_service_network_is_reported),
		cmocka_unit_test(dump_can_be_read_as_configuration),
		cmocka_unit_test(dumped_rate_reads_back_exactly),
		cmocka_unit_test(dump_in_json_escapes_bytes_that_are_no_utf8),
		cmocka_unit_test(dump_names_source_of_each_value),
		cmocka_unit_test(address_is_read_and_written_or_refused),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
