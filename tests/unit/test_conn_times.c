// SPDX-License-Identifier: GPL-2.0-only
/* Times of a connection: when it counts as lost, and when the next HELLO is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"

#define KEEP (1000 * MS)
#define RESEND (50 * MS)
#define RECEIVED (7000 * MS)	/* when the last message came */

static struct fm *fm;

/* The part by which a long time is extended is constant here. */
uint64_t fm_mix(uint64_t v)
{
	(void)v;
	return 3;
}

static int begin(void **state)
{
	(void)state;
	fm = calloc(1, sizeof(*fm));
	assert_non_null(fm);
	fm->cfg.keepalive = KEEP;
	fm->cfg.resend = RESEND;
	fm->now = RECEIVED;
	assert_true(fm_conns_new(fm));
	return 0;
}

static int end(void **state)
{
	(void)state;
	fm_conns_free(fm);
	free(fm);
	return 0;
}

#define READY 1		/* the connection is established */
#define ANSWERED 2	/* the peer has sent a message */
#define WELCOME 4	/* the peer has sent WELCOME */
#define TAKEOVER 8	/* another node can become root */
#define ASKS 16		/* the root that this node follows only asks to be root */
#define ROOT_LOST 32
#define LED (READY | ANSWERED | WELCOME | TAKEOVER)
#define KNOWN (READY | ANSWERED | ASKS)

/**
 * struct silent - a connection on which no message comes
 * @is: mask of READY, ...
 * @greeted, @urgent: ms from the last message to a HELLO and an urgent ping; 0: there was none
 * @pace: ms that the peer asked for
 * @after: ms from the last message until it counts as lost
 */
struct silent {
	enum fm_conn_role role;
	unsigned int is, after, greeted, pace, urgent;
};

static void silent_connection_is_lost_after_time_of_its_role(void **state)
{
	static const struct silent all[] = {
		/* Four keep-alives, if nothing else is known */
		{ FM_CONN_STRANGER, 0, .after = 4000 },
		{ FM_CONN_PROBE, TAKEOVER, .after = 4000 },
		{ FM_CONN_PARENT, READY | ANSWERED | TAKEOVER, .after = 4000 },
		{ FM_CONN_PARENT, LED & ~TAKEOVER, .after = 4000 },
		{ FM_CONN_CALL, 0, .after = 250 },
		{ FM_CONN_CALL, TAKEOVER | ASKS, .after = 250 },
		/* One and a half if another node can lead */
		{ FM_CONN_PARENT, LED, .after = 1500 },
		{ FM_CONN_ROOT, LED, .after = 1500 },
		{ FM_CONN_ROOT, LED | ASKS, .after = 500 },
		{ FM_CONN_PARENT, LED | ASKS, .after = 1500 },
		/* The followed node asks, and has never answered. */
		{ FM_CONN_ROOT, ASKS, .after = 250 },
		{ FM_CONN_ROOT, 0, .after = 4000 },
		{ FM_CONN_PARENT, ASKS, .after = 4000 },
		{ FM_CONN_ROOT, ASKS, .after = 350, .greeted = 100 },
		{ FM_CONN_ROOT, ASKS | READY, .after = 470, .greeted = 100, .pace = 60 },
		{ FM_CONN_ROOT, ASKS | READY, .after = 4000 },
		/* The followed node asks, and has answered before, but not the last HELLO. */
		{ FM_CONN_ROOT, KNOWN, .after = 600, .greeted = 100 },
		{ FM_CONN_ROOT, KNOWN, .after = 720, .greeted = 100, .pace = 60 },
		{ FM_CONN_ROOT, KNOWN, .after = 4000, .greeted = 3800 },
		{ FM_CONN_ROOT, KNOWN, .after = 4000 },
		{ FM_CONN_ROOT, KNOWN & ~ASKS, .after = 4000, .greeted = 100 },
		{ FM_CONN_PARENT, KNOWN, .after = 4000, .greeted = 100 },
		/* The same while the root is lost, so that another one can be followed. */
		{ FM_CONN_ROOT, KNOWN | ROOT_LOST, .after = 350, .greeted = 100 },
		{ FM_CONN_ROOT, (KNOWN & ~READY) | ROOT_LOST, .after = 250 },
		{ FM_CONN_ROOT, KNOWN | ROOT_LOST, .after = 4000 },
		/* Two resends after an urgent ping, but not later than without */
		{ FM_CONN_ROOT, LED, .after = 120, .urgent = 20 },
		{ FM_CONN_ROOT, LED, .after = 1500, .urgent = 1450 },
		{ FM_CONN_PARENT, LED & ~TAKEOVER, .after = 120, .urgent = 20 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct silent *s = &all[i];
		struct fm_conn c = {
			.role = (uint8_t)s->role, .ready = s->is & READY,
			.confirmed = s->is & WELCOME, .answered = s->is & ANSWERED,
			.received = RECEIVED, .pace = s->pace * MS,
			.greeted = s->greeted ? RECEIVED + s->greeted * MS : 0,
			.urgent = s->urgent ? RECEIVED + s->urgent * MS : 0,
		};
		uint64_t at;

		fm->cfg.takeover = s->is & TAKEOVER;
		fm->root_asks = s->is & ASKS;
		fm->root_lost = s->is & ROOT_LOST;
		at = fm_conn_lost_at(fm, &c);
		if (at != RECEIVED + s->after * MS)
			fail_msg("case %u: lost after %llu ms, not %u", i,
				 (unsigned long long)((at - RECEIVED) / MS), s->after);
		/* A manager that gets its messages late waits for longer. */
		fm->lag = 10 * MS;
		assert_int_equal(fm_conn_lost_at(fm, &c), at + 40 * MS);
		fm->lag = 0;
	}
}

/* A connection to a root; a HELLO has just been sent, for the @nth time without an answer. */
static struct fm_conn *greeted(unsigned int nth)
{
	struct fm_conn *c = fm_conn_add(fm, 1, FM_CONN_ROOT);

	assert_non_null(c);
	c->ready = true;
	while (nth--)
		fm_conn_greet(fm, c);
	return c;
}

/* Without an answer the time until the next HELLO doubles, to eight times resend. */
static void hello_interval_doubles_without_answer(void **state)
{
	static const unsigned int after[] = { 50, 100, 200, 400, 400, 400 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		struct fm_conn *c = greeted(i + 1);

		assert_int_equal(c->again - RECEIVED, after[i] * MS + (i ? 3 : 0));
		fm_conn_forget(fm, c);
	}
}

/* The peer asks for fewer HELLOs: at most one each resend, at least one each keep-alive. */
static void peer_sets_pace_of_hellos(void **state)
{
	struct fm_conn *c = greeted(1);

	(void)state;
	fm_conn_pace(fm, c, 51);
	assert_int_equal(c->pace, 51 * MS);
	assert_int_equal(c->again - RECEIVED, 51 * MS + 3);
	fm_conn_pace(fm, c, 50);
	assert_int_equal(c->pace, 0);
	assert_int_equal(c->again - RECEIVED, RESEND);
	fm_conn_pace(fm, c, 1000);
	assert_int_equal(c->again - RECEIVED, KEEP + 3);
	fm_conn_pace(fm, c, 60000);
	assert_int_equal(c->pace, KEEP);
	assert_int_equal(c->again - RECEIVED, KEEP + 3);
	fm_conn_pace(fm, c, 0);
	assert_int_equal(c->again - RECEIVED, RESEND);
}

/* News do not wait for the pace, and do not put off a HELLO that is due earlier. */
static void news_send_hello_before_pace(void **state)
{
	struct fm_conn *c = greeted(1);

	(void)state;
	fm_conn_pace(fm, c, 800);
	fm_conns_look(fm);
	assert_int_equal(fm_conns_expiry(fm), RECEIVED + 800 * MS + 3);
	fm_conn_hurry(fm, c);
	assert_int_equal(c->again, RECEIVED + RESEND);
	assert_int_equal(fm_conns_expiry(fm), RECEIVED + RESEND);
	c->again = RECEIVED + 5 * MS;
	fm_conn_hurry(fm, c);
	assert_int_equal(c->again, RECEIVED + 5 * MS);
	assert_int_equal(fm_conns_expiry(fm), RECEIVED + 5 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(silent_connection_is_lost_after_time_of_its_role,
						begin, end),
		cmocka_unit_test_setup_teardown(hello_interval_doubles_without_answer, begin, end),
		cmocka_unit_test_setup_teardown(peer_sets_pace_of_hellos, begin, end),
		cmocka_unit_test_setup_teardown(news_send_hello_before_pace, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
