// SPDX-License-Identifier: GPL-2.0-only
/* Does the actions of the state machine (daemon/fm), and passes events to it. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "daemon/answer.h"
#include "daemon/arbiter.h"
#include "daemon/control.h"
#include "daemon/fabricd.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/nic.h"
#include "daemon/plug.h"
#include "daemon/query.h"
#include "daemon/recorder.h"
#include "daemon/schema.h"
#include "daemon/seal.h"
#include "daemon/tester.h"
#include "daemon/wall.h"
#include "daemon/fm/wire/msg.h"
#include "daemon/fm/wire/plan.h"
#include "lib/util/systemd.h"

#define TRIM_AFTER (20 * SEC)	/* after a recovery, its table is written and copied meanwhile */

/* --- actions of the state machine ------------------------------------------ */

static void op_mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	seal_send(((struct fabricd *)io)->seal, port, data, len);
}

static void op_root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	struct fabricd *d = io;

	nic_root_set(d->nic, tag, epoch, guid);
}

static void op_place_set(void *io, uint32_t tag, const struct torus_shape *shape,
			 const struct torus_coords *at, const struct torus_plan *plan)
{
	struct torus_plan full = fm_plan_full(plan);

	nic_place_set(((struct fabricd *)io)->nic, tag, shape, at, &full);
}

static void op_rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
			  const uint64_t *row, uint32_t n)
{
	nic_rows_write(((struct fabricd *)io)->nic, tag, version, node, row, n);
}

static void op_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	nic_release(((struct fabricd *)io)->nic, tag, version, give_up);
}

static void op_count(void *io, uint32_t tag, bool lost)
{
	nic_count(((struct fabricd *)io)->nic, tag, lost);
}

static void op_park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	nic_park_resolve(((struct fabricd *)io)->nic, port, session, seq);
}

static void op_park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	nic_park_replay(((struct fabricd *)io)->nic, tag, version, ports);
}

static int op_connect(void *io, const char *addr)
{
	struct fabricd *d = io;

	return svc_connect(d->svc, addr);
}

static void op_send(void *io, int conn, const struct fm_msg *msg)
{
	struct fabricd *d = io;

	svc_send(d->svc, conn, &(struct svc_msg) { .fm = *msg });
}

static void op_close(void *io, int conn)
{
	struct fabricd *d = io;

	svc_close(d->svc, conn);
	query_conn_down(d->query, conn);
}

static void on_state(void *arg, const char *why)
{
	struct fabricd *d = arg;
	char text[STATE_TEXT_MAX + 8];

	if (!strcmp(d->state_text, why))
		return;
	snprintf(text, sizeof(text), "%s%s", *why ? "" : "over: ", *why ? why : d->state_text);
	fabricd_event(d, loop_wall(), "", *why ? FM_ERROR : FM_INFO, "state", text);
	snprintf(d->state_text, sizeof(d->state_text), "%s", why);
}

static void on_kept(void *arg, uint64_t epoch, uint64_t version, bool ok)
{
	machine_event(arg, &(struct record_event) {
		.kind = RECORD_KEPT, .now = loop_now(), .kept = { epoch, version, ok },
	});
}

static const struct state_ops state_ops = {
	.error = on_state,
	.kept = on_kept,
};

/*
 * Writes the table to the disk. If out of memory, this function does nothing, and the state machine
 * asks again later.
 */
static void op_keep(void *io, const struct fm_msg *table)
{
	static const char no_thread[] = "no table is kept: no memory for the thread that writes";
	struct fabricd *d = io;
	const char *dir = config_state_dir(&d->config);

	if (!dir)
		return;
	keeper_open(d->keeper, dir);
	if (!d->state) {
		d->state = state_new(d->loop, dir, d->config.fm.fabric, &state_ops, d);
		if (!d->state)
			on_state(d, no_thread);
		else if (!strcmp(d->state_text, no_thread))
			on_state(d, "");
	}
	if (d->state)
		state_save(d->state, d->guid, table);
}

/* Reads the table that was kept before this start. */
static void load_state(struct fabricd *d, struct record_event *e, struct fm_msg *kept)
{
	const char *dir = config_state_dir(&d->config);
	char why[STATE_TEXT_MAX];
	int err;

	if (!dir)
		return;
	err = state_load(dir, d->config.fm.fabric, d->guid, kept, why);
	if (!err) {
		e->begin.kept = kept;
		e->begin.config.kept = &kept->table;
	} else if (err != -ENOENT) {
		on_state(d, why);
	}
}

static void op_arbitrate(void *io, uint64_t epoch, uint64_t guid)
{
	arbiter_ask(((struct fabricd *)io)->arbiter, epoch, guid);
}

static void on_answered(void *arg, const struct arbiter_answer *is)
{
	struct record_event e = {
		.kind = RECORD_ARBITER, .now = loop_now(),
		.arbiter = { .epoch = is->epoch, .verdict = is->verdict, .high = is->high },
	};

	snprintf(e.arbiter.why, sizeof(e.arbiter.why), "%s", is->why);
	machine_event(arg, &e);
}

static json_t *cable_end_json(const struct fabricd *d, uint32_t node, unsigned int port,
			      const char *name)
{
	return json_pack("{s:o, s:o, s:s}", "node", node_json(d, node), "port", port_json(d, port),
			 "name", name);
}

static void fabricd_event_with(struct fabricd *d, double time, const char *node,
			       enum fm_level level, const char *kind, const char *text,
			       const char *json);

/*
 * Passes the event @seq, which must be the newest, to the history and to the clients that follow
 * events.
 */
static void event_added(struct fabricd *d, uint64_t seq)
{
	const struct event_record *r = seq ? events_next(d->events, seq) : NULL;

	if (r)
		keeper_event(d->keeper, r);
	control_events(d->control);
}

/* Adds an event of kind link. Its node is the node at the end by which the cable is named. */
static void link_event(struct fabricd *d, const struct fm_log *log)
{
	const struct fm_link_change *l = log->link;
	json_t *j = cable_end_json(d, l->node, l->port, l->name);
	char node[TORUS_TEXT_MAX], *text;
	uint64_t seq;

	json_object_set_new(j, "peer", cable_end_json(d, l->peer, l->peer_port, l->peer_name));
	json_object_set_new(j, "state", json_string(l->up ? "up" : "lost"));
	json_object_set_new(j, "reason", l->reason ? json_string(l->reason) : json_null());
	json_object_set_new(j, "excluded", json_boolean(l->excluded));
	json_object_set_new(j, "version", json_integer((json_int_t)l->version));
	json_object_set_new(j, "was_for_ms", json_integer((json_int_t)(l->was_for / MS)));
	json_object_set_new(j, "at_least", json_boolean(l->at_least));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	log_line(log->level, log->kind, log->text);
	torus_node_text(fm_shape(d->fm), l->node, node);
	seq = events_add(d->events, loop_wall(), node, log->level, log->kind, log->text);
	if (text)
		events_link(d->events, seq, text);
	free(text);
	event_added(d, seq);
}

static void recovery_event(struct fabricd *d, const struct fm_log *log)
{
	const struct fm_recovery *r = log->recovery;
	uint64_t ns = r->at[FM_AT_RESUMED] - r->at[FM_AT_DETECTED];
	json_t *j = json_pack("{s:I, s:f, s:I, s:I, s:I}", "version", (json_int_t)r->version,
			      "duration_ms", (double)ns * 1e-6, "parked", (json_int_t)r->parked,
			      "replayed", (json_int_t)r->replayed, "lost", (json_int_t)r->lost);
	char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(j);
	meter_recovery(&d->meter, r);
	fabricd_event_with(d, loop_wall(), "", log->level, log->kind, log->text, text);
	free(text);
}

/*
 * Adds an event of a step of a recovery that goes on. It is not logged unless that is wanted,
 * because the end of the recovery is.
 */
static void step_event(struct fabricd *d, const struct fm_log *log)
{
	const struct fm_recovery *r = log->recovery;
	double ms = (double)(r->at[log->step] - r->at[FM_AT_DETECTED]) * 1e-6;
	json_t *j = json_pack("{s:I, s:s, s:s, s:f}", "version", (json_int_t)r->version, "cause",
			      r->cause, "step", fm_stamp_name(log->step), "ms", ms);
	char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));
	uint64_t seq;

	json_decref(j);
	log_line(log->level, log->kind, log->text);
	seq = events_add(d->events, loop_wall(), "", FM_INFO, log->kind, log->text);
	if (text)
		events_link(d->events, seq, text);
	free(text);
	event_added(d, seq);
}

/* Adds an event of kind admin. Its node is the node at the end by which the cable is named. */
static void order_event(struct fabricd *d, const struct fm_log *log)
{
	static const char *const names[] = {
		[FM_ORDERED_OUT] = "excluded", [FM_ORDERED_IN] = "included",
		[FM_ORDERED_OVER] = "over",
	};
	json_t *j = order_json(d, log->order->order, log->order->order->ports);
	char *text;

	json_object_set_new(j, "state", json_string(names[log->order->what]));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	fabricd_event_with(d, loop_wall(), "", log->level, log->kind, log->text, text);
	free(text);
}

/* Adds an event about another node, which only the root has found out. */
static void node_event(struct fabricd *d, const struct fm_log *log)
{
	char node[TORUS_TEXT_MAX];

	log_line(log->level, log->kind, log->text);
	d->meter.events[log->level]++;
	if (log->level == FM_DEBUG)
		return;
	torus_node_text(fm_shape(d->fm), log->node, node);
	event_added(d, events_add(d->events, loop_wall(), node, log->level, log->kind,
				  log->text));
}

static void op_log(void *io, const struct fm_log *log)
{
	struct fabricd *d = io;

	if (log->link && d->fm)
		link_event(d, log);
	else if (log->step)
		step_event(d, log);
	else if (log->recovery)
		recovery_event(d, log);
	else if (log->order && d->fm)
		order_event(d, log);
	else if (d->fm && log->node < torus_nodes(fm_shape(d->fm)) && log->node != fm_own(d->fm))
		node_event(d, log);
	else
		fabricd_event(d, loop_wall(), "", log->level, log->kind, log->text);
}

static const struct fm_ops ops = {
	.mgmt_send = op_mgmt_send,
	.root_set = op_root_set,
	.place_set = op_place_set,
	.rows_write = op_rows_write,
	.release = op_release,
	.count = op_count,
	.park_resolve = op_park_resolve,
	.park_replay = op_park_replay,
	.connect = op_connect,
	.send = op_send,
	.close = op_close,
	.arbitrate = op_arbitrate,
	.keep = op_keep,
	.log = op_log,
};

/* --- events ---------------------------------------------------------------- */

/* Copies as much of @from as fits; characters that the codec would refuse become '?'. */
static void put_text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
	for (; *to; to++)
		if (*to < ' ' || *to > '~')
			*to = '?';
}

/* Sends a warning of this node to the root, because users ask the root for events. */
static void report_warning(struct fabricd *d, double time, enum fm_level level, const char *kind,
			   const char *text)
{
	struct svc_msg m = { .type = SVC_EVENT,
			     .event = { .time = time, .level = (uint8_t)level } };

	put_text(m.event.node, sizeof(m.event.node), d->own);
	put_text(m.event.kind, sizeof(m.event.kind), kind);
	put_text(m.event.text, sizeof(m.event.text), text);
	query_send_all(d->query, &m);
}

/* As fabricd_event(), with details as JSON; @json: NULL: there are none. */
static void fabricd_event_with(struct fabricd *d, double time, const char *node,
			       enum fm_level level, const char *kind, const char *text,
			       const char *json)
{
	bool other = node[0] && strcmp(node, d->own);
	char line[FM_TEXT_MAX + TORUS_TEXT_MAX + 16];
	uint64_t seq;

	if (other) {
		snprintf(line, sizeof(line), "node %s: %s", node, text);
		log_line(level, kind, line);
	} else {
		log_line(level, kind, text);
	}
	d->meter.events[level]++;
	if (level == FM_DEBUG)
		return;
	seq = events_add(d->events, time, other ? node : "", level, kind, text);
	if (json)
		events_link(d->events, seq, json);
	event_added(d, seq);
	/*
	 * If the root got the event about the beginning of a problem, it also gets the event about
	 * the end. A port that is taken up ends what began when it was taken down.
	 */
	if (!other && d->own[0] && (level <= FM_WARNING || !strncmp(text, "over: ", 6) ||
				    !strcmp(kind, "admin")))
		report_warning(d, time, level, kind, text);
}

void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text)
{
	fabricd_event_with(d, time, node, level, kind, text, NULL);
}

/* --- events for the state machine ------------------------------------------ */

static void notify_systemd(struct fabricd *d)
{
	uint32_t up, nodes = fm_nodes(d->fm, &up);

	systemd_notify("STATUS=%s%s%s, table %llu, %u of %u nodes up", fm_state_name(d->reported),
		       d->own[0] ? ", node " : "", d->own, (unsigned long long)fm_version(d->fm),
		       up, nodes);
}

/*
 * The messages of a recovery, and the tables that are written to the disk and sent to candidates
 * after it, leave holes in the heap: a fifth of what the root of 1024 nodes has.
 */
static void on_trim_timer(void *arg)
{
	((struct fabricd *)arg)->trim_due = false;
	malloc_trim(0);
}

static void trim_later(struct fabricd *d)
{
	if (d->trim_due)
		return;
	d->trim_due = true;
	loop_timer_set(d->trim_timer, loop_now() + TRIM_AFTER);
}

/*
 * Called after each event. fm_state() examines the whole table, so this function calls it only if
 * the outline has changed.
 */
static void update_outline(struct fabricd *d)
{
	struct fm_outline o;
	enum fm_state state;

	if (!d->fm)
		return;
	loop_timer_set(d->fm_timer, fm_expiry(d->fm));
	meter_root(&d->meter, fm_is_root(d->fm));
	fm_outline(d->fm, &o);
	if (!memcmp(&o, &d->outline, sizeof(o)))
		return;
	d->outline = o;
	trim_later(d);
	if (errors_table(d))
		lines_changed(d);
	lines_again(d);
	keeper_changed(d->keeper);
	if (o.own != TORUS_NO_NODE)
		torus_node_text(fm_shape(d->fm), o.own, d->own);
	state = fm_state(d->fm);
	if (state != d->reported) {
		d->reported = state;
		notify_systemd(d);
	}
}

int machine_event(struct fabricd *d, const struct record_event *e)
{
	int err;

	if (!d->fm)
		return -ENODEV;
	recorder_event(d->recorder, e);
	err = record_event_play(e, d->fm);
	update_outline(d);
	answer_look(d);
	return err;
}

/* --- sealed management packets ---------------------------------------------------- */

#define REFUSED_EVERY (10000 * MS)	/* least time between two events about refused packets */

static void sealed_send(void *arg, unsigned int port, const void *data, size_t len)
{
	nic_mgmt_send(((struct fabricd *)arg)->nic, port, data, len);
}

static void receive_sealed(void *arg, unsigned int port, const void *data, size_t len)
{
	machine_event(arg, &(struct record_event) {
		.kind = RECORD_MGMT, .now = loop_now(), .mgmt = { port, data, len },
	});
}

static void sealed_refused(void *arg, unsigned int port)
{
	struct fabricd *d = arg;
	char text[FM_TEXT_MAX];

	d->refused_at = loop_now();
	d->refused_port = port;
	if (d->refused_reported && d->refused_at < d->refused_reported + REFUSED_EVERY)
		return;
	d->refused_reported = d->refused_at;
	fabricd_refused_text(d, text, sizeof(text));
	fabricd_event(d, loop_wall(), "", FM_WARNING, "seal", text);
}

static const struct seal_ops seal_ops = {
	.send = sealed_send,
	.received = receive_sealed,
	.refused = sealed_refused,
};

static int seal_begin(struct fabricd *d, const struct torus_device *dev,
		      const struct torus_link *links)
{
	seal_free(d->seal);
	d->seal = seal_new(&d->auth, dev->guid, &seal_ops, d);
	for (unsigned int i = 0; d->seal && i < dev->nports; i++)
		seal_link(d->seal, &links[i]);
	return d->seal ? 0 : -ENOMEM;
}

const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room)
{
	const struct torus_shape *shape = d->fm ? fm_shape(d->fm) : NULL;
	char port[TORUS_TEXT_MAX];

	/* While there is no shape, the name of a port is only its number. */
	if (shape && shape->ndims)
		torus_port_text(shape->ndims, d->refused_port, port);
	else
		snprintf(port, sizeof(port), "%u", d->refused_port);
	snprintf(buf, room,
		 "port %s%s%s: management packets without the seal of this fabric's key: "
		 "the neighbour there has another key or release, or is not of this fabric", port,
		 d->own[0] ? " of node " : "", d->own);
	return buf;
}

/* --- callbacks of timers, NIC and service network ---------------------------------- */

static void on_fm_timer(void *arg)
{
	machine_event(arg, &(struct record_event) { .kind = RECORD_TIMER, .now = loop_now() });
	stall_due(arg);
}

/* Passes the time of day to the state machine. A clock before 1970 counts as not set. */
static void on_clock(void *arg)
{
	double wall = loop_wall();

	machine_event(arg, &(struct record_event) {
		.kind = RECORD_CLOCK, .now = loop_now(), .wall = wall > 0 ? (uint64_t)wall : 0,
	});
}

/* Ends the problem that the NIC is gone, because a NIC was found. */
static void report_found(struct fabricd *d)
{
	char text[sizeof(d->nic_gone) + 8];

	if (!d->nic_gone[0])
		return;
	snprintf(text, sizeof(text), "over: %s", d->nic_gone);
	d->nic_gone[0] = '\0';
	fabricd_event(d, loop_wall(), "", FM_INFO, "nic", text);
}

static void on_found(void *arg, const struct torus_device *dev,
		     const struct torus_link *links, const struct torus_park *park,
		     const uint64_t *rows)
{
	struct fabricd *d = arg;
	struct record_event e = {
		.kind = RECORD_BEGIN,
		.now = loop_now(),
		.begin = { .config = d->config.fm,
			   .dev = *dev,
			   .links = links,
			   .park = *park,
			   .rows = rows },
	};
	struct fm_config *c = &e.begin.config;
	struct fm_msg kept = { .type = FM_MSG_PING };
	const struct fm_ops *use;
	void *io = d;

	d->nic_text[0] = '\0';
	d->guid = dev->guid;
	if (getrandom(&c->seed, sizeof(c->seed), 0) != sizeof(c->seed))
		c->seed = loop_now();
	d->reported = FM_STATES;
	d->outline = (struct fm_outline) { .version = UINT64_MAX };	/* a value that no
									 * outline has */
	c->keeps = config_state_dir(&d->config);
	load_state(d, &e, &kept);
	keeper_resume(d->keeper, config_state_dir(&d->config));
	recorder_event(d->recorder, &e);
	use = recorder_tap(d->recorder, &ops, &io);
	if (!seal_begin(d, dev, links))
		d->fm = fm_new(c, use, io, dev, links, park, rows, e.now);
	fm_msg_clear(&kept);
	if (!d->fm) {
		log_error("nic", "out of memory for %u nodes", torus_nodes(&dev->shape));
		nic_give_up(d->nic);
		return;
	}
	on_clock(d);
	lines_begin(d);
	errors_begin(d);
	update_outline(d);
	d->nports = dev->nports;
	for (unsigned int i = 0; i < dev->nports; i++)
		line_note(d, &links[i]);
	report_found(d);
}

static void on_gone(void *arg, const char *why)
{
	struct fabricd *d = arg;

	snprintf(d->nic_text, sizeof(d->nic_text), "the NIC is gone from node '%s': %s",
		 d->config.fm.name, why);
	memcpy(d->nic_gone, d->nic_text, sizeof(d->nic_gone));
	/* while the connections still exist, so that the root knows more than that they closed */
	fabricd_event(d, loop_wall(), "", FM_ERROR, "nic", d->nic_text);
	errors_gone(d);
	machine_event(d, &(struct record_event) { .kind = RECORD_GONE, .now = loop_now() });
	machine_stop(d);
	tester_gone(d->tester);
	systemd_notify("STATUS=waiting for the NIC: %s", why);
}

static void on_absent(void *arg, const char *why)
{
	struct fabricd *d = arg;

	snprintf(d->nic_text, sizeof(d->nic_text), "%s", why);
	fabricd_event(d, loop_wall(), "", FM_WARNING, "nic", why);
	systemd_notify("STATUS=waiting for the NIC: %s", why);
}

static void on_link(void *arg, const struct torus_link *link)
{
	struct record_event e = { .kind = RECORD_LINK, .now = loop_now(), .link = *link };
	struct fabricd *d = arg;

	if (d->seal)
		seal_link(d->seal, link);
	tester_link(d->tester, link);
	if (link->port == d->refused_port && link->state != TORUS_LINK_UP &&
	    link->state != TORUS_LINK_RETRAINING)
		/* the neighbour that sent the refused packets may be gone */
		d->refused_at = 0;
	if (machine_event(arg, &e) != -ENODEV)
		line_note(arg, link);
}

static void on_mgmt(void *arg, unsigned int port, const void *data, size_t len)
{
	struct fabricd *d = arg;

	if (d->seal && !tester_receive(d->tester, port, data, len))
		seal_receive(d->seal, port, data, len);
}

static void on_park(void *arg, const struct torus_park *park)
{
	machine_event(arg, &(struct record_event) {
		.kind = RECORD_PARK, .now = loop_now(), .park = *park,
	});
}

static void on_done(void *arg, uint32_t tag, int err, const struct torus_park *park, uint64_t lost)
{
	struct record_event e = {
		.kind = RECORD_DONE, .now = loop_now(), .done = { .tag = tag, .err = err },
	};

	if (park) {
		e.done.has_counts = true;
		e.done.counts = (struct fm_counts) { *park, lost };
	}
	machine_event(arg, &e);
}

static void on_links(void *arg, const struct torus_link *links, unsigned int n)
{
	if (errors_read(arg, links, n))
		lines_changed(arg);
	lines_read(arg, links, n);
	stall_read(arg, links, n);
}

static const struct nic_ops nic_ops = {
	.found = on_found,
	.gone = on_gone,
	.absent = on_absent,
	.link = on_link,
	.mgmt = on_mgmt,
	.park = on_park,
	.done = on_done,
	.links = on_links,
};

static void on_up(void *arg, int conn)
{
	struct record_event e = { .kind = RECORD_UP, .now = loop_now(), .conn = conn };

	if (machine_event(arg, &e) == -ENODEV)
		svc_close(((struct fabricd *)arg)->svc, conn);
}

static void on_down(void *arg, int conn)
{
	struct record_event e = { .kind = RECORD_DOWN, .now = loop_now(), .conn = conn };

	query_conn_down(((struct fabricd *)arg)->query, conn);
	machine_event(arg, &e);
}

static void on_msg(void *arg, int conn, const struct svc_msg *msg)
{
	struct fabricd *d = arg;

	if (msg->type == SVC_FM)
		machine_event(d, &(struct record_event) {
			.kind = RECORD_MSG, .now = loop_now(),
			.msg = { conn, (struct fm_msg *)&msg->fm },
		});
	else
		query_msg(d->query, conn, msg);
}

static const struct svc_ops svc_ops = {
	.up = on_up,
	.down = on_down,
	.msg = on_msg,
};

int machine_start(struct fabricd *d)
{
	const struct fm_config *c = &d->config.fm;
	struct svc_config sc = {
		.address = c->address,
		.user_timeout_ms = (unsigned int)(3 * c->keepalive / MS),
		.oldest = schema_oldest,
		.newest = schema_newest,
		.auth = &d->auth,
	};
	int err;

	d->keeper = keeper_new(d);
	d->fm_timer = loop_timer_new(d->loop, on_fm_timer, d);
	d->trim_timer = loop_timer_new(d->loop, on_trim_timer, d);
	d->wall = wall_new(d->loop, on_clock, d);
	if (!d->wall)
		log_warning("service",
			    "the kernel cannot notify this manager when the clock is set");
	d->tester = tester_new(d);
	d->plugs = plugs_new(d->loop);
	if (!d->keeper || !d->fm_timer || !d->trim_timer || !d->tester || !d->plugs ||
	    lines_start(d) || stall_start(d) || errors_start(d))
		return -ENOMEM;
	if (c->arbiter)
		d->arbiter = arbiter_new(d->loop, d->config.arbiter, c->fabric,
					 d->config.arbiter_max, on_answered, d);
	if (c->arbiter && !d->arbiter)
		return -ENOMEM;
	d->svc = svc_new(d->loop, &sc, &svc_ops, d, &err);
	if (!d->svc) {
		log_error("service", "cannot listen on service_address %s: %s", c->address,
			  strerror(-err));
		return err;
	}
	d->nic = nic_new(d->loop, d->config.device, c->member_max, &nic_ops, d);
	return d->nic ? 0 : -ENOMEM;
}

void machine_stop(struct fabricd *d)
{
	if (d->svc)
		svc_reset(d->svc);
	if (d->query)
		query_reset(d->query);
	if (d->fm)
		recorder_event(d->recorder,
			       &(struct record_event) { .kind = RECORD_END, .now = loop_now() });
	fm_free(d->fm);
	d->fm = NULL;
	seal_free(d->seal);
	d->seal = NULL;
	if (d->fm_timer)
		loop_timer_set(d->fm_timer, LOOP_NEVER);
}
