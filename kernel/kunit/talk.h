/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the netlink family through a socket, as a manager sends them, and their answers. */
#ifndef TORUS_KUNIT_TALK_H
#define TORUS_KUNIT_TALK_H

#include "lab.h"

/**
 * struct talk - the answer to a request
 * @replies: messages
 * @data: attributes of the last one
 * @len: their bytes
 * @err: how it ended
 * @why: the text of the error
 * @each: sees each reply; may be NULL
 * @ifindex: for it: of the NIC that was asked
 * @matches: it counts the replies that are right
 * @buf: of talk.c
 */
struct talk {
	unsigned int replies;
	const void *data;
	size_t len;
	int err;
	char why[TORUS_REFUSAL_MAX];
	void (*each)(struct talk *t);
	u32 ifindex;
	unsigned int matches;
	u8 *buf;
};

/** talk_new() - memory for answers, which goes with the test */
struct talk *talk_new(struct kunit *test);

/**
 * talk() - send @skb, which is gone then, with further flags, and read all of the answer
 * Any thread; one at a time for one @t.
 * Return: the error, which is also t->err; 0 after an acknowledgement or the end of a dump.
 */
int talk(struct talk *t, struct sk_buff *skb, u16 flags);

#endif /* TORUS_KUNIT_TALK_H */
