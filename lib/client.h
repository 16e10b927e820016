/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client's own interfaces: a connection, the transports below it, and the functions that send
 * requests and parse answers. Functions return 0 or a negative errno; lt_fail() keeps the text of
 * the error.
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
 * @ops: functions of the transport
 * @fd: nonblocking socket; -1 while closed
 * @poll: descriptor that is readable when @ops->recv has a message: @fd or an epoll descriptor
 * @family: nlmsg_type of the NIC's messages
 * @seq: sequence number of the last request; not 0
 * @missed: a notification arrived during a request and was dropped
 * @buf: the last datagram, TORUS_MSG_MAX bytes, owned here
 * @sk: private to transport-genl.c: libnl's socket
 * @mgmt: private to transport-genl.c: libnl's socket for management packets, or NULL
 * @watch: private to transport-genl.c: rtnetlink socket, which reports that the NIC goes away
 * @ifindex: private to transport-genl.c: interface index of the NIC that is watched
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
	struct nl_sock *mgmt;
	struct nl_sock *watch;
	uint32_t ifindex;
};

typedef int (*list_fn)(const char *where, void *arg);

/**
 * struct transport - operations of a transport
 * @scheme: the part of "scheme:name" before the colon
 * @open: connects, and fills @c; @name is the part after the colon, NULL in @list
 * @close: closes @c
 * @resolve: finds the NIC that @dev->name means; NULL if a connection leads to one NIC only
 * @send: sends one message; -EAGAIN if it would block
 * @recv: receives one datagram into @c->buf; returns its length, 0 if the NIC went away,
 *	-EAGAIN if there is none, -ENOBUFS if some were lost
 * @subscribe: makes @c receive notifications of a mask of groups
 * @list: calls @fn for every NIC, as torus_list()
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
 * @name: the part after the colon of "scheme:name"
 * @ifindex: interface index of the NIC, for requests; 0: the connection leads to one NIC only
 * @root_epoch: epoch of the root whose orders the requests are; 0: they are not orders of a root
 * @root_guid: GUID of that root
 * Its other members are its connections, its timeout and the text of the last error.
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

/** typedef reply_fn - handles one reply; its attributes were checked against the policy */
typedef int (*reply_fn)(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
			void *arg);

/** lt_fail() - keep the text of an error. Return: @err */
int lt_fail(struct torus_dev *dev, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * lt_refusal() - describe why a request was refused
 * @to: gets the text; "" if the reason is unknown
 * @size: bytes of @to
 * @req: the request
 * @tlvs: attributes of the extended ACK (NLMSGERR_ATTR_*), which were not checked yet
 * @len: bytes of @tlvs
 */
void lt_refusal(char *to, size_t size, struct nlmsghdr *req, struct nlattr *tlvs, int len);

/**
 * lt_msg() - make a request @cmd with room for @bytes of attributes. Return: the request, or NULL
 */
struct nl_msg *lt_msg(struct torus_dev *dev, enum torus_cmd cmd, size_t bytes);

/**
 * lt_port_msg() - make a request about a port, with the attribute PORT
 * @dev: the NIC
 * @cmd: command
 * @port: number of the port
 * @bytes: room for other attributes
 * @msgp: gets the request
 * Return: 0; -EINVAL if no NIC has such a port; -ENOMEM.
 */
int lt_port_msg(struct torus_dev *dev, enum torus_cmd cmd, unsigned int port, size_t bytes,
		struct nl_msg **out);

/** lt_put_root() - add epoch and GUID of the handle's root, if it has one. Return: 0 or -ENOMEM */
int lt_put_root(const struct torus_dev *dev, struct nl_msg *msg);

/** lt_drop() - free a request that could not be built. Return: -ENOMEM, with a text */
int lt_drop(struct torus_dev *dev, struct nl_msg *msg);

/**
 * lt_do() - send a request, and wait for its answer
 * @dev: the NIC
 * @msg: the request, which is freed
 * @reply: handles the reply; NULL: none is expected. Otherwise exactly one must arrive
 * @arg: argument of @reply
 */
int lt_do(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply, void *arg);

/**
 * lt_dump() - like lt_do(), but for a dump, which may have any number of replies
 * @restart: called if the rows changed during the dump; it must discard the replies received so far
 */
int lt_dump(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply,
	    void (*restart)(void *arg), void *arg);

/** lt_do_on() - lt_do() over the connection @c, without a reply */
int lt_do_on(struct torus_dev *dev, struct conn *c, struct nl_msg *msg);

/** lt_parse() - parse the attributes of a message into @tb; -EBADMSG if malformed */
int lt_parse(struct torus_dev *dev, struct nlmsghdr *nlh, struct nlattr **tb);

/** lt_wait() - wait until @fd is ready for @events, or until the deadline (monotonic, ms) */
int lt_wait(int fd, short events, int64_t deadline);
int64_t lt_now(void);

/** lt_new() - make a handle and connect; torus_error(NULL) has the text of an error */
int lt_new(const struct transport *ops, const char *name, struct torus_dev **devp);

int lt_conn_open(struct torus_dev *dev, struct conn *c, const struct transport *ops,
		 const char *name);
void lt_conn_close(struct conn *c);

/**
 * lt_tree() - decode the attributes of a message into a struct of <torus/reply.h>
 * @dev: the NIC
 * @nlh: the message
 * @tree: table of the attributes and of their members in the struct
 * @out: the struct; attributes that the message does not have become 0
 * @seen: gets the attributes that were found
 * Return: 0 or -EBADMSG.
 */
int lt_tree(struct torus_dev *dev, struct nlmsghdr *nlh, const struct torus_tree *tree, void *out,
	    struct torus_attrs *seen);

/*
 * The following functions decode replies and notifications; lt_link_event() also decodes LINK_NTF.
 */
int lt_link_event(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_link *out);
int lt_park(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_park *out);
int lt_device(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh, void *arg);

const char *lt_command_name(unsigned int cmd);

#endif /* LIB_CLIENT_H */
