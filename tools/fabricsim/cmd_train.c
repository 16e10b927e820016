// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim train: the results of link training on different cables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>

#include "jobs.h"
#include "plot.h"
#include "points.h"
#include "range.h"
#include "train_run.h"
#include "train_wear.h"
#include "kernel/core/nic.h"
#include "lib/util/times.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/line.h"
#include "tools/fabricctl/number.h"
#include "tools/fabricctl/output.h"

#define CLASSES_MAX 16

static const char *class_list = LINE_USUAL, *length_list = "100:1500:100", *loss_list;
static const char *crosstalk_list, *celsius_list = "20", *dead = "none", *aged = "none";
static const char *ber_text, *life_text = "0", *look_text;
static uint64_t drift, ageing, seeds = 1, months;
static uint64_t mask_height, mask_width, margin_train, margin_retrain;
static bool by_lane;

#define AGED_MAX 100		/* lines for each point that age until they fail */

/**
 * struct point - one cable, and its results; @class NULL: --loss
 * @wear: results with --months; @before: memory for its member @before
 */
struct point {
	const char *class;
	double celsius;
	uint64_t seed;
	struct train_plan plan;
	struct train_result result;
	struct wear_result wear;
	u64 before[AGED_MAX];
};

/** struct plan - lists of values to combine; classes have their own loss and crosstalk */
struct plan {
	struct line_class class[CLASSES_MAX];
	size_t nclasses;
	struct range length, loss, crosstalk, celsius;
	struct train_plan all;		/* parameters that all points share */
	struct point *point;
	size_t n;
};

/* --- the plan ------------------------------------------------------------- */

static int classes_parse(struct plan *p)
{
	const char *at = class_list;
	char name[16];

	for (;;) {
		size_t len = strcspn(at, ",");
		const struct line_class *c;

		snprintf(name, sizeof(name), "%.*s", (int)(len < 15 ? len : 15), at);
		c = line_class(name);
		if (!c)
			return CANNOT;
		if (p->nclasses == CLASSES_MAX)
			return fail("--class '%s': must name at most %d classes", class_list,
				    CLASSES_MAX);
		p->class[p->nclasses++] = *c;
		if (!at[len])
			return OK;
		at += len + 1;
	}
}

/* Parses losses: those given as numbers are classes without a name. */
static int losses_parse(struct plan *p)
{
	if (!loss_list)
		return classes_parse(p);
	if (range_parse("loss", loss_list, 0, TORUS_CABLE_LOSS_MAX, &p->loss))
		return CANNOT;
	if (p->loss.n > CLASSES_MAX)
		return fail("--loss '%s': must have at most %d numbers", loss_list, CLASSES_MAX);
	for (size_t i = 0; i < p->loss.n; i++)
		p->class[p->nclasses++] = (struct line_class) {
			.loss = (uint32_t)p->loss.v[i], .crosstalk = 10,
		};
	return OK;
}

/* Parses thresholds: the default of each threshold is that of the NIC. */
static int params_parse(struct train_plan *t)
{
	struct tn_params usual;
	uint64_t ber = 0;

	tn_params_default(&usual);
	t->look = usual.eye_interval;
	t->params = (struct tn_train_params) {
		.target_ber = usual.target_ber,
		.mask_height = mask_height ? (u32)mask_height : usual.mask_height,
		.mask_width = mask_width ? (u32)mask_width : usual.mask_width,
		.margin_train = margin_train ? (u32)margin_train : usual.margin_train,
		.margin_retrain = margin_retrain ? (u32)margin_retrain : usual.margin_retrain,
	};
	if (ber_text && (rate_parse(ber_text, &ber) || !ber))
		return fail("--target-ber '%s': must be 1e-18 to 1", ber_text);
	if (ber)
		t->params.target_ber = ber;
	if (t->params.margin_train < t->params.margin_retrain)
		return fail("--margin-train %u: must not be less than --margin-retrain, %u",
			    t->params.margin_train, t->params.margin_retrain);
	return OK;
}

static int line_parse(struct train_plan *t)
{
	uint64_t dead_mask, aged_mask, look = t->look;
	double life;

	if (line_lanes("dead", dead, &dead_mask) || line_lanes("aged", aged, &aged_mask) ||
	    real_option("life", life_text, 0, 1e6, &life))
		return CANNOT;
	if (look_text && (time_parse(look_text, MS, 10 * SEC, &look)))
		return fail("--look '%s': must be 1ms to 10s", look_text);
	t->look = look;
	t->life = (u64)(life * (double)SEC);
	t->cable.drift = (u32)drift;
	t->cable.ageing = (u32)ageing;
	t->cable.dead = (u16)dead_mask;
	t->cable.aged = (u16)aged_mask;
	return OK;
}

static int parse_plan(struct plan *p)
{
	if (loss_list && strcmp(class_list, LINE_USUAL))
		return fail("--loss and --class both set the loss: give one");
	if (losses_parse(p) || params_parse(&p->all) || line_parse(&p->all) ||
	    range_parse("length", length_list, 0, TORUS_CABLE_LENGTH_MAX, &p->length) ||
	    range_parse("temperature", celsius_list, -40, 125, &p->celsius))
		return CANNOT;
	return crosstalk_list ? range_parse("crosstalk", crosstalk_list, 0, TORUS_CABLE_PART_MAX,
					    &p->crosstalk) : OK;
}

static struct point point_of(const struct plan *p, const struct line_class *class,
			     double crosstalk, double celsius, double length, uint64_t seed)
{
	struct point t = {
		.class = class->name, .celsius = celsius, .seed = seed, .plan = p->all,
	};

	t.plan.cable.loss = class->loss;
	t.plan.cable.crosstalk = (u32)crosstalk;
	t.plan.cable.warmer = (s32)lround(celsius) + TORUS_KELVIN - TORUS_CABLE_KELVIN;
	t.plan.cable.length = (u32)length;
	t.plan.cable.seed = seed;
	return t;
}

static int points_make(struct plan *p, uint64_t seed)
{
	size_t nx = p->crosstalk.n ? p->crosstalk.n : 1;

	p->point = calloc(p->nclasses * nx * p->celsius.n * p->length.n * seeds,
			  sizeof(*p->point));
	if (!p->point)
		return fail("out of memory");
	for (size_t a = 0; a < p->nclasses; a++)
		for (size_t b = 0; b < nx; b++)
			for (size_t c = 0; c < p->celsius.n; c++)
				for (size_t d = 0; d < p->length.n; d++)
					for (size_t e = 0; e < seeds; e++)
						p->point[p->n++] = point_of(p, &p->class[a],
							p->crosstalk.n ? p->crosstalk.v[b] :
							p->class[a].crosstalk, p->celsius.v[c],
							p->length.v[d], seed + e);
	return OK;
}

static int run_training_point(void *arg, size_t i)
{
	struct point *t = &((struct plan *)arg)->point[i];

	train_run(&t->plan, &t->result);
	return 0;
}

/* --- months of use (--months) ----------------------------------------------- */

#define DRIFT	20	/* swing of the loss in a room of 20 +- 10 degrees, per mille */

static int by_time(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Simulates lines that age. Their speeds of ageing are spread evenly on a logarithmic scale. */
static void age_lines(struct point *t, size_t n, u64 seed)
{
	struct wear_result *w = &t->wear;

	for (size_t k = 0; k < n; k++) {
		struct train_plan plan = t->plan;
		double part = ((double)k + 0.5) / (double)n;
		u64 before;

		plan.cable.seed = jobs_seed(seed, k);
		plan.cable.ageing = plan.cable.ageing ? plan.cable.ageing : 1;
		if (!plan.cable.aged)
			plan.cable.aged = (u16)(1u << plan.cable.seed % TORUS_LANES_MAX);
		before = wear_age(&plan, (u64)pow(WEAR_SCALE_MAX, part));
		if (before == ~0ull)
			continue;
		w->warned += before > 0;
		w->early += before >= WEAR_EARLY;
		t->before[w->failed++] = before;
	}
	qsort(t->before, w->failed, sizeof(t->before[0]), by_time);
}

static int run_wear_point(void *arg, size_t i)
{
	struct plan *p = arg;
	struct point *t = &p->point[i];
	u64 mine = months / p->n + (i < months % p->n), seed = jobs_seed(t->seed, i);

	if (!drift)
		t->plan.cable.drift = DRIFT;
	train_run(&t->plan, &t->result);
	if (!t->result.trained.width)
		return 0;
	age_lines(t, mine < AGED_MAX ? (size_t)mine : AGED_MAX, seed);
	t->plan.cable.ageing = 0;
	for (t->wear.months = 0; t->wear.months < mine; t->wear.months++) {
		t->plan.cable.seed = jobs_seed(~seed, t->wear.months);
		t->wear.alarms += wear_month(&t->plan);
	}
	return 0;
}

static double in_thousand(u64 n, u64 of)
{
	return of ? 1000.0 * (double)n / (double)of : 0;
}

/*
 * Return: the result as JSON, with the value that 95 of 100 lines exceed. @before: see struct
 * wear_result.
 */
static json_t *wear_json(const struct wear_result *w, const u64 *before)
{
	double most = w->failed ? (double)before[w->failed / 20] / (double)SEC : 0;

	return json_pack("{sI sI sI sf sf sI sI sf}", "aged", (json_int_t)w->failed,
			 "warned", (json_int_t)w->warned, "warned_early", (json_int_t)w->early,
			 "warned_early_share", in_thousand(w->early, w->failed) / 1000,
			 "warned_before_s", most, "link_months", (json_int_t)w->months,
			 "false_alarms", (json_int_t)w->alarms,
			 "false_alarms_per_1000_link_months", in_thousand(w->alarms, w->months));
}

/* Return: the result of all points together; NULL if there is no memory. */
static json_t *wear_total(const struct plan *p)
{
	u64 *all = calloc(p->n * AGED_MAX, sizeof(*all));
	struct wear_result sum = { .failed = 0 };
	json_t *j;

	for (size_t i = 0; all && i < p->n; i++) {
		const struct wear_result *w = &p->point[i].wear;

		memcpy(all + sum.failed, p->point[i].before, w->failed * sizeof(*all));
		sum.failed += w->failed;
		sum.warned += w->warned;
		sum.early += w->early;
		sum.months += w->months;
		sum.alarms += w->alarms;
	}
	if (all)
		qsort(all, sum.failed, sizeof(*all), by_time);
	j = all ? wear_json(&sum, all) : NULL;
	free(all);
	return j;
}

/* --- output ----------------------------------------------------------------- */

/* Return: the lane whose eye is the worst of those in use: there the settings matter most. */
static struct tn_lane worst_lane(const struct train_state *s)
{
	const struct tn_lane *worst = NULL;

	for (unsigned int i = 0; i < TORUS_LANES_MAX; i++)
		if (s->lane[i].state == TORUS_LANE_ON &&
		    (!worst || s->lane[i].margin < worst->margin))
			worst = &s->lane[i];
	return worst && s->width ? *worst : (struct tn_lane) { .state = TORUS_LANE_OFF };
}

static json_t *cable_json(const struct point *t)
{
	const struct tn_cable *c = &t->plan.cable;

	return json_pack("{ss sI sI sI sf sI}", "class", t->class ? t->class : "-", "length",
			 (json_int_t)c->length, "loss", (json_int_t)c->loss, "crosstalk",
			 (json_int_t)c->crosstalk, "temperature", t->celsius, "seed",
			 (json_int_t)t->seed);
}

static json_t *training_json(const struct point *t)
{
	const struct train_result *r = &t->result;
	const struct train_state *s = &r->trained;
	struct tn_lane worst = worst_lane(s);
	json_t *j = cable_json(t);
	json_t *more = json_pack("{sf sf si si sI sI sI sf si si si si si si sf sf sf si sI sI}",
		"untrained_ber", train_ber(r->untrained), "ms", (double)r->took / 1e6, "settings",
		(int)r->settings, "width", (int)s->width,
		"rate", (json_int_t)s->mbps, "mbps", (json_int_t)s->mbps * s->width, "margin",
		(json_int_t)s->margin, "ber", train_ber(s->width ? s->ber : TORUS_BER_ONE / 2),
		"pre", worst.taps.pre, "post", worst.taps.post,
		"ctle", worst.rx.ctle, "dfe", worst.rx.dfe,
		"retrains", (int)r->retrains, "shed", (int)r->shed, "retraining_ms",
		(double)r->retraining / 1e6, "worst_ber", train_ber(r->worst), "lived",
		(double)r->lived / (double)SEC, "width_end", (int)r->ended.width, "rate_end",
		(json_int_t)r->ended.mbps, "margin_end", (json_int_t)r->ended.margin);

	json_object_update(j, more);
	json_decref(more);
	return j;
}

static void add_lanes_json(const struct point *t, json_t *points)
{
	for (unsigned int i = 0; i < TORUS_LANES_MAX; i++) {
		const struct tn_lane *l = &t->result.trained.lane[i];
		json_t *j = cable_json(t);
		json_t *more = json_pack("{si ss sI si si si si si si sI sf}", "lane", (int)i,
			"state", torus_lane_name(l->state),
			"rate", l->state == TORUS_LANE_ON ? (json_int_t)t->result.trained.mbps : 0,
			"pre", l->taps.pre, "post", l->taps.post,
			"ctle", l->rx.ctle, "dfe", l->rx.dfe,
			"height", l->eye.height, "width", l->eye.width,
			"margin", (json_int_t)l->margin, "ber", train_ber(l->ber));

		json_object_update(j, more);
		json_decref(more);
		json_array_append_new(points, j);
	}
}

/* Names a curve by the parameters, without the length, in which points differ. */
static void cable_curve_name(const struct plan *p, const struct point *t, char *buf, size_t size)
{
	int n;

	if (t->class)
		n = snprintf(buf, size, "%s", t->class);
	else
		n = snprintf(buf, size, "%u mdB/m", t->plan.cable.loss);
	if (p->celsius.n > 1)
		n += snprintf(buf + n, size - (size_t)n, ", %g C", t->celsius);
	if (p->crosstalk.n > 1)
		snprintf(buf + n, size - (size_t)n, ", crosstalk %u", t->plan.cable.crosstalk);
}

#define LENGTH_LABEL "length of the cable, m"

static double point_value(const struct point *t, unsigned int what)
{
	const struct train_state *s = &t->result.trained;

	switch (what) {
	case 0:
		return (double)s->mbps * s->width / 1000;
	case 1:
		return s->margin;
	case 2:
		return train_ber(t->result.untrained);
	default:
		return (double)t->result.took / 1e6;
	}
}

/* Adds a point to the curve: with several seeds the mean, and how far single cables lie from it. */
static void curve_point(struct plot *plot, const struct point *t, unsigned int what)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < seeds; i++) {
		sum += point_value(t + i, what);
		squares += point_value(t + i, what) * point_value(t + i, what);
	}
	mean = sum / (double)seeds;
	squares = squares / (double)seeds - mean * mean;
	plot_point(plot, t->plan.cable.length / 100.0, mean, squares > 0 ? sqrt(squares) : 0);
}

static int draw_training(const struct plan *p, const char *file)
{
	static const char *const title[][2] = {
		{ "What the link carries", "rate, Gbit/s" },
		{ "Margin of the worst lane", "margin, % of the mask" },
		{ "Bit errors without training", "bit error rate, errors / bit" },
		{ "Time of the training", "time, ms" },
	};
	struct plot *plot = plot_new("Link training");
	char name[64];

	for (unsigned int what = 0; what < 4; what++) {
		plot_panel(plot, title[what][0], LENGTH_LABEL, title[what][1]);
		plot_log(plot, false, what == 2);
		for (size_t i = 0; i < p->n; i += seeds) {
			if (i / seeds % p->length.n == 0) {
				cable_curve_name(p, &p->point[i], name, sizeof(name));
				plot_curve(plot, name);
			}
			curve_point(plot, &p->point[i], what);
		}
	}
	return plot_write(plot, file);
}

/*
 * Return: hours from the warning to the failure that @share of the lines exceed; NAN if none has
 * aged.
 */
static double warned_hours(const struct point *t, double share)
{
	size_t n = t->wear.failed;

	return n ? (double)t->before[(size_t)((1 - share) * (double)n)] / (double)SEC / 3600 : NAN;
}

/*
 * Draws curves of warnings before failures. @what: 0: time that half of the lines exceed, 1: time
 * that 95 of 100 exceed, 2: false alarms
 */
static void draw_wear_curves(struct plot *plot, const struct plan *p, unsigned int what)
{
	static const char *const how[] = { ", half of the lines", ", 95 of 100", "" };
	char like[64], name[96];

	for (size_t i = 0; i < p->n; i++) {
		const struct point *t = &p->point[i];

		if (i % (p->length.n * seeds) == 0) {
			cable_curve_name(p, t, like, sizeof(like));
			snprintf(name, sizeof(name), "%s%s", like, how[what]);
			plot_curve(plot, name);
		}
		plot_point(plot, t->plan.cable.length / 100.0, what == 2 ?
			   in_thousand(t->wear.alarms, t->wear.months) :
			   warned_hours(t, what ? 0.95 : 0.5), 0);
	}
}

static int draw_wear(const struct plan *p, const char *file)
{
	struct plot *plot = plot_new("Warnings before lines fail, and false alarms");

	plot_panel(plot, "From the warning to the failure, at least", LENGTH_LABEL, "time, h");
	plot_log(plot, false, true);
	draw_wear_curves(plot, p, 0);
	draw_wear_curves(plot, p, 1);
	plot_panel(plot, "False alarms", LENGTH_LABEL, "alarms / 1000 links and months");
	draw_wear_curves(plot, p, 2);
	return plot_write(plot, file);
}

static int show_wear(const struct ctl *ctl, const struct plan *p)
{
	static const char *const columns[] = { "class", "length", "temperature", "aged", "warned",
		"warned_early", "warned_before_s", "link_months", "false_alarms", NULL };
	json_t *points = json_array(), *about = wear_total(p);

	for (size_t i = 0; i < p->n; i++) {
		json_t *j = cable_json(&p->point[i]);
		json_t *more = wear_json(&p->point[i].wear, p->point[i].before);

		json_object_update(j, more);
		json_decref(more);
		json_array_append_new(points, j);
	}
	json_object_set_new(about, "seed", json_integer((json_int_t)ctl->seed));
	if (ctl->svg && draw_wear(p, ctl->svg)) {
		json_decref(points);
		json_decref(about);
		return CANNOT;
	}
	return points_show(ctl, about, points, columns);
}

static int show_training(const struct ctl *ctl, const struct plan *p)
{
	static const char *const cables[] = { "class", "length", "temperature", "untrained_ber",
		"ms", "settings", "width", "rate", "mbps", "margin", "ber", "pre", "post", "ctle",
		"dfe", NULL };
	static const char *const lives[] = { "class", "length", "temperature", "width", "rate",
		"margin", "retrains", "shed", "worst_ber", "lived", "width_end", "rate_end",
		"margin_end", NULL };
	static const char *const lanes[] = { "class", "length", "lane", "state", "rate", "pre",
		"post", "ctle", "dfe", "height", "width", "margin", "ber", NULL };
	const struct tn_train_params *u = &p->all.params;
	json_t *points = json_array(), *about;

	for (size_t i = 0; i < p->n; i++) {
		if (by_lane)
			add_lanes_json(&p->point[i], points);
		else
			json_array_append_new(points, training_json(&p->point[i]));
	}
	about = json_pack("{sI sf sI sI sI sI sf}", "seed", (json_int_t)ctl->seed, "target_ber",
			  train_ber(u->target_ber), "mask_height", (json_int_t)u->mask_height,
			  "mask_width", (json_int_t)u->mask_width, "margin_train",
			  (json_int_t)u->margin_train, "margin_retrain",
			  (json_int_t)u->margin_retrain, "life", (double)p->all.life / (double)SEC);
	if (ctl->svg && draw_training(p, ctl->svg)) {
		json_decref(points);
		json_decref(about);
		return CANNOT;
	}
	return points_show(ctl, about, points,
				   by_lane ? lanes : p->all.life ? lives : cables);
}

static int run_points(const struct ctl *ctl, struct plan *p)
{
	if (jobs_run(p->n, 0, "training", months ? run_wear_point : run_training_point, p))
		return CANNOT;
	return months ? show_wear(ctl, p) : show_training(ctl, p);
}

static int cmd_train(struct ctl *ctl, int argc, char **argv)
{
	struct plan p = { 0 };
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	if (months && by_lane)
		return fail("--months and --lanes exclude each other: give one");
	if (months && ctl->svg && seeds > 1)
		return fail("--seeds %llu: must be 1 with --svg and --months",
			    (unsigned long long)seeds);
	status = parse_plan(&p);
	if (status == OK)
		status = points_make(&p, ctl->seed);
	if (status == OK)
		status = run_points(ctl, &p);
	free(p.point);
	free(p.length.v);
	free(p.loss.v);
	free(p.crosstalk.v);
	free(p.celsius.v);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "class", 0, "LIST", &class_list, 0, 0,
	  "classes of cables, of " LINE_CLASSES },
	{ OPT_TEXT, "loss", 0, "RANGE", &loss_list, 0, 0,
	  "instead of --class: loss in 1/1000 dB per metre at the highest rate" },
	{ OPT_TEXT, "length", 0, "RANGE", &length_list, 0, 0,
	  "length in cm, 100:1500:100 by default" },
	{ OPT_TEXT, "crosstalk", 0, "RANGE", &crosstalk_list, 0, 0,
	  "in 1/1000 of the transmitter's swing, instead of that of the class" },
	{ OPT_TEXT, "temperature", 0, "RANGE", &celsius_list, 0, 0,
	  "degrees Celsius, 20 by default" },
	{ OPT_TEXT, "dead", 0, "LANES", &dead, 0, 0, "lanes without signal: 0,2,5-7, all, none" },
	{ OPT_NUMBER, "seeds", 0, "N", &seeds, 1, 10000,
	  "cables of each kind, with other random differences between lanes" },
	{ OPT_FLAG, "lanes", 0, NULL, &by_lane, 0, 0, "show a point for each lane" },
	{ OPT_TEXT, "life", 0, "SECONDS", &life_text, 0, 0,
	  "time that the link is in use after training, 0 by default" },
	{ OPT_NUMBER, "months", 0, "N", &months, 1, 10000000,
	  "simulate this many months of links: how early fabricd warns, how often falsely" },
	{ OPT_TEXT, "look", 0, "TIME", &look_text, 0, 0,
	  "time between two looks at the signals, 50ms" },
	{ OPT_NUMBER, "drift", 0, "N", &drift, 0, 500,
	  "with --life: the loss swings slowly, by this many 1/1000 of it" },
	{ OPT_NUMBER, "ageing", 0, "MDB", &ageing, 0, 50000,
	  "with --life: added loss of aged lanes, in 1/1000 dB per second" },
	{ OPT_TEXT, "aged", 0, "LANES", &aged, 0, 0, "which lanes age: 0,2,5-7, all, none" },
	{ OPT_TEXT, "target-ber", 0, "RATE", &ber_text, 0, 0,
	  "bit error rate that a lane must reach; 1e-12" },
	{ OPT_NUMBER, "mask-height", 0, "MV", &mask_height, 1, 10000,
	  "least opening of the eye, from its centre, in mV; 60" },
	{ OPT_NUMBER, "mask-width", 0, "N", &mask_width, 1, 500,
	  "least opening of the eye, from its centre, in 1/1000 of a bit time (UI); 100" },
	{ OPT_NUMBER, "margin-train", 0, "N", &margin_train, 1, 9999,
	  "percent of that opening that a lane must have after training; 110" },
	{ OPT_NUMBER, "margin-retrain", 0, "N", &margin_retrain, 1, 9999,
	  "percent of it below which a link in use trains again; 100" },
	{ .kind = OPT_END },
};

COMMAND(cmd_train) = {
	.name = "train",
	.args = "",
	.brief = "How well receivers adapt to a cable: rate, lanes, margin, bit errors",
	.help = "Runs the NIC's own link training on a modelled cable, in virtual time, for each\n"
		"class, length, crosstalk and temperature. With --life the cable ages and the\n"
		"link trains again.\n"
		"With --months: simulates that many months of links that do not age, and up to\n"
		"100 lines of each cable that age until lanes are lost, and judges them as\n"
		"fabricd does. Its results are how many false warnings there were, and how early\n"
		"the true ones came: in 95 of 100 cases warned_before_s or longer before the\n"
		"failure.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_train,
};
