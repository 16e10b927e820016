// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/say.h"

/* Pixels. */
#define WIDE 440
#define HIGH 330
#define LEFT 62
#define RIGHT 14
#define TOP 58
#define BOTTOM 48
#define LEGEND_LINE 17
#define LEGEND_COLUMN 220

struct curve {
	char *name;
	size_t panel;
	double *at;		/* x, y, error */
	size_t n;
};

struct axis {
	bool log;
	double low, high;
};

struct panel {
	char *title, *label[2];
	bool log[2];
	double top;
};

struct plot {
	char *title;
	struct panel *panel;
	struct curve *curve;
	size_t panels, curves;
	bool failed;
};

/* Told apart by people with any kind of colour sight (Okabe and Ito's palette). */
static const char *const colours[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00",
};

#define COLOURS (sizeof(colours) / sizeof(colours[0]))

struct plot *plot_new(const char *title)
{
	struct plot *p = calloc(1, sizeof(*p));

	if (p)
		p->title = strdup(title);
	return p;
}

/* Room for one more of @size at @list, which has @n. Return: NULL: failed. */
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

void plot_curve(struct plot *p, const char *name)
{
	struct curve *more = p && p->panels ?
			     grow_list(p, p->curve, p->curves, sizeof(*more)) : NULL;

	if (!more)
		return;
	p->curve = more;
	more[p->curves++] = (struct curve){ .name = strdup(name), .panel = p->panels - 1 };
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

/* The largest of 1, 2, 5 x 10^n that makes at least four steps of @span. */
static double step_of(double span)
{
	double base = pow(10, floor(log10(span / 4)));

	return base * (span / 4 >= 5 * base ? 5 : span / 4 >= 2 * base ? 2 : 1);
}

static struct axis axis_of(const struct plot *p, size_t panel, int which)
{
	struct axis a = { .log = p->panel[panel].log[which], .low = INFINITY, .high = -INFINITY };

	for (size_t i = 0; i < p->curves; i++) {
		const struct curve *c = &p->curve[i];

		for (size_t k = 0; c->panel == panel && k < c->n; k++) {
			a.low = fmin(a.low, c->at[3 * k + (size_t)which]);
			a.high = fmax(a.high, c->at[3 * k + (size_t)which]);
		}
	}
	if (which)
		a.high = fmin(a.high, p->panel[panel].top);
	if (!(a.low <= a.high)) {
		a.low = a.log ? 1 : 0;
		a.high = a.log ? 10 : 1;
	}
	if (a.log) {
		a.low = floor(log10(a.low) + 1e-9);
		a.high = fmax(ceil(log10(a.high) - 1e-9), a.low + 1);
	} else {
		double step;

		/* near enough to zero to begin there */
		if (a.low > 0 && a.low < a.high / 2)
			a.low = 0;
		if (a.high <= a.low)
			a.high = a.low + fmax(fabs(a.low), 1);
		step = step_of(a.high - a.low);
		a.low = floor(a.low / step + 1e-9) * step;
		a.high = ceil(a.high / step - 1e-9) * step;
	}
	return a;
}

static double place_on(const struct axis *a, double v)
{
	return ((a->log ? log10(v) : v) - a->low) / (a->high - a->low);
}

static double at_x(const struct axis *a, double v)
{
	return LEFT + place_on(a, v) * (WIDE - LEFT - RIGHT);
}

static double at_y(const struct axis *a, double v)
{
	return HIGH - BOTTOM - fmin(fmax(place_on(a, v), -0.02), 1.02) * (HIGH - TOP - BOTTOM);
}

static void put_tick(FILE *f, const struct axis *a, int which, double v)
{
	char s[32];

	snprintf(s, sizeof(s), "%.6g", fabs(v) < 1e-12 && !a->log ? 0 : v);
	if (which) {
		double y = at_y(a, v);

		fprintf(f, "<path class='g' d='M%d %.1fH%d'/>\n", LEFT, y, WIDE - RIGHT);
		put_svg_text(f, LEFT - 6, y + 4, " text-anchor='end'", s);
	} else {
		double x = at_x(a, v);

		fprintf(f, "<path class='g' d='M%.1f %dV%d'/>\n", x, TOP, HIGH - BOTTOM);
		put_svg_text(f, x, HIGH - BOTTOM + 16, " text-anchor='middle'", s);
	}
}

static void put_ticks(FILE *f, const struct axis *a, int which)
{
	double step = a->log ? fmax(1, ceil((a->high - a->low) / 7)) : step_of(a->high - a->low);
	int n = (int)floor((a->high - a->low) / step + 1e-6);

	for (int i = 0; i <= n; i++) {
		double v = a->low + i * step;

		put_tick(f, a, which, a->log ? pow(10, v) : v);
	}
}

/* Which of the names this is: it says colour and dashes. */
static size_t style_of(const struct plot *p, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < p->curves; i++) {
		size_t k = 0;

		while (k < i && strcmp(p->curve[k].name, p->curve[i].name))
			k++;
		if (k < i)
			continue;
		if (!strcmp(p->curve[i].name, name))
			break;
		n++;
	}
	return n;
}

static const char *colour_of(const struct plot *p, const char *name)
{
	return colours[style_of(p, name) % COLOURS];
}

static const char *dashes_of(const struct plot *p, const char *name)
{
	static const char *const dashes[] = { "", " stroke-dasharray='6 3'",
		" stroke-dasharray='2 3'", " stroke-dasharray='8 3 2 3'" };

	return dashes[style_of(p, name) / COLOURS % (sizeof(dashes) / sizeof(dashes[0]))];
}

static void draw_curve(FILE *f, const struct plot *p, const struct curve *c,
		       const struct axis *x, const struct axis *y)
{
	fprintf(f, "<path class='c' stroke='%s'%s d='", colour_of(p, c->name),
		dashes_of(p, c->name));
	for (size_t k = 0; k < c->n; k++)
		fprintf(f, "%c%.1f %.1f", k ? 'L' : 'M', at_x(x, c->at[3 * k]),
			at_y(y, c->at[3 * k + 1]));
	fputs("'/>\n", f);
	for (size_t k = 0; k < c->n; k++) {
		const double *v = c->at + 3 * k;

		if (place_on(y, v[1]) > 1.001)
			continue;
		fprintf(f, "<circle r='2.5' cx='%.1f' cy='%.1f' fill='%s'/>\n", at_x(x, v[0]),
			at_y(y, v[1]), colour_of(p, c->name));
		if (v[2] > 0 && !(y->log && v[1] <= v[2]))
			fprintf(f, "<path class='e' stroke='%s' d='M%.1f %.1fV%.1f'/>\n",
				colour_of(p, c->name), at_x(x, v[0]), at_y(y, v[1] - v[2]),
				at_y(y, v[1] + v[2]));
	}
}

static void draw_plot_panel(FILE *f, const struct plot *p, size_t i, size_t left, size_t top)
{
	const struct panel *panel = &p->panel[i];
	struct axis x = axis_of(p, i, 0), y = axis_of(p, i, 1);
	char turned[96];

	fprintf(f, "<g transform='translate(%zu %zu)'>\n", left, top);
	put_svg_text(f, LEFT, TOP - 10, " class='t'", panel->title);
	put_ticks(f, &x, 0);
	put_ticks(f, &y, 1);
	fprintf(f, "<path class='a' d='M%d %dV%dH%d'/>\n", LEFT, TOP, HIGH - BOTTOM,
		WIDE - RIGHT);
	put_svg_text(f, (LEFT + WIDE - RIGHT) / 2.0, HIGH - 12, " text-anchor='middle'",
		     panel->label[0]);
	snprintf(turned, sizeof(turned), " text-anchor='middle' transform='rotate(-90 14 %d)'",
		 (TOP + HIGH - BOTTOM) / 2);
	put_svg_text(f, 14, (TOP + HIGH - BOTTOM) / 2.0, turned, panel->label[1]);
	for (size_t k = 0; k < p->curves; k++)
		if (p->curve[k].panel == i && p->curve[k].n)
			draw_curve(f, p, &p->curve[k], &x, &y);
	fputs("</g>\n", f);
}

/* Each name once. Return: how many there are; @f NULL only counts. */
static size_t put_legend(FILE *f, const struct plot *p, size_t columns, size_t top)
{
	size_t n = 0;

	for (size_t i = 0; i < p->curves; i++) {
		size_t k = 0;
		double x, y;

		while (k < i && strcmp(p->curve[k].name, p->curve[i].name))
			k++;
		if (k < i)
			continue;
		x = LEFT + (double)(n % columns * LEGEND_COLUMN);
		y = (double)(top + 4 + n / columns * LEGEND_LINE);
		n++;
		if (!f)
			continue;
		fprintf(f, "<path class='c' stroke='%s'%s d='M%.1f %.1fh22'/>\n",
			colour_of(p, p->curve[i].name), dashes_of(p, p->curve[i].name), x, y);
		put_svg_text(f, x + 28, y + 4, "", p->curve[i].name);
	}
	return n;
}

/* Up to three panels stand in a row, more in rows of two. */
static void put_curves(FILE *f, const struct plot *p)
{
	size_t across = p->panels > 3 ? 2 : p->panels ? p->panels : 1;
	size_t rows = p->panels ? (p->panels + across - 1) / across : 1;
	size_t wide = WIDE * across, top = HIGH * rows, high;
	size_t columns = (wide - LEFT) / LEGEND_COLUMN;

	if (!columns)
		columns = 1;
	high = top + 8 + (put_legend(NULL, p, columns, top) + columns - 1) / columns * LEGEND_LINE;
	fprintf(f, "<?xml version='1.0' encoding='UTF-8'?>\n"
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %zu %zu' width='%zu'"
		" height='%zu'>\n<style>text{font:12px sans-serif}.t{font-weight:bold}"
		".a,.c,.e,.g{fill:none}.a{stroke:#000}.c{stroke-width:1.6}.e{stroke-width:1}"
		".g{stroke:#ddd;stroke-width:.7}</style>\n"
		"<rect width='100%%' height='100%%' fill='#fff'/>\n", wide, high, wide, high);
	put_svg_text(f, LEFT, 22, " style='font-size:15px'", p->title);
	for (size_t i = 0; i < p->panels; i++)
		draw_plot_panel(f, p, i, i % across * WIDE, i / across * HIGH);
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
