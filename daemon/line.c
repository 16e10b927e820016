// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/fabricd.h"
#include "daemon/line.h"
#include "daemon/nic.h"
#include "daemon/query.h"

#define LINES_SOON	(20 * MS)	/* delay of a report, because several lines change at a
					 * time */
#define LINES_GAP	SEC		/* least time between two reports, because lines may go
					 * on changing */
#define LINES_EVERY	(10 * SEC)
#define LINES_OLD	(35 * SEC)
#define LINES_TIMES	3		/* how often a node reports that no line is degraded any
					 * more */

static uint64_t gauge_of(const struct torus_link *l, enum torus_port_gauge g)
{
	return l->gauge[g];
}

static bool has_full_speed(const struct torus_link *l)
{
	return gauge_of(l, TORUS_PG_WIDTH) == gauge_of(l, TORUS_PG_LANES) &&
	       gauge_of(l, TORUS_PG_RATE) == gauge_of(l, TORUS_PG_RATE_MAX);
}

static bool is_link_up(const struct torus_link *l)
{
	return l->state == TORUS_LINK_UP && gauge_of(l, TORUS_PG_LANES);
}

static bool is_reduced(const struct torus_link *l)
{
	return is_link_up(l) &&
	       (!has_full_speed(l) ||
		gauge_of(l, TORUS_PG_MARGIN) < gauge_of(l, TORUS_PG_MARGIN_TRAIN));
}

bool line_degraded(const struct fabricd *d, const struct torus_link *l)
{
	return is_reduced(l) || errors_bad(d, l);
}

static void report_line(struct fabricd *d, const struct torus_link *l)
{
	char port[TORUS_TEXT_MAX], text[FM_TEXT_MAX];
	bool placed = fm_own(d->fm) != TORUS_NO_NODE;

	snprintf(text, sizeof(text), "%sline %s%s%s: %llu of %llu lanes at %llu of %llu Mb/s, "
		 "margin %llu%%", has_full_speed(l) ? "over: " : "", d->own, *d->own ? ":" : "",
		 torus_port_text(placed ? fm_shape(d->fm)->ndims : d->nports / 2u, l->port, port),
		 (unsigned long long)gauge_of(l, TORUS_PG_WIDTH),
		 (unsigned long long)gauge_of(l, TORUS_PG_LANES),
		 (unsigned long long)gauge_of(l, TORUS_PG_RATE),
		 (unsigned long long)gauge_of(l, TORUS_PG_RATE_MAX),
		 (unsigned long long)gauge_of(l, TORUS_PG_MARGIN));
	fabricd_event(d, loop_wall(), "", has_full_speed(l) ? FM_INFO : FM_WARNING, "line", text);
}

/* --- reports to the root --------------------------------------------------- */

static void report_soon(struct fabricd *d)
{
	uint64_t at = loop_now() + LINES_SOON;

	if (d->lines.reported_at && d->lines.reported_at + LINES_GAP > at)
		at = d->lines.reported_at + LINES_GAP;
	loop_timer_set(d->lines.timer, at);
}

void lines_changed(struct fabricd *d)
{
	d->lines.again = LINES_TIMES;
	report_soon(d);
}

/*
 * Adds an event if the line has changed, or if it is still reduced when a lost link is up again: to
 * a reader of events, the loss of the link has ended what was reported of its line. A line that has
 * all lanes and its full rate from the start makes no event.
 */
void line_note(struct fabricd *d, const struct torus_link *l)
{
	struct line *was = &d->line[l->port];
	bool degraded = is_reduced(l), other;

	other = is_link_up(l) && (was->width != gauge_of(l, TORUS_PG_WIDTH) ||
				  was->rate != gauge_of(l, TORUS_PG_RATE));
	if (degraded != was->degraded || (degraded && other))
		lines_changed(d);
	was->degraded = degraded;
	if (!is_link_up(l)) {
		was->lost = was->lost || l->state != TORUS_LINK_RETRAINING;
		return;
	}
	if (!other && !(was->lost && !has_full_speed(l)))
		return;
	was->lost = false;
	if (was->width || !has_full_speed(l))
		report_line(d, l);
	was->width = gauge_of(l, TORUS_PG_WIDTH);
	was->rate = gauge_of(l, TORUS_PG_RATE);
}

void lines_begin(struct fabricd *d)
{
	memset(d->line, 0, sizeof(d->line));
	json_object_clear(d->lines.of);
	d->lines.again = LINES_TIMES;
}

/*
 * Sends a report soon. If there is no connection to the root, it is sent when this function is
 * called after the connection is up.
 */
void lines_again(struct fabricd *d)
{
	if (d->lines.again)
		report_soon(d);
}

static void report_lines(struct fabricd *d, json_t *links)
{
	struct svc_msg m = { .type = SVC_LINES, .lines = { .node = fm_own(d->fm) } };

	if (fm_is_root(d->fm)) {
		lines_take(d, fm_own(d->fm), links);
		return;
	}
	m.lines.links = json_dumps(links, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (m.lines.links)
		query_send_all(d->query, &m);
	free(m.lines.links);
}

static bool may_report(const struct fabricd *d)
{
	return d->fm && fm_reachable(d->fm) && fm_own(d->fm) != TORUS_NO_NODE;
}

static void set_lines_timer(struct fabricd *d)
{
	loop_timer_set(d->lines.timer,
		       d->lines.again ? loop_now() + LINES_EVERY : LOOP_NEVER);
}

void lines_read(struct fabricd *d, const struct torus_link *links, unsigned int n)
{
	json_t *list = NULL;

	if (d->lines.asked && may_report(d) && d->lines.again)
		list = links_json(d, links, n, (struct links_want) { .degraded = true });
	d->lines.asked = false;
	if (!list)
		return;
	d->lines.reported_at = loop_now();
	d->lines.again = json_array_size(list) ? LINES_TIMES : d->lines.again - 1;
	report_lines(d, list);
	json_decref(list);
	set_lines_timer(d);
}

/* Asks the NIC for its links; the report is sent when the NIC has answered, which may take long. */
static void on_lines_timer(void *arg)
{
	struct fabricd *d = arg;

	if (!d->fm)
		return;
	d->lines.asked = may_report(d);
	if (d->lines.asked)
		nic_links_get(d->nic);
	set_lines_timer(d);
}

/* --- the root's list ------------------------------------------------------- */

void lines_take(struct fabricd *d, uint32_t node, json_t *links)
{
	const struct fm_entry *e;
	char key[16];

	if (fm_own(d->fm) == TORUS_NO_NODE || node >= torus_nodes(fm_shape(d->fm)) ||
	    !json_is_array(links))
		return;
	e = fm_node(d->fm, node);
	errors_take(d, node, links);
	snprintf(key, sizeof(key), "%u", node);
	if (e && json_array_size(links))
		json_object_set_new(d->lines.of, key,
				    json_pack("{s:O, s:I, s:I, s:I}", "links", links,
					      "at", (json_int_t)loop_now(),
					      "guid", (json_int_t)e->guid,
					      "epoch", (json_int_t)e->epoch));
	else
		json_object_del(d->lines.of, key);
}

/* Return: true if the list is too old, or if the NIC that it is about was replaced or restarted. */
static bool is_report_old(const struct fm_entry *e, const json_t *of)
{
	uint64_t at = (uint64_t)json_integer_value(json_object_get(of, "at"));

	return !e || loop_now() - at > LINES_OLD ||
	       json_integer_value(json_object_get(of, "guid")) != (json_int_t)e->guid ||
	       json_integer_value(json_object_get(of, "epoch")) != (json_int_t)e->epoch;
}

json_t *lines_json(struct fabricd *d)
{
	json_t *list = json_array();
	const struct fm_entry *e;

	for (uint32_t i = 0; json_object_size(d->lines.of) && (e = fm_node(d->fm, i)); i++) {
		char key[16];
		json_t *of;

		snprintf(key, sizeof(key), "%u", i);
		of = json_object_get(d->lines.of, key);
		if (of && is_report_old(e, of))
			json_object_del(d->lines.of, key);
		else if (of && e->state == FM_NODE_UP)
			json_array_extend(list, json_object_get(of, "links"));
	}
	return list;
}

int lines_start(struct fabricd *d)
{
	d->lines.timer = loop_timer_new(d->loop, on_lines_timer, d);
	d->lines.of = json_object();
	return d->lines.timer && d->lines.of ? 0 : -ENOMEM;
}

void lines_stop(struct fabricd *d)
{
	loop_timer_free(d->lines.timer);
	json_decref(d->lines.of);
	d->lines = (struct lines){ .again = 0 };
}
