/* SPDX-License-Identifier: GPL-2.0-only */
/* The root of a ring of four that begins anew, and asks which nodes would obey it. */
#ifndef TESTS_STAGE_CLAIM_H
#define TESTS_STAGE_CLAIM_H

#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

#define RESEND (100 * MS)

/* A node says HELLO; the first time its connection comes up. */
static inline void sends_up(uint32_t i, const struct fm_msg *m)
{
	if (!s.joiner[100 + i].known)
		stage_up(&s, 100 + (int)i);
	stage_msg(&s, 100 + (int)i, m);
}

static inline void sends_hello(uint32_t i)
{
	struct fm_msg m = hello(i);

	sends_up(i, &m);
}

static inline enum fm_root_state state_of(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.state;
}

/* The HELLO of a node with rows of root @maker, of epoch 41, and its table 9, in which all are up. */
static inline struct fm_msg with_table(uint32_t i, uint64_t maker)
{
	struct fm_msg m = hello(i);

	m.hello.placed = true;
	m.hello.version = m.hello.table = 9;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)i;
	m.hello.term = 41;
	m.hello.table_root = maker;
	m.hello.ups = 4;
	m.hello.counted = true;
	return m;
}

/* The root of 4x1 begins anew, and has found that there was one before: it asks who would obey it. */
static inline void asks_anew(void)
{
	struct fm_msg m;

	root("4x1");
	m = with_table(1, 0xabc);
	sends_up(1, &m);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(state_of(), FM_ROOT_ASKS);
	memset(s.joiner, 0, sizeof(s.joiner));
	stage_forget(&s);
}

static inline void all_send_hello(void)
{
	for (uint32_t i = 1; i < 4; i++)
		sends_hello(i);
}

#endif /* TESTS_STAGE_CLAIM_H */
