/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the netlink family through a socket, as a manager sends them, and their answers. */
#ifndef TORUS_KUNIT_TALK_H
#define TORUS_KUNIT_TALK_H

#include "lab.h"

/**
 * struct talk - the answer to a request
 * @replies: number of messages
 * @data: attributes of the last message
 * @len: bytes of @data
 * @err: result of the request
 * @why: text of the error
 * @each: called for each message; may be NULL
 * @ifindex: for @each: interface index of the NIC that was asked
 * @matches: for @each: counts the messages that are right
 * @buf: private to talk.c
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

/** talk_new() - allocate memory for answers, which is freed at the end of the test */
struct talk *talk_new(struct kunit *test);

/**
 * talk() - send a request, and read its whole answer
 * @t: gets the answer; used by one thread at a time
 * @skb: the request, which is freed
 * @flags: NLM_F_* to be added to the request
 * Any thread may call this.
 * Return: 0 after an acknowledgement or the end of a dump; else the error, which is also t->err.
 */
int talk(struct talk *t, struct sk_buff *skb, u16 flags);

#endif /* TORUS_KUNIT_TALK_H */
