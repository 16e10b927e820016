// SPDX-License-Identifier: GPL-2.0-only
/* Complete answers of the control socket about jobs, and who may start and stop them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/asked.h"

#define MINE(members) "{'name':'mine','uid':1000,'by':'bob','since':180,'how':'list','nodes':2," \
	"'up':1,'parts':1,'state':'degraded','members':" members "}"
#define MEMBERS MEMBERS_OUT("false")
#define MEMBERS_OUT(own) "[{'number':0,'node':[1,1],'name':'eve','state':'dead','excluded':false}," \
	"{'number':1,'node':[2,1],'name':'own','state':'up','excluded':" own "}]"

static void set_members(void)
{
	a.entry[4].job = a.entry[5].job = 3;
	a.entry[4].number = 0;
	a.entry[5].number = 1;
	a.entry[4].state = FM_NODE_DEAD;
	a.entry[5].state = FM_NODE_UP;
}

static void job_list_shows_jobs_with_their_nodes(void **state)
{
	(void)state;
	set_members();
	replies("{'cmd':'jobs'}", "{'ok':true,'data':{'version':119,'jobs':[" MINE("null") "]}}");
	replies("{'cmd':'jobs','name':'mine'}",
		"{'ok':true,'data':{'version':119,'jobs':[" MINE(MEMBERS) "]}}");
	a.own_out = true;
	replies("{'cmd':'jobs','name':'mine'}",
		"{'ok':true,'data':{'version':119,'jobs':[" MINE(MEMBERS_OUT("true")) "]}}");
	replies("{'cmd':'jobs','name':'mine','from':2}",
		"{'ok':true,'data':{'version':119,'jobs':[" MINE("[]") "]}}");
	refuses("{'cmd':'jobs','name':'other'}", "usage",
		"there is no job 'other': 'fabricctl job list' shows those that there are");
	refuses("{'cmd':'jobs','name':'a b'}", "usage", "name of the job 'a b': must be 1 to 63 "
		"letters, digits, '-', '_' and '.'");
	a.job_gone = true;
	replies("{'cmd':'jobs'}", "{'ok':true,'data':{'version':119,'jobs':[]}}");
}

#define STARTED "{'ok':true,'data':{'version':119,'jobs':[],'in_force':true,'kept':null}}"

static void job_starts_with_chosen_or_listed_nodes(void **state)
{
	(void)state;
	replies("{'cmd':'job-start','name':'new','count':3}", STARTED);
	replies("{'cmd':'job-start','name':'new','count':2,'how':'box','node':'1,1'}", STARTED);
	replies("{'cmd':'job-start','name':'new','how':'list','nodes':['2,1','0,0']}", STARTED);
	does("choose 3 of 0 at -1; job 1 'new' how 0 nodes 3 from 0 uid 0 by 'ann' since 1\n"
	     "choose 2 of 0 at 4; job 1 'new' how 0 nodes 2 from 0 uid 0 by 'ann' since 1\n"
	     "choose 2 of 1 at -1; job 1 'new' how 1 nodes 2 from 5 uid 0 by 'ann' since 1\n");
}

#define GROW "{'cmd':'job-start','name':'new','how':'grow','count':3}"

static void job_that_grows_is_answered_when_it_is_in_force(void **state)
{
	static const char late[] = "{'ok':true,'data':{'version':119,'jobs':[],'in_force':false,"
				   "'kept':{'have':4,'of':8}}}";

	(void)state;
	replies(GROW, STARTED);
	replies("{'cmd':'job-start','name':'new','how':'grow','count':2,'node':'1,1','min_links':12,"
		"'min_rate':10000,'min_margin':120}", STARTED);
	does("choose 1 of 1 at -1; grow 'new' from 0 to 3 nodes, 0 links, rate 0, margin 0, by 'ann'\n"
	     "choose 1 of 1 at -1; grow 'new' from 4 to 2 nodes, 12 links, rate 10000, margin 120, by 'ann'\n");
	a.growth = -EINPROGRESS;
	waits(GROW, 0, STARTED);
	a.growth = a.growth_later = -EINPROGRESS;
	waits_refused(GROW, 2 * SEC, "failed", "the job still grows");
	a.growth = a.growth_later = 0;
	a.kept = (struct fm_kept_count) { .of = 8, .keep = 8, .have = 4, .wait = 4 };
	waits(GROW, 2 * SEC, late);
}

static void reasons_why_a_job_does_not_grow_are_answered(void **state)
{
	(void)state;
	a.growth = a.growth_later = -ENOSPC;
	refuses(GROW, "failed", "it did not grow");
	a.growth = a.growth_later = -EAGAIN;
	refuses(GROW, "failed", "it did not grow");
	a.growth = a.growth_later = -EHOSTUNREACH;
	refuses(GROW, "unreachable", "it did not grow");
	a.growth = a.growth_later = -EPERM;
	refuses(GROW, "unreachable", "this node is not the root any more");
	a.choose_error = -EBUSY;
	refuses(GROW, "failed", "no such nodes");
	a.choose_error = 0;
	a.change_error = -ENOSPC;
	refuses(GROW, "failed", "too many jobs grow at the same time: try again");
	a.change_error = -EHOSTUNREACH;
	refuses(GROW, "unreachable", "the manager of node 0,0 does not answer");
	a.change_error = -EAGAIN;
	refuses(GROW, "not-ready", "the fabric is still bootstrapping");
}

static void wrong_arguments_of_job_start_are_refused(void **state)
{
	(void)state;
	refuses("{'cmd':'job-start','name':'new'}", "usage", "0 nodes: must be 1 to 6");
	refuses("{'cmd':'job-start','name':'new','count':7}", "usage",
		"7 nodes: must be 1 to 6");
	refuses("{'cmd':'job-start','count':1}", "usage", "name of the job '': must be 1 to 63 "
		"letters, digits, '-', '_' and '.'");
	refuses("{'cmd':'job-start','name':'new','count':1,'how':'tree'}", "usage",
		"how 'tree': must be box, list or grow");
	refuses("{'cmd':'job-start','name':'new','how':'grow','count':7}", "usage",
		"7 nodes: must be 1 to 6");
	refuses("{'cmd':'job-start','name':'new','how':'grow','count':1,'min_links':13}", "usage",
		"min_links 13: must be 0 to 12");
	refuses("{'cmd':'job-start','name':'new','how':'grow','count':1,'min_rate':-1}", "usage",
		"job-start: argument 'min_rate' has the wrong type, must be a number from 0 on");
	refuses("{'cmd':'job-start','name':'new','how':'grow','count':1,'min_margin':65536}", "usage",
		"min_margin 65536: must be 0 to 65535");
	refuses("{'cmd':'job-start','name':'new','how':'grow','count':1,'node':'3,0'}", "usage",
		"node '3,0': x is 3, must be 0 to 2");
	refuses("{'cmd':'job-start','name':'mine','how':'grow','count':1}", "usage",
		"there is a job 'mine' already: choose another name, or stop it first");
	refuses("{'cmd':'job-start','name':'new','how':'list'}", "usage",
		"nodes: 0 are listed, must be 1 to 6");
	refuses("{'cmd':'job-start','name':'new','how':'list','nodes':['3,0']}", "usage",
		"node '3,0': x is 3, must be 0 to 2");
	refuses("{'cmd':'job-start','name':'mine','count':1}", "usage",
		"there is a job 'mine' already: "
		"choose another name, or stop it first");
	does("");
	a.choose_error = -ENOTCONN;
	refuses("{'cmd':'job-start','name':'new','count':1}", "failed", "no such nodes");
	a.choose_error = 0;
	a.change_error = -ENOSPC;
	refuses("{'cmd':'job-start','name':'new','count':1}", "failed", "there are 1024 jobs, "
		"which is the limit: stop one first");
}

#define DENIED(what) what ": only root may: run it with sudo, or set job_group in fabricd.conf, " \
	"which is not set, to a group of yours and restart fabricd"

/* A job may be started by the users of its group, and stopped by its owner. */
static void only_group_starts_and_only_owner_stops_job(void **state)
{
	(void)state;
	a.privileged = false;
	a.uid = 1001;
	refuses("{'cmd':'job-start','name':'new','count':1}", "denied", DENIED("job start"));
	refuses("{'cmd':'job-stop','name':'mine'}", "denied", DENIED("job stop"));
	a.jobs = true;
	refuses("{'cmd':'job-stop','name':'mine'}", "denied",
		"job 'mine' belongs to user 1000: only that "
		"user, root and members of control_group may stop it");
	refuses("{'cmd':'job-stop','name':'other'}", "usage",
		"there is no job 'other': 'fabricctl job list' shows those that there are");
	does("");
	replies("{'cmd':'job-start','name':'new','count':1}", STARTED);
	a.uid = 1000;
	set_members();
	replies("{'cmd':'job-stop','name':'mine'}", "{'ok':true,'data':{'version':119,'jobs':["
		MINE(MEMBERS) "],'in_force':true,'kept':null}}");
	does("choose 1 of 0 at -1; job 1 'new' how 0 nodes 1 from 0 uid 1001 by 'ann' since 1\n"
	     "job 0 'mine' how 0 nodes 0 from 0 uid 1000 by '' since 0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(job_list_shows_jobs_with_their_nodes),
		TEST(job_starts_with_chosen_or_listed_nodes),
		TEST(job_that_grows_is_answered_when_it_is_in_force),
		TEST(reasons_why_a_job_does_not_grow_are_answered),
		TEST(wrong_arguments_of_job_start_are_refused),
		TEST(only_group_starts_and_only_owner_stops_job),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
