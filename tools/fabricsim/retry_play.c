// SPDX-License-Identifier: GPL-2.0-only
#include "retry_play.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>

#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"

#define STEPS_MAX 16
#define EVENTS_MAX 4096
#define TEXT_MAX 64

static const struct play figures[] = {
	{ "fig3", "ACK/NAK: a packet is lost; a NAK reports it, and acknowledges the packets "
		  "before it",
	  TORUS_RETRY_ACKNAK, 3, 6, 0, false, false, "lose 2" },
	{ "fig4", "HIPPI: a packet is lost; two equal answers report it", TORUS_RETRY_HIPPI,
	  1, 6, 0, false, false, "lose 2" },
	{ "fig5", "ACK/NAK: an ACK is lost; the next one covers it", TORUS_RETRY_ACKNAK, 2, 6, 0,
	  false, false, "lose answer 1" },
	{ "fig6",
	  "HIPPI: a packet that carries an answer is lost, the next ones are out of sequence; "
	  "the timer runs out",
	  TORUS_RETRY_HIPPI, 1, 6, 4, true, true, "lose back 2" },
	{ "fig7",
	  "ACK/NAK: a NAK is lost; the timer runs out, and good packets are sent again, too",
	  TORUS_RETRY_ACKNAK, 4, 6, 0, false, false, "damage 2, lose answer 0" },
	{ "fig8",
	  "HIPPI: one of two equal answers is lost; after the timer, only the bad packet and those "
	  "after it are sent again",
	  TORUS_RETRY_HIPPI, 1, 6, 0, false, false, "damage 2, lose answer 2" },
};

const struct play *play_figure(const char *name)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (!strcmp(figures[i].name, name))
			return &figures[i];
	return NULL;
}

/**
 * struct step - the fate of one frame
 * @end: the end that sends the frame
 * @answer: the frame is the @n-th frame that contains only an answer, from 0; else it is a
 *	transmission of packet @n
 */
struct step {
	enum wire_fate fate;
	unsigned int end;
	bool answer, done;
	uint64_t n;
	char text[TEXT_MAX];
};

struct run {
	const struct play *play;
	struct step step[STEPS_MAX];
	unsigned int nsteps;
	uint64_t answers[2];
	struct wire_event event[EVENTS_MAX];
	unsigned int nevents;
	bool cut;		/* there were more events than the array has room for */
};

/* --- the script ---------------------------------------------------------------- */

static int bad_step(const char *text)
{
	return fail("--play '%s': must be fig3 to fig8, or steps with commas between: lose N, "
		    "damage N (packet N, from 0), lose answer N, lose back N (of the other end)",
		    text);
}

/* Parses one step, such as "lose answer 2". */
static int step_parse(const struct play *play, const char *text, struct step *s)
{
	char verb[8], kind[8];
	int used = 0;

	*s = (struct step) { .fate = WIRE_LOST };
	snprintf(s->text, sizeof(s->text), "%s", text);
	if (sscanf(text, " %7[a-z] %7[a-z] %" SCNu64 " %n", verb, kind, &s->n, &used) != 3) {
		kind[0] = '\0';
		if (sscanf(text, " %7[a-z] %" SCNu64 " %n", verb, &s->n, &used) != 2)
			return bad_step(text);
	}
	if (text[used] || (strcmp(verb, "lose") && strcmp(verb, "damage")))
		return bad_step(text);
	if (!strcmp(verb, "damage"))
		s->fate = WIRE_DAMAGED;
	s->answer = !strcmp(kind, "answer");
	s->end = s->answer || !strcmp(kind, "back");
	if (kind[0] && !s->end)
		return bad_step(text);
	if (s->end && !s->answer && !play->two_way)
		return fail("--play '%s': the other end sends no packets with --one-way", text);
	if (!s->answer && s->n >= play->units)
		return fail("--play '%s': there are packets 0 to %" PRIu64 " (--messages)", text,
			    play->units - 1);
	return OK;
}

static int script_parse(struct run *r)
{
	char script[256], *rest = script, *text;

	if (strlen(r->play->script) >= sizeof(script))
		return bad_step(r->play->script);
	strcpy(script, r->play->script);
	/* The form lose-answer-2 is accepted as well, because it needs no quotes in a shell. */
	for (char *c = script; *c; c++)
		if (c > script && *c == '-' && c[-1] >= 'a' && c[-1] <= 'z')
			*c = ' ';
	while ((text = strsep(&rest, ","))) {
		text += strspn(text, " ");
		if (r->nsteps == STEPS_MAX)
			return fail("--play: more than %d steps", STEPS_MAX);
		if (step_parse(r->play, text, &r->step[r->nsteps++]))
			return CANNOT;
	}
	return OK;
}

/* --- the run ------------------------------------------------------------------- */

/*
 * Applies the first unused step for the frame: two steps for the same packet damage two
 * transmissions of it.
 */
static enum wire_fate fate_of(void *arg, const struct wire_event *ev)
{
	struct run *r = arg;
	uint64_t n = ev->answer ? r->answers[ev->end]++ : ev->unit;

	for (unsigned int i = 0; i < r->nsteps; i++) {
		struct step *s = &r->step[i];

		if (s->done || s->end != ev->end || s->answer != ev->answer || s->n != n)
			continue;
		s->done = true;
		return s->fate;
	}
	return WIRE_WHOLE;
}

static void note_event(void *arg, const struct wire_event *ev)
{
	struct run *r = arg;

	if (r->nevents < EVENTS_MAX)
		r->event[r->nevents++] = *ev;
	else
		r->cut = true;
}

/* --- output --------------------------------------------------------------------- */

/* Return: the text of the answer in a frame, "" if there is none. */
static const char *answer_text(const struct run *r, const struct wire_event *ev, char *buf)
{
	*buf = '\0';
	if (ev->says < 0)
		return buf;
	if (r->play->protocol == TORUS_RETRY_ACKNAK && !ev->says)
		snprintf(buf, TEXT_MAX, "%s (none yet)", ev->nak ? "NAK" : "ACK");
	else if (r->play->protocol == TORUS_RETRY_ACKNAK)
		snprintf(buf, TEXT_MAX, "%s %d", ev->nak ? "NAK" : "ACK", ev->says - 1);
	else if (r->play->protocol == TORUS_RETRY_HIPPI)
		snprintf(buf, TEXT_MAX, "answer %d", ev->says);
	else
		snprintf(buf, TEXT_MAX, "RSEQ %d%s", ev->says, ev->nak ? ", E" : "");
	return buf;
}

static void frame_text(const struct run *r, const struct wire_event *ev, char *buf, size_t room)
{
	const char *again = ev->what == WIRE_SENT && ev->copy ? " again" : "";
	char answer[TEXT_MAX];

	answer_text(r, ev, answer);
	if (ev->answer)
		snprintf(buf, room, "%s", *answer ? answer : "no answer");
	else if (r->play->two_way && *answer)
		snprintf(buf, room, "packet %" PRIu64 "%s, %s", ev->unit, again, answer);
	else
		snprintf(buf, room, "packet %" PRIu64 "%s", ev->unit, again);
}

static void event_text(const struct run *r, const struct wire_event *ev, char *buf, size_t room)
{
	static const char *const verdicts[] = {
		[WIRE_HEARD] = "",
		[WIRE_TAKEN] = ": taken",
		[WIRE_AHEAD] = ": out of sequence, dropped",
		[WIRE_BEHIND] = ": came before, dropped",
	};
	const char *back = ev->back ? "; goes back" : "";
	char frame[2 * TEXT_MAX];

	frame_text(r, ev, frame, sizeof(frame));
	if (ev->what == WIRE_TIMER)
		snprintf(buf, room, "timer runs out; goes back");
	else if (ev->what == WIRE_SENT)
		snprintf(buf, room, "%s%s", frame, ev->fate == WIRE_LOST ? "  (lost)" :
			 ev->fate == WIRE_DAMAGED ? "  (damaged)" : "");
	else if (ev->fate == WIRE_DAMAGED)
		snprintf(buf, room, "damaged");
	else
		snprintf(buf, room, "%s%s%s", frame, verdicts[ev->verdict], back);
}

static void show_chart(const struct run *r, const struct wire_cost *cost)
{
	char text[4 * TEXT_MAX];

	if (r->play->about)
		printf("%s: %s\n\n", r->play->name, r->play->about);
	printf("%7s  %-42s    %s\n", "time", "sender",
	       r->play->two_way ? "the other end" : "receiver");
	for (unsigned int i = 0; i < r->nevents; i++) {
		const struct wire_event *ev = &r->event[i];
		bool to_right = (ev->what == WIRE_SENT) == !ev->end;
		const char *arrow = ev->what == WIRE_TIMER ? "  " : to_right ? "->" : "<-";

		event_text(r, ev, text, sizeof(text));
		if (!ev->end)
			printf("%7" PRIu64 "  %-42s %s\n", ev->at, text, arrow);
		else
			printf("%7" PRIu64 "  %-42s %s %s\n", ev->at, "", arrow, text);
	}
	printf("\n%" PRIu64 " packets sent; a sender went back %" PRIu64 " time%s, %" PRIu64
	       " of them by its timer%s\n",
	       cost->sent, cost->backs, cost->backs == 1 ? "" : "s", cost->timeouts,
	       r->cut ? "; not all is shown" : "");
}

/* --- the chart as a drawing ------------------------------------------------------ */

#define SENDER 340		/* x coordinates of the vertical lines of both ends */
#define RECEIVER 660
#define WIDE 1000
#define TOP 76
#define ROW 18

/*
 * Return: the position of an event's row: each event has a row of its own, so that texts do not
 * cover each other.
 */
static unsigned int row_of(unsigned int i)
{
	return TOP + i * ROW;
}

/*
 * Return: the number of the event in which the frame arrives that was sent in event @i; nevents: it
 * does not arrive.
 */
static unsigned int find_arrival(const struct run *r, unsigned int i)
{
	unsigned int end = r->event[i].end, before = 0;

	for (unsigned int k = 0; k < i; k++)	/* count the frames of this end that are still on
						 * the line */
		if (r->event[k].what == WIRE_SENT && r->event[k].end == end)
			before += r->event[k].fate != WIRE_LOST;
		else if (r->event[k].what == WIRE_CAME && r->event[k].end != end)
			before--;
	for (unsigned int k = i + 1; r->event[i].fate != WIRE_LOST && k < r->nevents; k++)
		if (r->event[k].what == WIRE_CAME && r->event[k].end != end && !before--)
			return k;
	return r->nevents;
}

/* Draws a frame as an arrow; dashed if it is damaged, half of it with a cross if it is lost. */
static void draw_frame(FILE *f, const struct run *r, unsigned int i)
{
	const struct wire_event *ev = &r->event[i];
	unsigned int to = find_arrival(r, i), from_y = row_of(i);
	int from_x = ev->end ? RECEIVER : SENDER, to_x = ev->end ? SENDER : RECEIVER;

	if (to < r->nevents) {
		fprintf(f, "<path class='f%s' marker-end='url(#a)' d='M%d %uL%d %u'/>\n",
			ev->fate == WIRE_DAMAGED ? " d" : "", from_x, from_y, to_x, row_of(to));
	} else if (ev->fate == WIRE_LOST) {
		int x = (from_x + to_x) / 2;
		unsigned int y = from_y + 2 * ROW;

		fprintf(f, "<path class='f' d='M%d %uL%d %u'/>"
			"<path class='x' d='M%d %ul12 12m0 -12l-12 12'/>\n",
			from_x, from_y, x, y, x - 6, y - 6);
	}
}

static void draw_event(FILE *f, const struct run *r, unsigned int i)
{
	const struct wire_event *ev = &r->event[i];
	char text[4 * TEXT_MAX];

	event_text(r, ev, text, sizeof(text));
	fprintf(f, "<text x='96' y='%u' text-anchor='end'>%" PRIu64 "</text>\n"
		"<text x='%d' y='%u'%s>%s</text>\n",
		row_of(i) + 4, ev->at, ev->end ? RECEIVER + 10 : SENDER - 10, row_of(i) + 4,
		ev->end ? "" : " text-anchor='end'", text);
	if (ev->what == WIRE_SENT)
		draw_frame(f, r, i);
}

static void draw_chart(FILE *f, const struct run *r)
{
	unsigned int last = row_of(r->nevents);

	fprintf(f, "<?xml version='1.0' encoding='UTF-8'?>\n"
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %u' "
		"width='%d' height='%u'>\n"
		"<style>text{font:12px sans-serif}.t{font-weight:bold}path{fill:none;stroke:#000}"
		".d{stroke-dasharray:5 4}.x{stroke-width:2}.l{stroke:#777}</style>\n"
		"<defs><marker id='a' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' "
		"markerHeight='8' orient='auto'><path d='M0 0L8 4L0 8z' style='fill:#000'/>"
		"</marker></defs>\n"
		"<rect width='100%%' height='100%%' fill='#fff'/>\n",
		WIDE, last + ROW, WIDE, last + ROW);
	fprintf(f, "<text x='20' y='24' style='font-size:15px'>%s%s%s</text>\n", r->play->name,
		r->play->about ? ": " : "", r->play->about ? r->play->about : "");
	fprintf(f, "<text class='t' x='96' y='52' text-anchor='end'>time, bytes</text>\n"
		"<text class='t' x='%d' y='52' text-anchor='middle'>sender</text>\n"
		"<text class='t' x='%d' y='52' text-anchor='middle'>%s</text>\n"
		"<path class='l' d='M%d 60V%uM%d 60V%u'/>\n", SENDER, RECEIVER,
		r->play->two_way ? "the other end" : "receiver", SENDER, last, RECEIVER, last);
	for (unsigned int i = 0; i < r->nevents; i++)
		draw_event(f, r, i);
	fputs("</svg>\n", f);
}

static int write_drawing(const struct run *r, const char *file)
{
	FILE *f = fopen(file, "w");
	int status = OK;

	if (f)
		draw_chart(f, r);
	if (!f || fflush(f) || ferror(f))
		status = fail("cannot write '%s': %s", file, strerror(errno));
	if (f && fclose(f) && status == OK)
		status = fail("cannot write '%s': %s", file, strerror(errno));
	return status;
}

/* --- the run, and what is shown of it --------------------------------------------- */

static json_t *event_json(const struct wire_event *ev)
{
	static const char *const whats[] = { "sent", "came", "timer" };
	static const char *const fates[] = { "whole", "damaged", "lost" };
	static const char *const verdicts[] = { "heard", "taken", "ahead", "behind" };
	bool came = ev->what == WIRE_CAME, timer = ev->what == WIRE_TIMER;

	return json_pack("{sI si ss so so so sb so so sb}", "time", (json_int_t)ev->at,
			 "end", (int)ev->end, "event", whats[ev->what],
			 "packet", ev->answer || timer ? json_null() :
			 json_integer((json_int_t)ev->unit),
			 "copy", ev->answer || timer ? json_null() : json_integer(ev->copy),
			 "says", ev->says < 0 ? json_null() : json_integer(ev->says),
			 "nak", ev->nak, "fate", timer ? json_null() : json_string(fates[ev->fate]),
			 "verdict", came && ev->fate == WIRE_WHOLE ?
			 json_string(verdicts[ev->verdict]) : json_null(), "back", ev->back);
}

static void print_chart(const struct run *r, const struct wire_cost *cost)
{
	static const char *const protocols[] = { "auto", "angara", "acknak", "hippi" };
	json_t *events = json_array();

	for (unsigned int i = 0; i < r->nevents; i++)
		json_array_append_new(events, event_json(&r->event[i]));
	json_show(json_pack("{ss ss ss sI sI sI sb sb so}", "play", r->play->name,
			    "script", r->play->script, "protocol", protocols[r->play->protocol],
			    "sent", (json_int_t)cost->sent, "backs", (json_int_t)cost->backs,
			    "timeouts", (json_int_t)cost->timeouts, "ended", cost->ended,
			    "cut", r->cut, "events", events));
}

static int all_done(const struct run *r)
{
	for (unsigned int i = 0; i < r->nsteps; i++) {
		const struct step *s = &r->step[i];

		if (!s->done && s->answer)
			return fail("--play '%s': only %" PRIu64 " answers were sent, numbered "
				    "from 0", s->text, r->answers[s->end]);
		if (!s->done)
			return fail("--play '%s': that packet was sent fewer times", s->text);
	}
	return OK;
}

int play_check(const struct play *play)
{
	struct run r = { .play = play };

	return script_parse(&r);
}

int play_run(const struct ctl *ctl, const struct play *play, struct wire_plan *plan)
{
	struct run *r = calloc(1, sizeof(*r));
	struct wire_watch watch = { fate_of, note_event, r };
	struct wire_cost cost;
	int status;

	if (!r)
		return fail("out of memory");
	r->play = play;
	plan->protocol = play->protocol;
	plan->coalesce = play->coalesce;
	plan->units = play->units;
	plan->one_way = !play->two_way;
	plan->in_sequence = play->in_sequence;
	plan->watch = &watch;
	status = script_parse(r);
	if (status == OK) {
		cost = wire_run(plan);
		status = all_done(r);
	}
	if (status == OK && ctl->svg)
		status = write_drawing(r, ctl->svg);
	if (status == OK && ctl->json)
		print_chart(r, &cost);
	else if (status == OK)
		show_chart(r, &cost);
	if (status == OK && !cost.ended)
		status = PROBLEM;
	free(r);
	return status;
}
