// SPDX-License-Identifier: GPL-2.0-only
/* After which silence a node takes the one that asks to be root, or its parent, for lost. */
#include <errno.h>

#include "stage_choice.h"

static uint64_t until_closed(int conn)
{
	char text[24];

	snprintf(text, sizeof(text), "close %d\n", conn);
	return stage_wait(&s, text);
}

static void tried_unled(void)
{
	fresh();
	receive_init(2, ASKS, FOLLOWED, TERM);
	assert_true(follows(FOLLOWED));
}

/*
 * The root cannot be reached, or takes the connection and does not answer HELLO: it is left after
 * five times resend.
 */
static void unanswering_root_is_left_after_5_resends(void **state)
{
	(void)state;
	for (unsigned int was_led = 0; was_led < 2; was_led++)
		for (unsigned int up = 0; up < 2; up++) {
			if (was_led)
				tried();
			else
				tried_unled();
			if (up) {
				run(300 * MS);
				stage_up(&s, last_conn());
			}
			assert_int_equal(until_closed(last_conn()), 5 * s.cfg.resend);
			stage_end(&s);
		}
}

/* HELLO waits for the slow NIC: the time of silence begins when it has been sent. */
static void time_of_silence_begins_when_hello_is_sent(void **state)
{
	(void)state;
	tried();
	s.slow = true;
	stage_up(&s, last_conn());
	run(900 * MS);
	stage_did_no(&s, "close");
	s.slow = false;
	stage_end_of(&s);
	assert_int_equal(until_closed(last_conn()), 5 * s.cfg.resend);
	stage_end(&s);
}

/*
 * The root has answered, and does not answer the next HELLO: it is left after the time that a claim
 * may take.
 */
static void root_silent_after_answer_is_left_after_claim_time(void **state)
{
	(void)state;
	for (unsigned int was_led = 0; was_led < 2; was_led++) {
		if (was_led)
			tried();
		else
			tried_unled();
		stage_up(&s, last_conn());
		claim();
		assert_int_equal(until_closed(last_conn()), s.cfg.resend + 10 * s.cfg.resend);
		stage_end(&s);
	}
}

/*
 * The root has welcomed the node, and does not lead yet: it is not lost sooner than a root that
 * claims.
 */
static void welcome_before_leading_does_not_hasten_loss(void **state)
{
	(void)state;
	asked();
	welcome(last_conn(), FOLLOWED, TERM, true, "");
	assert_int_equal(until_closed(last_conn()), 10 * s.cfg.resend);
	stage_end(&s);
	asked_with_parent();
	assert_int_equal(until_closed(last_conn()), s.cfg.keepalive * 6 / 4);
	stage_end(&s);
	/* The root leads already; first where another node can take over, then where none can. */
	led();
	assert_int_equal(until_closed(1), s.cfg.keepalive * 6 / 4 - MS);
	stage_end(&s);
	joined();
	assert_int_equal(until_closed(1), 4 * s.cfg.keepalive - MS);
	stage_end(&s);
}

/* --- the NIC, which may obey ------------------------------------------------------------ */

static void claims(uint64_t root, uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = root, .epoch = epoch } };

	s.deaf = "ping log row place rows release report lost init connect close ";
	stage_forget(&s);
	stage_msg(&s, last_conn(), &m);
}

/*
 * HELLO reports that an order which failed may have been done, unless the NIC obeys a later root.
 */
static void hello_names_root_of_failed_order(void **state)
{
	(void)state;
	fresh();
	s.roots = true;
	receive_init(2, ASKS, FOLLOWED, TERM);
	stage_up(&s, last_conn());
	s.err.root = -ESTALE;
	claims(FOLLOWED, TERM);
	assert_int_equal(stage_count(&s, "hello"), 1);
	stage_did_no(&s, " or ");
	s.err.root = -EIO;
	claims(FOLLOWED, TERM + 5);
	stage_did_some(&s, " or 110 of 131 ");
	s.err.root = -ESTALE;
	claims(FOLLOWED, TERM + 6);
	stage_did_some(&s, " or 110 of 131 ");
	s.err.root = -EIO;
	/* An earlier epoch, the same, and a later one. */
	claims(FOLLOWED, TERM + 4);
	stage_did_some(&s, " or 110 of 131 ");
	claims(FOLLOWED, TERM + 5);
	stage_did_some(&s, " or 110 of 131 ");
	s.err.root = 0;
	claims(FOLLOWED, TERM + 7);
	stage_did_no(&s, " or ");
	stage_end(&s);
}

/*
 * Orders of two roots of one epoch failed: HELLO reports that it is not known which of them the NIC
 * obeys.
 */
static void hello_names_both_roots_of_failed_orders(void **state)
{
	(void)state;
	fresh();
	s.roots = true;
	s.err.root = -EIO;
	receive_init(2, ASKS, FOLLOWED, TERM);
	stage_up(&s, last_conn());
	claims(FOLLOWED, TERM);
	stage_did_some(&s, " or 110 of 126 ");
	receive_init(2, ASKS, GREATER, TERM);
	stage_up(&s, last_conn());
	claims(GREATER, TERM);
	stage_did_some(&s, " or 0 of 126 ");
	claims(GREATER, TERM + 1);
	stage_did_some(&s, " or 120 of 127 ");
	stage_end(&s);
}

/* A claim comes while the NIC is busy: the NIC gets the order after that. */
static void busy_nic_gets_order_of_claim_afterwards(void **state)
{
	(void)state;
	fresh();
	s.roots = true;
	s.slow = true;
	receive_init(2, ASKS, FOLLOWED, TERM);
	stage_up(&s, last_conn());
	claims(FOLLOWED, TERM);
	stage_did_no(&s, "root 110");
	stage_end_of(&s);
	stage_did_some(&s, "root 110 of 126\n");
	stage_end_of(&s);
	run(s.cfg.resend);
	stage_end_of(&s);
	stage_did_some(&s, " obeys 110 of 126 ");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(unanswering_root_is_left_after_5_resends),
		cmocka_unit_test(time_of_silence_begins_when_hello_is_sent),
		cmocka_unit_test(root_silent_after_answer_is_left_after_claim_time),
		cmocka_unit_test(welcome_before_leading_does_not_hasten_loss),
		cmocka_unit_test(hello_names_root_of_failed_order),
		cmocka_unit_test(hello_names_both_roots_of_failed_orders),
		cmocka_unit_test(busy_nic_gets_order_of_claim_afterwards),
	};

	return cmocka_run_group_tests_name("fm_silence", all, NULL, NULL);
}
