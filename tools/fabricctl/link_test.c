// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests a link while it is in use: asks the manager of the far end to echo, that of the near end
 * to send, and both for what they have counted, until the sender has ended or the user stops it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "ask.h"
#include "json.h"
#include "output.h"
#include "tested.h"

#define SECONDS		5
#define SECONDS_MAX	3600
#define COUNT_MAX	100000000
#define LOOK_MS		200

static uint64_t seconds, count, size = 1024, rate = 2000;

/** struct place - an end of the cable, as arguments of a request */
struct place {
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
};

/* Signals that end the test, also that of a terminal that has gone. */
static sigset_t stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

/*
 * The signals are blocked, so no question to a manager is interrupted. Return: true if a signal
 * came.
 */
static bool wait_or_stopped(void)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * 1000000 };
	const sigset_t set = stop_signals();

	return sigtimedwait(&set, NULL, &look) > 0;
}

static void block_stop(void)
{
	const sigset_t set = stop_signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int draw_token(char *token)
{
	uint64_t n = 0;

	while (!n)
		if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n) && errno != EINTR)
			return fail("no random numbers: %m");
	snprintf(token, 17, "%016llx", (unsigned long long)n);
	return OK;
}

/* Finds the link in the answer of its node. Return: OK, or why it cannot be tested. */
static int find_link(struct ask *a, const struct place *at, json_t **link)
{
	const char *state, *reason;
	json_t *links, *v;
	size_t i;
	int status = ask(a, json_pack("{ss ss}", "cmd", "links", "node", at->node), &links);

	*link = NULL;
	if (status != OK)
		return status;
	json_array_foreach(links, i, v)
		if (json_text(v, "port") && !strcmp(json_text(v, "port"), at->port))
			*link = json_incref(v);
	json_decref(links);
	state = json_text(*link, "state");
	reason = json_text(*link, "reason");
	if (!state || (strcmp(state, "up") && strcmp(state, "retraining")))
		return fail_as(PROBLEM, "link %s:%s is not up, but %s%s%s%s: only a link that is "
			       "up can be tested", at->node, at->port, state ? state : "unknown",
			       reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
	return OK;
}

static int find_peer(const json_t *link, const struct place *at, struct place *peer)
{
	const json_t *p = json_object_get(link, "peer");

	if (!json_is_array(json_object_get(p, "node")) || !json_text(p, "port"))
		return fail_as(PROBLEM, "it is not known where the cable of %s:%s ends, so no "
			       "manager can be asked to echo; 'fabricctl links' shows it",
			       at->node, at->port);
	json_coords_text(json_object_get(p, "node"), peer->node);
	snprintf(peer->port, sizeof(peer->port), "%s", json_text(p, "port"));
	return OK;
}

static json_t *step_request(const struct place *at, const char *step, const char *token)
{
	return json_pack("{ss ss ss ss ss}", "cmd", "test", "node", at->node, "port", at->port,
			 "step", step, "token", token);
}

static int begin_end(struct ask *a, const struct place *at, const char *step, const char *token,
		     json_t **data)
{
	uint64_t limit = seconds ? seconds : count ? SECONDS_MAX : SECONDS;
	json_t *j = step_request(at, step, token);
	bool unknown = false;
	int status;

	json_object_update_new(j, json_pack("{sI sI sI sI}", "seconds", (json_int_t)limit,
					    "packets", (json_int_t)count, "size", (json_int_t)size,
					    "rate", (json_int_t)rate));
	status = ask_try(a, j, data, &unknown);
	return unknown ? fail_as(PROBLEM, "the root's fabricd is of a release that cannot test "
				 "links: update it") : status;
}

static int ask_result(struct ask *a, const struct place *at, const char *token, json_t **data)
{
	json_decref(*data);
	*data = NULL;
	return ask(a, step_request(at, "show", token), data);
}

/* Ends the test at both ends, and ignores managers that do not answer any more. */
static void end_test(struct ask *a, const struct place *at, const char *token)
{
	json_t *data = NULL;

	hush_output(true);
	if (ask(a, step_request(at, "end", token), &data) == OK)
		json_decref(data);
	hush_output(false);
}

static bool is_over(const json_t *data)
{
	const char *state = json_text(data, "state");

	return !state || strcmp(state, "runs") != 0;
}

static int wait_for_end(struct ask *a, const struct place *at, const char *token, json_t **data)
{
	int status = ask_result(a, at, token, data);
	bool stopped = false;

	while (status == OK && !is_over(*data) && !stopped) {
		progress("%.1f s: %llu packets sent, %llu lost",
			 json_number_value(json_object_get(*data, "ms")) / 1e3,
			 (unsigned long long)json_count(*data, "sent"),
			 (unsigned long long)json_count(*data, "lost"));
		stopped = wait_or_stopped();
		status = ask_result(a, at, token, data);
	}
	progress("%s", "");
	return status;
}

/* Runs the test. @t: gets the results; the caller drops their references in any case. */
static int run_test(struct ask *a, const struct place *at, const struct place *peer,
		    struct tested *t, json_t **send, json_t **echo)
{
	char token[17];
	json_t *began = NULL;
	int status = draw_token(token);

	if (status == OK)
		status = begin_end(a, peer, "echo", token, echo);
	if (status != OK)
		return status;
	status = begin_end(a, at, "send", token, &began);
	if (status == OK) {
		t->mbps = json_incref(json_object_get(began, "mbps"));
		t->slow_us = json_incref(json_object_get(began, "slow_us"));
		json_decref(began);
		status = wait_for_end(a, at, token, send);
	}
	if (status == OK)
		status = ask_result(a, peer, token, echo);
	end_test(a, at, token);
	end_test(a, peer, token);
	return status;
}

static int test_link(const struct ctl *ctl, struct ask *a, const struct place *at, json_t *link)
{
	struct tested t = { .link = link, .size = size };
	json_t *send = NULL, *echo = NULL, *result;
	struct place peer;
	int status = find_peer(link, at, &peer);

	if (status == OK)
		status = run_test(a, at, &peer, &t, &send, &echo);
	if (status == OK) {
		t.send = send;
		t.echo = echo;
		result = tested_json(&t);
		status = tested_status(result);
		if (ctl->json)
			json_show(json_incref(result));
		else
			tested_show(result);
		json_decref(result);
	}
	json_decref((json_t *)t.mbps);
	json_decref((json_t *)t.slow_us);
	json_decref(send);
	json_decref(echo);
	return status;
}

static int link_test(struct ctl *ctl, int argc, char **argv)
{
	json_t *link = NULL;
	struct place at;
	struct ask a;
	int status;

	(void)argc;
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask_link(&a, argv[0], at.node, at.port);
	if (status == OK)
		status = find_link(&a, &at, &link);
	if (status == OK) {
		block_stop();
		status = test_link(ctl, &a, &at, link);
	}
	json_decref(link);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "seconds", 's', "N", &seconds, 1, SECONDS_MAX, "how long to send (5)" },
	{ OPT_NUMBER, "count", 'c', "N", &count, 1, COUNT_MAX, "how many packets to send" },
	{ OPT_NUMBER, "size", 'S', "BYTES", &size, 64, 1024,
	  "size of a packet, 64 to 1024 (1024)" },
	{ OPT_NUMBER, "rate", 'r', "N", &rate, 1, 100000, "packets a second, at most (2000)" },
	{ .kind = OPT_END },
};

COMMAND(link_test) = {
	.family = "link",
	.name = "test",
	.args = "NODE:PORT",
	.brief = "Test a link in use: round trip, lost packets, bit errors, both directions",
	.help = "The managers at both ends send each other packets with a known pattern, over\n"
		"this cable alone: at most 5 % of its rate, and no other packet is lost or\n"
		"rerouted. The link must be up; it may be excluded. Ctrl-C ends the test, and\n"
		"shows the result so far. The default finds an error rate of 1e-7; --seconds 60\n"
		"finds 1e-8. Exit status 1: packets were lost, there were bit errors, or the\n"
		"shortest round trip took longer than round_trip_max (fabricd.conf(5), 8 ms).",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_test,
};
