/* SPDX-License-Identifier: GPL-2.0-only */
/* The socket of a NIC, each answer of which is made by the test. */
#ifndef TESTS_FAKE_NIC_H
#define TESTS_FAKE_NIC_H

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <pthread.h>
#include <torus/torus.h>

#define FAKE_CONNS	8

struct fake;

/* Answers one request. Runs in the thread of the fake NIC, so it must not use assertions. */
typedef void (*fake_fn)(struct fake *f, int fd, struct nlmsghdr *req);

/**
 * struct fake - a listening socket and its thread
 * @fn: answers requests
 * @arg: for @fn
 * @requests: how many requests came, over all connections
 * @last: copy of the last one
 * @largest: size of the largest datagram that came
 */
struct fake {
	char path[64];
	int listener;
	int stop[2];
	int conn[FAKE_CONNS];
	pthread_t thread;
	fake_fn fn;
	void *arg;
	unsigned int requests;
	size_t largest;
	char last[TORUS_MSG_MAX];
	char buf[TORUS_MSG_MAX];
};

/** fake_start() - clients may connect already before it returns, so @fn is given here */
void fake_start(struct fake *f, const char *path, fake_fn fn);
void fake_stop(struct fake *f);

/* An attribute of the last request, or NULL. */
struct nlattr *fake_attr(struct fake *f, int type);
unsigned int fake_cmd(struct fake *f);

/* Makes a message that answers @req. */
struct nl_msg *fake_reply(const struct nlmsghdr *req, unsigned int cmd, int flags);
/* Sends @msg and frees it. */
void fake_send(int fd, struct nl_msg *msg);
void fake_ack(int fd, const struct nlmsghdr *req, int err, const char *text);
void fake_done(int fd, const struct nlmsghdr *req, int err, const char *text, int flags);

#endif /* TESTS_FAKE_NIC_H */
