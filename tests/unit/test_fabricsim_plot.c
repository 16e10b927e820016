// SPDX-License-Identifier: GPL-2.0-only
/* Pictures of all simulations: well-formed, and readable without colours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricsim/plot.h"
#include "tests/unit/program.h"

const struct program this_program = { .name = "test" };

static char file[] = "/tmp/test_plotXXXXXX", text[1 << 20];

static int make_file(void **state)
{
	int fd = mkstemp(file);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

static void read_file(void)
{
	FILE *f = fopen(file, "r");
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	text[n] = '\0';
	fclose(f);
}

static void write_plot(struct plot *p)
{
	assert_int_equal(plot_write(p, file), OK);
	read_file();
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
}

/* Return: the next attributes of an element of @class, from @at on, without its path and colours */
static const char *next_style(const char **at, const char *class, char *buf, size_t room)
{
	char begin[32];
	const char *from, *end;

	snprintf(begin, sizeof(begin), "<path class='%s'", class);
	from = strstr(*at, begin);
	if (!from)
		return NULL;
	end = strstr(from, "/>");
	*at = end;
	snprintf(buf, room, "%.*s", (int)(end - from), from);
	return buf;
}

/* Dashes and the shape of marks are different for 24 curves, whatever their colours are. */
static void curves_differ_without_colours(void **state)
{
	struct plot *p = plot_new("t");
	char all[24][400], style[400];
	const char *at;

	(void)state;
	plot_panel(p, "", "x", "y");
	for (int i = 0; i < 24; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		plot_curve(p, name);
		plot_point(p, 1, 1, 0);
	}
	write_plot(p);
	at = text;
	for (int i = 0; i < 24; i++) {	/* of each curve, its line and its mark, at the same place */
		const char *dash, *fill, *shape;

		assert_non_null(next_style(&at, "c", style, sizeof(style)));
		dash = strstr(style, "dasharray");
		strcpy(all[i], "none");
		if (dash)
			assert_int_equal(sscanf(dash, "dasharray='%30[^']", all[i]), 1);
		assert_non_null(next_style(&at, "m", style, sizeof(style)));
		fill = strstr(style, "fill='#fff'");
		shape = strchr(strstr(style, " d='M"), 'm');
		snprintf(all[i] + strlen(all[i]), 200, "|%s|%s", fill ? "hollow" : "full", shape);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(all[i], all[k]);
	}
}

/* A measured curve has the marks of the computed one, which has only the line. */
static void measured_curve_has_marks_of_computed_line(void **state)
{
	struct plot *p = plot_new("t");
	char line[400], mark[400];
	const char *at;

	(void)state;
	plot_panel(p, "", "x", "y");
	plot_curve(p, "other");
	plot_point(p, 1, 1, 0);
	plot_curve(p, "a, exact");
	plot_look(p, "a", PLOT_LINE);
	plot_point(p, 1, 1, 0);
	plot_curve(p, "a, measured");
	plot_look(p, "a", PLOT_MARKS);
	plot_point(p, 1, 1, 0);
	write_plot(p);
	at = strstr(text, "clip-path");
	at = strstr(at + 1, "clip-path") - 20;
	assert_non_null(next_style(&at, "c", line, sizeof(line)));
	assert_non_null(strstr(line, "#d55e00"));
	assert_non_null(next_style(&at, "m", mark, sizeof(mark)));
	assert_non_null(strstr(mark, "#d55e00"));
	assert_null(strstr(strchr(text, 'm'), "#009e73"));
}

static double number_after(const char *where, const char *what)
{
	const char *at = strstr(where, what);

	assert_non_null(at);
	return atof(at + strlen(what));
}

/* Error bars and lines end at the frame; a picture is not as high as its highest error. */
static void error_bars_and_lines_end_at_frame(void **state)
{
	struct plot *p = plot_new("t");
	const char *bar;

	(void)state;
	plot_panel(p, "", "x", "y");
	plot_top(p, 10);
	plot_curve(p, "c");
	plot_point(p, 1, 1, 0);
	plot_point(p, 2, 9, 50);
	plot_point(p, 3, 100, 0);
	write_plot(p);
	bar = strstr(text, "class='e'");
	assert_non_null(bar);
	assert_true(number_after(strstr(bar, " d='M"), "V") >= 58);
	assert_non_null(strstr(text, "clip-path='url(#p0)'"));
	/* of three points, the one above has no mark; the legend has one */
	assert_int_equal(number_after(text, "viewBox='0 0 "), 660);
	bar = text;
	for (int i = 0; i < 3; i++) {
		bar = strstr(bar + 1, "class='m'");
		assert_non_null(bar);
	}
	assert_null(strstr(bar + 1, "class='m'"));
}

/* The last tick is written whole: its middle is at least 20 pixels from the edge. */
static void last_tick_is_not_cut_off(void **state)
{
	static const char *const words[] = { "one", "two<" };
	struct plot *p = plot_new("a & b");
	const char *last = NULL;

	(void)state;
	plot_panel(p, "", "x", "y");
	plot_log(p, true, false);
	plot_curve(p, "c");
	plot_point(p, 1e-9, 1, 0);
	plot_point(p, 1e6, 5, 0);
	plot_panel(p, "", "x", "y");
	plot_words(p, words, 2);
	plot_curve(p, "c");
	plot_point(p, 1, 7, 0);
	plot_panel(p, "", "x", "y");
	plot_log(p, false, true);
	plot_curve(p, "c");
	plot_point(p, 1, 0, 0);
	write_plot(p);
	for (const char *at = text; (at = strstr(at, ">10<tspan")); at++)
		last = at;
	assert_non_null(last);
	assert_non_null(strstr(text, "style='font-size:9px'>6</tspan>"));
	while (strncmp(last, "<text x='", 9))
		last--;
	assert_true(atof(last + 9) <= 440);
	assert_non_null(strstr(text, ">one</text>"));
	assert_non_null(strstr(text, ">two&lt;</text>"));
	assert_non_null(strstr(text, "a &amp; b"));
	assert_non_null(strstr(text, "no value above 0"));
}

/* Each simulation draws, and names its axes with units. */
static void each_simulation_draws_axes_with_units(void **state)
{
	static const struct {
		const char *args, *label[3];
	} sims[] = {
		{ "flow --shape 4 --cycles 100 --warmup 10 --seeds 2 --load 0.1,0.5",
		  { "load, phits / node / cycle", "latency, cycles", "accepted, phits / node / cycle" } },
		{ "route --shape 3x3 --fabrics 1 --dead-nodes 0,1",
		  { "dead nodes", "processor time, ms", "% of the pairs that links join" } },
		{ "route --shape 3x3 --fabrics 1 --cut-links 0,1", { "cut links", "relays, 0 dead nodes", "" } },
		{ "recovery --shape 2x2", { "time since the fault or repair, ms", ">resumed<", "fault: cut" } },
		{ "train --length 100,200 --class dac26,fr4",
		  { "length of the cable, m", "rate, Gbit/s", "margin, % of the mask" } },
		{ "train --length 100,200 --months 2",
		  { "length of the cable, m", "time, h", "alarms / 1000 links and months" } },
		{ "retry --ber 1e-6,1e-5 --messages 50",
		  { "bit error rate, errors / bit", "angara, exact", "angara, measured" } },
		{ "retry --retries 0:2:1 --messages 50", { "times that one message is hit", "efficiency", "" } },
		{ "retry --play fig4", { ">time, bytes<", "packet 2  (lost)", "answer 2; goes back" } },
		{ "availability --nodes 64,128", { "K, share of the time", "nodes", "3D, links bypassed" } },
	};
	char args[256];

	(void)state;
	for (size_t i = 0; i < sizeof(sims) / sizeof(sims[0]); i++) {
		snprintf(args, sizeof(args), "%s --svg %s", sims[i].args, file);
		assert_int_equal(truncate(file, 0), 0);
		expect(args, OK);
		read_file();
		for (int k = 0; k < 3; k++)
			if (!strstr(text, sims[i].label[k]))
				fail_msg("%s: no '%s' in %s", args, sims[i].label[k], text);
		assert_null(strstr(text, "nan"));
	}
	expect("replay --svg x y", CANNOT);
	assert_non_null(strstr(err, "--svg"));
}

static unsigned int count_of(const char *in, const char *what)
{
	unsigned int n = 0;

	for (; (in = strstr(in, what)); in++)
		n++;
	return n;
}

/*
 * The chart of a run: an arrow for each frame that comes, from the row where it was sent to a later
 * one; half of one with a cross for each lost frame, and a dashed one for each damaged frame.
 */
static void chart_has_one_arrow_per_frame(void **state)
{
	static const char *const of[] = {
		"fig4", "fig6", "fig8", "lose-back-1,damage-0 --protocol hippi --messages 4",
	};
	char args[256];

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		unsigned int arrows = 0;
		int x, y, to_x, to_y;

		snprintf(args, sizeof(args), "retry --play %s --json --svg %s", of[i], file);
		expect(args, OK);
		read_file();
		for (const char *at = text; (at = strstr(at, "marker-end='url(#a)'")); at++) {
			assert_int_equal(sscanf(strstr(at, " d='"), " d='M%d %dL%d %d", &x, &y, &to_x, &to_y), 4);
			assert_true(to_y > y && x + to_x == 1000 && x != to_x);
			assert_true((y - 76) % 18 == 0 && (to_y - 76) % 18 == 0);
			arrows++;
		}
		assert_int_equal(arrows, count_of(out, "\"event\":\"came\""));
		assert_int_equal(count_of(text, "<path class='x'"), count_of(out, "\"fate\":\"lost\""));
		assert_true(count_of(text, "<path class='x'") > 0);
		/* A damaged frame is one when it is sent, and one when it comes. */
		assert_int_equal(2 * count_of(text, "<path class='f d'"), count_of(out, "\"fate\":\"damaged\""));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves_differ_without_colours),
		cmocka_unit_test(measured_curve_has_marks_of_computed_line),
		cmocka_unit_test(error_bars_and_lines_end_at_frame),
		cmocka_unit_test(last_tick_is_not_cut_off),
		cmocka_unit_test(each_simulation_draws_axes_with_units),
		cmocka_unit_test(chart_has_one_arrow_per_frame),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
