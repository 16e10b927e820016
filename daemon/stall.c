// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/fabricd.h"
#include "daemon/nic.h"
#include "daemon/query.h"
#include "daemon/question.h"
#include "daemon/record.h"
#include "daemon/stall.h"

#define TELL		SEC
#define READ_EVERY	(2 * SEC)
#define READ_IDLE	(8 * SEC)	/* longest time between two reads, while the NIC sends no
					 * packets */
#define TELL_EVERY	(30 * SEC)	/* least time between two reports; a report is repeated
					 * because the root may have missed one */
#define LOOK_EVERY	(2 * SEC)

static double in_seconds(uint64_t ns)
{
	return (double)ns * 1e-9;
}

static uint64_t waited_ns(const struct torus_link *l)
{
	return l->state == TORUS_LINK_UP ? l->gauge[TORUS_PG_WAITED] : 0;
}

static char *stall_end_text(const struct fabricd *d, uint32_t node, unsigned int port, char *buf,
			    size_t room)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	char at[TORUS_TEXT_MAX], dir[TORUS_TEXT_MAX];

	snprintf(buf, room, "%s:%s", torus_node_text(shape, node, at),
		 torus_port_text(shape->ndims, port, dir));
	return buf;
}

/* --- on each node ------------------------------------------------------------ */

void stall_due(struct fabricd *d)
{
	if (!d->fm || fm_own(d->fm) == TORUS_NO_NODE || loop_now() < d->stalls.read_at)
		return;
	d->stalls.read_at = loop_now() + READ_EVERY;
	nic_links_get(d->nic);
}

/*
 * Sets the time of the next read. While a NIC sends no packets, no packet waits for credits, so its
 * links are read less often, but often enough that the root finds the sink before a port is taken
 * down.
 */
static void pause_reading(struct fabricd *d, const struct torus_link *links, unsigned int n)
{
	uint64_t half = d->config.stall_max / 2, most = half && half < READ_IDLE ? half : READ_IDLE;
	struct stalls *s = &d->stalls;
	bool waits = false;
	uint64_t sent = 0;

	for (unsigned int i = 0; i < n; i++) {
		sent += links[i].counter[TORUS_PC_TX_PACKETS];
		waits |= links[i].gauge[TORUS_PG_WAITED] > 0;
	}
	s->pause = sent == s->sent && !waits && s->pause ? 2 * s->pause : READ_EVERY;
	if (s->pause > most)
		s->pause = most > READ_EVERY ? most : READ_EVERY;
	s->sent = sent;
	s->read_at = loop_now() + s->pause;
}

static void report_wait(struct fabricd *d, const struct torus_link *l)
{
	char here[2 * TORUS_TEXT_MAX], text[FM_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "%s has waited for %.1f s for a buffer of its neighbour",
		 stall_end_text(d, fm_own(d->fm), l->port, here, sizeof(here)),
		 in_seconds(waited_ns(l)));
	fabricd_event(d, loop_wall(), "", FM_WARNING, "stall", text);
	stall_hint(d);
}

/* Reports the link that has waited longest; the root then asks for all others. */
void stall_read(struct fabricd *d, const struct torus_link *links, unsigned int n)
{
	const struct torus_link *most = NULL;

	if (!d->fm || fm_own(d->fm) == TORUS_NO_NODE)
		return;
	pause_reading(d, links, n);
	for (unsigned int i = 0; i < n && i < 2u * fm_shape(d->fm)->ndims; i++)
		if (waited_ns(&links[i]) >= TELL &&
		    (!most || waited_ns(&links[i]) > waited_ns(most)))
			most = &links[i];
	if (!most) {
		d->stalls.reported_at = 0;
	} else if (!d->stalls.reported_at || loop_now() - d->stalls.reported_at >= TELL_EVERY) {
		d->stalls.reported_at = loop_now();
		report_wait(d, most);
	}
}

static json_t *reply_waits(struct question *q)
{
	unsigned int ports = 2u * fm_shape(q->d->fm)->ndims;
	json_t *list = json_array();

	for (unsigned int i = 0; i < q->n && i < ports; i++)
		if (waited_ns(&q->link[i]))
			json_array_append_new(list, json_pack("[i, I]", (int)q->link[i].port,
							      (json_int_t)waited_ns(&q->link[i])));
	return list;
}

const struct question_kind question_waits = { .run = question_links, .reply = reply_waits };

static bool begin_stalled(struct question *q, const json_t *cmd)
{
	json_int_t port = json_integer_value(json_object_get(cmd, "port"));
	json_int_t ns = json_integer_value(json_object_get(cmd, "waited"));

	if (port < 0 || port >= 2 * fm_shape(q->d->fm)->ndims || ns <= 0)
		return false;
	q->port = (unsigned int)port;
	q->ns = (uint64_t)ns;
	return true;
}

/*
 * Takes the port down if packets have waited as long as the root requires; then sets @up to false.
 */
static int run_stalled(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = question_links(nq, dev);

	q->up = true;
	for (unsigned int i = 0; !err && i < q->n; i++) {
		if (q->link[i].port != q->port || waited_ns(&q->link[i]) < q->ns)
			continue;
		q->ns = waited_ns(&q->link[i]);
		err = torus_admin_set(dev, q->port, false);
		q->up = err;
		break;
	}
	return err;
}

/* Passes the port to the state machine, which puts the reason into the port's row for all nodes. */
static void report_stalled(struct fabricd *d, unsigned int port)
{
	machine_event(d, &(struct record_event) { .kind = RECORD_STALLED, .now = loop_now(),
						  .stalled = { port, true } });
}

static json_t *reply_stalled(struct question *q)
{
	char here[2 * TORUS_TEXT_MAX], text[FM_TEXT_MAX];
	struct fabricd *d = q->d;

	if (q->up)
		return json_pack("{s:b}", "down", 0);
	report_stalled(d, q->port);
	snprintf(text, sizeof(text),
		 "%s is taken down: no packet was sent for %.1f s, because its neighbour returns "
		 "no credits",
		 stall_end_text(d, fm_own(d->fm), q->port, here, sizeof(here)), in_seconds(q->ns));
	fabricd_event(d, loop_wall(), "", FM_ERROR, "stall", text);
	return json_pack("{s:b}", "down", 1);
}

const struct question_kind question_stalled = {
	.begin = begin_stalled, .run = run_stalled, .reply = reply_stalled,
};

/* --- on the root ------------------------------------------------------------- */

static void forget_look(struct stalls *s)
{
	free(s->node);
	s->node = NULL;
	s->n = 0;
}

static bool is_stall_awaited(const struct fabricd *d, uint32_t node)
{
	const struct fm_entry *e = fm_node(d->fm, node);

	return e && e->state == FM_NODE_UP;
}

static int add_wait(struct stalls *s, const struct stall_wait *w)
{
	size_t room = s->room ? 2 * s->room : 64;
	struct stall_wait *more;

	if (s->n == s->room) {
		more = realloc(s->wait, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->wait = more;
		s->room = room;
	}
	s->wait[s->n++] = *w;
	return 0;
}

static void look_item(void *arg, uint32_t node, json_t *data)
{
	struct fabricd *d = arg;
	struct stalls *s = &d->stalls;
	json_t *v;
	size_t i;

	if (!d->fm || node >= s->nodes || s->node[node] || !json_is_array(data))
		return;
	s->node[node] = STALL_REPORTED;
	json_array_foreach(data, i, v) {
		json_int_t port = json_integer_value(json_array_get(v, 0));
		json_int_t ns = json_integer_value(json_array_get(v, 1));

		if (port < 0 || port >= 2 * fm_shape(d->fm)->ndims || ns <= 0)
			continue;
		if (add_wait(s, &(struct stall_wait) { .node = node, .port = (uint8_t)port,
						       .ns = (uint64_t)ns }))
			s->node[node] = 0;
	}
	if (is_stall_awaited(d, node) && s->left && !--s->left)
		query_enough(s->ask);
}

static void add_text(struct fabricd *d, const char *text)
{
	json_array_append_new(d->stalls.problems, json_string(text));
}

static const char *describe_sink(struct fabricd *d, const struct stall_wait *w, char *text,
				 size_t room)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	uint32_t sink = torus_neighbour(shape, w->node, w->port);
	const struct fm_entry *e = fm_node(d->fm, sink);
	char here[2 * TORUS_TEXT_MAX], there[TORUS_TEXT_MAX];

	snprintf(text, room, "node %s ('%.63s') returns no credits to %s for %.1f s and does not "
		 "wait itself: its NIC is broken, or its host takes no packets",
		 torus_node_text(shape, sink, there), e ? e->name : "",
		 stall_end_text(d, w->node, w->port, here, sizeof(here)), in_seconds(w->ns));
	return text;
}

/*
 * Called with the answer to an order to take a port down. If the node has not done so, a later walk
 * asks again.
 */
static void down_item(void *arg, uint32_t node, json_t *data)
{
	(void)arg;
	(void)node;
	(void)data;
}

static void down_end(void *arg)
{
	struct fabricd *d = arg;

	d->stalls.order = NULL;
}

static const struct query_done down_done = { .item = down_item, .end = down_end };

static void take_port_down(struct fabricd *d, const struct stall_wait *w)
{
	json_t *cmd = json_pack("{s:s, s:i, s:I}", "cmd", "stalled", "port", (int)w->port,
				"waited", (json_int_t)d->config.stall_max);

	d->stalls.order = query_ask(d->query, SVC_TO_NODE, w->node, cmd, &SVC_MANAGER,
				    QUERY_NODE_MS,
				    &down_done, d);
	json_decref(cmd);
}

static void judge_wait(struct fabricd *d, struct stall_wait *w)
{
	struct stalls *s = &d->stalls;
	const struct stall_wait *was = stall_same(s->before, s->nbefore, w);
	char here[2 * TORUS_TEXT_MAX], text[FM_TEXT_MAX];

	if (w->verdict == STALL_SILENT) {
		snprintf(text, sizeof(text),
				 "%s has waited for %.1f s for a node that does not report "
				 "whether it waits, too: no node can be named",
			 stall_end_text(d, w->node, w->port, here, sizeof(here)),
			 in_seconds(w->ns));
		add_text(d, text);
	}
	if (w->verdict != STALL_SINK || !was)
		return;
	w->seen = true;
	describe_sink(d, w, text, sizeof(text));
	add_text(d, text);
	if (!was->seen)
		fabricd_event(d, loop_wall(), "", FM_ERROR, "stall", text);
	if (d->config.stall_max && w->ns >= d->config.stall_max && !s->order)
		take_port_down(d, w);
}

/*
 * Examines all waiting links. Return: true if a link has waited so long that another walk is
 * needed.
 */
static bool judge_waits(struct fabricd *d)
{
	struct stalls *s = &d->stalls;
	unsigned int circle = 0;
	char text[FM_TEXT_MAX];
	bool any = false;

	json_array_clear(s->problems);
	for (size_t i = 0; i < s->n; i++) {
		if (s->wait[i].ns < TELL)
			continue;
		any = true;
		circle += s->wait[i].verdict == STALL_CIRCLE;
		judge_wait(d, &s->wait[i]);
	}
	if (circle) {
		snprintf(text, sizeof(text),
			 "%u links wait for each other in a circle: no node can be named", circle);
		add_text(d, text);
	}
	return any;
}

/* Moves the waits of this walk to @before, for the next walk. */
static void turn_waits(struct stalls *s)
{
	free(s->before);
	s->before = s->wait;
	s->nbefore = s->n;
	s->wait = NULL;
	s->room = 0;
	forget_look(s);
}

static void look_end(void *arg)
{
	struct fabricd *d = arg;
	struct stalls *s = &d->stalls;
	bool any = false;

	s->ask = NULL;
	if (d->fm && fm_is_root(d->fm) && torus_nodes(fm_shape(d->fm)) == s->nodes) {
		stall_walk(fm_shape(d->fm), s->node, s->wait, s->n);
		any = judge_waits(d);
	} else {
		json_array_clear(s->problems);
		s->n = 0;
	}
	turn_waits(s);
	loop_timer_set(s->timer, any ? loop_now() + LOOK_EVERY : LOOP_NEVER);
}

static const struct query_done look_done = { .item = look_item, .end = look_end };

void stall_hint(struct fabricd *d)
{
	struct stalls *s = &d->stalls;
	json_t *cmd;

	if (!d->fm || !fm_is_root(d->fm) || fm_own(d->fm) == TORUS_NO_NODE || s->ask)
		return;
	loop_timer_set(s->timer, loop_now() + LOOK_EVERY);
	s->nodes = torus_nodes(fm_shape(d->fm));
	s->node = calloc(s->nodes, 1);
	cmd = json_pack("{s:s}", "cmd", "waits");
	s->left = 0;
	for (uint32_t i = 0; i < s->nodes; i++)
		s->left += is_stall_awaited(d, i);
	if (s->node && cmd)
		s->ask = query_ask(d->query, SVC_TO_ALL, TORUS_NO_NODE, cmd, &SVC_MANAGER,
				    QUERY_NODE_MS,
				   &look_done, d);
	if (!s->ask)
		forget_look(s);
	json_decref(cmd);
}

static void on_stall_timer(void *arg)
{
	stall_hint(arg);
}

/*
 * Adds the problem of a port that was taken down because of a stall; each root finds such ports in
 * the table.
 */
static void add_down(struct fabricd *d, uint32_t node, unsigned int port, json_t *list)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	char here[2 * TORUS_TEXT_MAX], there[TORUS_TEXT_MAX], text[2 * FM_TEXT_MAX];

	snprintf(text, sizeof(text), "%s was taken down, because node %s returned no credits: "
		 "take it up again when that node is repaired",
		 stall_end_text(d, node, port, here, sizeof(here)),
		 torus_node_text(shape, torus_neighbour(shape, node, port), there));
	json_array_append_new(list, json_string(text));
}

json_t *stall_problems(struct fabricd *d)
{
	json_t *all = json_array();
	const struct fm_entry *e;

	if (!d->fm || !fm_is_root(d->fm))
		return all;
	json_array_extend(all, d->stalls.problems);
	for (uint32_t i = 0; (e = fm_node(d->fm, i)); i++)
		for (unsigned int p = 0; e->stalled && p < 2u * fm_shape(d->fm)->ndims; p++)
			if (e->stalled & 1u << p)
				add_down(d, i, p, all);
	return all;
}

int stall_start(struct fabricd *d)
{
	d->stalls.timer = loop_timer_new(d->loop, on_stall_timer, d);
	d->stalls.problems = json_array();
	return d->stalls.timer && d->stalls.problems ? 0 : -ENOMEM;
}

void stall_stop(struct fabricd *d)
{
	struct stalls *s = &d->stalls;

	if (s->ask)
		query_cancel(s->ask);
	if (s->order)
		query_cancel(s->order);
	forget_look(s);
	free(s->wait);
	free(s->before);
	json_decref(s->problems);
	loop_timer_free(s->timer);
	*s = (struct stalls) { .read_at = 0 };
}
