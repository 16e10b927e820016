// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/answer.h"
#include "daemon/query.h"
#include "tests/unit/asked.h"

struct asked a;

/* --- time -------------------------------------------------------------------- */

uint64_t loop_now(void)
{
	return NOW + a.passed;
}

double loop_wall(void)
{
	return WALL;
}

struct loop_timer *loop_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	(void)loop;
	(void)fn;
	return arg;
}

void loop_timer_set(struct loop_timer *t, uint64_t at)
{
	(void)t;
	(void)at;
}

void loop_timer_free(struct loop_timer *t)
{
	(void)t;
}

/* --- the service network and other nodes ---------------------------------------- */

struct query {
	const struct query_ops *ops;
	void *arg;
};

struct ask {
	enum svc_to to;
	uint32_t node;
	json_t *cmd;
	const struct query_done *done;
	void *arg;
	json_t *own;
	bool answered, forgotten;
};

static struct query query;
static struct ask ask;
static bool forgetting;

unsigned int svc_mixed(const struct svc *svc, char *text, size_t room)
{
	(void)svc;
	snprintf(text, room, "%s", a.mixed ? "bob up to 5" : "");
	return a.mixed;
}

const struct svc_stats *svc_stats(const struct svc *svc)
{
	(void)svc;
	return &a.stats;
}

struct query *query_new(struct loop *loop, struct svc *svc, const struct query_ops *ops,
			void *arg)
{
	(void)loop;
	(void)svc;
	query = (struct query){ ops, arg };
	return &query;
}

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *done, void *arg)
{
	static const char *const whom[SVC_TOS] = { "root", "all", "node" };
	char *text = json_dumps(cmd, JSON_COMPACT);

	assert_ptr_equal(q, &query);
	assert_null(ask.cmd);
	snprintf(a.passed_on, sizeof(a.passed_on), "%s %d %s %u ms: %s", whom[to], (int)node,
		 user->privileged ? "privileged" : "open", timeout_ms, text);
	free(text);
	ask = (struct ask){ to, node, json_deep_copy(cmd), done, arg, NULL, false, false };
	return &ask;
}

void query_cancel(struct ask *gone)
{
	if (gone)
		json_decref(gone->cmd);
	ask.cmd = NULL;
}

void query_local(struct ask *asked, json_t *data)
{
	assert_ptr_equal(asked, &ask);
	assert_false(ask.answered);
	assert_false(ask.forgotten);
	ask.answered = true;
	ask.own = data;
}

bool query_was_sent(const struct ask *asked)
{
	assert_ptr_equal(asked, &ask);
	return a.sent;
}

void query_enough(struct ask *done)
{
	assert_ptr_equal(done, &ask);
	a.enough = true;
}

static const struct svc_user *asker(void)
{
	static struct svc_user user;

	user = (struct svc_user){ a.privileged, a.uid, a.at, a.jobs };
	return &user;
}

static void on_reply(void *arg, const char *line)
{
	json_t **reply = arg;

	assert_null(*reply);
	*reply = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(*reply);
}

void query_served(struct ask *served, const char *reply)
{
	on_reply(served, reply);
}

void query_send_all(struct query *q, const struct svc_msg *msg)
{
	(void)q;
	(void)msg;
}

void pass_to_root(const struct svc_msg *msg)
{
	query.ops->received(query.arg, msg);
}

/*
 * Answers a question to this node. Its NIC answers later, unless the question is forgotten before.
 */
static json_t *own_answer(json_t *cmd)
{
	void *handle;

	ask.answered = ask.forgotten = false;
	ask.own = NULL;
	handle = query.ops->local(query.arg, cmd, &ask);
	assert_int_equal(handle != NULL, !ask.answered);
	if (handle && forgetting) {
		query.ops->forget(query.arg, handle);
		ask.forgotten = true;
	}
	nic_answers();
	if (handle && a.found && !ask.forgotten) {
		a.found(a.found_arg, &(struct history_found) {
			.events = (char *)"[{\"seq\":7}]", .after = "ab:1:9", .more = true,
		});
		a.found = NULL;
	}
	assert_int_equal(ask.answered, !ask.forgotten);
	return ask.own;
}

void answers_root(const char *cmd, const char *wanted)
{
	json_t *request = json_of(cmd), *got = own_answer(request);
	json_t *want = wanted ? json_of(wanted) : NULL;

	if (wanted ? !json_equal(got, want) : got != NULL)
		fail_msg("%s", json_dumps(got, JSON_ENCODE_ANY));
	json_decref(request);
	json_decref(got);
	json_decref(want);
}

void forgets_root(const char *cmd)
{
	json_t *request = json_of(cmd);

	forgetting = true;
	assert_null(own_answer(request));
	forgetting = false;
	json_decref(request);
}

static json_t *answer_of(const struct ask *q, uint32_t node)
{
	if (q->to == SVC_TO_NODE && q->node != node)
		return NULL;
	if (node == OWN)
		return own_answer(q->cmd);
	return a.answer_by[node] ? json_of(a.answer_by[node]) : NULL;
}

static void give_answer(const struct ask *q, uint32_t node, json_t *data)
{
	char *text;

	if (!q->done->text) {
		q->done->item(q->arg, node, data);
		return;
	}
	text = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	assert_non_null(text);
	q->done->text(q->arg, node, text);
	free(text);
}

void answer_question(void)
{
	struct ask q = ask;

	ask.cmd = NULL;
	if (q.to == SVC_TO_ROOT && a.root_says) {
		json_t *reply = json_of(a.root_says);
		char *text = json_dumps(reply, JSON_COMPACT);

		q.done->reply(q.arg, text);
		free(text);
		json_decref(reply);
	} else {
		for (uint32_t i = 0; i < NODES && q.to != SVC_TO_ROOT; i++) {
			json_t *data = answer_of(&q, i);

			for (uint32_t n = 0; data && n < (i + 1 == a.twice ? 2u : 1u); n++)
				give_answer(&q, i, data);
			json_decref(data);
		}
		q.done->end(q.arg);
	}
	json_decref(q.cmd);
}

void nodes_answer(void)
{
	while (ask.cmd)
		answer_question();
}

/* --- requests and answers --------------------------------------------------------- */

json_t *json_of(const char *text)
{
	char *plain = strdup(text);
	json_error_t error;
	json_t *j;

	assert_non_null(plain);
	for (char *p = plain; (p = strchr(p, '\'')); )
		*p = '"';
	j = json_loads(plain, JSON_REJECT_DUPLICATES, &error);
	if (!j)
		fail_msg("%s: %s", error.text, plain);
	free(plain);
	return j;
}

static void on_follow(void *arg, uint64_t since)
{
	json_t **reply = arg;

	assert_null(*reply);
	*reply = json_pack("{s:I}", "follow", (json_int_t)since);
}

static void compare(const char *request, json_t *reply, json_t *wanted)
{
	char *got, *want;

	assert_non_null(reply);
	if (!json_equal(reply, wanted)) {
		got = json_dumps(reply, JSON_COMPACT | JSON_SORT_KEYS);
		want = json_dumps(wanted, JSON_COMPACT | JSON_SORT_KEYS);
		fprintf(stderr, "%s\n got  %s\n want %s\n", request, got, want);
		fail();
	}
	json_decref(reply);
	json_decref(wanted);
}

void replies_json(const char *request, json_t *wanted)
{
	json_t *reply = NULL;
	struct request *rq;

	rq = answer_new(&a.d, json_of(request), asker(), on_reply, on_follow, &reply);
	assert_non_null(rq);
	answer_begin(rq);
	nodes_answer();		/* nodes are asked after a root that is silent */
	compare(request, reply, wanted);
}

void serves(const char *request, const char *wanted)
{
	json_t *cmd = json_of(request), *reply = NULL;

	query.ops->serve(query.arg, cmd, asker(), (struct ask *)&reply);
	json_decref(cmd);
	if (ask.cmd)
		answer_question();
	compare(request, reply, json_of(wanted));
}

void drops(const char *request)
{
	json_t *cmd = json_of(request), *reply = NULL;
	void *handle = query.ops->serve(query.arg, cmd, asker(), (struct ask *)&reply);

	json_decref(cmd);
	assert_non_null(handle);
	assert_non_null(ask.cmd);
	query.ops->drop(query.arg, handle);
	assert_null(ask.cmd);
	assert_null(reply);
}

void forgets(const char *request, const char *code, const char *text)
{
	forgetting = true;
	refuses(request, code, text);
	forgetting = false;
}

/* Begins a request that is not answered yet; @reply is set when it is. */
static void begin_waiting(const char *request, json_t **reply)
{
	struct request *rq = answer_new(&a.d, json_of(request), asker(), on_reply, on_follow,
					reply);

	assert_non_null(rq);
	answer_begin(rq);
	answer_look(&a.d);
	assert_null(*reply);
}

static void waits_json(const char *request, uint64_t ns, json_t *wanted)
{
	json_t *reply = NULL;

	a.pending = true;
	begin_waiting(request, &reply);
	a.pending = ns;
	a.passed = ns;
	answer_look(&a.d);
	a.passed = 0;
	a.pending = false;
	compare(request, reply, wanted);
}

void waits(const char *request, uint64_t ns, const char *wanted)
{
	waits_json(request, ns, json_of(wanted));
}

void waits_refused(const char *request, uint64_t ns, const char *code, const char *text)
{
	waits_json(request, ns, json_pack("{s:b, s:s, s:s}", "ok", 0, "code", code, "error", text));
}

void waits_kept(const char *request, uint64_t ns, const struct fm_kept_count *kept,
		const char *wanted)
{
	json_t *reply = NULL;

	begin_waiting(request, &reply);
	a.kept = *kept;
	a.passed = ns;
	answer_look(&a.d);
	a.passed = 0;
	compare(request, reply, json_of(wanted));
}

void waits_found(const char *request, const struct history_found *found, const char *wanted)
{
	json_t *reply = NULL;

	begin_waiting(request, &reply);
	assert_non_null(a.found);
	if (found) {
		a.found(a.found_arg, found);
	} else {
		a.passed = 800 * MS;
		answer_look(&a.d);
		assert_null(a.found);	/* the request is forgotten */
	}
	a.passed = 0;
	compare(request, reply, json_of(wanted));
}

void replies(const char *request, const char *wanted)
{
	replies_json(request, json_of(wanted));
}

void replies_data(const char *request, json_t *data)
{
	replies_json(request, json_pack("{s:b, s:o}", "ok", 1, "data", data));
}

void refuses(const char *request, const char *code, const char *text)
{
	replies_json(request, json_pack("{s:b, s:s, s:s}", "ok", 0, "code", code, "error", text));
}

void does(const char *wanted)
{
	assert_string_equal(a.did, wanted);
	a.did[0] = '\0';
}

/* --- what there is ----------------------------------------------------------------- */

static void set_up_status(void)
{
	struct fm_status *s = &a.status;

	*s = (struct fm_status){
		.state = FM_DEGRADED, .is_root = true, .placed = true, .shape = asked_shape,
		.own = OWN,
		.version = 101, .applied = 102, .nodes = 103, .nodes_up = 104,
		.nodes_excluded = 123, .links = 105,
		.links_up = 106, .links_faulty = 107, .links_excluded = 108, .links_wrong = 127,
		.parked = 109,
		.relayed = 110, .problems = 111,
		.root = { .state = FM_ROOT_LEADS, .own = true, .known = true, .reachable = true,
			  .epoch = 115, .since = NOW - 9 * SEC, .guid = 112, .node = OWN,
			  .address = "192.168.0.7:7", .why = "root bob lost", .arbiter = true,
			  .verdict = FM_REFUSED, .asked_epoch = 118, .answered = NOW - SEC,
			  .refusal = "not quorate" },
		.nodes_answering = 116, .links_answering = 117,
		.last = { .version = 121, .cause = "a link went down", .parked = 122,
			  .replayed = 123, .lost = 124, .bounded = true },
		.present = { .version = 126, .cause = "a node died", .parked = 125,
			     .at = { 49 * SEC, 49 * SEC + 500 * US } },
	};
	for (unsigned int i = 0; i < FM_STAMPS; i++)
		s->last.at[i] = 40 * SEC + i * i * 125 * US;
	strcpy(a.d.config.arbiter, "/lib/arbiter");
	a.outline = (struct fm_outline){ .term = 113, .version = 114 };
	a.stats = (struct svc_stats){
		.refused_fabric = 131, .refused_key = 132, .refused_malformed = 133,
		.refused_busy = 134, .refused_schema = 138, .refused_at = NOW - 59 * SEC, .up = 135,
		.last_refused = "a stranger",
	};
	a.d.seal = (struct seal *)&a;
	a.d.refused_at = NOW - 59 * SEC;
}

static void set_up_nodes(void)
{
	static const uint8_t state[NODES] = {
		FM_NODE_UP, FM_NODE_SILENT, FM_NODE_DEAD, FM_NODE_ABSENT, FM_NODE_UP, FM_NODE_UP,
	};
	static const char *const name[NODES] = { "ann", "bob", "", "dan", "eve", "own" };

	for (uint32_t i = 0; i < NODES; i++) {
		struct fm_entry *e = &a.entry[i];

		*e = (struct fm_entry){ .node = i, .state = state[i], .guid = i ? 0xf00 + i : 0,
					.epoch = 50 + i };
		strcpy(e->name, name[i]);
		if (i != 2)
			snprintf(e->address, sizeof(e->address), "192.168.0.%u:8", i);
	}
	a.entry[1].stalled = 0x4;
	a.hold[0] = (struct fm_hold){ .node = OWN, .peer = 4, .port = 2, .peer_port = 0,
				      .left = 8120500 * US };
	a.hold[1] = (struct fm_hold){ .node = 2, .peer = OWN, .port = 1, .peer_port = 3,
				      .left = 31250 * US };
	a.hold[2] = (struct fm_hold){ .node = 1, .peer = TORUS_NO_NODE, .port = 3, .peer_port = 2,
				      .left = 500 * US };
	a.nholds = 3;
	a.candidate[0] = (struct fm_candidate_status){ 4, 100, true, 1, "eve" };
	a.candidate[1] = (struct fm_candidate_status){ OWN, 255, true, 2, "myself" };
	a.candidate[2] = (struct fm_candidate_status){ 1, 100, false, 0, "bob" };
	a.ncandidates = 3;
}

static void set_up_lanes(struct torus_link *l)
{
	l->nlanes = 4;
	for (unsigned int i = 0; i < l->nlanes; i++)
		l->lane[i] = (struct torus_lane){
			.state = (uint8_t)i, .pre = (uint8_t)(170 + i), .post = (uint8_t)(180 + i),
			.height = (uint16_t)(190 + i), .width = (uint16_t)(200 + i),
			.margin = (uint16_t)(210 + i), .ctle = (uint8_t)(i ? 220 + i : 0),
			.dfe = (uint8_t)(i ? 230 + i : 0), .ber = (i + 1) * TORUS_BER_ONE / 8,
		};
}

/* The link at +x has all values that a link can have, that at +y as few as possible. */
static void set_up_links(void)
{
	static const uint8_t state[PORTS] = {
		TORUS_LINK_UP, TORUS_LINK_DOWN, TORUS_LINK_FAULTY, TORUS_LINK_INIT,
	};
	/* The neighbour, no NIC, another node than the neighbour, and a NIC of another fabric. */
	static const uint64_t peer[PORTS] = { 0xf03, 0, 0xf01, 241 };

	for (unsigned int p = 0; p < PORTS; p++) {
		struct torus_link *l = &a.link[p];

		*l = (struct torus_link){
			.port = (uint8_t)p, .ifindex = 221, .state = state[p],
			.state_age = 222 + p, .old_state = TORUS_LINK_TRAINING,
			.reason = (uint8_t)(TORUS_REASON_SILENCE + p), .admin = p == 1,
			.closed = p == 2, .carrier = p == 3, .session = 230 + p, .seq = 240,
			.peer_guid = peer[p], .peer_port = (uint8_t)((p + 2) % PORTS),
			.retry = (uint8_t)(1 + p % 2), .retry_wanted = (uint8_t)(2 + p % 2),
			.modelled = p == 0,
			.line = { 251, 252, 253, 254, 255, 273 + 256, 257, 258 },
		};
		if (p == 3) {
			l->differs = TORUS_DIFFERS_BUBBLE;
			l->differs_own = TORUS_BUBBLE_MBS;
			l->differs_peer = TORUS_BUBBLE_BLOC;
		}
		if (p == 2) {		/* attributes of a later driver */
			l->differs = TORUS_DIFFERENCES;
			l->differs_own = 7;
			l->differs_peer = 9;
		}
		if (p != 1)
			snprintf(l->lower, sizeof(l->lower), "eth%u", p);
		for (unsigned int i = 0; i < TORUS_PC_COUNT; i++)
			l->counter[i] = 1000 + 100 * p + i;
		for (unsigned int i = 0; i < TORUS_PG_COUNT; i++)
			l->gauge[i] = 1400 + 100 * p + i;
	}
	set_up_lanes(&a.link[0]);
}

int asked_setup(void **state)
{
	(void)state;
	a = (struct asked){ .root = true, .privileged = true, .own = OWN, .tested = -1,
			    .severed = 1 };
	strcpy(a.d.config.fm.fabric, "ring");
	strcpy(a.d.config.fm.name, "myself");
	strcpy(a.d.config.fm.address, "192.168.0.7:7");
	strcpy(a.d.own, "2,1");
	strcpy(a.d.nic_text, "there is none");
	a.d.fm = (struct fm *)&a;
	a.d.nic = (struct nic *)&a;
	set_up_status();
	set_up_nodes();
	set_up_links();
	a.d.events = events_new();
	return !a.d.events || lines_start(&a.d) || answer_start(&a.d);
}

int asked_teardown(void **state)
{
	(void)state;
	lines_stop(&a.d);
	events_free(a.d.events);
	return 0;
}
