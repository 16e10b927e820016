// SPDX-License-Identifier: GPL-2.0-only
/* The whole answer to "metrics": of a root, of a member, without a NIC, of another node. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/asked.h"

#define LE "'le':[1e-4,5e-4,1e-3,2.5e-3,5e-3,1e-2,2.5e-2,5e-2,0.1,0.25,1.0,5.0,null]"
#define NONE "{" LE ",'count':[0,0,0,0,0,0,0,0,0,0,0,0,0],'sum':0.0}"
#define MANAGER(events, became, root) \
	"{'state':'degraded','table_version':119,'applied_version':118,'epoch':115," root \
	"'became_root':" became ",'events':" events "," \
	"'timer_delay':{" LE ",'count':[0,343,0,0,0,0,0,0,0,0,0,0,0],'sum':0.5}," \
	"'nic_call':{" LE ",'count':[341,0,0,0,0,0,0,0,0,0,0,0,342],'sum':3.0}," \
	"'service':{'address':'192.168.0.7:7','connections':135,'schemas':[5,7],'refused_fabric':131," \
	"'refused_key':132,'refused_schema':138,'refused_malformed':133,'refused_busy':134," \
	"'last_refused':'a stranger'},'history':null,'seal':{'refused':136,'late':137}," \
	"'replies':{'kept':0,'refused':0}}"
#define LEADS "'root':true,'root_reachable':true,'rootless_for':null,"
#define ALONE "'root':false,'root_reachable':false,'rootless_for':7.0,"
#define NUMBERS \
	"'nodes':{'total':103,'up':104,'excluded':123}," \
	"'jobs':{'total':1,'degraded':1,'apart':0}," \
	"'links':{'total':105,'up':106,'faulty':107,'excluded':108,'wrong':127}," \
	"'parked_packets':109,'relayed_pairs':110,"
#define FABRIC \
	"{" NUMBERS "'degraded_links':0,'problems':144,'recoveries':{'bounded':351,'parked':352," \
	"'replayed':353,'lost':354,'duration':" NONE ",'steps':{'table':" NONE ",'rebuild':" NONE \
	",'drain':{" LE ",'count':[0,0,0,355,0,0,0,0,0,0,0,0,0],'sum':2.0},'replay':" NONE ",'resume':" NONE "}}}"
#define NODE "'node':[2,1],'name':'myself','guid':'000000000000a001','fabric_name':'ring'," \
	"'software':'" TORUS_VERSION "','time':1700000050.0,"

#define PARK "'park':{'node':[2,1],'parked':151,'unresolved':152,'bytes':153,'bytes_max':154,'held':155}"

/* The NIC of the fixture: its counters by the names of the ABI. */
static json_t *nic_json_wanted(void)
{
	json_t *nic = json_of("{'uptime':1.5,'epoch':345,'row_count':346,'flow':{}," PARK "}");

#define X(ID, name, ...) json_object_set_new(nic, #name, json_integer(2000 + TORUS_NC_##ID));
	TORUS_NODE_COUNTER_LIST(X)
#undef X
#define X(ID, name, ...) json_object_set_new(json_object_get(nic, "flow"), #name, \
	json_pack("[i,i,i,i]", 3000 + 10 * TORUS_FC_##ID, 3001 + 10 * TORUS_FC_##ID, \
		  3002 + 10 * TORUS_FC_##ID, 3003 + 10 * TORUS_FC_##ID));
	TORUS_FLOW_COUNTER_LIST(X)
#undef X
	return nic;
}

static void set_up_meter(void)
{
	a.d.guid = 0xa001;
	a.d.meter = (struct meter){ .became_root = 356, .bounded = 351, .parked = 352,
				    .replayed = 353,
				    .lost = 354, .events = { 357, 358, 359, 360 },
				    .step[FM_AT_DRAINED] = { .count = { [3] = 355 },
							     .sum = 2 * SEC } };
}

#define EVENTS "{'error':357,'warning':358,'info':359}"

/* Without its links, which are as of "links": test_answers_nic.c. */
static void without_links(const char *request, const char *wanted)
{
	json_t *j = json_of(wanted);

	a.no_links = true;
	json_object_set_new(j, "nic", nic_json_wanted());
	replies_data(request, j);
}

static void metrics_of_root_have_figures_of_fabric(void **state)
{
	(void)state;
	set_up_meter();
	without_links("{'cmd':'metrics'}", "{" NODE "'links':[],'manager':"
		      MANAGER(EVENTS, "356", LEADS)
		      ",'fabric':" FABRIC "}");
	without_links("{'cmd':'metrics','node':'2,1'}", "{" NODE "'links':[],'manager':"
		      MANAGER(EVENTS, "356", LEADS) ",'fabric':" FABRIC "}");
}

/* A member answers for itself, and asks nobody, also if it has lost the root. */
static void metrics_of_member_have_no_figures_of_fabric(void **state)
{
	(void)state;
	set_up_meter();
	a.root = a.status.is_root = false;
	a.status.root = (struct fm_root_status){ .epoch = 115, .lost = NOW - 7 * SEC };
	without_links("{'cmd':'metrics'}", "{" NODE "'links':[],'manager':"
		      MANAGER(EVENTS, "356", ALONE)
		      ",'fabric':null}");
}

/* The manager's own figures come if the NIC refuses, or if there is none. */
static void metrics_without_nic_have_figures_of_manager(void **state)
{
	(void)state;
	set_up_meter();
	a.nic_error = -EIO;
	replies_data("{'cmd':'metrics'}", json_of("{" NODE "'nic':null,'links':[],'manager':"
		     MANAGER(EVENTS, "356", LEADS) ",'fabric':" FABRIC "}"));
	a.no_nic = true;
	replies_data("{'cmd':'metrics'}", json_of("{" NODE "'nic':null,'links':[],'manager':"
		     MANAGER(EVENTS, "356", LEADS) ",'fabric':" FABRIC "}"));
}

static void metrics_of_other_node_come_from_that_node(void **state)
{
	(void)state;
	a.answer_by[1] = "{'node':[1,0],'nic':7}";
	replies("{'cmd':'metrics','node':'1,0'}", "{'ok':true,'data':{'node':[1,0],'nic':7}}");
	a.answer_by[1] = NULL;
	refuses("{'cmd':'metrics','node':'1,0'}", "unreachable", "node '1,0' does not answer");
	refuses("{'cmd':'metrics','node':'9,0'}", "usage", "node '9,0': x is 9, must be 0 to 2");
	refuses("{'cmd':'metrics','port':'+x'}", "usage",
		"metrics: unknown argument 'port', known: node");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(metrics_of_root_have_figures_of_fabric),
		TEST(metrics_of_member_have_no_figures_of_fabric),
		TEST(metrics_without_nic_have_figures_of_manager),
		TEST(metrics_of_other_node_come_from_that_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
