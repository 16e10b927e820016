// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

/* Pixels. */
#define WIDE 460
#define WIDE_ALONE 660		/* width of a panel if it is the only one */
#define HIGH 340
#define LEFT 76
#define RIGHT 24
#define TOP 58
#define BOTTOM 52
#define LEGEND_LINE 18
#define LEGEND_COLUMN 230
#define LABEL_Y 20		/* distance of the turned label of the y axis from the left */

/** struct curve - @like: name of another curve with the same style */
struct curve {
	char *name, *like;
	enum plot_look look;
	size_t panel;
	double *at;		/* x, y and error of each point */
	size_t n;
};

/** struct axis - @single: all points have the same value */
struct axis {
	bool log, single;
	double low, high;
};

struct panel {
	char *title, *label[2];
	bool log[2];
	double top;
	const char *const *words;
	size_t n_words;
};

struct plot {
	char *title;
	struct panel *panel;
	struct curve *curve;
	size_t panels, curves;
	bool failed;
};

/* Okabe and Ito's palette, which people with any colour vision can distinguish. */
static const char *const colours[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00",
};

#define COLOURS (sizeof(colours) / sizeof(colours[0]))
#define DASHES 4
#define MARKS 6
#define FILLED 4		/* the first marks are filled, the others are hollow */

struct plot *plot_new(const char *title)
{
	struct plot *p = calloc(1, sizeof(*p));

	if (p)
		p->title = strdup(title);
	return p;
}

/* Makes room for one more element of @size in @list, which has @n. Return: NULL if that failed. */
static void *grow_list(struct plot *p, void *list, size_t n, size_t size)
{
	void *more = p->failed ? NULL : realloc(list, (n + 1) * size);

	if (!more)
		p->failed = true;
	return more;
}

void plot_panel(struct plot *p, const char *title, const char *x, const char *y)
{
	struct panel *more = p ? grow_list(p, p->panel, p->panels, sizeof(*more)) : NULL;

	if (!more)
		return;
	p->panel = more;
	more[p->panels++] = (struct panel){
		.title = strdup(title), .label = { strdup(x), strdup(y) }, .top = INFINITY,
	};
}

void plot_log(struct plot *p, bool x, bool y)
{
	if (!p || !p->panels)
		return;
	p->panel[p->panels - 1].log[0] = x;
	p->panel[p->panels - 1].log[1] = y;
}

void plot_top(struct plot *p, double top)
{
	if (p && p->panels)
		p->panel[p->panels - 1].top = top;
}

void plot_words(struct plot *p, const char *const *words, size_t n)
{
	if (!p || !p->panels)
		return;
	p->panel[p->panels - 1].words = words;
	p->panel[p->panels - 1].n_words = n;
}

void plot_curve(struct plot *p, const char *name)
{
	struct curve *more = p && p->panels ?
			     grow_list(p, p->curve, p->curves, sizeof(*more)) : NULL;

	if (!more)
		return;
	p->curve = more;
	more[p->curves++] = (struct curve){
		.name = strdup(name), .like = strdup(name), .panel = p->panels - 1,
	};
}

void plot_look(struct plot *p, const char *like, enum plot_look look)
{
	struct curve *c = p && p->curves ? &p->curve[p->curves - 1] : NULL;

	if (!c)
		return;
	free(c->like);
	c->like = strdup(like);
	c->look = look;
}

void plot_point(struct plot *p, double x, double y, double error)
{
	struct curve *c = p && p->curves ? &p->curve[p->curves - 1] : NULL;
	double *more;

	if (!c || !isfinite(x) || !isfinite(y) ||
	    (p->panel[c->panel].log[0] && x <= 0) || (p->panel[c->panel].log[1] && y <= 0))
		return;
	more = grow_list(p, c->at, c->n, 3 * sizeof(*more));
	if (!more)
		return;
	c->at = more;
	more += 3 * c->n++;
	more[0] = x;
	more[1] = y;
	more[2] = error;
}

/* --- drawing --------------------------------------------------------------- */

static void put_svg_text(FILE *f, double x, double y, const char *extra, const char *s)
{
	fprintf(f, "<text x='%.1f' y='%.1f'%s>", x, y, extra);
	for (; s && *s; s++) {
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else
			fputc(*s, f);
	}
	fputs("</text>\n", f);
}

/* Return: the largest of 1, 2, 5 x 10^n that divides @span into at least four steps. */
static double step_of(double span)
{
	double base = pow(10, floor(log10(span / 4)));

	return base * (span / 4 >= 5 * base ? 5 : span / 4 >= 2 * base ? 2 : 1);
}

/* Makes an axis of words, with half a step of room on either side. */
static struct axis word_axis(const struct panel *panel)
{
	return (struct axis){ .low = -0.5, .high = (double)panel->n_words - 0.5 };
}

static void round_axis(struct axis *a)
{
	double step;

	if (a->log) {
		a->low = floor(log10(a->low) + 1e-9);
		a->high = fmax(ceil(log10(a->high) - 1e-9), a->low + 1);
		return;
	}
	/* if the values come close to zero, the axis begins there */
	if (a->low > 0 && a->low <= a->high)
		a->low = a->low < a->high / 2 || a->low == a->high ? 0 : a->low;
	if (a->low == 0 && a->high > 0 && a->single)
		a->high *= 2;
	if (a->high <= a->low)
		a->high = a->low + fmax(fabs(a->low), 1);
	step = step_of(a->high - a->low);
	a->low = floor(a->low / step + 1e-9) * step;
	a->high = ceil(a->high / step - 1e-9) * step;
}

/* Return: an axis with the range of its values. @which: 0 x, 1 y */
static struct axis axis_of(const struct plot *p, size_t panel, int which)
{
	struct axis a = { .log = p->panel[panel].log[which], .low = INFINITY, .high = -INFINITY };

	if (!which && p->panel[panel].words)
		return word_axis(&p->panel[panel]);
	for (size_t i = 0; i < p->curves; i++) {
		const struct curve *c = &p->curve[i];

		for (size_t k = 0; c->panel == panel && k < c->n; k++) {
			a.low = fmin(a.low, c->at[3 * k + (size_t)which]);
			a.high = fmax(a.high, c->at[3 * k + (size_t)which]);
		}
	}
	a.single = a.low == a.high;
	if (which)
		a.high = fmin(a.high, p->panel[panel].top);
	if (!(a.low <= a.high)) {
		a.low = a.log ? 1 : 0;
		a.high = a.log ? 10 : 1;
	}
	round_axis(&a);
	return a;
}

static double place_on(const struct axis *a, double v)
{
	return ((a->log ? log10(v) : v) - a->low) / (a->high - a->low);
}

static int width_of(const struct plot *p)
{
	return p->panels > 1 ? WIDE : WIDE_ALONE;
}

static double at_x(const struct plot *p, const struct axis *a, double v)
{
	return LEFT + place_on(a, v) * (width_of(p) - LEFT - RIGHT);
}

static double at_y(const struct axis *a, double v)
{
	return HIGH - BOTTOM - place_on(a, v) * (HIGH - TOP - BOTTOM);
}

/* Prints the text at a tick: powers of ten have their exponent raised. */
static void put_tick_text(FILE *f, double x, double y, const char *anchor, const struct axis *a,
			  double v)
{
	char s[32];

	snprintf(s, sizeof(s), "%.6g", fabs(v) < 1e-12 ? 0 : v);
	if (a->log)
		fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='%s'>10<tspan dy='-5' "
			"style='font-size:9px'>%.0f</tspan></text>\n", x, y, anchor, log10(v));
	else
		fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>\n", x, y, anchor, s);
}

static void put_tick(FILE *f, const struct plot *p, const struct axis *a, int which, double v)
{
	double at = which ? at_y(a, v) : at_x(p, a, v);

	if (which) {
		fprintf(f, "<path class='g' d='M%d %.1fH%d'/>\n", LEFT, at, width_of(p) - RIGHT);
		put_tick_text(f, LEFT - 6, at + 4, "end", a, v);
	} else {
		fprintf(f, "<path class='g' d='M%.1f %dV%d'/>\n", at, TOP, HIGH - BOTTOM);
		put_tick_text(f, at, HIGH - BOTTOM + 17, "middle", a, v);
	}
}

static void put_ticks(FILE *f, const struct plot *p, const struct axis *a, int which)
{
	double step = a->log ? fmax(1, ceil((a->high - a->low) / 7)) : step_of(a->high - a->low);
	int n = (int)floor((a->high - a->low) / step + 1e-6);

	for (int i = 0; i <= n; i++) {
		double v = a->low + i * step;

		put_tick(f, p, a, which, a->log ? pow(10, v) : v);
	}
}

static void put_words(FILE *f, const struct plot *p, const struct panel *panel,
		      const struct axis *a)
{
	for (size_t i = 0; i < panel->n_words; i++) {
		double x = at_x(p, a, (double)i);

		fprintf(f, "<path class='g' d='M%.1f %dV%d'/>\n", x, TOP, HIGH - BOTTOM);
		put_svg_text(f, x, HIGH - BOTTOM + 17, " text-anchor='middle'", panel->words[i]);
	}
}

/*
 * Return: the number of the style: the number of different styles before the first curve with this
 * style.
 */
static size_t style_of(const struct plot *p, const struct curve *c)
{
	size_t n = 0;

	for (size_t i = 0; i < p->curves; i++) {
		size_t k = 0;

		while (k < i && strcmp(p->curve[k].like, p->curve[i].like))
			k++;
		if (k < i)
			continue;
		if (!strcmp(p->curve[i].like, c->like))
			break;
		n++;
	}
	return n;
}

static const char *colour_of(const struct plot *p, const struct curve *c)
{
	return colours[style_of(p, c) % COLOURS];
}

/* Return: the dashes of a curve: together with the marks they differ for the first 24 curves. */
static const char *dashes_of(const struct plot *p, const struct curve *c)
{
	static const char *const dashes[DASHES] = { "", " stroke-dasharray='7 3'",
		" stroke-dasharray='2 3'", " stroke-dasharray='9 3 2 3'" };

	return dashes[style_of(p, c) % DASHES];
}

static void put_mark(FILE *f, const struct plot *p, const struct curve *c, double x, double y)
{
	static const char *const shapes[MARKS] = {
		"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z", "m-3 -3h6v6h-6z", "m0 -4l3.6 6.5h-7.2z",
		"m0 -4.2l3.6 4.2l-3.6 4.2l-3.6 -4.2z",
		"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", "m-3.3 -3.3h6.6v6.6h-6.6z",
	};
	size_t style = style_of(p, c), mark = (style + style / DASHES) % MARKS;
	const char *colour = colour_of(p, c);

	fprintf(f, "<path class='m' stroke='%s' fill='%s' d='M%.1f %.1f%s'/>\n", colour,
		mark < FILLED ? colour : "#fff", x, y, shapes[mark]);
}

/*
 * Draws an error bar. An error bar that would leave the frame ends at the frame, without a stroke
 * across its end.
 */
static void put_error_bar(FILE *f, const char *colour, const struct axis *y, double at,
			  const double *v)
{
	double low = at_y(y, v[1] - v[2]), high = at_y(y, v[1] + v[2]);

	if (!(v[2] > 0) || (y->log && v[1] <= v[2]))
		return;
	fprintf(f, "<path class='e' stroke='%s' d='M%.1f %.1fV%.1f", colour, at,
		fmin(low, HIGH - BOTTOM), fmax(high, TOP));
	if (high >= TOP)
		fputs("m-3 0h6", f);
	if (low <= HIGH - BOTTOM)
		fprintf(f, "M%.1f %.1fh6", at - 3, low);
	fputs("'/>\n", f);
}

static void draw_line(FILE *f, const struct plot *p, const struct curve *c, const struct axis *x,
		      const struct axis *y)
{
	fprintf(f, "<path class='c' clip-path='url(#p%zu)' stroke='%s'%s d='", c->panel,
		colour_of(p, c), dashes_of(p, c));
	for (size_t k = 0; k < c->n; k++)
		fprintf(f, "%c%.1f %.1f", k ? 'L' : 'M', at_x(p, x, c->at[3 * k]),
			at_y(y, c->at[3 * k + 1]));
	fputs("'/>\n", f);
}

/* Draws a curve. Points above the frame have no mark; the line leads there. */
static void draw_curve(FILE *f, const struct plot *p, const struct curve *c,
		       const struct axis *x, const struct axis *y)
{
	if (c->look != PLOT_MARKS)
		draw_line(f, p, c, x, y);
	for (size_t k = 0; k < c->n; k++) {
		const double *v = c->at + 3 * k;
		double at = at_x(p, x, v[0]);

		if (place_on(y, v[1]) > 1.001)
			continue;
		put_error_bar(f, colour_of(p, c), y, at, v);
		if (c->look != PLOT_LINE)
			put_mark(f, p, c, at, at_y(y, v[1]));
	}
}

static void draw_curves(FILE *f, const struct plot *p, size_t i, const struct axis *x,
			const struct axis *y)
{
	bool none = true;

	fprintf(f, "<clipPath id='p%zu'><rect x='%d' y='%d' width='%d' height='%d'/></clipPath>\n",
		i, LEFT - 1, TOP - 1, width_of(p) - LEFT - RIGHT + 2, HIGH - TOP - BOTTOM + 2);
	for (size_t k = 0; k < p->curves; k++) {
		if (p->curve[k].panel != i || !p->curve[k].n)
			continue;
		draw_curve(f, p, &p->curve[k], x, y);
		none = false;
	}
	if (none)
		put_svg_text(f, (LEFT + width_of(p) - RIGHT) / 2.0, (TOP + HIGH - BOTTOM) / 2.0,
			     " text-anchor='middle'", p->panel[i].log[1] ? "no value above 0" :
			     "no value");
}

static void draw_plot_panel(FILE *f, const struct plot *p, size_t i, size_t left, size_t top)
{
	const struct panel *panel = &p->panel[i];
	struct axis x = axis_of(p, i, 0), y = axis_of(p, i, 1);
	char turned[96];

	fprintf(f, "<g transform='translate(%zu %zu)'>\n", left, top);
	put_svg_text(f, LEFT, TOP - 10, " class='t'", panel->title);
	if (panel->words)
		put_words(f, p, panel, &x);
	else
		put_ticks(f, p, &x, 0);
	put_ticks(f, p, &y, 1);
	fprintf(f, "<path class='a' d='M%d %dV%dH%d'/>\n", LEFT, TOP, HIGH - BOTTOM,
		width_of(p) - RIGHT);
	put_svg_text(f, (LEFT + width_of(p) - RIGHT) / 2.0, HIGH - 14, " text-anchor='middle'",
		     panel->label[0]);
	snprintf(turned, sizeof(turned), " text-anchor='middle' transform='rotate(-90 %d %d)'",
		 LABEL_Y, (TOP + HIGH - BOTTOM) / 2);
	put_svg_text(f, LABEL_Y, (TOP + HIGH - BOTTOM) / 2.0, turned, panel->label[1]);
	draw_curves(f, p, i, &x, &y);
	fputs("</g>\n", f);
}

/* Return: true if no earlier curve has the name of this one. */
static bool is_first_of_name(const struct plot *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(p->curve[k].name, p->curve[i].name))
			return false;
	return true;
}

static void put_legend_entry(FILE *f, const struct plot *p, const struct curve *c, double x,
			     double y)
{
	if (c->look != PLOT_MARKS)
		fprintf(f, "<path class='c' stroke='%s'%s d='M%.1f %.1fh34'/>\n", colour_of(p, c),
			dashes_of(p, c), x, y);
	if (c->look != PLOT_LINE)
		put_mark(f, p, c, x + 17, y);
	put_svg_text(f, x + 40, y + 4, "", c->name);
}

/* Lists each name once. Return: how many there are; with @f NULL they are only counted. */
static size_t put_legend(FILE *f, const struct plot *p, size_t columns, size_t top)
{
	size_t n = 0;

	for (size_t i = 0; i < p->curves; i++) {
		if (!is_first_of_name(p, i))
			continue;
		if (f)
			put_legend_entry(f, p, &p->curve[i],
					 LEFT + (double)(n % columns * LEGEND_COLUMN),
					 (double)(top + 4 + n / columns * LEGEND_LINE));
		n++;
	}
	return n;
}

/* Places the panels: up to three panels stand in one row, more panels in rows of two. */
static void put_curves(FILE *f, const struct plot *p)
{
	size_t across = p->panels > 3 ? 2 : p->panels ? p->panels : 1;
	size_t rows = p->panels ? (p->panels + across - 1) / across : 1;
	size_t wide = (size_t)width_of(p) * across, top = HIGH * rows, high;
	size_t columns = (wide - LEFT) / LEGEND_COLUMN;

	if (!columns)
		columns = 1;
	high = top + 8 + (put_legend(NULL, p, columns, top) + columns - 1) / columns * LEGEND_LINE;
	fprintf(f, "<?xml version='1.0' encoding='UTF-8'?>\n"
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %zu %zu' width='%zu'"
		" height='%zu'>\n<style>text{font:12px sans-serif}.t{font-weight:bold}"
		".a,.c,.e,.g{fill:none}.a{stroke:#000}.c{stroke-width:1.6}.e{stroke-width:1}"
		".g{stroke:#ccc;stroke-width:.7}.m{stroke-width:1.2}</style>\n"
		"<rect width='100%%' height='100%%' fill='#fff'/>\n", wide, high, wide, high);
	put_svg_text(f, LEFT, 22, " style='font-size:15px'", p->title);
	for (size_t i = 0; i < p->panels; i++)
		draw_plot_panel(f, p, i, i % across * (size_t)width_of(p), i / across * HIGH);
	put_legend(f, p, columns, top);
	fputs("</svg>\n", f);
}

static void plot_free(struct plot *p)
{
	for (size_t i = 0; i < p->panels; i++) {
		free(p->panel[i].title);
		free(p->panel[i].label[0]);
		free(p->panel[i].label[1]);
	}
	for (size_t i = 0; i < p->curves; i++) {
		free(p->curve[i].name);
		free(p->curve[i].like);
		free(p->curve[i].at);
	}
	free(p->panel);
	free(p->curve);
	free(p->title);
	free(p);
}

int plot_write(struct plot *p, const char *file)
{
	int status = OK;
	FILE *f;

	if (!p || p->failed) {
		if (p)
			plot_free(p);
		return fail("out of memory");
	}
	f = fopen(file, "w");
	if (f)
		put_curves(f, p);
	if (!f || fflush(f) || ferror(f))
		status = fail("cannot write '%s': %s", file, strerror(errno));
	if (f && fclose(f) && status == OK)
		status = fail("cannot write '%s': %s", file, strerror(errno));
	plot_free(p);
	return status;
}
