// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <torus/torus.h>

#include "errors.h"
#include "json.h"
#include "lib/util/times.h"
#include "local.h"
#include "number.h"
#include "output.h"
#include "show.h"
#include "table.h"
#include "wave.h"

static bool all, bad, local, with_errors;
static const char *since, *save;
static uint64_t top;
static json_t *baseline;
static int found;	/* the exit status of --bad and --errors, or of --save after an error */

static bool is_fine(const json_t *l)
{
	const char *state = json_text(l, "state");

	return state && !strcmp(state, "up") && !json_text(l, "excluded");
}

/* Return: true if the link is not fine. A port in a dimension of one node needs no link. */
static bool is_bad(const json_t *l)
{
	const char *lower = json_text(l, "lower");

	return !is_fine(l) && (json_is_object(json_object_get(l, "peer")) || (lower && *lower));
}

static bool is_end_up(const json_t *l)
{
	const char *state = json_text(l, "state");

	return state && !strcmp(state, "up");
}

/*
 * Return: true if the receiver uses fewer lanes, a lower rate or less margin than it should, or
 * counts too many errors.
 */
static bool needs_attention(const json_t *l)
{
	if (is_end_up(l) && errors_level(l))
		return true;
	return is_end_up(l) && json_count(l, "lanes") &&
	       (json_count(l, "width") < json_count(l, "lanes") ||
		json_count(l, "rate") < json_count(l, "rate_max") ||
		json_count(l, "margin") < json_count(l, "margin_train"));
}

static bool is_shown(const json_t *l)
{
	return is_bad(l) || needs_attention(l);
}

/* Return: true if the link is only excluded by an administrator, or reduced: a warning. */
static bool is_warning(const json_t *l)
{
	const char *why = json_text(l, "excluded");

	return is_end_up(l) && (!why || !strcmp(why, "admin"));
}

static uint64_t count_errors(const json_t *l)
{
	return json_count(l, "crc_errors") + json_count(l, "seq_errors") +
		json_count(l, "malformed");
}

/*
 * Return: why the link is not up: the parameter that differs with both values, or the reason; NULL
 * if it is not known
 */
static const char *why_down(const json_t *l, char *buf, size_t room)
{
	const json_t *differs = json_object_get(l, "differs");
	const char *what = json_text(differs, "parameter"), *reason = json_text(l, "reason");

	if (!what)
		return reason;
	snprintf(buf, room, "%s: %s=%s, peer %s", table_or_dash(reason), what,
		 table_or_dash(json_text(differs, "own")),
		 table_or_dash(json_text(differs, "peer")));
	return buf;
}

static void state_cell(struct table *t, const json_t *l)
{
	char text[2 * TORUS_TEXT_MAX];
	const char *state = table_or_dash(json_text(l, "state"));
	const char *why = why_down(l, text, sizeof(text));
	bool tell = strcmp(state, "up") && why && strcmp(why, "none");
	unsigned long long waited_s = json_count(l, "waited") / SEC;

	if (is_fine(l) && waited_s) {
		table_cell(t, DOUBTFUL, "%s (waits %llu s)", state, waited_s);
		return;
	}
	table_cell(t, is_fine(l) ? GOOD : is_bad(l) ? BAD : FAINT, "%s%s%s%s", state,
		   tell ? " (" : "", tell ? why : "", tell ? ")" : "");
}

/* Prints where the cable ends, and, if that is wrong, where it should end. */
static void peer_cell(struct table *t, const json_t *l)
{
	const json_t *peer = json_object_get(l, "peer"), *due = json_object_get(l, "expected");
	char text[TORUS_TEXT_MAX], wanted[TORUS_TEXT_MAX];

	json_end_text(peer, text);
	json_end_text(due, wanted);
	if (json_is_null(json_object_get(peer, "node")) && json_text(peer, "guid") &&
	    json_text(peer, "port"))
		snprintf(text, sizeof(text), "%.20s:%.8s", json_text(peer, "guid"),
			 json_text(peer, "port"));
	if (json_is_object(peer) && json_is_object(due) && strcmp(text, wanted))
		table_cell(t, BAD, "%s (expected %s)", text, wanted);
	else
		table_cell(t, PLAIN, "%s", text);
}

static void count_cell(struct table *t, uint64_t n)
{
	char text[32];

	table_cell(t, n ? DOUBTFUL : FAINT, "%s", count_text(n, text));
}

static void excluded_cell(struct table *t, const json_t *l)
{
	const char *why = table_or_dash(json_text(l, "excluded"));
	const json_t *ms = json_object_get(l, "held_ms");
	char left[32];

	if (json_is_number(ms) && !strcmp(why, "held"))
		table_cell(t, DOUBTFUL, "%s %s", why,
			   duration_text(json_number_value(ms) / 1e3, left));
	else if (json_count(l, "until"))
		table_cell(t, DOUBTFUL, "%s %s", why,
			   left_text((double)json_count(l, "until"), left));
	else
		table_cell(t, *why == '-' ? FAINT : DOUBTFUL, "%s", why);
}

/*
 * Prints the age and losses, which a manager of an earlier release leaves out of its short answer.
 */
static void age_cells(struct table *t, const json_t *l)
{
	const json_t *age = json_object_get(l, "state_age"), *downs = json_object_get(l, "downs");
	const json_t *lost = json_object_get(l, "lost_ms");
	char text[32];

	if (is_end_up(l) && json_is_integer(age))
		table_cell(t, PLAIN, "%s",
			   duration_text((double)json_integer_value(age) / (double)SEC, text));
	else if (!is_end_up(l) && json_is_number(lost))
		table_cell(t, BAD, "lost %s", duration_text(json_number_value(lost) / 1e3, text));
	else
		table_cell(t, FAINT, "-");
	if (json_is_integer(downs))
		count_cell(t, json_count(l, "downs"));
	else
		table_cell(t, FAINT, "-");
}

/* Marks values that are lower than the receiver can reach. */
static void serdes_cells(struct table *t, const json_t *l)
{
	unsigned long long lanes = json_count(l, "lanes"), width = json_count(l, "width");
	unsigned long long rate = json_count(l, "rate"), margin = json_count(l, "margin");

	if (!lanes || !is_end_up(l)) { /* values from before the link went down have no meaning */
		for (int i = 0; i < 3; i++)
			table_cell(t, FAINT, "-");
		return;
	}
	table_cell(t, width < lanes ? DOUBTFUL : FAINT, "%llu/%llu", width, lanes);
	table_cell(t, rate < json_count(l, "rate_max") ? DOUBTFUL : FAINT, "%llu", rate);
	table_cell(t, margin < json_count(l, "margin_train") ? DOUBTFUL : FAINT, "%llu%%", margin);
}

/* Prints a note that the figures of software NICs come from a model and were not measured. */
static void print_modelled(const json_t *links)
{
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v)
		if (json_is_object(json_object_get(v, "line"))) {
			printf("%slanes, rates and margins of software NICs are those of modelled "
			       "lines%s\n", paint(FAINT), paint(PLAIN));
			return;
		}
}

static void show_table(const json_t *links)
{
	static const char *const titles[] = { "LINK", "PEER", "STATE", ">UP FOR", ">?DOWNS",
					      "?EXCLUDED", ">?LANES", ">?MBIT/S", ">?MARGIN",
					      ">?RETRIES", ">?ERRORS", ">SENT", ">RECEIVED", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		table_cell(t, PLAIN, "%s", json_end_text(v, text));
		peer_cell(t, v);
		state_cell(t, v);
		age_cells(t, v);
		excluded_cell(t, v);
		serdes_cells(t, v);
		count_cell(t, json_count(v, "retries"));
		count_cell(t, count_errors(v));
		table_cell(t, PLAIN, "%s", bytes_text(json_count(v, "tx_bytes"), text));
		table_cell(t, PLAIN, "%s", bytes_text(json_count(v, "rx_bytes"), text));
	}
	table_print(t, bad ? "no link is bad" : "no links");
	print_modelled(links);
}

static void show_counters(const json_t *l, const struct torus_counter_desc *d, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned long long v = json_count(l, d[i].name);

		printf("  %s%-18s %16llu %-8s%s %s%s%s\n", v ? "" : paint(FAINT), d[i].name, v,
		       d[i].unit, v ? "" : paint(PLAIN), paint(FAINT), d[i].help, paint(PLAIN));
	}
}

/* Return: a bit error rate as text; 0 if below the resolution */
static const char *ber_text(double ber, char buf[16])
{
	snprintf(buf, 16, ber > 0 ? "%.1e" : "<1e-18", ber);
	return buf;
}

/* Return: the settings of the equaliser; "-": the driver of that NIC sets none. */
static const char *receiver_text(const json_t *lane, char buf[48])
{
	if (!json_is_integer(json_object_get(lane, "ctle")))
		return "-";
	snprintf(buf, 48, "%llu, %llu", (unsigned long long)json_count(lane, "ctle"),
		 (unsigned long long)json_count(lane, "dfe"));
	return buf;
}

static void show_lanes(const json_t *l)
{
	char ber[16], receiver[48];
	const json_t *line = json_object_get(l, "line");
	size_t i;
	json_t *v;

	if (json_is_object(line))
		printf("  modelled line: %llu cm, %llu mdB/m, crosstalk %llu, %lld degrees C, "
		       "drift %llu, ageing %llu mdB/s\n",
		       (unsigned long long)json_count(line, "length"),
		       (unsigned long long)json_count(line, "loss"),
		       (unsigned long long)json_count(line, "crosstalk"),
		       (long long)json_integer_value(json_object_get(line, "temperature")),
		       (unsigned long long)json_count(line, "drift"),
		       (unsigned long long)json_count(line, "ageing"));
	json_array_foreach(json_object_get(l, "lane"), i, v)
		printf("  lane %-2zu %-4s %5llu Mb/s  margin %4llu%%  ber %7s  taps %llu, "
		       "%llu  receiver %s  eye %llu mV, %llu mUI\n",
		       i, table_or_dash(json_text(v, "state")),
		       (unsigned long long)json_count(v, "rate"),
		       (unsigned long long)json_count(v, "margin"),
		       ber_text(json_number_value(json_object_get(v, "ber")), ber),
		       (unsigned long long)json_count(v, "pre"),
		       (unsigned long long)json_count(v, "post"), receiver_text(v, receiver),
		       (unsigned long long)json_count(v, "height"),
		       (unsigned long long)json_count(v, "width"));
}

/*
 * Prints how many errors an hour are expected, which is easier to judge than a rate of 1e-12. The
 * Angara paper calls that rate "several errors an hour"; on a line of 75 Gb/s it is 270.
 */
static void show_expected_errors(const json_t *l)
{
	double bits = (double)json_count(l, "rate") * 1e6 * (double)json_count(l, "width");
	double ber = (double)json_count(l, "line_ber");

	if (bits > 0)
		printf("  %s%.3g bit errors an hour expected on %llu lanes of %llu Mb/s\n",
		       ber > 0 ? "" : "fewer than ", (ber > 0 ? ber : 1) * 1e-18 * bits * 3600,
		       (unsigned long long)json_count(l, "width"),
		       (unsigned long long)json_count(l, "rate"));
}

static void show_all(const json_t *links)
{
	char link[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX], time[32], why[2 * TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const char *excluded = json_text(v, "excluded");

		printf("%s%s%s%s to %s: %s for %s, %s %s, admin %s, lower %s, session "
		       "%llu, retry %s (asked %s)%s%s%s\n",
		       i ? "\n" : "", paint(STRONG), json_end_text(v, link), paint(PLAIN),
		       json_end_text(json_object_get(v, "peer"), peer),
		       table_or_dash(json_text(v, "state")),
		       duration_text((double)json_count(v, "state_age") / (double)SEC, time),
		       is_end_up(v) ? "last reason" : "reason",
		       table_or_dash(is_end_up(v) ? json_text(v, "last_reason") :
						    why_down(v, why, sizeof(why))),
		       json_is_true(json_object_get(v, "admin")) ? "up" : "down",
		       table_or_dash(json_text(v, "lower")),
		       (unsigned long long)json_count(v, "session"),
		       table_or_dash(json_text(v, "retry")),
		       table_or_dash(json_text(v, "retry_wanted")),
		       json_is_true(json_object_get(v, "closed")) ? ", closed" : "",
		       excluded ? ", excluded: " : "", excluded ? excluded : "");
		show_counters(v, torus_port_counters, TORUS_PC_COUNT);
		show_counters(v, torus_port_gauges, TORUS_PG_COUNT);
		show_lanes(v);
		show_expected_errors(v);
	}
}

/*
 * Return: the counts of all receivers; a receiver that is judged bad sets the exit status to a
 * warning, as in a status.
 */
static json_t *pick_errors(const json_t *links)
{
	json_t *list = errors_list(links, baseline, top), *v;
	size_t i;

	found = save ? errors_save(links, save) : OK;
	json_array_foreach(list, i, v)
		if (found == OK && errors_level(v))
			found = NOT_KEPT;
	return list;
}

/* Return: the links to be shown: with --bad the bad ones, which set the exit status. */
static json_t *pick_links(const json_t *links)
{
	json_t *some = bad ? show_filter(links, is_shown) : json_incref((json_t *)links), *v;
	size_t i;

	found = OK;
	json_array_foreach(some, i, v)
		if (bad && found != PROBLEM)
			found = is_warning(v) ? NOT_KEPT : PROBLEM;
	return some;
}

static void show_links(const json_t *links)
{
	if (all)
		show_all(links);
	else
		show_table(links);
}

/* --- without a table ----------------------------------------------------------- */

/*
 * Return: the other end of the cable at a port, from the Init that arrived there, else from the
 * INIT of the link.
 */
static json_t *early_peer(const json_t *own, const json_t *port)
{
	const json_t *n = wave_neighbour(own, json_text(port, "port"));

	if (n)
		return json_pack("{sn sO? sO? sO? sO? sO?}", "node",
				 "position", json_object_get(n, "position"),
				 "port", json_object_get(n, "peer_port"),
				 "name", json_object_get(n, "name"),
				 "guid", json_object_get(n, "guid"),
				 "confirmed", json_object_get(n, "confirmed"));
	if (!json_text(port, "guid"))
		return json_null();
	return json_pack("{sn sn sO? sn sO sn}", "node", "position", "port",
			 json_object_get(port, "peer_port"), "name", "guid",
			 json_object_get(port, "guid"), "confirmed");
}

/* Return: an item for each port of this node. */
static json_t *all_early(const json_t *own)
{
	const json_t *wave = json_object_get(own, "wave");
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(json_object_get(wave, "ports"), i, v)
		if (json_text(v, "port"))
			json_array_append_new(list, json_pack("{sb sn sO? sO ss so sO? sO?}",
				"preliminary", 1, "node",
				"position", json_object_get(wave, "position"),
				"port", json_object_get(v, "port"),
				"state", json_is_true(json_object_get(v, "up")) ? "up" : "down",
				"peer", early_peer(own, v),
				"expected", json_object_get(v, "expected"),
				"fault", json_object_get(v, "fault")));
	return list;
}

static bool is_bad_early(const json_t *l)
{
	const char *state = json_text(l, "state");

	return json_text(l, "fault") ||
	       (json_is_object(json_object_get(l, "expected")) && state && strcmp(state, "up"));
}

static json_t *early_items(const json_t *own)
{
	json_t *list = all_early(own),
	       *some = bad ? show_filter(list, is_bad_early) : json_incref(list);

	json_decref(list);
	return some;
}

static void show_early(const json_t *links)
{
	static const char *const titles[] = { "LINK", "PEER", "NAME", "STATE", "EXPECTED", "GUID",
					      "CONTRADICTION", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const json_t *peer = json_object_get(v, "peer");
		const char *fault = json_text(v, "fault"),
			   *state = table_or_dash(json_text(v, "state"));

		table_cell(t, PLAIN, "%s", wave_end_text(v, text));
		table_cell(t, PLAIN, "%s", wave_end_text(peer, text));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(peer, "name")));
		table_cell(t, strcmp(state, "up") ? FAINT : GOOD, "%s", state);
		table_cell(t, PLAIN, "%s", wave_end_text(json_object_get(v, "expected"), text));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(peer, "guid")));
		table_cell(t, fault ? BAD : FAINT, "%s", table_or_dash(fault));
	}
	table_print(t, bad ? "no link is bad" : "no links");
}

static const struct show_early early = { early_items, show_early };

/* --- of a node that does not answer ---------------------------------------------- */

/* Adds the end of the cable at @port of @node that is at the other node. */
static int add_far_end(struct ask *a, const struct torus_shape *shape, uint32_t node,
		       unsigned int port, const json_t *question, json_t *list)
{
	uint32_t far = torus_neighbour(shape, node, port);
	json_t *q = json_copy((json_t *)question), *data, *v;
	char at[TORUS_TEXT_MAX], back[TORUS_TEXT_MAX];
	bool silent = false;
	size_t i;
	int status;

	json_object_del(q, "brief");	/* a manager of an earlier release does not know these
					 * members */
	json_object_del(q, "bad");
	json_object_del(q, "errors");
	json_object_set_new(q, "node", json_string(torus_node_text(shape, far, at)));
	torus_port_text(shape->ndims, torus_dir_opposite(shape, port), back);
	status = ask_sparing(a, q, &data, "unreachable", &silent);
	if (silent)
		return OK;
	if (status != OK)
		return status;
	json_array_foreach(data, i, v)
		if (json_text(v, "port") && !strcmp(json_text(v, "port"), back))
			json_array_append(list, v);
	json_decref(data);
	return OK;
}

/* Asks the neighbours of a node that does not answer for their ends of its cables. */
static int ask_neighbours(struct ask *a, const json_t *question, json_t **data)
{
	const char *text = json_text(question, "node");
	struct torus_shape shape;
	struct torus_coords at;
	int status = ask_shape(a, &shape);

	if (status == OK && (!text || torus_coords_parse(text, &shape, &at)))
		status = fail_as(UNREACHABLE, "node '%s' does not answer", text ? text : "?");
	*data = json_array();
	for (unsigned int p = 0; status == OK && p < 2u * shape.ndims; p++)
		if (shape.size[p % shape.ndims] > 1)
			status = add_far_end(a, &shape, torus_node_id(&shape, &at), p, question,
					     *data);
	if (status == OK && !json_array_size(*data))
		status = fail_as(UNREACHABLE, "node '%s' does not answer, nor do its neighbours",
				 text);
	if (status == OK)
		warn("node %s does not answer: these are its neighbours' ends of its cables", text);
	else
		json_decref(*data);
	a->missing = true;
	return status;
}

/* Asks for links. Lanes are most of the text, so with --bad they are asked for only by --all. */
static int ask_links(const struct ctl *ctl, const char *node)
{
	const char *want = with_errors ? "errors" : all || (ctl->json && !bad) ? "lanes" :
			   ctl->json ? NULL : "brief";
	bool few = bad && want && !strcmp(want, "brief");
	bool lanes = want && !strcmp(want, "lanes");
	json_t *question = json_pack("{ss}", "cmd", "links");

	if (want)
		json_object_set_new(question, want, json_true());
	if (bad)
		json_object_set_new(question, "bad", json_true());
	return show_nodes(ctl, question, node,
			  &(struct show_nodes) {
				.max = few ? ASK_BAD_MAX : lanes ? ASK_LANES_MAX : ASK_LINKS_MAX,
				.whole = ASK_LANES_MAX, .each = 2,
				.pick = with_errors ? pick_errors : pick_links,
				.show = with_errors ? errors_show : show_links,
				.early = with_errors ? NULL : &early, .instead = ask_neighbours });
}

/* Return: OK if the options can be combined. */
static int check_options(const struct ctl *ctl, int argc, char **argv)
{
	if (ctl->json && all && !bad && !with_errors)
		return fail("--json has all data: --all goes with it only together with --bad");
	if (local && argc)
		return fail("--local asks the NIC here: leave out '%s'", argv[0]);
	if (with_errors && (all || bad))
		return fail("--errors does not go with --%s", all ? "all" : "bad");
	if (!with_errors && (since || save || top))
		return fail("--%s needs --errors", since ? "since" : save ? "save" : "top");
	return OK;
}

static int cmd_links(struct ctl *ctl, int argc, char **argv)
{
	int status = check_options(ctl, argc, argv);

	if (status != OK)
		return status;
	found = OK;
	baseline = since ? errors_load(since) : NULL;
	if (since && !baseline)
		return CANNOT;
	if (local)
		status = local_show(ctl, local_links, with_errors ? pick_errors : pick_links,
				    with_errors ? errors_show : show_links);
	else
		status = ask_links(ctl, argc ? argv[0] : NULL);
	json_decref(baseline);
	return status == OK ? found : status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "all", 'a', NULL, &all, 0, 0,
	  "every counter, with what it means, and every lane" },
	{ OPT_FLAG, "bad", 'b', NULL, &bad, 0, 0,
	  "only links that are not up, excluded, or have fewer lanes" },
	{ OPT_FLAG, "errors", 'e', NULL, &with_errors, 0, 0, "bit errors of each receiver" },
	{ OPT_NUMBER, "top", 0, "N", &top, 1, 1000000, "with --errors: only the first N" },
	{ OPT_TEXT, "since", 0, "FILE", &since, 0, 0,
	  "with --errors: those since the baseline FILE" },
	{ OPT_TEXT, "save", 0, "FILE", &save, 0, 0, "with --errors: write a baseline" },
	{ OPT_FLAG, "local", 'l', NULL, &local, 0, 0,
	  "of the NIC of this host, without a manager" },
	{ .kind = OPT_END },
};

COMMAND(cmd_links) = {
	.name = "links",
	.args = "[NODE]",
	.brief = "The links: state, neighbour, retransmissions, errors",
	.help = "Both ends of a cable are shown, because each counts for itself.\n"
		"'waits': how long packets have waited for a free buffer at the peer.\n"
		"UP FOR: how long it has been up, or lost; DOWNS: how often the present root has\n"
		"seen it lost. Columns without a value are left out if the table is too wide for\n"
		"the screen.\n"
		"EXCLUDED: why no packet is routed over this link: admin (fabricctl exclude),\n"
		"fault, wiring (the cable leads to a wrong port), stall (taken down because the\n"
		"peer freed no buffer), or held (it fails again and again) with the time that is\n"
		"left. LANES: those in use, their rate, and the margin: how large the opening of\n"
		"the worst eye is, in percent of what a receiver needs; 'fabricctl link eye'\n"
		"draws it.\n"
		"While the fabric has no table yet: the ports of the node whose manager is\n"
		"asked, with the neighbour that is there, the end that is expected there, and\n"
		"what is wrong with the cable. Exit status 1.\n"
		"If NODE does not answer, its neighbours' ends of its cables are shown: exit\n"
		"status 1. --local asks the NIC of this host itself, or with --lab and --node\n"
		"that of a lab's node: it knows its neighbours by GUID only, and not what is\n"
		"excluded.\n"
		"With --bad: 1 if there are such links, 3 if all of them are up and only excluded\n"
		"by an administrator, have fewer lanes, a lower rate or less margin than they\n"
		"should, or are judged bad by their errors.\n"
		"With --errors: damaged packets by the bits received, for each direction. JUDGED\n"
		"is how the manager rates the latest errors, by the limits in fabricd.conf(5).\n"
		"LOST: frames that never arrived. The last two figures are bounds: the real error\n"
		"rate lies between them in 95 of 100 cases. Exit status 3 if one of the links\n"
		"shown is judged bad.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_links,
};
