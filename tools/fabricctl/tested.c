// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "number.h"
#include "output.h"
#include "table.h"
#include "tested.h"

#define LIMIT_BER	1e-12	/* the rate for which receivers are trained */
/* more lost frames than this mean a fault: even a busy interface drops fewer */
#define LOST_SHARE	2e-4

static double read_double(const json_t *j, const char *key)
{
	return json_number_value(json_object_get(j, key));
}

/* Limits of the error rate for this count of errors, at 95 % confidence (errors.c). */
static double ber_bound(double errors, double bits, int side)
{
	double root = sqrt(errors + 1) + side;

	return bits > 0 ? root * root / bits : 0;
}

/* Return: the counts of the end @receiver for the packets that the end @sender has sent. */
static json_t *direction_json(const json_t *from, const json_t *to, const json_t *sender,
			      const json_t *receiver)
{
	const json_t *c = json_object_get(receiver, "counted");
	double errors = (double)(json_count(c, "crc_errors") + json_count(c, "malformed"));
	double bits = read_double(c, "bits");
	json_t *j = json_pack("{sO? sO? sI sI sI}", "from", from, "to", to, "packets",
			      (json_int_t)json_count(receiver, "received"), "pattern_errors",
			      (json_int_t)json_count(receiver, "wrong"), "retries",
			      (json_int_t)json_count(json_object_get(sender, "counted"),
						     "retries"));
	static const char *const keys[] = { "crc_errors", "malformed", "lost_frames", "frames",
					    "bits" };

	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set_new(j, keys[i], json_integer((json_int_t)json_count(c, keys[i])));
	json_object_set_new(j, "ber", json_real(bits > 0 ? errors / bits : 0));
	json_object_set_new(j, "ber_min", json_real(ber_bound(errors, bits, -1)));
	json_object_set_new(j, "ber_max", json_real(ber_bound(errors, bits, 1)));
	return j;
}

/* --- the verdict ------------------------------------------------------------- */

static void note_cause(json_t *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note_cause(json_t *list, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(list, json_string(text));
}

static void judge_direction(const json_t *d, json_t *reasons)
{
	uint64_t errors = json_count(d, "crc_errors") + json_count(d, "malformed");
	uint64_t lost = json_count(d, "lost_frames"), wrong = json_count(d, "pattern_errors");
	char to[TORUS_TEXT_MAX];

	json_end_text(json_object_get(d, "to"), to);
	if (errors && read_double(d, "ber_min") > LIMIT_BER)
		note_cause(reasons, "bit errors: %s received %llu damaged packets, %.1e errors a "
			   "bit: clean, reseat or replace the cable", to,
			   (unsigned long long)errors, read_double(d, "ber"));
	if (lost > 1 && (double)lost > LOST_SHARE * read_double(d, "frames"))
		note_cause(reasons, "lost frames: %llu of %llu did not come to %s: its interface "
			   "or the cable drops them", (unsigned long long)lost,
			   (unsigned long long)json_count(d, "frames"), to);
	if (wrong)
		note_cause(reasons,
			   "wrong patterns: %llu packets came to %s with other contents than "
			   "were sent, though their check sums were right: replace the NIC",
			   (unsigned long long)wrong, to);
}

static void judge_end(const json_t *end, const json_t *place, json_t *reasons)
{
	const char *state = json_text(end, "state"), *why = json_text(end, "why");
	char at[TORUS_TEXT_MAX];

	if (state && !strcmp(state, "failed"))
		note_cause(reasons, "%s: %s", json_end_text(place, at),
			   why ? why : "the test failed");
}

/*
 * Even a busy host answers some packets at once, so the shortest round trip is that of the cable.
 */
static void judge_trip(const struct tested *t, json_t *reasons)
{
	double least = read_double(json_object_get(t->send, "rtt_us"), "min");
	double limit = json_number_value(t->slow_us);

	if (limit > 0 && least > limit)
		note_cause(reasons, "slow: no round trip took less than %.3g ms: replace the "
			   "cable, or what lies between", least / 1e3);
}

static json_t *judge_directions(const struct tested *t, const json_t *directions)
{
	uint64_t sent = json_count(t->send, "sent"), lost = json_count(t->send, "lost");
	uint64_t received = json_count(t->send, "received");
	json_t *reasons = json_array(), *d;
	size_t i;

	judge_end(t->send, t->link, reasons);
	judge_end(t->echo, json_object_get(t->link, "peer"), reasons);
	if (lost || !received)
		note_cause(reasons, "lost packets: %llu of %llu got no echo",
			   (unsigned long long)(sent - received), (unsigned long long)sent);
	judge_trip(t, reasons);
	json_array_foreach(directions, i, d)
		judge_direction(d, reasons);
	return reasons;
}

json_t *tested_json(const struct tested *t)
{
	json_t *peer = json_object_get(t->link, "peer"), *reasons, *directions, *j;
	json_t *own = json_pack("{sO? sO? sO?}", "node", json_object_get(t->link, "node"), "port",
				json_object_get(t->link, "port"), "name",
				json_object_get(t->link, "name"));
	double ms = read_double(t->send, "ms");

	directions = json_pack("[o, o]", direction_json(own, peer, t->send, t->echo),
			       direction_json(peer, own, t->echo, t->send));
	reasons = judge_directions(t, directions);
	j = json_pack("{sO? sO? sO? sO? ss sf sI sI sI sI sO? sf sf sO? so so}",
		      "node", json_object_get(t->link, "node"), "port",
		      json_object_get(t->link, "port"), "name", json_object_get(t->link, "name"),
		      "peer", peer, "verdict", json_array_size(reasons) ? "bad" : "good", "seconds",
		      ms / 1e3, "size", (json_int_t)t->size, "sent",
		      (json_int_t)json_count(t->send, "sent"), "received",
		      (json_int_t)json_count(t->send, "received"), "lost",
		      (json_int_t)json_count(t->send, "lost"), "rtt_us",
		      json_object_get(t->send, "rtt_us"), "rate", read_double(t->send, "rate"),
		      "mbps", ms > 0 ? read_double(t->send, "bytes") * 8 / ms / 1e3 : 0,
		      "link_mbps", t->mbps, "directions", directions, "reasons", reasons);
	json_decref(own);
	return j;
}

int tested_status(const json_t *result)
{
	return json_array_size(json_object_get(result, "reasons")) ? PROBLEM : OK;
}

/* --- output for people --------------------------------------------------------- */

static void show_directions(const json_t *list)
{
	static const char *const titles[] = { "RECEIVER", ">PACKETS", ">BIT ERRORS",
					      ">LOST FRAMES", ">WRONG", ">RETRIES",
					      ">MEASURED BER", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *d;

	json_array_foreach(list, i, d) {
		uint64_t errors = json_count(d, "crc_errors") + json_count(d, "malformed");
		const uint64_t n[] = { errors, json_count(d, "lost_frames"),
				       json_count(d, "pattern_errors"), json_count(d, "retries") };
		double ber = read_double(d, errors ? "ber" : "ber_max");

		table_cell(t, PLAIN, "%s", json_end_text(json_object_get(d, "to"), text));
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(d, "packets"));
		for (unsigned int k = 0; k < sizeof(n) / sizeof(n[0]); k++)
			table_cell(t, !n[k] ? FAINT : k < 3 ? BAD : DOUBTFUL, "%llu",
				   (unsigned long long)n[k]);
		if (ber > 0)
			table_cell(t, errors ? BAD : FAINT, "%s%.1e", errors ? "" : "<", ber);
		else
			table_cell(t, FAINT, "-");
	}
	table_print(t, "nothing was received");
}

void tested_show(const json_t *result)
{
	const json_t *rtt = json_object_get(result, "rtt_us"), *r;
	const json_t *link_mbps = json_object_get(result, "link_mbps");
	double mbps = read_double(result, "mbps"), of = json_number_value(link_mbps);
	char own[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX];
	bool good = tested_status(result) == OK;
	size_t i;

	printf("%s to %s: %llu packets of %llu bytes in %.1f s, %llu echoes, %llu lost\n",
	       json_end_text(result, own), json_end_text(json_object_get(result, "peer"), peer),
	       (unsigned long long)json_count(result, "sent"),
	       (unsigned long long)json_count(result, "size"), read_double(result, "seconds"),
	       (unsigned long long)json_count(result, "received"),
	       (unsigned long long)json_count(result, "lost"));
	if (json_is_object(rtt))
		printf("round trip  min %.1f us, median %.1f us, max %.1f us\n",
		       read_double(rtt, "min"), read_double(rtt, "median"),
		       read_double(rtt, "max"));
	printf("bandwidth   %.3g Mb/s each way", mbps);
	if (of > 0)
		printf(", %.2g %% of %.0f Mb/s", 100 * mbps / of, of);
	printf("\n\n");
	show_directions(json_object_get(result, "directions"));
	printf("\n%sverdict     %s%s\n", paint(good ? GOOD : BAD),
	       good ? "good: no errors, in either direction" : "bad", paint(PLAIN));
	json_array_foreach(json_object_get(result, "reasons"), i, r)
		printf("  %s\n", json_string_value(r));
}
