/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stubs for the functions of the manager that member.c and reports.c call: each notes its call in
 * @did, and returns what the test has set.
 */
#ifndef TESTS_TAKING_PART_H
#define TESTS_TAKING_PART_H

#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/uplink.h"

#define CONNS	4
#define NODES	5
#define GUID	0x200		/* of the first connection's peer */

static struct fm fm;
static struct fm_entry entry[NODES + 1];	/* the last one is not a part of the table */
static unsigned int conns;
static bool vanish;			/* all connections end when a failure is reported */
static struct fm_conn conn[CONNS];
static struct fm_report own;
static bool busy, mine, is_own, fails, refuses, takes, has_memory;
static int error;
static enum fm_act ended_act;
static uint64_t lag;
static uint16_t reopen;
static char did[4000], want[4000];

#define note(text, ...) snprintf((text) + strlen(text), sizeof(did) - strlen(text), __VA_ARGS__)

/* --- the node's neighbours ---------------------------------------------------------------- */

static void note_msg(char *text, const char *to, const struct fm_msg *msg)
{
	const struct fm_step *s = &msg->step;
	const struct fm_report *r = &msg->report;
	const struct fm_failed *f = &msg->failed;

	note(text, "%s ", to);
	switch (msg->type) {
	case FM_MSG_TABLE:
		note(text, "table %u.%u\n", (unsigned int)msg->table.term,
		     (unsigned int)msg->table.version);
		break;
	case FM_MSG_STEP:
		note(text, "step %u.%u.%u %u %u %u\n", (unsigned int)s->term,
		     (unsigned int)s->version, s->round, s->step, s->clean, s->nended);
		break;
	case FM_MSG_REPORT:
		note(text, "report %u.%u.%u %u %x %u %u\n", (unsigned int)r->term,
		     (unsigned int)r->version, r->round, r->count, (unsigned int)r->set,
		     (unsigned int)r->sums.lost, (unsigned int)r->sums.flow[1][2]);
		break;
	case FM_MSG_FAILED:
		note(text, "failed %x/%u by %x %u.%u error %u\n", (unsigned int)f->guid, f->epoch,
		     (unsigned int)f->by, (unsigned int)f->version, f->round, f->err);
		break;
	case FM_MSG_PONG:
		note(text, "pong%s%s\n", msg->pong.adrift ? " adrift" : "",
		     msg->pong.waits ? " waits" : "");
		break;
	default:
		assert_int_equal(msg->type, FM_MSG_FETCH);
		note(text, "fetch %u\n", (unsigned int)msg->fetch.version);
	}
}

static void send_up(struct fm *f, const struct fm_msg *msg)
{
	(void)f;
	note_msg(did, "up", msg);
	if (vanish)
		conns = 0;
}

static const struct fm_up up = { .send = send_up };

void fm_uplink_send(struct fm *f, const struct fm_msg *msg)
{
	(void)f;
	note_msg(did, "parent", msg);
}

void fm_conn_send(struct fm *f, const struct fm_conn *c, const struct fm_msg *msg)
{
	char to[8];

	(void)f;
	snprintf(to, sizeof(to), "%d", c->id);
	note_msg(did, to, msg);
}

unsigned int fm_conns_count(const struct fm *f)
{
	(void)f;
	return conns;
}

struct fm_conn *fm_conn_no(const struct fm *f, unsigned int i)
{
	(void)f;
	return i < conns ? &conn[i] : NULL;
}

struct fm_conn *fm_conn_of_child(const struct fm *f, uint64_t guid, const struct fm_conn *but)
{
	(void)f;
	assert_null(but);
	for (unsigned int i = 0; i < CONNS; i++)
		if (conn[i].role == FM_CONN_CHILD && conn[i].guid == guid)
			return &conn[i];
	return NULL;
}

void fm_conns_await(struct fm *f)
{
	(void)f;
	note(did, "await\n");
}

uint64_t fm_lag_answer(const struct fm *f)
{
	(void)f;
	return lag;
}

bool fm_table_take(struct fm *f, const struct fm_table_msg *t)
{
	if (!takes)
		return false;
	f->table.term = t->term;
	f->table.version = t->version;
	f->table.in_force = false;
	return true;
}

bool fm_table_whole(const struct fm *f, struct fm_msg *out)
{
	*out = (struct fm_msg) { .type = FM_MSG_TABLE };
	out->table.term = f->table.term;
	out->table.version = f->table.version;
	if (has_memory)
		note(did, "whole\n");
	return has_memory;
}

void fm_table_whole_end(const struct fm *f, struct fm_msg *msg)
{
	(void)f;
	assert_int_equal(msg->type, FM_MSG_TABLE);
	note(did, "end of whole\n");
}

void fm_table_ended(struct fm *f, const struct fm_ended *e)
{
	(void)f;
	note(did, "ended %u\n", e->node);
}

bool fm_table_takes(const struct fm *f, uint32_t node, uint64_t guid, uint32_t epoch)
{
	(void)f;
	return node < NODES && entry[node].guid == guid && entry[node].epoch == epoch &&
	       entry[node].state == FM_NODE_UP;
}

uint32_t fm_table_find(const struct fm *f, uint64_t guid)
{
	(void)f;
	for (uint32_t i = 0; i < NODES; i++)
		if (entry[i].guid == guid)
			return i;
	return TORUS_NO_NODE;
}

uint16_t fm_rows_reopen(const struct fm *f)
{
	(void)f;
	return reopen;
}

void fm_task_table(struct fm *f)
{
	(void)f;
	note(did, "task table\n");
}

void fm_task_step(struct fm *f, const struct fm_step *s)
{
	(void)f;
	note(did, "task step %u\n", s->round);
}

void fm_task_again(struct fm *f)
{
	(void)f;
	note(did, "task again\n");
}

void fm_task_done(struct fm *f, enum fm_act act, int err, const struct fm_counts *counts)
{
	(void)f;
	note(did, "task done %u %d %d\n", act, err, !!counts);
}

const struct fm_report *fm_task_report(const struct fm *f)
{
	(void)f;
	return is_own ? &own : NULL;
}

bool fm_task_busy(const struct fm *f)
{
	(void)f;
	return busy;
}

bool fm_task_mine(const struct fm *f)
{
	(void)f;
	return mine;
}

int fm_task_error(const struct fm *f)
{
	(void)f;
	return error;
}

bool fm_task_fails(const struct fm *f)
{
	(void)f;
	return fails;
}

bool fm_task_refuses(const struct fm *f)
{
	(void)f;
	return refuses;
}

enum fm_act fm_nic_end(struct fm *f, uint32_t tag)
{
	(void)f;
	assert_int_equal(tag, 77);
	return ended_act;
}

void fm_uplink_counted(struct fm *f)
{
	note(did, "counted %u\n", (unsigned int)f->park.parked);
}

#endif /* TESTS_TAKING_PART_H */
