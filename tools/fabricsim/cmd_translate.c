// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim translate: the cost of translating an address, in the paper about bridges and here. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <torus/torus.h>

#include "plot.h"
#include "points.h"
#include "range.h"
#include "translate_paper.h"
#include "translate_time.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"
#include "tools/fabricctl/table.h"

#define COUNTED		"1,2,3,4,5,6,7,8,9,10,11,12,24,64"
#define TIMED		"1,4,12,16,64,1000,10000,100000,1000000"
#define COUNT_MAX	4096
#define TIME_MAX	1000000
#define PUT_SHORT	4080	/* most bytes of a put, without and with key */
#define PUT_KEYED	4064

static const char *entries_text;
static bool is_paper, is_time;

/* --- the paper ----------------------------------------------------------------- */

static const char *const cases[] = { "average", "minimum", "maximum" };

static double case_of(const struct translate_labour *l, int i)
{
	return i == 0 ? l->avg : i == 1 ? l->min : l->max;
}

/* Figures as printed, in the order of cases[]. */
static const struct {
	double ratio, before, after;
} printed[] = { { 1.77, 52, 29 }, { 1.3, 11, 9 }, { 1.43, 75, 52 } };

/* Notes on errors of the paper; the first ones follow from its own figures. */
static const char *const notes[] = {
	"The ratios are cut, not rounded: 1.776 is 1.78, and 1.439 is 1.44.",
	"Its 11 ns are 12: 49.107 operations, 4 a nanosecond, take 12.28 ns. "
	"The other times are cut.",
	"Average less minimum is 159.828 before and 79.914 after, exactly twice: "
	"the modification saves 11.4 operations once, and halves the search. "
	"So the ratio is between 1.302 (found at once) and 2 (long tables), "
	"and 1.776 is one point of that line.",
	"The maximum after equals the average before to the last digit; no reason is given.",
	"The graph, the probabilities and the operations of each step are not printed, "
	"so its operations cannot be derived again.",
	"Both programs search row by row. If the index is taken from the address once, "
	"they cost the same; only if it is taken for each row there is a gain "
	"(fabricsim translate).",
	"The index needs no new field: in this switch it is the bits of the address above "
	"the offset. What differs is an array against a search.",
	"Hardware compares all 12 rows at once, one cycle either way: "
	"the gain is that of a program.",
	"4 GFLOPS are a peak of floating point arithmetic; loads and branches are at most "
	"two a cycle, so the times are too short by a factor of two or more.",
	"Row 3 of table 1 is not aligned to the 64 KiB of table 2: the offset has to be added, "
	"and can carry. Rows have no length and no rights, nothing is said of overlaps, "
	"misses and reads.",
};

static json_t *labour_json(struct translate_labour l)
{
	return json_pack("{sf sf sf}", "avg", l.avg, "min", l.min, "max", l.max);
}

/* Addresses for tables 1 and 2; the last two have no row, or one that is not valid. */
static const struct {
	uint64_t index, high;
} asked[] = {
	{ 0x00001234, 0x01001234 }, { 0x00010000, 0x02000000 }, { 0x0002ffff, 0x0400ffff },
	{ 0x00035000, 0x05005000 }, { 0x00041234, 0x03001234 },
};

#define ASKED (sizeof(asked) / sizeof(asked[0]))

/* Translates by one of the tables. Return: what to print, in @buf. */
static const char *translated_text(enum translate_program program, uint64_t addr, char *buf,
			       size_t size)
{
	const struct translate_bridge b = { .by_table = true, .row = translate_tables, .n = 4 };
	uint64_t to, ops = 0;
	int err = translate_run(program, &b, addr, &to, &ops);

	if (err)
		return err == -ESTALE ? "not valid" : "no row";
	snprintf(buf, size, "0x%08" PRIx64, to);
	return buf;
}

static json_t *vectors_json(void)
{
	json_t *list = json_array();
	char buf[32];

	for (size_t i = 0; i < ASKED; i++) {
		for (int k = 0; k < 2; k++) {
			uint64_t addr = k ? asked[i].high : asked[i].index;
			char text[32];

			snprintf(text, sizeof(text), "0x%08" PRIx64, addr);
			json_array_append_new(list, json_pack("{si ss ss}", "table", k + 1,
				"address", text, "result", translated_text(
				k ? TRANSLATE_HIGH : TRANSLATE_INDEX, addr, buf, sizeof(buf))));
		}
	}
	return list;
}

static json_t *wire_json(void)
{
	static const unsigned int sizes[] = { 8, 64, 1024, PUT_KEYED, PUT_SHORT };
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		json_array_append_new(list, json_pack("{si si so}", "bytes", (int)sizes[i],
			"short", (int)translate_bytes(sizes[i], false), "keyed",
			sizes[i] > PUT_KEYED ? json_null() :
			json_integer(translate_bytes(sizes[i], true))));
	return list;
}

static json_t *paper_json(void)
{
	struct translate_labour before = translate_basic, after = translate_modified;
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		json_array_append_new(list, json_string(notes[i]));
	return json_pack("{so s{so so} s{so so} s{sf sf sf} so so so}",
			 "ratio", labour_json(translate_ratio(before, after)),
			 "ns", "before", labour_json(translate_ns(before)),
			 "after", labour_json(translate_ns(after)),
			 "operations", "before", labour_json(before), "after", labour_json(after),
			 "search", "saved_once", before.min - after.min,
			 "ratio_avg", (before.avg - before.min) / (after.avg - after.min),
			 "ratio_max", (before.max - before.min) / (after.max - after.min),
			 "vectors", vectors_json(), "wire", wire_json(), "notes", list);
}

static void print_figures(void)
{
	static const char *const titles[] = { "case", ">before", ">after", ">ratio", ">printed",
		">ns before", ">printed", ">ns after", ">printed", NULL };
	struct translate_labour before = translate_basic, after = translate_modified;
	struct translate_labour ratio = translate_ratio(before, after);
	struct translate_labour ns[] = { translate_ns(before), translate_ns(after) };
	struct table *t = table_new(titles);

	for (int i = 0; i < 3; i++) {
		table_cell(t, PLAIN, "%s", cases[i]);
		table_cell(t, PLAIN, "%.3f", case_of(&before, i));
		table_cell(t, PLAIN, "%.3f", case_of(&after, i));
		table_cell(t, STRONG, "%.3f", case_of(&ratio, i));
		table_cell(t, PLAIN, "%g", printed[i].ratio);
		table_cell(t, STRONG, "%.1f", case_of(&ns[0], i));
		table_cell(t, PLAIN, "%g", printed[i].before);
		table_cell(t, STRONG, "%.1f", case_of(&ns[1], i));
		table_cell(t, PLAIN, "%g", printed[i].after);
	}
	table_print(t, "");
}

static void print_vectors(void)
{
	static const char *const titles[] = { "by index", "table 1", "by high bits", "table 2",
		NULL };
	struct table *t = table_new(titles);
	char buf[32];

	for (size_t i = 0; i < ASKED; i++) {
		table_cell(t, PLAIN, "0x%08" PRIx64, asked[i].index);
		table_cell(t, PLAIN, "%s",
			   translated_text(TRANSLATE_INDEX, asked[i].index, buf, sizeof(buf)));
		table_cell(t, PLAIN, "0x%08" PRIx64, asked[i].high);
		table_cell(t, PLAIN, "%s",
			   translated_text(TRANSLATE_HIGH, asked[i].high, buf, sizeof(buf)));
	}
	table_print(t, "");
}

static int show_paper(const struct ctl *ctl)
{
	if (ctl->csv || ctl->svg)
		return fail("--%s: --paper has no points: leave out one of the options",
			    ctl->csv ? "csv" : "svg");
	if (ctl->json) {
		json_t *all = paper_json();

		if (!all)
			return fail("out of memory");
		json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
		json_decref(all);
		return OK;
	}
	printf("Operations of a translation, and nanoseconds at 4 operations each:\n");
	print_figures();
	printf("\nTables 1 and 2, searched row by row:\n");
	print_vectors();
	printf("\nBytes on the wire of a put of 8 bytes: %u by high bits, "
	       "%u with key and index.\n\n", translate_bytes(8, false), translate_bytes(8, true));
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		printf("- %s\n", notes[i]);
	return OK;
}

/* --- operations ---------------------------------------------------------------- */

static const char *const programs[TRANSLATE_PROGRAMS] = { "index", "index_once", "high" };

/** struct counted - a point: the operations of each program */
struct counted {
	struct translate_counts of[TRANSLATE_PROGRAMS];
};

static int add_labour(json_t *point, const char *name, const struct translate_counts *c)
{
	static const char *const keys[] = { "avg", "min", "max", "miss" };
	int failed = 0;

	for (int i = 0; i < 4; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_%s", name, keys[i]);
		failed |= json_object_set_new(point, key, json_real(
			i == 0 ? c->hit.avg : i == 1 ? c->hit.min : i == 2 ? c->hit.max : c->miss));
	}
	return failed;
}

/* Return: a point of the operations with @n rows, NULL if out of memory. */
static json_t *count_json(size_t n, struct counted *c)
{
	json_t *point = json_pack("{si}", "entries", (int)n);
	struct translate_labour ratio;

	for (int i = 0; i < TRANSLATE_PROGRAMS; i++)
		if (!point || translate_count((enum translate_program)i, n, &c->of[i]) ||
		    add_labour(point, programs[i], &c->of[i])) {
			json_decref(point);
			return NULL;
		}
	ratio = translate_ratio(c->of[TRANSLATE_INDEX].hit, c->of[TRANSLATE_HIGH].hit);
	json_object_set_new(point, "ratio_avg", json_real(ratio.avg));
	json_object_set_new(point, "ratio_min", json_real(ratio.min));
	json_object_set_new(point, "ratio_max", json_real(ratio.max));
	ratio = translate_ratio(c->of[TRANSLATE_INDEX_ONCE].hit, c->of[TRANSLATE_HIGH].hit);
	json_object_set_new(point, "once_ratio_avg", json_real(ratio.avg));
	return point;
}

static double mean_ratio(const struct counted *c, enum translate_program basic)
{
	return translate_ratio(c->of[basic].hit, c->of[TRANSLATE_HIGH].hit).avg;
}

static int draw_counts(const char *file, const struct range *n, const struct counted *c)
{
	struct plot *plot = plot_new("Translation by a search row by row");

	plot_panel(plot, "operations, average of all rows", "rows of the table",
		   "operations / translation");
	for (int k = 0; k < TRANSLATE_PROGRAMS; k++) {
		plot_curve(plot, programs[k]);
		for (size_t i = 0; i < n->n; i++)
			plot_point(plot, n->v[i], c[i].of[k].hit.avg, 0);
	}
	plot_panel(plot, "basic / modified", "rows of the table", "ratio");
	plot_curve(plot, "index / high");
	for (size_t i = 0; i < n->n; i++)
		plot_point(plot, n->v[i], mean_ratio(&c[i], TRANSLATE_INDEX), 0);
	plot_curve(plot, "index_once / high");
	for (size_t i = 0; i < n->n; i++)
		plot_point(plot, n->v[i], mean_ratio(&c[i], TRANSLATE_INDEX_ONCE), 0);
	plot_curve(plot, "the paper");
	plot_look(plot, "the paper", PLOT_MARKS);
	plot_point(plot, TRANSLATE_ROWS_PAPER,
		   translate_ratio(translate_basic, translate_modified).avg, 0);
	return plot_write(plot, file);
}

static int show_counts(const struct ctl *ctl, const struct range *n)
{
	static const char *const columns[] = { "entries", "index_avg", "index_once_avg", "high_avg",
		"index_miss", "high_miss", "ratio_avg", "ratio_min", "ratio_max", "once_ratio_avg",
		NULL };
	struct counted *c = calloc(n->n, sizeof(*c));
	json_t *points = json_array();
	int status = OK;

	for (size_t i = 0; c && i < n->n; i++) {
		json_t *point = count_json((size_t)n->v[i], &c[i]);

		if (!point || json_array_append_new(points, point)) {
			free(c);
			json_decref(points);
			return fail("out of memory");
		}
	}
	if (c && ctl->svg)
		status = draw_counts(ctl->svg, n, c);
	free(c);
	if (!c) {
		json_decref(points);
		return fail("out of memory");
	}
	return points_show(ctl, json_object(), points, columns) ? CANNOT : status;
}

/* --- time ---------------------------------------------------------------------- */

/* A drawing has one curve for each method, over the rows. */
static int draw_times(const char *file, const struct range *n, const struct translate_time *t)
{
	struct plot *plot = plot_new("Time of a translation");

	for (int chained = 0; chained < 2; chained++) {
		plot_panel(plot, chained ? "each waits for the one before" : "one after the other",
			   "rows of the table", "ns / translation");
		plot_log(plot, true, true);
		for (int m = 0; m < TRANSLATE_METHODS; m++) {
			plot_curve(plot, translate_methods[m]);
			for (size_t i = 0; i < n->n; i++) {
				const struct translate_time *at = &t[(size_t)m * n->n + i];

				plot_point(plot, n->v[i], chained ? at->chain_ns : at->ns, 0);
			}
		}
	}
	return plot_write(plot, file);
}

static int time_all_tables(const struct ctl *ctl, const struct range *n, struct translate_time *t,
		       json_t *points)
{
	for (int m = 0; m < TRANSLATE_METHODS; m++) {
		for (size_t i = 0; i < n->n; i++) {
			struct translate_time *at = &t[(size_t)m * n->n + i];
			int err = translate_measure((enum translate_method)m, (size_t)n->v[i],
						    ctl->seed, at);

			if (err)
				return fail(err == -ENOMEM ? "out of memory" :
					    "%s with %zu rows does not find its targets",
					    translate_methods[m], (size_t)n->v[i]);
			progress("timing %s, %zu rows", translate_methods[m], (size_t)n->v[i]);
			json_array_append_new(points, json_pack("{ss si sf sf}", "method",
				translate_methods[m], "entries", (int)n->v[i], "ns", at->ns,
				"chain_ns", at->chain_ns));
		}
	}
	progress("%s", "");
	return OK;
}

static int show_times(const struct ctl *ctl, const struct range *n)
{
	static const char *const columns[] = { "method", "entries", "ns", "chain_ns", NULL };
	struct translate_time *t = calloc(n->n * TRANSLATE_METHODS, sizeof(*t));
	json_t *points = json_array();
	int status = t && points ? time_all_tables(ctl, n, t, points) : fail("out of memory");

	if (status == OK && ctl->svg)
		status = draw_times(ctl->svg, n, t);
	free(t);
	if (status != OK) {
		json_decref(points);
		return status;
	}
	return points_show(ctl, json_pack("{sI}", "seed", (json_int_t)ctl->seed), points, columns);
}

static int cmd_translate(struct ctl *ctl, int argc, char **argv)
{
	struct range n = { 0 };
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	if (is_paper && is_time)
		return fail("--paper and --time exclude each other: give one of them");
	if (is_paper && entries_text)
		return fail("--entries %s: the tables of --paper have 4 rows", entries_text);
	if (is_paper)
		return show_paper(ctl);
	if (range_parse("entries", entries_text ? entries_text : is_time ? TIMED : COUNTED, 1,
			is_time ? TIME_MAX : COUNT_MAX, &n))
		return CANNOT;
	for (size_t i = 0; i < n.n; i++)
		n.v[i] = floor(n.v[i]);
	status = is_time ? show_times(ctl, &n) : show_counts(ctl, &n);
	free(n.v);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "paper", 0, NULL, &is_paper, 0, 0,
	  "the figures of the paper, computed again, and where they are loose" },
	{ OPT_FLAG, "time", 0, NULL, &is_time, 0, 0,
	  "measure nanoseconds on this machine instead of counting operations" },
	{ OPT_TEXT, "entries", 0, "RANGE", &entries_text, 0, 0,
	  "rows of the table: 1 to 12, 24 and 64 by default; with --time up to 1000000" },
	{ .kind = OPT_END },
};

COMMAND(cmd_translate) = {
	.name = "translate",
	.args = "",
	.brief = "What it costs to translate an address of remote memory",
	.help = "Operations of the two algorithms of the paper about bridges (Sukhikh), which\n"
		"search their table row by row: INDEX takes the index from the address for each\n"
		"row, INDEX_ONCE once, HIGH compares the high bits. --time measures these and\n"
		"the windows of the NIC.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_translate,
};
