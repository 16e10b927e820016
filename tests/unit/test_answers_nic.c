// SPDX-License-Identifier: GPL-2.0-only
/* Complete answers of the control socket, read from the NICs; and the orders to the NIC. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/answer.h"
#include "daemon/linktest.h"
#include "daemon/plug.h"
#include "daemon/question.h"
#include "tests/unit/asked.h"

/* --- links ------------------------------------------------------------------- */

/* Counters and gauges by the names of the ABI; link @port of the fixture. */
static void add_port_values(json_t *link, unsigned int port)
{
	int n = (int)(1000 + 100 * port);

#define X(ID, name, ...) json_object_set_new(link, #name, json_integer(n + TORUS_PC_##ID));
	TORUS_PORT_COUNTER_LIST(X)
#undef X
#define X(ID, name, ...) json_object_set_new(link, #name, json_integer(n + 400 + TORUS_PG_##ID));
	TORUS_PORT_GAUGE_LIST(X)
#undef X
}

#define QUALITY                                                                          \
	"'epoch':55,'quality':{'level':'good','worn':false,'usual_margin':0.0,'slow':false," \
	"'round_trip_ms':0.0,'usual_round_trip_ms':0.0,'errors':0,'bits':0,'ms':0.0,"        \
	"'ber':0.0,'fail_ber':0.0},"

/* The link at +x; @lanes: text of its lanes, or "" */
static json_t *link_at_x(const char *lanes)
{
	char text[2048];
	json_t *j;

	snprintf(text, sizeof(text),
		 "{'node':[2,1],'port':'+x','name':'myself','peer':{'node':[0,1],'port':'-x',"
		 "'name':'dan'},'expected':{'node':[0,1],'port':'-x'},"
		 QUALITY
		 "'state':'up','state_age':222,'reason':'none','last_reason':'silence',"
		 "'downs':%s,'admin':false,"
		 "'excluded':'admin','until':173,'held_ms':null,'closed':false,'lower':'eth0',"
		 "'session':230,"
		 "'retry':'angara','retry_wanted':'acknak',"
		 "'differs':null,'line':{'length':251,'loss':252,'crosstalk':253,'drift':254,"
		 "'ageing':255,"
		 "'temperature':256,'dead':257,'aged':258},'rootless':%s%s}",
		 a.root ? "7" : "null", a.root ? "false" : "true", lanes);
	j = json_of(text);
	add_port_values(j, 0);
	return j;
}

/* Links without a SerDes have empty lists of lanes. */
static json_t *own_links(const char *lanes, const char *no_lanes)
{
	static const char *const other[] = {
		"'port':'+y','name':'myself','peer':null,'differs':null,'expected':{'node':[2,0],"
		"'port':'-y'},'state':'down','state_age':223,'reason':'retry',"
		"'last_reason':'retry',"
		"'admin':true,'excluded':'wiring','until':null,'held_ms':null,'closed':false,"
		"'lower':'',"
		"'session':231,'retry':'acknak','retry_wanted':'hippi'",
		"'port':'-x','name':'myself','peer':{'node':[1,0],'port':'+x','name':'bob'},"
		"'differs':{'parameter':'unknown','own':'7','peer':'9'},"
		"'expected':{'node':[1,1],'port':'+x'},'state':'faulty','state_age':224,"
		"'reason':'peer','last_reason':'peer','admin':false,'excluded':null,'until':null,"
		"'held_ms':8120.5,'closed':true,"
		"'lower':'eth2','session':232,'retry':'angara','retry_wanted':'acknak'",
		"'port':'-y','name':'myself','peer':{'node':null,'port':'+y','name':null},"
		"'expected':{'node':[2,0],'port':'+y'},'state':'init','state_age':225,"
		"'differs':{'parameter':'bubble','own':'mbs','peer':'bloc'},"
		"'reason':'protocol','last_reason':'protocol','admin':false,'excluded':'held',"
		"'until':null,'held_ms':31.25,"
		"'closed':false,'lower':'eth3','session':233,'retry':'acknak',"
		"'retry_wanted':'hippi'",
	};
	json_t *list = json_array(), *j;
	char text[2048];

	json_array_append_new(list, link_at_x(lanes));
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "{'node':[2,1],'line':null," QUALITY
			 "'rootless':%s,%s%s}",
			 a.root ? "false" : "true", other[i], no_lanes);
		j = json_of(text);
		json_object_set_new(j, "downs", a.root ? json_integer(8 + i) : json_null());
		add_port_values(j, i + 1);
		json_array_append_new(list, j);
	}
	return list;
}

static void links_of_node_have_all_fields_and_lanes(void **state)
{
	(void)state;
	replies_data("{'cmd':'links','node':'2,1'}", own_links("", ""));
	assert_string_equal(a.passed_on,
			    "node 5 privileged 1500 ms: {\"cmd\":\"links\",\"node\":\"2,1\"}");
	replies_data("{'cmd':'links','node':'2,1','lanes':true}", own_links(",'lane':["
		     "{'state':'off','rate':0,'margin':210,'pre':170,'post':180,'ctle':null,"
		     "'dfe':null,'height':190,"
		     "'width':200,'ber':0.125},"
		     "{'state':'on','rate':1408,'margin':211,'pre':171,'post':181,'ctle':220,"
		     "'dfe':230,'height':191,"
		     "'width':201,'ber':0.25},"
		     "{'state':'dead','rate':0,'margin':212,'pre':172,'post':182,'ctle':221,"
		     "'dfe':231,'height':192,"
		     "'width':202,'ber':0.375},"
		     "{'state':'poor','rate':0,'margin':213,'pre':173,'post':183,'ctle':222,"
		     "'dfe':232,'height':193,"
		     "'width':203,'ber':0.5}]", ",'lane':[]"));
}

/* Monitoring does not get the equalisers and eyes of 144 lanes, which it does not collect. */
static void lanes_for_metrics_have_state_and_margin_only(void **state)
{
	json_t *links = links_json(&a.d, a.link, 1, (struct links_want) { .margins = true });
	json_t *wanted = json_of("[{'state':'off','margin':210},{'state':'on','margin':211},"
				 "{'state':'dead','margin':212},{'state':'poor','margin':213}]");

	(void)state;
	assert_true(json_equal(json_object_get(json_array_get(links, 0), "lane"), wanted));
	json_decref(wanted);
	json_decref(links);
}

/* The NIC has 12 ports, and the shape has 4: no cable should be at the others. */
static void ports_beyond_the_shape_lead_nowhere(void **state)
{
	struct torus_link link = a.link[0];

	(void)state;
	for (link.port = 4; link.port < TORUS_MAX_PORTS; link.port++) {
		json_t *links = links_json(&a.d, &link, 1, (struct links_want) { .brief = true });
		json_t *j = json_array_get(links, 0), *dan = json_of("[0,1]");

		assert_true(json_is_null(json_object_get(j, "expected")));
		assert_true(json_equal(json_object_get(json_object_get(j, "peer"), "node"), dan));
		json_decref(dan);
		json_decref(links);
	}
}

/* A brief answer has a part of the data of each link. */
static void brief_links_have_part_of_the_fields(void **state)
{
	static const char *const keys[] = {
		"node", "port", "peer", "expected", "differs", "state", "state_age",
		"reason", "downs", "excluded", "until", "held_ms", "lower", "line",
		"rootless", "tx_bytes", "rx_bytes", "retries", "crc_errors", "seq_errors",
		"malformed", "retrains", "lanes", "width", "rate", "rate_max", "margin",
		"margin_train", "waited",
	};
	json_t *whole = own_links("", ""), *brief = json_array(), *v, *j;
	size_t i;

	(void)state;
	json_array_foreach(whole, i, v) {
		j = json_object();
		json_object_del(json_object_get(v, "peer"), "name");
		for (unsigned int k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (json_object_get(v, keys[k]))
				json_object_set(j, keys[k], json_object_get(v, keys[k]));
		json_array_append_new(brief, j);
	}
	json_decref(whole);
	replies_data("{'cmd':'links','node':'2,1','brief':true}", brief);
	assert_string_equal(a.passed_on, "node 5 privileged 1500 ms: {\"cmd\":\"links\","
			    "\"node\":\"2,1\",\"brief\":true}");
}

/* An answer about errors has the counters of receivers, and how their nodes judge them. */
static void links_have_only_error_counts_if_asked_for(void **state)
{
	static const char *const keys[] = {
		"node", "port", "name", "peer", "state", "downs", "held_ms", "rootless", "quality",
		"epoch", "crc_errors", "malformed", "seq_errors", "rx_flits", "rx_frames",
	};
	json_t *whole = own_links("", ""), *list = json_array(), *v, *j;
	size_t i;

	(void)state;
	json_array_foreach(whole, i, v) {
		j = json_object();
		for (unsigned int k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (json_object_get(v, keys[k]))
				json_object_set(j, keys[k], json_object_get(v, keys[k]));
		if (json_is_null(json_object_get(j, "held_ms")))
			json_object_del(j, "held_ms");	/* only the root adds it */
		json_array_append_new(list, j);
	}
	json_decref(whole);
	replies_data("{'cmd':'links','node':'2,1','errors':true}", list);
}

/* How long a link is still held is shown at both its ends, whichever end reported it. */
static void links_of_all_show_hold_at_both_ends(void **state)
{
	json_t *wanted, *all = json_of("["
		"{'node':[2,0],'port':'+x','held_ms':null,'downs':4,'rootless':false},"
		"{'node':[2,0],'port':'+y','held_ms':31.25,'downs':5,'rootless':false},"
		"{'node':[1,1],'port':'-x','held_ms':null,'downs':8,'rootless':false},"
		"{'node':[1,1],'port':'+x','held_ms':8120.5,'downs':6,'rootless':false}]");
	json_t *own = own_links("", "");

	(void)state;
	a.answer_by[2] = "[{'node':[2,0],'port':'+x','held_ms':null},"
		       "{'node':[2,0],'port':'+y','held_ms':null}]";
	a.answer_by[4] = "[{'node':[1,1],'port':'-x','held_ms':null},"
		       "{'node':[1,1],'port':'+x','held_ms':null}]";
	json_array_extend(all, own);
	json_decref(own);
	wanted = json_pack("{s:b, s:o, s:[[i,i], [i,i]]}", "ok", 1, "data", all, "missing",
			   0, 0, 1, 0);
	replies_json("{'cmd':'links'}", wanted);
}

/* The root lists the degraded links of the whole fabric, another node its own. */
static void root_lists_degraded_links_of_all_nodes(void **state)
{
	const struct svc_msg reported = { .type = SVC_LINES, .lines = {
		.node = 4, .links = (char *)"[{\"node\":[1,1],\"port\":\"+x\",\"held_ms\":null}]",
	} };

	(void)state;
	replies("{'cmd':'links','degraded':true}", "{'ok':true,'data':[],'missing':[[1,0]]}");
	pass_to_root(&reported);
	replies("{'cmd':'links','degraded':true}", "{'ok':true,'missing':[[1,0]],'data':["
		"{'node':[1,1],'port':'+x','held_ms':8120.5,'rootless':false}]}");
	replies_data("{'cmd':'links','node':'2,1','degraded':true}",
		     json_pack("[o]", link_at_x("")));
	a.link[0].state = TORUS_LINK_RETRAINING;
	replies("{'cmd':'links','node':'own','degraded':true}", "{'ok':true,'data':[]}");
}

static struct torus_link read_link(unsigned int port, uint64_t errors)
{
	struct torus_link l = { .port = (uint8_t)port, .state = TORUS_LINK_UP, .session = 230,
				.peer_guid = a.link[0].peer_guid };

	l.counter[TORUS_PC_RX_FLITS] = 1000000 + errors;
	l.counter[TORUS_PC_RX_FRAMES] = 10;
	l.counter[TORUS_PC_CRC_ERRORS] = errors;
	l.counter[TORUS_PC_MALFORMED] = errors / 10;
	l.counter[TORUS_PC_ERROR_SECONDS] = (errors + 5) / 10;
	return l;
}

/* Makes a link bad by three readings, of which the last two have errors. */
static void make_bad(void)
{
	struct torus_link links[2] = { read_link(0, 0), read_link(1, 0) };

	quality_rules_default(&a.d.config.quality);
	assert_false(errors_read(&a.d, links, 2));
	links[0] = read_link(0, 10);
	assert_false(errors_read(&a.d, links, 2));
	links[0] = read_link(0, 30);
	assert_true(errors_read(&a.d, links, 2));
	assert_false(errors_read(&a.d, links, 2));
}

/* A link whose receiver counts errors is in the list of degraded links, with the counts. */
static void link_with_bit_errors_is_degraded(void **state)
{
	json_t *x = link_at_x("");
	json_t *bad =
		json_of("{'level':'fail','worn':false,'usual_margin':0.0,'slow':false,"
			"'round_trip_ms':0.0,'usual_round_trip_ms':0.0,'errors':33,'bits':3840,"
			"'ms':0.0,'fail_ber':1e-7}");

	(void)state;
	make_bad();
	does("event 1700000050.0 '' 1 errors: 2,1:+x ('own') receives badly from 0,1:+x ('dan'): "
	     "33 errors in 3.8e+03 bits, bit "
	     "error rate 8.6e-03: replace the cable\n");
	json_object_set_new(bad, "ber", json_real(33.0 / 3840));
	json_object_set_new(x, "quality", bad);
	replies_data("{'cmd':'links','node':'2,1','degraded':true}", json_pack("[o]", x));
}

#define REPORT(port, level) "[{\"node\":[2,1],\"port\":\"" port "\",\"quality\":{\"level\":\"" \
	level "\",\"errors\":99,\"ber\":3e-6}}]"

static void report(uint32_t node, const char *links)
{
	const struct svc_msg reported = { .type = SVC_LINES, .lines = { node, (char *)links } };

	pass_to_root(&reported);
}

/*
 * The root takes bad links out of service only if the configuration allows it, and none without
 * which nodes are cut off.
 */
static void failing_link_is_excluded_only_if_configured(void **state)
{
	(void)state;
	report(5, REPORT("-x", "fail"));
	does("");
	a.d.config.out_of_service = 1;
	report(5, REPORT("-x", "warn"));
	does("");
	report(5, REPORT("-x", "fail"));
	does("event 1700000050.0 '' 1 errors: 2,1:-x ('own') is taken out of service: replace its "
	     "cable, then 'fabricctl include'\n"
	     "exclude 5 2 at 50 by 4294967295@: bit errors: 3.0e-06 measured, more than fail_ber\n");
}

#define AT_00 "{'node':[0,0],'rootless':false}"
#define PARK OF_PARK ",'rootless':false}"
#define OF_PARK "{'node':[2,1],'parked':151,'unresolved':152,'bytes':153,'bytes_max':154,'held':155"
#define ROOTLESS "'rootless':{'since':1700000043.0,'table_version':119,'own':{'node':[2,1],'name':'myself'}}"

/*
 * Without the root the answer has the links of nodes that this node reaches; the others are
 * missing.
 */
static void links_without_root_are_those_of_reached_nodes(void **state)
{
	json_t *all = json_of("[{'node':[1,1],'port':'-x','held_ms':null,'rootless':true}]"), *own;
	json_t *wanted = json_of("{'ok':true," ROOTLESS ",'missing':[[0,0],[1,0]]}");

	(void)state;
	a.root = false;
	a.cut_off = NOW - 7 * SEC;
	a.answer_by[4] = "[{'node':[1,1],'port':'-x','held_ms':null}]";
	own = own_links("", "");
	json_object_set_new(json_array_get(own, 2), "held_ms", json_null());
	json_object_set_new(json_array_get(own, 3), "held_ms", json_null());
	json_array_extend(all, own);
	json_decref(own);
	json_object_set_new(wanted, "data", all);
	replies_json("{'cmd':'links'}", wanted);
	assert_string_equal(a.passed_on, "all -1 privileged 1500 ms: {\"cmd\":\"links\"}");
	refuses("{'cmd':'links','node':'0,0'}", "unreachable",
		"no root answers, so node '0,0' cannot be asked from here: run the command on that "
		"node");
	replies("{'cmd':'park','node':'2,1'}",
		"{'ok':true," ROOTLESS ",'data':[" OF_PARK ",'rootless':true}]}");
}

/* A reply has room for 2048 ends of cables, of which each node here has four. */
static void links_of_several_nodes_have_a_limit(void **state)
{
	(void)state;
	a.answer_by[0] = "[{'node':[0,0],'port':'-x'}]";
	replies("{'cmd':'links','node':'0,0','count':2}", "{'ok':true,'missing':[[1,0]],'data':["
		"{'node':[0,0],'port':'-x','downs':4,'rootless':false}]}");
	assert_string_equal(a.passed_on, "all 0 privileged 1500 ms: "
			    "{\"cmd\":\"links\",\"node\":\"0,0\",\"count\":2}");
	refuses("{'cmd':'links','node':'0,0','count':513}", "usage",
		"count: must be 1 to 512 in a fabric of 6 nodes");
	refuses("{'cmd':'links','node':'0,0','count':513,'bad':true}", "usage",
		"count: must be 1 to 512 in a fabric of 6 nodes");
	refuses("{'cmd':'links','node':'0,0','count':6145,'brief':true,'bad':true}", "usage",
		"count: must be 1 to 6144 in a fabric of 6 nodes");
	replies("{'cmd':'links','node':'0,0','count':2,'brief':true,'bad':true}",
		"{'ok':true,'missing':"
		"[[1,0]],'data':[{'node':[0,0],'port':'-x','downs':4,'rootless':false}]}");
	a.answer_by[1] = "{'node':[1,0],'told':1}";
	replies("{'cmd':'counters','node':'bob','count':1}", "{'ok':true,'data':["
		"{'node':[1,0],'told':1,'rootless':false}]}");
	refuses("{'cmd':'counters','node':'0,0','count':4097}", "usage",
		"count: must be 1 to 4096 in a fabric of 6 nodes");
}

/* --- one end of a cable --------------------------------------------------------- */

static void eye_has_rows_of_asked_lane(void **state)
{
	json_t *wanted = json_of("{'node':[2,1],'port':'+y','lane':11,'swing':161,"
				 "'mask_height':162,'mask_width':163,'rows':[]}");
	char row[2 * TORUS_EYE_COLS + 1];

	(void)state;
	for (unsigned int r = 0; r < TORUS_EYE_ROWS; r++) {
		for (unsigned int c = 0; c < TORUS_EYE_COLS; c++)
			snprintf(row + 2 * c, 3, "%02x", (7 * r + c) % 256);
		json_array_append_new(json_object_get(wanted, "rows"), json_string(row));
	}
	replies_data("{'cmd':'eye','node':'2,1','port':'+y','lane':11}", wanted);
	does("eye 1 11\n");
}

/* A command about a port acts on the named port of this NIC, and the log names the user. */
static void port_command_acts_on_named_port_and_is_logged(void **state)
{
	(void)state;
	replies("{'cmd':'port','node':'2,1','port':'-y','up':false}",
		"{'ok':true,'data':{'node':[2,1],'port':'-y','up':false}}");
	does("port 3 down\nevent 1700000050.0 '' 1 admin: port 2,1:-y was taken down by user 0 "
	     "at ann\n");
	replies("{'cmd':'port','node':'own','port':'-x','up':true}",
		"{'ok':true,'data':{'node':[2,1],'port':'-x','up':true}}");
	does("port 2 up\nevent 1700000050.0 '' 2 admin: port 2,1:-x was taken up by user 0 "
	     "at ann\n");
	replies("{'cmd':'retrain','node':'2,1','port':'+y'}",
		"{'ok':true,'data':{'node':[2,1],'port':'+y'}}");
	does("retrain 1\n");
	replies("{'cmd':'retry','node':'2,1','port':'-y','protocol':'acknak'}",
		"{'ok':true,'data':{'node':[2,1],'port':'-y','retry_wanted':'acknak'}}");
	does("retry 3 acknak\n");
}

/* --- tests of links ------------------------------------------------------------------ */

#define A_TEST(step, more) "{'cmd':'test','node':'2,1','port':'+y','step':'" step "',"		\
	"'token':'0000000000000007'" more "}"
#define ITS_PLAN ",'packets':9,'seconds':3,'size':65,'rate':11"

/*
 * The slower of lower device and peer bounds the rate of a test; an end echoes for longer than the
 * other one sends.
 */
static void link_test_is_bounded_by_slower_device(void **state)
{
	(void)state;
	replies(A_TEST("send", ITS_PLAN),
		"{'ok':true,'data':{'node':[2,1],'port':'+y','mbps':1523,'slow_us':null}}");
	does("test 1 send 7: 9 packets, 3000000000 ns, 11 a second of 65 bytes, 1523 Mb/s\n");
	replies("{'cmd':'test','node':'own','port':'+x','step':'echo','token':'fedcba9876543210'}",
		"{'ok':true,'data':{'node':[2,1],'port':'+x','mbps':1000,'slow_us':null}}");
	does("test 0 echo fedcba9876543210: 0 packets, 15000000000 ns, 2000 a second of 1024 bytes,"
	     " "
	     "1000 Mb/s\n");
	a.link[1].gauge[TORUS_PG_PEER_RATE] = 0;
	replies(A_TEST("send", ""),
		"{'ok':true,'data':{'node':[2,1],'port':'+y','mbps':null,'slow_us':null}}");
	does("test 1 send 7: 0 packets, 5000000000 ns, 2000 a second of 1024 bytes, 0 Mb/s\n");
	replies(A_TEST("end", ""), "{'ok':true,'data':{'node':[2,1],'port':'+y'}}");
	does("test 1 end 7\n");
}

#define OF_TEST(role) "'node':[2,1],'port':'+y','role':'" role "','state':'failed',"		\
	"'why':'it went down','received':301,'wrong':302,'ms':303.0,'counted':{'bits':311,"	\
	"'frames':312,'crc_errors':313,'malformed':314,'lost_frames':315,'retries':316}"
#define OF_SENDER ",'sent':304,'lost':305,'bytes':306,'rate':307.0,'rtt_us':"

static void link_test_shows_results_of_its_end(void **state)
{
	(void)state;
	refuses(A_TEST("show", ""), "failed",
		"this end has no such test: it has ended long ago, or its "
		"fabricd was restarted");
	a.tested = LINKTEST_ECHO;
	replies(A_TEST("show", ""), "{'ok':true,'data':{" OF_TEST("echo") "}}");
	a.tested = LINKTEST_SENDER;
	replies(A_TEST("show", ""), "{'ok':true,'data':{" OF_TEST("send") OF_SENDER
		"{'min':1.0,'median':2.5,'max':4.0}}}");
	a.test_error = 1;
	replies(A_TEST("show", ""), "{'ok':true,'data':{" OF_TEST("send") OF_SENDER "null}}");
}

#define ALLOWED "must be, for token, 16 hexadecimal digits; seconds 1 to 3600; "		\
	"packets 0 to 4294967295; size 64 to 1024; rate 1 to 100000"

static void link_test_with_wrong_values_is_refused(void **state)
{
	static const char *const wrong[][2] = {
		{ "seconds", "0" }, { "seconds", "3601" }, { "packets", "4294967296" },
		{ "size", "63" }, { "size", "1025" }, { "rate", "0" }, { "rate", "100001" },
	}, *const token[] = { "7", "000000000000000g", "0000000000000000", "00000000000000007" };
	char request[192], text[192];

	(void)state;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(request, sizeof(request),
			 "{'cmd':'test','node':'2,1','port':'+y','step':'send',"
			 "'token':'0000000000000007','%s':%s}", wrong[i][0], wrong[i][1]);
		snprintf(text, sizeof(text), "test: %s: " ALLOWED, wrong[i][0]);
		refuses(request, "usage", text);
	}
	for (unsigned int i = 0; i < sizeof(token) / sizeof(token[0]); i++) {
		snprintf(request, sizeof(request), "{'cmd':'test','node':'2,1','port':'+y',"
			 "'step':'send','token':'%s'}", token[i]);
		refuses(request, "usage", "test: token: " ALLOWED);
	}
	refuses(A_TEST("jump", ""), "usage", "test: step: must be echo, send, show or end");
	refuses("{'cmd':'test','node':'2,1','step':'end','token':'0000000000000007'}", "usage",
		"'test' needs a port");
	does("");
	a.test_error = -ENETDOWN;
	refuses(A_TEST("send", ITS_PLAN), "failed", "link 2,1:+y is not up, but down");
	a.test_error = -EBUSY;
	refuses(A_TEST("echo", ITS_PLAN), "failed", "link 2,1:+y is being tested already");
	a.test_error = -ENOMEM;
	refuses(A_TEST("send", ITS_PLAN), "failed", "link 2,1:+y: Cannot allocate memory");
	does("test 1 send 7: 9 packets, 3000000000 ns, 11 a second of 65 bytes, 1523 Mb/s\n"
	     "test 1 echo 7: 9 packets, 13000000000 ns, 11 a second of 65 bytes, 1523 Mb/s\n"
	     "test 1 send 7: 9 packets, 3000000000 ns, 11 a second of 65 bytes, 1523 Mb/s\n");
	a.nic_error = -EIO;
	refuses(A_TEST("send", ""), "failed", "the NIC refuses");
	a.busy = true;
	refuses(A_TEST("send", ""), "failed",
		"the NIC is busy: too many questions wait for it, ask again later");
	does("");
	a.privileged = false;
	refuses(A_TEST("end", ""), "denied",
		"link test loads a link: only root may: run it with sudo, "
		"or set control_group in fabricd.conf, which is not set, to a group of yours and "
		"restart fabricd");
}

/* A manager that does not know the command of a test sends no answer. */
static void link_test_of_old_node_is_unreachable(void **state)
{
	(void)state;
	refuses("{'cmd':'test','node':'1,1','port':'+y','step':'send','token':'0000000000000007'}",
		"unreachable",
		"node '1,1' does not answer, or its fabricd is of a release that cannot "
		"test links");
}

/* --- LEDs and plugs ------------------------------------------------------------------ */

#define AT_X(state, why) "'node':[2,1],'port':'+x','name':'myself','lower':'eth0','state':'"	\
	state "','why':" why

static void locate_starts_continues_and_ends_blinking(void **state)
{
	(void)state;
	a.plug = PLUG_BEGINS;
	replies("{'cmd':'locate','node':'2,1','port':'+x','seconds':7}",
		"{'ok':true,'data':{" AT_X("begins", "null") ",'left_ms':321.0}}");
	does("locate 0 eth0 7000000000\n");
	a.plug = PLUG_GOES_ON;
	replies("{'cmd':'locate','node':'2,1','port':'+x'}",
		"{'ok':true,'data':{" AT_X("goes-on", "null") ",'left_ms':321.0}}");
	does("");
	a.plug = PLUG_DONE;
	replies("{'cmd':'locate','node':'2,1','port':'+x','seconds':0}",
		"{'ok':true,'data':{" AT_X("done", "null") ",'left_ms':321.0}}");
	does("locate 0 eth0 0\n");
	a.plug = PLUG_FAILED;
	a.plug_error = -EOPNOTSUPP;
	replies("{'cmd':'locate','node':'2,1','port':'+x'}", "{'ok':true,'data':{" AT_X("failed",
		"'eth0 cannot blink: its driver has no such function'") ",'left_ms':321.0}}");
	a.plug_error = -ENODEV;
	replies("{'cmd':'locate','node':'2,1','port':'+x'}", "{'ok':true,'data':{" AT_X("failed",
		"'there is no interface eth0 here, so it cannot blink: the cable is a virtual one, "
		"or the NIC is in another network namespace'") ",'left_ms':321.0}}");
	replies("{'cmd':'locate','node':'2,1','port':'+y','seconds':7}", "{'ok':true,'data':{"
		"'node':[2,1],'port':'+y','name':'myself','lower':null,'state':'failed',"
		"'why':'there is no interface below this port','left_ms':0.0}}");
	does("");
	a.test_error = -ENOMEM;
	refuses("{'cmd':'locate','node':'2,1','port':'+x','seconds':1}", "failed", "out of memory");
	does("locate 0 eth0 1000000000\n");
	refuses("{'cmd':'locate','node':'2,1','port':'+x','seconds':3601}", "usage",
		"locate: seconds: must be 0 to 3600");
	refuses("{'cmd':'locate','node':'2,1'}", "usage", "'locate' needs a port");
	refuses("{'cmd':'locate','node':'1,1','port':'+x'}", "unreachable", "node '1,1' does not "
		"answer, or its fabricd is of a release that does not know 'locate'");
	a.privileged = false;
	refuses("{'cmd':'locate','node':'2,1','port':'+x'}", "denied",
		"link locate lets a LED blink: "
		"only root may: run it with sudo, or set control_group in fabricd.conf, which is "
		"not "
		"set, to a group of yours and restart fabricd");
	does("");
}

static void module_is_read_and_shown_for_port(void **state)
{
	(void)state;
	a.privileged = false;		/* everybody may ask */
	a.plug = PLUG_BEGINS;
	replies("{'cmd':'module','node':'2,1','port':'+x','look':true}",
		"{'ok':true,'data':{" AT_X("begins", "null") ",'module':null}}");
	does("look 0 eth0\n");
	a.plug = PLUG_DONE;
	replies("{'cmd':'module','node':'2,1','port':'+x'}", "{'ok':true,'data':{"
		AT_X("done", "null")
		",'module':{'kind':'OSFP','vendor':'ACME','part':'X1','revision':null,"
		"'serial':'SN',"
		"'date':'26','celsius':331.5,'volts':332.5,'tx_mw':[0.25,0.5],'rx_mw':[]}}}");
	replies("{'cmd':'module','node':'2,1','port':'-x'}", "{'ok':true,'data':{'node':[2,1],"
		"'port':'-x','name':'myself','lower':'eth2','state':'done','why':null,"
		"'module':{'kind':'OSFP','vendor':'ACME','part':'X1','revision':null,'serial':'SN',"
		"'date':'26','celsius':null,'volts':null,'tx_mw':[0.25,0.5],'rx_mw':[]}}}");
	a.plug = PLUG_FAILED;
	a.plug_error = -EPROTONOSUPPORT;
	replies("{'cmd':'module','node':'2,1','port':'+x'}", "{'ok':true,'data':{" AT_X("failed",
		"'the plug in eth0 is of a kind that is not known here'") ",'module':null}}");
	a.plug_error = -EIO;
	replies("{'cmd':'module','node':'2,1','port':'+x'}", "{'ok':true,'data':{" AT_X("failed",
		"'eth0 cannot read a plug: Input/output error'") ",'module':null}}");
	does("");
	replies("{'cmd':'module','node':'2,1','port':'+y','look':true}", "{'ok':true,'data':{"
		"'node':[2,1],'port':'+y','name':'myself','lower':null,'state':'failed',"
		"'why':'there is no interface below this port','module':null}}");
	does("");
	a.test_error = -ENOMEM;
	refuses("{'cmd':'module','node':'2,1','port':'+x','look':true}", "failed", "out of memory");
	refuses("{'cmd':'module','node':'2,1'}", "usage", "'module' needs a port");
	refuses("{'cmd':'module','node':'1,1','port':'+x'}", "unreachable", "node '1,1' does not "
		"answer, or its fabricd is of a release that does not know 'module'");
}

/* --- links that wait ------------------------------------------------------------------ */

/*
 * The links of a NIC that sends nothing are read more and more seldom; those of a NIC that sends,
 * or whose packets wait, are not.
 */
static void links_of_idle_nic_are_read_ever_more_seldom(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < PORTS; p++)
		a.link[p].gauge[TORUS_PG_WAITED] = 0;
	for (unsigned int round = 0; round < 2; round++) {
		uint64_t most = round ? 5 * SEC : 8 * SEC;

		a.d.config.stall_max = round ? 2 * most : 0;
		a.link[1].counter[TORUS_PC_TX_PACKETS]++;
		stall_read(&a.d, a.link, PORTS);
		assert_int_equal(a.d.stalls.read_at, NOW + 2 * SEC);
		stall_read(&a.d, a.link, PORTS);
		assert_int_equal(a.d.stalls.read_at, NOW + 4 * SEC);
		stall_read(&a.d, a.link, PORTS);
		assert_int_equal(a.d.stalls.read_at, NOW + most);
		stall_read(&a.d, a.link, PORTS);
		assert_int_equal(a.d.stalls.read_at, NOW + most);
		a.link[0].gauge[TORUS_PG_WAITED] = 1;
		stall_read(&a.d, a.link, PORTS);
		assert_int_equal(a.d.stalls.read_at, NOW + 2 * SEC);
		a.link[0].gauge[TORUS_PG_WAITED] = 0;
	}
}

/*
 * The order of the root to take a port down may come late. The port is taken down only if it is up
 * and has waited until now for as long as the order says, whatever other ports have waited.
 */
static void late_order_takes_down_only_port_that_waited_on(void **state)
{
	struct question q = { .d = &a.d, .port = 1 };

	(void)state;
	for (unsigned int p = 0; p < PORTS; p++) {
		a.link[p].state = TORUS_LINK_UP;
		a.link[p].gauge[TORUS_PG_WAITED] = 9 * SEC;
	}
	a.link[1].gauge[TORUS_PG_WAITED] = 4 * SEC;
	q.ns = 4 * SEC + 1;
	assert_int_equal(question_stalled.run(&q.nic, NULL), 0);
	assert_true(q.up);
	a.link[1].state = TORUS_LINK_FAULTY;
	q.ns = 4 * SEC;
	assert_int_equal(question_stalled.run(&q.nic, NULL), 0);
	assert_true(q.up);
	does("");
	a.link[1].state = TORUS_LINK_UP;
	assert_int_equal(question_stalled.run(&q.nic, NULL), 0);
	assert_false(q.up);
	assert_int_equal(q.ns, 4 * SEC);
	does("port 1 down\n");
}

/* --- counters, rows, park, replay -------------------------------------------------- */

static void counters_of_one_or_all_nodes_are_complete(void **state)
{
	json_t *own = json_of("{'node':[2,1],'flow':{},'rootless':false}"), *wanted;

	(void)state;
	a.answer_by[1] = "{'node':[1,0],'told':1}";
	a.answer_by[4] = "{'node':[1,1],'told':4}";
#define X(ID, name, ...) json_object_set_new(own, #name, json_integer(2000 + TORUS_NC_##ID));
	TORUS_NODE_COUNTER_LIST(X)
#undef X
#define X(ID, name, ...) json_object_set_new(json_object_get(own, "flow"), #name, \
	json_pack("[i,i,i,i]", 3000 + 10 * TORUS_FC_##ID, 3001 + 10 * TORUS_FC_##ID, \
		  3002 + 10 * TORUS_FC_##ID, 3003 + 10 * TORUS_FC_##ID));
	TORUS_FLOW_COUNTER_LIST(X)
#undef X
	replies_data("{'cmd':'counters','node':'own'}", json_pack("[O]", own));
	wanted = json_of("{'ok':true,'missing':[[0,0]],'data':["
			 "{'node':[1,0],'told':1,'rootless':false},{'node':[1,1],'told':4,"
			 "'rootless':false}]}");
	json_array_append_new(json_object_get(wanted, "data"), own);
	replies_json("{'cmd':'counters'}", wanted);
}

static void rows_have_version_and_hexadecimal_digits(void **state)
{
	(void)state;
	replies("{'cmd':'rows','node':'2,1'}", "{'ok':true,'data':{'node':[2,1],'version':141,"
		"'rows':['0123456789abcdef','0000000000000002','fffffffffffffff0'],"
		"'rootless':false}}");
}

/*
 * Without a root, a question about rows is answered for this node and for nodes that it reaches,
 * and never for all.
 */
static void rows_without_root_are_those_of_reached_nodes(void **state)
{
	(void)state;
	a.root = false;
	a.cut_off = NOW - 7 * SEC;
	replies("{'cmd':'rows','node':'2,1'}", "{'ok':true," ROOTLESS
		",'data':{'node':[2,1],'version':141,"
		"'rows':['0123456789abcdef','0000000000000002','fffffffffffffff0'],"
		"'rootless':true}}");
	refuses("{'cmd':'rows','node':'0,0'}", "unreachable",
		"no root answers, so node '0,0' cannot be asked from here: run the command on that "
		"node");
	a.answer_by[4] = "{'node':[1,1],'version':1,'rows':''}";
	replies("{'cmd':'rows','node':'0,0','count':5}",
		"{'ok':true," ROOTLESS ",'missing':[[0,0],[1,0]],'data':["
		"{'node':[1,1],'version':1,'rows':'','rootless':true}]}");
}

#define ROWS_ANSWER(node) "{'node':" node ",'version':1,'rows':[]}"
#define OF(node) "{'node':" node ",'version':1,'rows':[],'rootless':false}"
#define OWN_ROWS "{'node':[2,1],'version':141,'rows':" \
	"'0123456789abcdef0000000000000002fffffffffffffff0','rootless':false}"

/*
 * An answer has the rows in the order of the nodes. Exactly the nodes that should have answered and
 * did not are missing.
 */
static void rows_of_several_are_in_order_of_nodes(void **state)
{
	(void)state;
	a.answer_by[0] = ROWS_ANSWER("[0,0]");		/* a node that was not asked */
	a.answer_by[2] = ROWS_ANSWER("[2,0]");
	replies("{'cmd':'rows','node':'bob','count':4}",
		"{'ok':true,'missing':[[1,0],[1,1]],'data':[" OF("[2,0]") "]}");
	assert_string_equal(a.passed_on, "all 1 privileged 1500 ms: "
			    "{\"cmd\":\"rows\",\"node\":\"1,0\",\"count\":4}");
	replies("{'cmd':'rows','node':'1,1','count':1}", "{'ok':true,'missing':[[1,1]],'data':[]}");
	assert_false(a.enough);
	a.answer_by[4] = ROWS_ANSWER("[1,1]");
	replies("{'cmd':'rows','node':'1,1','count':9}",
		"{'ok':true,'data':[" OF("[1,1]") "," OWN_ROWS "]}");
	a.own = TORUS_NO_NODE - 1;
	replies("{'cmd':'rows','node':'1,1','count':9}",
		"{'ok':true,'missing':[[2,1]],'data':[" OF("[1,1]") "]}");
}

/* The number of rows in a reply is limited, and with it the memory that it takes. */
static void more_rows_than_limit_are_refused(void **state)
{
	static const char *const wrong[] = { "0", "21846", "4294967297" };
	char request[80];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(request, sizeof(request), "{'cmd':'rows','node':'2,1','count':%s}",
			 wrong[i]);
		refuses(request, "usage", "count: must be 1 to 21845 in a fabric of 6 nodes");
	}
	replies("{'cmd':'rows','node':'2,1','count':21845}", "{'ok':true,'data':[" OWN_ROWS "]}");
	refuses("{'cmd':'rows','count':2}", "usage",
		"rows: argument 'node' is missing: coordinates such as '1,0,3', or a name");
}

#define OWN_RUNS "{'node':[2,1],'version':141,'rows':" \
	"'0123456789abcdef,0000000000000002,fffffffffffffff0','rootless':false}"

/*
 * A reply has the rows of more nodes as runs than as digits alone; for nodes for which there is no
 * room it has null.
 */
static void rows_as_runs_fit_more_nodes(void **state)
{
	static char digits[5 << 20], reported[2][sizeof(digits) + 80];
	json_t *wanted;

	(void)state;
	refuses("{'cmd':'rows','node':'2,1','count':174763,'runs':true}", "usage",
		"count: must be 1 to 174762 in a fabric of 6 nodes");
	replies("{'cmd':'rows','node':'2,1','count':174762,'runs':true}",
		"{'ok':true,'data':[" OWN_RUNS "]}");
	a.equal_rows = true;
	replies("{'cmd':'rows','node':'2,1','count':1,'runs':true}",
		"{'ok':true,'data':[{'node':[2,1],'version':141,'rows':'0123456789abcdef*3',"
		"'rootless':false}]}");
	replies("{'cmd':'rows','node':'2,1','count':1,'runs':false}",
		"{'ok':true,'data':[{'node':[2,1],'version':141,'rows':"
		"'0123456789abcdef0123456789abcdef0123456789abcdef','rootless':false}]}");
	memset(digits, '1', sizeof(digits) - 1);
	for (unsigned int i = 0; i < 2; i++) {
		sprintf(reported[i], "{'node':[%u,1],'version':1,'rows':'%s'}", i, digits);
		a.answer_by[3 + i] = reported[i];
	}
	wanted = json_pack("{s:b, s:[{s:[i,i], s:i, s:s, s:b}, {s:[i,i], s:i, s:n, s:b}, "
			   "{s:[i,i], s:i, s:n, s:b}]}", "ok", 1, "data",
			   "node", 0, 1, "version", 1, "rows", digits, "rootless", 0,
			   "node", 1, 1, "version", 1, "rows", "rootless", 0,
			   "node", 2, 1, "version", 141, "rows", "rootless", 0);
	replies_json("{'cmd':'rows','node':'0,1','count':3,'runs':true}", wanted);
}

static void park_shows_counts_and_flows_of_nodes(void **state)
{
	(void)state;
	replies("{'cmd':'park','node':'2,1'}", "{'ok':true,'data':[" PARK "]}");
	replies("{'cmd':'park','node':'2,1','flows':true}", "{'ok':true,'data':[" OF_PARK ","
		"'flows':[{'from':[1,0],'to':[1,1],'vc':'vcd0','packets':172,'bytes':173,"
		"'age':174},"
		"{'from':null,'to':[0,0],'vc':'vca','packets':175,'bytes':176,'age':177}],"
		"'more':171,"
		"'rootless':false}]}");
	a.flows_error = -EOPNOTSUPP;
	replies("{'cmd':'park','node':'2,1','flows':true}", "{'ok':true,'data':[" PARK "]}");
	a.flows_error = -EIO;
	refuses("{'cmd':'park','node':'2,1','flows':true}", "unreachable",
		"node '2,1' does not answer");
	a.flows_error = 0;
	a.answer_by[0] = "{'node':[0,0]}";
	replies("{'cmd':'park'}",
		"{'ok':true,'missing':[[1,0],[1,1]],'data':[" AT_00 "," PARK "]}");
}

/* An answer waits for the nodes that should answer, and not for others, which may be silent. */
static void answer_waits_only_for_nodes_that_should_answer(void **state)
{
	(void)state;
	a.answer_by[0] = a.answer_by[1] = "{'node':[0,0]}";
	replies("{'cmd':'park','node':'0,0'}", "{'ok':true,'data':[" AT_00 "]}");
	assert_true(a.enough);
	a.enough = false;
	replies("{'cmd':'park'}", "{'ok':true,'missing':[[1,1]],"
		"'data':[" AT_00 "," AT_00 "," PARK "]}");
	assert_false(a.enough);
	a.answer_by[4] = a.answer_by[0];
	replies("{'cmd':'park'}", "{'ok':true,'data':[" AT_00 "," AT_00 "," AT_00 "," PARK "]}");
	assert_true(a.enough);
}

/* A replay by hand is done only in a fabric at rest; the NIC gets the version of its own rows. */
static void replay_by_hand_needs_fabric_at_rest(void **state)
{
	(void)state;
	replies("{'cmd':'replay','node':'2,1'}", "{'ok':true,'data':" OF_PARK "}}");
	does("replay 118 0\n");
	a.outline.under_way = true;
	refuses("{'cmd':'replay','node':'2,1'}", "failed",
		"a recovery is under way, which replays parked packets by itself");
	a.outline.under_way = false;
	a.outline.version = 0;
	refuses("{'cmd':'replay','node':'2,1'}", "failed",
		"a recovery is under way, which replays parked packets by itself");
	does("");
}

/* --- a NIC that does not do it ------------------------------------------------------ */

static const char *const of_one[] = {
	"{'cmd':'links','node':'2,1'}",
	"{'cmd':'counters','node':'2,1'}",
	"{'cmd':'park','node':'2,1'}",
	"{'cmd':'rows','node':'2,1'}",
	"{'cmd':'eye','node':'2,1','port':'+x'}",
	"{'cmd':'port','node':'2,1','port':'-x','up':true}",
	"{'cmd':'retrain','node':'2,1','port':'+y'}",
	"{'cmd':'retry','node':'2,1','port':'+y','protocol':'hippi'}",
	"{'cmd':'replay','node':'2,1'}",
};

#define OF_ONE (sizeof(of_one) / sizeof(of_one[0]))

/* If the NIC refuses an order, its text is passed on, and no event says that the order was done. */
static void refusal_of_nic_is_passed_on_without_event(void **state)
{
	(void)state;
	a.nic_error = -EOPNOTSUPP;
	for (unsigned int i = 0; i < 4; i++)
		refuses(of_one[i], "unreachable", "node '2,1' does not answer");
	for (unsigned int i = 4; i < OF_ONE; i++)
		refuses(of_one[i], "failed", "the NIC refuses");
	does("eye 0 0\nport 2 up\nretrain 1\nretry 1 hippi\nreplay 118 0\n");
}

/*
 * The queue of questions to the NIC is full. If several nodes were asked, only this one is missing.
 */
static void full_queue_of_nic_refuses_questions(void **state)
{
	(void)state;
	a.busy = true;
	for (unsigned int i = 0; i < OF_ONE; i++)
		refuses(of_one[i], "failed",
			"the NIC is busy: too many questions wait for it, ask again later");
	a.answer_by[0] = "{'node':[0,0]}";
	replies("{'cmd':'park'}", "{'ok':true,'missing':[[1,0],[1,1],[2,1]],'data':[{'node':[0,0],"
		"'rootless':false}]}");
	does("");
}

/* A call that has not begun when its time is over is not made. */
static void question_begun_too_late_is_not_asked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < OF_ONE; i++)
		forgets(of_one[i], "unreachable", "node '2,1' does not answer");
	does("");
}

static void questions_without_nic_are_unreachable(void **state)
{
	(void)state;
	a.no_nic = true;
	for (unsigned int i = 0; i < OF_ONE; i++)
		refuses(of_one[i], "unreachable", "node '2,1' does not answer");
	does("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(links_of_node_have_all_fields_and_lanes),
		TEST(lanes_for_metrics_have_state_and_margin_only),
		TEST(ports_beyond_the_shape_lead_nowhere),
		TEST(brief_links_have_part_of_the_fields),
		TEST(links_have_only_error_counts_if_asked_for),
		TEST(links_of_all_show_hold_at_both_ends),
		TEST(root_lists_degraded_links_of_all_nodes),
		TEST(link_with_bit_errors_is_degraded),
		TEST(failing_link_is_excluded_only_if_configured),
		TEST(eye_has_rows_of_asked_lane),
		TEST(port_command_acts_on_named_port_and_is_logged),
		TEST(link_test_is_bounded_by_slower_device),
		TEST(link_test_shows_results_of_its_end),
		TEST(link_test_with_wrong_values_is_refused),
		TEST(link_test_of_old_node_is_unreachable),
		TEST(locate_starts_continues_and_ends_blinking),
		TEST(module_is_read_and_shown_for_port),
		TEST(links_without_root_are_those_of_reached_nodes),
		TEST(links_of_several_nodes_have_a_limit),
		TEST(links_of_idle_nic_are_read_ever_more_seldom),
		TEST(late_order_takes_down_only_port_that_waited_on),
		TEST(counters_of_one_or_all_nodes_are_complete),
		TEST(rows_have_version_and_hexadecimal_digits),
		TEST(rows_without_root_are_those_of_reached_nodes),
		TEST(rows_of_several_are_in_order_of_nodes),
		TEST(more_rows_than_limit_are_refused),
		TEST(rows_as_runs_fit_more_nodes),
		TEST(park_shows_counts_and_flows_of_nodes),
		TEST(answer_waits_only_for_nodes_that_should_answer),
		TEST(replay_by_hand_needs_fabric_at_rest),
		TEST(refusal_of_nic_is_passed_on_without_event),
		TEST(full_queue_of_nic_refuses_questions),
		TEST(question_begun_too_late_is_not_asked),
		TEST(questions_without_nic_are_unreachable),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
