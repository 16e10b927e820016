// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "address_tree.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

#define STEP_X	64
#define STEP_Y	48
#define TOP	56

char *address_digits(uint32_t address, unsigned int m, char buf[TORUS_DM_DIGITS_MAX + 1])
{
	for (unsigned int i = 0; i < m; i++)
		buf[i] = (char)('0' + (address >> (m - 1 - i) & 1));
	buf[m] = '\0';
	return buf;
}

/** struct tree - a drawing; @leaves: leaves that were drawn */
struct tree {
	FILE *f;
	const struct torus_dm *dm;
	unsigned int m, leaves;
};

static void draw_leaf(struct tree *t, double x, uint32_t address)
{
	char digits[TORUS_DM_DIGITS_MAX + 1];
	unsigned int y = TOP + t->m * STEP_Y;

	fprintf(t->f, "<text x='%.1f' y='%u' class='v'>%u</text>"
		"<text x='%.1f' y='%u'>%s</text>\n", x, y + 16,
		torus_dm_vertex(t->dm, address), x, y + 32, address_digits(address, t->m, digits));
}

/*
 * Draws the subtree of the addresses that begin with the @len digits of @prefix. Return: x of its
 * root; negative if no vertex has such an address.
 */
static double draw_subtree(struct tree *t, uint32_t prefix, unsigned int len)
{
	double x[2], at;

	if (len == t->m) {
		if (torus_dm_vertex(t->dm, prefix) == TORUS_NO_NODE)
			return -1;
		at = STEP_X * (t->leaves++ + 0.5);
		draw_leaf(t, at, prefix);
		return at;
	}
	x[0] = draw_subtree(t, prefix << 1, len + 1);
	x[1] = draw_subtree(t, prefix << 1 | 1, len + 1);
	if (x[0] < 0 && x[1] < 0)
		return -1;
	at = x[1] < 0 ? x[0] : x[0] < 0 ? x[1] : (x[0] + x[1]) / 2;
	for (unsigned int i = 0; i < 2; i++) {
		if (x[i] < 0)
			continue;
		fprintf(t->f, "<line x1='%.1f' y1='%u' x2='%.1f' y2='%u'/>"
			"<text x='%.1f' y='%u'>%u</text>\n",
			at, TOP + len * STEP_Y, x[i], TOP + (len + 1) * STEP_Y,
			(at + x[i]) / 2 + (i ? 8 : -8), TOP + len * STEP_Y + STEP_Y / 2, i);
	}
	return at;
}

/* Writes @text, in which file names may have characters that SVG has other uses for. */
static void write_title(FILE *f, const char *text)
{
	for (; *text; text++)
		if (strchr("<>&", *text))
			fprintf(f, "&#%d;", *text);
		else
			putc(*text, f);
}

int address_tree(const char *file, const char *title, const struct torus_dm *dm, uint32_t n)
{
	struct tree t = { .f = fopen(file, "w"), .dm = dm, .m = torus_dm_digits(dm) };

	if (!t.f)
		return fail("--svg %s: %s", file, strerror(errno));
	fprintf(t.f, "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u'>\n"
		"<style>text{font:13px sans-serif;text-anchor:middle}.v{font-weight:bold}"
		"line{stroke:#444}</style>\n<rect width='100%%' height='100%%' fill='white'/>\n"
		"<text x='%u' y='24' class='v'>", n * STEP_X, TOP + t.m * STEP_Y + 48,
		n * STEP_X / 2);
	write_title(t.f, title);
	fputs("</text>\n", t.f);
	draw_subtree(&t, 0, 0);
	fputs("</svg>\n", t.f);
	if (ferror(t.f) | fclose(t.f))
		return fail("--svg %s: cannot write", file);
	return OK;
}
