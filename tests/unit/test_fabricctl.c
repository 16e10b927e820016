// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricctl as users run it: its requests, output and exit status, for healthy and faulty fabrics.
 * test_fabricctl_arguments.c has wrong arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"

static void status_shows_counts_recovery_and_problems(void **state)
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
	has(out, "root     n0-0 (0,0), epoch 3, for ");
	has(out, " h: root 'n9-9' lost\nasked    n1-0 (1,0)\n");
	assert_null(strchr(out, '\033'));
	fake.state = "degraded";
	expect("status", 1);
	fake.state = "running";
	fake.dead[3] = true;
	fake.more_problems = 447;
	expect("status", 1);
	has(out, "problems node: a node is dead\n         and 447 more problems\nparked ");
	has(out, "next     fabricctl links --bad shows its cables; start the node, or 'fabricctl exclude' ");
}

/* A recovery that goes on hides no fault: neither its cables, nor from the exit status. */
static void recovery_that_goes_on_hides_no_fault(void **state)
{
	(void)state;
	fake.state = "recovering";
	fake.recovery = "{\"version\":8,\"cause\":\"link 1,1:+x down\",\"started\":1700000000.5,\"duration_ms\":3200.0,"
			"\"parked\":5,\"replayed\":0,\"lost\":0,\"bounded\":false,\"timeline\":{\"detected\":0.0,"
			"\"table\":1.5,\"rebuilt\":4.25,\"drained\":null,\"replayed\":null,\"resumed\":null}}";
	expect("status", 1);
	has(out, "recovers version 8: link 1,1:+x down\n         goes on for 3.2 s; packets: 5 parked\n"
		 "                0.0 ms  detected\n                1.5 ms  table\n"
		 "                4.2 ms  rebuilt\nparked ");
	has(out, "recovery version 7: link 0,0:+x down");
	fake.whole = true;
	expect("status", 0);
	fake.wrong_links = 1;
	expect("status", 1);
}

/* The command of the next step asks the same manager, and can be pasted into a shell. */
static void hints_name_control_socket_that_was_given(void **state)
{
	char args[512], wanted[512];

	(void)state;
	fake.state = "degraded";
	fake.dead[3] = true;
	snprintf(args, sizeof(args), "status --control %s", fake.path);
	snprintf(wanted, sizeof(wanted), "next     fabricctl links --bad --control %s shows its cables",
		 fake.path);
	expect(args, 1);
	has(out, wanted);
	snprintf(args, sizeof(args), "%s's", fake.path);
	assert_int_equal(symlink(fake.path, args), 0);
	snprintf(args, sizeof(args), "status --control %s's", fake.path);
	expect(args, 1);
	unlink(args + strlen("status --control "));
	snprintf(wanted, sizeof(wanted), "next     fabricctl links --bad --control '%s'\\''s' shows its cables",
		 fake.path);
	has(out, wanted);
}

#define END(at, port, name) "\"node\":" at ",\"port\":\"" port "\",\"name\":" name
#define FAULTY(a, b, more) "{" a ",\"peer\":{" b "}," more "}"
#define OF_DEAD(a, b) FAULTY(a, b, "\"reason\":null,\"dead\":[2,2],\"for_ms\":3000.5")
#define PULLED FAULTY(END("[1,1]", "+x", "\"n1-1\""), END("[2,1]", "-x", "\"n2-1\""), \
	"\"reason\":\"carrier\",\"dead\":null,\"for_ms\":192000.0")
#define OLD FAULTY(END("[3,3]", "+y", "\"n3-3\""), END("[3,0]", "-y", "null"), \
	"\"reason\":null,\"dead\":null,\"for_ms\":null")

/*
 * The first lines name what is degraded: each cable by both ends, and the cables of a dead node
 * together.
 */
static void status_names_both_ends_of_faulty_cables(void **state)
{
	char many[64 * 256] = "[" PULLED;

	(void)state;
	fake.state = "degraded";
	fake.faulty = "[" PULLED "," OLD ","
		OF_DEAD(END("[1,2]", "+x", "\"n1-2\""), END("[2,2]", "-x", "\"n2-2\"")) ","
		OF_DEAD(END("[2,2]", "+x", "\"n2-2\""), END("[3,2]", "-x", "\"n3-2\"")) "]";
	expect("status", 1);
	has(out, "links    31 of 32 up, 1 faulty\n"
		 "faulty   1,1:+x (n1-1) - 2,1:-x (n2-1) carrier, for 3 min 12 s\n"
		 "         3,3:+y (n3-3) - 3,0:-y reason not known, for an unknown time\n"
		 "         2 cables of 2,2 (n2-2), which is dead, for 3.0 s\nparked ");
	for (unsigned int i = 0; i < 12; i++)
		strcat(many, "," PULLED);
	strcat(many, "," OF_DEAD(END("[1,2]", "+x", "null"), END("[2,2]", "-x", "null")) "]");
	fake.faulty = many;
	expect("status", 1);
	has(out, "2,1:-x (n2-1) carrier, for 3 min 12 s\n"
		 "         and 4 more; 'fabricctl links --bad' lists all\nparked ");
}

#define FOR(why) FAULTY(END("[1,1]", "+x", "null"), END("[2,1]", "-x", "null"), \
	"\"reason\":\"" why "\",\"dead\":null,\"for_ms\":1.0")

/* The next step depends on the reason of the fault; each is named once. */
static void next_step_depends_on_reason_of_fault(void **state)
{
	static const char carrier[] = "links --bad shows both ends; check that the plugs sit";

	(void)state;
	fake.state = "degraded";
	fake.faulty = "[" FOR("carrier") "," FOR("carrier") "," FOR("mismatch") "," FOR("admin") ","
		FOR("flap") "," FOR("retry") "]";
	expect("status", 1);
	has(out, carrier);
	assert_null(strstr(strstr(out, carrier) + 1, carrier));
	has(out, "links --bad shows the value of each end; give both NICs the value of all others\n");
	has(out, "links --bad shows the end that was taken down; 'fabricctl link up' brings it up again\n");
	has(out, "links --bad shows both ends; reseat or replace the cable\n");
}

/*
 * An exclusion by an administrator is no fault: it is a warning, named in the first lines. Its time
 * has whole seconds.
 */
static void exclusion_by_admin_is_warning_and_no_fault(void **state)
{
	int digits = 0;

	(void)state;
	fake.out_links = 4;
	fake.orders = 12;
	expect("status", 3);
	has(out, "fabric fake: running, 4 links excluded, 4x4, table version 7\n");
	has(out, "excluded 0,0:+x by root(0)@n0-0, ");
	has(out, "         1,0:+x by 4000000@n0-0, ");
	has(out, "         and 2 more; 'fabricctl table' lists all\nparked ");
	assert_null(strstr(out, "2,2:+x"));
	fake.ordered = (json_int_t)time(NULL) - 30;
	expect("status", 3);
	assert_int_equal(sscanf(strstr(out, "@n0-0, "), "@n0-0, %*u%n s ago: dust", &digits), 0);
	assert_memory_equal(strstr(out, "@n0-0, ") + digits, " s ago: dust", 12);
	fake.out_links = 1;
	expect("status", 3);
	has(out, "running, 1 link excluded, ");
	fake.state = "degraded";
	fake.wrong_links = 2;
	expect("status", 1);
	has(out, "fabric fake: degraded, 4x4");
	has(out, "31 of 32 up, 1 faulty, 2 in wrong ports, 1 excluded\n");
}

static void status_shows_how_long_links_are_held(void **state)
{
	(void)state;
	fake.excluded[1] = fake.held[1] = 1;
	expect("status", 0);
	has(out, "held     1,0:+x: used again in 12.5 s unless it is lost meanwhile\n");
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x  faulty (carrier)           -      2  held 12.5 s ");
	expect("links --all 1,0", 0);
	has(out, ", excluded: held\n");
}

/* Both values are in the table, and with all counters. */
static void links_show_both_values_that_differ(void **state)
{
	(void)state;
	fake.differs[1] = 1;
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x  init (bubble: bubble=mbs, peer bloc) ");
	expect("links --all 1,0", 0);
	has(out, "1,0:+x to 2,0:-x: init for 1 min 30 s, reason bubble: bubble=mbs, peer bloc, admin ");
	fake.differs[1] = 0;
	expect("links 1,0", 0);
	assert_null(strstr(out, "mbs"));
}

/* Degraded lines are listed; JSON has all of each; they are not a problem, but a warning. */
static void status_lists_degraded_lines_as_warning(void **state)
{
	json_t *got, *links;

	(void)state;
	expect("status --json", 0);
	got = printed();
	assert_int_equal(json_array_size(json_object_get(got, "degraded_links")), 0);
	assert_true(json_is_array(json_object_get(got, "degraded_links")));
	json_decref(got);
	fake.narrow[1] = 1;
	expect("status", 3);
	has(out, "lines    1,0:+x from 2,0:-x: 10 of 12 lanes at 5000 of 6250 Mb/s, "
		 "margin 131%\nparked ");
	has(out, "\nnext     fabricctl links --bad shows lanes, rate and margin; ");
	expect("status --json", 3);
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
	has(out, "lane 0  on    5000 Mb/s  margin  131%  ber 2.5e-13  taps 3, 5  receiver 2, 1  eye 120 mV, 450 mUI\n");
	has(out, "lane 1  off ");
	has(out, "receiver -  eye 0 mV");
	fake.narrow[1] = 0;
	expect("links", 0);
	assert_null(strstr(out, "modelled"));
}

/* A table needs links only in brief; a manager of an earlier release reports all of them. */
static void table_of_links_asks_only_for_brief_data(void **state)
{
	(void)state;
	expect("links 1,0", 0);
	assert_true(json_is_true(json_object_get(fake.request, "brief")));
	expect("links", 0);
	assert_true(json_is_true(json_object_get(fake.request, "brief")));
	fake.former = true;
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x");
	assert_null(json_object_get(fake.request, "brief"));
	expect("links", 0);
	has(out, "1,0:+x  2,0:-x");
	assert_null(json_object_get(fake.request, "brief"));
	expect("links --bad", 0);
	assert_null(json_object_get(fake.request, "bad"));
	expect("links --bad --json", 0);
	assert_null(json_object_get(fake.request, "bad"));
	expect("nodes --map", 0);
	assert_null(json_object_get(fake.request, "brief"));
	fake.former = false;
	expect("nodes --map", 0);
	assert_true(json_is_true(json_object_get(fake.request, "brief")));
	expect("cabling", 0);
	assert_true(json_is_true(json_object_get(fake.request, "brief")));
	expect("links --all", 0);
	assert_null(json_object_get(fake.request, "brief"));
	assert_null(json_object_get(fake.request, "bad"));
	expect("links --bad", 0);
	assert_true(json_is_true(json_object_get(fake.request, "bad")));
	expect("links --bad --json", 0);
	assert_true(json_is_true(json_object_get(fake.request, "bad")));
}

/* --json prints the manager's data unchanged, whatever it contains. */
static void json_output_is_data_of_answer(void **state)
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
		{ "table --json", "{\"cmd\":\"table\"}" },
		{ "park --json", "{\"cmd\":\"park\"}" },
		{ "events --json --local --since 3", "{\"cmd\":\"events\",\"since\":3}" },
		{ "coord n3-1 --json", "{\"cmd\":\"coord\",\"name\":\"n3-1\"}" },
		{ "exclude 0,1:+y --json", "{\"cmd\":\"exclude\",\"node\":\"0,1\",\"port\":\"+y\"}" },
		{ "exclude 0,1:+y n1-0 --json",
		  "{\"cmd\":\"exclude\",\"links\":[\"0,1:+y\",\"1,0\"]}" },
		{ "link down 1,0:-x --json", "{\"cmd\":\"port\",\"node\":\"1,0\",\"port\":\"-x\",\"up\":false}" },
		{ "link up n1-0:-x --json", "{\"cmd\":\"port\",\"node\":\"1,0\",\"port\":\"-x\",\"up\":true}" },
		{ "link retrain n1-0:+y --json", "{\"cmd\":\"retrain\",\"node\":\"1,0\",\"port\":\"+y\"}" },
		{ "link retry 1,0:+y hippi --json",
		  "{\"cmd\":\"retry\",\"protocol\":\"hippi\",\"node\":\"1,0\",\"port\":\"+y\"}" },
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

static void nodes_links_and_coord_are_shown_as_tables(void **state)
{
	(void)state;
	fake.excluded[1] = 1;
	expect("nodes", 0);
	fake.dead[6] = true;
	expect("nodes 1,0", 0);
	expect("nodes --json", 1);
	expect("nodes", 1);
	has(out, "NODE  NAME  STATE  HEARD  ADDRESS   TABLE  PARENT");
	has(out, "2,1   n2-1  dead     now  10.0.0.0      7  -");
	expect("links 1,0", 0);
	has(out, "LINK    PEER    STATE                 UP FOR  DOWNS  EXCLUDED  LANES  MBIT/S  MARGIN  "
		 "RETRIES  ERRORS     SENT  RECEIVED\n");
	has(out, "1,0:+x  2,0:-x  faulty (carrier)           -      2  fault         -       -       -  "
		 "  1.5 k       2  5.0 MiB   6.0 MiB\n");
	has(out, "1,0:+y  1,1:-y  up                1 min 30 s      0  -             -       -       -  "
		 "      0       2  5.0 MiB   6.0 MiB\n");
	expect("links --bad", 1);
	has(out, "1,0:+x");
	assert_null(strstr(out, "1,0:+y  "));
	expect("links 1,0 --all", 0);
	has(out, "1,0:+x to 2,0:-x: faulty for 1 min 30 s, reason carrier, admin up, lower px+, session 1, "
		 "retry hippi (asked auto), excluded: fault\n");
	has(out, "times the sender went back in its RETRY buffer");
	expect("counters", 0);
	has(out, "NODE  INJECTED  DELIVERED  FORWARDED  RELAYED  PARKED  REPLAYED  UNREACHABLE  "
		 "REORDERED  DUPLICATES  LOST  DROPS\n");
	has(out, "1,1      1.2 M          7          8        9      10        11           12  "
		 "       13          14     5     16\n");
	expect("counters 0,0", 0);
	has(out, "1234567");
	has(out, "packets the host injected");
	has(out, "IN FLIGHT, BY COLOUR  0  1  2  3\n");
	has(out, "injected              1  2  3  4\n");
	expect("park", 0);
	has(out, "NODE  PARKED  UNRESOLVED    BYTES      OF  HELD\n");
	has(out, "3,3       15           2   60 KiB  16 MiB     5\n");
	expect("park --flows", 0);
	has(out, "0,0   0,0   1,0  vcd0        3  4.0 KiB");
	has(err, "0,0: 2 of these packets are unresolved (RETRY buffer): the peer may have accepted them, "
		 "and the counter 'parked' does not count them yet\n");
	has(err, "3,3: its NIC does not report to which flows its packets belong\n");
	expect("events", 0);
	has(out, ".250  1,0      warning  link      link 1,0:+x down");
	has(out, ".250  1,0      warning  link      link 2,0:+x up");
	assert_false(strstr(err, "nothing from before"));
	expect("events --local", 0);
	has(out, "     7  2023-11-1");
	expect("exclude 1,0:+x", 0);
	has(out, "table version 7, 2 excluded:\n  1,0:+x (admin)\n  2,0:-x (admin)\n");
	expect("coord 1,0", 0);
	has(out, "1,0  name n1-0, id 1, address 10.0.0.0");
}

/* At 1,0 with sizes that are not known: +x is right, +y wrong, -x has no cable, -y no manager. */
#define EARLY_PORT(port, up, guid, peer, due, fault) \
	"{\"port\":\"" port "\",\"up\":" up ",\"guid\":" guid ",\"peer_port\":" peer "," \
	"\"expected\":" due ",\"fault\":" fault "}"
#define EARLY_NEIGHBOUR(port, name, guid, peer, at, sure, agrees) \
	"{\"port\":\"" port "\",\"name\":\"" name "\",\"guid\":\"" guid "\",\"peer_port\":\"" \
	peer "\",\"position\":" at ",\"confirmed\":" sure ",\"agrees\":" agrees "}"
#define EARLY_OWN(wave) "{\"node\":null,\"name\":\"n1-0\",\"wave\":" wave "}"
#define EARLY_WAVE EARLY_OWN("{\"position\":[1,0],\"size\":[null,null],\"confirmed\":false," \
	"\"neighbours\":[" \
	EARLY_NEIGHBOUR("+x", "n2-0", "00000000000000a2", "-x", "[2,0]", "false", "true") "," \
	EARLY_NEIGHBOUR("+y", "n3-3", "00000000000000a3", "-y", "[3,-1]", "true", "false") "],\"ports\":[" \
	EARLY_PORT("+x", "true", "\"00000000000000a2\"", "\"-x\"", \
		   "{\"position\":[2,0],\"port\":\"-x\"}", "null") "," \
	EARLY_PORT("+y", "true", "\"00000000000000a3\"", "\"-y\"", \
		   "{\"position\":[1,1],\"port\":\"-y\"}", "\"leads to the wrong node\"") "," \
	EARLY_PORT("-x", "false", "null", "null", "{\"position\":[0,0],\"port\":\"+x\"}", "null") "," \
	EARLY_PORT("-y", "true", "\"00000000000000a4\"", "\"+y\"", \
		   "{\"position\":[1,-1],\"port\":\"+y\"}", "null") "]}")

/* Without a table the asked node shows what it knows itself, marked as preliminary. */
static void nodes_without_table_are_labelled_preliminary(void **state)
{
	json_t *j, *n;

	(void)state;
	fake.early = EARLY_WAVE;
	expect("nodes", 1);
	has(out, "preliminary, there is no table yet: this is what n1-0 knows itself, by its NIC and "
		 "the Inits of its neighbours\n"
		 "NODE  NAME  AT         PLACE                   GUID\n"
		 "1,0   n1-0  this node  unconfirmed             -\n"
		 "2,0   n2-0  +x         unconfirmed             00000000000000a2\n"
		 "3,-1  n3-3  +y         confirmed, contradicts  00000000000000a3\n");
	expect("nodes --json", 1);
	has(err, "preliminary, there is no table yet");
	j = printed();
	assert_int_equal(json_array_size(j), 3);
	n = json_array_get(j, 2);
	assert_true(json_is_true(json_object_get(n, "preliminary")));
	assert_true(json_is_null(json_object_get(n, "node")));
	assert_true(json_is_false(json_object_get(n, "agrees")));
	assert_int_equal(json_integer_value(json_array_get(json_object_get(n, "position"), 1)), -1);
	json_decref(j);
	/* Two cables lead to one neighbour, and one of them is wrong. */
	fake.early = EARLY_OWN("{\"position\":[1],\"size\":[null],\"confirmed\":false,\"neighbours\":["
		EARLY_NEIGHBOUR("+x", "n2", "00000000000000a2", "-x", "[2]", "false", "true") ","
		EARLY_NEIGHBOUR("-x", "n2", "00000000000000a2", "-x", "[2]", "false", "false") "]}");
	expect("nodes", 1);
	has(out, "\n2     n2    +x -x      unconfirmed, contradicts  00000000000000a2\n");
}

static void links_without_table_are_labelled_preliminary(void **state)
{
	json_t *j, *l;

	(void)state;
	fake.early = EARLY_WAVE;
	expect("links", 1);
	has(out, "preliminary, there is no table yet: this is what n1-0 knows itself");
	has(out, "LINK    PEER     NAME  STATE  EXPECTED  GUID              CONTRADICTION\n"
		 "1,0:+x  2,0:-x   n2-0  up     2,0:-x    00000000000000a2  -\n"
		 "1,0:+y  3,-1:-y  n3-3  up     1,1:-y    00000000000000a3  leads to the wrong node\n"
		 "1,0:-x  -        -     down   0,0:+x    -                 -\n"
		 "1,0:-y  ?:+y     -     up     1,-1:+y   00000000000000a4  -\n");
	expect("links --bad", 1);
	has(out, "1,0:+y  ");
	has(out, "1,0:-x  ");
	assert_null(strstr(out, "1,0:+x"));
	assert_null(strstr(out, "1,0:-y"));
	expect("links --json", 1);
	j = printed();
	assert_int_equal(json_array_size(j), 4);
	l = json_array_get(j, 1);
	assert_true(json_is_true(json_object_get(l, "preliminary")));
	assert_string_equal(json_string_value(json_object_get(l, "fault")), "leads to the wrong node");
	assert_string_equal(json_string_value(json_object_get(json_object_get(l, "peer"), "name")), "n3-3");
	assert_string_equal(json_string_value(json_object_get(json_object_get(l, "expected"), "port")), "-y");
	assert_true(json_is_null(json_object_get(json_array_get(j, 2), "peer")));
	json_decref(j);
}

/* A node that knows nothing, and what needs a table, are refused as before. */
static void commands_that_need_table_fail_without_it(void **state)
{
	static const char *const refused[] = { "links 1,0", "nodes n1-0", "nodes --map", "counters" };

	(void)state;
	fake.early = EARLY_WAVE;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		expect(refused[i], 1);
		has(err, "the fabric is still bootstrapping");
		assert_string_equal(out, "");
	}
	fake.early = EARLY_OWN("null");
	expect("nodes", 1);
	has(err, "the fabric is still bootstrapping");
	assert_string_equal(out, "");
	expect("links --json", 1);
	has(err, "the fabric is still bootstrapping");
}

/* A row for each node with an excluded port; the lowest bit is that of +x. */
static void table_shows_nodes_with_excluded_ports(void **state)
{
	(void)state;
	expect("table", 0);
	has(out, " of epoch 3, ");
	has(out, "no port is excluded");
	fake.excluded[4] = 1 << 0 | 1 << 3;
	fake.admin[4] = 1 << 3;
	expect("table", 0);
	has(out, "4x4: 16 nodes of 4 ports, 2 of 64 ports excluded\n");
	has(out, "NODE  STATE  BITS  +x     +y  -x  -y\n");
	has(out, "0,1   up        9  fault  .   .   admin\n");
	assert_null(strstr(out, "0,0"));
	expect("table --all", 0);
	has(out, "0,0   up        0  .      .   .   .\n");
	fake.excluded[4] = fake.admin[4] = 0;
}

/* The text says what was done: to a port, to a level and to parked packets. */
static void link_log_and_park_report_what_was_done(void **state)
{
	(void)state;
	expect("link up 1,0:-x", 0);
	has(out, "1,0:-x is up again and trains as soon as it has a carrier\n");
	expect("link down 1,0:-x", 0);
	has(out, "1,0:-x is down until 'fabricctl link up'");
	expect("link retrain 1,0:-x", 0);
	has(out, "1,0:-x trains again\n");
	expect("link retry 1,0:-x acknak", 0);
	has(out, "1,0:-x asks for acknak from the next start of the link on\n");
	expect("link retry 1,0:-x pcie", 2);
	has(err, "retry protocol 'pcie': must be angara, acknak, hippi or auto");
	expect("log debug", 0);
	has(out, "log level debug\n");
	expect("log", 0);
	assert_null(json_object_get(fake.request, "level"));
	expect("park --replay n1-0", 0);
	assert_string_equal(json_string_value(json_object_get(fake.request, "cmd")), "replay");
	assert_string_equal(json_string_value(json_object_get(fake.request, "node")), "1,0");
	has(out, "1 packet handed back to the network\n");
	expect("park --replay n0-0", 0);
	has(out, "no packet is parked there\n");
}

/* The values of a manager with their sources, and what differs between managers. */
static void config_shows_sources_and_differences(void **state)
{
	(void)state;
	expect("config 1,0", 0);
	has(out, "name 1 (1,0), fabricd 0.1.0, /f.conf\n");
	has(out, "[timers] keepalive  2s     line 17\n");
	has(out, "[links] warn_ber    1e-10  default\n");
	has(out, "--record            -      default\n");
	expect("config --diff", 3);
	has(out, "software          0.1.0");
	has(out, "15  0,0 1,0 2,0 0,1 1,1 2,1 and 9 more\n");
	has(out, "                  0.0.9                            1  3,0\n");
	has(out, "timers.keepalive  1s                              15  0,0 2,0 3,0 0,1 1,1 2,1 and 9 more\n");
	has(out, "                  2s                               1  1,0\n");
	has(out, "(not known to this release)      1  3,0\n");
	assert_null(strstr(out, "name"));
	expect("config --diff --json", 3);
	has(out, "[{\"key\":\"software\",\"values\":[{\"value\":\"0.1.0\",\"known\":true,\"nodes\":[[0,0],");
}

/* A long answer comes in parts. */
static void answer_in_parts_is_joined(void **state)
{
	json_t *got;

	(void)state;
	fake.split = true;
	expect("park --json", 0);
	got = printed();
	assert_int_equal(json_array_size(got), 16);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(json_integer_value(json_object_get(json_array_get(got, i),
								   "parked")), i);
	json_decref(got);
}

/* The end of a cable that is worse counts, whichever it is. */
static void map_draws_worse_end_of_each_cable(void **state)
{
	(void)state;
	fake_stop(&fake);
	fake_start(&fake, "3x2");
	fake.excluded[1] = 1 << 2;
	fake.held[3] = 1;
	expect("nodes --map", 0);
	fake.dead[4] = true;
	expect("nodes --map", 1);
	has(out, "  |        |        |      \n"
		 " 0,1  .. (1,1) --  2,1  -- \n"
		 "  |        |        |      \n"
		 " 0,0  xx  1,0  --  2,0  -- \n");
}

static void trace_shows_hops_and_excluded_links(void **state)
{
	json_t *j;

	(void)state;
	expect("trace 0,0 1,0", 0);
	has(out, "0,0 +x--> 1,0\n1 hop, shortest 1\n");
	expect("trace 0,0 0,0", 0);
	has(out, "0,0\n0 hops");
	fake.excluded[0] = 1;
	expect("trace 0,0 1,0", 1);
	has(out, "crosses an excluded link\n");
	fake_rows(&fake);
	fake.dead[10] = true;
	fake.row[0][10] = 0;
	expect("trace 0,0 2,2", 1);
	has(out, "no valid row: 2,2 is not up\n");
	fake.dead[10] = false;
	fake.excluded[10] = fake.admin[10] = 0xf;
	expect("trace 0,0 2,2", 1);
	has(out, "no valid row: an administrator has excluded 2,2\n");
	fake.excluded[10] = fake.admin[10] = 0;
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

/* The path to 2,2 leads through relay 0,1; then also through 1,1; then in a circle. */
static void trace_shows_relays_and_circles(void **state)
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
	/* Where the rows of a relay cannot be read, it is not known how the way goes on. */
	fake.silent[5] = true;
	expect("trace 0,0 2,2", 1);
	has(out, "0,0 +y--> 0,1 (relay) +x--> 1,1 (relay)\n"
		 "its rows cannot be read: whether the packet arrives is not known\n");
	expect("trace 0,0 2,2 --json", 1);
	j = printed();
	assert_string_equal(json_string_value(json_object_get(j, "end")), "unread");
	assert_int_equal(json_array_size(json_object_get(j, "via")), 2);
	json_decref(j);
	fake.silent[5] = false;
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
	expect("verify --json", 0);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "relayed")), 1);
	json_decref(j);
}

static void routes_decodes_rows(void **state)
{
	json_t *j, *row;

	(void)state;
	fake.row[0][1] = TORUS_ROW_VALID | TORUS_ROW_HOLD | 1ULL << 1 |
			 0ULL << TORUS_ROW_FIRST_SHIFT | 3ULL << TORUS_ROW_LAST_SHIFT;
	fake.row[0][2] = 0;
	expect("routes 0,0", 0);
	has(out, "TO   DIRECTIONS  FIRST  LAST  HOPS  ADAPTIVE     VIA  HOLD\n");
	has(out, "1,0  +y          +x     -y       3  -            -    hold\n");
	has(out, "2,0  no way");
	has(out, "2,1  +y -x       -      -        3  +x +y -x     -    -\n");
	expect("verify", 1);
	has(out, "; 1 on hold\n");
	expect("verify --json", 1);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "held")), 1);
	json_decref(j);
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

static void verify_names_each_culprit(void **state)
{
	json_t *j;

	(void)state;
	expect("verify", 0);
	has(out, "240 pairs of 16 nodes walked");
	fake.former = true;
	expect("verify", 0);
	has(out, "240 pairs of 16 nodes walked");
	assert_string_equal(err, "");
	fake.former = false;
	fake.excluded[5] = 3;
	fake_rows(&fake);
	expect("verify", 0);
	fake.dead[7] = true;
	expect("verify", 0);
	has(out, "missing    3,1 (n3-1) is dead: its rows are not read\n");
	assert_string_equal(err, "");
	expect("verify --names", 0);
	has(out, "missing    n3-1 is dead: its rows are not read\n");
	has(out, "210 pairs of 15 nodes");
	expect("verify --json", 0);
	has(out, "\"missing\":[[3,1]]");
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
	assert_null(strstr(out, "more"));
	/* The first 20 of 30 are shown. */
	memset(fake.row[2], 0, sizeof(fake.row[2]));
	memset(fake.row[3], 0, sizeof(fake.row[3]));
	expect("verify", 1);
	has(out, "3,0 to 2,2: no valid row\n... and 10 more; --json lists all\n");
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
static void excluded_node_is_no_culprit_of_verify(void **state)
{
	json_t *j;

	(void)state;
	fake.excluded[10] = fake.admin[10] = 0xf;
	fake_rows(&fake);
	expect("verify", 0);
	has(out, "excluded   2,2: an admin took it out\n210 pairs of 16 nodes walked");
	expect("nodes", 3);
	has(out, "2,2   n2-2  up (excluded)    now  ");
	has(out, "1,2   n1-2  up               now  ");
	expect("status", 0);
	has(out, "nodes    16 of 16 up, 1 excluded\n");
	expect("verify --json", 0);
	j = printed();
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 0);
	assert_int_equal(json_array_size(json_object_get(j, "excluded")), 1);
	json_decref(j);
	/*
	 * A cable broke instead of being excluded: then no administrator wanted the node to be cut
	 * off.
	 */
	fake.admin[10] = 7;
	expect("verify", 1);
	has(out, "cut-off    2,2: ");
	/*
	 * 0 and 2 of a ring are excluded; 1, between them, is cut off: no administrator wanted
	 * that.
	 */
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

static void dry_run_of_exclude_changes_nothing(void **state)
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
	assert_null(strstr(out, "refused"));
	expect("exclude 1,1 9,9 --dry-run", 2);
	has(err, "9,9");
	/* If one argument is wrong, nothing is excluded. */
	expect("exclude 1,1 0,0:+x 9,9", 2);
	assert_string_not_equal(json_string_value(json_object_get(fake.request, "cmd")), "exclude");
}

/* An error that the root would report is an error of a dry run, too, with its reason. */
static void dry_run_reports_what_root_would_refuse(void **state)
{
	char all[512] = "exclude -n", at[TORUS_TEXT_MAX];
	json_t *j;

	(void)state;
	for (uint32_t i = 0; i < fake.nodes; i++) {
		expect(all, i ? i + 1 < fake.nodes ? 0 : 1 : 2);
		strcat(all, " ");
		strcat(all, torus_node_text(&fake.shape, i, at));
	}
	has(out, "would be refused without --force: only one node would be left in service\n");
	strcat(all, " --json");
	expect(all, 1);
	j = printed();
	assert_false(json_is_true(json_object_get(j, "ok")));
	assert_int_equal(json_integer_value(json_object_get(j, "left")), 0);
	assert_string_equal(json_string_value(json_object_get(j, "refused")),
			    "no node would be left in service");
	json_decref(j);
	/* Without their links 1,1 and 2,1 are cut off, but 1,1 is out of service: it needs none. */
	fake.excluded[5] = fake.admin[5] = 0xf;
	fake.excluded[6] = 0xb;
	fake_rows(&fake);
	expect("exclude 2,1:-x 0,0 --dry-run", 0);
	assert_null(strstr(out, "cut off"));
	fake.excluded[6] = 7;
	fake_rows(&fake);
	expect("exclude 2,1:-y --dry-run", 1);
	assert_null(strstr(out, "cut off 1,1"));
	has(out, "cut off 2,1\nwould be refused without --force: nodes would be cut off\n");
}

/* The job of the nodes 0,0 to 1,1 uses its own four cables alone: without two of them it is divided. */
static void dry_run_reports_that_job_would_be_divided(void **state)
{
	json_t *j;

	(void)state;
	expect("exclude 0,0:+x 0,0:+y --dry-run", 0);
	fake.job = true;
	expect("exclude 0,0:+x --dry-run", 0);
	expect("exclude 0,0 --dry-run", 0);
	expect("exclude 0,0:+x 0,0:+y --dry-run", 1);
	has(out, "would be refused without --force: job 'mine' would be divided into 2 parts\n");
	assert_null(strstr(out, "cut off"));
	expect("exclude 0,0 1,1 --dry-run --json", 1);
	j = printed();
	assert_string_equal(json_string_value(json_object_get(j, "refused")),
			    "job 'mine' would be divided into 2 parts");
	json_decref(j);
	/* A job that is divided already is not divided by another exclusion. */
	fake.excluded[0] = 3;
	fake.excluded[1] = 4;
	fake.excluded[4] = 8;
	fake_rows(&fake);
	expect("exclude 0,0:-x --dry-run", 0);
}

/* An order refused because it cuts nodes off exits with 1; --force is passed on. */
static void refused_exclude_fails_and_force_is_passed_on(void **state)
{
	(void)state;
	fake.cuts_off = true;
	expect("exclude 1,0:+x", 1);
	has(err, "no such thing");
	expect("exclude 1,0:+x 0,1", 1);
	expect("exclude 1,0:+x --force", 0);
	assert_true(json_is_true(json_object_get(fake.request, "force")));
	expect("exclude 1,0:+x 0,1 --force", 0);
	assert_true(json_is_true(json_object_get(fake.request, "force")));
	fake.cuts_off = false;
	fake.former = true;
	expect("exclude 1,0:+x --force", 0);
	assert_null(json_object_get(fake.request, "force"));
	expect("exclude 1,0:+x 0,1 --force", 0);
	assert_null(json_object_get(fake.request, "force"));
}

/* Drained: in force, no packet at either end, none parked or held; what is left is said. */
static void drain_reports_what_is_left(void **state)
{
	json_t *j, *wait;

	(void)state;
	fake.queued = 3;
	expect("drain 1,0:+x --reason dust", 0);
	has(out, "1,0:+x is drained: the cable may be pulled\n");
	assert_int_equal(fake.queued, 0);
	/* Packets that are still on their way to the cable: its ports are empty between them. */
	fake.flowing = 1000000;
	expect("drain 1,0:+x --timeout 1.5", 6);
	has(err, "1,0:+x: 2 packets received since the last check; do not pull");
	fake.flowing = 9;
	expect("drain 1,0:+x", 0);
	assert_int_equal(fake.flowing, 0);
	/* Managers go on sending management packets over a cable that is excluded. */
	fake.inits = 1;
	expect("drain 1,0:+x", 0);
	assert_true(fake.inits > 10);
	fake.inits = 0;
	expect("drain 1,0:+x --timeout 0.3", 6);
	has(err, " of 10 checks in a row found no packet");
	fake.at_rest = true;
	expect("drain 1,0 2,0:+y", 0);
	has(out, "1,0, 2,0:+y are drained: the cables may be pulled, and the node stopped\n");
	expect("drain 1,0 0,3", 0);
	has(out, "1,0, 0,3 are drained: the cables may be pulled, and the nodes stopped\n");
	fake.queued = 1000000;
	expect("drain 1,0:+y --timeout 0.3", 6);
	has(err, "not drained after 0.3 s: 1,0:+y: 2 packets queued; do not pull anything yet");
	assert_string_equal(out, "");
	expect("drain 1,0:+x --timeout 0.3", 6);
	has(err, "1,0:+x: 1 packet queued; do not");
	expect("drain 1,0:+y --timeout 0.3 --json", 6);
	j = printed();
	assert_true(json_is_false(json_object_get(j, "drained")));
	assert_true(json_is_true(json_object_get(j, "in_force")));
	/* The other end of the cable, too, and no other ports. */
	assert_int_equal(json_array_size(json_object_get(j, "waits")), 2);
	wait = json_array_get(json_object_get(j, "waits"), 1);
	assert_string_equal(json_string_value(json_object_get(wait, "port")), "-y");
	assert_int_equal(json_integer_value(json_object_get(wait, "packets")), 4);
	json_decref(j);
	fake.queued = 0;
	fake.at_rest = false;
	expect("drain 1,0 --timeout 0.3", 6);
	has(err, "1,0: 6 packets parked or held; do not pull");
	expect("drain 1,0:+x", 0);
	fake.state = "recovering";
	expect("drain 1,0:+x --timeout 0.3", 6);
	has(err, "the exclusion is not in force; do not pull");
	fake.state = "degraded";
	/* The answer reports the table before; those after it, of the next root, lack the order. */
	fake.forgets = true;
	fake.late = true;
	expect("drain 2,2:+y --timeout 0.3", 6);
	has(err, "the exclusion is not, or not any more, in the table; do not pull anything yet. "
		 "'fabricctl table' shows");
	expect("drain 2,2:+y --timeout 0.3 --json", 6);
	j = printed();
	assert_true(json_is_false(json_object_get(j, "in_force")));
	json_decref(j);
	/* An exclusion at one end alone is not enough. */
	fake.excluded[10] = 2;
	expect("drain 2,2:+y --timeout 0.3", 6);
	has(err, "not any more, in the table");
	fake.excluded[14] = 8;
	expect("drain 2,2:+y", 0);
	fake.forgets = false;
	fake.late = false;
	fake.cuts_off = true;
	expect("drain 1,0:+x", 1);
	expect("drain 1,0:+x --force", 0);
	fake.kept_of = 8;
	fake.kept_have = 4;
	expect("drain 1,0:+x --force", 3);
	has(out, "is drained");
	has(err, "only 4 of 8 candidates");
	/* Disks that are slower than the answer to the order. */
	fake.kept_gain = 1;
	expect("drain 1,0:+x --force", 0);
	has(out, "is drained");
	assert_string_equal(err, "");
	fake.kept_gain = 0;
	fake.kept_of = 0;
}

/* A manager of an earlier release is asked for one link after the other. */
static void former_manager_is_asked_link_by_link(void **state)
{
	(void)state;
	fake.former = true;
	expect("exclude 1,0:+x n2-0 --reason dust", 0);
	assert_string_equal(json_string_value(json_object_get(fake.request, "node")), "2,0");
	assert_string_equal(json_string_value(json_object_get(fake.request, "reason")), "dust");
	assert_null(json_object_get(fake.request, "links"));
	fake.former = false;
}

#define TEN "aaaaaaaaaa"

/* A reason that terminals or JSON could not show is refused, and shown. */
static void unprintable_reason_is_refused(void **state)
{
	(void)state;
	expect("exclude 1,0:+x --reason \xff", 2);
	has(err, "--reason '\\xff': must be ");
	expect("drain 1,0:+x --reason a\x1b[31mb~\x7f", 2);
	has(err, "--reason 'a\\x1b[31mb~\\x7f': must be ");
	expect("exclude 1,0:+x --reason \x01" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
	       TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN, 2);
	has(err, "aaa...': must be ");
}

/* A change that is not in force, or not on the disks of most candidates, is told as such. */
static void exclude_warns_if_too_few_candidates_keep_it(void **state)
{
	(void)state;
	expect("exclude 1,0:+x", 0);
	assert_string_equal(err, "");
	fake.kept_of = 8;
	fake.kept_have = 5;
	expect("include 1,0:+x", 0);
	fake.kept_have = 4;
	expect("exclude 1,0:+x", 3);
	has(err, "in force, but only 4 of 8 candidates for the root have it on disk");
	expect("include 1,0:+x --json", 3);
	fake.late = true;
	expect("exclude 1,0:+x", 1);
	has(err, "not in force yet");
}

/* The eye of a lane that is not in use looks like one that was never opened: it is said why. */
static void closed_eye_is_shown_with_reason(void **state)
{
	json_t *j;

	(void)state;
	fake.narrow[1] = 1;
	expect("link eye 1,0:+x", 0);
	has(out, "1,0:+x lane 0\n\n");
	expect("link eye 1,0:+x --lane 1", 0);
	has(out, "1,0:+x lane 1: off, not trained yet\n\n");
	expect("link eye 1,0:+x --lane 2", 0);
	has(out, "1,0:+x lane 2: dead, without a signal, and switched off\n\n");
	expect("link eye 1,0:+x --lane 2 --json", 0);
	j = printed();
	assert_string_equal(json_string_value(json_object_get(j, "state")), "dead");
	json_decref(j);
	fake.narrow[1] = 0;		/* a NIC that reports nothing of lanes */
	expect("link eye 1,0:+x", 0);
	has(out, "1,0:+x lane 0\n\n");
	/* The eye came; the question for the lane's state fails. */
	fake.silent[1] = true;
	expect("link eye 1,0:+x", 5);
	has(out, "1,0:+x lane 0\n\n");
	has(out, "bit error rate if decided there");
}

/*
 * Tells that all was so already, unless one of several arguments was not; an old manager cannot
 * tell.
 */
static void unchanged_order_reports_that_nothing_changes(void **state)
{
	json_t *j;

	(void)state;
	fake.unchanged = 3;
	expect("include 1,0:+x", 0);
	has(out, "nothing to change; table version 7, ");
	expect("exclude 1,0:+x 0,1 --json", 0);
	j = printed();
	assert_true(json_is_false(json_object_get(j, "changed")));
	json_decref(j);
	fake.unchanged = 0;
	expect("exclude 1,0:+x 0,1", 0);
	assert_null(strstr(out, "nothing to change"));
	expect("include 1,0:+x 0,1 --json", 0);
	j = printed();
	assert_true(json_is_true(json_object_get(j, "changed")));
	json_decref(j);
	fake.former = true;
	expect("include 1,0:+x", 0);
	assert_null(strstr(out, "nothing to change"));
}

/*
 * Both far ends of a cable that is connected wrongly are shown: the one that is there, and the
 * right one.
 */
static void wrong_cable_shows_expected_end_too(void **state)
{
	(void)state;
	fake.swapped[1] = 1;
	expect("links 1,0", 0);
	has(out, "1,0:+x  2,0:-x (expected 3,3:-y)  up ");
	has(out, "1,0:+y  1,1:-y                    up ");
}

/* Worst first: a link that is lost, one that an administrator excluded, one with fewer lanes, none. */
static void bad_links_come_worst_first(void **state)
{
	json_t *j;

	(void)state;
	expect("links --bad", 0);
	has(out, "no link is bad");
	fake.narrow[1] = 1;
	expect("links --bad", 3);
	has(out, "1,0:+x  2,0:-x  up     1 min 30 s      0  -         10/12    5000    131%");
	fake.excluded[2] = fake.held[2] = 2;
	expect("links --bad", 1);
	has(out, "1,0:+x");
	has(out, "2,0:+y  2,1:-y  faulty (carrier)");
	/* JSON: the same links, without lanes unless --all is given, too. */
	expect("links --bad --json", 1);
	j = printed();
	assert_int_equal(json_array_size(j), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "port")), "+x");
	assert_null(json_object_get(fake.request, "lanes"));
	assert_null(json_object_get(fake.request, "brief"));
	json_decref(j);
	expect("links --bad --json --all", 1);
	assert_true(json_is_true(json_object_get(fake.request, "lanes")));
	expect("links", 0);
}

/* On a narrow screen, a wide table leaves out columns that say nothing. */
static void narrow_screen_leaves_out_empty_columns(void **state)
{
	(void)state;
	setenv("COLUMNS", "80", 1);
	expect("links 1,0", 0);
	has(out, "LINK    PEER    STATE      UP FOR  ERRORS     SENT  RECEIVED\n"
		 "1,0:+x  2,0:-x  up     1 min 30 s       2  5.0 MiB   6.0 MiB\n");
	fake.excluded[1] = 1;
	expect("links 1,0", 0);
	has(out, "UP FOR  DOWNS  EXCLUDED  RETRIES  ERRORS ");
	expect("links --all 1,0", 0);
	has(out, "1,0:+x to 2,0:-x: faulty for 1 min 30 s, reason carrier, ");
	has(out, "1,0:+y to 1,1:-y: up for 1 min 30 s, last reason silence, ");
	setenv("COLUMNS", "400", 1);
	expect("links 1,0", 0);
	has(out, "LANES  MBIT/S");
}

static void option_names_shows_names_for_coordinates(void **state)
{
	(void)state;
	expect("links 1,0 --names", 0);
	has(out, "n1-0:+x  n2-0:-x  up ");
	expect("counters --names", 0);
	has(out, "n3-3 ");
	expect("trace 0,0 1,0 --names", 0);
	has(out, "n0-0 +x");
	expect("exclude 1,0:+x --names --dry-run", 0);
	expect("links n1-0 --names --json", 0);
	has(out, "\"node\":[1,0]");
	fake.early = "{}";
	expect("status --names", 0);
}

/* Names that are not coordinates are looked up by the manager; a port follows the last colon. */
static void other_names_are_looked_up_by_manager(void **state)
{
	static const char *const same[] = { "10.2.1.0", "172.30.0.4:7117", "07b5622827000006",
					    "1234567812345678", "[fd00::1]:7117" };
	char args[64];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(args, sizeof(args), "coord %s", same[i]);
		expect(args, 2);
		snprintf(args, sizeof(args), "links %s", same[i]);
		expect(args, 2);
		assert_string_equal(json_string_value(json_object_get(fake.request, "cmd")), "coord");
		assert_string_equal(json_string_value(json_object_get(fake.request, "name")), same[i]);
		snprintf(args, sizeof(args), "exclude %s:+x", same[i]);
		expect(args, 2);
		assert_string_equal(json_string_value(json_object_get(fake.request, "name")), same[i]);
	}
	expect("exclude 172.30.0.4:7117", 2);
	assert_string_equal(json_string_value(json_object_get(fake.request, "name")), "172.30.0.4:7117");
}

static void nodes_that_did_not_answer_are_named(void **state)
{
	(void)state;
	fake.silent[2] = fake.silent[3] = true;
	expect("links", 1);
	has(err, "2 nodes did not answer: 2,0 3,0");
	has(out, "0,0:+x");
	expect("verify", 1);
	has(out, "2,0: its rows cannot be read");
	has(out, "3,0: its rows cannot be read");
	has(out, "210 pairs of 14 nodes walked");
	expect("nodes", 1);
	has(out, "1,0   n1-0  up           now  10.0.0.0      7  -");
	has(out, "2,0   n2-0  up     2.1 s ago  10.0.0.0      -  -");
}

/* If a node does not answer, its neighbours know the other ends of its cables. */
static void links_of_silent_node_come_from_neighbours(void **state)
{
	json_t *j;

	(void)state;
	fake.silent[5] = true;
	fake.excluded[6] = 4;
	expect("links 1,1", 1);
	has(err, "node 1,1 does not answer: these are its neighbours' ends of its cables");
	has(out, "\n2,1:-x  1,1:+x  faulty (carrier) ");
	has(out, "\n1,2:-y  1,1:+y  up ");
	has(out, "\n0,1:+x  1,1:-x  up ");
	has(out, "\n1,0:+y  1,1:-y  up ");
	assert_null(strstr(out, "1,1:+x  2,1:-x"));
	expect("links 1,1 --json", 1);
	j = printed();
	assert_int_equal(json_array_size(j), 4);
	json_decref(j);
	fake.former = true;
	expect("links 1,1", 1);
	has(out, "\n1,0:+y  1,1:-y  up ");
	fake.former = false;
	fake.silent[4] = fake.silent[6] = fake.silent[1] = fake.silent[9] = true;
	expect("links 1,1", 5);
	has(err, "node '1,1' does not answer, nor do its neighbours");
}

/* With --json a failure is an object on standard output, too, with the manager's code. */
static void failure_with_json_is_object_with_code(void **state)
{
	static const struct {
		const char *args;
		int status;
		const char *code, *text;
	} wrong[] = {
		{ "links 9,9 --json", 2, "usage", "node '9,9': must be 0,0 to 3,3" },
		{ "coord nobody --json", 2, "usage", "no such thing in this fabric" },
		{ "status --json --nothing", 2, "usage", "there is no option '--nothing'" },
		{ "status --json --noth\xff", 2, "usage", "there is no option '--noth" },
		{ "status --json --control /nowhere", 5, "unreachable", "cannot ask the manager behind" },
		{ "exclude 1,0:+x --json", 1, "cuts-off", "no such thing" },
		{ "drain 1,0:+x 1,1 --json=full", 1, "cuts-off", "no such thing" },
		{ "trace 0,0 --json", 2, "usage", "an argument is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *j;

		fake.cuts_off = !strcmp(wrong[i].code, "cuts-off");
		expect(wrong[i].args, wrong[i].status);
		has(err, wrong[i].text);
		j = printed();
		assert_true(json_is_false(json_object_get(j, "ok")));
		assert_string_equal(json_string_value(json_object_get(j, "code")), wrong[i].code);
		has(json_string_value(json_object_get(j, "error")), wrong[i].text);
		json_decref(j);
	}
	fake.cuts_off = false;
	/* An answer has no such object beside it. */
	fake.dead[3] = true;
	expect("status --json", 1);
	json_decref(printed());
	expect("links 9,9", 2);
	assert_string_equal(out, "");
}

/* --json=full: an envelope that says what the answer lacks. */
static void json_names_nodes_that_did_not_answer(void **state)
{
	json_t *j;

	(void)state;
	expect("links --json=full", 0);
	j = printed();
	assert_int_equal(json_array_size(json_object_get(j, "data")), 64);
	assert_int_equal(json_array_size(json_object_get(j, "missing")), 0);
	assert_true(json_is_array(json_object_get(j, "missing")));
	assert_true(json_is_null(json_object_get(j, "rootless")));
	json_decref(j);
	fake.silent[2] = fake.silent[3] = true;
	expect("counters --json=full", 1);
	j = printed();
	assert_int_equal(json_array_size(json_object_get(j, "data")), 14);
	assert_int_equal(json_array_size(json_object_get(j, "missing")), 2);
	json_decref(j);
	expect("counters --json", 1);
	j = printed();
	assert_int_equal(json_array_size(j), 14);
	json_decref(j);
	fake.rootless = true;
	expect("counters --json=full", 1);
	j = printed();
	assert_true(json_is_object(json_object_get(json_object_get(j, "rootless"), "own")));
	json_decref(j);
}

/* A file with this text. Return: its name, to be removed. */
static const char *file_of(const char *text)
{
	static char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/test_fabricctl.%d.file", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

#define PLAN "cable,from,to\n1,\"0,0:+x\",\"1,0:-x\"\n"

/* The plan has all cables; against it, it is said in words what is to be moved. */
static void cabling_shows_what_differs_from_plan(void **state)
{
	const char *path = file_of("# swapped\n\"0,0:+x\",\"1,1:-x\"\nn0-1:+x,n1-0:-x\n");
	char args[128];
	json_t *j;

	(void)state;
	expect("cabling", 0);
	has(out, "all cables are as planned\n");
	expect("cabling --plan", 0);
	has(out, "    1  0,0:+x  1,0:-x  n0-0 0,0:+x > n1-0 1,0:-x  n1-0 1,0:-x > n0-0 0,0:+x\n");
	has(out, "\n   32  3,3:+y  3,0:-y  ");
	expect("cabling --csv", 0);
	has(out, "\n2,\"0,0:+y\",\"0,1:-y\",\"n0-0 0,0:+y > n0-1 0,1:-y\",");
	expect("cabling --plan --shape 3 --json", 0);
	j = printed();
	assert_int_equal(json_array_size(j), 3);
	json_decref(j);
	snprintf(args, sizeof(args), "cabling --expect %s", path);
	expect(args, 1);
	has(out, "move the end at 1,0:-x (n1-0) to 1,1:-x (n1-1)\n");
	has(out, "move the end at 1,1:-x (n1-1) to 1,0:-x (n1-0)\n");
	has(out, "remove the cable from 0,0:+y (n0-0) to 0,1:-y (n0-1)\n");
	strcat(args, " --json");
	expect(args, 1);
	j = printed();
	assert_true(json_is_false(json_object_get(j, "ok")));
	assert_int_equal(json_array_size(json_object_get(j, "steps")), 32);
	json_decref(j);
	/* The plan of one's own is right, but for a link that is down. */
	expect("cabling --csv", 0);
	file_of(out);
	fake.excluded[10] = 1;
	fake.excluded[11] = 4;
	snprintf(args, sizeof(args), "cabling --expect %s", path);
	expect(args, 1);
	assert_string_equal(out, "plug in a cable from 2,2:+x (n2-2) to 3,2:-x (n3-2), or repair it\n");
	file_of(PLAN "2,\"2,0:+x\",\"9,0:-x\"\n");
	expect(args, 2);
	has(err, ":3: '9,0:-x': must be two ends");
	file_of(PLAN "2,\"0,0:+x\",\"3,0:-x\"\n");
	expect(args, 2);
	has(err, ":3: 0,0:+x or 3,0:-x has another cable already");
	/* A plan that was cut off would have all further cables removed. */
	file_of(PLAN "2,\"2,0:+x\",\"3,0:-x\",\"n2-0 2,0:+x > n3");
	expect(args, 2);
	has(err, ":3: a quote has no end: is a part of this plan missing?\n");
	assert_string_equal(out, "");
	/* The plan was written by a spreadsheet. */
	file_of("\xef\xbb\xbf" PLAN "2,\"9,9:+x\",\"3,0:-x\"\r\n");
	expect(args, 2);
	has(err, ":3: '9,9:+x': must be two ends");
	/* Bytes that control a terminal are not printed. */
	file_of(PLAN "2,\"\033[2J\177:+x\",\"3,0:-x\"\n");
	expect(args, 2);
	has(err, ":3: '?[2J?:+x': must be two ends");
	snprintf(args, sizeof(args), "cabling --svg %s", path);
	expect(args, 0);
	unlink(path);
	expect("cabling --expect /no/such", 2);
	has(err, "/no/such: No such file");
	expect("cabling --expect /dev/null", 2);
	has(err, "/dev/null: no cable is in this plan");
	expect("cabling --expect /", 2);
	has(err, "/: Is a directory");
}

#define SAVED(at, name, guid, more) \
	"{\"node\":" at ",\"name\":\"" name "\",\"guid\":\"" guid "\",\"service\":null," \
	"\"software\":\"" more "\"}"

static void inventory_shows_what_changed_since_saved(void **state)
{
	char args[128], *saved;
	json_t *j;
	size_t n;

	(void)state;
	fake_stop(&fake);
	fake_start(&fake, "2");
	expect("inventory", 0);
	has(out, "1     n1    00000000000000ab  -        0.1.0\n");
	expect("inventory --json", 0);
	saved = strdup(out);
	snprintf(args, sizeof(args), "inventory --diff %s", file_of(saved));
	free(saved);
	expect(args, 0);
	has(out, "nothing has changed");
	file_of("{\"nodes\":[" SAVED("[0]", "n0", "00000000000000ff", "0.1.0") ","
		SAVED("[1]", "old", "00000000000000ab", "0.0.9") "," SAVED("[7]", "n7", "0000000000000077", "0") "]}");
	expect(args, 1);
	assert_string_equal(out, "0 (n0) has another NIC: 00000000000000aa, was 00000000000000ff\n"
				 "1 (n1) has another name: n1, was old\n"
				 "1 (n1) has another software: 0.1.0, was 0.0.9\n"
				 "7 (n7) is gone, GUID 0000000000000077\n");
	file_of("{\"nodes\":[" SAVED("[1]", "n0", "00000000000000aa", "0.1.0") "]}");
	expect(args, 1);
	assert_string_equal(out, "0 (n0) was at 1\n1 (n1) is new, GUID 00000000000000ab\n");
	strcat(args, " --json");
	expect(args, 1);
	j = printed();
	n = json_array_size(j);
	json_decref(j);
	assert_int_equal(n, 2);
	unlink(file_of("[]"));
	expect(args, 2);
	has(err, ": No such file or directory");
}

/* A file that is not of inventory --save: the error says so, and nothing is compared with it. */
static void file_that_is_no_inventory_is_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} of[] = {
		{ "", "it is not an inventory: line 1 is not JSON; 'inventory --save' writes one" },
		{ "{\n\"nodes\": hello", "it is not an inventory: line 2 is not JSON; " },
		{ "[]", "it is not an inventory; 'inventory --save' writes one" },
		{ "{\"nodes\":7}", "it is not an inventory; " },
		{ "{\"nodes\":[1]}", "it is not an inventory; " },
		{ "{\"nodes\":[{\"node\":5,\"guid\":\"00000000000000aa\"}]}", "it is not an inventory; " },
		{ "{\"nodes\":[{\"node\":[0]}]}", "it is not an inventory; " },
	};
	char args[128];

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		snprintf(args, sizeof(args), "inventory --diff %s", file_of(of[i].text));
		expect(args, 2);
		has(err, of[i].error);
		assert_string_equal(out, "");
	}
}

static void malformed_answer_is_reported_as_error(void **state)
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
			expect(commands[c], 1);
			has(err, "fabricctl: ");
		}
}

static const char long_node[] =
	"{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
	"17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38]}}";

/* Data of the wrong type in an answer: fabricctl must not crash. */
static void data_of_wrong_type_does_not_crash(void **state)
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

/* A manager that goes away is tried again for as long as wanted. */
static void followed_manager_that_goes_away_is_tried_again(void **state)
{
	const char *second;

	expect("events --follow --local --since 3 --timeout 0.2", 5);
	assert_int_equal(json_integer_value(json_object_get(fake.request, "since")), 3);
	has(err, "no answer from the manager");
	has(err, " is tried again for 0.2 s\n");
	has(err, "No such file or directory");
	second = strchr(out, '\n');
	assert_non_null(second);
	has(second + 1, "link 1,0:+x down");
	fake_teardown(state);
	fake_setup(state);
	expect("events -f --json --timeout 0.2", 5);
	second = strchr(out, '\n');
	assert_non_null(second);
	has(second + 1, "link 2,0:+x up");
	*strchr(out, '\n') = '\0';
	json_decref(printed());
}

/* Options of events become arguments of the question to the manager. */
static void options_of_events_become_question_to_manager(void **state)
{
	static const struct {
		const char *args, *request;
	} t[] = {
		{ "events", "{\"cmd\":\"history\",\"from\":0,\"last\":512}" },
		{ "events --since 2026-11-26 --until 2026-11-27T03:04:05 --level error",
		  "{\"cmd\":\"history\",\"from\":1795651200000,\"to\":1795748645000,\"level\":\"error\","
		  "\"after\":\"ab:1\"}" },
		{ "events --kind link --link n1-0:+y --local -u 2026-11-26",
		  "{\"cmd\":\"history\",\"from\":0,\"to\":1795651200000,\"kind\":\"link\",\"local\":true,"
		  "\"node\":\"1,0\",\"port\":\"+y\",\"after\":\"ab:1\"}" },
		{ "events --kind link,node", "{\"cmd\":\"history\",\"from\":0,\"kind\":\"link,node\",\"last\":512}" },
		{ "events --of 1,0", "{\"cmd\":\"history\",\"from\":0,\"node\":\"1,0\",\"last\":512}" },
	};

	(void)state;
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		json_t *wanted = json_loads(t[i].request, 0, NULL);

		expect(t[i].args, 0);
		if (!json_equal(fake.request, wanted))
			fail_msg("%s asked %s", t[i].args, json_dumps(fake.request, 0));
		json_decref(wanted);
	}
	expect("events --since 2023-11-14", 0);
	has(err, "n0-0 has nothing from before 2023-11-14 22:13:20.000");
	expect("events --json", 0);
	json_decref(printed());
	assert_int_equal(*out, '[');
}

/* "now" is the end of the present second, so an event that has just happened is included. */
static void now_includes_present_second(void **state)
{
	int64_t before = (int64_t)time(NULL), to;

	(void)state;
	expect("events --until now", 0);
	to = json_integer_value(json_object_get(fake.request, "to"));
	assert_int_equal(to % 1000, 999);
	assert_in_range(to / 1000, before, (int64_t)time(NULL));
}

static void output_to_full_disk_fails_with_status_2(void **state)
{
	char line[PATH_MAX + 64];

	(void)state;
	setenv("TORUS_CONTROL", fake.path, 1);
	snprintf(line, sizeof(line), "%s status >/dev/full 2>/dev/null", program);
	assert_int_equal(WEXITSTATUS(system(line)), 2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(status_shows_counts_recovery_and_problems,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(recovery_that_goes_on_hides_no_fault,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(hints_name_control_socket_that_was_given,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(status_names_both_ends_of_faulty_cables,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(next_step_depends_on_reason_of_fault,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(exclusion_by_admin_is_warning_and_no_fault,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(status_shows_how_long_links_are_held,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(links_show_both_values_that_differ,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(status_lists_degraded_lines_as_warning,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(table_of_links_asks_only_for_brief_data,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(json_output_is_data_of_answer,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(nodes_links_and_coord_are_shown_as_tables,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(table_shows_nodes_with_excluded_ports,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(nodes_without_table_are_labelled_preliminary,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(links_without_table_are_labelled_preliminary,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(commands_that_need_table_fail_without_it,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(link_log_and_park_report_what_was_done,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(config_shows_sources_and_differences,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(answer_in_parts_is_joined,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(map_draws_worse_end_of_each_cable,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(trace_shows_hops_and_excluded_links,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(trace_shows_relays_and_circles,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(routes_decodes_rows, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(verify_names_each_culprit,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(excluded_node_is_no_culprit_of_verify,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(dry_run_of_exclude_changes_nothing,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(dry_run_reports_what_root_would_refuse,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(dry_run_reports_that_job_would_be_divided,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(refused_exclude_fails_and_force_is_passed_on,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(drain_reports_what_is_left,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(former_manager_is_asked_link_by_link,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(unprintable_reason_is_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(exclude_warns_if_too_few_candidates_keep_it,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(closed_eye_is_shown_with_reason, fake_setup,
						fake_teardown),
		cmocka_unit_test_setup_teardown(unchanged_order_reports_that_nothing_changes,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wrong_cable_shows_expected_end_too,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(bad_links_come_worst_first,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(narrow_screen_leaves_out_empty_columns,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(option_names_shows_names_for_coordinates,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(other_names_are_looked_up_by_manager,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(nodes_that_did_not_answer_are_named,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(links_of_silent_node_come_from_neighbours,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(cabling_shows_what_differs_from_plan,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(inventory_shows_what_changed_since_saved,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(file_that_is_no_inventory_is_refused,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(failure_with_json_is_object_with_code,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(json_names_nodes_that_did_not_answer, fake_setup,
						fake_teardown),
		cmocka_unit_test_setup_teardown(malformed_answer_is_reported_as_error,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(data_of_wrong_type_does_not_crash,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(followed_manager_that_goes_away_is_tried_again,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(options_of_events_become_question_to_manager,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(now_includes_present_second, fake_setup,
						fake_teardown),
		cmocka_unit_test_setup_teardown(output_to_full_disk_fails_with_status_2,
						fake_setup, fake_teardown),
	};

	(void)argc;
	program_is(argv[0], "fabricctl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
