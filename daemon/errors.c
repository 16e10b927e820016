// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/errors.h"
#include "daemon/fabricd.h"
#include "daemon/nic.h"
#include "daemon/record.h"

#define READ_SOON	SEC
#define END_MAX		104	/* most bytes of a text with coordinates, port and name */
#define FLIT_BITS	128	/* torus_abi.h counts in flits of 16 bytes */
#define REASON		"bit errors: "

/* Writes the end of a cable into @buf, such as "2,1:+x ('n2-1')". */
static const char *name_end(const struct fabricd *d, uint32_t node, unsigned int port, char *buf,
			    size_t room)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	char at[TORUS_TEXT_MAX], dir[TORUS_TEXT_MAX];
	const struct fm_entry *e = fm_node(d->fm, node);

	torus_port_text(shape->ndims, port, dir);
	if (node == TORUS_NO_NODE)
		snprintf(buf, room, "a node without a place, port %.4s", dir);
	else
		snprintf(buf, room, "%.28s:%.4s ('%.63s')", torus_node_text(shape, node, at), dir,
			 e ? e->name : "");
	return buf;
}

/* --- on each node ----------------------------------------------------------- */

/*
 * The flit counters do not count management packets, acknowledgements and other packets without a
 * sequence number. Each received frame has at least one flit of them, so one flit is added for each
 * frame.
 */
static struct quality_sample sample_of(const struct torus_link *l)
{
	const uint64_t *c = l->counter;

	return (struct quality_sample) {
		.at = loop_now(), .session = l->session, .up = l->state == TORUS_LINK_UP,
		.bits = FLIT_BITS * (c[TORUS_PC_RX_FLITS] + c[TORUS_PC_RX_FRAMES]),
		.errors = c[TORUS_PC_CRC_ERRORS] + c[TORUS_PC_MALFORMED],
		.seconds = c[TORUS_PC_ERROR_SECONDS],
	};
}

static const char *advice_for(enum quality_level level)
{
	return level == QUALITY_FAIL ? "replace the cable" : "clean, reseat or replace it";
}

static void report_quality(struct fabricd *d, const struct torus_link *l, enum quality_level was)
{
	char here[END_MAX], there[END_MAX], text[FM_TEXT_MAX];
	const struct quality *q = &d->errors.port[l->port];
	struct quality_count c = quality_recent(q);

	name_end(d, fm_own(d->fm), l->port, here, sizeof(here));
	name_end(d, fm_node_by_guid(d->fm, l->peer_guid), l->peer_port, there, sizeof(there));
	if (q->level == QUALITY_GOOD)
		snprintf(text, sizeof(text), "over: %s receives well again from %s", here, there);
	else
		snprintf(text, sizeof(text),
			 "%s receives %s from %s: %llu errors in %.2g bits, bit "
			 "error rate %.1e: %s", here, q->level < was ? "less badly" : "badly",
			 there, (unsigned long long)c.errors, (double)c.bits, quality_ber(&c),
			 advice_for(q->level));
	fabricd_event(d, loop_wall(), "", q->level ? FM_WARNING : FM_INFO, "errors", text);
}

static uint32_t margin_of(const struct torus_link *l)
{
	return l->gauge[TORUS_PG_LANES] ? (uint32_t)l->gauge[TORUS_PG_MARGIN] : 0;
}

static void report_wear(struct fabricd *d, const struct torus_link *l)
{
	char here[END_MAX], there[END_MAX], text[FM_TEXT_MAX];
	const struct wear *w = &d->errors.wear[l->port];

	name_end(d, fm_own(d->fm), l->port, here, sizeof(here));
	name_end(d, fm_node_by_guid(d->fm, l->peer_guid), l->peer_port, there, sizeof(there));
	if (w->worn)
		snprintf(text, sizeof(text), "%s loses margin from %s: %u%%, was %.0f%%: replace "
			 "the cable soon", here, there, margin_of(l), w->usual);
	else
		snprintf(text, sizeof(text), "over: %s has its margin from %s again", here, there);
	fabricd_event(d, loop_wall(), "", w->worn ? FM_WARNING : FM_INFO, "errors", text);
}

static void report_slow(struct fabricd *d, const struct torus_link *l)
{
	char here[END_MAX], there[END_MAX], text[FM_TEXT_MAX];
	const struct slow *s = &d->errors.slow[l->port];

	name_end(d, fm_own(d->fm), l->port, here, sizeof(here));
	name_end(d, fm_node_by_guid(d->fm, l->peer_guid), l->peer_port, there, sizeof(there));
	if (s->slow)
		snprintf(text, sizeof(text), "%s has a slow cable to %s: the round trip takes "
			 "%.3g ms, elsewhere at most %.3g ms: replace it", here, there,
			 (double)s->trip / MS, (double)s->usual / MS);
	else
		snprintf(text, sizeof(text), "over: %s has a slow cable to %s no more: the round "
			 "trip takes %.3g ms", here, there, (double)s->trip / MS);
	fabricd_event(d, loop_wall(), "", s->slow ? FM_WARNING : FM_INFO, "errors", text);
}

static bool is_excluded_by_admin(const struct fabricd *d, unsigned int port)
{
	const char *why = fm_excluded(d->fm, fm_own(d->fm), port);

	return why && !strcmp(why, "admin");
}

static bool is_reported(const struct errors *e, unsigned int port)
{
	return e->port[port].level != QUALITY_GOOD || e->wear[port].worn || e->slow[port].slow;
}

/* Ends a report about a link, because it is judged from the beginning, for the reason @why. */
static void end_report(struct fabricd *d, unsigned int port, const char *what, const char *why)
{
	const struct errors_peer *peer = &d->errors.peer[port];
	char here[END_MAX], there[END_MAX], text[FM_TEXT_MAX];

	name_end(d, fm_own(d->fm), port, here, sizeof(here));
	name_end(d, fm_node_by_guid(d->fm, peer->guid), peer->port, there, sizeof(there));
	snprintf(text, sizeof(text), "over: %s %s %s: %s", here, what, there, why);
	fabricd_event(d, loop_wall(), "", FM_INFO, "errors", text);
}

static void end_slow(struct fabricd *d, unsigned int port, const char *why)
{
	if (d->errors.slow[port].slow)
		end_report(d, port, "has a slow cable to", why);
	d->errors.slow[port] = (struct slow) { .at = 0 };
}

static void end_wear(struct fabricd *d, unsigned int port, const char *why)
{
	if (d->errors.wear[port].worn)
		end_report(d, port, "has a margin from", why);
	d->errors.wear[port] = (struct wear) { .at = 0 };
}

/* Forgets all measurements of a link, and ends the reports about it. */
static void judge_anew(struct fabricd *d, unsigned int port, const char *why)
{
	if (d->errors.port[port].level != QUALITY_GOOD)
		end_report(d, port, "receives from", why);
	d->errors.port[port] = (struct quality) { .based = false };
	end_wear(d, port, why);
	end_slow(d, port, why);
}

/*
 * An administrator who includes a link has repaired it, so the link is judged from the beginning.
 * Return: true if the link was judged bad before.
 */
static bool note_included(struct fabricd *d, unsigned int port)
{
	struct errors *e = &d->errors;
	uint32_t bit = 1u << port;
	bool was;

	if (is_excluded_by_admin(d, port)) {
		e->out |= bit;
		return false;
	}
	if (!(e->out & bit))
		return false;
	was = is_reported(e, port);
	e->out &= ~bit;
	judge_anew(d, port, "the link was included and is judged anew");
	return was;
}

bool errors_table(struct fabricd *d)
{
	struct errors *e = &d->errors;
	bool changed = false;

	if (!d->fm || fm_own(d->fm) == TORUS_NO_NODE ||
	    (fm_version(d->fm) == e->version && fm_version_epoch(d->fm) == e->epoch))
		return false;
	e->version = fm_version(d->fm);
	e->epoch = fm_version_epoch(d->fm);
	for (unsigned int p = 0; p < 2u * fm_shape(d->fm)->ndims; p++)
		changed |= note_included(d, p);
	return changed;
}

/*
 * If the peer has changed, the port has another cable, whose wear is not known. Return: true if a
 * report about the former cable ended.
 */
static bool note_peer(struct fabricd *d, const struct torus_link *l)
{
	struct errors *e = &d->errors;
	bool was = e->wear[l->port].worn || e->slow[l->port].slow;

	if (l->state != TORUS_LINK_UP || (e->peer[l->port].guid == l->peer_guid &&
					  e->peer[l->port].port == l->peer_port))
		return false;
	end_wear(d, l->port, "the port has another peer and is judged anew");
	end_slow(d, l->port, "the port has another peer and is judged anew");
	e->peer[l->port] = (struct errors_peer) { .guid = l->peer_guid, .port = l->peer_port };
	return was;
}

static bool judge_margin(struct fabricd *d, const struct torus_link *l)
{
	if (note_peer(d, l))
		return true;
	if (l->state != TORUS_LINK_UP || !margin_of(l) ||
	    !wear_read(&d->errors.wear[l->port], loop_now(), l->session, margin_of(l),
		       d->config.quality.clean_for))
		return false;
	report_wear(d, l);
	return true;
}

/* Return: true if the link is judged bad or worn now and was not before, or the reverse. */
static bool judge_link(struct fabricd *d, const struct torus_link *l)
{
	struct quality *q = &d->errors.port[l->port];
	struct quality_sample s = sample_of(l);
	enum quality_level was = q->level;

	quality_read(q, &d->config.quality, &s);
	if (q->level != was)
		report_quality(d, l, was);
	return judge_margin(d, l) || q->level != was;
}

/*
 * Notes the round trips of all links, then judges those that have a new one, because each is
 * compared with the others. Return: true if a link has become slow, or is not slow any more.
 */
static bool judge_trips(struct fabricd *d, const struct torus_link *links, unsigned int n)
{
	struct slow *all = d->errors.slow;
	bool new[TORUS_MAX_PORTS] = { false }, changed = false;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct torus_link *l = &links[i];

		if (l->state != TORUS_LINK_UP)
			continue;
		if (all[l->port].slow && all[l->port].session != l->session) {
			end_slow(d, l->port, "the link was restarted and is judged anew");
			changed = true;
		}
		new[i] = slow_note(&all[l->port], loop_now(), l->session,
				   l->gauge[TORUS_PG_ROUND_TRIP]);
	}
	for (i = 0; i < n; i++) {
		if (!new[i] || !slow_judge(all, TORUS_MAX_PORTS, links[i].port, loop_now(),
					   d->config.round_trip_max))
			continue;
		report_slow(d, &links[i]);
		changed = true;
	}
	return changed;
}

bool errors_read(struct fabricd *d, const struct torus_link *links, unsigned int n)
{
	bool changed = false, soon = false;
	unsigned int i, ports;

	if (!d->fm || fm_own(d->fm) == TORUS_NO_NODE)
		return false;
	ports = 2u * fm_shape(d->fm)->ndims;
	for (i = 0; i < n && links[i].port < ports; i++)
		changed |= judge_link(d, &links[i]);
	n = i;
	changed |= judge_trips(d, links, n);
	for (i = 0; i < n; i++)
		soon |= quality_suspects(&d->errors.port[links[i].port]) ||
			slow_suspects(&d->errors.slow[links[i].port]);
	if (soon)
		loop_timer_set(d->errors.timer, loop_now() + READ_SOON);
	return changed;
}

static void on_errors_timer(void *arg)
{
	struct fabricd *d = arg;

	if (d->fm)
		nic_links_get(d->nic);
}

bool errors_bad(const struct fabricd *d, const struct torus_link *l)
{
	return l->state == TORUS_LINK_UP && is_reported(&d->errors, l->port);
}

json_t *errors_json(const struct fabricd *d, unsigned int port)
{
	const struct quality *q = &d->errors.port[port];
	const struct wear *w = &d->errors.wear[port];
	struct quality_count c = quality_recent(q);
	const struct slow *s = &d->errors.slow[port];
	enum quality_level level = q->level == QUALITY_GOOD && (w->worn || s->slow) ?
				   QUALITY_WARN : q->level;

	return json_pack("{s:s, s:b, s:f, s:b, s:f, s:f, s:I, s:I, s:f, s:f, s:f}", "level",
			 quality_level_name(level), "worn", w->worn, "usual_margin", w->usual,
			 "slow", s->slow, "round_trip_ms", (double)s->trip / MS,
			 "usual_round_trip_ms", (double)s->usual / MS,
			 "errors", (json_int_t)c.errors, "bits", (json_int_t)c.bits,
			 "ms", q->based ? (double)(loop_now() - c.at) * 1e-6 : 0.0,
			 "ber", quality_ber(&c), "fail_ber", d->config.quality.fail_ber);
}

void errors_gone(struct fabricd *d)
{
	if (!d->fm || fm_own(d->fm) == TORUS_NO_NODE)
		return;
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		judge_anew(d, p, "the NIC is gone");
}

void errors_begin(struct fabricd *d)
{
	memset(d->errors.port, 0, sizeof(d->errors.port));
	memset(d->errors.wear, 0, sizeof(d->errors.wear));
	memset(d->errors.slow, 0, sizeof(d->errors.slow));
	memset(d->errors.peer, 0, sizeof(d->errors.peer));
	d->errors.out = 0;
	d->errors.version = d->errors.epoch = 0;
	json_object_clear(d->errors.kept);
}

int errors_start(struct fabricd *d)
{
	d->errors.timer = loop_timer_new(d->loop, on_errors_timer, d);
	d->errors.kept = json_object();
	return d->errors.timer && d->errors.kept ? 0 : -ENOMEM;
}

void errors_stop(struct fabricd *d)
{
	loop_timer_free(d->errors.timer);
	json_decref(d->errors.kept);
	d->errors = (struct errors) { .out = 0 };
}

/* --- on the root ------------------------------------------------------------- */

static bool is_own_order(const struct fm_order *o)
{
	return !strncmp(o->reason, REASON, strlen(REASON));
}

/*
 * Counts the links that are excluded because they are bad. Orders are counted as soon as they are
 * given, because the table may contain them much later.
 */
static unsigned int count_out(const struct fabricd *d)
{
	const struct fm_order *o;
	unsigned int n = 0;

	for (uint32_t i = 0; (o = fm_order_given(d->fm, i)); i++)
		n += is_own_order(o) ? (unsigned int)__builtin_popcount(o->ports) : 0;
	return n;
}

/* Return: the reason why the link must not be excluded; NULL if it may be excluded. */
static const char *why_keep(const struct fabricd *d, uint32_t node, unsigned int port)
{
	struct fm_target end = { .node = node, .port = (int)port };
	struct fm_severed s = { .nodes = 0 };

	if (count_out(d) >= d->config.out_of_service)
		return "as many links as out_of_service allows are out of service already";
	if (fm_exclude_severs(d->fm, &end, 1, &s))
		return "the root cannot tell now what would be cut off";
	return s.nodes ? "without it a node would be cut off" :
	       s.job ? "without it a job would be divided" : NULL;
}

static void exclude_link(struct fabricd *d, uint32_t node, unsigned int port, double ber)
{
	struct record_event e = {
		.kind = RECORD_EXCLUDE, .now = loop_now(),
		.exclude = { .node = node, .port = (int)port, .on = true },
	};
	struct fm_order *o = &e.exclude.order;

	o->uid = SVC_NO_UID;
	o->since = (uint64_t)loop_wall();
	snprintf(o->reason, sizeof(o->reason), REASON "%.1e measured, more than fail_ber", ber);
	machine_event(d, &e);
}

/* Excludes a bad link. Return: true if the link must not be excluded. */
static bool take_out(struct fabricd *d, uint32_t node, unsigned int port, double ber, bool reported)
{
	char here[END_MAX], text[FM_TEXT_MAX];
	const char *why;

	if (fm_excluded(d->fm, node, port) || fm_exclusion_given(d->fm, node, port))
		return false;
	why = why_keep(d, node, port);
	name_end(d, node, port, here, sizeof(here));
	if (why)
		snprintf(text, sizeof(text), "%s is not taken out of service: %s", here, why);
	else
		snprintf(text, sizeof(text), "%s is taken out of service: replace its cable, then "
			 "'fabricctl include'", here);
	if (!why || !reported)
		fabricd_event(d, loop_wall(), "", FM_WARNING, "errors", text);
	if (!why)
		exclude_link(d, node, port, ber);
	return why;
}

void errors_take(struct fabricd *d, uint32_t node, const json_t *links)
{
	uint32_t reported, kept = 0;
	unsigned int port;
	char key[16];
	json_t *v;
	size_t i;

	if (!d->config.out_of_service || !fm_is_root(d->fm))
		return;
	snprintf(key, sizeof(key), "%u", node);
	reported = (uint32_t)json_integer_value(json_object_get(d->errors.kept, key));
	json_array_foreach(links, i, v) {
		const char *text = json_string_value(json_object_get(v, "port"));
		json_t *q = json_object_get(v, "quality");
		const char *level = json_string_value(json_object_get(q, "level"));

		/*
		 * A link that is excluded at the reporting node may be included and repaired
		 * meanwhile.
		 */
		if (!text || !level || strcmp(level, "fail") ||
		    json_is_string(json_object_get(v, "excluded")) ||
		    torus_port_parse(text, fm_shape(d->fm)->ndims, &port))
			continue;
		if (take_out(d, node, port, json_number_value(json_object_get(q, "ber")),
			     reported >> port & 1))
			kept |= 1u << port;
	}
	json_object_set_new(d->errors.kept, key, json_integer(kept));
}
