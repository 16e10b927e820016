// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of problems, by itself: more problems than it holds begin, change and end at random, and
 * are limited, awaited, marked and swept. The list and the lines of the log are compared with a
 * model that has one slot for each problem.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/spare.h"
#include "daemon/fm/status.h"

#define KINDS	2
#define KEYS	60		/* all problems are in memory, so none is forgotten */
#define LINES	(KINDS * KEYS + 1)
#define GAP_MIN	SEC
#define GAP_MAX	(600 * SEC)

static const char *const kinds[KINDS] = { "cable", "root" };

/**
 * struct slot - a problem
 * @waits: its place among those for which the list has no room; 0: it is not there
 * @later: that problem: its text, mark and end
 */
struct slot {
	bool present, open, unlogged, mark, later_mark;
	unsigned int text, missed, waits, later_text;
	uint64_t logged, gap, until, later_until;
};

static struct fm fm;
static struct slot slot[KINDS][KEYS];
static unsigned int present, waiting, turn;
static char did[LINES][140], want[LINES][140];
static unsigned int ndid, nwant;

/* Return: the node that a line is about: problems of the first kind have their key as node. */
static uint32_t node_of(const struct fm_log *line)
{
	const char *key = strstr(line->text, kinds[0]);

	return key ? (uint32_t)strtoul(key + strlen(kinds[0]), NULL, 10) : TORUS_NO_NODE;
}

static void note_line(void *io, const struct fm_log *line)
{
	(void)io;
	assert_true(ndid < LINES);
	assert_int_equal(line->node, node_of(line));
	snprintf(did[ndid++], sizeof(*did), "%u %s %s", line->level, line->kind, line->text);
}

/* --- the model ---------------------------------------------------------------------------- */

static void text_of(char *buf, unsigned int kind, unsigned int key, unsigned int text)
{
	snprintf(buf, 60, "%s %u is wrong in way %u", kinds[kind], key, text);
}

static void write_model(struct slot *s, unsigned int kind, unsigned int key, unsigned int missed)
{
	char text[60], more[40] = "";

	text_of(text, kind, key, s->text);
	if (missed)
		snprintf(more, sizeof(more), " (said %u time%s more meanwhile)", missed,
			 missed == 1 ? "" : "s");
	snprintf(want[nwant++], sizeof(*want), "%u %s %s%s", FM_ERROR, kinds[kind], text, more);
	s->open = true;
	s->unlogged = false;
	s->missed = 0;
	s->gap = s->gap ? 2 * s->gap : GAP_MIN;
	if (s->gap > GAP_MAX)
		s->gap = GAP_MAX;
	s->logged = fm.now;
}

static void put_model(unsigned int kind, unsigned int key, unsigned int text)
{
	struct slot *s = &slot[kind][key];

	s->mark = false;
	if (s->present && s->text == text)
		return;
	present += !s->present;
	s->present = true;
	s->text = text;
	if (fm.now >= s->logged + 3600 * SEC)
		s->gap = s->missed = 0;
	if (fm.now >= s->logged + s->gap) {
		write_model(s, kind, key, s->missed);
	} else {
		s->unlogged = true;
		s->missed++;
	}
}

static void set_model(unsigned int kind, unsigned int key, unsigned int text)
{
	struct slot *s = &slot[kind][key];

	if (s->present || present < FM_PROBLEMS_MAX) {
		put_model(kind, key, text);
		return;
	}
	if (!s->waits) {
		s->waits = ++turn;
		s->later_until = 0;
		waiting++;
	}
	s->later_text = text;
	s->later_mark = false;
}

static void forget_waiting(struct slot *s)
{
	waiting -= s->waits != 0;
	s->waits = 0;
}

/* The list has room: the problem that waits longest becomes present. */
static void take_waiting(void)
{
	unsigned int kind = 0, key = 0, first = 0;
	struct slot *s;

	for (unsigned int i = 0; i < KINDS * KEYS; i++) {
		unsigned int waits = slot[i / KEYS][i % KEYS].waits;

		if (!waits || (first && waits > first))
			continue;
		first = waits;
		kind = i / KEYS;
		key = i % KEYS;
	}
	if (!first)
		return;
	s = &slot[kind][key];
	forget_waiting(s);
	put_model(kind, key, s->later_text);
	s->mark = s->later_mark;
	s->until = s->later_until;
}

static void end_model(unsigned int kind, unsigned int key)
{
	struct slot *s = &slot[kind][key];
	char text[60];

	text_of(text, kind, key, s->text);
	if (s->open)
		snprintf(want[nwant++], sizeof(*want), "%u %s over: %s", FM_INFO, kinds[kind], text);
	s->open = s->unlogged = s->present = false;
	s->until = 0;
	present--;
	take_waiting();
}

static bool is_over(uint64_t until)
{
	return until && fm.now >= until;
}

static void due_model(void)
{
	for (unsigned int i = 0; i < KINDS * KEYS; i++) {
		struct slot *s = &slot[i / KEYS][i % KEYS];

		if (s->waits && is_over(s->later_until))
			forget_waiting(s);
	}
	for (unsigned int i = 0; i < KINDS * KEYS; i++) {
		struct slot *s = &slot[i / KEYS][i % KEYS];

		if (s->present && is_over(s->until))
			end_model(i / KEYS, i % KEYS);
		else if (s->present && s->unlogged && fm.now >= s->logged + s->gap)
			write_model(s, i / KEYS, i % KEYS, s->missed - 1);
	}
}

static void sweep_model(unsigned int kind)
{
	for (unsigned int k = 0; k < KEYS; k++)
		if (slot[kind][k].waits && slot[kind][k].later_mark)
			forget_waiting(&slot[kind][k]);
	for (unsigned int k = 0; k < KEYS; k++)
		if (slot[kind][k].present && slot[kind][k].mark)
			end_model(kind, k);
}

static uint64_t model_expiry(void)
{
	uint64_t at = NEVER;

	for (unsigned int i = 0; i < KINDS * KEYS; i++) {
		const struct slot *s = &slot[i / KEYS][i % KEYS];

		if (s->present && s->unlogged)
			at = earlier(at, s->logged + s->gap);
		if (s->present && s->until)
			at = earlier(at, s->until);
		if (s->waits && s->later_until)
			at = earlier(at, s->later_until);
	}
	return at;
}

/* --- events ------------------------------------------------------------------------------- */

static void set_problem(unsigned int kind, unsigned int key, unsigned int text)
{
	char buf[60];

	set_model(kind, key, text);
	text_of(buf, kind, key, text);
	if (kind)
		fm_problem_set(&fm, kinds[kind], key, "%s", buf);
	else
		fm_problem_of(&fm, key, kinds[kind], key, "%s", buf);
}

static void await_problem(unsigned int kind, unsigned int key)
{
	struct slot *s = &slot[kind][key];

	if (!s->present && s->logged + s->gap < fm.now + GAP_MIN) {
		s->logged = fm.now;
		s->gap = GAP_MIN;
		s->missed = 0;
	}
	fm_problem_await(&fm, kinds[kind], key);
}

static void clear_problem(unsigned int kind, unsigned int key)
{
	struct slot *s = &slot[kind][key];

	if (s->present)
		end_model(kind, key);
	else
		forget_waiting(s);
	fm_problem_clear(&fm, kinds[kind], key);
}

static void limit_problem(struct rnd *r, unsigned int kind, unsigned int key)
{
	uint64_t until = rnd_one_in(r, 4) ? 0 : fm.now + 1 + rnd_below(r, 3) * SEC;

	if (slot[kind][key].present)
		slot[kind][key].until = until;
	else
		slot[kind][key].later_until = until;
	fm_problem_limit(&fm, kinds[kind], key, until);
}

/* Some of the marked problems are set again, perhaps with another text. */
static void judge_anew(struct rnd *r, unsigned int kind)
{
	for (unsigned int k = 0; k < KEYS; k++)
		slot[kind][k].mark = slot[kind][k].later_mark = true;
	fm_problems_mark(&fm, kinds[kind]);
	for (unsigned int k = 0; k < KEYS; k++)
		if ((slot[kind][k].present || slot[kind][k].waits) && !rnd_one_in(r, 6))
			set_problem(kind, k, rnd_one_in(r, 4) ? rnd_below(r, 2) : slot[kind][k].text);
	if (rnd_one_in(r, 3))
		return;			/* a problem may be set after this, too */
	sweep_model(kind);
	fm_problems_sweep(&fm, kinds[kind]);
}

static void event(struct rnd *r, bool fill)
{
	unsigned int kind = rnd_below(r, KINDS), key = rnd_below(r, rnd_one_in(r, 3) ? 4 : KEYS);

	switch (rnd_below(r, fill ? 24 : 12)) {
	case 0: case 1: clear_problem(kind, key); break;
	case 2: await_problem(kind, rnd_below(r, 4)); break;
	case 3: case 6: limit_problem(r, kind, key); break;
	case 4:
		fm.now += rnd_one_in(r, 20) ? 4000 * SEC : rnd_below(r, 4) * SEC;
		due_model();
		fm_problems_due(&fm);
		break;
	case 5:
		if (rnd_one_in(r, 3))
			judge_anew(r, kind);
		else
			clear_problem(kind, key);
		break;
	default:
		if (fill || rnd_one_in(r, 2))
			set_problem(kind, key, rnd_below(r, 2));
		else
			clear_problem(kind, key);
	}
}

/* --- tests -------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The order in which problems end or are logged at one time does not matter. */
static void same_lines(struct rnd *r)
{
	expect(r, ndid == nwant, "%u lines, not %u", ndid, nwant);
	qsort(did, ndid, sizeof(*did), compare_lines);
	qsort(want, nwant, sizeof(*want), compare_lines);
	for (unsigned int i = 0; i < ndid; i++)
		expect(r, !strcmp(did[i], want[i]), "'%s', not '%s'", did[i], want[i]);
	ndid = nwant = 0;
}

static void same_list(struct rnd *r)
{
	const struct fm_problem *p;
	unsigned int n = 0;
	char text[60];

	expect(r, fm_problems_count(&fm) == present && fm_problems_more(&fm) == waiting,
	       "%u and %u problems, not %u and %u", fm_problems_count(&fm), fm_problems_more(&fm),
	       present, waiting);
	for (; (p = fm_problem(&fm, n)); n++) {
		unsigned int key = 0, kind = strcmp(p->kind, kinds[0]) ? 1 : 0;
		const char *at = strchr(p->text, ' ');

		expect(r, !strcmp(p->kind, kinds[kind]) && at && sscanf(at, "%u", &key) == 1 &&
		       key < KEYS, "'%s'", p->text);
		text_of(text, kind, key, slot[kind][key].text);
		expect(r, slot[kind][key].present && !strcmp(p->text, text), "'%s'", p->text);
	}
	expect(r, n == present, "%u problems, not %u", n, present);
	expect(r, fm_problems_expiry(&fm) == model_expiry(), "%u problems", n);
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	memset(slot, 0, sizeof(slot));
	present = waiting = turn = ndid = nwant = 0;
	fm = (struct fm) { .now = 10000 * SEC, .ops = { .log = note_line } };
	assert_true(fm_problems_new(&fm));
	for (unsigned int k = 0; k < 600; k++) {
		event(&r, k / 200 != 1);
		same_lines(&r);
		same_list(&r);
	}
	fm_problems_free(&fm);
	assert_int_equal(memory_blocks(), 0);
}

static void random_problems_equal_model(void **state)
{
	(void)state;
	for_seeds(16, history);
}

/* Without memory a problem is not listed; a longer line than usual is written in any case. */
static void problem_without_memory_is_not_listed(void **state)
{
	(void)state;
	fm = (struct fm) { .now = SEC, .ops = { .log = note_line } };
	memory_fails_at(1);
	assert_false(fm_problems_new(&fm));
	assert_true(memory_failed());
	fm_problems_free(&fm);
	assert_true(fm_problems_new(&fm));
	memory_fails_at(1);
	fm_problem_set(&fm, "cable", 1, "text");
	assert_true(memory_failed());
	memory_fails_at(1);
	fm_problem_await(&fm, "cable", 1);
	assert_true(memory_failed());
	assert_int_equal(fm_problems_count(&fm), 0);
	for (unsigned int i = 0; i < FM_PROBLEMS_MAX; i++)
		fm_problem_set(&fm, "cable", i, "text");
	for (unsigned int k = 1; k <= 2; k++) {
		memory_fails_at(k);		/* room in the list of those that wait, and the text */
		fm_problem_set(&fm, "root", 1, "text");
		assert_true(memory_failed());
		assert_int_equal(fm_problems_more(&fm), 0);
	}
	fm_problem_set(&fm, "root", 1, "text");
	memory_fails_at(1);
	fm_problem_set(&fm, "root", 1, "another text");
	assert_true(memory_failed());
	assert_int_equal(fm_problems_more(&fm), 1);
	ndid = 0;
	fm_log(&fm, FM_WARNING, "cable", "%s %u", "line", 7u);
	assert_int_equal(ndid, 1);
	assert_string_equal(did[0], "1 cable line 7");
	fm_problems_free(&fm);
	assert_int_equal(memory_blocks(), 0);
}

static void freed_list_of_waiting_problems_can_be_used_again(void **state)
{
	struct fm_spares s = { .n = 0 };

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		for (unsigned int i = 0; i < FM_SPARES_MAX + 1; i++)
			fm_spare_put(&s, i, "cable", i, "text");
		assert_int_equal(s.n, FM_SPARES_MAX);
		fm_spare_put(&s, 7, "cable", 0, "another text");	/* which needs no room */
		assert_string_equal(s.list[0].text, "another text");
		fm_spares_free(&s);
		assert_true(!s.n && !s.room && !s.list);
		assert_int_equal(memory_blocks(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_problems_equal_model),
		cmocka_unit_test(freed_list_of_waiting_problems_can_be_used_again),
		cmocka_unit_test(problem_without_memory_is_not_listed),
	};

	return cmocka_run_group_tests_name("fm_problems", all, NULL, NULL);
}
