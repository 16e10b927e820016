// SPDX-License-Identifier: GPL-2.0-only
/* A manager's reports about its ports: states, sessions, ends of cables, and serials. */
#include <errno.h>
#include <stdio.h>

#include "stage.h"

static struct stage s;

/* The parent gets a ping with the row, and answers it. */
static void parent_lives(void)
{
	stage_send(&s, 1, FM_MSG_PONG);
	stage_did_nothing(&s);
}

/* Checks the row that the root receives; serials follow the clock, in ms. */
static void row_is(unsigned int port, const char *what)
{
	char want[300];

	snprintf(want, sizeof(want), "1 < row 101/1 row %u: d d%s%s%s\n1 < ping\n", (unsigned int)
		 ((START + s.now) / MS), port == 2 ? " " : " d ", what, port == 2 ? " d" : "");
	stage_did(&s, want);
	parent_lives();
}

/* Node 1, with no links, joined to the root in some way. */
static void bare(void)
{
	struct fm_init i;

	stage_init(&s, "4x4", 1);
	s.deaf = "init log ";
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	stage_run(&s, 200);
	s.stamped = s.now;
	stage_forget(&s);
}

static void at(double ms)
{
	stage_run(&s, ms);
	stage_forget(&s);
}

static void row_reports_each_change_of_port_state(void **state)
{
	struct torus_link *l = &s.link[2];
	struct fm_init i;

	(void)state;
	bare();
	at(300);
	/* A port without a session: there never was a link. */
	l->closed = true;
	stage_report_link(&s, 2);
	row_is(2, "d,closed");
	stage_report_link(&s, 2);
	stage_did_nothing(&s);
	l->closed = false;
	at(400);
	stage_link_up(&s, 2, 3);
	row_is(2, "u100.0");
	stage_report_link(&s, 2);
	stage_did_nothing(&s);
	at(500);
	l->state = TORUS_LINK_RETRAINING;
	stage_report_link(&s, 2);
	stage_did_nothing(&s);
	stage_link_lost(&s, 2, 77);
	row_is(2, "f100.0,s3/77,closed");
	/* The link is back, and closed until a replay: its former end is still reported. */
	at(600);
	stage_link_up(&s, 2, 4);
	row_is(2, "u100.0,s3/77,closed");
	at(700);
	l->closed = false;
	stage_report_link(&s, 2);
	row_is(2, "u100.0");
	/* The link ended and began again before the node reported how far it had received. */
	at(800);
	l->closed = true;
	l->session = 5;
	stage_report_link(&s, 2);
	row_is(2, "u100.0,closed");
	at(900);
	l->state = TORUS_LINK_DOWN;
	l->seq = 9;
	stage_report_link(&s, 2);
	row_is(2, "f100.0,s5/9,closed");
	at(1000);
	l->session = 0;
	stage_report_link(&s, 2);
	row_is(2, "d100.0,s5/9,closed");
	/* The end is reported again if it turns out to be at another number. */
	at(1020);
	l->session = 5;
	stage_report_link(&s, 2);
	row_is(2, "f100.0,s5/9,closed");
	at(1040);
	l->seq = 10;
	stage_report_link(&s, 2);
	row_is(2, "f100.0,s5/10,closed");
	at(1060);
	l->session = 7;
	stage_report_link(&s, 2);
	row_is(2, "f100.0,s7/10,closed");
	/* Another cable is plugged in. */
	at(1100);
	stage_link_up(&s, 2, 6);
	s.link[2].closed = false;
	stage_report_link(&s, 2);
	stage_send(&s, 1, FM_MSG_PONG);
	at(1200);
	l->peer_guid = 0x777;
	stage_report_link(&s, 2);
	row_is(2, "u777.0");
	at(1300);
	l->peer_port = 3;
	stage_report_link(&s, 2);
	row_is(2, "u777.3");
	/* The cable leads to another fabric, as the neighbour reports. */
	i = stage_neighbour(&s, 2);
	i.guid = 0x777;
	i.port = 3;
	strcpy(i.fabric, "other");
	at(1450);
	stage_receive(&s, 2, &i);
	row_is(2, "u777.3,problem1");
	stage_end(&s);
}

/* From the first row on serials follow the clock, or grow by one if that stands still. */
static void serials_follow_clock_or_rise_by_one(void **state)
{
	(void)state;
	bare();
	at(300);
	stage_link_up(&s, 2, 3);
	row_is(2, "u100.0");
	stage_link_lost(&s, 2, 1);
	stage_did(&s, "1 < row 101/1 row 1000301: d d f100.0,s3/1,closed d\n"
		      "1 < ping\n");
	parent_lives();
	stage_link_up(&s, 2, 4);
	stage_did(&s, "1 < row 101/1 row 1000302: d d u100.0,s3/1,closed d\n"
		      "1 < ping\n");
	parent_lives();
	stage_run(&s, 301);
	stage_link_lost(&s, 2, 2);
	stage_did(&s, "at 301 ms\n1 < row 101/1 row 1000303: d d f100.0,s4/2,closed d\n"
		      "1 < ping\n");
	parent_lives();
	stage_run(&s, 350);
	stage_link_up(&s, 2, 4);
	stage_did(&s, "at 350 ms\n1 < row 101/1 row 1000350: d d u100.0,s4/2,closed d\n"
		      "1 < ping\n");
	parent_lives();
	/* A port that the NIC does not have. */
	s.link[4].state = TORUS_LINK_UP;
	stage_report_link(&s, 4);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* Links that were up when the manager began are in the first row. */
static void links_up_before_start_are_in_first_row(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x4", 1);
	s.deaf = "init log connect ";
	stage_link_up(&s, 0, 3);
	stage_link_up(&s, 2, 4);
	stage_link_lost(&s, 2, 6);
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_did(&s, "at 0 ms\n1 < hello join 'n1' 30.0.0.1:1 101/1 position 1,0 attach +1 "
		      "row 1000003: u102.2 d f,s4/6,closed d\n");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(row_reports_each_change_of_port_state),
		cmocka_unit_test(serials_follow_clock_or_rise_by_one),
		cmocka_unit_test(links_up_before_start_are_in_first_row),
	};

	return cmocka_run_group_tests_name("fm_row", all, NULL, NULL);
}
