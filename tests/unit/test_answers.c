// SPDX-License-Identifier: GPL-2.0-only
/*
 * Complete answers of the control socket, read from the manager's table: each key has its value,
 * for an administrator and for programs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/log.h"
#include "tests/unit/asked.h"

/* --- status ------------------------------------------------------------------ */

#define FABRIC "'fabric':'ring','software':'" TORUS_VERSION "'," \
	"'address4':'10.0.0.0/8','address6':'fd74:6f72::/32',"
#define ORDERS \
	"'orders':[{'node':[1,0],'name':'bob','ports':['+x'],'uid':1000,'by':'bob','since':170," \
	"'until':null,'reason':'dust'},{'node':[1,1],'name':'eve','ports':['+y'],'uid':1000,'by':'bob'," \
	"'since':170,'until':null,'reason':'dust'},{'node':[1,1],'name':'eve','ports':['+y'],'uid':null,'by':null," \
	"'since':171,'until':172,'reason':null}]"
#define SERVICE(refused) \
	"'service':{'address':'192.168.0.7:7','connections':135,'schemas':[5,7],'refused_fabric':131," \
	"'refused_key':132,'refused_schema':138,'refused_malformed':133,'refused_busy':134," \
	"'last_refused':" refused "},'seal':{'refused':136,'late':137},'history':null,"
#define NEIGHBOURS \
	"'neighbours':[{'port':'+y','name':'eve','guid':'0000000000000071','peer_port':'-y'," \
	"'position':[5,-6],'confirmed':true,'agrees':false}," \
	"{'port':'-x','name':'bob','guid':'0000000000000072','peer_port':'+x'," \
	"'position':[5,-6],'confirmed':false,'agrees':true}]," \
	"'ports':[{'port':'+x','up':false,'guid':null,'peer_port':null," \
	"'expected':{'position':[7,-8],'port':'-x'},'fault':null}," \
	"{'port':'+y','up':true,'guid':'0000000000000071','peer_port':'-y'," \
	"'expected':{'position':[7,-8],'port':'-y'},'fault':'it is wrong'}," \
	"{'port':'-x','up':false,'guid':'0000000000000072','peer_port':'+x'," \
	"'expected':null,'fault':null}]"
#define OWN_STATUS \
	"'own':{'node':[2,1],'name':'myself','wave':{'position':[2,1],'size':[3,2]," \
	"'confirmed':true," NEIGHBOURS "}},"
/* The members of each reply that do not come from the root. */
#define ROOTLESS(since, node) \
	"'rootless':{'since':" since ",'table_version':119,'own':{'node':" node ",'name':'myself'}}"
#define NUMBERS \
	"'table_version':101,'nodes':{'total':103,'up':104,'excluded':123}," \
	"'links':{'total':105,'up':106,'faulty':107,'excluded':108,'wrong':127}," \
	"'parked_packets':109,'relayed_pairs':110,'orders_more':0," ORDERS "," FAULTY ","
/*
 * In the list of faulty ports those of dead nodes come last; the root alone knows reasons and
 * times.
 */
#define FAULTY \
	"'faulty':[{'node':[1,1],'port':'+x','name':'eve','peer':{'node':[2,1],'port':'-x','name':'own'}," \
	"'reason':'it is cut','dead':null,'for_ms':1500.5}," FAULTY_OF_DEAD "],'faulty_more':0"
#define FAULTY_OF_DEAD \
	"{'node':[2,0],'port':'+y','name':null,'peer':{'node':[2,1],'port':'-y','name':'own'}," \
	"'reason':null,'dead':[2,0],'for_ms':null}"
#define ROOT \
	"{'node':[2,1],'name':'myself','address':'192.168.0.7:7','state':'leads','epoch':115," \
	"'since':1700000041.0,'why':'root bob lost','reachable':true," \
	"'unreachable_since':null,'here':0,'need':0," NO_CALLS "'arbiter':{'program':'/lib/arbiter','answer':'refused'," \
	"'epoch':118,'time':1700000049.0,'why':'not quorate'}," CANDIDATES "}"
#define NO_CALLS \
	"'calls':{'called':0,'follow':0,'others':0,'unknown':0},"
#define NO_ARBITER \
	"'arbiter':{'program':null,'answer':null,'epoch':null,'time':null,'why':null},"
#define ROOT_THAT_ASKS \
	"{'node':[1,0],'name':'bob','address':'192.168.0.1:8','state':'asks','epoch':3," \
	"'since':null,'why':null,'reachable':false,'unreachable_since':1700000043.0,'here':4," \
	"'need':5,'calls':{'called':9,'follow':8,'others':7,'unknown':6}," NO_ARBITER "'candidates':[]}"
#define CANDIDATES \
	"'candidates':[{'node':[2,1],'name':'myself','priority':255,'heard':true,'disk':'disk 2'}," \
	"{'node':[1,0],'name':'bob','priority':100,'heard':false,'disk':null}," \
	"{'node':[1,1],'name':'eve','priority':100,'heard':true,'disk':'disk 1'}]"
#define PROBLEMS \
	"{'kind':'wiring','text':'a cable is wrong'},{'kind':'name','text':'two have one name'}"

#define STATUS_OF_ROOT \
	"{'ok':true,'data':{'shape':[3,2],'state':'degraded'," \
	NUMBERS OWN_STATUS FABRIC SERVICE("'a stranger'") \
	"'root':" ROOT ",'heard':{'nodes':116,'links':117}," \
	"'problems':[" PROBLEMS ",{'kind':'seal','text':'no seal'},{'kind':'refused','text':'refused a stranger'}," \
	"{'kind':'stall','text':'1,0:-x was taken down, because node 0,0 returned no " \
	"credits: take it up again when that node is repaired'}]," \
	"'problems_more':139,'held_links':[" \
	"{'node':[2,1],'port':'-x','peer':{'node':[1,1],'port':'+x'},'left_ms':8120.5}," \
	"{'node':[2,0],'port':'+y','peer':{'node':[2,1],'port':'-y'},'left_ms':31.25}," \
	"{'node':[1,0],'port':'-y','peer':null,'left_ms':0.5}]," \
	"'recovery':{'version':126,'cause':'a node died','started':1700000049.0,'duration_ms':1000.0,'parked':125," \
	"'replayed':0,'lost':0,'bounded':false,'timeline':{'detected':0.0,'table':0.5,'rebuilt':null,'drained':null," \
	"'replayed':null,'resumed':null}},'last_recovery':{'version':121,'cause':'a link went down','started':1700000040.0," \
	"'duration_ms':3.125,'parked':122,'replayed':123,'lost':124,'bounded':true," \
	"'timeline':{'detected':0.0,'table':0.125,'rebuilt':0.5,'drained':1.125," \
	"'replayed':2.0,'resumed':3.125}}}}"

static void root_answers_status_from_its_table(void **state)
{
	(void)state;
	replies("{'cmd':'status'}", STATUS_OF_ROOT);
}

/* A status has room for 64 faulty cables, and reports how many there are beside them. */
static void status_lists_64_faulty_cables_and_counts_the_rest(void **state)
{
	json_t *wanted = json_of(STATUS_OF_ROOT), *data = json_object_get(wanted, "data");
	json_t *list = json_object_get(data, "faulty");

	(void)state;
	a.more_faulty = 63;
	for (unsigned int i = 0; i < 62; i++)
		json_array_append_new(list, json_of(FAULTY_OF_DEAD));
	json_object_set_new(data, "faulty_more", json_integer(1));
	replies_json("{'cmd':'status'}", wanted);
}

/* A member whose root does not answer reports what it knows itself. */
static void status_without_root_has_what_member_knows(void **state)
{
	(void)state;
	a.root = a.status.is_root = false;
	a.cut_off = NOW - 7 * SEC;
	a.status.root = (struct fm_root_status){ .known = true, .lost = NOW - 7 * SEC,
						 .state = FM_ROOT_ASKS, .epoch = 3, .here = 4,
						 .need = 5, .calls = { 9, 8, 7, 6 },
						 .node = 1, .address = "192.168.0.1:8" };
	a.ncandidates = 0;
	a.status.last.at[FM_AT_DRAINED] = 0;
	a.status.last.at[FM_AT_RESUMED] = 0;
	a.status.last.bounded = false;
	a.status.present = (struct fm_recovery){ .version = 0 };
	a.d.refused_at = a.stats.refused_at = NOW - 60 * SEC;
	a.stats.last_refused[0] = '\0';
	replies("{'cmd':'status'}", "{'ok':true," ROOTLESS("1700000043.0", "[2,1]")
		",'data':{'shape':[3,2],'state':'degraded',"
		NUMBERS OWN_STATUS FABRIC SERVICE("null")
		"'root':" ROOT_THAT_ASKS ",'heard':{'nodes':116,'links':117},"
		"'problems':[" PROBLEMS "],'problems_more':139,'held_links':[],"
		"'recovery':null,'last_recovery':{'version':121,'cause':'a link went down',"
		"'started':1700000040.0,"
		"'duration_ms':2.0,'parked':122,'replayed':123,'lost':124,'bounded':false,"
		"'timeline':{'detected':0.0,'table':0.125,'rebuilt':0.5,'drained':null,"
		"'replayed':2.0,'resumed':null}}}}");
	assert_string_equal(a.passed_on, "root -1 privileged 2500 ms: {\"cmd\":\"status\"}");
}

/*
 * The root's status is passed on, except for what it says of the root itself; the problems of this
 * node are added.
 */
static void status_of_root_gets_problems_of_this_node(void **state)
{
	(void)state;
	a.root = a.status.is_root = a.privileged = false;
	a.root_says =
		"{'ok':true,'data':{'own':1,'service':2,'seal':5,'problems':[6],'root':3},"
		"'missing':[4]}";
	replies("{'cmd':'status'}", "{'ok':true,'data':{" OWN_STATUS SERVICE("'a stranger'")
		"'problems':[6," PROBLEMS ",{'kind':'seal','text':'no seal'},{'kind':'refused','text':'refused a stranger'}],"
		"'root':3},'missing':[4]}");
	/* A root of an earlier release reports no problems. */
	a.root_says = "{'ok':true,'data':{'root':3}}";
	replies("{'cmd':'status'}", "{'ok':true,'data':{" OWN_STATUS SERVICE("'a stranger'")
		"'root':3}}");
	assert_string_equal(a.passed_on, "root -1 open 2500 ms: {\"cmd\":\"status\"}");
}

static void status_of_unplaced_node_is_bootstrapping(void **state)
{
	(void)state;
	a.own = TORUS_NO_NODE;
	a.root = false;
	a.ncandidates = 0;
	a.stats = (struct svc_stats){ .up = 1 };
	a.mixed = 2;
	a.d.seal = NULL;
	a.d.refused_at = 0;
	a.status = (struct fm_status){ .root = { .known = false, .reachable = true,
						 .node = TORUS_NO_NODE, .address = "x" } };
	replies("{'cmd':'status'}", "{'ok':true," ROOTLESS("null", "null")
		",'data':{'shape':[],'state':'bootstrapping',"
		"'table_version':0,'nodes':{'total':0,'up':0,'excluded':0},"
		"'links':{'total':0,'up':0,'faulty':0,'excluded':0,'wrong':0},"
		"'parked_packets':0,'relayed_pairs':0,'orders':[],'orders_more':0,'faulty':[],"
		"'faulty_more':0,'own':{'node':null,'name':'myself',"
		"'wave':{'position':[-1,1],'size':[null,2],'confirmed':false," NEIGHBOURS "}}," FABRIC
		"'service':{'address':'192.168.0.7:7','connections':1,'schemas':[5,7],"
		"'refused_fabric':0,"
		"'refused_key':0,'refused_schema':0,'refused_malformed':0,'refused_busy':0,"
		"'last_refused':null},"
		"'seal':{'refused':0,'late':0},'history':null,"
		"'root':{'node':null,'name':null,'address':null,'state':'unknown','epoch':0,"
		"'since':null,"
		"'why':null,'reachable':true,'unreachable_since':null,'here':0,'need':0,"
		NO_CALLS NO_ARBITER "'candidates':[]},"
		"'heard':{'nodes':0,'links':0},"
		"'problems':[" PROBLEMS ",{'kind':'release','text':'2 connections to managers of another release; "
		"service schemas: this one up to 7, bob up to 5'}],'problems_more':139,"
		"'held_links':[],'recovery':null,'last_recovery':null}}");
}

/* --- root, move ------------------------------------------------------------------ */

/* The candidate that asks first to be root comes first; of equals, that with the lower id. */
static void root_lists_first_asking_candidate_first(void **state)
{
	(void)state;
	replies("{'cmd':'root'}", "{'ok':true,'data':" ROOT "}");
	a.root = false;
	a.ncandidates = 0;
	a.status.root = (struct fm_root_status){ .known = true, .lost = NOW - 7 * SEC,
						 .state = FM_ROOT_ASKS, .epoch = 3, .here = 4,
						 .need = 5, .calls = { 9, 8, 7, 6 },
						 .node = 1, .address = "192.168.0.1:8" };
	replies("{'cmd':'root'}", "{'ok':true," ROOTLESS("null", "[2,1]") ",'data':" ROOT_THAT_ASKS
		"}");
	a.root_says = "{'ok':true,'data':'of the root'}";
	replies("{'cmd':'root'}", a.root_says);
	a.root_says = NULL;
	a.d.fm = NULL;
	refuses("{'cmd':'root'}", "not-ready", "no NIC: there is none");
}

static void move_of_root_reports_done_or_reason(void **state)
{
	static const struct {
		int err;
		const char *code, *text;
	} refused[] = {
		{ -EPERM, "unreachable", "this node is not the root any more" },
		{ -EHOSTUNREACH, "failed",
		  "node bob (1,0) cannot become root: its manager does not answer; its NIC works" },
		{ -EACCES, "failed",
		  "node bob (1,0) cannot become root: its root_priority is 0, or its NIC failed "
		  "while it was root" },
		{ -EINVAL, "failed", "node bob (1,0) cannot become root: Invalid argument" },
	};

	(void)state;
	replies("{'cmd':'move','node':'bob'}", "{'ok':true,'data':{'node':[1,0],'changed':true}}");
	does("move 1 at 50\n");
	replies("{'cmd':'move','node':'2,1'}", "{'ok':true,'data':{'node':[2,1],'changed':false}}");
	does("move 5 at 50\n");
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		a.change_error = refused[i].err;
		refuses("{'cmd':'move','node':'1,0'}", refused[i].code, refused[i].text);
		does("move 1 at 50\n");
	}
	/* The reason is what the root knows of that node. */
	a.change_error = -EHOSTUNREACH;
	refuses("{'cmd':'move','node':'0,0'}", "failed",
		"node ann (0,0) cannot become root: its manager does not answer");
	refuses("{'cmd':'move','node':'2,0'}", "failed", "node 2,0 cannot become root: it is dead");
	refuses("{'cmd':'move','node':'dan'}", "failed",
		"node dan (0,1) cannot become root: no node has been seen there yet");
	does("move 0 at 50\nmove 2 at 50\nmove 3 at 50\n");
	refuses("{'cmd':'move'}", "usage",
		"move: argument 'node' is missing: coordinates such as '1,0,3', or a name");
}

/*
 * During a recovery the answer to "root move" waits for its end; then the root gets the order once
 * more.
 */
static void move_of_root_is_answered_when_it_is_done(void **state)
{
	static const char request[] = "{'cmd':'move','node':'bob'}", late[] =
		"a recovery is under way, and has not ended within 2 s: 'fabricctl status' shows "
		"the state; "
		"try again when it has ended";

	(void)state;
	a.change_error = -EAGAIN;
	a.once = true;
	waits(request, 0, "{'ok':true,'data':{'node':[1,0],'changed':true}}");
	does("move 1 at 50\nmove 1 at 50\n");
	a.change_error = -EAGAIN;
	waits_refused(request, 2 * SEC, "not-ready", late);
	does("move 1 at 50\n");
	/* The next one has begun already. */
	a.change_error = -EAGAIN;
	a.once = false;
	waits_refused(request, 0, "not-ready", late);
	does("move 1 at 50\nmove 1 at 50\n");
}

/* --- nodes ------------------------------------------------------------------- */

#define ANN(state, alive_at, rootless) \
	"{'node':[0,0],'name':'ann','id':0,'guid':null,'state':" state ",'address':'10.0.0.0'," \
	"'service':'192.168.0.0:8','table_version':117,'parent':[1,0],'software':'5.6'," \
	"'heard_ms':" alive_at ",'excluded':false,'until':null,'rootless':" rootless "}"
#define BOB(state, alive_at, rootless) \
	"{'node':[1,0],'name':'bob','id':1,'guid':'0000000000000f01','state':" state "," \
	"'address':'10.1.0.0','service':'192.168.0.1:8','table_version':null," \
	"'parent':[2,0],'software':null,'heard_ms':" alive_at ",'excluded':false,'until':null,'rootless':" rootless "}"
#define NO_NAME(rootless) \
	"{'node':[2,0],'name':null,'id':2,'guid':'0000000000000f02','state':'dead'," \
	"'address':'10.2.0.0','service':null,'table_version':null,'parent':[0,1]," \
	"'software':null,'heard_ms':null,'excluded':true,'until':174,'rootless':" rootless "}"
#define DAN(rootless) \
	"{'node':[0,1],'name':'dan','id':3,'guid':'0000000000000f03','state':'absent'," \
	"'address':'10.0.1.0','service':'192.168.0.3:8','table_version':null," \
	"'parent':[1,1],'software':null,'heard_ms':null,'excluded':false,'until':null,'rootless':" rootless "}"
#define EVE(state, alive_at, rootless) \
	"{'node':[1,1],'name':'eve','id':4,'guid':'0000000000000f04','state':" state "," \
	"'address':'10.1.1.0','service':'192.168.0.4:8','table_version':null," \
	"'parent':[2,1],'software':null,'heard_ms':" alive_at ",'excluded':false,'until':null,'rootless':" rootless "}"
#define OWN_NODE(rootless) \
	"{'node':[2,1],'name':'own','id':5,'guid':'0000000000000f05','state':'up'," \
	"'address':'10.2.1.0','service':'192.168.0.5:8','table_version':118,'parent':null," \
	"'software':'" TORUS_VERSION "','heard_ms':0.0,'excluded':false,'until':null,'rootless':" rootless "}"
#define JOINERS(rootless) \
	"{'node':null,'name':'new','id':null,'guid':'0000000000000900','state':'joining'," \
	"'address':null,'service':'192.168.0.9:9','table_version':null,'parent':null," \
	"'software':null,'heard_ms':null,'excluded':false,'until':null,'rootless':" rootless "}," \
	"{'node':null,'name':null,'id':null,'guid':null,'state':'joining'," \
	"'address':null,'service':null,'table_version':null,'parent':null," \
	"'software':null,'heard_ms':null,'excluded':false,'until':null,'rootless':" rootless "}"

/*
 * With a root the state of a node is that of the table, also if the node has not answered this
 * question.
 */
static void nodes_with_root_have_state_of_table(void **state)
{
	(void)state;
	a.answer_by[0] = "{'table_version':117,'software':'5.6'}";
	a.alive_at[0] = a.alive_at[1] = NOW - 20 * SEC;
	a.alive_at[4] = NOW + SEC;
	replies("{'cmd':'nodes'}", "{'ok':true,'missing':[[1,0],[1,1]],'data':["
		ANN("'up'", "0.0", "false") "," BOB("'silent'", "20000.0", "false") ","
		NO_NAME("false") "," DAN("false") "," EVE("'up'", "0.0", "false") ","
		OWN_NODE("false") "," JOINERS("false") "]}");
	assert_string_equal(a.passed_on, "all -1 privileged 1500 ms: {\"cmd\":\"nodes\"}");
}

/* A question about some nodes: nodes without a place are in the answer for the last places. */
static void some_nodes_are_answered_alone_within_limit(void **state)
{
	(void)state;
	a.answer_by[0] = "{'table_version':117,'software':'5.6'}";
	replies("{'cmd':'nodes','node':'ann','count':2}", "{'ok':true,'missing':[[1,0]],'data':["
		ANN("'up'", "0.0", "false") "," BOB("'silent'", "null", "false") "]}");
	assert_string_equal(a.passed_on, "all 0 privileged 1500 ms: "
			    "{\"cmd\":\"nodes\",\"node\":\"0,0\",\"count\":2}");
	replies("{'cmd':'nodes','node':'bob'}", "{'ok':true,'missing':[[1,0]],'data':["
		BOB("'silent'", "null", "false") "]}");
	replies("{'cmd':'nodes','node':'2,1','count':9}", "{'ok':true,'data':["
		OWN_NODE("false") "," JOINERS("false") "]}");
	refuses("{'cmd':'nodes','node':'2,1','count':4097}", "usage",
		"count: must be 1 to 4096 in a fabric of 6 nodes");
	refuses("{'cmd':'nodes','count':1}", "usage",
		"nodes: argument 'node' is missing: coordinates such as '1,0,3', or a name");
}

/*
 * Without the root a node reports what it knows. A node that has not answered, and of which no
 * message came within the bound, is reported neither as up nor as silent.
 */
static void nodes_without_root_have_state_known_here(void **state)
{
	(void)state;
	a.root = false;
	a.cut_off = NOW - 7 * SEC;
	a.alive_at[1] = NOW - 7 * SEC;
	a.alive_at[4] = NOW - 2 * SEC;
	a.lately[4] = true;
	a.answer_by[0] = "{'table_version':117,'software':'5.6'}";
	replies("{'cmd':'nodes'}", "{'ok':true," ROOTLESS("1700000043.0", "[2,1]")
		",'missing':[[1,0],[1,1]],'data':["
		ANN("'up'", "0.0", "true") "," BOB("'unknown'", "7000.0", "true") ","
		NO_NAME("true") "," DAN("true") "," EVE("'up'", "2000.0", "true") ","
		OWN_NODE("true") "," JOINERS("true") "]}");
	a.entry[OWN].state = FM_NODE_SILENT;
	replies("{'cmd':'nodes','node':'2,1','count':1}", "{'ok':true,"
		ROOTLESS("1700000043.0", "[2,1]")
		",'data':[" OWN_NODE("true") "," JOINERS("true") "]}");
	a.entry[OWN].state = FM_NODE_UP;
	a.lately[4] = false;
	replies("{'cmd':'nodes','node':'eve','count':1}", "{'ok':true,"
		ROOTLESS("1700000043.0", "[2,1]")
		",'missing':[[1,1]],'data':[" EVE("'unknown'", "2000.0", "true") "]}");
}

#define NOT_A_NODE(name) \
	"node '" name "' is neither a node's name nor coordinates in 3x2: must be a name, an " \
	"address or a GUID ('fabricctl nodes' lists them), or coordinates up to 2,1"

static void coord_finds_node_by_each_of_its_names(void **state)
{
	(void)state;
	replies("{'cmd':'coord'}", "{'ok':true,'data':{'node':[2,1],'name':'own','id':5,"
		"'address':'10.2.1.0','shape':[3,2],'own':[2,1]}}");
	replies("{'cmd':'coord','name':'dan'}",
		"{'ok':true,'data':{'node':[0,1],'name':'dan','id':3,"
		"'address':'10.0.1.0','shape':[3,2],'own':[2,1]}}");
	replies("{'cmd':'coord','name':[2,0]}",
		"{'ok':true,'data':{'node':[2,0],'name':null,'id':2,"
		"'address':'10.2.0.0','shape':[3,2],'own':[2,1]}}");
	/* The node is named by its address in the torus, that of its manager, and its GUID. */
	replies("{'cmd':'coord','name':'10.0.1.0'}",
		"{'ok':true,'data':{'node':[0,1],'name':'dan','id':3,"
		"'address':'10.0.1.0','shape':[3,2],'own':[2,1]}}");
	replies("{'cmd':'coord','name':'192.168.0.3:8'}",
		"{'ok':true,'data':{'node':[0,1],'name':'dan','id':3,"
		"'address':'10.0.1.0','shape':[3,2],'own':[2,1]}}");
	replies("{'cmd':'coord','name':'192.168.0.3'}",
		"{'ok':true,'data':{'node':[0,1],'name':'dan','id':3,"
		"'address':'10.0.1.0','shape':[3,2],'own':[2,1]}}");
	replies("{'cmd':'coord','name':'0000000000000F03'}",
		"{'ok':true,'data':{'node':[0,1],'name':'dan','id':3,"
		"'address':'10.0.1.0','shape':[3,2],'own':[2,1]}}");
	strcpy(a.entry[2].name, "zoe");	/* no name is unknown */
	refuses("{'cmd':'coord','name':'192.168.0'}", "usage", NOT_A_NODE("192.168.0"));
	refuses("{'cmd':'coord','name':'10.0.0.1'}", "usage", NOT_A_NODE("10.0.0.1"));
	refuses("{'cmd':'coord','name':'000000000000beef'}", "usage",
		NOT_A_NODE("000000000000beef"));
	refuses("{'cmd':'coord','name':'f03'}", "usage", NOT_A_NODE("f03"));
	/* A node without a name in the table still knows its own. */
	a.entry[OWN].name[0] = '\0';
	replies("{'cmd':'coord'}", "{'ok':true,'data':{'node':[2,1],'name':'myself','id':5,"
		"'address':'10.2.1.0','shape':[3,2],'own':[2,1]}}");
}

/* --- table, exclude, include ---------------------------------------------------- */

#define TABLE "{'ok':true,'data':{" OF_TABLE "}}"
#define EXCLUDED(in_force) IN_FORCE(in_force, "null")
#define KEPT(have, of) IN_FORCE("true", "{'have':" have ",'of':" of "}")
#define IN_FORCE(in_force, kept) "{'ok':true,'data':{'changed':true,'in_force':" in_force ",'kept':" kept "," OF_TABLE "}}"
#define OF_TABLE \
	"'version':119,'epoch':7,'shape':[3,2],'excluded':[" \
	"{'node':[0,0],'port':'+x','why':'fault'},{'node':[0,0],'port':'+y','why':'fault'}," \
	"{'node':[1,0],'port':'+x','why':'fault'},{'node':[1,0],'port':'+y','why':'fault'}," \
	"{'node':[2,0],'port':'+x','why':'admin'},{'node':[2,0],'port':'+y','why':'admin'}," \
	"{'node':[2,0],'port':'-x','why':'admin'},{'node':[2,0],'port':'-y','why':'admin'}," \
	"{'node':[0,1],'port':'+x','why':'fault'},{'node':[0,1],'port':'+y','why':'fault'}," \
	"{'node':[1,1],'port':'+x','why':'fault'},{'node':[1,1],'port':'+y','why':'fault'}," \
	"{'node':[2,1],'port':'+x','why':'admin'},{'node':[2,1],'port':'+y','why':'wiring'}]," \
	"'nodes':[{'node':[0,0],'state':'up'," ALL_FAULTY "},{'node':[1,0],'state':'silent'," ALL_FAULTY "}," \
	"{'node':[2,0],'state':'dead'," ALL_FAULTY "},{'node':[0,1],'state':'absent'," ALL_FAULTY "}," \
	"{'node':[1,1],'state':'up'," ALL_FAULTY "}," \
	"{'node':[2,1],'state':'up','ports':{'+x':'admin','+y':'wiring','-y':'held'}}]," ORDERS
#define ALL_FAULTY "'ports':{'+x':'fault','+y':'fault','-x':'fault','-y':'fault'}"

/* An order that cuts other nodes off is refused as a whole, unless it is forced. */
static void order_that_cuts_off_nodes_needs_force(void **state)
{
	(void)state;
	a.severs = 2;
	refuses("{'cmd':'exclude','node':'1,1','port':'-y'}", "cuts-off",
		"would cut off 1,0 ('bob'), 2,0 (''), and leave 22 pairs of nodes without a path: "
		"nothing was excluded; name the node to take it out as a whole, or --force "
		"excludes "
		"it anyway");
	/* 1,0 is no end of that cable: no other order would spare it. */
	a.severs = 1;
	refuses("{'cmd':'exclude','node':'2,1','port':'-y'}", "cuts-off",
		"would cut off 1,0 ('bob'), and leave 22 pairs of nodes without a path: nothing "
		"was "
		"excluded; --force excludes it anyway");
	a.severs = 11;
	refuses("{'cmd':'exclude','links':['bob','1,1:-y']}", "cuts-off",
		"would cut off 1,0 ('bob'), 2,0 (''), 0,1 ('dan'), 1,1 ('eve'), 2,1 ('own'), 0,0 "
		"('ann'), 1,0 ('bob'), 2,0 ('') and 3 more, and leave 22 pairs of nodes without a "
		"path: nothing was excluded; name the node to take it out as a whole, or --force "
		"excludes it anyway");
	refuses("{'cmd':'exclude','node':'1,1','port':'-y','force':1}", "usage",
		"exclude: argument 'force' has the wrong type, must be true or false");
	a.severs_error = -ENOMEM;
	refuses("{'cmd':'exclude','node':'1,1','port':'-y','force':false}", "failed",
		"no memory to find out what would be cut off");
	a.severs_error = -EAGAIN;
	refuses("{'cmd':'exclude','node':'1,1','port':'-y'}", "not-ready",
		"the root has made no table yet, so it cannot tell what would be cut off: try again");
	does("");
	replies("{'cmd':'exclude','node':'1,1','port':'-y','force':true}", EXCLUDED("true"));
	does("exclude 4 3 at 50\n");
	a.severs_error = 0;
	a.went = 1;
	refuses("{'cmd':'exclude','node':'1,1'}", "cuts-off",
		"would leave no node in service: nothing was excluded; --force excludes it anyway");
	a.went = 2;
	a.left = 1;
	refuses("{'cmd':'exclude','links':['1,1','2,1']}", "cuts-off",
		"would leave only one node in service: nothing was excluded; --force excludes it "
		"anyway");
	does("");
	a.went = 1;
	replies("{'cmd':'exclude','node':'1,1'}", EXCLUDED("true"));
	a.went = 2;
	a.left = 2;
	replies("{'cmd':'exclude','node':'1,1'}", EXCLUDED("true"));
	does("exclude 4 -1 at 50\nexclude 4 -1 at 50\n");
	replies("{'cmd':'include','node':'1,1','port':'-y'}", EXCLUDED("true"));
	replies("{'cmd':'exclude','node':'1,1','port':'+y'}", EXCLUDED("true"));
	does("include 4 3 at 50\nexclude 4 1 at 50\n");
}

/* An order that divides a job, whose nodes use no other cables, is refused, too. */
static void order_that_divides_job_needs_force(void **state)
{
	(void)state;
	a.parts = 3;
	refuses("{'cmd':'exclude','links':['1,1:+y','1,1:+x']}", "cuts-off",
		"would divide job 'mine' into 3 parts, which could not reach each other: nothing "
		"was "
		"excluded; wait until the job ends, or --force excludes it anyway");
	does("");
	replies("{'cmd':'exclude','node':'1,1','port':'+x','force':true}", EXCLUDED("true"));
	does("exclude 4 0 at 50\n");
}

#define OWN_SEVERED "would cut off 2,1 ('own'), and leave 22 pairs of nodes without a path: "
#define FORCE "nothing was excluded; --force excludes it anyway"
#define NAME_IT "nothing was excluded; name the node to take it out as a whole, or --force excludes it anyway"

/*
 * A node that is cut off is to be named instead only if the order, with those before, ends its last
 * cable: an end may be named at either node, or be any port of a node that goes out as a whole.
 */
static void advice_names_node_only_if_last_cable_ends(void **state)
{
	static const struct {
		unsigned int intact;
		const char *links, *advice;
	} row[] = {
		{ 1u << 2, "'2,1:-y'", FORCE },
		{ 1u << 2, "'2,1:-y','2,1:+x'", FORCE },
		{ 1u << 2, "'2,1:-y','2,1:-x'", NAME_IT },
		{ 1u << 2, "'2,1:-y','1,1:+x'", NAME_IT },
		{ 1u << 2, "'2,1:-y','1,1:-x'", FORCE },
		{ 1u << 2, "'1,1','2,1:-y'", NAME_IT },
		{ 1u << 2, "'0,1','2,1:-y'", FORCE },
		{ 1u << 1, "'2,0:+x','2,1:-y'", FORCE },
		{ 1u << 1, "'2,0','2,1:-y'", NAME_IT },
		{ 1u << 1 | 1u << 2, "'2,0','2,1:-y'", FORCE },
		{ 1u << 1 | 1u << 2, "'2,0','1,1','2,1:-y'", NAME_IT },
	};
	char request[128], text[256];

	(void)state;
	a.severs = 1;
	a.severed = OWN;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		a.intact = row[i].intact;
		snprintf(request, sizeof(request), "{'cmd':'exclude','links':[%s]}", row[i].links);
		snprintf(text, sizeof(text), OWN_SEVERED "%s", row[i].advice);
		refuses(request, "cuts-off", text);
	}
	does("");
}

static void table_is_answered_also_without_root(void **state)
{
	(void)state;
	replies("{'cmd':'table'}", TABLE);
	a.root = false;		/* no node answers */
	replies("{'cmd':'table'}", "{'ok':true," ROOTLESS("null", "[2,1]") ",'data':{" OF_TABLE
		"}}");
}

/* The manager gets the node and the port of an order, and whether they are excluded or included. */
#define SEVENTY "1234567 1234567 1234567 1234567 1234567 1234567 1234567 1234567 12345 "

static void exclude_and_include_reach_manager_with_reason(void **state)
{
	(void)state;
	replies("{'cmd':'exclude','node':'1,1','port':'-y'}", EXCLUDED("true"));
	does("exclude 4 3 at 50\n");
	replies("{'cmd':'exclude','node':'bob'}", EXCLUDED("true"));
	does("exclude 1 -1 at 50\n");
	a.uid = 1000;
	a.at = 1;
	replies("{'cmd':'exclude','node':'2,0','reason':'it ~ hums'}", EXCLUDED("true"));
	does("exclude 2 -1 at 50 by 1000@bob: it ~ hums\n");
	replies("{'cmd':'exclude','node':'2,0','reason':'" SEVENTY "seventy n'}", EXCLUDED("true"));
	does("exclude 2 -1 at 50 by 1000@bob: " SEVENTY "seventy n\n");
	refuses("{'cmd':'exclude','node':'2,0','reason':'" SEVENTY "seventy ni'}", "usage",
		"reason: must be at most 79 characters of printable ASCII");
	refuses("{'cmd':'exclude','node':'2,0','reason':'it\\thums'}", "usage",
		"reason: must be at most 79 characters of printable ASCII");
	refuses("{'cmd':'exclude','node':'2,0','reason':'\xc3\xa4'}", "usage",
		"reason: must be at most 79 characters of printable ASCII");
	a.at = TORUS_NO_NODE;
	replies("{'cmd':'exclude','node':'2,0','reason':'x'}", EXCLUDED("true"));
	does("exclude 2 -1 at 50 by 1000@: x\n");
	replies("{'cmd':'exclude','node':'2,0','for':31536000}", EXCLUDED("true"));
	does("exclude 2 -1 at 50 for 31536000 s\n");
	refuses("{'cmd':'exclude','node':'2,0','for':31536001}", "usage",
		"for: must be 1 to 31536000 seconds");
	refuses("{'cmd':'exclude','node':'2,0','for':0}", "usage",
		"for: must be 1 to 31536000 seconds");
	/* A cable keeps the end that names it and its reason, whichever end is given, unless another reason is. */
	replies("{'cmd':'exclude','links':['1,1:-y','bob:+x','2,0:-x','bob:+y']}",
		EXCLUDED("true"));
	does("exclude 4 3 at 50 more\nexclude 1 0 at 50 more by 1000@: dust\nexclude 1 0 at 50 "
	     "more by 1000@: dust\nexclude 1 1 at 50\n");
	replies("{'cmd':'exclude','node':'bob','port':'+x','reason':''}", EXCLUDED("true"));
	does("exclude 1 0 at 50\n");
	replies("{'cmd':'exclude','node':'bob','port':'+x','reason':'mud'}", EXCLUDED("true"));
	does("exclude 1 0 at 50 by 1000@: mud\n");
	replies("{'cmd':'include','node':[2,0],'port':'+y'}", EXCLUDED("true"));
	does("include 2 1 at 50\n");
	/* Links in a list come into one table. If one is wrong, nothing is done. */
	replies("{'cmd':'exclude','links':['1,1:-y','bob','2,0:+x']}", EXCLUDED("true"));
	does("exclude 4 3 at 50 more\nexclude 1 -1 at 50 more\nexclude 2 0 at 50\n");
	replies("{'cmd':'include','links':['bob:+y']}", EXCLUDED("true"));
	does("include 1 1 at 50\n");
	/* Those that are so already are left out; the last of the others ends the list. */
	a.same = 2;
	replies("{'cmd':'exclude','links':['1,1:-y','bob','2,0:+x','bob:+x']}", EXCLUDED("true"));
	does("exclude 4 3 at 50 more\nexclude 2 0 at 50\n");
	a.same = 0;
	refuses("{'cmd':'exclude','links':['1,1:-y','nobody']}", "failed",
		"no node is known as 'nobody', but the names of 1 node are not known, because its "
		"manager "
		"does not answer: write coordinates up to 2,1");
	refuses("{'cmd':'exclude','links':['1,1:-y','bob:+z']}", "usage",
		"port '+z', must be +x to -y");
	refuses("{'cmd':'exclude','links':['1,1:-y',7]}", "usage",
		"exclude: argument 'links' has the wrong type, must be an array of texts");
	refuses("{'cmd':'exclude','links':[]}", "usage",
		"exclude: argument 'links' has the wrong type, must be an array of texts");
	does("");
	waits("{'cmd':'exclude','node':'1,1','port':'-y'}", 0, EXCLUDED("true"));
	does("exclude 4 3 at 50\n");
	waits("{'cmd':'exclude','node':'1,1','port':'-y'}", 2 * SEC, EXCLUDED("false"));
	does("exclude 4 3 at 50\n");
	a.change_error = -EAGAIN;
	refuses("{'cmd':'exclude','node':'0,0'}", "not-ready",
		"the fabric is still bootstrapping");
	a.change_error = -EPERM;
	refuses("{'cmd':'include','node':'0,0'}", "unreachable",
		"this node is not the root any more");
	a.change_error = -EINVAL;
	refuses("{'cmd':'exclude','node':'0,0'}", "failed", "exclude: Invalid argument");
}

/*
 * An order that changes nothing is not an event for the manager; the answer waits for the table all
 * the same.
 */
static void unchanged_order_makes_no_event_but_waits(void **state)
{
#define UNCHANGED(in_force) \
	"{'ok':true,'data':{'changed':false,'in_force':" in_force ",'kept':null," OF_TABLE "}}"

	(void)state;
	a.no_change = true;
	replies("{'cmd':'exclude','node':'1,1','port':'-y'}", UNCHANGED("true"));
	replies("{'cmd':'include','node':'bob'}", UNCHANGED("true"));
	waits("{'cmd':'include','node':'bob'}", 0, UNCHANGED("true"));
	waits("{'cmd':'include','node':'bob'}", 2 * SEC, UNCHANGED("false"));
	does("");
	a.no_change = false;
	replies("{'cmd':'include','node':'bob'}", EXCLUDED("true"));
	does("include 1 -1 at 50\n");
}

/*
 * The answer to an order waits until most candidates have it on disk, or until it is clear that
 * they will not.
 */
static void exclude_is_answered_when_candidates_keep_it(void **state)
{
	static const char request[] = "{'cmd':'exclude','node':'1,1','port':'-y'}";
	static const struct fm_kept_count waiting = { .of = 8, .keep = 8, .have = 4, .wait = 4 },
		enough = { .of = 8, .keep = 8, .have = 5, .wait = 3 },
		too_few = { .of = 8, .keep = 8, .have = 2, .wait = 2 },
		none_left = { .of = 8, .keep = 8, .have = 4, .wait = 0 };

	(void)state;
	a.kept = waiting;
	waits_kept(request, 0, &enough, KEPT("5", "8"));
	replies(request, KEPT("5", "8"));
	a.kept = waiting;
	waits_kept(request, 2 * SEC, &waiting, KEPT("4", "8"));
	/*
	 * So few nodes are left that a majority is impossible; the answer has what these keep all
	 * the same.
	 */
	a.kept = too_few;
	waits_kept(request, 0, &none_left, KEPT("4", "8"));
	replies(request, KEPT("4", "8"));
	a.kept = (struct fm_kept_count) { .of = 1, .keep = 1, .have = 1 };
	replies(request, KEPT("1", "1"));
	a.kept = (struct fm_kept_count) { .of = 3 };	/* no candidate has a disk */
	replies(request, EXCLUDED("true"));
	a.kept = waiting;
	waits(request, 2 * SEC, IN_FORCE("false", "{'have':4,'of':8}"));
}

/* --- events, log ------------------------------------------------------------------ */

static void events_are_answered_from_given_number(void **state)
{
	(void)state;
	replies("{'cmd':'events'}", "{'ok':true,'data':[]}");
	events_add(a.d.events, 301.5, "0,1", FM_WARNING, "kind of 1", "text of 1");
	events_add(a.d.events, 302.5, "", FM_INFO, "kind of 2", "text of 2");
	replies("{'cmd':'events'}", "{'ok':true,'data':["
		"{'seq':1,'time':301.5,'node':[0,1],'level':'warning','kind':'kind of 1',"
		"'text':'text of 1'},"
		"{'seq':2,'time':302.5,'node':[2,1],'level':'info','kind':'kind of 2',"
		"'text':'text of 2'}]}");
	events_link(a.d.events, 1, "{}");	/* an event before the last one */
	events_link(a.d.events, 2, "{\"state\":\"lost\"}");
	replies("{'cmd':'events','since':1}", "{'ok':true,'data':["
		"{'seq':2,'time':302.5,'node':[2,1],'level':'info','kind':'kind of 2',"
		"'text':'text of 2','link':{'state':'lost'}}]}");
	replies("{'cmd':'events','since':2}", "{'ok':true,'data':[]}");
	a.d.own[0] = '\0';	/* the node has no place yet */
	replies("{'cmd':'events','since':1}", "{'ok':true,'data':["
		"{'seq':2,'time':302.5,'node':null,'level':'info','kind':'kind of 2',"
		"'text':'text of 2','link':{'state':'lost'}}]}");
	replies("{'cmd':'events','since':2}", "{'ok':true,'data':[]}");
	replies("{'cmd':'events','since':7,'follow':true}", "{'follow':7}");
}

static void event_of_other_node_is_noted_with_its_name(void **state)
{
	const struct svc_msg reported = { .type = SVC_EVENT, .event = {
		.time = 303.5, .level = FM_ERROR, .node = "1,0", .kind = "link", .text = "gone",
	} };

	(void)state;
	pass_to_root(&reported);
	does("event 303.5 '1,0' 0 link: gone\n");
}

#define HISTORY(events, after, more, lost, kept) \
	"{'ok':true,'data':{'events':" events ",'after':" after ",'more':" more ",'lost':" lost "," \
	"'node':[2,1],'name':'myself','kept':" kept ",'problem':null}}"

/* Without a history on disk, the answer has the events in memory. */
static void history_without_disk_has_events_in_memory(void **state)
{
#define EVENT_1 "{'seq':1,'time':301.5,'node':[0,1],'level':'warning','kind':'node'," \
		"'text':'node 1,1 is gone','log':'ab'}"
#define EVENT_2 "{'seq':2,'time':302.5,'node':[2,1],'level':'info','kind':'link'," \
		"'text':'1,1:+y is up','log':'ab'}"
#define RECENT(events) HISTORY("[" events "]", "null", "false", "false", "null")

	(void)state;
	events_add(a.d.events, 301.5, "0,1", FM_WARNING, "node", "node 1,1 is gone");
	events_add(a.d.events, 302.5, "", FM_INFO, "link", "1,1:+y is up");
	replies("{'cmd':'history'}", RECENT(EVENT_1 "," EVENT_2));
	replies("{'cmd':'history','last':1}", RECENT(EVENT_2));
	replies("{'cmd':'history','from':301501}", RECENT(EVENT_2));
	replies("{'cmd':'history','to':301500}", RECENT(EVENT_1));
	replies("{'cmd':'history','level':'warning'}", RECENT(EVENT_1));
	replies("{'cmd':'history','kind':'link'}", RECENT(EVENT_2));
	replies("{'cmd':'history','node':'1,1'}", RECENT(EVENT_1 "," EVENT_2));
	replies("{'cmd':'history','node':'0,1'}", RECENT(EVENT_1));
	replies("{'cmd':'history','node':'1,0','port':'-y'}", RECENT(EVENT_2));
	replies("{'cmd':'history','node':'1,1','port':'+x'}", RECENT(""));
	refuses("{'cmd':'history','port':'+x'}", "usage",
		"history: 'port' needs 'node', which is missing");
#define SIXTY_FOUR "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	refuses("{'cmd':'history','kind':'" SIXTY_FOUR SIXTY_FOUR "'}", "usage",
		"history: kind has 128 bytes, must have 127 at most");
	replies("{'cmd':'history','node':'0,1','last':2048}", RECENT(EVENT_1));
	refuses("{'cmd':'history','last':2049}", "usage",
		"history: last is 2049, must be 0 to 2048");
	refuses("{'cmd':'history','level':'loud'}", "usage",
		"level 'loud', must be error, warning, info or debug");
}

static void history_on_disk_is_searched_as_asked(void **state)
{
	const struct history_found found = { .events = (char *)"[{\"seq\":7}]", .after = "ab:1:9",
					     .more = true },
		none = { .events = NULL },
		unread = { .events = (char *)"[]", .unread = EMFILE },
		loading = { .events = (char *)"[]", .loading = true };

	(void)state;
	a.keeps = true;
	waits_found("{'cmd':'history','from':5,'to':6,'level':'error','kind':'link','last':3,"
		    "'after':'ab:1:5'}",
	      &found,
	      "{'ok':true,'data':{'events':[{'seq':7}],'after':'ab:1:9','more':true,'lost':false,"
	      "'node':[2,1],'name':'myself','kept':{'events':171},"
	      "'problem':'the history is long, and was not searched to its beginning: "
	      "give a start time'}}");
	does("search 5-6 0 'link' 'rp' '' last 3 after 'ab:1:5' have '':");
	waits_found("{'cmd':'history','local':true,'node':'bob','port':'+x'}", &none,
	      "{'ok':false,'code':'failed','error':'out of memory'}");
	does("search 0--1 3 '' 'rl' '2,0:-x' last 0 after '' have '':");
	waits_found("{'cmd':'history','pull':true,'have':'ab=5'}", &found,
	      HISTORY("[{'seq':7}]", "'ab:1:9'", "true", "false", "{'events':171}"));
	does("search 0--1 3 '' 'rp' '' last 0 after '' have 'ab=5': in 32768 bytes");
	/* The disk does not answer. */
	waits_found("{'cmd':'history'}", NULL,
	      "{'ok':true,'data':{'events':[],'after':null,'more':false,'lost':false,'node':[2,1],"
	      "'name':'myself','kept':{'events':171},"
	      "'problem':'the disk does not answer: these are the last events in memory'}}");
	does("search 0--1 3 '' 'rp' '' last 0 after '' have '':");
	waits_found("{'cmd':'history','pull':true}", NULL,
		    "{'ok':false,'code':'failed','error':'the history cannot be searched now'}");
	does("search 0--1 3 '' 'rp' '' last 0 after '' have '': in 32768 bytes");
	waits_found("{'cmd':'history'}", &unread,
	      "{'ok':true,'data':{'events':[],'after':null,'more':false,'lost':false,'node':[2,1],"
	      "'name':'myself','kept':{'events':171},"
	      "'problem':'a part of the history cannot be read: Too many open files'}}");
	does("search 0--1 3 '' 'rp' '' last 0 after '' have '':");
	waits_found("{'cmd':'history'}", &loading,
	      "{'ok':true,'data':{'events':[],'after':null,'more':false,'lost':false,'node':[2,1],"
	      "'name':'myself','kept':{'events':171},"
	      "'problem':'the history is still being read: try again'}}");
	does("search 0--1 3 '' 'rp' '' last 0 after '' have '':");
	a.busy = true;
	refuses("{'cmd':'history'}", "failed", "too many requests at once: try again");
	does("search 0--1 3 '' 'rp' '' last 0 after '' have '':");
}

/* A new root asks candidates for the events that it does not have. */
static void candidate_gives_new_root_its_events(void **state)
{
	(void)state;
	answers_root("{'cmd':'history','pull':true,'have':''}", NULL);		/* it keeps none */
	a.keeps = true;
	answers_root("{'cmd':'history','pull':true,'have':'ab=5','after':'ab:1:5','from':4}",
		     "{'events':[{'seq':7}],'after':'ab:1:9','more':true,'lost':false}");
	does("search 4--1 3 '' 'rp' '' last 0 after 'ab:1:5' have 'ab=5': in 32768 bytes");
	answers_root("{'cmd':'history'}", NULL);
	forgets_root("{'cmd':'history','pull':true}");
	a.did[0] = '\0';
	a.busy = true;
	answers_root("{'cmd':'history','pull':true}", NULL);
	a.did[0] = '\0';
}

static void log_reads_and_sets_level(void **state)
{
	enum fm_level before = log_level();

	(void)state;
	replies("{'cmd':'log'}", before == FM_INFO ? "{'ok':true,'data':{'level':'info'}}" :
		"{'ok':true,'data':{'level':'error'}}");
	replies("{'cmd':'log','level':'debug'}", "{'ok':true,'data':{'level':'debug'}}");
	assert_int_equal(log_level(), FM_DEBUG);
	log_level_set(before);
	refuses("{'cmd':'log','level':'loud'}", "usage",
		"level 'loud', must be error, warning, info or debug");
}

/* The values of config_json() for the defaults, but with a level that "fabricctl log" has set. */
static json_t *config_with_level(const char *level)
{
	json_t *list = config_json(&a.d.config, &a.d.run), *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(json_string_value(json_object_get(v, "key")), "log_level")) {
			json_object_set_new(v, "value", json_string(level));
			json_object_set_new(v, "source", json_string("fabricctl log"));
		}
	return list;
}

/* The values in force: of the manager that is asked, of another one, and of all. */
static void config_shows_values_of_one_or_all_nodes(void **state)
{
	static const struct config_run run = { .path = "/c.conf", .chosen = true };
	enum fm_level before = log_level();
	json_t *values;

	(void)state;
	config_default(&a.d.config);
	a.d.run = run;
	log_level_set(FM_DEBUG);
	replies_json("{'cmd':'config'}",
		     json_pack("{s:b s:[{s:o s:s s:s s:s s:o}]}", "ok", 1, "data", "node",
		     json_of("[2,1]"), "name", a.d.config.fm.name, "software", TORUS_VERSION,
		     "file", "/c.conf",
		     "config", config_with_level("debug")));
	a.answer_by[0] = "{'node':[0,0],'config':[]}";
	replies("{'cmd':'config','node':'ann'}", "{'ok':true,'data':[{'node':[0,0],'config':[]}]}");
	assert_string_equal(a.passed_on,
			    "node 0 privileged 1500 ms: {\"cmd\":\"config\",\"node\":\"ann\"}");
	refuses("{'cmd':'config','node':'eve'}", "unreachable",
		"node 'eve' does not answer, or its manager "
		"is of an earlier release and does not tell its configuration");
	values = config_values_json(&a.d.config);
	assert_string_equal(json_string_value(json_object_get(values, "timers.keepalive")), "1s");
	json_object_set_new(values, "log_level", json_string("debug"));
	a.answer_by[1] = "{'values':{}}";
	replies_json("{'cmd':'config','values':true}",
		     json_pack("{s:b s:o s:[oo{s:o s:s s:s s:o}]}", "ok", 1,
		     "missing", json_of("[[1,1]]"), "data", json_of(a.answer_by[0]),
		     json_of(a.answer_by[1]), "node",
		     json_of("[2,1]"), "name", a.d.config.fm.name, "software", TORUS_VERSION,
		     "values", values));
	replies("{'cmd':'config','values':true,'node':'0,0','count':2}",
		"{'ok':true,'data':[{'node':[0,0],'config':[]},{'values':{}}]}");
	log_level_set(before);
}

/* --- who may ask, and when ------------------------------------------------------- */

/* The commands that this program, and test_answers_nic, know: a new one needs a test of its answer. */
static void unknown_command_lists_all_commands(void **state)
{
	(void)state;
	refuses("{}", "usage",
		"cmd is missing, known: status nodes links eye counters rows park metrics "
		"events history config coord table root move exclude include jobs job-start "
		"job-stop port retrain retry test locate module replay log");
}

static void changes_without_privilege_are_refused(void **state)
{
	static const struct {
		const char *asked, *typed;
	} change[] = {
		{ "'move'", "root move" }, { "'exclude'", "exclude" }, { "'include'", "include" },
		{ "'port','up':true", "link up" }, { "'port','up':false", "link down" },
		{ "'port'", "link down" }, { "'retrain'", "link retrain" },
		{ "'retry'", "link retry" }, { "'replay'", "park --replay" },
		{ "'log'", "log" },
	};
	char request[64], text[256];

	(void)state;
	a.privileged = false;
	for (unsigned int i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		snprintf(request, sizeof(request), "{'cmd':%s}", change[i].asked);
		snprintf(text, sizeof(text),
			 "%s changes the fabric: only root may: run it with sudo, or set "
			 "control_group in fabricd.conf, which is not set, to a group of yours and "
			 "restart "
			 "fabricd", change[i].typed);
		refuses(request, "denied", text);
	}
	strcpy(a.d.config.control_group, "staff");
	refuses("{'cmd':'log'}", "denied",
		"log changes the fabric: only root and members of group 'staff' may "
		"(control_group in fabricd.conf): run it as one of them, or with sudo");
	does("");
}

/* Commands that need a table, or a NIC, are refused without one. */
static void commands_without_table_or_nic_are_refused(void **state)
{
	static const char *const cmd[] = {
		"nodes", "links", "eye", "counters", "rows", "park", "coord", "table", "exclude",
		"include", "retrain", "replay", "move",
	};
	char request[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++) {
		snprintf(request, sizeof(request), "{'cmd':'%s'}", cmd[i]);
		a.own = TORUS_NO_NODE;
		refuses(request, "not-ready", "the fabric is still bootstrapping");
		a.d.fm = NULL;
		refuses(request, "not-ready", "no NIC: there is none");
		a.d.fm = (struct fm *)&a;
	}
	does("");
}

/* Commands that only the root can do or answer are refused without it. */
static void commands_for_root_are_refused_without_it(void **state)
{
	(void)state;
	a.root = false;
	a.status.root.address = "192.168.0.1:8";
	refuses("{'cmd':'replay','node':'0,0'}", "unreachable",
		"the root at 192.168.0.1:8 does not answer");
	a.status.root.address = NULL;
	refuses("{'cmd':'include','node':'0,0'}", "unreachable", "the root does not answer");
	a.status.root.lost = NOW - SEC;
	/* the address may be that of this node, which takes over */
	a.status.root.address = "192.168.0.1:8";
	refuses("{'cmd':'include','node':'0,0'}", "unreachable",
		"there is no root: 'fabricctl root' shows which node takes over");
	/* The root may have done what it was asked, and may be lost since. */
	a.sent = true;
	for (int lost = 0; lost < 2; lost++) {
		a.status.root.lost = lost ? NOW - SEC : 0;
		refuses("{'cmd':'exclude','node':'0,0'}", "unreachable",
			"the root was asked, but has not answered: it is not known whether it has "
			"done this; "
			"'fabricctl root' shows whether it is lost, and 'fabricctl status' what is "
			"excluded");
	}
	a.sent = false;
	a.status.placed = false;
	a.own = TORUS_NO_NODE;
	refuses("{'cmd':'exclude','node':'0,0'}", "not-ready", "the fabric is still bootstrapping");
	does("");
	a.root_says = "{'ok':false,'code':'of the root'}";
	replies("{'cmd':'exclude','node':'0,0'}", a.root_says);
	replies("{'cmd':'status'}", a.root_says);
	does("");
}

/* A request that another node passed on is answered as if it were asked here. */
static void passed_on_request_is_answered_like_own(void **state)
{
	(void)state;
	serves("{'cmd':'table'}", TABLE);
	a.answer_by[0] = "{'node':[0,0]}";
	serves("{'cmd':'park','node':'0,0'}",
	       "{'ok':true,'data':[{'node':[0,0],'rootless':false}]}");
	serves("{'cmd':'events','follow':true}",
	       "{'ok':false,'code':'usage','error':'events cannot be followed from here'}");
	drops("{'cmd':'park'}");
	a.privileged = false;
	serves("{'cmd':'exclude','node':'0,0'}", "{'ok':false,'code':'denied',"
	       "'error':'exclude changes the fabric: only root may: run it with sudo, or set "
	       "control_group in fabricd.conf, which is not set, to a group of yours and restart "
	       "fabricd'}");
	does("");
}

static void wrong_nodes_and_ports_are_refused_with_reason(void **state)
{
	(void)state;
	refuses("{'cmd':'rows'}", "usage",
		"rows: argument 'node' is missing: coordinates such as '1,0,3', or a name");
	refuses("{'cmd':'rows','node':'3,0'}", "usage", "node '3,0': x is 3, must be 0 to 2");
	refuses("{'cmd':'rows','node':'0,2'}", "usage", "node '0,2': y is 2, must be 0 to 1");
	refuses("{'cmd':'rows','node':'who'}", "failed",
		"no node is known as 'who', but the names of 1 node are not known, because its "
		"manager "
		"does not answer: write coordinates up to 2,1");
	refuses("{'cmd':'rows','node':'1u-rack3'}", "failed",
		"no node is known as '1u-rack3', but the names of 1 node are not known, because "
		"its manager "
		"does not answer: write coordinates up to 2,1");
	refuses("{'cmd':'rows','node':'1,1,1'}", "usage",
		NOT_A_NODE("1,1,1"));
	strcpy(a.entry[2].name, "cy");
	refuses("{'cmd':'rows','node':'who'}", "usage",
		NOT_A_NODE("who"));
	refuses("{'cmd':'retrain','node':'0,0','port':'+z'}", "usage",
		"port '+z', must be +x to -y");
	refuses("{'cmd':'retrain','node':'0,0'}", "usage", "'retrain' needs a port");
	refuses("{'cmd':'retry','node':'0,0','port':'+x','protocol':'pcie'}", "usage",
		"retry: protocol 'pcie': must be angara, acknak, hippi or auto");
	refuses("{'cmd':'retry','node':'0,0','port':'+x'}", "usage",
		"retry: protocol '': must be angara, acknak, hippi or auto");
	refuses("{'cmd':'retry','node':'0,0','protocol':'auto'}", "usage", "'retry' needs a port");
	refuses("{'cmd':'eye','node':'0,0','port':'+x','lane':12}", "usage",
		"lane: must be 0 to 11");
	refuses("{'cmd':'port','node':'0,0','port':'+x'}", "usage",
		"port: argument 'up' is missing: true or false");
	does("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(root_answers_status_from_its_table),
		TEST(status_lists_64_faulty_cables_and_counts_the_rest),
		TEST(status_without_root_has_what_member_knows),
		TEST(status_of_root_gets_problems_of_this_node),
		TEST(status_of_unplaced_node_is_bootstrapping),
		TEST(root_lists_first_asking_candidate_first),
		TEST(move_of_root_reports_done_or_reason),
		TEST(move_of_root_is_answered_when_it_is_done),
		TEST(nodes_with_root_have_state_of_table),
		TEST(some_nodes_are_answered_alone_within_limit),
		TEST(nodes_without_root_have_state_known_here),
		TEST(coord_finds_node_by_each_of_its_names),
		TEST(order_that_cuts_off_nodes_needs_force),
		TEST(order_that_divides_job_needs_force),
		TEST(advice_names_node_only_if_last_cable_ends),
		TEST(table_is_answered_also_without_root),
		TEST(exclude_and_include_reach_manager_with_reason),
		TEST(unchanged_order_makes_no_event_but_waits),
		TEST(exclude_is_answered_when_candidates_keep_it),
		TEST(events_are_answered_from_given_number),
		TEST(event_of_other_node_is_noted_with_its_name),
		TEST(history_without_disk_has_events_in_memory),
		TEST(history_on_disk_is_searched_as_asked),
		TEST(candidate_gives_new_root_its_events),
		TEST(log_reads_and_sets_level),
		TEST(config_shows_values_of_one_or_all_nodes),
		TEST(unknown_command_lists_all_commands),
		TEST(changes_without_privilege_are_refused),
		TEST(commands_without_table_or_nic_are_refused),
		TEST(commands_for_root_are_refused_without_it),
		TEST(passed_on_request_is_answered_like_own),
		TEST(wrong_nodes_and_ports_are_refused_with_reason),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
