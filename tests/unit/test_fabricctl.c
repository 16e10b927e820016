// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricctl as users run it: what it asks, prints and returns, for right and wrong arguments and
 * for right and wrong fabrics.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"
#include "tools/fabricctl/number.h"

static struct fake fake;

static int start(void **state)
{
	(void)state;
	fake_start(&fake, "4x4");
	setenv("TORUS_CONTROL", fake.path, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	fake_stop(&fake);
	return 0;
}

static void wrong_arguments(void **state)
{
	static const struct {
		const char *args;
		const char *say;
	} wrong[] = {
		{ "", "" },
		{ "stats", "did you mean 'status'" },
		{ "up", "lab up" },
		{ "lab", "" },
		{ "lab stauts", "did you mean 'lab status'" },
		{ "status extra", "'extra' is one argument too many" },
		{ "status --nothing", "--nothing" },
		{ "status -x", "-x" },
		{ "status --watch=0", "allowed 0.01 to 86400" },
		{ "status --watch=nan", "nan" },
		{ "status --control", "needs a value" },
		{ "status --control /nowhere/at/all", "/nowhere/at/all" },
		{ "status --control /x --lab y", "--control" },
		{ "status --lab 9x", "9x" },
		{ "status --lab no-such-lab", "no-such-lab" },
		{ "nodes --map --json", "exclude each other" },
		{ "links --json --all", "--all" },
		{ "links 4,0", "4,0" },
		{ "links 1,0,0", "1,0,0" },
		{ "links nobody", "no such thing" },
		{ "links 1,0 2,0", "one argument too many" },
		{ "routes", "arguments are missing" },
		{ "routes 0,0 9,9", "9,9" },
		{ "trace 0,0", "an argument is missing" },
		{ "trace 0,0 0,4", "0,4" },
		{ "exclude", "arguments are missing" },
		{ "exclude 0,0:+z", "+z" },
		{ "exclude 0,0:x", "allowed are + or -" },
		{ "exclude :+x", "no such thing" },
		{ "exclude 0,0:", "no port" },
		{ "include 0,7:+x", "0,7" },
		{ "link", "" },
		{ "link down", "missing" },
		{ "link down 1,0", "a node and its port" },
		{ "link up 1,0:+z", "no port" },
		{ "link dwon 1,0:+x", "did you mean 'link down'" },
		{ "park --replay", "of which node" },
		{ "events --since -1", "-1" },
		{ "events --since 1x", "1x" },
		{ "events --since 99999999999999999999", "99999999999999999999" },
		{ "log loud", "allowed are error, warning, info, debug" },
		{ "coord 7,7", "no such thing" },
		{ "lab up", "missing" },
		{ "lab up 4x0", "4x0" },
		{ "lab up 4x4x4x4x4x4x4", "4x4x4x4x4x4x4" },
		{ "lab up 4X4 --timeout 0", "1 to 3600" },
		{ "lab up 2x2 --name kx --backend both", "kernel, and mixed" },
		{ "lab up 2x2 --name kx --kernel-nodes n0-2", "n0-2" },
		{ "lab up 2x2 --name kx --kernel-nodes n0-1 --backend kernel", "does too" },
		{ "lab cut", "missing" },
		{ "lab cut a b", "too many" },
		{ "lab silence", "missing" },
		{ "lab silence 0,0:+x maybe", "on and off" },
		{ "lab ber 0,0:+x 2", "'2'" },
		{ "lab line 0,0:+x --class copper", "'copper': allowed are dac24" },
		{ "lab line 0,0:+x --dead 3,12", "'3,12': allowed are lanes 0 to 11" },
		{ "lab line 0,0:+x --aged 5-", "'5-'" },
		{ "lab line 0,0:+x --temperature 126", "'126': allowed are degrees Celsius" },
		{ "lab ber 0,0:+x 1e-6x", "1e-6x" },
		{ "lab latency 0,0:+x 5", "with a unit" },
		{ "lab latency 0,0:+x 11s", "11s" },
		{ "lab exec 0,0", "which command" },
		{ "lab agent n0-0", "missing" },
		{ "lab traffic 0,0 1,1 --tcp --udp", "exclude each other" },
		{ "lab traffic 0,0 1,1 --seconds 0", "--seconds" },
		{ "lab traffic 0,0 1,1 --size 8", "24 to 60000" },
		{ "lab hosts --list --json", "exclude each other" },
		{ "lab down --name no-such-lab", "no-such-lab" },
		{ "lab down --name x --all", "exclude each other" },
		{ "device", "" },
		{ "device ad", "or 'device add'" },
		{ "device up", "missing" },
		{ "device up a b", "too many" },
		{ "device up a/b", "1 to 15 bytes" },
		{ "device up t0 --config /nonexistent", "No such file" },
		{ "device add", "missing" },
		{ "device add a b", "too many" },
		{ "device add t0 --ports 5", "allowed are even" },
		{ "device add t0 --ports 14", "2 to 12" },
		{ "device add t0 --guid 0", "16 hexadecimal digits" },
		{ "device add t0 --guid 12345678123456781", "16 hexadecimal digits" },
		{ "device add t0 --set park_bytes=0", "1072 to 4294967296" },
		{ "device add t0 --set park_bytes=1T", "K, M or G" },
		{ "device add t0 --set silence=5", "ns, us, ms or s" },
		{ "device add t0 --set silent=5ms", "keepalive silence" },
		{ "device del no-such-nic", "'no-such-nic'" },
		{ "device attach no-such-nic:+x", "missing" },
		{ "device attach no-such-nic eth0", "torus0:+x" },
		{ "device attach :+x eth0", "torus0:+x" },
		{ "device attach no-such-nic:+x eth0", "'no-such-nic'" },
		{ "device attach genl:no-such-nic:+x eth0", "torus" },
		{ "device detach unix:/no/such/nic:+x", "/no/such/nic" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		expect(wrong[i].args, 2);
		has(*wrong[i].say ? err : "", wrong[i].say);
	}
}

static void helps(void **state)
{
	static const char *const commands[] = {
		"status", "nodes", "links", "counters", "routes", "trace", "verify", "exclude",
		"include", "park", "events", "coord", "log", "lab up", "lab down", "lab list",
		"lab status", "lab exec", "lab hosts", "lab agent", "lab cut", "lab mend",
		"lab silence", "lab ber", "lab latency", "lab kill", "lab revive", "lab traffic",
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
	}
	expect("--version", 0);
	has(out, "fabricctl " TORUS_VERSION);
}

static void shows_status(void **state)
{
	(void)state;
	expect("status", 0);
	has(out, "fabric fake: running, 4x4, table version 7");
	has(out, "nodes    16 of 16 up\n");
	has(out, "links    31 of 32 up, 1 faulty\n");
	has(out, "parked   3 packets\n");
	has(out, "relays   12 pairs of nodes talk by way of other nodes\n");
	has(out, "version 7: link 0,0:+x down");
	has(out, "took 12.5 ms; packets: 83 parked, 83 replayed, 0 lost");
	has(out, "     1.2 ms  table");
	has(out, "replayed, not needed");
	assert_null(strchr(out, '\033'));
	fake.state = "degraded";
	expect("status", 1);
	fake.state = "running";
	fake.dead[3] = true;
	expect("status", 1);
	has(out, "problems node: a node is dead");
}

static void tells_how_long_links_are_held(void **state)
{
	(void)state;
	fake.excluded[1] = fake.held[1] = 1;
	expect("status", 0);
	has(out, "held     1,0:+x: used again in 12.5 s unless it is lost meanwhile\n");
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x  faulty (carrier)  held 12.5 s ");
	expect("links --all 1,0", 0);
	has(out, ", excluded: held\n");
}

/* Degraded lines are listed; JSON has all of each; they are no problem. */
static void names_degraded_lines(void **state)
{
	json_t *got, *links;

	(void)state;
	expect("status --json", 0);
	got = printed();
	assert_int_equal(json_array_size(json_object_get(got, "degraded_links")), 0);
	assert_true(json_is_array(json_object_get(got, "degraded_links")));
	json_decref(got);
	fake.narrow[1] = 1;
	expect("status", 0);
	has(out, "lines    1,0:+x: 10 of 12 lanes at 5000 of 6250 Mb/s, margin 131%\n");
	expect("status --json", 0);
	got = printed();
	links = json_object_get(got, "degraded_links");
	assert_int_equal(json_array_size(links), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(links, 0), "width")), 10);
	json_decref(got);
	fake.state = "bootstrapping";
	expect("status --json", 0);
	got = printed();
	assert_true(json_is_null(json_object_get(got, "degraded_links")));
	json_decref(got);
	fake.state = "running";
	expect("links", 0);
	has(out, " 10/12    5000    131%");
	has(out, "of modelled lines\n");
	expect("links 1,0 --all", 0);
	has(out, "modelled line: 500 cm, 2000 mdB/m, crosstalk 10, -20 degrees C");
	has(out, "lane 0  on    5000 Mb/s  margin  131%  ber 2.5e-13");
	fake.narrow[1] = 0;
	expect("links", 0);
	assert_null(strstr(out, "modelled"));
}

/* --json prints the manager's data unchanged, whatever it contains. */
static void json_is_the_data(void **state)
{
	static const struct {
		const char *args;
		const char *request;
	} same[] = {
		{ "nodes --json", "{\"cmd\":\"nodes\"}" },
		{ "links --json", "{\"cmd\":\"links\",\"lanes\":true}" },
		{ "links n1-0 --json", "{\"cmd\":\"links\",\"lanes\":true,\"node\":\"1,0\"}" },
		{ "counters --json", "{\"cmd\":\"counters\"}" },
		{ "counters 1,2 -j", "{\"cmd\":\"counters\",\"node\":\"1,2\"}" },
		{ "park --json", "{\"cmd\":\"park\"}" },
		{ "events --json", "{\"cmd\":\"events\"}" },
		{ "coord n3-1 --json", "{\"cmd\":\"coord\",\"name\":\"n3-1\"}" },
		{ "exclude 0,1:+y --json", "{\"cmd\":\"exclude\",\"node\":\"0,1\",\"port\":\"+y\"}" },
		{ "link down 1,0:-x --json", "{\"cmd\":\"port\",\"node\":\"1,0\",\"port\":\"-x\",\"up\":false}" },
		{ "link up n1-0:-x --json", "{\"cmd\":\"port\",\"node\":\"1,0\",\"port\":\"-x\",\"up\":true}" },
		{ "link retrain n1-0:+y --json", "{\"cmd\":\"retrain\",\"node\":\"1,0\",\"port\":\"+y\"}" },
		{ "include n0-1 --json", "{\"cmd\":\"include\",\"node\":\"0,1\"}" },
		{ "log debug --json", "{\"cmd\":\"log\",\"level\":\"debug\"}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		json_t *request = json_loads(same[i].request, 0, NULL);
		json_t *want, *got;

		expect(same[i].args, 0);
		want = fake_answer(&fake, request);
		got = printed();
		if (!json_equal(fake.request, request))
			fail_msg("%s asked %s", same[i].args, json_dumps(fake.request, 0));
		if (!json_equal(want, got))
			fail_msg("%s printed %s", same[i].args, out);
		json_decref(request);
		json_decref(want);
		json_decref(got);
	}
}

static void shows_tables(void **state)
{
	(void)state;
	fake.excluded[1] = 1;
	fake.dead[6] = true;
	expect("nodes", 0);
	has(out, "NODE  NAME  STATE  ADDRESS   TABLE  PARENT");
	has(out, "2,1   n2-1  dead   10.0.0.0      7  -");
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x  faulty (carrier)  fault         -       -       -    1.5 k       2");
	has(out, "5.0 MiB");
	expect("links --bad", 0);
	has(out, "1,0:+x");
	assert_null(strstr(out, "1,0:+y  "));
	expect("links 1,0 --all", 0);
	has(out, "times the sender went back in its RETRY buffer");
	expect("counters", 0);
	has(out, "1.2 M");
	expect("counters 0,0", 0);
	has(out, "1234567");
	has(out, "packets the host injected");
	expect("park", 0);
	has(out, "3,3       15           0   60 KiB  16 MiB     0");
	expect("events", 0);
	has(out, "1,0      warning  link      link 1,0:+x down");
	expect("exclude 1,0:+x", 0);
	has(out, "table version 7, 1 excluded:\n  1,0:+x (fault)\n");
	expect("coord 1,0", 0);
	has(out, "1,0  name n1-0, id 1, address 10.0.0.0");
}

static void draws_map(void **state)
{
	(void)state;
	fake_stop(&fake);
	fake_start(&fake, "3x2");
	fake.excluded[0] = 1;
	fake.dead[4] = true;
	expect("nodes --map", 0);
	has(out, "  |        |        |      \n"
		 " 0,1  -- (1,1) --  2,1  -- \n"
		 "  |        |        |      \n"
		 " 0,0  xx  1,0  --  2,0  -- \n");
}

static void traces(void **state)
{
	json_t *j;

	(void)state;
	expect("trace 0,0 1,0", 0);
	has(out, "0,0 +x--> 1,0\n1 hop, shortest 1\n");
	expect("trace 0,0 0,0", 0);
	has(out, "0,0\n0 hops");
	fake.excluded[0] = 1;
	expect("trace 0,0 1,0", 1);
	has(out, "crosses an excluded link");
	fake_rows(&fake);
	expect("trace 0,0 n1-0 --json", 0);
	j = printed();
	assert_int_equal(json_array_size(json_object_get(j, "hops")), 3);
	assert_int_equal(json_integer_value(json_object_get(j, "length")), 3);
	assert_true(json_is_array(json_object_get(j, "via")));
	assert_int_equal(json_array_size(json_object_get(j, "via")), 0);
	assert_string_equal(json_string_value(json_object_get(j, "end")), "arrived");
	json_decref(j);
}

/* Makes the row of @from to @to lead to @relay. */
static void relay(uint32_t from, uint32_t to, uint32_t relay)
{
	fake.row[from][to] = (fake.row[from][relay] &
			      ~(TORUS_ROW_ADAPTIVE | TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT)) |
			     TORUS_ROW_RELAY | (uint64_t)relay << TORUS_ROW_RELAY_SHIFT;
}

/* To 2,2 through relay 0,1; then also through 1,1; then in a circle. */
static void traces_relay(void **state)
{
	json_t *j, *via;

	(void)state;
	relay(4, 10, 5);
	relay(0, 10, 4);
	expect("trace 0,0 2,2 --json", 0);
	j = printed();
	via = json_object_get(j, "via");
	assert_int_equal(json_array_size(via), 2);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(via, 0), 1)), 1);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(via, 1), 0)), 1);
	assert_int_equal(json_integer_value(json_object_get(j, "length")), 4);
	json_decref(j);
	expect("trace 0,0 2,2", 0);
	has(out, "0,0 +y--> 0,1 (relay) +x--> 1,1 (relay) +x--> ");
	relay(5, 10, 4);
	expect("trace 0,0 2,2 --json", 1);
	j = printed();
	assert_string_equal(json_string_value(json_object_get(j, "end")), "loop");
	json_decref(j);
	fake_rows(&fake);
	relay(0, 10, 4);
	expect("routes 0,0 2,2", 0);
	has(out, "0,1");
	expect("verify", 0);
}

static void decodes_routes(void **state)
{
	json_t *j, *row;

	(void)state;
	fake.row[0][1] = TORUS_ROW_VALID | TORUS_ROW_HOLD | 1ULL << 1 |
			 0ULL << TORUS_ROW_FIRST_SHIFT | 3ULL << TORUS_ROW_LAST_SHIFT;
	fake.row[0][2] = 0;
	expect("routes 0,0", 0);
	has(out, "1,0  +y");
	has(out, "hold");
	has(out, "2,0  no way");
	expect("routes 0,0 1,0 --json", 0);
	j = printed();
	row = json_array_get(json_object_get(j, "rows"), 0);
	assert_true(json_is_true(json_object_get(row, "hold")));
	assert_string_equal(json_string_value(json_object_get(row, "first")), "+x");
	assert_string_equal(json_string_value(json_object_get(row, "last")), "-y");
	json_decref(j);
}

static json_t *culprits(const char *kind)
{
	json_t *j, *list, *v;
	size_t i;

	expect("verify --json", 1);
	j = printed();
	list = json_object_get(j, "culprits");
	assert_true(json_array_size(list) > 0);
	assert_true(json_is_false(json_object_get(j, "ok")));
	json_array_foreach(list, i, v) {
		const char *is = json_string_value(json_object_get(v, "kind"));

		/* A wrong order may also close a circle. */
		if (strcmp(kind, "order") || strcmp(is, "cycle"))
			assert_string_equal(is, kind);
	}
	return j;
}

static void verifies(void **state)
{
	json_t *j;

	(void)state;
	expect("verify", 0);
	has(out, "240 pairs of 16 nodes walked");
	fake.excluded[5] = 3;
	fake_rows(&fake);
	expect("verify", 0);
	fake.dead[7] = true;
	expect("verify", 0);
	has(out, "210 pairs of 15 nodes");
	fake.dead[7] = false;

	fake.version[3] = 6;
	json_decref(culprits("version"));
	fake_rows(&fake);
	fake.row[2][9] = 0;
	j = culprits("no-row");
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 1);
	json_decref(j);
	expect("verify", 1);
	has(out, "2,0 to 1,2: no valid row");
	fake_rows(&fake);
	fake.row[0][1] = TORUS_ROW_VALID | 0xfULL << TORUS_ROW_FIRST_SHIFT |
			 0xfULL << TORUS_ROW_LAST_SHIFT | 1 << 1;
	json_decref(culprits("lost"));
	fake_rows(&fake);
	fake.row[0][1] = TORUS_ROW_VALID | 3ULL << TORUS_ROW_FIRST_SHIFT |
			 0xfULL << TORUS_ROW_LAST_SHIFT | 3;
	json_decref(culprits("order"));
	fake_rows(&fake);
	fake.row[5][6] = TORUS_ROW_VALID | 0xfULL << TORUS_ROW_FIRST_SHIFT |
			 0xfULL << TORUS_ROW_LAST_SHIFT | 1;
	json_decref(culprits("dead-link"));
	fake_rows(&fake);
	fake.row[0][5] = TORUS_ROW_VALID | 0xfULL << TORUS_ROW_FIRST_SHIFT |
			 0xfULL << TORUS_ROW_LAST_SHIFT | 3 | TORUS_ROW_ADAPTIVE;
	json_decref(culprits("escape"));
	fake_rows(&fake);
	fake.row[0][10] = fake.row[0][4] | TORUS_ROW_RELAY;
	json_decref(culprits("relay"));
	fake.excluded[10] = 0xf;
	fake_rows(&fake);
	j = culprits("cut-off");
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 1);
	json_decref(j);
}

/* A node that an administrator excluded is no culprit; one that is cut off by that is. */
static void excludes_on_purpose(void **state)
{
	json_t *j;

	(void)state;
	fake.excluded[10] = fake.admin[10] = 0xf;
	fake_rows(&fake);
	expect("verify", 0);
	has(out, "excluded   2,2: an admin took it out\n210 pairs of 16 nodes walked");
	expect("verify --json", 0);
	j = printed();
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 0);
	assert_int_equal(json_array_size(json_object_get(j, "excluded")), 1);
	json_decref(j);
	/* One cable broke instead of being excluded: then nobody wanted the node to be cut off. */
	fake.admin[10] = 7;
	expect("verify", 1);
	has(out, "cut-off    2,2: ");
	/* 0 and 2 of a ring are excluded; 1, between them, is cut off: nobody wanted that. */
	fake_stop(&fake);
	fake_start(&fake, "5");
	fake.excluded[0] = fake.admin[0] = fake.excluded[2] = fake.admin[2] = 3;
	fake_rows(&fake);
	j = culprits("cut-off");
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 1);
	assert_int_equal(json_array_size(json_object_get(j, "excluded")), 2);
	json_decref(j);
	/* The others are compared with the node that is left, not with the excluded one. */
	fake_stop(&fake);
	fake_start(&fake, "2x1");
	fake.excluded[0] = fake.admin[0] = 0x5;
	fake_rows(&fake);
	expect("verify", 0);
}

static void tries_exclusions(void **state)
{
	json_t *j;

	(void)state;
	expect("exclude 1,0:+x --dry-run", 0);
	has(out, "without 1,0:+x, of 240 pairs of other nodes: ");
	has(out, " 0 have none");
	assert_string_not_equal(json_string_value(json_object_get(fake.request, "cmd")), "exclude");
	expect("exclude 1,0 --dry-run --json", 0);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "pairs")), 15 * 14);
	assert_true(json_integer_value(json_object_get(j, "moved")) > 0);
	assert_int_equal(json_array_size(json_object_get(j, "cut_off")), 0);
	json_decref(j);
	/* 1,1 has only its last link. */
	fake.excluded[5] = 7;
	fake_rows(&fake);
	expect("exclude 1,1:-y --dry-run --json", 1);
	j = printed();
	assert_true(json_integer_value(json_object_get(j, "lost")) > 1);
	assert_int_equal(json_array_size(json_object_get(j, "cut_off")), 1);
	json_decref(j);
	expect("exclude 1,1:-y --dry-run", 1);
	has(out, "cut off 1,1");
	expect("exclude 1,1 --dry-run", 0);
	/* Together: 1,1 loses its last link, but is itself excluded. */
	expect("exclude 1,1:-y 1,1 0,0 --dry-run --json", 0);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "pairs")), 14 * 13);
	json_decref(j);
	expect("exclude 1,1 0,0 --dry-run", 0);
	has(out, "without 1,1, 0,0, of 182 pairs of other nodes: ");
	expect("exclude 1,1 9,9 --dry-run", 2);
	has(err, "9,9");
	/* If one argument is wrong, nothing is excluded. */
	expect("exclude 1,1 0,0:+x 9,9", 2);
	assert_string_not_equal(json_string_value(json_object_get(fake.request, "cmd")), "exclude");
}

static void names_who_is_missing(void **state)
{
	(void)state;
	fake.silent[2] = fake.silent[3] = true;
	expect("links", 1);
	has(err, "2 nodes did not answer: 2,0 3,0");
	has(out, "0,0:+x");
	expect("verify", 1);
	has(out, "2,0: its rows cannot be read");
	expect("nodes", 1);
	has(out, "1,0   n1-0  up     10.0.0.0      7  -");
	has(out, "2,0   n2-0  up     10.0.0.0      -  -");
}

static void bears_bad_answers(void **state)
{
	static const char *const raw[] = {
		"", "null", "[]", "{}", "{\"ok\":true}", "{\"ok\":false}", "{\"ok\":1,\"data\":2}",
		"{\"ok\":true,\"data\":", "\xff\xfe", "{\"ok\":false,\"error\":7}",
	};
	static const char *const commands[] = {
		"status", "nodes", "nodes --map", "links 0,0", "trace 0,0 1,1", "verify",
		"coord", "routes 0,0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
		for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
			fake.raw = raw[i];
			expect(commands[c], 2);
			has(err, "fabricctl: ");
		}
}

static const char long_node[] =
	"{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
	"17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38]}}";

/* Data of the wrong type in an answer: fabricctl must not crash. */
static void bears_odd_data(void **state)
{
	static const char *const raw[] = {
		"{\"ok\":true,\"data\":7}", "{\"ok\":true,\"data\":[7]}",
		"{\"ok\":true,\"data\":[[]]}", "{\"ok\":true,\"data\":{}}",
		"{\"ok\":true,\"data\":{\"shape\":[4,4],\"state\":5,\"nodes\":[{\"node\":[9,9]}]}}",
		"{\"ok\":true,\"data\":{\"shape\":[4,4],\"rows\":[1,2]}}",
		long_node,
		"{\"ok\":true,\"data\":{\"shape\":[65535,65535,9]},\"missing\":[1,\"x\",[1]]}",
		"{\"ok\":true,\"data\":[{\"node\":\"x\",\"port\":\"+q\",\"peer\":7,\"state\":[]}]}",
	};
	static const char *const commands[] = {
		"status", "nodes", "nodes --map", "links", "links --all", "counters", "park",
		"events", "coord", "trace 0,0 1,1", "verify", "routes 0,0", "exclude 0,0:+x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
		for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
			fake.raw = raw[i];
			assert_in_range(run(commands[c]), 0, 2);
		}
}

static void follows_events(void **state)
{
	const char *second;

	(void)state;
	expect("events --follow --since 3", 2);
	assert_int_equal(json_integer_value(json_object_get(fake.request, "since")), 3);
	has(err, "no answer from the manager");
	second = strchr(out, '\n');
	assert_non_null(second);
	has(second + 1, "link 1,0:+x down");
	expect("events --follow --json", 2);
	*strchr(out, '\n') = '\0';
	json_decref(printed());
}

static void full_disk(void **state)
{
	char line[PATH_MAX + 64];

	(void)state;
	setenv("TORUS_CONTROL", fake.path, 1);
	snprintf(line, sizeof(line), "%s status >/dev/full 2>/dev/null", program);
	assert_int_equal(WEXITSTATUS(system(line)), 2);
}

static void numbers(void **state)
{
	uint64_t n;
	double s;
	char buf[32];

	(void)state;
	assert_int_equal(number_parse("0", 0, 9, &n), 0);
	assert_int_equal(number_parse("10", 0, 9, &n), -ERANGE);
	assert_int_equal(number_parse("18446744073709551616", 0, UINT64_MAX, &n), -ERANGE);
	assert_int_equal(number_parse("", 0, 9, &n), -EINVAL);
	assert_int_equal(number_parse("-1", 0, 9, &n), -EINVAL);
	assert_int_equal(number_parse(" 1", 0, 9, &n), -EINVAL);
	assert_int_equal(number_parse("1 ", 0, 9, &n), -EINVAL);
	assert_int_equal(number_parse("0x1", 0, 9, &n), -EINVAL);

	assert_int_equal(rate_parse("1e-6", &n), 0);
	assert_int_equal(n, 1000000000000);
	assert_int_equal(rate_parse("0", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(rate_parse("1", &n), 0);
	assert_int_equal(n, 1000000000000000000);
	assert_int_equal(rate_parse("1.1", &n), -ERANGE);
	assert_int_equal(rate_parse("1e-19", &n), -ERANGE);
	assert_int_equal(rate_parse("-1", &n), -EINVAL);
	assert_int_equal(rate_parse("nan", &n), -EINVAL);
	assert_int_equal(rate_parse("inf", &n), -EINVAL);
	assert_int_equal(rate_parse("0x1p-3", &n), -EINVAL);

	assert_int_equal(size_parse("16M", &n), 0);
	assert_int_equal(n, 16 << 20);
	assert_int_equal(size_parse("18446744073709551615", &n), 0);
	assert_int_equal(n, UINT64_MAX);
	assert_int_equal(size_parse("18014398509481983K", &n), 0);
	assert_int_equal(size_parse("18014398509481984K", &n), -ERANGE);
	assert_int_equal(size_parse("M", &n), -EINVAL);
	assert_int_equal(size_parse("", &n), -EINVAL);
	assert_int_equal(size_parse("1k", &n), -EINVAL);
	assert_int_equal(hex_parse("00fF", &n), 0);
	assert_int_equal(n, 0xff);
	assert_int_equal(hex_parse("ffffffffffffffff", &n), 0);
	assert_int_equal(hex_parse("0", &n), -EINVAL);
	assert_int_equal(hex_parse("0x1", &n), -EINVAL);
	assert_int_equal(hex_parse("", &n), -EINVAL);

	assert_int_equal(time_parse("5ms", &n), 0);
	assert_int_equal(n, 5000000);
	assert_int_equal(time_parse("1.5us", &n), 0);
	assert_int_equal(n, 1500);
	assert_int_equal(time_parse("10s", &n), 0);
	assert_int_equal(time_parse("10.001s", &n), -ERANGE);
	assert_int_equal(time_parse("5", &n), -EINVAL);
	assert_int_equal(time_parse("5 ms", &n), -EINVAL);
	assert_int_equal(time_parse("5min", &n), -EINVAL);

	assert_int_equal(seconds_parse("0.5", &s), 0);
	assert_true(fabs(s - 0.5) < 1e-12);
	assert_int_equal(seconds_parse("0.001", &s), -ERANGE);
	assert_int_equal(seconds_parse("1e9", &s), -ERANGE);
	assert_int_equal(seconds_parse("1s", &s), -EINVAL);

	assert_string_equal(bytes_text(0, buf), "0 B");
	assert_string_equal(bytes_text(1536, buf), "1.5 KiB");
	assert_string_equal(bytes_text(UINT64_MAX, buf), "16777216 TiB");
	assert_string_equal(count_text(999, buf), "999");
	assert_string_equal(count_text(1000, buf), "1.0 k");
	assert_string_equal(duration_text(0.0125, buf), "12 ms");
	assert_string_equal(duration_text(61, buf), "1 min 01 s");
	assert_string_equal(duration_text(90000, buf), "1 d 01 h");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test_setup_teardown(wrong_arguments, start, stop),
		cmocka_unit_test_setup_teardown(helps, start, stop),
		cmocka_unit_test_setup_teardown(shows_status, start, stop),
		cmocka_unit_test_setup_teardown(tells_how_long_links_are_held, start, stop),
		cmocka_unit_test_setup_teardown(names_degraded_lines, start, stop),
		cmocka_unit_test_setup_teardown(json_is_the_data, start, stop),
		cmocka_unit_test_setup_teardown(shows_tables, start, stop),
		cmocka_unit_test_setup_teardown(draws_map, start, stop),
		cmocka_unit_test_setup_teardown(traces, start, stop),
		cmocka_unit_test_setup_teardown(traces_relay, start, stop),
		cmocka_unit_test_setup_teardown(decodes_routes, start, stop),
		cmocka_unit_test_setup_teardown(verifies, start, stop),
		cmocka_unit_test_setup_teardown(excludes_on_purpose, start, stop),
		cmocka_unit_test_setup_teardown(tries_exclusions, start, stop),
		cmocka_unit_test_setup_teardown(names_who_is_missing, start, stop),
		cmocka_unit_test_setup_teardown(bears_bad_answers, start, stop),
		cmocka_unit_test_setup_teardown(bears_odd_data, start, stop),
		cmocka_unit_test_setup_teardown(follows_events, start, stop),
		cmocka_unit_test_setup_teardown(full_disk, start, stop),
	};

	(void)argc;
	program_is(argv[0], "fabricctl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
