// SPDX-License-Identifier: GPL-2.0-only
/* The arguments of fabricctl: wrong ones are refused with a reason, numbers are parsed, and help. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"
#include "tools/fabricctl/number.h"

/* Arguments that are refused, and a part of the error text; "": any text. */
struct wrong {
	const char *args;
	const char *say;
};

static void refuses(const struct wrong *wrong, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		expect(wrong[i].args, 2);
		has(*wrong[i].say ? err : "", wrong[i].say);
	}
}

static void wrong_arguments_of_questions_are_refused(void **state)
{
	static const struct wrong wrong[] = {
		{ "", "" },
		{ "stats", "did you mean 'status'" },
		{ "up", "did you mean 'lab up'" },
		{ "--json status", "options follow it, as in 'fabricctl COMMAND --json'" },
		{ "status extra", "'extra' is one argument too many" },
		{ "status --nothing", "there is no option '--nothing'\n" },
		{ "status --jsn", "there is no option '--jsn'; did you mean '--json'?" },
		{ "links --badd=1", "there is no option '--badd=1'; did you mean '--bad'?" },
		{ "links --bad=1", "option '--bad' takes no value" },
		{ "lab status --lab no-such-lab", "no-such-lab" },
		{ "help frob", "there is no command 'frob'" },
		{ "help lab frob", "there is no command 'lab frob'" },
		{ "status -x", "-x" },
		{ "status --watch=0", "must be 0.01 to 86400" },
		{ "status --watch=nan", "nan" },
		{ "status --control", "needs a value" },
		{ "status --timeout 0", "--timeout: '0' is not a number of seconds, must be 0.01 to 86400" },
		{ "status --timeout soon", "--timeout: 'soon'" },
		{ "coord \xff", "an argument is not UTF-8 text" },
		{ "status --control /x --lab y", "--control" },
		{ "status --control /x --node 0,0", "--control" },
		{ "status --lab 9x", "9x" },
		{ "status --lab no-such-lab", "no-such-lab" },
		{ "nodes --map --json", "exclude each other" },
		{ "links --json --all", "--all" },
		{ "status --json=all", "'all': must be 'full'" },
		{ "links --errors --all", "--errors does not go with --all" },
		{ "links --errors --bad", "--errors does not go with --bad" },
		{ "links --top 3", "--top needs --errors" },
		{ "links --since x", "--since needs --errors" },
		{ "links --save x", "--save needs --errors" },
		{ "links --errors --top 0", "'0' is not allowed, N must be 1 to 1000000" },
		{ "links --errors --since /no-such-baseline", "/no-such-baseline" },
		{ "links --local 1,0", "leave out '1,0'" },
		{ "links --local --control /x", "--control does not go with it" },
		{ "counters --local 1,0", "leave out '1,0'" },
		{ "metrics --json --openmetrics", "leave out --openmetrics" },
		{ "metrics --json --output f", "leave out --output" },
		{ "links 4,0", "4,0" },
		{ "links -1,0", "'-1,0' is not an option, and no coordinate, time or other number is negative" },
		{ "lab latency 1,0:+x -5", "'-5' is not an option, and no coordinate, time or other number is" },
		{ "lab ber -15 0,0:+x", "'-15' is not an option," },
		{ "lab ber -1 -15", "'-1' is not an option," },
		{ "lab line 0,0:+x", "say which property of the cable to set, such as --length CM" },
		{ "links 1,0,0", "1,0,0" },
		{ "links nobody", "no such thing" },
		{ "links 1,0 2,0", "one argument too many" },
		{ "routes", "arguments are missing" },
		{ "routes 0,0 9,9", "9,9" },
		{ "trace 0,0", "an argument is missing" },
		{ "trace 0,0 0,4", "0,4" },
		{ "links 1,1:+x", "'1,1' stands for all links of the node, and 'fabricctl link test 1,1:+x' tests that one" },
		{ "counters n1:-y", "'n1:-y' is a link, but a NODE is wanted" },
		{ "links n1:-c --bad", "'n1:-c' is a link, but a NODE is wanted" },
		{ "events --since -1", "-1" },
		{ "events --since 1x", "1x" },
		{ "events --local --since 99999999999999999999", "99999999999999999999" },
		{ "events --since 17", "the number of an event only with --local" },
		{ "events --local --since 17 --kind link", "the number of an event only with --local" },
		{ "events --since 25:00", "--since '25:00': must be a time of day (03:00 or 03:00:30)" },
		{ "events --since 03:60", "a date (2026-11-26)" },
		{ "events --since 2026-02-30", "or how long ago (-30min, -2h, -7d)" },
		{ "events --since 2026-11-26x", "must be" },
		{ "events --since -2", "--since '-2': must be" },
		{ "events --until soon", "--until 'soon': must be" },
		{ "events --since 2200-01-01", "is yet to come" },
		{ "events --since -1h --until -2h", "--until '-2h' is before --since '-1h'" },
		{ "events --since -5m --until -1h", "--until '-1h' is before --since '-5m'" },
		{ "events --since -m", "--since '-m': must be" },
		{ "events --follow --until now", "--follow has no end" },
		{ "events --level loud", "--level 'loud': must be error, warning or info" },
		{ "events --kind LINK", "--kind 'LINK': must be one of these words, or several with commas" },
		{ "events --kind link,", "--kind 'link,': must be one of these words, or several with commas" },
		{ "events --kind ,link", "--kind ',link': must be one of these words, or several with commas" },
		{ "events --kind link,,node", "--kind 'link,,node': must be one of these words, or several with commas" },
		{ "events --kind foo", "--kind 'foo': must be" },
		{ "events --kind foo", " wave wiring" },
		{ "events --kind link,foo", "--kind 'link,foo': must be" },
		{ "events --kind lin", "--kind 'lin': must be" },
		{ "events --kind links", "--kind 'links': must be" },
		{ "events --job mine --of 0,0", "--job and --of exclude each other" },
		{ "events --job mine --kind link", "--job and --kind exclude each other" },
		{ "events --job mine --follow --exec /bin/true", "--link, --of and --job do not go with it" },
		{ "events --job mine --since 7 --local", "without --until, --level, --kind, --link, --of and --job" },
		{ "events --link 0,0:+x --of 0,0", "--link and --of exclude each other" },
		{ "report --day 03:00", "--day '03:00': must be a date (2026-11-26), today or yesterday" },
		{ "report --day -2h", "--day '-2h'" },
		{ "report --day 2200-01-01", "--day '2200-01-01' is yet to come" },
		{ "report --day today --since 03:00", "--day and --since exclude each other" },
		{ "report --day today --until 03:00", "--day and --until exclude each other" },
		{ "report --until 03:00", "--until needs --since" },
		{ "report --since soon", "--since 'soon': must be" },
		{ "report --since -2h --until -3h", "--until '-3h' is before --since '-2h'" },
		{ "report --html --json", "--html and --json exclude each other" },
		{ "report --html report.html", "'report.html' is one argument too many" },
		{ "outages --since soon", "--since 'soon': must be" },
		{ "diff", "missing" }, { "diff soon", "'soon': must be" },
		{ "diff 2h 03:77", "'03:77': must be" }, { "diff 1h 2h", "is before" },
		{ "diff -1h -2h", "time '-2h' is before time '-1h'" }, { "diff -1h now -2h", "too many" },
		{ "diff -x", "there is no option '-x'" }, { "diff -5", "time '-5': must be a time of day" },
		{ "diff 2h 1h now", "too many" }, { "diff 2h --timeout -5", "--timeout: '-5' is not" },
		{ "diff 5", "time '5': must be a time of day" }, { "diff 5", "how long ago (30min, 2h, 7d)" },
		{ "diff 1h 2h", "time '2h' is before time '1h'" }, { "diff 2200-01-01", "time '2200-01-01' is yet to" },
		{ "outages --link 0,0:+z", "not a port" },
		{ "events --link 0,0", "write a node and its port" },
		{ "events --of 7,7", "'7,7'" },
		{ "coord 7,7", "no such thing" },
		{ "config 7,7", "7,7" },
		{ "export", "arguments are missing" },
		{ "export pbs", "'pbs': must be slurm" },
		{ "export slurm x", "'x' is one argument too many" },
		{ "map", "arguments are missing" },
		{ "map /no/such", "/no/such: No such file" },
		{ "map / x", "'x' is one argument too many" },
		{ "map /", "/: Is a directory" },
		{ "map --format slrum /dev/null", "--format 'slrum': must be openmpi, mpich, slurm or rubik" },
		{ "map --format slurm --json /dev/null", "--format and --json exclude each other" },
		{ "map --format slurm --score /dev/null", "--format and --score exclude each other" },
		{ "map --job mine --hosts n0-0 /dev/null", "--job and --hosts exclude each other" },
		{ "job hosts", "arguments are missing" },
		{ "job hosts mine --format slrum", "--format 'slrum': must be openmpi, mpich, slurm or rubik" },
		{ "job hosts mine --format slurm --json", "--format and --json exclude each other" },
		{ "job hosts mine --slots 2", "--slots is the number of ranks of a node in a file of --format" },
		{ "job hosts mine --format slurm --slots 4097", "N must be 1 to 4096" },
		{ "map --slots 0 /dev/null", "'0' is not allowed, N must be 1 to 4096" },
		{ "map --slots 4097 /dev/null", "N must be 1 to 4096" },
		{ "map --ranks 0 /dev/null", "N must be 1 to 16777216" },
		{ "map --seed x /dev/null", "'x'" },
		{ "config --diff 0,0", "config --diff compares all nodes: leave out '0,0'" },
	};

	(void)state;
	refuses(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void wrong_arguments_of_changes_are_refused(void **state)
{
	static const struct wrong wrong[] = {
		{ "exclude", "arguments are missing" },
		{ "exclude 0,0:+z", "+z" },
		{ "exclude 0,0:x", "'x' is not a port, must be + or - and one of x, y\n" },
		{ "exclude --dry-run --reason dust 0,0", "excludes nothing" },
		{ "exclude --dry-run --for 1h 0,0", "--for: --dry-run excludes nothing" },
		{ "exclude -n --force 0,0", "--force: --dry-run excludes nothing" },
		{ "drain 0,0 --for --reason dust", "there is no option '--for', and '--force' must be written in full" },
		{ "exclude 0,0 --forc", "there is no option '--forc', and '--force' must be written in full" },
		{ "exclude --for 1 0,0", "--for '1': must be 1s to 365d" },
		{ "exclude --for 0.5s 0,0", "must be 1s to 365d" },
		{ "exclude --for 366d 0,0", "'366d': must be 1s to 365d" },
		{ "exclude --for soon 0,0", "'soon': must be 1s to 365d" },
		{ "nodes --map 0,0", "draws all nodes" },
		{ "cabling --shape 4x4", "--plan --shape 4x4" },
		{ "cabling --plan --shape 4x0", "4x0" },
		{ "cabling --csv --json", "exclude each other" },
		{ "inventory --save /x --diff /x", "exclude each other" },
		{ "drain", "arguments are missing" },
		{ "drain 0,0:+z", "+z" },
		{ "exclude :+x", "no such thing" },
		{ "exclude 0,0:", "not a port" },
		{ "include 0,7:+x", "0,7" },
		{ "job", "" },
		{ "job start", "missing" },
		{ "job start a", "say how many nodes: --nodes N, or which: --list FILE" },
		{ "job start a --nodes 0", "--nodes" },
		{ "job start a -n 2 --how tree", "--how 'tree': must be box, list or grow" },
		{ "job start a -n 2 --links 2", "--links, --rate and --margin: only with --how grow" },
		{ "job start a -n 2 --how box --rate 9", "only with --how grow" },
		{ "job start a -n 2 --how list --margin 9", "--how list: give the nodes by --list" },
		{ "job start a -n 2 --how grow --links 13", "--links: '13' is not allowed, N must be 1 to 12" },
		{ "job start a --list f --how grow", "--list names all nodes" },
		{ "job start a --how list", "--how list: give the nodes by --list FILE" },
		{ "job start a --list f -n 2", "--list names all nodes" },
		{ "job start a --list /no/such/file", "/no/such/file: No such file" },
		{ "job start a --list /", "/: Is a directory" },
		{ "job list a", "a" },
		{ "job show", "missing" },
		{ "job verify", "missing" },
		{ "job stop a b", "b" },
		{ "link", "" },
		{ "link down", "missing" },
		{ "link down 1,0", "a node and its port" },
		{ "link up 1,0:+z", "not a port" },
		{ "link test", "missing" },
		{ "link test 1,0", "a node and its port" },
		{ "link test 1,0:+z", "not a port" },
		{ "link test 1,0:+x 2,0:+x", "one argument too many" },
		{ "link test 1,0:+x --seconds 0", "'0' is not allowed, N must be 1 to 3600" },
		{ "link test 1,0:+x --seconds 3601", "N must be 1 to 3600" },
		{ "link test 1,0:+x --count 0", "N must be 1 to 100000000" },
		{ "link test 1,0:+x --size 63", "BYTES must be 64 to 1024" },
		{ "link test 1,0:+x --size 1025", "BYTES must be 64 to 1024" },
		{ "link test 1,0:+x --rate 0", "N must be 1 to 100000" },
		{ "link locate", "missing" },
		{ "link locate 1,0", "a node and its port" },
		{ "link locate 1,0:+z", "not a port" },
		{ "link locate 1,0:+x --seconds 0", "N must be 1 to 3600" },
		{ "link locate 1,0:+x --seconds 3601", "N must be 1 to 3600" },
		{ "link module", "missing" },
		{ "link module 1,0:+z", "not a port" },
		{ "link dwon 1,0:+x", "did you mean 'link down'" },
		{ "events --exec /bin/true", "needs --follow" },
		{ "events --follow --exec /no/such", "No such file" },
		{ "events --follow --exec /etc/passwd", "Permission denied" },
		{ "events --follow --exec /", "it is not a regular file" },
		{ "events --follow --exec /bin/true --since 03:00", "with --exec it is the number of an event" },
		{ "events --follow --exec /bin/true --level error", "do not go with it" },
		{ "events --follow --exec /bin/true --exec-seconds 0", "allowed" },
		{ "events --follow --exec /bin/true --exec-at-once 65", "allowed" },
		{ "events --follow --exec-seconds 5", "--exec-seconds is a limit for programs of --exec" },
		{ "events --exec-at-once 1", "--exec-at-once is a limit for programs of --exec" },
		{ "park --replay", "of which node" },
		{ "park --replay --flows 0,0", "exclude each other" },
		{ "log loud", "must be error, warning, info or debug" },
	};

	(void)state;
	refuses(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

#define SETS_5	"--set a=1 --set b=2 --set c=3 --set d=4 --set e=5 "
#define SETS_15	SETS_5 SETS_5 SETS_5

static void wrong_arguments_of_lab_are_refused(void **state)
{
	static const struct wrong wrong[] = {
		{ "lab", "" },
		{ "lab stauts", "did you mean 'lab status'" },
		{ "lab --name x down", "as in 'fabricctl lab COMMAND --name'" },
		{ "lab up", "missing" },
		{ "lab up 4x0", "4x0" },
		{ "lab up 4x4x4x4x4x4x4", "4x4x4x4x4x4x4" },
		{ "lab up 4X4 --timeout 0", "1 to 3600" },
		{ "lab up 2x2 --name kx --backend both", "kernel, or mixed" },
		{ "lab up 2x2 --name kx --kernel-nodes n0-2", "n0-2" },
		{ "lab up 2x2 --name kx --kernel-nodes n0-1 --backend kernel", "both set" },
		{ "lab up 2x2 --name kx --backend both --service 172.30.0.0", "with 8 to 30 bits" },
		{ "lab up 2x2 --name kx --backend both --service 172.30.0.0/31", "with 8 to 30 bits" },
		{ "lab up 2x2 --name kx --backend both --service 172.30.1.0/16", "bits below /16 are set" },
		{ "lab up 2x2 --name kx --backend both --service 127.0.0.0/8", "cannot be used" },
		{ "lab up 14 --name kx --backend both --service 172.30.0.0/28", "has room for 13 nodes, the lab has 14" },
		{ "lab up 2 --name kx " SETS_15 "--backend both", "kernel, or mixed" },
		{ "lab up 2 --name kx " SETS_15 "--set f=6 --backend both", "--set may be given 15 times" },
		{ "lab cut", "missing" },
		{ "lab cut a b", "too many" },
		{ "lab silence", "missing" },
		{ "lab silence 0,0:+x maybe", "on or off" },
		{ "lab silence --one-way", "missing" },
		{ "lab swap", "missing" }, { "lab swap 0,0:+x", "missing" },
		{ "lab swap 0,0:+x 1,0:+x 2,0:+x", "too many" },
		{ "lab pause", "missing" }, { "lab pause 0,0 1 2", "too many" },
		{ "lab pause 0,0 0", "'0': must be 0.01 to 86400" },
		{ "lab pause 0,0 x", "'x': must be 0.01 to 86400" },
		{ "lab ber 0,0:+x 2", "'2'" },
		{ "lab vb 0,0:+x 1.1", "'1.1': must be 0, or 1e-18 to 1" }, { "lab vb 0,0:+x", "missing" },
		{ "lab line 0,0:+x --class copper", "'copper': must be one of dac24" },
		{ "lab line 0,0:+x --dead 3,12", "'3,12': must be lanes 0 to 11" },
		{ "lab line 0,0:+x --aged 5-", "'5-'" },
		{ "lab line 0,0:+x --temperature 126", "'126': must be degrees Celsius" },
		{ "lab ber 0,0:+x 1e-6x", "1e-6x" },
		{ "lab latency 0,0:+x 5", "with a unit" },
		{ "lab latency 0,0:+x 11s", "11s" },
		{ "lab replace", "missing" }, { "lab replace 0,0 --as a=b", "--as 'a=b': must be" },
		{ "lab exec 0,0", "which command" },
		{ "lab agent n0-0", "missing" },
		{ "lab traffic 0,0 1,1 --tcp --udp", "exclude each other" },
		{ "regions 1", "too many" }, { "regions --rma /x", "'/x': must be unix:PATH or dev:NAME" },
		{ "windows 1", "too many" }, { "windows --rma /x", "'/x': must be unix:PATH or dev:NAME" },
		{ "lab traffic 0,0 1,1 --rma --udp", "--rma excludes" },
		{ "lab traffic 0,0 1,1 --rma --dscp 8", "--rma excludes" },
		{ "lab traffic 0,0 1,1 --seconds 0", "--seconds" },
		{ "lab traffic 0,0 1,1 --size 8", "24 to 60000" },
		{ "lab traffic 0,0 1,1 --rate 0", "1 to 1000000" },
		{ "lab traffic 0,0 1,1 --rate 1000001", "1 to 1000000" },
		{ "lab hosts --list --json", "exclude each other" },
		{ "lab down --name no-such-lab", "no-such-lab" },
		{ "lab down --name x --all", "exclude each other" },
	};

	(void)state;
	refuses(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void wrong_arguments_of_device_are_refused(void **state)
{
	static const struct wrong wrong[] = {
		{ "device", "" },
		{ "device ad", "did you mean 'device add'" },
		{ "device up", "missing" },
		{ "device up a b", "too many" },
		{ "device up a/b", "1 to 15 bytes" },
		{ "device up t0 --config /nonexistent", "No such file" },
		{ "device add", "missing" },
		{ "device add a b", "too many" },
		{ "device add t0 --ports 5", "must be an even number" },
		{ "device add t0 --ports 14", "2 to 12" },
		{ "device add t0 --guid 0", "16 hexadecimal digits" },
		{ "device add t0 --guid 12345678123456781", "16 hexadecimal digits" },
		{ "device add t0 --set park_bytes=0", "1072 to 4294967296" },
		{ "device add t0 --set park_bytes=1T", "K, M or G" },
		{ "device add t0 --set silence=5", "ns, us, ms, s or min" },
		{ "device add t0 --set silent=5ms", "keepalive silence" },
		{ "device del no-such-nic", "'no-such-nic'" },
		{ "device attach no-such-nic:+x", "missing" },
		{ "device attach no-such-nic eth0", "torus0:+x" },
		{ "device attach :+x eth0", "torus0:+x" },
		{ "device attach no-such-nic:+x eth0", "'no-such-nic'" },
	};

	(void)state;
	refuses(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void each_command_has_help(void **state)
{
	static const char *const commands[] = {
		"status", "nodes", "links", "table", "counters", "metrics", "routes", "trace", "verify", "exclude",
		"root", "include", "drain", "cabling", "inventory", "park", "events", "outages", "diff", "report", "config", "coord", "map", "export", "log", "regions", "windows", "lab up", "lab down", "lab list",
		"lab status", "lab exec", "lab hosts", "lab agent", "lab cut", "lab mend",
		"lab swap", "lab silence", "lab ber", "lab vb", "lab latency", "lab kill", "lab pause", "lab revive", "lab replace",
		"lab traffic",
	};
	char args[64];

	(void)state;
	expect("--help", 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(args, sizeof(args), "  %s ", commands[i]);
		has(out, args);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(args, sizeof(args), "%s --help", commands[i]);
		expect(args, 0);
		snprintf(args, sizeof(args), "usage: fabricctl %s", commands[i]);
		has(out, args);
		has(out, "--help");
	}
	expect("help lab up", 0);
	has(out, "usage: fabricctl lab up");
	expect("lab help up", 0);
	has(out, "usage: fabricctl lab up");
	expect("help lab", 0);
	has(out, "usage: fabricctl lab COMMAND");
	expect("help links", 0);
	has(out, "usage: fabricctl links");
	expect("--version", 0);
	has(out, "fabricctl " TORUS_VERSION);
}

static void numbers_and_durations_are_read_and_written(void **state)
{
	uint64_t n;
	double s;
	char buf[32];

	(void)state;
	assert_int_equal(hex_parse("00fF", &n), 0);
	assert_int_equal(n, 0xff);
	assert_int_equal(hex_parse("ffffffffffffffff", &n), 0);
	assert_int_equal(hex_parse("0", &n), -EINVAL);
	assert_int_equal(hex_parse("0x1", &n), -EINVAL);
	assert_int_equal(hex_parse("", &n), -EINVAL);

	assert_int_equal(seconds_parse("0.5", &s), 0);
	assert_true(fabs(s - 0.5) < 1e-12);
	assert_int_equal(seconds_parse("0.001", &s), -ERANGE);
	assert_int_equal(seconds_parse("1e9", &s), -ERANGE);
	assert_int_equal(seconds_parse("0.01", &s), 0);
	assert_int_equal(seconds_parse("86400", &s), 0);
	assert_int_equal(seconds_parse("86401", &s), -ERANGE);
	assert_int_equal(seconds_parse("1s", &s), -EINVAL);

	assert_string_equal(bytes_text(0, buf), "0 B");
	assert_string_equal(bytes_text(1536, buf), "1.5 KiB");
	assert_string_equal(bytes_text(UINT64_MAX, buf), "16777216 TiB");
	assert_string_equal(count_text(999, buf), "999");
	assert_string_equal(count_text(1000, buf), "1.0 k");
	assert_string_equal(duration_text(0.0125, buf), "12 ms");
	assert_string_equal(duration_text(61, buf), "1 min 01 s");
	assert_string_equal(duration_text(5 * 3600 + 7 * 60 + 9, buf), "5 h 07 min");
	assert_string_equal(duration_text(90000, buf), "1 d 01 h");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_durations_are_read_and_written),
		cmocka_unit_test_setup_teardown(wrong_arguments_of_questions_are_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wrong_arguments_of_changes_are_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wrong_arguments_of_lab_are_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wrong_arguments_of_device_are_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test(each_command_has_help),
	};

	(void)argc;
	program_is(argv[0], "fabricctl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
