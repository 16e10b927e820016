// SPDX-License-Identifier: GPL-2.0-only
/* The manager and the NIC of asked.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/jobs.h"
#include "daemon/answer.h"
#include "daemon/keeper.h"
#include "daemon/record.h"
#include "daemon/lower.h"
#include "daemon/plug.h"
#include "daemon/seal.h"
#include "daemon/tester.h"
#include "tests/unit/asked.h"

const struct torus_shape asked_shape = { .ndims = 2, .size = { 3, 2, 1, 1, 1, 1 } };

__attribute__((format(printf, 1, 2)))
static void note(const char *fmt, ...)
{
	size_t n = strlen(a.did);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a.did + n, sizeof(a.did) - n, fmt, ap);
	va_end(ap);
}

/* --- the manager --------------------------------------------------------------- */

static const char *const node_state[FM_NODE_STATES] = {
	"absent", "joining", "up", "silent", "dead",
};

const char *fm_state_name(unsigned int state)
{
	static const char *const name[FM_STATES] = {
		"bootstrapping", "running", "recovering", "degraded",
	};

	return name[state];
}

const char *fm_stamp_name(unsigned int stamp)
{
	static const char *const name[FM_STAMPS] = {
		"detected", "table", "rebuilt", "drained", "replayed", "resumed",
	};

	return name[stamp];
}

const char *fm_disk_name(unsigned int disk)
{
	static char name[16];

	snprintf(name, sizeof(name), "disk %u", disk);
	return disk ? name : NULL;
}

const char *fm_verdict_name(unsigned int verdict)
{
	static const char *const name[FM_VERDICTS] = { "unknown", "granted", "refused" };

	return name[verdict];
}

const char *fm_root_state_name(unsigned int state)
{
	static const char *const name[FM_ROOT_STATES] = { "unknown", "leads", "lost", "asks", "claims" };

	return name[state];
}

bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out)
{
	(void)fm;
	if (*i >= a.ncandidates)
		return false;
	*out = a.candidate[(*i)++];
	return true;
}

const char *fm_node_state_name(unsigned int state)
{
	return node_state[state];
}

void fm_status(const struct fm *fm, struct fm_status *out)
{
	(void)fm;
	*out = a.status;
}

void fm_root_status(const struct fm *fm, struct fm_root_status *out)
{
	(void)fm;
	*out = a.status.root;
}

void fm_outline(const struct fm *fm, struct fm_outline *out)
{
	(void)fm;
	*out = a.outline;
	out->own = a.own;
}

bool fm_is_root(const struct fm *fm)
{
	(void)fm;
	return a.root;
}

bool fm_in_force(const struct fm *fm, uint64_t version)
{
	(void)fm;
	(void)version;
	return !a.pending;
}

bool fm_root_busy(const struct fm *fm)
{
	(void)fm;
	return a.pending;
}

bool fm_kept_count(const struct fm *fm, struct fm_kept_count *out)
{
	(void)fm;
	*out = a.kept;
	return a.root;
}

bool fm_reachable(const struct fm *fm)
{
	(void)fm;
	return true;
}

uint64_t fm_cut_off(const struct fm *fm)
{
	(void)fm;
	return a.cut_off;
}

bool fm_last_alive(const struct fm *fm, uint32_t node, uint64_t *at)
{
	(void)fm;
	assert_true(node < NODES);
	*at = a.alive_at[node];
	return a.lately[node];
}

bool fm_place(const struct fm *fm, struct fm_place *out)
{
	(void)fm;
	*out = (struct fm_place) { a.own != TORUS_NO_NODE, 2, { 3, 2 }, { 2, 1 } };
	if (!out->confirmed) {
		out->size[0] = 0;
		out->position[0] = -1;
	}
	return !a.nowhere;
}

bool fm_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out)
{
	(void)fm;
	*out = (struct fm_neighbour) {
		.name = port == 1 ? "eve" : "bob", .guid = 0x70 + port, .port = port ^ 2,
		.settled = port == 1, .agrees = port == 2, .position = { 5, -6 },
	};
	return port == 1 || port == 2;
}

bool fm_cable(const struct fm *fm, unsigned int port, struct fm_cable *out)
{
	(void)fm;
	*out = (struct fm_cable) {
		.up = port == 1, .guid = port ? 0x70 + port : 0, .port = port ^ 2,
		.expects = port != 2, .due_port = port ^ 2, .due = { 7, -8 },
		.fault = port == 1 ? "it is wrong" : NULL,
	};
	return port < 3;
}

uint32_t fm_own(const struct fm *fm)
{
	(void)fm;
	return a.own;
}

struct torus_plan fm_address_plan(const struct fm *f)
{
	struct torus_plan plan;

	(void)f;
	torus_plan_default(&plan);
	return plan;
}

const struct torus_shape *fm_shape(const struct fm *fm)
{
	(void)fm;
	return &asked_shape;
}

uint64_t fm_version_epoch(const struct fm *fm)
{
	(void)fm;
	return 7;
}

enum fm_state fm_state(const struct fm *fm)
{
	(void)fm;
	return a.status.state;
}

uint32_t fm_nodes(const struct fm *fm, uint32_t *up)
{
	(void)fm;
	*up = (uint32_t)a.status.nodes_up;
	return (uint32_t)a.status.nodes;
}

uint64_t fm_version(const struct fm *fm)
{
	(void)fm;
	return 119;
}

uint64_t fm_applied(const struct fm *fm)
{
	(void)fm;
	return 118;
}

unsigned int fm_problems_more(const struct fm *fm)
{
	(void)fm;
	return 139;
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	static const struct fm_problem problem[] = {
		{ "wiring", "a cable is wrong" }, { "name", "two have one name" },
	};

	(void)fm;
	return i < 2 ? &problem[i] : NULL;
}

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node < NODES ? &a.entry[node] : NULL;
}

uint32_t fm_node_parent(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node == OWN ? TORUS_NO_NODE : node + 1;
}

uint32_t fm_node_by_name(const struct fm *fm, const char *name)
{
	(void)fm;
	for (uint32_t i = 0; i < NODES; i++)
		if (!strcmp(a.entry[i].name, name))
			return i;
	return TORUS_NO_NODE;
}

uint32_t fm_node_by_guid(const struct fm *fm, uint64_t guid)
{
	(void)fm;
	for (uint32_t i = 0; i < NODES; i++)
		if (a.entry[i].guid == guid)
			return i;
	return TORUS_NO_NODE;
}

bool fm_joiner(const struct fm *fm, unsigned int i, struct fm_joiner *out)
{
	(void)fm;
	*out = i ? (struct fm_joiner){ .name = "" } :
		   (struct fm_joiner){ "new", "192.168.0.9:9", 0x900 };
	return i < 2;
}

bool fm_out_of_service(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node == 2 || (node == OWN && a.own_out);
}

uint64_t fm_out_until(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node == 2 ? 174 : 0;
}

uint64_t fm_excluded_until(const struct fm *fm, uint32_t node, unsigned int port)
{
	(void)fm;
	return node == OWN && !port ? 173 : 0;
}

const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port)
{
	static const char *const why[TORUS_MAX_PORTS] = { "admin", "wiring", NULL, "held" };

	(void)fm;
	if (a.intact)
		return node == OWN && a.intact & 1u << port ? NULL : "fault";
	return node == OWN ? why[port] : "fault";
}

/* The only job: nodes 4 and 5, which is this one. */
const struct fm_job *fm_job(const struct fm *fm, uint32_t i)
{
	static const struct fm_job job = { 3, FM_JOB_LIST, 2, 1000, 180, "mine", "bob" };

	(void)fm;
	return i || a.job_gone ? NULL : &job;
}

const struct fm_job *fm_job_given(const struct fm *fm, const char *name)
{
	const struct fm_job *j = fm_job(fm, 0);

	return j && !strcmp(j->name, name) ? j : NULL;
}

bool fm_job_counts(const struct fm *fm, struct fm_job_count *count)
{
	(void)fm;
	count[3] = (struct fm_job_count) { 1, 1 };
	return true;
}

int fm_job_choose(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why)
{
	(void)fm;
	note("choose %u of %u at %d; ", want->nodes, want->how, (int)want->at);
	for (uint32_t i = 0; i < want->nodes; i++)
		node[i] = want->list ? want->list[i] : i;
	if (a.choose_error)
		strcpy(why, "no such nodes");
	return a.choose_error;
}

int fm_job_growth(const struct fm *fm, const char *name, char *why)
{
	int err = a.growth;

	(void)fm;
	assert_string_equal(name, "new");
	a.growth = a.growth_later;
	strcpy(why, err ? "it did not grow" : "");
	return err;
}

const struct fm_order *fm_order(const struct fm *fm, uint32_t i)
{
	static const struct fm_order order[] = {
		{ 1, 1000, 170, 0, 9, "bob", "dust", 0 },
		{ 4, SVC_NO_UID, 171, 172, 2, "", "", 0 },
	};

	(void)fm;
	return i < 2 && a.own != TORUS_NO_NODE ? &order[i] : NULL;
}

const struct fm_order *fm_order_given(const struct fm *fm, uint32_t i)
{
	return fm_order(fm, i);
}

bool fm_exclusion_given(const struct fm *fm, uint32_t node, unsigned int port)
{
	return fm_excluded(fm, node, port);
}

bool fm_faulty(const struct fm *fm, uint32_t *i, struct fm_faulty *out)
{
	static const struct fm_faulty of[] = {
		{ 2, 5, 2, 1, 3, NULL, 0 },
		{ 4, 5, TORUS_NO_NODE, 0, 2, "it is cut", NOW - 1500500 * US },
	};

	(void)fm;
	if (*i >= 2 + a.more_faulty || a.own == TORUS_NO_NODE)
		return false;
	*out = of[*i < 2 ? (*i)++ : ((*i)++, 0)];
	return true;
}

/*
 * Pretends that the exclusion of port -y of each node, alone or with others, cuts off the first
 * nodes.
 */
int fm_exclude_severs(const struct fm *fm, const struct fm_target *end, uint32_t n,
		      struct fm_severed *out)
{
	(void)fm;
	*out = (struct fm_severed) { .nodes = 0 };
	for (uint32_t i = 0; i < n; i++)
		if (end[i].port < 0)
			*out = (struct fm_severed) { .went = a.went, .left = a.left };
		else if (end[i].port == 3)
			*out = (struct fm_severed) {
				.nodes = a.severs, .node = { a.severed, 2, 3, 4, 5, 0, 1, 2 }, .pairs = 22,
			};
		else if (end[i].port == 0 && a.parts)
			*out = (struct fm_severed) { .job = fm_job(fm, 0), .parts = a.parts };
	return a.severs_error;
}

bool fm_lost_since(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since)
{
	(void)fm;
	(void)node;
	(void)port;
	*since = 0;
	return false;
}

bool fm_downs(const struct fm *fm, uint32_t node, unsigned int port, uint32_t *n)
{
	(void)fm;
	*n = node + port + 2;
	return a.root;
}

bool fm_held(const struct fm *fm, unsigned int i, uint64_t now, struct fm_hold *out)
{
	(void)fm;
	if (!a.root || i >= a.nholds || now != NOW)
		return false;
	*out = a.hold[i];
	return true;
}

bool fm_exclude_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
			const struct fm_order *order)
{
	(void)fm;
	(void)port;
	assert_int_equal(excluded, order != NULL);
	return !a.no_change && node + 1 != a.same;
}

int machine_event(struct fabricd *d, const struct record_event *e)
{
	int err;

	(void)d;
	if (e->kind == RECORD_STALLED)
		note("stalled %u %d", e->stalled.port, e->stalled.is);
	else if (e->kind == RECORD_MOVE)
		note("move %u at %llu\n", e->move, (unsigned long long)(e->now / SEC));
	else if (e->kind == RECORD_JOB && e->job.on && e->job.job.how == FM_JOB_GROW)
		note("grow '%s' from %u to %u nodes, %u links, rate %u, margin %u, by '%s'",
		     e->job.job.name, e->job.want.at, e->job.want.nodes, e->job.want.links,
		     e->job.want.rate, e->job.want.margin, e->job.job.by);
	else if (e->kind == RECORD_JOB)
		note("job %d '%s' how %u nodes %u from %u uid %u by '%s' since %d", e->job.on,
		     e->job.job.name, e->job.job.how, e->job.job.nodes,
		     e->job.on ? e->job.node[0] : 0, e->job.job.uid, e->job.job.by,
		     e->job.job.since > 1700000000);
	else
		note("%s %u %d at %llu", e->kind != RECORD_EXCLUDE ? "?" :
		     e->exclude.on ? "exclude" : "include", e->exclude.node, e->exclude.port,
		     (unsigned long long)(e->now / SEC));
	if (e->kind == RECORD_EXCLUDE)
		assert_true(e->exclude.order.since > 1700000000);
	if (e->kind == RECORD_EXCLUDE && e->exclude.more)
		note(" more");
	if (e->kind == RECORD_EXCLUDE && e->exclude.order.until)
		note(" for %llu s", (unsigned long long)(e->exclude.order.until -
							 e->exclude.order.since));
	if (e->kind == RECORD_EXCLUDE && e->exclude.order.reason[0])
		note(" by %u@%s: %s\n", e->exclude.order.uid, e->exclude.order.by,
		     e->exclude.order.reason);
	else if (e->kind != RECORD_MOVE)
		note("\n");
	err = a.change_error;
	if (a.once)
		a.change_error = 0;
	return err;
}

const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room)
{
	(void)d;
	snprintf(buf, room, "no seal");
	return buf;
}

const struct seal_counts *seal_counts(const struct seal *s)
{
	static const struct seal_counts counts = { .refused = 136, .late = 137 };

	assert_ptr_equal(s, &a);
	return &counts;
}

void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text)
{
	(void)d;
	note("event %.1f '%s' %u %s: %s\n", time, node, level, kind, text);
}

/* --- the NIC ------------------------------------------------------------------- */

static struct nic_question *asked;

int nic_ask(struct nic *nic, struct nic_question *q)
{
	assert_ptr_equal(nic, &a);
	assert_null(asked);
	if (a.no_nic || a.busy)
		return a.no_nic ? -ENODEV : -EBUSY;
	asked = q;
	return 0;
}

void nic_drop(struct nic_question *q)
{
	assert_ptr_equal(asked, q);
	q->dropped = true;
}

void nic_answers(void)
{
	struct nic_question *q = asked;
	int err;

	asked = NULL;
	if (!q)
		return;
	do {
		err = q->dropped ? -ECANCELED : q->run(q, (struct torus_dev *)&a);
	} while (err == NICQ_MORE);
	q->done(q, err);
}

const char *torus_error(const struct torus_dev *dev)
{
	(void)dev;
	return "the NIC refuses";
}

int torus_links_get(struct torus_dev *dev, struct torus_link *out, unsigned int *n)
{
	(void)dev;
	assert_true(*n >= PORTS);
	memcpy(out, a.link, sizeof(a.link));
	*n = a.no_links ? 0 : PORTS;
	return a.nic_error;
}

int torus_link_get(struct torus_dev *dev, unsigned int port, struct torus_link *out)
{
	(void)dev;
	*out = a.link[port];
	return a.nic_error;
}

/* --- tests of links ----------------------------------------------------------------- */

uint32_t lower_speed(const char *name)
{
	return strcmp(name, "eth0") ? 0 : 1000;
}

int tester_begin(struct tester *t, const struct torus_link *l, enum linktest_role role,
		 const struct linktest_plan *plan)
{
	(void)t;
	note("test %u %s %llx: %llu packets, %llu ns, %u a second of %u bytes, %u Mb/s\n", l->port,
	     role == LINKTEST_SENDER ? "send" : "echo", (unsigned long long)plan->token,
	     (unsigned long long)plan->packets, (unsigned long long)plan->ns, plan->rate, plan->size,
	     plan->mbps);
	return a.test_error;
}

void tester_end(struct tester *t, unsigned int port, uint64_t token)
{
	(void)t;
	note("test %u end %llx\n", port, (unsigned long long)token);
}

bool tester_result(struct tester *t, const struct torus_link *l, enum linktest_role role,
		   uint64_t token, struct linktest_result *out, struct tester_counts *counts)
{
	(void)t;
	if (token != 7 || (int)role != a.tested || l->port != 1)
		return false;
	*out = (struct linktest_result){
		.state = LINKTEST_FAILED, .why = "it went down", .received = 301, .wrong = 302,
		.elapsed = 303 * MS, .sent = 304, .lost = 305, .bytes = 306, .rate = 307,
		.rtt_min = 1 * US, .rtt_median = 2500, .rtt_max = a.test_error ? 0 : 4 * US,
	};
	*counts = (struct tester_counts){ 311, 312, 313, 314, 315, 316 };
	return true;
}

/* --- LEDs and plugs ----------------------------------------------------------------- */

int plug_locate(struct plugs *p, unsigned int port, const char *lower, uint64_t ns)
{
	(void)p;
	note("locate %u %s %llu\n", port, lower, (unsigned long long)ns);
	return a.test_error;
}

void plug_located(const struct plugs *p, unsigned int port, struct plug_locate *out)
{
	(void)p;
	*out = (struct plug_locate){ (enum plug_state)a.plug, a.plug_error, (321 + port) * MS };
}

int plug_look(struct plugs *p, unsigned int port, const char *lower)
{
	(void)p;
	note("look %u %s\n", port, lower);
	return a.test_error;
}

void plug_looked(const struct plugs *p, unsigned int port, struct plug_module *out)
{
	(void)p;
	*out = (struct plug_module){ (enum plug_state)a.plug, a.plug_error, {
		"OSFP", "ACME", "X1", "", "SN", "26", port == 0, 331.5, 332.5, 2, 0,
		{ 0.25, 0.5 }, { 0.75 } } };
}

/* Reads nothing: only a timer asks for links, and no timer fires here. */
void nic_links_get(struct nic *nic)
{
	(void)nic;
	fail_msg("the loop asks the NIC for its links");
}

const struct histogram *nic_times(const struct nic *nic)
{
	static const struct histogram times = { .count = { 341, [HISTOGRAM_BOUNDS] = 342 }, .sum = 3 * SEC };

	(void)nic;
	return &times;
}

const struct histogram *loop_late(const struct loop *loop)
{
	static const struct histogram late = { .count = { [1] = 343 }, .sum = 500 * MS };

	(void)loop;
	return &late;
}

int torus_device_get(struct torus_dev *dev, struct torus_device *out)
{
	(void)dev;
	*out = (struct torus_device){ .placed = a.own != TORUS_NO_NODE, .node = OWN,
				      .uptime = 1500 * MS, .epoch = 345, .row_count = 346,
				      .shape = { .ndims = 1, .size = { 3, 1, 1, 1, 1, 1 } } };
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		out->counter[i] = 2000 + i;
	return a.nic_error;
}

int torus_flow_get(struct torus_dev *dev, struct torus_flow *out)
{
	(void)dev;
	for (unsigned int i = 0; i < TORUS_FC_COUNT; i++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			out->counter[i][c] = 3000 + 10 * i + c;
	return a.nic_error;
}

int torus_park_flows_get(struct torus_dev *dev, struct torus_park_flows *out)
{
	(void)dev;
	*out = (struct torus_park_flows){ .nflows = 2, .more = 171, .flow = {
		{ 1, 4, 0, 172, 173, 174 }, { 99, 0, 2, 175, 176, 177 } } };
	return a.flows_error;
}

int torus_park_get(struct torus_dev *dev, struct torus_park *out)
{
	(void)dev;
	*out = (struct torus_park){ .parked = 151, .unresolved = 152, .bytes = 153,
				    .bytes_max = 154, .held = 155 };
	return a.nic_error;
}

int torus_park_replay(struct torus_dev *dev, uint64_t version, uint16_t ports)
{
	(void)dev;
	note("replay %llu %u\n", (unsigned long long)version, ports);
	return a.nic_error;
}

int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out)
{
	(void)dev;
	*out = (struct torus_eye){ .swing = 161, .mask_height = 162, .mask_width = 163 };
	for (unsigned int r = 0; r < TORUS_EYE_ROWS; r++)
		for (unsigned int c = 0; c < TORUS_EYE_COLS; c++)
			out->map[r][c] = (uint8_t)(7 * r + c);
	note("eye %u %u\n", port, lane);
	return a.nic_error;
}

int torus_admin_set(struct torus_dev *dev, unsigned int port, bool up)
{
	(void)dev;
	note("port %u %s\n", port, up ? "up" : "down");
	return a.nic_error;
}

int torus_retrain(struct torus_dev *dev, unsigned int port)
{
	(void)dev;
	note("retrain %u\n", port);
	return a.nic_error;
}

int torus_retry_set(struct torus_dev *dev, unsigned int port, enum torus_retry protocol)
{
	(void)dev;
	note("retry %u %s\n", port, torus_retry_name(protocol));
	return a.nic_error;
}

/* Reads two rows a call. The first call pretends that the rows were written anew meanwhile. */
int torus_rows_get(struct torus_dev *dev, uint32_t first, uint64_t *row, uint32_t *n,
		   uint64_t *version)
{
	static const uint64_t is[3] = { 0x0123456789abcdef, 2, ~0ULL << 4 };

	(void)dev;
	*n = *n > 2 ? 2 : *n;
	assert_true(first + *n <= 3);
	for (uint32_t i = 0; i < *n; i++)
		row[i] = is[a.equal_rows ? 0 : first + i];
	*version = a.rows_read++ ? 141 : 140;
	return a.nic_error;
}

/* --- the history: searches end when the test says so ----------------------------------- */

struct history *keeper_history(const struct keeper *k)
{
	(void)k;
	return a.keeps ? (struct history *)&a : NULL;
}

const char *keeper_problem(const struct keeper *k)
{
	(void)k;
	return "";
}

json_t *keeper_json(const struct keeper *k)
{
	(void)k;
	return a.keeps ? json_pack("{s:i}", "events", 171) : json_null();
}

json_t *keeper_record(const struct keeper *k, const struct event_record *r)
{
	json_t *j = event_json(&a.d, r);

	(void)k;
	json_object_set_new(j, "log", json_string("ab"));
	return j;
}

struct history_job *history_ask(struct history *h, const struct history_filter *f,
				void (*done)(void *arg, const struct history_found *found),
				void *arg)
{
	(void)h;
	note("search %lld-%lld %d '%s' '%s' '%s' last %u after '%s' have '%s':", (long long)f->from,
	     f->to == INT64_MAX ? -1 : (long long)f->to, f->level, f->kind, f->whose,
	     f->words ? f->word[f->words - 1] : "", f->last, f->after, f->have ? f->have : "");
	if (f->room != 64 << 10)
		note(" in %u bytes", (unsigned int)f->room);
	free(f->have);
	a.found = done;
	a.found_arg = arg;
	return a.busy ? NULL : (struct history_job *)&a;
}

void history_forget(struct history_job *job)
{
	(void)job;
	a.found = NULL;
}
