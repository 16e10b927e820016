// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests and answers, over any transport.
 *
 * Every request asks for an ACK, so every answer ends with NLMSG_ERROR; the answer to a dump ends
 * with NLMSG_DONE. An answer is matched by its sequence number; answers to earlier requests, which
 * timed out, are skipped. A dump is always read to its end, also after an error, because the kernel
 * refuses a second dump while the first one is not finished.
 */
#include <poll.h>
#include <stdarg.h>
#include <time.h>

#include "client.h"

#define DUMP_TRIES 8 /* a dump fails if the table changed during this many tries */

/* --- errors ---------------------------------------------------------------- */

int lt_fail(struct torus_dev *dev, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dev->error, sizeof(dev->error), fmt, ap);
	va_end(ap);
	return err;
}

/* --- time ------------------------------------------------------------------ */

int64_t lt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int lt_wait(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline - lt_now();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int torus_timeout_set(struct torus_dev *dev, int timeout_ms)
{
	if (timeout_ms < 1)
		return lt_fail(dev, -EINVAL, "timeout %d ms: must be 1 or more",
			       timeout_ms);
	dev->timeout_ms = timeout_ms;
	return 0;
}

/* --- requests -------------------------------------------------------------- */

struct nl_msg *lt_msg(struct torus_dev *dev, enum torus_cmd cmd, size_t bytes)
{
	/* 128 bytes: IFINDEX and small attributes. */
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + 128 + bytes);

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, 0, 0, dev->conn.family, 0, 0, (uint8_t)cmd,
			 TORUS_GENL_VERSION) ||
	    (dev->ifindex && nla_put_u32(msg, TORUS_A_IFINDEX, dev->ifindex))) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int lt_put_root(const struct torus_dev *dev, struct nl_msg *msg)
{
	if (!dev->root_epoch)
		return 0;
	return nla_put_u64(msg, TORUS_A_ROOT_EPOCH, dev->root_epoch) ||
	       nla_put_u64(msg, TORUS_A_ROOT_GUID, dev->root_guid) ? -ENOMEM : 0;
}

int lt_drop(struct torus_dev *dev, struct nl_msg *msg)
{
	nlmsg_free(msg);
	return lt_fail(dev, -ENOMEM, "out of memory for a request");
}

int lt_port_msg(struct torus_dev *dev, enum torus_cmd cmd, unsigned int port, size_t bytes,
		struct nl_msg **out)
{
	if (port >= TORUS_MAX_PORTS)
		return lt_fail(dev, -EINVAL, "port %u: must be 0 to %u", port,
			       TORUS_MAX_PORTS - 1);
	*out = lt_msg(dev, cmd, bytes);
	if (!*out || nla_put_u8(*out, TORUS_A_PORT, (uint8_t)port))
		return lt_drop(dev, *out);
	return 0;
}

static int send_request(struct torus_dev *dev, struct conn *c, struct nlmsghdr *nlh,
			unsigned int flags)
{
	int64_t deadline = lt_now() + dev->timeout_ms;
	int err;

	if (++c->seq == 0) /* 0 is the number of notifications */
		c->seq = 1;
	nlh->nlmsg_seq = c->seq;
	nlh->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	while ((err = c->ops->send(c, nlh)) == -EAGAIN) {
		err = lt_wait(c->fd, POLLOUT, deadline);
		if (err)
			break;
	}
	return err;
}

/* --- answers --------------------------------------------------------------- */

/**
 * struct exchange - one request and its answer, while it is received
 * @dev: the handle
 * @c: connection to the NIC
 * @req: the request; texts of errors quote it
 * @cmd: command of the request
 * @seq: sequence number of the request
 * @reply: handles each reply, or NULL
 * @arg: argument of @reply
 * @replies: number of replies so far
 * @err: first error of @reply; the messages after it are read and ignored
 * @intr: the dump is flagged as inconsistent (NLM_F_DUMP_INTR)
 * @done: the end of the answer was received
 * @end: error that the end of the answer reports, or 0
 * @text: text of the reason of @end
 */
struct exchange {
	struct torus_dev *dev;
	struct conn *c;
	struct nlmsghdr *req;
	unsigned int cmd;
	reply_fn reply;
	void *arg;
	unsigned int replies;
	int err;
	bool intr;
	bool done;
	int end;
	char text[192];
};

/* Return: the text of the extended ACK in the attributes from @from on; "" if there is none. */
static const char *ext_ack(struct exchange *x, struct nlmsghdr *nlh, size_t from)
{
	from = NLMSG_ALIGN(from);
	x->text[0] = '\0';
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && nlmsg_datalen(nlh) >= (int)from)
		lt_refusal(x->text, sizeof(x->text), x->req,
			   (struct nlattr *)((char *)nlmsg_data(nlh) + from),
			   nlmsg_datalen(nlh) - (int)from);
	return x->text;
}

/*
 * Handles the end of the answer. @err: error of the answer, or 0; a positive number is malformed.
 */
static int end_with(struct exchange *x, int err, const char *text)
{
	x->done = true;
	x->end = err;
	if (x->err) /* an earlier error is the one that is reported */
		return err;
	if (err > 0 || err < -4095)
		return lt_fail(x->dev, x->end = -EBADMSG, "%s: answered with error %d",
			       lt_command_name(x->cmd), err);
	if (err && *text)
		lt_fail(x->dev, err, "%s: %s (%s)", lt_command_name(x->cmd), text,
			strerror(-err));
	else if (err)
		lt_fail(x->dev, err, "%s: %s", lt_command_name(x->cmd), strerror(-err));
	return err;
}

static int got_error(struct exchange *x, struct nlmsghdr *nlh)
{
	struct nlmsgerr *e = nlmsg_data(nlh);
	size_t from = sizeof(*e);

	if (nlmsg_datalen(nlh) < (int)sizeof(*e))
		return end_with(x, -EBADMSG, "its acknowledgement is cut short");
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > NLMSG_HDRLEN)
		from += e->msg.nlmsg_len - NLMSG_HDRLEN;
	return end_with(x, e->error, ext_ack(x, nlh, from));
}

static int got_done(struct exchange *x, struct nlmsghdr *nlh)
{
	int err = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	return end_with(x, err, ext_ack(x, nlh, sizeof(err)));
}

static void got_reply(struct exchange *x, struct nlmsghdr *nlh)
{
	struct nlattr *tb[TORUS_A_MAX + 1];

	x->replies++;
	if (x->err || x->intr || !x->reply)
		return;
	x->err = lt_parse(x->dev, nlh, tb);
	if (!x->err)
		x->err = x->reply(x->dev, tb, nlh, x->arg);
}

static void got_message(struct exchange *x, struct nlmsghdr *nlh)
{
	if (nlh->nlmsg_type == NLMSG_OVERRUN ||
	    (nlh->nlmsg_seq == 0 && nlh->nlmsg_type == x->c->family)) {
		x->c->missed = true;
		return;
	}
	if (nlh->nlmsg_seq != x->c->seq)
		return;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		x->intr = true;
	if (nlh->nlmsg_type == NLMSG_ERROR)
		got_error(x, nlh);
	else if (nlh->nlmsg_type == NLMSG_DONE)
		got_done(x, nlh);
	else if (nlh->nlmsg_type == x->c->family)
		got_reply(x, nlh);
	else if (nlh->nlmsg_type != NLMSG_NOOP && !x->err)
		x->err = lt_fail(x->dev, -EBADMSG, "%s: answered with unexpected message type %u",
				 lt_command_name(x->cmd), nlh->nlmsg_type);
}

static int got_datagram(struct exchange *x, size_t len)
{
	struct nlmsghdr *nlh = x->c->buf;
	int left = (int)len;

	for (; nlmsg_ok(nlh, left) && !x->done; nlh = nlmsg_next(nlh, &left))
		got_message(x, nlh);
	if (left > 0 && !x->done)
		return lt_fail(x->dev, -EBADMSG, "%s: answered with %d malformed bytes",
			       lt_command_name(x->cmd), left);
	return 0;
}

static int timed_out(struct exchange *x)
{
	return lt_fail(x->dev, -ETIMEDOUT, "%s: no answer in %d ms", lt_command_name(x->cmd),
		       x->dev->timeout_ms);
}

static int receive_datagram(struct exchange *x, int64_t deadline)
{
	ssize_t n = lt_wait(x->c->fd, POLLIN, deadline);

	if (n == -ETIMEDOUT)
		return timed_out(x);
	if (!n) {
		n = x->c->ops->recv(x->c);
		if (n == -EAGAIN)
			return 0;
		if (n == 0)
			return lt_fail(x->dev, -ENODEV, "%s: the NIC went away",
				       lt_command_name(x->cmd));
	}
	if (n < 0)
		return lt_fail(x->dev, (int)n, "%s: %s", lt_command_name(x->cmd),
			       strerror((int)-n));
	return got_datagram(x, (size_t)n);
}

/*
 * Receives messages until the end of the answer. Each reply restarts the timeout, other messages do
 * not. After the timeout, messages that have already arrived are still read, because on a busy
 * machine this process may have been late, not the NIC.
 */
static int receive_answer(struct exchange *x)
{
	int64_t deadline = lt_now() + x->dev->timeout_ms;
	int err;

	while (!x->done) {
		unsigned int before = x->replies;

		err = receive_datagram(x, deadline);
		if (err)
			return err;
		if (x->replies != before)
			deadline = lt_now() + x->dev->timeout_ms;
		else if (!x->done && lt_now() > deadline)
			return timed_out(x);
	}
	return x->err ? x->err : x->end;
}

static int run_exchange(struct exchange *x, struct nl_msg *msg, unsigned int flags)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genlmsghdr *g = nlmsg_data(nlh);
	int err;

	x->req = nlh;
	x->cmd = g->cmd;
	x->dev->error[0] = '\0';
	err = send_request(x->dev, x->c, nlh, flags);
	if (err)
		return lt_fail(x->dev, err, "%s: cannot send the request: %s",
			       lt_command_name(x->cmd), strerror(-err));
	return receive_answer(x);
}

int lt_do(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply, void *arg)
{
	struct exchange x = { .dev = dev, .c = &dev->conn, .reply = reply, .arg = arg };
	int err = run_exchange(&x, msg, 0);

	if (!err && reply && x.replies != 1)
		err = lt_fail(dev, -EBADMSG, "%s: answered with %u replies instead of 1",
			      lt_command_name(x.cmd), x.replies);
	nlmsg_free(msg);
	return err;
}

int lt_do_on(struct torus_dev *dev, struct conn *c, struct nl_msg *msg)
{
	struct exchange x = { .dev = dev, .c = c };
	int err = run_exchange(&x, msg, 0);

	nlmsg_free(msg);
	return err;
}

int lt_dump(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply,
	    void (*restart)(void *arg), void *arg)
{
	int err = -EAGAIN, try;

	for (try = 0; try < DUMP_TRIES; try++) {
		struct exchange x = {
			.dev = dev, .c = &dev->conn, .reply = reply, .arg = arg,
		};

		restart(arg);
		err = run_exchange(&x, msg, NLM_F_DUMP);
		if (!err && x.intr)
			err = -EAGAIN;
		if (err != -EAGAIN)
			break;
		lt_fail(dev, err, "%s: the data kept changing while they were read",
			lt_command_name(x.cmd));
	}
	nlmsg_free(msg);
	return err;
}

/* Finds the attributes of a message. Return: false if its header is incomplete. */
static bool find_attributes(const struct nlmsghdr *nlh, struct torus_span *s)
{
	int len = nlmsg_datalen(nlh) - (int)GENL_HDRLEN;

	*s = (struct torus_span){ (const char *)nlmsg_data(nlh) + GENL_HDRLEN,
				  len > 0 ? (size_t)len : 0 };
	return len >= 0;
}

static int fail_answer(struct torus_dev *dev, const struct nlmsghdr *nlh, const char *text)
{
	const struct genlmsghdr *g = nlmsg_data(nlh);

	return lt_fail(dev, -EBADMSG, "%s: a malformed answer: %s", lt_command_name(g->cmd), text);
}

int lt_parse(struct torus_dev *dev, struct nlmsghdr *nlh, struct nlattr **tb)
{
	struct torus_refusal why;
	const struct nlattr *a;
	struct torus_span s;

	if (!find_attributes(nlh, &s))
		return lt_fail(dev, -EBADMSG, "message of the NIC cut short");
	memset(tb, 0, sizeof(*tb) * (TORUS_A_MAX + 1));
	while ((a = torus_attr_next(&s))) {
		unsigned int type = torus_attr_type(a);

		if (type > TORUS_A_MAX || !torus_set_torus.rules[type].name)
			continue; /* a NIC of a later release may send this attribute */
		if (torus_check_form(a, &torus_set_torus.rules[type], "", &why))
			return fail_answer(dev, nlh, why.text);
		tb[type] = (struct nlattr *)a;
	}
	return 0;
}

int lt_tree(struct torus_dev *dev, struct nlmsghdr *nlh, const struct torus_tree *tree, void *out,
	    struct torus_attrs *seen)
{
	struct torus_refusal why;
	struct torus_span s;

	find_attributes(nlh, &s);
	if (torus_tree_parse(tree, s, out, seen, &why))
		return fail_answer(dev, nlh, why.text);
	return 0;
}
