// SPDX-License-Identifier: GPL-2.0-only
/* Prints the planned cables with labels, and the steps from the present cables to the plan. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cabling.h"
#include "json.h"
#include "output.h"
#include "table.h"

static bool plan, csv;
static const char *svg, *expect, *shape_given;

/**
 * struct cabling - the fabric and its cables
 * @nodes: nodes of the fabric, with names; NULL: only the shape is known
 * @unknown: number of ends whose cable leads to a NIC that is not identified yet
 */
struct cabling {
	struct ask ask;
	struct torus_shape shape;
	json_t *nodes;
	unsigned int unknown;
};

static const char *name_at(const struct cabling *c, const json_t *node)
{
	size_t i;
	json_t *v;

	json_array_foreach(c->nodes, i, v)
		if (json_equal(json_object_get(v, "node"), node))
			return json_text(v, "name");
	return NULL;
}

/* Return: an end as {node, port, name}, a new reference */
static json_t *named_end(const struct cabling *c, const struct cables *of, uint32_t end)
{
	json_t *j = cables_end(of, end);
	const char *name = name_at(c, json_object_get(j, "node"));

	json_object_set_new(j, "name", name ? json_string(name) : json_null());
	return j;
}

/* Return: all cables, each once: {cable, from, to} */
static json_t *list_cables(const struct cabling *c, const struct cables *of)
{
	json_t *list = json_array();

	for (uint32_t end = 0; end < of->ends; end++)
		if (of->far[end] != CABLE_NONE && end % (2u * of->shape.ndims) < of->shape.ndims)
			json_array_append_new(list, json_pack("{sI so so}", "cable",
				(json_int_t)json_array_size(list) + 1, "from",
				named_end(c, of, end), "to", named_end(c, of, of->far[end])));
	return list;
}

/* --- the plan -------------------------------------------------------------------- */

/* Return: the label for one end of a cable: this end, and the other one. */
static char *label_text(const json_t *here, const json_t *there, char *buf, size_t room)
{
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX];
	const char *name = json_text(here, "name"), *far = json_text(there, "name");

	snprintf(buf, room, "%s%s%s > %s%s%s", name ? name : "", name ? " " : "",
		 json_end_text(here, a), far ? far : "", far ? " " : "", json_end_text(there, b));
	return buf;
}

static void print_cables(const json_t *list)
{
	static const char *const titles[] = { ">CABLE", "FROM", "TO", "LABEL AT FROM",
					      "LABEL AT TO", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX], label[4 * TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		const json_t *from = json_object_get(v, "from"), *to = json_object_get(v, "to");

		table_cell(t, PLAIN, "%zu", i + 1);
		table_cell(t, PLAIN, "%s", json_end_text(from, text));
		table_cell(t, PLAIN, "%s", json_end_text(to, text));
		table_cell(t, PLAIN, "%s", label_text(from, to, label, sizeof(label)));
		table_cell(t, PLAIN, "%s", label_text(to, from, label, sizeof(label)));
	}
	table_print(t, "no cables: all dimensions have the size 1");
}

static void print_csv(const json_t *list)
{
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX];
	char here[4 * TORUS_TEXT_MAX], there[4 * TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	printf("cable,from,to,label_from,label_to\n");
	json_array_foreach(list, i, v) {
		const json_t *from = json_object_get(v, "from"), *to = json_object_get(v, "to");

		printf("%zu,\"%s\",\"%s\",\"%s\",\"%s\"\n", i + 1, json_end_text(from, a),
		       json_end_text(to, b), label_text(from, to, here, sizeof(here)),
		       label_text(to, from, there, sizeof(there)));
	}
}

/*
 * Draws a label, two in a row, to be printed and cut out. Names and ports contain no characters
 * that SVG would need to escape.
 */
static void draw_label(FILE *f, const char *text, size_t cable, unsigned int x, unsigned int y)
{
	const char *arrow = strchr(text, '>');

	fprintf(f, "<rect x=\"%u\" y=\"%u\" width=\"360\" height=\"40\" fill=\"none\" "
		"stroke=\"black\"/>"
		"<text x=\"%u\" y=\"%u\">%zu: %.*s&gt;%s</text>\n", x, y, x + 8, y + 25, cable,
		(int)(arrow - text), text, arrow + 1);
}

static int draw_svg(const json_t *list)
{
	char label[4 * TORUS_TEXT_MAX];
	FILE *f = fopen(svg, "w");
	size_t i;
	json_t *v;

	if (!f)
		return fail("%s: %s", svg, strerror(errno));
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%zu\" "
		"font-family=\"monospace\" font-size=\"13\">\n", json_array_size(list) * 50 + 20);
	json_array_foreach(list, i, v) {
		const json_t *from = json_object_get(v, "from"), *to = json_object_get(v, "to");
		unsigned int y = (unsigned int)i * 50 + 10;

		draw_label(f, label_text(from, to, label, sizeof(label)), i + 1, 10, y);
		draw_label(f, label_text(to, from, label, sizeof(label)), i + 1, 390, y);
	}
	fprintf(f, "</svg>\n");
	if (fclose(f))
		return fail("%s: %s", svg, strerror(errno));
	return OK;
}

static int show_plan(const struct ctl *ctl, const struct cabling *c, const struct cables *wanted)
{
	json_t *list = list_cables(c, wanted);
	int status = svg ? draw_svg(list) : OK;

	if (ctl->json)
		json_show(json_incref(list));
	else if (csv)
		print_csv(list);
	else if (!svg)
		print_cables(list);
	json_decref(list);
	return status;
}

/* --- comparison with the present cables -------------------------------------------- */

/*
 * Return: the next field of a line of comma-separated values, without quotes; NULL if there are no
 * more fields
 */
static char *next_field(char **at)
{
	char *p = *at, *end;

	if (!p)
		return NULL;
	if (*p == '"') {
		end = strchr(++p, '"');
		*at = end && end[1] == ',' ? end + 2 : NULL;
	} else {
		end = strchr(p, ',');
		*at = end ? end + 1 : NULL;
	}
	if (end)
		*end = '\0';
	return p;
}

/* Parses "n1-0:+x" or "1,0:+x". Return: the end; CABLE_NONE: the fabric has no such end. */
static uint32_t read_end(const struct cabling *c, const struct cables *of, const char *text)
{
	char node[TORUS_TEXT_MAX], at[TORUS_TEXT_MAX];
	const char *colon = strrchr(text, ':');
	struct torus_coords coords;
	uint32_t id = TORUS_NO_NODE;
	unsigned int port;
	size_t i;
	json_t *v;

	if (!colon || (size_t)(colon - text) >= sizeof(node) ||
	    torus_port_parse(colon + 1, c->shape.ndims, &port))
		return CABLE_NONE;
	snprintf(node, sizeof(node), "%.*s", (int)(colon - text), text);
	if (!torus_coords_parse(node, &c->shape, &coords))
		id = torus_node_id(&c->shape, &coords);
	json_array_foreach(c->nodes, i, v)
		if (json_text(v, "name") && !strcmp(json_text(v, "name"), node) &&
		    !torus_coords_parse(json_coords_text(json_object_get(v, "node"), at), &c->shape,
					&coords))
			id = torus_node_id(&c->shape, &coords);
	return id == TORUS_NO_NODE ? CABLE_NONE : id * 2u * of->shape.ndims + port;
}

/*
 * Return: true if the line ends within quotes, which is so in the last line of an incomplete file.
 */
static bool has_open_quote(const char *line)
{
	bool open = false;

	for (; *line; line++)
		open ^= *line == '"';
	return open;
}

/* Parses a line of a plan: number, from, to and labels, or only from and to. */
static int read_line(const struct cabling *c, struct cables *wanted, char *line, unsigned int n)
{
	char *at = line, *first, *from, *to;
	uint32_t a, b;

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line || *line == '#' || !strncmp(line, "cable,", 6))
		return OK;
	if (has_open_quote(line))
		return fail("%s:%u: a quote has no end: is a part of this plan missing?",
			    expect, n);
	first = next_field(&at);
	from = strchr(first, ':') ? first : next_field(&at);
	to = next_field(&at);
	a = from ? read_end(c, wanted, from) : CABLE_NONE;
	b = to ? read_end(c, wanted, to) : CABLE_NONE;
	if (a == CABLE_NONE || b == CABLE_NONE)
		return fail("%s:%u: '%s': must be two ends such as \"1,0:+x\" or n1-0:+x, as "
			    "'cabling --plan --csv' prints them", expect, n,
			    a == CABLE_NONE ? from ? from : first : to ? to : "");
	if (!cables_join(wanted, a, b))
		return fail("%s:%u: %s or %s has another cable already", expect, n, from, to);
	return OK;
}

static bool has_cable(const struct cables *c)
{
	for (uint32_t i = 0; i < c->ends; i++)
		if (c->far[i] != CABLE_NONE)
			return true;
	return false;
}

/*
 * Return: bytes of the mark that spreadsheets write at the beginning of a file in UTF-8; 0 if there
 * is no mark
 */
static size_t mark_len(const char *line)
{
	static const char mark[] = "\xef\xbb\xbf";

	return strncmp(line, mark, strlen(mark)) ? 0 : strlen(mark);
}

/*
 * Reads the plan of --expect. A plan without cables is refused, because it is a mistake: all cables
 * would have to be removed.
 */
static int read_plan(const struct cabling *c, struct cables *wanted)
{
	char line[1024];
	FILE *f = fopen(expect, "r");
	int status = OK;

	if (!f)
		return fail("%s: %s", expect, strerror(errno));
	for (unsigned int n = 1; status == OK && fgets(line, sizeof(line), f); n++)
		status = read_line(c, wanted, line + (n == 1 ? mark_len(line) : 0), n);
	if (status == OK && ferror(f))
		status = fail("%s: %s", expect, strerror(errno));
	else if (status == OK && !has_cable(wanted))
		status = fail("%s: no cable is in this plan; 'cabling --plan --csv' prints one",
			      expect);
	fclose(f);
	return status;
}

/* Return: true if the link has a cable; for a link that is down, this is not known. */
static bool is_plugged(const json_t *l)
{
	const char *state = json_text(l, "state");

	return state && (!strcmp(state, "up") || !strcmp(state, "init") ||
			 !strcmp(state, "retraining"));
}

/*
 * If both NICs refuse the link, there is a cable, but its far end is not part of this fabric. No
 * other cable can be plugged in there, so the cable counts as the planned one until its far end is
 * known.
 */
static void assume_cable(struct cabling *c, const struct cables *wanted, struct cables *is,
			 const json_t *l, uint32_t end)
{
	const json_t *differs = json_object_get(l, "differs");
	const char *what = json_text(differs, "parameter"), *own = json_text(differs, "own");
	const char *peer = json_text(differs, "peer");
	char text[TORUS_TEXT_MAX];

	if (!what || wanted->far[end] == CABLE_NONE)
		return;
	c->unknown++;
	warn("%s: has a cable, but the two NICs differ: %s=%s, peer %s; set them alike, then this "
	     "command finds where the cable ends", json_end_text(l, text), what, own ? own : "?",
	     peer ? peer : "?");
	cables_join(is, end, wanted->far[end]);
}

static int read_fabric(struct cabling *c, const struct cables *wanted, struct cables *is)
{
	json_t *links, *v;
	size_t i;
	int status = ask_all_links(&c->ask, &links);

	if (status != OK)
		return status;
	json_array_foreach(links, i, v) {
		uint32_t a = cables_end_read(is, v);
		uint32_t b = cables_end_read(is, json_object_get(v, "peer"));

		if (a != CABLE_NONE && b != CABLE_NONE && is_plugged(v))
			cables_join(is, a, b);
		else if (a != CABLE_NONE && b == CABLE_NONE && is_plugged(v))
			assume_cable(c, wanted, is, v, a);
	}
	json_decref(links);
	return OK;
}

static void print_step(const struct cabling *c, const json_t *step)
{
	const json_t *at = json_object_get(step, "at"), *to = json_object_get(step, "to");
	const char *what = json_text(step, "do"), *name, *far;
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX];

	name = name_at(c, json_object_get(at, "node"));
	far = name_at(c, json_object_get(to, "node"));
	json_end_text(at, a);
	json_end_text(to, b);
	printf(!strcmp(what, "move") ? "move the end at %s (%s) to %s (%s)\n" :
	       !strcmp(what, "plug") ? "plug in a cable from %s (%s) to %s (%s), or repair it\n" :
				       "remove the cable from %s (%s) to %s (%s)\n",
	       a, name ? name : "-", b, far ? far : "-");
}

static int compare_cables(const struct ctl *ctl, struct cabling *c, const struct cables *wanted)
{
	struct cables is;
	json_t *steps, *v;
	size_t i, n;
	int status = cables_new(&is, &c->shape) ? read_fabric(c, wanted, &is) :
						  fail("out of memory");

	steps = status == OK ? cables_steps(wanted, &is) : NULL;
	cables_free(&is);
	if (status != OK)
		return status;
	n = json_array_size(steps);
	if (ctl->json)
		json_show(json_pack("{sb sO}", "ok", !n && !c->unknown, "steps", steps));
	else
		json_array_foreach(steps, i, v)
			print_step(c, v);
	if (!ctl->json && !n)
		printf(c->unknown ? "all other cables are as planned\n" :
				    "all cables are as planned\n");
	json_decref(steps);
	return n || c->unknown ? PROBLEM : ask_status(&c->ask);
}

/* --- the command --------------------------------------------------------------------- */

static int run_cabling(const struct ctl *ctl, struct cabling *c)
{
	struct cables wanted;
	int status;

	if (!cables_new(&wanted, &c->shape))
		return fail("out of memory");
	status = expect ? read_plan(c, &wanted) : OK;
	if (!expect)
		cables_torus(&wanted);
	if (status == OK)
		status = plan || csv || svg ? show_plan(ctl, c, &wanted) :
					      compare_cables(ctl, c, &wanted);
	cables_free(&wanted);
	return status;
}

static int cmd_cabling(struct ctl *ctl, int argc, char **argv)
{
	struct cabling c = { .nodes = NULL };
	int status;

	(void)argc;
	(void)argv;
	if (csv && ctl->json)
		return fail("--csv and --json exclude each other");
	if (shape_given && (expect || !(plan || csv || svg)))
		return fail("--shape: without a fabric there is only a plan: 'cabling --plan "
			    "--shape %s'", shape_given);
	if (shape_given && torus_shape_parse(shape_given, &c.shape))
		return fail("--shape '%s': must be 1 to 6 sizes such as 4x4x2", shape_given);
	if (shape_given)
		return run_cabling(ctl, &c);
	status = ask_open(ctl, &c.ask);
	if (status != OK)
		return status;
	status = ask_shape(&c.ask, &c.shape);
	if (status == OK)
		status = ask_nodes(&c.ask, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0,
				   &c.nodes);
	if (status == OK)
		status = run_cabling(ctl, &c);
	json_decref(c.nodes);
	ask_close(&c.ask);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "plan", 'p', NULL, &plan, 0, 0,
	  "all cables that should be there, with labels" },
	{ OPT_TEXT, "shape", 0, "SHAPE", &shape_given, 0, 0,
	  "with --plan: for a fabric that is not built yet" },
	{ OPT_FLAG, "csv", 0, NULL, &csv, 0, 0, "the plan as comma-separated values" },
	{ OPT_TEXT, "svg", 0, "FILE", &svg, 0, 0, "draw the labels of the plan into this file" },
	{ OPT_TEXT, "expect", 0, "FILE", &expect, 0, 0,
	  "the plan is in this file, in place of the torus of the shape" },
	{ .kind = OPT_END },
};

COMMAND(cmd_cabling) = {
	.name = "cabling",
	.args = "",
	.brief = "Compare the cables with the plan: which ends to move, plug in or remove",
	.help = "The plan has all cables that a torus of this shape has, or those of --expect, a\n"
		"file as 'cabling --plan --csv' prints it. Links that are down count as not\n"
		"plugged in. --plan shows the plan itself, for those who pull the cables. Exit\n"
		"status 1 if the cables are not as planned.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_cabling,
};
