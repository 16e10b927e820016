// SPDX-License-Identifier: GPL-2.0-only
/* The eye of a lane: where in time and voltage bits are decided right, and the mask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>

#include "ask.h"
#include "json.h"
#include "say.h"

#define HALF_UI	500		/* 1/1000 UI */
#define GOOD_ENOUGH 12		/* -log10 of the bit error rate, drawn as open */

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
			return fail("the manager's answer is no eye");
		for (size_t c = 0; c < TORUS_EYE_COLS; c++) {
			const char two[3] = { text[2 * c], text[2 * c + 1] };

			e->map[r][c] = (int)strtol(two, NULL, 16);
		}
	}
	return OK;
}

static int offset_of(const struct eye *e, int row)
{
	return (TORUS_EYE_ROWS / 2 - row) * e->swing / (TORUS_EYE_ROWS / 2);
}

static int phase_of(int col)
{
	return (col - TORUS_EYE_COLS / 2) * HALF_UI / (TORUS_EYE_COLS / 2);
}

/* The mask is a rhombus. */
static bool in_mask(const struct eye *e, int row, int col)
{
	return abs(offset_of(e, row)) * e->width + abs(phase_of(col)) * e->height <=
	       e->height * e->width;
}

static void draw(const json_t *j, const struct eye *e)
{
	char end[TORUS_TEXT_MAX];

	printf("%s lane %llu: columns -0.5 to +0.5 UI\n", json_end_text(j, end),
	       (unsigned long long)json_count(j, "lane"));
	for (int r = 0; r < TORUS_EYE_ROWS; r++) {
		printf("%+5d mV ", offset_of(e, r));
		for (int c = 0; c < TORUS_EYE_COLS; c++) {
			int n = e->map[r][c];
			bool mask = in_mask(e, r, c);

			putchar(n >= GOOD_ENOUGH ? mask ? 'o' : ' ' : mask ? 'X' :
				n < 3 ? '#' : n < 6 ? '+' : n < 9 ? '-' : '.');
		}
		putchar('\n');
	}
	printf("bit error rate: # 1e-3 and more, + 1e-6, - 1e-9, . 1e-12; o the mask, X where "
	       "it sees errors\n");
}

static void svg_cells(FILE *f, const struct eye *e)
{
	for (int r = 0; r < TORUS_EYE_ROWS; r++)
		for (int c = 0; c < TORUS_EYE_COLS; c++) {
			int n = e->map[r][c];

			if (n < 18)
				fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"10\" "
					"height=\"10\" fill=\"hsl(%d,80%%,%d%%)\"/>\n",
					60 + 10 * c, 30 + 10 * r, 13 * n, 45 + 2 * n);
		}
}

static int svg_write(const json_t *j, const struct eye *e)
{
	int w = 10 * TORUS_EYE_COLS, h = 10 * TORUS_EYE_ROWS, x = 60 + w / 2, y = 30 + h / 2;
	int mx = e->width * (w - 10) / 2 / HALF_UI;
	int my = e->height * (h - 10) / 2 / (e->swing ? e->swing : 1);
	FILE *f = fopen(svg, "w");
	char end[TORUS_TEXT_MAX];

	if (!f)
		return fail("'%s': %m", svg);
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"60\" y=\"20\">Eye of %s, lane %llu: colour by bit error rate, "
		"white below 1e-18</text>\n", w + 80, h + 70, json_end_text(j, end),
		(unsigned long long)json_count(j, "lane"));
	svg_cells(f, e);
	fprintf(f, "<polygon points=\"%d,%d %d,%d %d,%d %d,%d\" fill=\"gray\" "
		"fill-opacity=\"0.4\" stroke=\"black\"/>\n", x - mx, y, x, y - my, x + mx, y,
		x, y + my);
	fprintf(f, "<text x=\"5\" y=\"40\">+%d mV</text><text x=\"5\" y=\"%d\">-%d mV</text>\n"
		"<text x=\"60\" y=\"%d\">-0.5 UI</text><text x=\"%d\" y=\"%d\">+0.5 UI</text>\n"
		"</svg>\n", e->swing, 30 + h, e->swing, 50 + h, 20 + w, 50 + h);
	return fclose(f) ? fail("'%s': %m", svg) : OK;
}

static int show_eye(const struct ctl *ctl, json_t *data)
{
	struct eye e;
	int status = eye_read(data, &e) ? CANNOT : OK;

	if (status == OK && svg)
		status = svg_write(data, &e);
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK && !svg)
		draw(data, &e);
	return status;
}

static int link_eye(struct ctl *ctl, int argc, char **argv)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	json_t *data;
	struct ask a;
	int status;

	(void)argc;
	if (ask_open(ctl, &a))
		return CANNOT;
	status = ask_link(&a, argv[0], node, port);
	if (status == OK)
		status = ask(&a, json_pack("{ss ss ss sI}", "cmd", "eye", "node", node, "port",
					   port, "lane", (json_int_t)lane), &data);
	if (status == OK) {
		status = show_eye(ctl, data);
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
	.brief = "The eye of a lane of a link's receiver, with its mask",
	.help = "Where in time and voltage a bit may be decided, by bit error rate. The receiver's\n"
		"eye monitor measures it while traffic goes on.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_eye,
};
