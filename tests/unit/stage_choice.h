/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Situations of a node that follows a root, or none, and the information that it gets about
 * others.
 */
#ifndef TESTS_STAGE_CHOICE_H
#define TESTS_STAGE_CHOICE_H

#include <stdio.h>

#include "daemon/fm/node/bootstrap.h"
#include "stage_member.h"

#define TAKEOVER (200 * MS)
#define VAIN (20 * s.cfg.resend)

/* The roots; the followed one is in the middle. */
#define FOLLOWED (NIC + 0x10)
#define LESSER (NIC + 0x8)
#define GREATER (NIC + 0x20)

static inline struct fm_init own_init(void)
{
	struct fm_init i;

	fm_bootstrap_fill(s.fm, &i);
	return i;
}

static inline bool follows(uint64_t root)
{
	return own_init().root_guid == root && own_init().root_address[0];
}

static inline void run(uint64_t ns)
{
	stage_run_ns(&s, s.now + ns);
}

enum kind { LEADS, ASKS, LOST, LOST_ASKS, KINDS };

/* The Init of the neighbour at @port, which is in the table that joined nodes have. */
static inline struct fm_init init_of(unsigned int port, enum kind kind, uint64_t root,
				     uint64_t epoch)
{
	struct fm_init i = stage_neighbour(&s, port);

	i.asks = kind == ASKS || kind == LOST_ASKS;
	i.lost = kind == LOST || kind == LOST_ASKS;
	i.received = true;
	i.root_guid = root;
	i.epoch = epoch;
	snprintf(i.root_address, sizeof(i.root_address), "30.1.0.%u:1", (unsigned int)(root - NIC));
	return i;
}

static inline void receive_init(unsigned int port, enum kind kind, uint64_t root, uint64_t epoch)
{
	struct fm_init i = init_of(port, kind, root, epoch);

	stage_receive(&s, port, &i);
}

static inline void welcome(int conn, uint64_t root, uint64_t term, bool adrift, const char *parent)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	m.welcome.root_guid = root;
	m.welcome.term = term;
	m.welcome.adrift = adrift;
	strcpy(m.welcome.parent, parent);
	stage_msg(&s, conn, &m);
}

/* The root at @conn, which this node tries, is reached and accepts it if the node asks first. */
static inline void accept_try(int conn, uint64_t root, uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = root, .epoch = epoch } };

	stage_up(&s, conn);
	if (!follows(root))
		stage_msg(&s, conn, &m);
}

static inline int last_conn(void)
{
	return s.next_conn - 1;
}

static inline void fresh(void)
{
	node_1();
	s.cfg.takeover = TAKEOVER;
	s.cfg.priority = 0;
	s.deaf = "ping log hello row place rows release report lost init ";
	stage_start(&s);
}

/* --- situations ------------------------------------------------------------------------- */

/* Begins with a node that follows no root, and receives the first one of TERM. */
static inline void none(void)
{
	fresh();
}

static inline void first(void)
{
	fresh();
	receive_init(2, LEADS, FOLLOWED, TERM);
	assert_true(follows(FOLLOWED));
}

/* ... which cannot be reached. */
static inline void first_tried(void)
{
	fresh();
	s.refuse_connect = -1;
	receive_init(2, LEADS, FOLLOWED, TERM);
	run(2 * VAIN);
	assert_true(follows(FOLLOWED));
}

/* A root leads it, and it has a table. */
static inline void led(void)
{
	first();
	stage_up(&s, 1);
	welcome(1, FOLLOWED, TERM, false, "");
	table(1);
	run(MS);
}

static inline void led_no_table(void)
{
	first();
	stage_up(&s, 1);
	welcome(1, FOLLOWED, TERM, false, "");
}

static inline void lost(void)
{
	led();
	s.refuse_connect = -1;
	stage_down(&s, 1);
	assert_true(own_init().lost);
}

static inline void lost_long(void)
{
	lost();
	run(VAIN);
}

static inline void lost_nearly_long(void)
{
	lost();
	run(VAIN - 1);
}

/*
 * Begins with a node that was led by LESSER - 1 in the epoch before, and that tries to reach
 * FOLLOWED, which asks to be root.
 */
static inline void tried(void)
{
	fresh();
	receive_init(2, LEADS, LESSER - 1, TERM - 1);
	stage_up(&s, 1);
	welcome(1, LESSER - 1, TERM - 1, false, "");
	stage_down(&s, 1);
	receive_init(2, ASKS, FOLLOWED, TERM);
	assert_true(follows(FOLLOWED) && own_init().asks && own_init().lost);
}

static inline void claim(void)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = FOLLOWED } };

	stage_msg(&s, last_conn(), &m);
}

/* As first(), and the asking node has answered. */
static inline void asked(void)
{
	tried();
	stage_up(&s, last_conn());
	claim();
	assert_true(follows(FOLLOWED) && own_init().asks && !own_init().lost);
}

static inline void asked_long(void)
{
	asked();
	for (unsigned int i = 0; i < 10; i++) {
		run(VAIN / 10);
		claim();
	}
	assert_true(follows(FOLLOWED));
}

static inline void asked_with_parent(void)
{
	asked();
	welcome(last_conn(), FOLLOWED, TERM, true, "30.0.0.2:1");
	stage_up(&s, last_conn());
	welcome(last_conn(), FOLLOWED, TERM, true, "");
	assert_true(follows(FOLLOWED) && own_init().asks && !own_init().lost);
}

/* The parent has lost the one that asks. */
static inline void asked_parent_lost(void)
{
	struct fm_msg pong = { .type = FM_MSG_PONG, .pong = { .adrift = true } };

	asked_with_parent();
	stage_msg(&s, last_conn(), &pong);
	assert_true(follows(FOLLOWED) && own_init().lost);
}

/* --- Inits ------------------------------------------------------------------------------ */

/* Forgets what was recorded until ports are silent, and hears Inits that are sent from then on. */
static inline void silent(void)
{
	run(60 * MS);
	s.deaf = "ping log hello row place rows release report lost connect close ";
	stage_forget(&s);
}

/*
 * The node and both neighbours have received each other's Inits. Acknowledgements count only after
 * the node has repeated its Init (node/bootstrap.c).
 */
static inline void known_to_both(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		receive_init(0, LEADS, FOLLOWED, TERM);
		receive_init(2, LEADS, FOLLOWED, TERM);
		run((1 - i) * 2 * s.cfg.init_interval);
	}
	silent();
}

static inline uint64_t asks_around(void)
{
	s.deaf = "ping log hello row place rows release report lost connect close ";
	return stage_wait(&s, "init 0: ");
}

#endif /* TESTS_STAGE_CHOICE_H */
