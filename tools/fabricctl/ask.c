// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "json.h"
#include "kind.h"
#include "lab.h"
#include "number.h"
#include "output.h"
#include "lib/util/clock.h"

#define TIMEOUT_MS 10000
#define FIRST_MS 3000		/* time limit for the first answer of a manager */
#define LOOK_MS 500		/* time limit of the check whether a manager of a lab hangs */
#define AGAIN_S 60		/* how long to try a manager that does not answer, once a second */
#define HUNG_MAX 8		/* managers that may hang before the search for one ends */
#define DEFAULT_CONTROL "/run/fabricd/control"
#define GUID_DIGITS 16
#define FIRST_QUESTION "{\"cmd\":\"coord\"}"

static int try_path(struct ask *ask, const char *path)
{
	snprintf(ask->path, sizeof(ask->path), "%s", path);
	return torus_fabric_open(ask->path, &ask->fabric);
}

/* Prints the reason why there is no answer. Return: the exit status. */
static int no_answer(const struct ask *ask, int err, int waited_ms)
{
	enum status kind = kind_of_errno(err);

	if (kind == TIMEOUT)
		return fail_as(kind, "%s does not answer within %g s: it hangs, or is stopped or "
			       "overloaded; --timeout SECONDS waits longer", ask->who,
			       waited_ms / 1e3);
	return fail_as(kind, "no answer from %s: %s", ask->who, strerror(-err));
}

/*
 * Handles the reply that a manager sends to each further client at once if it has too many clients.
 */
static int turned_away(const char *text)
{
	json_t *reply = json_loads(text, 0, NULL);
	const char *code = json_text(reply, "code");
	int status = OK;

	if (code && !strcmp(code, "failed"))
		status = fail_as(PROBLEM, "%s",
				 json_text(reply, "error") ?
					 json_text(reply, "error") :
					 "the manager refused, and gave no reason");
	json_decref(reply);
	return status;
}

/*
 * A manager that hangs accepts connections, too. So this function asks a question that the manager
 * can answer without other nodes.
 */
static int sign_of_life(struct ask *ask)
{
	char *text;
	int err = torus_fabric_call(ask->fabric, FIRST_QUESTION, &text, ask->first_ms);
	int status = err ? no_answer(ask, err, ask->first_ms) : turned_away(text);

	if (!err)
		free(text);
	if (status != OK)
		ask_close(ask);
	return status;
}

static const char *socket_advice(const char *path, int err, const char *hint)
{
	struct stat st;

	if (kind_of_errno(err) == DENIED)
		return "run it with sudo";
	return stat(path, &st) || S_ISSOCK(st.st_mode) ? hint : "it is not a socket";
}

/* Opens a socket. @who: name of the manager in messages; NULL: it is named by @path */
static int open_path(struct ask *ask, const char *path, const char *who, const char *hint)
{
	int err;

	if (!*path)
		return fail("control socket '': name the socket of a manager, such as "
			    DEFAULT_CONTROL);
	if (strlen(path) >= sizeof(ask->path))
		return fail("control socket '%s': the path is too long, must have at most %zu "
			    "bytes", path, sizeof(ask->path) - 1);
	if (who)
		snprintf(ask->who, sizeof(ask->who), "%s (%s)", who, path);
	else
		snprintf(ask->who, sizeof(ask->who), "the manager behind %s", path);
	err = try_path(ask, path);
	if (!err)
		return sign_of_life(ask);
	hint = socket_advice(path, err, hint);
	return fail_as(kind_of_errno(err), "cannot ask %s: %s%s%s", ask->who, strerror(-err),
		       *hint ? "; " : "", hint);
}

static bool is_hung(const char *path)
{
	json_t *data = NULL;
	int err = ask_quietly(path, FIRST_QUESTION, LOOK_MS, &data);

	if (!err)
		json_decref(data);
	return err == -ETIMEDOUT;
}

/*
 * Opens the first manager of a lab that answers, because each passes questions on to the root.
 * Return: OK, or the kind of the error; if a manager hangs, the kind of that error.
 */
static int open_any(struct ask *ask, const struct lab *lab)
{
	char path[LAB_TEXT_MAX];
	unsigned int hung = 0;
	int err = 0;

	for (uint32_t node = 0; node < lab->nodes && hung < HUNG_MAX; node++) {
		err = try_path(ask, lab_path(lab, node, "control", path));
		if (err)
			continue;
		if (!is_hung(path)) {
			snprintf(ask->who, sizeof(ask->who), "the manager behind %s", path);
			return OK;
		}
		ask_close(ask);
		hung++;
	}
	return hung ? TIMEOUT : kind_of_errno(err);
}

static int open_node(struct ask *ask, const struct lab *lab, const char *text, const char *hint)
{
	char path[LAB_TEXT_MAX], who[128], at[TORUS_TEXT_MAX];
	uint32_t node;
	int status = lab_node_parse(lab, text, &node);

	if (status != OK)
		return status;
	snprintf(who, sizeof(who), "the manager of node %s of lab '%s'",
		 torus_node_text(&lab->shape, node, at), lab->name);
	return open_path(ask, lab_path(lab, node, "control", path), who, hint);
}

static int open_lab(struct ask *ask, const struct ctl *ctl)
{
	char hint[128];
	struct lab lab;
	int status = lab_open(&lab, ctl->lab, LAB_READ);

	if (status != OK)
		return status;
	snprintf(hint, sizeof(hint), "'fabricctl lab status --lab %s' shows what runs", lab.name);
	if (ctl->node) {
		status = open_node(ask, &lab, ctl->node, hint);
	} else {
		status = open_any(ask, &lab);
		if (status != OK)
			fail("no manager of lab '%s' answers; %s", lab.name, hint);
	}
	lab_free(&lab);
	return status;
}

static int open_manager(const struct ctl *ctl, struct ask *ask)
{
	int timeout_ms = (int)(ctl->timeout * 1e3);
	const char *env = getenv("TORUS_CONTROL");

	*ask = (struct ask) { .timeout_ms = timeout_ms ? timeout_ms : TIMEOUT_MS,
			     .first_ms = timeout_ms ? timeout_ms : FIRST_MS };
	if (ctl->control && (ctl->lab || ctl->node))
		return fail("--control names one manager: --lab and --node do not go with it");
	if (ctl->control)
		return open_path(ask, ctl->control, NULL, "is fabricd running?");
	if (ctl->lab || ctl->node)
		return open_lab(ask, ctl);
	if (env && *env)
		return open_path(ask, env, NULL, "it is what $TORUS_CONTROL names");
	if (!access(DEFAULT_CONTROL, F_OK))
		return open_path(ask, DEFAULT_CONTROL, NULL,
				 "is fabricd running? 'systemctl status fabricd'");
	if (!access(LAB_RUN, F_OK))
		return open_lab(ask, ctl);
	return fail_as(UNREACHABLE,
		       "no manager to ask: " DEFAULT_CONTROL " is not there and no lab is "
		       "up; start fabricd, or raise a lab with 'fabricctl lab up 4x4'");
}

/*
 * Loads the names of nodes. If there is no table, there are no names, and commands show
 * coordinates.
 */
static int load_names(struct ask *ask)
{
	json_t *nodes = NULL;
	bool ready = false;
	int status = ask_ready(ask, &ready);

	if (status == OK && ready)
		status = ask_nodes(ask, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0,
				   &nodes);
	if (status == OK && ready)
		json_names_set(nodes);
	json_decref(nodes);
	return status;
}

int ask_open(const struct ctl *ctl, struct ask *ask)
{
	int status;

	if (ctl->full)
		json_full();
	status = open_manager(ctl, ask);
	if (status != OK || !ctl->names)
		return status;
	status = load_names(ask);
	if (status != OK)
		ask_close(ask);
	return status;
}

void ask_close(struct ask *ask)
{
	torus_fabric_close(ask->fabric);
	ask->fabric = NULL;
}

int ask_again(const struct ctl *ctl, struct ask *a)
{
	double end, wait = ctl->timeout > 0 ? ctl->timeout : AGAIN_S;
	struct timespec pause = { .tv_sec = 1 };
	char why[512];
	int status;

	if (wait < 1)
		pause = (struct timespec) { .tv_nsec = (long)(wait * 1e9) };
	warn("%s is tried again for %g s", a->who, wait);
	end = seconds_now() + wait;
	do {
		ask_close(a);
		nanosleep(&pause, NULL);
		hush_output(true);
		status = ask_open(ctl, a);
		hush_output(false);
	} while (status != OK && seconds_now() < end);
	if (status != OK) {
		snprintf(why, sizeof(why), "%s", last_message());
		return fail_as(status, "%s", why);
	}
	warn("%s answers", a->who);
	return OK;
}

static void warn_of_missing(struct ask *ask, const json_t *missing)
{
	char list[512] = "", text[TORUS_TEXT_MAX];
	size_t i, len = 0, n = json_array_size(missing);
	json_t *v;

	if (!n)
		return;
	ask->missing = true;
	json_array_foreach(missing, i, v)
		if (len < sizeof(list) - 80)
			len += (size_t)snprintf(list + len, sizeof(list) - len, " %s",
						json_node_text(v, text));
	if (!strcmp(list, ask->printed))	/* for an earlier question of this command */
		return;
	strcpy(ask->printed, list);
	warn("%zu node%s %s:%s%s", n, n == 1 ? "" : "s",
	     ask->rootless ? "cannot be asked from here" : "did not answer", list,
	     len >= sizeof(list) - 80 ? " ..." : "");
}

static void take_rootless(struct ask *ask, const json_t *r)
{
	const json_t *own = json_object_get(r, "own");
	double since = json_number_value(json_object_get(r, "since"));
	char ago[32] = "", at[TORUS_TEXT_MAX];

	if (!json_is_object(r))
		return;
	ask->rootless = true;
	if (since > 0)
		duration_text(age(since), ago);
	snprintf(ask->knows, sizeof(ask->knows),
		 "%s%s: this is what %.40s (%s) knows itself, and from the nodes that it can ask",
		 since > 0 ? "no root for " : "the root does not answer", ago,
		 json_text(own, "name") ? json_text(own, "name") : "-",
		 json_node_text(json_object_get(own, "node"), at));
}

void ask_label(const struct ask *ask, bool aside)
{
	if (ask->rootless && aside)
		warn("%s", ask->knows);
	else if (ask->rootless)
		printf("%s%s%s\n", paint(BAD), ask->knows, paint(PLAIN));
}

/*
 * Parses a reply: sets its data, and whether more replies follow. Return: OK, or the kind of the
 * error.
 */
static int unpack_reply(struct ask *ask, char *text, json_t **data, bool *more)
{
	json_error_t error;
	json_t *reply = json_loads(text, 0, &error);
	const char *why, *code;
	int status;

	free(text);
	if (!reply)
		return fail_as(PROBLEM, "%s sent an answer that is not JSON: %s", ask->who,
			       error.text);
	if (!json_is_true(json_object_get(reply, "ok"))) {
		why = json_text(reply, "error");
		code = json_text(reply, "code");
		ask->spared = ask->spares && code && strstr(ask->spares, code);
		if (ask->spared) {
			snprintf(ask->refused, sizeof(ask->refused), "%s", code);
			json_decref(reply);
			return CANNOT;
		}
		fail("%s", why ? why : "the manager refused, and gave no reason");
		json_code(code);
		status = kind_of_code(code);
		json_decref(reply);
		return status;
	}
	take_rootless(ask, json_object_get(reply, "rootless"));
	json_missing(json_object_get(reply, "missing"), json_object_get(reply, "rootless"));
	warn_of_missing(ask, json_object_get(reply, "missing"));
	*more = json_is_true(json_object_get(reply, "more"));
	*data = json_object_get(reply, "data");
	json_incref(*data);
	json_decref(reply);
	return *data ? OK : fail_as(PROBLEM, "%s answered without data", ask->who);
}

int ask_next(struct ask *ask, int timeout_ms, json_t **data)
{
	char *text;
	bool more;
	int err = torus_fabric_next(ask->fabric, &text, timeout_ms);

	return err ? no_answer(ask, err, timeout_ms) : unpack_reply(ask, text, data, &more);
}

int ask_poll(struct ask *ask, int timeout_ms, json_t **data)
{
	char *text;
	bool more;
	int err = torus_fabric_next(ask->fabric, &text, timeout_ms);

	*data = NULL;
	if (err == -ETIMEDOUT)
		return OK;
	return err ? no_answer(ask, err, timeout_ms) : unpack_reply(ask, text, data, &more);
}

static int get_first(struct ask *ask, json_t *request, int timeout_ms, json_t **data, bool *more)
{
	char *line = request ? json_dumps(request, JSON_COMPACT) : NULL;
	char *text;
	int err;

	if (!request)
		return fail("an argument is not UTF-8 text");
	json_decref(request);
	if (!line)
		return fail("out of memory");
	err = torus_fabric_call(ask->fabric, line, &text, timeout_ms);
	free(line);
	return err ? no_answer(ask, err, timeout_ms) : unpack_reply(ask, text, data, more);
}

int ask_first(struct ask *ask, json_t *request, json_t **data)
{
	bool more;

	return get_first(ask, request, INT_MAX, data, &more);
}

int ask(struct ask *ask, json_t *request, json_t **data)
{
	bool more = false;
	json_t *part;
	char *text;
	int err, status = get_first(ask, request, ask->timeout_ms, data, &more);

	if (status != OK)
		return status;
	while (more) {
		err = torus_fabric_next(ask->fabric, &text, ask->timeout_ms);
		status = err ? no_answer(ask, err, ask->timeout_ms) :
			       unpack_reply(ask, text, &part, &more);
		if (status != OK) {
			json_decref(*data);
			return status;
		}
		if (json_is_array(*data))
			json_array_extend(*data, part);
		else
			json_object_update(*data, part);
		json_decref(part);
	}
	return OK;
}

int ask_sparing(struct ask *a, json_t *request, json_t **data, const char *code, bool *spared)
{
	int status;

	a->spares = code;
	a->spared = false;
	status = ask(a, request, data);
	a->spares = NULL;
	*spared = a->spared;
	return status;
}

int ask_try(struct ask *a, json_t *request, json_t **data, bool *unknown)
{
	return ask_sparing(a, request, data, "usage", unknown);
}

int ask_ready(struct ask *a, bool *ready)
{
	bool early = false;
	json_t *data;
	int status = ask_sparing(a, json_pack("{ss}", "cmd", "coord"), &data, "not-ready", &early);

	*ready = !early;
	if (early)
		return OK;
	if (status == OK)
		json_decref(data);
	return status;
}

int ask_nodes(struct ask *a, json_t *request, uint32_t max, uint32_t each, json_t **data)
{
	char at[TORUS_TEXT_MAX];
	struct torus_shape shape;
	uint32_t nodes, batch;
	json_t *part, *some;
	int status = ask_shape(a, &shape);

	if (status != OK) {
		json_decref(request);
		return status;
	}
	nodes = torus_nodes(&shape);
	batch = each ? max / (each * shape.ndims) : max;
	if (nodes <= batch)
		return ask(a, request, data);
	*data = json_array();
	for (uint32_t first = 0; status == OK && first < nodes; first += batch) {
		progress("asking node %u of %u", first, nodes);
		some = json_copy(request);
		json_object_set_new(some, "node", json_string(torus_node_text(&shape, first, at)));
		json_object_set_new(some, "count", json_integer(batch));
		status = ask(a, some, &part);
		if (status == OK)
			json_array_extend(*data, part);
		if (status == OK)
			json_decref(part);
	}
	progress("%s", "");
	json_decref(request);
	if (status != OK)
		json_decref(*data);
	return status;
}

int ask_all_links(struct ask *a, json_t **data)
{
	int status;

	a->spares = "usage";	/* code that a manager of an earlier release sends, because it
				 * does not know "brief" */
	a->spared = false;
	status = ask_nodes(a, json_pack("{ss sb}", "cmd", "links", "brief", true), ASK_LINKS_MAX, 2,
			   data);
	a->spares = NULL;
	if (!a->spared)
		return status;
	return ask_nodes(a, json_pack("{ss}", "cmd", "links"), ASK_LANES_MAX, 2, data);
}

int ask_quietly(const char *path, const char *request, int timeout_ms, json_t **data)
{
	struct torus_fabric *f;
	json_t *reply = NULL;
	char *text;
	int err = torus_fabric_open(path, &f);

	if (err)
		return err;
	err = torus_fabric_call(f, request, &text, timeout_ms);
	torus_fabric_close(f);
	if (err)
		return err;
	reply = json_loads(text, 0, NULL);
	free(text);
	*data = json_incref(json_object_get(reply, "data"));
	err = json_is_true(json_object_get(reply, "ok")) && *data ? 0 : -EAGAIN;
	json_decref(reply);
	if (err)
		json_decref(*data);
	return err;
}

int ask_status(const struct ask *ask)
{
	return ask->missing || ask->rootless ? PROBLEM : OK;
}

int ask_shape(struct ask *a, struct torus_shape *shape)
{
	json_t *data;
	int err, status = ask(a, json_pack("{ss}", "cmd", "coord"), &data);

	if (status != OK)
		return status;
	err = json_shape_read(json_object_get(data, "shape"), shape);
	json_decref(data);
	if (err)
		return fail_as(PROBLEM,
			       "the fabric has no shape yet: it is still bootstrapping; try again");
	return OK;
}

/* Return: true for coordinates; the manager has to look up names, addresses and GUIDs. */
static bool are_coordinates(const char *text)
{
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789,")] &&
	       strlen(text) != GUID_DIGITS;
}

bool ask_is_link(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && (!colon[1] || colon[1 + strspn(colon + 1, "0123456789")]);
}

int ask_node(struct ask *a, const char *text, char *buf)
{
	struct torus_shape shape;
	struct torus_coords at;
	char last[TORUS_TEXT_MAX];
	json_t *data;
	int status;

	if (!are_coordinates(text)) {
		status = ask(a, json_pack("{ss ss}", "cmd", "coord", "name", text), &data);
		if (status != OK)
			return status;
		json_coords_text(json_object_get(data, "node"), buf);
		json_decref(data);
		return OK;
	}
	status = ask_shape(a, &shape);
	if (status != OK)
		return status;
	if (torus_coords_parse(text, &shape, &at))
		return fail("node '%s': must be %s to %s, or a name; 'fabricctl nodes' lists "
			    "them", text, torus_node_text(&shape, 0, buf),
			    torus_node_text(&shape, torus_nodes(&shape) - 1, last));
	torus_coords_text(&shape, &at, buf);
	return OK;
}

int ask_link(struct ask *a, const char *text, char *node, char *port)
{
	const char *colon = strrchr(text, ':');
	char left[TORUS_TEXT_MAX], dims[32];
	struct torus_shape shape;
	unsigned int number;
	int status;

	if (!colon || (size_t)(colon - text) >= sizeof(left))
		return fail("link '%s': write a node and its port, such as 1,0:+x", text);
	memcpy(left, text, (size_t)(colon - text));
	left[colon - text] = '\0';
	status = ask_shape(a, &shape);
	if (status == OK)
		status = ask_node(a, left, node);
	if (status != OK)
		return status;
	if (torus_port_parse(colon + 1, shape.ndims, &number))
		return fail("link '%s': '%s' is not a port, must be + or - and one of %s", text,
			    colon + 1, dims_text(shape.ndims, dims));
	torus_port_text(shape.ndims, number, port);
	return OK;
}
