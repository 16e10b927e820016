// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports of a node, by themselves: random lives of links and random Inits, and the row that
 * results, compared with a plain account that the test keeps of each port.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/wire/init.h"

#define PORTS 6
#define INTERVAL (10 * MS)
#define MEMBER_MAX (60 * MS)

/** struct account - a port: its link, and the Inits that were sent and heard since it came up */
struct account {
	struct torus_link link;
	bool is_up, acked, received, owes, stalled;
	uint64_t last, due, sent, counts, gap;
	struct fm_port_row row;
};

static struct fm fm;
static struct account account[TORUS_MAX_PORTS];
static uint32_t serial, tag;
static uint64_t takes;		/* how long the last action at the NIC took */
static uint64_t begun;		/* when the one under way was begun; 0: none is */
static bool cabled;

static unsigned int used(void)
{
	return fm.ndims && 2 * fm.ndims < PORTS ? 2 * fm.ndims : PORTS;
}

/* Compares the row of a port with that of the account, which has just been changed. */
static void note_row(struct rnd *r, unsigned int p, const struct fm_port_row *was, bool changed)
{
	const struct fm_port_row *now = &account[p].row;
	bool same = was->state == now->state && was->problem == now->problem &&
		    was->closed == now->closed && was->stalled == now->stalled &&
		    was->session == now->session && was->seq == now->seq &&
		    was->peer_guid == now->peer_guid && was->peer_port == now->peer_port;
	uint32_t clock = (uint32_t)(fm.now / MS);

	expect(r, changed == !same, "port %u", p);
	if (!same)
		serial = clock > serial + 1 ? clock : serial + 1;
}

/* --- events ------------------------------------------------------------------------------ */

static void random_link(struct rnd *r, struct torus_link *l, unsigned int p)
{
	static const uint8_t states[] = { TORUS_LINK_DOWN, TORUS_LINK_TRAINING, TORUS_LINK_UP,
					  TORUS_LINK_UP, TORUS_LINK_RETRAINING,
					  TORUS_LINK_FAULTY };

	memset(l, 0, sizeof(*l));
	l->port = (uint8_t)p;
	l->state = states[rnd_below(r, sizeof(states))];
	l->session = rnd_below(r, 3);
	l->seq = (uint16_t)rnd_below(r, 2);
	l->closed = rnd_one_in(r, 3);
	l->peer_guid = 0x100 + rnd_below(r, 2);
	l->peer_port = (uint8_t)rnd_below(r, 2);
}

static void spread(struct account *a)
{
	a->counts = a->sent + INTERVAL;
	if (!a->is_up)
		return;
	a->acked = a->owes = false;
	a->due = fm.now;
	a->gap = INTERVAL;
}

static bool is_other(const struct fm_port_row *a, const struct fm_port_row *b)
{
	return a->peer_guid != b->peer_guid || a->peer_port != b->peer_port;
}

static void change_link(struct rnd *r, unsigned int p)
{
	struct account *a = &account[p];
	struct fm_port_row was = a->row;
	struct torus_link *l = &a->link;
	uint32_t session = l->session;
	bool changed, up;

	random_link(r, l, p);
	up = l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING;
	cabled |= l->state != TORUS_LINK_DOWN;
	if (up && (!a->is_up || session != l->session)) {
		a->acked = a->received = a->owes = a->stalled = false;
		a->counts = 0;
		a->row.problem = FM_PROBLEM_NONE;
		a->due = fm.now;
		a->gap = INTERVAL;
	}
	a->is_up = up;
	a->row.closed = l->closed;
	if (up) {
		a->row.state = FM_PORT_UP;
		a->row.peer_guid = l->peer_guid;
		a->row.peer_port = l->peer_port;
		a->row.stalled = false;
		if (!l->closed)
			a->row.session = a->row.seq = 0;
	} else {
		a->due = NEVER;
		a->row.state = l->session ? FM_PORT_FAULTY : FM_PORT_DOWN;
		a->row.problem = FM_PROBLEM_NONE;
		a->row.stalled = a->stalled;
		if (l->session) {
			a->row.session = l->session;
			a->row.seq = l->seq;
		}
	}
	/*
	 * All neighbours are informed of another cable, also those that have learned of the one
	 * before.
	 */
	for (unsigned int q = 0; q < used() && is_other(&was, &a->row); q++)
		spread(&account[q]);
	changed = fm_port_link(&fm, l);
	note_row(r, p, &was, changed);
}

static void deliver_init(struct rnd *r, unsigned int p)
{
	struct fm_init init = { .placed = !rnd_one_in(r, 3), .received = rnd_one_in(r, 2) };
	struct account *a = &account[p];
	bool answers = rnd_one_in(r, 3), first = init.placed && !a->received;

	fm_port_init(&fm, p, &init, answers);
	a->last = fm.now;
	a->owes |= !init.received;
	a->received |= init.placed;
	a->acked |= init.received && a->sent >= a->counts;
	if (first)
		a->due = fm.now;
	else if (answers)
		a->due = a->due < a->sent + INTERVAL / 2 ? a->due : a->sent + INTERVAL / 2;
	else if (a->acked && a->received)
		a->due = NEVER;
}

/* An action at the NIC begins, or the one under way ends. */
static void use_nic(void)
{
	if (!begun) {
		tag = fm_nic_begin(&fm, FM_ACT_COUNT);
		begun = fm.now;
		return;
	}
	assert_int_equal(fm_nic_end(&fm, tag), FM_ACT_COUNT);
	takes = fm.now - begun;
	begun = 0;
}

/* Return: by how much an Init is repeated later, because the NIC is slow */
static uint64_t slowness(void)
{
	uint64_t now = begun ? later(takes, fm.now - begun) : takes;

	return 2 * now < MEMBER_MAX ? 2 * now : MEMBER_MAX;
}

static void send_init(unsigned int p)
{
	struct account *a = &account[p];

	fm_port_sent(&fm, p);
	a->sent = fm.now;
	a->owes = false;
	a->due = a->acked && a->received ? NEVER : fm.now + a->gap + slowness();
	if (a->gap < 20 * INTERVAL)
		a->gap += a->gap / 2;
}

static void begin_anew(bool asks)
{
	if (asks)
		fm_ports_ask(&fm);
	else
		fm_ports_spread(&fm);
	for (unsigned int p = 0; p < used(); p++) {
		struct account *a = &account[p];

		if (asks)
			a->received = false;
		spread(a);
	}
}

static void set_problem(struct rnd *r, unsigned int p)
{
	struct fm_port_row was = account[p].row;

	account[p].row.problem = (uint8_t)rnd_below(r, 3);
	note_row(r, p, &was, fm_port_problem(&fm, p,
					     (enum fm_port_problem)account[p].row.problem));
}

static void set_stalled(struct rnd *r, unsigned int p)
{
	struct fm_port_row was = account[p].row;
	bool is = rnd_one_in(r, 2);

	account[p].stalled = is;
	account[p].row.stalled = is && !account[p].is_up;
	note_row(r, p, &was, fm_port_stalled(&fm, p, is));
}

/* Opens some of the ports that are up, as a replay does: the row keeps its serial. */
static void open_some(struct rnd *r)
{
	uint16_t mask = (uint16_t)rnd_below(r, 1u << PORTS);

	for (unsigned int p = 0; p < PORTS; p++)
		if (account[p].row.state != FM_PORT_UP)
			mask &= (uint16_t)~(1u << p);
	fm_ports_opened(&fm, mask);
	for (unsigned int p = 0; p < PORTS; p++)
		if (mask & 1u << p) {
			account[p].row.closed = false;
			account[p].row.session = account[p].row.seq = 0;
		}
}

/* --- the comparison ---------------------------------------------------------------------- */

static void check(struct rnd *r)
{
	uint64_t first = NEVER;

	expect(r, fm_ports_used(&fm) == used(), "%u ports", used());
	for (unsigned int p = 0; p < PORTS; p++) {
		const struct account *a = &account[p];
		const struct fm_port_row *row = &fm.row.port[p];

		expect(r, fm_port_row_same(row, &a->row), "port %u", p);
		expect(r, row->state == a->row.state && row->problem == a->row.problem &&
			  row->closed == a->row.closed && row->stalled == a->row.stalled &&
			  row->session == a->row.session && row->seq == a->row.seq &&
			  row->peer_guid == a->row.peer_guid &&
			  row->peer_port == a->row.peer_port, "port %u", p);
		expect(r, fm_port_up(&fm, p) == a->is_up && fm_port_has_init(&fm, p) == a->received &&
		       fm_port_last(&fm, p) == a->last, "port %u", p);
		expect(r, !a->is_up || fm_port_acknowledges(&fm, p) ==
				       (a->received && (a->acked || a->owes)), "port %u", p);
		expect(r, fm_port_due(&fm, p) == (a->is_up && fm.now >= a->due), "port %u", p);
		if (p < used() && a->is_up)
			first = earlier(first, a->due);
	}
	expect(r, fm_ports_expiry(&fm) == first, "due at another time");
	expect(r, fm.row.serial == serial, "serial %u", fm.row.serial);
	expect(r, fm.cabled == cabled, "cabled");
}

static void begin(struct rnd *r)
{
	struct torus_link none[PORTS] = { 0 };

	memset(&fm, 0, sizeof(fm));
	memset(account, 0, sizeof(account));
	fm.cfg.init_interval = INTERVAL;
	fm.cfg.member_max = MEMBER_MAX;
	fm.nports = PORTS;
	fm.ndims = rnd_below(r, 5);
	fm.now = 5000 * MS;
	cabled = false;
	for (unsigned int p = 0; p < PORTS; p++)
		none[p].port = (uint8_t)p;
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		account[p].due = NEVER;
	takes = begun = 0;
	assert_true(fm_ports_new(&fm) && fm_nic_new(&fm, 0, 0));
	fm_ports_begin(&fm, none);
	assert_int_equal(fm.row.nports, PORTS);
	serial = 5001;
	check(r);
}

static void end(void)
{
	fm_ports_free(&fm);
	fm_nic_free(&fm);
}

static void live(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	begin(&r);
	for (unsigned int k = 0; k < 500; k++) {
		unsigned int p = rnd_below(&r, PORTS), what = rnd_below(&r, 13);

		if (what < 3)
			change_link(&r, p);
		else if (what < 5)
			deliver_init(&r, p);
		else if (what < 7)
			send_init(p);
		else if (what < 8)
			begin_anew(rnd_one_in(&r, 2));
		else if (what < 9)
			set_problem(&r, p);
		else if (what < 10)
			set_stalled(&r, p);
		else if (what < 11)
			open_some(&r);
		else if (what < 12)
			use_nic();
		else
			fm.now += rnd_below(&r, 3) * INTERVAL / 2;
		check(&r);
	}
	end();
}

static void random_link_events_equal_naive_ports(void **state)
{
	(void)state;
	for_seeds(40, live);
}

/* For links that are up when the manager begins an Init is due at once. */
static void init_is_due_at_once_for_link_up_at_start(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < PORTS; p++) {
		struct torus_link links[PORTS] = { 0 };

		for (unsigned int q = 0; q < PORTS; q++)
			links[q].port = (uint8_t)q;
		links[p].state = TORUS_LINK_UP;
		links[p].session = 1;
		memset(&fm, 0, sizeof(fm));
		fm.nports = PORTS;
		fm.now = 7 * MS;
		assert_true(fm_ports_new(&fm) && fm_nic_new(&fm, 0, 0));
		fm_ports_begin(&fm, links);
		for (unsigned int q = 0; q < PORTS; q++) {
			assert_int_equal(fm_port_due(&fm, q), q == p);
			assert_int_equal(fm.row.port[q].state, q == p ? FM_PORT_UP : FM_PORT_DOWN);
		}
		end();
	}
}

/* The ports of dimension d are d, and d plus the number of dimensions; others have no direction. */
static void port_of_dimension_has_its_direction(void **state)
{
	static const char *const names[] = { "+x", "+y", "+z", "-x", "-y", "-z" };

	(void)state;
	for (unsigned int ndims = 1; ndims < 4; ndims++)
		for (unsigned int p = 0; p < 8; p++) {
			const char *name = p < ndims ? names[p] : names[p % ndims + 3];
			char text[TORUS_TEXT_MAX], number[8];

			sprintf(number, "%u", p);
			fm.ndims = ndims;
			assert_ptr_equal(fm_port_text(&fm, p, text), text);
			assert_string_equal(text, p < 2 * ndims ? name : number);
			if (p < 2 * ndims)
				assert_int_equal(fm_opposite(ndims, p), (p + ndims) % (2 * ndims));
		}
}

/* A lower device, a carrier, or a state of the link shows that a port has a cable. */
static void device_carrier_or_state_shows_cable(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct torus_link l = { .port = 1, .carrier = k == 1,
					.state = k == 2 ? TORUS_LINK_FAULTY : TORUS_LINK_DOWN };
		struct rnd r = rnd_new(1);

		begin(&r);
		if (k == 3)
			strcpy(l.lower, "eth0");
		fm_port_link(&fm, &l);
		assert_int_equal(fm.cabled, k > 0);
		end();
	}
}

/* Another reason of a loss is not sent to the root, except that the two NICs differ. */
static void only_mismatch_among_reasons_is_news(void **state)
{
	static const struct { enum torus_link_reason reason; bool news; } steps[] = {
		{ TORUS_REASON_CARRIER, true }, { TORUS_REASON_SILENCE, false },
		{ TORUS_REASON_MISMATCH, true }, { TORUS_REASON_MISMATCH, false },
		{ TORUS_REASON_BUBBLE, false }, { TORUS_REASON_CARRIER, true },
		{ TORUS_REASON_PEER, false },
	};
	struct torus_link l = { .port = 0, .state = TORUS_LINK_FAULTY, .session = 1 };
	struct rnd r = rnd_new(1);

	(void)state;
	begin(&r);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		l.reason = steps[i].reason;
		assert_int_equal(fm_port_link(&fm, &l), steps[i].news);
	}
	end();
}

/* The gap between Inits that no neighbour answers grows by half each time, to 20 times or more. */
static void interval_of_unanswered_inits_grows(void **state)
{
	struct torus_link l = { .port = 0, .state = TORUS_LINK_UP, .session = 1 };
	struct rnd r = rnd_new(1);
	uint64_t gap = INTERVAL;

	(void)state;
	begin(&r);
	fm_port_link(&fm, &l);
	for (unsigned int k = 0; k < 12; k++) {
		assert_int_equal(fm_ports_expiry(&fm), fm.now);
		fm_port_sent(&fm, 0);
		assert_int_equal(fm_ports_expiry(&fm), fm.now + gap);
		fm.now += gap;
		gap += gap < 20 * INTERVAL ? gap / 2 : 0;
	}
	assert_int_equal(gap / INTERVAL, 25);
	end();
}

/*
 * An Init is repeated later by twice the time of an action, also of the one that is under way, but
 * not by more than the wait for a node that does not answer.
 */
static void init_of_slow_nic_is_repeated_later(void **state)
{
	struct torus_link l = { .port = 0, .state = TORUS_LINK_UP, .session = 1 };
	static const unsigned int ms[] = { 7, 3, 31, 0 };
	struct rnd r = rnd_new(1);
	uint64_t before = 0;

	(void)state;
	begin(&r);
	fm_port_link(&fm, &l);
	for (unsigned int k = 0; k < 4; k++) {
		uint64_t time = ms[k] * MS, most = later(time, before);

		use_nic();
		fm.now += time;
		for (unsigned int ended = 0; ended < 2; ended++) {
			uint64_t slow = ended ? time : most;

			fm_ports_spread(&fm);
			fm_port_sent(&fm, 0);
			assert_int_equal(fm_ports_expiry(&fm) - fm.now,
					 INTERVAL + (slow < 30 * MS ? 2 * slow : MEMBER_MAX));
			if (!ended)
				use_nic();
		}
		before = time;
	}
	end();
}

/* Serials wrap around, and follow a clock that does. */
static void serials_of_port_rows_wrap_around(void **state)
{
	static const struct { uint32_t serial, clock, then; } cases[] = {
		{ 7, 7, 8 }, { 7, 8, 8 }, { 7, 9, 9 }, { 7, 6, 8 }, { 0xffffffff, 0, 0 },
		{ 0xffffffff, 1, 1 }, { 0xffffffff, 0xfffffffe, 0 }, { 0xfffffff0, 3, 3 },
		{ 3, 0xfffffff0, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rnd r = rnd_new(1);

		begin(&r);
		fm.row.serial = cases[i].serial;
		fm.now = cases[i].clock * (uint64_t)MS;
		assert_true(fm_port_problem(&fm, 2, FM_PROBLEM_ROOT));
		assert_int_equal(fm.row.serial, cases[i].then);
		end();
	}
}

/* --- the exchange over a cable ----------------------------------------------------------- */

#define EXCHANGE_MAX 12	/* see the head of bootstrap.c */
#define STEP (INTERVAL / 20)
#define STEPS_MAX 4	/* an Init comes in less than a quarter of an interval */
#define UNDER_WAY 8	/* most Inits under way to one end */

/** struct sent_init - an Init under way: the number of its content, and when it arrives */
struct sent_init {
	unsigned int content;
	bool received;
	uint64_t at;
};

/**
 * struct end - one end of a cable, and the Inits that are under way to it
 * @content: number of the content of its Inits, which each disturbance changes
 * @known: number of the content of the other end's Init that came last
 */
struct end {
	struct fm fm;
	unsigned int content, known, n;
	struct sent_init comes[UNDER_WAY];
};

/* Sends the Init of @e if one is due; it is lost once in @loses times, or never if @loses is 0. */
static bool send_due(struct rnd *r, struct end *e, struct end *peer, unsigned int loses)
{
	uint64_t at = e->fm.now + rnd_below(r, STEPS_MAX) * STEP;

	if (!fm_port_due(&e->fm, 0))
		return false;
	if (peer->n && peer->comes[peer->n - 1].at > at)	/* in order */
		at = peer->comes[peer->n - 1].at;
	if (!loses || !rnd_one_in(r, loses)) {
		assert_true(peer->n < UNDER_WAY);
		peer->comes[peer->n++] = (struct sent_init){
			.content = e->content, .at = at,
			.received = fm_port_acknowledges(&e->fm, 0),
		};
	}
	fm_port_sent(&e->fm, 0);
	return true;
}

static void receive_inits(struct end *e)
{
	while (e->n && e->comes[0].at <= e->fm.now) {
		struct fm_init init = { .placed = true, .received = e->comes[0].received };
		bool news = e->known != e->comes[0].content;

		e->known = e->comes[0].content;
		memmove(e->comes, e->comes + 1, --e->n * sizeof(e->comes[0]));
		fm_port_init(&e->fm, 0, &init, news || !init.received);
	}
}

static void disturb(struct rnd *r, struct end *e)
{
	e->content++;
	if (rnd_one_in(r, 2))
		fm_ports_spread(&e->fm);
	else
		fm_ports_ask(&e->fm);
}

static unsigned int pass_time(struct rnd *r, struct end *e, unsigned int loses)
{
	unsigned int sent = 0;

	for (unsigned int k = 0; k < 2; k++) {
		receive_inits(&e[k]);
		sent += send_due(r, &e[k], &e[!k], loses);
	}
	e[0].fm.now += STEP;
	e[1].fm.now = e[0].fm.now;
	return sent;
}

static void exchange(uint64_t seed)
{
	struct torus_link l = { .state = TORUS_LINK_UP, .session = 1 };
	struct end e[2] = { { .n = 0 } };
	struct rnd r = rnd_new(seed);
	unsigned int sent = 0;

	for (unsigned int k = 0; k < 2; k++) {
		e[k].fm.cfg.init_interval = INTERVAL;
		e[k].fm.nports = 1;
		e[k].fm.now = 5000 * MS;
		assert_true(fm_ports_new(&e[k].fm) && fm_nic_new(&e[k].fm, 0, 0));
		fm_ports_begin(&e[k].fm, &l);
	}
	for (unsigned int k = 0; k < 200; k++) {
		if (rnd_one_in(&r, 20))
			disturb(&r, &e[rnd_below(&r, 2)]);
		pass_time(&r, e, 3);
	}
	for (unsigned int k = 0; k < 5000; k++)
		sent += pass_time(&r, e, 0);
	expect(&r, sent <= EXCHANGE_MAX, "%u Inits after the last disturbance", sent);
	for (unsigned int k = 0; k < 2; k++) {
		expect(&r, fm_ports_expiry(&e[k].fm) == NEVER, "end %u still repeats", k);
		expect(&r, e[k].known == e[!k].content, "end %u does not know the other", k);
		fm_ports_free(&e[k].fm);
		fm_nic_free(&e[k].fm);
	}
}

/*
 * The neighbour acknowledges an Init whose content changes before the acknowledgement arrives: it
 * does not count, whether or not the new Init was sent already. One of the repetition does.
 */
static void acknowledgement_that_crosses_changed_init_does_not_count(void **state)
{
	struct torus_link l = { .state = TORUS_LINK_UP, .session = 1 };
	struct fm_init ack = { .placed = true, .received = true };

	(void)state;
	for (unsigned int sent = 0; sent < 2; sent++) {
		struct rnd r = rnd_new(1);

		begin(&r);
		fm_port_link(&fm, &l);
		fm_port_init(&fm, 0, &ack, false);
		fm_port_sent(&fm, 0);
		assert_int_equal(fm_ports_expiry(&fm), NEVER);
		fm.now += 10 * INTERVAL;
		fm_ports_spread(&fm);
		fm_port_sent(&fm, 0);
		fm.now += INTERVAL - 1;
		fm_ports_spread(&fm);
		if (sent)
			fm_port_sent(&fm, 0);
		fm_port_init(&fm, 0, &ack, false);
		assert_int_equal(fm_ports_expiry(&fm), fm.now + sent * INTERVAL);
		fm.now += INTERVAL;
		fm_port_sent(&fm, 0);
		fm_port_init(&fm, 0, &ack, false);
		assert_int_equal(fm_ports_expiry(&fm), NEVER);
		end();
	}
}

/*
 * Each exchange ends, although Inits are lost and either end begins it anew at any time; then both
 * ends have the present Init of the other.
 */
static void every_exchange_ends_with_present_inits(void **state)
{
	(void)state;
	for_seeds(300, exchange);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_link_events_equal_naive_ports),
		cmocka_unit_test(init_is_due_at_once_for_link_up_at_start),
		cmocka_unit_test(port_of_dimension_has_its_direction),
		cmocka_unit_test(device_carrier_or_state_shows_cable),
		cmocka_unit_test(only_mismatch_among_reasons_is_news),
		cmocka_unit_test(interval_of_unanswered_inits_grows),
		cmocka_unit_test(init_of_slow_nic_is_repeated_later),
		cmocka_unit_test(serials_of_port_rows_wrap_around),
		cmocka_unit_test(acknowledgement_that_crosses_changed_init_does_not_count),
		cmocka_unit_test(every_exchange_ends_with_present_inits),
	};

	return cmocka_run_group_tests_name("fm_ports", all, NULL, NULL);
}
