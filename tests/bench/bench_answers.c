// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of a root about a large fabric that is well: processor time and bytes of 'status' and
 * 'links --bad', with all that the clients of these commands ask. The root is brought up in virtual
 * time; the other managers' answers are made here, so what they and the service network take is not
 * in it. For those, bench_packed asks real managers, of up to 1024 nodes.
 *
 *	bench_answers [SHAPE]		16x16x16
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/answer.h"
#include "daemon/history.h"
#include "daemon/keeper.h"
#include "daemon/lower.h"
#include "daemon/nic.h"
#include "daemon/plug.h"
#include "daemon/query.h"
#include "daemon/seal.h"
#include "daemon/tester.h"
#include "tests/bench/sample.h"
#include "tools/fabricsim/world.h"

#define ROUNDS 9
#define UP_NS (20 * SEC)	/* limit for the fabric to come up */

/* --- what the answers are read from, beside the state machine ---------------------------- */

static struct {
	const struct query_done *done;
	void *arg;
} asked;

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *done, void *arg)
{
	(void)q, (void)to, (void)node, (void)cmd, (void)user, (void)timeout_ms;
	asked.done = done;
	asked.arg = arg;
	return (struct ask *)&asked;
}

bool query_was_sent(const struct ask *ask)
{
	(void)ask;
	return true;
}

/* Does nothing: the test gives all answers, and then their end. */
void query_enough(struct ask *ask)
{
	(void)ask;
}

void query_cancel(struct ask *ask)
{
	if (ask)
		abort();
}

const struct svc_stats *svc_stats(const struct svc *s)
{
	static const struct svc_stats none;

	(void)s;
	return &none;
}

const struct seal_counts *seal_counts(const struct seal *s)
{
	static const struct seal_counts none;

	(void)s;
	return &none;
}

unsigned int svc_mixed(const struct svc *s, char *text, size_t room)
{
	(void)s, (void)text, (void)room;
	return 0;
}

const char *keeper_problem(const struct keeper *k)
{
	(void)k;
	return "";
}

json_t *keeper_json(const struct keeper *k)
{
	(void)k;
	return json_null();
}

/* Stubs for commands that are not measured. */
#define NOT_ASKED(type, name, ...) \
	type name(__VA_ARGS__) \
	{ \
		fprintf(stderr, "bench_answers: calls %s()\n", #name); \
		abort(); \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

NOT_ASKED(void, query_local, struct ask *ask, json_t *data)
NOT_ASKED(void, query_served, struct ask *ask, const char *reply)
NOT_ASKED(void, query_send_all, struct query *q, const struct svc_msg *msg)
NOT_ASKED(struct query *, query_new, struct loop *loop, struct svc *svc,
	  const struct query_ops *ops, void *arg)
NOT_ASKED(struct history_job *, history_ask, struct history *h, const struct history_filter *f,
	  void (*done)(void *arg, const struct history_found *found), void *arg)
NOT_ASKED(void, history_forget, struct history_job *job)
NOT_ASKED(json_t *, keeper_record, const struct keeper *k, const struct event_record *r)
NOT_ASKED(struct history *, keeper_history, const struct keeper *k)
NOT_ASKED(bool, tester_result, struct tester *t, const struct torus_link *l,
	  enum linktest_role role, uint64_t token, struct linktest_result *out,
	  struct tester_counts *counts)
NOT_ASKED(void, tester_end, struct tester *t, unsigned int port, uint64_t token)
NOT_ASKED(int, tester_begin, struct tester *t, const struct torus_link *l,
	  enum linktest_role role, const struct linktest_plan *plan)
NOT_ASKED(void, plug_looked, const struct plugs *p, unsigned int port, struct plug_module *out)
NOT_ASKED(int, plug_look, struct plugs *p, unsigned int port, const char *lower)
NOT_ASKED(void, plug_located, const struct plugs *p, unsigned int port, struct plug_locate *out)
NOT_ASKED(int, plug_locate, struct plugs *p, unsigned int port, const char *lower, uint64_t ns)
NOT_ASKED(void, nic_drop, struct nic_question *q)
NOT_ASKED(int, nic_ask, struct nic *nic, struct nic_question *q)
NOT_ASKED(void, nic_links_get, struct nic *nic)
NOT_ASKED(const struct histogram *, nic_times, const struct nic *nic)
NOT_ASKED(uint32_t, lower_speed, const char *name)
NOT_ASKED(const char *, fabricd_refused_text, const struct fabricd *d, char *buf, size_t room)
NOT_ASKED(void, fabricd_event, struct fabricd *d, double time, const char *node,
	  enum fm_level level, const char *kind, const char *text)
NOT_ASKED(int, machine_event, struct fabricd *d, const struct record_event *e)

#pragma GCC diagnostic pop

/* --- the fabric ------------------------------------------------------------------------- */

/* Return: a world whose fabric is well; NULL, after an error: it is not. */
static struct world *bring_up(const struct torus_shape *shape)
{
	struct world_config c;
	struct fm_status s;
	struct world *w;

	world_config_default(&c);
	c.shape = *shape;
	c.discover = false;
	c.share = true;
	c.links_only = true;
	w = world_new(&c);
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		world_power(w, i, true);
	world_run(w, UP_NS);
	fm_status(world_fm(w, 0), &s);
	if (s.state == FM_RUNNING && s.nodes_up == torus_nodes(shape) && s.links_up == s.links)
		return w;
	fprintf(stderr, "bench_answers: %u nodes and %u links are up, state %s\n", s.nodes_up,
		s.links_up, fm_state_name(s.state));
	world_free(w);
	return NULL;
}

/* --- requests --------------------------------------------------------------------------- */

static size_t reply_bytes;

static void take_reply(void *arg, const char *line)
{
	(void)arg;
	if (!strstr(line, "\"ok\":true")) {
		fprintf(stderr, "bench_answers: %.200s\n", line);
		exit(EXIT_FAILURE);
	}
	reply_bytes += strlen(line) + 1;
}

/* Answers for @n nodes from @first on, each as a text that says that none of its links is bad. */
static void answer_for_nodes(uint32_t first, uint32_t n)
{
	const struct query_done *done = asked.done;

	asked.done = NULL;
	for (uint32_t i = first; done && i < first + n; i++)
		done->text(asked.arg, i, "[]");
	if (done)
		done->end(asked.arg);
}

static void run_request(struct fabricd *d, json_t *args, uint32_t first, uint32_t n)
{
	struct request *rq = answer_new(d, args, &SVC_MANAGER, take_reply, NULL, NULL);

	answer_begin(rq);
	answer_for_nodes(first, n);
}

static void ask_status(struct fabricd *d)
{
	run_request(d, json_pack("{ss}", "cmd", "status"), 0, 0);
	run_request(d, json_pack("{ss sb}", "cmd", "links", "degraded", 1), 0, 0);
}

#define BAD_MAX 24576	/* ends of cables in a question: tools/fabricctl/ask.h */

static void ask_bad_links(struct fabricd *d)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	uint32_t nodes = torus_nodes(shape), batch = BAD_MAX / (2u * shape->ndims);
	char at[TORUS_TEXT_MAX];

	for (uint32_t first = 0; first < nodes; first += batch) {
		uint32_t n = nodes - first < batch ? nodes - first : batch;

		run_request(d, json_pack("{ss sb sb ss si}", "cmd", "links", "brief", 1, "bad", 1,
					 "node", torus_node_text(shape, first, at), "count", (int)batch),
			    first, n);
	}
}

/* --- measuring -------------------------------------------------------------------------- */

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Prints the median of the processor times, and the bytes of one round. */
static void time_requests(const char *what, struct fabricd *d, void (*run)(struct fabricd *d),
			  const char *wanted)
{
	double ms[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		double began = processor_ms();

		reply_bytes = 0;
		run(d);
		ms[i] = processor_ms() - began;
	}
	qsort(ms, ROUNDS, sizeof(ms[0]), by_value);
	printf("%-16s %9.3g ms %9zu bytes  %s\n", what, ms[ROUNDS / 2], reply_bytes, wanted);
	sample(what, "ms", ms[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "16x16x16";
	struct fabricd d = { .fm = NULL };
	struct torus_shape shape;
	struct world *w;

	if (argc > 2 || torus_shape_parse(text, &shape)) {
		fprintf(stderr, "usage: bench_answers [SHAPE]\n");
		return 2;
	}
	w = bring_up(&shape);
	if (!w)
		return EXIT_FAILURE;
	d.fm = world_fm(w, 0);
	d.events = events_new();
	torus_node_text(&shape, 0, d.own);
	printf("answers of the root of %u nodes, processor time, median of %d\n", torus_nodes(&shape),
	       ROUNDS);
	time_requests("status", &d, ask_status, "< 50 ms");
	time_requests("links --bad", &d, ask_bad_links, "< 300 ms and < 1 MiB");
	events_free(d.events);
	world_free(w);
	return 0;
}
