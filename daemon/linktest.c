// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of links. A port has at most one sender and one echo. They share one queue of packets to
 * the NIC.
 *
 * Rate. Packet n of a sender is due an interval after packet n - 1, and a sender that was late
 * sends up to LINKTEST_WINDOW packets at once. So a late timer lowers the rate only if it is later
 * than that, and no burst is longer than the window.
 *
 * Round trips are counted in classes, 32 for each power of two, so the median is right within 3 %
 * and a test of any length takes the same memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/linktest.h"
#include "lib/util/le.h"
#include "lib/util/times.h"

#define VERSION		1
#define HEAD		32
/* a packet counts as lost if its echo does not arrive for this long */
#define WAIT		(3 * SEC)
#define UNASKED		(10 * SEC)	/* time without a question for the result after which a
					 * sender ends */
#define SILENT		(60 * SEC)	/* an echo ends if it receives no packets for this long */
#define KEPT		(60 * SEC)	/* time for which the result is kept after the end */
#define AGAIN		(2 * MS)	/* delay of the next try after the NIC was busy */
#define QUEUE		(2 * LINKTEST_WINDOW)
#define CLASS_BITS	5
#define CLASSES		(60 << CLASS_BITS)

enum { PROBE, REPLY };

static const char magic[4] = "tTST";

/** struct outstanding - a packet whose echo has not arrived; @at 0: unused */
struct outstanding {
	uint32_t number;
	uint64_t at;
};

/**
 * struct run - a sender or an echo at a port
 * @until: when it ends; for a sender, when it sends its last packet
 * @interval: ns between packets
 * @next_at: when the next packet is due
 * @asked: the latest of: a request for the result, the arrival of a packet to be echoed, the end
 * @number: number of packets made so far; @all: no more packets will be made
 * @class: number of round trips in each class
 */
struct run {
	struct linktest_plan plan;
	struct linktest_result r;
	uint64_t began, until, interval, next_at, asked;
	uint32_t number;
	bool all;
	struct outstanding out[LINKTEST_WINDOW];
	uint32_t *class;
};

/**
 * struct end - a port with a test
 * @queue, @n: packets to be passed to the NIC
 * @busy: the NIC has not sent the packets passed before
 * @again: when the queue may be passed again
 */
struct end {
	struct run run[LINKTEST_ROLES];
	struct linktest_packet queue[QUEUE];
	unsigned int n;
	bool busy;
	uint64_t again;
	uint32_t class[CLASSES];
};

struct linktest {
	const struct linktest_ops *ops;
	void *arg;
	struct end *end[TORUS_MAX_PORTS];
};

struct linktest *linktest_new(const struct linktest_ops *ops, void *arg)
{
	struct linktest *t = calloc(1, sizeof(*t));

	if (t) {
		t->ops = ops;
		t->arg = arg;
	}
	return t;
}

void linktest_free(struct linktest *t)
{
	for (unsigned int i = 0; t && i < TORUS_MAX_PORTS; i++)
		free(t->end[i]);
	free(t);
}

/* --- packets --------------------------------------------------------------------- */

static uint64_t mix_pattern(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Writes bytes @at to @at + 7 of the pattern. */
static void pattern_word(uint64_t token, uint32_t number, size_t at, uint8_t *word)
{
	put_le(word, mix_pattern((token ^ (uint64_t)number << 32) + at * 0x9e3779b97f4a7c15u), 8);
}

static void put_pattern(uint8_t *p, size_t len, uint64_t token, uint32_t number)
{
	uint8_t word[8];

	for (size_t at = HEAD; at < len; at += sizeof(word)) {
		pattern_word(token, number, at, word);
		memcpy(p + at, word, len - at < sizeof(word) ? len - at : sizeof(word));
	}
}

static bool has_pattern(const uint8_t *p, size_t len, uint64_t token, uint32_t number)
{
	uint8_t word[8];

	for (size_t at = HEAD; at < len; at += sizeof(word)) {
		pattern_word(token, number, at, word);
		if (memcmp(p + at, word, len - at < sizeof(word) ? len - at : sizeof(word)))
			return false;
	}
	return true;
}

static void make_probe(struct linktest_packet *p, const struct linktest_plan *plan, uint32_t number)
{
	memset(p->data, 0, HEAD);
	memcpy(p->data, magic, sizeof(magic));
	p->data[4] = VERSION;
	p->data[5] = PROBE;
	put_le(p->data + 6, plan->size, 2);
	put_le(p->data + 8, plan->token, 8);
	put_le(p->data + 16, number, 4);
	put_pattern(p->data, plan->size, plan->token, number);
	p->len = (uint16_t)plan->size;
	p->arrived = 0;
}

void linktest_stamp(struct linktest_packet *p, uint64_t now)
{
	uint64_t kept = now - p->arrived;

	if (p->arrived)
		put_le(p->data + 20, kept > UINT32_MAX ? UINT32_MAX : kept, 4);
	else
		put_le(p->data + 24, now, 8);
}

/* --- beginning and ending --------------------------------------------------------- */

/* Return: bytes on the wire of a packet: whole flits, with LINKTEST_AROUND. */
static uint64_t wire_bytes(uint32_t size)
{
	return (size + 15) / 16 * 16 + LINKTEST_AROUND;
}

/*
 * Return: ns between packets, by the rate in @plan, or by the share of the link's rate that a test
 * may take, if that is less.
 */
static uint64_t interval_of(const struct linktest_plan *plan)
{
	uint64_t mbps = plan->mbps ? plan->mbps : LINKTEST_MBPS;
	uint64_t least = wire_bytes(plan->size) * 8 * LINKTEST_SHARE * 1000 / mbps;
	uint64_t wanted = SEC / plan->rate;

	return wanted > least ? wanted : least;
}

static bool is_running(const struct run *r)
{
	return r->r.state == LINKTEST_RUNS;
}

static void end_run(struct run *r, enum linktest_state state, const char *why, uint64_t now)
{
	if (!is_running(r))
		return;
	r->r.state = state;
	r->r.elapsed = now > r->began ? now - r->began : 0;
	r->asked = now;
	snprintf(r->r.why, sizeof(r->r.why), "%s", why);
}

int linktest_begin(struct linktest *t, unsigned int port, enum linktest_role role,
		   const struct linktest_plan *plan, uint64_t now)
{
	struct run *r;

	if (port >= TORUS_MAX_PORTS || !plan->token || !plan->rate || !plan->ns ||
	    plan->size < LINKTEST_SIZE_MIN || plan->size > TORUS_MGMT_MAX)
		return -EINVAL;
	if (!t->end[port])
		t->end[port] = calloc(1, sizeof(*t->end[port]));
	if (!t->end[port])
		return -ENOMEM;
	r = &t->end[port]->run[role];
	if (is_running(r))
		return -EBUSY;
	*r = (struct run) {
		.plan = *plan, .r.state = LINKTEST_RUNS, .began = now, .until = now + plan->ns,
		.interval = interval_of(plan), .next_at = now, .asked = now,
		.class = t->end[port]->class,
	};
	r->r.rate = (double)SEC / (double)r->interval;
	if (role == LINKTEST_SENDER)
		memset(r->class, 0, sizeof(t->end[port]->class));
	else
		r->interval /= 2;
	return 0;
}

static uint64_t pick_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void drop_end(struct linktest *t, unsigned int port)
{
	struct end *e = t->end[port];

	if (e->busy || e->run[LINKTEST_SENDER].r.state || e->run[LINKTEST_ECHO].r.state)
		return;
	free(e);
	t->end[port] = NULL;
}

void linktest_end(struct linktest *t, unsigned int port, uint64_t token)
{
	struct end *e = port < TORUS_MAX_PORTS ? t->end[port] : NULL;

	if (!e)
		return;
	for (unsigned int i = 0; i < LINKTEST_ROLES; i++)
		if (e->run[i].plan.token == token)
			e->run[i] = (struct run) { 0 };
	drop_end(t, port);
}

void linktest_fail(struct linktest *t, unsigned int port, enum linktest_role role,
		   const char *why, uint64_t now)
{
	struct end *e = port < TORUS_MAX_PORTS ? t->end[port] : NULL;

	if (e)
		end_run(&e->run[role], LINKTEST_FAILED, why, now);
}

/* --- round trips ------------------------------------------------------------------ */

static unsigned int class_of(uint64_t ns)
{
	unsigned int high = 63 - (unsigned int)__builtin_clzll(ns | 1), shift;

	if (high <= CLASS_BITS)
		return (unsigned int)ns;
	shift = high - CLASS_BITS;
	return ((shift + 1) << CLASS_BITS) + (unsigned int)((ns >> shift) - (1u << CLASS_BITS));
}

/* Return: the round-trip time in the middle of a class, ns. */
static uint64_t middle_of(unsigned int class)
{
	unsigned int shift = class >> CLASS_BITS;
	uint64_t low = class & ((1u << CLASS_BITS) - 1);

	if (!shift)
		return low;
	return ((low + (1u << CLASS_BITS)) << (shift - 1)) + (1ull << (shift - 1)) / 2;
}

static void note_trip(struct run *r, uint64_t ns)
{
	unsigned int class = class_of(ns);

	if (!r->r.rtt_max || ns < r->r.rtt_min)
		r->r.rtt_min = ns;
	if (ns > r->r.rtt_max)
		r->r.rtt_max = ns;
	r->class[class < CLASSES ? class : CLASSES - 1]++;
}

static uint64_t median_of(const struct run *r)
{
	uint64_t n = 0, half = (r->r.received + 1) / 2, middle;

	for (unsigned int i = 0; half && i < CLASSES; i++) {
		n += r->class[i];
		if (n < half)
			continue;
		middle = middle_of(i);
		return middle < r->r.rtt_min ? r->r.rtt_min :
		       middle > r->r.rtt_max ? r->r.rtt_max : middle;
	}
	return 0;
}

bool linktest_result(struct linktest *t, unsigned int port, enum linktest_role role,
		     uint64_t token, uint64_t now, struct linktest_result *out)
{
	struct run *r = port < TORUS_MAX_PORTS && t->end[port] ? &t->end[port]->run[role] : NULL;

	if (!r || !r->r.state || r->plan.token != token)
		return false;
	r->asked = now;
	*out = r->r;
	if (is_running(r))
		out->elapsed = now - r->began;
	if (role == LINKTEST_SENDER)
		out->rtt_median = median_of(r);
	return true;
}

/* --- sending ---------------------------------------------------------------------- */

static struct linktest_packet *queue_add(struct end *e)
{
	return e->n < QUEUE ? &e->queue[e->n++] : NULL;
}

static void flush_queue(struct linktest *t, unsigned int port, uint64_t now)
{
	struct end *e = t->end[port];
	unsigned int n = e->n;

	if (e->busy || !n || now < e->again)
		return;
	e->busy = true;
	if (t->ops->send(t->arg, port, e->queue, n)) {
		e->n = 0;
	} else {
		e->busy = false;
		e->again = now + AGAIN;
	}
}

/* Puts packets that the NIC has not sent back to the front of the queue. */
static void put_back(struct end *e, const struct linktest_packet *p, unsigned int n)
{
	unsigned int room = QUEUE - e->n;

	n = n < room ? n : room;
	memmove(e->queue + n, e->queue, e->n * sizeof(*p));
	memcpy(e->queue, p, n * sizeof(*p));
	e->n += n;
}

static void run_end(struct linktest *t, unsigned int port, uint64_t now);

void linktest_sent(struct linktest *t, unsigned int port, const struct linktest_packet *p,
		   unsigned int n, unsigned int done, int err, const char *why, uint64_t now)
{
	struct end *e = port < TORUS_MAX_PORTS ? t->end[port] : NULL;

	if (!e)
		return;
	e->busy = false;
	if (err == -EAGAIN) {
		put_back(e, p + done, n - done);
		e->again = now + AGAIN;
	} else if (err) {
		for (unsigned int i = 0; i < LINKTEST_ROLES; i++)
			end_run(&e->run[i], LINKTEST_FAILED, why, now);
	}
	run_end(t, port, now);
}

static bool has_all_sent(struct run *r, uint64_t now)
{
	r->all = r->all || now >= r->until || (r->plan.packets && r->r.sent >= r->plan.packets);
	return r->all;
}

static struct outstanding *find_out(struct run *r, uint32_t number, bool used)
{
	for (unsigned int i = 0; i < LINKTEST_WINDOW; i++)
		if ((r->out[i].at != 0) == used && (!used || r->out[i].number == number))
			return &r->out[i];
	return NULL;
}

static void send_probes(struct end *e, struct run *r, uint64_t now)
{
	uint64_t behind = LINKTEST_WINDOW * r->interval;
	struct linktest_packet *p;
	struct outstanding *o;

	if (now > behind && r->next_at < now - behind)
		r->next_at = now - behind;
	while (r->next_at <= now && !has_all_sent(r, now)) {
		o = find_out(r, 0, false);
		p = o ? queue_add(e) : NULL;
		if (!p)
			return;
		*o = (struct outstanding) { r->number, now };
		make_probe(p, &r->plan, r->number++);
		r->next_at += r->interval;
		r->r.sent++;
		r->r.bytes += wire_bytes(r->plan.size);
	}
}

/* Counts packets without an echo after WAIT as lost. Return: true if packets are outstanding. */
static bool look_for_lost(struct run *r, uint64_t now)
{
	bool some = false;

	for (unsigned int i = 0; i < LINKTEST_WINDOW; i++) {
		if (r->out[i].at && now >= r->out[i].at + WAIT) {
			r->out[i].at = 0;
			r->r.lost++;
		}
		some |= r->out[i].at != 0;
	}
	return some;
}

static void run_sender(struct end *e, struct run *r, uint64_t now)
{
	bool some = look_for_lost(r, now);

	if (now >= r->asked + UNASKED)
		end_run(r, LINKTEST_FAILED, "the test ended early: the result was no longer asked "
			"for", now);
	else if (!has_all_sent(r, now))
		send_probes(e, r, now);
	else if (!some)
		end_run(r, LINKTEST_DONE, "", now);
}

/* Deletes results that no request has fetched in time. */
static void forget_old(struct end *e, uint64_t now)
{
	for (unsigned int i = 0; i < LINKTEST_ROLES; i++) {
		struct run *r = &e->run[i];

		if (r->r.state > LINKTEST_RUNS && now >= r->asked + KEPT)
			*r = (struct run) { 0 };
	}
}

static uint64_t echo_expiry(const struct run *r)
{
	return pick_sooner(r->until, r->asked + SILENT);
}

static void run_end(struct linktest *t, unsigned int port, uint64_t now)
{
	struct end *e = t->end[port];

	if (is_running(&e->run[LINKTEST_SENDER]))
		run_sender(e, &e->run[LINKTEST_SENDER], now);
	if (now >= echo_expiry(&e->run[LINKTEST_ECHO]))
		end_run(&e->run[LINKTEST_ECHO], LINKTEST_DONE, "", now);
	forget_old(e, now);
	flush_queue(t, port, now);
	drop_end(t, port);
}

void linktest_due(struct linktest *t, uint64_t now)
{
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		if (t->end[i])
			run_end(t, i, now);
}

/* --- receiving -------------------------------------------------------------------- */

static void receive_probe(struct end *e, struct run *r, const uint8_t *data, size_t len,
			  uint32_t number, uint64_t now)
{
	uint64_t behind = QUEUE * r->interval;
	struct linktest_packet *p;

	r->asked = now;
	r->r.received++;
	if (!has_pattern(data, len, r->plan.token, number))
		r->r.wrong++;
	if (now > behind && r->next_at < now - behind)
		r->next_at = now - behind;
	p = r->next_at <= now ? queue_add(e) : NULL;
	if (!p)
		return;
	r->next_at += r->interval;
	memcpy(p->data, data, len);
	p->data[5] = REPLY;
	p->len = (uint16_t)len;
	p->arrived = now;
}

static void receive_reply(struct run *r, const uint8_t *data, size_t len, uint32_t number,
			  uint64_t now)
{
	uint64_t sent = get_le(data + 24, 8), kept = get_le(data + 20, 4);
	struct outstanding *o = find_out(r, number, true);

	if (o)
		o->at = 0;
	else if (r->r.lost)	/* the packet had been counted as lost, because it was late */
		r->r.lost--;
	else
		return;
	r->r.received++;
	if (!has_pattern(data, len, r->plan.token, number))
		r->r.wrong++;
	note_trip(r, now > sent + kept ? now - sent - kept : 0);
}

bool linktest_receive(struct linktest *t, unsigned int port, const void *data, size_t len,
		      uint64_t now)
{
	const uint8_t *p = data;
	struct end *e = port < TORUS_MAX_PORTS ? t->end[port] : NULL;
	struct run *r;

	if (len < sizeof(magic) || memcmp(p, magic, sizeof(magic)))
		return false;
	if (!e || len < LINKTEST_SIZE_MIN || len > TORUS_MGMT_MAX || p[4] != VERSION ||
	    p[5] > REPLY || get_le(p + 6, 2) != len)
		return true;
	r = &e->run[p[5] == REPLY ? LINKTEST_SENDER : LINKTEST_ECHO];
	if (!is_running(r) || r->plan.token != get_le(p + 8, 8) || len != r->plan.size)
		return true;
	if (p[5] == REPLY)
		receive_reply(r, p, len, (uint32_t)get_le(p + 16, 4), now);
	else
		receive_probe(e, r, p, len, (uint32_t)get_le(p + 16, 4), now);
	run_end(t, port, now);
	return true;
}

/* --- time ------------------------------------------------------------------------- */

static uint64_t sender_expiry(const struct run *r, bool busy)
{
	uint64_t at = pick_sooner(r->all ? UINT64_MAX : r->until, r->asked + UNASKED);
	unsigned int used = 0;

	for (unsigned int i = 0; i < LINKTEST_WINDOW; i++) {
		if (!r->out[i].at)
			continue;
		used++;
		at = pick_sooner(at, r->out[i].at + WAIT);
	}
	return r->all || busy || used == LINKTEST_WINDOW ? at : pick_sooner(at, r->next_at);
}

static uint64_t end_expiry(const struct end *e)
{
	uint64_t at = e->n && !e->busy ? e->again : UINT64_MAX;

	for (unsigned int i = 0; i < LINKTEST_ROLES; i++) {
		const struct run *r = &e->run[i];

		if (r->r.state > LINKTEST_RUNS)
			at = pick_sooner(at, r->asked + KEPT);
		else if (is_running(r))
			at = pick_sooner(at, i == LINKTEST_ECHO ? echo_expiry(r) :
				    sender_expiry(r, e->busy || e->n == QUEUE));
	}
	return at;
}

uint64_t linktest_expiry(const struct linktest *t)
{
	uint64_t at = UINT64_MAX;

	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		if (t->end[i])
			at = pick_sooner(at, end_expiry(t->end[i]));
	return at;
}
