// SPDX-License-Identifier: GPL-2.0-only
/* Draws the eye of a lane: the bit error rate by time and voltage of the decision, and the mask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>

#include "ask.h"
#include "json.h"
#include "output.h"

#define HALF_UI	500		/* half of the eye's width, 1/1000 UI */
#define GOOD_ENOUGH 12		/* -log10 of the bit error rate from which on a cell is drawn as
				 * open */
#define DECADES	18		/* -log10 of the bit error rate at which the scale ends */
/* Sizes in the drawing, in pixels. */
#define CELL	10
#define LEFT	70
#define TOP	56
#define WIDE	(CELL * TORUS_EYE_COLS)
#define HIGH	(CELL * TORUS_EYE_ROWS)

static uint64_t lane;
static const char *svg;

struct eye {
	int swing, height, width;
	int map[TORUS_EYE_ROWS][TORUS_EYE_COLS];
};

static int eye_read(const json_t *j, struct eye *e)
{
	const json_t *rows = json_object_get(j, "rows");

	e->swing = (int)json_count(j, "swing");
	e->height = (int)json_count(j, "mask_height");
	e->width = (int)json_count(j, "mask_width");
	for (size_t r = 0; r < TORUS_EYE_ROWS; r++) {
		const char *text = json_string_value(json_array_get(rows, r));

		if (!text || strlen(text) != 2 * TORUS_EYE_COLS)
			return fail_as(PROBLEM, "the manager's answer is not an eye diagram");
		for (size_t c = 0; c < TORUS_EYE_COLS; c++) {
			const char two[3] = { text[2 * c], text[2 * c + 1] };

			e->map[r][c] = (int)strtol(two, NULL, 16);
			if (e->map[r][c] > DECADES)
				return fail_as(PROBLEM, "the manager's answer is not an eye "
					       "diagram");
		}
	}
	return e->swing > 0 ? OK :
				fail_as(PROBLEM, "the manager's answer is an eye without a size");
}

static int offset_of(const struct eye *e, int row)
{
	return (TORUS_EYE_ROWS / 2 - row) * e->swing / (TORUS_EYE_ROWS / 2);
}

static int phase_of(int col)
{
	return (col - TORUS_EYE_COLS / 2) * HALF_UI / (TORUS_EYE_COLS / 2);
}

/* Return: true if the cell is inside of the mask, a rhombus. */
static bool in_mask(const struct eye *e, int row, int col)
{
	return abs(offset_of(e, row)) * e->width + abs(phase_of(col)) * e->height <=
	       e->height * e->width;
}

/*
 * Return: a character for the bit error rate 10^-@n, darker for higher rates; the eye begins at the
 * target rate, 1e-12.
 */
static char eye_shade(int n, bool mask)
{
	if (mask)
		return n >= GOOD_ENOUGH ? 'o' : 'X';
	return n >= GOOD_ENOUGH ? ' ' : n >= 9 ? '.' : n >= 6 ? ':' : n >= 3 ? '+' : '#';
}

/* Return: a note on a lane that is not in use, or "". */
static const char *lane_note(const json_t *j)
{
	const char *state = json_text(j, "state");

	if (!state || !strcmp(state, "on"))
		return "";
	if (!strcmp(state, "dead"))
		return ": dead, without a signal, and switched off";
	if (!strcmp(state, "poor"))
		return ": poor, no setting reaches the target error rate, and switched off";
	return ": off, not trained yet";
}

static void draw_eye(const json_t *j, const struct eye *e)
{
	char end[TORUS_TEXT_MAX], line[TORUS_EYE_COLS + 1] = { 0 };

	printf("%s lane %llu%s\n\n", json_end_text(j, end),
	       (unsigned long long)json_count(j, "lane"), lane_note(j));
	for (int r = 0; r < TORUS_EYE_ROWS; r++) {
		for (int c = 0; c < TORUS_EYE_COLS; c++)
			line[c] = eye_shade(e->map[r][c], in_mask(e, r, c));
		if (r % 4)
			printf("        |%s|\n", line);
		else
			printf("%+4d mV |%s|\n", offset_of(e, r), line);
	}
	printf("       %-16s%-16s%-17s%-13s%s\n\n", "-0.5 UI", "   -0.25", "     0", "   +0.25",
	       "+0.5 UI");
	printf("bit error rate if decided there: # 1e-3 and more, + 1e-6, : 1e-9, . 1e-12, blank "
	       "less;\no the mask, X where it is touched by 1e-12 and more\n");
}

/* --- SVG -------------------------------------------------------------------- */

/* Writes the colour of 10^-@n: from dark violet (error rate 1/2) to bright yellow (no errors). */
static void eye_colour(int n, char *buf)
{
	static const int stop[][3] = {
		{ 68, 1, 84 }, { 71, 45, 123 }, { 59, 82, 139 }, { 44, 114, 142 },
		{ 33, 144, 141 }, { 39, 173, 129 }, { 93, 200, 99 }, { 170, 220, 50 },
		{ 253, 231, 37 }, { 255, 249, 196 },
	};
	int i = n / 2, odd = n % 2, rgb[3];

	for (int k = 0; k < 3; k++)
		rgb[k] = (stop[i][k] + stop[odd ? i + 1 : i][k]) / 2;
	snprintf(buf, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

/* Draws neighbouring cells of one colour as one rectangle, without seams. */
static void svg_cells(FILE *f, const struct eye *e)
{
	char rgb[8];

	for (int r = 0; r < TORUS_EYE_ROWS; r++)
		for (int c = 0, from = 0; c < TORUS_EYE_COLS; c++) {
			if (c + 1 < TORUS_EYE_COLS && e->map[r][c + 1] == e->map[r][c])
				continue;
			eye_colour(e->map[r][c], rgb);
			fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
				"fill=\"%s\"/>\n", LEFT + CELL * from, TOP + CELL * r,
				CELL * (c + 1 - from), CELL, rgb);
			from = c + 1;
		}
}

/* Draws the line at which the target error rate is reached: the borders of the cells inside. */
static void svg_contour(FILE *f, const struct eye *e)
{
	fputs("<path fill=\"none\" stroke=\"black\" stroke-width=\"1.5\" d=\"", f);
	for (int r = 0; r < TORUS_EYE_ROWS; r++)
		for (int c = 0; c < TORUS_EYE_COLS; c++) {
			bool in = e->map[r][c] >= GOOD_ENOUGH;
			int x = LEFT + CELL * (c + 1), y = TOP + CELL * (r + 1);

			if (c + 1 < TORUS_EYE_COLS && in != (e->map[r][c + 1] >= GOOD_ENOUGH))
				fprintf(f, "M%d %dv%d", x, y, -CELL);
			if (r + 1 < TORUS_EYE_ROWS && in != (e->map[r + 1][c] >= GOOD_ENOUGH))
				fprintf(f, "M%d %dh%d", x, y, -CELL);
		}
	fputs("\"/>\n", f);
}

static void svg_mask(FILE *f, const struct eye *e)
{
	int x = LEFT + WIDE / 2, y = TOP + HIGH / 2;
	int mx = e->width * (WIDE - CELL) / 2 / HALF_UI;
	int my = e->height * (HIGH - CELL) / 2 / e->swing;

	fprintf(f, "<polygon points=\"%d,%d %d,%d %d,%d %d,%d\" fill=\"#808080\" "
		"fill-opacity=\"0.55\" stroke=\"#202020\" stroke-width=\"1.5\"/>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">mask</text>\n",
		x - mx, y, x, y - my, x + mx, y, x, y + my, x, y + 4);
}

static void svg_axes(FILE *f, const struct eye *e)
{
	for (int r = 0; r < TORUS_EYE_ROWS; r += 4) {
		int y = TOP + CELL * r + CELL / 2;

		fprintf(f, "<path d=\"M%d %dh-5\" stroke=\"black\"/><text x=\"%d\" y=\"%d\" "
			"text-anchor=\"end\">%d</text>\n", LEFT, y, LEFT - 9, y + 4,
			offset_of(e, r));
	}
	for (int c = 0; c < TORUS_EYE_COLS; c += 8) {
		int x = LEFT + CELL * c + CELL / 2;

		fprintf(f, "<path d=\"M%d %dv5\" stroke=\"black\"/><text x=\"%d\" y=\"%d\" "
			"text-anchor=\"middle\">%.3g</text>\n", x, TOP + HIGH, x, TOP + HIGH + 18,
			phase_of(c) / (2.0 * HALF_UI));
	}
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">unit intervals from the centre"
		"</text>\n<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">"
		"mV from the centre</text>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"fill=\"none\" stroke=\"black\"/>\n", LEFT + WIDE / 2, TOP + HIGH + 38,
		TOP + HIGH / 2, LEFT, TOP, WIDE, HIGH);
}

/* Draws the scale, with the best rate on top. */
static void svg_legend(FILE *f)
{
	int x = LEFT + WIDE + 24, step = HIGH / (DECADES + 1);
	char rgb[8];

	for (int n = DECADES; n >= 0; n--) {
		int y = TOP + (DECADES - n) * step;

		eye_colour(n, rgb);
		fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"%d\" fill=\"%s\"/>\n", x,
			y, step, rgb);
		if (n % 3 == 0)
			fprintf(f, "<text x=\"%d\" y=\"%d\">%s1e-%d</text>\n", x + 26,
				y + step / 2 + 4, n == DECADES ? "below " : n ? "" : "up to ", n);
	}
}

static int svg_write(const json_t *j, const struct eye *e)
{
	FILE *f = fopen(svg, "w");
	char end[TORUS_TEXT_MAX];

	if (!f)
		return fail("'%s': %m", svg);
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"15\">Eye of %s, lane %llu%s</text>\n"
		"<text x=\"%d\" y=\"42\">Bit error rate by where a bit is decided; black line: "
		"1e-%d</text>\n", LEFT + WIDE + 130, TOP + HIGH + 52, LEFT,
		json_end_text(j, end), (unsigned long long)json_count(j, "lane"), lane_note(j),
		LEFT, GOOD_ENOUGH);
	svg_cells(f, e);
	svg_contour(f, e);
	svg_mask(f, e);
	svg_axes(f, e);
	svg_legend(f);
	fputs("</svg>\n", f);
	return fclose(f) ? fail("'%s': %m", svg) : OK;
}

static int show_eye(const struct ctl *ctl, json_t *data)
{
	struct eye e;
	int status = eye_read(data, &e);

	if (status == OK && svg)
		status = svg_write(data, &e);
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK && !svg)
		draw_eye(data, &e);
	return status;
}

/*
 * Adds the state of the lane to its eye, because the eye of a lane that is off is closed. The state
 * is null if the manager does not report it.
 */
static int add_state(struct ask *a, const char *node, const char *port, json_t *data)
{
	json_t *links, *v;
	size_t i;
	int status = ask(a, json_pack("{ss ss sb}", "cmd", "links", "node", node, "lanes", 1),
			 &links);

	json_object_set_new(data, "state", json_null());
	if (status != OK)
		return status;
	json_array_foreach(links, i, v) {
		const json_t *l = json_array_get(json_object_get(v, "lane"), (size_t)lane);
		const char *at = json_text(v, "port"), *state = json_text(l, "state");

		if (at && !strcmp(at, port) && state)
			json_object_set_new(data, "state", json_string(state));
	}
	json_decref(links);
	return OK;
}

static int link_eye(struct ctl *ctl, int argc, char **argv)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	json_t *data;
	struct ask a;
	int status, shown;

	(void)argc;
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask_link(&a, argv[0], node, port);
	if (status == OK)
		status = ask(&a, json_pack("{ss ss ss sI}", "cmd", "eye", "node", node, "port",
					   port, "lane", (json_int_t)lane), &data);
	if (status == OK) {
		status = add_state(&a, node, port, data);
		shown = show_eye(ctl, data);
		status = shown == OK ? status : shown;
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "lane", 'l', "N", &lane, 0, TORUS_LANES_MAX - 1, "which lane (0)" },
	{ OPT_TEXT, "svg", 's', "FILE", &svg, 0, 0, "draw it into FILE" },
	{ .kind = OPT_END },
};

COMMAND(link_eye) = {
	.family = "link",
	.name = "eye",
	.args = "NODE:PORT",
	.brief = "Signal quality of one lane: at which time and voltage bits are read right",
	.help = "Draws the eye diagram of a lane of the receiver at NODE:PORT: the bit error rate\n"
		"at each time and voltage at which a bit could be sampled, and the mask, the\n"
		"opening in the middle that the receiver needs. It is measured while traffic goes\n"
		"on.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_eye,
};
