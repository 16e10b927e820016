// SPDX-License-Identifier: GPL-2.0-only
/* A node's row reports stalled ports; and how ports are named in problems. */
#include <stdio.h>

#include "stage_member.h"

static struct fm_row own_init;	/* the last row that was sent upwards */
static unsigned int rows;

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type != FM_MSG_ROW)
		return;
	own_init = msg->row.row;
	rows++;
}

static bool stalled(bool is)
{
	rows = 0;
	fm_stalled(s.fm, 0, is, START + s.now);
	return rows;
}

/*
 * Only a port that is not up is reported as stalled; one that was stalled comes up as a port
 * without a fault.
 */
static void stalled_port_is_reported_only_while_down(void **state)
{
	(void)state;
	joined();
	s.sees = sees;
	stage_link_lost(&s, 0, 1);
	assert_false(own_init.port[0].stalled);
	assert_true(stalled(true));
	assert_true(own_init.port[0].stalled);
	assert_false(stalled(true));
	assert_true(stalled(false));
	assert_false(own_init.port[0].stalled);
	stage_link_up(&s, 0, 2);
	/* While the port is up a stall is not news, but it is the reason when the link ends. */
	assert_false(stalled(true));
	assert_false(own_init.port[0].stalled);
	stage_link_lost(&s, 0, 1);
	assert_true(own_init.port[0].stalled);
	stage_link_up(&s, 0, 3);
	assert_false(own_init.port[0].stalled);
	stage_link_lost(&s, 0, 1);
	assert_false(own_init.port[0].stalled);
	/* There is no such port. */
	rows = 0;
	fm_stalled(s.fm, 4, true, START + s.now);
	assert_int_equal(rows, 0);
	stage_end(&s);
}

/* Ports of the shape are named by their directions, others by their numbers. */
static void port_of_shape_has_direction_as_name(void **state)
{
	static const char *const name[] = { "+x", "+y", "+z", "-x", "-y", "-z", "6", "7" };
	struct fm_init i;

	(void)state;
	stage_init(&s, "3x3x3", 13);
	s.dev.nports = 8;
	for (unsigned int p = 0; p < 6; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	s.deaf = "init ping connect ";
	for (unsigned int p = 0; p < 8; p++) {
		char text[80];

		stage_forget(&s);
		i = stage_neighbour(&s, p % 6);
		strcpy(i.fabric, "fob");
		stage_receive(&s, p, &i);
		snprintf(text, sizeof(text), "port %s leads to node ", name[p]);
		stage_did_some(&s, text);
	}
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(stalled_port_is_reported_only_while_down),
		cmocka_unit_test(port_of_shape_has_direction_as_name),
	};

	return cmocka_run_group_tests_name("fm_port", all, NULL, NULL);
}
