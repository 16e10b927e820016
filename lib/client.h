/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the client: a connection, the two transports under it, and the one
 * place where requests are sent and answers taken apart.
 */
#ifndef LIB_CLIENT_H
#define LIB_CLIENT_H

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <torus/torus.h>
#include "kernel/req/tree.h"

struct transport;

/**
 * struct conn - a connection to a NIC
 * @fd: -1 while closed; never blocks
 * @poll: readable when @recv has something: @fd, or what watches it and more
 * @family: nlmsg_type of the NIC's messages
 * @seq: of the last request
 * @missed: a notification came where it could not be handed on
 * @buf: TORUS_MSG_MAX bytes, the last datagram
 * @sk, @watch, @ifindex: the transport's own
 */
struct conn {
	const struct transport *ops;
	int fd;
	int poll;
	int family;
	uint32_t seq;
	bool missed;
	void *buf;
	struct nl_sock *sk;
	struct nl_sock *watch;
	uint32_t ifindex;
};

typedef int (*list_fn)(const char *where, void *arg);

/**
 * struct transport - what carries messages
 * @scheme: the part of "scheme:name" before the colon
 * @open: fills @c; @name is the part after the colon, NULL in @list
 * @resolve: finds out which of several NICs @dev->name means; NULL where a
 *	connection leads to one only
 * @send: one message; -EAGAIN if it would block
 * @recv: one datagram into @c->buf; its length, 0 if the NIC went away,
 *	-EAGAIN if there is none, -ENOBUFS if some were lost
 * @subscribe: notifications of these groups come to @c from now on
 * @list: call @fn for every NIC there is
 */
struct transport {
	const char *scheme;
	int (*open)(struct torus_dev *dev, struct conn *c, const char *name);
	int (*resolve)(struct torus_dev *dev);
	int (*send)(struct conn *c, const struct nlmsghdr *nlh);
	ssize_t (*recv)(struct conn *c);
	int (*subscribe)(struct torus_dev *dev, struct conn *c, uint32_t groups);
	void (*close)(struct conn *c);
	int (*list)(list_fn fn, void *arg);
};

extern const struct transport lt_unix;
extern const struct transport lt_genl;

/**
 * struct torus_dev - a handle
 * @name: after the colon of "scheme:name"
 * @ifindex: names the device in requests; 0 where there is only one
 * @root_epoch, @root_guid: by whose order it asks; 0: nobody's
 */
struct torus_dev {
	struct conn conn;
	struct conn events;
	char *name;
	uint32_t ifindex;
	uint64_t root_epoch;
	uint64_t root_guid;
	int timeout_ms;
	char error[256];
};

/* Handles one reply, whose attributes have been checked against the policy. */
typedef int (*reply_fn)(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
			void *arg);

/** lt_fail() - keep the text of an error. Return: @err */
int lt_fail(struct torus_dev *dev, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * lt_refusal() - why @req was refused
 * @to: gets the text; "" if nothing is known
 * @tlvs, @len: attributes of the extended ACK (NLMSGERR_ATTR_*), unchecked
 */
void lt_refusal(char *to, size_t size, struct nlmsghdr *req, struct nlattr *tlvs, int len);

/** lt_msg() - an empty request of @cmd with room for @bytes of attributes */
struct nl_msg *lt_msg(struct torus_dev *dev, enum torus_cmd cmd, size_t bytes);

/**
 * lt_port_msg() - the same of a port, which it names already
 * Return: 0; -EINVAL a port that no NIC has, -ENOMEM.
 */
int lt_port_msg(struct torus_dev *dev, enum torus_cmd cmd, unsigned int port, size_t bytes,
		struct nl_msg **out);

/**
 * lt_put_root() - by whose order it is, into a request that a NIC obeys by that. Return: 0 or
 *	-ENOMEM
 */
int lt_put_root(const struct torus_dev *dev, struct nl_msg *msg);

/** lt_drop() - a request that memory was short for. Return: -ENOMEM */
int lt_drop(struct torus_dev *dev, struct nl_msg *msg);

/**
 * lt_do() - send a request, wait for its end; the message is consumed
 * @reply: NULL if none is expected, else exactly one must come
 */
int lt_do(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply, void *arg);

/**
 * lt_dump() - the same for a dump
 * @restart: forget all replies so far, the table changed in between
 */
int lt_dump(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply,
	    void (*restart)(void *arg), void *arg);

/* lt_do() over another connection than the handle's own. */
int lt_do_on(struct torus_dev *dev, struct conn *c, struct nl_msg *msg);

/** lt_parse() - attributes of a message of the NIC, -EBADMSG if malformed */
int lt_parse(struct torus_dev *dev, struct nlmsghdr *nlh, struct nlattr **tb);

/** lt_wait() - until @fd is ready for @events or the deadline (ms) */
int lt_wait(int fd, short events, int64_t deadline);
int64_t lt_now(void);

/** lt_new() - a handle with its connection; text of an error: torus_error(NULL) */
int lt_new(const struct transport *ops, const char *name, struct torus_dev **devp);

int lt_conn_open(struct torus_dev *dev, struct conn *c, const struct transport *ops,
		 const char *name);
void lt_conn_close(struct conn *c);

/**
 * lt_tree() - fill @out, all zeros before, from the attributes of a message
 * @seen: gets those found
 * Return: 0 or -EBADMSG.
 */
int lt_tree(struct torus_dev *dev, struct nlmsghdr *nlh, const struct torus_tree *tree, void *out,
	    struct torus_attrs *seen);

/* Replies taken apart; shared by gets and events. */
int lt_link_event(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_link *out);
int lt_park(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_park *out);
int lt_device(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh, void *arg);

const char *lt_command_name(unsigned int cmd);

#endif /* LIB_CLIENT_H */
