// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "number.h"
#include "output.h"
#include "table.h"

#define FORMAT		"torus-links-errors-1"
#define FLIT_BITS	128
#define FAIL_BER	1e-7	/* default of fail_ber; earlier releases do not send theirs */

/** struct count - counters of a receiver */
struct count {
	uint64_t errors, lost, bits, epoch;
};

/*
 * The flit counters do not count packets without a sequence number, so one flit is added for each
 * frame (daemon/errors.c).
 */
static struct count count_of(const json_t *l)
{
	return (struct count) {
		.errors = json_count(l, "crc_errors") + json_count(l, "malformed"),
		.lost = json_count(l, "seq_errors"),
		.bits = FLIT_BITS * (json_count(l, "rx_flits") + json_count(l, "rx_frames")),
		.epoch = json_count(l, "epoch"),
	};
}

/* --- a baseline ------------------------------------------------------------ */

int errors_save(const json_t *links, const char *file)
{
	json_t *of = json_object(), *all;
	char name[TORUS_TEXT_MAX];
	int status = 0;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		struct count c = count_of(v);

		json_object_set_new(of, json_end_text(v, name),
				    json_pack("{sI sI sI sI}", "errors", (json_int_t)c.errors,
					      "lost", (json_int_t)c.lost,
					      "bits", (json_int_t)c.bits,
					      "epoch", (json_int_t)c.epoch));
	}
	all = json_pack("{ss so}", "format", FORMAT, "links", of);
	if (json_dump_file(all, file, JSON_INDENT(1)))
		status = fail("%s: %s", file, strerror(errno));
	json_decref(all);
	return status;
}

json_t *errors_load(const char *file)
{
	json_error_t why;
	json_t *all = json_load_file(file, JSON_REJECT_DUPLICATES, &why);
	const char *format = json_text(all, "format");

	if (all && format && !strcmp(format, FORMAT) &&
	    json_is_object(json_object_get(all, "links")))
		return all;
	if (all)
		fail("%s: it is not a baseline; 'links --errors --save' writes one", file);
	else
		fail("%s: %s; 'links --errors --save' writes a baseline", file, why.text);
	json_decref(all);
	return NULL;
}

/*
 * Subtracts the counts of the baseline from @c. Return: false if the counters were reset meanwhile,
 * or the receiver is not in the baseline; then @c is unchanged.
 */
static bool subtract_baseline(struct count *c, const json_t *l, const json_t *baseline)
{
	char name[TORUS_TEXT_MAX];
	const json_t *b = json_object_get(json_object_get(baseline, "links"),
					  json_end_text(l, name));
	struct count was = { json_count(b, "errors"), json_count(b, "lost"),
			     json_count(b, "bits"), json_count(b, "epoch") };

	if (!b || was.epoch != c->epoch || was.errors > c->errors || was.lost > c->lost ||
	    was.bits > c->bits)
		return false;
	c->errors -= was.errors;
	c->lost -= was.lost;
	c->bits -= was.bits;
	return true;
}

/* --- the list -------------------------------------------------------------- */

const char *errors_level(const json_t *link)
{
	const char *level = json_text(json_object_get(link, "quality"), "level");

	return level && strcmp(level, "good") ? level : NULL;
}

bool errors_only_slow(const json_t *quality)
{
	return json_is_true(json_object_get(quality, "slow")) &&
	       !json_is_true(json_object_get(quality, "worn")) && !json_count(quality, "errors");
}

static double per_bit(double errors, uint64_t bits)
{
	return bits ? errors / (double)bits : 0;
}

/*
 * A count n of random errors stands for (root(n + 1) - 1)^2 to (root(n + 1) + 1)^2 of them, in 95
 * of 100 cases: for none, up to 4.
 */
static json_t *link_errors_json(const json_t *l, const json_t *baseline)
{
	struct count c = count_of(l);
	bool since = !baseline || subtract_baseline(&c, l, baseline);
	double root = sqrt((double)c.errors + 1);
	const json_t *peer = json_object_get(l, "peer"), *q = json_object_get(l, "quality");

	return json_pack("{sO? sO? sO? sO? sO? sI sI sI sf sf sf sb sO?}",
			 "node", json_object_get(l, "node"), "port", json_object_get(l, "port"),
			 "name", json_object_get(l, "name"), "peer", peer, "state",
			 json_object_get(l, "state"), "errors", (json_int_t)c.errors,
			 "lost", (json_int_t)c.lost, "bits", (json_int_t)c.bits,
			 "ber", per_bit((double)c.errors, c.bits),
			 "ber_min", per_bit((root - 1) * (root - 1), c.bits),
			 "ber_max", per_bit((root + 1) * (root + 1), c.bits),
			 "restarted", !since, "quality", q);
}

static int level_rank(const json_t *e)
{
	const char *level = errors_level(e);

	return !level ? 0 : strcmp(level, "fail") ? 1 : 2;
}

/*
 * Compares by the judgement of the manager, then by the rate that is certain, then by the number of
 * errors.
 */
static int by_errors(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	double p = json_number_value(json_object_get(x, "ber_min"));
	double q = json_number_value(json_object_get(y, "ber_min"));
	int ranks = level_rank(y) - level_rank(x);
	uint64_t m = json_count(x, "errors"), n = json_count(y, "errors");

	if (ranks)
		return ranks;
	if (p < q || p > q)
		return p < q ? 1 : -1;
	return m < n ? 1 : m > n ? -1 : 0;
}

static bool has_peer(const json_t *l)
{
	return json_is_object(json_object_get(l, "peer"));
}

json_t *errors_list(const json_t *links, const json_t *baseline, size_t top)
{
	size_t n = 0, i, room = json_array_size(links);
	json_t **e = calloc(room ? room : 1, sizeof(json_t *)), *list = json_array(), *v;

	json_array_foreach(links, i, v)
		if (e && has_peer(v))
			e[n++] = link_errors_json(v, baseline);
	if (n)
		qsort(e, n, sizeof(json_t *), by_errors);
	for (i = 0; i < n; i++) {
		if (!top || i < top)
			json_array_append(list, e[i]);
		json_decref(e[i]);
	}
	free(e);
	return list;
}

/* --- for people ------------------------------------------------------------ */

/* Writes the rate, such as "3.2e-07", or, if there was no error, the upper limit of the rate. */
static void ber_cell(struct table *t, const json_t *e)
{
	uint64_t errors = json_count(e, "errors");
	double ber = json_number_value(json_object_get(e, errors ? "ber" : "ber_max"));

	if (ber > 0)
		table_cell(t, errors_level(e) ? BAD : errors ? DOUBTFUL : FAINT, "%s%.1e",
			   errors ? "" : "<", ber);
	else
		table_cell(t, FAINT, "-");
}

/*
 * Return: how the manager judges the link, for people; "-" if it counts as good only because it
 * has received so few bits that they would show no errors even if it were failing.
 */
static const char *judged_text(const json_t *e)
{
	const char *level = errors_level(e);
	double fail_ber = json_number_value(json_object_get(json_object_get(e, "quality"),
							    "fail_ber"));

	if (level)
		return level;
	return json_number_value(json_object_get(e, "ber_max")) <=
		       (fail_ber > 0 ? fail_ber : FAIL_BER) &&
	       json_count(e, "bits") ? "good" : "-";
}

static void range_cell(struct table *t, const json_t *e)
{
	double low = json_number_value(json_object_get(e, "ber_min"));
	double high = json_number_value(json_object_get(e, "ber_max"));

	if (json_count(e, "errors") && high > 0)
		table_cell(t, PLAIN, "%.1e to %.1e", low, high);
	else
		table_cell(t, FAINT, "-");
}

static void counter_cell(struct table *t, uint64_t n)
{
	char text[32];

	table_cell(t, n ? DOUBTFUL : FAINT, "%s", count_text(n, text));
}

void errors_show(const json_t *list)
{
	static const char *const titles[] = { "RECEIVER", "FROM", "JUDGED", ">ERRORS", ">?LOST",
					      ">BITS", ">MEASURED BER", "?95 OF 100", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	bool restarted = false;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		bool again = json_is_true(json_object_get(v, "restarted"));

		restarted |= again;
		table_cell(t, PLAIN, "%s%s", json_end_text(v, text), again ? "*" : "");
		table_cell(t, PLAIN, "%s", json_end_text(json_object_get(v, "peer"), text));
		table_cell(t, errors_level(v) ? BAD : FAINT, "%s", judged_text(v));
		counter_cell(t, json_count(v, "errors"));
		counter_cell(t, json_count(v, "lost"));
		table_cell(t, PLAIN, "%.2g", (double)json_count(v, "bits"));
		ber_cell(t, v);
		range_cell(t, v);
	}
	table_print(t, "no links");
	if (restarted)
		printf("* not in the baseline, or the NIC has restarted since: these count from "
		       "its beginning\n");
}
