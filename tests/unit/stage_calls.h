/* SPDX-License-Identifier: GPL-2.0-only */
/* A root that asks all nodes anew, and calls those that no link reaches. */
#ifndef TESTS_STAGE_CALLS_H
#define TESTS_STAGE_CALLS_H

#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

#define RESEND (100 * MS)
#define SETTLE (2 * RESEND)
#define WAIT (5 * RESEND)	/* time until a call without an answer ends */

static struct fm_init sent;	/* the Init of the last call, or answer */
static int sent_to;

static inline void sees(int conn, const struct fm_msg *msg)
{
	if (msg->type != FM_MSG_CLAIM || !msg->claim.ninit)
		return;
	assert_int_equal(msg->claim.guid, s.dev.guid);
	assert_int_equal(fm_init_get(msg->claim.init, msg->claim.ninit, &sent), 0);
	sent_to = conn;
}

static inline struct fm_msg call(const struct fm_init *i)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = i->guid } };

	m.claim.ninit = (uint16_t)fm_init_put(m.claim.init, i);
	return m;
}

/* How often the node was connected to since the lines were forgotten. */
static inline unsigned int called(uint32_t node)
{
	char text[60];

	snprintf(text, sizeof(text), "connect 30.0.0.%u:1", node);
	return stage_count(&s, text);
}

/*
 * The root of a ring has a table in which all are up, and asks anew, for a node obeys a later
 * epoch.
 */
static inline void asks_in(const char *shape, uint32_t nodes, uint64_t *from)
{
	struct fm_msg m;

	root(shape);
	for (uint32_t i = 1; i < nodes; i++)
		join(i);
	settle(nodes);
	assert_int_equal(fm_version(s.fm), 1);
	m = hello(1);
	m.hello.root_epoch = fm_epoch(s.fm) + 1;
	m.hello.root_guid = 0xabc;
	stage_up(&s, 100);
	stage_msg(&s, 100, &m);
	stage_run_ns(&s, s.now + 1);
	assert_false(fm_is_root(s.fm));
	memset(s.joiner, 0, sizeof(s.joiner));
	stage_forget(&s);
	s.sees = sees;
	sent_to = 0;
	*from = s.now;
}

static inline void asks(uint32_t nodes, uint64_t *from)
{
	char shape[16];

	snprintf(shape, sizeof(shape), "%ux1", nodes);
	asks_in(shape, nodes, from);
}

/* Says HELLO; the first time its connection comes up. */
static inline void sends_hello(uint32_t i)
{
	struct fm_msg m = hello(i);

	if (!s.joiner[100 + i].known)
		stage_up(&s, 100 + (int)i);
	stage_msg(&s, 100 + (int)i, &m);
}

static inline void answers(int conn, uint64_t root_guid, uint64_t epoch, bool leads)
{
	struct fm_init i = sent;
	struct fm_msg m;

	i.guid = NIC + 3;
	i.root_guid = root_guid;
	i.epoch = epoch;
	i.asks = !leads;
	i.lost = false;
	m = call(&i);
	stage_msg(&s, conn, &m);
}

static inline struct fm_calls_status count(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.calls;
}

#endif /* TESTS_STAGE_CALLS_H */
